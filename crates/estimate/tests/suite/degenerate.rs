//! What reports cannot tell is said, never made up.

use undertone_core::{Alphabet, Bits, Context, Policy, Prior, Shape};
use undertone_estimate::{
    Control, Dirichlet, Error, Estimator, Method, Pool, Settings, Summary, Tally,
};
use undertone_testkit::dice::Dice;
use undertone_testkit::policy::{self, assumed, keep, krr, loose, table};
use undertone_testkit::respondents::Source;
use undertone_testkit::respondents::multinomial;

fn indices(size: usize) -> Alphabet {
    Alphabet::indices(size).unwrap()
}

fn estimator(policy: &Policy, counts: &[u64]) -> Estimator {
    let mut tally = Tally::new(policy);
    tally.add_counts(counts).unwrap();
    Estimator::new(Pool::new(policy, tally).unwrap(), Settings::default()).unwrap()
}

fn known(weights: &[u64]) -> Context {
    Context::Known(Prior::new(weights.iter().map(|w| w << 28).collect()).unwrap())
}

fn close(a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9, "{a} against {b}");
}

/// Two symbols with the same row: only their sum is known, and the split follows the prior.
#[test]
fn equal_rows_leave_a_split_open() {
    let shape = table(&[vec![0.8, 0.2], vec![0.3, 0.7], vec![0.3, 0.7]]);
    let outputs = Some(indices(2));
    // Prior 8, 6, 2 sixteenths.
    let policy = assumed(indices(3), outputs, shape, known(&[8, 6, 2]));
    let estimator = estimator(&policy, &[5500, 4500]);
    let id = estimator.identification();
    assert_eq!((id.rank, id.symbols), (2, 3));
    assert_eq!(id.unidentified, [1, 2]);
    assert_eq!(id.combinations.len(), 1);
    let shift = &id.combinations[0];
    assert_eq!(shift.len(), 2);
    close(shift[0].1 + shift[1].1, 0.0);
    assert_eq!(shift[0].0 + shift[1].0, 3);
    assert!(!id.complete() && id.condition < 10.0);
    let notes = estimator.summary().unwrap().notes;
    assert_eq!(notes.len(), 1);
    assert!(notes[0].contains("cannot tell") && notes[0].contains("\"1\""), "{notes:?}");
    for method in [Method::Unbiased, Method::Mle] {
        let shares = estimator.shares(method).unwrap();
        assert!(shares.label.contains("2 of 3 shares are not determined"), "{}", shares.label);
        close(shares.symbols[0].value, 0.5);
        assert!(shares.symbols[0].identified && shares.symbols[0].high < 0.55);
        for x in [1, 2] {
            let open = shares.symbols[x];
            assert!(!open.identified && open.standard_error.is_none());
            // None or all of what both have together.
            assert!(open.low == 0.0 && open.high > 0.5 && open.high < 0.53, "{open:?}");
        }
        close(shares.symbols[1].value + shares.symbols[2].value, 0.5);
        // Determined together: an interval like that of the first symbol.
        let both = estimator.linear(method, &[0.0, 1.0, 1.0]).unwrap().estimate;
        assert!(both.identified && both.low > 0.45);
        close(both.value, 0.5);
        let apart = estimator.linear(method, &[0.0, 1.0, 0.0]).unwrap().estimate;
        assert!(!apart.identified && apart.low == 0.0);
        assert!(apart.high > 0.5 && apart.high < 0.53, "{apart:?}");
    }
    // Maximum likelihood starts at the prior and keeps its odds where nothing speaks against them.
    let fit = &estimator.fit().shares;
    assert!((fit[1] / fit[2] - 3.0).abs() < 0.06, "{fit:?}");
    assert!(estimator.quantile(0.5).is_ok());
    assert!(!estimator.mean(Method::Unbiased).unwrap().estimate.identified);
    assert!(!estimator.variance(Method::Unbiased).unwrap().estimate.identified);
    // Heavy hitters are named only among what is determined.
    let heavy = estimator.heavy_hitters(0.1, Control::FamilyWise).unwrap();
    assert_eq!(heavy.symbols.iter().map(|h| h.symbol).collect::<Vec<_>>(), [0]);
}

