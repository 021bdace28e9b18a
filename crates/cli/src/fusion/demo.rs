//! `undertone fusion demo`: sensors, broker and centre on this machine.

use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use undertone_fusion::Bundle;
use undertone_fusion::design::Watch;
use undertone_fusion::report::design_network;
use undertone_fusion::runtime::{
    Address, Broker, Demo, DemoReport, Mosquitto, Step, Tally, free_port, six_rooms,
    system_generator,
};

use super::center;
use super::connection::{block_on, bundle, end_asked};
use super::figures::nats;
use super::page::{ANYWHERE, Page};
use crate::failure::Failure;
use crate::output::{Outcome, line, progress, table};

/// Show a sensor network at work: the public hypothesis is detected, the private one stays hidden.
///
/// Needs nothing installed and nothing else running: sensors, an MQTT broker (the system's Mosquitto if
/// there is one, else a small one of our own) and the centre run in this process, and a page shows what the
/// centre knows. Every few epochs the private value is drawn anew; the attacker knows all there is to know
/// and hears every token. It goes on until Ctrl-C unless --epochs or --once is given.
///
/// Example: undertone fusion demo --kill 2@20-40
#[derive(clap::Args)]
pub(super) struct Args {
    /// How many epochs (default: until Ctrl-C; with --once or --json 300).
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    epochs: Option<u64>,
    /// Epochs per second (default: 2 until Ctrl-C, else as many as the broker carries).
    #[arg(long, value_parser = rate)]
    rate: Option<f64>,
    /// A network of your own, as `fusion design -o` wrote it (default: six rooms, designed now).
    #[arg(long)]
    bundle: Option<PathBuf>,
    /// Which broker.
    #[arg(long, value_enum)]
    broker: Option<Choice>,
    /// Cut off a sensor before epoch FROM and start it again before epoch TO: its index, `@`, FROM, and `-` and TO unless it
    /// stays dead. The errors expected are those of all sensors.
    #[arg(long, value_name = "SENSOR@FROM-TO", value_parser = outage)]
    kill: Option<Outage>,
    /// Where the page is; port 0 takes a free one.
    #[arg(long, value_name = "ADDRESS", default_value = ANYWHERE, conflicts_with = "once")]
    listen: String,
    /// Print the result only: no page, no rows.
    #[arg(long)]
    once: bool,
}

/// How many epochs `--once` and `--json` take.
const USUAL_EPOCHS: u64 = 300;
/// Epochs per second that people can follow.
const USUAL_RATE: f64 = 2.0;

/// A sensor that is dead for some epochs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Outage {
    sensor: u16,
    from: u64,
    to: Option<u64>,
}

fn outage(text: &str) -> Result<Outage, String> {
    let read = || {
        let (sensor, epochs) = text.split_once('@')?;
        let (from, to) = match epochs.split_once('-') {
            Some((from, to)) => (from, Some(to.parse().ok()?)),
            None => (epochs, None),
        };
        Some(Outage { sensor: sensor.parse().ok()?, from: from.parse().ok()?, to })
    };
    let possible = |outage: &Outage| outage.from > 0 && outage.to.is_none_or(|to| to > outage.from);
    read().filter(possible).ok_or_else(|| {
        "give a sensor's index and the epochs before which it ends and starts again, such as 2@20-40"
            .into()
    })
}

fn rate(text: &str) -> Result<f64, String> {
    let read = text.parse().ok().filter(|rate| (0.01..=1e6).contains(rate));
    read.ok_or_else(|| "give a number of epochs per second from 0.01 to 1e6".into())
}

#[derive(clap::ValueEnum, Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// The one of this program.
    Builtin,
    /// The system's Mosquitto.
    Mosquitto,
}

/// A broker that ends with the demonstration.
enum Running {
    Builtin(Broker),
    Mosquitto(Mosquitto),
}

