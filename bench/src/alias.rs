//! The peer: a plain alias table of 32 bits (Vose's method), driven by one 32-bit value per draw.
//!
//! It is what a library would use that wants speed and does not mind that each probability is
//! rounded to a multiple of 2^-32/n, so that what is sampled is not what was proved.

/// One column per output: a threshold, and where to go above it.
pub struct Alias {
    columns: Vec<(u32, u32)>,
}

impl Alias {
    /// From integer masses of any common unit.
    pub fn new(masses: &[u64]) -> Self {
        let count = masses.len() as u128;
        let total: u128 = masses.iter().map(|&mass| u128::from(mass)).sum();
        // A column is full at `total`; mass times count is what an output brings to it.
        let mut left: Vec<u128> = masses.iter().map(|&mass| u128::from(mass) * count).collect();
        let mut columns = vec![(u32::MAX, 0); masses.len()];
        let (mut small, mut large): (Vec<usize>, Vec<usize>) =
            (0..masses.len()).partition(|&at| left[at] < total);
        while let (Some(&low), Some(&high)) = (small.last(), large.last()) {
            small.pop();
            columns[low] = (((left[low] << 32) / total) as u32, high as u32);
            left[high] -= total - left[low];
            if left[high] < total {
                large.pop();
                small.push(high);
            }
        }
        for at in small.into_iter().chain(large) {
            columns[at] = (u32::MAX, at as u32);
        }
        Self { columns }
    }

    /// The top of u·n chooses the column, the rest is held against its threshold.
    #[inline]
    pub fn look_up(&self, u: u32) -> u32 {
        look_up(&self.columns, u)
    }
}

/// One alias table per row, in one piece of memory.
pub struct AliasRows {
    outputs: usize,
    columns: Vec<(u32, u32)>,
}

impl AliasRows {
    /// From rows of integer masses.
    pub fn new(rows: &[Vec<u64>]) -> Self {
        let columns = rows.iter().flat_map(|row| Alias::new(row).columns).collect();
        Self { outputs: rows[0].len(), columns }
    }

    /// Draws from row x.
    #[inline]
    pub fn look_up(&self, x: u32, u: u32) -> u32 {
        let start = x as usize * self.outputs;
        look_up(&self.columns[start..start + self.outputs], u)
    }
}

#[inline]
fn look_up(columns: &[(u32, u32)], u: u32) -> u32 {
    let scaled = u64::from(u) * columns.len() as u64;
    let column = (scaled >> 32) as u32;
    let (threshold, other) = columns[column as usize];
    if (scaled as u32) < threshold { column } else { other }
}
