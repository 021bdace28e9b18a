//! How rows came into a sample: weights, strata, clusters, a finite population, known margins.
//!
//! Every estimator hands its score vectors, one per row, to [`Sample::covariance_of_total`] and gets the design-based
//! (linearised) covariance of their weighted total. Within a stratum, units (rows, or whole clusters) are taken as drawn with
//! replacement, or, in a finite population, without; units of different strata are independent.

mod error;
mod margin;
mod shares;
mod units;

pub use error::SampleError;
pub use margin::Margin;
pub use shares::SampleShares;

use crate::Factor;
use margin::Calibration;
use undertone_numeric::symmetric::Symmetric;
use units::Units;

/// What is known of how the rows were drawn; nothing of it is needed.
#[derive(Clone, Debug, Default)]
pub struct SampleDesign {
    /// How many people a row stands for, up to a common factor: above nought.
    pub weights: Option<Vec<f64>>,
    /// The stratum of every row: parts of the population that were sampled apart.
    pub strata: Option<Factor>,
    /// The cluster of every row: schools, households, people with several answers, drawn as a whole. Clusters of the same name
    /// in different strata are different clusters.
    pub clusters: Option<Factor>,
    /// How many people the population has, where that is not many more than the sample.
    pub population: Option<u64>,
}

/// A sample whose design was checked: weights are positive and finite, every stratum has two units or more.
#[derive(Clone, Debug)]
pub struct Sample {
    rows: usize,
    weights: Option<Vec<f64>>,
    strata: Option<Factor>,
    units: Units,
    population: Option<f64>,
    /// The part of its population that every stratum has sampled; empty where the population's size was not given.
    fractions: Vec<f64>,
    calibration: Option<Calibration>,
}

impl Sample {
    /// Rows that were drawn simply at random and count alike.
    pub fn simple(rows: usize) -> Self {
        Self {
            rows,
            weights: None,
            strata: None,
            units: Units::rows(rows),
            population: None,
            fractions: Vec::new(),
            calibration: None,
        }
    }

    /// Checks a design of so many rows.
    pub fn new(rows: usize, design: SampleDesign) -> Result<Self, SampleError> {
        let SampleDesign { weights, strata, clusters, population } = design;
        if rows == 0 {
            return Err(SampleError::NoRows);
        }
        let fits = |what, found: Option<usize>| match found {
            Some(found) if found != rows => Err(SampleError::Size { what, expected: rows, found }),
            _ => Ok(()),
        };
        fits("weights", weights.as_ref().map(Vec::len))?;
        fits("strata", strata.as_ref().map(|strata| strata.codes().len()))?;
        fits("clusters", clusters.as_ref().map(|clusters| clusters.codes().len()))?;
        if let Some(weights) = &weights {
            let good = |weight: &f64| *weight > 0.0 && weight.is_finite();
            if let Some(row) = weights.iter().position(|weight| !good(weight)) {
                return Err(SampleError::Weight { row, value: weights[row] });
            }
        }
        if let Some(people) = population.filter(|&people| people < rows as u64) {
            return Err(SampleError::Population { people, rows });
        }
        // Weights that are all the same are none.
        let weights = weights.filter(|all| all.iter().any(|weight| *weight != all[0]));
        let units = match &clusters {
            Some(clusters) => Units::clusters(strata.as_ref(), clusters)?,
            None => Units::strata(rows, strata.as_ref())?,
        };
        let population = population.map(|people| people as f64);
        let (fractions, calibration) = (Vec::new(), None);
        let mut sample = Self { rows, weights, strata, units, population, fractions, calibration };
        sample.fractions = sample.sampled_fractions();
        Ok(sample)
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The weight of a row; 1 where none were given.
    pub fn weight(&self, row: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[row])
    }

    /// The weights, where rows differ in them.
    pub fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// The sum of the weights.
    pub fn total_weight(&self) -> f64 {
        self.weights.as_ref().map_or(self.rows as f64, |weights| weights.iter().sum())
    }

    /// How many people the population has, where that was said.
    pub fn population(&self) -> Option<u64> {
        self.population.map(|people| people as u64)
    }

    /// Whether rows are alike and independent, drawn from a large population: nothing of a design was given.
    pub fn is_simple(&self) -> bool {
        self.weights.is_none()
            && self.strata.is_none()
            && !self.units.are_clusters()
            && self.population.is_none()
            && self.calibration.is_none()
    }

