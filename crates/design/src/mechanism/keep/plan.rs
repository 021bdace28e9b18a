//! What the base must be for given λ, and which λ is best.
//!
//! Let the first n symbols by probability be released, with λ for all but the likeliest, which has `lead` >= λ.
//! Output y has probability P(y)λ(y) + κ b(y), κ = Σ P(1-λ), and the claim (odds `up` for belief that rises, `down`
//! for belief that falls) asks
//!
//! * of its own lift: λ(y) + (1-λ(y))b(y) <= up (P(y)λ(y) + κ b(y)), that is
//!   b(y) >= λ(y)(1 - up P(y))/(up κ - 1 + λ(y));
//! * of the most kept other symbol, kept with probability m: down (1-m) b(y) >= P(y)λ(y) + κ b(y), that is
//!   b(y) >= λ(y)P(y)/(down (1-m) - κ);
//! * of a symbol never released: b(y) <= up (P(y)λ(y) + κ b(y)), which up κ >= 1 implies.
//!
//! So the base has a floor at every released symbol, and (λ, lead, n) is feasible if the floors sum to at most
//! one. They grow with λ, hence the largest λ of a prefix by bisection. The likeliest symbol's own λ does not
//! enter its own second floor, which is why a lead can pay.

use super::maximise;
use crate::extremal::LiftRange;
use crate::{Distribution, Error};
use undertone_numeric::bisection::Bracket;

/// λ and the base, in the prior's order.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) keep: Vec<f64>,
    pub(super) base: Vec<f64>,
}

impl Plan {
    /// Σ P(x) (1 - λ(x)) (1 - b(x)).
    pub(super) fn loss(&self, prior: &Distribution) -> f64 {
        let cell = |x: usize| prior[x] * (1.0 - self.keep[x]) * (1.0 - self.base[x]);
        (0..prior.len()).map(cell).sum()
    }

    /// E|X - Y|: an input that is not kept is answered from the base, and distances to the base follow from running
    /// sums over the sorted values.
    pub(super) fn absolute(&self, prior: &Distribution, values: &[f64]) -> f64 {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
        let mean: f64 = values.iter().zip(&self.base).map(|(v, b)| v * b).sum();
        let (mut below, mut sum_below, mut total) = (0.0, 0.0, 0.0);
        for x in order {
            let v = values[x];
            // Σ_y b(y)|v - v_y|, split at v.
            let distance = v * below - sum_below + (mean - sum_below) - v * (1.0 - below);
            total += prior[x] * (1.0 - self.keep[x]) * distance;
            below += self.base[x];
            sum_below += self.base[x] * v;
        }
        total
    }

    /// E(X - Y)².
    pub(super) fn squared(&self, prior: &Distribution, values: &[f64]) -> f64 {
        let moment = |power: i32| -> f64 {
            values.iter().zip(&self.base).map(|(v, b)| v.powi(power) * b).sum()
        };
        let (first, second) = (moment(1), moment(2));
        let term = |x: usize| {
            let distance = values[x] * values[x] - 2.0 * values[x] * first + second;
            prior[x] * (1.0 - self.keep[x]) * distance
        };
        (0..values.len()).map(term).sum()
    }

    /// The expected loss by a table of losses.
    pub(super) fn expected(&self, prior: &Distribution, losses: &[Vec<f64>]) -> f64 {
        let term = |x: usize| {
            let drawn: f64 = losses[x].iter().zip(&self.base).map(|(loss, b)| loss * b).sum();
            prior[x] * (self.keep[x] * losses[x][x] + (1.0 - self.keep[x]) * drawn)
        };
        (0..losses.len()).map(term).sum()
    }

