//! Expectation maximisation with extrapolation.
//!
//! One step shares out every report among the symbols it may stand for, in proportion to their
//! likelihood, and takes the resulting counts as the new shares. It never lowers the likelihood but
//! can crawl; two steps point to where it is heading (SQUAREM, Varadhan and Roland 2008), and the
//! jump is kept only if it does not lower the likelihood either.
//!
//! How far the top can be is known at every point: the log-likelihood L is concave, so nothing is
//! higher than L(p) + max_x ∂L/∂p(x) - Σ p(x) ∂L/∂p(x). Climbing ends when that is small, not when
//! the last step was.

use crate::mle::bits::BitGroup;
use crate::mle::law::LinearLaw;
use crate::pool::Group;
use undertone_numeric::vector::long_dot;

/// The likelihood of counts.
pub(super) struct Problem<'a> {
    /// Laws of single outputs, and how often each was seen.
    outputs: Vec<(&'a dyn LinearLaw, Vec<f64>)>,
    /// Policies whose reports are bits, or too many blocks.
    bits: Vec<BitGroup>,
    /// Whether some of them are blocks.
    blocks: bool,
    /// How many blocks are summed over in every step.
    summed: usize,
}

/// Blocks times steps that are climbed at most: about a second.
const MOST_WORK: usize = 1 << 23;

/// Where climbing ended.
pub(super) struct Climbed {
    pub(super) shares: Vec<f64>,
    pub(super) log_likelihood: f64,
    pub(super) gap: f64,
    pub(super) steps: usize,
    pub(super) converged: bool,
}

/// One step, and what is known of the point it was taken from.
struct Step {
    next: Vec<f64>,
    log_likelihood: f64,
    gap: f64,
}

impl<'a> Problem<'a> {
    /// The counts of one law, all of which are possible.
    pub(super) fn of(law: &'a dyn LinearLaw, counts: Vec<f64>) -> Self {
        Self { outputs: vec![(law, counts)], bits: Vec::new(), blocks: false, summed: 0 }
    }

    /// The counts of a pool.
    pub(super) fn new(groups: &'a [Group]) -> Self {
        let mut problem = Self { outputs: Vec::new(), bits: Vec::new(), blocks: false, summed: 0 };
        for group in groups {
            if let Some((law, counts)) = group.climbed_outputs() {
                problem.summed += group.channel.bits().map_or(0, |_| counts.len());
                // An output that no symbol gives says nothing about shares; drift reports it.
                let everyone = law.law(&vec![1.0 / law.inputs() as f64; law.inputs()]);
                let possible =
                    |(&count, law): (&u64, f64)| if law > 0.0 { count as f64 } else { 0.0 };
                problem.outputs.push((law, counts.iter().zip(everyone).map(possible).collect()));
            } else if let Some(bits) = group.channel.bits() {
                let counts = group.tally.counts().iter().map(|&count| count as f64);
                problem.bits.push(BitGroup::new(bits, group.reports(), counts.collect()));
                problem.blocks |= bits.blocks().is_some();
            }
        }
        problem
    }

    pub(super) fn note(&self, how: &str) -> String {
        if self.bits.is_empty() {
            how.into()
        } else if self.blocks {
            format!(
                "{how}, of the symbols' counts as if they were independent: there are too many blocks to climb to the maximum of the whole likelihood"
            )
        } else {
            format!(
                "{how}, of the bit counts as if bits were independent: a tally does not keep which bits were set together"
            )
        }
    }

    /// Fewer steps than `most`, where they take long.
    pub(super) fn most_steps(&self, most: usize) -> usize {
        MOST_WORK.checked_div(self.summed).map_or(most, |steps| steps.clamp(100, most))
    }

    /// The shares that maximise the bits' part plus Σ expected(x) ln share(x).
    pub(super) fn shares_from(&self, expected: &[f64], start: &[f64]) -> Vec<f64> {
        super::bits::maximise(&self.bits, expected, start)
    }

    /// The log-likelihood at `p`, and how far the top can be above it.
    pub(super) fn certify(&self, p: &[f64]) -> (f64, f64) {
        let (log_likelihood, slopes) = self.slopes(p);
        (log_likelihood, gap(p, &slopes))
    }

    /// The log-likelihood and its derivative by every share; a symbol without a share, where an output
    /// only it explains was seen, makes it minus infinity.
    fn slopes(&self, p: &[f64]) -> (f64, Vec<f64>) {
        let (mut log_likelihood, mut slopes) = (0.0, vec![0.0; p.len()]);
        for (channel, counts) in &self.outputs {
            let mut law = vec![0.0; channel.outputs()];
            channel.forward_into(p, &mut law);
            for (law, &count) in law.iter_mut().zip(counts) {
                if count > 0.0 {
                    log_likelihood += count * law.ln();
                    *law = count / *law;
                } else {
                    *law = 0.0;
                }
            }
            let mut means = vec![0.0; p.len()];
            channel.back_into(&law, &mut means);
            for (slope, back) in slopes.iter_mut().zip(means) {
                *slope += back;
            }
        }
        for group in &self.bits {
            log_likelihood += group.log_likelihood(p);
            group.add_slopes(p, &mut slopes);
        }
        (log_likelihood, slopes)
    }

