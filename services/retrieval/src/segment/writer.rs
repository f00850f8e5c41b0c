//! From parts, units, vectors and postings to the bytes of a segment.

use std::io::{self, Write};

use xxhash_rust::xxh3::Xxh3;

use super::layout::{Header, PartEntry, UnitEntry};
use super::postings::{Encoder, Posting};
use crate::term::{Key, LongWords};
use openclaw_analysis::Languages;

/// Everything of a segment but its vectors, which are most of it and go
/// straight to where it is written.
#[derive(Debug, Default)]
pub(super) struct Contents {
    pub(super) table: u64,
    pub(super) languages: Languages,
    pub(super) parts: Vec<PartEntry>,
    pub(super) units: Vec<UnitEntry>,
    keys: Vec<Key>,
    ends: Vec<u32>,
    postings: Vec<u8>,
    /// The long ones, as they are indexed.
    pub(super) words: LongWords,
    /// The words of units as the table spells them, and where each unit's end.
    spelled: Vec<u8>,
    spelled_ends: Vec<u32>,
}

impl Contents {
    /// Adds a term with its postings; terms come in order, and so do postings.
    pub(super) fn term(&mut self, key: Key, postings: impl Iterator<Item = Posting>) {
        let before = self.postings.len();
        let mut encoder = Encoder::new(&mut self.postings);
        postings.for_each(|posting| encoder.push(posting));
        if self.postings.len() > before {
            self.keys.push(key);
            self.ends
                .push(u32::try_from(self.postings.len()).unwrap_or(u32::MAX));
        }
    }

    /// Adds the words of the next unit: `spell` appends them.
    pub(super) fn spell(&mut self, spell: impl FnOnce(&mut Vec<u8>)) {
        spell(&mut self.spelled);
        let end = u32::try_from(self.spelled.len()).unwrap_or(u32::MAX);
        self.spelled_ends.push(end);
    }

    /// Whether the term is in it.
    pub(super) fn has(&self, key: Key) -> bool {
        self.keys.binary_search(&key).is_ok()
    }

    /// Writes the segment. `vectors` writes those of all units, in order.
    pub(super) fn write(
        &self,
        output: &mut impl Write,
        vectors: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut output = Summed {
            output,
            hasher: Xxh3::new(),
        };
        let words = self.words.sorted();
        let header = Header {
            table: self.table,
            languages: self.languages.bits(),
            parts: self.parts.len(),
            units: self.units.len(),
            terms: self.keys.len(),
            postings: self.postings.len(),
            words: words.len(),
            spelled: self.spelled.len(),
            ..Header::default()
        };
        output.write_all(&header.bytes())?;
        let mut entries = Vec::new();
        self.parts.iter().for_each(|part| part.write(&mut entries));
        self.units.iter().for_each(|unit| unit.write(&mut entries));
        output.write_all(&entries)?;
        vectors(&mut output)?;
        let keys = self.keys.iter().flat_map(|key| key.to_le_bytes());
        output.write_all(&keys.collect::<Vec<u8>>())?;
        let ends = self.ends.iter().flat_map(|end| end.to_le_bytes());
        output.write_all(&ends.collect::<Vec<u8>>())?;
        output.write_all(&self.postings)?;
        output.write_all(words.as_bytes())?;
        let ends = self.spelled_ends.iter().flat_map(|end| end.to_le_bytes());
        output.write_all(&ends.collect::<Vec<u8>>())?;
        output.write_all(&self.spelled)?;
        let checksum = output.hasher.digest();
        output.output.write_all(&checksum.to_le_bytes())
    }
}

/// Sums up what is written.
struct Summed<'a, W> {
    output: &'a mut W,
    hasher: Xxh3,
}

impl<W: Write> Write for Summed<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.output.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}
