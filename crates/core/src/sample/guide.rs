//! Guide tables: the search of a row turned into one look-up, for a block of draws at a time.

use crate::mass::Row;
use alloc::vec::Vec;
use core::cmp::Ordering;

/// Draws of a block.
pub(super) const BLOCK: usize = 256;

/// Edges of a bucket that its entry places.
const PLACED: usize = 4;
/// The lowest bit of each of four bytes.
const ONES: u32 = 0x0101_0101;
/// The top bits of four bytes: as places, behind everything.
const TOPS: u32 = ONES << 7;
/// Set in a count if the bucket holds more edges than are placed.
const MORE: u32 = 1 << 31;

/// Cumulative sums of every row, and for every row a table over the top bits of u.
///
/// An entry tells of a bucket, in its lower half, byte by byte, the places of its first four edges:
/// seven bits of where each lies in the bucket, or 128 if there are not as many. In its upper half,
/// from the bottom: the count of edges up to the bucket's start; a few more bits of the four places;
/// [`MORE`]. So one comparison of four bytes ends nearly every search, and what it leaves open is
/// nearly always decided by the further bits: the edges, which no cache may hold, are hardly read.
///
/// The last entry is of no bucket: it has no edges, and stands for draws that are not needed.
pub(super) struct Guide {
    outputs: usize,
    /// Buckets are numbered by this many bits.
    bucket_bits: u32,
    /// Counts take this many bits.
    count_bits: u32,
    entries: Vec<u64>,
    edges: Vec<u64>,
}

/// What is known of each draw of a block, in columns: every step is a loop of its own, so that the
/// compiler makes vectors of it, or the processor has many entries under way at once.
pub(super) struct Draws {
    /// The number of the draw's entry.
    pub(super) entry: [u32; BLOCK],
    /// Seven bits of where u lies in its bucket; then whether the entry leaves the output open.
    pub(super) within: [u32; BLOCK],
    /// The two halves of the entry.
    count: [u32; BLOCK],
    places: [u32; BLOCK],
}

impl Draws {
    pub(super) fn new() -> Self {
        let column = [0; BLOCK];
        Self { entry: column, within: column, count: column, places: column }
    }
}

impl Guide {
    pub(super) fn new(outputs: usize, rows: &[Row]) -> Self {
        let size_bits = usize::BITS - (outputs - 1).leading_zeros();
        // A bucket for every output; two, while the table stays in a near cache, so that fewer draws
        // are left open; one for two, where memory counts.
        let bucket_bits = match rows.len() * outputs {
            ..=0x8000 => size_bits + 1,
            0x8001..=0x40_0000 => size_bits,
            _ => size_bits.saturating_sub(1),
        };
        let mut guide = Self {
            outputs,
            bucket_bits,
            count_bits: size_bits,
            entries: Vec::with_capacity((rows.len() << bucket_bits) + 1),
            edges: Vec::with_capacity(rows.len() * outputs),
        };
        for row in rows {
            guide.push(row);
        }
        guide.entries.push(u64::from(TOPS));
        guide
    }

    fn push(&mut self, row: &Row) {
        let start_of_row = self.edges.len();
        let mut sum = 0;
        self.edges.extend(row.masses().iter().map(|mass| {
            sum += mass;
            sum
        }));
        let edges = &self.edges[start_of_row..];
        let (width, finer_bits) = (self.width(), self.finer_bits());
        let mut passed = 0;
        for bucket in 0u64..1 << self.bucket_bits {
            let (start, end) = (bucket << width, (bucket + 1) << width);
            while edges[passed] <= start {
                passed += 1;
            }
            let inside = edges[passed..].iter().take_while(|&&edge| edge < end);
            let mut count = passed as u32;
            let mut places = TOPS.to_le_bytes();
            for (at, edge) in inside.take(PLACED + 1).enumerate() {
                let Some(place) = places.get_mut(at) else {
                    count |= MORE;
                    break;
                };
                let whole = ((edge - start) >> (width - 7 - finer_bits)) as u32;
                *place = (whole >> finer_bits) as u8;
                let finer = whole & ((1 << finer_bits) - 1);
                count |= finer << (self.count_bits + finer_bits * at as u32);
            }
            self.entries.push(u64::from(count) << 32 | u64::from(u32::from_le_bytes(places)));
        }
    }

    /// Bits of u below the number of its bucket.
    fn width(&self) -> u32 {
        48 - self.bucket_bits
    }

