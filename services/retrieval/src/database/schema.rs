//! The tables and their versions.

use rusqlite::Connection;

use crate::error::Error;

/// What makes each version of the schema from the one before. The database
/// itself has the number of the last that was applied (`PRAGMA user_version`).
const STEPS: [&str; 8] = [
    "
    CREATE TABLE documents (
        id INTEGER PRIMARY KEY,
        path TEXT NOT NULL UNIQUE,
        source INTEGER NOT NULL,
        stamp TEXT NOT NULL,
        modified_ms INTEGER NOT NULL,
        day_ms INTEGER,
        topic TEXT NOT NULL
    );
    -- AUTOINCREMENT: a segment may still have a part whose row is gone, and no
    -- other part may be taken for it.
    CREATE TABLE parts (
        id INTEGER PRIMARY KEY AUTOINCREMENT,
        document INTEGER NOT NULL,
        position INTEGER NOT NULL,
        hash BLOB NOT NULL,
        line INTEGER NOT NULL,
        language TEXT NOT NULL,
        flows INTEGER NOT NULL,
        segment INTEGER
    );
    CREATE INDEX parts_of_document ON parts (document, position);
    CREATE INDEX parts_of_segment ON parts (segment);
    -- The id is the part's times 1024 and the position in it.
    CREATE TABLE passages (
        id INTEGER PRIMARY KEY,
        line INTEGER NOT NULL,
        last_line INTEGER NOT NULL,
        message TEXT,
        speaker TEXT NOT NULL,
        timestamp_ms INTEGER,
        context TEXT NOT NULL,
        text TEXT NOT NULL
    );
    CREATE TABLE segments (id INTEGER PRIMARY KEY AUTOINCREMENT);
    CREATE TABLE vectors (
        model TEXT NOT NULL,
        hash BLOB NOT NULL,
        vector BLOB NOT NULL,
        PRIMARY KEY (model, hash)
    ) WITHOUT ROWID;
",
    // Words are stemmed in more languages: every document is put again, and
    // found as before until it is.
    "UPDATE documents SET stamp = '';
    -- Of parts that no segment has; the texts are in passages.
    CREATE VIRTUAL TABLE fallback USING fts5 (
        text, context, speaker,
        content = '', contentless_delete = 1, tokenize = 'unicode61 remove_diacritics 2'
    );",
    // Passages are smaller and know what they are: every document is put again,
    // and found as before until it is.
    "UPDATE documents SET stamp = '';
    ALTER TABLE passages ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;",
    // It is known which messages ask at their end: every document is put again,
    // and found as before until it is.
    "UPDATE documents SET stamp = '';",
    // The same of numbers that may be prices.
    "UPDATE documents SET stamp = '';",
    // A first line of few words is what the others stand under, and years are no
    // prices: again.
    "UPDATE documents SET stamp = '';",
    // Items of a list know the one they speak of, and hours are no prices: again.
    "UPDATE documents SET stamp = '';",
    // Serial and model numbers are no prices: again.
    "UPDATE documents SET stamp = '';",
];

/// Brings the schema to the version of this program.
pub(super) fn prepare(connection: &mut Connection) -> Result<(), Error> {
    let error = || Error::database("prepare the tables");
    connection
        .pragma_update(None, "journal_mode", "WAL")
        .map_err(error())?;
    // What a crash of the machine takes is read from the files again.
    connection
        .pragma_update(None, "synchronous", "NORMAL")
        .map_err(error())?;
    let transaction = connection
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .map_err(error())?;
    let found: u32 = transaction
        .query_row("PRAGMA user_version", [], |row| row.get(0))
        .map_err(error())?;
    let known = STEPS.len() as u32;
    if found > known {
        return Err(Error::Newer { found, known });
    }
    for step in &STEPS[found as usize..] {
        transaction.execute_batch(step).map_err(error())?;
    }
    if found < known {
        transaction
            .pragma_update(None, "user_version", known)
            .map_err(error())?;
    }
    transaction.commit().map_err(error())
}
