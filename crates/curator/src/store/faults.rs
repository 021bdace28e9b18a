//! Named points inside a commit and inside a fold at which tests interfere.

use std::fmt;
use std::sync::Arc;

type Hook = Arc<dyn Fn(&'static str) + Send + Sync>;

/// A function called at named points of the engines. Production has none.
///
/// | point | where |
/// |---|---|
/// | `create/written` | a survey and its first round are written, the transaction is not committed |
/// | `create/committed` | committed, nobody told yet |
/// | `append/inserted` | reports are written, the transaction is not committed |
/// | `append/committed` | committed, nobody told yet |
/// | `fold/read` | arrivals sorted, repetitions struck out, nothing written |
/// | `fold/written` | run, tallies and deletions written, not committed |
/// | `fold/committed` | committed |
/// | `merge/written` | part of a merge written, not committed |
/// | `merge/committed` | committed |
/// | `move/written` | a survey and its round are moved on, the transaction is not committed |
/// | `move/committed` | committed, nobody told yet |
/// | `erase/written` | a survey is deleted, the transaction is not committed |
/// | `erase/committed` | committed, nobody told yet |
/// | `wipe/done` | nothing of deleted reports is left, but no entry of the log says so |
/// | `wipe/noted` | the entry is written, not committed |
/// | `tokens/written` | a token is added or revoked, not committed |
#[derive(Clone, Default)]
pub struct Faults(Option<Hook>);

impl Faults {
    /// No interference.
    pub fn none() -> Self {
        Self(None)
    }

    /// Calls the function at every point.
    pub fn call(hook: impl Fn(&'static str) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hook)))
    }

    pub(crate) fn at(&self, point: &'static str) {
        if let Some(hook) = &self.0 {
            hook(point);
        }
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Faults(armed)" } else { "Faults(none)" })
    }
}
