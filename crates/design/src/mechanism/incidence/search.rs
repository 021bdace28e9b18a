//! Which geometry: all prime powers, classes and cosets that number the symbols in few enough bits.
//!
//! The number of blocks, of those that contain a symbol and of those that contain two follow from the parameters, so thousands
//! of families are weighed without making one. Under claims about belief the masses of blocks matter as well: then families are made
//! and summed over, a few for every size of block.

use undertone_core::incidence::{Family, Geometry, Incidence, MAX_BLOCKS};

use super::coin::incidence;
use super::limits::Limits;
use super::rates::Rates;
use crate::{Distribution, Error};

/// Which geometries are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Rows of a Hadamard matrix: two elements.
    Hadamard,
    /// Hyperplanes of a projective geometry.
    Projective,
    /// Linear hashing.
    Hashing,
    /// All of them, and fractions.
    Any,
}

/// The parameters of a geometry, and what follows from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    order: u64,
    dimension: u32,
    classes: u64,
    cosets: u64,
    zero: bool,
    hashing: bool,
    /// How many blocks there are, with a symbol, and with two.
    blocks: u64,
    each: u64,
    both: u64,
    /// The additions that summing over all blocks takes.
    work: u64,
}

/// A geometry that was chosen.
#[derive(Debug, Clone)]
pub struct Chosen {
    /// The family.
    pub family: Family,
    /// How many times as likely a block is from inside as from outside, by the limits of the claims.
    pub ratio: f64,
    /// n times the variances of all shares, summed, at that ratio.
    pub variance: f64,
}

/// The largest field.
const MAX_ORDER: u64 = 4096;

/// Sums over all blocks that take longer are avoided: readers of reports do them too.
const MOST_WORK: u64 = 1 << 29;

/// Under claims about belief, all sums of a search together take no more additions.
const SEARCHED_WORK: u64 = 1 << 31;

/// So many bits above those that number the symbols suffice: more blocks hardly improve an estimate.
const SPARE_BITS: u32 = 3;

/// The bits that number so many symbols.
pub fn symbol_bits(symbols: usize) -> u32 {
    usize::BITS - (symbols.max(1) - 1).leading_zeros()
}

/// The most symbols that a family of numbered blocks has room for. Where all pairs share equally many blocks there are no fewer blocks than
/// symbols, and the largest Hadamard matrix has as many: a power of two less one.
pub fn most_symbols() -> usize {
    MAX_BLOCKS - 1
}

impl Candidate {
    fn bits(&self) -> u32 {
        symbol_bits(self.blocks as usize)
    }

    /// The share of blocks that contain a symbol.
    fn share(&self) -> f64 {
        self.each as f64 / self.blocks as f64
    }

    fn rates(&self, ratio: f64) -> Rates {
        let with = self.both as f64 / self.each as f64;
        let without = (self.each - self.both) as f64 / (self.blocks - self.each) as f64;
        Rates::at_ratio(ratio, self.share(), with, without)
    }

    fn family(&self) -> Result<Family, Error> {
        let geometry = if self.hashing {
            Geometry::hashing(self.order as u32, self.dimension)
        } else {
            Geometry::new(
                self.order as u32,
                self.dimension,
                self.classes as u32,
                self.cosets as u32,
                self.zero,
            )
        };
        geometry.map(Family::Geometry).map_err(|error| Error::other("blocks", error.to_string()))
    }
}

/// All geometries of a kind with room for the symbols, the least number of coordinates for each field, in at most so many
/// bits.
pub(super) fn candidates(symbols: usize, kind: Kind, bits: u32) -> Vec<Candidate> {
    let mut found = Vec::new();
    let symbols = symbols as u64;
    let orders = if kind == Kind::Hadamard { vec![2] } else { prime_powers() };
    for order in orders {
        if kind != Kind::Hashing {
            fractions(&mut found, symbols, order, kind == Kind::Any, bits);
        }
        if matches!(kind, Kind::Hashing | Kind::Any) {
            found.extend(hashing(symbols, order).filter(|candidate| candidate.bits() <= bits));
        }
    }
    found
}

