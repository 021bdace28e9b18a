//! ST20 Figure 9: EPIC against E-LDP tuned to the same error of G, over the correlation of H and G.

use rayon::prelude::*;
use undertone_fusion::design::Watch;
use undertone_fusion::learn::{Method, Settings};
use undertone_fusion::{Evaluation, Maps};

use super::learned::{drawn, learn, settings, shipped};
use super::network::{Network, table_iv};
use super::tune::e_ldp_matching;
use crate::claim::short;
use crate::row;
use crate::{Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture, Series, Table};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "st20-fig-9",
    paper: Paper::St20,
    title: "Figure 9: EPIC and E-LDP over the correlation of H and G",
    data: &[],
    run,
};

const COLUMNS: [&str; 10] = [
    "correlation",
    "epic_h",
    "epic_g",
    "epic_i",
    "epic_ld",
    "e_ldp_h",
    "e_ldp_g",
    "e_ldp_i",
    "e_ldp_ld",
    "e_ldp_level",
];

/// Figures of one draw, in the order of the columns.
fn one(context: &Context, correlation: f64, draw: u64, n: usize) -> Result<[f64; 9], Error> {
    let network = Network::new(&table_iv(correlation)?)?;
    let samples = drawn(context, &network, n, draw)?;
    let settings = Settings { restarts: 1, ..settings(context, 5.0) };
    let (_, epic) = learn(&network, &samples, Method::Epic, &settings)?;
    let judge = |maps: &Maps| Ok(Evaluation::new(network.model(), maps)?.error_private);
    let (level, open) =
        e_ldp_matching(&samples, &settings, epic.error_private, &judge, &Watch::PATIENT)?;
    let open = shipped(&network, &samples, &open, Method::ELdp, level)?;
    Ok([
        epic.error_public,
        epic.error_private,
        epic.information,
        epic.ldp,
        open.error_public,
        open.error_private,
        open.information,
        open.ldp,
        level,
    ])
}

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    // As in the supplement's section on simulations, which Figure 9 belongs to.
    let n = 40;
    let draws = context.pick(2u64, 6);
    let correlations: &[f64] = context.pick(&[0.0, 0.4], &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]);
    let tasks: Vec<(f64, u64)> =
        correlations.iter().flat_map(|&rho| (0..draws).map(move |draw| (rho, draw))).collect();
    let found: Vec<[f64; 9]> = tasks
        .par_iter()
        .map(|&(rho, draw)| one(context, rho, draw, n))
        .collect::<Result<_, _>>()?;
    let mut table = Table::new("correlation", &COLUMNS);
    for (rho, own) in correlations.iter().zip(found.chunks(draws as usize)) {
        let mean: Vec<f64> =
            (0..9).map(|at| own.iter().map(|f| f[at]).sum::<f64>() / draws as f64).collect();
        let mut cells = row![rho];
        cells.extend(mean.iter().map(f64::to_string));
        table.push(cells);
    }
    let get = |row: usize, column: &str| table.number(row, column);
    let rows = 0..table.rows.len();
    let listed: Vec<String> = rows
        .clone()
        .map(|row| {
            format!(
                "{}: {} / {}",
                get(row, "correlation"),
                short(get(row, "epic_h")),
                short(get(row, "e_ldp_h"))
            )
        })
        .collect();
    outcome.claim(
        Claim::tested(
            "at the same error of G, E-LDP errs more on H than EPIC, whatever the correlation",
            format!("error of H by correlation, EPIC / E-LDP: {}", listed.join("; ")),
            "at every correlation",
            rows.clone().all(|row| get(row, "e_ldp_h") > get(row, "epic_h")),
        )
        .because("LDP hides everything alike"),
    );
    let apart = rows.clone().map(|row| get(row, "e_ldp_g") - get(row, "epic_g"));
    let apart = apart.fold(0.0, |most: f64, gap| most.max(gap.abs()));
    outcome.claim(Claim::tested(
        "E-LDP can be tuned to EPIC's error of G",
        format!("errors of G differ by at most {}", short(apart)),
        "within .01",
        apart < 0.01,
    ));
    let levels: Vec<String> = rows.clone().map(|row| short(get(row, "e_ldp_ld"))).collect();
    outcome.note(format!(
        "Means over {draws} draws of {n} samples (the n of the supplement's simulations); EPIC at ε_LD = 5, r = .999. The tuned E-LDP attains an LDP of {} in the order of the correlations, \
         EPIC {}: the two have equal error of G, not equal LDP.",
        levels.join(", "),
        short(rows.clone().map(|row| get(row, "epic_ld")).fold(0.0, f64::max))
    ));
    let line = |column: &str| {
        rows.clone().map(|row| (get(row, "correlation"), get(row, column))).collect()
    };
    let panel = |title: &str, y: &str, epic: &str, open: &str| Panel {
        title: title.into(),
        x_label: "correlation of H and G".into(),
        y_label: y.into(),
        series: vec![
            Series::solid("EPIC, ε_LD = 5", line(epic)),
            Series::solid("E-LDP, tuned to the same error of G", line(open)),
        ],
        ..Panel::default()
    };
    let panels = vec![
        panel("error of H", "Bayes error of H", "epic_h", "e_ldp_h"),
        Panel {
            series: vec![
                Series::solid("EPIC, ε_LD = 5", line("epic_g")),
                Series::points("E-LDP, tuned to it", line("e_ldp_g")).coloured(1),
            ],
            ..panel("error of G", "Bayes error of G", "epic_g", "e_ldp_g")
        },
        panel("attained LDP", "LDP of the worst sensor, in nats", "epic_ld", "e_ldp_ld"),
    ];
    outcome.draw("correlation", &Picture { title: "ST20 Figure 9".into(), panels })?;
    outcome.table(table);
    Ok(outcome)
}
