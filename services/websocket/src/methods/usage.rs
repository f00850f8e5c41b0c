//! `usage.*`: tokens and what they cost, as the transcripts have them.

use crate::refused::refused;
use std::collections::BTreeMap;

use jiff::{Timestamp, ToSpan as _, civil::Date, tz::TimeZone};
use openclaw_conversations::sessions::Answered;
use openclaw_protocol::Failure;
use openclaw_sessions::now_ms;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, Call};

methods! { "usage.cost" => READ, cost; }

/// Days when the client does not say how many.
const DEFAULT_DAYS: i64 = 30;

/// The most it may ask for: a year.
const DAYS_LIMIT: i64 = 366;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cost {
    days: Option<i64>,
}

/// `usage.cost`: tokens and US dollars by day (UTC). What was answered by a
/// model whose price is not configured is counted in `missingCostEntries`.
async fn cost(mut call: Call) -> Result<Answer, Failure> {
    let params: Cost = call.params()?;
    let days = params.days.unwrap_or(DEFAULT_DAYS).clamp(1, DAYS_LIMIT);
    let today = day_of(now_ms());
    let first = today.saturating_sub((days - 1).days());
    let answered = call
        .context
        .core
        .sessions
        .answered(begin_of(first))
        .await
        .map_err(refused)?;
    let mut by_day: BTreeMap<Date, Sum> = BTreeMap::new();
    for answer in &answered {
        by_day.entry(day_of(answer.at_ms)).or_default().add(answer);
    }
    let mut total = Sum::default();
    let daily: Vec<Value> = first
        .series(1.day())
        .take_while(|day| *day <= today)
        .map(|day| {
            let sum = by_day.get(&day).copied().unwrap_or_default();
            total.add_sum(&sum);
            let mut value = sum.to_json();
            value["date"] = json!(day.to_string());
            value
        })
        .collect();
    Ok(json!({
        "updatedAt": now_ms(),
        "days": days,
        "daily": daily,
        "totals": total.to_json(),
    })
    .into())
}

/// Tokens and dollars.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    /// In the order of [`KINDS`].
    tokens: [u64; 4],
    dollars: [f64; 4],
    /// Answers whose price is not known.
    unpriced: u64,
}

/// The kinds of tokens.
const KINDS: [&str; 4] = ["input", "output", "cacheRead", "cacheWrite"];

impl Sum {
    fn add(&mut self, answer: &Answered) {
        let (usage, cost) = (&answer.usage, answer.cost.unwrap_or_default());
        self.add_sum(&Self {
            tokens: [
                usage.input,
                usage.output,
                usage.cache_read,
                usage.cache_write,
            ],
            dollars: [cost.input, cost.output, cost.cache_read, cost.cache_write],
            unpriced: u64::from(answer.cost.is_none()),
        });
    }

    fn add_sum(&mut self, other: &Self) {
        for (sum, more) in self.tokens.iter_mut().zip(other.tokens) {
            *sum = sum.saturating_add(more);
        }
        for (sum, more) in self.dollars.iter_mut().zip(other.dollars) {
            *sum += more;
        }
        self.unpriced += other.unpriced;
    }

    fn to_json(self) -> Value {
        let total = self
            .tokens
            .iter()
            .fold(0u64, |sum, it| sum.saturating_add(*it));
        let mut value = json!({
            "totalTokens": total,
            "totalCost": self.dollars.iter().sum::<f64>(),
            "missingCostEntries": self.unpriced,
        });
        for (at, kind) in KINDS.into_iter().enumerate() {
            value[kind] = json!(self.tokens[at]);
            value[format!("{kind}Cost")] = json!(self.dollars[at]);
        }
        value
    }
}

fn begin_of(day: Date) -> i64 {
    let begin = day.to_zoned(TimeZone::UTC);
    begin.map_or(0, |begin| begin.timestamp().as_millisecond())
}

fn day_of(at_ms: i64) -> Date {
    let at = Timestamp::from_millisecond(at_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    at.to_zoned(TimeZone::UTC).date()
}
