//! Several policies answered for one datum, held against a person's consent.

use std::path::PathBuf;

use undertone::Answer;
use undertone::number::level_words as show;
use undertone::together::{ConsentLimit, together};

use crate::failure::Failure;
use crate::input;
use crate::output::{Outcome, table};

pub(super) fn run(paths: &[PathBuf], limits: &[ConsentLimit]) -> Result<Outcome, Failure> {
    let mut policies = Vec::new();
    for path in paths {
        let refused = |error| Failure::input(format!("{}: REFUSED: {error}", path.display()));
        policies.push(input::draft(path)?.verify().map_err(refused)?);
    }
    let report = together(&policies, limits)?;
    let attained = &report.together.attained;
    let mut rows = vec![vec!["ldp of the input".into(), show(attained.ldp)]];
    rows.push(vec!["lip of the input".into(), attained.lip.map_or("no prior".into(), show)]);
    for (name, ratio) in &attained.secrets {
        rows.push(vec![format!("ldp of the secret {name:?}"), show(*ratio)]);
    }
    let text = format!("{}\n{}", table(&["all together attain", "nats"], rows), report.words());
    Ok(Outcome::of(&report, text))
}
