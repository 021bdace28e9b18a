//! Means, variances, quantiles, pools, corners, posteriors, in surveys too large to enumerate: at least 95 % of intervals
//! hold the truth.

use crate::common::{Held, REPLICATIONS, coverage, holds};
use rand_core::Rng;
use rand_distr::{Distribution, Gamma};
use undertone_core::{Alphabet, Sampler};
use undertone_estimate::{
    BitsFold, Control, Dirichlet, Estimate, Estimator, Method, Pool, Settings,
};
use undertone_testkit::dice::Dice;
use undertone_testkit::policy::{self, binary, bins, keep, krr, loose, optimal, oue};
use undertone_testkit::respondents::{Source, multinomial};

const EDGES: [f64; 9] = [0.0, 10.0, 20.0, 30.0, 40.0, 60.0, 80.0, 100.0, 150.0];
const EIGHT: [f64; 8] = [0.05, 0.15, 0.25, 0.2, 0.15, 0.1, 0.07, 0.03];

fn middles() -> Vec<f64> {
    EDGES.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0).collect()
}

fn mean(p: &[f64], values: &[f64]) -> f64 {
    p.iter().zip(values).map(|(p, v)| p * v).sum()
}

fn without_width(hits: usize) -> Held {
    Held { share: hits as f64 / REPLICATIONS as f64, width: 0.0 }
}

/// Where the binned distribution, spread evenly in its bins, reaches a probability.
fn quantile(p: &[f64], probability: f64) -> f64 {
    let mut sum = 0.0;
    for (bin, share) in p.iter().enumerate() {
        if sum + share >= probability {
            let part = (probability - sum) / share;
            return EDGES[bin] + part * (EDGES[bin + 1] - EDGES[bin]);
        }
        sum += share;
    }
    EDGES[8]
}

#[test]
fn moments_and_quantiles_of_bins() {
    let source = Source::new(krr(bins(&EDGES), Some(&EIGHT), "2"));
    let values = middles();
    let truth = mean(&EIGHT, &values);
    let squares: Vec<f64> = values.iter().map(|v| (v - truth).powi(2)).collect();
    let variance = mean(&EIGHT, &squares);
    let found = coverage(&[(&source, 2000)], &EIGHT, 1, Settings::default(), |e, people| {
        let mut answers = Vec::new();
        for method in [Method::Unbiased, Method::Mle] {
            answers.push((e.mean(method).unwrap().estimate, truth));
            answers.push((e.variance(method).unwrap().estimate, variance));
        }
        answers.push((e.mean(Method::Mmse).unwrap().estimate, mean(people, &values)));
        for probability in [0.1, 0.25, 0.5, 0.9] {
            let answer = e.quantile(probability).unwrap().estimate;
            answers.push((answer, quantile(&EIGHT, probability)));
        }
        answers
    });
    holds("mean, variance twice; mean with the prior; quantiles .1 .25 .5 .9", &found, 25.0);
}

#[test]
fn moments_of_tables_and_bits() {
    let p = [0.4, 0.25, 0.2, 0.1, 0.05];
    let values: Vec<f64> = (0..5).map(f64::from).collect();
    let truth = mean(&p, &values);
    let squares: Vec<f64> = values.iter().map(|v| (v - truth).powi(2)).collect();
    let variance = mean(&p, &squares);
    for (name, policy) in [("table", optimal(&p, "1")), ("bits", oue(5, Some(&p), "2"))] {
        let source = Source::new(policy);
        let found = coverage(&[(&source, 1500)], &p, 2, Settings::default(), |e, _| {
            let answers = [Method::Unbiased, Method::Mle].map(|method| {
                let (mean, spread) = (e.mean(method).unwrap(), e.variance(method).unwrap());
                [(mean.estimate, truth), (spread.estimate, variance)]
            });
            answers.into_iter().flatten().collect()
        });
        holds(&format!("{name}: mean, variance, unbiased and maximum likelihood"), &found, 1.75);
        let settings = Settings::default().of_respondents();
        let found = coverage(&[(&source, 1500)], &p, 3, settings, |e, people| {
            vec![(e.mean(Method::Unbiased).unwrap().estimate, mean(people, &values))]
        });
        holds(&format!("{name}: respondents' mean"), &found, 1.3);
    }
}

/// Points have no inside, so their quantiles err on the wide side only.
#[test]
fn quantiles_of_points() {
    let points = (0..8).map(|x| format!("{x}.5").parse().unwrap()).collect();
    let source = Source::new(krr(Alphabet::points(points).unwrap(), None, "2"));
    let found = coverage(&[(&source, 2000)], &EIGHT, 4, Settings::default(), |e, _| {
        // Cumulative shares .05 .2 .45 .65 .8 .9 .97 1; .45 sits on an edge.
        [(0.1, 1.5), (0.45, 2.5), (0.5, 3.5), (0.85, 5.5)]
            .map(|(probability, truth)| (e.quantile(probability).unwrap().estimate, truth))
            .to_vec()
    });
    holds("points", &found, 0.0);
}

