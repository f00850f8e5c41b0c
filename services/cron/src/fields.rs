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
    /// Once, then: "tomorrow at nine", "monday 18:30", "24 Dec 18:00", "in 20 minutes",
    /// 2026-12-24T18:00. What may mean several times is refused, with each of them
    #[arg(long, value_name = "WHEN", group = "when")]
    at: Option<String>,
    /// Again and again: 15m, 1h30m, daily, "two hours"
    #[arg(long, value_name = "SPAN", group = "when", value_parser = when::span)]
    every: Option<i64>,
    /// By the calendar: minute, hour, day, month, weekday; with six fields seconds first
    #[arg(long, value_name = "EXPRESSION", group = "when")]
    cron: Option<String>,
    /// The time zone of --at and --cron [default: the one here]
    #[arg(long, value_name = "ZONE", value_parser = when::named_zone)]
    tz: Option<String>,
    /// With --cron: begin up to so much later, always by as much; which, the job's id says
    #[arg(long, value_name = "SPAN", value_parser = when::span)]
    stagger: Option<i64>,
    /// With --cron: begin at the time itself
    #[arg(long, conflicts_with = "stagger")]
    exact: bool,
    /// isolated: each run on its own; main: the agent's main session; or a session's key
    /// [default: isolated]
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// The text is an event that the agent is told in its main session, no message
    #[arg(long)]
    event: bool,
    /// Run this line for the shell in the agent's sandbox; no model is asked
    #[arg(long, value_name = "LINE", conflicts_with_all = ["event", "remind"])]
    command: Option<String>,
    /// The text is said as it is, where the answer would be; no model is asked
    #[arg(long, conflicts_with = "event")]
    remind: bool,
    /// The agent [default: the default agent]
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// The model, as provider/model
    #[arg(long, value_parser = filled)]
    model: Option<String>,
    /// How much is thought: off, minimal, low, medium, high
    #[arg(long, value_name = "LEVEL", value_parser = filled)]
    thinking: Option<String>,
    /// End a run that takes longer
    #[arg(long, value_name = "SPAN", value_parser = when::span)]
    timeout: Option<i64>,
    /// End a command that prints nothing for so long
    #[arg(long, value_name = "SPAN", value_parser = when::span)]
    no_output_timeout: Option<i64>,
    /// Without the files that a conversation begins with
    #[arg(long)]
    light_context: bool,
    /// What one run may cost, in US dollars
    #[arg(long, value_name = "USD", value_parser = dollars)]
    budget_per_run: Option<f64>,
    /// What all runs of a day may cost, in US dollars
    #[arg(long, value_name = "USD", value_parser = dollars)]
    budget_per_day: Option<f64>,
    /// Post what comes of it to this URL
    #[arg(long, value_name = "URL", conflicts_with_all = ["announce", "no_announce"])]
    webhook: Option<String>,
    /// Say that it fails after so many failures in a row
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    alert_after: Option<u32>,
    /// Say the answer in a session too, or to somebody (telegram:ID) [default: the main session,
    /// and on the channel it was last on]
    #[arg(long, value_name = "SESSION", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    announce: Option<String>,
    /// Say the answer nowhere else
    #[arg(long, conflicts_with = "announce")]
    no_announce: bool,
    /// What is done about times that were missed, which are those more than 60 seconds past:
    /// once, all or skip
    #[arg(long, value_name = "WHAT", value_parser = ["once", "all", "skip"])]
    catch_up: Option<String>,
    /// With --catch-up all: at most so many, the last ones
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=50))]
    catch_up_limit: Option<u32>,
    /// Wake a machine that sleeps, where systemd may
    #[arg(long)]
    wake_machine: bool,
    /// Remove a job that runs once when it did; so it is unless --keep-after-run is said
    #[arg(long)]
    delete_after_run: bool,
    /// Keep a job that runs once when it did; its runs stay in the history either way
    #[arg(long, conflicts_with = "delete_after_run")]
    keep_after_run: bool,
}

