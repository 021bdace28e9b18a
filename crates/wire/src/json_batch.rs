//! Reports as the JSON of a request: one of them, or a list.

use crate::BatchError;
use crate::limits::MOST_REPORTS;
use serde::de::{Error, IgnoredAny, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use undertone_core::{Object, Report};

/// `{"reports": [..]}` as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    reports: Reports,
}

/// A list of reports. Those beyond [`MOST_REPORTS`] are counted and not kept, so that a long list of short
/// ones takes no more memory than a list that is allowed.
struct Reports {
    kept: Vec<Report>,
    found: usize,
}

impl<'de> Deserialize<'de> for Reports {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_seq(List)
    }
}

struct List;

impl<'de> Visitor<'de> for List {
    type Value = Reports;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of reports")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Reports, A::Error> {
        let mut kept = Vec::new();
        while kept.len() < MOST_REPORTS {
            let at = kept.len();
            let next = list.next_element();
            match next.map_err(|error| Error::custom(format_args!("report {at}: {error}")))? {
                Some(report) => kept.push(report),
                None => break,
            }
        }
        let mut found = kept.len();
        while list.next_element::<IgnoredAny>()?.is_some() {
            found += 1;
        }
        Ok(Reports { kept, found })
    }
}

/// Writes one report in the kernel's JSON form, or `{"reports": [..]}` with 2 to [`MOST_REPORTS`] of them.
pub fn reports_to_json(reports: &[Report]) -> Result<Vec<u8>, BatchError> {
    BatchError::check_count(reports.len())?;
    if let [one] = reports {
        return Ok(one.to_json().into());
    }
    let list: Vec<String> = reports.iter().map(Report::to_json).collect();
    Ok(format!("{{\"reports\":[{}]}}", list.join(",")).into())
}

/// Reads one report in the kernel's JSON form, or `{"reports": [..]}` with 1 to [`MOST_REPORTS`] of them.
pub fn reports_from_json(body: &[u8]) -> Result<Vec<Report>, BatchError> {
    let listed = match serde_json::from_slice::<Object<Listed>>(body) {
        Ok(Object(Listed { reports: Reports { kept, found } })) => {
            BatchError::check_count(found)?;
            return Ok(kept);
        }
        Err(listed) => listed,
    };
    // Either reading stops at the first name that is not its own, so that trying both costs no more than one.
    let alone = match serde_json::from_slice(body) {
        Ok(report) => return Ok(vec![report]),
        Err(alone) => alone,
    };
    let place = |error: &serde_json::Error| (error.line(), error.column());
    // The reading that came further is the one that was meant. A report that was read to its end and makes no sense
    // has no place at all.
    let is_list = alone.line() > 0 && place(&listed) > place(&alone);
    Err(BatchError::Json(if is_list { listed } else { alone }.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::reports;

    #[test]
    fn json_is_the_kernels_form_and_nothing_else() {
        for bits in [false, true] {
            let reports = reports(3, bits);
            for report in &reports {
                let alone = std::slice::from_ref(report);
                assert_eq!(reports_from_json(report.to_json().as_bytes()).unwrap(), alone);
                assert_eq!(reports_to_json(alone).unwrap(), report.to_json().as_bytes());
            }
            let list: Vec<String> = reports.iter().map(Report::to_json).collect();
            let body = format!("{{\"reports\":[{}]}}", list.join(","));
            assert_eq!(reports_from_json(body.as_bytes()).unwrap(), reports);
            assert_eq!(reports_to_json(&reports).unwrap(), body.as_bytes());
            // A list may hold one.
            let body = format!("{{\"reports\": [ {} ]}}", list[0]);
            assert_eq!(reports_from_json(body.as_bytes()).unwrap(), reports[..1]);
        }
        let good = reports(1, false)[0].to_json();
        let listed = good.replace(['{', '}'], "").split(',').fold(String::new(), |list, field| {
            let value = field.split_once(':').map_or("", |(_, value)| value);
            if list.is_empty() { format!("[{value}") } else { format!("{list},{value}") }
        }) + "]";
        for (bad, said) in [
            ("", "EOF"),
            ("[]", "an object"),
            ("{}", "missing field"),
            ("{\"reports\": []}", "no reports"),
            ("{\"reports\": {}}", "a list of reports"),
            ("{\"reports\": [{}]}", "report 0: missing field"),
            (&good.replace("report/1", "report/2"), "\"report/2\" where \"report/1\" is read"),
            (&good.replace("07", "0G"), "policy: not 64 hexadecimal digits"),
            (&good.replace("07", "0A"), "policy: not 64 hexadecimal digits"),
            (&good.replace("\"token\":0", "\"token\":-1"), "u32"),
            (&good.replace("\"token\":0", "\"token\":4294967296"), "u32"),
            (&good.replace("\"token\":0", "\"token\":0,\"bits\":\"00\""), "exactly one of"),
            (&good.replace("\"token\":0", "\"bits\":\"0\""), "bits: not hexadecimal"),
            (&good.replace('}', ",\"address\":\"1.2.3.4\"}"), "unknown field `address`"),
            (&good.replace('}', ",\"reports\":[]}"), "unknown field `reports`"),
            (&format!("{{\"reports\":[],{}", &good[1..]), "unknown field `undertone`"),
            (&format!("{good} {good}"), "trailing"),
            (&format!("{{\"reports\": [{good},{{}}]}}"), "report 1: missing field"),
            // Lists of a report's values where the format says an object.
            (&format!("{{\"reports\": [{listed}]}}"), "report 0: invalid type: sequence"),
            (&listed, "an object"),
        ] {
            let error = reports_from_json(bad.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(said), "{bad}: {error}");
        }
        let many = vec![good; MOST_REPORTS + 1].join(",");
        let body = format!("{{\"reports\": [{many}]}}");
        let error = reports_from_json(body.as_bytes()).unwrap_err();
        assert_eq!(error, BatchError::TooMany { found: MOST_REPORTS + 1 });
    }

    #[test]
    fn none_and_too_many_are_not_written() {
        assert_eq!(reports_to_json(&[]), Err(BatchError::Empty));
        let many = vec![reports(1, false)[0].clone(); MOST_REPORTS + 1];
        assert_eq!(reports_to_json(&many), Err(BatchError::TooMany { found: MOST_REPORTS + 1 }));
    }
}
