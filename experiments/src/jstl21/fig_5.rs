//! JSTL21 Figure 5: leakage of repeated releases, for one prior, for sets of priors, for sequences.

use undertone_design::Distribution;
use undertone_design::extremal::LiftRange;
use undertone_theory::composition;
use undertone_theory::composition::{family, published, worst_case};
use undertone_theory::sequence::{self, Process};

use crate::claim::short;
use crate::row;
use crate::{Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture, Series, Table};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "jstl21-fig-5",
    paper: Paper::Jstl21,
    title: "Figure 5: composition for one prior, for sets of priors, and for sequences",
    data: &[],
    run,
};

const EPSILONS: [f64; 2] = [2.0, 5.0];
/// A line whose steps differ by a smaller share than this is straight.
const STRAIGHT: f64 = 0.05;

fn priors() -> Result<[Distribution; 3], Error> {
    let law = |p: [f64; 4]| Distribution::new("prior", p.to_vec());
    Ok([law([0.25; 4])?, law([0.1, 0.1, 0.1, 0.7])?, law([0.01, 0.33, 0.33, 0.33])?])
}

/// The steps by which a curve over n = 1, 2, .. rises; equal steps are a straight line.
fn steps(curve: &[f64]) -> (f64, f64) {
    let rises = curve.windows(2).map(|pair| pair[1] - pair[0]);
    rises.fold((f64::INFINITY, 0.0), |(low, high), rise| (low.min(rise), high.max(rise)))
}

fn one_prior(outcome: &mut Outcome, most: usize) -> Result<Vec<Panel>, Error> {
    let priors = priors()?;
    let mut table =
        Table::new("one_prior", &["prior", "epsilon", "n", "printed", "sharpened", "exact"]);
    let mut panels = Vec::new();
    for epsilon in EPSILONS {
        let mut series = Vec::new();
        for (at, prior) in priors.iter().enumerate() {
            let name = format!("P{}", at + 1);
            let (mut exact, mut printed) = (Vec::new(), Vec::new());
            for n in 1..=most {
                let ranges = vec![LiftRange::symmetric(epsilon)?; n];
                let worst = worst_case(prior, &ranges)?.leakage;
                let bound = published(prior.min(), &ranges)?;
                let sharpened = composition::sharpened(prior, &ranges)?;
                table.push(row![name, epsilon, n, bound, sharpened, worst]);
                exact.push((n as f64, worst));
                printed.push((n as f64, bound));
            }
            series.push(Series::solid(format!("{name}, exact worst case"), exact).coloured(at));
            series.push(
                Series::reference(format!("{name}, Theorem 4 (holds, loose)"), printed)
                    .coloured(at),
            );
        }
        panels.push(Panel {
            title: format!("(a) one prior, ε = {epsilon}"),
            x_label: "number of releases".into(),
            y_label: "leakage, in nats".into(),
            series,
            ..Panel::default()
        });
    }
    claims(outcome, &table, most);
    outcome.table(table);
    Ok(panels)
}

fn claims(outcome: &mut Outcome, table: &Table, most: usize) {
    let curve = |prior: &str, epsilon: f64, column: &str| -> Vec<f64> {
        let rows = (0..table.rows.len())
            .filter(|&row| table.rows[row][0] == prior && table.number(row, "epsilon") == epsilon);
        rows.map(|row| table.number(row, column)).collect()
    };
    let below = (0..table.rows.len())
        .all(|row| table.number(row, "exact") <= table.number(row, "printed") + 1e-9);
    let at = |prior: &str| (curve(prior, 2.0, "printed")[1], curve(prior, 2.0, "exact")[1]);
    let both = ["P1", "P2", "P3"].map(at);
    let listed = both.map(|(bound, exact)| format!("{} against {}", short(bound), short(exact)));
    outcome.claim(
        Claim::tested(
            "Theorem 4 bounds the leakage of n releases",
            format!("ε = 2, n = 2, bound against exact: {}", listed.join("; ")),
            "never below the exact worst case",
            below,
        )
        .because("true and loose"),
    );
    let straight = ["P1", "P2", "P3"].iter().all(|prior| {
        EPSILONS.iter().all(|&epsilon| {
            let (low, high) = steps(&curve(prior, epsilon, "printed"));
            high - low < STRAIGHT * high
        })
    });
    let (low, high) = steps(&curve("P1", 2.0, "printed"));
    outcome.claim(
        Claim::tested(
            "leakage increases linearly with the number of releases",
            format!(
                "the bound's steps agree within 5 %; P1, ε = 2: {} to {} nats a release, not ε = 2",
                short(low),
                short(high)
            ),
            "equal steps of the printed bound for every prior and ε",
            straight,
        )
        .because(format!(
            "linear from the first release on, but not with slope ε: P1, ε = 2, n = {most}: exact worst case {}, n·ε = {}",
            short(curve("P1", 2.0, "exact").last().copied().unwrap_or(f64::NAN)),
            2 * most
        )),
    );
    let [uniform, _, rare] = both;
    outcome.claim(
        Claim::tested(
            "a smaller Pmin leaks less over many releases",
            format!(
                "ε = 2, n = 2: the bound rises from {} (Pmin .25) to {} (Pmin .01)",
                short(uniform.0),
                short(rare.0)
            ),
            "the printed bound falls with Pmin",
            rare.0 < uniform.0,
        )
        .because(
            "the printed bound itself says the opposite; the exact value is not monotone in Pmin",
        ),
    );
}

