//! From floats to the integers that ship: round, then mix until the kernel accepts.
//!
//! A design sits exactly on its bound, so rounding alone would break it by a hair. The rounded
//! channel is mixed with the uniform distribution on the used outputs, just enough for the kernel
//! to accept; full mixing is one row repeated, which satisfies every claim, so the search always
//! ends. Mixing with the output's marginal instead would multiply the violations of outputs that
//! are hardly ever released.

use undertone_core::{
    Alphabet, AlphabetView, Claim, Context, Decimal, Draft, MASS_ONE, Policy, Prior, Provenance,
    Refusal, Shape, Table, WEIGHT_ONE,
};

use std::borrow::Cow;

use crate::{Channel, Distribution, Error, Symbols};

/// Outputs whose largest probability is below this are ghosts of a solver's tolerance and are dropped.
pub const GHOST: f64 = 1e-9;

/// Everything of a policy but its channel.
#[derive(Debug, Clone)]
pub struct PolicySpec {
    /// The alphabet of what goes in.
    pub inputs: Alphabet,
    /// What comes out, if it is not the inputs' own symbols.
    pub outputs: Option<Alphabet>,
    /// The context: what is assumed about the data.
    pub context: Context,
    /// The claims to be made.
    pub claims: Vec<Claim>,
    /// The origin of the prior.
    pub provenance: Provenance,
}

/// A verified policy and what it took.
#[derive(Debug, Clone)]
pub struct Shipped {
    /// The policy.
    pub policy: Policy,
    /// The share of the uniform distribution that was mixed in; 0 if rounding alone was accepted.
    pub mixed: f64,
}

/// A distribution rounded to integers, and how far it moved.
#[derive(Debug, Clone)]
pub struct RoundedPrior {
    /// The integers.
    pub prior: Prior,
    /// The total variation distance to the floats, in units of 2^-48, rounded up.
    pub moved: u64,
}

/// Integers that sum to exactly `one`, as close as possible to `one` times `p`: rounded down, then
/// the largest remainders get one unit more. Zeros stay zero.
pub fn largest_remainder(p: &[f64], one: u64) -> Vec<u64> {
    let scaled: Vec<f64> = p.iter().map(|p| p * one as f64).collect();
    let mut parts: Vec<u64> = scaled.iter().map(|s| s.floor() as u64).collect();
    let mut order: Vec<usize> = (0..p.len()).filter(|&at| p[at] > 0.0).collect();
    let remainder = |at: &usize| scaled[*at] - scaled[*at].floor();
    order.sort_by(|a, b| remainder(b).total_cmp(&remainder(a)).then(a.cmp(b)));
    let sum: u64 = parts.iter().sum();
    // Floats that sum to one only within their precision may leave a few units either way.
    for at in order.iter().cycle().take(one.saturating_sub(sum) as usize) {
        parts[*at] += 1;
    }
    let mut excess = sum.saturating_sub(one);
    let mut largest: Vec<usize> = (0..parts.len()).collect();
    largest.sort_by_key(|&at| std::cmp::Reverse(parts[at]));
    for at in largest {
        let taken = excess.min(parts[at]);
        parts[at] -= taken;
        excess -= taken;
    }
    parts
}

/// A prior in units of 2^-32.
pub fn prior(p: &Distribution) -> Result<RoundedPrior, Error> {
    let weights = largest_remainder(p.as_slice(), WEIGHT_ONE);
    let distance = weights.iter().zip(p.as_slice());
    let distance: f64 = distance.map(|(&w, p)| (w as f64 / WEIGHT_ONE as f64 - p).abs()).sum();
    let moved = (distance / 2.0 * MASS_ONE as f64 * (1.0 + 1e-12)).ceil() as u64;
    let prior = Prior::new(weights).map_err(|error| Error::other("prior", error.to_string()))?;
    Ok(RoundedPrior { prior, moved })
}

/// The channel's rows as integers in units of 2^-48, mixed with `share` of the uniform distribution
/// on the outputs.
fn table(channel: &Channel, share: f64) -> Result<Table, Error> {
    let uniform = share / channel.outputs() as f64;
    let rows = channel.rows().iter().map(|row| {
        let mixed: Vec<f64> = row.as_slice().iter().map(|q| (1.0 - share) * q + uniform).collect();
        largest_remainder(&mixed, MASS_ONE)
    });
    Table::from_masses(rows.collect()).map_err(|error| Error::other("channel", error.to_string()))
}

