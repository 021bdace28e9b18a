//! Whatever bytes arrive as a batch: no panic, one encoding each, and the bulk check of tokens agrees with
//! the kernel's check of each.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use std::sync::LazyLock;
use undertone_core::{
    Alphabet, Bits, Claim, Context, Draft, Epsilon, KEEP_ONE, Keep, MASS_ONE, Policy, Provenance,
    Report, Shape, WEIGHT_ONE,
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

static POLICIES: LazyLock<[Policy; 2]> = LazyLock::new(|| {
    let keep = Keep::new(vec![KEEP_ONE / 2; 4], vec![MASS_ONE / 4; 4]).unwrap();
    let bits = Bits::new(11, WEIGHT_ONE / 2, WEIGHT_ONE / 4).unwrap();
    [policy(Shape::Keep(keep)), policy(Shape::Bits(bits))]
});

fuzz_target!(|bytes: &[u8]| {
    let Ok(packed) = PackedBatch::read(&Bytes::copy_from_slice(bytes)) else { return };
    let reports: Vec<Report> = packed.reports().collect();
    assert_eq!(reports.len(), packed.rows().len());
    assert_eq!(PackedBatch::pack(&reports).map(|packed| packed.to_bytes()).as_deref(), Ok(bytes));
    for policy in POLICIES.iter() {
        let each = |report: &Report| {
            policy.accepts(&Report { policy: policy.id(), ..report.clone() }).is_ok()
        };
        assert_eq!(packed.fits(policy), reports.iter().all(each));
    }
});
