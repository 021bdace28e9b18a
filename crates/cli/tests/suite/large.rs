//! Policies of many symbols: made, re-checked, used and read in memory like the number of symbols, and never printed in full.
use crate::common::{Scratch, complaint, json, undertone};

/// A hundred thousand symbols: what grows with their square would take eighty gigabytes.
const MANY: &str = "100000";

fn said(args: &[&str]) -> String {
    let output = undertone(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn designs_of_many_symbols() {
    let dir = Scratch::new("many-design");
    for (method, shape, bits) in
        [("krr", "keep", 17), ("oue", "bits", 100_000), ("sue", "bits", 100_000)]
    {
        let out = dir.path(&format!("{method}.json"));
        let asked = ["design", "--size", MANY, "--protect", "ldp:1", "--method", method, "-o", &out];
        let (code, found) = json(&asked);
        assert_eq!((code, &found["shape"], &found["report_bits"]), (0, &shape.into(), &bits.into()));
        assert!(found["variance_at_zero"].as_f64().unwrap() > 3.6, "{found}");
        assert!(found["channel"].is_null());
        let text = said(&asked);
        assert!(text.contains(&format!("One report takes {bits} bits (shape {shape})")), "{text}");
        assert!(text.len() < 3000, "{} bytes", text.len());
        let (code, checked) = json(&["policy", "verify", &out]);
        assert_eq!((code, &checked["policy_id"]), (0, &found["policy_id"]));
        let shown = said(&["policy", "show", &out]);
        assert!(shown.len() < 10_000, "{} bytes", shown.len());
    }
}

#[test]
fn a_size_is_no_prior() {
    let dir = Scratch::new("size");
    let prior = dir.file("p.json", "[0.5,0.5]");
    let size = ["design", "--size", "9", "--protect", "ldp:1"];
    let both = complaint(&[&size[..], &["--prior", &prior]].concat());
    assert!(both.contains("--size") && both.contains("--prior"), "{both}");
    let belief = complaint(&["design", "--size", "9", "--protect", "lip:1"]);
    assert!(belief.contains("needs a prior") && belief.contains("--any-prior"), "{belief}");
}