impl PolicySpec {
    /// `prior` in the order of the inputs; refuses a prior of other symbols.
    pub fn in_order<'a>(&self, prior: &'a Distribution) -> Result<Cow<'a, Distribution>, Error> {
        prior.in_order_of("the prior", &Symbols::of(&self.inputs))
    }

    /// `channel` with inputs and, where it names them, outputs in the order of the promise's.
    fn matched<'a>(&self, channel: &'a Channel) -> Result<Cow<'a, Channel>, Error> {
        let channel = channel.in_order_of("the channel", &Symbols::of(&self.inputs))?;
        if !channel.output_symbols().are_named() {
            return Ok(channel);
        }
        let outputs = Symbols::of(self.outputs.as_ref().unwrap_or(&self.inputs));
        let ordered = channel.outputs_in_order_of("the channel's outputs", &outputs)?;
        Ok(Cow::Owned(ordered.into_owned()))
    }

    fn draft(&self, shape: Shape) -> Result<Draft, Error> {
        let Self { inputs, outputs, context, claims, provenance } = self.clone();
        Draft::new(inputs, outputs, shape, context, claims, provenance)
            .map_err(|error| Error::other("policy", error.to_string()))
    }

    /// This promise over the outputs `kept` of the `all` there were: the output alphabet names
    /// those only. Without names of their own, outputs are the inputs' symbols if there are as many,
    /// and bare numbers otherwise.
    pub fn releasing(&self, all: usize, kept: &[usize]) -> Result<Self, Error> {
        let named = self.outputs.as_ref().or((self.inputs.len() == all).then_some(&self.inputs));
        let outputs = match named {
            Some(alphabet) if alphabet.len() != all => {
                return Err(Error::Size {
                    what: "the output alphabet".into(),
                    expected: all,
                    found: alphabet.len(),
                });
            }
            _ if kept.len() == all && self.outputs.is_none() && self.inputs.len() == all => None,
            Some(alphabet) => Some(subset(alphabet, kept)?),
            None => Some(subset(
                &Alphabet::indices(all)
                    .map_err(|error| Error::other("outputs", error.to_string()))?,
                kept,
            )?),
        };
        Ok(Self { outputs, ..self.clone() })
    }

    /// The verdict on the channel as it is, only rounded.
    pub fn verify(&self, channel: &Channel) -> Result<Result<Policy, Refusal>, Error> {
        let channel = self.matched(channel)?;
        Ok(self.draft(Shape::Table(table(&channel, 0.0)?))?.verify())
    }

    /// The verdict on a shape as it is.
    pub fn verify_shape(&self, shape: Shape) -> Result<Result<Policy, Refusal>, Error> {
        Ok(self.draft(shape)?.verify())
    }

    /// The policy of the highest level from 0 to `most` whose shape verifies, and that level. Shapes
    /// must leak more at higher levels and nothing at level 0. `guess` is where to look first.
    pub fn strongest(
        &self,
        guess: u64,
        most: u64,
        shape: impl Fn(u64) -> Result<Shape, Error>,
    ) -> Result<(Policy, u64), Error> {
        // No verdict depends on what symbols are called, and a million names take longer to copy than to judge.
        let unnamed = self.unnamed()?;
        let attempt = |level: u64| unnamed.verify_shape(shape(level)?);
        // Strides double away from the guess until the verdict changes; bisection does the rest.
        let mut best = None;
        let (mut refused, mut level, mut stride) = (most.saturating_add(1), guess.min(most), 1);
        loop {
            match attempt(level)? {
                Ok(policy) => {
                    best = Some((policy, level));
                    if refused <= most || level == most {
                        break;
                    }
                    level = level.saturating_add(stride).min(most);
                }
                Err(refusal) if level == 0 => {
                    return Err(Error::other(
                        "claims",
                        format!("even a constant output: {refusal}"),
                    ));
                }
                Err(_) => {
                    refused = level;
                    if best.is_some() {
                        break;
                    }
                    level = level.saturating_sub(stride);
                }
            }
            stride = stride.saturating_mul(4);
        }
        let Some(mut best) = best else {
            return Err(Error::other("claims", "no level of this mechanism satisfies them all"));
        };
        while refused - best.1 > 1 {
            let middle = best.1 + (refused - best.1) / 2;
            match attempt(middle)? {
                Ok(policy) => best = (policy, middle),
                Err(_) => refused = middle,
            }
        }
        let (policy, level) = best;
        if !Symbols::of(&self.inputs).are_named() && self.outputs.is_none() {
            return Ok((policy, level));
        }
        drop(policy);
        match self.verify_shape(shape(level)?)? {
            Ok(policy) => Ok((policy, level)),
            Err(refusal) => Err(Error::other("claims", refusal.to_string())),
        }
    }

    /// This promise over bare indices instead of names.
    fn unnamed(&self) -> Result<Self, Error> {
        let bare = |alphabet: &Alphabet| {
            let bare = Alphabet::indices(alphabet.len());
            bare.map_err(|error| Error::other("policy", error.to_string()))
        };
        Ok(Self {
            inputs: bare(&self.inputs)?,
            outputs: self.outputs.as_ref().map(bare).transpose()?,
            context: self.context.clone(),
            claims: self.claims.clone(),
            provenance: Provenance::default(),
        })
    }

    /// Rounds `channel` and mixes it until every claim verifies.
    pub fn ship(&self, channel: &Channel) -> Result<Shipped, Error> {
        let channel = &*self.matched(channel)?;
        let attempt = |share: f64| {
            let draft = self.draft(Shape::Table(table(channel, share)?))?;
            Ok::<_, Error>(draft.verify().ok().map(|policy| Shipped { policy, mixed: share }))
        };
        if let Some(shipped) = attempt(0.0)? {
            return Ok(shipped);
        }
        // Doubling from the unit of rounding up to full mixing, then bisection between the last
        // refused and the first accepted share.
        let (mut refused, mut share) = (0.0, 1.0 / MASS_ONE as f64);
        let mut shipped = loop {
            if let Some(shipped) = attempt(share)? {
                break shipped;
            }
            if share >= 1.0 {
                // One row repeated: only a claim no channel can meet gets here.
                return Err(Error::other(
                    "claims",
                    "no channel over these outputs satisfies them all",
                ));
            }
            refused = share;
            share = (2.0 * share).min(1.0);
        };
        for _ in 0..12 {
            let middle = (refused + shipped.mixed) / 2.0;
            match attempt(middle)? {
                Some(better) => shipped = better,
                None => refused = middle,
            }
        }
        Ok(shipped)
    }
}

