//! Mechanisms that release a block of symbols (shape `Incidence`).
//!
//! A coin decides with probability P whether the released block contains the input, and one block of that kind is taken,
//! each as likely as the others. Where any two symbols share equally many blocks, a symbol that is not the input is in the
//! released block with one probability Q, whichever it is. So the number of reports whose block contains a symbol of share s is
//! Binomial(n, Q + (P - Q) s), like the count of one bit of a unary encoding, whatever the other shares are.
//!
//! **Which blocks.** At LDP with odds E, P = f E / (f E + 1 - f) where f is the share of blocks that contain a symbol. In a large
//! family Q is close to f, and f (1 - f) / (P - f)² is least at f = 1 / (E + 1), where it is 4 E / (E - 1)²: what subset selection
//! and optimised unary encoding attain. Any family with blocks of about that share does as well, and a block's number takes log2 k
//! bits or little more where subsets take k. Projective geometries have f near 1/q, too coarse where E + 1 is far from a prime
//! power; classes of a subgroup (`fractions`) make f any d/g (`search.rs`).
//!
//! **With a prior** and claims about belief, `balanced.rs` makes families of its own, with numbers of what they are worth, and
//! `head_tail.rs` treats likely symbols apart.
//!
//! **How much they say.** `limits.rs` derives the bounds from LDP, LIP, DI and claims about a secret. **What the kernel re-checks.** All
//! of them, at the integers that ship, with the unevenness of drawing a block by an index (`coin.rs`).

mod balanced;
mod coin;
mod efficient;
mod head_tail;
mod limits;
mod rates;
mod search;
mod subset;

pub use coin::with_family;
pub use efficient::efficient_variance;
pub use head_tail::HeadTail;
pub(crate) use head_tail::designed as split;
pub use limits::{Limits, Masses};
pub use rates::Rates;
pub use search::{Chosen, Kind, most_symbols, symbol_bits};

use undertone_core::incidence::Family;
use undertone_core::{Policy, Shape};

use super::Mechanism;
use crate::Error;
use crate::designer::{DesignOutcome, DesignProblem, Designed, shaped};

/// Which blocks are released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blocks {
    /// All subsets of the best size.
    Subset,
    /// Numbered blocks of the best geometry of a kind.
    Numbered(Kind),
    /// Listed blocks of nearly equal mass under the prior.
    Balanced,
}

impl Mechanism<DesignProblem> for Blocks {
    type Design = DesignOutcome;

    fn name(&self) -> &'static str {
        match self {
            Self::Subset => "subset",
            Self::Numbered(Kind::Hadamard) => "hadamard",
            Self::Numbered(Kind::Projective) => "projective",
            Self::Numbered(Kind::Hashing) => "hashing",
            Self::Numbered(Kind::Any) => "blocks",
            Self::Balanced => "balanced",
        }
    }

    fn design(&self, problem: &DesignProblem) -> Result<DesignOutcome, Error> {
        designed(problem, *self).map(DesignOutcome::from)
    }
}

/// The best blocks of their kind for the problem's prior, by the predicted error of shares, with the largest coin.
pub(crate) fn designed(problem: &DesignProblem, blocks: Blocks) -> Result<Designed, Error> {
    let chosen = choose(problem, blocks)?;
    let policy = coin::at_ratio(&problem.spec, &chosen.family, chosen.ratio)?;
    let parameters = parameters(&policy);
    shaped(problem, policy, parameters)
}

/// The best blocks of their kind, before the kernel has seen them.
pub fn choose(problem: &DesignProblem, blocks: Blocks) -> Result<Chosen, Error> {
    let limits = Limits::of(&problem.spec);
    match blocks {
        Blocks::Subset => subset::best(&problem.prior, &limits, problem.max_bits),
        Blocks::Numbered(kind) => search::best(&problem.prior, &limits, kind, problem.max_bits),
        Blocks::Balanced => {
            balanced::best(&problem.spec, &problem.prior, &limits, problem.max_bits)
        }
    }
}

/// What a reader wants to know of a family.
fn parameters(policy: &Policy) -> Vec<(&'static str, f64)> {
    let Shape::Incidence(incidence) = policy.draft().shape() else { return Vec::new() };
    let mut found = Vec::new();
    if let Some(rates) = Rates::of(incidence) {
        found.extend([("own", rates.own), ("other", rates.other)]);
    }
    match incidence.family() {
        Family::Subsets(subsets) => found.push(("size", subsets.size() as f64)),
        Family::Geometry(geometry) => found.extend([
            ("order", f64::from(geometry.order())),
            ("dimension", f64::from(geometry.dimension())),
            ("classes", f64::from(geometry.classes())),
            ("cosets", f64::from(geometry.cosets())),
        ]),
        Family::Listed(_) => {}
    }
    found.extend(incidence.blocks().map(|blocks| ("blocks", blocks as f64)));
    found
}
