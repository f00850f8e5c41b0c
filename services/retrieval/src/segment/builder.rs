//! Builds a segment from parts.

use super::Segment;
use super::layout::{PartEntry, UnitEntry};
use super::postings::Posting;
use super::writer::Contents;
use crate::document::Kind;
use crate::embed::spelling;
use crate::embed::table::Table;
use crate::embed::vector::{DIMENSIONS, Quantised, norm};
use crate::part::{Part, Unit};
use crate::term::{self, Key};
use openclaw_analysis as analysis;

/// Collects parts.
#[derive(Debug)]
pub(crate) struct Builder<'a> {
    table: Option<&'a Table>,
    contents: Contents,
    vectors: Vec<u8>,
    /// A term and a unit it is in, for each time it is.
    occurrences: Vec<(Key, u32)>,
}

impl<'a> Builder<'a> {
    /// An empty one. Without a table the units get no vectors.
    pub(crate) fn new(table: Option<&'a Table>) -> Self {
        let mut contents = Contents::default();
        contents.table = table.map_or(0, Table::identity);
        Self {
            table,
            contents,
            vectors: Vec::new(),
            occurrences: Vec::new(),
        }
    }

    /// Units in it so far.
    pub(crate) fn units(&self) -> usize {
        self.contents.units.len()
    }

    /// Adds the part with the number `id` in the database; `day_ms` dates its
    /// units if they are not dated themselves.
    pub(crate) fn add(&mut self, id: i64, part: &Part, day_ms: Option<i64>) {
        let number = self.contents.parts.len() as u32;
        let first = self.units() as u32;
        let mut total = 0;
        for (unit, index) in part.units.iter().zip(first..) {
            let traits = analysis::traits(&unit.text);
            let terms = term::of(unit, part, (day_ms, traits), &mut self.contents.words);
            let length = terms.keys.len() as u32;
            total += length;
            let all = terms.keys.into_iter().chain(terms.speakers);
            self.occurrences.extend(all.map(|key| (key, index)));
            self.contents.units.push(UnitEntry {
                part: number,
                length,
                kind: unit.kind,
                traits,
                timestamp_ms: unit.timestamp_ms,
                ..UnitEntry::default()
            });
        }
        self.embed(part, first as usize);
        self.contents.languages = self.contents.languages.with(part.language);
        self.contents.parts.push(PartEntry {
            id,
            first,
            units: part.units.len() as u32,
            length: total,
            flows: part.flows,
        });
    }

    fn embed(&mut self, part: &Part, first: usize) {
        let Some(table) = self.table else {
            self.vectors
                .resize(self.contents.units.len() * DIMENSIONS, 0);
            part.units.iter().for_each(|_| self.contents.spell(|_| ()));
            return;
        };
        for unit in &part.units {
            self.contents.spell(|spelled| match unit.kind {
                // Only what was said is compared word by word.
                Kind::Note => (),
                _ => spelling::spell(table, &unit.text, part.language, spelled),
            });
        }
        let sums: Vec<[f32; DIMENSIONS]> =
            part.units.iter().map(|unit| meaning(table, unit)).collect();
        for (index, sum) in sums.iter().enumerate() {
            let quantised = Quantised::new(sum);
            self.vectors
                .extend(quantised.values.iter().map(|&x| x as u8));
            let entry = &mut self.contents.units[first + index];
            entry.scale = quantised.scale;
            entry.norm = norm(sum);
            entry.window_norm = if part.flows {
                norm(&window(&sums, index))
            } else {
                entry.norm
            };
        }
    }

    /// The segment; None when nothing was added.
    pub(crate) fn finish(mut self) -> Option<Segment> {
        if self.contents.units.is_empty() {
            return None;
        }
        self.occurrences.sort_unstable();
        for run in self.occurrences.chunk_by(|a, b| a.0 == b.0) {
            let units = run.chunk_by(|a, b| a.1 == b.1);
            let postings = units.map(|unit| Posting {
                unit: unit[0].1,
                count: unit.len() as u32,
            });
            self.contents.term(run[0].0, postings);
        }
        self.occurrences = Vec::new();
        let mut bytes = Vec::new();
        let vectors = &self.vectors;
        let written = self
            .contents
            .write(&mut bytes, |output| output.write_all(vectors));
        // Writing to memory does not fail.
        written.ok().and_then(|()| Segment::in_memory(bytes))
    }
}

/// What a unit says under its headings. Not who says it: of every message of a
/// conversation that is half the same, and a mean of words knows no roles.
fn meaning(table: &Table, unit: &Unit) -> [f32; DIMENSIONS] {
    let mut sum = table.sum(&unit.text);
    if !unit.context.is_empty() {
        let context = table.sum(&unit.context);
        sum.iter_mut()
            .zip(context)
            .for_each(|(total, x)| *total += x);
    }
    sum
}

/// The sum of a unit and its neighbours.
fn window(sums: &[[f32; DIMENSIONS]], index: usize) -> [f32; DIMENSIONS] {
    let mut window = [0.0; DIMENSIONS];
    let first = index.saturating_sub(1);
    for sum in &sums[first..(index + 2).min(sums.len())] {
        for (total, x) in window.iter_mut().zip(sum) {
            *total += x;
        }
    }
    window
}
