//! What becomes of a survey beside its rounds, and who may do what with it.

use super::catalogue::{advance, lock, log, replace, round_row, set_round, signed, whole};
use super::connect::fault;
use super::schema::{cells, value};
use crate::store::row::{TOKEN, revocable, token_cells, token_of, unused_name};
use crate::store::{Event, RoundKey, RoundStep, StoreError, TokenRecord, Unwiped};
use deadpool_postgres::{GenericClient, Object, Transaction};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use undertone_wire::{RoundState, SurveyId};

type Outcome<T> = Result<T, StoreError>;

/// Replaces the document, moves a round, and says so in the log.
pub(super) async fn move_survey(
    change: &Transaction<'_>,
    id: &SurveyId,
    survey: (u64, &str),
    round: Option<(u32, RoundStep)>,
    events: &[Event],
) -> Outcome<u64> {
    let version = replace(change, id, survey).await?;
    if let Some((number, step)) = round {
        let key = RoundKey { survey: id.clone(), number };
        advance(change, &key, RoundState::Open, |row| row.take(step)).await?;
    }
    for event in events {
        log(change, event).await?;
    }
    Ok(version)
}

/// Deletes all of a survey but its name and its log.
pub(super) async fn erase_survey(
    change: &Transaction<'_>,
    id: &SurveyId,
    survey: (u64, &str),
    event: &Event,
) -> Outcome<()> {
    replace(change, id, survey).await?;
    let row = change
        .query_one(
            "SELECT EXISTS (SELECT 1 FROM undertone.round WHERE survey = $1 AND state = 0),
             EXISTS (SELECT 1 FROM undertone.round WHERE survey = $1 AND (NOT swept
                OR EXISTS (SELECT 1 FROM undertone.batch WHERE batch.round = round.id)
                OR EXISTS (SELECT 1 FROM undertone.run WHERE run.round = round.id)))",
            &[&id.as_str()],
        )
        .await
        .map_err(fault)?;
    if row.get(0) {
        return Err(StoreError::Conflict(format!("survey {id} has an open round")));
    }
    if row.get(1) {
        return Err(StoreError::Unfolded);
    }
    for statement in [
        "DELETE FROM undertone.tally WHERE round IN (SELECT id FROM undertone.round WHERE survey = $1)",
        "DELETE FROM undertone.round WHERE survey = $1",
    ] {
        change.execute(statement, &[&id.as_str()]).await.map_err(fault)?;
    }
    let mark = "INSERT INTO undertone.meta VALUES ('wipe', 1)
        ON CONFLICT (name) DO UPDATE SET value = meta.value + 1";
    change.execute(mark, &[]).await.map_err(fault)?;
    // Policies that a survey being created has just published have their tally in the same transaction, so they are
    // either not seen here or seen with it; the lock keeps one from counting on a row that goes.
    change
        .execute("LOCK TABLE undertone.policy IN SHARE ROW EXCLUSIVE MODE", &[])
        .await
        .map_err(fault)?;
    let unused = "DELETE FROM undertone.policy WHERE NOT EXISTS
        (SELECT 1 FROM undertone.tally WHERE tally.policy = policy.id)";
    change.execute(unused, &[]).await.map_err(fault)?;
    log(change, event).await
}

pub(super) async fn unwiped(client: &Object) -> Outcome<Unwiped> {
    let select = "SELECT survey, number FROM undertone.round WHERE swept AND NOT wiped ORDER BY id";
    let rows = client.query(select, &[]).await.map_err(fault)?;
    let read = |row: &Row| {
        let survey: &str = row.get(0);
        let wrong = |_| StoreError::Corrupt(format!("survey id {survey:?}"));
        Ok(RoundKey { survey: survey.parse().map_err(wrong)?, number: whole(row, 1)? })
    };
    let mark = "SELECT value FROM undertone.meta WHERE name = 'wipe'";
    let mark = client.query_opt(mark, &[]).await.map_err(fault)?;
    Ok(Unwiped {
        rounds: rows.iter().map(read).collect::<Outcome<_>>()?,
        deletions: mark.map_or(Ok(0), |row| whole(&row, 0))?,
    })
}

pub(super) async fn note_wiped(
    change: &Transaction<'_>,
    rounds: &[(RoundKey, Event)],
    deletions: u64,
) -> Outcome<()> {
    for (key, event) in rounds {
        lock(change, &key.survey).await?;
        let found = change
            .query_opt(
                "SELECT id FROM undertone.round WHERE survey = $1 AND number = $2 AND NOT wiped",
                &[&key.survey.as_str(), &i64::from(key.number)],
            )
            .await
            .map_err(fault)?;
        // Another curator may have noted it, or the survey was deleted meanwhile.
        if let Some(found) = found {
            let mut row = round_row(change, found.get(0)).await?;
            row.wiped = true;
            set_round(change, &row).await?;
            log(change, event).await?;
        }
    }
    // One more deletion in between keeps its mark.
    let seen = "DELETE FROM undertone.meta WHERE name = 'wipe' AND value = $1";
    change.execute(seen, &[&signed(deletions)]).await.map(drop).map_err(fault)
}

pub(super) async fn tokens(client: &impl GenericClient) -> Outcome<Vec<TokenRecord>> {
    let select = format!(
        "SELECT {} FROM undertone.token ORDER BY created, id COLLATE \"C\"",
        TOKEN.names("")
    );
    let rows = client.query(&select, &[]).await.map_err(fault)?;
    let read = |row: &Row| {
        let cells = cells(row, &TOKEN)?;
        token_of(&cells, row.get(cells.len()))
    };
    rows.iter().map(read).collect()
}

pub(super) async fn change_tokens(
    change: &Transaction<'_>,
    revoke: Option<(&str, i64, &str)>,
    add: Option<&TokenRecord>,
) -> Outcome<()> {
    let alone = "LOCK TABLE undertone.token IN SHARE ROW EXCLUSIVE MODE";
    change.execute(alone, &[]).await.map_err(fault)?;
    let known = tokens(change).await?;
    if let Some((id, at, by)) = revoke {
        let mut token = revocable(&known, id)?.clone();
        token.revoked = Some((at, by.to_owned()));
        let sum = TOKEN.sum(&token_cells(&token));
        let update =
            "UPDATE undertone.token SET revoked = $2, revoked_by = $3, checksum = $4 WHERE id = $1";
        change.execute(update, &[&id, &at, &by, &sum]).await.map_err(fault)?;
    }
    if let Some(token) = add {
        unused_name(&known, revoke.map(|(id, ..)| id), &token.name)?;
        let (cells, sum) = (token_cells(token), TOKEN.sum(&token_cells(token)));
        let kinds = TOKEN.columns.iter().map(|(_, kind)| *kind);
        let values: Vec<_> =
            cells.iter().zip(kinds).map(|(cell, kind)| value(cell, kind)).collect();
        let mut values: Vec<&(dyn ToSql + Sync)> =
            values.iter().map(|value| &**value as &(dyn ToSql + Sync)).collect();
        values.push(&sum);
        let insert = format!(
            "INSERT INTO undertone.token ({}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)",
            TOKEN.names("")
        );
        change.execute(&insert, &values).await.map_err(fault)?;
    }
    Ok(())
}
