//! Opening, sealing and releasing rounds.

use std::sync::Arc;

use serde_json::json;
use undertone_core::{Alphabet, Nats, Policy};
use undertone_wire::limits::EVERYONE;
use undertone_wire::{Code, Problem, RoundState, SurveyId, TokenShape};

use super::design::{self, Assumed, Audience, Found};
use super::estimates::{self, Counted};
use super::learning::{self, Lesson};
use super::plan::Group;
use super::survey::{GroupPolicy, RoundNote, Stored, Survey};
use super::{AppState, CachedSurvey, blocking};
use crate::clock::{self, timestamp};
use crate::store::{Event, NewPolicy, NewSurvey, RoundKey, RoundRecord};

/// A group and what its policy may assume.
struct Task {
    group: Group,
    assumed: Assumed,
    unlearned: Option<String>,
}

/// A designed round: what is remembered of it, and its policies.
struct Designed {
    note: RoundNote,
    policies: Vec<Policy>,
}

/// A policy's attained LDP, which is what budgets are kept in.
fn ldp(policy: &Policy) -> Result<Nats, Problem> {
    policy.certificate().input.ldp.ratio.ln_up().ok_or_else(|| {
        Problem::new(
            Code::RefusedClaim,
            "the policy attains no finite LDP, so what its rounds cost cannot be accounted",
        )
    })
}

fn design_round(
    survey: &Survey,
    id: &str,
    number: u32,
    tasks: Vec<Task>,
    date: &str,
) -> Result<Designed, Problem> {
    let answers: Alphabet = survey.body.alphabet()?;
    let mut note =
        RoundNote { number, groups: Vec::new(), ldp: Nats::ZERO.to_string(), released: None };
    let (mut policies, mut weakest) = (Vec::new(), Nats::ZERO);
    for Task { group, assumed, unlearned } in tasks {
        let audience = Audience { survey: id, round: number, group: &group.group, date };
        let Found { policy, method, .. } =
            design::policy(&survey.body.plan, &answers, &assumed, audience)?;
        let cost = ldp(&policy)?;
        weakest = weakest.max(cost);
        let strength = policy.certificate().input;
        note.groups.push(GroupPolicy {
            group: group.group,
            people: group.people,
            policy: policy.id().to_string(),
            method,
            claims: policy.draft().claims().iter().map(ToString::to_string).collect(),
            lip: strength.lip().and_then(|ratio| ratio.ln_up()).map(|nats| nats.to_string()),
            ldp: cost.to_string(),
            learned: match assumed {
                Assumed::Learned(learned) => Some(learned),
                _ => None,
            },
            unlearned,
        });
        policies.push(policy);
    }
    note.ldp = weakest.to_string();
    // A group is told by its policy, and a person is in one of them: the weakest counts.
    let spent = survey.spent().unwrap_or(Nats::from_units(u64::MAX));
    let total = survey.body.plan.total()?;
    if spent.checked_add(weakest).is_none_or(|sum| sum > total) {
        let detail = format!(
            "the survey's total_ldp is {total} nats, {spent} are spent and round {number} would cost {weakest}: plan a larger total, or cap rounds with ldp_per_round"
        );
        return Err(Problem::new(Code::BudgetSpent, detail));
    }
    Ok(Designed { note, policies })
}

fn published(policy: &Policy) -> NewPolicy {
    let draft = policy.draft();
    NewPolicy { id: policy.id(), bytes: draft.to_bytes(), tokens: TokenShape::of(draft) }
}

impl AppState {
    /// An entry of the log, which names who did it.
    pub(crate) fn event(
        &self,
        survey: &SurveyId,
        kind: &str,
        by: &str,
        mut detail: serde_json::Value,
    ) -> Event {
        detail["by"] = by.into();
        Event {
            survey: survey.clone(),
            at: self.now(),
            kind: kind.into(),
            detail: detail.to_string(),
        }
    }

    /// Designs the first round of a survey, and stores the survey with that round open.
    pub(crate) async fn create(
        &self,
        id: SurveyId,
        survey: Survey,
        by: &str,
    ) -> Result<Arc<CachedSurvey>, Problem> {
        if let Some(stored) = self.app.store.survey(&id).await? {
            let detail = match Stored::from_json(&stored.document) {
                Ok(Stored::Deleted { deleted }) => format!(
                    "the name {id} was used by a survey that was deleted at {}, and is not given again: take another",
                    timestamp(deleted)
                ),
                _ => format!("there is a survey {id} already: take another name"),
            };
            return Err(Problem::new(Code::Conflict, detail));
        }
        let designed = self.design(&id, &survey, 1, first_tasks(&survey)).await?;
        let about = json!({"title": survey.body.title, "plan": survey.body.plan});
        let created = self.event(&id, "survey_created", by, about);
        let (document, policies, opened) = self.with_round(&id, survey, designed, by);
        let new = NewSurvey { id, document, policies, created, opened };
        self.app.store.create_survey(&new).await?;
        tracing::info!(survey = %new.id, round = 1, "a survey was created and its round opened");
        self.fresh(&new.id).await
    }

