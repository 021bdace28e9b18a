//! Tallies of plans: any split is the same, what is read back is checked, and the estimates are right on average.

use proptest::prelude::*;
use rand_core::Rng;
use std::collections::BTreeMap;
use undertone_core::{
    Alphabet, ItemAnswer, Plan, Policy, ReportId, Response, Shape, Token, WEIGHT_ONE,
};
use undertone_estimate::plan::{item_estimator, items_together};
use undertone_estimate::{CrossAxis, Error, Method, PlanTally, QuestionEstimator, Settings};
use undertone_testkit::dice::Dice;
use undertone_testkit::plan::{PlannedItem, plan, tokens};
use undertone_testkit::policy::{bins, krr, loose, oue, table};

fn indices(size: usize) -> Alphabet {
    Alphabet::indices(size).unwrap()
}

/// A table with different rows, all positive.
fn uneven(inputs: usize, outputs: usize) -> Policy {
    let row = |x: usize| {
        let cell = |y: usize| {
            let own = if x == y { 5.0 } else { 0.0 };
            1.0 + own + ((3 * x + 5 * y) % 7) as f64
        };
        let row: Vec<f64> = (0..outputs).map(cell).collect();
        let sum: f64 = row.iter().sum();
        row.iter().map(|cell| cell / sum).collect()
    };
    let rows: Vec<Vec<f64>> = (0..inputs).map(row).collect();
    loose(indices(inputs), Some(indices(outputs)), table(&rows))
}

/// Three questions with 2, 3 and 2 answers.
fn questions() -> Vec<(&'static str, Alphabet)> {
    vec![("a", indices(2)), ("b", indices(3)), ("c", indices(2))]
}

/// Everybody answers c in bits; of the others two are drawn.
fn survey() -> Plan {
    let items = vec![
        PlannedItem::new(&[0], &krr(indices(2), None, "1")).drawn(),
        PlannedItem::new(&[0, 1], &uneven(6, 6)).drawn(),
        PlannedItem::new(&[1, 2], &krr(indices(6), None, "2")).drawn(),
        PlannedItem::new(&[2], &oue(2, None, "1")),
    ];
    plan(&questions(), items, 2)
}

/// A law of the three answers in which everything depends on everything.
fn law() -> Vec<([usize; 3], f64)> {
    let each = (0..12).map(|at| ([at / 6, at / 2 % 3, at % 2], 1.0 + ((at * at + 3) % 11) as f64));
    let all: Vec<([usize; 3], f64)> = each.collect();
    let sum: f64 = all.iter().map(|(_, weight)| weight).sum();
    all.into_iter().map(|(answers, weight)| (answers, weight / sum)).collect()
}

fn truth(question: usize, answer: usize) -> f64 {
    law().iter().filter(|(answers, _)| answers[question] == answer).map(|(_, p)| p).sum()
}

/// Everything one person who answers some items can send, with its probability.
fn sent(plan: &Plan, items: &[usize]) -> Vec<(Vec<ItemAnswer>, f64)> {
    let mut sums: Vec<(Vec<ItemAnswer>, f64)> = Vec::new();
    for (answers, share) in law() {
        let mut all = vec![(Vec::new(), share)];
        for &item in items {
            let drawn = tokens(plan, item, &answers);
            let longer = |(before, chance): (Vec<ItemAnswer>, f64)| -> Vec<_> {
                let next = drawn.iter().map(move |(token, more)| {
                    let answer = ItemAnswer { item: item as u32, token: token.clone() };
                    ([&before[..], &[answer]].concat(), chance * more)
                });
                next.collect()
            };
            all = all.into_iter().flat_map(longer).collect();
        }
        for (answers, chance) in all {
            match sums.iter_mut().find(|(known, _)| *known == answers) {
                Some((_, sum)) => *sum += chance,
                None => sums.push((answers, chance)),
            }
        }
    }
    sums
}

/// The tallies of all that some people can send together, with their probabilities.
fn enumerate(
    empty: &PlanTally,
    plan: &Plan,
    people: &[&[usize]],
    mut visit: impl FnMut(&PlanTally, f64),
) {
    let mut states = vec![(empty.clone(), 1.0)];
    for items in people {
        let sent = sent(plan, items);
        let next = states.iter().flat_map(|(tally, chance)| {
            sent.iter().map(move |(answers, more)| {
                let mut tally = tally.clone();
                tally.add_answers(plan, answers).unwrap();
                (tally, chance * more)
            })
        });
        states = next.collect();
    }
    states.iter().for_each(|(tally, chance)| visit(tally, *chance));
}

