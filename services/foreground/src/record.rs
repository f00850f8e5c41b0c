//! A daemon's log record, as a line for people.

use std::backtrace::Backtrace;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use openclaw_terminal::output;
use serde_json::{Map, Value};

/// `HH:MM:SS level daemon: message key=value …` in the time of `zone`. A line
/// that is no record is a message of the level that panics and libraries
/// deserve.
pub(crate) fn pretty(line: &str, daemon: &str, now: Timestamp, zone: &TimeZone) -> String {
    let Some(record) = parse(line) else {
        return plain("error", daemon, line, now, zone);
    };
    let text = |key: &str| record.get(key).and_then(Value::as_str);
    let at = text("timestamp")
        .and_then(|timestamp| timestamp.parse().ok())
        .unwrap_or(now);
    let mut message = text("message").unwrap_or(line).to_owned();
    if let Some(Value::Object(context)) = record.get("context") {
        message.push_str(&fields(context));
    }
    plain(text("level").unwrap_or("info"), daemon, &message, at, zone)
}

/// The same of a record as it goes to a program, which has its daemon's name in it.
pub(crate) fn pretty_raw(line: &str, now: Timestamp, zone: &TimeZone) -> Option<String> {
    let record = parse(line)?;
    let daemon = record.get("context")?.get("daemon").and_then(Value::as_str);
    Some(pretty(line, daemon.unwrap_or("openclawctl"), now, zone))
}

/// A line of the same form.
pub(crate) fn plain(
    level: &str,
    daemon: &str,
    message: &str,
    at: Timestamp,
    zone: &TimeZone,
) -> String {
    let time = at.to_zoned(zone.clone()).strftime("%H:%M:%S").to_string();
    let message = output::line(message);
    format!("{time} {level:<5} {daemon}: {message}")
}

/// A line as it goes to a program: a record with the daemon's name, anything else
/// as the message of a record.
pub(crate) fn raw(line: &str, daemon: &str, now: Timestamp) -> String {
    match parse(line) {
        Some(mut record) => {
            if let Some(Value::Object(context)) = record.get_mut("context") {
                context.insert("daemon".to_owned(), daemon.into());
            }
            Value::Object(record).to_string()
        }
        None => json("error", daemon, line, now),
    }
}

/// What failed, where that is all that is known.
const OPERATION: &str = "run the suite";

/// A record in the daemons' format: an error has the operation and a stack
/// trace, as theirs have (seed 002, property 25).
pub(crate) fn json(level: &str, target: &str, message: &str, now: Timestamp) -> String {
    let mut record = serde_json::json!({
        "timestamp": format!("{now:.3}"),
        "level": level,
        "message": message,
        "context": { "target": target },
    });
    if level == "error" {
        record["stackTrace"] = Backtrace::force_capture().to_string().into();
        record["context"]["operation"] = OPERATION.into();
    }
    record.to_string()
}

fn parse(line: &str) -> Option<Map<String, Value>> {
    let record: Map<String, Value> = serde_json::from_str(line).ok()?;
    record.contains_key("message").then_some(record)
}

/// What a program wants to know and a person does not: the daemon's name says
/// the target, and the message what the id says.
const FOR_PROGRAMS: [&str; 3] = ["target", "message_id", "daemon"];

fn fields(context: &Map<String, Value>) -> String {
    context
        .iter()
        .filter(|(key, _)| !FOR_PROGRAMS.contains(&key.as_str()))
        .map(|(key, value)| {
            let key = key.strip_prefix("openclaw_").unwrap_or(key);
            match value {
                Value::String(text) => format!(" {key}={text}"),
                other => format!(" {key}={other}"),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const RECORD: &str = r#"{"timestamp":"2025-03-01T10:20:30.123Z","level":"warn","message":"slow\u001b[2J","stackTrace":"…","context":{"openclaw_run":"r1","turns":2,"message_id":"0a","target":"openclaw_gateway"}}"#;

    fn now() -> Timestamp {
        "2025-03-01T11:00:00Z".parse().unwrap()
    }

    #[test]
    fn record_is_one_line_with_its_fields() {
        assert_eq!(
            pretty(RECORD, "gateway", now(), &TimeZone::UTC),
            "10:20:30 warn  gateway: slow\\x1b[2J run=r1 turns=2"
        );
    }

    #[test]
    fn record_other_lines_are_messages() {
        let line = "thread 'main' panicked";
        assert_eq!(
            pretty(line, "memory", now(), &TimeZone::UTC),
            "11:00:00 error memory: thread 'main' panicked"
        );
        let record: Value = serde_json::from_str(&raw(line, "memory", now())).unwrap();
        assert_eq!(record["message"], line);
        assert_eq!(record["context"]["target"], "memory");
        let record = raw(RECORD, "gateway", now());
        let expected = RECORD.replace("}}", ",\"daemon\":\"gateway\"}}");
        assert_eq!(record, expected);
    }
}
