//! What several releases leak together.

use serde::Serialize;
use undertone_design::{Channel, Distribution};
use undertone_theory::composition;
use undertone_theory::sequence::{self, Process};

pub use undertone_design::extremal::LiftRange;

use crate::answer::Answer;
use crate::document::{Prior, PriorSet};
use crate::number::Round;
use crate::{Error, number};

/// Several releases, and what they are about.
///
/// ```
/// use undertone::compose::{ComposeRequest, ComposedData, Releases, compose, promises};
/// use undertone::{Answer, Prior};
///
/// let prior = Prior::new([0.5, 0.5])?;
/// let twice = ComposeRequest {
///     data: ComposedData::OneDatum { priors: vec![prior] },
///     releases: Releases::Promises(promises(["1", "1"])?),
/// };
/// let report = compose(&twice)?;
/// // Two releases of 1-LIP each leak more than 2 together.
/// assert!(report.json()["exact"].as_f64() > Some(2.0));
/// # Ok::<(), undertone::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct ComposeRequest {
    /// What is released.
    pub data: ComposedData,
    /// Through what it is released.
    pub releases: Releases,
}

/// What several releases are about.
#[derive(Debug, Clone)]
pub enum ComposedData {
    /// The same datum each time.
    OneDatum {
        /// Its prior; of several, every figure is that of the worst.
        priors: Vec<Prior>,
    },
    /// A Markov chain of data, each released once.
    Markov {
        /// The law of the first datum; of several, every figure is that of the worst.
        priors: Vec<Prior>,
        /// From one datum to the next.
        transition: NamedChannel,
    },
    /// Two correlated data, each released once.
    Joint(Process),
}

/// Through what data is released.
#[derive(Debug, Clone)]
pub enum Releases {
    /// Any mechanisms that keep these promises, one each.
    Promises(Vec<LiftRange>),
    /// These channels, one each.
    Channels(Vec<NamedChannel>),
}

impl Releases {
    fn len(&self) -> usize {
        match self {
            Self::Promises(ranges) => ranges.len(),
            Self::Channels(channels) => channels.len(),
        }
    }
}

/// A channel, and what it is called in errors.
#[derive(Debug, Clone)]
pub struct NamedChannel {
    /// What it is called in errors: the name of its document.
    pub name: String,
    /// The channel.
    pub channel: Channel,
}

/// Promises as people write them: an epsilon such as `2`, or `0.5/1` for the two sides of asymmetric LIP.
pub fn promises<S: AsRef<str>>(
    texts: impl IntoIterator<Item = S>,
) -> Result<Vec<LiftRange>, Error> {
    let blamed = |problem: String| Error::field("epsilons", format!(": {problem}"));
    let parse = |text: &str| {
        let wrong = |_| blamed(format!("{text:?} is not a number; write 2,2 or 0.5/1"));
        text.trim().parse::<f64>().map_err(wrong)
    };
    let promise = |text: S| {
        let range = match text.as_ref().split_once('/') {
            Some((lower, upper)) => LiftRange::asymmetric(parse(lower)?, parse(upper)?),
            None => LiftRange::symmetric(parse(text.as_ref())?),
        };
        range.map_err(|error| blamed(error.to_string()))
    };
    texts.into_iter().map(promise).collect()
}

/// What several releases leak together. Leakages are in nats and written rounded up.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum ComposeReport {
    /// One datum through given channels.
    Channels(ComposedChannels),
    /// One datum under promises, and one prior.
    Promises(ComposedPromises),
    /// One datum under promises, and several priors.
    Family(ComposedFamily),
    /// Correlated data through given channels.
    SequenceChannels(SequenceChannels),
    /// Correlated data under promises.
    SequencePromises(SequencePromises),
}

