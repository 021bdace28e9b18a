//! A sensor: a meter reports how much power a house draws, every hour, without telling whether somebody is at home.

use std::error::Error;

use undertone::prelude::*;
use undertone::watchdog::{WatchdogBudget, WatchdogMethod, WatchdogRequest, watchdog};
use undertone::{Joint, Symbols};
use undertone_core::{SecretConsent, Token};

const HOURS: u32 = 24 * 90;
const LEVELS: [&str; 6] = ["to 300 W", "to 600 W", "to 900 W", "to 1200 W", "to 1500 W", "above"];
/// How often nobody, and somebody, is at home and so much power is drawn.
const LAW: [[f64; 6]; 2] =
    [[0.250, 0.080, 0.030, 0.020, 0.015, 0.005], [0.055, 0.120, 0.160, 0.120, 0.090, 0.055]];
const BUDGET: f64 = 0.6;

fn main() -> Result<(), Box<dyn Error>> {
    let names = |names: &[&str]| Symbols::names(names.iter().map(ToString::to_string).collect());
    let joint = Joint::new(LAW.iter().map(|row| row.to_vec()).collect())?;
    let report = watchdog(&WatchdogRequest {
        joint: joint.over(&names(&["away", "home"])?, &names(&LEVELS)?)?,
        secret_name: "presence".into(),
        source: "a metered quarter".into(),
        budget: WatchdogBudget::Sides { lower: BUDGET, upper: BUDGET },
        method: Some(WatchdogMethod::Optimal),
    })?;
    println!("{}\n", report.words());
    let policy = report.policy.as_ref().ok_or("the budget is not met")?;
    println!("{}\n", RiskReport::of(policy.draft())?.words());

    // The meter. Its owner cares about presence, not about power: that is what is agreed to.
    let limit = SecretConsent { name: "presence".into(), ldp: "1.2".parse()? };
    let consent = Consent { secrets: vec![limit], ..Consent::UNLIMITED };
    let mut ledger = Ledger::new("20".parse()?);
    let (mut life, mut noise) = (seeded_rng(6), seeded_rng(7)); // a meter takes system_rng()
    let mut seen = vec![[0u32; 2]; policy.outputs().len()];
    for hour in 0..HOURS {
        let (home, level) = lived(&mut life);
        // A datum of its own, because the hours of this house are drawn independently. Where one hour tells about the
        // next, all of them are one datum, and the budget ends the reports (see `telemetry_counter`).
        let datum = format!("hour {hour}");
        let sent = ledger
            .answer(&datum, policy, LEVELS[level], &Sequence::new(), &consent, &mut noise)?
            .ok_or("an hour is reported once")?;
        // The power company takes what this policy can have released, and nothing else.
        let sent = Report::from_bytes(&sent.to_bytes())?;
        policy.accepts(&sent)?;
        let Token::Index(output) = sent.token else { return Err("not an index".into()) };
        seen[output as usize][usize::from(home)] += 1;
    }

    // Whoever watches the reports for a quarter knows how often somebody was at home after each.
    let at_home = seen.iter().map(|[_, home]| home).sum::<u32>() as f64 / f64::from(HOURS);
    println!("Somebody was at home {:.1} % of all hours.", 100.0 * at_home);
    for (output, [away, home]) in seen.iter().enumerate() {
        let hours = away + home;
        if hours == 0 {
            continue;
        }
        let share = f64::from(*home) / f64::from(hours);
        println!("  after report {output:>2}, seen {hours:>4} times: {:5.1} %", 100.0 * share);
        // Belief moves by a factor of at most e^0.6 either way; four standard errors for what chance does to a count.
        let chance = 4.0 * (0.25 / f64::from(hours)).sqrt();
        assert!(share <= at_home * BUDGET.exp() + chance, "presence is told by report {output}");
        assert!(share >= at_home * (-BUDGET).exp() - chance, "absence is told by report {output}");
    }
    println!("The reports keep {:.0} % of what the readings tell about power.", 100.0 * report.nmi);
    Ok(())
}

/// One hour of the house: whether somebody is at home, and the power that is drawn.
fn lived(rng: &mut impl CryptoRng) -> (bool, usize) {
    let mut left = f64::from(rng.next_u32()) / 4_294_967_296.0;
    for (secret, row) in LAW.iter().enumerate() {
        for (level, p) in row.iter().enumerate() {
            left -= p;
            if left < 0.0 {
                return (secret == 1, level);
            }
        }
    }
    (true, 0)
}
