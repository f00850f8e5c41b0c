//! A job from the arguments of `add` and `edit`, in OpenClaw's fields.

use clap::Args;
use openclaw_proto::schedule::Job;
use openclaw_terminal::Failure;
use serde_json::{Map, Value, json};

use crate::when;

/// Characters of a name that is made of the text.
const NAME_LENGTH: usize = 40;

/// Sessions that are not keys.
const TARGETS: [&str; 2] = ["main", "isolated"];

/// What a job is.
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[derive(Debug, Default, Args)]
pub(crate) struct Fields {
    /// What it is called [default: the beginning of the text]
    #[arg(long)]
    name: Option<String>,
    /// Once, then: "tomorrow 9:00", "monday 18:30", "in 20 minutes", 2026-12-24T18:00
    #[arg(long, value_name = "WHEN", group = "when")]
    at: Option<String>,
    /// Again and again: 15m, 1h30m, 2d
    #[arg(long, value_name = "SPAN", group = "when", value_parser = when::span)]
    every: Option<i64>,
    /// By the calendar: minute, hour, day, month, weekday; with six fields seconds first
    #[arg(long, value_name = "EXPRESSION", group = "when")]
    cron: Option<String>,
    /// The time zone of --at and --cron [default: the one here]
    #[arg(long, value_name = "ZONE", value_parser = when::named_zone)]
    tz: Option<String>,
    /// isolated: each run on its own; main: the agent's main session; or a session's key
    /// [default: isolated]
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// The text is an event that the agent is told in its main session, no message
    #[arg(long)]
    event: bool,
    /// The agent [default: the default agent]
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// The model, as provider/model
    #[arg(long)]
    model: Option<String>,
    /// How much is thought: off, minimal, low, medium, high
    #[arg(long, value_name = "LEVEL")]
    thinking: Option<String>,
    /// End a run that takes longer
    #[arg(long, value_name = "SPAN", value_parser = when::span)]
    timeout: Option<i64>,
    /// Say the answer in a session too [default: the main one, and on the channel it was last on]
    #[arg(long, value_name = "SESSION", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    announce: Option<String>,
    /// Say the answer nowhere else
    #[arg(long, conflicts_with = "announce")]
    no_announce: bool,
    /// What is done about times that were missed: once, all or skip
    #[arg(long, value_name = "WHAT", value_parser = ["once", "all", "skip"])]
    catch_up: Option<String>,
    /// With --catch-up all: at most so many, the last ones
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=50))]
    catch_up_limit: Option<u32>,
    /// Wake a machine that sleeps, where systemd may
    #[arg(long)]
    wake_machine: bool,
    /// Remove the job after it ran once
    #[arg(long)]
    delete_after_run: bool,
}

impl Fields {
    /// A new job.
    pub(crate) fn of_new(&self, text: &str) -> Result<Value, Failure> {
        if text.trim().is_empty() {
            return Err(Failure::usage(
                "the job needs a text: what is the agent to do?",
            ));
        }
        let schedule = self.schedule().ok_or_else(|| {
            Failure::usage("the job needs a time: --at \"tomorrow 9:00\", --every 15m or --cron")
        })?;
        let mut fields = self.shared();
        let name: String = text.trim().chars().take(NAME_LENGTH).collect();
        fields.entry("name").or_insert_with(|| json!(name));
        fields.insert("schedule".to_owned(), schedule);
        fields.insert("payload".to_owned(), self.payload(text));
        fields.insert("wakeMode".to_owned(), json!("now"));
        let usual = if self.event { "main" } else { "isolated" };
        fields.entry("sessionTarget").or_insert(json!(usual));
        fields.entry("delivery").or_insert(json!({"mode": "none"}));
        Ok(Value::Object(fields))
    }

    /// What changes of `job`.
    pub(crate) fn of_change(&self, text: &str, job: &Job) -> Result<Value, Failure> {
        let mut fields = self.shared();
        if let Some(schedule) = self.schedule() {
            fields.insert("schedule".to_owned(), schedule);
        } else if let Some(zone) = &self.tz {
            if job.fields["schedule"]["kind"] != "cron" {
                return Err(Failure::usage("--tz is for --at and --cron"));
            }
            let schedule = json!({"kind": "cron", "tz": zone});
            fields.insert("schedule".to_owned(), schedule);
        }
        let is_event = self.event || job.fields["payload"]["kind"] == "systemEvent";
        let mut payload = self.extras();
        if !text.trim().is_empty() {
            let name = if is_event { "text" } else { "message" };
            payload.insert(name.to_owned(), json!(text));
        }
        if !payload.is_empty() {
            let kind = if is_event { "systemEvent" } else { "agentTurn" };
            payload.insert("kind".to_owned(), json!(kind));
            fields.insert("payload".to_owned(), Value::Object(payload));
        }
        if self.no_announce {
            fields.insert("delivery".to_owned(), json!({"mode": "none"}));
        }
        if fields.is_empty() {
            return Err(Failure::usage("say what to change: a text, or an option"));
        }
        Ok(Value::Object(fields))
    }

