//! `undertone demo`: a printed formula refused, a certified policy, a curator, and people who answer it.

mod crowd;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tracing_subscriber::filter::LevelFilter;
use undertone::Answer;
use undertone::attained::Attained;
use undertone::audit::{AuditReport, AuditRequest, AuditSubject, audit};
use undertone::design::{self, Design, DesignMethod, DesignReport, RefusedDesign, RefusedDetails};
use undertone::estimate::EstimatedNumber;
use undertone_core::Policy;
use undertone_curator::clock::{SystemClock, SystemRandomness};
use undertone_curator::server::{self, Limits};
use undertone_curator::service::estimates::{ShownRound, SurveyEstimates};
use undertone_curator::{App, Curator, Settings, store};
use undertone_design::{Channel, Distribution};
use undertone_estimate::Method;

use crate::failure::Failure;
use crate::output::{Outcome, line, nats, table};
use crate::serve;
use undertone::number::level as leak;

/// See the whole system work on one machine: a printed formula refused, a certified policy, a curator, and
/// thousands of simulated people whose answers are randomised on their own devices and sent over HTTP.
///
/// The curator keeps serving afterwards; open the address it prints. Its store is temporary.
///
/// Example: undertone demo --users 5000 --once
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many people answer.
    #[arg(long, default_value_t = 5_000)]
    users: u32,
    /// Exit after the first result instead of serving on.
    #[arg(long)]
    once: bool,
    /// Make the simulated people and their noise repeatable. For tests: real answers are always
    /// randomised by the system's generator.
    #[arg(long)]
    seed: Option<u64>,
}

const EPSILON: f64 = 1.0;
const EPSILON_TEXT: &str = "1";
const EXPECTED: f64 = 0.10;
const TRUE_RATE: f64 = 0.13;
const SURVEY: &str = "demo";

/// Runs, prints, and serves on until it is stopped, unless it was told to run once.
pub(crate) fn run(args: &Args, json: bool) -> u8 {
    serve::log(json, LevelFilter::WARN);
    let mut show = match Show::begin(args, !args.once) {
        Ok(show) => show,
        Err(failure) => return failure.print(json),
    };
    let outcome = std::mem::replace(&mut show.outcome, Outcome::good(Value::Null, String::new()));
    let code = outcome.print(json);
    if !args.once {
        if !json {
            line("\nServing until you press Ctrl-C.");
        }
        show.stay();
    }
    code
}

/// The curator on a free port with a temporary store, and what came of the crowd.
struct Show {
    outcome: Outcome,
    // Dropped in this order: the server before its file.
    stage: Stage,
}

struct Stage {
    runtime: Option<Runtime>,
    serving: Option<JoinHandle<std::io::Result<()>>>,
    stop: Option<oneshot::Sender<()>>,
    folder: PathBuf,
}

impl Show {
    fn begin(args: &Args, stays: bool) -> Result<Self, Failure> {
        if !(100..=1_000_000).contains(&args.users) {
            return Err(Failure::usage(format!("--users is {}: give 100 to 1000000", args.users)));
        }
        let printed = PrintedFormula::judge()?;
        let (stage, curator, base, token) = Stage::build()?;
        let runtime = stage.runtime()?;
        let body = json!({
            "id": SURVEY, "title": "A demonstration",
            "question": "Have you ever taken office supplies home?",
            "answers": {"names": ["no", "yes"]},
            "plan": {
                "epsilon": EPSILON_TEXT, "rounds": 2,
                "prior": {"p": [1.0 - EXPECTED, EXPECTED], "source": "assumed for the demonstration"},
            },
            "retention": "until the demonstration ends",
        });
        runtime.block_on(curator.create(body.to_string().as_bytes())).map_err(Failure::input)?;
        let device = undertone_client::Connection::new(&base).map_err(Failure::input)?;
        let survey = device.survey(SURVEY).map_err(Failure::input)?;
        let started = Instant::now();
        let yes = crowd::answer(&device, &survey, args.users, TRUE_RATE, args.seed)?;
        let seconds = started.elapsed();
        let estimates = runtime.block_on(curator.estimates(SURVEY)).map_err(Failure::input)?;
        let report = DemoReport {
            users: args.users,
            truth: yes as f64 / f64::from(args.users),
            estimate: DemoEstimate::read(&estimates)?,
            policy: DemoPolicy::from(survey.policy().as_ref()),
            printed_formula: printed,
            half_widths: HalfWidths::of(survey.policy(), args.users)?,
            served: if stays { Served::at(&base, token) } else { Served::default() },
            answered_in_seconds: seconds.as_secs_f64(),
        };
        let outcome = Outcome::of(&report, report.words());
        Ok(Self { outcome, stage })
    }

