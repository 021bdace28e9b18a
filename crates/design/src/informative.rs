//! Whether a policy can tell its inputs apart.
//!
//! Reports depend on the population's shares p only through Σ_x p(x) w(y|x), so two populations whose
//! difference is a combination of rows that cancels send the same reports, however many people answer. Two inputs
//! with the same row are the plainest case: nothing anybody does with the reports distinguishes them. An optimum for a
//! loss often looks like that: under `hamming`, the best answer to a rare question is always "no".

use undertone_core::incidence::{Family, Incidence, Listed};
use undertone_core::{Alphabet, MASS_ONE, Shape, Table};

use crate::objective::Objective;

/// Rows of a table that differ by less than this, in total variation, are the same row: solvers and
/// repair leave such differences, and it would take a hundred million million people to see one.
const SAME: f64 = 1e-7;

/// More multiplications than this are not spent on finding out which shares are determined.
const MOST_WORK: usize = 1 << 28;

/// What the reports of a policy do not tell, whatever the number of people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Blind {
    /// Anything: every input has the same row.
    Everything,
    /// These two inputs from each other: they have the same row.
    Pair(usize, usize),
    /// The shares of all inputs: any two differ, but the rows are linearly dependent, so that some populations
    /// send the same reports.
    Shares {
        /// How many rows are independent.
        rank: usize,
        /// How many there are.
        inputs: usize,
    },
}

impl Blind {
    /// Whether it defeats the purpose of a policy made for `objective`. Inputs that cannot be told apart always do; shares
    /// that are not determined do where shares are what is wanted.
    pub fn defeats(&self, objective: &Objective) -> bool {
        match self {
            Self::Everything | Self::Pair(..) => true,
            Self::Shares { .. } => *objective == Objective::Frequency,
        }
    }

    /// What is not told, in words.
    pub fn describe(&self, inputs: &Alphabet) -> String {
        match self {
            Self::Everything => {
                "the policy answers alike whatever the input: its reports tell nothing".into()
            }
            Self::Pair(a, b) => format!(
                "the policy answers alike for {:?} and {:?}: no number of reports tells how many there are of each",
                shown(inputs, *a),
                shown(inputs, *b)
            ),
            Self::Shares { rank, inputs } => format!(
                "the policy does not determine the shares of its {inputs} symbols: only {rank} of its rows are independent, so that different populations send the same reports"
            ),
        }
    }
}

/// A label short enough for a sentence.
fn shown(inputs: &Alphabet, index: usize) -> String {
    inputs.label(index).chars().take(60).collect()
}

/// What a channel does not tell; `None` if its reports determine the shares of all inputs, or if there
/// is only one.
///
/// Exact for `Keep`, `Bits` and families of blocks, listed ones that share unequally many blocks aside. For a table, rows are compared as floats, and shares are looked at only if that
/// does not take too long.
pub fn blind(shape: &Shape) -> Option<Blind> {
    let inputs = shape.inputs();
    if inputs < 2 {
        return None;
    }
    match shape {
        // The own bit is as likely as any other: it says nothing.
        Shape::Bits(bits) => (bits.own() == bits.other()).then_some(Blind::Everything),
        Shape::Keep(keep) => {
            let mut never = keep.keep().iter().enumerate().filter(|(_, kept)| **kept == 0);
            match (never.next(), never.next()) {
                (None, _) => None,
                (Some((only, _)), None) => {
                    // Its row is the base, which the others span unless the base ever releases it.
                    let dependent = keep.base().masses()[only] == 0;
                    dependent.then_some(Blind::Shares { rank: inputs - 1, inputs })
                }
                (Some(_), Some(_)) if never.count() + 2 == inputs => Some(Blind::Everything),
                (Some((a, _)), Some((b, _))) => Some(Blind::Pair(a, b)),
            }
        }
        Shape::Table(table) => {
            let rows = floats(table);
            same_rows(&rows).or_else(|| dependent_rows(&rows))
        }
        Shape::Incidence(incidence) => blind_blocks(incidence),
    }
}

/// Blocks say nothing if one with the input is as likely as the share of blocks that contain it, to a unit of the coin.
/// Otherwise they tell all shares wherever any two symbols share equally many blocks and fewer than they are in: with r and λ
/// these numbers, the incidence matrix A has A Aᵀ = (r - λ) I + λ J, which is invertible, and every row of A has the same sum.
fn blind_blocks(incidence: &Incidence) -> Option<Blind> {
    let symbols = incidence.symbols();
    let (each, all) = match incidence.family() {
        Family::Subsets(subsets) => (subsets.size(), symbols),
        _ => (incidence.replication().unwrap_or(0), incidence.blocks().unwrap_or(0)),
    };
    let (own, even) =
        (u128::from(incidence.coin()) * all as u128, u128::from(MASS_ONE) * each as u128);
    if own.abs_diff(even) < all as u128 {
        return Some(Blind::Everything);
    }
    if let Some([(both, each), _]) = incidence.together() {
        return (both == each).then_some(Blind::Everything);
    }
    let Family::Listed(listed) = incidence.family() else { return None };
    let mut of_symbol = vec![Vec::new(); symbols];
    for block in 0..listed.blocks() {
        listed.members(block).iter().for_each(|&x| of_symbol[x as usize].push(block as u32));
    }
    same_blocks(&of_symbol).or_else(|| dependent_rows_of(listed, &of_symbol))
}