/// A folder that is removed when the demonstration ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Result<Self, Failure> {
        let mut mark = [0; 8];
        getrandom::fill(&mut mark).map_err(Failure::input)?;
        let mark = u64::from_be_bytes(mark);
        let path = std::env::temp_dir().join(format!("undertone-demo-{mark:016x}"));
        std::fs::create_dir(&path).map_err(|error| Failure::of_system("make", &path, &error))?;
        Ok(Self(path))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(super) fn run(args: &Args, json: bool) -> Result<Outcome, Failure> {
    let network = match &args.bundle {
        Some(path) => bundle(path)?,
        None => rooms()?,
    };
    if let Some(outage) = args.kill {
        let sensors = network.policies().len();
        if usize::from(outage.sensor) >= sensors || sensors < 2 {
            return Err(Failure::usage(format!(
                "--kill: sensor {} cannot be cut off: the network has {sensors}, and one must remain",
                outage.sensor
            )));
        }
    }
    let scratch = Scratch::new()?;
    let quiet = args.once || json;
    block_on(async {
        let broker = start(args.broker, &scratch.0).await?;
        let (name, port) = match &broker {
            Running::Builtin(broker) => ("builtin", broker.port()),
            Running::Mosquitto(broker) => ("mosquitto", broker.port()),
        };
        let address = Address::local(port);
        let mut demo = Demo::start(&network, &address, &scratch.0, system_generator()?).await?;
        let page = match quiet {
            true => None,
            false => Some(Page::open(&args.listen, demo.board().clone()).await?),
        };
        if let Some(page) = &page {
            line(&opening(&network, name, &address, page));
            line(&header(&network));
        }
        show(&mut demo, args, &network, quiet).await?;
        let report = demo.report(name).await?;
        if let Some(page) = page {
            page.close().await;
        }
        drop(broker);
        let text = closing(&report, &network);
        Ok(Outcome::of(&report, text))
    })
}

/// Epoch after epoch, until all that were asked for are over or somebody asks to end.
async fn show(demo: &mut Demo, args: &Args, network: &Bundle, quiet: bool) -> Result<(), Failure> {
    let last = args.epochs.or(quiet.then_some(USUAL_EPOCHS));
    let rate = args.rate.or(last.is_none().then_some(USUAL_RATE));
    let mut clock = rate.map(|rate| {
        let mut clock = interval(Duration::from_secs_f64(1.0 / rate));
        // Nobody makes up for epochs that took longer.
        clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
        clock
    });
    let mut end = tokio::spawn(end_asked());
    let outage = |epoch| args.kill.filter(|outage| outage.from == epoch);
    let recovery = |epoch| args.kill.filter(|outage| outage.to == Some(epoch));
    for epoch in 1..=last.unwrap_or(u64::MAX) {
        if let Some(clock) = &mut clock {
            tokio::select! {
                _ = &mut end => return Ok(()),
                _ = clock.tick() => {}
                error = demo.follow() => return Err(error.into()),
            }
        } else if end.is_finished() {
            break;
        }
        if let Some(outage) = outage(epoch) {
            demo.kill(outage.sensor).await?;
        }
        if let Some(outage) = recovery(epoch) {
            demo.revive(outage.sensor).await?;
        }
        let step = demo.epoch().await?;
        if !quiet && worth_showing(epoch, last) {
            line(&row(&step, demo.tally(), network));
        }
    }
    end.abort();
    Ok(())
}

/// The example network: six rooms tell whether there is an alarm and not whether anyone is in.
fn rooms() -> Result<Bundle, Failure> {
    let request = six_rooms()?;
    let bar = progress(request.steps()?, "starts");
    let watch = Watch { stop: &|| false, step: &|| bar.inc(1) };
    let report = design_network(&request, &watch);
    bar.finish_and_clear();
    Ok(report?.bundle)
}

async fn start(choice: Option<Choice>, folder: &Path) -> Result<Running, Failure> {
    let program = if choice == Some(Choice::Builtin) { None } else { Mosquitto::find() };
    match (choice, program) {
        (Some(Choice::Mosquitto), None) => {
            Err(Failure::input("mosquitto is not installed: install it, or use --broker builtin"))
        }
        (_, Some(program)) => {
            // The port was free a moment ago; somebody else may have been faster.
            let mut last = None;
            for _ in 0..5 {
                match Mosquitto::start(&program, folder, free_port()?, &[]).await {
                    Ok(broker) => return Ok(Running::Mosquitto(broker)),
                    Err(error) => last = Some(error),
                }
            }
            match (choice, last) {
                (Some(Choice::Mosquitto), Some(error)) => Err(error.into()),
                // Installed but not usable; nobody asked for it by name.
                _ => builtin().await,
            }
        }
        (_, None) => builtin().await,
    }
}

