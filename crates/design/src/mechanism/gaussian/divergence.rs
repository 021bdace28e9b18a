//! E-divergence of normal laws.

use crate::Error;
use crate::density::{Component, Normal};
use crate::extremal::LiftRange;
use undertone_numeric::normal::normal_cdf;

/// E_γ(first || second) = ∫ (first - γ second)_+, for finite γ >= 0. JSTL21 Lemma 4 (23) is one of the
/// cases, (24) another.
///
/// Where the two deviations are equal the log-ratio is a line and there is one crossing. Otherwise it
/// is a parabola, open upwards where the first law is the wider one: the excess lies outside its roots,
/// or everywhere if it has none; open downwards, between them, or nowhere.
pub fn between(first: &Normal, second: &Normal, gamma: f64) -> Result<f64, Error> {
    if !(gamma >= 0.0 && gamma.is_finite()) {
        return Err(Error::range("gamma", gamma, "finite and at least 0"));
    }
    if gamma == 0.0 {
        return Ok(1.0);
    }
    let (wide, narrow) = (first.deviation(), second.deviation());
    let apart = first.mean() - second.mean();
    if wide == narrow {
        let distance = apart.abs() / wide;
        if distance == 0.0 {
            return Ok((1.0 - gamma).max(0.0));
        }
        let unit = |z: f64| normal_cdf(z);
        let cut = gamma.ln() / distance;
        return Ok((unit(distance / 2.0 - cut) - gamma * unit(-distance / 2.0 - cut)).max(0.0));
    }
    // ln(first / γ second) = a t² + b t + c, t measured from the second mean.
    let a = 0.5 / (narrow * narrow) - 0.5 / (wide * wide);
    let b = apart / (wide * wide);
    let c = -0.5 * (apart / wide).powi(2) + (narrow / wide).ln() - gamma.ln();
    let discriminant = b * b - 4.0 * a * c;
    if !(discriminant > 0.0) {
        return Ok(if a > 0.0 { (1.0 - gamma).max(0.0) } else { 0.0 });
    }
    // The root without cancellation first, the other from the product.
    let q = -0.5 * (b + discriminant.sqrt().copysign(b));
    let (one, other) = (second.mean() + q / a, second.mean() + c / q);
    let (low, high) = (one.min(other), one.max(other));
    let inside = |law: &Normal| law.between(low, high);
    let outside = |law: &Normal| law.below(low) + law.above(high);
    let excess = if a > 0.0 {
        outside(first) - gamma * outside(second)
    } else {
        inside(first) - gamma * inside(second)
    };
    Ok(excess.max(0.0))
}

/// The two excess masses of one input: A_x above the bound, B_x below it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sides {
    /// E_{e^ε}(f_x || f_Y).
    pub above: f64,
    /// E_{e^ε}(f_Y || f_x).
    pub below: f64,
}

impl Sides {
    /// The larger of the two: JSTL21 Corollary 9.
    pub fn conditional(&self) -> f64 {
        self.above.max(self.below)
    }
}

/// Both excess masses of a normal law against a mixture none of whose parts is narrower.
///
/// ln(mixture/law) is a log-sum of exponentials of convex parabolas, so convex: the law exceeds the
/// mixture on an interval and falls short of it outside another. From either side Newton's steps
/// approach an end of such an interval without passing it.
pub fn against_wider(law: &Normal, mixture: &[Component], epsilon: f64) -> Result<Sides, Error> {
    let odds = LiftRange::symmetric(epsilon)?.high();
    if mixture.is_empty() {
        return Err(Error::Empty { what: "the mixture".into() });
    }
    if let Some(part) = mixture.iter().find(|part| part.law.deviation() < law.deviation()) {
        let least = format!("at least the law's, {}", law.deviation());
        return Err(Error::range("a component's deviation", part.law.deviation(), least));
    }
    let ratio = LogRatio { law, mixture };
    let total = |mass: &dyn Fn(&Normal) -> f64| {
        mixture.iter().map(|part| part.weight * mass(&part.law)).sum::<f64>()
    };
    let above = match ratio.at_most(-epsilon) {
        None => 0.0,
        Some((low, high)) => {
            let inside = |law: &Normal| law.between(low, high);
            inside(law) - odds * total(&inside)
        }
    };
    let below = match ratio.at_most(epsilon) {
        // Never below: only two equal laws at ε = 0.
        None => 0.0,
        Some((low, high)) => {
            let outside = |law: &Normal| law.below(low) + law.above(high);
            total(&outside) - odds * outside(law)
        }
    };
    Ok(Sides { above: above.max(0.0), below: below.max(0.0) })
}

/// ln(mixture/law), a convex function.
struct LogRatio<'a> {
    law: &'a Normal,
    mixture: &'a [Component],
}

impl LogRatio<'_> {
    /// The value and the slope at `y`.
    fn at(&self, y: f64) -> (f64, f64) {
        let slope_of = |law: &Normal| -law.score(y) / law.deviation();
        let mut top = f64::NEG_INFINITY;
        for part in self.mixture {
            top = top.max(part.weight.ln() + part.law.ln_density(y));
        }
        let (mut sum, mut slope) = (0.0, 0.0);
        for part in self.mixture {
            let mass = (part.weight.ln() + part.law.ln_density(y) - top).exp();
            sum += mass;
            slope += mass * slope_of(&part.law);
        }
        (top + sum.ln() - self.law.ln_density(y), slope / sum - slope_of(self.law))
    }

    /// The interval on which the value is at most `level`, cut where nothing of either law is left.
    fn at_most(&self, level: f64) -> Option<(f64, f64)> {
        const FAR: f64 = 40.0;
        let laws = || self.mixture.iter().map(|part| &part.law).chain([self.law]);
        let low = laws().map(|l| l.mean() - FAR * l.deviation()).fold(f64::INFINITY, f64::min);
        let high = laws().map(|l| l.mean() + FAR * l.deviation()).fold(f64::NEG_INFINITY, f64::max);
        Some((self.approach(low, 1.0, level, high)?, self.approach(high, -1.0, level, low)?))
    }

    /// The first place from `start` towards `stop` (to the right if `towards` is 1, else to the left)
    /// where the value is at most `level`.
    fn approach(&self, start: f64, towards: f64, level: f64, stop: f64) -> Option<f64> {
        let mut y = start;
        for _ in 0..1000 {
            let (value, slope) = self.at(y);
            if value <= level {
                return Some(y);
            }
            // Past the least value without having met the level.
            if !(slope * towards < 0.0) {
                return None;
            }
            let next = y + (level - value) / slope;
            if (stop - next) * towards < 0.0 {
                return None;
            }
            if next == y || (next - y).abs() <= 1e-15 * (next.abs() + self.law.deviation()) {
                return Some(next);
            }
            y = next;
        }
        Some(y)
    }
}
