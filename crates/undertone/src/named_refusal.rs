//! A refusal in words that call symbols by their names.

use std::fmt;

use undertone_core::{Alphabet, AlphabetView, Refusal};

/// A refusal and the alphabets that name its symbols: `output "bus", input "car"`. Symbols without names are
/// indices, and so are values of a secret, which have no names in a policy.
#[derive(Debug, Clone, Copy)]
pub struct NamedRefusal<'a> {
    /// The claim that is false, and the cell that shows it.
    pub refusal: &'a Refusal,
    /// What inputs are called.
    pub inputs: &'a Alphabet,
    /// What outputs are called.
    pub outputs: &'a Alphabet,
}

impl fmt::Display for NamedRefusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let input = |x: u32| called(self.inputs, x);
        let output = |y: u32| called(self.outputs, y);
        self.refusal.fmt_named(f, &input, &output)
    }
}

fn called(alphabet: &Alphabet, at: u32) -> String {
    match alphabet.view() {
        AlphabetView::Indices(_) => at.to_string(),
        _ => format!("{:?}", alphabet.label(at as usize)),
    }
}
