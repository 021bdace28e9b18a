//! Policies for people with a prior each: who is alike shares one, and each holds for every prior of its group.
//!
//! A table says for every person, or every segment of so many people, how likely each answer is. People whose priors are alike are
//! brought together in groups that are large enough ([`LEAST_GROUP`]), and every group gets a policy designed for the box of its members'
//! priors, which the kernel checks exactly: what it promises holds for each of them.
//!
//! ```
//! use undertone::columns::Source;
//! use undertone::design::{PriorTable, design_many, ManyDesignRequest};
//!
//! let mut table = "person,no,yes\n".to_owned();
//! for person in 0..400 {
//!     table += &format!("{person},{}\n", if person % 4 == 0 { "0.4,0.6" } else { "0.95,0.05" });
//! }
//! let rows = Source::reader("predicted", std::io::Cursor::new(table));
//! let table = PriorTable::read(rows, &["no".into(), "yes".into()], None)?;
//! let request = ManyDesignRequest::new(table, vec!["lip:1".parse()?]);
//! let found = design_many(&request, &|_, _| {})?;
//! assert_eq!(found.groups.iter().map(|group| group.people).collect::<Vec<_>>(), [300, 100]);
//! # Ok::<(), undertone::Error>(())
//! ```

use serde::Serialize;
use undertone_core::{Policy, PolicyId, Provenance};
use undertone_design::Symbols;
use undertone_design::prior_groups::{PriorGroup, PriorGroups};
use undertone_design::prior_region::PriorBox;

use super::{
    DesignContext, DesignMethod, DesignRequest, Objective, Protection, share_variance, solve,
};
use crate::attained::AttainedAll;
use crate::columns::{Source, csv};
use crate::error::mention;
use crate::perturb::LEAST_GROUP;
use crate::{Answer, Error, Prior, number};

/// Probabilities that add up to one only up to this were rounded when they were written, and are scaled.
const ROUNDED: f64 = 2e-3;

/// More groups than these are not made unless they are asked for.
const MOST_GROUPS: usize = 16;

/// A prior for every row of a table, and the table's other columns.
#[derive(Debug, Clone)]
pub struct PriorTable {
    name: String,
    symbols: Vec<String>,
    priors: Vec<Vec<f64>>,
    people: Vec<u64>,
    /// The columns that are no probabilities, and their cells, row by row.
    others: Vec<String>,
    cells: Vec<Vec<String>>,
}

impl PriorTable {
    /// Reads a table with a column of probabilities for each of these symbols; `people` is the column that says how many people a row
    /// stands for, where it is not one.
    pub fn read(rows: Source, symbols: &[String], people: Option<&str>) -> Result<Self, Error> {
        let name = rows.name().to_owned();
        if symbols.len() < 2 {
            let problem = ": name the columns that hold the probabilities of at least two symbols";
            return Err(Error::field("symbols", problem));
        }
        let mut table = Self {
            name: name.clone(),
            symbols: symbols.to_vec(),
            priors: Vec::new(),
            people: Vec::new(),
            others: Vec::new(),
            cells: Vec::new(),
        };
        let rows = rows.open()?;
        let columns = rows.columns().to_vec();
        let place = |column: &str| crate::columns::position(&name, column, &columns);
        let probabilities: Vec<usize> =
            symbols.iter().map(|symbol| place(symbol)).collect::<Result<_, _>>()?;
        let people = people.map(place).transpose()?;
        let others: Vec<usize> =
            (0..columns.len()).filter(|at| !probabilities.contains(at)).collect();
        table.others = others.iter().map(|&at| columns[at].clone()).collect();
        let wanted: Vec<&str> = columns.iter().map(String::as_str).collect();
        rows.each_row(&wanted, |row| {
            let cell = |at: usize| row.cells[at].as_deref();
            let wrong = |at: usize, what: String| {
                let problem = format!("{}, column {:?} {what}", row.place(), columns[at]);
                Error::in_document(&name, problem)
            };
            let probability = |&at: &usize| {
                let read = cell(at).and_then(|text| text.parse::<f64>().ok());
                read.filter(|p| (0.0..=1.0).contains(p)).ok_or_else(|| {
                    wrong(
                        at,
                        "is no probability: give a number from 0 to 1 for every symbol".into(),
                    )
                })
            };
            let prior = probabilities.iter().map(probability).collect::<Result<Vec<f64>, _>>()?;
            let sum: f64 = prior.iter().sum();
            if !((sum - 1.0).abs() <= ROUNDED) {
                let problem = format!(
                    "{}: the probabilities of {} add up to {}: they must add up to 1",
                    row.place(),
                    symbols.join(", "),
                    number::nats(sum)
                );
                return Err(Error::in_document(&name, problem));
            }
            let count = match people {
                None => 1,
                Some(at) => {
                    cell(at).and_then(|text| text.parse::<u64>().ok()).ok_or_else(|| {
                        wrong(
                            at,
                            "is no number of people: give a whole number of at least 0".into(),
                        )
                    })?
                }
            };
            table.priors.push(prior.into_iter().map(|p| p / sum).collect());
            table.people.push(count);
            table
                .cells
                .push(others.iter().map(|&at| cell(at).unwrap_or_default().into()).collect());
            Ok::<(), Error>(())
        })?;
        Ok(table)
    }
}

