//! Learning the prior in two rounds, from nothing, against LDP all along at the same total attained LDP.
//!
//! Round 1 assumes nothing: the best LDP channel for equal shares. Its reports give an estimate and a box that holds
//! the truth with confidence .95. Round 2 promises LIP for every prior in that box, by the exact robust optimum (the
//! claim is linear in the prior, so it holds in the box if it holds at its corners) or by LDP at the same ε where that
//! estimates better. Everyone answers in both rounds, so a person spends the sum of the attained LDP of both.

use rayon::prelude::*;
use undertone_core::{Alphabet, Context as Known, Policy, Provenance};
use undertone_design::designer::Method;
use undertone_design::knowledge::{Knowledge, corners};
use undertone_design::mechanism::posterior;
use undertone_design::objective::{Objective, frequency};
use undertone_design::prior_region::PriorBox;
use undertone_design::quantize::{self, PolicySpec};
use undertone_design::{Channel, Distribution, protection, to_floats};
use undertone_estimate::{Estimator, Method as Estimate, Pool, Settings, Tally};

use super::zipf;
use crate::certified::{self, nats, protect};
use crate::claim::short;
use crate::row;
use crate::{Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture, Series, Table};
use undertone_numeric::dice::draw;

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "ours-learning",
    paper: Paper::Ours,
    title: "Learning a prior in two rounds against LDP all along, at the same total attained LDP",
    data: &[],
    run,
};

/// LDP of round 1 and LIP of round 2.
const PLANS: [(f64, f64); 3] = [(0.5, 1.0), (1.0, 1.0), (1.0, 2.0)];
const CONFIDENCE: f64 = 0.95;
const MOST_CORNERS: usize = 64;

/// One survey of two rounds.
struct Survey {
    /// Whether the box of round 1 holds the truth.
    covered: bool,
    /// The attained LDP of both rounds together.
    total: f64,
    /// The LIP that round 2 attains under the true law.
    lip: f64,
    /// The root of the summed variances of the shares, by Fisher information: learnt in two rounds, two LDP rounds at
    /// half the total each, one LDP report at the total, two rounds with the second at LDP(ε) and at LDP(2ε).
    errors: [f64; 5],
    /// The squared distance of the pooled estimate from the truth.
    squared: f64,
}

/// Two rounds as one channel: a report says which round it is from.
fn together(first: &Channel, second: &Channel) -> Result<Channel, Error> {
    let half = |row: &Distribution| row.as_slice().iter().map(|q| q / 2.0).collect::<Vec<f64>>();
    let pairs = first.rows().iter().zip(second.rows());
    let rows = pairs.map(|(a, b)| [half(a), half(b)].concat()).collect();
    Ok(Channel::new(rows)?)
}

/// The standard error of all shares from both rounds, n reports each.
fn both(prior: &Distribution, first: &Channel, second: &Channel, n: u64) -> Result<f64, Error> {
    Ok((frequency(prior, &together(first, second)?)? / (2 * n) as f64).sqrt())
}

/// The best LDP channel for equal shares: what can be done knowing nothing.
fn blind(symbols: usize, level: f64) -> Result<(Policy, Channel), Error> {
    let even = Distribution::uniform(symbols);
    let point =
        certified::known(&even, &protect("ldp", level), &Objective::Frequency, Method::Optimal)?;
    let policy = point.policy.ok_or_else(|| Error::other("LDP was refused"))?;
    let channel = to_floats::channel(policy.draft().shape())?;
    Ok((policy, channel))
}

/// Counts of n reports.
fn reports(
    context: &Context,
    prior: &Distribution,
    channel: &Channel,
    n: u64,
    stream: u64,
) -> Vec<u64> {
    let law = |y: usize| (0..prior.len()).map(|x| prior[x] * channel.q(x, y)).sum::<f64>();
    let law: Vec<f64> = (0..channel.outputs()).map(law).collect();
    let mut rng = context.stream(stream);
    let mut counts = vec![0; law.len()];
    (0..n).for_each(|_| counts[draw(&law, &mut rng)] += 1);
    counts
}

fn tally(policy: &Policy, counts: &[u64]) -> Result<Tally, Error> {
    let mut tally = Tally::new(policy);
    tally.add_counts(counts).map_err(Error::other)?;
    Ok(tally)
}

