//! The items that tell about one variable, and the variables that connect it with them.

use super::law::{Law, Node};
use super::{Plan, Variable};
use alloc::vec;
use alloc::vec::Vec;

/// One variable with the items that count for it.
pub(super) struct Scope<'a> {
    pub(super) plan: &'a Plan,
    /// The variable that beliefs are about.
    pub(super) target: usize,
    /// The variables that are connected with it, in order; it is one of them.
    pub(super) variables: Vec<usize>,
    /// The items everybody answers, in order.
    pub(super) everybody: Vec<usize>,
    /// The items of which at most `asked` are answered, in order.
    pub(super) drawn: Vec<usize>,
    pub(super) asked: usize,
    pub(super) sizes: Vec<usize>,
}

impl<'a> Scope<'a> {
    /// Everything the plan's items tell about a variable.
    pub(super) fn all(plan: &'a Plan, about: Variable) -> Option<Self> {
        let items = &plan.parts().items;
        let of = |drawn: bool| {
            (0..items.len()).filter(|&item| (items[item].weight > 0) == drawn).collect()
        };
        Self::new(plan, about, of(false), of(true))
    }

    /// What one item tells about a variable, alone.
    pub(super) fn alone(plan: &'a Plan, about: Variable, item: usize) -> Option<Self> {
        Self::new(plan, about, vec![item], Vec::new())
    }

    fn new(
        plan: &'a Plan,
        about: Variable,
        mut everybody: Vec<usize>,
        mut drawn: Vec<usize>,
    ) -> Option<Self> {
        let parts = plan.parts();
        let (target, sizes) = (parts.variable(about)?, parts.sizes());
        let joined = connected(plan, target, sizes.len(), &everybody, &drawn)?;
        let inside = |item: &usize| joined[parts.items[*item].questions[0] as usize];
        everybody.retain(inside);
        drawn.retain(inside);
        let asked = drawn.len().min(parts.asked as usize);
        let variables = (0..sizes.len()).filter(|&variable| joined[variable]).collect();
        Some(Self { plan, target, variables, everybody, drawn, asked, sizes })
    }

    /// The tree of the law, if it is one.
    pub(super) fn tree(&self) -> Option<&'a [Node]> {
        match &self.plan.parts().law {
            Law::Tree(nodes) => Some(nodes),
            _ => None,
        }
    }

    /// The items that count, in order.
    pub(super) fn items(&self) -> Vec<usize> {
        let mut items = self.everybody.clone();
        items.extend(&self.drawn);
        items.sort_unstable();
        items
    }

    /// Whether every item has one question only.
    pub(super) fn is_single(&self) -> bool {
        let mut items = self.everybody.iter().chain(&self.drawn);
        items.all(|&item| self.plan.parts().items[item].questions.len() == 1)
    }

    /// The items, everybody's and drawn, that ask for a variable.
    pub(super) fn items_of(&self, variable: usize) -> impl Iterator<Item = (usize, bool)> {
        let items = &self.plan.parts().items;
        let everybody = self.everybody.iter().map(|&item| (item, false));
        let drawn = self.drawn.iter().map(|&item| (item, true));
        let of = move |item: usize| items[item].questions.contains(&(variable as u32));
        everybody.chain(drawn).filter(move |&(item, _)| of(item))
    }

    /// The children of a variable in the tree, in order.
    pub(super) fn children(&self, variable: usize) -> impl Iterator<Item = usize> {
        let nodes = self.tree().unwrap_or(&[]);
        (0..nodes.len()).filter(move |&child| nodes[child].parent() == Some(variable))
    }

    /// The parent and the children of a variable in the tree.
    pub(super) fn neighbours(&self, variable: usize) -> Vec<usize> {
        let parent = self.tree().and_then(|nodes| nodes[variable].parent());
        parent.into_iter().chain(self.children(variable)).collect()
    }
}

/// Which variables are connected with the target, through the law or through an item.
fn connected(
    plan: &Plan,
    target: usize,
    variables: usize,
    everybody: &[usize],
    drawn: &[usize],
) -> Option<Vec<bool>> {
    let parts = plan.parts();
    let mut joined = vec![false; variables];
    joined[target] = true;
    let mut links: Vec<Vec<usize>> = Vec::new();
    match &parts.law {
        Law::Unknown => return None,
        Law::Points(_) => joined.fill(true),
        Law::Tree(nodes) => {
            let edge = |(child, node): (usize, &Node)| Some(vec![child, node.parent()?]);
            links.extend(nodes.iter().enumerate().filter_map(edge));
        }
    }
    let combined = everybody.iter().chain(drawn).map(|&item| &parts.items[item].questions);
    let combined = combined.filter(|questions| questions.len() > 1);
    links.extend(combined.map(|questions| questions.iter().map(|&q| q as usize).collect()));
    loop {
        let mut grown = false;
        for link in &links {
            if link.iter().any(|&v| joined[v]) && !link.iter().all(|&v| joined[v]) {
                link.iter().for_each(|&v| joined[v] = true);
                grown = true;
            }
        }
        if !grown {
            return Some(joined);
        }
    }
}
