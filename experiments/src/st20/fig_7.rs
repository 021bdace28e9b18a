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
        "Here the first sensor's readings are independent of G given H, with their law given H kept. Lines of its panel coincide where LDP alone binds.",
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
        panel("(b) the most telling of the other sensors", "I(Xt;Zt)", Point::others),
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
    let second = |l, method| figure(l, method, Point::others);
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
    for (method, name) in [(Method::IllHalf, "ILL"), (Method::Lip, "LIP")] {
        let listed: Vec<String> =
            ldps.iter().map(|&l| format!("{l}: {}", short(share(l, method)))).collect();
        outcome.claim(
            Claim::tested(
                format!("I(X1;Z1) is much lower under {name} than under InP"),
                format!("as a share of InP's, by ε_LD: {}", listed.join("; ")),
                "below InP's at every ε_LD, and below half of it up to ε_LD = 1",
                ldps.iter().all(|&l| share(l, method) < 1.0 && (l > 1.0 || share(l, method) < 0.5)),
            )
            .or_not_reproducible()
            .because("a limit on what is said of G does not protect a reading that says nothing of G; at large ε_LD neither does LDP"),
        );
    }
    for (method, name) in [(Method::IllHalf, "ILL"), (Method::Lip, "LIP")] {
        let gap = |l: f64| second(l, Method::InformationOnly) - second(l, method);
        let gaps: Vec<f64> = ldps.iter().map(|&l| gap(l)).collect();
        let listed: Vec<String> =
            ldps.iter().zip(&gaps).map(|(l, gap)| format!("{l}: {}", short(*gap))).collect();
        let small = gaps.last().is_some_and(|gap| *gap < 0.25 * gaps[0]);
        outcome.claim(
            Claim::tested(
                format!("I(X2;Z2) under {name} is below that under InP and tends to it as ε_LD grows"),
                format!("InP's less {name}'s, by ε_LD: {}", listed.join("; ")),
                "positive everywhere (1e-4 for rounding), and at the last ε_LD below a quarter of what it is at the first",
                small && gaps.iter().all(|gap| *gap > -1e-4),
            )
            .or_not_reproducible()
            .because("the largest of sensors 2 to 6, which are alike: the best designs at this ε_I let only some of them speak"),
        );
    }
}
