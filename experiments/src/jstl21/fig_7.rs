//! JSTL21 Figure 7: the error of the sampling mechanism against ε and δ, three laws of the data.

use undertone_design::density::Density;
use undertone_design::measure::delta::Convention;
use undertone_design::mechanism::sampling::{expected_loss, largest_atomless};

use super::grid;
use crate::claim::short;
use crate::row;
use crate::{Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture, Series, Table};
use undertone_numeric::bisection::Bracket;
use undertone_numeric::dice::unit;

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "jstl21-fig-7",
    paper: Paper::Jstl21,
    title: "Figure 7: the sampling mechanism under three laws",
    data: &[],
    run,
};

/// The paper gives no parameters; these have comparable spreads.
const LAWS: [(&str, &str); 3] =
    [("Beta(2, 2)", "beta:2,2,0,1"), ("N(0, 1/4)", "normal:0,0.5"), ("Unif(0, 1)", "uniform:0,1")];

/// δ of a λ at ε in the convention of Corollary 9, for data without atoms: the kept part is singular
/// to the rest, so all of it escapes on one side; the other side asks 1 − λ ≥ 1/E.
fn conditional_delta(lambda: f64, epsilon: f64) -> f64 {
    let below = 1.0 - epsilon.exp() * (1.0 - lambda);
    lambda.max(below)
}

/// The quantile, by bisection on the distribution function.
fn draw(law: &Density, u: f64) -> f64 {
    let found = Bracket { holds: -10.0, fails: 10.0 }.halve(60, |middle| law.below(middle) < u);
    0.5 * (found.holds + found.fails)
}