/// The symbols of `alphabet` at `kept`, in that order.
fn subset(alphabet: &Alphabet, kept: &[usize]) -> Result<Alphabet, Error> {
    if kept.iter().copied().eq(0..alphabet.len()) {
        return Ok(alphabet.clone());
    }
    let refuse = |error: undertone_core::AlphabetError| Error::other("outputs", error.to_string());
    if let Some(&at) = kept.iter().find(|&&at| at >= alphabet.len()) {
        let problem = format!("there is no output {at} among {}", alphabet.len());
        return Err(Error::other("outputs", problem));
    }
    let points = match alphabet.view() {
        AlphabetView::Names(names) => {
            let names = kept.iter().map(|&at| names[at].clone());
            return Alphabet::names(names).map_err(refuse);
        }
        AlphabetView::Indices(_) => kept
            .iter()
            .map(|&at| Decimal::new(at as i64, 0))
            .collect::<Result<_, _>>()
            .map_err(|error| Error::other("outputs", error.to_string()))?,
        AlphabetView::Points(values) | AlphabetView::Bins { values, .. } => {
            kept.iter().map(|&at| values[at]).collect::<Vec<_>>()
        }
    };
    // Two bins may share a representative value at their common edge, and kept outputs may be in any
    // order: then they are told apart by name.
    Alphabet::points(points).or_else(|_| {
        let name = |&at: &usize| format!("{at}: {}", alphabet.label(at));
        Alphabet::names(kept.iter().map(name)).map_err(refuse)
    })
}

