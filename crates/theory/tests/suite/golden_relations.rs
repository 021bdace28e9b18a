//! Relations against the golden values and worked examples of the specification.

use undertone_design::measure::delta::Convention;
use undertone_design::{Channel, Distribution};
use undertone_testkit::golden::assert_golden;
use undertone_testkit::law::distribution;
use undertone_theory::relation::{
    Guarantee, Holds, Missing, Notion, RelationOutcome, Setting, Verdict, degrade, forms, relate,
};

fn law(p: &[f64]) -> Distribution {
    Distribution::new("p", p.to_vec()).unwrap()
}

fn p_min(p: f64) -> Setting {
    Setting { p_min: Some(p), ..Setting::new() }
}

#[track_caller]
fn holds(from: &str, to: Notion, setting: &Setting) -> Holds {
    let answer = relate(&from.parse().unwrap(), to, setting).unwrap();
    answer.holds().unwrap_or_else(|| panic!("{from} to {to}: {:?}", answer.outcome)).clone()
}

#[track_caller]
fn level(from: &str, to: Notion, setting: &Setting) -> f64 {
    holds(from, to, setting).guarantee.epsilon()
}

#[track_caller]
fn close(ours: f64, theirs: f64, within: f64) {
    assert!((ours - theirs).abs() <= within, "ours {ours}, theirs {theirs}");
}

#[test]
fn ldp_to_lip_with_the_smallest_probability() {
    assert_golden("G12", level("ldp:1.5", Notion::Lip, &p_min(0.2)));
    assert_eq!(level("ldp:1.5", Notion::Lip, &Setting::new()), 1.5);
}

#[test]
fn lip_to_ldp_with_the_smallest_probability() {
    assert_golden("G13", level("lip:2", Notion::Ldp, &p_min(0.25)));
    assert_eq!(level("lip:2", Notion::Ldp, &Setting::new()), 4.0);
}

#[test]
fn lip_to_ldp_exactly() {
    let found = holds("lip:1", Notion::Ldp, &Setting::of(law(&[0.9, 0.1])));
    assert_golden("G14", found.guarantee.epsilon());
    assert!(found.exact && found.witness.is_some());
    close(found.guarantee.epsilon(), 1.2119, 1e-4);
    close(found.printed.unwrap().guarantee.epsilon(), 2.0, 1e-12);
}

#[test]
fn lip_to_di_and_back_exactly() {
    let found = holds("lip:1", Notion::Di, &Setting::of(law(&[0.01, 0.33, 0.33, 0.33])));
    assert_golden("G15", found.guarantee.epsilon());
    close(found.printed.as_ref().unwrap().guarantee.epsilon(), 5.497, 1e-3);
    assert_eq!(found.printed.unwrap().verdict, Verdict::Loose);
    let found = holds("di:3", Notion::Lip, &Setting::of(law(&[0.7, 0.2, 0.1])));
    assert_golden("G16", found.guarantee.epsilon());
    close(found.printed.unwrap().guarantee.epsilon(), 4.841, 1e-3);
}

#[test]
fn lip_to_mutual_information() {
    assert_golden("G17", level("lip:1.2", Notion::Mip, &Setting::new()));
    let uniform = Setting::of(Distribution::uniform(4));
    let epsilon = 3f64.ln();
    let found = holds(&format!("lip:{epsilon}"), Notion::Mip, &uniform);
    assert!(found.exact);
    close(found.guarantee.epsilon(), epsilon * (epsilon / 2.0).tanh(), 1e-12);
    // JSTL21 Theorem 3 and JLT18 Proposition 1 print ε.
    close(found.printed.unwrap().guarantee.epsilon(), epsilon, 1e-12);
}

