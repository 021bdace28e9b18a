//! Blocks: what is enumerated over all of them, and what a survey of many symbols gives.

use undertone_core::{
    Alphabet, Claim, Context, Draft, Family, Geometry, Incidence, Listed, MASS_ONE, Policy,
    Provenance, Shape, Subsets, Token,
};
use undertone_estimate::regress::{Variable, Variables};
use undertone_estimate::{
    BitsFold, Error, Estimator, Evidence, EvidenceBuilder, Method, Pool, Settings, Tally, Target,
};
use undertone_numeric::dice::draw;
use undertone_testkit::claim::epsilon;
use undertone_testkit::dice::Dice;
use undertone_testkit::policy::{loose, table};
use undertone_testkit::respondents::multinomial;
use undertone_testkit::spec::known;

use crate::crosstab::crosstab;
use crate::regress::{regression, simple};

/// The best coin for e^ε, a little below so that rounding does not matter.
fn coin(symbols: usize, family: &Family, level: f64) -> u64 {
    let probe = Incidence::new(symbols, MASS_ONE / 2, family.clone()).unwrap();
    // How many blocks of either kind there are, as a ratio.
    let (inside, outside) = match family {
        Family::Subsets(subsets) => (subsets.size(), symbols - subsets.size()),
        _ => {
            let each = probe.replication().unwrap();
            (each, probe.blocks().unwrap() - each)
        }
    };
    let odds = level.exp() * (1.0 - 1e-7) * inside as f64 / outside as f64;
    (odds / (1.0 + odds) * MASS_ONE as f64) as u64
}

/// A verified policy at a level such as "1".
pub(crate) fn policy(symbols: usize, family: Family, level: &str, context: Context) -> Policy {
    named(Alphabet::indices(symbols).unwrap(), family, level, context)
}

fn named(inputs: Alphabet, family: Family, level: &str, context: Context) -> Policy {
    let symbols = inputs.len();
    let coin = coin(symbols, &family, level.parse().unwrap());
    let shape = Shape::Incidence(Incidence::new(symbols, coin, family).unwrap());
    let claims = vec![Claim::ldp(epsilon(level))];
    let draft = Draft::new(inputs, None, shape, context, claims, Provenance::default()).unwrap();
    draft.verify().unwrap()
}

pub(crate) fn geometry(
    order: u32,
    dimension: u32,
    classes: u32,
    cosets: u32,
    zero: bool,
) -> Family {
    Family::Geometry(Geometry::new(order, dimension, classes, cosets, zero).unwrap())
}

pub(crate) fn subsets(size: usize) -> Family {
    Family::Subsets(Subsets::new(size))
}

fn fano() -> Vec<Vec<u32>> {
    [[0, 1, 2], [0, 3, 4], [0, 5, 6], [1, 3, 5], [1, 4, 6], [2, 3, 6], [2, 4, 5]]
        .map(|block| block.to_vec())
        .to_vec()
}

/// Small members of every family, whole and cut off.
fn small() -> Vec<(&'static str, usize, Family)> {
    vec![
        ("plane", 7, geometry(2, 3, 1, 0, true)),
        ("part of a plane", 5, geometry(2, 3, 1, 0, true)),
        ("plane of order 3", 13, geometry(3, 3, 1, 0, true)),
        ("fractions", 6, geometry(5, 2, 2, 1, false)),
        ("complements", 7, geometry(2, 3, 1, 1, false)),
        ("hashing", 9, Family::Geometry(Geometry::hashing(3, 2).unwrap())),
        ("list", 7, Family::Listed(Listed::new(7, &fano()).unwrap())),
        (
            "uneven list",
            4,
            Family::Listed(
                Listed::new(4, &[vec![0, 1], vec![1, 2], vec![2, 3], vec![0, 3]]).unwrap(),
            ),
        ),
        ("subsets", 5, subsets(2)),
        ("pairs of a symbol", 6, subsets(1)),
        ("all but one", 5, subsets(4)),
        ("one of two", 2, subsets(1)),
    ]
}