async fn builtin() -> Result<Running, Failure> {
    let broker = Broker::start(0).await;
    let broker = broker.map_err(|error| Failure::input(format!("cannot listen: {error}")))?;
    Ok(Running::Builtin(broker))
}

/// Every epoch at first, then ever fewer.
fn worth_showing(epoch: u64, last: Option<u64>) -> bool {
    let step = match epoch {
        0..=10 => 1,
        11..=100 => 10,
        101..=1000 => 100,
        _ => 1000,
    };
    epoch.is_multiple_of(step) || Some(epoch) == last
}

fn opening(network: &Bundle, broker: &str, address: &Address, page: &Page) -> String {
    let epochs = network.epochs();
    let (public, private) = (network.model().public().name(), network.model().private().name());
    let (certified, drawn) = match network.course() {
        Some(course) => (
            course.after(epochs.into()),
            format!("{public} and {private} move from epoch to epoch, anew every {epochs} epochs"),
        ),
        None => (
            network.certificate().after(epochs).and_then(|line| line.information),
            format!(
                "public: {public}, drawn in every epoch; private: {private}, drawn every {epochs} epochs"
            ),
        ),
    };
    format!(
        "page at {}\n\
         {} sensors and a centre over MQTT ({broker} broker at {address})\n\
         {drawn}\n\
         certified: {epochs} epochs together leak at most {} nats of {private}\n",
        page.url(),
        network.policies().len(),
        nats(certified),
    )
}

fn header(network: &Bundle) -> String {
    let (public, private) = (network.model().public().name(), network.model().private().name());
    format!(
        "{:>7}  {:>12}  {:>12}  {:>12}  {:>14}  {:>14}  {}",
        "epoch",
        public,
        "decided",
        "error so far",
        format!("{private} guess"),
        "error so far",
        "information"
    )
}

fn row(step: &Step, tally: &Tally, network: &Bundle) -> String {
    let public = network.model().public().values();
    let private = network.model().private().values();
    let guess = if step.guess == step.private { "right" } else { "wrong" };
    let error = match tally.secrets {
        0 => "-".into(),
        _ => format!("{:.4}", tally.error_private()),
    };
    format!(
        "{:>7}  {:>12}  {:>12}  {:>12.4}  {:>14}  {:>14}  {}",
        tally.epochs,
        public[step.public],
        public[step.decision.value],
        tally.error_public(),
        format!("{} ({guess})", private[step.guess]),
        error,
        nats(step.decision.information)
    )
}

fn closing(report: &DemoReport, network: &Bundle) -> String {
    let (public, private) = (network.model().public().name(), network.model().private().name());
    let draws = match report.moving {
        true => format!("paths of {} epochs", report.epochs_per_secret),
        false => "private values".into(),
    };
    let share = |error: f64, spread: Option<f64>, draws: &str, count: u64| match spread {
        Some(spread) => format!("{error:.4} ± {spread:.4}"),
        None => format!("{error:.4} (too few draws: {count} {draws})"),
    };
    let (count, of_public) = match report.moving {
        true => (report.secrets, draws.as_str()),
        false => (report.epochs, "epochs"),
    };
    let expected = match report.bayes_error_spread {
        Some(spread) => {
            let error = report.bayes_error_public;
            format!("expected {error:.4} ± {spread:.4} (who remembers, on other drawn paths)")
        }
        None => format!("expected {:.4}", report.bayes_error_public),
    };
    let rows = vec![
        vec![
            format!("{public}: the centre errs"),
            share(report.error_public, report.error_public_spread, of_public, count),
            format!("{expected}; blindly {:.4}", report.blind_public),
        ],
        vec![
            format!("{private}: the attacker errs"),
            share(report.error_private, report.error_private_spread, &draws, report.secrets),
            format!(
                "certified at least {:.4}; blindly {:.4}",
                (1e4 * report.least_error_private).floor() / 1e4,
                report.blind_private
            ),
        ],
    ];
    format!(
        "\n{}\n± is one standard error\n\none epoch beyond the budget: {} of {} sensors sent their constant token\n\n{}",
        table(&["", "measured", "from the shipped integers"], rows),
        report.beyond_budget.constant,
        network.policies().len(),
        center::describe(&report.metrics, network)
    )
}
