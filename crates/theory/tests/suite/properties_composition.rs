//! Properties of composition, sequences and transfer on random priors, channels and processes.
use undertone_design::extremal::{self, LiftRange};
use undertone_design::prior_region::{PriorBall, PriorBox};
use undertone_design::{Channel, Distribution};
use undertone_numeric::vector::dot;
use undertone_testkit::dice::Dice;
use undertone_testkit::law::distribution;
use undertone_theory::composition::{self, given, sharpened, worst_case};
use undertone_theory::sequence::{self, Process};
use undertone_theory::transfer::{self, LeakageOver, smallest_term, transfer};

/// Sometimes skewed, sometimes nearly uniform; all masses positive.
fn random_prior(m: usize, dice: &mut Dice) -> Distribution {
    let power = [1.0, 4.0][dice.below(2)];
    let weights: Vec<f64> = (0..m).map(|_| dice.between(0.05, 1.0).powf(power)).collect();
    distribution(&weights)
}

fn random_channel(inputs: usize, outputs: usize, dice: &mut Dice) -> Channel {
    Channel::from_rows((0..inputs).map(|_| random_prior(outputs, dice)).collect()).unwrap()
}

/// A random promise, sometimes asymmetric.
fn random_range(dice: &mut Dice) -> LiftRange {
    let epsilon = dice.between(0.05, 2.5);
    if dice.below(3) == 0 {
        LiftRange::asymmetric(epsilon, dice.between(0.05, 2.5)).unwrap()
    } else {
        LiftRange::symmetric(epsilon).unwrap()
    }
}

/// The promise a channel keeps under a prior, exactly.
fn kept(prior: &Distribution, channel: &Channel) -> LiftRange {
    let leakage = given(prior, std::slice::from_ref(channel)).unwrap();
    LiftRange::asymmetric(leakage.min_lift, leakage.max_lift).unwrap()
}

/// Every product of vertices, no structure used.
fn brute_worst_case(prior: &Distribution, ranges: &[LiftRange]) -> f64 {
    let mut products = vec![vec![1.0; prior.len()]];
    for range in ranges {
        let vertices = extremal::lifts(prior, range.low(), range.high()).unwrap();
        products = products
            .iter()
            .flat_map(|p| {
                vertices.iter().map(move |v| p.iter().zip(v).map(|(a, b)| a * b).collect())
            })
            .collect();
    }
    let leak = |p: &Vec<f64>| {
        let total = dot(p, prior.as_slice());
        p.iter().map(|v| (v / total).ln().abs()).fold(0.0, f64::max)
    };
    products.iter().map(leak).fold(0.0, f64::max)
}

#[test]
fn the_search_equals_brute_force_over_all_products() {
    let mut dice = Dice::new(1);
    for case in 0..300 {
        let m = 2 + dice.below(4);
        let n = if m < 5 { 1 + dice.below(3) } else { 2 };
        let mut prior = random_prior(m, &mut dice);
        if case % 7 == 0 {
            prior = Distribution::uniform(m);
        }
        if case % 11 == 0 && m > 2 {
            let mut p = prior.as_slice().to_vec();
            p[0] = 0.0;
            prior = Distribution::normalised("prior", p).unwrap();
        }
        let first = random_range(&mut dice);
        let ranges: Vec<LiftRange> = (0..n)
            .map(|_| if dice.below(2) == 0 { first } else { random_range(&mut dice) })
            .collect();
        let ours = worst_case(&prior, &ranges).unwrap();
        let brute = brute_worst_case(&prior, &ranges);
        assert!(
            (ours.leakage - brute).abs() < 1e-10 * (1.0 + brute),
            "{prior:?} {ranges:?}: {} {brute}",
            ours.leakage
        );
    }
}

#[test]
fn worst_cases_are_attained_by_channels_that_keep_their_promises() {
    let mut dice = Dice::new(2);
    for _ in 0..200 {
        let prior = {
            let m = 2 + dice.below(5);
            random_prior(m, &mut dice)
        };
        let ranges: Vec<LiftRange> =
            (0..1 + dice.below(3)).map(|_| random_range(&mut dice)).collect();
        let worst = worst_case(&prior, &ranges).unwrap();
        let channels = worst.channels(&ranges).unwrap();
        for (channel, range) in channels.iter().zip(&ranges) {
            let kept = kept(&prior, channel);
            assert!(kept.epsilon_lower() <= range.epsilon_lower() + 1e-9);
            assert!(kept.epsilon_upper() <= range.epsilon_upper() + 1e-9);
        }
        let attained = given(&prior, &channels).unwrap().lip();
        assert!((attained - worst.leakage).abs() < 1e-9, "{attained} {}", worst.leakage);
    }
}

