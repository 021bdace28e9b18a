//! Whether two columns have to do with each other, from the reports themselves.
//!
//! Independent answers, independently randomised, give independent reports, so that a table of reports is tested as any
//! table is; a likelihood ratio of fitted shares would have the wrong size, since shares at their bounds do not move freely.
//! Rows of different designs are tested apart and their statistics added. A row of bits enters by its bits, not as one of 2^k patterns.

use super::joint::JointCodes;
use crate::evidence::{Reported, is_set};
use crate::{Error, Evidence, Sample};
use serde::Serialize;
use undertone_numeric::dice::{Dice, shuffle};
use undertone_numeric::gamma::chi_squared_upper_tail;
use undertone_numeric::symmetric::Symmetric;

/// A test that two columns are independent.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Independence {
    /// The two columns' names.
    pub columns: [String; 2],
    /// How the p-value was found.
    pub test: IndependenceTest,
    /// Pearson's statistic of the reports.
    pub statistic: f64,
    /// Its degrees of freedom.
    pub degrees_of_freedom: f64,
    /// How often independent columns would have a statistic as large.
    pub p_value: f64,
    /// The smallest expected count of a pair of reports.
    pub least_expected: f64,
}

/// How a p-value was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum IndependenceTest {
    /// The chi-squared law.
    Pearson,
    /// So many random rearrangements of one column, because expected counts are small.
    Permutation {
        /// How many.
        rearrangements: usize,
    },
    /// The chi-squared law with Rao and Scott's second-order correction for the sample's design.
    RaoScott,
}

/// Below this expected count, in more than a fifth of the pairs, the chi-squared law is not trusted; nor is it if one pair's is below 1.
const FEW: f64 = 5.0;
/// Rearrangements at most, and at least.
const REARRANGEMENTS: (usize, usize) = (99, 1999);
/// How many rows are rearranged in all.
const WORK: usize = 200_000_000;
/// More pairs of reports than these are not tested.
const MOST_PAIRS: usize = 1 << 20;
/// More pairs of features than these are not tested with weights.
const MOST_WEIGHTED: usize = 1024;
/// Rearrangements are the same every time.
const SEED: u64 = 17;

/// Rows of one pair of designs.
struct Part {
    /// For both columns, standardised features of each of its codes; empty for codes of other designs.
    features: [Vec<Vec<f64>>; 2],
    /// For both columns, how many features are independent.
    ranks: [usize; 2],
    /// For both columns, the share of every code.
    shares: [Vec<f64>; 2],
    /// Whether both columns report single outputs, so that the statistic has Pearson's form.
    plain: bool,
    /// How many rows, and their weight.
    rows: f64,
    weight: f64,
}

