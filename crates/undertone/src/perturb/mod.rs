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
pub use report::{PerturbReport, PerturbedGroup};

use std::num::NonZero;

use undertone_core::{Alphabet, Policy};

use crate::Error;
use crate::columns::{Source, UnknownValues};
use crate::error::mention;
use crate::frame::{AskedColumn, Channel, Frame, Grouped, Released};
use crate::observations::ReportedUnder;

/// How many people must share a policy that names them: the minimum of a curator's groups.
pub const LEAST_GROUP: u64 = 100;

/// Which column to randomise, under which policy, and where to write it.
pub struct PerturbRequest {
    /// The policy, or the column that says which policy a row has. That column is released only if it is among `keep`.
    pub under: ReportedUnder,
    /// Where the rows come from.
    pub rows: Source,
    /// The column to randomise.
    pub column: String,
    /// The columns to release as they are: every value of them leaves in the clear, of Parquet also those that a
    /// dictionary lists and no row has. What they tell about the randomised column is measured. All others are left out.
    pub keep: Vec<String>,
    /// What to do with missing values and values the policy does not know. A row whose group is missing or unknown is
    /// always refused.
    pub unknown: UnknownValues,
    /// How many threads; unless it is given, one for every processor.
    pub threads: Option<NonZero<usize>>,
    /// How many rows every group must have whose name is released.
    pub least_group: u64,
    /// Where to write.
    pub output: Target,
}

impl PerturbRequest {
    /// Releases one column and nothing else, and stops at a value the policy does not know.
    pub fn new(
        under: impl Into<ReportedUnder>,
        rows: Source,
        column: impl Into<String>,
        output: Target,
    ) -> Self {
        Self {
            under: under.into(),
            rows,
            column: column.into(),
            keep: Vec::new(),
            unknown: UnknownValues::Refuse,
            threads: None,
            least_group: LEAST_GROUP,
            output,
        }
    }
}

/// What is drawn: the columns read for it, the channel, and the policies by the names of their groups.
struct Drawing {
    asked: Vec<AskedColumn>,
    channel: Channel,
    policies: Vec<(String, Policy)>,
}

/// Randomises a column.
pub fn perturb(request: PerturbRequest) -> Result<PerturbReport, Error> {
    let PerturbRequest { under, rows, column, keep, unknown, threads, least_group, output } =
        request;
    let Drawing { asked, channel, policies } = drawing(&column, under)?;
    if unknown == UnknownValues::AsOther && asked[0].other.is_none() {
        let problem = "other: the policy has no symbol \"other\"; use skip, or design one with it";
        return Err(Error::field("unknown", problem));
    }
    let by = asked.last().filter(|asked| asked.is_group).map(|asked| asked.column.clone());
    // Groups that are not released name nobody.
    let named = by.as_ref().is_some_and(|by| keep.contains(by));
    let least_group = if named { least_group } else { 1 };
    if least_group > 1 && !output.can_be_withheld() {
        return Err(Error::field(
            "output",
            format!(
                "is written as rows are read, and whether a group is too small is known at the end: write to a file, or give {} 1",
                mention("least_group")
            ),
        ));
    }
    let channels = vec![channel];
    let frame = Frame { asked, channels, choose: None, keep, unknown, threads, least_group };
    let name = output.name().to_owned();
    let written = frame.run(rows, output)?;
    Ok(PerturbReport::new(column, (by, named), &policies, &frame, written, name))
}

/// Prepares a column's policy, or its policies.
fn drawing(column: &str, under: ReportedUnder) -> Result<Drawing, Error> {
    let question =
        |inputs: &Alphabet| AskedColumn::new(column.into(), column.into(), inputs.clone());
    let (by, designs) = match under {
        ReportedUnder::Policy(policy) => {
            let asked = question(policy.draft().inputs());
            let released = Released::new(policy.draft())?;
            let (name, sizes) = (column.to_owned(), vec![asked.size()]);
            let channel = Channel::new(name, vec![0], sizes, (*policy).clone(), None, released);
            let policies = vec![(String::new(), *policy)];
            return Ok(Drawing { asked: vec![asked], channel, policies });
        }
        ReportedUnder::By { column, designs } => (column, designs),
    };
    if by == column {
        let problem = format!(
            ": {by:?} is the column that is randomised: name another that says which policy a row has"
        );
        return Err(Error::field("policy_by", problem));
    }
    let policy = |(name, policy): (String, Option<Policy>)| match policy {
        Some(policy) => Ok((name, policy)),
        None => Err(Error::field(
            "policy_by",
            format!(
                ": the rows of {name:?} are clear, and nothing is released in the clear but what {} names: give that group a policy",
                mention("keep")
            ),
        )),
    };
    let policies = designs.into_iter().map(policy).collect::<Result<Vec<_>, _>>()?;
    let (groups, released) = Grouped::new(&policies)?;
    // The constructor refused an empty list.
    let asked = question(policies[0].1.draft().inputs());
    let names = Alphabet::names(policies.iter().map(|(name, _)| name.clone()));
    let names = names.map_err(|error| Error::field("policy_by", format!(": {error}")))?;
    let channel = Channel::by_group(column.to_owned(), (0, asked.size()), (groups, 1), released);
    let asked = vec![asked, AskedColumn::of_groups(by, names)];
    Ok(Drawing { asked, channel, policies })
}
