//! Who hears what: sessions, subscriptions and kept messages.

use std::collections::{BTreeMap, VecDeque};

use tokio::sync::mpsc;

use crate::runtime::packet::{Connect, Packet, Publish, Will, matches};

/// Clients at the same time, with those whose session is kept.
const MOST_SESSIONS: usize = 512;
/// Subscriptions of one client.
const MOST_FILTERS: usize = 64;
/// Messages that wait for one client; the oldest are dropped.
const MOST_QUEUED: usize = 1 << 16;
/// Messages kept for later subscribers.
const MOST_RETAINED: usize = 4096;
/// Messages on their way to one client.
const MOST_SENT: usize = 64;
/// Packets on their way to one connection, acknowledgements included.
pub(super) const CHANNEL: usize = 1024;

/// All clients of the broker.
#[derive(Debug, Default)]
pub(super) struct Router {
    sessions: BTreeMap<String, Session>,
    retained: BTreeMap<String, (Vec<u8>, u8)>,
    connections: u64,
}

#[derive(Debug, Default)]
struct Session {
    clean: bool,
    filters: Vec<(String, u8)>,
    /// The connection's number and its packets, while there is one.
    wire: Option<(u64, mpsc::Sender<Packet>)>,
    will: Option<Will>,
    last_id: u16,
    sent: VecDeque<Publish>,
    queue: VecDeque<Publish>,
}

impl Session {
    /// A packet that is lost if the client does not keep up.
    fn push(&self, packet: Packet) -> bool {
        self.wire.as_ref().is_some_and(|(_, wire)| wire.try_send(packet).is_ok())
    }

    fn deliver(&mut self, message: Publish, qos: u8) {
        if qos == 0 {
            self.push(Packet::Publish(Publish { id: None, ..message }));
            return;
        }
        if self.queue.len() >= MOST_QUEUED {
            self.queue.pop_front();
        }
        self.queue.push_back(message);
        self.advance();
    }

    /// Sends what waits, as far as the client has acknowledged what was sent.
    fn advance(&mut self) {
        while self.wire.is_some() && self.sent.len() < MOST_SENT {
            let Some(message) = self.queue.pop_front() else { return };
            let id = self.next_id();
            let message = Publish { id: Some(id), ..message };
            if !self.push(Packet::Publish(message.clone())) {
                self.queue.push_front(message);
                return;
            }
            self.sent.push_back(message);
        }
    }

    /// At most [`MOST_SENT`] numbers are taken, so a free one is near.
    fn next_id(&mut self) -> u16 {
        loop {
            self.last_id = self.last_id.checked_add(1).unwrap_or(1);
            if !self.sent.iter().any(|message| message.id == Some(self.last_id)) {
                return self.last_id;
            }
        }
    }
}

/// One connection, as the router knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    client: String,
    connection: u64,
}

impl Router {
    /// A client begins: its place, and whether its session was kept. `None` if there is no room.
    pub(super) fn connect(
        &mut self,
        connect: Connect,
        wire: mpsc::Sender<Packet>,
    ) -> Option<(Place, bool)> {
        self.connections += 1;
        let connection = self.connections;
        let client = match connect.client.as_str() {
            "" => format!("nameless {connection}"),
            name => name.to_owned(),
        };
        // The same name again: the earlier connection is over, and its will is done.
        if let Some(old) = self.sessions.get_mut(&client) {
            old.wire = None;
            if let Some(will) = old.will.take() {
                self.publish_will(will);
            }
        }
        let kept = match self.sessions.get(&client) {
            Some(old) if !old.clean && !connect.clean => true,
            Some(_) => {
                self.sessions.remove(&client);
                false
            }
            None => false,
        };
        if !kept && self.sessions.len() >= MOST_SESSIONS {
            return None;
        }
        let session = self.sessions.entry(client.clone()).or_default();
        session.clean = connect.clean;
        session.will = connect.will;
        session.wire = Some((connection, wire));
        session.push(Packet::ConnAck { present: kept, code: 0 });
        for message in &session.sent {
            session.push(Packet::Publish(Publish { duplicate: true, ..message.clone() }));
        }
        session.advance();
        Some((Place { client, connection }, kept))
    }

