//! Nine columns of Adult under one promise about the person, against simpler plans.
//!
//! The plan is designed for the shares of `adult.data` and the error is the one of the literature: squared errors averaged over the answers of a
//! column, then over columns. It is predicted from the integers that ship and simulated on people drawn from `adult.test`. RS+FD is run
//! at ε' = ε, where it keeps the same promise about the person.

use rand_chacha::ChaCha12Rng;
use rayon::prelude::*;
use undertone_core::{Alphabet, Nats};
use undertone_design::Distribution;
use undertone_design::plan::rs_fd::{self, Form};
use undertone_design::plan::{
    Coins, Group, Outline, Problem, Question, Target, best, bound, compared, ship,
};
use undertone_numeric::dice::{below, draw, unit};

use crate::claim::short;
use crate::data::{ADULT_DATA, ADULT_TEST, DataFile};
use crate::row;
use crate::{Claim, Context, Error, Experiment, Outcome, Paper, Table};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "ours-plans",
    paper: Paper::Ours,
    title: "Nine columns of Adult under one promise about the person",
    data: &[ADULT_DATA, ADULT_TEST],
    run,
};

/// The columns, by their place in the file, counted from 0.
const COLUMNS: [(&str, usize); 9] = [
    ("workclass", 1),
    ("education", 3),
    ("marital-status", 5),
    ("occupation", 6),
    ("relationship", 7),
    ("race", 8),
    ("sex", 9),
    ("native-country", 13),
    ("income", 14),
];

const LEVELS: [f64; 3] = [1.0, 2.0, 4.0];

/// The answers of every person, as texts.
fn rows(context: &Context, file: DataFile) -> Result<Vec<Vec<String>>, Error> {
    let text = context.data.text(file)?;
    let mut rows = Vec::new();
    // The test part begins with a line that is no person.
    let people = |line: &str| !line.trim().is_empty() && !line.starts_with('|');
    for (at, line) in text.lines().enumerate().filter(|(_, line)| people(line)) {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        if fields.len() != 15 {
            let problem = format!("{} fields where 15 were expected", fields.len());
            return Err(Error::Data { file: file.path.into(), line: at + 1, problem });
        }
        let field = |&(_, column): &(&str, usize)| fields[column].trim_end_matches('.').to_owned();
        rows.push(COLUMNS.iter().map(field).collect());
    }
    Ok(rows)
}

/// People as indices of their answers.
struct People {
    questions: Vec<Question>,
    answers: Vec<Alphabet>,
    /// Whom people are drawn from, and their shares.
    people: Vec<Vec<usize>>,
    truth: Vec<Vec<f64>>,
}

fn people(context: &Context) -> Result<People, Error> {
    let (known, others) = (rows(context, ADULT_DATA)?, rows(context, ADULT_TEST)?);
    let mut labels: Vec<Vec<String>> = vec![Vec::new(); COLUMNS.len()];
    for row in known.iter().chain(&others) {
        row.iter().zip(&mut labels).for_each(|(answer, labels)| {
            if let Err(at) = labels.binary_search(answer) {
                labels.insert(at, answer.clone());
            }
        });
    }
    let indices = |rows: &[Vec<String>]| -> Vec<Vec<usize>> {
        let index = |(answer, labels): (&String, &Vec<String>)| {
            labels.binary_search(answer).unwrap_or_default()
        };
        rows.iter().map(|row| row.iter().zip(&labels).map(index).collect()).collect()
    };
    let shares = |people: &[Vec<usize>], column: usize| {
        let mut shares = vec![0.0; labels[column].len()];
        people.iter().for_each(|row| shares[row[column]] += 1.0 / people.len() as f64);
        shares
    };
    let (known, people) = (indices(&known), indices(&others));
    let question = |column: usize| {
        let expected = Distribution::normalised("shares", shares(&known, column))?;
        let weight = 1.0 / labels[column].len() as f64;
        Ok(Question::new(COLUMNS[column].0, expected, weight)?)
    };
    let questions = (0..COLUMNS.len()).map(question).collect::<Result<Vec<_>, Error>>()?;
    let alphabet = |labels: &Vec<String>| {
        Alphabet::names(labels.clone()).map_err(|error| Error::other(error.to_string()))
    };
    let answers = labels.iter().map(alphabet).collect::<Result<_, Error>>()?;
    let truth = (0..COLUMNS.len()).map(|column| shares(&people, column)).collect();
    Ok(People { questions, answers, people, truth })
}

/// What one way of collecting sees of a question: counts for its answers, from so many reports.
struct Seen {
    counts: Vec<f64>,
    reports: f64,
}

