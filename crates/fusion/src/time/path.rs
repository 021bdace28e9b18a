//! What everything said tells of the whole path of G.
//!
//! The lift of a path g₁…g_T after outputs z is P(z | path)/P(z). Short paths are enumerated. For long ones, P(z | path) lies
//! between the products over epochs of the least and of the greatest likelihood of z_t in a state labelled g_t, and a
//! recursion over the epochs to come bounds P(z) divided by such a product: from each class of states and each last g, the
//! worst output and next g are taken, which is a bound because whoever chooses them may not know the class.

use undertone_core::{Bounds, Magnitude, Round};

use super::process::{Extreme, Process};
use crate::cone::Ray;

/// More pairs of paths and outputs than this are not enumerated.
const MAX_PAIRS: usize = 1 << 16;

/// Whether all paths of so many epochs are enumerated, with all outputs.
pub(super) fn enumerable(process: &Process, epochs: usize) -> bool {
    let step = process.emissions.len().saturating_mul(process.labels);
    let epochs = u32::try_from(epochs).unwrap_or(u32::MAX);
    process.exact && step.checked_pow(epochs).is_some_and(|pairs| pairs <= MAX_PAIRS)
}

/// Paths and outputs, one by one: exact.
pub(super) fn enumerated(process: &Process, epochs: usize) -> Extreme {
    let mut extreme = Extreme::new(true);
    let start = Masses { outputs: Vec::new(), path: Vec::new(), both: Vec::new() };
    descend(process, epochs, 0, &start, &mut extreme);
    extreme
}

/// P(z, class), P(path, class), P(z, path, class) of what was chosen so far.
struct Masses {
    outputs: Ray,
    path: Ray,
    both: Ray,
}

fn descend(process: &Process, epochs: usize, at: usize, known: &Masses, extreme: &mut Extreme) {
    let sum = |ray: &Ray| ray.iter().fold(Bounds::ZERO, |sum, &p| sum.plus(p));
    if at == epochs {
        let (outputs, path) = (sum(&known.outputs), sum(&known.path));
        if !outputs.high.is_zero() && !path.high.is_zero() {
            extreme.compare(sum(&known.both), outputs * path);
        }
        return;
    }
    let law = |ray: &Ray| process.predicted(ray, at == 0);
    let (outputs, path, both) = (law(&known.outputs), law(&known.path), law(&known.both));
    for emission in &process.emissions {
        let heard = process.by_class(outputs.iter().zip(emission).map(|(&p, &e)| p * e));
        for g in 0..process.labels {
            let labelled = |masses: &[Bounds]| -> Vec<Bounds> {
                let of =
                    |(&p, &label): (&Bounds, &usize)| if label == g { p } else { Bounds::ZERO };
                masses.iter().zip(&process.label).map(of).collect()
            };
            let (path, both) = (labelled(&path), labelled(&both));
            let next = Masses {
                outputs: heard.clone(),
                path: process.by_class(path.into_iter()),
                both: process.by_class(both.into_iter().zip(emission).map(|(p, &e)| p * e)),
            };
            descend(process, epochs, at + 1, &next, extreme);
        }
    }
}

/// Bounds for one number of epochs after another.
pub(super) struct Bound<'a> {
    process: &'a Process,
    /// By label: whether the other may follow.
    allowed: Vec<Vec<bool>>,
    /// By emission and label: the least and the greatest likelihood in a state with it.
    range: Vec<Vec<(Magnitude, Magnitude)>>,
    /// By class and last label, over the epochs to come: at most P(z)/P(z|path), at least it, at least P(path).
    falls: Vec<Vec<Option<Magnitude>>>,
    rises: Vec<Vec<Magnitude>>,
    certain: Vec<Vec<Magnitude>>,
}

impl<'a> Bound<'a> {
    /// Before any epoch.
    pub(super) fn new(process: &'a Process) -> Self {
        let labels = process.labels;
        let mut allowed = vec![vec![false; labels]; labels];
        for (s, &c) in process.class.iter().enumerate() {
            for (to, p) in process.rows[c].iter().enumerate() {
                allowed[process.label[s]][process.label[to]] |= !p.high.is_zero();
            }
        }
        let range = |emission: &Ray| {
            let of = |g: usize| {
                let own = emission.iter().zip(&process.label).filter(|(_, label)| **label == g);
                let own: Vec<Bounds> = own.map(|(&e, _)| e).collect();
                let least = own.iter().map(|e| e.low).min().unwrap_or(Magnitude::ZERO);
                (least, own.iter().map(|e| e.high).max().unwrap_or(Magnitude::ZERO))
            };
            (0..labels).map(of).collect()
        };
        let classes = process.rows.len();
        Self {
            process,
            allowed,
            range: process.emissions.iter().map(range).collect(),
            falls: vec![vec![Some(Magnitude::ONE); labels]; classes],
            rises: vec![vec![Magnitude::ONE; labels]; classes],
            certain: vec![vec![Magnitude::ONE; labels]; classes],
        }
    }

