//! JLT18 Figure 7: people with priors of their own, drawn uniformly; N = 5, 500 and 50,000.

use rayon::prelude::*;

use super::levels;
use super::model::{Model, keeps_its_claim, printed_leakage};
use crate::certified::Point;
use crate::claim::short;
use crate::row;
use crate::{Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture, Series, Table};
use undertone_numeric::dice::unit;

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "jlt18-fig-7",
    paper: Paper::Jlt18,
    title: "Figure 7: N = 5, 500 and 50,000 people with different priors",
    data: &[],
    run,
};

const SIZES: [usize; 3] = [5, 500, 50_000];
/// The prior integrated over [0, 1]: what the curves converge to.
const LIMIT: &str = "limit";
const COLUMNS: [&str; 12] = [
    "n",
    "epsilon",
    "ldp",
    "ldp_twice",
    "printed",
    "printed_half",
    "lip",
    "lip_half",
    "symmetric_half",
    "missed",
    "worst_excess",
    "half_excess",
];

/// √(mean squared error per person) of a model at a level.
pub(super) fn root(model: Model, people: &[f64], epsilon: f64) -> Result<f64, Error> {
    let errors = people.iter().map(|&p| model.error(p, epsilon));
    Ok((errors.sum::<Result<f64, _>>()? / people.len() as f64).sqrt())
}

/// The curves of Figures 7 and 8 at one level, then for how many people (19) misses its claim at ε and
/// the most it leaks beyond ε, and beyond ε/2 when asked for that.
pub(super) fn curves(people: &[f64], epsilon: f64) -> Result<[f64; 10], Error> {
    let half = epsilon / 2.0;
    let missed = people.iter().filter(|&&p| !keeps_its_claim(p, epsilon)).count();
    let excess =
        |level: f64| people.iter().map(|&p| printed_leakage(p, level) - level).fold(0.0, f64::max);
    Ok([
        root(Model::Ldp, people, epsilon)?,
        root(Model::Ldp, people, 2.0 * epsilon)?,
        root(Model::Printed, people, epsilon)?,
        root(Model::Printed, people, half)?,
        root(Model::Optimum, people, epsilon)?,
        root(Model::Optimum, people, half)?,
        root(Model::Symmetric, people, half)?,
        missed as f64 / people.len() as f64,
        excess(epsilon),
        excess(half),
    ])
}

fn priors(context: &Context, n: usize) -> Vec<f64> {
    let mut stream = context.stream(0x1807_0000 + n as u64);
    (0..n).map(|_| unit(&mut stream)).collect()
}

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let mut table = Table::new("error", &COLUMNS);
    let grid = levels(0.5, 10.0, 0.5);
    let middles: Vec<f64> = (0..20_000).map(|k| (f64::from(k) + 0.5) / 20_000.0).collect();
    let mut cases: Vec<(String, Vec<f64>)> =
        SIZES.map(|n| (n.to_string(), priors(context, n))).into();
    cases.push((LIMIT.into(), middles));
    for (name, people) in &cases {
        let found = grid.par_iter().map(|&e| curves(people, e)).collect::<Result<Vec<_>, _>>()?;
        for (epsilon, values) in grid.iter().zip(found) {
            let mut cells = row![name, epsilon];
            cells.extend(values.map(|value| value.to_string()));
            table.push(cells);
        }
    }
    let policies = policies(context, &cases[0].1, &cases[1].1, &grid)?;
    outcome.note("One draw of priors for each N, as in the paper; the draw is ours, so N = 5 is one of many pictures. \"limit\" in the table integrates the prior over [0, 1].");
    claims(&mut outcome, context, &table, &policies.table)?;
    outcome.claim(policies.simulated);
    draw(&mut outcome, &table)?;
    outcome.table(table);
    outcome.table(policies.table);
    Ok(outcome)
}

struct Policies {
    table: Table,
    simulated: Claim,
}

/// Everybody's own policy, verified: N = 5 at every level, N = 500 at some; and surveys through them.
fn policies(
    context: &Context,
    five: &[f64],
    many: &[f64],
    grid: &[f64],
) -> Result<Policies, Error> {
    let columns = ["n", "epsilon", "error", "closed_form", "largest_lip", "largest_ldp"];
    let mut table = Table::new("policies", &columns);
    let some = if context.quick { &[2.0][..] } else { &[1.0, 2.0, 4.0, 8.0] };
    let mut simulated = None;
    for (people, levels) in [(five, grid), (many, some)] {
        for &epsilon in levels {
            let points = people
                .par_iter()
                .map(|&p| Model::Optimum.policy(p, epsilon))
                .collect::<Result<Vec<Point>, Error>>()?;
            let mean = points.iter().map(Point::value).sum::<f64>() / points.len() as f64;
            let most = |of: &dyn Fn(&Point) -> f64| points.iter().map(of).fold(0.0, f64::max);
            table.push(row![
                people.len(),
                epsilon,
                mean.sqrt(),
                root(Model::Optimum, people, epsilon)?,
                most(&|point| point.lip.unwrap_or(f64::INFINITY)),
                most(&|point| point.ldp),
            ]);
            if people.len() == many.len() && epsilon == 2.0 {
                let expected = mean * people.len() as f64;
                simulated = Some(simulate(context, people, &points, expected));
            }
        }
    }
    let simulated = simulated.ok_or_else(|| Error::other("no level to simulate at"))?;
    Ok(Policies { table, simulated })
}

