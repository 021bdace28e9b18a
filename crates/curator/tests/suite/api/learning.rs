//! Rounds that learn: the promise holds for every prior in the box, and no smaller promise does; invented
//! reports move an estimate no further than is said.

use crate::api::harness::{Service, crowd, listed, yes_no};
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use serde_json::{Value, json};
use undertone::design::share_variance;
use undertone_core::{
    Alphabet, Claim, Context, Epsilon, Nats, Policy, Report, ReportId, Token, WEIGHT_ONE,
};
use undertone_curator::service::design::{self, Assumed, Audience};
use undertone_curator::service::learning::{self, Lesson};
use undertone_curator::service::plan::Plan;
use undertone_curator::service::survey::Learned;
use undertone_curator::store::RoundTally;
use undertone_design::measure::{ldp, lip};
use undertone_design::{Distribution, to_floats};

fn plan(epsilon: &str) -> Plan {
    serde_json::from_value(json!({"epsilon": epsilon, "rounds": 2})).unwrap()
}

fn audience() -> Audience<'static> {
    Audience { survey: "s", round: 2, group: "everyone", date: "2026-11-15" }
}

fn names(count: usize) -> Alphabet {
    Alphabet::names((0..count).map(|x| format!("answer {x}"))).unwrap()
}

fn uniform(rng: &mut ChaCha12Rng) -> f64 {
    rng.next_u64() as f64 / 2f64.powi(64)
}

fn random_shares(count: usize, rng: &mut ChaCha12Rng) -> Vec<f64> {
    let weights: Vec<f64> = (0..count).map(|_| 0.05 + uniform(rng)).collect();
    let sum: f64 = weights.iter().sum();
    weights.iter().map(|w| w / sum).collect()
}

/// Simulates a round and learns from it.
fn lesson(policy: &Policy, shares: &[f64], reports: usize, rng: &mut ChaCha12Rng) -> Learned {
    let mut tally = undertone_estimate::Tally::new(policy);
    for report in crowd(policy, shares, reports, rng) {
        tally.add(&report.token).unwrap();
    }
    let counted = RoundTally {
        policy: policy.id(),
        counts: tally.counts().to_vec(),
        reports: tally.reports(),
        duplicates: 0,
        unfolded: 0,
    };
    match learning::learn(1, policy, &counted, 0.95).unwrap() {
        Lesson::Learned(learned) => learned,
        Lesson::Unusable(why) => panic!("{why}"),
    }
}

/// A random prior between the ends of a policy's box, by moving mass between pairs from the estimate.
fn prior_in_box(policy: &Policy, start: &[f64], rng: &mut ChaCha12Rng) -> Distribution {
    let Context::Within(within) = policy.draft().context() else { panic!("no box") };
    let ends =
        |ends: &[u64]| -> Vec<f64> { ends.iter().map(|&e| e as f64 / WEIGHT_ONE as f64).collect() };
    let (lower, upper) = (ends(within.lower()), ends(within.upper()));
    let mut p: Vec<f64> =
        start.iter().zip(lower.iter().zip(&upper)).map(|(p, (l, u))| p.clamp(*l, *u)).collect();
    // Bring the sum back to one inside the box.
    for x in 0..p.len() {
        let excess: f64 = p.iter().sum::<f64>() - 1.0;
        p[x] = (p[x] - excess).clamp(lower[x], upper[x]);
    }
    for _ in 0..20 {
        let (a, b) = (rng.next_u32() as usize % p.len(), rng.next_u32() as usize % p.len());
        let room = (p[a] - lower[a]).min(upper[b] - p[b]).max(0.0);
        // Often all the way to an end, where the claim is tight.
        let moved = room * if rng.next_u32().is_multiple_of(2) { 1.0 } else { uniform(rng) };
        if a != b {
            p[a] -= moved;
            p[b] += moved;
        }
    }
    Distribution::normalised("prior", p).unwrap()
}

