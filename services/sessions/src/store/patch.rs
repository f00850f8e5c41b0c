//! What a user can set of a session.

use serde_json::{Map, Value, json};

use super::entry::SessionEntry;
use crate::transcript::{CLEARED_ENTRY, Marker};

/// Longest label, name or category in bytes, as OpenClaw's protocol has it.
pub const LABEL_LIMIT: usize = 512;

/// Longest other text. They are words such as `on`, names of nodes and models.
const WORD_LIMIT: usize = 256;

/// Amounts of thinking, the least first.
pub const THINKING_LEVELS: [&str; 9] = [
    "off", "minimal", "low", "medium", "high", "xhigh", "adaptive", "max", "ultra",
];

/// The field of the limits that turns of the session have instead of the
/// agent's: an object. Behind a dot, one of them.
const LIMITS: &str = "limits";

/// The auth profile that turns of the session use.
const AUTH_PROFILE: &str = "authProfileOverride";

/// Who chose it: a profile of the user's is the only one that is used.
const AUTH_PROFILE_SOURCE: &str = "authProfileOverrideSource";

/// Chosen by the user, in OpenClaw's words.
const CHOSEN: &str = "user";

/// OpenClaw's count of when it chose the profile by itself.
const AUTH_PROFILE_COUNT: &str = "authProfileOverrideCompactionCount";

/// How much of its tools a session shows to clients that did not ask for them.
pub const VERBOSE_LEVELS: &[&str] = &["off", "on", "full"];
/// Whether a session has a line below each answer that says what was used.
pub const USAGE_LEVELS: &[&str] = &["off", "tokens", "full", "on"];
/// Whether a session shows what the model thought.
pub const REASONING_LEVELS: &[&str] = &["off", "on", "stream"];

/// What a field may be set to.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Words of at most so many bytes.
    Text(usize),
    /// One of these.
    Word(&'static [&'static str]),
    /// A number of at most so much.
    Number(u64),
    /// True notes the time under this name.
    Since(&'static str),
    /// `provider/model`.
    Model,
}

/// The fields by the names of OpenClaw's `sessions.patch`.
const FIELDS: [(&str, Kind); 24] = [
    ("label", Kind::Text(LABEL_LIMIT)),
    ("displayName", Kind::Text(LABEL_LIMIT)),
    ("category", Kind::Text(LABEL_LIMIT)),
    ("icon", Kind::Text(WORD_LIMIT)),
    ("color", Kind::Text(WORD_LIMIT)),
    ("statusNote", Kind::Text(120)),
    ("model", Kind::Model),
    ("thinkingLevel", Kind::Word(&THINKING_LEVELS)),
    (AUTH_PROFILE, Kind::Text(WORD_LIMIT)),
    (AUTH_PROFILE_SOURCE, Kind::Word(&[CHOSEN, "auto"])),
    ("verboseLevel", Kind::Word(VERBOSE_LEVELS)),
    // Nothing here is traced for clients.
    ("traceLevel", Kind::Word(&["off"])),
    ("reasoningLevel", Kind::Word(REASONING_LEVELS)),
    // A way out of the sandbox, which there is none of.
    ("elevatedLevel", Kind::Word(&["off"])),
    ("responseUsage", Kind::Word(USAGE_LEVELS)),
    ("sendPolicy", Kind::Word(&["allow", "deny"])),
    // Groups come with channels.
    ("groupActivation", Kind::Word(&["mention"])),
    (
        "queueMode",
        Kind::Word(&["steer", "followup", "collect", "interrupt"]),
    ),
    ("queueDebounceMs", Kind::Number(60_000)),
    ("queueCap", Kind::Number(10_000)),
    ("queueDrop", Kind::Word(&["summarize", "old", "new"])),
    ("archived", Kind::Since(ARCHIVED_AT)),
    ("pinned", Kind::Since("pinnedAt")),
    ("unread", Kind::Since("markedUnreadAt")),
];

/// When a session was archived.
const ARCHIVED_AT: &str = "archivedAt";

/// Changes of a session's fields, checked.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Patch(Vec<Change>);

