//! The life of a survey beside its rounds: paused, resumed, closed, archived, deleted, each in the log with who did it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use undertone_wire::{Code, Problem, RoundState, SurveyId};

use super::survey::{Phase, Stored};
use super::{AppState, CachedSurvey};
use crate::store::{RoundStep, StoreError};

/// A step of a survey's life that leaves a survey.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    Pause,
    Resume,
    Close,
    Archive,
}

impl Step {
    /// The entry of the log.
    fn kind(self) -> &'static str {
        match self {
            Self::Pause => "survey_paused",
            Self::Resume => "survey_resumed",
            Self::Close => "survey_closed",
            Self::Archive => "survey_archived",
        }
    }

    /// Where it leads from a phase, if anywhere.
    fn from(self, phase: Phase) -> Option<Phase> {
        match (self, phase) {
            (Self::Pause, Phase::Running) => Some(Phase::Paused),
            (Self::Resume, Phase::Paused) => Some(Phase::Running),
            (Self::Close, Phase::Running | Phase::Paused) => Some(Phase::Closed),
            (Self::Archive, Phase::Closed) => Some(Phase::Archived),
            _ => None,
        }
    }

    /// The phase it ends in.
    fn end(self) -> Phase {
        match self {
            Self::Pause => Phase::Paused,
            Self::Resume => Phase::Running,
            Self::Close => Phase::Closed,
            Self::Archive => Phase::Archived,
        }
    }
}

impl AppState {
    /// Takes a step; one that was taken already changes nothing.
    pub(crate) async fn step(
        &self,
        id: &SurveyId,
        step: Step,
        by: &str,
    ) -> Result<Arc<CachedSurvey>, Problem> {
        let cached = self.fresh(id).await?;
        let phase = cached.survey.phase;
        if phase == step.end() {
            return Ok(cached);
        }
        let Some(next) = step.from(phase) else {
            let detail = match step {
                Step::Archive => {
                    format!("survey {id} is {}: close it before it is archived", phase.name())
                }
                _ => format!("survey {id} is {}, which is for good", phase.name()),
            };
            return Err(Problem::new(Code::Conflict, detail));
        };
        let open = cached.newest().filter(|round| round.state == RoundState::Open);
        let open = open.map(|round| round.key.number);
        let now = self.now();
        let round = match step {
            Step::Pause => open.map(|number| (number, RoundStep::Hold)),
            Step::Resume => open.map(|number| (number, RoundStep::Resume)),
            Step::Close => open.map(|number| (number, RoundStep::Seal(now))),
            Step::Archive => None,
        };
        let mut events = Vec::new();
        if let (Step::Close, Some(number)) = (step, open) {
            events.push(self.event(id, "round_sealed", by, json!({"round": number})));
        }
        events.push(self.event(id, step.kind(), by, json!({})));
        let mut survey = cached.survey.clone();
        survey.phase = next;
        let document = survey.to_json();
        let store = &self.app.store;
        store.move_survey(id, (cached.version, &document), round, &events).await?;
        tracing::info!(survey = %id, by, phase = next.name(), "a survey moved on");
        // A sealed round is swept by the steps of counting.
        self.appended.notify_one();
        self.fresh(id).await
    }

    /// Deletes a closed survey: rounds, counts, estimates and policies. What remains is its name, so that no other gets
    /// it, and its log.
    pub(crate) async fn delete(&self, id: &SurveyId, by: &str) -> Result<(), Problem> {
        let cached = self.fresh(id).await?;
        if !matches!(cached.survey.phase, Phase::Closed | Phase::Archived) {
            let detail = format!(
                "survey {id} is {}: close it before it is deleted",
                cached.survey.phase.name()
            );
            return Err(Problem::new(Code::Conflict, detail));
        }
        for round in &cached.rounds {
            self.fold_round(&round.key).await?;
        }
        let now = self.now();
        let event = self.event(id, "survey_deleted", by, json!({"rounds": cached.rounds.len()}));
        let document = Stored::tombstone(now);
        let until = Instant::now() + self.app.settings.design_timeout.mul_f64(0.8);
        loop {
            let store = &self.app.store;
            match store.erase_survey(id, (cached.version, &document), &event).await {
                // The ids of its last round are still being deleted, here or by another curator.
                Err(StoreError::Unfolded) if Instant::now() < until => {
                    if !self.fold_once().await?.more {
                        tokio::time::sleep(Duration::from_millis(5)).await;
                    }
                }
                erased => break erased?,
            }
        }
        self.forget_deleted(id);
        tracing::info!(survey = %id, by, "a survey was deleted");
        self.wipe_now(id).await
    }
}
