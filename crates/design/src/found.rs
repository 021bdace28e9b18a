//! How long the name of a symbol may be, in data and in documents.

use crate::Error;

/// The longest name of a symbol in data and priors, in bytes.
pub const LONGEST_NAME: usize = 1000;

/// Refuses a name that is too long to be one; `what` says whose.
pub fn check_name(what: impl FnOnce() -> String, name: &str) -> Result<(), Error> {
    if name.len() <= LONGEST_NAME {
        return Ok(());
    }
    // The name itself stays out of the message: it is long, and may be somebody's answer.
    let problem =
        format!("has {} bytes, and the name of a symbol has at most {LONGEST_NAME}", name.len());
    Err(Error::other(what(), problem))
}

/// [`check_name`] for a list of symbols.
pub fn check_names(names: &[String]) -> Result<(), Error> {
    let mut names = names.iter().enumerate();
    names.try_for_each(|(at, name)| check_name(|| format!("symbols[{at}]"), name))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn names_have_at_most_a_thousand_bytes() {
        assert!(check_names(&["x".repeat(LONGEST_NAME)]).is_ok());
        let long = check_names(&["a".into(), "é".repeat(LONGEST_NAME)]).unwrap_err().to_string();
        assert!(long.contains("symbols[1]") && long.contains("2000 bytes"), "{long}");
        assert!(long.contains("at most 1000") && !long.contains('é'), "{long}");
    }
}