    /// Bits of every place that stand beside the count: it has at most 24, of 31.
    fn finer_bits(&self) -> u32 {
        (31 - self.count_bits) / PLACED as u32
    }

    /// The number of the entry without a bucket.
    pub(super) fn nothing(&self) -> u32 {
        self.entries.len() as u32 - 1
    }

    /// Where a draw falls, for the first two columns: `u` is in the upper 48 bits, whatever is below.
    #[inline(always)]
    pub(super) fn place(&self, row: u32, u: u64) -> (u32, u32) {
        // The bucket's number goes to the bottom, where u lies in it to the top.
        let turned = u.rotate_left(self.bucket_bits);
        let bucket = turned as u32 & ((1 << self.bucket_bits) - 1);
        (row << self.bucket_bits | bucket, (turned >> 57) as u32)
    }

    /// The outputs of draws that were placed: for each the number of cumulative sums of its row that
    /// are <= u. `exact` tells the row and u of a draw.
    #[inline(always)]
    pub(super) fn settle(
        &self,
        draws: &mut Draws,
        out: &mut [u32],
        exact: impl Fn(usize) -> (usize, u64),
    ) {
        let size = out.len();
        let columns = draws.entry[..size].iter().zip(&mut draws.count).zip(&mut draws.places);
        for ((&number, count), places) in columns {
            let entry = self.entries[number as usize];
            (*count, *places) = ((entry >> 32) as u32, entry as u32);
        }
        let counts = (1 << self.count_bits) - 1;
        let columns = draws.count[..size].iter().zip(&draws.places).zip(&mut draws.within);
        for (((&count, &places), within), out) in columns.zip(&mut *out) {
            let twice = *within | *within << 8;
            // Four subtractions in one: no byte borrows from the next, and its top bit stays where u
            // is not in front of the edge. Nothing wraps here; checks would keep vectors away.
            let apart = (twice | twice << 16 | TOPS).wrapping_sub(places);
            let reached = apart & TOPS;
            // Where nothing but the top bit stayed u and edge are too close to tell. An empty byte
            // may borrow, which at worst leaves another draw open.
            let close = reached & !apart.wrapping_sub(ONES);
            *within = close | reached & count & MORE;
            let pairs = (reached >> 7).wrapping_add(reached >> 15);
            let passed = pairs.wrapping_add(pairs >> 16) & 7;
            *out = (count & counts).wrapping_add(passed);
        }
        let open = draws.within.as_chunks::<4>().0.iter().zip(out.chunks_mut(4));
        for (group, (open, out)) in open.enumerate() {
            // Four at a time: open draws are rare.
            if open[0] | open[1] | open[2] | open[3] == 0 {
                continue;
            }
            for ((at, out), &open) in (4 * group..).zip(out).zip(open) {
                if open != 0 {
                    let (row, u) = exact(at);
                    *out = self.decide(draws.count[at], draws.places[at], row, u);
                }
            }
        }
    }

    /// The number of cumulative sums of `row` that are <= u, by all that u's entry tells.
    #[cold]
    fn decide(&self, count: u32, places: u32, row: usize, u: u64) -> u32 {
        let finer_bits = self.finer_bits();
        let within = (u << (64 - self.width()) >> (57 - finer_bits)) as u32;
        let mut known = count & ((1 << self.count_bits) - 1);
        let mut finer = count >> self.count_bits;
        for place in places.to_le_bytes() {
            let whole = u32::from(place) << finer_bits | finer & ((1 << finer_bits) - 1);
            match whole.cmp(&within) {
                Ordering::Less => known += 1,
                Ordering::Equal => return self.search(row, known as usize, u),
                Ordering::Greater => return known,
            }
            finer >>= finer_bits;
        }
        if count & MORE == 0 { known } else { self.search(row, known as usize, u) }
    }

    /// The number of cumulative sums of `row` that are <= u, by the sums; the first `known` are.
    fn search(&self, row: usize, known: usize, u: u64) -> u32 {
        const NEAR: usize = 8;
        let edges = &self.edges[row * self.outputs..(row + 1) * self.outputs];
        // No branch depends on how many of the nearest are passed, which nothing could predict.
        let near = edges[known..].iter().take(NEAR);
        let passed = near.fold(known, |passed, &edge| passed + usize::from(edge <= u));
        let rest = if passed < known + NEAR { &[] } else { &edges[passed..] };
        (passed + rest.partition_point(|&edge| edge <= u)) as u32
    }
}
