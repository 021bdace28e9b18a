//! ZDS22 Section III-B: how an LDP level is best split.

use undertone_design::watchdog::Method;

use super::laws::{self, mean};
use crate::claim::short;
use crate::row;
use crate::{Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture, Series, Table};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "zds22-split",
    paper: Paper::Zds22,
    title: "Section III-B: the split λ of an LDP level",
    data: &[],
    run,
};

const LEVELS: [f64; 2] = [1.5, 2.0];
/// λ = 0, .05, .. 1.
const STEPS: usize = 20;

fn lambda(step: usize) -> f64 {
    step as f64 / STEPS as f64
}

fn budget(epsilon: f64, step: usize) -> (f64, f64) {
    (lambda(step) * epsilon, (1.0 - lambda(step)) * epsilon)
}

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let (draws, extra) = (context.pick(2000, 10_000), context.pick(6, 100));
    outcome.note(format!(
        "{draws} laws as in Figure 1; subset merging on {extra} of them. ε_l = λε and ε_u = (1−λ)ε."
    ));
    let columns = ["epsilon", "lambda", "merged", "standard_error", "subset", "subset_error"];
    let mut table = Table::new("splits", &columns);
    let mut behind = Vec::new();
    for epsilon in LEVELS {
        let merged = laws::over(context, draws, |law| {
            let at = |step| {
                let (lower, upper) = budget(epsilon, step);
                law.watch(lower, upper).nmi
            };
            Ok((0..=STEPS).map(at).collect::<Vec<f64>>())
        })?;
        let subset = laws::over(context, extra, |law| {
            let at = |step| {
                let (lower, upper) = budget(epsilon, step);
                law.nmi(lower, upper, Method::Subset)
            };
            (0..=STEPS).map(at).collect::<Result<Vec<f64>, Error>>()
        })?;
        for step in 0..=STEPS {
            let (nmi, error) = mean(merged.iter().map(|nmis| nmis[step]));
            let (ours, ours_error) = mean(subset.iter().map(|nmis| nmis[step]));
            table.push(row![epsilon, lambda(step), nmi, error, ours, ours_error]);
        }
        // How far .65 is behind the best, law by law, in standard errors of that difference.
        let means = |step: usize| mean(merged.iter().map(|nmis| nmis[step])).0;
        let best = (0..=STEPS).max_by(|&a, &b| means(a).total_cmp(&means(b))).unwrap_or(0);
        behind.push((best, mean(merged.iter().map(|nmis| nmis[best] - nmis[13]))));
    }
    claims(&mut outcome, &table, &behind);
    let panels = LEVELS.map(|epsilon| {
        let own: Vec<usize> =
            (0..table.rows.len()).filter(|&row| table.number(row, "epsilon") == epsilon).collect();
        let line = |column: &str| -> Vec<(f64, f64)> {
            own.iter()
                .map(|&row| (table.number(row, "lambda"), table.number(row, column)))
                .collect()
        };
        Panel {
            title: format!("LDP {epsilon}"),
            x_label: "λ, the share of the budget that lets belief fall".into(),
            y_label: "mean NMI".into(),
            log_y: true,
            series: vec![
                Series::solid("complete merging, as printed", line("merged")),
                Series::solid("subset merging", line("subset")),
            ],
            ..Panel::default()
        }
    });
    outcome
        .draw("splits", &Picture { title: "ZDS22 Section III-B".into(), panels: panels.into() })?;
    outcome.table(table);
    Ok(outcome)
}

fn claims(outcome: &mut Outcome, table: &Table, behind: &[(usize, (f64, f64))]) {
    for (epsilon, (best, (gap, error))) in LEVELS.into_iter().zip(behind) {
        outcome.claim(
            Claim::tested(
                format!("LDP {epsilon}: λ = .65 has the best overall utility"),
                format!(
                    "largest mean NMI at λ = {}; .65 is behind by {} with a standard error of {}",
                    short(lambda(*best)),
                    short(*gap),
                    short(*error)
                ),
                "on a grid of .05, not behind the best by more than two standard errors",
                *gap <= 2.0 * error,
            )
            .printed(".65")
            .because(if *best == 13 { "" } else { "a tie" }),
        );
    }
    let at = |epsilon: f64, step: usize, column: &str| {
        let cells = [("epsilon", epsilon.to_string()), ("lambda", lambda(step).to_string())];
        table
            .find(&[(cells[0].0, &cells[0].1), (cells[1].0, &cells[1].1)])
            .map_or(f64::NAN, |row| table.number(row, column))
    };
    let worse = LEVELS.iter().all(|&epsilon| {
        (0..STEPS / 2).all(|step| at(epsilon, step, "merged") <= at(epsilon, STEPS / 2, "merged"))
    });
    let numbers = LEVELS.map(|e| {
        format!("{} and {} at LDP {e}", short(at(e, 8, "merged")), short(at(e, 10, "merged")))
    });
    outcome.claim(Claim::tested(
        "λ < .5 has less utility than λ = .5",
        format!("λ = .4 and .5: {}", numbers.join("; ")),
        "no λ below .5 with a larger mean NMI",
        worse,
    ));
    let studied = [(1.5, 10, 0.00225), (1.5, 13, 0.00590), (2.0, 10, 0.01496), (2.0, 13, 0.05192)];
    let off = studied.map(|(epsilon, step, nmi)| (at(epsilon, step, "merged") - nmi).abs());
    let errors = studied.map(|(epsilon, step, _)| at(epsilon, step, "standard_error"));
    outcome.claim(
        Claim::tested(
            "(our study) mean NMI .00225 and .00590 at LDP 1.5, .01496 and .05192 at LDP 2, λ = .5 and .65",
            format!("largest difference {}", short(off.iter().copied().fold(0.0, f64::max))),
            "within .005 and four standard errors",
            off.iter().zip(errors).all(|(off, error)| *off <= 0.005 && *off <= 4.0 * error),
        ).ours()
        .because("an independent program on other draws"),
    );
    let best = LEVELS.map(|epsilon| {
        let step = (0..=STEPS)
            .max_by(|&a, &b| at(epsilon, a, "subset").total_cmp(&at(epsilon, b, "subset")));
        lambda(step.unwrap_or(0))
    });
    outcome.note(format!("Under subset merging the best split is λ = {} at LDP 1.5 and {} at LDP 2, on the grid: relaxing the lower side helps there too.", best[0], best[1]));
}
