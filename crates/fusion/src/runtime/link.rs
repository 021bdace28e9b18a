//! A connection to a broker that comes back by itself.
//!
//! Messages wait in a queue and are sent one at a time at QoS 1; each leaves the queue when the
//! broker has acknowledged it, so none is lost when the broker goes away, and some arrive twice.

use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rumqttc::{
    AsyncClient, ConnectReturnCode, ConnectionError, Event, LastWill, MqttOptions, NetworkOptions,
    Packet, QoS, SubscribeFilter, SubscribeReasonCode, TlsConfiguration, Transport,
};
use rustls::ClientConfig;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use undertone_design::Error;

use super::address::Address;

/// The largest packet MQTT knows. A smaller limit would let one large message end the connection
/// again and again.
const LARGEST: usize = 268_435_455;

/// A sign of life at least this often.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// After this long a connection counts as one.
const STEADY: Duration = Duration::from_secs(5);

/// A message to publish.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// Where.
    pub topic: String,
    /// What.
    pub payload: Vec<u8>,
    /// Whether the broker keeps it for those who come later.
    pub retain: bool,
}

/// A message that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Where.
    pub topic: String,
    /// What.
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
        /// Why.
        reason: String,
    },
    /// The broker does not want this client; no other attempt follows.
    Refused {
        /// Why.
        reason: String,
    },
    /// A message.
    Delivered(Delivery),
}

#[derive(Debug, Default)]
struct Outbox {
    hello: Option<Message>,
    waiting: VecDeque<Message>,
    /// Whether the first one is on its way.
    sent: bool,
    /// Whether the first one is the greeting.
    greeting: bool,
    /// Whether anything but the greeting may be sent.
    open: bool,
    /// How many connections there have been.
    connections: u64,
    client: Option<AsyncClient>,
    closing: bool,
    dropped: u64,
}

#[derive(Debug, Default)]
struct Shared {
    outbox: Mutex<Outbox>,
    /// Woken whenever the queue becomes empty or the connection ends.
    changed: Notify,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Outbox> {
        self.outbox.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Outbox {
    /// Sends the first message if none is on its way.
    fn advance(&mut self) {
        let (Some(client), false) = (&self.client, self.sent) else { return };
        if let Some(message) = self.waiting.front() {
            if !self.open && !self.greeting {
                return;
            }
            let Message { topic, payload, retain } = message.clone();
            // The channel holds more than the one message and the subscription it is ever asked to.
            self.sent = client.try_publish(topic, QoS::AtLeastOnce, retain, payload).is_ok();
        } else if self.closing {
            self.sent = client.try_disconnect().is_ok();
        }
    }

    /// From now on more than the greeting may be sent.
    fn let_out(&mut self) {
        self.open = true;
        self.advance();
    }

    fn acknowledged(&mut self) {
        if self.sent && !self.waiting.is_empty() {
            self.waiting.pop_front();
            self.sent = false;
            self.greeting = false;
            self.advance();
        }
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
                let problem = "is to be encrypted: give the authority's certificate (--ca)";
                return Err(Error::other(format!("broker {}", options.address), problem));
            }
            (Some(_), false) => {
                let problem = "is not encrypted, but certificates were given: write mqtts://";
                return Err(Error::other(format!("broker {}", options.address), problem));
            }
            _ => {}
        }
        let messages = [&options.will, &options.hello];
        for message in messages.into_iter().flatten() {
            check_topic(&message.topic)?;
        }
        if let Some(filter) = options.filters.iter().find(|filter| !rumqttc::valid_filter(filter)) {
            return Err(Error::other(format!("topic {filter:?}"), "is not an MQTT topic filter"));
        }
        let shared = Arc::new(Shared::default());
        shared.lock().hello = options.hello.clone();
        let queue = options.queue.max(2);
        let (sender, events) = mpsc::channel(256);
        let task = tokio::spawn(run(options, shared.clone(), sender));
        Ok(Self { shared, queue, events, task })
    }

