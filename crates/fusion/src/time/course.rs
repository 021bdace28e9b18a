//! What is certified of hypotheses that move: how far belief in a private one can go over many epochs.

use rayon::prelude::*;
use undertone_core::{Epsilon, Nats, Policy};
use undertone_design::Error;

use super::ExactChain;
use super::path::{self, Bound};
use super::process::{Extreme, Process, Reach, Thin};
use crate::{ExactModel, certificate};

/// More epochs than this are not followed.
const MAX_EPOCHS: u32 = 1000;
/// What an error is about where too much would be told in all epochs.
pub(crate) const PATH_BUDGET: &str = "the budget of the path";

/// What of the private hypothesis is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secret {
    /// Its value in the last epoch so far.
    Now,
    /// Its value in any one epoch, judged by everything that was said before and after.
    Any,
    /// All its values together, and so everything that can be said of them.
    Path,
    /// Whether it ever had this value.
    Ever(usize),
    /// Whether it ever changed.
    Changed,
}

/// How far belief in something can move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leak {
    /// The largest |ln P(g | z)/P(g)|, rounded up; `None` if there is no bound.
    pub information: Option<Nats>,
    /// Whether that is the exact value or only a bound on it.
    pub exact: bool,
    /// What some outputs attain, rounded down; `None` if it is not known or has no bound.
    pub at_least: Option<Nats>,
}

/// Everything said in so many epochs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Horizon {
    /// How many.
    pub epochs: u32,
    /// Of the secret that is kept.
    pub kept: Leak,
    /// Of the value in the last of them.
    pub now: Leak,
    /// Of the value in any one of them.
    pub any: Leak,
    /// Of all values together.
    pub path: Leak,
    /// Of a value by its own epoch's outputs only: what one would certify who takes epochs to be independent.
    pub alone: Leak,
    /// Of a value that stays the same while all else is drawn anew in each epoch.
    pub constant: Option<Nats>,
}

/// A chain, a secret, and what is certified of it for a network.
#[derive(Debug, Clone, PartialEq)]
pub struct Course {
    chain: ExactChain,
    secret: Secret,
    epochs: u32,
    budget: Option<Epsilon>,
    horizons: Vec<Horizon>,
}

/// The numbers of epochs, up to so many, that a course is certified for.
pub fn horizons(epochs: u32) -> Vec<u32> {
    let round = [1, 2, 5, 10, 20, 50, 100, 200, 500].into_iter();
    round.filter(|&count| count < epochs).chain([epochs]).collect()
}

impl Secret {
    /// `now`, `any`, `path`, `ever:VALUE` or `changed`; a value is one of the private hypothesis'.
    pub fn parse(text: &str, values: &[String]) -> Result<Self, Error> {
        match (text, text.split_once(':')) {
            ("now", _) => Ok(Self::Now),
            ("any", _) => Ok(Self::Any),
            ("path", _) => Ok(Self::Path),
            ("changed", _) => Ok(Self::Changed),
            (_, Some(("ever", value))) => {
                values.iter().position(|known| known == value).map(Self::Ever).ok_or_else(|| {
                    let problem = format!(
                        "is {text:?}: {value:?} is not one of the private hypothesis' values, which are {}",
                        values.iter().take(8).cloned().collect::<Vec<_>>().join(", ")
                    );
                    Error::other("secret", problem)
                })
            }
            _ => {
                let problem = format!("is {text:?}: give now, any, path, changed or ever:VALUE");
                Err(Error::other("secret", problem))
            }
        }
    }

    /// As it is written.
    pub fn name(self, values: &[String]) -> String {
        match self {
            Self::Now => "now".into(),
            Self::Any => "any".into(),
            Self::Path => "path".into(),
            Self::Changed => "changed".into(),
            Self::Ever(value) => format!("ever:{}", values.get(value).map_or("", String::as_str)),
        }
    }
}

/// What can be reached from the start and to the end, epoch by epoch, in one way of thinning.
struct Reached {
    past: Vec<Reach>,
    future: Vec<Reach>,
    thin: Thin,
}

impl Reached {
    fn new(process: &Process, epochs: usize, thin: Thin) -> Self {
        let (mut past, mut future) = (vec![Process::start()], vec![process.end()]);
        for epoch in 1..epochs {
            past.push(process.forward(&past[epoch - 1], epoch == 1, thin));
            future.push(process.backward(&future[epoch - 1], thin));
        }
        Self { past, future, thin }
    }

    /// Of the label in epoch `at` (from 0) after `epochs` epochs.
    fn leak(
        &self,
        process: &Process,
        laws: &[Vec<undertone_core::Bounds>],
        at: usize,
        epochs: usize,
    ) -> Extreme {
        let ways = (&self.past[at], &self.future[epochs - 1 - at]);
        process.leak(ways, at == 0, &laws[at], self.thin)
    }
}

