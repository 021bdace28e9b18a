//! The tables of the specification's section 3 on its model GA: what is known, what we find, how long
//! it takes.
//!
//!     cargo run --release -p undertone-fusion --example sweep            # six sensors, both tables
//!     cargo run --release -p undertone-fusion --example sweep large      # 15 sensors; evaluation at 18
#![allow(clippy::unwrap_used)]

#[path = "../tests/suite/common/mod.rs"]
mod common;

use std::time::Instant;

use undertone_fusion::design::{self, Budgets, Method, Request, Watch, usual_restarts};
use undertone_fusion::{Bundle, Evaluation, ExactModel, Maps, Model, Origin};
use undertone_testkit::channel::{channel, response};

/// ε_I, ε_LD, and the errors of H that the specification's runs reached: ILL at ε/2, ILL, LIP, JOINT,
/// the best of all its runs, LDP alone.
type Line = (f64, f64, [f64; 6]);

const GA: [Line; 12] = [
    (0.01, 0.25, [0.4910, 0.4820, 0.4908, 0.4761, 0.4761, 0.4216]),
    (0.01, 0.5, [0.4820, 0.4645, 0.4908, 0.4556, 0.4556, 0.3485]),
    (0.01, 1.0, [0.4645, 0.4324, 0.4908, 0.4175, 0.4175, 0.2306]),
    (0.01, 2.0, [0.4324, 0.3864, 0.4912, 0.3685, 0.3685, 0.1121]),
    (0.01, 4.0, [0.3864, 0.3536, 0.4912, 0.3490, 0.3425, 0.0689]),
    (0.01, 8.0, [0.3536, 0.3477, 0.4912, 0.3456, 0.3387, 0.0637]),
    (0.18, 0.25, [0.4847, 0.4695, 0.4385, 0.4339, 0.4339, 0.4216]),
    (0.18, 0.5, [0.4695, 0.4400, 0.4172, 0.4036, 0.4034, 0.3485]),
    (0.18, 1.0, [0.4400, 0.3872, 0.3483, 0.3464, 0.3464, 0.2306]),
    (0.18, 2.0, [0.3872, 0.3147, 0.3539, 0.3032, 0.3023, 0.1121]),
    (0.18, 4.0, [0.3147, 0.2660, 0.3539, 0.2655, 0.2652, 0.0689]),
    (0.18, 8.0, [0.2660, 0.2577, 0.3539, 0.2577, 0.2575, 0.0637]),
];

/// ST20 Fig. 6: a strict LDP level.
const STRICT: [Line; 5] = [
    (0.01, 0.07, [0.4975, 0.4949, 0.4908, 0.4897, 0.4897, 0.4778]),
    (0.05, 0.07, [0.4967, 0.4933, 0.4827, 0.4823, 0.4823, 0.4778]),
    (0.1, 0.07, [0.4962, 0.4925, 0.4778, 0.4778, 0.4778, 0.4778]),
    (0.18, 0.07, [0.4957, 0.4914, 0.4778, 0.4778, 0.4778, 0.4778]),
    (0.3, 0.07, [0.4952, 0.4904, 0.4778, 0.4778, 0.4778, 0.4778]),
];

/// ST20 Fig. 7: the first sensor knows nothing of G.
const FIRST: [Line; 5] = [
    (0.15, 0.5, [0.4705, 0.4420, 0.4127, 0.3969, 0.3969, 0.3478]),
    (0.15, 1.0, [0.4420, 0.3913, 0.3717, 0.3295, 0.3293, 0.2276]),
    (0.15, 2.0, [0.3913, 0.3236, 0.3717, 0.2411, 0.2345, 0.1035]),
    (0.15, 4.0, [0.3236, 0.2800, 0.3717, 0.2301, 0.2226, 0.0526]),
    (0.15, 8.0, [0.2800, 0.2726, 0.3717, 0.2282, 0.2210, 0.0464]),
];

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("large") => large(),
        _ => {
            let begun = Instant::now();
            table("model GA, six sensors", &common::ga(6), &GA);
            println!("the table took {:.1} s\n", begun.elapsed().as_secs_f64());
            table("Fig. 6: eps_LD = .07", &common::ga(6), &STRICT);
            table("Fig. 7: first sensor independent of G", &common::indep_first(), &FIRST);
        }
    }
}

