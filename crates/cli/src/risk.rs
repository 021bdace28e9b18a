//! What an observer can learn from one answer: as tables and as a picture.

use undertone::policy_report::MOST_BELIEFS;
use undertone::risk::{BeliefReport, RiskReport, before, percent};
use undertone_core::{Context, Draft, Ratio, Strength};
use undertone_design::risk::Beliefs;

use crate::failure::Failure;
use crate::output::table;
use crate::plot::{self, Panel};

/// The most symbols a table for people lists.
const SHOWN: usize = 20;
/// Tables of posteriors up to this size are printed.
const READ_INPUTS: usize = 8;
const READ_OUTPUTS: usize = 12;
/// Significant digits of a percentage.
const DIGITS: i32 = 4;

/// A policy and its risk, to be shown.
pub(crate) struct Shown<'a> {
    pub(crate) draft: &'a Draft,
    pub(crate) report: &'a RiskReport,
}

impl Shown<'_> {
    /// The risk for people.
    pub(crate) fn text(&self) -> String {
        let RiskReport { risk, beliefs, secret_beliefs, .. } = self.report;
        let mut text = String::from("What an observer can learn from one answer:\n");
        for sentence in &self.report.in_words {
            text += &format!("  {sentence}\n");
        }
        if let (Some(secret), Some(list)) = (&risk.secret, secret_beliefs) {
            text += &format!("\n{}\n", beliefs_table(secret, list, "secret"));
        }
        text += &format!("\n{}", beliefs_table(&risk.input, beliefs, "answer"));
        if let Some(readings) = self.readings() {
            text += &format!("\n\n{readings}");
        }
        text
    }

    /// The posterior after every output, for small tables.
    fn readings(&self) -> Option<String> {
        let inputs = self.draft.shape().inputs();
        let outputs = &self.report.readings;
        if outputs.is_empty() || inputs > READ_INPUTS || outputs.len() > READ_OUTPUTS {
            return None;
        }
        let nearest = |p: f64| format!("{} %", percent(p, DIGITS, f64::round));
        let rows = outputs.iter().map(|reading| {
            let posterior = reading.posterior.iter().map(|&p| nearest(p));
            [reading.output.clone(), nearest(reading.probability)]
                .into_iter()
                .chain(posterior)
                .collect()
        });
        let names: Vec<String> =
            self.report.beliefs.iter().map(|belief| format!("then {}", belief.symbol)).collect();
        let mut header = vec!["seen", "how often"];
        header.extend(names.iter().map(String::as_str));
        Some(table(&header, rows.collect()))
    }

    /// The risk as an SVG picture.
    pub(crate) fn picture(&self, verified: bool) -> Result<String, Failure> {
        let claims: Vec<String> = self.draft.claims().iter().map(ToString::to_string).collect();
        let verdict = if verified { "verified" } else { "REFUSED: at least one claim is false" };
        let (input, secret) = self.draft.strength();
        let level = |ratio: Ratio| match ratio.ln_up() {
            Some(level) => level.to_string(),
            None => "unbounded".into(),
        };
        let about = |strength: &Strength| {
            let lip = strength.lip().map_or(String::new(), |lip| format!("LIP {}, ", level(lip)));
            format!("{lip}LDP {}", level(strength.ldp.ratio))
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
        if let (Some(beliefs), Context::Secret(secret)) =
            (&self.report.risk.secret, self.draft.context())
        {
            let list = self.report.secret_beliefs.as_deref().unwrap_or_default();
            let label = Box::new(|s: usize| list[s].symbol.clone());
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
        let label = Box::new(|x: usize| self.report.beliefs[x].symbol.clone());
        panels.push(Panel { title: title.into(), beliefs: &self.report.risk.input, label });
        plot::risk(&lines, &panels)
    }
}

/// Belief in every symbol, before and after.
fn beliefs_table(beliefs: &Beliefs, list: &[BeliefReport], who: &str) -> String {
    let named = beliefs.list.iter().any(|belief| belief.most_after.is_some());
    let rows = beliefs.worst(SHOWN).into_iter().map(|x| {
        let belief = &beliefs.list[x];
        let mut row = vec![
            list[x].symbol.clone(),
            before(belief),
            format!("{} %", percent(belief.least, DIGITS, f64::floor)),
            format!("{} %", percent(belief.most, DIGITS, f64::ceil)),
        ];
        if named {
            row.push(list[x].most_after.clone().unwrap_or("none".into()));
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
            "\n({} more, about which less can be learnt; use --json for {})",
            beliefs.list.len() - SHOWN,
            if beliefs.list.len() > MOST_BELIEFS { "more of them" } else { "all" }
        );
    }
    if !beliefs.attained {
        text += "\nThese are bounds: no answer need reach them.";
    }
    text
}
