//! What the repository keeps of a full run, `report.json`: every claim with its verdict, at full size and at the
//! quick size, and how a later run is compared with it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::claim::decimals;
use crate::run::{Finished, Status, save};
use crate::{Claim, Error, Experiment, Kind, Paper, Verdict, registry};

/// How far two runs' numbers may be apart, as a share of the larger: two units of the fourth digit, which is the last
/// that is printed. Exponentials and logarithms differ by their last bit between machines.
pub const TOLERANCE: f64 = 2e-3;
/// The same where mechanisms are learned: descent from a machine's own roundings ends elsewhere.
pub const TOLERANCE_LEARNED: f64 = 5e-2;
/// Numbers below this are roundings of nought.
pub const NOUGHT: f64 = 1e-6;
/// Experiments that learn mechanisms from samples.
const LEARNED: [&str; 4] = ["st20-fig-8", "st20-fig-9", "st20-table-1", "st20-table-2"];

/// What is kept of a run of every experiment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// How many claims came out how, by paper.
    pub counts: Vec<Counts>,
    /// What a reader of the figures must know.
    pub experiments: Vec<Noted>,
    /// Every claim, in the order of the report.
    pub claims: Vec<Recorded>,
}

/// How many claims came out how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// The paper's key, or `all`.
    pub paper: String,
    /// What the paper claims and we computed.
    pub claims: usize,
    /// How many of these have a number in the paper's text.
    pub with_a_number: usize,
    /// How many of these could not have come out otherwise.
    pub tautologies: usize,
    /// What became of them; the words of [`Verdict::SLUGS`].
    pub verdicts: BTreeMap<String, usize>,
    /// What the paper claims and needed no computing, beside these.
    pub arithmetic: usize,
    /// What we claim, beside these.
    pub ours: usize,
}

/// An experiment and the remarks it made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Noted {
    /// The word that names it.
    pub key: String,
    /// The key of its paper.
    pub paper: String,
    /// What it shows.
    pub title: String,
    /// Its remarks.
    pub notes: Vec<String>,
}

/// A claim and what came out, in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judged {
    /// The experiment's key, a slash, and the claim's own name.
    pub id: String,
    /// The key of the paper.
    pub paper: String,
    /// Who says it: `paper`, `ours`, or `arithmetic` where nothing was computed anew.
    pub kind: Kind,
    /// Whether it could not have come out otherwise.
    pub tautology: bool,
    /// What is claimed, in our words.
    pub says: String,
    /// The number the paper's text gives, if it gives one.
    pub printed: Option<String>,
    /// What came out here.
    pub ours: String,
    /// How far apart the two may be, or what was tested.
    pub tested: String,
    /// One of [`Verdict::SLUGS`].
    pub verdict: String,
    /// What the printed formula truly leaks, where the claim holds only for it.
    pub leaks: Option<String>,
    /// Why the verdict is what it is.
    pub reason: String,
}

/// A claim of the record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recorded {
    /// At full size.
    #[serde(flatten)]
    pub full: Judged,
    /// Whether a quick run says something else, if only a number, or nothing.
    pub depends_on_size: bool,
    /// At the quick size, where that is something else; nothing where a quick run does not judge it.
    pub quick: Option<Judged>,
}

impl Judged {
    /// A claim of an experiment, in words.
    pub fn new(experiment: &Experiment, claim: &Claim) -> Self {
        let leaks = match &claim.verdict {
            Verdict::OnlyWithPrintedFormula { leaks } => Some(leaks.clone()),
            _ => None,
        };
        Self {
            id: format!("{}/{}", experiment.key, claim.id),
            paper: experiment.paper.key().into(),
            kind: claim.kind,
            tautology: claim.tautology,
            says: claim.paper_says.clone(),
            printed: claim.paper_number.clone(),
            ours: claim.ours.clone(),
            tested: claim.tolerance.clone(),
            verdict: claim.verdict.slug().into(),
            leaks,
            reason: claim.reason.clone(),
        }
    }

    /// The experiment's key.
    pub fn experiment(&self) -> &str {
        self.id.split('/').next().unwrap_or_default()
    }

