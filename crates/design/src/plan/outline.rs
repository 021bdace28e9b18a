//! A whole plan in floats: its items, who answers them, and what it is worth.

use super::group::Group;
use super::inclusion::Draw;
use super::target::{Question, Target};

/// Drawn items above this many all get the same weight where several are drawn: the chances of unequal weights cost too much.
pub const MOST_WEIGHTED: usize = 48;

/// An item of an outline.
#[derive(Debug, Clone, PartialEq)]
pub struct OutlineItem {
    /// What is randomised together, and how.
    pub group: Group,
    /// Its weight among the drawn items; 0 if everybody answers it.
    pub weight: u32,
}

/// Items, and how many of the drawn ones each person answers.
#[derive(Debug, Clone, PartialEq)]
pub struct Outline {
    /// The items.
    pub items: Vec<OutlineItem>,
    /// How many of the drawn items each person answers.
    pub asked: usize,
}

/// One, as a weight: chances are multiples of 2^-20.
const ONE: f64 = (1u32 << 20) as f64;

impl Outline {
    /// Everybody answers every group.
    pub fn everybody(groups: Vec<Group>) -> Self {
        let items = groups.into_iter().map(|group| OutlineItem { group, weight: 0 });
        Self { items: items.collect(), asked: 0 }
    }

    /// Everybody answers some groups, and draws so many of others with these relative weights. If there is nothing to draw
    /// from, everybody answers them all.
    pub fn drawn(everybody: Vec<Group>, drawn: Vec<(Group, f64)>, asked: usize) -> Self {
        let mut outline = Self::everybody(everybody);
        let most = drawn.iter().map(|(_, weight)| *weight).fold(0.0, f64::max);
        let integer = |weight: f64| ((weight / most * ONE).round() as u32).max(1);
        let all = drawn.len() <= asked;
        outline.items.extend(drawn.into_iter().map(|(group, weight)| OutlineItem {
            group,
            weight: if all { 0 } else { integer(weight) },
        }));
        outline.asked = if all { 0 } else { asked };
        outline
    }

    /// The places of the drawn items, and their weights.
    fn drawn_items(&self) -> (Vec<usize>, Vec<f64>) {
        let drawn = self.items.iter().enumerate().filter(|(_, item)| item.weight > 0);
        drawn.map(|(at, item)| (at, f64::from(item.weight))).unzip()
    }

    /// The chance that a person answers each item.
    pub fn chances(&self) -> Vec<f64> {
        let (places, weights) = self.drawn_items();
        let mut chances = vec![1.0; self.items.len()];
        if !places.is_empty() {
            let found = Draw { weights: &weights, asked: self.asked }.chances();
            places.iter().zip(found).for_each(|(&at, chance)| chances[at] = chance);
        }
        chances
    }

    /// n times the variance of each target; infinite where nobody answers it.
    pub fn variances(&self, questions: &[Question], targets: &[Target]) -> Vec<f64> {
        let chances = self.chances();
        let (places, weights) = self.drawn_items();
        let draw = Draw { weights: &weights, asked: self.asked };
        let place = |at: usize| places.iter().position(|&place| place == at);
        let together = |one: usize, other: usize| match (place(one), place(other)) {
            (Some(one), Some(other)) => draw.together(one, other),
            _ => chances[one] * chances[other],
        };
        let variance = |target: &Target| {
            let inside = self.items.iter().zip(&chances).filter_map(|(item, chance)| {
                Some(chance / item.group.variance(questions, target)?)
            });
            let known: f64 = inside.sum();
            match (known > 0.0, target.questions.as_slice()) {
                (true, _) => 1.0 / known,
                (false, &[one, other]) => {
                    1.0 / self.apart(questions, target, one, other, &together)
                }
                (false, _) => f64::INFINITY,
            }
        };
        targets.iter().map(variance).collect()
    }

    /// n times the variance of each share of one question; infinite where nobody answers it.
    pub fn share_variances(&self, questions: &[Question], at: usize) -> Vec<f64> {
        let chances = self.chances();
        let answered = |(item, _): &(&OutlineItem, &f64)| item.group.questions.contains(&at);
        let items: Vec<_> = self.items.iter().zip(&chances).filter(answered).collect();
        let size = questions[at].size() as f64;
        let variance = |share: &f64| {
            let known = items.iter().map(|(item, chance)| {
                let symbols = item.group.symbols(questions);
                let moments = item.group.coins.moments(symbols, symbols as f64 / size);
                *chance / (share * moments.hit + (1.0 - share) * moments.miss - share * share)
            });
            1.0 / known.sum::<f64>()
        };
        questions[at].shares().as_slice().iter().map(variance).collect()
    }

    /// The part of all people who answer a question.
    pub fn reach(&self, at: usize) -> f64 {
        let answered = self.items.iter().zip(self.chances());
        let answered = answered.filter(|(item, _)| item.group.questions.contains(&at));
        answered.map(|(_, chance)| chance).sum::<f64>().min(1.0)
    }

    /// What is known of a pair whose questions are in two items of one person.
    fn apart(
        &self,
        questions: &[Question],
        target: &Target,
        one: usize,
        other: usize,
        together: &dyn Fn(usize, usize) -> f64,
    ) -> f64 {
        let with = |question: usize| {
            let items = self.items.iter().enumerate();
            items.filter(move |(_, item)| item.group.questions.contains(&question))
        };
        let second =
            |group: &Group, at: usize| group.second(questions, &Target::single(questions, at));
        let mut known = 0.0;
        for (at, first) in with(one) {
            for (to, last) in with(other) {
                let product = second(&first.group, one) * second(&last.group, other);
                known += together(at, to) / (product - target.squares);
            }
        }
        known
    }

    /// The weighted sum of n times the variances of all targets.
    pub fn value(&self, questions: &[Question], targets: &[Target]) -> f64 {
        let variances = self.variances(questions, targets);
        targets.iter().zip(variances).map(|(target, variance)| target.weight * variance).sum()
    }

    /// The level of the whole person: the sum over what everybody answers, and the largest of the drawn.
    pub fn level(&self) -> f64 {
        let everybody = self.items.iter().filter(|item| item.weight == 0);
        let everybody: f64 = everybody.map(|item| item.group.level).sum();
        let mut drawn: Vec<f64> =
            self.items.iter().filter(|item| item.weight > 0).map(|item| item.group.level).collect();
        drawn.sort_by(|a, b| b.total_cmp(a));
        everybody + drawn.iter().take(self.asked).sum::<f64>()
    }
}