/// What a job is to have no more.
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[derive(Debug, Default, Args)]
pub(crate) struct Without {
    /// Take the budget away
    #[arg(long, conflicts_with_all = ["budget_per_run", "budget_per_day"])]
    no_budget: bool,
    /// Say nothing of its own about failures: what holds for all jobs does
    #[arg(long, conflicts_with = "alert_after")]
    no_alert: bool,
    /// Answer with the agent's model
    #[arg(long, conflicts_with = "model")]
    no_model: bool,
    /// Think as much as the agent does
    #[arg(long, conflicts_with = "thinking")]
    no_thinking: bool,
    /// Let it take as long as any
    #[arg(long, conflicts_with = "timeout")]
    no_timeout: bool,
    /// With the files that a conversation begins with
    #[arg(long, conflicts_with = "light_context")]
    no_light_context: bool,
    /// Let a machine that sleeps sleep
    #[arg(long, conflicts_with = "wake_machine")]
    no_wake_machine: bool,
    /// The same as --keep-after-run
    #[arg(long, hide = true, conflicts_with = "delete_after_run")]
    no_delete_after_run: bool,
}

impl Without {
    /// Fields of the job that are taken away.
    fn fields(&self) -> impl Iterator<Item = (String, Value)> + use<> {
        let fields = [
            ("budget", self.no_budget, Value::Null),
            ("failureAlert", self.no_alert, Value::Null),
            ("wakeSystem", self.no_wake_machine, Value::Null),
            ("deleteAfterRun", self.no_delete_after_run, json!(false)),
        ];
        let meant = fields.into_iter().filter(|(_, is_meant, _)| *is_meant);
        meant.map(|(name, _, value)| (name.to_owned(), value))
    }

    /// What goes with its message, likewise.
    fn extras(&self) -> impl Iterator<Item = (String, Value)> + use<> {
        let extras = [
            ("model", self.no_model),
            ("thinking", self.no_thinking),
            ("timeoutSeconds", self.no_timeout),
            ("lightContext", self.no_light_context),
        ];
        let meant = extras.into_iter().filter(|(_, is_meant)| *is_meant);
        meant.map(|(name, _)| (name.to_owned(), Value::Null))
    }
}

impl Fields {
    /// A new job.
    pub(crate) fn of_new(&self, text: &str) -> Result<Value, Failure> {
        let text = match (&self.command, text.trim()) {
            (Some(_), said) if !said.is_empty() => {
                return Err(Failure::usage("say a text or --command, not both"));
            }
            (Some(line), _) => line.trim(),
            (None, text) => text,
        };
        if text.is_empty() {
            return Err(Failure::usage(
                "the job needs a text: what is the agent to do?",
            ));
        }
        let schedule = self.schedule().ok_or_else(|| {
            Failure::usage("the job needs a time: --at \"tomorrow 9:00\", --every 15m or --cron")
        })?;
        self.refuse_of_times(schedule["kind"].as_str().unwrap_or_default())?;
        self.refuse_ignored(self.kind(None))?;
        let mut fields = self.shared();
        let name: String = text.trim().chars().take(NAME_LENGTH).collect();
        fields.entry("name").or_insert_with(|| json!(name));
        fields.insert("schedule".to_owned(), schedule);
        fields.insert("payload".to_owned(), self.payload(text));
        fields.insert("wakeMode".to_owned(), json!("now"));
        let usual = if self.event { "main" } else { "isolated" };
        fields.entry("sessionTarget").or_insert(json!(usual));
        let usual = if self.remind {
            announcement("")
        } else {
            json!({"mode": "none"})
        };
        fields.entry("delivery").or_insert(usual);
        Ok(Value::Object(fields))
    }

