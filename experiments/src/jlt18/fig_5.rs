//! JLT18 Figure 5: what the prior buys in the estimator, and in the promise.

use undertone_design::mechanism::symmetric;

use super::levels;
use super::model::{Model, keeps_its_claim, printed_leakage};
use crate::claim::short;
use crate::row;
use crate::{Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture, Series, Table};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "jlt18-fig-5",
    paper: Paper::Jlt18,
    title: "Figure 5: with and without the prior, P₁ = .5 and .99",
    data: &[],
    run,
};

const PRIORS: [f64; 2] = [0.5, 0.99];
const COLUMNS: [&str; 11] = [
    "p1",
    "epsilon",
    "context_free",
    "ldp",
    "ldp_twice",
    "printed",
    "printed_leaks",
    "lip",
    "lip_attained",
    "lip_attained_ldp",
    "blind",
];

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let mut table = Table::new("error", &COLUMNS);
    for p in PRIORS {
        for epsilon in levels(1.0, 5.0, 0.5) {
            let root = |model: Model, epsilon| Ok::<_, Error>(model.error(p, epsilon)?.sqrt());
            let policy = Model::Optimum.policy(p, epsilon)?;
            table.push(row![
                p,
                epsilon,
                symmetric::context_free_error(1.0, epsilon)?.sqrt(),
                root(Model::Ldp, epsilon)?,
                root(Model::Ldp, 2.0 * epsilon)?,
                root(Model::Printed, epsilon)?,
                printed_leakage(p, epsilon),
                policy.value().sqrt(),
                policy.lip.unwrap_or(f64::NAN),
                policy.ldp,
                (p * (1.0 - p)).sqrt(),
            ]);
        }
    }
    let mut gaps = Table::new("gap", &["epsilon", "p1", "gap_printed", "gap"]);
    let step = context.pick(0.005, 0.001);
    for epsilon in [2.0, 5.0] {
        for p in levels(step, 0.5, step) {
            let ldp = Model::Ldp.error(p, epsilon)?;
            let gap = |model: Model| Ok::<_, Error>(ldp - model.error(p, epsilon)?);
            gaps.push(row![epsilon, p, gap(Model::Printed)?, gap(Model::Optimum)?]);
        }
    }
    claims(&mut outcome, &table);
    gap_claims(&mut outcome, &gaps)?;
    draw(&mut outcome, &table, &gaps)?;
    outcome.table(table);
    outcome.table(gaps);
    Ok(outcome)
}

fn rows(table: &Table, column: &str, value: f64) -> Vec<usize> {
    (0..table.rows.len()).filter(|&row| table.number(row, column) == value).collect()
}

