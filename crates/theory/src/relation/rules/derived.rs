//! Rules that no paper prints but that close the graph; each entry's comment is its proof.

use super::super::hull;
use super::super::rule::{DERIVED, Rule, bound, pure};
use super::super::setting::Missing;
use super::super::{Form, Guarantee, Notion, Setting, forms};
use super::information_privacy::spread;
use super::watchdog::sides;
use undertone_design::measure::delta::Convention;

/// A derived rule for pure premises, or for those with conditional δ.
const fn rule(
    (from, to): (Notion, Notion),
    name: &'static str,
    formula: &'static str,
    label: &'static str,
    corrected: Form,
) -> Rule {
    Rule {
        from,
        to,
        convention: None,
        name,
        paper: DERIVED,
        formula,
        label,
        printed: None,
        corrected,
    }
}

/// A rule that counts the δ of a LIP guarantee in another convention.
const fn convention(
    from: Convention,
    name: &'static str,
    formula: &'static str,
    corrected: Form,
) -> Rule {
    let lip = Notion::Lip;
    Rule { convention: Some(from), ..rule((lip, lip), name, formula, "", corrected) }
}

fn recount(g: &Guarantee, factor: f64, to: Convention) -> Result<Guarantee, Missing> {
    Ok(Guarantee::raw(Notion::Lip, g.epsilon()).and_delta(factor * g.delta(), to))
}

/// The largest probability that X may have.
fn p_max(s: &Setting) -> f64 {
    match (&s.prior, s.p_min) {
        (Some(prior), _) => prior.max(),
        (None, Some(p)) => 1.0 - p,
        (None, None) => 1.0,
    }
}