/// Two symbols that are in the same blocks, if there are any; not all are, or they would share equally many.
fn same_blocks(of_symbol: &[Vec<u32>]) -> Option<Blind> {
    let mut order: Vec<usize> = (0..of_symbol.len()).collect();
    order.sort_by(|&a, &b| of_symbol[a].cmp(&of_symbol[b]).then(a.cmp(&b)));
    let neighbours = order.windows(2).filter(|pair| of_symbol[pair[0]] == of_symbol[pair[1]]);
    let first = neighbours.map(|pair| (pair[0], pair[1])).min();
    first.map(|(a, b)| Blind::Pair(a, b))
}

/// How many rows of the incidence matrix are independent, if not all are. The channel has as many.
fn dependent_rows_of(listed: &Listed, of_symbol: &[Vec<u32>]) -> Option<Blind> {
    let (inputs, outputs) = (of_symbol.len(), listed.blocks());
    if work(inputs, outputs) > MOST_WORK {
        return (outputs < inputs).then_some(Blind::Shares { rank: outputs, inputs });
    }
    let row = |blocks: &Vec<u32>| {
        let mut row = vec![0.0; outputs];
        blocks.iter().for_each(|&block| row[block as usize] = 1.0);
        row
    };
    dependent_rows(&of_symbol.iter().map(row).collect::<Vec<_>>())
}

/// The multiplications that finding dependent rows takes.
fn work(inputs: usize, outputs: usize) -> usize {
    inputs.saturating_mul(inputs.min(outputs)).saturating_mul(outputs)
}

fn floats(table: &Table) -> Vec<Vec<f64>> {
    let float = |&mass: &u64| mass as f64 / MASS_ONE as f64;
    table.rows().iter().map(|row| row.masses().iter().map(float).collect()).collect()
}

/// Half the sum of differences.
fn total_variation(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).sum::<f64>() / 2.0
}

/// Two rows that are the same, if there are any.
///
/// Rows are sorted by a weighted sum with weights between -1 and 1, which rows that differ by d in total
/// variation have within 2d of each other: only neighbours are compared.
fn same_rows(rows: &[Vec<f64>]) -> Option<Blind> {
    if rows[1..].iter().all(|row| total_variation(row, &rows[0]) <= SAME) {
        return Some(Blind::Everything);
    }
    let mut weight = 0.0f64;
    let weights: Vec<f64> = (0..rows[0].len())
        .map(|_| {
            // The golden ratio spreads multiples of itself evenly.
            weight = (weight + 0.618_033_988_749_894_9).fract();
            2.0 * weight - 1.0
        })
        .collect();
    let sum = |row: &Vec<f64>| row.iter().zip(&weights).map(|(q, w)| q * w).sum::<f64>();
    let mut order: Vec<(f64, usize)> = rows.iter().map(sum).zip(0..).collect();
    order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut first: Option<(usize, usize)> = None;
    for (at, (sum, x)) in order.iter().enumerate() {
        let near = order[at + 1..].iter().take_while(|(other, _)| other - sum <= 2.0 * SAME);
        for (_, z) in near {
            if total_variation(&rows[*x], &rows[*z]) <= SAME {
                let pair = (*x.min(z), *x.max(z));
                first = Some(first.map_or(pair, |known| known.min(pair)));
            }
        }
    }
    first.map(|(a, b)| Blind::Pair(a, b))
}

