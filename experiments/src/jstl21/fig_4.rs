//! JSTL21 Figure 4: what a symmetric binary channel leaks under four notions, two priors.

use undertone_design::measure::{ldp, lip, maximal_leakage, mutual_information};
use undertone_design::{Channel, Distribution};

use crate::claim::short;
use crate::row;
use crate::{Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture, Series, Table};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "jstl21-fig-4",
    paper: Paper::Jstl21,
    title: "Figure 4: four notions of leakage on a symmetric binary channel",
    data: &[],
    run,
};

const NOTIONS: [&str; 4] = ["ldp", "lip", "maximal_leakage", "mutual_information"];

fn leakages(prior: &Distribution, flip: f64) -> Result<[f64; 4], Error> {
    let channel = Channel::new(vec![vec![1.0 - flip, flip], vec![flip, 1.0 - flip]])?;
    Ok([
        ldp::leakage(&channel).nats,
        lip::leakage(prior, &channel)?.nats,
        maximal_leakage::leakage(prior, &channel)?,
        mutual_information::leakage(prior, &channel)?,
    ])
}

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let mut table = Table::new(
        "leakage",
        &["p1", "flip", "ldp", "lip", "maximal_leakage", "mutual_information"],
    );
    let mut panels = Vec::new();
    let steps = context.pick(50, 250);
    for (letter, p1) in [("a", 0.5), ("b", 0.2)] {
        let prior = Distribution::new("prior", vec![1.0 - p1, p1])?;
        let first = table.rows.len();
        for step in 0..=2 * steps {
            let flip = f64::from(step) / f64::from(2 * steps);
            let [a, b, c, d] = leakages(&prior, flip)?;
            table.push(row![p1, flip, a, b, c, d]);
        }
        let line = |notion: &str| {
            let rows = first..table.rows.len();
            rows.map(|row| (table.number(row, "flip"), table.number(row, notion).min(6.0)))
                .collect()
        };
        let series = NOTIONS.map(|notion| Series::solid(notion.replace('_', " "), line(notion)));
        panels.push(Panel {
            title: format!("({letter}) P(1) = {p1}, cut off at 6 nats"),
            x_label: "flip probability q".into(),
            y_label: "leakage, in nats".into(),
            series: series.into(),
            ..Panel::default()
        });
    }

    let count = table.rows.len();
    let above = (0..count).filter(|&row| {
        let [a, b, c, d] = NOTIONS.map(|notion| table.number(row, notion));
        a + 1e-12 >= b && b + 1e-12 >= c && b + 1e-12 >= d
    });
    let above = above.count();
    outcome.claim(
        Claim::tested(
            "LDP and LIP leakage are larger than mutual information and maximal leakage for every q",
            format!("LDP ≥ LIP ≥ both averages at {above} of {count} points"),
            "all points",
            above == count,
        )
        .because("LIP bounds every log-lift, of which the other two are averages (Theorem 3)"),
    );
    let ends = (0..count).filter(|&row| table.number(row, "flip") == 0.0);
    let infinite = ends.filter(|&row| table.number(row, "lip").is_infinite()).count();
    outcome.claim(
        Claim::tested(
            "q = 0 leaks without bound under LIP",
            format!("infinite for {infinite} of 2 priors"),
            "both priors",
            infinite == 2,
        )
        .printed("∞"),
    );
    let example = table.find(&[("p1", "0.2"), ("flip", "0.1")]);
    let (mil, lip) = example.map_or((f64::NAN, f64::NAN), |row| {
        (table.number(row, "maximal_leakage"), table.number(row, "lip"))
    });
    outcome.claim(
        Claim::tested(
            "some mechanism satisfies ε-MIP or ε-MIL and not ε-LIP",
            format!("P(1) = .2, q = .1: maximal leakage {}, LIP {}", short(mil), short(lip)),
            "LIP above maximal leakage",
            lip > mil,
        )
        .because("so neither average implies LIP"),
    );
    // Example 1 prints L_LIP as a ratio, without the logarithm that Definition (8) takes.
    let ratio = lip.exp();
    outcome.claim(
        Claim::tested(
            "Example 1: L_LIP is the largest of four ratios P(y)/q(y|x)",
            format!("at P(1) = .2, q = .1 that maximum is {} and its logarithm {}", short(ratio), short(lip)),
            "the printed line equals definition (8)",
            (ratio - lip).abs() < 1e-9,
        )
        .because("a misprint: the printed line lacks the logarithm that (8) takes; the figure can only be drawn with it"),
    );
    outcome.draw("leakage", &Picture { title: "JSTL21 Figure 4".into(), panels })?;
    outcome.table(table);
    Ok(outcome)
}
