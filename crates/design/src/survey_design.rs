//! Classical randomised-response designs for a yes/no question, as interviewers run them with coins, cards and dice.
//!
//! Each is two numbers, P(yes|1) and P(yes|0): how often "yes" is reported by people for whom the sensitive answer is
//! true and by people for whom it is not. What a design asks of a respondent does not matter to an estimate; the two
//! numbers do, so designs with the same two are one policy.

use undertone_core::{MASS_ONE, Shape, Table};

use crate::{Error, to_floats};

/// Parts of a forced response that sum to one within this are taken to do so.
const SUM_TOLERANCE: f64 = 1e-9;

/// A classical design with its parameters, which are in range and tell the two answers apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SurveyDesign {
    /// Warner: with probability p "is it true of you?", else "is it not true of you?".
    Warner {
        /// How often the sensitive question is asked as it is.
        p: f64,
    },
    /// Forced response: the truth, a forced yes or a forced no, with unconditional probabilities that sum to one.
    Forced {
        /// How often the truth is told.
        truth: f64,
        /// How often "yes" is said whatever is true.
        yes: f64,
        /// How often "no" is said whatever is true.
        no: f64,
    },
    /// Unrelated question: with probability p the sensitive question, else one whose share of yes is known.
    Unrelated {
        /// How often the sensitive question is answered.
        p: f64,
        /// The share of yes to the unrelated question.
        alpha: f64,
    },
    /// Kuk: a card from one pack of cards or another, depending on the truth; its colour is reported.
    Kuk {
        /// The share of "yes" cards in the pack of those for whom it is true.
        p1: f64,
        /// The share of "yes" cards in the other pack.
        p2: f64,
    },
    /// Crosswise: "yes" is "both or neither of the two statements is true", where p is the share of the known statement.
    Crosswise {
        /// The share of people for whom the known statement is true.
        p: f64,
    },
    /// Triangular: "yes" is "at least one of the two statements is true", where p is the share of the known statement.
    Triangular {
        /// The share of people for whom the known statement is true.
        p: f64,
    },
    /// Mangat: those for whom it is true say so; the others are asked as Warner asks, with p for the sensitive question.
    Mangat {
        /// How often those for whom it is not true are asked the sensitive question as it is.
        p: f64,
    },
}

impl SurveyDesign {
    /// The names of the designs with what their numbers are, as they are asked for.
    pub const FORMS: [&'static str; 7] = [
        "warner:P",
        "forced:P,P1,P0",
        "unrelated:P,ALPHA",
        "kuk:P1,P2",
        "crosswise:P",
        "triangular:P",
        "mangat:P",
    ];

    /// The design of this name with these parameters; `None` for a name of none.
    pub fn named(name: &str, numbers: &[f64]) -> Option<Result<Self, Error>> {
        let form = Self::FORMS.into_iter().find(|form| form.split(':').next() == Some(name))?;
        let design = match (name, numbers) {
            ("warner", &[p]) => Self::Warner { p },
            ("forced", &[truth, yes, no]) => Self::Forced { truth, yes, no },
            ("unrelated", &[p, alpha]) => Self::Unrelated { p, alpha },
            ("kuk", &[p1, p2]) => Self::Kuk { p1, p2 },
            ("crosswise", &[p]) => Self::Crosswise { p },
            ("triangular", &[p]) => Self::Triangular { p },
            ("mangat", &[p]) => Self::Mangat { p },
            _ => {
                let problem = format!("{} numbers: write {form}", numbers.len());
                return Some(Err(Error::other(name, problem)));
            }
        };
        Some(design.checked())
    }

    /// Refuses parameters out of range, and those under which both groups of people answer alike.
    fn checked(self) -> Result<Self, Error> {
        let name = self.name();
        let open = |what: &str, value: f64| match value > 0.0 && value < 1.0 {
            true => Ok(()),
            false => Err(Error::range(format!("{name}: {what}"), value, "above 0 and below 1")),
        };
        let closed = |what: &str, value: f64| match (0.0..=1.0).contains(&value) {
            true => Ok(()),
            false => Err(Error::range(format!("{name}: {what}"), value, "from 0 to 1")),
        };
        match self {
            Self::Warner { p }
            | Self::Crosswise { p }
            | Self::Triangular { p }
            | Self::Mangat { p } => {
                open("P", p)?;
            }
            Self::Forced { truth, yes, no } => {
                open("P", truth)?;
                closed("P1", yes)?;
                closed("P0", no)?;
                let sum = truth + yes + no;
                if (sum - 1.0).abs() > SUM_TOLERANCE {
                    let problem = format!(
                        "P, P1 and P0 sum to {}: they are unconditional (truth, forced yes, forced no) and sum to 1",
                        (sum * 1e12).round() / 1e12
                    );
                    return Err(Error::other(name, problem));
                }
            }
            Self::Unrelated { p, alpha } => {
                open("P", p)?;
                closed("ALPHA", alpha)?;
            }
            Self::Kuk { p1, p2 } => {
                open("P1", p1)?;
                open("P2", p2)?;
            }
        }
        let [no, yes] = self.yes_units();
        if no == yes {
            let problem = "people report \"yes\" equally often whatever is true, so the channel is singular and reports say nothing";
            let fix = match self {
                Self::Kuk { .. } => "give P1 and P2 that differ",
                _ => "give a P that is not 0.5",
            };
            return Err(Error::other(name, format!("{problem}: {fix}")));
        }
        Ok(self)
    }