/// What round 1 says: an estimate and a box, as the curator learns it.
fn learn(policy: &Policy, counts: &[u64]) -> Result<(Distribution, Knowledge), Error> {
    let settings = Settings::at_level(CONFIDENCE).map_err(Error::other)?.all_at_once();
    let pool = Pool::new(policy, tally(policy, counts)?).map_err(Error::other)?;
    let estimator = Estimator::new(pool, settings).map_err(Error::other)?;
    let shares = estimator.shares(Estimate::Unbiased).map_err(Error::other)?;
    let fit = estimator.fit().shares.clone();
    let (lower, upper) = shares
        .symbols
        .iter()
        .zip(&fit)
        .map(|(share, p)| (share.low.min(*p).max(0.0), share.high.max(*p).min(1.0)))
        .unzip();
    let least = 1e-4 / fit.len() as f64;
    let inside = fit.iter().map(|p| p.max(least)).collect();
    Ok((
        Distribution::normalised("the estimate", inside)?,
        Knowledge::Within(PriorBox::new(lower, upper)?),
    ))
}

/// The policy of round 2 for the whole box: the better, at the estimate, of the robust LIP optimum and LDP.
fn second(estimate: &Distribution, within: &Knowledge, epsilon: f64) -> Result<Policy, Error> {
    let context = within.context()?.context;
    let Known::Within(boxed) = &context else { return Err(Error::other("there is no box")) };
    let claim = protection::parse(&protect("lip", epsilon), within.subject())?;
    let spec = PolicySpec {
        inputs: Alphabet::indices(estimate.len()).map_err(Error::other)?,
        outputs: None,
        context: context.clone(),
        claims: vec![within.claim(claim)],
        provenance: Provenance::default(),
    };
    let ship = |channel: &Channel| -> Result<Policy, Error> {
        let (channel, kept) = quantize::drop_ghosts(channel)?;
        let outputs = Some(Alphabet::indices(kept.len()).map_err(Error::other)?);
        Ok(PolicySpec { outputs, ..spec.clone() }.ship(&channel)?.policy)
    };
    let mut found =
        vec![posterior::optimal_odds(estimate, epsilon, &Objective::Frequency)?.channel];
    if let Some(corners) = corners(boxed, MOST_CORNERS) {
        let corners = Knowledge::Each(corners).context()?.context;
        let robust = PolicySpec { context: corners, ..spec.clone() };
        // A box that reaches the edge of the simplex has corners that rule symbols out.
        if let Ok(best) = posterior::optimal(&robust, estimate, &Objective::Frequency) {
            found.push(best.channel);
        }
    }
    let mut best: Option<(f64, Policy)> = None;
    for channel in found {
        let policy = ship(&channel)?;
        let variance = frequency(estimate, &to_floats::channel(policy.draft().shape())?)?;
        if best.as_ref().is_none_or(|(least, _)| variance < *least) {
            best = Some((variance, policy));
        }
    }
    best.map(|(_, policy)| policy).ok_or_else(|| Error::other("no candidate for round 2"))
}

fn survey(
    context: &Context,
    truth: &Distribution,
    (first, epsilon): (f64, f64),
    n: u64,
    stream: u64,
) -> Result<Survey, Error> {
    let symbols = truth.len();
    let level = |policy: &Policy| nats(policy.certificate().input.ldp.ratio);
    let (opening, open_channel) = blind(symbols, first)?;
    let heard = reports(context, truth, &open_channel, n, stream);
    let (estimate, within) = learn(&opening, &heard)?;
    let Knowledge::Within(boxed) = &within else {
        return Err(Error::other("there is no box"));
    };
    let covered = truth.as_slice().iter().zip(boxed.lower().iter().zip(boxed.upper()));
    let covered = covered.into_iter().all(|(p, (low, high))| (low..=high).contains(&p));
    let closing = second(&estimate, &within, epsilon)?;
    let channel = to_floats::channel(closing.draft().shape())?;
    let total = level(&opening) + level(&closing);
    let more = reports(context, truth, &channel, n, stream ^ 0x2000_0000);
    let pool = Pool::new(&opening, tally(&opening, &heard)?).map_err(Error::other)?;
    let pool = pool.and(&closing, tally(&closing, &more)?).map_err(Error::other)?;
    let estimator = Estimator::new(pool, Settings::default()).map_err(Error::other)?;
    let distance = |(a, b): (&f64, &f64)| (a - b).powi(2);
    let pooled = &estimator.fit().shares;
    let (_, half) = blind(symbols, total / 2.0)?;
    let (_, whole) = blind(symbols, total)?;
    let (_, same) = blind(symbols, epsilon)?;
    let (_, twice) = blind(symbols, 2.0 * epsilon)?;
    let bound = undertone_design::measure::lip::upper_bound(truth, &channel)?;
    Ok(Survey {
        covered,
        total,
        lip: bound.two_sided(),
        errors: [
            both(truth, &open_channel, &channel, n)?,
            both(truth, &half, &half, n)?,
            (frequency(truth, &whole)? / n as f64).sqrt(),
            both(truth, &open_channel, &same, n)?,
            both(truth, &open_channel, &twice, n)?,
        ],
        squared: pooled.iter().zip(truth.as_slice()).map(distance).sum(),
    })
}

