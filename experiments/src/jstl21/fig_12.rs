//! JSTL21 Figure 12: Baltimore salaries, sampling and Gaussian noise.

use rayon::prelude::*;
use undertone_core::{Alphabet, Delta, KEEP_ONE, Keep, MASS_ONE, Provenance, Shape};
use undertone_design::continuous::{Loss, Method};
use undertone_design::density::{Density, Normal, Settings, fit as fit_mixture};
use undertone_design::knowledge::Knowledge;
use undertone_design::measure::delta::{Convention, Excess};
use undertone_design::mechanism::gaussian::{GaussianNoise, Sigma, Spread, analytic, corollary_10};
use undertone_design::mechanism::sampling::{expected_loss, largest_atomless};
use undertone_design::quantize::{PolicySpec, largest_remainder};
use undertone_design::{Channel, Distribution, protection};

use crate::claim::short;
use crate::data::SALARIES;
use crate::numeric::Numbers;
use crate::row;
use crate::{Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture, Series, Table};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "jstl21-fig-12",
    paper: Paper::Jstl21,
    title: "Figure 12: Baltimore salaries, sampling and Gaussian noise",
    data: &[SALARIES],
    run,
};

/// Gross pay in thousands, clipped to this range: a public choice.
const RANGE: (f64, f64) = (0.0, 160.0);
const POINTS: usize = 41;
/// Two leave the peak of small pay unfitted.
const COMPONENTS: usize = 3;
const DELTAS: [f64; 3] = [1e-4, 1e-3, 1e-2];
/// E|N| of Gaussian noise with deviation 1.
const MEAN_ABSOLUTE: f64 = 0.797_884_560_802_865_4;

/// The salaries, two fits, and the grid with its laws.
struct Salaries {
    values: Vec<f64>,
    missing: usize,
    mixture: Density,
    normal: Density,
    points: Vec<f64>,
    /// The law of the grid point under the mixture, under one normal law, and in the data.
    law: Distribution,
    worse: Distribution,
    seen: Distribution,
    /// How many output cells policies have.
    cells: usize,
}

impl Salaries {
    fn read(context: &Context) -> Result<Self, Error> {
        let records = context.data.records(SALARIES, ',')?;
        let column = records.column("gross_pay")?;
        let values: Vec<f64> = column.iter().filter_map(|text| text.parse::<f64>().ok()).collect();
        let values: Vec<f64> = values.into_iter().map(|pay| pay / 1000.0).collect();
        let missing = column.len() - values.len();
        let fit = |k| fit_mixture(&values, k, &Settings::default());
        let mixture = Density::Mixture(fit(COMPONENTS)?.mixture);
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n;
        let normal = Density::Normal(Normal::new(mean, variance.sqrt())?);
        let step = (RANGE.1 - RANGE.0) / (POINTS - 1) as f64;
        let points: Vec<f64> = (0..POINTS).map(|k| RANGE.0 + step * k as f64).collect();
        let mut edges = vec![RANGE.0];
        edges.extend(points.iter().skip(1).map(|x| x - step / 2.0));
        edges.push(RANGE.1);
        let mut counts = vec![0.5; POINTS];
        for value in &values {
            let at = ((value - RANGE.0) / step).round().clamp(0.0, (POINTS - 1) as f64);
            counts[at as usize] += 1.0;
        }
        // Laws are clipped as people's numbers are, so the tails lie on the end points.
        let floor = 1e-7;
        let law = mixture.clipped(&edges)?.raised(floor)?.p;
        let worse = normal.clipped(&edges)?.raised(floor)?.p;
        let seen = Distribution::normalised("the data's law", counts)?;
        let cells = context.pick(80, 160);
        Ok(Self { values, missing, mixture, normal, points, law, worse, seen, cells })
    }

    fn numbers(&self, beyond: f64) -> Numbers {
        Numbers {
            points: self.points.clone(),
            range: RANGE,
            outputs: self.cells,
            release: (RANGE.0 - beyond, RANGE.1 + beyond),
            prior: self.law.clone(),
            density: Some(self.mixture.clone()),
            loss: Loss::Absolute,
        }
    }
}