fn incidence(policy: &Policy) -> &Incidence {
    let Shape::Incidence(incidence) = policy.draft().shape() else { panic!("blocks") };
    incidence
}

/// Every report a policy can give, with its probability given every symbol, from what blocks contain.
pub(crate) fn reports(policy: &Policy) -> Vec<(Token, Vec<f64>)> {
    let blocks = incidence(policy);
    let symbols = blocks.symbols();
    let sets: Vec<(Token, Vec<bool>)> = match blocks.family() {
        Family::Subsets(subsets) => (0u32..1 << symbols)
            .filter(|set| set.count_ones() as usize == subsets.size())
            .map(|set| {
                let has: Vec<bool> = (0..symbols).map(|z| set >> z & 1 == 1).collect();
                let mut row = vec![0u8; symbols.div_ceil(8)];
                (0..symbols).filter(|&z| has[z]).for_each(|z| row[z / 8] |= 0x80 >> (z % 8));
                (Token::Bits(row.into()), has)
            })
            .collect(),
        _ => (0..blocks.blocks().unwrap() as u32)
            .map(|block| {
                let has = (0..symbols as u32).map(|z| blocks.contains(block, z)).collect();
                (Token::Index(block), has)
            })
            .collect(),
    };
    let coin = blocks.coin() as f64 / MASS_ONE as f64;
    let each = |x: usize| sets.iter().filter(|(_, has)| has[x]).count() as f64;
    let all = sets.len() as f64;
    let counts: Vec<f64> = (0..symbols).map(each).collect();
    sets.iter()
        .map(|(token, has)| {
            let given =
                |x: usize| if has[x] { coin / counts[x] } else { (1.0 - coin) / (all - counts[x]) };
            (token.clone(), (0..symbols).map(given).collect())
        })
        .collect()
}

fn tally(policy: &Policy, tokens: &[(&Token, u64)]) -> Tally {
    let mut tally = Tally::new(policy);
    for (token, count) in tokens {
        (0..*count).for_each(|_| tally.add(token).unwrap());
    }
    tally
}

fn estimator(policy: &Policy, tally: Tally, settings: Settings) -> Estimator {
    Estimator::new(Pool::new(policy, tally).unwrap(), settings).unwrap()
}

#[test]
fn statistics_are_unbiased_for_every_family() {
    for (name, symbols, family) in small() {
        let policy = policy(symbols, family, "1", Context::Unknown);
        let mut means = vec![vec![0.0; symbols]; symbols];
        for (token, chances) in reports(&policy) {
            let statistics =
                estimator(&policy, tally(&policy, &[(&token, 1)]), Settings::default())
                    .statistics();
            for (mean, chance) in means.iter_mut().zip(&chances) {
                mean.iter_mut().zip(&statistics).for_each(|(mean, s)| *mean += chance * s);
            }
        }
        // An uneven list tells only some sums of shares apart.
        if name == "uneven list" {
            continue;
        }
        for (x, mean) in means.iter().enumerate() {
            for (z, mean) in mean.iter().enumerate() {
                let expected = f64::from(u8::from(x == z));
                assert!((mean - expected).abs() < 1e-12, "{name}: {x} {z}: {mean}");
            }
        }
    }
}

