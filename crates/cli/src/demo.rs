//! `undertone demo`: a printed formula refused, a certified policy, a curator, and people who answer it.

mod crowd;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tracing_subscriber::filter::LevelFilter;
use undertone_core::{Alphabet, Claim, Context, Epsilon, Policy, Provenance};
use undertone_curator::clock::{SystemClock, SystemRandomness};
use undertone_curator::server::{self, Limits};
use undertone_curator::{App, Curator, Settings, store};
use undertone_design::measure::lip;
use undertone_design::mechanism::randomized_response;
use undertone_design::quantize::{self, Promise};
use undertone_design::{Channel, Distribution, realise};

use crate::audit::attained;
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

/// Runs once, for whoever calls it in place.
pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let show = Show::begin(args, false)?;
    Ok(show.outcome)
}

/// Runs, prints, and serves on until it is stopped, unless it was told to run once.
pub(crate) fn run_and_stay(args: &Args, json: bool) -> u8 {
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
        let printed = Printed::judge()?;
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
        let result = Told {
            users: args.users,
            truth: yes as f64 / f64::from(args.users),
            policy: survey.policy(),
            estimate: Estimate::read(&estimates)?,
            printed,
            base: &base,
            token: &token,
            seconds,
            stays,
        };
        let outcome = Outcome::good(result.json()?, result.text()?);
        Ok(Self { outcome, stage })
    }

    /// Serves until the process is asked to stop.
    fn stay(self) {
        if let Ok(runtime) = self.stage.runtime() {
            runtime.block_on(serve::stopped());
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

/// The published formula's claim and what the kernel says of it.
struct Printed {
    leaks: f64,
    refusal: Option<String>,
}

impl Printed {
    fn judge() -> Result<Self, Failure> {
        let prior = Distribution::new("prior", vec![1.0 - EXPECTED, EXPECTED])?;
        let channel = randomized_response::published(&prior, EPSILON)?;
        let refusal = promise(&prior)?.verify(&channel)?.err();
        let leaks = lip::leakage(&prior, &channel)?.nats;
        Ok(Self { leaks, refusal: refusal.map(|refusal| refusal.to_string()) })
    }
}

fn promise(prior: &Distribution) -> Result<Promise, Failure> {
    let rounded = quantize::prior(prior)?;
    let names = Alphabet::names(["no", "yes"]).map_err(Failure::input)?;
    let epsilon = Epsilon::parse(EPSILON_TEXT).map_err(Failure::input)?;
    Ok(Promise {
        inputs: names,
        outputs: None,
        context: Context::Known(rounded.prior),
        claims: vec![Claim::lip(epsilon)],
        provenance: Provenance { rounding: rounded.moved, ..Provenance::default() },
    })
}

/// The curator's headline for "yes".
struct Estimate {
    yes: f64,
    low: f64,
    high: f64,
    method: String,
}

impl Estimate {
    fn read(estimates: &Value) -> Result<Self, Failure> {
        let headline = &estimates["rounds"][0]["headline"];
        let yes = &headline["symbols"][1];
        let number = |field: &str| {
            yes[field].as_f64().ok_or_else(|| Failure::input("the curator gave no estimate"))
        };
        Ok(Self {
            yes: number("value")?,
            low: number("low")?,
            high: number("high")?,
            method: headline["method"].as_str().unwrap_or_default().into(),
        })
    }
}

/// Everything the demonstration has to say.
struct Told<'a> {
    users: u32,
    truth: f64,
    policy: &'a Policy,
    estimate: Estimate,
    printed: Printed,
    base: &'a str,
    token: &'a str,
    seconds: Duration,
    /// Whether the curator goes on serving.
    stays: bool,
}

impl Told<'_> {
    /// Half-widths of 95 % intervals at the true rate: this policy, LDP at ε and LDP at 2ε.
    fn half_widths(&self) -> Result<[f64; 3], Failure> {
        let policy = realise::channel(self.policy.draft().shape())?;
        let plain = |epsilon| randomized_response::symmetric(2, epsilon);
        let half = |channel: &Channel| half_width(channel, TRUE_RATE, self.users);
        Ok([half(&policy), half(&plain(EPSILON)?), half(&plain(2.0 * EPSILON)?)])
    }

    fn json(&self) -> Result<Value, Failure> {
        let [policy, ldp_1, ldp_2] = self.half_widths()?;
        let claims = self.policy.draft().claims().iter().map(ToString::to_string);
        Ok(json!({
            "users": self.users,
            "truth": self.truth,
            "estimate": {
                "yes": self.estimate.yes, "low": self.estimate.low, "high": self.estimate.high,
                "level": 0.95, "method": self.estimate.method,
            },
            "policy": {
                "policy_id": self.policy.id().to_string(),
                "claims": claims.collect::<Vec<_>>(),
                "attained": attained(&self.policy.certificate().input),
            },
            "printed_formula": {
                "claimed": EPSILON, "leaks": self.printed.leaks, "refusal": self.printed.refusal,
            },
            "half_widths": {"policy": policy, "ldp_1": ldp_1, "ldp_2": ldp_2},
            "address": self.stays.then(|| format!("{}/", self.base)),
            "respond": self.stays.then(|| format!("{}/s/{SURVEY}", self.base)),
            "officer": self.stays.then(|| format!("{}/v1/surveys/{SURVEY}/officer", self.base)),
            "token": self.stays.then_some(self.token),
            "answered_in_seconds": self.seconds.as_secs_f64(),
        }))
    }

    fn text(&self) -> Result<String, Failure> {
        let percent = |p: f64| format!("{:.2} %", 100.0 * p);
        let strength = self.policy.certificate().input;
        let mut text = format!(
            "A yes/no question. About one person in ten is expected to say yes, and nobody's answer may\n\
             change what an observer believes about them by more than a factor e (epsilon = 1, in nats).\n\n\
             1. The published formula (JSTL21 (19)) claims 1 and leaks {}. The kernel refuses it:\n   {}\n\n",
            nats(self.printed.leaks),
            self.printed.refusal.as_deref().unwrap_or("(not refused)"),
        );
        text += &format!(
            "2. The true optimum, rounded to integers and verified exactly, is policy {}...\n   attained LIP {}, attained LDP {} (an observer without a prior).\n   A 10 % belief can become at most {:.1} %.\n\n",
            &self.policy.id().to_string()[..16],
            show(leak(strength.lip())),
            show(leak(Some(strength.ldp.ratio))),
            100.0 * EXPECTED * EPSILON.exp(),
        );
        text += &format!(
            "3. {} simulated people checked it on their own devices, randomised and sent, each over HTTP\n   ({:.1} s):\n",
            self.users,
            self.seconds.as_secs_f64()
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
        let [policy, ldp_1, ldp_2] = self.half_widths()?;
        let row = |name: &str, half: f64| vec![name.into(), percent(half)];
        text += &table(
            &["promise", "half-width"],
            vec![row("this policy: LIP 1", policy), row("LDP at 1", ldp_1), row("LDP at 2", ldp_2)],
        );
        text += "\n   LIP is another promise than LDP, not a better one: LIP 1 never costs more than LDP 1 and\n   never protects less than LDP 2.";
        if self.stays {
            text += &format!(
                "\n\n4. The curator: {base}/ (owner's token {token})\n   Answer yourself: {base}/s/{SURVEY}\n   For the privacy officer: {base}/v1/surveys/{SURVEY}/officer",
                base = self.base,
                token = self.token,
            );
        }
        Ok(text)
    }
}

fn show(value: Value) -> String {
    value.as_f64().map_or_else(|| "unbounded".into(), nats)
}

fn half_width(channel: &Channel, rate: f64, users: u32) -> f64 {
    let slope = channel.q(1, 1) - channel.q(0, 1);
    let share = (channel.q(0, 1) + slope * rate).clamp(0.0, 1.0);
    1.959_963_984_540_054 * (share * (1.0 - share) / f64::from(users)).sqrt() / slope.abs()
}
