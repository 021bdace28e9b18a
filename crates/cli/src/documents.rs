//! Documents in memory that take the place of files while a command is called in place.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

thread_local! {
    /// What can be read and what was written; `None` outside of [`with`].
    static DOCUMENTS: RefCell<Option<Documents>> = const { RefCell::new(None) };
}

struct Documents {
    given: BTreeMap<String, String>,
    written: BTreeMap<String, String>,
}

/// Runs `work` with these documents on this thread; also returns what it wrote.
pub(crate) fn with<T>(
    given: BTreeMap<String, String>,
    work: impl FnOnce() -> T,
) -> (T, BTreeMap<String, String>) {
    /// Files are files again afterwards, even after a panic.
    struct Restore(Option<Documents>);
    impl Drop for Restore {
        fn drop(&mut self) {
            DOCUMENTS.set(self.0.take());
        }
    }
    let documents = Documents { given, written: BTreeMap::new() };
    let restore = Restore(DOCUMENTS.replace(Some(documents)));
    let result = work();
    let written = DOCUMENTS.take().map(|documents| documents.written).unwrap_or_default();
    drop(restore);
    (result, written)
}

/// The document of that name, if one was given.
pub(crate) fn read(path: &Path) -> Option<String> {
    DOCUMENTS.with_borrow(|documents| documents.as_ref()?.given.get(path.to_str()?).cloned())
}

/// Keeps what would be written to a file; whether documents are kept at all.
pub(crate) fn write(path: &Path, content: &str) -> bool {
    DOCUMENTS.with_borrow_mut(|documents| match (documents, path.to_str()) {
        (Some(documents), Some(name)) => {
            documents.written.insert(name.to_owned(), content.to_owned());
            true
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_exist_inside_only() {
        let (name, given) =
            (Path::new("prior.json"), BTreeMap::from([("prior.json".into(), "[1]".into())]));
        assert_eq!(read(name), None);
        assert!(!write(name, "[1]"));
        let (seen, written) = with(given, || {
            assert!(write(Path::new("policy.json"), "{}"));
            (read(name), read(Path::new("other.json")))
        });
        assert_eq!(seen, (Some("[1]".into()), None));
        assert_eq!(written, BTreeMap::from([("policy.json".into(), "{}".into())]));
        assert_eq!(read(name), None);
    }
}
