//! Properties of the convex and closed-form designs.
use undertone_core::{Claim, Context, Delta, Epsilon};
use undertone_design::extremal::LiftRange;
use undertone_design::measure::lip;
use undertone_design::mechanism::accuracy::{self, Accuracy, Coverage, Family};
use undertone_design::mechanism::{keep, linear, posterior, randomized_response, staircase, unary};
use undertone_design::objective::{self, Objective};
use undertone_design::quantize;
use undertone_design::{Channel, Distribution, to_floats};
use undertone_numeric::mixture::maximise_mixture;
use undertone_testkit::channel::{channel, sharpened};
use undertone_testkit::claim::{alip, di, epsilon as level, lip};
use undertone_testkit::dice::Dice;
use undertone_testkit::law::{dirichlet, distribution, zipf};
use undertone_testkit::spec::under;

fn random_prior(symbols: usize, dice: &mut Dice) -> Distribution {
    distribution(&dirichlet(symbols, 0.05, dice))
}

/// The channel mixed with its own output law until it is ε-LIP, as little as possible.
fn made_private(prior: &Distribution, channel: &Channel, epsilon: f64) -> Channel {
    let law = channel.output_law(prior).unwrap();
    let mixed = |share: f64| {
        let cell = |q: &f64, p: &f64| (1.0 - share) * q + share * p;
        let row = |row: &Distribution| {
            row.as_slice().iter().zip(law.as_slice()).map(|(q, p)| cell(q, p)).collect()
        };
        Channel::new(channel.rows().iter().map(row).collect()).unwrap()
    };
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        let fine = lip::leakage(prior, &mixed(middle)).unwrap().nats <= epsilon;
        if fine { high = middle } else { low = middle }
    }
    mixed(high)
}

#[test]
fn no_random_channel_beats_the_optimum() {
    let mut dice = Dice::new(3);
    for symbols in 2..=5 {
        for epsilon in [0.3, 1.0, 2.5] {
            let prior = random_prior(symbols, &mut dice);
            let values: Vec<f64> = (0..symbols).map(|_| dice.open_unit() * 4.0).collect();
            let objectives = [
                Objective::Mmse(values.clone()),
                Objective::Absolute(values),
                Objective::MutualInformation,
                Objective::Frequency,
                Objective::Hamming,
            ];
            let range = LiftRange::symmetric(epsilon).unwrap();
            let best: Vec<_> = objectives
                .iter()
                .map(|o| posterior::optimal_lifts(&prior, range, o).unwrap())
                .collect();
            for (objective, found) in objectives.iter().zip(&best) {
                let leakage = lip::leakage(&prior, &found.channel).unwrap().nats;
                assert!(leakage <= epsilon + 1e-9, "{} {leakage}", objective.name());
                let value = objective.value(&prior, &found.channel).unwrap();
                assert!((value - found.optimum).abs() <= 1e-9 * value.abs());
                let gap = (found.optimum - found.bound.unwrap()).abs();
                assert!(gap <= 1e-8 * (1.0 + value.abs()), "{} {gap:e}", objective.name());
            }
            for _ in 0..150 {
                let outputs = if dice.open_unit() < 0.5 { symbols } else { symbols + 2 };
                let raw = channel(&sharpened(symbols, outputs, &mut dice));
                let tried = made_private(&prior, &raw, epsilon);
                for (objective, found) in objectives.iter().zip(&best) {
                    if outputs > symbols && objective.losses(symbols).unwrap().is_some() {
                        continue;
                    }
                    let value = objective.value(&prior, &tried).unwrap();
                    let slack = 1e-9 * (1.0 + value.abs());
                    let beaten = match objective.is_gain() {
                        true => value > found.optimum + slack,
                        false => value < found.optimum - slack,
                    };
                    assert!(!beaten, "{} {value} {}", objective.name(), found.optimum);
                }
            }
        }
    }
}

/// Two programs with nothing in common but the problem: over channels, and over extremal outputs.
#[test]
fn the_vertex_program_agrees_with_the_channel_program() {
    let mut dice = Dice::new(5);
    let sets: [Vec<Claim>; 6] = [
        vec![lip("1")],
        vec![alip("0.5", "1.5")],
        vec![Claim::ldp(level("1"))],
        vec![lip("0.8"), Claim::ldp(level("1.1"))],
        vec![di("5")],
        vec![di("5"), lip("1"), Claim::ldp(level("1.5"))],
    ];
    for symbols in [2, 3, 4, 6] {
        for claims in &sets {
            let (spec, prior) = under(&random_prior(symbols, &mut dice), claims.clone());
            let losses: Vec<Vec<f64>> = (0..symbols)
                .map(|_| (0..symbols + 1).map(|_| dice.open_unit()).collect())
                .collect();
            let objective = Objective::Matrix(losses.clone());
            let ours = posterior::optimal(&spec, &prior, &objective).unwrap();
            let theirs = linear::optimal(&spec, &prior, &losses).unwrap();
            assert!(
                (ours.optimum - theirs.optimum).abs() < 1e-8,
                "{symbols} {claims:?}: {} {}",
                ours.optimum,
                theirs.optimum
            );
            assert!((ours.bound.unwrap() - ours.optimum).abs() < 1e-8);
        }
    }
}

