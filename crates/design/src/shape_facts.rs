//! What a shape costs on the wire, and how well it tells of symbols nobody has: facts by which shapes of many symbols are
//! compared, read off the integers that ship.

use undertone_core::{Bits, KEEP_ONE, Keep, MASS_ONE, Shape, Table, WEIGHT_ONE};
use undertone_numeric::cholesky::Cholesky;

use crate::mechanism::incidence::Rates;
use crate::{Distribution, to_floats};

/// More multiplications than this are not spent on inverting a table.
const MOST_WORK: usize = 1 << 26;

/// Below this part of the largest pivot a table does not tell all shares.
const LEAST_PIVOT: f64 = 1e-12;

/// An inverse that leaves more than this of what it should cancel is none.
const MOST_RESIDUE: f64 = 1e-6;

/// What a shape costs, and how well it tells of symbols nobody has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShapeFacts {
    /// What the policy's document calls the shape.
    pub shape: &'static str,
    /// How many bits one report's token needs.
    pub report_bits: u64,
    /// n times the variance of the unbiased estimate of one share whose true frequency is nought: of the symbol for which it
    /// is largest, where everybody has the symbol that makes it largest. Nothing where some share is not determined, or
    /// the table is too large to be inverted.
    pub variance_at_zero: Option<f64>,
}

impl ShapeFacts {
    /// Reads them off a shape. A table with more outputs than inputs is decoded as is best under `prior`, which is in the order
    /// of the inputs.
    pub fn of(shape: &Shape, prior: &Distribution) -> Self {
        let variance_at_zero = match shape {
            Shape::Table(table) => of_table(table, prior),
            Shape::Keep(keep) => of_keep(keep),
            Shape::Bits(bits) => of_bits(bits),
            Shape::Incidence(incidence) => Rates::of(incidence).map(Rates::variance_at_zero),
        };
        let variance_at_zero = variance_at_zero.filter(|_| shape.inputs() > 1);
        Self { shape: shape.name(), report_bits: shape.report_bits().into(), variance_at_zero }
    }
}

/// Q(1-Q)/(P-Q)² with P the own and Q any other bit's probability.
fn of_bits(bits: &Bits) -> Option<f64> {
    let part = |units: u64| units as f64 / WEIGHT_ONE as f64;
    let (own, other) = (part(bits.own()), part(bits.other()));
    let variance = other * (1.0 - other) / (own - other).powi(2);
    Some(if own == other { f64::INFINITY } else { variance })
}

/// With one λ the count of x is a coin with Q = (1-λ)b(x) whoever has another symbol, and P - Q = λ.
///
/// Otherwise the share is read off the score g(y) = (1{y=x} - u(y)b(x))/λ(x), u(y) = (1-λ(y))/(λ(y)κ) and κ = Σ b/λ, which
/// has mean nought given z ≠ x and mean square
///
///   { (1-λ(z)) [ b(x)(1-u(x)b(x))² + b(x)²(S - b(x)u(x)²) ] + b(x)² λ(z)u(z)² }/λ(x)²,   S = Σ b u².
///
/// Both terms fall as λ(z) grows: the worst z is the least kept of the others.
fn of_keep(keep: &Keep) -> Option<f64> {
    let kept: Vec<f64> = keep.keep().iter().map(|&k| k as f64 / KEEP_ONE as f64).collect();
    let base = keep.base().masses().iter().map(|&b| b as f64 / MASS_ONE as f64);
    let base: Vec<f64> = base.collect();
    let mut order = (0..kept.len()).collect::<Vec<_>>();
    order.sort_unstable_by(|&a, &b| kept[a].total_cmp(&kept[b]));
    let (least, next) = (*order.first()?, *order.get(1)?);
    if kept[least] == 0.0 {
        return None;
    }
    if kept.iter().all(|&k| k == kept[least]) {
        let coin = |b: &f64| {
            let other = (1.0 - kept[least]) * b;
            other * (1.0 - other)
        };
        return Some(base.iter().map(coin).fold(0.0, f64::max) / kept[least].powi(2));
    }
    let scale: f64 = base.iter().zip(&kept).map(|(b, k)| b / k).sum();
    let drawn = |y: usize| (1.0 - kept[y]) / kept[y] / scale;
    let squares: f64 = base.iter().enumerate().map(|(y, b)| b * drawn(y).powi(2)).sum();
    let variance = |x: usize| {
        let z = if x == least { next } else { least };
        let (b, u) = (base[x], drawn(x));
        let others = (squares - b * u * u).max(0.0);
        let based = (1.0 - kept[z]) * (b * (1.0 - u * b).powi(2) + b * b * others);
        (based + b * b * kept[z] * drawn(z).powi(2)) / kept[x].powi(2)
    };
    Some((0..kept.len()).map(variance).fold(0.0, f64::max))
}