fn sets(outcome: &mut Outcome, most: usize) -> Result<Vec<Panel>, Error> {
    let [a, b, c] = priors()?;
    let sets = [("{P1, P2}", [a.clone(), b.clone()]), ("{P2, P3}", [b, c])];
    let mut table =
        Table::new("prior_sets", &["set", "epsilon", "n", "printed", "sharpened", "exact"]);
    let mut panels = Vec::new();
    for epsilon in EPSILONS {
        let mut series = Vec::new();
        for (at, (name, set)) in sets.iter().enumerate() {
            let (mut exact, mut printed) = (Vec::new(), Vec::new());
            for n in 1..=most {
                let found = family(set, &vec![LiftRange::symmetric(epsilon)?; n])?;
                let worst = found.exact.unwrap_or(f64::NAN);
                table.push(row![name, epsilon, n, found.published, found.sharpened, worst]);
                exact.push((n as f64, worst));
                printed.push((n as f64, found.published));
            }
            series.push(Series::solid(format!("{name}, exact worst case"), exact).coloured(at));
            series.push(
                Series::reference(format!("{name}, Corollary 4 (holds, loose)"), printed)
                    .coloured(at),
            );
        }
        panels.push(Panel {
            title: format!("(b) sets of priors, ε = {epsilon}"),
            x_label: "number of releases".into(),
            y_label: "leakage, in nats".into(),
            series,
            ..Panel::default()
        });
    }
    let below = (0..table.rows.len())
        .all(|row| !(table.number(row, "exact") > table.number(row, "printed") + 1e-9));
    outcome.claim(
        Claim::tested(
            "Corollary 4 bounds the leakage for bounded priors",
            format!("at all {} points", table.rows.len()),
            "never below the exact worst case, where that was computed",
            below,
        )
        .because("true and loose; the paper prints its first two sets alike, so there are two curves, not three"),
    );
    outcome.table(table);
    Ok(panels)
}

