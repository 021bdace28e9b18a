//! A file of people released under a plan: every row is one person, and one answer to the plan.
//!
//! Every question of the plan is a column. For every row the items it answers are drawn as a device draws them, whatever
//! its cells say; each answered item is drawn by its policy. What is not in the plan stays at home, unless it is named to be
//! kept, and then what it tells is measured ([`crate::kept`]). The output has the input's format, and nothing is left behind by
//! a run that fails.
//!
//! An item with one question is a column of that name, as [`crate::perturb`] writes it. A combined item is a column named by its
//! questions joined by ` × `, whose cells are answers joined the same way (`yes × no`); where an answer has that sign or a backslash itself,
//! a backslash stands before it, and [`separated`] takes a cell apart again. A cell is empty, or null, where the row does not answer the
//! item. Of an item whose answer is kept and randomised again for every report, a row is one report.
//!
//! ```
//! use undertone::columns::Source;
//! use undertone::release::{ReleaseRequest, Target, release};
//!
//! # use undertone_core::plan::{Item, Law, Plan, PlanClaim, PlanDraft, PlanParts, Question};
//! # use undertone_core::{Alphabet, Claim, Context, Draft, Epsilon, Keep, Provenance, Shape};
//! # fn plan() -> Result<Plan, Box<dyn std::error::Error>> {
//! #     let answers = Alphabet::names(["no", "yes"])?;
//! #     let shape = Shape::Keep(Keep::new(vec![1 << 39; 2], vec![1 << 47; 2])?);
//! #     let claims = vec![Claim::ldp(Epsilon::parse("1.1")?)];
//! #     let none = Provenance::default;
//! #     let draft = Draft::new(answers.clone(), None, shape, Context::Unknown, claims, none())?;
//! #     let question = |name: &str| {
//! #         let (name, wording) = (name.to_owned(), String::new());
//! #         Question { name, wording, answers: answers.clone() }
//! #     };
//! #     let item = |question| Item { questions: vec![question], policy: 0, fresh: None, weight: 0 };
//! #     let parts = PlanParts {
//! #         questions: vec![question("smokes"), question("drinks")],
//! #         secrets: vec![],
//! #         law: Law::Unknown,
//! #         items: vec![item(0), item(1)],
//! #         asked: 0,
//! #         periods: 1,
//! #         claims: vec![PlanClaim::Person { ldp: "2.2".parse()? }],
//! #         provenance: none(),
//! #         policies: vec![draft],
//! #     };
//! #     PlanDraft::new(parts)?.verify().map_err(|refusal| refusal.to_string().into())
//! # }
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let people = Source::reader("people", "name,smokes,drinks\nAda,no,yes\nBo,no,no\n".as_bytes());
//! let output = Target::writer("nowhere", std::io::sink());
//! let report = release(ReleaseRequest::new(plan()?, people, output))?;
//! assert_eq!((report.released, report.left_out), (2, vec!["name".to_owned()]));
//! # Ok(())
//! # }
//! ```

mod person;
mod report;
mod rows;

pub use crate::combined::separated;
pub use crate::frame::{Drawn, Target};
pub use person::{PersonReport, VariableReport};
pub use report::{ReleaseReport, ReleasedItem, ReleasedQuestion};
pub use rows::{ItemDraws, PlanRows, ReadCodes, RowTrouble};

use std::num::NonZero;

use undertone_core::AlphabetView;
use undertone_core::plan::Plan;

use crate::Error;
use crate::columns::{Source, UnknownValues};
use crate::combined::item_columns;
use crate::frame::{AskedColumn, Channel, Choose, Frame, Released};

/// Which people to release under which plan, and where to write.
pub struct ReleaseRequest {
    /// The plan.
    pub plan: Plan,
    /// Where the rows come from.
    pub rows: Source,
    /// Where a question's column is called otherwise: question and column.
    pub columns: Vec<(String, String)>,
    /// The columns to release as they are: every value of them leaves in the clear, of Parquet also those that a
    /// dictionary lists and no row has. What they tell about the questions is measured. All others are left out.
    pub keep: Vec<String>,
    /// What to do with a row that has a missing value, or one that its question does not know. A row is left out whole; a question
    /// that has no symbol "other" takes nothing for it.
    pub unknown: UnknownValues,
    /// How many threads; unless it is given, one for every processor.
    pub threads: Option<NonZero<usize>>,
    /// Where to write.
    pub output: Target,
}

