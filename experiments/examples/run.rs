//! Runs experiments without the command line program: `run [--quick] OUTPUT KEY...`, or `all`.

use std::process::ExitCode;

use undertone_experiments::data::DataFolder;
use undertone_experiments::run::{Options, Status, run};
use undertone_experiments::{Context, registry, report};

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let quick = words.iter().any(|word| word == "--quick");
    words.retain(|word| word != "--quick");
    let Some((output, keys)) = words.split_first() else {
        eprintln!("run [--quick] OUTPUT KEY...");
        return ExitCode::from(2);
    };
    let all = keys.first().is_none_or(|key| key == "all");
    let chosen: Vec<_> = registry::all()
        .into_iter()
        .filter(|experiment| all || keys.iter().any(|key| key == experiment.key))
        .collect();
    let context = Context { data: DataFolder::find(None), quick };
    let options = Options { context, output: output.into(), resume: true };
    let finished = run(&chosen, &options, &|found| match &found.status {
        Status::Done(outcome) => {
            println!("== {} ({:.1} s)", found.experiment.key, found.seconds);
            for claim in &outcome.claims {
                println!(
                    "  [{}] {}\n      paper: {}; ours: {}; tested: {}\n      {}",
                    claim.verdict.words(),
                    claim.paper_says,
                    claim.paper_number_words(),
                    claim.ours,
                    claim.tolerance,
                    claim.reason
                );
            }
        }
        Status::MissingData(words) | Status::Failed(words) => {
            println!("== {} FAILED: {words}", found.experiment.key);
        }
    });
    let page = std::path::Path::new(output).join("report.html");
    match finished.and_then(|finished| report::write(&page, &finished, quick)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}
