//! One sentence or number of a paper, and what became of it here.

use serde::{Deserialize, Serialize};

/// What a claim turned out to be worth.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "word")]
pub enum Verdict {
    /// It came out as printed.
    Reproduced,
    /// It comes out only with the printed formula, which leaks more than it claims.
    OnlyWithPrintedFormula {
        /// What that formula truly leaks, in words with numbers.
        leaks: String,
    },
    /// The text does not say enough to redo it, or what it says does not give it.
    NotReproducible,
    /// There is a counterexample.
    False,
}

impl Verdict {
    /// For people.
    pub fn words(&self) -> String {
        match self {
            Self::Reproduced => "reproduced".into(),
            Self::OnlyWithPrintedFormula { leaks } => {
                format!("reproduced only with the printed formula, which leaks {leaks}")
            }
            Self::NotReproducible => "not reproducible".into(),
            Self::False => "false".into(),
        }
    }

    /// For tables, style sheets and programs.
    pub fn slug(&self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::OnlyWithPrintedFormula { .. } => "only-with-printed-formula",
            Self::NotReproducible => "not-reproducible",
            Self::False => "false",
        }
    }
}

/// A paper's claim beside ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// What the paper says, in our words.
    pub paper_says: String,
    /// The number its text gives, if it gives one.
    pub paper_number: Option<String>,
    /// What came out here.
    pub ours: String,
    /// How far apart the two may be, or what was tested.
    pub tolerance: String,
    /// What follows.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
}

/// Shown where the paper's text gives no number.
pub const NO_NUMBER: &str = "no number printed";

impl Claim {
    /// A claim whose truth was tested on the numbers of this run: reproduced if `holds`, else false.
    /// `tested` says what `holds` compared.
    pub fn tested(
        paper_says: impl Into<String>,
        ours: impl Into<String>,
        tested: impl Into<String>,
        holds: bool,
    ) -> Self {
        Self {
            paper_says: paper_says.into(),
            paper_number: None,
            ours: ours.into(),
            tolerance: tested.into(),
            verdict: if holds { Verdict::Reproduced } else { Verdict::False },
            reason: String::new(),
        }
    }

    /// A number the paper prints, against ours: reproduced if they differ by at most `tolerance`.
    /// NaN is never reproduced.
    pub fn number(paper_says: impl Into<String>, paper: f64, ours: f64, tolerance: f64) -> Self {
        let holds = (paper - ours).abs() <= tolerance;
        let claim =
            Self::tested(paper_says, short(ours), format!("within {}", short(tolerance)), holds);
        claim.printed(short(paper))
    }

    /// The number or numbers the paper's text gives.
    pub fn printed(mut self, number: impl Into<String>) -> Self {
        self.paper_number = Some(number.into());
        self
    }

    /// Why the verdict is what it is.
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }

    /// A claim that failed, but not by a counterexample: the text does not fix or does not give it.
    pub fn or_not_reproducible(mut self) -> Self {
        if self.verdict == Verdict::False {
            self.verdict = Verdict::NotReproducible;
        }
        self
    }

    /// A claim that holds only for a printed formula. `leaks` says what that formula truly leaks; the
    /// verdict changes only if the claim held in the first place.
    pub fn only_printed(mut self, leaks: impl Into<String>) -> Self {
        if self.verdict == Verdict::Reproduced {
            self.verdict = Verdict::OnlyWithPrintedFormula { leaks: leaks.into() };
        }
        self
    }

    /// The paper's number, or the words for its absence.
    pub fn paper_number_words(&self) -> &str {
        self.paper_number.as_deref().unwrap_or(NO_NUMBER)
    }
}

/// A number for people: four significant digits, no trailing zeros.
pub fn short(value: f64) -> String {
    if value.is_nan() {
        return "undefined".into();
    }
    if value.is_infinite() {
        return if value > 0.0 { "unbounded".into() } else { "-unbounded".into() };
    }
    if value == 0.0 {
        return "0".into();
    }
    let exponent = value.abs().log10().floor() as i32;
    if !(-4..7).contains(&exponent) {
        return format!("{value:.3e}");
    }
    let digits = (3 - exponent).clamp(0, 12) as usize;
    let text = format!("{value:.digits$}");
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_follow_from_the_numbers() {
        assert_eq!(Claim::number("n", 1.0, 1.004, 0.005).verdict, Verdict::Reproduced);
        assert_eq!(Claim::number("n", 1.0, 1.006, 0.005).verdict, Verdict::False);
        assert_eq!(Claim::number("n", 1.0, f64::NAN, 0.005).verdict, Verdict::False);
        let failed = Claim::tested("t", "o", "x > y", false);
        assert_eq!(failed.clone().only_printed("2 nats").verdict, Verdict::False);
        assert_eq!(failed.or_not_reproducible().verdict, Verdict::NotReproducible);
        let held = Claim::tested("t", "o", "x > y", true);
        assert_eq!(held.paper_number_words(), NO_NUMBER);
        assert!(held.only_printed("2 nats").verdict.words().contains("which leaks 2 nats"));
    }

    #[test]
    fn numbers_are_short() {
        let cases =
            [(1.90047, "1.9"), (0.0123456, "0.01235"), (1e-9, "1.000e-9"), (1232.4, "1232")];
        for (value, text) in cases {
            assert_eq!(short(value), text);
        }
        assert_eq!(short(f64::INFINITY), "unbounded");
    }
}