/// Tests two of the columns; `None` where both are known to be the same number of times anything, or there is too much to test.
pub(super) fn test(
    names: [&str; 2],
    columns: [&Evidence; 2],
    sample: &Sample,
) -> Result<Option<Independence>, Error> {
    let joint = JointCodes::new(&columns)?;
    let weights = joint.weights(sample);
    let mut counts = vec![0.0; joint.codes.len()];
    joint.classes.iter().for_each(|&class| counts[class as usize] += 1.0);
    let designs = |codes: &[u32]| [0, 1].map(|side| columns[side].reading(codes[side]).design);
    let mut parts: Vec<([u32; 2], Part)> = Vec::new();
    let mut part_of = Vec::with_capacity(joint.codes.len());
    for codes in &joint.codes {
        let key = designs(codes);
        let known = parts.iter().position(|(other, _)| *other == key);
        part_of.push(match known {
            Some(at) => at,
            None => {
                let members: Vec<usize> = (0..joint.codes.len())
                    .filter(|&class| designs(&joint.codes[class]) == key)
                    .collect();
                parts.push((key, Part::new(&columns, &joint, &members, &weights, &counts)));
                parts.len() - 1
            }
        });
    }
    let parts: Vec<Part> = parts.into_iter().map(|(_, part)| part).collect();
    let degrees: usize = parts.iter().map(|part| part.ranks[0] * part.ranks[1]).sum();
    let widest = columns[0].distinct().saturating_mul(columns[1].distinct());
    if degrees == 0 || widest > MOST_PAIRS {
        return Ok(None);
    }
    let statistic: f64 = (0..parts.len())
        .map(|at| {
            let members = joint.codes.iter().zip(&part_of).zip(&weights);
            let own = members.filter(|((_, part), _)| **part == at);
            let pair = |((codes, _), weight): ((&Vec<u32>, &usize), &f64)| {
                ([codes[0], codes[1]], weight / parts[at].weight)
            };
            parts[at].statistic(own.map(pair))
        })
        .sum();
    let expected = expected(&columns, &joint, &part_of, &parts, &counts);
    let least_expected = expected.iter().copied().fold(f64::INFINITY, f64::min);
    let few = expected.iter().filter(|expected| **expected < FEW).count();
    let answer = |test, degrees_of_freedom, p_value| Independence {
        columns: names.map(str::to_owned),
        test,
        statistic,
        degrees_of_freedom,
        p_value,
        least_expected,
    };
    if !sample.is_simple() {
        let Some((scale, degrees)) = design_effect(&parts, &joint, &part_of, &weights, sample)?
        else {
            return Ok(None);
        };
        let p_value = chi_squared_upper_tail(degrees, statistic / scale);
        return Ok(Some(answer(IndependenceTest::RaoScott, degrees, p_value)));
    }
    let degrees = degrees as f64;
    if least_expected >= 1.0 && 5 * few <= expected.len() {
        let p_value = chi_squared_upper_tail(degrees, statistic);
        return Ok(Some(answer(IndependenceTest::Pearson, degrees, p_value)));
    }
    let (rearrangements, p_value) = rearranged(&parts, &joint, &part_of, columns, statistic);
    Ok(Some(answer(IndependenceTest::Permutation { rearrangements }, degrees, p_value)))
}

impl Part {
    fn new(
        columns: &[&Evidence; 2],
        joint: &JointCodes,
        members: &[usize],
        weights: &[f64],
        counts: &[f64],
    ) -> Self {
        let weight: f64 = members.iter().map(|&class| weights[class]).sum();
        let rows = members.iter().map(|&class| counts[class]).sum();
        let one = |side: usize| {
            let mut shares = vec![0.0; columns[side].distinct()];
            for &class in members {
                shares[joint.codes[class][side] as usize] += weights[class] / weight;
            }
            shares
        };
        let shares = [one(0), one(1)];
        let plain = members.first().is_some_and(|&class| {
            let codes = columns.iter().zip(&joint.codes[class]);
            let mut tokens = codes.map(|(column, &code)| &column.reading(code).token);
            tokens.all(|token| matches!(token, Reported::Index(_)))
        });
        let seen = |side: usize| shares[side].iter().filter(|share| **share > 0.0).count();
        // Features of many outputs are only needed with weights, which permit few of them.
        if plain && seen(0) * seen(1) > MOST_WEIGHTED {
            let (features, ranks) = ([Vec::new(), Vec::new()], [seen(0) - 1, seen(1) - 1]);
            return Self { features, ranks, shares, plain, rows, weight };
        }
        let [(first, first_rank), (second, second_rank)] =
            [0, 1].map(|side| standardised(columns[side], &shares[side]));
        let (features, ranks) = ([first, second], [first_rank, second_rank]);
        Self { features, ranks, shares, plain, rows, weight }
    }

    /// How many numbers the products of both columns' features are.
    fn width(&self) -> usize {
        let sizes = [0, 1].map(|side: usize| {
            let seen = self.shares[side].iter().filter(|share| **share > 0.0).count();
            let longest = self.features[side].iter().map(Vec::len).max();
            longest.unwrap_or(seen)
        });
        sizes[0] * sizes[1]
    }

