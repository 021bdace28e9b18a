//! Gowalla: who checks in last within a region, and how often they did before.

use std::collections::BTreeMap;

use crate::data::GOWALLA;
use crate::{Context, Error};

/// The secret region as the paper gives it: latitude 50 to 55, longitude −5 to 0.
pub const REGION: [(f64, f64); 2] = [(50.0, 55.0), (-5.0, 0.0)];
/// A cell of a 36 by 36 grid of the globe is twice as wide.
pub const CELL: [(f64, f64); 2] = [(50.0, 55.0), (-10.0, 0.0)];

/// A user's check-ins, counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct User {
    /// Earlier check-ins within the region.
    pub inside: u32,
    /// All earlier check-ins.
    pub earlier: u32,
    /// Whether the last one is within the region.
    pub last: bool,
}

impl User {
    /// Whether the history has both answers, so that its share is a prior LIP can speak of.
    pub fn is_mixed(self) -> bool {
        self.inside > 0 && self.inside < self.earlier
    }

    /// The share of earlier check-ins within the region, as in the paper.
    pub fn share(self) -> f64 {
        f64::from(self.inside) / f64::from(self.earlier)
    }

    /// The share of earlier check-ins after half a check-in more of each kind (Krichevsky and Trofimov): never 0 or 1.
    pub fn smoothed(self) -> f64 {
        (f64::from(self.inside) + 0.5) / (f64::from(self.earlier) + 1.0)
    }
}

/// Every user with at least two check-ins.
pub fn users(context: &Context, region: [(f64, f64); 2]) -> Result<Vec<User>, Error> {
    let records = context.data.records(GOWALLA, ',')?;
    let (who, when) = (records.column("user")?, records.column("time")?);
    let (latitude, longitude) = (records.numbers("lat")?, records.numbers("lon")?);
    let mut traces: BTreeMap<&str, Vec<(&str, bool)>> = BTreeMap::new();
    for (at, user) in who.into_iter().enumerate() {
        let within = |value: f64, (low, high): (f64, f64)| low <= value && value <= high;
        let inside = within(latitude[at], region[0]) && within(longitude[at], region[1]);
        traces.entry(user).or_default().push((when[at], inside));
    }
    let count = |mut trace: Vec<(&str, bool)>| {
        // UTC in one format, so that texts sort as times; equal times keep the file's order.
        trace.sort_by_key(|(time, _)| *time);
        let (_, last) = trace.pop()?;
        let inside = trace.iter().filter(|(_, inside)| *inside).count() as u32;
        Some(User { inside, earlier: trace.len() as u32, last })
    };
    Ok(traces.into_values().filter_map(count).filter(|user| user.earlier > 0).collect())
}
