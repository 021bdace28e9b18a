//! The closed forms behind the rules: one function per formula, in nats, corrected and sharp.
//!
//! `p` is the smallest probability of the secret, `lower` and `upper` the two budgets of asymmetric
//! LIP; an infinite `lower` means no bound on that side.

use undertone_design::measure::moment::{self, Weighed, information};
use undertone_design::{Distribution, Error};
use undertone_numeric::bisection::Bracket;

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
    if epsilon < 1.0 {
        -((1.0 - p) * (-epsilon).exp_m1()).ln_1p()
    } else {
        // Both terms of the sum are positive; as a difference from one they would cancel where p is tiny.
        -(p + (1.0 - p) * (-epsilon).exp()).ln()
    }
}

/// ε-LIP gives this LDP when only p is known: min{2ε, ln((e^ε - 1 + p)/p)}. JSTL21 Proposition 1.
pub fn ldp_from_lip(epsilon: f64, p: f64) -> f64 {
    (2.0 * epsilon).min((epsilon.exp_m1() / p).ln_1p())
}

/// ln of the largest ratio of the lift of x (high) to the lift of x2 (low) that asymmetric LIP leaves open.
///
/// The ratio is the minimum of e^(lower+upper), (e^lower - 1 + P(x))/P(x) and, if its denominator is
/// positive, P(x2)/(P(x2) - 1 + e^-upper): exact. JSTL21 Theorem 1 (9), solved in closed form.
pub fn log_likelihood_ratio(p_high: f64, p_low: f64, lower: f64, upper: f64) -> f64 {
    // Lifts of one symbol average to one over outputs: no room on one side, none on the other.
    if lower == 0.0 || upper == 0.0 {
        return 0.0;
    }
    let high = (lower.exp_m1() / p_high).ln_1p();
    (lower + upper).min(high).min(fall(-(-upper).exp_m1() / p_low, upper))
}

/// The exact LDP level of all mechanisms with asymmetric LIP under `prior`. JSTL21 Theorem 1 (9).
///
/// [`log_likelihood_ratio`] falls in both masses, so the two rarest symbols attain the largest.
pub fn exact_ldp(prior: &Distribution, lower: f64, upper: f64) -> f64 {
    let (least, second) = two_least(prior.as_slice());
    let ratio = |high, low| log_likelihood_ratio(high, low, lower, upper);
    second.map_or(0.0, |second| ratio(least, second).max(ratio(second, least)))
}

/// The exact differential identifiability of all mechanisms with asymmetric LIP under `prior`:
/// the largest P(x)/P(x2)·R(x,x2). JSTL21 Theorem 3 and (10), solved in closed form.
///
/// P(x)·R(x,x2) rises with P(x) and R(x,x2)/P(x2) falls with P(x2), so the likeliest symbol against the
/// rarest attains the largest.
pub fn exact_di(prior: &Distribution, lower: f64, upper: f64) -> f64 {
    if prior.len() < 2 {
        return 0.0;
    }
    let (most, least) = (prior.max(), prior.min());
    (most / least).ln() + log_likelihood_ratio(most, least, lower, upper)
}

/// The smallest number and the one after it, equal to the smallest if that occurs twice.
fn two_least(values: &[f64]) -> (f64, Option<f64>) {
    let (mut least, mut second) = (f64::INFINITY, None);
    for &value in values {
        if value < least {
            second = least.is_finite().then_some(least);
            least = value;
        } else if second.is_none_or(|second| value < second) {
            second = Some(value);
        }
    }
    (least, second)
}

/// ε-DI gives exactly these LIP budgets (lower, upper) under `prior`: ln(Pmax(1+(M-1)E)) and
/// ln(E/((E+M-1)Pmin)). Replaces the looser printed form of JSTL21 Theorem 3.
pub fn lip_from_di(prior: &Distribution, epsilon: f64) -> (f64, f64) {
    let (e, others) = (epsilon.exp(), prior.len() as f64 - 1.0);
    let lower = (prior.max() * (1.0 + others * e)).ln();
    let upper = (e / ((e + others) * prior.min())).ln();
    (lower.max(0.0), upper.max(0.0))
}

/// The lift with ends e^-lower and e^upper and mean one, low end first: every bound on an average of a convex
/// function of the lift is attained by it. Nothing if an end is at one.
fn two_valued(lower: f64, upper: f64) -> Option<[Weighed; 2]> {
    if lower == 0.0 || upper == 0.0 {
        return None;
    }
    let (fall, rise) = ((-lower).exp_m1(), upper.exp_m1());
    let end = |part: f64, deviation: f64, log_lift: f64| {
        let log_weight = (part / (rise - fall)).ln();
        Weighed { log_weight, deviation, log_lift }
    };
    Some([end(rise, fall, -lower), end(-fall, rise, upper)])
}

