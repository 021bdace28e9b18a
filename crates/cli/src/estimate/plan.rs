//! `undertone estimate --plan`: what the responses to a plan say, question by question.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use undertone::estimate::{
    CountedResponses, EstimateRequest, EstimatedShare, HeadlineReport, PlanEstimateReport,
    QuestionAnswers, QuestionReport, ReleasedFrame, estimate_plan,
};
use undertone_estimate::{Coverage, Target};

use super::Args;
use crate::columns::{ReadingBar, Source};
use crate::failure::Failure;
use crate::input;
use crate::output::{Outcome, save, table};

/// More answers than these are not all listed for people.
const LISTED: usize = 12;

pub(super) fn run(path: &Path, args: &Args, request: &EstimateRequest) -> Result<Outcome, Failure> {
    let plan = input::plan(path)?;
    let together: Vec<Vec<String>> = args
        .pairs
        .iter()
        .map(|names| names.split(',').map(|name| name.trim().to_owned()).collect())
        .collect();
    let mut responses = CountedResponses::none(plan, &together)?;
    let how = ReleasedFrame { unknown: args.unknown.into(), threads: args.threads };
    let progress = ReadingBar::new("counted");
    for path in &args.files {
        let lines = path.extension().is_some_and(|end| {
            end.eq_ignore_ascii_case("jsonl") || end.eq_ignore_ascii_case("ndjson")
        });
        if lines {
            let file =
                File::open(path).map_err(|error| Failure::of_system("read", path, &error))?;
            responses.add_messages(&path.display().to_string(), BufReader::new(file))?;
        } else {
            let source = Source { file: path.clone(), layout: args.layout.clone() };
            responses.add_frame(source.rows()?.watched_by(progress.clone()), &how)?;
        }
    }
    for path in &args.tally {
        responses.add_stored(&path.display().to_string(), &input::text(path)?)?;
    }
    if let Some(path) = &args.save_tally {
        save(path, &responses.to_json())?;
    }
    let report = estimate_plan(&responses, request)?;
    let mut text = text(&report);
    if let Some(path) = &args.save_tally {
        text += &format!("\n\ntally written to {}", path.display());
    }
    Ok(Outcome::of(&report, text))
}

fn text(report: &PlanEstimateReport) -> String {
    let mut text = format!(
        "{} responses to plan {}..., {} % intervals ({}), for {}.",
        report.responses,
        &report.plan_id.to_string()[..16],
        super::shown::plain(100.0 * report.level),
        match report.coverage {
            Coverage::Each => "each",
            Coverage::All => "all of a question together",
        },
        match report.target {
            Target::Population => "the population",
            Target::Respondents => "these respondents",
        }
    );
    if report.repeated > 0 {
        text += &format!("\n{} messages had been read before and count once.", report.repeated);
    }
    for question in &report.questions {
        text += &format!("\n\n{}", about(question));
    }
    for together in &report.together {
        let names = together.questions.join(" × ");
        text += &format!("\n\n{names}, answered together by {}", together.reports);
        match &together.headline {
            Some(headline) => text += &format!("\n{}", shares(headline, None)),
            None => text += "; --save-tally keeps the counts of their combinations",
        }
    }
    for question in &report.questions {
        for warning in question.warnings() {
            text += &format!("\nwarning: {}: {warning}", question.question);
        }
    }
    text
}

fn about(question: &QuestionReport) -> String {
    let mut text = format!("{}, answered by {}", question.question, question.answered);
    let Some(headline) = question.headline() else { return text };
    text += &format!("\nMethod: {}.", headline.because);
    if let Some(mean) = &headline.shares.mean {
        let [value, low, high] = mean.written(1.0);
        text += &format!("\nMean {value} ({low} to {high}).");
    }
    if let QuestionAnswers::Whole(report) = &question.answers {
        for asked in report.numbers.iter().flat_map(|numbers| &numbers.quantiles) {
            let [value, low, high] = asked.quantile.written(1.0);
            let part = super::shown::plain(asked.probability);
            text += &format!("\nQuantile {part}: {value} ({low} to {high}).");
        }
        if let Some(heavy) = &report.heavy_hitters {
            text += &format!("\n{}", super::shown::heavy_hitters(heavy));
        }
    }
    text + &format!("\n{}", shares(headline, people(question)))
}

/// The shares as a table, with counts where the number of people is known.
fn shares(headline: &HeadlineReport, people: Option<u64>) -> String {
    let mut shares: Vec<&EstimatedShare> = headline.shares.shares.iter().collect();
    let all = shares.len();
    if all > LISTED {
        shares.sort_by(|a, b| b.share.value.total_cmp(&a.share.value));
        shares.truncate(LISTED);
    }
    let row = |share: &&EstimatedShare| {
        let [value, low, high] = share.share.written(100.0);
        let mut row = vec![share.symbol.clone(), value, low, high];
        row.extend(people.map(|people| format!("{:.0}", share.share.value * people as f64)));
        row
    };
    let mut header = vec!["answer", "share %", "from", "to"];
    header.extend(people.map(|_| "people"));
    let mut text = table(&header, shares.iter().map(row).collect());
    if all > LISTED {
        text += &format!("\nThe {LISTED} largest of {all} shares; --json has all.");
    }
    text
}

fn people(question: &QuestionReport) -> Option<u64> {
    let population = match &question.answers {
        QuestionAnswers::Whole(report) => report.population.as_ref(),
        QuestionAnswers::Sums(report) => report.population.as_ref(),
        QuestionAnswers::Nobody(_) => None,
    };
    population.map(|population| population.people)
}