#[test]
fn several_policies_at_once() {
    let p = [0.5, 0.2, 0.15, 0.1, 0.05];
    let alphabet = || Alphabet::indices(5).unwrap();
    let varying = keep(&[0.5, 0.3, 0.6, 0.4, 0.7], &[0.2; 5]);
    let sources = [
        Source::new(krr(alphabet(), None, "1")),
        Source::new(krr(alphabet(), None, "2")),
        Source::new(loose(alphabet(), None, varying)),
        Source::new(oue(5, None, "1.5")),
        Source::new(optimal(&p, "1")),
    ];
    let [a, b, c, bits, table] = &sources;
    for (name, pool) in [
        ("two keeps", vec![(a, 600), (b, 900)]),
        ("keeps and bits", vec![(a, 600), (c, 600), (bits, 900)]),
        ("table, keep and bits", vec![(table, 700), (b, 500), (bits, 800)]),
    ] {
        let found = coverage(&pool, &p, 5, Settings::default(), |e, _| {
            let mut answers = Vec::new();
            for method in [Method::Unbiased, Method::Mle] {
                let shares = e.shares(method).unwrap().symbols;
                answers.extend(shares.into_iter().zip(p));
                let values = [3.0, 1.0, 4.0, 1.0, 5.0];
                answers.push((e.linear(method, &values).unwrap().estimate, mean(&p, &values)));
            }
            answers
        });
        holds(name, &found, 1.6);
        let settings = Settings::default().of_respondents();
        let found = coverage(&pool, &p, 6, settings, |e, people| {
            let shares = e.shares(Method::Unbiased).unwrap().symbols;
            shares.into_iter().zip(people.iter().copied()).collect()
        });
        // Every group has an interval of its own, at its part of the permitted misses.
        holds(&format!("{name}, respondents"), &found, 3.0);
    }
}

/// Shares of exactly zero, and close to it: intervals neither collapse nor become one-sided in their
/// misses.
#[test]
fn in_the_corners() {
    let p = [0.97, 0.025, 0.005, 0.0];
    let alphabet = Alphabet::indices(4).unwrap();
    for (name, policy) in [("keep", krr(alphabet, None, "2")), ("bits", oue(4, None, "2"))] {
        let source = Source::new(policy);
        let found = coverage(&[(&source, 2000)], &p, 7, Settings::default(), |e, _| {
            let mut answers = Vec::new();
            for method in [Method::Unbiased, Method::Mle] {
                answers.extend(e.shares(method).unwrap().symbols.into_iter().zip(p));
            }
            answers
        });
        holds(name, &found, 1.2);
    }
}

/// The prior says .1 and the truth is .2: what does not use the prior still covers, what uses it does
/// not, and the lamp lights.
#[test]
fn with_a_wrong_prior() {
    let source = Source::new(binary(0.1, "1"));
    let truth = [0.8, 0.2];
    let found = coverage(&[(&source, 4000)], &truth, 8, Settings::default(), |e, _| {
        let mut answers = Vec::new();
        for method in [Method::Unbiased, Method::Mle] {
            answers.extend(e.shares(method).unwrap().symbols.into_iter().zip(truth));
        }
        let headline = e.headline().unwrap().shares;
        answers.extend(headline.symbols.into_iter().zip(truth));
        answers
    });
    holds("wrong prior: unbiased, maximum likelihood, headline", &found, 1.1);
    let found = coverage(&[(&source, 4000)], &truth, 9, Settings::default(), |e, people| {
        // The lamp as an interval: 1 if it lit.
        let lit = f64::from(u8::from(e.drift().unwrap().drifted));
        let mmse = e.shares(Method::Mmse).unwrap().symbols[1];
        vec![(mmse, people[1]), (Estimate { low: lit, value: lit, high: lit, ..mmse }, 1.0)]
    });
    let [trusting, lamp] = [found[0].share, found[1].share];
    assert!(trusting < 0.01, "an estimate that trusts a wrong prior covered {trusting}");
    assert!(lamp > 0.999, "the lamp lit in {lamp}");
}

#[test]
fn all_intervals_at_once() {
    for (name, policy) in [("keep", krr(bins(&EDGES), None, "2")), ("bits", oue(8, None, "2"))] {
        let source = Source::new(policy);
        let settings = Settings::default().all_at_once();
        let found = coverage(&[(&source, 2000)], &EIGHT, 10, settings, |e, _| {
            [Method::Unbiased, Method::Mle]
                .map(|method| {
                    let shares = e.shares(method).unwrap().symbols;
                    let all = shares.iter().zip(EIGHT).all(|(share, truth)| share.covers(truth));
                    let hit = f64::from(u8::from(all));
                    (Estimate { low: hit, value: hit, high: hit, ..shares[0] }, 1.0)
                })
                .to_vec()
        });
        eprintln!("{name}, all at once: {found:.4?}");
        assert!(found.iter().all(|held| (0.9362..=0.99).contains(&held.share)), "{found:?}");
    }
}

