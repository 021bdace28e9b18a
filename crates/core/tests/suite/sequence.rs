//! Everything released about one datum, against exact rationals and the attacks that broke single checks.

#![allow(clippy::result_large_err)]

use crate::common::{
    Level, Q, Random, binary, leakage, level, nats, prior, priors, pushed, ratio, rows, table,
    value,
};
use undertone_core::{
    AboveConsent, Alphabet, Bits, Claim, Consent, Context, Delta, Draft, Epsilon, Ledger,
    LedgerError, MASS_ONE, Nats, Policy, Prior, PriorBox, Priors, Provenance, Release, Report,
    ReportId, Secret, SecretConsent, Sequence, Shape, Standing, Token, WEIGHT_ONE,
};

/// A policy over named answers that claims next to nothing, so that any channel verifies.
pub(crate) fn lax(names: &[&str], shape: Shape, context: Context) -> Option<Policy> {
    let claim = match &shape {
        Shape::Bits(_) | Shape::Incidence(_) => Claim::ldp(Epsilon::LARGEST),
        Shape::Table(_) | Shape::Keep(_) => {
            Claim::ldp(Epsilon::LARGEST).with_delta(Delta::from_units(MASS_ONE - 1).unwrap())
        }
    };
    claiming(names, shape, context, claim)
}

fn claiming(names: &[&str], shape: Shape, context: Context, claim: Claim) -> Option<Policy> {
    let inputs = Alphabet::names(names.iter().copied()).unwrap();
    let outputs =
        matches!(shape, Shape::Table(_)).then(|| Alphabet::indices(shape.outputs()).unwrap());
    let draft = Draft::new(inputs, outputs, shape, context, vec![claim], Provenance::default());
    draft.unwrap().verify().ok()
}

/// The report with this output; for bits, bit i of the number is the bit of symbol i.
pub(crate) fn report(policy: &Policy, output: usize) -> Report {
    let shape = policy.draft().shape();
    let token = if shape.releases_bits() {
        let mut packed = vec![0u8; shape.inputs().div_ceil(8)];
        for bit in (0..shape.inputs()).filter(|bit| output >> bit & 1 == 1) {
            packed[bit / 8] |= 0x80 >> (bit % 8);
        }
        Token::Bits(packed.into())
    } else {
        Token::Index(output as u32)
    };
    Report { policy: policy.id(), id: ReportId([0; 16]), token }
}

pub(crate) const NAMES: [&str; 5] = ["ant", "bee", "cow", "dog", "eel"];

/// The names in some order.
pub(crate) fn shuffled(random: &mut Random, size: usize) -> Vec<&'static str> {
    let mut names = NAMES[..size].to_vec();
    for at in (1..size).rev() {
        names.swap(at, random.size(0, at));
    }
    names
}

fn labels(policy: &Policy) -> Vec<String> {
    let inputs = policy.draft().inputs();
    (0..inputs.len()).map(|x| inputs.label(x)).collect()
}

/// The position of each symbol of `reference` in a policy's own order.
pub(crate) fn positions(policy: &Policy, reference: &Policy) -> Vec<usize> {
    let own = labels(policy);
    let at = |name: &String| own.iter().position(|other| other == name).unwrap();
    labels(reference).iter().map(at).collect()
}

