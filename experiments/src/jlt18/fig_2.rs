//! JLT18 Figure 2, Example 1: a survey of a hundred people about a disease that one in ten has.

use undertone_design::mechanism::symmetric;

use super::levels;
use super::model::{Model, printed_leakage};
use crate::claim::short;
use crate::plot::Stroke;
use crate::row;
use crate::{Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture, Series, Table};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "jlt18-fig-2",
    paper: Paper::Jlt18,
    title: "Figure 2 (Example 1): the error of a survey, as printed and corrected",
    data: &[],
    run,
};

const PEOPLE: f64 = 100.0;
const ILL: f64 = 0.1;
const COLUMNS: [&str; 16] = [
    "epsilon",
    "printed_ldp",
    "printed_opt_ldp",
    "printed_lip",
    "ldp",
    "opt_ldp",
    "formula_19",
    "formula_19_leaks",
    "lip",
    "lip_attained",
    "lip_attained_ldp",
    "ldp_mmse",
    "ldp_mmse_twice",
    "blind",
    "printed_q",
    "corrected_q",
];

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    outcome.note("The figure's axis is not described; ours runs from ε = .5 to 5. Errors are of the sum over 100 people. The blind guess says ten without asking anybody.");
    let mut table = Table::new("example_1", &COLUMNS);
    for epsilon in levels(0.5, 5.0, context.pick(0.5, 0.1)) {
        let printed = symmetric::published_example(epsilon)?;
        let right = symmetric::example(PEOPLE, ILL, epsilon)?;
        let policy = Model::Optimum.policy(ILL, epsilon)?;
        let of = |model: Model, epsilon| Ok::<_, Error>(PEOPLE * model.error(ILL, epsilon)?);
        table.push(row![
            epsilon,
            printed.ldp,
            printed.opt_ldp,
            printed.lip,
            right.ldp,
            right.opt_ldp,
            of(Model::Printed, epsilon)?,
            printed_leakage(ILL, epsilon),
            PEOPLE * policy.value(),
            policy.lip.unwrap_or(f64::NAN),
            policy.ldp,
            of(Model::Ldp, epsilon)?,
            of(Model::Ldp, 2.0 * epsilon)?,
            PEOPLE * ILL * (1.0 - ILL),
            1.0 - epsilon.exp() / 2.0,
            0.5 * (-epsilon).exp(),
        ]);
    }
    claims(&mut outcome, &table);
    draw(&mut outcome, &table)?;
    outcome.table(table);
    Ok(outcome)
}

fn claims(outcome: &mut Outcome, table: &Table) {
    let all: Vec<usize> = (0..table.rows.len()).collect();
    let one = table.find(&[("epsilon", "1")]);
    let at_one = |column: &str| one.map_or(f64::NAN, |row| table.number(row, column));
    let below = |smaller: &str, larger: &str| {
        all.iter().filter(|&&row| table.number(row, smaller) < table.number(row, larger)).count()
    };
    let pair = |a: &str, b: &str| {
        format!("{} printed, {} right at ε = 1", short(at_one(a)), short(at_one(b)))
    };
    let same = |a: &str, b: &str| (at_one(a) - at_one(b)).abs() <= 1e-6 * at_one(b);
    outcome.claim(
        Claim::tested(
            "Example 1: the unbiased estimate at ε-LDP has error 100E/(E+1)²",
            pair("printed_ldp", "ldp"),
            "equal at ε = 1",
            same("printed_ldp", "ldp"),
        )
        .printed("100E/(E+1)², 19.66 at ε = 1")
        .because("its own general form Np(1−p)/(p−q)² is 0 in the denominator at p = q; with (1−p−q)² it is 100E/(E−1)², the paper's (25)"),
    );
    let negative = all.iter().filter(|&&row| table.number(row, "printed_q") < 0.0).count();
    outcome.claim(
        Claim::tested(
            "Example 1: q* = 1 − E/2, p* = 1/2 minimise the error at ε-LDP",
            format!("q* is negative at {negative} of {} levels", all.len()),
            "a probability at every level",
            negative == 0,
        )
        .arithmetic()
        .printed("q* = 1 − E/2")
        .because("q* must be 1/(2E); from ε = ln 2 on the printed one is no probability"),
    );
    let better = below("opt_ldp", "ldp");
    outcome.claim(
        Claim::tested(
            "Example 1: the pair p* = 1/2, q* errs less than randomised response",
            format!(
                "corrected: at {better} of {} levels; ε = 1: {} against {}",
                all.len(),
                short(at_one("opt_ldp")),
                short(at_one("ldp"))
            ),
            "at every ε",
            better == all.len(),
        )
        .because(format!(
            "even the printed formulas give {} against {} at ε = 1; the pair is made for one bit of many, not for a yes/no question",
            short(at_one("printed_opt_ldp")),
            short(at_one("printed_ldp"))
        )),
    );
    outcome.claim(
        Claim::tested(
            "Example 1: LIP with q* = P₁/E, p* = P₀/E has error (10E−1)/.64",
            pair("printed_lip", "formula_19"),
            "equal at ε = 1",
            same("printed_lip", "formula_19"),
        )
        .printed("(10E−1)/.64, 40.91 at ε = 1")
        .because("it grows with ε; the paper's own (19) gives 9(2/E − 1/E²)"),
    );
    let claimed = below("formula_19", "ldp");
    outcome.claim(
        Claim::tested(
            "Example 1: with flips P₁/E and P₀/E LIP errs much less than LDP",
            format!(
                "(19) against randomised response: at {claimed} of {} levels; ε = 1: {} against {}",
                all.len(),
                short(at_one("formula_19")),
                short(at_one("ldp"))
            ),
            "smaller at every ε",
            claimed == all.len(),
        )
        .only_printed(format!("{} at ε = 1", short(at_one("formula_19_leaks"))))
        .because(format!(
            "the flips are ε-LIP only from ε = ln 9 = 2.2; the right optimum errs {} at ε = 1",
            short(at_one("lip"))
        )),
    );
    let certified = below("lip", "ldp");
    outcome.claim(
        Claim::tested(
            "Example 1: LIP errs less than LDP, certified optimum",
            format!(
                "at {certified} of {} levels; ε = 1: {} against {}",
                all.len(),
                short(at_one("lip")),
                short(at_one("ldp"))
            ),
            "certified optimum against randomised response with the unbiased estimate, every ε",
            certified == all.len(),
        )
        .because(format!(
            "nearly all of it is the estimator's: at ε = 1 a blind guess errs {}, LDP with the same prior-aware estimate {} and {} at 2ε",
            short(at_one("blind")),
            short(at_one("ldp_mmse")),
            short(at_one("ldp_mmse_twice"))
        )),
    );
    let least = least_of_the_largest_ratio();
    outcome.claim(
        Claim::tested(
            "Example 1: the constraints bound likelihood ratios by ε, and lifts between −ε and ε",
            format!("the largest of the four ratios is never below {}", short(least)),
            "some channel meets the printed LDP constraints at ε = .5 (99 by 99 flip probabilities)",
            least <= 0.5,
        )
        .because("the bounds are E for LDP, 1/E and E for LIP; below ε = 1 the printed ones leave no channel"),
    );
}

