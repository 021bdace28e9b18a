//! People with a prior each, brought together in groups that are large enough and whose priors are alike.
//!
//! Priors are points; a group is cut in two where that takes most of the squared distance from its mean, along the coordinate that
//! varies most, and only where both sides keep enough people. The cut that helps most is made first, until there are as many groups as
//! wanted or no cut is left. Equal priors are never parted, so a group is a function of the prior alone.

use crate::Error;

/// Who is in which group, and between which limits the priors of each lie.
#[derive(Debug, Clone, PartialEq)]
pub struct PriorGroups {
    of: Vec<u32>,
    groups: Vec<PriorGroup>,
}

/// One group.
#[derive(Debug, Clone, PartialEq)]
pub struct PriorGroup {
    /// How many people it has.
    pub people: u64,
    /// The mean of its priors, over people.
    pub mean: Vec<f64>,
    /// The least probability of every symbol among its priors.
    pub lower: Vec<f64>,
    /// The greatest.
    pub upper: Vec<f64>,
}

/// Rows in some order that belong together.
struct Node {
    rows: Vec<usize>,
    cut: Option<Cut>,
}

/// The best way to part a node.
struct Cut {
    gain: f64,
    coordinate: usize,
    /// Priors below this go to the first side.
    at: f64,
}

impl PriorGroups {
    /// Groups of at least `least` people, at most `most` of them; `people` says how many each prior stands for. Refuses lists that do
    /// not fit together, and fewer people than one group needs.
    pub fn new(
        priors: &[Vec<f64>],
        people: &[u64],
        least: u64,
        most: usize,
    ) -> Result<Self, Error> {
        let size = priors.first().map_or(0, Vec::len);
        if size == 0 {
            return Err(Error::Empty { what: "the table of priors".into() });
        }
        if people.len() != priors.len() || priors.iter().any(|prior| prior.len() != size) {
            let problem =
                "every prior needs as many probabilities as the first, and a number of people";
            return Err(Error::other("the table of priors", problem));
        }
        if most == 0 {
            return Err(Error::range("the number of groups", 0.0, "at least 1"));
        }
        let all = people.iter().try_fold(0u64, |sum, &more| sum.checked_add(more));
        let all = all.filter(|&all| all >= least.max(1));
        if all.is_none() {
            let problem = format!(
                "has {} people, and a group needs {least}: give more people, or a smaller least group",
                people.iter().fold(0u64, |sum, more| sum.saturating_add(*more))
            );
            return Err(Error::other("the table of priors", problem));
        }
        let search = Search { priors, people, least: least.max(1) };
        let mut nodes = vec![search.node((0..priors.len()).collect())];
        while nodes.len() < most {
            let gain = |node: &Node| node.cut.as_ref().map_or(0.0, |cut| cut.gain);
            let better = |best: usize, at: usize| {
                if gain(&nodes[at]) > gain(&nodes[best]) { at } else { best }
            };
            let best = (1..nodes.len()).fold(0, better);
            let Some(cut) = nodes[best].cut.take().filter(|cut| cut.gain > 0.0) else { break };
            let rows = std::mem::take(&mut nodes[best].rows);
            let (first, second) =
                rows.into_iter().partition(|&row| priors[row][cut.coordinate] < cut.at);
            nodes[best] = search.node(first);
            nodes.push(search.node(second));
        }
        // By their means, so that numbers of groups mean something and do not depend on the order of cuts.
        let mut found: Vec<(PriorGroup, Vec<usize>)> =
            nodes.into_iter().map(|node| (search.group(&node.rows), node.rows)).collect();
        found.sort_by(|(a, _), (b, _)| {
            let pairs = a.mean.iter().zip(&b.mean);
            pairs
                .map(|(a, b)| b.total_cmp(a))
                .find(|order| order.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        let mut of = vec![0; priors.len()];
        for (at, (_, rows)) in found.iter().enumerate() {
            rows.iter().for_each(|&row| of[row] = at as u32);
        }
        Ok(Self { of, groups: found.into_iter().map(|(group, _)| group).collect() })
    }

    /// The group of every prior, in the order given.
    pub fn of(&self) -> &[u32] {
        &self.of
    }

    /// The groups.
    pub fn groups(&self) -> &[PriorGroup] {
        &self.groups
    }
}

struct Search<'a> {
    priors: &'a [Vec<f64>],
    people: &'a [u64],
    least: u64,
}

impl Search<'_> {
    fn node(&self, rows: Vec<usize>) -> Node {
        let cut = self.cut(&rows);
        Node { rows, cut }
    }

    fn group(&self, rows: &[usize]) -> PriorGroup {
        let size = self.priors[0].len();
        let mut group = PriorGroup {
            people: rows.iter().map(|&row| self.people[row]).sum(),
            mean: vec![0.0; size],
            lower: vec![f64::INFINITY; size],
            upper: vec![f64::NEG_INFINITY; size],
        };
        for &row in rows {
            for (x, &p) in self.priors[row].iter().enumerate() {
                group.mean[x] += self.people[row] as f64 * p / group.people as f64;
                group.lower[x] = group.lower[x].min(p);
                group.upper[x] = group.upper[x].max(p);
            }
        }
        group
    }

    /// The best cut along the coordinate that varies most and can be cut at all.
    fn cut(&self, rows: &[usize]) -> Option<Cut> {
        let total: u64 = rows.iter().map(|&row| self.people[row]).sum();
        if total < self.least.saturating_mul(2) {
            return None;
        }
        let spread = |x: usize| {
            let mean = self.sum(rows, |p| p[x]) / total as f64;
            self.sum(rows, |p| (p[x] - mean) * (p[x] - mean))
        };
        let mut order: Vec<(f64, usize)> =
            (0..self.priors[0].len()).map(|x| (spread(x), x)).collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let varies = order.iter().filter(|(spread, _)| *spread > 0.0);
        varies.map(|&(_, x)| self.cut_along(rows, x, total)).find(Option::is_some).flatten()
    }

    fn cut_along(&self, rows: &[usize], x: usize, total: u64) -> Option<Cut> {
        let mut sorted: Vec<(f64, u64)> =
            rows.iter().map(|&row| (self.priors[row][x], self.people[row])).collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0));
        let all: f64 = sorted.iter().map(|&(p, people)| p * people as f64).sum();
        let (mut below, mut sum) = (0u64, 0.0);
        let mut best: Option<Cut> = None;
        for pair in sorted.windows(2) {
            below += pair[0].1;
            sum += pair[0].0 * pair[0].1 as f64;
            let above = total - below;
            if pair[0].0 == pair[1].0 || below < self.least || above < self.least {
                continue;
            }
            let gap = sum / below as f64 - (all - sum) / above as f64;
            let gain = below as f64 * above as f64 / total as f64 * gap * gap;
            if best.as_ref().is_none_or(|best| gain > best.gain) {
                best = Some(Cut { gain, coordinate: x, at: pair[1].0 });
            }
        }
        best
    }

    fn sum(&self, rows: &[usize], of: impl Fn(&[f64]) -> f64) -> f64 {
        rows.iter().map(|&row| self.people[row] as f64 * of(&self.priors[row])).sum()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_numeric::dice::unit;

    fn random(rows: usize, size: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<u64>) {
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        let mut priors = Vec::new();
        let mut people = Vec::new();
        for _ in 0..rows {
            // Few digits, so that many are equal.
            let weights: Vec<f64> =
                (0..size).map(|_| (1.0 + 8.0 * unit(&mut rng)).floor()).collect();
            let total: f64 = weights.iter().sum();
            priors.push(weights.iter().map(|weight| weight / total).collect());
            people.push((4.0 * unit(&mut rng)) as u64);
        }
        (priors, people)
    }

    #[test]
    fn groups_are_large_enough_hold_their_priors_and_never_part_equal_ones() {
        for seed in 0..20 {
            let size = 2 + seed as usize % 3;
            let (priors, people) = random(400, size, seed);
            let (least, most) = (30 + 10 * seed, 1 + seed as usize);
            let found = PriorGroups::new(&priors, &people, least, most).unwrap();
            assert!(found.groups().len() <= most && (most < 2 || found.groups().len() > 1));
            let mut counted = vec![0; found.groups().len()];
            for ((prior, people), &at) in priors.iter().zip(&people).zip(found.of()) {
                let group = &found.groups()[at as usize];
                counted[at as usize] += people;
                for (x, p) in prior.iter().enumerate() {
                    assert!(group.lower[x] <= *p && *p <= group.upper[x]);
                }
            }
            for (group, counted) in found.groups().iter().zip(counted) {
                assert!(group.people == counted && counted >= least, "{counted} of {least}");
                assert!((group.mean.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            }
            for (a, &of_a) in priors.iter().zip(found.of()) {
                for (b, &of_b) in priors.iter().zip(found.of()) {
                    assert!(a != b || of_a == of_b);
                }
            }
        }
    }

    /// Two symbols, two groups: no other cut leaves less squared distance.
    #[test]
    fn the_first_cut_is_the_best_of_all() {
        let (priors, people) = random(60, 2, 77);
        let least = 10;
        let found = PriorGroups::new(&priors, &people, least, 2).unwrap();
        let left = |in_first: &dyn Fn(f64) -> bool| {
            let side = |first: bool| {
                let own: Vec<(f64, f64)> = priors
                    .iter()
                    .zip(&people)
                    .filter(|(prior, _)| in_first(prior[0]) == first)
                    .map(|(prior, &people)| (prior[0], people as f64))
                    .collect();
                let total: f64 = own.iter().map(|(_, people)| people).sum();
                let mean = own.iter().map(|(p, people)| p * people).sum::<f64>() / total;
                (total, own.iter().map(|(p, people)| people * (p - mean).powi(2)).sum::<f64>())
            };
            let (first, second) = (side(true), side(false));
            (first.0 >= least as f64 && second.0 >= least as f64).then_some(first.1 + second.1)
        };
        let best =
            priors.iter().filter_map(|prior| left(&|p| p < prior[0])).fold(f64::INFINITY, f64::min);
        let border = found.groups()[0].lower[0].max(found.groups()[1].lower[0]);
        let own = left(&|p| p < border).unwrap();
        assert!(own <= best + 1e-12, "{own} {best}");
    }

    #[test]
    fn too_few_people_and_uneven_tables_are_refused() {
        let priors = vec![vec![0.5, 0.5]; 3];
        assert!(PriorGroups::new(&priors, &[10, 20, 30], 61, 4).is_err());
        assert!(PriorGroups::new(&priors, &[10, 20], 1, 4).is_err());
        assert!(PriorGroups::new(&[], &[], 1, 4).is_err());
        // Nothing to tell apart: one group.
        let one = PriorGroups::new(&priors, &[10, 20, 30], 1, 4).unwrap();
        assert_eq!((one.groups().len(), one.groups()[0].people), (1, 60));
    }
}
