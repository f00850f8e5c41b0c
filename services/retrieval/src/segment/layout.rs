//! Where what is in a segment.
//!
//! All numbers are little-endian. Header, parts, units, vectors, keys of terms
//! (sorted), ends of their postings, postings, long words (sorted, one a line),
//! ends of the words of units as the table spells them, those words, and a
//! checksum of it all.

use crate::document::Kind;
use openclaw_analysis::Traits;

/// "OCSEG" and the version of this layout.
const MAGIC: [u8; 8] = *b"OCSEG\0\0\x02";
/// Of the header: the magic and eight numbers.
pub(super) const HEADER_SIZE: usize = 72;
/// Of a part.
pub(super) const PART_SIZE: usize = 24;
/// Of a unit.
pub(super) const UNIT_SIZE: usize = 32;
/// Behind everything.
pub(super) const CHECKSUM_SIZE: usize = 8;
/// No unit has a time with this number: it is as old as its document.
const NO_TIME: i64 = i64::MIN;
const FLOWS: u32 = 1;

/// What a segment begins with, and where things begin in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) table: u64,
    pub(super) languages: u64,
    pub(super) parts: usize,
    pub(super) units: usize,
    pub(super) terms: usize,
    pub(super) postings: usize,
    /// Bytes of the long words.
    pub(super) words: usize,
    /// Bytes of the words of units as the table spells them.
    pub(super) spelled: usize,
    pub(super) parts_start: usize,
    pub(super) units_start: usize,
    pub(super) vectors_start: usize,
    pub(super) keys_start: usize,
    pub(super) ends_start: usize,
    pub(super) postings_start: usize,
    pub(super) words_start: usize,
    pub(super) spelled_ends_start: usize,
    pub(super) spelled_start: usize,
}

impl Header {
    /// Reads it, and checks that everything it tells of is there.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.get(..8)? != MAGIC {
            return None;
        }
        let number = |index: usize| {
            Some(u64::from_le_bytes(
                bytes.get(index..index + 8)?.try_into().ok()?,
            ))
        };
        let size = |index: usize| usize::try_from(number(index)?).ok();
        let header = Self {
            table: number(8)?,
            languages: number(16)?,
            parts: size(24)?,
            units: size(32)?,
            terms: size(40)?,
            postings: size(48)?,
            words: size(56)?,
            spelled: size(64)?,
            ..Self::default()
        };
        let header = header.placed(super::DIMENSIONS)?;
        let end = header.spelled_start.checked_add(header.spelled)?;
        (end.checked_add(CHECKSUM_SIZE)? == bytes.len()).then_some(header)
    }

    fn placed(mut self, dimensions: usize) -> Option<Self> {
        self.parts_start = HEADER_SIZE;
        self.units_start = after(self.parts_start, self.parts, PART_SIZE)?;
        self.vectors_start = after(self.units_start, self.units, UNIT_SIZE)?;
        self.keys_start = after(self.vectors_start, self.units, dimensions)?;
        self.ends_start = after(self.keys_start, self.terms, 8)?;
        self.postings_start = after(self.ends_start, self.terms, 4)?;
        self.words_start = after(self.postings_start, self.postings, 1)?;
        self.spelled_ends_start = after(self.words_start, self.words, 1)?;
        self.spelled_start = after(self.spelled_ends_start, self.units, 4)?;
        Some(self)
    }

    /// As it is written.
    pub(super) fn bytes(&self) -> [u8; HEADER_SIZE] {
        let mut bytes = [0; HEADER_SIZE];
        bytes[..8].copy_from_slice(&MAGIC);
        let counts = [self.parts, self.units, self.terms];
        let sizes = [self.postings, self.words, self.spelled];
        let sizes = counts.into_iter().chain(sizes);
        let numbers = [self.table, self.languages].into_iter();
        let numbers = numbers.chain(sizes.map(|size| size as u64));
        for (place, number) in bytes[8..].chunks_exact_mut(8).zip(numbers) {
            place.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }
}

fn after(start: usize, count: usize, size: usize) -> Option<usize> {
    start.checked_add(count.checked_mul(size)?)
}

/// A part.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct PartEntry {
    /// Its number in the database.
    pub(crate) id: i64,
    /// Its first unit.
    pub(crate) first: u32,
    /// How many it has.
    pub(crate) units: u32,
    /// Terms in it.
    pub(crate) length: u32,
    /// Whether its units are understood with their neighbours.
    pub(crate) flows: bool,
}

impl PartEntry {
    #[inline]
    pub(super) fn read(bytes: &[u8; PART_SIZE]) -> Self {
        Self {
            id: i64::from_le_bytes(array(bytes, 0)),
            first: u32::from_le_bytes(array(bytes, 8)),
            units: u32::from_le_bytes(array(bytes, 12)),
            length: u32::from_le_bytes(array(bytes, 16)),
            flows: u32::from_le_bytes(array(bytes, 20)) & FLOWS != 0,
        }
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.id.to_le_bytes());
        bytes.extend(self.first.to_le_bytes());
        bytes.extend(self.units.to_le_bytes());
        bytes.extend(self.length.to_le_bytes());
        bytes.extend((if self.flows { FLOWS } else { 0 }).to_le_bytes());
    }
}

/// A unit.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct UnitEntry {
    /// The number of its part.
    pub(crate) part: u32,
    /// Terms in it.
    pub(crate) length: u32,
    /// What its vector's numbers are to be multiplied with.
    pub(crate) scale: f32,
    /// How long the vector was before it was made to be 1 long: what it counts
    /// in a sum with its neighbours.
    pub(crate) norm: f32,
    /// How long the sum of it and its neighbours was.
    pub(crate) window_norm: f32,
    /// What it is.
    pub(crate) kind: Kind,
    /// What its text has.
    pub(crate) traits: Traits,
    /// Unix milliseconds; None: as its document.
    pub(crate) timestamp_ms: Option<i64>,
}

impl UnitEntry {
    #[inline]
    pub(super) fn read(bytes: &[u8; UNIT_SIZE]) -> Self {
        let timestamp_ms = i64::from_le_bytes(array(bytes, 24));
        Self {
            part: u32::from_le_bytes(array(bytes, 0)),
            length: u32::from_le_bytes(array(bytes, 4)),
            scale: f32::from_le_bytes(array(bytes, 8)),
            norm: f32::from_le_bytes(array(bytes, 12)),
            window_norm: f32::from_le_bytes(array(bytes, 16)),
            kind: Kind::numbered(bytes[20]),
            traits: Traits::from_bits(bytes[21]),
            timestamp_ms: (timestamp_ms != NO_TIME).then_some(timestamp_ms),
        }
    }

    pub(super) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.part.to_le_bytes());
        bytes.extend(self.length.to_le_bytes());
        bytes.extend(self.scale.to_le_bytes());
        bytes.extend(self.norm.to_le_bytes());
        bytes.extend(self.window_norm.to_le_bytes());
        bytes.extend([self.kind.number(), self.traits.bits(), 0, 0]);
        bytes.extend(self.timestamp_ms.unwrap_or(NO_TIME).to_le_bytes());
    }
}

/// Some of the bytes of an entry; the callers stay within it.
#[inline]
fn array<const N: usize>(bytes: &[u8], start: usize) -> [u8; N] {
    let part = bytes.get(start..start + N);
    part.and_then(|part| part.try_into().ok()).unwrap_or([0; N])
}
