//! The static table: a vector for every piece of a word, and a text is the mean
//! of its pieces. Four bits stand for a number, and what they stand for is in the
//! file: eight bits, of which it would have twice as many, find no more.
//!
//! Distilled from all-MiniLM-L6-v2; packaging/model has how. It answers in
//! microseconds and needs nothing but its file.

use std::path::{Path, PathBuf};

use half::f16;
use openclaw_sandbox::Mapping;
use openclaw_wordpiece::Vocabulary;
use serde_json::Value;
use xxhash_rust::xxh3::xxh3_64;

use super::vector::{DIMENSIONS, Vector, add};
use crate::error::Error;

/// The table's file in its folder.
const TABLE: &str = "static-minilm-256.safetensors";
/// The pieces, one a line.
const VOCABULARY: &str = "vocab.txt";
/// Of the header of the file; in bytes. The format allows 100 MB, ours has 700.
const HEADER_LIMIT: usize = 64 * 1024;
/// What four bits can stand for.
const LEVELS: usize = 16;
/// A row in the file: two numbers a byte.
const ROW: usize = DIMENSIONS / 2;

/// The two numbers that each byte of a row stands for.
type Pairs = [[i8; 2]; 1 << u8::BITS];

/// The table, mapped.
#[derive(Debug)]
pub(crate) struct Table {
    file: Mapping,
    /// Where the rows begin.
    rows: usize,
    /// Where the scales of the rows begin, two bytes each.
    scales: usize,
    pairs: Box<Pairs>,
    vocabulary: Vocabulary,
    identity: u64,
}

impl Table {
    /// Opens the table in `folder`.
    pub(crate) fn open(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(VOCABULARY);
        let pieces = std::fs::read_to_string(&path).map_err(Error::io("read", &path))?;
        let vocabulary = Vocabulary::new(pieces.lines());
        let path = folder.join(TABLE);
        let file = Mapping::open(&path).map_err(Error::io("open", &path))?;
        let layout = Layout::read(&file, &path)?;
        if layout.pieces != vocabulary.size() {
            let reason = format!(
                "it has {} rows, and {VOCABULARY} has {} lines",
                layout.pieces,
                vocabulary.size()
            );
            return Err(Error::Model { path, reason });
        }
        let scales = &file[layout.scales..layout.scales + 2 * layout.pieces];
        let levels = xxh3_64(bytemuck::cast_slice(&layout.pairs));
        let identity = xxh3_64(scales) ^ levels ^ layout.pieces as u64;
        Ok(Self {
            rows: layout.rows,
            scales: layout.scales,
            pairs: Box::new(layout.pairs),
            file,
            vocabulary,
            identity,
        })
    }

    /// Differs between tables: vectors of one cannot be compared with those of
    /// another.
    pub(crate) fn identity(&self) -> u64 {
        self.identity
    }

    /// The sum of the vectors of the pieces of `text`, of which the direction is
    /// its meaning; sums of texts that are joined add up.
    pub(crate) fn sum(&self, text: &str) -> Vector {
        let mut sum = [0.0; DIMENSIONS];
        self.pieces(text, |piece| {
            if let Some(piece) = piece {
                self.add(piece, &mut sum);
            }
        });
        sum
    }

    /// Calls `sink` with the pieces of `text`, in order; None stands for a word
    /// that has none.
    pub(crate) fn pieces(&self, text: &str, sink: impl FnMut(Option<u32>)) {
        self.vocabulary.pieces(text, sink);
    }

    /// Adds the vector of a piece to `sum`.
    pub(crate) fn add(&self, piece: u32, sum: &mut Vector) {
        let piece = piece as usize;
        let start = self.rows + piece * ROW;
        let scale = self.scales + piece * 2;
        let row = self.file.get(start..start + ROW);
        let (Some(row), Some(&[low, high])) = (row, self.file.get(scale..scale + 2)) else {
            return;
        };
        let mut numbers = [0; DIMENSIONS];
        for (pair, &byte) in numbers.as_chunks_mut().0.iter_mut().zip(row) {
            *pair = self.pairs[usize::from(byte)];
        }
        add(sum, &numbers, f16::from_le_bytes([low, high]).to_f32());
    }
}

/// Where things are in the file.
struct Layout {
    rows: usize,
    scales: usize,
    pairs: Pairs,
    pieces: usize,
}

impl Layout {
    /// Reads the header of a safetensors file: its length in eight bytes, then
    /// JSON with the type, shape and place of each tensor.
    fn read(file: &[u8], path: &Path) -> Result<Self, Error> {
        let wrong = |reason: String| Error::Model {
            path: PathBuf::from(path),
            reason,
        };
        let header = header(file).ok_or_else(|| wrong("it has no safetensors header".into()))?;
        let header: Value = serde_json::from_slice(header)
            .map_err(|error| wrong(format!("its header is no JSON: {error}")))?;
        let start = 8 + file[..8]
            .try_into()
            .map_or(0, |length| u64::from_le_bytes(length) as usize);
        let place = |name: &str, kind: &str, row: usize| {
            tensor(&header[name], kind, row, file.len() - start).ok_or_else(|| {
                wrong(format!(
                    "it has no tensor {name} of type {kind} and {row} columns"
                ))
            })
        };
        let (rows, pieces) = place("embeddings", "U8", ROW)?;
        let (scales, count) = place("scales", "F16", 1)?;
        if count != pieces {
            return Err(wrong("its tensors have different numbers of rows".into()));
        }
        let (levels, count) = place("levels", "I8", 1)?;
        let levels: Option<&[u8; LEVELS]> = file[start + levels..].first_chunk();
        let (Some(levels), LEVELS) = (levels, count) else {
            return Err(wrong(format!("it has {count} levels and not {LEVELS}")));
        };
        Ok(Self {
            rows: start + rows,
            scales: start + scales,
            pairs: pairs(levels.map(u8::cast_signed)),
            pieces,
        })
    }
}

/// The number that comes first is in the lower half of its byte.
fn pairs(levels: [i8; LEVELS]) -> Pairs {
    std::array::from_fn(|byte| [levels[byte % LEVELS], levels[byte / LEVELS]])
}

fn header(file: &[u8]) -> Option<&[u8]> {
    let length = u64::from_le_bytes(file.get(..8)?.try_into().ok()?);
    let length = usize::try_from(length)
        .ok()
        .filter(|&l| l <= HEADER_LIMIT)?;
    file.get(8..8 + length)
}

/// Where the tensor begins and how many rows it has, if it is as it should be
/// and within `size`.
fn tensor(entry: &Value, kind: &str, columns: usize, size: usize) -> Option<(usize, usize)> {
    let number = |value: &Value| usize::try_from(value.as_u64()?).ok();
    let width = if kind == "F16" { 2 } else { 1 };
    let shape = entry.get("shape")?.as_array()?;
    let rows = number(shape.first()?)?;
    let found = shape.get(1).map_or(Some(1), number)?;
    let offsets = entry.get("data_offsets")?.as_array()?;
    let (start, end) = (number(offsets.first()?)?, number(offsets.get(1)?)?);
    let fits = end.checked_sub(start)? == rows.checked_mul(columns)?.checked_mul(width)?;
    let known = entry.get("dtype")?.as_str()? == kind && found == columns;
    (known && fits && end <= size).then_some((start, rows))
}

#[cfg(test)]
mod tests;