/// The mean of every unbiased share is the truth, whether a question is alone, combined or in several items.
#[track_caller]
fn right_on_average(plan: &Plan, people: &[&[usize]]) {
    let mut means: Vec<Vec<f64>> =
        plan.parts().questions.iter().map(|question| vec![0.0; question.answers.len()]).collect();
    enumerate(&PlanTally::new(plan), plan, people, |tally, chance| {
        for (question, means) in means.iter_mut().enumerate() {
            let asked = QuestionEstimator::new(plan, tally, question, Settings::default());
            let found = asked.unwrap().statistics();
            means.iter_mut().zip(found).for_each(|(mean, share)| *mean += chance * share);
        }
    });
    for (question, means) in means.iter().enumerate() {
        for (answer, mean) in means.iter().enumerate() {
            let truth = truth(question, answer);
            assert!((mean - truth).abs() < 1e-12, "question {question}, {answer}: {mean} {truth}");
        }
    }
}

#[test]
fn shares_of_every_question_are_right_on_average() {
    right_on_average(&survey(), &[&[0, 3], &[1], &[2, 3]]);
    // Some are asked twice, some skip.
    right_on_average(&survey(), &[&[0, 1, 3], &[2]]);
}

#[test]
fn kept_answers_are_estimated_through_both_channels() {
    let items = vec![
        PlannedItem::new(&[0], &krr(indices(2), None, "2")).then(&krr(indices(2), None, "1")),
        PlannedItem::new(&[1], &uneven(3, 4)).then(&uneven(4, 4)),
        PlannedItem::new(&[1, 2], &krr(indices(6), None, "3")).then(&krr(indices(6), None, "2")),
    ];
    let plan = plan(&questions(), items, 0);
    right_on_average(&plan, &[&[0, 1], &[2]]);
    // Two constant channels in a row are one: everything is answered, not the shares alone.
    let mut tally = PlanTally::new(&plan);
    let answer = |item: u32, token: u32| ItemAnswer { item, token: Token::Index(token) };
    for token in [0, 1, 1, 0, 1] {
        tally.add_answers(&plan, &[answer(0, token), answer(2, 3 * token)]).unwrap();
    }
    for question in [0, 2] {
        let asked = QuestionEstimator::new(&plan, &tally, question, Settings::default()).unwrap();
        let whole = asked.whole().unwrap();
        assert_eq!((whole.pool().reports(), asked.answered()), (5, 5));
        assert!(whole.summary().unwrap().headline.shares.symbols[1].high <= 1.0);
    }
}

#[test]
fn bits_drawn_from_a_kept_answer_are_refused_with_the_reason() {
    let memo = krr(indices(2), None, "2");
    let items = vec![PlannedItem::new(&[0], &memo).then(&oue(2, None, "1"))];
    let plan = plan(&[("a", indices(2))], items, 0);
    let mut tally = PlanTally::new(&plan);
    let token = Token::Bits(vec![0x80].into());
    tally.add_answers(&plan, &[ItemAnswer { item: 0, token }]).unwrap();
    let refused = QuestionEstimator::new(&plan, &tally, 0, Settings::default()).unwrap_err();
    assert!(refused.to_string().contains("use a table or keep policy as fresh"), "{refused}");
}

