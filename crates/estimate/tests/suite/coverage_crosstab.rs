//! How often the intervals of cross-tables hold, over simulated surveys.
//!
//! Numbers of rows are those at which 95 % intervals are to hold 93 to 97 % of the time; shares at nought, which cut intervals
//! hold more often, and groups of fewer than about 50 people are not among them.

use crate::crosstab::{krr, names, push, survey, with};
use undertone_core::{Alphabet, Bits, Policy, Shape, WEIGHT_ONE};
use undertone_estimate::{
    Crosstab, Evidence, EvidenceBuilder, Factor, Margin, Method, Sample, SampleDesign,
};
use undertone_numeric::dice::{draw, shuffled, unit};
use undertone_testkit::dice::Dice;
use undertone_testkit::policy::loose;

/// Surveys of a default run, and of the long one.
const SURVEYS: (usize, usize) = (300, 2000);

const LAW: [f64; 6] = [0.25, 0.15, 0.10, 0.10, 0.15, 0.25];

/// How often each kind of interval held, on average over a table's intervals, and the least and most of one interval.
struct Coverage {
    name: String,
    hits: Vec<(usize, usize)>,
}

fn run(
    name: &str,
    surveys: usize,
    method: Method,
    law: &[f64],
    sizes: [usize; 2],
    make: &dyn Fn(&mut Dice) -> (Vec<Evidence>, Sample),
) -> Vec<Coverage> {
    let mut dice = Dice::new(2026);
    let kinds = ["cells", "margins", "conditional", "differences"];
    let mut all: Vec<Coverage> = kinds
        .iter()
        .map(|kind| Coverage { name: format!("{name}, {kind}"), hits: Vec::new() })
        .collect();
    let group = |b: usize| (0..sizes[0]).map(|a| law[a * sizes[1] + b]).sum::<f64>();
    let given = |a: usize, b: usize| law[a * sizes[1] + b] / group(b);
    for _ in 0..surveys {
        let (columns, sample) = make(&mut dice);
        let columns: Vec<&Evidence> = columns.iter().collect();
        let found: Crosstab = with(&columns, &sample, method);
        let mut held: [Vec<bool>; 4] = Default::default();
        held[0] = found.cells.iter().zip(law).map(|(cell, &p)| cell.share.covers(p)).collect();
        for (b, share) in found.margins[1].iter().enumerate() {
            held[1].push(share.covers(group(b)));
        }
        for share in &found.conditional {
            held[2].push(share.share.covers(given(share.of, share.given[0])));
        }
        for share in &found.differences {
            let truth = given(share.of, share.given[0]) - given(share.of, share.reference[0]);
            held[3].push(share.share.covers(truth));
        }
        for (sum, held) in all.iter_mut().zip(held) {
            sum.hits.resize(held.len(), (0, 0));
            for (hits, held) in sum.hits.iter_mut().zip(held) {
                *hits = (hits.0 + usize::from(held), hits.1 + 1);
            }
        }
    }
    all
}

/// Every interval holds in 93 to 97 % of the surveys of a long run, and within four standard errors of that in a short one; the seed is
/// fixed.
fn holds(found: &[Coverage]) {
    for Coverage { name, hits } in found {
        let shares: Vec<f64> = hits.iter().map(|&(held, all)| held as f64 / all as f64).collect();
        eprintln!("{name}: {shares:.3?}");
        for (at, (&share, &(_, all))) in shares.iter().zip(hits).enumerate() {
            let few = 4.0 * (0.05f64 * 0.95 / all as f64).sqrt();
            let slack = if all >= SURVEYS.1 { 0.0 } else { few };
            assert!(share > 0.93 - slack && share < 0.97 + slack, "{name} {at}: {share}");
        }
    }
}

fn scenarios(surveys: usize) {
    let (two, three) = (krr(2, 0.731), krr(3, 0.576));
    let bits = Bits::new(3, WEIGHT_ONE / 2, (0.269 * WEIGHT_ONE as f64) as u64).unwrap();
    let bits: Policy = loose(Alphabet::names(names(3)).unwrap(), None, Shape::Bits(bits));
    let simple = |rows: usize, policies: [Option<&Policy>; 2], method: Method, name: &str| {
        let make =
            |dice: &mut Dice| (survey(&LAW, &[2, 3], &policies, rows, dice), Sample::simple(rows));
        holds(&run(&format!("{name}, n = {rows}"), surveys, method, &LAW, [2, 3], &make));
    };
    simple(300, [None, None], Method::Mle, "clear by clear");
    simple(600, [Some(&two), None], Method::Mle, "ε = 1 by clear");
    simple(600, [Some(&two), None], Method::Unbiased, "ε = 1 by clear, unbiased");
    simple(600, [None, Some(&bits)], Method::Mle, "clear by bits at ε = 1");
    simple(8000, [Some(&two), Some(&three)], Method::Mle, "ε = 1 by ε = 1");
    designed(surveys, &two);
    finite(surveys, &two);
    small(surveys, &two);
}

