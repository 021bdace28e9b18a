//! What is measured, on columns whose relation is known.

use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};

use super::*;

/// What columns of texts tell about a question.
fn measured(columns: &[Vec<String>], values: &[u32], symbols: usize) -> Kept {
    let names = (0..columns.len()).map(|at| format!("c{at}")).collect();
    let question = KeptQuestion { name: "q".into(), symbols };
    let watch = KeptWatch::new(names, vec![question]);
    let rows: Vec<usize> = (0..values.len()).collect();
    for (block, rows) in rows.chunks(3000).enumerate() {
        let mut part = watch.part(block as u64);
        for &row in rows {
            let cells =
                || columns.iter().map(|column| KeptCell::of(&column[row])).collect::<Vec<_>>();
            let tuple = tuple_key(cells().into_iter().map(|cell| cell.key));
            part.row(tuple, cells, || vec![values[row]]);
            for (at, column) in columns.iter().enumerate() {
                if column[row] != values[row].to_string() {
                    watch.is_different(at, 0);
                }
            }
        }
        part.end();
    }
    watch.finish().unwrap().remove(0)
}

struct Dice(ChaCha12Rng);

impl Dice {
    fn new(seed: u64) -> Self {
        Self(ChaCha12Rng::seed_from_u64(seed))
    }

    fn below(&mut self, most: u32) -> u32 {
        self.0.next_u32() % most
    }

    fn list(&mut self, rows: usize, most: u32) -> Vec<u32> {
        (0..rows).map(|_| self.below(most)).collect()
    }
}

