//! The methods of ST20 Tables I and II, learned on some rows of a table and judged on others.

use rayon::prelude::*;
use undertone_fusion::Origin;
use undertone_fusion::design::Watch;
use undertone_fusion::learn::Settings;
use undertone_fusion::learn::compare::{Entry, Line, Study, compare};
use undertone_fusion::learn::prepare::Parts;

use crate::claim::short;
use crate::row;
use crate::{Claim, Error, Outcome, Panel, Series, Table, certified};

/// A line of one of the paper's tables: errors of H and G, ε_I and ε_LD as printed.
pub struct Printed {
    /// As `fusion train` calls it.
    pub method: &'static str,
    /// Errors of H and G.
    pub errors: (f64, f64),
    /// ε_I by (12).
    pub information: f64,
    /// ε_LD by (13); infinite for what is deterministic.
    pub ldp: f64,
}

/// One line of a printed table.
pub const fn printed(method: &'static str, h: f64, g: f64, information: f64, ldp: f64) -> Printed {
    Printed { method, errors: (h, g), information, ldp }
}

/// What the text says about its table, held against the table as printed.
pub fn text_against_table(outcome: &mut Outcome, name: &str, lines: &[Printed]) {
    let Some((epic, others)) = lines.split_first() else { return };
    let sanitisers = || others.iter().filter(|line| line.method != "raw");
    let best = sanitisers().map(|line| line.errors.0).fold(f64::INFINITY, f64::min);
    let gap = epic.errors.0 - best;
    outcome.claim(
        Claim::tested(
            format!("{name}, as the text reads it: EPIC errs at most .01 more on H than the best other sanitiser"),
            format!("the printed table: {} against {best}, {gap:.4} apart", epic.errors.0),
            "at most .01, in the printed table",
            gap <= 0.01 + 1e-9,
        ).arithmetic()
        .printed(".01"),
    );
    let worse: Vec<String> = others
        .iter()
        .filter(|line| line.errors.0 > epic.errors.0)
        .map(|line| format!("{} {}", line.method, line.errors.0))
        .collect();
    outcome.claim(
        Claim::tested(
            format!("{name}, as the text reads it: EPIC has the highest error of H of all methods"),
            format!(
                "the printed table has {} for EPIC; above it: {}",
                epic.errors.0,
                worse.join(", ")
            ),
            "no method of the printed table errs more",
            worse.is_empty(),
        )
        .arithmetic()
        .printed(epic.errors.0.to_string()),
    );
}

/// Printed values of ε_I that (12) cannot take on so many rows.
pub fn impossible(outcome: &mut Outcome, name: &str, lines: &[Printed], rows: usize) {
    let most = (rows as f64).ln();
    let above = lines.iter().filter(|line| line.information > most);
    let listed: Vec<String> =
        above.map(|line| format!("{} {}", line.method, line.information)).collect();
    outcome.claim(
        Claim::tested(
            format!("{name} lists (12) on {rows} test rows"),
            format!("a finite value of (12) on {rows} rows is at most ln {rows} = {}", short(most)),
            "every printed ε_I is at most that",
            listed.is_empty(),
        ).arithmetic()
        .printed(listed.join(", "))
        .because("a cell holds at least one row, so no finite ratio of counts exceeds n; the printed values must come from something else, perhaps smoothed counts"),
    );
}

/// Methods, learned and judged.
pub struct Comparison {
    lines: Vec<Line>,
}

const COLUMNS: [&str; 14] = [
    "method",
    "error_h",
    "error_g",
    "trees_h",
    "trees_g",
    "counted_i",
    "averaged_i",
    "bound_i",
    "mass_outside_bound",
    "attained_ld",
    "paper_h",
    "paper_g",
    "paper_i",
    "paper_ld",
];

