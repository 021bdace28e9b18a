//! From the codes of a block of rows to what is released of them.

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;

use super::Frame;
use super::asked::ColumnCounts;
use super::channel::Drawn;
use crate::Error;
use crate::columns::Code;

/// Says for one row which items it answers: it is given a list of `false`, one for each item.
pub(crate) type Choose = dyn Fn(&mut ChaCha12Rng, &mut [bool]) + Send + Sync;

/// What happened to some rows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) rows: u64,
    /// How many rows were released.
    pub(crate) released: u64,
    /// What happened to the cells of each column asked for.
    pub(crate) columns: Vec<ColumnCounts>,
    /// How many rows answered each item.
    pub(crate) answered: Vec<u64>,
    /// How many rows that are released each group has, where rows have policies of their own.
    pub(crate) groups: Vec<u64>,
}

/// A cell that may not be there: its row and column among those given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BadCell {
    pub(crate) at: usize,
    pub(crate) column: usize,
    pub(crate) code: Code,
}

/// Why nothing was drawn.
#[derive(Debug)]
pub(crate) enum NotDrawn {
    Cell(BadCell),
    Fault(Error),
}

impl From<Error> for NotDrawn {
    fn from(error: Error) -> Self {
        Self::Fault(error)
    }
}

/// One thread's source of noise, and what it drew for one block.
pub(crate) struct Draws<'a> {
    frame: &'a Frame,
    rng: ChaCha12Rng,
    /// What the cells stand for, column by column; filled in by the reader.
    pub(crate) codes: Vec<Vec<Code>>,
    /// The symbols of the rows that are released, column by column.
    pub(super) indices: Vec<Vec<u32>>,
    /// Which rows are released; empty if all are.
    left_out: Vec<bool>,
    /// Which items each row answers, row by row; empty if all answer everything.
    answers: Vec<bool>,
    /// What was drawn, item by item, for the rows that answer it.
    pub(crate) drawn: Vec<Drawn>,
}

impl Frame {
    /// A source of noise of its own, seeded by the system's generator. No caller can give a seed: noise that can be drawn
    /// again hides nothing.
    pub(crate) fn draws(&self) -> Result<Draws<'_>, Error> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| {
            Error::input(format!("the system's random generator failed: {error}"))
        })?;
        Ok(self.draws_from(ChaCha12Rng::from_seed(seed)))
    }

    pub(super) fn draws_from(&self, rng: ChaCha12Rng) -> Draws<'_> {
        let columns = self.asked.len();
        Draws {
            frame: self,
            rng,
            codes: vec![Vec::new(); columns],
            indices: vec![Vec::new(); columns],
            left_out: Vec::new(),
            answers: Vec::new(),
            drawn: Vec::new(),
        }
    }
}

impl Counts {
    /// Adds the counts of the rows that follow.
    pub(crate) fn then(&mut self, next: &Self) {
        self.rows += next.rows;
        self.released += next.released;
        self.columns.resize(next.columns.len().max(self.columns.len()), ColumnCounts::default());
        self.columns.iter_mut().zip(&next.columns).for_each(|(mine, next)| mine.then(next));
        self.answered.resize(next.answered.len().max(self.answered.len()), 0);
        self.answered.iter_mut().zip(&next.answered).for_each(|(mine, next)| *mine += next);
        self.groups.resize(next.groups.len().max(self.groups.len()), 0);
        self.groups.iter_mut().zip(&next.groups).for_each(|(mine, next)| *mine += next);
    }
}

impl Draws<'_> {
    /// Makes room for another block.
    pub(crate) fn clear(&mut self) {
        self.codes.iter_mut().for_each(Vec::clear);
    }

    /// Whether a row of the block is released.
    pub(super) fn stays(&self, row: usize) -> bool {
        self.left_out.get(row).is_none_or(|left_out| !left_out)
    }

    /// Whether rows of the block are left out.
    pub(super) fn drops_rows(&self) -> bool {
        !self.left_out.is_empty()
    }

    /// Whether a row answers an item; rows are counted among those that are released.
    pub(crate) fn answers(&self, row: usize, item: usize) -> bool {
        self.answers.get(row * self.frame.channels.len() + item).is_none_or(|answers| *answers)
    }

    /// The symbols of a row's answers; rows are counted among those that are released.
    pub(super) fn answers_of(&self, row: usize) -> Vec<u32> {
        let questions = self.frame.questions().count();
        self.indices[..questions].iter().map(|indices| indices[row]).collect()
    }

    /// Draws an output of every item for every row that answers it. Every cell is looked at, whatever is answered: which rows
    /// are left out does not depend on what is drawn.
    pub(crate) fn draw(&mut self) -> Result<Counts, NotDrawn> {
        let mut counts = Counts {
            rows: self.codes.first().map_or(0, Vec::len) as u64,
            columns: vec![ColumnCounts::default(); self.codes.len()],
            ..Counts::default()
        };
        self.read(&mut counts).map_err(NotDrawn::Cell)?;
        let rows = self.indices.first().map_or(0, Vec::len);
        counts.released = rows as u64;
        for ((asked, indices), counts) in
            self.frame.asked.iter().zip(&self.indices).zip(&mut counts.columns)
        {
            asked.saw(indices, counts);
        }
        if let (Some(groups), Some(rows)) = (self.frame.groups(), self.indices.last()) {
            counts.groups.resize(groups.size(), 0);
            rows.iter().for_each(|&group| counts.groups[group as usize] += 1);
        }
        let channels = &self.frame.channels;
        self.answers.clear();
        if let Some(choose) = &self.frame.choose {
            self.answers.resize(rows * channels.len(), false);
            self.answers
                .chunks_exact_mut(channels.len())
                .for_each(|row| choose(&mut self.rng, row));
        }
        self.drawn.clear();
        for (item, channel) in channels.iter().enumerate() {
            let (answers, width) = (&self.answers, channels.len());
            let answers =
                |row: usize| answers.get(row * width + item).is_none_or(|answers| *answers);
            let drawn = channel.draw(&self.indices, answers, rows, &mut self.rng)?;
            counts.answered.push(match &drawn {
                Drawn::Indices(indices) => indices.len(),
                Drawn::Bits { packed, width } => packed.len() / width,
            } as u64);
            self.drawn.push(drawn);
        }
        Ok(counts)
    }

    /// From codes to symbols.
    fn read(&mut self, counts: &mut Counts) -> Result<(), BadCell> {
        let mut bad: Option<BadCell> = None;
        self.left_out.clear();
        let columns = self.frame.asked.iter().zip(&self.codes).zip(&mut self.indices);
        for (column, (((asked, codes), indices), counts)) in
            columns.zip(&mut counts.columns).enumerate()
        {
            indices.clear();
            for (at, &code) in codes.iter().enumerate() {
                match asked.index(code, self.frame.unknown, counts) {
                    Ok(Some(index)) => indices.push(index),
                    Ok(None) => {
                        self.left_out.resize(codes.len(), false);
                        self.left_out[at] = true;
                        indices.push(0);
                    }
                    Err(code) => {
                        // The first row of all columns is named.
                        if bad.is_none_or(|bad| at < bad.at) {
                            bad = Some(BadCell { at, column, code });
                        }
                        break;
                    }
                }
            }
        }
        if let Some(bad) = bad {
            return Err(bad);
        }
        if self.drops_rows() {
            for indices in &mut self.indices {
                let mut rows = self.left_out.iter();
                indices.retain(|_| rows.next().is_none_or(|left_out| !left_out));
            }
        }
        Ok(())
    }
}