/// Surveys of everybody through their own policies, the sum estimated by (10).
fn simulate(context: &Context, people: &[f64], points: &[Point], expected: f64) -> Claim {
    let surveys = context.pick(400, 4000);
    let mut stream = context.stream(0x1807_5151);
    // For each person P(yes), Pr(first output | no), Pr(first output | yes), and the two estimates.
    let ready: Vec<(f64, [f64; 2], [f64; 2])> = people
        .iter()
        .zip(points)
        .filter_map(|(&p, point)| {
            let channel = point.channel.as_ref()?;
            let estimate = |y: usize| {
                if y >= channel.outputs() {
                    return p;
                }
                let (no, yes) = ((1.0 - p) * channel.q(0, y), p * channel.q(1, y));
                yes / (no + yes)
            };
            Some((p, [channel.q(0, 0), channel.q(1, 0)], [estimate(0), estimate(1)]))
        })
        .collect();
    let mut squares = 0.0;
    for _ in 0..surveys {
        let mut miss = 0.0;
        for (p, first, estimates) in &ready {
            let x = usize::from(unit(&mut stream) < *p);
            let y = usize::from(unit(&mut stream) >= first[x]);
            miss += x as f64 - estimates[y];
        }
        squares += miss * miss;
    }
    let found = squares / f64::from(surveys);
    // The miss is a sum of many, so nearly normal: its square has deviation √2 times its mean.
    let tolerance = 4.0 * expected * (2.0 / f64::from(surveys)).sqrt();
    Claim::tested(
        "simulating the whole procedure gives the numerical errors",
        format!(
            "500 people, ε = 2, {surveys} surveys through their policies: mean squared error of the sum {}, expected {}",
            short(found),
            short(expected)
        ),
        format!("within {}, four standard errors", short(tolerance)),
        (found - expected).abs() <= tolerance && ready.len() == people.len(),
    )
}

fn rows(table: &Table, n: &str) -> Vec<usize> {
    (0..table.rows.len()).filter(|&row| table.rows[row][0] == n).collect()
}

/// Whether ε/2-LIP by (19) errs less than ε-LDP at some levels and more at others.
fn crosses(people: &[f64], grid: &[f64]) -> Result<bool, Error> {
    let mut sides = [false; 2];
    for &epsilon in grid {
        let half = root(Model::Printed, people, epsilon / 2.0)?;
        sides[usize::from(half < root(Model::Ldp, people, epsilon)?)] = true;
    }
    Ok(sides == [true; 2])
}

