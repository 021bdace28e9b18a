//! Counts of reports: all an estimate needs, and mergeable without loss.

use crate::Error;
use crate::channel::Blocks;
use serde::{Deserialize, Serialize};
use undertone_core::{Family, Object, Policy, PolicyId, Report, Shape, Token};

/// How often each output of one policy was seen; for policies that release bits, how often each bit was set. Numbered blocks are
/// outputs.
///
/// Counts are integers, so adding reports in any order, or merging tallies of any split of them,
/// gives the same tally. Every method either counts all it was given or, with an error, nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tally {
    policy: PolicyId,
    kind: TallyKind,
    /// How many bits every report sets, where that is fixed.
    set: Option<u32>,
    reports: u64,
    counts: Vec<u64>,
}

/// What one report holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum TallyKind {
    /// One output.
    Indices,
    /// One bit per symbol.
    Bits,
}

impl TallyKind {
    fn releases(self) -> &'static str {
        match self {
            Self::Indices => "one output index per report",
            Self::Bits => "one row of bits per report",
        }
    }
}

/// The stored form.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RawTally {
    undertone: String,
    policy: String,
    kind: TallyKind,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    set: Option<u32>,
    reports: u64,
    counts: Vec<u64>,
}

const NAME: &str = "tally/1";

impl Tally {
    /// No reports yet.
    pub fn new(policy: &Policy) -> Self {
        let shape = policy.draft().shape();
        let kind = if shape.releases_bits() { TallyKind::Bits } else { TallyKind::Indices };
        let set = match shape {
            Shape::Incidence(incidence) => match incidence.family() {
                Family::Subsets(subsets) => u32::try_from(subsets.size()).ok(),
                Family::Geometry(_) | Family::Listed(_) => None,
            },
            Shape::Table(_) | Shape::Keep(_) | Shape::Bits(_) => None,
        };
        Self { policy: policy.id(), kind, set, reports: 0, counts: vec![0; shape.outputs()] }
    }

    /// A tally of the same policy without its reports.
    pub(crate) fn emptied(&self) -> Self {
        Self { reports: 0, counts: vec![0; self.counts.len()], ..*self }
    }

    /// The policy whose reports are counted.
    pub fn policy(&self) -> PolicyId {
        self.policy
    }

    /// How many reports.
    pub fn reports(&self) -> u64 {
        self.reports
    }

    /// Reports per output, or set bits per symbol.
    pub fn counts(&self) -> &[u64] {
        &self.counts
    }

    /// Whether [`Tally::counts`] counts bits, of which a report can set several.
    pub fn counts_bits(&self) -> bool {
        self.kind == TallyKind::Bits
    }

    /// Counts one report, which must have been made under this policy.
    pub fn add_report(&mut self, report: &Report) -> Result<(), Error> {
        if report.policy != self.policy {
            return Err(Error::Policy { expected: self.policy, found: report.policy });
        }
        self.add(&report.token)
    }

    /// Counts one token.
    pub fn add(&mut self, token: &Token) -> Result<(), Error> {
        self.check_token(token)?;
        self.count(token);
        Ok(())
    }

    /// Counts output indices, one per report (`Table` and `Keep`).
    pub fn add_indices(&mut self, indices: &[u32]) -> Result<(), Error> {
        self.expect(TallyKind::Indices)?;
        let outputs = self.counts.len();
        if let Some(at) = indices.iter().position(|&index| index as usize >= outputs) {
            return Err(Error::Token { at, found: format!("index {}", indices[at]) });
        }
        // Counts are never above the number of reports, so checking that is enough.
        self.reports = self.reports.checked_add(indices.len() as u64).ok_or(Error::Overflow)?;
        for &index in indices {
            self.counts[index as usize] += 1;
        }
        Ok(())
    }

    /// Counts packed rows of bits, one after the other, ⌈k/8⌉ bytes each (`Bits`), in the layout of
    /// [`Token::Bits`].
    pub fn add_packed_bits(&mut self, rows: &[u8]) -> Result<(), Error> {
        self.expect(TallyKind::Bits)?;
        let width = self.width();
        if !rows.len().is_multiple_of(width) {
            let found = format!("{} bytes, where rows have {width}", rows.len());
            return Err(Error::Token { at: rows.len() / width, found });
        }
        let spare = self.spare();
        let spoilt = |row: &[u8]| row.last().is_some_and(|last| last & spare != 0);
        if let Some(at) = rows.chunks_exact(width).position(spoilt) {
            return Err(Error::Token { at, found: "spare bits that are not zero".into() });
        }
        if let Some(at) = rows.chunks_exact(width).position(|row| !self.has_size(row)) {
            return Err(Error::Token { at, found: self.wrong_size(&rows[at * width..][..width]) });
        }
        let more = (rows.len() / width) as u64;
        self.reports = self.reports.checked_add(more).ok_or(Error::Overflow)?;
        // Eight counters of a byte each share a word; 255 rows fit before they are emptied.
        let mut lanes = vec![0u64; width];
        for block in rows.chunks(255 * width) {
            for row in block.chunks_exact(width) {
                for (lane, &byte) in lanes.iter_mut().zip(row) {
                    *lane += spread(byte);
                }
            }
            for (counts, lane) in self.counts.chunks_mut(8).zip(&mut lanes) {
                for (count, bit) in counts.iter_mut().zip(lane.to_le_bytes()) {
                    *count += u64::from(bit);
                }
                *lane = 0;
            }
        }
        Ok(())
    }

