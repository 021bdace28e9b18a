//! One level split between items that everybody answers.

/// Steps of the grid on which splits are compared, for each item at least four.
const STEPS: usize = 240;

/// Exchanges of less than this part of the whole are not tried.
const SMALLEST: f64 = 1e-6;

/// Rounds of exchanges where costs are not those of single items.
const ROUNDS: usize = 60;

/// The parts of `total` at which the summed cost of `items` is least; each gets some. Costs may have several dips, so all
/// splits of a grid are compared first, and the best of them is moved by exchange between two items at a time.
pub fn split(items: usize, total: f64, cost: impl Fn(usize, f64) -> f64) -> Vec<f64> {
    if items == 0 {
        return Vec::new();
    }
    let steps = STEPS.max(4 * items);
    let unit = total / steps as f64;
    // best[j]: the least cost of the items so far with j steps; from[i][j]: the steps item i has in it.
    let mut best = vec![f64::INFINITY; steps + 1];
    best[0] = 0.0;
    let mut from = Vec::with_capacity(items);
    for item in 0..items {
        let costs: Vec<f64> = (0..=steps)
            .map(|step| if step == 0 { f64::INFINITY } else { cost(item, step as f64 * unit) })
            .collect();
        let mut next = vec![f64::INFINITY; steps + 1];
        let mut chosen = vec![0usize; steps + 1];
        for (used, so_far) in best.iter().enumerate().filter(|(_, cost)| cost.is_finite()) {
            for step in 1..=steps - used {
                let found = so_far + costs[step];
                if found < next[used + step] {
                    (next[used + step], chosen[used + step]) = (found, step);
                }
            }
        }
        best = next;
        from.push(chosen);
    }
    let mut left = steps;
    let mut levels = vec![0.0; items];
    for item in (0..items).rev() {
        let step = from[item][left];
        levels[item] = step as f64 * unit;
        left -= step;
    }
    // Only the two items of an exchange change their costs.
    let mut costs: Vec<f64> = levels.iter().enumerate().map(|(at, &e)| cost(at, e)).collect();
    let mut size = unit;
    while size > SMALLEST * total {
        let mut moved = false;
        for giver in 0..items {
            for taker in (0..items).filter(|&taker| taker != giver) {
                if levels[giver] <= size {
                    continue;
                }
                let (less, more) = (levels[giver] - size, levels[taker] + size);
                let found = (cost(giver, less), cost(taker, more));
                if found.0 + found.1 < (costs[giver] + costs[taker]) * (1.0 - 1e-12) {
                    (levels[giver], levels[taker]) = (less, more);
                    (costs[giver], costs[taker]) = found;
                    moved = true;
                }
            }
        }
        if !moved {
            size /= 2.0;
        }
    }
    levels
}

/// Moves parts between pairs of items, ever smaller ones, as long as the cost of all of them together falls.
pub fn exchange(mut levels: Vec<f64>, unit: f64, cost: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let mut least = cost(&levels);
    let mut unit = unit;
    for _ in 0..ROUNDS {
        let mut moved = false;
        for giver in 0..levels.len() {
            for taker in 0..levels.len() {
                if giver == taker || levels[giver] <= unit {
                    continue;
                }
                let (before, after) = (levels[giver], levels[taker]);
                (levels[giver], levels[taker]) = (before - unit, after + unit);
                let found = cost(&levels);
                if found < least * (1.0 - 1e-12) {
                    (least, moved) = (found, true);
                } else {
                    (levels[giver], levels[taker]) = (before, after);
                }
            }
        }
        if !moved {
            unit /= 2.0;
        }
    }
    levels
}
