//! What the reports of one column say, in the form a likelihood reads.

use crate::channel::Channel;
use crate::evidence::{Design, Inverse, Reported, is_set};
use crate::{Error, Evidence};

/// Reports of one column: a code for every row, and for every code the likelihood of each class. Classes are the column's
/// symbols, the reference first, or one symbol against the rest.
#[derive(Clone, Debug)]
pub(super) struct Reports<'a> {
    codes: &'a [u32],
    classes: usize,
    /// Code after code, the likelihood of every class.
    likelihoods: Vec<f64>,
    log_factors: Vec<f64>,
    /// The design of every code.
    designs: Vec<u32>,
    /// For every design, output after output, the probability of it given every class; nothing where there are too many.
    outputs: Vec<Option<Vec<f64>>>,
}

/// Designs with more outputs than these are not enumerated.
const MOST_OUTPUTS: usize = 1024;

/// Probabilities that differ by no more than this are equal but for rounding: masses are multiples of 2^-48.
const EQUAL: f64 = 1e-12;

impl<'a> Reports<'a> {
    /// Reports about the symbols of a column. Refuses designs that together do not tell the symbols apart.
    pub(super) fn of_symbols(name: &str, evidence: &'a Evidence) -> Result<Self, Error> {
        let symbols = evidence.symbols();
        let mut determined = vec![false; symbols];
        for design in evidence.designs() {
            let inverse = Inverse::new(design)?;
            determined.iter_mut().zip(inverse.determined()).for_each(|(one, more)| *one |= more);
        }
        if let Some(at) = determined.iter().position(|known| !known) {
            return Err(singular(name, &evidence.levels()[at]));
        }
        let codes = 0..evidence.distinct() as u32;
        Ok(Self {
            codes: evidence.codes(),
            classes: symbols,
            likelihoods: codes
                .clone()
                .flat_map(|code| evidence.likelihood(code))
                .copied()
                .collect(),
            log_factors: codes.clone().map(|code| evidence.log_factor(code)).collect(),
            designs: codes.map(|code| evidence.reading(code).design).collect(),
            outputs: evidence.designs().iter().map(outputs_of).collect(),
        })
    }

    /// Reports about whether a column has one symbol or another. Refuses a design where no part of the reports tells that
    /// without the shares of the others.
    pub(super) fn of_event(
        name: &str,
        evidence: &'a Evidence,
        symbol: usize,
    ) -> Result<Self, Error> {
        if evidence.symbols() == 2 {
            let mut reports = Self::of_symbols(name, evidence)?;
            if symbol == 0 {
                reports.swap();
            }
            return Ok(reports);
        }
        let events: Vec<EventDesign> = evidence
            .designs()
            .iter()
            .map(|design| EventDesign::new(design, symbol))
            .collect::<Option<_>>()
            .ok_or_else(|| {
                Error::unanswerable(
                    "the regression",
                    format!(
                        "the design of {name} does not tell {} from the rest without the shares of the others: use the family multinomial",
                        evidence.levels()[symbol]
                    ),
                )
            })?;
        if events.iter().all(EventDesign::is_singular) {
            return Err(singular(name, &evidence.levels()[symbol]));
        }
        let codes = 0..evidence.distinct() as u32;
        let given = |code: u32| {
            let reading = evidence.reading(code);
            events[reading.design as usize].given(&reading.token)
        };
        Ok(Self {
            codes: evidence.codes(),
            classes: 2,
            likelihoods: codes.clone().flat_map(given).collect(),
            log_factors: vec![0.0; evidence.distinct()],
            designs: codes.map(|code| evidence.reading(code).design).collect(),
            outputs: events.iter().map(|event| Some(event.groups.concat())).collect(),
        })
    }

    /// Swaps the two classes.
    fn swap(&mut self) {
        self.likelihoods.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
        for outputs in self.outputs.iter_mut().flatten() {
            outputs.chunks_exact_mut(2).for_each(|pair| pair.swap(0, 1));
        }
    }

    pub(super) fn classes(&self) -> usize {
        self.classes
    }

    pub(super) fn code(&self, row: usize) -> u32 {
        self.codes[row]
    }

    /// The likelihood of every class of a row.
    pub(super) fn likelihood(&self, row: usize) -> &[f64] {
        &self.likelihoods[self.codes[row] as usize * self.classes..][..self.classes]
    }

    pub(super) fn log_factor(&self, row: usize) -> f64 {
        self.log_factors[self.codes[row] as usize]
    }

    /// Whether some row's report could have been one of more outputs than can be listed.
    pub(super) fn has_unlisted_outputs(&self) -> bool {
        self.designs.iter().any(|&design| self.outputs[design as usize].is_none())
    }

    /// Output after output of a row's design, the probability given every class; none where they are not listed.
    pub(super) fn outputs(&self, row: usize) -> &[f64] {
        let design = self.designs[self.codes[row] as usize];
        self.outputs[design as usize].as_deref().unwrap_or_default()
    }
}

