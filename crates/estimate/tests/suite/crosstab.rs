//! Joint shares of several columns, against definitions written out.

use proptest::prelude::*;
use undertone_core::{Alphabet, Bits, Policy, Shape, WEIGHT_ONE};
use undertone_estimate::crosstab::{Independence, IndependenceTest};
use undertone_estimate::{
    Crosstab, CrosstabColumn, Evidence, EvidenceBuilder, Factor, Method, Sample, SampleDesign,
};
use undertone_numeric::dice::{draw, unit};
use undertone_testkit::dice::Dice;
use undertone_testkit::policy::{loose, table};

pub(crate) fn names(size: usize) -> Vec<String> {
    (0..size).map(|x| format!("x{x}")).collect()
}

/// A policy whose channel keeps an answer with so much probability and spreads the rest evenly.
pub(crate) fn krr(size: usize, kept: f64) -> Policy {
    let other = (1.0 - kept) / (size - 1) as f64;
    let row = |x: usize| (0..size).map(|y| if x == y { kept } else { other }).collect();
    let rows: Vec<Vec<f64>> = (0..size).map(row).collect();
    loose(Alphabet::names(names(size)).unwrap(), None, table(&rows))
}

pub(crate) fn crosstab(columns: &[&Evidence], method: Method) -> Crosstab {
    with(columns, &Sample::simple(columns[0].rows()), method)
}

pub(crate) fn with(columns: &[&Evidence], sample: &Sample, method: Method) -> Crosstab {
    let called = ["a", "b", "c"];
    let columns: Vec<CrosstabColumn<'_>> = columns
        .iter()
        .zip(called)
        .map(|(evidence, name)| CrosstabColumn { name, evidence })
        .collect();
    Crosstab::new(&columns, sample, method, 0.95).unwrap()
}

fn values(found: &Crosstab) -> Vec<f64> {
    found.cells.iter().map(|cell| cell.share.value.unwrap()).collect()
}

/// Rows with given counts of every pair of codes.
fn rows(counts: &[&[u32]]) -> [Vec<u32>; 2] {
    let mut columns = [Vec::new(), Vec::new()];
    for (a, row) in counts.iter().enumerate() {
        for (b, &count) in row.iter().enumerate() {
            columns[0].extend(std::iter::repeat_n(a as u32, count as usize));
            columns[1].extend(std::iter::repeat_n(b as u32, count as usize));
        }
    }
    columns
}

