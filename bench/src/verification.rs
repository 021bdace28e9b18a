//! How long the exact check takes.

use crate::clock::{busy, least, repetitions};
use crate::policies::{self, MILLION, draft, epsilon};
use std::hint::black_box;
use undertone_core::{Claim, Context, Delta, Draft, MASS_ONE, PriorBox, Secret, Shape, WEIGHT_ONE};

/// Prints every measurement.
pub fn report() {
    println!("{:<54}{:>8}{:>10}", "verification", "ms", "aim");
    let half = Delta::from_units(MASS_ONE / 2).expect("below one");
    let rows = policies::mild_rows(1000, 1000);
    let channel = || policies::table(&rows);
    let known = || Context::Known(policies::prior(1000));
    let ldp = |level| Claim::ldp(epsilon(level));
    let lip = |level| Claim::lip(epsilon(level));

    let pure = draft(channel(), known(), vec![ldp("20"), lip("20")]);
    time("table 1000 x 1000, lip and ldp", pure, Some(50.0), 9);
    let sums = draft(channel(), known(), vec![lip("0.2").with_delta(half)]);
    time("table 1000 x 1000, (epsilon, delta)-lip", sums, None, 9);
    let pairs = draft(channel(), Context::Unknown, vec![ldp("0.2").with_delta(half)]);
    time("table 1000 x 1000, (epsilon, delta)-ldp, all pairs", pairs, Some(3000.0), 3);
    time(
        "table 1000 x 1000, lip in a box",
        draft(channel(), prior_box(1000), vec![lip("20")]),
        None,
        3,
    );
    time(
        "table 1000 x 1000, lip of a secret of 10",
        draft(channel(), secret(1000), vec![lip("20").about_secret()]),
        None,
        3,
    );

    let keep = policies::keep(100_000, 0.5);
    let shape = || Shape::Keep(keep.clone());
    let known = || Context::Known(policies::prior(100_000));
    let nearly_one = Delta::from_units(MASS_ONE - 1).expect("below one");
    let loose = |claim: Claim| vec![claim.with_delta(nearly_one)];
    time(
        "keep 100000, pure ldp and lip",
        draft(shape(), known(), vec![ldp("22"), lip("22")]),
        None,
        9,
    );
    let sums = draft(shape(), known(), loose(lip("0.5")));
    time("keep 100000, (epsilon, delta)-lip", sums, None, 9);
    let pairs = draft(shape(), Context::Unknown, loose(ldp("0.5")));
    time("keep 100000, (epsilon, delta)-ldp, all pairs", pairs, None, 9);
    let boxed = draft(shape(), prior_box(100_000), loose(lip("0.5")));
    time("keep 100000, (epsilon, delta)-lip in a box", boxed, None, 3);
    blocks();
}

/// Blocks on a million symbols, without a prior and with one.
fn blocks() {
    let mut families = policies::numbered(MILLION);
    families.push(("subsets", policies::subsets(MILLION)));
    for (name, family) in families {
        let shape = || Shape::Incidence(policies::blocks(MILLION, family.clone()));
        // The level itself is missed by a unit of the coin and by what an index of 8 bytes leaves uneven.
        let ldp = || Claim::ldp(epsilon("1.000001"));
        let anybody = draft(shape(), Context::Unknown, vec![ldp()]);
        brief(&format!("{name}, 10^6 symbols, ldp"), &anybody, 1000.0);
        let lip = Claim::lip(epsilon("1"));
        let known = draft(shape(), Context::Known(policies::zipf(MILLION)), vec![ldp(), lip]);
        time(&format!("{name}, 10^6 symbols, ldp and lip, Zipf"), known, Some(1000.0), 9);
    }
}

/// A box of a tenth around a random prior.
fn prior_box(size: usize) -> Context {
    let prior = policies::prior(size);
    let lower = prior.weights().iter().map(|w| w - w / 10).collect();
    let upper = prior.weights().iter().map(|w| w + w / 10).collect();
    Context::Within(PriorBox::new(lower, upper).expect("a box"))
}

/// A secret of ten values with random conditionals.
fn secret(size: usize) -> Context {
    let mut rng = policies::generator(8);
    let mut random = |size| {
        let weights = policies::rounded(&policies::dirichlet(size, &mut rng), WEIGHT_ONE);
        undertone_core::Prior::new(weights).expect("a prior")
    };
    let of = random(10);
    let rows = (0..10).map(|_| random(size)).collect();
    Context::Secret(Secret::new("s".into(), of, rows).expect("a secret"))
}

/// As [`time`], for what takes less than a time slice: the least of the seconds that pass.
fn brief(name: &str, draft: &Draft, aim: f64) {
    let times = repetitions(101);
    let mut drafts: Vec<Draft> = vec![draft.clone(); times + 1];
    let mut check = || {
        let verdict = drafts.pop().expect("one for each run").verify();
        black_box(verdict.unwrap_or_else(|refusal| panic!("{name}: {refusal}")));
    };
    let seconds = least(times, &mut [&mut check])[0];
    println!("{name:<54}{:>8.3}{:>10}", seconds * 1e3, format!("<= {aim}"));
}

fn time(name: &str, draft: Draft, aim: Option<f64>, measured: usize) {
    let times = repetitions(measured);
    let mut drafts: Vec<Draft> = vec![draft; times];
    let seconds = busy(times, || {
        let verdict = drafts.pop().expect("one for each run").verify();
        black_box(verdict.unwrap_or_else(|refusal| panic!("{name}: {refusal}")));
    });
    let aim = aim.map_or(String::new(), |aim| format!("<= {aim}"));
    println!("{:<54}{:>8.1}{:>10}", name, seconds * 1e3, aim);
}
