//! JSTL21: what the figures show, asserted on their tables; numbers of the specification where it has
//! them.
use crate::common::{self, assert_verdicts, quick, table};
use undertone_experiments::Table;

fn rows<'a>(table: &'a Table, wanted: &'a [(&'a str, &'a str)]) -> Vec<usize> {
    let fits = |row: &usize| {
        wanted.iter().all(|(column, text)| table.rows[*row][table.column(column).unwrap()] == *text)
    };
    (0..table.rows.len()).filter(fits).collect()
}

fn curve(table: &Table, wanted: &[(&str, &str)], column: &str) -> Vec<f64> {
    rows(table, wanted).into_iter().map(|row| table.number(row, column)).collect()
}

fn close(ours: f64, expected: f64, tolerance: f64) {
    assert!((ours - expected).abs() <= tolerance, "ours {ours}, expected {expected}");
}

#[test]
fn figure_2_bounds_and_exact_values() {
    let outcome = quick("jstl21-fig-2");
    let table = table(&outcome, "leakage");
    for row in 0..table.rows.len() {
        let get = |column| table.number(row, column);
        assert!(get("ldp_exact") <= get("ldp_printed") + 1e-9);
        assert!(get("di_exact") <= get("di_printed") + 1e-9);
        assert!((get("ldp_exact") - get("ldp_vertices")).abs() < 1e-9);
    }
    let row = table.find(&[("prior", "P1"), ("epsilon", "1")]).unwrap();
    close(table.number(row, "di_exact"), 5.322_171_495_25, 1e-9);
    let row = table.find(&[("prior", "P2"), ("epsilon", "2")]).unwrap();
    close(table.number(row, "ldp_printed"), 3.279_264_160_73, 1e-9);
    assert_verdicts(
        &outcome,
        &["reproduced", "reproduced", "reproduced", "reproduced", "false", "reproduced"],
    );
}

#[test]
fn figure_3_is_the_map() {
    let outcome = quick("jstl21-fig-3");
    let table = table(&outcome, "implications");
    let level =
        |from, to| table.number(table.find(&[("from", from), ("to", to)]).unwrap(), "implied");
    close(level("lip", "ldp"), 2.0, 1e-9);
    close(level("lip", "mip"), 0.299_91, 1e-5);
    assert!(table.find(&[("from", "mip"), ("to", "lip"), ("implied", "nothing")]).is_some());
    assert!(outcome.drawings[0].svg.contains("<svg"));
}

#[test]
fn figure_4_orders_the_notions() {
    let outcome = quick("jstl21-fig-4");
    let table = table(&outcome, "leakage");
    for row in 0..table.rows.len() {
        let get = |column| table.number(row, column);
        assert!(get("ldp") + 1e-12 >= get("lip"));
        assert!(get("lip") + 1e-12 >= get("maximal_leakage").max(get("mutual_information")));
    }
    let half = table.find(&[("p1", "0.5"), ("flip", "0.5")]).unwrap();
    assert_eq!(table.number(half, "ldp"), 0.0);
    assert!(table.number(table.find(&[("flip", "0")]).unwrap(), "lip").is_infinite());
}

#[test]
fn figure_5_bounds_lie_above_the_exact_worst_cases() {
    let outcome = quick("jstl21-fig-5");
    let one = table(&outcome, "one_prior");
    for (prior, bound, exact) in [("P1", 6.271, 5.176), ("P2", 7.895, 5.742), ("P3", 7.990, 4.986)]
    {
        let row = one.find(&[("prior", prior), ("epsilon", "2"), ("n", "2")]).unwrap();
        close(one.number(row, "printed"), bound, 5.1e-4);
        close(one.number(row, "exact"), exact, 5.1e-4);
    }
    for table in [&one, &table(&outcome, "prior_sets"), &table(&outcome, "sequences")] {
        for row in 0..table.rows.len() {
            assert!(!(table.number(row, "exact") > table.number(row, "printed") + 1e-9));
        }
    }
    let sequences = table(&outcome, "sequences");
    let ends =
        curve(&sequences, &[("coupling", "independent"), ("epsilon", "2"), ("n", "3")], "exact");
    assert!(ends.len() == 3 && ends.iter().all(|end| (end - 6.0).abs() < 1e-9), "{ends:?}");
    // (11), by hand: Σ min{2 ε, ln((E − 1 + p)/p)} with the joint least probability, at ε = 2.
    let worst = |p: f64| ((2f64.exp() - 1.0 + p) / p).ln().min(4.0);
    let least = [0.25, 0.1, 0.01];
    for (order, ks) in
        [("X1, X2, X3", [0, 1, 2]), ("X2, X3, X1", [1, 2, 0]), ("X3, X2, X1", [2, 1, 0])]
    {
        let wanted = [("order", order), ("coupling", "independent"), ("epsilon", "2")];
        let printed = curve(&sequences, &wanted, "printed");
        for n in 1..=3 {
            let sum: f64 = ks[..n].iter().map(|&k| worst(least[k])).sum();
            let joint: f64 = ks[..n].iter().map(|&k| least[k]).product();
            close(printed[n - 1], (joint + sum.exp() * (1.0 - joint)).ln(), 1e-9);
        }
    }
    let says = "does not increase linearly";
    let claim = outcome.claims.iter().find(|claim| claim.paper_says.contains(says)).unwrap();
    assert_eq!(claim.verdict.slug(), "reproduced");
    assert!(claim.ours.contains("4.25/4.025, 4.102/3.28, 4.009/3.28"), "{}", claim.ours);
}

