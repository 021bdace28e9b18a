//! A finite channel in floats: one distribution over outputs for every input.

use std::borrow::Cow;

use crate::{Distribution, Error, Symbols};

/// A row-stochastic matrix q(y|x), one row per input x; at least one row and one column.
///
/// Inputs and outputs are symbols ([`Channel::of_inputs`], [`Channel::of_outputs`] name them), and
/// whatever joins a channel with a law or with another channel matches them by symbol or refuses. A bare
/// matrix, as [`Channel::new`] makes it, has no inputs of its own: its rows are in the order of the law
/// it is used with, whatever that law names. Where laws with different orders meet, a bare matrix
/// is ambiguous, and who brings them together must refuse it ([`Channel::is_bare`]).
#[derive(Debug, Clone, PartialEq)]
pub struct Channel {
    rows: Vec<Distribution>,
    /// `None` for a bare matrix.
    inputs: Option<Symbols>,
}

impl Channel {
    /// Checks that every row is a distribution over the same outputs.
    pub fn new(rows: Vec<Vec<f64>>) -> Result<Self, Error> {
        let rows = rows
            .into_iter()
            .enumerate()
            .map(|(x, row)| Distribution::new(&format!("channel row {x}"), row))
            .collect::<Result<Vec<_>, _>>()?;
        Self::from_rows(rows)
    }

    /// A bare matrix from rows that are distributions already, with the outputs of the first row.
    pub fn from_rows(mut rows: Vec<Distribution>) -> Result<Self, Error> {
        let Some(first) = rows.first() else {
            return Err(Error::Empty { what: "channel".into() });
        };
        let outputs = first.symbols().clone();
        for (x, row) in rows.iter_mut().enumerate() {
            if let Cow::Owned(ordered) = row.in_order_of(&format!("channel row {x}"), &outputs)? {
                *row = ordered;
            }
        }
        Ok(Self { rows, inputs: None })
    }

    /// This channel's matrix, row by row, for these inputs.
    pub fn of_inputs(self, symbols: &Symbols) -> Result<Self, Error> {
        let (expected, found) = (self.inputs(), symbols.len());
        if expected != found {
            return Err(Error::Size { what: "the list of inputs".into(), expected, found });
        }
        Ok(Self { inputs: Some(symbols.clone()), ..self })
    }

    /// This channel's matrix, column by column, with these outputs.
    pub fn of_outputs(self, symbols: &Symbols) -> Result<Self, Error> {
        let rows = self.rows.into_iter().map(|row| row.over(symbols));
        Ok(Self { rows: rows.collect::<Result<_, _>>()?, inputs: self.inputs })
    }

    /// Reveals everything: n inputs, n outputs, y = x.
    pub fn identity(n: usize) -> Result<Self, Error> {
        Self::new((0..n).map(|x| (0..n).map(|y| f64::from(u8::from(x == y))).collect()).collect())
    }

    /// How many inputs.
    pub fn inputs(&self) -> usize {
        self.rows.len()
    }

    /// How many outputs.
    pub fn outputs(&self) -> usize {
        self.rows[0].len()
    }

    /// What the rows are for; a bare matrix has only so many.
    pub fn input_symbols(&self) -> Symbols {
        self.inputs.clone().unwrap_or_else(|| Symbols::unnamed(self.inputs()))
    }

    /// What the columns are for.
    pub fn output_symbols(&self) -> &Symbols {
        self.rows[0].symbols()
    }

    /// Whether the rows are in the order of whatever law this channel is used with.
    pub fn is_bare(&self) -> bool {
        self.inputs.is_none()
    }

    /// The rows, one per input.
    pub fn rows(&self) -> &[Distribution] {
        &self.rows
    }

    /// q(y|x).
    pub fn q(&self, x: usize, y: usize) -> f64 {
        self.rows[x][y]
    }