#[derive(Debug, Clone, PartialEq)]
enum Change {
    Set(&'static str, String),
    SetNumber(&'static str, u64),
    Clear(&'static str),
    Model {
        provider: Option<String>,
        model: String,
    },
    ClearModel,
    Since(&'static str, bool),
    /// The limits, all of them.
    ClearLimits,
    Limit(String, Option<Value>),
}

/// A change that cannot be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPatch {
    /// No such field.
    #[error("a session has no field {name:?} to set; there are {}", names())]
    Field {
        /// As it was given.
        name: String,
    },
    /// A value that the field does not take.
    #[error("the session's {name} cannot be {value}; allowed: {allowed}")]
    Value {
        /// The field.
        name: &'static str,
        /// As it was given.
        value: String,
        /// What the field takes.
        allowed: String,
    },
}

/// The names of the fields that can be set.
pub fn field_names() -> impl Iterator<Item = &'static str> {
    FIELDS.into_iter().map(|(name, _)| name).chain([LIMITS])
}

fn names() -> String {
    field_names().collect::<Vec<_>>().join(", ")
}

impl Patch {
    /// The model that the session is to have, as `provider/model` or a model
    /// alone; `None`: it stays, or is taken away.
    pub fn model(&self) -> Option<String> {
        let mut models = self.0.iter().rev();
        models.find_map(|change| match change {
            Change::Model {
                provider: Some(provider),
                model,
            } => Some(format!("{provider}/{model}")),
            Change::Model { model, .. } => Some(model.clone()),
            _ => None,
        })
    }

    /// The first field that it changes of those that say what turns may cost and whose
    /// key pays for them; the others say how a session is shown and answered.
    pub fn spends(&self) -> Option<&'static str> {
        self.0.iter().find_map(|change| match change {
            Change::ClearLimits | Change::Limit(..) => Some(LIMITS),
            Change::Set(name, _) | Change::Clear(name) => [AUTH_PROFILE, AUTH_PROFILE_SOURCE]
                .contains(name)
                .then_some(*name),
            _ => None,
        })
    }

    /// The auth profile that it sets.
    pub fn auth_profile(&self) -> Option<&str> {
        self.0.iter().rev().find_map(|change| match change {
            Change::Set(AUTH_PROFILE, id) => Some(id.as_str()),
            _ => None,
        })
    }

    /// Adds a change of the field `name`; null clears it.
    pub fn change(&mut self, name: &str, value: &Value) -> Result<(), InvalidPatch> {
        if let Some(below) = name.strip_prefix(LIMITS) {
            if let Some(limit) = below.strip_prefix('.') {
                self.limit(limit, value);
                return Ok(());
            }
            if below.is_empty() {
                return self.change_limits(value);
            }
        }
        let known = FIELDS.iter().find(|(field, _)| *field == name);
        let (name, kind) = known.ok_or_else(|| InvalidPatch::Field {
            name: name.to_owned(),
        })?;
        let change = kind.change(name, value);
        self.0.push(change.ok_or_else(|| InvalidPatch::Value {
            name,
            value: value.to_string(),
            allowed: kind.allowed(),
        })?);
        Ok(())
    }

    fn limit(&mut self, name: &str, value: &Value) {
        let value = (!value.is_null()).then(|| value.clone());
        self.0.push(Change::Limit(name.to_owned(), value));
    }

    fn change_limits(&mut self, value: &Value) -> Result<(), InvalidPatch> {
        let limits = match value {
            Value::Null => None,
            Value::Object(limits) => Some(limits),
            other => {
                return Err(InvalidPatch::Value {
                    name: LIMITS,
                    value: other.to_string(),
                    allowed: "an object such as {\"memoryMax\": \"512M\"}, or null".to_owned(),
                });
            }
        };
        self.0.push(Change::ClearLimits);
        for (name, value) in limits.into_iter().flatten() {
            self.limit(name, value);
        }
        Ok(())
    }

    /// The limits that it sets, which this crate knows nothing about.
    pub fn limits(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().filter_map(|change| match change {
            Change::Limit(name, Some(value)) => Some((name.as_str(), value)),
            _ => None,
        })
    }

    /// The same with a value as a command line has it; empty clears the field.
    pub fn change_text(&mut self, name: &str, value: &str) -> Result<(), InvalidPatch> {
        if name.starts_with(LIMITS) && !value.is_empty() {
            // Numbers and objects as JSON writes them; else text such as 512M.
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
            return self.change(name, &value);
        }
        let is_switch = matches!(
            FIELDS.iter().find(|(field, _)| *field == name),
            Some((_, Kind::Since(_)))
        );
        let value = match value {
            "" => Value::Null,
            "true" | "on" | "yes" if is_switch => Value::Bool(true),
            "false" | "off" | "no" if is_switch => Value::Bool(false),
            text => Value::from(text),
        };
        self.change(name, &value)
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The label it sets.
    pub fn label(&self) -> Option<&str> {
        self.0.iter().find_map(|change| match change {
            Change::Set("label", label) => Some(label.as_str()),
            _ => None,
        })
    }

    /// Whether it ends the session.
    pub fn archives(&self) -> bool {
        self.0.contains(&Change::Since(ARCHIVED_AT, true))
    }

    /// The entries of the transcript that tell of it, so that an index made
    /// anew from transcripts knows it too.
    pub fn markers(&self) -> Vec<Marker> {
        self.0.iter().filter_map(Change::marker).collect()
    }

    /// Changes `entry`.
    pub fn apply(&self, entry: &mut SessionEntry, now_ms: i64) {
        for change in &self.0 {
            match change {
                Change::Set(name, value) => entry.set(name, value.clone()),
                Change::SetNumber(name, value) => entry.set(name, *value),
                Change::Clear(name) => entry.clear(name),
                Change::Model { provider, model } => {
                    entry.set_model_override(provider.as_deref(), model);
                }
                Change::ClearModel => entry.clear_model_override(),
                Change::Since(name, is_on) => {
                    if *is_on {
                        entry.set(name, now_ms)
                    } else {
                        entry.clear(name)
                    }
                    if *name == ARCHIVED_AT {
                        note_archived_by_hand(entry, *is_on);
                    }
                }
                Change::ClearLimits => entry.clear(LIMITS),
                Change::Limit(name, value) => set_limit(entry, name, value.as_ref()),
            }
        }
        self.settle_auth_profile(entry);
        entry.touch(now_ms);
    }

    /// What is chosen without a word of who chose it is the user's choice.
    fn settle_auth_profile(&self, entry: &mut SessionEntry) {
        let is_set = |name| {
            let sets = |change: &Change| matches!(change, Change::Set(set, _) if *set == name);
            self.0.iter().any(sets)
        };
        if is_set(AUTH_PROFILE) {
            entry.clear(AUTH_PROFILE_COUNT);
            if !is_set(AUTH_PROFILE_SOURCE) {
                entry.set(AUTH_PROFILE_SOURCE, CHOSEN);
            }
        }
        if entry.get::<Value>(AUTH_PROFILE).is_none() {
            entry.clear(AUTH_PROFILE_SOURCE);
            entry.clear(AUTH_PROFILE_COUNT);
        }
    }
}

/// OpenClaw's reason, by which what somebody archived is told from what was too old or too many.
fn note_archived_by_hand(entry: &mut SessionEntry, is_archived: bool) {
    entry.clear("archivedBy");
    if is_archived {
        entry.set("archiveReason", "manual")
    } else {
        entry.clear("archiveReason")
    }
}

fn set_limit(entry: &mut SessionEntry, name: &str, value: Option<&Value>) {
    let mut limits: Map<String, Value> = entry.get(LIMITS).unwrap_or_default();
    match value {
        Some(value) => drop(limits.insert(name.to_owned(), value.clone())),
        None => drop(limits.remove(name)),
    }
    if limits.is_empty() {
        entry.clear(LIMITS)
    } else {
        entry.set(LIMITS, limits)
    }
}

impl Kind {
    fn change(self, name: &'static str, value: &Value) -> Option<Change> {
        match (self, value) {
            (Self::Since(since), Value::Null) => Some(Change::Since(since, false)),
            (Self::Since(since), Value::Bool(on)) => Some(Change::Since(since, *on)),
            (Self::Model, Value::Null) => Some(Change::ClearModel),
            (_, Value::Null) => Some(Change::Clear(name)),
            (Self::Text(limit), Value::String(text)) => {
                let text = text.trim();
                let fits = !text.is_empty() && text.len() <= limit;
                (fits && !text.contains(char::is_control))
                    .then(|| Change::Set(name, text.to_owned()))
            }
            (Self::Word(words), Value::String(word)) => {
                let word = word.trim().to_lowercase();
                words
                    .contains(&word.as_str())
                    .then_some(Change::Set(name, word))
            }
            (Self::Model, Value::String(model)) => model_change(model.trim()),
            (Self::Number(most), Value::Number(number)) => {
                let number = number.as_u64().filter(|number| *number <= most);
                number.map(|number| Change::SetNumber(name, number))
            }
            // As a command line has it.
            (Self::Number(_), Value::String(text)) => {
                self.change(name, &Value::from(text.trim().parse::<u64>().ok()?))
            }
            _ => None,
        }
    }

    fn allowed(self) -> String {
        match self {
            Self::Text(limit) => format!("a text of 1 to {limit} bytes, or null"),
            Self::Word(words) => format!("{}, or null", words.join(", ")),
            Self::Number(most) => format!("a number up to {most}, or null"),
            Self::Since(_) => "true or false".to_owned(),
            Self::Model => "\"provider/model\", or null".to_owned(),
        }
    }
}

fn model_change(text: &str) -> Option<Change> {
    let is_word = |c: char| !c.is_whitespace() && !c.is_control();
    let (provider, model) = match text.split_once('/') {
        Some((provider, model)) => (Some(provider.to_lowercase()), model),
        None => (None, text),
    };
    let is_valid = !model.is_empty()
        && provider.as_deref() != Some("")
        && text.len() <= WORD_LIMIT
        && text.chars().all(is_word);
    is_valid.then(|| Change::Model {
        provider,
        model: model.to_owned(),
    })
}

impl Change {
    fn marker(&self) -> Option<Marker> {
        match self {
            Self::Set("label", name) => Some(Marker::SessionInfo { name: name.clone() }),
            Self::Clear("label") => Some(Marker::SessionInfo {
                name: String::new(),
            }),
            Self::Set("thinkingLevel", level) => Some(Marker::ThinkingLevelChange {
                thinking_level: level.clone(),
            }),
            Self::Model { provider, model } => Some(Marker::ModelChange {
                provider: provider.clone().unwrap_or_default(),
                model_id: model.clone(),
            }),
            Self::ClearModel => Some(cleared("model")),
            Self::Clear("thinkingLevel") => Some(cleared("thinkingLevel")),
            _ => None,
        }
    }
}

fn cleared(field: &str) -> Marker {
    Marker::Custom {
        custom_type: CLEARED_ENTRY.to_owned(),
        data: json!({ "field": field }),
    }
}

#[cfg(test)]
mod tests;
