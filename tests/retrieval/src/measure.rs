//! Measures of retrieval, with intervals.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use crate::set::{Outcome, by_category};

/// Resamples of the bootstrap.
const RESAMPLES: usize = 1000;
/// The bootstrap's random numbers begin here, so that the same outcomes have the
/// same intervals.
const SEED: u64 = 0x2545_F491_4F6C_DD1D;

/// A mean with its 95 % bootstrap interval, in percent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Interval {
    /// The mean.
    pub(crate) mean: f64,
    /// The 2.5th percentile of the means of resamples.
    pub(crate) low: f64,
    /// The 97.5th.
    pub(crate) high: f64,
}

/// How well questions were answered.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Scores {
    /// How many.
    pub(crate) questions: usize,
    /// Of what answers, the share among the first five hits.
    pub(crate) recall_at_5: Interval,
    /// Among the first ten.
    pub(crate) recall_at_10: Interval,
    /// Normalised discounted cumulative gain of the first ten hits.
    pub(crate) ndcg_at_10: Interval,
    /// One over the rank of the first hit that answers, if among ten.
    pub(crate) mrr_at_10: Interval,
}

/// Everything that is told of an evaluation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Report {
    /// Of all questions.
    pub(crate) all: Scores,
    /// By category, where the set has some.
    pub(crate) categories: BTreeMap<String, Scores>,
    /// Half of the searches took no longer, in milliseconds.
    pub(crate) p50_ms: f64,
    /// 99 of 100 took no longer.
    pub(crate) p99_ms: f64,
}

impl Report {
    /// The report on `outcomes`.
    pub(crate) fn new(outcomes: &[Outcome]) -> Self {
        let groups = by_category(outcomes);
        let named = groups.into_iter().filter(|(name, _)| !name.is_empty());
        let mut latencies: Vec<Duration> = outcomes.iter().map(|o| o.latency).collect();
        latencies.sort_unstable();
        Self {
            all: Scores::new(&outcomes.iter().collect::<Vec<_>>()),
            categories: named
                .map(|(name, group)| (name, Scores::new(&group)))
                .collect(),
            p50_ms: percentile(&latencies, 0.5),
            p99_ms: percentile(&latencies, 0.99),
        }
    }
}

impl Scores {
    fn new(outcomes: &[&Outcome]) -> Self {
        let of = |measure: fn(&Outcome) -> f64| {
            let values: Vec<f64> = outcomes
                .iter()
                .map(|outcome| 100.0 * measure(outcome))
                .collect();
            interval(&values)
        };
        Self {
            questions: outcomes.len(),
            recall_at_5: of(|outcome| recall(outcome, 5)),
            recall_at_10: of(|outcome| recall(outcome, 10)),
            ndcg_at_10: of(|outcome| ndcg(outcome, 10)),
            mrr_at_10: of(|outcome| reciprocal_rank(outcome, 10)),
        }
    }
}

fn recall(outcome: &Outcome, depth: usize) -> f64 {
    let found = outcome.hits.iter().take(depth).filter(|hit| **hit).count();
    found as f64 / outcome.relevant.max(1) as f64
}

fn ndcg(outcome: &Outcome, depth: usize) -> f64 {
    let gain = |rank: usize| 1.0 / (rank as f64 + 2.0).log2();
    let ranks = outcome.hits.iter().take(depth).enumerate();
    let found: f64 = ranks
        .filter(|(_, hit)| **hit)
        .map(|(rank, _)| gain(rank))
        .sum();
    let best: f64 = (0..depth.min(outcome.relevant)).map(gain).sum();
    if best > 0.0 { found / best } else { 0.0 }
}

fn reciprocal_rank(outcome: &Outcome, depth: usize) -> f64 {
    let first = outcome.hits.iter().take(depth).position(|hit| *hit);
    first.map_or(0.0, |rank| 1.0 / (rank + 1) as f64)
}

fn interval(values: &[f64]) -> Interval {
    let count = values.len().max(1);
    let mean = values.iter().sum::<f64>() / count as f64;
    let mut state = SEED;
    let mut means: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let drawn = (0..values.len()).map(|_| values[random(&mut state) % values.len()]);
            drawn.sum::<f64>() / count as f64
        })
        .collect();
    means.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| means[((means.len() - 1) as f64 * share).round() as usize];
    Interval {
        mean,
        low: at(0.025),
        high: at(0.975),
    }
}

/// xorshift64* (Marsaglia, 2003): the bootstrap needs no better.
fn random(state: &mut u64) -> usize {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    (state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize
}

/// In milliseconds; 0 when there are none.
fn percentile(sorted: &[Duration], share: f64) -> f64 {
    let index = ((sorted.len().saturating_sub(1)) as f64 * share).ceil() as usize;
    sorted
        .get(index)
        .map_or(0.0, |latency| latency.as_secs_f64() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(hits: &[bool], relevant: usize) -> Outcome {
        Outcome {
            category: String::new(),
            hits: hits.to_vec(),
            relevant,
            latency: Duration::from_millis(3),
        }
    }

    #[test]
    fn measures_are_those_of_the_textbook() {
        let two = outcome(&[false, true, false, true], 2);
        assert_eq!(recall(&two, 3), 0.5);
        assert_eq!(recall(&two, 10), 1.0);
        assert_eq!(reciprocal_rank(&two, 10), 0.5);
        let gain = 1.0 / 3f64.log2() + 1.0 / 5f64.log2();
        let best = 1.0 + 1.0 / 3f64.log2();
        assert!((ndcg(&two, 10) - gain / best).abs() < 1e-12);
        assert_eq!(ndcg(&outcome(&[], 1), 10), 0.0);
        assert_eq!(ndcg(&outcome(&[true], 1), 10), 1.0);
    }

    #[test]
    fn intervals_are_around_the_mean_and_repeat() {
        let values: Vec<f64> = (0..200).map(f64::from).collect();
        let found = interval(&values);
        assert_eq!(found.mean, 99.5);
        assert!(found.low > 88.0 && found.low < 95.0, "{found:?}");
        assert!(found.high > 104.0 && found.high < 111.0, "{found:?}");
        assert_eq!(found, interval(&values));
        assert_eq!(interval(&[]).mean, 0.0);
    }

    #[test]
    fn report_has_all_and_each_category() {
        let mut outcomes = vec![outcome(&[true], 1), outcome(&[false], 1)];
        outcomes[1].category = "hard".to_owned();
        let report = Report::new(&outcomes);
        assert_eq!(report.all.recall_at_10.mean, 50.0);
        assert_eq!(report.categories["hard"].recall_at_10.mean, 0.0);
        assert_eq!(report.categories.len(), 1);
        assert_eq!(report.p99_ms, 3.0);
    }
}
