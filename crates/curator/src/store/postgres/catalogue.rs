//! Surveys, rounds, policies, tallies and the log.
//!
//! Whatever changes a survey locks its row first, so changes of one survey, and its log, come one after
//! the other.

use super::connect::fault;
use super::round_lock;
use crate::store::fold::{PolicySlot, decode, encode};
use crate::store::row::{ROUND, RoundRow, SURVEY, TallyRow, policy_sum, survey_sum};
use crate::store::{
    ChainedEvent, Event, NewPolicy, NewSurvey, Overview, RoundKey, RoundRecord, RoundStep,
    RoundTally, StoreError, Versioned, stored_id, stored_state,
};
use deadpool_postgres::{Object, Transaction};
use tokio_postgres::Row;
use undertone_core::PolicyId;
use undertone_wire::{RoundState, SurveyId, TokenShape};

type Outcome<T> = Result<T, StoreError>;

/// A number that is never negative.
pub(super) fn whole<T: TryFrom<i64>>(row: &Row, at: usize) -> Outcome<T> {
    let number: i64 = row.try_get(at).map_err(fault)?;
    T::try_from(number).map_err(|_| StoreError::Corrupt(format!("a number out of range: {number}")))
}

pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(-1)
}

pub(super) async fn create_survey(change: &Transaction<'_>, survey: &NewSurvey) -> Outcome<()> {
    let id = &survey.id;
    let added = change
        .execute(
            "INSERT INTO undertone.survey (id, version, document, checksum) VALUES ($1, 1, $2, $3)
             ON CONFLICT DO NOTHING",
            &[&id.as_str(), &survey.document, &survey_sum(id.as_str(), 1, &survey.document)],
        )
        .await
        .map_err(fault)?;
    if added == 0 {
        return Err(StoreError::Conflict(format!("there is a survey {id}")));
    }
    log(change, &survey.created).await?;
    let key = RoundKey { survey: id.clone(), number: 1 };
    add_round(change, &key, &survey.policies, &survey.opened).await
}

pub(super) async fn survey(client: &Object, id: &SurveyId) -> Outcome<Option<Versioned>> {
    let select = client
        .prepare_cached("SELECT document, version, checksum FROM undertone.survey WHERE id = $1")
        .await
        .map_err(fault)?;
    let found = client.query_opt(&select, &[&id.as_str()]).await.map_err(fault)?;
    let Some(row) = found else { return Ok(None) };
    let survey = Versioned { document: row.get(0), version: whole(&row, 1)? };
    let cells = [id.as_str().into(), signed(survey.version).into(), (&*survey.document).into()];
    SURVEY.verify(&cells, row.get(2))?;
    Ok(Some(survey))
}

pub(super) async fn overview(
    client: &Object,
    after: Option<&SurveyId>,
    limit: u32,
) -> Outcome<Vec<Overview>> {
    let select = client
        .prepare_cached(
            "SELECT survey.id, document, version, number, state,
                (SELECT coalesce(sum(reports), 0)::bigint FROM undertone.tally WHERE tally.round = newest.id),
                (SELECT coalesce(sum(duplicates), 0)::bigint FROM undertone.tally WHERE tally.round = newest.id),
                coalesce(waiting, 0)::bigint
             FROM undertone.survey
             LEFT JOIN (SELECT DISTINCT ON (survey) id, survey, number, state FROM undertone.round
                ORDER BY survey, number DESC) AS newest ON newest.survey = survey.id
             LEFT JOIN (SELECT round, sum(reports) AS waiting FROM undertone.batch GROUP BY round) AS waits
                ON waits.round = newest.id
             WHERE survey.id > $1 COLLATE \"C\" ORDER BY survey.id COLLATE \"C\" LIMIT $2",
        )
        .await
        .map_err(fault)?;
    let start = after.map_or("", SurveyId::as_str);
    let rows = client.query(&select, &[&start, &i64::from(limit)]).await.map_err(fault)?;
    let read = |row: &Row| {
        let id: &str = row.get(0);
        let state: Option<i64> = row.get(4);
        Ok(Overview {
            id: id.parse().map_err(|_| StoreError::Corrupt(format!("survey id {id:?}")))?,
            survey: Versioned { document: row.get(1), version: whole(row, 2)? },
            newest: match state {
                Some(state) => Some((whole(row, 3)?, stored_state(state)?)),
                None => None,
            },
            reports: whole(row, 5)?,
            duplicates: whole(row, 6)?,
            unfolded: whole(row, 7)?,
        })
    };
    rows.iter().map(read).collect()
}

