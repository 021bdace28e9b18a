//! What a family of blocks attains.
//!
//! A block is as likely from any input inside it, and from any input outside it, up to the unevenness of an index of 8
//! bytes. So beliefs depend on a block through its mass under the prior alone, and the lightest and the heaviest block decide.

use super::{Family, Incidence, Subsets};
use crate::certificate::{Cell, NOTHING, Strength, Worst, keep_worst};
use crate::context::{Context, PriorBox, Secret};
use crate::likelihood::Extremes;
use crate::mass::{MASS_ONE, WEIGHT_ONE};
use crate::ratio::Ratio;
use crate::unary;
use crate::wide::Wide;
use alloc::vec;
use alloc::vec::Vec;

/// The likelihoods of a block from inside and from outside, each rounded down and up, in one unit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Levels {
    pub(crate) inside: (u128, u128),
    pub(crate) outside: (u128, u128),
}

impl Levels {
    /// The largest likelihood a block can have.
    pub(crate) fn high(&self) -> u128 {
        self.inside.1.max(self.outside.1)
    }

    /// The smallest likelihood a block can have.
    pub(crate) fn low(&self) -> u128 {
        self.inside.0.min(self.outside.0)
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.inside.0 == self.inside.1 && self.outside.0 == self.outside.1
    }

    /// The likelihood of a block from an input inside it, or outside.
    pub(crate) fn of(&self, inside: bool) -> (u128, u128) {
        if inside { self.inside } else { self.outside }
    }

    /// The probability of a block with the given mass, where one is 2^`scale`, from below and from above.
    fn mixed(&self, mass: u128, scale: u32) -> (Wide, Wide) {
        let (mass, one) = (Wide::from(mass), Wide::power_of_two(scale));
        let mixed = |inside: u128, outside: u128| {
            Wide::from(inside) * mass + Wide::from(outside) * (one - mass)
        };
        (mixed(self.inside.0, self.outside.0), mixed(self.inside.1, self.outside.1))
    }
}

impl Levels {
    /// The likelihoods of a block. For numbered blocks in units of 2^-112; for subsets in a unit of their own, so that only
    /// their ratios mean anything.
    pub(super) fn new(symbols: usize, coin: u64, family: &Family) -> Self {
        let (coin, rest) = (u128::from(coin), u128::from(MASS_ONE - coin));
        if let Family::Subsets(subsets) = family {
            return subset_levels(subsets, symbols, coin, rest);
        }
        let level = |chance: u128, inside: bool| {
            let kind = u128::from(family.kind(inside));
            let one = 1u128 << 64;
            (chance * (one / kind), chance * one.div_ceil(kind))
        };
        Self { inside: level(coin, true), outside: level(rest, false) }
    }
}

impl Incidence {
    /// The first symbol that is in a block, or not in it.
    fn first(&self, block: u32, inside: bool) -> Option<u32> {
        (0..self.symbols).find(|&symbol| self.contains(block, symbol) == inside)
    }

    /// A block that contains one symbol and not another, by its number; `None` for subsets, and where no block parts them.
    fn parting(&self, member: u32, other: u32) -> Option<u32> {
        let blocks = self.family.kind(true) as u32;
        let nth = |number: u32| self.nth(member, true, number);
        (0..blocks).map(nth).find(|&block| !self.contains(block, other))
    }

    /// A block, a symbol that is in it and one that is not, of which the likelier is inside, or outside. A block of a geometry or a
    /// subset parts any two; a list parts some two.
    fn parted(&self, likelier_inside: bool) -> Cell {
        let (output, member, other) = match &self.family {
            Family::Subsets(_) | Family::Geometry(_) => (self.parting(0, 1), 0, 1),
            Family::Listed(listed) => {
                let mixed = |&block: &u32| {
                    (1..self.symbols()).contains(&listed.members(block as usize).len())
                };
                let block = (0..listed.blocks() as u32).find(mixed);
                let first = |inside| block.and_then(|block| self.first(block, inside)).unwrap_or(0);
                (block, first(true), first(false))
            }
        };
        let (high, low) = if likelier_inside { (member, other) } else { (other, member) };
        Cell { output, high: Some(high), low: Some(low), prior: None }
    }

    /// A numbered block in which one symbol is likelier than another.
    pub(crate) fn favouring(&self, high: usize, low: usize) -> Option<u32> {
        let (high, low) = (high as u32, low as u32);
        match self.levels.inside.1 >= self.levels.outside.1 {
            true => self.parting(high, low),
            false => self.parting(low, high),
        }
    }
}

