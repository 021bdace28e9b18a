//! Copies of a store: a backup is a SQLite store of its own, whatever engine it is of, and a store is restored from
//! one. What is read is checked on the way, and the copy is read again before it counts.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use tokio::sync::mpsc;

use super::check::{Checked, Checker, Reading, StoredRow};
use super::row::TABLES;
use super::sqlite;
use super::{Options, StoreError};
#[cfg(feature = "postgres")]
use super::{Password, postgres};
use crate::secret_file;

/// Pages of rows on their way at most.
const UNDER_WAY: usize = 4;

/// Told now and then how many rows were read.
pub(crate) type Progress<'a> = &'a (dyn Fn(u64) + Sync);

/// A store that is not opened for work.
#[derive(Clone, Debug)]
enum Place {
    Sqlite(PathBuf),
    #[cfg(feature = "postgres")]
    Postgres(String, Password),
}

impl Place {
    fn of(address: &str, options: &Options) -> Result<Self, StoreError> {
        match super::engine(address)? {
            super::Engine::Sqlite(path) => Ok(Self::Sqlite(path.into())),
            #[cfg(feature = "postgres")]
            super::Engine::Postgres => Ok(Self::Postgres(address.into(), options.password.clone())),
            #[cfg(not(feature = "postgres"))]
            super::Engine::Postgres => {
                let _ = options;
                Err(StoreError::NotBuilt { engine: "PostgreSQL", feature: "postgres" })
            }
        }
    }

