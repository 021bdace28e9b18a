//! An experiment on its paper's page: its claims, its pictures, its numbers.

use std::fmt::Write;

use crate::markdown::{escape, inline};
use crate::outcome::Drawing;
use crate::plot::{Key, Stroke};
use crate::record::Judged;
use crate::run::{Finished, Status};
use crate::{Experiment, Kind, Outcome, Paper, Table, sections};

use super::frame::verdict;

/// Tables longer than this are shown by their first and last rows; the CSV file has all.
const ROWS_SHOWN: usize = 24;

/// Everything about an experiment.
pub(super) fn experiment(found: &Finished, own: &[&Judged]) -> String {
    let Experiment { key, title, .. } = *found.experiment;
    let mut out = format!(
        "<article class=\"experiment\" id=\"{key}\"><h2>{}</h2><p class=\"key\"><code>undertone-reproduce {key}</code>, {:.1} s</p>",
        inline(title),
        found.seconds
    );
    match &found.status {
        Status::Done(outcome) => {
            out.push_str(&claims(own));
            rest(&mut out, found.experiment, outcome);
        }
        Status::MissingData(words) => {
            let _ = write!(out, "<p class=\"warning\">Not run: {}</p>", inline(words));
        }
        Status::Failed(words) => {
            let _ = write!(out, "<p class=\"warning\">Failed: {}</p>", inline(words));
        }
    }
    out.push_str("</article>\n");
    out
}

/// A list of claims.
pub(super) fn claims(claims: &[&Judged]) -> String {
    let mut out = String::from("<ol class=\"claims\">\n");
    for claim in claims {
        let _ = write!(
            out,
            "<li class=\"claim v-{0} k-{1}\" id=\"{2}\">{3}<div><p class=\"says\">{4}</p><dl>",
            claim.verdict,
            claim.kind.slug(),
            anchor(&claim.id),
            badges(claim),
            inline(&claim.says)
        );
        let printed = claim.printed.as_deref().unwrap_or_default();
        let leaks = claim.leaks.as_deref().unwrap_or_default();
        let number = if claim.kind == Kind::Ours { "expected" } else { "printed" };
        for (name, text) in [
            (number, printed),
            ("here", &claim.ours),
            ("leaks", leaks),
            ("tested", &claim.tested),
            ("why", &claim.reason),
        ] {
            if !text.is_empty() {
                let _ = write!(out, "<dt>{name}</dt><dd>{}</dd>", inline(text));
            }
        }
        out.push_str("</dl></div></li>\n");
    }
    out.push_str("</ol>\n");
    out
}

/// Where a claim is on its paper's page.
pub(super) fn anchor(id: &str) -> String {
    id.replace('/', "--")
}

/// Verdict and kind of a claim.
fn badges(claim: &Judged) -> String {
    let mut out = format!(
        "<p class=\"badges\"><b class=\"badge v-{}\">{}</b>",
        claim.verdict,
        verdict(&claim.verdict)
    );
    let kind = match claim.kind {
        Kind::Paper => "",
        Kind::Ours => "ours, not the paper's",
        Kind::Arithmetic => "by arithmetic",
    };
    for words in [kind, if claim.tautology { "true by construction" } else { "" }] {
        if !words.is_empty() {
            let _ = write!(out, " <small>{words}</small>");
        }
    }
    out.push_str("</p>");
    out
}

fn rest(out: &mut String, experiment: &Experiment, outcome: &Outcome) {
    if !outcome.notes.is_empty() {
        out.push_str("<ul class=\"notes\">");
        for note in &outcome.notes {
            let _ = write!(out, "<li>{}</li>", inline(note));
        }
        out.push_str("</ul>\n");
    }
    for drawing in &outcome.drawings {
        picture(out, experiment, drawing);
    }
    for table in &outcome.tables {
        numbers(out, table);
    }
}

/// What a picture shows and where its paper has it.
fn caption(experiment: &Experiment) -> String {
    let title = inline(experiment.title);
    if experiment.paper == Paper::Ours {
        return format!("{title}. A question of ours.");
    }
    let place = sections::of(experiment.key).unwrap_or("a place we cannot name");
    format!(
        "{title}. <cite>{}</cite>, <span class=\"place\">{place}</span>.",
        inline(experiment.paper.name())
    )
}

fn picture(out: &mut String, experiment: &Experiment, drawing: &Drawing) {
    out.push_str("<figure>");
    if drawing.charts.is_empty() {
        let _ = write!(out, "<div class=\"drawing\">{}</div>", drawing.svg);
    } else {
        out.push_str("<div class=\"charts\">");
        for chart in &drawing.charts {
            let _ = write!(out, "<section class=\"chart\"><h3>{}</h3>", inline(&chart.title));
            let _ = write!(out, "{}<ul class=\"legend\">", chart.svg);
            for line in &chart.legend {
                let _ = write!(out, "<li>{}{}</li>", key(line), inline(&line.name));
            }
            out.push_str("</ul></section>\n");
        }
        out.push_str("</div>");
    }
    let _ = writeln!(out, "<figcaption>{}</figcaption></figure>", caption(experiment));
}

/// The stroke beside a legend's words, which say what it is.
fn key(line: &Key) -> String {
    let (width, dashes) = match line.stroke {
        Stroke::Points => {
            return format!(
                "<svg aria-hidden=\"true\" width=\"30\" height=\"10\"><circle cx=\"15\" cy=\"5\" r=\"3.5\" fill=\"{}\"/></svg>",
                line.colour
            );
        }
        Stroke::Solid => (3, "none"),
        Stroke::Dashed => (3, "8 4"),
        Stroke::Dotted => (2, "2 4"),
    };
    format!(
        "<svg aria-hidden=\"true\" width=\"30\" height=\"10\"><line x1=\"0\" y1=\"5\" x2=\"30\" y2=\"5\" stroke=\"{}\" stroke-width=\"{width}\" stroke-dasharray=\"{dashes}\"/></svg>",
        line.colour
    )
}

fn numbers(out: &mut String, table: &Table) {
    let rows = table.rows.len();
    let _ = write!(
        out,
        "<details><summary>{}.csv, {rows} rows</summary><div class=\"scroll\"><table class=\"numbers\"><tr>",
        escape(&table.name)
    );
    for column in &table.columns {
        let _ = write!(out, "<th>{}</th>", escape(column));
    }
    out.push_str("</tr>\n");
    let hidden = if rows > ROWS_SHOWN { ROWS_SHOWN / 2..rows - ROWS_SHOWN / 2 } else { 0..0 };
    for (at, row) in table.rows.iter().enumerate() {
        if hidden.contains(&at) {
            if at == hidden.start {
                let width = table.columns.len();
                let _ = writeln!(
                    out,
                    "<tr><td colspan=\"{width}\">… {} more in the file</td></tr>",
                    hidden.len()
                );
            }
            continue;
        }
        out.push_str("<tr>");
        for cell in row {
            let shown =
                cell.parse().map_or(cell.clone(), |number: f64| match cell.parse::<i64>() {
                    Ok(_) => cell.clone(),
                    Err(_) => crate::claim::short(number),
                });
            let _ = write!(out, "<td>{}</td>", escape(&shown));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table></div></details>\n");
}
