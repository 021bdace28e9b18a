//! Groups whose reports were counted apart, set beside each other.

use undertone_estimate::difference_of_independent;

use super::{EstimatedShare, GroupDifferenceReport, HeadlineReport, SampledShare};
use crate::crosstab::ShareReport;

/// By how much every group's shares differ from the first one's. People are in one group each, so that estimates of different groups are
/// independent; what the reports of either do not determine, or contradict, has no difference.
pub fn group_differences(groups: &[(&str, &HeadlineReport)]) -> Vec<GroupDifferenceReport> {
    let Some(((reference, first), others)) = groups.split_first() else { return Vec::new() };
    let differences = |(group, own): &(&str, &HeadlineReport)| {
        let pairs = own.shares.shares.iter().zip(&first.shares.shares);
        GroupDifferenceReport {
            group: (*group).to_owned(),
            reference: (*reference).to_owned(),
            shares: pairs.map(|(one, other)| difference(one, other)).collect(),
        }
    };
    others.iter().map(differences).collect()
}

fn difference(one: &EstimatedShare, other: &EstimatedShare) -> SampledShare {
    // Where no share fits the reports the interval is the nearest possible number, and says nothing of how sure that is.
    let known = |share: &EstimatedShare| share.share.identified && !share.share.impossible;
    let determined = known(one) && known(other);
    let [a, b] = [one.share, other.share].map(|share| [share.value, share.low, share.high]);
    let [value, low, high] =
        difference_of_independent(a, b).map(|end| determined.then_some(end.clamp(-1.0, 1.0)));
    let errors = one.share.standard_error.zip(other.share.standard_error);
    let std_error = errors.filter(|_| determined).map(|(a, b)| a.hypot(b));
    let share = ShareReport { value, low, high, std_error, design_effect: None };
    SampledShare { symbol: one.symbol.clone(), share }
}
