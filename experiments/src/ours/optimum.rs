//! What the corrected LIP optimum buys over LDP at ε and at 2ε, across skew and alphabet size.

use rayon::prelude::*;
use undertone_design::Distribution;
use undertone_design::designer::Method;
use undertone_design::objective::Objective;

use super::zipf;
use crate::certified::{self, Point, protect};
use crate::claim::short;
use crate::row;
use crate::{Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture, Series, Table};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "ours-optimum",
    paper: Paper::Ours,
    title: "What the LIP optimum buys over LDP(ε) and LDP(2ε), across skew and alphabet size",
    data: &[],
    run,
};

const COLUMNS: [&str; 13] = [
    "objective",
    "symbols",
    "skew",
    "epsilon",
    "blind",
    "lip",
    "attained_lip",
    "attained_ldp",
    "ldp",
    "ldp_lip",
    "ldp_twice",
    "ldp_twice_lip",
    "ldp_same",
];

/// What a report is for, and its name.
fn objectives() -> [(&'static str, Objective); 2] {
    [("0-1 loss", Objective::Hamming), ("frequency", Objective::Frequency)]
}

struct Cell {
    objective: &'static str,
    symbols: usize,
    skew: f64,
    epsilon: f64,
    blind: f64,
    lip: Point,
    ldp: Point,
    twice: Point,
    /// The best LDP channel at the level that the LIP optimum attains.
    same: Point,
}

impl Cell {
    fn new(
        (name, objective): &(&'static str, Objective),
        symbols: usize,
        skew: f64,
        epsilon: f64,
    ) -> Result<Self, Error> {
        let prior: Distribution = zipf(symbols, skew)?;
        let best = |notion: &str, level: f64| {
            certified::known(&prior, &protect(notion, level), objective, Method::Optimal)
        };
        let lip = best("lip", epsilon)?;
        Ok(Self {
            objective: name,
            symbols,
            skew,
            epsilon,
            blind: objective.blind(&prior)?,
            same: best("ldp", lip.ldp)?,
            ldp: best("ldp", epsilon)?,
            twice: best("ldp", 2.0 * epsilon)?,
            lip,
        })
    }

    /// How much less is lost than under LDP(ε), as a share.
    fn gain(&self) -> f64 {
        1.0 - self.lip.value() / self.ldp.value()
    }

    /// The share of the way from LDP(ε) to LDP(2ε); NaN where there is no way to go.
    fn way(&self) -> f64 {
        let whole = self.ldp.value() - self.twice.value();
        if whole > 1e-9 * self.ldp.value() {
            (self.ldp.value() - self.lip.value()) / whole
        } else {
            f64::NAN
        }
    }

    fn place(&self) -> String {
        format!(
            "{}, {} symbols, skew {}, ε = {}",
            self.objective, self.symbols, self.skew, self.epsilon
        )
    }
}

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let sizes: &[usize] = context.pick(&[2, 4], &[2, 3, 4, 6, 8]);
    let skews: &[f64] = context.pick(&[0.0, 1.0, 3.0], &[0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0]);
    let epsilons: &[f64] = context.pick(&[1.0], &[0.5, 1.0, 2.0]);
    let objectives = objectives();
    let mut tasks = Vec::new();
    for objective in &objectives {
        for &symbols in sizes {
            for &skew in skews {
                tasks.extend(epsilons.iter().map(|&epsilon| (objective, symbols, skew, epsilon)));
            }
        }
    }
    let cells: Vec<Cell> = tasks
        .par_iter()
        .with_max_len(1)
        .map(|&(objective, symbols, skew, epsilon)| Cell::new(objective, symbols, skew, epsilon))
        .collect::<Result<_, _>>()?;
    let mut table = Table::new("optimum", &COLUMNS);
    for c in &cells {
        table.push(row![
            c.objective,
            c.symbols,
            c.skew,
            c.epsilon,
            c.blind,
            c.lip.value(),
            c.lip.lip.unwrap_or(f64::NAN),
            c.lip.ldp,
            c.ldp.value(),
            c.ldp.lip.unwrap_or(f64::NAN),
            c.twice.value(),
            c.twice.lip.unwrap_or(f64::NAN),
            c.same.value(),
        ]);
    }
    claims(&mut outcome, &cells);
    outcome.note("Priors are Zipf: p(i) proportional to i^(-skew). 0-1 loss: how often the released symbol is not the input. Frequency: n times the summed variance of an efficient estimate of all shares. \
         Every point is a verified policy, the best of its kind; attained levels are read off its integers.");
    for (name, file) in [("0-1 loss", "optimum_0_1_loss"), ("frequency", "optimum_frequency")] {
        outcome.draw(file, &picture(&cells, name, sizes, skews))?;
    }
    outcome.table(table);
    Ok(outcome)
}

fn claims(outcome: &mut Outcome, cells: &[Cell]) {
    let all = cells.len();
    // Designs are within a hair of the optimum: rounding, and the odds of the kernel.
    let hair = 1e-5;
    let count = |holds: &dyn Fn(&Cell) -> bool| cells.iter().filter(|c| holds(c)).count();
    let above = count(&|c| c.lip.value() <= c.ldp.value() * (1.0 + hair));
    outcome.claim(
        Claim::tested(
            "at the same ε the LIP optimum is never worse than the best LDP channel",
            format!("in {above} of {all} cells"),
            "everywhere",
            above == all,
        )
        .because("LDP at ε is LIP at ε for every prior"),
    );
    let below = count(&|c| c.lip.value() >= c.twice.value() * (1.0 - hair));
    outcome.claim(
        Claim::tested(
            "and never better than the best LDP channel at 2ε",
            format!("in {below} of {all} cells"),
            "everywhere",
            below == all,
        )
        .because("LIP at ε gives LDP at 2ε: comparing at the same ε alone flatters LIP"),
    );
    let same = count(&|c| c.lip.value() >= c.same.value() * (1.0 - hair));
    outcome.claim(
        Claim::tested(
            "at the LDP it attains, no LIP design beats the best LDP channel",
            format!("in {same} of {all} cells"),
            "everywhere",
            same == all,
        )
        .because(
            "it is itself an LDP channel of that level; what is added is the promise about belief",
        ),
    );
    let nothing: Vec<&Cell> = cells.iter().filter(|c| c.gain() < 1e-4).collect();
    let place = nothing.first().map_or("nowhere".into(), |c| c.place());
    outcome.claim(Claim::tested(
        "there are priors for which it buys nothing over LDP(ε)",
        format!("in {} of {all} cells less than .01 %, for instance {place}", nothing.len()),
        "at least one",
        !nothing.is_empty(),
    ));
    let most = cells.iter().fold(None::<&Cell>, |best, next| match best {
        Some(best) if best.gain() >= next.gain() => Some(best),
        _ => Some(next),
    });
    if let Some(best) = most {
        outcome.claim(Claim::tested(
            "and others for which it buys a good deal",
            format!(
                "{:.0} % less loss: {}; it attains LDP {}, and LDP(2ε) would lose {} against its {}",
                100.0 * best.gain(),
                best.place(),
                short(best.lip.ldp),
                short(best.twice.value()),
                short(best.lip.value())
            ),
            "more than 10 %",
            best.gain() > 0.1,
        ));
    }
    let within = count(&|c| {
        c.lip.lip.is_some_and(|lip| lip <= c.epsilon) && c.lip.ldp <= 2.0 * c.epsilon + 1e-9
    });
    outcome.claim(
        Claim::tested(
            "attained LIP is within ε and attained LDP within 2ε",
            format!("in {within} of {all} cells"),
            "everywhere, on the integers",
            within == all,
        )
        .tautology(),
    );
}

/// Four views of one objective at ε = 1.
fn picture(cells: &[Cell], name: &str, sizes: &[usize], skews: &[f64]) -> Picture {
    let at = |symbols: usize, skew: f64| {
        let wanted =
            |c: &&Cell| (c.objective, c.symbols, c.skew, c.epsilon) == (name, symbols, skew, 1.0);
        cells.iter().find(wanted)
    };
    let panel = |title: &str, y: &str, of: &dyn Fn(&Cell) -> f64| Panel {
        title: title.into(),
        x_label: "skew of the prior (Zipf exponent)".into(),
        y_label: y.into(),
        series: sizes
            .iter()
            .map(|&symbols| {
                let point = |&skew: &f64| (skew, at(symbols, skew).map_or(f64::NAN, of));
                Series::solid(format!("{symbols} symbols"), skews.iter().map(point).collect())
            })
            .collect(),
        ..Panel::default()
    };
    let mut ldp = panel("attained LDP", "LDP, in nats", &|c| c.lip.ldp);
    let (first, last) = (skews[0], skews[skews.len() - 1]);
    let gap = (f64::NAN, f64::NAN);
    let levels = vec![(first, 1.0), (last, 1.0), gap, (first, 2.0), (last, 2.0)];
    ldp.series.push(Series::reference("ε and 2ε", levels));
    let same = |c: &Cell| 100.0 * (c.lip.value() / c.same.value() - 1.0);
    Picture {
        title: format!("{name}: the LIP optimum at ε = 1 against the best LDP channels"),
        panels: vec![
            panel("gain over LDP(ε)", "less loss, in %", &|c| 100.0 * c.gain()),
            panel("share of the way from LDP(ε) to LDP(2ε)", "in %", &|c| 100.0 * c.way()),
            ldp,
            panel("price over LDP at the attained level", "more loss, in %", &same),
        ],
    }
}
