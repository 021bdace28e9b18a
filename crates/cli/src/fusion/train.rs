//! `undertone fusion train`: maps learned from labelled samples, judged on samples held out.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use undertone_fusion::design::Watch;
use undertone_fusion::learn::Settings;
use undertone_fusion::learn::prepare::Recipe;
use undertone_fusion::learn::split::Plan;
use undertone_fusion::report::{
    BoundReport, LeakageLevel, MethodReport, TrainReport, TrainRequest, train,
};
use undertone_fusion::table::csv;

use super::figures;
use super::source::SampleArgs;
use crate::failure::Failure;
use crate::options;
use crate::output::{Outcome, nats, progress, save, table};
use crate::plot;

/// Learn how every sensor randomises from labelled samples, and judge it on samples held out.
///
/// Every sensor's map ships as a policy whose LDP level is exact. How well the private label is hidden is
/// a matter of the samples: the column `guarantee` is the only bound that holds with the stated
/// confidence, and it holds only if rows (with --sequence: sequences) are independent of each other.
///
/// epic, npo and e-ldp make maps, which ship. dca, mdr and ruca are comparators and cannot be shipped: they need everybody's
/// readings in one place before anything is hidden, and what they release is deterministic, so that no LDP level holds.
///
/// Example: undertone fusion train --samples table.csv --public fire --private home --sensors heat,lamp --ldp 1 -o network.json
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    samples: SampleArgs,
    /// A comma-separated list of epic, npo, e-ldp (maps), dca, mdr, ruca:PRICE (projections: comparators, cannot be shipped) and raw.
    #[arg(long, value_delimiter = ',', default_value = "raw,epic,npo,e-ldp,dca,mdr,ruca")]
    methods: Vec<String>,
    /// The LDP level of every sensor's reading, in nats; `inf` for no limit.
    #[arg(long, default_value = "1", value_parser = options::positive_limit)]
    ldp: f64,
    /// How many outputs every sensor has.
    #[arg(long, default_value = "2", value_parser = options::outputs)]
    outputs: usize,
    /// The share of the largest attainable threshold on the adversaries' risk that is asked for.
    #[arg(long, default_value = "0.99", value_parser = options::share)]
    ratio: f64,
    /// How much of what can be learned of the public label may be given up while that threshold is sought.
    #[arg(long, default_value = "0.5", value_parser = options::share)]
    slack: f64,
    /// The ridge of every linear rule.
    #[arg(long, default_value = "0.01", value_parser = options::positive)]
    ridge: f64,
    /// What the rules of the centre and of the adversaries see: count (each sensor by itself, as in ST20) or pairs (also what two
    /// sensors say together, so that parities are hidden too).
    #[arg(long, default_value = "count")]
    kernel: String,
    /// What a wrong decision costs these rules: logistic (as in ST20), exponential or hinge (its corner rounded).
    #[arg(long, default_value = "logistic")]
    loss: String,
    /// The share of samples (of sequences) to hold out.
    #[arg(long, default_value = "0.5", value_parser = options::between_0_and_1)]
    hold_out: f64,
    /// Learn from at most this many samples.
    #[arg(long, value_parser = options::count)]
    train: Option<usize>,
    /// Hold out at most this many samples.
    #[arg(long, value_parser = options::count)]
    test: Option<usize>,
    /// Learn from equally many samples of every pair of labels.
    #[arg(long)]
    balance: bool,
    /// How sure the guarantee is to be.
    #[arg(long, default_value = "0.95", value_parser = options::between_0_and_1)]
    confidence: f64,
    /// How many starts the search makes.
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    restarts: u32,
    /// Where the randomness begins: of the split, the search, the drawn outputs.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Stop searching after this many seconds and take the best so far.
    #[arg(long, value_parser = options::seconds)]
    time_limit: Option<f64>,
    /// Write the network of the first method with maps (model, policies, certificate) here.
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Write every sensor's policy of that method into this folder.
    #[arg(long)]
    policies: Option<PathBuf>,
    /// Write the rows held out here, as CSV, for `fusion evaluate --samples` or to replay.
    #[arg(long)]
    save_held_out: Option<PathBuf>,
    /// Draw errors and leakages of all methods here, as SVG.
    #[arg(long)]
    plot: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let limit = args.time_limit.map(Duration::from_secs_f64);
    let methods = TrainRequest::methods(&args.methods)?;
    let Some(table) = args.samples.table()? else {
        return Err(Failure::usage(
            "give --samples with --public, --private and --sensors: training needs labelled samples",
        ));
    };
    let request = TrainRequest {
        table,
        source: args.samples.source(),
        recipe: Recipe {
            plan: Plan {
                share: args.hold_out,
                train: args.train,
                test: args.test,
                balance: args.balance,
                seed: args.seed,
            },
            levels: args.samples.levels,
            spacing: args.samples.spacing(),
            keep: args.samples.keep,
        },
        methods,
        settings: Settings {
            outputs: args.outputs,
            ldp: args.ldp,
            ratio: args.ratio,
            slack: args.slack,
            ridge: args.ridge,
            restarts: args.restarts,
            seed: args.seed,
            kernel: TrainRequest::kernel(&args.kernel)?,
            loss: TrainRequest::loss(&args.loss)?,
            ..Settings::default()
        },
        confidence: args.confidence,
    };
    if args.output.is_some() || args.policies.is_some() {
        request.check_ships()?;
    }
    let bar = progress(0, "steps");
    let begun = Instant::now();
    let watch = Watch {
        stop: &|| limit.is_some_and(|limit| begun.elapsed() >= limit),
        step: &|| bar.inc(1),
    };
    let report = train(&request, &watch, &|steps| bar.set_length(steps));
    bar.finish_and_clear();
    let report = report?;
    write(args, &report)?;
    let text = describe(&report);
    Ok(Outcome::of(&report, text))
}

