//! The joint law of a sequence X_1..X_T: a list of trajectories, or a Markov chain.

use std::borrow::Cow;

use undertone_design::channel::under_each;
use undertone_design::{Channel, Distribution, Error, Symbols};

/// Partial sums of marginals that agree differ by less than this.
const NOISE: f64 = 1e-12;

/// A finite sequence of correlated data, with its joint law.
#[derive(Debug, Clone, PartialEq)]
pub struct Process {
    pub(super) law: Law,
    alphabets: Vec<usize>,
    marginals: Vec<Distribution>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Law {
    /// Trajectories of positive probability, all different.
    Listed { states: Vec<Vec<usize>>, masses: Distribution },
    /// The law of X_1, and one transition matrix per later step.
    Markov { initial: Distribution, steps: Vec<Channel> },
}

impl Process {
    /// From trajectories with their probabilities; `alphabets` holds the number of symbols per step.
    ///
    /// Trajectories not listed have probability zero; a trajectory listed twice gets the sum.
    pub fn listed(
        alphabets: Vec<usize>,
        trajectories: Vec<(Vec<usize>, f64)>,
    ) -> Result<Self, Error> {
        if alphabets.is_empty() {
            return Err(Error::Empty { what: "the sequence".into() });
        }
        let (mut states, masses): (Vec<Vec<usize>>, Vec<f64>) = trajectories.into_iter().unzip();
        let masses = Distribution::new("the joint law", masses)?;
        for (i, state) in states.iter().enumerate() {
            if state.len() != alphabets.len() {
                let what = format!("trajectory {i}");
                return Err(Error::Size { what, expected: alphabets.len(), found: state.len() });
            }
            for (k, (&x, &size)) in state.iter().zip(&alphabets).enumerate() {
                if x >= size {
                    let what = format!("symbol {k} of trajectory {i}");
                    return Err(Error::range(what, x as f64, format!("below {size}")));
                }
            }
        }
        let mut order: Vec<usize> = (0..states.len()).filter(|&i| masses[i] > 0.0).collect();
        order.sort_by(|&a, &b| states[a].cmp(&states[b]));
        let mut distinct: Vec<(Vec<usize>, f64)> = Vec::new();
        for i in order {
            match distinct.last_mut() {
                Some((state, mass)) if *state == states[i] => *mass += masses[i],
                _ => distinct.push((std::mem::take(&mut states[i]), masses[i])),
            }
        }
        let (states, masses): (Vec<_>, Vec<_>) = distinct.into_iter().unzip();
        let masses = Distribution::normalised("the joint law", masses)?;
        let mut marginals: Vec<Vec<f64>> = alphabets.iter().map(|&size| vec![0.0; size]).collect();
        for (state, &mass) in states.iter().zip(masses.as_slice()) {
            for (marginal, &x) in marginals.iter_mut().zip(state) {
                marginal[x] += mass;
            }
        }
        let marginals = marginals.into_iter().map(|m| Distribution::normalised("a marginal", m));
        let marginals = marginals.collect::<Result<_, _>>()?;
        Ok(Self { law: Law::Listed { states, masses }, alphabets, marginals })
    }

    /// Two correlated data from a matrix P(x_1, x_2), one row per x_1.
    pub fn pair(joint: &[Vec<f64>]) -> Result<Self, Error> {
        let columns = joint.first().map_or(0, Vec::len);
        if let Some((a, row)) = joint.iter().enumerate().find(|(_, row)| row.len() != columns) {
            let (what, found) = (format!("joint row {a}"), row.len());
            return Err(Error::Size { what, expected: columns, found });
        }
        let cells = joint.iter().enumerate();
        let cells =
            cells.flat_map(|(a, row)| row.iter().enumerate().map(move |(b, &p)| (vec![a, b], p)));
        Self::listed(vec![joint.len(), columns], cells.collect())
    }

