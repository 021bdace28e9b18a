//! What learning a prior has bought, against LDP all along at the same total.
//!
//! The rounds cost one person the sum T of their attained LDP. Spent on LDP alone, T allows r rounds at T/r each,
//! with the better of k-ary randomised response and unary bits, which need no prior. Both ways are judged by the standard
//! error of the shares from the same numbers of reports, at the newest estimate. No channel can beat the *best* LDP
//! channel of its own attained level for a known prior, since it is one; what a context-aware round adds is
//! the LIP promise. So the comparison may well show a loss, and then says so.

use serde::Serialize;
use undertone::Distribution;
use undertone::design::{Design, DesignMethod, Objective, lip_at, share_variance};
use undertone_core::{Alphabet, Claim, Epsilon, Nats, Policy};
use undertone_wire::{Problem, RoundState};

use super::estimates::{self, Counted};
use super::survey::RoundNote;
use super::{AppState, CachedSurvey, blocking};
use crate::store::RoundTally;

/// What learning a prior has bought, against LDP all along at the same total.
#[derive(Clone, Debug, Serialize)]
pub struct Gain {
    /// The attained LDP of all rounds, in nats.
    pub total_ldp: String,
    /// What each of as many rounds of LDP alone could have had.
    pub ldp_each: String,
    /// Round by round.
    pub rounds: Vec<GainRound>,
    /// The standard error of the shares from all rounds.
    pub error: f64,
    /// What it would be with LDP alone.
    pub ldp_error: f64,
    /// The share of the error that was saved; negative for a loss.
    pub gain: f64,
    /// The LIP that LDP alone attains at the newest estimate, where that can be worked out.
    pub ldp_lip: Option<f64>,
    /// The comparison in words.
    pub in_words: String,
    /// Whether a round that is still open counts with the reports that are expected of it.
    pub expected: bool,
}

/// One round of the comparison.
#[derive(Clone, Debug, Serialize)]
pub struct GainRound {
    /// Its number.
    pub round: usize,
    /// Its reports.
    pub reports: u64,
    /// Its attained LDP, in nats.
    pub ldp: String,
    /// The standard error of the shares from this round.
    pub error: Option<f64>,
    /// What it would be with LDP alone.
    pub ldp_error: Option<f64>,
}

/// Against LDP all along, as far as the owner may see: rounds still open count with the reports of
/// the last sealed one.
pub(crate) async fn of_owner(
    state: &AppState,
    cached: &CachedSurvey,
) -> Result<Option<Gain>, Problem> {
    let mut rounds = Vec::new();
    for record in &cached.rounds {
        rounds.push((record.state, state.counted(cached, record).await?));
    }
    compare(cached, rounds).await
}

/// Against LDP all along, from released rounds alone; computed once.
pub(crate) async fn public(cached: &CachedSurvey) -> Result<Option<Gain>, Problem> {
    cached.gain.get_or_try_init(|| released_gain(cached)).await.cloned()
}

async fn released_gain(cached: &CachedSurvey) -> Result<Option<Gain>, Problem> {
    let mut rounds = Vec::new();
    for (record, note) in cached.rounds.iter().zip(&cached.survey.rounds) {
        let Some(released) = &note.released else { continue };
        let mut counted = Vec::new();
        for counts in released["counts"].as_array().into_iter().flatten() {
            let Some(id) = counts["policy"].as_str().and_then(|id| id.parse().ok()) else {
                continue;
            };
            let outputs = counts["outputs"].as_array();
            let tally = RoundTally {
                policy: id,
                counts: outputs
                    .into_iter()
                    .flatten()
                    .map(|output| output["count"].as_u64().unwrap_or(0))
                    .collect(),
                reports: counts["reports"].as_u64().unwrap_or(0),
                duplicates: 0,
                unfolded: 0,
            };
            let group = counts["group"].as_str().unwrap_or_default().into();
            counted.push(Counted { group, policy: cached.policy(&id)?.clone(), tally });
        }
        rounds.push((record.state, counted));
    }
    compare(cached, rounds).await
}

