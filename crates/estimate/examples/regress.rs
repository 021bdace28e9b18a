//! How long a logistic regression of a randomised outcome takes, and how much memory it needs.
//!
//! ```sh
//! cargo run --release -p undertone-estimate --example regress            # 2,423 rows and six covariates
//! cargo run --release -p undertone-estimate --example regress 10000000   # ten million rows
//! ```

use std::time::Instant;

use undertone_core::{Alphabet, Claim, Context, Draft, Epsilon, Keep, Policy, Provenance, Shape};
use undertone_estimate::regress::{Formula, Regression, Variable, Variables};
use undertone_estimate::{Evidence, Sample};
use undertone_numeric::dice::{Dice, unit};

/// Keeps half of the answers and draws the others anew.
fn policy() -> Result<Policy, Box<dyn std::error::Error>> {
    let shape = Shape::Keep(Keep::new(vec![1 << 39; 2], vec![1 << 47; 2])?);
    let claims = vec![Claim::ldp(Epsilon::parse("1.1")?)];
    let (inputs, assumed) = (Alphabet::indices(2)?, Context::Unknown);
    let draft = Draft::new(inputs, None, shape, assumed, claims, Provenance::default())?;
    Ok(draft.verify().map_err(|refusal| refusal.to_string())?)
}

/// The most memory the process has had, in megabytes, where the system says so.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kilobytes| kilobytes / 1024)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rows = std::env::args().nth(1).map_or(Ok(2423), |text| text.parse::<usize>())?;
    let mut dice = Dice::new(17);
    let mut columns: Vec<Vec<f64>> = (0..6).map(|_| Vec::with_capacity(rows)).collect();
    let mut reports = Vec::with_capacity(rows);
    for _ in 0..rows {
        let cells: [f64; 6] = std::array::from_fn(|at| match at {
            0 => 18.0 + 60.0 * unit(&mut dice),
            1 => f64::from(u8::from(unit(&mut dice) < 0.5)),
            _ => unit(&mut dice) - 0.5,
        });
        let eta = -2.0 + 0.03 * cells[0] + 0.4 * cells[1] + cells[2] - 0.5 * cells[3];
        let answer = unit(&mut dice) < 1.0 / (1.0 + (-eta).exp());
        let kept = unit(&mut dice) < 0.5;
        let drawn = unit(&mut dice) < 0.5;
        reports.push(u32::from(if kept { answer } else { drawn }));
        columns.iter_mut().zip(cells).for_each(|(column, cell)| column.push(cell));
    }
    let evidence = Evidence::randomised(&policy()?, &reports)?;
    drop(reports);
    let mut variables =
        Variables::new().with("y", Variable::Randomised { evidence, values: None })?;
    for (name, column) in ["age", "female", "a", "b", "c", "d"].into_iter().zip(columns) {
        variables = variables.with(name, Variable::Number(column))?;
    }
    let before = peak();
    let regression = Regression::new(Formula::parse("y ~ age + female + a + b + c + d")?);
    let mut best = f64::INFINITY;
    let mut steps = 0;
    for _ in 0..if rows > 100_000 { 1 } else { 20 } {
        let start = Instant::now();
        let fit = regression.fit(&variables, &Sample::simple(rows))?;
        best = best.min(start.elapsed().as_secs_f64());
        steps = fit.iterations;
    }
    println!("{rows} rows, six covariates: {:.3} ms in {steps} steps", 1e3 * best);
    if let (Some(before), Some(after)) = (before, peak()) {
        println!("peak memory {after} MB, of which the data and their making {before} MB");
    }
    Ok(())
}
