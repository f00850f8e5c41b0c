//! `usage.*`: tokens, as the transcripts have them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use jiff::{Timestamp, ToSpan as _, civil::Date, tz::TimeZone};
use openclaw_proto::sessions::{Archived, Query};
use openclaw_protocol::Failure;
use openclaw_sessions::now_ms;
use openclaw_sessions::transcript::{self, Line, Message, Usage};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Answer, Call};

/// Days when the client does not say how many.
const DEFAULT_DAYS: i64 = 30;

/// The most it may ask for: a year.
const DAYS_LIMIT: i64 = 366;

/// `usage.status`: limits that providers tell of; none does here.
pub(super) async fn status(_call: Call) -> Result<Answer, Failure> {
    Ok(json!({ "updatedAt": now_ms(), "providers": [] }).into())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cost {
    days: Option<i64>,
}

/// `usage.cost`: tokens by day (UTC). Prices are not known, so every reply
/// counts as one without a cost.
pub(super) async fn cost(mut call: Call) -> Result<Answer, Failure> {
    let params: Cost = call.params()?;
    let days = params.days.unwrap_or(DEFAULT_DAYS).clamp(1, DAYS_LIMIT);
    let today = day_of(now_ms());
    let first = today.saturating_sub((days - 1).days());
    let query = Query {
        archived: Archived::Also,
        ..Query::default()
    };
    let page = call.gateway.sessions.list(query).await?;
    let paths = page
        .sessions
        .into_iter()
        .filter(|session| day_of(session.updated_at_ms) >= first)
        .map(|session| PathBuf::from(session.transcript_path));
    let replies = replies(paths.collect()).await?;
    let mut by_day: BTreeMap<Date, Sum> = BTreeMap::new();
    for (at_ms, usage) in replies {
        let day = day_of(at_ms);
        if (first..=today).contains(&day) {
            by_day.entry(day).or_default().add(&usage);
        }
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

/// Tokens.
#[derive(Debug, Clone, Copy, Default)]
struct Sum {
    input: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    replies: u64,
}

impl Sum {
    fn add(&mut self, usage: &Usage) {
        self.add_sum(&Self {
            input: usage.input,
            output: usage.output,
            cache_read: usage.cache_read,
            cache_write: usage.cache_write,
            replies: 1,
        });
    }

    fn add_sum(&mut self, other: &Self) {
        self.input = self.input.saturating_add(other.input);
        self.output = self.output.saturating_add(other.output);
        self.cache_read = self.cache_read.saturating_add(other.cache_read);
        self.cache_write = self.cache_write.saturating_add(other.cache_write);
        self.replies += other.replies;
    }

    fn to_json(self) -> Value {
        let parts = [self.input, self.output, self.cache_read, self.cache_write];
        json!({
            "input": self.input,
            "output": self.output,
            "cacheRead": self.cache_read,
            "cacheWrite": self.cache_write,
            "totalTokens": parts.iter().fold(0u64, |sum, part| sum.saturating_add(*part)),
            "totalCost": 0,
            "inputCost": 0,
            "outputCost": 0,
            "cacheReadCost": 0,
            "cacheWriteCost": 0,
            "missingCostEntries": self.replies,
        })
    }
}

/// When something was said and what it cost. A transcript that cannot be read
/// is left out.
async fn replies(paths: Vec<PathBuf>) -> Result<Vec<(i64, Usage)>, Failure> {
    let read = move || {
        let readings = paths.iter().filter_map(|path| transcript::read(path).ok());
        readings
            .flat_map(|reading| reading.lines)
            .filter_map(|line| match line {
                Line::Message(entry) => match entry.message {
                    Message::Assistant(reply) => Some((reply.timestamp, reply.usage)),
                    _ => None,
                },
                _ => None,
            })
            .collect()
    };
    tokio::task::spawn_blocking(read)
        .await
        .map_err(|_| Failure::unavailable("the reading thread ended"))
}

fn day_of(at_ms: i64) -> Date {
    let at = Timestamp::from_millisecond(at_ms).unwrap_or(Timestamp::UNIX_EPOCH);
    at.to_zoned(TimeZone::UTC).date()
}
