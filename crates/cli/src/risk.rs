//! What an observer can learn from one answer: in words, as a table, as a picture.

use std::path::Path;

use serde_json::{Map, Value, json};
use undertone_core::{Context, Delta, Draft, Shape};
use undertone_design::risk::{Belief, Beliefs, REFERENCE, Risk};

use crate::audit::leak;
use crate::failure::Failure;
use crate::output::{nats, number, table};
use crate::plot::{self, Panel};

/// The most symbols a table for people lists.
const SHOWN: usize = 20;
/// Tables of posteriors up to this size are printed.
const READ_INPUTS: usize = 8;
const READ_OUTPUTS: usize = 12;
/// Significant digits of a percentage.
const DIGITS: i32 = 4;

/// A policy's risk, with the names of everything.
pub(crate) struct Told<'a> {
    draft: &'a Draft,
    risk: Risk,
}

/// Reads the risk off a draft.
pub(crate) fn read(draft: &Draft) -> Result<Told<'_>, Failure> {
    Ok(Told { draft, risk: Risk::of(draft)? })
}

impl Told<'_> {
    /// What a symbol of the input is called; without a context, the belief that stands for it.
    fn input(&self, x: usize) -> String {
        match self.draft.context() {
            Context::Unknown => format!("{} % before", nats(100.0 * REFERENCE[x])),
            _ => self.draft.inputs().label(x),
        }
    }

    fn secret(&self, s: usize) -> String {
        match self.draft.context() {
            Context::Secret(secret) => format!("{} = {s}", secret.name()),
            _ => s.to_string(),
        }
    }

    fn answer(&self, y: usize) -> String {
        self.draft.outputs().label(y)
    }

    /// The fields `beliefs`, `secret_beliefs`, `readings`, `odds` and `in_words`.
    pub(crate) fn json(&self) -> Map<String, Value> {
        let list = |beliefs: &Beliefs, label: &dyn Fn(usize) -> String| -> Value {
            let entry = |(x, belief): (usize, &Belief)| {
                json!({
                    "symbol": label(x),
                    "before": belief.before_most,
                    "before_least": belief.before_least,
                    "least": belief.least,
                    "most": belief.most,
                    "least_after": belief.least_after.map(|y| self.answer(y)),
                    "most_after": belief.most_after.map(|y| self.answer(y)),
                })
            };
            beliefs.list.iter().enumerate().map(entry).collect()
        };
        let mut map = Map::new();
        map.insert("beliefs".into(), list(&self.risk.input, &|x| self.input(x)));
        map.insert("beliefs_attained".into(), json!(self.risk.input.attained));
        if let Some(secret) = &self.risk.secret {
            map.insert("secret_beliefs".into(), list(secret, &|s| self.secret(s)));
            map.insert("secret_beliefs_attained".into(), json!(secret.attained));
        }
        map.insert("odds".into(), number(self.risk.input.odds));
        let readings = self.risk.outputs.iter().map(|reading| {
            json!({
                "output": self.answer(reading.output),
                "probability": reading.probability,
                "posterior": reading.posterior,
            })
        });
        map.insert("readings".into(), readings.collect());
        map.insert("in_words".into(), json!(self.words()));
        map
    }

    /// The risk for people.
    pub(crate) fn text(&self) -> String {
        let mut text = String::from("What an observer can learn from one answer:\n");
        for sentence in self.words() {
            text += &format!("  {sentence}\n");
        }
        if let Some(secret) = &self.risk.secret {
            text += &format!("\n{}\n", self.beliefs(secret, "secret", &|s| self.secret(s)));
        }
        text += &format!("\n{}", self.beliefs(&self.risk.input, "answer", &|x| self.input(x)));
        if let Some(readings) = self.readings() {
            text += &format!("\n\n{readings}");
        }
        text
    }

    fn beliefs(&self, beliefs: &Beliefs, who: &str, label: &dyn Fn(usize) -> String) -> String {
        let named = beliefs.list.iter().any(|belief| belief.most_after.is_some());
        let rows = beliefs.worst(SHOWN).into_iter().map(|x| {
            let belief = &beliefs.list[x];
            let mut row = vec![
                label(x),
                before(belief),
                format!("{} %", percent(belief.least, DIGITS, f64::floor)),
                format!("{} %", percent(belief.most, DIGITS, f64::ceil)),
            ];
            if named {
                row.push(belief.most_after.map_or("none".into(), |y| self.answer(y)));
            }
            row
        });
        let mut header = vec![who, "belief before", "after, at least", "after, at most"];
        if named {
            header.push("raised most by seeing");
        }
        let mut text = table(&header, rows.collect());
        if beliefs.list.len() > SHOWN {
            text += &format!(
                "\n({} more, about which less can be learnt; use --json for all)",
                beliefs.list.len() - SHOWN
            );
        }
        if !beliefs.attained {
            text += "\nThese are bounds: no answer need reach them.";
        }
        text
    }

    /// The posterior after every output, for small tables.
    fn readings(&self) -> Option<String> {
        let inputs = self.draft.shape().inputs();
        let outputs = &self.risk.outputs;
        if outputs.is_empty() || inputs > READ_INPUTS || outputs.len() > READ_OUTPUTS {
            return None;
        }
        let nearest = |p: f64| format!("{} %", percent(p, DIGITS, f64::round));
        let rows = outputs.iter().map(|reading| {
            let posterior = reading.posterior.iter().map(|&p| nearest(p));
            [self.answer(reading.output), nearest(reading.probability)]
                .into_iter()
                .chain(posterior)
                .collect()
        });
        let names: Vec<String> = (0..inputs).map(|x| format!("then {}", self.input(x))).collect();
        let mut header = vec!["seen", "how often"];
        header.extend(names.iter().map(String::as_str));
        Some(table(&header, rows.collect()))
    }

    /// The worst case in plain sentences.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut said = Vec::new();
        if let Some(secret) = &self.risk.secret {
            said.extend(self.worst_case(secret, "secret", &|s| self.secret(s)));
        }
        if matches!(self.draft.context(), Context::Unknown) {
            said.push(
                "No prior is assumed, so nothing is said about any one belief before the answer."
                    .into(),
            );
        } else {
            said.extend(
                self.worst_case(&self.risk.input, "input", &|x| format!("{:?}", self.input(x))),
            );
        }
        let (strength, _) = self.draft.strength();
        said.push(match strength.ldp.ratio.ln_up() {
            Some(level) => format!(
                "Whatever was believed before, the odds between two values move by a factor of at most {} (LDP {level}).",
                nats((1e3 * self.risk.input.odds).ceil() / 1e3)
            ),
            None => "Some answer rules out some value: to an observer who believes otherwise than the prior, what can be learnt is not bounded (LDP is unbounded).".into(),
        });
        if self.draft.claims().iter().any(|claim| claim.delta != Delta::ZERO) {
            said.push("A claim with a delta lets that much probability escape its bound; the figures here are of the worst answer, however rare.".into());
        }
        said
    }

    fn worst_case(
        &self,
        beliefs: &Beliefs,
        of: &str,
        label: &dyn Fn(usize) -> String,
    ) -> Vec<String> {
        let list = &beliefs.list;
        let Some(up) = beliefs.steepest_rise() else {
            return vec![format!("No answer changes any belief about the {of}.")];
        };
        let belief = &list[up];
        let by = match (belief.most_after, self.draft.shape()) {
            (Some(y), _) => format!("Seeing {:?}", self.answer(y)),
            (None, Shape::Bits(_)) => "The most telling pattern of bits".into(),
            (None, _) => "One answer".into(),
        };
        let rises = format!(
            "{by} can raise belief in {} from {} to {} %: by the largest factor for any value of the {of}.",
            label(up),
            before(belief),
            percent(belief.most, DIGITS, f64::ceil)
        );
        let falls = beliefs.steepest_fall().map(|x| match list[x].least {
            0.0 => format!(
                "Some answer rules out {}, which was believed with {} before.",
                label(x),
                before(&list[x])
            ),
            least => format!(
                "Belief in {} can fall from {} to {} %: by the largest factor for any value of the {of}.",
                label(x),
                before(&list[x]),
                percent(least, DIGITS, f64::floor)
            ),
        });
        std::iter::once(rises).chain(falls).collect()
    }

    /// Draws the picture.
    pub(crate) fn plot(&self, path: &Path, verified: bool) -> Result<(), Failure> {
        let claims: Vec<String> = self.draft.claims().iter().map(ToString::to_string).collect();
        let verdict = if verified { "verified" } else { "REFUSED: at least one claim is false" };
        let (input, secret) = self.draft.strength();
        let level = |value: Value| value.as_f64().map_or("unbounded".to_owned(), nats);
        let lip = |strength: &undertone_core::Strength| match strength.lip() {
            Some(ratio) => format!("LIP {}, ", level(leak(Some(ratio)))),
            None => String::new(),
        };
        let about = |strength: &undertone_core::Strength| {
            format!("{}LDP {}", lip(strength), level(leak(Some(strength.ldp.ratio))))
        };
        let mut attained = format!("attained, in nats: {}", about(&input));
        if let Some(secret) = &secret {
            attained += &format!("; about the secret: {}", about(secret));
        }
        let lines = [
            "What one answer reveals".to_owned(),
            format!("claims {}: {verdict}", claims.join(" and ")),
            attained,
        ];
        let mut panels = Vec::new();
        if let (Some(beliefs), Context::Secret(secret)) = (&self.risk.secret, self.draft.context())
        {
            let label = Box::new(|s| self.secret(s));
            let title = match secret.name() {
                "secret" => "About the secret".to_owned(),
                name => format!("About the secret: {name}"),
            };
            panels.push(Panel { title, beliefs, label });
        }
        let title = match self.draft.context() {
            Context::Unknown => "Without a prior: examples of beliefs before",
            Context::Secret(_) => "About the input",
            _ => "About the person's answer",
        };
        let label = Box::new(|x| self.input(x));
        panels.push(Panel { title: title.into(), beliefs: &self.risk.input, label });
        plot::save(path, &plot::risk(&lines, &panels)?)
    }
}

