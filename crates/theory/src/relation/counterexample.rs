//! What does not follow: families of mechanisms that keep one notion as small as wished while
//! another stays large.

use super::{Guarantee, Notion, Setting, Verdict, rule::DERIVED};
use undertone_design::{Channel, Distribution, Error, Joint};

/// In which sense the conclusion fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Whatever is known about the setting.
    Always,
    /// For premises with δ > 0.
    Delta,
    /// Where the smallest probability is unknown, or the budget too large for it.
    Prior,
    /// A bound exists, but it does not vanish with the premise's budget.
    Vanishing,
    /// If the number of secrets may grow; for a fixed number a bound exists.
    Growing,
}

/// One statement "does not imply", with the family that proves it.
#[derive(Debug, Clone, Copy)]
pub struct NonImplication {
    /// The notion kept small.
    pub from: Notion,
    /// The notion that stays large.
    pub to: Notion,
    /// Paper key and number, or `derived`.
    pub paper: &'static str,
    /// The family, in words.
    pub words: &'static str,
    /// In which sense.
    pub scope: Scope,
    /// How the printed statement stands.
    pub verdict: Verdict,
    /// A member whose `from` leakage is at most the given guarantee; `None` if there is none (a
    /// zero budget, or a prior that rules the family out).
    pub member: fn(&Guarantee, &Setting) -> Option<Member>,
}

/// A mechanism of a counterexample family.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// The law of X.
    pub prior: Distribution,
    /// P(g,x), where the family speaks of a private hypothesis.
    pub joint: Option<Joint>,
    /// The mechanism from X to Z.
    pub channel: Channel,
    /// This many independent copies of all of it, side by side.
    pub copies: usize,
    /// Its leakage in the notion that stays large.
    pub leakage: f64,
}

impl Member {
    /// The setting the member lives in: one sensor, its own laws.
    pub fn setting(&self, alpha: Option<f64>) -> Setting {
        Setting {
            prior: Some(self.prior.clone()),
            hypothesis: self.joint.as_ref().map(|joint| joint.secret().clone()),
            sensors: Some(1),
            secrets: Some(self.copies),
            alpha,
            ..Setting::default()
        }
    }
}

/// A counterexample to one question: the statement it rests on and a member within the budget.
#[derive(Debug, Clone, PartialEq)]
pub struct Counterexample {
    /// The notion that is known to stay large; the question's target implies it.
    pub large: Notion,
    /// Paper key and number, or `derived`.
    pub paper: &'static str,
    /// The family, in words.
    pub words: &'static str,
    /// A member that meets the premise, if the budget leaves room for one.
    pub member: Option<Member>,
}

/// Every statement of the papers that something does not follow, and those that complete them.
pub fn all() -> &'static [NonImplication] {
    NON_IMPLICATIONS
}

const RARE: &str = "one symbol says its own name with a small probability and otherwise nothing is \
    released: the average leakage vanishes with that probability, the posterior after the name is certain";
const INDEPENDENT: &str = "the private hypothesis is independent of the data and the data are released \
    as they are: nothing is learnt about the hypothesis, everything about the data";
const NEVER: &str = "a rare symbol never produces one of the outputs: seeing that output hardly raises \
    the belief in the others, but rules the rare symbol out";
const REVEAL: &str =
    "with probability δ the rarest symbol says its own name, otherwise nothing is released";
const CONSTANT: &str = "nothing is released, so likelihoods are equal, but the prior odds themselves \
    are posterior odds";
const COPIES: &str = "q independent binary secrets, each through randomised response at ε = 1/sqrt(q): \
    neighbours stay within ε while the information, about qε²/8, does not vanish";

