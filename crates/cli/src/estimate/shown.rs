//! An estimate as tables and as a picture.

use undertone::estimate::{
    EstimateReport, EstimatedNumber, HeavyHittersReport, NumbersReport, ShownShares,
};
use undertone_estimate::{Coverage, Method, Target};

use crate::failure::Failure;
use crate::output::table;
use crate::plot;

/// More symbols than these are not all listed for people.
const LISTED: usize = 24;
/// The length of the bar of the largest share.
const BAR: f64 = 24.0;

/// The estimate for people, with so many shares in its table.
pub(super) fn text(report: &EstimateReport, top: Option<usize>) -> String {
    let mut text = String::new();
    for policy in &report.policies {
        let claims: Vec<String> = policy.claims.iter().map(ToString::to_string).collect();
        text += &format!(
            "{} reports under {} (policy {}...)\n",
            policy.reports,
            claims.join(" and "),
            &policy.policy_id.to_string()[..16]
        );
    }
    let whom = match report.target {
        Target::Population => "the population",
        Target::Respondents => "these respondents",
    };
    let each = match report.coverage {
        Coverage::Each => "each",
        Coverage::All => "all together",
    };
    text += &format!(
        "\nEstimates for {whom}, {} % intervals ({each}), for any number of reports.\nMethod: {}.\n",
        plain(100.0 * report.level),
        report.headline.because
    );
    if let Some(numbers) = &report.numbers {
        text += &format!("\n{}\n", number_table(report, numbers));
        if report.shown.edges.is_some() {
            text += "(intervals allow for numbers anywhere in their bins)\n";
        }
    }
    text += &format!("\n{}\n", share_table(report, top.unwrap_or(LISTED)));
    if let Some(heavy) = &report.heavy_hitters {
        text += &format!("\n{}\n", heavy_hitters(heavy));
    }
    if let Some(sample) = &report.sample {
        text += &format!(
            "\n{}\n{}\n",
            sample.assumptions.join(" "),
            super::sampled::share_table(sample)
        );
    }
    text += &second_opinion(report);
    for policy in &report.drift.policies {
        if let Some(test) = policy.prior.filter(|_| report.drift.warnings.is_empty()) {
            text += &format!(
                "\nThe prior of policy {}... fits the reports: chance alone would do worse {:.0} times in 100.",
                &policy.policy.to_string()[..16],
                100.0 * test.p_value
            );
        }
    }
    for warning in &report.warnings {
        text += &format!("\nwarning: {warning}");
    }
    text
}

/// What the prior makes of the reports, with its caveat.
fn second_opinion(report: &EstimateReport) -> String {
    let Some(mmse) = &report.mmse else { return String::new() };
    if let Some(mean) = &mmse.mean {
        let [value, low, high] = mean.written(1.0);
        return format!("\nWith the prior: mean {value} ({low} to {high}).\n({})\n", mmse.label);
    }
    let mut order: Vec<usize> = (0..mmse.shares.len()).collect();
    let value = |x: usize| mmse.shares[x].share.value;
    order.sort_by(|&a, &b| value(b).total_cmp(&value(a)));
    let said = order.iter().take(4).map(|&x| {
        let [value, ..] = mmse.shares[x].share.written(100.0);
        format!("{} {value} %", mmse.shares[x].symbol)
    });
    let said: Vec<String> = said.collect();
    let more = if order.len() > 4 { ", ..." } else { "" };
    format!("\nWith the prior: {}{more}.\n({})\n", said.join(", "), mmse.label)
}

