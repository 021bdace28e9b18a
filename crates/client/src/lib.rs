//! Undertone on a person's device: fetch a policy, verify it, randomise, remember, send.
//!
//! The raw answer never leaves [`Client::answer`]: what is stored on the device and what goes over
//! the network is the [`Report`](undertone_core::Report) only. In order, an answer
//!
//! 1. is looked up: the same datum under the same policy repeats the same report, whatever the
//!    answer is now, because a second draw would tell more than the first;
//! 2. is held against the person's [`Consent`], by what it attains together with everything released about
//!    the same datum before, whatever the survey was called;
//! 3. is charged to three budgets, all of which must allow it: that of its question, of the collector, and of the device over
//!    all collectors ([`Budgets`]);
//! 4. is drawn with bytes of the system's generator;
//! 5. is written to the device, together with the charge, and synced;
//! 6. is sent, and sent again with the same report id until the curator acknowledges or finally
//!    refuses it. Without a network it waits on the device for [`Client::flush`].
//!
//! ```no_run
//! use undertone_client::{Client, Device};
//! let mut client = Client::new("https://survey.example", Device::memory())?;
//! let survey = client.survey("commute")?;
//! let answer = client.answer_named(&survey, "by bicycle")?;
//! println!("{} {:?}", answer.report.to_json(), answer.delivery);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A survey that was fetched once can be answered without a network: the device keeps its description and policy in a file
//! beside its own, verifies them again when they are read, and the report waits as any other does.
//!
//! Many simulated people share one connection:
//!
//! ```no_run
//! use undertone_client::{Client, Connection, Device};
//! let connection = Connection::new("http://127.0.0.1:8080")?;
//! let survey = connection.survey("commute")?;
//! for person in 0..1000 {
//!     let symbol = survey.alphabet().symbol(person % 3)?;
//!     Client::with_connection(connection.clone(), Device::memory()).answer(&survey, symbol)?;
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod budget;
mod client;
mod connection;
mod datum;
mod day;
mod device;
mod random;
mod submit;
mod survey;

pub use budget::{Account, Budget, Budgets, Level, OverBudget};
pub use client::{Answer, Client, ClientError, Flushed};
pub use connection::{BadAddress, Connection, FetchError, Retry};
pub use day::Day;
pub use device::{
    Asking, Charge, Delivery, Device, DeviceError, KeptResponse, PlanPart, Refused, Remembered,
    Responded, ResponseError, Spending,
};
pub use submit::SubmitError;
pub use survey::Survey;
pub use undertone_core::{AboveConsent, Consent, SecretConsent};
pub use undertone_wire::{BatchForm, ProblemDocument};