const NON_IMPLICATIONS: &[NonImplication] = &[
    NonImplication {
        from: Notion::Mip,
        to: Notion::Lip,
        paper: "JSTL21 Thm 3-2",
        words: RARE,
        scope: Scope::Always,
        verdict: Verdict::True,
        member: |g, s| rare(g, s, |_| f64::INFINITY),
    },
    NonImplication {
        from: Notion::Mil,
        to: Notion::Lip,
        paper: "JSTL21 Thm 3-3",
        words: RARE,
        scope: Scope::Always,
        verdict: Verdict::True,
        member: |g, s| rare(g, s, |_| f64::INFINITY),
    },
    NonImplication {
        from: Notion::Mil,
        to: Notion::Pml,
        paper: DERIVED,
        words: RARE,
        scope: Scope::Always,
        verdict: Verdict::True,
        member: |g, s| rare(g, s, |p| -p.ln()),
    },
    NonImplication {
        from: Notion::Mil,
        to: Notion::Alphalift,
        paper: DERIVED,
        words: RARE,
        scope: Scope::Always,
        verdict: Verdict::True,
        member: |g, s| {
            let alpha = s.alpha.unwrap_or(2.0);
            let mut member = rare(g, s, |_| 0.0)?;
            member.leakage = -(alpha - 1.0) / alpha * member.prior.min().ln();
            Some(member)
        },
    },
    NonImplication {
        from: Notion::Mil,
        to: Notion::Infp,
        paper: DERIVED,
        words: RARE,
        scope: Scope::Always,
        verdict: Verdict::True,
        member: |g, s| rare(g, s, |_| f64::INFINITY),
    },
    NonImplication {
        from: Notion::Avgleak,
        to: Notion::Infp,
        paper: "ST20 Thm 1 (v)",
        words: RARE,
        scope: Scope::Always,
        verdict: Verdict::True,
        member: |g, s| rare(g, s, |_| f64::INFINITY),
    },
    NonImplication {
        from: Notion::Avgleak,
        to: Notion::Infdp,
        paper: "ST20 Thm 1 (v)",
        words: RARE,
        scope: Scope::Always,
        verdict: Verdict::True,
        member: |g, s| rare(g, s, |_| f64::INFINITY),
    },
    NonImplication {
        from: Notion::Infp,
        to: Notion::Ldp,
        paper: "ST20 Thm 1 (vii)",
        words: INDEPENDENT,
        scope: Scope::Always,
        verdict: Verdict::True,
        member: |_, _| independent(f64::INFINITY),
    },
    NonImplication {
        from: Notion::Infp,
        to: Notion::Mipx,
        paper: "ST20 Thm 1 (viii)",
        words: INDEPENDENT,
        scope: Scope::Always,
        verdict: Verdict::True,
        member: |_, _| independent(std::f64::consts::LN_2),
    },
    NonImplication {
        from: Notion::Mipx,
        to: Notion::Infp,
        paper: "ST20 Thm 1 (ix)",
        words: "the hypothesis is a fair coin; the symbol 0 occurs only under one side, with a small \
            probability, and only its occurrence is released: I(X;Z) vanishes, the other side is ruled \
            out (the printed example does not have vanishing information)",
        scope: Scope::Always,
        verdict: Verdict::True,
        member: |g, _| one_sided(g),
    },
    NonImplication {
        from: Notion::Mipx,
        to: Notion::Ldp,
        paper: "ST20 Thm 1 (xii)",
        words: RARE,
        scope: Scope::Always,
        verdict: Verdict::True,
        member: |g, s| rare(g, s, |_| f64::INFINITY),
    },
    NonImplication {
        from: Notion::Pml,
        to: Notion::Ldp,
        paper: DERIVED,
        words: NEVER,
        scope: Scope::Prior,
        verdict: Verdict::True,
        member: |g, s| never(g, s, g.epsilon()),
    },
    NonImplication {
        from: Notion::Alphalift,
        to: Notion::Ldp,
        paper: DERIVED,
        words: NEVER,
        scope: Scope::Prior,
        verdict: Verdict::True,
        member: |g, s| {
            let alpha = s.alpha?;
            never(g, s, g.epsilon() * alpha / (alpha - 1.0))
        },
    },
    NonImplication {
        from: Notion::Pml,
        to: Notion::Infp,
        paper: DERIVED,
        words: NEVER,
        scope: Scope::Prior,
        verdict: Verdict::True,
        member: |g, s| never(g, s, g.epsilon()),
    },
    NonImplication {
        from: Notion::Alphalift,
        to: Notion::Infp,
        paper: DERIVED,
        words: NEVER,
        scope: Scope::Prior,
        verdict: Verdict::True,
        member: |g, s| {
            let alpha = s.alpha?;
            never(g, s, g.epsilon() * alpha / (alpha - 1.0))
        },
    },
    NonImplication {
        from: Notion::Ldp,
        to: Notion::Pml,
        paper: DERIVED,
        words: REVEAL,
        scope: Scope::Delta,
        verdict: Verdict::True,
        member: |g, s| reveal(g, s, |p| -p.ln()),
    },
    NonImplication {
        from: Notion::Ldp,
        to: Notion::Alphalift,
        paper: DERIVED,
        words: REVEAL,
        scope: Scope::Delta,
        verdict: Verdict::True,
        member: |g, s| {
            let alpha = s.alpha.unwrap_or(2.0);
            reveal(g, s, |p| -(alpha - 1.0) / alpha * p.ln())
        },
    },
    NonImplication {
        from: Notion::Ldp,
        to: Notion::Di,
        paper: DERIVED,
        words: REVEAL,
        scope: Scope::Delta,
        verdict: Verdict::True,
        member: |g, s| reveal(g, s, |_| f64::INFINITY),
    },
    NonImplication {
        from: Notion::Ldp,
        to: Notion::Ident,
        paper: "ST20 Thm 1 (xiii)",
        words: CONSTANT,
        scope: Scope::Vanishing,
        verdict: Verdict::True,
        member: |_, s| constant(s),
    },
    NonImplication {
        from: Notion::Lip,
        to: Notion::Di,
        paper: DERIVED,
        words: CONSTANT,
        scope: Scope::Vanishing,
        verdict: Verdict::True,
        member: |_, s| constant(s),
    },
    NonImplication {
        from: Notion::Infdp,
        to: Notion::Infp,
        paper: "ST20 Thm 1 (iii)",
        words: COPIES,
        scope: Scope::Growing,
        verdict: Verdict::True,
        member: |g, _| copies(g, |q, e| q * (2.0 * e / (1.0 + e)).ln().max((0.5 + e / 2.0).ln())),
    },
    NonImplication {
        from: Notion::Infdp,
        to: Notion::Avgleak,
        paper: "ST20 Thm 1 (iv)",
        words: COPIES,
        scope: Scope::Growing,
        verdict: Verdict::True,
        member: |g, _| {
            copies(g, |q, e| {
                let (a, b) = (e / (1.0 + e), 1.0 / (1.0 + e));
                q * (std::f64::consts::LN_2 + a * a.ln() + b * b.ln())
            })
        },
    },
    NonImplication {
        from: Notion::Ident,
        to: Notion::Ldp,
        paper: "ST20 Thm 1 (xiv)",
        words: "printed for non-uniform data, but false: prior odds are mediants of posterior odds, so \
            ε-identifiability gives 2ε-LDP whatever the prior",
        scope: Scope::Vanishing,
        verdict: Verdict::False,
        member: |_, _| None,
    },
];

