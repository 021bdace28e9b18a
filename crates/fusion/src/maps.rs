//! One map per sensor, from its reading to its output.

use undertone_design::{Channel, Distribution, Error};

use crate::Model;

/// Row-stochastic maps p_t(z|x), one per sensor.
#[derive(Debug, Clone, PartialEq)]
pub struct Maps(Vec<Channel>);

impl Maps {
    /// At least one map.
    pub fn new(channels: Vec<Channel>) -> Result<Self, Error> {
        if channels.is_empty() {
            return Err(Error::Empty { what: "the list of sensor maps".into() });
        }
        Ok(Self(channels))
    }

    /// One map, given to every sensor of `model`.
    pub fn same(model: &Model, channel: &Channel) -> Result<Self, Error> {
        let maps = Self::new(vec![channel.clone(); model.sensors().len()])?;
        maps.check(model)?;
        Ok(maps)
    }

    /// Every sensor reveals its reading.
    pub fn identity(model: &Model) -> Result<Self, Error> {
        let channels = model.sensors().iter().map(|sensor| Channel::identity(sensor.inputs()));
        Self::new(channels.collect::<Result<_, _>>()?)
    }

    /// The maps, one per sensor.
    pub fn channels(&self) -> &[Channel] {
        &self.0
    }

    /// How many sensors.
    #[expect(clippy::len_without_is_empty, reason = "there is at least one map")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// How many outputs each sensor has.
    pub fn outputs(&self) -> Vec<usize> {
        self.0.iter().map(Channel::outputs).collect()
    }

    /// Refuses maps that are not for the sensors of `model`.
    pub fn check(&self, model: &Model) -> Result<(), Error> {
        let sensors = model.sensors();
        if self.len() != sensors.len() {
            return Err(Error::Size {
                what: "the list of sensor maps".into(),
                expected: sensors.len(),
                found: self.len(),
            });
        }
        for (map, sensor) in self.0.iter().zip(sensors) {
            if map.inputs() != sensor.inputs() {
                return Err(Error::Size {
                    what: format!("the map of sensor {}", sensor.name()),
                    expected: sensor.inputs(),
                    found: map.inputs(),
                });
            }
        }
        Ok(())
    }

    /// First these maps, then `next` on their outputs.
    pub fn then(&self, next: &Self) -> Result<Self, Error> {
        if next.len() != self.len() {
            return Err(Error::Size {
                what: "the second list of sensor maps".into(),
                expected: self.len(),
                found: next.len(),
            });
        }
        Self::new(self.0.iter().zip(&next.0).map(|(a, b)| a.then(b)).collect::<Result<_, _>>()?)
    }

    /// Every sensor forgets its reading with probability `share` and draws its output from the
    /// output's own law instead. Post-processing, so no leakage grows, and none is left at one.
    pub fn mixed(&self, model: &Model, share: f64) -> Result<Self, Error> {
        self.check(model)?;
        let mix = |(t, map): (usize, &Channel)| {
            let readings = Distribution::normalised("readings", model.reading_law(t))?;
            let law = map.output_law(&readings)?;
            let row = |row: &Distribution| {
                let mixed = row.as_slice().iter().zip(law.as_slice());
                let mixed = mixed.map(|(p, c)| (1.0 - share) * p + share * c).collect();
                Distribution::normalised("a mixed row", mixed)
            };
            Channel::from_rows(map.rows().iter().map(row).collect::<Result<_, _>>()?)
        };
        Self::new(self.0.iter().enumerate().map(mix).collect::<Result<_, _>>()?)
    }
}
