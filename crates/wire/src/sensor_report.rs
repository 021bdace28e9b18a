//! What a sensor sends: 24 bytes.
//!
//! | bytes | what |
//! |---|---|
//! | 0 | version, 1 |
//! | 1 to 8 | the first eight bytes of the bundle's id |
//! | 9, 10 | the sensor's index |
//! | 11 to 18 | the epoch |
//! | 19 | kind: 0 drawn from a reading, 1 constant |
//! | 20 to 23 | the token |
//!
//! Numbers are big-endian. There is exactly one encoding of every report.

/// The version this program reads and writes.
const VERSION: u8 = 1;

/// How many bytes a report has.
const LENGTH: usize = 24;

/// Whether a token says anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// Drawn by the sensor's policy from what it read.
    Drawn,
    /// Always the same: the sensor's budget is spent.
    Constant,
}

/// One sensor's output in one epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SensorReport {
    /// The first eight bytes of the bundle's id.
    pub bundle: [u8; 8],
    /// The sensor's index in the bundle.
    pub sensor: u16,
    /// Which epoch.
    pub epoch: u64,
    /// Whether the token was drawn.
    pub kind: TokenKind,
    /// An index into the policy's outputs.
    pub token: u32,
}

/// Bytes that are no report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotASensorReport {
    /// Too few or too many bytes.
    #[error("a report has 24 bytes, these are {found}")]
    Length {
        /// How many there are.
        found: usize,
    },
    /// Another version.
    #[error("version {found} where 1 is read")]
    Version {
        /// The version found.
        found: u8,
    },
    /// Neither drawn nor constant.
    #[error("kind {found} where 0 (drawn) or 1 (constant) is expected")]
    Kind {
        /// The kind found.
        found: u8,
    },
}

impl SensorReport {
    /// The report as bytes.
    pub fn to_bytes(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        bytes[0] = VERSION;
        bytes[1..9].copy_from_slice(&self.bundle);
        bytes[9..11].copy_from_slice(&self.sensor.to_be_bytes());
        bytes[11..19].copy_from_slice(&self.epoch.to_be_bytes());
        bytes[19] = match self.kind {
            TokenKind::Drawn => 0,
            TokenKind::Constant => 1,
        };
        bytes[20..].copy_from_slice(&self.token.to_be_bytes());
        bytes
    }

    /// Reads a report; nothing is assumed about who wrote it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, NotASensorReport> {
        let bytes: [u8; LENGTH] =
            bytes.try_into().map_err(|_| NotASensorReport::Length { found: bytes.len() })?;
        if bytes[0] != VERSION {
            return Err(NotASensorReport::Version { found: bytes[0] });
        }
        let number = |range: std::ops::Range<usize>| {
            bytes[range].iter().fold(0u64, |value, &byte| value << 8 | u64::from(byte))
        };
        let mut bundle = [0; 8];
        bundle.copy_from_slice(&bytes[1..9]);
        Ok(Self {
            bundle,
            sensor: number(9..11) as u16,
            epoch: number(11..19),
            kind: match bytes[19] {
                0 => TokenKind::Drawn,
                1 => TokenKind::Constant,
                found => return Err(NotASensorReport::Kind { found }),
            },
            token: number(20..24) as u32,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn reports_survive_the_wire(
            bundle in any::<[u8; 8]>(),
            sensor in any::<u16>(),
            epoch in any::<u64>(),
            constant in any::<bool>(),
            token in any::<u32>(),
        ) {
            let kind = if constant { TokenKind::Constant } else { TokenKind::Drawn };
            let report = SensorReport { bundle, sensor, epoch, kind, token };
            prop_assert_eq!(SensorReport::from_bytes(&report.to_bytes()), Ok(report));
        }

        #[test]
        fn what_is_read_is_written_the_same(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(report) = SensorReport::from_bytes(&bytes) {
                prop_assert_eq!(&report.to_bytes()[..], &bytes[..]);
            }
        }
    }

    #[test]
    fn the_layout_is_pinned() {
        let report = SensorReport {
            bundle: [0xa0, 1, 2, 3, 4, 5, 6, 7],
            sensor: 0x0102,
            epoch: 0x0a0b_0c0d,
            kind: TokenKind::Constant,
            token: 3,
        };
        let expected =
            [1, 0xa0, 1, 2, 3, 4, 5, 6, 7, 1, 2, 0, 0, 0, 0, 10, 11, 12, 13, 1, 0, 0, 0, 3];
        assert_eq!(report.to_bytes(), expected);
    }

    #[test]
    fn anything_else_is_refused_by_name() {
        let good =
            SensorReport { bundle: [7; 8], sensor: 1, epoch: 2, kind: TokenKind::Drawn, token: 3 };
        let bytes = good.to_bytes();
        assert_eq!(
            SensorReport::from_bytes(&bytes[..23]),
            Err(NotASensorReport::Length { found: 23 })
        );
        assert_eq!(SensorReport::from_bytes(&[]), Err(NotASensorReport::Length { found: 0 }));
        let mut other = bytes;
        other[0] = 2;
        assert_eq!(SensorReport::from_bytes(&other), Err(NotASensorReport::Version { found: 2 }));
        let mut other = bytes;
        other[19] = 9;
        assert_eq!(SensorReport::from_bytes(&other), Err(NotASensorReport::Kind { found: 9 }));
    }
}
