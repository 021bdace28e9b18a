//! JSTL21 Figure 2: the LDP and the DI leakage that ε-LIP leaves open, bounds against exact values.

use undertone_design::{Distribution, extremal};
use undertone_theory::relation::forms;

use super::grid;
use crate::claim::short;
use crate::row;
use crate::{Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture, Series, Table};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "jstl21-fig-2",
    paper: Paper::Jstl21,
    title: "Figure 2: LDP and DI leakage under ε-LIP, bounds against exact values",
    data: &[],
    run,
};

const COLUMNS: [&str; 7] =
    ["prior", "epsilon", "ldp_exact", "ldp_vertices", "ldp_printed", "di_exact", "di_printed"];

/// The largest ratio of two lifts over every extremal lift vector: Theorem 1 (9) by enumeration.
fn by_vertices(prior: &Distribution, epsilon: f64) -> Result<f64, Error> {
    let lifts = extremal::lifts(prior, (-epsilon).exp(), epsilon.exp())?;
    let ratio = |lift: &Vec<f64>| {
        let high = lift.iter().copied().fold(0.0, f64::max);
        let low = lift.iter().copied().fold(f64::INFINITY, f64::min);
        (high / low).ln()
    };
    Ok(lifts.iter().map(ratio).fold(0.0, f64::max))
}

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let mut table = Table::new("leakage", &COLUMNS);
    let priors = [("P1", vec![0.01, 0.33, 0.33, 0.33]), ("P2", vec![0.25; 4])];
    for (name, p) in &priors {
        let prior = Distribution::new("prior", p.clone())?;
        let spread = (prior.max() / prior.min()).ln();
        for epsilon in grid(5.0, context.pick(0.25, 0.05)) {
            table.push(row![
                name,
                epsilon,
                forms::exact_ldp(&prior, epsilon, epsilon),
                by_vertices(&prior, epsilon)?,
                forms::ldp_from_lip(epsilon, prior.min()),
                forms::exact_di(&prior, epsilon, epsilon),
                2.0 * epsilon + spread,
            ]);
        }
    }
    let of = |name: &str| -> Vec<usize> {
        (0..table.rows.len()).filter(|&row| table.rows[row][0] == name).collect()
    };
    let (skewed, uniform) = (of("P1"), of("P2"));
    let get = |row: usize, column: &str| table.number(row, column);

    let inside = (0..table.rows.len()).filter(|&row| {
        let (e, ldp) = (get(row, "epsilon"), get(row, "ldp_exact"));
        e - 1e-9 <= ldp && ldp <= 2.0 * e + 1e-9
    });
    let inside = inside.count();
    outcome.claim(Claim::tested(
        "the LDP leakage of ε-LIP lies between ε and 2ε under both priors",
        format!("at {inside} of {} points", table.rows.len()),
        "all points",
        inside == table.rows.len(),
    ));
    let gap = |rows: &[usize], a: &str, b: &str| {
        rows.iter().map(|&row| (get(row, a) - get(row, b)).abs()).fold(0.0, f64::max)
    };
    let overlap = gap(&uniform, "ldp_exact", "ldp_printed");
    outcome.claim(Claim::tested(
        "under the uniform prior Proposition 1 equals the exact value of Theorem 1",
        format!("largest gap {}", short(overlap)),
        "gap below 1e-9",
        overlap < 1e-9,
    ));
    let closed =
        gap(&skewed, "ldp_exact", "ldp_vertices").max(gap(&uniform, "ldp_exact", "ldp_vertices"));
    outcome.claim(
        Claim::tested(
            "Theorem 1 (9) gives the exact LDP leakage",
            format!(
                "the closed form and an enumeration of extremal lifts differ by {}",
                short(closed)
            ),
            "difference below 1e-9",
            closed < 1e-9,
        )
        .because("with the logarithm added to (9), and its maximum and minimum taken per output"),
    );
    let rises = skewed
        .iter()
        .zip(&uniform)
        .all(|(&a, &b)| get(a, "ldp_exact") >= get(b, "ldp_exact") - 1e-12);
    outcome.claim(Claim::tested(
        "the more skewed prior P1 leaks more LDP than the uniform P2",
        if rises { "at every ε" } else { "not at every ε" },
        "exact LDP of P1 at least that of P2 at every ε",
        rises,
    ));
    let two = |p: f64| {
        Distribution::new("prior", vec![1.0 - p, p]).map(|prior| forms::exact_ldp(&prior, 1.0, 1.0))
    };
    let (coin, rare) = (two(0.5)?, two(0.1)?);
    outcome.claim(
        Claim::tested(
            "in general a more skewed prior means more LDP leakage",
            format!("two symbols, ε = 1: uniform {}, [.9, .1] {}", short(coin), short(rare)),
            "exact LDP of [.9, .1] at least that of the fair coin",
            rare >= coin,
        )
        .because("with two symbols skew lowers it"),
    );
    let at_one = skewed.iter().copied().find(|&row| (get(row, "epsilon") - 1.0).abs() < 1e-9);
    let (exact, printed) =
        at_one.map_or((f64::NAN, f64::NAN), |row| (get(row, "di_exact"), get(row, "di_printed")));
    outcome.claim(
        Claim::tested(
            "Theorem 3.1: ε-LIP implies (2ε + D∞)-DI",
            format!("P1, ε = 1: the bound says {}, exact is {}", short(printed), short(exact)),
            "never below the exact value",
            (0..table.rows.len()).all(|row| get(row, "di_exact") <= get(row, "di_printed") + 1e-9),
        )
        .because(
            "true and loose: the pair that attains 2ε is not the pair of the largest prior odds",
        ),
    );

    let line = |rows: &[usize], column: &str| {
        rows.iter().map(|&row| (get(row, "epsilon"), get(row, column))).collect::<Vec<_>>()
    };
    let panel = |title: &str, y: &str, exact: &str, printed: &str, bound: &str| Panel {
        title: title.into(),
        x_label: "ε of LIP, in nats".into(),
        y_label: y.into(),
        series: vec![
            Series::solid("P1 = [.01, .33, .33, .33], exact", line(&skewed, exact)),
            Series::reference(format!("P1, {bound} (holds, loose)"), line(&skewed, printed))
                .coloured(0),
            Series::solid("P2 uniform, exact", line(&uniform, exact)),
            Series::reference(format!("P2, {bound} (holds)"), line(&uniform, printed)).coloured(1),
        ],
        ..Panel::default()
    };
    let mut ldp =
        panel("(a) LDP", "LDP leakage, in nats", "ldp_exact", "ldp_printed", "Proposition 1");
    for (name, factor) in [("ε", 1.0), ("2ε", 2.0)] {
        ldp.series.push(Series::reference(name, vec![(0.0, 0.0), (5.0, 5.0 * factor)]));
    }
    let di = panel("(b) DI", "DI leakage, in nats", "di_exact", "di_printed", "Theorem 3.1");
    outcome.draw("leakage", &Picture { title: "JSTL21 Figure 2".into(), panels: vec![ldp, di] })?;
    outcome.table(table);
    Ok(outcome)
}
