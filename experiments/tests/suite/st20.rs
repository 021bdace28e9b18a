//! Shape claims of ST20's figures and tables, by assertions on the CSV.
use crate::common::{assert_verdicts, quick, quick_with_data, table};
use undertone_experiments::{Outcome, Table};

/// A column of the rows whose cells read as given.
fn curve(table: &Table, wanted: &[(&str, &str)], column: &str) -> Vec<f64> {
    let fits = |row: &usize| {
        wanted.iter().all(|(name, text)| table.rows[*row][table.column(name).unwrap()] == *text)
    };
    (0..table.rows.len()).filter(fits).map(|row| table.number(row, column)).collect()
}

fn verdict<'a>(outcome: &'a Outcome, says: &str) -> &'a str {
    let found = outcome.claims.iter().find(|claim| claim.paper_says.contains(says));
    found.unwrap_or_else(|| panic!("no claim {says:?}")).verdict.slug()
}

#[test]
fn figure_2_no_implication_is_violated_and_one_denial_is_false() {
    let outcome = quick("st20-fig-2");
    let table = table(&outcome, "implications");
    let shares = table.numbers("most_of_printed");
    let sharp = table.numbers("most_of_sharp");
    let implied = shares.iter().zip(&sharp).filter(|(a, _)| a.is_finite());
    assert_eq!(implied.clone().count(), 9, "(i)-(iv), (vi), (x), (xi), (xiii), (xiv)");
    for (printed, sharp) in implied {
        assert!(*printed <= 1.0 + 1e-9 && *sharp <= 1.0 + 1e-9 && printed <= &(sharp + 1e-9));
    }
    // Information in bits against nats: the printed bound is never approached.
    let row = table.find(&[("item", "(ii)")]).unwrap();
    assert!(table.number(row, "most_of_printed") < 0.5);
    assert_eq!(verdict(&outcome, "(xiv), last sentence"), "false");
    assert_eq!(verdict(&outcome, "(ix), proof"), "false");
    let refuted = outcome.claims.iter().filter(|c| c.paper_says.contains("does not guarantee"));
    assert!(refuted.count() >= 8);
    assert!(outcome.drawings[0].svg.contains("<svg"));
}

/// Budgets hold on the integers, and the orderings of methods.
fn check_sweep(table: &Table) {
    for row in 0..table.rows.len() {
        let get = |column| table.number(row, column);
        let method = table.rows[row][table.column("method").unwrap()].as_str();
        if method != "ldp" {
            assert!(get("attained_i") <= get("epsilon_i"), "row {row}");
        }
        if method != "inp" {
            assert!(get("attained_ld") <= get("epsilon_ld"), "row {row}");
        }
        assert!(get("error_h") <= 0.5 + 1e-9 && get("error_g") <= 0.5 + 1e-9);
    }
    let of = |method: &str, column: &str| curve(table, &[("method", method)], column);
    for other in ["ill", "ill_printed", "lip"] {
        for (joint, other) in of("joint", "error_h").iter().zip(of(other, "error_h")) {
            assert!(*joint <= other + 1e-5, "{joint} {other}");
        }
    }
    for (alone, joint) in of("ldp", "error_h").iter().zip(of("joint", "error_h")) {
        assert!(*alone <= joint + 1e-5, "LDP alone relaxes JOINT");
    }
}

#[test]
fn figure_5_orders_the_methods() {
    let outcome = quick("st20-fig-5");
    let errors = table(&outcome, "errors");
    check_sweep(&errors);
    let at = |information: &str, ldp: &str, method: &str| {
        let wanted = [("epsilon_i", information), ("epsilon_ld", ldp), ("method", method)];
        errors.number(errors.find(&wanted).unwrap(), "error_h")
    };
    // Removing the needless half of Proposition 1(b) is worth a good deal in the middle.
    assert!(at("0.18", "2", "ill") < at("0.18", "2", "ill_printed") - 0.03);
    // The specification's table, reached or beaten by .003 at most.
    for (information, ldp, best) in
        [("0.01", "0.5", 0.4556), ("0.18", "0.5", 0.4034), ("0.18", "8", 0.2575)]
    {
        assert!(at(information, ldp, "joint") <= best + 0.02, "{information} {ldp}");
    }
    assert!((at("0.01", "0.5", "ldp") - 0.3485).abs() < 1e-3);
    assert_eq!(verdict(&outcome, "small, ILL infers H better"), "reproduced");
    assert_eq!(verdict(&outcome, "large, LIP infers H better"), "not-reproducible");
    assert_eq!(verdict(&outcome, "product over sensors"), "false");
}

#[test]
fn figure_6_the_error_of_h_stays_near_a_coin() {
    let outcome = quick("st20-fig-6");
    let errors = table(&outcome, "errors");
    check_sweep(&errors);
    for method in ["ill_printed", "ill", "lip", "joint", "ldp"] {
        let found = curve(&errors, &[("method", method)], "error_h");
        assert!(found.len() == 3 && found.iter().all(|error| *error > 0.45), "{method}");
    }
    let alone = curve(&errors, &[("method", "ldp")], "attained_i");
    assert!(alone.iter().all(|nats| (nats - 0.0799).abs() < 5e-4), "{alone:?}");
    assert_verdicts(&outcome, &["reproduced"; 4]);
}