/// A row that is the mean of two others.
#[test]
fn a_mixed_row_is_named_as_one() {
    let (a, b) = ([0.7, 0.2, 0.1], [0.1, 0.3, 0.6]);
    let middle: Vec<f64> = a.iter().zip(&b).map(|(a, b)| (a + b) / 2.0).collect();
    let policy = loose(indices(3), None, table(&[a.to_vec(), b.to_vec(), middle]));
    let estimator = estimator(&policy, &[400, 250, 350]);
    let id = estimator.identification();
    assert_eq!(id.rank, 2);
    assert_eq!(id.unidentified, [0, 1, 2]);
    // Some multiple of (1, 1, -2): half of each against the third.
    let mut shift = [0.0; 3];
    id.combinations[0].iter().for_each(|&(x, amount)| shift[x] = amount);
    assert!((shift[0] - shift[1]).abs() < 1e-7 && (shift[0] + shift[2] / 2.0).abs() < 1e-7);
    // Something is still known: p0 - p1 does not change along that shift.
    assert!(estimator.linear(Method::Mle, &[1.0, -1.0, 0.0]).unwrap().estimate.identified);
    assert!(estimator.fit().converged);
}

/// Two policies, each blind on its own, that together see.
#[test]
fn blind_policies_see_together() {
    let left = loose(
        indices(3),
        Some(indices(2)),
        table(&[vec![0.9, 0.1], vec![0.2, 0.8], vec![0.2, 0.8]]),
    );
    let right = loose(
        indices(3),
        Some(indices(2)),
        table(&[vec![0.9, 0.1], vec![0.9, 0.1], vec![0.3, 0.7]]),
    );
    let truth = [0.5, 0.3, 0.2];
    let (first, second) = (Source::new(left.clone()), Source::new(right.clone()));
    let mut dice = Dice::new(7);
    let a = first.draw(20_000, &truth, &mut dice).1;
    let b = second.draw(20_000, &truth, &mut dice).1;
    let alone = Estimator::new(Pool::new(&left, a.clone()).unwrap(), Settings::default()).unwrap();
    assert_eq!(alone.identification().unidentified, [1, 2]);
    let pool = Pool::new(&left, a).unwrap().and(&right, b).unwrap();
    let both = Estimator::new(pool, Settings::default()).unwrap();
    assert!(both.identification().complete());
    for method in [Method::Unbiased, Method::Mle] {
        for (share, truth) in both.shares(method).unwrap().symbols.iter().zip(truth) {
            assert!(share.identified && (share.value - truth).abs() < 0.03, "{share:?}");
        }
    }
}

#[test]
fn symbols_that_are_never_kept() {
    // One such symbol: everything is determined.
    let one = loose(indices(3), None, keep(&[0.5, 0.0, 0.25], &[0.5, 0.25, 0.25]));
    // law(y) = λ(y) p(y) + r b(y) for p = (.4, .4, .2): r = .2 + .4 + .15 = .75.
    let found = estimator(&one, &[575_000, 187_500, 237_500]);
    let expected = [0.4, 0.4, 0.2];
    assert!(found.identification().complete());
    assert_eq!(found.identification().rank, 3);
    for method in [Method::Unbiased, Method::Mle] {
        for (share, truth) in found.shares(method).unwrap().symbols.iter().zip(expected) {
            assert!((share.value - truth).abs() < 1e-5 && share.identified, "{share:?}");
        }
    }
    close(found.linear(Method::Unbiased, &[1.0; 3]).unwrap().estimate.value, 1.0);

    // Two: only their sum.
    let two = loose(indices(3), None, keep(&[0.5, 0.0, 0.0], &[0.5, 0.25, 0.25]));
    let found = estimator(&two, &[600_000, 200_000, 200_000]);
    let id = found.identification();
    assert_eq!((id.rank, &id.unidentified[..]), (2, &[1, 2][..]));
    assert_eq!(id.combinations, [[(1, 1.0), (2, -1.0)]]);
    // r = .4/.5 = .8, so p0 = (.6 - .4)/.5 = .4.
    let shares = found.shares(Method::Unbiased).unwrap();
    close(shares.symbols[0].value, 0.4);
    close(shares.symbols[1].value, 0.3);
    assert!(found.linear(Method::Unbiased, &[0.0, 1.0, 1.0]).unwrap().estimate.identified);

    // Never kept and never drawn: the drawn share itself is open.
    let lost = loose(indices(3), None, keep(&[0.5, 0.0, 0.5], &[1.0, 0.0, 0.0]));
    let found = estimator(&lost, &[800_000, 0, 200_000]);
    let id = found.identification();
    assert_eq!((id.rank, &id.unidentified[..]), (2, &[0, 1][..]));
    close(found.shares(Method::Unbiased).unwrap().symbols[2].value, 0.4);
    assert_eq!(id.combinations, [[(1, 1.0), (0, -1.0)]]);
    let fit = found.fit();
    assert!(fit.converged && (fit.shares[2] - 0.4).abs() < 1e-4, "{fit:?}");
}

