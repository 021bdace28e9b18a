//! JLT18 Figure 8: popular pages of Kosarak with a prior for all, and Gowalla's last check-ins with
//! everybody's own.

use rayon::prelude::*;

use super::checkins::{self, User};
use super::clicks::{self, Clicks};
use super::fig_7::{curves, panel};
use super::levels;
use super::model::{Model, printed_leakage};
use crate::certified::Point;
use crate::claim::short;
use crate::data::{GOWALLA, KOSARAK};
use crate::row;
use crate::{Claim, Context, Error, Experiment, Outcome, Paper, Picture, Table};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "jlt18-fig-8",
    paper: Paper::Jlt18,
    title: "Figure 8: Kosarak clicks and Gowalla check-ins",
    data: &[KOSARAK, GOWALLA],
    run,
};

const COLUMNS: [&str; 13] = [
    "case",
    "users",
    "epsilon",
    "ldp",
    "ldp_twice",
    "printed",
    "printed_half",
    "lip",
    "lip_half",
    "symmetric_half",
    "missed",
    "worst_excess",
    "half_excess",
];
const CASES: [&str; 4] = ["550 clicks", "15000 clicks", "mixed history", "everybody, smoothed"];

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let clicks = Clicks::read(context)?;
    let users = checkins::users(context, checkins::REGION)?;
    let mixed: Vec<User> = users.iter().copied().filter(|user| user.is_mixed()).collect();
    let pages = clicks.pages();
    let popular = |threshold: u32| clicks.above(threshold) as f64 / pages as f64;
    let cases: [(usize, Vec<f64>); 4] = [
        // One prior for all: one page stands for every page.
        (pages, vec![popular(clicks::SCALED)]),
        (pages, vec![popular(clicks::LITERAL)]),
        (mixed.len(), mixed.iter().map(|user| user.share()).collect()),
        (users.len(), users.iter().map(|user| user.smoothed()).collect()),
    ];
    let grid = levels(0.5, 10.0, 0.5);
    let mut table = Table::new("error", &COLUMNS);
    for (name, (count, people)) in CASES.iter().zip(&cases) {
        for &epsilon in &grid {
            let mut cells = row![name, count, epsilon];
            cells.extend(curves(people, epsilon)?.map(|value| value.to_string()));
            table.push(cells);
        }
    }
    let policies = policies(context, &cases, &mixed)?;
    notes(&mut outcome, context, &clicks, &users)?;
    claims(&mut outcome, &table, &cases);
    policy_claim(&mut outcome, &policies);
    history_claim(&mut outcome, &users, &policies);
    let titles = [
        format!("(a) Kosarak, over 550 clicks: P₁ = {}", short(cases[0].1[0])),
        format!("(a') Kosarak, over 15,000 clicks: P₁ = {}", short(cases[1].1[0])),
        format!("(b) Gowalla, {} users with both answers before", mixed.len()),
        format!("(b') Gowalla, all {} users, smoothed priors", users.len()),
    ];
    let panels =
        CASES.iter().zip(titles).map(|(name, title)| panel(&table, &rows(&table, name), title));
    let title = "JLT18 Figure 8 (subsets of both collections)".into();
    outcome.draw("error", &Picture { title, panels: panels.collect() })?;
    outcome.table(table);
    outcome.table(history(&users));
    outcome.table(policies);
    Ok(outcome)
}

fn rows(table: &Table, case: &str) -> Vec<usize> {
    (0..table.rows.len()).filter(|&row| table.rows[row][0] == case).collect()
}

fn notes(
    outcome: &mut Outcome,
    context: &Context,
    clicks: &Clicks,
    users: &[User],
) -> Result<(), Error> {
    outcome.note(format!(
        "Kosarak: the first {} of 990,002 transactions with {} of 41,270 pages, a time prefix and no random sample. The paper's 15,000 clicks scale to {} here, rounded to {}; {} pages have more, and {} have more than the literal 15,000. No history is there, so the prior is the share itself: it already answers the question that is asked.",
        clicks.transactions,
        clicks.pages(),
        short(clicks.proportional()),
        clicks::SCALED,
        clicks.above(clicks::SCALED),
        clicks.above(clicks::LITERAL),
    ));
    let ones = users.iter().filter(|user| user.last).count();
    let wide = checkins::users(context, checkins::CELL)?;
    let ones_wide = wide.iter().filter(|user| user.last).count();
    outcome.note(format!(
        "Gowalla: {} users of 196,591 (the 6,442,892 the paper calls users are check-ins). Region as printed, latitude 50 to 55, longitude −5 to 0; a cell of a 36 by 36 grid of the globe would be 10 degrees wide. {ones} users check in there last ({ones_wide} in the wide cell). A user's prior is the share of earlier check-ins there; smoothed, (k + ½)/(n + 1).",
        users.len(),
    ));
    outcome.note("A history that is all 0 or all 1 gives a prior of 0 or 1. LIP then promises nothing: an impossible value has no lift, and every channel, the identity included, is 0-LIP. The paper does not say what it does with these users; the model's error for them is 0 under every mechanism. They are left out of panel (b) and listed apart in the table history; panel (b') has them with smoothed priors.");
    outcome.note("Panels (a), (a'): for a prior p, (19) is ε-LIP only from ε = ln((1−p)/p) on, 6.13 and 9.05 here.");
    Ok(())
}