/// δ of sampling from `base` with probability 1 − λ when the truth is `truth`, from the integers.
fn sampled_delta(
    truth: &Distribution,
    base: &Distribution,
    lambda: f64,
    epsilon: f64,
) -> Result<f64, Error> {
    let knowledge = Knowledge::Known(truth.clone());
    let rounded = knowledge.context()?;
    let most = Delta::from_units(MASS_ONE - 1).map_err(Error::other)?;
    let claim = protection::parse(&format!("lip:{epsilon:.10}"), knowledge.subject())?;
    let spec = PolicySpec {
        inputs: Alphabet::indices(truth.len()).map_err(Error::other)?,
        outputs: None,
        context: rounded.context,
        claims: vec![claim.with_delta(most)],
        provenance: Provenance { rounding: rounded.moved, ..Provenance::default() },
    };
    let level = (lambda * KEEP_ONE as f64) as u64;
    let base = largest_remainder(base.as_slice(), MASS_ONE);
    let keep = Keep::new(vec![level; truth.len()], base).map_err(Error::other)?;
    match spec.verify_shape(Shape::Keep(keep))? {
        Ok(policy) => {
            let least = policy.certificate().deltas.first().copied().flatten();
            Ok(least.map_or(0.0, |l| l.ratio.scaled_up(48) as f64 / MASS_ONE as f64))
        }
        Err(refusal) => Err(Error::other(refusal)),
    }
}

/// The same in the convention of Definition 5, in which the printed λ is chosen; in floats.
fn sampled_delta_5(
    truth: &Distribution,
    base: &Distribution,
    lambda: f64,
    epsilon: f64,
) -> Result<f64, Error> {
    let row = |x: usize| {
        let kept = |y: usize| if x == y { lambda } else { 0.0 };
        (0..base.len()).map(|y| kept(y) + (1.0 - lambda) * base[y]).collect()
    };
    let rows = (0..truth.len()).map(row).collect();
    Ok(Excess::of(truth, &Channel::new(rows)?, epsilon, epsilon)?.posterior())
}

const COLUMNS: [&str; 21] = [
    "delta",
    "epsilon",
    "sampling_printed",
    "sampling_printed_normal",
    "sampling_printed_delta",
    "sampling_worse_fit_delta",
    "sampling_printed_delta_5",
    "sampling_worse_fit_delta_5",
    "sampling_policy",
    "sampling_policy_lip",
    "sampling_policy_ldp",
    "gauss_printed",
    "gauss_printed_delta",
    "gauss_constant",
    "gauss_constant_sigma",
    "gauss_constant_delta",
    "gauss_floor",
    "gauss_floor_delta",
    "ldp",
    "ldp_twice",
    "ldp_sigma",
];

