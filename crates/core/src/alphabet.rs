//! The codebook: what an index stands for.

use crate::decimal::Decimal;
use crate::mass::MAX_SYMBOLS;
use crate::symbol::Symbol;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::String;
use alloc::vec::Vec;

/// A finite alphabet of 1 to 2^24 symbols.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Alphabet(Codebook);

/// The four ways to say what an index stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Codebook {
    Indices(u32),
    Names(Box<[String]>),
    Points(Box<[Decimal]>),
    Bins { edges: Box<[Decimal]>, values: Box<[Decimal]> },
}

/// A read-only look at an [`Alphabet`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AlphabetView<'a> {
    /// Bare indices from 0.
    Indices(u32),
    /// Distinct, non-empty names.
    Names(&'a [String]),
    /// Strictly increasing numbers; a value must be one of them.
    Points(&'a [Decimal]),
    /// Bins between strictly increasing edges, each with the value that represents it.
    Bins {
        /// One more edge than bins.
        edges: &'a [Decimal],
        /// One value per bin, inside it.
        values: &'a [Decimal],
    },
}

/// Why an alphabet was refused, or a value has no symbol in it.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AlphabetError {
    /// No symbols, or more than 2^24.
    #[error("an alphabet of {found} symbols: give 1 to {MAX_SYMBOLS}")]
    Size {
        /// How many symbols were given.
        found: usize,
    },
    /// A symbol's name is empty.
    #[error("symbol {at} has an empty name")]
    EmptyName {
        /// The index of the symbol without a name.
        at: usize,
    },
    /// A name occurs twice.
    #[error("the name {name:?} occurs twice: names must differ")]
    Repeated {
        /// The name that occurs twice.
        name: String,
    },
    /// Numbers that must increase do not.
    #[error("entry {at} is not above the one before it: sort the list and drop repeats")]
    NotIncreasing {
        /// The index of the first offender.
        at: usize,
    },
    /// Not one value for every bin.
    #[error("{found} representative values for {bins} bins: give one per bin")]
    Values {
        /// How many bins there are.
        bins: usize,
        /// How many representative values were given.
        found: usize,
    },
    /// A representative value lies outside its bin.
    #[error("the representative value of bin {at} lies outside it")]
    Outside {
        /// The index of the bin.
        at: usize,
    },
    /// No symbol for a value. The value is a person's answer, so neither the error nor its message holds it.
    #[error("the value is not in the alphabet: map it to a known symbol or leave it out")]
    Unknown,
}

fn check_increasing(list: &[Decimal]) -> Result<(), AlphabetError> {
    match list.windows(2).position(|pair| pair[0] >= pair[1]) {
        Some(at) => Err(AlphabetError::NotIncreasing { at: at + 1 }),
        None => Ok(()),
    }
}

fn check_size(found: usize) -> Result<(), AlphabetError> {
    if (1..=MAX_SYMBOLS).contains(&found) { Ok(()) } else { Err(AlphabetError::Size { found }) }
}

impl Alphabet {
    /// Bare indices 0 to `size - 1`.
    pub fn indices(size: usize) -> Result<Self, AlphabetError> {
        check_size(size)?;
        Ok(Self(Codebook::Indices(size as u32)))
    }

    /// Distinct, non-empty names, such as `["no", "yes"]`.
    pub fn names(
        names: impl IntoIterator<Item = impl Into<String>>,
    ) -> Result<Self, AlphabetError> {
        let names: Box<[String]> = names.into_iter().map(Into::into).collect();
        check_size(names.len())?;
        let mut seen = BTreeSet::new();
        for (at, name) in names.iter().enumerate() {
            if name.is_empty() {
                return Err(AlphabetError::EmptyName { at });
            }
            if !seen.insert(name) {
                return Err(AlphabetError::Repeated { name: name.clone() });
            }
        }
        Ok(Self(Codebook::Names(names)))
    }

    /// Strictly increasing numbers.
    pub fn points(points: Vec<Decimal>) -> Result<Self, AlphabetError> {
        check_size(points.len())?;
        check_increasing(&points)?;
        Ok(Self(Codebook::Points(points.into())))
    }

