//! One record, wherever it was kept.

use jiff::Timestamp;
use openclaw_settings::LogLevel;
use openclaw_terminal::Failure;
use serde_json::{Map, Value, json};

/// What is done with a record.
pub(crate) type Take<'a> = dyn FnMut(Record) -> Result<(), Failure> + 'a;

/// A record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Record {
    pub(crate) at: Timestamp,
    pub(crate) level: LogLevel,
    /// Which part of the suite says it: gateway, memory, turn, ...
    pub(crate) part: String,
    pub(crate) message: String,
    /// By the names that the daemons give them.
    pub(crate) fields: Map<String, Value>,
    pub(crate) stack_trace: Option<String>,
}

/// Fields of the journal that say what a record has said elsewhere, or what only
/// the journal wants to know.
const OF_JOURNAL: [&str; 9] = [
    "MESSAGE",
    "PRIORITY",
    "TARGET",
    "STACK_TRACE",
    "USER_UNIT",
    "INVOCATION_ID",
    "USER_INVOCATION_ID",
    "JOB_ID",
    "TID",
];

/// Which part of the suite a crate belongs to.
const PARTS: [(&str, &str); 9] = [
    ("openclaw_turn_process", "turn"),
    ("openclaw_mcp_servers", "servers"),
    ("openclaw_agent_runner", "agent-runner"),
    ("openclaw_backends", "agent-runner"),
    ("openclaw_handoff", "agent-runner"),
    ("openclaw_model_api", "agent-runner"),
    ("openclaw_memory", "memory"),
    ("openclaw_retrieval", "memory"),
    ("openclaw_telegram", "telegram"),
];

impl Record {
    /// One of the journal, as `journalctl --output=json` prints it.
    pub(crate) fn of_journal(line: &str) -> Option<Self> {
        let object: Map<String, Value> = serde_json::from_str(line).ok()?;
        let text = |name: &str| object.get(name).and_then(words);
        let micros = text("_SOURCE_REALTIME_TIMESTAMP").or_else(|| text("__REALTIME_TIMESTAMP"))?;
        let priority: u8 = text("PRIORITY").and_then(|it| it.parse().ok()).unwrap_or(6);
        let identifier = text("SYSLOG_IDENTIFIER").unwrap_or_default();
        let is_ours = identifier.starts_with("openclaw");
        let mut fields = Map::new();
        for (name, value) in &object {
            let is_noise = name.starts_with('_')
                || ["SYSLOG_", "CODE_", "SPAN_", "CPU_USAGE"]
                    .iter()
                    .any(|it| name.starts_with(it))
                || OF_JOURNAL.contains(&name.as_str());
            if !is_noise && let Some(value) = words(value) {
                fields.insert(name.to_lowercase(), value.into());
            }
        }
        if let Some(target) = text("TARGET") {
            fields.insert("target".to_owned(), target.into());
        }
        Some(Self {
            at: Timestamp::from_microsecond(micros.parse().ok()?).ok()?,
            level: level_of_priority(priority, is_ours),
            part: identifier
                .strip_prefix("openclaw-")
                .unwrap_or(&identifier)
                .to_owned(),
            message: text("MESSAGE").unwrap_or_default(),
            stack_trace: text("STACK_TRACE"),
            fields,
        })
    }

    /// A line of a daemon's or of `openclawctl run`.
    pub(crate) fn of_line(line: &str) -> Option<Self> {
        let mut object: Map<String, Value> = serde_json::from_str(line).ok()?;
        let fields = match object.remove("context") {
            Some(Value::Object(fields)) => fields,
            _ => Map::new(),
        };
        let text = |name: &str| object.get(name).and_then(words);
        Some(Self {
            at: text("timestamp")?.parse().ok()?,
            level: level_named(&text("level")?),
            part: part(&fields),
            message: text("message")?,
            stack_trace: text("stackTrace"),
            fields,
        })
    }

    /// A field's value.
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.get(name)?.as_str().filter(|it| !it.is_empty())
    }

    /// In the daemons' own form.
    pub(crate) fn to_json(&self) -> String {
        let mut context = self.fields.clone();
        context.insert("daemon".to_owned(), self.part.clone().into());
        let mut record = json!({
            "timestamp": format!("{:.3}", self.at),
            "level": self.level.name(),
            "message": self.message,
        });
        if let Some(stack_trace) = &self.stack_trace {
            record["stackTrace"] = stack_trace.clone().into();
        }
        record["context"] = context.into();
        record.to_string()
    }
}

/// Of what a field says once or several times, in letters or in bytes.
fn words(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is) => Some(is.to_string()),
        Value::Array(values) if values.iter().all(Value::is_u64) && !values.is_empty() => {
            let bytes = values.iter().filter_map(Value::as_u64);
            let bytes: Vec<u8> = bytes.filter_map(|byte| u8::try_from(byte).ok()).collect();
            Some(String::from_utf8_lossy(&bytes).into_owned())
        }
        // The innermost of several spans.
        Value::Array(values) => values.last().and_then(words),
        _ => None,
    }
}

/// As tracing-journald gives priorities to our levels; systemd has others.
fn level_of_priority(priority: u8, is_ours: bool) -> LogLevel {
    match priority {
        0..=3 => LogLevel::Error,
        4 => LogLevel::Warn,
        6.. if is_ours => LogLevel::Debug,
        _ => LogLevel::Info,
    }
}

fn level_named(name: &str) -> LogLevel {
    match name {
        "error" => LogLevel::Error,
        "warn" => LogLevel::Warn,
        "debug" | "trace" => LogLevel::Debug,
        _ => LogLevel::Info,
    }
}

fn part(fields: &Map<String, Value>) -> String {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let target = text("target").unwrap_or_default();
    let of_crate = PARTS
        .iter()
        .find(|(name, _)| target.split("::").next() == Some(name));
    match (of_crate, text("daemon")) {
        (Some((_, part)), _) => (*part).to_owned(),
        (None, Some(daemon)) => daemon.to_owned(),
        (None, None) if target.starts_with("openclaw_") => "gateway".to_owned(),
        (None, None) => target.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn record_is_the_same_from_the_journal_and_from_a_file() {
        let journal = r#"{"__REALTIME_TIMESTAMP":"1700000000123000","_PID":"7","PRIORITY":"4",
            "SYSLOG_IDENTIFIER":"openclaw-turn","MESSAGE":[115,108,111,119],"TARGET":"openclaw_turn_process",
            "OPENCLAW_RUN":["r0","r1"],"CODE_LINE":"3","SPAN_NAME":"turn","INVOCATION_ID":"x"}"#;
        let line = r#"{"timestamp":"2023-11-14T22:13:20.123Z","level":"warn","message":"slow",
            "context":{"openclaw_run":"r1","target":"openclaw_turn_process"}}"#;
        let (journal, line) = (Record::of_journal(journal), Record::of_line(line));
        assert_eq!(journal, line);
        let record = line.unwrap();
        assert_eq!(
            (record.part.as_str(), record.field("openclaw_run")),
            ("turn", Some("r1"))
        );
        assert_eq!(Record::of_line(&record.to_json()).unwrap().message, "slow");
        assert_eq!(Record::of_line("no record"), None);
        assert_eq!(Record::of_journal("{}"), None);
    }

    #[test]
    fn level_of_systemd_is_news_and_of_ours_a_detail() {
        assert_eq!(level_of_priority(6, false), LogLevel::Info);
        assert_eq!(level_of_priority(6, true), LogLevel::Debug);
        assert_eq!(level_of_priority(5, true), LogLevel::Info);
    }
}
