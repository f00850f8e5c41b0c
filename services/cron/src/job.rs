//! A job as people read it.

use openclaw_proto::schedule::Job;
use openclaw_terminal::output;
use serde_json::Value;

use crate::when;

/// The field that says why a job is not run as it is.
const PROBLEM: &str = "problem";

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

/// Why it is not run as it is, if so.
pub fn problem(job: &Job) -> Option<&str> {
    job.fields[PROBLEM].as_str()
}

/// What changes a job with a problem so that it is run.
pub fn way_out(job: &Job) -> String {
    let id = short(&job.id);
    format!(
        "openclawctl cron edit {id} --session isolated, with --no-announce where it tells somebody \
         else; or add it yourself, and openclawctl cron remove {id}"
    )
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
        "cron" => {
            let times = format!("cron {} {}", word("expr"), word("tz"));
            let spread = schedule["staggerMs"].as_i64().filter(|ms| *ms > 0);
            let spread = spread.map(|ms| format!(", up to {} later", when::in_words(ms)));
            times.trim_end().to_owned() + &spread.unwrap_or_default()
        }
        _ => "once".to_owned(),
    }
}

/// The same, with the time of a job that runs once, which may be past.
fn when_in_full(job: &Job) -> String {
    let schedule = &job.fields["schedule"];
    let at = schedule["at"].as_str().and_then(when::instant);
    let at = at.map(|at| format!(", {}", when::local(at)));
    self::schedule(job) + &at.unwrap_or_default()
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

/// All of it, with the fields that it has.
pub(crate) fn rows(job: &Job) -> Vec<Vec<String>> {
    let mut rows = vec![
        row("id", &job.id),
        row("name", &job.name),
        row("when", &when_in_full(job)),
        row("next", &next(job)),
        row("last", &last(job)),
    ];
    rows.extend(problem(job).map(|why| row("not run as it is", why)));
    let mut known: Vec<&str> = ELSEWHERE.to_vec();
    for (name, pointer, words) in SHOWN {
        known.push(pointer);
        let value = job.fields.pointer(pointer);
        let value = value.and_then(words);
        rows.extend(value.map(|value| row(name, &value)));
    }
    rest(&job.fields, "", &known, &mut rows);
    rows
}

/// How a value is shown; None: it says nothing.
type Words = fn(&Value) -> Option<String>;

/// What is shown of a job, by its names for people, and where that is.
const SHOWN: &[(&str, &str, Words)] = &[
    ("description", "/description", plain),
    ("text", "/payload/message", plain),
    ("text", "/payload/text", plain),
    ("command", "/payload/argv", plain),
    ("in the folder", "/payload/cwd", plain),
    ("with variables", "/payload/env", plain),
    ("reads", "/payload/input", plain),
    ("model", "/payload/model", plain),
    ("thinking", "/payload/thinking", plain),
    ("light context", "/payload/lightContext", yes),
    ("time-out (s)", "/payload/timeoutSeconds", plain),
    (
        "silent at most (s)",
        "/payload/noOutputTimeoutSeconds",
        plain,
    ),
    ("output at most (bytes)", "/payload/outputMaxBytes", plain),
    ("session", "/sessionTarget", plain),
    ("of the session", "/sessionKey", plain),
    ("wakes the agent", "/wakeMode", plain),
    ("agent", "/agentId", plain),
    ("delivery", "/delivery/mode", plain),
    ("on channel", "/delivery/channel", plain),
    ("to", "/delivery/to", plain),
    ("as account", "/delivery/accountId", plain),
    ("in thread", "/delivery/threadId", plain),
    ("may be undelivered", "/delivery/bestEffort", yes),
    ("also to", "/delivery/completionDestination/to", plain),
    ("failures to", "/delivery/failureDestination", route),
    ("catch up", "/catchUp", plain),
    ("catch up at most", "/catchUpLimit", plain),
    ("wakes the machine", "/wakeSystem", yes),
    ("removed after its run", "/deleteAfterRun", yes),
    ("budget", "/budget", budget),
    ("told of failures", "/failureAlert", alert),
    ("declared as", "/declarationKey", plain),
    ("made by", "/madeBy/agentId", plain),
    ("in", "/madeBy/sessionKey", plain),
    ("last error", "/state/lastError", plain),
    ("not delivered", "/state/lastDeliveryError", plain),
];

/// What other rows say, and what is of no use to people.
const ELSEWHERE: &[&str] = &[
    "/id",
    "/name",
    "/enabled",
    "/createdAtMs",
    "/updatedAtMs",
    "/schedule",
    "/state",
    "/nextRunAtMs",
    "/configRevision",
    "/problem",
    "/payload/kind",
    "/delivery/completionDestination/mode",
];

/// Rows for what has no name of its own here, so that nothing is left out.
fn rest(value: &Value, at: &str, known: &[&str], rows: &mut Vec<Vec<String>>) {
    let is_known = |pointer: &str| known.contains(&pointer);
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                let pointer = format!("{at}/{name}");
                if !is_known(&pointer) {
                    rest(value, &pointer, known, rows);
                }
            }
        }
        value => {
            let name = at.trim_start_matches('/').replace('/', ".");
            rows.extend(plain(value).map(|value| row(&name, &value)));
        }
    }
}