/// A process with all that is needed to judge it after any number of epochs up to the largest.
struct Judge {
    process: Process,
    laws: Vec<Vec<undertone_core::Bounds>>,
    around: Reached,
    /// Where around is not exact.
    among: Option<Reached>,
}

impl Judge {
    fn new(process: Process, epochs: usize) -> Self {
        let around = Reached::new(&process, epochs, Thin::Around);
        let exact = around.past.iter().chain(&around.future).all(|reach| reach.exact);
        // Outputs that stand for others are no outputs that could be sent.
        let among = (!exact && process.exact).then(|| Reached::new(&process, epochs, Thin::Among));
        Self { laws: process.laws(epochs), process, around, among }
    }

    fn at(&self, at: usize, epochs: usize) -> (Extreme, Option<Extreme>) {
        let leak = |reached: &Reached| reached.leak(&self.process, &self.laws, at, epochs);
        let around = leak(&self.around);
        let among = self.among.as_ref().filter(|_| !around.exact);
        // What was thinned on the spot only is attained too.
        let own = (!around.exact && self.process.exact && among.is_none()).then(|| {
            let ways = (&self.around.past[at], &self.around.future[epochs - 1 - at]);
            self.process.leak(ways, at == 0, &self.laws[at], Thin::Among)
        });
        (around, among.map(leak).or(own))
    }

    fn now(&self, epochs: usize) -> Leak {
        let (around, among) = self.at(epochs - 1, epochs);
        Leak::new(around, among)
    }

    fn any(&self, epochs: usize) -> Leak {
        let all: Vec<(Extreme, Option<Extreme>)> =
            (0..epochs).into_par_iter().map(|at| self.at(at, epochs)).collect();
        let around = all.iter().map(|(around, _)| *around).reduce(Extreme::or);
        // Where it is exact, it is attained.
        let attained =
            all.iter().map(|(around, among)| if around.exact { Some(*around) } else { *among });
        let among = attained.flatten().reduce(Extreme::or);
        Leak::new(around.unwrap_or(Extreme::new(true)), among)
    }

    /// As if each epoch were the only one.
    fn alone(&self, epochs: usize) -> Leak {
        let (start, end) = (Process::start(), self.process.end());
        let one = |law: &Vec<undertone_core::Bounds>| {
            let process = Process { first: law.clone(), ..self.process.clone() };
            process.leak((&start, &end), true, law, Thin::Around)
        };
        let all = self.laws[..epochs].iter().map(one).reduce(Extreme::or);
        Leak::new(all.unwrap_or(Extreme::new(true)), None)
    }
}

/// How a network's hypotheses move, ready to be judged.
struct Judged<'a> {
    model: &'a ExactModel,
    policies: &'a [Policy],
    private: Judge,
    /// Of a property of the path.
    property: Option<Judge>,
    paths: Vec<Leak>,
}

impl<'a> Judged<'a> {
    fn new(
        model: &'a ExactModel,
        policies: &'a [Policy],
        chain: &ExactChain,
        secret: Secret,
        counts: &[u32],
        only_kept: bool,
    ) -> Result<Self, Error> {
        let process = Process::new(model, policies, chain)?;
        let epochs = counts.last().copied().unwrap_or(1) as usize;
        let property = match secret {
            Secret::Ever(value) => Some(process.marked(
                |g| usize::from(g == value),
                |mark, _, g| mark.max(usize::from(g == value)),
            )),
            Secret::Changed => {
                Some(process.marked(|_| 0, |mark, from, to| mark.max(usize::from(from != to))))
            }
            _ => None,
        };
        let paths = match (only_kept, secret) {
            (true, secret) if secret != Secret::Path => Vec::new(),
            _ => paths(&process, counts),
        };
        let property = property.map(|process| Judge::new(process, epochs));
        Ok(Self { model, policies, private: Judge::new(process, epochs), property, paths })
    }

    fn kept(&self, secret: Secret, at: usize, epochs: usize) -> Leak {
        match (secret, &self.property) {
            (Secret::Any, _) => self.private.any(epochs),
            (Secret::Path, _) => self.paths[at],
            (Secret::Now, _) | (_, None) => self.private.now(epochs),
            (_, Some(property)) => property.now(epochs),
        }
    }

    fn horizon(&self, secret: Secret, at: usize, epochs: u32) -> Result<Horizon, Error> {
        let count = epochs as usize;
        Ok(Horizon {
            epochs,
            kept: self.kept(secret, at, count),
            now: self.private.now(count),
            any: self.private.any(count),
            path: self.paths[at],
            alone: self.private.alone(count),
            constant: certificate::information(self.model, self.policies, epochs)?,
        })
    }
}