/// One survey under an outline: the unbiased shares of every question, from all items that have it, weighed by their precision.
fn survey(found: &People, outline: &Outline, n: usize, rng: &mut ChaCha12Rng) -> Vec<Vec<f64>> {
    let questions = &found.questions;
    let empty = |size: usize| Seen { counts: vec![0.0; size], reports: 0.0 };
    let mut seen: Vec<Vec<Seen>> = outline
        .items
        .iter()
        .map(|item| item.group.questions.iter().map(|&q| empty(questions[q].size())).collect())
        .collect();
    let everybody: Vec<usize> =
        (0..outline.items.len()).filter(|&at| outline.items[at].weight == 0).collect();
    for _ in 0..n {
        let person = &found.people[below(found.people.len(), rng)];
        let mut items = everybody.clone();
        let mut weights: Vec<f64> =
            outline.items.iter().map(|item| f64::from(item.weight)).collect();
        for _ in 0..outline.asked {
            let at = draw(&weights, rng);
            weights[at] = 0.0;
            items.push(at);
        }
        for at in items {
            report(found, outline, at, person, &mut seen[at], rng);
        }
    }
    let estimate = |question: usize| {
        let target = Target::single(questions, question);
        let (mut shares, mut whole) = (vec![0.0; questions[question].size()], 0.0);
        for (item, seen) in outline.items.iter().zip(&seen) {
            let Some(place) = item.group.questions.iter().position(|&q| q == question) else {
                continue;
            };
            let Seen { counts, reports } = &seen[place];
            let Some(variance) = item.group.variance(questions, &target) else { continue };
            let (own, other, cell) = chances(&item.group, questions, question);
            let weight = reports / variance;
            whole += weight;
            for (share, count) in shares.iter_mut().zip(counts) {
                *share += weight * (count / reports.max(1.0) - cell * other) / (own - other);
            }
        }
        shares.iter().map(|share| share / whole).collect()
    };
    (0..questions.len()).map(estimate).collect()
}

/// The own and the other probability of an item's coins, and how many symbols a cell of a question has.
fn chances(group: &Group, questions: &[Question], question: usize) -> (f64, f64, f64) {
    let symbols = group.symbols(questions);
    let cell = symbols as f64 / questions[question].size() as f64;
    match group.coins {
        Coins::Keep { own, other } | Coins::Bits { own, other } => (own, other, cell),
        Coins::Subset { size, own } => {
            let (size, rest) = (size as f64, symbols as f64 - 1.0);
            (own, (own * (size - 1.0) + (1.0 - own) * size) / rest, cell)
        }
        Coins::Memo { own, other, .. } => (own, other, cell),
    }
}

/// One person's report of one item, counted.
fn report(
    found: &People,
    outline: &Outline,
    at: usize,
    person: &[usize],
    seen: &mut [Seen],
    rng: &mut ChaCha12Rng,
) {
    let group = &outline.items[at].group;
    seen.iter_mut().for_each(|seen| seen.reports += 1.0);
    let sizes: Vec<usize> = group.questions.iter().map(|&q| found.questions[q].size()).collect();
    let symbols: usize = sizes.iter().product();
    let own_symbol =
        group.questions.iter().zip(&sizes).fold(0, |index, (&q, size)| index * size + person[q]);
    match group.coins {
        Coins::Keep { own, other } | Coins::Memo { own, other, .. } => {
            let gap = own - other;
            let mut symbol = if unit(rng) < gap { own_symbol } else { below(symbols, rng) };
            for (seen, size) in seen.iter_mut().zip(&sizes).rev() {
                seen.counts[symbol % size] += 1.0;
                symbol /= size;
            }
        }
        Coins::Bits { own, other } => {
            for (symbol, count) in seen[0].counts.iter_mut().enumerate() {
                let chance = if symbol == own_symbol { own } else { other };
                *count += f64::from(u8::from(unit(rng) < chance));
            }
        }
        Coins::Subset { size, own } => {
            let inside = unit(rng) < own;
            let mut others: Vec<usize> = (0..symbols).filter(|&x| x != own_symbol).collect();
            undertone_numeric::dice::shuffle(&mut others, rng);
            others.truncate(size - usize::from(inside));
            if inside {
                others.push(own_symbol);
            }
            others.into_iter().for_each(|symbol| seen[0].counts[symbol] += 1.0);
        }
    }
}

/// One survey by random sampling plus fake data.
fn fake_data(found: &People, level: f64, n: usize, rng: &mut ChaCha12Rng) -> Vec<Vec<f64>> {
    let questions = &found.questions;
    let forms: Vec<Form> =
        questions.iter().map(|question| Form::best(question, questions.len(), level)).collect();
    let mut counts: Vec<Vec<f64>> =
        questions.iter().map(|question| vec![0.0; question.size()]).collect();
    for _ in 0..n {
        let person = &found.people[below(found.people.len(), rng)];
        let chosen = below(questions.len(), rng);
        for (at, (form, counts)) in forms.iter().zip(&mut counts).enumerate() {
            let size = counts.len();
            let real = at == chosen;
            let answer = if real { person[at] } else { below(size, rng) };
            match *form {
                Form::Kept { own, other } => {
                    let kept = !real || unit(rng) < own - other;
                    counts[if kept { answer } else { below(size, rng) }] += 1.0;
                }
                Form::BitsOfNothing { own, other } | Form::BitsOfAnswers { own, other } => {
                    let nothing = !real && matches!(form, Form::BitsOfNothing { .. });
                    for (symbol, count) in counts.iter_mut().enumerate() {
                        let set = if symbol == answer && !nothing { own } else { other };
                        *count += f64::from(u8::from(unit(rng) < set));
                    }
                }
            }
        }
    }
    let shares = |(form, counts): (&Form, &Vec<f64>)| {
        let (own, other, fake) = form.chances(counts.len());
        let m = questions.len() as f64;
        let share =
            |count: &f64| ((count / n as f64 - (1.0 - 1.0 / m) * fake) * m - other) / (own - other);
        counts.iter().map(share).collect()
    };
    forms.iter().zip(&counts).map(shares).collect()
}

