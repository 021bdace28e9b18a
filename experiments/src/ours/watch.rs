//! Ours: ST20's methods on the six channels of a wrist watch, a second stand-in for OPPORTUNITY.

use undertone_fusion::learn::Settings;
use undertone_fusion::learn::prepare::{Parts, Recipe, prepare};
use undertone_fusion::learn::sequences::{self, Sequenced};
use undertone_fusion::learn::split::Plan;
use undertone_fusion::{Column, Columns, Spacing};

use crate::claim::short;
use crate::data::WATCH;
use crate::interval::Interval;
use crate::st20::draws::{Draws, Figures, LOWEST};
use crate::{Claim, Context, Error, Experiment, Outcome, Paper, Picture};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "ours-watch",
    paper: Paper::Ours,
    title: "A wrist watch: a second stand-in for body sensors",
    data: &[WATCH],
    run,
};

const CHANNELS: [&str; 6] = ["ax", "ay", "az", "wx", "wy", "wz"];
/// Exercises that lift the arm.
const LIFTED: [&str; 2] = ["ABD", "FEL"];
/// 50 readings a second; every second is one instance.
const SECOND: usize = 50;
const METHODS: [&str; 7] = ["epic", "npo", "e-ldp", "mdr", "dca", "ruca:1", "raw"];
/// Rows that ST20 learned from in its Table I.
const LEARNED: usize = 80;

/// Mean and deviation of every channel in every full second of every recording.
fn seconds(context: &Context) -> Result<Sequenced, Error> {
    let records = context.data.records(WATCH, ',')?;
    let readings =
        CHANNELS.iter().map(|name| records.numbers(name)).collect::<Result<Vec<_>, _>>()?;
    let (recording, person) = (records.column("recording")?, records.column("person")?);
    let (exercise, side) = (records.column("exercise")?, records.column("side")?);
    let column = |name: String| Column { name, cells: Vec::new() };
    let named = |what: &str| CHANNELS.map(|name| column(format!("{what}_{name}")));
    let mut sensors = [named("mean"), named("deviation")].concat();
    let (mut lifted, mut right) = (column("lifted".into()), column("right".into()));
    let mut people = column("person".into());
    let mut from = 0;
    while from < recording.len() {
        let length = recording[from..].iter().take_while(|own| **own == recording[from]).count();
        for start in (from..from + length - length % SECOND).step_by(SECOND) {
            for (at, channel) in readings.iter().enumerate() {
                let own = &channel[start..start + SECOND];
                let mean = own.iter().sum::<f64>() / SECOND as f64;
                let square = own.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / SECOND as f64;
                sensors[at].cells.push(mean.to_string());
                sensors[CHANNELS.len() + at].cells.push(square.sqrt().to_string());
            }
            let yes = |is: bool| String::from(if is { "yes" } else { "no" });
            lifted.cells.push(yes(LIFTED.contains(&exercise[start])));
            right.cells.push(yes(side[start] == "right"));
            people.cells.push(person[start].to_owned());
        }
        from += length;
    }
    // What belongs together is a person: nobody is both learned from and judged by.
    let sequence = sequences::number(&[people]);
    let columns = Columns { sensors, public: lifted, private: vec![right] };
    Ok(Sequenced::new(&columns, sequence)?)
}

