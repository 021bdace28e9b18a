//! What becomes of a survey beside its rounds, and who may do what with it.

use super::catalogue::{advance, log, replace, round_row, set_round};
use super::rows::insert;
use super::schema::{cells, fault, whole};
use crate::store::check::StoredRow;
use crate::store::row::{Cell, TOKEN, revocable, token_cells, token_of, unused_name};
use crate::store::{Event, RoundKey, RoundStep, StoreError, TokenRecord, Unwiped};
use rusqlite::{Connection, OptionalExtension, Transaction};
use undertone_wire::{RoundState, SurveyId};

type Outcome<T> = Result<T, StoreError>;

/// Replaces the document, moves a round, and says so in the log.
pub(super) fn move_survey(
    change: &Transaction,
    id: &SurveyId,
    survey: (u64, &str),
    round: Option<(u32, RoundStep)>,
    events: Vec<Event>,
) -> Outcome<u64> {
    let version = replace(change, id, survey)?;
    if let Some((number, step)) = round {
        let key = RoundKey { survey: id.clone(), number };
        advance(change, &key, RoundState::Open, |row| row.take(step))?;
    }
    events.into_iter().try_for_each(|event| log(change, event))?;
    Ok(version)
}

/// Deletes all of a survey but its name and its log.
pub(super) fn erase_survey(
    change: &Transaction,
    id: &SurveyId,
    survey: (u64, &str),
    event: Event,
) -> Outcome<()> {
    replace(change, id, survey)?;
    let (open, left): (bool, bool) = change
        .query_row(
            "SELECT EXISTS (SELECT 1 FROM round WHERE survey = ?1 AND state = 0),
             EXISTS (SELECT 1 FROM round WHERE survey = ?1 AND (swept = 0
                OR EXISTS (SELECT 1 FROM batch WHERE batch.round = round.id)
                OR EXISTS (SELECT 1 FROM run WHERE run.round = round.id)))",
            [id.as_str()],
            |row| Ok((row.get(0)?, row.get(1)?)),
        )
        .map_err(fault)?;
    if open {
        return Err(StoreError::Conflict(format!("survey {id} has an open round")));
    }
    if left {
        return Err(StoreError::Unfolded);
    }
    for statement in [
        "DELETE FROM tally WHERE round IN (SELECT id FROM round WHERE survey = ?1)",
        "DELETE FROM round WHERE survey = ?1",
    ] {
        change.execute(statement, [id.as_str()]).map_err(fault)?;
    }
    let mark =
        "INSERT INTO meta VALUES ('wipe', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1";
    change.execute(mark, []).map_err(fault)?;
    let unused =
        "DELETE FROM policy WHERE NOT EXISTS (SELECT 1 FROM tally WHERE tally.policy = policy.id)";
    change.execute(unused, []).map_err(fault)?;
    log(change, event)
}

pub(super) fn unwiped(connection: &Connection) -> Outcome<Unwiped> {
    let deletions = connection
        .query_row("SELECT value FROM meta WHERE name = 'wipe'", [], |row| whole(row, 0))
        .optional()
        .map_err(fault)?;
    let mut select = connection
        .prepare_cached(
            "SELECT survey, number FROM round WHERE swept <> 0 AND wiped = 0 ORDER BY id",
        )
        .map_err(fault)?;
    let mut rows = select.query([]).map_err(fault)?;
    let mut keys = Vec::new();
    while let Some(row) = rows.next().map_err(fault)? {
        let (survey, number): (String, u32) =
            (row.get(0).map_err(fault)?, row.get(1).map_err(fault)?);
        let wrong = |_| StoreError::Corrupt(format!("survey id {survey:?}"));
        keys.push(RoundKey { survey: survey.parse().map_err(wrong)?, number });
    }
    Ok(Unwiped { rounds: keys, deletions: deletions.unwrap_or(0) })
}

pub(super) fn note_wiped(
    change: &Transaction,
    rounds: Vec<(RoundKey, Event)>,
    deletions: u64,
) -> Outcome<()> {
    for (key, event) in rounds {
        let found: Option<i64> = change
            .query_row(
                "SELECT id FROM round WHERE survey = ?1 AND number = ?2 AND wiped = 0",
                (key.survey.as_str(), key.number),
                |row| row.get(0),
            )
            .optional()
            .map_err(fault)?;
        if let Some(id) = found {
            let mut row = round_row(change, id)?;
            row.wiped = true;
            set_round(change, &row)?;
            log(change, event)?;
        }
    }
    // One more deletion in between keeps its mark.
    let seen = "DELETE FROM meta WHERE name = 'wipe' AND value = ?1";
    change.execute(seen, [deletions as i64]).map(drop).map_err(fault)
}

pub(super) fn tokens(connection: &Connection) -> Outcome<Vec<TokenRecord>> {
    let select = format!("SELECT {} FROM token ORDER BY created, id", TOKEN.names(""));
    let mut select = connection.prepare_cached(&select).map_err(fault)?;
    let mut rows = select.query([]).map_err(fault)?;
    let mut tokens = Vec::new();
    while let Some(row) = rows.next().map_err(fault)? {
        let cells = cells(row, &TOKEN).map_err(fault)?;
        tokens.push(token_of(&cells, row.get(cells.len()).map_err(fault)?)?);
    }
    Ok(tokens)
}

pub(super) fn change_tokens(
    change: &Transaction,
    revoke: Option<(String, i64, String)>,
    add: Option<TokenRecord>,
) -> Outcome<()> {
    let known = tokens(change)?;
    if let Some((id, at, by)) = &revoke {
        let mut token = revocable(&known, id)?.clone();
        token.revoked = Some((*at, by.clone()));
        change
            .execute(
                "UPDATE token SET revoked = ?2, revoked_by = ?3, checksum = ?4 WHERE id = ?1",
                (id, at, by, TOKEN.sum(&token_cells(&token))),
            )
            .map_err(fault)?;
    }
    if let Some(token) = add {
        unused_name(&known, revoke.as_ref().map(|(id, ..)| &**id), &token.name)?;
        let cells = token_cells(&token).map(Cell::into_owned);
        let row = StoredRow { sum: Some(TOKEN.sum(&cells)), cells: cells.into() };
        insert(change, &TOKEN, &[row])?;
    }
    Ok(())
}