#[test]
fn given_channels_stay_below_the_worst_case_and_it_below_the_bounds() {
    let mut dice = Dice::new(3);
    let mut tighter = 0;
    for _ in 0..300 {
        let m = 2 + dice.below(4);
        let prior = random_prior(m, &mut dice);
        let channels: Vec<Channel> =
            (0..1 + dice.below(3)).map(|_| random_channel(m, 3, &mut dice)).collect();
        let ranges: Vec<LiftRange> = channels.iter().map(|channel| kept(&prior, channel)).collect();
        let leak = given(&prior, &channels).unwrap();
        let exact = worst_case(&prior, &ranges).unwrap().leakage;
        let sharp = sharpened(&prior, &ranges).unwrap();
        let published = composition::published(prior.min(), &ranges).unwrap();
        assert!(leak.lip() <= exact + 1e-9, "{} {exact}", leak.lip());
        assert!(exact <= sharp + 1e-9, "{exact} {sharp}: {prior:?} {ranges:?}");
        assert!(sharp <= published + 1e-9, "{sharp} {published}: {prior:?} {ranges:?}");
        tighter += usize::from(sharp < published - 1e-3);
        if ranges.len() == 1 {
            assert!(
                sharp <= ranges[0].epsilon() + 1e-9,
                "one release leaks no more than its promise"
            );
        }
        assert!(leak.lip() <= leak.ldp + 1e-12);
    }
    assert!(tighter > 200, "the sharpened bound should usually gain: {tighter}");
}

#[test]
fn the_order_of_the_bounds_holds_for_many_releases_and_symbols() {
    let mut dice = Dice::new(4);
    for _ in 0..40 {
        let m = 6 + dice.below(5);
        let prior =
            if dice.below(2) == 0 { random_prior(m, &mut dice) } else { Distribution::uniform(m) };
        let n = 3 + dice.below(4);
        let ranges = vec![LiftRange::symmetric(dice.between(0.1, 2.0)).unwrap(); n];
        let answer = composition::compose(&prior, &ranges).unwrap();
        let exact = answer.exact.expect("ten symbols and six equal releases are within reach");
        assert!(exact.leakage <= answer.sharpened + 1e-9);
        assert!(answer.sharpened <= answer.published + 1e-9);
        assert!(exact.leakage >= ranges[0].epsilon() - 1e-9);
        // The product of the vectors really has that leakage.
        let mut product = vec![1.0; m];
        for lift in &exact.lifts {
            assert!((dot(lift, prior.as_slice()) - 1.0).abs() < 1e-9);
            product.iter_mut().zip(lift).for_each(|(p, l)| *p *= l);
        }
        let total = dot(&product, prior.as_slice());
        assert!(((product[exact.symbol] / total).ln().abs() - exact.leakage).abs() < 1e-9);
    }
}

#[test]
fn the_product_channel_agrees_with_one_that_is_built() {
    let mut dice = Dice::new(5);
    for _ in 0..100 {
        let m = 2 + dice.below(3);
        let prior = random_prior(m, &mut dice);
        let channel = random_channel(m, 3, &mut dice);
        let other = random_channel(m, 2, &mut dice);
        let all = [channel.clone(), other.clone(), channel.clone()];
        let built = channel.beside(&other).unwrap().beside(&channel).unwrap();
        let (ours, theirs) = (given(&prior, &all).unwrap(), given(&prior, &[built]).unwrap());
        assert!((ours.max_lift - theirs.max_lift).abs() < 1e-10);
        assert!((ours.min_lift - theirs.min_lift).abs() < 1e-10);
        assert!((ours.ldp - theirs.ldp).abs() < 1e-10);
    }
}

