//! Which broker, and who connects to it.

use std::path::{Path, PathBuf};

use undertone_fusion::Bundle;
use undertone_fusion::runtime::{Address, Budget, Identity, LinkOptions, client_config};

use crate::failure::Failure;
use crate::input;

/// The broker and what it asks for.
#[derive(clap::Args)]
pub(super) struct BrokerArgs {
    /// The broker: mqtt://host:port, or mqtts://host:port for TLS.
    #[arg(long)]
    pub(super) broker: Option<String>,
    #[command(flatten)]
    pub(super) proof: ProofArgs,
}

/// How broker and client prove to each other who they are.
#[derive(clap::Args)]
pub(super) struct ProofArgs {
    /// The certificate of the authority that certified the broker (PEM); needed for mqtts.
    #[arg(long)]
    ca: Option<PathBuf>,
    /// This process's own certificate (PEM).
    #[arg(long, requires = "key")]
    cert: Option<PathBuf>,
    /// The private key of --cert (PEM).
    #[arg(long, requires = "cert")]
    key: Option<PathBuf>,
    /// The user name at the broker.
    #[arg(long, requires = "password_file")]
    username: Option<String>,
    /// A file whose first line is the password.
    #[arg(long, requires = "username")]
    password_file: Option<PathBuf>,
}

impl BrokerArgs {
    /// How to connect; the client's name is set by whoever connects.
    pub(super) fn options(&self) -> Result<LinkOptions, Failure> {
        let Some(broker) = &self.broker else {
            return Err(Failure::usage("give --broker: mqtt://host:port or mqtts://host:port"));
        };
        self.proof.options(broker)
    }
}

impl ProofArgs {
    /// How to connect to this broker.
    pub(super) fn options(&self, broker: &str) -> Result<LinkOptions, Failure> {
        let address: Address = broker.parse::<Address>()?;
        let mut options = LinkOptions::new(address, String::new());
        match (&self.ca, options.address.secure) {
            (Some(ca), true) => {
                for path in [Some(ca), self.cert.as_ref(), self.key.as_ref()].into_iter().flatten()
                {
                    input::readable(path)?;
                }
                let identity = self.cert.clone().zip(self.key.clone());
                let identity = identity.map(|(certificate, key)| Identity { certificate, key });
                options.tls = Some(client_config(ca, identity.as_ref())?);
            }
            (None, true) => {
                return Err(Failure::usage(
                    "mqtts needs --ca: the certificate of the authority that certified the broker",
                ));
            }
            (_, false) if self.ca.is_some() || self.cert.is_some() => {
                return Err(Failure::usage(
                    "certificates are for encrypted connections: write mqtts:// instead of mqtt://",
                ));
            }
            _ => {}
        }
        if let (Some(name), Some(path)) = (&self.username, &self.password_file) {
            let text = input::text(path)?;
            let password = text.lines().next().unwrap_or_default();
            if password.is_empty() {
                return Err(Failure::input(format!("{}: its first line is empty", path.display())));
            }
            if !options.address.secure && !options.address.is_local() {
                eprintln!("warning: the password travels unencrypted: use mqtts://");
            }
            options.credentials = Some((name.clone(), password.to_owned()));
        }
        Ok(options)
    }
}

/// Which epochs may be used.
#[derive(clap::Args)]
pub(super) struct BudgetArgs {
    /// Use fewer epochs than the network was certified for.
    #[arg(long)]
    epochs: Option<u32>,
    /// The first epoch of the budget when the state file is begun (default: 1). The same for all sensors
    /// and the centre.
    #[arg(long)]
    pub(super) first_epoch: Option<u64>,
    /// Begin a new budget with this epoch, the same for all sensors and the centre. Only when the private
    /// value is a new one.
    #[arg(long, value_name = "EPOCH")]
    pub(super) reset: Option<u64>,
}

impl BudgetArgs {
    /// The budget of this network.
    pub(super) fn budget(&self, bundle: &Bundle) -> Result<Budget, Failure> {
        Ok(Budget::new(bundle, self.first_epoch.unwrap_or(1), self.epochs)?)
    }
}

/// A bundle from a file, with everything in it checked again.
pub(super) fn bundle(path: &Path) -> Result<Bundle, Failure> {
    input::document(path, Bundle::from_json)
}

/// Runs until it ends, with timers and connections.
pub(super) fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| Failure::input(format!("cannot start: {error}")))?
        .block_on(work)
}

/// When somebody asks the process to end.
pub(super) async fn end_asked() {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = tokio::signal::ctrl_c() => {}
            }
            return;
        }
    }
    let _ = tokio::signal::ctrl_c().await;
}
