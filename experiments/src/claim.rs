//! One sentence or number of a paper, and what became of it here.

use serde::{Deserialize, Serialize};

/// Who says it, and what testing it means.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A sentence, formula or number of a paper, tested by computing what it speaks of.
    #[default]
    Paper,
    /// Ours: about what this repository adds, or a number of our own study.
    Ours,
    /// A paper's, but nothing was computed anew: arithmetic on its printed numbers, or a question to our own
    /// table of rules.
    Arithmetic,
}

impl Kind {
    /// Every kind, in the order of the report.
    pub const ALL: [Self; 3] = [Self::Paper, Self::Ours, Self::Arithmetic];

    /// For tables and programs.
    pub fn slug(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Ours => "ours",
            Self::Arithmetic => "arithmetic",
        }
    }
}

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
    /// What is claimed rests on something the text leaves undefined.
    IllDefined,
    /// There is a counterexample.
    False,
}

impl Verdict {
    /// The slugs of all verdicts, in the order of the report.
    pub const SLUGS: [&str; 5] =
        ["reproduced", "only-with-printed-formula", "not-reproducible", "ill-defined", "false"];

    /// For people.
    pub fn words(&self) -> String {
        match self {
            Self::Reproduced => "reproduced".into(),
            Self::OnlyWithPrintedFormula { leaks } => {
                format!("reproduced only with the printed formula, which leaks {leaks}")
            }
            Self::NotReproducible => "not reproducible".into(),
            Self::IllDefined => "ill-defined".into(),
            Self::False => "false".into(),
        }
    }

    /// For tables, style sheets and programs.
    pub fn slug(&self) -> &'static str {
        match self {
            Self::Reproduced => "reproduced",
            Self::OnlyWithPrintedFormula { .. } => "only-with-printed-formula",
            Self::NotReproducible => "not-reproducible",
            Self::IllDefined => "ill-defined",
            Self::False => "false",
        }
    }
}

/// A paper's claim beside ours.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Names the claim within its experiment and stays when others come or go. Made of the first words of
    /// `paper_says` unless it was given.
    pub id: String,
    /// Who says it.
    pub kind: Kind,
    /// Whether it could not have come out otherwise: true by definition or by construction.
    pub tautology: bool,
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
            id: String::new(),
            kind: Kind::Paper,
            tautology: false,
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

    /// A name of its own, for a claim that other pages point to or whose words hold numbers of the run.
    pub fn id(mut self, id: impl Into<String>) -> Self {
        self.id = id.into();
        self
    }

    /// Not a paper's claim but ours.
    pub fn ours(mut self) -> Self {
        self.kind = Kind::Ours;
        self
    }

    /// Nothing was computed anew: arithmetic on printed numbers, or a question to our own table of rules.
    pub fn arithmetic(mut self) -> Self {
        self.kind = Kind::Arithmetic;
        self
    }

    /// It could not have come out otherwise.
    pub fn tautology(mut self) -> Self {
        self.tautology = true;
        self
    }

    /// Why the verdict is what it is, whichever it is.
    pub fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = reason.into();
        self
    }

    /// Why it came out as printed; said only if it did.
    pub fn because_it_holds(self, reason: impl Into<String>) -> Self {
        if self.verdict == Verdict::Reproduced { self.because(reason) } else { self }
    }

    /// Why it did not come out as printed; said only if it did not.
    pub fn because_it_fails(self, reason: impl Into<String>) -> Self {
        if self.verdict == Verdict::Reproduced { self } else { self.because(reason) }
    }

    /// A claim that failed, but not by a counterexample: the text does not fix or does not give it.
    pub fn or_not_reproducible(mut self) -> Self {
        if self.verdict == Verdict::False {
            self.verdict = Verdict::NotReproducible;
        }
        self
    }

    /// A claim that failed, but not by a counterexample: it rests on something the text leaves undefined.
    pub fn or_ill_defined(mut self) -> Self {
        if self.verdict == Verdict::False {
            self.verdict = Verdict::IllDefined;
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

    /// The name made of the first words of what is claimed.
    pub(crate) fn id_from_words(&self) -> String {
        let mut id = String::new();
        for word in words(&self.paper_says) {
            if !id.is_empty() && id.len() + word.len() >= LONGEST_ID {
                break;
            }
            if !id.is_empty() {
                id.push('-');
            }
            id.push_str(&word);
        }
        id
    }

    /// The paper's number, or the words for its absence.
    pub fn paper_number_words(&self) -> &str {
        self.paper_number.as_deref().unwrap_or(NO_NUMBER)
    }
}

/// A name made of words ends before this many letters.
const LONGEST_ID: usize = 56;

/// The words of a sentence in plain letters and digits.
fn words(sentence: &str) -> Vec<String> {
    let mut plain = String::new();
    for character in sentence.chars() {
        match character {
            'ε' => plain.push_str("epsilon"),
            'δ' => plain.push_str("delta"),
            'λ' => plain.push_str("lambda"),
            'ξ' => plain.push_str("xi"),
            'ν' => plain.push_str("nu"),
            '₀'..='₉' => {
                plain.extend(char::from_digit(character as u32 - '₀' as u32, 10));
            }
            '\'' | '’' => {}
            c if c.is_ascii_alphanumeric() => plain.push(c.to_ascii_lowercase()),
            _ => plain.push(' '),
        }
    }
    plain.split_whitespace().map(str::to_owned).collect()
}

/// The numbers in a text, and the text with `#` in their places.
pub fn decimals(text: &str) -> (String, Vec<f64>) {
    let (mut words, mut numbers) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = number_length(rest);
        match rest[..length].parse() {
            Ok(number) => {
                numbers.push(number);
                words.push('#');
                rest = &rest[length..];
            }
            Err(_) => {
                words.push(first);
                rest = &rest[first.len_utf8()..];
            }
        }
    }
    (words, numbers)
}