/// Sharp bound on mutual information: π e^u u - (1-π) e^-l l. ZDS22 Proposition 1-2, sharpened;
/// ε tanh(ε/2) when both budgets are ε.
pub fn mutual_information(lower: f64, upper: f64) -> f64 {
    let term = |end: Weighed| end.log_weight.exp() * information(end.deviation);
    two_valued(lower, upper).map_or(0.0, |ends| ends.into_iter().map(term).sum())
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
    two_valued(lower, upper)
        .map_or(0.0, |ends| moment::log_moment(ends.into_iter(), alpha).max(0.0))
}

/// Maximal leakage under asymmetric LIP with M symbols: min{u, ln(M - (M-1)e^-l)}. JSTL21
/// Theorem 3, ZDS22 Proposition 1-2, sharpened.
pub fn maximal_leakage(lower: f64, upper: f64, symbols: f64) -> f64 {
    upper.min((-(symbols - 1.0) * (-lower).exp_m1()).ln_1p())
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
    let largest = |values: Vec<f64>, sign: f64| {
        values.into_iter().map(|sum| sign * sum.ln()).fold(0.0, f64::max)
    };
    let lower = largest(hamming_sums(hypothesis.as_slice(), epsilon), 1.0);
    let upper = largest(hamming_sums(hypothesis.as_slice(), -epsilon), -1.0);
    Ok((lower, upper))
}

/// Σ over g' of p(g')e^(d(g,g')·ε), d the Hamming distance, for every g: one bit at a time, since the
/// exponential of the distance is a product over the bits.
fn hamming_sums(p: &[f64], epsilon: f64) -> Vec<f64> {
    let step = epsilon.exp();
    let mut sums = p.to_vec();
    let mut bit = 1;
    while bit < sums.len() {
        for g in (0..sums.len()).filter(|g| g & bit == 0) {
            let (a, b) = (sums[g], sums[g | bit]);
            (sums[g], sums[g | bit]) = (a + step * b, step * a + b);
        }
        bit *= 2;
    }
    sums
}

/// The lift range (lower, upper budgets) that a bound ln ℓ_α <= ε leaves to a symbol of
/// probability p: where p L^α + (1-p)((1-pL)/(1-p))^α reaches e^(αε). Exact for that symbol, and
/// worst for the rarest one because the left side grows with p.
pub fn lifts_from_alpha_lift(epsilon: f64, alpha: f64, p: f64) -> (f64, f64) {
    // The α-lift does not see a symbol without mass, whatever its budget.
    if p <= 0.0 {
        return (f64::INFINITY, f64::INFINITY);
    }
    if epsilon == 0.0 || p >= 1.0 {
        return (0.0, 0.0);
    }
    // In logarithms: the powers themselves leave the floats from order 82 on at p = 1e-4.
    let allowed = |d: f64| {
        let rest = (-p * d / (1.0 - p)).max(-1.0);
        let end = |weight: f64, deviation: f64| {
            let log_lift = deviation.ln_1p();
            Weighed { log_weight: weight.ln(), deviation, log_lift }
        };
        moment::log_moment([end(p, d), end(1.0 - p, rest)].into_iter(), alpha) <= alpha * epsilon
    };
    // Bisection that keeps the outer end outside, so that the answer errs upwards.
    let edge = |within: f64, outside: f64| {
        Bracket { holds: within, fails: outside }.halve(200, allowed).fails
    };
    let peak = 1.0 / p - 1.0;
    let upper = if allowed(peak) { peak } else { edge(0.0, peak) };
    let lower = if allowed(-1.0) { -1.0 } else { edge(0.0, -1.0) };
    (-lower.ln_1p(), upper.ln_1p())
}

/// How far a lift may fall when no lift exceeds e^upper: -ln(U - (U-1)/p), infinite if it may reach
/// zero. Exact for the rarest symbol.
pub fn lower_from_upper(upper: f64, p: f64) -> f64 {
    if upper == 0.0 { 0.0 } else { fall(upper.exp_m1() * (1.0 / p - 1.0), upper) }
}

/// -ln(1 - share), infinite from one on, rounded outward: near one the last digits of the share, and of the
/// budget it was computed from, decide everything.
fn fall(share: f64, budget: f64) -> f64 {
    let share = share * (1.0 + 16.0 * f64::EPSILON * (1.0 + budget));
    if share < 1.0 { -(-share).ln_1p() } else { f64::INFINITY }
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
