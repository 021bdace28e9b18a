//! From codes to randomised outputs.

use std::sync::atomic::{AtomicBool, Ordering};

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_core::{Policy, Sampler, Shape, Symbol};

use super::released::Released;
use crate::Error;
use crate::columns::{Code, Lookup, UnknownValues};

/// The name of the symbol for everything else.
const OTHER: &str = "other";

/// A verified policy made ready for many rows, shared by all threads.
pub(super) struct Plan {
    pub(super) policy: Policy,
    pub(super) lookup: Lookup,
    pub(super) released: Released,
    /// The symbol that stands for everything else, if there is one.
    pub(super) other: Option<u32>,
    unknown: UnknownValues,
    sampler: Sampler,
    symbols: Vec<Symbol>,
    /// Which symbols have occurred.
    seen: Vec<AtomicBool>,
}

/// What happened to some rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) rows: u64,
    pub(super) perturbed: u64,
    pub(super) unknown: u64,
    pub(super) missing: u64,
    pub(super) skipped: u64,
    pub(super) below: u64,
    pub(super) above: u64,
    /// The first and the last symbol, and how often neighbours differ.
    ends: Option<(u32, u32)>,
    changes: u64,
}

/// Outputs of some rows: indices, or for `Bits` packed bytes, `width` for each row.
pub(super) enum Drawn<'a> {
    Indices(&'a [u32]),
    Bits { packed: &'a [u8], width: usize },
}

/// A cell that may not be there, and its place among those given.
#[derive(Debug)]
pub(super) struct BadCell {
    pub(super) at: usize,
    pub(super) code: Code,
}

/// One thread's source of noise.
pub(super) struct Noise<'a> {
    plan: &'a Plan,
    rng: ChaCha12Rng,
    symbols: Vec<Symbol>,
    indices: Vec<u32>,
    packed: Vec<u8>,
}

impl Plan {
    pub(super) fn new(policy: Policy, unknown: UnknownValues) -> Result<Self, Error> {
        let draft = policy.draft();
        let lookup = Lookup::of_inputs(draft.inputs());
        let other = lookup.named(OTHER);
        if unknown == UnknownValues::AsOther && other.is_none() {
            let problem = format!(
                "other: the policy has no symbol {OTHER:?}; use skip, or design one with it"
            );
            return Err(Error::field("unknown", problem));
        }
        let released = Released::new(draft)?;
        let size = draft.inputs().len();
        let symbols = (0..size).map(|x| draft.inputs().symbol(x)).collect::<Result<_, _>>();
        let symbols = symbols.map_err(Error::input)?;
        let sampler = Sampler::new(&policy);
        let seen = (0..size).map(|_| AtomicBool::new(false)).collect();
        Ok(Self { policy, lookup, released, other, unknown, sampler, symbols, seen })
    }

    /// A source of noise of its own, seeded by the system's generator. No caller can give a seed: noise that can be drawn
    /// again hides nothing.
    pub(super) fn noise(&self) -> Result<Noise<'_>, Error> {
        let mut seed = [0; 32];
        getrandom::fill(&mut seed).map_err(|error| {
            Error::input(format!("the system's random generator failed: {error}"))
        })?;
        Ok(self.noise_from(ChaCha12Rng::from_seed(seed)))
    }

    fn noise_from(&self, rng: ChaCha12Rng) -> Noise<'_> {
        Noise { plan: self, rng, symbols: vec![], indices: vec![], packed: vec![] }
    }

    /// Whether rows may be left out.
    pub(super) fn drops_rows(&self) -> bool {
        self.unknown == UnknownValues::Skip
    }

    /// Whether a row with this code stays.
    pub(super) fn keeps(&self, code: Code) -> bool {
        !self.drops_rows() || !matches!(code, Code::Missing | Code::Unknown)
    }

    /// Whether all rows with equal values stand together, so that their order tells them apart.
    pub(super) fn grouped(&self, counts: &Counts) -> bool {
        let distinct = self.seen.iter().filter(|seen| seen.load(Ordering::Relaxed)).count() as u64;
        // A few rows stand together by chance.
        distinct > 1 && counts.changes + 1 == distinct && counts.perturbed >= 4 * distinct + 12
    }

    fn saw(&self, index: u32) {
        // Read first: writing what is written already would bounce between processors.
        if let Some(seen) = self.seen.get(index as usize)
            && !seen.load(Ordering::Relaxed)
        {
            seen.store(true, Ordering::Relaxed);
        }
    }
}

impl Counts {
    /// Adds the counts of the rows that follow.
    pub(super) fn then(&mut self, next: &Self) {
        self.rows += next.rows;
        self.perturbed += next.perturbed;
        self.unknown += next.unknown;
        self.missing += next.missing;
        self.skipped += next.skipped;
        self.below += next.below;
        self.above += next.above;
        self.changes += next.changes;
        self.ends = match (self.ends, next.ends) {
            (Some((first, last)), Some((next_first, next_last))) => {
                self.changes += u64::from(last != next_first);
                Some((first, next_last))
            }
            (mine, other) => mine.or(other),
        };
    }

    fn symbol(&mut self, index: u32) {
        self.perturbed += 1;
        self.ends = match self.ends {
            Some((first, last)) => {
                self.changes += u64::from(last != index);
                Some((first, index))
            }
            None => Some((index, index)),
        };
    }
}

impl Noise<'_> {
    /// Draws an output for every cell that stays, in order, and adds to `counts`.
    pub(super) fn draw(
        &mut self,
        codes: &[Code],
        counts: &mut Counts,
    ) -> Result<Drawn<'_>, BadCell> {
        let plan = self.plan;
        let end = plan.symbols.len() as u32 - 1;
        self.symbols.clear();
        for (at, &code) in codes.iter().enumerate() {
            counts.rows += 1;
            let index = match code {
                Code::Symbol(index) => index,
                Code::Below => {
                    counts.below += 1;
                    0
                }
                Code::Above => {
                    counts.above += 1;
                    end
                }
                Code::Missing | Code::Unknown => {
                    if code == Code::Missing {
                        counts.missing += 1;
                    } else {
                        counts.unknown += 1;
                    }
                    match (plan.unknown, plan.other) {
                        (UnknownValues::Skip, _) => {
                            counts.skipped += 1;
                            continue;
                        }
                        (UnknownValues::AsOther, Some(other)) => other,
                        _ => return Err(BadCell { at, code }),
                    }
                }
            };
            let Some(&symbol) = plan.symbols.get(index as usize) else {
                return Err(BadCell { at, code: Code::Unknown });
            };
            plan.saw(index);
            counts.symbol(index);
            self.symbols.push(symbol);
        }
        // The symbols are the policy's own and the buffers fit, so nothing is refused.
        let refused = |_| BadCell { at: 0, code: Code::Unknown };
        if let Shape::Bits(bits) = plan.policy.draft().shape() {
            let width = bits.symbols().div_ceil(8);
            self.packed.resize(self.symbols.len() * width, 0);
            let drawn = plan.sampler.draw_bits(&self.symbols, &mut self.rng, &mut self.packed);
            drawn.map_err(refused)?;
            return Ok(Drawn::Bits { packed: &self.packed, width });
        }
        self.indices.resize(self.symbols.len(), 0);
        let drawn = plan.sampler.draw_indices(&self.symbols, &mut self.rng, &mut self.indices);
        drawn.map_err(refused)?;
        Ok(Drawn::Indices(&self.indices))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
