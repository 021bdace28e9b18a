//! Reports of one policy as the bytes of a request.
//!
//! A version byte (1), the policy's id (32 bytes), the kind of token (0 index, 1 bits, 2 index in few bits), the number of
//! reports (u32, big-endian), then for every report its id (16 bytes) and its token: a u32, big-endian, or the packed bits.
//! Indices in few bits have a byte b, from 1 to 32, then all ids, then all indices, b bits each, the highest first, one
//! behind the other; the spare bits of the last byte are zero. Nothing follows.

use crate::{BatchError, ID_BYTES, INDEX_BYTES, ReportRows, TokenShape, narrow};
use bytes::Bytes;
use undertone_core::{Incidence, Policy, PolicyId, Report, ReportId, Shape, Token};

const VERSION: u8 = 1;
const HEAD: usize = 1 + 32 + 1 + 4;

/// A batch of one policy's reports, 1 to [`MOST_REPORTS`](crate::limits::MOST_REPORTS), still in the body's bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PackedBatch {
    policy: PolicyId,
    kind: Kind,
    rows: ReportRows,
}

/// How tokens are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    Index,
    Bits,
    /// Indices in so many bits.
    Narrow(u8),
}

impl PackedBatch {
    /// Reads the head and checks that the rest is a whole number of reports.
    pub fn read(body: &Bytes) -> Result<Self, BatchError> {
        let short = || BatchError::Length { found: body.len().saturating_sub(HEAD), reports: 0 };
        let (head, rows) = body.split_at_checked(HEAD).ok_or_else(short)?;
        if head[0] != VERSION {
            return Err(BatchError::Version { found: head[0] });
        }
        let mut policy = [0; 32];
        policy.copy_from_slice(&head[1..33]);
        let kind = match head[33] {
            0 => Kind::Index,
            1 => Kind::Bits,
            2 => Kind::Narrow(0),
            found => return Err(BatchError::Kind { found }),
        };
        let count = u32::from_be_bytes([head[34], head[35], head[36], head[37]]) as usize;
        BatchError::check_count(count)?;
        let length = || BatchError::Length { found: rows.len(), reports: count };
        let policy = PolicyId(policy);
        if let Kind::Narrow(_) = kind {
            let (bits, widened) = narrow::read(rows, count).ok_or_else(length)?;
            let rows = ReportRows::from_rows(INDEX_BYTES, widened).map_err(|_| length())?;
            return Ok(Self { policy, kind: Kind::Narrow(bits), rows });
        }
        let token_bytes = (rows.len() / count).saturating_sub(ID_BYTES);
        let whole = rows.len().is_multiple_of(count);
        let fits = if kind == Kind::Bits { token_bytes > 0 } else { token_bytes == INDEX_BYTES };
        if !(whole && fits) {
            return Err(length());
        }
        let rows = ReportRows::from_rows(token_bytes, body.slice(HEAD..)).map_err(|_| length())?;
        Ok(Self { policy, kind, rows })
    }

    /// Packs reports; refused if they are not all of one policy and one kind of token, too many, or none.
    pub fn pack(reports: &[Report]) -> Result<Self, BatchError> {
        BatchError::check_count(reports.len())?;
        let Some(first) = reports.first() else { return Err(BatchError::Empty) };
        let is_bits = |token: &Token| matches!(token, Token::Bits(_));
        let bits = is_bits(&first.token);
        let kind = if bits { Kind::Bits } else { Kind::Index };
        if !reports.iter().all(|one| one.policy == first.policy && is_bits(&one.token) == bits) {
            return Err(BatchError::Mixed);
        }
        let rows = ReportRows::pack(reports.iter().map(|report| (report.id, &report.token)))
            .map_err(|_| BatchError::Mixed)?;
        Ok(Self { policy: first.policy, kind, rows })
    }

    /// This batch with its indices in so many bits; unchanged where an index needs more, or where tokens are bits.
    #[must_use]
    pub fn narrowed(self, bits: u8) -> Self {
        let below = |token: &Token| match token {
            Token::Index(index) => u64::from(*index) < 1 << bits,
            Token::Bits(_) => false,
        };
        let fits = (1..=32).contains(&bits) && self.reports().all(|report| below(&report.token));
        if fits { Self { kind: Kind::Narrow(bits), ..self } } else { self }
    }