fn point(salaries: &Salaries, delta: f64, epsilon: f64) -> Result<Vec<String>, Error> {
    let printed = largest_atomless(epsilon, delta, Convention::Posterior)?;
    let spreads: Vec<Spread> =
        salaries.mixture.components().unwrap_or_default().iter().map(Spread::from).collect();
    let sigma = |&x: &f64| Ok::<_, Error>(corollary_10(&spreads, x, epsilon, delta)?);
    let sigmas = salaries.points.iter().map(sigma).collect::<Result<Vec<_>, _>>()?;
    let noise = GaussianNoise::new(&salaries.points, &sigmas)?;
    let seen = salaries.seen.as_slice();
    let printed_error = MEAN_ABSOLUTE * sigmas.iter().zip(seen).map(|(s, p)| s * p).sum::<f64>();
    let width = RANGE.1 - RANGE.0;
    let (ldp, twice) = (analytic(width, epsilon, delta)?, analytic(width, 2.0 * epsilon, delta)?);
    // Cells reach three deviations beyond the range; the tails join the end cells.
    let numbers = salaries.numbers((3.0 * ldp).round());
    let protection = format!("lip:{epsilon:.10},{delta}");
    let constant = numbers.design(&protection, Method::Gaussian(Sigma::Constant))?;
    let floor = numbers.design(&protection, Method::Gaussian(Sigma::Floor))?;
    let sampled = numbers.design(&protection, Method::Sampling)?;
    let base_delta = sampled_delta(&salaries.law, &salaries.law, printed, epsilon)?;
    let worse_delta = sampled_delta(&salaries.seen, &salaries.worse, printed, epsilon)?;
    Ok(row![
        delta,
        epsilon,
        expected_loss(&salaries.mixture, printed, false)?,
        (1.0 - printed) * apart(&salaries.values, &salaries.normal),
        base_delta,
        worse_delta,
        sampled_delta_5(&salaries.law, &salaries.law, printed, epsilon)?,
        sampled_delta_5(&salaries.seen, &salaries.worse, printed, epsilon)?,
        sampled.error,
        sampled.lip,
        sampled.ldp,
        printed_error,
        noise.delta(&salaries.law, epsilon)?,
        constant.error,
        constant.noise,
        constant.delta.unwrap_or(f64::NAN),
        floor.error,
        floor.delta.unwrap_or(f64::NAN),
        MEAN_ABSOLUTE * ldp,
        MEAN_ABSOLUTE * twice,
        ldp,
    ])
}

/// The mean distance between the data and an independent draw from a law: E|x − Y| = ∫ over cells.
fn apart(values: &[f64], law: &Density) -> f64 {
    let step = 1.0;
    let cells: Vec<(f64, f64)> = (-200..400)
        .map(|at| {
            (
                f64::from(at) * step,
                law.between(f64::from(at) * step - 0.5, f64::from(at) * step + 0.5),
            )
        })
        .collect();
    let sample = values.iter().step_by(7);
    let one = |v: &f64| cells.iter().map(|(y, p)| p * (v - y).abs()).sum::<f64>();
    sample.clone().map(one).sum::<f64>() / sample.count() as f64
}

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let salaries = Salaries::read(context)?;
    outcome.note(format!(
        "{} employees with a gross pay ({} rows have none; the text says 13,812 employees). In thousands of dollars, clipped to [0, 160] (a public choice) and rounded to {POINTS} points; policies release {} cells. The mixture has three components (the paper gives no number; two leave the peak of small pay unfitted). The paper does not say how \"variance proportional to min f_X\" fixes the instance-independent noise: ours is the least constant σ the kernel certifies.",
        salaries.values.len(),
        salaries.missing,
        salaries.cells
    ));
    let levels: Vec<f64> =
        if context.quick { vec![1.0, 4.0] } else { vec![1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0] };
    let cases: Vec<(f64, f64)> =
        DELTAS.iter().flat_map(|&d| levels.iter().map(move |&e| (d, e))).collect();
    let rows =
        cases.par_iter().map(|&(d, e)| point(&salaries, d, e)).collect::<Result<Vec<_>, _>>()?;
    let mut table = Table::new("error", &COLUMNS);
    rows.into_iter().for_each(|row| table.push(row));
    claims(&mut outcome, &table, &salaries);
    let mut panels = vec![fit_panel(&salaries)];
    for (letter, delta) in ["b", "c", "d"].into_iter().zip(DELTAS) {
        panels.push(panel(&table, letter, delta));
    }
    outcome.draw("error", &Picture { title: "JSTL21 Figure 12".into(), panels })?;
    outcome.table(table);
    Ok(outcome)
}

fn fit_panel(salaries: &Salaries) -> Panel {
    let width = RANGE.1 / (POINTS - 1) as f64;
    let data = salaries.points.iter().zip(salaries.seen.as_slice()).map(|(x, p)| (*x, p / width));
    let curve = |law: &Density| {
        (0..=200).map(|i| f64::from(i) * 0.8).map(|x| (x, law.density(x))).collect::<Vec<_>>()
    };
    Panel {
        title: "(a) gross pay and two fits".into(),
        x_label: "gross pay, thousands of dollars".into(),
        y_label: "density".into(),
        series: vec![
            Series::points("data, 41 cells", data.collect()),
            Series::solid(format!("{COMPONENTS} normal components (EM)"), curve(&salaries.mixture)),
            Series::solid("one normal law", curve(&salaries.normal)),
        ],
        ..Panel::default()
    }
}

