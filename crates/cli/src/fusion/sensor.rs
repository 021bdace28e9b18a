//! `undertone fusion sensor`: one sensor of a network, as a process.

use std::path::PathBuf;

use serde_json::json;
use undertone::Answer;
use undertone_fusion::runtime::{
    ResetReport, Sensor, SensorEvent, SensorNode, SensorRunReport, TokenKind, Topics, run_sensor,
    system_generator,
};

use super::connection::{BrokerArgs, BudgetArgs, block_on, bundle, end_asked};
use super::readings::ReadingArgs;
use crate::failure::Failure;
use crate::output::{Outcome, table};

/// Run one sensor of a network: read values, randomise each by the sensor's policy, publish the tokens.
///
/// Every token is on disk before it is published, so that no epoch is randomised twice, not even
/// after a crash. After as many epochs as the network was certified for, the sensor publishes a
/// constant token until --reset (which needs no --broker, and then does nothing else). A value it
/// cannot read is replaced by a random one.
///
/// Example: undertone fusion sensor --bundle network.json --index 0 --state sensor-0.state --broker mqtt://localhost:1883
#[derive(clap::Args)]
pub(super) struct Args {
    /// The network, as `fusion design -o` wrote it. Everything in it is checked again.
    #[arg(long)]
    bundle: PathBuf,
    /// Which sensor this is, from 0.
    #[arg(long)]
    index: u16,
    /// The file that remembers what was published. Keep it: without it the budget is spent twice.
    #[arg(long)]
    state: PathBuf,
    #[command(flatten)]
    budget: BudgetArgs,
    #[command(flatten)]
    broker: BrokerArgs,
    #[command(flatten)]
    readings: ReadingArgs,
}

pub(super) fn run(args: &Args, json: bool) -> Result<Outcome, Failure> {
    let network = bundle(&args.bundle)?;
    if args.readings.by_clock() && args.budget.first_epoch.is_none() && !args.state.exists() {
        return Err(Failure::usage(
            "--epoch-seconds needs --first-epoch when the state file is begun: the same number for all \
             sensors and the centre, not before now",
        ));
    }
    let budget = args.budget.budget(&network)?;
    let mut sensor = Sensor::open(&network, args.index, budget, &args.state)?;
    if let Some(first) = args.budget.reset {
        sensor.reset(first)?;
        if args.broker.broker.is_none() {
            let report = ResetReport::of(&sensor);
            let text = report.words();
            return Ok(Outcome::of(&report, text));
        }
    }
    let options = args.broker.options()?;
    let topic = Topics::new(&network).report(args.index);
    block_on(async {
        let values = args.readings.start(&options)?;
        let node = SensorNode::start(&network, sensor, options)?;
        let mut rng = system_generator()?;
        let report = run_sensor(node, values, &mut rng, end_asked(), |event| tell(&event, json));
        let report = report.await?;
        let text = describe(&report, &topic);
        Ok(Outcome::of(&report, text))
    })
}

/// Says what happens, on standard error.
fn tell(event: &SensorEvent, json: bool) {
    match event {
        SensorEvent::Connected => eprintln!("connected"),
        SensorEvent::Lost { reason } => eprintln!("not connected, trying again: {reason}"),
        SensorEvent::Spent { epoch } => {
            eprintln!("the budget is spent after epoch {epoch}: from now on the token is constant");
        }
        SensorEvent::Published(report) if json => {
            let kind = if report.kind == TokenKind::Drawn { "drawn" } else { "constant" };
            let line = json!({"epoch": report.epoch, "token": report.token, "kind": kind});
            eprintln!("{line}");
        }
        SensorEvent::Published(_) => {}
    }
}

fn describe(report: &SensorRunReport, topic: &str) -> String {
    let row = |name: &str, value: String, what: &str| vec![name.to_owned(), value, what.to_owned()];
    let rows = vec![
        row("published", report.published.to_string(), "reports"),
        row(
            "constant",
            report.constant.to_string(),
            "of them without meaning: the budget was spent",
        ),
        row("past", report.past.to_string(), "values of epochs that are over, not published"),
        row("unreadable", report.unreadable.to_string(), "values replaced by a random reading"),
        row("spent", report.spent.to_string(), "epochs drawn in since the last reset"),
        row("limit", report.limit.to_string(), "epochs that may be"),
        row("acknowledged", report.acknowledged.to_string(), "whether the broker has everything"),
    ];
    format!("reports on {topic}\n\n{}", table(&["", "", ""], rows))
}
