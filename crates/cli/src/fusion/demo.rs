//! `undertone fusion demo`: sensors, broker and centre on this machine.

use std::path::{Path, PathBuf};

use undertone_fusion::Bundle;
use undertone_fusion::design::Watch;
use undertone_fusion::report::design_network;
use undertone_fusion::runtime::{
    Address, Broker, Demo, DemoReport, Mosquitto, Step, Tally, free_port, six_rooms,
    system_generator,
};

use super::center;
use super::connection::{block_on, bundle};
use super::figures::nats;
use crate::failure::Failure;
use crate::output::{Outcome, line, progress, table};

/// Show a sensor network at work: the public hypothesis is detected, the private one stays hidden.
///
/// Needs nothing installed and nothing else running: sensors, an MQTT broker (the system's Mosquitto if
/// there is one, else a small one of our own) and the centre run in this process. Every few epochs the
/// private value is drawn anew; the attacker knows all there is to know and hears every token.
///
/// Example: undertone fusion demo --epochs 50 --once
#[derive(clap::Args)]
pub(super) struct Args {
    /// How many epochs.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    epochs: u64,
    /// A network of your own, as `fusion design -o` wrote it (default: six rooms, designed now).
    #[arg(long)]
    bundle: Option<PathBuf>,
    /// Which broker.
    #[arg(long, value_enum)]
    broker: Option<Choice>,
    /// Print the result only.
    #[arg(long)]
    once: bool,
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
        if !quiet {
            line(&opening(&network, name, &address));
            line(&header(&network));
        }
        for _ in 0..args.epochs {
            let step = demo.epoch().await?;
            if !quiet && worth_showing(demo.tally().epochs, args.epochs) {
                line(&row(&step, demo.tally(), &network));
            }
        }
        let report = demo.report(name).await?;
        drop(broker);
        let text = closing(&report, &network);
        Ok(Outcome::of(&report, text))
    })
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
fn worth_showing(epoch: u64, last: u64) -> bool {
    let step = match epoch {
        0..=10 => 1,
        11..=100 => 10,
        101..=1000 => 100,
        _ => 1000,
    };
    epoch.is_multiple_of(step) || epoch == last
}

fn opening(network: &Bundle, broker: &str, address: &Address) -> String {
    let epochs = network.budgets().epochs;
    let certified = network.certificate().after(epochs).and_then(|line| line.information);
    let (public, private) = (network.model().public().name(), network.model().private().name());
    format!(
        "{} sensors and a centre over MQTT ({broker} broker at {address})\n\
         public: {public}, drawn in every epoch; private: {private}, drawn every {epochs} epochs\n\
         certified: {epochs} epochs together leak at most {} nats of {private}\n",
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
    // One standard deviation of a share of so many trials.
    let share = |error: f64, trials: u64| {
        let spread = (error * (1.0 - error) / trials.max(1) as f64).sqrt();
        format!("{error:.4} ± {spread:.4}")
    };
    let rows = vec![
        vec![
            format!("{public}: the centre errs"),
            share(report.error_public, report.epochs),
            format!(
                "expected {:.4}; blindly {:.4}",
                report.bayes_error_public, report.blind_public
            ),
        ],
        vec![
            format!("{private}: the attacker errs"),
            share(report.error_private, report.secrets),
            format!(
                "certified at least {:.4}; blindly {:.4}",
                (1e4 * report.least_error_private).floor() / 1e4,
                report.blind_private
            ),
        ],
    ];
    format!(
        "\n{}\n\none epoch beyond the budget: {} of {} sensors sent their constant token\n\n{}",
        table(&["", "measured", "from the shipped integers"], rows),
        report.beyond_budget.constant,
        network.policies().len(),
        center::describe(&report.metrics, network)
    )
}
