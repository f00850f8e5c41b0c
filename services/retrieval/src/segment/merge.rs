//! Many segments become one, without what is gone.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use super::layout::{PartEntry, UnitEntry};
use super::postings::{Posting, Postings};
use super::writer::Contents;
use super::{Segment, range};
use crate::error::Error;
use crate::term::{self, Key};

/// No unit has this number: it is gone.
const GONE: u32 = u32::MAX;

/// One of the segments that are merged.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Input<'a> {
    pub(crate) segment: &'a Segment,
    /// For each of its parts whether it is still there.
    pub(crate) alive: &'a dyn Alive,
}

/// Knows which parts of a segment are still there.
pub(crate) trait Alive: std::fmt::Debug {
    /// Whether the part with the number `index` is.
    fn is_alive(&self, index: usize) -> bool;
}

/// Merges `inputs`, all with vectors of one table, in memory; None when nothing
/// is left.
pub(crate) fn in_memory(inputs: &[Input<'_>]) -> Option<Segment> {
    let merge = Merge::new(inputs)?;
    let mut bytes = Vec::new();
    merge.write(&mut bytes).ok()?;
    Segment::in_memory(bytes)
}

/// Merges `inputs` to a new file at `path`, which is durable then; false when
/// nothing is left.
pub(crate) fn to_file(inputs: &[Input<'_>], path: &Path) -> Result<bool, Error> {
    let Some(merge) = Merge::new(inputs) else {
        return Ok(false);
    };
    let write = || -> io::Result<()> {
        let mut output = BufWriter::with_capacity(1 << 18, File::create(path)?);
        merge.write(&mut output)?;
        output.into_inner()?.sync_data()
    };
    write().map_err(Error::io("write", path))?;
    Ok(true)
}

struct Merge<'a> {
    inputs: &'a [Input<'a>],
    contents: Contents,
    /// New numbers of units by input and old number.
    moved: Vec<Vec<u32>>,
}

impl<'a> Merge<'a> {
    fn new(inputs: &'a [Input<'a>]) -> Option<Self> {
        let mut merge = Self {
            inputs,
            contents: Contents::default(),
            moved: Vec::new(),
        };
        for input in inputs {
            merge.contents.table = input.segment.table();
            let languages = merge.contents.languages.union(input.segment.languages());
            merge.contents.languages = languages;
            merge.take_in(input);
        }
        if merge.contents.units.is_empty() {
            return None;
        }
        merge.terms();
        merge.words();
        Some(merge)
    }

    fn take_in(&mut self, input: &Input<'_>) {
        let mut moved = vec![GONE; input.segment.units()];
        for index in (0..input.segment.parts()).filter(|&index| input.alive.is_alive(index)) {
            let part = input.segment.part(index);
            let first = self.contents.units.len() as u32;
            let number = self.contents.parts.len() as u32;
            for old in range(&part) {
                let Some(place) = moved.get_mut(old) else {
                    break;
                };
                *place = self.contents.units.len() as u32;
                self.contents.units.push(UnitEntry {
                    part: number,
                    ..input.segment.unit(old)
                });
                self.contents
                    .spell(|spelled| spelled.extend(input.segment.spelled(old)));
            }
            self.contents.parts.push(PartEntry { first, ..part });
        }
        self.moved.push(moved);
    }

    /// The terms of all inputs are sorted: the least of the next ones is next.
    fn terms(&mut self) {
        let mut next = vec![0; self.inputs.len()];
        while let Some(key) = self.least(&next) {
            let mut lists: Vec<(Postings<'_>, &[u32])> = Vec::new();
            for (place, (input, moved)) in next.iter_mut().zip(self.inputs.iter().zip(&self.moved))
            {
                if *place < input.segment.terms() && input.segment.key(*place) == key {
                    lists.push((input.segment.postings_at(*place), moved));
                    *place += 1;
                }
            }
            let postings = lists.into_iter().flat_map(|(postings, moved)| {
                postings.filter_map(|posting| {
                    let unit = *moved.get(posting.unit as usize)?;
                    (unit != GONE).then_some(Posting { unit, ..posting })
                })
            });
            self.contents.term(key, postings);
        }
    }

    /// The long words of what is left.
    fn words(&mut self) {
        for word in self
            .inputs
            .iter()
            .flat_map(|input| input.segment.words_from(""))
        {
            let key = term::key(word);
            if self.contents.has(key) {
                self.contents.words.insert(key, word);
            }
        }
    }

    fn least(&self, next: &[usize]) -> Option<Key> {
        let inputs = self.inputs.iter().zip(next);
        let left = inputs.filter(|(input, place)| **place < input.segment.terms());
        let keys = left.map(|(input, &place)| input.segment.key(place));
        keys.min()
    }

    fn write(&self, output: &mut impl Write) -> io::Result<()> {
        self.contents.write(output, |output| {
            for (input, moved) in self.inputs.iter().zip(&self.moved) {
                for (unit, _) in moved.iter().enumerate().filter(|(_, new)| **new != GONE) {
                    output.write_all(bytemuck::cast_slice(input.segment.vector(unit)))?;
                }
            }
            Ok(())
        })
    }
}
