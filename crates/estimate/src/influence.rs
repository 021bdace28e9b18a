//! What invented reports can do.

use crate::{Error, Estimator};

impl Estimator {
    /// How far `fakes` invented reports can move the unbiased share of each symbol: the range of the
    /// symbol's weights over what can be reported, times the fakes over the reports. Attained when
    /// reports are replaced by the worst ones; with one policy also a bound for reports that are added.
    /// In a pool the worst policy counts. Symbols whose share is not determined have 0.
    ///
    /// The weaker the privacy protection of a policy is, the smaller this is: whoever may lie about
    /// anything is limited only by how much one report counts.
    pub fn influence(&self, fakes: u64) -> Result<Vec<f64>, Error> {
        let reach = self.decoder().reach(&self.groups);
        Ok(reach.into_iter().map(|reach| reach * fakes as f64).collect())
    }
}
