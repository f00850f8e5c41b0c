//! The texts, where they are from, and the vectors that are dear to make, in
//! SQLite (WAL). The segments beside it can be made from this alone.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::document::{Kind, Source};
use crate::error::Error;
use crate::part::{Part, Unit};
use openclaw_analysis::Language;

mod fallback;
mod schema;
mod vectors;

pub use vectors::Hash;

/// The database's file in the index's folder.
pub(crate) const FILE: &str = "index.sqlite";
/// Units of one part have neighbouring numbers, and no part has more.
const UNITS: i64 = 1024;
/// How long one connection waits for the other; they hold locks for moments.
const BUSY: Duration = Duration::from_secs(10);
/// What SQLite keeps of the file for a connection: search reads a dozen rows of
/// different places, and the kernel has the pages anyway. In KiB.
const CACHE_KIB: i64 = 256;
/// Prepared statements that are kept; there are not that many.
const STATEMENTS: usize = 64;

/// A connection.
#[derive(Debug)]
pub(crate) struct Database(Connection);

/// A document as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DocumentRow {
    pub(crate) id: u32,
    pub(crate) path: String,
    pub(crate) source: Source,
    pub(crate) stamp: String,
    pub(crate) modified_ms: i64,
    pub(crate) day_ms: Option<i64>,
}

/// A part as it is stored, without its units.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PartRow {
    pub(crate) id: i64,
    pub(crate) document: u32,
    pub(crate) hash: u128,
    /// The segment that has it; None while none on disk has.
    pub(crate) segment: Option<i64>,
}

/// A unit and the fields a hit shows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stored {
    pub(crate) path: String,
    pub(crate) source: Source,
    pub(crate) language: Language,
    /// With lines counted from the document's first.
    pub(crate) unit: Unit,
}

impl Database {
    /// Opens or makes the database in `folder`.
    pub(crate) fn open(folder: &Path) -> Result<Self, Error> {
        let error = || Error::database("open the database");
        let connection = Connection::open(folder.join(FILE)).map_err(error())?;
        connection.busy_timeout(BUSY).map_err(error())?;
        connection
            .pragma_update(None, "cache_size", -CACHE_KIB)
            .map_err(error())?;
        connection.set_prepared_statement_cache_capacity(STATEMENTS);
        // Without it SQLite plans a statement anew for each value it is given.
        connection
            .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
            .map_err(error())?;
        let mut database = Self(connection);
        schema::prepare(&mut database.0)?;
        Ok(database)
    }

