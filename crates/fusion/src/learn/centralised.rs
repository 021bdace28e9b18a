//! Projections chosen by someone who sees all data: DCA, MDR and RUCA, the comparators of ST20
//! Section VI-B. They are deterministic, so no reading has an LDP level, and they are computed from everybody's readings in one place:
//! there is no sensor that could run a part of them. They are for comparison and cannot be shipped ([`CANNOT_SHIP`]).
//!
//! With S_B and S_W the scatter between and within classes, the directions are the leading solutions
//! of S_B^H v = λ M v with M = S_W^H + ρI for DCA, S_B^G + ρI for MDR, S_W^H + ρI + ρ_p S_B^G for
//! RUCA.

use undertone_core::AlphabetView;
use undertone_design::Error;

use crate::Samples;
use undertone_numeric::symmetric::Symmetric;
use undertone_numeric::vector::dot;

/// Why none of these ships.
pub const CANNOT_SHIP: &str = "dca, mdr and ruca are comparators and cannot be shipped: they need everybody's readings in one place before anything is hidden, and what they release is deterministic, so that no LDP level holds";

/// What a projection is to be good at.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Criterion {
    /// Discriminant component analysis: tell H.
    Dca,
    /// Maximal utility over private scatter: tell H rather than G.
    Mdr,
    /// Ratio utility and cost analysis: tell H, at a price for telling G.
    Ruca {
        /// ρ_p, the price.
        price: f64,
    },
}

/// Directions onto which rows are projected, the best first.
#[derive(Debug, Clone, PartialEq)]
pub struct Projection {
    mean: Vec<f64>,
    directions: Vec<Vec<f64>>,
    values: Vec<f64>,
}

impl Projection {
    /// Solves the eigenproblem of `criterion` on rows with labels of H and of the components of G.
    pub fn fit(
        rows: &[Vec<f64>],
        public: &[usize],
        private: &[Vec<usize>],
        criterion: Criterion,
        ridge: f64,
        components: usize,
    ) -> Result<Self, Error> {
        let size = rows.first().map_or(0, Vec::len);
        if size == 0 {
            return Err(Error::Empty { what: "the list of rows to project".into() });
        }
        let columns = private.iter().chain([&public.to_vec()]).all(|c| c.len() == rows.len());
        if !columns || rows.iter().any(|row| row.len() != size) {
            let problem = "every row needs as many numbers as the first, and every label";
            return Err(Error::other("the rows to project", problem));
        }
        if let Criterion::Ruca { price } = criterion
            && !(price >= 0.0 && price.is_finite())
        {
            return Err(Error::range("the price of RUCA", price, "at least 0"));
        }
        if !(ridge > 0.0 && ridge.is_finite()) {
            return Err(Error::range("the ridge", ridge, "above 0 and finite"));
        }
        let mean = mean(rows.iter(), size);
        let between_public = between(rows, public, &mean);
        let mut between_private = Symmetric::zero(size);
        private.iter().for_each(|g| between_private.add_scaled(&between(rows, g, &mean), 1.0));
        let mut metric = Symmetric::zero(size);
        (0..size).for_each(|j| metric.add(j, j, ridge));
        if !matches!(criterion, Criterion::Mdr) {
            for row in rows {
                let centred: Vec<f64> = row.iter().zip(&mean).map(|(x, m)| x - m).collect();
                metric.add_outer(&centred, 1.0);
            }
            metric.add_scaled(&between_public, -1.0);
        }
        match criterion {
            Criterion::Dca => {}
            Criterion::Mdr => metric.add_scaled(&between_private, 1.0),
            Criterion::Ruca { price } => metric.add_scaled(&between_private, price),
        }
        let Some(factor) = metric.cholesky() else {
            let problem = "the scatter matrix is not positive definite: give a larger ridge";
            return Err(Error::other("the projection", problem));
        };
        // L⁻¹ S_B L⁻ᵀ, column by column.
        let mut half: Vec<Vec<f64>> = between_public.rows().map(<[f64]>::to_vec).collect();
        half.iter_mut().for_each(|column| factor.forward(column));
        let mut whole = Symmetric::zero(size);
        for i in 0..size {
            let mut row: Vec<f64> = half.iter().map(|column| column[i]).collect();
            factor.forward(&mut row);
            row.iter().enumerate().for_each(|(j, v)| whole.add(i, j, *v));
        }
        let mut pairs = whole.eigenpairs();
        pairs.truncate(components.max(1));
        let (values, directions) = pairs
            .into_iter()
            .map(|(value, mut vector)| {
                factor.backward(&mut vector);
                let length = dot(&vector, &vector).sqrt();
                vector.iter_mut().for_each(|v| *v /= length);
                (value, vector)
            })
            .unzip();
        Ok(Self { mean, directions, values })
    }

