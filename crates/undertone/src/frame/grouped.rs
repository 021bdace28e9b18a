//! Rows of one column, each under the policy that another column of its row names.

use undertone_core::Policy;

use super::channel::{Drawn, Stage};
use super::released::Released;
use crate::Error;
use crate::error::mention;
use rand_chacha::ChaCha12Rng;

/// One policy for each group of rows, over the same symbols, and where each one's outputs stand in what is released.
pub(crate) struct Grouped {
    stages: Vec<GroupStage>,
}

struct GroupStage {
    stage: Stage,
    /// For every symbol of the question, the symbol of this policy.
    inputs: Vec<u32>,
    /// For every output of this policy, its place among the outputs of all; empty for bits.
    outputs: Vec<u32>,
}

impl Grouped {
    /// The groups' channels and how what they draw is written, in one way for all; refuses policies about other symbols, and
    /// those whose reports no single column can hold.
    pub(crate) fn new(policies: &[(String, Policy)]) -> Result<(Self, Released), Error> {
        let refused = |name: &str, problem: String| {
            Error::field("policy_by", format!(": the policy of {name:?} {problem}"))
        };
        let Some((first_name, first)) = policies.first() else {
            return Err(Error::field("policy_by", ": the map names no policy: give one at least"));
        };
        let symbols = first.draft().inputs();
        let first_bits = bits(first);
        let mut each = Vec::with_capacity(policies.len());
        for (name, policy) in policies {
            let order = policy.draft().inputs().order_in(symbols).ok_or_else(|| {
                let problem = format!(
                    "is about other symbols than that of {first_name:?}: design all of them for the same question"
                );
                refused(name, problem)
            })?;
            // `order` says where each of this policy's symbols stands among the question's.
            let mut inputs = vec![0; order.len()];
            order.iter().zip(0..).for_each(|(&place, own)| inputs[place] = own);
            if bits(policy) != first_bits {
                let problem = format!(
                    "does not report in the form of that of {first_name:?} (one releases bits, or bits of another number): use one {} for all",
                    mention("method")
                );
                return Err(refused(name, problem));
            }
            each.push((policy, inputs, Released::new(policy.draft())?));
        }
        let all: Vec<&Released> = each.iter().map(|(_, _, released)| released).collect();
        let (released, places) = Released::together(&all);
        let stages = each.iter().zip(places).map(|((policy, inputs, _), outputs)| GroupStage {
            stage: Stage::new((*policy).clone()),
            inputs: inputs.clone(),
            outputs,
        });
        Ok((Self { stages: stages.collect() }, released))
    }

    /// Draws for every row under its group's policy.
    pub(super) fn draw(
        &self,
        symbols: &[u32],
        groups: &[u32],
        rng: &mut ChaCha12Rng,
    ) -> Result<Drawn, Error> {
        let mut rows: Vec<Vec<usize>> = vec![Vec::new(); self.stages.len()];
        for (row, &group) in groups.iter().enumerate() {
            rows[group as usize].push(row);
        }
        let width = self.packed_width();
        let mut all = match width {
            0 => Drawn::Indices(vec![0; symbols.len()]),
            width => Drawn::Bits { packed: vec![0; symbols.len() * width], width },
        };
        for (group, rows) in self.stages.iter().zip(&rows) {
            let own: Vec<u32> =
                rows.iter().map(|&row| group.inputs[symbols[row] as usize]).collect();
            match (group.stage.draw(&own, rng)?, &mut all) {
                (Drawn::Indices(drawn), Drawn::Indices(all)) => {
                    for (&row, output) in rows.iter().zip(drawn) {
                        all[row] = group.outputs[output as usize];
                    }
                }
                (Drawn::Bits { packed, width }, Drawn::Bits { packed: all, .. }) => {
                    for (&row, bits) in rows.iter().zip(packed.chunks_exact(width)) {
                        all[row * width..(row + 1) * width].copy_from_slice(bits);
                    }
                }
                // All policies report in one form: the constructor saw to it.
                _ => return Err(Error::input("the policies of the map report in different forms")),
            }
        }
        Ok(all)
    }

    /// Bytes of packed bits that are drawn for a row; 0 where an index is.
    pub(super) fn packed_width(&self) -> usize {
        self.stages.first().map_or(0, |group| group.stage.packed_width())
    }
}

/// How many bits a report is; nothing where it is one output.
fn bits(policy: &Policy) -> Option<usize> {
    let shape = policy.draft().shape();
    shape.releases_bits().then(|| shape.outputs())
}
