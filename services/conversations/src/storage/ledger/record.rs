//! A run as the ledger has it.

use openclaw_proto::event::{Kind, Resources};
use openclaw_proto::gateway::{Accepted, Route};
use rusqlite::Row;

use crate::feed::{Bill, MessageRow};

/// The columns of a [`Record`].
pub(super) const COLUMNS: &str = "run_id, idempotency_key, session_key, agent_id, session_id, channel, \
                       state, user_entry_id, created_ms, ended_ms, outcome, route";

/// One run as the ledger has it.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its id.
    pub run_id: String,
    /// The client's name for its message.
    pub idempotency_key: Option<String>,
    /// The key of its session.
    pub session_key: String,
    /// The agent that answers.
    pub agent_id: String,
    /// The transcript that its entries are in.
    pub session_id: String,
    /// The channel of its message.
    pub channel: String,
    /// `accepted`, `running`, `done`, `failed`, `aborted` or `interrupted`.
    pub state: String,
    pub(crate) user_entry_id: String,
    /// When its message was accepted, in Unix milliseconds.
    pub created_ms: i64,
    /// The time of its end, in Unix milliseconds; None: it is open.
    pub ended_ms: Option<i64>,
    /// The terminal event.
    pub outcome: Option<Kind>,
    /// The route of its message on that channel.
    pub route: Option<Route>,
}

impl Record {
    /// The answer to whoever sent its message.
    pub fn accepted(&self) -> Accepted {
        Accepted {
            run_id: self.run_id.clone(),
            session_key: self.session_key.clone(),
            session_id: self.session_id.clone(),
            agent_id: self.agent_id.clone(),
            existing: false,
        }
    }

    pub(super) fn message(&self) -> MessageRow {
        MessageRow {
            entry_id: self.user_entry_id.clone(),
            session_id: self.session_id.clone(),
            channel: self.channel.clone(),
            route: self.route.clone(),
        }
    }
}

/// The cost of a turn.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Spent {
    /// The resources that its processes used.
    pub resources: Resources,
    /// Tokens that the model read.
    pub input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// In US dollars; none when the price is not known.
    pub cost_usd: Option<f64>,
}

impl Spent {
    pub(super) fn bill(&self) -> Bill {
        Bill {
            resources: Some(Resources {
                cost_usd: None,
                server_tool_tokens: None,
                ..self.resources.clone()
            }),
            input_tokens: self.input_tokens,
            output_tokens: self.output_tokens,
            cost_usd: self.cost_usd,
        }
    }
}

/// The run of a row.
pub(super) fn record(row: &Row<'_>) -> rusqlite::Result<Record> {
    let outcome: Option<String> = row.get(10)?;
    let route: Option<String> = row.get(11)?;
    Ok(Record {
        run_id: row.get(0)?,
        idempotency_key: row.get(1)?,
        session_key: row.get(2)?,
        agent_id: row.get(3)?,
        session_id: row.get(4)?,
        channel: row.get(5)?,
        state: row.get(6)?,
        user_entry_id: row.get(7)?,
        created_ms: row.get(8)?,
        ended_ms: row.get(9)?,
        outcome: outcome.and_then(|text| serde_json::from_str(&text).ok()),
        route: route.and_then(|text| serde_json::from_str(&text).ok()),
    })
}

/// The columns after those of the record.
pub(super) fn spent(row: &Row<'_>) -> rusqlite::Result<Option<Spent>> {
    const FIRST: usize = 12;
    let number = |at: usize| {
        let value: i64 = row.get(FIRST + at)?;
        Ok::<_, rusqlite::Error>(u64::try_from(value).unwrap_or_default())
    };
    let Some(unit) = row.get::<_, Option<String>>(FIRST)? else {
        return Ok(None);
    };
    Ok(Some(Spent {
        resources: Resources {
            unit,
            cpu_ms: number(1)?,
            memory_peak_bytes: number(2)?,
            tasks_peak: number(3)?,
            cost_usd: None,
            server_tool_tokens: None,
        },
        input_tokens: number(4)?,
        output_tokens: number(5)?,
        cost_usd: row.get(FIRST + 6)?,
    }))
}
