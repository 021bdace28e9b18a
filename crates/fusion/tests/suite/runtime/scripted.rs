//! Brokers that do exactly what a test says.

use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use undertone_fusion::runtime::packet::{LARGEST, Packet, decode, encode};
use undertone_fusion::runtime::{Address, Link, LinkEvent, LinkOptions};

use crate::runtime::brokers::LIMIT;

/// Waits for connections on the loopback interface.
pub(crate) struct Script(TcpListener);

impl Script {
    pub(crate) async fn start() -> Self {
        Self(TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap())
    }

    pub(crate) fn port(&self) -> u16 {
        self.0.local_addr().unwrap().port()
    }

    /// How a client connects to it.
    pub(crate) fn options(&self) -> LinkOptions {
        LinkOptions {
            longest_pause: Duration::from_millis(200),
            ..LinkOptions::new(Address::local(self.port()), "client".into())
        }
    }

    /// The next connection, before anything was said.
    pub(crate) async fn accept(&self) -> Peer {
        let (stream, _) = tokio::time::timeout(LIMIT, self.0.accept()).await.unwrap().unwrap();
        Peer { stream, bytes: Vec::new() }
    }

    /// The next connection, once its client was greeted and accepted.
    pub(crate) async fn welcome(&self) -> Peer {
        let mut peer = self.accept().await;
        assert!(matches!(peer.next().await, Some(Packet::Connect(_))));
        peer.say(&Packet::ConnAck { present: false, code: 0 }).await;
        peer
    }
}

/// A client, as its broker sees it.
pub(crate) struct Peer {
    pub(crate) stream: TcpStream,
    bytes: Vec<u8>,
}

impl Peer {
    /// The next packet; `None` when the client has closed the connection.
    pub(crate) async fn next(&mut self) -> Option<Packet> {
        loop {
            if let Some((packet, length)) = decode(&self.bytes, LARGEST).unwrap() {
                self.bytes.drain(..length);
                return Some(packet);
            }
            let read = self.stream.read_buf(&mut self.bytes);
            match tokio::time::timeout(LIMIT, read).await.unwrap() {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    pub(crate) async fn say(&mut self, packet: &Packet) {
        self.stream.write_all(&encode(packet)).await.unwrap();
    }
}

/// The next event of a connection.
pub(crate) async fn event(link: &mut Link) -> LinkEvent {
    tokio::time::timeout(LIMIT, link.next()).await.unwrap().unwrap()
}

/// The reason of the next event, which must be a loss.
pub(crate) async fn loss(link: &mut Link) -> String {
    match event(link).await {
        LinkEvent::Lost { reason } => reason,
        other => panic!("{other:?}"),
    }
}

/// Skips everything until the connection is lost, and says why it was.
pub(crate) async fn until_lost(link: &mut Link) -> String {
    loop {
        if let LinkEvent::Lost { reason } = event(link).await {
            return reason;
        }
    }
}

/// Skips news of the connection until a message is delivered.
pub(crate) async fn delivery(link: &mut Link) -> (String, Vec<u8>) {
    loop {
        if let LinkEvent::Delivered(message) = event(link).await {
            return (message.topic, message.payload);
        }
    }
}