/// Replaces the document if the version is the expected one.
pub(super) async fn replace(
    change: &Transaction<'_>,
    id: &SurveyId,
    (expected, document): (u64, &str),
) -> Outcome<u64> {
    let found = lock(change, id).await?;
    if found != expected {
        return Err(StoreError::Conflict(format!(
            "survey {id} is at version {found}, not {expected}"
        )));
    }
    change
        .execute(
            "UPDATE undertone.survey SET version = version + 1, document = $2, checksum = $3 WHERE id = $1",
            &[&id.as_str(), &document, &survey_sum(id.as_str(), expected + 1, document)],
        )
        .await
        .map_err(fault)?;
    Ok(expected + 1)
}

/// Locks a survey's row and gives its version.
pub(super) async fn lock(change: &Transaction<'_>, id: &SurveyId) -> Outcome<u64> {
    let found = change
        .query_opt("SELECT version FROM undertone.survey WHERE id = $1 FOR UPDATE", &[&id.as_str()])
        .await
        .map_err(fault)?;
    whole(&found.ok_or_else(|| StoreError::NotFound(format!("survey {id}")))?, 0)
}

pub(super) async fn open_round(
    change: &Transaction<'_>,
    key: &RoundKey,
    policies: &[NewPolicy],
    survey: (u64, &str),
    event: &Event,
) -> Outcome<()> {
    replace(change, &key.survey, survey).await?;
    let row = change
        .query_one(
            "SELECT coalesce(max(number), 0), count(*) FILTER (WHERE state = 0)
             FROM undertone.round WHERE survey = $1",
            &[&key.survey.as_str()],
        )
        .await
        .map_err(fault)?;
    let (newest, open): (u32, u64) = (whole(&row, 0)?, whole(&row, 1)?);
    if open > 0 {
        return Err(StoreError::Conflict(format!("round {newest} is open")));
    }
    if key.number != newest + 1 {
        return Err(StoreError::Conflict(format!("the next round is {}", newest + 1)));
    }
    add_round(change, key, policies, event).await
}

/// Adds an open round with its policies, and says so in the log; the survey's row is locked or new.
async fn add_round(
    change: &Transaction<'_>,
    key: &RoundKey,
    policies: &[NewPolicy],
    event: &Event,
) -> Outcome<()> {
    let sum = RoundRow::new(key.survey.as_str(), key.number, event.at).sum();
    let row = change
        .query_one(
            "INSERT INTO undertone.round (survey, number, state, opened, checksum)
             VALUES ($1, $2, 0, $3, $4) RETURNING id",
            &[&key.survey.as_str(), &i64::from(key.number), &event.at, &sum],
        )
        .await
        .map_err(fault)?;
    for (position, policy) in (0i64..).zip(policies) {
        publish(change, key, row.get(0), position, policy).await?;
    }
    log(change, event).await
}