/// The three kinds of history, and whether the last check-in agrees.
fn history(users: &[User]) -> Table {
    let mut table = Table::new("history", &["history", "users", "last_inside", "brier"]);
    type Fits = fn(&User) -> bool;
    let kinds: [(&str, Fits); 3] = [
        ("all outside", |user| user.inside == 0),
        ("all inside", |user| user.inside == user.earlier),
        ("mixed", |user| user.is_mixed()),
    ];
    for (name, fits) in kinds {
        let own: Vec<&User> = users.iter().filter(|user| fits(user)).collect();
        let miss = |user: &&User| (f64::from(u8::from(user.last)) - user.share()).powi(2);
        let brier = own.iter().map(miss).sum::<f64>() / own.len().max(1) as f64;
        table.push(row![name, own.len(), own.iter().filter(|user| user.last).count(), brier]);
    }
    table
}

/// Verified policies for every prior at some levels: what they attain, the error the prior expects, and
/// the error on the last check-ins as they were.
fn policies(
    context: &Context,
    cases: &[(usize, Vec<f64>); 4],
    mixed: &[User],
) -> Result<Table, Error> {
    let columns =
        ["case", "epsilon", "largest_lip", "largest_ldp", "expected_error", "actual_error"];
    let mut table = Table::new("policies", &columns);
    let grid = if context.quick { vec![1.0, 4.0] } else { vec![1.0, 2.0, 4.0, 8.0] };
    for (case, (_, people)) in CASES.iter().zip(cases).take(3) {
        for &epsilon in &grid {
            let points = people
                .par_iter()
                .map(|&p| Model::Optimum.policy(p, epsilon))
                .collect::<Result<Vec<Point>, Error>>()?;
            let most = |of: &dyn Fn(&Point) -> f64| points.iter().map(of).fold(0.0, f64::max);
            let n = points.len() as f64;
            let actual = if points.len() == mixed.len() {
                let users = points.iter().zip(people).zip(mixed);
                users.map(|((point, &p), user)| actual(point, p, user.last)).sum::<f64>() / n
            } else {
                f64::NAN
            };
            table.push(row![
                case,
                epsilon,
                most(&|point| point.lip.unwrap_or(f64::INFINITY)),
                most(&|point| point.ldp),
                (points.iter().map(Point::value).sum::<f64>() / n).sqrt(),
                actual.sqrt(),
            ]);
        }
    }
    Ok(table)
}

/// The mean squared error of a person's estimate when the answer is this one.
fn actual(point: &Point, p: f64, answer: bool) -> f64 {
    let Some(channel) = &point.channel else { return f64::NAN };
    let x = usize::from(answer);
    let of = |y: usize| {
        let (no, yes) = ((1.0 - p) * channel.q(0, y), p * channel.q(1, y));
        channel.q(x, y) * (x as f64 - yes / (no + yes)).powi(2)
    };
    (0..channel.outputs()).filter(|&y| channel.q(x, y) > 0.0).map(of).sum()
}

