//! MQTT 3.1.1 packets as bytes, without QoS 2: what the client and the demonstration's broker speak.
//!
//! Written by hand: no MQTT library is linked (rumqttc brought old TLS with open advisories), and the codecs that stand
//! alone, mqttbytes 0.6 and mqttrs 0.4, are no longer kept and take packets this one refuses: of the sixteen malformed
//! ones tried, wildcards in topics, reserved flags, bytes behind the end and zero characters among them, eight each.

/// The most bytes that a packet of MQTT can have after its length.
pub const LARGEST: usize = 268_435_455;

/// The most bytes of a text, a password or the payload of a last will.
pub const LONGEST_TEXT: usize = 65_535;

/// A message on a topic.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Publish {
    /// Sent before, perhaps.
    pub duplicate: bool,
    /// To be kept for later subscribers, or kept from earlier.
    pub retain: bool,
    /// The topic it is published on.
    pub topic: String,
    /// Its number at QoS 1; `None` at QoS 0.
    pub id: Option<u16>,
    /// The bytes it carries.
    pub payload: Vec<u8>,
}

/// What to publish when a client is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Will {
    /// The topic to publish on.
    pub topic: String,
    /// The bytes to publish.
    pub payload: Vec<u8>,
    /// At which QoS.
    pub qos: u8,
    /// To be kept for later subscribers.
    pub retain: bool,
}

/// A client's first packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Connect {
    /// The protocol's level; 4 is MQTT 3.1.1.
    pub level: u8,
    /// Whether nothing is kept.
    pub clean: bool,
    /// A packet at least every so many seconds; 0 for no limit.
    pub keep_alive: u16,
    /// The client's name.
    pub client: String,
    /// Its last will.
    pub will: Option<Will>,
    /// Its user name.
    pub username: Option<String>,
    /// Its password.
    pub password: Option<Vec<u8>>,
}

/// A packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Packet {
    /// A client begins.
    Connect(Connect),
    /// The answer: whether a session was kept, and 0 or the reason of refusal.
    ConnAck {
        /// A session was kept.
        present: bool,
        /// 0, or why not.
        code: u8,
    },
    /// A message.
    Publish(Publish),
    /// A message was received.
    PubAck(u16),
    /// Topics to hear, each with the highest QoS wanted.
    Subscribe {
        /// Its number.
        id: u16,
        /// Filters and QoS.
        filters: Vec<(String, u8)>,
    },
    /// The QoS granted, or 0x80.
    SubAck {
        /// Which request.
        id: u16,
        /// One per filter.
        codes: Vec<u8>,
    },
    /// Topics to hear no more.
    Unsubscribe {
        /// Its number.
        id: u16,
        /// The filters of these topics.
        filters: Vec<String>,
    },
    /// They are heard no more.
    UnsubAck(u16),
    /// Are you there?
    PingReq,
    /// Yes.
    PingResp,
    /// A client ends in good order.
    Disconnect,
}

