//! A connection to a broker that comes back by itself.
//!
//! Messages wait in a queue and are sent one at a time at QoS 1; each leaves the queue when the
//! broker has acknowledged it, so none is lost when the broker goes away, and some arrive twice.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustls::ClientConfig;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};
use undertone_design::Error;

use super::address::Address;
use super::connection::{Connection, End};
use super::packet::{LARGEST, LONGEST_TEXT, Packet, Publish};
use super::packet::{valid_filter, valid_text, valid_topic};
use super::transport::server_name;

/// A sign of life at least this often.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// After this long a connection counts as one.
const STEADY: Duration = Duration::from_secs(5);

/// The number of the packet that subscribes; messages have later ones.
const SUBSCRIPTION: u16 = 1;

/// A message to publish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The topic to publish on.
    pub topic: String,
    /// The bytes to publish.
    pub payload: Vec<u8>,
    /// Whether the broker keeps it for those who come later.
    pub retain: bool,
}

/// A message that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// The topic it arrived on.
    pub topic: String,
    /// The bytes that arrived.
    pub payload: Vec<u8>,
}

/// What a connection is for.
#[derive(Debug, Clone)]
pub struct LinkOptions {
    /// The broker.
    pub address: Address,
    /// The process's name among the broker's clients.
    pub client: String,
    /// User name and password.
    pub credentials: Option<(String, String)>,
    /// How to encrypt; needed if and only if the address says so.
    pub tls: Option<Arc<ClientConfig>>,
    /// Published by the broker when the process is lost.
    pub will: Option<Message>,
    /// Published first at every connection, in place of whatever still waits for the same topic.
    pub hello: Option<Message>,
    /// Topics to hear.
    pub filters: Vec<String>,
    /// One of those topics, and a time: at every connection, messages other than the greeting wait
    /// until something was heard there, or for so long. What is said there is not delivered.
    pub after: Option<(String, Duration)>,
    /// Whether the broker keeps messages while the process is away.
    pub lasting: bool,
    /// A sign of life at least this often; a broker that gives none for as long is lost.
    pub keep_alive: Duration,
    /// The longest pause between two attempts to connect.
    pub longest_pause: Duration,
    /// Messages that wait, at most; the oldest are dropped.
    pub queue: usize,
}

impl LinkOptions {
    /// A plain connection that publishes only.
    pub fn new(address: Address, client: String) -> Self {
        Self {
            address,
            client,
            credentials: None,
            tls: None,
            will: None,
            hello: None,
            filters: Vec::new(),
            after: None,
            lasting: false,
            keep_alive: KEEP_ALIVE,
            longest_pause: Duration::from_secs(10),
            queue: 1 << 16,
        }
    }
}

/// What happens on a connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkEvent {
    /// The broker is there, and every topic is subscribed to.
    Connected,
    /// The broker is gone, or was not there; another attempt follows.
    Lost {
        /// Why the broker is gone.
        reason: String,
    },
    /// The broker does not want this client; no other attempt follows.
    Refused {
        /// Why the broker refuses.
        reason: String,
    },
    /// A message.
    Delivered(Delivery),
}

#[derive(Debug, Default)]
struct Outbox {
    hello: Option<Message>,
    waiting: VecDeque<Message>,
    /// The number of the first one, while it is on its way.
    sent: Option<u16>,
    /// Whether the first one is the greeting.
    greeting: bool,
    /// Whether anything but the greeting may be sent.
    open: bool,
    /// The number of the last message sent on this connection.
    last: u16,
    closing: bool,
    dropped: u64,
}

#[derive(Debug, Default)]
struct Shared {
    outbox: Mutex<Outbox>,
    /// Woken whenever there may be something to send.
    work: Notify,
    /// Woken whenever the queue becomes empty or the connection ends.
    changed: Notify,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Outbox> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outbox {
    /// A new connection: first the greeting, then what waited.
    fn begin(&mut self, open: bool) {
        self.sent = None;
        self.last = SUBSCRIPTION;
        self.open = open;
        self.greeting = self.hello.is_some();
        if let Some(hello) = self.hello.clone() {
            self.waiting.retain(|message| message.topic != hello.topic);
            self.waiting.push_front(hello);
        }
    }

    /// What to send now: the first message if none is on its way, or a goodbye.
    fn next(&mut self) -> Option<Packet> {
        if self.sent.is_some() {
            return None;
        }
        let Some(message) = self.waiting.front() else {
            return self.closing.then_some(Packet::Disconnect);
        };
        if !self.open && !self.greeting {
            return None;
        }
        let Message { topic, payload, retain } = message.clone();
        self.last = self.last.checked_add(1).unwrap_or(SUBSCRIPTION + 1);
        self.sent = Some(self.last);
        Some(Packet::Publish(Publish { duplicate: false, retain, topic, id: self.sent, payload }))
    }

    /// The broker has this message; `false` if it was never sent.
    fn acknowledged(&mut self, id: u16) -> bool {
        let known = self.sent == Some(id);
        if known {
            self.waiting.pop_front();
            self.sent = None;
            self.greeting = false;
        }
        known
    }
}

/// A connection. Dropping it without [`Link::close`] looks to the broker like a crash.
#[derive(Debug)]
pub struct Link {
    shared: Arc<Shared>,
    queue: usize,
    events: mpsc::Receiver<LinkEvent>,
    task: JoinHandle<()>,
}

impl Link {
    /// Begins to connect. Needs a running tokio runtime.
    pub fn open(options: LinkOptions) -> Result<Self, Error> {
        match (&options.tls, options.address.secure) {
            (None, true) => {
                let problem =
                    "is to be encrypted: give the certificate of the authority that certified it";
                return Err(Error::other(format!("broker {}", options.address), problem));
            }
            (Some(_), false) => {
                let problem = "is not encrypted, but certificates were given: write mqtts://";
                return Err(Error::other(format!("broker {}", options.address), problem));
            }
            (Some(_), true) => drop(server_name(&options.address)?),
            (None, false) => {}
        }
        check(&options)?;
        let shared = Arc::new(Shared::default());
        shared.lock().hello = options.hello.clone();
        let queue = options.queue.max(2);
        let (sender, events) = mpsc::channel(256);
        let task = tokio::spawn(run(options, shared.clone(), sender));
        Ok(Self { shared, queue, events, task })
    }

