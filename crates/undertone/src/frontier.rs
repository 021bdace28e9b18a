//! What LIP and LDP cost together.

use std::fmt::Write;

use serde::Serialize;
use undertone_design::designer::{self, DesignOutcome, Method};
use undertone_design::objective::Objective as Weighed;
use undertone_design::price;

use crate::answer::Answer;
use crate::curve::{check_levels, level, optional_cell};
use crate::design::{DesignContext, Known, Objective, Protection};
use crate::number::{self, Round, nats, rounded};
use crate::{Error, ErrorCode};

/// Which policies to compare: every LIP level with every LDP level, and alone.
#[derive(Debug, Clone)]
pub struct FrontierRequest {
    /// What is known about the data. With a secret, LIP is about it and LDP about the data.
    pub context: DesignContext,
    /// What the reports are for; where nothing is said, shares, or for numbers their squared error.
    pub objective: Option<Objective>,
    /// The numbers the symbols stand for; empty for those of the prior's document, else 0, 1, 2 and so on.
    pub values: Vec<f64>,
    /// The LIP levels, each from 0 to 11.
    pub lip: Vec<f64>,
    /// The LDP levels, each from 0 to 11.
    pub ldp: Vec<f64>,
}

impl FrontierRequest {
    /// How many designs it takes.
    pub fn designs(&self) -> usize {
        (self.lip.len() + 1) * (self.ldp.len() + 1) - 1
    }
}

/// What LIP and LDP cost together.
#[derive(Debug, Clone, Serialize)]
pub struct FrontierReport {
    /// What the reports are for.
    pub objective: &'static str,
    /// Whether more of it is better.
    #[serde(skip)]
    pub is_gain: bool,
    /// What the best guess without any report is worth.
    #[serde(serialize_with = "number::as_value")]
    pub blind: f64,
    /// Every LIP level with the first LDP level, with the second and so on, and last without LDP.
    pub rows: Vec<FrontierPoint>,
    /// What every LDP level is worth alone.
    pub ldp_alone: Vec<LdpAlone>,
}

/// A verified policy with a LIP claim, and mostly an LDP claim.
#[derive(Debug, Clone, Serialize)]
pub struct FrontierPoint {
    /// The LIP level.
    #[serde(serialize_with = "number::as_value")]
    pub lip: f64,
    /// The LDP level; nothing for LIP alone.
    #[serde(serialize_with = "number::as_optional_value")]
    pub ldp: Option<f64>,
    /// What it is worth.
    #[serde(serialize_with = "number::as_optional_value")]
    pub utility: Option<f64>,
    /// What it attains.
    pub attained: FrontierAttained,
    /// Whether the LIP claim costs nothing: the best with the LDP claim alone is no better.
    pub lip_is_free: bool,
    /// The policy's id.
    pub policy_id: String,
}

/// What a policy attains, in nats rounded up.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct FrontierAttained {
    /// How far belief moves, in the secret if there is one; nothing without a prior.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub lip: Option<f64>,
    /// How far likelihoods of two inputs differ.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub ldp: Option<f64>,
}

/// The best policy with an LDP claim alone.
#[derive(Debug, Clone, Serialize)]
pub struct LdpAlone {
    /// The LDP level.
    #[serde(serialize_with = "number::as_value")]
    pub ldp: f64,
    /// What it is worth.
    #[serde(serialize_with = "number::as_optional_value")]
    pub utility: Option<f64>,
    /// What it attains.
    pub attained: FrontierAttained,
    /// The least LIP level asked for that costs nothing beside it.
    #[serde(serialize_with = "number::as_optional_value")]
    pub lip_free_from: Option<f64>,
}

/// Designs every policy of the frontier.
pub fn frontier(request: &FrontierRequest) -> Result<FrontierReport, Error> {
    frontier_with(request, || {})
}

