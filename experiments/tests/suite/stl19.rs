//! STL19: what its figure shows, asserted on the table.
use crate::common::{assert_verdicts, quick, table};

#[test]
fn figure_3_three_priors() {
    let outcome = quick("stl19-fig-3");
    let table = table(&outcome, "error");
    let row = table.find(&[("prior", "P3"), ("epsilon", "1")]).unwrap();
    for (column, expected) in [
        ("ldp", 1.744),
        ("printed", 1.700),
        ("exact", 1.576),
        ("printed_scale", 2.745),
        ("exact_scale", 2.198),
    ] {
        let found = table.number(row, column);
        assert!((found - expected).abs() < 5.1e-4, "{column}: {found}");
    }
    for row in 0..table.rows.len() {
        let get = |column| table.number(row, column);
        assert!(get("exact") <= get("closed") + 1e-9 && get("closed") <= get("printed") + 1e-9);
        assert!(get("printed") <= get("ldp") + 1e-9);
        assert!(get("table_lip") <= get("epsilon") && get("optimum_lip") <= get("epsilon"));
        assert!(get("optimum") < get("exact"));
    }
    assert_verdicts(&outcome, &["reproduced", "reproduced", "false", "reproduced"]);
}