#[test]
fn corollary_3_needs_a_larger_delta_under_its_own_definition() {
    let premise = Guarantee::new(Notion::Lip, 1.0).unwrap();
    let premise = premise.with_delta(0.01, Convention::Posterior).unwrap();
    let e = 1f64.exp();
    for setting in [Setting::new(), Setting::of(law(&[0.5 / e, 1.0 - 0.5 / e]))] {
        let answer = relate(&premise, Notion::Ldp, &setting).unwrap();
        let found = answer.holds().unwrap();
        assert_golden("G19", found.guarantee.delta());
        close(found.guarantee.epsilon(), 2.0, 1e-15);
        let printed = found.printed.as_ref().unwrap();
        close(printed.guarantee.delta(), 0.03718, 1e-5);
        assert_eq!(printed.verdict, Verdict::False);
    }
    // The mechanism that needs it: q(S|x) = 2Eδ, q(S|x') = 0.
    let delta = 2.0 * e * 0.01;
    let (prior, rows) = ([0.5 / e, 1.0 - 0.5 / e], [[delta, 1.0 - delta], [0.0, 1.0]]);
    let law: Vec<f64> = (0..2).map(|y| prior[0] * rows[0][y] + prior[1] * rows[1][y]).collect();
    for row in rows {
        let a: f64 = (0..2).map(|y| (row[y] - e * law[y]).max(0.0)).sum();
        let b: f64 = (0..2).map(|y| (law[y] - e * row[y]).max(0.0)).sum();
        assert!((a / e).max(b) <= 0.01 + 1e-15, "meets (1, .01)-LIP");
    }
    let needed: f64 = (0..2).map(|y| (rows[0][y] - e * e * rows[1][y]).max(0.0)).sum();
    assert_golden("G19", needed);
}

#[test]
fn each_delta_convention_has_its_own_constant() {
    let e = 0.5f64.exp();
    let prior = Setting::of(law(&[0.5, 0.3, 0.2]));
    let lip = Guarantee::new(Notion::Lip, 0.5).unwrap();
    for (convention, factor) in [
        (Convention::Conditional, e + 1.0),
        (Convention::Posterior, 2.0 * e),
        (Convention::Joint, e / 0.2 + 1.0 / 0.3),
        (Convention::JointSets, e / 0.2 + 1.0 / 0.3),
    ] {
        let premise = lip.with_delta(0.001, convention).unwrap();
        let answer = relate(&premise, Notion::Ldp, &prior).unwrap();
        let found = answer.holds().unwrap();
        close(found.guarantee.delta(), 0.001 * factor, 1e-15);
        close(found.guarantee.epsilon(), 1.0, 1e-15);
    }
    // STL19 Proposition 1 prints (E+1)δ/Pmin.
    let joint = lip.with_delta(0.001, Convention::Joint).unwrap();
    let answer = relate(&joint, Notion::Ldp, &prior).unwrap();
    close(
        answer.holds().unwrap().printed.as_ref().unwrap().guarantee.delta(),
        0.001 * (e + 1.0) / 0.2,
        1e-15,
    );
    let answer = relate(&joint, Notion::Ldp, &Setting::new()).unwrap();
    assert_eq!(answer.outcome, RelationOutcome::Needs { missing: vec![Missing::PriorOrMin] });
}

#[test]
fn maximal_leakage_under_lip() {
    // Exact whenever p >= 1/(1+E).
    let uniform = Setting::of(Distribution::uniform(3));
    let epsilon = 1.0f64;
    let sharp = (3.0 - 2.0 / epsilon.exp()).ln();
    let found = holds("lip:1", Notion::Mil, &uniform);
    assert!(found.exact);
    close(found.guarantee.epsilon(), sharp, 1e-12);
    assert_eq!(level("lip:1", Notion::Mil, &Setting::new()), 1.0);
    close(level("lip:1", Notion::Mil, &p_min(1.0 / 3.0)), sharp, 1e-12);
}

