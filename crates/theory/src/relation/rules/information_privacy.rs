//! Local information privacy and its neighbours: JSTL21, JLT18, STL19.
//!
//! JSTL21 Corollary 1 restates pure LIP as a ratio of prior and posterior, and JLT18
//! Proposition 2 splits an optimisation over users; neither relates two notions, so neither is here.

use super::super::rule::{Printed, Rule, Verdict, bound, bound_delta, pure};
use super::super::setting::Missing;
use super::super::{Guarantee, Notion, Setting, forms};
use undertone_design::Distribution;
use undertone_design::measure::delta::Convention;

/// D_∞(P): the largest log-ratio between two prior probabilities.
pub(super) fn spread(prior: &Distribution) -> f64 {
    (prior.max() / prior.min()).ln()
}

/// The smallest and the largest of the set's smallest probabilities.
fn set_minima(setting: &Setting) -> Result<(f64, f64), Missing> {
    let minima = setting.priors()?.iter().map(Distribution::min);
    Ok(minima.fold((1.0, 0.0), |(least, most), p| (p.min(least), p.max(most))))
}

/// ε-LDP to LIP at smallest probability p, with δ: (ln(p + (1-p)E), (1-p)δ).
fn ldp_to_lip(to: Notion, g: &Guarantee, p: f64) -> Result<Guarantee, Missing> {
    bound_delta(to, forms::lip_from_ldp(g.epsilon(), p), (1.0 - p) * g.delta())
}

/// (ε,δ)-LDP to LIP with δ measured jointly: a secret event of probability m meets its complement
/// 1-m times, so m(1-m)δ is enough; the worst m is taken over `masses`.
fn ldp_to_joint(
    g: &Guarantee,
    s: &Setting,
    worst: f64,
    c: Convention,
) -> Result<Guarantee, Missing> {
    // Where one symbol has all the mass the others weigh nothing: a joint δ of zero would not say that they
    // keep the bound, and a δ of zero is read as pure.
    if worst == 0.0 && s.prior.as_ref().is_some_and(|prior| prior.len() > 1) {
        return Err(Missing::PositiveMin);
    }
    let epsilon = forms::lip_from_ldp(g.epsilon(), s.p_min().unwrap_or(0.0));
    Ok(Guarantee::raw(Notion::Lip, epsilon).and_delta(worst * g.delta(), c))
}

/// (ε,δ)-LIP to (2ε, factor·δ)-LDP.
fn doubled(g: &Guarantee, factor: f64) -> Result<Guarantee, Missing> {
    bound_delta(Notion::Ldp, 2.0 * g.epsilon(), factor * g.delta())
}

/// The factor E/P1 + 1/P2 of the joint convention, P1 and P2 the two smallest probabilities.
fn joint_factor(e: f64, s: &Setting) -> Result<f64, Missing> {
    let Some(prior) = &s.prior else {
        return Ok((e + 1.0) / s.p_min()?);
    };
    let mut sorted = prior.as_slice().to_vec();
    sorted.sort_by(f64::total_cmp);
    let least = sorted[0];
    let second = sorted.get(1).copied().unwrap_or(least);
    Ok(e / least + 1.0 / second)
}

