//! A policy's integers as floats, for measures and plots. Never the way to a guarantee.

use undertone_core::incidence::{Family, Incidence};
use undertone_core::{Bits, Context, Draft, KEEP_ONE, MASS_ONE, Prior, Shape, WEIGHT_ONE};

use crate::plan::coins::{self, binomial};
use crate::{Channel, Distribution, Error, Joint, Symbols};

/// Channels with more cells than this are not written out.
pub const MAX_CELLS: usize = 1 << 22;

fn fractions(parts: &[u64], one: u64) -> Vec<f64> {
    parts.iter().map(|&part| part as f64 / one as f64).collect()
}

/// A prior's weights as a distribution.
pub fn distribution(prior: &Prior) -> Result<Distribution, Error> {
    Distribution::new("prior", fractions(prior.weights(), WEIGHT_ONE))
}

/// The law of the data a context speaks of: the prior, the law of X behind a secret; `None` where
/// the context has no single one.
pub fn prior(context: &Context) -> Result<Option<Distribution>, Error> {
    match context {
        Context::Known(prior) => distribution(prior).map(Some),
        Context::Secret(_) => secret(context)?.map(|joint| joint.data()).transpose(),
        Context::Unknown | Context::Each(_) | Context::Within(_) => Ok(None),
    }
}

/// The joint law of a context's secret and the data.
pub fn secret(context: &Context) -> Result<Option<Joint>, Error> {
    let Context::Secret(secret) = context else { return Ok(None) };
    let rows = secret.rows().iter().map(distribution).collect::<Result<_, _>>()?;
    Joint::from_parts(distribution(secret.prior())?, Channel::from_rows(rows)?).map(Some)
}

/// A policy's channel, written out, for the inputs and outputs the policy names (vectors of bits have no
/// names).
pub fn policy_channel(draft: &Draft) -> Result<Channel, Error> {
    let channel = channel(draft.shape())?.of_inputs(&Symbols::of(draft.inputs()))?;
    if draft.shape().releases_bits() {
        return Ok(channel);
    }
    channel.of_outputs(&Symbols::of(draft.outputs()))
}

/// The law of the data a policy's context speaks of, of the inputs the policy names; `None` where the
/// context has no single one.
pub fn policy_prior(draft: &Draft) -> Result<Option<Distribution>, Error> {
    let prior = prior(draft.context())?;
    prior.map(|prior| prior.over(&Symbols::of(draft.inputs()))).transpose()
}

/// How many different tokens there are: outputs, vectors of bits, or subsets.
pub fn tokens(shape: &Shape) -> usize {
    match shape {
        Shape::Bits(bits) => 1usize.checked_shl(bits.symbols() as u32).unwrap_or(usize::MAX),
        Shape::Incidence(incidence) => match incidence.family() {
            Family::Subsets(subsets) => binomial(incidence.symbols(), subsets.size()),
            Family::Geometry(_) | Family::Listed(_) => shape.outputs(),
        },
        Shape::Table(_) | Shape::Keep(_) => shape.outputs(),
    }
}

/// The channel, written out as a bare matrix; for `Bits` every vector of bits is an output, bit 0 the most significant, and
/// where subsets are released every one of them, in lexicographic order.
pub fn channel(shape: &Shape) -> Result<Channel, Error> {
    let outputs = tokens(shape);
    let size = shape.inputs().saturating_mul(outputs);
    if size > MAX_CELLS {
        return Err(Error::TooLarge {
            what: "the channel".into(),
            size,
            limit: MAX_CELLS,
            fix: "use the exact figures of the certificate, which do not need it written out"
                .into(),
        });
    }
    match shape {
        Shape::Table(table) => {
            Channel::new(table.rows().iter().map(|row| fractions(row.masses(), MASS_ONE)).collect())
        }
        Shape::Keep(keep) => {
            let base = fractions(keep.base().masses(), MASS_ONE);
            let row = |(x, &k): (usize, &u64)| {
                let kept = k as f64 / KEEP_ONE as f64;
                let mut row: Vec<f64> = base.iter().map(|b| (1.0 - kept) * b).collect();
                row[x] += kept;
                row
            };
            Channel::new(keep.keep().iter().enumerate().map(row).collect())
        }
        Shape::Bits(bits) => {
            Channel::new((0..bits.symbols()).map(|x| bits_row(bits, x, outputs)).collect())
        }
        Shape::Incidence(incidence) => Channel::new(block_rows(incidence, outputs)),
    }
}

fn bits_row(bits: &Bits, x: usize, outputs: usize) -> Vec<f64> {
    let set = |at: usize| {
        let units = if at == x { bits.own() } else { bits.other() };
        units as f64 / WEIGHT_ONE as f64
    };
    let symbols = bits.symbols();
    let likelihood = |y: usize| {
        let bit = |at: usize| y >> (symbols - 1 - at) & 1 == 1;
        (0..symbols).map(|at| if bit(at) { set(at) } else { 1.0 - set(at) }).product()
    };
    (0..outputs).map(likelihood).collect()
}

/// The rows of a channel that releases blocks. All blocks with the input are taken as equally likely, and all without: an
/// index of 8 bytes is uneven by less than a float is.
fn block_rows(incidence: &Incidence, outputs: usize) -> Vec<Vec<f64>> {
    let symbols = incidence.symbols();
    let own = incidence.coin() as f64 / MASS_ONE as f64;
    let rows = |each: usize, contains: &dyn Fn(usize, usize) -> bool| {
        let (inside, outside) = (own / each as f64, (1.0 - own) / (outputs - each) as f64);
        let cell = |x: usize, y: usize| if contains(y, x) { inside } else { outside };
        (0..symbols).map(|x| (0..outputs).map(|y| cell(x, y)).collect()).collect()
    };
    match (incidence.family(), incidence.replication()) {
        (Family::Subsets(subsets), _) => {
            let sets = coins::subsets(symbols, subsets.size());
            let with_input = binomial(symbols - 1, subsets.size() - 1);
            rows(with_input, &|y, x| sets[y].binary_search(&x).is_ok())
        }
        (_, each) => rows(each.unwrap_or(1), &|y, x| incidence.contains(y as u32, x as u32)),
    }
}