/// Seven symbols are beyond the list of a conjunction's vertices: outputs are generated instead.
#[test]
fn generated_conjunctions_agree_with_the_channel_program() {
    let mut dice = Dice::new(6);
    let claims = vec![lip("0.8"), Claim::ldp(level("1.1"))];
    let (spec, prior) =
        under(&random_prior(posterior::MAX_LISTED_CONJUNCTION + 1, &mut dice), claims);
    let losses = Objective::Hamming.losses(prior.len()).unwrap().unwrap();
    let ours = posterior::optimal(&spec, &prior, &Objective::Hamming).unwrap();
    let theirs = linear::optimal(&spec, &prior, &losses).unwrap();
    assert!((ours.optimum - theirs.optimum).abs() < 1e-7, "{} {}", ours.optimum, theirs.optimum);
    assert!((ours.bound.unwrap() - theirs.optimum).abs() < 1e-7);
    let information = posterior::optimal(&spec, &prior, &Objective::MutualInformation).unwrap();
    assert!(information.bound.unwrap() >= information.optimum);
}

/// Above the list, optimum and bound still meet (mmse and losses at any size, information up to twenty).
#[test]
fn generated_designs_meet_their_bounds() {
    let mut dice = Dice::new(7);
    for symbols in [13, 16] {
        let prior = random_prior(symbols, &mut dice);
        let values: Vec<f64> = (0..symbols).map(|v| v as f64).collect();
        let range = LiftRange::symmetric(1.2).unwrap();
        for objective in [Objective::Mmse(values), Objective::Hamming, Objective::MutualInformation]
        {
            let found = posterior::optimal_lifts(&prior, range, &objective).unwrap();
            let gap = (found.optimum - found.bound.unwrap()).abs() / found.optimum;
            assert!(gap < 1e-7, "{symbols} {}: {gap:e}", objective.name());
            assert!(lip::leakage(&prior, &found.channel).unwrap().nats <= 1.2 + 1e-9);
        }
    }
    let prior = distribution(&zipf(26, 1.0));
    let range = LiftRange::symmetric(1.0).unwrap();
    let found = posterior::optimal_lifts(&prior, range, &Objective::MutualInformation).unwrap();
    let gap = (found.bound.unwrap() - found.optimum) / found.optimum;
    assert!((-1e-9..1e-2).contains(&gap), "{gap:e}");
}

/// Two symbols: the two ends of the interval of posteriors are best for everything. Three symbols: a
/// random search over mixtures of vertices comes near the optimum and never below it.
#[test]
fn frequency_against_brute_force() {
    let mut dice = Dice::new(11);
    for p1 in [0.02, 0.1, 0.3, 0.5] {
        for epsilon in [0.5, 1.0, 3.0] {
            let prior = Distribution::new("prior", vec![1.0 - p1, p1]).unwrap();
            let closed = randomized_response::binary_optimal(&prior, epsilon).unwrap();
            let closed = objective::frequency(&prior, &closed).unwrap();
            let range = LiftRange::symmetric(epsilon).unwrap();
            let found = posterior::optimal_lifts(&prior, range, &Objective::Frequency).unwrap();
            assert!((found.optimum - closed).abs() < 1e-9 * closed, "{} {closed}", found.optimum);
        }
    }
    let prior = Distribution::new("prior", vec![0.6, 0.3, 0.1]).unwrap();
    let range = LiftRange::symmetric(1.0).unwrap();
    let found = posterior::optimal_lifts(&prior, range, &Objective::Frequency).unwrap();
    assert!((found.bound.unwrap() - found.optimum).abs() < 1e-9 * found.optimum);
    // Feasible mixtures of vertices: basic ones for random costs, then blends of those that improve.
    let lifts = undertone_design::extremal::lifts(&prior, range.low(), range.high()).unwrap();
    let basic: Vec<Vec<f64>> = (0..200)
        .map(|_| {
            let costs: Vec<f64> = lifts.iter().map(|_| dice.open_unit()).collect();
            let mut weights = vec![0.0; lifts.len()];
            let found = maximise_mixture(&lifts, &costs, &[1.0; 3]).unwrap();
            found.weights.into_iter().for_each(|(y, w)| weights[y] = w);
            weights
        })
        .collect();
    let value = |weights: &[f64]| {
        let row = |x: usize| lifts.iter().zip(weights).map(|(l, w)| l[x] * w).collect();
        let channel = Channel::new((0..3).map(row).collect()).unwrap();
        objective::frequency(&prior, &channel).unwrap()
    };
    let mut here = basic[0].clone();
    for _ in 0..20_000 {
        let other = &basic[(dice.open_unit() * basic.len() as f64) as usize];
        let share = dice.open_unit().powi(6);
        let next: Vec<f64> =
            here.iter().zip(other).map(|(a, b)| (1.0 - share) * a + share * b).collect();
        if value(&next) < value(&here) {
            here = next;
        }
    }
    let least = value(&here);
    assert!(least >= found.optimum - 1e-9, "{least} {}", found.optimum);
    assert!(least < 1.001 * found.optimum, "the search must come near: {least} {}", found.optimum);
}

