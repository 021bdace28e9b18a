//! The same symbols in several orders: for tests that an order changes nothing.

use undertone_design::prior_region::PriorBox;
use undertone_design::{Channel, Distribution, Error, Symbols};

use crate::dice::Dice;
use crate::{channel, law};

/// The symbols that everything is about.
pub const NAMES: [&str; 4] = ["north", "east", "south", "west"];
/// How many there are.
pub const SIZE: usize = NAMES.len();

/// Symbols with these names.
pub fn symbols(names: &[&str]) -> Symbols {
    Symbols::names(names.iter().map(ToString::to_string).collect()).unwrap()
}

/// A channel's rows, one per symbol, in multiples of 2^-10.
pub fn rows(dice: &mut Dice, outputs: usize) -> Vec<Vec<f64>> {
    channel::rows(SIZE, outputs, law::dyadic, dice)
}

/// A value about symbols, for any list of them: all turned, renamed or without names.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Listed {
    /// In their usual order.
    Plain,
    /// In this order.
    Turned([usize; SIZE]),
    /// One of them is another.
    Other,
    /// Without names.
    Unnamed,
}

impl Listed {
    fn order(self) -> [usize; SIZE] {
        match self {
            Self::Turned(order) => order,
            _ => [0, 1, 2, 3],
        }
    }

    /// The list.
    pub fn symbols(self) -> Symbols {
        match self {
            Self::Plain | Self::Turned(_) => symbols(&self.order().map(|x| NAMES[x])),
            Self::Other => symbols(&["north", "east", "south", "up"]),
            Self::Unnamed => Symbols::unnamed(SIZE),
        }
    }

    /// What belongs to the symbols, in their order.
    pub fn pick<T: Clone>(self, list: &[T]) -> Vec<T> {
        self.order().iter().map(|&x| list[x].clone()).collect()
    }

    /// A law of the symbols.
    pub fn law(self, p: &[f64]) -> Distribution {
        Distribution::new("p", self.pick(p)).unwrap().over(&self.symbols()).unwrap()
    }

    /// A channel from the symbols.
    pub fn channel(self, rows: &[Vec<f64>]) -> Channel {
        Channel::new(self.pick(rows)).unwrap().of_inputs(&self.symbols()).unwrap()
    }

    /// A box of priors around a law.
    pub fn within(self, p: &[f64]) -> PriorBox {
        let p = self.pick(p);
        let lower = p.iter().map(|p| p / 2.0).collect();
        let upper = p.iter().map(|p| (p * 1.5).min(1.0)).collect();
        PriorBox::new(lower, upper).unwrap().over(&self.symbols()).unwrap()
    }
}

/// Asserts that `ask` gives the same answer however its argument lists the symbols, and refuses other
/// symbols. `ask` is told how the argument is to list them.
#[track_caller]
pub fn matched<T: PartialEq + std::fmt::Debug>(
    dice: &mut Dice,
    what: &str,
    ask: impl Fn(Listed) -> Result<T, Error>,
) {
    let expected = ask(Listed::Plain).unwrap_or_else(|error| panic!("{what}: {error}"));
    let mut order = [3, 1, 0, 2];
    order.rotate_left(dice.below(4));
    for order in [order, [1, 0, 3, 2], [3, 2, 1, 0]] {
        let found = ask(Listed::Turned(order)).unwrap_or_else(|e| panic!("{what}: {e}"));
        assert_eq!(found, expected, "{what}, turned {order:?}");
    }
    for odd in [Listed::Other, Listed::Unnamed] {
        let refused = ask(odd).expect_err(what);
        assert!(matches!(refused, Error::Symbols { .. }), "{what}, {odd:?}: {refused}");
    }
}
