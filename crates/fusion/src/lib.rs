//! Sensor networks: every sensor randomises what it saw; the fusion centre learns a public
//! hypothesis H and not a private one G (ST20).
//!
//! A [`Model`] says who reads what when; [`Maps`] say how each sensor randomises; an [`Evaluation`]
//! says what the centre learns of H, of G and of each reading; [`FusionRule`] decides H. [`report`] has the use
//! cases, each a request, a function and an answer.
//! All leakages are in nats.
//!
//! ```
//! use undertone_design::Channel;
//! use undertone_fusion::{Evaluation, Maps, Model};
//!
//! // Two sensors read whether somebody is there (H), and sometimes who (G).
//! let hypotheses = vec![vec![0.4, 0.1], vec![0.1, 0.4]]; // P(h,g)
//! let reading = vec![
//!     vec![vec![0.9, 0.1], vec![0.7, 0.3]], // P(x|h=0,g)
//!     vec![vec![0.3, 0.7], vec![0.1, 0.9]], // P(x|h=1,g)
//! ];
//! let model = Model::independent(hypotheses, vec![reading.clone(), reading])?;
//! // Each says the truth three times in four.
//! let noise = Channel::new(vec![vec![0.75, 0.25], vec![0.25, 0.75]])?;
//! let open = Evaluation::new(&model, &Maps::identity(&model)?)?;
//! let noisy = Evaluation::new(&model, &Maps::same(&model, &noise)?)?;
//! assert!(noisy.error_private > open.error_private && noisy.error_public > open.error_public);
//! assert!(noisy.information.nats < open.information.nats); // about G
//! # Ok::<(), undertone_fusion::Error>(())
//! ```

pub mod bundle;
pub mod certificate;
pub mod codebook;
mod cone;
pub mod crowd;
pub mod design;
pub mod evaluation;
pub mod exact;
mod kinds;
pub mod learn;
pub mod lift;
pub mod maps;
pub mod model;
pub mod objective;
pub mod performance;
pub mod report;
pub mod rule;
#[cfg(feature = "runtime")]
pub mod runtime;
pub mod samples;
pub mod table;
pub mod time;
mod walk;

pub use bundle::{Bundle, CourseRequest, Origin};
pub use certificate::{Certificate, Repeated};
pub use codebook::{Codebook, Column, Columns, Spacing};
pub use evaluation::Evaluation;
pub use exact::ExactModel;
pub use maps::Maps;
pub use model::{Atom, Hypothesis, Model, Point, Sensor};
pub use objective::{Costs, Objective};
pub use performance::Performance;
pub use rule::FusionRule;
pub use samples::{Sample, Samples};
pub use undertone_design::Error;
