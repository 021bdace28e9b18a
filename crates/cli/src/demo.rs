//! `undertone demo`: a printed formula refused, a certified policy, a local simulation.

use rand_chacha::ChaCha12Rng;
use rand_core::{CryptoRng, SeedableRng};
use serde_json::json;
use undertone_core::{
    Alphabet, Claim, Context, Epsilon, Ledger, Nats, Policy, Provenance, Symbol, Token,
};
use undertone_design::measure::lip;
use undertone_design::mechanism::randomized_response;
use undertone_design::quantize::{self, Promise};
use undertone_design::{Channel, Distribution, realise};

use crate::audit::{attained, leak};
use crate::failure::Failure;
use crate::output::{Outcome, nats, table};

/// See the system work on one machine: a printed formula refused, a certified policy, and thousands of
/// simulated people whose answers are randomised one by one.
///
/// Example: undertone demo --users 20000
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How many people answer.
    #[arg(long, default_value_t = 20_000)]
    users: u32,
    /// Exit after the first result. There is no server to keep running yet, so this changes nothing.
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

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    if !(100..=10_000_000).contains(&args.users) {
        return Err(Failure::usage(format!("--users is {}: give 100 to 10000000", args.users)));
    }
    let mut rng = match args.seed {
        Some(seed) => ChaCha12Rng::seed_from_u64(seed),
        None => {
            let mut seed = [0; 32];
            getrandom::fill(&mut seed).map_err(|error| {
                Failure::input(format!("the system's random generator failed: {error}"))
            })?;
            ChaCha12Rng::from_seed(seed)
        }
    };
    let prior = Distribution::new("prior", vec![1.0 - EXPECTED, EXPECTED])?;
    let promise = promise(&prior)?;

    let printed = randomized_response::published(&prior, EPSILON)?;
    let truth_about_printed = lip::leakage(&prior, &printed)?.nats;
    let refusal = promise.verify(&printed)?.err();
    let optimal = randomized_response::binary_optimal(&prior, EPSILON)?;
    let policy = promise.ship(&optimal)?.policy;

    let survey = simulate(&policy, args.users, &mut rng)?;
    let estimate =
        Estimate::of(&realise::channel(policy.draft().shape())?, survey.tokens_yes, args.users);
    let mut rows = Vec::new();
    for (name, epsilon) in [("LDP at 1", EPSILON), ("LDP at 2", 2.0 * EPSILON)] {
        let half = half_width(&randomized_response::symmetric(2, epsilon)?, TRUE_RATE, args.users);
        rows.push((name, half));
    }

    let strength = policy.certificate().input;
    let refused = refusal.as_ref().map(ToString::to_string);
    let json = json!({
        "users": args.users,
        "truth": survey.truth,
        "estimate": {"yes": estimate.yes, "low": estimate.low, "high": estimate.high, "level": 0.95},
        "policy": {
            "policy_id": policy.id().to_string(),
            "claims": policy.draft().claims().iter().map(ToString::to_string).collect::<Vec<_>>(),
            "attained": attained(&strength),
        },
        "printed_formula": {"claimed": EPSILON, "leaks": truth_about_printed, "refusal": refused},
        "half_widths": {
            "policy": estimate.half, "ldp_1": rows[0].1, "ldp_2": rows[1].1,
        },
    });

    let mut text = format!(
        "A yes/no question. About one person in ten is expected to say yes, and nobody's answer may\n\
         change what an observer believes about them by more than a factor e (epsilon = 1, in nats).\n\n\
         1. The published formula (JSTL21 (19)) claims 1 and leaks {}. The kernel refuses it:\n   {}\n\n",
        nats(truth_about_printed),
        refused.as_deref().unwrap_or("(not refused)"),
    );
    text += &format!(
        "2. The true optimum, rounded to integers and verified exactly, is policy {}...\n   attained LIP {}, attained LDP {} (an observer without a prior).\n   A 10 % belief can become at most {:.1} %.\n\n",
        &policy.id().to_string()[..16],
        show(leak(strength.lip())),
        show(leak(Some(strength.ldp.ratio))),
        100.0 * EXPECTED * EPSILON.exp(),
    );
    text += &format!("3. {} simulated people answer, each randomised on its own:\n", args.users);
    let percent = |p: f64| format!("{:.2} %", 100.0 * p);
    text += &table(
        &["", "said yes", "95 % interval"],
        vec![
            vec!["truth".into(), percent(survey.truth), String::new()],
            vec![
                "estimate".into(),
                percent(estimate.yes),
                format!("{} to {}", percent(estimate.low), percent(estimate.high)),
            ],
        ],
    );
    text += "\n\n   Half-width of the interval, beside randomised response with no prior at all:\n";
    text += &table(
        &["promise", "half-width"],
        vec![
            vec!["this policy: LIP 1".into(), percent(estimate.half)],
            vec![rows[0].0.into(), percent(rows[0].1)],
            vec![rows[1].0.into(), percent(rows[1].1)],
        ],
    );
    text += "\n   LIP is another promise than LDP, not a better one: LIP 1 never costs more than LDP 1 and\n   never protects less than LDP 2. Next: undertone policy --help, undertone relate --help.";
    Ok(Outcome::good(json, text))
}

