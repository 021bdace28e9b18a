//! Golden values and printed numbers of the specification: composition, sequences, transfer.
use undertone_design::extremal::LiftRange;
use undertone_design::fit;
use undertone_design::prior_region::PriorBox;
use undertone_design::{Channel, Distribution, Error};
use undertone_testkit::golden::assert_golden;
use undertone_theory::composition::{self, Side, compose, family, given, worst_case};
use undertone_theory::sequence::{self, Process};
use undertone_theory::transfer::{self, estimated, smallest_term, transfer};

fn prior(p: &[f64]) -> Distribution {
    Distribution::new("prior", p.to_vec()).unwrap()
}

fn lip(epsilon: f64) -> LiftRange {
    LiftRange::symmetric(epsilon).unwrap()
}

/// Asserts agreement to the last digit of a number printed with `digits` decimals.
#[track_caller]
fn assert_printed(ours: f64, printed: f64, digits: i32) {
    assert!((ours - printed).abs() <= 0.51 * 10f64.powi(-digits), "ours {ours}, printed {printed}");
}

#[test]
fn theorem_4_and_the_exact_worst_case() {
    let two = [lip(2.0); 2];
    assert_golden("G38", composition::published(0.25, &two).unwrap());
    assert_golden("G39", worst_case(&Distribution::uniform(4), &two).unwrap().leakage);
    for (p, bound, exact) in [
        (vec![0.25; 4], 6.271, 5.176),
        (vec![0.1, 0.1, 0.1, 0.7], 7.895, 5.742),
        (vec![0.01, 0.33, 0.33, 0.33], 7.990, 4.986),
    ] {
        let answer = compose(&prior(&p), &two).unwrap();
        assert_printed(answer.published, bound, 3);
        assert_printed(answer.exact.unwrap().leakage, exact, 3);
    }
}

#[test]
fn two_releases_can_leak_more_than_the_sum_of_their_budgets() {
    let coin = Distribution::uniform(2);
    let worst = worst_case(&coin, &[lip(1.0); 2]).unwrap();
    assert_printed(worst.leakage, 2.336, 3);
    assert!(worst.leakage > 2.0);
    let channels = worst.channels(&[lip(1.0); 2]).unwrap();
    for channel in &channels {
        assert!(given(&coin, std::slice::from_ref(channel)).unwrap().lip() <= 1.0 + 1e-12);
    }
    assert!((given(&coin, &channels).unwrap().lip() - worst.leakage).abs() < 1e-12);
}

/// Sensors specification, section 1, last row: a secret that stays the same over epochs.
#[test]
fn a_constant_secret_wears_out_over_epochs() {
    let coin = Distribution::uniform(2);
    for (epochs, printed, digits) in [(2, 0.387, 3), (5, 1.14, 2), (10, 2.67, 2), (50, 15.9, 1)] {
        let ranges = vec![lip(0.18); epochs];
        let worst = worst_case(&coin, &ranges).unwrap();
        assert_printed(worst.leakage, printed, digits);
        // Closed form: the extremal vectors are (2 - 1/E, 1/E) and its mirror image.
        let odds: f64 = 2.0 * 0.18f64.exp() - 1.0;
        let closed = ((1.0 + odds.powi(epochs as i32)) / 2.0).ln();
        assert!((worst.leakage - closed).abs() < 1e-12);
        assert_eq!(worst.side, Side::Lowered);
        // And real channels reach it, as a sequence whose hidden value never changes.
        let channels = worst.channels(&ranges).unwrap();
        let process = Process::constant(&coin, epochs).unwrap();
        let leakage = sequence::leakage(&process, &channels).unwrap();
        assert!(leakage.exact);
        assert!((leakage.sequence.lip() - closed).abs() < 1e-9);
        assert!((leakage.each[epochs / 2].lip() - closed).abs() < 1e-9);
    }
}

/// [JSTL21] Fig. 5(b): the three prior sets (the first two are printed alike).
#[test]
fn corollary_4_for_the_papers_prior_sets() {
    let p = [prior(&[0.25; 4]), prior(&[0.1, 0.1, 0.1, 0.7]), prior(&[0.01, 0.33, 0.33, 0.33])];
    for set in [[p[0].clone(), p[1].clone()], [p[1].clone(), p[2].clone()]] {
        let answer = family(&set, &[lip(2.0); 2]).unwrap();
        let least = set.iter().map(Distribution::min).fold(1.0, f64::min);
        let most = set.iter().map(Distribution::min).fold(0.0, f64::max);
        let omega = 4f64.min(((2f64.exp() - 1.0 + most) / most).ln());
        let printed = (least + (2.0 * omega).exp() * (1.0 - least)).ln();
        assert!((answer.published - printed).abs() < 1e-12);
        let exact = answer.exact.unwrap();
        assert!(exact <= answer.sharpened + 1e-12 && answer.sharpened <= answer.published + 1e-12);
        // Keeping the promise under two priors leaves less room than under the better one alone.
        let alone = |p: &Distribution| worst_case(p, &[lip(2.0); 2]).unwrap().leakage;
        assert!(exact <= alone(&set[0]).max(alone(&set[1])) + 1e-12);
        assert!(exact > 2.0);
    }
}