fn claims(outcome: &mut Outcome, table: &Table) {
    let all: Vec<usize> = (0..table.rows.len()).collect();
    let get = |row: usize, column: &str| table.number(row, column);
    let below = |rows: &[usize], a: &str, b: &str| {
        rows.iter().filter(|&&row| get(row, a) < get(row, b)).count()
    };
    let smaller = below(&all, "ldp", "context_free");
    outcome.claim(
        Claim::tested(
            "with the prior in the estimator LDP errs less, at any ε",
            format!("at {smaller} of {} points", all.len()),
            "Opt-LDP below context-free LDP at every point",
            smaller == all.len(),
        )
        .because("the estimator with the prior never errs more than a blind guess; (25) does"),
    );
    let mean_ratio = |p: f64, a: &str, b: &str| {
        let own = rows(table, "p1", p);
        own.iter().map(|&row| (get(row, a) / get(row, b)).ln()).sum::<f64>() / own.len() as f64
    };
    let [even, skewed] = PRIORS.map(|p| mean_ratio(p, "context_free", "ldp").exp());
    outcome.claim(Claim::tested(
        "that advantage is larger for the skewed prior",
        format!(
            "the error is {} times smaller at P₁ = .5, {} times at .99",
            short(even),
            short(skewed)
        ),
        "geometric mean over ε of the ratio, larger at .99",
        skewed > even,
    ));
    let own = rows(table, "p1", 0.99);
    let broken = |row: &usize| !keeps_its_claim(0.99, get(*row, "epsilon"));
    let missed: Vec<usize> = own.iter().copied().filter(broken).collect();
    let leaks =
        |row: usize| format!("{} at ε = {}", short(get(row, "printed_leaks")), get(row, "epsilon"));
    let truth = match (missed.first(), missed.last()) {
        (Some(&first), Some(&last)) => format!("{} to {} for P₁ = .99", leaks(first), leaks(last)),
        _ => String::new(),
    };
    let printed = below(&all, "printed", "ldp");
    outcome.claim(
        Claim::tested(
            "ε-Opt-LIP by (19) errs less than ε-Opt-LDP",
            format!("at {printed} of {} points", all.len()),
            "every point",
            printed == all.len(),
        )
        .only_printed(truth.clone())
        .because("at P₁ = .99 (19) is ε-LIP only from ε = ln 99 = 4.6"),
    );
    let certified = below(&all, "lip", "ldp");
    outcome.claim(
        Claim::tested(
            "ε-Opt-LIP errs less than ε-Opt-LDP, certified optimum",
            format!("at {certified} of {} points", all.len()),
            "certified optimum below Opt-LDP at every point",
            certified == all.len(),
        )
        .because("ε-LDP implies ε-LIP, so the LIP optimum cannot err more (Proposition 3)"),
    );
    // The figure's axis is logarithmic, so a gap is a ratio; levels are the same for both priors.
    let wider = |ours: &str| {
        let [even, skewed] = PRIORS.map(|p| rows(table, "p1", p));
        let ratio = |row: usize| get(row, "ldp") / get(row, ours);
        let levels: Vec<(f64, bool)> = even
            .into_iter()
            .zip(skewed)
            .map(|(even, skewed)| (get(even, "epsilon"), ratio(skewed) > ratio(even)))
            .collect();
        let count = levels.iter().filter(|(_, wider)| *wider).count();
        let first = levels.iter().find(|(_, wider)| *wider).map_or(f64::NAN, |(level, _)| *level);
        (count, levels.len(), first)
    };
    let mean = |ours: &str| {
        let [even, skewed] = PRIORS.map(|p| mean_ratio(p, "ldp", ours).exp());
        format!("over all ε (geometric mean) {} at .5 and {} at .99", short(even), short(skewed))
    };
    let (count, levels, _) = wider("printed");
    outcome.claim(
        Claim::tested(
            "the gap between LIP by (19) and LDP is larger at P₁ = .99",
            format!("larger at {count} of {levels} levels; {}", mean("printed")),
            "the ratio of the errors (the figure's axis is logarithmic) larger at .99 at every ε",
            count == levels,
        )
        .only_printed(truth)
        .because("see the certified optimum below"),
    );
    let (count, levels, first) = wider("lip");
    outcome.claim(
        Claim::tested(
            "the gap between LIP and LDP is larger at P₁ = .99, certified optimum",
            format!(
                "larger at {count} of {levels} levels, from ε = {} on; {}",
                short(first),
                mean("lip")
            ),
            "the ratio of the errors larger at .99 at every ε",
            count == levels,
        )
        .because_it_fails("below ε = ln 99 = 4.6 hardly anything can be said about so certain an answer, under either promise; from there on (19) keeps its claim, and the sentence is right"),
    );
    let twice = below(&all, "lip", "ldp_twice");
    outcome.note(format!("Against LDP at 2ε, which ε-LIP implies, the certified LIP optimum errs less at {twice} of {} points.", all.len()));
}

