//! `undertone relate`: what one guarantee implies about another notion.

use std::path::PathBuf;

use serde_json::{Value, json};
use undertone_design::Channel;
use undertone_theory::relation::{
    self, Guarantee, Notion, Outcome as Found, Setting, Step,
};

use crate::failure::Failure;
use crate::input;
use crate::output::{Outcome, Round, at_most, nats, number, number_to, rounded, table};
use undertone_design::measure::delta::Convention;

/// Say what one guarantee implies about another notion, as tightly as is known.
///
/// With a prior the answer is the exact supremum over all mechanisms, with a channel that attains it;
/// without one, the best chain of closed forms. Notions: ldp, lip, alip, bplip, wclip, pml, di, mip,
/// mil, sibson, arimoto, alphalift, infdp, avgleak, infp, mipx, ident.
///
/// Example: undertone relate --from lip:1 --to ldp --prior prior.json
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The guarantee: notion:epsilon or alip:lower,upper, each may end in ,delta.
    #[arg(long, required_unless_present = "map")]
    from: Option<String>,
    /// The notion wanted.
    #[arg(long, required_unless_present = "map")]
    to: Option<String>,
    /// The prior of the data (of the private hypothesis for infdp, avgleak and infp); repeat it for
    /// the set of priors of bplip.
    #[arg(long)]
    prior: Vec<PathBuf>,
    /// A lower bound on the smallest probability, when the prior is not known.
    #[arg(long, conflicts_with = "prior", allow_negative_numbers = true)]
    p_min: Option<f64>,
    /// How many symbols the data has, when the prior is not known.
    #[arg(long)]
    symbols: Option<usize>,
    /// How many sensors report.
    #[arg(long)]
    sensors: Option<usize>,
    /// How many binary private hypotheses there are.
    #[arg(long)]
    secrets: Option<usize>,
    /// The order of sibson, arimoto and alphalift.
    #[arg(long, allow_negative_numbers = true)]
    alpha: Option<f64>,
    /// The largest log ratio of the data's law between neighbours, for ident.
    #[arg(long, allow_negative_numbers = true)]
    spread: Option<f64>,
    /// In which convention delta is meant: conditional, posterior, joint or joint_sets.
    #[arg(long)]
    convention: Option<String>,
    /// Draw every implication into this SVG file.
    #[arg(long)]
    map: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<Outcome, Failure> {
    let mut drawn = None;
    if let Some(path) = &args.map {
        crate::output::save(path, &relation::map::svg())?;
        drawn = Some(format!("wrote {}", path.display()));
    }
    let (Some(from), Some(to)) = (&args.from, &args.to) else {
        let path = args.map.as_ref().map(|path| path.display().to_string());
        return Ok(Outcome::good(json!({ "map": path }), drawn.unwrap_or_default()));
    };
    let usage = |flag: &str| {
        let flag = flag.to_owned();
        move |error: undertone_design::Error| Failure::usage(format!("{flag}: {error}"))
    };
    let convention: Option<Convention> =
        args.convention.as_deref().map(str::parse).transpose().map_err(usage("--convention"))?;
    let mut from: Guarantee = from.parse().map_err(usage("--from"))?;
    if let Some(convention) = convention
        && !from.is_pure()
    {
        from = from.with_delta(from.delta(), convention).map_err(usage("--convention"))?;
    }
    let to: Notion = to.parse().map_err(usage("--to"))?;
    check_numbers(args)?;
    let mut priors = input::priors(&args.prior)?.priors;
    let set = [from.notion(), to].contains(&Notion::Bplip);
    let prior = if set || priors.is_empty() { None } else { Some(priors.remove(0)) };
    if !set && !priors.is_empty() {
        return Err(Failure::usage(
            "--prior was given several times: a set of priors belongs to bplip",
        ));
    }
    let setting = Setting {
        priors,
        symbols: args.symbols,
        sensors: args.sensors,
        secrets: args.secrets,
        alpha: args.alpha,
        spread: args.spread,
        convention,
        ..Setting::default()
    }
    .with_context(from.notion(), to, prior, args.p_min);
    let answer = relation::relate(&from, to, &setting)?;
    let mut outcome = describe(&from, to, &answer.outcome);
    if let Some(drawn) = drawn {
        outcome.text = format!("{}\n{drawn}", outcome.text);
    }
    Ok(outcome)
}

/// Refuses numbers of the command line that cannot be, whatever the prior.
fn check_numbers(args: &Args) -> Result<(), Failure> {
    let (p_min, symbols) = (args.p_min, args.symbols);
    for (options, numbers) in [
        ("--p-min", Setting { p_min, ..Setting::default() }),
        ("--symbols", Setting { symbols, ..Setting::default() }),
        ("--p-min, --symbols", Setting { p_min, symbols, ..Setting::default() }),
        ("--sensors", Setting { sensors: args.sensors, ..Setting::default() }),
        ("--secrets", Setting { secrets: args.secrets, ..Setting::default() }),
        ("--alpha", Setting { alpha: args.alpha, ..Setting::default() }),
        ("--spread", Setting { spread: args.spread, ..Setting::default() }),
    ] {
        numbers.check().map_err(|error| Failure::usage(format!("{options}: {error}")))?;
    }
    Ok(())
}

/// A guarantee for people: what was asked for as it was asked, what follows rounded up.
fn level(guarantee: &Guarantee, round: Round) -> String {
    let show = |value: f64| rounded(value, round);
    let mut text = if guarantee.notion() == Notion::Alip {
        format!("{}:{},{}", guarantee.notion(), show(guarantee.lower()), show(guarantee.upper()))
    } else {
        format!("{}:{}", guarantee.notion(), show(guarantee.epsilon()))
    };
    if !guarantee.is_pure() {
        text += &format!(" with delta {} ({})", show(guarantee.delta()), guarantee.convention());
    }
    text
}

