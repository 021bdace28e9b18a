//! Laws, channels and processes are matched by symbol: turning the second argument changes nothing, other symbols
//! are refused, and so are unnamed ones beside named ones.

use undertone_design::extremal::LiftRange;
use undertone_design::prior_region::PriorBall;
use undertone_design::{Channel, Distribution, Error};
use undertone_testkit::dice::Dice;
use undertone_testkit::law::dyadic;
use undertone_testkit::listing::{Listed, SIZE, matched, rows};
use undertone_theory::composition;
use undertone_theory::relation::{Notion, Setting, relate};
use undertone_theory::sequence::{self, Process};
use undertone_theory::transfer::{self, LeakageOver};

#[test]
fn laws_are_transferred_by_symbol() {
    let mut dice = Dice::new(23);
    for _ in 0..20 {
        let (p, r, s) = (dyadic(SIZE, &mut dice), dyadic(SIZE, &mut dice), dyadic(SIZE, &mut dice));
        let from = Listed::Plain.law(&p);
        let range = LiftRange::asymmetric(0.7, 1.1).unwrap();
        let mut check = |what: &str, of: &dyn Fn(&Distribution) -> Result<f64, Error>| {
            matched(&mut dice, what, |listed| of(&listed.law(&r)));
        };
        check("eta", &|to| transfer::eta(&from, to));
        check("log ratio", &|to| transfer::log_ratio(&from, to));
        check("smallest term", &|to| Ok(transfer::smallest_term(&from, to, 1.0)?.threshold));
        matched(&mut dice, "transfer", |listed| transfer::transfer(&from, &listed.law(&r), range));
        let two = [from.clone(), Listed::Plain.law(&s)];
        matched(&mut dice, "family", |listed| transfer::family(&two, &listed.law(&r), range));
        let set = |listed: Listed| [from.clone(), listed.law(&r)];
        let truth = Listed::Turned([1, 2, 3, 0]).law(&s);
        matched(&mut dice, "set", |listed| transfer::family(&set(listed), &truth, range));
        let twice = [range, range];
        matched(&mut dice, "set composed", |listed| composition::family(&set(listed), &twice));
        for (premise, to) in [("bplip:1", Notion::Ldp), ("ldp:1", Notion::Bplip)] {
            let answer = |listed: Listed| {
                let setting = Setting { priors: set(listed).to_vec(), ..Setting::default() };
                relate(&premise.parse().unwrap(), to, &setting)
            };
            matched(&mut dice, premise, answer);
        }
    }
}

#[test]
fn releases_and_regions_are_matched_with_their_channels() {
    let mut dice = Dice::new(24);
    for _ in 0..20 {
        let (p, q, r) = (dyadic(SIZE, &mut dice), rows(&mut dice, 3), rows(&mut dice, 2));
        let prior = Listed::Plain.law(&p);
        let first = Listed::Plain.channel(&r);
        matched(&mut dice, "given", |listed| {
            composition::given(&prior, &[first.clone(), listed.channel(&q)])
        });
        let ball = PriorBall::new(prior.clone(), 0.1).unwrap();
        matched(&mut dice, "ball", |listed| ball.leakage(&listed.channel(&q)));
        let within = Listed::Plain.within(&p);
        matched(&mut dice, "box", |listed| within.leakage(&listed.channel(&q)));
    }
}

#[test]
fn sequences_are_matched_step_by_step() {
    let mut dice = Dice::new(25);
    for _ in 0..10 {
        let (p, t) = (dyadic(SIZE, &mut dice), rows(&mut dice, SIZE));
        let (q, r) = (rows(&mut dice, 3), rows(&mut dice, 2));
        let prior = Listed::Plain.law(&p);
        let transition = |listed: Listed, named: bool| {
            let rows: Vec<Vec<f64>> = listed.pick(&t).iter().map(|row| listed.pick(row)).collect();
            let step = Channel::new(rows).unwrap().of_inputs(&listed.symbols()).unwrap();
            if named { step.of_outputs(&listed.symbols()).unwrap() } else { step }
        };
        let releases = [Listed::Plain.channel(&q), Listed::Plain.channel(&r)];
        for named in [true, false] {
            matched(&mut dice, "chain", |listed| {
                let chain = Process::markov(prior.clone(), &transition(listed, named), 2)?;
                sequence::exact_leakage(&chain, &releases)
            });
        }
        let bare = Channel::new(t.clone()).unwrap();
        let chain = Process::markov(prior.clone(), &bare, 2).unwrap();
        let expected = sequence::exact_leakage(&chain, &releases).unwrap();
        let own = Process::markov(prior.clone(), &transition(Listed::Plain, true), 2).unwrap();
        assert_eq!(sequence::exact_leakage(&own, &releases).unwrap(), expected);
        let constant = Process::constant(&prior, 2).unwrap();
        for process in [&chain, &constant] {
            let with =
                |listed: Listed| [listed.channel(&q), Listed::Turned([1, 2, 3, 0]).channel(&r)];
            matched(&mut dice, "exact", |listed| sequence::exact_leakage(process, &with(listed)));
            matched(&mut dice, "bound", |listed| sequence::leakage_bound(process, &with(listed)));
            matched(&mut dice, "seen", |listed| {
                sequence::posterior(process, &with(listed), &[1, 0])
            });
        }
    }
}
