//! What can be searched at one moment. Never changed: a change makes the next
//! one, so that no search waits for indexing.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use xxhash_rust::xxh3::xxh3_64;

use crate::database::DocumentRow;
use crate::document::Source;
use crate::segment::merge::Alive;
use crate::segment::{Segment, range};
use openclaw_analysis::Languages;

/// No document has this number: the part is gone.
const GONE: u32 = u32::MAX;

/// The segments and what is still there of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Snapshot {
    pub(crate) live: Vec<Live>,
    pub(crate) documents: Arc<HashMap<u32, DocumentEntry>>,
}

/// What a search needs to know of every document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DocumentEntry {
    pub(crate) source: Source,
    /// Of its path.
    pub(crate) path: u64,
    pub(crate) timestamp_ms: i64,
    /// Whether it is about a day, and less and less worth as that is past.
    pub(crate) ages: bool,
}

impl From<&DocumentRow> for DocumentEntry {
    fn from(row: &DocumentRow) -> Self {
        Self {
            source: row.source,
            path: path_hash(&row.path),
            timestamp_ms: row.day_ms.unwrap_or(row.modified_ms),
            ages: row.day_ms.is_some(),
        }
    }
}

/// What [`DocumentEntry::path`] is for `path`.
pub(crate) fn path_hash(path: &str) -> u64 {
    xxh3_64(path.as_bytes())
}

/// How much there is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Size {
    pub(crate) parts: usize,
    pub(crate) units: usize,
    /// Terms in all units.
    pub(crate) length: u64,
    /// Terms in all units with their neighbours.
    pub(crate) window_length: u64,
}

impl Size {
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            parts: self.parts + other.parts,
            units: self.units + other.units,
            length: self.length + other.length,
            window_length: self.window_length + other.window_length,
        }
    }
}

/// A segment and which of its parts are still there.
#[derive(Debug, Clone)]
pub(crate) struct Live {
    pub(crate) segment: Arc<Segment>,
    /// Its number in the database; None when it is in memory only.
    pub(crate) file: Option<i64>,
    /// The document of each part, or [`GONE`].
    owners: Arc<Vec<u32>>,
    size: Size,
}

impl Live {
    /// A segment of which `owner` tells the documents of the parts, by their
    /// numbers in the database.
    pub(crate) fn new(
        segment: Arc<Segment>,
        file: Option<i64>,
        owner: impl Fn(i64) -> Option<u32>,
    ) -> Self {
        let parts = (0..segment.parts()).map(|index| owner(segment.part(index).id));
        let owners: Vec<u32> = parts.map(|owner| owner.unwrap_or(GONE)).collect();
        Self::with(segment, file, owners)
    }

    fn with(segment: Arc<Segment>, file: Option<i64>, owners: Vec<u32>) -> Self {
        let size = size(&segment, &owners);
        Self {
            segment,
            file,
            owners: Arc::new(owners),
            size,
        }
    }

    /// The document a part is of, if it is still there.
    pub(crate) fn owner(&self, part: usize) -> Option<u32> {
        self.owners
            .get(part)
            .copied()
            .filter(|&owner| owner != GONE)
    }

    /// What is still there.
    pub(crate) fn size(&self) -> Size {
        self.size
    }

    /// The numbers in the database of the parts that are still there, and their
    /// documents.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (i64, u32)> {
        let parts = (0..self.segment.parts()).zip(self.owners.iter());
        let alive = parts.filter(|(_, owner)| **owner != GONE);
        alive.map(|(index, &owner)| (self.segment.part(index).id, owner))
    }

    /// Without the parts `gone`; None when it had none of them.
    fn without(&self, gone: &HashSet<i64>) -> Option<Self> {
        let mut owners: Option<Vec<u32>> = None;
        for index in (0..self.segment.parts()).filter(|&index| self.owners[index] != GONE) {
            if gone.contains(&self.segment.part(index).id) {
                owners.get_or_insert_with(|| self.owners.to_vec())[index] = GONE;
            }
        }
        owners.map(|owners| Self::with(Arc::clone(&self.segment), self.file, owners))
    }
}

impl Alive for Live {
    fn is_alive(&self, index: usize) -> bool {
        self.owner(index).is_some()
    }
}

fn size(segment: &Segment, owners: &[u32]) -> Size {
    let mut size = Size::default();
    for (index, _) in owners
        .iter()
        .enumerate()
        .filter(|(_, owner)| **owner != GONE)
    {
        let part = segment.part(index);
        size.parts += 1;
        size.units += part.units as usize;
        size.length += u64::from(part.length);
        let windows = range(&part).map(|unit| u64::from(segment.window_length(unit)));
        size.window_length += windows.sum::<u64>();
    }
    size
}

impl Snapshot {
    /// What is there in all segments.
    pub(crate) fn size(&self) -> Size {
        let sizes = self.live.iter().map(Live::size);
        sizes.fold(Size::default(), Size::plus)
    }

    /// The languages of what is there.
    pub(crate) fn languages(&self) -> Languages {
        let all = self.live.iter().map(|live| live.segment.languages());
        all.fold(Languages::default(), Languages::union)
    }

    /// Takes parts away; segments of which nothing is left go.
    pub(crate) fn forget(&mut self, gone: &HashSet<i64>) {
        if gone.is_empty() {
            return;
        }
        for live in &mut self.live {
            if let Some(less) = live.without(gone) {
                *live = less;
            }
        }
        self.live
            .retain(|live| live.size.parts > 0 || live.file.is_some());
    }
}

#[cfg(test)]
mod tests;
