//! Plans to test with, and the law of what their items send.

use undertone_core::{
    Alphabet, Draft, Item, Law, Nats, Plan, PlanClaim, PlanDraft, PlanParts, Policy, Provenance,
    Question, Shape, Token, WEIGHT_ONE,
};

use crate::policy::row;

/// One item of a plan to be.
pub struct PlannedItem {
    questions: Vec<u32>,
    policy: Policy,
    fresh: Option<Policy>,
    weight: u32,
}

impl PlannedItem {
    /// Some questions, by their numbers, randomised as one by a policy; everybody answers it.
    pub fn new(questions: &[u32], policy: &Policy) -> Self {
        Self { questions: questions.to_vec(), policy: policy.clone(), fresh: None, weight: 0 }
    }

    /// Drawn by devices.
    pub fn drawn(self) -> Self {
        Self { weight: 1, ..self }
    }

    /// The answer is kept, and reports are drawn from it by another policy.
    pub fn then(self, fresh: &Policy) -> Self {
        Self { fresh: Some(fresh.clone()), ..self }
    }
}

/// A plan that promises next to nothing and assumes nothing.
pub fn plan(questions: &[(&str, Alphabet)], items: Vec<PlannedItem>, asked: u32) -> Plan {
    let question = |(name, answers): &(&str, Alphabet)| Question {
        name: (*name).into(),
        wording: String::new(),
        answers: answers.clone(),
    };
    let mut policies: Vec<Draft> = Vec::new();
    let mut place = |policy: &Policy| {
        let known = policies.iter().position(|known| known == policy.draft());
        known.unwrap_or_else(|| {
            policies.push(policy.draft().clone());
            policies.len() - 1
        }) as u32
    };
    let item = |item: PlannedItem| Item {
        questions: item.questions,
        policy: place(&item.policy),
        fresh: item.fresh.as_ref().map(&mut place),
        weight: item.weight,
    };
    let items = items.into_iter().map(item).collect();
    let parts = PlanParts {
        questions: questions.iter().map(question).collect(),
        secrets: Vec::new(),
        law: Law::Unknown,
        items,
        asked,
        periods: 1,
        claims: vec![PlanClaim::Person { ldp: Nats::from_units(1 << 50) }],
        provenance: Provenance::default(),
        policies,
    };
    PlanDraft::new(parts).unwrap().verify().unwrap()
}

/// Every token an item can send and its probability, given the person's answers to all questions.
pub fn tokens(plan: &Plan, item: usize, answers: &[usize]) -> Vec<(Token, f64)> {
    let questions = &plan.parts().items[item].questions;
    let symbol = questions.iter().fold(0, |symbol, &question| {
        let size = plan.parts().questions[question as usize].answers.len();
        symbol * size + answers[question as usize]
    });
    let first = drawn(plan.policy_of(item), symbol);
    if plan.parts().items[item].fresh.is_none() {
        return first;
    }
    let mut sums: Vec<(Token, f64)> = Vec::new();
    for (kept, chance) in first {
        let Token::Index(kept) = kept else { panic!("bits are never kept") };
        for (token, next) in drawn(plan.reporting_policy(item), kept as usize) {
            match sums.iter_mut().find(|(known, _)| *known == token) {
                Some((_, sum)) => *sum += chance * next,
                None => sums.push((token, chance * next)),
            }
        }
    }
    sums
}

/// Every token of a policy and its probability given a symbol.
fn drawn(policy: &Policy, symbol: usize) -> Vec<(Token, f64)> {
    let shape = policy.draft().shape();
    let Shape::Bits(bits) = shape else {
        return (0..).map(Token::Index).zip(row(shape, symbol)).collect();
    };
    let (size, unit) = (bits.symbols(), WEIGHT_ONE as f64);
    let row = |set: usize| {
        let mut bytes = vec![0u8; size.div_ceil(8)];
        let mut chance = 1.0;
        for bit in 0..size {
            let units = if bit == symbol { bits.own() } else { bits.other() };
            let on = set >> bit & 1 == 1;
            chance *= if on { units as f64 / unit } else { 1.0 - units as f64 / unit };
            bytes[bit / 8] |= u8::from(on) * (0x80 >> (bit % 8));
        }
        (Token::Bits(bytes.into()), chance)
    };
    (0..1 << size).map(row).collect()
}