#[test]
fn clear_columns_are_counted_and_tested_as_ever() {
    let [a, b] = rows(&[&[10, 20], &[30, 40]]);
    let (a, b) = (Evidence::clear(names(2), a).unwrap(), Evidence::clear(names(2), b).unwrap());
    let found = crosstab(&[&a, &b], Method::Mle);
    assert_eq!(values(&found), [0.1, 0.2, 0.3, 0.4]);
    let [Independence { test, statistic, degrees_of_freedom, p_value, .. }] =
        &found.independence[..]
    else {
        panic!("one pair")
    };
    assert_eq!((*test, *degrees_of_freedom), (IndependenceTest::Pearson, 1.0));
    // n (ad - bc)² over the margins' product; its tail.
    assert!((statistic - 100.0 * 200.0 * 200.0 / (30.0 * 70.0 * 40.0 * 60.0)).abs() < 1e-10);
    assert!((p_value - 0.372_998_5).abs() < 1e-6, "{p_value}");
    // Of 40 in the first group 10, of 60 in the second 20.
    let share = |at: usize| found.conditional[at].share;
    assert_eq!((found.conditional[0].of, &found.conditional[0].given[..]), (0, &[0][..]));
    assert!((share(0).value.unwrap() - 0.25).abs() < 1e-12);
    assert!((share(0).low.unwrap() - 0.141_878).abs() < 1e-5, "Wilson: {:?}", share(0));
    let difference = &found.differences[0];
    assert_eq!(
        (difference.of, &difference.given[..], &difference.reference[..]),
        (0, &[1][..], &[0][..])
    );
    assert!((difference.share.value.unwrap() - (1.0 / 3.0 - 0.25)).abs() < 1e-12);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn square_channels_invert_and_agree_with_maximum_likelihood(
        counts in prop::collection::vec(40..90u32, 6),
        kept in (0.6..0.95f64, 0.6..0.95f64),
    ) {
        let policies = [krr(2, kept.0), krr(3, kept.1)];
        let [first, second] = rows(&[&counts[..3], &counts[3..]]);
        let a = Evidence::randomised(&policies[0], &first).unwrap();
        let b = Evidence::randomised(&policies[1], &second).unwrap();
        let unbiased = crosstab(&[&a, &b], Method::Unbiased);
        // Both inverses written out: (w - other)/(kept - other) per output.
        let n: u32 = counts.iter().sum();
        let inverse = |size: usize, kept: f64, y: usize, x: usize| {
            let other = (1.0 - kept) / (size as f64 - 1.0);
            (f64::from(u8::from(x == y)) - other) / (kept - other)
        };
        let mut raw = Vec::new();
        for x in 0..2 {
            for z in 0..3 {
                let cell: f64 = (0..6).map(|at| {
                    f64::from(counts[at]) * inverse(2, kept.0, at / 3, x) * inverse(3, kept.1, at % 3, z)
                }).sum();
                raw.push(cell / f64::from(n));
            }
        }
        let possible = raw.iter().all(|&cell| cell >= 0.0);
        for (found, raw) in values(&unbiased).iter().zip(&raw) {
            prop_assert!((found - raw.clamp(0.0, 1.0)).abs() < 1e-9, "{found} {raw}");
        }
        let mle = crosstab(&[&a, &b], Method::Mle);
        prop_assert!(mle.fit.as_ref().unwrap().converged);
        if possible {
            for (found, raw) in values(&mle).iter().zip(&raw) {
                prop_assert!((found - raw).abs() < 1e-9);
            }
        }
        // Slow expectation maximisation from the definition.
        let likelihood = |at: usize, x: usize, z: usize| {
            let one = |size: usize, kept: f64, y: usize, x: usize| if x == y { kept } else { (1.0 - kept) / (size as f64 - 1.0) };
            one(2, kept.0, at / 3, x) * one(3, kept.1, at % 3, z)
        };
        let mut p = vec![1.0 / 6.0; 6];
        for _ in 0..4000 {
            let mut next = [0.0; 6];
            for (at, &count) in counts.iter().enumerate() {
                let law: f64 = (0..6).map(|c| p[c] * likelihood(at, c / 3, c % 3)).sum();
                (0..6).for_each(|c| next[c] += f64::from(count) * p[c] * likelihood(at, c / 3, c % 3) / law);
            }
            p = next.iter().map(|sum| sum / f64::from(n)).collect();
        }
        let log = |p: &[f64]| (0..6).map(|at| {
            f64::from(counts[at]) * (0..6).map(|c| p[c] * likelihood(at, c / 3, c % 3)).sum::<f64>().ln()
        }).sum::<f64>();
        let top = mle.fit.as_ref().unwrap().log_likelihood;
        prop_assert!(top >= log(&p) - 1e-6 && (top - log(&values(&mle))).abs() < 1e-7);
    }
}

#[test]
fn a_singular_channel_leaves_cells_without_numbers() {
    // Nobody can tell x1 from x2.
    let same = vec![vec![0.8, 0.1, 0.1], vec![0.1, 0.45, 0.45], vec![0.1, 0.45, 0.45]];
    let policy = loose(Alphabet::names(names(3)).unwrap(), None, table(&same));
    let reports: Vec<u32> = (0..600).map(|row| row % 3).collect();
    let groups: Vec<u32> = (0..600).map(|row| row / 300).collect();
    let a = Evidence::randomised(&policy, &reports).unwrap();
    let b = Evidence::clear(names(2), groups).unwrap();
    for method in [Method::Mle, Method::Unbiased] {
        let found = crosstab(&[&a, &b], method);
        let known: Vec<bool> = found.cells.iter().map(|cell| cell.share.value.is_some()).collect();
        assert_eq!(known, [true, true, false, false, false, false]);
        let note =
            "The reports of a do not determine the share of x1, x2: cells with it have no number.";
        assert_eq!(found.notes[0], note);
        assert!(found.conditional.iter().all(|share| share.share.value.is_none()));
        let json = serde_json::to_value(&found).unwrap();
        assert!(json["cells"][2]["value"].is_null());
    }
}

