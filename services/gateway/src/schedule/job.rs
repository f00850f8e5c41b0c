//! A job: what is done when.

use openclaw_protocol::device::hex;
use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::time::Timing;

/// Failures in a row after which a job is not run any more.
const FAILURES_LIMIT: u64 = 10;

/// What is wrong with a job.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Invalid {
    #[error("at /{path}: {problem}")]
    Field { path: &'static str, problem: String },
    #[error("{0}")]
    Shape(String),
}

impl Invalid {
    pub(super) fn field(path: &'static str, problem: &str) -> Self {
        Self::Field {
            path,
            problem: problem.to_owned(),
        }
    }
}

/// What a job does.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "kind",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub(crate) enum Payload {
    /// Tells the agent something.
    SystemEvent {
        text: String,
        #[serde(flatten)]
        rest: Map<String, Value>,
    },
    /// Sends the agent a message.
    AgentTurn {
        message: String,
        #[serde(flatten)]
        rest: Map<String, Value>,
    },
}

/// A job as it is kept: OpenClaw's fields by their names, of which those that
/// matter here are typed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Job {
    id: String,
    pub(crate) name: String,
    pub(crate) enabled: bool,
    created_at_ms: i64,
    pub(crate) updated_at_ms: i64,
    pub(crate) schedule: Timing,
    pub(crate) session_target: String,
    pub(crate) wake_mode: String,
    pub(crate) payload: Payload,
    #[serde(default)]
    state: State,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// How it went so far.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct State {
    #[serde(skip_serializing_if = "Option::is_none")]
    next_run_at_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    running_at_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_run_at_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_run_status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_duration_ms: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    consecutive_errors: Option<u64>,
}

/// How a run of a job ended.
#[derive(Debug, Clone)]
pub(super) struct Ended {
    pub(super) at_ms: i64,
    pub(super) took_ms: i64,
    pub(super) error: Option<String>,
}

/// Fields that clients may set beside those that are typed.
const OTHER_FIELDS: [&str; 12] = [
    "agentId",
    "sessionKey",
    "description",
    "displayName",
    "declarationKey",
    "owner",
    "deleteAfterRun",
    "delivery",
    "failureAlert",
    "pacing",
    "trigger",
    "scheduledToolPolicy",
];

impl Job {
    /// A job from what a client sent.
    pub(super) fn new(id: String, params: Value, now: i64) -> Result<Self, Invalid> {
        let Value::Object(mut params) = params else {
            return Err(Invalid::Shape("must be object".to_owned()));
        };
        for required in ["name", "schedule", "sessionTarget", "wakeMode", "payload"] {
            if !params.contains_key(required) {
                let problem = format!("must have required property '{required}'");
                return Err(Invalid::Shape(problem));
            }
        }
        params.retain(|_, value| !value.is_null());
        params.entry("enabled").or_insert(json!(true));
        params.insert("id".to_owned(), json!(id));
        params.insert("createdAtMs".to_owned(), json!(now));
        params.insert("updatedAtMs".to_owned(), json!(now));
        params.remove("state");
        Self::of(params)?.checked(now)
    }

    /// The job with some fields changed; `null` takes one away.
    pub(crate) fn patched(&self, patch: Map<String, Value>, now: i64) -> Result<Self, Invalid> {
        let Value::Object(mut fields) = json!(self) else {
            return Err(Invalid::Shape("must be object".to_owned()));
        };
        for (name, value) in patch {
            match value {
                _ if matches!(
                    name.as_str(),
                    "id" | "createdAtMs" | "updatedAtMs" | "state"
                ) => {}
                Value::Null => {
                    fields.remove(&name);
                }
                value => {
                    fields.insert(name, value);
                }
            }
        }
        fields.insert("updatedAtMs".to_owned(), json!(now));
        Self::of(fields)?.checked(now)
    }

    fn of(fields: Map<String, Value>) -> Result<Self, Invalid> {
        let job: Self =
            serde_path_to_error::deserialize(Value::Object(fields)).map_err(|error| {
                let path = error.path().to_string().replace('.', "/");
                Invalid::Shape(format!("at /{path}: {}", error.into_inner()))
            })?;
        match job
            .rest
            .keys()
            .find(|name| !OTHER_FIELDS.contains(&name.as_str()))
        {
            Some(name) => Err(Invalid::Shape(format!(
                "at root: unexpected property '{name}'"
            ))),
            None => Ok(job),
        }
    }

    fn checked(mut self, now: i64) -> Result<Self, Invalid> {
        if self.name.trim().is_empty() {
            return Err(Invalid::field(
                "name",
                "must NOT have fewer than 1 characters",
            ));
        }
        let target = self.session_target.as_str();
        let named = target
            .strip_prefix("session:")
            .is_some_and(|it| !it.is_empty());
        if !matches!(target, "main" | "isolated" | "current") && !named {
            let problem = "must be main, isolated, current or session:<id>";
            return Err(Invalid::field("sessionTarget", problem));
        }
        if !matches!(self.wake_mode.as_str(), "now" | "next-heartbeat") {
            return Err(Invalid::field("wakeMode", "must be now or next-heartbeat"));
        }
        let text = match &self.payload {
            Payload::SystemEvent { text, .. } => text,
            Payload::AgentTurn { message, .. } => message,
        };
        if text.trim().is_empty() {
            return Err(Invalid::field("payload", "must say something"));
        }
        self.schedule = self.schedule.checked(now)?;
        self.plan(now);
        Ok(self)
    }

