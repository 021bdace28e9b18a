//! JSTL21 Figure 8: δ against ε for the Gaussian mechanism, LIP beside LDP.

use undertone_design::density::Component;
use undertone_design::density::Normal;
use undertone_design::mechanism::gaussian::{
    GaussianNoise, against_wider, analytic_delta, vanilla_delta,
};

use super::gauss::Grid;
use super::grid;
use crate::claim::short;
use crate::row;
use crate::{
    Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture, Series, Table, certified,
};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "jstl21-fig-8",
    paper: Paper::Jstl21,
    title: "Figure 8: δ of the Gaussian mechanism, LIP beside LDP",
    data: &[],
    run,
};

const WIDTH: f64 = 20.0;
const SIGMA: f64 = 10.0;

/// Theorem 5's δ at one x, the data normal on the whole line.
fn theorem_5(x: f64, epsilon: f64) -> Result<f64, Error> {
    let law = Component { weight: 1.0, law: Normal::new(0.0, 125f64.sqrt())? };
    Ok(against_wider(&Normal::new(x, SIGMA)?, &[law], epsilon)?.conditional())
}

/// Theorem 5's δ by summing both excess masses over fine cells.
fn by_quadrature(x: f64, epsilon: f64) -> Result<f64, Error> {
    let (own, law) = (Normal::new(x, SIGMA)?, Normal::new(0.0, 125f64.sqrt())?);
    let (odds, step) = (epsilon.exp(), 0.002);
    let (mut above, mut below) = (0.0, 0.0);
    for at in -75_000..75_000 {
        let y = (f64::from(at) + 0.5) * step;
        let (f, g) = (own.density(y), law.density(y));
        above += (f - odds * g).max(0.0) * step;
        below += (g - odds * f).max(0.0) * step;
    }
    Ok(above.max(below))
}

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    outcome.note("σ_X = 5, σ_N = 10, ΔX = 20, so X lies in [−10, 10]. The certified δ is that of a table of integers: 41 inputs with the truncated normal law, 240 output cells on [−70, 70], tails joined to the end cells.");
    let points = Grid::new(WIDTH / 2.0, 41)?;
    let numbers = points.numbers(240, 60.0);
    let channel = GaussianNoise::constant(&points.points, SIGMA)?.table(&numbers.edges())?;
    let columns = [
        "epsilon",
        "x0",
        "x5",
        "x10",
        "x20",
        "x60",
        "certified_range",
        "ldp_analytic",
        "ldp_analytic_2eps",
        "ldp_vanilla",
        "ldp_vanilla_2eps",
    ];
    let mut table = Table::new("delta", &columns);
    for epsilon in grid(5.0, context.pick(0.5, 0.1)) {
        let protection = format!("lip:{epsilon:.10},0.5");
        let audited = numbers.audit(&protection, &channel)?;
        table.push(row![
            epsilon,
            theorem_5(0.0, epsilon)?,
            theorem_5(5.0, epsilon)?,
            theorem_5(10.0, epsilon)?,
            theorem_5(20.0, epsilon)?,
            theorem_5(60.0, epsilon)?,
            audited.delta.unwrap_or(f64::NAN),
            analytic_delta(WIDTH, epsilon, SIGMA)?,
            analytic_delta(WIDTH, 2.0 * epsilon, SIGMA)?,
            vanilla_delta(WIDTH, epsilon, SIGMA),
            vanilla_delta(WIDTH, 2.0 * epsilon, SIGMA),
        ]);
    }
    let get = |row: usize, column: &str| table.number(row, column);
    let all = 0..table.rows.len();
    let two = table.find(&[("epsilon", "2")]);
    let at_two = |column: &str| two.map_or(f64::NAN, |row| get(row, column));
    let wins = |ours: &str, theirs: &str| {
        all.clone().filter(|&row| get(row, ours) <= get(row, theirs)).count()
    };
    let same = wins("certified_range", "ldp_analytic");
    outcome.claim(
        Claim::tested(
            "at the same noise the context-aware mechanism has a smaller δ than the improved Gaussian mechanism, at equal ε",
            format!(
                "at {same} of {} points; ε = 2: LIP {} (policy), LDP {}",
                table.rows.len(),
                short(at_two("certified_range")),
                short(at_two("ldp_analytic"))
            ),
            "policy's δ at most (24) at the same ε, every ε",
            same == table.rows.len(),
        )
        .because("LIP at ε is the weaker promise"),
    );
    // The figure does not say at which x its LIP curve stands, so every reading is judged.
    for (at, column) in [(0, "x0"), (5, "x5"), (10, "x10")] {
        let twice = wins(column, "ldp_analytic_2eps");
        outcome.claim(
            Claim::tested(
                format!("and a smaller δ than LDP at 2ε, the comparison the figure calls fair: at x = {at}"),
                format!(
                    "at {twice} of {} points; ε = 2: Theorem 5 {}, LDP at 4 {}",
                    table.rows.len(),
                    short(at_two(column)),
                    short(at_two("ldp_analytic_2eps"))
                ),
                "δ at that x, data normal on the line, at most (24) at 2ε, every ε",
                twice == table.rows.len(),
            )
            .id(format!("smaller-delta-than-ldp-at-2epsilon-x-{at}"))
            .because_it_holds("true of this value; a promise to people needs every value they may hold")
            .because_it_fails("at the end of the range"),
        );
    }
    let twice = wins("certified_range", "ldp_analytic_2eps");
    outcome.claim(
        Claim::tested(
            "and a smaller δ than LDP at 2ε, the comparison the figure calls fair: for every x in [−10, 10]",
            format!(
                "at {twice} of {} points; ε = 2: LIP {}, LDP at 4 {}",
                table.rows.len(),
                short(at_two("certified_range")),
                short(at_two("ldp_analytic_2eps"))
            ),
            "policy's δ at most (24) at 2ε, every ε",
            twice == table.rows.len(),
        )
        .id("smaller-delta-than-ldp-at-2epsilon-every-x")
        .because_it_fails(
            "where it fails, the same noise is (2ε, δ)-LDP with a smaller δ than it is (ε, δ)-LIP",
        ),
    );
    let vanilla = wins("ldp_analytic", "ldp_vanilla");
    outcome.claim(Claim::tested(
        "the improved mechanism has a smaller δ than the vanilla one",
        format!("at {vanilla} of {} points of this figure", table.rows.len()),
        "(24) at most the vanilla bound, every ε up to 5",
        vanilla == table.rows.len(),
    ));
    let (bound, exact) = (vanilla_delta(1.0, 8.0, 0.5), analytic_delta(1.0, 8.0, 0.5)?);
    outcome.claim(
        Claim::tested(
            "the vanilla formula bounds δ for every ε",
            format!("σ/ΔX = .5, ε = 8: the bound says {}, exact is {}", short(bound), short(exact)),
            "never below (24)",
            bound >= exact,
        )
        .because("its derivation needs small ε"),
    );
    let (formula, sum) = (theorem_5(10.0, 2.0)?, by_quadrature(10.0, 2.0)?);
    outcome.claim(
        Claim::tested(
            "Theorem 5 gives δ for normal data",
            format!(
                "ε = 2, x = 10: closed form {}, numerical integral {}; at x = 20 {}, at x = 60 {}",
                short(formula),
                short(sum),
                short(at_two("x20")),
                short(at_two("x60"))
            ),
            "closed form and integral agree within 1e-6",
            (formula - sum).abs() < 1e-6,
        )
        .because("true, and vacuous on the line: the supremum over x is 1. A bounded range makes it mean something"),
    );
    let line = |column: &str| -> Vec<(f64, f64)> {
        all.clone().map(|row| (get(row, "epsilon"), get(row, column))).collect()
    };
    let series = vec![
        Series::solid("LIP, policy on [−10, 10]", line("certified_range")),
        Series::solid("LIP, Theorem 5 at x = 0", line("x0")),
        Series::solid("LIP, Theorem 5 at x = 5", line("x5")),
        Series::solid("LIP, Theorem 5 at x = 10", line("x10")),
        Series::reference("LIP, Theorem 5 at x = 20 (outside the range)", line("x20")).coloured(3),
        Series::solid("LDP at ε, exact (24)", line("ldp_analytic")),
        Series::solid("LDP at 2ε, exact (24)", line("ldp_analytic_2eps")),
        Series::reference("LDP at 2ε, vanilla bound", line("ldp_vanilla_2eps")).coloured(5),
    ];
    let panel = |log_y: bool, title: &str| Panel {
        title: title.into(),
        x_label: "ε, in nats".into(),
        y_label: "δ".into(),
        log_y,
        series: series.clone(),
        ..Panel::default()
    };
    let panels = vec![panel(false, "δ"), panel(true, "δ, logarithmic")];
    outcome.draw("delta", &Picture { title: "JSTL21 Figure 8".into(), panels })?;
    outcome.note(format!("Its table attains pure LDP of {} nats (tails joined to the end cells), so a δ is a choice here, not a necessity.", short(numbers.audit(&certified::protect("lip", 2.0), &channel).map_or(f64::NAN, |r| r.ldp))));
    outcome.table(table);
    Ok(outcome)
}
