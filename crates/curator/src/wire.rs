//! What devices send: reports as JSON, and batches as bytes. Pure functions of the body.
//!
//! The binary form of a batch: a version byte (1), the policy's id (32 bytes), the kind of token
//! (0 index, 1 bits), the number of reports (u32, big-endian), then for every report its id (16 bytes) and its
//! token: a u32, big-endian, or the packed bits. Nothing follows.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use bytes::Bytes;
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use undertone_core::{Object, Policy, PolicyId, Report, ReportId, Shape, Token};

/// The most reports one body may carry.
pub const MOST_REPORTS: usize = 10_000;

/// The content type of the binary form.
pub const BINARY: &str = "application/vnd.undertone.reports";

const VERSION: u8 = 1;
const HEAD: usize = 1 + 32 + 1 + 4;
const ID: usize = 16;

/// Why a body is not a list of reports.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// Not the JSON of one report or of a list.
    #[error("not a report, and not {{\"reports\": [..]}}: {0}")]
    Json(String),
    /// One of the reports is not one.
    #[error("report {at}: {problem}")]
    Report {
        /// Which, from 0.
        at: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// No reports.
    #[error("there are no reports in the body")]
    Empty,
    /// Too many reports.
    #[error("{found} reports in one body: send at most {MOST_REPORTS}")]
    TooMany {
        /// How many.
        found: usize,
    },
    /// Bytes of another version.
    #[error("the batch has version {found}, where {VERSION} is read")]
    Version {
        /// What was found.
        found: u8,
    },
    /// A kind of token that does not exist.
    #[error("the batch has tokens of kind {found}: 0 is an index, 1 is bits")]
    Kind {
        /// What was found.
        found: u8,
    },
    /// Too short, or not a whole number of reports of one length.
    #[error("{found} bytes do not hold {reports} reports of one length")]
    Length {
        /// How many bytes follow the head.
        found: usize,
        /// How many reports were announced.
        reports: usize,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawReport<'a> {
    #[serde(borrow)]
    undertone: Cow<'a, str>,
    #[serde(borrow)]
    policy: Cow<'a, str>,
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(default)]
    token: Option<u32>,
    #[serde(default, borrow)]
    bits: Option<Cow<'a, str>>,
}

/// A list of reports. Those beyond [`MOST_REPORTS`] are counted and not kept, so that a long list of short
/// ones takes no more memory than a list that is allowed.
struct RawReports<'a> {
    kept: Vec<RawReport<'a>>,
    found: usize,
}

impl<'de: 'a, 'a> Deserialize<'de> for RawReports<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct List<'a>(PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for List<'a> {
            type Value = RawReports<'a>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of reports")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut kept = Vec::new();
                while kept.len() < MOST_REPORTS {
                    let Some(Object(report)) = list.next_element()? else { break };
                    kept.push(report);
                }
                let mut found = kept.len();
                while list.next_element::<IgnoredAny>()?.is_some() {
                    found += 1;
                }
                Ok(RawReports { kept, found })
            }
        }
        from.deserialize_seq(List(PhantomData))
    }
}

/// One report, or a list: the fields of both, of which a body uses one set.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawBody<'a> {
    #[serde(default, borrow)]
    reports: Option<RawReports<'a>>,
    #[serde(default, borrow)]
    undertone: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    policy: Option<Cow<'a, str>>,
    #[serde(default, borrow)]
    id: Option<Cow<'a, str>>,
    #[serde(default)]
    token: Option<u32>,
    #[serde(default, borrow)]
    bits: Option<Cow<'a, str>>,
}

/// Reads one report in the kernel's JSON form, or `{"reports": [..]}` with 1 to [`MOST_REPORTS`] of them.
pub fn reports_from_json(body: &[u8]) -> Result<Vec<Report>, WireError> {
    let Object::<RawBody<'_>>(raw) =
        serde_json::from_slice(body).map_err(|error| WireError::Json(error.to_string()))?;
    match raw {
        RawBody {
            reports: Some(list),
            undertone: None,
            policy: None,
            id: None,
            token: None,
            bits: None,
        } => {
            check_count(list.found)?;
            list.kept.into_iter().enumerate().map(|(at, raw)| report(raw, at)).collect()
        }
        RawBody {
            reports: None,
            undertone: Some(undertone),
            policy: Some(policy),
            id: Some(id),
            token,
            bits,
        } => Ok(vec![report(RawReport { undertone, policy, id, token, bits }, 0)?]),
        _ => Err(WireError::Json(
            "a report has the fields undertone, policy, id and one of token and bits".into(),
        )),
    }
}

fn check_count(found: usize) -> Result<(), WireError> {
    match found {
        0 => Err(WireError::Empty),
        1..=MOST_REPORTS => Ok(()),
        _ => Err(WireError::TooMany { found }),
    }
}