    /// The eigenvalues λ, largest first.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// The directions, each of length one.
    pub fn directions(&self) -> &[Vec<f64>] {
        &self.directions
    }

    /// What is released of a row.
    pub fn project(&self, row: &[f64]) -> Vec<f64> {
        let centred: Vec<f64> = row.iter().zip(&self.mean).map(|(x, m)| x - m).collect();
        self.directions.iter().map(|direction| dot(direction, &centred)).collect()
    }
}

fn mean<'a>(rows: impl Iterator<Item = &'a Vec<f64>>, size: usize) -> Vec<f64> {
    let (mut sum, mut count) = (vec![0.0; size], 0.0);
    for row in rows {
        sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += x);
        count += 1.0;
    }
    sum.iter().map(|sum| sum / f64::max(count, 1.0)).collect()
}

/// Σ_c n_c (μ_c - μ)(μ_c - μ)ᵀ.
fn between(rows: &[Vec<f64>], labels: &[usize], whole: &[f64]) -> Symmetric {
    let mut classes = labels.to_vec();
    classes.sort_unstable();
    classes.dedup();
    let mut scatter = Symmetric::zero(whole.len());
    for class in classes {
        let own =
            || rows.iter().zip(labels).filter(|(_, label)| **label == class).map(|(row, _)| row);
        let mean = mean(own(), whole.len());
        let away: Vec<f64> = mean.iter().zip(whole).map(|(c, m)| c - m).collect();
        scatter.add_outer(&away, own().count() as f64);
    }
    scatter
}

/// Readings as numbers: levels by their place, scaled to unit variance; names one column each.
#[derive(Debug, Clone, PartialEq)]
pub struct Encoding {
    sensors: Vec<Encoded>,
}

#[derive(Debug, Clone, PartialEq)]
enum Encoded {
    Level { mean: f64, scale: f64 },
    Names(usize),
}

impl Encoding {
    /// Means and variances of the training samples.
    pub fn fit(samples: &Samples) -> Self {
        let n = samples.samples().len() as f64;
        let sensor = |(t, (_, alphabet)): (usize, &(String, undertone_core::Alphabet))| {
            if let AlphabetView::Names(names) = alphabet.view() {
                return Encoded::Names(names.len());
            }
            let levels = || samples.samples().iter().map(|sample| sample.readings[t] as f64);
            let mean = levels().sum::<f64>() / n;
            let variance = levels().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
            Encoded::Level {
                mean,
                scale: if variance > 0.0 { variance.sqrt().recip() } else { 0.0 },
            }
        };
        Self { sensors: samples.sensors().iter().enumerate().map(sensor).collect() }
    }

    /// One sample's readings as numbers.
    pub fn encode(&self, readings: &[usize]) -> Vec<f64> {
        let mut row = Vec::new();
        for (sensor, &x) in self.sensors.iter().zip(readings) {
            match sensor {
                Encoded::Level { mean, scale } => row.push((x as f64 - mean) * scale),
                Encoded::Names(size) => {
                    row.extend((0..*size).map(|at| f64::from(u8::from(at == x))));
                }
            }
        }
        row
    }
}
