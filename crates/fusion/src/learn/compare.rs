//! One network, several methods: learn on some samples, judge on others (ST20 Tables I and II).

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_design::Error;

use super::centralised::Criterion;
use super::leakage::{self, Bound, Evidence, Observer};
use super::linear::Linear;
use super::release::{Projected, Release};
use super::ship::{Shipped, ship};
use super::trees::{Boosted, Growth};
use super::{Method, Settings, Trained, train};
use crate::design::Watch;
use crate::objective::likeliest;
use crate::{FusionRule, Maps, Origin, Sample, Samples};
use undertone_numeric::dice::{shuffled, unit};

/// A line of the comparison.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Entry {
    /// Maps learned from the samples.
    Learned(Method),
    /// A projection chosen by someone who sees everything.
    Centralised(Criterion),
    /// The readings themselves.
    Raw,
}

impl Entry {
    /// The entry's name.
    pub fn name(self) -> String {
        match self {
            Self::Learned(method) => method.name().into(),
            Self::Centralised(Criterion::Dca) => "dca".into(),
            Self::Centralised(Criterion::Mdr) => "mdr".into(),
            Self::Centralised(Criterion::Ruca { price }) => format!("ruca:{price}"),
            Self::Raw => "raw".into(),
        }
    }

    /// Whether what it learns can run on sensors, as policies the kernel verified.
    pub fn ships(self) -> bool {
        matches!(self, Self::Learned(_))
    }

    /// Reads a name; `ruca` alone has price 1.
    pub fn parse(name: &str) -> Result<Self, Error> {
        if let Some(method) = Method::ALL.into_iter().find(|method| method.name() == name) {
            return Ok(Self::Learned(method));
        }
        match (name, name.strip_prefix("ruca:").map(str::parse::<f64>)) {
            ("dca", _) => Ok(Self::Centralised(Criterion::Dca)),
            ("mdr", _) => Ok(Self::Centralised(Criterion::Mdr)),
            ("ruca", _) => Ok(Self::Centralised(Criterion::Ruca { price: 1.0 })),
            ("raw", _) => Ok(Self::Raw),
            (_, Some(Ok(price))) if price >= 0.0 && price.is_finite() => {
                Ok(Self::Centralised(Criterion::Ruca { price }))
            }
            _ => Err(Error::other(
                "method",
                format!("{name:?} is not one of epic, npo, e-ldp, dca, mdr, ruca, ruca:PRICE, raw"),
            )),
        }
    }
}

/// Samples to learn from and to judge by.
#[derive(Debug, Clone, Copy)]
pub struct Study<'a> {
    /// To learn from.
    pub train: &'a Samples,
    /// Held out.
    pub test: &'a Samples,
    /// The independent unit each held-out sample belongs to; without it each is one.
    pub units: Option<&'a [usize]>,
    /// How sure the bound on the leakage is to be.
    pub confidence: f64,
    /// How many levels a released projection is cut into.
    pub levels: usize,
}

/// How a method did.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// The method that was compared.
    pub entry: Entry,
    /// What was learned, for maps.
    pub trained: Option<Trained>,
    /// The integers that ship, for maps.
    pub shipped: Option<Shipped>,
    /// What was judged: for maps, those of the integers.
    pub release: Release,
    /// How it did on the held-out samples.
    pub judged: Judged,
}

/// What held-out samples say about a release and the detectors learned with it.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    /// How often detectors of H and G, linear in the released symbols and learned on the training
    /// samples, are wrong.
    pub detectors: Pair,
    /// The guarantee for whoever sees only what the detector of H decides, for maps.
    pub decisions: Option<Bound>,
    /// All that does not depend on the training samples' labels.
    pub examined: Examined,
}

/// What held-out samples say about a release, however it was made.
#[derive(Debug, Clone, PartialEq)]
pub struct Examined {
    /// How often boosted trees are wrong that learned from released symbols of half of the held-out
    /// samples, with labels, and guess for the other half.
    pub attackers: Pair,
    /// How often the most common value of each is wrong.
    pub blind: Pair,
    /// ε_I from counts of drawn outputs, ST20 (12).
    pub counted: f64,
    /// ε_I averaged over the maps' randomness; `None` if there are too many outputs.
    pub averaged: Option<f64>,
    /// The guarantee for whoever sees all outputs.
    pub bound: Bound,
    /// What the bound would be if every sample were independent of every other; only where units are
    /// known. No guarantee.
    pub if_independent: Option<Bound>,
    /// ε_LD of the worst sensor.
    pub ldp: f64,
    /// The empirical I(X_t;Z_t) of every sensor, for maps.
    pub sensor_information: Vec<f64>,
}

