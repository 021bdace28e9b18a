//! The closed forms behind the rules: one function per formula, in nats, corrected and sharp.
//!
//! `p` is the smallest probability of the secret, `lower` and `upper` the two budgets of asymmetric
//! LIP; an infinite `lower` means no bound on that side.

use crate::{Distribution, Error};

/// ε-LDP gives this LIP: ln(p + (1-p)e^ε). Sharp. JSTL21 Theorem 1, converse.
pub fn lip_from_ldp(epsilon: f64, p: f64) -> f64 {
    if epsilon < 30.0 {
        ((1.0 - p) * epsilon.exp_m1()).ln_1p()
    } else {
        // The same with e^ε taken out: many sensors or secrets would overflow it.
        epsilon + (1.0 - p + p * (-epsilon).exp()).ln()
    }
}

/// ε-LDP gives this max-lift: -ln(p + (1-p)e^-ε). Sharp, by the same argument as [`lip_from_ldp`].
pub fn max_lift_from_ldp(epsilon: f64, p: f64) -> f64 {
    -((1.0 - p) * (-epsilon).exp_m1()).ln_1p()
}

/// ε-LIP gives this LDP when only p is known: min{2ε, ln((e^ε - 1 + p)/p)}. JSTL21 Proposition 1.
pub fn ldp_from_lip(epsilon: f64, p: f64) -> f64 {
    (2.0 * epsilon).min((epsilon.exp_m1() / p).ln_1p())
}

/// The largest ratio of the lift of x (high) to the lift of x2 (low) that asymmetric LIP leaves open.
///
/// The minimum of e^(lower+upper), (e^lower - 1 + P(x))/P(x) and, if its denominator is positive,
/// P(x2)/(P(x2) - 1 + e^-upper): exact. JSTL21 Theorem 1 (9), solved in closed form.
pub fn likelihood_ratio(p_high: f64, p_low: f64, lower: f64, upper: f64) -> f64 {
    let both = (lower + upper).exp();
    let high = lower.exp_m1() / p_high + 1.0;
    let slack = p_low + (-upper).exp_m1();
    let low = if slack > 0.0 { p_low / slack } else { f64::INFINITY };
    both.min(high).min(low)
}

/// The exact LDP level of all mechanisms with asymmetric LIP under `prior`. JSTL21 Theorem 1 (9).
pub fn exact_ldp(prior: &Distribution, lower: f64, upper: f64) -> f64 {
    largest_over_pairs(prior, |high, low| likelihood_ratio(high, low, lower, upper)).ln()
}

/// The exact differential identifiability of all mechanisms with asymmetric LIP under `prior`:
/// the largest P(x)/P(x2)·R(x,x2). JSTL21 Theorem 3 and (10), solved in closed form.
pub fn exact_di(prior: &Distribution, lower: f64, upper: f64) -> f64 {
    largest_over_pairs(prior, |high, low| high / low * likelihood_ratio(high, low, lower, upper))
        .ln()
}

fn largest_over_pairs(prior: &Distribution, ratio: impl Fn(f64, f64) -> f64) -> f64 {
    let p = prior.as_slice();
    let mut largest = 1.0f64;
    for (x, &high) in p.iter().enumerate() {
        for (z, &low) in p.iter().enumerate() {
            if x != z {
                largest = largest.max(ratio(high, low));
            }
        }
    }
    largest
}

/// ε-DI gives exactly these LIP budgets (lower, upper) under `prior`: ln(Pmax(1+(M-1)E)) and
/// ln(E/((E+M-1)Pmin)). Replaces the looser printed form of JSTL21 Theorem 3.
pub fn lip_from_di(prior: &Distribution, epsilon: f64) -> (f64, f64) {
    let (e, others) = (epsilon.exp(), prior.len() as f64 - 1.0);
    let lower = (prior.max() * (1.0 + others * e)).ln();
    let upper = (e / ((e + others) * prior.min())).ln();
    (lower.max(0.0), upper.max(0.0))
}

/// The weight of the high value of a two-valued lift with ends e^-lower and e^upper and mean one.
pub fn high_weight(lower: f64, upper: f64) -> f64 {
    if lower == 0.0 || upper == 0.0 {
        return 0.0;
    }
    let below = -(-lower).exp_m1();
    below / (upper.exp_m1() + below)
}

/// Sharp bound on mutual information: π e^u u - (1-π) e^-l l. ZDS22 Proposition 1-2, sharpened;
/// ε tanh(ε/2) when both budgets are ε.
pub fn mutual_information(lower: f64, upper: f64) -> f64 {
    let high = high_weight(lower, upper);
    let low_part = if lower.is_finite() { (1.0 - high) * (-lower).exp() * lower } else { 0.0 };
    (high * upper.exp() * upper - low_part).max(0.0)
}

