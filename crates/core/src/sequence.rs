//! Everything one device has released about one datum, as one object.
//!
//! A claim speaks of one release. What several releases tell together is judged here: for every output the
//! next release could have, the likelihood M(x) of the whole transcript is held against the person's consent,
//! under every context any of the policies declared. LDP and LIP are statements per transcript and every
//! possible next transcript is looked at, so policies may be chosen after earlier answers were seen. The prior is
//! the belief before the *first* release.
//!
//! Where the transcript is not fully at hand (a policy was not kept, or has other symbols), what is missing can
//! still have changed any likelihood by its attained LDP; the result is then a bound, and says so.

use crate::alphabet::Alphabet;
use crate::claim::{Bound, Claim, Delta, Subject};
use crate::columns::{Blocks, Columns, Scaled, Singled};
use crate::context::{Context, Secret};
use crate::ledger::Release;
use crate::mass::Prior;
use crate::nats::Nats;
use crate::policy::{Policy, PolicyId};
use crate::ratio::Ratio;
use crate::report::{Report, ReportMismatch};
use crate::shape::Shape;
use crate::symbol::Token;
use crate::transcript::{Factor, listed_tokens, token_at};
use crate::unary;
use crate::wide::Wide;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// What was released about one datum, as far as the device still has it.
#[derive(Clone, Debug, Default)]
pub struct Sequence<'a> {
    past: Vec<Past<'a>>,
}

/// One past release.
#[derive(Clone, Debug)]
struct Past<'a> {
    id: PolicyId,
    policy: Option<&'a Policy>,
    token: Option<Token>,
    /// The LDP it attained; `None` if it has no finite level.
    cost: Option<Nats>,
}

impl<'a> Past<'a> {
    fn at_hand(policy: &'a Policy, token: Option<Token>) -> Self {
        Self { id: policy.id(), policy: Some(policy), token, cost: policy.ldp() }
    }
}

/// What a sequence attains at worst, over every transcript it may have.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Standing {
    /// Whether every number is attained; otherwise some are upper bounds.
    pub exact: bool,
    /// Any two likelihoods of the transcript.
    pub ldp: Ratio,
    /// Posterior over prior or prior over posterior, under every declared prior; `None` if none was declared.
    pub lip: Option<Ratio>,
    /// For each secret any policy declared, any two likelihoods of its values.
    pub secrets: Vec<(String, Ratio)>,
    /// Whether all claims of all policies hold for the whole transcript; `None` if that cannot be said.
    pub claims: Option<bool>,
}

impl Standing {
    /// What one release attains by itself: its certificate.
    fn of(policy: &Policy) -> Self {
        let certificate = policy.certificate();
        let secret = match (policy.draft().context(), &certificate.secret) {
            (Context::Secret(secret), Some(found)) => Some((secret.name().into(), found.ldp.ratio)),
            _ => None,
        };
        Self {
            exact: certificate.input.exact,
            ldp: certificate.input.ldp.ratio,
            lip: certificate.input.lip(),
            secrets: secret.into_iter().collect(),
            claims: Some(true),
        }
    }

    /// What is told about a secret; one that no policy declared is bounded by the LDP of the input.
    pub fn about_secret(&self, name: &str) -> Ratio {
        let declared =
            self.secrets.iter().filter(|(other, _)| other == name).map(|&(_, ratio)| ratio);
        declared.max().unwrap_or(self.ldp)
    }
}

/// Most cells that are looked at for one answer: all outputs of the releases whose tokens are unknown, times all of the
/// next, times the symbols.
const MAX_CELLS: usize = 1 << 22;

/// Alphabets of more symbols than this are not looked at symbol by symbol, which takes hundreds of bytes each: what their releases
/// tell is bounded by what each attains.
const MAX_SYMBOLS_HELD: usize = 1 << 22;

impl<'a> Sequence<'a> {
    /// A sequence in which nothing is released yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a release whose policy and report are at hand.
    pub fn released(&mut self, policy: &'a Policy, report: &Report) -> Result<(), ReportMismatch> {
        policy.accepts(report)?;
        self.past.push(Past::at_hand(policy, Some(report.token.clone())));
        Ok(())
    }

