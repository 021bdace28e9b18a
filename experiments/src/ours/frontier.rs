//! What LIP and LDP cost together: the frontier of two promises.

use rayon::prelude::*;
use undertone_core::Policy;
use undertone_design::designer::Method;
use undertone_design::knowledge::Knowledge;
use undertone_design::objective::Objective;
use undertone_design::{Distribution, Joint, price};

use super::zipf;
use crate::certified::{self, nats};
use crate::claim::short;
use crate::row;
use crate::{Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture, Series, Table};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "ours-frontier",
    paper: Paper::Ours,
    title: "The frontier of LIP and LDP: what two promises cost together",
    data: &[],
    run,
};

const COLUMNS: [&str; 7] =
    ["example", "lip", "ldp", "loss", "attained_lip", "attained_ldp", "lip_is_free"];

/// A prior and what a report is for.
struct Example {
    name: &'static str,
    loss: &'static str,
    knowledge: Knowledge,
    objective: Objective,
    /// The LIP levels are these multiples.
    step: f64,
}

/// The examples of docs/frontier.md that are small.
fn examples() -> Result<Vec<Example>, Error> {
    let known = |p: Vec<f64>| Ok::<_, Error>(Knowledge::Known(Distribution::new("prior", p)?));
    let basket = [
        vec![0.264, 0.1936, 0.176, 0.044, 0.0264, 0.088, 0.088],
        vec![0.0234, 0.0216, 0.0054, 0.0216, 0.0027, 0.0108, 0.0045],
        vec![0.003, 0.0078, 0.003, 0.0015, 0.0108, 0.0024, 0.0015],
    ];
    Ok(vec![
        Example {
            name: "Zipf(1), four symbols",
            loss: "0-1 loss",
            knowledge: Knowledge::Known(zipf(4, 1.0)?),
            objective: Objective::Hamming,
            step: 0.25,
        },
        Example {
            name: "rare disease [.98, .02]",
            loss: "frequency",
            knowledge: known(vec![0.98, 0.02])?,
            objective: Objective::Frequency,
            step: 0.25,
        },
        Example {
            name: "opinion, five answers",
            loss: "absolute error",
            knowledge: known(vec![0.08, 0.17, 0.30, 0.32, 0.13])?,
            objective: Objective::Absolute(vec![1.0, 2.0, 3.0, 4.0, 5.0]),
            step: 0.25,
        },
        Example {
            name: "shopping: LIP of the condition, LDP of the basket",
            loss: "0-1 loss",
            knowledge: Knowledge::Secret("condition".into(), Joint::new(basket.to_vec())?),
            objective: Objective::Hamming,
            step: 0.1,
        },
    ])
}

/// One design; `None` for a level means no such promise.
struct Spot {
    lip: Option<f64>,
    ldp: Option<f64>,
    loss: f64,
    attained_lip: f64,
    attained_ldp: f64,
}

/// What the certificate says about the secret, or about the input where there is no secret.
fn belief(policy: &Policy) -> f64 {
    let certificate = policy.certificate();
    let about = certificate.secret.as_ref().unwrap_or(&certificate.input);
    about.lip().map_or(f64::INFINITY, nats)
}

fn spot(example: &Example, lip: Option<f64>, ldp: Option<f64>) -> Result<Spot, Error> {
    let prior = example.knowledge.typical_prior()?;
    let prior = prior.ok_or_else(|| Error::other("the example has no prior"))?;
    let lip_text = lip.map(|level| format!("lip:{level:.10}"));
    let ldp_text = ldp.map(|level| format!("input:ldp:{level:.10}"));
    let protections: Vec<String> = lip_text.into_iter().chain(ldp_text).collect();
    let knowledge = &example.knowledge;
    let point =
        certified::design(knowledge, &prior, &protections, &example.objective, Method::Optimal)?;
    Ok(Spot {
        lip,
        ldp,
        loss: point.value(),
        attained_lip: point.policy.as_ref().map_or(f64::INFINITY, belief),
        attained_ldp: point.ldp,
    })
}

/// All designs of one example.
struct Frontier {
    example: Example,
    lips: Vec<f64>,
    ldps: Vec<f64>,
    spots: Vec<Spot>,
    blind: f64,
}