fn panel(table: &Table, letter: &str, delta: f64) -> Panel {
    let own: Vec<usize> =
        (0..table.rows.len()).filter(|&row| table.number(row, "delta") == delta).collect();
    let line = |column: &str| -> Vec<(f64, f64)> {
        own.iter().map(|&row| (table.number(row, "epsilon"), table.number(row, column))).collect()
    };
    let most = |column: &str| own.iter().map(|&row| table.number(row, column)).fold(0.0, f64::max);
    let leaks = format!("δ up to {}", short(most("gauss_printed_delta")));
    Panel {
        title: format!("({letter}) δ = {}", short(delta)),
        x_label: "ε, in nats".into(),
        y_label: "mean absolute error, thousands".into(),
        series: vec![
            Series::solid(
                "sampling, Proposition 2 (Definition 5), mixture",
                line("sampling_printed"),
            ),
            Series::reference("the same with one normal law", line("sampling_printed_normal"))
                .coloured(0),
            Series::solid("sampling, policy", line("sampling_policy")),
            Series::solid("Gaussian, one σ, policy", line("gauss_constant")),
            Series::solid("Gaussian, Corollary 10 with a floor, policy", line("gauss_floor")),
            Series::missing_its_claim("Gaussian, Corollary 10", leaks, line("gauss_printed"))
                .coloured(4),
            Series::solid("Gaussian, LDP at ε", line("ldp")).coloured(5),
            Series::reference("Gaussian, LDP at 2ε", line("ldp_twice")).coloured(5),
        ],
        ..Panel::default()
    }
}

fn claims(outcome: &mut Outcome, table: &Table, salaries: &Salaries) {
    let get = |row: usize, column: &str| table.number(row, column);
    let all = 0..table.rows.len();
    let total = table.rows.len();
    let wins = |ours: &str, theirs: &str| {
        all.clone().filter(|&row| get(row, ours) < get(row, theirs)).count()
    };
    let small: Vec<usize> = all.clone().filter(|&row| get(row, "delta") == DELTAS[0]).collect();
    let most = |column: &str| {
        all.clone().map(|row| get(row, column) / get(row, "delta")).fold(0.0, f64::max)
    };
    let leaks = format!("up to {} times the δ it claims", short(most("gauss_printed_delta")));
    let beats = |ours: &str, theirs: &str| {
        small.iter().filter(|&&row| get(row, ours) < get(row, theirs)).count()
    };
    let (printed, honest) =
        (beats("gauss_printed", "sampling_printed"), beats("gauss_constant", "sampling_policy"));
    outcome.claim(
        Claim::tested(
            "when δ is small, Gaussian noise errs less than sampling",
            format!("δ = 10⁻⁴: with Corollary 10 at {printed} of {} levels; among policies at {honest}", small.len()),
            "at some ε, with the printed noise",
            printed > 0,
        )
        .only_printed(leaks.clone())
        .or_not_reproducible()
        .because(format!(
            "at ε = 4 the printed noise errs by {} thousand, sampling by {}; neither depends on the range chosen",
            short(small.last().map_or(f64::NAN, |&row| get(row, "gauss_printed"))),
            short(small.last().map_or(f64::NAN, |&row| get(row, "sampling_printed")))
        )),
    );
    let apart = all
        .clone()
        .map(|row| (get(row, "sampling_printed_normal") / get(row, "sampling_printed") - 1.0).abs())
        .fold(0.0, f64::max);
    outcome.claim(Claim::tested(
        "the density fit has a very slight influence on the error of sampling",
        format!("the two fits differ by at most {} %", short(100.0 * apart)),
        "below 10 %",
        apart < 0.1,
    ));
    inaccurate(outcome, table);
    let dependent = wins("gauss_printed", "ldp");
    outcome.claim(
        Claim::tested(
            "LDP noise errs more than instance-dependent LIP noise",
            format!("Corollary 10 errs less at {dependent} of {total} points; certified with a floor at {}", wins("gauss_floor", "ldp")),
            "every point",
            dependent == total,
        )
        .only_printed(leaks)
        .because("the certified noise also errs less than LDP at the same (ε, δ), by less"),
    );
    let independent = wins("ldp", "gauss_constant");
    outcome.claim(
        Claim::tested(
            "LDP noise errs less than instance-independent LIP noise",
            format!("at {independent} of {total} points"),
            "every point, against the least constant σ that is (ε, δ)-LIP",
            independent == total,
        )
        .or_ill_defined()
        .because("it cannot: (ε, δ)-LDP noise is (ε, δ)-LIP, so the least LIP noise is never larger; only a rule such as \"variance proportional to min f_X\" makes it so"),
    );
    let parts: Vec<String> = salaries
        .mixture
        .components()
        .unwrap_or_default()
        .iter()
        .map(|c| {
            format!("{} at {} ± {}", short(c.weight), short(c.law.mean()), short(c.law.deviation()))
        })
        .collect();
    let heights: Vec<f64> = (0..160).map(|x| salaries.mixture.density(f64::from(x))).collect();
    let peaks = heights.windows(3).filter(|h| h[1] > h[0] && h[1] > h[2]).count();
    outcome.claim(Claim::tested(
        "the density of income has two peaks, fitted by a Gaussian mixture",
        format!("{} salaries: {}; {peaks} peaks", salaries.values.len(), parts.join("; ")),
        "the fitted density has two peaks",
        peaks == 2,
    ));
}