    /// By how much weights alone raise the variance of a mean that has nothing to do with them (Kish): n Σw²/(Σw)².
    pub fn weighting_effect(&self) -> f64 {
        let total = self.total_weight();
        let squares: f64 = (0..self.rows).map(|row| self.weight(row) * self.weight(row)).sum();
        self.rows as f64 * squares / (total * total)
    }

    /// How many independent deviations the covariance rests on: units less strata. Infinite without clusters, where there are as many
    /// as rows and the normal law serves.
    pub fn degrees_of_freedom(&self) -> f64 {
        if self.units.are_clusters() {
            (self.units.count() - self.units.strata_count()) as f64
        } else {
            f64::INFINITY
        }
    }

    /// What part of its stratum's population a row's stratum has sampled; 0 where the population's size was not given. The
    /// population is divided among the strata as the weights are.
    pub fn sampling_fraction(&self, row: usize) -> f64 {
        self.fractions.get(self.stratum(row)).copied().unwrap_or(0.0)
    }

    fn stratum(&self, row: usize) -> usize {
        self.strata.as_ref().map_or(0, |strata| strata.codes()[row] as usize)
    }

    fn sampled_fractions(&self) -> Vec<f64> {
        let Some(people) = self.population else { return Vec::new() };
        let Some(strata) = &self.strata else { return vec![self.rows as f64 / people] };
        let mut sums = vec![(0.0, 0.0); strata.levels().len()];
        for (row, &code) in strata.codes().iter().enumerate() {
            let sum = &mut sums[code as usize];
            *sum = (sum.0 + 1.0, sum.1 + self.weight(row));
        }
        let total = self.total_weight();
        sums.iter().map(|(rows, weight)| (rows * total / (people * weight)).min(1.0)).collect()
    }

    /// The covariance of Σ weight(row) score(row), `score` writing a row's vector of `width` numbers.
    ///
    /// Scores of an estimator that solves Σ weight score = 0 sum to nought; others are centred within strata here. Where weights
    /// were raked, what the margins explain of the scores is taken out first. In a finite population the result is the part that
    /// comes from who was drawn; what comes from the perturbation of answers is not lessened by sampling many, so an estimator
    /// adds Σ weight² [`sampling_fraction`](Self::sampling_fraction) V(row), V being the perturbation's own covariance.
    pub fn covariance_of_total(
        &self,
        width: usize,
        score: impl FnMut(usize, &mut [f64]),
    ) -> Result<Symmetric, SampleError> {
        self.covariance(width, None, score)
    }

    /// The covariance of [`covariance_of_total`](Self::covariance_of_total), where rows of one class have the same scores: `score` gets a class. Ten
    /// million rows of a few classes cost one pass.
    pub fn covariance_of_classes(
        &self,
        width: usize,
        classes: &[u32],
        mut score: impl FnMut(u32, &mut [f64]),
    ) -> Result<Symmetric, SampleError> {
        let found = classes.len();
        if found != self.rows {
            return Err(SampleError::Size { what: "classes", expected: self.rows, found });
        }
        self.covariance(width, Some(classes), |row, out| score(classes[row], out))
    }

    fn covariance(
        &self,
        width: usize,
        classes: Option<&[u32]>,
        mut score: impl FnMut(usize, &mut [f64]),
    ) -> Result<Symmetric, SampleError> {
        let lumps = self.units.lumps(self, classes);
        let calibration = self.calibration.as_ref();
        let explained =
            calibration.map(|calibration| calibration.explained(width, &lumps, &mut score));
        let stratum = |row: usize| self.stratum(row);
        Ok(self.units.covariance(width, &lumps, stratum, &self.fractions, |row, out| {
            score(row, out);
            if let (Some(calibration), Some(explained)) = (&self.calibration, &explained) {
                calibration.subtract(explained, row, out);
            }
        }))
    }

    /// These rows with weights changed as little as need be to have every margin's known shares: post-stratification for one margin,
    /// raking (iterative proportional fitting) for several.
    pub fn raked(mut self, margins: Vec<Margin>) -> Result<Self, SampleError> {
        if margins.is_empty() {
            return Ok(self);
        }
        for margin in &margins {
            margin.check(self.rows)?;
        }
        let mut weights = self.weights.take().unwrap_or_else(|| vec![1.0; self.rows]);
        margin::rake(&mut weights, &margins)?;
        self.weights = Some(weights);
        self.calibration = Some(Calibration::new(margins));
        self.fractions = self.sampled_fractions();
        Ok(self)
    }
}