/// A survey of rows whose true cells are drawn from a joint law.
pub(crate) fn survey(
    law: &[f64],
    sizes: &[usize],
    policies: &[Option<&Policy>],
    rows: usize,
    dice: &mut Dice,
) -> Vec<Evidence> {
    let mut builders: Vec<EvidenceBuilder> =
        sizes.iter().map(|&size| EvidenceBuilder::new(names(size)).unwrap()).collect();
    let designs: Vec<_> = builders
        .iter_mut()
        .zip(policies)
        .map(|(builder, policy)| match policy {
            Some(policy) => builder.design(policy).unwrap(),
            None => builder.clear(),
        })
        .collect();
    for _ in 0..rows {
        let mut cell = draw(law, dice);
        for at in (0..sizes.len()).rev() {
            let x = cell % sizes[at];
            cell /= sizes[at];
            push(&mut builders[at], designs[at], policies[at], x, dice);
        }
    }
    builders.into_iter().map(|builder| builder.finish().unwrap()).collect()
}

pub(crate) fn push(
    builder: &mut EvidenceBuilder,
    design: undertone_estimate::DesignId,
    policy: Option<&Policy>,
    x: usize,
    dice: &mut Dice,
) {
    let Some(policy) = policy else { return builder.push_index(design, x as u32).unwrap() };
    match policy.draft().shape() {
        Shape::Bits(bits) => {
            let size = bits.symbols();
            let mut row = vec![0u8; size.div_ceil(8)];
            for bit in 0..size {
                let units = if bit == x { bits.own() } else { bits.other() };
                if unit(dice) < units as f64 / WEIGHT_ONE as f64 {
                    row[bit / 8] |= 0x80 >> (bit % 8);
                }
            }
            builder.push_bits(design, &row).unwrap();
        }
        shape => {
            let output = draw(&undertone_testkit::policy::row(shape, x), dice);
            builder.push_index(design, output as u32).unwrap();
        }
    }
}

#[test]
fn rows_of_bits_give_the_joint_shares() {
    let bits = Bits::new(3, WEIGHT_ONE / 2, WEIGHT_ONE / 5).unwrap();
    let policy = loose(Alphabet::names(names(3)).unwrap(), None, Shape::Bits(bits));
    let law = [0.3, 0.05, 0.15, 0.1, 0.25, 0.15];
    let mut dice = Dice::new(3);
    let columns = survey(&law, &[2, 3], &[None, Some(&policy)], 60_000, &mut dice);
    for method in [Method::Mle, Method::Unbiased] {
        let found = crosstab(&[&columns[0], &columns[1]], method);
        for (cell, truth) in found.cells.iter().zip(law) {
            // Six intervals at 95 %, widened to four standard errors: one seed in 2,600 would fail.
            let (value, error) = (cell.share.value.unwrap(), cell.share.std_error.unwrap());
            assert!((value - truth).abs() < 4.0 * error && error < 0.006, "{cell:?}");
        }
        assert!(found.independence[0].p_value < 1e-6);
    }
}

#[test]
fn equal_weights_change_nothing_and_clusters_widen() {
    let policy = krr(2, 0.75);
    let mut dice = Dice::new(8);
    let columns = survey(&[0.3, 0.2, 0.1, 0.4], &[2, 2], &[Some(&policy), None], 900, &mut dice);
    let columns: Vec<&Evidence> = columns.iter().collect();
    let plain = crosstab(&columns, Method::Mle);
    let design = |weights: Option<Vec<f64>>, clusters| SampleDesign {
        weights,
        clusters,
        ..Default::default()
    };
    let equal = Sample::new(900, design(Some(vec![2.5; 900]), None)).unwrap();
    let weighed = with(&columns, &equal, Method::Mle);
    assert_eq!(weighed, plain);
    // Strata that nobody was drawn from differently: another test, nearly the same numbers.
    let halves = Factor::new(names(2), (0..900).map(|row| row % 2).collect()).unwrap();
    let halves = SampleDesign { strata: Some(halves), ..Default::default() };
    let stratified = with(&columns, &Sample::new(900, halves).unwrap(), Method::Mle);
    for (a, b) in plain.cells.iter().zip(&stratified.cells) {
        assert!((a.share.value.unwrap() - b.share.value.unwrap()).abs() < 1e-9);
        assert!((b.share.design_effect.unwrap() - 1.0).abs() < 0.02);
        assert!((a.share.high.unwrap() / b.share.high.unwrap() - 1.0).abs() < 0.02);
    }
    assert_eq!(stratified.independence[0].test, IndependenceTest::RaoScott);
    let [a, b] = [&plain, &stratified].map(|table| table.independence[0].statistic);
    assert!((a / b - 1.0).abs() < 0.05, "{a} {b}");
    // The same rows, three times each, are no more people.
    let thrice = |column: &Evidence, policy: Option<&Policy>| {
        let mut builder = EvidenceBuilder::new(names(2)).unwrap();
        let design = match policy {
            Some(policy) => builder.design(policy).unwrap(),
            None => builder.clear(),
        };
        for &code in column.codes() {
            let likely = column.likelihood(code);
            let symbol = u32::from(likely[1] > likely[0]);
            (0..3).for_each(|_| builder.push_index(design, symbol).unwrap());
        }
        builder.finish().unwrap()
    };
    let tripled = [thrice(columns[0], Some(&policy)), thrice(columns[1], None)];
    let owners = Factor::new(names(900), (0..2700).map(|row| row / 3).collect()).unwrap();
    let clustered = Sample::new(2700, design(None, Some(owners))).unwrap();
    let found = with(&[&tripled[0], &tripled[1]], &clustered, Method::Mle);
    for (a, b) in plain.cells.iter().zip(&found.cells) {
        assert!((b.share.design_effect.unwrap() - 3.0).abs() < 0.02, "{b:?}");
        assert!((a.share.std_error.unwrap() / b.share.std_error.unwrap() - 1.0).abs() < 0.06);
    }
}