    fn step(&self, p: &[f64]) -> Step {
        let (log_likelihood, mut slopes) = self.slopes(p);
        let gap = gap(p, &slopes);
        if !self.bits.is_empty() {
            let mut by_bits = vec![0.0; p.len()];
            self.bits.iter().for_each(|group| group.add_slopes(p, &mut by_bits));
            slopes.iter_mut().zip(&by_bits).for_each(|(slope, bits)| *slope -= bits);
        }
        // Slopes of the outputs' part times shares are the expected counts.
        let mut next: Vec<f64> = slopes.iter().zip(p).map(|(slope, p)| slope * p).collect();
        if self.bits.is_empty() {
            normalise(&mut next);
        } else {
            next = super::bits::maximise(&self.bits, &next, p);
        }
        Step { next, log_likelihood, gap }
    }

    /// Plain steps from `start` until no share moves by `tolerance` or more; for policies whose reports
    /// are single outputs. Neither likelihood nor gap is looked at on the way.
    pub(super) fn iterate(&self, start: &[f64], tolerance: f64, most: usize) -> (Vec<f64>, usize) {
        let total: f64 = self.outputs.iter().flat_map(|(_, counts)| counts).sum();
        let mut laws: Vec<Vec<f64>> =
            self.outputs.iter().map(|(channel, _)| vec![0.0; channel.outputs()]).collect();
        let (mut p, mut means) = (start.to_vec(), vec![0.0; start.len()]);
        let mut factors = vec![0.0; start.len()];
        for step in 1..=most {
            factors.fill(0.0);
            for ((channel, counts), law) in self.outputs.iter().zip(&mut laws) {
                channel.forward_into(&p, law);
                for (law, &count) in law.iter_mut().zip(counts) {
                    *law = if count > 0.0 { count / *law } else { 0.0 };
                }
                channel.back_into(law, &mut means);
                factors.iter_mut().zip(&means).for_each(|(factor, mean)| *factor += mean);
            }
            let mut farthest = 0.0f64;
            for (p, factor) in p.iter_mut().zip(&factors) {
                let next = *p * factor / total;
                farthest = farthest.max((next - *p).abs());
                *p = next;
            }
            if farthest < tolerance {
                return (p, step);
            }
        }
        (p, most)
    }

    /// Climbs from `start` until at most `tolerance` of the log-likelihood can be left to gain.
    pub(super) fn climb(&self, start: &[f64], tolerance: f64, most: usize) -> Climbed {
        let mut here = start.to_vec();
        let mut best: Option<Climbed> = None;
        let mut steps = 0;
        let mut largest = 1.0f64;
        loop {
            let first = self.step(&here);
            steps += 1;
            let small = first.gap <= tolerance * first.log_likelihood.abs().max(1.0);
            // Near the top rounding decides which of two points is higher; the certified one is taken.
            let higher = |best: &Climbed| first.log_likelihood >= best.log_likelihood;
            if small || best.as_ref().is_none_or(higher) {
                best = Some(Climbed {
                    shares: here.clone(),
                    log_likelihood: first.log_likelihood,
                    gap: first.gap,
                    steps,
                    converged: small,
                });
            }
            if small || steps >= most {
                break;
            }
            let second = self.step(&first.next);
            steps += 1;
            // The first difference, and how it changes.
            let ahead: Vec<f64> = first.next.iter().zip(&here).map(|(b, a)| b - a).collect();
            let bend: Vec<f64> = (second.next.iter().zip(&first.next).zip(&ahead))
                .map(|((c, b), ahead)| c - b - ahead)
                .collect();
            let (length, curvature) =
                (long_dot(&ahead, &ahead).sqrt(), long_dot(&bend, &bend).sqrt());
            let reach =
                if curvature > 0.0 { (length / curvature).clamp(1.0, largest) } else { 1.0 };
            if reach == largest {
                largest *= 4.0;
            }
            if reach <= 1.0 {
                here = second.next;
                continue;
            }
            // No share is thrown to zero, from where no step leads back.
            let far = |at: usize| {
                let jump = here[at] + reach * (2.0 * ahead[at] + reach * bend[at]);
                jump.max(0.01 * second.next[at])
            };
            let mut jumped: Vec<f64> = (0..here.len()).map(far).collect();
            normalise(&mut jumped);
            let third = self.step(&jumped);
            steps += 1;
            if third.log_likelihood >= second.log_likelihood {
                here = third.next;
            } else {
                here = second.next;
                largest = (largest / 4.0).max(1.0);
            }
        }
        match best {
            Some(best) => Climbed { steps, ..best },
            None => Climbed {
                shares: start.to_vec(),
                log_likelihood: f64::NEG_INFINITY,
                gap: f64::INFINITY,
                steps,
                converged: false,
            },
        }
    }
}

/// max slope - Σ p slope, which bounds what is left to gain.
fn gap(p: &[f64], slopes: &[f64]) -> f64 {
    let steepest = slopes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (steepest - long_dot(p, slopes)).max(0.0)
}

fn normalise(p: &mut [f64]) {
    let total: f64 = p.iter().sum();
    if total > 0.0 {
        p.iter_mut().for_each(|p| *p /= total);
    }
}