/// The printed LDP constraints bound this by ε; over flip probabilities .01 to .99.
fn least_of_the_largest_ratio() -> f64 {
    let flips = || (1..100).map(|k| f64::from(k) / 100.0);
    let largest = |p: f64, q: f64| {
        [p / (1.0 - q), q / (1.0 - p), (1.0 - q) / p, (1.0 - p) / q].into_iter().fold(0.0, f64::max)
    };
    flips().flat_map(|p| flips().map(move |q| largest(p, q))).fold(f64::INFINITY, f64::min)
}

fn draw(outcome: &mut Outcome, table: &Table) -> Result<(), Error> {
    let line = |column: &str| -> Vec<(f64, f64)> {
        let cell = |row| (table.number(row, "epsilon"), table.number(row, column));
        (0..table.rows.len()).map(cell).collect()
    };
    let wrong = |name: &str, column: &str| Series {
        stroke: Stroke::Dashed,
        ..Series::solid(format!("{name}: wrong formula"), line(column))
    };
    let printed = Panel {
        title: "(a) as printed".into(),
        x_label: "ε, in nats".into(),
        y_label: "mean squared error of the sum".into(),
        log_y: true,
        series: vec![
            wrong("LDP, 100E/(E+1)²", "printed_ldp"),
            wrong("Opt-LDP, 25/(.5 − E/2)²", "printed_opt_ldp"),
            wrong("LIP, (10E−1)/.64", "printed_lip"),
        ],
        ..Panel::default()
    };
    let right = Panel {
        title: "(b) corrected".into(),
        x_label: "ε, in nats".into(),
        y_label: "mean squared error of the sum".into(),
        log_y: true,
        series: vec![
            Series::solid("LDP, unbiased estimate, 100E/(E−1)²", line("ldp")),
            Series::solid("the pair (1/2, 1/(2E)), unbiased estimate", line("opt_ldp")),
            Series::missing_its_claim(
                "LIP by (19)",
                [0.5, 1.0, 2.0]
                    .map(|e| format!("{} at ε = {e}", short(printed_leakage(ILL, e))))
                    .join(", "),
                line("formula_19"),
            )
            .coloured(2),
            Series::solid("LIP optimum (policy)", line("lip")).coloured(2),
            Series::solid("LDP at ε, estimate with the prior", line("ldp_mmse")).coloured(3),
            Series::reference("LDP at 2ε, estimate with the prior", line("ldp_mmse_twice"))
                .coloured(3),
            Series::reference("blind guess: ten", line("blind")),
        ],
        ..Panel::default()
    };
    let title = "JLT18 Figure 2 (Example 1): 100 people, one in ten ill".into();
    outcome.draw("example_1", &Picture { title, panels: vec![printed, right] })
}