#[test]
fn sensor_network_constants() {
    let network = |s, q| Setting { sensors: Some(s), secrets: Some(q), ..Setting::new() };
    assert_golden("I18", level("ldp:1", Notion::Mipx, &network(1, 1)));
    assert_golden("I18", forms::capacity(1.0));
    close(level("ldp:1", Notion::Mipx, &network(3, 1)), 3.0 * forms::capacity(1.0), 1e-14);
    assert_golden("I20", level("infp:.18", Notion::Avgleak, &Setting::new()));
    // Theorem 1 (vi): printed 2·6·.07 = .84, sharp .2319 for a fair coin.
    let found = {
        let setting = network(6, 1).with_context(Notion::Ldp, Notion::Infp, None, Some(0.5));
        holds("ldp:0.07", Notion::Infp, &setting)
    };
    close(found.guarantee.epsilon(), 0.2319, 5e-5);
    close(found.printed.unwrap().guarantee.epsilon(), 0.84, 1e-12);
    close(level("ldp:0.07", Notion::Infp, &network(6, 1)), 0.42, 1e-12);
    // (i): a uniform binary hypothesis gives ln(2E - 1).
    let fair = Setting { hypothesis: Some(Distribution::uniform(2)), ..network(1, 1) };
    close(level("infp:0.3", Notion::Infdp, &fair), (2.0 * 0.3f64.exp() - 1.0).ln(), 1e-12);
    assert_eq!(level("infp:0.3", Notion::Infdp, &network(1, 1)), 0.6);
    // (iii), (iv)
    close(level("infdp:0.3", Notion::Infp, &network(1, 4)), 1.2, 1e-12);
    close(level("infdp:0.3", Notion::Avgleak, &network(1, 4)), forms::capacity(1.2), 1e-12);
    // (x), (xiii), (xiv): identifiability gives 2ε-LDP whatever the prior.
    assert_eq!(level("mipx:0.3", Notion::Avgleak, &Setting::new()), 0.3);
    let spread = Setting { spread: Some(0.2), ..network(2, 1) };
    close(level("ldp:1", Notion::Ident, &spread), 1.2, 1e-12);
    close(level("ident:1", Notion::Ldp, &spread), 1.2, 1e-12);
    close(level("ident:1", Notion::Ldp, &Setting::new()), 2.0, 1e-12);
    let needs = relate(&"ldp:1".parse().unwrap(), Notion::Ident, &Setting::new()).unwrap();
    assert_eq!(needs.outcome, RelationOutcome::Needs { missing: vec![Missing::Spread] });
}

#[test]
fn the_circulant_lift_attains_the_average_leakage() {
    let network = Setting { hypothesis: Some(Distribution::uniform(3)), ..Setting::new() };
    let found = holds(&format!("infp:{}", 2f64.ln()), Notion::Avgleak, &network);
    assert!(found.exact);
    close(found.guarantee.epsilon(), 0.231_049_060_2, 1e-10);
    close(found.printed.unwrap().guarantee.epsilon(), 1.0, 1e-12);
}

#[test]
fn cascades() {
    let rows = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.5, 0.25, 0.25]];
    let first = Channel::new(rows.iter().map(|row| row.to_vec()).collect()).unwrap();
    let sharp = degrade::ldp_after(&first, 1.2).unwrap();
    assert_golden("I21", sharp);
    close(degrade::printed_ldp_after(1.2).unwrap(), 2.4, 1e-15);
    close(degrade::second_budget(&first, sharp).unwrap(), 1.2, 1e-12);
    assert_eq!(degrade::cascade(&first, 0.1, 1.2).unwrap(), 0.1);
    assert!(degrade::ldp_after(&first, f64::NAN).is_err());
    assert!(degrade::ldp_after(&first, -1.0).is_err());
}

#[test]
fn asymmetric_lip() {
    let alpha = Setting { alpha: Some(2.0), ..Setting::new() };
    assert_golden("W30", level("alip:1.3,0.7", Notion::Mip, &alpha));
    assert_golden("W31", forms::alpha_lift(1.3, 0.7, 2.0));
    assert_golden("W31", level("alip:1.3,0.7", Notion::Alphalift, &alpha).exp());
    assert_eq!(level("alip:1.3,0.7", Notion::Ldp, &alpha), 2.0);
    assert_eq!(level("alip:1.3,0.7", Notion::Arimoto, &alpha), 0.7);
    assert_eq!(level("alip:1.3,0.7", Notion::Pml, &alpha), 0.7);
    // Sibson, α = 2, both budgets ln 2: .4054651081, printed 1.386.
    let ln2 = 2f64.ln();
    let found = holds(&format!("alip:{ln2},{ln2}"), Notion::Sibson, &alpha);
    close(found.guarantee.epsilon(), 0.405_465_108_1, 1e-10);
    close(found.printed.unwrap().guarantee.epsilon(), 1.386, 1e-3);
    let uniform = Setting { prior: Some(Distribution::uniform(3)), ..alpha.clone() };
    let exact = holds(&format!("alip:{ln2},{ln2}"), Notion::Sibson, &uniform);
    close(exact.guarantee.epsilon(), 0.405_465_108_1, 1e-10);
    // The printed α-lift bound, ℓ_α <= ε_u, is impossible: ℓ_α >= 1 > .7.
    let printed = holds("alip:1.3,0.7", Notion::Alphalift, &alpha).printed.unwrap();
    assert_eq!(printed.verdict, Verdict::False);
    assert!(printed.guarantee.epsilon() < 0.0);
    let needs = relate(&"alip:1.3,0.7".parse().unwrap(), Notion::Sibson, &Setting::new()).unwrap();
    assert_eq!(needs.outcome, RelationOutcome::Needs { missing: vec![Missing::Alpha] });
}