#[test]
fn figure_6_the_bounds_hold_and_cross() {
    let outcome = quick("jstl21-fig-6");
    let bounds = table(&outcome, "bounds");
    for row in 0..bounds.rows.len() {
        assert!(bounds.number(row, "exact") <= bounds.number(row, "printed_12") + 1e-9);
    }
    let gap =
        |row: usize| bounds.number(row, "eta_plus_epsilon") - bounds.number(row, "two_epsilon");
    assert!((0..bounds.rows.len()).any(|row| gap(row) > 0.0));
    assert!((0..bounds.rows.len()).any(|row| gap(row) < 0.0));
    let gaps = curve(
        &table(&outcome, "discrepancy"),
        &[("epsilon", "1"), ("mechanism", "certified optimum")],
        "mean",
    );
    assert!(gaps.windows(2).all(|pair| pair[1] < pair[0]), "{gaps:?}");
    assert_verdicts(
        &outcome,
        &["reproduced", "reproduced", "false", "reproduced", "reproduced", "false"],
    );
}

#[test]
fn figure_7_errors_fall_and_the_golden_lambda_is_used() {
    let outcome = quick("jstl21-fig-7");
    let table = table(&outcome, "sampling");
    let row = table.find(&[("panel", "a"), ("epsilon", "1")]).unwrap();
    close(table.number(row, "lambda_printed"), 0.027_182_818_284_6, 1e-12);
    close(table.number(row, "delta_conditional"), 0.027, 5e-4);
    let law = [("panel", "b"), ("law", "Unif(0, 1)")];
    let errors = curve(&table, &law, "error_printed");
    assert!(errors.windows(2).all(|pair| pair[1] <= pair[0]));
    close(errors[0], 1.0 / 3.0, 1e-12);
    assert_verdicts(&outcome, &["reproduced"; 4]);
}

#[test]
fn figure_8_the_noise_under_lip_and_under_ldp() {
    let outcome = quick("jstl21-fig-8");
    let table = table(&outcome, "delta");
    let row = table.find(&[("epsilon", "2")]).unwrap();
    close(table.number(row, "x10"), 0.044_692_229_015, 1e-9);
    close(table.number(row, "ldp_analytic"), 0.331_897_998_777, 1e-9);
    for row in 0..table.rows.len() {
        let get = |column| table.number(row, column);
        assert!(get("certified_range") <= get("ldp_analytic"));
        assert!(get("x0") <= get("x10") && get("x10") <= get("x20"));
    }
    let (yes, no) = ("reproduced", "false");
    // x = 0, 5 and 10, and every x of the range at once.
    assert_verdicts(&outcome, &[yes, yes, yes, no, no, yes, no, yes]);
    for (column, below) in [("x0", 10), ("x5", 10)] {
        let own = table.numbers(column).into_iter().zip(table.numbers("ldp_analytic_2eps"));
        assert_eq!(own.filter(|(lip, ldp)| lip < ldp).count(), below, "{column}");
    }
}