/// A figure about H and the same about G.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pair {
    /// About H.
    pub public: f64,
    /// About G.
    pub private: f64,
}

/// Learns and judges one method.
pub fn compare(
    study: &Study<'_>,
    entry: Entry,
    settings: &Settings,
    origin: &Origin,
    watch: &Watch<'_>,
) -> Result<Line, Error> {
    let (trained, shipped, release) = match entry {
        Entry::Learned(method) => {
            let trained = train(study.train, method, settings, watch)?;
            let ldp = if method.hides_readings() { settings.ldp } else { f64::INFINITY };
            let origin = Origin { method: method.name().into(), ..origin.clone() };
            let shipped = ship(study.train, &trained.maps, ldp, &origin)?;
            let release = Release::Maps(shipped.maps.clone());
            (Some(trained), Some(shipped), release)
        }
        Entry::Centralised(criterion) => {
            let projected = Projected::fit(study.train, criterion, 1.0, study.levels)?;
            (None, None, Release::Projected(projected))
        }
        Entry::Raw => {
            let sizes = study.train.sensors().iter().map(|(_, alphabet)| alphabet.len()).collect();
            (None, None, Release::Raw(sizes))
        }
    };
    let judged = judge(study, &release, settings)?;
    Ok(Line { entry, trained, shipped, release, judged })
}

/// How many times every sample is released to a detector that learns or is judged.
const DRAWS: usize = 4;
/// Detectors that learn from few samples see each more often.
const LEARNED: usize = 4000;

/// Judges a release by held-out samples.
pub fn judge(study: &Study<'_>, release: &Release, settings: &Settings) -> Result<Judged, Error> {
    let Study { train, test, units, confidence, .. } = *study;
    let mut rng = ChaCha12Rng::seed_from_u64(settings.seed);
    let sizes = release.sizes();
    let times = (LEARNED / train.samples().len()).clamp(1, 64);
    let seen = release.rows(train, times, &mut rng);
    let fresh = release.rows(test, DRAWS, &mut rng);
    let detector = |label: fn(&Sample) -> usize| {
        let known = labels(train, label, seen.len());
        let detector = Linear::fit(&seen, &sizes, &known, settings.ridge)?;
        let truth = labels(test, label, fresh.len());
        let error = wrong(&fresh, &truth, |row| detector.decide(row));
        Ok::<_, Error>((detector, error))
    };
    let (rule, public) = detector(|sample| sample.public)?;
    let (_, private) = detector(|sample| sample.private)?;
    let evidence = Evidence { held_out: test, units, prior: None, chosen_with: Some(train) };
    let decide = |row: &[usize]| rule.decide(row);
    let decisions = match release {
        Release::Maps(_) => {
            let observer = Observer::Decisions(&decide, test.public().size());
            let bound = leakage::bounded(&evidence, release, observer, confidence, settings.seed)?;
            Some(bound).filter(|bound| bound.cells > 0)
        }
        _ => None,
    };
    let examined = examine(&evidence, release, confidence, settings.seed)?;
    Ok(Judged { detectors: Pair { public, private }, decisions, examined })
}

/// Attacks a release and bounds its leakage, by held-out samples alone.
pub fn examine(
    evidence: &Evidence<'_>,
    release: &Release,
    confidence: f64,
    seed: u64,
) -> Result<Examined, Error> {
    let Evidence { held_out, units, .. } = *evidence;
    let mut rng = ChaCha12Rng::seed_from_u64(seed ^ 0x5eed);
    let sizes = release.sizes();
    let fresh = release.rows(held_out, DRAWS, &mut rng);
    let halves = halves(held_out, units, &mut rng);
    let attacker = |label: fn(&Sample) -> usize| attack(held_out, &halves, &fresh, &sizes, label);
    let attackers = Pair { public: attacker(|s| s.public)?, private: attacker(|s| s.private)? };
    let count = held_out.samples().len();
    let bound = |evidence: &Evidence<'_>| {
        leakage::bounded(evidence, release, Observer::Outputs, confidence, seed)
    };
    let alone = Evidence { units: None, ..evidence.clone() };
    Ok(Examined {
        attackers,
        blind: Pair {
            public: blind(held_out, |s| s.public),
            private: blind(held_out, |s| s.private),
        },
        counted: leakage::counted(&labels(held_out, |s| s.private, count), &fresh[..count]),
        averaged: leakage::averaged(held_out, release)?,
        bound: bound(evidence)?,
        if_independent: units.map(|_| bound(&alone)).transpose()?,
        ldp: release.ldp(),
        sensor_information: match release {
            Release::Maps(maps) => sensor_information(held_out, maps)?,
            _ => Vec::new(),
        },
    })
}

