//! Several answers of one person under one promise: which questions are asked together, at what level, and of whom.
//!
//! All of it is planning with floats: what is found ends as integers, and the kernel's plan is what is believed. The
//! yardstick is n times the variance of the unbiased estimate of every share, at the shares that are expected (at a share of
//! nought one answer at the whole level always looks best, and at the shares people have it often is not).
//!
//! | file | idea |
//! |---|---|
//! | [`coins`] | how one symbol is randomised, and the second moments of its unbiased score |
//! | [`target`] | what is to be estimated: shares of a question, or of a pair of questions |
//! | [`group`] | questions randomised together as one symbol at a level |
//! | [`levels`] | one level split between items that everybody answers |
//! | [`mixture`] | one group of questions for each person, drawn with the best chances |
//! | [`inclusion`] | the chances of items of which each person draws several |
//! | [`outline`] | a whole plan in floats, and what it is worth |
//! | [`search`] | the best outline at a person's level |
//! | [`beliefs`] | how far one group moves belief in what must stay hidden |
//! | [`hidden`] | the best outline that also keeps beliefs within limits |
//! | [`ship`] | from an outline to integers |
//! | [`compared`] | what simpler plans are worth |
//! | [`rs_fd`] | random sampling plus fake data, one of them |
//! | [`bound`] | what nobody can pass |

pub mod beliefs;
pub mod bound;
pub mod coins;
pub mod compared;
pub mod group;
pub mod hidden;
pub mod inclusion;
pub mod levels;
pub mod mixture;
pub mod outline;
pub mod rs_fd;
pub mod search;
pub mod ship;
pub mod target;

pub use beliefs::{Beliefs, Promise};
pub use coins::{Coins, Moments, Repeats};
pub use group::{Group, Ways};
pub use outline::{Outline, OutlineItem};
pub use search::{Problem, best};
pub use ship::Integers;
pub use target::{Question, Target};
