//! Rules into rows of a linear program.
//!
//! **The shift.** Every pure claim about the input speaks of three numbers per output only: the
//! least likelihood, the greatest, and the output's probability. So write q(y|x) = f(y) + s(x,y) with
//! a floor f >= 0 and a spread 0 <= s <= r(y). With m(y) = f + Σ P(x)s(x,y),
//!
//! * LDP, r <= (E-1) f;
//! * LIP, Σ P(x)s(x,y) <= (L-1) f (belief falls) and f + r <= U m (belief rises),
//!
//! a constant number of rows per output and claim; non-negativity of q comes for free, and only the
//! n·m rows s <= r remain. If a single LIP claim is all there is, f can be lowered to m/L and r raised
//! to U m - f without losing a channel, which is the substitution s = q - e^-ε m: the rows become
//! Σ P s = (L-1) f and s <= (UL-1) f, and m and r are no variables at all.
//!
//! **A box of priors.** With p = lo + w, 0 <= w <= up - lo, Σ w = R = 1 - Σ lo, the least of Σ p s over
//! the box is the greatest of lo·s + R t - (up-lo)·b over t and b >= 0 with t - b_z <= s_z (linear
//! programming duality), and the greatest of Σ p s is the least of lo·s + R u + (up-lo)·d with
//! s_z - d_z <= u, d >= 0. Minimising cost chooses t, b, u, d by itself; no vertex is enumerated.
//!
//! **A secret** has likelihoods c(y|s) = Σ P(x|s)q(y|x), tied by equations to a floor and spreads of its
//! own; so have the weighted likelihoods P(x)q(y|x) of identifiability.
//!
//! **δ** gives each cell a slack e >= 0 and bounds the slacks' sum over outputs.

use undertone_core::Subject;

use super::rules::{Belief, Limit, Rule, Rules};
use crate::Error;
use crate::solve::{Program, Solution};

/// A linear form: variables and coefficients.
type Form = Vec<(usize, f64)>;

/// (ε,δ)-LDP needs one variable per ordered pair of rows and output; this many at most.
pub(super) const MAX_PAIRS: usize = 1 << 14;

/// The program, and where its channel is.
pub(super) struct Layout {
    pub(super) program: Program,
    /// The channel's columns, one per output.
    columns: Vec<Column>,
}

/// The likelihoods of one output: floor + spread(i), or the floor alone where they must be equal.
struct Column {
    floor: Option<Floor>,
    spread: Vec<usize>,
}

/// A variable for a floor, and how much floor one unit of it is.
#[derive(Clone, Copy)]
struct Floor {
    at: usize,
    unit: f64,
}

impl Column {
    fn floor(&self, by: f64) -> impl Iterator<Item = (usize, f64)> {
        self.floor.map(|floor| (floor.at, floor.unit * by)).into_iter()
    }

    fn spread(&self, i: usize, by: f64) -> impl Iterator<Item = (usize, f64)> {
        self.spread.get(i).map(|&spread| (spread, by)).into_iter()
    }

    fn likelihood(&self, i: usize, by: f64) -> impl Iterator<Item = (usize, f64)> {
        self.floor(by).chain(self.spread(i, by))
    }

    /// Σ p(i)·spread(i).
    fn mean(&self, p: &[f64], by: f64) -> impl Iterator<Item = (usize, f64)> {
        self.spread.iter().zip(p).map(move |(&spread, p)| (spread, by * p))
    }
}

/// The program whose optimum is the cheapest channel under `rules`; `costs[x][y]` is the price of
/// one unit of q(y|x).
pub(super) fn program(rules: &Rules, costs: &[Vec<f64>]) -> Result<Layout, Error> {
    let outputs = costs[0].len();
    let mut program = Program::new();
    let about = |subject| rules.all.iter().filter(move |rule| rule.about == subject);
    let (weighted, direct): (Vec<&Rule>, Vec<&Rule>) =
        about(Subject::Input).partition(|rule| matches!(rule.limit, Limit::Di { .. }));
    let columns: Vec<Column> = (0..outputs)
        .map(|y| {
            let column: Vec<f64> = costs.iter().map(|row| row[y]).collect();
            Column::new(&mut program, &direct, &column)
        })
        .collect();
    for x in 0..rules.inputs {
        program.equal(columns.iter().flat_map(|column| column.likelihood(x, 1.0)), 1.0);
    }
    add(&mut program, &columns, rules.inputs, &direct)?;
    for rule in weighted {
        if let Limit::Di { prior, .. } = &rule.limit {
            let scaled = |x: usize, column: &Column| column.likelihood(x, prior[x]).collect();
            tie(&mut program, &columns, rules.inputs, &[rule], scaled)?;
        }
    }
    let direct: Vec<&Rule> = about(Subject::Secret).collect();
    if let (Some(secret), false) = (&rules.secret, direct.is_empty()) {
        let pushed = |s: usize, column: &Column| {
            // A row P(x|s) sums to one, so the floor passes through.
            column.floor(1.0).chain(column.mean(secret.rows()[s].as_slice(), 1.0)).collect()
        };
        tie(&mut program, &columns, secret.inputs(), &direct, pushed)?;
    }
    Ok(Layout { program, columns })
}

