//! ST20 Table II: errors on the census data, features as sensors and, as in the paper, one-hot bits as sensors.

use undertone_fusion::learn::compare::Line;
use undertone_fusion::learn::prepare::{Parts, Recipe, prepare};
use undertone_fusion::learn::release::one_hot_ldp;
use undertone_fusion::learn::split::Plan;
use undertone_fusion::learn::{Settings, sequences};
use undertone_fusion::{Column, Columns, Spacing};

use super::comparison::{
    Comparison, Printed, averaged, impossible, ldp, printed, text_against_table,
};
use crate::claim::short;
use crate::data::ADULT_DATA;
use crate::row;
use crate::{Claim, Context, Error, Experiment, Outcome, Paper, Picture, Table};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "st20-table-2",
    paper: Paper::St20,
    title: "Table II: census data (Adult)",
    data: &[ADULT_DATA],
    run,
};

const NO: f64 = f64::INFINITY;

/// The paper's Table II.
pub const PRINTED: [Printed; 9] = [
    printed("epic", 0.3769, 0.6225, 0.79, 0.93),
    printed("npo", 0.3767, 0.6214, 0.82, 2.36),
    printed("e-ldp", 0.3611, 0.3291, 9.48, 0.97),
    printed("mdr", 0.3757, 0.6402, 1.68, NO),
    printed("dca", 0.3838, 0.5633, 2.47, NO),
    printed("ruca:1", 0.4124, 0.6525, 1.61, NO),
    printed("ruca:100", 0.4110, 0.6414, 1.66, NO),
    printed("ruca:1000", 0.4067, 0.6586, 1.61, NO),
    printed("raw", 0.3405, 0.3048, 15.33, NO),
];

/// Rows of the paper's test set.
const TESTED: usize = 15_050;

/// The features, by their column in the file, counted from 0.
const FEATURES: [(&str, usize); 5] =
    [("age", 0), ("workclass", 1), ("education", 4), ("race", 8), ("sex", 9)];
const MARRIED: [&str; 3] = ["Married-civ-spouse", "Married-spouse-absent", "Married-AF-spouse"];
const FORMERLY: [&str; 3] = ["Separated", "Divorced", "Widowed"];

/// Income, marital status and the five features of every person.
fn columns(context: &Context) -> Result<Columns, Error> {
    let text = context.data.text(ADULT_DATA)?;
    let mut rows: Vec<Vec<&str>> = Vec::new();
    for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        if fields.len() != 15 {
            let problem = format!("{} fields where 15 were expected", fields.len());
            return Err(Error::Data { file: ADULT_DATA.path.into(), line: at + 1, problem });
        }
        rows.push(fields);
    }
    let column = |name: &str, cell: &dyn Fn(&[&str]) -> String| Column {
        name: name.into(),
        cells: rows.iter().map(|row| cell(row)).collect(),
    };
    let marital = |row: &[&str]| {
        let status = row[5];
        let word = if MARRIED.contains(&status) {
            "married"
        } else if FORMERLY.contains(&status) {
            "formerly"
        } else {
            "never"
        };
        word.to_owned()
    };
    let feature = |&(name, at): &(&str, usize)| column(name, &|row| row[at].to_owned());
    let rich = |row: &[&str]| if row[14] == ">50K" { "yes" } else { "no" }.to_owned();
    Ok(Columns {
        sensors: FEATURES.iter().map(feature).collect(),
        public: column("income", &rich),
        private: vec![column("marital", &marital)],
    })
}

fn parts(columns: &Columns, test: usize) -> Result<Parts, Error> {
    let plan = Plan { train: Some(120), test: Some(test), balance: true, ..Plan::default() };
    Ok(prepare(columns, None, &Recipe { plan, levels: 5, spacing: Spacing::Equal, keep: None })?)
}

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let settings = Settings { restarts: context.pick(1, 3), ..Settings::default() };
    let columns = columns(context)?;
    let prepared = parts(&columns, context.pick(2000, TESTED))?;
    let features = Comparison::run(&prepared, &PRINTED, &settings)?;
    impossible(&mut outcome, "Table II", &PRINTED, TESTED);
    text_against_table(&mut outcome, "Table II", &PRINTED);
    shape(&mut outcome, &features);

    let bits = sequences::one_hot(&columns);
    let spread = parts(&bits, context.pick(250, 3000))?;
    let learned: Vec<Printed> =
        PRINTED.into_iter().filter(|line| ["epic", "e-ldp"].contains(&line.method)).collect();
    let one_hot = Comparison::run(&spread, &learned, &settings)?;
    let twice = features_of_bits(&mut outcome, &spread, &one_hot);
    outcome.table(twice);

    let blind = features.get("epic").map(|line| line.judged.examined.blind);
    let (h, g) = blind.map_or((f64::NAN, f64::NAN), |blind| (blind.public, blind.private));
    outcome.note(format!(
        "adult.data, rows with a missing work class kept as a value of their own; 120 rows to learn from, 20 of every pair of labels; {} rows held out of the other half (the paper's 15,050 in the full run). \
         Continuous features in 5 levels; r = .99, ε_LD = 1. The held-out rows are not balanced: blind guesses err {} (H) and {} (G), and detectors that learned on balanced rows guess as if H were a fair coin.",
        prepared.test.samples().len(),
        short(h),
        short(g)
    ));
    outcome.note("ε_I in `averaged_i` is (12) over the maps' own randomness, `counted_i` is (12) itself, `bound_i` holds with confidence .95 for people drawn independently.");
    outcome.draw(
        "errors",
        &Picture {
            title: "ST20 Table II, features as sensors".into(),
            panels: features.panels("120 rows"),
        },
    )?;
    outcome.table(features.table("adult", &PRINTED));
    outcome.table(one_hot.table("adult_one_hot", &learned));
    Ok(outcome)
}