fn claims(
    outcome: &mut Outcome,
    context: &Context,
    table: &Table,
    policies: &Table,
) -> Result<(), Error> {
    let get = |row: usize, column: &str| table.number(row, column);
    let count = |rows: &[usize], a: &str, b: &str| {
        rows.iter().filter(|&&row| get(row, a) < get(row, b)).count()
    };
    let large = rows(table, "50000");
    let worst = |rows: &[usize]| {
        let worst = rows
            .iter()
            .copied()
            .max_by(|&a, &b| get(a, "worst_excess").total_cmp(&get(b, "worst_excess")));
        worst.map_or(String::new(), |row| {
            format!(
                "up to ε + {} for a person, ε = {}",
                short(get(row, "worst_excess")),
                get(row, "epsilon")
            )
        })
    };
    let grid = levels(0.5, 10.0, 0.5);
    let tries = context.pick(200, 1000);
    let mut stream = context.stream(0x1807_0005);
    let mut crossed = 0;
    for _ in 0..tries {
        let five: Vec<f64> = (0..5).map(|_| unit(&mut stream)).collect();
        crossed += usize::from(crosses(&five, &grid)?);
    }
    let five = priors(context, 5);
    let ours = crosses(&five, &grid)?;
    outcome.claim(
        Claim::tested(
            "N = 5: the curves of ε/2-Opt-LIP and ε-Opt-LDP cross",
            format!("{} with (19) in our draw, and in {crossed} of {tries} other draws", if ours { "they do" } else { "they do not" }),
            "for some draw of five priors",
            ours || crossed > 0,
        )
        .only_printed(worst(&rows(table, "5")))
        .because("with priors far from one half, as the paper says; where the promise is kept they cannot cross"),
    );
    let lip = count(&large, "lip", "ldp");
    outcome.claim(
        Claim::tested(
            "N large: ε-Opt-LIP errs less than ε-Opt-LDP under any ε",
            format!("certified optimum, N = 50,000: at {lip} of {} levels", large.len()),
            "every ε",
            lip == large.len(),
        )
        .because(format!(
            "person by person, since ε-LDP implies ε-LIP; against LDP at 2ε it errs less at {} levels",
            count(&large, "lip", "ldp_twice")
        )),
    );
    let all: Vec<usize> = (0..table.rows.len()).collect();
    let wins = all.iter().filter(|&&row| get(row, "lip_half") < get(row, "ldp") - 1e-12).count();
    outcome.claim(
        Claim::tested(
            "ε/2-Opt-LIP errs less than ε-Opt-LDP for small ε",
            format!("certified: at {wins} of {} points, all N", all.len()),
            "at some point",
            wins > 0,
        )
        .because("impossible: ε/2-LIP implies ε-LDP"),
    );
    let between = large
        .iter()
        .filter(|&&row| {
            get(row, "lip") <= get(row, "ldp") && get(row, "ldp") <= get(row, "lip_half")
        })
        .count();
    outcome.claim(
        Claim::tested(
            "ε-Opt-LDP is almost bounded between ε/2-Opt-LIP and ε-Opt-LIP",
            format!("certified, N = 50,000: at {between} of {} levels", large.len()),
            "every ε",
            between == large.len(),
        )
        .because("with the right optimum not almost but always (Theorem 1)"),
    );
    let limit = rows(table, LIMIT);
    let far = |n: &str| {
        let pairs = rows(table, n).into_iter().zip(&limit);
        pairs.map(|(a, &b)| (get(a, "lip") - get(b, "lip")).abs()).fold(0.0, f64::max)
    };
    let [a, b, c] = ["5", "500", "50000"].map(far);
    outcome.claim(Claim::tested(
        "the performance converges as N grows",
        format!(
            "largest distance of the ε-LIP curve from its limit: {}, {}, {}",
            short(a),
            short(b),
            short(c)
        ),
        "falling with N, below .003 at N = 50,000",
        a > b && b > c && c < 0.003,
    ));
    let share = rows(table, "50000").into_iter().map(|row| get(row, "missed"));
    let most = share.fold(0.0, f64::max);
    let kept = (0..policies.rows.len()).all(|row| {
        let get = |column| policies.number(row, column);
        get("largest_lip") <= get("epsilon")
            && get("largest_ldp") <= 2.0 * get("epsilon")
            && (get("error") - get("closed_form")).abs() < 1e-5
    });
    outcome.claim(
        Claim::tested(
            "Theorem 2 gives everybody an ε-LIP mechanism",
            format!("(19) misses for {} % of 50,000 people at ε = .5; every policy of the optimum holds: {kept}", short(100.0 * most)),
            "(19) holds for everybody at every ε",
            most == 0.0,
        )
        .because("(19) needs min(P₁, 1−P₁) ≥ 1/(1+E); the optimum's policies (N = 5 at every ε, N = 500 at some) attain at most ε of LIP and 2ε of LDP on their integers"),
    );
    Ok(())
}

/// The panel of Figures 7 and 8 for some rows.
pub(super) fn panel(table: &Table, rows: &[usize], title: String) -> Panel {
    let line = |column: &str| -> Vec<(f64, f64)> {
        let cell = |&row: &usize| (table.number(row, "epsilon"), table.number(row, column));
        rows.iter().map(cell).collect()
    };
    let of = |column: &str| rows.iter().map(|&row| table.number(row, column)).fold(0.0, f64::max);
    let leaks = format!("up to ε + {}", short(of("worst_excess")));
    let half = format!("up to ε/2 + {}", short(of("half_excess")));
    Panel {
        title,
        x_label: "ε, in nats".into(),
        y_label: "√(mean squared error per person)".into(),
        series: vec![
            Series::solid("ε-Opt-LDP", line("ldp")),
            Series::reference("Opt-LDP at 2ε", line("ldp_twice")).coloured(0),
            Series::solid("ε-LIP optimum", line("lip")).coloured(1),
            Series::solid("ε/2-LIP optimum", line("lip_half")).coloured(2),
            Series::solid("ε/2-symmetric LIP", line("symmetric_half")).coloured(3),
            Series::missing_its_claim("ε by (19)", leaks, line("printed")).coloured(1),
            Series::missing_its_claim("ε/2 by (19)", half, line("printed_half")).coloured(2),
        ],
        ..Panel::default()
    }
}

fn draw(outcome: &mut Outcome, table: &Table) -> Result<(), Error> {
    let panels =
        ["5", "500", "50000"].map(|n| panel(table, &rows(table, n), format!("N = {n}"))).into();
    outcome.draw("error", &Picture { title: "JLT18 Figure 7".into(), panels })
}
