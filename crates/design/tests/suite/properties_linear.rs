//! Optimal design for linear losses on random problems: what ships verifies, costs next to nothing
//! more than the optimum, and is beaten by nothing a random search finds.
use undertone_core::{Bound, Claim, Context, Epsilon, Priors, Secret, Subject};
use undertone_design::measure::lip;
use undertone_design::mechanism::linear::{self, Design};
use undertone_design::mechanism::uncertain::{self, Interval};
use undertone_design::mechanism::{Proposal, randomized_response};
use undertone_design::objective::Objective;
use undertone_design::quantize::{self, PolicySpec};
use undertone_design::{Channel, Distribution, to_floats};
use undertone_testkit::channel::{channel, rows};
use undertone_testkit::claim::delta;
use undertone_testkit::dice::Dice;
use undertone_testkit::law::{self, distribution};
use undertone_testkit::spec::{indexed, within};

/// A level whose logarithm is uniform, with four decimals.
fn nats(low: f64, high: f64, dice: &mut Dice) -> f64 {
    (dice.log_between(low, high) * 1e4).round() / 1e4
}

/// Uniform, Zipf, Dirichlet, or a Dirichlet so skewed that symbols nearly or wholly vanish.
fn any_prior(symbols: usize, dice: &mut Dice) -> Distribution {
    distribution(&law::any(symbols, dice))
}

/// Strictly positive and not too skewed.
fn even_prior(symbols: usize, dice: &mut Dice) -> Distribution {
    distribution(&law::dirichlet(symbols, 0.1, dice))
}

fn random_objective(symbols: usize, dice: &mut Dice) -> Objective {
    let values = || (0..symbols).map(|x| x as f64).collect();
    match dice.below(4) {
        0 => Objective::Hamming,
        1 => Objective::Absolute(values()),
        2 => Objective::Squared(values()),
        _ => {
            let outputs = dice.count(1, symbols + 2);
            let row = |dice: &mut Dice| (0..outputs).map(|_| dice.open_unit()).collect();
            Objective::Matrix((0..symbols).map(|_| row(dice)).collect())
        }
    }
}

fn random_channel(inputs: usize, outputs: usize, dice: &mut Dice) -> Channel {
    let law = |n: usize, dice: &mut Dice| {
        law::normalised((0..n).map(|_| (-dice.open_unit().ln()).powi(3)).collect())
    };
    channel(&rows(inputs, outputs, law, dice))
}

fn epsilon(nats: f64) -> Epsilon {
    Epsilon::parse(&format!("{nats}")).unwrap()
}

fn known(prior: &Distribution) -> Context {
    Context::Known(quantize::prior(prior).unwrap().prior)
}

fn secret(prior: &Distribution, rows: &[Distribution]) -> Context {
    let integers = |p: &Distribution| quantize::prior(p).unwrap().prior;
    let rows = rows.iter().map(integers).collect();
    Context::Secret(Secret::new("s".into(), integers(prior), rows).unwrap())
}