/// What the perturbation alone makes is known, however alike a few rows or clusters happen to be.
#[test]
fn no_design_makes_an_interval_narrower_than_the_perturbation() {
    let policy = krr(2, 0.75);
    // V(score) where everybody's answer is the first: p(1-p)/(2p-1)².
    let least = |rows: f64| (0.75 * 0.25 / 0.25 / rows).sqrt();
    let clusters = |sizes: &[usize]| {
        let codes = sizes.iter().zip(0..).flat_map(|(&size, code)| std::iter::repeat_n(code, size));
        Some(Factor::new(names(sizes.len()), codes.collect()).unwrap())
    };
    let alike = Evidence::randomised(&policy, &[0; 3]).unwrap();
    let mixed: Vec<u32> = (0..40).map(|row| u32::from(row % 4 == 0)).collect();
    let mixed = Evidence::randomised(&policy, &mixed).unwrap();
    for (evidence, sizes) in [(&alike, vec![1; 3]), (&mixed, vec![4; 10]), (&mixed, vec![36, 4])] {
        let design = SampleDesign { clusters: clusters(&sizes), ..Default::default() };
        let rows = evidence.rows();
        let found = with(&[evidence], &Sample::new(rows, design).unwrap(), Method::Unbiased);
        let least = least(rows as f64);
        for cell in &found.cells {
            let share = cell.share;
            assert!(share.std_error.unwrap() >= 0.999 * least, "{sizes:?}: {share:?}");
            assert!(share.high.unwrap() - share.low.unwrap() > least / 2.0, "{sizes:?}: {share:?}");
        }
    }
}

#[test]
fn three_columns_and_ten_thousand_rows() {
    let policy = krr(2, 0.8);
    let law = [0.2, 0.1, 0.05, 0.15, 0.1, 0.1, 0.2, 0.1];
    let mut dice = Dice::new(4);
    let columns =
        survey(&law, &[2, 2, 2], &[Some(&policy), None, Some(&policy)], 20_000, &mut dice);
    let columns: Vec<&Evidence> = columns.iter().collect();
    let found = crosstab(&columns, Method::Mle);
    assert_eq!((found.cells.len(), found.conditional.len(), found.differences.len()), (8, 8, 6));
    assert_eq!(found.independence.len(), 3);
    for (cell, truth) in found.cells.iter().zip(law) {
        let (value, error) = (cell.share.value.unwrap(), cell.share.std_error.unwrap());
        assert!((value - truth).abs() < 4.0 * error && error < 0.015, "{cell:?}");
    }
}

/// How often a test at 5 % finds something where there is nothing.
fn size_of_test(
    surveys: usize,
    expect: fn(&IndependenceTest) -> bool,
    make: impl Fn(&mut Dice) -> (Vec<Evidence>, Sample),
) -> f64 {
    let mut dice = Dice::new(77);
    let mut rejected = 0;
    for _ in 0..surveys {
        let (columns, sample) = make(&mut dice);
        let found = with(&[&columns[0], &columns[1]], &sample, Method::Unbiased);
        assert!(expect(&found.independence[0].test), "{:?}", found.independence[0]);
        rejected += usize::from(found.independence[0].p_value < 0.05);
    }
    rejected as f64 / surveys as f64
}

