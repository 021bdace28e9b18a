//! Leakage over repeated releases of one datum, and over epochs of a sensor network: bounds against exact values.

use undertone_design::designer::Method as Design;
use undertone_design::extremal::LiftRange;
use undertone_design::objective::Objective;
use undertone_design::{Channel, Distribution};
use undertone_fusion::design::{Budgets, Method};
use undertone_theory::composition::{given, published, sharpened, worst_case};

use super::zipf;
use crate::certified::{self, protect};
use crate::claim::short;
use crate::row;
use crate::st20::network::{Network, stand_in};
use crate::{Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture, Series, Table};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "ours-repetition",
    paper: Paper::Ours,
    title: "Leakage over repeated releases and over epochs, bound against exact",
    data: &[],
    run,
};

/// LIP of every release.
const EPSILON: f64 = 1.0;
/// Information budget of one epoch.
const EPOCH: f64 = 0.18;

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let mut panels = releases(&mut outcome, context.pick(5, 10))?;
    panels.push(epochs(&mut outcome, context)?);
    outcome
        .draw("repetition", &Picture { title: "Repeated releases and epochs".into(), panels })?;
    Ok(outcome)
}

/// The same datum, released again and again.
fn releases(outcome: &mut Outcome, most: usize) -> Result<Vec<Panel>, Error> {
    let mut table = Table::new(
        "releases",
        &[
            "prior",
            "n",
            "added_up",
            "theorem_4",
            "sharpened",
            "worst_case",
            "optimum_lip",
            "optimum_ldp",
        ],
    );
    let priors =
        [("fair coin", Distribution::uniform(2)), ("Zipf(1), four symbols", zipf(4, 1.0)?)];
    let mut panels = Vec::new();
    for (name, prior) in &priors {
        let lip = protect("lip", EPSILON);
        let design = certified::known(prior, &lip, &Objective::Frequency, Design::Optimal)?;
        let channel = design.channel.ok_or_else(|| Error::other("the optimum has no table"))?;
        let first = table.rows.len();
        for n in 1..=most {
            let ranges = vec![LiftRange::symmetric(EPSILON)?; n];
            let own: Vec<Channel> = vec![channel.clone(); n];
            table.push(row![
                name,
                n,
                n as f64 * EPSILON,
                published(prior.min(), &ranges)?,
                sharpened(prior, &ranges)?,
                worst_case(prior, &ranges)?.leakage,
                given(prior, &own)?.lip(),
                n as f64 * design.ldp,
            ]);
        }
        let line = |column: &str| -> Vec<(f64, f64)> {
            (first..table.rows.len())
                .map(|row| (table.number(row, "n"), table.number(row, column)))
                .collect()
        };
        panels.push(Panel {
            title: format!("{name}, ε = 1 a release"),
            x_label: "number of releases".into(),
            y_label: "LIP leakage, in nats".into(),
            series: vec![
                Series::missing_its_claim(
                    "ε added up",
                    format!("{} after two releases", short(table.number(first + 1, "worst_case"))),
                    line("added_up"),
                ),
                Series::reference(
                    "the LDP of the frequency optimum added up (holds)",
                    line("optimum_ldp"),
                )
                .coloured(3),
                Series::reference("JSTL21 Theorem 4 (holds, loose)", line("theorem_4")),
                Series::reference("sharpened bound (holds)", line("sharpened")).coloured(1),
                Series::solid("exact worst case of any mechanism", line("worst_case")).coloured(2),
                Series::points("the frequency optimum itself, exact", line("optimum_lip"))
                    .coloured(7),
            ],
            ..Panel::default()
        });
    }
    let rows = 0..table.rows.len();
    let get = |row: usize, column: &str| table.number(row, column);
    let two = table.find(&[("prior", "fair coin"), ("n", "2")]).unwrap_or(0);
    outcome.claim(
        Claim::tested(
            "n releases of ε-LIP are nε-LIP",
            format!("a fair coin, two releases of ε = 1: {}", short(get(two, "worst_case"))),
            "the exact worst case is at most nε",
            rows.clone().all(|row| get(row, "worst_case") <= get(row, "added_up") + 1e-9),
        )
        .because("LIP does not add up: the first answer changes the prior for the second"),
    );
    let ordered = rows.clone().all(|row| {
        let [own, worst, sharp, printed] =
            ["optimum_lip", "worst_case", "sharpened", "theorem_4"].map(|column| get(row, column));
        own <= worst + 1e-6 && worst <= sharp + 1e-9 && sharp <= printed + 1e-9
    });
    let last = table.rows.len() - 1;
    outcome.claim(Claim::tested(
        "a given mechanism ≤ exact worst case ≤ sharpened bound ≤ Theorem 4",
        format!(
            "Zipf(1), {most} releases: {} ≤ {} ≤ {} ≤ {}",
            short(get(last, "optimum_lip")),
            short(get(last, "worst_case")),
            short(get(last, "sharpened")),
            short(get(last, "theorem_4"))
        ),
        "at every point",
        ordered,
    ));
    let capped = rows.clone().all(|row| get(row, "optimum_lip") <= get(row, "optimum_ldp") + 1e-9);
    outcome.claim(
        Claim::tested(
            "the attained LDP of all releases, added up, bounds their LIP",
            format!(
                "Zipf(1), {most} releases: {} ≤ {}",
                short(get(last, "optimum_lip")),
                short(get(last, "optimum_ldp"))
            ),
            "at every point",
            capped,
        )
        .because("LDP does add up, which is why budgets are kept in it"),
    );
    outcome.table(table);
    Ok(panels)
}

