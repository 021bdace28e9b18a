//! What the epochs so far have cost.

use std::collections::BTreeMap;

use undertone_core::Nats;
use undertone_design::Error;

use crate::{Bundle, certificate};

/// Networks with more atoms times output vectors (or counts of them) than this are not enumerated at every epoch.
const CHEAP: usize = 1 << 18;

/// The accumulated ε_I of a constant G after any number of epochs, from the certificate's own
/// computation: never below the exact value.
#[derive(Debug, Clone)]
pub struct Spending {
    bundle: Bundle,
    cheap: bool,
    known: BTreeMap<u32, Option<Nats>>,
}

impl Spending {
    /// Of this network.
    pub fn new(bundle: &Bundle) -> Result<Self, Error> {
        let work = certificate::steps(bundle.model(), bundle.policies())?;
        let mut known = BTreeMap::from([(0, Some(Nats::ZERO))]);
        let lines = bundle.certificate().epochs.iter();
        known.extend(lines.map(|line| (line.epochs, line.information)));
        Ok(Self { bundle: bundle.clone(), cheap: work <= CHEAP, known })
    }

    /// ε_I after this many epochs that are independent given G; `None` if there is no bound.
    ///
    /// For large networks the number of epochs is rounded up to the next one the certificate lists:
    /// leakage only grows with epochs. Where hypotheses move, it is belief in the private one's value in any epoch, from
    /// its probability then, and all epochs count that have passed since the first, `elapsed` of them.
    pub fn after(&mut self, epochs: u32, elapsed: u64) -> Result<Option<Nats>, Error> {
        if let Some(course) = self.bundle.course() {
            return Ok(course.after(elapsed));
        }
        if let Some(&known) = self.known.get(&epochs) {
            return Ok(known);
        }
        if !self.cheap
            && let Some((_, &known)) = self.known.range(epochs..).next()
        {
            return Ok(known);
        }
        let found = certificate::information(self.bundle.model(), self.bundle.policies(), epochs)?;
        self.known.insert(epochs, found);
        Ok(found)
    }
}