const MASSLESS: &str = "all symbols that occur toss the same coin, and one that never occurs always says heads: no average \
    sees it, yet tails rule it out";

/// Where `law` has a symbol without mass, a channel that leaks nothing on average, and by `to` all the same.
pub(super) fn massless(to: Notion, law: Option<&Distribution>) -> Option<Counterexample> {
    let law = law.filter(|law| law.min() <= 0.0)?;
    let named = rarest(law);
    let row = |x: usize| if x == named { vec![1.0, 0.0] } else { vec![0.5, 0.5] };
    let member = Member {
        prior: law.clone(),
        joint: same(law),
        channel: Channel::new((0..law.len()).map(row).collect()).ok()?,
        copies: 1,
        leakage: if to == Notion::Pml { std::f64::consts::LN_2 } else { f64::INFINITY },
    };
    // What bounds both sides of a lift bounds the likelihood ratio, also over a set of priors.
    let large = if to == Notion::Bplip { Notion::Ldp } else { to };
    Some(Counterexample { large, paper: DERIVED, words: MASSLESS, member: Some(member) })
}

fn law(p: &[f64]) -> Result<Distribution, Error> {
    Distribution::new("a counterexample's law", p.to_vec())
}

/// The prior in question if it says something, else a fair coin.
fn prior_of(setting: &Setting) -> Distribution {
    let usable = |prior: &&Distribution| prior.len() > 1 && prior.min() > 0.0;
    let given = setting.prior.as_ref().filter(usable);
    given.cloned().unwrap_or_else(|| Distribution::uniform(2))
}

fn rarest(prior: &Distribution) -> usize {
    let p = prior.as_slice();
    (0..p.len()).min_by(|&a, &b| p[a].total_cmp(&p[b])).unwrap_or(0)
}

/// Above this many symbols no joint law is written out: it has as many cells as pairs of symbols.
const MAX_JOINT: usize = 64;

/// G = X, where that is small enough to write out.
fn same(prior: &Distribution) -> Option<Joint> {
    if prior.len() > MAX_JOINT {
        return None;
    }
    Joint::from_parts(prior.clone(), Channel::identity(prior.len()).ok()?).ok()
}

/// The rarest symbol says its name with probability t, ln(1+t) = maximal leakage, which bounds every
/// other average here.
fn rare(g: &Guarantee, s: &Setting, leakage: fn(f64) -> f64) -> Option<Member> {
    let t = g.epsilon().exp_m1().min(0.5);
    if t <= 0.0 {
        return None;
    }
    let prior = prior_of(s);
    let named = rarest(&prior);
    let row = |x: usize| if x == named { vec![t, 1.0 - t] } else { vec![0.0, 1.0] };
    Some(Member {
        joint: same(&prior),
        channel: Channel::new((0..prior.len()).map(row).collect()).ok()?,
        copies: 1,
        leakage: leakage(prior.min()),
        prior,
    })
}

