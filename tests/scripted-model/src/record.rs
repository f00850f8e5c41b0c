//! What the server was asked.

use std::collections::VecDeque;
use std::time::SystemTime;

use bytes::Bytes;
use serde_json::{Value, json};
use tokio::sync::watch;

/// Requests kept. An agent CLI sends some 80 kB each, so this bounds the memory at a few hundred megabytes.
const MAX_RECORDED: usize = 4096;

/// One request as it arrived.
#[derive(Debug, Clone)]
pub struct Recorded {
    /// Position in the order of arrival, from 0.
    pub serial: u64,
    /// HTTP method.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// Headers in order, names in lower case.
    pub headers: Vec<(String, String)>,
    /// Body as sent.
    pub body: Bytes,
    /// Bytes of the body.
    pub size: usize,
    /// Time of arrival.
    pub arrived: SystemTime,
    /// Whether it asked for an answer of the model, as opposed to probes, counting and an agent CLI's housekeeping.
    pub turn: bool,
    /// How its answer went.
    pub outcome: Outcome,
}

/// How an answer went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Still being sent, or held.
    Open,
    /// Sent to the end, or broken as the scenario says.
    Sent,
    /// The client left before the end.
    Abandoned,
}

impl Recorded {
    /// The first header of this name (lower case).
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(header, _)| header == name)
            .map(|(_, value)| value.as_str())
    }

    /// The body as JSON; null when it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    pub(crate) fn describe(&self) -> Value {
        let arrived = self
            .arrived
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        json!({
            "serial": self.serial,
            "method": self.method,
            "path": self.path,
            "headers": self.headers,
            "body": self.json(),
            "size": self.size,
            "arrived_ms": u64::try_from(arrived.as_millis()).unwrap_or(u64::MAX),
            "turn": self.turn,
            "outcome": format!("{:?}", self.outcome).to_lowercase(),
        })
    }
}

/// All requests of one server, watched by whoever waits for one.
#[derive(Debug)]
pub(crate) struct Log {
    entries: watch::Sender<Entries>,
}

#[derive(Debug, Default)]
pub(crate) struct Entries {
    next: u64,
    kept: VecDeque<Recorded>,
}

impl Entries {
    pub(crate) fn turns(&self) -> impl Iterator<Item = &Recorded> {
        self.kept.iter().filter(|entry| entry.turn)
    }
}

impl Log {
    pub(crate) fn new() -> Self {
        Self {
            entries: watch::Sender::new(Entries::default()),
        }
    }

    /// Adds a request and returns its serial number.
    pub(crate) fn add(&self, mut entry: Recorded) -> u64 {
        let mut serial = 0;
        self.entries.send_modify(|entries| {
            serial = entries.next;
            entry.serial = serial;
            entries.next += 1;
            entries.kept.push_back(entry);
            if entries.kept.len() > MAX_RECORDED {
                entries.kept.pop_front();
            }
        });
        serial
    }

    pub(crate) fn settle(&self, serial: u64, outcome: Outcome) {
        self.entries.send_modify(|entries| {
            if let Some(entry) = entries.kept.iter_mut().find(|entry| entry.serial == serial) {
                entry.outcome = outcome;
            }
        });
    }

    pub(crate) fn clear(&self) {
        self.entries.send_modify(|entries| entries.kept.clear());
    }

    pub(crate) fn all(&self) -> Vec<Recorded> {
        self.entries.borrow().kept.iter().cloned().collect()
    }

    pub(crate) fn turns(&self) -> Vec<Recorded> {
        self.entries.borrow().turns().cloned().collect()
    }

    /// Returns when `condition` holds; it is looked at again whenever a request arrives or an answer settles.
    pub(crate) async fn wait(&self, condition: impl FnMut(&Entries) -> bool) {
        // The sender lives in self, so the channel cannot close while this waits.
        let _ = self.entries.subscribe().wait_for(condition).await;
    }
}
