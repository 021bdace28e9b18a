//! JLT18 Figure 6: four models that know the prior, one prior for all.

use undertone_design::mechanism::symmetric;

use super::levels;
use super::model::{Model, keeps_its_claim, printed_leakage};
use crate::claim::short;
use crate::row;
use crate::{Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture, Series, Table};
use undertone_numeric::bisection::Bracket;

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "jlt18-fig-6",
    paper: Paper::Jlt18,
    title: "Figure 6: ε-LDP, ε-LIP, ε/2-LIP and ε/2-symmetric LIP, P₁ = .5 and .01",
    data: &[],
    run,
};

const PRIORS: [f64; 2] = [0.5, 0.01];
const COLUMNS: [&str; 13] = [
    "p1",
    "epsilon",
    "ldp",
    "ldp_twice",
    "printed",
    "printed_leaks",
    "printed_half",
    "printed_half_leaks",
    "lip",
    "lip_attained_ldp",
    "lip_half",
    "lip_half_attained_ldp",
    "symmetric_half",
];

/// Square roots of mean squared errors. At ε = 0 nothing is released.
fn run(_: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let mut table = Table::new("error", &COLUMNS);
    for p in PRIORS {
        for epsilon in levels(0.0, 10.0, 0.5) {
            let half = epsilon / 2.0;
            let root = |model: Model, epsilon| Ok::<_, Error>(model.error(p, epsilon)?.sqrt());
            // A policy's root and its attained LDP.
            let policy = |model: Model, epsilon: f64| {
                if epsilon == 0.0 {
                    return Ok::<_, Error>(((p * (1.0 - p)).sqrt(), 0.0));
                }
                let point = model.policy(p, epsilon)?;
                Ok((point.value().sqrt(), point.ldp))
            };
            let (lip, lip_ldp) = policy(Model::Optimum, epsilon)?;
            let (lip_half, lip_half_ldp) = policy(Model::Optimum, half)?;
            table.push(row![
                p,
                epsilon,
                root(Model::Ldp, epsilon)?,
                root(Model::Ldp, 2.0 * epsilon)?,
                root(Model::Printed, epsilon)?,
                printed_leakage(p, epsilon),
                root(Model::Printed, half)?,
                printed_leakage(p, half),
                lip,
                lip_ldp,
                lip_half,
                lip_half_ldp,
                policy(Model::Symmetric, half)?.0,
            ]);
        }
    }
    claims(&mut outcome, &table)?;
    draw(&mut outcome, &table)?;
    outcome.table(table);
    Ok(outcome)
}

fn rows(table: &Table, p: f64) -> Vec<usize> {
    (0..table.rows.len()).filter(|&row| table.number(row, "p1") == p).collect()
}

/// Where ε/2-LIP by (19) stops erring less than ε-LDP at P₁ = .01: a sign change, by bisection.
fn crossing(p: f64) -> Result<f64, Error> {
    let gap = |epsilon: f64| {
        Ok::<_, Error>(Model::Printed.error(p, epsilon / 2.0)? - Model::Ldp.error(p, epsilon)?)
    };
    let bracket = Bracket { holds: 1.0, fails: 10.0 };
    Ok(bracket.try_halve(60, |epsilon| Ok::<_, Error>(gap(epsilon)? < 0.0))?.fails)
}