/// A random problem in every kind of context and with every kind of claim.
fn problem(dice: &mut Dice, kind: usize, symbols: usize) -> (PolicySpec, Distribution) {
    let prior = even_prior(symbols, dice);
    let e = epsilon(nats(0.1, 4.0, dice));
    let other = epsilon(nats(0.1, 4.0, dice));
    let lip = Claim::lip(e);
    let asymmetric = Claim { bound: Bound::Lip { lower: e, upper: other }, ..lip };
    let escape = delta(0.002 + 0.05 * dice.open_unit());
    let (context, claims) = match kind {
        0 => (known(&prior), vec![asymmetric]),
        1 => (Context::Unknown, vec![Claim::ldp(e)]),
        2 => (known(&prior), vec![lip, Claim::ldp(other)]),
        3 => {
            let integers = |p: &Distribution| quantize::prior(p).unwrap().prior;
            let others = (0..2).map(|_| integers(&even_prior(symbols, dice)));
            let all = [integers(&prior)].into_iter().chain(others).collect();
            (Context::Each(Priors::new(all).unwrap()), vec![asymmetric])
        }
        4 => {
            let low: Vec<f64> = prior.as_slice().iter().map(|p| p * dice.open_unit()).collect();
            let high: Vec<f64> =
                prior.as_slice().iter().map(|p| p * (1.0 + dice.open_unit())).collect();
            (within(&low, &high), vec![asymmetric])
        }
        5 | 6 => {
            let values = dice.count(2, 3);
            let rows: Vec<_> = (0..values).map(|_| any_prior(symbols, dice)).collect();
            let law = even_prior(values, dice);
            let about = lip.about_secret();
            let claims = if kind == 5 {
                vec![about]
            } else {
                vec![about, Claim::ldp(other).about_secret(), asymmetric]
            };
            (secret(&law, &rows), claims)
        }
        7 => {
            let own = (prior.max() / prior.min()).ln();
            let di = epsilon(((own + 0.01 + 2.0 * dice.open_unit()) * 1e4).ceil() / 1e4);
            let claim = Claim { bound: Bound::Di(di), ..lip };
            let claims = if dice.open_unit() < 0.5 { vec![claim] } else { vec![claim, lip] };
            (known(&prior), claims)
        }
        8 => (known(&prior), vec![asymmetric.with_delta(escape), Claim::ldp(epsilon(6.0))]),
        9 => (Context::Unknown, vec![Claim::ldp(e).with_delta(escape)]),
        _ => {
            let low: Vec<f64> = prior.as_slice().iter().map(|p| 0.8 * p).collect();
            let high: Vec<f64> = prior.as_slice().iter().map(|p| 1.3 * p).collect();
            (within(&low, &high), vec![lip.with_delta(escape)])
        }
    };
    (indexed(symbols, context, claims), prior)
}

const KINDS: usize = 11;

fn loss(prior: &Distribution, channel: &Channel, losses: &[Vec<f64>]) -> f64 {
    let row = |x: usize| {
        channel.rows()[x].as_slice().iter().zip(&losses[x]).map(|(q, l)| q * l).sum::<f64>()
    };
    (0..prior.len()).map(|x| prior[x] * row(x)).sum()
}

fn blind(prior: &Distribution, losses: &[Vec<f64>]) -> f64 {
    let column = |y: usize| (0..prior.len()).map(|x| prior[x] * losses[x][y]).sum::<f64>();
    (0..losses[0].len()).map(column).fold(f64::INFINITY, f64::min)
}

/// What rounding and repair cost, over the loss and over the blind guess. Nothing that verifies may
/// be below the bound.
#[track_caller]
fn given_up(design: &Design, blind: f64) -> (f64, f64) {
    let Proposal { optimum, bound, .. } = design.proposal;
    assert!(design.loss >= bound.unwrap() - 1e-13 * blind, "{} beats {bound:?}", design.loss);
    let lost = design.loss - optimum;
    (lost / design.loss, lost / blind)
}

fn repair(problems: usize, seed: u64, symbols: (usize, usize), epsilons: (f64, f64)) {
    let mut dice = Dice::new(seed);
    for at in 0..problems {
        let n = dice.count(symbols.0, symbols.1);
        let prior = any_prior(n, &mut dice);
        let level = nats(epsilons.0, epsilons.1, &mut dice);
        let (lip, ldp) = (Claim::lip(epsilon(level)), Claim::ldp(epsilon(level)));
        let claims = match dice.count(0, 3) {
            0 | 1 => vec![lip],
            2 => vec![ldp],
            _ => vec![lip, Claim::ldp(epsilon((1.5 * level).min(22.0)))],
        };
        let spec = indexed(n, known(&prior), claims);
        let losses = random_objective(n, &mut dice).losses(n).unwrap().unwrap();
        let design = linear::design(&spec, &prior, &losses).unwrap();
        let (relative, of_blind) = given_up(&design, blind(&prior, &losses));
        let told = format!("{at}: n {n}, {:?}, mixed {}", spec.claims, design.shipped.mixed);
        assert!(of_blind < 1e-9, "{of_blind:.2e} of the blind guess; {told}");
        assert!(level > 5.0 || relative < 1e-8, "{relative:.2e}; {told}");
    }
}