/// The mean |X − Y| of `n` people who sample with probability 1 − λ.
fn simulated(context: &Context, law: &Density, lambda: f64, n: u32) -> f64 {
    let mut stream = context.stream(0x5e7);
    let mut sum = 0.0;
    for _ in 0..n {
        let own = draw(law, unit(&mut stream));
        let keep = unit(&mut stream) < lambda;
        let other = draw(law, unit(&mut stream));
        sum += if keep { 0.0 } else { (own - other).abs() };
    }
    sum / f64::from(n)
}

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    outcome.note("The paper gives no parameters of its three laws; ours are Beta(2, 2), N(0, 1/4) and Unif(0, 1). Curves are the exact expectation (21); the paper's 50,000 users are simulated at one point as a check.");
    let mut table = Table::new(
        "sampling",
        &[
            "panel",
            "law",
            "epsilon",
            "delta",
            "lambda_printed",
            "error_printed",
            "delta_conditional",
            "lambda_certified",
            "error_certified",
        ],
    );
    let levels = grid(5.0, context.pick(0.25, 0.1));
    let step = context.pick(0.05, 0.01);
    let deltas: Vec<f64> = (0..).map(|k| f64::from(k) * step).take_while(|d| *d < 0.995).collect();
    for (name, text) in LAWS {
        let law = Density::parse(text)?;
        let mut point = |panel: &str, epsilon: f64, delta: f64| -> Result<(), Error> {
            let printed = largest_atomless(epsilon, delta, Convention::Posterior)?;
            let certified = largest_atomless(epsilon, delta, Convention::Conditional)?;
            table.push(row![
                panel,
                name,
                epsilon,
                delta,
                printed,
                expected_loss(&law, printed, false)?,
                conditional_delta(printed, epsilon),
                certified,
                expected_loss(&law, certified, false)?,
            ]);
            Ok(())
        };
        for &epsilon in &levels {
            point("a", epsilon, 0.01)?;
        }
        for &delta in &deltas {
            point("b", 2.0, delta)?;
        }
    }
    let curve = |panel: &str, law: &str, x: &str, y: &str| -> Vec<(f64, f64)> {
        let rows = (0..table.rows.len())
            .filter(|&row| table.rows[row][0] == panel && table.rows[row][1] == law);
        rows.map(|row| (table.number(row, x), table.number(row, y))).collect()
    };
    let falls =
        |points: &[(f64, f64)]| points.windows(2).all(|pair| pair[1].1 <= pair[0].1 + 1e-12);
    let monotone = LAWS.iter().all(|(law, _)| {
        falls(&curve("a", law, "epsilon", "error_printed"))
            && falls(&curve("b", law, "delta", "error_printed"))
    });
    let leak = conditional_delta(largest_atomless(1.0, 0.01, Convention::Posterior)?, 1.0);
    outcome.claim(
        Claim::tested(
            "utility increases with ε and δ, for every law alike",
            "the mean error of all three laws falls along both axes",
            "no rise between neighbouring points",
            monotone,
        )
        .because("the law enters (21) only as a factor"),
    );
    let first: Vec<f64> = LAWS
        .iter()
        .flat_map(|(law, _)| {
            let points = curve("b", law, "delta", "error_printed");
            let slope =
                |at: usize| (points[at].1 - points[at + 1].1) / (points[at + 1].0 - points[at].0);
            let last = points.len() - 2;
            [slope(0), slope(last)]
        })
        .collect();
    outcome.claim(Claim::tested(
        "utility grows faster in δ where δ is small, slower near 1",
        format!(
            "Beta law, ε = 2: error falls by {} per unit of δ at 0, by {} near 1",
            short(first[0]),
            short(first[1])
        ),
        "first slope above the last one, each law",
        first.chunks(2).all(|pair| pair[0] > pair[1]),
    ));
    outcome.claim(
        Claim::tested(
            "Proposition 2: λ = min{Eδ, 1 − 1/E + δ/E} is (ε, δ)-LIP",
            format!("at ε = 1, δ = .01, read with Corollary 9 (both E-divergences at most δ): δ is {}", short(leak)),
            "δ at most .01 in the paper's own Definition 5",
            {
                // Definition 5 divides the first divergence by E.
                let lambda = largest_atomless(1.0, 0.01, Convention::Posterior)?;
                let posterior = (lambda / 1f64.exp()).max(1.0 - 1f64.exp() * (1.0 - lambda));
                posterior <= 0.01 + 1e-12
            },
        )
        .because("true in the convention of Definition 5; Corollary 9, which the paper calls equivalent, asks for up to E times as much"),
    );
    let n = context.pick(20_000, 50_000);
    let law = Density::parse(LAWS[0].1)?;
    let lambda = largest_atomless(2.0, 0.05, Convention::Posterior)?;
    let (found, expected) =
        (simulated(context, &law, lambda, n), expected_loss(&law, lambda, false)?);
    outcome.claim(Claim::tested(
        "(21) is the mean error over the users",
        format!(
            "Beta law, ε = 2, δ = .05: {n} users err by {}, (21) says {}",
            short(found),
            short(expected)
        ),
        "within 4 standard errors",
        (found - expected).abs() < 4.0 * 0.25 / f64::from(n).sqrt(),
    ));
    let panel = |letter: &str, x: &str, label: &str, fixed: &str| {
        let mut series = Vec::new();
        for (at, (law, _)) in LAWS.iter().enumerate() {
            let name = format!("{law}, Proposition 2: δ as in Definition 5");
            series.push(Series::solid(name, curve(letter, law, x, "error_printed")).coloured(at));
        }
        for (at, (law, _)) in LAWS.iter().enumerate() {
            let points = curve(letter, law, x, "error_certified");
            let name = format!("{law}, largest λ with that δ in Corollary 9's sense");
            series.push(Series::reference(name, points).coloured(at));
        }
        Panel {
            title: format!("({letter}) {fixed}"),
            x_label: label.into(),
            y_label: "mean |X − Y|".into(),
            series,
            ..Panel::default()
        }
    };
    let panels =
        vec![panel("a", "epsilon", "ε, in nats", "δ = .01"), panel("b", "delta", "δ", "ε = 2")];
    outcome.draw("sampling", &Picture { title: "JSTL21 Figure 7".into(), panels })?;
    outcome.table(table);
    Ok(outcome)
}
