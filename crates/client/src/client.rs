//! One person's side of a survey.

use crate::budget::{Account, OverBudget};
use crate::connection::{BadAddress, Connection, FetchError};
use crate::day::Day;
use crate::device::{Charge, Delivery, Device, DeviceError, Refused, Remembered};
use crate::random::SystemBytes;
use crate::submit::SubmitError;
use crate::survey::{Survey, choices};
use rand_core::CryptoRng;
use std::collections::BTreeMap;
use undertone_core::{
    AboveConsent, Consent, LedgerError, PolicyId, Report, ReportId, SampleError, Sequence, Symbol,
};
use undertone_wire::BatchForm;
use undertone_wire::limits::MOST_REPORTS;

/// A device, its owner's consent, and a connection to a curator.
#[derive(Debug)]
pub struct Client {
    connection: Connection,
    device: Device,
    consent: Consent,
    form: BatchForm,
    /// What day it is; `None`: as the system's clock says.
    today: Option<Day>,
}

/// What became of an answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    /// All that leaves the device.
    pub report: Report,
    /// Where it is.
    pub delivery: Delivery,
    /// Whether it was drawn before and is only repeated.
    pub repeated: bool,
    /// Why it waits, if it does.
    pub obstacle: Option<String>,
}

/// What became of the reports that waited.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Flushed {
    /// Acknowledged.
    pub accepted: usize,
    /// Finally refused.
    pub refused: usize,
    /// Still waiting.
    pub waiting: usize,
    /// Why they wait, if they do.
    pub obstacle: Option<String>,
}