    /// Adds a release under a policy that is at hand, whatever its answer was.
    pub fn untold(&mut self, policy: &'a Policy) {
        self.past.push(Past::at_hand(policy, None));
    }

    /// Adds a release of which only its entry in the ledger is left.
    pub fn forgotten(&mut self, Release { policy: id, cost }: Release) {
        self.past.push(Past { id, policy: None, token: None, cost });
    }

    /// Whether these are the releases a ledger has noted, in any order.
    pub(crate) fn matches(&self, noted: &[Release]) -> bool {
        let mut here: Vec<PolicyId> = self.past.iter().map(|past| past.id).collect();
        let mut there: Vec<PolicyId> = noted.iter().map(|release| release.policy).collect();
        here.sort_unstable();
        there.sort_unstable();
        here == there
    }

    /// What everything released attains at worst once `next` has answered too, whatever its answer is.
    pub fn after(&self, next: &Policy) -> Standing {
        if self.past.is_empty() {
            return Standing::of(next);
        }
        let mut work = Work::new(&self.past, next);
        let chosen = self.listed(next);
        let mut tokens: Vec<Option<Token>> =
            self.past.iter().map(|past| past.token.clone()).collect();
        work.refuse_impossible(&self.past, &tokens);
        work.every_transcript(&self.past, next, &chosen, &mut tokens);
        work.standing(&self.past, next)
    }

    /// The past releases whose answer is unknown and whose outputs are all tried, the fewest outputs first.
    fn listed(&self, next: &Policy) -> Vec<(usize, usize)> {
        let shape = next.draft().shape();
        let columns = column_count(shape);
        let mut cells = shape.inputs().saturating_mul(columns);
        let untold = self.past.iter().enumerate().filter(|(_, past)| past.token.is_none());
        let count = |(at, past): (usize, &Past<'_>)| {
            Some((listed_tokens(past.policy?.draft().shape())?, at))
        };
        let mut candidates: Vec<(usize, usize)> = untold.filter_map(count).collect();
        candidates.sort_unstable();
        let mut chosen = Vec::new();
        for (outputs, at) in candidates {
            cells = cells.saturating_mul(outputs);
            if cells > MAX_CELLS {
                break;
            }
            chosen.push((at, outputs));
        }
        chosen
    }

