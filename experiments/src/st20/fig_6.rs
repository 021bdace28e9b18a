//! ST20 Figure 6: errors of H and G over the information budget, at a strict LDP budget.

use undertone_fusion::design::Method;
use undertone_theory::relation::{Guarantee, Notion, Setting, relate};

use super::network::{Network, Point, STAND_IN, stand_in};
use super::sweep::Sweep;
use crate::claim::short;
use crate::{Claim, Context, Error, Experiment, Outcome, Panel, Paper, Picture};

/// The experiment.
pub const EXPERIMENT: Experiment = Experiment {
    key: "st20-fig-6",
    paper: Paper::St20,
    title: "Figure 6: errors of H and G over the information budget, ε_LD = .07",
    data: &[],
    run,
};

const LDP: f64 = 0.07;
const DRAWN: [Method; 5] = [Method::IllHalf, Method::Ill, Method::Lip, Method::Joint, Method::Ldp];

fn run(context: &Context) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let levels: &[f64] =
        context.pick(&[0.01, 0.1, 0.3], &[0.01, 0.03, 0.05, 0.08, 0.1, 0.14, 0.18, 0.24, 0.3]);
    let network = Network::new(&stand_in()?)?;
    let budgets: Vec<(f64, f64)> = levels.iter().map(|&information| (information, LDP)).collect();
    let sweep = Sweep::run("errors", &network, &budgets, context.pick(6, 40))?;

    let hidden = [Method::IllHalf, Method::Ill, Method::Lip, Method::Joint];
    let errors = hidden.iter().flat_map(|&method| sweep.curve(method, |p| p.error_public));
    let least = errors.map(|(_, error)| error).fold(f64::INFINITY, f64::min);
    outcome.claim(Claim::tested(
        "when ε_LD is small, the error of H is large whatever ε_I",
        format!("at least {} at every ε_I and for every method", short(least)),
        "at least .45, where a coin errs .5",
        least >= 0.45,
    ));
    let alone = sweep.at(levels[0], LDP, Method::Ldp);
    let (error, attained) = alone.map_or((f64::NAN, f64::NAN), |p| (p.error_public, p.information));
    let idle = sweep.curve(Method::Joint, |p| p.error_public).into_iter().filter(
        |((information, _), found)| *information >= attained && (found - error).abs() > 1e-4,
    );
    outcome.claim(
        Claim::tested(
            "(ours) from some ε_I on, the information budget asks for nothing",
            format!(
                "LDP alone attains ε_I = {}; from there on JOINT errs as LDP alone does, {}",
                short(attained),
                short(error)
            ),
            "JOINT's error of H equals that of LDP alone at every larger ε_I",
            idle.count() == 0,
        )
        .ours()
        .because("the curve of the paper's figure can only be flat beyond that point"),
    );
    let setting = Setting { sensors: Some(6), hypothesis_min: Some(0.5), ..Setting::new() };
    let answer = relate(&Guarantee::new(Notion::Ldp, LDP)?, Notion::Infp, &setting)?;
    let holds = answer.holds();
    let sharp = holds.map_or(f64::NAN, |h| h.guarantee.epsilon());
    let printed =
        holds.and_then(|h| h.printed.as_ref()).map_or(f64::NAN, |p| p.guarantee.epsilon());
    outcome.claim(
        Claim::tested(
            "Theorem 1(vi): six sensors at ε_LD = .07 give 2sε_LD information privacy",
            format!(
                "the bound says {}, the sharp form {}, these maps attain {}",
                short(printed),
                short(sharp),
                short(attained)
            ),
            "the bound is above what is attained, and the sharp form too",
            attained <= sharp && sharp <= printed,
        )
        .printed("2sε = .84")
        .because("true and loose: ln(p + (1-p)e^(sε)) with p = 1/2"),
    );
    let (kept, all) = sweep.within_budgets();
    outcome.claim(
        Claim::tested(
            "both architectures keep both budgets",
            format!("{kept} of {all} designs, on the integers that ship"),
            "attained ε_I and ε_LD within what the method promises, everywhere",
            kept == all,
        )
        .tautology(),
    );
    outcome.note(STAND_IN);
    let panel = |what: &str, of: fn(&Point) -> f64| Panel {
        title: format!("error of {what}, ε_LD = .07"),
        x_label: "ε_I, in nats".into(),
        y_label: format!("Bayes error of {what}"),
        series: DRAWN.iter().map(|&method| sweep.line(method, |(i, _)| Some(i), of)).collect(),
        ..Panel::default()
    };
    let panels = vec![panel("H", |p| p.error_public), panel("G", |p| p.error_private)];
    outcome.draw("errors", &Picture { title: "ST20 Figure 6, stand-in law".into(), panels })?;
    outcome.table(sweep.table);
    Ok(outcome)
}