fn shape(outcome: &mut Outcome, found: &Comparison) {
    let others = || PRINTED.iter().map(|p| p.method).filter(|method| *method != "epic");
    let information = found.figure("epic", averaged);
    let level = found.figure("epic", ldp);
    let least = others().map(|method| found.figure(method, averaged)).fold(NO, f64::min);
    let least_ldp = others().map(|method| found.figure(method, ldp)).fold(NO, f64::min);
    outcome.claim(
        Claim::tested(
            "EPIC has the lowest ε_I and ε_LD of all methods",
            format!(
                "averaged ε_I {}, the least other {}; attained ε_LD {}, the least other {}",
                short(information),
                short(least),
                short(level),
                short(least_ldp)
            ),
            "EPIC's averaged ε_I and attained ε_LD at most every other's (1e-6 for rounding)",
            information <= least + 1e-6 && level <= least_ldp + 1e-6,
        )
        .printed("ε_I .79, ε_LD .93")
        .because("the order holds; the paper's values are those of its unstated estimator"),
    );
    let error = |method: &str| found.figure(method, |line| line.judged.detectors.public);
    let best = others()
        .filter(|method| *method != "raw")
        .map(|method| (error(method), method))
        .fold((NO, ""), |best, next| if next.0 < best.0 { next } else { best });
    outcome.claim(
        Claim::tested(
            "EPIC's error of H is within .01 of the best other sanitiser",
            format!("EPIC {}, best other {} ({})", short(error("epic")), short(best.0), best.1),
            "within .01",
            error("epic") <= best.0 + 0.01,
        )
        .printed(".3769 against .3611")
        .or_not_reproducible()
        .because(
            "already the printed table is .0158 apart; which 120 rows were drawn is not stated",
        ),
    );
    let bound = |method: &str| found.figure(method, |line| line.judged.examined.bound.nats);
    outcome.claim(
        Claim::tested(
            "EPIC leaks much less of G than E-LDP at a similar ε_LD",
            format!(
                "averaged ε_I {} against {}; guaranteed with confidence .95: {} against {}",
                short(information),
                short(found.figure("e-ldp", averaged)),
                short(bound("epic")),
                short(bound("e-ldp"))
            ),
            "averaged and guaranteed ε_I both lower",
            information < found.figure("e-ldp", averaged) && bound("epic") < bound("e-ldp"),
        )
        .printed("ε_I .79 / 9.48"),
    );
    let npo = found.figure("npo", ldp);
    outcome.claim(
        Claim::tested(
            "NPO, which has no LDP budget, has a larger ε_LD",
            format!("attained {} against EPIC's {}", short(npo), short(level)),
            "larger",
            npo > level,
        )
        .printed("2.36 against .93"),
    );
    let counted: Vec<&str> = PRINTED
        .iter()
        .map(|p| p.method)
        .filter(|m| found.figure(m, |line| line.judged.examined.counted).is_infinite())
        .collect();
    outcome.claim(
        Claim::tested(
            "(12) estimates ε_I",
            format!(
                "infinite for {} of {} methods: {}",
                counted.len(),
                PRINTED.len(),
                counted.join(", ")
            ),
            "finite for every method",
            counted.is_empty(),
        )
        .because("one empty cell makes it infinite; it is biased where it is finite"),
    );
}

/// What the one-hot reading costs: the LDP of a feature that speaks through several sensors.
fn features_of_bits(outcome: &mut Outcome, parts: &Parts, found: &Comparison) -> Table {
    let names: Vec<&str> = parts.train.sensors().iter().map(|(name, _)| name.as_str()).collect();
    let mut table =
        Table::new("one_hot_features", &["method", "feature", "bits", "bit_ld", "feature_ld"]);
    let mut worst = (0.0f64, 0.0f64, "");
    for method in ["epic", "e-ldp"] {
        let Some(Line { shipped: Some(shipped), .. }) = found.get(method) else { continue };
        for (feature, _) in FEATURES {
            let own = |(_, name): &(usize, &&str)| {
                name.split_once('=').is_some_and(|(column, _)| column == feature)
            };
            let bits: Vec<usize> = names.iter().enumerate().filter(own).map(|(t, _)| t).collect();
            if bits.is_empty() {
                continue;
            }
            let level = |t: &usize| {
                crate::certified::nats(shipped.policies[*t].certificate().input.ldp.ratio)
            };
            let bit = bits.iter().map(level).fold(0.0, f64::max);
            let whole = one_hot_ldp(&shipped.maps, &bits);
            table.push(row![method, feature, bits.len(), bit, whole]);
            if whole > worst.1 {
                worst = (bit, whole, feature);
            }
        }
    }
    outcome.claim(
        Claim::tested(
            "one-hot bits as sensors give every feature ε_LD",
            format!(
                "{}: each bit attains {}, the feature {}",
                worst.2,
                short(worst.0),
                short(worst.1)
            ),
            "the feature's LDP at most ε_LD = 1",
            worst.1 <= 1.0 + 1e-9,
        )
        .because("a changed feature changes two bits: up to 2 ε_LD"),
    );
    table
}
