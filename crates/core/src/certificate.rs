//! Exact verification: what a channel attains, and whether that is what it claims.

use crate::claim::{Bound, Claim, Delta, PlainUnits, Subject};
use crate::context::{Context, Secret};
use crate::delta;
use crate::incidence::{self, Incidence};
use crate::likelihood::{Dense, Extremes, KeepView, Likelihoods, marginal};
use crate::ratio::Ratio;
use crate::shape::{Bits, Shape};
use crate::unary;
use crate::wide::Wide;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

/// The place where a ratio is attained.
///
/// For `Bits` the output stands for the vector in which every bit but this symbol's speaks against
/// its symbol (or the complement, for falling belief); patterns that are no single output are `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Cell {
    /// The output's index; `None` where it is no single output.
    pub output: Option<u32>,
    /// The input, or value of the secret, whose likelihood is on top.
    pub high: Option<u32>,
    /// The input, or value of the secret, whose likelihood is below; for LIP the marginal takes the place of one
    /// of the two.
    pub low: Option<u32>,
    /// The index of the prior, where the context is a list of them.
    pub prior: Option<u32>,
}

/// The largest ratio of its kind, and where it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Worst {
    /// The largest ratio; its logarithm is the leakage.
    pub ratio: Ratio,
    /// The place where the ratio is attained.
    pub cell: Cell,
}

/// What a channel truly attains about one subject: the smallest e^ε at which each pure claim would verify.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Strength {
    /// Any two likelihoods of one output.
    pub ldp: Worst,
    /// Posterior over prior (max-lift) at worst; `None` when no context is known.
    pub upper: Option<Worst>,
    /// Prior over posterior (min-lift) at worst; `None` when no context is known.
    pub lower: Option<Worst>,
    /// Whether these are the channel's own levels, or bounds a little above them (blocks, whose numbers do not divide
    /// an index of 8 bytes evenly).
    pub exact: bool,
}

impl Strength {
    /// The two-sided LIP ratio: the worse of the two sides.
    pub fn lip(&self) -> Option<Ratio> {
        Some(self.upper?.ratio.max(self.lower?.ratio))
    }
}

/// The least δ at a claim's odds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LeastDelta {
    /// The least δ as an exact ratio.
    pub ratio: Ratio,
    /// The row (and the row it is compared with) that needs it.
    pub cell: Cell,
    /// Whether this is only an upper bound (a box of priors: worst cases are added output by output).
    pub bound: bool,
}

/// The proof's summary: what was claimed and what is attained.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// What is attained about the input.
    pub input: Strength,
    /// What is attained about the secret, where the context has one.
    pub secret: Option<Strength>,
    /// For each claim in order, the least δ at its odds; `None` for pure claims.
    pub deltas: Vec<Option<LeastDelta>>,
}

/// The inequality that failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// Likelihood against likelihood.
    Ldp,
    /// Belief rises too far.
    Upper,
    /// Belief falls too far.
    Lower,
    /// Posterior odds between two inputs.
    Di,
    /// More probability escapes than δ.
    Delta,
}

/// A claim that is false, the cell that shows it, and by how much it fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The index of the claim in the draft, from 0.
    pub index: usize,
    /// The claim that is false.
    pub claim: Claim,
    /// The inequality that fails.
    pub side: Side,
    /// The place where it fails.
    pub cell: Cell,
    /// The ratio that is attained there.
    pub attained: Ratio,
    /// The largest ratio that the claim allows.
    pub allowed: Ratio,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.fmt_named(f, &|input| input.to_string(), &|output| output.to_string())
    }
}

