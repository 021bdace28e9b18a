//! `undertone fusion center`: the fusion centre of a network, as a process.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::json;
use undertone_fusion::Bundle;
use undertone_fusion::runtime::{
    Center, CenterEvent, CenterNode, CenterRecord, Decision, Metrics, Pace, Refusal, Status, Topics,
};

use super::connection::{BrokerArgs, BudgetArgs, block_on, bundle, end_asked};
use super::figures::nats;
use super::page::{ANYWHERE, Page};
use crate::failure::Failure;
use crate::options::count;
use crate::output::{Outcome, line, table};

/// Run the centre of a network: hear the sensors, decide the public hypothesis in every epoch.
///
/// Sensors that are missing are averaged over. Messages that are no report of this network, come twice
/// or too late are counted and not used. Beside every decision stands what all epochs so far can have
/// told about the private hypothesis, from the certificate; when as many epochs are used as the network was
/// certified for, no more data are. With --json every event is one line.
///
/// Example: undertone fusion center --bundle network.json --broker mqtt://localhost:1883
#[derive(clap::Args)]
pub(super) struct Args {
    /// The network, as `fusion design -o` wrote it. Everything in it is checked again.
    #[arg(long)]
    bundle: PathBuf,
    /// The file that remembers which epochs were used (default: none, and a restart forgets).
    #[arg(long)]
    state: Option<PathBuf>,
    #[command(flatten)]
    budget: BudgetArgs,
    /// Seconds from the first report of an epoch to its decision, at most.
    #[arg(long, default_value_t = 5.0, allow_negative_numbers = true)]
    deadline: f64,
    /// How many undecided epochs a sensor may have.
    #[arg(long, default_value = "1024", value_parser = count)]
    window: usize,
    /// End after this many decisions (default: never).
    #[arg(long)]
    decisions: Option<u64>,
    /// Serve a page that shows decisions, sensors, budgets and faults, and GET /v1/state for programs; port 0 takes a free
    /// one. Whoever reaches the address can read it. [default address: 127.0.0.1:0]
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = ANYWHERE)]
    listen: Option<String>,
    #[command(flatten)]
    broker: BrokerArgs,
}

pub(super) fn run(args: &Args, json: bool) -> Result<Outcome, Failure> {
    if !(args.deadline >= 0.001 && args.deadline <= 1e6) {
        return Err(Failure::usage(format!(
            "--deadline is {}: give a number of seconds from 0.001 to 1e6",
            args.deadline
        )));
    }
    let network = bundle(&args.bundle)?;
    let pace = Pace { deadline: Duration::from_secs_f64(args.deadline), window: args.window };
    let budget = args.budget.budget(&network)?;
    let mut center = Center::open(&network, budget, pace, args.state.as_deref())?;
    if let Some(first) = args.budget.reset {
        center.reset(first)?;
    }
    let options = args.broker.options()?;
    block_on(async {
        let node = CenterNode::start(center, options)?;
        let page = match &args.listen {
            Some(address) => Some(Page::open(address, node.board().clone()).await?),
            None => None,
        };
        if let Some(page) = &page {
            line(&if json {
                json!({ "event": "page", "address": page.url() }).to_string()
            } else {
                format!("page at {}", page.url())
            });
        }
        let metrics = follow(node, args.decisions, json, &network).await?;
        if let Some(page) = page {
            page.close().await;
        }
        if json {
            // Lines for programs end with a line, not with a page.
            line(&record(&CenterRecord::Done { metrics: &metrics }));
            return Ok(Outcome::printed());
        }
        let text = format!("\n{}", describe(&metrics, &network));
        Ok(Outcome::of(&metrics, text))
    })
}

async fn follow(
    mut node: CenterNode,
    decisions: Option<u64>,
    json: bool,
    network: &Bundle,
) -> Result<Metrics, Failure> {
    if !json {
        line(&format!("decisions on {}\n", Topics::new(network).decision()));
        line(&header(network));
    }
    let mut end = std::pin::pin!(end_asked());
    let mut decided = 0;
    while decisions.is_none_or(|limit| decided < limit) {
        let event = tokio::select! {
            () = &mut end => break,
            event = node.next() => event?,
        };
        if let CenterEvent::Decided(_) = event {
            decided += 1;
        }
        if json {
            line(&record(&event.record(network)));
        } else {
            tell(&event, network, node.center().metrics());
        }
    }
    let metrics = node.center().metrics().clone();
    node.close(Duration::from_secs(10)).await?;
    Ok(metrics)
}

/// One line for programs.
fn record(record: &CenterRecord<'_>) -> String {
    serde_json::to_value(record).unwrap_or_default().to_string()
}

/// An event for people: decisions on standard output, everything else beside it.
fn tell(event: &CenterEvent, network: &Bundle, metrics: &Metrics) {
    let name = |sensor: &u16| {
        let name = network.sensors().nth(usize::from(*sensor));
        name.map_or(format!("sensor {sensor}"), |name| format!("sensor {sensor} ({name})"))
    };
    match event {
        CenterEvent::Connected => eprintln!("connected"),
        CenterEvent::Lost { reason } => eprintln!("not connected, trying again: {reason}"),
        CenterEvent::Status { sensor, status } => {
            eprintln!("{} is {}", name(sensor), status.name())
        }
        CenterEvent::Refused { topic, reason } => {
            // The first of each kind is news; the rest are counted.
            if metrics.refused(*reason) == 1 {
                eprintln!("{topic:?}: refused as {}", reason.name());
            }
        }
        CenterEvent::Decided(decision) => line(&row(decision, network)),
    }
}

fn header(network: &Bundle) -> String {
    let public = network.model().public().name();
    format!(
        "{:>8}  {:<12}  {:>9}  {:>5}  {:>7}  {}",
        "epoch", public, "belief", "heard", "epochs", "information"
    )
}

fn row(decision: &Decision, network: &Bundle) -> String {
    let value = &network.model().public().values()[decision.value];
    let belief = decision.posterior[decision.value];
    let heard = decision.outputs.iter().flatten().count();
    let all = decision.outputs.len();
    format!(
        "{:>8}  {value:<12}  {belief:>9.6}  {heard:>2}/{all:<2}  {:>7}  {}",
        decision.epoch,
        decision.epochs,
        nats(decision.information)
    )
}

/// The counters for people.
pub(super) fn describe(metrics: &Metrics, network: &Bundle) -> String {
    let sensor = |(name, sensor): (&str, &undertone_fusion::runtime::SensorMetrics)| {
        vec![
            name.to_owned(),
            sensor.status.map_or("unknown", Status::name).to_owned(),
            sensor.accepted.to_string(),
            sensor.constant.to_string(),
            sensor.missed.to_string(),
        ]
    };
    let sensors = network.sensors().zip(&metrics.sensors).map(sensor).collect();
    let refused: Vec<String> = Refusal::ALL
        .into_iter()
        .filter(|&reason| metrics.refused(reason) > 0)
        .map(|reason| format!("{} {}", metrics.refused(reason), reason.name()))
        .collect();
    let refused = if refused.is_empty() {
        "none refused".into()
    } else {
        format!("refused: {}", refused.join(", "))
    };
    format!(
        "{} decisions, {} reports used, {refused}\n{} of {} epochs used; they leak at most {} nats of {}\n\n{}",
        metrics.decided,
        metrics.accepted,
        metrics.epochs,
        metrics.limit,
        nats(metrics.information),
        network.model().private().name(),
        table(&["sensor", "status", "reports", "constant", "missed"], sensors)
    )
}
