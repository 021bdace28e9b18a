use rand_chacha::ChaCha12Rng;
use rand_core::{Rng, SeedableRng};
use undertone_core::{
    Alphabet, Bits, Claim, Context, Draft, Epsilon, KEEP_ONE, Keep, MASS_ONE, Policy, Provenance,
    Sampler, Shape, Symbol, WEIGHT_ONE,
};

use super::channel::Drawn;
use super::draws::{Draws, NotDrawn};
use super::*;

fn policy(shape: Shape, inputs: Alphabet) -> Policy {
    let claims = vec![Claim::ldp(Epsilon::parse("5").unwrap())];
    let context = Context::Unknown;
    let draft = Draft::new(inputs, None, shape, context, claims, Provenance::default()).unwrap();
    draft.verify().unwrap()
}

fn names(list: &[&str]) -> Alphabet {
    Alphabet::names(list.iter().copied()).unwrap()
}

/// Keeps every answer with probability a half, and draws any otherwise.
fn keep(inputs: Alphabet) -> Policy {
    let size = inputs.len() as u64;
    let mut base = vec![MASS_ONE / size; inputs.len()];
    base[0] += MASS_ONE % size;
    policy(Shape::Keep(Keep::new(vec![KEEP_ONE / 2; base.len()], base).unwrap()), inputs)
}

fn colours() -> Policy {
    keep(names(&["a", "b", "other"]))
}

fn seeded(seed: u64) -> ChaCha12Rng {
    ChaCha12Rng::seed_from_u64(seed)
}

/// A frame with these questions, and one item for each policy with the places of its questions.
fn frame(
    questions: &[&Alphabet],
    items: Vec<(Vec<usize>, Policy)>,
    unknown: UnknownValues,
) -> Frame {
    let asked = questions.iter().zip(0..).map(|(inputs, at)| {
        AskedColumn::new(format!("q{at}"), format!("q{at}"), (*inputs).clone())
    });
    let asked: Vec<AskedColumn> = asked.collect();
    let channels = items.into_iter().map(|(places, policy)| {
        let sizes = places.iter().map(|&at| asked[at].size()).collect();
        let released = Released::new(policy.draft()).unwrap();
        Channel::new("item".into(), places, sizes, policy, None, released)
    });
    let channels = channels.collect();
    Frame { asked, channels, choose: None, keep: vec![], unknown, threads: None, least_group: 1 }
}

fn single(policy: Policy, unknown: UnknownValues) -> Frame {
    let inputs = policy.draft().inputs().clone();
    frame(&[&inputs], vec![(vec![0], policy)], unknown)
}

fn drawn(draws: &mut Draws<'_>, columns: &[Vec<Code>]) -> Result<Counts, BadCell> {
    draws.clear();
    draws.codes.clone_from_slice(columns);
    draws.draw().map_err(|trouble| match trouble {
        NotDrawn::Cell(bad) => bad,
        NotDrawn::Fault(error) => panic!("{error}"),
    })
}

fn indices(drawn: &Drawn) -> &[u32] {
    match drawn {
        Drawn::Indices(indices) => indices,
        Drawn::Bits { .. } => panic!("bits"),
    }
}

#[test]
fn every_row_gets_the_policys_own_draw() {
    let policy = colours();
    let frame = single(policy.clone(), UnknownValues::Refuse);
    let codes: Vec<Code> = (0..10_000).map(|at| Code::Symbol(at % 3)).collect();
    let mut draws = frame.draws_from(seeded(5));
    let counts = drawn(&mut draws, &[codes]).unwrap();
    let inputs = policy.draft().inputs();
    let symbols: Vec<Symbol> = (0..10_000).map(|at| inputs.symbol(at % 3).unwrap()).collect();
    let mut expected = vec![0; symbols.len()];
    Sampler::new(&policy).draw_indices(&symbols, &mut seeded(5), &mut expected).unwrap();
    assert_eq!(indices(&draws.drawn[0]), expected);
    assert_eq!(
        (counts.rows, counts.released, &counts.answered[..]),
        (10_000, 10_000, &[10_000][..])
    );
}

