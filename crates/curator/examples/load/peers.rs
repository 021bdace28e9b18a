//! What the rates are held against.

use crate::generator::row;
use bytes::BytesMut;
use std::io::Write;
use std::path::Path;
use std::pin::pin;
use std::time::Instant;
use tokio_postgres::Client;
use tokio_postgres::binary_copy::BinaryCopyInWriter;
use tokio_postgres::types::{IsNull, ToSql, Type, to_sql_checked};

/// PostgreSQL's COPY, 1,000 rows a commit on four connections, into a table with a unique key over round and
/// id; gives rows per second.
pub(crate) async fn copy(address: &str, reports: u64) -> f64 {
    let connect = || async {
        let (client, connection) =
            tokio_postgres::connect(address, tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    };
    let table = "CREATE TABLE report (round bigint, id uuid, token int, PRIMARY KEY (round, id))";
    connect().await.batch_execute(table).await.unwrap();
    let start = Instant::now();
    let mut tasks = Vec::new();
    for lane in 0..4 {
        let client = connect().await;
        tasks.push(tokio::spawn(async move {
            for block in (lane..reports / 1000).step_by(4) {
                let rows = block * 1000..(block + 1) * 1000;
                copy_rows(&client, rows).await;
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let rate = reports as f64 / start.elapsed().as_secs_f64();
    println!("postgres: COPY of 1,000 rows a commit, unique key, 4 connections: {rate:.0}/s");
    // The most it can do: all in one transaction.
    let client = connect().await;
    client.batch_execute("TRUNCATE report").await.unwrap();
    let start = Instant::now();
    copy_rows(&client, 0..reports).await;
    let whole = reports as f64 / start.elapsed().as_secs_f64();
    println!("postgres: one COPY of everything in one commit, unique key: {whole:.0}/s");
    client.batch_execute("DROP TABLE report").await.unwrap();
    rate.max(whole)
}

async fn copy_rows(client: &Client, rows: std::ops::Range<u64>) {
    let sink = client.copy_in("COPY report FROM STDIN BINARY").await.unwrap();
    let mut writer = pin!(BinaryCopyInWriter::new(sink, &[Type::INT8, Type::UUID, Type::INT4]));
    for number in rows {
        let row = row(number);
        let (id, token) = (Id(&row[..16]), i32::from(row[19]));
        writer.as_mut().write(&[&1i64, &id, &token]).await.unwrap();
    }
    writer.finish().await.unwrap();
}

/// A report id as PostgreSQL's own type for 16 bytes.
#[derive(Debug)]
struct Id<'a>(&'a [u8]);

impl ToSql for Id<'_> {
    fn to_sql(
        &self,
        _: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn std::error::Error + Sync + Send>> {
        out.extend_from_slice(self.0);
        Ok(IsNull::No)
    }

    fn accepts(kind: &Type) -> bool {
        *kind == Type::UUID
    }

    to_sql_checked!();
}

/// Appends the same bytes to a file with so many syncs; gives reports per second.
pub(crate) fn append(path: &Path, reports: u64, syncs: u64) -> f64 {
    let mut file = std::fs::File::create(path).unwrap();
    let start = Instant::now();
    let mut buffer = Vec::new();
    for sync in 0..syncs {
        buffer.clear();
        (reports * sync / syncs..reports * (sync + 1) / syncs)
            .for_each(|number| buffer.extend(row(number)));
        file.write_all(&buffer).unwrap();
        file.sync_data().unwrap();
    }
    let rate = reports as f64 / start.elapsed().as_secs_f64();
    std::fs::remove_file(path).unwrap();
    rate
}
