//! What a regression explains by what, as people write it.
//!
//! ```text
//! outcome ~ age + female + age:female + C(year, ref=2020) + offset(exposure) - 1
//! ```
//!
//! `a:b` is the product of two terms and `a*b` is `a + b + a:b`; `C(x)` takes a column of numbers as categories and may name
//! the one the others are compared with; `offset(v)` adds v with a coefficient of 1; `- 1` or `+ 0` leaves the intercept out.
//! A name with other characters than letters, digits, `_` and `.` is written between backquotes.

use crate::Error;

/// An outcome and the terms that explain it, in the order of their coefficients: single columns first, then products of two,
/// then of three. No term is listed twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Formula {
    outcome: String,
    terms: Vec<Term>,
    intercept: bool,
    offsets: Vec<String>,
}

/// A column, or the product of several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term(Vec<Operand>);

/// One column of a term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The column's name.
    pub name: String,
    /// Whether its numbers are taken as categories.
    pub categories: bool,
    /// The category that the others are compared with, where one is named.
    pub reference: Option<String>,
}

impl Term {
    /// One column by itself.
    pub(super) fn of(operand: Operand) -> Self {
        Self(vec![operand])
    }

    /// The columns that are multiplied.
    pub fn operands(&self) -> &[Operand] {
        &self.0
    }

    /// The term as it is written: `age:female`.
    pub fn name(&self) -> String {
        self.0.iter().map(|operand| operand.name.as_str()).collect::<Vec<_>>().join(":")
    }

    /// Adds the references that a term of the same columns names; false if one of them differs.
    fn takes_references(&mut self, other: &Self) -> bool {
        for (own, new) in self
            .0
            .iter_mut()
            .flat_map(|own| other.0.iter().find(|new| new.name == own.name).map(|new| (own, new)))
        {
            match (&own.reference, &new.reference) {
                (Some(own), Some(new)) if own != new => return false,
                (None, Some(new)) => own.reference = Some(new.clone()),
                _ => {}
            }
        }
        true
    }

    /// Whether two terms multiply the same columns, in any order.
    pub(crate) fn is_like(&self, other: &[&Operand]) -> bool {
        let inside = |one: &Operand| other.iter().any(|operand| operand.is_like(one));
        self.0.len() == other.len() && self.0.iter().all(inside)
    }

    fn times(&self, other: &Self) -> Self {
        let mut operands = self.0.clone();
        for operand in &other.0 {
            if !operands.iter().any(|known| known.is_like(operand)) {
                operands.push(operand.clone());
            }
        }
        Self(operands)
    }
}

impl Operand {
    fn is_like(&self, other: &Self) -> bool {
        self.name == other.name && self.categories == other.categories
    }
}

/// More terms than these are not made of one product.
const MOST_TERMS: usize = 500;