/// [JSTL21] Fig. 5(c) without a joint law is ill-defined; two couplings that pin it down.
#[test]
fn corollary_5_for_independent_and_comonotone_couplings() {
    let laws = [prior(&[0.25; 4]), prior(&[0.1, 0.1, 0.1, 0.7]), prior(&[0.01, 0.33, 0.33, 0.33])];
    let ranges = [lip(2.0); 3];
    let independent = Process::independent(&laws).unwrap();
    let together = Process::comonotone(&laws).unwrap();
    for process in [&independent, &together] {
        for (law, marginal) in laws.iter().zip(process.marginals()) {
            assert!(law.total_variation(marginal).unwrap() < 1e-12);
        }
        let exact = sequence::worst_case(process, &ranges).unwrap();
        let sharpened = sequence::sharpened(process, &ranges).unwrap();
        let published = sequence::published(process, &ranges).unwrap();
        assert!(exact.sequence <= sharpened + 1e-9, "{} {sharpened}", exact.sequence);
        assert!(sharpened <= published + 1e-9, "{sharpened} {published}");
        assert!(exact.each.iter().all(|each| *each <= exact.sequence + 1e-9));
    }
    let exact = sequence::worst_case(&independent, &ranges).unwrap();
    let closed = sequence::independent_worst_case(&laws, &ranges).unwrap();
    assert!((exact.sequence - closed).abs() < 1e-9);
    assert!((closed - 6.0).abs() < 1e-12, "independent budgets add up: {closed}");
    // Under independence the other outputs say nothing about X_k.
    assert!(exact.each.iter().all(|each| (each - 2.0).abs() < 1e-9));
    // The order of release does not matter.
    let reordered =
        Process::comonotone(&[laws[2].clone(), laws[0].clone(), laws[1].clone()]).unwrap();
    let again = sequence::worst_case(&reordered, &ranges).unwrap().sequence;
    assert!((again - sequence::worst_case(&together, &ranges).unwrap().sequence).abs() < 1e-9);
}

#[test]
fn transfer_of_the_golden_pair() {
    let (from, to) = (prior(&[0.3, 0.3, 0.4]), prior(&[0.32, 0.28, 0.4]));
    assert_golden("G42", transfer::eta(&from, &to).unwrap());
    let answer = transfer(&from, &to, lip(1.0)).unwrap();
    assert_golden("G43", answer.prior_free.unwrap());
    assert_golden("G44", answer.exact);
    assert!((answer.ratio - (0.3f64 / 0.28).ln()).abs() < 1e-15);
}

#[test]
fn transfer_of_the_rare_symbol() {
    let answer =
        transfer(&prior(&[0.01, 0.49, 0.5]), &prior(&[0.03, 0.48, 0.49]), lip(1.0)).unwrap();
    assert_printed(answer.published, 2.000, 3);
    assert_printed(answer.prior_free.unwrap(), 1.0481, 4);
    assert_printed(answer.exact, 1.0342, 4);
}

/// [JSTL21] Corollary 6 as printed is false: its threshold admits a pair where η + ε is not smallest.
#[test]
fn corollary_6_needs_the_logarithm() {
    let (from, to) = (Distribution::uniform(4), prior(&[0.44, 0.25, 0.25, 0.06]));
    let answer = smallest_term(&from, &to, 2.0).unwrap();
    assert_printed(answer.distance, 0.19, 12);
    assert_printed(answer.printed_threshold, 0.383, 3);
    assert_printed(answer.threshold, 0.156, 3);
    assert!(answer.distance < answer.printed_threshold && answer.distance > answer.threshold);
    let eta = transfer::eta(&from, &to).unwrap();
    assert_printed(eta + 2.0, 3.427, 3);
    assert_printed(transfer(&from, &to, lip(2.0)).unwrap().published, 3.279, 3);
}

