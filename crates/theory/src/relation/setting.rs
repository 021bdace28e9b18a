//! What is known about the context in which a guarantee holds.

use std::borrow::Cow;

use super::{Guarantee, Notion, Subject};
use undertone_design::measure::delta::Convention;
use undertone_design::{Distribution, Error};

/// Everything a rule may use besides the guarantee itself. All fields are optional; a rule that
/// needs one that is absent says so.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Setting {
    /// The law of the datum X (of one sensor's datum in a network).
    pub prior: Option<Distribution>,
    /// A lower bound on the smallest probability of X, when the prior itself is not given.
    pub p_min: Option<f64>,
    /// The set of priors that `bplip` speaks of.
    pub priors: Vec<Distribution>,
    /// How many symbols X has, when the prior is not given.
    pub symbols: Option<usize>,
    /// The law of the private hypothesis G; with q components, index bits are the components.
    pub hypothesis: Option<Distribution>,
    /// A lower bound on the smallest probability of G, when its law is not given.
    pub hypothesis_min: Option<f64>,
    /// s, how many sensors report.
    pub sensors: Option<usize>,
    /// q, how many binary components the private hypothesis has.
    pub secrets: Option<usize>,
    /// The order of `sibson`, `arimoto` and `alphalift`, above 1.
    pub alpha: Option<f64>,
    /// δ_X of ST20 Theorem 1 (xiii): the largest ln p(x)/p(x') between neighbouring data vectors.
    pub spread: Option<f64>,
    /// The convention the answer's δ should be in; by default the premise's own.
    pub convention: Option<Convention>,
}

/// What a rule needs before it can be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Missing {
    /// The prior of X.
    Prior,
    /// The prior of X or its smallest probability.
    PriorOrMin,
    /// The set of priors of `bplip`.
    Priors,
    /// That the prior of X lies in the convex hull of the set of priors.
    PriorInSet,
    /// The prior or the number of symbols.
    Symbols,
    /// The law of G or its smallest probability.
    HypothesisMin,
    /// The law of G, on 2^q values.
    Hypothesis,
    /// That the smallest probability is above zero.
    PositiveMin,
    /// s.
    Sensors,
    /// s = 1.
    OneSensor,
    /// q.
    Secrets,
    /// α.
    Alpha,
    /// δ_X.
    Spread,
    /// δ = 0.
    Pure,
    /// A rule: none here decides the case.
    Rule,
}

impl Missing {
    /// What to give, in words.
    pub fn describe(self) -> &'static str {
        match self {
            Self::Prior => "the prior of X",
            Self::PriorOrMin => "the prior of X or its smallest probability",
            Self::Priors => "the set of priors, several of them",
            Self::PriorInSet => "a prior of X inside the set of priors",
            Self::Symbols => "the prior of X or its number of symbols",
            Self::HypothesisMin => "the law of G or its smallest probability",
            Self::Hypothesis => "the law of G on its 2^q values",
            Self::PositiveMin => {
                "a smallest probability above 0, because an average sees no symbol that never occurs"
            }
            Self::Sensors => "the number of sensors",
            Self::OneSensor => "a single sensor",
            Self::Secrets => "the number of private components",
            Self::Alpha => "the order alpha",
            Self::Spread => "the spread of the data's law, ln of its largest neighbour ratio",
            Self::Pure => "a premise with delta = 0: no rule carries delta to that notion",
            Self::Rule => "a rule: nothing here decides this case",
        }
    }

    /// What says it, under the names a question has for it: a prior or its minimum is read as the law of G where
    /// either notion speaks of a private hypothesis.
    pub fn fields(self) -> &'static [&'static str] {
        match self {
            Self::Prior | Self::Priors | Self::PriorInSet | Self::Hypothesis => &["prior"],
            Self::PriorOrMin | Self::HypothesisMin | Self::PositiveMin => &["prior", "p_min"],
            Self::Symbols => &["prior", "symbols"],
            Self::Sensors | Self::OneSensor => &["sensors"],
            Self::Secrets => &["secrets"],
            Self::Alpha => &["alpha"],
            Self::Spread => &["spread"],
            Self::Pure | Self::Rule => &[],
        }
    }
}

impl Setting {
    /// Nothing known.
    pub fn new() -> Self {
        Self::default()
    }

    /// Only the prior of X known.
    pub fn of(prior: Distribution) -> Self {
        Self { prior: Some(prior), ..Self::default() }
    }

    /// Puts a prior or its minimum, given without saying of what, where the question needs it: it is
    /// the law of G when either notion speaks of the private hypothesis, and the law of X otherwise.
    pub fn with_context(
        mut self,
        from: Notion,
        to: Notion,
        prior: Option<Distribution>,
        p_min: Option<f64>,
    ) -> Self {
        if [from, to].iter().any(|notion| notion.subject() == Subject::Hypothesis) {
            self.hypothesis = prior;
            self.hypothesis_min = p_min;
        } else {
            self.prior = prior;
            self.p_min = p_min;
        }
        self
    }

