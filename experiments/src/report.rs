//! One self-contained page: a summary, a section per paper, each with its errata.

use std::fmt::Write;
use std::path::Path;

use crate::markdown::{self, escape};
use crate::run::{Finished, Status, save};
use crate::{Claim, Error, Outcome, Paper, Table, Verdict};

/// Tables longer than this are shown by their first and last rows; the CSV file has all.
const ROWS_SHOWN: usize = 24;

/// Writes the page.
pub fn write(path: &Path, finished: &[Finished], quick: bool) -> Result<(), Error> {
    save(path, &html(finished, quick))
}

/// The page.
pub fn html(finished: &[Finished], quick: bool) -> String {
    let mut page = String::new();
    let size = if quick { "quick run: fewer draws, coarser grids" } else { "full run" };
    let _ = writeln!(
        page,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>Undertone: five papers, rerun</title>\n<style>{STYLE}</style></head><body>\n\
         <header><h1>Five papers on local information privacy, rerun</h1>\n\
         <p>Every figure and table, the papers' claims beside what comes out, and a verdict \
         computed from the numbers ({size}, Undertone {}). All leakages are in nats. A guarantee \
         is read off the integers of a verified policy; a printed formula that misses its claim is \
         drawn dashed and labelled with what it truly leaks.</p></header>",
        env!("CARGO_PKG_VERSION")
    );
    navigation(&mut page, finished);
    summary(&mut page, finished);
    for paper in Paper::ALL {
        let own: Vec<&Finished> =
            finished.iter().filter(|found| found.experiment.paper == paper).collect();
        if own.is_empty() {
            continue;
        }
        let key = paper.key();
        let _ =
            writeln!(page, "<section id=\"{key}\"><h2>{key}</h2><p>{}</p>", escape(paper.title()));
        for found in own {
            experiment(&mut page, found);
        }
        if let Some(errata) = paper.errata() {
            let _ = writeln!(
                page,
                "<article class=\"errata\" id=\"{key}-errata\">{}</article>",
                markdown::html(errata, 2)
            );
        }
        page.push_str("</section>\n");
    }
    page.push_str("</body></html>\n");
    page
}

fn navigation(page: &mut String, finished: &[Finished]) {
    page.push_str("<nav>");
    for paper in Paper::ALL {
        let own: Vec<&Finished> =
            finished.iter().filter(|found| found.experiment.paper == paper).collect();
        if own.is_empty() {
            continue;
        }
        let _ = write!(page, "<p><a href=\"#{0}\"><strong>{0}</strong></a> ", paper.key());
        for found in own {
            let key = found.experiment.key;
            let short = key.split_once('-').map_or(key, |(_, rest)| rest);
            let _ = write!(page, "<a href=\"#{key}\">{}</a> ", escape(short));
        }
        if paper.errata().is_some() {
            let _ = write!(page, "<a href=\"#{}-errata\">errata</a>", paper.key());
        }
        page.push_str("</p>");
    }
    page.push_str("</nav>\n");
}

/// How many claims of a paper came out how.
fn counts<'a>(claims: impl Iterator<Item = &'a Claim>) -> [usize; 4] {
    let mut counts = [0; 4];
    for claim in claims {
        counts[match claim.verdict {
            Verdict::Reproduced => 0,
            Verdict::OnlyWithPrintedFormula { .. } => 1,
            Verdict::NotReproducible => 2,
            Verdict::False => 3,
        }] += 1;
    }
    counts
}

fn outcomes(finished: &[Finished], paper: Option<Paper>) -> impl Iterator<Item = &Outcome> {
    let wanted = move |found: &&Finished| paper.is_none_or(|p| p == found.experiment.paper);
    finished.iter().filter(wanted).filter_map(|found| match &found.status {
        Status::Done(outcome) => Some(outcome),
        _ => None,
    })
}

