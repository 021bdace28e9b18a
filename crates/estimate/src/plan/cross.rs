//! Which answers of one person go together: counts of combinations.

use crate::Error;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use undertone_core::{Object, Policy, Token};

/// How often combinations of two or three items' answers were seen, among the responses that have all of these items.
///
/// Every item has *events*. The events of an item that releases one output are its outputs, and each response has
/// one of them. The events of an item that releases bits are its bits, of which a response has those that are
/// set, and one more behind them that every response has. A cell counts the responses that have one given event of every
/// item: with bits i and j, how often both were set; with the last event in the place of one, how often the other was; with
/// both last, how many responses there were. A score that is linear in one item's events times another's is so linear
/// in the cells, which is what the product of the items' inverses needs.
///
/// Counts are integers and cells that were never seen are not kept where there could be many, so merging in any order gives the same.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CrossTally {
    items: Vec<u32>,
    axes: Vec<CrossAxis>,
    reports: u64,
    cells: Cells,
}

/// What one item contributes to the cells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CrossAxis {
    /// One of so many outputs.
    Outputs(u32),
    /// So many bits, and behind them the event that always happens.
    Bits(u32),
}

/// Counts by a cell's number: the first item's event is the most significant digit.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Cells {
    Dense(Vec<u64>),
    Sparse(BTreeMap<u128, u64>),
}

/// Up to so many possible cells all of them are kept.
const DENSE: u128 = 1 << 20;
/// So many different cells are kept at most.
const MOST_CELLS: usize = 1 << 23;

/// The stored form of one cross tally; cells are lists of events with the count behind them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCross {
    items: Vec<u32>,
    reports: u64,
    cells: Vec<Vec<u64>>,
}

impl CrossAxis {
    pub(super) fn of(policy: &Policy) -> Self {
        let shape = policy.draft().shape();
        // Alphabets have at most 2^24 symbols.
        let size = shape.outputs() as u32;
        if shape.releases_bits() { Self::Bits(size) } else { Self::Outputs(size) }
    }

    /// How many events there are.
    pub fn events(self) -> u32 {
        match self {
            Self::Outputs(outputs) => outputs,
            Self::Bits(bits) => bits + 1,
        }
    }

    /// The event that always happens, where there is one.
    pub fn always(self) -> Option<u32> {
        match self {
            Self::Outputs(_) => None,
            Self::Bits(bits) => Some(bits),
        }
    }

    /// The events of a token that was checked.
    fn of_token(self, token: &Token, events: &mut Vec<u32>) {
        events.clear();
        match token {
            Token::Index(index) => events.push(*index),
            Token::Bits(row) => {
                for (at, &byte) in row.iter().enumerate() {
                    let mut left = byte;
                    while left != 0 {
                        let bit = left.leading_zeros();
                        events.push(8 * at as u32 + bit);
                        left &= !(0x80 >> bit);
                    }
                }
                events.extend(self.always());
            }
        }
    }
}

impl CrossTally {
    /// Combinations of two or three items.
    pub const SIZES: std::ops::RangeInclusive<usize> = 2..=3;

    /// No responses yet. Refuses rows of bits with too many combinations: every response sets a good part of them, so
    /// that they cannot be kept sparsely.
    pub(super) fn new(items: Vec<u32>, axes: Vec<CrossAxis>) -> Result<Self, Error> {
        let product = |axes: &mut dyn Iterator<Item = &CrossAxis>| {
            axes.fold(1u128, |product, axis| product * u128::from(axis.events()))
        };
        let of_bits = product(&mut axes.iter().filter(|axis| axis.always().is_some()));
        if of_bits > DENSE {
            return Err(Error::unanswerable(
                "a tally of combinations",
                format!(
                    "items {items:?} have {of_bits} combinations of bits, above the {DENSE} supported: choose items with fewer bits, or a keep policy for one of them"
                ),
            ));
        }
        let all = product(&mut axes.iter());
        let cells = if all <= DENSE {
            Cells::Dense(vec![0; all as usize])
        } else {
            Cells::Sparse(BTreeMap::new())
        };
        Ok(Self { items, axes, reports: 0, cells })
    }

    pub(super) fn emptied(&self) -> Self {
        let cells = match &self.cells {
            Cells::Dense(counts) => Cells::Dense(vec![0; counts.len()]),
            Cells::Sparse(_) => Cells::Sparse(BTreeMap::new()),
        };
        Self { items: self.items.clone(), axes: self.axes.clone(), reports: 0, cells }
    }

    /// The items' numbers in the plan, increasing.
    pub fn items(&self) -> &[u32] {
        &self.items
    }