    /// Whether SQLite finds the file sound.
    pub(crate) fn is_sound(&self) -> Result<bool, Error> {
        let check = self
            .0
            .query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0));
        Ok(check.map_err(Error::database("check the database"))? == "ok")
    }

    /// Runs `work` in one transaction.
    pub(crate) fn transaction<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let error = || Error::database("write");
        self.0.execute_batch("BEGIN IMMEDIATE").map_err(error())?;
        let result = work(self);
        let end = if result.is_ok() { "COMMIT" } else { "ROLLBACK" };
        let ended = self.0.execute_batch(end).map_err(error());
        if result.is_ok() && ended.is_err() {
            // A commit that failed for lack of space leaves the transaction open.
            let _ = self.0.execute_batch("ROLLBACK");
        }
        let value = result?;
        ended.map(|()| value)
    }

    /// Runs `work`, which only reads, on one state of the database, and with
    /// one lock on its file for all of it.
    pub(crate) fn together<T>(
        &self,
        work: impl FnOnce(&Self) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let error = || Error::database("read");
        let transaction = self.0.unchecked_transaction().map_err(error())?;
        let value = work(self)?;
        transaction.commit().map_err(error())?;
        Ok(value)
    }

    /// Gives back what memory the connection can.
    pub(crate) fn shrink(&self) {
        // Only a favour: what fails changes nothing.
        let _ = self.0.execute_batch("PRAGMA shrink_memory");
    }

    /// All documents.
    pub(crate) fn documents(&self) -> Result<Vec<DocumentRow>, Error> {
        let error = || Error::database("list documents");
        let sql = "SELECT id, path, source, stamp, modified_ms, day_ms FROM documents";
        let mut statement = self.0.prepare_cached(sql).map_err(error())?;
        let rows = statement.query_map([], document).map_err(error())?;
        rows.collect::<Result<_, _>>().map_err(error())
    }

    /// The document at `path`.
    pub(crate) fn document(&self, path: &str) -> Result<Option<DocumentRow>, Error> {
        let error = || Error::database("look for a document");
        let sql =
            "SELECT id, path, source, stamp, modified_ms, day_ms FROM documents WHERE path = ?";
        let mut statement = self.0.prepare_cached(sql).map_err(error())?;
        statement
            .query_row([path], document)
            .optional()
            .map_err(error())
    }

    /// Writes a document in place of the one with its path; its id.
    pub(crate) fn put_document(&self, document: &crate::document::Document) -> Result<u32, Error> {
        let sql = "INSERT INTO documents (path, source, stamp, modified_ms, day_ms, topic)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (path) DO UPDATE SET source = ?2, stamp = ?3, modified_ms = ?4,
                day_ms = ?5, topic = ?6
            RETURNING id";
        let error = || Error::database("write a document");
        let mut statement = self.0.prepare_cached(sql).map_err(error())?;
        let values = params![
            document.path,
            document.source as u8,
            document.stamp,
            document.modified_ms,
            document.day_ms,
            document.topic
        ];
        statement
            .query_row(values, |row| row.get(0))
            .map_err(error())
    }

    /// Forgets a document with all its parts.
    pub(crate) fn delete_document(&self, id: u32) -> Result<(), Error> {
        for part in self.parts_of(id)? {
            self.delete_part(part.id)?;
        }
        self.execute(
            "forget a document",
            "DELETE FROM documents WHERE id = ?",
            [id],
        )
    }

    /// The parts of a document, in order.
    pub(crate) fn parts_of(&self, document: u32) -> Result<Vec<PartRow>, Error> {
        let sql =
            "SELECT id, document, hash, segment FROM parts WHERE document = ? ORDER BY position";
        self.part_rows(sql, params![document])
    }

    /// All parts, or those that no segment on disk has.
    pub(crate) fn parts(&self, homeless: bool) -> Result<Vec<PartRow>, Error> {
        let all = "SELECT id, document, hash, segment FROM parts";
        let some =
            "SELECT id, document, hash, segment FROM parts WHERE segment IS NULL ORDER BY id";
        self.part_rows(if homeless { some } else { all }, [])
    }

    fn part_rows(&self, sql: &str, values: impl rusqlite::Params) -> Result<Vec<PartRow>, Error> {
        let error = || Error::database("list parts");
        let mut statement = self.0.prepare_cached(sql).map_err(error())?;
        let rows = statement.query_map(values, |row| {
            Ok(PartRow {
                id: row.get(0)?,
                document: row.get(1)?,
                hash: u128::from_le_bytes(row.get(2)?),
                segment: row.get(3)?,
            })
        });
        rows.map_err(error())?
            .collect::<Result<_, _>>()
            .map_err(error())
    }

    /// Writes a new part at `position` of `document`; its id.
    pub(crate) fn insert_part(
        &self,
        document: u32,
        position: usize,
        part: &Part,
    ) -> Result<i64, Error> {
        let error = || Error::database("write a part");
        let sql = "INSERT INTO parts (document, position, hash, line, language, flows)
            VALUES (?, ?, ?, ?, ?, ?)";
        let mut statement = self.0.prepare_cached(sql).map_err(error())?;
        let hash = part.hash.to_le_bytes();
        let language = part.language.code();
        let values = params![
            document,
            position as i64,
            hash,
            part.line,
            language,
            part.flows
        ];
        let id = statement.insert(values).map_err(error())?;
        let sql = "INSERT INTO passages
            (id, line, last_line, message, speaker, timestamp_ms, context, text, kind)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)";
        let mut statement = self.0.prepare_cached(sql).map_err(error())?;
        for (unit, number) in part.units.iter().zip(id * UNITS..) {
            let values = params![
                number,
                unit.line,
                unit.last_line,
                unit.message,
                unit.speaker,
                unit.timestamp_ms,
                unit.context,
                unit.text,
                unit.kind.number()
            ];
            statement.execute(values).map_err(error())?;
        }
        Ok(id)
    }

    /// Says where a part that stays is now.
    pub(crate) fn move_part(&self, id: i64, position: usize, line: u32) -> Result<(), Error> {
        let sql = "UPDATE parts SET position = ?1, line = ?2
            WHERE id = ?3 AND (position <> ?1 OR line <> ?2)";
        self.execute("move a part", sql, params![position as i64, line, id])
    }

    /// Forgets a part.
    pub(crate) fn delete_part(&self, id: i64) -> Result<(), Error> {
        let sql = "DELETE FROM passages WHERE id >= ? AND id < ?";
        self.execute("forget passages", sql, [id * UNITS, (id + 1) * UNITS])?;
        self.execute("forget a part", "DELETE FROM parts WHERE id = ?", [id])
    }

    /// Says which segment has a part.
    pub(crate) fn settle_part(&self, id: i64, segment: Option<i64>) -> Result<(), Error> {
        let sql = "UPDATE parts SET segment = ? WHERE id = ?";
        self.execute("settle a part", sql, params![segment, id])
    }

    /// The part with its units, and what dates it.
    pub(crate) fn part(&self, id: i64) -> Result<Option<(Part, Option<i64>)>, Error> {
        let error = || Error::database("read a part");
        let sql = "SELECT parts.line, language, flows, hash, day_ms
            FROM parts JOIN documents ON documents.id = document WHERE parts.id = ?";
        let mut statement = self.0.prepare_cached(sql).map_err(error())?;
        let row = statement.query_row([id], |row| {
            let part = Part {
                units: Vec::new(),
                line: row.get(0)?,
                language: Language::from_code(&row.get::<_, String>(1)?),
                flows: row.get(2)?,
                hash: u128::from_le_bytes(row.get(3)?),
            };
            Ok((part, row.get(4)?))
        });
        let Some((mut part, day_ms)) = row.optional().map_err(error())? else {
            return Ok(None);
        };
        let sql = "SELECT text, context, speaker, message, timestamp_ms, line, last_line, kind
            FROM passages WHERE id >= ? AND id < ? ORDER BY id";
        let mut statement = self.0.prepare_cached(sql).map_err(error())?;
        let units = statement.query_map([id * UNITS, (id + 1) * UNITS], unit);
        part.units = units
            .map_err(error())?
            .collect::<Result<_, _>>()
            .map_err(error())?;
        Ok(Some((part, day_ms)))
    }

    /// The unit with the number `ordinal` of a part.
    pub(crate) fn unit(&self, part: i64, ordinal: usize) -> Result<Option<Stored>, Error> {
        let error = || Error::database("read a passage");
        let sql = "SELECT text, context, speaker, message, timestamp_ms, passages.line, last_line,
                kind, documents.path, source, parts.language, parts.line
            FROM passages JOIN parts ON parts.id = ?1 JOIN documents ON documents.id = document
            WHERE passages.id = ?2";
        let mut statement = self.0.prepare_cached(sql).map_err(error())?;
        let number = part * UNITS + ordinal as i64;
        let row = statement.query_row([part, number], |row| {
            let first: u32 = row.get(11)?;
            let mut unit = unit(row)?;
            unit.line += first;
            unit.last_line += first;
            Ok(Stored {
                unit,
                path: row.get(8)?,
                source: source(row.get(9)?),
                language: Language::from_code(&row.get::<_, String>(10)?),
            })
        });
        row.optional().map_err(error())
    }

    /// The segments on disk.
    pub(crate) fn segments(&self) -> Result<Vec<i64>, Error> {
        let error = || Error::database("list segments");
        let mut statement = self
            .0
            .prepare_cached("SELECT id FROM segments")
            .map_err(error())?;
        let rows = statement.query_map([], |row| row.get(0)).map_err(error())?;
        rows.collect::<Result<_, _>>().map_err(error())
    }

    /// A number for a new segment.
    pub(crate) fn insert_segment(&self) -> Result<i64, Error> {
        self.execute("add a segment", "INSERT INTO segments DEFAULT VALUES", [])?;
        Ok(self.0.last_insert_rowid())
    }

    /// Forgets a segment; its parts are no segment's then.
    pub(crate) fn delete_segment(&self, id: i64) -> Result<(), Error> {
        let sql = "UPDATE parts SET segment = NULL WHERE segment = ?";
        self.execute("forget a segment", sql, [id])?;
        self.execute(
            "forget a segment",
            "DELETE FROM segments WHERE id = ?",
            [id],
        )
    }

    /// Forgets everything but the vectors, which other texts may need again.
    pub(crate) fn clear(&self) -> Result<(), Error> {
        for table in ["passages", "parts", "documents", "segments"] {
            self.execute("clear", &format!("DELETE FROM {table}"), [])?;
        }
        self.empty_fallback()
    }

    /// Writes the file anew, so that nothing is left in it of rows that are gone.
    pub(crate) fn overwrite(&self) -> Result<(), Error> {
        let error = || Error::database("write anew");
        self.0.execute_batch("VACUUM").map_err(error())?;
        let checkpoint = "PRAGMA wal_checkpoint(TRUNCATE)";
        let done = self.0.query_row(checkpoint, [], |_| Ok(()));
        done.map_err(error())
    }

    fn execute(
        &self,
        operation: &'static str,
        sql: &str,
        values: impl rusqlite::Params,
    ) -> Result<(), Error> {
        let error = || Error::database(operation);
        let mut statement = self.0.prepare_cached(sql).map_err(error())?;
        statement.execute(values).map(drop).map_err(error())
    }
}

fn document(row: &Row<'_>) -> rusqlite::Result<DocumentRow> {
    Ok(DocumentRow {
        id: row.get(0)?,
        path: row.get(1)?,
        source: source(row.get(2)?),
        stamp: row.get(3)?,
        modified_ms: row.get(4)?,
        day_ms: row.get(5)?,
    })
}

fn unit(row: &Row<'_>) -> rusqlite::Result<Unit> {
    Ok(Unit {
        text: row.get(0)?,
        context: row.get(1)?,
        speaker: row.get(2)?,
        message: row.get(3)?,
        timestamp_ms: row.get(4)?,
        line: row.get(5)?,
        last_line: row.get(6)?,
        kind: Kind::numbered(row.get(7)?),
    })
}

fn source(number: u8) -> Source {
    let known = Source::ALL
        .into_iter()
        .find(|&source| source as u8 == number);
    known.unwrap_or(Source::Memory)
}

#[cfg(test)]
mod tests;