    /// Adds counts made elsewhere: reports per output (`Table` and `Keep`).
    pub fn add_counts(&mut self, counts: &[u64]) -> Result<(), Error> {
        self.expect(TallyKind::Indices)?;
        let reports = checked_sum(counts).ok_or(Error::Overflow)?;
        self.absorb(reports, counts)
    }

    /// Adds counts made elsewhere: how many reports, and how many of them set each bit (`Bits`).
    pub fn add_bit_counts(&mut self, reports: u64, set: &[u64]) -> Result<(), Error> {
        self.expect(TallyKind::Bits)?;
        if let Some(at) = set.iter().position(|&count| count > reports) {
            return Err(Error::malformed(format!(
                "bit {at} is set in {} of {reports} reports",
                set[at]
            )));
        }
        if !self.sizes_fit(reports, set) {
            return Err(Error::malformed(format!(
                "the counts of {reports} subsets do not sum to {} each",
                self.set.unwrap_or(0)
            )));
        }
        self.absorb(reports, set)
    }

    /// Adds another tally of the same policy.
    pub fn merge(&mut self, other: &Self) -> Result<(), Error> {
        if other.policy != self.policy {
            return Err(Error::Policy { expected: self.policy, found: other.policy });
        }
        self.absorb(other.reports, &other.counts)
    }

    /// The tally as JSON, exact to the last report.
    pub fn to_json(&self) -> String {
        // A plain record of texts and integers always serialises.
        serde_json::to_string(&self.raw()).unwrap_or_default()
    }

    pub(crate) fn raw(&self) -> Object<RawTally> {
        Object(RawTally {
            undertone: NAME.into(),
            policy: self.policy.to_string(),
            kind: self.kind,
            set: self.set,
            reports: self.reports,
            counts: self.counts.clone(),
        })
    }

    /// Reads a tally; that it fits a policy is checked where the two meet, in
    /// [`Pool`](crate::Pool).
    pub fn from_json(text: &str) -> Result<Self, Error> {
        let Object::<RawTally>(raw) =
            serde_json::from_str(text).map_err(|error| Error::malformed(error.to_string()))?;
        Self::from_raw(raw)
    }

    pub(crate) fn from_raw(raw: RawTally) -> Result<Self, Error> {
        if raw.undertone != NAME {
            let found = raw.undertone;
            return Err(Error::malformed(format!("version {found:?}, where {NAME:?} is read")));
        }
        let policy = raw.policy.parse().map_err(|error| Error::malformed(format!("{error}")))?;
        if raw.counts.is_empty() {
            return Err(Error::malformed("it has no counts"));
        }
        let RawTally { kind, set, reports, counts, .. } = raw;
        let tally = Self { policy, kind, set, reports, counts };
        let counts = &tally.counts;
        let fits = match kind {
            TallyKind::Indices => set.is_none() && checked_sum(counts) == Some(reports),
            TallyKind::Bits => {
                counts.iter().all(|&count| count <= reports) && tally.sizes_fit(reports, counts)
            }
        };
        if !fits {
            return Err(Error::malformed(format!("its counts are not those of {reports} reports")));
        }
        Ok(tally)
    }

    /// These reports with the outputs, which are the policy's own symbols, in another order.
    pub(crate) fn reordered(&self, order: &[usize]) -> Self {
        Self { counts: crate::reorder::picked(&self.counts, order), ..self.clone() }
    }

    /// Counts of numbered blocks as counts of the symbols in them.
    pub(crate) fn by_symbol(&self, blocks: &Blocks) -> Self {
        let counts = blocks.symbol_sums(&self.counts);
        Self { kind: TallyKind::Bits, counts, ..*self }
    }

    /// These reports with several outputs counted as one: `parts[y]` is what output y becomes.
    pub(crate) fn lumped(&self, parts: &[u32], size: usize) -> Self {
        let mut counts = vec![0; size];
        for (count, &part) in self.counts.iter().zip(parts) {
            counts[part as usize] += count;
        }
        Self { counts, ..self.clone() }
    }

