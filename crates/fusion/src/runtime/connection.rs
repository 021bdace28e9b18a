//! One MQTT connection: packets both ways over a stream, and a sign of life now and then.

use std::convert::Infallible;
use std::future::pending;
use std::io;
use std::time::Duration;

use bytes::{Buf, BytesMut};
use tokio::io::{AsyncReadExt, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::time::{Instant, sleep_until, timeout};

use super::link::{LinkOptions, Message};
use super::packet::{Connect, LARGEST, Packet, Will, decode, encode};
use super::transport::{CLOSED, PATIENCE, Stream, connect, in_words};

/// Room for what is read at once.
const CHUNK: usize = 1 << 14;

/// As many acknowledgements as there are numbers of packets. A broker that is owed more has numbered
/// two messages alike; it is not read from until it takes some.
const MOST_ACKNOWLEDGEMENTS: u32 = 65_535;

/// A buffer that grew beyond this for a large message is given back afterwards.
const KEPT: usize = 1 << 20;

/// Why there is no connection, or no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum End {
    /// The broker does not want this client: trying again will not help.
    Refused(String),
    /// Anything that may pass.
    Lost(String),
    /// This side said goodbye.
    Closed,
}

/// A connection that the broker has accepted.
pub(super) struct Connection {
    reader: ReadHalf<Box<dyn Stream>>,
    writer: WriteHalf<Box<dyn Stream>>,
    incoming: BytesMut,
    outgoing: BytesMut,
    /// Whether TLS may still hold bytes that were written.
    unflushed: bool,
    /// Acknowledgements queued since there was last nothing to write.
    owed: u32,
    /// Whether nothing can be written any more. What the broker said before is still read: it often
    /// holds the reason.
    mute: bool,
    keep_alive: Duration,
    /// When the next sign of life is due.
    due: Instant,
    /// Whether a sign of life was asked for and not given yet.
    asked: bool,
    /// Whether bytes moved since it was last asked for.
    alive: bool,
}

impl Connection {
    /// Connects, encrypts if the address says so, and waits until the broker accepts.
    pub(super) async fn open(options: &LinkOptions) -> Result<Self, End> {
        let stream = connect(&options.address, options.tls.as_ref()).await.map_err(End::Lost)?;
        let (reader, writer) = tokio::io::split(stream);
        let mut connection = Self {
            reader,
            writer,
            incoming: BytesMut::new(),
            outgoing: BytesMut::new(),
            unflushed: false,
            owed: 0,
            mute: false,
            keep_alive: options.keep_alive,
            due: Instant::now() + options.keep_alive,
            asked: false,
            alive: false,
        };
        connection.send(&Packet::Connect(greeting(options)));
        let answer = timeout(PATIENCE, connection.next()).await.map_err(|_| {
            let limit = PATIENCE.as_secs();
            End::Lost(format!("it did not answer within {limit} s: does it speak MQTT?"))
        })?;
        match answer.map_err(|reason| End::Lost(unaccepted(options, reason)))? {
            Packet::ConnAck { code: 0, .. } => Ok(connection),
            Packet::ConnAck { code, .. } => Err(refusal(code)),
            _ => Err(End::Lost("it did not begin as MQTT 3.1.1 asks".into())),
        }
    }

    /// Queues a packet; it is written while [`Connection::next`] or [`Connection::hold`] is awaited.
    pub(super) fn send(&mut self, packet: &Packet) {
        if !self.mute {
            self.owed += u32::from(matches!(packet, Packet::PubAck(_)));
            self.outgoing.extend_from_slice(&encode(packet));
        }
    }

    /// The next packet, or why there will be none. May be cancelled.
    pub(super) async fn next(&mut self) -> Result<Packet, String> {
        loop {
            if Instant::now() >= self.due && (self.alive || !self.asked) {
                self.ask();
            }
            match decode(&self.incoming, LARGEST) {
                Ok(Some((packet, length))) => {
                    self.incoming.advance(length);
                    shrink(&mut self.incoming);
                    match packet {
                        Packet::PingResp => self.asked = false,
                        packet => return Ok(packet),
                    }
                    continue;
                }
                Ok(None) => {}
                Err(malformed) => return Err(format!("it sent what is {malformed}")),
            }
            self.incoming.reserve(CHUNK);
            tokio::select! {
                // In this order: what has arrived counts, however late this process looks at it.
                biased;
                written = write(&mut self.writer, &mut self.outgoing, &mut self.unflushed) => {
                    self.wrote(written);
                }
                read = self.reader.read_buf(&mut self.incoming),
                    if self.owed < MOST_ACKNOWLEDGEMENTS => match read {
                    Ok(0) => return Err(CLOSED.into()),
                    Ok(_) => self.alive = true,
                    Err(error) => return Err(in_words(&error)),
                },
                () = sleep_until(self.due) => {
                    if self.asked && !self.alive {
                        return Err(format!("it gave no sign of life for {:?}", self.keep_alive));
                    }
                }
            }
        }
    }

