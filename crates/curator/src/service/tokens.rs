//! Named tokens: made, listed, revoked and rotated while the curator runs.

use serde::{Deserialize, Serialize};
use undertone::error::shortened;
use undertone_core::Object;
use undertone_wire::{Code, Problem, SurveyId, hex};

use crate::auth::{Access, OWNER, OwnerToken, Role};
use crate::clock::{Randomness, timestamp};
use crate::store::{Store, TokenRecord};

/// Tokens there may be, revoked ones included.
const MOST: usize = 10_000;
const LONGEST_NAME: usize = 100;

/// A token to make.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewToken {
    /// Who will have it: the log names them so.
    pub name: String,
    /// owner, analyst, officer or admission.
    pub role: String,
    /// The one survey it is for; left out, it is for all.
    #[serde(default)]
    pub survey: Option<String>,
}

/// A token as it is listed; the token itself only when it was just made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ShownToken {
    /// What it is revoked by.
    pub id: String,
    /// Who has it.
    pub name: String,
    /// What they may do.
    pub role: String,
    /// The one survey it is for.
    pub survey: Option<String>,
    /// When it was made.
    pub created: String,
    /// By whom.
    pub created_by: String,
    /// When it was revoked.
    pub revoked: Option<String>,
    /// By whom.
    pub revoked_by: Option<String>,
    /// The token, shown this once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
}

fn shown(record: &TokenRecord, token: Option<String>) -> ShownToken {
    let TokenRecord { id, name, role, survey, created, created_by, revoked, .. } = record.clone();
    ShownToken {
        id,
        name,
        role,
        survey: survey.map(|survey| survey.to_string()),
        created: timestamp(created),
        created_by,
        revoked: revoked.as_ref().map(|(at, _)| timestamp(*at)),
        revoked_by: revoked.map(|(_, by)| by),
        token,
    }
}

/// Every token, revoked ones too.
pub async fn list(store: &dyn Store) -> Result<Vec<ShownToken>, Problem> {
    Ok(store.tokens().await?.iter().map(|record| shown(record, None)).collect())
}

/// Makes a token. `now` and `by` are what the record says of it.
pub async fn create(
    store: &dyn Store,
    randomness: &dyn Randomness,
    (now, by): (i64, &str),
    new: NewToken,
) -> Result<ShownToken, Problem> {
    let NewToken { name, role, survey } = new;
    let role = Role::named(&role).ok_or_else(|| {
        let roles = Role::ALL.map(Role::name).join(", ");
        Problem::malformed(format!("role is {role:?}: use one of {roles}"))
    })?;
    let plain = !name.trim().is_empty() && name.len() <= LONGEST_NAME;
    if !plain || name.chars().any(char::is_control) || [OWNER, CURATOR, COMMAND].contains(&&*name) {
        let detail = format!(
            "name is {name:?}: give 1 to {LONGEST_NAME} bytes without control characters, and not {OWNER}, {CURATOR} or {COMMAND}, which the log uses"
        );
        return Err(Problem::malformed(detail));
    }
    let survey = survey.map(known).transpose()?;
    if let Some(survey) = &survey
        && store.survey(survey).await?.is_none()
    {
        return Err(Problem::new(Code::SurveyUnknown, format!("there is no survey {survey}")));
    }
    if store.tokens().await?.len() >= MOST {
        return Err(Problem::new(Code::Conflict, format!("there are {MOST} tokens already")));
    }
    let (token, record) = made(randomness, name, role.name(), survey, (now, by))?;
    store.change_tokens(None, Some(&record)).await?;
    Ok(shown(&record, Some(token)))
}

/// What the log calls the curator where nobody asked for what it did.
pub(crate) const CURATOR: &str = "curator";
/// What records say was done by a command on the store, whoever ran it.
pub const COMMAND: &str = "command";

fn known(survey: String) -> Result<SurveyId, Problem> {
    survey.parse().map_err(|error| Problem::malformed(format!("survey is {survey:?}: {error}")))
}

fn made(
    randomness: &dyn Randomness,
    name: String,
    role: &str,
    survey: Option<SurveyId>,
    (created, by): (i64, &str),
) -> Result<(String, TokenRecord), Problem> {
    let failed = || Problem::new(Code::Unavailable, "the system's random generator failed");
    let (token, hashed) = OwnerToken::generate(randomness).ok_or_else(failed)?;
    let mut id = [0; 8];
    if !randomness.fill(&mut id) {
        return Err(failed());
    }
    let record = TokenRecord {
        id: format!("t-{}", hex::encode(&id)),
        name,
        role: role.into(),
        survey,
        hash: hashed.hash(),
        created,
        created_by: by.into(),
        revoked: None,
    };
    Ok((token, record))
}

/// Revokes a token for good.
pub async fn revoke(
    store: &dyn Store,
    (now, by): (i64, &str),
    id: &str,
) -> Result<ShownToken, Problem> {
    working(find(store, id).await?)?;
    store.change_tokens(Some((id, now, by)), None).await?;
    Ok(shown(&find(store, id).await?, None))
}

/// Revokes a token and makes another in its place, for the same person and purpose.
pub async fn rotate(
    store: &dyn Store,
    randomness: &dyn Randomness,
    (now, by): (i64, &str),
    id: &str,
) -> Result<ShownToken, Problem> {
    let old = working(find(store, id).await?)?;
    let (token, record) = made(randomness, old.name, &old.role, old.survey, (now, by))?;
    store.change_tokens(Some((id, now, by)), Some(&record)).await?;
    Ok(shown(&record, Some(token)))
}

async fn find(store: &dyn Store, id: &str) -> Result<TokenRecord, Problem> {
    let tokens = store.tokens().await?;
    let found = tokens.into_iter().find(|token| token.id == id);
    found
        .ok_or_else(|| Problem::new(Code::NotFound, format!("there is no token {}", shortened(id))))
}

fn working(token: TokenRecord) -> Result<TokenRecord, Problem> {
    match &token.revoked {
        None => Ok(token),
        Some(_) => {
            let detail = format!("token {} of {} is revoked already", token.id, token.name);
            Err(Problem::new(Code::Conflict, detail))
        }
    }
}

/// Reads the body that asks for a new token.
pub(crate) fn from_json(body: &[u8]) -> Result<NewToken, Problem> {
    let read = serde_json::from_slice::<Object<NewToken>>(body);
    read.map(|Object(new)| new).map_err(|error| Problem::malformed(error.to_string()))
}

/// What a token that works allows; `None` for one that is revoked or of a role this program does not know.
pub(crate) fn access(record: &TokenRecord) -> Option<Access> {
    let role = Role::named(&record.role).filter(|_| record.revoked.is_none())?;
    Some(Access { name: record.name.clone(), role, survey: record.survey.clone() })
}