fn before(belief: &Belief) -> String {
    if let Some(before) = belief.before() {
        return format!("{} %", percent(before, DIGITS, f64::round));
    }
    let (low, high) = (belief.before_least, belief.before_most);
    format!("{} to {} %", percent(low, DIGITS, f64::round), percent(high, DIGITS, f64::round))
}

/// A probability in percent with so many significant digits, rounded as asked. Noise of the
/// float arithmetic itself is not taken for a digit.
pub(crate) fn percent(p: f64, significant: i32, round: fn(f64) -> f64) -> String {
    let value = 100.0 * p;
    if value.is_nan() || value <= 0.0 {
        return "0".into();
    }
    let exponent = value.log10().floor() as i32;
    if exponent < -4 {
        return format!("{}e{exponent}", round(value * 10f64.powi(1 - exponent)) / 10.0);
    }
    let digits = (significant - 1 - exponent).max(0);
    let unit = 10f64.powi(digits);
    let scaled = value * unit;
    let rounded =
        if (scaled - scaled.round()).abs() < 1e-9 { scaled.round() } else { round(scaled) };
    let text = format!("{:.*}", digits as usize, rounded / unit);
    if digits > 0 { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_are_rounded_the_way_they_are_meant() {
        assert_eq!(percent(0.271_828, 4, f64::ceil), "27.19");
        assert_eq!(percent(0.271_828, 4, f64::floor), "27.18");
        assert_eq!(percent(0.1 + 1e-15, 4, f64::ceil), "10");
        assert_eq!(percent(0.1 + 1e-10, 4, f64::ceil), "10.01");
        assert_eq!(percent(1.0, 4, f64::ceil), "100");
        assert_eq!(percent(0.0, 4, f64::ceil), "0");
        assert_eq!(percent(4.691e-14, 4, f64::ceil), "4.7e-12");
        assert_eq!(percent(0.999_99, 3, f64::floor), "99.9");
    }
}
