//! Rows in memory, measured.

use super::{KeptCell, KeptQuestion, KeptReport, KeptWatch, key, tuple_key};
use crate::Error;
use crate::columns::Code;

/// Rows that are watched at a time.
const BLOCK: usize = 1 << 16;

/// Columns in memory: what is kept, and what is randomised beside it.
pub struct KeptRows<'a> {
    /// How many rows.
    pub rows: usize,
    /// The names of the columns that are kept.
    pub kept: Vec<String>,
    /// The questions that are randomised.
    pub questions: Vec<KeptQuestion>,
    /// The text of a kept column's cell, by column and row.
    pub kept_text: &'a dyn Fn(usize, usize) -> Option<String>,
    /// The text of a question's cell, by question and row.
    pub text: &'a dyn Fn(usize, usize) -> Option<String>,
    /// What a question's cell stands for, by question and row.
    pub code: &'a dyn Fn(usize, usize) -> Code,
}

/// What kept columns tell about questions; refuses a column that is one of them under another name. Rows with a cell that its
/// question does not know are not measured.
pub fn measure(columns: KeptRows<'_>) -> Result<KeptReport, Error> {
    let KeptRows { rows, kept, questions, kept_text, text, code } = columns;
    let widths: Vec<u32> = questions.iter().map(|question| question.symbols as u32).collect();
    let count = kept.len();
    let watch = KeptWatch::new(kept, questions);
    let mut part = watch.part(0);
    for row in 0..rows {
        if row > 0 && row % BLOCK == 0 {
            std::mem::replace(&mut part, watch.part((row / BLOCK) as u64)).end();
        }
        let values = widths.iter().enumerate().map(|(question, width)| match code(question, row) {
            Code::Symbol(index) => (index < *width).then_some(index),
            Code::Below => Some(0),
            Code::Above => width.checked_sub(1),
            Code::Missing | Code::Unknown => None,
        });
        let Some(values) = values.collect::<Option<Vec<u32>>>() else { continue };
        let texts: Vec<Option<String>> = (0..count).map(|column| kept_text(column, row)).collect();
        for (column, kept) in texts.iter().enumerate() {
            for question in 0..widths.len() {
                let trimmed =
                    |text: &Option<String>| text.as_deref().map(|text| text.trim().to_owned());
                if watch.may_be_equal(column, question)
                    && trimmed(kept) != trimmed(&text(question, row))
                {
                    watch.is_different(column, question);
                }
            }
        }
        let keys =
            texts.iter().map(|text| text.as_deref().map_or(0, |text| key(text.trim().as_bytes())));
        let cell = |text: &Option<String>| text.as_deref().map_or(KeptCell::MISSING, KeptCell::of);
        part.row(tuple_key(keys), || texts.iter().map(cell).collect(), || values);
    }
    part.end();
    Ok(KeptReport { kept: watch.finish()? })
}
