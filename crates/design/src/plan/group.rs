//! Questions randomised together as one symbol, and the candidates for how.

use super::coins::{Coins, Repeats, best_own_bit, binomial, memo_bits_level};
use super::target::{Question, Target};

/// Combined symbols are not sought beyond this many: the document lists a probability for each.
pub const MOST_SYMBOLS: usize = 4_096;

/// A combined symbol holds at most this many questions.
pub const MOST_QUESTIONS: usize = 8;

/// Sets of answers are released only where their table has no more cells than this.
const MOST_CELLS: usize = 4_096;

/// Which randomisations are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Ways {
    /// Repeated reports of one answer.
    pub repeats: Option<Repeats>,
    /// Whether outputs must be few enough to be listed, up to [`MOST_LISTED`] answers: the kernel then knows exactly how far belief moves.
    pub listed: bool,
}

/// Above this many answers only bits serve, listed or not.
pub const MOST_LISTED: usize = 64;

/// Questions randomised as one symbol at a level.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The questions, in increasing order.
    pub questions: Vec<usize>,
    /// The level of LDP.
    pub level: f64,
    /// How the symbol is randomised.
    pub coins: Coins,
}

/// How many combinations of answers some questions have; nothing above [`MOST_SYMBOLS`] for several questions.
pub fn symbols(questions: &[Question], chosen: &[usize]) -> Option<usize> {
    if let [one] = chosen {
        return Some(questions[*one].size());
    }
    let product = |found: usize, at: &usize| {
        found.checked_mul(questions[*at].size()).filter(|&product| product <= MOST_SYMBOLS)
    };
    if chosen.len() > MOST_QUESTIONS { None } else { chosen.iter().try_fold(1, product) }
}

impl Group {
    /// The number of combinations of answers.
    pub fn symbols(&self, questions: &[Question]) -> usize {
        self.questions.iter().map(|&at| questions[at].size()).product()
    }

    /// n times the variance of a target from people who answer this group; nothing unless it has all its questions.
    pub fn variance(&self, questions: &[Question], target: &Target) -> Option<f64> {
        let inside = |at: &usize| self.questions.contains(at);
        target.questions.iter().all(inside).then(|| self.second(questions, target) - target.squares)
    }

    /// The summed second moments of the scores of a target's cells.
    pub fn second(&self, questions: &[Question], target: &Target) -> f64 {
        let symbols = self.symbols(questions);
        self.coins.moments(symbols, symbols as f64 / target.cells).total(target.cells)
    }

    /// The weighted sum of the variances of all targets inside.
    pub fn cost(&self, questions: &[Question], targets: &[Target]) -> f64 {
        let one = |target: &Target| Some(target.weight * self.variance(questions, target)?);
        targets.iter().filter_map(one).sum()
    }

    /// The ways to randomise some questions together at a level, each with its coins at their best for the targets.
    pub fn candidates(
        questions: &[Question],
        targets: &[Target],
        chosen: &[usize],
        level: f64,
        ways: Ways,
    ) -> Vec<Self> {
        let Some(symbols) = symbols(questions, chosen) else { return Vec::new() };
        let counted = counted(questions, targets, chosen);
        let group = |coins| Self { questions: chosen.to_vec(), level, coins };
        let cost = |group: &Self| group.cost(questions, &counted);
        if let Some(repeats) = ways.repeats {
            let span = memo_bits_level(level, symbols, repeats);
            let bits = |own| Coins::memo_bits(level, symbols, own, repeats);
            let own = best_own_bit(span, |own| cost(&group(bits(own))));
            let found = [Coins::memo_kept(level, symbols, repeats), bits(own)];
            return found.into_iter().map(group).collect();
        }
        let mut found = vec![group(Coins::keep(level, symbols))];
        // The bits of a combined symbol add up to much noise in the shares of one question: they serve pairs.
        let alone = chosen.len() == 1 || counted.iter().any(|target| target.questions.len() > 1);
        if alone && !(ways.listed && symbols <= MOST_LISTED) {
            let bits = |own| Coins::bits(level, own);
            found.push(group(bits(best_own_bit(level, |own| cost(&group(bits(own)))))));
        }
        if chosen.len() == 1 {
            let fits =
                |&size: &usize| binomial(symbols, size).saturating_mul(symbols) <= MOST_CELLS;
            let sizes = (2..symbols.div_ceil(2)).take_while(fits);
            let sets = sizes.map(|size| group(Coins::subset(level, symbols, size)));
            found.extend(sets.min_by(|a, b| cost(a).total_cmp(&cost(b))));
        }
        found
    }

    /// The candidate that costs least.
    pub fn cheapest(
        questions: &[Question],
        targets: &[Target],
        chosen: &[usize],
        level: f64,
        ways: Ways,
    ) -> Option<Self> {
        let found = Self::candidates(questions, targets, chosen, level, ways).into_iter();
        let counted = counted(questions, targets, chosen);
        let cost = |group: &Self| group.cost(questions, &counted);
        found.min_by(|a, b| cost(a).total_cmp(&cost(b)))
    }
}

/// The targets inside a group; if there are none, the shares of its questions, off which a pair asked in two items is read.
fn counted(questions: &[Question], targets: &[Target], chosen: &[usize]) -> Vec<Target> {
    let inside = |target: &&Target| target.questions.iter().all(|at| chosen.contains(at));
    let found: Vec<Target> = targets.iter().filter(inside).cloned().collect();
    match found.is_empty() {
        true => chosen.iter().map(|&at| Target::single(questions, at)).collect(),
        false => found,
    }
}
