//! From what is wanted to a verified policy: pick the method, solve, round, repair, verify.

use std::borrow::Cow;

use undertone_core::{Context, Policy, Refusal, Shape, Subject};

use crate::informative::{self, Blind};
use crate::mechanism::incidence::{self, Blocks, Kind};
use crate::mechanism::optimum::{Compact, LARGE, Optimum};
use crate::mechanism::printed::Printed;
use crate::mechanism::sampling::KeepOrSample;
use crate::mechanism::staircase::{Krr, Staircase};
use crate::mechanism::symmetric::Flip;
use crate::mechanism::{Mechanism, Proposal, keep, linear, posterior, unary};
use crate::objective::Objective;
use crate::quantize::{self, PolicySpec};
use crate::{Channel, Distribution, Error, protection, to_floats};

/// How the channel is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// The best channel there is.
    Optimal,
    /// The papers' printed formula for this context, valid or not.
    Published,
    /// JLT18's symmetric model: the smallest flip probability for a yes/no question.
    Symmetric,
    /// k-ary randomised response that keeps as much as the claims allow.
    Krr,
    /// Unary bits, optimised for rare symbols.
    Oue,
    /// Unary bits, both probabilities alike.
    Sue,
    /// Keep the input with one probability, else draw from the prior.
    Sampling,
    /// The staircase optimum under the LDP claims.
    ExtremalLdp,
    /// For shares: the best of the channels that are not written out (bits, keep, randomised response), which are found in
    /// no time for any number of symbols.
    Compact,
    /// A subset of the symbols, all of one size alike.
    Subset,
    /// Rows of a Hadamard matrix, by number.
    Hadamard,
    /// Hyperplanes of a projective geometry, by number.
    Projective,
    /// Linear hashing: a function and a bucket, by number.
    Hashing,
    /// Blocks of the best geometry there is, by number.
    Blocks,
    /// Listed blocks of nearly equal mass under a known prior.
    Balanced,
    /// Randomised response for the likeliest symbols and blocks for all others, in one table.
    HeadTail,
}

impl Method {
    /// Every method.
    pub const ALL: [Self; 16] = [
        Self::Optimal,
        Self::Published,
        Self::Symmetric,
        Self::Krr,
        Self::Oue,
        Self::Sue,
        Self::Sampling,
        Self::ExtremalLdp,
        Self::Compact,
        Self::Subset,
        Self::Hadamard,
        Self::Projective,
        Self::Hashing,
        Self::Blocks,
        Self::Balanced,
        Self::HeadTail,
    ];

    /// The mechanism of that name.
    pub fn mechanism(self) -> &'static dyn Mechanism<DesignProblem, Design = DesignOutcome> {
        match self {
            Self::Optimal => &Optimum,
            Self::Published => &Printed,
            Self::Symmetric => &Flip,
            Self::Krr => &Krr,
            Self::Oue => &unary::Encoding::Optimised,
            Self::Sue => &unary::Encoding::Symmetric,
            Self::Sampling => &KeepOrSample,
            Self::ExtremalLdp => &Staircase,
            Self::Compact => &Compact,
            Self::Subset => &Blocks::Subset,
            Self::Hadamard => &Blocks::Numbered(Kind::Hadamard),
            Self::Projective => &Blocks::Numbered(Kind::Projective),
            Self::Hashing => &Blocks::Numbered(Kind::Hashing),
            Self::Blocks => &Blocks::Numbered(Kind::Any),
            Self::Balanced => &Blocks::Balanced,
            Self::HeadTail => &incidence::HeadTail,
        }
    }

    /// The name people ask for it by.
    pub fn name(self) -> &'static str {
        self.mechanism().name()
    }
}

/// A problem for a mechanism: what is promised, and what is to be best.
#[derive(Debug, Clone)]
pub struct DesignProblem {
    /// Inputs, context, claims, provenance.
    pub spec: PolicySpec,
    /// The prior that weighs the objective.
    pub prior: Distribution,
    /// What the channel is for; values and losses in the order of the inputs.
    pub objective: Objective,
    /// How to find it.
    pub method: Method,
    /// Whether a printed formula that misses its claim is shipped with the level it attains.
    pub accept: bool,
    /// The most bits a report may take; `None` for no limit.
    pub max_bits: Option<u32>,
}