#[test]
fn a_family_of_one_is_the_single_prior() {
    let mut dice = Dice::new(6);
    for _ in 0..60 {
        let prior = {
            let m = 2 + dice.below(3);
            random_prior(m, &mut dice)
        };
        let ranges = [random_range(&mut dice), random_range(&mut dice)];
        let set = std::slice::from_ref(&prior);
        let single = worst_case(&prior, &ranges).unwrap().leakage;
        let family = composition::family(set, &ranges).unwrap();
        assert!((family.exact.unwrap() - single).abs() < 1e-8, "{:?} {single}", family.exact);
        let truth = random_prior(prior.len(), &mut dice);
        let one = transfer(&prior, &truth, ranges[0]).unwrap().exact;
        let many = transfer::family(set, &truth, ranges[0]).unwrap();
        assert!((many.exact.unwrap() - one).abs() < 1e-8);
    }
}

#[test]
fn a_family_keeps_its_order_and_covers_its_mixtures() {
    let mut dice = Dice::new(7);
    for _ in 0..40 {
        let m = 2 + dice.below(2);
        let priors = [random_prior(m, &mut dice), random_prior(m, &mut dice)];
        let ranges = [random_range(&mut dice), random_range(&mut dice)];
        let answer = composition::family(&priors, &ranges).unwrap();
        let exact = answer.exact.unwrap();
        assert!(exact <= answer.sharpened + 1e-9 && answer.sharpened <= answer.published + 1e-9);

        let truth = random_prior(m, &mut dice);
        let moved = transfer::family(&priors, &truth, ranges[0]).unwrap();
        assert!(moved.exact.unwrap() <= moved.sharpened + 1e-9);
        assert!(moved.sharpened <= moved.published + 1e-9);
        // [JSTL21] Lemma 2: a mixture of the list needs no further budget.
        let half =
            priors[0].as_slice().iter().zip(priors[1].as_slice()).map(|(a, b)| (a + b) / 2.0);
        let mixture = Distribution::new("mixture", half.collect()).unwrap();
        let within = transfer::family(&priors, &mixture, ranges[0]).unwrap().exact.unwrap();
        assert!(within <= ranges[0].epsilon() + 1e-9, "{within}");
    }
}

#[test]
fn transfer_is_exact_below_every_bound_and_attained() {
    let mut dice = Dice::new(8);
    for _ in 0..300 {
        let m = 2 + dice.below(4);
        let (from, other) = (random_prior(m, &mut dice), random_prior(m, &mut dice));
        // Close, so that every bound has something to say.
        let step = dice.between(0.0, 0.3);
        let near = from.as_slice().iter().zip(other.as_slice()).map(|(a, b)| a + step * (b - a));
        let to = Distribution::normalised("to", near.collect()).unwrap();
        let range = random_range(&mut dice);
        let answer = transfer(&from, &to, range).unwrap();
        // Exactly the largest over all vertices.
        let vertices = extremal::lifts(&from, range.low(), range.high()).unwrap();
        let leak = |v: &Vec<f64>| {
            let total = dot(v, to.as_slice());
            v.iter().map(|l| (l / total).ln().abs()).fold(0.0, f64::max)
        };
        let brute = vertices.iter().map(leak).fold(0.0, f64::max);
        assert!((answer.exact - brute).abs() < 1e-11, "{} {brute}", answer.exact);
        assert!((leak(&answer.witness) - brute).abs() < 1e-11);
        let witness = extremal::witness(&answer.witness, range.low(), range.high()).unwrap();
        assert!(transfer::of_channel(&to, &witness).unwrap().lip() >= answer.exact - 1e-9);

        assert!(answer.exact <= answer.published + 1e-9);
        assert!(answer.exact <= answer.ratio + range.epsilon() + 1e-9);
        assert!(answer.ratio <= answer.eta + 1e-12);
        assert!(answer.prior_free.is_none_or(|bound| answer.exact <= bound + 1e-9));

        // A channel that keeps the promise it was measured at stays below what that promise allows.
        let channel = random_channel(m, 3, &mut dice);
        let moved = transfer(&from, &to, kept(&from, &channel)).unwrap();
        assert!(transfer::of_channel(&to, &channel).unwrap().lip() <= moved.exact + 1e-9);

        // The corrected Corollary 6 is an equivalence.
        let epsilon = dice.between(0.1, 2.5);
        let term = smallest_term(&from, &to, epsilon).unwrap();
        let p = from.min();
        let others = (2.0 * epsilon).min(((epsilon.exp() - 1.0 + p) / p).ln());
        if (term.distance - term.threshold).abs() > 1e-9 {
            assert_eq!(answer.eta + epsilon <= others, term.distance <= term.threshold);
        }
    }
}

