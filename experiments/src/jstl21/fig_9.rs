//! JSTL21 Figure 9: the noise Corollary 10 gives each value, and what it truly leaks.

use rayon::prelude::*;
use undertone_design::continuous::Method;
use undertone_design::mechanism::gaussian::{self, GaussianNoise, Sigma};

use super::gauss::Grid;
use crate::claim::short;
use crate::row;
use crate::{Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture, Series, Table};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "jstl21-fig-9",
    paper: Paper::Jstl21,
    title: "Figure 9: Gaussian noise chosen per value, and what it truly leaks",
    data: &[],
    run,
};

const DELTA: f64 = 1e-4;
const EPSILONS: [f64; 4] = [1.0, 2.0, 3.0, 4.0];

/// One row of the table: the printed noise, what it attains, and two certified ones.
struct Row {
    reach: f64,
    epsilon: f64,
    delta: f64,
    epsilon_attained: f64,
    middle: f64,
    end: f64,
    printed_power: f64,
    constant: f64,
    floor_power: f64,
    policy_sigma: f64,
    policy_delta: f64,
    policy_lip: f64,
    policy_ldp: f64,
}

fn judge(reach: f64, epsilon: f64, quick: bool) -> Result<Row, Error> {
    let grid = Grid::new(reach, 41)?;
    let sigmas = grid.printed(epsilon, DELTA)?;
    let noise = GaussianNoise::new(&grid.points, &sigmas)?;
    let constant = gaussian::least_constant(&grid.points, &grid.prior, epsilon, DELTA, Some(2000))?;
    let floor = gaussian::least_floor(
        &grid.points,
        &grid.prior,
        &sigmas,
        epsilon,
        DELTA,
        Some(if quick { 1000 } else { 2000 }),
    )?;
    let raised: Vec<f64> = sigmas.iter().map(|s| s.max(floor)).collect();
    let floor_power = GaussianNoise::new(&grid.points, &raised)?.mean_squared_error(&grid.prior)?;
    let numbers = grid.numbers(if quick { 80 } else { 160 }, (2.0 * constant).round());
    let protection = format!("lip:{epsilon:.10},{DELTA}");
    let policy = numbers.design(&protection, Method::Gaussian(Sigma::Constant))?;
    Ok(Row {
        reach,
        epsilon,
        delta: noise.delta(&grid.prior, epsilon)?,
        epsilon_attained: noise.epsilon(&grid.prior, DELTA, 60.0)?.unwrap_or(f64::INFINITY),
        middle: sigmas[20],
        end: sigmas[40],
        printed_power: noise.mean_squared_error(&grid.prior)?,
        constant,
        floor_power,
        policy_sigma: policy.noise,
        policy_delta: policy.delta.unwrap_or(f64::NAN),
        policy_lip: policy.lip,
        policy_ldp: policy.ldp,
    })
}

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    outcome.note("μ_X = 0, σ_X = 5, δ = 10⁻⁴. Audit on 41 points of [−R, R] with the normal law truncated there; certified constants by an upper bound on 2,000 cells, policies on 160 output cells (80 in a quick run). δ is in the convention of Corollary 9.");
    let cases: Vec<(f64, f64)> =
        [10.0, 15.0].iter().flat_map(|&r| EPSILONS.iter().map(move |&e| (r, e))).collect();
    let quick = context.quick;
    let rows = cases.par_iter().map(|&(r, e)| judge(r, e, quick)).collect::<Result<Vec<_>, _>>()?;
    let mut table = Table::new(
        "truth",
        &[
            "reach",
            "epsilon",
            "true_delta",
            "true_epsilon",
            "sigma_0",
            "sigma_end",
            "power_printed",
            "certified_sigma",
            "power_certified",
            "power_floor",
            "policy_sigma",
            "policy_delta",
            "policy_lip",
            "policy_ldp",
        ],
    );
    for r in &rows {
        table.push(row![
            r.reach,
            r.epsilon,
            r.delta,
            r.epsilon_attained,
            r.middle,
            r.end,
            r.printed_power,
            r.constant,
            r.constant * r.constant,
            r.floor_power,
            r.policy_sigma,
            r.policy_delta,
            r.policy_lip,
            r.policy_ldp,
        ]);
    }
    let mut sigmas = Table::new("sigma", &["epsilon", "x", "printed", "certified"]);
    let mut series = Vec::new();
    let fine = Grid::new(10.0, context.pick(41, 81))?;
    for (at, r) in rows.iter().take(4).enumerate() {
        let printed = fine.printed(r.epsilon, DELTA)?;
        let points: Vec<(f64, f64)> = fine.points.iter().copied().zip(printed).collect();
        for (x, sigma) in &points {
            sigmas.push(row![r.epsilon, x, sigma, r.constant]);
        }
        let leaks = format!("δ = {} where it claims 10⁻⁴", short(r.delta));
        series.push(
            Series::missing_its_claim(format!("Corollary 10, ε = {}", r.epsilon), leaks, points)
                .coloured(at),
        );
        let flat = vec![(-10.0, r.constant), (10.0, r.constant)];
        series.push(
            Series::solid(format!("certified, one σ for all, ε = {}", r.epsilon), flat)
                .coloured(at),
        );
    }
    let first = rows.first().zip(rows.get(1));
    let (delta, attained) =
        first.map_or((f64::NAN, f64::NAN), |(_, r)| (r.delta, r.epsilon_attained));
    let shape = rows.iter().all(|r| r.end > r.middle);
    outcome.claim(
        Claim::tested(
            "values of high density need less noise, and vice versa",
            format!("Corollary 10, ε = 2: σ(0) = {}, σ(10) = {}", short(rows[1].middle), short(rows[1].end)),
            "σ at the end of the range above σ at the mean, every ε",
            shape,
        )
        .only_printed(format!("δ = {} at ε = 2 where it claims 10⁻⁴; at δ = 10⁻⁴ its ε is {}", short(delta), short(attained)))
        .because("Corollary 10 takes the output's law as if everybody had the noise of this one value; the size of the noise gives the value away"),
    );
    let worst = rows.iter().map(|r| r.delta / DELTA).fold(f64::INFINITY, f64::min);
    outcome.claim(
        Claim::tested(
            "Corollary 10 used as a mechanism is (ε, 10⁻⁴)-LIP",
            format!(
                "its true δ is at least {} times that, on both ranges and every ε",
                short(worst)
            ),
            "true δ at most 10⁻⁴",
            rows.iter().all(|r| r.delta <= DELTA),
        )
        .because(format!(
            "on [−10, 10] and ε = 1 to 4 the true δ is {}",
            rows.iter().take(4).map(|r| short(r.delta)).collect::<Vec<_>>().join(", ")
        )),
    );
    let cheaper = rows.iter().all(|r| r.printed_power < r.constant * r.constant);
    outcome.claim(
        Claim::tested(
            "noise per value costs less than one noise for all",
            format!(
                "ε = 2, R = 10: E σ² is {} printed, {} certified constant, {} certified with a floor",
                short(rows[1].printed_power),
                short(rows[1].constant.powi(2)),
                short(rows[1].floor_power)
            ),
            "printed E σ² below the certified constant's, every row",
            cheaper,
        )
        .only_printed(format!("δ = {} at ε = 2", short(delta)))
        .because("certified, a floor under the noise gains a few per cent, where the printed noise seemed to gain half and more"),
    );
    let panels = vec![
        Panel {
            title: "σ(x) on [−10, 10], δ = 10⁻⁴".into(),
            x_label: "x".into(),
            y_label: "σ of the noise".into(),
            series,
            ..Panel::default()
        },
        Panel {
            title: "true δ of Corollary 10, claimed 10⁻⁴".into(),
            x_label: "ε, in nats".into(),
            y_label: "δ".into(),
            log_y: true,
            series: vec![
                Series::missing_its_claim(
                    "X in [−10, 10]",
                    "the δ shown",
                    curve(&rows, 10.0, |r| r.delta),
                ),
                Series::missing_its_claim(
                    "X in [−15, 15]",
                    "the δ shown",
                    curve(&rows, 15.0, |r| r.delta),
                ),
                Series::solid(
                    "policies, one σ for all: δ from integers",
                    curve(&rows, 10.0, |r| r.policy_delta),
                ),
            ],
            ..Panel::default()
        },
    ];
    outcome.draw("sigma", &Picture { title: "JSTL21 Figure 9".into(), panels })?;
    outcome.table(table);
    outcome.table(sigmas);
    Ok(outcome)
}

fn curve(rows: &[Row], reach: f64, of: impl Fn(&Row) -> f64) -> Vec<(f64, f64)> {
    rows.iter().filter(|r| r.reach == reach).map(|r| (r.epsilon, of(r))).collect()
}