/// Drops outputs that are never released (largest probability below [`GHOST`]), by releasing instead
/// of each the kept output it is most like: post-processing, so no claim suffers. Rescaling the rows
/// would pull the kept outputs' likelihoods apart. Returns the outputs kept.
pub fn drop_ghosts(channel: &Channel) -> Result<(Channel, Vec<usize>), Error> {
    let used = |&y: &usize| channel.column(y).any(|q| q >= GHOST);
    let (kept, ghosts): (Vec<usize>, Vec<usize>) = (0..channel.outputs()).partition(used);
    let row = |row: &Distribution| kept.iter().map(|&y| row[y]).collect::<Vec<_>>();
    let mut rows: Vec<_> = channel.rows().iter().map(row).collect();
    for ghost in ghosts {
        // The share of the ghost's column that lies along the kept one's.
        let likeness = |y: usize| {
            let dot: f64 = channel.column(ghost).zip(channel.column(y)).map(|(a, b)| a * b).sum();
            dot * dot / channel.column(y).map(|q| q * q).sum::<f64>()
        };
        let best = (0..kept.len()).max_by(|&a, &b| likeness(kept[a]).total_cmp(&likeness(kept[b])));
        // A row sums to one, so without 10^9 outputs some are kept.
        let Some(best) = best else { continue };
        for (row, q) in rows.iter_mut().zip(channel.column(ghost)) {
            row[best] += q;
        }
    }
    let rows = rows.into_iter().map(|row| Distribution::normalised("channel row", row));
    Ok((Channel::from_rows(rows.collect::<Result<_, _>>()?)?, kept))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use undertone_core::Epsilon;

    #[test]
    fn remainders_sum_to_one_and_zeros_stay() {
        let parts = largest_remainder(&[1.0 / 3.0, 0.0, 1.0 / 3.0, 1.0 / 3.0], WEIGHT_ONE);
        assert_eq!(parts.iter().sum::<u64>(), WEIGHT_ONE);
        assert_eq!(parts[1], 0);
    }

    #[test]
    fn a_prior_moves_less_than_a_unit_per_symbol() {
        let p = Distribution::normalised("p", (1..=100).map(f64::from).collect()).unwrap();
        let rounded = prior(&p).unwrap();
        assert!(rounded.moved > 0 && rounded.moved < 100 << 16);
    }

    #[test]
    fn a_channel_on_its_bound_ships_with_hardly_any_mixing() {
        let e = 1f64.exp();
        let rr = Channel::new(vec![
            vec![e / (1.0 + e), 1.0 / (1.0 + e)],
            vec![1.0 / (1.0 + e), e / (1.0 + e)],
        ])
        .unwrap();
        let spec = PolicySpec {
            inputs: Alphabet::indices(2).unwrap(),
            outputs: None,
            context: Context::Unknown,
            claims: vec![Claim::ldp(Epsilon::parse("1").unwrap())],
            provenance: Provenance::default(),
        };
        assert!(spec.verify(&rr).unwrap().is_err(), "float e is above the odds of the claim");
        let shipped = spec.ship(&rr).unwrap();
        assert!(shipped.mixed < 1e-9, "{}", shipped.mixed);
    }

    #[test]
    fn even_the_identity_ships_once_it_is_drowned() {
        let spec = PolicySpec {
            inputs: Alphabet::indices(3).unwrap(),
            outputs: None,
            context: Context::Unknown,
            claims: vec![Claim::ldp(Epsilon::ZERO)],
            provenance: Provenance::default(),
        };
        let shipped = spec.ship(&Channel::identity(3).unwrap()).unwrap();
        assert_eq!(shipped.mixed, 1.0);
    }

    #[test]
    fn kept_outputs_keep_their_names() {
        let spec = |inputs: Alphabet| PolicySpec {
            inputs,
            outputs: None,
            context: Context::Unknown,
            claims: vec![Claim::ldp(Epsilon::ZERO)],
            provenance: Provenance::default(),
        };
        let label = |spec: &PolicySpec| {
            let outputs = spec.outputs.as_ref().unwrap();
            (0..outputs.len()).map(|y| outputs.label(y)).collect::<Vec<_>>().join(" ")
        };
        let names = ["a", "b", "c"].map(String::from).to_vec();
        let named = spec(Alphabet::names(names).unwrap());
        assert!(named.releasing(3, &[0, 1, 2]).unwrap().outputs.is_none());
        assert_eq!(label(&named.releasing(3, &[0, 2]).unwrap()), "a c");
        assert_eq!(label(&named.releasing(4, &[1, 3]).unwrap()), "1 3");
        assert!(named.releasing(3, &[3]).is_err());
        let numbers = |list: [&str; 3]| list.map(|text| text.parse().unwrap()).to_vec();
        let edges = [numbers(["0", "1", "2"]), vec!["3".parse().unwrap()]].concat();
        let bins = |values| spec(Alphabet::bins(edges.clone(), values).unwrap());
        let binned = bins(numbers(["0.5", "1.5", "2.5"]));
        assert_eq!(label(&binned.releasing(3, &[0, 2]).unwrap()), "0.5 2.5");
        let shared = bins(numbers(["1", "1", "2.5"]));
        assert_eq!(label(&shared.releasing(3, &[0, 1]).unwrap()), "0: 1 1: 1");
        let binned = binned.releasing(3, &[0, 2]).unwrap();
        assert!(binned.releasing(3, &[0]).is_err(), "two outputs are named, not three");
    }

    #[test]
    fn ghosts_are_dropped() {
        let c = Channel::new(vec![vec![0.5, 1e-12, 0.5 - 1e-12], vec![0.2, 1e-13, 0.8 - 1e-13]]);
        let (c, kept) = drop_ghosts(&c.unwrap()).unwrap();
        assert_eq!((c.outputs(), kept), (2, vec![0, 2]));
    }
}
