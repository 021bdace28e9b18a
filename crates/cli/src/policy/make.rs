//! A policy from one's own mechanism.

use std::path::{Path, PathBuf};

use undertone::Answer;
use undertone::design::Protection;
use undertone::policy_make::{self, MakeRequest, OwnClaims, OwnMechanism};

use crate::failure::Failure;
use crate::input;
use crate::output::{Outcome, save};

/// Make a policy of a mechanism you have: a channel, k-ary randomised response, bits, or a classical survey design.
///
/// What it attains becomes its claims, rounded up, unless --claim asks for others. Exit 1 with the offending cell if a
/// claim is false. Example: undertone policy make --design crosswise:0.25 --symbols no,plagiarised -o policy.json
#[derive(clap::Args)]
pub(super) struct Args {
    /// channel:FILE, krr:K,EPS, bits:K,P,Q, warner:P, forced:P,P1,P0 (truth, forced yes, forced no; they sum to 1),
    /// unrelated:P,ALPHA, kuk:P1,P2, crosswise:P, triangular:P or mangat:P. Probabilities may be fractions, such as 1/12.
    #[arg(long)]
    design: String,
    /// What the inputs are called, the sensitive answer last; no,yes for a survey design.
    #[arg(long, value_delimiter = ',', value_name = "A,B,..")]
    symbols: Vec<String>,
    /// A claim to make instead of what is attained: ldp:E, lip:E (needs --prior), each also with ,DELTA (repeatable); or
    /// none, for estimation only.
    #[arg(long, value_name = "CLAIM")]
    claim: Vec<String>,
    /// The prior, for claims about belief.
    #[arg(long)]
    prior: Option<PathBuf>,
    /// Write the policy document here.
    #[arg(short, long)]
    output: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> Result<Outcome, Failure> {
    let mechanism = OwnMechanism::read(&args.design, |file| input::channel(Path::new(file)))?;
    let claims = match args.claim.as_slice() {
        [] => OwnClaims::Attained,
        [none] if none == "none" => OwnClaims::Nothing,
        list if list.iter().any(|claim| claim == "none") => {
            return Err(Failure::usage("--claim none stands alone: leave the other claims out"));
        }
        list => OwnClaims::These(list.iter().map(|text| claim(text)).collect::<Result<_, _>>()?),
    };
    let made = policy_make::make(&MakeRequest {
        mechanism,
        symbols: args.symbols.clone(),
        prior: args.prior.as_deref().map(input::prior).transpose()?,
        claims,
    })?;
    let mut text = made.words();
    if let (Some(path), Some(policy)) = (&args.output, &made.policy) {
        save(path, &policy.to_json())?;
        text += &format!("\npolicy written to {}", path.display());
    }
    Ok(Outcome::of(&made, text))
}

fn claim(text: &str) -> Result<Protection, Failure> {
    text.parse().map_err(|_| {
        Failure::usage(format!("--claim is {text:?}: write ldp:1, lip:1, alip:0.5,1, di:3, each of the first three also with ,DELTA, or none"))
    })
}
