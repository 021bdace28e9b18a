//! What an observer can learn from one answer: as numbers and in words.

use serde_json::{Value, json};
use undertone_core::{Context, Draft};
use undertone_design::Error;
use undertone_design::risk::{Belief, Beliefs, REFERENCE, Risk};

/// At most this many symbols are listed; those an observer learns most about.
const LISTED: usize = 20;

/// The fields `beliefs`, `attained`, `odds` and `in_words`.
pub fn learns(draft: &Draft) -> Result<Value, Error> {
    let risk = Risk::of(draft)?;
    let beliefs = &risk.input;
    let label = |x: usize| match draft.context() {
        Context::Unknown => format!("anything believed with {} %", 100.0 * REFERENCE[x]),
        _ => draft.inputs().label(x),
    };
    let list: Vec<Value> = beliefs
        .worst(LISTED)
        .into_iter()
        .map(|x| {
            let belief = &beliefs.list[x];
            json!({
                "symbol": label(x),
                "before_least": belief.before_least,
                "before_most": belief.before_most,
                "least": belief.least,
                "most": belief.most,
            })
        })
        .collect();
    let odds = if beliefs.odds.is_finite() { json!(beliefs.odds) } else { Value::Null };
    Ok(json!({
        "beliefs": list,
        "listed": list.len(),
        "symbols": beliefs.list.len(),
        "attained": beliefs.attained,
        "odds": odds,
        "in_words": words(draft, beliefs),
    }))
}

fn words(draft: &Draft, beliefs: &Beliefs) -> Vec<String> {
    let mut said = Vec::new();
    let list = &beliefs.list;
    if matches!(draft.context(), Context::Unknown) {
        // The belief of 10 %, which people can picture.
        if let Some(belief) = list.get(2) {
            said.push(format!(
                "Whatever is asked about, seeing one answer can change a belief of {} to between {} and {}.",
                percent(belief.before_most, f64::round),
                percent(belief.least, f64::floor),
                percent(belief.most, f64::ceil)
            ));
        }
    } else {
        let name = |x: usize| format!("{:?}", draft.inputs().label(x));
        match beliefs.steepest_rise() {
            Some(x) => said.push(format!(
                "Seeing one answer can raise the belief in {} from {} to at most {}: the largest factor for any answer.",
                name(x),
                before(&list[x]),
                percent(list[x].most, f64::ceil)
            )),
            None => said.push("No answer changes any belief.".into()),
        }
        if let Some(x) = beliefs.steepest_fall() {
            said.push(format!(
                "It can lower the belief in {} from {} to at least {}.",
                name(x),
                before(&list[x]),
                percent(list[x].least, f64::floor)
            ));
        }
    }
    let (strength, _) = draft.strength();
    said.push(match strength.ldp.ratio.ln_up() {
        Some(level) => format!(
            "Whatever was believed before, the odds between two answers move by a factor of at most {:.3} (LDP {level}).",
            (1e3 * beliefs.odds).ceil() / 1e3
        ),
        None => "Some answer rules out another: to an observer who believes otherwise than the prior, what can be learnt is not bounded.".into(),
    });
    said
}

fn before(belief: &Belief) -> String {
    match belief.before() {
        Some(before) => percent(before, f64::round),
        None => format!(
            "between {} and {}",
            percent(belief.before_least, f64::round),
            percent(belief.before_most, f64::round)
        ),
    }
}

/// A probability in percent with two decimals, rounded as asked; rounding noise of the float itself is not
/// taken for a digit.
pub(crate) fn percent(p: f64, round: fn(f64) -> f64) -> String {
    let scaled = 1e4 * p;
    let exact = (scaled - scaled.round()).abs() < 1e-7;
    let shown = if exact { scaled.round() } else { round(scaled) } / 100.0;
    format!("{shown} %")
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn percentages_are_rounded_the_way_they_are_meant() {
        assert_eq!(percent(0.271_828, f64::ceil), "27.19 %");
        assert_eq!(percent(0.271_828, f64::floor), "27.18 %");
        assert_eq!(percent(0.1 + 1e-15, f64::ceil), "10 %");
        assert_eq!(percent(0.0, f64::floor), "0 %");
    }
}
