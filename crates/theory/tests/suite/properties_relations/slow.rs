//! The measures as their definitions say, one loop per quantifier.

use undertone_design::measure::delta::Convention;
use undertone_theory::relation::{Guarantee, Notion, Setting};

pub(crate) fn output_law(p: &[f64], q: &[Vec<f64>]) -> Vec<f64> {
    (0..q[0].len()).map(|y| (0..p.len()).map(|x| p[x] * q[x][y]).sum()).collect()
}

/// (min-lift, max-lift) budgets.
pub(crate) fn lifts(p: &[f64], q: &[Vec<f64>]) -> (f64, f64) {
    let law = output_law(p, q);
    let (mut lower, mut upper) = (0.0f64, 0.0f64);
    for y in 0..law.len() {
        for row in q {
            if law[y] > 0.0 {
                lower = lower.max((law[y] / row[y]).ln());
                upper = upper.max((row[y] / law[y]).ln());
            }
        }
    }
    (lower, upper)
}

pub(crate) fn ldp(q: &[Vec<f64>]) -> f64 {
    let mut worst = 0.0f64;
    for y in 0..q[0].len() {
        for a in q {
            for b in q {
                if a[y] > 0.0 {
                    worst = worst.max((a[y] / b[y]).ln());
                }
            }
        }
    }
    worst
}

pub(crate) fn odds(p: &[f64], q: &[Vec<f64>], near: impl Fn(usize, usize) -> bool) -> f64 {
    let mut worst = 0.0f64;
    for y in 0..q[0].len() {
        for x in 0..p.len() {
            for z in 0..p.len() {
                if x != z && near(x, z) && p[x] * q[x][y] > 0.0 {
                    worst = worst.max((p[x] * q[x][y] / (p[z] * q[z][y])).ln());
                }
            }
        }
    }
    worst
}

pub(crate) fn information(p: &[f64], q: &[Vec<f64>]) -> f64 {
    let law = output_law(p, q);
    let mut sum = 0.0;
    for x in 0..p.len() {
        for y in 0..law.len() {
            if p[x] * q[x][y] > 0.0 {
                sum += p[x] * q[x][y] * (q[x][y] / law[y]).ln();
            }
        }
    }
    sum
}

pub(crate) fn maximal(q: &[Vec<f64>]) -> f64 {
    let best = |y: usize| q.iter().map(|row| row[y]).fold(0.0, f64::max);
    (0..q[0].len()).map(best).sum::<f64>().ln()
}

pub(crate) fn sibson(p: &[f64], q: &[Vec<f64>], alpha: f64) -> f64 {
    let inner =
        |y: usize| (0..p.len()).map(|x| p[x] * q[x][y].powf(alpha)).sum::<f64>().powf(1.0 / alpha);
    alpha / (alpha - 1.0) * (0..q[0].len()).map(inner).sum::<f64>().ln()
}

pub(crate) fn arimoto(p: &[f64], q: &[Vec<f64>], alpha: f64) -> f64 {
    // The definition (ZDS22 (11)), not the escort form.
    let norm = |v: Vec<f64>| v.iter().map(|a| a.powf(alpha)).sum::<f64>().powf(1.0 / alpha);
    let joint = |y: usize| norm((0..p.len()).map(|x| p[x] * q[x][y]).collect());
    let top: f64 = (0..q[0].len()).map(joint).sum();
    alpha / (alpha - 1.0) * (top / norm(p.to_vec())).ln()
}

pub(crate) fn alpha_lift(p: &[f64], q: &[Vec<f64>], alpha: f64) -> f64 {
    let law = output_law(p, q);
    let one = |y: usize| {
        let sum: f64 = (0..p.len()).map(|x| p[x] * (q[x][y] / law[y]).powf(alpha)).sum();
        sum.ln() / alpha
    };
    (0..law.len()).filter(|&y| law[y] > 0.0).map(one).fold(0.0, f64::max)
}

pub(crate) fn hockey(f: &[f64], g: &[f64], e: f64) -> f64 {
    f.iter().zip(g).map(|(a, b)| (a - e * b).max(0.0)).sum()
}

pub(crate) fn ldp_delta(q: &[Vec<f64>], epsilon: f64) -> f64 {
    let pairs = q.iter().flat_map(|a| q.iter().map(move |b| hockey(a, b, epsilon.exp())));
    pairs.fold(0.0, f64::max)
}

/// The δ of asymmetric LIP: A at e^upper, B at e^lower.
pub(crate) fn sides_delta(p: &[f64], q: &[Vec<f64>], lower: f64, upper: f64) -> f64 {
    let law = output_law(p, q);
    let one = |row: &Vec<f64>| hockey(row, &law, upper.exp()).max(hockey(&law, row, lower.exp()));
    q.iter().map(one).fold(0.0, f64::max)
}

pub(crate) fn lip_delta(p: &[f64], q: &[Vec<f64>], epsilon: f64, convention: Convention) -> f64 {
    let (law, e) = (output_law(p, q), epsilon.exp());
    let mut worst = 0.0f64;
    for (x, row) in q.iter().enumerate() {
        let (a, b) = (hockey(row, &law, e), hockey(&law, row, e));
        worst = worst.max(match convention {
            Convention::Conditional => a.max(b),
            Convention::Posterior => (a / e).max(b),
            Convention::Joint => p[x] * a.max(b),
            Convention::JointSets => 0.0,
        });
    }
    if convention == Convention::JointSets {
        for set in 1u32..1 << p.len() {
            let inside = |x: &usize| set >> x & 1 == 1;
            let mass: f64 = (0..p.len()).filter(inside).map(|x| p[x]).sum();
            let joint = |y: usize| (0..p.len()).filter(inside).map(|x| p[x] * q[x][y]).sum();
            let joint: Vec<f64> = (0..law.len()).map(joint).collect();
            let product: Vec<f64> = law.iter().map(|l| mass * l).collect();
            worst = worst.max(hockey(&joint, &product, e)).max(hockey(&product, &joint, e));
        }
    }
    worst
}

/// The leakage in a notion of one datum, as a guarantee that holds with nothing to spare.
pub(crate) fn datum(notion: Notion, p: &[f64], q: &[Vec<f64>], s: &Setting) -> Guarantee {
    let (lower, upper) = lifts(p, q);
    let alpha = s.alpha.unwrap_or(f64::NAN);
    let level = match notion {
        Notion::Alip => return Guarantee::asymmetric(lower, upper).unwrap(),
        Notion::Ldp | Notion::Wclip => ldp(q),
        Notion::Lip => lower.max(upper),
        Notion::Bplip => s
            .priors
            .iter()
            .map(|p| lifts(p.as_slice(), q))
            .map(|(l, u)| l.max(u))
            .fold(0.0, f64::max),
        Notion::Pml => upper,
        Notion::Di => odds(p, q, |_, _| true),
        Notion::Mip => information(p, q).max(0.0),
        Notion::Mil => maximal(q).max(0.0),
        Notion::Sibson => sibson(p, q, alpha).max(0.0),
        Notion::Arimoto => arimoto(p, q, alpha).max(0.0),
        Notion::Alphalift => alpha_lift(p, q, alpha),
        _ => panic!("{notion} is not about one datum"),
    };
    Guarantee::new(notion, level).unwrap()
}