fn guarantee(guarantee: &Guarantee, round: Round) -> Value {
    let show = |value: f64| number_to(value, round);
    json!({
        "notion": guarantee.notion().to_string(),
        "epsilon": show(guarantee.epsilon()),
        "lower": show(guarantee.lower()),
        "upper": show(guarantee.upper()),
        "delta": show(guarantee.delta()),
        "convention": guarantee.convention().to_string(),
    })
}

fn steps(steps: &[Step], round: Round) -> Value {
    let step = |step: &Step| {
        json!({
            "rule": step.rule,
            "paper": step.paper,
            "formula": step.formula,
            "gives": guarantee(&step.guarantee, round),
        })
    };
    steps.iter().map(step).collect()
}

fn channel(channel: &Channel) -> Value {
    channel.rows().iter().map(|row| json!(row.as_slice())).collect()
}

fn describe(from: &Guarantee, to: Notion, answer: &Found) -> Outcome {
    let asked = |g: &Guarantee| level(g, Round::Nearest);
    let found = |g: &Guarantee| level(g, Round::Up);
    match answer {
        Found::Holds(holds) => {
            let printed = holds.printed.as_ref();
            let json = json!({
                "from": guarantee(from, Round::Nearest),
                "to": to.to_string(),
                "implies": true,
                "epsilon": at_most(holds.guarantee.epsilon()),
                "lower": at_most(holds.guarantee.lower()),
                "upper": at_most(holds.guarantee.upper()),
                "delta": at_most(holds.guarantee.delta()),
                "convention": holds.guarantee.convention().to_string(),
                "exact": holds.exact,
                "witness": holds.witness.as_ref().map(channel),
                "steps": steps(&holds.steps, Round::Up),
                "closed_form": holds.closed_form.as_ref().map(|g| guarantee(g, Round::Up)),
                "printed": printed.map(|p| json!({
                    "gives": guarantee(&p.guarantee, Round::Nearest),
                    "verdict": p.verdict.to_string(),
                    "steps": steps(&p.steps, Round::Nearest),
                })),
                "alternatives": holds.alternatives.iter().map(|g| guarantee(g, Round::Up)).collect::<Vec<_>>(),
            });
            let kind = if holds.exact { "exactly, under this prior" } else { "at most" };
            let mut text =
                format!("{} implies {} ({kind})\n\n", asked(from), found(&holds.guarantee));
            let row = |step: &Step| {
                vec![
                    step.rule.into(),
                    step.formula.into(),
                    found(&step.guarantee),
                    step.paper.into(),
                ]
            };
            text += &table(
                &["step", "formula", "gives", "from"],
                holds.steps.iter().map(row).collect(),
            );
            if let Some(p) = printed {
                text += &format!(
                    "\n\nAs printed in the papers: {} ({})",
                    asked(&p.guarantee),
                    p.verdict
                );
            }
            if let Some(closed) = holds.closed_form.as_ref().filter(|_| holds.exact) {
                text += &format!("\nClosed form without the exact computation: {}", found(closed));
            }
            if let Some(witness) = &holds.witness {
                let rows: Vec<Vec<String>> = witness
                    .rows()
                    .iter()
                    .enumerate()
                    .map(|(x, row)| {
                        let cells = row.as_slice().iter().map(|q| format!("{q:.6}"));
                        std::iter::once(format!("input {x}")).chain(cells).collect()
                    })
                    .collect();
                let outputs: Vec<String> =
                    (0..witness.outputs()).map(|y| format!("output {y}")).collect();
                let header: Vec<&str> =
                    std::iter::once("").chain(outputs.iter().map(String::as_str)).collect();
                if witness.outputs() <= 8 {
                    text += &format!("\n\nAttained by this channel:\n{}", table(&header, rows));
                }
            }
            Outcome::good(json, text)
        }
        Found::Needs { missing } => {
            let needs: Vec<&str> = missing.iter().map(|m| m.describe()).collect();
            let json = json!({
                "from": guarantee(from, Round::Nearest), "to": to.to_string(), "implies": null,
                "epsilon": null, "delta": null, "exact": false, "witness": null, "steps": [], "needs": needs,
            });
            let text =
                format!("{} may imply {to}, but that needs {}", asked(from), needs.join("; "));
            Outcome { json, text, good: false }
        }
        Found::NoImplication(example) => {
            let member = example.member.as_ref();
            let json = json!({
                "from": guarantee(from, Round::Nearest), "to": to.to_string(), "implies": false,
                "epsilon": null, "delta": null, "exact": false, "witness": null, "steps": [],
                "counterexample": {
                    "paper": example.paper,
                    "words": example.words,
                    "large": example.large.to_string(),
                    "member": member.map(|m| json!({
                        "prior": m.prior.as_slice(),
                        "joint": m.joint.as_ref().map(|j| json!({"secret": j.secret().as_slice(), "given": channel(j.given_secret())})),
                        "channel": channel(&m.channel),
                        "copies": m.copies,
                        "leakage": number(m.leakage),
                    })),
                },
            });
            let mut text = format!(
                "{} implies nothing about {to}: {} ({})",
                asked(from),
                example.words,
                example.paper
            );
            if let Some(m) = member {
                text += &format!(
                    "\nA mechanism within the budget leaks {} in {}; --json prints it.",
                    nats(m.leakage),
                    example.large
                );
            }
            Outcome::good(json, text)
        }
    }
}
