//! One figure or table of a paper, and what it runs in.

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;

use crate::data::{DataFile, DataFolder};
use crate::{Error, Kind, Outcome};

/// Whose figure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Paper {
    /// Context-Aware Local Information Privacy.
    Jstl21,
    /// Context-aware Data Aggregation with Localized Information Privacy.
    Jlt18,
    /// Context Aware Laplacian Mechanism for Local Information Privacy.
    Stl19,
    /// On the Relationship Between Inference and Data Privacy in Decentralized IoT Networks.
    St20,
    /// Asymmetric Local Information Privacy and the Watchdog Mechanism.
    Zds22,
    /// Questions of our own.
    Ours,
}

impl Paper {
    /// Every paper, in the order of the report.
    pub const ALL: [Self; 6] =
        [Self::Jstl21, Self::Jlt18, Self::Stl19, Self::St20, Self::Zds22, Self::Ours];

    /// The key used in keys of experiments and in docs/papers.md.
    pub fn key(self) -> &'static str {
        match self {
            Self::Jstl21 => "JSTL21",
            Self::Jlt18 => "JLT18",
            Self::Stl19 => "STL19",
            Self::St20 => "ST20",
            Self::Zds22 => "ZDS22",
            Self::Ours => "Ours",
        }
    }

    /// Title and year.
    pub fn name(self) -> &'static str {
        match self {
            Self::Jstl21 => "Context-Aware Local Information Privacy (2021)",
            Self::Jlt18 => {
                "Context-aware Data Aggregation with Localized Information Privacy (2018)"
            }
            Self::Stl19 => "Context Aware Laplacian Mechanism for Local Information Privacy (2019)",
            Self::St20 => {
                "On the Relationship Between Inference and Data Privacy in Decentralized IoT Networks (2020)"
            }
            Self::Zds22 => "Asymmetric Local Information Privacy and the Watchdog Mechanism (2022)",
            Self::Ours => "What the corrected mechanisms buy, and what they do not",
        }
    }

    /// The title in a few words, and the year.
    pub fn short(self) -> &'static str {
        match self {
            Self::Jstl21 => "Context-Aware Privacy (2021)",
            Self::Jlt18 => "Data Aggregation (2018)",
            Self::Stl19 => "Laplacian Mechanism (2019)",
            Self::St20 => "IoT Networks (2020)",
            Self::Zds22 => "Watchdog Mechanism (2022)",
            Self::Ours => "Questions of ours",
        }
    }

    /// Who wrote it.
    pub fn authors(self) -> &'static str {
        match self {
            Self::Jstl21 => "B. Jiang, M. Seif, R. Tandon, M. Li",
            Self::Jlt18 => "B. Jiang, M. Li, R. Tandon",
            Self::Stl19 => "M. Seif, R. Tandon, M. Li",
            Self::St20 => "M. Sun, W. P. Tay",
            Self::Zds22 => "M. A. Zarrabian, N. Ding, P. Sadeghi",
            Self::Ours => {
                "Questions that the papers leave open, answered with the mechanisms of this repository"
            }
        }
    }

    /// The errata page, as Markdown; our own questions have none.
    pub fn errata(self) -> Option<&'static str> {
        match self {
            Self::Jstl21 => Some(include_str!("../errata/jstl21.md")),
            Self::Jlt18 => Some(include_str!("../errata/jlt18.md")),
            Self::Stl19 => Some(include_str!("../errata/stl19.md")),
            Self::St20 => Some(include_str!("../errata/st20.md")),
            Self::Zds22 => Some(include_str!("../errata/zds22.md")),
            Self::Ours => None,
        }
    }
}

/// One figure or table.
pub struct Experiment {
    /// As on the command line: `jstl21-fig-4`.
    pub key: &'static str,
    /// Whose it is.
    pub paper: Paper,
    /// `Figure 4: four notions on a binary channel`.
    pub title: &'static str,
    /// The data files it reads.
    pub data: &'static [DataFile],
    /// Runs it.
    pub run: fn(&Context) -> Result<Outcome, Error>,
}

impl Experiment {
    /// Runs it. The claims of our own questions are ours.
    pub fn outcome(&self, context: &Context) -> Result<Outcome, Error> {
        let mut outcome = (self.run)(context)?;
        if self.paper == Paper::Ours {
            outcome.claims.iter_mut().for_each(|claim| claim.kind = Kind::Ours);
        }
        Ok(outcome)
    }
}

/// What an experiment runs in.
#[derive(Debug, Clone)]
pub struct Context {
    /// Where the data files are.
    pub data: DataFolder,
    /// Fewer draws and coarser grids; every claim is still tested.
    pub quick: bool,
}

impl Context {
    /// One of two sizes.
    pub fn pick<T>(&self, quick: T, full: T) -> T {
        if self.quick { quick } else { full }
    }

    /// The random stream of that number: the same in every run on every machine.
    pub fn stream(&self, number: u64) -> ChaCha12Rng {
        ChaCha12Rng::seed_from_u64(number)
    }
}
