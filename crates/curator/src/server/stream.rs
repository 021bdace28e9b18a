//! A connection that does not wait for ever for the other side to read, and whose last answer arrives.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use hyper::body::{Body, Frame, Incoming, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

/// Whoever takes at least this many bytes a second is never cut off. What is taken shows here only after a
/// third of the system's buffer is free again, which at this rate takes less than the usual patience.
const SLOWEST: u64 = 8 << 10;
/// What is read and thrown away of a body that was refused, at most.
const DRAINED: usize = 64 << 20;

/// Whether part of the current request's body was not read.
pub(super) type Unread = Arc<AtomicBool>;

/// A connection with a deadline for taking an answer.
///
/// * **Writing.** While an answer cannot be written on, a deadline runs: `patience`, and one second more
///   for every [`SLOWEST`] bytes the other side has taken since it began.
/// * **Closing.** A socket that is closed with unread bytes in it resets the connection, and the other side may lose
///   the answer it was sent (a 413, most of all). So what is left of a body is read and thrown away
///   first, for as long as `patience` and up to [`DRAINED`] bytes.
pub(super) struct Stream<S> {
    inner: S,
    patience: Duration,
    unread: Unread,
    stalled: Option<Stalled>,
    draining: Option<Draining>,
}

/// An answer that could not be written at once.
struct Stalled {
    since: Instant,
    taken: u64,
    deadline: Pin<Box<Sleep>>,
}

/// A closed connection whose rest is thrown away.
struct Draining {
    left: usize,
    deadline: Pin<Box<Sleep>>,
    buffer: Box<[u8]>,
}

impl<S> Stream<S> {
    pub(super) fn new(inner: S, patience: Duration, unread: Unread) -> Self {
        Self { inner, patience, unread, stalled: None, draining: None }
    }

    /// What becomes of an attempt to write: bytes taken extend the deadline, and none let it run.
    fn judged(
        &mut self,
        context: &mut Context<'_>,
        attempt: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if let (Poll::Ready(Ok(bytes)), Some(stalled)) = (&attempt, &mut self.stalled) {
            stalled.taken += *bytes as u64;
            let extra = Duration::from_secs(stalled.taken / SLOWEST);
            stalled.deadline.as_mut().reset(stalled.since + self.patience + extra);
        }
        if attempt.is_pending() && self.is_overdue(context) {
            return Poll::Ready(Err(not_taken()));
        }
        attempt
    }

    fn is_overdue(&mut self, context: &mut Context<'_>) -> bool {
        let patience = self.patience;
        let stalled = self.stalled.get_or_insert_with(|| {
            let since = Instant::now();
            Stalled { since, taken: 0, deadline: Box::pin(sleep_until(since + patience)) }
        });
        stalled.deadline.as_mut().poll(context).is_ready()
    }
}

fn not_taken() -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, "the answer was not taken in time")
}

impl<S: AsyncRead + Unpin> AsyncRead for Stream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Stream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let attempt = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.judged(context, attempt)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let attempt = Pin::new(&mut self.inner).poll_write_vectored(context, bytes);
        self.judged(context, attempt)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match Pin::new(&mut self.inner).poll_flush(context) {
            Poll::Pending if self.is_overdue(context) => Poll::Ready(Err(not_taken())),
            Poll::Pending => Poll::Pending,
            Poll::Ready(done) => {
                // Everything was written: the next answer has its own deadline.
                self.stalled = None;
                Poll::Ready(done)
            }
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if this.draining.is_none() {
            match Pin::new(&mut this.inner).poll_shutdown(context) {
                Poll::Pending if this.is_overdue(context) => {
                    return Poll::Ready(Err(not_taken()));
                }
                Poll::Pending => return Poll::Pending,
                Poll::Ready(done) => done?,
            }
            if !this.unread.load(Ordering::Relaxed) {
                return Poll::Ready(Ok(()));
            }
        }
        let patience = this.patience;
        let draining = this.draining.get_or_insert_with(|| Draining {
            left: DRAINED,
            deadline: Box::pin(sleep_until(Instant::now() + patience)),
            buffer: vec![0; 16 << 10].into(),
        });
        while draining.left > 0 && draining.deadline.as_mut().poll(context).is_pending() {
            let mut buffer = ReadBuf::new(&mut draining.buffer);
            ready!(Pin::new(&mut this.inner).poll_read(context, &mut buffer))?;
            match buffer.filled().len() {
                0 => break,
                bytes => draining.left = draining.left.saturating_sub(bytes),
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// A request's body that says whether it was read to its end.
pub(super) struct Tracked {
    inner: Incoming,
    unread: Unread,
}

impl Tracked {
    pub(super) fn new(inner: Incoming, unread: Unread) -> Self {
        unread.store(!inner.is_end_stream(), Ordering::Relaxed);
        Self { inner, unread }
    }
}

impl Body for Tracked {
    type Data = bytes::Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<bytes::Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(context));
        if frame.is_none() || self.inner.is_end_stream() {
            self.unread.store(false, Ordering::Relaxed);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