    /// One epoch more to come.
    pub(super) fn extend(&mut self) {
        let (classes, labels) = (self.process.rows.len(), self.process.labels);
        let all = |of: &dyn Fn(usize, usize) -> (Option<Magnitude>, Magnitude, Magnitude)| {
            let mut found = (Vec::new(), Vec::new(), Vec::new());
            for c in 0..classes {
                let row: Vec<_> = (0..labels).map(|g| of(c, g)).collect();
                found.0.push(row.iter().map(|one| one.0).collect());
                found.1.push(row.iter().map(|one| one.1).collect());
                found.2.push(row.iter().map(|one| one.2).collect());
            }
            found
        };
        (self.falls, self.rises, self.certain) =
            all(&|c, g| self.step(&self.process.rows[c], |to| self.allowed[g][to]));
    }

    /// What holds for paths whose first epoch is the chain's, with as many epochs to come as were added.
    pub(super) fn whole(&self) -> Extreme {
        let mut extreme = Extreme::new(false);
        let has_label = |g: usize| {
            let mut states = self.process.first.iter().zip(&self.process.label);
            states.any(|(p, &label)| label == g && !p.high.is_zero())
        };
        let (fall, rise, certain) = self.step(&self.process.first, has_label);
        let exactly = |value: Magnitude| Bounds { low: value, high: value };
        match fall {
            Some(fall) => extreme.compare(Bounds::ONE, exactly(fall)),
            None => extreme.compare(Bounds::ZERO, Bounds::ONE),
        }
        // Certainty is the most that belief can rise to.
        extreme.compare(Bounds::ONE, exactly(rise.max(certain)));
        extreme
    }

    /// The worst over outputs and next labels, from a law of the next state.
    fn step(
        &self,
        law: &[Bounds],
        may_be: impl Fn(usize) -> bool,
    ) -> (Option<Magnitude>, Magnitude, Magnitude) {
        let process = self.process;
        let mut fall = Some(Magnitude::ZERO);
        let mut rise: Option<Magnitude> = None;
        let mut certain: Option<Magnitude> = None;
        let least = |known: Option<Magnitude>, found: Magnitude| {
            Some(known.map_or(found, |known| known.min(found)))
        };
        for g in (0..process.labels).filter(|&g| may_be(g)) {
            let mut sum = Magnitude::ZERO;
            for (s, p) in law.iter().enumerate().filter(|(s, _)| process.label[*s] == g) {
                let then = self.certain[process.class[s]][g];
                sum = sum.plus(p.low.times(then, Round::Down), Round::Down);
            }
            certain = least(certain, sum);
            for (emission, range) in process.emissions.iter().zip(&self.range) {
                let (low, high) = range[g];
                let mut most = Some(Magnitude::ZERO);
                let mut few = Magnitude::ZERO;
                for ((p, e), &c) in law.iter().zip(emission).zip(&process.class) {
                    let mass = *p * *e;
                    if mass.high.is_zero() {
                        continue;
                    }
                    let above =
                        |then: Magnitude| mass.high.over(low, Round::Up).times(then, Round::Up);
                    let then = self.falls[c][g].filter(|_| !low.is_zero()).map(above);
                    most = most.zip(then).map(|(sum, then)| sum.plus(then, Round::Up));
                    if !high.is_zero() {
                        let below = mass.low.over(high, Round::Down);
                        few = few.plus(below.times(self.rises[c][g], Round::Down), Round::Down);
                    }
                }
                fall = fall.zip(most).map(|(fall, most)| fall.max(most));
                if !high.is_zero() {
                    rise = least(rise, few);
                }
            }
        }
        (fall, rise.unwrap_or(Magnitude::ZERO), certain.unwrap_or(Magnitude::ZERO))
    }
}