#[test]
fn rounding_and_repair_cost_next_to_nothing() {
    repair(400, 1, (2, 16), (0.1, 5.0));
}

#[test]
fn also_for_larger_alphabets() {
    repair(5, 2, (40, 64), (0.1, 5.0));
}

/// Above a couple of dozen outputs only those worth releasing enter the program. A second claim that the
/// first implies makes it whole again and must change nothing.
#[test]
fn few_outputs_are_enough() {
    let mut dice = Dice::new(11);
    for at in 0..12 {
        let n = dice.count(24, 30);
        let prior = any_prior(n, &mut dice);
        let level = nats(0.2, 4.0, &mut dice);
        let (lip, ldp) = (Claim::lip(epsilon(level)), Claim::ldp(epsilon(level)));
        let twice = Claim::ldp(epsilon(2.0 * level + 1e-4));
        let (claim, implied) = if at % 3 == 0 { (ldp, lip) } else { (lip, twice) };
        let losses = random_objective(n, &mut dice).losses(n).unwrap().unwrap();
        let best = |claims: Vec<Claim>| {
            let spec = indexed(n, known(&prior), claims);
            let found = linear::optimal(&spec, &prior, &losses).unwrap();
            (found.optimum, found.bound.unwrap())
        };
        let ((few, bound), (whole, _)) = (best(vec![claim]), best(vec![claim, implied]));
        let scale = blind(&prior, &losses);
        assert!((few - whole).abs() < 1e-8 * scale, "{at}: {few} against {whole}, {claim}");
        assert!(bound > few - 1e-8 * scale, "{at}: {few} is not known to be optimal above {bound}");
    }
}

#[test]
fn also_at_the_weakest_levels() {
    repair(200, 3, (2, 12), (5.0, 22.0));
}

#[test]
fn every_context_and_claim_ships_at_its_bound() {
    let mut dice = Dice::new(4);
    for at in 0..20 * KINDS {
        let n = dice.count(2, 6);
        let (spec, prior) = problem(&mut dice, at % KINDS, n);
        let losses = random_objective(n, &mut dice).losses(n).unwrap().unwrap();
        let design = linear::design(&spec, &prior, &losses).unwrap();
        let (relative, of_blind) = given_up(&design, blind(&prior, &losses));
        let told = format!("{at}: {relative:.2e}, {of_blind:.2e}, {:?}", spec.claims);
        // Where nothing is lost at the optimum, a share of the loss says nothing.
        assert!((relative < 1e-8 || of_blind < 1e-12) && of_blind < 1e-9, "{told}");
        let outputs = design.shipped.policy.draft().outputs();
        assert_eq!(outputs.len(), design.outputs.len());
    }
}

/// The least mixed channel on the way from `channel` to the uniform one that verifies.
fn feasible(spec: &PolicySpec, channel: &Channel) -> Channel {
    let uniform = 1.0 / channel.outputs() as f64;
    let mixed = |share: f64| {
        let row = |row: &Distribution| {
            row.as_slice().iter().map(|q| (1.0 - share) * q + share * uniform).collect()
        };
        Channel::new(channel.rows().iter().map(row).collect()).unwrap()
    };
    let holds = |channel: &Channel| spec.verify(channel).unwrap().is_ok();
    let (mut refused, mut accepted) = (0.0, 1.0);
    for _ in 0..30 {
        let middle = (refused + accepted) / 2.0;
        if holds(&mixed(middle)) { accepted = middle } else { refused = middle }
    }
    mixed(accepted)
}