    /// Whether a token is one of the policy's, and there is room for it.
    pub(crate) fn check_token(&self, token: &Token) -> Result<(), Error> {
        let wrong = |found: String| Err(Error::Token { at: 0, found });
        self.reports.checked_add(1).ok_or(Error::Overflow)?;
        match token {
            Token::Index(index) => {
                self.expect(TallyKind::Indices)?;
                let fits = (*index as usize) < self.counts.len();
                if fits { Ok(()) } else { wrong(format!("index {index}")) }
            }
            Token::Bits(row) => {
                self.expect(TallyKind::Bits)?;
                if row.len() != self.width() {
                    return wrong(format!("{} bytes of bits", row.len()));
                }
                if row.last().is_some_and(|last| last & self.spare() != 0) {
                    return wrong("spare bits that are not zero".into());
                }
                if !self.has_size(row) {
                    return wrong(self.wrong_size(row));
                }
                Ok(())
            }
        }
    }

    /// Counts a token that was checked.
    pub(crate) fn count(&mut self, token: &Token) {
        self.reports += 1;
        match token {
            Token::Index(index) => self.counts[*index as usize] += 1,
            Token::Bits(row) => {
                for (counts, byte) in self.counts.chunks_mut(8).zip(row.iter()) {
                    let mut left = *byte;
                    while left != 0 {
                        let bit = left.leading_zeros();
                        counts[bit as usize] += 1;
                        left &= !(0x80 >> bit);
                    }
                }
            }
        }
    }

    /// Whether this could be a tally of `policy`.
    pub(crate) fn check(&self, policy: &Policy) -> Result<(), Error> {
        if self.policy != policy.id() {
            return Err(Error::Policy { expected: policy.id(), found: self.policy });
        }
        let empty = Self::new(policy);
        let alike = (empty.kind, empty.set) == (self.kind, self.set);
        if !alike || empty.counts.len() != self.counts.len() {
            return Err(Error::malformed(format!(
                "{} counts for a policy with {} outputs, or of another kind",
                self.counts.len(),
                empty.counts.len()
            )));
        }
        Ok(())
    }

    /// Whether a row sets as many bits as every report does.
    fn has_size(&self, row: &[u8]) -> bool {
        self.set.is_none_or(|set| ones(row) == u64::from(set))
    }

    fn wrong_size(&self, row: &[u8]) -> String {
        format!("{} bits, where every report sets {}", ones(row), self.set.unwrap_or(0))
    }

    /// Whether counts are those of so many reports, as far as their sum says.
    fn sizes_fit(&self, reports: u64, counts: &[u64]) -> bool {
        let sum = || counts.iter().map(|&count| u128::from(count)).sum::<u128>();
        self.set.is_none_or(|set| sum() == u128::from(set) * u128::from(reports))
    }

    /// The bits of a row's last byte that stand for no symbol.
    fn spare(&self) -> u8 {
        ((1u16 << (8 * self.width() - self.counts.len())) - 1) as u8
    }

    fn width(&self) -> usize {
        self.counts.len().div_ceil(8)
    }

    fn expect(&self, kind: TallyKind) -> Result<(), Error> {
        if kind == self.kind {
            Ok(())
        } else {
            Err(Error::Shape { releases: self.kind.releases() })
        }
    }

    fn absorb(&mut self, reports: u64, counts: &[u64]) -> Result<(), Error> {
        if counts.len() != self.counts.len() {
            let expected = self.counts.len();
            return Err(Error::Size { what: "the tally", expected, found: counts.len() });
        }
        self.reports = self.reports.checked_add(reports).ok_or(Error::Overflow)?;
        for (count, more) in self.counts.iter_mut().zip(counts) {
            *count += more;
        }
        Ok(())
    }
}

/// How many bits of a row are set.
fn ones(row: &[u8]) -> u64 {
    row.iter().map(|byte| u64::from(byte.count_ones())).sum()
}

fn checked_sum(counts: &[u64]) -> Option<u64> {
    counts.iter().try_fold(0u64, |sum, &count| sum.checked_add(count))
}

/// Bit 0 (0x80) of a byte into the lowest byte of a word, bit 1 into the next, and so on.
fn spread(byte: u8) -> u64 {
    let mine = (u64::from(byte) * 0x0101_0101_0101_0101) & 0x0102_0408_1020_4080;
    // Every byte is zero or a single bit; the top bit of byte + 127 says which.
    ((mine + 0x7f7f_7f7f_7f7f_7f7f) >> 7) & 0x0101_0101_0101_0101
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreading_keeps_the_order_of_bits() {
        for byte in 0..=255u8 {
            let expected: [u8; 8] = std::array::from_fn(|bit| byte >> (7 - bit) & 1);
            assert_eq!(spread(byte).to_le_bytes(), expected);
        }
    }
}
