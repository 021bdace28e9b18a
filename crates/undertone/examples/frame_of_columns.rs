//! A frame of columns: every column gets a prior from a public sample and a policy of its own, is randomised as a whole,
//! and is estimated.

use std::error::Error;

use undertone::prelude::*;

const ROWS: usize = 20_000;
const SAMPLE: usize = 500;

/// A column of texts and the symbols they may be.
struct Column {
    name: &'static str,
    symbols: Vec<String>,
    cells: Vec<String>,
}

impl Column {
    /// Draws cells with these weights.
    fn simulated(
        name: &'static str,
        weighed: &[(&str, u32)],
        rows: usize,
        rng: &mut impl CryptoRng,
    ) -> Self {
        let total: u32 = weighed.iter().map(|(_, weight)| weight).sum();
        let mut cell = || {
            let mut left = rng.next_u32() % total;
            let chosen = weighed.iter().find(|(_, weight)| match left.checked_sub(*weight) {
                Some(rest) => {
                    left = rest;
                    false
                }
                None => true,
            });
            chosen.map_or(weighed[0].0, |(symbol, _)| symbol).to_owned()
        };
        let cells = (0..rows).map(|_| cell()).collect();
        let symbols = weighed.iter().map(|(symbol, _)| (*symbol).to_owned()).collect();
        Self { name, symbols, cells }
    }

    fn count(&self, symbol: &str) -> usize {
        self.cells.iter().filter(|cell| *cell == symbol).count()
    }

    /// What a public sample of the column says, with one more of every symbol, so that none is ruled out.
    fn prior(&self) -> Vec<f64> {
        let seen = (self.cells.len() + self.symbols.len()) as f64;
        self.symbols.iter().map(|symbol| (self.count(symbol) + 1) as f64 / seen).collect()
    }

    /// Randomises all cells.
    fn released(
        &self,
        policy: &Policy,
        rng: &mut impl CryptoRng,
    ) -> Result<Vec<u32>, Box<dyn Error>> {
        let inputs = self.cells.iter().map(|cell| policy.inputs().named(cell));
        let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
        let mut outputs = vec![0; inputs.len()];
        Sampler::new(policy).draw_indices(&inputs, rng, &mut outputs)?;
        Ok(outputs)
    }
}

/// The same three columns, of so many rows.
fn frame(rows: usize, rng: &mut impl CryptoRng) -> [Column; 3] {
    [
        Column::simulated(
            "commute",
            &[("bus", 5), ("car", 9), ("bike", 4), ("foot", 2)],
            rows,
            rng,
        ),
        Column::simulated("overtime", &[("never", 6), ("often", 3), ("always", 1)], rows, rng),
        Column::simulated("union", &[("no", 8), ("yes", 2)], rows, rng),
    ]
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut rng = seeded_rng(3); // real data take system_rng()
    let (public, private) = (frame(SAMPLE, &mut rng), frame(ROWS, &mut rng));
    let mut told = Nats::ZERO;
    let (mut shares, mut missed) = (0, 0);
    for (sample, column) in public.iter().zip(&private) {
        let prior = sample.prior();
        let policy =
            Design::new(column.symbols.clone()).prior(prior).protect("lip:0.8").policy()?;
        let released = column.released(&policy, &mut rng)?;
        let mut tally = Tally::new(&policy);
        tally.add_indices(&released)?;

        // From here on only the released column is looked at, but for the truth beside it.
        let estimator = Estimator::new(Pool::new(&policy, tally)?, Settings::default())?;
        println!("{} ({})", column.name, policy.claims()[0]);
        for (symbol, share) in column.symbols.iter().zip(estimator.headline()?.shares.symbols) {
            let truth = column.count(symbol) as f64 / ROWS as f64;
            println!(
                "  {symbol:<7} {:5.1} % ({:4.1} to {:4.1}), in truth {:4.1} %",
                100.0 * share.value,
                100.0 * share.low,
                100.0 * share.high,
                100.0 * truth
            );
            shares += 1;
            missed += u32::from(!share.covers(truth));
        }
        let cost = policy.ldp().ok_or("the policy has no finite level")?;
        told = told.checked_add(cost).ok_or("too much is told")?;
    }
    // Columns of one row are about one person: what they tell adds up, whatever links them.
    println!("All three columns of a row together tell at most {told} nats (LDP) about a person.");
    // Each interval misses 1 time in 20; more than 3 of 9 with these seeds would be a fault (6 in 10,000).
    assert!(shares == 9 && missed <= 3, "{missed} intervals miss the truth");
    Ok(())
}
