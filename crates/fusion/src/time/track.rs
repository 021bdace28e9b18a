//! How much a centre gains that remembers: drawn paths, judged with and without what was said before.

use rand_core::Rng;
use undertone_core::MASS_ONE;
use undertone_design::Error;
use undertone_numeric::dice::draw;

use super::{ExactChain, Filter};
use crate::Bundle;
use crate::objective::likeliest;

/// How often guesses were wrong on drawn paths, each with the standard error over paths.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tracking {
    /// How many paths were drawn.
    pub paths: u32,
    /// Of how many epochs each.
    pub epochs: u32,
    /// H, by the rule that remembers.
    pub public: (f64, f64),
    /// H, by the rule that judges each epoch by itself.
    pub public_memoryless: (f64, f64),
    /// How much less often the rule that remembers was wrong about H.
    pub gain: (f64, f64),
    /// G, by who hears everything up to its epoch and remembers.
    pub private: (f64, f64),
    /// G, by who judges each epoch by itself.
    pub private_memoryless: (f64, f64),
}

/// Draws paths of a chain with readings and outputs, and lets both rules judge every epoch.
pub fn track(
    bundle: &Bundle,
    chain: &ExactChain,
    (paths, epochs): (u32, u32),
    rng: &mut impl Rng,
) -> Result<Tracking, Error> {
    let (model, maps, rule) = (bundle.float_model()?, bundle.maps()?, bundle.rule()?);
    let states = chain.states();
    let float = |row: &Vec<u64>| -> Vec<f64> {
        row.iter().map(|&mass| mass as f64 / MASS_ONE as f64).collect()
    };
    let rows: Vec<Vec<f64>> = chain.rows().iter().map(float).collect();
    // The atoms of each pair, by weight.
    let of_pair = |&(h, g): &(usize, usize)| -> Vec<f64> {
        let own = |atom: &crate::Atom| {
            if (atom.public, atom.private) == (h, g) { atom.weight } else { 0.0 }
        };
        model.atoms().iter().map(own).collect()
    };
    let atoms: Vec<Vec<f64>> = states.iter().map(of_pair).collect();
    let first: Vec<f64> = atoms.iter().map(|weights| weights.iter().sum()).collect();
    let mut filter = Filter::new(bundle.model(), chain, rule.clone(), 1);
    // By path: wrong guesses of H and G with memory, without, and the difference for H.
    let mut sums = [(0.0, 0.0); 5];
    for _ in 0..paths {
        filter.restart(1);
        let mut state = draw(&first, rng);
        let mut wrong = [0.0; 5];
        for epoch in 1..=u64::from(epochs) {
            if epoch > 1 {
                state = draw(&rows[state], rng);
            }
            let atom = draw(&atoms[state], rng);
            let outputs: Vec<Option<usize>> = model
                .sensors()
                .iter()
                .zip(maps.channels())
                .map(|(sensor, map)| {
                    let reading = draw(sensor.given(atom).as_slice(), rng);
                    Some(draw(map.rows()[reading].as_slice(), rng))
                })
                .collect();
            let after = filter.hear(epoch, &outputs)?;
            let alone = rule.posterior(&outputs)?;
            let (h, g) = states[state];
            let miss = |guess: usize, truth: usize| f64::from(u8::from(guess != truth));
            let coin = match rule.goal().false_alarm() {
                Some(_) => f64::from(rng.next_u32()) / (f64::from(u32::MAX) + 1.0),
                None => 0.0,
            };
            wrong[0] += miss(rule.decision_remembering(&after, &outputs, coin)?, h);
            wrong[1] += miss(rule.decision(&alone, &outputs, coin)?, h);
            wrong[3] += miss(likeliest(&after.private, 0), g);
            wrong[4] += miss(likeliest(&alone.private, 0), g);
        }
        wrong[2] = wrong[1] - wrong[0];
        for (sum, wrong) in sums.iter_mut().zip(wrong) {
            let share = wrong / f64::from(epochs);
            sum.0 += share;
            sum.1 += share * share;
        }
    }
    let count = f64::from(paths);
    let mean = |(sum, squares): (f64, f64)| {
        let mean = sum / count;
        let spread = (squares / count - mean * mean).max(0.0) / (count - 1.0).max(1.0);
        (mean, spread.sqrt())
    };
    let [public, public_memoryless, gain, private, private_memoryless] = sums.map(mean);
    Ok(Tracking { paths, epochs, public, public_memoryless, gain, private, private_memoryless })
}