/// What given channels leak about one datum, under the worst prior.
#[derive(Debug, Clone, Serialize)]
pub struct ComposedChannels {
    /// Belief moves this far in either direction.
    #[serde(rename = "exact", serialize_with = "number::as_bound")]
    pub lip: f64,
    /// Belief rises this far.
    #[serde(serialize_with = "number::as_bound")]
    pub max_lift: f64,
    /// Belief falls this far.
    #[serde(serialize_with = "number::as_bound")]
    pub min_lift: f64,
    /// Likelihoods of two values differ this far.
    #[serde(serialize_with = "number::as_bound")]
    pub ldp: f64,
    /// How many releases there are.
    pub releases: usize,
    /// How many priors there are.
    pub priors: usize,
}

/// Bounds on what mechanisms with given promises leak together.
#[derive(Debug, Clone, Serialize)]
pub struct ComposedBounds {
    /// The bound the paper prints.
    #[serde(rename = "bound", serialize_with = "number::as_bound")]
    pub published: f64,
    /// The exact LDP of each release, added, and back to LIP.
    #[serde(serialize_with = "number::as_bound")]
    pub sharpened: f64,
    /// The worst over all mechanisms that keep the promises; nothing where that is too large, or too fine for floats.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub exact: Option<f64>,
    /// How many releases there are.
    pub releases: usize,
    /// Which result of the paper `published` is.
    #[serde(skip)]
    pub result: &'static str,
}

/// What mechanisms with given promises leak about one datum, under one prior.
#[derive(Debug, Clone, Serialize)]
pub struct ComposedPromises {
    /// The bounds.
    #[serde(flatten)]
    pub bounds: ComposedBounds,
    /// The epsilons added up, which is no bound.
    #[serde(serialize_with = "number::as_value")]
    pub sum: f64,
    /// How `exact` is attained.
    pub witness: Option<ComposedWitness>,
}

/// The symbol and the outputs at which releases leak most.
#[derive(Debug, Clone, Serialize)]
pub struct ComposedWitness {
    /// The symbol in which belief moves furthest.
    pub symbol: usize,
    /// The lifts of one output of each release, one per symbol.
    pub lifts: Vec<Vec<f64>>,
}

/// What mechanisms with given promises leak about one datum, under the worst of several priors.
#[derive(Debug, Clone, Serialize)]
pub struct ComposedFamily {
    /// The bounds.
    #[serde(flatten)]
    pub bounds: ComposedBounds,
    /// How many priors there are.
    pub priors: usize,
}

/// What given channels leak about correlated data.
#[derive(Debug, Clone, Serialize)]
pub struct SequenceChannels {
    /// About the whole sequence.
    #[serde(serialize_with = "number::as_bound")]
    pub sequence: f64,
    /// About each datum by itself, from all outputs.
    #[serde(serialize_with = "number::as_bounds")]
    pub each: Vec<f64>,
    /// Whether these are attained; otherwise they are bounds.
    pub exact: bool,
    /// How many laws of the first datum there are.
    pub priors: usize,
}

/// What mechanisms with given promises leak about correlated data.
#[derive(Debug, Clone, Serialize)]
pub struct SequencePromises {
    /// The bounds.
    #[serde(flatten)]
    pub bounds: ComposedBounds,
    /// About each datum by itself, from all outputs; nothing where there is no exact value.
    #[serde(serialize_with = "number::as_optional_bounds")]
    pub each: Option<Vec<f64>>,
    /// How many laws of the first datum there are.
    pub priors: usize,
}