fn table(title: &str, model: &Model, lines: &[Line]) {
    println!("{title} (error of H; specification -> ours)");
    println!(
        "{:>5} {:>5}  {:>15} {:>15} {:>15} {:>15} {:>7} {:>15}  {:>7} {:>6}  verdict",
        "eps_I", "eps_L", "ILL/2", "ILL", "LIP", "JOINT", "best", "LDP only", "leaks", "time"
    );
    let exact = ExactModel::new(model).unwrap();
    let model = exact.model().unwrap();
    for &(information, ldp, known) in lines {
        let begun = Instant::now();
        let outputs = vec![2; model.sensors().len()];
        let request = Request {
            method: Method::Joint,
            budgets: Budgets::new(information, ldp).unwrap(),
            restarts: usual_restarts(&model, &outputs),
            outputs,
            seed: 1,
        };
        let joint = design::design(&model, &request, &Watch::PATIENT).unwrap();
        let bundle =
            Bundle::ship(&exact, &joint.maps, request.budgets, &Origin::default()).unwrap();
        let seen = Evaluation::new(&model, &bundle.maps().unwrap()).unwrap();
        let time = begun.elapsed().as_secs_f64();
        let alone = Request { method: Method::Ldp, ..request.clone() };
        let alone = design::design(&model, &alone, &Watch::PATIENT).unwrap().error;
        let part =
            |name: &str| joint.attempts.iter().find(|attempt| attempt.name == name).unwrap().loss;
        let (half, ill, lip) = (part("ill-half"), part("ill"), part("lip"));
        let found = seen.error_public;
        let leaks = bundle.certificate().after(1).unwrap().information.unwrap();
        let sound = leaks <= request.budgets.information.unwrap().nats()
            && found <= half.min(ill).min(lip) + 1e-6
            && alone <= found + 1e-6;
        let verdict = match found - known[4] {
            _ if !sound => "BROKEN",
            gap if gap > 0.003 => "MISSED",
            gap if gap < -0.0005 => "better",
            _ => "equal",
        };
        let pair = |a: f64, b: f64| format!("{a:.4} -> {b:.4}");
        println!(
            "{information:>5} {ldp:>5}  {:>15} {:>15} {:>15} {:>15} {:>7.4} {:>15}  {:>7.5} {time:>5.1}s  {verdict}",
            pair(known[0], half),
            pair(known[1], ill),
            pair(known[2], lip),
            pair(known[3], found),
            known[4],
            pair(known[5], alone),
            leaks.units() as f64 * 1e-10,
        );
    }
    println!();
}

fn large() {
    let exact = ExactModel::new(&common::ga(15)).unwrap();
    let model = exact.model().unwrap();
    let outputs = vec![2; 15];
    let request = Request {
        method: Method::Joint,
        budgets: Budgets::new(0.18, 2.0).unwrap(),
        restarts: usual_restarts(&model, &outputs),
        outputs,
        seed: 1,
    };
    let begun = Instant::now();
    let found = design::design(&model, &request, &Watch::PATIENT).unwrap();
    println!(
        "15 sensors, eps_I .18, eps_LD 2, {} starts: error {:.4} after {:.1} s",
        request.restarts,
        found.error,
        begun.elapsed().as_secs_f64()
    );
    for attempt in &found.attempts {
        println!("  {:<12} {:.4}", attempt.name, attempt.loss);
    }
    let begun = Instant::now();
    let bundle = Bundle::ship(&exact, &found.maps, request.budgets, &Origin::default()).unwrap();
    let line = bundle.certificate().after(1).unwrap();
    println!(
        "shipped and certified at {} in {:.1} s",
        line.information.unwrap(),
        begun.elapsed().as_secs_f64()
    );
    let model = common::ga(18);
    let map = common::threshold().then(&channel(&response(1.0))).unwrap();
    let maps = Maps::same(&model, &map).unwrap();
    let begun = Instant::now();
    let seen = Evaluation::new(&model, &maps).unwrap();
    println!(
        "18 sensors evaluated in {:.2} s: errors {:.4} and {:.4}, eps_I {:.4}",
        begun.elapsed().as_secs_f64(),
        seen.error_public,
        seen.error_private,
        seen.information.nats
    );
}