/// The closed-form floor is below every optimum, for LIP and for LDP.
#[test]
fn the_frequency_floor_holds() {
    let mut dice = Dice::new(13);
    for symbols in [2, 3, 5] {
        for epsilon in [0.4, 1.0, 2.0] {
            let prior = random_prior(symbols, &mut dice);
            let range = LiftRange::symmetric(epsilon).unwrap();
            let floor = posterior::frequency_floor(&prior, range);
            let best = posterior::optimal_lifts(&prior, range, &Objective::Frequency).unwrap();
            assert!(floor <= best.optimum, "{floor} {}", best.optimum);
            let best = posterior::optimal_odds(&prior, epsilon, &Objective::Frequency).unwrap();
            assert!(best.bound.unwrap() <= best.optimum * (1.0 + 1e-9));
            let krr = randomized_response::symmetric(symbols, epsilon).unwrap();
            assert!(best.optimum <= objective::frequency(&prior, &krr).unwrap() + 1e-9);
        }
    }
}

#[test]
fn the_kernel_accepts_every_optimum() {
    let mut dice = Dice::new(17);
    for (symbols, claims) in [
        (3, vec![lip("0.5")]),
        (4, vec![alip("0.7", "1.3")]),
        (4, vec![lip("1"), Claim::ldp(level("1.5"))]),
        (5, vec![Claim::ldp(level("2"))]),
        (3, vec![di("6")]),
    ] {
        let (spec, prior) = under(&random_prior(symbols, &mut dice), claims);
        for objective in [
            Objective::Mmse((0..symbols).map(|v| v as f64).collect()),
            Objective::MutualInformation,
            Objective::NormalisedMutualInformation,
            Objective::Frequency,
        ] {
            let found = posterior::optimal(&spec, &prior, &objective).unwrap();
            let (channel, kept) = quantize::drop_ghosts(&found.channel).unwrap();
            let spec = spec.releasing(found.channel.outputs(), &kept).unwrap();
            let shipped = spec.ship(&channel).unwrap();
            assert!(shipped.mixed < 1e-6, "{} {}", objective.name(), shipped.mixed);
            let integers = to_floats::channel(shipped.policy.draft().shape()).unwrap();
            let value = objective.value(&prior, &integers).unwrap();
            assert!((value - found.optimum).abs() <= 1e-7 * found.optimum.abs());
        }
    }
}

