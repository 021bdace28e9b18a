//! Several releases about one datum: what they attain together, and which a consent refuses.

use super::draws::token;
use super::grid::{Named, Parts, odds, prior, secret, table};
use super::policies::named;
use super::stream::Mix;
use super::text::{inline, list, object, quoted};
use undertone_core::{
    Alphabet, Claim, Consent, Context, Delta, Ledger, LedgerError, MASS_ONE, Nats, Policy,
    Provenance, Ratio, Release, Report, ReportId, SecretConsent, Sequence, Shape, Table, Token,
    WEIGHT_ONE,
};

/// A past release: the policy, and what is left of it.
type Past = (String, Left);

/// What the device still has of a release.
#[derive(Clone)]
enum Left {
    Token(Token),
    Policy,
    Cost,
}

/// Policies that only sequences need.
pub(crate) fn policies() -> Vec<Named> {
    let names = |names: &[&str]| Alphabet::names(names.iter().copied()).expect("names");
    let new = |name: &str, about: &str, inputs: &[&str], shape: Shape, context, claim| Named {
        name: name.into(),
        about: about.into(),
        parts: Parts {
            inputs: names(inputs),
            outputs: Some(Alphabet::indices(shape.outputs()).expect("a size")),
            ..Parts::plain(shape, context, vec![claim])
        },
    };
    let plain = ["00", "01", "10", "11"];
    let swapped = ["00", "01", "11", "10"];
    // The secret is the first of two fair bits.
    let first_bit = |order: &[&str]| {
        let row = |first: char| -> Vec<u64> {
            order.iter().map(|name| u64::from(name.starts_with(first))).collect()
        };
        secret("first", 1, &[1, 1], &[&row('0'), &row('1')])
    };
    let nothing = Claim::ldp(odds(1, 1)).about_secret();
    let telling = table(0, &[&[1, 0], &[0, 1], &[1, 0], &[0, 1]]);
    let noisy = table(2, &[&[3, 1], &[1, 3], &[3, 1], &[1, 3]]);
    let noisy_parity = table(2, &[&[3, 1], &[1, 3], &[1, 3], &[3, 1]]);
    let hundredth = WEIGHT_ONE / 100;
    let rare = Context::Known(prior(32, &[WEIGHT_ONE - hundredth, hundredth]));
    let flip = MASS_ONE / 400 * 98;
    let rare_response = Shape::Table(
        Table::from_masses(vec![vec![MASS_ONE - flip, flip], vec![MASS_ONE / 4, MASS_ONE / 4 * 3]])
            .expect("a table"),
    );
    let rare_lip = |name: &str, n: u64| {
        let about = "lip:ln 3 under a prior of .99 and .01, as good as it gets";
        let claim = Claim::lip(odds(3, 1));
        let named = new(name, about, &["no", "yes"], rare_response.clone(), rare.clone(), claim);
        let provenance = Provenance { n, ..Provenance::default() };
        Named { parts: Parts { provenance, ..named.parts }, ..named }
    };
    vec![
        new(
            "second_bit",
            "two bits; releases the second and says nothing about the first",
            &plain,
            telling.clone(),
            first_bit(&plain),
            nothing,
        ),
        new(
            "parity_reordered",
            "the table of second_bit over the same answers in another order: releases their parity",
            &swapped,
            telling.clone(),
            first_bit(&swapped),
            nothing,
        ),
        new(
            "second_bit_reordered",
            "releases the second bit, as second_bit does, with its answers in another order",
            &swapped,
            table(0, &[&[1, 0], &[0, 1], &[0, 1], &[1, 0]]),
            first_bit(&swapped),
            nothing,
        ),
        new(
            "second_bit_noisy",
            "the second bit through 3:1, nothing about the first",
            &plain,
            noisy,
            first_bit(&plain),
            nothing,
        ),
        new(
            "parity_noisy",
            "the parity through 3:1, nothing about the first bit",
            &plain,
            noisy_parity,
            first_bit(&plain),
            nothing,
        ),
        rare_lip("rare_lip", 1),
        rare_lip("rare_lip_again", 2),
        new(
            "rare_dummy",
            "a yes/no question with a third answer nobody gives",
            &["no", "yes", "dummy"],
            table(2, &[&[2, 1, 1], &[1, 2, 1], &[1, 1, 2]]),
            Context::Unknown,
            Claim::ldp(odds(2, 1)),
        ),
        new(
            "minimal_names",
            "the channel of minimal.json over yes and no",
            &["no", "yes"],
            table(2, &[&[3, 1], &[1, 3]]),
            Context::Unknown,
            Claim::ldp(odds(3, 1)),
        ),
        new(
            "telling",
            "releases a yes/no answer as it is; its claim is about a secret with one value",
            &["no", "yes"],
            table(0, &[&[1, 0], &[0, 1]]),
            secret("none", 1, &[2], &[&[1, 1]]),
            nothing,
        ),
        new(
            "escaping",
            "releases an answer as it is with probability 1/2; all of that is delta",
            &["no", "yes"],
            table(1, &[&[2, 0], &[1, 1]]),
            Context::Unknown,
            Claim::ldp(odds(2, 1)).with_delta(Delta::from_units(MASS_ONE / 2).expect("below one")),
        ),
    ]
}

