//! What is printed, and in which order.

use serde_json::{Map, Value, json};
use undertone_estimate::{Answer, Coverage, Estimate, Estimator, Method, Shares, Target};

use super::answers::{Answers, LISTED, Numbers, Shown};
use super::count::Counted;
use super::{Args, Group};
use crate::failure::Failure;
use crate::output::{Outcome, optional, table};
use crate::plot;

/// The length of the bar of the largest share.
const BAR: f64 = 24.0;

pub(super) fn outcome(
    args: &Args,
    groups: &[Group],
    counted: &Counted,
    estimator: &Estimator,
) -> Result<Outcome, Failure> {
    let answers = Answers::new(args, groups, counted, estimator)?;
    if let Some(path) = &args.plot {
        plot::save(path, &answers.picture(args, estimator)?)?;
    }
    let mut text = answers.text(args, groups, estimator);
    for (path, what) in [(&args.plot, "picture"), (&args.save_tally, "tally")] {
        if let Some(path) = path {
            text += &format!("\n{what} written to {}", path.display());
        }
    }
    Ok(Outcome::good(answers.json(args, groups, counted, estimator)?, text))
}

impl Answers {
    fn json(
        &self,
        args: &Args,
        groups: &[Group],
        counted: &Counted,
        estimator: &Estimator,
    ) -> Result<Value, Failure> {
        let list = |shares: &Shares| -> Value {
            shares
                .symbols
                .iter()
                .zip(&self.labels)
                .map(|(share, label)| named(label, share))
                .collect()
        };
        let one = |shares: &Shares, mean: Option<&Answer>| {
            json!({
                "label": shares.label,
                "target": shares.settings.target(),
                "shares": list(shares),
                "mean": mean.map(|mean| estimate(&mean.estimate)),
            })
        };
        let numbers = self.numbers.as_ref();
        let mut headline = one(&self.headline.shares, numbers.map(|numbers| &numbers.mean));
        headline["method"] = json!(self.headline.shares.method);
        headline["because"] = json!(self.headline.because);
        if let Some(numbers) = numbers {
            // For numbers the headline is the mean; its own method is the estimate's, not the interval's.
            for (field, value) in estimate(&numbers.mean.estimate) {
                if field != "method" {
                    headline[field] = value;
                }
            }
        }
        let settings = estimator.settings();
        let policies: Vec<Value> = groups
            .iter()
            .map(|group| {
                json!({"policy_id": group.policy.id().to_string(), "reports": group.tally.reports()})
            })
            .collect();
        let mut json = json!({
            "reports": estimator.pool().reports(),
            "rows": counted.rows,
            "skipped": counted.skipped(),
            "unknown": counted.unknown,
            "missing": counted.missing,
            "column": args.column,
            "policies": policies,
            "level": settings.level(),
            "coverage": settings.coverage(),
            "target": settings.target(),
            "headline": headline,
            "unbiased": one(&self.unbiased, numbers.map(|numbers| &numbers.unbiased)),
            "mle": one(&self.mle, numbers.map(|numbers| &numbers.mle)),
            "mmse": self.mmse.as_ref().map(|mmse| one(mmse, numbers.and_then(|n| n.mmse.as_ref()))),
            "fit": serde_json::to_value(estimator.fit()).map_err(Failure::input)?,
            "identification": serde_json::to_value(estimator.identification()).map_err(Failure::input)?,
            "drift": serde_json::to_value(&self.drift).map_err(Failure::input)?,
            "prior": self.prior,
            "warnings": self.warnings,
        });
        if let Some(numbers) = numbers {
            json["mean"] = Value::Object(estimate(&numbers.mean.estimate));
            json["variance"] = Value::Object(estimate(&numbers.variance.estimate));
            let quantile = |(q, answer): &(f64, Answer)| {
                let mut fields = estimate(&answer.estimate);
                fields.insert("probability".into(), json!(q));
                Value::Object(fields)
            };
            json["quantiles"] = numbers.quantiles.iter().map(quantile).collect();
            let histogram = estimator.histogram(self.headline.shares.method);
            let histogram = histogram.map_err(Failure::input)?;
            json["histogram"] = serde_json::to_value(histogram.bars).map_err(Failure::input)?;
            let merged = self.shown.labels.iter().zip(&self.shown.shares);
            json["merged"] = merged.map(|(label, share)| named(label, share)).collect();
        }
        if let Some(heavy) = &self.heavy {
            let symbols: Vec<Value> = heavy
                .symbols
                .iter()
                .map(|heavy| {
                    let mut fields = named(&self.labels[heavy.symbol], &heavy.share);
                    fields["p_value"] = json!(heavy.p_value);
                    fields
                })
                .collect();
            json["heavy_hitters"] = json!({
                "above": heavy.threshold, "label": heavy.label, "control": heavy.control,
                "symbols": symbols,
            });
        }
        if let Some(people) = args.population {
            let shares = &self.headline.shares;
            let counts = shares.counts(people).into_iter().zip(&self.labels);
            json["population"] = json!({
                "people": people,
                "counts": counts.map(|(count, label)| named(label, &count)).collect::<Vec<_>>(),
                "sum": numbers.map(|n| estimate(&n.mean.estimate.scaled(people as f64))),
            });
        }
        Ok(json)
    }

