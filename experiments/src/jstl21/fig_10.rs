//! JSTL21 Figure 10: bounded Laplace noise, context-free, with one scale, and with a scale per value.

use undertone_design::Distribution;
use undertone_design::continuous::Method;
use undertone_design::mechanism::laplace::Scale;

use super::grid;
use crate::claim::short;
use crate::row;
use crate::stl19::laplace;
use crate::{
    Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture, Series, Table, certified,
};
use undertone_numeric::dice::unit;

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "jstl21-fig-10",
    paper: Paper::Jstl21,
    title: "Figure 10: three ways to scale Laplace noise",
    data: &[],
    run,
};

/// Readings of the undefined α of (26).
const READINGS: [&str; 4] = ["alpha_zero", "alpha_1_minus_1_over_E", "alpha_one", "alpha_epsilon"];
const BINS: usize = 13;

fn alpha(reading: &str, epsilon: f64) -> f64 {
    match reading {
        "alpha_1_minus_1_over_E" => -(-epsilon).exp_m1(),
        "alpha_one" => 1.0,
        "alpha_epsilon" => epsilon,
        _ => 0.0,
    }
}

fn symbol(reading: &str) -> &'static str {
    match reading {
        "alpha_1_minus_1_over_E" => "1 − 1/E",
        "alpha_one" => "1",
        "alpha_epsilon" => "ε",
        _ => "0",
    }
}