    /// This process, place by place, whose data X_k are of the symbols `symbols[k]`.
    pub fn over(mut self, symbols: &[Symbols]) -> Result<Self, Error> {
        self.check_len("the list of alphabets", symbols.len())?;
        let named = self.marginals.into_iter().zip(symbols).map(|(law, symbols)| law.over(symbols));
        self.marginals = named.collect::<Result<_, _>>()?;
        Ok(self)
    }

    /// A Markov chain of `length` steps with the same transition matrix throughout. Unnamed columns of
    /// a square matrix are in the order of its rows.
    pub fn markov(
        initial: Distribution,
        transition: &Channel,
        length: usize,
    ) -> Result<Self, Error> {
        if length == 0 {
            return Err(Error::Empty { what: "the sequence".into() });
        }
        let square = transition.inputs() == transition.outputs();
        let step = match transition.output_symbols().are_named() {
            false if square && transition.is_bare() => {
                let step = transition.under(&initial)?.into_owned();
                step.of_outputs(initial.symbols())?
            }
            false if square => transition.clone().of_outputs(&transition.input_symbols())?,
            _ => transition.clone(),
        };
        let step = step.under(&initial)?;
        let step = match square {
            true => step.outputs_in_order_of("the transition's outputs", initial.symbols())?,
            false => Cow::Borrowed(&*step),
        };
        Self::chain(initial, vec![step.into_owned(); length - 1])
    }

    /// A Markov chain with its own transition matrix per step; T = 1 + the number of steps. Each step's
    /// inputs are matched with the symbols of the step before.
    pub fn chain(initial: Distribution, mut steps: Vec<Channel>) -> Result<Self, Error> {
        let mut marginals = vec![initial.clone()];
        for step in &mut steps {
            let before = &marginals[marginals.len() - 1];
            if let Cow::Owned(ordered) = step.under(before)? {
                *step = ordered;
            }
            let next = step.output_law(before)?;
            marginals.push(next);
        }
        let alphabets = marginals.iter().map(Distribution::len).collect();
        Ok(Self { law: Law::Markov { initial, steps }, alphabets, marginals })
    }

    /// A process with one datum that stays what it is in every one of `length` epochs.
    pub fn constant(prior: &Distribution, length: usize) -> Result<Self, Error> {
        let states = prior.as_slice().iter().enumerate().map(|(x, &p)| (vec![x; length], p));
        let same = vec![prior.symbols().clone(); length];
        Self::listed(vec![prior.len(); length], states.collect())?.over(&same)
    }

    /// Independent data with these laws.
    pub fn independent(marginals: &[Distribution]) -> Result<Self, Error> {
        let Some((initial, later)) = marginals.split_first() else {
            return Err(Error::Empty { what: "the list of marginals".into() });
        };
        let mut rows = initial.len();
        let mut steps = Vec::with_capacity(later.len());
        for law in later {
            steps.push(Channel::from_rows(vec![law.clone(); rows])?);
            rows = law.len();
        }
        Self::chain(initial.clone(), steps)
    }

    /// The comonotone coupling: all data are non-decreasing functions of one uniform variable.
    ///
    /// Pieces shorter than 1e-12 are taken for float noise and dropped.
    pub fn comonotone(marginals: &[Distribution]) -> Result<Self, Error> {
        let alphabets: Vec<usize> = marginals.iter().map(Distribution::len).collect();
        let mut at: Vec<usize> = vec![0; marginals.len()];
        let mut left: Vec<f64> = marginals.iter().map(|law| law[0]).collect();
        let mut states = Vec::new();
        loop {
            let step = left.iter().copied().fold(f64::INFINITY, f64::min);
            if step > NOISE && step.is_finite() {
                states.push((at.clone(), step));
            }
            for (k, law) in marginals.iter().enumerate() {
                left[k] -= step;
                while left[k] <= NOISE && at[k] + 1 < law.len() {
                    at[k] += 1;
                    left[k] += law[at[k]];
                }
            }
            if left.iter().any(|&l| l <= NOISE) || left.is_empty() {
                break;
            }
        }
        let symbols: Vec<Symbols> = marginals.iter().map(|law| law.symbols().clone()).collect();
        Self::listed(alphabets, states)?.over(&symbols)
    }