/// Sharp bound on the α-lift of any output: (π e^(αu) + (1-π) e^(-αl))^(1/α). ZDS22
/// Proposition 1-2, corrected: it is ln ℓ_α, not ℓ_α, that stays below ε_u.
pub fn alpha_lift(lower: f64, upper: f64, alpha: f64) -> f64 {
    log_alpha_lift(lower, upper, alpha).exp()
}

/// ln of [`alpha_lift`], the number that an `alphalift` guarantee bounds.
pub fn log_alpha_lift(lower: f64, upper: f64, alpha: f64) -> f64 {
    log_moment(lower, upper, alpha) / alpha
}

/// Sharp bound on Sibson's mutual information: ln(π e^(αu) + (1-π) e^(-αl))/(α-1). ZDS22
/// Proposition 1-3, sharpened.
pub fn sibson(lower: f64, upper: f64, alpha: f64) -> f64 {
    log_moment(lower, upper, alpha) / (alpha - 1.0)
}

/// ln of the α-th moment of the extreme two-valued lift, without overflow.
fn log_moment(lower: f64, upper: f64, alpha: f64) -> f64 {
    let high = high_weight(lower, upper);
    if high == 0.0 {
        return 0.0;
    }
    let log = if alpha * upper < 1.0 {
        // Small budgets: the excess over one directly, or its digits would be lost.
        let (rise, fall) = ((alpha * upper).exp_m1(), (-alpha * lower).exp_m1());
        (high * rise + (1.0 - high) * fall).ln_1p()
    } else {
        alpha * upper + (high + (1.0 - high) * (-alpha * (lower + upper)).exp()).ln()
    };
    log.max(0.0)
}

/// Maximal leakage under asymmetric LIP with M symbols: min{u, ln(M - (M-1)e^-l)}. JSTL21
/// Theorem 3, ZDS22 Proposition 1-2, sharpened.
pub fn maximal_leakage(lower: f64, upper: f64, symbols: f64) -> f64 {
    upper.min((symbols - (symbols - 1.0) * (-lower).exp()).ln())
}

/// Maximal leakage under ε-LDP with M symbols: ln(M e^ε/(e^ε + M - 1)), attained by k-ary
/// randomised response.
pub fn maximal_leakage_from_ldp(epsilon: f64, symbols: f64) -> f64 {
    epsilon - (epsilon.exp_m1() / symbols).ln_1p()
}

/// The most mutual information an ε-LDP mechanism can carry: C(ε) = D - 1 - ln D with
/// D = ε e^ε/(e^ε - 1); at most ε²/8. ST20 Theorem 1 (iv), (xi), sharpened.
pub fn capacity(epsilon: f64) -> f64 {
    if epsilon == 0.0 {
        return 0.0;
    }
    let excess = if epsilon < 1e-3 {
        // D - 1 by its series: the quotient would lose the digits that matter.
        epsilon / 2.0 + epsilon * epsilon / 12.0 - epsilon.powi(4) / 720.0
    } else {
        epsilon / -(-epsilon).exp_m1() - 1.0
    };
    if excess < 1e-3 {
        // x - ln(1+x) by its series, for the same reason.
        let x = excess;
        x * x * (0.5 - x * (1.0 / 3.0 - x * (0.25 - x * (0.2 - x / 6.0))))
    } else {
        excess - excess.ln_1p()
    }
}

/// Inference differential privacy to information privacy with the law of G known: the largest of
/// Σ p(g')e^(-dε) inverted and Σ p(g')e^(dε), d the Hamming distance of the indices. Exact. ST20
/// Theorem 1 (iii), sharpened. The law must have 2^q values.
pub fn infp_from_infdp(hypothesis: &Distribution, epsilon: f64) -> Result<(f64, f64), Error> {
    if !hypothesis.len().is_power_of_two() {
        let problem =
            format!("has {} values; binary secrets make a power of two", hypothesis.len());
        return Err(Error::other("the law of G", problem));
    }
    let p = hypothesis.as_slice();
    let sum = |g: usize, sign: f64| -> f64 {
        let far = |other: usize| f64::from((g ^ other).count_ones());
        p.iter().enumerate().map(|(other, p)| p * (sign * far(other) * epsilon).exp()).sum()
    };
    let lower = (0..p.len()).map(|g| sum(g, 1.0).ln()).fold(0.0, f64::max);
    let upper = (0..p.len()).map(|g| -sum(g, -1.0).ln()).fold(0.0, f64::max);
    Ok((lower, upper))
}