#[test]
fn covariances_are_those_of_all_blocks() {
    for (name, symbols, family) in small() {
        if name == "uneven list" {
            continue;
        }
        let policy = policy(symbols, family, "1", Context::Unknown);
        let all = reports(&policy);
        let one = |token: &Token| {
            estimator(&policy, tally(&policy, &[(token, 1)]), Settings::default()).statistics()
        };
        let statistics: Vec<Vec<f64>> = all.iter().map(|(token, _)| one(token)).collect();
        // Four reports, for a population in the middle.
        let seen: Vec<(&Token, u64)> =
            all.iter().step_by((all.len() / 3).max(1)).map(|(token, _)| (token, 1)).collect();
        let n: u64 = seen.iter().map(|(_, count)| count).sum();
        for settings in [Settings::default(), Settings::default().of_respondents()] {
            let target = settings.target();
            let estimator = estimator(&policy, tally(&policy, &seen), settings);
            let p = onto_simplex(&estimator.statistics());
            let found = estimator.covariance().unwrap();
            let mut expected = vec![vec![0.0; symbols]; symbols];
            for (x, p_x) in p.iter().enumerate() {
                for ((_, chances), s) in all.iter().zip(&statistics) {
                    for a in 0..symbols {
                        for b in 0..symbols {
                            let centre = |z: usize| match target {
                                Target::Population => p[z],
                                Target::Respondents => f64::from(u8::from(x == z)),
                            };
                            expected[a][b] +=
                                p_x * chances[x] * (s[a] - centre(a)) * (s[b] - centre(b))
                                    / n as f64;
                        }
                    }
                }
            }
            for a in 0..symbols {
                for b in 0..symbols {
                    let (found, expected) = (found[a][b], expected[a][b]);
                    assert!(
                        (found - expected).abs() < 1e-11,
                        "{name} {target:?} {a} {b}: {found} {expected}"
                    );
                }
            }
            // A sum of several symbols; what is common to all values needs no blocks.
            let mut values: Vec<f64> = (0..symbols).map(|z| (z as f64 * 1.7).sin()).collect();
            let common = values.iter().sum::<f64>() / symbols as f64;
            values.iter_mut().for_each(|value| *value -= common);
            let variance: f64 = (0..symbols)
                .flat_map(|a| (0..symbols).map(move |b| (a, b)))
                .map(|(a, b)| values[a] * expected[a][b] * values[b])
                .sum();
            let answer = estimator.linear(Method::Unbiased, &values).unwrap();
            let error = answer.estimate.standard_error.unwrap();
            assert!(
                (error - variance.sqrt()).abs() < 1e-10,
                "{name} {target:?}: {error} {variance}"
            );
        }
    }
}

/// The population nearest to statistics that sum to one, as the estimator has it.
fn onto_simplex(values: &[f64]) -> Vec<f64> {
    let (mut low, mut high) = (-2.0 + values.iter().copied().fold(f64::INFINITY, f64::min), 1e3);
    for _ in 0..200 {
        let level = 0.5 * (low + high);
        let sum: f64 = values.iter().map(|value| (value - level).max(0.0)).sum();
        if sum > 1.0 { low = level } else { high = level }
    }
    values.iter().map(|value| (value - low).max(0.0)).collect()
}

/// The log-likelihood of counts of reports.
fn log_likelihood(all: &[(Token, Vec<f64>)], counts: &[u64], p: &[f64]) -> f64 {
    let law = |chances: &[f64]| -> f64 { chances.iter().zip(p).map(|(c, p)| c * p).sum() };
    all.iter().zip(counts).map(|((_, chances), &count)| count as f64 * law(chances).ln()).sum()
}

#[test]
fn the_fit_to_blocks_is_the_maximum_of_the_whole_likelihood() {
    let mut dice = Dice::new(41);
    for (name, symbols, family) in small() {
        let policy = policy(symbols, family, "1", Context::Unknown);
        if incidence(&policy).releases_bits() {
            continue;
        }
        let all = reports(&policy);
        let shares: Vec<f64> = (0..symbols).map(|x| 1.0 / (x + 1) as f64).collect();
        let total: f64 = shares.iter().sum();
        let law: Vec<f64> = all
            .iter()
            .map(|(_, chances)| chances.iter().zip(&shares).map(|(c, p)| c * p / total).sum())
            .collect();
        let counts = multinomial(300, &law, &mut dice);
        let seen: Vec<(&Token, u64)> =
            all.iter().zip(&counts).map(|((token, _), &count)| (token, count)).collect();
        let fit = estimator(&policy, tally(&policy, &seen), Settings::default()).fit().clone();
        assert!(fit.converged && !fit.note.contains("independent"), "{name}: {}", fit.note);
        // Plain steps of expectation maximisation over all cells, and many of them.
        let mut p = vec![1.0 / symbols as f64; symbols];
        for _ in 0..200_000 {
            let mut next = vec![0.0; symbols];
            for ((_, chances), &count) in all.iter().zip(&counts) {
                let law: f64 = chances.iter().zip(&p).map(|(c, p)| c * p).sum();
                for ((next, chance), p) in next.iter_mut().zip(chances).zip(&p) {
                    *next += count as f64 / 300.0 * chance * p / law;
                }
            }
            p = next;
        }
        let (found, best) =
            (log_likelihood(&all, &counts, &fit.shares), log_likelihood(&all, &counts, &p));
        assert!((found - best).abs() < 1e-6 && found > best - 1e-7, "{name}: {found} {best}");
    }
}

