//! How the unbiased shares err together.

use crate::channel::Channel;
use crate::estimator::onto_simplex;
use crate::{Error, Estimator, Target};
use undertone_numeric::vector::long_dot;

/// The most symbols for which a whole matrix is made.
const MOST: usize = 2048;

impl Estimator {
    /// The covariance matrix of the unbiased shares' errors, exact for the population nearest to them:
    /// sampling and perturbation for a population, perturbation alone for respondents. Rows and
    /// columns of shares that are not determined are zero.
    pub fn covariance(&self) -> Result<Vec<Vec<f64>>, Error> {
        let size = self.symbols();
        if size > MOST {
            let (what, cells, limit) = ("the covariance matrix", size * size, MOST * MOST);
            return Err(Error::TooLarge { what, cells, limit });
        }
        let p = onto_simplex(&self.decoder().values(&self.groups));
        let all: f64 = self.groups.iter().map(|group| group.reports()).sum();
        let mut matrix = vec![vec![0.0; size]; size];
        let scores: Vec<_> = (0..size).map(|x| self.decoder().share_score(x)).collect();
        for (g, group) in self.groups.iter().enumerate() {
            let n = group.reports();
            let law = group.channel.forward(&p);
            // The outputs' covariance is a diagonal minus a product.
            let (diagonal, side): (Vec<f64>, Vec<f64>) = match &group.channel {
                Channel::Bits(bits) => {
                    let along: Vec<f64> = p.iter().map(|p| bits.gap() * p).collect();
                    let own = |(law, along): (&f64, &f64)| law * (1.0 - law) + along * along;
                    (law.iter().zip(&along).map(own).collect(), along)
                }
                Channel::Table(_) | Channel::Keep(_) => (law.clone(), law),
            };
            for (x, one) in scores.iter().enumerate() {
                let Some(one) = one else { continue };
                let weighed: Vec<f64> =
                    one.weights[g].iter().zip(&diagonal).map(|(w, d)| w * d).collect();
                let along = long_dot(&one.weights[g], &side);
                for (z, other) in scores.iter().enumerate() {
                    let Some(other) = other else { continue };
                    let other = &other.weights[g];
                    matrix[x][z] +=
                        n * (long_dot(&weighed, other) - along * long_dot(&side, other));
                }
                if self.target() == Target::Respondents {
                    // What the respondents' own share of z takes off, on both sides.
                    let means = group.channel.back(&one.weights[g]);
                    let mean = long_dot(&p, &means);
                    for z in (0..size).filter(|&z| scores[z].is_some()) {
                        let shared = n / all * p[z] * (means[z] - mean);
                        matrix[x][z] -= shared;
                        matrix[z][x] -= shared;
                        let own = if x == z { p[x] } else { 0.0 };
                        matrix[x][z] += n / (all * all) * (own - p[x] * p[z]);
                    }
                }
            }
        }
        Ok(matrix)
    }
}
