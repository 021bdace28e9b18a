//! Answering a plan: one message, paid for as a whole.

use super::plans::{KeptResponse, PlanPart};
use super::spending::{Charge, Refused, Spending};
use super::{Delivery, Device, DeviceError};
use crate::datum;
use crate::day::Day;
use crate::random::SystemBytes;
use rand_core::CryptoRng;
use undertone_core::{Consent, ItemAnswer, Plan, ReportId, Response, SampleError, Symbol, Token};

/// Who asks, what the person agrees to, and when.
#[derive(Clone, Copy, Debug)]
pub struct Asking<'a> {
    /// The collector's address.
    pub collector: &'a str,
    /// What the person agrees to.
    pub consent: &'a Consent,
    /// The plan's period, from 0.
    pub period: u32,
    /// The day.
    pub today: Day,
}

/// What came of answering a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Responded {
    /// All that leaves the device; without answers there is nothing to send, and nothing was written.
    pub response: Response,
    /// The chosen items that were not allowed, each with the reason. They are left out and not replaced.
    pub refused: Vec<(u32, Refused)>,
    /// Whether the message was drawn before and is only repeated.
    pub repeated: bool,
}

/// Why nothing was drawn for a plan.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResponseError {
    /// The device's file, or a ledger that has moved.
    #[error(transparent)]
    Device(#[from] DeviceError),
    /// There is no such period.
    #[error("the plan has {periods} periods, numbered from 0: there is no period {period}")]
    Period {
        /// The period asked for.
        period: u32,
        /// How many there are.
        periods: u32,
    },
    /// Answers that are not those to the plan's questions.
    #[error(
        "give one answer, or none, to each of the plan's {questions} questions, each of its own alphabet"
    )]
    Answers {
        /// How many questions there are.
        questions: usize,
    },
    /// The remembered choice or memo is none this plan makes.
    #[error(
        "what this device remembers of the plan is nothing the plan can have drawn: restore the device from a backup"
    )]
    Memory,
    /// A symbol is not the policy's.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// The system gives no random bytes.
    #[error("the system's random generator failed: {0}")]
    Random(#[from] getrandom::Error),
}

/// Refuses what does not fit a plan before anything is drawn.
fn fitting(plan: &Plan, answers: &[Option<Symbol>], period: u32) -> Result<(), ResponseError> {
    let (questions, periods) = (plan.parts().questions.len(), plan.parts().periods);
    if period >= periods {
        return Err(ResponseError::Period { period, periods });
    }
    if answers.len() != questions {
        return Err(ResponseError::Answers { questions });
    }
    Ok(())
}

impl Device {
    /// Draws this device's response to a plan in one period, pays for it, and writes it down, all in one write; nothing is
    /// sent. `answers` has one entry for each question; an item with a question that is left out is left out.
    ///
    /// The choice of items is drawn and written down first, once. A period's response is repeated as it was, unless items have
    /// fresh reports: those are drawn again from the memos, which costs nothing.
    pub fn respond(
        &mut self,
        plan: &Plan,
        answers: &[Option<Symbol>],
        asking: Asking<'_>,
    ) -> Result<Responded, ResponseError> {
        fitting(plan, answers, asking.period)?;
        let choice = self.choose(plan, &mut SystemBytes::for_choice(plan)?)?;
        let mut random = SystemBytes::for_response(plan, &choice)?;
        self.respond_with(plan, answers, asking, &mut random)
    }