/// Both sums of positive parts, conditional convention.
fn conditional_delta(prior: &Distribution, channel: &Channel, epsilon: f64) -> f64 {
    let law = channel.output_law(prior).unwrap();
    let e = epsilon.exp();
    let sum = |x: usize, f: &dyn Fn(f64, f64) -> f64| -> f64 {
        (0..channel.outputs()).map(|y| f(channel.q(x, y), law[y]).max(0.0)).sum()
    };
    (0..channel.inputs())
        .map(|x| sum(x, &|q, p| q - e * p).max(sum(x, &|q, p| p - e * q)))
        .fold(0.0, f64::max)
}

#[test]
fn delta_moves_by_at_most_the_distance_times_e() {
    let mut dice = Dice::new(9);
    let mut positive = 0;
    for _ in 0..300 {
        let m = 2 + dice.below(3);
        let (from, to) = (random_prior(m, &mut dice), random_prior(m, &mut dice));
        let (channel, epsilon) = (random_channel(m, 3, &mut dice), dice.between(0.0, 0.5));
        let before = conditional_delta(&from, &channel, epsilon);
        let bound = transfer::delta(epsilon, before, from.total_variation(&to).unwrap()).unwrap();
        let after = conditional_delta(&to, &channel, epsilon);
        assert!(after <= bound + 1e-12, "{after} {bound}");
        positive += usize::from(after > before);
    }
    assert!(positive > 50);
}

/// Vertices of {lo <= p <= up, Σ p = 1}: all coordinates but one at a limit.
fn box_vertices(lower: &[f64], upper: &[f64]) -> Vec<Vec<f64>> {
    let m = lower.len();
    let mut all = Vec::new();
    for free in 0..m {
        for mask in 0..1usize << m {
            let mut p: Vec<f64> =
                (0..m).map(|x| if mask >> x & 1 == 1 { upper[x] } else { lower[x] }).collect();
            p[free] = 1.0 - (0..m).filter(|&x| x != free).map(|x| p[x]).sum::<f64>();
            if p[free] >= lower[free] - 1e-12 && p[free] <= upper[free] + 1e-12 {
                all.push(p.iter().map(|p| p.max(0.0)).collect());
            }
        }
    }
    all
}

#[test]
fn the_greedy_worst_prior_equals_brute_force_over_the_boxs_vertices() {
    let mut dice = Dice::new(10);
    for _ in 0..200 {
        let m = 2 + dice.below(4);
        let centre = random_prior(m, &mut dice);
        let lower: Vec<f64> =
            centre.as_slice().iter().map(|p| p * dice.between(0.2, 1.0)).collect();
        let upper: Vec<f64> =
            centre.as_slice().iter().map(|p| p + dice.between(0.0, 0.3)).collect();
        let channel = random_channel(m, 3, &mut dice);
        let ours = PriorBox::new(lower.clone(), upper.clone()).unwrap().leakage(&channel).unwrap();
        let (mut max_lift, mut min_lift) = (0.0f64, 0.0f64);
        for p in box_vertices(&lower, &upper) {
            let prior = Distribution::normalised("vertex", p).unwrap();
            let leakage = transfer::of_channel(&prior, &channel).unwrap();
            max_lift = max_lift.max(leakage.max_lift);
            min_lift = min_lift.max(leakage.min_lift);
        }
        assert!((ours.max_lift - max_lift).abs() < 1e-10, "{} {max_lift}", ours.max_lift);
        assert!((ours.min_lift - min_lift).abs() < 1e-10, "{} {min_lift}", ours.min_lift);
    }
}

#[test]
fn a_ball_covers_its_priors_and_is_attained() {
    let mut dice = Dice::new(11);
    for _ in 0..200 {
        let m = 2 + dice.below(4);
        let (centre, other) = (random_prior(m, &mut dice), random_prior(m, &mut dice));
        let distance = centre.total_variation(&other).unwrap();
        let channel = random_channel(m, 3, &mut dice);
        let ball = PriorBall::new(centre.clone(), distance).unwrap();
        let over = ball.leakage(&channel).unwrap();
        assert!(transfer::of_channel(&other, &channel).unwrap().lip() <= over.lip() + 1e-12);
        let mut attained = 0.0f64;
        for y in 0..channel.outputs() {
            let column: Vec<f64> = channel.column(y).collect();
            for largest in [false, true] {
                let worst = ball.extreme(&column, largest).unwrap();
                assert!(centre.total_variation(&worst).unwrap() <= distance + 1e-12);
                attained = attained.max(transfer::of_channel(&worst, &channel).unwrap().lip());
            }
        }
        assert!((attained - over.lip()).abs() < 1e-12);
    }
}

