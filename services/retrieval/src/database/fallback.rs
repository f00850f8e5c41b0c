//! SQLite's own index of words (FTS5), of what no segment has.
//!
//! Slower to search by far, and made in a fraction of the time: what a damaged
//! segment had is found through it until it is indexed again.

use rusqlite::params;

use super::{Database, UNITS};
use crate::error::Error;

/// A passage that has words of a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Match {
    /// The part it is in.
    pub(crate) part: i64,
    /// Which of the part's units.
    pub(crate) ordinal: usize,
    /// The higher the better.
    pub(crate) bm25: f64,
}

impl Database {
    /// Puts all that no segment on disk has into the fallback; how many
    /// passages.
    pub(crate) fn fill_fallback(&self) -> Result<usize, Error> {
        self.empty_fallback()?;
        let sql = "INSERT INTO fallback (rowid, text, context, speaker)
            SELECT passages.id, text, context, speaker FROM parts JOIN passages
            ON passages.id >= parts.id * ?1 AND passages.id < (parts.id + 1) * ?1
            WHERE segment IS NULL";
        let error = || Error::database("fill the fallback index");
        let mut statement = self.0.prepare_cached(sql).map_err(error())?;
        statement.execute([UNITS]).map_err(error())
    }

    /// Takes everything out of the fallback.
    pub(crate) fn empty_fallback(&self) -> Result<(), Error> {
        let sql = "INSERT INTO fallback (fallback) VALUES ('delete-all')";
        self.execute("empty the fallback index", sql, [])
    }

    /// Takes a part out of the fallback.
    pub(crate) fn leave_fallback(&self, part: i64) -> Result<(), Error> {
        let sql = "DELETE FROM fallback WHERE rowid >= ? AND rowid < ?";
        let range = [part * UNITS, (part + 1) * UNITS];
        self.execute("shorten the fallback index", sql, range)
    }

    /// Passages that no segment on disk has.
    pub(crate) fn homeless_passages(&self) -> Result<usize, Error> {
        let sql = "SELECT count(*) FROM parts JOIN passages
            ON passages.id >= parts.id * ?1 AND passages.id < (parts.id + 1) * ?1
            WHERE segment IS NULL";
        let error = || Error::database("count passages");
        let mut statement = self.0.prepare_cached(sql).map_err(error())?;
        let count = statement.query_row([UNITS], |row| row.get::<_, i64>(0));
        Ok(count.map_err(error())? as usize)
    }

    /// The `limit` best of the fallback for words, any of which may match; each
    /// is the beginning of a word.
    pub(crate) fn search_fallback(
        &self,
        words: &[String],
        limit: usize,
    ) -> Result<Vec<Match>, Error> {
        let quoted = words
            .iter()
            .map(|word| format!("\"{}\" *", word.replace('"', "\"\"")));
        let expression = quoted.collect::<Vec<_>>().join(" OR ");
        let sql = "SELECT rowid, rank FROM fallback WHERE fallback MATCH ? ORDER BY rank LIMIT ?";
        let error = || Error::database("search the fallback index");
        let mut statement = self.0.prepare_cached(sql).map_err(error())?;
        let rows = statement.query_map(params![expression, limit as i64], |row| {
            let id: i64 = row.get(0)?;
            Ok(Match {
                part: id / UNITS,
                ordinal: (id % UNITS) as usize,
                bm25: -row.get::<_, f64>(1)?,
            })
        });
        rows.map_err(error())?
            .collect::<Result<_, _>>()
            .map_err(error())
    }
}