fn paths(process: &Process, counts: &[u32]) -> Vec<Leak> {
    let mut bound = Bound::new(process);
    let mut to_come = 0;
    let mut known: Option<Extreme> = None;
    let path = |&epochs: &u32| {
        let epochs = epochs as usize;
        if process.emissions.len() == 1 {
            return Leak::new(Extreme::new(true), None);
        }
        if path::enumerable(process, epochs) {
            let exact = path::enumerated(process, epochs);
            known = Some(exact);
            return Leak::new(exact, None);
        }
        while to_come + 1 < epochs {
            bound.extend();
            to_come += 1;
        }
        // A longer path tells at least as much as its beginning.
        Leak::new(bound.whole(), known)
    };
    counts.iter().map(path).collect()
}

/// Tightens what cannot fall with the number of epochs. A lift after some of them is the mean, over what is said (and how a path
/// goes on) in those to come, of the lifts after all of them, and so it is between the least and the greatest of these: what
/// bounds more epochs bounds fewer, and what fewer attain more attain too. That holds of one epoch's value and of the path; not of
/// the last value, which is another one after every epoch, nor of a property, which more epochs may change.
fn growing(lines: &mut [Horizon], leak: fn(&mut Horizon) -> &mut Leak) {
    let mut most: Option<Nats> = None;
    for line in lines.iter_mut().rev() {
        let leak = leak(line);
        if let Some(most) = most
            && !leak.exact
            && leak.information.is_none_or(|nats| nats > most)
        {
            leak.information = Some(most);
        }
        most = leak.information;
    }
    let mut least: Option<Nats> = None;
    for line in lines {
        let leak = leak(line);
        if !leak.exact {
            leak.at_least = leak.at_least.max(least);
        }
        // What is exact is rounded up, by at most two units.
        let down = |nats: Nats| Nats::from_units(nats.units().saturating_sub(2));
        least = if leak.exact { leak.at_least.map(down) } else { leak.at_least };
    }
}

fn check_epochs(epochs: u32) -> Result<(), Error> {
    if (1..=MAX_EPOCHS).contains(&epochs) {
        return Ok(());
    }
    let problem = format!("is {epochs}: give a whole number from 1 to {MAX_EPOCHS}");
    Err(Error::other("the number of epochs", problem))
}

/// How far the secret is told in so many epochs, alone.
pub(crate) fn kept(
    model: &ExactModel,
    policies: &[Policy],
    chain: &ExactChain,
    secret: Secret,
    epochs: u32,
) -> Result<Leak, Error> {
    check_epochs(epochs)?;
    let judged = Judged::new(model, policies, chain, secret, &[epochs], true)?;
    Ok(judged.kept(secret, 0, epochs as usize))
}

impl Course {
    /// Certifies a network for hypotheses that move. Refuses one that tells more of the secret than the budget allows.
    pub fn new(
        model: &ExactModel,
        policies: &[Policy],
        chain: ExactChain,
        secret: Secret,
        (epochs, budget): (u32, Option<Epsilon>),
    ) -> Result<Self, Error> {
        check_epochs(epochs)?;
        let counts = horizons(epochs);
        let judged = Judged::new(model, policies, &chain, secret, &counts, false)?;
        let line = |(at, &epochs): (usize, &u32)| judged.horizon(secret, at, epochs);
        let mut horizons: Vec<Horizon> =
            counts.iter().enumerate().map(line).collect::<Result<_, _>>()?;
        let any: fn(&mut Horizon) -> &mut Leak = |line| &mut line.any;
        let path: fn(&mut Horizon) -> &mut Leak = |line| &mut line.path;
        let kept: fn(&mut Horizon) -> &mut Leak = |line| &mut line.kept;
        let grows = matches!(secret, Secret::Any | Secret::Path).then_some(kept);
        [any, path].into_iter().chain(grows).for_each(|leak| growing(&mut horizons, leak));
        let course = Self { chain, secret, epochs, budget, horizons };
        if let Some(budget) = budget
            && course.whole().is_none_or(|nats| nats > budget.nats())
        {
            let found =
                course.whole().map_or("without bound".into(), |nats| format!("{nats} nats"));
            let problem = format!(
                "over {epochs} epochs the outputs tell {found} of `{}`, and {budget} are allowed",
                secret.name(model.private().values())
            );
            return Err(Error::other(PATH_BUDGET, problem));
        }
        Ok(course)
    }

    /// How the hypotheses move.
    pub fn chain(&self) -> &ExactChain {
        &self.chain
    }

    /// What is kept.
    pub fn secret(&self) -> Secret {
        self.secret
    }

