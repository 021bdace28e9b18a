//! Where a broker is: `mqtt://host:port` or `mqtts://host:port`.

use std::fmt;
use std::str::FromStr;

use undertone::Error;
use undertone::error::mention;

/// A broker's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Whether the connection is encrypted.
    pub secure: bool,
    /// Its name or number.
    pub host: String,
    /// Its port.
    pub port: u16,
}

impl Address {
    /// A plain broker on this machine.
    pub fn local(port: u16) -> Self {
        Self { secure: false, host: "127.0.0.1".into(), port }
    }

    /// Whether the broker is on this machine.
    pub fn is_local(&self) -> bool {
        matches!(self.host.as_str(), "localhost" | "127.0.0.1" | "[::1]")
    }
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let refuse = |problem: &str| {
            let problem =
                format!("{problem}; write mqtt://host:port, or mqtts://host:port for TLS");
            Error::usage(format!("broker {text:?}: {problem}"))
        };
        let (secure, rest) = match text.split_once("://") {
            Some(("mqtt", rest)) => (false, rest),
            Some(("mqtts", rest)) => (true, rest),
            _ => return Err(refuse("begins with neither mqtt:// nor mqtts://")),
        };
        if rest.contains('@') {
            // The address itself is not repeated: it holds a password.
            return Err(Error::usage(format!(
                "broker: holds a user name: addresses are seen by everyone on the machine; give {} and {}",
                mention("username"),
                mention("password_file")
            )));
        }
        let rest = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = match rest.rfind(']').map(|end| rest.split_at(end + 1)) {
            Some((host, "")) => (host, None),
            Some((host, port)) => (host, Some(port.strip_prefix(':').unwrap_or("none"))),
            None => match rest.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (rest, None),
            },
        };
        let port = match port {
            None => {
                if secure {
                    8883
                } else {
                    1883
                }
            }
            Some(port) => port
                .parse()
                .ok()
                .filter(|&port| port > 0)
                .ok_or_else(|| refuse("has no port between 1 and 65535"))?,
        };
        let odd = |c: char| c.is_whitespace() || c.is_control() || "/?#\"".contains(c);
        if host.is_empty() || host.contains(odd) {
            return Err(refuse("names no host"));
        }
        Ok(Self { secure, host: host.into(), port })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.secure { "mqtts" } else { "mqtt" };
        write!(f, "{scheme}://{}:{}", self.host, self.port)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written() {
        for (text, secure, host, port) in [
            ("mqtt://localhost", false, "localhost", 1883),
            ("mqtts://hub.example/", true, "hub.example", 8883),
            ("mqtt://10.0.0.7:99", false, "10.0.0.7", 99),
            ("mqtt://[::1]:1884", false, "[::1]", 1884),
            ("mqtt://[::1]", false, "[::1]", 1883),
            ("mqtts://[2001:db8::7]", true, "[2001:db8::7]", 8883),
        ] {
            let read: Address = text.parse().unwrap();
            assert_eq!(read, Address { secure, host: host.into(), port }, "{text}");
            assert_eq!(read.to_string().parse::<Address>().unwrap(), read);
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "",
            "localhost",
            "http://x",
            "mqtt://",
            "mqtt://:1",
            "mqtt://x:0",
            "mqtt://x:70000",
            "mqtt://x:y",
            "mqtt://a b",
            "mqtt://a/b",
            "mqtt://[::1]1",
        ] {
            let error = text.parse::<Address>().unwrap_err().to_string();
            assert!(error.contains("mqtt://host:port"), "{text}: {error}");
        }
        let error = "mqtt://me:secret@host".parse::<Address>().unwrap_err().to_string();
        assert!(error.contains("password_file") && !error.contains("secret"), "{error}");
    }
}
