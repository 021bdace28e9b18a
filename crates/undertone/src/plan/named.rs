//! Objects whose fields are names that people chose.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, Visitor};

/// Values by name, in the order of the file; a name that is given twice is refused.
#[derive(Debug, Clone)]
pub(super) struct Named<V>(pub(super) Vec<(String, V)>);

impl<V> Named<V> {
    pub(super) fn get(&self, name: &str) -> Option<&V> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, value)| value)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(name, _)| name.as_str())
    }
}

impl<'de, V: Deserialize<'de>> Deserialize<'de> for Named<V> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct ByName<V>(PhantomData<V>);
        impl<'de, V: Deserialize<'de>> Visitor<'de> for ByName<V> {
            type Value = Named<V>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with a field for every name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named<V>, A::Error> {
                let mut entries: Vec<(String, V)> = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, V>()? {
                    if entries.iter().any(|(other, _)| *other == name) {
                        return Err(A::Error::custom(format!("{name:?} is given twice")));
                    }
                    entries.push((name, value));
                }
                Ok(Named(entries))
            }
        }
        from.deserialize_map(ByName(PhantomData))
    }
}

/// Probabilities: a list in the order of the symbols, or by name.
#[derive(Debug, Clone, serde::Deserialize)]
#[serde(untagged)]
pub(super) enum Probabilities {
    List(Vec<f64>),
    ByName(Named<f64>),
}

impl Probabilities {
    /// The probabilities in the order of some symbols; other symbols are refused, named.
    pub(super) fn over(&self, what: &str, labels: &[String]) -> Result<Vec<f64>, String> {
        match self {
            Self::List(list) if list.len() == labels.len() => Ok(list.clone()),
            Self::List(list) => Err(format!(
                "{what} has {} probabilities for the {} answers {}",
                list.len(),
                labels.len(),
                crate::error::listed(labels.iter().cloned(), 8)
            )),
            Self::ByName(named) => {
                if let Some(odd) = named.names().find(|name| !labels.iter().any(|at| at == name)) {
                    return Err(format!(
                        "{what} has a probability of {odd:?}, which is not among the answers {}",
                        crate::error::listed(labels.iter().cloned(), 8)
                    ));
                }
                let one = |label: &String| {
                    let missing =
                        || format!("{what} has no probability of the answer {label:?}: give one");
                    named.get(label).copied().ok_or_else(missing)
                };
                labels.iter().map(one).collect()
            }
        }
    }

    /// The names, where there are any.
    pub(super) fn names(&self) -> Vec<String> {
        match self {
            Self::List(_) => Vec::new(),
            Self::ByName(named) => named.names().map(str::to_owned).collect(),
        }
    }
}