/// Adds the rules on likelihoods other than the channel's, given as forms of its columns.
fn tie(
    program: &mut Program,
    channel: &[Column],
    rows: usize,
    rules: &[&Rule],
    form: impl Fn(usize, &Column) -> Form,
) -> Result<(), Error> {
    let free = vec![0.0; rows];
    let mut columns = Vec::with_capacity(channel.len());
    for source in channel {
        let column = Column::new(program, rules, &free);
        for i in 0..rows {
            let row = form(i, source).into_iter().chain(column.likelihood(i, -1.0));
            program.equal(row, 0.0);
        }
        columns.push(column);
    }
    add(program, &columns, rows, rules)
}

impl Column {
    fn new(program: &mut Program, rules: &[&Rule], costs: &[f64]) -> Self {
        let silent = rules.iter().any(|rule| rule.is_silence());
        // A floor is below what stands on it by the least odds. In this unit its variable is not: a lone
        // LIP claim's is the output's probability, a lone LDP claim's the greatest likelihood.
        let odds = rules.iter().filter(|rule| rule.is_pure()).map(|rule| rule.floor_odds());
        let floor = odds.min_by(f64::total_cmp).map(|odds| {
            let at = program.non_negative(costs.iter().sum::<f64>() / odds);
            Floor { at, unit: 1.0 / odds }
        });
        let count = if silent { 0 } else { costs.len() };
        let spread = costs.iter().take(count).map(|&cost| program.non_negative(cost)).collect();
        Self { floor, spread }
    }
}

/// Every rule on every column. Columns without spreads are equal likelihoods, which obey any rule.
fn add(
    program: &mut Program,
    columns: &[Column],
    rows: usize,
    rules: &[&Rule],
) -> Result<(), Error> {
    if columns.iter().all(|column| column.spread.is_empty()) {
        return Ok(());
    }
    let (pure, escaping): (Vec<&Rule>, Vec<&Rule>) = rules.iter().partition(|rule| rule.is_pure());
    for column in columns {
        match pure.as_slice() {
            [] => {}
            [rule] => alone(program, column, rule),
            several => together(program, column, several),
        }
    }
    for rule in escaping {
        match &rule.limit {
            Limit::Ldp(odds) => pairs(program, columns, rows, *odds, rule.delta)?,
            Limit::Lip { lower, upper, belief } => {
                escapes(program, columns, rows, (*lower, *upper), belief, rule.delta);
            }
            Limit::Di { .. } => {}
        }
    }
    Ok(())
}

/// The one pure rule of a column: its range is a multiple of its floor.
fn alone(program: &mut Program, column: &Column, rule: &Rule) {
    let (range, implied) = match &rule.limit {
        Limit::Ldp(odds) | Limit::Di { odds, .. } => (odds - 1.0, None),
        Limit::Lip { lower, upper, belief: Belief::Prior(prior) } => {
            let floor = column.floor(1.0 - lower);
            program.equal(column.mean(prior.as_slice(), 1.0).chain(floor), 0.0);
            (upper * lower - 1.0, Some((upper, prior)))
        }
        Limit::Lip { .. } => return together(program, column, &[rule]),
    };
    for i in 0..column.spread.len() {
        // The output's probability is at least P(x)q(y|x), which may be enough.
        if !implied.is_some_and(|(upper, prior)| prior[i] * upper >= 1.0) {
            program.at_most(column.spread(i, 1.0).chain(column.floor(-range)), 0.0);
        }
    }
}

/// Several pure rules of a column: its range is a variable of its own.
fn together(program: &mut Program, column: &Column, rules: &[&Rule]) {
    let range = program.variable(0.0);
    for i in 0..column.spread.len() {
        program.at_most(column.spread(i, 1.0).chain([(range, -1.0)]), 0.0);
    }
    for rule in rules {
        match &rule.limit {
            Limit::Ldp(odds) | Limit::Di { odds, .. } => {
                program.at_most(column.floor(1.0 - odds).chain([(range, 1.0)]), 0.0);
            }
            Limit::Lip { lower, upper, belief } => {
                let (least, greatest) = means(program, column, belief);
                program.at_most(column.floor(1.0 - lower).chain([(greatest, 1.0)]), 0.0);
                let risen =
                    column.floor(1.0 / upper - 1.0).chain([(range, 1.0 / upper), (least, -1.0)]);
                program.at_most(risen, 0.0);
            }
        }
    }
}