/// Randomised response of all pairs of four questions, one pair each: the counts of a question's answer over all items
/// are those of one channel, with the exact binomial interval.
#[test]
fn pairs_that_are_drawn_once_are_pooled_exactly() {
    let pair = krr(indices(4), None, "2");
    let pairs = [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]];
    let items = pairs.iter().map(|questions| PlannedItem::new(questions, &pair).drawn()).collect();
    let names = ["a", "b", "c", "d"].map(|name| (name, indices(2)));
    let plan = plan(&names, items, 1);
    let mut tally = PlanTally::new(&plan);
    let mut counts = [[0u64; 2]; 4];
    let mut dice = Dice::new(7);
    for _ in 0..600 {
        let (item, token) = ((dice.next_u64() % 6) as usize, (dice.next_u64() % 7).min(3) as u32);
        let answer = ItemAnswer { item: item as u32, token: Token::Index(token) };
        tally.add_answers(&plan, &[answer]).unwrap();
        counts[pairs[item][0] as usize][token as usize / 2] += 1;
        counts[pairs[item][1] as usize][token as usize % 2] += 1;
    }
    let Shape::Keep(kept) = pair.draft().shape() else { panic!("randomised response is kept") };
    let kept = kept.keep()[0] as f64 / undertone_core::KEEP_ONE as f64;
    for (question, counts) in counts.iter().enumerate() {
        let asked = QuestionEstimator::new(&plan, &tally, question, Settings::default()).unwrap();
        let reports = counts[0] + counts[1];
        assert_eq!((asked.answered(), asked.reports()), (reports, reports));
        assert_eq!(asked.items().len(), 3);
        let found = asked.whole().unwrap().summary().unwrap();
        let share = (counts[1] as f64 / reports as f64 - (1.0 - kept) / 2.0) / kept;
        assert!((asked.statistics()[1] - share).abs() < 1e-9);
        let one = found.unbiased.symbols[1];
        assert_eq!(one.method, undertone_estimate::IntervalMethod::ClopperPearson);
        assert!(one.covers(share.clamp(0.0, 1.0)));
    }
}

