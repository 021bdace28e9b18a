//! Files that only their owner reads: tokens, addresses with passwords, the database.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Why a file with a secret was not used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SecretFileError {
    /// It cannot be read.
    #[error("cannot read {}: {cause}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// It cannot be made.
    #[error("cannot create {}: {cause}", path.display())]
    Uncreatable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        cause: io::Error,
    },
    /// Others can read it.
    #[error(
        "{} can be read by other users of this machine (mode {mode:04o}): chmod 600 {}", path.display(), path.display()
    )]
    Open {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
}

/// The most bytes of such a file; longer ones are not read.
const MOST: u64 = 1 << 20;

/// Reads a secret; refused if others can read it too. A file of root's may be shared with one group, as
/// systems that hand out secrets do.
pub fn read(path: &Path) -> Result<String, SecretFileError> {
    let unreadable = |cause| SecretFileError::Unreadable { path: path.into(), cause };
    let file = File::open(path).map_err(unreadable)?;
    if let Some(mode) = excess(&file).map_err(unreadable)? {
        return Err(SecretFileError::Open { path: path.into(), mode });
    }
    let mut text = String::new();
    file.take(MOST).read_to_string(&mut text).map_err(unreadable)?;
    Ok(text)
}

/// Writes a secret to a file that did not exist, for its owner alone.
pub fn create(path: &Path, secret: &str) -> Result<(), SecretFileError> {
    new_file(path)
        .and_then(|mut file| {
            file.write_all(secret.as_bytes())?;
            file.sync_all()
        })
        .map_err(|cause| SecretFileError::Uncreatable { path: path.into(), cause })
}

/// A new file that nobody else may open.
pub(crate) fn new_file(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// The permissions of a file, if they let others in.
#[cfg(unix)]
fn excess(file: &File) -> io::Result<Option<u32>> {
    use std::os::unix::fs::MetadataExt;
    let about = file.metadata()?;
    let forbidden = if about.uid() == 0 { 0o037 } else { 0o077 };
    // Anything but a file, such as a pipe from a shell, has no permissions of its own.
    let open = about.is_file() && about.mode() & forbidden != 0;
    Ok(open.then(|| about.mode() & 0o7777))
}

#[cfg(not(unix))]
fn excess(_: &File) -> io::Result<Option<u32>> {
    Ok(None)
}

/// Takes everybody else's permissions away; `true` if there were any.
#[cfg(unix)]
pub(crate) fn close_to_others(path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::PermissionsExt;
    let mut permissions = std::fs::metadata(path)?.permissions();
    if permissions.mode() & 0o077 == 0 {
        return Ok(false);
    }
    permissions.set_mode(permissions.mode() & 0o700);
    std::fs::set_permissions(path, permissions)?;
    Ok(true)
}

#[cfg(not(unix))]
pub(crate) fn close_to_others(_: &Path) -> io::Result<bool> {
    Ok(false)
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn secrets_are_their_owners_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        assert!(matches!(read(&path), Err(SecretFileError::Unreadable { .. })));
        create(&path, "secret\n").unwrap();
        let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o7777;
        assert_eq!((mode(), read(&path).unwrap().as_str()), (0o600, "secret\n"));
        assert!(matches!(create(&path, "other"), Err(SecretFileError::Uncreatable { .. })));
        for open in [0o644, 0o604, 0o660, 0o622] {
            std::fs::set_permissions(&path, PermissionsExt::from_mode(open)).unwrap();
            let refused = read(&path).unwrap_err();
            let words = refused.to_string();
            assert!(
                words.contains("chmod 600") && words.contains(&format!("{open:04o}")),
                "{words}"
            );
            assert!(!words.contains("secret\n"));
        }
        assert!(close_to_others(&path).unwrap());
        assert_eq!(mode() & 0o077, 0);
        assert!(!close_to_others(&path).unwrap());
    }
}
