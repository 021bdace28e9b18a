//! How far a long reading has come, told to whoever wants to show it.

use std::io::{self, Read};
use std::sync::Arc;

/// Somebody who is told how far a reading has come: a progress bar, a log, or nobody (`()`). Reading happens on
/// several threads.
pub trait Progress: Send + Sync {
    /// So many bytes will be read; 0 if nobody knows.
    fn expect_bytes(&self, bytes: u64) {
        let _ = bytes;
    }

    /// So many rows will be read.
    fn expect_rows(&self, rows: u64) {
        let _ = rows;
    }

    /// So many more of the bytes or rows are done.
    fn add(&self, done: u64) {
        let _ = done;
    }
}

/// Nobody wants to know.
impl Progress for () {}

/// A reader whose bytes count as progress.
pub(super) struct Counted<R> {
    pub(super) inner: R,
    pub(super) progress: Arc<dyn Progress>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.progress.add(read as u64);
        Ok(read)
    }
}
