//! Combined items in words: what their columns are called, and how the answers of several questions share one cell.

use undertone_core::{Alphabet, Plan};

/// What stands between the answers of a combination. Where an answer has the sign itself, or a backslash, a backslash stands
/// before it, so that every combination can be taken apart again.
pub(crate) const BETWEEN: &str = " × ";

/// An answer as it stands in a combination.
pub(crate) fn escaped(answer: &str) -> String {
    answer.replace('\\', "\\\\").replace('×', "\\×")
}

/// Every question's answers as they stand in a combination.
pub(crate) fn escaped_answers(answers: &Alphabet) -> Vec<String> {
    (0..answers.len()).map(|x| escaped(&answers.label(x))).collect()
}

/// The text of one combination, the first question's answer being the most significant digit of its number.
pub(crate) fn combination(questions: &[Vec<String>], mut number: usize) -> String {
    let mut answers = vec![""; questions.len()];
    for (answer, known) in answers.iter_mut().zip(questions).rev() {
        *answer = &known[number % known.len()];
        number /= known.len();
    }
    answers.join(BETWEEN)
}

/// What each item's column of a frame is called: by its questions, with a number behind it where that name is taken.
pub(crate) fn item_columns(plan: &Plan) -> Vec<String> {
    let parts = plan.parts();
    let mut columns: Vec<String> = Vec::new();
    for (at, item) in parts.items.iter().enumerate() {
        let name = parts.item_name(at);
        let numbered = (2..).map(|number| format!("{name} ({number})"));
        let free = |name: &String| {
            let taken = parts.questions.iter().any(|question| question.name == *name);
            let own = taken && item.questions.len() == 1;
            !columns.contains(name) && (own || !taken)
        };
        let column = std::iter::once(name.clone()).chain(numbered).find(free).unwrap_or(name);
        columns.push(column);
    }
    columns
}

/// The answers that a cell of a combined item holds.
///
/// ```
/// use undertone::release::separated;
/// assert_eq!(separated("yes × no"), ["yes", "no"]);
/// assert_eq!(separated(r"3 \× 5 × a\\b"), ["3 × 5", r"a\b"]);
/// ```
pub fn separated(cell: &str) -> Vec<String> {
    let mut answers = vec![String::new()];
    let mut rest = cell;
    while let Some(one) = rest.chars().next() {
        let (taken, added) = match one {
            '\\' => {
                let next = rest.chars().nth(1);
                (1 + next.map_or(0, char::len_utf8), next)
            }
            ' ' if rest.starts_with(BETWEEN) => {
                answers.push(String::new());
                (BETWEEN.len(), None)
            }
            other => (other.len_utf8(), Some(other)),
        };
        if let Some(answer) = answers.last_mut() {
            answer.extend(added);
        }
        rest = &rest[taken..];
    }
    answers
}