    /// Pearson's statistic of pairs of codes with their shares of this part.
    fn statistic(&self, pairs: impl Iterator<Item = ([u32; 2], f64)>) -> f64 {
        if self.plain {
            let one = |([a, b], share): ([u32; 2], f64)| {
                share * share / (self.shares[0][a as usize] * self.shares[1][b as usize])
            };
            return self.rows * (pairs.map(one).sum::<f64>() - 1.0).max(0.0);
        }
        let mut mean = Vec::new();
        pairs.for_each(|(codes, share)| add_product(self, &codes, share, &mut mean));
        self.rows * squares(&mean)
    }
}

/// Features of every code with mean nought and the identity, or a projection, as covariance; and its rank.
fn standardised(column: &Evidence, shares: &[f64]) -> (Vec<Vec<f64>>, usize) {
    let seen: Vec<usize> = (0..shares.len()).filter(|&code| shares[code] > 0.0).collect();
    let bits = |code: usize| match &column.reading(code as u32).token {
        Reported::Bits(row) => {
            let set = |x: usize| f64::from(u8::from(is_set(row, x)));
            Some((0..column.symbols()).map(set).collect::<Vec<f64>>())
        }
        Reported::Index(_) => None,
    };
    let mut features = vec![Vec::new(); shares.len()];
    let raw: Option<Vec<Vec<f64>>> = seen.iter().map(|&code| bits(code)).collect();
    let Some(raw) = raw else {
        for &code in &seen {
            let feature = |&other: &usize| {
                let own = f64::from(u8::from(other == code));
                (own - shares[other]) / shares[other].sqrt()
            };
            features[code] = seen.iter().map(feature).collect();
        }
        return (features, seen.len().saturating_sub(1));
    };
    let size = column.symbols();
    let mut mean = vec![0.0; size];
    for (&code, bits) in seen.iter().zip(&raw) {
        mean.iter_mut().zip(bits).for_each(|(mean, bit)| *mean += shares[code] * bit);
    }
    let centred: Vec<Vec<f64>> = raw
        .iter()
        .map(|bits| bits.iter().zip(&mean).map(|(bit, mean)| bit - mean).collect())
        .collect();
    let mut covariance = Symmetric::zero(size);
    for (&code, bits) in seen.iter().zip(&centred) {
        covariance.add_outer(bits, shares[code]);
    }
    let pairs = covariance.eigenpairs();
    let largest = pairs.first().map_or(0.0, |(value, _)| *value);
    let kept: Vec<&(f64, Vec<f64>)> =
        pairs.iter().filter(|(value, _)| *value > 1e-10 * largest).collect();
    for (&code, bits) in seen.iter().zip(&centred) {
        let feature = |(value, vector): &&(f64, Vec<f64>)| {
            vector.iter().zip(bits).map(|(v, bit)| v * bit).sum::<f64>() / value.sqrt()
        };
        features[code] = kept.iter().map(feature).collect();
    }
    (features, kept.len())
}

fn squares(list: &[f64]) -> f64 {
    list.iter().map(|value| value * value).sum()
}

/// The mean product of both columns' features, part by part.
fn means(parts: &[Part], joint: &JointCodes, part_of: &[usize], weights: &[f64]) -> Vec<Vec<f64>> {
    let mut means: Vec<Vec<f64>> = vec![Vec::new(); parts.len()];
    for ((codes, &at), weight) in joint.codes.iter().zip(part_of).zip(weights) {
        let part = &parts[at];
        add_product(part, codes, weight / part.weight, &mut means[at]);
    }
    means
}

/// Adds the product of two codes' features.
fn add_product(part: &Part, codes: &[u32], scale: f64, sum: &mut Vec<f64>) {
    let [first, second] = [0, 1].map(|side| &part.features[side][codes[side] as usize]);
    sum.resize(first.len() * second.len(), 0.0);
    for (row, a) in sum.chunks_exact_mut(second.len().max(1)).zip(first) {
        row.iter_mut().zip(second).for_each(|(sum, b)| *sum += scale * a * b);
    }
}