/// Every file of sequences; those that are refused are called `bad_*`.
pub(crate) fn files(accepted: &[Named]) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut add =
        |name: &str, about: &str, past: Vec<Past>, next: &str, consent: Consent, expected: &str| {
            let (text, outcome) = file(accepted, about, &past, next, &consent);
            assert!(expected == "any" || outcome == expected, "{name}: {outcome} for {expected}");
            let bad = if outcome == "fresh" { "" } else { "bad_" };
            files.push((format!("{bad}{name}"), text));
        };
    let at = |name: &str, index: u32| (name.to_owned(), Left::Token(Token::Index(index)));
    let untold = |name: &str| (name.to_owned(), Left::Policy);
    let lost = |name: &str| (name.to_owned(), Left::Cost);
    let secret = |ldp: &str| Consent {
        secrets: vec![SecretConsent { name: "first".into(), ldp: nats(ldp) }],
        ..Consent::UNLIMITED
    };
    let lip = |text: &str| Consent { lip: Some(nats(text)), ..Consent::UNLIMITED };
    let ldp = |text: &str| Consent { ldp: Some(nats(text)), ..Consent::UNLIMITED };

    add(
        "first_release",
        "nothing was released before: the certificate alone",
        vec![],
        "rare_lip",
        Consent::default(),
        "fresh",
    );
    add(
        "first_release_secret",
        "a secret nobody declared is judged by the LDP of the input",
        vec![],
        "minimal",
        secret("1.0986122886"),
        "consent_secret",
    );
    add(
        "first_release_secret_enough",
        "the same with one unit more",
        vec![],
        "minimal",
        secret("1.0986122887"),
        "fresh",
    );
    add(
        "no_context_lip",
        "without a context, and without a limit on LDP, LDP is held against lip",
        vec![],
        "minimal",
        lip("1"),
        "consent_lip",
    );
    let reordered = "the same answers in another order: paired by index both are one table, by name they give the secret away";
    add(
        "reordered_answers",
        reordered,
        vec![at("second_bit", 1)],
        "parity_reordered",
        secret("0"),
        "not_composable_checked",
    );
    add(
        "reordered_answers_untold",
        "the same when the answer is not at hand",
        vec![untold("second_bit")],
        "parity_reordered",
        Consent::UNLIMITED,
        "not_composable_checked",
    );
    add(
        "reordered_answers_lost",
        "the same when not even the policy is",
        vec![lost("second_bit")],
        "parity_reordered",
        Consent::UNLIMITED,
        "not_composable",
    );
    add(
        "reordered_repeat",
        "the same function in another order tells nothing more",
        vec![at("second_bit", 1)],
        "second_bit_reordered",
        secret("0"),
        "fresh",
    );
    add(
        "secret_together",
        "nought about the secret each, ln(5/3) together",
        vec![at("second_bit_noisy", 0)],
        "parity_noisy",
        secret("0"),
        "consent_secret",
    );
    add(
        "secret_together_allowed",
        "the same where ln(5/3) is agreed to",
        vec![at("second_bit_noisy", 0)],
        "parity_noisy",
        secret("0.5108256238"),
        "fresh",
    );
    add(
        "secret_together_just_below",
        "the same with one unit less",
        vec![at("second_bit_noisy", 0)],
        "parity_noisy",
        secret("0.5108256237"),
        "consent_secret",
    );
    add(
        "secret_lost",
        "an earlier answer that was lost counts with its LDP",
        vec![lost("second_bit_noisy")],
        "parity_noisy",
        secret("0.5"),
        "consent_secret",
    );
    let rare = "ln 3 agreed to and attained by each; belief counts from before the first release";
    add(
        "lip_twice",
        rare,
        vec![at("rare_lip", 1)],
        "rare_lip_again",
        lip("1.0986122887"),
        "consent_lip",
    );
    add(
        "lip_twice_untold",
        "the same over every answer",
        vec![untold("rare_lip")],
        "rare_lip_again",
        lip("2.2"),
        "any",
    );
    add(
        "lip_twice_allowed",
        "the same where enough is agreed to",
        vec![at("rare_lip", 1)],
        "rare_lip_again",
        lip("2.21"),
        "fresh",
    );
    add(
        "lip_lost",
        "a lost answer: belief is bounded by p + (1-p)e^D",
        vec![lost("rare_lip")],
        "rare_lip_again",
        lip("2.1"),
        "consent_lip",
    );
    add(
        "dummy_answer",
        "another alphabet is no new budget: LDP adds up",
        vec![at("rare_lip", 1)],
        "rare_dummy",
        ldp("1.2"),
        "consent_ldp",
    );
    add(
        "dummy_answer_lip",
        "and belief in the earlier answer is bounded with it",
        vec![at("rare_lip", 1)],
        "rare_dummy",
        lip("1.0986122887"),
        "consent_lip",
    );
    add(
        "delta_after",
        "a delta does not survive a second release",
        vec![at("minimal_names", 1)],
        "escaping",
        Consent::UNLIMITED,
        "not_composable",
    );
    add(
        "q36",
        "two partitions of Q36, the answer at hand",
        vec![at("watchdog_three", 0)],
        "watchdog_two",
        Consent::UNLIMITED,
        "not_composable_checked",
    );
    add(
        "contradiction",
        "answers that no fixed value gives: nothing more is released",
        vec![at("telling", 0), at("telling", 1)],
        "minimal_names",
        Consent::UNLIMITED,
        "not_composable_checked",
    );

    // Every shape after every shape, in every context, with answers told, untold and lost.
    let mut mix = Mix(14);
    let contexts = ["unknown", "prior", "priors", "box", "secret"];
    let mut pick = |most: usize| (mix.next() >> 33) as usize % most;
    for (a, first) in ["table", "keep", "bits"].iter().enumerate() {
        for (b, second) in ["table", "keep", "bits"].iter().enumerate() {
            for (c, third) in ["table", "keep", "bits"].iter().enumerate() {
                let mut past: Vec<Past> = Vec::new();
                for shape in [first, second] {
                    let name = format!("{shape}_{}_ldp", contexts[pick(5)]);
                    let policy = named(accepted, &name);
                    let left = match pick(6) {
                        0 => Left::Policy,
                        1 => Left::Cost,
                        _ => Left::Token(match policy.draft().shape() {
                            Shape::Bits(bits) => {
                                let packed = (pick(8) as u8) << (8 - bits.symbols());
                                Token::Bits([packed].into())
                            }
                            _ => Token::Index(pick(3) as u32),
                        }),
                    };
                    past.push((name, left));
                }
                let next = format!("{third}_{}_ldp", contexts[pick(5)]);
                let name = format!("grid_{a}{b}{c}");
                add(&name, "every shape after every shape", past, &next, lip("1.6"), "any");
            }
        }
    }

    // Blocks before and after everything else.
    let families = super::blocks::families().map(|(name, _)| name);
    let mut mix = Mix(18);
    let mut pick = |most: usize| (mix.next() >> 33) as usize % most;
    for (a, family) in families.iter().enumerate() {
        for (b, shape) in ["table", "keep", "bits"].iter().enumerate() {
            let context = contexts[pick(5)];
            let first = format!("{family}_{context}_ldp");
            let second = format!("{shape}_{}_ldp", contexts[pick(5)]);
            let third = format!("{}_{}_ldp", families[(a + b + 1) % 6], contexts[pick(5)]);
            let left = |name: &str, pick: &mut dyn FnMut(usize) -> usize| match pick(6) {
                0 => Left::Policy,
                1 => Left::Cost,
                _ => Left::Token(some_token(&named(accepted, name), pick)),
            };
            let told =
                (first.clone(), Left::Token(some_token(&named(accepted, &first), &mut pick)));
            let past = vec![told.clone()];
            let name = format!("blocks_{a}{b}_before");
            add(&name, "blocks before another shape", past, &second, lip("1.6"), "any");
            let past = [&first, &second].map(|name| (name.clone(), left(name, &mut pick)));
            let name = format!("blocks_{a}{b}_after");
            add(
                &name,
                "blocks after blocks and another shape",
                past.into(),
                &third,
                lip("1.6"),
                "any",
            );
            let name = format!("blocks_{a}{b}_first");
            let only = format!("{family}_{}_ldp", contexts[b]);
            add(&name, "blocks alone", vec![], &only, lip("0.7"), "any");
        }
    }
    add(
        "blocks_many",
        "too many cells to look at: every set of symbols is taken for a block",
        vec![("blocks_1024".into(), Left::Token(Token::Index(900)))],
        "blocks_1024",
        ldp("2"),
        "any",
    );
    add(
        "blocks_secret",
        "lines and subsets about one secret",
        vec![("blocks_fano".into(), Left::Token(Token::Index(2)))],
        "blocks_subsets_secret",
        Consent::UNLIMITED,
        "any",
    );
    add(
        "blocks_secret_untold",
        "the same lines written in another order, the answer not at hand",
        vec![("blocks_fano_listed".into(), Left::Policy)],
        "blocks_fano",
        Consent::UNLIMITED,
        "any",
    );
    add(
        "blocks_certain",
        "blocks that always contain the symbol, and two that part all of them",
        vec![at("blocks_certain", 0)],
        "blocks_certain",
        Consent::UNLIMITED,
        "any",
    );
    files
}

