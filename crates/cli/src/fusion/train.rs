//! `undertone fusion train`: maps learned from labelled samples, judged on samples held out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use undertone_fusion::design::Watch;
use undertone_fusion::learn::compare::{Entry, Line, Study, compare};
use undertone_fusion::learn::leakage::Bound;
use undertone_fusion::learn::prepare::{self, Recipe};
use undertone_fusion::learn::release::one_hot_ldp;
use undertone_fusion::learn::split::Plan;
use undertone_fusion::learn::{Settings, expected_steps};
use undertone_fusion::{Columns, Origin, Samples};

use super::report;
use super::source::SampleArgs;
use crate::failure::Failure;
use crate::options;
use crate::output::{Outcome, at_most, certified, nats, number, progress, save, table};
use crate::plot;

/// Learn how every sensor randomises from labelled samples, and judge it on samples held out.
///
/// Every sensor's map ships as a policy whose LDP level is exact. How well the private label is hidden is
/// a matter of the samples: the column `guarantee` is the only bound that holds with the stated
/// confidence, and it holds only if rows (with --sequence: sequences) are independent of each other.
///
/// Example: undertone fusion train --samples table.csv --public fire --private home --sensors heat,lamp --ldp 1 -o network.json
#[derive(clap::Args)]
pub(super) struct Args {
    #[command(flatten)]
    samples: SampleArgs,
    /// A comma-separated list of epic, npo, e-ldp (maps), dca, mdr, ruca:PRICE (projections) and raw.
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

/// Samples to learn from and to judge by, and where they came from.
struct Parts {
    train: Samples,
    test: Samples,
    /// The held-out rows as they were read, of the sensors kept.
    held_out: Columns,
    units: Option<Vec<usize>>,
    repeated: usize,
    /// Whether columns of names became one sensor per name.
    one_hot: bool,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let limit = args.time_limit.map(Duration::from_secs_f64);
    let entries = args.methods.iter().map(|name| Entry::parse(name.trim()));
    let entries: Vec<Entry> = entries.collect::<Result<_, _>>().map_err(Failure::usage)?;
    let shippable = entries.iter().any(|entry| matches!(entry, Entry::Learned(_)));
    if !shippable && (args.output.is_some() || args.policies.is_some()) {
        return Err(Failure::usage("--output needs a method with maps: epic, npo or e-ldp"));
    }
    let settings = Settings {
        outputs: args.outputs,
        ldp: args.ldp,
        ratio: args.ratio,
        slack: args.slack,
        ridge: args.ridge,
        restarts: args.restarts,
        seed: args.seed,
        ..Settings::default()
    };
    let parts = parts(args)?;
    let study = Study {
        train: &parts.train,
        test: &parts.test,
        units: parts.units.as_deref(),
        confidence: args.confidence,
        levels: 10,
    };
    let origin = Origin {
        source: args.samples.source(),
        samples: parts.train.samples().len() as u64,
        seed: args.seed,
        restarts: args.restarts,
        ..Origin::default()
    };
    let steps = |entry: &Entry| match entry {
        Entry::Learned(method) => expected_steps(*method, &settings, parts.train.sensors().len()),
        _ => 1,
    };
    let bar = progress(entries.iter().map(steps).sum(), "steps");
    let begun = Instant::now();
    let watch = Watch {
        stop: &|| limit.is_some_and(|limit| begun.elapsed() >= limit),
        step: &|| bar.inc(1),
    };
    let line = |&entry: &Entry| compare(&study, entry, &settings, &origin, &watch);
    let lines = entries.iter().map(line).collect::<Result<Vec<Line>, _>>();
    bar.finish_and_clear();
    let lines = lines?;
    write(args, &parts, &lines)?;
    Ok(Outcome::good(
        fields(&parts, &settings, &lines, args.confidence),
        describe(&parts, &settings, &lines, args.confidence),
    ))
}

/// Reads the table, splits it, and fits the levels on what is learned from.
fn parts(args: &Args) -> Result<Parts, Failure> {
    let Some(table) = args.samples.table()? else {
        return Err(Failure::usage(
            "give --samples with --public, --private and --sensors: training needs labelled samples",
        ));
    };
    let recipe = Recipe {
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
    };
    let prepare::Parts { train, test, held_out, units } =
        prepare::prepare(&table.columns, table.sequence.as_deref(), &recipe)
            .map_err(|error| table.problem(&error))?;
    let (repeated, one_hot) = (table.repeated, args.samples.one_hot);
    Ok(Parts { train, test, held_out, units, repeated, one_hot })
}

/// The files asked for.
fn write(args: &Args, parts: &Parts, lines: &[Line]) -> Result<(), Failure> {
    let first = lines.iter().find_map(|line| line.shipped.as_ref());
    if let (Some(path), Some(shipped)) = (&args.output, first) {
        let Some(bundle) = &shipped.bundle else {
            return Err(Failure::input(format!(
                "cannot write {}: there are too many outputs to certify the network; use --policies, or --keep fewer sensors",
                path.display()
            )));
        };
        save(path, &bundle.to_json())?;
    }
    if let (Some(folder), Some(shipped)) = (&args.policies, first) {
        let names = parts.train.sensors().iter().map(|(name, _)| name.as_str());
        report::save_policies(folder, names, &shipped.policies)?;
    }
    if let Some(path) = &args.save_held_out {
        save(path, &csv(&parts.held_out, parts.units.as_deref()))?;
    }
    if let Some(path) = &args.plot {
        plot::save(path, &picture(parts, lines)?)?;
    }
    Ok(())
}

/// Rows as CSV: sensors, labels, and the sequence where there is one.
fn csv(columns: &Columns, units: Option<&[usize]>) -> String {
    let quoted = |cell: &str| {
        if cell.contains([',', '"', '\n']) {
            format!("\"{}\"", cell.replace('"', "\"\""))
        } else {
            cell.to_owned()
        }
    };
    let all = || columns.sensors.iter().chain([&columns.public]).chain(&columns.private);
    let mut header: Vec<String> = all().map(|column| quoted(&column.name)).collect();
    header.extend(units.map(|_| "sequence".to_owned()));
    let mut text = header.join(",") + "\n";
    for row in 0..columns.public.cells.len() {
        let mut cells: Vec<String> = all().map(|column| quoted(&column.cells[row])).collect();
        cells.extend(units.map(|units| units[row].to_string()));
        text += &(cells.join(",") + "\n");
    }
    text
}

fn fields(parts: &Parts, settings: &Settings, lines: &[Line], confidence: f64) -> Value {
    let values = parts.train.private().values();
    let line = |line: &Line| {
        let judged = &line.judged;
        let mut json = report::examined(&judged.examined);
        let more = json!({
            "method": line.entry.name(),
            "error_public": judged.detectors.public,
            "error_private": judged.detectors.private,
            "decisions": judged.decisions.as_ref().map(report::bound),
        });
        report::merge(&mut json, more);
        if let Some(trained) = &line.trained {
            let adversaries = trained.adversaries.iter();
            let adversaries = adversaries.map(
                |adversary| json!({"private": values[adversary.private], "risk": adversary.risk}),
            );
            report::merge(
                &mut json,
                json!({
                    "risk": trained.risk,
                    "risk_blind": trained.blind,
                    "adversaries": adversaries.collect::<Vec<_>>(),
                    "threshold": trained.threshold.map(|t| json!({"most": t.most, "kept": t.kept})),
                }),
            );
        }
        if let Some(shipped) = &line.shipped {
            let ids: Vec<String> = shipped.policies.iter().map(|p| p.id().to_string()).collect();
            let bundle = shipped.bundle.as_ref();
            let under = bundle.and_then(|b| b.certificate().after(1)?.information);
            report::merge(
                &mut json,
                json!({
                    "policies": ids,
                    "ldp_sensors": report::policy_levels(&shipped.policies),
                    "ldp_features": features(parts, line),
                    "bundle_id": bundle.map(|bundle| bundle.id()),
                    "information_fitted": under.map_or(Value::Null, |nats| certified(Some(nats))),
                }),
            );
        }
        json
    };
    json!({
        "train": parts.train.samples().len(),
        "test": parts.test.samples().len(),
        "sequences_held_out": parts.units.as_deref().map(distinct),
        "sequences_repeated": parts.repeated,
        "sensors": parts.train.sensors().iter().map(|(name, _)| name).collect::<Vec<_>>(),
        "readings": parts.train.sensors().iter().map(|(_, a)| a.len()).collect::<Vec<_>>(),
        "public": parts.train.public().values(),
        "private": values,
        "requested": {"ldp": number(settings.ldp), "outputs": settings.outputs,
            "ratio": settings.ratio, "slack": settings.slack, "ridge": settings.ridge,
            "confidence": confidence, "seed": settings.seed, "restarts": settings.restarts},
        "blind_public": lines.first().map(|line| line.judged.examined.blind.public),
        "blind_private": lines.first().map(|line| line.judged.examined.blind.private),
        "methods": lines.iter().map(line).collect::<Vec<_>>(),
    })
}

/// The LDP level of every column that became several sensors.
fn features(parts: &Parts, line: &Line) -> BTreeMap<String, Value> {
    let mut bits: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (t, (name, _)) in parts.train.sensors().iter().enumerate() {
        if let (true, Some((column, _))) = (parts.one_hot, name.split_once('=')) {
            bits.entry(column.to_owned()).or_default().push(t);
        }
    }
    let Some(shipped) = &line.shipped else { return BTreeMap::new() };
    // Both levels are sums of logarithms of exact ratios: a hair above covers their rounding.
    let level = |bits: &[usize]| one_hot_ldp(&shipped.maps, bits) * (1.0 + 1e-12);
    bits.into_iter().map(|(column, bits)| (column, at_most(level(&bits)))).collect()
}

fn distinct(units: &[usize]) -> usize {
    units.iter().collect::<BTreeSet<_>>().len()
}

fn describe(parts: &Parts, settings: &Settings, lines: &[Line], confidence: f64) -> String {
    let share = |value: f64| format!("{value:.4}");
    let level = |value: f64| {
        if value.is_infinite() { "unbounded".to_owned() } else { format!("{value:.3}") }
    };
    let bound = |bound: &Bound| {
        if bound.outside > 0.0 {
            format!("{} but {:.1} %", level(bound.nats), 100.0 * bound.outside)
        } else {
            level(bound.nats)
        }
    };
    let row = |line: &Line| {
        let judged = &line.judged;
        let seen = &judged.examined;
        vec![
            line.entry.name(),
            share(judged.detectors.public),
            share(judged.detectors.private),
            share(seen.attackers.public),
            share(seen.attackers.private),
            level(seen.counted),
            seen.averaged.map_or("-".into(), level),
            bound(&seen.bound),
            level(seen.ldp),
        ]
    };
    let header = [
        "method",
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
        parts.train.samples().len(),
        parts.test.samples().len(),
        parts.train.sensors().len(),
        settings.outputs,
        nats(settings.ldp)
    );
    if let Some(units) = &parts.units {
        text += &format!(
            "held out: {} sequences, none of which was learned from; {} repeated sequences left out\n",
            distinct(units),
            parts.repeated
        );
    }
    text += &format!("\n{}\n", table(&header, lines.iter().map(row).collect()));
    if let Some(line) = lines.first() {
        let blind = line.judged.examined.blind;
        text += &format!(
            "\nH is {}, guessed blindly wrong {}; G is {}, guessed blindly wrong {}.\n",
            parts.train.public().name(),
            share(blind.public),
            parts.train.private().name(),
            share(blind.private)
        );
    }
    text += &format!(
        "err: detectors linear in what is released, learned on the training samples. trees: boosted trees\n\
         that learned from half of the held-out samples with their labels. counted: ST20 (12); averaged:\n\
         the same over the maps' randomness. guarantee: with confidence {confidence}, what all outputs can\n\
         say about G, in nats, if {} are independent of each other. ldp: the worst sensor, exact.",
        if parts.units.is_some() { "sequences" } else { "samples" }
    );
    for line in lines {
        if let (Some(shipped), Some(trained)) = (&line.shipped, &line.trained) {
            let threshold = trained
                .threshold
                .map_or(String::new(), |t| format!(", threshold {:.6} of {:.6}", t.kept, t.most));
            text += &format!(
                "\n{}: risk of H {:.6} (blind {:.6}){threshold}; {} policies verified",
                line.entry.name(),
                trained.risk,
                trained.blind,
                shipped.policies.len()
            );
            if let Some(bundle) = &shipped.bundle {
                text += &format!("; network id {}", &bundle.id()[..16]);
            }
            for (column, level) in features(parts, line) {
                text += &format!(
                    "\n  {column} speaks through several sensors: its LDP level is {level:.3}"
                );
            }
        }
    }
    text
}

/// Errors of every method, and how far below blind guessing they are.
fn picture(parts: &Parts, lines: &[Line]) -> Result<String, Failure> {
    let names = ["H: linear detector", "H: trees", "G: linear detector", "G: trees"];
    let row = |line: &Line| {
        let judged = &line.judged;
        let seen = &judged.examined;
        let guarantee = if seen.bound.nats.is_finite() {
            format!("G within {:.2} nats", seen.bound.nats)
        } else {
            "no guarantee".into()
        };
        let ldp = if seen.ldp.is_finite() { format!("{:.2}", seen.ldp) } else { "none".into() };
        plot::Dots {
            label: line.entry.name(),
            values: vec![
                judged.detectors.public,
                seen.attackers.public,
                judged.detectors.private,
                seen.attackers.private,
            ],
            note: format!("{guarantee}; LDP {ldp}"),
        }
    };
    let blind = lines.first().map(|line| line.judged.examined.blind);
    let marks = blind.map_or(Vec::new(), |blind| {
        vec![("H blind".to_owned(), blind.public), ("G blind".to_owned(), blind.private)]
    });
    plot::dots(&plot::DotPlot {
        title: format!(
            "Public {} and private {}: errors on {} held-out samples",
            parts.train.public().name(),
            parts.train.private().name(),
            parts.test.samples().len()
        ),
        axis: "how often the guess is wrong".into(),
        series: names.map(str::to_owned).to_vec(),
        rows: lines.iter().map(row).collect(),
        marks,
    })
}
