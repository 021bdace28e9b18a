//! Joint laws P(s,x), one row per value of the secret.

use crate::dice::Dice;

/// Cells over their sum.
pub fn normalised(mut rows: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let total: f64 = rows.iter().flatten().sum();
    rows.iter_mut().flatten().for_each(|cell| *cell /= total);
    rows
}

/// Cells uniform on (0,1), normalised: the laws of ZDS22 Section III.
pub fn uniform(secrets: usize, symbols: usize, dice: &mut Dice) -> Vec<Vec<f64>> {
    normalised((0..secrets).map(|_| (0..symbols).map(|_| dice.unit()).collect()).collect())
}

/// Laws of every awkward kind: zero cells, symbols without mass, independence, a secret that the data
/// determine, secrets and symbols of tiny mass.
pub fn awkward(dice: &mut Dice) -> Vec<Vec<f64>> {
    let (secrets, symbols) = (2 + dice.below(4), 2 + dice.below(7));
    let kind = dice.below(6);
    let mut rows: Vec<Vec<f64>> =
        (0..secrets).map(|_| (0..symbols).map(|_| 0.01 + dice.unit()).collect()).collect();
    match kind {
        1 => rows.iter_mut().flatten().filter(|_| dice.unit() < 0.4).for_each(|c| *c = 0.0),
        2 => rows = vec![rows[0].clone(); secrets],
        3 => {
            for (s, row) in rows.iter_mut().enumerate() {
                (0..symbols).filter(|x| x % secrets != s).for_each(|x| row[x] = 0.0);
            }
        }
        4 => rows.iter_mut().for_each(|row| row[0] = 0.0),
        5 => {
            rows[0].iter_mut().for_each(|cell| *cell *= 1e-7);
            rows.iter_mut().for_each(|row| row[1] *= 1e-8);
        }
        _ => {}
    }
    // Every value of the secret needs mass, and the data at least two symbols.
    for (s, row) in rows.iter_mut().enumerate() {
        if row.iter().sum::<f64>() == 0.0 {
            row[symbols - 1 - s % 2] = 0.5;
        }
    }
    let with_mass = |x: &usize| rows.iter().any(|row| row[*x] > 0.0);
    if (0..symbols).filter(with_mass).count() < 2 {
        rows[0].fill(1.0);
    }
    normalised(rows)
}