/// Bounds what several releases leak together, and computes it exactly where that is possible.
pub fn compose(request: &ComposeRequest) -> Result<ComposeReport, Error> {
    let ComposeRequest { data, releases } = request;
    let (priors, transition) = match data {
        ComposedData::Joint(process) => {
            return correlated(std::slice::from_ref(process), releases);
        }
        ComposedData::OneDatum { priors } => (priors, None),
        ComposedData::Markov { priors, transition } => (priors, Some(transition)),
    };
    let set = PriorSet::new(priors)?;
    let listed = match releases {
        Releases::Channels(channels) => channels.as_slice(),
        Releases::Promises(_) => &[],
    };
    for NamedChannel { name, channel } in listed.iter().chain(transition) {
        if channel.is_bare() {
            set.check_bare(name, "write it as {\"inputs\": [...], \"rows\": [...]}")?;
        }
    }
    let priors = set.laws();
    let Some(prior) = priors.first() else {
        return Err(Error::field("prior", "is missing: give one, or a joint law of the data"));
    };
    if let Some(NamedChannel { channel, .. }) = transition {
        let process =
            |prior: &Distribution| Process::markov(prior.clone(), channel, releases.len());
        let processes = priors.iter().map(process).collect::<Result<Vec<_>, _>>()?;
        return correlated(&processes, releases);
    }
    Ok(match releases {
        Releases::Channels(channels) => ComposeReport::Channels(given(priors, channels)?),
        Releases::Promises(ranges) if priors.len() > 1 => {
            let found = composition::family(priors, ranges)?;
            let bounds = ComposedBounds {
                published: found.published,
                sharpened: found.sharpened,
                exact: found.exact,
                releases: ranges.len(),
                result: "Corollary 4",
            };
            ComposeReport::Family(ComposedFamily { bounds, priors: priors.len() })
        }
        Releases::Promises(ranges) => {
            let found = composition::compose(prior, ranges)?;
            ComposeReport::Promises(ComposedPromises {
                bounds: ComposedBounds {
                    published: found.published,
                    sharpened: found.sharpened,
                    exact: found.exact.as_ref().map(|worst| worst.leakage),
                    releases: ranges.len(),
                    result: "Theorem 4",
                },
                sum: ranges.iter().map(LiftRange::epsilon).sum(),
                witness: found
                    .exact
                    .map(|worst| ComposedWitness { symbol: worst.symbol, lifts: worst.lifts }),
            })
        }
    })
}

fn channels_of(named: &[NamedChannel]) -> Vec<Channel> {
    named.iter().map(|named| named.channel.clone()).collect()
}

/// The exact leakage of given channels: each figure under the prior of the set for which it is worst.
fn given(priors: &[Distribution], channels: &[NamedChannel]) -> Result<ComposedChannels, Error> {
    let channels = channels_of(channels);
    let mut worst = composition::Leakage { max_lift: 0.0, min_lift: 0.0, ldp: 0.0 };
    for prior in priors {
        let found = composition::given(prior, &channels)?;
        worst.max_lift = worst.max_lift.max(found.max_lift);
        worst.min_lift = worst.min_lift.max(found.min_lift);
        worst.ldp = worst.ldp.max(found.ldp);
    }
    Ok(ComposedChannels {
        lip: worst.lip(),
        max_lift: worst.max_lift,
        min_lift: worst.min_lift,
        ldp: worst.ldp,
        releases: channels.len(),
        priors: priors.len(),
    })
}

