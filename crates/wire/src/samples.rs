//! Reports for tests.

use undertone_core::{
    Alphabet, Claim, Context, Draft, Epsilon, KEEP_ONE, Keep, MASS_ONE, Policy, PolicyId,
    Provenance, Report, ReportId, Shape, Token,
};

/// Some reports of one policy, with indices or with two bytes of bits.
pub(crate) fn reports(count: u8, bits: bool) -> Vec<Report> {
    let token = |at: u8| match bits {
        true => Token::Bits([at, 0x80].into()),
        false => Token::Index(u32::from(at) << 8),
    };
    let one = |at| Report { policy: PolicyId([7; 32]), id: ReportId([at; 16]), token: token(at) };
    (0..count).map(one).collect()
}

/// A policy with so many outputs.
pub(crate) fn policy(outputs: usize) -> Policy {
    let mut base = vec![MASS_ONE / outputs as u64; outputs];
    base[0] += MASS_ONE - base.iter().sum::<u64>();
    let shape = Shape::Keep(Keep::new(vec![KEEP_ONE / 2; outputs], base).unwrap());
    let claims = vec![Claim::ldp(Epsilon::LARGEST)];
    let inputs = Alphabet::indices(outputs).unwrap();
    let draft =
        Draft::new(inputs, None, shape, Context::Unknown, claims, Provenance::default()).unwrap();
    draft.verify().unwrap()
}
