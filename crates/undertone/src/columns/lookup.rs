//! From a cell to the symbol it stands for.

use std::collections::HashMap;

use undertone_core::{Alphabet, AlphabetView, Decimal};

/// What a cell is to an alphabet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// A symbol's index.
    Symbol(u32),
    /// A number below the first bin, and so the first bin.
    Below,
    /// A number above the last bin, and so the last bin.
    Above,
    /// Empty, null or NaN.
    Missing,
    /// None of the symbols.
    Unknown,
}

/// What to do with a value that has no symbol, or is missing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum UnknownValues {
    /// Stop and name the row.
    #[default]
    Refuse,
    /// Leave the row out, and say how many were.
    Skip,
    /// Take it for the symbol "other".
    AsOther,
}

/// An alphabet prepared for many cells.
pub struct Lookup {
    kind: LookupKind,
    size: u32,
}

enum LookupKind {
    Names {
        texts: HashMap<String, u32>,
        /// The names that are whole numbers as a program writes them.
        integers: HashMap<i64, u32>,
    },
    Indices,
    Points(Marks),
    /// The edges, one more than there are bins.
    Bins(Marks),
}

/// Strictly increasing numbers, exactly and as the nearest floats.
struct Marks {
    /// In units of 10^-18.
    exact: Box<[i128]>,
    floats: Box<[f64]>,
}

/// How many of a number's smallest units make one.
const UNIT: i128 = 10i128.pow(Decimal::MAX_SCALE as u32);

/// A number in units of 10^-18.
fn units(value: Decimal) -> i128 {
    i128::from(value.digits()) * 10i128.pow(u32::from(Decimal::MAX_SCALE - value.scale()))
}

/// The float nearest to a number.
pub(crate) fn float(value: Decimal) -> f64 {
    // Through the text, which is rounded once; a division would round twice.
    value.to_string().parse().unwrap_or(f64::NAN)
}

impl Marks {
    fn new(list: &[Decimal]) -> Self {
        Self {
            exact: list.iter().map(|value| units(*value)).collect(),
            floats: list.iter().map(|value| float(*value)).collect(),
        }
    }
}

impl Lookup {
    /// Cells that are inputs: numbers fall into bins, and outside them are clipped.
    pub fn of_inputs(alphabet: &Alphabet) -> Self {
        match alphabet.view() {
            AlphabetView::Bins { edges, values } => {
                Self { kind: LookupKind::Bins(Marks::new(edges)), size: values.len() as u32 }
            }
            _ => Self::of_outputs(alphabet),
        }
    }

    /// Cells that are outputs: of a bin only its representative value is ever released.
    pub fn of_outputs(alphabet: &Alphabet) -> Self {
        let kind = match alphabet.view() {
            AlphabetView::Names(names) => {
                let whole = |(name, index): (&String, u32)| {
                    let value: i64 = name.parse().ok()?;
                    (value.to_string() == *name).then_some((value, index))
                };
                LookupKind::Names {
                    texts: names.iter().cloned().zip(0..).collect(),
                    integers: names.iter().zip(0..).filter_map(whole).collect(),
                }
            }
            AlphabetView::Indices(_) => LookupKind::Indices,
            AlphabetView::Points(values) | AlphabetView::Bins { values, .. } => {
                LookupKind::Points(Marks::new(values))
            }
        };
        Self { kind, size: alphabet.len() as u32 }
    }

    /// Whether cells must be numbers.
    pub fn is_numeric(&self) -> bool {
        matches!(self.kind, LookupKind::Points(_) | LookupKind::Bins(_))
    }

    /// The index of a name, if there are names.
    pub fn named(&self, name: &str) -> Option<u32> {
        match &self.kind {
            LookupKind::Names { texts, .. } => texts.get(name).copied(),
            _ => None,
        }
    }

    /// A cell as text.
    pub fn text(&self, text: &str) -> Code {
        let trimmed = text.trim();
        let found = match &self.kind {
            LookupKind::Names { texts, .. } => {
                let found = texts.get(trimmed).or_else(|| texts.get(text));
                found.map_or(Code::Unknown, |&index| Code::Symbol(index))
            }
            LookupKind::Indices => trimmed.parse().map_or(Code::Unknown, |index| self.index(index)),
            // Exact where it is written plainly; exponents and long fractions through a float.
            LookupKind::Points(_) | LookupKind::Bins(_) => match (trimmed.parse(), trimmed.parse())
            {
                (Ok(value), _) => self.number(units(value)),
                (Err(_), Ok(value)) => self.float(value),
                _ => Code::Unknown,
            },
        };
        match found {
            Code::Unknown if super::present(text).is_none() => Code::Missing,
            found => found,
        }
    }

    /// A cell that is a whole number.
    pub fn integer(&self, value: i64) -> Code {
        match &self.kind {
            LookupKind::Names { integers, .. } => {
                integers.get(&value).map_or(Code::Unknown, |&index| Code::Symbol(index))
            }
            LookupKind::Indices => {
                u32::try_from(value).map_or(Code::Unknown, |index| self.index(index))
            }
            LookupKind::Points(_) | LookupKind::Bins(_) => self.number(i128::from(value) * UNIT),
        }
    }

