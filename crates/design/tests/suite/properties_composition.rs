//! Properties of composition, sequences and transfer on random priors, channels and processes.
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_design::composition::{self, given, sharpened, worst_case};
use undertone_design::extremal::{self, LiftRange};
use undertone_design::sequence::{self, Process};
use undertone_design::transfer::{self, PriorBall, PriorBox, smallest_term, transfer};
use undertone_design::{Channel, Distribution};

struct Random(ChaCha12Rng);

impl Random {
    fn new(seed: u64) -> Self {
        Self(ChaCha12Rng::seed_from_u64(seed))
    }

    /// Uniform in [low, high).
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * (self.0.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    fn below(&mut self, n: usize) -> usize {
        (self.0.next_u64() % n as u64) as usize
    }

    /// Sometimes skewed, sometimes nearly uniform; all masses positive.
    fn prior(&mut self, m: usize) -> Distribution {
        let power = [1.0, 4.0][self.below(2)];
        let weights = (0..m).map(|_| self.between(0.05, 1.0).powf(power)).collect();
        Distribution::normalised("prior", weights).unwrap()
    }

    fn channel(&mut self, inputs: usize, outputs: usize) -> Channel {
        Channel::from_rows((0..inputs).map(|_| self.prior(outputs)).collect()).unwrap()
    }

    /// A random promise, sometimes asymmetric.
    fn range(&mut self) -> LiftRange {
        let epsilon = self.between(0.05, 2.5);
        if self.below(3) == 0 {
            LiftRange::asymmetric(epsilon, self.between(0.05, 2.5)).unwrap()
        } else {
            LiftRange::symmetric(epsilon).unwrap()
        }
    }
}

/// The promise a channel keeps under a prior, exactly.
fn kept(prior: &Distribution, channel: &Channel) -> LiftRange {
    let leakage = given(prior, std::slice::from_ref(channel)).unwrap();
    LiftRange::asymmetric(leakage.min_lift, leakage.max_lift).unwrap()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
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
    let mut random = Random::new(1);
    for case in 0..300 {
        let m = 2 + random.below(4);
        let n = if m < 5 { 1 + random.below(3) } else { 2 };
        let mut prior = random.prior(m);
        if case % 7 == 0 {
            prior = Distribution::uniform(m);
        }
        if case % 11 == 0 && m > 2 {
            let mut p = prior.as_slice().to_vec();
            p[0] = 0.0;
            prior = Distribution::normalised("prior", p).unwrap();
        }
        let first = random.range();
        let ranges: Vec<LiftRange> =
            (0..n).map(|_| if random.below(2) == 0 { first } else { random.range() }).collect();
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
    let mut random = Random::new(2);
    for _ in 0..200 {
        let prior = {
            let m = 2 + random.below(5);
            random.prior(m)
        };
        let ranges: Vec<LiftRange> = (0..1 + random.below(3)).map(|_| random.range()).collect();
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
    let mut random = Random::new(3);
    let mut tighter = 0;
    for _ in 0..300 {
        let m = 2 + random.below(4);
        let prior = random.prior(m);
        let channels: Vec<Channel> =
            (0..1 + random.below(3)).map(|_| random.channel(m, 3)).collect();
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
    let mut random = Random::new(4);
    for _ in 0..40 {
        let m = 6 + random.below(5);
        let prior = if random.below(2) == 0 { random.prior(m) } else { Distribution::uniform(m) };
        let n = 3 + random.below(4);
        let ranges = vec![LiftRange::symmetric(random.between(0.1, 2.0)).unwrap(); n];
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
    let mut random = Random::new(5);
    for _ in 0..100 {
        let m = 2 + random.below(3);
        let prior = random.prior(m);
        let channel = random.channel(m, 3);
        let other = random.channel(m, 2);
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
    let mut random = Random::new(6);
    for _ in 0..60 {
        let prior = {
            let m = 2 + random.below(3);
            random.prior(m)
        };
        let ranges = [random.range(), random.range()];
        let set = std::slice::from_ref(&prior);
        let single = worst_case(&prior, &ranges).unwrap().leakage;
        let family = composition::family(set, &ranges).unwrap();
        assert!((family.exact.unwrap() - single).abs() < 1e-8, "{:?} {single}", family.exact);
        let truth = random.prior(prior.len());
        let one = transfer(&prior, &truth, ranges[0]).unwrap().exact;
        let many = transfer::family(set, &truth, ranges[0]).unwrap();
        assert!((many.exact.unwrap() - one).abs() < 1e-8);
    }
}

#[test]
fn a_family_keeps_its_order_and_covers_its_mixtures() {
    let mut random = Random::new(7);
    for _ in 0..40 {
        let m = 2 + random.below(2);
        let priors = [random.prior(m), random.prior(m)];
        let ranges = [random.range(), random.range()];
        let answer = composition::family(&priors, &ranges).unwrap();
        let exact = answer.exact.unwrap();
        assert!(exact <= answer.sharpened + 1e-9 && answer.sharpened <= answer.published + 1e-9);

        let truth = random.prior(m);
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
    let mut random = Random::new(8);
    for _ in 0..300 {
        let m = 2 + random.below(4);
        let (from, other) = (random.prior(m), random.prior(m));
        // Close, so that every bound has something to say.
        let step = random.between(0.0, 0.3);
        let near = from.as_slice().iter().zip(other.as_slice()).map(|(a, b)| a + step * (b - a));
        let to = Distribution::normalised("to", near.collect()).unwrap();
        let range = random.range();
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
        let channel = random.channel(m, 3);
        let moved = transfer(&from, &to, kept(&from, &channel)).unwrap();
        assert!(transfer::of_channel(&to, &channel).unwrap().lip() <= moved.exact + 1e-9);

        // The corrected Corollary 6 is an equivalence.
        let epsilon = random.between(0.1, 2.5);
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
    let mut random = Random::new(9);
    let mut positive = 0;
    for _ in 0..300 {
        let m = 2 + random.below(3);
        let (from, to) = (random.prior(m), random.prior(m));
        let (channel, epsilon) = (random.channel(m, 3), random.between(0.0, 0.5));
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
    let mut random = Random::new(10);
    for _ in 0..200 {
        let m = 2 + random.below(4);
        let centre = random.prior(m);
        let lower: Vec<f64> =
            centre.as_slice().iter().map(|p| p * random.between(0.2, 1.0)).collect();
        let upper: Vec<f64> =
            centre.as_slice().iter().map(|p| p + random.between(0.0, 0.3)).collect();
        let channel = random.channel(m, 3);
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
    let mut random = Random::new(11);
    for _ in 0..200 {
        let m = 2 + random.below(4);
        let (centre, other) = (random.prior(m), random.prior(m));
        let distance = centre.total_variation(&other).unwrap();
        let channel = random.channel(m, 3);
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
fn chain(random: &mut Random, length: usize) -> (Process, Vec<Channel>) {
    let m = 2 + random.below(2);
    let sparse = random.below(3) == 0;
    let row = |random: &mut Random, x: usize| {
        let mut p = random.prior(m).as_slice().to_vec();
        if sparse {
            p[x] = 0.0;
        }
        Distribution::normalised("row", p).unwrap()
    };
    let transition = Channel::from_rows((0..m).map(|x| row(random, x)).collect()).unwrap();
    let initial = random.prior(m);
    let process = Process::markov(initial, &transition, length).unwrap();
    let channels = (0..length).map(|_| random.channel(m, 2)).collect();
    (process, channels)
}

#[test]
fn forward_backward_equals_brute_force_over_hidden_paths() {
    let mut random = Random::new(12);
    for _ in 0..60 {
        let length = 1 + random.below(5);
        let (process, channels) = chain(&mut random, length);
        let outputs: Vec<usize> = (0..length).map(|_| random.below(2)).collect();
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
    let mut random = Random::new(13);
    for _ in 0..40 {
        let length = 1 + random.below(4);
        let (process, channels) = chain(&mut random, length);
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
    let mut random = Random::new(14);
    for _ in 0..60 {
        let length = 1 + random.below(5);
        let (process, channels) = chain(&mut random, length);
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
    let mut random = Random::new(15);
    for _ in 0..60 {
        let length = 1 + random.below(3);
        let (process, channels) = chain(&mut random, length);
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
    let mut random = Random::new(16);
    for _ in 0..40 {
        let m = 2 + random.below(3);
        let prior = random.prior(m);
        let channels: Vec<Channel> = (0..3).map(|_| random.channel(m, 2)).collect();
        let process = Process::constant(&prior, 3).unwrap();
        let together = given(&prior, &channels).unwrap();
        let leakage = sequence::exact_leakage(&process, &channels).unwrap();
        assert!((leakage.sequence.lip() - together.lip()).abs() < 1e-11);
        assert!(leakage.each.iter().all(|each| (each.lip() - together.lip()).abs() < 1e-11));
        let ranges = [random.range(), random.range()];
        let process = Process::constant(&prior, 2).unwrap();
        let worst = sequence::worst_case(&process, &ranges).unwrap();
        assert!((worst.sequence - worst_case(&prior, &ranges).unwrap().leakage).abs() < 1e-10);
    }
}
