//! ZDS22 Figure 1: the least and the largest log-lift of a symbol, over random laws.

use super::laws::{self, SYMBOLS};
use crate::claim::short;
use crate::row;
use crate::{Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture, Series, Table};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "zds22-fig-1",
    paper: Paper::Zds22,
    title: "Figure 1: least and largest log-lift of a symbol, random laws",
    data: &[],
    run,
};

/// Width of the histogram's bins.
const BIN: f64 = 0.1;

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let draws = context.pick(1000, 10_000);
    outcome.note(format!("{draws} laws of 20 secrets and 30 symbols. How the paper draws its laws is not said; ours have cells uniform on (0,1), normalised, which gives its ranges."));
    let both = laws::over(context, draws, |law| Ok((law.least, law.largest)))?;
    let least: Vec<f64> = both.iter().flat_map(|(least, _)| least.iter().copied()).collect();
    let largest: Vec<f64> = both.iter().flat_map(|(_, largest)| largest.iter().copied()).collect();
    let table = histogram(&least, &largest);
    claims(&mut outcome, &least, &largest, &table);
    let line = |column: &str| -> Vec<(f64, f64)> {
        let cell = |row| (table.number(row, "log_lift"), table.number(row, column));
        (0..table.rows.len()).map(cell).collect()
    };
    let panel = |title: &str, log_y: bool| Panel {
        title: title.into(),
        x_label: "log-lift of a symbol, in nats".into(),
        y_label: "density".into(),
        log_y,
        series: vec![
            Series::solid("ν(x), least", line("nu")),
            Series::solid("ξ(x), largest", line("xi")),
        ],
        ..Panel::default()
    };
    let panels =
        vec![panel("(a) as in the paper", false), panel("(b) logarithmic: the tail of ν", true)];
    let title = format!("ZDS22 Figure 1: {draws} laws of 20 secrets and 30 symbols");
    outcome.draw("histogram", &Picture { title, panels })?;
    outcome.table(table);
    Ok(outcome)
}

/// Densities of both in bins of [`BIN`].
fn histogram(least: &[f64], largest: &[f64]) -> Table {
    let bin = |value: &f64| (value / BIN).floor() as i64;
    let all = || least.iter().chain(largest).map(bin);
    let (first, last) = (all().min().unwrap_or(0), all().max().unwrap_or(0));
    let mut counts = vec![[0.0; 2]; (last - first + 1) as usize];
    for (which, values) in [least, largest].into_iter().enumerate() {
        values.iter().for_each(|value| counts[(bin(value) - first) as usize][which] += 1.0);
    }
    let mut table = Table::new("histogram", &["log_lift", "nu", "xi"]);
    for (at, [nu, xi]) in counts.into_iter().enumerate() {
        let middle = ((first + at as i64) as f64 + 0.5) * BIN;
        let density = |count: f64| count / (least.len() as f64 * BIN);
        table.push(row![(middle * 1e6).round() / 1e6, density(nu), density(xi)]);
    }
    table
}

fn ends(values: &[f64]) -> (f64, f64) {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    values.iter().fold(ends, |(low, high), &value| (low.min(value), high.max(value)))
}

fn claims(outcome: &mut Outcome, least: &[f64], largest: &[f64], table: &Table) {
    let (nu, xi) = (ends(least), ends(largest));
    let far = |ours: (f64, f64), theirs: (f64, f64)| {
        ((ours.0 - theirs.0).abs(), (ours.1 - theirs.1).abs())
    };
    let range = |(low, high): (f64, f64)| format!("[{}, {}]", short(low), short(high));
    let off = far(nu, (-15.5, -0.5));
    outcome.claim(
        Claim::tested(
            "ν(x) ranges over [−15.5, −.5]",
            range(nu),
            "low end within 4, high end within .3: extremes of one run; the logarithm of the least of n uniform numbers varies by 1.3 and falls with ln n",
            off.0 <= 4.0 && off.1 <= 0.3,
        )
        .printed("[−15.5, −.5]"),
    );
    let off = far(xi, (0.3, 1.5));
    outcome.claim(
        Claim::tested(
            "ξ(x) ranges over [.3, 1.5]",
            range(xi),
            "both ends within .25",
            off.0 <= 0.25 && off.1 <= 0.25,
        )
        .printed("[.3, 1.5]"),
    );
    outcome.claim(Claim::tested(
        "the range of ν is much larger than that of ξ",
        format!("{} against {} nats wide", short(nu.1 - nu.0), short(xi.1 - xi.0)),
        "at least five times as wide",
        nu.1 - nu.0 >= 5.0 * (xi.1 - xi.0),
    ));
    let peak = |column: &str| table.numbers(column).into_iter().fold(0.0, f64::max);
    outcome.claim(Claim::tested(
        "the histogram of ξ is higher than that of ν",
        format!("peaks at densities {} and {}", short(peak("xi")), short(peak("nu"))),
        "higher peak",
        peak("xi") > peak("nu"),
    ));
    let inside = laws::share(largest.iter().map(|xi| (0.6..=1.0).contains(xi)));
    let mut sorted = largest.to_vec();
    sorted.sort_by(f64::total_cmp);
    let median = sorted[sorted.len() / 2];
    outcome.claim(
        Claim::tested(
            "Section III-A: the values of ξ belong to [.6, 1]",
            format!("{} % do; median {}", short(100.0 * inside), short(median)),
            "all of them",
            inside == 1.0,
        )
        .printed("[.6, 1]")
        .because(
            "that is not the range, and contradicts the figure's [.3, 1.5]; most of them, yes",
        ),
    );
    let worst = least.chunks(SYMBOLS).zip(largest.chunks(SYMBOLS));
    let asymmetric = laws::share(worst.map(|(nu, xi)| -ends(nu).0 > ends(xi).1));
    outcome.claim(Claim::tested(
        "the min-lift of a law is larger in size than its max-lift",
        format!("in {} % of laws", short(100.0 * asymmetric)),
        "in nine laws of ten",
        asymmetric >= 0.9,
    ));
}