/// "Releasing data with an inaccurate density could result in additional privacy leakage."
fn inaccurate(outcome: &mut Outcome, table: &Table) {
    // What rounds to nought in 48 bits is nought.
    const NOUGHT: f64 = 1e-12;
    let pairs = |suffix: &str| -> Vec<(f64, f64, f64)> {
        let get = |row: usize, column: &str| table.number(row, &format!("{column}{suffix}"));
        let pair = |row| {
            let (right, wrong) =
                (get(row, "sampling_printed_delta"), get(row, "sampling_worse_fit_delta"));
            (table.number(row, "delta"), right, wrong)
        };
        (0..table.rows.len()).map(pair).collect()
    };
    let kernel = pairs("");
    let can_differ: Vec<_> =
        kernel.iter().filter(|(_, right, wrong)| right.max(*wrong) > NOUGHT).collect();
    let more = can_differ.iter().filter(|(_, right, wrong)| wrong > right).count();
    let less = can_differ.iter().filter(|(_, right, wrong)| wrong < right).count();
    let times = |pairs: &[(f64, f64, f64)]| {
        let most = |of: fn(&(f64, f64, f64)) -> f64| {
            short(pairs.iter().map(|pair| of(pair) / pair.0).fold(0.0, f64::max))
        };
        format!(
            "{} times the δ asked for with the right law, {} with the wrong one",
            most(|p| p.1),
            most(|p| p.2)
        )
    };
    outcome.claim(
        Claim::tested(
            "releasing data with an inaccurate density could result in additional leakage",
            format!(
                "one normal law, where the data's own histogram is the truth, against the mixture, where it is the truth itself: more at {more} of the {} points \
                 at which either leaks, less at {less}; at most, in the convention of Corollary 9, {}, and in that of Definition 5 {}",
                can_differ.len(),
                times(&kernel),
                times(&pairs("_5")),
            ),
            "where either δ is not nought, more at some point and less at none",
            more > 0 && less == 0,
        )
        .id("an-inaccurate-density-leaks-more")
        .because_it_holds(format!(
            "at the other {} points both are nought: each of the 41 points has so much mass that the probability λ of saying the truth is hidden in it. That the right law is over its δ in \
             Corollary 9's convention is the convention's doing: λ is chosen by Definition 5, whose δ is up to e^ε times smaller",
            kernel.len() - can_differ.len()
        )),
    );
}
