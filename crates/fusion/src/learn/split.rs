//! Which samples are learned from and which are held out.

use std::collections::BTreeMap;

use rand_chacha::ChaCha12Rng;
use rand_core::SeedableRng;
use undertone_design::Error;
use undertone_numeric::dice::shuffled;

/// How to split.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// The share of samples (of sequences, where there are any) to hold out.
    pub share: f64,
    /// Learn from at most this many.
    pub train: Option<usize>,
    /// Hold out at most this many.
    pub test: Option<usize>,
    /// Learn from equally many samples of every pair of labels, as far as there are enough.
    pub balance: bool,
    /// The seed of the split's randomness.
    pub seed: u64,
}

impl Default for Plan {
    fn default() -> Self {
        Self { share: 0.5, train: None, test: None, balance: false, seed: 1 }
    }
}

/// Places of samples, each in increasing order. No sequence is in both.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// To learn from.
    pub train: Vec<usize>,
    /// Held out.
    pub test: Vec<usize>,
}

/// Splits samples with these labels (any code for the pair of both) and, where samples come in
/// sequences, these sequence numbers. Labels are spread evenly over both parts.
pub fn split(labels: &[usize], sequences: Option<&[usize]>, plan: &Plan) -> Result<Split, Error> {
    if !(plan.share > 0.0 && plan.share < 1.0) {
        return Err(Error::range("the held-out share", plan.share, "between 0 and 1"));
    }
    if sequences.is_some_and(|sequences| sequences.len() != labels.len()) {
        let found = sequences.map_or(0, <[usize]>::len);
        let what = "the list of sequences".into();
        return Err(Error::Size { what, expected: labels.len(), found });
    }
    let mut rng = ChaCha12Rng::seed_from_u64(plan.seed);
    // What is dealt out as a whole: sequences, or single samples.
    let mut wholes: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for i in 0..labels.len() {
        wholes.entry(sequences.map_or(i, |sequences| sequences[i])).or_default().push(i);
    }
    let mut classes: BTreeMap<usize, Vec<Vec<usize>>> = BTreeMap::new();
    for whole in wholes.into_values() {
        classes.entry(labels[whole[0]]).or_default().push(whole);
    }
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for class in classes.into_values() {
        let held = (plan.share * class.len() as f64).round() as usize;
        let order = shuffled(class.len(), &mut rng);
        for (rank, at) in order.into_iter().enumerate() {
            let part = if rank < held { &mut test } else { &mut train };
            part.extend(&class[at]);
        }
    }
    let train = thin(train, labels, plan.train, plan.balance, &mut rng);
    let test = thin(test, labels, plan.test, false, &mut rng);
    for (part, name) in [(&train, "to learn from"), (&test, "held out")] {
        if part.is_empty() {
            let problem = format!("no sample is {name}: give more samples or another share");
            return Err(Error::other("the split", problem));
        }
    }
    Ok(Split { train, test })
}

/// At most `most` of the places, in increasing order; balanced ones equally many of every label.
fn thin(
    places: Vec<usize>,
    labels: &[usize],
    most: Option<usize>,
    balance: bool,
    rng: &mut ChaCha12Rng,
) -> Vec<usize> {
    let order = shuffled(places.len(), rng);
    let mut kept: Vec<usize> = order.into_iter().map(|at| places[at]).collect();
    if balance {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        kept.iter().for_each(|&i| *counts.entry(labels[i]).or_default() += 1);
        let least = counts.values().copied().min().unwrap_or(0);
        let wanted = most.map_or(least, |most| most.div_ceil(counts.len().max(1)));
        let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
        kept.retain(|&i| {
            let taken = taken.entry(labels[i]).or_default();
            *taken += 1;
            *taken <= wanted
        });
    }
    kept.truncate(most.unwrap_or(usize::MAX));
    kept.sort_unstable();
    kept
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn sequences_stay_together_and_labels_are_spread() {
        // Twenty sequences of five samples; a quarter have label 1.
        let labels: Vec<usize> = (0..100).map(|i| usize::from(i / 5 % 4 == 0)).collect();
        let sequences: Vec<usize> = (0..100).map(|i| i / 5).collect();
        let plan = Plan { share: 0.4, ..Plan::default() };
        let Split { train, test } = split(&labels, Some(&sequences), &plan).unwrap();
        assert_eq!((train.len(), test.len()), (60, 40));
        assert!(train.iter().all(|i| test.iter().all(|j| sequences[*i] != sequences[*j])));
        assert_eq!(test.iter().filter(|&&i| labels[i] == 1).count(), 10);
        let again = split(&labels, Some(&sequences), &plan).unwrap();
        assert_eq!(again, Split { train, test });
        let other = split(&labels, Some(&sequences), &Plan { seed: 2, ..plan }).unwrap();
        assert_ne!(other, again);
    }

    #[test]
    fn balance_and_limits() {
        let labels: Vec<usize> = (0..1000).map(|i| usize::from(i % 10 == 0)).collect();
        let plan = Plan { train: Some(60), test: Some(100), balance: true, ..Plan::default() };
        let Split { train, test } = split(&labels, None, &plan).unwrap();
        assert_eq!((train.len(), test.len()), (60, 100));
        assert_eq!(train.iter().filter(|&&i| labels[i] == 1).count(), 30);
        assert!(train.iter().all(|i| !test.contains(i)));
        // Without a number, as many as the rarest label allows.
        let plan = Plan { balance: true, ..Plan::default() };
        assert_eq!(split(&labels, None, &plan).unwrap().train.len(), 100);
        assert!(split(&labels, None, &Plan { share: 1.0, ..plan }).is_err());
        assert!(split(&[], None, &plan).is_err());
        assert!(split(&labels, Some(&[1]), &plan).is_err());
    }
}