    /// As [`Device::respond`], with random bytes of the caller's making, in the order the vectors fix: first those of the choice,
    /// if it was not drawn yet.
    pub fn respond_with<R: CryptoRng + ?Sized>(
        &mut self,
        plan: &Plan,
        answers: &[Option<Symbol>],
        asking: Asking<'_>,
        random: &mut R,
    ) -> Result<Responded, ResponseError> {
        let period = asking.period;
        fitting(plan, answers, period)?;
        self.refuse_moved()?;
        let choice = self.choose(plan, random)?;
        if let Some(kept) = self.final_response(plan, asking) {
            return Ok(Responded { response: kept, refused: Vec::new(), repeated: true });
        }
        let mut spending = self.spend(asking.collector, asking.consent, asking.today)?;
        let (mut drawn, mut refused) = (Vec::new(), Vec::new());
        for item in choice {
            match spending.item(plan, item, period, answers, random)? {
                Some(Ok(token)) => drawn.push(ItemAnswer { item, token }),
                Some(Err(why)) => refused.push((item, why)),
                None => {}
            }
        }
        let mut id = [0; 16];
        random.fill_bytes(&mut id);
        let response = Response { plan: plan.id(), id: ReportId(id), answers: drawn };
        if response.answers.is_empty() {
            // Nothing was told, so that a person who raises a budget may still answer.
            return Ok(Responded { response, refused, repeated: false });
        }
        spending.respond(KeptResponse {
            collector: asking.collector.into(),
            period,
            response: response.clone(),
            delivery: Delivery::Waiting,
        });
        spending.commit(response.id)?;
        Ok(Responded { response, refused, repeated: false })
    }

    /// The items this device answers, drawn and on disk.
    fn choose<R: CryptoRng + ?Sized>(
        &mut self,
        plan: &Plan,
        random: &mut R,
    ) -> Result<Vec<u32>, ResponseError> {
        let Some(items) = self.choice(plan.id()).map(<[u32]>::to_vec) else {
            let items = plan.choose(random).items().to_vec();
            self.remember_choice(plan.id(), items.clone())?;
            return Ok(items);
        };
        plan.restore_choice(items.clone()).map(|_| items).ok_or(ResponseError::Memory)
    }

    /// The response of a period to a collector, if it is not drawn again.
    fn final_response(&self, plan: &Plan, asking: Asking<'_>) -> Option<Response> {
        let fresh = |item: &ItemAnswer| plan.parts().items[item.item as usize].fresh.is_some();
        let mut kept = self
            .responses(plan.id())
            .iter()
            .filter(|kept| kept.period == asking.period && kept.collector == asking.collector);
        let response = &kept.next()?.response;
        (!response.answers.iter().any(fresh)).then(|| response.clone())
    }
}

impl Spending<'_> {
    /// Draws one item: from its memo, or after paying for one. `None` if the person left out one of its questions.
    fn item<R: CryptoRng + ?Sized>(
        &mut self,
        plan: &Plan,
        item: u32,
        period: u32,
        answers: &[Option<Symbol>],
        random: &mut R,
    ) -> Result<Option<Result<Token, Refused>>, ResponseError> {
        let (parts, at) = (plan.parts(), item as usize);
        let part = PlanPart { plan: plan.id(), item, period };
        let memo = match self.remembered(part) {
            Some(memo) => match self.repeat_part(part) {
                Ok(()) => memo,
                Err(refused) => return Ok(Some(Err(refused))),
            },
            None => {
                let questions = || parts.items[at].questions.iter().map(|&q| q as usize);
                let given: Option<Vec<Symbol>> = questions().map(|q| answers[q]).collect();
                let Some(given) = given else { return Ok(None) };
                let malformed = ResponseError::Answers { questions: parts.questions.len() };
                let symbol = plan.combine(at, &given).ok_or(malformed)?;
                let mut keys: Vec<String> =
                    questions().map(|q| datum::of_plan_question(&parts.questions[q])).collect();
                // Two questions of one wording are one datum.
                keys.sort_unstable();
                keys.dedup();
                let data: Vec<&str> = keys.iter().map(String::as_str).collect();
                let policy = plan.policy_of(at);
                let charge = Charge { data: &data, policy, part: Some(part) };
                let permit = match self.leave(charge) {
                    Ok(permit) => permit,
                    Err(refused) => return Ok(Some(Err(refused))),
                };
                // Time and memory accesses do not depend on the answer.
                let memo = plan.draw_item_flat(at, symbol, permit, random)?;
                self.memo(part, memo.clone());
                memo
            }
        };
        let fresh = parts.items[at].fresh.is_some();
        match plan.report_item_flat(at, &memo, random) {
            // A kept answer that the plan cannot have drawn.
            Err(_) if fresh => Err(ResponseError::Memory),
            told => Ok(Some(Ok(told?))),
        }
    }
}
