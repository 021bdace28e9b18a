//! Designs in one or two stages, and JOINT, which starts from all of them.

use undertone_design::{Channel, Distribution, Error, measure};

use super::block::Network;
use super::limits::Limits;
use super::search::{Ends, Search};
use super::{Attempt, Proposal, Request, Watch};
use crate::objective::Goal;
use crate::{Evaluation, Maps, Model};
use undertone_numeric::bisection::Bracket;

/// How ILL chooses the level of its second stage from the level promised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SecondStage {
    /// ε/2, as printed in ST20 (P1): needlessly small.
    Half,
    /// ε: each p(z|x) is an average of p(z|y), so the ratio cannot exceed that of the second stage.
    Full,
    /// ln(1 + (e^ε - 1)/η), where η is the largest distance between rows of the first stage: exact.
    Contracted,
}

/// How many first stages ILL continues with a second.
const CANDIDATES: usize = 8;

/// Levels of LDP at which LIP's first stage is tried if they are below the one promised.
const LEVELS: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 6.0];

/// The level of LDP under which InP looks first.
const RELAXED_FROM: f64 = 8.0;

/// One design task.
pub(crate) struct Task<'a> {
    pub(crate) model: &'a Model,
    pub(crate) request: &'a Request,
    pub(crate) goal: &'a Goal,
    pub(crate) limits: Limits,
    /// Maps within the limits to begin from as well.
    pub(crate) warm: Vec<Maps>,
    pub(crate) watch: &'a Watch<'a>,
}

