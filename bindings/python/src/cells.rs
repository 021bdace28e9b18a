//! Cells of a column as an alphabet sees them, whatever holds the column.

use std::ops::Range;

use undertone::columns::{Code, Lookup};
use undertone_core::Symbol;

/// Appends the codes of a range of rows.
type Read<'a> = dyn Fn(Range<usize>, &mut Vec<Code>) + Sync + 'a;

/// Appends the symbols of a range of rows, given all of the alphabet's; false if a row has none.
type Direct<'a> = dyn Fn(Range<usize>, &[Symbol], &mut Vec<Symbol>) -> bool + Sync + 'a;

/// Counts all rows by symbol; false, with some counted, if a row has none.
type Count<'a> = dyn Fn(&mut [u64]) -> bool + Sync + 'a;

/// A column that can be read by several threads, a block of rows at a time.
pub(crate) struct Cells<'a> {
    len: usize,
    read: Box<Read<'a>>,
    /// The short way for indices and categories, several times as fast.
    direct: Option<Box<Direct<'a>>>,
    /// The short way for counting indices and categories.
    count: Option<Box<Count<'a>>>,
}

/// One value of a Python list.
pub(crate) enum Cell {
    Text(String),
    Integer(i64),
    Float(f64),
    Truth(bool),
    Missing,
}

impl Cell {
    /// What the cell says, as CSV would write it.
    pub(crate) fn text(&self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Integer(value) => Some(value.to_string()),
            Self::Float(value) => (!value.is_nan()).then(|| value.to_string()),
            Self::Truth(value) => Some(value.to_string()),
            Self::Missing => None,
        }
    }
}

impl<'a> Cells<'a> {
    /// Cells read one by one.
    pub(crate) fn each(len: usize, code: impl Fn(usize) -> Code + Sync + 'a) -> Self {
        let read = move |rows: Range<usize>, codes: &mut Vec<Code>| codes.extend(rows.map(&code));
        Self { len, read: Box::new(read), direct: None, count: None }
    }

    /// Whole numbers in one piece, all present.
    pub(crate) fn integers<T: Integer>(
        values: &'a [T],
        lookup: &'a Lookup,
        bare: Option<u32>,
    ) -> Self {
        let len = values.len();
        let Some(size) = bare else {
            return Self::each(len, move |at| match values[at].whole() {
                Some(value) => lookup.integer(value),
                None => lookup.text(&values[at].index().to_string()),
            });
        };
        // Bare indices are their own codes.
        let code = move |at: usize| match values[at].index() {
            index if index < u64::from(size) => Code::Symbol(index as u32),
            _ => Code::Unknown,
        };
        let direct = move |rows: Range<usize>, all: &[Symbol], out: &mut Vec<Symbol>| {
            // In one pass without a branch: what is too large counts as the last and is refused below.
            let last = all.len().saturating_sub(1);
            let mut known = !all.is_empty();
            out.extend(values[rows].iter().map(|value| {
                let index = value.index();
                known &= index <= last as u64;
                all[(index as usize).min(last)]
            }));
            known
        };
        let count = move |counts: &mut [u64]| {
            values.iter().all(|value| match counts.get_mut(value.index() as usize) {
                Some(count) => {
                    *count += 1;
                    true
                }
                None => false,
            })
        };
        Self {
            direct: Some(Box::new(direct)),
            count: Some(Box::new(count)),
            ..Self::each(len, code)
        }
    }

    /// Positions in a list whose entries are looked up once; a position outside it is a missing value, as
    /// pandas says by -1.
    pub(crate) fn coded<T: Integer>(values: &'a [T], entries: Vec<Code>) -> Self {
        let code = {
            let entries = entries.clone();
            move |at: usize| coded(&entries, values[at]).unwrap_or(Code::Missing)
        };
        let direct = {
            let entries = entries.clone();
            move |rows: Range<usize>, all: &[Symbol], out: &mut Vec<Symbol>| {
                values[rows].iter().all(|&value| match coded(&entries, value) {
                    Some(Code::Symbol(index)) => match all.get(index as usize) {
                        Some(&symbol) => {
                            out.push(symbol);
                            true
                        }
                        None => false,
                    },
                    _ => false,
                })
            }
        };
        let count = move |counts: &mut [u64]| {
            values.iter().all(|&value| match coded(&entries, value) {
                Some(Code::Symbol(index)) => match counts.get_mut(index as usize) {
                    Some(count) => {
                        *count += 1;
                        true
                    }
                    None => false,
                },
                _ => false,
            })
        };
        Self {
            direct: Some(Box::new(direct)),
            count: Some(Box::new(count)),
            ..Self::each(values.len(), code)
        }
    }

    /// Numbers in one piece.
    pub(crate) fn floats<T: Into<f64> + Copy + Sync>(values: &'a [T], lookup: &'a Lookup) -> Self {
        Self::each(values.len(), move |at| lookup.float(values[at].into()))
    }

    /// The values of a list.
    pub(crate) fn list(values: &'a [Cell], lookup: &'a Lookup, named: bool) -> Self {
        Self::each(values.len(), move |at| match &values[at] {
            Cell::Text(text) => lookup.text(text),
            Cell::Integer(value) => lookup.integer(*value),
            Cell::Float(value) => lookup.float(*value),
            Cell::Truth(value) => truth(*value, lookup, named),
            Cell::Missing => Code::Missing,
        })
    }

    /// How many rows.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Replaces `out` by the symbols of some rows, if that can be done the short way.
    pub(crate) fn symbols(
        &self,
        rows: Range<usize>,
        all: &[Symbol],
        out: &mut Vec<Symbol>,
    ) -> bool {
        out.clear();
        self.direct.as_ref().is_some_and(|direct| direct(rows, all, out))
    }

    /// Adds every row to its symbol's count, if that can be done the short way; if not, `counts` is
    /// as it was.
    pub(crate) fn count(&self, counts: &mut [u64]) -> bool {
        let Some(count) = &self.count else { return false };
        let mut more = vec![0; counts.len()];
        let all = count(&mut more);
        if all {
            counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
        }
        all
    }

    /// Replaces `codes` by those of some rows.
    pub(crate) fn read(&self, rows: Range<usize>, codes: &mut Vec<Code>) {
        codes.clear();
        (self.read)(rows, codes);
    }
}

/// What an entry of a list stands for; `None` outside the list.
fn coded<T: Integer>(entries: &[Code], value: T) -> Option<Code> {
    usize::try_from(value.index()).ok().and_then(|at| entries.get(at)).copied()
}

/// A truth value: the symbols "true" and "false", else the numbers 1 and 0.
pub(crate) fn truth(value: bool, lookup: &Lookup, named: bool) -> Code {
    if named {
        lookup.text(if value { "true" } else { "false" })
    } else {
        lookup.integer(value.into())
    }
}

/// A machine integer.
pub(crate) trait Integer: Copy + Sync {
    /// As an index; negative numbers become larger than any.
    fn index(self) -> u64;
    /// As a signed number, if it fits.
    fn whole(self) -> Option<i64>;
}

macro_rules! integer {
    ($($type:ty),*) => {$(
        impl Integer for $type {
            #[inline(always)]
            fn index(self) -> u64 {
                self as u64
            }
            #[inline(always)]
            fn whole(self) -> Option<i64> {
                i64::try_from(self).ok()
            }
        }
    )*};
}

integer!(i8, i16, i32, i64, u8, u16, u32, u64);
