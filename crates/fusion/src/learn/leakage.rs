//! How much the outputs say about G, from samples: ST20 (12) as printed, the same averaged over the
//! maps' randomness, and a bound that holds with stated confidence. Only the last is a guarantee.

use std::collections::BTreeMap;

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use rayon::prelude::*;
use undertone_design::Error;

use super::release::Release;
use crate::{Evaluation, Maps, Samples};

/// More output vectors than this are not enumerated one by one.
const MAX_CELLS: usize = 1 << 18;
/// So many of the likeliest are watched instead.
const TYPICAL: usize = 1 << 12;

/// ε_I of ST20 (12) from counts: the largest |ln p(g,z)/(p(g)p(z))| over released rows. Infinite as soon
/// as one value of G misses one row that occurs; noisy and biased upwards otherwise.
pub fn counted(private: &[usize], rows: &[Vec<usize>]) -> f64 {
    let mut values: BTreeMap<usize, f64> = BTreeMap::new();
    let mut cells: BTreeMap<&[usize], BTreeMap<usize, f64>> = BTreeMap::new();
    for (&g, row) in private.iter().zip(rows) {
        *values.entry(g).or_default() += 1.0;
        *cells.entry(row).or_default().entry(g).or_default() += 1.0;
    }
    let n = rows.len() as f64;
    let mut worst = 0.0f64;
    for cell in cells.values() {
        let all: f64 = cell.values().sum();
        for (g, &prior) in &values {
            let both = cell.get(g).copied().unwrap_or(0.0);
            worst = worst.max((both * n / (prior * all)).ln().abs());
        }
    }
    worst
}

/// ε_I of ST20 (12) with the maps' own probabilities in place of drawn outputs, p(g,z) = (1/n) Σ_{i: g_i = g}
/// Π_t p_t(z_t|x_t^i): exact for these samples as a law, zero for constant maps. Still a largest of
/// noisy ratios, and no guarantee for the law the samples come from. `None` where there are too many
/// output vectors to enumerate.
pub fn averaged(samples: &Samples, release: &Release) -> Result<Option<f64>, Error> {
    let private: Vec<usize> = samples.samples().iter().map(|sample| sample.private).collect();
    match release {
        Release::Maps(maps) => {
            let cells = cells(&maps.outputs());
            let work = cells.and_then(|cells| cells.checked_mul(private.len()));
            if work.is_none_or(|work| work > 1 << 32) {
                return Ok(None);
            }
            Ok(Some(Evaluation::new(&samples.model()?, maps)?.information.nats))
        }
        _ => {
            let mut rng = ChaCha12Rng::seed_from_u64(0);
            Ok(Some(counted(&private, &release.rows(samples, 1, &mut rng))))
        }
    }
}

/// How many output vectors there are.
fn cells(sizes: &[usize]) -> Option<usize> {
    sizes.iter().try_fold(1usize, |all, &size| all.checked_mul(size))
}

/// What a bound rests on.
#[derive(Debug, Clone)]
pub struct Evidence<'a> {
    /// Samples that had no part in choosing the release.
    pub held_out: &'a Samples,
    /// Which independent unit (a person, a recording) each sample belongs to; without it every sample
    /// is one. The law bounded is then that of a random sample of a random unit with the private value.
    pub units: Option<&'a [usize]>,
    /// P(g), if it is known.
    pub prior: Option<&'a [f64]>,
    /// The samples the release was chosen with, if they are known: where there are too many output
    /// vectors, those likely under these are watched.
    pub chosen_with: Option<&'a Samples>,
}

/// Whom the bound is about.
#[derive(Clone, Copy)]
pub enum Observer<'a> {
    /// One who sees every output.
    Outputs,
    /// One who sees only what is decided from them; so many decisions are possible.
    Decisions(&'a (dyn Fn(&[usize]) -> usize + Sync), usize),
}