    /// Serves until the process is asked to stop.
    fn stay(self) {
        if let Ok(runtime) = self.stage.runtime() {
            runtime.block_on(async { serve::stopped().await });
        }
    }
}

impl Stage {
    /// Starts a curator; gives it, its address and its owner's token besides.
    fn build() -> Result<(Self, Curator, String, String), Failure> {
        let folder = std::env::temp_dir().join(format!("undertone-demo-{}", std::process::id()));
        std::fs::create_dir_all(&folder)
            .map_err(|error| Failure::of_system("make", &folder, &error))?;
        let runtime = serve::runtime()?;
        let mut stage = Self { runtime: None, serving: None, stop: None, folder };
        let (owner, token) = serve::new_owner()?;
        let file = stage.folder.join("demo.db");
        let (curator, listener) = runtime.block_on(async {
            let store = store::open(&format!("sqlite:{}", file.display())).await;
            let app = App {
                store: store.map_err(Failure::input)?,
                clock: Arc::new(SystemClock),
                randomness: Arc::new(SystemRandomness),
                owner,
                // All people of the demonstration have one address.
                settings: Settings { rate: None, ..Settings::default() },
            };
            let listener = TcpListener::bind("127.0.0.1:0")
                .await
                .map_err(|error| Failure::input(format!("cannot listen on 127.0.0.1: {error}")))?;
            Ok::<_, Failure>((Curator::new(app), listener))
        })?;
        let base = format!("http://{}", listener.local_addr().map_err(Failure::input)?);
        let (stop, stopped) = oneshot::channel();
        let served = curator.clone();
        stage.serving = Some(runtime.spawn(async move {
            let until = async {
                let _ = stopped.await;
            };
            server::serve(&served, listener, None, Limits::default(), until).await
        }));
        stage.stop = Some(stop);
        stage.runtime = Some(runtime);
        Ok((stage, curator, base, token))
    }

    fn runtime(&self) -> Result<&Runtime, Failure> {
        self.runtime.as_ref().ok_or_else(|| Failure::input("the curator has stopped"))
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let (Some(runtime), Some(serving)) = (&self.runtime, self.serving.take()) {
            // Pages left open in a browser are not waited for.
            let _ = runtime
                .block_on(async { tokio::time::timeout(Duration::from_secs(2), serving).await });
        }
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(2));
        }
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// What is expected of the crowd, to be protected at a level.
fn asked(protection: &str) -> Design {
    Design::new(["no", "yes"]).prior([1.0 - EXPECTED, EXPECTED]).protect(protection)
}

impl PrintedFormula {
    fn judge() -> Result<Self, Failure> {
        let report = asked(&format!("lip:{EPSILON_TEXT}")).method(DesignMethod::Published).run()?;
        let (rows, refusal) = match report {
            DesignReport::Verified(found) => (found.channel, None),
            DesignReport::Refused(RefusedDesign { channel, details, .. }) => match details {
                RefusedDetails::Symbols { refusal, .. } => (channel, Some(refusal.message)),
                RefusedDetails::Numbers { .. } => (channel, None),
            },
        };
        let subject = AuditSubject::Channel {
            prior: Distribution::new("prior", vec![1.0 - EXPECTED, EXPECTED])?,
            channel: Channel::new(rows.unwrap_or_default())?,
        };
        let leaks = match audit(&AuditRequest { subject, epsilon: None, alpha: 2.0 })? {
            AuditReport::Channel(audit) => audit.lip,
            AuditReport::Policy(_) => f64::INFINITY,
        };
        Ok(Self { claimed: EPSILON, leaks, refusal })
    }
}

impl DemoEstimate {
    fn read(estimates: &SurveyEstimates) -> Result<Self, Failure> {
        let none = || Failure::input("the curator gave no estimate");
        let Some(ShownRound::Counted(round)) = estimates.rounds.first() else {
            return Err(none());
        };
        let (Some(headline), Some(level)) = (&round.estimates.headline, round.estimates.level)
        else {
            return Err(none());
        };
        let EstimatedNumber { value, low, high, .. } =
            headline.shares.shares.get(1).ok_or_else(none)?.share;
        Ok(Self { yes: value, low, high, level, method: headline.method })
    }
}

/// Everything the demonstration has to say.
#[derive(Serialize)]
struct DemoReport {
    users: u32,
    truth: f64,
    estimate: DemoEstimate,
    policy: DemoPolicy,
    printed_formula: PrintedFormula,
    half_widths: HalfWidths,
    /// Where the curator goes on serving, if it does.
    #[serde(flatten)]
    served: Served,
    answered_in_seconds: f64,
}

/// The curator's headline for "yes".
#[derive(Serialize)]
struct DemoEstimate {
    yes: f64,
    low: f64,
    high: f64,
    level: f64,
    method: Method,
}