#[test]
fn evidence_is_the_likelihood_of_every_block() {
    for (name, symbols, family) in small() {
        let policy = policy(symbols, family, "1", Context::Unknown);
        let mut builder = EvidenceBuilder::of_policy(&policy).unwrap();
        let design = builder.design(&policy).unwrap();
        let all = reports(&policy);
        all.iter().for_each(|(token, _)| builder.push(design, token).unwrap());
        let evidence = builder.finish().unwrap();
        for (row, (_, chances)) in all.iter().enumerate() {
            let code = evidence.codes()[row];
            let factor = evidence.log_factor(code).exp();
            for (found, expected) in evidence.likelihood(code).iter().zip(chances) {
                assert!((found * factor / expected - 1.0).abs() < 1e-12, "{name} {row}");
            }
        }
    }
}

#[test]
fn posteriors_of_blocks_are_added_up() {
    let prior = [0.4, 0.3, 0.1, 0.1, 0.1];
    let exact = |all: &[(Token, Vec<f64>)], counts: &[u64]| {
        let mut sums = [0.0; 5];
        for ((_, chances), &count) in all.iter().zip(counts) {
            let law: f64 = chances.iter().zip(&prior).map(|(c, p)| c * p).sum();
            for x in 0..5 {
                sums[x] += count as f64 * chances[x] * prior[x] / law;
            }
        }
        let reports: u64 = counts.iter().sum();
        sums.map(|sum| sum / reports as f64)
    };
    let plane = policy(5, geometry(2, 3, 1, 0, true), "1", known(&prior));
    let all = reports(&plane);
    let counts: Vec<u64> = (0..all.len() as u64).map(|y| 3 + y * y % 5).collect();
    let seen: Vec<(&Token, u64)> =
        all.iter().zip(&counts).map(|((token, _), &count)| (token, count)).collect();
    let of_plane = estimator(&plane, tally(&plane, &seen), Settings::default());
    let found = of_plane.shares(Method::Mmse).unwrap();
    for (found, expected) in found.symbols.iter().zip(exact(&all, &counts)) {
        assert!((found.value - expected).abs() < 1e-8, "{} {expected}", found.value);
    }
    let pairs = policy(5, subsets(2), "1", known(&prior));
    let all = reports(&pairs);
    let mut fold = BitsFold::new(&pairs).unwrap();
    for (token, _) in &all {
        let Token::Bits(row) = token else { panic!("bits") };
        fold.add_packed_bits(row).unwrap();
    }
    let found = fold.shares(Settings::default()).unwrap();
    for (found, expected) in found.symbols.iter().zip(exact(&all, &vec![1; all.len()])) {
        assert!((found.value - expected).abs() < 1e-8, "{} {expected}", found.value);
    }
    assert!(BitsFold::new(&plane).is_err());
}

/// The statistic of one report against the prior has exactly its degrees of freedom as mean.
#[test]
fn comparisons_with_the_prior_have_the_right_mean() {
    for (name, symbols, family) in small() {
        let prior: Vec<f64> = (0..symbols).map(|x| (x + 1) as f64).collect();
        let total: f64 = prior.iter().sum();
        let prior: Vec<f64> = prior.iter().map(|p| p / total).collect();
        let policy = policy(symbols, family, "1", known(&prior));
        let (mut mean, mut degrees) = (0.0, 0.0);
        for (token, chances) in reports(&policy) {
            let chance: f64 = chances.iter().zip(&prior).map(|(c, p)| c * p).sum();
            let one = estimator(&policy, tally(&policy, &[(&token, 1)]), Settings::default());
            let test = one.drift().unwrap().policies[0].prior.unwrap();
            mean += chance * test.statistic;
            degrees = test.degrees;
        }
        let expected = if name == "one of two" { 1.0 } else { degrees };
        // Priors are rounded to 2^-32.
        assert!((mean - expected).abs() < 1e-5 * expected, "{name}: {mean} {degrees}");
    }
}