    /// What each item contributes.
    pub fn axes(&self) -> &[CrossAxis] {
        &self.axes
    }

    /// How many responses have all of the items.
    pub fn reports(&self) -> u64 {
        self.reports
    }

    /// How many responses have one given event of every item; 0 for events there are none of.
    pub fn count(&self, events: &[u32]) -> u64 {
        let known = events.len() == self.axes.len()
            && events.iter().zip(&self.axes).all(|(&event, axis)| event < axis.events());
        if known { self.at(self.number(events)) } else { 0 }
    }

    /// The cells that were seen, in increasing order of their events.
    pub fn cells(&self) -> impl Iterator<Item = (Vec<u32>, u64)> + '_ {
        let pairs: Box<dyn Iterator<Item = (u128, u64)> + '_> = match &self.cells {
            Cells::Dense(counts) => {
                let seen = counts.iter().enumerate().filter(|(_, count)| **count > 0);
                Box::new(seen.map(|(at, &count)| (at as u128, count)))
            }
            Cells::Sparse(map) => Box::new(map.iter().map(|(&at, &count)| (at, count))),
        };
        pairs.map(|(number, count)| (self.events(number), count))
    }

    /// Whether another response with these tokens can be counted.
    pub(super) fn has_room(&self) -> Result<(), Error> {
        self.reports.checked_add(1).ok_or(Error::Overflow)?;
        self.check_size(0)
    }

    fn check_size(&self, more: usize) -> Result<(), Error> {
        match &self.cells {
            Cells::Sparse(map) if map.len().saturating_add(more) > MOST_CELLS => {
                Err(Error::unanswerable(
                    "a tally of combinations",
                    format!(
                        "items {:?} have more than {MOST_CELLS} different combinations of answers: merge symbols, or tally fewer items together",
                        self.items
                    ),
                ))
            }
            _ => Ok(()),
        }
    }

    /// Counts one response, given one token for every item. Tokens and room were checked.
    pub(super) fn add<'a>(&mut self, tokens: impl Iterator<Item = &'a Token>) {
        let mut numbers: Vec<u128> = vec![0];
        let mut events = Vec::new();
        for (axis, token) in self.axes.iter().zip(tokens) {
            axis.of_token(token, &mut events);
            let size = u128::from(axis.events());
            let longer = |number: &u128| {
                let start = number * size;
                events.iter().map(move |&event| start + u128::from(event)).collect::<Vec<_>>()
            };
            numbers = numbers.iter().flat_map(longer).collect();
        }
        self.reports += 1;
        match &mut self.cells {
            Cells::Dense(counts) => numbers.iter().for_each(|&at| counts[at as usize] += 1),
            Cells::Sparse(map) => numbers.iter().for_each(|&at| *map.entry(at).or_insert(0) += 1),
        }
    }

    /// Whether another tally counts the same combinations and fits beside this one.
    pub(super) fn check_merge(&self, other: &Self) -> Result<(), Error> {
        if self.items != other.items || self.axes != other.axes {
            return Err(Error::unanswerable(
                "merging",
                format!(
                    "one tally counts combinations of items {:?}, the other of items {:?}: count the same pairs and triples everywhere",
                    self.items, other.items
                ),
            ));
        }
        self.reports.checked_add(other.reports).ok_or(Error::Overflow)?;
        match (&self.cells, &other.cells) {
            (Cells::Sparse(mine), Cells::Sparse(map)) => {
                self.check_size(map.keys().filter(|at| !mine.contains_key(at)).count())
            }
            _ => Ok(()),
        }
    }

    /// Adds another tally that was checked.
    pub(super) fn merge(&mut self, other: &Self) {
        self.reports += other.reports;
        match (&mut self.cells, &other.cells) {
            (Cells::Dense(counts), Cells::Dense(more)) => {
                counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
            }
            (Cells::Sparse(map), Cells::Sparse(more)) => {
                more.iter().for_each(|(&at, more)| *map.entry(at).or_insert(0) += more);
            }
            // Which of the two it is depends on the axes alone, and they are the same.
            (Cells::Dense(_), Cells::Sparse(_)) | (Cells::Sparse(_), Cells::Dense(_)) => {}
        }
    }

    pub(super) fn raw(&self) -> Object<RawCross> {
        let written = |(events, count): (Vec<u32>, u64)| {
            events.into_iter().map(u64::from).chain([count]).collect()
        };
        Object(RawCross {
            items: self.items.clone(),
            reports: self.reports,
            cells: self.cells().map(written).collect(),
        })
    }

    /// Reads the stored form, the items' axes being known.
    pub(super) fn from_raw(
        raw: RawCross,
        axis: impl Fn(u32) -> Option<CrossAxis>,
    ) -> Result<Self, Error> {
        let RawCross { items, reports, cells } = raw;
        let wrong = |problem: String| {
            Error::malformed(format!("the combinations of items {items:?}: {problem}"))
        };
        check_items(&items)?;
        let axes: Option<Vec<CrossAxis>> = items.iter().map(|&item| axis(item)).collect();
        let axes = axes.ok_or_else(|| wrong("an item that the tally does not have".into()))?;
        let mut tally = Self::new(items.clone(), axes)?;
        let mut last = None;
        for cell in cells {
            let Some((&count, events)) = cell.split_last() else {
                return Err(wrong("a cell without a count".into()));
            };
            let events: Option<Vec<u32>> = (events.len() == tally.axes.len())
                .then(|| {
                    let event = |(&event, axis): (&u64, &CrossAxis)| {
                        u32::try_from(event).ok().filter(|&event| event < axis.events())
                    };
                    events.iter().zip(&tally.axes).map(event).collect()
                })
                .flatten();
            let Some(events) = events else {
                return Err(wrong(format!("cell {cell:?} is not one event for every item")));
            };
            let number = tally.number(&events);
            if last.is_some_and(|last| last >= number) {
                return Err(wrong(format!("cell {cell:?} is not in increasing order")));
            }
            if !(1..=reports).contains(&count) {
                return Err(wrong(format!("cell {cell:?} is not a count of {reports} responses")));
            }
            last = Some(number);
            match &mut tally.cells {
                Cells::Dense(counts) => counts[number as usize] = count,
                Cells::Sparse(map) => {
                    map.insert(number, count);
                }
            }
        }
        tally.reports = reports;
        tally.check_size(0)?;
        tally.check_counts().map_err(wrong)?;
        Ok(tally)
    }

    /// Whether some responses could have these counts, as far as sums tell.
    fn check_counts(&self) -> Result<(), String> {
        let mut sum = 0u64;
        for (events, count) in self.cells() {
            let mut every = true;
            for (at, axis) in self.axes.iter().enumerate() {
                let Some(always) = axis.always() else { continue };
                if events[at] == always {
                    continue;
                }
                every = false;
                let mut wider = events.clone();
                wider[at] = always;
                if self.count(&wider) < count {
                    return Err(format!("cell {events:?} has a larger count than cell {wider:?}"));
                }
            }
            if every {
                sum = sum.checked_add(count).ok_or("its counts are above 2^64")?;
            }
        }
        if sum == self.reports {
            Ok(())
        } else {
            Err(format!("its counts are not those of {} responses", self.reports))
        }
    }

    /// The tally of one item among the responses that have all of them: reports per output, or set bits.
    pub fn margin(&self, place: usize) -> Vec<u64> {
        let Some(axis) = self.axes.get(place) else { return Vec::new() };
        let size = match *axis {
            CrossAxis::Outputs(size) | CrossAxis::Bits(size) => size as usize,
        };
        let mut counts = vec![0; size];
        for (events, count) in self.cells() {
            let others = events.iter().zip(&self.axes).enumerate();
            let whole = others
                .filter(|(at, _)| *at != place)
                .all(|(_, (&event, axis))| axis.always().is_none_or(|always| event == always));
            if let Some(sum) = counts.get_mut(events[place] as usize).filter(|_| whole) {
                *sum += count;
            }
        }
        counts
    }

    fn at(&self, number: u128) -> u64 {
        match &self.cells {
            Cells::Dense(counts) => counts[number as usize],
            Cells::Sparse(map) => map.get(&number).copied().unwrap_or(0),
        }
    }

    fn number(&self, events: &[u32]) -> u128 {
        events.iter().zip(&self.axes).fold(0, |number, (&event, axis)| {
            number * u128::from(axis.events()) + u128::from(event)
        })
    }

    fn events(&self, mut number: u128) -> Vec<u32> {
        let mut events = vec![0; self.axes.len()];
        for (event, axis) in events.iter_mut().zip(&self.axes).rev() {
            let size = u128::from(axis.events());
            (*event, number) = ((number % size) as u32, number / size);
        }
        events
    }
}

/// Two or three items, increasing.
pub(super) fn check_items(items: &[u32]) -> Result<(), Error> {
    let increasing = items.windows(2).all(|pair| pair[0] < pair[1]);
    if CrossTally::SIZES.contains(&items.len()) && increasing {
        return Ok(());
    }
    Err(Error::unanswerable(
        "a tally of combinations",
        format!("items {items:?}: give two or three different items in the order of the plan"),
    ))
}
