//! Counting a column, by group.

use std::collections::{BTreeMap, HashMap};

use undertone_core::AlphabetView;
use undertone_design::codebook::{decimal, float};
use undertone_design::found::LONGEST_NAME;

use super::found::too_many;
use super::symbols::{Given, NoSymbol, PriorSymbols};
use crate::Error;
use crate::columns::{Source, UnknownValues};
use crate::error::mention;

/// More distinct values than this are not a categorical column.
const MAX_FOUND: usize = 1 << 20;
/// More groups than this are a mistake.
const MAX_GROUPS: usize = 1 << 16;

/// The name of the symbol, and of the group, for everything else.
pub(super) const OTHER: &str = "other";

/// Counts by group; without group columns there is one group with an empty name.
pub(super) struct Tally {
    pub(super) symbols: Vec<String>,
    /// What the symbols stand for, if they are numbers.
    pub(super) values: Option<Vec<f64>>,
    pub(super) edges: Option<Vec<f64>>,
    pub(super) groups: BTreeMap<Vec<String>, GroupTally>,
    /// Whether the symbols are those that happened to be found.
    pub(super) found: bool,
}

/// One group's counts, by symbol.
#[derive(Default, Clone)]
pub(super) struct GroupTally {
    counts: HashMap<usize, u64>,
    pub(super) rows: u64,
    pub(super) skipped: u64,
    pub(super) below: u64,
    pub(super) above: u64,
    /// The numbers themselves, if they are kept.
    pub(super) numbers: Vec<f64>,
}

/// What is wrong with a value that is too long to be a name; the value itself is not repeated.
fn too_long(value: &str, what: &str) -> String {
    format!("has {} bytes, and the name of a {what} has at most {LONGEST_NAME}", value.len())
}

impl GroupTally {
    /// How often each of `symbols` symbols was seen.
    pub(super) fn counts(&self, symbols: usize) -> Vec<u64> {
        (0..symbols).map(|x| self.counts.get(&x).copied().unwrap_or(0)).collect()
    }

    /// Adds another group's counts.
    pub(super) fn absorb(&mut self, other: &Self) {
        other.counts.iter().for_each(|(&x, count)| *self.counts.entry(x).or_default() += count);
        self.rows += other.rows;
        self.skipped += other.skipped;
        self.below += other.below;
        self.above += other.above;
        self.numbers.extend(&other.numbers);
    }
}

