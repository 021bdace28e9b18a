//! A small MQTT 3.1.1 broker for demonstrations and tests, on the loopback interface only.
//!
//! It knows QoS 0 and 1, kept messages, last wills, and clean and lasting sessions, and forgets
//! everything when it stops. It knows no QoS 2, no encryption and no passwords: for anything beyond
//! one machine use a real broker.

mod router;

use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use router::{CHANNEL, Place, Router};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::timeout;

use super::packet::{Packet, decode, encode};

/// A client that does not begin, or does not read, is dropped after this.
const PATIENCE: Duration = Duration::from_secs(10);

/// Packets with more bytes than this are refused.
const LARGEST: usize = 1 << 16;

/// More connections than this are closed at once.
const MOST_CONNECTIONS: usize = 512;

/// A running broker. It ends, with all its connections, when it is stopped or dropped.
#[derive(Debug)]
pub struct Broker {
    port: u16,
    router: Shared,
    task: JoinHandle<()>,
}

impl Broker {
    /// Listens on this port of 127.0.0.1; 0 for any that is free.
    pub async fn start(port: u16) -> std::io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let port = listener.local_addr()?.port();
        let router = Shared::default();
        Ok(Self { port, router: router.clone(), task: tokio::spawn(accept(listener, router)) })
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Ends at once: connections are cut, nothing is remembered.
    pub async fn stop(mut self) {
        self.end();
        let _ = (&mut self.task).await;
    }

    /// Forgets every session first, so that a connection that is still being cut acknowledges nothing
    /// more and no last will tells of a death that is the broker's own.
    fn end(&self) {
        lock(&self.router).forget();
        self.task.abort();
    }
}

impl Drop for Broker {
    fn drop(&mut self) {
        self.end();
    }
}

type Shared = Arc<Mutex<Router>>;

fn lock(router: &Mutex<Router>) -> MutexGuard<'_, Router> {
    router.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn accept(listener: TcpListener, router: Shared) {
    // Dropped with this task, and with it every connection.
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // No file left to open, most likely: some connection will end.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        while connections.try_join_next().is_some() {}
        if connections.len() < MOST_CONNECTIONS {
            connections.spawn(serve(stream, router.clone()));
        }
    }
}

async fn serve(mut stream: TcpStream, router: Shared) {
    let _ = stream.set_nodelay(true);
    let mut bytes = Vec::new();
    let first = timeout(PATIENCE, next(&mut stream, &mut bytes)).await;
    let Ok(Some(Packet::Connect(connect))) = first else { return };
    let refusal = match (connect.level, connect.client.is_empty() && !connect.clean) {
        (4, false) => None,
        (4, true) => Some(2),
        _ => Some(1),
    };
    if let Some(code) = refusal {
        let _ = write(&mut stream, &Packet::ConnAck { present: false, code }).await;
        return;
    }
    // One and a half times what the client promised, as the standard has it.
    let silence = match connect.keep_alive {
        0 => Duration::from_secs(u64::from(u32::MAX)),
        seconds => Duration::from_millis(1500 * u64::from(seconds)),
    };
    let (wire, packets) = mpsc::channel(CHANNEL);
    let Some((place, _)) = lock(&router).connect(connect, wire) else {
        let _ = write(&mut stream, &Packet::ConnAck { present: false, code: 3 }).await;
        return;
    };
    // Also when this task is cut short by a panic or the broker's end.
    let leaving = Leaving { router: router.clone(), place: place.clone() };
    talk(&mut stream, bytes, packets, silence, |packet| lock(&router).receive(&place, packet))
        .await;
    drop(leaving);
}

/// Tells the router, whichever way a connection ends.
struct Leaving {
    router: Shared,
    place: Place,
}

impl Drop for Leaving {
    fn drop(&mut self) {
        lock(&self.router).disconnect(&self.place);
    }
}

async fn talk(
    stream: &mut TcpStream,
    mut bytes: Vec<u8>,
    mut packets: mpsc::Receiver<Packet>,
    silence: Duration,
    mut receive: impl FnMut(Packet) -> bool,
) {
    let mut heard = tokio::time::Instant::now();
    loop {
        // What came with the packet before.
        loop {
            match decode(&bytes, LARGEST) {
                Ok(Some((packet, length))) => {
                    bytes.drain(..length);
                    if !receive(packet) {
                        return;
                    }
                }
                Ok(None) => break,
                Err(_) => return,
            }
        }
        tokio::select! {
            packet = packets.recv() => match packet {
                Some(packet) => if !write(stream, &packet).await { return },
                None => return,
            },
            read = stream.read_buf(&mut bytes) => match read {
                Ok(count) if count > 0 => heard = tokio::time::Instant::now(),
                _ => return,
            },
            () = tokio::time::sleep_until(heard + silence) => return,
        }
    }
}

/// The next packet, if the stream holds one.
async fn next(stream: &mut TcpStream, bytes: &mut Vec<u8>) -> Option<Packet> {
    loop {
        if let Some((packet, length)) = decode(bytes, LARGEST).ok()? {
            bytes.drain(..length);
            return Some(packet);
        }
        if stream.read_buf(bytes).await.ok()? == 0 {
            return None;
        }
    }
}

async fn write(stream: &mut TcpStream, packet: &Packet) -> bool {
    matches!(timeout(PATIENCE, stream.write_all(&encode(packet))).await, Ok(Ok(())))
}
