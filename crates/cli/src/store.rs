//! `undertone store`: whether a curator's store is sound, and copies of it.

use std::path::PathBuf;

use indicatif::ProgressBar;
use serde_json::json;
use undertone_curator::secret_file;
use undertone_curator::store::{self, Checked, Options, Password, StoreError};

use crate::failure::Failure;
use crate::input;
use crate::output::Outcome;
use crate::serve;

/// Check, back up and restore what a curator keeps.
///
/// A backup is a SQLite store of its own, whichever engine it is of: it can be checked, and restored into either
/// engine. Curators may go on working meanwhile. It holds what the store holds, so keep it as closely and delete it as
/// soon: what is erased from the store is not erased from its backups.
///
/// Example: undertone store backup --store sqlite:surveys.db --to monday.db
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Read everything: checksums of all rows, counts against tallies, the log's chain. Exit code 1 if something is wrong.
    Check(Address),
    /// Write everything into a new file, for your eyes only, and read it again.
    Backup {
        #[command(flatten)]
        store: Address,
        /// The file, which must not exist.
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
    },
    /// Make a store from a backup; there must be none yet.
    Restore {
        #[command(flatten)]
        store: Address,
        /// The backup.
        #[arg(long, value_name = "FILE")]
        from: PathBuf,
    },
}

/// Where a store is.
#[derive(clap::Args)]
pub(crate) struct Address {
    /// sqlite:FILE, or postgres://USER@HOST/DATABASE for several curators on one database; sqlite:undertone.db if
    /// nothing says otherwise.
    #[arg(long, value_name = "STORE", conflicts_with = "store_file")]
    store: Option<String>,
    /// A file with the store's address, for your eyes only (chmod 600).
    #[arg(long, value_name = "FILE")]
    store_file: Option<PathBuf>,
}

/// The environment variable with the store's address.
const VARIABLE: &str = "UNDERTONE_STORE";
/// The store if nothing says otherwise.
const USUAL: &str = "sqlite:undertone.db";

impl Address {
    /// The address, from wherever it was given.
    pub(crate) fn find(&self) -> Result<String, Failure> {
        let address = match (&self.store, &self.store_file) {
            (Some(address), _) => {
                let known = ["sqlite:", "postgres://", "postgresql://"];
                if !known.iter().any(|scheme| address.starts_with(scheme)) {
                    // Without the value: it may hold a password.
                    return Err(Failure::usage(
                        "--store: the store's address must be sqlite:FILE or postgres://USER@HOST/DATABASE",
                    ));
                }
                if store::shows_password(address) {
                    tracing::warn!(
                        "every user of this machine can read the password in --store: use --store-file or PGPASSFILE"
                    );
                }
                address.clone()
            }
            (None, Some(path)) => secret_file::read(path)?,
            (None, None) => std::env::var(VARIABLE).unwrap_or_else(|_| USUAL.into()),
        };
        let address = address.trim();
        #[cfg(not(feature = "postgres"))]
        if address.starts_with("postgres") {
            return Err(Failure::missing_feature(
                "postgres",
                "the store is PostgreSQL",
                "or keep reports in sqlite:FILE",
            ));
        }
        Ok(address.to_owned())
    }
}

/// Where libpq would look for a password.
pub(crate) fn password() -> Password {
    let file = std::env::var_os("PGPASSFILE").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".pgpass"));
    Password { text: std::env::var("PGPASSWORD").ok(), file: file.or_else(home) }
}

/// A store that cannot be used.
pub(crate) fn failed(error: StoreError) -> Failure {
    let more = match error {
        StoreError::Missing { .. } => " (undertone serve --create)",
        _ => "",
    };
    Failure::input(format!("--store: {error}{more}"))
}

/// A backup that cannot be written.
fn not_backed_up(error: StoreError) -> Failure {
    match error {
        StoreError::Unwritten(why) => Failure::input(format!("--to: {why}")),
        error => failed(error),
    }
}

/// A file that cannot be restored, or not there.
fn not_restored(error: StoreError) -> Failure {
    match error {
        StoreError::Missing { place } => {
            Failure::input(format!("--from: {place} is empty: give a backup"))
        }
        error @ (StoreError::NotAStore { .. }
        | StoreError::Older { .. }
        | StoreError::Newer { .. }) => Failure::input(format!("--from: {error}")),
        error => failed(error),
    }
}

pub(crate) fn run(args: &Args, json: bool) -> Result<Outcome, Failure> {
    serve::log(json, tracing_subscriber::filter::LevelFilter::WARN);
    let options = Options { create: false, password: password(), ..Options::default() };
    let bar = ProgressBar::new_spinner();
    let progress = |rows: u64| {
        bar.set_message(format!("{rows} rows"));
        bar.tick();
    };
    let runtime = serve::runtime()?;
    let (checked, words) = match &args.command {
        Command::Check(store) => {
            let address = store.find()?;
            let checked = runtime.block_on(store::check(&address, &options, &progress));
            let advice = "Stop the curators, keep the store as it is, and restore the last backup into a new one.";
            (checked.map_err(failed), ["sound".to_owned(), advice.into()])
        }
        Command::Backup { store, to } => {
            let address = store.find()?;
            let done = format!("written to {}, which only you can read", to.display());
            let checked = runtime.block_on(store::backup(&address, to, &options, &progress));
            let advice = "No backup was written. Stop the curators, keep the store as it is, and restore the last backup into a new one.";
            (checked.map_err(not_backed_up), [done, advice.into()])
        }
        Command::Restore { store, from } => {
            let address = store.find()?;
            if !from.exists() {
                let from = from.display();
                return Err(Failure::file(format!("--from: there is no file {from}")));
            }
            input::readable(from)?;
            let done = format!("restored from {}", from.display());
            let checked = runtime.block_on(store::restore(from, &address, &options, &progress));
            let advice = "Nothing was restored: take another backup.";
            (checked.map_err(not_restored), [done, advice.into()])
        }
    };
    bar.finish_and_clear();
    Ok(outcome(&checked?, words))
}

/// What was found; `done` or what to do instead.
fn outcome(checked: &Checked, [done, advice]: [String; 2]) -> Outcome {
    let good = checked.is_sound();
    let mut text = format!(
        "{} surveys with {} rounds, {} policies and {} entries in their logs; {} tokens\n\
         {} reports counted, {} repetitions left out, {} waiting to be counted; {} ids kept\n",
        checked.surveys,
        checked.rounds,
        checked.policies,
        checked.entries,
        checked.tokens,
        checked.reports,
        checked.duplicates,
        checked.waiting,
        checked.ids
    );
    for fault in &checked.faults {
        text += &format!("wrong: {fault}\n");
    }
    if checked.more_faults > 0 {
        text += &format!("wrong: {} more\n", checked.more_faults);
    }
    text += &format!("{}\n", if good { done } else { advice });
    let mut document = json!(checked);
    document["sound"] = json!(good);
    Outcome { json: document, text, good }
}
