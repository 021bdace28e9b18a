//! One item of a release: the symbols of its questions go through its channel.

use rand_chacha::ChaCha12Rng;
use undertone_core::{Policy, Sampler, Symbol};

use super::grouped::Grouped;
use super::released::Released;
use crate::Error;

/// An item, ready for many rows and shared by all threads.
pub(crate) struct Channel {
    /// What its column of the output is called.
    pub(crate) name: String,
    /// Its questions, by their places among the columns asked for. Several are one symbol together, the first the most significant.
    pub(crate) questions: Vec<usize>,
    /// How outputs are written.
    pub(crate) released: Released,
    /// The id of the plan it is an item of, if it is one.
    pub(crate) plan: Option<String>,
    /// How many symbols each question has.
    sizes: Vec<usize>,
    stages: Stages,
}

/// What stands between question and output.
enum Stages {
    /// One policy, and perhaps what randomises its output again.
    Same(Box<Stage>, Option<Box<Stage>>),
    /// The policy of each row's group; which group that is stands in the column asked for at this place.
    By(Grouped, usize),
}

/// A verified policy and its tables.
pub(super) struct Stage {
    policy: Policy,
    sampler: Sampler,
}

/// Outputs of some rows: indices, or for `Bits` packed bytes, `width` for each row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Drawn {
    /// One index for each row.
    Indices(Vec<u32>),
    /// Packed bits.
    Bits {
        /// The rows' bytes, one after the other.
        packed: Vec<u8>,
        /// Bytes for each row.
        width: usize,
    },
}

impl Stage {
    pub(super) fn new(policy: Policy) -> Self {
        Self { sampler: Sampler::new(&policy), policy }
    }

    /// Bytes of packed bits that are drawn for a row; 0 where an index is.
    pub(super) fn packed_width(&self) -> usize {
        let shape = self.policy.draft().shape();
        if shape.releases_bits() { shape.outputs().div_ceil(8) } else { 0 }
    }

    /// One output for each symbol.
    pub(super) fn draw(&self, inputs: &[u32], rng: &mut ChaCha12Rng) -> Result<Drawn, Error> {
        let alphabet = self.policy.draft().inputs();
        let symbols = inputs.iter().map(|&index| alphabet.symbol(index as usize));
        let symbols: Vec<Symbol> = symbols.collect::<Result<_, _>>().map_err(Error::input)?;
        let shape = self.policy.draft().shape();
        if shape.releases_bits() {
            let width = shape.outputs().div_ceil(8);
            let mut packed = vec![0; symbols.len() * width];
            self.sampler.draw_bits(&symbols, rng, &mut packed).map_err(Error::input)?;
            return Ok(Drawn::Bits { packed, width });
        }
        let mut indices = vec![0; symbols.len()];
        self.sampler.draw_indices(&symbols, rng, &mut indices).map_err(Error::input)?;
        Ok(Drawn::Indices(indices))
    }
}

impl Channel {
    /// A channel for questions with so many symbols each.
    pub(crate) fn new(
        name: String,
        questions: Vec<usize>,
        sizes: Vec<usize>,
        policy: Policy,
        again: Option<Policy>,
        released: Released,
    ) -> Self {
        let boxed = |policy| Box::new(Stage::new(policy));
        let stages = Stages::Same(boxed(policy), again.map(boxed));
        Self { name, questions, released, plan: None, sizes, stages }
    }

    /// A channel for one question, whose policy is that of the row's group: which group that is stands in the column asked
    /// for at the place `by`.
    pub(crate) fn by_group(
        name: String,
        (question, size): (usize, usize),
        (groups, by): (Grouped, usize),
        released: Released,
    ) -> Self {
        let stages = Stages::By(groups, by);
        Self { name, questions: vec![question], released, plan: None, sizes: vec![size], stages }
    }

    /// This channel as that of an item of a plan, which the output's metadata then names.
    pub(crate) fn of_plan(self, id: impl ToString) -> Self {
        Self { plan: Some(id.to_string()), ..self }
    }

    /// Bytes of packed bits that are drawn for a row; 0 where an index is.
    pub(super) fn packed_width(&self) -> usize {
        match &self.stages {
            Stages::Same(first, second) => second.as_ref().unwrap_or(first).packed_width(),
            Stages::By(groups, _) => groups.packed_width(),
        }
    }

    /// The policy whose channel alone stands between question and output; none if it is randomised twice, or rows have
    /// policies of their own.
    #[cfg(feature = "parquet")]
    pub(crate) fn only_policy(&self) -> Option<&Policy> {
        match &self.stages {
            Stages::Same(first, None) => Some(&first.policy),
            Stages::Same(_, Some(_)) | Stages::By(..) => None,
        }
    }

    /// Draws for every row that answers; `indices` are the questions' symbols, column by column, and `rows` how many.
    pub(super) fn draw(
        &self,
        indices: &[Vec<u32>],
        answers: impl Fn(usize) -> bool,
        rows: usize,
        rng: &mut ChaCha12Rng,
    ) -> Result<Drawn, Error> {
        let answering = (0..rows).filter(|&row| answers(row));
        let inputs: Vec<u32> = match self.questions.as_slice() {
            [one] => answering.map(|row| indices[*one][row]).collect(),
            several => answering
                .map(|row| {
                    several.iter().zip(&self.sizes).fold(0, |symbol, (&question, &size)| {
                        symbol * size as u32 + indices[question][row]
                    })
                })
                .collect(),
        };
        let (first, second) = match &self.stages {
            Stages::Same(first, second) => (first, second),
            // Every row has a group, and answers.
            Stages::By(groups, by) => return groups.draw(&inputs, &indices[*by], rng),
        };
        match (second, first.draw(&inputs, rng)?) {
            (Some(second), Drawn::Indices(memo)) => second.draw(&memo, rng),
            (_, drawn) => Ok(drawn),
        }
    }
}
