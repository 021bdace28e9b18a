//! From a table of labelled rows to samples to learn from and samples to judge by.

use undertone_design::Error;

use super::sequences::pick;
use super::split::{Plan, Split, split};
use crate::{Codebook, Columns, Samples, Spacing};

/// How a table is prepared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recipe {
    /// Which rows are learned from.
    pub plan: Plan,
    /// Into how many levels a continuous reading is cut.
    pub levels: usize,
    /// The rule by which the levels are cut.
    pub spacing: Spacing,
    /// Keep this many sensors, those that say most about H; all without it.
    pub keep: Option<usize>,
}

/// Samples to learn from and to judge by.
#[derive(Debug, Clone)]
pub struct Parts {
    /// To learn from.
    pub train: Samples,
    /// Held out.
    pub test: Samples,
    /// The held-out rows as they were read, of the sensors kept.
    pub held_out: Columns,
    /// The sequence of every held-out row, where rows come in sequences.
    pub units: Option<Vec<usize>>,
}

/// Splits the rows, then cuts readings into levels and chooses sensors by the rows to learn from alone.
pub fn prepare(
    columns: &Columns,
    sequence: Option<&[usize]>,
    recipe: &Recipe,
) -> Result<Parts, Error> {
    let mut labels: Vec<String> = columns.public.cells.clone();
    for column in &columns.private {
        let pairs = labels.iter_mut().zip(&column.cells);
        pairs.for_each(|(label, cell)| *label = format!("{label}\u{0}{cell}"));
    }
    let mut known = labels.clone();
    known.sort_unstable();
    known.dedup();
    let codes: Vec<usize> =
        labels.iter().map(|label| known.partition_point(|other| other < label)).collect();
    let Split { train, test } = split(&codes, sequence, &recipe.plan)?;
    let seen = pick(columns, &train);
    let codebook = Codebook::fit_part(&seen, columns, recipe.levels, recipe.spacing)?;
    let learned = codebook.samples(&seen)?;
    let mut held_out = pick(columns, &test);
    let judged = codebook.samples(&held_out)?;
    let kept = match recipe.keep {
        Some(0) => return Err(Error::range("the number of sensors kept", 0.0, "at least 1")),
        Some(count) => learned.most_relevant(count),
        None => (0..learned.sensors().len()).collect(),
    };
    held_out.sensors = kept.iter().map(|&t| held_out.sensors[t].clone()).collect();
    Ok(Parts {
        train: learned.keep(&kept)?,
        test: judged.keep(&kept)?,
        held_out,
        units: sequence.map(|sequence| test.iter().map(|&i| sequence[i]).collect()),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Column;

    fn column(name: &str, cell: impl Fn(usize) -> String) -> Column {
        Column { name: name.into(), cells: (0..200).map(cell).collect() }
    }

    #[test]
    fn levels_and_sensors_come_from_what_is_learned() {
        let bit = |value: bool| String::from(if value { "yes" } else { "no" });
        let columns = Columns {
            sensors: vec![
                column("noise", |i| (i * 7 % 13).to_string()),
                column("useful", |i| (i % 2 * 10 + i % 3).to_string()),
            ],
            public: column("h", |i| bit(i % 2 == 1)),
            private: vec![column("g", |i| bit(i % 5 < 2))],
        };
        let recipe =
            Recipe { plan: Plan::default(), levels: 4, spacing: Spacing::Equal, keep: Some(1) };
        let parts = prepare(&columns, None, &recipe).unwrap();
        assert_eq!(parts.train.sensors()[0].0, "useful");
        assert_eq!((parts.train.samples().len(), parts.test.samples().len()), (100, 100));
        assert_eq!(parts.held_out.sensors.len(), 1);
        assert!(parts.units.is_none());
        // Rows of one sequence stay on one side, and held-out rows know their sequence.
        let sequence: Vec<usize> = (0..200).map(|i| i / 10).collect();
        let parts = prepare(&columns, Some(&sequence), &recipe).unwrap();
        assert_eq!(parts.units.unwrap().len(), parts.test.samples().len());
        assert!(prepare(&columns, None, &Recipe { keep: Some(0), ..recipe }).is_err());
    }
}