    /// Queues a message.
    pub fn publish(&self, message: Message) -> Result<(), Error> {
        check_message(&message)?;
        let mut outbox = self.shared.lock();
        if outbox.waiting.len() >= self.queue {
            // The first one may be on its way, or be the greeting.
            let oldest = usize::from(outbox.sent.is_some() || outbox.greeting);
            outbox.waiting.remove(oldest);
            outbox.dropped += 1;
        }
        outbox.waiting.push_back(message);
        self.shared.work.notify_one();
        Ok(())
    }

    /// Publishes a message now and again at every later connection.
    pub fn announce(&self, message: Message) -> Result<(), Error> {
        self.publish(message.clone())?;
        self.shared.lock().hello = Some(message);
        Ok(())
    }

    /// How many messages wait.
    pub fn waiting(&self) -> usize {
        self.shared.lock().waiting.len()
    }

    /// How many were dropped because too many waited.
    pub fn dropped(&self) -> u64 {
        self.shared.lock().dropped
    }

    /// The next event; `None` after a refusal. May be cancelled.
    pub async fn next(&mut self) -> Option<LinkEvent> {
        self.events.recv().await
    }

    /// Waits until every message is acknowledged, or the limit has passed; tells which.
    pub async fn flushed(&self, limit: Duration) -> bool {
        let empty = async {
            loop {
                let changed = self.shared.changed.notified();
                if self.waiting() == 0 || self.task.is_finished() {
                    return;
                }
                changed.await;
            }
        };
        let _ = tokio::time::timeout(limit, empty).await;
        self.waiting() == 0
    }

