//! Responses: all that leaves a device, and what a plan takes for its own.

use super::{plain, verified};
use crate::common::Random;
use undertone_core::{ItemAnswer, Law, Plan, ReportId, Response, ResponseMismatch, Shape, Token};

/// Two yes/no items and one that releases bits, of which two are drawn.
fn plan() -> Plan {
    let mut random = Random::new(27);
    let table = || {
        let rows = vec![vec![3 << 46, 1 << 46], vec![1 << 46, 3 << 46]];
        Shape::Table(undertone_core::Table::from_masses(rows).unwrap())
    };
    let bits = Shape::Bits(undertone_core::Bits::new(11, 1 << 31, 1 << 30).unwrap());
    let mut parts = plain(vec![table(), bits, random.private(2), table()], &[], Law::Unknown);
    for item in [1, 2, 3] {
        parts.items[item].weight = 1;
    }
    parts.asked = 2;
    verified(parts)
}

fn response(plan: &Plan, answers: Vec<(u32, Token)>) -> Response {
    let answers = answers.into_iter().map(|(item, token)| ItemAnswer { item, token }).collect();
    Response { plan: plan.id(), id: ReportId([7; 16]), answers }
}

#[test]
fn responses_are_read_back() {
    let plan = plan();
    let bits = || Token::Bits(Box::new([0xa5, 0xe0]));
    for answers in [
        vec![],
        vec![(0, Token::Index(1))],
        vec![(0, Token::Index(1)), (1, bits()), (3, Token::Index(0))],
    ] {
        let response = response(&plan, answers);
        plan.accepts(&response).unwrap();
        assert_eq!(Response::from_json(&response.to_json()).unwrap(), response);
        let bytes = response.to_bytes();
        assert_eq!(Response::from_bytes(&bytes).unwrap(), response);
        for end in 0..bytes.len() {
            assert!(Response::from_bytes(&bytes[..end]).is_err());
        }
        assert!(Response::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
    }
}

#[test]
fn what_the_plan_cannot_have_sent_is_named() {
    let plan = plan();
    let refused = |answers| plan.accepts(&response(&plan, answers)).unwrap_err();
    let yes = || Token::Index(1);
    let bits = |bytes: &[u8]| Token::Bits(bytes.into());
    assert_eq!(refused(vec![(4, yes())]), ResponseMismatch::Items { at: 0 });
    assert_eq!(refused(vec![(0, yes()), (0, yes())]), ResponseMismatch::Items { at: 1 });
    assert_eq!(refused(vec![(3, yes()), (0, yes())]), ResponseMismatch::Items { at: 1 });
    let three = vec![(1, bits(&[0, 0])), (2, Token::Index(0)), (3, yes())];
    assert_eq!(refused(three), ResponseMismatch::Asked { found: 3, asked: 2 });
    assert_eq!(refused(vec![(0, Token::Index(2))]), ResponseMismatch::Token { at: 0 });
    assert_eq!(refused(vec![(0, bits(&[0]))]), ResponseMismatch::Token { at: 0 });
    assert_eq!(refused(vec![(1, bits(&[0]))]), ResponseMismatch::Token { at: 0 });
    assert_eq!(refused(vec![(1, bits(&[0, 1]))]), ResponseMismatch::Token { at: 0 });
    let mut other = response(&plan, vec![(0, yes())]);
    other.plan.0[0] ^= 1;
    assert_eq!(plan.accepts(&other).unwrap_err(), ResponseMismatch::Plan);
}

#[test]
fn combined_symbols_are_put_together_and_taken_apart() {
    let mut random = Random::new(28);
    let sizes = [2usize, 3, 4];
    let mut parts =
        plain(sizes.iter().map(|&size| random.private(size)).collect(), &[], Law::Unknown);
    let all = undertone_core::Alphabet::indices(24).unwrap();
    parts.policies = vec![super::policy(all.clone(), random.private(24))];
    parts.items =
        vec![undertone_core::Item { questions: vec![0, 1, 2], policy: 0, fresh: None, weight: 0 }];
    let plan = verified(parts);
    for index in 0..24 {
        let answers = plan.separate(0, index);
        assert_eq!(answers[0] * 12 + answers[1] * 4 + answers[2], index);
        let symbols: Vec<_> = answers
            .iter()
            .zip(&plan.parts().questions)
            .map(|(&answer, question)| question.answers.symbol(answer).unwrap())
            .collect();
        assert_eq!(plan.combine(0, &symbols), Some(all.symbol(index).unwrap()));
    }
    assert_eq!(plan.combine(0, &[]), None);
}