    fn text(&self, args: &Args, groups: &[Group], estimator: &Estimator) -> String {
        let settings = estimator.settings();
        let mut text = String::new();
        for group in groups {
            let claims: Vec<String> =
                group.policy.draft().claims().iter().map(ToString::to_string).collect();
            text += &format!(
                "{} reports under {} (policy {}...)\n",
                group.tally.reports(),
                claims.join(" and "),
                &group.policy.id().to_string()[..16]
            );
        }
        let whom = match settings.target() {
            Target::Population => "the population",
            Target::Respondents => "these respondents",
        };
        let each = match settings.coverage() {
            Coverage::Each => "each",
            Coverage::All => "all together",
        };
        text += &format!(
            "\nEstimates for {whom}, {} % intervals ({each}), for any number of reports.\nMethod: {}.\n",
            plain(100.0 * settings.level()),
            self.headline.because
        );
        if let Some(numbers) = &self.numbers {
            text += &format!("\n{}\n", numbers.table(args.population));
            if self.shown.edges.is_some() {
                text += "(intervals allow for numbers anywhere in their bins)\n";
            }
        }
        text += &format!("\n{}\n", self.share_table(args.population));
        if let Some(heavy) = &self.heavy {
            let names: Vec<&str> =
                heavy.symbols.iter().map(|heavy| self.labels[heavy.symbol].as_str()).collect();
            let names = if names.is_empty() { "none".into() } else { names.join(", ") };
            text += &format!("\nAbove {}: {names}\n({})\n", heavy.threshold, heavy.label);
        }
        text += &self.second_opinion();
        for policy in &self.drift.policies {
            if let Some(test) = policy.prior.filter(|_| self.drift.warnings.is_empty()) {
                text += &format!(
                    "\nThe prior of policy {}... fits the reports: chance alone would do worse {:.0} times in 100.",
                    &policy.policy.to_string()[..16],
                    100.0 * test.p_value
                );
            }
        }
        for warning in &self.warnings {
            text += &format!("\nwarning: {warning}");
        }
        text
    }

    /// What the prior makes of the reports, with its caveat.
    fn second_opinion(&self) -> String {
        let Some(mmse) = &self.mmse else { return String::new() };
        if let Some(mean) = self.numbers.as_ref().and_then(|numbers| numbers.mmse.as_ref()) {
            let [value, low, high] = written(&mean.estimate, 1.0);
            return format!(
                "\nWith the prior: mean {value} ({low} to {high}).\n({})\n",
                mmse.label
            );
        }
        let mut order: Vec<usize> = (0..mmse.symbols.len()).collect();
        order.sort_by(|&a, &b| mmse.symbols[b].value.total_cmp(&mmse.symbols[a].value));
        let said = order.iter().take(4).map(|&x| {
            let [value, ..] = written(&mmse.symbols[x], 100.0);
            format!("{} {value} %", self.labels[x])
        });
        let said: Vec<String> = said.collect();
        let more = if order.len() > 4 { ", ..." } else { "" };
        format!("\nWith the prior: {}{more}.\n({})\n", said.join(", "), mmse.label)
    }

    fn share_table(&self, population: Option<u64>) -> String {
        let Shown { labels, shares, prior, .. } = &self.shown;
        let mut order: Vec<usize> = (0..shares.len()).collect();
        let cut = order.len() > LISTED;
        // Numbers keep their order while all of them fit.
        if cut || self.numbers.is_none() {
            order.sort_by(|&a, &b| shares[b].value.total_cmp(&shares[a].value).then(a.cmp(&b)));
        }
        order.truncate(LISTED);
        let longest = order.iter().map(|&x| shares[x].high.min(1.0)).fold(1e-9, f64::max);
        let first = if self.shown.edges.is_some() { "range" } else { "symbol" };
        let mut header = vec![first, "share %", "from", "to", ""];
        if prior.is_some() {
            header.push("prior %");
        }
        if population.is_some() {
            header.push("people");
        }
        let row = |&x: &usize| {
            let [value, low, high] = written(&shares[x], 100.0);
            let length = |share: f64| (BAR * share.clamp(0.0, 1.0) / longest).round() as usize;
            let solid = length(shares[x].low);
            let light = length(shares[x].high).saturating_sub(solid);
            let bar = format!("{}{}", "█".repeat(solid), "░".repeat(light));
            let mut row = vec![labels[x].clone(), value, low, high, bar];
            if let Some(prior) = prior {
                row.push(format!("{:.2}", 100.0 * prior[x]));
            }
            if let Some(people) = population {
                row.push(format!("{:.0}", shares[x].value * people as f64));
            }
            row
        };
        let mut text = table(&header, order.iter().map(row).collect());
        if cut {
            let all = shares.len();
            text += &format!("\nThe {LISTED} largest of {all} shares; --json has all.");
        }
        if self.shown.together > 1 {
            text += &format!(
                "\nEvery {} neighbours of {} bins are shown together; --json has all.",
                self.shown.together,
                self.labels.len()
            );
        }
        text
    }

