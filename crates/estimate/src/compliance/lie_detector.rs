//! The stochastic lie detector.

use super::{ComplianceError, Quantity, ReportCells, two_coins};

/// Two groups are asked as Mangat asks: those it is not true of say no with probability p of their group. Those it is true
/// of should say yes, and do so with one unknown probability t.
///
/// P(yes|1) = t and P(yes|0) = 1 - p_g, so the groups' shares λ1 - λ2 = (1 - π)(p2 - p1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LieDetector {
    p: [f64; 2],
}

impl LieDetector {
    /// The probabilities of the two groups.
    pub fn new(first: f64, second: f64) -> Result<Self, ComplianceError> {
        two_coins(first, second)?;
        Ok(Self { p: [first, second] })
    }

    /// The share, and how many of those it is true of say so.
    pub fn estimate(&self, cells: &ReportCells) -> Result<[Quantity; 2], ComplianceError> {
        let [(first, first_variance), (second, second_variance)] = cells.group_shares()?;
        let [p1, p2] = self.p;
        let apart = p2 - p1;
        let others = (first - second) / apart;
        let share = 1.0 - others;
        let share_error = (first_variance + second_variance).sqrt() / apart.abs();
        // t = (λ1 - (1-π)(1-p1))/π, with 1-π = (λ1-λ2)/(p2-p1).
        let told = first - others * (1.0 - p1);
        let truthful = told / share;
        let slope = |of_first: f64, of_others: f64| {
            ((of_first - of_others * (1.0 - p1)) * share + told * of_others) / (share * share)
        };
        let (a, b) = (slope(1.0, 1.0 / apart), slope(0.0, -1.0 / apart));
        let truthful_error = (a * a * first_variance + b * b * second_variance).sqrt();
        Ok([
            Quantity { name: "share", estimate: share, std_error: share_error },
            Quantity { name: "truthful", estimate: truthful, std_error: truthful_error },
        ])
    }

    /// What is supposed, in sentences.
    pub fn assumptions(&self) -> Vec<String> {
        vec![
            "People were put into the two groups at random.".into(),
            "Those the sensitive answer is not true of follow the design: nobody says yes who should say no.".into(),
            "Those it is true of tell the truth with one probability, the same in both groups.".into(),
        ]
    }
}
