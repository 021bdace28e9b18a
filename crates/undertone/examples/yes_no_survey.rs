//! A yes/no survey: the collector designs a policy, every device checks it and answers once, the collector estimates.

use std::error::Error;

use undertone::prelude::*;

const QUESTION: &str = "Have you ever taken office supplies home?";
const PEOPLE: u32 = 5_000;

/// What a person's device keeps: what it has told, and the report it sends.
struct Device {
    ledger: Ledger,
    sent: Option<Report>,
}

impl Device {
    fn new() -> Result<Self, Box<dyn Error>> {
        // At most 2 nats of LDP about any datum, whoever asks.
        Ok(Self { ledger: Ledger::new("2".parse()?), sent: None })
    }

    /// Randomises the answer. Asked again it repeats its report: a second draw would tell more than the first.
    fn answer(
        &mut self,
        policy: &Policy,
        answer: &str,
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<u8>, Box<dyn Error>> {
        let (past, consent) = (Sequence::new(), Consent::default());
        let drawn = self.ledger.answer(QUESTION, policy, answer, &past, &consent, rng)?;
        self.sent = drawn.or(self.sent.take());
        Ok(self.sent.as_ref().ok_or("the report is lost")?.to_bytes())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // The collector expects one person in ten to say yes, and wants to know how many do.
    let design = Design::new(["no", "yes"])
        .prior([0.9, 0.1])
        .protect("lip:1")
        .objective(Objective::Frequency)
        .run()?;
    println!("{}\n", design.words());
    let policy = design.into_policy()?;
    println!("{}\n", RiskReport::of(policy.draft())?.words());

    // The people. Simulated, so that this program prints the same every time; a device takes system_rng().
    let (mut life, mut noise) = (seeded_rng(1), seeded_rng(2));
    let document = policy.to_json();
    let mut tally = Tally::new(&policy);
    let mut said_yes = 0;
    for _ in 0..PEOPLE {
        let yes = life.next_u32() % 100 < 13;
        said_yes += u32::from(yes);
        let (truth, lie) = if yes { ("yes", "no") } else { ("no", "yes") };
        // Nothing the collector says is trusted: a device verifies every claim of the document itself.
        let own = Policy::from_json(&document)?;
        let mut device = Device::new()?;
        let sent = device.answer(&own, truth, &mut noise)?;
        assert_eq!(
            device.answer(&own, lie, &mut noise)?,
            sent,
            "one answer, whatever is asked again"
        );

        // The collector again: it takes what this policy can have released, and nothing else.
        let report = Report::from_bytes(&sent)?;
        policy.accepts(&report)?;
        tally.add_report(&report)?;
    }

    let estimator = Estimator::new(Pool::new(&policy, tally)?, Settings::default())?;
    let yes = estimator.headline()?.shares.symbols[1];
    let truth = f64::from(said_yes) / f64::from(PEOPLE);
    println!(
        "{PEOPLE} people answered. Estimated to say yes: {:.2} %, between {:.2} and {:.2} %. In truth: {:.2} %.",
        100.0 * yes.value,
        100.0 * yes.low,
        100.0 * yes.high,
        100.0 * truth
    );
    // 19 seeds in 20 pass this; these do.
    assert!(yes.covers(truth));
    Ok(())
}