    fn picture(&self, args: &Args, estimator: &Estimator) -> Result<String, Failure> {
        let settings = estimator.settings();
        let column = args.column.as_deref().unwrap_or("answers");
        let method = match self.headline.shares.method {
            Method::Unbiased => "unbiased",
            Method::Mle => "maximum likelihood",
            Method::Mmse => "with the prior",
        };
        let level = plain(100.0 * settings.level());
        let reports = thousands(estimator.pool().reports());
        let mut below = format!("{method}, {level} % intervals");
        if let Some(numbers) = &self.numbers {
            let [value, low, high] = written(&numbers.mean.estimate, 1.0);
            below += &format!("; mean {value} ({low} to {high})");
        }
        let mut lines = vec![format!("{column}: estimate from {reports} perturbed answers"), below];
        if self.drift.drifted {
            lines.push("The reports contradict the prior.".into());
        }
        plot::estimate(&plot::Estimated {
            lines,
            column,
            labels: &self.shown.labels,
            shares: &self.shown.shares,
            prior: self.shown.prior.as_deref(),
            edges: self.shown.edges.as_deref(),
            mean: self.numbers.as_ref().map(|numbers| numbers.mean.estimate),
        })
    }
}

impl Numbers {
    fn table(&self, population: Option<u64>) -> String {
        let mut rows = Vec::new();
        let mut say = |what: String, estimate: &Estimate| {
            let [value, low, high] = written(estimate, 1.0);
            rows.push(vec![what, value, low, high]);
        };
        say("mean".into(), &self.mean.estimate);
        if let Some(people) = population {
            say(format!("sum of {people}"), &self.mean.estimate.scaled(people as f64));
        }
        say("variance".into(), &self.variance.estimate);
        for (q, answer) in &self.quantiles {
            say(format!("quantile {}", plain(*q)), &answer.estimate);
        }
        table(&["", "estimate", "from", "to"], rows)
    }
}

fn estimate(estimate: &Estimate) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("value".into(), optional(Some(estimate.value)));
    fields.insert("low".into(), optional(Some(estimate.low)));
    fields.insert("high".into(), optional(Some(estimate.high)));
    fields.insert("standard_error".into(), optional(estimate.standard_error));
    fields.insert("identified".into(), json!(estimate.identified));
    fields.insert("impossible".into(), json!(estimate.impossible));
    fields.insert("method".into(), json!(estimate.method));
    fields
}

fn named(label: &str, share: &Estimate) -> Value {
    let mut fields = estimate(share);
    fields.insert("symbol".into(), json!(label));
    Value::Object(fields)
}

/// Value and interval with no more digits than the interval has meaning for; its ends are rounded outward.
fn written(estimate: &Estimate, unit: f64) -> [String; 3] {
    let half = unit * (estimate.high - estimate.low) / 2.0;
    let digits = if half > 0.0 { (1.0 - half.log10().floor()).clamp(0.0, 8.0) as usize } else { 4 };
    let step = 10f64.powi(digits as i32);
    let outward = |value: f64, round: fn(f64) -> f64| {
        let scaled = unit * value * step;
        // What is a whole number of steps but for a float's last digits is not moved by one.
        let nearest = scaled.round();
        let whole = (scaled - nearest).abs() <= 1e-9 * nearest.abs().max(1.0);
        (if whole { nearest } else { round(scaled) }) / step
    };
    let low = outward(estimate.low, f64::floor);
    let high = outward(estimate.high, f64::ceil);
    [unit * estimate.value, low, high].map(|value| {
        let text = format!("{value:.digits$}");
        // No sign in front of nothing.
        if text.trim_start_matches(['-', '0', '.']).is_empty() {
            text.replace('-', "")
        } else {
            text
        }
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
fn plain(value: f64) -> String {
    let text = format!("{value:.6}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