/// Variables for the least and the greatest mean of the spreads under a belief; never above the
/// least, never below the greatest.
fn means(program: &mut Program, column: &Column, belief: &Belief) -> (usize, usize) {
    let (lower, upper) = match belief {
        Belief::Prior(prior) => {
            let mean = program.variable(0.0);
            program.equal(column.mean(prior.as_slice(), 1.0).chain([(mean, -1.0)]), 0.0);
            return (mean, mean);
        }
        Belief::Within { lower, upper } => (lower, upper),
    };
    let rest = 1.0 - lower.iter().sum::<f64>();
    let mut bound = |sign: f64| {
        // sign 1: the greatest mean from above; sign -1: the least from below.
        let (mean, level) = (program.variable(0.0), program.variable(0.0));
        let mut row: Form = column.mean(lower, sign).collect();
        row.extend([(level, sign * rest), (mean, -sign)]);
        for (i, (low, up)) in lower.iter().zip(upper).enumerate() {
            let beyond = program.non_negative(0.0);
            program.at_most(column.spread(i, sign).chain([(level, -sign), (beyond, -1.0)]), 0.0);
            row.push((beyond, up - low));
        }
        program.at_most(row, 0.0);
        mean
    };
    (bound(-1.0), bound(1.0))
}

/// LIP of which a little may escape: for every row, Σ_y (v - U m)_+ and Σ_y (m - L v)_+ are at most δ.
fn escapes(
    program: &mut Program,
    columns: &[Column],
    rows: usize,
    (lower, upper): (f64, f64),
    belief: &Belief,
    delta: f64,
) {
    let means: Vec<_> = columns.iter().map(|column| means(program, column, belief)).collect();
    for i in 0..rows {
        let (mut risen, mut fallen) = (Form::new(), Form::new());
        for (column, &(least, greatest)) in columns.iter().zip(&means) {
            let above = program.non_negative(0.0);
            let row = column.likelihood(i, 1.0).chain(column.floor(-upper));
            program.at_most(row.chain([(least, -upper), (above, -1.0)]), 0.0);
            risen.push((above, 1.0));
            let below = program.non_negative(0.0);
            let row = column.likelihood(i, -lower).chain(column.floor(1.0));
            program.at_most(row.chain([(greatest, 1.0), (below, -1.0)]), 0.0);
            fallen.push((below, 1.0));
        }
        program.at_most(risen, delta);
        program.at_most(fallen, delta);
    }
}

/// LDP of which a little may escape: for every ordered pair of rows, Σ_y (v - E v')_+ is at most δ.
fn pairs(
    program: &mut Program,
    columns: &[Column],
    rows: usize,
    odds: f64,
    delta: f64,
) -> Result<(), Error> {
    let size = rows * rows.saturating_sub(1) * columns.len();
    if size > MAX_PAIRS {
        return Err(Error::TooLarge {
            what: "ldp with a delta, pairs of rows times outputs,".into(),
            size,
            limit: MAX_PAIRS,
            fix: "claim pure ldp, which needs no pairs, or lip with a delta".into(),
        });
    }
    for i in 0..rows {
        for j in (0..rows).filter(|&j| j != i) {
            let mut escaped = Form::new();
            for column in columns {
                let excess = program.non_negative(0.0);
                let row = column.likelihood(i, 1.0).chain(column.likelihood(j, -odds));
                program.at_most(row.chain([(excess, -1.0)]), 0.0);
                escaped.push((excess, 1.0));
            }
            program.at_most(escaped, delta);
        }
    }
    Ok(())
}

impl Layout {
    /// A bound below every feasible channel's cost: every variable is a probability, or can be taken as
    /// one at no cost.
    pub(super) fn lower_bound(&self, found: &Solution) -> f64 {
        self.program.lower_bound(found, 1.0)
    }

    /// The channel's rows at the solver's `values`, without its hair's breadths of negative mass.
    pub(super) fn channel(&self, values: &[f64], inputs: usize) -> Vec<Vec<f64>> {
        let cell = |column: &Column, x: usize| {
            column.likelihood(x, 1.0).map(|(at, by)| by * values[at]).sum::<f64>().max(0.0)
        };
        let row = |x: usize| self.columns.iter().map(|column| cell(column, x)).collect();
        (0..inputs).map(row).collect()
    }
}