#[test]
fn the_promise_holds_for_every_prior_in_the_box() {
    let mut rng = ChaCha12Rng::seed_from_u64(8);
    for (count, epsilon, reports) in
        [(2, "1", 2000), (2, "0.3", 5000), (3, "1", 4000), (4, "1.5", 6000), (5, "0.7", 9000)]
    {
        let (plan, answers) = (plan(epsilon), names(count));
        let shares = random_shares(count, &mut rng);
        let first = design::policy(&plan, &answers, &Assumed::Nothing, audience()).unwrap();
        assert_eq!(first.policy.draft().claims(), [Claim::ldp(Epsilon::parse(epsilon).unwrap())]);
        let learned = lesson(&first.policy, &shares, reports, &mut rng);
        let found = design::policy(&plan, &answers, &Assumed::Learned(learned.clone()), audience())
            .unwrap();
        let level: f64 = epsilon.parse().unwrap();
        let channel = to_floats::channel(found.policy.draft().shape()).unwrap();
        let mut tightest = 0f64;
        for _ in 0..400 {
            let prior = prior_in_box(&found.policy, &learned.estimate, &mut rng);
            let leaks = lip::leakage(&prior, &channel).unwrap().nats;
            assert!(leaks <= level + 1e-9, "{count} answers: {leaks} above {level}");
            tightest = tightest.max(leaks);
        }
        // The claim is not idle: some prior of the box nearly reaches it.
        assert!(tightest > 0.8 * level, "{count} answers: only {tightest} of {level}");
        // Never worse than LDP at the same level, which is one of the candidates.
        let variance = |policy| share_variance(policy, &*learned.estimate).unwrap().unwrap();
        let plain = variance(&first.policy);
        assert!(variance(&found.policy) <= plain * 1.02, "{count} {epsilon}");
        // And at most LDP 2ε, whatever the prior.
        assert!(ldp::leakage(&channel).nats <= 2.0 * level + 1e-9);
    }
}

/// All ways in which `n` reports can fall on some outputs.
fn all_counts(outputs: usize, n: u64) -> Vec<Vec<u64>> {
    if outputs == 1 {
        return vec![vec![n]];
    }
    let with = |first: u64| {
        all_counts(outputs - 1, n - first).into_iter().map(move |rest| [vec![first], rest].concat())
    };
    (0..=n).flat_map(with).collect()
}

/// The box is a theorem: over all counts of 20 reports, each with its exact probability, it misses any population at most
/// once in a thousand times. With intervals by the normal law it missed 30 times.
#[test]
fn the_box_misses_no_more_often_than_it_says() {
    let log_factorial = |n: u64| (2..=n).map(|i| (i as f64).ln()).sum::<f64>();
    for (count, epsilon, method, n) in [
        (2, "1", "auto", 20),
        (3, "1", "auto", 20),
        (3, "4", "auto", 20),
        (3, "4", "krr", 20),
        (4, "3", "auto", 9),
    ] {
        let plan: Plan =
            serde_json::from_value(json!({"epsilon": epsilon, "rounds": 2, "method": method}))
                .unwrap();
        let first = design::policy(&plan, &names(count), &Assumed::Nothing, audience()).unwrap();
        let channel = to_floats::channel(first.policy.draft().shape()).unwrap();
        let boxes: Vec<(Vec<u64>, Option<Learned>)> = all_counts(channel.outputs(), n)
            .into_iter()
            .map(|counts| {
                let counted = RoundTally {
                    policy: first.policy.id(),
                    counts: counts.clone(),
                    reports: n,
                    duplicates: 0,
                    unfolded: 0,
                };
                // Reports that cannot be believed make no box, and so no promise about one.
                match learning::learn(1, &first.policy, &counted, 0.999).unwrap() {
                    Lesson::Learned(learned) => (counts, Some(learned)),
                    Lesson::Unusable(_) => (counts, None),
                }
            })
            .collect();
        for shares in all_counts(count, 8) {
            let p: Vec<f64> = shares.iter().map(|&s| s as f64 / 8.0).collect();
            let law: Vec<f64> = (0..channel.outputs())
                .map(|y| (0..count).map(|x| p[x] * channel.q(x, y)).sum())
                .collect();
            let mut missed = 0.0;
            for (counts, learned) in &boxes {
                let Some(Learned { lower, upper, .. }) = learned else { continue };
                let inside = |x: usize| lower[x] <= p[x] && p[x] <= upper[x];
                if !(0..count).all(inside) {
                    let each = counts.iter().zip(&law).filter(|(count, _)| **count > 0);
                    let log: f64 =
                        each.map(|(&c, law)| c as f64 * law.ln() - log_factorial(c)).sum();
                    missed += (log + log_factorial(n)).exp();
                }
            }
            assert!(
                missed <= 0.001 + 1e-9,
                "{count} answers, {epsilon}, {method}: {p:?} missed {missed}"
            );
        }
    }
}