/// The expected count of every pair of reports; of bits, of every pair of bits being set.
fn expected(
    columns: &[&Evidence; 2],
    joint: &JointCodes,
    part_of: &[usize],
    parts: &[Part],
    counts: &[f64],
) -> Vec<f64> {
    let mut all = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let margin = |side: usize| {
            let size = columns[side].distinct().max(columns[side].symbols());
            let mut sums = vec![0.0; size];
            for ((codes, _), count) in
                joint.codes.iter().zip(part_of).zip(counts).filter(|((_, p), _)| **p == at)
            {
                match &columns[side].reading(codes[side]).token {
                    Reported::Index(_) => sums[codes[side] as usize] += count,
                    Reported::Bits(row) => (0..columns[side].symbols())
                        .filter(|&x| is_set(row, x))
                        .for_each(|x| sums[x] += count),
                }
            }
            sums.retain(|sum| *sum > 0.0);
            sums
        };
        let (first, second) = (margin(0), margin(1));
        all.extend(first.iter().flat_map(|a| second.iter().map(move |b| a * b / part.rows)));
    }
    all
}

/// What the statistic is divided by, and the degrees of freedom that are left, under the sample's design.
fn design_effect(
    parts: &[Part],
    joint: &JointCodes,
    part_of: &[usize],
    weights: &[f64],
    sample: &Sample,
) -> Result<Option<(f64, f64)>, Error> {
    if parts.iter().map(Part::width).sum::<usize>() > MOST_WEIGHTED {
        return Ok(None);
    }
    let means = means(parts, joint, part_of, weights);
    let starts: Vec<usize> = means
        .iter()
        .scan(0, |sum, mean| {
            *sum += mean.len();
            Some(*sum - mean.len())
        })
        .collect();
    let width: usize = means.iter().map(Vec::len).sum();
    let mut product = Vec::new();
    let covariance = sample.covariance_of_classes(width, &joint.classes, |class, out| {
        let at = part_of[class as usize];
        let (part, start) = (&parts[at], starts[at]);
        product.clear();
        add_product(
            part,
            &joint.codes[class as usize],
            part.rows.sqrt() / part.weight,
            &mut product,
        );
        let scale = part.rows.sqrt() / part.weight;
        for ((out, product), mean) in out[start..].iter_mut().zip(&product).zip(&means[at]) {
            *out = product - scale * mean;
        }
    })?;
    let trace: f64 = (0..width).map(|at| covariance.at(at, at)).sum();
    let of_square: f64 = covariance.rows().map(squares).sum();
    let good = trace > 0.0 && of_square > 0.0;
    Ok(good.then(|| (of_square / trace, trace * trace / of_square)))
}

/// How often rearranged columns have a statistic as large.
fn rearranged(
    parts: &[Part],
    joint: &JointCodes,
    part_of: &[usize],
    columns: [&Evidence; 2],
    statistic: f64,
) -> (usize, f64) {
    let mut rows: Vec<[Vec<u32>; 2]> = vec![[Vec::new(), Vec::new()]; parts.len()];
    for &class in &joint.classes {
        let codes = &joint.codes[class as usize];
        let sides = &mut rows[part_of[class as usize]];
        (0..2).for_each(|side| sides[side].push(codes[side]));
    }
    let times = (WORK / joint.classes.len().max(1)).clamp(REARRANGEMENTS.0, REARRANGEMENTS.1);
    let mut dice = Dice::new(SEED);
    let width = columns[1].distinct();
    let mut table = vec![0u32; columns[0].distinct() * width];
    let mut as_large = 0;
    for _ in 0..times {
        let mut found = 0.0;
        for (part, [first, second]) in parts.iter().zip(&mut rows) {
            shuffle(second, &mut dice);
            table.fill(0);
            for (&a, &b) in first.iter().zip(&*second) {
                table[a as usize * width + b as usize] += 1;
            }
            let seen = table.iter().enumerate().filter(|(_, count)| **count > 0);
            found += part.statistic(seen.map(|(at, &count)| {
                let codes = [(at / width) as u32, (at % width) as u32];
                (codes, f64::from(count) / part.rows)
            }));
        }
        // Statistics that are equal but for rounding are equal.
        as_large += usize::from(found >= statistic * (1.0 - 1e-10));
    }
    (times, (as_large + 1) as f64 / (times + 1) as f64)
}