    /// The body of a request.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut body = Vec::with_capacity(HEAD + self.rows.rows().len());
        body.push(VERSION);
        body.extend_from_slice(&self.policy.0);
        body.push(match self.kind {
            Kind::Index => 0,
            Kind::Bits => 1,
            Kind::Narrow(_) => 2,
        });
        // At most `MOST_REPORTS`.
        body.extend_from_slice(&(self.rows.len() as u32).to_be_bytes());
        match self.kind {
            Kind::Index | Kind::Bits => body.extend_from_slice(self.rows.rows()),
            Kind::Narrow(bits) => narrow::write(bits, &self.rows, &mut body),
        }
        body
    }

    /// The policy of all of them.
    pub fn policy(&self) -> PolicyId {
        self.policy
    }

    /// The reports as rows, which are part of the body they were read from.
    pub fn rows(&self) -> &ReportRows {
        &self.rows
    }

    /// Whether every token is one this policy releases.
    pub fn fits(&self, policy: &Policy) -> bool {
        let shape = TokenShape::of(policy.draft());
        shape.bits == (self.kind == Kind::Bits)
            && shape.token_bytes() == self.rows.token_bytes()
            && shape.check(self.rows.rows()).is_ok()
            && match policy.draft().shape() {
                Shape::Incidence(incidence) => self.are_blocks(incidence),
                Shape::Table(_) | Shape::Keep(_) | Shape::Bits(_) => true,
            }
    }

    /// Whether bits have as many ones as a subset has symbols.
    fn are_blocks(&self, incidence: &Incidence) -> bool {
        let mut rows = self.rows.rows().chunks_exact(self.rows.row_bytes());
        self.kind != Kind::Bits || rows.all(|row| incidence.accepts_subset(&row[ID_BYTES..]))
    }

    /// The reports, in order.
    pub fn reports(&self) -> impl Iterator<Item = Report> {
        self.rows.rows().chunks_exact(self.rows.row_bytes()).map(|row| {
            let (id, token) = row.split_at(ID_BYTES);
            let mut report = [0; ID_BYTES];
            report.copy_from_slice(id);
            let token = match (self.kind, token) {
                (Kind::Index | Kind::Narrow(_), &[a, b, c, d]) => {
                    Token::Index(u32::from_be_bytes([a, b, c, d]))
                }
                _ => Token::Bits(token.into()),
            };
            Report { policy: self.policy, id: ReportId(report), token }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;
    use crate::samples::reports;

    #[test]
    fn batches_survive_their_bytes() {
        for bits in [false, true] {
            let reports = reports(5, bits);
            let packed = PackedBatch::pack(&reports).unwrap();
            let read = PackedBatch::read(&packed.to_bytes().into()).unwrap();
            assert_eq!(read, packed);
            assert_eq!((read.policy(), read.rows().len()), (reports[0].policy, 5));
            assert_eq!(read.reports().collect::<Vec<_>>(), reports);
        }
    }

    #[test]
    fn indices_take_the_bits_of_their_policy() {
        for outputs in [2usize, 3, 256, 257, 1 << 20] {
            let policy = crate::samples::policy(outputs);
            let bits = policy.draft().shape().report_bits() as usize;
            for count in [1usize, 2, 7, 8, 9] {
                let mut reports = reports(count as u8, false);
                for (at, report) in (1..).zip(&mut reports) {
                    report.policy = policy.id();
                    report.token = Token::Index((outputs - at.min(outputs)) as u32);
                }
                let packed = PackedBatch::pack(&reports).unwrap().narrowed(bits as u8);
                let body = packed.to_bytes();
                let tokens = (count * bits).div_ceil(8);
                assert_eq!(body.len(), HEAD + 1 + count * ID_BYTES + tokens);
                let read = PackedBatch::read(&body.clone().into()).unwrap();
                assert_eq!(read, packed);
                assert!(read.fits(&policy));
                assert_eq!(read.reports().collect::<Vec<_>>(), reports);
                let mut spare = body.clone();
                *spare.last_mut().unwrap() |= 1;
                let is_spare = !(count * bits).is_multiple_of(8) && spare != body;
                assert_eq!(PackedBatch::read(&spare.into()).is_err(), is_spare);
                for short in [&body[..body.len() - 1], &[&body[..], &[0]].concat()] {
                    assert!(PackedBatch::read(&Bytes::copy_from_slice(short)).is_err());
                }
            }
        }
        let mut body = PackedBatch::pack(&reports(1, false)).unwrap().to_bytes();
        body[33] = 2;
        for bits in [0, 33, 255] {
            body[HEAD] = bits;
            assert!(PackedBatch::read(&body.clone().into()).is_err());
        }
    }

    #[test]
    fn the_head_is_as_documented() {
        let body = PackedBatch::pack(&reports(1, false)).unwrap().to_bytes();
        assert_eq!(hex::encode(&body[..HEAD]), format!("01{}0000000001", "07".repeat(32)));
        assert_eq!(&body[HEAD + ID_BYTES..], [0, 0, 0, 0]);
    }

    #[test]
    fn bad_batches_are_refused_by_name() {
        let good = PackedBatch::pack(&reports(2, false)).unwrap().to_bytes();
        let changed = |at: usize, to: u8| {
            let mut body = good.clone();
            body[at] = to;
            PackedBatch::read(&body.into()).unwrap_err()
        };
        assert_eq!(changed(0, 2), BatchError::Version { found: 2 });
        assert_eq!(changed(33, 9), BatchError::Kind { found: 9 });
        assert_eq!(changed(37, 0), BatchError::Empty);
        assert_eq!(changed(37, 3), BatchError::Length { found: 40, reports: 3 });
        assert_eq!(changed(34, 1), BatchError::TooMany { found: (1 << 24) + 2 });
        for short in [&good[..good.len() - 1], &good[..HEAD - 1], &[&good[..], &[0]].concat()] {
            let read = PackedBatch::read(&Bytes::copy_from_slice(short));
            assert!(matches!(read, Err(BatchError::Length { .. })), "{read:?}");
        }
        assert_eq!(PackedBatch::pack(&[]), Err(BatchError::Empty));
        let mut mixed = [reports(1, false), reports(1, true)].concat();
        assert_eq!(PackedBatch::pack(&mixed), Err(BatchError::Mixed));
        mixed = reports(2, false);
        mixed[1].policy.0[0] ^= 1;
        assert_eq!(PackedBatch::pack(&mixed), Err(BatchError::Mixed));
        // An index and four bytes of bits have the same length and are not the same.
        mixed = reports(2, false);
        mixed[1].token = Token::Bits([0; 4].into());
        assert_eq!(PackedBatch::pack(&mixed), Err(BatchError::Mixed));
    }
}