fn summary(page: &mut String, finished: &[Finished]) {
    page.push_str(
        "<section id=\"summary\"><h2>Summary</h2><div class=\"scroll\"><table>\
         <tr><th>paper</th><th>experiments</th><th>claims tested</th><th>reproduced</th>\
         <th>only with the printed formula, which leaks</th><th>not reproducible</th><th>false</th></tr>\n",
    );
    let line = |page: &mut String, name: &str, own: usize, counts: [usize; 4]| {
        let [a, b, c, d] = counts;
        let _ = writeln!(
            page,
            "<tr><td>{name}</td><td>{own}</td><td>{}</td><td>{a}</td><td>{b}</td><td>{c}</td><td>{d}</td></tr>",
            a + b + c + d
        );
    };
    for paper in Paper::ALL {
        let own = finished.iter().filter(|found| found.experiment.paper == paper).count();
        if own > 0 {
            let counts = counts(outcomes(finished, Some(paper)).flat_map(|o| &o.claims));
            let link = format!("<a href=\"#{0}\">{0}</a>", paper.key());
            line(page, &link, own, counts);
        }
    }
    let all = counts(outcomes(finished, None).flat_map(|o| &o.claims));
    line(page, "<strong>all</strong>", finished.len(), all);
    page.push_str("</table></div>\n");
    for found in finished {
        let words = match &found.status {
            Status::Done(_) => continue,
            Status::MissingData(words) => format!("not run: {words}"),
            Status::Failed(words) => format!("failed: {words}"),
        };
        let _ = writeln!(
            page,
            "<p class=\"warning\"><strong>{}</strong> {}</p>",
            found.experiment.key,
            escape(&words)
        );
    }
    page.push_str("<h3>Claims that did not come out as printed</h3><div class=\"scroll\"><table class=\"claims\">\n");
    page.push_str("<tr><th>where</th><th>the paper says</th><th>its number</th><th>ours</th><th>verdict</th><th>why</th></tr>\n");
    for found in finished {
        let Status::Done(outcome) = &found.status else { continue };
        for claim in outcome.claims.iter().filter(|c| c.verdict != Verdict::Reproduced) {
            let _ = writeln!(
                page,
                "<tr><td class=\"key\"><a href=\"#{0}\">{0}</a></td><td>{1}</td><td>{2}</td><td>{3}</td>{4}<td>{5}</td></tr>",
                found.experiment.key,
                escape(&claim.paper_says),
                escape(claim.paper_number_words()),
                escape(&claim.ours),
                verdict(&claim.verdict),
                escape(&claim.reason)
            );
        }
    }
    page.push_str("</table></div></section>\n");
}

fn verdict(verdict: &Verdict) -> String {
    format!("<td class=\"verdict {}\">{}</td>", verdict.slug(), escape(&verdict.words()))
}

fn experiment(page: &mut String, found: &Finished) {
    let own = found.experiment;
    let _ = writeln!(
        page,
        "<article id=\"{}\"><h3>{}</h3><p class=\"key\">{} · {:.1} s</p>",
        own.key,
        escape(own.title),
        own.key,
        found.seconds
    );
    match &found.status {
        Status::Done(outcome) => body(page, outcome),
        Status::MissingData(words) => {
            let _ = write!(page, "<p class=\"warning\">Not run: {}</p>", escape(words));
        }
        Status::Failed(words) => {
            let _ = write!(page, "<p class=\"warning\">Failed: {}</p>", escape(words));
        }
    }
    page.push_str("</article>\n");
}

fn body(page: &mut String, outcome: &Outcome) {
    if !outcome.claims.is_empty() {
        page.push_str("<div class=\"scroll\"><table class=\"claims\"><tr><th>the paper says</th><th>its number</th><th>ours</th><th>tested</th><th>verdict</th><th>why</th></tr>\n");
        for claim in &outcome.claims {
            let _ = writeln!(
                page,
                "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td>{}<td>{}</td></tr>",
                escape(&claim.paper_says),
                escape(claim.paper_number_words()),
                escape(&claim.ours),
                escape(&claim.tolerance),
                verdict(&claim.verdict),
                escape(&claim.reason)
            );
        }
        page.push_str("</table></div>\n");
    }
    for note in &outcome.notes {
        let _ = writeln!(page, "<p class=\"note\">{}</p>", escape(note));
    }
    for drawing in &outcome.drawings {
        let _ = writeln!(page, "<figure>{}</figure>", drawing.svg);
    }
    for table in &outcome.tables {
        numbers(page, table);
    }
}