pub(super) const RULES: &[Rule] = &[
    // P(y) is a mean of the q(y|x'), each within e^±ε of q(y|x), and of q(y|x) itself.
    rule(
        (Notion::Ldp, Notion::Alip),
        "LDP bounds each side of the lift",
        "(ln(p+(1-p)E), -ln(p+(1-p)/E))",
        "two sides of p",
        |g, s| {
            let (epsilon, p) = (pure(g)?, s.p_min().unwrap_or(0.0));
            let upper = forms::max_lift_from_ldp(epsilon, p);
            Ok(Guarantee::sides(forms::lip_from_ldp(epsilon, p), upper))
        },
    ),
    // The lifts of one output average to one, so all others at one end fix the last.
    rule(
        (Notion::Alip, Notion::Alip),
        "each side of the lift limits the other",
        "ε_l <= -ln(U-(U-1)/p), ε_u <= ln(1+(1-e^-ε_l)(1/p-1)), U = e^ε_u",
        "",
        |g, s| {
            let ((lower, upper), p) = (sides(g)?, s.p_min()?);
            let tight_lower = lower.min(forms::lower_from_upper(upper, p));
            Ok(Guarantee::sides(tight_lower, upper.min(forms::upper_from_lower(lower, p))))
        },
    ),
    rule((Notion::Alip, Notion::Pml), "forget the lower side", "ε_u", "ε_u", |g, _| {
        sides(g).and_then(|(_, upper)| bound(Notion::Pml, upper))
    }),
    rule(
        (Notion::Pml, Notion::Alip),
        "max-lift is asymmetric LIP without a lower side",
        "(infinity, ε)",
        "(∞, ε)",
        |g, _| Ok(Guarantee::sides(f64::INFINITY, pure(g)?)),
    ),
    // The closed form of JSTL21 Theorem 1 (9) with two budgets.
    rule(
        (Notion::Alip, Notion::Ldp),
        "asymmetric LIP bounds the likelihood ratio, prior known",
        "ln max R(x,x') with two budgets",
        "ln R(P)",
        |g, s| {
            let ((lower, upper), prior) = (sides(g)?, s.prior()?);
            bound(Notion::Ldp, forms::exact_ldp(prior, lower, upper))
        },
    ),
    rule(
        (Notion::Alip, Notion::Di),
        "asymmetric LIP bounds posterior odds",
        "ln max P(x)/P(x')·R(x,x') with two budgets",
        "ln max R·P/P'",
        |g, s| {
            let ((lower, upper), prior) = (sides(g)?, s.prior()?);
            bound(Notion::Di, forms::exact_di(prior, lower, upper))
        },
    ),
    // P(x)R(x,x') <= min{E^2 P(x), E-1+P(x)} with P(x) <= 1-p, over P(x') >= p.
    rule(
        (Notion::Lip, Notion::Di),
        "LIP bounds posterior odds, smallest probability known",
        "ln(min{E^2(1-p), E-p}/p)",
        "ln(min{..}/p)",
        |g, s| {
            let (epsilon, p) = (pure(g)?, s.p_min()?);
            let top = ((2.0 * epsilon).exp() * (1.0 - p)).min(epsilon.exp() - p);
            bound(Notion::Di, (top / p).ln())
        },
    ),
    // Posterior odds are likelihood ratios times prior odds; ST20 (xiii) for one sensor.
    rule(
        (Notion::Ldp, Notion::Di),
        "LDP and the prior bound posterior odds",
        "ε+D_inf(P)",
        "ε+D∞",
        |g, s| bound(Notion::Di, pure(g)? + spread(s.prior()?)),
    ),
    // Prior odds are mediants of posterior odds, so D_inf <= ε; ST20 (xiv) for one sensor.
    rule(
        (Notion::Di, Notion::Ldp),
        "posterior odds bound LDP, whatever the prior",
        "ε+D_inf(P) <= 2ε",
        "2ε",
        |g, s| {
            let epsilon = pure(g)?;
            let spread = s.prior.as_ref().map_or(epsilon, spread);
            bound(Notion::Ldp, epsilon + spread.min(epsilon))
        },
    ),
    rule(
        (Notion::Di, Notion::Alip),
        "posterior odds bound each side of the lift",
        "(ln(Pmax(1+(M-1)E)), ln(E/((E+M-1)Pmin)))",
        "two sides of P",
        |g, s| {
            let (lower, upper) = forms::lip_from_di(s.prior()?, pure(g)?);
            Ok(Guarantee::sides(lower, upper))
        },
    ),
    // The previous form over all priors whose own odds stay within E.
    rule(
        (Notion::Di, Notion::Lip),
        "posterior odds bound the lift under every prior",
        "ln(E(1+(M-1)E)/(E+M-1)) <= 2ε",
        "2ε",
        |g, s| {
            let epsilon = pure(g)?;
            let Ok(symbols) = s.symbols() else { return bound(Notion::Lip, 2.0 * epsilon) };
            let (e, others) = (epsilon.exp(), symbols - 1.0);
            bound(Notion::Lip, (e * (1.0 + others * e) / (e + others)).ln())
        },
    ),
    // Sum over x of q(y|x) is at least max_x q(y|x)·(1+(M-1)/E); sum over y.
    rule(
        (Notion::Ldp, Notion::Mil),
        "LDP bounds maximal leakage",
        "ln(ME/(E+M-1)) <= ε",
        "ln(ME/(E+M-1))",
        |g, s| {
            let epsilon = pure(g)?;
            let sharp = |symbols| forms::maximal_leakage_from_ldp(epsilon, symbols);
            bound(Notion::Mil, s.symbols().map_or(epsilon, sharp))
        },
    ),
    // ST20 (xi) for one sensor.
    rule(
        (Notion::Ldp, Notion::Mip),
        "LDP bounds mutual information",
        "C(ε) = D-1-ln D, D = εE/(E-1)",
        "C(ε)",
        |g, _| bound(Notion::Mip, forms::capacity(pure(g)?)),
    ),
    // Sibson's order is monotone and ends at maximal leakage (ZDS22 (17)).
    rule((Notion::Mil, Notion::Sibson), "Sibson ends at maximal leakage", "ε", "ε", |g, s| {
        s.alpha()?;
        bound(Notion::Sibson, pure(g)?)
    }),
    rule(
        (Notion::Sibson, Notion::Mip),
        "Sibson starts at mutual information",
        "ε",
        "ε",
        |g, s| {
            s.alpha()?;
            bound(Notion::Mip, pure(g)?)
        },
    ),
    // Arimoto's under P is Sibson's under the prior proportional to P^α.
    rule(
        (Notion::Mil, Notion::Arimoto),
        "Arimoto is Sibson under another prior",
        "ε",
        "ε",
        |g, s| {
            s.alpha()?;
            bound(Notion::Arimoto, pure(g)?)
        },
    ),
    // I(P,W) <= Σ P D(W_x||Q) for any Q; take the Q of the other prior P' and P <= P' max P/P'.
    rule(
        (Notion::Arimoto, Notion::Mip),
        "Arimoto bounds mutual information, prior known",
        "ε·Σ P(x)^α / Pmin^(α-1)",
        "ε ΣP^α/..",
        |g, s| {
            let (epsilon, alpha, prior) = (pure(g)?, s.alpha()?, s.prior()?);
            // Symbols without mass enter neither side.
            let support = || prior.as_slice().iter().filter(|p| **p > 0.0);
            let least = support().copied().fold(1.0, f64::min);
            let factor: f64 = support().map(|p| p * (p / least).powf(alpha - 1.0)).sum();
            bound(Notion::Mip, epsilon * factor)
        },
    ),
    // ZDS22 (15): Sibson is α/(α-1) ln of the mean α-lift.
    rule(
        (Notion::Alphalift, Notion::Sibson),
        "the worst alpha-lift bounds the mean one",
        "α/(α-1)·ε",
        "α/(α-1)·ε",
        |g, s| {
            let alpha = s.alpha()?;
            bound(Notion::Sibson, alpha / (alpha - 1.0) * pure(g)?)
        },
    ),
    // One symbol against the rest: by convexity the others share one lift.
    rule(
        (Notion::Alphalift, Notion::Alip),
        "the alpha-lift bounds each lift, smallest probability known",
        "where p L^α + (1-p)((1-pL)/(1-p))^α = e^(αε)",
        "edge at p",
        |g, s| {
            let (lower, upper) = forms::lifts_from_alpha_lift(pure(g)?, s.alpha()?, s.p_min()?);
            Ok(Guarantee::sides(lower, upper))
        },
    ),
    // Pinsker: Σ_x P(x) TV(q_x, P_Y) <= sqrt(I/2), and Σ_y max_x q <= 1 + Σ_x TV(q_x, P_Y).
    rule(
        (Notion::Mip, Notion::Mil),
        "mutual information bounds maximal leakage, smallest probability known",
        "min{ln(1+sqrt(ε/2)/p), ln M}",
        "ln(1+√(ε/2)/p)",
        |g, s| {
            let pinsker = ((pure(g)? / 2.0).sqrt() / s.p_min()?).ln_1p();
            bound(Notion::Mil, s.symbols().map_or(pinsker, |m| pinsker.min(m.ln())))
        },
    ),
    // P_Y is linear in the prior, so every bound on it survives mixing (JSTL21 Lemma 2).
    rule(
        (Notion::Bplip, Notion::Lip),
        "LIP for a set of priors is LIP for their mixtures",
        "(ε,δ)",
        "ε",
        |g, s| {
            let (prior, set) = (s.prior()?, s.priors()?);
            if !hull::in_hull(set, prior) {
                return Err(Missing::PriorInSet);
            }
            Ok(Guarantee::raw(Notion::Lip, g.epsilon())
                .and_delta(g.delta(), Convention::Conditional))
        },
    ),
    // p(z|g) is a mean of p(z|x), each sensor contributing at most ε.
    rule(
        (Notion::Ldp, Notion::Infdp),
        "LDP of every sensor bounds the likelihood ratio of hypotheses",
        "sε",
        "sε",
        |g, s| bound(Notion::Infdp, s.sensors()? * pure(g)?),
    ),
    // p(z|g) is a mean of p(z|x), each within e^±ε of p(z).
    rule(
        (Notion::Lip, Notion::Infp),
        "data processing from the datum to the hypothesis, one sensor",
        "ε",
        "ε (s=1)",
        |g, s| {
            s.one_sensor()?;
            bound(Notion::Infp, pure(g)?)
        },
    ),
    // Given X the outputs are independent, so informations add at most.
    rule((Notion::Mip, Notion::Mipx), "informations of sensors add up", "sε", "sε", |g, s| {
        bound(Notion::Mipx, s.sensors()? * pure(g)?)
    }),
    rule((Notion::Mipx, Notion::Mip), "one sensor is part of all", "ε", "ε", |g, _| {
        bound(Notion::Mip, pure(g)?)
    }),
    // Sum the joint posterior over the other sensors' data, average over their outputs.
    rule((Notion::Ident, Notion::Di), "one sensor is part of all", "ε", "ε", |g, _| {
        bound(Notion::Di, pure(g)?)
    }),
    rule((Notion::Di, Notion::Ident), "one sensor is all", "ε", "ε (s=1)", |g, s| {
        s.one_sensor()?;
        bound(Notion::Ident, pure(g)?)
    }),
    // max{A/E,B} <= max{A,B} <= E max{A/E,B}; the joint ones weigh by P(x).
    convention(Convention::Conditional, "conditional δ is a posterior δ", "δ", |g, _| {
        recount(g, 1.0, Convention::Posterior)
    }),
    convention(Convention::Posterior, "posterior δ as a conditional one", "Eδ", |g, _| {
        recount(g, g.epsilon().exp(), Convention::Conditional)
    }),
    convention(Convention::Conditional, "conditional δ as a joint one", "Pmax δ", |g, s| {
        recount(g, p_max(s), Convention::Joint)
    }),
    convention(Convention::Joint, "joint δ as a conditional one", "δ/p", |g, s| {
        recount(g, 1.0 / s.p_min()?, Convention::Conditional)
    }),
    // A set of inputs misses at least one input; the whole alphabet leaks nothing.
    convention(Convention::Conditional, "conditional δ on sets", "(1-p)δ", |g, s| {
        recount(g, 1.0 - s.p_min().unwrap_or(0.0), Convention::JointSets)
    }),
    convention(Convention::Joint, "joint δ on sets", "(M-1)δ", |g, s| {
        recount(g, (s.symbols()? - 1.0).max(1.0), Convention::JointSets)
    }),
    convention(Convention::JointSets, "single inputs are sets", "δ", |g, _| {
        recount(g, 1.0, Convention::Joint)
    }),
];