pub(super) fn singular(name: &str, symbol: &str) -> Error {
    Error::unanswerable(
        "the regression",
        format!(
            "the reports of {name} do not determine how many have {symbol}: the design's channel is singular; use a policy that tells the symbols apart, or merge those it does not"
        ),
    )
}

/// The probability of every output given every symbol, output after output.
fn outputs_of(design: &Design) -> Option<Vec<f64>> {
    match design {
        Design::Clear { symbols } => (symbols * symbols <= MOST_OUTPUTS * 64).then(|| {
            (0..symbols * symbols).map(|at| f64::from(u8::from(at % (symbols + 1) == 0))).collect()
        }),
        Design::Randomised { channel: Channel::Bits(bits), order, .. } => {
            // Every report of so many bits, or every block, and its likelihoods.
            let reports: Vec<Reported> = match bits.blocks() {
                Some(blocks) if blocks.outputs() <= MOST_OUTPUTS => {
                    (0..blocks.outputs() as u32).map(Reported::Index).collect()
                }
                Some(_) => return None,
                None => {
                    let patterns = u32::try_from(order.len()).ok()?;
                    let patterns = 1usize.checked_shl(patterns)?;
                    (patterns <= MOST_OUTPUTS).then(|| patterns_of(order.len()).collect())?
                }
            };
            let row = |report: &Reported| match design.likelihood(report) {
                Some((row, logarithm)) => row.iter().map(|p| p * logarithm.exp()).collect(),
                None => vec![0.0; order.len()],
            };
            Some(reports.iter().flat_map(row).collect())
        }
        Design::Randomised { channel, order, .. } => {
            let row = |y: usize| order.iter().map(move |&x| channel.at(x, y));
            (channel.outputs() <= MOST_OUTPUTS)
                .then(|| (0..channel.outputs()).flat_map(row).collect())
        }
    }
}

/// All rows of so many bits, few as they are.
fn patterns_of(bits: usize) -> impl Iterator<Item = Reported> {
    let packed = move |pattern: usize| {
        let mut row = vec![0u8; bits.div_ceil(8)];
        let set = (0..bits).filter(|bit| pattern >> bit & 1 == 1);
        set.for_each(|bit| row[bit / 8] |= 0x80 >> (bit % 8));
        Reported::Bits(row.into())
    };
    (0..1 << bits).map(packed)
}

/// A design's reports about one symbol against the rest: outputs in groups whose probability is the same for all others.
struct EventDesign {
    /// The group of every output; for bits, of a bit that is not set and of one that is.
    group: Vec<usize>,
    /// The probability of every group given another symbol, and given the symbol.
    groups: Vec<[f64; 2]>,
    /// The policy's own index of the symbol, where only its bit is read.
    bit: Option<usize>,
}

impl EventDesign {
    fn new(design: &Design, symbol: usize) -> Option<Self> {
        match design {
            Design::Clear { symbols } => Some(Self {
                group: (0..*symbols).map(|x| usize::from(x == symbol)).collect(),
                groups: vec![[1.0, 0.0], [0.0, 1.0]],
                bit: None,
            }),
            Design::Randomised { channel: Channel::Bits(bits), order, .. } => {
                let own = order[symbol];
                let group = bits.blocks().map_or_else(
                    || vec![0, 1],
                    |blocks| {
                        let contained = |block| usize::from(blocks.contains(block, own));
                        (0..blocks.outputs()).map(contained).collect()
                    },
                );
                let groups = vec![[1.0 - bits.other, 1.0 - bits.own], [bits.other, bits.own]];
                Some(Self { group, groups, bit: bits.blocks().is_none().then_some(own) })
            }
            Design::Randomised { channel, order, .. } => {
                let others =
                    || order.iter().enumerate().filter(|(at, _)| *at != symbol).map(|(_, &x)| x);
                let first = others().next()?;
                // Outputs that all others give alike stand alone; the rest, together, they give alike as well.
                let mut event = Self { group: Vec::new(), groups: vec![[0.0; 2]], bit: None };
                for y in 0..channel.outputs() {
                    let given = [channel.at(first, y), channel.at(order[symbol], y)];
                    if others().all(|x| (channel.at(x, y) - given[0]).abs() <= EQUAL) {
                        event.group.push(event.groups.len());
                        event.groups.push(given);
                    } else {
                        event.group.push(0);
                        event.groups[0][0] += given[0];
                        event.groups[0][1] += given[1];
                    }
                }
                (!event.is_singular()).then_some(event)
            }
        }
    }

    fn is_singular(&self) -> bool {
        self.groups.iter().all(|[other, own]| (other - own).abs() <= EQUAL)
    }

    fn given(&self, token: &Reported) -> [f64; 2] {
        let group = match (token, self.bit) {
            (Reported::Bits(row), Some(bit)) => usize::from(is_set(row, bit)),
            (Reported::Index(output), _) => self.group[*output as usize],
            (Reported::Bits(_), None) => 0,
        };
        self.groups[group]
    }
}