    /// Everything said about the claim.
    pub fn texts(&self) -> impl Iterator<Item = (&'static str, &str)> {
        [
            ("says", self.says.as_str()),
            ("printed", self.printed.as_deref().unwrap_or_default()),
            ("ours", self.ours.as_str()),
            ("tested", self.tested.as_str()),
            ("leaks", self.leaks.as_deref().unwrap_or_default()),
            ("reason", self.reason.as_str()),
        ]
        .into_iter()
    }

    /// Where two runs say different things of one claim.
    fn differences(&self, later: &Self) -> Vec<String> {
        let learned = LEARNED.contains(&self.experiment());
        let tolerance = if learned { TOLERANCE_LEARNED } else { TOLERANCE };
        let mut found = Vec::new();
        if self.verdict != later.verdict {
            found.push(format!("{}: kept {}, now {}", self.id, self.verdict, later.verdict));
        }
        if (self.kind, self.tautology) != (later.kind, later.tautology) {
            found.push(format!("{}: another kind of claim than the one kept", self.id));
        }
        for ((field, kept), (_, now)) in self.texts().zip(later.texts()) {
            if !same(kept, now, tolerance) {
                found.push(format!("{}, {field}: kept {kept:?}, now {now:?}", self.id));
            }
        }
        found
    }
}

/// Whether two texts have the same words and about the same numbers.
fn same(kept: &str, now: &str, tolerance: f64) -> bool {
    if kept == now {
        return true;
    }
    let (kept_words, kept) = decimals(kept);
    let (now_words, now) = decimals(now);
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= NOUGHT.max(tolerance * a.abs().max(b.abs()));
    kept_words == now_words && kept.len() == now.len() && kept.iter().zip(&now).all(near)
}

/// The claims of a run.
pub fn judged(finished: &[Finished]) -> Vec<Judged> {
    let mut claims = Vec::new();
    for found in finished {
        if let Status::Done(outcome) = &found.status {
            claims.extend(outcome.claims.iter().map(|claim| Judged::new(found.experiment, claim)));
        }
    }
    claims
}

/// How many claims came out how, of one paper or of all.
pub fn counts<'a>(name: &str, claims: impl Iterator<Item = &'a Judged>) -> Counts {
    let verdicts = Verdict::SLUGS.iter().map(|slug| (slug.to_string(), 0)).collect();
    let mut counts = Counts {
        paper: name.into(),
        claims: 0,
        with_a_number: 0,
        tautologies: 0,
        verdicts,
        arithmetic: 0,
        ours: 0,
    };
    for claim in claims {
        match claim.kind {
            Kind::Ours => counts.ours += 1,
            Kind::Arithmetic => counts.arithmetic += 1,
            Kind::Paper => {
                counts.claims += 1;
                counts.with_a_number += usize::from(claim.printed.is_some());
                counts.tautologies += usize::from(claim.tautology);
                *counts.verdicts.entry(claim.verdict.clone()).or_default() += 1;
            }
        }
    }
    counts
}

/// The counts of every paper, and of all together.
pub fn all_counts(claims: &[Judged]) -> Vec<Counts> {
    let of = |paper: &Paper| {
        let own = claims.iter().filter(|claim| claim.paper == paper.key());
        counts(paper.key(), own)
    };
    let papers = Paper::ALL.iter().filter(|paper| claims.iter().any(|c| c.paper == paper.key()));
    papers.map(of).chain([counts("all", claims.iter())]).collect()
}

