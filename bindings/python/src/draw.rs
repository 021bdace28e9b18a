//! From codes to randomised outputs, on several threads, each with its own generator.

use std::num::NonZero;
use std::thread;

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone::columns::{Code, Lookup};
use undertone_core::{AlphabetError, AlphabetView, Policy, Sampler, Symbol};

use crate::cells::Cells;

/// Rows are read and drawn this many at a time, which fits the processor's caches.
const BLOCK: usize = 4096;
/// Fewer rows than this are not worth a thread of their own.
const PART: usize = 1 << 16;
/// The symbol that stands for all that has none.
const OTHER: &str = "other";

/// A verified policy, ready for columns of data.
pub(crate) struct Prepared {
    pub(crate) policy: Policy,
    pub(crate) inputs: Lookup,
    pub(crate) outputs: Lookup,
    /// How many inputs there are, if they are bare indices.
    pub(crate) bare_inputs: Option<u32>,
    /// How many outputs there are, if they are bare indices.
    pub(crate) bare_outputs: Option<u32>,
    /// The symbol "other", if there is one.
    pub(crate) other: Option<u32>,
    symbols: Vec<Symbol>,
    sampler: Sampler,
}

/// What to do besides drawing.
#[derive(Clone, Copy, Default)]
pub(crate) struct Options {
    /// Whether cells without a symbol count as "other".
    pub(crate) other: bool,
    /// How many threads at most; by default as many as there are processors.
    pub(crate) threads: Option<NonZero<usize>>,
    /// For tests alone: one thread, from this seed.
    pub(crate) seed: Option<u64>,
}

/// Randomised outputs, one per row.
pub(crate) enum Drawn {
    Indices(Vec<u32>),
    Bits { packed: Vec<u8>, width: usize },
}

/// Why nothing was drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// A row without a symbol.
    Cell { at: usize, missing: bool },
    /// No row can be "other".
    NoOther,
    /// The system has no randomness to give, or the kernel refused.
    Other(String),
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            // The value itself is a secret and stays out of logs.
            Self::Cell { at, missing: true } => {
                write!(f, "row {at} is missing: fill it in, leave it out, or use unknown=\"other\"")
            }
            Self::Cell { at, missing: false } => write!(
                f,
                "row {at} is not one of the policy's symbols: map it to one, leave it out, or use unknown=\"other\""
            ),
            Self::NoOther => write!(
                f,
                "unknown=\"other\": the policy has no symbol {OTHER:?}; design one with it"
            ),
            Self::Other(problem) => f.write_str(problem),
        }
    }
}

impl Trouble {
    /// This trouble with rows counted from an earlier one.
    pub(crate) fn after(self, rows: usize) -> Self {
        match self {
            Self::Cell { at, missing } => Self::Cell { at: rows + at, missing },
            other => other,
        }
    }
}

/// How many symbols, if they are bare indices.
fn bare(view: AlphabetView<'_>) -> Option<u32> {
    match view {
        AlphabetView::Indices(size) => Some(size),
        _ => None,
    }
}

impl Prepared {
    pub(crate) fn new(policy: Policy) -> Result<Self, AlphabetError> {
        let draft = policy.draft();
        let (inputs, outputs) = (draft.inputs(), draft.outputs());
        let symbols = (0..inputs.len()).map(|x| inputs.symbol(x)).collect::<Result<_, _>>()?;
        let lookup = Lookup::of_inputs(inputs);
        Ok(Self {
            other: lookup.named(OTHER),
            bare_inputs: bare(inputs.view()),
            bare_outputs: bare(outputs.view()),
            outputs: Lookup::of_outputs(outputs),
            inputs: lookup,
            symbols,
            sampler: Sampler::new(&policy),
            policy,
        })
    }

    /// Whether inputs are names.
    pub(crate) fn names_inputs(&self) -> bool {
        matches!(self.policy.draft().inputs().view(), AlphabetView::Names(_))
    }

    /// Bytes of one report of bits.
    pub(crate) fn width(&self) -> Option<usize> {
        let shape = self.policy.draft().shape();
        shape.releases_bits().then(|| shape.outputs().div_ceil(8))
    }

    /// The index of the input a code stands for.
    fn input(&self, at: usize, code: Code, other: bool) -> Result<u32, Trouble> {
        match code {
            Code::Symbol(index) => Ok(index),
            Code::Below => Ok(0),
            Code::Above => Ok(self.symbols.len() as u32 - 1),
            Code::Missing | Code::Unknown if other => self.other.ok_or(Trouble::NoOther),
            Code::Missing => Err(Trouble::Cell { at, missing: true }),
            Code::Unknown => Err(Trouble::Cell { at, missing: false }),
        }
    }

