//! What a program mostly needs, in one `use undertone::prelude::*`.

pub use crate::answer::Answer;
pub use crate::design::{Design, DesignMethod, DesignReport, Objective};
pub use crate::document::Prior;
pub use crate::random::{seeded_rng, system_rng};
pub use crate::risk::RiskReport;
pub use rand_core::{CryptoRng, Rng};
pub use undertone_core::{
    Alphabet, Claim, Consent, Decision, Draft, Ledger, Nats, Policy, Report, Sampler, Sequence,
};
pub use undertone_estimate::{Estimator, Pool, Settings, Tally};