/// Why nothing was released.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The curator's address.
    #[error(transparent)]
    Address(#[from] BadAddress),
    /// The survey or policy.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// The person has not agreed to it.
    #[error(transparent)]
    Consent(#[from] AboveConsent),
    /// The claims of everything released about a datum do not hold together.
    #[error(transparent)]
    Ledger(LedgerError),
    /// A budget does not allow it.
    #[error(transparent)]
    Budget(#[from] OverBudget),
    /// It tells about nothing.
    #[error("a release tells about at least one datum: name it")]
    NoDatum,
    /// The device's file.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// The symbol is not the policy's.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// The system gives no random bytes.
    #[error("the system's random generator failed: {0}")]
    Random(#[from] getrandom::Error),
    /// The round takes no reports, so nothing is spent on it.
    #[error("round {round} of this survey is not open: nothing was drawn")]
    NotOpen {
        /// The round.
        round: u32,
    },
    /// No answer of the survey has this name. What was given is a person's answer, so neither the error nor its message
    /// holds it.
    #[error("no answer of this survey has that name: it takes {answers}")]
    NotAnAnswer {
        /// What it takes, in words.
        answers: String,
    },
    /// The ledger knows an answer that is not remembered.
    #[error("the ledger says this policy has answered, but the report is not on the device")]
    Forgotten,
    /// The survey was fetched from elsewhere.
    #[error("this survey comes from {found}, and this client speaks to {expected}")]
    OtherCurator {
        /// This client's curator.
        expected: String,
        /// The survey's.
        found: String,
    },
}

impl From<Refused> for ClientError {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Budget(over) => Self::Budget(over),
            Refused::Consent(above) => Self::Consent(above),
            Refused::Ledger(error) => Self::Ledger(error),
            Refused::Released => Self::Forgotten,
            Refused::NoDatum => Self::NoDatum,
        }
    }
}

impl Client {
    /// A client of the curator at `base`, with the default consent.
    pub fn new(base: &str, device: Device) -> Result<Self, BadAddress> {
        Ok(Self::with_connection(Connection::new(base)?, device))
    }

    /// A client over a connection that others may share, with the default consent.
    pub fn with_connection(connection: Connection, device: Device) -> Self {
        Self {
            connection,
            device,
            consent: Consent::default(),
            form: BatchForm::default(),
            today: None,
        }
    }

    /// This client with another consent.
    #[must_use]
    pub fn with_consent(self, consent: Consent) -> Self {
        Self { consent, ..self }
    }

    /// This client, sending in another form.
    #[must_use]
    pub fn with_form(self, form: BatchForm) -> Self {
        Self { form, ..self }
    }

    /// This client on a fixed day, whatever the system's clock says: for tests, and for devices with a clock of their own.
    #[must_use]
    pub fn with_today(self, today: Day) -> Self {
        Self { today: Some(today), ..self }
    }

    /// The day it is.
    pub fn today(&self) -> Day {
        self.today.unwrap_or_else(Day::today)
    }

    /// The connection to its curator.
    pub fn connection(&self) -> &Connection {
        &self.connection
    }

    /// What this device remembers.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What this device remembers, to change its budgets.
    pub fn device_mut(&mut self) -> &mut Device {
        &mut self.device
    }

    /// What its owner agrees to.
    pub fn consent(&self) -> &Consent {
        &self.consent
    }

    /// What stands on the three budgets an answer to a survey is charged to: its question's, its collector's and the device's.
    pub fn accounts(&self, survey: &Survey) -> [Account; 3] {
        let (device, today, collector) = (&self.device, self.today(), self.connection.base());
        [
            device.question_account(survey.datum(), collector, today),
            device.collector_account(collector, today),
            device.device_account(today),
        ]
    }

    /// Gives the device back.
    pub fn into_device(self) -> Device {
        self.device
    }

    /// Fetches and verifies a survey, and refuses one above the consent. The device keeps what it fetched; where the curator
    /// cannot be reached, that is verified again and used in its place ([`Survey::is_cached`]).
    pub fn survey(&mut self, id: &str) -> Result<Survey, ClientError> {
        self.survey_for(id, None)
    }

    /// As [`Client::survey`], for a person of a named group.
    pub fn survey_of_group(&mut self, id: &str, group: &str) -> Result<Survey, ClientError> {
        self.survey_for(id, Some(group))
    }

    fn survey_for(&mut self, id: &str, group: Option<&str>) -> Result<Survey, ClientError> {
        let (survey, fetched) = match self.connection.survey_for(id, group) {
            Ok(survey) => (survey, true),
            // Only where nobody answers: what a curator says now goes before what it said once.
            Err(error @ FetchError::Unavailable { .. }) => {
                let kept = self.device.kept_survey(self.connection.base(), id, group);
                (kept.ok_or(error)?, false)
            }
            Err(error) => return Err(error.into()),
        };
        self.consent.check(&Sequence::new().after(survey.policy()))?;
        if fetched {
            self.device.keep_survey(&survey, group);
        }
        Ok(survey)
    }

    /// A survey that was fetched before and is still on the device, verified again, without asking the curator.
    pub fn cached_survey(&self, id: &str) -> Option<Survey> {
        self.device.kept_survey(self.connection.base(), id, None)
    }

    /// Answers a survey: draws (or remembers) a report, writes it down, and sends it. A report that
    /// cannot be sent now waits on the device and is no error.
    pub fn answer(&mut self, survey: &Survey, answer: Symbol) -> Result<Answer, ClientError> {
        let (report, repeated) = self.record(survey, answer)?;
        self.deliver(survey, report, repeated)
    }

    /// As [`Client::answer`], by the answer's name: one of the survey's names, an index, or a number.
    pub fn answer_named(&mut self, survey: &Survey, name: &str) -> Result<Answer, ClientError> {
        let answer = survey
            .alphabet()
            .named(name)
            .map_err(|_| ClientError::NotAnAnswer { answers: choices(survey.alphabet()) })?;
        self.answer(survey, answer)
    }

    /// Draws (or remembers) a report and writes it down without sending it; `true` if it was
    /// remembered. [`Client::flush`] sends it.
    pub fn record(
        &mut self,
        survey: &Survey,
        answer: Symbol,
    ) -> Result<(Report, bool), ClientError> {
        // Fetched before anything is charged.
        let mut random = SystemBytes::for_report(survey.policy())?;
        self.record_with(survey, answer, &mut random)
    }

    /// As [`Client::record`], with random bytes of the caller's making: for tests, and for devices with a
    /// generator of their own.
    pub fn record_with<R: CryptoRng + ?Sized>(
        &mut self,
        survey: &Survey,
        answer: Symbol,
        random: &mut R,
    ) -> Result<(Report, bool), ClientError> {
        let (datum, policy) = (survey.datum(), survey.policy());
        if survey.curator != self.connection.base() {
            return Err(ClientError::OtherCurator {
                expected: self.connection.base().into(),
                found: survey.curator.clone(),
            });
        }
        let remembered = |report: &Report| Remembered {
            curator: survey.curator.clone(),
            survey: survey.id().into(),
            report: report.clone(),
            delivery: Delivery::Waiting,
        };
        // What was drawn here went to the other device too, which sends it.
        self.device.refuse_moved()?;
        let today = self.today();
        self.device.adopt(survey.id(), &survey.curator, datum)?;
        if let Some(known) = self.device.remembered(datum, policy.id()) {
            let place = (self.connection.base(), survey.id());
            if let Some(here) = self.device.addressed(datum, policy.id(), place) {
                return Ok((here.report.clone(), true));
            }
            // Another survey under the same policy: what was drawn goes there too, and may be news to its collector. Under an
            // id of its own, by which two collectors who compare notes do not find one person twice.
            let mut id = [0; 16];
            random.fill_bytes(&mut id);
            let report = Report { id: ReportId(id), ..known.report.clone() };
            let mut spending = self.device.spend(place.0, &self.consent, today)?;
            spending.repeat(datum, policy.id())?;
            spending.remember(datum, remembered(&report));
            spending.commit(report.id)?;
            return Ok((report, true));
        }
        if !survey.is_open() {
            return Err(ClientError::NotOpen { round: survey.round() });
        }
        let mut spending = self.device.spend(self.connection.base(), &self.consent, today)?;
        let permit = spending.leave(Charge { data: &[datum], policy, part: None })?;
        // Time and memory accesses do not depend on the answer.
        let report = policy.randomize_flat(answer, permit, random)?;
        spending.remember(datum, remembered(&report));
        spending.commit(report.id)?;
        Ok((report, false))
    }

    fn deliver(
        &mut self,
        survey: &Survey,
        report: Report,
        repeated: bool,
    ) -> Result<Answer, ClientError> {
        let answer = |report, delivery, obstacle| Answer { report, delivery, repeated, obstacle };
        let place = (self.connection.base(), survey.id());
        let known = self.device.addressed(survey.datum(), report.policy, place);
        if known.is_some_and(|known| known.delivery == Delivery::Accepted) {
            return Ok(answer(report, Delivery::Accepted, None));
        }
        let form = self.form.of_policy(survey.policy());
        let sent = self.connection.submit(survey.id(), core::slice::from_ref(&report), form);
        let (delivery, obstacle) = outcome(sent);
        self.device.note([survey.datum()], report.policy, place, &delivery)?;
        Ok(answer(report, delivery, obstacle))
    }

    /// Sends everything that waits for this curator, unless the ledger has gone to another device, in batches of one policy each. A batch that is
    /// refused is sent again one by one, so that one bad report does not take others with it.
    pub fn flush(&mut self) -> Result<Flushed, ClientError> {
        self.device.refuse_moved()?;
        let mut groups = BTreeMap::<(String, PolicyId), Vec<(String, Report)>>::new();
        for (datum, answer) in self.device.answers() {
            if answer.delivery == Delivery::Waiting && answer.curator == self.connection.base() {
                let group = (answer.survey.clone(), answer.report.policy);
                groups.entry(group).or_default().push((datum.into(), answer.report.clone()));
            }
        }
        let mut flushed = Flushed::default();
        for ((survey, _), reports) in &groups {
            for batch in reports.chunks(MOST_REPORTS) {
                self.flush_batch(survey, batch, &mut flushed)?;
            }
        }
        Ok(flushed)
    }

    fn flush_batch(
        &mut self,
        survey: &str,
        batch: &[(String, Report)],
        flushed: &mut Flushed,
    ) -> Result<(), ClientError> {
        let reports: Vec<Report> = batch.iter().map(|(_, report)| report.clone()).collect();
        // Once the curator is out of reach the rest of this flush does not wait for it again.
        let sent = match &flushed.obstacle {
            Some(reason) => Err(SubmitError::Unavailable { reason: reason.clone(), wait: None }),
            None => self.connection.submit(survey, &reports, self.form),
        };
        if matches!(sent, Err(SubmitError::Refused(_))) && batch.len() > 1 {
            for one in batch {
                self.flush_batch(survey, core::slice::from_ref(one), flushed)?;
            }
            return Ok(());
        }
        let (delivery, obstacle) = outcome(sent);
        match delivery {
            Delivery::Accepted => flushed.accepted += batch.len(),
            Delivery::Refused(_) => flushed.refused += batch.len(),
            Delivery::Waiting => flushed.waiting += batch.len(),
        }
        if obstacle.is_some() {
            flushed.obstacle = obstacle;
            return Ok(());
        }
        // A batch has one policy.
        if let Some((_, first)) = batch.first() {
            let data = batch.iter().map(|(datum, _)| datum.as_str());
            let place = (self.connection.base(), survey);
            self.device.note(data, first.policy, place, &delivery)?;
        }
        Ok(())
    }
}

/// What an attempt to send means for the report.
fn outcome(sent: Result<(), SubmitError>) -> (Delivery, Option<String>) {
    match sent {
        Ok(()) => (Delivery::Accepted, None),
        Err(SubmitError::Refused(problem)) => (Delivery::Refused(problem), None),
        Err(SubmitError::Unavailable { reason, .. }) => (Delivery::Waiting, Some(reason)),
        Err(SubmitError::Body { reason }) => (Delivery::Waiting, Some(reason)),
    }
}
