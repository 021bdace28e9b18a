//! Families of blocks in a policy document.

use crate::incidence::{Family, Geometry, IncidenceError, Listed, Subsets};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// A family as a document has it.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum RawFamily {
    Subsets { size: u32 },
    Geometry { order: u32, dimension: u32, classes: u32, cosets: u32, zero: bool },
    Hashing { buckets: u32, dimension: u32 },
    Listed { blocks: Vec<Vec<u32>> },
}

/// Read by hand: inside a channel, which is told by its own tag, a derived reader takes a number for the kind.
impl<'de> Deserialize<'de> for RawFamily {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(FamilyFields)
    }
}

struct FamilyFields;

impl<'de> Visitor<'de> for FamilyFields {
    type Value = RawFamily;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a family of blocks")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<RawFamily, A::Error> {
        const NUMBERS: [&str; 6] = ["size", "order", "dimension", "classes", "cosets", "buckets"];
        let (mut kind, mut zero, mut blocks) =
            (None::<String>, None::<bool>, None::<Vec<Vec<u32>>>);
        let mut numbers = [None::<u32>; 6];
        while let Some(name) = fields.next_key::<String>()? {
            let at = NUMBERS.iter().position(|&number| number == name);
            let repeated = match (name.as_str(), at.and_then(|at| numbers.get_mut(at))) {
                ("kind", _) => kind.replace(fields.next_value()?).is_some(),
                ("zero", _) => zero.replace(fields.next_value()?).is_some(),
                ("blocks", _) => blocks.replace(fields.next_value()?).is_some(),
                (_, Some(number)) => number.replace(fields.next_value()?).is_some(),
                _ => return Err(A::Error::custom(format!("unknown field `{name}` of a family"))),
            };
            if repeated {
                return Err(A::Error::custom(format!("duplicate field `{name}`")));
            }
        }
        let [size, order, dimension, classes, cosets, buckets] = numbers;
        let kind = kind.ok_or_else(|| A::Error::missing_field("kind"))?;
        let parts = (size, order, dimension, classes, cosets, buckets, zero, blocks);
        Ok(match (kind.as_str(), parts) {
            ("subsets", (Some(size), None, None, None, None, None, None, None)) => {
                RawFamily::Subsets { size }
            }
            (
                "geometry",
                (
                    None,
                    Some(order),
                    Some(dimension),
                    Some(classes),
                    Some(cosets),
                    None,
                    Some(zero),
                    None,
                ),
            ) => RawFamily::Geometry { order, dimension, classes, cosets, zero },
            ("hashing", (None, None, Some(dimension), None, None, Some(buckets), None, None)) => {
                RawFamily::Hashing { buckets, dimension }
            }
            ("listed", (None, None, None, None, None, None, None, Some(blocks))) => {
                RawFamily::Listed { blocks }
            }
            _ => {
                let known = "subsets has size; geometry order, dimension, classes, cosets and zero; hashing buckets and dimension; listed blocks";
                return Err(A::Error::custom(format!(
                    "family {kind:?}: {known}, and no other fields"
                )));
            }
        })
    }
}

impl RawFamily {
    pub(super) fn read(self, symbols: usize) -> Result<Family, IncidenceError> {
        Ok(match self {
            Self::Subsets { size } => Family::Subsets(Subsets::new(size as usize)),
            Self::Geometry { order, dimension, classes, cosets, zero } => {
                Family::Geometry(Geometry::new(order, dimension, classes, cosets, zero)?)
            }
            Self::Hashing { buckets, dimension } => {
                Family::Geometry(Geometry::hashing(buckets, dimension)?)
            }
            Self::Listed { blocks } => Family::Listed(Listed::new(symbols, &blocks)?),
        })
    }

    pub(super) fn write(family: &Family) -> Self {
        match family {
            Family::Subsets(subsets) => Self::Subsets { size: subsets.size() as u32 },
            Family::Geometry(geometry) if geometry.is_hashing() => {
                Self::Hashing { buckets: geometry.order(), dimension: geometry.dimension() }
            }
            Family::Geometry(geometry) => Self::Geometry {
                order: geometry.order(),
                dimension: geometry.dimension(),
                classes: geometry.classes(),
                cosets: geometry.cosets(),
                zero: geometry.zero(),
            },
            Family::Listed(listed) => Self::Listed {
                blocks: (0..listed.blocks()).map(|block| listed.members(block).to_vec()).collect(),
            },
        }
    }
}