fn texts(list: &[u32]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

/// The information that two columns seem to share when it is counted on the rows themselves, as a part of the second's entropy.
fn plug_in(a: &[u32], b: &[u32]) -> f64 {
    let entropy = |keys: Vec<(u32, u32)>| {
        let mut counts = std::collections::BTreeMap::new();
        keys.iter().for_each(|key| *counts.entry(*key).or_insert(0.0) += 1.0);
        let n = keys.len() as f64;
        counts.values().map(|count: &f64| -count / n * (count / n).ln()).sum::<f64>()
    };
    let one = |list: &[u32]| entropy(list.iter().map(|x| (*x, 0)).collect());
    let both = entropy(a.iter().copied().zip(b.iter().copied()).collect());
    (one(a) + one(b) - both) / one(b)
}

/// Independent columns, one or two of them, named or numbers: at most one warning in a hundred, where one in forty is what the
/// upper end of the accuracy allows. The plug-in measure sees information in most of them.
#[test]
fn independent_columns_are_not_warned_of() {
    let (mut warned, mut fooled, mut runs) = (0, 0, 0);
    for seed in 0..40 {
        for (rows, cells, symbols) in
            [(200, 50, 2), (200, 5, 2), (500, 50, 5), (2000, 400, 2), (2000, 20, 8)]
        {
            let mut dice = Dice::new(1000 * seed + rows as u64 + u64::from(cells));
            let values = dice.list(rows, symbols);
            let column = dice.list(rows, cells);
            let named: Vec<String> = column.iter().map(|cell| format!("n{cell}")).collect();
            fooled += u32::from(plug_in(&column, &values) > 0.1);
            let coarse = texts(&dice.list(rows, 3));
            for columns in [vec![texts(&column)], vec![named, coarse]] {
                let kept = measured(&columns, &values, symbols as usize);
                let predicts = kept.accuracy_upper > kept.majority + MORE_ACCURATE
                    || kept.log_loss_reduction_upper > MORE_CERTAIN;
                runs += 1;
                warned += u32::from(predicts);
                assert!(kept.log_loss_reduction < 0.05, "{kept:?}");
            }
        }
    }
    assert!(100 * warned <= runs, "{warned} of {runs}");
    assert!(5 * fooled >= 2 * runs / 2, "{fooled} of {}", runs / 2);
}

/// The specification's example: independent columns, 200 rows, 50 cells, plug-in information .351 of the entropy.
#[test]
fn plug_in_information_lies_at_small_n() {
    let mean = (0..50).map(|seed| {
        let mut dice = Dice::new(seed);
        let (a, b) = (dice.list(200, 50), dice.list(200, 10));
        plug_in(&a, &b)
    });
    let mean: f64 = mean.sum::<f64>() / 50.0;
    assert!(mean > 0.3, "{mean}");
}

#[test]
fn a_recoded_column_is_warned_of_whatever_its_codes() {
    for rows in [200, 2000, 30_000] {
        let mut dice = Dice::new(7 + rows as u64);
        let values = dice.list(rows, 16);
        let codes: Vec<String> = values.iter().map(|x| (31 * (x + 5) % 97).to_string()).collect();
        let words: Vec<String> = values.iter().map(|x| format!("school {x}")).collect();
        for column in [codes, words] {
            let kept = measured(&[column], &values, 16);
            assert!(kept.accuracy > 0.99 && kept.majority < 0.12, "{kept:?}");
            assert!(kept.log_loss_reduction > 0.8 && kept.unique < 0.01, "{kept:?}");
            assert_eq!(kept.rows, rows.min(20_000) as u64);
            assert!(kept.warning.unwrap().starts_with("keeping c0 in the clear tells \"q\" apart"));
        }
    }
}

/// A value one in fifty people has: the commonest answer is right for 98 % without looking, so accuracy says little.
#[test]
fn a_rare_value_that_a_column_gives_away_is_warned_of() {
    let mut dice = Dice::new(3);
    let values: Vec<u32> = (0..2000).map(|_| u32::from(dice.below(50) == 0)).collect();
    let drug: Vec<String> =
        values.iter().map(|x| if *x == 1 { "insulin" } else { "none" }.to_owned()).collect();
    let kept = measured(&[drug], &values, 2);
    assert!(kept.accuracy_upper < kept.majority + MORE_ACCURATE, "{kept:?}");
    assert!(kept.log_loss_reduction > 0.8 && kept.warning.is_some(), "{kept:?}");
}

#[test]
fn an_id_predicts_nothing_and_is_warned_of_for_standing_alone() {
    for rows in [200, 5000, 100_000] {
        let mut dice = Dice::new(rows as u64);
        let values = dice.list(rows, 4);
        let ids: Vec<String> =
            (0..rows).map(|row| format!("person {}", row * 7919 % 1_000_003)).collect();
        let kept = measured(&[ids], &values, 4);
        assert_eq!(kept.log_loss_reduction, 0.0, "{kept:?}");
        assert!(kept.accuracy <= kept.majority + 0.02, "{kept:?}");
        // Above 2^16 distinct rows a part of them is counted: a few tenths of a percent.
        assert!(kept.unique > 0.99, "{kept:?}");
        assert!(kept.warning.unwrap().contains("singles out"));
    }
}

/// Nearly unique numbers that go along with a binned one: gross pay beside a salary.
#[test]
fn numbers_are_cut_before_they_predict() {
    let mut dice = Dice::new(11);
    let salaries: Vec<f64> = (0..4000).map(|_| 10_000.0 + f64::from(dice.below(110_000))).collect();
    let bins: Vec<u32> = salaries.iter().map(|x| ((x - 10_000.0) / 10_000.0) as u32).collect();
    let pay: Vec<String> =
        salaries.iter().map(|x| format!("{:.2}", x * 1.1 + f64::from(dice.below(3000)))).collect();
    let kept = measured(&[pay], &bins, 11);
    assert!(kept.accuracy > 0.7 && kept.majority < 0.15 && kept.unique > 0.9, "{kept:?}");
    assert!(kept.log_loss_reduction > 0.5, "{kept:?}");
    // Days, too: a birthday beside an age in years.
    let days = dice.list(4000, 30_000);
    let ages: Vec<u32> = days.iter().map(|day| (81 - day / 372).min(7)).collect();
    let born: Vec<String> = days
        .iter()
        .map(|day| format!("{:04}-{:02}-{:02}", 1940 + day / 372, 1 + day % 372 / 31, 1 + day % 31))
        .collect();
    let kept = measured(&[born], &ages, 8);
    assert!(kept.log_loss_reduction > 0.5, "{kept:?}");
}

/// Two columns that say nothing alone and everything together.
#[test]
fn columns_are_read_together() {
    let mut dice = Dice::new(5);
    let (a, b) = (dice.list(3000, 2), dice.list(3000, 2));
    let values: Vec<u32> = a.iter().zip(&b).map(|(a, b)| a ^ b).collect();
    let alone = measured(&[texts(&a)], &values, 2);
    assert!(alone.warning.is_none(), "{alone:?}");
    let both = measured(&[texts(&a), texts(&b)], &values, 2);
    assert!(both.accuracy > 0.99 && both.warning.is_some(), "{both:?}");
    // Several weak ones, each right in two of three rows.
    let values = dice.list(3000, 2);
    let weak = |dice: &mut Dice| -> Vec<String> {
        values.iter().map(|x| (if dice.below(3) == 0 { 1 - x } else { *x }).to_string()).collect()
    };
    let columns: Vec<Vec<String>> = (0..9).map(|_| weak(&mut dice)).collect();
    let kept = measured(&columns, &values, 2);
    assert!(kept.accuracy > 0.8, "{kept:?}");
}

/// The part that is counted stands for all rows: shares of rows that stand alone, against counting them all.
#[test]
fn rows_that_stand_alone_are_counted_in_all_rows() {
    let mut dice = Dice::new(9);
    for (rows, cells) in [(150_000, 60_000), (150_000, 400_000), (5000, 2000)] {
        let column = dice.list(rows, cells);
        let mut counts = std::collections::HashMap::new();
        column.iter().for_each(|cell| *counts.entry(cell).or_insert(0) += 1);
        let truth = counts.values().filter(|count| **count == 1).count() as f64 / rows as f64;
        let kept = measured(&[texts(&column)], &vec![0; rows], 1);
        // Four standard errors of a sample of at least 2^15 distinct values.
        assert!((kept.unique - truth).abs() < 0.02, "{} {truth}", kept.unique);
    }
}

#[test]
fn a_column_under_another_name_is_refused() {
    let mut dice = Dice::new(2);
    let values = dice.list(50, 3);
    let question = KeptQuestion { name: "q".into(), symbols: 3 };
    let watch = KeptWatch::new(vec!["copy".into()], vec![question]);
    let mut part = watch.part(0);
    for value in &values {
        let cell = KeptCell::of(&value.to_string());
        part.row(tuple_key([cell.key].into_iter()), || vec![cell], || vec![*value]);
    }
    part.end();
    let said = watch.finish().unwrap_err().to_string();
    assert!(said.contains("\"copy\": that column is equal to \"q\""), "{said}");
}

/// Few rows settle nothing, and no rows are no trouble.
#[test]
fn few_rows_are_said_to_be_few() {
    let kept = measured(&[texts(&[0, 0, 1, 1])], &[0, 1, 0, 1], 2);
    assert!(kept.warning.unwrap().contains("4 rows are too few to say"));
    let kept = measured(&[vec![]], &[], 2);
    assert_eq!((kept.rows, kept.accuracy_upper, kept.unique), (0, 1.0, 0.0));
    // A constant can be guessed by anybody.
    let kept = measured(&[texts(&[5; 900])], &[1; 900], 2);
    assert!(kept.warning.is_none() && kept.majority == 1.0, "{kept:?}");
}