/// A chain, sometimes with forbidden transitions, and one channel per step.
fn chain(dice: &mut Dice, length: usize) -> (Process, Vec<Channel>) {
    let m = 2 + dice.below(2);
    let sparse = dice.below(3) == 0;
    let row = |dice: &mut Dice, x: usize| {
        let mut p = random_prior(m, dice).as_slice().to_vec();
        if sparse {
            p[x] = 0.0;
        }
        Distribution::normalised("row", p).unwrap()
    };
    let transition = Channel::from_rows((0..m).map(|x| row(dice, x)).collect()).unwrap();
    let initial = random_prior(m, dice);
    let process = Process::markov(initial, &transition, length).unwrap();
    let channels = (0..length).map(|_| random_channel(m, 2, dice)).collect();
    (process, channels)
}

#[test]
fn forward_backward_equals_brute_force_over_hidden_paths() {
    let mut dice = Dice::new(12);
    for _ in 0..60 {
        let length = 1 + dice.below(5);
        let (process, channels) = chain(&mut dice, length);
        let outputs: Vec<usize> = (0..length).map(|_| dice.below(2)).collect();
        let ours = sequence::posterior(&process, &channels, &outputs).unwrap();
        let paths = process.trajectories(10_000).unwrap();
        assert!((paths.iter().map(|(_, p)| p).sum::<f64>() - 1.0).abs() < 1e-12);
        let likelihood = |path: &[usize]| -> f64 {
            path.iter().zip(&outputs).zip(&channels).map(|((&x, &y), q)| q.q(x, y)).product()
        };
        let total: f64 = paths.iter().map(|(path, p)| p * likelihood(path)).sum();
        assert!((ours.log_likelihood - total.ln()).abs() < 1e-12);
        for k in 0..length {
            for (x, &mass) in process.marginals()[k].as_slice().iter().enumerate() {
                let mine = paths.iter().filter(|(path, _)| path[k] == x);
                let posterior: f64 =
                    mine.map(|(path, p)| p * likelihood(path)).sum::<f64>() / total;
                assert!((ours.lifts[k][x] - posterior / mass).abs() < 1e-11);
            }
        }
        let lifts = || paths.iter().map(|(path, _)| (likelihood(path) / total).ln());
        assert!((ours.max_sequence_lift - lifts().fold(f64::NEG_INFINITY, f64::max)).abs() < 1e-11);
        assert!((ours.min_sequence_lift - lifts().fold(f64::INFINITY, f64::min)).abs() < 1e-11);
    }
}

#[test]
fn a_chain_and_its_list_of_trajectories_leak_the_same() {
    let mut dice = Dice::new(13);
    for _ in 0..40 {
        let length = 1 + dice.below(4);
        let (process, channels) = chain(&mut dice, length);
        let paths = process.trajectories(10_000).unwrap();
        let listed = Process::listed(process.alphabets().to_vec(), paths).unwrap();
        assert!((listed.min_mass() - process.min_mass()).abs() < 1e-12);
        assert!((listed.min_support_mass() - process.min_support_mass()).abs() < 1e-12);
        let (a, b) = (
            sequence::exact_leakage(&process, &channels).unwrap(),
            sequence::exact_leakage(&listed, &channels).unwrap(),
        );
        assert!((a.sequence.max_lift - b.sequence.max_lift).abs() < 1e-10);
        assert!((a.sequence.min_lift - b.sequence.min_lift).abs() < 1e-10);
        for (a, b) in a.each.iter().zip(&b.each) {
            assert!(
                (a.max_lift - b.max_lift).abs() < 1e-10 && (a.min_lift - b.min_lift).abs() < 1e-10
            );
        }
        // Linkage ([JSTL21] Lemma 1, item 5): one datum leaks no more than the whole.
        assert!(a.each.iter().all(|each| each.lip() <= a.sequence.lip() + 1e-10));
    }
}

