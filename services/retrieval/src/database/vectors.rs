//! Vectors by what they are of: made once for a text, however often and
//! wherever it is.

use rusqlite::{OptionalExtension as _, params};
use xxhash_rust::xxh3::xxh3_128;

use super::Database;
use crate::embed::vector::Quantised;
use crate::error::Error;

/// Which text a vector is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Hash(u128);

impl Hash {
    /// Of `text`.
    pub fn of(text: &str) -> Self {
        Self(xxh3_128(text.as_bytes()))
    }
}

impl Database {
    /// The vector of a text, if `model` has made it.
    pub(crate) fn vector(&self, model: &str, hash: Hash) -> Result<Option<Quantised>, Error> {
        let error = || Error::database("read a vector");
        let sql = "SELECT vector FROM vectors WHERE model = ? AND hash = ?";
        let mut statement = self.0.prepare_cached(sql).map_err(error())?;
        let blob: Option<Vec<u8>> = statement
            .query_row(params![model, hash.0.to_le_bytes()], |row| row.get(0))
            .optional()
            .map_err(error())?;
        Ok(blob.as_deref().and_then(read))
    }

    /// Keeps the vector of a text.
    pub(crate) fn put_vector(
        &self,
        model: &str,
        hash: Hash,
        vector: &Quantised,
    ) -> Result<(), Error> {
        let mut blob = vector.scale.to_le_bytes().to_vec();
        blob.extend(vector.values.iter().map(|&x| x as u8));
        let sql = "INSERT OR REPLACE INTO vectors (model, hash, vector) VALUES (?, ?, ?)";
        self.execute(
            "keep a vector",
            sql,
            params![model, hash.0.to_le_bytes(), blob],
        )
    }
}

fn read(blob: &[u8]) -> Option<Quantised> {
    let (scale, values) = blob.split_first_chunk()?;
    Some(Quantised {
        scale: f32::from_le_bytes(*scale),
        values: values.iter().map(|&x| x as i8).collect(),
    })
}