#[test]
fn bits_are_drawn_packed() {
    let own = Shape::Bits(Bits::new(3, WEIGHT_ONE / 2, WEIGHT_ONE / 8).unwrap());
    let policy = policy(own, names(&["a", "b", "c"]));
    let frame = single(policy.clone(), UnknownValues::Refuse);
    let mut draws = frame.draws_from(seeded(9));
    drawn(&mut draws, &[vec![Code::Symbol(2); 100]]).unwrap();
    let symbols = vec![policy.draft().inputs().symbol(2).unwrap(); 100];
    let mut packed = vec![0; 100];
    Sampler::new(&policy).draw_bits(&symbols, &mut seeded(9), &mut packed).unwrap();
    assert_eq!(draws.drawn[0], Drawn::Bits { packed, width: 1 });
}

/// Several items: each draws in turn, a combination as one symbol whose first question counts most, a second randomisation
/// from what the first drew.
#[test]
fn items_draw_in_turn_and_combinations_as_one_symbol() {
    let (two, three) = (names(&["no", "yes"]), names(&["a", "b", "c"]));
    let (single, both) = (keep(three.clone()), keep(Alphabet::indices(6).unwrap()));
    let items = vec![(vec![1], single.clone()), (vec![0, 1], both.clone())];
    let mut frame = frame(&[&two, &three], items, UnknownValues::Refuse);
    let again = keep(three.clone());
    let released = Released::new(again.draft()).unwrap();
    let (first, sizes) = (single.clone(), vec![3]);
    frame.channels.push(Channel::new(
        "c".into(),
        vec![1],
        sizes,
        first,
        Some(again.clone()),
        released,
    ));
    let rows = 500;
    let columns: Vec<Vec<Code>> = vec![
        (0..rows).map(|at| Code::Symbol(at % 2)).collect(),
        (0..rows).map(|at| Code::Symbol(at / 2 % 3)).collect(),
    ];
    let mut draws = frame.draws_from(seeded(1));
    let counts = drawn(&mut draws, &columns).unwrap();
    assert_eq!(counts.answered, [500; 3]);
    let mut rng = seeded(1);
    let mut expect = |policy: &Policy, inputs: Vec<u32>| {
        let alphabet = policy.draft().inputs();
        let symbols: Vec<Symbol> =
            inputs.iter().map(|&x| alphabet.symbol(x as usize).unwrap()).collect();
        let mut out = vec![0; symbols.len()];
        Sampler::new(policy).draw_indices(&symbols, &mut rng, &mut out).unwrap();
        out
    };
    let of = |at: u32| at / 2 % 3;
    assert_eq!(indices(&draws.drawn[0]), expect(&single, (0..rows).map(of).collect()));
    let pairs = (0..rows).map(|at| 3 * (at % 2) + of(at)).collect();
    assert_eq!(indices(&draws.drawn[1]), expect(&both, pairs));
    let memo = expect(&single, (0..rows).map(of).collect());
    assert_eq!(indices(&draws.drawn[2]), expect(&again, memo));
}

/// Rows answer what is chosen for them, and only those are drawn.
#[test]
fn rows_answer_what_is_chosen_and_the_choice_sees_no_value() {
    let policy = colours();
    let inputs = policy.draft().inputs().clone();
    let items = (0..3).map(|at| (vec![at], policy.clone())).collect();
    let mut frame = frame(&[&inputs; 3], items, UnknownValues::Skip);
    frame.choose = Some(Box::new(|rng, row| row[(rng.next_u32() % 3) as usize] = true));
    let column = |symbol: u32| vec![Code::Symbol(symbol); 300];
    let choices = |symbol: u32| {
        let mut draws = frame.draws_from(seeded(4));
        let counts = drawn(&mut draws, &[column(symbol), column(0), column(1)]).unwrap();
        assert_eq!(counts.answered.iter().sum::<u64>(), 300);
        for (item, count) in counts.answered.iter().enumerate() {
            assert_eq!(indices(&draws.drawn[item]).len() as u64, *count);
            assert_eq!((0..300).filter(|&row| draws.answers(row, item)).count() as u64, *count);
        }
        (0..900).map(|at| draws.answers(at / 3, at % 3)).collect::<Vec<bool>>()
    };
    assert_eq!(choices(0), choices(2));
}

