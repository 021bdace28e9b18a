//! Surveys, rounds, policies, tallies and the log.

use super::schema::{fault, whole};
use crate::store::fold::{PolicySlot, decode, encode};
use crate::store::row::{ROUND, RoundRow, SURVEY, TallyRow, policy_sum, survey_sum};
use crate::store::{
    ChainedEvent, Event, NewPolicy, NewSurvey, Overview, RoundKey, RoundRecord, RoundStep,
    RoundTally, StoreError, Versioned, stored_id, stored_state,
};
use rusqlite::{Connection, OptionalExtension, Row, Transaction};
use undertone_core::PolicyId;
use undertone_wire::{RoundState, SurveyId, TokenShape};

type Outcome<T> = Result<T, StoreError>;

pub(super) fn create_survey(change: &Transaction, survey: NewSurvey) -> Outcome<()> {
    let NewSurvey { id, document, policies, created, opened } = survey;
    let added = change
        .execute(
            "INSERT INTO survey (id, version, checksum, document) VALUES (?1, 1, ?2, ?3)
             ON CONFLICT DO NOTHING",
            (id.as_str(), survey_sum(id.as_str(), 1, &document), document),
        )
        .map_err(fault)?;
    if added == 0 {
        return Err(StoreError::Conflict(format!("there is a survey {id}")));
    }
    log(change, created)?;
    add_round(change, &RoundKey { survey: id, number: 1 }, &policies, opened)
}

pub(super) fn survey(connection: &Connection, id: &SurveyId) -> Outcome<Option<Versioned>> {
    let found = connection
        .prepare_cached("SELECT document, version, checksum FROM survey WHERE id = ?1")
        .and_then(|mut select| {
            select
                .query_row([id.as_str()], |row| {
                    let survey = Versioned { document: row.get(0)?, version: whole(row, 1)? };
                    Ok((survey, row.get::<_, i64>(2)?))
                })
                .optional()
        })
        .map_err(fault)?;
    let Some((survey, sum)) = found else { return Ok(None) };
    let cells = [id.as_str().into(), (survey.version as i64).into(), (&*survey.document).into()];
    SURVEY.verify(&cells, sum)?;
    Ok(Some(survey))
}

pub(super) fn overview(
    connection: &Connection,
    after: Option<&SurveyId>,
    limit: u32,
) -> Outcome<Vec<Overview>> {
    let mut select = connection
        .prepare_cached(
            "SELECT survey.id, document, version, number, state,
                (SELECT sum(reports) FROM tally WHERE tally.round = round.id),
                (SELECT sum(duplicates) FROM tally WHERE tally.round = round.id),
                coalesce(waiting, 0)
             FROM survey
             LEFT JOIN round ON round.survey = survey.id AND number =
                (SELECT max(number) FROM round AS any_round WHERE any_round.survey = survey.id)
             LEFT JOIN (SELECT round AS place, sum(reports) AS waiting FROM batch GROUP BY round)
                ON place = round.id
             WHERE survey.id > ?1 ORDER BY survey.id LIMIT ?2",
        )
        .map_err(fault)?;
    let start = after.map_or("", SurveyId::as_str);
    let mut rows = select.query((start, limit)).map_err(fault)?;
    let mut list = Vec::new();
    while let Some(row) = rows.next().map_err(fault)? {
        let id: String = row.get(0).map_err(fault)?;
        let count = |at| row.get::<_, Option<i64>>(at).map_err(fault).map(|n| n.unwrap_or(0));
        let number: Option<u32> = row.get(3).map_err(fault)?;
        let state = row.get::<_, Option<i64>>(4).map_err(fault)?;
        list.push(Overview {
            id: id.parse().map_err(|_| StoreError::Corrupt(format!("survey id {id:?}")))?,
            survey: Versioned {
                document: row.get(1).map_err(fault)?,
                version: whole(row, 2).map_err(fault)?,
            },
            newest: match number.zip(state) {
                Some((number, state)) => Some((number, stored_state(state)?)),
                None => None,
            },
            reports: count(5)?.unsigned_abs(),
            duplicates: count(6)?.unsigned_abs(),
            unfolded: count(7)?.unsigned_abs(),
        });
    }
    Ok(list)
}