/// One of the tokens that a policy can release.
fn some_token(policy: &Policy, pick: &mut dyn FnMut(usize) -> usize) -> Token {
    match policy.draft().shape() {
        Shape::Bits(bits) => Token::Bits([(pick(8) as u8) << (8 - bits.symbols())].into()),
        shape if shape.releases_bits() => Token::Bits([[0xc0, 0xa0, 0x60][pick(3)]].into()),
        shape => Token::Index(pick(shape.outputs()) as u32),
    }
}

fn file(
    accepted: &[Named],
    about: &str,
    past: &[Past],
    next: &str,
    consent: &Consent,
) -> (String, &'static str) {
    let policies: Vec<Policy> = past.iter().map(|(name, _)| named(accepted, name)).collect();
    let next_policy = named(accepted, next);
    let mut sequence = Sequence::new();
    let mut noted = Vec::new();
    let mut lines = Vec::new();
    for ((name, left), policy) in past.iter().zip(&policies) {
        let release = Release { policy: policy.id(), cost: policy.ldp() };
        noted.push(release);
        let mut fields = vec![("policy", quoted(format!("{name}.json")))];
        match left {
            Left::Token(drawn) => {
                let report =
                    Report { policy: policy.id(), id: ReportId([0; 16]), token: drawn.clone() };
                sequence.released(policy, &report).expect("a token of the policy");
                fields.push(token(drawn));
            }
            Left::Policy => sequence.untold(policy),
            Left::Cost => {
                sequence.forgotten(release);
                fields.push(("cost", quoted(amount(release.cost))));
            }
        }
        lines.push(inline(&fields));
    }
    let mut ledger = Ledger::restore(Nats::from_units(u64::MAX), [("datum".to_owned(), noted)]);
    let outcome = match ledger.spend("datum", &next_policy, &sequence, consent) {
        Ok(_) => "fresh",
        Err(LedgerError::Consent(above)) => match above {
            undertone_core::AboveConsent::Ldp { .. } => "consent_ldp",
            undertone_core::AboveConsent::Lip { .. } => "consent_lip",
            _ => "consent_secret",
        },
        Err(LedgerError::NotComposable { checked: true }) => "not_composable_checked",
        Err(LedgerError::NotComposable { checked: false }) => "not_composable",
        Err(other) => panic!("{other}"),
    };
    let standing = sequence.after(&next_policy);
    let level = |ratio: Ratio| quoted(amount(ratio.ln_up()));
    let secrets: Vec<(&str, String)> =
        standing.secrets.iter().map(|(name, ratio)| (name.as_str(), level(*ratio))).collect();
    let limit = |limit: Option<Nats>| limit.map_or("null".into(), quoted);
    let agreed: Vec<(&str, String)> =
        consent.secrets.iter().map(|one| (one.name.as_str(), quoted(one.ldp))).collect();
    let fields = [
        ("about", quoted(about)),
        ("past", list(lines)),
        ("next", quoted(format!("{next}.json"))),
        (
            "standing",
            inline(&[
                ("exact", standing.exact.to_string()),
                ("ldp", level(standing.ldp)),
                ("lip", standing.lip.map_or("null".into(), level)),
                ("secrets", inline(&secrets)),
                ("claims", standing.claims.map_or("null".into(), |hold| hold.to_string())),
            ]),
        ),
        (
            "consent",
            inline(&[
                ("ldp", limit(consent.ldp)),
                ("lip", limit(consent.lip)),
                ("secrets", inline(&agreed)),
            ]),
        ),
        ("outcome", quoted(outcome)),
    ];
    (object(&fields) + "\n", outcome)
}

fn amount(nats: Option<Nats>) -> String {
    nats.map_or("unbounded".into(), |nats| nats.to_string())
}

fn nats(text: &str) -> Nats {
    Nats::parse_down(text).expect("nats")
}