fn gap_claims(outcome: &mut Outcome, gaps: &Table) -> Result<(), Error> {
    let peak = |epsilon: f64, column: &str| {
        let own = rows(gaps, "epsilon", epsilon);
        let best = own
            .into_iter()
            .max_by(|&a, &b| gaps.number(a, column).total_cmp(&gaps.number(b, column)));
        best.map_or(f64::NAN, |row| gaps.number(row, "p1"))
    };
    let [two, five] = [2.0, 5.0].map(|epsilon| peak(epsilon, "gap"));
    let [two_printed, five_printed] = [2.0, 5.0].map(|epsilon| peak(epsilon, "gap_printed"));
    outcome.claim(
        Claim::tested(
            "Proposition 3: the gap in mean squared error grows with |P₁ − .5|",
            format!(
                "it peaks at P₁ = {} for ε = 2 and {} for ε = 5 (with (19): {} and {})",
                short(two),
                short(five),
                short(two_printed),
                short(five_printed)
            ),
            "the largest gap at the smallest P₁ of the grid",
            two < 0.01 && five < 0.01,
        )
        .because("both errors vanish with P₁(1−P₁), and the gap with them"),
    );
    let (count, printed) = (
        symmetric::count(100.0, expected_yes(10.0, 1.0), 1.0)?,
        symmetric::published_count(100.0, expected_yes(10.0, 1.0), 1.0)?,
    );
    outcome.claim(
        Claim::tested(
            "(24) with p = E/(E+1) is an unbiased estimate of the number of ones",
            format!(
                "100 people, 10 ones, ε = 1: it says {} on average, with 1/(E+1) {}",
                short(printed),
                short(count)
            ),
            "10",
            (printed - 10.0).abs() < 1e-6,
        )
        .because("it counts the zeros"),
    );
    Ok(())
}

/// How many say yes on average when `ones` of 100 people hold a one.
fn expected_yes(ones: f64, epsilon: f64) -> f64 {
    let flip = 1.0 / (epsilon.exp() + 1.0);
    ones * (1.0 - flip) + (100.0 - ones) * flip
}

fn draw(outcome: &mut Outcome, table: &Table, gaps: &Table) -> Result<(), Error> {
    let mut panels = Vec::new();
    for (letter, p) in ["a", "b"].into_iter().zip(PRIORS) {
        let own = rows(table, "p1", p);
        let line = |column: &str| -> Vec<(f64, f64)> {
            let cell = |&row: &usize| (table.number(row, "epsilon"), table.number(row, column));
            own.iter().map(cell).collect()
        };
        let mut series = vec![
            Series::solid("context-free LDP, (25)", line("context_free")),
            Series::solid("ε-Opt-LDP, (20)", line("ldp")),
            Series::reference("Opt-LDP at 2ε", line("ldp_twice")).coloured(1),
            Series::solid("ε-LIP optimum (policy)", line("lip")).coloured(2),
        ];
        if keeps_its_claim(p, 1.0) {
            series.push(
                Series::reference("(19): ε-LIP here, so the optimum", line("printed")).coloured(2),
            );
        } else {
            let leaks = [1.0, 2.0, 4.0]
                .map(|e| format!("{} at ε = {e}", short(printed_leakage(p, e))))
                .join(", ");
            series.push(Series::missing_its_claim("(19)", leaks, line("printed")).coloured(2));
        }
        series.push(Series::reference("blind guess", line("blind")));
        panels.push(Panel {
            title: format!("({letter}) P₁ = {p}"),
            x_label: "ε, in nats".into(),
            y_label: "√(mean squared error per person)".into(),
            log_y: true,
            series,
            ..Panel::default()
        });
    }
    let mut series = Vec::new();
    for (colour, epsilon) in [2.0, 5.0].into_iter().enumerate() {
        let line = |column: &str| -> Vec<(f64, f64)> {
            let own = rows(gaps, "epsilon", epsilon);
            own.into_iter().map(|row| (gaps.number(row, "p1"), gaps.number(row, column))).collect()
        };
        series.push(
            Series::solid(format!("ε = {epsilon}, certified optimum"), line("gap"))
                .coloured(colour),
        );
        let least = 1.0 / (1.0 + f64::exp(epsilon));
        series.push(
            Series::missing_its_claim(
                format!("ε = {epsilon}, (19)"),
                format!("more than ε below P₁ = {}", short(least)),
                line("gap_printed"),
            )
            .coloured(colour),
        );
    }
    panels.push(Panel {
        title: "(c) LDP error less LIP error: no growth towards P₁ = 0".into(),
        x_label: "P₁".into(),
        y_label: "gap in mean squared error".into(),
        series,
        ..Panel::default()
    });
    outcome.draw("error", &Picture { title: "JLT18 Figure 5".into(), panels })
}