/// How many bytes of a text's beginning are a number: `12`, `.5`, `1.25e-4`.
fn number_length(text: &str) -> usize {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut length = digits(text);
    if text[length..].starts_with('.') {
        let more = digits(&text[length + 1..]);
        if more > 0 {
            length += 1 + more;
        }
    }
    if length > 0
        && let Some(exponent) = text[length..].strip_prefix('e')
    {
        let sign = usize::from(exponent.starts_with(['-', '+']));
        let more = digits(&exponent[sign..]);
        if more > 0 {
            length += 1 + sign + more;
        }
    }
    length
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
        assert_eq!(failed.clone().or_not_reproducible().verdict, Verdict::NotReproducible);
        assert_eq!(failed.clone().or_ill_defined().verdict, Verdict::IllDefined);
        assert_eq!(failed.clone().because("a").because_it_holds("b").reason, "a");
        assert_eq!(failed.because("a").because_it_fails("b").reason, "b");
        let held = Claim::tested("t", "o", "x > y", true);
        assert_eq!(held.paper_number_words(), NO_NUMBER);
        assert_eq!(held.clone().or_ill_defined().verdict, Verdict::Reproduced);
        assert_eq!(held.clone().because_it_holds("b").because_it_fails("a").reason, "b");
        assert!(held.only_printed("2 nats").verdict.words().contains("which leaks 2 nats"));
    }

    #[test]
    fn names_are_made_of_words() {
        let name = |says: &str| Claim::tested(says, "o", "t", true).id_from_words();
        assert_eq!(name("P₁ = .01: the paper's ε/2-LIP"), "p1-01-the-papers-epsilon-2-lip");
        assert!(name(&"word ".repeat(40)).len() <= LONGEST_ID);
        assert_eq!(words("(19), \"σ\""), ["19"]);
    }

    #[test]
    fn numbers_are_found_in_texts() {
        let (words, numbers) = decimals("at .5 of 21 levels; ε = 1.5e-3, λ₂ and (26).");
        assert_eq!(words, "at # of # levels; ε = #, λ₂ and (#).");
        assert_eq!(numbers, [0.5, 21.0, 1.5e-3, 26.0]);
        assert_eq!(decimals("e5 .. 2e").0, "e# .. #e");
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
