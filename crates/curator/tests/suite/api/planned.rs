//! Plans as the form makes them: whoever answers every round stays within what a device allows unless told otherwise.

use crate::api::harness::{Service, crowd, listed};
use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use serde_json::{Value, json};
use undertone_core::{Context, Draft, Policy, WEIGHT_ONE};
use undertone_design::to_floats;

const SHARES: [f64; 3] = [0.6, 0.3, 0.1];

/// The priors a policy's LIP claim is about: a given one, or the corners of its box as far as one answer goes.
fn priors(policy: &Policy) -> Vec<Vec<f64>> {
    let real =
        |weights: &[u64]| weights.iter().map(|&w| w as f64 / WEIGHT_ONE as f64).collect::<Vec<_>>();
    match policy.draft().context() {
        Context::Known(prior) => vec![real(prior.weights())],
        Context::Within(within) => {
            let (lower, upper) = (real(within.lower()), real(within.upper()));
            let mut list = Vec::new();
            // Fill what the lower ends leave, in every order.
            for order in [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
                let (mut p, mut left) = (lower.clone(), 1.0 - lower.iter().sum::<f64>());
                for x in order {
                    let more = (upper[x] - lower[x]).min(left);
                    p[x] += more;
                    left -= more;
                }
                list.push(p);
            }
            list
        }
        _ => Vec::new(),
    }
}

/// The largest change of a belief over all that every round together may release, and the largest change of odds.
fn together(policies: &[Policy]) -> (f64, f64) {
    let mut likelihoods = vec![[1.0; 3]];
    for policy in policies {
        let channel = to_floats::channel(policy.draft().shape()).unwrap();
        let mut next = Vec::new();
        for before in &likelihoods {
            for y in 0..channel.outputs() {
                let mut joint = *before;
                (0..3).for_each(|x| joint[x] *= channel.rows()[x].as_slice()[y]);
                next.push(joint);
            }
        }
        likelihoods = next;
    }
    let (mut lip, mut ldp) = (0f64, 0f64);
    for joint in likelihoods.iter().filter(|joint| joint.iter().any(|&l| l > 0.0)) {
        let (least, most) = joint.iter().fold((f64::MAX, 0f64), |(a, b), &l| (a.min(l), b.max(l)));
        ldp = ldp.max((most / least).ln());
        for prior in policies.iter().flat_map(priors) {
            let mean: f64 = joint.iter().zip(&prior).map(|(l, p)| l * p).sum();
            lip = joint.iter().fold(lip, |lip, l| lip.max((l / mean).ln().abs()));
        }
    }
    (lip, ldp)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_round_fits_a_device_with_the_usual_limits() {
    let mut rng = ChaCha12Rng::seed_from_u64(51);
    let service = Service::start().await;
    // What crates/curator/src/web/plan.js makes of *Balanced* for 2 and 3 rounds and for 2 with a prior.
    let prior = json!({"p": SHARES, "source": "a census"});
    for (name, rounds, plan) in [
        ("two", 2, json!({"epsilon": "0.5493", "rounds": 2, "total_ldp": "1.6479"})),
        (
            "three",
            3,
            json!({"epsilon": "0.3662", "rounds": 3, "ldp_per_round": "0.3662", "total_ldp": "1.0986"}),
        ),
        (
            "known",
            2,
            json!({"epsilon": "0.5493", "rounds": 2, "ldp_per_round": "0.5493", "total_ldp": "1.0986", "prior": prior}),
        ),
    ] {
        let body = json!({
            "id": name, "title": "Commute", "question": "How do you get to work?",
            "answers": {"names": ["car", "bus", "bicycle"]}, "plan": plan,
        });
        let mut policies = vec![service.create(&body).await];
        for number in 1..rounds {
            let reports = crowd(&policies[number - 1], &SHARES, 6000, &mut rng);
            let path = format!("/v1/surveys/{name}");
            let sent = service.post_json(&format!("{path}/reports"), &listed(&reports)).await;
            assert_eq!(sent.status, 202);
            service.owner_post(&format!("{path}/rounds/{number}/seal"), &Value::Null).await;
            let opened = service.owner_post(&format!("{path}/rounds"), &Value::Null).await;
            assert_eq!(opened.status, 201, "{name}: {}", opened.text());
            let learned = &opened.json()["rounds"][number]["groups"][0]["learned"];
            assert!(learned.is_object(), "{name}: nothing was learnt");
            let id = opened.json()["round"]["groups"][0]["policy"].as_str().unwrap().to_owned();
            let document = service.get(&format!("/v1/policies/{id}")).await.text();
            policies.push(Draft::from_json(&document).unwrap().verify().unwrap());
        }
        let (lip, ldp) = together(&policies);
        println!("{name}: beliefs by {lip:.4}, odds by {ldp:.4}");
        assert!(lip > 0.3, "{name}: {lip}");
        assert!(lip <= 3f64.ln() && ldp <= 2.0 * 3f64.ln(), "{name}: {lip} and {ldp}");
    }
}
