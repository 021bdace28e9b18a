//! ZDS22 Figures 3 and 4: two splits of one LDP level, law by law.

use undertone_design::measure::mutual_information;
use undertone_design::watchdog::{Budget, Method, release};

use super::laws::{self, FLOAT_ERROR, Watched, cumulative, mean, share};
use crate::claim::short;
use crate::row;
use crate::{Claim, Context, Error, Outcome, Panel, Picture, Series, Table};

/// The symmetric split and the paper's best one.
pub const SPLITS: [f64; 2] = [0.5, 0.65];

/// What a figure claims. Pairs are for λ = .5 and .65, in per cent.
pub struct Printed {
    /// The LDP level.
    pub epsilon: f64,
    /// Its name.
    pub figure: &'static str,
    /// Laws with any utility at all.
    pub nonzero: [f64; 2],
    /// Laws with any utility in our study, which had another program and other draws.
    pub studied: [f64; 2],
    /// How exactly the text gives them.
    pub points: f64,
    /// Laws that meet the lower bound.
    pub lower: [f64; 2],
    /// Laws that meet the upper bound.
    pub upper: [f64; 2],
    /// In our study: laws with more, the same, and less utility at λ = .65.
    pub changed: [f64; 3],
}

/// One law under both splits.
struct Case {
    watched: [Watched; 2],
    subset: Option<[f64; 2]>,
    information: Option<[f64; 2]>,
}

/// Runs the figure.
pub fn run(context: &Context, printed: &Printed) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let (draws, extra) = (context.pick(2000, 10_000), context.pick(40, 1000));
    let budgets = SPLITS.map(|lambda| (lambda * printed.epsilon, (1.0 - lambda) * printed.epsilon));
    outcome.note(format!("{draws} laws as in Figure 1; subset merging and I(S;Y) on the first {extra}. Leakage is drawn for the merged symbol, which the mechanism randomises, and for everything released."));
    let cases = laws::over(context, draws, |law| {
        let watched = budgets.map(|(lower, upper)| law.watch(lower, upper));
        if law.number >= extra {
            return Ok(Case { watched, subset: None, information: None });
        }
        let (mut subset, mut information) = ([0.0; 2], [0.0; 2]);
        for (which, (lower, upper)) in budgets.into_iter().enumerate() {
            subset[which] = law.nmi(lower, upper, Method::Subset)?;
            let merged = release(&law.joint, Budget::new(lower, upper)?, Method::Merge)?;
            let seen = law.joint.through(&merged.channel)?;
            information[which] = mutual_information::leakage(law.joint.secret(), &seen)?;
        }
        Ok(Case { watched, subset: Some(subset), information: Some(information) })
    })?;
    let table = summary(&cases, budgets);
    claims(&mut outcome, printed, &cases, &table, context.quick);
    draw(&mut outcome, printed, &cases, budgets)?;
    outcome.table(table);
    Ok(outcome)
}

/// Shares and means for each split.
fn summary(cases: &[Case], budgets: [(f64, f64); 2]) -> Table {
    let columns = [
        "lambda",
        "lower",
        "upper",
        "mean_nmi",
        "standard_error",
        "nonzero",
        "met_lower",
        "met_upper",
        "within_05_lower",
        "within_05_upper",
        "largest_ldp",
        "largest_rise",
        "subset_mean_nmi",
        "mean_information",
    ];
    let mut table = Table::new("summary", &columns);
    for (which, (lower, upper)) in budgets.into_iter().enumerate() {
        let own = || cases.iter().map(|case| case.watched[which]);
        let (nmi, error) = mean(own().map(|watched| watched.nmi));
        let met = |slack: f64, of: fn(Watched) -> f64, budget: f64| {
            share(own().map(|watched| of(watched) <= budget - slack + FLOAT_ERROR))
        };
        let some = |of: fn(&Case) -> Option<[f64; 2]>| {
            mean(cases.iter().filter_map(of).map(|pair| pair[which])).0
        };
        table.push(row![
            SPLITS[which],
            lower,
            upper,
            nmi,
            error,
            share(own().map(|watched| watched.nmi > FLOAT_ERROR)),
            met(0.0, |w| w.merged.0, lower),
            met(0.0, |w| w.merged.1, upper),
            met(0.05, |w| w.released.0, lower),
            met(0.05, |w| w.released.1, upper),
            own().map(|w| w.released.0 + w.released.1).fold(0.0, f64::max),
            own().map(|w| w.released.1).fold(0.0, f64::max),
            some(|case| case.subset),
            some(|case| case.information),
        ]);
    }
    table
}