impl Refusal {
    /// Writes the refusal in words, with what `input` and `output` call a symbol; values of a secret have no names.
    pub fn fmt_named(
        &self,
        f: &mut fmt::Formatter<'_>,
        input: &dyn Fn(u32) -> String,
        output: &dyn Fn(u32) -> String,
    ) -> fmt::Result {
        let Self { index, claim, side, cell, attained, allowed } = self;
        write!(f, "claim {index} ({claim}) is false")?;
        let index_alone = |value: u32| value.to_string();
        let (who, called): (_, &dyn Fn(u32) -> String) = match claim.about {
            Subject::Input => ("input", input),
            Subject::Secret => ("secret value", &index_alone),
        };
        match cell.output {
            Some(y) => write!(f, " at output {}", output(y))?,
            None if *side == Side::Delta => {}
            None => f.write_str(" at a pattern of bits")?,
        }
        match (cell.high, cell.low) {
            (Some(a), Some(b)) => write!(f, ", {who} {} against {}", called(a), called(b))?,
            (Some(x), None) | (None, Some(x)) => write!(f, ", {who} {}", called(x))?,
            (None, None) => {}
        }
        if let Some(prior) = cell.prior {
            write!(f, ", prior {prior}")?;
        }
        let side = match side {
            Side::Delta => {
                let needed = PlainUnits(attained.scaled_up(48));
                return write!(f, ": it needs a delta of {needed} and allows {}", claim.delta);
            }
            Side::Upper => "belief rises by",
            Side::Lower => "belief falls by",
            Side::Di => "posterior odds reach",
            Side::Ldp => "likelihoods differ by",
        };
        let allowed = allowed.ln_up().unwrap_or_default();
        match attained.ln_up() {
            Some(attained) => write!(f, ": {side} {attained} nats and {allowed} are allowed"),
            None => write!(f, ": {side} an unbounded factor and {allowed} nats are allowed"),
        }
    }
}

impl core::error::Error for Refusal {}