/// The files asked for.
fn write(args: &Args, report: &TrainReport) -> Result<(), Failure> {
    if let Some(path) = &args.output {
        let network = report.network().map_err(|error| {
            Failure::input(format!("cannot write {}: {error}, or use --policies", path.display()))
        })?;
        if let Some(network) = network {
            save(path, &network.to_json())?;
        }
    }
    if let (Some(folder), Some(policies)) = (&args.policies, report.policies()) {
        figures::save_policies(folder, report.sensors.iter().map(String::as_str), policies)?;
    }
    if let Some(path) = &args.save_held_out {
        save(path, &csv(&report.parts.held_out, report.parts.units.as_deref()))?;
    }
    if let Some(path) = &args.plot {
        plot::save(path, &picture(report)?)?;
    }
    Ok(())
}

/// A leakage to three digits, never below it but for noise.
fn up(nats: f64) -> f64 {
    (1e3 * nats - 1e-9).ceil() / 1e3
}

fn describe(report: &TrainReport) -> String {
    let share = |value: f64| format!("{value:.4}");
    let level = |value: f64| {
        if value.is_infinite() { "unbounded".to_owned() } else { format!("{value:.3}") }
    };
    let bound = |bound: &BoundReport| {
        if bound.outside > 0.0 {
            format!("{} but {:.1} %", level(up(bound.nats)), 100.0 * bound.outside)
        } else {
            level(up(bound.nats))
        }
    };
    let row = |method: &MethodReport| {
        let seen = &method.examined;
        vec![
            method.method.clone(),
            if method.ships { "yes" } else { "no" }.to_owned(),
            share(method.error_public),
            share(method.error_private),
            share(seen.attacker_public),
            share(seen.attacker_private),
            level(seen.counted),
            seen.averaged.map_or("-".into(), level),
            bound(&seen.leakage_ucb),
            level(up(seen.ldp)),
        ]
    };
    let header = [
        "method",
        "ships",
        "err H",
        "err G",
        "trees H",
        "trees G",
        "counted",
        "averaged",
        "guarantee",
        "ldp",
    ];
    let mut text = format!(
        "{} samples to learn from, {} held out, {} sensors with {} outputs; LDP budget {} nats\n",
        report.train,
        report.test,
        report.sensors.len(),
        report.requested.outputs,
        nats(report.requested.ldp)
    );
    if let Some(sequences) = report.sequences_held_out {
        text += &format!(
            "held out: {sequences} sequences, none of which was learned from; {} repeated sequences left out\n",
            report.sequences_repeated
        );
    }
    text += &format!("\n{}\n", table(&header, report.methods.iter().map(row).collect()));
    if let (Some(public), Some(private)) = (report.blind_public, report.blind_private) {
        text += &format!(
            "\nH is {}, guessed blindly wrong {}; G is {}, guessed blindly wrong {}.\n",
            report.parts.train.public().name(),
            share(public),
            report.parts.train.private().name(),
            share(private)
        );
    }
    text += &format!(
        "ships: whether sensors can run it; dca, mdr, ruca and raw are comparators, which need all readings in one place.\n\
         err: detectors linear in what is released, learned on the training samples. trees: boosted trees\n\
         that learned from half of the held-out samples with their labels. counted: ST20 (12); averaged:\n\
         the same over the maps' randomness. guarantee: with confidence {}, what all outputs can\n\
         say about G, in nats, if {} are independent of each other. ldp: the worst sensor, exact.",
        report.requested.confidence,
        if report.sequences_held_out.is_some() { "sequences" } else { "samples" }
    );
    for method in &report.methods {
        let (Some(shipped), Some(trained)) = (&method.shipped, &method.trained) else { continue };
        let threshold = trained
            .threshold
            .as_ref()
            .map_or(String::new(), |t| format!(", threshold {:.6} of {:.6}", t.kept, t.most));
        text += &format!(
            "\n{}: risk of H {:.6} (blind {:.6}){threshold}; {} policies verified",
            method.method,
            trained.risk,
            trained.risk_blind,
            shipped.policies.len()
        );
        if let Some(id) = &shipped.bundle_id {
            text += &format!("; network id {}", &id[..16]);
        }
        for (column, level) in &shipped.ldp_features {
            let level = match level {
                LeakageLevel::Computed(nats) => format!("{:.3}", up(*nats)),
                certified => certified.words(),
            };
            text +=
                &format!("\n  {column} speaks through several sensors: its LDP level is {level}");
        }
    }
    text
}