/// Replaces the document if the version is the expected one.
pub(super) fn replace(
    change: &Transaction,
    id: &SurveyId,
    (expected, document): (u64, &str),
) -> Outcome<u64> {
    let done = change
        .execute(
            "UPDATE survey SET version = version + 1, checksum = ?3, document = ?4
             WHERE id = ?1 AND version = ?2",
            (
                id.as_str(),
                i64::try_from(expected).unwrap_or(-1),
                survey_sum(id.as_str(), expected + 1, document),
                document,
            ),
        )
        .map_err(fault)?;
    if done == 1 {
        return Ok(expected + 1);
    }
    Err(match survey(change, id)? {
        None => StoreError::NotFound(format!("survey {id}")),
        Some(found) => StoreError::Conflict(format!(
            "survey {id} is at version {}, not {expected}",
            found.version
        )),
    })
}

pub(super) fn open_round(
    change: &Transaction,
    key: &RoundKey,
    policies: &[NewPolicy],
    survey: (u64, &str),
    event: Event,
) -> Outcome<()> {
    replace(change, &key.survey, survey)?;
    let (newest, open): (u32, u32) = change
        .query_row(
            "SELECT coalesce(max(number), 0), count(*) FILTER (WHERE state = 0)
             FROM round WHERE survey = ?1",
            [key.survey.as_str()],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .map_err(fault)?;
    if open > 0 {
        return Err(StoreError::Conflict(format!("round {newest} is open")));
    }
    if key.number != newest + 1 {
        return Err(StoreError::Conflict(format!("the next round is {}", newest + 1)));
    }
    add_round(change, key, policies, event)
}

/// Adds an open round with its policies, and says so in the log.
fn add_round(
    change: &Transaction,
    key: &RoundKey,
    policies: &[NewPolicy],
    event: Event,
) -> Outcome<()> {
    let sum = RoundRow::new(key.survey.as_str(), key.number, event.at).sum();
    change
        .execute(
            "INSERT INTO round (survey, number, state, opened, checksum) VALUES (?1, ?2, 0, ?3, ?4)",
            (key.survey.as_str(), key.number, event.at, sum),
        )
        .map_err(fault)?;
    let round = change.last_insert_rowid();
    for (position, policy) in policies.iter().enumerate() {
        publish(change, key, round, position, policy)?;
    }
    log(change, event)
}

fn publish(
    change: &Transaction,
    key: &RoundKey,
    round: i64,
    position: usize,
    policy: &NewPolicy,
) -> Outcome<()> {
    change
        .execute(
            "INSERT INTO policy (name, outputs, bits, bytes, checksum) VALUES (?1, ?2, ?3, ?4, ?5)
             ON CONFLICT DO NOTHING",
            (
                &policy.id.0[..],
                policy.tokens.outputs,
                policy.tokens.bits,
                &policy.bytes,
                policy_sum(&policy.id.0, policy.tokens.outputs, policy.tokens.bits, &policy.bytes),
            ),
        )
        .map_err(fault)?;
    let (id, same): (i64, bool) = change
        .query_row(
            "SELECT id, outputs = ?2 AND bits = ?3 AND bytes = ?4 FROM policy WHERE name = ?1",
            (&policy.id.0[..], policy.tokens.outputs, policy.tokens.bits, &policy.bytes),
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .map_err(fault)?;
    if !same {
        return Err(StoreError::Conflict(format!("policy {} has other bytes", policy.id)));
    }
    let used: bool = change
        .query_row(
            "SELECT EXISTS (SELECT 1 FROM tally JOIN round ON round.id = tally.round
             WHERE tally.policy = ?1 AND round.survey = ?2)",
            (id, key.survey.as_str()),
            |row| row.get(0),
        )
        .map_err(fault)?;
    if used {
        return Err(StoreError::Conflict(format!("policy {} has a round already", policy.id)));
    }
    let (counts, position) = (encode(&vec![0; policy.tokens.outputs as usize]), position as i64);
    let tally = TallyRow { round, policy: id, position, reports: 0, duplicates: 0, counts };
    change
        .execute(
            "INSERT INTO tally (round, policy, position, reports, duplicates, checksum, counts)
             VALUES (?1, ?2, ?3, 0, 0, ?4, ?5)",
            (round, id, position, tally.sum(), &tally.counts),
        )
        .map_err(fault)?;
    Ok(())
}

pub(super) fn rounds(connection: &Connection, survey: &SurveyId) -> Outcome<Vec<RoundRecord>> {
    let mut select = connection
        .prepare_cached(
            "SELECT round.id, number, state, opened, sealed, released, name, held, swept, wiped, round.checksum
             FROM round LEFT JOIN tally ON tally.round = round.id LEFT JOIN policy ON policy.id = tally.policy
             WHERE survey = ?1 ORDER BY number, position",
        )
        .map_err(fault)?;
    let mut rows = select.query([survey.as_str()]).map_err(fault)?;
    let mut rounds: Vec<RoundRecord> = Vec::new();
    while let Some(row) = rows.next().map_err(fault)? {
        let number = row.get(1).map_err(fault)?;
        if rounds.last().is_none_or(|last| last.key.number != number) {
            let stored = RoundRow {
                id: row.get(0).map_err(fault)?,
                survey: survey.as_str().into(),
                number: i64::from(number),
                state: row.get(2).map_err(fault)?,
                held: row.get(7).map_err(fault)?,
                opened: row.get(3).map_err(fault)?,
                sealed: row.get(4).map_err(fault)?,
                released: row.get(5).map_err(fault)?,
                swept: row.get(8).map_err(fault)?,
                wiped: row.get(9).map_err(fault)?,
            };
            let stored = stored.verified(row.get(10).map_err(fault)?)?;
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
        if let (Some(last), Some(name)) = (rounds.last_mut(), row.get(6).map_err(fault)?) {
            last.policies.push(stored_id(name)?);
        }
    }
    Ok(rounds)
}

pub(super) fn policy(connection: &Connection, id: &PolicyId) -> Outcome<Option<Vec<u8>>> {
    connection
        .prepare_cached("SELECT bytes FROM policy WHERE name = ?1")
        .and_then(|mut select| select.query_row([&id.0[..]], |row| row.get(0)).optional())
        .map_err(fault)
}

pub(super) fn slot(
    connection: &Connection,
    key: &RoundKey,
    policy: &PolicyId,
) -> Outcome<Option<PolicySlot>> {
    let read = |row: &Row| {
        Ok(PolicySlot {
            round: row.get(0)?,
            policy: row.get(1)?,
            tokens: TokenShape { outputs: row.get(2)?, bits: row.get(3)? },
        })
    };
    connection
        .prepare_cached(
            "SELECT tally.round, tally.policy, outputs, bits FROM tally JOIN round ON round.id = tally.round
             JOIN policy ON policy.id = tally.policy WHERE survey = ?1 AND number = ?2 AND name = ?3",
        )
        .and_then(|mut select| {
            select.query_row((key.survey.as_str(), key.number, &policy.0[..]), read).optional()
        })
        .map_err(fault)
}

/// Moves a round one state on.
pub(super) fn advance(
    change: &Transaction,
    key: &RoundKey,
    from: RoundState,
    move_on: impl FnOnce(&mut RoundRow),
) -> Outcome<i64> {
    let found: Option<i64> = change
        .query_row(
            "SELECT id FROM round WHERE survey = ?1 AND number = ?2",
            (key.survey.as_str(), key.number),
            |row| row.get(0),
        )
        .optional()
        .map_err(fault)?;
    let mut row = round_row(change, found.ok_or_else(|| StoreError::NotFound(key.to_string()))?)?;
    let found = stored_state(row.state)?;
    if found != from {
        return Err(StoreError::Conflict(format!("{key} is {found:?}, not {from:?}")));
    }
    move_on(&mut row);
    set_round(change, &row)?;
    Ok(row.id)
}

/// A round's row, with its checksum.
pub(super) fn round_row(change: &Transaction, id: i64) -> Outcome<RoundRow> {
    find_round(change, id)?.ok_or_else(|| StoreError::Corrupt(format!("there is no round {id}")))
}

/// The same if there is one.
pub(super) fn find_round(change: &Transaction, id: i64) -> Outcome<Option<RoundRow>> {
    let read = |row: &Row| {
        let round = RoundRow {
            id: row.get(0)?,
            survey: row.get(1)?,
            number: row.get(2)?,
            state: row.get(3)?,
            held: row.get(4)?,
            opened: row.get(5)?,
            sealed: row.get(6)?,
            released: row.get(7)?,
            swept: row.get(8)?,
            wiped: row.get(9)?,
        };
        Ok((round, row.get::<_, i64>(10)?))
    };
    let found = change
        .prepare_cached(&format!("SELECT {} FROM round WHERE id = ?1", ROUND.names("")))
        .and_then(|mut select| select.query_row([id], read).optional())
        .map_err(fault)?;
    found.map(|(round, sum)| round.verified(sum)).transpose()
}

/// Replaces what changes in a round's row.
pub(super) fn set_round(change: &Transaction, row: &RoundRow) -> Outcome<()> {
    let RoundRow { id, state, held, sealed, released, swept, wiped, .. } = row;
    change
        .execute(
            "UPDATE round SET state = ?2, held = ?3, sealed = ?4, released = ?5, swept = ?6, wiped = ?7,
             checksum = ?8 WHERE id = ?1",
            (id, state, held, sealed, released, swept, wiped, row.sum()),
        )
        .map(drop)
        .map_err(fault)
}

pub(super) fn seal(change: &Transaction, key: &RoundKey, at: i64, event: Event) -> Outcome<()> {
    advance(change, key, RoundState::Open, |row| row.take(RoundStep::Seal(at)))?;
    log(change, event)
}

pub(super) fn release(
    change: &Transaction,
    key: &RoundKey,
    at: i64,
    survey: (u64, &str),
    event: Event,
) -> Outcome<()> {
    let round =
        advance(change, key, RoundState::Sealed, |row| (row.state, row.released) = (2, Some(at)))?;
    let waiting: bool = change
        .query_row("SELECT EXISTS (SELECT 1 FROM batch WHERE round = ?1)", [round], |row| {
            row.get(0)
        })
        .map_err(fault)?;
    if waiting {
        return Err(StoreError::Unfolded);
    }
    replace(change, &key.survey, survey)?;
    log(change, event)
}

pub(super) fn tallies(connection: &Connection, key: &RoundKey) -> Outcome<Vec<RoundTally>> {
    // One transaction, so that a report is either counted or waiting.
    let read = connection.unchecked_transaction().map_err(fault)?;
    let round: i64 = read
        .query_row(
            "SELECT id FROM round WHERE survey = ?1 AND number = ?2",
            (key.survey.as_str(), key.number),
            |row| row.get(0),
        )
        .optional()
        .map_err(fault)?
        .ok_or_else(|| StoreError::NotFound(key.to_string()))?;
    let mut select = read
        .prepare_cached(
            "SELECT name, outputs, counts, tally.reports, duplicates, coalesce(waiting, 0), tally.policy,
                position, tally.checksum FROM tally
             JOIN policy ON policy.id = tally.policy
             LEFT JOIN (SELECT policy AS place, sum(reports) AS waiting FROM batch WHERE round = ?1 GROUP BY policy)
                ON place = tally.policy
             WHERE round = ?1 ORDER BY position",
        )
        .map_err(fault)?;
    let mut rows = select.query([round]).map_err(fault)?;
    let mut tallies = Vec::new();
    while let Some(row) = rows.next().map_err(fault)? {
        let stored = TallyRow {
            round,
            policy: row.get(6).map_err(fault)?,
            position: row.get(7).map_err(fault)?,
            reports: row.get(3).map_err(fault)?,
            duplicates: row.get(4).map_err(fault)?,
            counts: row.get(2).map_err(fault)?,
        };
        let stored = stored.verified(row.get(8).map_err(fault)?)?;
        tallies.push(RoundTally {
            policy: stored_id(row.get(0).map_err(fault)?)?,
            counts: decode(&stored.counts, row.get(1).map_err(fault)?)?,
            reports: stored.reports.unsigned_abs(),
            duplicates: stored.duplicates.unsigned_abs(),
            unfolded: whole(row, 5).map_err(fault)?,
        });
    }
    Ok(tallies)
}

/// Appends to the log.
pub(super) fn log(change: &Transaction, event: Event) -> Outcome<()> {
    let last = change
        .query_row(
            "SELECT seq, hash FROM event WHERE survey = ?1 ORDER BY seq DESC LIMIT 1",
            [event.survey.as_str()],
            |row| Ok((whole(row, 0)?, row.get(1)?)),
        )
        .optional()
        .map_err(fault)?;
    let ChainedEvent { seq, event, previous, hash } = ChainedEvent::after(last, event);
    change
        .execute(
            "INSERT INTO event (survey, seq, at, kind, detail, previous, hash)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            (event.survey.as_str(), seq as i64, event.at, event.kind, event.detail, previous, hash),
        )
        .map_err(fault)?;
    Ok(())
}

pub(super) fn events(
    connection: &Connection,
    survey: &SurveyId,
    after: u64,
    limit: u32,
) -> Outcome<Vec<ChainedEvent>> {
    let mut select = connection
        .prepare_cached(
            "SELECT seq, at, kind, detail, previous, hash FROM event
             WHERE survey = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3",
        )
        .map_err(fault)?;
    let after = i64::try_from(after).unwrap_or(i64::MAX);
    let rows = select
        .query_map((survey.as_str(), after, limit), |row| {
            let survey = survey.clone();
            let event = Event { survey, at: row.get(1)?, kind: row.get(2)?, detail: row.get(3)? };
            Ok(ChainedEvent {
                seq: whole(row, 0)?,
                event,
                previous: row.get(4)?,
                hash: row.get(5)?,
            })
        })
        .map_err(fault)?;
    rows.collect::<Result<_, _>>().map_err(fault)
}