/// With probability at least `confidence` over the held-out samples, belief in every private value that
/// occurs in the samples moves by at most `nats`, except in a share `outside` of all epochs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// ε_I.
    pub nats: f64,
    /// δ': how often something may be seen that was not watched; 0 if everything was.
    pub outside: f64,
    /// How many output vectors, or decisions, were watched.
    pub cells: usize,
    /// How many independent units it rests on.
    pub units: usize,
    /// How sure it is.
    pub confidence: f64,
}

/// The probabilities of watched cells for one sample's readings.
struct Watched<'a> {
    release: &'a Release,
    kind: WatchedKind<'a>,
    /// For every cell, the least and largest probability that any reading gives it.
    range: Vec<(f64, f64)>,
}

enum WatchedKind<'a> {
    /// Every vector of outputs, the last sensor fastest.
    All,
    /// Every vector, gathered into decisions.
    Groups(Vec<u32>),
    /// A list of vectors; the last cell stands for all others.
    Typical(Vec<Vec<usize>>, &'a Maps),
}

/// A bound on the leakage from held-out samples: empirical Bernstein intervals of p(z|g) for every cell
/// and value at once, clipped to what the maps themselves allow.
pub fn bounded(
    evidence: &Evidence<'_>,
    release: &Release,
    observer: Observer<'_>,
    confidence: f64,
    seed: u64,
) -> Result<Bound, Error> {
    if !(confidence > 0.0 && confidence < 1.0) {
        return Err(Error::range("the confidence", confidence, "between 0 and 1"));
    }
    let Evidence { held_out, chosen_with, .. } = *evidence;
    let mut values: Vec<usize> = held_out.samples().iter().map(|sample| sample.private).collect();
    if let Some(chosen_with) = chosen_with {
        values.extend(chosen_with.samples().iter().map(|sample| sample.private));
    }
    values.sort_unstable();
    values.dedup();
    if let Some(prior) = evidence.prior
        && prior.len() != held_out.private().size()
    {
        let (expected, found) = (held_out.private().size(), prior.len());
        return Err(Error::Size { what: "the prior of G".into(), expected, found });
    }
    let Some(watched) = Watched::new(release, chosen_with, observer, seed)? else {
        // Too many to watch, and each might be seen under one value only.
        let units = held_out.samples().len();
        return Ok(Bound { nats: f64::INFINITY, outside: 0.0, cells: 0, units, confidence });
    };
    let sums = Sums::new(&watched, evidence, &values)?;
    let size = watched.range.len();
    let catch_all = matches!(watched.kind, WatchedKind::Typical(..));
    // Two sides of every interval, of every P(g) if unknown, and of what is not watched.
    let unknown = if evidence.prior.is_some() { 0 } else { 2 * values.len() };
    let events = 2 * values.len() * size + unknown;
    let log = (2.0 * events as f64 / (1.0 - confidence)).ln();
    let prior = sums.prior(evidence.prior, &values, log);
    let mut worst = 0.0f64;
    let mut outside = 0.0f64;
    let mut interval = vec![(0.0, 0.0); values.len()];
    for cell in 0..size {
        for (g, place) in interval.iter_mut().enumerate() {
            *place = sums.interval(g, cell, watched.range[cell], log);
        }
        if catch_all && cell + 1 == size {
            outside = interval.iter().fold(0.0, |most, (_, high)| f64::max(most, *high));
            continue;
        }
        worst = worst.max(leakage(&interval, &prior));
    }
    // The floats above err by far less than this.
    let nats = worst * (1.0 + 1e-9) + if worst > 0.0 { 1e-12 } else { 0.0 };
    Ok(Bound {
        nats,
        outside,
        cells: if catch_all { size - 1 } else { size },
        units: sums.units,
        confidence,
    })
}