    /// What changes of `job`.
    pub(crate) fn of_change(
        &self,
        text: &str,
        without: &Without,
        job: &Job,
    ) -> Result<Value, Failure> {
        let mut fields = self.shared();
        fields.extend(without.fields());
        let there = job.fields["schedule"]["kind"].as_str().unwrap_or_default();
        if let Some(schedule) = self.schedule() {
            self.refuse_of_times(schedule["kind"].as_str().unwrap_or_default())?;
            fields.insert("schedule".to_owned(), schedule);
        } else if self.tz.is_some() || self.of_calendar().is_some() {
            self.refuse_of_times(there)?;
            if there == "at" {
                let said = "this job runs once, at a time that is the same in all zones: say \
                            the time too, --at WHEN --tz ZONE";
                return Err(Failure::usage(said));
            }
            fields.insert("schedule".to_owned(), self.calendar(None, self.tz.clone()));
        }
        let kind = self.kind(job.fields["payload"]["kind"].as_str());
        self.refuse_ignored(kind)?;
        let mut payload = self.extras();
        payload.extend(without.extras());
        if let Some(line) = &self.command {
            payload.insert("argv".to_owned(), argv(line));
        } else if !text.trim().is_empty() {
            let name = match kind {
                "agentTurn" => "message",
                "command" => {
                    return Err(Failure::usage(
                        "this job runs a command: change it by --command",
                    ));
                }
                _ => "text",
            };
            payload.insert(name.to_owned(), json!(text));
        }
        if !payload.is_empty() {
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
        let expr = self.cron.as_deref()?;
        Some(self.calendar(Some(expr), zone))
    }

    fn calendar(&self, expr: Option<&str>, zone: Option<String>) -> Value {
        let mut schedule = Map::new();
        schedule.insert("kind".to_owned(), json!("cron"));
        for (name, value) in [
            ("expr", expr.map(|expr| json!(expr))),
            ("tz", zone.map(|zone| json!(zone))),
            ("staggerMs", self.stagger_ms().map(|ms| json!(ms))),
        ] {
            schedule.extend(value.map(|value| (name.to_owned(), value)));
        }
        Value::Object(schedule)
    }

    fn payload(&self, text: &str) -> Value {
        let kind = self.kind(None);
        let mut payload = self.extras();
        payload.insert("kind".to_owned(), json!(kind));
        let (name, value) = match kind {
            "command" => ("argv", argv(text)),
            "agentTurn" => ("message", json!(text)),
            // What needs no model needs nothing of one.
            kind => return json!({"kind": kind, "text": text}),
        };
        payload.insert(name.to_owned(), value);
        Value::Object(payload)
    }

    /// The payload's kind; `there` is that of the job that is changed.
    fn kind<'a>(&self, there: Option<&'a str>) -> &'a str {
        match (self.event, self.remind, &self.command) {
            (true, _, _) => "systemEvent",
            (_, true, _) => "reminder",
            (_, _, Some(_)) => "command",
            _ => there.unwrap_or("agentTurn"),
        }
    }

    /// Refuses options of a message for a job that sends none.
    fn refuse_ignored(&self, kind: &str) -> Result<(), Failure> {
        let is_told = matches!(kind, "systemEvent" | "reminder");
        let given = [
            ("--model", self.model.is_some(), kind != "agentTurn"),
            ("--thinking", self.thinking.is_some(), kind != "agentTurn"),
            ("--light-context", self.light_context, kind != "agentTurn"),
            ("--timeout", self.timeout.is_some(), is_told),
        ];
        let ignored = given
            .into_iter()
            .find(|(_, is_given, has_no_use)| *is_given && *has_no_use);
        if self.no_output_timeout.is_some() && kind != "command" {
            let said = "--no-output-timeout is for a --command, which this job does not run";
            return Err(Failure::usage(said));
        }
        match ignored {
            Some((option, ..)) => Err(Failure::usage(format!(
                "{option} is for a message that the agent answers, which this job does not send"
            ))),
            None => Ok(()),
        }
    }

    /// What goes with a message.
    fn extras(&self) -> Map<String, Value> {
        let mut extras = Map::new();
        for (name, value) in [
            ("model", self.model.as_ref().map(|model| json!(model))),
            ("thinking", self.thinking.as_ref().map(|level| json!(level))),
            ("timeoutSeconds", self.timeout.map(seconds)),
            (
                "noOutputTimeoutSeconds",
                self.no_output_timeout.map(seconds),
            ),
            ("lightContext", self.light_context.then(|| json!(true))),
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
            ("delivery", self.delivery()),
            ("budget", self.budget()),
            (
                "failureAlert",
                self.alert_after.map(|after| json!({"after": after})),
            ),
            ("catchUp", self.catch_up.as_ref().map(|what| json!(what))),
            (
                "catchUpLimit",
                self.catch_up_limit.map(|limit| json!(limit)),
            ),
            ("wakeSystem", self.wake_machine.then(|| json!(true))),
            ("deleteAfterRun", self.is_removed().map(|it| json!(it))),
        ] {
            fields.extend(value.map(|value| (name.to_owned(), value)));
        }
        fields
    }
}

