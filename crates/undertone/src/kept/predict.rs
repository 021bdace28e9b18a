//! Predicting a value from kept cells, cross-fitted: nobody is predicted from rows that they are among.
//!
//! The rows are dealt into five folds. For each, everything is chosen and counted on the other four: which columns
//! and how finely numbers are cut are chosen by the rows of one of these, with the other three counted. Plug-in
//! measures see the rows they predict, and find information where there is none; this one does not.

use std::collections::HashMap;

use super::cell::{KeptCell, joined};
use super::table::{BORROWED, Table};

/// How many parts the rows are dealt into.
pub(super) const FOLDS: u8 = 5;

/// Into how many parts of equal size numbers are cut; also, they are taken one by one.
const CUTS: [usize; 4] = [4, 16, 64, 256];

/// Tables of this many values are not multiplied out: it would take too long.
const MOST_MULTIPLIED: usize = 4096;

/// Products above this are scaled, so that none overflows.
const LARGE: f64 = 1e100;

/// What the predictions for all rows came to.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Predicted {
    pub(super) rows: u64,
    /// How many were predicted right.
    pub(super) hits: u64,
    /// Sums of what each row's value cost in nats: told by the shares of all values alone, and by the kept columns too.
    pub(super) blind_loss: f64,
    pub(super) loss: f64,
    /// The sum of squares of what each row gained.
    squared_gain: f64,
}

impl Predicted {
    /// The share of the blind loss that the kept columns take away, and how far it may be off: two standard errors.
    pub(super) fn reduction(&self) -> (f64, f64) {
        if self.rows == 0 || self.blind_loss <= 0.0 {
            return (0.0, 0.0);
        }
        let rows = self.rows as f64;
        let gain = (self.blind_loss - self.loss) / rows;
        let variance = (self.squared_gain / rows - gain * gain).max(0.0);
        let blind = self.blind_loss / rows;
        (gain / blind, 2.0 * (variance / rows).sqrt() / blind)
    }
}

/// The rows that are measured, column by column.
pub(super) struct Rows<'a> {
    pub(super) columns: &'a [Vec<KeptCell>],
    pub(super) folds: &'a [u8],
}

/// What every question shares: the columns as contexts.
pub(super) struct Contexts<'a> {
    rows: Rows<'a>,
    /// Every column's cells taken one by one.
    exact: Vec<Vec<u32>>,
    /// All columns' cells together.
    together: Vec<u32>,
    /// The rows of a numeric column in the order of their numbers; those without a number are not among them.
    ordered: Vec<Option<Vec<u32>>>,
}

/// A number for every distinct key, in the order in which they first occur.
fn numbered(keys: impl Iterator<Item = u64>) -> Vec<u32> {
    let mut known: HashMap<u64, u32> = HashMap::new();
    keys.map(|key| {
        let next = known.len() as u32;
        *known.entry(key).or_insert(next)
    })
    .collect()
}

impl<'a> Contexts<'a> {
    pub(super) fn new(rows: Rows<'a>) -> Self {
        let exact: Vec<Vec<u32>> =
            rows.columns.iter().map(|cells| numbered(cells.iter().map(|cell| cell.key))).collect();
        let together = (0..rows.folds.len())
            .map(|row| rows.columns.iter().fold(0, |keys, cells| joined(keys, cells[row].key)));
        let together = numbered(together);
        let ordered = rows.columns.iter().map(|cells| ordered(cells)).collect();
        Self { rows, exact, together, ordered }
    }