/// The largest |ln lift| of one cell whose likelihoods and prior lie in these intervals.
fn leakage(interval: &[(f64, f64)], prior: &[(f64, f64)]) -> f64 {
    if interval.iter().all(|(_, high)| !(*high > 0.0)) {
        return 0.0;
    }
    let mut worst = 0.0f64;
    for g in 0..interval.len() {
        let (low, high) = interval[g];
        let ratio = |above: &dyn Fn(usize) -> f64, below: f64| -> Vec<f64> {
            let one = |other: usize| match other {
                _ if other == g => 1.0,
                _ if below > 0.0 => above(other) / below,
                _ if above(other) > 0.0 => f64::INFINITY,
                _ => 1.0,
            };
            (0..interval.len()).map(one).collect()
        };
        // lift = 1 / Σ p_g' (p(z|g') / p(z|g)).
        if high > 0.0 {
            let least = extreme(&ratio(&|other| interval[other].0, high), prior, false);
            worst = worst.max(-least.ln());
        }
        let most = extreme(&ratio(&|other| interval[other].1, low), prior, true);
        worst = worst.max(most.ln());
    }
    worst
}

/// The least or largest Σ p_g r_g over probabilities within their intervals.
fn extreme(ratio: &[f64], prior: &[(f64, f64)], largest: bool) -> f64 {
    let mut order: Vec<usize> = (0..ratio.len()).collect();
    order.sort_by(|&a, &b| ratio[a].total_cmp(&ratio[b]));
    if largest {
        order.reverse();
    }
    let mut rest = 1.0 - prior.iter().map(|(low, _)| low).sum::<f64>();
    let mut sum = 0.0;
    for g in order {
        let (low, high) = prior[g];
        let more = rest.max(0.0).min(high - low);
        rest -= more;
        if low + more > 0.0 {
            sum += (low + more) * ratio[g];
        }
    }
    sum
}

impl<'a> Watched<'a> {
    fn new(
        release: &'a Release,
        chosen_with: Option<&Samples>,
        observer: Observer<'_>,
        seed: u64,
    ) -> Result<Option<Self>, Error> {
        let sizes = release.sizes();
        let count = cells(&sizes).filter(|&cells| cells <= MAX_CELLS);
        let (Some(count), maps) = (count, maps(release)) else {
            let (Some(maps), Some(chosen_with), Observer::Outputs) =
                (maps(release), chosen_with, observer)
            else {
                return Ok(None);
            };
            return Ok(Some(Self::typical(release, maps, chosen_with, seed)));
        };
        let range = match maps {
            None => vec![(0.0, 1.0); count],
            Some(maps) => {
                let side = |pick: fn(f64, f64) -> f64| {
                    let column = |map: &undertone_design::Channel| -> Vec<f64> {
                        (0..map.outputs())
                            .map(|z| map.column(z).reduce(pick).unwrap_or(0.0))
                            .collect()
                    };
                    let columns: Vec<Vec<f64>> = maps.channels().iter().map(column).collect();
                    product(columns.iter().map(Vec::as_slice))
                };
                // Products in another order differ by rounding.
                let (low, high) = (side(f64::min), side(f64::max));
                let pair = |(low, high): (&f64, &f64)| (low * (1.0 - 1e-12), high * (1.0 + 1e-12));
                low.iter().zip(&high).map(pair).collect()
            }
        };
        let Observer::Decisions(decide, decisions) = observer else {
            return Ok(Some(Self { release, kind: WatchedKind::All, range }));
        };
        let group = |mut cell: usize| {
            let mut row = vec![0; sizes.len()];
            for (place, size) in row.iter_mut().zip(&sizes).rev() {
                *place = cell % size;
                cell /= size;
            }
            decide(&row) as u32
        };
        let groups: Vec<u32> = (0..count).into_par_iter().map(group).collect();
        if let Some(&decision) = groups.iter().find(|&&decision| decision as usize >= decisions) {
            let problem = format!("{decision} where {decisions} are possible");
            return Err(Error::other("a decision", problem));
        }
        let mut gathered = vec![(0.0, 0.0f64); decisions];
        for ((low, high), &decision) in range.iter().zip(&groups) {
            gathered[decision as usize].0 += low;
            gathered[decision as usize].1 += high;
        }
        gathered.iter_mut().for_each(|(_, high)| *high = high.min(1.0));
        Ok(Some(Self { release, kind: WatchedKind::Groups(groups), range: gathered }))
    }