#[test]
fn no_feasible_channel_beats_the_bound() {
    let mut dice = Dice::new(5);
    for at in 0..6 * KINDS {
        let n = dice.count(2, 5);
        let (spec, prior) = problem(&mut dice, at % KINDS, n);
        let losses = random_objective(n, &mut dice).losses(n).unwrap().unwrap();
        let outputs = losses[0].len();
        let all: Vec<usize> = (0..outputs).collect();
        let spec = spec.releasing(outputs, &all).unwrap();
        let Proposal { channel, bound, .. } = linear::optimal(&spec, &prior, &losses).unwrap();
        let bound = bound.unwrap();
        for attempt in 0..20 {
            let random = random_channel(n, outputs, &mut dice);
            // Every second one is the optimum, pushed aside a little.
            let step = if attempt % 2 == 0 { 1.0 } else { 10f64.powf(-5.0 * dice.open_unit()) };
            let row = |(a, b): (&Distribution, &Distribution)| {
                let cells = a.as_slice().iter().zip(b.as_slice());
                cells.map(|(a, b)| (1.0 - step) * a + step * b).collect()
            };
            let rows = channel.rows().iter().zip(random.rows()).map(row).collect();
            let rival = feasible(&spec, &Channel::new(rows).unwrap());
            let value = loss(&prior, &rival, &losses);
            assert!(value > bound - 1e-9, "{at}: {value} beats {bound}, {:?}", spec.claims);
        }
    }
}

#[test]
fn more_claims_never_help() {
    let mut dice = Dice::new(6);
    for _ in 0..40 {
        let n = dice.count(2, 6);
        let prior = any_prior(n, &mut dice);
        let losses = random_objective(n, &mut dice).losses(n).unwrap().unwrap();
        let (lip, ldp) = (
            Claim::lip(epsilon(nats(0.2, 3.0, &mut dice))),
            Claim::ldp(epsilon(nats(0.2, 3.0, &mut dice))),
        );
        let best = |claims: Vec<Claim>| {
            let spec = indexed(n, known(&prior), claims);
            linear::optimal(&spec, &prior, &losses).unwrap().optimum
        };
        let both = best(vec![lip, ldp]);
        assert!(both > best(vec![lip]) - 1e-9 && both > best(vec![ldp]) - 1e-9);
        let escaping = best(vec![lip.with_delta(delta(0.01))]);
        assert!(escaping < best(vec![lip]) + 1e-9);
    }
}

#[test]
fn more_priors_never_help() {
    let mut dice = Dice::new(7);
    for _ in 0..30 {
        let n = dice.count(2, 5);
        let priors: Vec<Distribution> = (0..3).map(|_| even_prior(n, &mut dice)).collect();
        let losses = random_objective(n, &mut dice).losses(n).unwrap().unwrap();
        let claim = Claim::lip(epsilon(nats(0.2, 3.0, &mut dice)));
        // One objective for all, so that only the constraints differ.
        let objective = even_prior(n, &mut dice);
        let best = |context: Context| {
            let spec = indexed(n, context, vec![claim]);
            linear::optimal(&spec, &objective, &losses).unwrap().optimum
        };
        let integers = priors.iter().map(|p| quantize::prior(p).unwrap().prior).collect();
        let each = best(Context::Each(Priors::new(integers).unwrap()));
        let end = |x: usize, pick: fn(f64, f64) -> f64, start: f64| {
            priors.iter().map(|p| p[x]).fold(start, pick)
        };
        let low: Vec<f64> = (0..n).map(|x| end(x, f64::min, 1.0)).collect();
        let high: Vec<f64> = (0..n).map(|x| end(x, f64::max, 0.0)).collect();
        let boxed = best(within(&low, &high));
        let anything = best(within(&vec![0.0; n], &vec![1.0; n]));
        let ldp = linear::optimal(
            &indexed(n, Context::Unknown, vec![Claim::ldp(claim_level(&claim))]),
            &objective,
            &losses,
        );
        assert!(priors.iter().all(|p| each > best(known(p)) - 1e-9));
        assert!(boxed > each - 1e-8, "the box holds all of them");
        assert!(anything > boxed - 1e-8);
        // For any prior whatever, LIP is LDP (JSTL21 Corollary 2).
        assert!((anything - ldp.unwrap().optimum).abs() < 1e-8);
    }
}

fn claim_level(claim: &Claim) -> Epsilon {
    match claim.bound {
        Bound::Ldp(e) | Bound::Di(e) | Bound::Lip { upper: e, .. } => e,
    }
}

