//! A level is called exact only after its own witness has been measured.

use super::{Guarantee, Notion, Setting};
use undertone_design::measure::{
    alpha_lift, arimoto, di, ldp, lip, maximal_leakage, mutual_information, sibson,
};
use undertone_design::{Channel, Distribution, Error};

/// How far, relative to the budget or the level, a measured witness may be off: channels are floats, and a
/// lift within 10⁻⁷ of one has no more digits than this.
pub const TOLERANCE: f64 = 1e-9;

/// What measuring a witness says about a claimed level.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Verdict {
    /// The level claimed, raised to what a witness within the premise attains beyond it.
    pub(super) level: Guarantee,
    /// Whether the witness keeps the premise and attains the claimed level, both within [`TOLERANCE`].
    pub(super) exact: bool,
    /// Whether the witness keeps the premise and passes the claimed level by more than [`TOLERANCE`]: the
    /// level was derived wrongly and must not be used.
    pub(super) refuted: bool,
}

/// Measures `witness` against the premise `from` and the level claimed for it.
pub(super) fn verdict(
    from: &Guarantee,
    claimed: &Guarantee,
    law: &Distribution,
    setting: &Setting,
    witness: &Channel,
) -> Result<Verdict, Error> {
    let doubtful = Verdict { level: *claimed, exact: false, refuted: false };
    let (Some(kept), Some(reached)) = (
        measured(from.notion(), law, setting, witness)?,
        measured(claimed.notion(), law, setting, witness)?,
    ) else {
        return Ok(doubtful);
    };
    let at_most = |found: f64, budget: f64| found <= budget * (1.0 + TOLERANCE);
    let lower_free = from.notion() == Notion::Pml;
    if !(at_most(kept.upper(), from.upper()) && (lower_free || at_most(kept.lower(), from.lower())))
    {
        return Ok(doubtful);
    }
    let attains = |found: f64, level: f64| found == level || found >= level * (1.0 - TOLERANCE);
    let sides = [(reached.lower(), claimed.lower()), (reached.upper(), claimed.upper())];
    let exact = sides.iter().all(|&(found, level)| attains(found, level));
    let refuted = !sides.iter().all(|&(found, level)| at_most(found, level));
    let level = claimed.raised_to(reached.lower(), reached.upper());
    Ok(Verdict { level, exact: exact && !refuted, refuted })
}

/// The leakage of `channel` in `notion` under `law`; `None` for notions of whole networks.
fn measured(
    notion: Notion,
    law: &Distribution,
    setting: &Setting,
    channel: &Channel,
) -> Result<Option<Guarantee>, Error> {
    let order = || setting.alpha.unwrap_or(f64::INFINITY);
    let level = match notion {
        Notion::Ldp | Notion::Wclip => ldp::leakage(channel).nats,
        Notion::Lip | Notion::Infp => lip::leakage(law, channel)?.nats,
        Notion::Alip => {
            let lower = lip::min_lift(law, channel)?.nats;
            return Ok(Some(Guarantee::sides(lower, lip::max_lift(law, channel)?.nats)));
        }
        Notion::Bplip => {
            let mut worst = 0.0f64;
            for prior in &setting.priors {
                worst = worst.max(lip::leakage(prior, channel)?.nats);
            }
            worst
        }
        Notion::Pml => lip::max_lift(law, channel)?.nats,
        Notion::Di => di::leakage(law, channel)?.nats,
        Notion::Mip | Notion::Avgleak => mutual_information::leakage(law, channel)?,
        Notion::Mil => maximal_leakage::leakage(law, channel)?,
        Notion::Sibson => sibson::leakage(law, channel, order())?,
        Notion::Arimoto => arimoto::leakage(law, channel, order())?,
        Notion::Alphalift => alpha_lift::leakage(law, channel, order())?.nats,
        Notion::Infdp => neighbour_ratio(channel),
        Notion::Mipx | Notion::Ident => return Ok(None),
    };
    Ok(Some(Guarantee::raw(notion, level)))
}

/// ln of the largest likelihood ratio between inputs whose indices differ in one bit.
fn neighbour_ratio(channel: &Channel) -> f64 {
    let mut worst = 0.0f64;
    for (g, row) in channel.rows().iter().enumerate() {
        for bit in
            (0..usize::BITS).map(|bit| 1usize << bit).take_while(|bit| *bit < channel.inputs())
        {
            let Some(other) = channel.rows().get(g ^ bit) else { continue };
            let cells = row.as_slice().iter().zip(other.as_slice()).filter(|(a, _)| **a > 0.0);
            worst = cells.map(|(a, b)| (a / b).ln()).fold(worst, f64::max);
        }
    }
    worst
}
