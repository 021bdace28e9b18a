//! Sensor networks: a private hypothesis G, the sensors' data X and what they transmit, Z.
//!
//! G = (G_1..G_q) and X = (X_1..X_s) are vectors, numbered with the last coordinate fastest, and
//! G - X - Z is a Markov chain. Two vectors are neighbours if they differ in one coordinate.
//! ST20 Definition 1 measures what Z says of G, Definition 2 what it says of X. A vector z of
//! probability zero constrains nothing, nor does a hypothesis g of probability zero.

use super::{Cell, Leakage, Pair, lip, mutual_information, worst_spread};
use crate::{Channel, Distribution, Error, Joint};

/// A product channel may have this many cells.
pub const MAX_CELLS: usize = 1 << 24;

/// A joint law of hypothesis and data over product alphabets, with the channel from data to messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Network {
    hypotheses: Vec<usize>,
    sensors: Vec<usize>,
    joint: Joint,
    channel: Channel,
}

impl Network {
    /// `hypotheses` and `sensors` are the alphabet sizes of the coordinates of G and X; `joint` is
    /// P(g,x) and `channel` the one from the vector x to the vector z.
    pub fn new(
        hypotheses: Vec<usize>,
        sensors: Vec<usize>,
        joint: Joint,
        channel: Channel,
    ) -> Result<Self, Error> {
        check_sizes("the hypotheses", &hypotheses, joint.secret().len())?;
        check_sizes("the sensors' data", &sensors, joint.given_secret().outputs())?;
        check_sizes("the channel's inputs", &sensors, channel.inputs())?;
        let channel = channel.in_order_of("the channel", joint.symbols())?.into_owned();
        Ok(Self { hypotheses, sensors, joint, channel })
    }

    /// Every sensor t maps its own X_t to Z_t through `maps[t]`, independently of the others.
    pub fn from_sensors(
        hypotheses: Vec<usize>,
        joint: Joint,
        maps: &[Channel],
    ) -> Result<Self, Error> {
        let sensors = maps.iter().map(Channel::inputs).collect();
        Self::new(hypotheses, sensors, joint, product(maps)?)
    }

    /// Inference differential privacy of G: ln max p(z|g)/p(z|g') over neighbours g, g'.
    pub fn inference_dp(&self) -> Result<Leakage<Pair>, Error> {
        let heard = self.joint.through(&self.channel)?;
        let prior = self.joint.secret();
        let lines = lines(&self.hypotheses);
        let possible = |line: &[usize], z: usize| {
            let known = line.iter().filter(|&&g| prior[g] > 0.0);
            known.map(|&g| (g, heard.q(g, z))).collect::<Vec<_>>().into_iter()
        };
        let groups = (0..heard.outputs())
            .flat_map(|z| lines.iter().map(move |line| (z, line)))
            .map(|(z, line)| (z, possible(line, z)));
        Ok(worst_spread(groups))
    }

    /// Average leakage of G: I(G;Z).
    pub fn average_leakage(&self) -> Result<f64, Error> {
        mutual_information::leakage(self.joint.secret(), &self.joint.through(&self.channel)?)
    }

    /// Information privacy of G: the largest |ln p(g|z)/p(g)|.
    pub fn information_privacy(&self) -> Result<Leakage<Cell>, Error> {
        let heard = self.joint.through(&self.channel)?;
        let prior = self.joint.secret();
        let support: Vec<usize> = (0..prior.len()).filter(|&g| prior[g] > 0.0).collect();
        let masses = support.iter().map(|&g| prior[g]).collect();
        let rows = support.iter().map(|&g| heard.rows()[g].clone()).collect();
        let masses = Distribution::normalised("hypotheses with mass", masses)?;
        let found = lip::leakage(&masses, &Channel::from_rows(rows)?)?;
        Ok(Leakage { nats: found.nats, at: (support[found.at.0], found.at.1) })
    }