/// A table of priors, what must hold for everybody, and how large groups must be.
#[derive(Debug, Clone)]
pub struct ManyDesignRequest {
    /// The priors.
    pub table: PriorTable,
    /// What must hold for every person's own prior, all of it at once.
    pub protect: Vec<Protection>,
    /// What the reports are for; where nothing is said, shares.
    pub objective: Option<Objective>,
    /// How to find the channels.
    pub method: Option<DesignMethod>,
    /// How many people must share a policy at least.
    pub least_group: u64,
    /// How many groups there are at most.
    pub most_groups: usize,
    /// When the table was made.
    pub date: Option<String>,
}

impl ManyDesignRequest {
    /// At most sixteen groups of at least a hundred people.
    pub fn new(table: PriorTable, protect: Vec<Protection>) -> Self {
        Self {
            table,
            protect,
            objective: None,
            method: None,
            least_group: LEAST_GROUP,
            most_groups: MOST_GROUPS,
            date: None,
        }
    }

    /// What is asked of a group's policy.
    fn of(&self, group: &PriorGroup, words: &str) -> Result<DesignRequest, Error> {
        let symbols = Symbols::names(self.table.symbols.clone())?;
        let prior = Prior::named(self.table.symbols.iter().cloned().zip(scaled(&group.mean)))?;
        let alike = group.lower == group.upper;
        let within = (!alike).then(|| PriorBox::new(group.lower.clone(), group.upper.clone()));
        let context = DesignContext {
            priors: vec![prior],
            within: within.transpose()?.map(|within| within.over(&symbols)).transpose()?,
            provenance: Some(Provenance {
                source: format!("{}, {words}", self.table.name),
                n: group.people,
                date: self.date.clone().unwrap_or_default(),
                ..Provenance::default()
            }),
            ..DesignContext::default()
        };
        Ok(DesignRequest {
            context,
            protect: self.protect.clone(),
            objective: self.objective.clone(),
            method: self.method,
            ..DesignRequest::default()
        })
    }
}

/// A mean of priors, whose sum is off by rounding.
fn scaled(mean: &[f64]) -> impl Iterator<Item = f64> {
    let sum: f64 = mean.iter().sum();
    mean.iter().map(move |p| p / sum)
}

/// Policies for all people of a table.
#[derive(Debug, Clone, Serialize)]
pub struct ManyDesignReport {
    /// The table's name.
    pub table: String,
    /// The symbols.
    pub symbols: Vec<String>,
    /// How many rows the table has.
    pub rows: usize,
    /// How many people they stand for.
    pub people: u64,
    /// How many people had to share a policy at least.
    pub least_group: u64,
    /// What holds for every person's own prior.
    pub requested: Vec<String>,
    /// The groups.
    pub groups: Vec<GroupDesign>,
    /// What the group alone tells whoever sees it, if the predictions are right: it is released without noise.
    pub told: GroupTells,
    /// What the reports are worth, beside one policy that promises the same to everybody and beside LDP.
    pub compared: ManyCompared,
    /// The group of every row.
    #[serde(skip)]
    pub of: Vec<u32>,
}

/// One group and its policy.
#[derive(Debug, Clone, Serialize)]
pub struct GroupDesign {
    /// What the group is called: 1, 2, 3 and so on.
    pub group: String,
    /// How many people it has.
    pub people: u64,
    /// The mean of their priors.
    #[serde(serialize_with = "number::as_values")]
    pub prior: Vec<f64>,
    /// The least probability of every symbol among them.
    #[serde(serialize_with = "number::as_values")]
    pub lower: Vec<f64>,
    /// The greatest.
    #[serde(serialize_with = "number::as_values")]
    pub upper: Vec<f64>,
    /// The policy.
    #[serde(skip)]
    pub policy: Policy,
    /// Its id.
    #[serde(serialize_with = "number::as_text")]
    pub policy_id: PolicyId,
    /// What its integers attain: LIP for the worst prior of the group, LDP whatever the prior.
    pub attained: AttainedAll,
}