/// There are (k - d)/d times as many subsets without a symbol as with it. Each is as likely as the others of its kind up
/// to a factor between 1 - s and 1/(1 - s), s being the unevenness over 2^64.
fn subset_levels(subsets: &Subsets, symbols: usize, coin: u128, rest: u128) -> Levels {
    let (size, others) = (subsets.size() as u128, (symbols - subsets.size()) as u128);
    let level = |chance: u128, inside: bool| {
        let one = 1u128 << 64;
        let left = one - u128::from(subsets.unevenness(symbols, inside));
        // At most 73 bits, and 24 more to round in.
        let (value, left) = (Wide::from(chance << 24), Wide::from(left));
        let low = (value * left) >> 64;
        let quotient = (value << 64).div(left);
        let whole = quotient * left == value << 64;
        (low.low_u128(), quotient.low_u128() + u128::from(!whole))
    };
    Levels { inside: level(coin * others, true), outside: level(rest * size, false) }
}

/// The masses of blocks at their extremes.
struct Masses {
    /// One is 2^`scale`.
    scale: u32,
    /// Blocks that have a member; the least and the greatest mass.
    with_member: [Option<Mass>; 2],
    /// Blocks that lack a symbol.
    without: [Option<Mass>; 2],
    /// Whether some block has each of these masses under some prior; otherwise they are bounds.
    attained: bool,
}

#[derive(Clone, Copy)]
struct Mass {
    value: u128,
    place: Place,
    prior: Option<u32>,
}

/// A block: by its number, or a subset by symbols that are in it and not in it.
#[derive(Clone, Copy)]
enum Place {
    Block(u32),
    Subset { member: u32, other: u32 },
}

impl Masses {
    fn new(scale: u32) -> Self {
        Self { scale, with_member: [None; 2], without: [None; 2], attained: true }
    }

    /// Notes a block with `size` members of `symbols` whose mass lies between two ends.
    #[inline]
    fn see(
        &mut self,
        size: usize,
        symbols: usize,
        ends: [u128; 2],
        place: Place,
        prior: Option<u32>,
    ) {
        for (seen, counts) in
            [(&mut self.with_member, size > 0), (&mut self.without, size < symbols)]
        {
            if !counts {
                continue;
            }
            let [least, greatest] = seen;
            let mass = |value| Some(Mass { value, place, prior });
            if least.is_none_or(|seen| ends[0] < seen.value) {
                *least = mass(ends[0]);
            }
            if greatest.is_none_or(|seen| ends[1] > seen.value) {
                *greatest = mass(ends[1]);
            }
        }
    }
}

/// How much the input leaks.
pub(crate) fn strength(incidence: &Incidence, context: &Context) -> Strength {
    let masses = match context {
        Context::Unknown => None,
        Context::Known(prior) => Some(of_weights(incidence, &[(prior.weights(), None)], 32)),
        Context::Each(priors) => {
            let list: Vec<_> = (0u32..)
                .zip(priors.as_slice())
                .map(|(at, prior)| (prior.weights(), Some(at)))
                .collect();
            Some(of_weights(incidence, &list, 32))
        }
        Context::Within(within) => Some(of_box(incidence, within)),
        Context::Secret(secret) => Some(of_secret(incidence, secret)),
    };
    of_masses(incidence, masses.as_ref())
}

/// How much the input leaks under a prior in units of 2^-48.
pub(crate) fn strength_under(incidence: &Incidence, weights: &[u64]) -> Strength {
    of_masses(incidence, Some(&of_weights(incidence, &[(weights, None)], 48)))
}

fn of_masses(incidence: &Incidence, masses: Option<&Masses>) -> Strength {
    let levels = *incidence.levels();
    let mut ldp = NOTHING;
    for (high, low, first_inside) in [
        (levels.inside.1, levels.outside.0, Some(true)),
        (levels.outside.1, levels.inside.0, Some(false)),
        (levels.inside.1, levels.inside.0, None),
        (levels.outside.1, levels.outside.0, None),
    ] {
        let ratio = Ratio::new(Wide::from(high), Wide::from(low));
        if let Some(ratio) = ratio.filter(|&ratio| ratio > ldp.ratio) {
            let cell = first_inside.map(|inside| incidence.parted(inside)).unwrap_or_default();
            ldp = Worst { ratio, cell };
        }
    }
    let sides = masses.map(|masses| beliefs(incidence, &levels, masses));
    Strength {
        ldp,
        upper: sides.map(|(upper, _)| upper),
        lower: sides.map(|(_, lower)| lower),
        exact: levels.is_exact() && masses.is_none_or(|masses| masses.attained),
    }
}