impl Task<'_> {
    fn search(&self, network: &Network, limits: &Limits, warm: Vec<Maps>) -> Ends {
        let warm = warm.iter().map(|maps| network.load(maps)).collect();
        let search = Search {
            network,
            outputs: &self.request.outputs,
            limits,
            restarts: self.request.restarts,
            seed: self.request.seed,
            watch: self.watch,
        };
        search.run(warm)
    }

    /// The best maps of one search.
    pub(crate) fn best(
        &self,
        model: &Model,
        limits: &Limits,
        warm: Vec<Maps>,
    ) -> Result<Vec<Maps>, Error> {
        let network = Network::new(model, self.goal);
        let ends = self.search(&network, limits, warm);
        let mut losses: Vec<f64> = Vec::new();
        let mut maps = Vec::new();
        for found in ends.found {
            let known = losses.iter().any(|loss| (loss - found.loss).abs() < 1e-7);
            if !known && maps.len() < CANDIDATES {
                losses.push(found.loss);
                maps.push(network.unload(&found.state)?);
            }
        }
        Ok(maps)
    }

    pub(crate) fn loss(&self, maps: &Maps) -> f64 {
        let network = Network::new(self.model, self.goal);
        network.loss(&network.load(maps))
    }

    pub(crate) fn proposal(&self, maps: Maps, attempts: Vec<Attempt>) -> Proposal {
        let error = Goal::new(&crate::Objective::Error, self.model.public_law());
        let error = error.map_or(f64::NAN, |goal| {
            let network = Network::new(self.model, &goal);
            network.loss(&network.load(&maps))
        });
        Proposal { loss: self.loss(&maps), error, maps, attempts, theta: None }
    }

    pub(crate) fn least(&self, candidates: Vec<Maps>) -> Result<Proposal, Error> {
        let losses = candidates.iter().map(|maps| self.loss(maps));
        let best =
            losses.enumerate().reduce(|best, next| if next.1 < best.1 { next } else { best });
        let best = best.map(|(at, _)| at).and_then(|at| candidates.into_iter().nth(at));
        let maps = best.ok_or_else(|| Error::other("design", "no start was tried"))?;
        Ok(self.proposal(maps, Vec::new()))
    }

    /// Information privacy alone.
    pub(crate) fn information_only(&self) -> Result<Vec<Maps>, Error> {
        let limits = Limits { ldp: None, ..self.limits.clone() };
        self.best(self.model, &limits, self.warm.clone())
    }

    /// Local differential privacy alone, at these odds.
    pub(crate) fn ldp_only(&self, odds: Option<f64>) -> Result<Proposal, Error> {
        let limits = Limits { ldp: odds, ..Limits::default() };
        self.least(self.best(self.model, &limits, self.warm.clone())?)
    }

    /// ILL: information privacy first, then LDP on its outputs.
    pub(crate) fn ill(&self, first: &[Maps], stage: SecondStage) -> Result<Proposal, Error> {
        let Some(odds) = self.limits.ldp else { return self.least(first.to_vec()) };
        let continued = first.iter().map(|maps| self.second_stage(maps, odds, stage));
        self.least(continued.collect::<Result<_, _>>()?)
    }

    /// The first stage followed by the best LDP maps of its outputs.
    ///
    /// For binary outputs that is randomised response: every binary channel of this level is
    /// randomised response with something after it.
    pub(crate) fn second_stage(
        &self,
        first: &Maps,
        odds: f64,
        stage: SecondStage,
    ) -> Result<Maps, Error> {
        let level = |map: &Channel| match stage {
            SecondStage::Half => Ok(odds.sqrt()),
            SecondStage::Full => Ok(odds),
            SecondStage::Contracted => contracted(map, odds),
        };
        let response = |map: &Channel| randomised_response(map.outputs(), level(map)?);
        let second = first.channels().iter().map(response).collect::<Result<_, _>>()?;
        let second = Maps::new(second)?;
        if self.request.outputs.iter().all(|&outputs| outputs == 2) {
            return first.then(&second);
        }
        // More outputs: randomised response is one candidate among others.
        let least = first.channels().iter().map(level).collect::<Result<Vec<f64>, _>>()?;
        let limits = Limits {
            ldp: Some(least.into_iter().fold(f64::INFINITY, f64::min)),
            ..Limits::default()
        };
        let pushed = self.model.through(first)?;
        let mut candidates = self.best(&pushed, &limits, vec![second.clone()])?;
        candidates.push(second);
        let composed = candidates.iter().map(|second| first.then(second));
        Ok(self.least(composed.collect::<Result<_, _>>()?)?.maps)
    }

    /// LIP: LDP first, then information privacy on its outputs. The first stage is also tried at the whole levels
    /// below the one promised, so that a larger level is never worse than a smaller one of them.
    pub(crate) fn lip(&self) -> Result<Proposal, Error> {
        let limits = Limits { ldp: None, ..self.limits.clone() };
        let most = self.limits.ldp;
        let below = LEVELS.iter().map(|level| level.exp());
        let below = below.filter(|odds| most.is_none_or(|most| *odds < most * (1.0 - 1e-9)));
        let mut composed = Vec::new();
        for odds in below.map(Some).chain([most]) {
            // The level promised comes last, and is tried even if time is up.
            if (self.watch.stop)() && odds != most {
                continue;
            }
            let first = self.ldp_only(odds)?.maps;
            let second = self.best(&self.model.through(&first)?, &limits, Vec::new())?;
            for second in &second {
                composed.push(first.then(second)?);
            }
        }
        self.least(composed)
    }

    /// InP and LDP, which promise less than JOINT, begin where JOINT ends under a further budget: they are searched as
    /// hard, and not worse than JOINT at that level.
    pub(crate) fn relaxed(&self, information: bool) -> Result<Proposal, Error> {
        if !information {
            return self.ldp_only(self.limits.ldp);
        }
        let limits = Limits { ldp: Some(RELAXED_FROM.exp()), ..self.limits.clone() };
        let warm = self.warm.iter().filter(|maps| ldp_of(maps) <= RELAXED_FROM).cloned().collect();
        let tight = Task { limits, warm, ..*self };
        let mut warm = self.warm.clone();
        warm.push(tight.joint()?.maps);
        let relaxed = Task { limits: self.limits.clone(), warm, ..*self };
        relaxed.least(relaxed.information_only()?)
    }

    /// JOINT: both budgets at once, from cold starts and from every other method's result, so it is
    /// never worse than any of them.
    pub(crate) fn joint(&self) -> Result<Proposal, Error> {
        let (lift, ldp) = (self.limits.lift.is_some(), self.limits.ldp.is_some());
        let mut attempts = Vec::new();
        let mut warm = self.warm.clone();
        let mut keep = |name: &'static str, proposal: Proposal| {
            attempts.push(Attempt { name, loss: proposal.loss });
            warm.push(proposal.maps);
        };
        if lift && ldp {
            let first = self.information_only()?;
            keep("ill-half", self.ill(&first, SecondStage::Half)?);
            keep("ill", self.ill(&first, SecondStage::Full)?);
            keep("ill-eta", self.ill(&first, SecondStage::Contracted)?);
            keep("lip", self.lip()?);
            let data_only = self.ldp_only(self.limits.ldp)?;
            let drowned = self.within_lift(&data_only.maps)?;
            keep("ldp mixed", self.proposal(drowned, Vec::new()));
            if let Some(odds) = self.limits.ldp {
                for maps in &first {
                    warm.push(self.second_stage(maps, odds, SecondStage::Contracted)?);
                }
            }
        }
        let network = Network::new(self.model, self.goal);
        let ends = self.search(&network, &self.limits, warm);
        let parts = [("cold starts", ends.cold), ("perturbed", ends.perturbed)];
        for (name, loss) in parts {
            attempts.extend(loss.map(|loss| Attempt { name, loss }));
        }
        let best = ends.best().ok_or_else(|| Error::other("design", "no start was tried"))?;
        Ok(self.proposal(network.unload(&best.state)?, attempts))
    }

    /// Mixes maps towards their outputs' own laws until the lifts are within their bounds.
    fn within_lift(&self, maps: &Maps) -> Result<Maps, Error> {
        let Some(lift) = &self.limits.lift else { return Ok(maps.clone()) };
        // One level that implies every bound.
        let upper = lift.upper().iter().map(|bound| bound.ln());
        let lower = lift.lower().iter().map(|bound| -bound.ln());
        let level = upper.chain(lower).fold(f64::INFINITY, f64::min);
        self.mixed_until(maps, |maps| {
            Ok(Evaluation::new(self.model, maps)?.information.nats <= level)
        })
    }

    /// The least mixed maps that are `good`; full mixing must be.
    pub(crate) fn mixed_until(
        &self,
        maps: &Maps,
        good: impl Fn(&Maps) -> Result<bool, Error>,
    ) -> Result<Maps, Error> {
        if good(maps)? {
            return Ok(maps.clone());
        }
        let bracket = Bracket { holds: 1.0, fails: 0.0 };
        let share = bracket.try_halve(24, |share| good(&maps.mixed(self.model, share)?))?.holds;
        maps.mixed(self.model, share)
    }
}