/// What knowing a person's group says about the answer, if the predictions are right.
#[derive(Debug, Clone, Serialize)]
pub struct GroupTells {
    /// How often a guess of the most likely answer is right that knows nothing of a person.
    #[serde(serialize_with = "number::as_value")]
    pub guessed_blindly: f64,
    /// How often it is right with the group known.
    #[serde(serialize_with = "number::as_value")]
    pub guessed_with_group: f64,
    /// The mutual information of group and answer, in nats.
    #[serde(serialize_with = "number::as_value")]
    pub information: f64,
    /// The largest |ln| of a group's probability of an answer over that of everybody, in nats; nothing if without bound.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub lift: Option<f64>,
}

/// The variance of one report's part in all shares together, noise and sampling, if the predictions are right. Less is better.
#[derive(Debug, Clone, Serialize)]
pub struct ManyCompared {
    /// With the groups' policies.
    #[serde(serialize_with = "number::as_optional_value")]
    pub by_group: Option<f64>,
    /// With one policy for everybody that promises the same for every prior of the table.
    #[serde(serialize_with = "number::as_optional_value")]
    pub one_policy: Option<f64>,
    /// The LDP level that policy attains.
    #[serde(serialize_with = "number::as_optional_bound")]
    pub one_policy_ldp: Option<f64>,
    /// With LDP at the level that was asked for, where one level of LIP was.
    #[serde(serialize_with = "number::as_optional_value")]
    pub ldp: Option<f64>,
    /// With LDP at twice that level.
    #[serde(serialize_with = "number::as_optional_value")]
    pub ldp_twice: Option<f64>,
    /// Without any noise.
    #[serde(serialize_with = "number::as_value")]
    pub no_noise: f64,
}

/// Brings people together and designs a policy for every group; `progress` is told how many policies of how many are done.
pub fn design_many(
    request: &ManyDesignRequest,
    progress: &dyn Fn(usize, usize),
) -> Result<ManyDesignReport, Error> {
    if request.protect.is_empty() {
        return Err(Error::field("protect", "is not given: say what must hold, such as lip:1"));
    }
    let table = &request.table;
    let found = PriorGroups::new(
        &table.priors,
        &table.people,
        request.least_group.max(1),
        request.most_groups,
    )
    .map_err(|error| Error::in_document(&table.name, error))?;
    let total = found.groups().len();
    let mut groups = Vec::with_capacity(total);
    for (at, group) in found.groups().iter().enumerate() {
        progress(at, total);
        let name = (at + 1).to_string();
        let asked = request.of(group, &format!("group {name} of {total}"))?;
        let policy = solve(&asked).and_then(super::Solution::into_policy);
        let policy = policy.map_err(|error| {
            Error::in_document(
                &format!("group {name} ({} people)", group.people),
                format!(
                    "{error}; more groups, whose priors are more alike, may help: {}",
                    mention("groups")
                ),
            )
        })?;
        groups.push(GroupDesign {
            group: name,
            people: group.people,
            prior: group.mean.clone(),
            lower: group.lower.clone(),
            upper: group.upper.clone(),
            policy_id: policy.id(),
            attained: AttainedAll::of(policy.draft()),
            policy,
        });
    }
    progress(total, total);
    let everybody = PriorGroups::new(&table.priors, &table.people, 1, 1)?;
    let everybody = &everybody.groups()[0];
    Ok(ManyDesignReport {
        table: table.name.clone(),
        symbols: table.symbols.clone(),
        rows: table.priors.len(),
        people: everybody.people,
        least_group: request.least_group,
        requested: request.protect.iter().map(ToString::to_string).collect(),
        told: tells(&groups, everybody),
        compared: compared(request, &groups, everybody)?,
        of: found.of().to_vec(),
        groups,
    })
}