fn report(raw: RawReport<'_>, at: usize) -> Result<Report, WireError> {
    let bad = |problem| WireError::Report { at, problem };
    if raw.undertone != "report/1" {
        return Err(bad("undertone: this curator reads \"report/1\""));
    }
    let policy =
        hex::<32>(&raw.policy).ok_or(bad("policy: not 64 hexadecimal digits in lower case"))?;
    let id = hex::<16>(&raw.id).ok_or(bad("id: not 32 hexadecimal digits in lower case"))?;
    let token = match (raw.token, raw.bits) {
        (Some(index), None) => Token::Index(index),
        (None, Some(digits)) => {
            let bytes =
                hex_bytes(&digits).ok_or(bad("bits: not hexadecimal digits in lower case"))?;
            Token::Bits(bytes.into())
        }
        _ => return Err(bad("a report has exactly one of: token, bits")),
    };
    Ok(Report { policy: PolicyId(policy), id: ReportId(id), token })
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    }
}

fn hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digits = text.as_bytes();
    if digits.len() != 2 * N {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

fn hex_bytes(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    if !digits.len().is_multiple_of(2) {
        return None;
    }
    digits.chunks_exact(2).map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect()
}

/// A batch of one policy's reports, still in the body's bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Packed {
    /// The policy of all of them.
    pub policy: PolicyId,
    bits: bool,
    count: usize,
    rows: Bytes,
}

impl Packed {
    /// Reads the head and checks that the rest is a whole number of reports.
    pub fn read(body: &Bytes) -> Result<Self, WireError> {
        let short = || WireError::Length { found: body.len().saturating_sub(HEAD), reports: 0 };
        let (head, rows) = body.split_at_checked(HEAD).ok_or_else(short)?;
        if head[0] != VERSION {
            return Err(WireError::Version { found: head[0] });
        }
        let mut policy = [0; 32];
        policy.copy_from_slice(&head[1..33]);
        let bits = match head[33] {
            0 => false,
            1 => true,
            found => return Err(WireError::Kind { found }),
        };
        let count = u32::from_be_bytes([head[34], head[35], head[36], head[37]]) as usize;
        check_count(count)?;
        let width = rows.len() / count;
        let fits =
            rows.len().is_multiple_of(count) && if bits { width > ID } else { width == ID + 4 };
        if !fits {
            return Err(WireError::Length { found: rows.len(), reports: count });
        }
        Ok(Self { policy: PolicyId(policy), bits, count, rows: body.slice(HEAD..) })
    }

    /// How many reports.
    #[expect(clippy::len_without_is_empty, reason = "a batch is never empty")]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Bytes of one token.
    pub fn token_bytes(&self) -> usize {
        self.rows.len() / self.count - ID
    }

    /// All reports, one after the other: id, then token.
    pub fn rows(&self) -> &Bytes {
        &self.rows
    }

    /// Whether every token is one this policy releases.
    pub fn fits(&self, policy: &Policy) -> bool {
        let shape = policy.draft().shape();
        let outputs = shape.outputs();
        let mut rows = self.rows.chunks_exact(ID + self.token_bytes());
        match shape {
            Shape::Table(_) | Shape::Keep(_) => {
                !self.bits
                    && rows.all(|row| match row[ID..] {
                        [a, b, c, d] => (u32::from_be_bytes([a, b, c, d]) as usize) < outputs,
                        _ => false,
                    })
            }
            Shape::Bits(_) => {
                let width = outputs.div_ceil(8);
                let spare = ((1u16 << (8 * width - outputs)) - 1) as u8;
                self.bits
                    && self.token_bytes() == width
                    && rows.all(|row| row.last().is_none_or(|last| last & spare == 0))
            }
        }
    }

    /// The reports' ids and tokens, in order.
    pub fn reports(&self) -> impl Iterator<Item = (ReportId, Token)> {
        self.rows.chunks_exact(ID + self.token_bytes()).map(|row| {
            let (id, token) = row.split_at(ID);
            let mut report = [0; ID];
            report.copy_from_slice(id);
            let token = match (self.bits, token) {
                (false, &[a, b, c, d]) => Token::Index(u32::from_be_bytes([a, b, c, d])),
                _ => Token::Bits(token.into()),
            };
            (ReportId(report), token)
        })
    }
}