/// A verified policy, and everything an honest reader wants beside it.
#[derive(Debug, Clone)]
pub struct Designed {
    /// The policy.
    pub policy: Policy,
    /// What the objective is worth on the policy's integers; `None` where it has no meaning (a loss
    /// between symbols, when bits are released) or the channel is too large to write out.
    pub utility: Option<f64>,
    /// What it was worth before rounding and repair.
    pub optimum: Option<f64>,
    /// A bound nobody can pass, where the method has one.
    pub bound: Option<f64>,
    /// The share of noise mixed in for the kernel to accept.
    pub mixed: f64,
    /// The channel of the integers, as floats, its columns ordered by their most likely input; `None`
    /// where it is too large to write out.
    pub channel: Option<Channel>,
    /// For each of those columns, the policy's output.
    pub outputs: Vec<usize>,
    /// Parameters of closed forms, by name.
    pub parameters: Vec<(&'static str, f64)>,
    /// For a printed formula: what it claims and what it attains.
    pub published: Option<PrintedLevel>,
}

impl Designed {
    /// What the policy's reports do not tell, whatever the number of people.
    pub fn blind(&self) -> Option<Blind> {
        informative::blind(self.policy.draft().shape())
    }
}

/// A printed formula's level, as claimed and as it is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PrintedLevel {
    /// As claimed, in nats.
    pub claimed: f64,
    /// As attained by its real-valued channel.
    pub attained: f64,
}

/// A printed formula that misses its claim.
#[derive(Debug, Clone)]
pub struct Missed {
    /// The claimed and the true level.
    pub level: PrintedLevel,
    /// The kernel's refusal, with the cell.
    pub refusal: Refusal,
    /// The printed channel.
    pub channel: Channel,
}

/// What came of a request.
#[derive(Debug, Clone)]
pub enum DesignOutcome {
    /// A verified policy.
    Shipped(Box<Designed>),
    /// The printed formula leaks more than it claims.
    Missed(Box<Missed>),
}

impl From<Designed> for DesignOutcome {
    fn from(designed: Designed) -> Self {
        Self::Shipped(Box::new(designed))
    }
}

/// A printed channel may miss its claim by this much, in nats, and still be repaired: it sits
/// exactly on the bound, and floats do not.
pub(crate) const PRINTED_SLACK: f64 = 1e-9;

impl DesignProblem {
    /// This request with its prior in the order of the promise's inputs.
    fn in_order(&self) -> Result<Cow<'_, Self>, Error> {
        Ok(match self.spec.in_order(&self.prior)? {
            Cow::Borrowed(_) => Cow::Borrowed(self),
            Cow::Owned(prior) => Cow::Owned(Self { prior, ..self.clone() }),
        })
    }
}

/// Methods that write out a channel with a cell for every pair of symbols take no more symbols than this.
const LARGEST_TABLE: usize = 3_000;

/// Designs, rounds, repairs and verifies. The prior is matched with the promise's inputs by symbol; the
/// objective's values and losses are in the order of those inputs.
pub fn design(request: &DesignProblem) -> Result<DesignOutcome, Error> {
    let request = &*request.in_order()?;
    let table = matches!(request.method, Method::Published | Method::ExtremalLdp);
    if table && request.prior.len() > LARGEST_TABLE {
        return Err(Error::TooLarge {
            what: format!("a table for the method {}", request.method.name()),
            size: request.prior.len(),
            limit: LARGEST_TABLE,
            fix: "use the method optimal, krr, oue or sampling, whose channels are not written out"
                .into(),
        });
    }
    fits_in_bits(request)?;
    let outcome = request.method.mechanism().design(request)?;
    if let (DesignOutcome::Shipped(designed), Some(most)) = (&outcome, request.max_bits) {
        let needed = designed.policy.draft().shape().report_bits();
        if needed > most {
            let problem = format!(
                "a report of the method {} takes {needed} bits, above {most}: give {needed}, or use the method optimal for shares",
                request.method.name()
            );
            return Err(Error::other("max_bits", problem));
        }
    }
    Ok(outcome)
}

/// Shares of k symbols are told apart by k different reports at least.
fn fits_in_bits(request: &DesignProblem) -> Result<(), Error> {
    let least = incidence::symbol_bits(request.prior.len());
    match request.max_bits {
        Some(most) if most < least && request.objective == Objective::Frequency => {
            let symbols = request.prior.len();
            let problem = format!(
                "{most} bits are too few for the shares of {symbols} symbols, which need as many different reports: give {least} or more"
            );
            Err(Error::other("max_bits", problem))
        }
        _ => Ok(()),
    }
}

