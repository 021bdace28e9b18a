//! ST20 Figure 7: what outputs say of H, of G and of the readings, when the first sensor reads nothing of G.

use undertone_fusion::design::Method;

use super::network::{Network, Point, STAND_IN, first_independent};
use super::sweep::Sweep;
use crate::claim::short;
use crate::{Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "st20-fig-7",
    paper: Paper::St20,
    title: "Figure 7: mutual informations over the LDP budget, ε_I = .15",
    data: &[],
    run,
};

const INFORMATION: f64 = 0.15;
const DRAWN: [Method; 6] = [
    Method::IllHalf,
    Method::Ill,
    Method::Lip,
    Method::Joint,
    Method::Ldp,
    Method::InformationOnly,
];

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let ldps: &[f64] = context.pick(&[0.5, 2.0, 8.0], &[0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0]);
    let network = Network::new(&first_independent()?)?;
    let budgets: Vec<(f64, f64)> = ldps.iter().map(|&ldp| (INFORMATION, ldp)).collect();
    let sweep = Sweep::run("informations", &network, &budgets, context.pick(6, 40))?;
    claims(&mut outcome, &sweep, ldps);
    outcome.note(STAND_IN);
    outcome.note(
        "Here the first sensor's readings are independent of G given H, with the law of H kept.",
    );
    let panel = |title: &str, y: &str, of: fn(&Point) -> f64| Panel {
        title: title.into(),
        x_label: "ε_LD of every reading, in nats".into(),
        y_label: format!("{y}, in nats"),
        series: DRAWN.iter().map(|&method| sweep.line(method, |(_, l)| Some(l), of)).collect(),
        ..Panel::default()
    };
    let mut hidden = panel("(a) about the private hypothesis", "I(G;Z)", |p| p.private_information);
    hidden.log_y = true;
    let panels = vec![
        panel("(a) about the public hypothesis", "I(H;Z)", |p| p.public_information),
        hidden,
        panel("(b) sensor 1, which reads nothing of G", "I(X1;Z1)", |p| p.sensor_information[0]),
        panel("(b) sensor 2", "I(X2;Z2)", |p| p.sensor_information[1]),
    ];
    outcome
        .draw("informations", &Picture { title: "ST20 Figure 7, stand-in law".into(), panels })?;
    outcome.table(sweep.table);
    Ok(outcome)
}

fn claims(outcome: &mut Outcome, sweep: &Sweep, ldps: &[f64]) {
    let figure = |l: f64, method: Method, of: fn(&Point) -> f64| {
        sweep.at(INFORMATION, l, method).map_or(f64::NAN, of)
    };
    let about_h = |l, method| figure(l, method, |p| p.public_information);
    let about_g = |l, method| figure(l, method, |p| p.private_information);
    let first = |l, method| figure(l, method, |p| p.sensor_information[0]);
    let second = |l, method| figure(l, method, |p| p.sensor_information[1]);
    let both = [Method::IllHalf, Method::Lip];
    let most = ldps.iter().flat_map(|&l| both.map(|m| about_g(l, m))).fold(0.0, f64::max);
    let bound = INFORMATION * (INFORMATION / 2.0).tanh();
    outcome.claim(
        Claim::tested(
            "under ILL and LIP the outputs say little of G",
            format!("I(G;Z) at most {}", short(most)),
            format!("at most ε_I·tanh(ε_I/2) = {}", short(bound)),
            most <= bound + 1e-9,
        )
        .because("Theorem 1(ii), sharpened; the printed bound is ε_I/ln 2 = .2164"),
    );
    let last = ldps.last().copied().unwrap_or(f64::NAN);
    let worth = |m: Method| short(about_h(last, m));
    outcome.claim(Claim::tested(
        "LDP alone says much more of H and of G than the others",
        format!(
            "ε_LD = {last}: I(H;Z) {} against ILL as printed {}, LIP {}; I(G;Z) {} against {}, {}",
            worth(Method::Ldp),
            worth(Method::IllHalf),
            worth(Method::Lip),
            short(about_g(last, Method::Ldp)),
            short(about_g(last, Method::IllHalf)),
            short(about_g(last, Method::Lip))
        ),
        "both larger than under ILL and LIP at every ε_LD",
        ldps.iter().all(|&l| {
            both.iter().all(|&m| {
                about_h(l, Method::Ldp) > about_h(l, m) && about_g(l, Method::Ldp) > about_g(l, m)
            })
        }),
    ));
    let share = |l: f64, m: Method| first(l, m) / first(l, Method::InformationOnly);
    let listed: Vec<String> = ldps
        .iter()
        .map(|&l| {
            format!(
                "ε_LD {l}: {} / {}",
                short(share(l, Method::IllHalf)),
                short(share(l, Method::Lip))
            )
        })
        .collect();
    outcome.claim(
        Claim::tested(
            "I(X1;Z1) is much lower under ILL and LIP than under InP",
            format!("as a share of InP's, ILL as printed / LIP: {}", listed.join("; ")),
            "below InP's at every ε_LD, and below half of it up to ε_LD = 2",
            ldps.iter().all(|&l| {
                both.iter().all(|&m| share(l, m) < 1.0 && (l > 2.0 || share(l, m) < 0.5))
            }),
        )
        .because("a limit on what is said of G does not protect a reading that says nothing of G"),
    );
    let gaps: Vec<f64> = ldps
        .iter()
        .map(|&l| second(l, Method::InformationOnly) - second(l, Method::IllHalf))
        .collect();
    let shrinks = gaps.windows(2).all(|pair| pair[1] < pair[0] + 1e-6);
    let far = second(last, Method::InformationOnly) - second(last, Method::Lip);
    outcome.claim(
        Claim::tested(
            "I(X2;Z2) under ILL is below that under InP and tends to it as ε_LD grows",
            format!(
                "gap of ILL as printed {} at ε_LD = {}, {} at {last}; of LIP at {last}: {}",
                short(gaps[0]),
                ldps[0],
                short(gaps[gaps.len() - 1]),
                short(far)
            ),
            "the gap of ILL is positive and shrinks",
            shrinks && gaps.iter().all(|gap| *gap > -1e-6),
        )
        .because("for LIP it need not: its search may settle on other sensors"),
    );
}
