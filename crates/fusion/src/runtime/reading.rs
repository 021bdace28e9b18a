//! Values as they reach a sensor, and the epochs they belong to.

use std::time::Duration;

use undertone::Error;
use undertone::error::mention;

/// One value, and its epoch if the source says which.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The epoch; without one it is the sensor's next.
    pub epoch: Option<u64>,
    /// The value, as it was written.
    pub cell: String,
}

/// How values become epochs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Numbering {
    /// Every value is an epoch.
    Counted,
    /// Every line or message is an epoch's number, a space and the value.
    Numbered,
    /// An epoch is so many seconds of the clock, and its first value counts.
    Clock(f64),
}

impl Numbering {
    /// Epochs of so many seconds.
    pub fn by_clock(seconds: f64) -> Result<Self, Error> {
        if (1e-3..=1e9).contains(&seconds) {
            return Ok(Self::Clock(seconds));
        }
        let problem = format!("is {seconds}: give a number of seconds from 0.001 to 1e9");
        Err(Error::field("epoch_seconds", problem))
    }

    /// Reads one line or message; `now` is the time since 1970.
    pub fn read(self, text: &str, now: Duration) -> Result<Reading, Error> {
        let text = text.trim();
        match self {
            Self::Counted => Ok(Reading { epoch: None, cell: text.into() }),
            Self::Numbered => {
                let (epoch, cell) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
                let epoch = epoch.parse().map_err(|_| {
                    // The value itself stays out of the message: it is the secret.
                    let field = mention("numbered");
                    Error::input(format!("{field}: a line does not begin with an epoch's number"))
                })?;
                Ok(Reading { epoch: Some(epoch), cell: cell.trim().into() })
            }
            Self::Clock(seconds) => {
                let epoch = (now.as_secs_f64() / seconds) as u64;
                Ok(Reading { epoch: Some(epoch), cell: text.into() })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn values_belong_to_epochs() {
        let now = Duration::from_secs(100);
        let read = |numbering: Numbering, text: &str| {
            let Reading { epoch, cell } = numbering.read(text, now).unwrap();
            (epoch, cell)
        };
        assert_eq!(read(Numbering::Counted, " 5 \n"), (None, "5".into()));
        assert_eq!(read(Numbering::Numbered, "7  warm day"), (Some(7), "warm day".into()));
        assert_eq!(read(Numbering::by_clock(30.0).unwrap(), "5"), (Some(3), "5".into()));
        assert!(Numbering::by_clock(f64::NAN).is_err() && Numbering::by_clock(0.0).is_err());
        let said = Numbering::Numbered.read("secret", now).unwrap_err().to_string();
        assert!(said.starts_with("numbered: ") && !said.contains("secret"), "{said}");
    }
}
