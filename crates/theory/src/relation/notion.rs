//! The privacy notions of the five papers, by their short names.

use std::fmt;
use std::str::FromStr;

use undertone_design::Error;

/// A privacy notion: what a guarantee bounds. The short names are those of the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Notion {
    /// Likelihood ratio between any two inputs (per sensor in a network).
    Ldp,
    /// Posterior over prior of every input, both sides.
    Lip,
    /// Posterior over prior of every input, with separate budgets for the two sides.
    Alip,
    /// LIP for every prior of a given set.
    Bplip,
    /// LIP for every prior.
    Wclip,
    /// Posterior over prior, upper side only (max-lift).
    Pml,
    /// Posterior odds between two inputs, on singletons.
    Di,
    /// Mutual information I(X;Y).
    Mip,
    /// Maximal leakage.
    Mil,
    /// Sibson's mutual information of order α.
    Sibson,
    /// Arimoto's mutual information of order α.
    Arimoto,
    /// The logarithm of the α-lift, worst output.
    Alphalift,
    /// Likelihood ratio between neighbouring values of the private hypothesis G.
    Infdp,
    /// Mutual information I(G;Z).
    Avgleak,
    /// Posterior over prior of the private hypothesis G, both sides.
    Infp,
    /// Mutual information I(X;Z) of all sensors' data.
    Mipx,
    /// Posterior odds between neighbouring data vectors of all sensors.
    Ident,
}

/// Whose secret a notion protects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// One datum X released as Y (one person, or one sensor of a network).
    Datum,
    /// The private hypothesis G behind the sensors' data.
    Hypothesis,
    /// The data of all sensors together.
    Network,
}

impl Notion {
    /// Every notion, in the order they are listed to people.
    pub const ALL: [Self; 17] = [
        Self::Ldp,
        Self::Lip,
        Self::Alip,
        Self::Bplip,
        Self::Wclip,
        Self::Pml,
        Self::Di,
        Self::Mip,
        Self::Mil,
        Self::Sibson,
        Self::Arimoto,
        Self::Alphalift,
        Self::Infdp,
        Self::Avgleak,
        Self::Infp,
        Self::Mipx,
        Self::Ident,
    ];

    /// The short name, as typed on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ldp => "ldp",
            Self::Lip => "lip",
            Self::Alip => "alip",
            Self::Bplip => "bplip",
            Self::Wclip => "wclip",
            Self::Pml => "pml",
            Self::Di => "di",
            Self::Mip => "mip",
            Self::Mil => "mil",
            Self::Sibson => "sibson",
            Self::Arimoto => "arimoto",
            Self::Alphalift => "alphalift",
            Self::Infdp => "infdp",
            Self::Avgleak => "avgleak",
            Self::Infp => "infp",
            Self::Mipx => "mipx",
            Self::Ident => "ident",
        }
    }

    /// What is bounded, in one line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Ldp => "likelihood ratio between any two inputs (of each sensor)",
            Self::Lip => "posterior over prior of every input, both sides",
            Self::Alip => "posterior over prior, a budget for each side: lower,upper",
            Self::Bplip => "lip for every prior of a set",
            Self::Wclip => "lip for every prior (the same as ldp)",
            Self::Pml => "posterior over prior, upper side only (max-lift)",
            Self::Di => "posterior odds between two inputs, on singletons",
            Self::Mip => "mutual information I(X;Y)",
            Self::Mil => "maximal leakage",
            Self::Sibson => "Sibson mutual information of order alpha",
            Self::Arimoto => "Arimoto mutual information of order alpha",
            Self::Alphalift => "logarithm of the alpha-lift of the worst output",
            Self::Infdp => "likelihood ratio between neighbouring private hypotheses",
            Self::Avgleak => "mutual information I(G;Z) with the private hypothesis",
            Self::Infp => "posterior over prior of the private hypothesis, both sides",
            Self::Mipx => "mutual information I(X;Z) with all sensors' data",
            Self::Ident => "posterior odds between neighbouring data vectors",
        }
    }

    /// The paper and number of the notion's definition.
    pub fn paper(self) -> &'static str {
        match self {
            Self::Ldp => "JSTL21 Def 1, JLT18 Def 1, STL19 Def 1, ST20 Def 2",
            Self::Lip => "JSTL21 Def 5, JLT18 Def 3, STL19 Def 3",
            Self::Alip => "ZDS22 Def 1",
            Self::Bplip | Self::Wclip => "JSTL21 Def 6",
            Self::Pml => "arXiv 2310.07381",
            Self::Di => "JSTL21 Def 3",
            Self::Mip => "JSTL21 Def 2, JLT18 Def 2",
            Self::Mil => "JSTL21 Def 4",
            Self::Arimoto => "ZDS22 Def 3",
            Self::Sibson => "ZDS22 Def 4",
            Self::Alphalift => "ZDS22 Def 5",
            Self::Infdp | Self::Avgleak | Self::Infp => "ST20 Def 1",
            Self::Mipx | Self::Ident => "ST20 Def 2",
        }
    }

    /// Whose secret it protects.
    pub fn subject(self) -> Subject {
        match self {
            Self::Infdp | Self::Avgleak | Self::Infp => Subject::Hypothesis,
            Self::Mipx | Self::Ident => Subject::Network,
            _ => Subject::Datum,
        }
    }

    /// Whether a δ may be added to its ε.
    pub fn has_delta(self) -> bool {
        matches!(self, Self::Ldp | Self::Lip | Self::Alip | Self::Bplip | Self::Wclip)
    }

    /// Whether it bounds an average over outputs; the others bound every single output.
    pub fn is_average(self) -> bool {
        matches!(
            self,
            Self::Mip | Self::Mil | Self::Sibson | Self::Arimoto | Self::Avgleak | Self::Mipx
        )
    }

    /// Whether it counts symbols that never occur: their likelihoods bound it like any other's. The averages,
    /// and the α-lift, see only the support.
    pub fn counts_massless(self) -> bool {
        !self.is_average() && self != Self::Alphalift
    }

    /// Whether it needs an order α.
    pub fn needs_alpha(self) -> bool {
        matches!(self, Self::Sibson | Self::Arimoto | Self::Alphalift)
    }
}

impl fmt::Display for Notion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Notion {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::ALL.into_iter().find(|notion| notion.name() == text).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|notion| notion.name()).collect();
            Error::other("notion", format!("{text:?} is unknown; use one of {}", names.join(", ")))
        })
    }
}