    /// Every way to read a column, learned without the rows of a fold: cell by cell, and numbers in parts of equal size.
    fn views(&self, column: usize, fold: u8) -> Vec<Vec<u32>> {
        let mut views = vec![self.exact[column].clone()];
        let Some(ordered) = &self.ordered[column] else { return views };
        let cells = &self.rows.columns[column];
        let known: Vec<f64> = ordered
            .iter()
            .filter(|&&row| self.rows.folds[row as usize] != fold)
            .map(|&row| cells[row as usize].number)
            .collect();
        for parts in CUTS {
            let mut edges: Vec<f64> = (1..parts)
                .filter_map(|part| known.get(part * known.len() / parts))
                .copied()
                .collect();
            edges.dedup();
            let none = edges.len() as u32 + 1;
            let part = |cell: &KeptCell| match cell.number.is_nan() {
                true => none,
                false => edges.partition_point(|edge| *edge <= cell.number) as u32,
            };
            views.push(cells.iter().map(part).collect());
            if edges.len() + 1 < parts {
                // Finer parts would be the same.
                break;
            }
        }
        views
    }

    /// Predicts every row's value from the rows of the other folds.
    pub(super) fn predict(&self, values: &[u32], symbols: usize) -> Predicted {
        if values.windows(2).all(|pair| pair[0] == pair[1]) {
            // Anybody predicts what is always the same; there is nothing to take away.
            let rows = values.len() as u64;
            return Predicted { rows, hits: rows, ..Predicted::default() };
        }
        let mut sum = Predicted::default();
        for fold in 0..FOLDS {
            let trial = (fold + 1) % FOLDS;
            let of = |wanted: &dyn Fn(u8) -> bool| -> Vec<u32> {
                (0..)
                    .zip(self.rows.folds)
                    .filter(|(_, fold)| wanted(**fold))
                    .map(|(row, _)| row)
                    .collect()
            };
            let tested = of(&|one| one == fold);
            if tested.is_empty() {
                continue;
            }
            let (counted, tried) =
                (of(&|one| one != fold && one != trial), of(&|one| one == trial));
            let views: Vec<_> = (0..self.exact.len()).map(|at| self.views(at, fold)).collect();
            let task = Task { values, symbols, counted: &counted, tried: &tried };
            let plans = task.plans(&views, &self.together);
            let all = of(&|one| one != fold);
            sum.add(&Task { counted: &all, tried: &tested, ..task }.judge(plans));
        }
        sum
    }
}

/// The rows of a column with numbers, in their order; nothing if fewer than nine in ten cells are numbers.
fn ordered(cells: &[KeptCell]) -> Option<Vec<u32>> {
    let mut rows: Vec<u32> =
        (0..).zip(cells).filter(|(_, cell)| !cell.number.is_nan()).map(|(row, _)| row).collect();
    let filled = cells.iter().filter(|cell| cell.key != KeptCell::MISSING.key).count();
    if rows.is_empty() || rows.len() * 10 < filled * 9 {
        return None;
    }
    let number = |row: &u32| cells[*row as usize].number;
    rows.sort_unstable_by(|a, b| number(a).total_cmp(&number(b)));
    Some(rows)
}

/// A way to predict: contexts, each of which refines the one before.
#[derive(Clone)]
enum Way {
    /// By the shares of all values.
    Blind,
    /// Each list of contexts refines the one before.
    Refined(Vec<Vec<u32>>),
    /// Each column speaks for itself, and what they say is multiplied.
    Multiplied(Vec<Vec<u32>>),
}

/// The ways chosen for the two measures.
struct Plans {
    of_loss: Way,
    of_hits: Way,
}

/// Values to predict: some rows are counted, and others tried.
#[derive(Clone, Copy)]
struct Task<'a> {
    values: &'a [u32],
    symbols: usize,
    counted: &'a [u32],
    tried: &'a [u32],
}

/// Tables of contexts, each of which refines the one before, with the likeliest value of each.
struct Chain<'a> {
    views: &'a [Vec<u32>],
    tables: Vec<Table>,
    shares: &'a [f64],
    /// The likeliest value of every context, once somebody asked.
    likeliest: Vec<Vec<Option<u32>>>,
}