/// The negative control: the same policy claiming a thousandth less is refused by the kernel.
#[test]
fn a_smaller_claim_is_refused() {
    let mut rng = ChaCha12Rng::seed_from_u64(9);
    let (plan, answers) = (plan("1"), names(3));
    let first = design::policy(&plan, &answers, &Assumed::Nothing, audience()).unwrap();
    let learned = lesson(&first.policy, &[0.7, 0.2, 0.1], 5000, &mut rng);
    let found = design::policy(&plan, &answers, &Assumed::Learned(learned), audience()).unwrap();
    let attained = found.policy.certificate().input.lip().unwrap().ln_up().unwrap();
    assert!(attained.units() <= Nats::parse_down("1").unwrap().units());
    let below = Epsilon::at_most(Nats::from_units(attained.units() - 10_000_000)).unwrap();
    let draft = found.policy.draft().clone().with_claims(vec![Claim::lip(below)]).unwrap();
    let refusal = draft.verify().unwrap_err();
    assert!(refusal.attained > refusal.allowed);
    // A box twice as narrow would have allowed it no more easily than the kernel says: the exact
    // policy is accepted at its own level.
    let exact = Epsilon::at_most(attained).unwrap();
    let claims = vec![Claim::lip(Epsilon::parse("1").unwrap())];
    assert!(exact.nats() <= Nats::parse_down("1").unwrap());
    assert!(found.policy.draft().clone().with_claims(claims).unwrap().verify().is_ok());
}

/// The box holds the truth about as often as it says.
#[test]
fn boxes_cover_the_truth() {
    let mut rng = ChaCha12Rng::seed_from_u64(10);
    let first = design::policy(&plan("1"), &names(3), &Assumed::Nothing, audience()).unwrap();
    let shares = [0.75, 0.2, 0.05];
    let mut held = 0;
    for _ in 0..200 {
        let learned = lesson(&first.policy, &shares, 1500, &mut rng);
        let inside = |x: usize| learned.lower[x] <= shares[x] && shares[x] <= learned.upper[x];
        held += u32::from((0..3).all(inside));
    }
    // 95 % nominal; fewer than 180 of 200 has a chance below 1 in 100,000.
    assert!(held >= 180, "{held} of 200");
}

/// A crowd that invents impossible reports teaches nothing: the next round is LDP again, and says why.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn impossible_reports_are_flagged_and_teach_nothing() {
    let service = Service::start().await;
    let mut body = yes_no("one");
    body["answers"] = json!({"names": ["a", "b", "c"]});
    body["plan"] = json!({"epsilon": "1", "rounds": 2, "method": "krr"});
    let policy = service.create(&body).await;
    let fake = |at: u128| Report {
        policy: policy.id(),
        id: ReportId(at.to_be_bytes()),
        token: Token::Index(1),
    };
    let reports: Vec<Report> = (0..3000).map(fake).collect();
    assert_eq!(service.post_json("/v1/surveys/one/reports", &listed(&reports)).await.status, 202);
    service.owner_post("/v1/surveys/one/rounds/1/seal", &Value::Null).await;
    let released = service.owner_post("/v1/surveys/one/rounds/1/release", &Value::Null).await;
    assert_eq!(released.status, 200, "{}", released.text());
    let public = service.get("/v1/surveys/one/estimates").await.json();
    assert_eq!(public["rounds"][0]["impossible"], true);
    let warned = public["rounds"][0]["drift"]["warnings"][0].as_str().unwrap();
    assert!(warned.contains("No population"), "{warned}");
    let opened = service.owner_post("/v1/surveys/one/rounds", &Value::Null).await.json();
    let group = &opened["rounds"][1]["groups"][0];
    assert!(group["learned"].is_null());
    assert!(group["unlearned"].as_str().unwrap().contains("no population"));
    assert_eq!(group["claims"][0], "ldp:1");
}

