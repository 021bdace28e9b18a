//! Seeded random plans.

use super::{anything, policy};
use crate::common::Random;
use undertone_core::{
    Alphabet, Item, KEEP_ONE, Keep, Law, MASS_ONE, Node, PlanParts, Point, Provenance, Question,
    Row, SecretVariable, Shape, Table, WEIGHT_ONE,
};

impl Random {
    /// A channel with a finite level for `size` symbols.
    pub(crate) fn private(&mut self, size: usize) -> Shape {
        match self.below(4) {
            0 => {
                let keep = (0..size).map(|_| self.below(KEEP_ONE * 3 / 4)).collect();
                let base = self.positive(size, MASS_ONE);
                Shape::Keep(Keep::new(keep, base).unwrap())
            }
            1 if size <= 3 => {
                let part = |random: &mut Self| WEIGHT_ONE / 20 + random.below(WEIGHT_ONE * 9 / 10);
                let (own, other) = (part(self), part(self));
                Shape::Bits(undertone_core::Bits::new(size, own, other).unwrap())
            }
            _ => {
                let outputs = self.size(1, 3);
                let rows = (0..size).map(|_| self.positive(outputs, MASS_ONE)).collect();
                Shape::Table(Table::from_masses(rows).unwrap())
            }
        }
    }

    /// Numbers above nought that sum to `one`, none of them tiny.
    pub(crate) fn positive(&mut self, count: usize, one: u64) -> Vec<u64> {
        let floor = one / (16 * count as u64);
        let mut parts = self.parts(count, one - floor * count as u64);
        parts.iter_mut().for_each(|part| *part += floor);
        parts
    }

    /// A distribution in which some entries may be nought.
    fn row(&mut self, size: usize) -> Row {
        Row::new(self.parts(size, MASS_ONE)).unwrap()
    }

    /// A tree over variables of these sizes; every value can occur.
    pub(crate) fn tree(&mut self, sizes: &[usize]) -> Law {
        // An order in which parents come first, so that parents have any number.
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        for at in (1..order.len()).rev() {
            let other = self.size(0, at);
            order.swap(at, other);
        }
        let mut nodes: Vec<Option<Node>> = vec![None; sizes.len()];
        for (at, &v) in order.iter().enumerate() {
            nodes[v] = Some(if at == 0 || self.one_in(5) {
                Node::Root(Row::new(self.positive(sizes[v], MASS_ONE)).unwrap())
            } else {
                let earlier = self.size(0, at - 1);
                let parent = order[earlier];
                let mut rows: Vec<Row> = (0..sizes[parent]).map(|_| self.row(sizes[v])).collect();
                rows[0] = Row::new(self.positive(sizes[v], MASS_ONE)).unwrap();
                Node::Given { parent: parent as u32, rows }
            });
        }
        Law::Tree(nodes.into_iter().flatten().collect())
    }

    /// Some combinations of values, in which every value occurs.
    pub(crate) fn points(&mut self, sizes: &[usize]) -> Law {
        let most = *sizes.iter().max().unwrap();
        let mut values: Vec<Vec<u32>> =
            (0..most).map(|at| sizes.iter().map(|&size| (at % size) as u32).collect()).collect();
        for _ in 0..self.size(0, 6) {
            values.push(sizes.iter().map(|&size| self.below(size as u64) as u32).collect());
        }
        values.sort();
        values.dedup();
        let weights = self.positive(values.len(), MASS_ONE);
        let point = |(values, weight)| Point { weight, values };
        Law::Points(values.into_iter().zip(weights).map(point).collect())
    }

    /// A plan of up to `most` items with a law: some combined, some drawn, some questions in several items.
    pub(crate) fn plan(&mut self, most: usize, largest: usize) -> PlanParts {
        let questions = self.size(1, most);
        let secrets = self.size(0, 2);
        let sizes: Vec<usize> = (0..questions + secrets).map(|_| self.size(2, largest)).collect();
        let alphabet = |size: usize| Alphabet::indices(size).unwrap();
        let mut items: Vec<Vec<u32>> = Vec::new();
        let mut next = 0;
        while next < questions {
            let together = if self.one_in(4) { 2 } else { 1 };
            let end = (next + together).min(questions);
            items.push((next as u32..end as u32).collect());
            next = end;
        }
        if items.len() < most && questions > 1 && self.one_in(4) {
            items.push(vec![0, questions as u32 - 1]);
        }
        let split = items.len() > 1 && self.one_in(2);
        let mut list = Vec::new();
        let mut policies = Vec::new();
        for (at, questions) in items.into_iter().enumerate() {
            let size: usize = questions.iter().map(|&q| sizes[q as usize]).product();
            let shape = self.private(size);
            policies.push(policy(alphabet(size), shape));
            let weight =
                if split && (at < 2 || self.one_in(2)) { 1 + self.below(9) as u32 } else { 0 };
            list.push(Item { questions, policy: at as u32, fresh: None, weight });
        }
        let drawn = list.iter().filter(|item| item.weight > 0).count();
        let asked = if drawn == 0 { 0 } else { self.size(1, drawn - 1) as u32 };
        let law = if self.one_in(3) { self.points(&sizes) } else { self.tree(&sizes) };
        PlanParts {
            questions: sizes[..questions]
                .iter()
                .enumerate()
                .map(|(at, &size)| Question {
                    name: format!("q{at}"),
                    wording: String::new(),
                    answers: alphabet(size),
                })
                .collect(),
            secrets: sizes[questions..]
                .iter()
                .enumerate()
                .map(|(at, &size)| SecretVariable {
                    name: format!("s{at}"),
                    values: alphabet(size),
                })
                .collect(),
            law,
            items: list,
            asked,
            periods: 1,
            claims: vec![anything()],
            provenance: Provenance::default(),
            policies,
        }
    }
}

/// How much work exhaustive rationals are: combinations of values times outcomes.
pub(crate) fn work(parts: &PlanParts) -> usize {
    let outcomes: usize = parts
        .items
        .iter()
        .map(|item| match parts.policies[item.policy as usize].shape() {
            shape if shape.releases_bits() => 1 << shape.inputs(),
            shape => shape.outputs(),
        })
        .product();
    super::exact::joint(parts).len() * outcomes
}