    fn session(&mut self, place: &Place) -> Option<&mut Session> {
        let session = self.sessions.get_mut(&place.client)?;
        let current = session.wire.as_ref().is_some_and(|(number, _)| *number == place.connection);
        current.then_some(session)
    }

    /// A packet of a client; `false` if the connection is over.
    pub(super) fn receive(&mut self, place: &Place, packet: Packet) -> bool {
        let Some(session) = self.session(place) else { return false };
        match packet {
            Packet::Publish(message) => {
                let answered = match message.id {
                    Some(id) => session.push(Packet::PubAck(id)),
                    None => true,
                };
                let qos = u8::from(message.id.is_some());
                self.publish(message, qos);
                answered
            }
            Packet::PubAck(id) => {
                session.sent.retain(|message| message.id != Some(id));
                session.advance();
                true
            }
            Packet::Subscribe { id, filters } => self.subscribe(place, id, filters),
            Packet::Unsubscribe { id, filters } => {
                session.filters.retain(|(filter, _)| !filters.contains(filter));
                session.push(Packet::UnsubAck(id))
            }
            Packet::PingReq => session.push(Packet::PingResp),
            Packet::Disconnect => {
                session.will = None;
                false
            }
            // What only a broker sends, or a second beginning.
            _ => false,
        }
    }

    fn subscribe(&mut self, place: &Place, id: u16, filters: Vec<(String, u8)>) -> bool {
        let retained = self.retained.clone();
        let Some(session) = self.session(place) else { return false };
        let mut codes = Vec::new();
        let mut granted = Vec::new();
        for (filter, qos) in filters {
            let known = session.filters.iter().position(|(known, _)| *known == filter);
            if known.is_none() && session.filters.len() >= MOST_FILTERS {
                codes.push(0x80);
                continue;
            }
            let qos = qos.min(1);
            codes.push(qos);
            match known {
                Some(at) => session.filters[at].1 = qos,
                None => session.filters.push((filter.clone(), qos)),
            }
            granted.push((filter, qos));
        }
        let answered = session.push(Packet::SubAck { id, codes });
        for (filter, qos) in granted {
            for (topic, (payload, kept)) in retained.iter().filter(|(t, _)| matches(&filter, t)) {
                let (topic, payload) = (topic.clone(), payload.clone());
                let message = Publish { duplicate: false, retain: true, topic, id: None, payload };
                session.deliver(message, qos.min(*kept));
            }
        }
        answered
    }

    fn publish(&mut self, message: Publish, qos: u8) {
        if message.retain {
            if message.payload.is_empty() {
                self.retained.remove(&message.topic);
            } else if self.retained.len() < MOST_RETAINED
                || self.retained.contains_key(&message.topic)
            {
                self.retained.insert(message.topic.clone(), (message.payload.clone(), qos));
            }
        }
        let message = Publish { duplicate: false, retain: false, id: None, ..message };
        for session in self.sessions.values_mut() {
            let wanted =
                session.filters.iter().filter(|(filter, _)| matches(filter, &message.topic));
            if let Some(most) = wanted.map(|(_, qos)| *qos).max() {
                session.deliver(message.clone(), qos.min(most));
            }
        }
    }

    fn publish_will(&mut self, will: Will) {
        let Will { topic, payload, qos, retain } = will;
        let message = Publish { duplicate: false, retain, topic, id: None, payload };
        self.publish(message, qos.min(1));
    }

    /// Forgets everybody, without their last wills.
    pub(super) fn forget(&mut self) {
        self.sessions.clear();
    }

    /// A connection ended; if the client did not say so itself, its will is done.
    pub(super) fn disconnect(&mut self, place: &Place) {
        let Some(session) = self.session(place) else { return };
        session.wire = None;
        let will = session.will.take();
        if session.clean {
            self.sessions.remove(&place.client);
        }
        if let Some(will) = will {
            self.publish_will(will);
        }
    }
}