impl Frontier {
    fn new(example: Example, context: &Context) -> Result<Self, Error> {
        let lips: Vec<f64> =
            (1..=10).map(|k| (f64::from(k) * example.step * 1e6).round() / 1e6).collect();
        let ldps: Vec<f64> = context.pick(vec![1.0, 2.0], vec![0.5, 1.0, 1.5, 2.0, 3.0]);
        let mut tasks: Vec<(Option<f64>, Option<f64>)> = Vec::new();
        for &ldp in &ldps {
            tasks.push((None, Some(ldp)));
            tasks.extend(lips.iter().map(|&lip| (Some(lip), Some(ldp))));
        }
        tasks.extend(lips.iter().map(|&lip| (Some(lip), None)));
        let made = tasks.par_iter().with_max_len(1);
        let spots = made.map(|&(lip, ldp)| spot(&example, lip, ldp)).collect::<Result<_, _>>()?;
        let prior = example.knowledge.typical_prior()?;
        let blind = prior.map_or(Ok(f64::NAN), |prior| example.objective.blind(&prior))?;
        Ok(Self { example, lips, ldps, spots, blind })
    }

    fn at(&self, lip: Option<f64>, ldp: Option<f64>) -> Option<&Spot> {
        self.spots.iter().find(|spot| (spot.lip, spot.ldp) == (lip, ldp))
    }

    fn loss(&self, lip: Option<f64>, ldp: Option<f64>) -> f64 {
        self.at(lip, ldp).map_or(f64::NAN, |spot| spot.loss)
    }

    /// Whether the LIP promise costs nothing beside the LDP promise.
    fn lip_is_free(&self, lip: f64, ldp: f64) -> bool {
        price::same(self.loss(Some(lip), Some(ldp)), self.loss(None, Some(ldp)), self.blind)
    }

    fn ldp_is_free(&self, lip: f64, ldp: f64) -> bool {
        price::same(self.loss(Some(lip), Some(ldp)), self.loss(Some(lip), None), self.blind)
    }

    /// The least LIP level of the grid that costs nothing beside this LDP level.
    fn free_from(&self, ldp: f64) -> Option<f64> {
        self.lips.iter().copied().find(|&lip| self.lip_is_free(lip, ldp))
    }

    /// Whether LIP and LDP are about the same thing.
    fn of_one_thing(&self) -> bool {
        !matches!(self.example.knowledge, Knowledge::Secret(..))
    }
}

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let all: Vec<Frontier> =
        examples()?.into_iter().map(|e| Frontier::new(e, context)).collect::<Result<_, _>>()?;
    let mut table = Table::new("frontier", &COLUMNS);
    let cell = |level: Option<f64>| level.map_or("none".to_owned(), |level| level.to_string());
    for frontier in &all {
        for spot in &frontier.spots {
            let free = match (spot.lip, spot.ldp) {
                (Some(lip), Some(ldp)) => frontier.lip_is_free(lip, ldp).to_string(),
                _ => String::new(),
            };
            table.push(row![
                frontier.example.name,
                cell(spot.lip),
                cell(spot.ldp),
                spot.loss,
                spot.attained_lip,
                spot.attained_ldp,
                free,
            ]);
        }
    }
    claims(&mut outcome, &all);
    outcome.note("Every point is a verified policy with both claims. The LIP claim is called free where the best policy with the LDP claim alone is no better than the best with both. For the shopping list LIP is about the condition and LDP about the basket.");
    outcome.draw("frontier", &picture(&all))?;
    outcome.table(table);
    Ok(outcome)
}