#[test]
fn codes_without_a_symbol_are_refused_left_out_or_taken_as_other() {
    let codes =
        [Code::Symbol(1), Code::Missing, Code::Unknown, Code::Below, Code::Above, Code::Unknown];
    let run = |unknown| {
        let frame = single(colours(), unknown);
        let mut draws = frame.draws_from(seeded(1));
        let counts = drawn(&mut draws, &[codes.to_vec()])?;
        Ok((indices(&draws.drawn[0]).len(), counts))
    };
    let bad = BadCell { at: 1, column: 0, code: Code::Missing };
    assert_eq!(run(UnknownValues::Refuse), Err(bad));
    let (count, counts) = run(UnknownValues::Skip).unwrap();
    assert_eq!((count, counts.rows, counts.released), (3, 6, 3));
    let cells = counts.columns[0];
    assert_eq!((cells.missing, cells.unknown, cells.below, cells.above), (1, 2, 1, 1));
    let (count, counts) = run(UnknownValues::AsOther).unwrap();
    assert_eq!((count, counts.released), (6, 6));
    // A question without that symbol takes nothing for it.
    let pair = names(&["a", "b"]);
    let frame = single(keep(pair), UnknownValues::AsOther);
    assert_eq!(drawn(&mut frame.draws_from(seeded(1)), &[codes.to_vec()]), Err(bad));
}

/// A row is left out whole, and the first bad row of any column is named.
#[test]
fn a_row_is_left_out_whole() {
    let policy = colours();
    let inputs = policy.draft().inputs().clone();
    let columns = [
        vec![Code::Symbol(0), Code::Symbol(1), Code::Symbol(2), Code::Missing],
        vec![Code::Symbol(0), Code::Unknown, Code::Symbol(1), Code::Symbol(1)],
    ];
    let items = || vec![(vec![0], policy.clone()), (vec![1], policy.clone())];
    let skipping = frame(&[&inputs; 2], items(), UnknownValues::Skip);
    let mut draws = skipping.draws_from(seeded(3));
    let counts = drawn(&mut draws, &columns).unwrap();
    assert_eq!((counts.rows, counts.released, &counts.answered[..]), (4, 2, &[2, 2][..]));
    assert_eq!(draws.indices, [[0, 2], [0, 1]]);
    assert_eq!([0, 1, 2, 3].map(|row| draws.stays(row)), [true, false, true, false]);
    // The next block begins anew.
    let whole = [vec![Code::Symbol(1)], vec![Code::Symbol(1)]];
    assert_eq!(drawn(&mut draws, &whole).unwrap().released, 1);
    assert!(draws.stays(0) && !draws.drops_rows());
    let strict = frame(&[&inputs; 2], items(), UnknownValues::Refuse);
    let bad = BadCell { at: 1, column: 1, code: Code::Unknown };
    assert_eq!(drawn(&mut strict.draws_from(seeded(3)), &columns), Err(bad));
}

/// Counting in pieces is counting at once.
#[test]
fn counts_and_order_add_up_whatever_the_pieces() {
    let mut rng = seeded(3);
    for sorted in [true, false] {
        let mut symbols: Vec<u32> = (0..400).map(|_| rng.next_u32() % 3).collect();
        if sorted {
            symbols.sort_unstable_by(|a, b| b.cmp(a));
        }
        let mut codes: Vec<Code> = symbols.into_iter().map(Code::Symbol).collect();
        codes.insert(200, Code::Missing);
        let frame = single(colours(), UnknownValues::Skip);
        let whole = drawn(&mut frame.draws_from(seeded(0)), &[codes.clone()]).unwrap();
        assert_eq!(frame.asked[0].grouped(&whole.columns[0], whole.released), sorted);
        for size in [1, 7, 150] {
            let mut sum = Counts::default();
            for piece in codes.chunks(size) {
                sum.then(&drawn(&mut frame.draws_from(seeded(0)), &[piece.to_vec()]).unwrap());
            }
            assert_eq!(sum, whole);
        }
    }
}

#[test]
fn combinations_can_be_taken_apart_again() {
    let alphabets = [names(&["yes", "no × maybe"]), names(&["a\\", "b", "×"])];
    let released = Released::combined(&[&alphabets[0], &alphabets[1]]).unwrap();
    let Released::Combined(parts) = &released else { panic!() };
    let mut texts = std::collections::BTreeSet::new();
    for index in 0..6 {
        let mut text = Vec::new();
        released::push_combination(parts, index, &mut text);
        let text = String::from_utf8(text).unwrap();
        // A reader: signs between blanks and without a backslash before them stand between answers.
        let mut found = vec![String::new()];
        let mut characters = text.chars();
        while let Some(one) = characters.next() {
            match one {
                '\\' => found.last_mut().unwrap().extend(characters.next()),
                '×' => found.push(String::new()),
                other => found.last_mut().unwrap().push(other),
            }
        }
        let found: Vec<&str> = found.iter().map(|text| text.trim()).collect();
        let expected =
            [alphabets[0].label(index as usize / 3), alphabets[1].label(index as usize % 3)];
        assert_eq!(found, expected, "{text}");
        texts.insert(text);
    }
    assert_eq!(texts.len(), 6);
}