/// One private hypothesis behind many epochs of a sensor network.
fn epochs(outcome: &mut Outcome, context: &Context) -> Result<Panel, Error> {
    let network = Network::new(&stand_in()?)?;
    let restarts = context.pick(6, 30);
    let counts: &[u32] = context.pick(&[1, 2, 5, 10], &[1, 2, 3, 5, 7, 10, 15, 20, 30, 50]);
    let one = Budgets::new(EPOCH, 2.0)?;
    let ten = Budgets { epochs: 10, ..one };
    let (single, single_bundle) = network.ship(Method::Joint, one, restarts)?;
    let (lasting, lasting_bundle) = network.ship(Method::Joint, ten, restarts)?;
    let coin = Distribution::uniform(2);
    let mut table = Table::new(
        "epochs",
        &["epochs", "added_up", "worst_case", "network", "exact", "ldp_alone", "for_ten_epochs"],
    );
    let nats = |nats: Option<undertone_core::Nats>| {
        nats.map_or(f64::INFINITY, |nats| nats.units() as f64 / 1e10)
    };
    for &n in counts {
        let ranges = vec![LiftRange::symmetric(EPOCH)?; n as usize];
        let worst = worst_case(&coin, &ranges)?.leakage;
        let after = |policies: &[undertone_core::Policy]| network.certify_after(policies, n);
        let own = after(single_bundle.policies())?;
        let planned = after(lasting_bundle.policies())?;
        table.push(row![
            n,
            f64::from(n) * EPOCH,
            worst,
            nats(own.information),
            own.exact,
            nats(own.always),
            nats(planned.information),
        ]);
    }
    let at = |n: u32, column: &str| {
        table.find(&[("epochs", &n.to_string())]).map_or(f64::NAN, |row| table.number(row, column))
    };
    let known = [(2, 0.387), (5, 1.14), (10, 2.67), (50, 15.9)];
    for (n, expected) in known.into_iter().filter(|(n, _)| counts.contains(n)) {
        let digits = if n == 2 {
            5e-4
        } else if n == 50 {
            0.05
        } else {
            5e-3
        };
        outcome.claim(
            Claim::number(
                format!(
                    "(our specification) ε_I = .18 an epoch is at most this after {n} epochs with the same G"
                ),
                expected,
                at(n, "worst_case"),
                digits,
            )
            .id(format!("after-{n}-epochs"))
            .because("exact worst case for a fair coin; ST20 leaves more than one epoch open"),
        );
    }
    let rows = 0..table.rows.len();
    let below = rows
        .clone()
        .all(|row| table.number(row, "network") <= table.number(row, "worst_case") + 1e-6);
    outcome.claim(Claim::tested(
        "a network within .18 for one epoch stays within that worst case",
        format!(
            "JOINT at ε_LD = 2: {} after one epoch, {} after ten, certified",
            short(at(1, "network")),
            short(at(10, "network"))
        ),
        "at every number of epochs",
        below,
    ));
    let lasts = at(10, "for_ten_epochs");
    outcome.claim(
        Claim::tested(
            "a design for ten epochs keeps .18 over ten epochs",
            format!(
                "{} after ten epochs; error of H {} in one epoch, {} if only one epoch is budgeted",
                short(lasts),
                short(lasting.error_public),
                short(single.error_public)
            ),
            "at most .18 after ten epochs",
            lasts <= EPOCH,
        )
        .because("certified on the integers"),
    );
    let line = |column: &str| -> Vec<(f64, f64)> {
        rows.clone().map(|row| (table.number(row, "epochs"), table.number(row, column))).collect()
    };
    let panel = Panel {
        title: "Sensor network, G constant, ε_I = .18 an epoch".into(),
        x_label: "number of epochs".into(),
        y_label: "leakage about G, in nats".into(),
        log_x: true,
        log_y: true,
        series: vec![
            Series::missing_its_claim(
                "ε_I added up",
                format!("{} after 10 epochs", short(at(10, "worst_case"))),
                line("added_up"),
            ),
            Series::reference("what LDP alone gives, at any number of epochs", line("ldp_alone")),
            Series::solid("exact worst case of any network", line("worst_case")).coloured(2),
            Series::points("JOINT for one epoch, certified", line("network")).coloured(7),
            Series::solid("JOINT for ten epochs, certified", line("for_ten_epochs")).coloured(3),
        ],
    };
    outcome.table(table);
    Ok(panel)
}
