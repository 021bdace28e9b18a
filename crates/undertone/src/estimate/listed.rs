//! Which shares of very many are written down.

use undertone_estimate::Estimate;

use super::EstimatedShare;
use super::answers::named;

/// So many shares are listed where nobody says how many: a million of them, by every method, are a gigabyte of text.
pub const MOST_LISTED: usize = 10_000;

/// The symbols whose shares are written down: all, or the largest of the headline's, in the policy's order.
pub(super) struct Listed<'a> {
    labels: &'a [String],
    places: Option<Vec<usize>>,
}

impl<'a> Listed<'a> {
    /// At most `top` symbols: those with the largest of these shares, the first of equals.
    pub(super) fn new(labels: &'a [String], headline: &[Estimate], top: usize) -> Self {
        if headline.len() <= top {
            return Self { labels, places: None };
        }
        let mut places: Vec<usize> = (0..headline.len()).collect();
        let larger = |&a: &usize, &b: &usize| {
            headline[b].value.total_cmp(&headline[a].value).then(a.cmp(&b))
        };
        places.select_nth_unstable_by(top, larger);
        places.truncate(top);
        places.sort_unstable();
        Self { labels, places: Some(places) }
    }

    /// How many symbols are left out; nothing where none is.
    pub(super) fn left_out(&self) -> Option<usize> {
        self.places.as_ref().map(|places| self.labels.len() - places.len())
    }

    /// The listed shares with what their symbols are called.
    pub(super) fn shares(&self, all: &[Estimate]) -> Vec<EstimatedShare> {
        let Some(places) = &self.places else { return named(self.labels, all) };
        let one =
            |&x: &usize| EstimatedShare { symbol: self.labels[x].clone(), share: all[x].into() };
        places.iter().map(one).collect()
    }

    /// The listed ones of some numbers, one for every symbol.
    pub(super) fn numbers(&self, all: Vec<f64>) -> Vec<f64> {
        match &self.places {
            Some(places) => places.iter().map(|&x| all[x]).collect(),
            None => all,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use undertone_estimate::IntervalMethod;

    fn estimates(values: &[f64]) -> Vec<Estimate> {
        let one = |&value: &f64| Estimate {
            value,
            low: 0.0,
            high: 1.0,
            standard_error: None,
            identified: true,
            impossible: false,
            method: IntervalMethod::Everything,
        };
        values.iter().map(one).collect()
    }

    #[test]
    fn the_largest_are_listed_in_the_order_of_the_policy() {
        let labels: Vec<String> = (0..6).map(|x| x.to_string()).collect();
        let shares = estimates(&[0.1, 0.3, 0.0, 0.3, 0.2, 0.1]);
        let symbols = |top: usize| {
            let listed = Listed::new(&labels, &shares, top);
            let names = listed.shares(&shares).into_iter().map(|share| share.symbol);
            (names.collect::<Vec<_>>().concat(), listed.left_out())
        };
        assert_eq!(symbols(1), ("1".into(), Some(5)));
        assert_eq!(symbols(3), ("134".into(), Some(3)));
        assert_eq!(symbols(4), ("0134".into(), Some(2)));
        assert_eq!(symbols(6), ("012345".into(), None));
        let listed = Listed::new(&labels, &shares, 2);
        assert_eq!(listed.numbers(vec![9.0, 8.0, 7.0, 6.0, 5.0, 4.0]), [8.0, 6.0]);
    }
}