    /// T.
    #[expect(clippy::len_without_is_empty, reason = "a sequence is never empty")]
    pub fn len(&self) -> usize {
        self.alphabets.len()
    }

    /// The number of symbols per step.
    pub fn alphabets(&self) -> &[usize] {
        &self.alphabets
    }

    /// The laws of X_1..X_T.
    pub fn marginals(&self) -> &[Distribution] {
        &self.marginals
    }

    /// The smallest probability of any trajectory in the product of the alphabets; often zero.
    pub fn min_mass(&self) -> f64 {
        match &self.law {
            Law::Listed { states, masses } => {
                let all = self.alphabets.iter().fold(1usize, |n, &size| n.saturating_mul(size));
                if states.len() < all { 0.0 } else { masses.min() }
            }
            Law::Markov { initial, steps } => least_path(initial, steps, |_| true),
        }
    }

    /// The smallest probability of a trajectory that can occur.
    pub fn min_support_mass(&self) -> f64 {
        match &self.law {
            Law::Listed { masses, .. } => masses.min(),
            Law::Markov { initial, steps } => least_path(initial, steps, |p| p > 0.0),
        }
    }

    /// The trajectories that can occur, with their probabilities, if there are at most `limit`.
    pub fn trajectories(&self, limit: usize) -> Result<Vec<(Vec<usize>, f64)>, Error> {
        let too_large = |size: usize| Error::TooLarge {
            what: "the number of trajectories".into(),
            size,
            limit,
            fix: "shorten the sequence, or use a bound".into(),
        };
        match &self.law {
            Law::Listed { states, .. } if states.len() > limit => Err(too_large(states.len())),
            Law::Listed { states, masses } => {
                Ok(states.iter().cloned().zip(masses.as_slice().iter().copied()).collect())
            }
            Law::Markov { initial, steps } => {
                let first = initial.as_slice().iter().enumerate().filter(|(_, p)| **p > 0.0);
                let mut paths: Vec<(Vec<usize>, f64)> = first.map(|(x, &p)| (vec![x], p)).collect();
                for step in steps {
                    let mut longer = Vec::new();
                    for (path, mass) in &paths {
                        let row = &step.rows()[path[path.len() - 1]];
                        for (x, &p) in row.as_slice().iter().enumerate().filter(|(_, p)| **p > 0.0)
                        {
                            longer.push(([&path[..], &[x]].concat(), mass * p));
                        }
                        if longer.len() > limit {
                            return Err(too_large(longer.len()));
                        }
                    }
                    paths = longer;
                }
                Ok(paths)
            }
        }
    }

    /// One channel per step, each with its inputs in the order of that step's symbols; refuses channels
    /// that do not fit the sequence.
    pub(super) fn matched<'a>(&self, channels: &'a [Channel]) -> Result<Cow<'a, [Channel]>, Error> {
        self.check_len("the list of channels", channels.len())?;
        under_each(channels, &self.marginals)
    }

    pub(super) fn check_len(&self, what: &str, found: usize) -> Result<(), Error> {
        if found == self.len() {
            Ok(())
        } else {
            Err(Error::Size { what: what.into(), expected: self.len(), found })
        }
    }
}

/// The least probability of a path whose every factor passes `keep`.
fn least_path(initial: &Distribution, steps: &[Channel], keep: impl Fn(f64) -> bool) -> f64 {
    let admit = |p: f64| if keep(p) { p } else { f64::INFINITY };
    let mut least: Vec<f64> = initial.as_slice().iter().map(|&p| admit(p)).collect();
    for step in steps {
        let best = |x: usize| {
            let paths = least.iter().zip(step.column(x)).filter(|(l, t)| l.is_finite() && keep(*t));
            paths.map(|(l, t)| l * t).fold(f64::INFINITY, f64::min)
        };
        least = (0..step.outputs()).map(best).collect();
    }
    least.into_iter().fold(f64::INFINITY, f64::min)
}
