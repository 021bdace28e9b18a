//! Boosted decision trees over released symbols: an attacker who knows the labels of many samples and
//! nothing about how the maps were made.
//!
//! Softmax loss, one small tree per class and round, leaf values by one Newton step. Symbols are few,
//! so every split is found from exact histograms.

use undertone_design::Error;

use super::linear::check;

/// How trees are grown.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Growth {
    /// How many trees per class.
    pub rounds: usize,
    /// How many questions a tree asks at most.
    pub depth: usize,
    /// How much of each tree counts.
    pub rate: f64,
    /// How many samples a leaf holds at least.
    pub least: usize,
}

impl Default for Growth {
    fn default() -> Self {
        Self { rounds: 80, depth: 3, rate: 0.15, least: 5 }
    }
}

/// Trees that guess a label.
#[derive(Debug, Clone, PartialEq)]
pub struct Boosted {
    /// The labels that occurred.
    values: Vec<usize>,
    start: Vec<f64>,
    /// Round after round, one tree per value.
    rounds: Vec<Vec<Tree>>,
}

/// A tree: node 0 is the root.
#[derive(Debug, Clone, PartialEq)]
struct Tree(Vec<Node>);

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Leaf(f64),
    /// Symbols up to `most` go to node `low`, others to `high`.
    Split {
        feature: usize,
        most: usize,
        low: usize,
        high: usize,
    },
}

impl Tree {
    fn score(&self, row: &[usize]) -> f64 {
        let mut at = 0;
        loop {
            match self.0[at] {
                Node::Leaf(value) => return value,
                Node::Split { feature, most, low, high } => {
                    at = if row[feature] <= most { low } else { high };
                }
            }
        }
    }
}

/// Weight of the leaves' ridge.
const RIDGE: f64 = 1.0;

/// Sums of slopes and curvatures, and how many.
#[derive(Clone, Copy, Default)]
struct Sums {
    slope: f64,
    bend: f64,
    count: usize,
}

impl Sums {
    fn add(&mut self, slope: f64, bend: f64) {
        self.slope += slope;
        self.bend += bend;
        self.count += 1;
    }

    fn plus(self, other: Self) -> Self {
        Self {
            slope: self.slope + other.slope,
            bend: self.bend + other.bend,
            count: self.count + other.count,
        }
    }

    fn minus(self, other: Self) -> Self {
        Self {
            slope: self.slope - other.slope,
            bend: self.bend - other.bend,
            count: self.count - other.count,
        }
    }

    /// What a leaf with these sums gains.
    fn gain(self) -> f64 {
        self.slope * self.slope / (self.bend + RIDGE)
    }
}

struct Grower<'a> {
    rows: &'a [Vec<usize>],
    levels: &'a [usize],
    slopes: &'a [f64],
    bends: &'a [f64],
    growth: Growth,
    nodes: Vec<Node>,
}

impl Grower<'_> {
    fn grow(&mut self, members: &[usize], depth: usize) -> usize {
        let mut all = Sums::default();
        members.iter().for_each(|&i| all.add(self.slopes[i], self.bends[i]));
        let at = self.nodes.len();
        self.nodes.push(Node::Leaf(-self.growth.rate * all.slope / (all.bend + RIDGE)));
        if depth == 0 || members.len() < 2 * self.growth.least {
            return at;
        }
        let Some((feature, most)) = self.best(members, all) else { return at };
        let (low, high): (Vec<usize>, Vec<usize>) =
            members.iter().partition(|&&i| self.rows[i][feature] <= most);
        let low = self.grow(&low, depth - 1);
        let high = self.grow(&high, depth - 1);
        self.nodes[at] = Node::Split { feature, most, low, high };
        at
    }

    /// The split that gains most, if one gains anything.
    fn best(&self, members: &[usize], all: Sums) -> Option<(usize, usize)> {
        let mut best = (all.gain() + 1e-9, None);
        for (feature, &levels) in self.levels.iter().enumerate() {
            let mut histogram = vec![Sums::default(); levels];
            for &i in members {
                histogram[self.rows[i][feature]].add(self.slopes[i], self.bends[i]);
            }
            let mut low = Sums::default();
            for (most, sums) in histogram.iter().enumerate().take(levels - 1) {
                low = low.plus(*sums);
                let high = all.minus(low);
                if low.count < self.growth.least || high.count < self.growth.least {
                    continue;
                }
                let gain = low.gain() + high.gain();
                if gain > best.0 {
                    best = (gain, Some((feature, most)));
                }
            }
        }
        best.1
    }
}

