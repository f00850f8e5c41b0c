//! What of a turn is logged at level info: who reads a day's log is told what
//! every turn did in a few lines, however much it did.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use openclaw_proto::event::{Kind, ToolResult};
use openclaw_words as words;
use tokio::time::Instant;

use crate::message_id;

/// Lines for calls and questions. With those of the gateway, of memory and of
/// the agent-runner, and one for the calls that have none, a turn has twelve.
const LINES: usize = 4;
/// Characters of what a tool was asked or answered, where the log may have it.
const SHOWN: usize = 500;
/// Tools that are named in the last line.
const NAMED: usize = 20;

/// The events of a turn that are logged, and those still to be.
#[derive(Debug)]
pub(crate) struct TurnLog {
    left: AtomicUsize,
    /// Whether the log may say what tools were asked and answered.
    has_content: bool,
    calls: Mutex<Calls>,
}

#[derive(Debug, Default)]
struct Calls {
    /// Calls without a result, by id.
    open: HashMap<String, Open>,
    /// Calls without a line, by tool.
    untold: BTreeMap<String, Untold>,
}

#[derive(Debug)]
struct Open {
    tool: String,
    arguments: String,
    since: Instant,
}

#[derive(Debug, Default)]
struct Untold {
    calls: u64,
    failed: u64,
    took: Duration,
}

impl TurnLog {
    pub(crate) fn new(has_content: bool) -> Self {
        Self {
            left: AtomicUsize::new(LINES),
            has_content,
            calls: Mutex::default(),
        }
    }

    /// Whether there is a line left, which is taken.
    pub(crate) fn takes_line(&self) -> bool {
        let taken = |left: usize| left.checked_sub(1);
        let order = Ordering::Relaxed;
        self.left.fetch_update(order, order, taken).is_ok()
    }

    /// Tells of calls of tools and of what came of them.
    pub(crate) fn observe(&self, kind: &Kind) {
        match kind {
            Kind::ToolCall {
                id,
                name,
                arguments,
            } => {
                tracing::debug!(
                    openclaw_tool = %name,
                    message_id = message_id::TOOL_CALLED,
                    "the agent called a tool"
                );
                let open = Open {
                    tool: name.clone(),
                    arguments: self.shown(|| arguments.to_string()),
                    since: Instant::now(),
                };
                self.calls().open.insert(id.clone(), open);
            }
            Kind::ToolResult(result) => {
                let open = self.calls().open.remove(&result.call_id);
                if let Some(open) = open {
                    self.tell(&open, result);
                }
            }
            _ => {}
        }
    }

    fn tell(&self, open: &Open, result: &ToolResult) {
        let took = open.since.elapsed();
        if !self.takes_line() {
            let mut calls = self.calls();
            let untold = calls.untold.entry(open.tool.clone()).or_default();
            untold.calls += 1;
            untold.failed += u64::from(!result.success);
            untold.took += took;
            return;
        }
        let outcome = match &result.error {
            None => format!("done in {}", words::elapsed(took)),
            Some(failure) => {
                let kind = openclaw_escape::line(&failure.kind);
                format!("failed ({kind}) after {}", words::elapsed(took))
            }
        };
        let tool = openclaw_escape::line(&open.tool);
        let size = words::bytes(result.output.len() as u64);
        let answer = self.shown(|| result.output.clone());
        tracing::info!(
            openclaw_tool = %open.tool,
            message_id = message_id::TOOL_ENDED,
            took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            "tool {tool}{}: {outcome}, {size}{answer}",
            open.arguments
        );
    }

    /// Tells of the calls that had no line.
    pub(crate) fn close(&self) {
        let calls = std::mem::take(&mut *self.calls());
        let more: u64 = calls.untold.values().map(|untold| untold.calls).sum();
        if more == 0 && calls.open.is_empty() {
            return;
        }
        let mut text = words::count(more, "more call");
        for (at, (tool, untold)) in calls.untold.iter().take(NAMED).enumerate() {
            let before = if at == 0 { ": " } else { ", " };
            let tool = openclaw_escape::line(tool);
            let took = words::elapsed(untold.took);
            let _ = write!(text, "{before}{tool} {} times in {took}", untold.calls);
            if untold.failed > 0 {
                let _ = write!(text, " ({} failed)", untold.failed);
            }
        }
        if !calls.open.is_empty() {
            let mut tools: Vec<&str> = calls.open.values().map(|it| it.tool.as_str()).collect();
            tools.sort_unstable();
            tools.truncate(NAMED);
            let tools = openclaw_escape::line(&tools.join(", "));
            let _ = write!(text, "; without an answer: {tools}");
        }
        tracing::info!(message_id = message_id::TOOLS_ENDED, "{text}");
    }

    /// A text as it is logged: nothing, unless the log may have it.
    fn shown(&self, text: impl FnOnce() -> String) -> String {
        if self.has_content {
            format!(" {}", openclaw_escape::line_within(&text(), SHOWN))
        } else {
            String::new()
        }
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str) -> Kind {
        Kind::ToolCall {
            id: id.to_owned(),
            name: "read".to_owned(),
            arguments: json!({"path": "a secret"}),
        }
    }

    fn result(id: &str) -> Kind {
        Kind::ToolResult(ToolResult {
            call_id: id.to_owned(),
            success: true,
            output: "x".to_owned(),
            error: None,
        })
    }

    #[test]
    fn turn_log_each_call_is_told_once_and_the_rest_together() {
        let log = TurnLog::new(false);
        for at in 0..LINES + 3 {
            log.observe(&call(&at.to_string()));
            log.observe(&result(&at.to_string()));
            // Said twice, it is one call.
            log.observe(&result(&at.to_string()));
        }
        assert!(!log.takes_line());
        assert_eq!(log.calls().untold["read"].calls, 3);
        log.observe(&call("open"));
        log.close();
        assert!(log.calls().open.is_empty() && log.calls().untold.is_empty());
    }

    #[test]
    fn text_is_kept_where_the_log_may_have_it() {
        let arguments = |has_content| {
            let log = TurnLog::new(has_content);
            log.observe(&call("1"));
            let calls = log.calls();
            calls.open["1"].arguments.clone()
        };
        assert_eq!(arguments(false), "");
        assert!(arguments(true).contains("a secret"));
    }
}