async fn publish(
    change: &Transaction<'_>,
    key: &RoundKey,
    round: i64,
    position: i64,
    policy: &NewPolicy,
) -> Outcome<()> {
    let (name, outputs) = (&policy.id.0[..], i64::from(policy.tokens.outputs));
    change
        .execute(
            "INSERT INTO undertone.policy (name, outputs, bits, bytes, checksum)
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING",
            &[
                &name,
                &outputs,
                &policy.tokens.bits,
                &policy.bytes,
                &policy_sum(name, policy.tokens.outputs, policy.tokens.bits, &policy.bytes),
            ],
        )
        .await
        .map_err(fault)?;
    let row = change
        .query_one(
            "SELECT id, outputs = $2 AND bits = $3 AND bytes = $4 FROM undertone.policy WHERE name = $1",
            &[&name, &outputs, &policy.tokens.bits, &policy.bytes],
        )
        .await
        .map_err(fault)?;
    let (id, same): (i64, bool) = (row.get(0), row.get(1));
    if !same {
        return Err(StoreError::Conflict(format!("policy {} has other bytes", policy.id)));
    }
    let row = change
        .query_one(
            "SELECT EXISTS (SELECT 1 FROM undertone.tally JOIN undertone.round ON round.id = tally.round
             WHERE tally.policy = $1 AND round.survey = $2)",
            &[&id, &key.survey.as_str()],
        )
        .await
        .map_err(fault)?;
    if row.get(0) {
        return Err(StoreError::Conflict(format!("policy {} has a round already", policy.id)));
    }
    let counts = encode(&vec![0; policy.tokens.outputs as usize]);
    let tally = TallyRow { round, policy: id, position, reports: 0, duplicates: 0, counts };
    change
        .execute(
            "INSERT INTO undertone.tally (round, policy, position, reports, duplicates, counts, checksum)
             VALUES ($1, $2, $3, 0, 0, $4, $5)",
            &[&round, &id, &position, &tally.counts, &tally.sum()],
        )
        .await
        .map_err(fault)?;
    Ok(())
}

pub(super) async fn rounds(client: &Object, survey: &SurveyId) -> Outcome<Vec<RoundRecord>> {
    let select = client
        .prepare_cached(
            "SELECT number, state, opened, sealed, released, name, held, swept, wiped, round.checksum
             FROM undertone.round LEFT JOIN undertone.tally ON tally.round = round.id
             LEFT JOIN undertone.policy ON policy.id = tally.policy
             WHERE survey = $1 ORDER BY number, tally.position",
        )
        .await
        .map_err(fault)?;
    let rows = client.query(&select, &[&survey.as_str()]).await.map_err(fault)?;
    let mut rounds: Vec<RoundRecord> = Vec::new();
    for row in &rows {
        let number = whole(row, 0)?;
        if rounds.last().is_none_or(|last| last.key.number != number) {
            let stored = RoundRow {
                id: 0,
                survey: survey.as_str().into(),
                number: i64::from(number),
                state: row.get(1),
                held: row.get(6),
                opened: row.get(2),
                sealed: row.get(3),
                released: row.get(4),
                swept: row.get(7),
                wiped: row.get(8),
            };
            let stored = stored.verified(row.get(9))?;
            rounds.push(RoundRecord {
                key: RoundKey { survey: survey.clone(), number },
                state: stored_state(stored.state)?,
                held: stored.held,
                policies: Vec::new(),
                opened: stored.opened,
                sealed: stored.sealed,
                released: stored.released,
            });
        }
        if let (Some(last), Some(name)) = (rounds.last_mut(), row.get(5)) {
            last.policies.push(stored_id(name)?);
        }
    }
    Ok(rounds)
}

pub(super) async fn policy(client: &Object, id: &PolicyId) -> Outcome<Option<Vec<u8>>> {
    let row = client
        .query_opt("SELECT bytes FROM undertone.policy WHERE name = $1", &[&&id.0[..]])
        .await
        .map_err(fault)?;
    Ok(row.map(|row| row.get(0)))
}

/// A slot from columns `at` and on: round, policy, outputs, bits.
pub(super) fn read_slot(row: &Row, at: usize) -> Outcome<PolicySlot> {
    let (round, policy, bits) = (row.get(at), row.get(at + 1), row.get(at + 3));
    Ok(PolicySlot { round, policy, tokens: TokenShape { outputs: whole(row, at + 2)?, bits } })
}

