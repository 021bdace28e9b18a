//! What a question asks about: the key its budget is kept under.

use undertone_core::Question;
use unicode_normalization::UnicodeNormalization;

/// The key of the datum that a question asks about: its wording, whatever the case, spaces and punctuation.
///
/// Not the survey's id and not its answers: both are the collector's to change, and each change would be
/// a new budget. `None` if the wording has no letter or digit.
pub(crate) fn of_question(wording: &str) -> Option<String> {
    let letters: String =
        wording.nfkc().flat_map(char::to_lowercase).filter(|c| c.is_alphanumeric()).collect();
    (!letters.is_empty()).then(|| format!("question:{letters}"))
}

/// The key of the datum behind a question of a plan: its wording as in a survey, without one its name.
pub(crate) fn of_plan_question(question: &Question) -> String {
    let named = || of_question(&question.name);
    of_question(&question.wording)
        .or_else(named)
        .unwrap_or_else(|| format!("name:{}", question.name))
}

/// The key under which an older device noted a survey whose wording it did not keep.
pub(crate) fn of_old_survey(id: &str) -> String {
    format!("survey:{id}")
}

/// Whether the wording behind a key is not known.
pub(crate) fn is_unworded(key: &str) -> bool {
    key.starts_with("survey:")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list every language reads.
    #[test]
    fn wordings_have_the_keys_that_javascript_gives_them() {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../bindings/js/test/data/wordings.json");
        let file: serde_json::Value =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let wordings = file["wordings"].as_array().unwrap();
        assert!(wordings.len() > 20);
        for pair in wordings {
            let wording = pair[0].as_str().unwrap();
            assert_eq!(of_question(wording).as_deref(), pair[1].as_str(), "{wording:?}");
        }
    }

    #[test]
    fn the_wording_counts_and_nothing_else() {
        let key = of_question("Do you smoke?");
        assert_eq!(key.as_deref(), Some("question:doyousmoke"));
        for same in [
            "do you SMOKE",
            " Do\u{200b}you  smoke ?!",
            "Ｄｏ ｙｏｕ ｓｍｏｋｅ",
            "Do-you-smoke\u{ad}",
        ] {
            assert_eq!(of_question(same), key, "{same}");
        }
        assert_ne!(of_question("Do you smoke daily?"), key);
        // Composed and decomposed letters, ligatures, digits in a circle.
        assert_eq!(of_question("Gro\u{308}ße ﬁt ②"), of_question("GRÖße FIT 2"));
        assert_eq!(of_question("?! \u{200b}"), None);
    }
}