#[test]
fn tests_of_independence_have_their_size() {
    // 0.05 ± 4 standard errors of 600 surveys: one seed in 16,000 would fail.
    let near = |name: &str, found: f64| {
        eprintln!("{name}: {found:.4}");
        assert!((found - 0.05).abs() < 4.0 * (0.05f64 * 0.95 / 600.0).sqrt(), "{name}: {found}");
    };
    let (two, three) = (krr(2, 0.731), krr(3, 0.576));
    let law: Vec<f64> = [0.3, 0.7].iter().flat_map(|a| [0.5, 0.3, 0.2].map(|b| a * b)).collect();
    let randomised = [Some(&two), Some(&three)];
    near(
        "Pearson, n = 500",
        size_of_test(
            600,
            |test| *test == IndependenceTest::Pearson,
            |dice| (survey(&law, &[2, 3], &randomised, 500, dice), Sample::simple(500)),
        ),
    );
    near(
        "permutation, n = 24",
        size_of_test(
            600,
            |test| matches!(test, IndependenceTest::Permutation { .. }),
            |dice| (survey(&law, &[2, 3], &randomised, 24, dice), Sample::simple(24)),
        ),
    );
    near(
        "Rao-Scott, 100 clusters of 6 that answer alike",
        size_of_test(
            600,
            |test| *test == IndependenceTest::RaoScott,
            |dice| {
                let mut builders = [2, 3].map(|size| EvidenceBuilder::new(names(size)).unwrap());
                let designs =
                    [builders[0].design(&two).unwrap(), builders[1].design(&three).unwrap()];
                for _ in 0..100 {
                    // Two of three people have the cluster's own answers, which are independent of each other.
                    let own = [draw(&[0.3, 0.7], dice), draw(&[0.5, 0.3, 0.2], dice)];
                    for _ in 0..6 {
                        let other = [draw(&[0.3, 0.7], dice), draw(&[0.5, 0.3, 0.2], dice)];
                        let answers = if unit(dice) < 2.0 / 3.0 { own } else { other };
                        push(&mut builders[0], designs[0], Some(&two), answers[0], dice);
                        push(&mut builders[1], designs[1], Some(&three), answers[1], dice);
                    }
                }
                let clusters =
                    Factor::new(names(100), (0..600).map(|row| row / 6).collect()).unwrap();
                let design = SampleDesign { clusters: Some(clusters), ..Default::default() };
                let columns =
                    builders.into_iter().map(|builder| builder.finish().unwrap()).collect();
                (columns, Sample::new(600, design).unwrap())
            },
        ),
    );
}

#[test]
fn one_column_has_its_shares() {
    let policy = krr(2, 0.75);
    let a = Evidence::randomised(&policy, &[vec![0; 60], vec![1; 40]].concat()).unwrap();
    let found = crosstab(&[&a], Method::Unbiased);
    // (0.6 - 0.25)/0.5.
    assert!((found.cells[0].share.value.unwrap() - 0.7).abs() < 1e-12);
    let [low, high] = [found.cells[0].share.low.unwrap(), found.cells[0].share.high.unwrap()];
    // Wilson's interval of 60 in 100, moved through the channel.
    let back = |end: f64| (end - 0.25) / 0.5;
    assert!(
        (low - back(0.502_003)).abs() < 1e-5 && (high - back(0.690_599)).abs() < 1e-5,
        "{low} {high}"
    );
    assert_eq!((found.margins.len(), found.conditional.len(), found.independence.len()), (1, 0, 0));
}

#[test]
fn what_cannot_be_tabulated_is_refused_in_words() {
    let a = Evidence::clear(names(2), vec![0, 1]).unwrap();
    let wide = Evidence::clear(names(600), vec![0, 1]).unwrap();
    let columns = |list: &[&Evidence]| -> String {
        let columns: Vec<CrosstabColumn<'_>> =
            list.iter().map(|evidence| CrosstabColumn { name: "a", evidence }).collect();
        Crosstab::new(&columns, &Sample::simple(2), Method::Mle, 0.95).unwrap_err().to_string()
    };
    assert_eq!(columns(&[&a; 4]), "a cross-table: 4 columns: give one, two or three");
    assert!(columns(&[&a, &wide]).contains("1200 cells, above the 1024 supported"));
}
