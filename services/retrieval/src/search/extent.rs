//! How far the scores of a list lie apart.

/// Brings a list to 0..1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    pub(super) low: f64,
    /// One over what is between them; 0 where that is nothing.
    pub(super) inverse: f64,
}

impl Range {
    pub(super) fn new(low: f64, high: f64) -> Self {
        let inverse = if high > low { 1.0 / (high - low) } else { 0.0 };
        Self { low, inverse }
    }

    /// From 0 to the highest of a list of keyword scores.
    pub(super) fn from_zero(scores: &[f32]) -> Self {
        let mut extent = Extent {
            low: 0.0,
            high: 0.0,
        };
        extent.include(scores);
        Self::new(0.0, f64::from(extent.high))
    }

    /// From the lowest to the highest of `scores`.
    pub(crate) fn of(scores: impl Iterator<Item = f64>) -> Self {
        let all = (f64::MAX, f64::MIN);
        let (low, high) = scores.fold(all, |(low, high), s| (s.min(low), s.max(high)));
        Self::new(low, high)
    }

    /// Where `score` is between them; 0 where all are the same.
    #[inline]
    pub(crate) fn place(self, score: f64) -> f64 {
        ((score - self.low) * self.inverse).clamp(0.0, 1.0)
    }
}

/// The lowest and the highest score so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    low: f32,
    high: f32,
}

impl Extent {
    pub(super) fn empty() -> Self {
        Self {
            low: f32::MAX,
            high: f32::MIN,
        }
    }

    /// Many at a time: there is one for every unit.
    pub(super) fn include(&mut self, scores: &[f32]) {
        /// Compared beside each other.
        const LANES: usize = 16;
        // Comparisons, not `f32::min`, which asks each number whether it is one.
        let lower = |a: f32, b: f32| if b < a { b } else { a };
        let higher = |a: f32, b: f32| if b > a { b } else { a };
        let (mut low, mut high) = ([self.low; LANES], [self.high; LANES]);
        let (chunks, rest) = scores.as_chunks::<LANES>();
        for chunk in chunks {
            for lane in 0..LANES {
                low[lane] = lower(low[lane], chunk[lane]);
                high[lane] = higher(high[lane], chunk[lane]);
            }
        }
        self.low = low.iter().chain(rest).copied().fold(self.low, lower);
        self.high = high.iter().chain(rest).copied().fold(self.high, higher);
    }

    pub(super) fn range(self) -> Range {
        Range::new(f64::from(self.low), f64::from(self.high))
    }
}