/// Errors of every method, and how far below blind guessing they are.
fn picture(report: &TrainReport) -> Result<String, Failure> {
    let names = ["H: linear detector", "H: trees", "G: linear detector", "G: trees"];
    let row = |method: &MethodReport| {
        let seen = &method.examined;
        let guarantee = match seen.leakage_ucb.nats {
            nats if nats.is_finite() => format!("G within {nats:.2} nats"),
            _ => "no guarantee".into(),
        };
        let ldp = if seen.ldp.is_finite() { format!("{:.2}", seen.ldp) } else { "none".into() };
        plot::Dots {
            label: method.method.clone(),
            values: vec![
                method.error_public,
                seen.attacker_public,
                method.error_private,
                seen.attacker_private,
            ],
            note: format!("{guarantee}; LDP {ldp}"),
        }
    };
    let blind = report.blind_public.zip(report.blind_private);
    let marks = blind.map_or(Vec::new(), |(public, private)| {
        vec![("H blind".to_owned(), public), ("G blind".to_owned(), private)]
    });
    plot::dots(&plot::DotPlot {
        title: format!(
            "Public {} and private {}: errors on {} held-out samples",
            report.parts.train.public().name(),
            report.parts.train.private().name(),
            report.test
        ),
        axis: "how often the guess is wrong".into(),
        series: names.map(str::to_owned).to_vec(),
        rows: report.methods.iter().map(row).collect(),
        marks,
    })
}
