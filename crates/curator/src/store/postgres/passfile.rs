//! PostgreSQL's password file: lines of `host:port:database:user:password`, as libpq reads them.

use crate::secret_file;
use crate::store::StoreError;
use std::path::Path;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

/// Where a connection goes, as a line of the file names it.
struct Place<'a> {
    host: String,
    port: String,
    database: &'a str,
    user: &'a str,
}

/// The password for a connection, if the file has one. A file that is not there has none.
pub(super) fn password(file: &Path, config: &Config) -> Result<Option<String>, StoreError> {
    if !file.exists() {
        return Ok(None);
    }
    let text =
        secret_file::read(file).map_err(|error| StoreError::Unavailable(error.to_string()))?;
    Ok(places(config).iter().find_map(|place| find(&text, place)))
}

fn places(config: &Config) -> Vec<Place<'_>> {
    let user = config.get_user().unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    let place = |(at, host): (usize, &Host)| {
        let ports = config.get_ports();
        let port = ports.get(at).or(ports.first()).copied().unwrap_or(5432);
        let host = match host {
            Host::Tcp(name) => name.clone(),
            #[cfg(unix)]
            Host::Unix(path) => path.display().to_string(),
        };
        Place { host, port: port.to_string(), database, user }
    };
    config.get_hosts().iter().enumerate().map(place).collect()
}

/// The password of the first line that matches.
fn find(text: &str, place: &Place<'_>) -> Option<String> {
    let wanted = [&*place.host, &*place.port, place.database, place.user];
    text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let fields = fields(line);
        let [of @ .., password] = &fields[..] else { return None };
        let matches = of.len() == wanted.len()
            && of.iter().zip(wanted).all(|(field, wanted)| field == "*" || field == wanted);
        matches.then(|| password.clone())
    })
}

/// The fields of a line. A backslash makes a colon or a backslash part of its field; the last field, the
/// fifth, takes what is left.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut rest = line.chars();
    while let Some(character) = rest.next() {
        if character == ':' && fields.len() < 5 {
            fields.push(String::new());
            continue;
        }
        let kept = if character == '\\' { rest.next().unwrap_or('\\') } else { character };
        if let Some(last) = fields.last_mut() {
            last.push(kept);
        }
    }
    fields
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn lookup(text: &str, address: &str) -> Option<String> {
        let config: Config = address.parse().unwrap();
        places(&config).iter().find_map(|place| find(text, place))
    }

    #[test]
    fn the_first_line_that_matches_counts() {
        let text = "# host:port:database:user:password\n\
                    db:5432:other:curator:wrong\n\
                    db:*:surveys:curator:se\\:cr\\\\et:with colons\n\
                    *:*:*:*:anybody's\n";
        let found = |address| lookup(text, address);
        assert_eq!(found("postgres://curator@db/surveys").unwrap(), "se:cr\\et:with colons");
        assert_eq!(found("postgres://curator@db:5433/surveys").unwrap(), "se:cr\\et:with colons");
        assert_eq!(found("postgres://curator@db/other").unwrap(), "wrong");
        assert_eq!(found("postgres://curator@db:1/other").unwrap(), "anybody's");
        assert_eq!(lookup("db:5432:d:u:p", "postgres://u@%2Frun%2Fpg/d"), None);
        assert_eq!(lookup("/run/pg:5432:d:u:p", "postgres://u@%2Frun%2Fpg/d").unwrap(), "p");
        assert_eq!(lookup("a:1:d:u:one\nb:2:d:u:two", "postgres://u@b:2/d").unwrap(), "two");
        for bad in ["", "db", "db:5432:surveys:curator", ":::::", "# *:*:*:*:x"] {
            assert_eq!(lookup(bad, "postgres://curator@db/surveys"), None, "{bad}");
        }
    }
}