    /// The name people ask for it by.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Warner { .. } => "warner",
            Self::Forced { .. } => "forced",
            Self::Unrelated { .. } => "unrelated",
            Self::Kuk { .. } => "kuk",
            Self::Crosswise { .. } => "crosswise",
            Self::Triangular { .. } => "triangular",
            Self::Mangat { .. } => "mangat",
        }
    }

    /// P(yes|0) and P(yes|1): how often "yes" is reported where the sensitive answer is not true, and where it is.
    pub fn yes(&self) -> [f64; 2] {
        match *self {
            Self::Warner { p } | Self::Crosswise { p } => [1.0 - p, p],
            Self::Forced { truth, yes, .. } => [yes, truth + yes],
            Self::Unrelated { p, alpha } => [(1.0 - p) * alpha, p + (1.0 - p) * alpha],
            Self::Kuk { p1, p2 } => [p2, p1],
            Self::Triangular { p } => [p, 1.0],
            Self::Mangat { p } => [1.0 - p, 1.0],
        }
    }

    /// [`SurveyDesign::yes`] in units of 2^-48, each the nearest integer.
    fn yes_units(&self) -> [u64; 2] {
        self.yes().map(|share| (share.clamp(0.0, 1.0) * MASS_ONE as f64).round() as u64)
    }

    /// The channel in integers: rows for "no" and "yes", and outputs in the same order.
    pub fn shape(&self) -> Result<Shape, Error> {
        let rows = self.yes_units().map(|yes| vec![MASS_ONE - yes, yes]).to_vec();
        let table = Table::from_masses(rows);
        table.map(Shape::Table).map_err(|error| Error::other(self.name(), error.to_string()))
    }

    /// Every classical design that has this channel, with the parameters that give it; none unless there are two inputs and
    /// two outputs.
    pub fn all_of(shape: &Shape) -> Vec<Self> {
        let small = (shape.inputs(), shape.outputs()) == (2, 2) && !shape.releases_bits();
        let Some(channel) = small.then(|| to_floats::channel(shape).ok()).flatten() else {
            return Vec::new();
        };
        let (no, yes) = (channel.q(0, 1), channel.q(1, 1));
        // Parameters are read to a multiple of 10^-12, far coarser than the integers.
        let plain = |value: f64| (value * 1e12).round() / 1e12;
        let truth = yes - no;
        let candidates = [
            Self::Warner { p: plain(yes) },
            Self::Crosswise { p: plain(yes) },
            Self::Forced { truth: plain(truth), yes: plain(no), no: plain(1.0 - yes) },
            Self::Unrelated { p: plain(truth), alpha: plain(no / (1.0 - truth)) },
            Self::Kuk { p1: plain(yes), p2: plain(no) },
            Self::Triangular { p: plain(no) },
            Self::Mangat { p: plain(1.0 - no) },
        ];
        let near = |a: f64, b: f64| (a - b).abs() < 1e-11;
        let same = |design: &Self| {
            let [a, b] = design.yes();
            near(a, no) && near(b, yes)
        };
        let found = candidates.into_iter().filter_map(|design| design.checked().ok());
        found.filter(same).collect()
    }

    /// What respondents do under this design, in one sentence; `yes` and `no` are the names of the answers.
    pub fn explained(&self, no: &str, yes: &str) -> String {
        match *self {
            Self::Warner { p } => format!(
                "Warner ({}): with probability {p} a person says whether {yes:?} is true of them, otherwise whether it is not.",
                self.text()
            ),
            Self::Forced { truth, yes: forced_yes, no: forced_no } => format!(
                "Forced response ({}): a person tells the truth with probability {truth}, says {yes:?} whatever is true with {forced_yes} and {no:?} with {forced_no}.",
                self.text()
            ),
            Self::Unrelated { p, alpha } => format!(
                "Unrelated question ({}): with probability {p} a person answers the sensitive question, otherwise one to which a share of {alpha} say {yes:?}.",
                self.text()
            ),
            Self::Kuk { p1, p2 } => format!(
                "Kuk's cards ({}): where {yes:?} is true the card drawn says {yes:?} with probability {p1}, otherwise with {p2}.",
                self.text()
            ),
            Self::Crosswise { p } => format!(
                "Crosswise ({}): a person says {yes:?} if both or neither of two statements are true, the sensitive one and one that is true of a share of {p}.",
                self.text()
            ),
            Self::Triangular { p } => format!(
                "Triangular ({}): a person says {yes:?} if at least one of two statements is true, the sensitive one or one that is true of a share of {p}; {no:?} tells for certain that it is not.",
                self.text()
            ),
            Self::Mangat { p } => format!(
                "Mangat ({}): where {yes:?} is true a person says so; otherwise with probability {p} they say {no:?} and else {yes:?}; {no:?} tells for certain that it is not.",
                self.text()
            ),
        }
    }

    /// The design as it is asked for, such as `warner:0.75`.
    pub fn text(&self) -> String {
        let numbers = match *self {
            Self::Warner { p }
            | Self::Crosswise { p }
            | Self::Triangular { p }
            | Self::Mangat { p } => {
                vec![p]
            }
            Self::Forced { truth, yes, no } => vec![truth, yes, no],
            Self::Unrelated { p, alpha } => vec![p, alpha],
            Self::Kuk { p1, p2 } => vec![p1, p2],
        };
        let numbers: Vec<String> = numbers.iter().map(ToString::to_string).collect();
        format!("{}:{}", self.name(), numbers.join(","))
    }
}
