//! How many connections each address has open.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::limit::network;

/// Open connections by address; addresses without any are not listed.
#[derive(Debug, Default)]
pub(super) struct Guests(Mutex<HashMap<IpAddr, usize>>);

/// One open connection of an address, until this is dropped.
#[derive(Debug)]
pub(super) struct Guest {
    guests: Arc<Guests>,
    network: IpAddr,
}

impl Guests {
    /// Lets an address have one more connection; `None` if it has `most` already.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr, most: usize) -> Option<Guest> {
        let network = network(address);
        let mut open = self.open();
        let own = open.entry(network).or_insert(0);
        if *own >= most {
            return None;
        }
        *own += 1;
        Some(Guest { guests: self.clone(), network })
    }

    fn open(&self) -> MutexGuard<'_, HashMap<IpAddr, usize>> {
        // Whole after every operation.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        let mut open = self.guests.open();
        if let Some(own) = open.get_mut(&self.network) {
            *own -= 1;
            if *own == 0 {
                open.remove(&self.network);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn each_address_has_its_own_number() {
        let guests = Arc::new(Guests::default());
        let admit = |text: &str| guests.admit(text.parse().unwrap(), 2);
        let first = admit("10.0.0.1").unwrap();
        let _second = admit("::ffff:10.0.0.1").unwrap();
        assert!(admit("10.0.0.1").is_none());
        let other = admit("2001:db8::1").unwrap();
        assert!(admit("2001:db8::2").is_some(), "and is gone at once");
        drop(first);
        assert!(admit("10.0.0.1").is_some());
        drop(other);
        assert_eq!(guests.open().len(), 1, "who has none is forgotten");
    }
}
