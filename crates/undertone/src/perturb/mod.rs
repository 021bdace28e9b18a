//! A column of a file randomised under a verified policy, row by row.
//!
//! Every row is one release: the column's cell is replaced by what the policy's channel draws for it, with fresh
//! randomness from the system. Nothing else leaves but the columns that are named to be kept. The output has the
//! input's format, and nothing is left behind by a run that fails.
//!
//! ```
//! use undertone::columns::Source;
//! use undertone::perturb::{PerturbRequest, Target, perturb};
//!
//! # use undertone_core::{Alphabet, Claim, Context, Draft, Epsilon, Keep, Policy, Provenance, Shape};
//! # fn policy() -> Result<Policy, Box<dyn std::error::Error>> {
//! #     let inputs = Alphabet::names(["no", "yes"])?;
//! #     let shape = Shape::Keep(Keep::new(vec![1 << 39; 2], vec![1 << 47; 2])?);
//! #     let claims = vec![Claim::ldp(Epsilon::parse("1.1")?)];
//! #     let draft =
//! #         Draft::new(inputs, None, shape, Context::Unknown, claims, Provenance::default())?;
//! #     draft.verify().map_err(|refusal| refusal.to_string().into())
//! # }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let people = Source::reader("people", "name,answer\nAda,yes\nBo,no\n".as_bytes());
//! let output = Target::writer("nowhere", std::io::sink());
//! let report = perturb(PerturbRequest::new(policy()?, people, "answer", output))?;
//! assert_eq!((report.perturbed, report.left_out), (2, vec!["name".to_owned()]));
//! # Ok(())
//! # }
//! ```

mod report;

pub use crate::frame::Target;
pub use report::PerturbReport;

use std::num::NonZero;

use undertone_core::Policy;

use crate::Error;
use crate::columns::{Source, UnknownValues};
use crate::frame::{AskedColumn, Channel, Frame, Released};

/// Which column to randomise, under which policy, and where to write it.
pub struct PerturbRequest {
    /// The policy.
    pub policy: Policy,
    /// Where the rows come from.
    pub rows: Source,
    /// The column to randomise.
    pub column: String,
    /// The columns to release as they are: every value of them leaves in the clear, of Parquet also those that a
    /// dictionary lists and no row has. What they tell about the randomised column is measured. All others are left out.
    pub keep: Vec<String>,
    /// What to do with missing values and values the policy does not know.
    pub unknown: UnknownValues,
    /// How many threads; unless it is given, one for every processor.
    pub threads: Option<NonZero<usize>>,
    /// Where to write.
    pub output: Target,
}

impl PerturbRequest {
    /// Releases one column and nothing else, and stops at a value the policy does not know.
    pub fn new(policy: Policy, rows: Source, column: impl Into<String>, output: Target) -> Self {
        Self {
            policy,
            rows,
            column: column.into(),
            keep: Vec::new(),
            unknown: UnknownValues::Refuse,
            threads: None,
            output,
        }
    }
}

/// Randomises a column.
pub fn perturb(request: PerturbRequest) -> Result<PerturbReport, Error> {
    let PerturbRequest { policy, rows, column, keep, unknown, threads, output } = request;
    let draft = policy.draft();
    let asked = AskedColumn::new(column.clone(), column.clone(), draft.inputs().clone());
    if unknown == UnknownValues::AsOther && asked.other.is_none() {
        let problem = "other: the policy has no symbol \"other\"; use skip, or design one with it";
        return Err(Error::field("unknown", problem));
    }
    let released = Released::new(draft)?;
    let sizes = vec![asked.size()];
    let channel = Channel::new(column.clone(), vec![0], sizes, policy.clone(), None, released);
    let (asked, channels) = (vec![asked], vec![channel]);
    let frame = Frame { asked, channels, choose: None, keep, unknown, threads };
    let name = output.name().to_owned();
    let written = frame.run(rows, output)?;
    Ok(PerturbReport::new(column, &policy, &frame, written, name))
}
