//! What was drawn as a whole: rows, or clusters of rows.

use super::{Sample, SampleError};
use crate::Factor;
use std::collections::HashMap;
use undertone_numeric::symmetric::Symmetric;

/// The units of every stratum.
#[derive(Clone, Debug)]
pub(super) struct Units {
    /// How many units each stratum has.
    sizes: Vec<usize>,
    /// All rows, cluster by cluster, and where each cluster ends; `None` where every row is a unit.
    clusters: Option<Clusters>,
}

#[derive(Clone, Debug)]
struct Clusters {
    order: Vec<u32>,
    ends: Vec<u32>,
}

/// Rows that are added as one: they have the same scores, stratum and margins. Outside of clusters a lump's rows are different units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lump {
    /// One of them.
    pub(super) row: u32,
    pub(super) weight: f64,
    pub(super) squares: f64,
}

impl Units {
    pub(super) fn rows(rows: usize) -> Self {
        Self { sizes: vec![rows], clusters: None }
    }

    pub(super) fn strata(rows: usize, strata: Option<&Factor>) -> Result<Self, SampleError> {
        let Some(strata) = strata else { return Ok(Self::rows(rows)) };
        let mut sizes = vec![0; strata.levels().len()];
        strata.codes().iter().for_each(|&code| sizes[code as usize] += 1);
        check(strata, &sizes, "row")?;
        Ok(Self { sizes, clusters: None })
    }

    pub(super) fn clusters(
        strata: Option<&Factor>,
        clusters: &Factor,
    ) -> Result<Self, SampleError> {
        let codes = clusters.codes();
        let stratum = |row: u32| strata.map_or(0, |strata| strata.codes()[row as usize]);
        let key = |row: &u32| (stratum(*row), codes[*row as usize]);
        let mut order: Vec<u32> = (0..codes.len() as u32).collect();
        order.sort_by_key(key);
        let mut sizes = vec![0; strata.map_or(1, |strata| strata.levels().len())];
        let mut ends = Vec::new();
        for (at, row) in order.iter().enumerate() {
            if order.get(at + 1).is_none_or(|next| key(next) != key(row)) {
                ends.push(at as u32 + 1);
                sizes[stratum(*row) as usize] += 1;
            }
        }
        match strata {
            Some(strata) => check(strata, &sizes, "cluster")?,
            None if sizes == [1] => return Err(SampleError::OneCluster),
            None => {}
        }
        Ok(Self { sizes, clusters: Some(Clusters { order, ends }) })
    }

    pub(super) fn are_clusters(&self) -> bool {
        self.clusters.is_some()
    }

    pub(super) fn count(&self) -> usize {
        self.sizes.iter().sum()
    }

    /// How many strata have units.
    pub(super) fn strata_count(&self) -> usize {
        self.sizes.iter().filter(|size| **size > 0).count()
    }

    /// The rows in the order in which they are added up, alike ones together where that is permitted.
    pub(super) fn lumps(&self, sample: &Sample, classes: Option<&[u32]>) -> Vec<Lump> {
        let lump = |row: u32| {
            let weight = sample.weight(row as usize);
            Lump { row, weight, squares: weight * weight }
        };
        let rows = 0..sample.rows as u32;
        match (&self.clusters, classes) {
            (Some(clusters), _) => clusters.order.iter().map(|&row| lump(row)).collect(),
            (None, None) => rows.map(lump).collect(),
            (None, Some(classes)) => {
                let mut lumps: Vec<Lump> = Vec::new();
                let mut place = Places::new(sample, classes);
                for row in rows {
                    let at = place.of(row, lumps.len());
                    if at == lumps.len() {
                        lumps.push(Lump { row, weight: 0.0, squares: 0.0 });
                    }
                    let Lump { weight, squares, .. } = lump(row);
                    lumps[at].weight += weight;
                    lumps[at].squares += squares;
                }
                lumps
            }
        }
    }

    /// The covariance of the total over lumps that [`Units::lumps`] made.
    pub(super) fn covariance(
        &self,
        width: usize,
        lumps: &[Lump],
        stratum_of: impl Fn(usize) -> usize,
        fractions: &[f64],
        mut score: impl FnMut(usize, &mut [f64]),
    ) -> Symmetric {
        let mut squares: Vec<Symmetric> = vec![Symmetric::zero(width); self.sizes.len()];
        let mut sums = vec![vec![0.0; width]; self.sizes.len()];
        let mut scores = vec![0.0; width];
        let mut add = |sum: &mut [f64], lump: &Lump, scores: &mut [f64]| {
            scores.fill(0.0);
            score(lump.row as usize, scores);
            sum.iter_mut().zip(&*scores).for_each(|(sum, score)| *sum += lump.weight * score);
        };
        if let Some(clusters) = &self.clusters {
            let mut start = 0;
            for &end in &clusters.ends {
                let rows = &lumps[start..end as usize];
                let mut unit = vec![0.0; width];
                rows.iter().for_each(|lump| add(&mut unit, lump, &mut scores));
                let stratum = stratum_of(rows[0].row as usize);
                squares[stratum].add_outer(&unit, 1.0);
                sums[stratum].iter_mut().zip(&unit).for_each(|(sum, unit)| *sum += unit);
                start = end as usize;
            }
        } else {
            for lump in lumps {
                let stratum = stratum_of(lump.row as usize);
                add(&mut sums[stratum], lump, &mut scores);
                squares[stratum].add_outer(&scores, lump.squares);
            }
        }
        let mut total = Symmetric::zero(width);
        for (stratum, (&size, square)) in self.sizes.iter().zip(&mut squares).enumerate() {
            if size < 2 {
                continue;
            }
            let size = size as f64;
            square.add_outer(&sums[stratum], -1.0 / size);
            let rest = 1.0 - fractions.get(stratum).copied().unwrap_or(0.0);
            total.add_scaled(square, rest * size / (size - 1.0));
        }
        total
    }
}

/// Which lump a row belongs to: by class, stratum and margins.
struct Places<'a> {
    sample: &'a Sample,
    classes: &'a [u32],
    /// By class alone, where there is nothing else.
    plain: Vec<usize>,
    found: HashMap<(u32, u32, Vec<u32>), usize>,
}

impl<'a> Places<'a> {
    fn new(sample: &'a Sample, classes: &'a [u32]) -> Self {
        let plain = sample.strata.is_none() && sample.calibration.is_none();
        let most = classes.iter().max().map_or(0, |&class| class as usize + 1);
        let plain = if plain { vec![usize::MAX; most] } else { Vec::new() };
        Self { sample, classes, plain, found: HashMap::new() }
    }

    /// The lump of a row; `next` for a new one.
    fn of(&mut self, row: u32, next: usize) -> usize {
        let class = self.classes[row as usize];
        if let Some(place) = self.plain.get_mut(class as usize) {
            if *place == usize::MAX {
                *place = next;
            }
            return *place;
        }
        let stratum = self.sample.stratum(row as usize) as u32;
        let levels = self.sample.calibration.as_ref();
        let levels = levels.map_or_else(Vec::new, |known| known.levels(row as usize));
        *self.found.entry((class, stratum, levels)).or_insert(next)
    }
}

fn check(strata: &Factor, sizes: &[usize], unit: &'static str) -> Result<(), SampleError> {
    match sizes.iter().position(|&size| size == 1) {
        Some(at) => Err(SampleError::LoneUnit { stratum: strata.levels()[at].clone(), unit }),
        None => Ok(()),
    }
}
