//! Every experiment, in the order of the report.

use crate::{Experiment, jlt18, jstl21, ours, st20, stl19, zds22};

/// All of them.
pub fn all() -> Vec<&'static Experiment> {
    [jstl21::ALL, jlt18::ALL, stl19::ALL, st20::ALL, zds22::ALL, ours::ALL]
        .into_iter()
        .flatten()
        .collect()
}

/// The one with that key, or a sentence that lists near ones.
pub fn find(key: &str) -> Result<&'static Experiment, String> {
    let all = all();
    if let Some(found) = all.iter().find(|experiment| experiment.key == key) {
        return Ok(found);
    }
    let paper = key.split('-').next().unwrap_or(key);
    let near: Vec<&str> =
        all.iter().map(|experiment| experiment.key).filter(|k| k.starts_with(paper)).collect();
    let hint = if near.is_empty() {
        "`undertone-reproduce list` lists them".to_owned()
    } else {
        format!("of that paper there are {}", near.join(", "))
    };
    Err(format!("there is no experiment {key:?}; {hint}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Paper;
    use std::collections::BTreeSet;

    #[test]
    fn keys_are_unique_and_begin_with_their_paper() {
        let all = all();
        let keys: BTreeSet<_> = all.iter().map(|experiment| experiment.key).collect();
        assert_eq!(keys.len(), all.len());
        for experiment in all {
            let prefix = format!("{}-", experiment.paper.key().to_lowercase());
            assert!(experiment.key.starts_with(&prefix), "{}", experiment.key);
            assert!(std::ptr::eq(find(experiment.key).unwrap(), experiment));
        }
        assert!(find("jstl21-fig-99").err().unwrap().contains("jstl21-fig-4"));
        assert!(find("x").err().unwrap().contains("reproduce list"));
        assert!(Paper::Jstl21.errata().is_some());
    }
}
