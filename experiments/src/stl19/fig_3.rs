//! STL19 Figure 3: the mean squared error of bounded Laplace noise, three priors.

use undertone_design::Distribution;
use undertone_design::continuous::Method;

use super::laplace;
use crate::claim::short;
use crate::row;
use crate::{
    Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture, Series, Table, certified,
};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "stl19-fig-3",
    paper: Paper::Stl19,
    title: "Figure 3: mean squared error of bounded Laplace noise, three priors",
    data: &[],
    run,
};

const PRIORS: [(&str, [f64; 3]); 3] =
    [("P1", [5.0, 5.0, 5.0]), ("P2", [6.0, 5.0, 4.0]), ("P3", [8.0, 5.0, 2.0])];
const NAMES: [&str; 3] = ["P1 = [5, 5, 5]/15", "P2 = [6, 5, 4]/15", "P3 = [8, 5, 2]/15"];
const BINS: usize = 13;

fn prior(weights: [f64; 3]) -> Result<Distribution, Error> {
    Ok(Distribution::normalised("prior", weights.to_vec())?)
}

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let mut table = Table::new(
        "error",
        &[
            "prior",
            "epsilon",
            "ldp",
            "ldp_twice",
            "printed",
            "printed_lip",
            "printed_scale",
            "closed",
            "exact",
            "exact_scale",
            "table",
            "table_lip",
            "table_ldp",
            "optimum",
            "optimum_lip",
            "optimum_ldp",
        ],
    );
    let levels = crate::jstl21::grid(4.0, context.pick(0.5, 0.1));
    for (name, weights) in PRIORS {
        let prior = prior(weights)?;
        let numbers = laplace::numbers(&prior, BINS);
        for &epsilon in &levels {
            let printed = laplace::printed(&prior, epsilon)?;
            let exact = laplace::exact(&prior, epsilon)?;
            let protection = certified::protect("lip", epsilon);
            let shipped = numbers.design(&protection, laplace::CERTIFIED)?;
            let best = numbers.design(&protection, Method::Optimal)?;
            table.push(row![
                name,
                epsilon,
                laplace::ldp(&prior, epsilon)?.error,
                laplace::ldp(&prior, 2.0 * epsilon)?.error,
                printed.error,
                printed.lip,
                printed.scale,
                laplace::closed(&prior, epsilon)?.error,
                exact.error,
                exact.scale,
                shipped.error,
                shipped.lip,
                shipped.ldp,
                best.error,
                best.lip,
                best.ldp,
            ]);
        }
    }
    claims(&mut outcome, &table)?;
    let mut panels = Vec::new();
    for (at, (name, _)) in PRIORS.iter().enumerate() {
        let line = |column: &str| {
            let rows = (0..table.rows.len()).filter(|&row| table.rows[row][0] == *name);
            rows.map(|row| (table.number(row, "epsilon"), table.number(row, column))).collect()
        };
        panels.push(Panel {
            title: NAMES[at].into(),
            x_label: "ε, in nats".into(),
            y_label: "mean squared error".into(),
            series: vec![
                Series::solid("LDP at ε, b = ΔX/ε", line("ldp")),
                Series::reference("LDP at 2ε", line("ldp_twice")).coloured(0),
                Series::solid("(17) as printed: ε-LIP, loose", line("printed")),
                Series::solid("least scale that is ε-LIP", line("exact")),
                Series::solid(format!("its policy, {BINS} bins"), line("table")),
                Series::solid(format!("optimum over {BINS} outputs (policy)"), line("optimum")),
            ],
            ..Panel::default()
        });
    }
    outcome.note(format!("Policies release {BINS} bins over [0, 3]; their LIP and LDP are read off the integers. Binning changes the error a little, since outputs are bin middles."));
    outcome.draw("error", &Picture { title: "STL19 Figure 3".into(), panels })?;
    outcome.table(table);
    Ok(outcome)
}

fn claims(outcome: &mut Outcome, table: &Table) -> Result<(), Error> {
    let all = 0..table.rows.len();
    let get = |row: usize, column: &str| table.number(row, column);
    let better = all.clone().filter(|&row| get(row, "printed") <= get(row, "ldp") + 1e-12).count();
    let at = table.find(&[("prior", "P3"), ("epsilon", "1")]);
    let numbers = ["ldp", "printed", "exact", "optimum"];
    let p3 = numbers.map(|column| at.map_or(f64::NAN, |row| get(row, column)));
    outcome.claim(
        Claim::tested(
            "the context-aware mechanism has a smaller error than the LDP one",
            format!(
                "at {better} of {} points; P3, ε = 1: LDP {}, printed {}, least scale {}, optimum {}",
                all.len(),
                short(p3[0]),
                short(p3[1]),
                short(p3[2]),
                short(p3[3])
            ),
            "at every ε and prior, against LDP at the same ε",
            better == all.len(),
        )
        .because("LIP at ε is a weaker promise than LDP at ε"),
    );
    let twice = all.clone().filter(|&row| get(row, "exact") < get(row, "ldp_twice")).count();
    outcome.note(format!("Against LDP at 2ε, which ε-LIP implies, even the least LIP scale errs less at {twice} of {} points only: the gain over LDP at ε is the price of a weaker promise. The optimum over all channels is far below either.", all.len()));
    let truth = all.clone().map(|row| get(row, "printed_lip") - get(row, "epsilon"));
    let excess = truth.fold(f64::NEG_INFINITY, f64::max);
    let p = prior(PRIORS[2].1)?;
    let jump = 7.5f64.ln();
    let (before, after) =
        (laplace::printed(&p, jump - 1e-9)?.scale, laplace::printed(&p, jump + 1e-9)?.scale);
    outcome.claim(
        Claim::tested(
            "Theorem 1: the printed scale is ε-LIP",
            format!("exact leakage exceeds ε by at most {}", short(excess.max(0.0))),
            "never, beyond 1e-9",
            excess <= 1e-9,
        )
        .because(format!(
            "true and loose: P3, ε = 1 needs a scale of {}, printed {}; and the second branch makes the scale jump up at ln(1/Pmin), {} to {} for P3, where the first one stays valid",
            short(at.map_or(f64::NAN, |row| get(row, "exact_scale"))),
            short(at.map_or(f64::NAN, |row| get(row, "printed_scale"))),
            short(before),
            short(after)
        )),
    );
    let error = |weights| Ok::<_, Error>(laplace::printed(&prior(weights)?, 1.0)?.error);
    let (uniform, peaked) = (error([1.0, 1.0, 1.0])?, error([1.0, 2.0, 1.0])?);
    outcome.claim(
        Claim::tested(
            "Remark 8: the best utility is attained by the uniform prior",
            format!("ε = 1: uniform {}, [1, 2, 1]/4 {}", short(uniform), short(peaked)),
            "no prior has a smaller error",
            uniform <= peaked,
        )
        .because("the scale is least for the uniform prior, the error is not: it also depends on where the mass lies"),
    );
    let order = |epsilon: &str| {
        let of = |name| {
            table
                .find(&[("prior", name), ("epsilon", epsilon)])
                .map_or(f64::NAN, |row| get(row, "printed"))
        };
        [of("P1"), of("P2"), of("P3")]
    };
    let [a, b, c] = order("1");
    outcome.claim(Claim::tested(
        "among the three priors drawn the error grows as Pmin falls",
        format!("ε = 1: {}, {}, {} at Pmin 1/3, 4/15, 2/15", short(a), short(b), short(c)),
        "increasing at ε = 1",
        a < b && b < c,
    ));
    Ok(())
}
