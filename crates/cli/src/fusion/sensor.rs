//! `undertone fusion sensor`: one sensor of a network, as a process.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use undertone_fusion::runtime::{
    LinkEvent, Sensor, SensorNode, TokenKind, Topics, system_generator,
};

use super::connection::{BrokerArgs, BudgetArgs, block_on, bundle, end_asked, wants_json};
use super::readings::{ReadingArgs, Receiver};
use crate::failure::Failure;
use crate::output::{Outcome, table};

/// Reports that wait for the broker before the sensor stops reading.
const MOST_WAITING: usize = 256;

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

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
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
            let epochs = sensor.budget().epochs();
            let json = json!({"sensor": args.index, "spent": 0, "limit": epochs, "first": first});
            let text = format!("a new budget of {epochs} epochs from epoch {first} on");
            return Ok(Outcome::good(json, text));
        }
    }
    let options = args.broker.options()?;
    let topic = Topics::new(&network).report(args.index);
    block_on(async {
        let values = args.readings.start(&options)?;
        let node = SensorNode::start(&network, sensor, options)?;
        let (summary, arrived) = follow(node, values).await?;
        let text = describe(&summary, &topic);
        Ok(Outcome { json: summary, text, good: arrived })
    })
}

/// Reads and publishes until the values end or somebody asks to.
async fn follow(mut node: SensorNode, mut values: Receiver) -> Result<(Value, bool), Failure> {
    let mut rng = system_generator()?;
    let mut published = 0u64;
    let (mut constant, mut past) = (0u64, 0u64);
    let mut end = std::pin::pin!(end_asked());
    loop {
        if node.link().waiting() >= MOST_WAITING {
            node.link().flushed(Duration::from_millis(200)).await;
        }
        tokio::select! {
            () = &mut end => break,
            event = node.next() => match event {
                Some(LinkEvent::Connected) => eprintln!("connected"),
                Some(LinkEvent::Lost { reason }) => eprintln!("not connected, trying again: {reason}"),
                Some(LinkEvent::Refused { reason }) => return Err(Failure::input(reason)),
                Some(LinkEvent::Delivered(_)) => {}
                None => return Err(Failure::input("the connection is over")),
            },
            value = values.recv(), if node.link().waiting() < MOST_WAITING => {
                let Some(value) = value else { break };
                let value = value?;
                let next = node.sensor().next_epoch();
                let epoch = value.epoch.unwrap_or(next);
                // What was said before stays said; the clock and replays come here again and again.
                if epoch < next {
                    past += 1;
                    continue;
                }
                let was_spent = node.sensor().is_spent();
                let report = node.send(epoch, &value.cell, &mut rng)?;
                published += 1;
                constant += u64::from(report.kind == TokenKind::Constant);
                if node.sensor().is_spent() && !was_spent {
                    eprintln!("the budget is spent after epoch {epoch}: from now on the token is constant");
                }
                if wants_json() {
                    let kind = if report.kind == TokenKind::Drawn { "drawn" } else { "constant" };
                    eprintln!("{}", json!({"epoch": epoch, "token": report.token, "kind": kind}));
                }
            }
        }
    }
    let sensor = node.sensor();
    let mut summary = json!({
        "sensor": sensor.index(),
        "published": published,
        "constant": constant,
        "past": past,
        "unreadable": sensor.unreadable(),
        "spent": sensor.spent(),
        "limit": sensor.budget().epochs(),
        "first": sensor.budget().first(),
        "dropped": node.link().dropped(),
    });
    // Longer than reports wait for a centre that is not there.
    let arrived = node.close(Duration::from_secs(60)).await?;
    summary["acknowledged"] = json!(arrived);
    Ok((summary, arrived))
}

fn describe(summary: &Value, topic: &str) -> String {
    let row =
        |name: &str, what: &str| vec![name.to_owned(), summary[name].to_string(), what.to_owned()];
    let rows = vec![
        row("published", "reports"),
        row("constant", "of them without meaning: the budget was spent"),
        row("past", "values of epochs that are over, not published"),
        row("unreadable", "values replaced by a random reading"),
        row("spent", "epochs drawn in since the last reset"),
        row("limit", "epochs that may be"),
        row("acknowledged", "whether the broker has everything"),
    ];
    format!("reports on {topic}\n\n{}", table(&["", "", ""], rows))
}
