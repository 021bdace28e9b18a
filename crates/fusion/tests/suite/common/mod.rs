//! Models of the specification.
#![allow(dead_code, clippy::unwrap_used)] // every test binary uses a part of this

use undertone_design::Channel;
use undertone_fusion::Model;

/// P(h,g) of model GA: .3 on the diagonal, .2 off it.
pub(crate) const PRIOR: [[f64; 2]; 2] = [[0.3, 0.2], [0.2, 0.3]];

/// P(x|h,g) of model GA for x = 1..16.
pub(crate) fn bell(h: usize, g: usize) -> Vec<f64> {
    let centre = 5.5 + 2.0 * g as f64 + 4.0 * h as f64;
    let weight = |x: u32| (-(f64::from(x) - centre).powi(2) / 8.0).exp();
    let total: f64 = (1..=16).map(weight).sum();
    (1..=16).map(|x| weight(x) / total).collect()
}

fn prior() -> Vec<Vec<f64>> {
    PRIOR.iter().map(|row| row.to_vec()).collect()
}

fn given(law: impl Fn(usize, usize) -> Vec<f64>) -> Vec<Vec<Vec<f64>>> {
    (0..2).map(|h| (0..2).map(|g| law(h, g)).collect()).collect()
}

/// Model GA of the specification with `s` sensors.
pub(crate) fn ga(s: usize) -> Model {
    Model::independent(prior(), vec![given(bell); s]).unwrap()
}

/// Model GA whose first sensor is independent of G given H: P(x|h) as in GA (six sensors).
pub(crate) fn indep_first() -> Model {
    let mixed = |h: usize, _: usize| -> Vec<f64> {
        let total = PRIOR[h][0] + PRIOR[h][1];
        let share = |g: usize| PRIOR[h][g] / total;
        bell(h, 0).iter().zip(bell(h, 1)).map(|(a, b)| share(0) * a + share(1) * b).collect()
    };
    let mut sensors = vec![given(bell); 6];
    sensors[0] = given(mixed);
    Model::independent(prior(), sensors).unwrap()
}

/// ST20 Table IV: four sensors, x = -5..5, a value by (h,g) plus noise uniform on -2..2.
pub(crate) fn table_iv() -> Model {
    let law = |h: usize, g: usize| {
        let centre = -3 + 4 * h as i32 + 2 * g as i32;
        (-5..=5).map(|x: i32| if (x - centre).abs() <= 2 { 0.2 } else { 0.0 }).collect()
    };
    Model::independent(prior(), vec![given(law); 4]).unwrap()
}

/// Output 0 ("high") exactly for readings x >= 9 of GA.
pub(crate) fn threshold() -> Channel {
    let row = |x: usize| if x >= 9 { vec![1.0, 0.0] } else { vec![0.0, 1.0] };
    Channel::new((1..=16).map(row).collect()).unwrap()
}
