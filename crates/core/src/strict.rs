//! JSON as it is written and no other way: what derived readers would also take is refused.

use alloc::format;
use alloc::string::String;
use core::fmt;
use core::marker::PhantomData;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A record that is written as an object. A derived reader would also take the list of its fields' values.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Fields(PhantomData))
    }
}

struct Fields<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Fields<T> {
    type Value = Object<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Self::Value, A::Error> {
        T::deserialize(MapAccessDeserializer::new(fields)).map(Object)
    }
}

/// An integer below 2^53, which every JSON parser reads exactly.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(try_from = "u64")]
pub(crate) struct Integer(pub(crate) u64);

impl Integer {
    /// The first integer that is too large.
    pub(crate) const END: u64 = 1 << 53;
}

impl TryFrom<u64> for Integer {
    type Error = String;

    fn try_from(value: u64) -> Result<Self, String> {
        let large = || format!("{value} is not below 2^53, as every integer of a document is");
        (value < Self::END).then_some(Self(value)).ok_or_else(large)
    }
}