/// What the definitions say of a transcript followed by every output of `next`.
pub(crate) fn by_definition(past: &[(&Policy, usize)], next: &Policy) -> (Level, Level, Level) {
    let ordered = |policy: &Policy| -> Vec<Vec<Q>> {
        let rows = rows(policy.draft().shape());
        positions(policy, next).into_iter().map(|x| rows[x].clone()).collect()
    };
    let mut joint = ordered(next);
    for (policy, output) in past {
        for (row, other) in joint.iter_mut().zip(ordered(policy)) {
            row.iter_mut().for_each(|cell| *cell = &*cell * &other[*output]);
        }
    }
    let mut all_priors = Vec::new();
    let mut secret = Some(Q::ONE);
    for policy in past.iter().map(|(policy, _)| *policy).chain([next]) {
        let order = positions(policy, next);
        let context = policy.draft().context();
        for found in priors(context) {
            all_priors.push(order.iter().map(|&x| found[x].clone()).collect::<Vec<Q>>());
        }
        if let Context::Secret(of) = context {
            let reordered =
                |row: &Prior| prior(&order.iter().map(|&x| row.weights()[x]).collect::<Vec<u64>>());
            let rows = of.rows().iter().map(reordered).collect();
            let of = Secret::new(of.name().into(), of.prior().clone(), rows).unwrap();
            let found = leakage(&pushed(&of, &joint).0, &[]).ldp;
            secret = worse(secret, found);
        }
    }
    let found = leakage(&joint, &all_priors);
    let lip = match (found.upper, found.lower) {
        (Some(upper), Some(lower)) => worse(upper, lower),
        _ => Some(Q::ONE),
    };
    (found.ldp, lip, secret)
}

pub(crate) fn worse(a: Level, b: Level) -> Level {
    Some(a?.max(b?))
}

pub(crate) fn found(standing: &Standing) -> (Level, Level, Level) {
    let secret = standing.secrets.iter().map(|(_, ratio)| *ratio).max();
    (
        value(standing.ldp),
        standing.lip.map_or(Some(Q::ONE), value),
        secret.map_or(Some(Q::ONE), value),
    )
}

/// Not below, and above by less than rounding the largest likelihood to 160 bits can explain: what was r times less likely
/// at some step has 160 - log2 r bits left.
fn enclosed<'p>(
    found: &(Level, Level, Level),
    truth: &(Level, Level, Level),
    policies: impl IntoIterator<Item = &'p Policy>,
) {
    let spread = policies.into_iter().try_fold(Q::ONE, |product, policy| {
        Some(product * value(policy.certificate().input.ldp.ratio)?)
    });
    let largest = spread.filter(|ratio| *ratio < Q::ONE / binary(1, 130));
    let pairs = [(&found.0, &truth.0), (&found.1, &truth.1), (&found.2, &truth.2)];
    for (which, (found, truth)) in pairs.into_iter().enumerate() {
        match (found, truth, &largest) {
            (Some(found), Some(truth), largest) => {
                assert!(found >= truth, "{which}: {found} is below {truth}");
                let Some(largest) = largest else { continue };
                let most = truth * (Q::ONE + largest * binary(1, 140));
                assert!(*found <= most, "{which}: {found} is far above {truth}");
            }
            (None, None, _) | (None, _, None) => {}
            _ => panic!("{which}: {found:?} for {truth:?}"),
        }
    }
}

/// A random policy over the first `size` names, in some order.
pub(crate) fn some_policy(random: &mut Random, size: usize) -> Policy {
    loop {
        let names = shuffled(random, size);
        let shape = match random.below(3) {
            0 => {
                let outputs = random.size(1, 4);
                random.table(size, outputs)
            }
            1 => random.keep(size),
            _ => random.bits(size),
        };
        let kind = random.below(5);
        let context = random.context(size, kind);
        if let Some(policy) = lax(&names, shape, context) {
            return policy;
        }
    }
}

/// Every shape after every shape, any order of symbols, any context: the standing is what the definitions give.
#[test]
fn a_standing_is_what_the_definitions_give() {
    let mut random = Random::new(1401);
    let (mut exact, mut rounded) = (0, 0);
    for _ in 0..3000 {
        let size = random.size(2, 4);
        let next = some_policy(&mut random, size);
        let truth = random.size(0, size - 1);
        let count = random.size(1, 4);
        let mut past: Vec<(Policy, usize)> = Vec::new();
        for _ in 0..count {
            let policy = some_policy(&mut random, size);
            let row = rows(policy.draft().shape())[positions(&policy, &next)[truth]].clone();
            let possible: Vec<usize> = (0..row.len()).filter(|&y| !row[y].is_zero()).collect();
            let output = possible[random.size(0, possible.len() - 1)];
            past.push((policy, output));
        }
        let mut sequence = Sequence::new();
        for (policy, output) in &past {
            sequence.released(policy, &report(policy, *output)).unwrap();
        }
        let standing = sequence.after(&next);
        let past: Vec<(&Policy, usize)> = past.iter().map(|(p, y)| (p, *y)).collect();
        let truth = by_definition(&past, &next);
        let answer = found(&standing);
        if standing.exact {
            assert_eq!(answer, truth);
            exact += 1;
        } else {
            enclosed(&answer, &truth, past.iter().map(|(policy, _)| *policy).chain([&next]));
            rounded += 1;
        }
    }
    assert!(exact > 1000 && rounded > 300, "{exact} {rounded}");
}

