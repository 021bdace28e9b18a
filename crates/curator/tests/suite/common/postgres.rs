//! A PostgreSQL server for one test: its own data, a socket in a temporary directory, no port.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A running server, stopped and deleted when dropped.
pub(crate) struct Server {
    directory: tempfile::TempDir,
    binaries: PathBuf,
    settings: Vec<String>,
    postmaster: Option<Child>,
}

#[allow(dead_code, reason = "every test uses what it needs")]
impl Server {
    /// Starts one. `None`, with a line that says so, where PostgreSQL is not installed.
    ///
    /// Nothing is synced: that guards against power cuts, which no test can make; kills lose nothing
    /// the kernel has.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(&["fsync=off"])
    }

    /// The same with settings of its own, each `name=value`.
    pub(crate) fn start_with(settings: &[&str]) -> Option<Self> {
        if cfg!(not(feature = "postgres")) {
            println!("skipped: built without the feature `postgres`");
            return None;
        }
        let Some(binaries) = binaries() else {
            println!("skipped: PostgreSQL is not installed (no initdb and postgres found)");
            return None;
        };
        let directory = tempfile::Builder::new().prefix("pg").tempdir().unwrap();
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(directory.path()));
        }
        let settings = settings.iter().map(|setting| setting.to_string()).collect();
        let mut server = Self { directory, binaries, settings, postmaster: None };
        run(server
            .tool("initdb")
            .args(["--no-sync", "-U", "postgres", "-A", "trust", "-D"])
            .arg(server.data()));
        server.resume();
        Some(server)
    }

    /// A server that asks everybody but its own user for a password.
    pub(crate) fn start_asking_for_passwords() -> Option<Self> {
        let mut server = Self::start()?;
        server.stop();
        let rules = "local all postgres trust\nlocal all all scram-sha-256\n";
        std::fs::write(server.data().join("pg_hba.conf"), rules).unwrap();
        server.resume();
        Some(server)
    }

    /// Makes a database and gives its address.
    pub(crate) fn database(&self, name: &str) -> String {
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        self.address(name)
    }

    /// The address of a database.
    pub(crate) fn address(&self, name: &str) -> String {
        let host = self.directory.path().display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{host}/{name}")
    }

    /// Runs a statement with psql and gives what it prints.
    pub(crate) fn sql(&self, database: &str, statement: &str) -> String {
        let mut psql = self.tool("psql");
        psql.args([
            "-qAtX",
            "-v",
            "ON_ERROR_STOP=1",
            "-U",
            "postgres",
            "-d",
            database,
            "-c",
            statement,
        ]);
        run(psql.arg("-h").arg(self.directory.path()))
    }

    /// Starts the server again after [`Server::stop`] or [`Server::kill`].
    pub(crate) fn resume(&mut self) {
        for _ in 0..600 {
            let mut command = self.tool("postgres");
            command.arg("-D").arg(self.data()).arg("-k").arg(self.directory.path());
            command.args(["-c", "listen_addresses=", "-c", "max_connections=60"]);
            for setting in &self.settings {
                command.arg("-c").arg(setting);
            }
            let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            loop {
                if self.answers() {
                    self.postmaster = Some(child);
                    return;
                }
                // Processes of a killed server may still be leaving.
                if child.try_wait().unwrap().is_some() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("PostgreSQL does not start");
    }

    /// Waits until the server answers, after a crash of one of its processes.
    pub(crate) fn wait(&self) {
        for _ in 0..1500 {
            if self.answers() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("PostgreSQL does not come back");
    }

    /// Stops the server at once, as for maintenance.
    pub(crate) fn stop(&mut self) {
        if let Some(mut child) = self.postmaster.take() {
            // SIGINT: a fast shutdown.
            signal("INT", child.id());
            child.wait().unwrap();
        }
    }

    /// Kills the server's first process; the others notice and leave.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.postmaster.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Kills a process that serves a connection to a database; the server then restarts itself and recovers.
    /// `false` if there is none. `pick` chooses among several.
    pub(crate) fn kill_backend(&self, database: &str, pick: usize) -> bool {
        let Some(postmaster) = &self.postmaster else { return false };
        let id = postmaster.id();
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"));
        let serves = |child: &&str| {
            let title = std::fs::read(format!("/proc/{child}/cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&title).contains(&format!(" {database} "))
        };
        let children = children.unwrap_or_default();
        let backends: Vec<&str> = children.split_whitespace().filter(serves).collect();
        if backends.is_empty() {
            return false;
        }
        signal("KILL", backends[pick % backends.len()].parse().unwrap());
        true
    }

    fn answers(&self) -> bool {
        let mut psql = self.tool("psql");
        psql.args(["-qAtX", "-U", "postgres", "-d", "postgres", "-c", "SELECT 1", "-h"]);
        let psql = psql.arg(self.directory.path()).stdout(Stdio::null()).stderr(Stdio::null());
        psql.status().unwrap().success()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.directory.path().join("data")
    }

    /// One of its programs, as a user it agrees to run as.
    fn tool(&self, name: &str) -> Command {
        let program = self.binaries.join(name);
        let mut command = if is_root() {
            let mut command = Command::new("setpriv");
            command
                .args(["--reuid=postgres", "--regid=postgres", "--clear-groups", "--"])
                .arg(program);
            command
        } else {
            Command::new(program)
        };
        command.current_dir(self.directory.path()).env("LC_ALL", "C");
        command
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut child) = self.postmaster.take() {
            // SIGQUIT: leave without tidying up, the data are deleted anyway.
            signal("QUIT", child.id());
            let _ = child.wait();
        }
    }
}

/// Sends a signal to a process of ours.
#[allow(dead_code, reason = "every test uses what it needs")]
pub(crate) fn signal(name: &str, process: u32) {
    let _ = Command::new("kill").arg(format!("-{name}")).arg(process.to_string()).status();
}

fn binaries() -> Option<PathBuf> {
    let mut places: Vec<PathBuf> = std::env::split_paths(&std::env::var_os("PATH")?).collect();
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut versions: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    versions.sort();
    places.extend(versions.into_iter().rev());
    let complete =
        |place: &Path| ["initdb", "postgres", "psql"].iter().all(|name| place.join(name).exists());
    places.into_iter().find(|place| complete(place))
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

fn run(command: &mut Command) -> String {
    let done = command.output().unwrap();
    let error = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{command:?}: {error}");
    String::from_utf8_lossy(&done.stdout).trim().to_owned()
}