impl Fields {
    /// Whether the job goes away after it ran once, where that is said.
    fn is_removed(&self) -> Option<bool> {
        let kept = self.keep_after_run.then_some(false);
        self.delete_after_run.then_some(true).or(kept)
    }

    /// By how much the times of a calendar are spread, where that is said.
    fn stagger_ms(&self) -> Option<i64> {
        self.stagger.or(self.exact.then_some(0))
    }

    /// What is said of the times of a calendar alone, and is none for other times.
    fn of_calendar(&self) -> Option<&'static str> {
        let stagger = self.stagger.map(|_| "--stagger");
        stagger.or(self.exact.then_some("--exact"))
    }

    /// Refuses what times of that kind do not have.
    fn refuse_of_times(&self, kind: &str) -> Result<(), Failure> {
        match (kind, &self.tz, self.of_calendar()) {
            ("every", Some(_), _) => Err(Failure::usage(
                "this job comes after spans of time, which have no zone: --tz is for --cron and --at",
            )),
            ("every" | "at", _, Some(option)) => Err(Failure::usage(format!(
                "{option} is for the times of a calendar: say it with --cron"
            ))),
            _ => Ok(()),
        }
    }

    fn delivery(&self) -> Option<Value> {
        let webhook = self.webhook.as_ref();
        let webhook = webhook.map(|url| json!({"mode": "webhook", "to": url}));
        webhook.or_else(|| self.announce.as_deref().map(announcement))
    }

    fn budget(&self) -> Option<Value> {
        let mut budget = Map::new();
        for (name, amount) in [
            ("perRunUsd", self.budget_per_run),
            ("perDayUsd", self.budget_per_day),
        ] {
            budget.extend(amount.map(|amount| (name.to_owned(), json!(amount))));
        }
        (!budget.is_empty()).then_some(Value::Object(budget))
    }
}

/// An amount of money.
fn dollars(text: &str) -> Result<f64, String> {
    let amount = text.trim_start_matches('$').parse::<f64>().ok();
    let amount = amount.filter(|amount| amount.is_finite() && *amount > 0.0);
    amount.ok_or_else(|| "give more than 0 US dollars, such as 0.50".to_owned())
}

/// A word that says something.
fn filled(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err(
            "say which; `cron edit` takes it away with --no-model and --no-thinking".to_owned(),
        );
    }
    Ok(text.to_owned())
}

/// A line for the shell, as OpenClaw's command line makes one.
fn argv(line: &str) -> Value {
    json!(["sh", "-lc", line])
}

/// Seconds, the last one begun.
fn seconds(ms: i64) -> Value {
    json!(ms.saturating_add(999) / 1000)
}

/// Who is meant, a session or somebody on a channel, the gateway reads out of `to`.
fn announcement(to: &str) -> Value {
    match to {
        "" => json!({"mode": "announce", "channel": "last"}),
        to => json!({"mode": "announce", "channel": "last", "to": to}),
    }
}

#[cfg(test)]
mod tests;