/// How many random priors a reading of α fails: the density leaks more than ε.
fn failures(context: &Context, reading: &str, draws: u64) -> Result<u64, Error> {
    let mut failed = 0;
    for draw in 0..draws {
        let mut stream = context.stream(0x10_0000 + draw);
        let mut part = || -unit(&mut stream).max(1e-12).ln();
        let prior = Distribution::normalised("prior", vec![part(), part(), part()])?;
        let epsilon = 0.2 + 3.0 * (draw as f64 / draws as f64);
        let noise = laplace::instance(&prior, epsilon, alpha(reading, epsilon))?;
        failed += u64::from(noise.lip > epsilon + 1e-9);
    }
    Ok(failed)
}

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    outcome.note("The paper does not say which values the figure uses; ours are those of STL19 Figure 3, {0, 1.5, 3} on [0, 3], with the figure's prior [13, 10, 7]/30. α in (26) is never defined: the natural readings are drawn, and the largest α that keeps ε-LIP, found on the exact leakage.");
    let prior = Distribution::normalised("prior", vec![13.0, 10.0, 7.0])?;
    let numbers = laplace::numbers(&prior, BINS);
    let mut columns: Vec<String> =
        ["epsilon", "ldp", "ldp_twice", "printed", "printed_lip", "exact"].map(String::from).into();
    for reading in READINGS {
        columns.extend([reading.into(), format!("{reading}_lip")]);
    }
    let rest = [
        "alpha_star",
        "calibrated",
        "calibrated_lip",
        "calibrated_ldp",
        "table",
        "table_lip",
        "table_ldp",
        "optimum",
        "optimum_lip",
        "optimum_ldp",
    ];
    columns.extend(rest.map(String::from));
    let names: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut table = Table::new("error", &names);
    for epsilon in grid(4.0, context.pick(0.5, 0.1)) {
        let printed = laplace::printed(&prior, epsilon)?;
        let mut row = row![
            epsilon,
            laplace::ldp(&prior, epsilon)?.error,
            laplace::ldp(&prior, 2.0 * epsilon)?.error,
            printed.error,
            printed.lip,
            laplace::exact(&prior, epsilon)?.error,
        ];
        for reading in READINGS {
            let noise = laplace::instance(&prior, epsilon, alpha(reading, epsilon))?;
            row.extend(row![noise.error, noise.lip]);
        }
        let star = laplace::largest_alpha(&prior, epsilon)?;
        let calibrated = laplace::instance(&prior, epsilon, star)?;
        let protection = certified::protect("lip", epsilon);
        let shipped = numbers.design(&protection, Method::Laplace(Scale::Instance(None)))?;
        let best = numbers.design(&protection, Method::Optimal)?;
        row.extend(row![
            star,
            calibrated.error,
            calibrated.lip,
            calibrated.ldp,
            shipped.error,
            shipped.lip,
            shipped.ldp,
            best.error,
            best.lip,
            best.ldp,
        ]);
        table.push(row);
    }
    let get = |row: usize, column: &str| table.number(row, column);
    let all = 0..table.rows.len();
    let one = table.find(&[("epsilon", "1")]);
    let at_one = |column: &str| one.map_or(f64::NAN, |row| get(row, column));
    let ordered = all.clone().filter(|&row| {
        get(row, "calibrated") <= get(row, "exact") + 1e-9
            && get(row, "printed") <= get(row, "ldp") + 1e-9
    });
    let ordered = ordered.count();
    outcome.claim(
        Claim::tested(
            "instance-dependent noise errs less than instance-independent, and both less than LDP",
            format!(
                "ε = 1: LDP {}, (25) {}, least scale {}, (26) with the largest valid α = {}: {}",
                short(at_one("ldp")),
                short(at_one("printed")),
                short(at_one("exact")),
                short(at_one("alpha_star")),
                short(at_one("calibrated"))
            ),
            "at every ε, with α calibrated on the exact leakage",
            ordered == table.rows.len(),
        )
        .because("against LDP at the same ε; at 2ε, which ε-LIP implies, LDP errs less"),
    );
    let twice = all.clone().filter(|&row| get(row, "calibrated") > get(row, "ldp_twice")).count();
    outcome.note(format!("LDP noise at 2ε, which ε-LIP implies, errs less than calibrated (26) at {twice} of {} levels: the gain over LDP at ε is the price of a weaker promise.", table.rows.len()));
    let draws = context.pick(60, 120);
    let mut worst = Vec::new();
    for reading in &READINGS[1..] {
        worst.push(format!("α = {} on {}", symbol(reading), failures(context, reading, draws)?));
    }
    let zero = failures(context, READINGS[0], draws)?;
    let any = !worst.iter().all(|text| text.ends_with(" 0"));
    outcome.claim(
        Claim::tested(
            "(26), b(x) = ΔX/(α P(x) + ε), is ε-LIP",
            format!("more than ε leaks with {} of {draws} random priors; α = 0 (LDP) on {zero}", worst.join(", ")),
            "some natural reading of α other than 0 never fails; values {0, 1.5, 3}, priors uniform on the simplex, ε evenly from .2 to 3.2",
            !any,
        )
        .or_ill_defined()
        .because("α is never defined in the paper; calibrated on the exact leakage it works, and depends on the prior"),
    );
    let misses = |reading: &str| {
        let over = all.clone().map(|row| get(row, &format!("{reading}_lip")) - get(row, "epsilon"));
        over.fold(0.0, f64::max)
    };
    let line = |column: &str| -> Vec<(f64, f64)> {
        all.clone().map(|row| (get(row, "epsilon"), get(row, column))).collect()
    };
    let mut series = vec![
        Series::solid("LDP at ε", line("ldp")),
        Series::reference("LDP at 2ε", line("ldp_twice")).coloured(0),
        Series::solid("(25) as printed: ε-LIP, loose", line("printed")),
        Series::solid("least constant scale that is ε-LIP", line("exact")),
        Series::solid("(26) with the largest valid α", line("calibrated")),
        Series::solid(format!("optimum over {BINS} outputs (policy)"), line("optimum")),
    ];
    for (at, reading) in READINGS.iter().enumerate().skip(1) {
        let (name, over) = (reading.replace('_', " "), misses(reading));
        let points = line(reading);
        series.push(if over > 1e-9 {
            let leaks = format!("up to ε + {}", short(over));
            Series::missing_its_claim(format!("(26), {name}"), leaks, points).coloured(at + 4)
        } else {
            Series::reference(format!("(26), {name} (ε-LIP under this prior)"), points)
                .coloured(at + 4)
        });
    }
    let panel = Panel {
        title: "P = [13, 10, 7]/30".into(),
        x_label: "ε, in nats".into(),
        y_label: "mean squared error".into(),
        series,
        ..Panel::default()
    };
    let leakage = Panel {
        title: "what leaks".into(),
        x_label: "ε asked for, in nats".into(),
        y_label: "leakage, in nats".into(),
        series: vec![
            Series::reference("as promised", vec![(0.0, 0.0), (4.0, 4.0)]),
            Series::solid("policy of (26): LIP (integers)", line("table_lip")),
            Series::solid("policy of (26): LDP", line("table_ldp")),
            Series::solid("optimum: LIP (integers)", line("optimum_lip")),
            Series::solid("optimum: LDP", line("optimum_ldp")),
        ],
        ..Panel::default()
    };
    outcome.draw(
        "error",
        &Picture { title: "JSTL21 Figure 10".into(), panels: vec![panel, leakage] },
    )?;
    outcome.table(table);
    Ok(outcome)
}
