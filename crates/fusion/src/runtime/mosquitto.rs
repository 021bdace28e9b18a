//! The system's Mosquitto, started for a demonstration or a test.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use undertone_design::Error;

/// A Mosquitto of our own on the loopback interface. It is killed when this is dropped.
#[derive(Debug)]
pub struct Mosquitto {
    child: Child,
    port: u16,
}

impl Mosquitto {
    /// Where the program is, if it is installed.
    pub fn find() -> Option<PathBuf> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        // Brokers are often where only the administrator's search path leads.
        let folders = std::env::split_paths(&path)
            .chain(["/usr/sbin", "/usr/local/sbin"].into_iter().map(PathBuf::from));
        folders.map(|folder| folder.join("mosquitto")).find(|program| program.is_file())
    }

    /// Starts it with its configuration in `folder`, and waits until it listens. `lines` are added to
    /// the configuration of its only listener; without any, everybody on this machine may connect.
    pub async fn start(
        program: &Path,
        folder: &Path,
        port: u16,
        lines: &[String],
    ) -> Result<Self, Error> {
        let fail = |error: &dyn std::fmt::Display| Error::other("mosquitto", error.to_string());
        let mut config = format!("persistence false\nlistener {port} 127.0.0.1\n");
        if lines.is_empty() {
            config += "allow_anonymous true\n";
        }
        for line in lines {
            config += &format!("{line}\n");
        }
        // Started by the administrator it would become another user, who cannot read the folder.
        if owner(folder) == Some(0) {
            config += "user root\n";
        }
        let file = folder.join(format!("mosquitto-{port}.conf"));
        std::fs::write(&file, config).map_err(|error| fail(&error))?;
        let log = std::fs::File::create(folder.join(format!("mosquitto-{port}.log")))
            .map_err(|error| fail(&error))?;
        let child = Command::new(program)
            .arg("-c")
            .arg(&file)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|error| fail(&error))?;
        let mut broker = Self { child, port };
        let limit = Instant::now() + Duration::from_secs(20);
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.is_err() {
            if let Ok(Some(status)) = broker.child.try_wait() {
                return Err(fail(&format!("it ended with {status}; is port {port} taken?")));
            }
            if Instant::now() > limit {
                return Err(fail(&format!("it does not listen on port {port}")));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(broker)
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Ends it at once.
    pub fn kill(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Mosquitto {
    fn drop(&mut self) {
        self.end();
    }
}

/// A port of the loopback interface that was free a moment ago.
pub fn free_port() -> Result<u16, Error> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let address = listener.and_then(|listener| listener.local_addr());
    address.map(|address| address.port()).map_err(|error| Error::other("a port", error.to_string()))
}

#[cfg(unix)]
fn owner(folder: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(folder).ok().map(|about| about.uid())
}

#[cfg(not(unix))]
fn owner(_: &Path) -> Option<u32> {
    None
}