/// A channel and its context, prepared for checking.
enum View<'a> {
    Listed(&'a dyn Likelihoods),
    Bits(&'a Bits),
    Blocks(&'a Incidence),
}

/// Least and greatest probability of each output over the context's priors.
pub(crate) struct Marginals {
    /// (least, its prior), (greatest, its prior); units of 2^-(unit + scale).
    pub(crate) range: Vec<[(Wide, Option<u32>); 2]>,
    /// Bits between the likelihoods' unit and the marginals'.
    pub(crate) scale: u32,
}

impl Marginals {
    /// One prior: least and greatest are the same.
    pub(crate) fn exact(sums: Vec<Wide>, scale: u32) -> Self {
        Self { range: sums.into_iter().map(|m| [(m, None), (m, None)]).collect(), scale }
    }
}

/// Runs `f` on the shape's view.
fn with_view<T>(shape: &Shape, f: impl FnOnce(View<'_>) -> T) -> T {
    match shape {
        Shape::Table(table) => f(View::Listed(&Dense::table(table))),
        Shape::Keep(keep) => f(View::Listed(&KeepView::new(keep))),
        Shape::Bits(bits) => f(View::Bits(bits)),
        Shape::Incidence(incidence) => f(View::Blocks(incidence)),
    }
}

/// The context as far as it speaks of this channel: one over another alphabet says nothing about it.
fn fitting<'a>(shape: &Shape, context: &'a Context) -> &'a Context {
    match context.inputs() {
        Some(size) if size != shape.inputs() => &Context::Unknown,
        _ => context,
    }
}

/// Verifies every claim about `shape` in `context`, exactly. It relies on nothing [`Draft::new`](crate::Draft::new)
/// checks: a claim that cannot be examined is refused.
pub(crate) fn certify(
    shape: &Shape,
    context: &Context,
    claims: &[Claim],
) -> Result<Certificate, Refusal> {
    let context = fitting(shape, context);
    with_view(shape, |view| {
        let found = examine(&view, context);
        let hold = |(index, claim)| check(index, claim, &view, context, &found);
        let deltas = claims.iter().enumerate().map(hold).collect::<Result<_, _>>()?;
        Ok(Certificate { input: found.input, secret: found.secret, deltas })
    })
}

/// What the channel attains about its input, and about the secret where there is one.
pub(crate) fn attained(shape: &Shape, context: &Context) -> (Strength, Option<Strength>) {
    let found = with_view(shape, |view| examine(&view, fitting(shape, context)));
    (found.input, found.secret)
}

/// What the channel attains about its input under a prior in units of 2^-48.
pub(crate) fn attained_under(shape: &Shape, weights: &[u64]) -> Strength {
    with_view(shape, |view| match view {
        View::Bits(bits) => unary::strength_under(bits, weights),
        View::Blocks(blocks) => incidence::strength_under(blocks, weights),
        View::Listed(channel) => {
            let marginals = Marginals::exact(channel.mixture(weights), 48);
            strength((0..channel.outputs()).map(|y| channel.extremes(y)), Some(&marginals))
        }
    })
}

/// Everything the claims are held against.
struct Findings {
    input: Strength,
    secret: Option<Strength>,
    marginals: Option<Marginals>,
    pushed: Option<Pushed>,
}

fn examine(view: &View<'_>, context: &Context) -> Findings {
    let secret = match context {
        Context::Secret(secret) => Some(secret),
        _ => None,
    };
    match view {
        View::Bits(bits) => Findings {
            input: unary::strength(bits, context),
            secret: secret.map(|secret| unary::secret_strength(bits, secret)),
            marginals: None,
            pushed: None,
        },
        View::Blocks(blocks) => Findings {
            input: incidence::strength(blocks, context),
            secret: secret.map(|secret| incidence::secret_strength(blocks, secret)),
            marginals: None,
            pushed: None,
        },
        View::Listed(channel) => {
            let pushed = secret.map(|secret| Pushed::new(*channel, secret));
            let marginals = marginals(*channel, context, pushed.as_ref());
            let columns = (0..channel.outputs()).map(|y| channel.extremes(y));
            let input = strength(columns, marginals.as_ref());
            Findings { input, secret: pushed.as_ref().map(Pushed::strength), marginals, pushed }
        }
    }
}

/// Holds one claim against what was found, and gives its least δ unless it is pure.
fn check(
    index: usize,
    claim: &Claim,
    view: &View<'_>,
    context: &Context,
    found: &Findings,
) -> Result<Option<LeastDelta>, Refusal> {
    let refuse_above = |side: Side, worst: Option<Worst>, allowed: Ratio| {
        // What was not found has no bound.
        let Worst { ratio: attained, cell } = worst.unwrap_or(UNBOUNDED);
        let refusal = Refusal { index, claim: *claim, side, cell, attained, allowed };
        if attained <= allowed { Ok(()) } else { Err(refusal) }
    };
    if claim.delta != Delta::ZERO {
        let least = match (view, claim.about, &found.pushed) {
            (View::Listed(channel), Subject::Input, _) => {
                delta::of_input(&claim.bound, *channel, context, found.marginals.as_ref())
            }
            (View::Listed(_), Subject::Secret, Some(pushed)) => {
                delta::of_secret(&claim.bound, pushed)
            }
            (View::Listed(_), Subject::Secret, None) | (View::Bits(_) | View::Blocks(_), _, _) => {
                None
            }
        };
        let allowed = Ratio::new(Wide::from(claim.delta.units()), Wide::power_of_two(48));
        let worst = least.map(|LeastDelta { ratio, cell, .. }| Worst { ratio, cell });
        refuse_above(Side::Delta, worst, allowed.unwrap_or(Ratio::ZERO))?;
        return Ok(least);
    }
    let strength = match claim.about {
        Subject::Input => Some(&found.input),
        Subject::Secret => found.secret.as_ref(),
    };
    match claim.bound {
        Bound::Ldp(epsilon) => refuse_above(Side::Ldp, strength.map(|s| s.ldp), epsilon.ratio())?,
        Bound::Lip { lower, upper } => {
            refuse_above(Side::Upper, strength.and_then(|s| s.upper), upper.ratio())?;
            refuse_above(Side::Lower, strength.and_then(|s| s.lower), lower.ratio())?;
        }
        Bound::Di(epsilon) => {
            let about_input = claim.about == Subject::Input;
            let worst = about_input.then(|| identifiability(view, context)).flatten();
            refuse_above(Side::Di, worst, epsilon.ratio())?;
        }
    }
    Ok(None)
}

/// The largest posterior odds between two inputs, over the context's priors; `None` where the
/// context has no prior to weigh them with.
fn identifiability(view: &View<'_>, context: &Context) -> Option<Worst> {
    let priors = match context {
        Context::Known(prior) => core::slice::from_ref(prior),
        Context::Each(priors) => priors.as_slice(),
        _ => return None,
    };
    let mut worst = NOTHING;
    for (at, prior) in priors.iter().enumerate() {
        let columns = match view {
            View::Listed(channel) => channel.weighted_extremes(prior.weights()),
            View::Bits(bits) => {
                unary::weighted_extremes(bits, prior.weights()).into_iter().collect()
            }
            View::Blocks(blocks) => {
                incidence::weighted_extremes(blocks, prior.weights()).into_iter().collect()
            }
        };
        for (y, Extremes { high, low }) in columns.into_iter().enumerate() {
            let output = match view {
                View::Listed(_) => Some(y),
                // The pattern in which only the heaviest input's bit speaks for its symbol, if bits speak at all.
                View::Bits(bits) => (bits.own() != bits.other()).then_some(high.1),
                View::Blocks(blocks) => blocks.favouring(high.1, low.1).map(|block| block as usize),
            };
            let cell = Cell {
                output: output.map(|y| y as u32),
                high: Some(high.1 as u32),
                low: Some(low.1 as u32),
                prior: matches!(context, Context::Each(_)).then_some(at as u32),
            };
            keep_worst(&mut worst, high.0, low.0, cell);
        }
    }
    Some(worst)
}

/// Keeps the worse of the worst so far and one more ratio; 0/0 is an output that cannot occur.
pub(crate) fn keep_worst(worst: &mut Worst, numerator: Wide, denominator: Wide, cell: Cell) {
    if let Some(ratio) = Ratio::new(numerator, denominator)
        && ratio > worst.ratio
    {
        *worst = Worst { ratio, cell };
    }
}

const NOWHERE: Cell = Cell { output: None, high: None, low: None, prior: None };
/// Nothing leaks, as far as was seen.
pub(crate) const NOTHING: Worst = Worst { ratio: Ratio::ONE, cell: NOWHERE };
/// What a claim is held against where nothing was found.
const UNBOUNDED: Worst = Worst { ratio: Ratio::UNBOUNDED, cell: NOWHERE };

/// The worst ratios over all outputs.
fn strength(columns: impl Iterator<Item = Extremes>, marginals: Option<&Marginals>) -> Strength {
    let (mut ldp, mut upper, mut lower) = (NOTHING, NOTHING, NOTHING);
    for (y, Extremes { high, low }) in columns.enumerate() {
        let output = Some(y as u32);
        let (top, bottom) = (Some(high.1 as u32), Some(low.1 as u32));
        let cell = Cell { output, high: top, low: bottom, prior: None };
        keep_worst(&mut ldp, high.0, low.0, cell);
        let Some(marginals) = marginals else { continue };
        let [(least, least_at), (greatest, greatest_at)] = marginals.range[y];
        let cell = Cell { output, high: top, low: None, prior: least_at };
        keep_worst(&mut upper, high.0 << marginals.scale, least, cell);
        let cell = Cell { output, high: None, low: bottom, prior: greatest_at };
        keep_worst(&mut lower, greatest, low.0 << marginals.scale, cell);
    }
    let known = marginals.is_some();
    Strength { ldp, upper: known.then_some(upper), lower: known.then_some(lower), exact: true }
}

fn marginals(
    channel: &dyn Likelihoods,
    context: &Context,
    pushed: Option<&Pushed>,
) -> Option<Marginals> {
    Some(match context {
        Context::Unknown => return None,
        Context::Known(prior) => Marginals::exact(channel.mixture(prior.weights()), 32),
        Context::Each(priors) => {
            let mut range: Vec<[(Wide, Option<u32>); 2]> = Vec::new();
            for (at, prior) in priors.as_slice().iter().enumerate() {
                let here = Some(at as u32);
                for (y, m) in channel.mixture(prior.weights()).into_iter().enumerate() {
                    match range.get_mut(y) {
                        None => range.push([(m, here), (m, here)]),
                        Some([least, _]) if m < least.0 => *least = (m, here),
                        Some([_, greatest]) if m > greatest.0 => *greatest = (m, here),
                        Some(_) => {}
                    }
                }
            }
            Marginals { range, scale: 32 }
        }
        Context::Within(within) => {
            let ranges = channel.box_ranges(within);
            let range = ranges.into_iter().map(|(l, g)| [(l, None), (g, None)]).collect();
            Marginals { range, scale: 32 }
        }
        Context::Secret(_) => Marginals { range: pushed?.marginals.range.clone(), scale: 64 },
    })
}

/// A channel pushed forward from the secret: c(y|s) = Σ_x P(x|s) w(y|x).
pub(crate) struct Pushed {
    pub(crate) rows: Vec<Vec<Wide>>,
    /// The unit of the rows: their entries are multiples of 2^-`unit`.
    pub(crate) unit: u32,
    pub(crate) marginals: Marginals,
}

impl Pushed {
    fn new(channel: &dyn Likelihoods, secret: &Secret) -> Self {
        let rows: Vec<_> = secret.rows().iter().map(|row| channel.mixture(row.weights())).collect();
        let sums = marginal(secret.prior().weights(), &rows);
        Self { rows, unit: channel.unit() + 32, marginals: Marginals::exact(sums, 32) }
    }

    fn strength(&self) -> Strength {
        let column =
            |y: usize| Extremes::of(self.rows.iter().enumerate().map(|(s, row)| (row[y], s)));
        strength((0..self.marginals.range.len()).map(column), Some(&self.marginals))
    }
}

#[cfg(test)]
mod tests;
