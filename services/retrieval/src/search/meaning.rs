//! How near every unit's vector is to the question's: an exact scan.

use super::Space;
use super::fusion::Extent;
use crate::embed::vector::{DIMENSIONS, Quantised, products};

/// Rows between two looks at the clock.
const ROWS: usize = 16_384;

/// Cosines of every unit, by their numbers in the [`Space`].
#[derive(Debug)]
pub(super) struct Scores {
    pub(super) unit: Vec<f32>,
    /// Of it with its neighbours.
    pub(super) window: Vec<f32>,
    /// How far the cosines reach of what is searched.
    pub(super) units: Extent,
    /// Of it with its neighbours.
    pub(super) windows: Extent,
    pub(super) cut_short: bool,
}

impl Scores {
    /// Segments whose vectors another table made have none that count.
    pub(super) fn new(space: &Space<'_>, vector: &Quantised, table: u64) -> Self {
        let mut scores = Self {
            unit: vec![0.0; space.units],
            window: vec![0.0; space.units],
            units: Extent::empty(),
            windows: Extent::empty(),
            cut_short: false,
        };
        let Some(query) = vector.values.first_chunk::<DIMENSIONS>() else {
            return scores;
        };
        let mut dots = Vec::new();
        for (index, live) in space.live.iter().enumerate() {
            if live.segment.table() != table {
                continue;
            }
            dots.clear();
            for rows in live.segment.vectors().chunks(ROWS * DIMENSIONS) {
                if space.is_late() {
                    scores.cut_short = true;
                    return scores;
                }
                products(query, rows, &mut dots);
            }
            scores.scale(space, index, &dots, vector.scale);
        }
        scores
    }

    fn scale(&mut self, space: &Space<'_>, live: usize, dots: &[i32], scale: f32) {
        let segment = &space.live[live].segment;
        let (start, first_part) = space.starts[live];
        let units = start..start + segment.units();
        let cosines = &mut self.unit[units.clone()];
        let windows = &mut self.window[units];
        // What a unit adds to a window it is in, and the part it is of.
        let mut before = (u32::MAX, 0.0);
        let mut entries = segment
            .unit_entries()
            .zip(dots.iter().copied())
            .enumerate()
            .peekable();
        let share = |norm: f32, cosine: f32| norm * cosine;
        while let Some((index, (unit, dot))) = entries.next() {
            let cosine = dot as f32 * unit.scale * scale;
            cosines[index] = cosine;
            let own = share(unit.norm, cosine);
            let lengths = segment.lengths(index);
            let flows = lengths.window > lengths.unit;
            let mut sum = own;
            if flows && before.0 == unit.part {
                sum += before.1;
            }
            if let Some(&(_, (next, dot))) = entries.peek()
                && flows
                && next.part == unit.part
            {
                sum += share(next.norm, dot as f32 * next.scale * scale);
            }
            if unit.window_norm > 0.0 {
                windows[index] = sum / unit.window_norm;
            }
            if space.is_allowed(first_part + unit.part as usize) {
                self.units.include(cosines[index]);
                self.windows.include(windows[index]);
            }
            before = (unit.part, own);
        }
    }
}