#[test]
fn estimated_priors() {
    assert_golden("G46", fit::radius(200, 2, 0.05).unwrap());
    // As printed: M stands where ln(2^M - 2) is enough.
    let printed = transfer::published_radius(200, 2, 0.05).unwrap();
    assert!((printed - (0.01 * (2.0 - 0.05f64.ln())).sqrt()).abs() < 1e-15);
    assert!(printed > fit::radius(200, 2, 0.05).unwrap());
    // 2^M overflows long before M does.
    let wide = fit::radius(1_000_000_000, 100_000, 0.05).unwrap();
    assert!((wide - (2e-9 * (1e5 * 2f64.ln() - 0.05f64.ln())).sqrt()).abs() < 1e-12);
    assert_eq!(fit::radius(5, 1, 0.05).unwrap(), 0.0);

    let answer = estimated(&prior(&[0.3, 0.3, 0.4]), 20_000, 0.05, lip(1.0)).unwrap();
    assert!((answer.floor - (0.3 - answer.radius / 2.0)).abs() < 1e-15);
    assert!(answer.leakage > 1.0 && answer.leakage < 1.1, "{answer:?}");
    let few = estimated(&prior(&[0.01, 0.49, 0.5]), 50, 0.05, lip(1.0)).unwrap();
    assert_eq!((few.floor, few.eta), (0.0, f64::INFINITY));
    assert!(few.leakage <= 2.0, "LDP holds whatever the prior: {few:?}");
}

#[test]
fn bad_input_is_refused_by_name() {
    let p = Distribution::uniform(3);
    assert!(matches!(LiftRange::symmetric(f64::NAN), Err(Error::Range { .. })));
    assert!(matches!(LiftRange::symmetric(-1.0), Err(Error::Range { .. })));
    assert!(matches!(composition::published(f64::NAN, &[lip(1.0)]), Err(Error::Range { .. })));
    assert!(matches!(worst_case(&p, &[lip(100.0); 5]), Err(Error::TooLarge { .. })));
    assert!(compose(&Distribution::uniform(40), &[lip(1.0); 3]).unwrap().exact.is_none());
    assert!(matches!(given(&p, &[Channel::identity(2).unwrap()]), Err(Error::Size { .. })));
    assert!(matches!(transfer(&p, &Distribution::uniform(2), lip(1.0)), Err(Error::Size { .. })));
    assert!(matches!(fit::radius(0, 2, 0.05), Err(Error::Range { .. })));
    assert!(matches!(fit::radius(10, 2, f64::NAN), Err(Error::Range { .. })));
    assert!(matches!(PriorBox::new(vec![0.6, 0.6], vec![0.7, 0.7]), Err(Error::Range { .. })));
    assert!(matches!(PriorBox::new(vec![0.2, 0.6], vec![0.1, 0.7]), Err(Error::Range { .. })));
    assert!(matches!(
        Process::listed(vec![2, 2], vec![(vec![0, 2], 1.0)]),
        Err(Error::Range { .. })
    ));
    assert!(matches!(Process::listed(vec![2, 2], vec![(vec![0], 1.0)]), Err(Error::Size { .. })));
    assert!(matches!(Process::constant(&p, 0), Err(Error::Empty { .. })));
    let process = Process::constant(&p, 2).unwrap();
    let same = [Channel::identity(3).unwrap(), Channel::identity(3).unwrap()];
    assert!(matches!(sequence::posterior(&process, &same, &[0, 1]), Err(Error::Other { .. })));
    assert!(matches!(sequence::posterior(&process, &same, &[0, 3]), Err(Error::Range { .. })));
    assert!(sequence::leakage(&process, &same).unwrap().sequence.min_lift.is_infinite());
}

#[test]
fn zero_mass_symbols_have_a_stated_meaning() {
    let (from, to) = (prior(&[0.5, 0.5, 0.0]), prior(&[0.4, 0.4, 0.2]));
    let answer = transfer(&from, &to, lip(1.0)).unwrap();
    assert!(answer.eta.is_infinite() && answer.ratio.is_infinite());
    assert_eq!(answer.published, 2.0);
    assert!(answer.exact > 1.0 && answer.exact <= 2.0, "{answer:?}");
    // Nothing released, nothing leaked, also about a symbol the prior does not know.
    let nothing = LiftRange::asymmetric(0.0, 1.0).unwrap();
    assert_eq!(worst_case(&from, &[nothing; 3]).unwrap().leakage, 0.0);
    assert_eq!(transfer(&from, &to, nothing).unwrap().exact, 0.0);
    // A zero-mass symbol is held to the promise and can be raised and lowered freely.
    let worst = worst_case(&from, &[lip(1.0); 2]).unwrap();
    let channels = worst.channels(&[lip(1.0); 2]).unwrap();
    assert!((given(&from, &channels).unwrap().lip() - worst.leakage).abs() < 1e-12);
    assert!(worst.leakage <= composition::published(0.0, &[lip(1.0); 2]).unwrap());
}