    /// Opens the next round of a survey.
    pub(crate) async fn open_next(
        &self,
        id: &SurveyId,
        by: &str,
    ) -> Result<Arc<CachedSurvey>, Problem> {
        let cached = self.fresh(id).await?;
        if !cached.survey.phase.is_running() {
            let detail =
                format!("survey {id} is {}: no round is opened", cached.survey.phase.name());
            return Err(Problem::new(Code::Conflict, detail));
        }
        let Some(newest) = cached.newest() else {
            // An earlier program stopped between storing the survey and opening its first round.
            let survey = cached.survey.clone();
            let designed = self.design(id, &survey, 1, first_tasks(&survey)).await?;
            return self.open(id, cached.version, survey, designed, by).await;
        };
        let number = newest.key.number;
        if newest.state == RoundState::Open {
            let detail = format!("round {number} is open: seal it before the next is opened");
            return Err(Problem::new(Code::RoundOpen, detail));
        }
        let planned = cached.survey.body.plan.rounds;
        if number >= planned {
            let detail = format!("the plan has {planned} rounds and all were used");
            return Err(Problem::new(Code::BudgetSpent, detail));
        }
        let tasks = self.next_tasks(&cached, newest).await?;
        let survey = cached.survey.clone();
        let designed = self.design(id, &survey, number + 1, tasks).await?;
        self.open(id, cached.version, survey, designed, by).await
    }

    /// What every group's next policy may assume: the box its last reports give.
    async fn next_tasks(
        &self,
        cached: &CachedSurvey,
        newest: &RoundRecord,
    ) -> Result<Vec<Task>, Problem> {
        self.fold_round(&newest.key).await?;
        let counted = self.counted(cached, newest).await?;
        let minimum = cached.survey.body.minimum;
        let reports: u64 = counted.iter().map(|group| group.tally.reports).sum();
        let number = newest.key.number;
        if reports < minimum {
            let detail = format!(
                "round {number} has {reports} reports and at least {minimum} are needed to learn from it"
            );
            return Err(Problem::new(Code::TooFewReports, detail));
        }
        let plan = &cached.survey.body.plan;
        let groups = plan.groups(cached.survey.body.group_minimum);
        let mut tasks = Vec::new();
        for (group, counted) in groups.into_iter().zip(counted) {
            let confidence = plan.confidence;
            let few = counted.tally.reports < minimum;
            let lesson = if few {
                Lesson::Unusable(format!(
                    "round {number} has {} reports from this group and at least {minimum} are needed",
                    counted.tally.reports
                ))
            } else {
                let learn =
                    move || learning::learn(number, &counted.policy, &counted.tally, confidence);
                blocking(learn).await??
            };
            tasks.push(match lesson {
                Lesson::Learned(learned) => {
                    Task { group, assumed: Assumed::Learned(learned), unlearned: None }
                }
                Lesson::Unusable(why) => {
                    Task { group, assumed: Assumed::Nothing, unlearned: Some(why) }
                }
            });
        }
        Ok(tasks)
    }

    async fn design(
        &self,
        id: &SurveyId,
        survey: &Survey,
        number: u32,
        tasks: Vec<Task>,
    ) -> Result<Designed, Problem> {
        let (survey, name, date) = (survey.clone(), id.to_string(), clock::date(self.now()));
        blocking(move || design_round(&survey, &name, number, tasks, &date)).await?
    }

    async fn open(
        &self,
        id: &SurveyId,
        version: u64,
        survey: Survey,
        designed: Designed,
        by: &str,
    ) -> Result<Arc<CachedSurvey>, Problem> {
        let key = RoundKey { survey: id.clone(), number: designed.note.number };
        let (document, policies, event) = self.with_round(id, survey, designed, by);
        self.app.store.open_round(&key, &policies, (version, &document), &event).await?;
        tracing::info!(survey = %id, round = key.number, "a round was opened");
        self.fresh(id).await
    }

