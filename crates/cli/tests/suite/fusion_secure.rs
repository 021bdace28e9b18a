//! `undertone fusion sensor` over TLS: a client's certificate is used by nobody else on the machine.
#![cfg(target_os = "linux")]

use std::collections::BTreeSet;
use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::Scratch;
use crate::fusion_run::{network, start};

/// Ended when dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The sockets of a process that others can connect to, and those that are connected by TCP to a
/// port: the system's numbers of them.
fn sockets(process: u32, port: u16) -> (BTreeSet<u64>, BTreeSet<u64>) {
    let own = std::fs::read_dir(format!("/proc/{process}/fd")).unwrap();
    let own: BTreeSet<u64> = own
        .filter_map(|entry| {
            let target = std::fs::read_link(entry.unwrap().path()).ok()?;
            target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
        })
        .collect();
    let (mut listening, mut connected) = (BTreeSet::new(), BTreeSet::new());
    let remote = format!(":{port:04X}");
    for table in ["tcp", "tcp6", "unix"] {
        let Ok(text) = std::fs::read_to_string(format!("/proc/{process}/net/{table}")) else {
            continue;
        };
        for line in text.lines().skip(1) {
            let fields: Vec<&str> = line.split_whitespace().collect();
            // See proc(5): a listening socket has state 0A (TCP), or the flag 0x10000 (Unix).
            let (number, listens, connects) = if table == "unix" {
                let flags = u32::from_str_radix(fields[3], 16).unwrap();
                (fields[6], flags & 0x1_0000 != 0, false)
            } else {
                (fields[9], fields[3] == "0A", fields[3] == "01" && fields[2].ends_with(&remote))
            };
            let number: u64 = number.parse().unwrap();
            if own.contains(&number) && listens {
                listening.insert(number);
            }
            if own.contains(&number) && connects {
                connected.insert(number);
            }
        }
    }
    (listening, connected)
}

#[test]
fn a_sensor_with_a_certificate_opens_nothing_that_others_could_connect_to() {
    let dir = Scratch::new("fusion-secure");
    let (certificate, key) = (dir.path("own.pem"), dir.path("own.key"));
    let made = Command::new("openssl")
        .args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"])
        .args(["-nodes", "-subj", "/CN=own", "-days", "2", "-keyout", &key, "-out", &certificate])
        .stderr(Stdio::null())
        .status();
    match made {
        Err(_) => {
            eprintln!("skipped: openssl is not installed");
            return;
        }
        Ok(status) => assert!(status.success()),
    }
    let bundle = network(&dir);
    // A broker that accepts and never answers: the sensor stays in the middle of its handshake.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (broker, state) = (format!("mqtts://localhost:{port}"), dir.path("sensor.state"));
    let mut args = vec!["fusion", "sensor", "--bundle", &bundle, "--index", "0"];
    args.extend(["--broker", &broker, "--state", &state]);
    args.extend(["--ca", &certificate, "--cert", &certificate, "--key", &key]);
    let mut sensor = Running(start(&args));
    let limit = Instant::now() + Duration::from_secs(60);
    let _stream = loop {
        if let Ok((stream, _)) = listener.accept() {
            break stream;
        }
        let ended = sensor.0.try_wait().unwrap();
        assert!(ended.is_none() && Instant::now() < limit, "the sensor does not come: {ended:?}");
        std::thread::sleep(Duration::from_millis(10));
    };
    let (listening, connected) = sockets(sensor.0.id(), port);
    assert!(listening.is_empty(), "{listening:?}");
    assert_eq!(connected.len(), 1, "its connection to the broker");
    // What is looked for would be found: this process does listen.
    assert!(!sockets(std::process::id(), port).0.is_empty());
}
