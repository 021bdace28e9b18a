//! Student Performance as the experiment reads it: features, grades, splits from fixed seeds, predicted priors.

use rand_core::Rng;
use undertone_design::Distribution;

use super::network::{Examples, Network, Training};
use crate::data::{Records, STUDENT_MAT};
use crate::{Context, Error};

/// The seed of the first split and of its networks' first weights.
const SEED: u64 = 2021;
/// Seeds of splits are so far apart, so that no two networks share one.
const APART: u64 = 1000;
/// How many students are in A, whose full records are known; the others are B.
pub const KNOWN: usize = 276;
/// The share of the uniform law mixed into every predicted prior: no grade is impossible.
pub const MIXED: f64 = 0.02;

/// Feature subsets: all, what the text calls relevant, what it calls irrelevant.
pub const SUBSETS: [(&str, &[&str]); 3] = [
    ("all features", &[]),
    ("relevant", &["studytime", "goout", "absences", "G1", "G2"]),
    ("background", &["sex", "address", "nursery", "Mjob", "Fjob", "Medu", "Fedu", "higher"]),
];

/// Grades from 0 to 20 in `k` classes of (nearly) equal width.
pub fn class(grade: usize, k: usize) -> usize {
    (grade * k / 21).min(k.saturating_sub(1))
}

/// The students of both sets.
#[derive(Clone)]
pub struct Students {
    records: Records,
    seed: u64,
    /// Final grades.
    pub grades: Vec<usize>,
    /// Rows of A.
    pub known: Vec<usize>,
    /// Rows of B.
    pub asked: Vec<usize>,
}

impl Students {
    /// Reads the mathematics file (395 students, as in the text) and splits it.
    pub fn read(context: &Context) -> Result<Self, Error> {
        let records = context.data.records(STUDENT_MAT, ';')?;
        let grades = records.numbers("G3")?;
        if let Some(row) = grades.iter().position(|g| !(0.0..=20.0).contains(g)) {
            return Err(Error::Data {
                file: STUDENT_MAT.path.into(),
                line: row + 2,
                problem: format!("G3 is {}; a grade from 0 to 20 was expected", grades[row]),
            });
        }
        let grades: Vec<usize> = grades.into_iter().map(|g| g as usize).collect();
        let all = Self { records, seed: SEED, grades, known: Vec::new(), asked: Vec::new() };
        Ok(all.split(context, 0))
    }

    /// The same students, split another way.
    pub fn split(&self, context: &Context, number: u64) -> Self {
        let seed = SEED + APART * number;
        let mut order: Vec<usize> = (0..self.grades.len()).collect();
        let mut stream = context.stream(seed);
        for at in (1..order.len()).rev() {
            order.swap(at, (stream.next_u64() % (at as u64 + 1)) as usize);
        }
        let asked = order.split_off(KNOWN.min(order.len()));
        Self { seed, known: order, asked, ..self.clone() }
    }

    /// Features of every student, numbers shifted and scaled by A's mean and deviation, words one-hot.
    fn features(&self, columns: &[&str]) -> Result<Vec<Vec<f64>>, Error> {
        let mut rows = vec![Vec::new(); self.grades.len()];
        let header: Vec<&str> = self.records.header.iter().map(String::as_str).collect();
        let wanted = |name: &&str| *name != "G3" && (columns.is_empty() || columns.contains(name));
        for name in header.into_iter().filter(wanted) {
            if let Ok(numbers) = self.records.numbers(name) {
                let known = || self.known.iter().map(|&row| numbers[row]);
                let mean = known().sum::<f64>() / self.known.len() as f64;
                let square = known().map(|v| (v - mean).powi(2)).sum::<f64>();
                let deviation = (square / self.known.len() as f64).sqrt().max(1e-9);
                for (row, value) in rows.iter_mut().zip(numbers) {
                    row.push((value - mean) / deviation);
                }
                continue;
            }
            let words = self.records.column(name)?;
            let mut values = words.clone();
            values.sort_unstable();
            values.dedup();
            for value in values {
                for (row, word) in rows.iter_mut().zip(&words) {
                    row.push(f64::from(u8::from(*word == value)));
                }
            }
        }
        Ok(rows)
    }

    /// For each student of B the law of the class that a network trained on A predicts from a subset
    /// of features.
    pub fn predicted(
        &self,
        context: &Context,
        columns: &[&str],
        k: usize,
    ) -> Result<Vec<Distribution>, Error> {
        let features = self.features(columns)?;
        let known: Vec<Vec<f64>> = self.known.iter().map(|&row| features[row].clone()).collect();
        let labels: Vec<usize> = self.known.iter().map(|&row| class(self.grades[row], k)).collect();
        let examples = Examples { features: &known, labels: &labels, classes: k };
        let mut stream = context.stream(self.seed + k as u64);
        let network = Network::train(&examples, &Training::default(), &mut stream)?;
        let law = |&row: &usize| {
            let p = network.predict(&features[row]);
            let mixed = p.iter().map(|p| (1.0 - MIXED) * p + MIXED / k as f64).collect();
            Ok(Distribution::normalised("a predicted prior", mixed)?)
        };
        self.asked.iter().map(law).collect()
    }

    /// The shares of the classes in A, half a student added to each.
    pub fn global(&self, k: usize) -> Result<Distribution, Error> {
        let mut counts = vec![0.5; k];
        for &row in &self.known {
            counts[class(self.grades[row], k)] += 1.0;
        }
        Ok(Distribution::normalised("the global prior", counts)?)
    }
}