fn row(name: &str, value: &str) -> Vec<String> {
    vec![name.to_owned(), output::line(value)]
}

fn plain(value: &Value) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::String(text) => text.clone(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        other => other.to_string(),
    })
}

/// What is only worth a word where it is so.
fn yes(value: &Value) -> Option<String> {
    (*value == Value::Bool(true)).then(|| "yes".to_owned())
}

fn budget(budget: &Value) -> Option<String> {
    let amount = |name: &str, of: &str| Some(format!("${} {of}", budget[name].as_f64()?));
    let amounts = [amount("perRunUsd", "a run"), amount("perDayUsd", "a day")];
    let amounts: Vec<String> = amounts.into_iter().flatten().collect();
    (!amounts.is_empty()).then(|| amounts.join(", "))
}

fn alert(alert: &Value) -> Option<String> {
    if !alert.is_object() {
        let word = if alert.as_bool()? {
            "as all jobs"
        } else {
            "never"
        };
        return Some(word.to_owned());
    }
    let after = alert["after"].as_u64().map(|after| match after {
        1 => "after each failure".to_owned(),
        after => format!("after {after} failures in a row"),
    });
    let pause = alert["cooldownMs"].as_i64();
    let pause = pause.map(|ms| format!("again after {}", when::in_words(ms)));
    let words: Vec<String> = [after, pause, route(alert)].into_iter().flatten().collect();
    Some(if words.is_empty() {
        "yes".to_owned()
    } else {
        words.join(", ")
    })
}

/// Where something is told.
fn route(said: &Value) -> Option<String> {
    let word = |name: &str| said[name].as_str().filter(|it| !it.is_empty());
    let to = match (word("channel"), word("to")) {
        (Some(channel), Some(to)) if !to.starts_with(channel) => format!("to {to} on {channel}"),
        (_, Some(to)) => format!("to {to}"),
        (Some(channel), None) => format!("on {channel}"),
        (None, None) => return None,
    };
    let account = word("accountId").map(|account| format!(" as {account}"));
    Some(to + &account.unwrap_or_default())
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
        let cron = |stagger: i64| {
            words(json!({"kind": "cron", "expr": "0 * * * *", "tz": "UTC", "staggerMs": stagger}))
        };
        assert_eq!(cron(0), "cron 0 * * * * UTC");
        assert_eq!(cron(300_000), "cron 0 * * * * UTC, up to 5m later");
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

    #[test]
    fn rows_have_every_field_of_a_job_in_words() {
        let mut job = job(json!({"kind": "every", "everyMs": 60_000}));
        job.fields = json!({
            "id": "0123456789", "name": "n", "enabled": true, "createdAtMs": 1, "updatedAtMs": 1,
            "schedule": {"kind": "every", "everyMs": 60_000}, "sessionTarget": "isolated",
            "wakeMode": "now", "catchUp": "all", "catchUpLimit": 7, "wakeSystem": true,
            "deleteAfterRun": true, "budget": {"perRunUsd": 0.5, "perDayUsd": 2.0},
            "failureAlert": {"after": 3, "cooldownMs": 60_000, "channel": "telegram", "to": "5"},
            "payload": {"kind": "agentTurn", "message": "look", "lightContext": true,
                "toolsAllow": ["read"]},
            "delivery": {"mode": "announce", "failureDestination": {"to": "telegram:9"}},
        });
        let shown = rows(&job);
        for (name, value) in [
            ("light context", "yes"),
            ("catch up", "all"),
            ("catch up at most", "7"),
            ("wakes the machine", "yes"),
            ("removed after its run", "yes"),
            ("budget", "$0.5 a run, $2 a day"),
            (
                "told of failures",
                "after 3 failures in a row, again after 1m, to 5 on telegram",
            ),
            ("failures to", "to telegram:9"),
            ("payload.toolsAllow", "[\"read\"]"),
        ] {
            assert!(shown.contains(&row(name, value)), "{name}: {shown:?}");
        }
        job.fields["failureAlert"] = json!(false);
        job.fields["wakeSystem"] = json!(false);
        let shown = rows(&job);
        assert!(
            shown.contains(&row("told of failures", "never")),
            "{shown:?}"
        );
        assert!(!shown.iter().any(|row| row[0] == "wakes the machine"));
    }
}
