//! One item of a release: the symbols of its questions go through its channel.

use rand_chacha::ChaCha12Rng;
use undertone_core::{Policy, Sampler, Symbol};

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
    first: Stage,
    /// What randomises the output of the first again.
    second: Option<Stage>,
}

/// A verified policy and its tables.
struct Stage {
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
    fn new(policy: Policy) -> Self {
        Self { sampler: Sampler::new(&policy), policy }
    }

    /// One output for each symbol.
    fn draw(&self, inputs: &[u32], rng: &mut ChaCha12Rng) -> Result<Drawn, Error> {
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
        let (first, second) = (Stage::new(policy), again.map(Stage::new));
        Self { name, questions, released, plan: None, sizes, first, second }
    }

    /// This channel as that of an item of a plan, which the output's metadata then names.
    pub(crate) fn of_plan(self, id: impl ToString) -> Self {
        Self { plan: Some(id.to_string()), ..self }
    }

    /// Bytes of packed bits that are drawn for a row; 0 where an index is.
    pub(super) fn packed_width(&self) -> usize {
        let last = self.second.as_ref().unwrap_or(&self.first);
        let shape = last.policy.draft().shape();
        if shape.releases_bits() { shape.outputs().div_ceil(8) } else { 0 }
    }

    /// The policy whose channel alone stands between question and output; none if it is randomised twice.
    #[cfg(feature = "parquet")]
    pub(crate) fn only_policy(&self) -> Option<&Policy> {
        self.second.is_none().then_some(&self.first.policy)
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
        match (&self.second, self.first.draw(&inputs, rng)?) {
            (Some(second), Drawn::Indices(memo)) => second.draw(&memo, rng),
            (_, drawn) => Ok(drawn),
        }
    }
}