/// Belief rising and falling at worst. The probability of a block is linear in its mass, so only the ends count.
fn beliefs(incidence: &Incidence, levels: &Levels, masses: &Masses) -> (Worst, Worst) {
    let (mut upper, mut lower) = (NOTHING, NOTHING);
    for (ends, inside) in [(masses.with_member, true), (masses.without, false)] {
        let (low, high) = levels.of(inside);
        for mass in ends.into_iter().flatten() {
            let (least, most) = levels.mixed(mass.value, masses.scale);
            let see = |worst: &mut Worst, top: Wide, bottom: Wide, rising: bool| {
                let before = worst.ratio;
                keep_worst(worst, top, bottom, Cell::default());
                if worst.ratio > before {
                    let (output, symbol) = match mass.place {
                        Place::Block(block) => (Some(block), incidence.first(block, inside)),
                        Place::Subset { member, other } => {
                            (None, Some(if inside { member } else { other }))
                        }
                    };
                    let (high, low) = if rising { (symbol, None) } else { (None, symbol) };
                    worst.cell = Cell { output, high, low, prior: mass.prior };
                }
            };
            see(&mut upper, Wide::from(high) << masses.scale, least, true);
            see(&mut lower, most, Wide::from(low) << masses.scale, false);
        }
    }
    (upper, lower)
}

/// For every numbered block, how many symbols it has and the sum of their weights.
fn sums(incidence: &Incidence, weights: &[u64]) -> impl Iterator<Item = (usize, u64)> + use<> {
    /// Sums below this leave room for a count of symbols above them.
    const SUM_BITS: u32 = 39;
    let total: u128 = weights.iter().map(|&weight| u128::from(weight)).sum();
    let (packed, sizes) = if total < 1 << SUM_BITS {
        let packed: Vec<u64> = weights.iter().map(|&weight| weight | 1 << SUM_BITS).collect();
        (incidence.block_sums(&packed), None)
    } else {
        let sizes = incidence.block_sums(&vec![1u32; weights.len()]);
        (incidence.block_sums(weights), Some(sizes))
    };
    packed.into_iter().enumerate().map(move |(block, packed)| match &sizes {
        None => ((packed >> SUM_BITS) as usize, packed & ((1 << SUM_BITS) - 1)),
        Some(sizes) => (sizes[block] as usize, packed),
    })
}

/// The sums of the `count` least and of the `count` greatest of some numbers.
fn ends<T: Copy + Ord + Into<Wide>>(numbers: &[T], count: usize) -> [Wide; 2] {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    let sum = |part: &[T]| part.iter().fold(Wide::ZERO, |sum, &number| sum + number.into());
    [sum(&sorted[..count]), sum(&sorted[sorted.len() - count..])]
}

/// Notes the subsets of least and greatest mass.
fn see_subsets<T: Copy + Ord>(
    masses: &mut Masses,
    numbers: &[T],
    ends: [Wide; 2],
    prior: Option<u32>,
) {
    let by = |x: &usize| numbers[*x];
    let lightest = (0..numbers.len()).min_by_key(by).unwrap_or(0) as u32;
    let heaviest = (0..numbers.len()).max_by_key(by).unwrap_or(0) as u32;
    let [least, greatest] = ends.map(Wide::low_u128);
    let light = Place::Subset { member: lightest, other: heaviest };
    masses.see(1, 2, [least, least], light, prior);
    let heavy = Place::Subset { member: heaviest, other: lightest };
    masses.see(1, 2, [greatest, greatest], heavy, prior);
}

fn of_weights(incidence: &Incidence, priors: &[(&[u64], Option<u32>)], scale: u32) -> Masses {
    let mut masses = Masses::new(scale);
    for &(weights, prior) in priors {
        match &incidence.family {
            Family::Subsets(subsets) => {
                see_subsets(&mut masses, weights, ends(weights, subsets.size()), prior);
            }
            Family::Geometry(_) | Family::Listed(_) => {
                for (block, (size, sum)) in (0u32..).zip(sums(incidence, weights)) {
                    let value = u128::from(sum);
                    masses.see(size, weights.len(), [value; 2], Place::Block(block), prior);
                }
            }
        }
    }
    masses
}

