//! Laws for the experiments, and designs whose guarantees are read off the integers that ship.

use undertone_core::{Nats, Policy};
use undertone_fusion::design::{Budgets, Method, Request, Watch, design};
use undertone_fusion::{
    Bundle, Certificate, Evaluation, ExactModel, Maps, Model, Origin, Repeated,
};

use crate::Error;

/// P(h,g) at a correlation of H and G, both fair coins.
fn prior(correlation: f64) -> Vec<Vec<f64>> {
    let (same, other) = (0.25 * (1.0 + correlation), 0.25 * (1.0 - correlation));
    vec![vec![same, other], vec![other, same]]
}

fn given(law: impl Fn(usize, usize) -> Vec<f64>) -> Vec<Vec<Vec<f64>>> {
    (0..2).map(|h| (0..2).map(|g| law(h, g)).collect()).collect()
}

/// P(x|h,g) for x = 1..16: a bell of deviation 2 around 5.5, 7.5, 9.5, 11.5.
fn bell(h: usize, g: usize) -> Vec<f64> {
    let centre = 5.5 + 2.0 * g as f64 + 4.0 * h as f64;
    let weight = |x: u32| (-(f64::from(x) - centre).powi(2) / 8.0).exp();
    let total: f64 = (1..=16).map(weight).sum();
    (1..=16).map(|x| weight(x) / total).collect()
}

/// Σ_i weight_i P(x|cell i).
fn mixed(parts: [(f64, Vec<f64>); 2]) -> Vec<f64> {
    let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
    let [(a, first), (b, second)] = parts;
    first.iter().zip(second).map(|(p, q)| (a * p + b * q) / total).collect()
}

/// What is said about the stand-in law wherever it is used.
pub const STAND_IN: &str = "Figure 4, the law of the readings, is only a picture. A law of our own stands in for it: six sensors, \
     x = 1..16, P(x|h,g) proportional to exp(-(x-m)²/8) with m = 5.5, 7.5, 9.5, 11.5 for (h,g) = (0,0), (0,1), (1,0), (1,1), \
     independent given (H,G), correlation .2 as in the paper. Shapes can be compared with the paper, values cannot.";

/// The stand-in for ST20 Figure 4: six sensors.
pub fn stand_in() -> Result<Model, Error> {
    Ok(Model::independent(prior(0.2), vec![given(bell); 6])?)
}

/// The stand-in where the first sensor reads nothing of G beyond what H says (ST20 Figure 7).
pub fn first_independent() -> Result<Model, Error> {
    let p = prior(0.2);
    let first = |h: usize, _: usize| mixed([(p[h][0], bell(h, 0)), (p[h][1], bell(h, 1))]);
    let mut sensors = vec![given(bell); 6];
    sensors[0] = given(first);
    Ok(Model::independent(p.clone(), sensors)?)
}

/// The stand-in as ST20 Section IV-B writes it: sensors independent given G alone.
pub fn product_form() -> Result<Model, Error> {
    let p = prior(0.2);
    let law = |_: usize, g: usize| mixed([(p[0][g], bell(0, g)), (p[1][g], bell(1, g))]);
    Ok(Model::independent(p.clone(), vec![given(law); 6])?)
}

/// ST20 Table IV: four sensors, x = -5..5, a value by (h,g) plus noise uniform on -2..2.
pub fn table_iv(correlation: f64) -> Result<Model, Error> {
    let law = |h: usize, g: usize| {
        let centre = -3 + 4 * h as i32 + 2 * g as i32;
        (-5..=5).map(|x: i32| if (x - centre).abs() <= 2 { 0.2 } else { 0.0 }).collect()
    };
    Ok(Model::independent(prior(correlation), vec![given(law); 4])?)
}

/// What maps are worth and what they leak.
#[derive(Debug, Clone)]
pub struct Point {
    /// The Bayes error of H.
    pub error_public: f64,
    /// The Bayes error of G.
    pub error_private: f64,
    /// I(H;Z).
    pub public_information: f64,
    /// I(G;Z).
    pub private_information: f64,
    /// I(X_t;Z_t) of each sensor.
    pub sensor_information: Vec<f64>,
    /// ε_I of the integers, rounded up; infinite where there is no bound.
    pub information: f64,
    /// The LDP of the worst sensor's integers, rounded up.
    pub ldp: f64,
    /// The shipped maps.
    pub maps: Maps,
}

impl Point {
    /// The largest I(X_t;Z_t) of all sensors but the first. They are alike in law, but designs often let only a few
    /// of them speak, so no single one of them says much.
    pub fn others(&self) -> f64 {
        self.sensor_information.iter().skip(1).copied().fold(0.0, f64::max)
    }
}

/// A law in integers.
pub struct Network {
    exact: ExactModel,
    model: Model,
}

impl Network {
    /// Rounds a law to integers; everything below is about the rounded one.
    pub fn new(model: &Model) -> Result<Self, Error> {
        let exact = ExactModel::new(model)?;
        Ok(Self { model: exact.model()?, exact })
    }

    /// The law as floats.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Designs maps, ships them and reads what the integers attain. Budgets in nats; a method that
    /// ignores one of them does not promise it.
    pub fn design(
        &self,
        method: Method,
        information: f64,
        ldp: f64,
        restarts: u32,
    ) -> Result<Point, Error> {
        Ok(self.ship(method, Budgets::new(information, ldp)?, restarts)?.0)
    }

    /// Designs maps and ships them as a bundle, for several epochs.
    pub fn ship(
        &self,
        method: Method,
        budgets: Budgets,
        restarts: u32,
    ) -> Result<(Point, Bundle), Error> {
        let outputs = vec![2; self.model.sensors().len()];
        let request = Request { method, budgets, outputs, restarts, seed: 1 };
        let found = design(&self.model, &request, &Watch::PATIENT)?;
        let promised = Budgets {
            information: budgets.information.filter(|_| method.hides_private()),
            ldp: budgets.ldp.filter(|_| method.hides_readings()),
            ..budgets
        };
        let bundle = Bundle::ship(&self.exact, &found.maps, promised, &Origin::default())?;
        let point = self.seen(bundle.maps()?, bundle.certificate())?;
        Ok((point, bundle))
    }

    /// What shipped maps are worth under this law.
    pub fn seen(&self, maps: Maps, certificate: &Certificate) -> Result<Point, Error> {
        let seen = Evaluation::new(&self.model, &maps)?;
        let nats = |nats: Nats| nats.units() as f64 / 1e10;
        let first = certificate.after(1).and_then(|line| line.information);
        Ok(Point {
            error_public: seen.error_public,
            error_private: seen.error_private,
            public_information: seen.public_information,
            private_information: seen.private_information,
            sensor_information: seen.sensor_information,
            information: first.map_or(f64::INFINITY, nats),
            ldp: certificate.ldp.iter().copied().map(nats).fold(0.0, f64::max),
            maps,
        })
    }

    /// What policies leak under this law, whoever made them.
    pub fn certify(&self, policies: &[Policy]) -> Result<Certificate, Error> {
        Ok(Certificate::new(&self.exact, policies, 1)?)
    }

    /// What policies leak after this many epochs with the same G.
    pub fn certify_after(&self, policies: &[Policy], epochs: u32) -> Result<Repeated, Error> {
        let certificate = Certificate::new(&self.exact, policies, epochs)?;
        let found = certificate.after(epochs).copied();
        found.ok_or_else(|| Error::other(format!("no certificate for {epochs} epochs")))
    }
}