#[test]
fn other_orders_of_the_symbols_give_the_same_answers() {
    let names = ["a", "b", "c", "d", "e"];
    let reverse: Vec<&str> = names.iter().rev().copied().collect();
    for (family, settings) in [
        (geometry(2, 3, 1, 0, true), Settings::default()),
        (geometry(2, 3, 1, 0, true), Settings::default().of_respondents()),
        (subsets(2), Settings::default()),
    ] {
        let ahead = named(Alphabet::names(names).unwrap(), family.clone(), "1", Context::Unknown);
        let behind =
            named(Alphabet::names(reverse.clone()).unwrap(), family, "2", Context::Unknown);
        let all = reports(&behind);
        let seen: Vec<(&Token, u64)> =
            all.iter().enumerate().map(|(y, (token, _))| (token, 5 + (y * y % 7) as u64)).collect();
        let tally = tally(&behind, &seen);
        let own = estimator(&behind, tally.clone(), settings);
        let pool = Pool::new(&ahead, Tally::new(&ahead)).unwrap();
        let pool = pool.and(&behind, tally.clone()).unwrap().and(&behind, tally.clone()).unwrap();
        assert!(
            pool.tallies()
                .any(|(id, all)| id == behind.id() && all.reports() == 2 * tally.reports())
        );
        let turned = Estimator::new(pool, settings).unwrap();
        let values = [0.5, -1.0, 2.0, 0.0, 1.0];
        let back: Vec<f64> = values.iter().rev().copied().collect();
        let twice = |own: f64, turned: f64| assert!((own - turned).abs() < 1e-9, "{own} {turned}");
        let mut statistics = own.statistics();
        statistics.reverse();
        statistics.iter().zip(turned.statistics()).for_each(|(a, b)| twice(*a, b));
        let mut shares = own.fit().shares.clone();
        shares.reverse();
        shares.iter().zip(&turned.fit().shares).for_each(|(a, b)| assert!((a - b).abs() < 1e-4));
        let (one, two) = (
            own.linear(Method::Unbiased, &back).unwrap().estimate,
            turned.linear(Method::Unbiased, &values).unwrap().estimate,
        );
        twice(one.value, two.value);
        twice(one.standard_error.unwrap(), two.standard_error.unwrap() * 2f64.sqrt());
    }
}

#[test]
fn tallies_of_blocks_merge_and_refuse() {
    let pairs = policy(5, subsets(2), "1", Context::Unknown);
    let all = reports(&pairs);
    let seen: Vec<(&Token, u64)> = all.iter().map(|(token, _)| (token, 2)).collect();
    let mut whole = tally(&pairs, &seen[..4]);
    whole.merge(&tally(&pairs, &seen[4..])).unwrap();
    assert_eq!(whole, tally(&pairs, &seen));
    assert_eq!(Tally::from_json(&whole.to_json()).unwrap(), whole);
    assert_eq!(whole.counts().iter().sum::<u64>(), 2 * whole.reports());
    // Three bits are no pair, whichever way they come.
    assert!(matches!(whole.add_packed_bits(&[0b1110_0000]), Err(Error::Token { at: 0, .. })));
    assert!(whole.add(&Token::Bits([0b1000_0000].into())).is_err());
    let words = whole.add_bit_counts(2, &[2, 1, 0, 0, 0]).unwrap_err().to_string();
    assert!(words.contains("do not sum to 2 each"), "{words}");
    let forged = whole.to_json().replace("\"set\":2", "\"set\":3");
    assert!(Tally::from_json(&forged).is_err());
    let silent = Tally::from_json(&whole.to_json().replace("\"set\":2,", "")).unwrap();
    assert!(Pool::new(&pairs, silent).is_err());

    let plane = policy(7, geometry(2, 3, 1, 0, true), "1", Context::Unknown);
    let mut blocks = Tally::new(&plane);
    blocks.add_indices(&[0, 6, 3, 3]).unwrap();
    assert!(!blocks.counts_bits() && blocks.add_indices(&[7]).is_err());
    assert_eq!(Tally::from_json(&blocks.to_json()).unwrap(), blocks);
}