    /// A cell that is a float; compared with the floats nearest to the alphabet's numbers.
    pub fn float(&self, value: f64) -> Code {
        if value.is_nan() {
            return Code::Missing;
        }
        match &self.kind {
            LookupKind::Names { .. } | LookupKind::Indices => self.text(&value.to_string()),
            // Not a number anyone measured.
            _ if value.is_infinite() => Code::Unknown,
            LookupKind::Points(marks) => {
                let at = marks.floats.partition_point(|mark| *mark < value);
                let found = marks.floats.get(at).is_some_and(|mark| *mark == value);
                if found { Code::Symbol(at as u32) } else { Code::Unknown }
            }
            LookupKind::Bins(marks) => {
                let below = marks.floats.partition_point(|edge| *edge <= value);
                self.bin(below, marks.floats.last() == Some(&value))
            }
        }
    }

    fn index(&self, index: u32) -> Code {
        if index < self.size { Code::Symbol(index) } else { Code::Unknown }
    }

    /// A number in units of 10^-18.
    fn number(&self, value: i128) -> Code {
        match &self.kind {
            LookupKind::Points(marks) => {
                let found = marks.exact.binary_search(&value);
                found.map_or(Code::Unknown, |at| Code::Symbol(at as u32))
            }
            LookupKind::Bins(marks) => {
                let below = marks.exact.partition_point(|edge| *edge <= value);
                self.bin(below, marks.exact.last() == Some(&value))
            }
            LookupKind::Names { .. } | LookupKind::Indices => Code::Unknown,
        }
    }

    /// The bin of a number that has `below` edges at or below it. As on the device, an inner edge
    /// belongs to the bin above it, and the last edge to the last bin.
    fn bin(&self, below: usize, is_last_edge: bool) -> Code {
        match (below as u32).checked_sub(1) {
            None => Code::Below,
            Some(bin) if bin < self.size => Code::Symbol(bin),
            Some(_) if is_last_edge => Code::Symbol(self.size - 1),
            Some(_) => Code::Above,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn decimals(list: &[&str]) -> Vec<Decimal> {
        list.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn numbers_fall_into_bins_as_on_the_device() {
        let alphabet =
            Alphabet::bins(decimals(&["-1", "0.1", "2", "3.5"]), decimals(&["0", "1", "3"]))
                .unwrap();
        let lookup = Lookup::of_inputs(&alphabet);
        for text in ["-1", "-0.5", "0.1", "0.09", "1.999", "2", "3.5", "-7", "9", "3.49", "0"] {
            let expected = alphabet.named(text).unwrap();
            let as_device = |code| match code {
                Code::Symbol(index) => alphabet.symbol(index as usize).unwrap(),
                Code::Below => alphabet.symbol(0).unwrap(),
                Code::Above => alphabet.symbol(2).unwrap(),
                other => panic!("{text}: {other:?}"),
            };
            assert_eq!(as_device(lookup.text(text)), expected, "{text}");
            assert_eq!(as_device(lookup.float(text.parse().unwrap())), expected, "{text}");
            if let Ok(whole) = text.parse() {
                assert_eq!(as_device(lookup.integer(whole)), expected, "{text}");
            }
        }
        assert_eq!(lookup.text("-1.01"), Code::Below);
        assert_eq!(lookup.float(3.6), Code::Above);
        assert_eq!(lookup.integer(i64::MAX), Code::Above);
        assert_eq!(lookup.text(" 1e3 "), Code::Above);
        assert_eq!(lookup.text("+2"), Code::Symbol(2));
        for missing in ["", "  ", "NaN", "nan"] {
            assert_eq!(lookup.text(missing), Code::Missing, "{missing:?}");
        }
        assert_eq!(lookup.float(f64::NAN), Code::Missing);
        for unknown in ["abc", "inf", "1,5"] {
            assert_eq!(lookup.text(unknown), Code::Unknown, "{unknown:?}");
        }
        assert_eq!(lookup.float(f64::NEG_INFINITY), Code::Unknown);
        // As outputs, bins are their representatives and nothing else.
        let released = Lookup::of_outputs(&alphabet);
        assert_eq!(released.text("3"), Code::Symbol(2));
        assert_eq!(released.float(1.0), Code::Symbol(1));
        assert_eq!(released.text("2.5"), Code::Unknown);
    }

    #[test]
    fn points_names_and_indices_are_met_exactly() {
        let points = Alphabet::points(decimals(&["0.1", "0.3", "2"])).unwrap();
        let lookup = Lookup::of_inputs(&points);
        assert_eq!(lookup.text("0.30"), Code::Symbol(1));
        assert_eq!(lookup.float(0.1), Code::Symbol(0));
        assert_eq!(lookup.float(0.1 + 0.2), Code::Unknown);
        assert_eq!((lookup.integer(2), lookup.integer(3)), (Code::Symbol(2), Code::Unknown));

        let names = Alphabet::names(["yes", "7", " odd ", "nan"]);
        let lookup = Lookup::of_inputs(&names.unwrap());
        assert_eq!(lookup.text(" yes"), Code::Symbol(0));
        assert_eq!(lookup.integer(7), Code::Symbol(1));
        assert_eq!(lookup.float(7.0), Code::Symbol(1));
        assert_eq!(lookup.text(" odd "), Code::Symbol(2));
        // A symbol of that name is a symbol.
        assert_eq!((lookup.text("nan"), lookup.text("")), (Code::Symbol(3), Code::Missing));
        assert_eq!(lookup.text("Yes"), Code::Unknown);

        let lookup = Lookup::of_inputs(&Alphabet::indices(3).unwrap());
        assert_eq!((lookup.text("2"), lookup.text("3")), (Code::Symbol(2), Code::Unknown));
        assert_eq!((lookup.integer(-1), lookup.float(1.0)), (Code::Unknown, Code::Symbol(1)));
    }
}
