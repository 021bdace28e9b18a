//! The output file: complete, or not there.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Something rows are written to. A regular file appears under its name only when it is finished.
pub(super) struct Target {
    sink: BufWriter<Box<dyn Write + Send>>,
    path: PathBuf,
    /// Where the rows are until then.
    part: Option<PathBuf>,
}

impl Target {
    /// Standard output for `-`; else a new file beside the one asked for, renamed when finished. What
    /// is not a regular file, such as a pipe, is written to as it is.
    pub(super) fn create(path: &Path) -> Result<Self, Failure> {
        let open = |sink: Box<dyn Write + Send>, part| Self {
            sink: BufWriter::with_capacity(1 << 18, sink),
            path: path.to_owned(),
            part,
        };
        if path == Path::new("-") {
            return Ok(open(Box::new(io::stdout()), None));
        }
        // Through a link to the file it stands for: renaming would replace the link.
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let fail = |error: io::Error| Failure::of_system("write", &path, &error);
        match path.metadata() {
            Ok(about) if about.is_dir() => Err(fail(io::ErrorKind::IsADirectory.into())),
            Ok(about) if !about.is_file() => {
                let file = File::options().write(true).open(&path).map_err(fail)?;
                Ok(open(Box::new(file), None))
            }
            _ => {
                let name = path.file_name().ok_or_else(|| {
                    Failure::file(format!("cannot write {}: name a file", path.display()))
                })?;
                let mut mark = [0; 8];
                getrandom::fill(&mut mark).map_err(Failure::input)?;
                let mark = u64::from_le_bytes(mark);
                let part = format!(".{}.{mark:016x}.part", name.to_string_lossy());
                let part = path.with_file_name(part);
                let file = File::create_new(&part).map_err(fail)?;
                let mut target = open(Box::new(file), Some(part));
                target.path = path;
                Ok(target)
            }
        }
    }

    /// Writes what is left and gives the file its name.
    pub(super) fn finish(mut self) -> Result<(), Failure> {
        let path = self.path.clone();
        let fail = |error: io::Error| Failure::of_system("write", &path, &error);
        self.sink.flush().map_err(fail)?;
        if let Some(part) = &self.part {
            std::fs::rename(part, &path).map_err(fail)?;
            self.part = None;
        }
        Ok(())
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sink.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if let Some(part) = &self.part {
            let _ = std::fs::remove_file(part);
        }
    }
}
