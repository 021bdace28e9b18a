//! Planted errors: parts that [`Draft::new`] would refuse to put together, handed to the checker all the same.

use super::{Refusal, Side, attained, certify};
use crate::claim::{Bound, Claim, Delta, Subject};
use crate::context::{Context, PriorBox, Priors, Secret};
use crate::epsilon::Epsilon;
use crate::mass::{MASS_ONE, Prior, WEIGHT_ONE};
use crate::ratio::Ratio;
use crate::shape::{Bits, Keep, Shape, Table};
use crate::{Alphabet, Draft, Provenance};
use alloc::vec;
use alloc::vec::Vec;

/// The weakest level there is: whatever is examined at all passes it.
fn weakest() -> Epsilon {
    Epsilon::LARGEST
}

/// Channels of two inputs that tell nothing, so that only what cannot be examined is refused.
fn silent() -> [Shape; 3] {
    let half = MASS_ONE / 2;
    let rows = vec![vec![half, half]; 2];
    [
        Shape::Table(Table::from_masses(rows).unwrap()),
        Shape::Keep(Keep::new(vec![0, 0], vec![half, half]).unwrap()),
        Shape::Bits(Bits::new(2, WEIGHT_ONE / 2, WEIGHT_ONE / 2).unwrap()),
    ]
}

fn prior(size: usize) -> Prior {
    let each = WEIGHT_ONE / size as u64;
    let mut weights = vec![each; size];
    weights[0] += WEIGHT_ONE - each * size as u64;
    Prior::new(weights).unwrap()
}

/// Every kind of context, over `size` inputs.
fn contexts(size: usize) -> [Context; 5] {
    let secret = Secret::new("s".into(), prior(2), vec![prior(size); 2]).unwrap();
    [
        Context::Unknown,
        Context::Known(prior(size)),
        Context::Each(Priors::new(vec![prior(size); 2]).unwrap()),
        Context::Within(PriorBox::new(vec![0; size], vec![WEIGHT_ONE; size]).unwrap()),
        Context::Secret(secret),
    ]
}

fn bounds() -> [Bound; 3] {
    let weakest = weakest();
    [Bound::Ldp(weakest), Bound::Lip { lower: weakest, upper: weakest }, Bound::Di(weakest)]
}

fn draft_refuses(shape: &Shape, context: &Context, claim: Claim) -> bool {
    let inputs = Alphabet::indices(shape.inputs()).unwrap();
    let (shape, context) = (shape.clone(), context.clone());
    Draft::new(inputs, None, shape, context, vec![claim], Provenance::default()).is_err()
}

/// For every combination of shape, context and claim that a draft refuses, the checker refuses too, naming the claim
/// and no bound. So it does for those behind one that holds.
#[test]
fn what_a_draft_refuses_is_refused_without_it() {
    let mut refused = Vec::new();
    for shape in &silent() {
        for context in contexts(2).iter().chain(&contexts(1)).chain(&contexts(3)) {
            for bound in bounds() {
                for about in [Subject::Input, Subject::Secret] {
                    for delta in [Delta::ZERO, Delta::from_units(MASS_ONE - 1).unwrap()] {
                        let claim = Claim { about, bound, delta };
                        if !draft_refuses(shape, context, claim) {
                            assert!(
                                certify(shape, context, &[claim]).is_ok(),
                                "{claim} {context:?}"
                            );
                            continue;
                        }
                        // Over another alphabet LDP of the input is judged as without a context.
                        let plain = matches!(bound, Bound::Ldp(_)) && about == Subject::Input;
                        if plain && certify(shape, &Context::Unknown, &[claim]).is_ok() {
                            continue;
                        }
                        for before in [0, 2] {
                            let mut claims = vec![Claim::ldp(weakest()); before];
                            claims.push(claim);
                            let refusal = certify(shape, context, &claims).unwrap_err();
                            let Refusal { index, attained, allowed, .. } = refusal;
                            assert_eq!((index, refusal.claim), (before, claim));
                            assert_eq!(attained, Ratio::UNBOUNDED, "{claim} under {context:?}");
                            assert!(allowed < Ratio::UNBOUNDED);
                        }
                        refused.push(claim);
                    }
                }
            }
        }
    }
    // The four of old: a secret that is not there, δ on bits, identifiability where it has no meaning, no prior.
    let some = |test: &dyn Fn(&Claim) -> bool| assert!(refused.iter().any(test));
    some(&|claim| claim.about == Subject::Secret && claim.delta == Delta::ZERO);
    some(&|claim| *claim == Claim { about: Subject::Input, ..*claim } && claim.delta > Delta::ZERO);
    some(&|claim| matches!(claim.bound, Bound::Di(_)) && claim.about == Subject::Secret);
    some(&|claim| *claim == Claim::lip(weakest()));
}

#[test]
fn each_refusal_names_the_side_that_has_no_bound() {
    let [table, _, bits] = &silent();
    let side = |shape, context, claim| certify(shape, context, &[claim]).unwrap_err().side;
    let [unknown, known, ..] = &contexts(2);
    let delta = Delta::from_units(1).unwrap();
    assert_eq!(side(table, unknown, Claim::lip(weakest())), Side::Upper);
    assert_eq!(side(table, known, Claim::ldp(weakest()).about_secret()), Side::Ldp);
    assert_eq!(
        side(table, known, Claim::ldp(weakest()).about_secret().with_delta(delta)),
        Side::Delta
    );
    assert_eq!(side(bits, known, Claim::ldp(weakest()).with_delta(delta)), Side::Delta);
    let di = Claim { bound: Bound::Di(weakest()), ..Claim::ldp(weakest()) };
    assert_eq!(side(table, unknown, di), Side::Di);
    assert_eq!(side(table, known, di.about_secret()), Side::Di);
    assert_eq!(side(table, known, di.with_delta(delta)), Side::Delta);
}

/// A prior over fewer symbols than the channel has would leave rows out of the mixture, and belief would seem to
/// fall less than it does.
#[test]
fn a_context_over_another_alphabet_bounds_no_belief() {
    for shape in &silent() {
        for context in contexts(1).iter().chain(&contexts(3)) {
            let (input, secret) = attained(shape, context);
            assert_eq!((input.upper, input.lower, secret), (None, None, None));
            assert_eq!(input.ldp.ratio, Ratio::ONE);
        }
    }
}