impl Record {
    /// Of every experiment, run at both sizes. Anything missing is an error: a record without it would pass for whole.
    pub fn new(full: &[Finished], quick: &[Finished]) -> Result<Self, Error> {
        for found in full.iter().chain(quick) {
            if let Status::MissingData(why) | Status::Failed(why) = &found.status {
                return Err(Error::other(format!(
                    "nothing was recorded, since {} gave no outcome: {why}",
                    found.experiment.key
                )));
            }
        }
        let (full_claims, quick_claims) = (judged(full), judged(quick));
        let mut by_id: BTreeMap<&str, &Judged> = BTreeMap::new();
        for claim in &quick_claims {
            by_id.insert(&claim.id, claim);
        }
        let mut claims = Vec::new();
        let mut seen = BTreeSet::new();
        for claim in &full_claims {
            if !seen.insert(&claim.id) {
                return Err(Error::other(format!(
                    "two claims are called {}; name one with `.id(...)`",
                    claim.id
                )));
            }
            let quick = by_id.remove(claim.id.as_str());
            let differs = quick != Some(claim);
            claims.push(Recorded {
                full: claim.clone(),
                depends_on_size: differs,
                quick: quick.filter(|_| differs).cloned(),
            });
        }
        if let Some(id) = by_id.keys().next() {
            return Err(Error::other(format!(
                "only a quick run judges {id}; if its words hold numbers of the run, name it with `.id(...)`"
            )));
        }
        let noted = |found: &Finished| Noted {
            key: found.experiment.key.into(),
            paper: found.experiment.paper.key().into(),
            title: found.experiment.title.into(),
            notes: match &found.status {
                Status::Done(outcome) => outcome.notes.clone(),
                _ => Vec::new(),
            },
        };
        Ok(Self {
            counts: all_counts(&full_claims),
            experiments: full.iter().map(noted).collect(),
            claims,
        })
    }

    /// The record in a file.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::File {
            verb: "read",
            path: path.into(),
            source,
        })?;
        serde_json::from_str(&text).map_err(|error| {
            Error::other(format!("{} is not a record of a run: {error}", path.display()))
        })
    }

    /// Writes the record.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(self).map_err(Error::other)?;
        save(path, &format!("{text}\n"))
    }

    /// Where a later run of that size differs, in words. Experiments without their data are passed over.
    pub fn compare(&self, finished: &[Finished], quick: bool) -> Vec<String> {
        let mut found = Vec::new();
        let later = judged(finished);
        let now: BTreeMap<&str, &Judged> = later.iter().map(|c| (c.id.as_str(), c)).collect();
        let ran = |key: &str| {
            let done = |found: &&Finished| matches!(found.status, Status::Done(_));
            finished.iter().filter(done).any(|found| found.experiment.key == key)
        };
        for kept in self.claims.iter().filter(|kept| ran(kept.full.experiment())) {
            let own = match (&kept.quick, quick && kept.depends_on_size) {
                (Some(at_quick_size), true) => at_quick_size,
                (None, true) => continue,
                (_, false) => &kept.full,
            };
            match now.get(own.id.as_str()) {
                Some(claim) => found.extend(own.differences(claim)),
                None => found.push(format!("{}: kept, and judged no more", own.id)),
            }
        }
        let known = |id: &str| self.claims.iter().any(|kept| kept.full.id == id);
        let new = later.iter().filter(|claim| !known(&claim.id));
        found.extend(new.map(|claim| format!("{}: judged, and not kept", claim.id)));
        found
    }

    /// A line for each figure: how many of its claims came out how. This is the table of docs/papers.md.
    pub fn figures(&self) -> String {
        let mut lines = vec![
            "| figure or table | the paper's claims | reproduced | only with the printed formula | not reproducible | ill-defined | false | arithmetic | ours |".to_owned(),
            "|---|---|---|---|---|---|---|---|---|".to_owned(),
        ];
        let line = |name: String, counts: &Counts| {
            let cell = |count: usize| if count == 0 { "·".to_owned() } else { count.to_string() };
            let verdicts = Verdict::SLUGS.map(|slug| cell(counts.verdicts[slug]));
            format!(
                "| {name} | {} | {} | {} | {} |",
                cell(counts.claims),
                verdicts.join(" | "),
                cell(counts.arithmetic),
                cell(counts.ours)
            )
        };
        for paper in Paper::ALL {
            for experiment in registry::all().into_iter().filter(|e| e.paper == paper) {
                let own = self.claims.iter().map(|kept| &kept.full);
                let own = own.filter(|claim| claim.experiment() == experiment.key);
                let counts = counts(experiment.key, own);
                lines.push(line(format!("`{}`", experiment.key), &counts));
            }
        }
        for counts in &self.counts {
            lines.push(line(format!("**{}**", counts.paper), counts));
        }
        lines.join("\n")
    }
}
