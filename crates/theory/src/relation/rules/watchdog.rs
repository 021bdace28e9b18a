//! Asymmetric LIP: ZDS22 Proposition 1, every part.

use super::super::rule::{Printed, Rule, Verdict, bound, pure};
use super::super::setting::Missing;
use super::super::{Guarantee, Notion, Setting, forms};
use undertone_design::measure::delta::Convention;

/// The two budgets of a pure premise.
pub(super) fn sides(premise: &Guarantee) -> Result<(f64, f64), Missing> {
    pure(premise).map(|_| (premise.lower(), premise.upper()))
}

/// α/(α-1)·ε_u, as printed for Sibson and Arimoto.
fn printed_order(to: Notion, g: &Guarantee, s: &Setting) -> Result<Guarantee, Missing> {
    let (_, upper) = sides(g)?;
    let alpha = s.alpha()?;
    bound(to, alpha / (alpha - 1.0) * upper)
}

fn mil(g: &Guarantee, s: &Setting) -> Result<f64, Missing> {
    let (lower, upper) = sides(g)?;
    Ok(match s.symbols() {
        Ok(symbols) => forms::maximal_leakage(lower, upper, symbols),
        Err(_) => upper,
    })
}

pub(super) const RULES: &[Rule] = &[
    Rule {
        from: Notion::Lip,
        to: Notion::Alip,
        convention: None,
        name: "LIP is asymmetric LIP with equal budgets",
        paper: "ZDS22 Def 1",
        formula: "(ε,ε)",
        label: "(ε,ε)",
        printed: Some(Printed {
            formula: "(ε,ε)",
            form: |g, _| {
                let epsilon = pure(g)?;
                Ok(Guarantee::sides(epsilon, epsilon))
            },
            verdict: Verdict::True,
        }),
        corrected: |g, _| {
            let both = Guarantee::sides(g.epsilon(), g.epsilon());
            Ok(both.and_delta(g.delta(), Convention::Conditional))
        },
    },
    Rule {
        from: Notion::Alip,
        to: Notion::Lip,
        convention: None,
        name: "asymmetric LIP is LIP at its larger budget",
        paper: "ZDS22 Def 1",
        formula: "max{ε_l, ε_u}",
        label: "max{ε_l,ε_u}",
        printed: Some(Printed {
            formula: "max{ε_l, ε_u}",
            form: |g, _| bound(Notion::Lip, pure(g)?),
            verdict: Verdict::True,
        }),
        corrected: |g, _| {
            let larger = Guarantee::raw(Notion::Lip, g.epsilon());
            Ok(larger.and_delta(g.delta(), Convention::Conditional))
        },
    },
    Rule {
        from: Notion::Alip,
        to: Notion::Ldp,
        convention: None,
        name: "both sides of the lift bound the likelihood ratio",
        paper: "ZDS22 Prop 1-1",
        formula: "ε_l+ε_u, and (e^ε_u+1)δ",
        label: "ε_l+ε_u",
        printed: Some(Printed {
            formula: "ε_l+ε_u",
            form: |g, _| sides(g).and_then(|(lower, upper)| bound(Notion::Ldp, lower + upper)),
            verdict: Verdict::True,
        }),
        corrected: |g, _| {
            let sum = Guarantee::raw(Notion::Ldp, g.lower() + g.upper());
            Ok(sum.and_delta((g.upper().exp() + 1.0) * g.delta(), Convention::Conditional))
        },
    },
    Rule {
        from: Notion::Alip,
        to: Notion::Mip,
        convention: None,
        name: "both sides of the lift bound mutual information",
        paper: "ZDS22 Prop 1-2",
        formula: "π e^ε_u ε_u - (1-π) e^-ε_l ε_l, π = (1-e^-ε_l)/(e^ε_u-e^-ε_l)",
        label: "I(ε_l,ε_u)",
        printed: Some(Printed {
            formula: "ε_u",
            form: |g, _| sides(g).and_then(|(_, upper)| bound(Notion::Mip, upper)),
            verdict: Verdict::Loose,
        }),
        corrected: |g, _| {
            let (lower, upper) = sides(g)?;
            bound(Notion::Mip, forms::mutual_information(lower, upper))
        },
    },
    Rule {
        from: Notion::Alip,
        to: Notion::Mil,
        convention: None,
        name: "both sides of the lift bound maximal leakage",
        paper: "ZDS22 Prop 1-2",
        formula: "min{ε_u, ln(M-(M-1)e^-ε_l)}",
        label: "min{ε_u, ..}",
        printed: Some(Printed {
            formula: "ε_u",
            form: |g, _| sides(g).and_then(|(_, upper)| bound(Notion::Mil, upper)),
            verdict: Verdict::Loose,
        }),
        corrected: |g, s| bound(Notion::Mil, mil(g, s)?),
    },
    Rule {
        from: Notion::Alip,
        to: Notion::Alphalift,
        convention: None,
        name: "both sides of the lift bound the alpha-lift",
        paper: "ZDS22 Prop 1-2",
        formula: "ln ℓ_α <= ln(π e^(αε_u) + (1-π) e^(-αε_l))/α <= ε_u",
        label: "ln ℓ(ε_l,ε_u)",
        printed: Some(Printed {
            formula: "ℓ_α <= ε_u, that is ln ℓ_α <= ln ε_u",
            form: |g, s| {
                s.alpha()?;
                sides(g).and_then(|(_, upper)| bound(Notion::Alphalift, upper.ln()))
            },
            verdict: Verdict::False,
        }),
        corrected: |g, s| {
            let (lower, upper) = sides(g)?;
            bound(Notion::Alphalift, forms::log_alpha_lift(lower, upper, s.alpha()?))
        },
    },
    Rule {
        from: Notion::Alip,
        to: Notion::Sibson,
        convention: None,
        name: "both sides of the lift bound Sibson's mutual information",
        paper: "ZDS22 Prop 1-3",
        formula: "ln(π e^(αε_u) + (1-π) e^(-αε_l))/(α-1) <= ε_u",
        label: "S(ε_l,ε_u)",
        printed: Some(Printed {
            formula: "α/(α-1)·ε_u",
            form: |g, s| printed_order(Notion::Sibson, g, s),
            verdict: Verdict::Loose,
        }),
        corrected: |g, s| {
            let (lower, upper) = sides(g)?;
            bound(Notion::Sibson, forms::sibson(lower, upper, s.alpha()?))
        },
    },
    Rule {
        from: Notion::Alip,
        to: Notion::Arimoto,
        convention: None,
        name: "both sides of the lift bound Arimoto's mutual information",
        paper: "ZDS22 Prop 1-3",
        formula: "min{ε_u, ln(M-(M-1)e^-ε_l)}",
        label: "min{ε_u, ..}",
        printed: Some(Printed {
            formula: "α/(α-1)·ε_u",
            form: |g, s| printed_order(Notion::Arimoto, g, s),
            verdict: Verdict::Loose,
        }),
        corrected: |g, s| {
            s.alpha()?;
            bound(Notion::Arimoto, mil(g, s)?)
        },
    },
];