fn sequences(outcome: &mut Outcome) -> Result<Vec<Panel>, Error> {
    let priors = priors()?;
    let orders = [("X1, X2, X3", [0, 1, 2]), ("X2, X3, X1", [1, 2, 0]), ("X3, X2, X1", [2, 1, 0])];
    let mut table =
        Table::new("sequences", &["order", "coupling", "epsilon", "n", "printed", "exact"]);
    let mut panels = Vec::new();
    for epsilon in EPSILONS {
        let mut series = Vec::new();
        for (coupling, dashed) in [("independent", false), ("comonotone", true)] {
            for (at, (name, order)) in orders.iter().enumerate() {
                let (mut exact, mut printed) = (Vec::new(), Vec::new());
                for n in 1..=3 {
                    let laws: Vec<Distribution> =
                        order[..n].iter().map(|&k| priors[k].clone()).collect();
                    let process = if dashed {
                        Process::comonotone(&laws)?
                    } else {
                        Process::independent(&laws)?
                    };
                    let ranges = vec![LiftRange::symmetric(epsilon)?; n];
                    let bound = sequence::published(&process, &ranges)?;
                    let worst = if dashed {
                        sequence::worst_case(&process, &ranges)?.sequence
                    } else {
                        sequence::independent_worst_case(&laws, &ranges)?
                    };
                    table.push(row![name, coupling, epsilon, n, bound, worst]);
                    exact.push((n as f64, worst));
                    printed.push((n as f64, bound));
                }
                let colour = at + if dashed { 3 } else { 0 };
                series.push(
                    Series::solid(format!("{name}, {coupling}, exact"), exact).coloured(colour),
                );
                if !dashed {
                    // With P_min of the joint law in it (11) hardly differs between couplings.
                    let name = format!("{name}, (11), independent (holds, loose)");
                    series.push(Series::reference(name, printed).coloured(colour));
                }
            }
        }
        panels.push(Panel {
            title: format!("(c) sequences, ε = {epsilon}"),
            x_label: "number of releases".into(),
            y_label: "leakage of the whole sequence, in nats".into(),
            series,
            ..Panel::default()
        });
    }
    let last = |column: &str, coupling: &str, epsilon: f64| -> Vec<f64> {
        let rows = (0..table.rows.len()).filter(|&row| {
            table.rows[row][1] == coupling
                && table.number(row, "epsilon") == epsilon
                && table.number(row, "n") == 3.0
        });
        rows.map(|row| table.number(row, column)).collect()
    };
    let same = ["independent", "comonotone"].iter().all(|coupling| {
        EPSILONS.iter().all(|&epsilon| {
            ["printed", "exact"].iter().all(|column| {
                let ends = last(column, coupling, epsilon);
                ends.iter().all(|end| (end - ends[0]).abs() < 1e-9)
            })
        })
    });
    let ends = |coupling| last("exact", coupling, 2.0).first().copied().unwrap_or(f64::NAN);
    outcome.claim(
        Claim::tested(
            "after three releases the order does not matter",
            format!(
                "ε = 2: {} if independent, {} if comonotone, in each order",
                short(ends("independent")),
                short(ends("comonotone"))
            ),
            "equal ends for the bound and the exact value, both couplings, both ε",
            same,
        )
        .because("of the curve's exact values nothing can be compared: the joint law is not given, so both extreme couplings are drawn"),
    );
    let rises = |order: &str, column: &str| -> Vec<f64> {
        let rows = (0..table.rows.len()).filter(|&row| {
            table.rows[row][0] == order
                && table.rows[row][1] == "independent"
                && table.number(row, "epsilon") == 2.0
        });
        let curve: Vec<f64> = rows.map(|row| table.number(row, column)).collect();
        curve.windows(2).map(|pair| pair[1] - pair[0]).collect()
    };
    let unequal = |column: &str| {
        let apart = |(order, _): &(&str, [usize; 3])| {
            let rises = rises(order, column);
            let (low, high) =
                rises.iter().fold((f64::INFINITY, 0.0f64), |(l, h), &r| (l.min(r), h.max(r)));
            // What panel (a) calls a straight line.
            high - low >= STRAIGHT * high
        };
        orders.iter().all(apart)
    };
    let listed: Vec<String> = orders
        .iter()
        .map(|(order, _)| {
            rises(order, "printed").iter().map(|r| short(*r)).collect::<Vec<_>>().join("/")
        })
        .collect();
    let exact = rises(orders[0].0, "exact");
    outcome.claim(
        Claim::tested(
            "the leakage of a sequence does not increase linearly",
            format!(
                "steps of (11) for independent data, ε = 2, in the three orders: {}; of the exact worst case: {}",
                listed.join(", "),
                exact.iter().map(|r| short(*r)).collect::<Vec<_>>().join("/")
            ),
            "steps of the printed bound (11) unequal by more than 5 % in every order, as panel (a) is judged on its bound",
            unequal("printed"),
        )
        .because_it_holds("true of the bound; the exact worst cases of independent data add up, here to equal steps of ε, and for other joint laws they differ, of which the paper gives none"),
    );
    outcome.table(table);
    Ok(panels)
}

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    outcome.note("Exact means: over all mechanisms that keep the promise at each release, the supremum, attained by channels that can be written down.");
    let mut panels = one_prior(&mut outcome, context.pick(5, 8))?;
    panels.extend(sets(&mut outcome, context.pick(3, 4))?);
    let title = "JSTL21 Figure 5".to_owned();
    outcome.draw("releases", &Picture { title: title.clone() + " (a), (b)", panels })?;
    let panels = sequences(&mut outcome)?;
    outcome.draw("sequences", &Picture { title: title + " (c)", panels })?;
    Ok(outcome)
}
