//! A regression with its columns looked up, coded and checked.

use super::coding::{Coding, Levels};
use super::formula::{Formula, Operand, Term};
use super::matrix::{Combinations, Hidden, ModelMatrix};
use super::variables::{Variable, Variables, categories};
use super::{Family, PredictorLaw, Regression};
use crate::{Error, Evidence, Sample};

/// What the outcome is.
pub(super) enum Target<'a> {
    /// One symbol of a column against the rest.
    Event { evidence: Symbols<'a>, symbol: usize },
    /// Symbols of a column.
    Classes(Symbols<'a>),
    /// Clear numbers.
    Numbers(&'a [f64]),
    /// Reports about numbers.
    Reports { evidence: &'a Evidence, values: &'a [f64] },
}

/// Evidence that a column has, or that was made of its categories.
pub(super) enum Symbols<'a> {
    Own(Evidence),
    Given(&'a Evidence),
}

impl Symbols<'_> {
    pub(super) fn get(&self) -> &Evidence {
        match self {
            Self::Own(evidence) => evidence,
            Self::Given(evidence) => evidence,
        }
    }
}

/// Everything a fit needs but the data's likelihood.
pub(super) struct Prepared<'a> {
    pub(super) family: Family,
    pub(super) target: Target<'a>,
    pub(super) levels: Levels,
    pub(super) coding: Coding,
    pub(super) combinations: Combinations,
    /// The randomised predictors' evidence and the codings of what each is explained by.
    pub(super) predictors: Vec<(&'a Evidence, Coding)>,
    /// Weights that add up to the number of rows.
    pub(super) weights: Option<Vec<f64>>,
}

impl<'a> Prepared<'a> {
    pub(super) fn new(
        asked: &Regression,
        variables: &'a Variables,
        sample: &Sample,
    ) -> Result<Self, Error> {
        let formula = &asked.formula;
        if variables.rows() == 0 {
            return Err(Error::NoReports);
        }
        if sample.rows() != variables.rows() {
            let (expected, found) = (variables.rows(), sample.rows());
            return Err(Error::Size { what: "the sample", expected, found });
        }
        let (family, target) = target(asked, variables)?;
        let levels = Levels::of(formula, variables)?;
        let coding = Coding::new(
            formula.terms(),
            formula.has_intercept(),
            formula.offsets(),
            variables,
            &levels,
        )?;
        let mut hidden = Vec::new();
        let mut evidences = Vec::new();
        for name in formula.columns().into_iter().skip(1) {
            if let Variable::Randomised { evidence, values } = variables.get(name)? {
                let (name, symbols) = (name.to_owned(), evidence.symbols());
                hidden.push(Hidden { name, symbols, values: values.clone() });
                evidences.push(evidence);
            }
        }
        let combinations = Combinations::new(hidden)?;
        let mut predictors = Vec::with_capacity(evidences.len());
        for (place, evidence) in evidences.into_iter().enumerate() {
            let terms = match asked.predictors {
                PredictorLaw::Independent => Vec::new(),
                PredictorLaw::Logit => {
                    explaining(formula, variables, &combinations.hidden[..place])?
                }
            };
            predictors.push((evidence, Coding::new(&terms, true, &[], variables, &levels)?));
        }
        let weights = sample.weights().map(|weights| {
            let scale = sample.rows() as f64 / sample.total_weight();
            weights.iter().map(|weight| weight * scale).collect()
        });
        Ok(Self { family, target, levels, coding, combinations, predictors, weights })
    }

    pub(super) fn matrix(&'a self, variables: &'a Variables) -> Result<ModelMatrix<'a>, Error> {
        ModelMatrix::new(&self.coding, variables, &self.levels, &self.combinations)
    }

    /// The coefficients' names.
    pub(super) fn names(&self) -> Vec<String> {
        self.coding.columns.iter().map(|column| column.name.clone()).collect()
    }
}