/// The least loss of any post-processing of `channel`.
fn post_processed(prior: &Distribution, channel: &Channel, losses: &[Vec<f64>]) -> f64 {
    let release = |j: usize, y: usize| {
        (0..prior.len()).map(|x| prior[x] * channel.q(x, j) * losses[x][y]).sum::<f64>()
    };
    let best = |j: usize| (0..losses[0].len()).map(|y| release(j, y)).fold(f64::INFINITY, f64::min);
    (0..channel.outputs()).map(best).sum()
}

fn matrix(dice: &mut Dice) -> Vec<Vec<f64>> {
    let outputs = dice.count(2, 4);
    (0..2).map(|_| (0..outputs).map(|_| dice.open_unit()).collect()).collect()
}

#[test]
fn a_yes_or_no_question_has_a_closed_form() {
    let mut dice = Dice::new(8);
    for at in 0..100 {
        let prior = even_prior(2, &mut dice);
        let level = nats(0.1, 4.0, &mut dice);
        let losses = if at % 2 == 0 {
            Objective::Hamming.losses(2).unwrap().unwrap()
        } else {
            matrix(&mut dice)
        };
        let closed = randomized_response::binary_optimal(&prior, level).unwrap();
        let spec = indexed(2, known(&prior), vec![Claim::lip(epsilon(level))]);
        let found = linear::optimal(&spec, &prior, &losses).unwrap().optimum;
        let expected = post_processed(&prior, &closed, &losses);
        assert!((found - expected).abs() < 2e-9, "{at}: {found} against {expected}");
    }
}

#[test]
fn an_uncertain_prior_has_a_closed_form_too() {
    let mut dice = Dice::new(9);
    for at in 0..100 {
        let (one, two) = (dice.open_unit(), dice.open_unit());
        let interval = Interval::new(one.min(two), one.max(two)).unwrap();
        let (a, b) = (interval.lower(), interval.upper());
        let level = nats(0.1, 4.0, &mut dice);
        let losses = matrix(&mut dice);
        let middle = a + (b - a) * dice.open_unit();
        let prior = Distribution::new("p", vec![1.0 - middle, middle]).unwrap();
        let spec =
            indexed(2, within(&[1.0 - b, a], &[1.0 - a, b]), vec![Claim::lip(epsilon(level))]);
        let found = linear::optimal(&spec, &prior, &losses).unwrap().optimum;
        let closed = uncertain::optimal(interval, level).unwrap();
        let expected = post_processed(&prior, &closed, &losses);
        assert!((found - expected).abs() < 2e-9, "{at}: {found} against {expected}");
    }
}

#[test]
fn the_printed_uncertain_prior_is_refused_exactly_where_it_leaks() {
    let mut dice = Dice::new(10);
    let (mut valid, mut invalid) = (0, 0);
    for _ in 0..2000 {
        let (one, two) = (dice.open_unit(), dice.open_unit());
        let interval = Interval::new(one.min(two), one.max(two)).unwrap();
        let level = nats(0.1, 4.0, &mut dice);
        let printed = uncertain::published(interval, level).unwrap();
        let leaks = |p: f64| {
            let prior = Distribution::new("p", vec![1.0 - p, p]).unwrap();
            lip::leakage(&prior, &printed).unwrap().nats
        };
        let worst = leaks(interval.lower()).max(leaks(interval.upper()));
        if uncertain::published_is_valid(interval, level).unwrap() {
            valid += 1;
            assert!(worst <= level + 1e-9, "{interval:?} at {level} leaks {worst}");
        } else {
            invalid += 1;
            assert!(worst > level, "{interval:?} at {level} leaks only {worst}");
        }
    }
    assert!(valid > 200 && invalid > 200);
}

