//! The append-only log of a survey: every entry carries the hash of the one before.

use sha2::{Digest, Sha256};
use undertone_wire::SurveyId;

/// Something worth remembering. The store numbers it and chains it to the one before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    /// The survey it is about.
    pub survey: SurveyId,
    /// When, in seconds since 1970.
    pub at: i64,
    /// What kind of thing happened.
    pub kind: String,
    /// What happened, opaque to the store.
    pub detail: String,
}

/// An entry of the log.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ChainedEvent {
    /// Its number within the survey, from 1.
    pub seq: u64,
    /// What happened.
    pub event: Event,
    /// The hash of the entry before, zeros for the first.
    pub previous: [u8; 32],
    /// The hash of this entry.
    pub hash: [u8; 32],
}

const DOMAIN: &[u8] = b"undertone/log/1";

impl ChainedEvent {
    /// Chains an event to the entry before it.
    pub fn after(previous: Option<(u64, [u8; 32])>, event: Event) -> Self {
        let (seq, previous) = previous.map_or((1, [0; 32]), |(seq, hash)| (seq + 1, hash));
        let hash = digest(seq, &event, &previous);
        Self { seq, event, previous, hash }
    }

    /// Whether the hash is that of the contents.
    pub fn is_intact(&self) -> bool {
        self.hash == digest(self.seq, &self.event, &self.previous)
    }

    /// Whether this is the first entry of a log and was not altered.
    pub fn is_first(&self) -> bool {
        self.seq == 1 && self.previous == [0; 32] && self.is_intact()
    }

    /// Whether `next` comes right after this entry and neither was altered.
    pub fn precedes(&self, next: &Self) -> bool {
        self.is_intact()
            && next.is_intact()
            && next.previous == self.hash
            && next.seq == self.seq + 1
            && next.event.survey == self.event.survey
    }
}

/// SHA-256 over a tag, the previous hash, number and time as 8 big-endian bytes each, then survey, kind
/// and detail, each behind its length in 8 big-endian bytes.
fn digest(seq: u64, event: &Event, previous: &[u8; 32]) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(DOMAIN);
    hash.update(previous);
    hash.update(seq.to_be_bytes());
    hash.update(event.at.to_be_bytes());
    for text in [event.survey.as_str(), &event.kind, &event.detail] {
        hash.update((text.len() as u64).to_be_bytes());
        hash.update(text);
    }
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(detail: &str) -> Event {
        let survey = "coffee".parse().unwrap();
        Event { survey, at: 7, kind: "round_opened".into(), detail: detail.into() }
    }

    #[test]
    fn any_change_breaks_the_chain() {
        let first = ChainedEvent::after(None, event("a"));
        let second = ChainedEvent::after(Some((first.seq, first.hash)), event("b"));
        assert!(first.precedes(&second));
        assert!(!second.precedes(&first));
        let changes: [fn(&mut ChainedEvent); 7] = [
            |entry| entry.seq += 1,
            |entry| entry.event.at += 1,
            |entry| entry.event.kind.push('x'),
            |entry| entry.event.detail.push('x'),
            |entry| entry.event.survey = "tea".parse().unwrap(),
            |entry| entry.previous[0] ^= 1,
            |entry| entry.hash[31] ^= 1,
        ];
        for change in changes {
            let mut forged = second.clone();
            change(&mut forged);
            assert!(!first.precedes(&forged), "{forged:?}");
        }
        // Text does not flow from one field to the next.
        let mut moved = second.clone();
        moved.event.kind = "round_openedb".into();
        moved.event.detail = String::new();
        assert!(!moved.is_intact());
    }
}