    /// Queues a message.
    pub fn publish(&self, message: Message) -> Result<(), Error> {
        check_topic(&message.topic)?;
        let mut outbox = self.shared.lock();
        if outbox.waiting.len() >= self.queue {
            // The first one may be on its way, or be the greeting.
            let oldest = usize::from(outbox.sent || outbox.greeting);
            outbox.waiting.remove(oldest);
            outbox.dropped += 1;
        }
        outbox.waiting.push_back(message);
        outbox.advance();
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
        {
            let mut outbox = self.shared.lock();
            outbox.closing = true;
            outbox.advance();
        }
        let _ = tokio::time::timeout(Duration::from_secs(2), &mut self.task).await;
        flushed
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn check_topic(topic: &str) -> Result<(), Error> {
    if !topic.is_empty() && topic.len() < 65_536 && rumqttc::valid_topic(topic) {
        return Ok(());
    }
    Err(Error::other(format!("topic {topic:?}"), "is not one that can be published to"))
}

fn mqtt(options: &LinkOptions) -> MqttOptions {
    let Address { host, port, .. } = &options.address;
    let mut mqtt = MqttOptions::new(&options.client, host, *port);
    mqtt.set_keep_alive(KEEP_ALIVE);
    mqtt.set_clean_session(!options.lasting);
    mqtt.set_max_packet_size(LARGEST, LARGEST);
    if let Some((name, password)) = &options.credentials {
        mqtt.set_credentials(name, password);
    }
    if let Some(tls) = &options.tls {
        mqtt.set_transport(Transport::tls_with_config(TlsConfiguration::Rustls(tls.clone())));
    }
    if let Some(Message { topic, payload, retain }) = &options.will {
        mqtt.set_last_will(LastWill::new(topic, payload.clone(), QoS::AtLeastOnce, *retain));
    }
    mqtt
}

/// One connection after another.
async fn run(options: LinkOptions, shared: Arc<Shared>, events: mpsc::Sender<LinkEvent>) {
    let mut failures = 0u32;
    loop {
        let began = Instant::now();
        let (connected, error) = connection(&options, &shared, &events).await;
        let closing = {
            let mut outbox = shared.lock();
            outbox.client = None;
            outbox.sent = false;
            outbox.greeting = false;
            outbox.closing
        };
        shared.changed.notify_waiters();
        if closing {
            return;
        }
        let reason = format!("{}: {error}", options.address);
        if refused(&error) {
            let _ = events.send(LinkEvent::Refused { reason }).await;
            return;
        }
        // News of the connection are dropped where nobody takes them; messages are not.
        let _ = events.try_send(LinkEvent::Lost { reason });
        // A connection that ends at once is no better than none.
        failures =
            if connected && began.elapsed() > STEADY { 0 } else { failures.saturating_add(1) };
        tokio::time::sleep(pause(failures, options.longest_pause)).await;
        if shared.lock().closing {
            return;
        }
    }
}

/// Trying again will not help.
fn refused(error: &ConnectionError) -> bool {
    use ConnectReturnCode::{
        BadClientId, BadUserNamePassword, NotAuthorized, RefusedProtocolVersion,
    };
    let ConnectionError::ConnectionRefused(code) = error else { return false };
    matches!(code, BadUserNamePassword | NotAuthorized | BadClientId | RefusedProtocolVersion)
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
    shared: &Arc<Shared>,
    events: &mpsc::Sender<LinkEvent>,
) -> (bool, ConnectionError) {
    let (client, mut eventloop) = AsyncClient::new(mqtt(options), 16);
    let mut network = NetworkOptions::new();
    network.set_tcp_nodelay(true);
    eventloop.set_network_options(network);
    let mut connected = false;
    loop {
        let event = match eventloop.poll().await {
            Ok(event) => event,
            Err(error) => {
                // What was received before the end counts.
                for event in std::mem::take(&mut eventloop.state.events) {
                    arrived(event, shared, events).await;
                }
                return (connected, error);
            }
        };
        match event {
            Event::Incoming(Packet::ConnAck(_)) => {
                connected = true;
                if !options.filters.is_empty() {
                    let filter =
                        |filter: &String| SubscribeFilter::new(filter.clone(), QoS::AtLeastOnce);
                    let _ = client.try_subscribe_many(options.filters.iter().map(filter));
                }
                begin(options, shared, &client);
                if options.filters.is_empty() {
                    let _ = events.try_send(LinkEvent::Connected);
                }
            }
            Event::Incoming(Packet::SubAck(answer)) => {
                let failed = |code: &SubscribeReasonCode| *code == SubscribeReasonCode::Failure;
                if answer.return_codes.iter().any(failed) {
                    // A sensor that may not know of the centre speaks without waiting for it.
                    if options.after.is_some() {
                        shared.lock().let_out();
                        let _ = events.try_send(LinkEvent::Connected);
                        continue;
                    }
                    let refused = ConnectReturnCode::NotAuthorized;
                    return (connected, ConnectionError::ConnectionRefused(refused));
                }
                let _ = events.try_send(LinkEvent::Connected);
            }
            Event::Incoming(Packet::Publish(message))
                if options.after.as_ref().is_some_and(|(topic, _)| *topic == message.topic) =>
            {
                shared.lock().let_out();
            }
            event => arrived(event, shared, events).await,
        }
    }
}

/// An acknowledgement or a message.
async fn arrived(event: Event, shared: &Shared, events: &mpsc::Sender<LinkEvent>) {
    match event {
        Event::Incoming(Packet::PubAck(_)) => {
            shared.lock().acknowledged();
            shared.changed.notify_waiters();
        }
        Event::Incoming(Packet::Publish(message)) => {
            let (topic, payload) = (message.topic, message.payload.to_vec());
            let _ = events.send(LinkEvent::Delivered(Delivery { topic, payload })).await;
        }
        _ => {}
    }
}

/// A new connection: first the greeting, then what waited.
fn begin(options: &LinkOptions, shared: &Arc<Shared>, client: &AsyncClient) {
    let mut outbox = shared.lock();
    outbox.connections += 1;
    outbox.open = options.after.is_none();
    outbox.greeting = outbox.hello.is_some();
    if let Some((_, limit)) = options.after {
        let (shared, connection) = (shared.clone(), outbox.connections);
        tokio::spawn(async move {
            tokio::time::sleep(limit).await;
            let mut outbox = shared.lock();
            if outbox.connections == connection {
                outbox.let_out();
            }
        });
    }
    if let Some(hello) = outbox.hello.clone() {
        outbox.waiting.retain(|message| message.topic != hello.topic);
        outbox.waiting.push_front(hello);
    }
    outbox.client = Some(client.clone());
    outbox.sent = false;
    outbox.advance();
}