/// A policy whose shape the mechanism chose itself.
pub(crate) fn shaped(
    request: &DesignProblem,
    policy: Policy,
    parameters: Vec<(&'static str, f64)>,
) -> Result<Designed, Error> {
    let shape = policy.draft().shape();
    let bits = shape.releases_bits();
    let utility = worth(&request.prior, &request.objective, policy.draft().shape())?;
    let small = !bits && shape.inputs() <= LARGE && shape.outputs() <= LARGE;
    let integers = if small { Some(to_floats::channel(policy.draft().shape())?) } else { None };
    // Vectors of bits are not outputs a person would want listed, nor are thousands of them.
    let (channel, outputs) = match integers {
        Some(channel) => {
            let (channel, outputs) = by_most_likely_input(&request.prior, &channel)?;
            (Some(channel), outputs)
        }
        None => (None, Vec::new()),
    };
    Ok(Designed {
        policy,
        utility,
        optimum: utility,
        bound: None,
        mixed: 0.0,
        channel,
        outputs,
        parameters,
        published: None,
    })
}

/// The objective on a shape whose inputs are in the order of the prior, without writing out a large one; `None` where it has
/// no meaning or no formula.
pub fn worth(
    prior: &Distribution,
    objective: &Objective,
    shape: &Shape,
) -> Result<Option<f64>, Error> {
    match (shape, objective) {
        (Shape::Bits(bits), Objective::Frequency) if bits.symbols() > BITS_LISTED => {
            let part = |units: u64| units as f64 / undertone_core::WEIGHT_ONE as f64;
            unary::variance(prior, part(bits.own()), part(bits.other())).map(Some)
        }
        (Shape::Bits(bits), _) if bits.symbols() > BITS_LISTED || objective.is_linear() => Ok(None),
        (Shape::Keep(keep), _) if keep.keep().len() > KEEP_LISTED => {
            match keep::value(keep, prior, objective) {
                None if prior.len() <= LARGE => {
                    objective.value(prior, &to_floats::channel(shape)?).map(Some)
                }
                found => Ok(found),
            }
        }
        (Shape::Table(_), _) if prior.len() > LARGE => Ok(None),
        (Shape::Incidence(blocks), Objective::Frequency) if !blocks_listed(shape) => {
            let counted = incidence::Rates::of(blocks).map(|rates| rates.variance(prior));
            let listed = || incidence::efficient_variance(prior, blocks);
            Ok(counted.or_else(|| listed().filter(|_| prior.len() <= LARGEST_TABLE)))
        }
        // A block is nobody's symbol: a loss between symbols has no meaning.
        (Shape::Incidence(_), _) if objective.is_linear() || !blocks_listed(shape) => Ok(None),
        _ => objective.value(prior, &to_floats::channel(shape)?).map(Some),
    }
}

/// Whether blocks are few enough for an efficient estimate from how often each was released.
fn blocks_listed(shape: &Shape) -> bool {
    shape.inputs() <= BLOCK_SYMBOLS_LISTED && to_floats::tokens(shape) <= BLOCKS_LISTED
}

/// More blocks than this, or blocks of more symbols, are judged by how often each symbol was in them.
const BLOCKS_LISTED: usize = 1 << 10;
const BLOCK_SYMBOLS_LISTED: usize = 64;

/// More bits than this have too many outputs to list; their counts bound the variance of shares.
const BITS_LISTED: usize = 10;

/// A larger channel of the shape `Keep` is judged by its formulas.
const KEEP_LISTED: usize = 64;

/// A closed form's channel, with the objective's value on it as its optimum.
pub(crate) fn own_value(request: &DesignProblem, channel: Channel) -> Result<Proposal, Error> {
    let optimum = request.objective.value(&request.prior, &channel)?;
    Ok(Proposal { channel, optimum, bound: None })
}

/// Rounds, repairs and verifies a proposal. `read_as_inputs` says that its columns stand for inputs.
pub(crate) fn ship(
    request: &DesignProblem,
    proposal: Proposal,
    read_as_inputs: bool,
) -> Result<Designed, Error> {
    let (channel, kept) = quantize::drop_ghosts(&proposal.channel)?;
    let all = proposal.channel.outputs();
    let spoken = if read_as_inputs { None } else { one_output_for_each_input(&channel)? };
    let named_by_inputs = spoken.is_some();
    let channel = spoken.unwrap_or(channel);
    let spec = if read_as_inputs {
        request.spec.releasing(all, &kept)?
    } else if named_by_inputs {
        PolicySpec { outputs: None, ..request.spec.clone() }
    } else {
        let outputs = undertone_core::Alphabet::indices(kept.len());
        let outputs = outputs.map_err(|error| Error::other("outputs", error.to_string()))?;
        PolicySpec { outputs: Some(outputs), ..request.spec.clone() }
    };
    let shipped = spec.ship(&channel)?;
    let integers = to_floats::channel(shipped.policy.draft().shape())?;
    let utility =
        value_on(request, &integers, if read_as_inputs { Some((&kept, all)) } else { None })?;
    let (channel, outputs) = by_most_likely_input(&request.prior, &integers)?;
    Ok(Designed {
        policy: shipped.policy,
        utility: Some(utility),
        optimum: Some(proposal.optimum),
        bound: proposal.bound,
        mixed: shipped.mixed,
        channel: Some(channel),
        outputs,
        parameters: Vec::new(),
        published: None,
    })
}

/// The columns in the order of the inputs they speak for most, if every input has one of its own: then
/// an output can bear the name of its input. `None` otherwise.
fn one_output_for_each_input(channel: &Channel) -> Result<Option<Channel>, Error> {
    let inputs = channel.inputs();
    if channel.outputs() != inputs {
        return Ok(None);
    }
    let mut own = vec![None; inputs];
    for y in 0..inputs {
        let likelier =
            |best: usize, x: usize| if channel.q(x, y) > channel.q(best, y) { x } else { best };
        let x = (1..inputs).fold(0, likelier);
        if own[x].replace(y).is_some() {
            return Ok(None);
        }
    }
    let order: Vec<usize> = own.into_iter().flatten().collect();
    let row = |row: &Distribution| order.iter().map(|&y| row[y]).collect();
    Channel::new(channel.rows().iter().map(row).collect()).map(Some)
}

/// The objective on a channel some of whose outputs were dropped.
fn value_on(
    request: &DesignProblem,
    channel: &Channel,
    dropped: Option<(&[usize], usize)>,
) -> Result<f64, Error> {
    let Some((kept, all)) = dropped else {
        return request.objective.value(&request.prior, channel);
    };
    let widen = |row: &Distribution| {
        let mut wide = vec![0.0; all];
        for (&y, q) in kept.iter().zip(row.as_slice()) {
            wide[y] = *q;
        }
        Distribution::normalised("channel row", wide)
    };
    let rows = channel.rows().iter().map(widen).collect::<Result<_, _>>()?;
    request.objective.value(&request.prior, &Channel::from_rows(rows)?)
}

/// Columns ordered by their most likely input under the prior, ties to the lower index.
fn by_most_likely_input(
    prior: &Distribution,
    channel: &Channel,
) -> Result<(Channel, Vec<usize>), Error> {
    let likeliest = |y: usize| {
        let joint = |x: usize| prior[x] * channel.q(x, y);
        (0..channel.inputs()).fold(0, |best, x| if joint(x) > joint(best) { x } else { best })
    };
    let mut order: Vec<usize> = (0..channel.outputs()).collect();
    order.sort_by_key(|&y| (likeliest(y), y));
    let row = |row: &Distribution| order.iter().map(|&y| row[y]).collect();
    Ok((Channel::new(channel.rows().iter().map(row).collect())?, order))
}

/// What the same objective is worth under LDP at the request's ε and at twice that, and to someone
/// who does not look at the data.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Comparison {
    /// The level compared with.
    pub epsilon: f64,
    /// The LDP optimum at that level; `None` where it takes too long, or tells nothing.
    pub ldp: Option<f64>,
    /// The LDP optimum at twice that level.
    pub ldp_twice: Option<f64>,
    /// A blind guess.
    pub blind: f64,
}