/// The policy everybody answered through.
#[derive(Serialize)]
struct DemoPolicy {
    policy_id: String,
    claims: Vec<String>,
    attained: Attained,
}

/// The published formula's claim and what the kernel says of it.
#[derive(Serialize)]
struct PrintedFormula {
    claimed: f64,
    leaks: f64,
    refusal: Option<String>,
}

/// Half-widths of 95 % intervals at the true rate: this policy, LDP at ε and LDP at 2ε.
#[derive(Serialize)]
struct HalfWidths {
    policy: f64,
    ldp_1: f64,
    ldp_2: f64,
}

/// Where the curator goes on serving; nothing where it stops.
#[derive(Serialize, Default)]
struct Served {
    address: Option<String>,
    respond: Option<String>,
    officer: Option<String>,
    token: Option<String>,
}

impl Served {
    fn at(base: &str, token: String) -> Self {
        Self {
            address: Some(format!("{base}/")),
            respond: Some(format!("{base}/s/{SURVEY}")),
            officer: Some(format!("{base}/v1/surveys/{SURVEY}/officer")),
            token: Some(token),
        }
    }
}

impl HalfWidths {
    fn of(policy: &Policy, users: u32) -> Result<Self, Failure> {
        let rates = [1.0 - TRUE_RATE, TRUE_RATE];
        let half = |policy: &Policy| design::half_width(policy, rates, u64::from(users), 0.95);
        let plain = |epsilon: f64| {
            let policy = asked(&format!("ldp:{epsilon}")).any_prior().method(DesignMethod::Krr);
            half(&policy.policy()?)
        };
        let (ldp_1, ldp_2) = (plain(EPSILON)?, plain(2.0 * EPSILON)?);
        Ok(Self { policy: half(policy)?, ldp_1, ldp_2 })
    }
}

impl From<&Policy> for DemoPolicy {
    fn from(policy: &Policy) -> Self {
        Self {
            policy_id: policy.id().to_string(),
            claims: policy.draft().claims().iter().map(ToString::to_string).collect(),
            attained: (&policy.certificate().input).into(),
        }
    }
}

impl Answer for DemoReport {
    fn words(&self) -> String {
        let percent = |p: f64| format!("{:.2} %", 100.0 * p);
        let printed = &self.printed_formula;
        let mut text = format!(
            "A yes/no question. About one person in ten is expected to say yes, and nobody's answer may\n\
             change what an observer believes about them by more than a factor e (epsilon = 1, in nats).\n\n\
             1. The published formula (JSTL21 (19)) claims 1 and leaks {}. The kernel refuses it:\n   {}\n\n",
            nats(printed.leaks),
            printed.refusal.as_deref().unwrap_or("(not refused)"),
        );
        let attained = &self.policy.attained;
        text += &format!(
            "2. The true optimum, rounded to integers and verified exactly, is policy {}...\n   attained LIP {}, attained LDP {} (an observer without a prior).\n   A 10 % belief can become at most {:.1} %.\n\n",
            &self.policy.policy_id[..16],
            show(leak(attained.lip)),
            show(leak(Some(attained.ldp))),
            100.0 * EXPECTED * EPSILON.exp(),
        );
        text += &format!(
            "3. {} simulated people checked it on their own devices, randomised and sent, each over HTTP\n   ({:.1} s):\n",
            self.users, self.answered_in_seconds
        );
        let estimate = &self.estimate;
        text += &table(
            &["", "said yes", "95 % interval"],
            vec![
                vec!["truth".into(), percent(self.truth), String::new()],
                vec![
                    "estimate".into(),
                    percent(estimate.yes),
                    format!("{} to {}", percent(estimate.low), percent(estimate.high)),
                ],
            ],
        );
        text +=
            "\n\n   Half-width of the interval, beside randomised response with no prior at all:\n";
        let HalfWidths { policy, ldp_1, ldp_2 } = self.half_widths;
        let row = |name: &str, half: f64| vec![name.into(), percent(half)];
        text += &table(
            &["promise", "half-width"],
            vec![row("this policy: LIP 1", policy), row("LDP at 1", ldp_1), row("LDP at 2", ldp_2)],
        );
        text += "\n   LIP is another promise than LDP, not a better one: LIP 1 never costs more than LDP 1 and\n   never protects less than LDP 2.";
        if let Served {
            address: Some(curator),
            respond: Some(page),
            officer: Some(officer),
            token: Some(token),
        } = &self.served
        {
            text += &format!(
                "\n\n4. The curator: {curator} (owner's token {token})\n   Answer yourself: {page}\n   For the privacy officer: {officer}"
            );
        }
        text
    }
}

fn show(value: Value) -> String {
    value.as_f64().map_or_else(|| "unbounded".into(), nats)
}