fn claims(outcome: &mut Outcome, table: &Table) -> Result<(), Error> {
    let get = |row: usize, column: &str| table.number(row, column);
    let all: Vec<usize> = (0..table.rows.len()).filter(|&row| get(row, "epsilon") > 0.0).collect();
    let [even, rare] = PRIORS.map(|p| {
        rows(table, p).into_iter().filter(|&row| get(row, "epsilon") > 0.0).collect::<Vec<_>>()
    });
    let count = |rows: &[usize], a: &str, b: &str| {
        rows.iter().filter(|&&row| get(row, a) < get(row, b)).count()
    };
    let gap = even.iter().map(|&row| (get(row, "symmetric_half") - get(row, "lip_half")).abs());
    let gap = gap.fold(0.0, f64::max);
    outcome.claim(Claim::tested(
        "P₁ = .5: the symmetric and the general model are the same",
        format!("their policies' errors differ by at most {}", short(gap)),
        "below 1e-6 at every ε",
        gap < 1e-6,
    ));
    let general = count(&rare, "lip_half", "symmetric_half");
    outcome.claim(Claim::tested(
        "P₁ = .01: the general model errs less than the symmetric one",
        format!("certified: at {general} of {} levels", rare.len()),
        "every ε above 0",
        general == rare.len(),
    ));
    let lip = count(&all, "lip", "ldp");
    outcome.claim(
        Claim::tested(
            "ε-Opt-LIP errs less than ε-Opt-LDP under any prior and ε",
            format!("certified: at {lip} of {} points", all.len()),
            "every ε above 0",
            lip == all.len(),
        )
        .because("as a feasible set it contains ε-LDP; it implies only 2ε-LDP, and LDP at 2ε errs less or the same: see the dotted line"),
    );
    let leaks = |epsilon: f64| {
        format!(
            "{} where it claims ε/2 = {}",
            short(printed_leakage(0.01, epsilon / 2.0)),
            short(epsilon / 2.0)
        )
    };
    let between = even
        .iter()
        .filter(|&&row| {
            get(row, "lip") <= get(row, "ldp") && get(row, "ldp") <= get(row, "lip_half") + 1e-9
        })
        .count();
    outcome.claim(Claim::tested(
        "P₁ = .5: ε-LDP lies between ε/2-LIP and ε-LIP",
        format!("at {between} of {} levels", even.len()),
        "every ε",
        between == even.len(),
    ));
    let cross = crossing(0.01)?;
    let (small, beyond) = (
        count(&rare, "printed_half", "ldp"),
        rare.iter().filter(|&&row| get(row, "epsilon") > cross).count(),
    );
    outcome.claim(
        Claim::tested(
            "P₁ = .01: for smaller ε, ε/2-Opt-LIP by (19) errs less than ε-Opt-LDP",
            format!("at {small} of {} levels, those below ε = {}", rare.len(), short(cross)),
            "below at every ε up to a crossing, above after it",
            small > 0 && small + beyond == rare.len(),
        )
        .only_printed(format!("{}, {} at the crossing", leaks(2.0), leaks(cross)))
        .because("below ε/2 = ln 99 = 4.6 that curve is not ε/2-LIP"),
    );
    outcome.claim(
        Claim::number("P₁ = .01: ε/2-Opt-LIP and ε-Opt-LDP cross at ε = 8.3", 8.3, cross, 0.25)
            .or_not_reproducible()
            .because("where (19) at ε/2 meets (20) at ε; the paper draws in steps of .5"),
    );
    let wins = count(&all, "lip_half", "ldp");
    let two = table.find(&[("p1", "0.01"), ("epsilon", "2")]);
    let at_two = |column: &str| two.map_or(f64::NAN, |row| get(row, column).powi(2));
    outcome.claim(
        Claim::tested(
            "P₁ = .01: ε/2-Opt-LIP has better utility and stronger privacy than ε-Opt-LDP",
            format!(
                "certified: at {wins} of {} points; ε = 2, mean squared errors: (19) {}, right {}, ε-LDP {}",
                all.len(),
                short(at_two("printed_half")),
                short(at_two("lip_half")),
                short(at_two("ldp"))
            ),
            "smaller at P₁ = .01 for some ε up to 8.3",
            wins > 0,
        )
        .because("impossible: by Theorem 1 every ε/2-LIP mechanism is ε-LDP, so it cannot beat the ε-LDP optimum"),
    );
    let (printed, right) =
        (symmetric::published_error_at(0.3, 0.2)?, symmetric::error_at(0.3, 0.2)?);
    outcome.claim(
        Claim::tested(
            "(22) is the error of the symmetric model at a flip probability q",
            format!("P₁ = .3, q = .2: {} printed, {} right", short(printed), short(right)),
            "equal there",
            (printed - right).abs() < 1e-9,
        )
        .because("P₁ must be squared, as in (34)"),
    );
    let negative = [0.01, 0.3]
        .iter()
        .flat_map(|&p| levels(0.5, 10.0, 0.5).into_iter().map(move |e| (p, e)))
        .map(|(p, e)| symmetric::published_error(p, e))
        .collect::<Result<Vec<_>, _>>()?;
    let below = negative.iter().filter(|error| **error < 0.0).count();
    outcome.claim(
        Claim::tested(
            "(23) is the error of the symmetric model",
            format!(
                "negative at {below} of {} points; P₁ = .3, ε = 1: {} printed, {} right",
                negative.len(),
                short(symmetric::published_error(0.3, 1.0)?),
                short(symmetric::error(0.3, 1.0)?)
            ),
            "a mean square, so not negative (P₁ = .01 and .3, ε to 10)",
            below == 0,
        )
        .because("P₁(1−P₁)[1 − P₁(E−1)²/(E(1 + P₁(E−2)))] for P₁ ≤ .5; the figure cannot have been drawn with (23)"),
    );
    Ok(())
}

fn draw(outcome: &mut Outcome, table: &Table) -> Result<(), Error> {
    let panel = |letter: &str, p: f64| {
        let own = rows(table, p);
        let line = |column: &str| -> Vec<(f64, f64)> {
            let cell = |&row: &usize| (table.number(row, "epsilon"), table.number(row, column));
            own.iter().map(cell).collect()
        };
        let same = if p == 0.5 {
            "ε/2-symmetric LIP (policy), on the line above"
        } else {
            "ε/2-symmetric LIP (policy)"
        };
        let mut series = vec![
            Series::solid("ε-Opt-LDP", line("ldp")),
            Series::reference("Opt-LDP at 2ε", line("ldp_twice")).coloured(0),
            Series::solid("ε-LIP optimum (policy)", line("lip")).coloured(1),
            Series::solid("ε/2-LIP optimum (policy)", line("lip_half")).coloured(2),
            Series::solid(same, line("symmetric_half")).coloured(3),
        ];
        if !keeps_its_claim(p, 0.5) {
            let leaks = |scale: f64| {
                [2.0, 4.0, 8.0]
                    .map(|e| format!("{} at ε = {e}", short(printed_leakage(p, e * scale))))
                    .join(", ")
            };
            series.push(
                Series::missing_its_claim("ε by (19)", leaks(1.0), line("printed")).coloured(1),
            );
            series.push(
                Series::missing_its_claim("ε/2 by (19)", leaks(0.5), line("printed_half"))
                    .coloured(2),
            );
        }
        Panel {
            title: format!("({letter}) P₁ = {p}"),
            x_label: "ε, in nats".into(),
            y_label: "√(mean squared error per person)".into(),
            series,
            ..Panel::default()
        }
    };
    let panels = vec![panel("a", PRIORS[0]), panel("b", PRIORS[1])];
    outcome.draw("error", &Picture { title: "JLT18 Figure 6".into(), panels })
}