/// Correlated data: each figure is that of the worst of the processes, which differ in their first law.
fn correlated(processes: &[Process], releases: &Releases) -> Result<ComposeReport, Error> {
    let widest = |a: Vec<f64>, b: Vec<f64>| a.iter().zip(&b).map(|(a, b)| a.max(*b)).collect();
    let ranges = match releases {
        Releases::Promises(ranges) => ranges,
        Releases::Channels(channels) => {
            let channels = channels_of(channels);
            let (mut sequence, mut each, mut exact) = (0.0f64, vec![0.0; channels.len()], true);
            for process in processes {
                let found = sequence::leakage(process, &channels)?;
                sequence = sequence.max(found.sequence.lip());
                each = widest(each, found.each.iter().map(sequence::Lifts::lip).collect());
                exact &= found.exact;
            }
            let priors = processes.len();
            return Ok(ComposeReport::SequenceChannels(SequenceChannels {
                sequence,
                each,
                exact,
                priors,
            }));
        }
    };
    let (mut published, mut sharpened) = (0.0f64, 0.0f64);
    let mut worst = Some((0.0f64, vec![0.0; ranges.len()]));
    for process in processes {
        published = published.max(sequence::published(process, ranges)?);
        sharpened = sharpened.max(sequence::sharpened(process, ranges)?);
        worst = match (worst, sequence::worst_case(process, ranges)) {
            (Some((exact, each)), Ok(found)) => {
                Some((exact.max(found.sequence), widest(each, found.each)))
            }
            (None, Ok(_)) => None,
            (_, Err(error)) if error.leaves_a_bound() => None,
            (_, Err(other)) => return Err(other.into()),
        };
    }
    let (exact, each) = worst.unzip();
    let (releases, result) = (ranges.len(), "Corollary 5");
    let bounds = ComposedBounds { published, sharpened, exact, releases, result };
    Ok(ComposeReport::SequencePromises(SequencePromises { bounds, each, priors: processes.len() }))
}

/// A leakage for people, never below it.
fn up(value: f64) -> String {
    number::rounded(value, Round::Up)
}

/// A sentence's end for a set of priors.
pub fn worst_of(priors: usize) -> String {
    if priors > 1 { format!(", under the worst of the {priors} priors") } else { String::new() }
}

impl ComposedChannels {
    /// What the figures are of, to be followed by them.
    pub fn headline(&self) -> String {
        format!(
            "{} releases of one datum through these channels leak, together and exactly{}:",
            self.releases,
            worst_of(self.priors)
        )
    }
}

impl ComposedPromises {
    /// That adding the epsilons up is too little, where it is.
    pub fn warning(&self) -> Option<String> {
        let exact = self.bounds.exact.filter(|exact| *exact > self.sum + 1e-9)?;
        Some(format!(
            "Adding the epsilons up gives {}, which is too little: {} is attained.",
            number::nats(self.sum),
            up(exact)
        ))
    }
}

impl SequencePromises {
    /// What is learnt about each datum, where that is known.
    pub fn about_each(&self) -> Option<String> {
        let each: Vec<String> = self.each.as_ref()?.iter().map(|&leakage| up(leakage)).collect();
        Some(format!("About each datum by itself, from all outputs: {}.", each.join(", ")))
    }
}

impl ComposedBounds {
    fn words(&self) -> String {
        let (releases, published, sharpened) = (self.releases, self.published, self.sharpened);
        let exact = match self.exact {
            Some(exact) => format!("the worst of them leak {} nats", up(exact)),
            None => "the exact figure is not known".into(),
        };
        format!(
            "{releases} releases that keep these promises leak at most {} nats together ({} by JSTL21 {}); {exact}.",
            up(sharpened),
            up(published),
            self.result
        )
    }
}

impl Answer for ComposeReport {
    fn words(&self) -> String {
        let lines = |first: String, second: Option<String>| match second {
            Some(second) => format!("{first}\n{second}"),
            None => first,
        };
        match self {
            Self::Channels(found) => format!(
                "{} LIP {}, max-lift {}, min-lift {}, LDP {} nats.",
                found.headline(),
                up(found.lip),
                up(found.max_lift),
                up(found.min_lift),
                up(found.ldp)
            ),
            Self::Promises(found) => lines(found.bounds.words(), found.warning()),
            Self::Family(found) => found.bounds.words(),
            Self::SequenceChannels(found) => {
                let each: Vec<String> = found.each.iter().map(|&leakage| up(leakage)).collect();
                format!(
                    "The whole sequence leaks {} {} nats, each datum by itself {}{}.",
                    if found.exact { "exactly" } else { "at most" },
                    up(found.sequence),
                    each.join(", "),
                    worst_of(found.priors)
                )
            }
            Self::SequencePromises(found) => lines(found.bounds.words(), found.about_each()),
        }
    }
}
