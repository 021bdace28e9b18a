//! Sensor networks: ST20 Theorem 1, the implications (i)-(iv), (vi), (x), (xi), (xiii), (xiv).
//!
//! What does not follow, (v), (vii)-(ix), (xii), is in the counterexamples.

use std::f64::consts::LN_2;

use super::super::rule::{Printed, Rule, Verdict, bound, pure};
use super::super::{Notion, forms};

pub(super) const RULES: &[Rule] = &[
    Rule {
        from: Notion::Infp,
        to: Notion::Infdp,
        convention: None,
        name: "information privacy bounds the likelihood ratio of hypotheses",
        paper: "ST20 Thm 1 (i)",
        formula: "2ε; with the law of G known, ln max R as for lip and ldp",
        label: "2ε",
        printed: Some(Printed {
            formula: "2ε",
            form: |g, _| bound(Notion::Infdp, 2.0 * pure(g)?),
            verdict: Verdict::True,
        }),
        corrected: |g, s| {
            let epsilon = pure(g)?;
            let level = match (&s.hypothesis, s.hypothesis_min()) {
                (Some(law), _) => forms::exact_ldp(law, epsilon, epsilon),
                (None, Ok(p)) => forms::ldp_from_lip(epsilon, p),
                (None, Err(_)) => 2.0 * epsilon,
            };
            bound(Notion::Infdp, level)
        },
    },
    Rule {
        from: Notion::Infp,
        to: Notion::Avgleak,
        convention: None,
        name: "information privacy bounds average leakage",
        paper: "ST20 Thm 1 (ii)",
        formula: "I(G;Z) <= ε tanh(ε/2)",
        label: "ε tanh(ε/2)",
        printed: Some(Printed {
            formula: "ε/ln 2",
            form: |g, _| bound(Notion::Avgleak, pure(g)? / LN_2),
            verdict: Verdict::Loose,
        }),
        corrected: |g, _| {
            let epsilon = pure(g)?;
            bound(Notion::Avgleak, forms::mutual_information(epsilon, epsilon))
        },
    },
    Rule {
        from: Notion::Infdp,
        to: Notion::Infp,
        convention: None,
        name: "inference differential privacy bounds the lift of the hypothesis",
        paper: "ST20 Thm 1 (iii)",
        formula: "qε; ln(p+(1-p)e^qε); with the law of G, max_g Σ p(g')e^(dε) and its mirror",
        label: "qε",
        printed: Some(Printed {
            formula: "qε",
            form: |g, s| bound(Notion::Infp, s.secrets()? as f64 * pure(g)?),
            verdict: Verdict::True,
        }),
        corrected: |g, s| {
            let epsilon = pure(g)?;
            let q = s.secrets()? as f64;
            if let Some(law) = &s.hypothesis
                && let Ok((lower, upper)) = forms::infp_from_infdp(law, epsilon)
            {
                return bound(Notion::Infp, lower.max(upper).min(q * epsilon));
            }
            let p = s.hypothesis_min().unwrap_or(0.0);
            bound(Notion::Infp, forms::lip_from_ldp(q * epsilon, p))
        },
    },
    Rule {
        from: Notion::Infdp,
        to: Notion::Avgleak,
        convention: None,
        name: "inference differential privacy bounds average leakage",
        paper: "ST20 Thm 1 (iv)",
        formula: "I(G;Z) <= C(qε), C(ε) = D-1-ln D, D = εE/(E-1)",
        label: "C(qε)",
        printed: Some(Printed {
            formula: "qε/ln 2",
            form: |g, s| bound(Notion::Avgleak, s.secrets()? as f64 * pure(g)? / LN_2),
            verdict: Verdict::Loose,
        }),
        corrected: |g, s| bound(Notion::Avgleak, forms::capacity(s.secrets()? as f64 * pure(g)?)),
    },
    Rule {
        from: Notion::Ldp,
        to: Notion::Infp,
        convention: None,
        name: "LDP of every sensor bounds the lift of the hypothesis",
        paper: "ST20 Thm 1 (vi)",
        formula: "ln(p+(1-p)e^sε) <= sε",
        label: "ln(p+(1-p)e^sε)",
        printed: Some(Printed {
            formula: "2sε",
            form: |g, s| bound(Notion::Infp, 2.0 * s.sensors()? * pure(g)?),
            verdict: Verdict::Loose,
        }),
        corrected: |g, s| {
            let p = s.hypothesis_min().unwrap_or(0.0);
            bound(Notion::Infp, forms::lip_from_ldp(s.sensors()? * pure(g)?, p))
        },
    },
    Rule {
        from: Notion::Mipx,
        to: Notion::Avgleak,
        convention: None,
        name: "data processing from the data to the hypothesis",
        paper: "ST20 Thm 1 (x)",
        formula: "ε",
        label: "ε",
        printed: Some(Printed {
            formula: "ε",
            form: |g, _| bound(Notion::Avgleak, pure(g)?),
            verdict: Verdict::True,
        }),
        corrected: |g, _| bound(Notion::Avgleak, pure(g)?),
    },
    Rule {
        from: Notion::Ldp,
        to: Notion::Mipx,
        convention: None,
        name: "LDP of every sensor bounds the information in all data",
        paper: "ST20 Thm 1 (xi)",
        formula: "I(X;Z) <= s C(ε), C(ε) = D-1-ln D, D = εE/(E-1)",
        label: "s C(ε)",
        printed: Some(Printed {
            formula: "sε/ln 2",
            form: |g, s| bound(Notion::Mipx, s.sensors()? * pure(g)? / LN_2),
            verdict: Verdict::Loose,
        }),
        corrected: |g, s| bound(Notion::Mipx, s.sensors()? * forms::capacity(pure(g)?)),
    },
    Rule {
        from: Notion::Ldp,
        to: Notion::Ident,
        convention: None,
        name: "LDP and the prior bound posterior odds of neighbours",
        paper: "ST20 Thm 1 (xiii)",
        formula: "ε+δ_X",
        label: "ε+δ_X",
        printed: Some(Printed {
            formula: "ε+δ_X",
            form: |g, s| bound(Notion::Ident, pure(g)? + s.spread()?),
            verdict: Verdict::True,
        }),
        corrected: |g, s| bound(Notion::Ident, pure(g)? + s.spread()?),
    },
    Rule {
        from: Notion::Ident,
        to: Notion::Ldp,
        convention: None,
        name: "posterior odds of neighbours bound LDP, whatever the prior",
        paper: "ST20 Thm 1 (xiv)",
        formula: "min{ε+δ_X, 2ε}; δ_X <= ε always, as prior odds are mediants of posterior odds",
        label: "min{ε+δ_X, 2ε}",
        printed: Some(Printed {
            formula: "ε+δ_X",
            form: |g, s| bound(Notion::Ldp, pure(g)? + s.spread()?),
            verdict: Verdict::True,
        }),
        corrected: |g, s| {
            let epsilon = pure(g)?;
            bound(Notion::Ldp, epsilon + s.spread().unwrap_or(epsilon).min(epsilon))
        },
    },
];
