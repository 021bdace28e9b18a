//! Many reports of one policy in as few bytes as they need.

use crate::{ID_BYTES, INDEX_BYTES};
use bytes::Bytes;
use undertone_core::{ReportId, Token};

/// Reports of one policy as rows of one width: 16 bytes of report id, then the token: four big-endian bytes
/// for an index, the packed bits for bits. The same rows as in a request's binary form, so
/// that a request's body is stored as it came.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReportRows {
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

impl ReportRows {
    /// Rows as they are: each is an id and a token of `token_bytes` bytes (4 for an index).
    pub fn from_rows(token_bytes: usize, rows: Bytes) -> Result<Self, RaggedRows> {
        if rows.len().is_multiple_of(ID_BYTES + token_bytes) {
            Ok(Self { token_bytes, rows })
        } else {
            Err(RaggedRows { length: rows.len(), token_bytes })
        }
    }

    /// Ids and tokens as rows; `Err` if the tokens are not all of one width.
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
                    INDEX_BYTES
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
        Ok(Self { token_bytes: width.unwrap_or(INDEX_BYTES), rows: rows.into() })
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
        ID_BYTES + self.token_bytes
    }

    /// All rows, one after the other.
    pub fn rows(&self) -> &Bytes {
        &self.rows
    }
}