fn share_table(report: &EstimateReport, top: usize) -> String {
    let ShownShares { shares, prior, edges, together } = &report.shown;
    let population = report.population.as_ref().map(|population| population.people);
    let value = |x: usize| shares[x].share.value;
    let mut order: Vec<usize> = (0..shares.len()).collect();
    // Bins are shown together, and none is left out.
    let left_out = report.shares_left_out.filter(|_| edges.is_none());
    let all = shares.len() + left_out.unwrap_or(0);
    let cut = all > top;
    // Numbers keep their order while all of them fit.
    if cut || report.numbers.is_none() {
        order.sort_by(|&a, &b| value(b).total_cmp(&value(a)).then(a.cmp(&b)));
    }
    order.truncate(top);
    let longest = order.iter().map(|&x| shares[x].share.high.min(1.0)).fold(1e-9, f64::max);
    let first = if edges.is_some() { "range" } else { "symbol" };
    let mut header = vec![first, "share %", "from", "to", ""];
    if prior.is_some() {
        header.push("prior %");
    }
    if population.is_some() {
        header.push("people");
    }
    let row = |&x: &usize| {
        let share = &shares[x].share;
        let [value, low, high] = share.written(100.0);
        let length = |share: f64| (BAR * share.clamp(0.0, 1.0) / longest).round() as usize;
        let solid = length(share.low);
        let light = length(share.high).saturating_sub(solid);
        let bar = format!("{}{}", "█".repeat(solid), "░".repeat(light));
        let mut row = vec![shares[x].symbol.clone(), value, low, high, bar];
        if let Some(prior) = prior {
            row.push(format!("{:.2}", 100.0 * prior[x]));
        }
        if let Some(people) = population {
            row.push(format!("{:.0}", share.value * people as f64));
        }
        row
    };
    let mut text = table(&header, order.iter().map(row).collect());
    if cut {
        let more = match left_out {
            None => "--json has all".into(),
            Some(_) => format!("--json has {}, and --top {all} all", shares.len()),
        };
        text += &format!("\nThe {top} largest of {all} shares; {more}.");
        text += match report.coverage {
            Coverage::Each => {
                "\nThe largest are listed because chance favoured them too, so intervals that hold each on its own miss more often here: --above SHARE names answers that are surely more frequent."
            }
            Coverage::All => {
                "\nThe largest are listed because chance favoured them too; intervals that hold all together allow for that, the shares themselves do not."
            }
        };
    }
    if *together > 1 {
        text += &format!(
            "\nEvery {together} neighbours of {} bins are shown together; --json has all.",
            report.headline.shares.shares.len() + report.shares_left_out.unwrap_or(0)
        );
    }
    text
}

/// The symbols above a threshold, in words.
pub(super) fn heavy_hitters(heavy: &HeavyHittersReport) -> String {
    let names: Vec<&str> = heavy.symbols.iter().map(|heavy| heavy.share.symbol.as_str()).collect();
    let names = if names.is_empty() { "none".into() } else { names.join(", ") };
    format!("Above {}: {names}\n({})", heavy.above, heavy.label)
}

fn number_table(report: &EstimateReport, numbers: &NumbersReport) -> String {
    let mut rows = Vec::new();
    let mut say = |what: String, number: &EstimatedNumber| {
        let [value, low, high] = number.written(1.0);
        rows.push(vec![what, value, low, high]);
    };
    say("mean".into(), &numbers.mean);
    if let Some(population) = &report.population
        && let Some(sum) = &population.sum
    {
        say(format!("sum of {}", population.people), sum);
    }
    say("variance".into(), &numbers.variance);
    for asked in &numbers.quantiles {
        say(format!("quantile {}", plain(asked.probability)), &asked.quantile);
    }
    table(&["", "estimate", "from", "to"], rows)
}

pub(super) fn picture(report: &EstimateReport) -> Result<String, Failure> {
    let column = report.column.as_deref().unwrap_or("answers");
    let method = match report.headline.method {
        Method::Unbiased => "unbiased",
        Method::Mle => "maximum likelihood",
        Method::Mmse => "with the prior",
    };
    let mut below = format!("{method}, {} % intervals", plain(100.0 * report.level));
    let mean = report.numbers.as_ref().map(|numbers| numbers.mean);
    if let Some(mean) = &mean {
        let [value, low, high] = mean.written(1.0);
        below += &format!("; mean {value} ({low} to {high})");
    }
    let reports = thousands(report.reports);
    let mut lines = vec![format!("{column}: estimate from {reports} perturbed answers"), below];
    if report.drift.drifted {
        lines.push("The reports contradict the prior.".into());
    }
    plot::estimate(&plot::Estimated {
        lines,
        column,
        shares: &report.shown.shares,
        prior: report.shown.prior.as_deref(),
        edges: report.shown.edges.as_deref(),
        mean,
    })
}

/// A whole number with spaces between its thousands.
fn thousands(number: u64) -> String {
    let digits = number.to_string();
    let space = |(at, digit): (usize, char)| {
        let gap = at > 0 && (digits.len() - at).is_multiple_of(3);
        [gap.then_some(' '), Some(digit)].into_iter().flatten()
    };
    digits.chars().enumerate().flat_map(space).collect()
}

/// A number without trailing zeros.
pub(super) fn plain(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