fn claims(outcome: &mut Outcome, printed: &Printed, cases: &[Case], table: &Table, quick: bool) {
    let column = |name: &str| [0, 1].map(|row| table.number(row, name));
    let percent =
        |pair: [f64; 2]| pair.map(|share| format!("{:.2} %", 100.0 * share)).join(" and ");
    let n = cases.len() as f64;
    // A quick run has fewer laws: three standard errors of a share, where that is more.
    let noise = |share: f64| 300.0 * (share * (1.0 - share) / n).sqrt();
    let allowed = |points: f64, share: f64| {
        if quick { points.max(noise(share)) } else { points }
    };
    let tolerance = if quick {
        "within 1 point, or three standard errors where that is more (quick run)"
    } else {
        "within 1 point"
    };
    let nonzero = column("nonzero");
    let near = |ours: &[f64], expected: &[f64], points: f64| {
        let pairs = ours.iter().zip(expected);
        pairs
            .into_iter()
            .all(|(share, expected)| (100.0 * share - expected).abs() <= allowed(points, *share))
    };
    let sorted = |[a, b]: [f64; 2]| [a.min(b), a.max(b)];
    let printed_shares = printed.nonzero.map(|share| format!("{share} %")).join(" and ");
    outcome.claim(
        Claim::tested(
            format!("LDP {}: laws with any utility under the two splits", printed.epsilon),
            percent(nonzero),
            format!("within {} percentage points, whichever is which", printed.points),
            near(&sorted(nonzero), &sorted(printed.nonzero), printed.points),
        )
        .printed(printed_shares.clone())
        .because(if printed.points > 1.0 {
            "the text says \"about\" and gives round tens"
        } else {
            ""
        }),
    );
    outcome.claim(
        Claim::tested(
            format!(
                "LDP {}: laws with any utility, listed for λ = .5 and .65 in this order",
                printed.epsilon
            ),
            percent(nonzero),
            "the larger one is the larger one",
            (nonzero[0] < nonzero[1]) == (printed.nonzero[0] < printed.nonzero[1]),
        )
        .printed(printed_shares)
        .because(if printed.nonzero[0] < printed.nonzero[1] {
            ""
        } else {
            "the text lists them after those of the other figure and has them the other way round"
        }),
    );
    outcome.claim(
        Claim::tested(
            format!(
                "(our study) laws with any utility: {} %",
                printed.studied.map(|share| share.to_string()).join(" and ")
            ),
            percent(nonzero),
            tolerance,
            near(&nonzero, &printed.studied, 1.0),
        )
        .ours()
        .because("an independent program on other draws"),
    );
    let difference = |case: &Case| case.watched[1].nmi - case.watched[0].nmi;
    let up = share(cases.iter().map(|case| difference(case) > FLOAT_ERROR));
    let down = share(cases.iter().map(|case| difference(case) < -FLOAT_ERROR));
    let changed = [up, 1.0 - up - down, down];
    let words = format!(
        "up in {:.1} %, equal in {:.1} %, down in {:.1} %",
        100.0 * up,
        100.0 * changed[1],
        100.0 * down
    );
    outcome.claim(
        Claim::tested(
            format!("LDP {}: utility is increased in all 10⁴ laws at λ = .65", printed.epsilon),
            words.clone(),
            "up in every law",
            up == 1.0,
        )
        .printed("all")
        .because("most laws have no utility under either split, and some lose what they had"),
    );
    outcome.claim(
        Claim::tested(
            format!(
                "(our study) up, equal and down: {} %",
                printed.changed.map(|share| share.to_string()).join(", ")
            ),
            words,
            tolerance,
            near(&changed, &printed.changed, 1.0),
        )
        .ours(),
    );
    let means = column("mean_nmi");
    outcome.claim(Claim::tested(
        "λ = .65 has more utility than λ = .5",
        format!("mean NMI {} against {}", short(means[1]), short(means[0])),
        "a larger mean",
        means[1] > means[0],
    ));
    for (side, shares, met, near) in [
        ("lower", printed.lower, column("met_lower"), column("within_05_lower")),
        ("upper", printed.upper, column("met_upper"), column("within_05_upper")),
    ] {
        let holds = shares.iter().zip(met).all(|(share, met)| (share - 100.0 * met).abs() <= 1.0);
        outcome.claim(
            Claim::tested(
                format!(
                    "LDP {}: laws that meet the {side} bound after merging, λ = .5 and .65",
                    printed.epsilon
                ),
                percent(met),
                "within 1 point",
                holds,
            )
            .printed(shares.map(|share| format!("{share} %")).join(" and "))
            .or_not_reproducible()
            .because(format!(
                "the mechanism as described always meets these budgets: nearly all symbols are merged, and their lift is near 1. Over everything released, {} of laws stay .05 inside, which may be what was read off a curve; that is a guess",
                percent(near)
            )),
        );
    }
    let ldp = column("largest_ldp");
    outcome.claim(Claim::tested(
        "Proposition 1-1: the release is ε-LDP for the secret",
        format!("rise and fall of belief together at most {} and {}", short(ldp[0]), short(ldp[1])),
        format!("at most {} in every law that meets its budget", printed.epsilon),
        ldp.iter().all(|ldp| *ldp <= printed.epsilon + 1e-9),
    ));
    let (information, worst) = (column("mean_information"), column("largest_rise"));
    outcome.claim(
        Claim::tested(
            "the max-lift is lower at λ = .65, which restricts mutual information and the rest",
            format!("largest max-lift over all laws {} at λ = .5 and {} at .65", short(worst[0]), short(worst[1])),
            "lower over all laws",
            worst[1] < worst[0],
        )
        .because(format!(
            "true of the bound and of the worst law; on average more leaks, because more is told: mean I(S;Y) {} at λ = .5 and {} at .65",
            short(information[0]),
            short(information[1])
        )),
    );
    let subset = column("subset_mean_nmi");
    outcome.claim(
        Claim::tested(
            "(ours) subset merging tells more under the same budgets",
            format!("mean NMI {} and {} at λ = .5 and .65", short(subset[0]), short(subset[1])),
            "at least ten times the mean NMI of the watchdog",
            subset.iter().zip(means).all(|(subset, merged)| *subset >= 10.0 * merged),
        )
        .ours()
        .because("the little utility is due to merging everything into one symbol"),
    );
}