    /// Refuses numbers that cannot be: each field's range, and contradictions between fields.
    pub fn check(&self) -> Result<(), Error> {
        for (what, min, law) in [
            ("p_min", self.p_min, &self.prior),
            ("the smallest probability of G", self.hypothesis_min, &self.hypothesis),
        ] {
            let Some(p) = min else { continue };
            if !(0.0..=0.5).contains(&p) {
                return Err(Error::range(what, p, "between 0 and 1/2"));
            }
            if let Some(law) = law
                && p > law.min() + 1e-12
            {
                let range =
                    format!("at most {}, the prior's own minimum; give one of the two", law.min());
                return Err(Error::range(what, p, range));
            }
        }
        for (what, count) in
            [("sensors", self.sensors), ("secrets", self.secrets), ("symbols", self.symbols)]
        {
            if count == Some(0) {
                return Err(Error::range(what, 0.0, "at least 1"));
            }
        }
        if let Some(q) = self.secrets
            && q > 1000
        {
            return Err(Error::range("secrets", q as f64, "at most 1000"));
        }
        if let Some(alpha) = self.alpha
            && !(alpha > 1.0 && alpha.is_finite())
        {
            return Err(Error::range("alpha", alpha, "above 1 and finite"));
        }
        if let Some(spread) = self.spread
            && !(spread >= 0.0 && spread.is_finite())
        {
            return Err(Error::range(
                "the spread of the data's law",
                spread,
                "at least 0 and finite",
            ));
        }
        if let (Some(m), Some(prior)) = (self.symbols, &self.prior) {
            prior.check_len("symbols", m)?;
        }
        if let (Some(m), Some(p)) = (self.symbols, self.p_min)
            && p * m as f64 > 1.0 + 1e-12
        {
            return Err(Error::range("p_min", p, format!("at most 1/{m} for {m} symbols")));
        }
        self.in_one_order()?;
        if let (Some(q), Some(law)) = (self.secrets, &self.hypothesis)
            && !(q < 32 && law.len() == 1 << q)
        {
            let problem = format!("has {} values, but {q} binary secrets make 2^{q}", law.len());
            return Err(Error::other("the law of G", problem));
        }
        Ok(())
    }

    /// This setting with the symbols of the set of priors in the order of the prior's, or of the
    /// first of them; refuses priors of different symbols.
    pub(super) fn in_one_order(&self) -> Result<Cow<'_, Self>, Error> {
        let Some(first) = self.prior.as_ref().or_else(|| self.priors.first()) else {
            return Ok(Cow::Borrowed(self));
        };
        let ordered = |(k, prior): (usize, &Distribution)| {
            let what = format!("prior {k} of the set");
            prior.in_order_of(&what, first.symbols()).map(Cow::into_owned)
        };
        let priors = self.priors.iter().enumerate().map(ordered).collect::<Result<Vec<_>, _>>()?;
        Ok(match priors == self.priors {
            true => Cow::Borrowed(self),
            false => Cow::Owned(Self { priors, ..self.clone() }),
        })
    }

    pub(super) fn prior(&self) -> Result<&Distribution, Missing> {
        self.prior.as_ref().ok_or(Missing::Prior)
    }

    pub(super) fn p_min(&self) -> Result<f64, Missing> {
        let given = self.prior.as_ref().map(Distribution::min).or(self.p_min);
        given.ok_or(Missing::PriorOrMin)
    }

    pub(super) fn hypothesis_min(&self) -> Result<f64, Missing> {
        let given = self.hypothesis.as_ref().map(Distribution::min).or(self.hypothesis_min);
        given.ok_or(Missing::HypothesisMin)
    }

    /// How many symbols X has at most.
    pub(super) fn symbols(&self) -> Result<f64, Missing> {
        if let Some(prior) = &self.prior {
            return Ok(prior.len() as f64);
        }
        if let Some(m) = self.symbols {
            return Ok(m as f64);
        }
        match self.p_min {
            // A little slack so that p_min = 1/3 in floats still means three symbols.
            Some(p) if p > 0.0 => Ok((1.0 / p + 1e-9).floor()),
            _ => Err(Missing::Symbols),
        }
    }

    pub(super) fn priors(&self) -> Result<&[Distribution], Missing> {
        if self.priors.is_empty() { Err(Missing::Priors) } else { Ok(&self.priors) }
    }

    pub(super) fn sensors(&self) -> Result<f64, Missing> {
        self.sensors.map(|s| s as f64).ok_or(Missing::Sensors)
    }

    pub(super) fn one_sensor(&self) -> Result<(), Missing> {
        if self.sensors == Some(1) { Ok(()) } else { Err(Missing::OneSensor) }
    }

    /// q; the law of G tells it too when it has 2^q values.
    pub(super) fn secrets(&self) -> Result<usize, Missing> {
        let told = || {
            let values = self.hypothesis.as_ref()?.len();
            values.is_power_of_two().then(|| (values.trailing_zeros() as usize).max(1))
        };
        self.secrets.or_else(told).ok_or(Missing::Secrets)
    }

    pub(super) fn alpha(&self) -> Result<f64, Missing> {
        self.alpha.ok_or(Missing::Alpha)
    }

    /// δ_X; for a single sensor the prior tells it.
    pub(super) fn spread(&self) -> Result<f64, Missing> {
        if let Some(spread) = self.spread {
            return Ok(spread);
        }
        if self.sensors == Some(1)
            && let Some(prior) = &self.prior
        {
            return Ok((prior.max() / prior.min()).ln());
        }
        Err(Missing::Spread)
    }

    /// Refuses a premise that no mechanism satisfies in this setting.
    pub(super) fn check_feasible(&self, from: &Guarantee) -> Result<(), Error> {
        // Posteriors average to the prior, so some posterior odds are at least the prior odds.
        let floor = match from.notion() {
            Notion::Di => self.prior.as_ref().map(|prior| (prior.max() / prior.min()).ln()),
            Notion::Ident => self.spread().ok(),
            _ => None,
        };
        match floor {
            Some(floor) if from.epsilon() < floor - 1e-12 => Err(Error::range(
                format!("the epsilon of {}", from.notion()),
                from.epsilon(),
                format!(
                    "at least {floor}: the prior odds alone reach that, so no mechanism has less"
                ),
            )),
            _ => Ok(()),
        }
    }
}