#[test]
fn silence_is_the_blind_guess() {
    let prior = Distribution::new("p", vec![0.5, 0.3, 0.2]).unwrap();
    let losses = Objective::Hamming.losses(3).unwrap().unwrap();
    let zero = |claim: Claim| indexed(3, known(&prior), vec![claim]);
    let one_sided = Bound::Lip { lower: Epsilon::LARGEST, upper: Epsilon::ZERO };
    let claims = [
        Claim::ldp(Epsilon::ZERO),
        Claim::lip(Epsilon::ZERO),
        Claim { bound: one_sided, ..Claim::lip(Epsilon::ZERO) },
    ];
    for claim in claims {
        let design = linear::design(&zero(claim), &prior, &losses).unwrap();
        assert!((design.loss - 0.5).abs() < 1e-12, "{claim}: {}", design.loss);
        assert_eq!(design.outputs, [0]);
    }
}

#[test]
fn symbols_without_mass_are_protected_too() {
    let prior = Distribution::new("p", vec![0.6, 0.0, 0.4]).unwrap();
    let losses = Objective::Hamming.losses(3).unwrap().unwrap();
    let spec = indexed(3, known(&prior), vec![Claim::lip(epsilon(1.0))]);
    let design = linear::design(&spec, &prior, &losses).unwrap();
    let channel = to_floats::channel(design.shipped.policy.draft().shape()).unwrap();
    let law = channel.output_law(&prior).unwrap();
    for y in 0..channel.outputs() {
        let lift = channel.q(1, y) / law[y];
        assert!((-1.0..=1.0).contains(&lift.ln()), "the lift of the absent symbol is {lift}");
    }
    // With all mass on two symbols the third changes nothing.
    let two = Distribution::new("p", vec![0.6, 0.4]).unwrap();
    let closed = randomized_response::binary_optimal(&two, 1.0).unwrap();
    let error = 0.6 * closed.q(0, 1) + 0.4 * closed.q(1, 0);
    assert!((design.loss - error).abs() < 1e-9);
}

#[test]
fn what_cannot_be_done_is_said() {
    let prior = Distribution::new("p", vec![0.7, 0.2, 0.1]).unwrap();
    let losses = Objective::Hamming.losses(3).unwrap().unwrap();
    let refusal = |context: Context, claim: Claim| {
        let spec = indexed(3, context, vec![claim]);
        linear::optimal(&spec, &prior, &losses).unwrap_err().to_string()
    };
    let lip = Claim::lip(epsilon(1.0));
    let di = |level: f64| Claim { bound: Bound::Di(epsilon(level)), ..lip };
    let low = refusal(known(&prior), di(1.0));
    assert!(low.contains("ln(Pmax/Pmin)") && low.contains("di:1.945911"), "{low}");
    let feasible = indexed(3, known(&prior), vec![di(1.945911)]);
    assert!(linear::design(&feasible, &prior, &losses).is_ok(), "the advice can be followed");
    let holes = Distribution::new("p", vec![0.7, 0.3, 0.0]).unwrap();
    assert!(refusal(known(&holes), di(5.0)).contains("probability 0"));
    assert!(refusal(Context::Unknown, di(5.0)).contains("prior"));
    assert!(refusal(Context::Unknown, lip).contains("no prior"));
    assert!(refusal(known(&prior), Claim { about: Subject::Secret, ..lip }).contains("secret"));
    let wide = Distribution::uniform(40);
    let many = Objective::Hamming.losses(40).unwrap().unwrap();
    let pairs =
        indexed(40, Context::Unknown, vec![Claim::ldp(epsilon(1.0)).with_delta(delta(0.01))]);
    let size = linear::optimal(&pairs, &wide, &many).unwrap_err().to_string();
    assert!(size.contains("pairs") && size.contains("pure ldp"), "{size}");
    let known = indexed(3, known(&prior), vec![lip]);
    assert!(linear::optimal(&known, &wide, &losses).is_err());
    assert!(linear::optimal(&known, &prior, &losses[..2]).is_err());
    let nan = vec![vec![0.0, f64::NAN]; 3];
    assert!(linear::optimal(&known, &prior, &nan).unwrap_err().to_string().contains("row 0"));
    let huge = vec![vec![-1e308, 1e308]; 3];
    assert!(linear::optimal(&known, &prior, &huge).unwrap_err().to_string().contains("1e100"));
}
