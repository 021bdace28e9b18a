//! Tallies and estimates of plans, where one person answers several questions.
//!
//! A [`PlanTally`] counts responses: one tally for every item, and chosen pairs and triples of items ([`CrossTally`]). A
//! [`QuestionEstimator`] answers for one question, whether it was asked alone, together with others as one combined symbol, or
//! in several items; [`item_estimator`] answers for the combinations of a combined item.
//!
//! **Alone.** The item's reports are reports of its policy, and everything [`Estimator`](crate::Estimator) knows applies.
//!
//! **Combined.** A question's share is a sum of shares of combined symbols, which is linear in the item's counts: an
//! unbiased score for it needs nothing else. Where all combined symbols are kept with one probability (randomised
//! response) the question's own answer is kept with it too, and the counts added up over the other questions are reports
//! of that channel: again everything applies.
//!
//! **In several items.** Their estimates are weighed by the inverse of the variance each would have under the priors, so the weights
//! do not depend on what was reported. People who answer several of these items are counted as the fewer people they are: what is
//! proved of intervals (`interval`) allows for it, and standard errors are those of the most overlap the plan permits.
//!
//! **Reports drawn from a kept answer** (`fresh`): the channel is that of both policies in a row. Several reports of one person
//! in one period are a cluster of one: their mean is nearer to the kept answer and no nearer to the population, so that a tally has one
//! report of each person, and who wants to use more averages the estimates of tallies that each have one, and takes the standard
//! error of one.

mod cross;
mod item;
mod question;
mod tally;
mod together;

pub use cross::{CrossAxis, CrossTally};
pub use item::item_estimator;
pub use question::QuestionEstimator;
pub use tally::PlanTally;
pub use together::items_together;