fn independent(leakage: f64) -> Option<Member> {
    let coin = Distribution::uniform(2);
    let ignorant = Channel::from_rows(vec![coin.clone(), coin.clone()]).ok()?;
    Some(Member {
        joint: Some(Joint::from_parts(coin.clone(), ignorant).ok()?),
        channel: Channel::identity(2).ok()?,
        copies: 1,
        leakage,
        prior: coin,
    })
}

/// P(X=0|g0) = 0, P(X=0|g1) = 2a; I(X;Z) = h(a) is at most the budget.
fn one_sided(g: &Guarantee) -> Option<Member> {
    let information = |a: f64| -a * a.ln() - (1.0 - a) * (-a).ln_1p();
    if g.epsilon() <= 1e-12 {
        return None;
    }
    let mut a = 0.25;
    while information(a) > g.epsilon() {
        a /= 2.0;
    }
    let given = Channel::new(vec![vec![0.0, 1.0], vec![2.0 * a, 1.0 - 2.0 * a]]).ok()?;
    Some(Member {
        prior: law(&[a, 1.0 - a]).ok()?,
        joint: Some(Joint::from_parts(Distribution::uniform(2), given).ok()?),
        channel: Channel::identity(2).ok()?,
        copies: 1,
        leakage: f64::INFINITY,
    })
}

/// The rarest symbol, of probability p with -ln(1-p) <= room, never produces output 0.
fn never(g: &Guarantee, s: &Setting, room: f64) -> Option<Member> {
    if g.epsilon() <= 0.0 {
        return None;
    }
    let largest = -(-room).exp_m1();
    let prior = match (&s.prior, s.p_min) {
        (Some(prior), _) => prior.clone(),
        (None, Some(p)) if p > 0.0 => law(&[p, 1.0 - p]).ok()?,
        _ => {
            let p = largest.min(0.25);
            law(&[p, 1.0 - p]).ok()?
        }
    };
    if prior.len() < 2 || prior.min() > largest * (1.0 + 1e-12) {
        return None;
    }
    let quiet = rarest(&prior);
    // Small enough that the other output's lift, at most 1/(1-w), stays within e^ε.
    let w = (-(-g.epsilon()).exp_m1()).min(0.5);
    let row = |x: usize| if x == quiet { vec![0.0, 1.0] } else { vec![w, 1.0 - w] };
    Some(Member {
        channel: Channel::new((0..prior.len()).map(row).collect()).ok()?,
        joint: same(&prior),
        copies: 1,
        leakage: f64::INFINITY,
        prior,
    })
}

fn reveal(g: &Guarantee, s: &Setting, leakage: impl Fn(f64) -> f64) -> Option<Member> {
    if g.delta() <= 0.0 {
        return None;
    }
    let prior = prior_of(s);
    let (named, delta) = (rarest(&prior), g.delta());
    let row = |x: usize| if x == named { vec![delta, 1.0 - delta] } else { vec![0.0, 1.0] };
    Some(Member {
        channel: Channel::new((0..prior.len()).map(row).collect()).ok()?,
        joint: None,
        copies: 1,
        leakage: leakage(prior.min()),
        prior,
    })
}

fn constant(s: &Setting) -> Option<Member> {
    let skewed = s.prior.clone().filter(|p| p.max() > p.min());
    let prior = skewed.or_else(|| law(&[0.9, 0.1]).ok())?;
    Some(Member {
        channel: Channel::new(vec![vec![1.0]; prior.len()]).ok()?,
        joint: None,
        copies: 1,
        leakage: (prior.max() / prior.min()).ln(),
        prior,
    })
}

/// One of the q copies, q the least with 1/sqrt(q) within the budget.
fn copies(g: &Guarantee, leakage: fn(f64, f64) -> f64) -> Option<Member> {
    // Beyond a million copies the member is no longer worth writing down.
    if g.epsilon() < 1e-3 {
        return None;
    }
    let q = (1.0 / (g.epsilon() * g.epsilon())).ceil().max(1.0);
    let e = (1.0 / q.sqrt()).exp();
    let (keep, flip) = (e / (1.0 + e), 1.0 / (1.0 + e));
    let prior = Distribution::uniform(2);
    Some(Member {
        joint: same(&prior),
        channel: Channel::new(vec![vec![keep, flip], vec![flip, keep]]).ok()?,
        copies: q as usize,
        leakage: leakage(q, e),
        prior,
    })
}
