//! Guide tables: the search of a row turned into one look-up.

use crate::mass::Row;
use alloc::vec::Vec;

/// Cumulative sums of every row, and for every row a table over the top bits of u.
///
/// An entry packs, from the top: as many bits as there is room for of where the bucket's first edge
/// lies in the bucket (0 if it has none); the output behind that edge; and whether more edges follow
/// in the bucket. One comparison ends the search unless there are more, or those bits are u's own.
pub(super) struct Guide {
    outputs: usize,
    /// Buckets are numbered by this many bits.
    bucket_bits: u32,
    /// Bits of an entry below those of the edge.
    output_bits: u32,
    entries: Vec<u32>,
    edges: Vec<u64>,
}

impl Guide {
    pub(super) fn new(outputs: usize, rows: &[Row]) -> Self {
        // A bucket for every output; four, while the table stays in a cache, so that fewer buckets
        // hold several edges.
        let size_bits = usize::BITS - (outputs - 1).leading_zeros();
        let bucket_bits = size_bits + if rows.len() * outputs <= 1 << 15 { 2 } else { 0 };
        let output_bits = size_bits + 1;
        let width = 48 - bucket_bits;
        let mut entries = Vec::with_capacity(rows.len() << bucket_bits);
        let mut edges = Vec::with_capacity(rows.len() * outputs);
        for row in rows {
            let start_of_row = edges.len();
            let mut sum = 0;
            edges.extend(row.masses().iter().map(|mass| {
                sum += mass;
                sum
            }));
            let edges = &edges[start_of_row..];
            let mut index = 0;
            for bucket in 0u64..1 << bucket_bits {
                let start = bucket << width;
                while edges[index] <= start {
                    index += 1;
                }
                let inside = edges[index..].iter().take(2).filter(|&&e| e < start + (1 << width));
                let (distance, behind, several) = match inside.count() {
                    0 => (0, index, 0),
                    count => (edges[index] - start, index + 1, count as u32 - 1),
                };
                let top = (distance << (64 - width) >> 32) as u32 >> output_bits << output_bits;
                entries.push(top | (behind as u32) << 1 | several);
            }
        }
        Self { outputs, bucket_bits, output_bits, entries, edges }
    }

    /// The number of cumulative sums of `row` that are <= u < 2^48.
    #[inline(always)]
    pub(super) fn look_up(&self, row: usize, u: u64) -> u32 {
        // The bucket's number goes to the bottom, where u lies in it to the top.
        let turned = (u << 16).rotate_left(self.bucket_bits);
        let buckets = 1usize << self.bucket_bits;
        let entry = self.entries[row << self.bucket_bits | turned as usize & (buckets - 1)];
        let within = (turned >> 32) as u32;
        let below = (1 << self.output_bits) - 1;
        let behind = (entry & below) >> 1;
        // No branch depends on the comparison itself, which nothing could predict.
        if (entry & 1 == 1) | ((within ^ entry) <= below) {
            return self.search(row, behind as usize, u);
        }
        behind - u32::from(within < entry)
    }

    /// The number of cumulative sums of `row` that are <= u, where the entry of u's bucket does not tell; the output
    /// in front of `behind`, if there is one, begins at or before u.
    #[cold]
    fn search(&self, row: usize, behind: usize, u: u64) -> u32 {
        let first = behind.saturating_sub(1);
        let edges = &self.edges[row * self.outputs + first..(row + 1) * self.outputs];
        let near = edges.iter().take(4).take_while(|&&edge| edge <= u).count();
        if near < 4 {
            return (first + near) as u32;
        }
        (first + 4 + edges[4..].partition_point(|&edge| edge <= u)) as u32
    }
}
