//! What the policies can and cannot tell apart.

use serde::Serialize;
use undertone_core::Alphabet;

/// Which shares the reports determine, and how strongly noise is amplified on the way back.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Identification {
    /// How many independent numbers the reports determine, out of [`Identification::symbols`].
    pub rank: usize,
    /// How many symbols there are.
    pub symbols: usize,
    /// The ratio of the largest to the smallest non-zero singular value of what is inverted.
    pub condition: f64,
    /// The symbols whose share the reports do not determine.
    pub unidentified: Vec<usize>,
    /// Shifts of the population that change no report's law: each a list of symbols with the amounts
    /// their shares may move together. Cut off after a hundred.
    pub combinations: Vec<Vec<(usize, f64)>>,
}

impl Identification {
    /// At most this many combinations are listed.
    pub(crate) const MOST_COMBINATIONS: usize = 100;

    /// Whether every share is determined.
    pub fn complete(&self) -> bool {
        self.unidentified.is_empty()
    }

    /// Shifts between the first of some symbols and each of the others.
    pub(crate) fn swaps(symbols: &[usize]) -> Vec<Vec<(usize, f64)>> {
        let Some((&first, others)) = symbols.split_first() else { return Vec::new() };
        let pairs = others.iter().map(|&other| vec![(first, 1.0), (other, -1.0)]);
        pairs.take(Self::MOST_COMBINATIONS).collect()
    }
}

/// Above this condition number an estimate says little with any ordinary number of reports.
const POOR: f64 = 1e4;

impl Identification {
    /// What is not determined, and a poor conditioning, in sentences that name the symbols.
    pub fn sentences(&self, inputs: &Alphabet) -> Vec<String> {
        const MOST: usize = 10;
        let mut sentences: Vec<String> =
            self.combinations.iter().take(MOST).map(|shift| name(shift, inputs)).collect();
        if self.combinations.len() > MOST {
            let more = self.combinations.len() - MOST;
            sentences.push(format!("And {more} or more such shifts of other symbols."));
        }
        if self.condition > POOR {
            sentences.push(format!(
                "The policies' channel is poorly conditioned ({:.0e}): some shares are amplified noise unless there are very many reports.",
                self.condition
            ));
        }
        sentences
    }
}

fn name(shift: &[(usize, f64)], inputs: &Alphabet) -> String {
    if let [(a, _), (b, _)] = shift {
        return format!(
            "The reports cannot tell {:?} from {:?}: only their shares together are determined.",
            inputs.label(*a),
            inputs.label(*b)
        );
    }
    let mut parts: Vec<String> = shift
        .iter()
        .take(8)
        .map(|(x, amount)| format!("{:?} by {amount:+.3}", inputs.label(*x)))
        .collect();
    if shift.len() > 8 {
        parts.push(format!("and {} others", shift.len() - 8));
    }
    format!("The reports stay the same when these shares move together: {}.", parts.join(", "))
}