    /// Trace of the inverse Fisher information of the frequencies, in linear time; infinite unless
    /// every symbol is kept at times.
    ///
    /// Column y is λ(y)e_y + b(y)ρ, ρ = 1-λ, so S = diag(λ²/m) + uρᵀ + ρuᵀ + cρρᵀ with m the output's law,
    /// u = λb/m and c = Σ b²/m; Woodbury's identity leaves a two by two matrix.
    pub(super) fn frequency(&self, prior: &Distribution) -> f64 {
        let missing: f64 = (0..prior.len()).map(|x| prior[x] * (1.0 - self.keep[x])).sum();
        let (mut trace, mut c) = (0.0, 0.0);
        // Uᵀ D⁻¹ U and Uᵀ D⁻² U for U = [u, ρ].
        let (mut once, mut twice) = ([0.0; 3], [0.0; 3]);
        for x in 0..prior.len() {
            let (kept, b) = (self.keep[x], self.base[x]);
            let law = prior[x] * kept + missing * b;
            if !(kept > 0.0 && law > 0.0) {
                return f64::INFINITY;
            }
            let inverse = law / (kept * kept);
            let (u, rho) = (kept * b / law, 1.0 - kept);
            trace += inverse;
            c += b * b / law;
            for (at, product) in [u * u, u * rho, rho * rho].into_iter().enumerate() {
                once[at] += inverse * product;
                twice[at] += inverse * inverse * product;
            }
        }
        // [[-c, 1], [1, 0]] is the inverse of [[0, 1], [1, c]].
        let (a, b, d) = (once[0] - c, once[1] + 1.0, once[2]);
        let determinant = a * d - b * b;
        let removed = (d * twice[0] - 2.0 * b * twice[1] + a * twice[2]) / determinant;
        let squares: f64 = prior.as_slice().iter().map(|p| p * p).sum();
        trace - removed - squares
    }
}

/// The symbols by probability, with running sums.
pub(super) struct Symbols {
    order: Vec<usize>,
    p: Vec<f64>,
    /// Σ P and Σ P² over the first n.
    sums: Vec<(f64, f64)>,
    up: f64,
    down: f64,
}

/// How often symbols are kept.
#[derive(Clone, Copy)]
struct Rates {
    lead: f64,
    lambda: f64,
    count: usize,
}

/// Floors of the base at given rates.
struct Floors {
    rates: Rates,
    /// The floor of the likeliest symbol.
    first: f64,
    /// b(y) >= λ·max(P(y)·fall, (1 - up P(y))·rise, 0) for the others.
    fall: f64,
    rise: f64,
    /// How many symbols, the likeliest included, come before those held by the second term.
    heavy: usize,
    /// What the floors leave of the base.
    left: f64,
}

impl Symbols {
    pub(super) fn new(prior: &Distribution, range: LiftRange) -> Self {
        let mut order: Vec<usize> = (0..prior.len()).collect();
        order.sort_by(|&a, &b| prior[b].total_cmp(&prior[a]));
        let p: Vec<f64> = order.iter().map(|&x| prior[x]).collect();
        let mut sums = vec![(0.0, 0.0)];
        for (at, p) in p.iter().enumerate() {
            sums.push((sums[at].0 + p, sums[at].1 + p * p));
        }
        Self { order, p, sums, up: range.high(), down: 1.0 / range.low() }
    }

    /// The floors at these rates; `None` if no base satisfies them.
    fn floors(&self, rates: Rates) -> Option<Floors> {
        let Rates { lead, lambda, count } = rates;
        let (top, s) = (self.p[0], self.sums[count].0);
        let kappa = 1.0 - lambda * s - (lead - lambda) * top;
        let others = if count > 1 { lambda } else { 0.0 };
        let positive = |room: f64| (room > 0.0).then_some(1.0 / room);
        let first = {
            let fall = positive(self.down * (1.0 - others) - kappa)?;
            let rise = positive(self.up * kappa - 1.0 + lead)?;
            lead * (top * fall).max((1.0 - self.up * top) * rise)
        };
        let fall = positive(self.down * (1.0 - lead) - kappa)?;
        let rise = positive(self.up * kappa - 1.0 + lambda)?;
        // Where the two terms meet; likelier symbols are held by the first.
        let meet = rise / (fall + self.up * rise);
        let heavy = 1 + self.p[1..count].partition_point(|p| *p >= meet);
        let (h, one) = (self.sums[heavy].0, self.sums[1].0);
        let light = (count - heavy) as f64 - self.up * (s - h);
        let left = 1.0 - first - lambda * ((h - one) * fall + light * rise);
        // A symbol that is never released must not become too likely either.
        let safe = count == self.p.len() || self.up * kappa >= 1.0;
        (left >= 0.0 && safe).then_some(Floors { rates, first, fall, rise, heavy, left })
    }

    /// The largest t in [from, 1] for which `rates(t)` is feasible, given that those below it are.
    fn largest(&self, from: f64, rates: impl Fn(f64) -> Rates) -> f64 {
        self.halved(52, from, rates)
    }

    /// [`Symbols::largest`] after this many halvings.
    fn halved(&self, halvings: usize, from: f64, rates: impl Fn(f64) -> Rates) -> f64 {
        let bracket = Bracket { holds: from, fails: 1.0 };
        bracket.halve(halvings, |t| self.floors(rates(t)).is_some()).holds
    }