/// A prior that the reports contradict greys its estimate out.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_contradicted_prior_is_greyed_out() {
    let service = Service::start().await;
    let policy = service.create(&yes_no("one")).await;
    let mut rng = ChaCha12Rng::seed_from_u64(11);
    let reports = crowd(&policy, &[0.5, 0.5], 5000, &mut rng);
    service.post_json("/v1/surveys/one/reports", &listed(&reports)).await;
    service.counted("one").await;
    let live = service.owner_get("/v1/surveys/one/estimates?round=1").await.json();
    let round = &live["rounds"][0];
    assert_eq!(round["drift"]["drifted"], true);
    assert_eq!(round["mmse"]["greyed"], true);
    let yes = &round["headline"]["shares"][1];
    assert!(yes["low"].as_f64().unwrap() < 0.5 && 0.5 < yes["high"].as_f64().unwrap(), "{yes}");
}

/// m invented reports move the unbiased shares by at most m times what is said for one, over the wire.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn influence_is_bounded_as_stated() {
    let mut rng = ChaCha12Rng::seed_from_u64(12);
    let honest_people = 2000;
    for fakes in [1usize, 10, 200] {
        let service = Service::start().await;
        let mut body = yes_no("one");
        body["answers"] = json!({"names": ["a", "b", "c", "d"]});
        body["plan"] = json!({"epsilon": "1"});
        let policy = service.create(&body).await;
        let outputs = policy.draft().shape().outputs();
        let honest = crowd(&policy, &[0.4, 0.3, 0.2, 0.1], honest_people, &mut rng);
        let sent = service.post_json("/v1/surveys/one/reports", &listed(&honest)).await;
        assert_eq!(sent.status, 202, "{}", sent.text());
        service.counted("one").await;
        let shares = |shown: &Value| -> Vec<f64> {
            let symbols = shown["rounds"][0]["unbiased"]["shares"].as_array().unwrap();
            symbols.iter().map(|s| s["value"].as_f64().unwrap()).collect()
        };
        let before = shares(&service.owner_get("/v1/surveys/one/estimates?round=1").await.json());
        let attack = rng.next_u32() % outputs as u32;
        let invented: Vec<Report> = (0..fakes as u128)
            .map(|at| Report {
                policy: policy.id(),
                id: ReportId((u128::MAX - at).to_be_bytes()),
                token: Token::Index(attack),
            })
            .collect();
        service.post_json("/v1/surveys/one/reports", &listed(&invented)).await;
        assert_eq!(service.counted("one").await, (honest_people + fakes) as u64);
        let shown = service.owner_get("/v1/surveys/one/estimates?round=1").await.json();
        let after = shares(&shown);
        let one = shown["rounds"][0]["influence"]["one_report"].as_array().unwrap();
        let mut largest = 0f64;
        for x in 0..4 {
            let bound = fakes as f64 * one[x].as_f64().unwrap();
            let moved = (after[x] - before[x]).abs();
            assert!(moved <= bound + 1e-12, "{fakes} fakes moved {x} by {moved} above {bound}");
            largest = largest.max(moved / bound);
        }
        // The bound is not idle.
        assert!(largest > 0.2, "{largest}");
    }
}