    /// What is stored when a designed round is opened: the survey's new document, the policies, the
    /// entry of the log.
    fn with_round(
        &self,
        id: &SurveyId,
        mut survey: Survey,
        designed: Designed,
        by: &str,
    ) -> (String, Vec<NewPolicy>, Event) {
        let Designed { note, policies } = designed;
        let shown: Vec<_> = note
            .groups
            .iter()
            .map(|group| {
                json!({"group": group.group, "stated_people": group.people, "policy": group.policy,
                       "claims": group.claims, "ldp": group.ldp})
            })
            .collect();
        let detail = json!({"round": note.number, "groups": shown});
        let event = self.event(id, "round_opened", by, detail);
        survey.rounds.push(note);
        (survey.to_json(), policies.iter().map(published).collect(), event)
    }

    /// Seals a round; sealing a sealed round changes nothing.
    pub(crate) async fn seal(
        &self,
        id: &SurveyId,
        number: u32,
        by: &str,
    ) -> Result<Arc<CachedSurvey>, Problem> {
        let cached = self.fresh(id).await?;
        let record = find(&cached, number)?;
        if record.state == RoundState::Open {
            let event = self.event(id, "round_sealed", by, json!({"round": number}));
            self.app.store.seal(&record.key, self.now(), &event).await?;
            tracing::info!(survey = %id, round = number, by, "a round was sealed");
            self.appended.notify_one();
        }
        self.fresh(id).await
    }

    /// Releases a sealed round: its estimates become part of the survey, for everybody.
    pub(crate) async fn release(
        &self,
        id: &SurveyId,
        number: u32,
        by: &str,
    ) -> Result<Arc<CachedSurvey>, Problem> {
        let cached = self.fresh(id).await?;
        let record = find(&cached, number)?;
        match record.state {
            RoundState::Open => {
                let detail = format!("round {number} is open: seal it before its release");
                return Err(Problem::new(Code::RoundOpen, detail));
            }
            RoundState::Released => return Ok(cached),
            RoundState::Sealed => {}
        }
        self.fold_round(&record.key).await?;
        let counted = self.counted(&cached, record).await?;
        let reports: u64 = counted.iter().map(|group| group.tally.reports).sum();
        let released =
            blocking(move || estimates::round_estimates(number, RoundState::Released, &counted))
                .await??;
        // Numbers that are finite and names that are text always serialise.
        let released = serde_json::to_value(released).unwrap_or_default();
        let mut survey = cached.survey.clone();
        let note = survey.rounds.iter_mut().find(|note| note.number == number);
        note.ok_or_else(|| unknown(number))?.released = Some(released);
        let detail = json!({"round": number, "reports": reports});
        let event = self.event(id, "round_released", by, detail);
        let document = survey.to_json();
        let store = &self.app.store;
        store.release(&record.key, self.now(), (cached.version, &document), &event).await?;
        tracing::info!(survey = %id, round = number, "a round was released");
        self.fresh(id).await
    }

    /// The groups of a round with what was counted so far.
    pub(crate) async fn counted(
        &self,
        cached: &CachedSurvey,
        record: &RoundRecord,
    ) -> Result<Vec<Counted>, Problem> {
        let tallies = self.app.store.tallies(&record.key).await?;
        let note = cached.survey.rounds.iter().find(|note| note.number == record.key.number);
        let name = |policy: &str| {
            let group = note.and_then(|note| note.groups.iter().find(|g| g.policy == policy));
            group.map_or_else(|| EVERYONE.into(), |group| group.group.clone())
        };
        let one = |tally: crate::store::RoundTally| {
            let policy = cached.policy(&tally.policy)?.clone();
            Ok(Counted { group: name(&tally.policy.to_string()), policy, tally })
        };
        tallies.into_iter().map(one).collect()
    }
}

fn first_tasks(survey: &Survey) -> Vec<Task> {
    let plan = &survey.body.plan;
    let task = |group: Group| {
        let prior = group.prior.clone().or_else(|| plan.prior.clone());
        let assumed = prior.map_or(Assumed::Nothing, Assumed::Given);
        Task { group, assumed, unlearned: None }
    };
    plan.groups(survey.body.group_minimum).into_iter().map(task).collect()
}

fn unknown(number: u32) -> Problem {
    Problem::new(Code::NotFound, format!("the survey has no round {number}"))
}

pub(crate) fn find(cached: &CachedSurvey, number: u32) -> Result<&RoundRecord, Problem> {
    cached.rounds.iter().find(|round| round.key.number == number).ok_or_else(|| unknown(number))
}