/// Answers that are not at hand: every one is tried.
#[test]
fn untold_answers_are_all_tried() {
    let mut random = Random::new(1402);
    for _ in 0..400 {
        let size = random.size(2, 3);
        let count = random.size(1, 2);
        let past: Vec<Policy> = (0..count).map(|_| some_policy(&mut random, size)).collect();
        let next = some_policy(&mut random, size);
        let outputs: Vec<usize> = past.iter().map(|p| rows(p.draft().shape())[0].len()).collect();
        let mut worst = (Some(Q::ONE), Some(Q::ONE), Some(Q::ONE));
        for choice in 0..outputs.iter().product() {
            let mut left = choice;
            let mut transcript = Vec::new();
            for (policy, outputs) in past.iter().zip(&outputs) {
                transcript.push((policy, left % outputs));
                left /= outputs;
            }
            let here = by_definition(&transcript, &next);
            worst = (worse(worst.0, here.0), worse(worst.1, here.1), worse(worst.2, here.2));
        }
        let mut sequence = Sequence::new();
        past.iter().for_each(|policy| sequence.untold(policy));
        let standing = sequence.after(&next);
        enclosed(&found(&standing), &worst, past.iter().chain([&next]));
        let policies: Vec<&Policy> = past.iter().chain([&next]).collect();
        let together = Sequence::together(&policies).unwrap();
        enclosed(&found(&together), &worst, policies);
    }
}

/// Releases that are forgotten, or speak of other symbols, count with their attained LDP: whatever they were
/// and answered, belief, likelihoods and secrets stay within the bound.
#[test]
fn what_is_forgotten_is_bounded_by_its_cost() {
    let mut random = Random::new(1403);
    let mut bounds = 0;
    for _ in 0..600 {
        let size = random.size(2, 4);
        let known = some_policy(&mut random, size);
        let lost = some_policy(&mut random, size);
        let next = some_policy(&mut random, size);
        let Some(cost) = lost.ldp().filter(|&cost| cost < Nats::from_units(300_000_000_000)) else {
            continue;
        };
        let tokens = |policy: &Policy| rows(policy.draft().shape())[0].len();
        let output = random.size(0, tokens(&known) - 1);
        if rows(known.draft().shape()).iter().all(|row| row[output].is_zero()) {
            continue;
        }
        let mut sequence = Sequence::new();
        sequence.released(&known, &report(&known, output)).unwrap();
        sequence.forgotten(Release { policy: lost.id(), cost: Some(cost) });
        let standing = sequence.after(&next);
        let (ldp, lip, secret) = found(&standing);
        assert!(!standing.exact || cost == Nats::ZERO);
        for lost_output in 0..tokens(&lost) {
            if rows(lost.draft().shape()).iter().all(|row| row[lost_output].is_zero()) {
                continue;
            }
            let transcript = [(&known, output), (&lost, lost_output)];
            let truth = by_definition(&transcript, &next);
            let within = |bound: &Level, truth: &Level| match (bound, truth) {
                (None, _) => true,
                (Some(bound), Some(truth)) => bound >= truth,
                (Some(_), None) => false,
            };
            assert!(within(&ldp, &truth.0), "{ldp:?} {:?}", truth.0);
            // The lost policy's own contexts are not known, so only those of the others are held against it.
            if *lost.draft().context() == Context::Unknown {
                assert!(within(&lip, &truth.1), "{lip:?} {:?}", truth.1);
                assert!(within(&secret, &truth.2), "{secret:?} {:?}", truth.2);
                bounds += 1;
            }
        }
    }
    assert!(bounds > 100, "{bounds}");
}