impl<'a> Chain<'a> {
    fn new(views: &'a [Vec<u32>], task: &Task<'_>, shares: &'a [f64]) -> Self {
        let tables: Vec<Table> =
            views.iter().map(|view| Table::new(view, task.values, task.counted)).collect();
        let likeliest = tables.iter().map(|table| vec![None; table.contexts()]).collect();
        Self { views, tables, shares, likeliest }
    }

    /// The chance of a value in a row's contexts, the first so many of them.
    fn chance(&self, row: u32, value: u32, levels: usize) -> f64 {
        let levels = self.tables.iter().zip(self.views).take(levels);
        levels.fold(self.shares[value as usize], |before, (table, view)| {
            table.refined(view[row as usize], value, before)
        })
    }

    /// The likeliest value of a row.
    fn guess(&mut self, row: u32, commonest: u32) -> u32 {
        let mut guess = commonest;
        for level in 0..self.tables.len() {
            let context = self.views[level][row as usize];
            let entries = self.tables[level].entries(context);
            if entries.is_empty() {
                continue;
            }
            if let Some(known) = self.likeliest[level][context as usize] {
                guess = known;
                continue;
            }
            // Of the values not seen here, the likeliest is the one that was before.
            let mut chance = self.chance(row, guess, level + 1);
            for &(value, _) in entries {
                let found = self.chance(row, value, level + 1);
                if found > chance {
                    (guess, chance) = (value, found);
                }
            }
            self.likeliest[level][context as usize] = Some(guess);
        }
        guess
    }
}

/// What one way came to on the rows tried.
#[derive(Debug, Clone, Default)]
struct Score {
    /// Each row's loss in nats.
    losses: Vec<f64>,
    hits: u64,
    /// How many rows were predicted otherwise than by the commonest value.
    moved: u64,
}

impl Score {
    fn loss(&self) -> f64 {
        self.losses.iter().sum()
    }
}

