//! The frame around the experiments: missing data, resuming, the report.
use std::sync::atomic::{AtomicUsize, Ordering};

use undertone_experiments::data::{DataFolder, SALARIES};
use undertone_experiments::run::{Finished, Options, Status, run};
use undertone_experiments::{
    Claim, Context, Error, Experiment, Outcome, Paper, Verdict, registry, report,
};

fn options(output: &std::path::Path) -> Options {
    let context = Context { data: DataFolder::none(), quick: true };
    Options { context, output: output.into(), resume: true }
}

#[test]
fn missing_data_gives_the_words_and_the_rest_runs() {
    let folder = tempfile::tempdir().unwrap();
    let chosen =
        [registry::find("jstl21-fig-12").unwrap(), registry::find("jstl21-fig-4").unwrap()];
    let finished = run(&chosen, &options(folder.path()), &|_| {}).unwrap();
    let Status::MissingData(words) = &finished[0].status else { panic!("it ran without its data") };
    assert!(words.contains(SALARIES.path) && words.contains("README.md"), "{words}");
    assert!(matches!(finished[1].status, Status::Done(_)));
    let pages = report::pages(&finished, true);
    assert!(pages[0].html.contains("not run: ") && pages[0].html.contains(SALARIES.path));
    assert!(words.contains(SALARIES.what), "{words}");
    assert!(!folder.path().join("jstl21-fig-12/outcome.json").exists());
}

static RUNS: AtomicUsize = AtomicUsize::new(0);

fn counted(context: &Context) -> Result<Outcome, Error> {
    RUNS.fetch_add(1, Ordering::SeqCst);
    quoted(context)
}

fn quoted(_: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    outcome.claim(Claim::number("a <number>", 1.0, 2.0, 0.5).because("it differs & that `is` it"));
    Ok(outcome)
}

fn fails(_: &Context) -> Result<Outcome, Error> {
    Err(Error::other("the reason"))
}

const fn own(key: &'static str, run: fn(&Context) -> Result<Outcome, Error>) -> Experiment {
    Experiment { key, paper: Paper::Ours, title: "a test", data: &[], run }
}
static COUNTED: Experiment = own("ours-counted", counted);
static QUOTED: Experiment = own("ours-quoted", quoted);
static FAILS: Experiment = own("ours-fails", fails);

#[test]
fn a_finished_experiment_is_not_run_again_and_a_failed_one_is() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = options(folder.path());
    let once = |options: &Options| -> Vec<Finished> {
        run(&[&COUNTED, &FAILS], options, &|_| {}).unwrap()
    };
    let first = once(&options);
    assert!(
        !first[0].resumed && matches!(&first[1].status, Status::Failed(why) if why == "the reason")
    );
    let again = once(&options);
    assert!(again[0].resumed && !again[1].resumed);
    assert_eq!(RUNS.load(Ordering::SeqCst), 1);
    // Another size, a request to start afresh, and a damaged memory each mean a new run.
    options.context.quick = false;
    assert!(!once(&options)[0].resumed);
    options.resume = false;
    assert!(!once(&options)[0].resumed);
    options.resume = true;
    std::fs::write(folder.path().join("ours-counted/outcome.json"), "{").unwrap();
    assert!(!once(&options)[0].resumed);
    assert_eq!(RUNS.load(Ordering::SeqCst), 4);
}

#[test]
fn pages_stand_alone_and_escape_what_they_quote() {
    let folder = tempfile::tempdir().unwrap();
    let chosen = [&QUOTED, registry::find("jstl21-fig-4").unwrap()];
    let finished = run(&chosen, &options(folder.path()), &|_| {}).unwrap();
    let pages = report::pages(&finished, false);
    let names: Vec<&str> = pages.iter().map(|page| page.name.as_str()).collect();
    assert_eq!(names, ["report.html", "jstl21.html", "ours.html", "claims.html"]);
    for page in &pages {
        assert!(
            !page.html.contains("src=\"") && !page.html.contains("href=\"http"),
            "{}",
            page.name
        );
        assert!(page.html.contains("prefers-color-scheme:dark"));
        for other in &names {
            assert!(page.html.contains(&format!("href=\"{other}\"")), "{} to {other}", page.name);
        }
        // What people read is neither Markdown nor a key of a paper.
        assert!(!page.html.contains('`') && !page.html.contains("JSTL21"), "{}", page.name);
    }
    assert!(pages[2].html.contains("a &lt;number&gt;"));
    assert!(pages[2].html.contains("differs &amp; that <code>is</code> it"));
    let figures = pages[1].html.matches("<svg role=\"img\"").count();
    assert!(figures >= 2);
    assert_eq!(pages[1].html.matches("<title>").count(), figures + 1);
    assert!(pages[1].html.contains("Section II-C"));
    let claims = std::fs::read_to_string(folder.path().join("ours-quoted/claims.csv")).unwrap();
    assert!(claims.starts_with("id,kind,paper_says,paper_number,ours,tolerance,verdict,reason\n"));
    assert!(claims.contains(&Verdict::False.words()) && claims.contains("a-number,ours,"));
}

#[test]
fn every_paper_has_an_errata_page_in_the_markdown_we_understand() {
    for paper in Paper::ALL {
        let Some(errata) = paper.errata() else { continue };
        let html = undertone_experiments::markdown::html(errata, 2);
        assert!(html.starts_with("<h3>Errata"), "{}", paper.key());
        assert!(!html.contains("<p>|"), "{}: a table was not understood", paper.key());
    }
}