/// How often the centre's own rule and the posterior of G are wrong about held-out samples whose outputs
/// are drawn: what the network's model is worth on real data.
pub fn rule_errors(
    samples: &Samples,
    rule: &FusionRule,
    release: &Release,
    seed: u64,
) -> Result<Pair, Error> {
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    let mut coins = ChaCha12Rng::seed_from_u64(seed ^ 0xc01);
    let (mut public, mut private) = (0usize, 0usize);
    for sample in samples.samples() {
        let outputs: Vec<Option<usize>> =
            release.draw(&sample.readings, &mut rng).into_iter().map(Some).collect();
        let posterior = rule.posterior(&outputs)?;
        let decision = rule.decision(&posterior, &outputs, unit(&mut coins))?;
        public += usize::from(decision != sample.public);
        private += usize::from(likeliest(&posterior.private, 0) != sample.private);
    }
    let n = samples.samples().len() as f64;
    Ok(Pair { public: public as f64 / n, private: private as f64 / n })
}

/// The labels of all samples, over and over until there are `count`.
fn labels(samples: &Samples, label: fn(&Sample) -> usize, count: usize) -> Vec<usize> {
    samples.samples().iter().map(label).cycle().take(count).collect()
}

/// The share of rows whose label is guessed wrong.
pub fn wrong(rows: &[Vec<usize>], labels: &[usize], guess: impl Fn(&[usize]) -> usize) -> f64 {
    let wrong = rows.iter().zip(labels).filter(|(row, label)| guess(row) != **label).count();
    wrong as f64 / rows.len().max(1) as f64
}

/// How often the most common value is wrong.
fn blind(samples: &Samples, label: fn(&Sample) -> usize) -> f64 {
    let mut counts = std::collections::BTreeMap::new();
    samples.samples().iter().for_each(|s| *counts.entry(label(s)).or_insert(0usize) += 1);
    let most = counts.values().copied().max().unwrap_or(0);
    1.0 - most as f64 / samples.samples().len() as f64
}

/// Which samples an attacker learns from; a unit is in one half.
fn halves(samples: &Samples, units: Option<&[usize]>, rng: &mut ChaCha12Rng) -> Vec<bool> {
    let count = samples.samples().len();
    let unit = |i: usize| units.map_or(i, |units| units[i]);
    let largest = (0..count).map(unit).max().unwrap_or(0) + 1;
    // Labels are spread: units are dealt out in turn within each private value.
    let mut learns = vec![None; largest];
    let mut turn = std::collections::BTreeMap::new();
    for i in shuffled(count, rng) {
        let sample = &samples.samples()[i];
        if learns[unit(i)].is_none() {
            let turn = turn.entry((sample.public, sample.private)).or_insert(false);
            *turn = !*turn;
            learns[unit(i)] = Some(*turn);
        }
    }
    (0..count).map(|i| learns[unit(i)] == Some(true)).collect()
}

/// The error of trees that learn from one half of the samples and guess for the other.
fn attack(
    test: &Samples,
    learns: &[bool],
    rows: &[Vec<usize>],
    sizes: &[usize],
    label: fn(&Sample) -> usize,
) -> Result<f64, Error> {
    let count = test.samples().len();
    let labels = labels(test, label, rows.len());
    let pick = |side: bool| -> (Vec<Vec<usize>>, Vec<usize>) {
        (0..rows.len())
            .filter(|i| learns[i % count] == side)
            .map(|i| (rows[i].clone(), labels[i]))
            .unzip()
    };
    let ((seen, known), (fresh, truth)) = (pick(true), pick(false));
    if seen.is_empty() || fresh.is_empty() {
        let problem = "too few held-out samples to attack with: hold out at least two units";
        return Err(Error::other("the attacker", problem));
    }
    let trees = Boosted::fit(&seen, sizes, &known, Growth::default())?;
    Ok(wrong(&fresh, &truth, |row| trees.guess(row)))
}

fn sensor_information(samples: &Samples, maps: &Maps) -> Result<Vec<f64>, Error> {
    let one = |(t, map): (usize, &undertone_design::Channel)| {
        let mut counts = vec![0.0; map.inputs()];
        samples.samples().iter().for_each(|sample| counts[sample.readings[t]] += 1.0);
        let law = undertone_design::Distribution::normalised("readings", counts)?;
        undertone_design::measure::mutual_information::leakage(&law, map)
    };
    maps.channels().iter().enumerate().map(one).collect()
}