    /// Starts to read everything, as it is at one moment.
    fn read(self) -> mpsc::Receiver<Result<Reading, StoreError>> {
        let (sender, readings) = mpsc::channel(UNDER_WAY);
        match self {
            Self::Sqlite(path) => {
                tokio::task::spawn_blocking(move || {
                    if let Err(error) = sqlite::rows::read(&path, &sender) {
                        let _ = sender.blocking_send(Err(error));
                    }
                });
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(address, password) => {
                tokio::spawn(async move {
                    if let Err(error) = postgres::rows::read(&address, &password, &sender).await {
                        let _ = sender.send(Err(error)).await;
                    }
                });
            }
        }
        readings
    }
}

/// Reads a whole store and says what it holds and what is wrong with it. Curators may work on it meanwhile.
pub async fn check(
    address: &str,
    options: &Options,
    progress: Progress<'_>,
) -> Result<Checked, StoreError> {
    examine(Place::of(address, options)?, progress, |_| std::future::ready(Ok(()))).await
}

/// Reads everything, checks it, and hands it on.
async fn examine<F: Future<Output = Result<(), StoreError>>>(
    place: Place,
    progress: Progress<'_>,
    mut pass_on: impl FnMut(Reading) -> F,
) -> Result<Checked, StoreError> {
    let (mut checker, mut rows) = (Checker::default(), 0);
    let mut readings = place.read();
    while let Some(reading) = readings.recv().await {
        let reading = match reading {
            Ok(reading) => reading,
            // A damaged file is what a check is about.
            Err(StoreError::Corrupt(cause)) => Reading::Fault(cause),
            Err(error) => return Err(error),
        };
        if let Reading::Rows(_, some) = &reading {
            rows += some.len() as u64;
        }
        checker.take(&reading);
        pass_on(reading).await?;
        progress(rows);
    }
    Ok(checker.finish())
}

/// Writes all of a store into a new file, for its owner alone. If something is wrong with the store, it is said and no
/// file is made. Curators may work on the store meanwhile: the file holds what was there at one moment.
pub async fn backup(
    address: &str,
    file: &Path,
    options: &Options,
    progress: Progress<'_>,
) -> Result<Checked, StoreError> {
    into_file(Place::of(address, options)?, file, progress).await
}

/// Makes a store from a backup. There must be none yet: nothing is ever replaced.
pub async fn restore(
    file: &Path,
    address: &str,
    options: &Options,
    progress: Progress<'_>,
) -> Result<Checked, StoreError> {
    let from = Place::Sqlite(file.into());
    match Place::of(address, options)? {
        Place::Sqlite(path) => into_file(from, &path, progress).await,
        #[cfg(feature = "postgres")]
        place @ Place::Postgres(..) => {
            let Place::Postgres(address, password) = &place else { return Ok(Checked::default()) };
            let (sender, rows) = mpsc::channel(UNDER_WAY);
            let (sure, told) = tokio::sync::oneshot::channel();
            let writing = postgres::rows::write(address, password, rows, told);
            let reading = async move {
                let checked = examine(from, progress, |reading| pass(&sender, reading)).await;
                // Only what was read to the end and is sound is committed.
                if checked.as_ref().is_ok_and(Checked::is_sound) {
                    let _ = sure.send(());
                }
                checked
            };
            let (checked, written) = tokio::join!(reading, writing);
            let checked = checked?;
            if !checked.is_sound() {
                return Ok(checked);
            }
            written?;
            compared(checked, examine(place, progress, |_| std::future::ready(Ok(()))).await?)
        }
    }
}

/// Sends rows on to whoever writes; one who has stopped says why himself.
fn pass(
    sender: &mpsc::Sender<(usize, Vec<StoredRow>)>,
    reading: Reading,
) -> impl Future<Output = Result<(), StoreError>> + use<> {
    let sender = sender.clone();
    async move {
        if let Reading::Rows(table, rows) = reading {
            let _ = sender.send((table, rows)).await;
        }
        Ok(())
    }
}

fn compared(read: Checked, written: Checked) -> Result<Checked, StoreError> {
    if read == written {
        return Ok(read);
    }
    Err(StoreError::Corrupt("the copy is not what was copied".into()))
}

async fn into_file(
    from: Place,
    file: &Path,
    progress: Progress<'_>,
) -> Result<Checked, StoreError> {
    let unusable = |error: std::io::Error| {
        StoreError::Unwritten(format!("cannot write {}: {error}", file.display()))
    };
    if file.exists() {
        let file = file.display();
        let words = format!("{file} is there already: nothing is replaced, give another name");
        return Err(StoreError::Unwritten(words));
    }
    let mut name = file.as_os_str().to_owned();
    name.push(".part");
    let part = Part(name.into());
    secret_file::new_file(&part.0).map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => StoreError::Unwritten(format!(
            "{} is there already, from an attempt that did not end: delete it",
            part.0.display()
        )),
        _ => unusable(error),
    })?;
    let (sender, rows) = mpsc::channel(UNDER_WAY);
    let path = part.0.clone();
    let writing = tokio::task::spawn_blocking(move || write_file(&path, rows));
    let read = examine(from, progress, |reading| pass(&sender, reading)).await;
    drop(sender);
    let written = writing.await.map_err(|error| StoreError::Unavailable(error.to_string()))?;
    let read = read?;
    if !read.is_sound() {
        return Ok(read);
    }
    written?;
    let again = examine(Place::Sqlite(part.0.clone()), progress, |_| std::future::ready(Ok(())));
    let read = compared(read, again.await?)?;
    std::fs::rename(&part.0, file).map_err(unusable)?;
    // The name is on disk too before anybody relies on it.
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = std::fs::File::open(folder.unwrap_or(Path::new(".")));
    folder.and_then(|folder| folder.sync_all()).map_err(unusable)?;
    Ok(read)
}

/// A file that is deleted unless it gets its name.
struct Part(PathBuf);

impl Drop for Part {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

fn write_file(
    path: &Path,
    mut rows: mpsc::Receiver<(usize, Vec<StoredRow>)>,
) -> Result<(), StoreError> {
    let connection: Connection = sqlite::rows::empty(path, OpenFlags::empty())?;
    let change = connection.unchecked_transaction().map_err(sqlite::schema::fault)?;
    while let Some((table, rows)) = rows.blocking_recv() {
        sqlite::rows::insert(&change, &TABLES[table], &rows)?;
    }
    change.commit().map_err(sqlite::schema::fault)
}
