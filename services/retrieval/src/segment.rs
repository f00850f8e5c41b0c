//! A piece of the index that is written once: what is in some parts, by term,
//! and the vectors of their units.
//!
//! The same bytes in memory and in a file, where they are mapped. Which parts
//! of it are still there, its owner knows ([`crate::snapshot`]).

use std::ops::{Deref, Range};
use std::path::Path;

use openclaw_sandbox::Mapping;
use xxhash_rust::xxh3::Xxh3;

use crate::embed::vector::DIMENSIONS;
use crate::error::Error;
use crate::term::Key;
use openclaw_analysis::Languages;

pub(crate) mod builder;
mod layout;
pub(crate) mod merge;
mod postings;
mod writer;

use layout::{Header, PART_SIZE, UNIT_SIZE};
pub(crate) use layout::{PartEntry, UnitEntry};
pub(crate) use postings::{Posting, Postings};

/// Read at once when a file is checked; in bytes.
const CHECKED_AT_ONCE: usize = 256 * 1024;

/// Bytes in memory or in a file.
#[derive(Debug)]
enum Bytes {
    Memory(Vec<u8>),
    File(Mapping),
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Memory(bytes) => bytes,
            Self::File(mapping) => mapping,
        }
    }
}

/// A segment.
#[derive(Debug)]
pub(crate) struct Segment {
    bytes: Bytes,
    header: Header,
    /// Of each unit, what every search asks for.
    lengths: Vec<Lengths>,
}

/// What scores of keywords depend on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Lengths {
    /// The number of the unit's part.
    pub(crate) part: u32,
    /// Terms in the unit.
    pub(crate) unit: u32,
    /// Terms in it and its neighbours.
    pub(crate) window: u32,
}

impl Segment {
    fn new(bytes: Bytes, header: Header) -> Self {
        let mut segment = Self {
            bytes,
            header,
            lengths: Vec::new(),
        };
        segment.lengths = segment.measured();
        segment
    }

    fn measured(&self) -> Vec<Lengths> {
        let lengths: Vec<(u32, u32)> = self.unit_entries().map(|u| (u.part, u.length)).collect();
        let of_part = |index: usize, part: u32| {
            let neighbour = lengths.get(index).filter(|(other, _)| *other == part);
            neighbour.map_or(0, |(_, length)| *length)
        };
        let measure = |(index, &(part, unit)): (usize, &(u32, u32))| {
            let mut window = unit;
            if self.part(part as usize).flows {
                window += of_part(index + 1, part);
                window += index
                    .checked_sub(1)
                    .map_or(0, |before| of_part(before, part));
            }
            Lengths { part, unit, window }
        };
        lengths.iter().enumerate().map(measure).collect()
    }

    /// The segment that a builder or a merge wrote to memory.
    pub(crate) fn in_memory(bytes: Vec<u8>) -> Option<Self> {
        let header = Header::read(&bytes)?;
        Some(Self::new(Bytes::Memory(bytes), header))
    }