impl Boosted {
    /// Learns to guess `labels` from rows of symbols; feature j has `levels[j]` symbols.
    pub fn fit(
        rows: &[Vec<usize>],
        levels: &[usize],
        labels: &[usize],
        growth: Growth,
    ) -> Result<Self, Error> {
        check(rows, levels, labels)?;
        if growth.least == 0 || !(growth.rate > 0.0 && growth.rate <= 1.0) {
            let problem = "leaves need at least one sample and a rate above 0 and at most 1";
            return Err(Error::other("the growth of trees", problem));
        }
        let mut values = labels.to_vec();
        values.sort_unstable();
        values.dedup();
        let share = |value: &usize| {
            labels.iter().filter(|label| *label == value).count() as f64 / labels.len() as f64
        };
        let start: Vec<f64> = values.iter().map(|value| share(value).ln()).collect();
        let mut scores = vec![start.clone(); rows.len()];
        let members: Vec<usize> = (0..rows.len()).collect();
        let mut rounds = Vec::with_capacity(growth.rounds);
        for _ in 0..growth.rounds {
            let beliefs: Vec<Vec<f64>> = scores.iter().map(|scores| softmax(scores)).collect();
            let tree = |class: usize| {
                let p = |i: usize| beliefs[i][class];
                let own = |i: usize| f64::from(u8::from(labels[i] == values[class]));
                let slopes: Vec<f64> = members.iter().map(|&i| p(i) - own(i)).collect();
                let bends: Vec<f64> = members.iter().map(|&i| p(i) * (1.0 - p(i))).collect();
                let (slopes, bends) = (&slopes[..], &bends[..]);
                let mut grower = Grower { rows, levels, slopes, bends, growth, nodes: Vec::new() };
                grower.grow(&members, growth.depth);
                Tree(grower.nodes)
            };
            let trees: Vec<Tree> = (0..values.len()).map(tree).collect();
            for (row, scores) in rows.iter().zip(&mut scores) {
                scores.iter_mut().zip(&trees).for_each(|(score, tree)| *score += tree.score(row));
            }
            rounds.push(trees);
        }
        Ok(Self { values, start, rounds })
    }

    /// The most likely label; ties go to the lower one.
    pub fn guess(&self, row: &[usize]) -> usize {
        let mut scores = self.start.clone();
        for trees in &self.rounds {
            scores.iter_mut().zip(trees).for_each(|(score, tree)| *score += tree.score(row));
        }
        let better = |best: usize, at: usize| if scores[at] > scores[best] { at } else { best };
        self.values[(1..scores.len()).fold(0, better)]
    }
}

fn softmax(scores: &[f64]) -> Vec<f64> {
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let parts: Vec<f64> = scores.iter().map(|score| (score - most).exp()).collect();
    let total: f64 = parts.iter().sum();
    parts.iter().map(|part| part / total).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha12Rng;
    use rand_core::SeedableRng;
    use undertone_numeric::dice::unit;

    fn wrong(trees: &Boosted, rows: &[Vec<usize>], labels: &[usize]) -> f64 {
        let wrong = rows.iter().zip(labels).filter(|(row, label)| trees.guess(row) != **label);
        wrong.count() as f64 / rows.len() as f64
    }

    /// Five symbols below 4; the label is a function of them with one in ten flipped.
    fn noisy(
        seed: u64,
        n: usize,
        truth: impl Fn(&[usize]) -> usize,
    ) -> (Vec<Vec<usize>>, Vec<usize>) {
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        let rows: Vec<Vec<usize>> =
            (0..n).map(|_| (0..5).map(|_| (4.0 * unit(&mut rng)) as usize).collect()).collect();
        let labels =
            rows.iter().map(|row| if unit(&mut rng) < 0.1 { 2 } else { truth(row) }).collect();
        (rows, labels)
    }

    #[test]
    fn trees_find_what_no_linear_rule_can() {
        // Whether two symbols are on the same side: parity, invisible to every single feature.
        let truth = |row: &[usize]| usize::from((row[0] < 2) == (row[3] < 2));
        let (rows, labels) = noisy(1, 2000, truth);
        let (fresh, known) = noisy(2, 1000, truth);
        let trees = Boosted::fit(&rows, &[4; 5], &labels, Growth::default()).unwrap();
        assert!(wrong(&trees, &fresh, &known) < 0.13, "{}", wrong(&trees, &fresh, &known));
        let linear = super::super::linear::Linear::fit(&rows, &[4; 5], &labels, 0.01).unwrap();
        let missed = fresh.iter().zip(&known).filter(|(row, label)| linear.decide(row) != **label);
        assert!(missed.count() > 350);
    }

    #[test]
    fn nothing_to_find_is_nothing_found() {
        let mut rng = ChaCha12Rng::seed_from_u64(3);
        let mut rows = Vec::new();
        let mut labels = Vec::new();
        for _ in 0..4000 {
            rows.push(vec![(3.0 * unit(&mut rng)) as usize, (2.0 * unit(&mut rng)) as usize]);
            labels.push(usize::from(unit(&mut rng) < 0.5));
        }
        let trees =
            Boosted::fit(&rows[..2000], &[3, 2], &labels[..2000], Growth::default()).unwrap();
        let error = wrong(&trees, &rows[2000..], &labels[2000..]);
        assert!((error - 0.5).abs() < 0.05, "{error}");
        // A constant release leaves the most common label.
        let constant = vec![vec![0]; 10];
        let trees =
            Boosted::fit(&constant, &[1], &[1, 1, 1, 1, 1, 1, 0, 0, 0, 0], Growth::default());
        assert_eq!(trees.unwrap().guess(&[0]), 1);
    }

    #[test]
    fn rows_that_do_not_fit_are_refused() {
        let fit = |rows: &[Vec<usize>], labels: &[usize]| {
            Boosted::fit(rows, &[2, 2], labels, Growth::default()).unwrap_err().to_string()
        };
        assert!(fit(&[], &[]).contains("empty"));
        assert!(fit(&[vec![0, 1]], &[]).contains("labels"));
        assert!(fit(&[vec![0]], &[1]).contains("released row 0"));
        assert!(fit(&[vec![0, 2]], &[1]).contains("symbol 2 where 2 exist"));
    }
}