/// The scores of all shares are G = S⁻¹Wᵀ/m, with m the output's law under the prior and S = Σ_y w_y w_yᵀ/m(y); given z the
/// score of x ≠ z has mean nought and mean square Σ_y w(y|z) G(x,y)².
fn of_table(table: &Table, prior: &Distribution) -> Option<f64> {
    let (inputs, outputs) = (table.rows().len(), table.outputs());
    let work = inputs.saturating_mul(inputs).saturating_mul(outputs);
    if outputs < inputs || work > MOST_WORK || prior.len() != inputs {
        return None;
    }
    let channel = to_floats::channel(&Shape::Table(table.clone())).ok()?;
    let law = |y: usize| channel.column(y).zip(prior.as_slice()).map(|(q, p)| q * p).sum::<f64>();
    let law: Vec<f64> = (0..outputs).map(law).collect();
    let seen: Vec<usize> = (0..outputs).filter(|&y| law[y] > 0.0).collect();
    let information = |a: usize, b: usize| {
        seen.iter().map(|&y| channel.q(a, y) * channel.q(b, y) / law[y]).sum::<f64>()
    };
    let factor = Cholesky::new(inputs, information, LEAST_PIVOT)?;
    let mut worst = 0.0f64;
    for x in 0..inputs {
        let mut column = vec![0.0; inputs];
        column[x] = 1.0;
        factor.forward(&mut column);
        factor.backward(&mut column);
        let score =
            |&y: &usize| channel.column(y).zip(&column).map(|(q, c)| q * c).sum::<f64>() / law[y];
        let scores: Vec<f64> = seen.iter().map(score).collect();
        for z in 0..inputs {
            let moment = |power: i32| {
                let terms = seen.iter().zip(&scores);
                terms.map(|(&y, score)| channel.q(z, y) * score.powi(power)).sum::<f64>()
            };
            let wanted = if z == x { 1.0 } else { 0.0 };
            if !((moment(1) - wanted).abs() <= MOST_RESIDUE) {
                return None;
            }
            if z != x {
                worst = worst.max(moment(2));
            }
        }
    }
    Some(worst)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn facts(shape: &Shape) -> ShapeFacts {
        ShapeFacts::of(shape, &Distribution::uniform(shape.inputs()))
    }

    fn keep(kept: &[u64], base: &[u64]) -> Shape {
        let kept = kept.iter().map(|k| k * (KEEP_ONE / 8)).collect();
        let base = base.iter().map(|b| b * (MASS_ONE / 8)).collect();
        Shape::Keep(Keep::new(kept, base).unwrap())
    }

    /// The channel of a `Keep` as a table.
    fn written_out(shape: &Shape) -> Shape {
        let channel = to_floats::channel(shape).unwrap();
        let rows = channel.rows().iter().map(|row| {
            row.as_slice().iter().map(|q| (q * MASS_ONE as f64) as u64).collect::<Vec<_>>()
        });
        Shape::Table(Table::from_masses(rows.collect()).unwrap())
    }

    #[test]
    fn an_index_takes_the_logarithm_of_the_outputs() {
        let bits = |outputs: usize| {
            let mut base = vec![0; outputs];
            base[0] = MASS_ONE;
            facts(&Shape::Keep(Keep::new(vec![1; outputs], base).unwrap())).report_bits
        };
        assert_eq!([1, 2, 3, 4, 5, 1024, 1025].map(bits), [0, 1, 2, 2, 3, 10, 11]);
        let unary = Shape::Bits(Bits::new(37, WEIGHT_ONE / 2, WEIGHT_ONE / 4).unwrap());
        assert_eq!((facts(&unary).shape, facts(&unary).report_bits), ("bits", 37));
        // 1/4·3/4 over the square of 1/4.
        assert_eq!(facts(&unary).variance_at_zero, Some(3.0));
        let blind = Shape::Bits(Bits::new(3, WEIGHT_ONE / 4, WEIGHT_ONE / 4).unwrap());
        assert_eq!(facts(&blind).variance_at_zero, Some(f64::INFINITY));
    }

    /// Closed forms of `Keep` against the table they stand for, which is square and has one inverse.
    #[test]
    fn keep_is_what_its_table_is() {
        for (kept, base) in [
            (&[2, 2, 2][..], &[4, 2, 2][..]),
            (&[4, 2, 1], &[4, 2, 2]),
            (&[1, 1, 4, 2], &[1, 4, 3, 0]),
            (&[6, 1, 3, 5], &[2, 2, 2, 2]),
        ] {
            let shape = keep(kept, base);
            let closed = facts(&shape).variance_at_zero.unwrap();
            let table = facts(&written_out(&shape));
            let inverted = table.variance_at_zero.unwrap();
            assert_eq!((table.shape, facts(&shape).shape), ("table", "keep"));
            assert!(
                (closed / inverted - 1.0).abs() < 1e-9,
                "{kept:?} {base:?}: {closed} {inverted}"
            );
        }
        assert_eq!(facts(&keep(&[1, 0, 1], &[4, 2, 2])).variance_at_zero, None);
        assert_eq!(facts(&keep(&[8], &[8])).variance_at_zero, None);
        let merged = Table::from_masses(vec![vec![MASS_ONE / 2; 2]; 2]).unwrap();
        assert_eq!(facts(&Shape::Table(merged)).variance_at_zero, None);
    }

    /// A table that is k-ary randomised response with every output split in two says no more than the response itself.
    #[test]
    fn split_outputs_change_nothing() {
        let shape = keep(&[3, 3, 3], &[4, 2, 2]);
        let Shape::Table(square) = written_out(&shape) else { panic!() };
        let split = |row: &undertone_core::Row| {
            let third = |&mass: &u64| [mass / 4, mass - mass / 4];
            row.masses().iter().flat_map(third).collect::<Vec<_>>()
        };
        let wide = Table::from_masses(square.rows().iter().map(split).collect()).unwrap();
        let (one, other) = (facts(&shape), facts(&Shape::Table(wide)));
        let ratio = one.variance_at_zero.unwrap() / other.variance_at_zero.unwrap();
        assert!((ratio - 1.0).abs() < 1e-6, "{ratio}");
        assert_eq!((one.report_bits, other.report_bits), (2, 3));
    }
}