#[test]
fn the_dense_inverse_says_the_same_of_keep() {
    for (kept, base) in [
        ([0.5, 0.0, 0.25], [0.5, 0.25, 0.25]),
        ([0.5, 0.0, 0.0], [0.5, 0.25, 0.25]),
        ([0.5, 0.0, 0.5], [1.0, 0.0, 0.0]),
    ] {
        let shape = keep(&kept, &base);
        let rows: Vec<Vec<f64>> = (0..3).map(|x| policy::row(&shape, x)).collect();
        let closed = loose(indices(3), None, shape);
        let dense = loose(indices(3), None, table(&rows));
        // Output 1 of the third policy never occurs.
        let counts = if base[1] > 0.0 { [500, 300, 200] } else { [700, 0, 300] };
        let (closed, dense) = (estimator(&closed, &counts), estimator(&dense, &counts));
        assert_eq!(closed.identification().rank, dense.identification().rank);
        assert_eq!(closed.identification().unidentified, dense.identification().unidentified);
        let (a, b) =
            (closed.shares(Method::Unbiased).unwrap(), dense.shares(Method::Unbiased).unwrap());
        for (a, b) in a.symbols.iter().zip(&b.symbols).filter(|(a, _)| a.identified) {
            close(a.value, b.value);
            // A table's ends rest on scores that may be better than the unbiased ones.
            assert!(b.low > a.low - 1e-3 && b.high < a.high + 1e-3, "{a:?} {b:?}");
        }
    }
}

#[test]
fn silent_bits_determine_nothing() {
    let shape = Shape::Bits(Bits::new(4, 1 << 31, 1 << 31).unwrap());
    let policy = loose(indices(4), None, shape);
    let mut tally = Tally::new(&policy);
    tally.add_bit_counts(1000, &[510, 490, 480, 520]).unwrap();
    let estimator =
        Estimator::new(Pool::new(&policy, tally).unwrap(), Settings::default()).unwrap();
    assert_eq!(estimator.identification().unidentified, [0, 1, 2, 3]);
    for method in [Method::Unbiased, Method::Mle] {
        for share in estimator.shares(method).unwrap().symbols {
            assert!(!share.identified);
            assert_eq!((share.value, share.low, share.high), (0.25, 0.0, 1.0));
        }
    }
    estimator.summary().unwrap();
}

#[test]
fn a_single_symbol_and_a_single_report() {
    let policy = loose(indices(1), None, keep(&[0.5], &[1.0]));
    let summary = estimator(&policy, &[1]).summary().unwrap();
    assert_eq!(summary.headline.shares.symbols[0].value, 1.0);
    assert_eq!(summary.reports, 1);
    let policy = loose(indices(1), None, table(&[vec![1.0]]));
    estimator(&policy, &[3]).summary().unwrap();
    let policy = krr(indices(3), None, "1");
    let one = estimator(&policy, &[0, 1, 0]);
    let summary = one.summary().unwrap();
    for share in &summary.headline.shares.symbols {
        assert!((0.0..=1.0).contains(&share.low) && (0.0..=1.0).contains(&share.high));
        assert!(share.low <= share.high);
    }
    assert_eq!(one.fit().shares, [0.0, 1.0, 0.0]);
    serde_json::to_string(&summary).unwrap();
}

#[test]
fn hundred_thousand_symbols() {
    let size = 100_000;
    let policy = krr(indices(size), None, "8");
    let weights: Vec<f64> = (0..size).map(|x| 1.0 / (x + 1) as f64).collect();
    let total: f64 = weights.iter().sum();
    let p: Vec<f64> = weights.iter().map(|w| w / total).collect();
    // Drawn as kept and not kept, in O(k).
    let Shape::Keep(keep) = policy.draft().shape() else { panic!("keep") };
    let lambda = keep.keep()[0] as f64 / (1u64 << 40) as f64;
    let law: Vec<f64> = p.iter().map(|p| lambda * p + (1.0 - lambda) / size as f64).collect();
    let counts = multinomial(1_000_000, &law, &mut Dice::new(8));
    let estimator = estimator(&policy, &counts);
    let summary = estimator.summary().unwrap();
    assert_eq!(summary.fit.steps, 0);
    // Keeping a hundred thousand shares positive pulls the large ones down: the headline says so.
    assert_eq!(summary.headline.shares.method, Method::Unbiased);
    assert!(summary.headline.because.contains("pulls"));
    let first = summary.headline.shares.symbols[0];
    assert!(first.covers(p[0]) && first.high - first.low < 0.02, "{first:?}");
    assert!(!summary.drift.impossible && !summary.drift.drifted);
    let heavy = estimator.heavy_hitters(0.002, Control::FamilyWise).unwrap();
    assert!(heavy.symbols.len() > 5, "{}", heavy.symbols.len());
    assert!(heavy.symbols.iter().all(|heavy| p[heavy.symbol] > 0.002));
    let median = estimator.quantile(0.5).unwrap().estimate;
    assert!(median.low <= median.value && median.value <= median.high);
    assert_eq!(estimator.influence(10).unwrap().len(), size);
}

