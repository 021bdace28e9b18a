//! How much one message may hold. Both sides keep to these numbers, so that neither has to ask the other.

/// The most reports in one body.
pub const MOST_REPORTS: usize = 10_000;

/// The most answers a survey offers.
pub const MOST_ANSWERS: usize = 100_000;

/// The most answers a survey with several groups offers: each group has a policy and shares of its own.
pub const MOST_ANSWERS_IN_GROUPS: usize = 10_000;

/// The most bytes of all answers' names together.
pub const ALL_NAMES_BYTES: usize = 4 << 20;

/// The most bytes of an answer's name.
pub const LONGEST_NAME: usize = 200;

/// The most groups of a survey.
pub const MOST_GROUPS: usize = 50;

/// The most rounds a survey may plan.
pub const MOST_ROUNDS: u32 = 20;

/// The most bytes of a survey's description that a device reads. A curator of ours stays below ten million.
pub const SURVEY_BYTES: u64 = 16 << 20;

/// The most bytes of a policy that a device reads unless it is told otherwise. A curator of ours stays below ten
/// million.
pub const POLICY_BYTES: u64 = 64 << 20;

/// The most bytes of any other answer that a device reads.
pub const REPLY_BYTES: u64 = 1 << 20;

/// The group of everybody, where a survey names no groups.
pub const EVERYONE: &str = "everyone";
