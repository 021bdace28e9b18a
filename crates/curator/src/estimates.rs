//! What the reports of a round say: the headline with its interval, the prior's reading second, warnings.

use serde_json::{Map, Value, json};
use std::sync::Arc;
use undertone_core::{Alphabet, Policy};
use undertone_estimate::{Estimate, Estimator, Method, Pool, Settings, Shares, Summary};

use crate::learn::{damaged, tally};
use crate::store::RoundTally;
use undertone_wire::{Problem, RoundState};

/// The level of the intervals.
const LEVEL: f64 = 0.95;

/// One group of a round: its name, its policy, and what was counted.
#[derive(Clone, Debug)]
pub struct Counted {
    /// The group.
    pub group: String,
    /// Its policy.
    pub policy: Arc<Policy>,
    /// Its reports.
    pub tally: RoundTally,
}

/// The estimates of a round. With several groups the headline is that of all of them together, and each
/// group's own stands in `groups`.
pub fn round(number: u32, state: RoundState, counted: &[Counted]) -> Result<Value, Problem> {
    let sum = |part: fn(&RoundTally) -> u64| counted.iter().map(|c| part(&c.tally)).sum::<u64>();
    let reports = sum(|tally| tally.reports);
    let mut fields = Map::new();
    fields.insert("number".into(), json!(number));
    fields.insert("state".into(), json!(state.name()));
    fields.insert("reports".into(), json!(reports));
    fields.insert("duplicates".into(), json!(sum(|tally| tally.duplicates)));
    fields.insert("waiting".into(), json!(sum(|tally| tally.unfolded)));
    fields.insert("counts".into(), counted.iter().map(counts).collect());
    fields.append(&mut estimated(counted)?);
    if counted.len() > 1 {
        let group = |one: &Counted| {
            let mut fields = estimated(std::slice::from_ref(one))?;
            fields.insert("group".into(), json!(one.group));
            fields.insert("reports".into(), json!(one.tally.reports));
            Ok(Value::Object(fields))
        };
        let groups = counted.iter().map(group).collect::<Result<Vec<_>, Problem>>()?;
        fields.insert("groups".into(), json!(groups));
    }
    Ok(Value::Object(fields))
}

/// Reports per output.
fn counts(counted: &Counted) -> Value {
    let draft = counted.policy.draft();
    let outputs = draft.outputs();
    let rows = counted.tally.counts.iter().enumerate();
    json!({
        "group": counted.group,
        "policy": counted.policy.id().to_string(),
        "reports": counted.tally.reports,
        "duplicates": counted.tally.duplicates,
        "outputs": rows.map(|(y, count)| json!({"name": outputs.label(y), "count": count})).collect::<Vec<_>>(),
    })
}

/// The estimates from some groups' reports together; nulls where there are no reports.
fn estimated(counted: &[Counted]) -> Result<Map<String, Value>, Problem> {
    let mut fields = Map::new();
    let Some(estimator) = estimator(counted)? else {
        for field in ["headline", "unbiased", "mmse", "mean", "drift", "influence"] {
            fields.insert(field.into(), Value::Null);
        }
        fields.insert("impossible".into(), json!(false));
        fields.insert("notes".into(), json!(["There are no reports."]));
        return Ok(fields);
    };
    let summary = estimator.summary().map_err(|error| damaged(&error))?;
    let inputs = estimator.pool().inputs();
    let Summary { headline, unbiased, mmse, mean, drift, notes, .. } = &summary;
    let mut first = shares(inputs, &headline.shares);
    first["because"] = json!(headline.because);
    fields.insert("headline".into(), first);
    fields.insert("unbiased".into(), shares(inputs, unbiased));
    let second = mmse.as_ref().map(|mmse| {
        let mut second = shares(inputs, mmse);
        second["greyed"] = json!(drift.drifted || drift.impossible);
        second
    });
    fields.insert("mmse".into(), second.unwrap_or(Value::Null));
    let mean = mean.as_ref().map(|mean| {
        json!({"method": method_name(mean.method), "value": mean.estimate.value,
               "low": mean.estimate.low, "high": mean.estimate.high,
               "identified": mean.estimate.identified, "impossible": mean.estimate.impossible,
               "interval": mean.estimate.method})
    });
    fields.insert("mean".into(), mean.unwrap_or(Value::Null));
    fields.insert("drift".into(), serde_json::to_value(drift).unwrap_or(Value::Null));
    fields.insert("impossible".into(), json!(drift.impossible));
    fields.insert("notes".into(), json!(notes));
    fields.insert("influence".into(), influence(&estimator)?);
    Ok(fields)
}

/// How far invented reports can move the unbiased shares.
fn influence(estimator: &Estimator) -> Result<Value, Problem> {
    let one = estimator.influence(1).map_err(|error| damaged(&error))?;
    let most = one.iter().copied().fold(0.0, f64::max);
    Ok(json!({
        "one_report": one,
        "most": most,
        "in_words": format!(
            "m invented reports among {} move no unbiased share by more than m times {most:.3e}.",
            estimator.pool().reports()
        ),
    }))
}

/// An estimator over some groups' reports; `None` without reports.
pub fn estimator(counted: &[Counted]) -> Result<Option<Estimator>, Problem> {
    let mut pool: Option<Pool> = None;
    for Counted { policy, tally: counts, .. } in counted.iter().filter(|c| c.tally.reports > 0) {
        let tally = tally(policy, counts)?;
        let joined = match pool {
            None => Pool::new(policy, tally),
            Some(pool) => pool.and(policy, tally),
        };
        pool = Some(joined.map_err(|error| damaged(&error))?);
    }
    let Some(pool) = pool else { return Ok(None) };
    let settings = Settings::at_level(LEVEL).map_err(|error| damaged(&error))?;
    Estimator::new(pool, settings).map(Some).map_err(|error| damaged(&error))
}

fn method_name(method: Method) -> &'static str {
    match method {
        Method::Unbiased => "unbiased",
        Method::Mle => "mle",
        Method::Mmse => "mmse",
    }
}

fn shares(inputs: &Alphabet, shares: &Shares) -> Value {
    let symbol = |(x, share): (usize, &Estimate)| {
        json!({
            "name": inputs.label(x), "value": share.value, "low": share.low, "high": share.high,
            "identified": share.identified, "impossible": share.impossible, "method": share.method,
        })
    };
    json!({
        "method": method_name(shares.method),
        "label": shares.label,
        "level": shares.settings.level(),
        "symbols": shares.symbols.iter().enumerate().map(symbol).collect::<Vec<_>>(),
    })
}
