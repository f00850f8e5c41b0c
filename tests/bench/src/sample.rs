//! Measured values and their percentiles.

use std::time::Duration;

/// Values of one kind: milliseconds, where nothing else is said.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sample(Vec<f64>);

impl Sample {
    pub(crate) fn add(&mut self, duration: Duration) {
        self.0.push(milliseconds(duration));
    }

    pub(crate) fn add_value(&mut self, value: f64) {
        self.0.push(value);
    }

    /// The percentile by nearest rank: a value that was measured, never one in between. 0 without values.
    pub(crate) fn percentile(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let rank = (sorted.len() * percent).div_ceil(100);
        sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
    }

    pub(crate) fn p50(&self) -> f64 {
        self.percentile(50)
    }

    /// The first, or the last, `count` values.
    pub(crate) fn ends(&self, count: usize) -> (Self, Self) {
        let count = count.min(self.0.len());
        let last = self.0.len() - count;
        (Self(self.0[..count].into()), Self(self.0[last..].into()))
    }

    /// What each value has more than the one beside it in `other`.
    pub(crate) fn over(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a - b).collect())
    }

    pub(crate) fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl FromIterator<Duration> for Sample {
    fn from_iter<I: IntoIterator<Item = Duration>>(durations: I) -> Self {
        Self(durations.into_iter().map(milliseconds).collect())
    }
}

pub(crate) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: impl IntoIterator<Item = u64>) -> Sample {
        values.into_iter().map(Duration::from_millis).collect()
    }

    #[test]
    fn percentiles_are_measured_values() {
        let sample = of((1..=10).rev());
        assert_eq!(sample.p50(), 5.0);
        assert_eq!(sample.percentile(95), 10.0);
        assert_eq!(of([7]).percentile(1), 7.0);
        assert_eq!(of([]).p50(), 0.0);
    }

    #[test]
    fn differences_are_taken_pair_by_pair() {
        let added = of([10, 100]).over(&of([9, 50]));
        assert_eq!((added.percentile(1), added.percentile(99)), (1.0, 50.0));
    }

    #[test]
    fn ends_overlap_where_there_are_too_few() {
        let (first, last) = of([1, 2, 3]).ends(2);
        assert_eq!((first.p50(), last.p50()), (1.0, 2.0));
        assert_eq!(of([1]).ends(5).1.len(), 1);
    }
}