#[test]
fn what_cannot_be_designed_is_refused() {
    let prior = Distribution::uniform(3);
    let half = Delta::from_units(1 << 47).unwrap();
    let (with_delta, p) = under(&prior, vec![lip("1").with_delta(half)]);
    // A claim with a delta is kept without it, which bounds nobody who uses it.
    let slack = posterior::optimal(&with_delta, &p, &Objective::MutualInformation).unwrap();
    let (pure, p) = under(&prior, vec![lip("1")]);
    let strict = posterior::optimal(&pure, &p, &Objective::MutualInformation).unwrap();
    assert_eq!((slack.optimum, slack.bound), (strict.optimum, None));
    assert!(strict.bound.is_some());
    let (mut unknown, p) = under(&prior, vec![lip("1")]);
    unknown.context = Context::Unknown;
    assert!(posterior::optimal(&unknown, &p, &Objective::MutualInformation).is_err());
    let (silent, p) = under(&prior, vec![lip("0")]);
    let refusal = posterior::optimal(&silent, &p, &Objective::Frequency).unwrap_err();
    assert!(refusal.to_string().contains("epsilon"), "{refusal}");
    let found = posterior::optimal(&silent, &p, &Objective::MutualInformation).unwrap();
    assert!(found.optimum.abs() < 1e-12);
    let skewed = Distribution::new("p", vec![0.98, 0.01, 0.01]).unwrap();
    let (odds, p) = under(&skewed, vec![di("2")]);
    let refusal = posterior::optimal(&odds, &p, &Objective::MutualInformation).unwrap_err();
    assert!(refusal.to_string().contains("4.58"), "{refusal}");
    let (lip, p) = under(&prior, vec![lip("1")]);
    assert!(posterior::optimal(&lip, &p, &Objective::Mmse(vec![0.0, f64::NAN, 1.0])).is_err());
    assert!(posterior::optimal(&lip, &p, &Objective::Mmse(vec![0.0])).is_err());
    assert!(staircase::optimal(&lip, &p, &Objective::Hamming).is_err());
    assert!(keep::design(&lip, &Objective::MutualInformation).is_err());
    let two = Distribution::uniform(2);
    assert!(posterior::optimal(&lip, &two, &Objective::MutualInformation).is_err());
}

/// JSTL21 (19) as printed misses its claim on a skewed prior; the refusal names the true leakage.
#[test]
fn a_printed_formula_that_misses_its_claim_is_refused() {
    let (spec, prior) = under(&Distribution::new("p", vec![0.9, 0.1]).unwrap(), vec![lip("1")]);
    let printed = randomized_response::published(&prior, 1.0).unwrap();
    let refusal = spec.verify(&printed).unwrap().unwrap_err();
    assert!(refusal.attained.ln_up().unwrap().to_string().starts_with("1.900477"), "{refusal}");
}

#[test]
fn unary_levels_are_the_largest_the_kernel_accepts() {
    use undertone_core::{Bits, Shape, WEIGHT_ONE};
    let mut dice = Dice::new(19);
    for claims in [
        vec![lip("0.7")],
        vec![alip("2", "0.5")],
        vec![lip("1"), Claim::ldp(level("1.2"))],
        vec![di("7")],
    ] {
        let (spec, _) = under(&random_prior(5, &mut dice), claims);
        for encoding in [unary::Encoding::Optimised, unary::Encoding::Symmetric] {
            let found = unary::design(&spec, encoding).unwrap();
            let units = |p: f64| (p * WEIGHT_ONE as f64).round() as u64;
            let (own, other) = (units(found.own), units(found.other));
            let own = if encoding == unary::Encoding::Symmetric { own + 1 } else { own };
            let further = Shape::Bits(Bits::new(5, own, other - 1).unwrap());
            assert!(spec.verify_shape(further).unwrap().is_err());
        }
    }
    let (with_delta, _) = under(
        &Distribution::uniform(3),
        vec![lip("1").with_delta(Delta::from_units(1 << 40).unwrap())],
    );
    assert!(unary::design(&with_delta, unary::Encoding::Optimised).is_err());
}

/// The closed variance of bit counts against the channel written out.
#[test]
fn unary_variance_bounds_the_efficient_one() {
    let (spec, prior) = under(&distribution(&zipf(4, 1.0)), vec![Claim::ldp(level("1"))]);
    let found = unary::design(&spec, unary::Encoding::Optimised).unwrap();
    let channel = to_floats::channel(found.policy.draft().shape()).unwrap();
    let efficient = objective::frequency(&prior, &channel).unwrap();
    let counted = unary::variance(&prior, found.own, found.other).unwrap();
    assert!(efficient <= counted && counted < 1.5 * efficient, "{efficient} {counted}");
}

/// Keep designs verify, are never below the bound, and never above the blind guess; the bound is never
/// above the true optimum, and almost always equal to it.
#[test]
fn keep_designs_against_the_optimum() {
    let mut loose = 0;
    for symbols in [4, 12, 13, 30] {
        for power in [0.0, 0.5, 1.0, 2.0] {
            for epsilon in ["0.2", "0.5", "1", "2", "4"] {
                let (spec, prior) = under(&distribution(&zipf(symbols, power)), vec![lip(epsilon)]);
                let kept = keep::design(&spec, &Objective::Hamming).unwrap();
                let best = posterior::optimal(&spec, &prior, &Objective::Hamming).unwrap();
                let channel = to_floats::channel(kept.policy.draft().shape()).unwrap();
                let value = objective::hamming(&prior, &channel).unwrap();
                assert!((value - kept.value).abs() < 1e-12);
                assert!(kept.value >= best.optimum - 1e-9, "{symbols} {power} {epsilon}");
                assert!(kept.value <= 1.0 - prior.max() + 1e-9);
                assert!(kept.bound <= best.optimum + 1e-9, "{} {}", kept.bound, best.optimum);
                loose += usize::from(kept.bound < best.optimum - 1e-7);
                // At least three quarters of what any channel gains over the blind guess.
                let blind = 1.0 - prior.max();
                let (gain, most) = (blind - kept.value, blind - best.optimum);
                assert!(gain >= 0.75 * most - 1e-9, "{symbols} {power} {epsilon}: {gain} {most}");
                if power == 0.0 {
                    assert!(kept.value - best.optimum < 1e-7, "uniform priors are met exactly");
                }
            }
        }
    }
    assert!(loose <= 2, "{loose}");
}

