//! Every method of ST20 Section IV over a list of budgets.

use rayon::prelude::*;
use undertone_fusion::design::Method;

use super::network::{Network, Point};
use crate::row;
use crate::{Error, Series, Table};

/// A method, its name in tables and in legends.
pub const METHODS: [(Method, &str, &str); 6] = [
    (Method::IllHalf, "ill_printed", "ILL as printed (second stage at ε_LD/2)"),
    (Method::Ill, "ill", "ILL corrected (second stage at ε_LD)"),
    (Method::Lip, "lip", "LIP (LDP first)"),
    (Method::Joint, "joint", "JOINT (ours)"),
    (Method::Ldp, "ldp", "LDP alone: no promise about G"),
    (Method::InformationOnly, "inp", "InP alone: no promise about readings"),
];

const COLUMNS: [&str; 11] = [
    "epsilon_i",
    "epsilon_ld",
    "method",
    "error_h",
    "error_g",
    "i_h_z",
    "i_g_z",
    "i_x1_z1",
    "i_x_other",
    "attained_i",
    "attained_ld",
];

/// Designs of every method at every pair of budgets.
pub struct Sweep {
    /// One row per design.
    pub table: Table,
    points: Vec<((f64, f64), Method, Point)>,
}

impl Sweep {
    /// Runs all methods at every (ε_I, ε_LD).
    pub fn run(
        name: &str,
        network: &Network,
        budgets: &[(f64, f64)],
        restarts: u32,
    ) -> Result<Self, Error> {
        // A budget that a method ignores makes no difference to it.
        let asked = |(information, ldp): (f64, f64), method: Method| {
            let information = if method.hides_private() { information } else { f64::INFINITY };
            (method, information, if method.hides_readings() { ldp } else { f64::INFINITY })
        };
        let tasks: Vec<((f64, f64), Method)> = budgets
            .iter()
            .flat_map(|&pair| METHODS.iter().map(move |(method, ..)| (pair, *method)))
            .collect();
        let mut distinct = Vec::new();
        for &(pair, method) in &tasks {
            let task = asked(pair, method);
            if !distinct.contains(&task) {
                distinct.push(task);
            }
        }
        let design = |&(method, information, ldp): &(Method, f64, f64)| {
            network.design(method, information, ldp, restarts)
        };
        let designed: Vec<Point> =
            distinct.par_iter().with_max_len(1).map(design).collect::<Result<_, Error>>()?;
        let found = |&(pair, method): &((f64, f64), Method)| {
            let at = distinct.iter().position(|task| *task == asked(pair, method))?;
            Some((pair, method, designed[at].clone()))
        };
        let points: Vec<_> = tasks.iter().filter_map(found).collect();
        let mut table = Table::new(name, &COLUMNS);
        for ((information, ldp), method, p) in &points {
            let name = METHODS.iter().find(|(other, ..)| other == method).map_or("", |(_, n, _)| n);
            table.push(row![
                information,
                ldp,
                name,
                p.error_public,
                p.error_private,
                p.public_information,
                p.private_information,
                p.sensor_information[0],
                p.others(),
                p.information,
                p.ldp,
            ]);
        }
        Ok(Self { table, points })
    }

    /// One design.
    pub fn at(&self, information: f64, ldp: f64, method: Method) -> Option<&Point> {
        let wanted = |(pair, m, _): &&((f64, f64), Method, Point)| {
            *pair == (information, ldp) && *m == method
        };
        self.points.iter().find(wanted).map(|(_, _, point)| point)
    }

    /// A figure of one method at every pair of budgets, in order.
    pub fn curve(&self, method: Method, of: impl Fn(&Point) -> f64) -> Vec<((f64, f64), f64)> {
        let own = self.points.iter().filter(|(_, m, _)| *m == method);
        own.map(|(pair, _, point)| (*pair, of(point))).collect()
    }

    /// A figure of one method as a line, over the budgets that `x` keeps, with where it puts them.
    pub fn line(
        &self,
        method: Method,
        x: impl Fn((f64, f64)) -> Option<f64>,
        of: impl Fn(&Point) -> f64,
    ) -> Series {
        let (at, (.., name)) = METHODS
            .iter()
            .enumerate()
            .find(|(_, (other, ..))| *other == method)
            .unwrap_or((0, &METHODS[0]));
        let curve = self.curve(method, of);
        let points = curve.into_iter().filter_map(|(pair, y)| Some((x(pair)?, y))).collect();
        Series::solid(*name, points).coloured(at)
    }

    /// How many designs keep what their method promises, of how many.
    pub fn within_budgets(&self) -> (usize, usize) {
        let keeps = |((information, ldp), method, point): &&((f64, f64), Method, Point)| {
            (!method.hides_private() || point.information <= *information)
                && (!method.hides_readings() || point.ldp <= *ldp)
        };
        (self.points.iter().filter(keeps).count(), self.points.len())
    }
}
