//! Policies that list the same symbols in another order, brought into one.
//!
//! In all of this `order[x]` is the policy's own index of what the pool calls symbol x.

use crate::Error;
use crate::channel::Channel;
use undertone_core::{Context, Prior, PriorBox, Priors, Secret};

/// The entries of a list, symbol by symbol, in the pool's order.
pub(crate) fn picked<T: Clone>(list: &[T], order: &[usize]) -> Vec<T> {
    order.iter().map(|&at| list[at].clone()).collect()
}

/// Whether anything moves.
pub(crate) fn moves(order: &[usize]) -> bool {
    order.iter().enumerate().any(|(x, &at)| x != at)
}

impl Channel {
    /// Whether the outputs are the inputs' own symbols, and move with them.
    pub(crate) fn releases_inputs(&self) -> bool {
        matches!(self, Self::Keep(_) | Self::Bits(_))
    }

    /// This channel with its symbols in the pool's order.
    pub(crate) fn reordered(self, order: &[usize]) -> Self {
        match self {
            Self::Table(table) => Self::Table(table.reordered(order)),
            Self::Keep(mut keep) => {
                (keep.keep, keep.base) = (picked(&keep.keep, order), picked(&keep.base, order));
                Self::Keep(keep)
            }
            Self::Bits(bits) => Self::Bits(bits.reordered(order)),
        }
    }
}

/// A context with its symbols in the pool's order.
pub(crate) fn context(context: &Context, order: &[usize]) -> Result<Context, Error> {
    let refused = |error: &dyn std::fmt::Display| Error::malformed(error.to_string());
    let prior =
        |prior: &Prior| Prior::new(picked(prior.weights(), order)).map_err(|error| refused(&error));
    Ok(match context {
        Context::Unknown => Context::Unknown,
        Context::Known(known) => Context::Known(prior(known)?),
        Context::Each(priors) => {
            let list = priors.as_slice().iter().map(prior).collect::<Result<_, _>>()?;
            Context::Each(Priors::new(list).map_err(|error| refused(&error))?)
        }
        Context::Within(within) => {
            let (lower, upper) = (picked(within.lower(), order), picked(within.upper(), order));
            Context::Within(PriorBox::new(lower, upper).map_err(|error| refused(&error))?)
        }
        Context::Secret(secret) => {
            let rows = secret.rows().iter().map(prior).collect::<Result<_, _>>()?;
            let (name, law) = (secret.name().to_owned(), secret.prior().clone());
            Context::Secret(Secret::new(name, law, rows).map_err(|error| refused(&error))?)
        }
    })
}
