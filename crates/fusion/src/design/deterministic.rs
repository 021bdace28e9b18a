//! ST20's linear program over deterministic maps for the first stage of ILL (Section IV-B), one sensor at
//! a time: weights ν on all |Z|^|X| deterministic maps, with the adversary's error averaged over them.
//!
//! The average of the adversary's least errors is the least error of an adversary who also sees which
//! deterministic map was drawn. That is stricter than needed: [`Mixture::visible`] is what the program
//! holds to its limit, [`Mixture::spread`] what one who sees the outputs can use.

use undertone_design::{Channel, Error};

use crate::{Maps, Model};

/// More deterministic maps than this are not enumerated.
const MAX_MAPS: usize = 1 << 16;

/// The best mixture of deterministic maps for one sensor.
#[derive(Debug, Clone, PartialEq)]
pub struct Mixture {
    /// The map that draws a deterministic map and applies it.
    pub map: Channel,
    /// The error of H with the decision rule held.
    pub error: f64,
    /// The distance between the laws of all outputs given the two private values, for one who sees which
    /// deterministic map was drawn.
    pub visible: f64,
    /// The distance between those laws for one who does not see which map was drawn.
    pub spread: f64,
}

/// Everything about the other sensors that sensor `t` needs.
struct Around {
    /// `cost[x][z]`: error = 1 + Σ_x `cost[x][φ(x)]`.
    cost: Vec<Vec<f64>>,
    /// P(x, r | second private value) - P(x, r | first), by x.
    differences: Vec<Vec<f64>>,
}

/// Solves the program for sensor `t` with the other maps and the decision rule of `maps` held; `most` is
/// the distance allowed, 1 - 2θ of ST20 (9). For two private values.
pub fn block(model: &Model, maps: &Maps, t: usize, most: f64) -> Result<Mixture, Error> {
    maps.check(model)?;
    if t >= maps.len() {
        let problem = format!("there is no sensor {t} among {}", maps.len());
        return Err(Error::other("sensor", problem));
    }
    if !(most >= 0.0) {
        return Err(Error::range("the distance", most, "at least 0"));
    }
    let (inputs, outputs) = (maps.channels()[t].inputs(), maps.channels()[t].outputs());
    let count = u32::try_from(inputs).ok().and_then(|power| outputs.checked_pow(power));
    let Some(count) = count.filter(|&count| count <= MAX_MAPS) else {
        return Err(Error::TooLarge {
            what: format!("the list of deterministic maps of sensor {t}, {outputs}^{inputs},"),
            size: count.unwrap_or(usize::MAX),
            limit: MAX_MAPS,
            fix: "use `joint`, which needs no such list".into(),
        });
    };
    let around = Around::new(model, maps, t)?;
    let digits = |mut map: usize| -> Vec<usize> {
        let digit = |_| {
            let digit = map % outputs;
            map /= outputs;
            digit
        };
        (0..inputs).map(digit).collect()
    };
    // (distance, error, which map), then its lower convex hull: the program has one row beside Σν = 1,
    // so two maps suffice.
    let mut points: Vec<(f64, f64, usize)> = (0..count)
        .map(|map| {
            let z = digits(map);
            (around.distance(&one_hot(&z, outputs)), around.error(&one_hot(&z, outputs)), map)
        })
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut hull: Vec<(f64, f64, usize)> = Vec::new();
    for point in points {
        if hull.last().is_some_and(|last| point.1 >= last.1) {
            continue;
        }
        while let [.., a, b] = hull[..]
            && (b.1 - a.1) * (point.0 - a.0) >= (point.1 - a.1) * (b.0 - a.0)
        {
            hull.pop();
        }
        hull.push(point);
    }
    let next = hull.partition_point(|point| point.0 <= most);
    let mixed = |map: &[Vec<f64>], other: &[Vec<f64>], share: f64| -> Vec<Vec<f64>> {
        let row = |(a, b): (&Vec<f64>, &Vec<f64>)| {
            a.iter().zip(b).map(|(a, b)| (1.0 - share) * a + share * b).collect()
        };
        map.iter().zip(other).map(row).collect()
    };
    let rows = |at: usize| one_hot(&digits(hull[at].2), outputs);
    // A constant map has distance 0, so the hull begins within any limit up to rounding.
    let from = next.saturating_sub(1);
    let (map, visible) = match hull.get(next) {
        Some(to) if next > 0 => {
            let share = (most - hull[from].0) / (to.0 - hull[from].0);
            (mixed(&rows(from), &rows(next), share), most)
        }
        _ => (rows(from), hull[from].0),
    };
    Ok(Mixture {
        error: around.error(&map),
        visible,
        spread: around.distance(&map),
        map: Channel::new(map)?,
    })
}

