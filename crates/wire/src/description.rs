//! A survey as its curator shows it to anybody, and as a device reads it.

use crate::{Answers, RoundState, SurveyId};
use serde::{Deserialize, Deserializer, Serialize};
use undertone_core::Object;

/// A survey without any counts. Records are objects and nothing else; fields a reader does not know are left alone, so
/// that a curator may say more one day.
///
/// Fields stand in the order in which they are written: by name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SurveyDescription {
    /// What people may answer.
    pub answers: Object<Answers>,
    /// Whom to ask, in the owner's words.
    #[serde(default, deserialize_with = "text_or_null")]
    pub contact: String,
    /// The survey's name in addresses.
    pub id: SurveyId,
    /// Every policy of every round so far, oldest first.
    #[serde(default)]
    pub policies_so_far: Vec<Object<PolicySoFar>>,
    /// What people are asked.
    #[serde(default)]
    pub question: String,
    /// How long reports are kept, in the owner's words.
    #[serde(default, deserialize_with = "text_or_null")]
    pub retention: String,
    /// The newest round; `None` if there is none yet.
    pub round: Option<Object<RoundDescription>>,
    /// The state of the newest round, or `planned`.
    #[serde(default)]
    pub state: String,
    /// What the survey is called in lists.
    #[serde(default)]
    pub title: String,
}

/// A survey's newest round.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RoundDescription {
    /// Who shares a policy.
    pub groups: Vec<Object<GroupDescription>>,
    /// The round's number, from 1.
    pub number: u32,
    /// The name of a [`RoundState`]. A state a reader does not know is not open.
    pub state: String,
}

/// People who share a policy.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct GroupDescription {
    /// The group's name, normally `everyone`.
    pub group: String,
    /// How many people share the policy, at least, as the survey's owner says; nothing checks it.
    pub people: u64,
    /// The id of its policy, 64 hexadecimal digits.
    pub policy: String,
}

/// A policy of one round and group.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PolicySoFar {
    /// The group.
    pub group: String,
    /// The LDP the policy attains, in nats, as printed.
    pub ldp: String,
    /// Its id.
    pub policy: String,
    /// The number of the round.
    pub round: u32,
}

impl SurveyDescription {
    /// Reads a description.
    pub fn from_json(text: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(text).map(|Object(description)| description)
    }
}

impl RoundDescription {
    /// Whether the round takes reports.
    pub fn is_open(&self) -> bool {
        self.state == RoundState::Open.name()
    }

    /// The group of this name; without a name, the only one.
    pub fn group(&self, name: Option<&str>) -> Option<&GroupDescription> {
        let found = match name {
            Some(name) => self.groups.iter().find(|Object(group)| group.group == name),
            None if self.groups.len() == 1 => self.groups.first(),
            None => None,
        };
        found.map(|Object(group)| group)
    }

    /// The names of all groups.
    pub fn group_names(&self) -> Vec<String> {
        self.groups.iter().map(|Object(group)| group.group.clone()).collect()
    }
}

fn text_or_null<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(Option::deserialize(from)?.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn shown() -> Value {
        json!({
            "id": "commute", "title": "Commute", "question": "How did you come?",
            "answers": {"names": ["by bus", "on foot"]}, "state": "open",
            "round": {"number": 2, "state": "open", "groups": [
                {"group": "everyone", "policy": "ab".repeat(32), "people": 100}]},
            "contact": "owner@example", "retention": "a year",
            "policies_so_far": [{"round": 1, "group": "everyone", "policy": "cd".repeat(32), "ldp": "1"}],
        })
    }

    fn read(survey: &Value) -> Result<SurveyDescription, String> {
        SurveyDescription::from_json(survey.to_string().as_bytes()).map_err(|e| e.to_string())
    }

    /// Devices, pages and caches hold these bytes.
    #[test]
    fn what_is_read_is_written_the_same() {
        let description = read(&shown()).unwrap();
        assert_eq!(serde_json::to_string(&description).unwrap(), shown().to_string());
        let mut planned = shown();
        (planned["round"], planned["state"]) = (Value::Null, json!(RoundState::PLANNED));
        planned["policies_so_far"] = json!([]);
        let description = read(&planned).unwrap();
        assert_eq!(serde_json::to_string(&description).unwrap(), planned.to_string());
    }

    #[test]
    fn unknown_and_absent_words_are_left_alone() {
        let mut more = shown();
        more["later"] = json!("unknown");
        more["round"]["groups"][0]["later"] = json!(1);
        more["contact"] = Value::Null;
        let description = read(&more).unwrap();
        assert_eq!((description.contact.as_str(), description.retention.as_str()), ("", "a year"));
        for absent in
            ["title", "question", "contact", "retention", "state", "policies_so_far", "round"]
        {
            let mut less = shown();
            less.as_object_mut().unwrap().remove(absent);
            read(&less).unwrap();
        }
    }

    #[test]
    fn what_is_no_description_is_refused() {
        for (pointer, value, said) in [
            ("/id", json!("../admin"), "survey id"),
            ("/id", Value::Null, "string"),
            ("/title", Value::Null, "string"),
            ("/answers", json!(["by bus"]), "expected an object"),
            ("/answers/units", json!("kg"), "units"),
            ("/round", json!([2, "open", []]), "expected an object"),
            ("/round/number", json!(-1), "u32"),
            ("/round/groups/0", json!(["everyone", 100, "ab"]), "expected an object"),
            ("/round/groups/0/people", json!("many"), "u64"),
            ("/policies_so_far/0", json!([]), "expected an object"),
        ] {
            let mut changed = shown();
            let (parent, field) = pointer.rsplit_once('/').unwrap();
            let parent = changed.pointer_mut(parent).unwrap();
            match field.parse::<usize>() {
                Ok(at) => parent[at] = value,
                Err(_) => parent[field] = value,
            }
            let error = read(&changed).unwrap_err();
            assert!(error.contains(said), "{pointer}: {error}");
        }
        for absent in ["id", "answers"] {
            let mut less = shown();
            less.as_object_mut().unwrap().remove(absent);
            assert!(read(&less).unwrap_err().contains(absent));
        }
    }

    #[test]
    fn one_group_needs_no_name() {
        let description = read(&shown()).unwrap();
        let mut round = description.round.unwrap().0;
        assert!(round.is_open());
        assert_eq!(round.group(None).map(|group| group.people), Some(100));
        assert!(round.group(Some("others")).is_none());
        let mut others = round.groups[0].clone();
        others.0.group = "others".into();
        round.groups.push(others);
        assert!(round.group(None).is_none());
        assert!(round.group(Some("others")).is_some());
        assert_eq!(round.group_names(), ["everyone", "others"]);
        round.state = "paused".into();
        assert!(!round.is_open());
    }
}