impl Task<'_> {
    /// The chance of every value, whatever the kept columns say, and the commonest.
    fn shares(&self) -> (Vec<f64>, u32) {
        // One imagined row, spread evenly, so that nothing is impossible.
        let mut counts = vec![1.0 / self.symbols as f64; self.symbols];
        for &row in self.counted {
            counts[self.values[row as usize] as usize] += 1.0;
        }
        let total: f64 = counts.iter().sum();
        let mut commonest = 0;
        for (at, count) in counts.iter().enumerate() {
            if *count > counts[commonest] {
                commonest = at;
            }
        }
        counts.iter_mut().for_each(|count| *count /= total);
        (counts, commonest as u32)
    }

    /// Tries ways on the rows to be tried, and picks the best for each measure.
    fn plans(&self, views: &[Vec<Vec<u32>>], together: &[u32]) -> Plans {
        let blind = self.score(&Way::Blind);
        let mut tried = vec![(Way::Blind, blind.clone())];
        // The best view of each column, the most telling column first.
        let mut columns: Vec<(Vec<u32>, Score)> = Vec::new();
        for views in views {
            let scored = views.iter().map(|view| {
                let score = self.score(&Way::Refined(vec![view.clone()]));
                (view.clone(), score)
            });
            columns.extend(scored.min_by(|a, b| a.1.loss().total_cmp(&b.1.loss())));
        }
        columns.sort_by(|a, b| a.1.loss().total_cmp(&b.1.loss()));
        let mut chain: Vec<Vec<u32>> = Vec::new();
        let mut best = f64::INFINITY;
        for (view, _) in &columns {
            let finer = match chain.last() {
                Some(last) => numbered(
                    last.iter().zip(view).map(|(&a, &b)| u64::from(a) << 32 | u64::from(b)),
                ),
                None => view.clone(),
            };
            let longer = Way::Refined([&chain[..], std::slice::from_ref(&finer)].concat());
            let score = self.score(&longer);
            if score.loss() < best {
                best = score.loss();
                chain.push(finer);
                tried.push((longer, score));
            }
        }
        if columns.len() > 1 {
            let way = Way::Refined(vec![together.to_vec()]);
            tried.push((way.clone(), self.score(&way)));
            if self.symbols <= MOST_MULTIPLIED {
                let telling = columns.iter().filter(|(_, score)| score.loss() < blind.loss());
                let way = Way::Multiplied(telling.map(|(view, _)| view.clone()).collect());
                tried.push((way.clone(), self.score(&way)));
            }
        }
        let least = tried.iter().min_by(|a, b| a.1.loss().total_cmp(&b.1.loss()));
        let of_loss = least.map_or(Way::Blind, |(way, _)| way.clone());
        // Only what beats the commonest value by more than chance among the rows where they differ.
        let sure = |score: &Score| {
            let gain = score.hits as f64 - blind.hits as f64;
            gain > (score.moved as f64).sqrt()
        };
        let most =
            tried.iter().filter(|(_, score)| sure(score)).max_by_key(|(_, score)| score.hits);
        let of_hits = most.map_or(Way::Blind, |(way, _)| way.clone());
        Plans { of_loss, of_hits }
    }

    /// What the chosen ways come to on rows that had no part in the choice.
    fn judge(&self, plans: Plans) -> Predicted {
        let blind = self.score(&Way::Blind);
        let told = self.score(&plans.of_loss);
        let gains = blind.losses.iter().zip(&told.losses).map(|(blind, told)| blind - told);
        Predicted {
            rows: self.tried.len() as u64,
            hits: self.score(&plans.of_hits).hits,
            blind_loss: blind.loss(),
            loss: told.loss(),
            squared_gain: gains.map(|gain| gain * gain).sum(),
        }
    }

    fn score(&self, way: &Way) -> Score {
        let (shares, commonest) = self.shares();
        let mut score = Score::default();
        let mut count = |value: u32, guess: u32, chance: f64| {
            score.losses.push(-chance.max(f64::MIN_POSITIVE).ln());
            score.hits += u64::from(guess == value);
            score.moved += u64::from(guess != commonest);
        };
        let value_of = |row: u32| self.values[row as usize];
        match way {
            Way::Blind => {
                for &row in self.tried {
                    count(value_of(row), commonest, shares[value_of(row) as usize]);
                }
            }
            Way::Refined(chain) => {
                let mut refined = Chain::new(chain, self, &shares);
                for &row in self.tried {
                    let guess = refined.guess(row, commonest);
                    count(value_of(row), guess, refined.chance(row, value_of(row), chain.len()));
                }
            }
            Way::Multiplied(views) => {
                let tables: Vec<Table> =
                    views.iter().map(|view| Table::new(view, self.values, self.counted)).collect();
                let mut weights = vec![0.0; self.symbols];
                for &row in self.tried {
                    weights.copy_from_slice(&shares);
                    for (table, view) in tables.iter().zip(views) {
                        // Against a value that the context has not seen, which is left as it is.
                        for &(value, seen) in table.entries(view[row as usize]) {
                            let at = value as usize;
                            weights[at] *= 1.0 + f64::from(seen) / (BORROWED * shares[at]);
                        }
                        let total: f64 = weights.iter().sum();
                        if total > LARGE {
                            weights.iter_mut().for_each(|weight| *weight /= total);
                        }
                    }
                    let total: f64 = weights.iter().sum();
                    let mut guess = commonest;
                    for (at, weight) in weights.iter().enumerate() {
                        if *weight > weights[guess as usize] {
                            guess = at as u32;
                        }
                    }
                    count(value_of(row), guess, weights[value_of(row) as usize] / total);
                }
            }
        }
        score
    }
}

impl Predicted {
    fn add(&mut self, other: &Self) {
        self.rows += other.rows;
        self.hits += other.hits;
        self.blind_loss += other.blind_loss;
        self.loss += other.loss;
        self.squared_gain += other.squared_gain;
    }
}