/// With nothing else known, D nats of forgotten releases are ln(p + (1-p)e^D) of belief.
#[test]
fn the_fallback_with_nothing_stored_is_the_closed_form() {
    let quarter = WEIGHT_ONE / 4;
    let context = Context::Known(prior(&[quarter, 3 * quarter]));
    let silent = lax(&["no", "yes"], table(&[&[MASS_ONE], &[MASS_ONE]]), context).unwrap();
    let mut sequence = Sequence::new();
    let three = Nats::parse_down("1.0986122886").unwrap();
    sequence.forgotten(Release { policy: silent.id(), cost: Some(three) });
    let standing = sequence.after(&silent);
    // ln(1/4 + 3/4 · 3) = ln 2.5
    assert_eq!(standing.lip.unwrap().ln_up().unwrap().to_string(), "0.9162907319");
    assert_eq!(standing.ldp.ln_up().unwrap().to_string(), "1.0986122887");
}

/// Hundreds of releases: numbers outgrow every integer, are rounded outward, and nothing stops.
#[test]
fn hundreds_of_releases_are_enclosed() {
    let quarter = MASS_ONE / 4;
    let even = Context::Known(prior(&[WEIGHT_ONE / 4, WEIGHT_ONE / 4, WEIGHT_ONE / 2]));
    let rows = [
        [2 * quarter, quarter, quarter],
        [quarter, 2 * quarter, quarter],
        [quarter, quarter, 2 * quarter],
    ];
    let shape = table(&rows.each_ref().map(|row| &row[..]));
    let policy = lax(&NAMES[..3], shape, even).unwrap();
    let third = MASS_ONE / 3;
    let odd = table(&[
        &[third, MASS_ONE - third],
        &[third + 1, MASS_ONE - third - 1],
        &[third - 1, MASS_ONE - third + 1],
    ]);
    let odd = lax(&NAMES[..3], odd, Context::Unknown).unwrap();
    let mut sequence = Sequence::new();
    let mut truth = vec![Q::ONE; 3];
    for round in 0..300 {
        for policy in [&policy, &odd] {
            let output = (round * 7 + 3) % policy.draft().shape().outputs();
            sequence.released(policy, &report(policy, output)).unwrap();
            let rows = crate::common::rows(policy.draft().shape());
            for (x, likelihood) in truth.iter_mut().enumerate() {
                *likelihood = &*likelihood * &rows[x][output];
            }
        }
    }
    let standing = sequence.after(&policy);
    assert!(!standing.exact);
    let worst = (0..3)
        .flat_map(|y| {
            let m: Vec<Q> = (0..3)
                .map(|x| &truth[x] * crate::common::rows(policy.draft().shape())[x][y].clone())
                .collect();
            let (high, low) = (m.iter().max().unwrap().clone(), m.iter().min().unwrap().clone());
            Some(high / low)
        })
        .max();
    let answer = value(standing.ldp).unwrap();
    let worst = worst.unwrap();
    assert!(answer >= worst && answer <= &worst * (Q::ONE + binary(1, 60)));
}

/// Two fair bits; the secret is the first. Each policy releases a fair function of both that says
/// nothing about the secret; both together give it away.
fn bit_pair(order: [&str; 4]) -> (Context, [&str; 4]) {
    let half = WEIGHT_ONE / 2;
    let law = |first: char| -> Prior {
        let weight = |name: &&str| if name.starts_with(first) { half } else { 0 };
        prior(&order.iter().map(weight).collect::<Vec<u64>>())
    };
    let secret =
        Secret::new("first".into(), prior(&[half, half]), vec![law('0'), law('1')]).unwrap();
    (Context::Secret(secret), order)
}