#[test]
fn figure_9_the_table_of_true_deltas() {
    let outcome = quick("jstl21-fig-9");
    let table = table(&outcome, "truth");
    let expected = [
        (0.1411, 11.54, 35.28, 35.10, 383.0),
        (0.0531, 8.53, 20.66, 20.07, 157.0),
        (0.0195, 7.12, 15.41, 14.78, 97.0),
        (0.0115, 6.26, 12.64, 12.00, 70.0),
        (0.2736, 11.54, 50.19, 50.95, 436.0),
        (0.1553, 8.53, 28.43, 28.53, 173.0),
        (0.0847, 7.12, 20.73, 20.74, 105.0),
        (0.0303, 6.26, 16.72, 16.69, 75.0),
    ];
    for (row, (delta, middle, end, constant, power)) in expected.into_iter().enumerate() {
        close(table.number(row, "true_delta"), delta, 5.1e-5);
        close(table.number(row, "sigma_0"), middle, 5.1e-3);
        close(table.number(row, "sigma_end"), end, 5.1e-3);
        close(table.number(row, "certified_sigma"), constant, 0.03);
        close(table.number(row, "power_printed"), power, 0.51);
        assert!(table.number(row, "policy_delta") <= 1e-4);
    }
}

#[test]
fn figure_10_the_scales_of_laplace_noise() {
    let outcome = quick("jstl21-fig-10");
    let table = table(&outcome, "error");
    let row = table.find(&[("epsilon", "1")]).unwrap();
    close(table.number(row, "alpha_star"), 1.727_845_828_49, 1e-8);
    close(table.number(row, "calibrated"), 1.4652, 5.1e-5);
    close(table.number(row, "exact"), 1.5123, 5.1e-5);
    close(table.number(row, "printed"), 1.6616, 5.1e-5);
    for row in 0..table.rows.len() {
        let get = |column| table.number(row, column);
        assert!(get("optimum") <= get("calibrated"));
        assert!(get("table_lip") <= get("epsilon") && get("optimum_lip") <= get("epsilon"));
    }
}

#[test]
fn figure_11_students() {
    let Some(outcome) = common::quick_with_data("jstl21-fig-11") else { return };
    let splits = table(&outcome, "splits");
    let table = table(&outcome, "error");
    assert_eq!((table.rows.len(), splits.rows.len()), (16, 3 * 16));
    // The figure shows means over the splits.
    let own = [("cardinality", "5"), ("epsilon", "2")];
    let mean = curve(&splits, &own, "lip_local").iter().sum::<f64>() / 3.0;
    close(curve(&table, &own, "lip_local")[0], mean, 1e-12);
    assert!(outcome.claims[0].ours.contains("with LDP at 2ε among them"));
    for row in 0..table.rows.len() {
        let get = |column| table.number(row, column);
        assert!(get("ldp_twice") < get("ldp"));
        assert!(get("lip_local") <= get("ldp"), "row {row}");
        // What is promised about a student is 2 ε of LDP at most.
        assert!(get("lip_local_ldp") <= 2.0 * get("epsilon") + 1e-6);
        assert!(get("bp_lip_ldp") <= 2.0 * get("epsilon") + 1e-6);
    }
    // More is released with more ε.
    for k in ["2", "5", "10", "21"] {
        let errors = curve(&table, &[("cardinality", k)], "lip_local");
        assert!(errors.last() < errors.first(), "{k}: {errors:?}");
    }
    assert!(curve(&table, &[], "printed_misses").iter().any(|missed| *missed > 0.0));
}

#[test]
fn figure_12_salaries() {
    let Some(outcome) = common::quick_with_data("jstl21-fig-12") else { return };
    let table = table(&outcome, "error");
    for row in 0..table.rows.len() {
        let get = |column| table.number(row, column);
        let delta = get("delta");
        assert!(get("gauss_constant_delta") <= delta && get("gauss_floor_delta") <= delta);
        assert!(get("gauss_printed_delta") > delta);
        // λ is chosen by Definition 5 for laws without atoms: with atoms its δ is at most that.
        assert!(get("sampling_printed_delta_5") <= delta * (1.0 + 1e-9));
        assert!(get("sampling_worse_fit_delta") >= get("sampling_printed_delta"));
        // Corollary 9's δ is between Definition 5's and e^ε times it; the kernel rounds up.
        for law in ["sampling_printed_delta", "sampling_worse_fit_delta"] {
            let (nine, five) = (get(law), table.number(row, &format!("{law}_5")));
            assert!(five <= nine + 1e-6 && nine <= get("epsilon").exp() * five + 1e-6, "{law}");
        }
        // LDP noise keeps the LIP promise, so the least LIP noise is not wider.
        assert!(get("gauss_constant_sigma") <= get("ldp_sigma") * (1.0 + 1e-6));
        assert!(get("ldp_twice") < get("ldp"));
    }
    let says = "an inaccurate density";
    let claim = outcome.claims.iter().find(|claim| claim.paper_says.contains(says)).unwrap();
    assert_eq!(claim.verdict.slug(), "reproduced");
}
