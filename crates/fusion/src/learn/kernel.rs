//! Kernels: which rules a centre and its adversaries can use.
//!
//! ST20 (18) is stated for any kernel and computed with the count kernel. A rule sees Φ_Q(x) = Σ_z p(z|x) Φ(z); with both kernels here
//! it is linear in every sensor's map while the others are held, which is what the block steps rest on.

use undertone_design::Error;

/// κ(z,z'), and with it the features of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Kernel {
    /// How many sensors say the same: Σ_t 1{z_t = z'_t}. Rules are sums over the sensors; what two sensors tell only together is not
    /// seen.
    #[default]
    Count,
    /// Also how many pairs of sensors say the same: Σ_t 1{z_t = z'_t} + Σ_{t<u} 1{z_t = z'_t} 1{z_u = z'_u}. Rules see parities and other
    /// things of two sensors.
    Pairs,
}

impl Kernel {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Count, Self::Pairs];

    /// What it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Pairs => "pairs",
        }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Result<Self, Error> {
        Self::ALL
            .into_iter()
            .find(|kernel| kernel.name() == name)
            .ok_or_else(|| Error::other("kernel", format!("{name:?} is not one of count, pairs")))
    }
}

/// Where the features of a kernel stand in one Φ: first one for every output of every sensor, then, for pairs t < u, one for every two
/// outputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) kernel: Kernel,
    pub(crate) sensors: usize,
    pub(crate) outputs: usize,
}

impl Layout {
    /// The size of one Φ.
    pub(crate) fn size(self) -> usize {
        let pairs = match self.kernel {
            Kernel::Count => 0,
            Kernel::Pairs => self.sensors * (self.sensors - 1) / 2,
        };
        self.singles() + pairs * self.outputs * self.outputs
    }

    /// How many features are about one sensor.
    pub(crate) fn singles(self) -> usize {
        self.sensors * self.outputs
    }

    /// The feature of two sensors' outputs.
    pub(crate) fn pair(self, (t, z): (usize, usize), (u, y): (usize, usize)) -> usize {
        let ((t, z), (u, y)) = if t < u { ((t, z), (u, y)) } else { ((u, y), (t, z)) };
        // Pairs with a first sensor before t, then those of t before u.
        let before = t * (2 * self.sensors - t - 1) / 2 + (u - t - 1);
        self.singles() + (before * self.outputs + z) * self.outputs + y
    }

    /// The sensors beside `t` whose outputs go together with its own.
    fn beside(self, t: usize) -> impl Iterator<Item = usize> {
        let sensors = match self.kernel {
            Kernel::Count => 0,
            Kernel::Pairs => self.sensors,
        };
        (0..sensors).filter(move |&u| u != t)
    }

    /// The features that output `z` of sensor `t` is a factor of, in the order of [`Layout::partners`].
    pub(crate) fn own(self, t: usize, z: usize) -> Vec<usize> {
        let pairs = self.beside(t).flat_map(|u| (0..self.outputs).map(move |y| (u, y)));
        let mut own = vec![t * self.outputs + z];
        own.extend(pairs.map(|other| self.pair((t, z), other)));
        own
    }

    /// What p_t(z) is multiplied with in those features of a row: one, and the other sensors' probabilities.
    pub(crate) fn partners(self, t: usize, row: &[f64], partners: &mut Vec<f64>) {
        partners.clear();
        partners.push(1.0);
        for u in self.beside(t) {
            partners.extend_from_slice(&row[u * self.outputs..(u + 1) * self.outputs]);
        }
    }

    /// Makes the features of pairs with sensor `t` what those of single sensors say.
    pub(crate) fn refresh(self, t: usize, row: &mut [f64]) {
        let k = self.outputs;
        for u in self.beside(t) {
            for z in 0..k {
                for y in 0..k {
                    row[self.pair((t, z), (u, y))] = row[t * k + z] * row[u * k + y];
                }
            }
        }
    }

    /// <w, Φ(z)> for outputs that were released.
    pub(crate) fn score(self, weights: &[f64], released: &[usize]) -> f64 {
        let single = |(t, &z): (usize, &usize)| weights[t * self.outputs + z];
        let singles: f64 = released.iter().enumerate().map(single).sum();
        let mut pairs = 0.0;
        for (t, &z) in released.iter().enumerate() {
            for u in self.beside(t).filter(|&u| u > t) {
                pairs += weights[self.pair((t, z), (u, released[u]))];
            }
        }
        singles + pairs
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_a_feature_of_its_own_and_scores_are_inner_products_of_the_kernel() {
        let layout = Layout { kernel: Kernel::Pairs, sensors: 4, outputs: 3 };
        let mut seen = vec![0; layout.size()];
        (0..layout.singles()).for_each(|at| seen[at] += 1);
        for t in 0..4 {
            for u in t + 1..4 {
                for (z, y) in (0..3).flat_map(|z| (0..3).map(move |y| (z, y))) {
                    seen[layout.pair((t, z), (u, y))] += 1;
                    assert_eq!(layout.pair((t, z), (u, y)), layout.pair((u, y), (t, z)));
                }
            }
        }
        assert!(seen.iter().all(|&times| times == 1), "{seen:?}");
        // Φ(z') as weights gives κ(z,z').
        let (a, b) = ([0, 2, 1, 1], [0, 1, 1, 1]);
        let mut weights = vec![0.0; layout.size()];
        (0..4).for_each(|t| weights[3 * t + b[t]] = 1.0);
        (0..4).for_each(|t| layout.refresh(t, &mut weights));
        let alike = (0..4).filter(|&t| a[t] == b[t]).count() as f64;
        assert_eq!(layout.score(&weights, &a), alike + alike * (alike - 1.0) / 2.0);
        let count = Layout { kernel: Kernel::Count, ..layout };
        assert_eq!((count.size(), count.own(2, 1)), (12, vec![7]));
        assert_eq!(Kernel::parse("pairs").unwrap(), Kernel::Pairs);
        assert!(Kernel::parse("gaussian").is_err());
    }
}