fn uniform(dice: &mut Dice) -> f64 {
    (dice.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// A question of numbers inside a combined symbol: its mean with its interval, and for these respondents alone.
#[test]
fn means_of_combined_numbers() {
    let ages = bins(&[0.0, 20.0, 60.0, 100.0]);
    let items = vec![
        PlannedItem::new(&[0, 1], &uneven(6, 6)).drawn(),
        PlannedItem::new(&[0, 1], &uneven(6, 7)).drawn(),
    ];
    let plan = plan(&[("sex", indices(2)), ("age", ages)], items, 1);
    let mut tally = PlanTally::new(&plan);
    let mut dice = Dice::new(3);
    for _ in 0..4000 {
        let answers = [0.5, 0.3, 0.6].map(|share| usize::from(uniform(&mut dice) < share));
        let item = usize::from(uniform(&mut dice) < 0.5);
        let (mut left, mut drawn) = (uniform(&mut dice), None);
        for (token, chance) in tokens(&plan, item, &[answers[0], answers[1] + answers[2]]) {
            left -= chance;
            drawn = drawn.or((left < 0.0).then_some(token));
        }
        let answer = ItemAnswer { item: item as u32, token: drawn.unwrap() };
        tally.add_answers(&plan, &[answer]).unwrap();
    }
    for settings in [Settings::default(), Settings::default().of_respondents()] {
        let asked = QuestionEstimator::new(&plan, &tally, 1, settings).unwrap();
        assert!(asked.whole().is_none());
        let (mean, shares) = (asked.mean().unwrap().estimate, asked.shares().unwrap());
        let sum: f64 =
            asked.statistics().iter().zip([10.0, 40.0, 80.0]).map(|(share, age)| share * age).sum();
        assert!((mean.value - sum.clamp(mean.low, mean.high)).abs() < 1e-9);
        assert!(mean.low < mean.value && mean.value < mean.high);
        assert!((shares.values().iter().sum::<f64>() - 1.0).abs() < 0.1);
        for share in &shares.symbols {
            let error = share.standard_error.unwrap();
            assert!(share.high - share.low < 2.0 * 2.0 * 1.96 * error, "{share:?}");
        }
        let both = asked.linear(&[1.0, 1.0, 1.0]).unwrap().estimate;
        assert!((both.value - 1.0).abs() < 1e-9);
    }
}

#[test]
fn a_question_nobody_answered_has_no_estimate() {
    let plan = survey();
    let mut tally = PlanTally::new(&plan);
    tally.add_answers(&plan, &[]).unwrap();
    assert_eq!(tally.responses(), 1);
    let asked = QuestionEstimator::new(&plan, &tally, 0, Settings::default());
    assert_eq!(asked.unwrap_err(), Error::NoReports);
    let asked = QuestionEstimator::new(&plan, &tally, 3, Settings::default());
    assert!(asked.unwrap_err().to_string().contains("there are 3 in the plan"));
}

/// What every cell of a combination counts, from its definition.
fn slow_cells(
    plan: &Plan,
    responses: &[Vec<ItemAnswer>],
    items: &[u32],
) -> BTreeMap<Vec<u32>, u64> {
    let mut cells = BTreeMap::new();
    for answers in responses {
        let events = |item: &u32| -> Option<Vec<u32>> {
            let answer = answers.iter().find(|answer| answer.item == *item)?;
            Some(match &answer.token {
                Token::Index(index) => vec![*index],
                Token::Bits(row) => {
                    let size = plan.reporting_policy(*item as usize).draft().inputs().len() as u32;
                    let set = |bit: &u32| row[*bit as usize / 8] & (0x80 >> (bit % 8)) != 0;
                    (0..size).filter(set).chain([size]).collect()
                }
            })
        };
        let all: Option<Vec<Vec<u32>>> = items.iter().map(events).collect();
        let Some(all) = all else { continue };
        let mut lists: Vec<Vec<u32>> = vec![Vec::new()];
        for events in &all {
            let longer = |list: &Vec<u32>| -> Vec<Vec<u32>> {
                events.iter().map(|&event| [&list[..], &[event]].concat()).collect()
            };
            lists = lists.iter().flat_map(longer).collect();
        }
        lists.into_iter().for_each(|list| *cells.entry(list).or_insert(0) += 1);
    }
    cells
}

/// A plan with a small and a large alphabet and two rows of bits; everybody answers what they like.
fn wide() -> Plan {
    let items = vec![
        PlannedItem::new(&[0], &krr(indices(3), None, "1")),
        PlannedItem::new(&[1], &krr(indices(2000), None, "3")),
        PlannedItem::new(&[2], &oue(11, None, "1")),
        PlannedItem::new(&[3], &oue(3, None, "1")),
        PlannedItem::new(&[4], &krr(indices(700), None, "3")),
    ];
    let names = [("a", 3), ("b", 2000), ("c", 11), ("d", 3), ("e", 700)];
    plan(&names.map(|(name, size)| (name, indices(size))), items, 0)
}

fn random_answers(plan: &Plan, dice: &mut Dice) -> Vec<ItemAnswer> {
    let mut answers = Vec::new();
    for item in 0..plan.parts().items.len() {
        if dice.next_u64().is_multiple_of(4) {
            continue;
        }
        let draft = plan.reporting_policy(item).draft();
        let size = draft.outputs().len();
        let token = match draft.shape() {
            Shape::Bits(_) => {
                let mut row = vec![0u8; size.div_ceil(8)];
                for bit in 0..size {
                    row[bit / 8] |=
                        u8::from(dice.next_u64().is_multiple_of(3)) * (0x80 >> (bit % 8));
                }
                Token::Bits(row.into())
            }
            _ => Token::Index((dice.next_u64() % 5 * 131 % size as u64) as u32),
        };
        answers.push(ItemAnswer { item: item as u32, token });
    }
    answers
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_split_of_the_responses_is_the_same_tally(
        seed in 0u64..1 << 32,
        people in 1usize..60,
        cuts in prop::collection::vec(0usize..60, 2),
        turn in 0usize..3,
    ) {
        let plan = wide();
        // Dense, sparse, of bits, of both; in any order and one twice.
        let wanted = [vec![1, 4], vec![0, 2], vec![2, 3], vec![0, 1, 4], vec![0, 2, 3], vec![1, 4]];
        let mut dice = Dice::new(seed);
        let responses: Vec<Vec<ItemAnswer>> =
            (0..people).map(|_| random_answers(&plan, &mut dice)).collect();
        let count = |some: &[Vec<ItemAnswer>]| {
            let mut tally = PlanTally::with_crosses(&plan, &wanted).unwrap();
            for answers in some {
                let response =
                    Response { plan: plan.id(), id: ReportId([7; 16]), answers: answers.clone() };
                tally.add(&plan, &response).unwrap();
            }
            tally
        };
        let whole = count(&responses);
        let mut ends: Vec<usize> = cuts.iter().map(|&cut| cut.min(people)).collect();
        ends.sort_unstable();
        let mut parts = [&responses[..ends[0]], &responses[ends[0]..ends[1]], &responses[ends[1]..]];
        parts.rotate_left(turn);
        let mut merged = count(parts[2]);
        merged.merge(&count(parts[0])).unwrap();
        merged.merge(&PlanTally::from_json(&count(parts[1]).to_json()).unwrap()).unwrap();
        prop_assert_eq!(&merged, &whole);
        prop_assert_eq!(PlanTally::from_json(&whole.to_json()).unwrap(), whole.clone());
        prop_assert_eq!(merged.to_json(), whole.to_json());
        whole.check(&plan).unwrap();
        prop_assert_eq!(whole.crosses().len(), 5);
        for cross in whole.crosses() {
            let slow = slow_cells(&plan, &responses, cross.items());
            let found: BTreeMap<Vec<u32>, u64> = cross.cells().collect();
            prop_assert_eq!(&found, &slow);
            for (events, count) in slow {
                prop_assert_eq!(cross.count(&events), count);
            }
        }
        for question in 0..5u32 {
            let with = |answers: &&Vec<ItemAnswer>| answers.iter().any(|one| one.item == question);
            let people = responses.iter().filter(with).count() as u64;
            prop_assert_eq!(whole.answered(question as usize), people);
        }
    }
}

/// The product of two items' inverses, applied to the cells, is the joint share of their questions: of bits and of a symbol.
#[test]
fn joint_shares_are_estimable_from_the_cells() {
    let (unary, plain) = (oue(3, None, "1"), krr(indices(2), None, "1"));
    let items = vec![
        PlannedItem::new(&[1], &unary),
        PlannedItem::new(&[2], &plain),
        PlannedItem::new(&[0], &plain),
    ];
    let plan = plan(&questions(), items, 0);
    let (Shape::Bits(bits), Shape::Keep(kept)) = (unary.draft().shape(), plain.draft().shape())
    else {
        panic!("bits and keep")
    };
    let share = |units: u64| units as f64 / WEIGHT_ONE as f64;
    let (own, other) = (share(bits.own()), share(bits.other()));
    let kept = kept.keep()[0] as f64 / undertone_core::KEEP_ONE as f64;
    // The score of an event: how much it speaks for a symbol.
    let of_bits = |symbol: u32, event: u32| match event {
        3 => -other / (own - other),
        event if event == symbol => 1.0 / (own - other),
        _ => 0.0,
    };
    let of_symbol = |symbol: u32, event: u32| {
        (f64::from(u8::from(event == symbol)) - (1.0 - kept) / 2.0) / kept
    };
    let empty = PlanTally::with_crosses(&plan, &[vec![0, 1], vec![0, 1, 2]]).unwrap();
    let mut pairs = BTreeMap::new();
    let mut triples = BTreeMap::new();
    enumerate(&empty, &plan, &[&[0, 1, 2], &[0, 1]], |tally, chance| {
        let cross = tally.cross(&[0, 1]).unwrap();
        assert_eq!(cross.axes(), [CrossAxis::Bits(3), CrossAxis::Outputs(2)]);
        assert_eq!((cross.reports(), cross.count(&[3, 0]) + cross.count(&[3, 1])), (2, 2));
        for (b, c) in (0..6).map(|at| (at / 2, at % 2)) {
            let value: f64 = cross
                .cells()
                .map(|(events, n)| n as f64 * of_bits(b, events[0]) * of_symbol(c, events[1]))
                .sum();
            *pairs.entry((b, c)).or_insert(0.0) += chance * value / cross.reports() as f64;
        }
        let cross = tally.cross(&[0, 1, 2]).unwrap();
        assert_eq!(cross.reports(), 1);
        for (events, n) in cross.cells() {
            for at in 0..12u32 {
                let (a, b, c) = (at / 6, at / 2 % 3, at % 2);
                let score =
                    of_bits(b, events[0]) * of_symbol(c, events[1]) * of_symbol(a, events[2]);
                *triples.entry((a, b, c)).or_insert(0.0) += chance * n as f64 * score;
            }
        }
    });
    for (answers, p) in law() {
        let [a, b, c] = answers.map(|answer| answer as u32);
        assert!((triples[&(a, b, c)] - p).abs() < 1e-9, "{answers:?}");
        let pair: f64 =
            law().iter().filter(|(other, _)| other[1..] == answers[1..]).map(|(_, p)| p).sum();
        assert!((pairs[&(b, c)] - pair).abs() < 1e-9, "{answers:?}");
    }
}

#[test]
fn combinations_that_cannot_be_kept_are_refused_by_name() {
    let (large, plain) = (oue(1200, None, "1"), krr(indices(2), None, "1"));
    let items = vec![
        PlannedItem::new(&[0], &large),
        PlannedItem::new(&[1], &large),
        PlannedItem::new(&[2], &plain).drawn(),
        PlannedItem::new(&[3], &plain).drawn(),
        PlannedItem::new(&[2, 3], &krr(indices(4), None, "1")).drawn(),
    ];
    let names = [("a", 1200), ("b", 1200), ("c", 2), ("d", 2)];
    let plan = plan(&names.map(|(name, size)| (name, indices(size))), items, 1);
    let refused =
        |items: Vec<u32>| PlanTally::with_crosses(&plan, &[items]).unwrap_err().to_string();
    assert!(
        refused(vec![0, 1]).contains("1442401 combinations of bits"),
        "{}",
        refused(vec![0, 1])
    );
    assert!(refused(vec![0, 9]).contains("item 9"));
    assert!(refused(vec![1, 0]).contains("different items in the order of the plan"));
    assert!(refused(vec![1]).contains("two or three"));
    assert!(PlanTally::with_crosses(&plan, &[vec![0, 2]]).is_ok());
    assert_eq!(items_together(&plan, &[0, 2]).unwrap(), [vec![0, 2], vec![0, 4]]);
    // One item has both; two drawn ones are never answered together.
    assert_eq!(items_together(&plan, &[2, 3]).unwrap(), Vec::<Vec<u32>>::new());
    assert_eq!(items_together(&plan, &[0, 2, 3]).unwrap(), [vec![0, 4]]);
    assert!(items_together(&plan, &[2, 2]).is_err() && items_together(&plan, &[7, 1]).is_err());
    let apart = plan_of_two();
    let never = items_together(&apart, &[0, 1]).unwrap_err().to_string();
    assert!(never.contains("nobody answers a, b together"), "{never}");
}

fn plan_of_two() -> Plan {
    let plain = krr(indices(2), None, "1");
    let items =
        vec![PlannedItem::new(&[0], &plain).drawn(), PlannedItem::new(&[1], &plain).drawn()];
    plan(&[("a", indices(2)), ("b", indices(2))], items, 1)
}

#[test]
fn a_refused_response_changes_nothing() {
    let plan = survey();
    let mut tally = PlanTally::with_crosses(&plan, &[vec![0, 3]]).unwrap();
    let answer = |item: u32, token: u32| ItemAnswer { item, token: Token::Index(token) };
    let bits = |byte: u8| ItemAnswer { item: 3, token: Token::Bits(vec![byte].into()) };
    tally.add_answers(&plan, &[answer(0, 1), bits(0x40)]).unwrap();
    let before = tally.clone();
    let mut refused = |answers: &[ItemAnswer], said: &str| {
        let error = tally.add_answers(&plan, answers).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
        let response =
            Response { plan: plan.id(), id: ReportId([0; 16]), answers: answers.to_vec() };
        assert!(matches!(tally.add(&plan, &response), Err(Error::Response { .. })));
        assert_eq!(tally, before);
    };
    refused(&[answer(0, 1), answer(0, 1)], "answered twice or out of order");
    refused(&[answer(1, 1), answer(0, 1)], "answered twice or out of order");
    refused(&[answer(0, 1), answer(4, 1)], "item 4");
    refused(&[answer(0, 1), answer(1, 6)], "not an output");
    refused(&[answer(0, 1), bits(0x41)], "not an output");
    refused(&[answer(0, 1), answer(3, 1)], "row of bits");
    refused(&[answer(0, 1), answer(1, 1), answer(2, 1)], "3 of the drawn items, of which 2");
    let other = plan_of_two();
    let response = Response { plan: other.id(), id: ReportId([0; 16]), answers: Vec::new() };
    assert!(tally.add(&plan, &response).is_err());
    assert!(matches!(tally.add_answers(&other, &[]), Err(Error::Plan { .. })));
    assert!(matches!(tally.merge(&PlanTally::new(&other)), Err(Error::Plan { .. })));
    assert!(
        tally.merge(&PlanTally::new(&plan)).unwrap_err().to_string().contains("the same pairs")
    );
    let others = PlanTally::with_crosses(&plan, &[vec![1, 3]]).unwrap();
    assert!(tally.merge(&others).unwrap_err().to_string().contains("the same pairs"));
    assert_eq!(tally, before);
}

#[test]
fn stored_tallies_are_checked() {
    let plan = survey();
    let mut tally = PlanTally::with_crosses(&plan, &[vec![0, 3]]).unwrap();
    let bits = |byte: u8| ItemAnswer { item: 3, token: Token::Bits(vec![byte].into()) };
    let answer = |item: u32, token: u32| ItemAnswer { item, token: Token::Index(token) };
    tally.add_answers(&plan, &[answer(0, 1), bits(0x40)]).unwrap();
    tally.add_answers(&plan, &[answer(1, 5), bits(0xc0)]).unwrap();
    let text = tally.to_json();
    assert!(text.contains(r#""crosses":[{"items":[0,3],"reports":1,"cells":[[1,1,1],[1,2,1]]}]"#));
    let broken = |from: &str, to: &str, said: &str| {
        assert!(text.contains(from), "{from} in {text}");
        let error = PlanTally::from_json(&text.replacen(from, to, 1)).unwrap_err().to_string();
        assert!(error.contains(said), "{from} to {to}: {error}");
    };
    broken("plan-tally/1", "plan-tally/2", "version");
    broken(r#""responses":2"#, r#""responses":1"#, "there are 1 responses");
    broken(r#""responses":2"#, r#""responses":2,"responses":2"#, "duplicate field");
    broken(r#""responses":2"#, r#""responses":2.0"#, "floating point");
    broken(r#""responses":2"#, r#""people":2"#, "unknown field");
    broken(r#""answered":[2,"#, r#""answered":[3,"#, "a count of 3");
    broken("[1,1,1]", "[1,1,2]", "not a count of 1 responses");
    broken("[1,1,1]", "[1,1,0]", "not a count of 1 responses");
    broken("[1,1,1]", "[2,1,1]", "not one event for every item");
    broken("[1,1,1],", "[1,2,1],", "not in increasing order");
    broken("[1,1,1],", "[0,1,1],", "a larger count than cell [0, 2]");
    broken("[1,1,1],[1,2,1]", "[1,1,1]", "a larger count");
    broken("[1,1,1],[1,2,1]", "", "not those of 1 responses");
    broken("[1,1,1],[1,2,1]", "[0,2,1]", "more reports than item 0 has");
    broken(r#""items":[0,3]"#, r#""items":[0,9]"#, "an item that the tally does not have");
    broken(r#""items":[0,3]"#, r#""items":[3,0]"#, "in the order of the plan");
    // What only the plan can tell.
    let other = text.replacen(r#""answered":[2,1,2]"#, r#""answered":[1,1,1]"#, 1);
    assert_ne!(other, text);
    let read = PlanTally::from_json(&other).unwrap();
    let error = read.check(&plan).unwrap_err().to_string();
    assert!(error.contains(r#"question "c" was answered by 1 people"#), "{error}");
    assert!(read.check(&plan_of_two()).is_err());
}

/// Counts in proportion to what a population sends give back the joint law of a combined item, the first question's answer being the
/// most significant digit.
#[test]
fn a_combined_item_tells_its_combinations() {
    let plan = survey();
    let mut tally = PlanTally::new(&plan);
    let people = 20_000.0;
    for (answers, chance) in sent(&plan, &[1]) {
        for _ in 0..(people * chance).round() as usize {
            tally.add_answers(&plan, &answers).unwrap();
        }
    }
    let estimator = item_estimator(&plan, &tally, 1, Settings::default()).unwrap();
    let shares = estimator.shares(Method::Unbiased).unwrap();
    assert_eq!(shares.symbols.len(), 6);
    for (number, share) in shares.symbols.iter().enumerate() {
        let (a, b) = (number / 3, number % 3);
        let of = |answers: &[usize; 3]| answers[0] == a && answers[1] == b;
        let truth: f64 = law().iter().filter(|(answers, _)| of(answers)).map(|(_, p)| p).sum();
        assert!((share.value - truth).abs() < 2e-3, "{a} and {b}: {} for {truth}", share.value);
    }
    // Nobody answered the other combined item, and there is no fifth.
    assert!(item_estimator(&plan, &tally, 2, Settings::default()).is_err());
    assert!(item_estimator(&plan, &tally, 4, Settings::default()).is_err());
}