/// Writes a batch of one policy's reports; `None` if they are not all of one policy and one kind of
/// token, or are too many or none.
pub fn pack(reports: &[Report]) -> Option<Vec<u8>> {
    let first = reports.first()?;
    check_count(reports.len()).ok()?;
    let kind = |token: &Token| matches!(token, Token::Bits(_));
    let width = |token: &Token| match token {
        Token::Index(_) => 4,
        Token::Bits(bytes) => bytes.len(),
    };
    let alike = |report: &Report| {
        report.policy == first.policy
            && kind(&report.token) == kind(&first.token)
            && width(&report.token) == width(&first.token)
    };
    if !reports.iter().all(alike) {
        return None;
    }
    let mut body = Vec::with_capacity(HEAD + reports.len() * (ID + width(&first.token)));
    body.push(VERSION);
    body.extend_from_slice(&first.policy.0);
    body.push(u8::from(kind(&first.token)));
    body.extend_from_slice(&u32::try_from(reports.len()).ok()?.to_be_bytes());
    for report in reports {
        body.extend_from_slice(&report.id.0);
        match &report.token {
            Token::Index(index) => body.extend_from_slice(&index.to_be_bytes()),
            Token::Bits(bytes) => body.extend_from_slice(bytes),
        }
    }
    Some(body)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn some(count: u8, bits: bool) -> Vec<Report> {
        let token = |at: u8| match bits {
            true => Token::Bits(vec![at, 0x80].into()),
            false => Token::Index(u32::from(at) << 8),
        };
        let one =
            |at| Report { policy: PolicyId([7; 32]), id: ReportId([at; 16]), token: token(at) };
        (0..count).map(one).collect()
    }

    #[test]
    fn batches_survive_their_bytes() {
        for bits in [false, true] {
            let reports = some(5, bits);
            let body = pack(&reports).unwrap();
            let packed = Packed::read(&body.into()).unwrap();
            assert_eq!((packed.policy, packed.len()), (PolicyId([7; 32]), 5));
            let expected: Vec<_> = reports.into_iter().map(|r| (r.id, r.token)).collect();
            assert_eq!(packed.reports().collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn the_head_is_as_documented() {
        let body = pack(&some(1, false)[..]).unwrap();
        let head: String = body[..HEAD].iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(head, format!("01{}0000000001", "07".repeat(32)));
        assert_eq!(&body[HEAD + ID..], [0, 0, 0, 0]);
    }

    #[test]
    fn bad_batches_are_refused_by_name() {
        let good = pack(&some(2, false)).unwrap();
        let changed = |at: usize, to: u8| {
            let mut body = good.clone();
            body[at] = to;
            Packed::read(&body.into()).unwrap_err()
        };
        assert_eq!(changed(0, 2), WireError::Version { found: 2 });
        assert_eq!(changed(33, 9), WireError::Kind { found: 9 });
        assert_eq!(changed(37, 0), WireError::Empty);
        assert_eq!(changed(37, 3), WireError::Length { found: 40, reports: 3 });
        assert_eq!(changed(34, 1), WireError::TooMany { found: (1 << 24) + 2 });
        assert!(matches!(
            Packed::read(&Bytes::copy_from_slice(&good[..good.len() - 1])),
            Err(WireError::Length { .. })
        ));
        assert!(matches!(
            Packed::read(&Bytes::copy_from_slice(&good[..HEAD - 1])),
            Err(WireError::Length { .. })
        ));
        assert!(matches!(
            Packed::read(&[&good[..], &[0]].concat().into()),
            Err(WireError::Length { .. })
        ));
        assert_eq!(pack(&[]), None);
        let mixed = [some(1, false), some(1, true)].concat();
        assert_eq!(pack(&mixed), None);
    }

    #[test]
    fn json_is_the_kernels_form_and_nothing_else() {
        for bits in [false, true] {
            let reports = some(3, bits);
            for report in &reports {
                assert_eq!(
                    reports_from_json(report.to_json().as_bytes()).unwrap(),
                    std::slice::from_ref(report)
                );
            }
            let list: Vec<String> = reports.iter().map(Report::to_json).collect();
            let body = format!("{{\"reports\": [{}]}}", list.join(","));
            assert_eq!(reports_from_json(body.as_bytes()).unwrap(), reports);
        }
        let good = some(1, false)[0].to_json();
        let listed = good.replace(['{', '}'], "").split(',').fold(String::new(), |list, field| {
            let value = field.split_once(':').map_or("", |(_, value)| value);
            if list.is_empty() { format!("[{value}") } else { format!("{list},{value}") }
        }) + "]";
        for bad in [
            "",
            "[]",
            "{}",
            "{\"reports\": []}",
            "{\"reports\": [{}]}",
            &good.replace("report/1", "report/2"),
            &good.replace("07", "0G"),
            &good.replace("07", "0A"),
            &good.replace("\"token\":0", "\"token\":-1"),
            &good.replace("\"token\":0", "\"token\":4294967296"),
            &good.replace("\"token\":0", "\"token\":0,\"bits\":\"00\""),
            &good.replace("\"token\":0", "\"bits\":\"0\""),
            &good.replace('}', ",\"address\":\"1.2.3.4\"}"),
            &good.replace('}', ",\"reports\":[]}"),
            &format!("{good} {good}"),
            // Lists of a report's values where the format says an object.
            &format!("{{\"reports\": [{listed}]}}"),
            &format!("[null,{}", &listed[1..]),
        ] {
            assert!(reports_from_json(bad.as_bytes()).is_err(), "{bad}");
        }
        let many = vec![good; MOST_REPORTS + 1].join(",");
        let body = format!("{{\"reports\": [{many}]}}");
        let error = reports_from_json(body.as_bytes()).unwrap_err();
        assert_eq!(error, WireError::TooMany { found: MOST_REPORTS + 1 });
    }
}
