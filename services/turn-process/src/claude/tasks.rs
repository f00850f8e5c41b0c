//! The CLI's background tasks, which end with its turn.

use std::collections::BTreeMap;

use openclaw_proto::event::Kind;
use serde_json::Value;

use crate::translate::quoted;
use crate::within;

/// Tasks that are told of by name; of more it is told how many.
const NAMED: usize = 3;
/// Tasks that are remembered: a turn has fewer processes.
const KNOWN: usize = 256;

/// The running tasks, by id.
#[derive(Debug, Default)]
pub(super) struct Tasks {
    running: BTreeMap<String, String>,
}

impl Tasks {
    /// Takes note of a line of the kind `system`.
    pub(super) fn note(&mut self, line: &Value) {
        let Some(id) = line["task_id"].as_str().map(within::call_id) else {
            return;
        };
        match line["subtype"].as_str() {
            Some("task_started") if self.running.len() < KNOWN => {
                let what = line["description"].as_str().unwrap_or_default();
                self.running.insert(id, quoted(what));
            }
            Some("task_updated") if is_over(&line["patch"]["status"]) => {
                self.running.remove(&id);
            }
            Some("task_notification") => {
                self.running.remove(&id);
            }
            _ => {}
        }
    }

    /// Tells the user what ends with the answer.
    pub(super) fn ended(&mut self) -> Option<Kind> {
        let running = std::mem::take(&mut self.running);
        let mut named: Vec<String> = running.into_values().collect();
        let more = named.len().saturating_sub(NAMED);
        named.truncate(NAMED);
        if named.is_empty() {
            return None;
        }
        let more = match more {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        Some(Kind::Note {
            text: format!(
                "what still ran in the background was ended with the turn: {}{more}",
                named.join(", ")
            ),
        })
    }
}

fn is_over(status: &Value) -> bool {
    let over = ["completed", "failed", "killed", "stopped"];
    status.as_str().is_some_and(|status| over.contains(&status))
}
