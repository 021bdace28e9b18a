//! Evidence, row by row.

use super::Evidence;
use super::design::{Design, Reading, Reported};
use crate::Error;
use std::collections::HashMap;
use undertone_core::{Alphabet, Policy, Token};

/// Makes [`Evidence`] of rows that come one after another, under one design or several.
#[derive(Debug)]
pub struct EvidenceBuilder {
    levels: Vec<String>,
    /// What the designs' symbols are matched with; `None` until the first policy where only names are known.
    alphabet: Option<Alphabet>,
    designs: Vec<Design>,
    /// For every design that reports one output, the code of each, or [`UNSEEN`].
    by_output: Vec<Vec<u32>>,
    by_bits: HashMap<Reading, u32>,
    codes: Vec<u32>,
    likelihoods: Vec<f64>,
    log_factors: Vec<f64>,
    readings: Vec<Reading>,
}

/// One of the designs of a builder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DesignId(u32);

/// No code yet.
const UNSEEN: u32 = u32::MAX;

/// More likelihoods than these are not kept: half a gigabyte.
const MOST_CELLS: usize = 1 << 26;

impl EvidenceBuilder {
    /// No rows of a column with these symbols.
    pub fn new(levels: Vec<String>) -> Result<Self, Error> {
        if levels.is_empty() {
            return Err(Error::unanswerable("a column", "it has no symbols: name at least one"));
        }
        Ok(Self {
            levels,
            alphabet: None,
            designs: Vec::new(),
            by_output: Vec::new(),
            by_bits: HashMap::new(),
            codes: Vec::new(),
            likelihoods: Vec::new(),
            log_factors: Vec::new(),
            readings: Vec::new(),
        })
    }

    /// No rows of a column with a policy's symbols.
    pub fn of_policy(policy: &Policy) -> Result<Self, Error> {
        let inputs = policy.inputs();
        let mut builder = Self::new((0..inputs.len()).map(|x| inputs.label(x)).collect())?;
        builder.alphabet = Some(inputs.clone());
        Ok(builder)
    }

    /// The design of rows that are reported as they are.
    pub fn clear(&mut self) -> DesignId {
        self.add(Design::Clear { symbols: self.levels.len() })
    }

    /// The design of rows that are reported under a policy. Its symbols must be the column's, in any order.
    pub fn design(&mut self, policy: &Policy) -> Result<DesignId, Error> {
        let inputs = policy.inputs();
        let order = match &self.alphabet {
            Some(alphabet) => {
                alphabet.order_in(inputs).ok_or_else(|| Error::alphabet(policy, alphabet))?
            }
            None => {
                let place = |level: &String| (0..inputs.len()).find(|&x| inputs.label(x) == *level);
                let found: Option<Vec<usize>> = self.levels.iter().map(place).collect();
                found.filter(|order| order.len() == inputs.len()).ok_or_else(|| {
                    Error::unanswerable(
                        "a column",
                        format!(
                            "policy {} is about other symbols than {}: give the policy this column was randomised under",
                            policy.id(),
                            self.levels.join(", ")
                        ),
                    )
                })?
            }
        };
        Ok(self.add(Design::of(policy, order)?))
    }

    fn add(&mut self, design: Design) -> DesignId {
        self.by_output.push(vec![UNSEEN; design.outputs().unwrap_or(0)]);
        self.designs.push(design);
        DesignId(self.designs.len() as u32 - 1)
    }

    /// One more row, whose report is an output's index; for a clear design, a symbol's.
    pub fn push_index(&mut self, design: DesignId, output: u32) -> Result<(), Error> {
        let known = self.by_output[design.0 as usize].get(output as usize).copied();
        let code = match known.filter(|&code| code != UNSEEN) {
            Some(code) => code,
            None => {
                let code = self.intern(design, Reported::Index(output))?;
                self.by_output[design.0 as usize][output as usize] = code;
                code
            }
        };
        self.codes.push(code);
        Ok(())
    }

    /// One more row, whose report is a packed row of bits (bit i is `0x80 >> (i % 8)` of byte `i / 8`).
    pub fn push_bits(&mut self, design: DesignId, row: &[u8]) -> Result<(), Error> {
        let reading = Reading { design: design.0, token: Reported::Bits(row.into()) };
        let code = match self.by_bits.get(&reading) {
            Some(&code) => code,
            None => {
                let code = self.intern(design, reading.token.clone())?;
                self.by_bits.insert(reading, code);
                code
            }
        };
        self.codes.push(code);
        Ok(())
    }

    /// One more row with a policy's token.
    pub fn push(&mut self, design: DesignId, token: &Token) -> Result<(), Error> {
        match token {
            Token::Index(index) => self.push_index(design, *index),
            Token::Bits(row) => self.push_bits(design, row),
        }
    }

    /// Takes the last row back, where another column of it turned out to be missing.
    pub fn pop(&mut self) {
        self.codes.pop();
    }

    fn intern(&mut self, design: DesignId, token: Reported) -> Result<u32, Error> {
        let at = self.codes.len();
        let known = &self.designs[design.0 as usize];
        known.check(at, &token)?;
        let Some((row, log_factor)) = known.likelihood(&token) else {
            return Err(Error::Token { at, found: "a report that no symbol gives".into() });
        };
        let cells = self.likelihoods.len() + row.len();
        if cells > MOST_CELLS {
            let what = "the likelihoods of a column's distinct reports";
            return Err(Error::TooLarge { what, cells, limit: MOST_CELLS });
        }
        self.likelihoods.extend(row);
        self.log_factors.push(log_factor);
        self.readings.push(Reading { design: design.0, token });
        Ok(self.readings.len() as u32 - 1)
    }

    /// How many rows there are as yet.
    pub fn rows(&self) -> usize {
        self.codes.len()
    }

    /// All rows; refuses none at all.
    pub fn finish(self) -> Result<Evidence, Error> {
        if self.codes.is_empty() {
            return Err(Error::NoReports);
        }
        Ok(Evidence {
            levels: self.levels,
            codes: self.codes,
            likelihoods: self.likelihoods,
            log_factors: self.log_factors,
            designs: self.designs,
            readings: self.readings,
        })
    }
}