fn show(value: serde_json::Value) -> String {
    value.as_f64().map_or_else(|| "unbounded".into(), nats)
}

fn promise(prior: &Distribution) -> Result<Promise, Failure> {
    let rounded = quantize::prior(prior)?;
    let names = Alphabet::names(vec!["no".into(), "yes".into()]).map_err(Failure::input)?;
    let epsilon = Epsilon::parse(EPSILON_TEXT).map_err(Failure::input)?;
    Ok(Promise {
        inputs: names,
        outputs: None,
        context: Context::Known(rounded.prior),
        claims: vec![Claim::lip(epsilon)],
        provenance: Provenance {
            source: "assumed for the demonstration".into(),
            rounding: rounded.moved,
            ..Provenance::default()
        },
    })
}

struct Survey {
    truth: f64,
    tokens_yes: u32,
}

/// Everyone has a ledger of their own, gets a permit, and sends one report.
fn simulate<R: CryptoRng>(policy: &Policy, users: u32, rng: &mut R) -> Result<Survey, Failure> {
    let budget = Nats::parse_down("3").map_err(Failure::input)?;
    let symbol = |index: usize| policy.draft().inputs().symbol(index).map_err(Failure::input);
    let answers: [Symbol; 2] = [symbol(0)?, symbol(1)?];
    let (mut yes, mut tokens_yes) = (0, 0);
    for _ in 0..users {
        let says_yes = f64::from(rng.next_u32()) < TRUE_RATE * 4_294_967_296.0;
        let mut ledger = Ledger::new(budget);
        let permit = ledger.spend("the question", policy, None).map_err(Failure::input)?;
        let report = policy
            .randomize(answers[usize::from(says_yes)], permit, rng)
            .map_err(Failure::input)?;
        policy.accepts(&report).map_err(Failure::input)?;
        yes += u32::from(says_yes);
        tokens_yes += u32::from(report.token == Token::Index(1));
    }
    Ok(Survey { truth: f64::from(yes) / f64::from(users), tokens_yes })
}

struct Estimate {
    yes: f64,
    low: f64,
    high: f64,
    half: f64,
}

impl Estimate {
    /// The unbiased estimate of a yes/no rate, with a 95 % normal interval for perturbation and
    /// sampling together.
    fn of(channel: &Channel, tokens_yes: u32, users: u32) -> Self {
        let slope = channel.q(1, 1) - channel.q(0, 1);
        let share = f64::from(tokens_yes) / f64::from(users);
        let yes = (share - channel.q(0, 1)) / slope;
        let half = half_width(channel, yes, users);
        Self { yes, low: (yes - half).max(0.0), high: (yes + half).min(1.0), half }
    }
}

fn half_width(channel: &Channel, rate: f64, users: u32) -> f64 {
    let slope = channel.q(1, 1) - channel.q(0, 1);
    let share = (channel.q(0, 1) + slope * rate).clamp(0.0, 1.0);
    1.959_963_984_540_054 * (share * (1.0 - share) / f64::from(users)).sqrt() / slope
}