/// A block's mass is least where its own weights are at their lower ends, or the others at their upper ones. For subsets the
/// two sums may belong to different subsets, so the result is a bound.
fn of_box(incidence: &Incidence, within: &PriorBox) -> Masses {
    let (symbols, one) = (within.lower().len(), u128::from(WEIGHT_ONE));
    let mut masses = Masses::new(32);
    let total = |ends: &[u64]| ends.iter().map(|&end| u128::from(end)).sum::<u128>();
    let (low, high) = (total(within.lower()), total(within.upper()));
    // What is left of one when all others are at their ends.
    let range = |own: [u128; 2], others: [u128; 2]| {
        [own[0].max(one.saturating_sub(others[1])), own[1].min(one - others[0])]
    };
    match &incidence.family {
        Family::Subsets(subsets) => {
            let sum = |numbers: &[u64], count: usize| ends(numbers, count).map(Wide::low_u128);
            let (size, rest) = (subsets.size(), symbols - subsets.size());
            let own = [sum(within.lower(), size)[0], sum(within.upper(), size)[1]];
            let others = [sum(within.lower(), rest)[0], sum(within.upper(), rest)[1]];
            let ends = range(own, others).map(Wide::from);
            see_subsets(&mut masses, within.lower(), ends, None);
            masses.attained = false;
        }
        Family::Geometry(_) | Family::Listed(_) => {
            let upper = incidence.block_sums(within.upper());
            let lower = sums(incidence, within.lower());
            for (block, ((size, lower), upper)) in (0u32..).zip(lower.zip(upper)) {
                let (lower, upper) = (u128::from(lower), u128::from(upper));
                let ends = range([lower, upper], [low - lower, high - upper]);
                masses.see(size, symbols, ends, Place::Block(block), None);
            }
        }
    }
    masses
}

/// Under the prior of the data that a secret's laws make, in units of 2^-64.
fn of_secret(incidence: &Incidence, secret: &Secret) -> Masses {
    let mut masses = Masses::new(64);
    if let Family::Subsets(subsets) = &incidence.family {
        let weights = unary::data_weights(secret);
        see_subsets(&mut masses, &weights, ends(&weights, subsets.size()), None);
        return masses;
    }
    let symbols = incidence.symbols();
    let mut mixed: Vec<(usize, u128)> = Vec::new();
    for (row, &weight) in secret.rows().iter().zip(secret.prior().weights()) {
        for (block, (size, sum)) in sums(incidence, row.weights()).enumerate() {
            if mixed.len() <= block {
                mixed.push((size, 0));
            }
            mixed[block].1 += u128::from(sum) * u128::from(weight);
        }
    }
    for (block, (size, value)) in (0u32..).zip(mixed) {
        masses.see(size, symbols, [value; 2], Place::Block(block), None);
    }
    masses
}

/// The largest posterior odds between two inputs: the heaviest against the lightest, in a block that parts them.
pub(crate) fn weighted_extremes(incidence: &Incidence, weights: &[u64]) -> Option<Extremes> {
    let levels = *incidence.levels();
    unary::heaviest_and_lightest(levels.high(), levels.low(), weights)
}

/// How much the secret leaks.
pub(crate) fn secret_strength(incidence: &Incidence, secret: &Secret) -> Strength {
    let levels = *incidence.levels();
    let (mut ldp, mut upper, mut lower) = (NOTHING, NOTHING, NOTHING);
    if let Family::Subsets(subsets) = &incidence.family {
        let search = SubsetSearch::new(&levels, subsets.size(), incidence.symbols());
        let data = unary::data_weights(secret);
        let unit = Wide::from(WEIGHT_ONE);
        let rows: Vec<Vec<Wide>> = secret
            .rows()
            .iter()
            .map(|row| row.weights().iter().map(|&weight| Wide::from(weight) * unit).collect())
            .collect();
        let see = |worst: &mut Worst, a: &[Wide], b: &[Wide], cell: Cell| {
            let (numerator, denominator) = search.worst(a, b);
            keep_worst(worst, numerator, denominator, cell);
        };
        for (s, row) in (0u32..).zip(&rows) {
            see(&mut upper, row, &data, Cell { high: Some(s), ..Cell::default() });
            see(&mut lower, &data, row, Cell { low: Some(s), ..Cell::default() });
            for (t, other) in (0u32..).zip(&rows).filter(|&(t, _)| t != s) {
                let cell = Cell { high: Some(s), low: Some(t), ..Cell::default() };
                see(&mut ldp, row, other, cell);
            }
        }
    } else {
        for (block, Told { least, most, mean }) in (0u32..).zip(told(incidence, secret)) {
            let ends = [most, least].map(|(mass, s)| (levels.mixed(u128::from(mass), 32), s));
            let [first, second] = ends;
            let top = if second.0.1 > first.0.1 { second } else { first };
            let bottom = if second.0.0 < first.0.0 { second } else { first };
            let (fewest, greatest) = levels.mixed(mean, 64);
            let (high, low) = (Some(top.1), Some(bottom.1));
            let cell = Cell { output: Some(block), ..Cell::default() };
            keep_worst(&mut ldp, top.0.1, bottom.0.0, Cell { high, low, ..cell });
            keep_worst(&mut upper, top.0.1 << 32, fewest, Cell { high, ..cell });
            keep_worst(&mut lower, greatest, bottom.0.0 << 32, Cell { low, ..cell });
        }
    }
    Strength { ldp, upper: Some(upper), lower: Some(lower), exact: levels.is_exact() }
}