async fn compare(
    cached: &CachedSurvey,
    rounds: Vec<(RoundState, Vec<Counted>)>,
) -> Result<Option<Gain>, Problem> {
    let learned = |note: &RoundNote| note.groups.iter().any(|g| g.learned.is_some());
    if rounds.len() < 2 || !cached.survey.rounds.iter().any(learned) {
        return Ok(None);
    }
    let answers = cached.survey.body.alphabet()?;
    let spent: Vec<Nats> = cached
        .survey
        .rounds
        .iter()
        .map(|note| Nats::parse_down(&note.ldp).unwrap_or(Nats::ZERO))
        .collect();
    blocking(move || {
        // The newest round that takes no more reports says what the shares are.
        let closed = rounds.iter().rev().find(|(state, _)| *state != RoundState::Open);
        let Some((_, last)) = closed else { return Ok(None) };
        let Some(estimate) = estimates::likeliest_shares(last)? else { return Ok(None) };
        let sum = |counted: &[Counted]| counted.iter().map(|c| c.tally.reports).sum::<u64>();
        let usual = sum(last);
        let expected = rounds.iter().any(|(state, _)| *state == RoundState::Open);
        let list: Vec<Spent<'_>> = rounds
            .iter()
            .zip(spent)
            .map(|((state, counted), ldp)| {
                let share = usual / counted.len().max(1) as u64;
                let reports = |c: &Counted| match state {
                    RoundState::Open => share,
                    _ => c.tally.reports,
                };
                let groups = counted.iter().map(|c| (&*c.policy, reports(c))).collect();
                Spent { ldp, groups }
            })
            .collect();
        Ok(against_ldp(&answers, &estimate, &list).map(|gain| Gain { expected, ..gain }))
    })
    .await?
}

/// One round's policies, each with its reports.
#[derive(Clone, Debug)]
pub struct Spent<'a> {
    /// The attained LDP that was accounted.
    pub ldp: Nats,
    /// Each group's policy and how many reports it has, or is expected to have.
    pub groups: Vec<(&'a Policy, u64)>,
}

/// The comparison at `estimate`, or `None` where there is nothing to compare: no reports, or a budget of
/// zero.
pub fn against_ldp(answers: &Alphabet, estimate: &[f64], rounds: &[Spent<'_>]) -> Option<Gain> {
    let least = 1e-6 / estimate.len() as f64;
    let prior = estimate.iter().map(|p| p.max(least)).collect();
    let prior = Distribution::normalised("the estimate", prior).ok()?;
    let total = rounds.iter().try_fold(Nats::ZERO, |sum, round| sum.checked_add(round.ldp))?;
    let each = Nats::from_units(total.units() / rounds.len().max(1) as u64);
    let alone = plain_ldp(answers, &prior, each)?;
    let at_alone = variance(&prior, &alone)?;
    // Information adds up over independent reports: n / variance.
    let (mut learnt, mut plain) = (0.0, 0.0);
    let mut list = Vec::new();
    for (at, round) in rounds.iter().enumerate() {
        let reports: u64 = round.groups.iter().map(|(_, reports)| reports).sum();
        let mut own = 0.0;
        for (policy, reports) in &round.groups {
            own += *reports as f64 / variance(&prior, policy)?;
        }
        let other = reports as f64 / at_alone;
        list.push(GainRound {
            round: at + 1,
            reports,
            ldp: round.ldp.to_string(),
            error: error(own),
            ldp_error: error(other),
        });
        learnt += own;
        plain += other;
    }
    let (ours, theirs) = (error(learnt)?, error(plain)?);
    let gain = 1.0 - ours / theirs;
    let lip = lip_at(&alone, prior.as_slice()).ok().flatten();
    let compared = format!(
        "At the same total of {total} nats of LDP per person, {} rounds of LDP {each} without a prior would have a standard error of {theirs:.5}; these rounds have {ours:.5}",
        rounds.len(),
    );
    let verdict = if gain > 0.001 {
        format!("{compared}: a gain of {:.1} %.", 100.0 * gain)
    } else if gain < -0.001 {
        format!(
            "{compared}: no gain, but a loss of {:.1} %. What is bought is the bound on belief.",
            -100.0 * gain
        )
    } else {
        format!("{compared}: no gain.")
    };
    Some(Gain {
        total_ldp: total.to_string(),
        ldp_each: each.to_string(),
        rounds: list,
        error: ours,
        ldp_error: theirs,
        gain,
        ldp_lip: lip,
        in_words: verdict,
        expected: false,
    })
}

/// Root mean square standard error of a share from this much information, over all symbols together.
fn error(information: f64) -> Option<f64> {
    (information > 0.0).then(|| (1.0 / information).sqrt())
}

/// The summed variance of all shares for one report; nothing where the policy cannot tell them apart or is not judged.
fn variance(shares: &Distribution, policy: &Policy) -> Option<f64> {
    share_variance(policy, shares.as_slice()).ok().flatten().filter(|variance| variance.is_finite())
}

/// The better of randomised response and bits at an LDP level.
fn plain_ldp(answers: &Alphabet, shares: &Distribution, level: Nats) -> Option<Policy> {
    let epsilon = Epsilon::at_most(level.min(Epsilon::LARGEST.nats())).ok()?;
    let designed = |method: DesignMethod| {
        let request = Design::over(answers).any_prior().protect(Claim::ldp(epsilon));
        request.objective(Objective::Frequency).method(method).policy().ok()
    };
    [DesignMethod::Krr, DesignMethod::Oue]
        .into_iter()
        .filter_map(designed)
        .filter_map(|policy| Some((variance(shares, &policy)?, policy)))
        .min_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, policy)| policy)
}