/// Alphabets above this are not compared: the comparison would cost more than the design.
pub const COMPARED: usize = 64;

/// Alphabets above this are not compared where the objective is not linear in the channel.
pub const COMPARED_CONVEX: usize = 12;

/// Up to how many symbols a request is compared with others.
pub fn compared(request: &DesignProblem) -> usize {
    if request.objective.is_linear() { COMPARED } else { COMPARED_CONVEX }
}

/// The comparison an honest reader needs: LIP at ε implies LDP at 2ε and is implied by LDP at ε.
pub fn compare(request: &DesignProblem) -> Result<Comparison, Error> {
    let request = &*request.in_order()?;
    let level = request.spec.claims.iter().map(protection::level).fold(0.0, f64::max);
    let most = compared(request);
    let ldp = |epsilon: f64| {
        if request.prior.len() > most {
            return Ok(None);
        }
        let text = format!("ldp:{epsilon:.10}");
        let Ok(claim) = protection::parse(&text, Subject::Input) else { return Ok(None) };
        let spec =
            PolicySpec { context: Context::Unknown, claims: vec![claim], ..request.spec.clone() };
        let found = match request.objective.losses(request.prior.len())? {
            Some(losses) => linear::optimal(&spec, &request.prior, &losses),
            None => posterior::optimal(&spec, &request.prior, &request.objective),
        };
        match found {
            Ok(proposal) => Ok(Some(proposal.optimum)),
            Err(Error::TooLarge { .. } | Error::Uninformative { .. }) => Ok(None),
            Err(other) => Err(other),
        }
    };
    Ok(Comparison {
        epsilon: level,
        ldp: ldp(level)?,
        ldp_twice: ldp(2.0 * level)?,
        blind: request.objective.blind(&request.prior)?,
    })
}
