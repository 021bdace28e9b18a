//! Whatever bytes arrive as a batch: no panic, one encoding each, and the bulk check of tokens agrees with
//! the kernel's check of each.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use undertone_core::{
    Alphabet, Bits, Claim, Context, Draft, Epsilon, Family, Incidence, KEEP_ONE, Keep, MASS_ONE,
    Policy, Provenance, Report, Shape, Subsets, WEIGHT_ONE,
};
use undertone_wire::PackedBatch;

fn policy(shape: Shape) -> Policy {
    let inputs = Alphabet::indices(shape.inputs()).unwrap();
    let claims = vec![Claim::ldp(Epsilon::LARGEST)];
    Draft::new(inputs, None, shape, Context::Unknown, claims, Provenance::default())
        .unwrap()
        .verify()
        .unwrap()
}

static POLICIES: LazyLock<[Policy; 3]> = LazyLock::new(|| {
    let keep = Keep::new(vec![KEEP_ONE / 2; 4], vec![MASS_ONE / 4; 4]).unwrap();
    let bits = Bits::new(11, WEIGHT_ONE / 2, WEIGHT_ONE / 4).unwrap();
    let subsets = Incidence::new(11, MASS_ONE / 2, Family::Subsets(Subsets::new(3))).unwrap();
    [policy(Shape::Keep(keep)), policy(Shape::Bits(bits)), policy(Shape::Incidence(subsets))]
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(packed) = PackedBatch::read(&Bytes::copy_from_slice(bytes)) else { return };
    let reports: Vec<Report> = packed.reports().collect();
    assert_eq!(reports.len(), packed.rows().len());
    assert_eq!(packed.to_bytes(), bytes);
    let again = PackedBatch::pack(&reports).unwrap();
    assert_eq!((again.policy(), again.rows()), (packed.policy(), packed.rows()));
    for policy in POLICIES.iter() {
        let each = |report: &Report| {
            policy.accepts(&Report { policy: policy.id(), ..report.clone() }).is_ok()
        };
        assert_eq!(packed.fits(policy), reports.iter().all(each));
    }
});
