//! `undertone fusion evaluate`: what the centre learns under given maps.

use std::path::PathBuf;

use serde_json::{Value, json};
use undertone_design::Channel;
use undertone_fusion::learn::compare::{self, Examined, Pair};
use undertone_fusion::learn::leakage::Evidence;
use undertone_fusion::learn::release::Release;
use undertone_fusion::{Bundle, Codebook, Evaluation, Maps, Model, Samples};

use super::connection::bundle;
use super::report;
use super::source::ModelArgs;
use crate::failure::Failure;
use crate::input;
use crate::options;
use crate::output::{Outcome, certified, nats, table};
use crate::plot;

/// Say what the centre learns of the public hypothesis, of the private one and of every reading.
///
/// A network file is verified first: every policy by the kernel, the certificate by computing it anew.
/// With --model its maps are judged under that law instead of the network's own, which is how to see what
/// a wrong model costs. With --samples they are judged by labelled samples, read with the network's own
/// levels: what the centre's rule gets wrong, what an attacker learns, and what can be guaranteed if the
/// samples had no part in making the network.
///
/// Example: undertone fusion evaluate network.json
#[derive(clap::Args)]
pub(super) struct Args {
    /// A network, as `fusion design -o` writes it.
    #[arg(conflicts_with = "maps", required_unless_present = "maps")]
    network: Option<PathBuf>,
    /// Maps to evaluate instead: a list of matrices, one per sensor, one row per reading.
    #[arg(long)]
    maps: Option<PathBuf>,
    #[command(flatten)]
    model: ModelArgs,
    /// How sure a guarantee from samples is to be.
    #[arg(long, default_value = "0.95", value_parser = options::between_0_and_1)]
    confidence: f64,
    /// Where the randomness of drawn outputs begins.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Draw what is learned here, as SVG.
    #[arg(long)]
    plot: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.network {
        Some(path) => network(&bundle(path)?, args),
        None => maps(args),
    }
}

fn network(bundle: &Bundle, args: &Args) -> Result<Outcome, Failure> {
    let judged = judged(bundle, args)?;
    let foreign = args.model.given();
    let model = match &judged {
        Some(judged) => judged.samples.model()?,
        None if foreign => args.model.read()?.model,
        None => bundle.float_model()?,
    };
    // Samples are read with the network's own sensors and levels; a model has its own lists.
    let maps =
        if foreign && judged.is_none() { bundle.maps_for(&model)? } else { bundle.maps()? };
    let seen = Evaluation::new(&model, &maps)?;
    let mut json = report::fields(&seen, &model);
    let certificate = bundle.certificate();
    let mut more = json!({
        "bundle_id": bundle.id(),
        "silent": bundle.is_silent(),
        "method": bundle.origin().method,
        "ldp": certificate.ldp.iter().map(|&nats| certified(Some(nats))).collect::<Vec<_>>(),
        "policies": bundle.policies().iter().map(|p| p.id().to_string()).collect::<Vec<_>>(),
        "certified": !foreign,
        "held_out": judged.as_ref().map(Judged::fields),
    });
    if !foreign {
        let attained = certificate.after(1).and_then(|line| line.information);
        more["information"] = certified(attained);
        more["epochs"] = report::epochs(certificate);
    }
    report::merge(&mut json, more);
    let about = match (&judged, foreign) {
        (Some(_), _) => "in one epoch, as if these samples were the law; not certified",
        (None, true) => "in one epoch, under the model given; not certified",
        (None, false) => "in one epoch; certified under the network's own model",
    };
    let mut text = report::learned(&seen, &model, (!foreign).then_some(certificate), about);
    if bundle.is_silent() {
        text = format!("{}\n\n{text}", report::silence(&model));
    }
    if let Some(judged) = &judged {
        text += &format!("\n\n{}", judged.describe());
    }
    text += &format!("\n\n{}", report::sensors(&seen, &model, Some(bundle)));
    if !foreign {
        text += &format!("\n\n{}", report::repetition(certificate));
    }
    text += &format!(
        "\n\nmethod {}, model {}; every policy and the network are verified.\nnetwork id: {}",
        bundle.origin().method,
        bundle.origin().source,
        bundle.id()
    );
    picture(args, &seen, &model, judged.as_ref())?;
    Ok(Outcome::good(json, text))
}

/// What labelled samples say about a network.
struct Judged {
    samples: Samples,
    rule: Pair,
    examined: Examined,
    units: bool,
}

