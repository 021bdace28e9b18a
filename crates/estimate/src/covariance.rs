//! How the unbiased shares err together.

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
            for (x, one) in scores.iter().enumerate() {
                let Some(one) = one else { continue };
                let along = group.channel.covariances(&one.weights[g], &p);
                for (z, other) in scores.iter().enumerate() {
                    let Some(other) = other else { continue };
                    matrix[x][z] += n * long_dot(&along, &other.weights[g]);
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
