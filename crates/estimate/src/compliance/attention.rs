//! The crosswise model with an attention question.

use super::{ComplianceError, Quantity, ReportCells, inside};

/// Attentive people closer to none than this give no correction.
const LEAST_ATTENTIVE: f64 = 1e-3;

/// A crosswise question and a second one of the same form whose sensitive statement is true of nobody. People who do not attend
/// answer both at random, half of them yes; how far the second is from what attentive people would say tells how many they are.
///
/// "Yes" is "both or neither is true". With p and p' the shares of the known statements, λ the share of yes and a that of the
/// attention question, attentive are γ = (a - ½)/(½ - p') and the corrected share is ½ + (λ - ½)/(2γ(p - ½)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AttentiveCrosswise {
    p: f64,
    attention: f64,
}

impl AttentiveCrosswise {
    /// The shares of the known statements of the question and of the attention question.
    pub fn new(p: f64, attention: f64) -> Result<Self, ComplianceError> {
        inside("P", p)?;
        inside("P' of the attention question", attention)?;
        if p == 0.5 || attention == 0.5 {
            let problem = "a known statement that is true of half of the people hides everything";
            return Err(ComplianceError::Singular { problem, fix: "give a P that is not 0.5" });
        }
        Ok(Self { p, attention })
    }

    /// The corrected share, the naive one, and how many attended. The second fact of the cells is the attention question.
    pub fn estimate(&self, cells: &ReportCells) -> Result<[Quantity; 3], ComplianceError> {
        let shares = cells.pair_shares()?;
        let (yes, attended) = (shares.yes, shares.second);
        let naive = (yes + self.p - 1.0) / (2.0 * self.p - 1.0);
        let naive_slope = 1.0 / (2.0 * self.p - 1.0);
        let attentive = (attended - 0.5) / (0.5 - self.attention);
        let attentive_slope = 1.0 / (0.5 - self.attention);
        if !(attentive > LEAST_ATTENTIVE) {
            let problem = format!(
                "the attention question has {attended:.4} yes, as if a share of {attentive:.4} attended"
            );
            return Err(ComplianceError::Inattentive { problem });
        }
        let corrected = 0.5 + (yes - 0.5) / (2.0 * attentive * (self.p - 0.5));
        let of_yes = 1.0 / (2.0 * attentive * (self.p - 0.5));
        let of_attended = -(corrected - 0.5) / attentive * attentive_slope;
        let quantity = |name, estimate, of_attended: f64, of_yes: f64| Quantity {
            name,
            estimate,
            std_error: shares.variance(of_attended, of_yes).sqrt(),
        };
        Ok([
            quantity("share", corrected, of_attended, of_yes),
            quantity("naive", naive, 0.0, naive_slope),
            quantity("attentive", attentive, attentive_slope, 0.0),
        ])
    }

    /// What is supposed, in sentences.
    pub fn assumptions(&self) -> Vec<String> {
        vec![
            "The sensitive statement of the attention question is true of nobody.".into(),
            "Who does not attend says yes half of the time, to both questions, and as many do not attend to one as to the other.".into(),
            "Whether somebody attends has nothing to do with the sensitive answer.".into(),
        ]
    }
}