    fn schedule(&self) -> Option<Value> {
        let zone = self.tz.clone().or_else(when::zone);
        if let Some(at) = &self.at {
            return Some(json!({"kind": "at", "at": at, "tz": zone}));
        }
        if let Some(every) = self.every {
            return Some(json!({"kind": "every", "everyMs": every}));
        }
        let expr = self.cron.as_ref()?;
        Some(json!({"kind": "cron", "expr": expr, "tz": zone}))
    }

    fn payload(&self, text: &str) -> Value {
        if self.event {
            return json!({"kind": "systemEvent", "text": text});
        }
        let mut payload = self.extras();
        payload.insert("kind".to_owned(), json!("agentTurn"));
        payload.insert("message".to_owned(), json!(text));
        Value::Object(payload)
    }

    /// What goes with a message.
    fn extras(&self) -> Map<String, Value> {
        let mut extras = Map::new();
        for (name, value) in [
            ("model", self.model.as_ref().map(|model| json!(model))),
            ("thinking", self.thinking.as_ref().map(|level| json!(level))),
            ("timeoutSeconds", self.timeout.map(seconds)),
        ] {
            extras.extend(value.map(|value| (name.to_owned(), value)));
        }
        extras
    }

    /// What is said the same way of a new job and of one that is there.
    fn shared(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        let target = self.session.as_deref().map(|session| {
            if TARGETS.contains(&session) {
                json!(session)
            } else {
                json!(format!("session:{session}"))
            }
        });
        for (name, value) in [
            ("name", self.name.as_ref().map(|name| json!(name))),
            ("sessionTarget", target),
            ("agentId", self.agent.as_ref().map(|agent| json!(agent))),
            ("delivery", self.announce.as_deref().map(announcement)),
            ("catchUp", self.catch_up.as_ref().map(|what| json!(what))),
            (
                "catchUpLimit",
                self.catch_up_limit.map(|limit| json!(limit)),
            ),
            ("wakeSystem", self.wake_machine.then(|| json!(true))),
            ("deleteAfterRun", self.delete_after_run.then(|| json!(true))),
        ] {
            fields.extend(value.map(|value| (name.to_owned(), value)));
        }
        fields
    }
}

/// Seconds, the last one begun.
fn seconds(ms: i64) -> Value {
    json!(ms.saturating_add(999) / 1000)
}

fn announcement(to: &str) -> Value {
    match to {
        "" => json!({"mode": "announce", "channel": "last"}),
        to => json!({"mode": "announce", "channel": "webchat", "to": to}),
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        fields: Fields,
    }

    fn fields(arguments: &[&str]) -> Fields {
        let all = std::iter::once("add").chain(arguments.iter().copied());
        Line::try_parse_from(all).unwrap().fields
    }

    fn job() -> Job {
        Job {
            id: "i".to_owned(),
            name: "n".to_owned(),
            is_enabled: true,
            fields: json!({
                "schedule": {"kind": "every", "everyMs": 1}, "payload": {"kind": "agentTurn"},
            }),
            next_ms: None,
            is_running: false,
        }
    }

    #[test]
    fn of_new_is_a_whole_job() {
        let new = fields(&["--cron", "0 9 * * 1-5", "--tz", "Europe/Berlin"]);
        assert_eq!(
            new.of_new("what is new?").unwrap(),
            json!({
                "name": "what is new?", "wakeMode": "now", "sessionTarget": "isolated",
                "schedule": {"kind": "cron", "expr": "0 9 * * 1-5", "tz": "Europe/Berlin"},
                "payload": {"kind": "agentTurn", "message": "what is new?"},
                "delivery": {"mode": "none"},
            })
        );
        let event = fields(&[
            "--every",
            "15m",
            "--event",
            "--announce",
            "--timeout",
            "1500ms",
        ]);
        let event = event.of_new("look").unwrap();
        assert_eq!(
            event["payload"],
            json!({"kind": "systemEvent", "text": "look"})
        );
        assert_eq!(event["sessionTarget"], "main");
        assert_eq!(event["delivery"]["mode"], "announce");
        let keyed = fields(&[
            "--every",
            "1h",
            "--session",
            "agent:main:x",
            "--timeout",
            "1500ms",
        ]);
        let keyed = keyed.of_new("look").unwrap();
        assert_eq!(keyed["sessionTarget"], "session:agent:main:x");
        assert_eq!(keyed["payload"]["timeoutSeconds"], 2);
    }

    #[test]
    fn of_new_needs_a_text_and_a_time() {
        let no_text = fields(&["--every", "15m"]).of_new(" ").unwrap_err();
        assert!(no_text.text().contains("needs a text"));
        let no_time = fields(&[]).of_new("x").unwrap_err();
        assert!(no_time.text().contains("--every 15m"));
    }

    #[test]
    fn of_change_is_what_was_said() {
        let change = fields(&["--name", "other"]).of_change("", &job()).unwrap();
        assert_eq!(change, json!({"name": "other"}));
        let change = fields(&["--model", "a/b"])
            .of_change("and now?", &job())
            .unwrap();
        assert_eq!(
            change,
            json!({"payload": {"kind": "agentTurn", "message": "and now?", "model": "a/b"}})
        );
        fields(&[]).of_change("", &job()).unwrap_err();
        fields(&["--tz", "UTC"]).of_change("", &job()).unwrap_err();
    }
}
