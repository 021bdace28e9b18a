//! A telemetry counter: devices report every week how often a program crashed. Nothing is assumed about the counts, and a
//! device stops when it has told as much about itself as its owner agreed to.

use std::error::Error;

use undertone::prelude::*;
use undertone_core::LedgerError;

const DEVICES: usize = 4_000;
const MOST: u32 = 6;
/// All weeks are about one datum: who often crashes this week often crashed the week before.
const DATUM: &str = "crashes of this device";

/// A device: how much it has told, and what.
struct Device<'a> {
    ledger: Ledger,
    past: Sequence<'a>,
    /// How often it crashes in a usual week.
    usual: u32,
}

impl<'a> Device<'a> {
    /// The counter of this week, at most [`MOST`].
    fn crashes(&self, rng: &mut impl CryptoRng) -> u32 {
        let odd = rng.next_u32() % 4;
        (self.usual + odd / 2).saturating_sub(odd % 2).min(MOST)
    }

    /// An independent new report, unless it would tell too much.
    fn report(
        &mut self,
        policy: &'a Policy,
        crashes: u32,
        rng: &mut impl CryptoRng,
    ) -> Result<Option<Report>, Box<dyn Error>> {
        // The ledger holds the budget here; what the owner agreed to otherwise is not limited.
        let permit = match self.ledger.spend(DATUM, policy, &self.past, &Consent::UNLIMITED) {
            Ok(permit) => permit,
            Err(LedgerError::Budget { .. }) => return Ok(None),
            Err(refused) => return Err(refused.into()),
        };
        let count = policy.inputs().symbol(crashes as usize)?;
        let report = policy.randomize(count, permit, rng)?;
        self.past.released(policy, &report)?;
        Ok(Some(report))
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // Counts are numbers: estimates then have a mean. Any prior: the claim is LDP, whatever is believed.
    let counts = (0..=MOST).map(|count| count.to_string().parse());
    let alphabet = Alphabet::points(counts.collect::<Result<_, _>>()?)?;
    let policy = Design::over(&alphabet).any_prior().protect("ldp:1").policy()?;
    println!("policy {} claims {}", policy.id(), policy.claims()[0]);

    let (mut life, mut noise) = (seeded_rng(4), seeded_rng(5)); // a device takes system_rng()
    let mut devices = Vec::with_capacity(DEVICES);
    for at in 0..DEVICES {
        // Most programs hardly crash, some do all the time; the budget lasts for three weeks.
        let usual = if at % 10 == 0 { 4 } else { life.next_u32() % 2 };
        devices.push(Device { ledger: Ledger::new("3".parse()?), past: Sequence::new(), usual });
    }
    for week in 1..=4 {
        let mut tally = Tally::new(&policy);
        let (mut crashes, mut silent) = (0u32, 0);
        for device in &mut devices {
            let count = device.crashes(&mut life);
            crashes += count;
            match device.report(&policy, count, &mut noise)? {
                Some(report) => tally.add_report(&report)?,
                None => silent += 1,
            }
        }
        if silent == DEVICES {
            println!("week {week}: all budgets are spent");
            assert_eq!(week, 4);
            continue;
        }
        let estimator = Estimator::new(Pool::new(&policy, tally)?, Settings::default())?;
        let mean = estimator.summary()?.mean.ok_or("the counts have no mean")?.estimate;
        let truth = f64::from(crashes) / DEVICES as f64;
        println!(
            "week {week}: {:.2} crashes a device, between {:.2} and {:.2}; in truth {truth:.2}",
            mean.value, mean.low, mean.high
        );
        // 19 seeds in 20 pass this in any one week; these do in all three.
        assert!(mean.covers(truth) && silent == 0);
    }
    Ok(())
}
