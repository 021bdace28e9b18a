//! How far a long reading has come, on standard error where that is a terminal.

use std::io::{self, Read};

use indicatif::{ProgressBar, ProgressStyle};

/// A progress bar over bytes or rows.
#[derive(Clone)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// One that appears on a terminal and nowhere else.
    pub(crate) fn shown(what: &'static str) -> Self {
        let bar = ProgressBar::no_length();
        bar.set_message(what);
        let progress = Self(bar);
        progress.style("{spinner} {bytes} {msg} ({bytes_per_sec})");
        progress
    }

    /// One that never appears.
    pub(crate) fn hidden() -> Self {
        Self(ProgressBar::hidden())
    }

    /// Bytes will be counted; 0 if nobody knows how many.
    pub(crate) fn expect_bytes(&self, bytes: u64) {
        self.expect(bytes, "{wide_bar} {bytes}/{total_bytes} {msg} ({bytes_per_sec}, {eta} left)");
    }

    /// Rows will be counted.
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "only Parquet knows its rows"))]
    pub(crate) fn expect_rows(&self, rows: u64) {
        self.expect(rows, "{wide_bar} {human_pos}/{human_len} rows {msg} ({eta} left)");
    }

    fn expect(&self, length: u64, template: &str) {
        if length > 0 {
            self.0.set_length(length);
            self.style(template);
        }
    }

    fn style(&self, template: &str) {
        let style = ProgressStyle::with_template(template);
        self.0.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    }

    /// So many more are done.
    pub(crate) fn add(&self, done: u64) {
        self.0.inc(done);
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }

    /// A reader whose bytes count.
    pub(crate) fn count<R: Read + Send + 'static>(&self, inner: R) -> Counted<R> {
        Counted { inner, progress: self.clone() }
    }
}

/// A reader whose bytes count as progress.
pub(crate) struct Counted<R> {
    inner: R,
    progress: Progress,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.progress.add(read as u64);
        Ok(read)
    }
}