    /// Bins between strictly increasing edges, with one value inside each.
    pub fn bins(edges: Vec<Decimal>, values: Vec<Decimal>) -> Result<Self, AlphabetError> {
        check_size(edges.len().saturating_sub(1))?;
        check_increasing(&edges)?;
        if values.len() + 1 != edges.len() {
            return Err(AlphabetError::Values { bins: edges.len() - 1, found: values.len() });
        }
        let outside = |(at, value): (usize, &Decimal)| *value < edges[at] || *value > edges[at + 1];
        match values.iter().enumerate().position(outside) {
            Some(at) => Err(AlphabetError::Outside { at }),
            None => Ok(Self(Codebook::Bins { edges: edges.into(), values: values.into() })),
        }
    }

    /// The number of symbols.
    #[expect(clippy::len_without_is_empty, reason = "an alphabet is never empty")]
    pub fn len(&self) -> usize {
        match &self.0 {
            Codebook::Indices(size) => *size as usize,
            Codebook::Names(names) => names.len(),
            Codebook::Points(points) => points.len(),
            Codebook::Bins { values, .. } => values.len(),
        }
    }

    /// A read-only look at what the symbols stand for.
    pub fn view(&self) -> AlphabetView<'_> {
        match &self.0 {
            Codebook::Indices(size) => AlphabetView::Indices(*size),
            Codebook::Names(names) => AlphabetView::Names(names),
            Codebook::Points(points) => AlphabetView::Points(points),
            Codebook::Bins { edges, values } => AlphabetView::Bins { edges, values },
        }
    }

    /// For every symbol of this alphabet in order, its index in `other`; `None` unless both have the
    /// same symbols. Names may come in any order; bare indices match bare indices of the same number only.
    pub fn order_in(&self, other: &Self) -> Option<Vec<usize>> {
        if self == other {
            return Some((0..self.len()).collect());
        }
        let (Codebook::Names(names), Codebook::Names(others)) = (&self.0, &other.0) else {
            return None;
        };
        if names.len() != others.len() {
            return None;
        }
        // Names are distinct on both sides, so finding each one is a permutation.
        let index: BTreeMap<&str, usize> = others.iter().map(String::as_str).zip(0..).collect();
        names.iter().map(|name| index.get(name.as_str()).copied()).collect()
    }

    /// The symbol with this index.
    pub fn symbol(&self, index: usize) -> Result<Symbol, AlphabetError> {
        if index < self.len() { Ok(Symbol::new(index as u32)) } else { Err(AlphabetError::Unknown) }
    }

    /// The symbol with this name (for bare indices, the index in decimal).
    pub fn named(&self, name: &str) -> Result<Symbol, AlphabetError> {
        let unknown = AlphabetError::Unknown;
        let index = match &self.0 {
            Codebook::Names(names) => names.iter().position(|n| n == name).ok_or(unknown)?,
            Codebook::Indices(_) => name.parse().map_err(|_| unknown)?,
            Codebook::Points(_) | Codebook::Bins { .. } => {
                return self.valued(name.parse().map_err(|_| unknown)?);
            }
        };
        self.symbol(index)
    }

    /// The symbol for a number: one of the points, or the bin it falls in. Values outside the bins
    /// are clipped to the end bins; an inner edge belongs to the bin above it.
    pub fn valued(&self, value: Decimal) -> Result<Symbol, AlphabetError> {
        let index = match &self.0 {
            Codebook::Points(points) => {
                points.binary_search(&value).map_err(|_| AlphabetError::Unknown)?
            }
            Codebook::Bins { edges, values } => {
                let above = edges.partition_point(|edge| *edge <= value);
                above.clamp(1, values.len()) - 1
            }
            Codebook::Indices(_) | Codebook::Names(_) => return Err(AlphabetError::Unknown),
        };
        self.symbol(index)
    }

    /// What a symbol or token index is called, for people.
    pub fn label(&self, index: usize) -> String {
        match &self.0 {
            Codebook::Names(names) if index < names.len() => names[index].clone(),
            Codebook::Points(values) | Codebook::Bins { values, .. } if index < values.len() => {
                alloc::format!("{}", values[index])
            }
            _ => alloc::format!("{index}"),
        }
    }
}
