//! A curator in another process.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, ChildStdout, Command, Stdio};

pub(crate) struct Curator {
    pub(crate) address: SocketAddr,
    pub(crate) token: String,
    child: Child,
    output: BufReader<ChildStdout>,
}

impl Curator {
    pub(crate) async fn start(store: &str) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["serve", store])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let (address, token) = line.trim().split_once(' ').unwrap();
        Self { address: address.parse().unwrap(), token: token.into(), child, output }
    }

    /// Processor seconds it has used so far.
    pub(crate) fn processor(&self) -> f64 {
        processor(&format!("/proc/{}/stat", self.child.id()))
    }

    /// Its memory, from the kernel.
    pub(crate) fn memory(&self) -> String {
        memory(&format!("/proc/{}/status", self.child.id()))
    }

    /// Ends it and gives the number of its commits.
    pub(crate) async fn stop(mut self) -> u64 {
        drop(self.child.stdin.take());
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        self.child.wait().unwrap();
        line.trim().parse().unwrap()
    }
}

/// What a process holds now and held at most.
pub(crate) fn memory(status: &str) -> String {
    let status = std::fs::read_to_string(status).unwrap();
    let mebibytes = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() >> 10
    };
    format!("resident {} MiB, at most {} MiB", mebibytes("VmRSS:"), mebibytes("VmHWM:"))
}

/// Processor seconds a process has used so far.
pub(crate) fn processor(stat: &str) -> f64 {
    let stat = std::fs::read_to_string(stat).unwrap();
    // Behind the name, which may hold spaces: user and system time, in hundredths of a second.
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) / 100.0
}
