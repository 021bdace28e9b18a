//! Why the store did not do it.

/// Why the store did not do it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// Something else is there already, or has changed in between.
    #[error("conflict: {0}")]
    Conflict(String),
    /// There is no such thing.
    #[error("not found: {0}")]
    NotFound(String),
    /// The round takes no reports.
    #[error("the round is closed")]
    RoundClosed,
    /// Reports of the round wait to be counted.
    #[error("reports of the round wait to be counted: fold first")]
    Unfolded,
    /// Reports that do not fit their policy: a mistake of the caller, who checks them first.
    #[error("reports do not fit their policy: {0}")]
    Misfit(String),
    /// The disk is full. Nothing was stored.
    #[error("the disk is full")]
    Full,
    /// The database has grown to the size its owner allows, so it takes no reports. Nothing was stored.
    #[error("the store has grown to the {most} bytes it may have and takes no more reports")]
    AtLimit {
        /// How large it may be.
        most: u64,
    },
    /// The database does not answer, or not in time. Repeat the call: what it asked for may or may not
    /// have happened.
    #[error("the store is not available: {0}")]
    Unavailable(String),
    /// The engine of this address is not part of this program.
    #[error(
        "this program was built without {engine}: build it with the feature `{feature}`, or give sqlite:FILE"
    )]
    NotBuilt {
        /// The engine.
        engine: &'static str,
        /// The cargo feature that adds it.
        feature: &'static str,
    },
    /// There is no store, and nobody asked for a new one.
    #[error("there is no store in {place}: check the address, or ask for a new one to be made")]
    Missing {
        /// Where it was looked for.
        place: String,
    },
    /// There is a file or a database, and it is something else.
    #[error("{place} is not a store ({what})")]
    NotAStore {
        /// Where it was looked for.
        place: String,
        /// What it is instead.
        what: &'static str,
    },
    /// A copy of a store cannot be written where it should be: something is there, or the system refuses.
    #[error("{0}")]
    Unwritten(String),
    /// The database was written by an earlier version of this program, which opening it changes.
    #[error("the store has schema {found}, and {known} is needed: start a curator on it once")]
    Older {
        /// The schema's version found.
        found: u64,
        /// The one needed.
        known: u64,
    },
    /// The database was written by a later version of this program.
    #[error(
        "the store has schema {found}, this program knows up to {known}: use the newer program"
    )]
    Newer {
        /// The schema's version found.
        found: u64,
        /// The newest this program knows.
        known: u64,
    },
    /// What was read makes no sense.
    #[error("the store is damaged: {0}")]
    Corrupt(String),
}
