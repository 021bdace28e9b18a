//! Cheater detection.

use super::{ComplianceError, Quantity, ReportCells, two_coins};

/// Two groups get a forced response: yes with probability p of their group whatever is true, else the truth. Cheaters say no
/// whatever the coin says.
///
/// With π honest people it is true of and β honest people it is not, λ_g = π + β p_g; the rest, 1 - π - β, cheat.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CheaterDetection {
    p: [f64; 2],
}

impl CheaterDetection {
    /// The probabilities of a forced yes in the two groups.
    pub fn new(first: f64, second: f64) -> Result<Self, ComplianceError> {
        two_coins(first, second)?;
        Ok(Self { p: [first, second] })
    }

    /// Honest people it is true of, honest people it is not true of, and cheaters, of whom nothing is known: the share that is
    /// wanted lies between the first and the first and third together.
    pub fn estimate(&self, cells: &ReportCells) -> Result<[Quantity; 3], ComplianceError> {
        let [(first, first_variance), (second, second_variance)] = cells.group_shares()?;
        let [p1, p2] = self.p;
        let apart = p2 - p1;
        let linear = |name: &'static str, constant: f64, a: f64, b: f64| Quantity {
            name,
            estimate: constant + a * first + b * second,
            std_error: (a * a * first_variance + b * b * second_variance).sqrt(),
        };
        let (yes_1, yes_2) = (p2 / apart, -p1 / apart);
        let (no_1, no_2) = (-1.0 / apart, 1.0 / apart);
        Ok([
            linear("honest_yes", 0.0, yes_1, yes_2),
            linear("honest_no", 0.0, no_1, no_2),
            linear("cheaters", 1.0, -yes_1 - no_1, -yes_2 - no_2),
        ])
    }

    /// What is supposed, in sentences.
    pub fn assumptions(&self) -> Vec<String> {
        vec![
            "People were put into the two groups at random.".into(),
            "Cheaters say no whatever the coin says, as many in both groups; everybody else follows the design.".into(),
            "Of cheaters nothing is known: the share lies between honest_yes and honest_yes + cheaters.".into(),
        ]
    }
}