    /// Writes what is queued and stays in touch, without reading: for as long as nobody takes what
    /// was read before, the broker has to wait. May be cancelled.
    pub(super) async fn hold(&mut self) -> Infallible {
        loop {
            tokio::select! {
                written = write(&mut self.writer, &mut self.outgoing, &mut self.unflushed) => {
                    self.wrote(written);
                }
                // An answer would not be heard: whether there is one is seen later.
                () = sleep_until(self.due) => {
                    self.ask();
                    self.alive = true;
                }
            }
        }
    }

    /// Writes what is queued and ends the stream in good order.
    pub(super) async fn finish(mut self) {
        let rest = async {
            while !self.outgoing.is_empty() || self.unflushed {
                write(&mut self.writer, &mut self.outgoing, &mut self.unflushed).await?;
            }
            self.writer.shutdown().await?;
            // Closing before the broker does would make the system cut off what was just written.
            let mut ignored = [0; 1024];
            while self.reader.read(&mut ignored).await? > 0 {}
            io::Result::Ok(())
        };
        // Whoever leaves has nothing to learn from a failure here.
        let _ = timeout(PATIENCE, rest).await;
    }

    fn wrote(&mut self, written: io::Result<()>) {
        if written.is_err() {
            self.mute = true;
            self.outgoing.clear();
            self.unflushed = false;
        }
        shrink(&mut self.outgoing);
        if self.outgoing.is_empty() {
            self.owed = 0;
        } else {
            // A large message that is on its way is a sign of life; its last bytes only filled a buffer.
            self.alive = true;
        }
    }

    /// Gives a sign of life and asks for one.
    fn ask(&mut self) {
        self.send(&Packet::PingReq);
        self.asked = true;
        self.alive = false;
        self.due = Instant::now() + self.keep_alive;
    }
}

/// Gives back what a large message took.
fn shrink(buffer: &mut BytesMut) {
    if buffer.is_empty() && buffer.capacity() > KEPT {
        *buffer = BytesMut::new();
    }
}

/// One step of writing; never ready if there is nothing to write. May be cancelled.
async fn write(
    writer: &mut WriteHalf<Box<dyn Stream>>,
    outgoing: &mut BytesMut,
    unflushed: &mut bool,
) -> io::Result<()> {
    if !outgoing.is_empty() {
        *unflushed = true;
        if writer.write_buf(outgoing).await? == 0 {
            return Err(io::ErrorKind::WriteZero.into());
        }
    } else if *unflushed {
        writer.flush().await?;
        *unflushed = false;
    } else {
        pending::<()>().await;
    }
    Ok(())
}

fn greeting(options: &LinkOptions) -> Connect {
    let will =
        |Message { topic, payload, retain }: Message| Will { topic, payload, qos: 1, retain };
    let (username, password) = options.credentials.clone().unzip();
    // The broker's limit is a little above ours, so that rounding does not cut a connection.
    let keep_alive = options.keep_alive.as_secs().saturating_add(1);
    Connect {
        level: 4,
        clean: !options.lasting,
        keep_alive: u16::try_from(keep_alive).unwrap_or(u16::MAX),
        client: options.client.clone(),
        will: options.will.clone().map(will),
        username,
        password: password.map(String::into_bytes),
    }
}

/// The reasons of MQTT 3.1.1, section 3.2.2.3.
fn refusal(code: u8) -> End {
    match code {
        1 => End::Refused("it does not speak MQTT 3.1.1".into()),
        2 => End::Refused("it does not take this client's name".into()),
        3 => End::Lost("it is not available at the moment".into()),
        4 => End::Refused("it refuses user name or password of this client".into()),
        5 => {
            End::Refused("it does not let this client in: check its user name and password".into())
        }
        code => End::Lost(format!("it refuses with the unknown code {code}")),
    }
}

/// Before it has accepted, an unencrypted conversation may have met a port for TLS.
fn unaccepted(options: &LinkOptions, reason: String) -> String {
    if options.address.secure {
        return reason;
    }
    format!("{reason}, before it accepted this client; if it wants encryption, write mqtts://")
}