/// Whole rows of bits under the right prior.
#[test]
fn folded_posteriors_of_bits() {
    let p = [0.5, 0.25, 0.15, 0.1];
    let policy = oue(4, Some(&p), "2");
    let sampler = Sampler::new(&policy);
    let symbols: Vec<_> = (0..4).map(|x| policy.draft().inputs().symbol(x).unwrap()).collect();
    let mut dice = Dice::new(11);
    let n = 250;
    let mut hits = [0usize; 4];
    for _ in 0..REPLICATIONS {
        let people = multinomial(n, &p, &mut dice);
        let inputs: Vec<_> =
            people.iter().zip(&symbols).flat_map(|(&c, &x)| vec![x; c as usize]).collect();
        let mut rows = vec![0; n as usize];
        sampler.draw_bits(&inputs, &mut dice, &mut rows).unwrap();
        let mut fold = BitsFold::new(&policy).unwrap();
        fold.add_packed_bits(&rows).unwrap();
        let shares = fold.shares(Settings::default()).unwrap();
        for (x, hit) in hits.iter_mut().enumerate() {
            *hit += usize::from(shares.symbols[x].covers(people[x] as f64 / n as f64));
        }
    }
    holds("folded bits", &hits.map(without_width), 0.0);
}

/// Truths drawn from the Dirichlet prior itself: then credible intervals cover at their level.
#[test]
fn dirichlet_posteriors_are_calibrated() {
    let strength = [2.0, 1.0, 0.7];
    let alphabet = Alphabet::indices(3).unwrap();
    let rows = policy::table(&[
        vec![0.9, 0.04, 0.03, 0.03],
        vec![0.05, 0.85, 0.05, 0.05],
        vec![0.02, 0.08, 0.3, 0.6],
    ]);
    let outputs = Some(Alphabet::indices(4).unwrap());
    for (name, policy) in
        [("keep", krr(alphabet.clone(), None, "4")), ("table", loose(alphabet, outputs, rows))]
    {
        let source = Source::new(policy);
        let mut dice = Dice::new(12);
        let mut hits = [0usize; 3];
        for _ in 0..REPLICATIONS {
            let weights = strength.map(|a| Gamma::new(a, 1.0).unwrap().sample(&mut dice));
            let total: f64 = weights.iter().sum();
            let p = weights.map(|w| w / total);
            let tally = source.draw(120, &p, &mut dice).1;
            let pool = Pool::new(&source.policy, tally).unwrap();
            let estimator = Estimator::new(pool, Settings::default()).unwrap();
            let prior =
                Dirichlet { pseudo_counts: strength.to_vec(), sweeps: 700, seed: dice.next_u64() };
            let posterior = estimator.dirichlet(&prior).unwrap();
            for (x, hit) in hits.iter_mut().enumerate() {
                *hit += usize::from(posterior.symbols[x].covers(p[x]));
            }
        }
        // Credible intervals cover at their level on average over the prior, no more and no less.
        let found = hits.map(without_width);
        holds(&format!("Dirichlet, {name}"), &found, 0.0);
        assert!(found.iter().all(|held| held.share <= 0.9776), "{found:?}");
    }
}

/// Family-wise: in at most 5 % of the surveys is even one symbol named that is not above the threshold.
#[test]
fn heavy_hitters_are_rarely_false() {
    let size = 40;
    // Twenty symbols exactly at the threshold, the hardest case; five well above it.
    let mut p = vec![0.02; size];
    p[20..25].copy_from_slice(&[0.1, 0.08, 0.08, 0.06, 0.06]);
    let used: f64 = p[..25].iter().sum();
    p[25..].fill((1.0 - used) / 15.0);
    assert!(p[25] < 0.02);
    let alphabet = Alphabet::indices(size).unwrap();
    for (name, policy) in [("keep", krr(alphabet, None, "3")), ("bits", oue(size, None, "3"))] {
        let source = Source::new(policy);
        let mut dice = Dice::new(13);
        let (mut false_family, mut false_share, mut found) = (0usize, 0.0, 0usize);
        for _ in 0..2000 {
            let tally = source.draw(5000, &p, &mut dice).1;
            let pool = Pool::new(&source.policy, tally).unwrap();
            let estimator = Estimator::new(pool, Settings::default()).unwrap();
            let strict = estimator.heavy_hitters(0.02, Control::FamilyWise).unwrap();
            let wrong = |symbol: usize| !(20..25).contains(&symbol);
            false_family += usize::from(strict.symbols.iter().any(|h| wrong(h.symbol)));
            found += strict.symbols.iter().filter(|h| !wrong(h.symbol)).count();
            let loose = estimator.heavy_hitters(0.02, Control::FalseDiscovery).unwrap();
            let wrongs = loose.symbols.iter().filter(|h| wrong(h.symbol)).count();
            false_share += wrongs as f64 / loose.symbols.len().max(1) as f64;
        }
        let (family, share) = (false_family as f64 / 2000.0, false_share / 2000.0);
        eprintln!("{name}: any false {family}, false share {share}, found {found} of 10000");
        assert!(family <= 0.065 && share <= 0.065, "{name}: {family} {share}");
        assert!(found > 9000, "{name}: {found}");
    }
}
