//! How often one address may ask, and how many reports it may send: token buckets in bounded memory.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// So many at once, and so many per second after that.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rate {
    /// At once.
    pub burst: f64,
    /// Per second.
    pub per_second: f64,
}

/// Buckets by address. IPv6 addresses share a bucket per /64, the smallest network people are given.
///
/// At most [`Limiter::MOST`] addresses are remembered. When that is reached, those that have waited long
/// enough to be like new are forgotten; if that frees nothing, newcomers share one bucket, so that a
/// crowd of addresses costs newcomers their own allowance and never memory.
#[derive(Debug)]
pub struct Limiter {
    rate: Rate,
    buckets: Mutex<Buckets>,
}

#[derive(Debug, Default)]
struct Buckets {
    known: HashMap<IpAddr, Bucket>,
    crowd: Option<Bucket>,
    swept: Option<Instant>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    left: f64,
    at: Instant,
}

impl Limiter {
    /// The most addresses remembered.
    pub const MOST: usize = 1 << 16;

    /// An empty limiter.
    pub fn new(rate: Rate) -> Self {
        Self { rate, buckets: Mutex::default() }
    }

    /// Takes `cost` from the address's bucket; the wait until there is something again if it is empty.
    ///
    /// Whoever has something left may take more than that and owes the rest, so that a batch larger than
    /// the burst gets through, and is paid for by waiting afterwards.
    pub fn take(&self, address: IpAddr, cost: f64, now: Instant) -> Result<(), Duration> {
        self.with_bucket(address, now, |bucket, rate| {
            if bucket.left >= 1.0 {
                bucket.left -= cost;
                return Ok(());
            }
            // A rate of zero means waiting for good; an hour says enough.
            let wait = (1.0 - bucket.left) / rate.per_second;
            Err(Duration::from_secs_f64(if wait < 3600.0 { wait } else { 3600.0 }))
        })
    }

    fn with_bucket<T>(
        &self,
        address: IpAddr,
        now: Instant,
        act: impl FnOnce(&mut Bucket, Rate) -> T,
    ) -> T {
        let mut guard = self.buckets.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let buckets = &mut *guard;
        let key = network(address);
        let fresh = Bucket { left: self.rate.burst, at: now };
        if !buckets.known.contains_key(&key) && buckets.known.len() >= Self::MOST {
            self.sweep(buckets, now);
        }
        let full = buckets.known.len() >= Self::MOST;
        let bucket = match buckets.known.get_mut(&key) {
            Some(bucket) => bucket,
            None if full => buckets.crowd.get_or_insert(fresh),
            None => buckets.known.entry(key).or_insert(fresh),
        };
        self.refill(bucket, now);
        act(bucket, self.rate)
    }

    fn refill(&self, bucket: &mut Bucket, now: Instant) {
        let waited = now.saturating_duration_since(bucket.at).as_secs_f64();
        bucket.left = (bucket.left + waited * self.rate.per_second).min(self.rate.burst);
        bucket.at = bucket.at.max(now);
    }

    /// Forgets who is like new; at most once a second, because it looks at everybody.
    fn sweep(&self, buckets: &mut Buckets, now: Instant) {
        let recent = |at: Instant| now.saturating_duration_since(at) < Duration::from_secs(1);
        if buckets.swept.is_some_and(recent) {
            return;
        }
        buckets.swept = Some(now);
        buckets.known.retain(|_, bucket| {
            self.refill(bucket, now);
            bucket.left < self.rate.burst
        });
    }

    #[cfg(test)]
    fn remembered(&self) -> usize {
        self.buckets.lock().map(|buckets| buckets.known.len()).unwrap_or(0)
    }
}

/// The network an address stands for: itself, or for IPv6 its /64.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => match v6.to_ipv4_mapped() {
            Some(v4) => IpAddr::V4(v4),
            None => IpAddr::V6((u128::from(v6) >> 64 << 64).into()),
        },
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn address(n: u32) -> IpAddr {
        IpAddr::V4(Ipv4Addr::from(n))
    }

    #[test]
    fn a_burst_then_a_trickle() {
        let limiter = Limiter::new(Rate { burst: 3.0, per_second: 2.0 });
        let start = Instant::now();
        for _ in 0..3 {
            assert!(limiter.take(address(1), 1.0, start).is_ok());
        }
        let wait = limiter.take(address(1), 1.0, start).unwrap_err();
        assert!((wait.as_secs_f64() - 0.5).abs() < 1e-9);
        assert!(limiter.take(address(2), 1.0, start).is_ok(), "another address has its own bucket");
        let later = start + Duration::from_millis(500);
        assert!(limiter.take(address(1), 1.0, later).is_ok());
        assert!(limiter.take(address(1), 1.0, later).is_err());
    }

    #[test]
    fn a_batch_is_paid_for_in_full() {
        let limiter = Limiter::new(Rate { burst: 10.0, per_second: 2.0 });
        let start = Instant::now();
        // More than the burst: it goes through, and what follows waits for all of it.
        assert!(limiter.take(address(1), 100.0, start).is_ok());
        let wait = limiter.take(address(1), 1.0, start).unwrap_err();
        assert!((wait.as_secs_f64() - 45.5).abs() < 1e-9, "{wait:?}");
        // Many small ones and one large one give the same number in the same time.
        let (one, many) = (address(2), address(3));
        assert!(limiter.take(one, 10.0, start).is_ok());
        assert!((0..10).all(|_| limiter.take(many, 1.0, start).is_ok()));
        for address in [one, many] {
            assert!(limiter.take(address, 1.0, start).is_err());
            assert!(limiter.take(address, 1.0, start + Duration::from_millis(500)).is_ok());
        }
    }

    #[test]
    fn one_network_is_one_address() {
        let limiter = Limiter::new(Rate { burst: 1.0, per_second: 0.0 });
        let now = Instant::now();
        assert!(limiter.take("2001:db8::1".parse().unwrap(), 1.0, now).is_ok());
        assert!(limiter.take("2001:db8::2".parse().unwrap(), 1.0, now).is_err());
        assert!(limiter.take("2001:db8:0:1::2".parse().unwrap(), 1.0, now).is_ok());
        assert!(limiter.take("::ffff:1.2.3.4".parse().unwrap(), 1.0, now).is_ok());
        assert!(limiter.take("1.2.3.4".parse().unwrap(), 1.0, now).is_err());
    }

    #[test]
    fn memory_is_bounded_and_the_idle_are_forgotten() {
        let limiter = Limiter::new(Rate { burst: 2.0, per_second: 1.0 });
        let start = Instant::now();
        for n in 0..2 * Limiter::MOST as u32 {
            let _ = limiter.take(address(n), 1.0, start);
        }
        assert_eq!(limiter.remembered(), Limiter::MOST);
        let newcomer = address(u32::MAX);
        assert!(limiter.take(newcomer, 1.0, start).is_err(), "the crowd's bucket is empty");
        let later = start + Duration::from_secs(2);
        assert!(limiter.take(newcomer, 1.0, later).is_ok());
        assert_eq!(limiter.remembered(), 1);
    }
}