fn parts(rows: &Sequenced, seed: u64) -> Result<Parts, Error> {
    let plan = Plan { train: Some(LEARNED), seed, ..Plan::default() };
    let recipe = Recipe { plan, levels: 10, spacing: Spacing::Equal, keep: None };
    Ok(prepare(&rows.columns, Some(&rows.sequence), &recipe)?)
}

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let rows = seconds(context)?;
    let count = context.pick(3, 12);
    let settings = Settings { restarts: 1, ..Settings::default() };
    let draws = Draws::run(&METHODS, count, &settings, |seed| parts(&rows, seed))?;
    let people = rows.sequence.iter().max().map_or(0, |most| most + 1);
    outcome.note(format!(
        "A stand-in for OPPORTUNITY, whose recordings could not be had; no number here is comparable with ST20's Table I. Recordings of shoulder exercises by {people} people with a watch (seglearn 1.2.5 on PyPI, \\
         BSD licence; D. Burns et al., arXiv 1802.01489), 50 readings a second of acceleration and turning. Every one of {} full seconds is an instance; its 12 sensors are mean and deviation of the six channels \\
         in 10 levels. H: the exercise lifts the arm (abduction or forward elevation); G: it is the right arm. {count} draws of {LEARNED} seconds, every draw with half of the people to learn from and the others to judge by; \\
         r = .99, ε_LD = 1.",
        rows.sequence.len()
    ));
    claims(&mut outcome, &draws);
    let title = "ST20's methods on a wrist watch, a stand-in".into();
    let panels = vec![draws.panel(&format!("stand-in, {count} draws of {LEARNED} seconds"))];
    outcome.draw("watch", &Picture { title, panels })?;
    outcome.table(draws.table("watch_draws"));
    Ok(outcome)
}

fn claims(outcome: &mut Outcome, draws: &Draws) {
    let count = draws.count();
    let averaged: fn(&Figures) -> f64 = |f| f.averaged;
    let paired = |of: fn(&Figures) -> f64, ours: &str, theirs: &str| {
        Interval::of_differences(&draws.of(ours, of), &draws.of(theirs, of))
    };
    let less = paired(averaged, "epic", "e-ldp");
    outcome.claim(
        Claim::tested(
            "EPIC leaks less of G than E-LDP at the same ε_LD, on a watch",
            format!(
                "{count} draws, averaged ε_I: {}; a difference of {}",
                draws.listed(&["epic", "e-ldp", "npo"], averaged),
                less.words()
            ),
            "lower with a 95 % interval over the draws",
            less.below(),
        )
        .or_not_reproducible()
        .because("ε_I is (12) averaged over the maps' randomness, an estimate and no guarantee"),
    );
    let others: Vec<&'static str> = METHODS.into_iter().filter(|m| *m != "epic").collect();
    let (best, gap) = draws.against_best("epic", &others, averaged);
    let lowest = draws.least_in("epic", &others, averaged);
    outcome.claim(
        Claim::tested(
            "EPIC has the lowest averaged ε_I of all methods, on a watch",
            format!(
                "lowest in {lowest} of {count} draws; its mean less {best}'s is {}",
                gap.words()
            ),
            LOWEST,
            draws.lowest("epic", &others, averaged),
        )
        .or_not_reproducible()
        .because_it_fails(
            "a projection with few levels can tell less of G than twelve noisy bits together",
        ),
    );
    let price = paired(|f| f.error_h, "epic", "npo");
    let level = |method: &str| draws.mean(method, |f| f.ldp).words();
    outcome.claim(
        Claim::tested(
            "on a watch one nat of LDP a sensor costs accuracy on H",
            format!(
                "errors of H: {}; EPIC's more than NPO's by {}; attained ε_LD {} and {}",
                draws.listed(&["raw", "npo", "epic", "e-ldp"], |f| f.error_h),
                price.words(),
                level("epic"),
                level("npo")
            ),
            "EPIC's error above NPO's with a 95 % interval over the draws",
            price.above(),
        )
        .or_not_reproducible(),
    );
    let told = draws.mean("raw", |f| f.error_g);
    outcome.claim(
        Claim::tested(
            "a watch tells which arm it is on, and EPIC's outputs hide it from linear detectors",
            format!(
                "errors of G: raw {}, EPIC {}",
                told.words(),
                draws.mean("epic", |f| f.error_g).words()
            ),
            "EPIC's error above raw's with a 95 % interval over the draws",
            paired(|f| f.error_g, "epic", "raw").above(),
        )
        .or_not_reproducible()
        .because(format!(
            "on people nobody learned from, with {LEARNED} seconds to learn from; a coin errs {}",
            short(0.5)
        )),
    );
}
