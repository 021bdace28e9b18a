//! Work dealt to threads in turn, and its results taken in the same turn.

use std::num::NonZero;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

/// As many threads as asked for, or as there are processors.
pub(crate) fn threads(asked: Option<NonZero<usize>>) -> usize {
    asked.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZero::get)
}

/// Hands `items` to the workers in turn and their results to `sink`, in the items' order. Items are
/// drawn on a thread of their own. Not more than a few items per worker exist at any time, so memory
/// does not grow with their number. The first failure, in the items' order, ends everything.
pub(crate) fn in_order<I: Send, O: Send, E: Send>(
    items: impl Iterator<Item = Result<I, E>> + Send,
    workers: Vec<impl FnMut(I) -> Result<O, E> + Send>,
    mut sink: impl FnMut(O) -> Result<(), E>,
) -> Result<(), E> {
    thread::scope(|scope| {
        let mut doors: Vec<SyncSender<Result<I, E>>> = Vec::new();
        let mut results: Vec<Receiver<Result<O, E>>> = Vec::new();
        for mut work in workers {
            let (door, inbox) = sync_channel::<Result<I, E>>(1);
            let (outbox, result) = sync_channel(1);
            scope.spawn(move || {
                for item in inbox {
                    // Nobody listens any more once something has failed.
                    if outbox.send(item.and_then(&mut work)).is_err() {
                        return;
                    }
                }
            });
            doors.push(door);
            results.push(result);
        }
        scope.spawn(move || {
            for (item, door) in items.zip(doors.iter().cycle()) {
                let failed = item.is_err();
                if door.send(item).is_err() || failed {
                    return;
                }
            }
        });
        // Items were dealt in turn, so the first worker without a result has seen the last.
        for result in results.iter().cycle() {
            match result.recv() {
                Ok(done) => sink(done?)?,
                Err(_) => break,
            }
        }
        Ok(())
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Error;

    #[test]
    fn results_keep_their_order_and_the_first_failure_wins() {
        for workers in 1..5 {
            let work = |slow: usize| {
                move |item: usize| {
                    if item % 4 == slow {
                        thread::yield_now();
                    }
                    if item == 77 { Err(Error::input("item 77")) } else { Ok(3 * item) }
                }
            };
            let mut seen = Vec::new();
            let run = in_order((0..50).map(Ok), (0..workers).map(work).collect(), |result| {
                seen.push(result);
                Ok(())
            });
            assert!(run.is_ok());
            assert_eq!(seen, (0..50).map(|item| 3 * item).collect::<Vec<_>>());

            let mut count = 0;
            let run = in_order((0..).map(Ok), (0..workers).map(work).collect(), |_| {
                count += 1;
                Ok(())
            });
            assert!(format!("{:?}", run.unwrap_err()).contains("item 77"));
            assert_eq!(count, 77);

            let broken = (0..).map(|at| if at < 5 { Ok(at) } else { Err(Error::input("read")) });
            let run = in_order(broken, (0..workers).map(work).collect(), |_| Ok(()));
            assert!(format!("{:?}", run.unwrap_err()).contains("read"));

            let full = |_| Err(Error::input("disk full"));
            let run = in_order((0..).map(Ok), (0..workers).map(work).collect(), full);
            assert!(format!("{:?}", run.unwrap_err()).contains("disk full"));
        }
    }
}