/// How many rows are independent, if not all are.
fn dependent_rows(rows: &[Vec<f64>]) -> Option<Blind> {
    let (inputs, outputs) = (rows.len(), rows[0].len());
    if work(inputs, outputs) > MOST_WORK {
        return (outputs < inputs).then_some(Blind::Shares { rank: outputs, inputs });
    }
    // Gram and Schmidt, each row twice: once leaves what rounding makes of nearly dependent rows.
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for row in rows {
        let mut rest = row.clone();
        for _ in 0..2 {
            for axis in &basis {
                let along: f64 = rest.iter().zip(axis).map(|(r, a)| r * a).sum();
                rest.iter_mut().zip(axis).for_each(|(r, a)| *r -= along * a);
            }
        }
        let length = |row: &[f64]| row.iter().map(|r| r * r).sum::<f64>().sqrt();
        let left = length(&rest);
        if left > SAME * length(row) {
            basis.push(rest.iter().map(|r| r / left).collect());
        }
    }
    let rank = basis.len();
    (rank < inputs).then_some(Blind::Shares { rank, inputs })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use undertone_core::{Bits, KEEP_ONE, Keep, WEIGHT_ONE};

    fn table(rows: &[&[u64]]) -> Shape {
        // In eighths.
        let masses = rows.iter().map(|row| row.iter().map(|m| m * (MASS_ONE / 8)).collect());
        Shape::Table(Table::from_masses(masses.collect()).unwrap())
    }

    fn keep(kept: &[u64], base: &[u64]) -> Shape {
        let kept = kept.iter().map(|k| k * (KEEP_ONE / 8)).collect();
        let base = base.iter().map(|b| b * (MASS_ONE / 8)).collect();
        Shape::Keep(Keep::new(kept, base).unwrap())
    }

    #[test]
    fn tables() {
        let shares = |rank, inputs| Some(Blind::Shares { rank, inputs });
        assert_eq!(blind(&table(&[&[6, 2], &[2, 6]])), None);
        assert_eq!(blind(&table(&[&[8]])), None);
        assert_eq!(blind(&table(&[&[8], &[8]])), Some(Blind::Everything));
        assert_eq!(blind(&table(&[&[5, 3], &[5, 3], &[5, 3]])), Some(Blind::Everything));
        let pair = table(&[&[6, 2, 0], &[1, 1, 6], &[0, 2, 6], &[1, 1, 6]]);
        assert_eq!(blind(&pair), Some(Blind::Pair(1, 3)));
        // Three different rows over two outputs; the middle one is the mean of the others.
        assert_eq!(blind(&table(&[&[6, 2], &[4, 4], &[2, 6]])), shares(2, 3));
        assert_eq!(blind(&table(&[&[6, 0, 2], &[3, 3, 2], &[0, 6, 2]])), shares(2, 3));
        assert_eq!(blind(&table(&[&[6, 0, 2], &[3, 2, 3], &[0, 6, 2]])), None);
    }

    /// What a solver leaves is no difference, and one part in a million is.
    #[test]
    fn rows_that_differ_by_rounding_are_the_same() {
        let rows = |difference: u64| {
            let half = MASS_ONE / 2;
            let row = |more: u64| vec![half + more, half - more];
            let masses = vec![row(0), row(difference), row(MASS_ONE / 4)];
            Shape::Table(Table::from_masses(masses).unwrap())
        };
        assert_eq!(blind(&rows(MASS_ONE >> 24)), Some(Blind::Pair(0, 1)));
        assert_eq!(blind(&rows(MASS_ONE >> 20)), Some(Blind::Shares { rank: 2, inputs: 3 }));
    }

    #[test]
    fn keep_and_bits() {
        assert_eq!(blind(&keep(&[1, 1, 1], &[4, 2, 2])), None);
        assert_eq!(blind(&keep(&[1, 0, 1], &[4, 2, 2])), None);
        let shares = Blind::Shares { rank: 2, inputs: 3 };
        assert_eq!(blind(&keep(&[1, 0, 1], &[6, 0, 2])), Some(shares));
        assert_eq!(blind(&keep(&[0, 1, 0], &[4, 2, 2])), Some(Blind::Pair(0, 2)));
        assert_eq!(blind(&keep(&[0, 0, 0], &[4, 2, 2])), Some(Blind::Everything));
        let bits = |own, other| Shape::Bits(Bits::new(4, own, other).unwrap());
        assert_eq!(blind(&bits(WEIGHT_ONE / 2, WEIGHT_ONE / 4)), None);
        assert_eq!(blind(&bits(WEIGHT_ONE / 2, WEIGHT_ONE / 2)), Some(Blind::Everything));
    }

    /// Against the rank of random tables over few distinct rows, by brute force over all pairs.
    #[test]
    fn every_pair_of_equal_rows_is_found() {
        let mut seed = 7u64;
        let mut next = |most: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % most
        };
        let (mut pairs, mut none) = (0, 0);
        for _ in 0..400 {
            let (inputs, outputs) = (2 + next(6) as usize, 2 + next(4) as usize);
            let row = |next: &mut dyn FnMut(u64) -> u64| {
                let mut row = vec![0; outputs];
                (0..8).for_each(|_| row[next(outputs as u64) as usize] += 1);
                row
            };
            let rows: Vec<Vec<u64>> = (0..inputs).map(|_| row(&mut next)).collect();
            let rows: Vec<&[u64]> = rows.iter().map(Vec::as_slice).collect();
            let all = (0..inputs).flat_map(|a| (a + 1..inputs).map(move |b| (a, b)));
            let first = all.clone().find(|&(a, b)| rows[a] == rows[b]);
            let alike = all.clone().all(|(a, b)| rows[a] == rows[b]);
            let found = blind(&table(&rows));
            match (alike, first) {
                (true, _) => assert_eq!(found, Some(Blind::Everything)),
                (false, Some((a, b))) => {
                    pairs += 1;
                    assert_eq!(found, Some(Blind::Pair(a, b)), "{rows:?}");
                }
                (false, None) => {
                    none += 1;
                    assert!(matches!(found, None | Some(Blind::Shares { .. })), "{rows:?}");
                    assert!(outputs >= inputs || found.is_some(), "{rows:?}");
                }
            }
        }
        assert!(pairs > 20 && none > 20, "{pairs} {none}");
    }
}