/// A deterministic table by name: which output each answer gives.
fn revealing(order: [&str; 4], output: impl Fn(&str) -> usize) -> Shape {
    let row = |name: &&str| {
        let mut row = vec![0; 2];
        row[output(name)] = MASS_ONE;
        row
    };
    let rows: Vec<Vec<u64>> = order.iter().map(row).collect();
    table(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn parity(name: &str) -> usize {
    name.bytes().filter(|&bit| bit == b'1').count() % 2
}

fn second(name: &str) -> usize {
    usize::from(name.ends_with('1'))
}

fn nothing_about_the_secret() -> Consent {
    let secret = SecretConsent { name: "first".into(), ldp: Nats::ZERO };
    Consent { lip: None, ldp: None, secrets: vec![secret] }
}

/// The order of symbols is not the collector's to choose: paired by index, these two look like one channel twice.
#[test]
fn reordered_alphabets_are_matched_by_name() {
    let plain = ["00", "01", "10", "11"];
    // In this order the parity table is, index by index, the second-bit table of the plain order.
    let other = ["00", "01", "11", "10"];
    let claim = Claim::ldp(Epsilon::ZERO).about_secret();
    let policy = |order: [&'static str; 4], output: fn(&str) -> usize| {
        let (context, names) = bit_pair(order);
        claiming(&names, revealing(order, output), context, claim).unwrap()
    };
    let (first, then) = (policy(plain, second), policy(other, parity));
    assert_eq!(first.draft().shape(), then.draft().shape());
    let consent = nothing_about_the_secret();
    let mut ledger = Ledger::new(Nats::from_units(u64::MAX));
    let _permit = ledger.spend("bits", &first, &Sequence::new(), &consent).unwrap();
    let mut past = Sequence::new();
    past.released(&first, &report(&first, 1)).unwrap();
    let refused = ledger.request("bits", &then, &past, &consent).unwrap_err();
    assert_eq!(refused, LedgerError::NotComposable { checked: true });
    let standing = past.after(&then);
    assert!(standing.about_secret("first").is_unbounded());
    let attained =
        AboveConsent::Secret { name: "first".into(), attained: None, allowed: Nats::ZERO };
    assert_eq!(consent.check(&standing), Err(attained));
    // The same policy in another order tells nothing more.
    let again = policy(other, second);
    assert_ne!(again.id(), first.id());
    let standing = past.after(&again);
    assert!(standing.exact && standing.claims == Some(true));
    assert_eq!(value(standing.about_secret("first")), Some(Q::ONE));
}

/// With finite LDP inside the budget: nought each about the secret, .511 together.
#[test]
fn finite_releases_are_held_against_consent_together() {
    let order = ["00", "01", "10", "11"];
    let noisy = |output: fn(&str) -> usize| {
        // 4/5 the truth, 1/5 the other.
        let fifth = MASS_ONE / 5;
        let row = |name: &&str| {
            let mut row = vec![fifth; 2];
            row[output(name)] = MASS_ONE - fifth;
            row
        };
        let rows: Vec<Vec<u64>> = order.iter().map(row).collect();
        let (context, names) = bit_pair(order);
        let shape = table(&rows.iter().map(Vec::as_slice).collect::<Vec<_>>());
        lax(&names, shape, context).unwrap()
    };
    let (first, then) = (noisy(second), noisy(parity));
    let consent = nothing_about_the_secret();
    let mut ledger = Ledger::new(Nats::parse_down("10").unwrap());
    let _permit = ledger.spend("bits", &first, &Sequence::new(), &consent).unwrap();
    let mut past = Sequence::new();
    past.released(&first, &report(&first, 0)).unwrap();
    let refused = ledger.spend("bits", &then, &past, &consent).unwrap_err();
    let LedgerError::Consent(AboveConsent::Secret { attained: Some(attained), .. }) = refused
    else {
        panic!("{refused:?}");
    };
    // ln((16 + 1)/(4 + 4)): the odds that both parts tell the truth or both lie.
    assert_eq!(attained.to_string(), "0.7537718024");
    // Without an answer at hand the same is found over all answers, and a forgotten one is refused too.
    let together = Sequence::together(&[&first, &then]).unwrap();
    assert_eq!(together.about_secret("first").ln_up(), Some(attained));
    assert!(ledger.spend("bits", &then, &Sequence::new(), &consent).is_err());
}

/// The prior is the belief before the first release: every second step moves belief by 1.112 at most, both by 2.2017.
#[test]
fn belief_is_measured_from_before_the_first_release() {
    let hundredth = WEIGHT_ONE / 100;
    let context = Context::Known(prior(&[WEIGHT_ONE - hundredth, hundredth]));
    // The optimum of the specification for P1 = .01 at lip ln 3: q(0|1) = 1/4, q(1|0) = .97/(.99·4).
    let quarter = MASS_ONE / 4;
    let flip = MASS_ONE * 97 / 396 + (1 << 20);
    let shape = table(&[&[MASS_ONE - flip, flip], &[quarter, 3 * quarter]]);
    let claim = Claim::lip(level(3, 1));
    let names = ["no", "yes"];
    let policy = |mark: u64| {
        let inputs = Alphabet::names(names).unwrap();
        let outputs = Some(Alphabet::indices(2).unwrap());
        let provenance = Provenance { n: mark, ..Default::default() };
        let draft =
            Draft::new(inputs, outputs, shape.clone(), context.clone(), vec![claim], provenance);
        draft.unwrap().verify().unwrap()
    };
    let (first, then) = (policy(1), policy(2));
    let consent =
        Consent { lip: Nats::parse_down("1.0986122887").ok(), ldp: None, secrets: vec![] };
    let mut ledger = Ledger::new(Nats::parse_down("10").unwrap());
    let _permit = ledger.spend("x", &first, &Sequence::new(), &consent).unwrap();
    let mut past = Sequence::new();
    past.released(&first, &report(&first, 1)).unwrap();
    let refused = ledger.request("x", &then, &past, &consent).unwrap_err();
    let LedgerError::Consent(AboveConsent::Lip { attained: Some(attained), .. }) = refused else {
        panic!("{refused:?}");
    };
    assert!(nats(attained) > ratio(21, 10) && nats(attained) < ratio(222, 100), "{attained}");
    // After the answer that says little, a second release would still reach too far if it said "yes".
    let mut past = Sequence::new();
    past.released(&first, &report(&first, 0)).unwrap();
    let standing = past.after(&then);
    assert!(standing.exact);
}

/// A dummy answer makes another alphabet, not another budget: what was released counts with its LDP.
#[test]
fn another_alphabet_is_bounded_by_ldp() {
    let quarter = MASS_ONE / 4;
    let response = table(&[&[3 * quarter, quarter], &[quarter, 3 * quarter]]);
    let even = || Context::Known(prior(&[WEIGHT_ONE / 2, WEIGHT_ONE / 2]));
    let two = lax(&["no", "yes"], response, even()).unwrap();
    let sixth = MASS_ONE / 6;
    let three = table(&[
        &[MASS_ONE - 2 * sixth, sixth, sixth],
        &[sixth, MASS_ONE - 2 * sixth, sixth],
        &[sixth, sixth, MASS_ONE - 2 * sixth],
    ]);
    let three = lax(&["no", "yes", "dummy"], three, Context::Unknown).unwrap();
    let mut past = Sequence::new();
    past.released(&two, &report(&two, 1)).unwrap();
    let standing = past.after(&three);
    assert!(!standing.exact);
    let sum = two.ldp().unwrap().checked_add(three.ldp().unwrap()).unwrap();
    let attained = standing.ldp.ln_up().unwrap();
    assert!(
        attained >= Nats::from_units(sum.units() - 10)
            && attained <= Nats::from_units(sum.units() + 10)
    );
    // Belief in the two-symbol answer: 3:1 from the first, and the second may add its whole LDP:
    // lift 1/(1/2 + e^-D/(2·3)).
    let lip = value(standing.lip.unwrap()).unwrap();
    assert!(lip > ratio(3, 2) && lip < ratio(8, 1), "{lip}");
    // Unnamed symbols match unnamed ones of the same number only.
    let indices = |k| Alphabet::indices(k).unwrap();
    assert!(indices(2).order_in(&indices(2)).is_some());
    assert!(indices(2).order_in(&indices(3)).is_none());
    assert!(indices(2).order_in(two.draft().inputs()).is_none());
}

/// Reports no single answer can have given: nothing is known, so nothing more is released.
#[test]
fn contradicting_reports_end_it() {
    let shape = table(&[&[MASS_ONE, 0], &[0, MASS_ONE]]);
    let names = ["no", "yes"];
    // Anything may be claimed about a secret with one value.
    let law = prior(&[WEIGHT_ONE / 2, WEIGHT_ONE / 2]);
    let secret = Secret::new("none".into(), prior(&[WEIGHT_ONE]), vec![law]).unwrap();
    let claim = Claim::ldp(Epsilon::ZERO).about_secret();
    let telling = claiming(&names, shape, Context::Secret(secret), claim).unwrap();
    let silent = lax(&names, table(&[&[MASS_ONE], &[MASS_ONE]]), Context::Unknown).unwrap();
    let mut past = Sequence::new();
    past.released(&telling, &report(&telling, 0)).unwrap();
    past.released(&telling, &report(&telling, 1)).unwrap();
    assert!(past.after(&silent).ldp.is_unbounded());
    assert!(past.released(&silent, &report(&telling, 1)).is_err());
}

/// Boxes, lists and large alphabets take the structured path; compared with a table that says the same.
#[test]
fn keep_agrees_with_the_table_it_stands_for() {
    let mut random = Random::new(1404);
    let mut compared = 0;
    for _ in 0..200 {
        let size = random.size(2, 4);
        let kind = 1 + random.below(3);
        let context = random.context(size, kind);
        let keep = random.keep(size);
        let Shape::Keep(parts) = &keep else { unreachable!() };
        // The same channel with keep probabilities rounded to what a table's cells can hold exactly.
        let rounded: Vec<u64> = parts.keep().iter().map(|k| k / (1 << 30) * (1 << 30)).collect();
        let base: Vec<u64> = {
            let mut base: Vec<u64> = vec![MASS_ONE / 8; size];
            base[0] = MASS_ONE - MASS_ONE / 8 * (size as u64 - 1);
            base
        };
        let keep = undertone_core::Keep::new(rounded.clone(), base.clone()).unwrap();
        let cell = |x: usize, y: usize| {
            let kept = u128::from(rounded[x]) << 8;
            let drawn = (u128::from((1u64 << 40) - rounded[x]) * u128::from(base[y])) >> 40;
            (drawn + if x == y { kept } else { 0 }) as u64
        };
        let masses: Vec<Vec<u64>> =
            (0..size).map(|x| (0..size).map(|y| cell(x, y)).collect()).collect();
        let table = table(&masses.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let names = &NAMES[..size];
        let (Some(a), Some(b)) =
            (lax(names, Shape::Keep(keep), context.clone()), lax(names, table, context))
        else {
            continue;
        };
        let before = some_policy(&mut random, size);
        let mut past = Sequence::new();
        past.untold(&before);
        let (kept, listed) = (past.after(&a), past.after(&b));
        if listed.exact {
            enclosed(&found(&kept), &found(&listed), [&before, &b]);
            compared += 1;
        }
    }
    assert!(compared > 100, "{compared}");
}

/// A tight box and a list of the same priors ask for the same.
#[test]
fn contexts_of_earlier_releases_stay_in_force() {
    let quarter = MASS_ONE / 4;
    let response = || table(&[&[3 * quarter, quarter], &[quarter, 3 * quarter]]);
    let tenth = WEIGHT_ONE / 10;
    let rare = prior(&[WEIGHT_ONE - tenth, tenth]);
    let within = PriorBox::new(rare.weights().to_vec(), rare.weights().to_vec()).unwrap();
    let each = Priors::new(vec![rare.clone(), rare.clone()]).unwrap();
    let names = ["no", "yes"];
    let blind = lax(&names, response(), Context::Unknown).unwrap();
    let mut levels = Vec::new();
    for context in [Context::Known(rare), Context::Each(each), Context::Within(within)] {
        let declared = lax(&names, response(), context).unwrap();
        let mut past = Sequence::new();
        past.released(&declared, &report(&declared, 1)).unwrap();
        levels.push(past.after(&blind).lip.unwrap());
        let mut past = Sequence::new();
        past.released(&blind, &report(&blind, 1)).unwrap();
        levels.push(past.after(&declared).lip.unwrap());
    }
    assert!(levels.iter().all(|level| *level == levels[0]), "{levels:?}");
    // 9 / (9/10 + 9/10)
    assert_eq!(
        value(levels[0]),
        Some(Q::ONE * ratio(WEIGHT_ONE * 9, WEIGHT_ONE - tenth + 9 * tenth))
    );
}

/// A number for every symbol of the largest alphabets would fill memory: what their releases tell is the sum of what each attains, and
/// smaller alphabets beside them are looked at as ever.
#[test]
fn the_largest_alphabets_are_bounded_by_what_each_release_attains() {
    let size = (1 << 22) + 1;
    let bits = |own: u64| Shape::Bits(Bits::new(size, own, WEIGHT_ONE / 4).unwrap());
    let made = |shape: Shape| {
        let claims = vec![Claim::ldp(Epsilon::LARGEST)];
        let inputs = Alphabet::indices(size).unwrap();
        let source = Provenance::default();
        Draft::new(inputs, None, shape, Context::Unknown, claims, source).unwrap().verify().unwrap()
    };
    let (first, second) = (made(bits(WEIGHT_ONE / 2)), made(bits(3 * (WEIGHT_ONE / 4))));
    let standing = Sequence::together(&[&first, &second]).unwrap();
    let sum = first.ldp().unwrap().checked_add(second.ldp().unwrap()).unwrap();
    // e^sum is rounded up, and the logarithm of that as well.
    let attained = standing.ldp.ln_up().unwrap();
    assert!(attained >= sum && attained <= Nats::from_units(sum.units() + 2), "{attained:?}");
    assert_eq!((standing.exact, standing.lip, standing.claims), (false, None, None));
    let report = Report {
        policy: first.id(),
        id: ReportId([0; 16]),
        token: Token::Bits(vec![0; size.div_ceil(8)].into()),
    };
    let mut past = Sequence::new();
    past.released(&first, &report).unwrap();
    assert_eq!(past.after(&second).ldp, standing.ldp);
    // Beside an alphabet of two, whose prior is still held against belief.
    let quarter = MASS_ONE / 4;
    let response = table(&[&[3 * quarter, quarter], &[quarter, 3 * quarter]]);
    let even = Context::Known(prior(&[WEIGHT_ONE / 2, WEIGHT_ONE / 2]));
    let two = lax(&["no", "yes"], response, even).unwrap();
    for policies in [[&first, &two], [&two, &first]] {
        let standing = Sequence::together(&policies).unwrap();
        assert!(!standing.exact);
        let (ldp, lip) = (standing.ldp.ln_up().unwrap(), standing.lip.unwrap().ln_up().unwrap());
        let sum = first.ldp().unwrap().checked_add(two.ldp().unwrap()).unwrap();
        assert!(ldp >= sum && ldp <= Nats::from_units(sum.units() + 10), "{ldp:?}");
        // Odds of 9 on an even prior: belief rises to 9/5 at most and falls to a fifth.
        assert_eq!(lip, Nats::from_units(16_094_379_125));
    }
}