const COLUMNS: [&str; 14] = [
    "prior",
    "first_ldp",
    "second_lip",
    "reports",
    "total_ldp",
    "true_lip",
    "covered",
    "learnt",
    "simulated",
    "ldp_twice_half",
    "ldp_once",
    "second_ldp",
    "second_ldp_twice",
    "gain",
];

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let sizes: &[u64] = context.pick(&[1000, 100_000], &[300, 1000, 3000, 10_000, 30_000, 100_000]);
    let repeats = context.pick(2, 12);
    let priors: Vec<(&str, Distribution)> = vec![
        ("even thirds", zipf(3, 0.0)?),
        ("[.6, .3, .1]", Distribution::new("prior", vec![0.6, 0.3, 0.1])?),
        ("[.9, .07, .03]", Distribution::new("prior", vec![0.9, 0.07, 0.03])?),
    ];
    let plans: &[(f64, f64)] = context.pick(&PLANS[1..2], &PLANS);
    let mut tasks = Vec::new();
    for (at, _) in priors.iter().enumerate() {
        for &plan in plans {
            for &n in sizes {
                tasks.extend((0..repeats).map(|repeat| (at, plan, n, repeat)));
            }
        }
    }
    let surveys: Vec<Survey> = tasks
        .par_iter()
        .with_max_len(1)
        .map(|&(at, plan, n, repeat)| {
            survey(context, &priors[at].1, plan, n, 0x1ea_0000 + n * 64 + repeat)
        })
        .collect::<Result<_, _>>()?;
    let mut table = Table::new("learning", &COLUMNS);
    for (task, own) in tasks.chunks(repeats as usize).zip(surveys.chunks(repeats as usize)) {
        let (at, (first, epsilon), n, _) = task[0];
        let mean = |of: &dyn Fn(&Survey) -> f64| own.iter().map(of).sum::<f64>() / own.len() as f64;
        let errors: Vec<f64> = (0..5).map(|k| mean(&|s| s.errors[k])).collect();
        table.push(row![
            priors[at].0,
            first,
            epsilon,
            n,
            mean(&|s| s.total),
            mean(&|s| s.lip),
            mean(&|s| f64::from(u8::from(s.covered))),
            errors[0],
            mean(&|s| s.squared).sqrt(),
            errors[1],
            errors[2],
            errors[3],
            errors[4],
            1.0 - errors[0] / errors[1],
        ]);
    }
    claims(&mut outcome, &table);
    outcome.note(format!(
        "Means over {repeats} surveys. Errors are roots of the summed variances of all shares by Fisher information under the true law, from n reports a round; `simulated` is the distance of the pooled maximum-likelihood \
         estimate from the truth. LDP all along: the best LDP channels for equal shares, twice at half the total or once at the total. Reports of the two rounds are drawn independently."
    ));
    outcome.draw("learning", &picture(&table, &priors, plans))?;
    outcome.table(table);
    Ok(outcome)
}