/// Groups of about eight people, some of whom stand for three: the intervals hold at least 93 % of the time.
fn small(surveys: usize, policy: &Policy) {
    let law = [1.0 / 12.0; 12];
    let rows = 48;
    let make = |dice: &mut Dice| {
        let columns = survey(&law, &[2, 6], &[Some(policy), None], rows, dice);
        let weights = (0..rows).map(|_| if unit(dice) < 0.3 { 3.0 } else { 1.0 }).collect();
        let design = SampleDesign { weights: Some(weights), ..Default::default() };
        (columns, Sample::new(rows, design).unwrap())
    };
    let found = run("groups of eight, weights", surveys, Method::Mle, &law, [2, 6], &make);
    for Coverage { name, hits } in &found[2..] {
        let shares: Vec<f64> = hits.iter().map(|&(held, all)| held as f64 / all as f64).collect();
        eprintln!("{name}: {shares:.3?}");
        assert!(shares.iter().all(|share| *share > 0.93), "{name}: {shares:?}");
    }
}

/// Two of five people of a small population are asked, none twice: answers are perturbed as ever, and who was drawn matters less.
fn finite(surveys: usize, policy: &Policy) {
    let (people, rows) = (1500, 600);
    let owned: Vec<usize> = (0..people)
        .map(|person| {
            let at = (person as f64 + 0.5) / people as f64;
            (0..6).find(|&cell| at < LAW[..=cell].iter().sum::<f64>()).unwrap_or(5)
        })
        .collect();
    let make = |dice: &mut Dice| {
        let mut builders = [2, 3].map(|size| EvidenceBuilder::new(names(size)).unwrap());
        let designs = [builders[0].design(policy).unwrap(), builders[1].clear()];
        for &person in shuffled(people, dice).iter().take(rows) {
            push(&mut builders[0], designs[0], Some(policy), owned[person] / 3, dice);
            push(&mut builders[1], designs[1], None, owned[person] % 3, dice);
        }
        let design = SampleDesign { population: Some(people as u64), ..Default::default() };
        let columns = builders.into_iter().map(|builder| builder.finish().unwrap()).collect();
        (columns, Sample::new(rows, design).unwrap())
    };
    let name = format!("ε = 1 by clear, {rows} of {people} people");
    holds(&run(&name, surveys, Method::Mle, &LAW, [2, 3], &make));
}

/// Two strata with different laws and weights, clusters of four people, raked to a known margin of the clear column.
fn designed(surveys: usize, policy: &Policy) {
    let laws = [[0.3, 0.2, 0.1, 0.1, 0.2, 0.1], [0.2, 0.1, 0.1, 0.1, 0.1, 0.4]];
    let make = |raked: bool| {
        move |dice: &mut Dice| {
            let mut builders = [2, 3].map(|size| EvidenceBuilder::new(names(size)).unwrap());
            let designs = [builders[0].design(policy).unwrap(), builders[1].clear()];
            let (mut weights, mut strata, mut clusters, mut groups) =
                (vec![], vec![], vec![], vec![]);
            // The first stratum is half of the population and a third of the sample.
            for cluster in 0..240u32 {
                let stratum = u32::from(cluster >= 80);
                let own = draw(&laws[stratum as usize], dice);
                for _ in 0..4 {
                    let alike = unit(dice) < 0.3;
                    let cell = if alike { own } else { draw(&laws[stratum as usize], dice) };
                    push(&mut builders[0], designs[0], Some(policy), cell / 3, dice);
                    push(&mut builders[1], designs[1], None, cell % 3, dice);
                    weights.push(if stratum == 0 { 2.0 } else { 1.0 });
                    strata.push(stratum);
                    clusters.push(cluster);
                    groups.push((cell % 3) as u32);
                }
            }
            let design = SampleDesign {
                weights: Some(weights),
                strata: Some(Factor::new(names(2), strata).unwrap()),
                clusters: Some(Factor::new(names(240), clusters).unwrap()),
                population: None,
            };
            let sample = Sample::new(960, design).unwrap();
            let margin = Margin {
                name: "b".into(),
                factor: Factor::new(names(3), groups).unwrap(),
                shares: vec![0.35, 0.3, 0.35],
            };
            let sample = if raked { sample.raked(vec![margin]).unwrap() } else { sample };
            (builders.into_iter().map(|builder| builder.finish().unwrap()).collect(), sample)
        }
    };
    let law: Vec<f64> = (0..6).map(|at| (laws[0][at] + laws[1][at]) / 2.0).collect();
    for (raked, name) in [(false, "strata, weights, clusters"), (true, "the same, raked")] {
        let name = format!("ε = 1 by clear, {name}, n = 960");
        let mut found = run(&name, surveys, Method::Mle, &law, [2, 3], &make(raked));
        if raked {
            // A raked margin is known, and its interval says so.
            found.remove(1);
        }
        holds(&found);
    }
}

#[test]
fn intervals_of_cross_tables_hold() {
    scenarios(SURVEYS.0);
}

#[test]
#[ignore = "the long run: 2,000 surveys of each kind"]
fn intervals_of_cross_tables_hold_in_many_surveys() {
    scenarios(SURVEYS.1);
}
