//! How far a round has come.

/// How far a round has come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RoundState {
    /// It takes reports.
    Open,
    /// It takes none any more.
    Sealed,
    /// Its estimates are public.
    Released,
}

impl RoundState {
    /// The state of a survey that has no round yet.
    pub const PLANNED: &str = "planned";

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Sealed => "sealed",
            Self::Released => "released",
        }
    }
}