    /// What several policies attain together at worst, in any order, whatever they answer.
    pub fn together(policies: &[&'a Policy]) -> Option<Standing> {
        // The one whose outputs are hardest to list comes last, where they need not be listed.
        let hardness = |policy: &&&Policy| {
            let shape = policy.draft().shape();
            (listed_tokens(shape).is_none(), column_count(shape) == 1, shape.outputs())
        };
        let last = policies.iter().enumerate().max_by_key(|(_, policy)| hardness(policy))?.0;
        let mut sequence = Self::new();
        for (_, policy) in policies.iter().enumerate().filter(|&(at, _)| at != last) {
            sequence.untold(policy);
        }
        Some(sequence.after(policies[last]))
    }
}

/// Releases over one alphabet: only between them are likelihoods multiplied symbol by symbol.
struct Frame {
    /// The alphabet's size.
    size: usize,
    releases: Vec<Member>,
    contexts: Vec<Found>,
    ldp: Ratio,
}

/// A past release in its frame.
struct Member {
    /// The index of the release in the past.
    at: usize,
    /// For each symbol of the frame, its index in the release's own alphabet.
    order: Vec<usize>,
    /// The index of its own context among the frame's; `None` if it declared none.
    context: Option<usize>,
}

/// A declared context and what was found under it.
struct Found {
    context: Context,
    upper: Ratio,
    lower: Ratio,
    /// The secret's likelihoods, and belief in it rising and falling; the last two only where they were looked at.
    secret: Ratio,
    secret_belief: Option<(Ratio, Ratio)>,
}

impl Found {
    fn new(context: Context) -> Self {
        let secret_belief =
            matches!(context, Context::Secret(_)).then_some((Ratio::ONE, Ratio::ONE));
        Self { context, upper: Ratio::ONE, lower: Ratio::ONE, secret: Ratio::ONE, secret_belief }
    }
}

struct Work {
    /// The first is that of the next release.
    frames: Vec<Frame>,
    exact: bool,
}

impl Work {
    fn new(past: &[Past<'_>], next: &Policy) -> Self {
        let mut alphabets: Vec<&Alphabet> = vec![next.draft().inputs()];
        let mut frames = vec![Frame::new(next.draft().inputs().len())];
        if *next.draft().context() != Context::Unknown {
            let order: Vec<usize> = (0..frames[0].size).collect();
            let _ = frames[0].declare(next.draft().context(), &order);
        }
        for (at, policy) in
            past.iter().enumerate().filter_map(|(at, past)| Some((at, past.policy?)))
        {
            let inputs = policy.draft().inputs();
            let found =
                alphabets.iter().enumerate().find_map(|(f, a)| Some((f, a.order_in(inputs)?)));
            let (frame, order) = found.unwrap_or_else(|| {
                alphabets.push(inputs);
                frames.push(Frame::new(inputs.len()));
                (frames.len() - 1, (0..inputs.len()).collect())
            });
            let context = frames[frame].declare(policy.draft().context(), &order);
            frames[frame].releases.push(Member { at, order, context });
        }
        Self { frames, exact: true }
    }

    /// Reports that no fixed answer can have given: nothing is known about what they tell.
    fn refuse_impossible(&mut self, past: &[Past<'_>], tokens: &[Option<Token>]) {
        for frame in &mut self.frames {
            if frame.is_too_large() {
                self.exact = false;
                frame.unbounded();
            } else if frame.factor(past, tokens).0.is_impossible() {
                frame.unbounded();
            }
        }
    }

    /// Looks at every transcript: all outputs of the `listed` releases.
    fn every_transcript(
        &mut self,
        past: &[Past<'_>],
        next: &Policy,
        listed: &[(usize, usize)],
        tokens: &mut [Option<Token>],
    ) {
        let Some((&(at, outputs), others)) = listed.split_first() else {
            return self.transcript(past, next, tokens);
        };
        for output in 0..outputs {
            tokens[at] = past[at].policy.map(|policy| token_at(policy.draft().shape(), output));
            self.every_transcript(past, next, others, tokens);
        }
    }

    fn transcript(&mut self, past: &[Past<'_>], next: &Policy, tokens: &[Option<Token>]) {
        for at in 0..self.frames.len() {
            if self.frames[at].is_too_large() {
                continue; // Nothing is known beyond what each release attains.
            }
            let (factor, told) = self.frames[at].factor(past, tokens);
            if factor.is_impossible() {
                continue; // It cannot occur.
            }
            // What is not in the factor may have changed any likelihood by its attained LDP.
            let others = past.iter().zip(told).filter(|(_, told)| !told).map(|(past, _)| past.cost);
            let missing = others.chain((at > 0).then(|| next.ldp()));
            let beyond = total(missing).and_then(Odds::of);
            self.exact &= factor.is_exact();
            let shape = (at == 0).then(|| next.draft().shape());
            self.frames[at].look(shape, &factor, beyond, &mut self.exact);
        }
    }

    fn standing(self, past: &[Past<'_>], next: &Policy) -> Standing {
        let claims = self.claims(past, next);
        let costs = past.iter().map(|past| past.cost).chain([next.ldp()]);
        let sum = total(costs).and_then(Odds::of).map(Odds::ratio);
        let bounds = self.frames.iter().map(|frame| frame.ldp).chain(sum);
        let ldp = bounds.min().unwrap_or(Ratio::UNBOUNDED);
        let found = || self.frames.iter().flat_map(|frame| &frame.contexts);
        // Where the rest are bounds, LDP may be the better one: it bounds belief and every secret.
        let lip = found().map(|found| found.upper.max(found.lower)).max().map(|lip| lip.min(ldp));
        let mut secrets: Vec<(String, Ratio)> = Vec::new();
        for found in found() {
            let Context::Secret(secret) = &found.context else { continue };
            let told = found.secret.min(ldp);
            match secrets.iter_mut().find(|(name, _)| name == secret.name()) {
                Some((_, ratio)) => *ratio = told.max(*ratio),
                None => secrets.push((secret.name().into(), told)),
            }
        }
        Standing { exact: self.exact, ldp, lip, secrets, claims }
    }

    /// Whether every claim of every policy holds for the whole; `None` where that cannot be said.
    fn claims(&self, past: &[Past<'_>], next: &Policy) -> Option<bool> {
        let own = (*next.draft().context() != Context::Unknown).then_some(0);
        let mut hold = true;
        let mut judge = |policy: &Policy, frame: &Frame, context: Option<usize>| {
            let found = context.map(|at| &frame.contexts[at]);
            for claim in policy.draft().claims() {
                hold &= claim_holds(claim, frame, found)?;
            }
            Some(())
        };
        judge(next, &self.frames[0], own)?;
        // A policy that is not at hand has claims that nobody can check.
        past.iter().all(|past| past.policy.is_some()).then_some(())?;
        for frame in &self.frames {
            for member in &frame.releases {
                judge(past[member.at].policy?, frame, member.context)?;
            }
        }
        // A bound that is too large proves nothing.
        if hold || self.exact { Some(hold) } else { None }
    }
}

/// A δ is a sum over outputs and does not survive a choice made after the first answer (two candidates
/// that each need .0204 with the first need .0336 when chosen by its answer).
fn claim_holds(claim: &Claim, frame: &Frame, found: Option<&Found>) -> Option<bool> {
    if claim.delta != Delta::ZERO {
        return None;
    }
    Some(match (claim.bound, claim.about) {
        (Bound::Ldp(epsilon), Subject::Input) => frame.ldp <= epsilon.ratio(),
        (Bound::Ldp(epsilon), Subject::Secret) => found?.secret <= epsilon.ratio(),
        (Bound::Lip { lower, upper }, Subject::Input) => {
            found?.upper <= upper.ratio() && found?.lower <= lower.ratio()
        }
        (Bound::Lip { lower, upper }, Subject::Secret) => {
            let (rise, fall) = found?.secret_belief?;
            rise <= upper.ratio() && fall <= lower.ratio()
        }
        (Bound::Di(_), _) => return None,
    })
}

impl Frame {
    fn new(size: usize) -> Self {
        Self { size, releases: Vec::new(), contexts: Vec::new(), ldp: Ratio::ONE }
    }

    /// Whether its symbols are too many to hold a number for each.
    fn is_too_large(&self) -> bool {
        self.size > MAX_SYMBOLS_HELD
    }

    /// The likelihood of the tokens at hand, and whose they are.
    fn factor(&self, past: &[Past<'_>], tokens: &[Option<Token>]) -> (Factor, Vec<bool>) {
        let mut factor = Factor::new(self.size);
        let mut told = vec![false; past.len()];
        for Member { at, order, .. } in &self.releases {
            if let (Some(policy), Some(token)) = (past[*at].policy, &tokens[*at]) {
                factor.times(policy.draft().shape(), token, order);
                told[*at] = true;
            }
        }
        (factor, told)
    }

    /// Notes a context and says which of the frame's it is; `None` if nothing was declared.
    fn declare(&mut self, context: &Context, order: &[usize]) -> Option<usize> {
        if *context == Context::Unknown {
            return None;
        }
        let context = context.reordered(order);
        let known = self.contexts.iter().position(|found| found.context == context);
        Some(known.unwrap_or_else(|| {
            self.contexts.push(Found::new(context));
            self.contexts.len() - 1
        }))
    }

    fn unbounded(&mut self) {
        self.ldp = Ratio::UNBOUNDED;
        for found in &mut self.contexts {
            (found.upper, found.lower, found.secret) =
                (Ratio::UNBOUNDED, Ratio::UNBOUNDED, Ratio::UNBOUNDED);
            found.secret_belief = Some((Ratio::UNBOUNDED, Ratio::UNBOUNDED));
        }
    }

    /// Notes what is attained by the factor alone, or with every output of one more release.
    fn look(
        &mut self,
        shape: Option<&Shape>,
        factor: &Factor,
        beyond: Option<Odds>,
        exact: &mut bool,
    ) {
        let Some(beyond) = beyond else {
            *exact = false;
            return self.unbounded();
        };
        let patterns = shape.and_then(Patterns::of);
        let rounded =
            matches!(shape, Some(Shape::Incidence(blocks)) if !blocks.levels().is_exact());
        *exact &= beyond.is_one() && !rounded && patterns.is_none_or(|patterns| patterns.exact);
        for (low, high) in columns(shape, factor) {
            let mut extremes = high.extremes();
            if !factor.is_exact() || rounded {
                let bottoms = low.extremes().into_iter().map(|(_, bottom)| bottom);
                extremes.iter_mut().zip(bottoms).for_each(|(found, bottom)| found.1 = bottom);
            }
            for &(top, bottom) in &extremes {
                beyond.raise(&mut self.ldp, top, bottom, exact);
            }
            for found in &mut self.contexts {
                found.belief(&*low, &*high, &extremes, beyond, exact);
                if let Context::Secret(secret) = &found.context
                    && patterns.is_none()
                    && beyond.is_one()
                {
                    let secret = secret.clone();
                    found.secret(&*low, &*high, &secret, exact);
                }
            }
        }
        let ldp = self.ldp;
        for found in &mut self.contexts {
            let Context::Secret(secret) = &found.context else { continue };
            let told = match patterns {
                _ if !beyond.is_one() => match ldp.ln_up().and_then(Odds::of) {
                    // Nothing but the largest ratio of likelihoods is known.
                    Some(most) => unary::secret_ldp(most.0, Odds::ONE, secret, None, exact),
                    None => Ratio::UNBOUNDED,
                },
                Some(Patterns { high, low, .. }) => {
                    unary::secret_ldp(high, low, secret, Some(factor), exact)
                }
                None => continue,
            };
            found.secret = found.secret.max(told);
            found.secret_belief = None;
        }
    }
}

/// The cells of numbered blocks that are looked at one by one.
const MAX_BLOCK_CELLS: usize = 1 << 20;

/// A channel whose outputs are judged by patterns: each symbol has one of two likelihoods, for an arbitrary set of symbols.
/// Bits are such a channel; for blocks that are too many to look at it is a bound, because every block is a set.
#[derive(Clone, Copy)]
struct Patterns {
    high: u128,
    low: u128,
    exact: bool,
}

impl Patterns {
    /// `None` for channels whose outputs are looked at one by one.
    fn of(shape: &Shape) -> Option<Self> {
        match shape {
            Shape::Table(_) | Shape::Keep(_) => None,
            Shape::Bits(bits) => {
                let (high, low) = bits.likelihoods();
                Some(Self { high, low, exact: true })
            }
            Shape::Incidence(incidence) => {
                let cells = incidence.blocks().map(|blocks| blocks * incidence.symbols());
                if cells.is_some_and(|cells| cells <= MAX_BLOCK_CELLS) {
                    return None;
                }
                let levels = incidence.levels();
                Some(Self { high: levels.high(), low: levels.low(), exact: false })
            }
        }
    }
}

/// How many columns are looked at one by one: one where a formula answers for all.
fn column_count(shape: &Shape) -> usize {
    match shape {
        Shape::Table(_) => shape.outputs(),
        Shape::Incidence(_) if Patterns::of(shape).is_none() => shape.outputs(),
        Shape::Keep(_) | Shape::Bits(_) | Shape::Incidence(_) => 1,
    }
}

/// The columns to look at, with the factor's lower and upper ends.
fn columns<'c>(
    shape: Option<&'c Shape>,
    factor: &'c Factor,
) -> Vec<(Box<dyn Columns + 'c>, Box<dyn Columns + 'c>)> {
    let ends =
        |of: &dyn Fn(&'c [Wide]) -> Box<dyn Columns + 'c>| (of(&factor.lower), of(factor.upper()));
    let patterns = |Patterns { high, low, .. }: Patterns| {
        [false, true]
            .map(|against| ends(&|factor| Box::new(Singled::patterns(high, low, factor, against))))
            .into()
    };
    if let Some(judged) = shape.and_then(Patterns::of) {
        return patterns(judged);
    }
    match shape {
        None => vec![ends(&|factor| Box::new(Scaled::alone(factor)))],
        Some(Shape::Table(table)) => vec![ends(&|factor| Box::new(Scaled::table(table, factor)))],
        Some(Shape::Keep(keep)) => vec![ends(&|factor| Box::new(Singled::keep(keep, factor)))],
        Some(Shape::Incidence(incidence)) => {
            let blocks = |above, factor| Box::new(Blocks::new(incidence, above, factor));
            vec![(blocks(false, &factor.lower), blocks(true, factor.upper()))]
        }
        // Judged by patterns above.
        Some(Shape::Bits(_)) => Vec::new(),
    }
}

impl Found {
    /// Belief in the input: likelihoods against their mixtures, under every prior of the context.
    fn belief(
        &mut self,
        low: &dyn Columns,
        high: &dyn Columns,
        extremes: &[(Wide, Wide)],
        beyond: Odds,
        exact: &mut bool,
    ) {
        let (upper, lower) = (&mut self.upper, &mut self.lower);
        let mut hold = |least: Vec<Wide>, greatest: Vec<Wide>, lightest: Wide, unit: u32| {
            let mixture = |value: Wide| Mixture { value, lightest, unit };
            for (y, &(top, bottom)) in extremes.iter().enumerate() {
                beyond.rise(upper, top, mixture(least[y]), exact);
                beyond.fall(lower, bottom, mixture(greatest[y]), exact);
            }
        };
        let mut prior = |weights: Vec<Wide>, unit: u32| {
            let lightest = weights.iter().copied().min().unwrap_or(Wide::ZERO);
            hold(low.mixture(&weights), high.mixture(&weights), lightest, unit);
        };
        match &self.context {
            Context::Unknown => (*upper, *lower) = (Ratio::UNBOUNDED, Ratio::UNBOUNDED),
            Context::Known(known) => prior(wide(known), 32),
            Context::Each(priors) => priors.as_slice().iter().for_each(|one| prior(wide(one), 32)),
            Context::Secret(secret) => prior(unary::data_weights(secret), 64),
            Context::Within(within) => {
                let least = low.box_ranges(within).into_iter().map(|(least, _)| least).collect();
                let greatest = high.box_ranges(within).into_iter().map(|(_, most)| most).collect();
                let lightest =
                    (0..within.lower().len()).map(|x| within.least(x)).min().unwrap_or(0);
                hold(least, greatest, Wide::from(lightest), 32);
            }
        }
    }

    /// The secret's likelihoods against each other, and against their mixture.
    fn secret(&mut self, low: &dyn Columns, high: &dyn Columns, secret: &Secret, exact: &mut bool) {
        let pushed = |columns: &dyn Columns| -> Vec<Vec<Wide>> {
            secret.rows().iter().map(|row| columns.mixture(&wide(row))).collect()
        };
        let (least, most) = (pushed(low), pushed(high));
        let law = secret.prior().weights();
        for y in 0..least.first().map_or(0, Vec::len) {
            let mixed = |rows: &[Vec<Wide>]| {
                let terms = rows.iter().zip(law).map(|(row, &p)| row[y] * Wide::from(p));
                terms.fold(Wide::ZERO, |sum, term| sum + term)
            };
            let (least_mixed, most_mixed) = (mixed(&least), mixed(&most));
            let top = most.iter().map(|row| row[y]).max().unwrap_or(Wide::ZERO);
            let bottom = least.iter().map(|row| row[y]).min().unwrap_or(Wide::ZERO);
            raise(&mut self.secret, top, bottom, exact);
            if let Some((rise, fall)) = &mut self.secret_belief {
                raise(rise, top << 32, least_mixed, exact);
                raise(fall, most_mixed, bottom << 32, exact);
            }
        }
    }
}

fn wide(prior: &Prior) -> Vec<Wide> {
    prior.weights().iter().map(|&weight| Wide::from(weight)).collect()
}

/// Keeps the larger; 0/0 is an output that cannot occur.
fn raise(worst: &mut Ratio, numerator: Wide, denominator: Wide, exact: &mut bool) {
    let (numerator, denominator, kept) = Ratio::narrow_up(numerator, denominator);
    *exact &= kept;
    if let Some(ratio) = Ratio::new(numerator, denominator) {
        *worst = ratio.max(*worst);
    }
}

/// The sum of costs; `None` if one has no finite level.
fn total(costs: impl Iterator<Item = Option<Nats>>) -> Option<Nats> {
    costs.into_iter().try_fold(Nats::ZERO, |sum, cost| sum.checked_add(cost?))
}

/// Likelihoods mixed with a prior whose weights, the lightest among them, are in units of 2^-`unit`.
struct Mixture {
    value: Wide,
    lightest: Wide,
    unit: u32,
}

/// How far releases that are not at hand may have changed a likelihood: e^D, rounded up to 2^-64.
#[derive(Clone, Copy)]
struct Odds(u128);

impl Odds {
    const ONE: u128 = 1 << 64;

    /// Above 40 nats nothing is told apart from certainty.
    fn of(beyond: Nats) -> Option<Self> {
        if beyond == Nats::ZERO {
            return Some(Self(Self::ONE));
        }
        if beyond > Nats::from_units(400_000_000_000) {
            return None;
        }
        beyond.exp_up().map(|odds| Self((odds >> 56).low_u128() + 1))
    }

    fn is_one(self) -> bool {
        self.0 == Self::ONE
    }

    fn ratio(self) -> Ratio {
        Ratio::new(Wide::from(self.0), Wide::from(Self::ONE)).unwrap_or(Ratio::UNBOUNDED)
    }

    /// Two likelihoods, one of them raised.
    fn raise(self, worst: &mut Ratio, top: Wide, bottom: Wide, exact: &mut bool) {
        if self.is_one() {
            return raise(worst, top, bottom, exact);
        }
        // Likelihoods of blocks have 112 bits of their own, and 122 more would be too many.
        let (top, bottom, _) = Ratio::narrow_up(top, bottom);
        raise(worst, top * Wide::from(self.0), bottom << 64, exact);
    }

    /// Belief in the symbol with likelihood `top`, which is at least as likely a priori as the lightest: with all
    /// else at hand raised by at most G, its lift is at most G t / (p t (G - 1) + T), T the mixture.
    fn rise(self, worst: &mut Ratio, top: Wide, mixture: Mixture, exact: &mut bool) {
        let Mixture { value, lightest, unit } = mixture;
        if self.is_one() {
            return raise(worst, top << unit, value, exact);
        }
        let shift = top.bits().saturating_sub(128);
        let (top, value) = (top.shift_up(shift), value >> shift);
        let more = Wide::from(self.0 - Self::ONE);
        let numerator = (top * Wide::from(self.0)) << unit;
        raise(worst, numerator, lightest * top * more + (value << 64), exact);
    }

    /// Belief falling in the symbol with likelihood `bottom`, the least: prior over posterior is at most
    /// (G T - p (G - 1) b) / b.
    fn fall(self, worst: &mut Ratio, bottom: Wide, mixture: Mixture, exact: &mut bool) {
        let Mixture { value, lightest, unit } = mixture;
        if self.is_one() {
            return raise(worst, value, bottom << unit, exact);
        }
        let shift = value.bits().saturating_sub(192);
        let (bottom, value) = (bottom >> shift, value.shift_up(shift));
        let more = Wide::from(self.0 - Self::ONE);
        let numerator = value * Wide::from(self.0) - lightest * bottom * more;
        raise(worst, numerator, (bottom << unit) << 64, exact);
    }
}

#[cfg(test)]
mod tests {
    use super::{Context, Found, Odds, Ratio, Scaled, Wide};

    /// A context that declares nothing bounds no belief.
    #[test]
    fn belief_without_a_prior_has_no_bound() {
        let mut found = Found::new(Context::Unknown);
        let factor = [Wide::from(1u64); 2];
        let alone = Scaled::alone(&factor);
        found.belief(&alone, &alone, &[(factor[0], factor[1])], Odds(Odds::ONE), &mut true);
        assert_eq!((found.upper, found.lower), (Ratio::UNBOUNDED, Ratio::UNBOUNDED));
    }
}