/// Designs every policy of the frontier; `designed` is called after each.
pub fn frontier_with(
    request: &FrontierRequest,
    mut designed: impl FnMut(),
) -> Result<FrontierReport, Error> {
    let FrontierRequest { context, lip: lips, ldp: ldps, .. } = request;
    for (field, levels) in [("lip", lips), ("ldp", ldps)] {
        check_levels(field, &format!("is {levels:?}"), levels)?;
    }
    context.check_belief("lip", "these levels are")?;
    let known = context.read()?;
    let goal = known.objective(request.objective.as_ref(), &request.values)?;
    let blind = goal.blind(&known.prior)?;
    let mut report = FrontierReport {
        objective: goal.name(),
        is_gain: goal.is_gain(),
        blind,
        rows: Vec::new(),
        ldp_alone: Vec::new(),
    };
    let mut design = |lip: Option<f64>, ldp: Option<f64>| {
        let lip = lip.map(|level| format!("lip:{level:.10}"));
        let ldp = ldp.map(|level| format!("input:ldp:{level:.10}"));
        let protect = lip.into_iter().chain(ldp).map(|text| text.parse());
        let found = best(&known, &goal, &protect.collect::<Result<Vec<_>, _>>()?);
        designed();
        found
    };
    for ldp in ldps.iter().copied().map(Some).chain([None]) {
        let alone = ldp.map(|ldp| design(None, Some(ldp))).transpose()?;
        let most = alone.as_ref().and_then(|best| best.utility);
        let mut free_from: Option<f64> = None;
        for &lip in lips {
            let Best { utility, attained, policy_id } = design(Some(lip), ldp)?;
            let lip_is_free = match (utility, most) {
                (Some(both), Some(alone)) => price::same(both, alone, blind),
                _ => false,
            };
            if lip_is_free {
                free_from = Some(free_from.map_or(lip, |least| least.min(lip)));
            }
            report.rows.push(FrontierPoint { lip, ldp, utility, attained, lip_is_free, policy_id });
        }
        if let (Some(ldp), Some(Best { utility, attained, .. })) = (ldp, alone) {
            report.ldp_alone.push(LdpAlone { ldp, utility, attained, lip_free_from: free_from });
        }
    }
    Ok(report)
}

/// The best policy under some claims.
struct Best {
    utility: Option<f64>,
    attained: FrontierAttained,
    policy_id: String,
}

fn best(known: &Known, goal: &Weighed, protect: &[Protection]) -> Result<Best, Error> {
    let wanted = known.request(protect, goal.clone(), Method::Optimal)?;
    let DesignOutcome::Shipped(designed) = designer::design(&wanted)? else {
        return Err(Error::new(ErrorCode::Internal, "the optimum is never refused: report this"));
    };
    let certificate = designed.policy.certificate();
    let about = certificate.secret.as_ref().unwrap_or(&certificate.input);
    Ok(Best {
        utility: designed.utility,
        attained: FrontierAttained {
            lip: about.lip().map(level),
            ldp: Some(level(certificate.input.ldp.ratio)),
        },
        policy_id: designed.policy.id().to_string(),
    })
}

impl FrontierReport {
    /// The rows in groups of one LDP level each, the last without one.
    pub fn lines(&self) -> impl DoubleEndedIterator<Item = &[FrontierPoint]> {
        let lips = self.rows.len() / (self.ldp_alone.len() + 1);
        self.rows.chunks(lips.max(1))
    }

    /// The rows as a CSV table.
    pub fn csv(&self) -> String {
        let mut text =
            String::from("lip,ldp,utility,attained_lip,attained_ldp,lip_is_free,policy_id\n");
        for row in &self.rows {
            let _ = writeln!(
                text,
                "{},{},{},{},{},{},{}",
                number::cell(row.lip, Round::Nearest),
                optional_cell(row.ldp, Round::Nearest),
                optional_cell(row.utility, Round::Nearest),
                optional_cell(row.attained.lip, Round::Up),
                optional_cell(row.attained.ldp, Round::Up),
                row.lip_is_free,
                row.policy_id
            );
        }
        text
    }
}

impl Answer for FrontierReport {
    /// A line for every LDP level.
    fn words(&self) -> String {
        let line = |alone: &LdpAlone| {
            let utility = alone.utility.map_or("-".into(), |value| format!("{value:.6}"));
            let attained = alone.attained.lip.map_or("-".into(), |lip| rounded(lip, Round::Up));
            let free = match alone.lip_free_from {
                Some(lip) => format!("LIP costs nothing from {} on", nats(lip)),
                None => "LIP costs something at every level asked for".into(),
            };
            format!(
                "LDP {} alone: {utility}; that policy attains LIP {attained}; {free}",
                nats(alone.ldp)
            )
        };
        self.ldp_alone.iter().map(line).collect::<Vec<_>>().join("\n")
    }
}