/// What the group alone says about the answer.
fn tells(groups: &[GroupDesign], everybody: &PriorGroup) -> GroupTells {
    let most = |p: &[f64]| p.iter().copied().fold(0.0, f64::max);
    let (mut guessed, mut information, mut lift) = (0.0, 0.0, 0.0f64);
    for group in groups {
        let part = group.people as f64 / everybody.people as f64;
        guessed += part * most(&group.prior);
        for (&own, &all) in group.prior.iter().zip(&everybody.mean) {
            if own > 0.0 {
                information += part * own * (own / all).ln();
            }
            if all > 0.0 {
                lift = lift.max((own / all).ln().abs());
            }
        }
    }
    GroupTells {
        guessed_blindly: most(&everybody.mean),
        guessed_with_group: guessed,
        information: information.max(0.0),
        lift: Some(lift).filter(|lift| lift.is_finite()),
    }
}

/// The level of a request for one pure level of LIP.
fn lip_level(protect: &[Protection]) -> Option<f64> {
    let [one] = protect else { return None };
    one.to_string().strip_prefix("lip:")?.parse().ok()
}

fn compared(
    request: &ManyDesignRequest,
    groups: &[GroupDesign],
    everybody: &PriorGroup,
) -> Result<ManyCompared, Error> {
    let sampling = |p: &[f64]| 1.0 - p.iter().map(|p| p * p).sum::<f64>();
    // Every group has shares of its own: what policies add is added up, and people vary as they do without groups.
    let all_together = |policy: &dyn Fn(usize) -> Policy| -> Result<Option<f64>, Error> {
        let mut sum = sampling(&everybody.mean);
        for (at, group) in groups.iter().enumerate() {
            let shares: Vec<f64> = scaled(&group.prior).collect();
            let Some(variance) = share_variance(&policy(at), shares)? else { return Ok(None) };
            let part = group.people as f64 / everybody.people as f64;
            sum += part * (variance - sampling(&group.prior));
        }
        Ok(Some(sum).filter(|sum| sum.is_finite()))
    };
    let one =
        solve(&request.of(everybody, "everybody")?).and_then(super::Solution::into_policy).ok();
    let ldp = |level: f64| -> Result<Option<f64>, Error> {
        let protect = vec![format!("ldp:{level}").parse()?];
        let asked = ManyDesignRequest { protect, ..request.clone() }.of(everybody, "everybody")?;
        let policy = solve(&asked).and_then(super::Solution::into_policy).ok();
        policy.map_or(Ok(None), |policy| all_together(&|_| policy.clone()))
    };
    let level = lip_level(&request.protect);
    let worth = |policy: &Policy| all_together(&|_| policy.clone());
    let attained = |policy: &Policy| {
        let nats = policy.certificate().input.ldp.ratio.ln_up()?;
        nats.to_string().parse().ok()
    };
    Ok(ManyCompared {
        by_group: all_together(&|at| groups[at].policy.clone())?,
        one_policy: one.as_ref().map_or(Ok(None), worth)?,
        one_policy_ldp: one.as_ref().and_then(attained),
        ldp: level.map_or(Ok(None), ldp)?,
        ldp_twice: level.map_or(Ok(None), |level| ldp(2.0 * level))?,
        no_noise: sampling(&everybody.mean),
    })
}

impl ManyDesignReport {
    /// The table's other columns with one more, which says every row's group, as CSV.
    pub fn grouped(&self, table: &PriorTable, column: &str) -> Result<Vec<u8>, Error> {
        if table.others.iter().any(|other| other == column) {
            let problem =
                format!("is {column:?}, and the table has a column of that name: name another");
            return Err(Error::field("group_column", problem));
        }
        let mut out = Vec::new();
        let mut line = |cells: &mut dyn Iterator<Item = &str>| {
            for (at, cell) in cells.enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                out.extend(csv::quoted(cell, b','));
            }
            out.push(b'\n');
        };
        line(&mut table.others.iter().map(String::as_str).chain([column]));
        for (cells, &group) in table.cells.iter().zip(&self.of) {
            let group = self.groups[group as usize].group.as_str();
            line(&mut cells.iter().map(String::as_str).chain([group]));
        }
        Ok(out)
    }
}

impl Answer for ManyDesignReport {
    fn words(&self) -> String {
        format!(
            "{} for {} people under {}. Whoever sees a person's group guesses the answer right in {:.1} % instead of {:.1} %, if the predictions are right.",
            number::counted(self.groups.len() as u64, "group"),
            self.people,
            self.requested.join(" and "),
            100.0 * self.told.guessed_with_group,
            100.0 * self.told.guessed_blindly
        )
    }
}