/// Bytes that are no packet, or one that is not taken here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an MQTT 3.1.1 packet that is taken here: {0}")]
pub struct Malformed(&'static str);

type Read<T> = Result<T, Malformed>;

/// The first packet in `bytes` and its length; `None` if more bytes are needed. A packet with more
/// than `largest` bytes after its length is refused as soon as that is known.
pub fn decode(bytes: &[u8], largest: usize) -> Read<Option<(Packet, usize)>> {
    let Some(&first) = bytes.first() else { return Ok(None) };
    let mut length = 0usize;
    let mut at = 1;
    loop {
        let Some(&byte) = bytes.get(at) else { return Ok(None) };
        length |= usize::from(byte & 0x7f) << (7 * (at - 1));
        if length > largest {
            return Err(Malformed("it is too large"));
        }
        at += 1;
        if byte & 0x80 == 0 {
            break;
        }
        if at > 4 {
            return Err(Malformed("its length has more than four bytes"));
        }
    }
    let Some(body) = bytes.get(at..at + length) else { return Ok(None) };
    let mut body = Body(body);
    let packet = read(first, &mut body)?;
    if !body.0.is_empty() {
        return Err(Malformed("there are bytes after its end"));
    }
    Ok(Some((packet, at + length)))
}

fn read(first: u8, body: &mut Body<'_>) -> Read<Packet> {
    let flags = first & 0x0f;
    let plain = |packet: Packet| if flags == 0 { Ok(packet) } else { Err(Malformed("flags")) };
    let two = |flags: u8| if flags == 2 { Ok(()) } else { Err(Malformed("flags")) };
    match first >> 4 {
        1 => plain(Packet::Connect(connect(body)?)),
        2 => {
            let present = match body.byte()? {
                0 => false,
                1 => true,
                _ => return Err(Malformed("flags of the acknowledgement")),
            };
            plain(Packet::ConnAck { present, code: body.byte()? })
        }
        3 => publish(flags, body).map(Packet::Publish),
        4 => plain(Packet::PubAck(body.id()?)),
        8 => {
            two(flags)?;
            let id = body.id()?;
            let mut filters = Vec::new();
            while !body.0.is_empty() {
                let filter = body.text()?;
                let qos = body.byte()?;
                if !valid_filter(&filter) || qos > 2 {
                    return Err(Malformed("a filter"));
                }
                filters.push((filter, qos));
            }
            if filters.is_empty() {
                return Err(Malformed("a subscription to nothing"));
            }
            Ok(Packet::Subscribe { id, filters })
        }
        9 => {
            let id = body.id()?;
            let codes = body.rest().to_vec();
            if codes.is_empty() || codes.iter().any(|&code| code > 2 && code != 0x80) {
                return Err(Malformed("the codes of a subscription"));
            }
            plain(Packet::SubAck { id, codes })
        }
        10 => {
            two(flags)?;
            let id = body.id()?;
            let mut filters = Vec::new();
            while !body.0.is_empty() {
                filters.push(body.text()?);
            }
            if filters.is_empty() {
                return Err(Malformed("an end of no subscription"));
            }
            Ok(Packet::Unsubscribe { id, filters })
        }
        11 => plain(Packet::UnsubAck(body.id()?)),
        12 => plain(Packet::PingReq),
        13 => plain(Packet::PingResp),
        14 => plain(Packet::Disconnect),
        _ => Err(Malformed("an unknown kind, or QoS 2")),
    }
}

fn connect(body: &mut Body<'_>) -> Read<Connect> {
    if body.text()? != "MQTT" {
        return Err(Malformed("another protocol"));
    }
    let level = body.byte()?;
    let flags = body.byte()?;
    let has = |bit: u8| flags & bit != 0;
    let qos = flags >> 3 & 3;
    if has(1) || qos > 2 || !has(4) && flags & 0x38 != 0 || has(0x40) && !has(0x80) {
        return Err(Malformed("flags of the connection"));
    }
    let keep_alive = body.number()?;
    let client = body.text()?;
    let will = if has(4) {
        let topic = body.text()?;
        if !valid_topic(&topic) {
            return Err(Malformed("the topic of the will"));
        }
        Some(Will { topic, payload: body.bytes()?.to_vec(), qos, retain: has(0x20) })
    } else {
        None
    };
    let username = if has(0x80) { Some(body.text()?) } else { None };
    let password = if has(0x40) { Some(body.bytes()?.to_vec()) } else { None };
    Ok(Connect { level, clean: has(2), keep_alive, client, will, username, password })
}

fn publish(flags: u8, body: &mut Body<'_>) -> Read<Publish> {
    let topic = body.text()?;
    if !valid_topic(&topic) {
        return Err(Malformed("a topic"));
    }
    let (duplicate, retain) = (flags & 8 != 0, flags & 1 != 0);
    let id = match flags >> 1 & 3 {
        0 if duplicate => return Err(Malformed("a duplicate at QoS 0")),
        0 => None,
        1 => Some(body.id()?),
        _ => return Err(Malformed("QoS 2")),
    };
    Ok(Publish { duplicate, retain, topic, id, payload: body.rest().to_vec() })
}

/// Whether a text can be part of a packet.
pub fn valid_text(text: &str) -> bool {
    text.len() <= LONGEST_TEXT && !text.contains('\0')
}

/// Whether messages can be published to it.
pub fn valid_topic(topic: &str) -> bool {
    !topic.is_empty() && valid_text(topic) && !topic.contains(['+', '#'])
}

/// Whether it can be subscribed to.
pub fn valid_filter(filter: &str) -> bool {
    let levels = filter.split('/').count();
    let good = |(at, level): (usize, &str)| match level {
        "#" => at + 1 == levels,
        "+" => true,
        _ => !level.contains(['+', '#']),
    };
    !filter.is_empty() && valid_text(filter) && filter.split('/').enumerate().all(good)
}

/// Whether a filter takes a topic.
pub fn matches(filter: &str, topic: &str) -> bool {
    // What a broker says of itself is not meant by a wildcard.
    if topic.starts_with('$') && filter.starts_with(['+', '#']) {
        return false;
    }
    let (mut filter, mut topic) = (filter.split('/'), topic.split('/'));
    loop {
        match (filter.next(), topic.next()) {
            (Some("#"), _) => return true,
            (Some("+"), Some(_)) => {}
            (Some(wanted), Some(found)) if wanted == found => {}
            (None, None) => return true,
            _ => return false,
        }
    }
}

/// The packet as bytes.
pub fn encode(packet: &Packet) -> Vec<u8> {
    let mut body = Vec::new();
    let first = match packet {
        Packet::Connect(connect) => {
            text(&mut body, "MQTT");
            let Connect { level, clean, keep_alive, client, will, username, password } = connect;
            let mut flags = u8::from(*clean) << 1;
            if let Some(will) = will {
                flags |= 4 | will.qos << 3 | u8::from(will.retain) << 5;
            }
            flags |= u8::from(username.is_some()) << 7 | u8::from(password.is_some()) << 6;
            body.extend([*level, flags]);
            body.extend(keep_alive.to_be_bytes());
            text(&mut body, client);
            if let Some(will) = will {
                text(&mut body, &will.topic);
                bytes(&mut body, &will.payload);
            }
            if let Some(username) = username {
                text(&mut body, username);
            }
            if let Some(password) = password {
                bytes(&mut body, password);
            }
            0x10
        }
        Packet::ConnAck { present, code } => {
            body.extend([u8::from(*present), *code]);
            0x20
        }
        Packet::Publish(message) => {
            text(&mut body, &message.topic);
            if let Some(id) = message.id {
                body.extend(id.to_be_bytes());
            }
            body.extend(&message.payload);
            let qos = u8::from(message.id.is_some());
            0x30 | u8::from(message.duplicate) << 3 | qos << 1 | u8::from(message.retain)
        }
        Packet::PubAck(id) => {
            body.extend(id.to_be_bytes());
            0x40
        }
        Packet::Subscribe { id, filters } => {
            body.extend(id.to_be_bytes());
            for (filter, qos) in filters {
                text(&mut body, filter);
                body.push(*qos);
            }
            0x82
        }
        Packet::SubAck { id, codes } => {
            body.extend(id.to_be_bytes());
            body.extend(codes);
            0x90
        }
        Packet::Unsubscribe { id, filters } => {
            body.extend(id.to_be_bytes());
            filters.iter().for_each(|filter| text(&mut body, filter));
            0xa2
        }
        Packet::UnsubAck(id) => {
            body.extend(id.to_be_bytes());
            0xb0
        }
        Packet::PingReq => 0xc0,
        Packet::PingResp => 0xd0,
        Packet::Disconnect => 0xe0,
    };
    let mut whole = vec![first];
    let mut length = body.len();
    loop {
        let low = (length & 0x7f) as u8;
        length >>= 7;
        whole.push(if length > 0 { low | 0x80 } else { low });
        if length == 0 {
            break;
        }
    }
    whole.extend(body);
    whole
}

fn text(body: &mut Vec<u8>, text: &str) {
    bytes(body, text.as_bytes());
}

/// Longer texts do not occur: every one was read from a packet or was checked before.
fn bytes(body: &mut Vec<u8>, bytes: &[u8]) {
    let length = bytes.len().min(LONGEST_TEXT);
    body.extend((length as u16).to_be_bytes());
    body.extend(&bytes[..length]);
}

/// What is left of a packet.
struct Body<'a>(&'a [u8]);

impl<'a> Body<'a> {
    fn take(&mut self, count: usize) -> Read<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Malformed("it ends too soon"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    fn byte(&mut self) -> Read<u8> {
        Ok(self.take(1)?[0])
    }

    fn number(&mut self) -> Read<u16> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// A packet's number is not 0.
    fn id(&mut self) -> Read<u16> {
        match self.number()? {
            0 => Err(Malformed("packet number 0")),
            id => Ok(id),
        }
    }

    fn bytes(&mut self) -> Read<&'a [u8]> {
        let length = self.number()?;
        self.take(usize::from(length))
    }

    fn text(&mut self) -> Read<String> {
        let text = std::str::from_utf8(self.bytes()?).map_err(|_| Malformed("a text"))?;
        if text.contains('\0') {
            return Err(Malformed("a text with a zero character"));
        }
        Ok(text.into())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