    /// Mutual-information privacy of the data: I(X;Z).
    pub fn mutual_information(&self) -> Result<f64, Error> {
        mutual_information::leakage(&self.joint.data()?, &self.channel)
    }

    /// Identifiability of the data: ln max p(x|z)/p(x'|z) over neighbours x, x'.
    ///
    /// Infinite unless every vector x has mass.
    pub fn identifiability(&self) -> Result<Leakage<Pair>, Error> {
        let data = self.joint.data()?;
        let lines = lines(&self.sensors);
        let weight = |x: usize, z: usize| (x, data[x] * self.channel.q(x, z));
        let groups = (0..self.channel.outputs())
            .flat_map(|z| lines.iter().map(move |line| (z, line)))
            .map(|(z, line)| (z, line.iter().map(move |&x| weight(x, z))));
        Ok(worst_spread(groups))
    }
}

/// The channel of several sensors side by side: vectors in, vectors out, last coordinate fastest.
pub fn product(maps: &[Channel]) -> Result<Channel, Error> {
    let Some((first, rest)) = maps.split_first() else {
        return Err(Error::Empty { what: "the list of sensor maps".into() });
    };
    let cells = maps
        .iter()
        .try_fold(1usize, |cells, map| cells.checked_mul(map.inputs())?.checked_mul(map.outputs()));
    if cells.is_none_or(|cells| cells > MAX_CELLS) {
        return Err(Error::TooLarge {
            what: "the product of the sensor maps".into(),
            size: cells.unwrap_or(usize::MAX),
            limit: MAX_CELLS,
            fix: "use fewer sensors or smaller alphabets".into(),
        });
    }
    let mut whole = first.clone();
    for map in rest {
        let pairs = whole.rows().iter().flat_map(|a| map.rows().iter().map(move |b| (a, b)));
        let row = |(a, b): (&Distribution, &Distribution)| {
            let cells = a.as_slice().iter().flat_map(|p| b.as_slice().iter().map(move |q| p * q));
            Distribution::normalised("product row", cells.collect())
        };
        whole = Channel::from_rows(pairs.map(row).collect::<Result<_, _>>()?)?;
    }
    Ok(whole)
}

/// Refuses alphabet sizes whose product is not `found`.
fn check_sizes(what: &str, sizes: &[usize], found: usize) -> Result<(), Error> {
    let product = sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size));
    match product {
        Some(expected) if expected == found => Ok(()),
        _ => Err(Error::Size { what: what.into(), expected: product.unwrap_or(usize::MAX), found }),
    }
}

/// All sets of vectors that agree in every coordinate but one.
fn lines(sizes: &[usize]) -> Vec<Vec<usize>> {
    let total: usize = sizes.iter().product();
    let mut lines = Vec::new();
    let mut stride = total;
    for &size in sizes {
        stride /= size;
        let starts = (0..total).filter(|start| (start / stride).is_multiple_of(size));
        lines.extend(starts.map(|start| (0..size).map(|i| start + i * stride).collect()));
    }
    lines
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn lines_join_neighbours_only() {
        let found = lines(&[2, 3]);
        assert_eq!(found.len(), 3 + 2);
        assert!(found.contains(&vec![1, 4]) && found.contains(&vec![3, 4, 5]));
    }

    #[test]
    fn sizes_must_multiply_to_the_alphabets() {
        let joint = Joint::new(vec![vec![0.25, 0.25], vec![0.25, 0.25]]).unwrap();
        let map = Channel::identity(2).unwrap();
        assert!(Network::new(vec![2], vec![2], joint.clone(), map.clone()).is_ok());
        assert!(Network::new(vec![3], vec![2], joint.clone(), map.clone()).is_err());
        assert!(Network::new(vec![2], vec![2, 2], joint.clone(), map.clone()).is_err());
        assert!(Network::new(vec![2, usize::MAX], vec![2], joint, map.clone()).is_err());
        assert!(product(&[]).is_err());
        assert!(matches!(product(&vec![map; 13]), Err(Error::TooLarge { .. })));
    }
}