#[test]
fn long_lists_with_uneven_pairs_are_refused_in_words() {
    let size = 2100u32;
    let blocks: Vec<Vec<u32>> =
        (0..size).map(|x| if x + 1 < size { vec![x, x + 1] } else { vec![0, x] }).collect();
    let family = Family::Listed(Listed::new(size as usize, &blocks).unwrap());
    let ring = policy(size as usize, family, "1", Context::Unknown);
    let mut tally = Tally::new(&ring);
    tally.add_indices(&[3]).unwrap();
    let words = Pool::new(&ring, tally).unwrap_err().to_string();
    assert!(words.contains("some pairs of symbols are together more often"), "{words}");
}

/// Blocks, and the same channel written out as a table, say the same of rows.
#[test]
fn columns_of_blocks_are_read_like_their_table() {
    let names = ["a", "b", "c", "d"];
    let inputs = Alphabet::names(names).unwrap();
    let blocks = named(inputs.clone(), geometry(2, 3, 1, 0, true), "2", Context::Unknown);
    let all = reports(&blocks);
    let rows: Vec<Vec<f64>> =
        (0..4).map(|x| all.iter().map(|(_, chances)| chances[x]).collect()).collect();
    let written = loose(inputs, Some(Alphabet::indices(7).unwrap()), table(&rows));
    let mut dice = Dice::new(12);
    let (mut tokens, mut clear) = (Vec::new(), Vec::new());
    for row in 0..3000usize {
        let group = row % 2;
        let x = draw(&[[0.4, 0.3, 0.2, 0.1], [0.1, 0.2, 0.2, 0.5]][group], &mut dice);
        tokens.push(draw(&rows[x], &mut dice) as u32);
        clear.push(group as f64);
    }
    let columns = [&blocks, &written].map(|policy| Evidence::randomised(policy, &tokens).unwrap());
    let groups = Evidence::clear(
        vec!["0".into(), "1".into()],
        clear.iter().map(|&group| group as u32).collect(),
    )
    .unwrap();
    let [of_blocks, of_table] =
        columns.each_ref().map(|column| crosstab(&[&groups, column], Method::Mle));
    for (one, other) in of_blocks.cells.iter().zip(&of_table.cells) {
        let (one, other) = (one.share.value.unwrap(), other.share.value.unwrap());
        assert!((one - other).abs() < 1e-5, "{one} {other}");
    }
    let unbiased = crosstab(&[&groups, &columns[0]], Method::Unbiased);
    for (cell, likeliest) in unbiased.cells.iter().zip(&of_blocks.cells) {
        let apart = cell.share.value.unwrap() - likeliest.share.value.unwrap();
        assert!(apart.abs() < 3.0 * cell.share.std_error.unwrap());
    }
    let fitted = columns.map(|evidence| {
        let answer = Variable::Randomised { evidence, values: None };
        let variables = Variables::new().with("answer", answer).unwrap();
        let variables = variables.with("group", Variable::Number(clear.clone())).unwrap();
        regression("answer ~ group").fit(&variables, &simple(&variables)).unwrap()
    });
    for (one, other) in fitted[0].coefficients.iter().zip(&fitted[1].coefficients) {
        assert!((one.estimate - other.estimate).abs() < 1e-6, "{one:?} {other:?}");
        assert!((one.standard_error - other.standard_error).abs() < 1e-6, "{one:?} {other:?}");
    }
    assert!(fitted[0].coefficients.len() == 6);
}