fn claims(outcome: &mut Outcome, table: &Table) {
    let rows = 0..table.rows.len();
    let get = |row: usize, column: &str| table.number(row, column);
    let place = |row: usize| {
        format!(
            "{}, LDP {} then LIP {}, {} reports",
            table.rows[row][0],
            get(row, "first_ldp"),
            get(row, "second_lip"),
            get(row, "reports")
        )
    };
    let gains: Vec<(f64, usize)> = rows.clone().map(|row| (get(row, "gain"), row)).collect();
    let most =
        gains.iter().copied().fold((f64::NEG_INFINITY, 0), |a, b| if b.0 > a.0 { b } else { a });
    let least =
        gains.iter().copied().fold((f64::INFINITY, 0), |a, b| if b.0 < a.0 { b } else { a });
    let won = gains.iter().filter(|(gain, _)| *gain > 0.001).count();
    outcome.claim(
        Claim::tested(
            "learning the prior pays against LDP all along, at the same total attained LDP",
            format!(
                "a gain in {won} of {} cells; best {:.1} % ({}), worst {:.1} % ({})",
                gains.len(),
                100.0 * most.0,
                place(most.1),
                100.0 * least.0,
                place(least.1)
            ),
            "a gain of more than .1 % in every cell",
            won == gains.len(),
        )
        .because("at its own attained LDP no channel beats the best LDP channel for the same prior; what the second round buys is the bound on belief, and sometimes a channel that fits the prior"),
    );
    let once =
        rows.clone().filter(|&row| get(row, "ldp_once") <= get(row, "learnt") * 1.001).count();
    outcome.claim(
        Claim::tested(
            "one LDP report at the whole total is at least as good as two rounds",
            format!("in {once} of {} cells", gains.len()),
            "in most cells",
            2 * once > gains.len(),
        )
        .because("splitting a budget costs; two rounds are for those who must not spend it at once, or who need to know the prior"),
    );
    let inside = rows.clone().filter(|&row| get(row, "covered") > 0.0);
    let sound = inside.clone().filter(|&row| {
        get(row, "covered") < 1.0 || get(row, "true_lip") <= get(row, "second_lip") + 1e-9
    });
    let (sound, inside) = (sound.count(), inside.count());
    outcome.claim(Claim::tested(
        "where the box holds the truth, round 2 keeps its LIP promise under it",
        format!("in {sound} of {inside} cells"),
        "the true LIP is at most ε wherever every survey's box holds the truth",
        sound == inside,
    ));
    let covered: f64 =
        rows.clone().map(|row| get(row, "covered")).sum::<f64>() / gains.len() as f64;
    outcome.claim(Claim::tested(
        "the box holds the truth with confidence .95",
        format!("in {:.1} % of all surveys", 100.0 * covered),
        "at least 90 % of the surveys of this run",
        covered >= 0.9,
    ));
    let large = rows.clone().filter(|&row| get(row, "reports") >= 10_000.0);
    let ratio = large.map(|row| get(row, "simulated") / get(row, "learnt"));
    let (sum, count) = ratio.fold((0.0, 0.0), |(sum, count), ratio| (sum + ratio, count + 1.0));
    outcome.claim(Claim::tested(
        "simulated errors agree with the formula",
        format!(
            "from 10,000 reports on, simulated over predicted is {} on average",
            short(sum / count)
        ),
        "between .7 and 1.3",
        (0.7..1.3).contains(&(sum / count)),
    ));
}

fn picture(table: &Table, priors: &[(&str, Distribution)], plans: &[(f64, f64)]) -> Picture {
    let plan = plans.iter().find(|plan| **plan == (1.0, 1.0)).copied().unwrap_or(plans[0]);
    let panel = |name: &str| {
        let rows: Vec<usize> = (0..table.rows.len())
            .filter(|&row| {
                table.rows[row][0] == name
                    && (table.number(row, "first_ldp"), table.number(row, "second_lip")) == plan
            })
            .collect();
        let line = |column: &str| -> Vec<(f64, f64)> {
            rows.iter()
                .map(|&row| (table.number(row, "reports"), table.number(row, column)))
                .collect()
        };
        // Errors fall as 1/√n; times √n the differences show.
        let scaled = |column: &str| -> Vec<(f64, f64)> {
            line(column).into_iter().map(|(n, error)| (n, error * n.sqrt())).collect()
        };
        let total = rows.last().map_or(f64::NAN, |&row| table.number(row, "total_ldp"));
        Panel {
            title: format!("{name}; total LDP {} at the right end", short(total)),
            x_label: "reports a round".into(),
            y_label: "standard error of the shares, times √n".into(),
            log_x: true,
            series: vec![
                Series::solid("learnt: LDP 1, then LIP 1 for the box", scaled("learnt")),
                Series::solid(
                    "LDP all along: two reports at half the total",
                    scaled("ldp_twice_half"),
                ),
                Series::solid("LDP once, at the whole total", scaled("ldp_once")),
                Series::reference("LDP 1, then LDP 1 (less is spent)", scaled("second_ldp"))
                    .coloured(3),
                Series::reference("LDP 1, then LDP 2 (more is spent)", scaled("second_ldp_twice"))
                    .coloured(4),
                Series::points("learnt, simulated", scaled("simulated")).coloured(0),
            ],
            ..Panel::default()
        }
    };
    Picture {
        title: "Learning a prior in two rounds, from nothing".into(),
        panels: priors.iter().map(|(name, _)| panel(name)).collect(),
    }
}
