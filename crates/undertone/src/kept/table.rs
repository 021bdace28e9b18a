//! How often each value was seen in each context.

/// Counts of values by context, both small whole numbers; a context is what some kept columns say.
pub(super) struct Table {
    /// Where each context's entries begin; one more than there are contexts.
    starts: Vec<u32>,
    /// Values seen in a context, in order, and how often.
    entries: Vec<(u32, u32)>,
    totals: Vec<u32>,
}

/// How many imagined rows a context borrows from the one it refines.
pub(super) const BORROWED: f64 = 2.0;

impl Table {
    /// Counts the rows.
    pub(super) fn new(contexts: &[u32], values: &[u32], rows: &[u32]) -> Self {
        let mut pairs: Vec<u64> = rows
            .iter()
            .map(|&row| u64::from(contexts[row as usize]) << 32 | u64::from(values[row as usize]))
            .collect();
        pairs.sort_unstable();
        let size = pairs.last().map_or(0, |last| (last >> 32) as usize + 1);
        let mut table = Self { starts: vec![0; size + 1], entries: vec![], totals: vec![0; size] };
        for pair in pairs.chunk_by(|a, b| a == b) {
            let (context, count) = ((pair[0] >> 32) as usize, pair.len() as u32);
            table.entries.push((pair[0] as u32, count));
            table.totals[context] += count;
            table.starts[context + 1] = table.entries.len() as u32;
        }
        // A context without rows begins and ends where the one before it ends.
        for at in 1..table.starts.len() {
            table.starts[at] = table.starts[at].max(table.starts[at - 1]);
        }
        table
    }

    /// The values seen in a context, in order, with their counts; none if it was never seen.
    pub(super) fn entries(&self, context: u32) -> &[(u32, u32)] {
        let at = context as usize;
        match (self.starts.get(at), self.starts.get(at + 1)) {
            (Some(&from), Some(&to)) => &self.entries[from as usize..to as usize],
            _ => &[],
        }
    }

    /// All contexts are below this.
    pub(super) fn contexts(&self) -> usize {
        self.totals.len()
    }

    /// How many rows a context had.
    pub(super) fn total(&self, context: u32) -> f64 {
        self.totals.get(context as usize).copied().unwrap_or(0).into()
    }

    /// The chance of a value in a context, given its chance in the context that this one refines.
    pub(super) fn refined(&self, context: u32, value: u32, before: f64) -> f64 {
        let entries = self.entries(context);
        let count = entries.binary_search_by_key(&value, |&(value, _)| value);
        let count = count.map_or(0.0, |at| f64::from(entries[at].1));
        (count + BORROWED * before) / (self.total(context) + BORROWED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_those_of_the_rows_given() {
        let (contexts, values) = ([3, 0, 3, 3, 9], [1, 0, 2, 1, 7]);
        let table = Table::new(&contexts, &values, &[0, 1, 2, 3]);
        assert_eq!(table.entries(3), [(1, 2), (2, 1)]);
        assert_eq!((table.entries(0), table.entries(1)), (&[(0, 1)][..], &[][..]));
        assert!(table.entries(9).is_empty() && table.total(9) == 0.0 && table.total(3) == 3.0);
        assert_eq!(table.refined(3, 1, 0.25), 2.5 / 5.0);
        assert_eq!(table.refined(3, 5, 0.25), 0.5 / 5.0);
        // What was never seen says nothing new.
        assert_eq!(table.refined(9, 1, 0.25), 0.25);
        assert!(Table::new(&[], &[], &[]).entries(0).is_empty());
    }
}
