//! JSTL21 Figure 3: the map of notions, drawn from the rules that `relate` uses.

use undertone_design::Distribution;
use undertone_theory::relation::{Guarantee, Notion, RelationOutcome, Setting, map, relate};

use crate::claim::short;
use crate::row;
use crate::{Claim, Context, Error, Experiment, Outcome, Paper, Table};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "jstl21-fig-3",
    paper: Paper::Jstl21,
    title: "Figure 3: how the notions imply each other",
    data: &[],
    run,
};

/// The notions of the paper's Figure 3.
const NOTIONS: [Notion; 5] = [Notion::Ldp, Notion::Lip, Notion::Di, Notion::Mil, Notion::Mip];

fn run(_: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let prior = Distribution::new("prior", vec![0.5, 0.3, 0.2])?;
    let setting = Setting::of(prior);
    let mut table = Table::new("implications", &["from", "epsilon", "to", "implied", "exact"]);
    for from in NOTIONS {
        for to in NOTIONS.into_iter().filter(|to| *to != from) {
            let premise = Guarantee::new(from, 1.0)?;
            let answer = relate(&premise, to, &setting)?;
            let (implied, exact) = match &answer.outcome {
                RelationOutcome::Holds(holds) => {
                    (holds.guarantee.epsilon().to_string(), holds.exact)
                }
                RelationOutcome::NoImplication(_) => ("nothing".into(), true),
                RelationOutcome::Needs { .. } => ("needs more".into(), false),
            };
            table.push(row![from, 1.0, to, implied, exact]);
        }
    }
    let level = |from: Notion, to: Notion| {
        let wanted = [("from", from.name()), ("to", to.name())];
        table.find(&wanted).map_or(f64::NAN, |row| table.number(row, "implied"))
    };
    let nothing = |from: Notion, to: Notion| {
        let wanted = [("from", from.name()), ("to", to.name()), ("implied", "nothing")];
        table.find(&wanted).is_some()
    };
    let mil = level(Notion::Mil, Notion::Mip);
    let arrows = [
        ("ε-LDP implies ε-LIP", Notion::Ldp, Notion::Lip, 1.0),
        ("ε-LIP implies 2ε-LDP", Notion::Lip, Notion::Ldp, 2.0),
        ("ε-LIP implies ε-MIP", Notion::Lip, Notion::Mip, 1.0),
        ("ε-LIP implies ε-MIL", Notion::Lip, Notion::Mil, 1.0),
    ];
    for (says, from, to, printed) in arrows {
        let exact = level(from, to);
        outcome.claim(
            Claim::tested(
                says,
                format!("P = [.5, .3, .2], ε = 1: at most {}", short(exact)),
                "the printed level is never below the exact one",
                exact <= printed + 1e-9,
            )
            .printed(short(printed))
            .arithmetic()
            .because(if exact < printed - 1e-9 {
                "true and loose"
            } else {
                "tight here"
            }),
        );
    }
    outcome.claim(
        Claim::tested(
            "ε-MIL implies ε-MIP",
            format!("ε = 1: mutual information at most {}", short(mil)),
            "at most ε",
            mil <= 1.0 + 1e-9,
        )
        .arithmetic(),
    );
    for (says, from) in
        [("ε-MIP implies no LIP", Notion::Mip), ("ε-MIL implies no LIP", Notion::Mil)]
    {
        outcome.claim(
            Claim::tested(
                says,
                "a channel with that average and unbounded LIP exists",
                "the engine returns a counterexample",
                nothing(from, Notion::Lip),
            )
            .arithmetic(),
        );
    }
    // Even a constant channel has posterior odds Pmax/Pmin, so a smaller ε-DI is an empty premise.
    if relate(&Guarantee::new(Notion::Di, 0.5)?, Notion::Lip, &setting).is_err() {
        outcome.note("Theorem 3.1, second part, has an empty premise below ε = ln(Pmax/Pmin): under P = [.5, .3, .2] no mechanism is .5-DI.");
    }
    outcome.note(
        "The picture is the one `undertone relate --map` draws, from the same rules that compute the numbers; it shows the notions of all five papers.",
    );
    outcome.draw_whole("map", "How the notions of privacy imply each other", &map::svg());
    outcome.table(table);
    Ok(outcome)
}