fn numbers(page: &mut String, table: &Table) {
    let rows = table.rows.len();
    let _ = write!(
        page,
        "<details><summary>{}.csv, {rows} rows</summary><div class=\"scroll\"><table class=\"numbers\"><tr>",
        escape(&table.name)
    );
    for column in &table.columns {
        let _ = write!(page, "<th>{}</th>", escape(column));
    }
    page.push_str("</tr>\n");
    let hidden = if rows > ROWS_SHOWN { ROWS_SHOWN / 2..rows - ROWS_SHOWN / 2 } else { 0..0 };
    for (at, row) in table.rows.iter().enumerate() {
        if hidden.contains(&at) {
            if at == hidden.start {
                let width = table.columns.len();
                let _ = writeln!(
                    page,
                    "<tr><td colspan=\"{width}\">… {} more in the file</td></tr>",
                    hidden.len()
                );
            }
            continue;
        }
        page.push_str("<tr>");
        for cell in row {
            let shown =
                cell.parse().map_or(cell.clone(), |number: f64| match cell.parse::<i64>() {
                    Ok(_) => cell.clone(),
                    Err(_) => crate::claim::short(number),
                });
            let _ = write!(page, "<td>{}</td>", escape(&shown));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table></div></details>\n");
}

const STYLE: &str = "
:root{color-scheme:light dark;--ink:#1d2024;--soft:#5a6068;--paper:#fff;--tint:#f4f5f7;--line:#d9dce1;--link:#0058a3;
--good:#0a6b3d;--leak:#a34700;--open:#5b4a8a;--bad:#a8071a}
@media (prefers-color-scheme:dark){:root{--ink:#e6e8eb;--soft:#a3a9b3;--paper:#15171a;--tint:#1f2226;--line:#363b42;--link:#7cb8ff;
--good:#5fd39a;--leak:#ffab6b;--open:#c0b0ff;--bad:#ff8a8a}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:78rem;padding:1.5rem;font:16px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
h1{font-size:1.7rem;line-height:1.2}h2{margin-top:2.5rem;border-bottom:2px solid var(--line);padding-bottom:.2rem}h3{margin:1.8rem 0 .2rem}
a{color:var(--link)}nav{background:var(--tint);border-radius:8px;padding:.4rem 1rem;font-size:.9rem}nav p{margin:.35rem 0}nav a{margin-right:.5rem;white-space:nowrap}
header p{max-width:60rem}.key,.note{color:var(--soft);font-size:.9rem}.key{margin:0 0 .6rem}td.key{white-space:nowrap}.note{max-width:60rem;margin:.4rem 0}
.warning{border-left:4px solid var(--leak);padding:.3rem .8rem;background:var(--tint)}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-size:.86rem;margin:.5rem 0 1rem}
th,td{border-bottom:1px solid var(--line);padding:.32rem .6rem;text-align:left;vertical-align:top}th{font-weight:600;background:var(--tint)}
.claims td{min-width:6rem;max-width:22rem}.numbers td{text-align:right;font-variant-numeric:tabular-nums}
.verdict{font-weight:600}.reproduced{color:var(--good)}.only-with-printed-formula{color:var(--leak)}.not-reproducible{color:var(--open)}.false{color:var(--bad)}
figure{margin:1rem 0;background:#fff;border:1px solid var(--line);border-radius:8px;padding:.5rem;overflow-x:auto}figure svg{max-width:100%;height:auto;display:block;margin:auto}
details{margin:.3rem 0}summary{cursor:pointer;color:var(--soft);font-size:.9rem}
.errata{background:var(--tint);border-radius:8px;padding:.4rem 1.2rem 1rem;margin-top:2rem}code{font-size:.92em}
@media print{nav,details{display:none}}
";
