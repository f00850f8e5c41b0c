//! A job as people read it.

use openclaw_proto::schedule::Job;
use openclaw_terminal::output;
use serde_json::Value;

use crate::when;

/// Characters of an id that tell jobs apart.
const SHORT: usize = 8;

/// The beginning of an id, as lists have it.
pub(crate) fn short(id: &str) -> String {
    id.chars().take(SHORT).collect()
}

/// Which agent made it, if one did; the gateway makes heartbeats.
pub(crate) fn maker(job: &Job) -> String {
    let maker = job
        .fields
        .pointer("/madeBy/agentId")
        .and_then(Value::as_str);
    match (maker, job.fields["payload"]["kind"].as_str()) {
        (Some(agent), _) => format!("agent {agent}"),
        (None, Some("heartbeat")) => "configuration".to_owned(),
        (None, _) => "you".to_owned(),
    }
}

/// When it runs, in words.
pub(crate) fn schedule(job: &Job) -> String {
    let schedule = &job.fields["schedule"];
    let word = |name: &str| schedule[name].as_str().unwrap_or_default();
    match word("kind") {
        "every" => {
            let every = schedule["everyMs"].as_i64().unwrap_or_default();
            format!("every {}", when::in_words(every))
        }
        "cron" => format!("cron {} {}", word("expr"), word("tz"))
            .trim_end()
            .to_owned(),
        _ => "once".to_owned(),
    }
}

/// When it is due next, in words.
pub(crate) fn next(job: &Job) -> String {
    match (job.is_running, job.is_enabled, job.next_ms) {
        (true, _, _) => "running".to_owned(),
        (_, false, _) => "off".to_owned(),
        (_, true, Some(next)) => when::local(next),
        (_, true, None) => "-".to_owned(),
    }
}

/// How the last run went.
pub(crate) fn last(job: &Job) -> String {
    let state = &job.fields["state"];
    match (
        state["lastRunStatus"].as_str(),
        state["lastRunAtMs"].as_i64(),
    ) {
        (Some(status), Some(at)) => format!("{status}, {}", when::local(at)),
        _ => "-".to_owned(),
    }
}

/// All of it.
pub(crate) fn rows(job: &Job) -> Vec<Vec<String>> {
    let fields = &job.fields;
    let mut rows = vec![
        row("id", &job.id),
        row("name", &job.name),
        row("when", &schedule(job)),
        row("next", &next(job)),
        row("last", &last(job)),
    ];
    for (name, pointer) in [
        ("text", "/payload/message"),
        ("text", "/payload/text"),
        ("model", "/payload/model"),
        ("thinking", "/payload/thinking"),
        ("time-out (s)", "/payload/timeoutSeconds"),
        ("session", "/sessionTarget"),
        ("agent", "/agentId"),
        ("delivery", "/delivery/mode"),
        ("to", "/delivery/to"),
        ("catch up", "/catchUp"),
        ("made by", "/madeBy/agentId"),
        ("in", "/madeBy/sessionKey"),
        ("command", "/payload/argv"),
        ("budget", "/budget"),
        ("told of failures", "/failureAlert"),
        ("last error", "/state/lastError"),
        ("not delivered", "/state/lastDeliveryError"),
    ] {
        let value = fields.pointer(pointer);
        rows.extend(value.map(|value| row(name, &words(value))));
    }
    rows
}

fn row(name: &str, value: &str) -> Vec<String> {
    vec![name.to_owned(), output::line(value)]
}

fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn job(schedule: Value) -> Job {
        Job {
            id: "0123456789".to_owned(),
            name: "n".to_owned(),
            is_enabled: true,
            fields: json!({"schedule": schedule, "payload": {"text": "hello"},
                "state": {"lastRunStatus": "ok", "lastRunAtMs": 1_795_251_600_000_i64}}),
            next_ms: None,
            is_running: false,
        }
    }

    #[test]
    fn schedule_is_in_words() {
        let words = |fields: Value| schedule(&job(fields));
        assert_eq!(
            words(json!({"kind": "every", "everyMs": 900_000})),
            "every 15m"
        );
        assert_eq!(
            words(json!({"kind": "cron", "expr": "0 9 * * 1-5", "tz": "Europe/Berlin"})),
            "cron 0 9 * * 1-5 Europe/Berlin"
        );
        assert_eq!(words(json!({"kind": "at", "at": "x"})), "once");
    }

    #[test]
    fn rows_have_what_is_said_of_the_job() {
        let shown = openclaw_terminal::table::render(&rows(&job(json!({"kind": "at"}))));
        assert!(
            shown.contains("0123456789") && shown.contains("hello"),
            "{shown}"
        );
        assert!(shown.contains("ok, Sat"), "{shown}");
        assert!(!shown.contains("model"), "{shown}");
    }
}