    /// One output's likelihoods, one per input.
    pub fn column(&self, y: usize) -> impl Iterator<Item = f64> + Clone + '_ {
        self.rows.iter().map(move |row| row[y])
    }

    /// This channel with its inputs in the order of the prior's symbols. Refuses a prior of other symbols.
    pub fn under(&self, prior: &Distribution) -> Result<Cow<'_, Self>, Error> {
        if self.is_bare() && prior.len() != self.inputs() {
            return Err(Error::Size {
                what: "the prior".into(),
                expected: self.inputs(),
                found: prior.len(),
            });
        }
        self.in_order_of("the channel", prior.symbols())
    }

    /// This channel with its inputs in the `wanted` order, which is also that of a bare matrix's rows.
    /// Refuses other inputs than those wanted; `what` names this channel in the refusal.
    pub fn in_order_of(&self, what: &str, wanted: &Symbols) -> Result<Cow<'_, Self>, Error> {
        let Some(inputs) = &self.inputs else {
            let (expected, found) = (wanted.len(), self.inputs());
            if expected != found {
                return Err(Error::Size { what: what.into(), expected, found });
            }
            return Ok(Cow::Borrowed(self));
        };
        Ok(match inputs.places(what, wanted)? {
            None => Cow::Borrowed(self),
            Some(places) => {
                let rows = places.iter().map(|&x| self.rows[x].clone()).collect();
                Cow::Owned(Self { rows, inputs: Some(wanted.clone()) })
            }
        })
    }

    /// This channel with its outputs in the `wanted` order; refuses other outputs.
    pub fn outputs_in_order_of(
        &self,
        what: &str,
        wanted: &Symbols,
    ) -> Result<Cow<'_, Self>, Error> {
        Ok(match self.output_symbols().places(what, wanted)? {
            None => Cow::Borrowed(self),
            Some(_) => {
                let row = |row: &Distribution| row.in_order_of(what, wanted).map(Cow::into_owned);
                let rows = self.rows.iter().map(row).collect::<Result<_, _>>()?;
                Cow::Owned(Self { rows, inputs: self.inputs.clone() })
            }
        })
    }

    /// The law of the output under `prior`.
    pub fn output_law(&self, prior: &Distribution) -> Result<Distribution, Error> {
        let channel = self.under(prior)?;
        let mut law = vec![0.0; self.outputs()];
        for (row, &p) in channel.rows.iter().zip(prior.as_slice()) {
            for (sum, &q) in law.iter_mut().zip(row.as_slice()) {
                *sum += p * q;
            }
        }
        self.rows[0].reweighed("the output's law", law)
    }

    /// First this channel, then `next` on its output (a Markov chain X - Y - Z).
    pub fn then(&self, next: &Self) -> Result<Self, Error> {
        let next = next.in_order_of("the second channel's inputs", self.output_symbols())?;
        let rows = self.rows.iter().map(|row| next.output_law(row)).collect::<Result<_, _>>()?;
        Ok(Self { inputs: self.inputs.clone(), ..Self::from_rows(rows)? })
    }

    /// Both channels on the same input, independently: outputs are pairs, the second index fastest.
    pub fn beside(&self, other: &Self) -> Result<Self, Error> {
        let what = "the second channel's inputs";
        let (first, second) = match &self.inputs {
            Some(inputs) => (Cow::Borrowed(self), other.in_order_of(what, inputs)?),
            // Rows without names are in the other's order, if that has one.
            None => (self.in_order_of(what, &other.input_symbols())?, Cow::Borrowed(other)),
        };
        let pair = |(a, b): (&Distribution, &Distribution)| {
            let row = a.as_slice().iter().flat_map(|p| b.as_slice().iter().map(move |q| p * q));
            Distribution::normalised("product row", row.collect())
        };
        let rows = first.rows.iter().zip(&second.rows).map(pair).collect::<Result<_, _>>()?;
        let inputs = self.inputs.clone().or_else(|| other.inputs.clone());
        Ok(Self { inputs, ..Self::from_rows(rows)? })
    }
}

/// Every channel with its inputs in the order of its own law's symbols, one law per channel.
pub fn under_each<'a, 'b>(
    channels: &'a [Channel],
    laws: impl IntoIterator<Item = &'b Distribution>,
) -> Result<Cow<'a, [Channel]>, Error> {
    let ordered = channels
        .iter()
        .zip(laws)
        .map(|(channel, law)| channel.under(law))
        .collect::<Result<Vec<_>, _>>()?;
    let moved = ordered.iter().any(|channel| matches!(channel, Cow::Owned(_)));
    Ok(match moved {
        true => Cow::Owned(ordered.into_iter().map(Cow::into_owned).collect()),
        false => Cow::Borrowed(channels),
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn symbols(names: &str) -> Symbols {
        Symbols::names(names.split(' ').map(String::from).collect()).unwrap()
    }

    fn matrix() -> Channel {
        Channel::new(vec![vec![0.9, 0.1], vec![0.2, 0.8]]).unwrap()
    }

    #[test]
    fn a_law_meets_its_channel_symbol_by_symbol() {
        let prior = Distribution::new("p", vec![0.25, 0.75]).unwrap();
        let prior = prior.over(&symbols("no yes")).unwrap();
        let named = matrix().of_inputs(&symbols("yes no")).unwrap();
        let law = named.output_law(&prior).unwrap();
        assert!((law[0] - (0.75 * 0.9 + 0.25 * 0.2)).abs() < 1e-15);
        // A bare matrix has its rows in the order of the law it meets.
        let bare = matrix().output_law(&prior).unwrap();
        assert!((bare[0] - (0.25 * 0.9 + 0.75 * 0.2)).abs() < 1e-15);
        for names in ["yes maybe", "yes no maybe"] {
            let wide = Distribution::uniform(names.split(' ').count());
            let other = wide.over(&symbols(names)).unwrap();
            assert!(matches!(named.output_law(&other), Err(Error::Symbols { .. })), "{names}");
        }
        assert!(named.output_law(&Distribution::uniform(2)).is_err());
        assert!(matches!(matrix().output_law(&Distribution::uniform(3)), Err(Error::Size { .. })));
    }

    #[test]
    fn a_chain_is_matched_at_its_joint() {
        let first = matrix().of_outputs(&symbols("x y")).unwrap();
        let second = matrix().of_inputs(&symbols("y x")).unwrap();
        let chain = first.then(&second).unwrap();
        assert!((chain.q(0, 0) - (0.9 * 0.2 + 0.1 * 0.9)).abs() < 1e-15);
        assert!(matrix().then(&second).is_err(), "unnamed outputs meet named inputs");
        assert!(first.then(&matrix()).is_ok(), "a bare matrix has the order of what it meets");
    }

    #[test]
    fn channels_of_one_input_are_matched_on_either_side() {
        let named = matrix().of_inputs(&symbols("yes no")).unwrap();
        let turned = named.in_order_of("it", &symbols("no yes")).unwrap().into_owned();
        assert_eq!(turned.rows()[0], named.rows()[1]);
        let pair = named.beside(&turned).unwrap();
        assert_eq!(pair, named.beside(&named).unwrap());
        assert_eq!(matrix().beside(&named).unwrap(), pair);
        assert!(named.beside(&matrix().of_inputs(&symbols("a b")).unwrap()).is_err());
    }
}
