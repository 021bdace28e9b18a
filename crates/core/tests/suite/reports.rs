//! Reports: one encoding each, and no policy accepts another's.

use crate::common::{draft, level, table, unhex};
use undertone_core::{
    Bits, Claim, Context, DecodeError, MASS_ONE, Policy, PolicyId, Report, ReportId,
    ReportMismatch, Shape, Token, WEIGHT_ONE,
};

fn report(token: Token) -> Report {
    let policy = PolicyId(core::array::from_fn(|at| at as u8));
    Report { policy, id: ReportId(core::array::from_fn(|at| 0xf0 + at as u8)), token }
}

#[test]
fn canonical_bytes_of_a_report() {
    let head = concat!(
        "01",                                                               // version
        "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f", // policy id
        "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff",                                 // report id
    );
    let index = [head, "00" /* an index */, "00000007"].concat();
    let bits = [head, "01" /* bits */, "a040"].concat();
    let cases = [
        (index, Token::Index(7), "\"token\":7}"),
        (bits, Token::Bits([0xa0, 0x40].into()), "\"bits\":\"a040\"}"),
    ];
    for (hex, token, end) in cases {
        let report = report(token);
        assert_eq!(report.to_bytes(), unhex(&hex));
        assert_eq!(Report::from_bytes(&unhex(&hex)).as_ref(), Ok(&report));
        let json = report.to_json();
        let start = r#"{"undertone":"report/1","policy":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f","id":"f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff","#;
        assert_eq!(json, format!("{start}{end}"));
        assert_eq!(Report::from_json(&json), Ok(report));
    }
}

#[test]
fn bad_reports_are_refused() {
    let index = report(Token::Index(7)).to_bytes();
    for length in 0..index.len() {
        let error = Report::from_bytes(&index[..length]).unwrap_err();
        assert!(matches!(error, DecodeError::Truncated { missing: 1.. }), "{length}: {error:?}");
    }
    let longer = [&index[..], &[0]].concat();
    assert_eq!(Report::from_bytes(&longer), Err(DecodeError::Trailing { bytes: 1 }));
    let bits = report(Token::Bits([0xa0].into()));
    for bytes in [index.clone(), bits.to_bytes()] {
        let original = Report::from_bytes(&bytes).unwrap();
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                if let Ok(other) = Report::from_bytes(&changed) {
                    assert_ne!(other, original);
                    assert_eq!(other.to_bytes(), changed);
                }
            }
        }
    }
    let mut version = index.clone();
    version[0] = 2;
    let expected = DecodeError::Version { found: "report/2".into() };
    assert_eq!(Report::from_bytes(&version), Err(expected));
    let mut tag = index;
    tag[49] = 2;
    assert_eq!(Report::from_bytes(&tag), Err(DecodeError::Tag { what: "token" }));

    let json = report(Token::Index(7)).to_json();
    let edits: &[(&str, &str, &[&str])] = &[
        ("report/1", "report/2", &["report/2"]),
        ("\"token\":7", "\"token\":7,\"bits\":\"00\"", &["exactly one"]),
        (",\"token\":7", "", &["exactly one"]),
        ("\"token\":7", "\"token\":-7", &["invalid value"]),
        ("\"token\":7", "\"token\":7.0", &["floating point"]),
        ("\"token\":7", "\"token\":4294967296", &["invalid value"]),
        ("\"token\":7", "\"token\":7,\"token\":7", &["duplicate field `token`"]),
        ("\"token\":7", "\"token\":7,\"symbol\":7", &["unknown field `symbol`"]),
        ("\"token\":7", "\"bits\":\"a\"", &["bits"]),
        ("\"token\":7", "\"bits\":\"A0\"", &["bits"]),
        ("\"token\":7", "\"bits\":\"é\"", &["bits"]),
        ("\"policy\":\"00", "\"policy\":\"0", &["policy"]),
        ("\"id\":\"f0", "\"id\":\"F0", &["id"]),
        ("}", "}}", &["trailing"]),
    ];
    for (from, to, words) in edits {
        let message = Report::from_json(&json.replacen(from, to, 1)).unwrap_err().to_string();
        for word in *words {
            assert!(message.contains(word), "{to}: {message:?} does not say {word:?}");
        }
    }
}

/// A policy accepts the tokens it can release and no others.
#[test]
fn foreign_reports_are_told() {
    let claims = || vec![Claim::ldp(level(1, 1))];
    let flat = draft(table(&[&[MASS_ONE, 0]]), Context::Unknown, claims()).verify().unwrap();
    let half = WEIGHT_ONE / 2;
    let bits = Shape::Bits(Bits::new(11, half, half).unwrap());
    let bits = draft(bits, Context::Unknown, claims()).verify().unwrap();
    let of = |policy: &Policy, token| Report { policy: policy.id(), ..report(token) };
    let set = |bytes: &[u8]| Token::Bits(bytes.into());
    assert_eq!(flat.accepts(&of(&flat, Token::Index(1))), Ok(()));
    assert_eq!(flat.accepts(&of(&flat, Token::Index(2))), Err(ReportMismatch::Token));
    assert_eq!(flat.accepts(&of(&flat, set(&[0]))), Err(ReportMismatch::Token));
    assert_eq!(flat.accepts(&of(&bits, Token::Index(0))), Err(ReportMismatch::Policy));
    assert_eq!(bits.accepts(&of(&bits, set(&[0xff, 0xe0]))), Ok(()));
    for bytes in [&[][..], &[0], &[0, 0, 0], &[0, 0x10], &[0, 1], &[0; 100]] {
        assert_eq!(bits.accepts(&of(&bits, set(bytes))), Err(ReportMismatch::Token), "{bytes:?}");
    }
    assert_eq!(bits.accepts(&of(&bits, Token::Index(0))), Err(ReportMismatch::Token));
    // A whole number of bytes leaves no spare bits.
    let eight = Shape::Bits(Bits::new(8, half, half).unwrap());
    let eight = draft(eight, Context::Unknown, claims()).verify().unwrap();
    assert_eq!(eight.accepts(&of(&eight, set(&[0xff]))), Ok(()));
}