/// For two released symbols the lead makes the shape exact: the program's own optimum.
#[test]
fn a_lead_reaches_the_optimum_of_two_symbols() {
    let (spec, prior) = under(&distribution(&zipf(12, 1.0)), vec![lip("0.5")]);
    let kept = keep::design(&spec, &Objective::Hamming).unwrap();
    let best = posterior::optimal(&spec, &prior, &Objective::Hamming).unwrap();
    assert_eq!(kept.released, 2);
    assert!((kept.value - best.optimum).abs() < 1e-8);
}

#[test]
fn keep_designs_on_random_priors_and_conjunctions_verify() {
    let mut dice = Dice::new(23);
    for claims in [
        vec![lip("1")],
        vec![alip("0.4", "1.6")],
        vec![alip("1.6", "0.4")],
        vec![lip("1"), Claim::ldp(level("1.2"))],
    ] {
        for symbols in [2, 3, 9, 40] {
            let (spec, prior) = under(&random_prior(symbols, &mut dice), claims.clone());
            let kept = keep::design(&spec, &Objective::Hamming).unwrap();
            assert!(kept.value >= kept.bound - 1e-9 && kept.value <= 1.0 - prior.max() + 1e-9);
            let kept = keep::design(&spec, &Objective::Frequency).unwrap();
            let channel = to_floats::channel(kept.policy.draft().shape()).unwrap();
            let dense = objective::frequency(&prior, &channel).unwrap();
            assert!((kept.value - dense).abs() < 1e-6 * dense, "{} {dense}", kept.value);
            assert!(kept.bound <= kept.value);
        }
    }
}

#[test]
fn a_hundred_thousand_symbols() {
    let (spec, prior) = under(&distribution(&zipf(100_000, 1.0)), vec![lip("2")]);
    let kept = keep::design(&spec, &Objective::Hamming).unwrap();
    let blind = 1.0 - prior.max();
    assert!(kept.bound <= kept.value && kept.value < blind);
    assert!(blind - kept.value >= 0.9 * (blind - kept.bound), "{} {}", kept.value, kept.bound);
}

#[test]
fn the_smallest_epsilon_is_enough_and_no_larger_than_needed() {
    let prior = Distribution::new("prior", vec![0.5, 0.3, 0.2]).unwrap();
    let wanted = Accuracy::new(0.03, 0.95, Coverage::Each).unwrap();
    let mut found = Vec::new();
    for family in
        [Family::OptimalLip, Family::OptimalLdp, Family::RandomizedResponse, Family::Sampling]
    {
        let reached = accuracy::smallest_epsilon(&prior, 5000, &wanted, family).unwrap();
        assert!(reached.half_width <= 0.03);
        let needed = accuracy::needed_n(&prior, &reached.channel, &wanted).unwrap();
        assert!(needed <= 5000, "{needed}");
        let units = reached.epsilon.nats().units().next_multiple_of(10_000_000) - 10_000_000;
        let below = Epsilon::at_most(undertone_core::Nats::from_units(units)).unwrap();
        let channel = family.channel(&prior, below).unwrap();
        assert!(wanted.half_width(&prior, &channel, 5000).unwrap() > 0.03);
        found.push(reached.epsilon.nats());
    }
    // The optimum of a notion needs no more than any member of it, and LIP no more than LDP.
    assert!(found[0] <= found[1] && found[1] <= found[2] && found[0] <= found[3], "{found:?}");
    let all = Accuracy::new(0.03, 0.95, Coverage::All).unwrap();
    let stricter = accuracy::smallest_epsilon(&prior, 5000, &all, Family::OptimalLip).unwrap();
    assert!(stricter.epsilon.nats() > found[0]);
    let hopeless = accuracy::smallest_epsilon(&prior, 100, &wanted, Family::OptimalLip);
    assert!(hopeless.unwrap_err().to_string().contains("1068"));
}