    /// Over how many epochs.
    pub fn epochs(&self) -> u32 {
        self.epochs
    }

    /// How much may be told of the secret in all of them.
    pub fn budget(&self) -> Option<Epsilon> {
        self.budget
    }

    /// What is certified for some numbers of epochs, increasing.
    pub fn horizons(&self) -> &[Horizon] {
        &self.horizons
    }

    /// What all epochs tell of the secret.
    fn whole(&self) -> Option<Nats> {
        self.horizons.last().and_then(|line| line.kept.information)
    }

    /// The number of epochs whose certificate [`Course::after`] takes for so many; `None` past the last.
    pub fn certified_for(&self, epochs: u64) -> Option<u32> {
        if epochs == 0 {
            return Some(0);
        }
        self.horizons.iter().map(|line| line.epochs).find(|&count| u64::from(count) >= epochs)
    }

    /// At most how far belief in the private hypothesis' value in any one epoch moves by the first so many epochs: more
    /// epochs tell more, so the next number certified is taken. `None` if there is no bound, or past the last epoch.
    ///
    /// Epochs in which nothing was heard count: the hypotheses move in them, and the bound for all is one for some.
    pub fn after(&self, epochs: u64) -> Option<Nats> {
        if epochs == 0 {
            return Some(Nats::ZERO);
        }
        let line = self.horizons.iter().find(|line| u64::from(line.epochs) >= epochs);
        line.and_then(|line| line.any.information)
    }

    /// The law of the private hypothesis in each epoch, from the model's of the first.
    pub fn private_laws(&self, model: &ExactModel) -> Vec<Vec<f64>> {
        let one = undertone_core::MASS_ONE as f64;
        let states = self.chain.states();
        let own = |pair: &(usize, usize)| -> f64 {
            let atoms = model.atoms.iter().filter(|atom| (atom.public, atom.private) == *pair);
            atoms.map(|atom| atom.weight as f64 / one).sum()
        };
        let mut law: Vec<f64> = states.iter().map(own).collect();
        let mut laws = Vec::new();
        for _ in 0..self.epochs {
            let mut private = vec![0.0; model.private().size()];
            states.iter().zip(&law).for_each(|(&(_, g), p)| private[g] += p);
            laws.push(private);
            let mut next = vec![0.0; law.len()];
            for (p, row) in law.iter().zip(self.chain.rows()) {
                next.iter_mut().zip(row).for_each(|(sum, &q)| *sum += p * q as f64 / one);
            }
            law = next;
        }
        laws
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines whose `any` is what was planted: at most, whether that is exact, and at least, in units.
    fn lines(planted: &[(Option<u64>, bool, Option<u64>)]) -> Vec<Horizon> {
        let nats = |units: Option<u64>| units.map(Nats::from_units);
        let line = |&(most, exact, least): &(Option<u64>, bool, Option<u64>)| {
            let leak = Leak { information: nats(most), exact, at_least: nats(least) };
            let (kept, now, any, path, alone) = (leak, leak, leak, leak, leak);
            Horizon { epochs: 1, kept, now, any, path, alone, constant: None }
        };
        planted.iter().map(line).collect()
    }

    #[test]
    fn bounds_of_more_epochs_hold_for_fewer_and_what_fewer_attain_for_more() {
        let mut found = lines(&[
            (Some(100), true, Some(100)),
            (Some(900), false, Some(300)),
            (None, false, None),
            (Some(700), false, Some(200)),
            (Some(800), false, Some(400)),
        ]);
        growing(&mut found, |line| &mut line.any);
        let expected = lines(&[
            (Some(100), true, Some(100)),
            (Some(700), false, Some(300)),
            (Some(700), false, Some(300)),
            (Some(700), false, Some(300)),
            (Some(800), false, Some(400)),
        ]);
        let any = |lines: &[Horizon]| lines.iter().map(|line| line.any).collect::<Vec<_>>();
        assert_eq!(any(&found), any(&expected));
        // Only what was named is tightened: the last value may be told less by more epochs.
        assert_eq!(found[1].now.information, Some(Nats::from_units(900)));
        // What is exact stays; what it attains is known up to its rounding.
        let mut found = lines(&[(Some(500), true, Some(500)), (Some(600), false, Some(300))]);
        growing(&mut found, |line| &mut line.path);
        assert_eq!(found[0].path.information, Some(Nats::from_units(500)));
        assert_eq!(found[1].path.at_least, Some(Nats::from_units(498)));
        // No bound at the end bounds nothing before.
        let mut found = lines(&[(Some(500), false, None), (None, false, None)]);
        growing(&mut found, |line| &mut line.any);
        assert_eq!(found[0].any.information, Some(Nats::from_units(500)));
    }
}
