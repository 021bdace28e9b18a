//! Which values found in data may become the symbols of a prior.
//!
//! A prior is public: it travels in every policy made from it. Where nearly every row has a value of its
//! own, a list of the values found is the data, and numbers that were measured are best put in bins. What may
//! be published is then for a person to say, by a range with bins or by a list of symbols.

use undertone_design::codebook::{decimal, float};

use crate::Error;
use crate::error::mention;

/// More different numbers than this are measurements rather than categories, unless somebody says so.
const MOST_NUMBERS: usize = 64;

/// With fewer rows than this for every different value, on average, a list of the values is the data.
const ROWS_PER_VALUE: u64 = 5;

/// So few values are no list of the data if they are texts, or whole numbers close together: a scale.
const FEW: usize = 10;

/// Whole numbers that lie less than this apart may be a scale.
const SCALE: f64 = 64.0;

/// Refuses the different values found in `rows` rows if they are too many to be published as symbols: more than 64
/// numbers that nobody has said are `categories`, or fewer than 5 rows for each, unless they are 10 at most and texts or
/// a scale.
pub fn check_found(values: &[String], rows: u64, categories: bool) -> Result<(), Error> {
    too_many(values, rows, categories).map_or(Ok(()), |problem| Err(Error::input(problem)))
}

/// Why values found in data cannot be published as symbols, if they cannot.
pub(super) fn too_many(values: &[String], rows: u64, categories: bool) -> Option<String> {
    let numbers: Vec<f64> = values.iter().filter_map(|value| decimal(value).map(float)).collect();
    let all_numbers = numbers.len() == values.len();
    let few = values.len() <= FEW && (!all_numbers || is_scale(&numbers));
    let sparse = values.len() as u64 * ROWS_PER_VALUE > rows && !few;
    if !sparse && (categories || numbers.len() <= MOST_NUMBERS) {
        return None;
    }
    let what = match (sparse, all_numbers) {
        (true, false) => format!("{} different values in {rows} rows", values.len()),
        _ => format!("{} different numbers in {rows} rows", numbers.len()),
    };
    let [range, bins, points] = ["range", "bins", "points"].map(mention);
    let fix = match (sparse, all_numbers) {
        (true, true) => {
            format!("give {range} and {bins}, or list the numbers that may be public with {points}")
        }
        (true, false) => format!(
            "list the symbols that may be public with {}, and use {} skip or other for the rest",
            mention("symbols"),
            mention("unknown")
        ),
        (false, _) => format!(
            "give {range} and {bins}, or {points}; if they are codes such as postcodes, use {}",
            mention("categories")
        ),
    };
    Some(format!(
        "{what}: each would become a symbol, and a prior is public, so that it would hold the data: {fix}"
    ))
}

/// Whole numbers close together.
fn is_scale(numbers: &[f64]) -> bool {
    let (least, most) =
        numbers.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
    numbers.iter().all(|number| number.fract() == 0.0) && most - least < SCALE
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn said(values: impl IntoIterator<Item = String>, rows: u64, categories: bool) -> String {
        let values: Vec<String> = values.into_iter().collect();
        check_found(&values, rows, categories).map_or_else(|e| e.to_string(), |()| String::new())
    }

    #[test]
    fn what_is_the_data_is_no_list_of_symbols() {
        let whole = |count: usize| (0..count).map(|at| at.to_string());
        let texts = |count: usize| (0..count).map(|at| format!("answer {at}"));
        let odd = |count: usize| (0..count).map(|at| format!("{}.25", 1000 * at));
        // A scale and a few texts, however few the rows; categories with rows to spare.
        for good in [
            said(whole(5), 5, false),
            said(whole(10), 10, false),
            said(whole(64), 320, false),
            said(odd(4), 20, false),
            said(texts(10), 10, false),
            said(texts(100), 500, false),
            said(whole(1000), 5000, true),
        ] {
            assert_eq!(good, "");
        }
        // One more each.
        assert!(said(whole(11), 54, false).starts_with("11 different numbers in 54 rows"));
        assert!(said(whole(64), 319, false).contains("range and bins"));
        assert!(said(whole(65), 5000, false).contains("use categories"));
        assert!(said(odd(4), 19, false).contains("with points"));
        assert!(said(texts(11), 54, false).starts_with("11 different values in 54 rows"));
        assert!(said(texts(11), 54, false).contains("with symbols"));
        assert!(said(whole(1000), 4999, true).contains("1000 different numbers in 4999 rows"));
        // A word among measurements does not make them categories.
        assert!(said(odd(65).chain(texts(1)), 10_000, false).starts_with("65 different numbers"));
        let far = ["0".to_owned(), "64".to_owned()];
        assert!(said(far, 9, false).starts_with("2 different numbers"));
    }
}