pub(super) async fn slot(
    client: &Object,
    key: &RoundKey,
    policy: &PolicyId,
) -> Outcome<Option<PolicySlot>> {
    let row = client
        .query_opt(
            "SELECT tally.round, tally.policy, outputs, bits FROM undertone.tally
             JOIN undertone.round ON round.id = tally.round
             JOIN undertone.policy ON policy.id = tally.policy
             WHERE survey = $1 AND number = $2 AND name = $3",
            &[&key.survey.as_str(), &i64::from(key.number), &&policy.0[..]],
        )
        .await
        .map_err(fault)?;
    row.map(|row| read_slot(&row, 0)).transpose()
}

/// Moves a round one state on; the survey's row is locked. Waits for appends under way.
pub(super) async fn advance(
    change: &Transaction<'_>,
    key: &RoundKey,
    from: RoundState,
    move_on: impl FnOnce(&mut RoundRow),
) -> Outcome<i64> {
    let found = change
        .query_opt(
            "SELECT id FROM undertone.round WHERE survey = $1 AND number = $2",
            &[&key.survey.as_str(), &i64::from(key.number)],
        )
        .await
        .map_err(fault)?;
    let round: i64 = found.ok_or_else(|| StoreError::NotFound(key.to_string()))?.get(0);
    change
        .execute("SELECT pg_advisory_xact_lock($1)", &[&round_lock(round)])
        .await
        .map_err(fault)?;
    // Locked, because folding marks a round as swept without the survey's lock.
    let mut row = round_row(change, round).await?;
    let found = stored_state(row.state)?;
    if found != from {
        return Err(StoreError::Conflict(format!("{key} is {found:?}, not {from:?}")));
    }
    move_on(&mut row);
    set_round(change, &row).await?;
    Ok(round)
}

/// A round's row, locked, with its checksum.
pub(super) async fn round_row(change: &Transaction<'_>, id: i64) -> Outcome<RoundRow> {
    let select =
        format!("SELECT {} FROM undertone.round WHERE id = $1 FOR UPDATE", ROUND.names(""));
    let found = change.query_opt(&select, &[&id]).await.map_err(fault)?;
    let row = found.ok_or_else(|| StoreError::Corrupt(format!("there is no round {id}")))?;
    read_round(&row)
}

/// A round from the columns of [`ROUND`] and its checksum.
pub(super) fn read_round(row: &Row) -> Outcome<RoundRow> {
    let round = RoundRow {
        id: row.get(0),
        survey: row.get(1),
        number: row.get(2),
        state: row.get(3),
        held: row.get(4),
        opened: row.get(5),
        sealed: row.get(6),
        released: row.get(7),
        swept: row.get(8),
        wiped: row.get(9),
    };
    round.verified(row.get(10))
}

/// Replaces what changes in a round's row.
pub(super) async fn set_round(change: &Transaction<'_>, row: &RoundRow) -> Outcome<()> {
    let RoundRow { id, state, held, sealed, released, swept, wiped, .. } = row;
    change
        .execute(
            "UPDATE undertone.round SET state = $2, held = $3, sealed = $4, released = $5, swept = $6,
             wiped = $7, checksum = $8 WHERE id = $1",
            &[id, state, held, sealed, released, swept, wiped, &row.sum()],
        )
        .await
        .map(drop)
        .map_err(fault)
}

pub(super) async fn seal(
    change: &Transaction<'_>,
    key: &RoundKey,
    at: i64,
    event: &Event,
) -> Outcome<()> {
    lock(change, &key.survey).await?;
    advance(change, key, RoundState::Open, |row| row.take(RoundStep::Seal(at))).await?;
    log(change, event).await
}

pub(super) async fn release(
    change: &Transaction<'_>,
    key: &RoundKey,
    at: i64,
    survey: (u64, &str),
    event: &Event,
) -> Outcome<()> {
    replace(change, &key.survey, survey).await?;
    let released = |row: &mut RoundRow| (row.state, row.released) = (2, Some(at));
    let round = advance(change, key, RoundState::Sealed, released).await?;
    let waiting = change
        .query_one("SELECT EXISTS (SELECT 1 FROM undertone.batch WHERE round = $1)", &[&round])
        .await
        .map_err(fault)?;
    if waiting.get(0) {
        return Err(StoreError::Unfolded);
    }
    log(change, event).await
}

