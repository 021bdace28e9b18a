//! The report: a summary on one page, a page per paper with its errata, and a page of all claims. Every page stands
//! alone, needs no script and reaches nothing outside.

mod body;
mod findings;
mod frame;
mod summary;

use std::path::{Path, PathBuf};

pub use findings::{FINDINGS, Finding};

use crate::markdown;
use crate::record::{Judged, judged};
use crate::run::{Finished, save};
use crate::{Error, Paper};
use frame::{Link, Page};

/// A file of the report.
pub struct File {
    /// `report.html`.
    pub name: String,
    /// The page.
    pub html: String,
}

/// Writes the pages into a folder; where the summary is.
pub fn write(folder: &Path, finished: &[Finished], quick: bool) -> Result<PathBuf, Error> {
    for file in pages(finished, quick) {
        save(&folder.join(file.name), &file.html)?;
    }
    Ok(folder.join(SUMMARY))
}

const SUMMARY: &str = "report.html";
const CLAIMS: &str = "claims.html";

/// The file of a paper's page.
fn file(paper: Paper) -> String {
    format!("{}.html", paper.key().to_lowercase())
}

/// The pages, the summary first.
pub fn pages(finished: &[Finished], quick: bool) -> Vec<File> {
    let claims = judged(finished);
    let ran = |paper: &Paper| finished.iter().any(|found| found.experiment.paper == *paper);
    let papers: Vec<Paper> = Paper::ALL.into_iter().filter(ran).collect();
    let mut links = vec![Link::new(SUMMARY, "Summary")];
    links.extend(papers.iter().map(|paper| Link::new(file(*paper), paper.short())));
    links.push(Link::new(CLAIMS, "All claims"));
    let summary = summary::page(finished, &claims, &papers, quick);
    let mut files = vec![File { name: SUMMARY.into(), html: summary.html(SUMMARY, &links) }];
    for paper in papers {
        let name = file(paper);
        let html = paper_page(finished, &claims, paper).html(&name, &links);
        files.push(File { name, html });
    }
    let html = claims_page(finished, &claims).html(CLAIMS, &links);
    files.push(File { name: CLAIMS.into(), html });
    files
}

fn paper_page(finished: &[Finished], claims: &[Judged], paper: Paper) -> Page {
    let mut page = Page::new(paper.name());
    page.push(&format!("<p class=\"authors\">{}</p>\n", markdown::inline(paper.authors())));
    let own: Vec<&Judged> = claims.iter().filter(|claim| claim.paper == paper.key()).collect();
    page.filter(&own);
    for found in finished.iter().filter(|found| found.experiment.paper == paper) {
        let own: Vec<&Judged> =
            own.iter().copied().filter(|c| c.experiment() == found.experiment.key).collect();
        let title = markdown::inline(found.experiment.title);
        page.contents(found.experiment.key, &title, &own);
        page.push(&body::experiment(found, &own));
    }
    if let Some(errata) = paper.errata() {
        page.contents("errata", "Errata: what an author can check line by line", &[]);
        // Its first line names the paper, as this page does.
        let lines = errata.split_once('\n').map_or(errata, |(_, rest)| rest);
        page.push(&format!(
            "<article class=\"errata\" id=\"errata\"><h2>Errata</h2>{}</article>\n",
            markdown::html(lines, 1)
        ));
    }
    page
}

fn claims_page(finished: &[Finished], claims: &[Judged]) -> Page {
    let mut page = Page::new("All claims");
    page.filter(&claims.iter().collect::<Vec<_>>());
    for found in finished {
        let own: Vec<&Judged> =
            claims.iter().filter(|claim| claim.experiment() == found.experiment.key).collect();
        if own.is_empty() {
            continue;
        }
        let paper = found.experiment.paper;
        page.push(&format!(
            "<article class=\"experiment\"><h2><a href=\"{}#{}\">{}</a></h2><p class=\"key\">{}</p>{}</article>\n",
            file(paper),
            found.experiment.key,
            markdown::inline(found.experiment.title),
            markdown::inline(paper.name()),
            body::claims(&own)
        ));
    }
    page
}