    /// The index of every row's input.
    pub(crate) fn encode(&self, cells: &Cells<'_>, other: bool) -> Result<Vec<u32>, Trouble> {
        let mut indices = Vec::with_capacity(cells.len());
        let mut codes = Vec::new();
        for start in (0..cells.len()).step_by(BLOCK) {
            cells.read(start..(start + BLOCK).min(cells.len()), &mut codes);
            for (at, &code) in codes.iter().enumerate() {
                indices.push(self.input(start + at, code, other)?);
            }
        }
        Ok(indices)
    }

    /// Draws one output for every row.
    pub(crate) fn draw(&self, cells: &Cells<'_>, options: Options) -> Result<Drawn, Trouble> {
        if options.other && self.other.is_none() {
            return Err(Trouble::NoOther);
        }
        match self.width() {
            Some(width) => {
                let mut packed = vec![0; cells.len() * width];
                self.fill(cells, options, width, &mut packed, |symbols, rng, out| {
                    self.sampler.draw_bits(symbols, rng, out).map_err(|e| e.to_string())
                })?;
                Ok(Drawn::Bits { packed, width })
            }
            None => {
                let mut indices = vec![0; cells.len()];
                self.fill(cells, options, 1, &mut indices, |symbols, rng, out| {
                    self.sampler.draw_indices(symbols, rng, out).map_err(|e| e.to_string())
                })?;
                Ok(Drawn::Indices(indices))
            }
        }
    }

    /// Deals the rows to threads; every row has `width` places in `out`.
    fn fill<T: Send>(
        &self,
        cells: &Cells<'_>,
        options: Options,
        width: usize,
        out: &mut [T],
        draw: impl Fn(&[Symbol], &mut ChaCha12Rng, &mut [T]) -> Result<(), String> + Sync,
    ) -> Result<(), Trouble> {
        let asked = options.threads.or_else(|| thread::available_parallelism().ok());
        let most = if options.seed.is_some() { 1 } else { asked.map_or(1, NonZero::get) };
        let parts = most.min(cells.len() / PART).max(1);
        let rows = cells.len().div_ceil(parts).max(1);
        let part = |start: usize, out: &mut [T]| -> Result<(), Trouble> {
            let mut rng = generator(options.seed)?;
            let (mut codes, mut symbols) = (Vec::new(), Vec::with_capacity(BLOCK));
            for (block, out) in out.chunks_mut(BLOCK * width).enumerate() {
                let first = start + block * BLOCK;
                let rows = first..first + out.len() / width;
                if !cells.symbols(rows.clone(), &self.symbols, &mut symbols) {
                    cells.read(rows, &mut codes);
                    symbols.clear();
                    for (at, &code) in codes.iter().enumerate() {
                        let index = self.input(first + at, code, options.other)?;
                        let symbol = self.symbols.get(index as usize);
                        let unknown = Trouble::Cell { at: first + at, missing: false };
                        symbols.push(*symbol.ok_or(unknown)?);
                    }
                }
                draw(&symbols, &mut rng, out).map_err(Trouble::Other)?;
            }
            Ok(())
        };
        if parts == 1 {
            return part(0, out);
        }
        let part = &part;
        thread::scope(|scope| {
            let starts = (0..).step_by(rows);
            let work = out.chunks_mut(rows * width).zip(starts);
            let handles: Vec<_> =
                work.map(|(out, start)| scope.spawn(move || part(start, out))).collect();
            // In the order of the rows, so that the first bad one is named.
            let lost = || Trouble::Other("a thread stopped unexpectedly".into());
            handles.into_iter().try_for_each(|handle| handle.join().map_err(|_| lost())?)
        })
    }
}

/// A generator seeded by the system, or for tests by the caller.
pub(crate) fn generator(seed: Option<u64>) -> Result<ChaCha12Rng, Trouble> {
    let mut bytes = [0; 32];
    match seed {
        Some(seed) => bytes[..8].copy_from_slice(&seed.to_be_bytes()),
        None => getrandom::fill(&mut bytes).map_err(|error| {
            Trouble::Other(format!("the system's random generator failed: {error}"))
        })?,
    }
    Ok(ChaCha12Rng::from_seed(bytes))
}
