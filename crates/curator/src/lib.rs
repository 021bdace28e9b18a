//! Undertone's collector: surveys, rounds, reports and estimates over HTTP.
//!
//! [`Curator`] is a function from its dependencies ([`App`]: a store, a clock, randomness, the owner's token) to a
//! router; [`server::serve`] puts it on a socket. The curator is not trusted with answers: devices check its
//! policies before they use them, and what arrives here is randomised already.
//!
//! ```no_run
//! use std::sync::Arc;
//! use undertone_curator::clock::{SystemClock, SystemRandomness};
//! use undertone_curator::server::{self, Limits};
//! use undertone_curator::{App, Curator, Settings, auth::OwnerToken, store};
//!
//! # async fn serve() -> Result<(), Box<dyn std::error::Error>> {
//! let curator = Curator::new(App {
//!     store: store::open("sqlite:survey.db").await?,
//!     clock: Arc::new(SystemClock),
//!     randomness: Arc::new(SystemRandomness),
//!     owner: OwnerToken::new(&std::env::var("OWNER_TOKEN")?)?,
//!     settings: Settings::default(),
//! });
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8080").await?;
//! server::serve(&curator, listener, None, Limits::default(), std::future::pending()).await?;
//! # Ok(())
//! # }
//! ```
//!
//! Three layers, each of which knows the one below: [`routes`] parses and shows, [`service`] has the use cases, [`store`] keeps.
//!
//! * **Rounds** ([`service::survey`], [`service::design`], [`service::learning`]): a survey without a prior begins under LDP; what a
//!   sealed round says becomes a box of priors, and the next policy's LIP claim holds for every prior in it. What
//!   rounds cost is accounted in attained LDP against the plan's total.
//! * **Reports** ([`undertone_wire`]): a body is taken as a whole, after it is on disk, or not at all; repetitions are
//!   struck out before anything is counted ([`store`]).
//! * **Answers** ([`service::estimates`], [`service::gain`]): the headline never uses the prior; what an
//!   observer can learn, what invented reports can do and what was gained over LDP stand beside it.
//! * **Limits** ([`limit`], [`flight`], [`server::Limits`]): reports and requests per address, bytes in memory, connections,
//!   time, the size of the store. The owner's token is compared before any of them is applied.
//! * **Refusals** ([`undertone_wire::Code`]) have stable codes.

pub mod auth;
pub mod clock;
pub mod flight;
pub mod limit;
pub mod metrics;
pub mod routes;
pub mod secret_file;
pub mod server;
pub mod service;
pub mod store;
pub mod web;

pub use routes::Curator;
pub use service::{App, Settings};
