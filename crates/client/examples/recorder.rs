//! Records answers on a device's file as it is told, line by line: the Rust half of the tests of the device's lock, which run
//! against `bindings/js/test/lib/recorder.mjs` on the same file.
//!
//!     record PATH CURATOR SURVEY    draws one answer without sending it: recorded, repeated, refused or in_use
//!     hold PATH                     opens the device and keeps it: held
//!     move PATH LEDGER              exports the device's ledger into a new file: moved
//!     take PATH LEDGER              imports a ledger: taken

use std::io::{BufRead, Write};
use std::time::Duration;
use undertone_client::{Client, ClientError, Day, Device, DeviceError};

/// How often a device that somebody else has open is tried again, and how long is waited in between.
const TRIES: usize = 4000;
const WAIT: Duration = Duration::from_millis(5);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut held = Vec::new();
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let outcome = match words.as_slice() {
            ["record", path, curator, survey] => record(path, curator, survey)?,
            ["hold", path] => {
                held.push(Device::open(path)?);
                "held"
            }
            ["move", path, ledger] => {
                Device::open(path)?.export(ledger, Day::today())?;
                "moved"
            }
            ["take", path, ledger] => {
                Device::open(path)?.import(ledger)?;
                "taken"
            }
            _ => return Err(format!("{line:?} is no command").into()),
        };
        let mut out = std::io::stdout().lock();
        writeln!(out, "{outcome}")?;
        out.flush()?;
    }
    Ok(())
}

fn record(
    path: &str,
    curator: &str,
    survey: &str,
) -> Result<&'static str, Box<dyn std::error::Error>> {
    for _ in 0..TRIES {
        let device = match Device::open(path) {
            Ok(device) => device,
            Err(DeviceError::InUse { .. }) => {
                std::thread::sleep(WAIT);
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        let mut client = Client::new(curator, device)?;
        let survey = client.survey(survey)?;
        let symbol = survey.alphabet().symbol(0)?;
        return match client.record(&survey, symbol) {
            Ok((_, false)) => Ok("recorded"),
            Ok((_, true)) => Ok("repeated"),
            Err(ClientError::Budget(_) | ClientError::Ledger(_) | ClientError::Consent(_)) => {
                Ok("refused")
            }
            Err(error) => Err(error.into()),
        };
    }
    Ok("in_use")
}
