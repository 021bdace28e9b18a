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

mod chosen;
mod noise;
#[cfg(feature = "parquet")]
mod parquet;
mod released;
mod report;
mod target;
mod text;

pub use report::PerturbReport;
pub use target::Target;

use std::num::NonZero;

use undertone_core::{AlphabetView, Policy};

use crate::Error;
use crate::columns::{Code, OpenedSource, RowPlace, Source, UnknownValues};
use crate::error::{listed, mention};
use chosen::Chosen;
use noise::{Counts, Plan};

/// Which column to randomise, under which policy, and where to write it.
pub struct PerturbRequest {
    /// The policy.
    pub policy: Policy,
    /// Where the rows come from.
    pub rows: Source,
    /// The column to randomise.
    pub column: String,
    /// The columns to release as they are: every value of them leaves in the clear, of Parquet also those that a
    /// dictionary lists and no row has. All others are left out.
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
    let job = Job { column, keep, threads, plan: Plan::new(policy, unknown)? };
    let name = output.name().to_owned();
    let written = match rows.open()? {
        OpenedSource::Csv(file) => text::run(&job, file, output)?,
        #[cfg(feature = "parquet")]
        OpenedSource::Parquet(file) => parquet::run(&job, file, output)?,
    };
    Ok(PerturbReport::new(job, written, name))
}

/// All that reading, randomising and writing have in common.
struct Job {
    column: String,
    keep: Vec<String>,
    threads: Option<NonZero<usize>>,
    plan: Plan,
}

/// What was written, and what was not.
struct Written {
    counts: Counts,
    chosen: Chosen,
    /// The keys of what the file said about itself and the output does not.
    notes_left_out: Vec<String>,
    /// Whether the output took the place of a file that held something.
    replaced: bool,
}

impl Job {
    /// What is wrong with a cell of a source, and what can be done about it. What the cell says is somebody's answer
    /// and not repeated.
    fn bad_cell(&self, source: &str, place: RowPlace, code: Code) -> Error {
        let inputs = self.plan.policy.draft().inputs();
        let found = match (code, inputs.view()) {
            (Code::Missing, _) => "is empty or NaN".to_owned(),
            (_, AlphabetView::Bins { .. }) => "is not a finite number".to_owned(),
            (_, view) => {
                let what = match view {
                    AlphabetView::Points(_) => "numbers",
                    _ => "symbols",
                };
                let known = listed((0..inputs.len()).map(|x| inputs.label(x)), 5);
                format!("is none of the policy's {} {what} ({known})", inputs.len())
            }
        };
        let other = if self.plan.other.is_some() { " or other" } else { "" };
        let problem = format!(
            "{place}, column {:?} {found}: mend it, use {} skip{other}, or is it the wrong policy?",
            self.column,
            mention("unknown")
        );
        Error::in_document(source, problem)
    }
}