/// Intervals that hold all at once are wider than those that hold one by one, and maximum-likelihood values pulled out of the latter may
/// lie in the former. Which estimate is read first does not turn on that.
#[test]
fn the_headline_is_the_same_for_one_interval_and_for_all() {
    let size = 300;
    let policy = krr(indices(size), None, "1");
    let Shape::Keep(keep) = policy.draft().shape() else { panic!("keep") };
    let lambda = keep.keep()[0] as f64 / (1u64 << 40) as f64;
    let base = |x: usize| (1.0 - lambda) / size as f64 + if x == 0 { lambda } else { 0.0 };
    let counts = multinomial(20_000, &(0..size).map(base).collect::<Vec<_>>(), &mut Dice::new(3));
    let asked = |settings: Settings| {
        let mut tally = Tally::new(&policy);
        tally.add_counts(&counts).unwrap();
        Estimator::new(Pool::new(&policy, tally).unwrap(), settings).unwrap().summary().unwrap()
    };
    for settings in [Settings::default(), Settings::default().of_respondents()] {
        let (each, all) = (asked(settings), asked(settings.all_at_once()));
        // The test sees what it is about: no value is out of the wide intervals, some are out of their own.
        let values = |summary: &Summary| -> Vec<f64> {
            summary.mle.symbols.iter().map(|share| share.value).collect()
        };
        let held = |summary: &Summary, at: usize, value: f64| {
            let share = summary.unbiased.symbols[at];
            share.low <= value && value <= share.high
        };
        let out = |summary: &Summary| {
            let outside = |(at, &value): (usize, &f64)| !held(summary, at, value);
            values(summary).iter().enumerate().filter(|&found| outside(found)).count()
        };
        assert!(out(&each) > 0, "{}", out(&each));
        assert_eq!(out(&all), 0);
        assert_eq!(each.headline.shares.method, Method::Unbiased);
        assert_eq!(all.headline.shares.method, Method::Unbiased);
        assert_eq!(each.headline.because, all.headline.because);
    }
}

#[test]
fn questions_that_have_no_answer() {
    let names = Alphabet::names(["no", "yes"]).unwrap();
    let policy = krr(names, None, "1");
    let found = estimator(&policy, &[60, 40]);
    assert!(matches!(found.mean(Method::Mle), Err(Error::Unanswerable { .. })));
    assert!(matches!(found.quantile(0.5), Err(Error::Unanswerable { .. })));
    assert!(matches!(found.histogram(Method::Mle), Err(Error::Unanswerable { .. })));
    assert!(matches!(found.shares(Method::Mmse), Err(Error::Unanswerable { .. })));
    assert!(matches!(found.linear(Method::Mle, &[1.0]), Err(Error::Size { .. })));
    assert!(matches!(found.linear(Method::Mle, &[1.0, f64::NAN]), Err(Error::Range { .. })));
    for bad in [0.0, 1.0, f64::NAN] {
        assert!(matches!(found.quantile(bad), Err(Error::Range { .. })));
    }
    for bad in [-0.1, 1.0, f64::NAN] {
        let refused = found.heavy_hitters(bad, Control::FamilyWise);
        assert!(matches!(refused, Err(Error::Range { .. })));
    }
    let jeffreys = Dirichlet::jeffreys(2);
    for pseudo_counts in [vec![1.0], vec![1.0, 0.0], vec![1.0, f64::NAN]] {
        let bad = Dirichlet { pseudo_counts, ..jeffreys.clone() };
        assert!(found.dirichlet(&bad).is_err());
    }
    assert!(found.dirichlet(&Dirichlet { sweeps: 5, ..jeffreys }).is_err());
    let summary = found.summary().unwrap();
    assert!(summary.mmse.is_none() && summary.mean.is_none());
}

#[test]
fn an_output_the_prior_rules_out() {
    // Output 2 comes only from symbol 2, to which the prior gives nothing.
    let shape = table(&[vec![0.7, 0.3, 0.0], vec![0.4, 0.6, 0.0], vec![0.2, 0.2, 0.6]]);
    let policy = assumed(indices(3), None, shape, known(&[10, 6, 0]));
    let found = estimator(&policy, &[500, 480, 20]);
    let error = found.shares(Method::Mmse).unwrap_err();
    assert!(error.to_string().contains("output 2"), "{error}");
    let drift = found.drift().unwrap();
    assert_eq!(drift.policies[0].prior.unwrap().p_value, 0.0);
    assert!(drift.drifted && !drift.impossible);
    assert!((found.shares(Method::Unbiased).unwrap().symbols[2].value - 20.0 / 600.0).abs() < 1e-9);
    serde_json::to_string(&found.summary().unwrap()).unwrap();
}