pub(super) const RULES: &[Rule] = &[
    Rule {
        from: Notion::Lip,
        to: Notion::Ldp,
        convention: None,
        name: "LIP bounds the likelihood ratio, prior known",
        paper: "JSTL21 Thm 1 (9)",
        formula: "ln max over x != x' of min{E^2, (E-1+P(x))/P(x), P(x')/(P(x')-1+1/E) if positive}",
        label: "ln R(P)",
        printed: Some(Printed {
            formula: "max LR(y,x',1)/LR(y,x,1), without the logarithm",
            form: |g, s| {
                let epsilon = pure(g)?;
                bound(Notion::Ldp, forms::exact_ldp(s.prior()?, epsilon, epsilon).exp())
            },
            verdict: Verdict::Loose,
        }),
        corrected: |g, s| {
            let epsilon = pure(g)?;
            bound(Notion::Ldp, forms::exact_ldp(s.prior()?, epsilon, epsilon))
        },
    },
    Rule {
        from: Notion::Lip,
        to: Notion::Ldp,
        convention: None,
        name: "LIP bounds the likelihood ratio, smallest probability known",
        paper: "JSTL21 Prop 1",
        formula: "min{2ε, ln((E-1+p)/p)}",
        label: "min{2ε, ..}",
        printed: Some(Printed {
            formula: "min{2ε, ln((E-1+p)/p)}",
            form: |g, s| bound(Notion::Ldp, forms::ldp_from_lip(pure(g)?, s.p_min()?)),
            verdict: Verdict::True,
        }),
        corrected: |g, s| bound(Notion::Ldp, forms::ldp_from_lip(pure(g)?, s.p_min()?)),
    },
    Rule {
        from: Notion::Lip,
        to: Notion::Ldp,
        convention: None,
        name: "LIP bounds the likelihood ratio twice over",
        paper: "JLT18 Thm 1",
        formula: "2ε",
        label: "2ε",
        printed: Some(Printed {
            formula: "2ε",
            form: |g, _| bound(Notion::Ldp, 2.0 * pure(g)?),
            verdict: Verdict::True,
        }),
        corrected: |g, _| bound(Notion::Ldp, 2.0 * pure(g)?),
    },
    Rule {
        from: Notion::Ldp,
        to: Notion::Lip,
        convention: None,
        name: "LDP bounds the lift, smallest probability known",
        paper: "JSTL21 Thm 1",
        formula: "ln(p+(1-p)E), and (1-p)δ",
        label: "ln(p+(1-p)E)",
        printed: Some(Printed {
            formula: "ln(p+(1-p)E)",
            form: |g, s| bound(Notion::Lip, forms::lip_from_ldp(pure(g)?, s.p_min()?)),
            verdict: Verdict::True,
        }),
        corrected: |g, s| ldp_to_lip(Notion::Lip, g, s.p_min()?),
    },
    Rule {
        from: Notion::Ldp,
        to: Notion::Lip,
        convention: None,
        name: "LDP bounds the lift under every prior",
        paper: "JLT18 Thm 1, JSTL21 Cor 3",
        formula: "ε, and δ",
        label: "ε",
        printed: Some(Printed {
            formula: "(ε,δ)",
            form: |g, _| bound_delta(Notion::Lip, g.epsilon(), g.delta()),
            verdict: Verdict::True,
        }),
        corrected: |g, _| ldp_to_lip(Notion::Lip, g, 0.0),
    },
    Rule {
        from: Notion::Ldp,
        to: Notion::Lip,
        convention: Some(Convention::Conditional),
        name: "approximate LDP bounds the lift, δ measured jointly",
        paper: "STL19 Prop 1",
        formula: "ε, and δ·max P(x)(1-P(x)) <= δ/4",
        label: "δ/4 (joint)",
        printed: Some(Printed {
            formula: "(ε,δ)",
            form: |g, _| {
                Ok(Guarantee::raw(Notion::Lip, g.epsilon()).and_delta(g.delta(), Convention::Joint))
            },
            verdict: Verdict::Loose,
        }),
        corrected: |g, s| {
            let spread =
                |p: &Distribution| p.as_slice().iter().map(|m| m * (1.0 - m)).fold(0.0, f64::max);
            ldp_to_joint(g, s, s.prior.as_ref().map_or(0.25, spread), Convention::Joint)
        },
    },
    Rule {
        from: Notion::Ldp,
        to: Notion::Lip,
        convention: Some(Convention::Conditional),
        name: "approximate LDP bounds the lift, δ measured on sets",
        paper: "STL19 Prop 1",
        formula: "ε, and δ/4",
        label: "δ/4 (sets)",
        printed: Some(Printed {
            formula: "(ε,δ)",
            form: |g, _| {
                Ok(Guarantee::raw(Notion::Lip, g.epsilon())
                    .and_delta(g.delta(), Convention::JointSets))
            },
            verdict: Verdict::Loose,
        }),
        corrected: |g, s| ldp_to_joint(g, s, 0.25, Convention::JointSets),
    },
    Rule {
        from: Notion::Lip,
        to: Notion::Ldp,
        convention: Some(Convention::Conditional),
        name: "approximate LIP bounds the likelihood ratio",
        paper: "JSTL21 Cor 3",
        formula: "(2ε, (E+1)δ), δ conditional",
        label: "(2ε,(E+1)δ)",
        printed: Some(Printed {
            formula: "(2ε, (E+1)δ)",
            form: |g, _| doubled(g, g.epsilon().exp() + 1.0),
            verdict: Verdict::True,
        }),
        corrected: |g, _| doubled(g, g.epsilon().exp() + 1.0),
    },
    Rule {
        from: Notion::Lip,
        to: Notion::Ldp,
        convention: Some(Convention::Posterior),
        name: "approximate LIP bounds the likelihood ratio, δ as defined there",
        paper: "JSTL21 Cor 3",
        formula: "(2ε, 2Eδ), δ posterior",
        label: "(2ε,2Eδ)",
        printed: Some(Printed {
            formula: "(2ε, (E+1)δ)",
            form: |g, _| doubled(g, g.epsilon().exp() + 1.0),
            verdict: Verdict::False,
        }),
        corrected: |g, _| doubled(g, 2.0 * g.epsilon().exp()),
    },
    Rule {
        from: Notion::Lip,
        to: Notion::Ldp,
        convention: Some(Convention::Joint),
        name: "approximate LIP bounds the likelihood ratio, δ measured jointly",
        paper: "STL19 Prop 1",
        formula: "(2ε, (E/P1+1/P2)δ), P1 <= P2 the two smallest probabilities",
        label: "(2ε, ..δ)",
        printed: Some(Printed {
            formula: "(2ε, (E+1)δ/p)",
            form: |g, s| doubled(g, (g.epsilon().exp() + 1.0) / s.p_min()?),
            verdict: Verdict::Loose,
        }),
        corrected: |g, s| doubled(g, joint_factor(g.epsilon().exp(), s)?),
    },
    Rule {
        from: Notion::Ldp,
        to: Notion::Bplip,
        convention: None,
        name: "LDP bounds the lift under every prior of a set",
        paper: "JSTL21 Thm 2",
        formula: "ln(p+(1-p)E), p the smallest probability in the set",
        label: "ln(p+(1-p)E)",
        printed: Some(Printed {
            formula: "ln(p+(1-p)E), p the smallest probability in the set",
            form: |g, s| bound(Notion::Bplip, forms::lip_from_ldp(pure(g)?, set_minima(s)?.0)),
            verdict: Verdict::True,
        }),
        corrected: |g, s| ldp_to_lip(Notion::Bplip, g, set_minima(s)?.0),
    },
    Rule {
        from: Notion::Bplip,
        to: Notion::Ldp,
        convention: None,
        name: "LIP for a set of priors bounds the likelihood ratio",
        paper: "JSTL21 Thm 2",
        formula: "the least over the set's priors of the exact LIP to LDP; (2ε, (E+1)δ)",
        label: "min over set",
        printed: Some(Printed {
            formula: "min{2ε, ln((E-1+p)/p)}, p the largest of the set's smallest probabilities",
            form: |g, s| bound(Notion::Ldp, forms::ldp_from_lip(pure(g)?, set_minima(s)?.1)),
            verdict: Verdict::Loose,
        }),
        corrected: |g, s| {
            let epsilon = g.epsilon();
            if !g.is_pure() {
                return doubled(g, epsilon.exp() + 1.0);
            }
            let exact = s.priors()?.iter().map(|prior| forms::exact_ldp(prior, epsilon, epsilon));
            bound(Notion::Ldp, exact.fold(2.0 * epsilon, f64::min))
        },
    },
    Rule {
        from: Notion::Wclip,
        to: Notion::Ldp,
        convention: None,
        name: "LIP for every prior is LDP",
        paper: "JSTL21 Cor 2",
        formula: "(ε,δ)",
        label: "ε",
        printed: Some(Printed {
            formula: "ε",
            form: |g, _| bound(Notion::Ldp, pure(g)?),
            verdict: Verdict::True,
        }),
        corrected: |g, _| bound_delta(Notion::Ldp, g.epsilon(), g.delta()),
    },
    Rule {
        from: Notion::Ldp,
        to: Notion::Wclip,
        convention: None,
        name: "LDP is LIP for every prior",
        paper: "JSTL21 Cor 2",
        formula: "(ε,δ)",
        label: "ε",
        printed: Some(Printed {
            formula: "ε",
            form: |g, _| bound(Notion::Wclip, pure(g)?),
            verdict: Verdict::True,
        }),
        corrected: |g, _| bound_delta(Notion::Wclip, g.epsilon(), g.delta()),
    },
    Rule {
        from: Notion::Lip,
        to: Notion::Di,
        convention: None,
        name: "LIP bounds posterior odds",
        paper: "JSTL21 Thm 3-1",
        formula: "ln max over x != x' of P(x)/P(x')·R(x,x')",
        label: "2ε+D∞",
        printed: Some(Printed {
            formula: "2ε + D_inf(P)",
            form: |g, s| bound(Notion::Di, 2.0 * pure(g)? + spread(s.prior()?)),
            verdict: Verdict::Loose,
        }),
        corrected: |g, s| {
            let epsilon = pure(g)?;
            bound(Notion::Di, forms::exact_di(s.prior()?, epsilon, epsilon))
        },
    },
    Rule {
        from: Notion::Di,
        to: Notion::Lip,
        convention: None,
        name: "posterior odds bound the lift",
        paper: "JSTL21 Thm 3-1",
        formula: "max{ln(Pmax(1+(M-1)E)), ln(E/((E+M-1)Pmin))}",
        label: "max{..} of P",
        printed: Some(Printed {
            formula: "ln(p+(1-p)e^(ε+D_inf))",
            form: |g, s| {
                let prior = s.prior()?;
                bound(Notion::Lip, forms::lip_from_ldp(pure(g)? + spread(prior), prior.min()))
            },
            verdict: Verdict::Loose,
        }),
        corrected: |g, s| {
            let (lower, upper) = forms::lip_from_di(s.prior()?, pure(g)?);
            bound(Notion::Lip, lower.max(upper))
        },
    },
    Rule {
        from: Notion::Lip,
        to: Notion::Mip,
        convention: None,
        name: "LIP bounds mutual information",
        paper: "JSTL21 Thm 3-2, JLT18 Prop 1",
        formula: "I <= ε tanh(ε/2)",
        label: "ε tanh(ε/2)",
        printed: Some(Printed {
            formula: "ε",
            form: |g, _| bound(Notion::Mip, pure(g)?),
            verdict: Verdict::Loose,
        }),
        corrected: |g, _| {
            let epsilon = pure(g)?;
            bound(Notion::Mip, forms::mutual_information(epsilon, epsilon))
        },
    },
    Rule {
        from: Notion::Lip,
        to: Notion::Mil,
        convention: None,
        name: "LIP bounds maximal leakage",
        paper: "JSTL21 Thm 3-3",
        formula: "min{ε, ln(M-(M-1)/E)}",
        label: "min{ε, ..}",
        printed: Some(Printed {
            formula: "ε",
            form: |g, _| bound(Notion::Mil, pure(g)?),
            verdict: Verdict::Loose,
        }),
        corrected: |g, s| {
            let epsilon = pure(g)?;
            let symbols = s.symbols().unwrap_or(f64::INFINITY);
            let leakage = forms::maximal_leakage(epsilon, epsilon, symbols);
            bound(Notion::Mil, if symbols.is_finite() { leakage } else { epsilon })
        },
    },
    Rule {
        from: Notion::Mil,
        to: Notion::Mip,
        convention: None,
        name: "maximal leakage bounds mutual information",
        paper: "JSTL21 Sec III-C",
        formula: "ε",
        label: "ε",
        printed: Some(Printed {
            formula: "ε",
            form: |g, _| bound(Notion::Mip, pure(g)?),
            verdict: Verdict::True,
        }),
        corrected: |g, _| bound(Notion::Mip, pure(g)?),
    },
];