#[test]
fn sets_of_priors() {
    let set = vec![law(&[0.2, 0.8]), law(&[0.4, 0.6])];
    let setting = Setting { priors: set.clone(), ..Setting::new() };
    // Theorem 2, both ways.
    close(level("ldp:1", Notion::Bplip, &setting), (0.2 + 0.8 * 1f64.exp()).ln(), 1e-12);
    let back = holds("bplip:1", Notion::Ldp, &setting);
    let printed = 2f64.min(((1f64.exp() - 1.0 + 0.4) / 0.4).ln());
    close(back.printed.unwrap().guarantee.epsilon(), printed, 1e-12);
    assert!(back.guarantee.epsilon() <= printed + 1e-12);
    // Corollary 2.
    assert_eq!(level("wclip:1.5", Notion::Ldp, &Setting::new()), 1.5);
    assert_eq!(level("ldp:1.5", Notion::Wclip, &Setting::new()), 1.5);
    assert_eq!(holds("ldp:1.5,0.1", Notion::Wclip, &Setting::new()).guarantee.delta(), 0.1);
    // A mixture of the set's priors inherits the guarantee, another prior goes through LDP.
    let inside = Setting { prior: Some(law(&[0.3, 0.7])), ..setting.clone() };
    assert_eq!(level("bplip:1", Notion::Lip, &inside), 1.0);
    let outside = Setting { prior: Some(law(&[0.5, 0.5])), ..setting };
    assert!(level("bplip:1", Notion::Lip, &outside) > 1.0);
    let needs = relate(&"ldp:1".parse().unwrap(), Notion::Bplip, &Setting::new()).unwrap();
    assert_eq!(needs.outcome, RelationOutcome::Needs { missing: vec![Missing::Priors] });
}

#[test]
fn bad_settings_are_refused_by_name() {
    let from: Guarantee = "lip:1".parse().unwrap();
    let refused = |setting: Setting, word: &str| {
        let message = relate(&from, Notion::Ldp, &setting).unwrap_err().to_string();
        assert!(message.contains(word), "{message}");
    };
    refused(p_min(0.6), "p_min");
    refused(p_min(f64::NAN), "p_min");
    refused(p_min(-0.1), "p_min");
    refused(Setting { p_min: Some(0.3), ..Setting::of(law(&[0.9, 0.1])) }, "p_min");
    refused(Setting { alpha: Some(1.0), ..Setting::new() }, "alpha");
    refused(Setting { alpha: Some(f64::NAN), ..Setting::new() }, "alpha");
    refused(Setting { sensors: Some(0), ..Setting::new() }, "sensors");
    refused(Setting { secrets: Some(0), ..Setting::new() }, "secrets");
    refused(Setting { spread: Some(-1.0), ..Setting::new() }, "spread");
    refused(Setting { symbols: Some(3), ..p_min(0.4) }, "p_min");
    refused(Setting { symbols: Some(3), ..Setting::of(law(&[0.9, 0.1])) }, "symbols");
    refused(
        Setting { priors: vec![law(&[0.9, 0.1]), Distribution::uniform(3)], ..Setting::new() },
        "prior 1",
    );
    let fair = Some(Distribution::uniform(2));
    refused(Setting { hypothesis: fair, secrets: Some(2), ..Setting::new() }, "law of G");
    // No mechanism has posterior odds below the prior's own.
    let skewed = Setting::of(law(&[0.9, 0.1]));
    let message = relate(&"di:1".parse().unwrap(), Notion::Lip, &skewed).unwrap_err().to_string();
    assert!(message.contains("no mechanism"), "{message}");
}

/// With two symbols a more skewed prior means less LDP leakage at the same LIP, not more (JSTL21
/// Section II-C).
#[test]
fn jstl21_skew_lowers_the_ldp_of_two_symbols() {
    let exact = |p: f64| forms::exact_ldp(&distribution(&[1.0 - p, p]), 1.0, 1.0);
    let (even, skewed) = (exact(0.5), exact(0.1));
    assert!((even - 1.490).abs() < 5e-4 && (skewed - 1.212).abs() < 5e-4, "{even} {skewed}");
}