/// The mass of a block given each value of a secret: the least and the greatest with the value, and the mean.
struct Told {
    least: (u64, u32),
    most: (u64, u32),
    mean: u128,
}

/// What the values of a secret give each block, value by value: the masses of all values at once would be many times the document.
fn told(incidence: &Incidence, secret: &Secret) -> Vec<Told> {
    let mut told: Vec<Told> = Vec::new();
    let values = (0u32..).zip(secret.rows()).zip(secret.prior().weights());
    for ((s, row), &weight) in values {
        let masses = incidence.block_sums(row.weights());
        if told.is_empty() {
            told = masses.iter().map(|&m| Told { least: (m, s), most: (m, s), mean: 0 }).collect();
        }
        for (told, mass) in told.iter_mut().zip(masses) {
            told.least = told.least.min((mass, s));
            told.most = told.most.max((mass, s));
            told.mean += u128::from(mass) * u128::from(weight);
        }
    }
    told
}

/// The subset at which a ratio of two mixtures is largest, by Dinkelbach's method: for a ratio R that some subset attains,
/// the subset of the largest numerator - R denominator attains more, until nothing does.
struct SubsetSearch {
    /// The likelihoods of what speaks for its symbols and of the rest, from below and from above.
    strong: (u128, u128),
    weak: (u128, u128),
    /// How many symbols speak.
    size: usize,
}

impl SubsetSearch {
    fn new(levels: &Levels, size: usize, symbols: usize) -> Self {
        // Where subsets speak against their members, those they lack speak.
        let (strong, weak, size) = match levels.inside.0 >= levels.outside.0 {
            true => (levels.inside, levels.outside, size),
            false => (levels.outside, levels.inside, symbols - size),
        };
        // Levels that are equal but for their rounding are ordered alike from above and from below.
        Self { strong: (strong.0, strong.1.max(weak.1)), weak, size }
    }

    /// The largest Σ a w / Σ b w as its two parts; a and b sum to 2^64.
    fn worst(&self, a: &[Wide], b: &[Wide]) -> (Wide, Wide) {
        let one = Wide::power_of_two(64);
        let gain_above = Wide::from(self.strong.1 - self.weak.1);
        let gain_below = Wide::from(self.strong.0 - self.weak.0);
        let parts = |set: &[usize]| {
            let sum = |list: &[Wide]| set.iter().fold(Wide::ZERO, |sum, &x| sum + list[x]);
            let above = Wide::from(self.weak.1) * one + gain_above * sum(a);
            (above, Wide::from(self.weak.0) * one + gain_below * sum(b))
        };
        let most = b.iter().copied().max().unwrap_or(Wide::ZERO);
        let (mut best, mut seen) = (one, one);
        loop {
            // The shift by the largest of b keeps every key above nought and changes no order.
            let key = |x: usize| gain_above * a[x] * seen + gain_below * (most - b[x]) * best;
            let mut order: Vec<(Wide, usize)> = (0..a.len()).map(|x| (key(x), x)).collect();
            order.select_nth_unstable_by(self.size - 1, |one, other| other.cmp(one));
            let set: Vec<usize> = order[..self.size].iter().map(|&(_, x)| x).collect();
            let (numerator, denominator) = parts(&set);
            if numerator * seen <= best * denominator {
                return (best, seen);
            }
            (best, seen) = (numerator, denominator);
        }
    }
}
