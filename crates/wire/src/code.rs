//! Why a curator refuses: stable codes, each with its name, its HTTP status and its sentence.

/// Why a request was refused. The names on the wire never change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash)]
pub enum Code {
    /// No survey of this id.
    SurveyUnknown,
    /// No policy of this id.
    PolicyUnknown,
    /// A policy, but not one of this survey.
    PolicyForeign,
    /// A policy of an earlier round of this survey.
    PolicyExpired,
    /// A token the policy never releases.
    TokenOutOfRange,
    /// The round takes no more reports.
    RoundSealed,
    /// The round must be sealed, or released, first.
    RoundOpen,
    /// More bytes, or more reports, than one request may carry.
    BodyTooLarge,
    /// The body is not what was expected.
    Malformed,
    /// A content type or a form the curator does not speak.
    UnsupportedForm,
    /// The owner's token is missing or wrong.
    Unauthorized,
    /// The token does not allow this.
    Forbidden,
    /// The survey takes no reports for the time being.
    SurveyPaused,
    /// Too many requests from one address.
    TooManyRequests,
    /// Too few reports to say anything.
    TooFewReports,
    /// A group policy would be shared by too few people.
    GroupTooSmall,
    /// Not in the state things are in: it exists already, somebody else changed it first, or another step comes before.
    Conflict,
    /// No policy with the promises asked for could be verified.
    RefusedClaim,
    /// The round would exceed the survey's budget.
    BudgetSpent,
    /// The disk is full, or the store has grown to the size its owner allows.
    StorageFull,
    /// The store cannot be reached.
    Unavailable,
    /// Too much is under way at the moment.
    Busy,
    /// The request took too long.
    Timeout,
    /// No such page.
    NotFound,
    /// The page exists, the method does not.
    MethodNotAllowed,
}

impl Code {
    /// Every code.
    pub const ALL: [Self; 25] = [
        Self::SurveyUnknown,
        Self::PolicyUnknown,
        Self::PolicyForeign,
        Self::PolicyExpired,
        Self::TokenOutOfRange,
        Self::RoundSealed,
        Self::RoundOpen,
        Self::BodyTooLarge,
        Self::Malformed,
        Self::UnsupportedForm,
        Self::Unauthorized,
        Self::Forbidden,
        Self::SurveyPaused,
        Self::TooManyRequests,
        Self::TooFewReports,
        Self::GroupTooSmall,
        Self::Conflict,
        Self::RefusedClaim,
        Self::BudgetSpent,
        Self::StorageFull,
        Self::Unavailable,
        Self::Busy,
        Self::Timeout,
        Self::NotFound,
        Self::MethodNotAllowed,
    ];

    /// The name on the wire.
    pub const fn name(self) -> &'static str {
        self.parts().0
    }

    /// The HTTP status.
    pub const fn status(self) -> u16 {
        self.parts().1
    }

    /// What the code means, in a sentence that is the same for every occurrence.
    pub const fn title(self) -> &'static str {
        self.parts().2
    }

    /// The code of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|code| code.name() == name)
    }

    const fn parts(self) -> (&'static str, u16, &'static str) {
        match self {
            Self::SurveyUnknown => ("survey_unknown", 404, "There is no such survey"),
            Self::PolicyUnknown => ("policy_unknown", 404, "There is no such policy"),
            Self::PolicyForeign => {
                ("policy_foreign", 422, "The policy belongs to no round of this survey")
            }
            Self::PolicyExpired => {
                ("policy_expired", 409, "The policy belongs to an earlier round")
            }
            Self::TokenOutOfRange => {
                ("token_out_of_range", 422, "The token is not an output of its policy")
            }
            Self::RoundSealed => ("round_sealed", 409, "The round takes no more reports"),
            Self::RoundOpen => ("round_open", 409, "The round is not sealed yet"),
            Self::BodyTooLarge => ("body_too_large", 413, "The body is larger than allowed"),
            Self::Malformed => ("malformed", 400, "The request cannot be read"),
            Self::UnsupportedForm => ("unsupported_form", 415, "The form is not supported"),
            Self::Unauthorized => ("unauthorized", 401, "The owner's token is missing or wrong"),
            Self::Forbidden => ("forbidden", 403, "The token does not allow this"),
            Self::SurveyPaused => {
                ("survey_paused", 503, "The survey takes no reports for the time being")
            }
            Self::TooManyRequests => {
                ("too_many_requests", 429, "Too many requests from this address")
            }
            Self::TooFewReports => {
                ("too_few_reports", 409, "There are too few reports to say anything")
            }
            Self::GroupTooSmall => ("group_too_small", 422, "Too few people would share a policy"),
            Self::Conflict => ("conflict", 409, "What is there now does not allow it"),
            Self::RefusedClaim => {
                ("refused_claim", 422, "No policy with these promises was verified")
            }
            Self::BudgetSpent => {
                ("budget_spent", 409, "The survey's budget does not allow another round")
            }
            Self::StorageFull => ("storage_full", 507, "The store takes no more reports"),
            Self::Unavailable => ("unavailable", 503, "The store cannot be reached"),
            Self::Busy => ("busy", 503, "Too much is under way at the moment"),
            Self::Timeout => ("timeout", 408, "The request took too long"),
            Self::NotFound => ("not_found", 404, "There is no such page"),
            Self::MethodNotAllowed => {
                ("method_not_allowed", 405, "The page does not know this method")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_code_has_a_name_of_its_own() {
        let names: BTreeSet<_> = Code::ALL.iter().map(|code| code.name()).collect();
        assert_eq!(names.len(), Code::ALL.len());
        assert!(Code::ALL.iter().all(|code| (400..600).contains(&code.status())));
        assert!(Code::ALL.into_iter().all(|code| Code::named(code.name()) == Some(code)));
        assert_eq!(Code::named("teapot"), None);
    }
}