fn draw(
    outcome: &mut Outcome,
    printed: &Printed,
    cases: &[Case],
    budgets: [(f64, f64); 2],
) -> Result<(), Error> {
    const POINTS: usize = 400;
    type Side = fn(&Watched) -> f64;
    let curve = |which: usize, of: Side| {
        cumulative(cases.iter().map(|case| of(&case.watched[which])).collect(), POINTS)
    };
    let panel = |title: &str, x_label: &str| Panel {
        title: title.into(),
        x_label: x_label.into(),
        y_label: "share of laws at most".into(),
        ..Panel::default()
    };
    let mut utility = panel("(a) utility", "NMI");
    let mut lower = panel("(b) how far belief falls", "−min log-lift, in nats");
    let mut upper = panel("(c) how far belief rises", "max log-lift, in nats");
    for (which, lambda) in SPLITS.into_iter().enumerate() {
        let subset = cases.iter().filter_map(|case| case.subset).map(|pair| pair[which]).collect();
        utility.series.push(
            Series::solid(format!("λ = {lambda}, merged"), curve(which, |w| w.nmi)).coloured(which),
        );
        utility.series.push(
            Series::solid(format!("λ = {lambda}, subset merging"), cumulative(subset, POINTS))
                .coloured(which + 2),
        );
        let sides: [(&mut Panel, Side, Side, f64); 2] = [
            (&mut lower, |w| w.merged.0, |w| w.released.0, budgets[which].0),
            (&mut upper, |w| w.merged.1, |w| w.released.1, budgets[which].1),
        ];
        for (panel, merged, released, budget) in sides {
            panel.series.extend([
                Series::solid(format!("λ = {lambda}, the merged symbol"), curve(which, merged))
                    .coloured(which),
                Series::solid(format!("λ = {lambda}, everything released"), curve(which, released))
                    .coloured(which + 2),
                Series::reference(
                    format!("budget {} at λ = {lambda}", short(budget)),
                    vec![(budget, 0.0), (budget, 1.0)],
                )
                .coloured(which),
            ]);
        }
    }
    let title = format!("ZDS22 {}: LDP {}, two splits", printed.figure, printed.epsilon);
    outcome.draw("distributions", &Picture { title, panels: vec![utility, lower, upper] })
}