    /// Maps the file at `path`, after all of it was checked.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let damaged = |reason| Error::Damaged {
            path: path.to_owned(),
            reason,
        };
        // Read, not mapped: what is mapped stays counted as this program's.
        if !is_whole(path)? {
            return Err(damaged("its checksum is wrong"));
        }
        let mapping = Mapping::open(path).map_err(Error::io("open", path))?;
        let header = Header::read(&mapping).ok_or_else(|| damaged("its header is wrong"))?;
        Ok(Self::new(Bytes::File(mapping), header))
    }

    /// The table its vectors were made with; 0 when it has none.
    pub(crate) fn table(&self) -> u64 {
        self.header.table
    }

    /// The languages of its parts.
    pub(crate) fn languages(&self) -> Languages {
        Languages::from_bits(self.header.languages)
    }

    /// Units in it, gone or not.
    pub(crate) fn units(&self) -> usize {
        self.header.units
    }

    /// Parts in it, gone or not.
    pub(crate) fn parts(&self) -> usize {
        self.header.parts
    }

    /// The part with the number `index`.
    pub(crate) fn part(&self, index: usize) -> PartEntry {
        let start = self.header.parts_start + index * PART_SIZE;
        let bytes = self
            .bytes
            .get(start..)
            .and_then(|bytes| bytes.first_chunk());
        bytes.map_or_else(PartEntry::default, PartEntry::read)
    }

    /// The unit with the number `index`.
    #[inline]
    pub(crate) fn unit(&self, index: usize) -> UnitEntry {
        let start = self.header.units_start + index * UNIT_SIZE;
        let bytes = self
            .bytes
            .get(start..)
            .and_then(|bytes| bytes.first_chunk());
        bytes.map_or_else(UnitEntry::default, UnitEntry::read)
    }

    /// The lengths of the unit with the number `index`.
    #[inline]
    pub(crate) fn lengths(&self, index: usize) -> Lengths {
        self.lengths.get(index).copied().unwrap_or_default()
    }

    /// Terms in the unit with the number `index` and its neighbours.
    pub(crate) fn window_length(&self, index: usize) -> u32 {
        self.lengths(index).window
    }

    /// All units, in order.
    pub(crate) fn unit_entries(&self) -> impl Iterator<Item = UnitEntry> {
        self.entries(0..self.header.units)
    }

    /// The units with the numbers `units`, in order.
    pub(crate) fn entries(&self, units: Range<usize>) -> impl Iterator<Item = UnitEntry> {
        let start = self.header.units_start;
        let bytes = start + units.start * UNIT_SIZE..start + units.end * UNIT_SIZE;
        let bytes = self
            .bytes
            .get(bytes)
            .filter(|_| units.end <= self.header.units);
        let (entries, _) = bytes.unwrap_or_default().as_chunks();
        entries.iter().map(UnitEntry::read)
    }

    /// The numbers of all vectors, one row after the other.
    pub(crate) fn vectors(&self) -> &[i8] {
        let start = self.header.vectors_start;
        let bytes = self
            .bytes
            .get(start..start + self.header.units * DIMENSIONS);
        bytemuck::cast_slice(bytes.unwrap_or_default())
    }

    /// The numbers of the vector of a unit.
    pub(crate) fn vector(&self, unit: usize) -> &[i8] {
        let row = self
            .vectors()
            .get(unit * DIMENSIONS..(unit + 1) * DIMENSIONS);
        row.unwrap_or_default()
    }

    /// Terms in it.
    pub(crate) fn terms(&self) -> usize {
        self.header.terms
    }

    /// The terms, sorted.
    fn keys(&self) -> &[[u8; 8]] {
        let start = self.header.keys_start;
        let bytes = self.bytes.get(start..start + self.header.terms * 8);
        bytes.unwrap_or_default().as_chunks().0
    }

    /// The term with the number `index`; they are sorted.
    pub(crate) fn key(&self, index: usize) -> Key {
        let key = self.keys().get(index);
        key.map_or(0, |key| u64::from_le_bytes(*key))
    }

    /// Long words, sorted, one a line. Not as a text: to check it, all of it would
    /// be read, and be memory of this program from then on.
    pub(crate) fn words(&self) -> &[u8] {
        let start = self.header.words_start;
        let bytes = self.bytes.get(start..start + self.header.words);
        bytes.unwrap_or_default()
    }

    /// The long words from `first` on, in order.
    pub(crate) fn words_from(&self, first: &str) -> impl Iterator<Item = &str> {
        let words = self.words();
        let (mut low, mut high) = (0, words.len());
        while low < high {
            let line = line_at(words, low + (high - low) / 2);
            if words[line.clone()].trim_ascii_end() < first.as_bytes() {
                low = line.end;
            } else {
                high = line.start;
            }
        }
        let lines = words[low..].split(|&byte| byte == b'\n');
        lines.map_while(|line| std::str::from_utf8(line).ok())
    }

    /// The words of a unit as the table spells them ([`crate::embed::spelling`]).
    pub(crate) fn spelled(&self, unit: usize) -> &[u8] {
        let end = |unit: usize| self.offset(self.header.spelled_ends_start + unit * 4);
        let start = unit.checked_sub(1).map_or(0, end);
        let range = self.header.spelled_start + start..self.header.spelled_start + end(unit);
        let found = self.bytes.get(range).filter(|_| unit < self.header.units);
        found.unwrap_or_default()
    }

    /// Where the term `key` is.
    pub(crate) fn postings(&self, key: Key) -> Postings<'_> {
        let found = (self.keys()).binary_search_by_key(&key, |key| u64::from_le_bytes(*key));
        found.map_or_else(|_| Postings::default(), |index| self.postings_at(index))
    }

    /// Where the term with the number `index` is.
    pub(crate) fn postings_at(&self, index: usize) -> Postings<'_> {
        let start = index.checked_sub(1).map_or(0, |before| self.end(before));
        let range =
            self.header.postings_start + start..self.header.postings_start + self.end(index);
        Postings::new(self.bytes.get(range).unwrap_or_default())
    }

    fn end(&self, index: usize) -> usize {
        self.offset(self.header.ends_start + index * 4)
    }

    /// The number of 32 bits that stands at `start`.
    fn offset(&self, start: usize) -> usize {
        let bytes = self.bytes.get(start..start + 4);
        bytes
            .and_then(|b| b.try_into().ok())
            .map_or(0, |b| u32::from_le_bytes(b) as usize)
    }
}

/// The line of `words` that the byte `at` is in, with its end.
pub(crate) fn line_at(words: &[u8], at: usize) -> Range<usize> {
    let is_end = |&byte: &u8| byte == b'\n';
    let start = words[..at].iter().rposition(is_end);
    let end = words[at..].iter().position(is_end);
    start.map_or(0, |end| end + 1)..end.map_or(words.len(), |length| at + length + 1)
}

/// The units of a part.
pub(crate) fn range(part: &PartEntry) -> Range<usize> {
    part.first as usize..part.first as usize + part.units as usize
}

/// Whether the checksum at the end of the file is that of what is before it.
fn is_whole(path: &Path) -> Result<bool, Error> {
    use std::io::Read as _;
    let error = || Error::io("read", path);
    let mut file = std::fs::File::open(path).map_err(error())?;
    let size = file.metadata().map_err(error())?.len();
    let Some(mut left) = size.checked_sub(8) else {
        return Ok(false);
    };
    let mut hasher = Xxh3::new();
    let mut buffer = vec![0; CHECKED_AT_ONCE];
    while left > 0 {
        let wanted = left.min(CHECKED_AT_ONCE as u64) as usize;
        file.read_exact(&mut buffer[..wanted]).map_err(error())?;
        hasher.update(&buffer[..wanted]);
        left -= wanted as u64;
    }
    let mut checksum = [0; 8];
    file.read_exact(&mut checksum).map_err(error())?;
    Ok(u64::from_le_bytes(checksum) == hasher.digest())
}

#[cfg(test)]
mod tests;