fn claims(outcome: &mut Outcome, all: &[Frontier]) {
    let spots = || all.iter().flat_map(|frontier| &frontier.spots);
    let kept = spots().filter(|spot| {
        spot.lip.is_none_or(|level| spot.attained_lip <= level)
            && spot.ldp.is_none_or(|level| spot.attained_ldp <= level)
    });
    let (kept, count) = (kept.count(), spots().count());
    outcome.claim(
        Claim::tested(
            "every policy keeps both of its promises",
            format!("{kept} of {count}, on the integers"),
            "all",
            kept == count,
        )
        .tautology(),
    );
    let pairs = |holds: &dyn Fn(&Frontier, f64, f64) -> Option<bool>| {
        let mut counts = (0, 0);
        for frontier in all.iter().filter(|frontier| frontier.of_one_thing()) {
            for &lip in &frontier.lips {
                for &ldp in &frontier.ldps {
                    if let Some(free) = holds(frontier, lip, ldp) {
                        counts.0 += usize::from(free);
                        counts.1 += 1;
                    }
                }
            }
        }
        counts
    };
    let (free, of) = pairs(&|f, lip, ldp| (lip >= ldp).then(|| f.lip_is_free(lip, ldp)));
    outcome.claim(
        Claim::tested(
            "LIP is free where its level is at least the LDP level",
            format!("at {free} of {of} pairs"),
            "all pairs",
            free == of,
        )
        .because("ε-LDP implies ε-LIP"),
    );
    let (free, of) = pairs(&|f, lip, ldp| (ldp >= 2.0 * lip).then(|| f.ldp_is_free(lip, ldp)));
    outcome.claim(
        Claim::tested(
            "LDP is free where its level is at least twice the LIP level",
            format!("at {free} of {of} pairs"),
            "all pairs",
            free == of,
        )
        .because("ε-LIP implies 2ε-LDP"),
    );
    let sooner: Vec<String> = all
        .iter()
        .map(|f| {
            let from = |&ldp: &f64| match f.free_from(ldp) {
                Some(lip) => format!("{ldp}: {lip}"),
                None => format!("{ldp}: above {}", f.lips.last().copied().unwrap_or(f64::NAN)),
            };
            let listed: Vec<String> = f.ldps.iter().map(from).collect();
            format!("{}: {}", f.example.name, listed.join(", "))
        })
        .collect();
    let between = all
        .iter()
        .filter(|f| f.of_one_thing())
        .any(|f| f.ldps.iter().any(|&ldp| f.free_from(ldp).is_some_and(|lip| lip < ldp - 1e-9)));
    outcome.claim(Claim::tested(
        "for some priors LIP is free well below the LDP level",
        format!("least free LIP level of the grid by LDP level. {}", sooner.join(". ")),
        "at least one pair with a free LIP level below the LDP level",
        between,
    ));
    if let Some(rare) = all.iter().find(|f| f.example.name.starts_with("rare")) {
        let early = rare
            .ldps
            .iter()
            .filter(|&&ldp| rare.free_from(ldp).is_some_and(|lip| lip < ldp - 1e-9))
            .count();
        outcome.claim(Claim::tested(
            "for two answers with a rare one the two promises bite at the same place",
            format!("LIP is free below the LDP level at {early} of {} LDP levels", rare.ldps.len()),
            "at none, for frequency",
            early == 0,
        ));
    }
    let monotone = all.iter().all(|f| {
        f.ldps.iter().copied().map(Some).chain([None]).all(|ldp| {
            f.lips.windows(2).all(|pair| {
                f.loss(Some(pair[1]), ldp) <= f.loss(Some(pair[0]), ldp) * (1.0 + 1e-6) + 1e-12
            })
        })
    });
    outcome.claim(Claim::tested(
        "loss falls with either level",
        if monotone { "along every line" } else { "not along every line" },
        "along every line of constant LDP, up to rounding",
        monotone,
    ));
    if let Some(found) = all.first().filter(|f| f.ldps.contains(&1.5)) {
        outcome.claim(
            Claim::number(
                "Zipf(1), four symbols: 0-1 loss under LDP 1.5 alone, as docs/frontier.md says",
                0.3915,
                found.loss(None, Some(1.5)),
                5e-5,
            )
            .because(format!(
                "and under LIP 1 as well: {}",
                short(found.loss(Some(1.0), Some(1.5)))
            )),
        );
    }
}

fn picture(all: &[Frontier]) -> Picture {
    let panel = |f: &Frontier| {
        let most = f.lips.last().copied().unwrap_or(f64::NAN);
        let line = |ldp: Option<f64>| -> Vec<(f64, f64)> {
            f.lips.iter().map(|&lip| (lip, f.loss(Some(lip), ldp))).collect()
        };
        let mut series: Vec<Series> = f
            .ldps
            .iter()
            .map(|&ldp| {
                let from =
                    f.free_from(ldp).map_or(format!("above {most}"), |lip| format!("from {lip}"));
                Series::solid(format!("with LDP {ldp}; LIP is free {from}"), line(Some(ldp)))
            })
            .collect();
        series.push(Series::reference("LIP alone", line(None)));
        Panel {
            title: f.example.name.into(),
            x_label: "LIP level, in nats".into(),
            y_label: format!("{} (less is better)", f.example.loss),
            log_y: f.example.objective == Objective::Frequency,
            series,
            ..Panel::default()
        }
    };
    Picture { title: "LIP and LDP at once".into(), panels: all.iter().map(panel).collect() }
}
