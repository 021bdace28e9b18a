//! What the entries of a law stand for: named symbols, numbers, bins, or only so many.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use undertone_core::{Alphabet, AlphabetView};

use crate::{Error, codebook};

/// The symbols of a law, a channel or a box of priors, in the order of its entries. Cheap to clone.
///
/// Whatever takes two laws matches them by symbol, in any order, or refuses. Unnamed symbols have
/// nothing but a number, so they match only as many unnamed ones, place by place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbols(SymbolsKind);

#[derive(Debug, Clone, PartialEq, Eq)]
enum SymbolsKind {
    Unnamed(usize),
    Named(Arc<Alphabet>),
}

/// Bins whose edges differ by less than this share of their range are the same bins.
const SAME_EDGE: f64 = 1e-9;

/// Lists of more symbols than this are shortened in messages.
const LISTED: usize = 8;
/// So many of a shortened list are shown.
const SHOWN: usize = 5;
/// Longer names are cut in messages.
const LONGEST: usize = 32;

impl Symbols {
    /// So many symbols of which nothing is known.
    pub fn unnamed(size: usize) -> Self {
        Self(SymbolsKind::Unnamed(size))
    }

    /// The symbols of an alphabet; bare indices are unnamed.
    pub fn of(alphabet: &Alphabet) -> Self {
        match alphabet.view() {
            AlphabetView::Indices(size) => Self::unnamed(size as usize),
            _ => Self(SymbolsKind::Named(Arc::new(alphabet.clone()))),
        }
    }

    /// Distinct, non-empty names.
    pub fn names(names: Vec<String>) -> Result<Self, Error> {
        let alphabet =
            Alphabet::names(names).map_err(|error| Error::other("symbols", error.to_string()))?;
        Ok(Self(SymbolsKind::Named(Arc::new(alphabet))))
    }

    /// The number of symbols.
    #[expect(clippy::len_without_is_empty, reason = "laws and alphabets are never empty")]
    pub fn len(&self) -> usize {
        match &self.0 {
            SymbolsKind::Unnamed(size) => *size,
            SymbolsKind::Named(alphabet) => alphabet.len(),
        }
    }

    /// Whether the symbols are more than places in a list.
    pub fn are_named(&self) -> bool {
        matches!(self.0, SymbolsKind::Named(_))
    }

    /// The alphabet of a policy about these symbols.
    pub fn alphabet(&self) -> Result<Alphabet, Error> {
        match &self.0 {
            SymbolsKind::Named(alphabet) => Ok(alphabet.as_ref().clone()),
            SymbolsKind::Unnamed(size) => {
                Alphabet::indices(*size).map_err(|error| Error::other("symbols", error.to_string()))
            }
        }
    }

    /// What a symbol is called, for people; unnamed ones by their place.
    pub fn label(&self, index: usize) -> String {
        match &self.0 {
            SymbolsKind::Unnamed(_) => index.to_string(),
            SymbolsKind::Named(alphabet) => alphabet.label(index),
        }
    }

    /// For each of the `wanted` symbols its place here, or `None` if it is the same place for all of
    /// them. Refuses unless both have the same symbols; `what` names whoever has these.
    pub fn places(&self, what: &str, wanted: &Self) -> Result<Option<Vec<usize>>, Error> {
        let refused = || Error::Symbols {
            what: what.into(),
            found: self.to_string(),
            expected: wanted.to_string(),
            fix: self.difference(wanted),
        };
        let places = match (&self.0, &wanted.0) {
            (SymbolsKind::Unnamed(found), SymbolsKind::Unnamed(expected)) if found == expected => {
                return Ok(None);
            }
            (SymbolsKind::Unnamed(found), SymbolsKind::Unnamed(expected)) => {
                let (expected, found) = (*expected, *found);
                return Err(Error::Size { what: what.into(), expected, found });
            }
            (SymbolsKind::Named(ours), SymbolsKind::Named(theirs)) if Arc::ptr_eq(ours, theirs) => {
                return Ok(None);
            }
            (SymbolsKind::Named(ours), SymbolsKind::Named(theirs)) => {
                places(ours, theirs).ok_or_else(refused)?
            }
            _ => return Err(refused()),
        };
        let moved = places.iter().enumerate().any(|(at, place)| at != *place);
        Ok(moved.then_some(places))
    }

    /// How two lists of symbols differ, and what to do about it.
    fn difference(&self, wanted: &Self) -> String {
        let (SymbolsKind::Named(ours), SymbolsKind::Named(theirs)) = (&self.0, &wanted.0) else {
            return "name the symbols of both, for example {\"a\": 0.5, \"b\": 0.5}, or of neither"
                .into();
        };
        if is_bins(ours) || is_bins(theirs) {
            return "use the same bins in both".into();
        }
        let only = |one: &Alphabet, other: &Alphabet| {
            let known: HashSet<String> = (0..other.len()).map(|x| other.label(x)).collect();
            (0..one.len()).map(|x| one.label(x)).find(|label| !known.contains(label))
        };
        let extra = only(ours, theirs).map(|name| format!("{} is not one of them", quoted(&name)));
        let missing = only(theirs, ours).map(|name| format!("{} is missing", quoted(&name)));
        let both: Vec<String> = extra.into_iter().chain(missing).collect();
        format!("{}; list the same symbols, in any order", both.join(" and "))
    }
}

fn is_bins(alphabet: &Alphabet) -> bool {
    matches!(alphabet.view(), AlphabetView::Bins { .. })
}

