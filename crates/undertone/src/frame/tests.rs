use super::*;
use rand_core::Rng;
use undertone_core::{
    Alphabet, Bits, Claim, Context, Draft, Epsilon, KEEP_ONE, Keep, MASS_ONE, Provenance,
    WEIGHT_ONE,
};

fn policy(shape: Shape, names: &[&str]) -> Policy {
    let inputs = Alphabet::names(names.iter().copied()).unwrap();
    let claims = vec![Claim::ldp(Epsilon::parse("5").unwrap())];
    let context = Context::Unknown;
    let draft = Draft::new(inputs, None, shape, context, claims, Provenance::default()).unwrap();
    draft.verify().unwrap()
}

fn keep() -> Policy {
    let base = vec![MASS_ONE / 4, MASS_ONE / 4, MASS_ONE / 2];
    policy(Shape::Keep(Keep::new(vec![KEEP_ONE / 2; 3], base).unwrap()), &["a", "b", "other"])
}

fn seeded(seed: u64) -> ChaCha12Rng {
    ChaCha12Rng::seed_from_u64(seed)
}

#[test]
fn every_row_gets_the_policys_own_draw() {
    let policy = keep();
    let plan = Plan::new(policy.clone(), UnknownValues::Refuse).unwrap();
    let codes: Vec<Code> = (0..10_000).map(|at| Code::Symbol(at % 3)).collect();
    let mut counts = Counts::default();
    let mut noise = plan.noise_from(seeded(5));
    let Drawn::Indices(drawn) = noise.draw(&codes, &mut counts).unwrap() else { panic!() };
    let symbol = |code: &Code| match *code {
        Code::Symbol(index) => policy.draft().inputs().symbol(index as usize).unwrap(),
        _ => panic!(),
    };
    let symbols: Vec<Symbol> = codes.iter().map(symbol).collect();
    let mut expected = vec![0; symbols.len()];
    Sampler::new(&policy).draw_indices(&symbols, &mut seeded(5), &mut expected).unwrap();
    assert_eq!(drawn, expected);
    assert_eq!((counts.rows, counts.perturbed), (10_000, 10_000));
}

#[test]
fn bits_are_drawn_packed() {
    let own = Shape::Bits(Bits::new(3, WEIGHT_ONE / 2, WEIGHT_ONE / 8).unwrap());
    let policy = policy(own, &["a", "b", "c"]);
    let plan = Plan::new(policy.clone(), UnknownValues::Refuse).unwrap();
    let codes = vec![Code::Symbol(2); 100];
    let mut noise = plan.noise_from(seeded(9));
    let mut counts = Counts::default();
    let Drawn::Bits { packed, width } = noise.draw(&codes, &mut counts).unwrap() else { panic!() };
    assert_eq!((packed.len(), width), (100, 1));
    let symbols = vec![policy.draft().inputs().symbol(2).unwrap(); 100];
    let mut expected = vec![0; 100];
    Sampler::new(&policy).draw_bits(&symbols, &mut seeded(9), &mut expected).unwrap();
    assert_eq!(packed, expected);
}

#[test]
fn codes_without_a_symbol_are_refused_left_out_or_taken_as_other() {
    let codes =
        [Code::Symbol(1), Code::Missing, Code::Unknown, Code::Below, Code::Above, Code::Unknown];
    let run = |unknown| {
        let plan = Plan::new(keep(), unknown).unwrap();
        let mut counts = Counts::default();
        let mut noise = plan.noise_from(seeded(1));
        let drawn = noise.draw(&codes, &mut counts).map(|drawn| match drawn {
            Drawn::Indices(indices) => indices.len(),
            Drawn::Bits { .. } => panic!(),
        });
        (drawn.map_err(|bad| (bad.at, bad.code)), counts)
    };
    assert_eq!(run(UnknownValues::Refuse).0, Err((1, Code::Missing)));
    let (drawn, counts) = run(UnknownValues::Skip);
    assert_eq!(drawn, Ok(3));
    assert_eq!((counts.rows, counts.perturbed, counts.skipped), (6, 3, 3));
    assert_eq!((counts.missing, counts.unknown), (1, 2));
    assert_eq!((counts.below, counts.above), (1, 1));
    let (drawn, counts) = run(UnknownValues::AsOther);
    assert_eq!(drawn, Ok(6));
    assert_eq!((counts.perturbed, counts.skipped), (6, 0));
    let shape = Shape::Bits(Bits::new(2, WEIGHT_ONE / 2, WEIGHT_ONE / 8).unwrap());
    assert!(Plan::new(policy(shape, &["a", "b"]), UnknownValues::AsOther).is_err());
}

/// Counting in pieces is counting at once.
#[test]
fn counts_and_order_add_up_whatever_the_pieces() {
    let mut rng = seeded(3);
    for sorted in [true, false] {
        let plan = Plan::new(keep(), UnknownValues::Skip).unwrap();
        let mut symbols: Vec<u32> = (0..400).map(|_| rng.next_u32() % 3).collect();
        if sorted {
            symbols.sort_unstable_by(|a, b| b.cmp(a));
        }
        let mut codes: Vec<Code> = symbols.into_iter().map(Code::Symbol).collect();
        codes.insert(200, Code::Missing);
        let mut whole = Counts::default();
        plan.noise_from(seeded(0)).draw(&codes, &mut whole).unwrap();
        assert_eq!(plan.grouped(&whole), sorted);
        for size in [1, 7, 150] {
            let mut sum = Counts::default();
            for piece in codes.chunks(size) {
                let mut counts = Counts::default();
                plan.noise_from(seeded(0)).draw(piece, &mut counts).unwrap();
                sum.then(&counts);
            }
            assert_eq!(sum, whole);
        }
    }
}
