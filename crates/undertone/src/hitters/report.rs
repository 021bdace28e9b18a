//! One person's report.

use rand_core::CryptoRng;
use undertone_core::Response;

use super::plan::HittersPlan;
use super::values::NoCode;
use crate::{Error, ErrorCode};

/// All that leaves a person: a round, the seed of a hash function, and the randomised hash of the value's prefix.
///
/// As bytes: the first 4 of the plan's id, the round from 0, the seed, the token. They are written as hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HittersReport {
    /// The round's number, from 0.
    pub round: usize,
    /// The seed of the hash function.
    pub seed: Vec<u8>,
    /// The token as bytes.
    pub(super) token: Vec<u8>,
}

/// How many bytes of the plan's id a report begins with.
const MARK: usize = 4;

/// Why a report could not be made.
#[derive(Debug)]
pub enum NotReported {
    /// The value has no code.
    Value(NoCode),
    /// The system.
    Other(Error),
}

/// Why text is no report of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoReport {
    /// It is not as many hexadecimal digits as a report has.
    Form,
    /// It is of another plan.
    Plan,
    /// It has a round or a token that the plan does not have.
    Content,
}

impl NoReport {
    /// What is wrong, in words that end a sentence about a report.
    pub fn problem(self, plan: &HittersPlan) -> String {
        match self {
            Self::Form => format!(
                "is not a report, which has {} hexadecimal digits: is it the right column, made under this plan?",
                2 * plan.report_bytes()
            ),
            Self::Plan => format!("was made under another plan than {}", plan.id()),
            Self::Content => "has a round or a token that the plan does not have".into(),
        }
    }
}

impl HittersPlan {
    /// How many bytes a report has.
    pub fn report_bytes(&self) -> usize {
        MARK + 1 + self.seed_bytes() + self.support().token_bytes()
    }

    /// Draws a person's only report: the round, whatever the value; then the seed; then the token by the round's policy.
    ///
    /// It is stored before it is sent and sent again as it is: a second draw for the same person would cost twice as much.
    pub fn report<R: CryptoRng + ?Sized>(
        &self,
        value: &str,
        rng: &mut R,
    ) -> Result<HittersReport, NotReported> {
        let round = self.plan().choose(rng).items().first().map_or(0, |&item| item as usize);
        let mut seed = vec![0; self.seed_bytes()];
        rng.fill_bytes(&mut seed);
        // Bits that no function uses would tell apart reports that are the same.
        let spare = 8 * seed.len() - self.seed_bits();
        if let Some(last) = seed.last_mut() {
            *last = *last >> spare << spare;
        }
        let symbol = self.symbol(round, &seed, value).map_err(NotReported::Value)?;
        let token = self
            .policy()
            .draw(symbol, rng)
            .map_err(|error| NotReported::Other(Error::new(ErrorCode::Internal, error)))?;
        Ok(HittersReport { round, seed, token: self.support().to_bytes(&token) })
    }

    /// A report as hexadecimal digits.
    pub fn write(&self, report: &HittersReport) -> String {
        let mark = &self.id().0[..MARK];
        let round = [report.round as u8];
        let parts = [mark, &round, &report.seed, &report.token];
        parts.into_iter().flatten().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Reads a report from its digits.
    pub fn read(&self, text: &str) -> Result<HittersReport, NoReport> {
        let digits = text.as_bytes();
        if digits.len() != 2 * self.report_bytes() {
            return Err(NoReport::Form);
        }
        let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
        let byte = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(pair[1])?);
        let bytes: Vec<u8> =
            digits.chunks_exact(2).map(byte).collect::<Option<_>>().ok_or(NoReport::Form)?;
        let (mark, rest) = bytes.split_at(MARK);
        if mark != &self.id().0[..MARK] {
            return Err(NoReport::Plan);
        }
        let (round, rest) = (usize::from(rest[0]), &rest[1..]);
        let (seed, token) = rest.split_at(self.seed_bytes());
        self.checked(round, seed, token.to_vec())
    }

    /// The report in a response to the kernel's plan, whose own random id is the seed: for plans whose seeds have at most 16 bytes.
    pub fn of_response(&self, response: &Response) -> Result<HittersReport, NoReport> {
        if response.plan != self.id() {
            return Err(NoReport::Plan);
        }
        let seed = response.id.0.get(..self.seed_bytes()).ok_or(NoReport::Form)?;
        self.plan().accepts(response).map_err(|_| NoReport::Content)?;
        let [answer] = &response.answers[..] else { return Err(NoReport::Content) };
        let token = self.support().to_bytes(&answer.token);
        self.checked(answer.item as usize, seed, token)
    }

    fn checked(
        &self,
        round: usize,
        seed: &[u8],
        token: Vec<u8>,
    ) -> Result<HittersReport, NoReport> {
        let known = round < self.prefixes().len() && self.support().token(&token).is_some();
        if known {
            Ok(HittersReport { round, seed: seed.to_vec(), token })
        } else {
            Err(NoReport::Content)
        }
    }
}
