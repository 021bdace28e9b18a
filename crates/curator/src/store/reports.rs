//! Many reports of one policy in as few bytes as they need.

use bytes::Bytes;
use undertone_core::{Report, ReportId, Token};

/// Reports of one policy as rows of one width: 16 bytes of report id, then the token: four big-endian bytes
/// for an index, the packed bits for bits. The same rows as in a request's binary form, so
/// that a request's body is stored as it came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reports {
    token_bytes: usize,
    rows: Bytes,
}

/// Rows that are not all of one width.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{length} bytes are no whole number of rows of 16 + {token_bytes}")]
pub struct RaggedRows {
    /// How many bytes there were.
    pub length: usize,
    /// How many bytes a token takes.
    pub token_bytes: usize,
}

/// Bytes of a report id.
pub(crate) const ID: usize = 16;
/// Bytes of a token that is an index.
pub(crate) const INDEX: usize = 4;

impl Reports {
    /// Rows as they are: each is an id and a token of `token_bytes` bytes (4 for an index).
    pub fn from_rows(token_bytes: usize, rows: Bytes) -> Result<Self, RaggedRows> {
        if rows.len().is_multiple_of(ID + token_bytes) {
            Ok(Self { token_bytes, rows })
        } else {
            Err(RaggedRows { length: rows.len(), token_bytes })
        }
    }

    /// Packs ids and tokens; `Err` if the tokens are not all of one width.
    pub fn pack<'a>(
        reports: impl IntoIterator<Item = (ReportId, &'a Token)>,
    ) -> Result<Self, RaggedRows> {
        let mut rows = Vec::new();
        let mut width = None;
        for (id, token) in reports {
            rows.extend_from_slice(&id.0);
            let bytes = match token {
                Token::Index(index) => {
                    rows.extend_from_slice(&index.to_be_bytes());
                    INDEX
                }
                Token::Bits(bits) => {
                    rows.extend_from_slice(bits);
                    bits.len()
                }
            };
            if *width.get_or_insert(bytes) != bytes {
                return Err(RaggedRows { length: rows.len(), token_bytes: bytes });
            }
        }
        Ok(Self { token_bytes: width.unwrap_or(INDEX), rows: rows.into() })
    }

    /// One report.
    pub fn one(report: &Report) -> Self {
        // One row is of one width.
        Self::pack([(report.id, &report.token)])
            .unwrap_or(Self { token_bytes: INDEX, rows: Bytes::new() })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.rows.len() / self.row_bytes()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Bytes of one token.
    pub fn token_bytes(&self) -> usize {
        self.token_bytes
    }

    /// Bytes of one row.
    pub fn row_bytes(&self) -> usize {
        ID + self.token_bytes
    }

    /// All rows, one after the other.
    pub fn rows(&self) -> &Bytes {
        &self.rows
    }
}
