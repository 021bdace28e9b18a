//! What each promise of a conjunction costs.

use crate::Error;
use crate::designer::{self, DesignOutcome, DesignProblem};

/// Two utilities closer than this part of the larger of them and the blind guess are the same.
const SAME: f64 = 1e-7;

/// The utility with one of the request's claims alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Alone {
    /// The index of the claim.
    pub claim: usize,
    /// The utility of the design that promises nothing else.
    pub utility: f64,
    /// Whether all the other claims cost nothing: with this one alone one does not get further.
    pub decides: bool,
}

/// For a request with several claims, the design with each of them alone, against the `utility` with all.
///
/// Empty for a single claim, and above [`designer::compared`] symbols, where it would cost more than the
/// design.
pub fn alone(request: &DesignProblem, utility: f64) -> Result<Vec<Alone>, Error> {
    let claims = &request.spec.claims;
    if claims.len() < 2 || request.prior.len() > designer::compared(request) {
        return Ok(Vec::new());
    }
    let blind = request.objective.blind(&request.prior)?;
    let mut found = Vec::new();
    for (claim, bound) in claims.iter().enumerate() {
        let mut single = request.clone();
        single.spec.claims = vec![*bound];
        let designed = match designer::design(&single) {
            Ok(DesignOutcome::Shipped(designed)) => designed,
            Ok(DesignOutcome::Missed(_)) | Err(Error::Uninformative { .. }) => continue,
            Err(other) => return Err(other),
        };
        if let Some(alone) = designed.utility {
            found.push(Alone { claim, utility: alone, decides: same(alone, utility, blind) });
        }
    }
    Ok(found)
}

/// Whether two utilities are the same up to rounding and repair.
pub fn same(one: f64, other: f64, blind: f64) -> bool {
    let blind = if blind.is_finite() { blind.abs() } else { 0.0 };
    (one - other).abs() <= SAME * blind.max(one.abs()).max(other.abs())
}
