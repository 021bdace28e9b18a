//! Where a release is written: complete, or not there.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use crate::Error;

/// Where a release is written. A regular file appears under its name only when it is finished.
pub struct Target {
    name: String,
    place: Place,
    compressed: bool,
}

enum Place {
    File(PathBuf),
    Writer(Box<dyn Write + Send>),
}

impl Target {
    /// A file; CSV is compressed if its name ends in `.gz`. What is no regular file, such as a pipe, is written to as
    /// it is.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        let compressed = path.extension().is_some_and(|extension| extension == "gz");
        Self { name: path.display().to_string(), place: Place::File(path), compressed }
    }

    /// Anything that takes bytes; errors call it `name`.
    pub fn writer(name: impl Into<String>, writer: impl Write + Send + 'static) -> Self {
        Self { name: name.into(), place: Place::Writer(Box::new(writer)), compressed: false }
    }

    /// CSV is compressed with gzip.
    pub fn compressed(self) -> Self {
        Self { compressed: true, ..self }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn is_compressed(&self) -> bool {
        self.compressed
    }

    /// Whether nothing is there until all is: a file appears when it is finished, what is written to at once does not.
    pub(crate) fn can_be_withheld(&self) -> bool {
        match &self.place {
            Place::File(path) => path.metadata().map_or(true, |about| about.is_file()),
            Place::Writer(_) => false,
        }
    }

    /// What the file's name ends in.
    pub(crate) fn extension(&self) -> Option<&str> {
        match &self.place {
            Place::File(path) => path.extension()?.to_str(),
            Place::Writer(_) => None,
        }
    }

    /// The file's name promises another format than the input's.
    pub(crate) fn of_another_format(&self, format: &str) -> Error {
        let name = &self.name;
        let problem = format!("{name}: the output has the input's format, which is {format}");
        Error::field("output", problem)
    }

    /// Begins to write: a file beside the one asked for, which is renamed when it is finished.
    pub(crate) fn open(self) -> Result<OpenTarget, Error> {
        let open = |name: String, sink: Box<dyn Write + Send>, file| OpenTarget {
            sink: BufWriter::with_capacity(1 << 18, sink),
            name,
            file,
        };
        let path = match self.place {
            Place::Writer(writer) => return Ok(open(self.name, writer, None)),
            // Through a link to the file it stands for: renaming would replace the link.
            Place::File(path) => path.canonicalize().unwrap_or(path),
        };
        let name = path.display().to_string();
        let fail = |error: io::Error| Error::of_system("write", &name, &error);
        match path.metadata() {
            Ok(about) if about.is_dir() => Err(fail(io::ErrorKind::IsADirectory.into())),
            Ok(about) if !about.is_file() => {
                let file = File::options().write(true).open(&path).map_err(fail)?;
                Ok(open(name, Box::new(file), None))
            }
            _ => {
                let own = path
                    .file_name()
                    .ok_or_else(|| Error::file(format!("cannot write {name}: name a file")))?;
                let mut mark = [0; 8];
                getrandom::fill(&mut mark).map_err(Error::input)?;
                let mark = u64::from_le_bytes(mark);
                let part = format!(".{}.{mark:016x}.part", own.to_string_lossy());
                let part = path.with_file_name(part);
                let file = File::create_new(&part).map_err(fail)?;
                Ok(open(name, Box::new(file), Some(Unfinished { part, path })))
            }
        }
    }
}

/// A target that is being written to.
pub(crate) struct OpenTarget {
    sink: BufWriter<Box<dyn Write + Send>>,
    name: String,
    file: Option<Unfinished>,
}

/// A file that is not complete.
struct Unfinished {
    /// Where the rows are until then.
    part: PathBuf,
    /// Where they will be.
    path: PathBuf,
}

impl OpenTarget {
    /// What errors call it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Writes what is left and gives the file its name; whether a file that held something was there before.
    pub(crate) fn finish(mut self) -> Result<bool, Error> {
        self.sink.flush().map_err(|error| Error::of_system("write", &self.name, &error))?;
        let Some(Unfinished { part, path }) = &self.file else { return Ok(false) };
        let replaced = path.metadata().is_ok_and(|about| about.len() > 0);
        std::fs::rename(part, path)
            .map_err(|error| Error::of_system("write", &self.name, &error))?;
        self.file = None;
        Ok(replaced)
    }
}

impl Write for OpenTarget {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.sink.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.sink.flush()
    }
}

impl Drop for OpenTarget {
    fn drop(&mut self) {
        if let Some(Unfinished { part, .. }) = &self.file {
            let _ = std::fs::remove_file(part);
        }
    }
}