fn claims(outcome: &mut Outcome, table: &Table, cases: &[(usize, Vec<f64>); 4]) {
    let get = |row: usize, column: &str| table.number(row, column);
    let count = |rows: &[usize], a: &str, b: &str| {
        rows.iter().filter(|&&row| get(row, a) < get(row, b) - 1e-12).count()
    };
    for (at, what) in [(0, "Kosarak, 550 clicks"), (1, "Kosarak, 15,000 clicks"), (2, "Gowalla")] {
        let own = rows(table, CASES[at]);
        let leaks = match cases[at].1.as_slice() {
            [p] => [2.0, 4.0]
                .map(|e| format!("{} at ε = {e}", short(printed_leakage(*p, e))))
                .join(", "),
            _ => {
                let most = own.iter().map(|&row| get(row, "worst_excess")).fold(0.0, f64::max);
                format!("up to ε + {} for a user", short(most))
            }
        };
        let (certified, printed) = (count(&own, "lip", "ldp"), count(&own, "printed", "ldp"));
        outcome.claim(
            Claim::tested(
                format!("{what}: ε-Opt-LDP errs more than ε-Opt-LIP"),
                format!(
                    "certified optimum: at {certified} of {} levels; (19): at {printed}",
                    own.len()
                ),
                "certified, every ε",
                certified == own.len(),
            )
            .because(format!(
                "by Proposition 3; against LDP at 2ε it errs less at {} levels",
                count(&own, "lip", "ldp_twice")
            )),
        );
        let (half, printed_half) =
            (count(&own, "lip_half", "ldp"), count(&own, "printed_half", "ldp"));
        outcome.claim(
            Claim::tested(
                format!("{what}: for smaller ε, ε/2-Opt-LIP errs less than ε-Opt-LDP"),
                format!("(19): at {printed_half} of {} levels; certified: at {half}", own.len()),
                "with (19), at some ε",
                printed_half > 0,
            )
            .only_printed(leaks)
            .because("ε/2-LIP implies ε-LDP, so a mechanism that keeps its promise cannot"),
        );
    }
    let gain = |at: usize, column: &str| {
        let own = rows(table, CASES[at]);
        let ratio = |&row: &usize| (get(row, "ldp") / get(row, column)).ln();
        (own.iter().map(ratio).sum::<f64>() / own.len() as f64).exp()
    };
    let (rare, rarest) = (gain(0, "printed"), gain(1, "printed"));
    let [p, q] = [0, 1].map(|at: usize| cases[at].1[0]);
    outcome.claim(
        Claim::tested(
            "the more specific the prior, the more beneficial is LIP over LDP",
            format!(
                "(19) errs less by a factor of {} at P₁ = {} and {} at {}",
                short(rare),
                short(p),
                short(rarest),
                short(q)
            ),
            "geometric mean over ε of the ratio of errors, larger for the rarer answer",
            rarest > rare,
        )
        .only_printed(format!(
            "{} and {} at ε = 2",
            short(printed_leakage(p, 2.0)),
            short(printed_leakage(q, 2.0))
        ))
        .because(format!(
            "for the certified optimum it is the other way round, {} and {}: the rarer the answer, the less either promise lets be said about it",
            short(gain(0, "lip")),
            short(gain(1, "lip"))
        )),
    );
}

fn policy_claim(outcome: &mut Outcome, policies: &Table) {
    let all = 0..policies.rows.len();
    let get = |row: usize, column: &str| policies.number(row, column);
    let kept = all
        .clone()
        .filter(|&row| {
            get(row, "largest_lip") <= get(row, "epsilon")
                && get(row, "largest_ldp") <= 2.0 * get(row, "epsilon")
        })
        .count();
    let wide = all.clone().map(|row| get(row, "largest_ldp") / get(row, "epsilon"));
    outcome.claim(
        Claim::tested(
            "Theorem 1: ε-LIP gives 2ε-LDP",
            format!("on the integers of every policy, at {kept} of {} points; the largest attained LDP is {} ε", all.len(), short(wide.fold(0.0, f64::max))),
            "every policy at most ε of LIP and 2ε of LDP",
            kept == all.len(),
        ),
    );
}

fn history_claim(outcome: &mut Outcome, users: &[User], policies: &Table) {
    let certain: Vec<&User> = users.iter().filter(|user| !user.is_mixed()).collect();
    let refuted = certain
        .iter()
        .filter(|user| (user.share() - f64::from(u8::from(user.last))).abs() > 0.5)
        .count();
    let row = policies.find(&[("case", CASES[2]), ("epsilon", "4")]);
    let value = |column: &str| row.map_or(f64::NAN, |row| policies.number(row, column));
    outcome.claim(
        Claim::tested(
            "a user's local prior is the share of earlier check-ins in the region",
            format!(
                "{} of {} users have a prior of 0 or 1, and {refuted} of these then did what it rules out; mixed histories, ε = 4: expected error {}, on the last check-ins {}",
                certain.len(),
                users.len(),
                short(value("expected_error")),
                short(value("actual_error"))
            ),
            "every prior between 0 and 1, so that LIP promises something",
            certain.is_empty(),
        )
        .or_ill_defined()
        .because("LIP protects nobody whose prior is 0 or 1, and the paper does not say what it does with them; (k + ½)/(n + 1) or a set of priors would do"),
    );
}