impl Tally {
    /// Counts `column`, one group for every combination of values in the columns `by`. With `keep` the
    /// numbers themselves are kept too.
    pub(super) fn of(
        source: Source,
        column: &str,
        by: &[String],
        symbols: &PriorSymbols,
        unknown: UnknownValues,
        keep: bool,
    ) -> Result<Self, Error> {
        let name_of_source = source.name().to_owned();
        let problem = |problem: String| Error::in_document(&name_of_source, problem);
        let (given, categories) = match symbols {
            PriorSymbols::Found { categories } => (None, *categories),
            PriorSymbols::Given(alphabet) => (Some(&Given::new(alphabet)), false),
        };
        if unknown == UnknownValues::AsOther && given.is_some_and(|given| !given.is_names()) {
            let (points, range) = (mention("points"), mention("range"));
            let problem = format!("other needs named symbols: with {points} or {range} use skip");
            return Err(Error::field("unknown", problem));
        }
        let mut names: Vec<String> = match given {
            Some(given) => (0..given.alphabet.len()).map(|x| given.alphabet.label(x)).collect(),
            None => Vec::new(),
        };
        if unknown == UnknownValues::AsOther && !names.iter().any(|name| name == OTHER) {
            names.push(OTHER.into());
        }
        let mut index: HashMap<String, usize> =
            names.iter().enumerate().map(|(x, name)| (name.clone(), x)).collect();
        let mut groups: BTreeMap<Vec<String>, GroupTally> = BTreeMap::new();
        let wanted: Vec<&str> =
            std::iter::once(column).chain(by.iter().map(String::as_str)).collect();
        let rows = source.each_row(&wanted, |row| {
            let name = |cell: &Option<std::borrow::Cow<'_, str>>| {
                cell.as_deref().unwrap_or("(missing)").to_owned()
            };
            let key: Vec<String> = row.cells[1..].iter().map(name).collect();
            if let Some((value, by)) = key.iter().zip(by).find(|(v, _)| v.len() > LONGEST_NAME) {
                return Err(problem(format!(
                    "{}, column {by:?} {}: {} wants columns with few values",
                    row.place(),
                    too_long(value, "group"),
                    mention("group")
                )));
            }
            if groups.len() >= MAX_GROUPS && !groups.contains_key(&key) {
                return Err(problem(format!(
                    "{} starts group {}: {} wants columns with few values",
                    row.place(),
                    MAX_GROUPS + 1,
                    mention("group")
                )));
            }
            let group = groups.entry(key).or_default();
            group.rows += 1;
            let complaint = match (row.cells[0].as_deref(), given) {
                (None, _) => "is empty or NaN".to_owned(),
                (Some(text), Some(given)) => match given.code(text) {
                    Ok(coded) => {
                        *group.counts.entry(coded.symbol).or_default() += 1;
                        group.below += u64::from(coded.below);
                        group.above += u64::from(coded.above);
                        group.numbers.extend(coded.number.filter(|_| keep));
                        return Ok(());
                    }
                    // What the cell says is somebody's answer and not repeated.
                    Err(NoSymbol::NotANumber) => "is not a number".to_owned(),
                    Err(NoSymbol::Unknown) => "is not one of the symbols".to_owned(),
                },
                (Some(text), None) if text.len() > LONGEST_NAME => too_long(text, "symbol"),
                (Some(text), None) => {
                    let symbol = match index.get(text) {
                        Some(&symbol) => symbol,
                        None if names.len() >= MAX_FOUND => {
                            return Err(problem(format!(
                                "column {column:?} has more than {MAX_FOUND} different values: give {}, or {} and {} for numbers",
                                mention("symbols"),
                                mention("range"),
                                mention("bins")
                            )));
                        }
                        None => {
                            index.insert(text.into(), names.len());
                            names.push(text.into());
                            names.len() - 1
                        }
                    };
                    *group.counts.entry(symbol).or_default() += 1;
                    return Ok(());
                }
            };
            match unknown {
                UnknownValues::Refuse => Err(problem(format!(
                    "{}, column {column:?} {complaint}: mend it, or use {} skip{}",
                    row.place(),
                    mention("unknown"),
                    if given.is_none_or(|given| given.is_names()) { " or other" } else { "" }
                ))),
                UnknownValues::Skip => {
                    group.skipped += 1;
                    Ok(())
                }
                UnknownValues::AsOther => {
                    *group.counts.entry(index[OTHER]).or_default() += 1;
                    Ok(())
                }
            }
        })?;
        if rows == 0 {
            return Err(problem("there are no rows of data".into()));
        }
        if groups.values().all(|group| group.rows == group.skipped) {
            return Err(problem(format!("column {column:?}: every row was skipped")));
        }
        let total = |of: fn(&GroupTally) -> u64| groups.values().map(of).sum::<u64>();
        let (below, above) = (total(|g| g.below), total(|g| g.above));
        if total(|g| g.rows - g.skipped) == below + above {
            return Err(problem(format!(
                "column {column:?}: all {} numbers lie outside the range, {below} below and {above} above it: choose a {} that holds the data",
                below + above,
                mention("range")
            )));
        }
        let floats = |list: &[undertone_core::Decimal]| -> Vec<f64> {
            list.iter().map(|value| float(*value)).collect()
        };
        let (values, edges) = match given.map(|given| given.alphabet.view()) {
            Some(AlphabetView::Points(points)) => (Some(floats(points)), None),
            Some(AlphabetView::Bins { edges, values }) => {
                (Some(floats(values)), Some(floats(edges)))
            }
            _ => (None, None),
        };
        let counted = total(|g| g.rows - g.skipped);
        let mut tally = Self { symbols: names, values, edges, groups, found: given.is_none() };
        if tally.found {
            let own: Vec<String> =
                tally.symbols.iter().filter(|name| *name != OTHER).cloned().collect();
            if let Some(reason) = too_many(&own, counted, categories) {
                return Err(problem(format!("column {column:?}: {reason}")));
            }
            tally.sort();
        }
        Ok(tally)
    }

    /// Puts found symbols in an order that does not depend on the rows': numbers by value, else by
    /// name, "other" last.
    fn sort(&mut self) {
        let numbers: Option<Vec<_>> =
            self.symbols.iter().filter(|name| *name != OTHER).map(|name| decimal(name)).collect();
        let mut order: Vec<usize> = (0..self.symbols.len()).collect();
        order.sort_by(|&a, &b| {
            let (a, b) = (&self.symbols[a], &self.symbols[b]);
            let by_number = if numbers.is_some() {
                decimal(a).cmp(&decimal(b))
            } else {
                std::cmp::Ordering::Equal
            };
            (a == OTHER).cmp(&(b == OTHER)).then(by_number).then(a.cmp(b))
        });
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| place[old] = new);
        self.symbols = order.iter().map(|&old| self.symbols[old].clone()).collect();
        for group in self.groups.values_mut() {
            group.counts = group.counts.drain().map(|(old, count)| (place[old], count)).collect();
        }
        let distinct = |list: &[f64]| list.windows(2).all(|pair| pair[0] < pair[1]);
        if !self.symbols.iter().any(|name| name == OTHER) {
            let values: Option<Vec<f64>> =
                self.symbols.iter().map(|name| decimal(name).map(float)).collect();
            self.values = values.filter(|values| distinct(values));
        }
    }
}