/// The geometries over one field, with all classes or with one.
fn fractions(found: &mut Vec<Candidate>, symbols: u64, order: u64, all: bool, bits: u32) {
    let (mut points, mut dimension) = (order + 1, 2u32);
    while points < symbols {
        (points, dimension) = (points * order + 1, dimension + 1);
    }
    if points > MAX_BLOCKS as u64 {
        return;
    }
    let below = order.pow(dimension - 1);
    let exchanged = below * order * u64::from(dimension.max(3) - 2);
    let most = if all { order - 1 } else { 1 };
    for classes in (1..=most).filter(|classes| (order - 1).is_multiple_of(*classes)) {
        let blocks = classes * points;
        if blocks > MAX_BLOCKS as u64 || symbol_bits(blocks as usize) > bits {
            break;
        }
        let subgroup = (order - 1) / classes;
        for zero in [true, false] {
            let cosets = if all { 0..=classes } else { 0..=0 };
            for cosets in cosets {
                let values = u64::from(zero) + cosets * subgroup;
                let work = steps(exchanged, blocks, values);
                if values == 0 || values == order || work > MOST_WORK {
                    continue;
                }
                let by_zero = u64::from(zero) * classes * ((below - 1) / (order - 1));
                let pairs = below / order * values * values - u64::from(zero);
                found.push(Candidate {
                    order,
                    dimension,
                    classes,
                    cosets,
                    zero,
                    hashing: false,
                    blocks,
                    each: by_zero + cosets * below,
                    both: pairs / subgroup,
                    work,
                });
            }
        }
    }
}

/// About how many additions it takes to sum over all blocks: those of the exchange of coordinates, and a sum for every block
/// and value inside.
fn steps(exchanged: u64, blocks: u64, values: u64) -> u64 {
    exchanged.saturating_add(blocks.saturating_mul(2 * (1 + values)))
}

fn hashing(symbols: u64, order: u64) -> Option<Candidate> {
    let (mut points, mut dimension) = (order, 1u32);
    while points < symbols {
        (points, dimension) = (points * order, dimension + 1);
    }
    let functions = (points - 1) / (order - 1);
    let exchanged = points * order * u64::from((dimension + 1).max(3) - 2);
    let work = steps(exchanged, functions * order, 1);
    let fits = functions * order <= MAX_BLOCKS as u64 && work <= MOST_WORK;
    fits.then(|| Candidate {
        order,
        dimension,
        classes: 1,
        cosets: 0,
        zero: true,
        hashing: true,
        blocks: functions * order,
        each: functions,
        both: (points / order - 1) / (order - 1),
        work,
    })
}

/// The geometry of a kind under which the shares of a prior have the least variance.
pub(super) fn best(
    prior: &Distribution,
    limits: &Limits,
    kind: Kind,
    max_bits: Option<u32>,
) -> Result<Chosen, Error> {
    let symbols = prior.len();
    let least = symbol_bits(symbols);
    let bits = max_bits.unwrap_or(u32::MAX).min(match kind {
        Kind::Any => least + SPARE_BITS,
        // These come in few sizes: whichever there is.
        Kind::Hadamard | Kind::Projective | Kind::Hashing => u32::MAX,
    });
    let squares: f64 = prior.as_slice().iter().map(|share| share * share).sum();
    let mut all: Vec<(f64, Candidate)> = candidates(symbols, kind, bits)
        .into_iter()
        .map(|candidate| {
            let rates = candidate.rates(limits.best(candidate.share()));
            (rates.total(symbols, squares), candidate)
        })
        .collect();
    if all.is_empty() {
        return Err(none(symbols, kind, max_bits));
    }
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.blocks.cmp(&b.1.blocks)));
    if !limits.are_about_belief() {
        // Fewer blocks are fewer bits, and counted and summed sooner; the order keeps the best of equally many.
        let least = all[0].0;
        let near = all.iter().take_while(|(variance, _)| *variance <= least * NEARLY);
        let bits = |(_, candidate): &&(f64, Candidate)| symbol_bits(candidate.blocks as usize);
        let &(variance, candidate) = near.min_by_key(bits).unwrap_or(&all[0]);
        let ratio = limits.best(candidate.share());
        return Ok(Chosen { family: candidate.family()?, ratio, variance });
    }
    let mut search = Search { limits, symbols, squares, left: SEARCHED_WORK, best: None };
    // One family for every size of block, the one that is summed fastest, then more of the sizes that did best.
    let step = |candidate: &Candidate| (SIZES * candidate.share()) as usize;
    let mut tried = Vec::new();
    for size in 0..SIZES as usize {
        let of_size = all.iter().filter(|(_, candidate)| step(candidate) == size);
        let Some((floor, candidate)) = of_size.min_by_key(|(_, candidate)| candidate.work) else {
            continue;
        };
        search.attempt(*floor, candidate)?;
        tried.push(*candidate);
    }
    let near = search.best.as_ref().map_or(0.0, |(chosen, _)| SIZES * chosen.share());
    let rest = all.iter().filter(|(_, candidate)| {
        (SIZES * candidate.share() - near).abs() < 1.5 && !tried.contains(candidate)
    });
    for (floor, candidate) in rest.take(REFINED) {
        search.attempt(*floor, candidate)?;
    }
    match search.best {
        Some((candidate, chosen)) => Ok(Chosen { family: candidate.family()?, ..chosen }),
        None => Err(Error::other("claims", "no geometry of blocks meets them")),
    }
}