#[test]
fn outputs_of_several_policies_stand_in_one_column_each_once() {
    let texts = |list: &[&str]| Released::Texts(list.iter().map(ToString::to_string).collect());
    let (a, b) = (texts(&["no", "yes"]), texts(&["yes", "perhaps", "no"]));
    let (all, places) = Released::together(&[&a, &b]);
    assert_eq!(all, texts(&["no", "yes", "perhaps"]));
    assert_eq!(places, [vec![0, 1], vec![1, 2, 0]]);
    assert_eq!(Released::together(&[&b, &b]), (b.clone(), vec![vec![0, 1, 2]; 2]));
    let (whole, float) = (
        Released::Integers(vec![1, 3]),
        Released::Floats { values: vec![0.5, 3.0], texts: vec!["0.5".into(), "3".into()] },
    );
    let (all, places) = Released::together(&[&whole, &Released::Integers(vec![3, -2])]);
    assert_eq!((all, places), (Released::Integers(vec![1, 3, -2]), vec![vec![0, 1], vec![1, 2]]));
    let (all, places) = Released::together(&[&whole, &float]);
    let texts = vec!["1".to_owned(), "3".into(), "0.5".into()];
    assert_eq!(all, Released::Floats { values: vec![1.0, 3.0, 0.5], texts });
    assert_eq!(places, [vec![0, 1], vec![2, 1]]);
    let (all, _) = Released::together(&[&Released::Digits, &Released::Digits]);
    assert_eq!(all, Released::Digits);
}

/// Group 0 always says `a`; group 1 keeps half of the answers and draws the others, its symbols listed in another order. The counts of 40,000
/// rows are off by five standard errors once in a million runs; the seed is fixed.
#[test]
fn every_row_is_drawn_under_the_policy_of_its_group() {
    let mut row = vec![0; 3];
    row[0] = MASS_ONE;
    let table = undertone_core::Table::from_masses(vec![row; 3]).unwrap();
    let same = policy(Shape::Table(table), names(&["a", "b", "c"]));
    let kept = keep(names(&["c", "a", "b"]));
    let policies = [("0".to_owned(), same), ("1".to_owned(), kept)];
    let (groups, released) = Grouped::new(&policies).unwrap();
    assert_eq!(released, Released::Texts(vec!["a".into(), "b".into(), "c".into()]));
    let inputs = names(&["a", "b", "c"]);
    let asked = vec![
        AskedColumn::new("q".into(), "q".into(), inputs),
        AskedColumn::of_groups("g".into(), names(&["0", "1"])),
    ];
    let channel = Channel::by_group("q".into(), (0, 3), (groups, 1), released);
    let channels = vec![channel];
    let frame = Frame {
        asked,
        channels,
        choose: None,
        keep: vec![],
        unknown: UnknownValues::Skip,
        threads: None,
        least_group: 1,
    };
    let rows = 40_000;
    let answers: Vec<Code> = (0..rows).map(|row| Code::Symbol(row / 2 % 2 + 1)).collect();
    let group: Vec<Code> = (0..rows).map(|row| Code::Symbol(row % 2)).collect();
    let mut draws = frame.draws_from(seeded(9));
    let counts = drawn(&mut draws, &[answers, group.clone()]).unwrap();
    assert_eq!(counts.groups, [20_000, 20_000]);
    let Drawn::Indices(out) = &draws.drawn[0] else { panic!("indices") };
    assert!((0..rows as usize).step_by(2).all(|row| out[row] == 0));
    for (said, expected) in
        [(0, 1.0 / 6.0), (1, 1.0 / 2.0 * 0.5 + 1.0 / 6.0), (2, 0.25 + 1.0 / 6.0)]
    {
        let share =
            (1..rows as usize).step_by(2).filter(|&row| out[row] == said).count() as f64 / 20_000.0;
        assert!((share - expected).abs() < 5.0 * 0.0036, "{said}: {share} {expected}");
    }
    // A row without a group is refused even where unknown answers are left out.
    let missing = vec![Code::Symbol(0), Code::Missing];
    let bad = drawn(&mut draws, &[vec![Code::Unknown, Code::Symbol(1)], missing]).unwrap_err();
    assert_eq!((bad.at, bad.column), (1, 1));
}