impl Comparison {
    /// Learns and judges every method of a printed table, side by side.
    pub fn run(parts: &Parts, lines: &[Printed], settings: &Settings) -> Result<Self, Error> {
        let study = Study {
            train: &parts.train,
            test: &parts.test,
            units: parts.units.as_deref(),
            confidence: 0.95,
            levels: 10,
        };
        let origin = Origin::default();
        let line = |printed: &Printed| {
            Ok(compare(&study, Entry::parse(printed.method)?, settings, &origin, &Watch::PATIENT)?)
        };
        Ok(Self {
            lines: lines.par_iter().with_max_len(1).map(line).collect::<Result<_, Error>>()?,
        })
    }

    /// How one method did.
    pub fn get(&self, method: &str) -> Option<&Line> {
        self.lines.iter().find(|line| line.entry.name() == method)
    }

    /// A figure of one method; NaN without it.
    pub fn figure(&self, method: &str, of: impl Fn(&Line) -> f64) -> f64 {
        self.get(method).map_or(f64::NAN, of)
    }

    /// Ours beside the paper's.
    pub fn table(&self, name: &str, printed: &[Printed]) -> Table {
        let mut table = Table::new(name, &COLUMNS);
        for (line, paper) in self.lines.iter().zip(printed) {
            let seen = &line.judged.examined;
            table.push(row![
                line.entry.name(),
                line.judged.detectors.public,
                line.judged.detectors.private,
                seen.attackers.public,
                seen.attackers.private,
                seen.counted,
                averaged(line),
                seen.bound.nats,
                seen.bound.outside,
                ldp(line),
                paper.errors.0,
                paper.errors.1,
                paper.information,
                paper.ldp,
            ]);
        }
        table
    }

    /// Errors of H against errors of G, once by linear detectors and once by trees.
    pub fn panels(&self, title: &str) -> Vec<Panel> {
        let Some(first) = self.lines.first() else { return Vec::new() };
        let blind = first.judged.examined.blind;
        let panel = |detector: &str, of: fn(&Line) -> (f64, f64)| {
            let point = |line: &Line| {
                let ldp = ldp(line);
                let level =
                    if ldp.is_finite() { format!("LDP {}", short(ldp)) } else { "no LDP".into() };
                Series::points(format!("{} ({level})", line.entry.name()), vec![of(line)])
            };
            let mut series: Vec<Series> = self.lines.iter().map(point).collect();
            let ends = |pick: fn((f64, f64)) -> f64, more: f64| {
                let all = || self.lines.iter().map(|line| pick(of(line))).chain([more]);
                (all().fold(f64::INFINITY, f64::min), all().fold(0.0, f64::max))
            };
            let ((left, right), (low, high)) =
                (ends(|p| p.0, blind.public), ends(|p| p.1, blind.private));
            let blind = vec![
                (left, blind.private),
                (right, blind.private),
                (f64::NAN, f64::NAN),
                (blind.public, low),
                (blind.public, high),
            ];
            series.push(Series::reference("blind guesses: of H (upright), of G (level)", blind));
            Panel {
                title: format!("{title}: {detector}"),
                x_label: "error of H (less is more useful)".into(),
                y_label: "error of G (more is more private)".into(),
                series,
                ..Panel::default()
            }
        };
        vec![
            panel("linear detectors", |line| {
                (line.judged.detectors.public, line.judged.detectors.private)
            }),
            panel("boosted trees", |line| {
                let seen = line.judged.examined.attackers;
                (seen.public, seen.private)
            }),
        ]
    }
}

/// The attained LDP of the worst sensor: of the integers, where there are any.
pub fn ldp(line: &Line) -> f64 {
    let Some(shipped) = &line.shipped else { return line.judged.examined.ldp };
    let levels = shipped.policies.iter();
    levels.map(|policy| certified::nats(policy.certificate().input.ldp.ratio)).fold(0.0, f64::max)
}

/// (12) averaged over the maps' own randomness; NaN where there are too many outputs.
pub fn averaged(line: &Line) -> f64 {
    line.judged.examined.averaged.unwrap_or(f64::NAN)
}