/// The LDP level of the map that tells most.
pub(crate) fn ldp_of(maps: &Maps) -> f64 {
    let levels = maps.channels().iter().map(|map| measure::ldp::leakage(map).nats);
    levels.fold(0.0, f64::max)
}

/// Symmetric randomised response over `size` symbols at these odds.
pub(crate) fn randomised_response(size: usize, odds: f64) -> Result<Channel, Error> {
    if !odds.is_finite() {
        return Channel::identity(size);
    }
    let other = 1.0 / (odds + size as f64 - 1.0);
    let row = |x: usize| {
        (0..size).map(|z| if z == x { odds * other } else { other }).collect::<Vec<f64>>()
    };
    let rows = (0..size).map(|x| Distribution::normalised("randomised response", row(x)));
    Channel::from_rows(rows.collect::<Result<_, _>>()?)
}

/// The odds of a second stage whose concatenation with `first` has the odds given: ST20 Proposition
/// 1(b), sharpened to e^ε = 1 + η(e^ε2 - 1).
fn contracted(first: &Channel, odds: f64) -> Result<f64, Error> {
    let mut distance = 0.0f64;
    for (at, a) in first.rows().iter().enumerate() {
        for b in &first.rows()[at + 1..] {
            distance = distance.max(a.total_variation(b)?);
        }
    }
    // A first stage that says nothing may be followed by anything.
    let level = if distance > 0.0 { 1.0 + (odds - 1.0) / distance } else { f64::INFINITY };
    Ok(level.min(1e12))
}
