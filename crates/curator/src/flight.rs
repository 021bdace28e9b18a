//! Bytes in flight: what all requests and answers together may hold in memory.
//!
//! A body takes its bytes from here before it is read further, and an answer before it is sent, so what a
//! crowd of slow connections can hold is a number the owner sets and not the product of two limits. One
//! network may hold a share of it, so that it cannot keep everybody else out. The owner's own bytes are
//! counted and never refused.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::limit::network;

/// How many bytes may be held.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capacity {
    /// By everybody together.
    pub total: usize,
    /// By one address (for IPv6, one /64).
    pub per_address: usize,
}

/// What is held at present.
#[derive(Debug)]
pub(crate) struct Flight {
    capacity: Capacity,
    held: Mutex<Held>,
}

/// Networks that hold nothing are not listed, so there are never more entries than requests under way.
#[derive(Debug, Default)]
struct Held {
    total: usize,
    by_network: HashMap<IpAddr, usize>,
}

/// There is no room for so many bytes now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct NoRoom;

impl Flight {
    pub(crate) fn new(capacity: Capacity) -> Arc<Self> {
        Arc::new(Self { capacity, held: Mutex::default() })
    }

    /// How many bytes are held.
    pub(crate) fn total(&self) -> usize {
        self.held().total
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // Both numbers change together, without anything between them that could panic.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes that count as held until this is dropped.
#[derive(Debug)]
pub(crate) struct Hold {
    flight: Arc<Flight>,
    network: IpAddr,
    /// Whether it is held whatever else is: the owner's.
    always: bool,
    bytes: usize,
}

impl Hold {
    /// Nothing yet, for an address.
    pub(crate) fn none(flight: &Arc<Flight>, address: IpAddr, always: bool) -> Self {
        Self { flight: flight.clone(), network: network(address), always, bytes: 0 }
    }

    /// Holds so many bytes in all; what it held before stays held if there is no room.
    pub(crate) fn grow_to(&mut self, bytes: usize) -> Result<(), NoRoom> {
        let more = bytes.saturating_sub(self.bytes);
        if more == 0 {
            return Ok(());
        }
        let Capacity { total, per_address } = self.flight.capacity;
        let mut held = self.flight.held();
        let own = held.by_network.get(&self.network).copied().unwrap_or(0);
        if !self.always && (more > total.saturating_sub(held.total) || own + more > per_address) {
            return Err(NoRoom);
        }
        held.total += more;
        held.by_network.insert(self.network, own + more);
        drop(held);
        self.bytes = bytes;
        Ok(())
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let mut held = self.flight.held();
        held.total -= self.bytes;
        if let Some(own) = held.by_network.get_mut(&self.network) {
            *own -= self.bytes;
            if *own == 0 {
                held.by_network.remove(&self.network);
            }
        }
    }
}

/// Bytes of an answer, which count as held until they are sent and dropped.
pub(crate) struct Counted {
    bytes: bytes::Bytes,
    _hold: Hold,
}

impl Counted {
    /// Bytes for which `hold` was grown.
    pub(crate) fn new(bytes: bytes::Bytes, hold: Hold) -> Self {
        Self { bytes, _hold: hold }
    }
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn address(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    #[test]
    fn one_address_has_a_share_and_all_have_a_total() {
        let flight = Flight::new(Capacity { total: 100, per_address: 40 });
        let hold = |last| Hold::none(&flight, address(last), false);
        let (mut a, mut b, mut c, mut d) = (hold(1), hold(1), hold(2), hold(3));
        a.grow_to(30).unwrap();
        assert_eq!(b.grow_to(11), Err(NoRoom), "41 for one address");
        b.grow_to(10).unwrap();
        assert_eq!(a.grow_to(31), Err(NoRoom));
        a.grow_to(20).unwrap();
        c.grow_to(40).unwrap();
        assert_eq!(d.grow_to(21), Err(NoRoom), "101 for all");
        d.grow_to(20).unwrap();
        assert_eq!(flight.total(), 100);
        let mut owner = Hold::none(&flight, address(3), true);
        owner.grow_to(1000).unwrap();
        drop((owner, c));
        d.grow_to(40).unwrap();
        drop((a, b, d));
        assert_eq!(flight.total(), 0);
        assert!(flight.held().by_network.is_empty(), "who holds nothing is forgotten");
    }

    #[test]
    fn sent_bytes_are_given_back() {
        let flight = Flight::new(Capacity { total: 10, per_address: 10 });
        let mut hold = Hold::none(&flight, address(1), false);
        hold.grow_to(5).unwrap();
        let whole = bytes::Bytes::from_owner(Counted::new("hello".into(), hold));
        let part = whole.slice(1..2);
        drop(whole);
        assert_eq!((flight.total(), &part[..]), (5, &b"e"[..]));
        drop(part);
        assert_eq!(flight.total(), 0);
    }
}
