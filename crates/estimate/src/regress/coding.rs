//! The columns of the model matrix that a formula's terms become.

use super::formula::{Formula, Operand, Term};
use super::variables::{Variable, Variables, categories};
use crate::{Error, Factor};
use std::ops::Range;

/// The name of the coefficient of the intercept, as R writes it.
pub const INTERCEPT: &str = "(Intercept)";

/// A column of the model matrix: the product of its atoms, 1 if there are none.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Coded {
    pub(super) name: String,
    pub(super) atoms: Vec<Atom>,
}

/// What a column of the model matrix is multiplied from.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Atom {
    /// A variable's number.
    Number(String),
    /// 1 where a variable has this category or symbol, by index, and 0 elsewhere.
    Level(String, u32),
}

/// All columns of a model matrix, and which of them belong to which term.
#[derive(Clone, Debug)]
pub(super) struct Coding {
    pub(super) columns: Vec<Coded>,
    pub(super) terms: Vec<(String, Range<usize>)>,
    /// Columns that are added as they are.
    pub(super) offsets: Vec<String>,
}

/// What the operands of a formula are: the names of categories or symbols, and the categories made of numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Levels {
    /// Categories of columns of numbers, by name.
    pub(super) made: Vec<(String, Factor)>,
    /// The names of categories and symbols, by column.
    pub(super) named: Vec<(String, Vec<String>)>,
}

impl Levels {
    pub(super) fn of(formula: &Formula, variables: &Variables) -> Result<Self, Error> {
        let mut levels = Self::default();
        for operand in formula.terms().iter().flat_map(Term::operands) {
            if levels.of_column(&operand.name).is_some() {
                continue;
            }
            let named = match variables.get(&operand.name)? {
                Variable::Number(numbers) if operand.categories => {
                    let factor = categories(&operand.name, numbers)?;
                    let named = factor.levels().to_vec();
                    levels.made.push((operand.name.clone(), factor));
                    named
                }
                Variable::Number(_) => continue,
                Variable::Category(factor) => factor.levels().to_vec(),
                Variable::Randomised { evidence, .. } => evidence.levels().to_vec(),
            };
            levels.named.push((operand.name.clone(), named));
        }
        Ok(levels)
    }

    /// The names alone.
    pub(super) fn without_rows(&self) -> Self {
        Self { made: Vec::new(), named: self.named.clone() }
    }

    pub(super) fn of_column(&self, name: &str) -> Option<&[String]> {
        self.named.iter().find(|(known, _)| known == name).map(|(_, levels)| levels.as_slice())
    }
}

/// Whether an operand is a number in the model matrix, or one column for every category.
fn is_number(operand: &Operand, variables: &Variables) -> Result<bool, Error> {
    Ok(!operand.categories
        && match variables.get(&operand.name)? {
            Variable::Number(_) => true,
            Variable::Category(_) => false,
            Variable::Randomised { values, .. } => values.is_some(),
        })
}

impl Coding {
    /// The columns of these terms. Categories have one column for each but the reference, or for each where a product or a
    /// formula without intercept has nothing else that stands for the reference.
    pub(super) fn new(
        terms: &[Term],
        intercept: bool,
        offsets: &[String],
        variables: &Variables,
        levels: &Levels,
    ) -> Result<Self, Error> {
        let mut coding = Self { columns: Vec::new(), terms: Vec::new(), offsets: offsets.to_vec() };
        for name in offsets {
            if !matches!(variables.get(name)?, Variable::Number(_)) {
                let problem = format!("offset({name}) is not a column of clear numbers: give one");
                return Err(Error::unanswerable("formula", problem));
            }
        }
        if intercept {
            coding.columns.push(Coded { name: INTERCEPT.into(), atoms: Vec::new() });
            coding.terms.push((INTERCEPT.into(), 0..1));
        }
        let mut constant = intercept;
        for term in terms {
            let start = coding.columns.len();
            let mut products = vec![Coded { name: String::new(), atoms: Vec::new() }];
            for operand in term.operands() {
                let choices = if is_number(operand, variables)? {
                    vec![Coded {
                        name: operand.name.clone(),
                        atoms: vec![Atom::Number(operand.name.clone())],
                    }]
                } else {
                    let others: Vec<&Operand> =
                        term.operands().iter().filter(|other| *other != operand).collect();
                    let spanned = match others.as_slice() {
                        [] => std::mem::replace(&mut constant, true),
                        others => terms.iter().any(|known| known.is_like(others)),
                    };
                    of_categories(operand, levels, spanned)?
                };
                products = products
                    .iter()
                    .flat_map(|product| choices.iter().map(|choice| product.times(choice)))
                    .collect();
            }
            coding.columns.extend(products);
            coding.terms.push((term.name(), start..coding.columns.len()));
        }
        if coding.columns.is_empty() {
            let problem =
                "there is nothing on its right-hand side: keep the intercept, or name a column";
            return Err(Error::unanswerable("formula", problem));
        }
        Ok(coding)
    }
}

impl Coded {
    fn times(&self, other: &Self) -> Self {
        let name = match self.name.as_str() {
            "" => other.name.clone(),
            name => format!("{name}:{}", other.name),
        };
        Self { name, atoms: self.atoms.iter().chain(&other.atoms).cloned().collect() }
    }
}

/// One column for each category, but for the reference where something else stands for it.
fn of_categories(operand: &Operand, levels: &Levels, spanned: bool) -> Result<Vec<Coded>, Error> {
    let Operand { name, reference, .. } = operand;
    let named = levels.of_column(name).unwrap_or_default();
    let reference = match reference {
        None => 0,
        Some(wanted) => named.iter().position(|level| level == wanted).ok_or_else(|| {
            let listed = named.iter().take(8).map(String::as_str).collect::<Vec<_>>().join(", ");
            let problem =
                format!("{name} has no category {wanted} to compare with: it has {listed}");
            Error::unanswerable("formula", problem)
        })?,
    };
    if named.len() < 2 && spanned {
        let problem = format!(
            "{name} has one category only, which explains nothing: take it out of the formula"
        );
        return Err(Error::unanswerable("formula", problem));
    }
    let kept = named.iter().enumerate().filter(|(at, _)| !spanned || *at != reference);
    let coded = |(at, level): (usize, &String)| Coded {
        name: format!("{name}[{level}]"),
        atoms: vec![Atom::Level(name.clone(), at as u32)],
    };
    Ok(kept.map(coded).collect())
}
