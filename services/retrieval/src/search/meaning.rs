//! How near every unit's vector is to the question's: an exact scan.

use std::ops::Range;

use super::Space;
use super::extent::Extent;
use crate::embed::vector::{DIMENSIONS, Quantised, products};
use crate::segment::{UnitEntry, range};

/// Rows between two looks at the clock.
const ROWS: usize = 16_384;

/// Cosines of every unit, by their numbers in the [`Space`].
#[derive(Debug)]
pub(super) struct Scores {
    pub(super) tables: Tables,
    /// How far the cosines reach of what is searched.
    pub(super) units: Extent,
    /// Of it with its neighbours.
    pub(super) windows: Extent,
    pub(super) cut_short: bool,
}

/// What there is a number of for every unit: kept from one search for the next.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) unit: Vec<f32>,
    /// Of it with its neighbours.
    pub(super) window: Vec<f32>,
    products: Vec<i32>,
}

impl Tables {
    fn clear(&mut self, units: Range<usize>) {
        for table in [&mut self.unit, &mut self.window] {
            if let Some(cosines) = table.get_mut(units.clone()) {
                cosines.fill(0.0);
            }
        }
    }
}

impl Scores {
    /// Segments whose vectors another table made have none that count.
    pub(super) fn new(
        space: &Space<'_>,
        vector: &Quantised,
        table: u64,
        mut tables: Tables,
    ) -> Self {
        // What was there is written over.
        tables.unit.resize(space.units, 0.0);
        tables.window.resize(space.units, 0.0);
        let mut scores = Self {
            tables,
            units: Extent::empty(),
            windows: Extent::empty(),
            cut_short: false,
        };
        let Some(query) = vector.values.first_chunk::<DIMENSIONS>() else {
            scores.tables.clear(0..space.units);
            return scores;
        };
        for (index, live) in space.live.iter().enumerate() {
            let first = space.starts[index].0;
            if live.segment.table() != table {
                scores.tables.clear(first..first + live.segment.units());
                continue;
            }
            scores.tables.products.clear();
            for rows in live.segment.vectors().chunks(ROWS * DIMENSIONS) {
                if space.is_late() {
                    scores.cut_short = true;
                    scores.tables.clear(first..space.units);
                    return scores;
                }
                products(query, rows, &mut scores.tables.products);
            }
            scores.scale(space, index, vector.scale);
        }
        scores
    }

    /// From products to cosines, part by part: neighbours are of one part.
    fn scale(&mut self, space: &Space<'_>, live: usize, scale: f32) {
        let segment = &space.live[live].segment;
        let (start, first_part) = space.starts[live];
        // Units one after the other that are searched.
        let mut run = start..start;
        for index in 0..segment.parts() {
            let part = segment.part(index);
            let units = range(&part);
            let numbers = start + units.start..start + units.end;
            if !space.is_allowed(first_part + index) {
                self.tables.clear(numbers);
                continue;
            }
            let Some(products) = self.tables.products.get(units.clone()) else {
                self.tables.clear(numbers);
                continue;
            };
            let cosines = &mut self.tables.unit[numbers.clone()];
            let windows = &mut self.tables.window[numbers.clone()];
            for ((cosine, &product), unit) in cosines
                .iter_mut()
                .zip(products)
                .zip(segment.entries(units.clone()))
            {
                *cosine = product as f32 * unit.scale * scale;
            }
            if part.flows {
                spread(cosines, windows, segment.entries(units));
            } else {
                windows.copy_from_slice(cosines);
            }
            if run.end != numbers.start {
                self.include(run);
                run = numbers.start..numbers.start;
            }
            run.end = numbers.end;
        }
        self.include(run);
    }

    fn include(&mut self, units: Range<usize>) {
        self.units.include(&self.tables.unit[units.clone()]);
        self.windows.include(&self.tables.window[units]);
    }
}

/// The cosines of units with their neighbours: those of sums of vectors, of
/// which each counts as much as it is long.
fn spread(cosines: &[f32], windows: &mut [f32], units: impl Iterator<Item = UnitEntry>) {
    let mut before = 0.0;
    let mut place: Option<(usize, f32, f32)> = None;
    for (index, (&cosine, unit)) in cosines.iter().zip(units).enumerate() {
        let own = unit.norm * cosine;
        if let Some((index, sum, norm)) = place {
            windows[index] = ratio(sum + own, norm);
        }
        place = Some((index, before + own, unit.window_norm));
        before = own;
    }
    if let Some((index, sum, norm)) = place {
        windows[index] = ratio(sum, norm);
    }
}

fn ratio(sum: f32, norm: f32) -> f32 {
    if norm > 0.0 { sum / norm } else { 0.0 }
}

#[cfg(test)]
mod tests;