    /// The output vectors that the training samples make likely, and one cell for the rest.
    fn typical(release: &'a Release, maps: &'a Maps, chosen_with: &Samples, seed: u64) -> Self {
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        let mut counts: BTreeMap<Vec<usize>, u32> = BTreeMap::new();
        let times = (8 * TYPICAL / chosen_with.samples().len()).clamp(1, 64);
        for row in release.rows(chosen_with, times, &mut rng) {
            *counts.entry(row).or_default() += 1;
        }
        let mut list: Vec<(Vec<usize>, u32)> = counts.into_iter().collect();
        list.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        list.truncate(TYPICAL);
        let vectors: Vec<Vec<usize>> = list.into_iter().map(|(vector, _)| vector).collect();
        let side = |pick: fn(f64, f64) -> f64, vector: &[usize]| -> f64 {
            let pairs = maps.channels().iter().zip(vector);
            pairs.map(|(map, &z)| map.column(z).reduce(pick).unwrap_or(0.0)).product()
        };
        let range = |vector: &Vec<usize>| {
            (side(f64::min, vector) * (1.0 - 1e-12), side(f64::max, vector) * (1.0 + 1e-12))
        };
        let mut range: Vec<(f64, f64)> = vectors.iter().map(range).collect();
        range.push((0.0, 1.0));
        Self { release, kind: WatchedKind::Typical(vectors, maps), range }
    }

    /// P(cell | readings) for every cell.
    fn probabilities(&self, readings: &[usize]) -> Vec<f64> {
        let all = || match self.release {
            Release::Maps(maps) => {
                let rows = maps.channels().iter().zip(readings);
                product(rows.map(|(map, &x)| map.rows()[x].as_slice()))
            }
            other => {
                // Deterministic: no randomness is used.
                let mut rng = ChaCha12Rng::seed_from_u64(0);
                let row = other.draw(readings, &mut rng);
                let sizes = other.sizes();
                let at = row.iter().zip(&sizes).fold(0, |at, (symbol, size)| at * size + symbol);
                let mut one = vec![0.0; sizes.iter().product()];
                one[at] = 1.0;
                one
            }
        };
        match &self.kind {
            WatchedKind::All => all(),
            WatchedKind::Groups(groups) => {
                let mut sums = vec![0.0; self.range.len()];
                all().iter().zip(groups).for_each(|(p, &group)| sums[group as usize] += p);
                sums
            }
            WatchedKind::Typical(vectors, maps) => {
                let probability = |vector: &Vec<usize>| -> f64 {
                    let parts = maps.channels().iter().zip(readings).zip(vector);
                    parts.map(|((map, &x), &z)| map.q(x, z)).product()
                };
                let mut list: Vec<f64> = vectors.iter().map(probability).collect();
                list.push((1.0 - list.iter().sum::<f64>()).max(0.0));
                list
            }
        }
    }
}

fn maps(release: &Release) -> Option<&Maps> {
    match release {
        Release::Maps(maps) => Some(maps),
        _ => None,
    }
}

/// The products of one entry of every row, the last row fastest.
fn product<'a>(rows: impl Iterator<Item = &'a [f64]>) -> Vec<f64> {
    let mut here = vec![1.0];
    for row in rows {
        here = here.iter().flat_map(|mass| row.iter().map(move |p| mass * p)).collect();
    }
    here
}

