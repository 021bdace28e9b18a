//! `undertone fusion evaluate`: what the centre learns under given maps.

use std::path::PathBuf;

use serde_json::{Value, json};
use undertone_design::Channel;
use undertone_fusion::{Bundle, Evaluation, Maps, Model};

use super::report;
use super::source::ModelArgs;
use crate::failure::Failure;
use crate::input;
use crate::output::Outcome;

/// Say what the centre learns of the public hypothesis, of the private one and of every reading.
///
/// A network file is verified first: every policy by the kernel, the certificate by computing it anew.
/// With --model or --samples its maps are judged under that law instead of the network's own, which is
/// how to see what a wrong model costs.
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
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    match &args.network {
        Some(path) => {
            let bundle = Bundle::from_json(&input::text(path)?)
                .map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
            network(&bundle, &args.model)
        }
        None => maps(args),
    }
}

fn network(bundle: &Bundle, other: &ModelArgs) -> Result<Outcome, Failure> {
    let foreign = other.given();
    let model = if foreign { other.read()?.model } else { bundle.float_model()? };
    let seen = Evaluation::new(&model, &bundle.maps()?)?;
    let mut json = report::fields(&seen, &model);
    let certificate = bundle.certificate();
    let mut more = json!({
        "bundle_id": bundle.id(),
        "method": bundle.origin().method,
        "ldp": certificate.ldp.iter().map(|&nats| report::float(nats)).collect::<Vec<_>>(),
        "policies": bundle.policies().iter().map(|p| p.id().to_string()).collect::<Vec<_>>(),
        "certified": !foreign,
    });
    if !foreign {
        let attained = certificate.after(1).and_then(|line| line.information);
        more["information"] = attained.map_or(json!("inf"), |nats| json!(report::float(nats)));
        more["epochs"] = report::epochs(certificate);
    }
    merge(&mut json, more);
    let about = if foreign {
        "in one epoch, under the model given; not certified"
    } else {
        "in one epoch; certified under the network's own model"
    };
    let mut text = report::learned(&seen, &model, (!foreign).then_some(certificate), about);
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
    Ok(Outcome::good(json, text))
}

fn maps(args: &Args) -> Result<Outcome, Failure> {
    let Some(path) = &args.maps else {
        return Err(Failure::usage("give a network file, or --maps with --model"));
    };
    let model: Model = args.model.read()?.model;
    let bad = |error: &dyn std::fmt::Display| {
        Failure::input(format!(
            "{}: {error}; expected a list of matrices, one per sensor, one row per reading",
            path.display()
        ))
    };
    let matrices: Vec<Vec<Vec<f64>>> =
        serde_json::from_str(&input::text(path)?).map_err(|error| bad(&error))?;
    let channels = matrices.into_iter().map(Channel::new).collect::<Result<_, _>>();
    let maps = channels.and_then(Maps::new).map_err(|error| bad(&error))?;
    let seen = Evaluation::new(&model, &maps).map_err(|error| bad(&error))?;
    let mut json = report::fields(&seen, &model);
    merge(&mut json, json!({"certified": false, "policies": []}));
    let text = format!(
        "{}\n\n{}",
        report::learned(&seen, &model, None, "in one epoch; as floats, not certified"),
        report::sensors(&seen, &model, None)
    );
    Ok(Outcome::good(json, text))
}

fn merge(into: &mut Value, more: Value) {
    if let (Value::Object(all), Value::Object(more)) = (into, more) {
        all.extend(more);
    }
}