fn one_hot(z: &[usize], outputs: usize) -> Vec<Vec<f64>> {
    z.iter().map(|&z| (0..outputs).map(|at| f64::from(u8::from(at == z))).collect()).collect()
}

impl Around {
    fn new(model: &Model, maps: &Maps, t: usize) -> Result<Self, Error> {
        let law = model.private_law();
        let alive: Vec<usize> = (0..law.len()).filter(|&g| law[g] > 0.0).collect();
        let [first, second] = alive[..] else {
            let problem = format!("it has {} values: this program is for two", alive.len());
            return Err(Error::other("the private hypothesis", problem));
        };
        let own = &maps.channels()[t];
        let (inputs, outputs) = (own.inputs(), own.outputs());
        // For every atom, P(k, r) over the outputs r of the others.
        let masses: Vec<Vec<f64>> = (0..model.atoms().len())
            .map(|k| {
                let mut here = vec![model.atoms()[k].weight];
                for (i, (sensor, map)) in model.sensors().iter().zip(maps.channels()).enumerate() {
                    if i != t {
                        let law = map.output_law(sensor.given(k))?;
                        here = here
                            .iter()
                            .flat_map(|m| law.as_slice().iter().map(move |q| m * q))
                            .collect();
                    }
                }
                Ok::<_, Error>(here)
            })
            .collect::<Result<_, _>>()?;
        let reach = masses[0].len();
        let mut cost = vec![vec![0.0; outputs]; inputs];
        let mut differences = vec![vec![0.0; reach]; inputs];
        let publics = model.public().size();
        for z in 0..outputs {
            let mut joint = vec![vec![0.0; reach]; publics];
            for (k, atom) in model.atoms().iter().enumerate() {
                let given = model.sensors()[t].given(k).as_slice();
                let q: f64 = given.iter().enumerate().map(|(x, p)| p * own.q(x, z)).sum();
                joint[atom.public].iter_mut().zip(&masses[k]).for_each(|(sum, m)| *sum += q * m);
            }
            let best = |r: usize| {
                (1..publics).fold(0, |best, h| if joint[h][r] > joint[best][r] { h } else { best })
            };
            let decided: Vec<usize> = (0..reach).map(best).collect();
            for (k, atom) in model.atoms().iter().enumerate() {
                let right: f64 =
                    (0..reach).filter(|&r| decided[r] == atom.public).map(|r| masses[k][r]).sum();
                let law = model.sensors()[t].given(k).as_slice();
                cost.iter_mut().zip(law).for_each(|(row, p)| row[z] -= p * right);
            }
        }
        for (k, atom) in model.atoms().iter().enumerate() {
            let sign = if atom.private == second { 1.0 / law[second] } else { -1.0 / law[first] };
            for (x, p) in model.sensors()[t].given(k).as_slice().iter().enumerate() {
                let place = differences[x].iter_mut().zip(&masses[k]);
                place.for_each(|(sum, m)| *sum += sign * p * m);
            }
        }
        Ok(Self { cost, differences })
    }

    fn error(&self, map: &[Vec<f64>]) -> f64 {
        let row = |(cost, p): (&Vec<f64>, &Vec<f64>)| -> f64 {
            cost.iter().zip(p).map(|(c, p)| c * p).sum()
        };
        1.0 + self.cost.iter().zip(map).map(row).sum::<f64>()
    }