#[test]
fn figure_7_what_each_promise_leaves_open() {
    let outcome = quick("st20-fig-7");
    let table = table(&outcome, "informations");
    check_sweep(&table);
    let of = |method: &str, column: &str| curve(&table, &[("method", method)], column);
    let bound = 0.15 * 0.075f64.tanh();
    for method in ["ill", "ill_printed", "lip", "joint", "inp"] {
        assert!(of(method, "i_g_z").iter().all(|nats| *nats <= bound + 1e-9), "{method}");
    }
    assert!(of("ldp", "i_g_z").iter().all(|nats| *nats > bound));
    assert!(of("inp", "i_x1_z1").iter().zip(of("ill_printed", "i_x1_z1")).all(|(a, b)| *a > b));
}

#[test]
fn figure_8_keeps_its_shape_and_training_is_no_proof() {
    let outcome = quick("st20-fig-8");
    let table = table(&outcome, "learned");
    for row in 0..table.rows.len() {
        assert!(table.number(row, "attained_ld") <= table.number(row, "epsilon_ld"));
    }
    for samples in ["40", "400"] {
        let of = |method: &str, column: &str| {
            curve(&table, &[("samples", samples), ("method", method)], column)
        };
        for column in ["error_h", "error_g"] {
            for (hidden, open) in of("epic", column).iter().zip(of("e-ldp", column)) {
                assert!(*hidden > open - 0.01, "{samples} {column}: {hidden} {open}");
            }
        }
        assert!(of("e-ldp", "error_g").windows(2).all(|pair| pair[1] < pair[0]));
    }
    let npo = table.find(&[("samples", "40"), ("method", "npo")]).unwrap();
    assert!(table.number(npo, "training_risk_of_g") > 0.99 * 2f64.ln());
    assert!(table.number(npo, "attained_i") > 0.1);
    assert_eq!(verdict(&outcome, "(18b)"), "false");
}

#[test]
fn figure_9_the_blunt_tool_costs_more() {
    let outcome = quick("st20-fig-9");
    let table = table(&outcome, "correlation");
    for row in 0..table.rows.len() {
        let get = |column| table.number(row, column);
        assert!(get("e_ldp_h") > get("epic_h"));
        assert!((get("e_ldp_g") - get("epic_g")).abs() < 0.01);
        assert!(get("epic_ld") <= 5.0);
    }
    assert_verdicts(&outcome, &["reproduced"; 2]);
}

/// What holds in both tables.
fn check_comparison(table: &Table) {
    let at = |method: &str, column: &str| {
        table.number(table.find(&[("method", method)]).unwrap(), column)
    };
    assert!(at("epic", "attained_ld") <= 1.0 && at("e-ldp", "attained_ld") <= 1.0);
    assert!(at("npo", "attained_ld") > 1.0);
    assert!(at("raw", "attained_ld").is_infinite() && at("dca", "attained_ld").is_infinite());
    assert!(at("epic", "averaged_i") < at("e-ldp", "averaged_i"));
    assert!(at("raw", "trees_g") < at("epic", "trees_g"));
    assert!(at("epic", "averaged_i") <= at("epic", "bound_i"));
}

/// What holds of means over draws.
fn check_draws(table: &Table) {
    for row in 0..table.rows.len() {
        let get = |column| table.number(row, column);
        assert!(get("draws") >= 3.0 && get("error_h_half") > 0.0 && get("error_h") < 0.7);
        // Counting finds nothing finite where a cell is empty, so its mean is infinite.
        assert_eq!(get("counted_i_infinite") > 0.0, get("counted_i").is_infinite(), "row {row}");
    }
    let at = |method: &str, column: &str| {
        table.number(table.find(&[("method", method)]).unwrap(), column)
    };
    assert!(at("epic", "attained_ld") <= 1.0 && at("e-ldp", "attained_ld") <= 1.0);
    assert!(at("npo", "attained_ld") > 1.0 && at("dca", "attained_ld").is_infinite());
}

#[test]
fn table_1_on_the_stand_in() {
    let Some(outcome) = quick_with_data("st20-table-1") else { return };
    check_comparison(&table(&outcome, "arem"));
    assert_eq!(table(&outcome, "arem_80").rows.len(), 9);
    check_draws(&table(&outcome, "arem_draws"));
    // 15 sensors of two outputs: (12) finds an empty cell in every draw.
    assert_eq!(verdict(&outcome, "(12) as printed"), "ill-defined");
    assert!(outcome.notes[0].starts_with("A stand-in"), "{}", outcome.notes[0]);
    assert!(outcome.drawings[0].svg.contains("stand-in"));
    assert_eq!(verdict(&outcome, "3427 test rows"), "false");
    assert_eq!(verdict(&outcome, "errs at most .01 more"), "reproduced");
    assert_eq!(verdict(&outcome, "highest error of H"), "false");
    assert_eq!(verdict(&outcome, "raw readings tell G"), "reproduced");
}

#[test]
fn table_2_and_what_bits_cost() {
    let Some(outcome) = quick_with_data("st20-table-2") else { return };
    check_comparison(&table(&outcome, "adult"));
    check_draws(&table(&outcome, "adult_draws"));
    assert!(outcome.notes.iter().any(|note| note.contains("of the 48842 people")));
    let bits = table(&outcome, "one_hot_features");
    for row in 0..bits.rows.len() {
        let (bit, whole) = (bits.number(row, "bit_ld"), bits.number(row, "feature_ld"));
        assert!(bit <= 1.0 && whole <= 2.0 * bit + 1e-9);
    }
    assert!(bits.numbers("feature_ld").iter().any(|whole| *whole > 1.0));
    assert_eq!(verdict(&outcome, "15050 test rows"), "false");
    assert_eq!(verdict(&outcome, "errs at most .01 more"), "false");
    assert_eq!(verdict(&outcome, "highest error of H"), "false");
    assert_eq!(verdict(&outcome, "one-hot bits as sensors"), "false");
}