/// The lift range (lower, upper budgets) that a bound ln ℓ_α <= ε leaves to a symbol of
/// probability p: where p L^α + (1-p)((1-pL)/(1-p))^α reaches e^(αε). Exact for that symbol, and
/// worst for the rarest one because the left side grows with p.
pub fn lifts_from_alpha_lift(epsilon: f64, alpha: f64, p: f64) -> (f64, f64) {
    if epsilon == 0.0 || p >= 1.0 {
        return (0.0, 0.0);
    }
    if p <= 0.0 {
        return (f64::INFINITY, f64::INFINITY);
    }
    // Both sides less one, in the deviation d = L - 1; the parts linear in d cancel exactly.
    let excess = |d: f64| {
        let rest = (-p * d / (1.0 - p)).max(-1.0);
        p * beyond_linear(d, alpha) + (1.0 - p) * beyond_linear(rest, alpha)
    };
    let most = (alpha * epsilon).exp_m1();
    // Bisection that keeps the outer end outside, so that the answer errs upwards.
    let edge = |mut within: f64, mut outside: f64| {
        for _ in 0..200 {
            let middle = f64::midpoint(within, outside);
            if excess(middle) <= most { within = middle } else { outside = middle }
        }
        outside
    };
    let peak = 1.0 / p - 1.0;
    let upper = if excess(peak) <= most { peak } else { edge(0.0, peak) };
    let lower = if excess(-1.0) <= most { -1.0 } else { edge(0.0, -1.0) };
    (-lower.ln_1p(), upper.ln_1p())
}

/// (1+d)^α - 1 - αd; by its series where the difference would lose its digits. Infinite where the
/// power leaves the floats.
fn beyond_linear(d: f64, alpha: f64) -> f64 {
    if (alpha + 4.0) * d.abs() < 1e-2 {
        let next = |k: f64, tail: f64| 1.0 + (alpha - k + 1.0) / k * d * tail;
        let tail = next(3.0, next(4.0, next(5.0, next(6.0, 1.0))));
        alpha * (alpha - 1.0) / 2.0 * d * d * tail
    } else {
        (alpha * d.ln_1p()).exp_m1() - alpha * d
    }
}

/// How far a lift may fall when no lift exceeds e^upper: -ln(U - (U-1)/p), infinite if it may reach
/// zero. Exact for the rarest symbol.
pub fn lower_from_upper(upper: f64, p: f64) -> f64 {
    let floor = 1.0 - upper.exp_m1() * (1.0 / p - 1.0);
    if upper == 0.0 {
        0.0
    } else if floor > 0.0 {
        -floor.ln()
    } else {
        f64::INFINITY
    }
}

/// How far a lift may rise when none falls below e^-lower: ln(1 + (1-e^-lower)(1/p - 1)). Exact for
/// the rarest symbol.
pub fn upper_from_lower(lower: f64, p: f64) -> f64 {
    if lower == 0.0 { 0.0 } else { (-(-lower).exp_m1() * (1.0 / p - 1.0)).ln_1p() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-12 * (1.0 + a.abs().min(b.abs())), "{a} {b}");
    }

    #[test]
    fn symmetric_budgets_give_the_hyperbolic_tangent() {
        for epsilon in [0.0, 1e-6, 0.3, 1.0, 5.0] {
            close(mutual_information(epsilon, epsilon), epsilon * (epsilon / 2.0).tanh());
        }
    }

    #[test]
    fn without_a_lower_side_everything_is_the_upper_budget() {
        for upper in [0.0, 0.4, 2.0] {
            close(mutual_information(f64::INFINITY, upper), upper);
            close(sibson(f64::INFINITY, upper, 3.0), upper);
            close(alpha_lift(f64::INFINITY, upper, 3.0).ln(), upper * 2.0 / 3.0);
        }
    }

    #[test]
    fn capacity_is_smooth_across_its_series() {
        for (a, b) in [(0.000_999_999, 0.001_000_001), (0.001_998, 0.002_002)] {
            let slope = (capacity(b) - capacity(a)) / (b - a);
            assert!((slope - a / 4.0).abs() < 1e-5, "{slope}");
        }
        assert!(capacity(1e-6) > 0.0 && capacity(1e-6) <= 1e-12 / 8.0);
        assert!(capacity(0.0) == 0.0);
    }

    #[test]
    fn the_alpha_lift_edges_invert_it() {
        for (epsilon, alpha, p) in [(0.1, 2.0, 0.2), (0.5, 4.0, 0.05), (0.01, 1.5, 0.5)] {
            let (lower, upper) = lifts_from_alpha_lift(epsilon, alpha, p);
            for lift in [(-lower).exp(), upper.exp()] {
                let rest = (1.0 - p * lift) / (1.0 - p);
                let moment = p * lift.powf(alpha) + (1.0 - p) * rest.powf(alpha);
                if lift > 0.0 && lift < 1.0 / p {
                    close(moment.ln() / alpha, epsilon);
                }
            }
        }
    }

    #[test]
    fn one_side_of_the_lift_bounds_the_other() {
        // Two symbols, p and 1-p: one at its end fixes the other.
        let (p, upper) = (0.3f64, 0.2f64);
        let other = (1.0 - (1.0 - p) * upper.exp()) / p;
        close(lower_from_upper(upper, p), -other.ln());
        close(upper_from_lower(0.4, p), ((1.0 - (1.0 - p) * (-0.4f64).exp()) / p).ln());
        assert_eq!(lower_from_upper(1.0, p), f64::INFINITY);
    }
}