/// Squared errors averaged over answers, then over columns.
fn error(found: &People, shares: &[Vec<f64>]) -> f64 {
    let column = |(shares, truth): (&Vec<f64>, &Vec<f64>)| {
        let squares = shares.iter().zip(truth).map(|(a, b)| (a - b) * (a - b));
        squares.sum::<f64>() / truth.len() as f64
    };
    shares.iter().zip(&found.truth).map(column).sum::<f64>() / shares.len() as f64
}

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let found = people(context)?;
    let n = found.people.len();
    let surveys: u64 = context.pick(4, 40);
    let mut table = Table::new(
        "errors",
        &["epsilon", "plan", "predicted", "simulated", "over_bound", "items", "asked"],
    );
    let columns = COLUMNS.len() as f64;
    for level in LEVELS {
        let problem = Problem::new(found.questions.clone(), Vec::new(), level, None)?;
        let least = bound::lower(&problem.questions, &problem.targets, level);
        let mut plans = vec![
            ("designed", best(&problem)?),
            ("equal split", compared::equal_split(&problem)),
            ("one question each", compared::one_each(&problem)),
        ];
        plans.extend(compared::combined(&problem).map(|outline| ("combined symbol", outline)));
        for (name, outline) in plans {
            let units = Nats::from_units((level * 1e10).round() as u64);
            let shipped = ship::ship(&outline, &found.questions, &found.answers, units)?.outline;
            let value = problem.value(&shipped);
            let errors = (0..surveys).into_par_iter().map(|number| {
                let mut rng = context.stream(1_000 * level as u64 + number);
                error(&found, &survey(&found, &shipped, n, &mut rng))
            });
            let simulated = errors.sum::<f64>() / surveys as f64;
            let predicted = value / columns / n as f64;
            let (items, asked) = (shipped.items.len(), shipped.asked);
            table.push(row![level, name, predicted, simulated, value / least, items, asked]);
        }
        if let Some(value) = rs_fd::value(&problem) {
            let errors = (0..surveys).into_par_iter().map(|number| {
                let mut rng = context.stream(1_000 * level as u64 + number);
                error(&found, &fake_data(&found, level, n, &mut rng))
            });
            let simulated = errors.sum::<f64>() / surveys as f64;
            let predicted = value / columns / n as f64;
            table.push(row![level, "RS+FD", predicted, simulated, value / least, "", ""]);
        }
    }
    claims(&mut outcome, &table);
    outcome.note(format!(
        "Shares are expected from adult.data; {n} people are drawn from adult.test with replacement, {surveys} times. Errors are squared errors averaged over a column's answers, then over columns. RS+FD is run at ε' = ε: its own ε speaks of two people who differ in one answer."
    ));
    outcome.table(table);
    Ok(outcome)
}

fn claims(outcome: &mut Outcome, table: &Table) {
    let rows = 0..table.rows.len();
    let designed = |level: f64, column: &str| {
        let row = table.find(&[("epsilon", &level.to_string()), ("plan", "designed")]);
        row.map_or(f64::NAN, |row| table.number(row, column))
    };
    let gain = |row: usize| {
        let level = table.number(row, "epsilon");
        table.number(row, "predicted") / designed(level, "predicted")
    };
    let others = rows.clone().filter(|&row| table.rows[row][1] != "designed");
    let least = others.map(gain).fold(f64::INFINITY, f64::min);
    outcome.claim(Claim::tested(
        "at the same LDP of the person no simpler plan has a smaller error",
        format!("the least of all others' errors over the designed plan's is {}", short(least)),
        "at least 1",
        least >= 1.0 - 1e-6,
    ));
    let ratio = |row: usize| table.number(row, "simulated") / table.number(row, "predicted");
    let (low, high) = rows
        .map(ratio)
        .fold((f64::INFINITY, 0.0f64), |(low, high), ratio| (low.min(ratio), high.max(ratio)));
    outcome.claim(Claim::tested(
        "simulated errors agree with those predicted from the integers",
        format!("simulated over predicted is between {} and {}", short(low), short(high)),
        "between .6 and 1.5",
        low > 0.6 && high < 1.5,
    ));
}