/// A few geometries whose blocks would say most at equal masses, of different sizes of block, each with as many blocks as
/// the bits allow.
pub(super) fn by_share(
    symbols: usize,
    limits: &Limits,
    kind: Kind,
    bits: u32,
    count: usize,
) -> impl Iterator<Item = Result<Family, Error>> {
    let floor =
        |candidate: &Candidate| candidate.rates(limits.best(candidate.share())).variance_at_zero();
    let mut all: Vec<(f64, Candidate)> = candidates(symbols, kind, bits)
        .into_iter()
        .map(|candidate| (floor(&candidate), candidate))
        .collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.blocks.cmp(&a.1.blocks)));
    let mut shares: Vec<f64> = Vec::new();
    all.retain(|(_, candidate)| {
        let share = candidate.share();
        let new = shares.iter().all(|seen| (seen - share).abs() > 0.5 / SIZES);
        if new {
            shares.push(share);
        }
        new
    });
    all.into_iter().take(count).map(|(_, candidate)| candidate.family())
}

/// Variances within this factor of the least are as good where only LDP is claimed. It leaves room in the hundredth of the optimum
/// that is promised, of which the best geometries take six thousandths.
const NEARLY: f64 = 1.003;

/// Sizes of blocks are told apart in so many steps.
const SIZES: f64 = 40.0;

/// So many more families are tried near the best size.
const REFINED: usize = 24;

/// A search among families whose masses have to be summed.
struct Search<'a> {
    limits: &'a Limits,
    symbols: usize,
    squares: f64,
    left: u64,
    best: Option<(Candidate, Chosen)>,
}

impl Search<'_> {
    /// Weighs a family, unless even its floor is above the best there is, or time is up.
    fn attempt(&mut self, floor: f64, candidate: &Candidate) -> Result<(), Error> {
        let best = self.best.as_ref().map_or(f64::INFINITY, |(_, chosen)| chosen.variance);
        let late = candidate.work > self.left && self.best.is_some();
        if floor >= best || late {
            return Ok(());
        }
        self.left = self.left.saturating_sub(candidate.work);
        let family = candidate.family()?;
        let made: Incidence = incidence(self.symbols, 0, &family)?;
        let ratio = self.limits.of_blocks(&made);
        let variance = candidate.rates(ratio).total(self.symbols, self.squares);
        if ratio > 1.0 && variance < best {
            self.best = Some((*candidate, Chosen { family, ratio, variance }));
        }
        Ok(())
    }
}

/// Why there is no geometry: the limit on bits, or the number of symbols.
fn none(symbols: usize, kind: Kind, max_bits: Option<u32>) -> Error {
    let least = candidates(symbols, kind, u32::MAX).iter().map(Candidate::bits).min();
    let problem = match (least, max_bits) {
        (Some(least), Some(bits)) => format!(
            "{bits} bits are too few: numbering blocks over {symbols} symbols takes {least} or more"
        ),
        _ => format!("there is no family of at most {MAX_BLOCKS} blocks over {symbols} symbols"),
    };
    Error::other("max_bits", problem)
}

/// The numbers of elements that fields have.
fn prime_powers() -> Vec<u64> {
    let mut composite = vec![false; MAX_ORDER as usize + 1];
    let mut found = Vec::new();
    for prime in 2..=MAX_ORDER {
        if composite[prime as usize] {
            continue;
        }
        for multiple in (prime * prime..=MAX_ORDER).step_by(prime as usize) {
            composite[multiple as usize] = true;
        }
        let powers = std::iter::successors(Some(prime), |power| Some(power * prime));
        found.extend(powers.take_while(|power| *power <= MAX_ORDER));
    }
    found.sort_unstable();
    found
}