/// The terms a randomised predictor is explained by: every clear column of the formula, and the predictors before it.
fn explaining(
    formula: &Formula,
    variables: &Variables,
    before: &[Hidden],
) -> Result<Vec<Term>, Error> {
    let mut terms: Vec<Term> = Vec::new();
    let operands = formula.terms().iter().flat_map(Term::operands).cloned();
    let offset = |name: &String| Operand { name: name.clone(), categories: false, reference: None };
    for operand in operands.chain(formula.offsets().iter().map(offset)) {
        let is_hidden = matches!(variables.get(&operand.name)?, Variable::Randomised { .. });
        let alone = Term::of(operand.clone());
        if !is_hidden && !terms.contains(&alone) {
            terms.push(alone);
        }
    }
    let earlier = before.iter().map(|hidden| {
        Term::of(Operand { name: hidden.name.clone(), categories: true, reference: None })
    });
    terms.extend(earlier);
    Ok(terms)
}

/// The family and what it explains.
fn target<'a>(asked: &Regression, variables: &'a Variables) -> Result<(Family, Target<'a>), Error> {
    let name = asked.formula.outcome();
    let refuse = |problem: String| Err(Error::unanswerable("the regression", problem));
    let symbols = |variable: &'a Variable| -> Result<Symbols<'a>, Error> {
        Ok(match variable {
            Variable::Randomised { evidence, .. } => Symbols::Given(evidence),
            Variable::Category(factor) => {
                Symbols::Own(Evidence::clear(factor.levels().to_vec(), factor.codes().to_vec())?)
            }
            Variable::Number(numbers) => {
                let (levels, codes) = categories(name, numbers)?.into_parts();
                Symbols::Own(Evidence::clear(levels, codes)?)
            }
        })
    };
    let variable = variables.get(name)?;
    let family = match asked.family {
        Some(family) => family,
        None => match variable {
            Variable::Randomised { evidence, .. } if evidence.symbols() == 2 => Family::Logistic,
            Variable::Randomised { values: Some(_), .. } => Family::Linear,
            Variable::Randomised { .. } => Family::Multinomial,
            Variable::Category(factor) if factor.levels().len() == 2 => Family::Logistic,
            Variable::Category(_) => Family::Multinomial,
            Variable::Number(numbers) if numbers.iter().all(|y| *y == 0.0 || *y == 1.0) => {
                Family::Logistic
            }
            Variable::Number(_) => Family::Linear,
        },
    };
    if asked.event.is_some() && family != Family::Logistic {
        return refuse(format!(
            "a symbol against the rest is a logistic regression, not a {} one: leave out the symbol, or the family",
            family.word()
        ));
    }
    let target = match (family, variable) {
        (Family::Linear, Variable::Number(numbers)) => Target::Numbers(numbers),
        (Family::Linear, Variable::Randomised { evidence, values: Some(values) }) => {
            Target::Reports { evidence, values }
        }
        (Family::Linear, _) => {
            return refuse(format!(
                "the symbols of {name} are names, and a linear regression needs numbers: use logistic or multinomial, or a policy over numbers"
            ));
        }
        (Family::Multinomial, variable) => Target::Classes(symbols(variable)?),
        (Family::Logistic, variable) => {
            let evidence = symbols(variable)?;
            let levels = evidence.get().levels();
            let symbol = match &asked.event {
                Some(event) => levels.iter().position(|level| level == event),
                None => (levels.len() == 2).then_some(1),
            };
            let Some(symbol) = symbol else {
                let listed =
                    levels.iter().take(8).map(String::as_str).collect::<Vec<_>>().join(", ");
                return refuse(match &asked.event {
                    Some(event) => format!("{name} has no symbol {event}: it has {listed}"),
                    None => format!(
                        "{name} has {} symbols ({listed}): name the one that a logistic regression sets against the rest, or use multinomial",
                        levels.len()
                    ),
                });
            };
            Target::Event { evidence, symbol }
        }
    };
    if let Target::Event { evidence, .. } | Target::Classes(evidence) = &target
        && evidence.get().symbols() < 2
    {
        return refuse(format!("{name} is the same in every row: there is nothing to explain"));
    }
    Ok((family, target))
}
