//! Rows of a file released through one channel or several: what `perturb` and `release` have in common.
//!
//! Some columns are asked for; their cells become symbols. Every item takes the symbols of its questions through its
//! channel, and what it draws is a column of the output. Beside these only columns that are kept leave, and what they tell
//! about the questions is measured as the rows go by ([`crate::kept`]).

mod asked;
mod channel;
mod chosen;
mod draws;
mod grouped;
#[cfg(feature = "parquet")]
mod parquet;
mod released;
mod target;
#[cfg(test)]
mod tests;
mod text;

pub(crate) use asked::AskedColumn;
pub(crate) use channel::Channel;
pub use channel::Drawn;
pub(crate) use chosen::Chosen;
pub(crate) use draws::{BadCell, Choose, Counts, NotDrawn};
pub(crate) use grouped::Grouped;
pub(crate) use released::Released;
pub(crate) use target::OpenTarget;
pub use target::Target;

use std::num::NonZero;

use undertone_core::AlphabetView;

use crate::Error;
use crate::columns::{Code, OpenedSource, RowPlace, Source, UnknownValues};
use crate::error::{listed, mention};
use crate::kept::{Kept, KeptQuestion, KeptWatch};

/// What is asked for, what is drawn from it, and what is kept beside it.
pub(crate) struct Frame {
    /// The columns that are read, in the order of the questions; behind them the one that says which policy a row has, if
    /// one does.
    pub(crate) asked: Vec<AskedColumn>,
    /// What is drawn, in the order of the items.
    pub(crate) channels: Vec<Channel>,
    /// Which items a row answers; nothing if every row answers all.
    pub(crate) choose: Option<Box<Choose>>,
    /// The columns that leave as they are.
    pub(crate) keep: Vec<String>,
    /// What to do with a cell that has no symbol.
    pub(crate) unknown: UnknownValues,
    /// How many threads; unless it is given, one for every processor.
    pub(crate) threads: Option<NonZero<usize>>,
    /// How many rows each group must have that the release names; 1 where groups are not released.
    pub(crate) least_group: u64,
}

/// What was written, and what was not.
pub(crate) struct Written {
    pub(crate) counts: Counts,
    pub(crate) chosen: Chosen,
    /// What the kept columns tell.
    pub(crate) kept: Vec<Kept>,
    /// The keys of what the file said about itself and the output does not.
    pub(crate) notes_left_out: Vec<String>,
    /// Whether the output took the place of a file that held something.
    pub(crate) replaced: bool,
}

impl Frame {
    /// Reads, draws and writes.
    pub(crate) fn run(&self, rows: Source, output: Target) -> Result<Written, Error> {
        match rows.open()? {
            OpenedSource::Csv(file) => text::run(self, file, output),
            #[cfg(feature = "parquet")]
            OpenedSource::Parquet(file) => parquet::run(self, file, output),
        }
    }

    /// Watches what the kept columns tell about the questions.
    pub(crate) fn watch(&self, kept: &[String]) -> KeptWatch {
        let question =
            |asked: &AskedColumn| KeptQuestion { name: asked.name.clone(), symbols: asked.size() };
        KeptWatch::new(kept.to_vec(), self.questions().map(question).collect())
    }

    /// The columns asked for but the one of groups.
    pub(crate) fn questions(&self) -> impl Iterator<Item = &AskedColumn> {
        self.asked.iter().filter(|asked| !asked.is_group)
    }

    /// The groups, if rows have policies of their own.
    pub(crate) fn groups(&self) -> Option<&AskedColumn> {
        self.asked.last().filter(|asked| asked.is_group)
    }

    /// Refuses groups that are shared by too few rows, before anything has its name.
    fn check_groups(&self, counts: &Counts) -> Result<(), Error> {
        let Some(groups) = self.groups() else { return Ok(()) };
        let few = |(_, rows): &(usize, &u64)| (1..self.least_group).contains(*rows);
        let small: Vec<(usize, &u64)> = counts.groups.iter().enumerate().filter(few).collect();
        if small.is_empty() {
            return Ok(());
        }
        let shown = small.iter().map(|(at, rows)| format!("{} ({rows})", groups.inputs.label(*at)));
        Err(Error::input(format!(
            "{} of the groups in column {:?} have fewer rows than {} ({}): {}. A policy shared by few is a name tag: design for larger groups, leave that column out of {}, or lower {}",
            small.len(),
            groups.column,
            mention("least_group"),
            self.least_group,
            listed(shown, 5),
            mention("keep"),
            mention("least_group")
        )))
    }

    /// Whether rows may be left out.
    #[cfg(feature = "parquet")]
    pub(crate) fn drops_rows(&self) -> bool {
        self.unknown == UnknownValues::Skip
    }

    /// What is wrong with a cell of a source, and what can be done about it. What the cell says is somebody's answer
    /// and not repeated.
    fn bad_cell(&self, source: &str, place: RowPlace, bad: BadCell) -> Error {
        let asked = &self.asked[bad.column];
        let inputs = &asked.inputs;
        if asked.is_group {
            let known = listed((0..inputs.len()).map(|x| inputs.label(x)), 5);
            let problem = format!(
                "{place}, column {:?} {}: every row needs a group of the map ({known}), so that it has a policy: mend it",
                asked.column,
                if bad.code == Code::Missing { "is empty" } else { "names no group of the map" }
            );
            return Error::in_document(source, problem);
        }
        let found = match (bad.code, inputs.view()) {
            (Code::Missing, _) => "is empty or NaN".to_owned(),
            (_, AlphabetView::Bins { .. }) => "is not a finite number".to_owned(),
            (_, view) => {
                let what = match view {
                    AlphabetView::Points(_) => "numbers",
                    _ => "symbols",
                };
                let known = listed((0..inputs.len()).map(|x| inputs.label(x)), 5);
                format!("is none of the {} {} {what} ({known})", self.whose(), inputs.len())
            }
        };
        let other = if asked.other.is_some() { " or other" } else { "" };
        let problem = format!(
            "{place}, column {:?} {found}: mend it, use {} skip{other}, or is it the wrong {}?",
            asked.column,
            mention("unknown"),
            self.document(),
        );
        Error::in_document(source, problem)
    }

    /// Whose symbols a cell is looked up in.
    fn whose(&self) -> &'static str {
        if self.is_plan() { "question's" } else { "policy's" }
    }

    fn document(&self) -> &'static str {
        if self.is_plan() { "plan" } else { "policy" }
    }

    /// Whether the channels are a plan's.
    fn is_plan(&self) -> bool {
        self.channels.iter().any(|channel| channel.plan.is_some())
    }
}