impl ReleaseRequest {
    /// Releases the answers to the plan and nothing else, each question from the column of its name, and stops at a value that a
    /// question does not know.
    pub fn new(plan: Plan, rows: Source, output: Target) -> Self {
        Self {
            plan,
            rows,
            columns: Vec::new(),
            keep: Vec::new(),
            unknown: UnknownValues::Refuse,
            threads: None,
            output,
        }
    }
}

/// Releases people under a plan.
pub fn release(request: ReleaseRequest) -> Result<ReleaseReport, Error> {
    let ReleaseRequest { plan, rows, columns, keep, unknown, threads, output } = request;
    let asked = asked(&plan, &columns)?;
    if unknown == UnknownValues::AsOther && asked.iter().all(|asked| asked.other.is_none()) {
        let problem = "other: no question of the plan has the answer \"other\"; use skip";
        return Err(Error::field("unknown", problem));
    }
    let secrets = &plan.parts().secrets;
    if let Some(name) = keep.iter().find(|name| secrets.iter().any(|secret| secret.name == **name))
    {
        let problem = format!(
            "{name}: the plan promises to hide {name:?}, and keeping its column in the clear tells it: leave it out"
        );
        return Err(Error::field("keep", problem));
    }
    let (channels, choose, least_group) = (channels(&plan)?, choose(&plan), 1);
    let frame = Frame { asked, channels, choose, keep, unknown, threads, least_group };
    let name = output.name().to_owned();
    let written = frame.run(rows, output)?;
    Ok(ReleaseReport::new(&plan, &frame, written, name))
}

/// The columns that are read.
fn asked(plan: &Plan, columns: &[(String, String)]) -> Result<Vec<AskedColumn>, Error> {
    let questions = &plan.parts().questions;
    for (at, (name, column)) in columns.iter().enumerate() {
        let problem = if !questions.iter().any(|question| question.name == *name) {
            let all: Vec<&str> = questions.iter().map(|question| question.name.as_str()).collect();
            format!(
                "{name}={column}: the plan asks no {name:?}; its questions are {}",
                all.join(", ")
            )
        } else if columns[..at].iter().any(|(other, _)| other == name) {
            format!("{name}={column}: the question {name:?} has a column already: give it once")
        } else {
            continue;
        };
        return Err(Error::field("column", problem));
    }
    let mut asked: Vec<AskedColumn> = Vec::new();
    for question in questions {
        let named = columns.iter().find(|(name, _)| *name == question.name);
        let column = named.map_or(&question.name, |(_, column)| column);
        if let Some(other) = asked.iter().find(|asked| asked.column == *column) {
            let problem = format!(
                "{}={column}: the question {:?} is read from that column too: give each its own",
                question.name, other.name
            );
            return Err(Error::field("column", problem));
        }
        let name = question.name.clone();
        asked.push(AskedColumn::new(name, column.clone(), question.answers.clone()));
    }
    Ok(asked)
}

/// What is drawn, each item as a column of its own name.
fn channels(plan: &Plan) -> Result<Vec<Channel>, Error> {
    let parts = plan.parts();
    let mut columns = item_columns(plan);
    let mut channels: Vec<Channel> = Vec::new();
    for (at, item) in parts.items.iter().enumerate() {
        let questions: Vec<usize> = item.questions.iter().map(|&one| one as usize).collect();
        let answers: Vec<_> = questions.iter().map(|&one| &parts.questions[one].answers).collect();
        let sizes: Vec<usize> = answers.iter().map(|answers| answers.len()).collect();
        let draft = plan.reporting_policy(at).draft();
        let combinations: usize = sizes.iter().product();
        let combined = answers.len() > 1
            && !draft.shape().releases_bits()
            && matches!(draft.outputs().view(), AlphabetView::Indices(size) if size as usize == combinations);
        let released = match combined {
            true => Released::combined(&answers)?,
            false => Released::new(draft)?,
        };
        let name = std::mem::take(&mut columns[at]);
        let fresh = item.fresh.map(|_| plan.reporting_policy(at).clone());
        let policy = plan.policy_of(at).clone();
        let channel = Channel::new(name, questions, sizes, policy, fresh, released);
        channels.push(channel.of_plan(plan.id()));
    }
    Ok(channels)
}

/// How the items of a row are drawn, if any are.
fn choose(plan: &Plan) -> Option<Box<Choose>> {
    if plan.parts().asked == 0 {
        return None;
    }
    let plan = plan.clone();
    Some(Box::new(move |rng, row| {
        for &item in plan.choose(rng).items() {
            row[item as usize] = true;
        }
    }))
}