#[test]
fn bounds_without_enumeration_cover_the_exact_leakage() {
    let mut dice = Dice::new(14);
    for _ in 0..60 {
        let length = 1 + dice.below(5);
        let (process, channels) = chain(&mut dice, length);
        let paths = process.trajectories(10_000).unwrap();
        let listed = Process::listed(process.alphabets().to_vec(), paths).unwrap();
        let exact = sequence::exact_leakage(&process, &channels).unwrap();
        for process in [&process, &listed] {
            let bound = sequence::leakage_bound(process, &channels).unwrap();
            assert!(!bound.exact);
            assert!(exact.sequence.max_lift <= bound.sequence.max_lift + 1e-10);
            assert!(exact.sequence.min_lift <= bound.sequence.min_lift + 1e-10);
            for (exact, bound) in exact.each.iter().zip(&bound.each) {
                assert!(exact.max_lift <= bound.max_lift + 1e-10, "{exact:?} {bound:?}");
                assert!(exact.min_lift <= bound.min_lift + 1e-10, "{exact:?} {bound:?}");
            }
        }
    }
}

#[test]
fn a_mixing_chains_bound_does_not_grow_with_its_length() {
    let initial = Distribution::uniform(2);
    let transition = Channel::new(vec![vec![0.6, 0.4], vec![0.4, 0.6]]).unwrap();
    let channel = Channel::new(vec![vec![0.6, 0.4], vec![0.4, 0.6]]).unwrap();
    let at = |length: usize| {
        let process = Process::markov(initial.clone(), &transition, length).unwrap();
        sequence::leakage(&process, &vec![channel.clone(); length]).unwrap()
    };
    let (short, long) = (at(15), at(200));
    assert!(short.exact && !long.exact);
    assert!(
        long.each[100].lip() < short.each[7].lip() + 0.2,
        "{:?} {:?}",
        long.each[100],
        short.each[7]
    );
    assert!(long.sequence.lip() > short.sequence.lip());
}

#[test]
fn sequences_under_promises_keep_the_order_of_corollary_5() {
    let mut dice = Dice::new(15);
    for _ in 0..60 {
        let length = 1 + dice.below(3);
        let (process, channels) = chain(&mut dice, length);
        let pairs = channels.iter().zip(process.marginals());
        let ranges: Vec<LiftRange> = pairs.map(|(channel, law)| kept(law, channel)).collect();
        let exact = sequence::exact_leakage(&process, &channels).unwrap();
        let worst = sequence::worst_case(&process, &ranges).unwrap();
        let sharp = sequence::sharpened(&process, &ranges).unwrap();
        let published = sequence::published(&process, &ranges).unwrap();
        assert!(exact.sequence.lip() <= worst.sequence + 1e-9);
        for (exact, worst) in exact.each.iter().zip(&worst.each) {
            assert!(exact.lip() <= worst + 1e-9);
        }
        assert!(worst.sequence <= sharp + 1e-9, "{} {sharp}", worst.sequence);
        assert!(sharp <= published + 1e-9, "{sharp} {published}");
        // The lift vectors reported are real mechanisms that attain it.
        let vectors = worst.lifts.iter().zip(&ranges);
        let witnesses: Vec<Channel> =
            vectors.map(|(l, r)| extremal::witness(l, r.low(), r.high()).unwrap()).collect();
        let attained = sequence::exact_leakage(&process, &witnesses).unwrap().sequence.lip();
        assert!((attained - worst.sequence).abs() < 1e-9, "{attained} {}", worst.sequence);
    }
}

#[test]
fn a_constant_process_is_composition_on_one_datum() {
    let mut dice = Dice::new(16);
    for _ in 0..40 {
        let m = 2 + dice.below(3);
        let prior = random_prior(m, &mut dice);
        let channels: Vec<Channel> = (0..3).map(|_| random_channel(m, 2, &mut dice)).collect();
        let process = Process::constant(&prior, 3).unwrap();
        let together = given(&prior, &channels).unwrap();
        let leakage = sequence::exact_leakage(&process, &channels).unwrap();
        assert!((leakage.sequence.lip() - together.lip()).abs() < 1e-11);
        assert!(leakage.each.iter().all(|each| (each.lip() - together.lip()).abs() < 1e-11));
        let ranges = [random_range(&mut dice), random_range(&mut dice)];
        let process = Process::constant(&prior, 2).unwrap();
        let worst = sequence::worst_case(&process, &ranges).unwrap();
        assert!((worst.sequence - worst_case(&prior, &ranges).unwrap().leakage).abs() < 1e-10);
    }
}
