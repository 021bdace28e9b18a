//! Which columns leave the machine.

use crate::Error;
use crate::columns::position;

/// The randomised column and those named to be kept; all others stay at home.
pub(super) struct Chosen {
    /// The randomised column's place among the file's columns.
    pub(super) column: usize,
    /// The places of the columns kept in the clear, in the file's order.
    pub(super) kept: Vec<usize>,
    pub(super) kept_names: Vec<String>,
    /// The names of the columns that are left out.
    pub(super) left_out: Vec<String>,
}

impl Chosen {
    /// Finds the column to randomise and those to keep among the columns of a source.
    pub(super) fn new(
        column: &str,
        keep: &[String],
        source: &str,
        columns: &[String],
    ) -> Result<Self, Error> {
        let place = position(source, column, columns)?;
        let kept = keep.iter().map(|name| position(source, name, columns));
        let mut kept = kept.collect::<Result<Vec<_>, _>>()?;
        kept.sort_unstable();
        kept.dedup();
        if kept.contains(&place) {
            let problem =
                format!("{column:?}: that column is randomised, and cannot also be kept as it is");
            return Err(Error::field("keep", problem));
        }
        let column = place;
        let stays = |at: &usize| *at != column && !kept.contains(at);
        let names = |places: &mut dyn Iterator<Item = usize>| {
            places.map(|at| columns[at].clone()).collect::<Vec<_>>()
        };
        let left_out = names(&mut (0..columns.len()).filter(stays));
        let kept_names = names(&mut kept.iter().copied());
        Ok(Self { column, kept, kept_names, left_out })
    }

    /// The places of all columns that are released, in the file's order.
    pub(super) fn released(&self) -> Vec<usize> {
        let mut all = self.kept.clone();
        all.insert(self.place(), self.column);
        all
    }

    /// The randomised column's place among those that are released.
    pub(super) fn place(&self) -> usize {
        self.kept.partition_point(|&at| at < self.column)
    }
}
