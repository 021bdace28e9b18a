//! Which columns leave the machine.

use super::{AskedColumn, Frame};
use crate::Error;
use crate::columns::position;
use crate::error::mention;

/// The columns that are asked for and those named to be kept; all others stay at home.
pub(crate) struct Chosen {
    /// The places of the columns asked for among the file's columns.
    pub(crate) asked: Vec<usize>,
    /// The places of the columns kept in the clear, in the file's order.
    pub(crate) kept: Vec<usize>,
    /// Their names.
    pub(crate) kept_names: Vec<String>,
    /// The names of the columns that are left out.
    pub(crate) left_out: Vec<String>,
    /// What is written, in the file's order; an item stands where the first of its questions did.
    pub(crate) outputs: Vec<OutputColumn>,
}

/// A column of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OutputColumn {
    /// A kept column, by its place among those that are kept.
    Kept(usize),
    /// An item, by its place among the items.
    Item(usize),
}

impl Chosen {
    /// Finds the columns among those of a source.
    pub(crate) fn new(frame: &Frame, source: &str, columns: &[String]) -> Result<Self, Error> {
        let asked = frame.asked.iter().map(|asked| {
            if frame.is_plan() && !columns.contains(&asked.column) {
                return Err(missing(source, asked, columns));
            }
            position(source, &asked.column, columns)
        });
        let asked = asked.collect::<Result<Vec<_>, _>>()?;
        let questions = &asked[..frame.questions().count()];
        let kept = frame.keep.iter().map(|name| position(source, name, columns));
        let mut kept = kept.collect::<Result<Vec<_>, _>>()?;
        kept.sort_unstable();
        kept.dedup();
        for &place in &kept {
            let name = &columns[place];
            let problem = if questions.contains(&place) {
                format!("{name:?}: that column is randomised, and cannot also be kept as it is")
            } else if frame.channels.iter().any(|channel| channel.name == *name) {
                format!("{name:?}: a released column is called that too: rename one")
            } else {
                continue;
            };
            return Err(Error::field("keep", problem));
        }
        let stays = |at: &usize| !questions.contains(at) && !kept.contains(at);
        let names = |places: &mut dyn Iterator<Item = usize>| {
            places.map(|at| columns[at].clone()).collect::<Vec<_>>()
        };
        let left_out = names(&mut (0..columns.len()).filter(stays));
        let kept_names = names(&mut kept.iter().copied());
        let mut outputs: Vec<(usize, OutputColumn)> = Vec::new();
        outputs.extend(kept.iter().zip(0..).map(|(&at, place)| (at, OutputColumn::Kept(place))));
        for (item, channel) in frame.channels.iter().enumerate() {
            let first = channel.questions.first().map_or(0, |&question| asked[question]);
            outputs.push((first, OutputColumn::Item(item)));
        }
        outputs.sort_by_key(|(at, _)| *at);
        let outputs = outputs.into_iter().map(|(_, output)| output).collect();
        Ok(Self { asked, kept, kept_names, left_out, outputs })
    }
}

/// A question of a plan has no column.
fn missing(source: &str, asked: &AskedColumn, columns: &[String]) -> Error {
    let problem = format!(
        "there is no column {:?} for the question {:?}; the columns are {}: rename one, or say which with {} {:?}",
        asked.column,
        asked.name,
        columns.join(", "),
        mention("column"),
        format!("{}=COLUMN", asked.name),
    );
    Error::in_document(source, problem)
}
