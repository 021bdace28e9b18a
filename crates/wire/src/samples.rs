//! Reports for tests.

use undertone_core::{PolicyId, Report, ReportId, Token};

/// Some reports of one policy, with indices or with two bytes of bits.
pub(crate) fn reports(count: u8, bits: bool) -> Vec<Report> {
    let token = |at: u8| match bits {
        true => Token::Bits([at, 0x80].into()),
        false => Token::Index(u32::from(at) << 8),
    };
    let one = |at| Report { policy: PolicyId([7; 32]), id: ReportId([at; 16]), token: token(at) };
    (0..count).map(one).collect()
}