    /// Reads a job that is kept.
    pub(super) fn read(text: &str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    pub(super) fn stored(&self) -> String {
        json!(self).to_string()
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn created_ms(&self) -> i64 {
        self.created_at_ms
    }

    /// When it is due; None when it is not.
    pub(crate) fn next_ms(&self) -> Option<i64> {
        self.state.next_run_at_ms.filter(|_| self.enabled)
    }

    /// How the last run ended, in OpenClaw's words.
    pub(crate) fn last_status(&self) -> Option<&str> {
        self.state.last_run_status.as_deref()
    }

    /// The agent it is for.
    pub(crate) fn agent_id(&self) -> Option<&str> {
        self.rest.get("agentId")?.as_str()
    }

    pub(super) fn session_key(&self) -> Option<&str> {
        self.rest.get("sessionKey")?.as_str()
    }

    pub(super) fn is_running(&self) -> bool {
        self.state.running_at_ms.is_some()
    }

    /// When the run began that is under way.
    pub(super) fn running_since(&self) -> Option<i64> {
        self.state.running_at_ms
    }

    /// Whether it goes away after its run.
    pub(super) fn ends_with_its_run(&self) -> bool {
        let flag = self.rest.get("deleteAfterRun").and_then(Value::as_bool);
        flag.unwrap_or(false) && self.schedule.is_once()
    }

    /// Says when it is due next.
    fn plan(&mut self, now: i64) {
        self.state.next_run_at_ms = self.schedule.next(now).filter(|_| self.enabled);
    }

    /// A run begins.
    pub(super) fn begin(&mut self, now: i64) {
        self.state.running_at_ms = Some(now);
        self.plan(now);
    }

    /// A run that a gateway did not see the end of is over.
    pub(super) fn forget_run(&mut self, now: i64) {
        self.state.running_at_ms = None;
        // What was missed while nothing ran is done once, now.
        if self.state.next_run_at_ms.is_some_and(|next| next <= now) {
            self.state.next_run_at_ms = Some(now);
        }
    }

    /// A run ended. Ten failures in a row switch the job off.
    pub(super) fn end(&mut self, ended: &Ended) {
        let state = &mut self.state;
        state.last_run_at_ms = state.running_at_ms.take().or(Some(ended.at_ms));
        state.last_duration_ms = Some(ended.took_ms);
        state.last_run_status = Some(if ended.error.is_some() { "error" } else { "ok" }.to_owned());
        state.last_error.clone_from(&ended.error);
        let failures = match ended.error {
            Some(_) => state.consecutive_errors.unwrap_or(0) + 1,
            None => 0,
        };
        state.consecutive_errors = Some(failures);
        if failures >= FAILURES_LIMIT || (self.schedule.is_once() && self.next_ms().is_none()) {
            self.enabled = false;
        }
    }

    /// As clients are told of it.
    pub(crate) fn to_json(&self) -> Value {
        let mut job = json!(self);
        job["configRevision"] = json!(self.revision());
        if let Some(next) = self.next_ms() {
            job["nextRunAtMs"] = json!(next);
        }
        job
    }

    /// Names what is configured of it.
    pub(crate) fn revision(&self) -> String {
        let mut job = json!(self);
        if let Value::Object(fields) = &mut job {
            fields.retain(|name, _| name != "state" && name != "updatedAtMs");
        }
        format!(
            "sha256:{}",
            hex(digest(&SHA256, job.to_string().as_bytes()).as_ref())
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_795_251_600_000;

    fn params() -> Value {
        json!({
            "name": "t1", "schedule": {"kind": "every", "everyMs": 3_600_000},
            "sessionTarget": "isolated", "wakeMode": "now",
            "payload": {"kind": "agentTurn", "message": "ping"}, "delivery": {"mode": "none"},
        })
    }

    fn job() -> Job {
        Job::new("j".to_owned(), params(), NOW).unwrap()
    }

    #[test]
    fn a_job_is_what_was_sent_with_its_next_time() {
        let json = job().to_json();
        assert_eq!(json["state"]["nextRunAtMs"], NOW + 3_600_000);
        assert_eq!(json["schedule"]["anchorMs"], NOW);
        assert_eq!(json["delivery"], json!({"mode": "none"}));
        assert_eq!(Job::read(&job().stored()), Some(job()));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = |name: &str, value: Value| {
            let mut params = params();
            params[name] = value;
            Job::new("j".to_owned(), params, NOW)
                .unwrap_err()
                .to_string()
        };
        assert!(wrong("sessionTarget", json!("elsewhere")).contains("sessionTarget"));
        assert!(wrong("wakeMode", json!("later")).contains("wakeMode"));
        assert!(wrong("payload", json!({"kind": "script"})).contains("payload"));
        assert!(wrong("unknown", json!(1)).contains("unexpected property 'unknown'"));
        assert!(wrong("schedule", json!({"kind": "cron", "expr": "x"})).contains("expr"));
        assert!(wrong("name", json!("")).contains("name"));
    }

    #[test]
    fn changes_take_effect_and_failures_switch_it_off() {
        let patch = json!({"enabled": false, "delivery": null});
        let off = job()
            .patched(patch.as_object().unwrap().clone(), NOW + 1)
            .unwrap();
        assert_eq!(off.next_ms(), None);
        assert_eq!(off.to_json().get("delivery"), None);
        assert_ne!(off.revision(), job().revision());

        let mut failing = job();
        for _ in 0..FAILURES_LIMIT {
            failing.begin(NOW);
            failing.end(&Ended {
                at_ms: NOW,
                took_ms: 1,
                error: Some("no".to_owned()),
            });
        }
        assert!(!failing.enabled);
        assert_eq!(failing.last_status(), Some("error"));
    }
}