/// Reads samples with the network's own labels and levels, and judges it by them.
fn judged(bundle: &Bundle, args: &Args) -> Result<Option<Judged>, Failure> {
    let Some(table) = args.model.samples.table()? else { return Ok(None) };
    let bad = |error: undertone_fusion::Error| table.problem(&error);
    let sensors = bundle.sensors().zip(bundle.policies());
    let sensors = sensors.map(|(name, policy)| (name.to_owned(), policy.draft().inputs().clone()));
    let (public, private) = (bundle.model().public(), bundle.model().private());
    let codebook = Codebook::known(public, private, sensors.collect()).map_err(bad)?;
    let mut columns = table.columns.clone();
    // There is one public label, whatever the table calls it.
    columns.public.name = public.name().to_owned();
    if let [label] = &mut columns.private[..] {
        label.name = private.name().to_owned();
    }
    let samples = codebook.samples(&columns).map_err(bad)?;
    let release = Release::Maps(bundle.maps()?);
    let units = table.sequence.as_deref();
    let evidence = Evidence { held_out: &samples, units, prior: None, chosen_with: None };
    let examined = compare::examine(&evidence, &release, args.confidence, args.seed)?;
    let rule = compare::rule_errors(&samples, &bundle.rule()?, &release, args.seed)?;
    Ok(Some(Judged { units: units.is_some(), samples, rule, examined }))
}

impl Judged {
    fn fields(&self) -> Value {
        let mut json = report::examined(&self.examined);
        let more = json!({
            "samples": self.samples.samples().len(),
            "rule_error_public": self.rule.public,
            "rule_error_private": self.rule.private,
            "blind_public": self.examined.blind.public,
            "blind_private": self.examined.blind.private,
        });
        report::merge(&mut json, more);
        json
    }

    fn describe(&self) -> String {
        let Examined { attackers, blind, counted, averaged, bound, .. } = &self.examined;
        let row = |what: &str, value: String, about: String| vec![what.into(), value, about];
        let share = |value: f64| format!("{value:.6}");
        let units = if self.units { "sequences" } else { "samples" };
        let rows = vec![
            row("H, the centre", share(self.rule.public), format!("blindly {:.6}", blind.public)),
            row("H, trees", share(attackers.public), "learned from half of the samples".into()),
            row("G, the centre", share(self.rule.private), format!("blindly {:.6}", blind.private)),
            row("G, trees", share(attackers.private), "learned from half of the samples".into()),
            row("counted", nats(*counted), "ST20 (12), from drawn outputs".into()),
            row("averaged", averaged.map_or("-".into(), nats), "over the maps' randomness".into()),
            row(
                "guarantee",
                nats(bound.nats),
                format!(
                    "with confidence {} from {} {units}, if they had no part in making the network and are independent",
                    bound.confidence, bound.units
                ),
            ),
        ];
        table(&["held out", "value", ""], rows)
    }
}

/// Errors about H and G: of the law, of the centre's rule, of the attacker; and what each sensor tells.
fn picture(
    args: &Args,
    seen: &Evaluation,
    model: &Model,
    judged: Option<&Judged>,
) -> Result<(), Failure> {
    let Some(path) = &args.plot else { return Ok(()) };
    let row = |label: String, values: [f64; 2], note: &str| plot::Dots {
        label,
        values: values.to_vec(),
        note: note.into(),
    };
    let mut rows =
        vec![row("Bayes".into(), [seen.error_public, seen.error_private], "best possible")];
    if let Some(Judged { rule, examined, .. }) = judged {
        rows.push(row("the centre".into(), [rule.public, rule.private], "on drawn outputs"));
        let Pair { public, private } = examined.attackers;
        rows.push(row("trees".into(), [public, private], "learned from labelled outputs"));
    }
    let level = if seen.information.nats.is_finite() {
        format!("information {:.3} nats", seen.information.nats)
    } else {
        "information unbounded".into()
    };
    let svg = plot::dots(&plot::DotPlot {
        title: format!(
            "Public {} and private {}: {} sensors, {level}",
            model.public().name(),
            model.private().name(),
            model.sensors().len()
        ),
        axis: "how often the guess is wrong".into(),
        series: vec!["public hypothesis".into(), "private hypothesis".into()],
        rows,
        marks: vec![("H blind".into(), seen.blind_public), ("G blind".into(), seen.blind_private)],
    })?;
    plot::save(path, &svg)
}

fn maps(args: &Args) -> Result<Outcome, Failure> {
    let Some(path) = &args.maps else {
        return Err(Failure::usage("give a network file, or --maps with --model"));
    };
    let model: Model = args.model.read()?.model;
    let expected = "a list of matrices, one per sensor, one row per reading";
    let bad = |error: undertone_design::Error| {
        Failure::input(format!("{}: {error}; expected {expected}", path.display()))
    };
    let matrices: Vec<Vec<Vec<f64>>> = input::json(path, expected)?;
    let channels = matrices.into_iter().map(Channel::new).collect::<Result<_, _>>();
    let maps = channels.and_then(Maps::new).map_err(bad)?;
    let seen = Evaluation::new(&model, &maps).map_err(bad)?;
    picture(args, &seen, &model, None)?;
    let mut json = report::fields(&seen, &model);
    report::merge(&mut json, json!({"certified": false, "policies": []}));
    let text = format!(
        "{}\n\n{}",
        report::learned(&seen, &model, None, "in one epoch; as floats, not certified"),
        report::sensors(&seen, &model, None)
    );
    Ok(Outcome::good(json, text))
}