impl Formula {
    /// Reads a formula; refuses what it does not understand, with the place.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let mut reader = Reader { text, at: 0 };
        let outcome = reader.column("the outcome's name")?;
        reader.expect('~', "`~` behind the outcome, as in `y ~ age`")?;
        let mut formula = Self { outcome, terms: Vec::new(), intercept: true, offsets: Vec::new() };
        let mut removed = match reader.peek() {
            Some('-') => reader.skip(true),
            Some('+') => reader.skip(false),
            _ => false,
        };
        loop {
            formula.read_summand(&mut reader, removed)?;
            removed = match reader.peek() {
                None => break,
                Some('+') => reader.skip(false),
                Some('-') => reader.skip(true),
                Some(_) => return Err(reader.refuse("expected `+`, `-`, `:`, `*` or the end")),
            };
        }
        formula.agree_on_references()?;
        formula.terms.sort_by_key(|term| term.0.len());
        Ok(formula)
    }

    /// The outcome's name.
    pub fn outcome(&self) -> &str {
        &self.outcome
    }

    /// The terms, without the intercept and the offsets.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// Whether there is an intercept.
    pub fn has_intercept(&self) -> bool {
        self.intercept
    }

    /// The columns that are added with a coefficient of 1.
    pub fn offsets(&self) -> &[String] {
        &self.offsets
    }

    /// The names of all columns, the outcome first, each once.
    pub fn columns(&self) -> Vec<&str> {
        let operands = self.terms.iter().flat_map(|term| &term.0).map(|operand| &operand.name);
        let mut names = vec![self.outcome.as_str()];
        for name in operands.chain(&self.offsets) {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    /// Whether a column's numbers are to be read as categories wherever it stands.
    pub fn is_category(&self, name: &str) -> bool {
        let operands = self.terms.iter().flat_map(|term| &term.0);
        let mut own = operands.filter(|operand| operand.name == name).peekable();
        own.peek().is_some() && own.all(|operand| operand.categories)
    }

    fn read_summand(&mut self, reader: &mut Reader, removed: bool) -> Result<(), Error> {
        let start = reader.at;
        if let Some(number) = reader.number() {
            self.intercept = match (number, removed) {
                ("1", false) | ("0", true) => true,
                ("1", true) | ("0", false) => false,
                _ => {
                    reader.at = start;
                    return Err(reader.refuse(
                        "only `1` (the intercept) and `0` (none) are numbers of a formula",
                    ));
                }
            };
            return Ok(());
        }
        if removed {
            return Err(reader
                .refuse("only the intercept can be taken out, with `- 1`: leave the term away"));
        }
        if let Some(name) = reader.offset()? {
            self.offsets.push(name);
            return Ok(());
        }
        let mut terms = vec![reader.product()?];
        while reader.take('*') {
            if terms.len() > MOST_TERMS {
                return Err(reader.refuse(&format!(
                    "these products are more than {MOST_TERMS} terms: write out with `+` and `:` which ones are wanted"
                )));
            }
            let next = reader.product()?;
            let products: Vec<Term> = terms.iter().map(|term| term.times(&next)).collect();
            terms.push(next);
            terms.extend(products);
        }
        for term in terms {
            if term.0.iter().any(|operand| operand.name == self.outcome) {
                reader.at = start;
                return Err(reader.refuse(
                    "the outcome cannot explain itself: take it out of the right-hand side",
                ));
            }
            let operands: Vec<&Operand> = term.0.iter().collect();
            let known = self.terms.iter_mut().find(|known| known.is_like(&operands));
            // References that differ are refused later, so both terms have to stay.
            if !known.is_some_and(|known| known.takes_references(&term)) {
                self.terms.push(term);
            }
        }
        Ok(())
    }

    /// A reference that is named once holds wherever the column stands.
    fn agree_on_references(&mut self) -> Result<(), Error> {
        let operands = self.terms.iter().flat_map(|term| &term.0);
        let named: Vec<(String, String)> = operands
            .filter_map(|operand| Some((operand.name.clone(), operand.reference.clone()?)))
            .collect();
        for operand in self.terms.iter_mut().flat_map(|term| &mut term.0) {
            for (_, reference) in named.iter().filter(|(name, _)| *name == operand.name) {
                match &operand.reference {
                    Some(other) if other != reference => {
                        return Err(Error::unanswerable(
                            "formula",
                            format!(
                                "{} is compared with {reference} in one place and with {other} in another: name one reference",
                                operand.name
                            ),
                        ));
                    }
                    _ => operand.reference = Some(reference.clone()),
                }
            }
        }
        Ok(())
    }
}

/// A formula's text and how far it was read.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let trimmed = rest.trim_start();
        self.at += rest.len() - trimmed.len();
        trimmed
    }

    fn peek(&mut self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Steps over one character, and gives back what the caller makes of it.
    fn skip<T>(&mut self, meaning: T) -> T {
        self.at += self.peek().map_or(0, char::len_utf8);
        meaning
    }

    fn take(&mut self, wanted: char) -> bool {
        self.peek() == Some(wanted) && self.skip(true)
    }

    fn expect(&mut self, wanted: char, what: &str) -> Result<(), Error> {
        if self.take(wanted) { Ok(()) } else { Err(self.refuse(&format!("expected {what}"))) }
    }

    fn refuse(&mut self, problem: &str) -> Error {
        let rest = self.rest();
        let near = match rest {
            "" => "its end".to_owned(),
            rest => format!("`{}`", rest.chars().take(24).collect::<String>()),
        };
        let place = self.text[..self.at].chars().count() + 1;
        let problem = problem.to_owned();
        Error::Formula { place, near, problem }
    }

    fn number(&mut self) -> Option<&'a str> {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rest.len());
        let number = &rest[..end];
        let more = rest[end..].chars().next().is_some_and(|c| c.is_alphanumeric() || c == '_');
        if !number.starts_with(|c: char| c.is_ascii_digit()) || more {
            return None;
        }
        self.at += end;
        Some(number)
    }

    /// A bare word, which may be empty.
    fn word(&mut self) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
        let word = &rest[..end.unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    fn column(&mut self, what: &str) -> Result<String, Error> {
        if let Some(quoted) = self.quoted(&['`'])? {
            return Ok(quoted);
        }
        match self.word() {
            "" => Err(self.refuse(&format!(
                "expected {what}: letters, digits, `_` and `.`, or any text between backquotes"
            ))),
            word => Ok(word.to_owned()),
        }
    }

    /// A text between a pair of these quotes, where one begins here.
    fn quoted(&mut self, quotes: &[char]) -> Result<Option<String>, Error> {
        let Some(quote) = self.peek().filter(|c| quotes.contains(c)) else { return Ok(None) };
        let rest = self.rest();
        let inside = &rest[1..];
        let Some(end) = inside.find(quote) else {
            return Err(self.refuse(&format!("this {quote} has no other that closes it")));
        };
        self.at += end + 2;
        Ok(Some(inside[..end].to_owned()))
    }

    /// `offset(v)`, where it stands here.
    fn offset(&mut self) -> Result<Option<String>, Error> {
        let start = self.at;
        if self.word() != "offset" || !self.take('(') {
            self.at = start;
            return Ok(None);
        }
        let name = self.column("the name of the offset's column")?;
        self.expect(')', "`)` behind the offset's column")?;
        Ok(Some(name))
    }

    fn product(&mut self) -> Result<Term, Error> {
        let mut term = Term(vec![self.operand()?]);
        while self.take(':') {
            term = term.times(&Term(vec![self.operand()?]));
        }
        if self.peek() == Some('^') {
            return Err(
                self.refuse("powers are not part of a formula: add a column with them to the file")
            );
        }
        Ok(term)
    }

    fn operand(&mut self) -> Result<Operand, Error> {
        let start = self.at;
        let quoted = self.peek() == Some('`');
        let name = self.column("a column's name")?;
        if quoted || self.peek() != Some('(') {
            return Ok(Operand { name, categories: false, reference: None });
        }
        if name != "C" {
            self.at = start;
            return Err(self.refuse(
                "the functions of a formula are C(column) and offset(column): add a column with anything else to the file",
            ));
        }
        self.skip(());
        let name = self.column("the name of the column of categories")?;
        let reference = if self.take(',') { Some(self.reference()?) } else { None };
        self.expect(')', "`)` behind the column of categories")?;
        Ok(Operand { name, categories: true, reference })
    }

    /// `ref=north` or `ref="the north"`.
    fn reference(&mut self) -> Result<String, Error> {
        if self.word() != "ref" || !self.take('=') {
            return Err(
                self.refuse("expected `ref=` and the category the others are compared with")
            );
        }
        if let Some(quoted) = self.quoted(&['"', '\'', '`'])? {
            return Ok(quoted);
        }
        let rest = self.rest();
        let level = rest[..rest.find([')', ',']).unwrap_or(rest.len())].trim_end();
        if level.is_empty() {
            return Err(self.refuse("expected the category the others are compared with"));
        }
        self.at += level.len();
        Ok(level.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        Formula::parse(text).unwrap().terms().iter().map(Term::name).collect()
    }

    #[test]
    fn terms_products_and_crossings() {
        assert_eq!(names("y ~ age + female + age:female"), ["age", "female", "age:female"]);
        assert_eq!(names("y ~ a*b + c"), ["a", "b", "c", "a:b"]);
        assert_eq!(names("y~a*b*c"), ["a", "b", "c", "a:b", "a:c", "b:c", "a:b:c"]);
        assert_eq!(names("y ~ a + b:a + a:b + a"), ["a", "b:a"]);
        assert_eq!(names("y ~ 1"), [""; 0]);
        assert_eq!(names("y ~ `a b` + x.1 + 2nd"), ["a b", "x.1", "2nd"]);
    }

    #[test]
    fn intercepts_offsets_and_references() {
        for (text, intercept) in [
            ("y ~ a", true),
            ("y ~ a - 1", false),
            ("y ~ 0 + a", false),
            ("y ~ -1 + a", false),
            ("y ~ 1 + a", true),
        ] {
            assert_eq!(Formula::parse(text).unwrap().has_intercept(), intercept, "{text}");
        }
        let formula = Formula::parse(
            "`my y` ~ C(year, ref=2020) + offset(log.n) + C(year):a + C(b, ref=\"x y\")",
        )
        .unwrap();
        assert_eq!(formula.outcome(), "my y");
        assert_eq!(formula.offsets(), ["log.n"]);
        assert_eq!(formula.columns(), ["my y", "year", "b", "a", "log.n"]);
        assert!(formula.is_category("year") && !formula.is_category("a"));
        assert_eq!(formula.terms()[1].operands()[0].reference.as_deref(), Some("x y"));
        let product = &formula.terms()[2];
        assert_eq!(product.operands()[0].reference.as_deref(), Some("2020"));
    }

    #[test]
    fn refusals_point_at_the_place() {
        for (text, place) in [
            ("", 1),
            ("y", 2),
            ("y ~", 4),
            ("y ~ a +", 8),
            ("y ~ a b", 7),
            ("y ~ a^2", 6),
            ("y ~ log(a)", 5),
            ("y ~ a - b", 9),
            ("y ~ 2", 5),
            ("y ~ a + y", 9),
            ("y ~ `a", 5),
            ("y ~ C(a", 8),
            ("y ~ C(a, level=b)", 15),
            ("y ~ offset(a", 13),
            ("ÿ ~ ä b", 7),
        ] {
            match Formula::parse(text) {
                Err(Error::Formula { place: found, .. }) => assert_eq!(found, place, "{text}"),
                other => panic!("{text}: {other:?}"),
            }
        }
        let words = Formula::parse("y ~ C(a, ref=b) + C(a, ref=c)").unwrap_err().to_string();
        assert!(words.contains("name one reference"), "{words}");
    }
}