/// Sums over units of the cells' probabilities and their squares, for every private value.
struct Sums {
    units: usize,
    size: usize,
    /// How many units have each value.
    counts: Vec<usize>,
    /// How large a part of each unit has each value, summed.
    shares: Vec<f64>,
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Sums {
    fn new(
        watched: &Watched<'_>,
        evidence: &Evidence<'_>,
        values: &[usize],
    ) -> Result<Self, Error> {
        let samples = evidence.held_out.samples();
        let units: Vec<Vec<usize>> = match evidence.units {
            None => (0..samples.len()).map(|i| vec![i]).collect(),
            Some(of) if of.len() == samples.len() => {
                let mut units: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
                of.iter().enumerate().for_each(|(i, &unit)| units.entry(unit).or_default().push(i));
                units.into_values().collect()
            }
            Some(of) => {
                let (expected, found) = (samples.len(), of.len());
                return Err(Error::Size { what: "the list of units".into(), expected, found });
            }
        };
        let size = watched.range.len();
        let new = || Self {
            units: 0,
            size,
            counts: vec![0; values.len()],
            shares: vec![0.0; values.len()],
            first: vec![0.0; values.len() * size],
            second: vec![0.0; values.len() * size],
        };
        // A fixed number of pieces, summed in order: the result does not depend on the threads.
        let pieces: Vec<&[Vec<usize>]> = units.chunks(units.len().div_ceil(8).max(1)).collect();
        let piece = |units: &&[Vec<usize>]| {
            let mut sums = new();
            for unit in *units {
                sums.see(watched, evidence.held_out, unit, values);
            }
            sums
        };
        let parts: Vec<Self> = pieces.par_iter().map(piece).collect();
        let mut whole = new();
        for part in parts {
            let add = |to: &mut [f64], from: &[f64]| {
                to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
            };
            whole.units += part.units;
            whole.counts.iter_mut().zip(&part.counts).for_each(|(to, from)| *to += from);
            add(&mut whole.shares, &part.shares);
            add(&mut whole.first, &part.first);
            add(&mut whole.second, &part.second);
        }
        Ok(whole)
    }

    fn see(&mut self, watched: &Watched<'_>, samples: &Samples, unit: &[usize], values: &[usize]) {
        self.units += 1;
        for (g, value) in values.iter().enumerate() {
            let own: Vec<usize> =
                unit.iter().copied().filter(|&i| samples.samples()[i].private == *value).collect();
            if own.is_empty() {
                continue;
            }
            let mut mean = vec![0.0; self.size];
            for &i in &own {
                let list = watched.probabilities(&samples.samples()[i].readings);
                mean.iter_mut().zip(list).for_each(|(sum, p)| *sum += p / own.len() as f64);
            }
            self.counts[g] += 1;
            self.shares[g] += own.len() as f64 / unit.len() as f64;
            let range = g * self.size..(g + 1) * self.size;
            let (first, second) = (&mut self.first[range.clone()], &mut self.second[range]);
            for ((first, second), p) in first.iter_mut().zip(second).zip(mean) {
                *first += p;
                *second += p * p;
            }
        }
    }

    /// P(g) of every value: as known, or within Hoeffding's distance of its share.
    fn prior(&self, known: Option<&[f64]>, values: &[usize], log: f64) -> Vec<(f64, f64)> {
        if let Some(known) = known {
            return values.iter().map(|&g| (known[g], known[g])).collect();
        }
        let n = self.units.max(1) as f64;
        let away = (log / (2.0 * n)).sqrt();
        let interval = |share: &f64| ((share / n - away).max(0.0), (share / n + away).min(1.0));
        self.shares.iter().map(interval).collect()
    }

    /// Where p(cell | g) lies: Maurer and Pontil's empirical Bernstein bound on both sides.
    fn interval(&self, g: usize, cell: usize, (least, most): (f64, f64), log: f64) -> (f64, f64) {
        let n = self.counts[g] as f64;
        if n < 2.0 {
            return (least, most);
        }
        let at = g * self.size + cell;
        let mean = self.first[at] / n;
        // The difference of two close sums may lose what rounding took.
        let variance = ((self.second[at] - n * mean * mean) / (n - 1.0)).max(0.0);
        let variance = variance + 1e-12 * mean * mean;
        let away =
            (2.0 * variance * log / n).sqrt() + 7.0 * (most - least) * log / (3.0 * (n - 1.0));
        ((mean - away).max(least), (mean + away).min(most))
    }
}
