//! The summary: what became of each paper's claims, and the ten findings that matter. It fits on a sheet of paper.

use std::fmt::Write;

use crate::markdown::inline;
use crate::record::{Counts, Judged, counts};
use crate::run::{Finished, Status};
use crate::{Paper, Verdict};

use super::body::anchor;
use super::findings::FINDINGS;
use super::frame::{Page, verdict};
use super::{CLAIMS, file};

/// The summary of a run.
pub(super) fn page(
    finished: &[Finished],
    claims: &[Judged],
    papers: &[Paper],
    quick: bool,
) -> Page {
    let mut page = Page::new("Five papers on local information privacy, rerun");
    let size = if quick {
        "a quick run: fewer draws and coarser grids than the full one"
    } else {
        "the full run"
    };
    page.push(&format!(
        "<p class=\"lead\">Every figure and table again, each claim beside what comes out, and a verdict computed from \
         the numbers; this is {size}, by Undertone {}. Leakages are in nats. A guarantee is read off the integers of a \
         verified policy; a printed formula that misses its claim is drawn dashed and named with what it truly \
         leaks.</p>\n<h2>What became of the claims</h2>\n",
        env!("CARGO_PKG_VERSION")
    ));
    page.push(&legend());
    page.push("<ol class=\"papers\">\n");
    for paper in papers {
        let own = counts(paper.key(), claims.iter().filter(|claim| claim.paper == paper.key()));
        page.push(&bar(paper.name(), &file(*paper), &own));
    }
    page.push(&bar("All of them", CLAIMS, &counts("all", claims.iter())));
    page.push("</ol>\n");
    for found in finished {
        let words = match &found.status {
            Status::Done(_) => continue,
            Status::MissingData(words) => format!("not run: {words}"),
            Status::Failed(words) => format!("failed: {words}"),
        };
        page.push(&format!(
            "<p class=\"warning\"><strong>{}</strong> {}</p>\n",
            found.experiment.key,
            inline(&words)
        ));
    }
    findings(&mut page, claims);
    page
}

fn legend() -> String {
    let mut out = String::from("<p class=\"strip\">");
    for slug in Verdict::SLUGS {
        let _ = write!(out, "<span><i class=\"v-{slug}\"></i>{}</span> ", verdict(slug));
    }
    out.push_str("</p>\n");
    out
}

fn bar(name: &str, file: &str, counts: &Counts) -> String {
    let mut out = format!("<li><a href=\"{file}\">{}</a>", inline(name));
    if counts.claims > 0 {
        out.push_str("<div class=\"bar\">");
        for slug in Verdict::SLUGS {
            let count = counts.verdicts[slug];
            if count > 0 {
                let words = verdict(slug);
                let _ = write!(
                    out,
                    "<a class=\"v-{slug}\" style=\"flex-grow:{count}\" href=\"{file}#v-{slug}\" title=\"{count} {words}\" aria-label=\"{count} {words}\">{count}</a>"
                );
            }
        }
        out.push_str("</div>");
    }
    let mut parts = Vec::new();
    if counts.claims > 0 {
        let sure = match counts.tautologies {
            0 => String::new(),
            count => format!(", {count} true by construction"),
        };
        let number = match counts.with_a_number {
            0 => "none".to_owned(),
            count => count.to_string(),
        };
        parts.push(format!("{} claims, {number} with a number in the text{sure}", counts.claims));
    }
    if counts.arithmetic > 0 {
        parts.push(format!("{} more by arithmetic alone", counts.arithmetic));
    }
    if counts.ours > 0 {
        parts.push(format!("{} of ours", counts.ours));
    }
    let _ = writeln!(out, "<small>{}</small></li>", parts.join("; "));
    out
}

/// Findings whose claim came out as expected in this run; others would be hearsay.
fn findings(page: &mut Page, claims: &[Judged]) {
    let of = |id: &str| claims.iter().find(|claim| claim.id == id);
    let found: Vec<_> = FINDINGS
        .iter()
        .filter_map(|finding| Some((finding, of(finding.id)?)))
        .filter(|(finding, claim)| claim.verdict == finding.verdict)
        .collect();
    if found.is_empty() {
        return;
    }
    let title = match found.len() {
        10 => "Ten findings that matter".to_owned(),
        some => format!("Findings that matter: the {some} of ten that this run holds"),
    };
    page.push(&format!("<h2>{title}</h2>\n<ol class=\"findings\">\n"));
    for (finding, claim) in found {
        let paper = Paper::ALL.into_iter().find(|paper| paper.key() == claim.paper);
        let name = paper.map_or("", Paper::short);
        page.push(&format!(
            "<li><a href=\"{}#{}\">{}</a> <span>{}</span><small>{}: “{}” is <b class=\"badge v-{}\">{}</b></small></li>\n",
            paper.map(file).unwrap_or_default(),
            anchor(&claim.id),
            inline(finding.says),
            inline(&claim.ours),
            inline(name),
            inline(&claim.says),
            claim.verdict,
            verdict(&claim.verdict)
        ));
    }
    page.push("</ol>\n");
}