/// For each of the `wanted` symbols its place in `list`, if both have the same.
fn places(list: &Alphabet, wanted: &Alphabet) -> Option<Vec<usize>> {
    if let Some(order) = wanted.order_in(list) {
        return Some(order);
    }
    match (list.view(), wanted.view()) {
        (AlphabetView::Bins { .. }, AlphabetView::Bins { .. }) => {
            same_bins(list, wanted).then(|| (0..list.len()).collect())
        }
        // A number is written as a name where a file lists symbols without saying that they are numbers.
        (AlphabetView::Names(_), AlphabetView::Points(_))
        | (AlphabetView::Points(_), AlphabetView::Names(_))
            if list.len() == wanted.len() =>
        {
            let index: HashMap<String, usize> =
                (0..list.len()).map(|x| (list.label(x), x)).collect();
            (0..wanted.len()).map(|x| index.get(&wanted.label(x)).copied()).collect()
        }
        _ => None,
    }
}

/// Whether two alphabets have the same bins, but for float error in their edges.
fn same_bins(ours: &Alphabet, theirs: &Alphabet) -> bool {
    let (Some(ours), Some(theirs)) = (codebook::edges(ours), codebook::edges(theirs)) else {
        return false;
    };
    let width = ours[ours.len() - 1] - ours[0];
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= SAME_EDGE * width;
    ours.len() == theirs.len() && ours.iter().zip(&theirs).all(near)
}

/// A name for a message, cut if it is long.
fn quoted(name: &str) -> String {
    if name.chars().count() <= LONGEST {
        return format!("{name:?}");
    }
    let start: String = name.chars().take(LONGEST).collect();
    format!("{start:?}…")
}

impl fmt::Display for Symbols {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SymbolsKind::Named(alphabet) = &self.0 else {
            return write!(f, "{} unnamed symbols", self.len());
        };
        if let Some(edges) = codebook::edges(alphabet) {
            let (low, high) = (edges[0], edges[edges.len() - 1]);
            return write!(f, "{} bins from {low} to {high}", alphabet.len());
        }
        let size = alphabet.len();
        let shown = if size > LISTED { SHOWN } else { size };
        let names: Vec<String> = (0..shown).map(|x| quoted(&alphabet.label(x))).collect();
        f.write_str(&names.join(", "))?;
        if shown < size { write!(f, ", … ({size} symbols)") } else { Ok(()) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn named(names: &str) -> Symbols {
        Symbols::names(names.split(' ').map(String::from).collect()).unwrap()
    }

    fn numbers(list: &[&str]) -> Vec<undertone_core::Decimal> {
        list.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn names_match_in_any_order() {
        assert_eq!(named("a b c").places("it", &named("a b c")).unwrap(), None);
        // Where the wanted c, a, b are found in a, b, c.
        assert_eq!(named("a b c").places("it", &named("c a b")).unwrap(), Some(vec![2, 0, 1]));
    }

    #[test]
    fn other_names_are_refused_with_both_lists() {
        let said = named("a b d").places("the second prior", &named("a b c")).unwrap_err();
        let said = said.to_string();
        for part in ["the second prior", r#""a", "b", "d""#, r#""a", "b", "c""#, r#""d" is not"#] {
            assert!(said.contains(part), "{said}");
        }
        assert!(named("a b").places("it", &named("a b c")).is_err());
        assert!(Symbols::names(vec!["a".into(), "a".into()]).is_err());
    }

    #[test]
    fn unnamed_symbols_match_as_many_unnamed_ones_alone() {
        assert_eq!(Symbols::unnamed(2).places("it", &Symbols::unnamed(2)).unwrap(), None);
        let size = Symbols::unnamed(2).places("it", &Symbols::unnamed(3)).unwrap_err();
        assert!(matches!(size, Error::Size { expected: 3, found: 2, .. }));
        let mixed = Symbols::unnamed(2).places("it", &named("a b")).unwrap_err().to_string();
        assert!(mixed.contains("2 unnamed symbols") && mixed.contains("or of neither"), "{mixed}");
        assert!(named("a b").places("it", &Symbols::unnamed(2)).is_err());
    }

    #[test]
    fn numbers_match_their_names_and_bins_their_edges() {
        let points = Symbols::of(&Alphabet::points(numbers(&["1", "2.5"])).unwrap());
        assert_eq!(points.places("it", &named("2.5 1")).unwrap(), Some(vec![1, 0]));
        assert!(points.places("it", &named("2.50 1")).is_err());
        let bins = |edges: &[&str], values: &[&str]| {
            Symbols::of(&Alphabet::bins(numbers(edges), numbers(values)).unwrap())
        };
        let two = bins(&["0", "1", "2"], &["0.5", "1.5"]);
        assert_eq!(two.places("it", &bins(&["0", "1", "2"], &["0.4", "1"])).unwrap(), None);
        let near = bins(&["0", "1.0000000000001", "2"], &["0.5", "1.5"]);
        assert_eq!(two.places("it", &near).unwrap(), None);
        assert!(two.places("it", &bins(&["0", "1.1", "2"], &["0.5", "1.5"])).is_err());
        assert!(two.places("it", &named("0.5 1.5")).is_err());
    }

    #[test]
    fn messages_stay_short() {
        let many = |start: usize| {
            Symbols::names((start..start + 1000).map(|x| format!("s{x}")).collect()).unwrap()
        };
        let said = many(0).places("it", &many(1)).unwrap_err().to_string();
        assert!(said.len() < 400 && said.contains("(1000 symbols)"), "{said}");
        let long = Symbols::names(vec!["x".repeat(100_000), "y".into()]).unwrap();
        let said = long.places("it", &named("a b")).unwrap_err().to_string();
        assert!(said.len() < 400, "{} bytes", said.len());
    }
}