    /// The symbol that what is left of the base is worth most to: the first or the second.
    fn heir(&self, rates: Rates) -> usize {
        let second =
            rates.count > 1 && (1.0 - rates.lambda) * self.p[1] > (1.0 - rates.lead) * self.p[0];
        usize::from(second)
    }

    /// The probability of releasing the input itself.
    fn success(&self, floors: &Floors) -> f64 {
        let Rates { lead, lambda, count } = floors.rates;
        let ((s, s2), (h, h2), (one, one2)) =
            (self.sums[count], self.sums[floors.heavy], self.sums[1]);
        let light = (s - h) - self.up * (s2 - h2);
        let based = lambda * ((h2 - one2) * floors.fall + light * floors.rise);
        let heir = match self.heir(floors.rates) {
            0 => (1.0 - lead) * self.p[0],
            _ => (1.0 - lambda) * self.p[1],
        };
        self.p[0] * (lead + (1.0 - lead) * floors.first)
            + lambda * (s - one)
            + (1.0 - lambda) * based
            + floors.left * heir
    }

    fn value(&self, rates: Rates) -> f64 {
        self.floors(rates).map_or(f64::NEG_INFINITY, |floors| self.success(&floors))
    }

    /// The best plan for 0-1 loss: every prefix with one λ, then a lead for the prefixes near the best
    /// and for the shortest.
    pub(super) fn for_loss(&self) -> Plan {
        let even = |count: usize| move |t: f64| Rates { lead: t, lambda: t, count };
        // To begin with, the best blind guess; rounding alone is no improvement.
        let mut best = (self.p[0], Rates { lead: 0.0, lambda: 0.0, count: 1 });
        for count in 1..=self.p.len() {
            // Near enough to find the best prefix; the lead is then searched for exactly.
            let rates = even(count)(self.halved(28, 0.0, even(count)));
            let value = self.value(rates);
            if value > best.0 * (1.0 + 1e-12) {
                best = (value, rates);
            }
        }
        let near = best.1.count;
        let lengths = (1..=6).chain(near.saturating_sub(4).max(7)..=near + 4);
        for count in lengths.filter(|count| *count <= self.p.len()) {
            let top = self.largest(0.0, even(count));
            let lead_at = |lambda: f64| {
                let ahead = |lead: f64| Rates { lead, lambda, count };
                let most = self.largest(lambda, ahead);
                let gain = maximise(|gain| self.value(ahead(lambda + gain)), most - lambda, 36);
                ahead(lambda + gain)
            };
            let lambda = maximise(|lambda| self.value(lead_at(lambda)), top, 36);
            let rates = lead_at(lambda);
            let value = self.value(rates);
            if value > best.0 * (1.0 + 1e-12) {
                best = (value, rates);
            }
        }
        let heir = self.heir(best.1);
        self.plan(best.1, |at, left| if at == heir { left } else { 0.0 })
    }

    /// The best plan that releases every symbol with one λ; what is left of the base is spread evenly.
    pub(super) fn for_frequency(&self) -> Result<Plan, Error> {
        let count = self.p.len();
        let prior = Distribution::normalised("prior", self.p.clone())?;
        let even = |_, left: f64| left / count as f64;
        let sorted = Self {
            order: (0..count).collect(),
            p: self.p.clone(),
            sums: self.sums.clone(),
            ..*self
        };
        let rates = |t: f64| Rates { lead: t, lambda: t, count };
        let top = self.largest(0.0, rates);
        let lambda = maximise(|t| -sorted.plan(rates(t), even).frequency(&prior), top, 36);
        Ok(self.plan(rates(lambda), even))
    }

    /// The plan at these rates, `extra` adding to the base by rank and what is left of it.
    fn plan(&self, rates: Rates, extra: impl Fn(usize, f64) -> f64) -> Plan {
        let mut base = vec![0.0; self.p.len()];
        let mut keep = vec![0.0; self.p.len()];
        let Some(floors) = self.floors(rates) else {
            base[self.order[0]] = 1.0;
            return Plan { keep, base };
        };
        for (at, &x) in self.order[..rates.count].iter().enumerate() {
            let p = self.p[at];
            let term = (p * floors.fall).max((1.0 - self.up * p) * floors.rise);
            let floor = if at == 0 { floors.first } else { rates.lambda * term };
            base[x] = floor + extra(at, floors.left);
            keep[x] = if at == 0 { rates.lead } else { rates.lambda };
        }
        Plan { keep, base }
    }
}