    /// Sends what waits and says goodbye; tells whether everything was acknowledged in time.
    pub async fn close(mut self, limit: Duration) -> bool {
        // Whoever closes listens no more, and the task must not wait for them.
        self.events.close();
        let flushed = self.flushed(limit).await;
        self.shared.lock().closing = true;
        self.shared.work.notify_one();
        let _ = tokio::time::timeout(Duration::from_secs(2), &mut self.task).await;
        flushed
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Whether everything given can be said in MQTT.
fn check(options: &LinkOptions) -> Result<(), Error> {
    for message in [&options.will, &options.hello].into_iter().flatten() {
        check_message(message)?;
    }
    if options.will.as_ref().is_some_and(|will| will.payload.len() > LONGEST_TEXT) {
        return Err(Error::other("the last will", format!("has more than {LONGEST_TEXT} bytes")));
    }
    if let Some(filter) = options.filters.iter().find(|filter| !valid_filter(filter)) {
        return Err(Error::other(format!("topic {filter:?}"), "is not an MQTT topic filter"));
    }
    // The password itself stays out of the message.
    let (name, password) = options.credentials.clone().unwrap_or_default();
    let texts = [("client", &options.client), ("user name", &name), ("password", &password)];
    for (what, text) in texts {
        if !valid_text(text) {
            let problem =
                format!("has more than {LONGEST_TEXT} bytes or a zero character, unlike in MQTT");
            return Err(Error::other(what, problem));
        }
    }
    Ok(())
}

fn check_message(message: &Message) -> Result<(), Error> {
    let Message { topic, payload, .. } = message;
    if !valid_topic(topic) {
        return Err(Error::other(
            format!("topic {topic:?}"),
            "is not one that can be published to",
        ));
    }
    // The topic's length and the packet's number take two bytes each.
    let most = LARGEST - 4 - topic.len();
    if payload.len() > most {
        let problem = format!("has {} bytes; MQTT takes {most} at most", payload.len());
        return Err(Error::other(format!("a message to {topic:?}"), problem));
    }
    Ok(())
}

/// One connection after another.
async fn run(options: LinkOptions, shared: Arc<Shared>, events: mpsc::Sender<LinkEvent>) {
    let mut failures = 0u32;
    loop {
        let began = Instant::now();
        let (connected, end) = connection(&options, &shared, &events).await;
        let closing = {
            let mut outbox = shared.lock();
            outbox.sent = None;
            outbox.greeting = false;
            outbox.closing
        };
        shared.changed.notify_waiters();
        if closing {
            return;
        }
        let about = |reason: String| format!("{}: {reason}", options.address);
        match end {
            End::Closed => return,
            End::Refused(reason) => {
                let _ = events.send(LinkEvent::Refused { reason: about(reason) }).await;
                return;
            }
            // News of the connection are dropped where nobody takes them; messages are not.
            End::Lost(reason) => {
                let _ = events.try_send(LinkEvent::Lost { reason: about(reason) });
            }
        }
        // A connection that ends at once is no better than none.
        failures =
            if connected && began.elapsed() > STEADY { 0 } else { failures.saturating_add(1) };
        tokio::time::sleep(pause(failures, options.longest_pause)).await;
        if shared.lock().closing {
            return;
        }
    }
}

/// From a tenth of a second, doubling; between half and all of that, so that sensors that lost the
/// same broker do not all come back at once.
fn pause(failures: u32, longest: Duration) -> Duration {
    let whole = Duration::from_millis(100 << failures.min(10)).min(longest);
    let share = f64::from(RandomState::new().build_hasher().finish() as u32) / f64::from(u32::MAX);
    whole.mul_f64(0.5 + share / 2.0)
}

/// One connection, until it ends: whether it ever was one, and why it ended.
async fn connection(
    options: &LinkOptions,
    shared: &Shared,
    events: &mpsc::Sender<LinkEvent>,
) -> (bool, End) {
    match Connection::open(options).await {
        Ok(connection) => (true, talk(connection, options, shared, events).await),
        Err(end) => (false, end),
    }
}

/// Everything after the broker has accepted the client.
async fn talk(
    mut connection: Connection,
    options: &LinkOptions,
    shared: &Shared,
    events: &mpsc::Sender<LinkEvent>,
) -> End {
    if options.filters.is_empty() {
        let _ = events.try_send(LinkEvent::Connected);
    } else {
        let filters = options.filters.iter().map(|filter| (filter.clone(), 1)).collect();
        connection.send(&Packet::Subscribe { id: SUBSCRIPTION, filters });
    }
    shared.lock().begin(options.after.is_none());
    let mut silent_until = options.after.as_ref().map(|(_, limit)| Instant::now() + *limit);
    loop {
        let packet = shared.lock().next();
        if let Some(packet) = packet {
            connection.send(&packet);
            if packet == Packet::Disconnect {
                connection.finish().await;
                return End::Closed;
            }
        }
        let limit = silent_until.unwrap_or_else(Instant::now);
        let packet = tokio::select! {
            packet = connection.next() => packet,
            () = shared.work.notified() => continue,
            () = sleep_until(limit), if silent_until.is_some() => {
                silent_until = None;
                shared.lock().open = true;
                continue;
            }
        };
        match packet {
            Err(reason) => return End::Lost(reason),
            Ok(Packet::SubAck { codes, .. }) => {
                let denied = options.filters.iter().zip(codes).find(|(_, code)| *code == 0x80);
                match denied {
                    // A sensor that may not know of the centre speaks without waiting for it.
                    Some(_) if options.after.is_some() => shared.lock().open = true,
                    Some((filter, _)) => {
                        return End::Refused(format!(
                            "it does not let this client hear {filter:?}"
                        ));
                    }
                    None => {}
                }
                let _ = events.try_send(LinkEvent::Connected);
            }
            Ok(Packet::PubAck(id)) => {
                if !shared.lock().acknowledged(id) {
                    return End::Lost("it acknowledged a message that it was not sent".into());
                }
                shared.changed.notify_waiters();
            }
            Ok(Packet::Publish(message)) => {
                let id = message.id;
                let taken = match &options.after {
                    Some((topic, _)) if *topic == message.topic => {
                        shared.lock().open = true;
                        true
                    }
                    _ => deliver(message, &mut connection, events).await,
                };
                // What nobody takes any more is not acknowledged: the broker may keep it.
                if let (Some(id), true) = (id, taken) {
                    connection.send(&Packet::PubAck(id));
                }
            }
            Ok(_) => return End::Lost("it sent what only a client sends".into()),
        }
    }
}

/// Hands a message over, however long that takes; `false` if nobody listens any more.
async fn deliver(
    message: Publish,
    connection: &mut Connection,
    events: &mpsc::Sender<LinkEvent>,
) -> bool {
    let permit = tokio::select! {
        permit = events.reserve() => permit,
        never = connection.hold() => match never {},
    };
    let Publish { topic, payload, .. } = message;
    match permit {
        Ok(permit) => {
            permit.send(LinkEvent::Delivered(Delivery { topic, payload }));
            true
        }
        Err(_) => false,
    }
}