pub(super) async fn tallies(client: &Object, key: &RoundKey) -> Outcome<Vec<RoundTally>> {
    // One statement, so that a report is either counted or waiting.
    let select = client
        .prepare_cached(
            "SELECT name, outputs, counts, tally.reports, duplicates, coalesce(waiting, 0)::bigint,
                tally.round, tally.policy, position, tally.checksum
             FROM undertone.round JOIN undertone.tally ON tally.round = round.id
             JOIN undertone.policy ON policy.id = tally.policy
             LEFT JOIN (SELECT round, policy, sum(reports) AS waiting FROM undertone.batch
                WHERE round = (SELECT id FROM undertone.round WHERE survey = $1 AND number = $2)
                GROUP BY round, policy) AS waits ON waits.round = round.id AND waits.policy = tally.policy
             WHERE survey = $1 AND number = $2 ORDER BY tally.position",
        )
        .await
        .map_err(fault)?;
    let number = i64::from(key.number);
    let rows = client.query(&select, &[&key.survey.as_str(), &number]).await.map_err(fault)?;
    if rows.is_empty() && !rounds(client, &key.survey).await?.iter().any(|one| one.key == *key) {
        return Err(StoreError::NotFound(key.to_string()));
    }
    let read = |row: &Row| {
        let stored = TallyRow {
            round: row.get(6),
            policy: row.get(7),
            position: row.get(8),
            reports: row.get(3),
            duplicates: row.get(4),
            counts: row.get(2),
        };
        let stored = stored.verified(row.get(9))?;
        Ok(RoundTally {
            policy: stored_id(row.get(0))?,
            counts: decode(&stored.counts, whole(row, 1)?)?,
            reports: stored.reports.unsigned_abs(),
            duplicates: stored.duplicates.unsigned_abs(),
            unfolded: whole(row, 5)?,
        })
    };
    rows.iter().map(read).collect()
}

fn hash(row: &Row, at: usize) -> Outcome<[u8; 32]> {
    let bytes: &[u8] = row.try_get(at).map_err(fault)?;
    bytes.try_into().map_err(|_| StoreError::Corrupt("a hash of another length".into()))
}

/// Appends to the log; the survey's row is locked or new.
pub(super) async fn log(change: &Transaction<'_>, event: &Event) -> Outcome<()> {
    let last = change
        .query_opt(
            "SELECT seq, hash FROM undertone.event WHERE survey = $1 ORDER BY seq DESC LIMIT 1",
            &[&event.survey.as_str()],
        )
        .await
        .map_err(fault)?;
    let last = last.map(|row| Ok((whole(&row, 0)?, hash(&row, 1)?))).transpose()?;
    let ChainedEvent { seq, event, previous, hash } = ChainedEvent::after(last, event.clone());
    change
        .execute(
            "INSERT INTO undertone.event (survey, seq, at, kind, detail, previous, hash)
             VALUES ($1, $2, $3, $4, $5, $6, $7)",
            &[
                &event.survey.as_str(),
                &signed(seq),
                &event.at,
                &event.kind,
                &event.detail,
                &&previous[..],
                &&hash[..],
            ],
        )
        .await
        .map_err(fault)?;
    Ok(())
}

pub(super) async fn events(
    client: &Object,
    survey: &SurveyId,
    after: u64,
    limit: u32,
) -> Outcome<Vec<ChainedEvent>> {
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let rows = client
        .query(
            "SELECT seq, at, kind, detail, previous, hash FROM undertone.event
             WHERE survey = $1 AND seq > $2 ORDER BY seq LIMIT $3",
            &[&survey.as_str(), &after, &i64::from(limit)],
        )
        .await
        .map_err(fault)?;
    let read = |row: &Row| {
        let survey = survey.clone();
        let event = Event { survey, at: row.get(1), kind: row.get(2), detail: row.get(3) };
        Ok(ChainedEvent {
            seq: whole(row, 0)?,
            event,
            previous: hash(row, 4)?,
            hash: hash(row, 5)?,
        })
    };
    rows.iter().map(read).collect()
}
