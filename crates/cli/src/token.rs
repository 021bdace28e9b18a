//! `undertone token`: who may do what with a curator's surveys.

use serde_json::json;
use undertone_curator::clock::{Clock, SystemClock, SystemRandomness};
use undertone_curator::service::tokens::{self, COMMAND, NewToken, ShownToken};
use undertone_curator::store::{self, Options};

use crate::failure::Failure;
use crate::output::{Outcome, table};
use crate::serve;
use crate::store::{Address, failed, password};

/// Make, list, revoke and rotate named tokens.
///
/// It works on the store and not over HTTP: whoever can write to the store can do everything anyway, so it needs no other
/// token, and it is the way back in if the owner's is lost. Running curators notice within a second. Over HTTP the same
/// is at /v1/tokens.
///
/// Roles: owner (everything; of one survey, all but making surveys and tokens), analyst (estimates before release),
/// officer (pause, close, delete; no estimates), admission (state and counts).
///
/// Example: undertone token create --store sqlite:surveys.db --name Ann --role analyst --survey commuting
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Make a token and print it, this once; the store keeps its hash.
    Create {
        #[command(flatten)]
        store: Address,
        /// Who will have it: the log names them so.
        #[arg(long, value_name = "NAME")]
        name: String,
        /// What they may do: owner, analyst, officer or admission.
        #[arg(long, value_name = "ROLE")]
        role: String,
        /// The one survey it is for; left out, it is for all.
        #[arg(long, value_name = "SURVEY")]
        survey: Option<String>,
    },
    /// List all tokens, revoked ones too, without themselves.
    List(Address),
    /// Revoke a token for good.
    Revoke {
        #[command(flatten)]
        store: Address,
        /// Its id, as `list` shows it.
        #[arg(long, value_name = "ID")]
        id: String,
    },
    /// Revoke a token and make another for the same person and purpose.
    Rotate {
        #[command(flatten)]
        store: Address,
        /// Its id, as `list` shows it.
        #[arg(long, value_name = "ID")]
        id: String,
    },
}

pub(crate) fn run(args: &Args, json: bool) -> Result<Outcome, Failure> {
    serve::log(json, tracing_subscriber::filter::LevelFilter::WARN);
    let options = Options { create: false, password: password(), ..Options::default() };
    let (Command::Create { store, .. }
    | Command::List(store)
    | Command::Revoke { store, .. }
    | Command::Rotate { store, .. }) = &args.command;
    let address = store.find()?;
    serve::runtime()?.block_on(async {
        let store = store::open_with(&address, options).await.map_err(failed)?;
        let by = (SystemClock.now(), COMMAND);
        let made = match &args.command {
            Command::List(_) => {
                return Ok(listed(&tokens::list(&*store).await.map_err(Failure::input)?));
            }
            Command::Create { name, role, survey, .. } => {
                let new =
                    NewToken { name: name.clone(), role: role.clone(), survey: survey.clone() };
                tokens::create(&*store, &SystemRandomness, by, new).await
            }
            Command::Revoke { id, .. } => tokens::revoke(&*store, by, id).await,
            Command::Rotate { id, .. } => tokens::rotate(&*store, &SystemRandomness, by, id).await,
        };
        let made = made.map_err(|problem| match problem.code.name() {
            "not_found" => {
                Failure::input(format!("--id: {}: see `undertone token list`", problem.detail))
            }
            _ => Failure::input(problem.detail),
        })?;
        let text = match &made.token {
            Some(token) => format!("token {} for {}, shown once: {token}\n", made.id, made.name),
            None => format!("token {} of {} is revoked\n", made.id, made.name),
        };
        Ok(Outcome::good(json!(made), text))
    })
}

fn listed(tokens: &[ShownToken]) -> Outcome {
    let row = |one: &ShownToken| {
        let revoked = match (&one.revoked, &one.revoked_by) {
            (Some(at), Some(by)) => format!("{at} by {by}"),
            _ => String::new(),
        };
        let survey = one.survey.clone().unwrap_or_else(|| "all".into());
        let made = format!("{} by {}", one.created, one.created_by);
        vec![one.id.clone(), one.name.clone(), one.role.clone(), survey, made, revoked]
    };
    let text = match tokens {
        [] => "there are no named tokens\n".into(),
        _ => table(
            &["id", "name", "role", "survey", "made", "revoked"],
            tokens.iter().map(row).collect(),
        ),
    };
    Outcome::good(json!({"tokens": tokens}), text)
}