    /// The total variation distance between the laws of all outputs given the two values.
    fn distance(&self, map: &[Vec<f64>]) -> f64 {
        let outputs = map.first().map_or(0, Vec::len);
        let reach = self.differences.first().map_or(0, Vec::len);
        let mut sum = 0.0;
        for z in 0..outputs {
            for r in 0..reach {
                let cell: f64 = self.differences.iter().zip(map).map(|(d, p)| d[r] * p[z]).sum();
                sum += cell.abs();
            }
        }
        sum / 2.0
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Objective;
    use crate::design::block::Network;
    use crate::design::limits::{Limits, Spread};
    use crate::objective::Goal;

    fn goal(model: &Model) -> Goal {
        Goal::new(&Objective::Error, model.public_law()).unwrap()
    }

    /// Two sensors with five readings each, near (h,g).
    fn model() -> Model {
        let law = |h: usize, g: usize| {
            let weight =
                |x: usize| (-(x as f64 - 0.6 - 2.0 * h as f64 - g as f64).powi(2) / 2.0).exp();
            let total: f64 = (0..5).map(weight).sum();
            (0..5).map(|x| weight(x) / total).collect::<Vec<f64>>()
        };
        let given = vec![vec![law(0, 0), law(0, 1)], vec![law(1, 0), law(1, 1)]];
        Model::independent(vec![vec![0.3, 0.2], vec![0.2, 0.3]], vec![given; 2]).unwrap()
    }

    fn threshold(at: usize) -> Channel {
        let row = |x: usize| if x < at { vec![0.9, 0.1] } else { vec![0.2, 0.8] };
        Channel::new((0..5).map(row).collect()).unwrap()
    }

    #[test]
    fn the_program_is_stricter_than_the_distance_it_limits() {
        let model = model();
        let network = Network::new(&model, &goal(&model));
        let maps = Maps::new(vec![threshold(2), threshold(3)]).unwrap();
        let mut strict = 0;
        for t in 0..2 {
            // The other sensor alone already has some distance; limits begin above it.
            let alone = block(&model, &maps, t, 0.0).unwrap().spread;
            for more in [0.02, 0.05, 0.1, 0.2, 0.9] {
                let most = alone + more;
                let printed = block(&model, &maps, t, most).unwrap();
                assert!(printed.visible <= most + 1e-12);
                assert!(printed.spread <= printed.visible + 1e-12);
                let mut state = network.load(&maps);
                let around = network.surroundings(&state, t);
                let cost = network.cost(&state, &around);
                let spread = Some(Spread { most, prior: model.private_law() });
                let limits = Limits { spread, ..Limits::default() };
                let map = network.solve(&mut state, &around, &cost, &limits, &|| false).unwrap();
                let exact = 1.0 + cost.each.iter().zip(&map).map(|(c, p)| c * p).sum::<f64>();
                assert!(exact <= printed.error + 1e-9, "{exact} {}", printed.error);
                strict += usize::from(exact < printed.error - 1e-4);
                if more > 0.8 {
                    assert!((exact - printed.error).abs() < 1e-9, "no limit, no difference");
                }
            }
        }
        assert!(strict >= 4, "the program is strictly worse at {strict} limits");
    }

    #[test]
    fn what_cannot_be_enumerated_is_refused() {
        let model = model();
        let maps = Maps::new(vec![threshold(2), threshold(3)]).unwrap();
        assert!(block(&model, &maps, 2, 0.1).is_err());
        assert!(block(&model, &maps, 0, f64::NAN).is_err());
        let wide =
            Model::independent(vec![vec![0.25; 2]; 2], vec![vec![vec![vec![0.05; 20]; 2]; 2]])
                .unwrap();
        let map = Channel::new(vec![vec![0.5, 0.5]; 20]).unwrap();
        let error = block(&wide, &Maps::new(vec![map]).unwrap(), 0, 0.1).unwrap_err().to_string();
        assert!(error.contains("2^20") && error.contains("joint"), "{error}");
    }
}
