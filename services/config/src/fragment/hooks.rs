//! `hooks.mappings` of the file, typed but optional, as written.
//!
//! The names are OpenClaw's (reference: `hooks.mappings` of its configuration).

use serde::Deserialize;

/// What a call of a hook with a name of the user's own does.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Mapping {
    /// What it is called in messages about it.
    pub id: Option<String>,
    /// The calls that it is for; all when nothing is said.
    #[serde(rename = "match")]
    pub matches: Match,
    /// `agent` or `wake`.
    pub action: Option<String>,
    /// `now` or `next-heartbeat`.
    pub wake_mode: Option<String>,
    /// What the caller is called; a template.
    pub name: Option<String>,
    /// The agent that works.
    pub agent_id: Option<String>,
    /// The session; a template.
    pub session_key: Option<String>,
    /// `isolated` or `persistent`.
    pub session_mode: Option<String>,
    /// What the agent is told; a template.
    pub message_template: Option<String>,
    /// The event that the main session is told; a template.
    pub text_template: Option<String>,
    /// The name of a list in what is sent: each of its items is a call.
    pub for_each: Option<String>,
    /// Whether the main session hears of a result.
    pub deliver: Option<bool>,
    /// Where the result goes; `last` and nothing are the main session.
    pub channel: Option<String>,
    /// To whom there; a template.
    pub to: Option<String>,
    /// `provider/model`; a template.
    pub model: Option<String>,
    /// How much is thought; a template.
    pub thinking: Option<String>,
    /// The longest that a turn may take.
    pub timeout_seconds: Option<u64>,
    /// Whether what was sent is told to the agent as the user's own words.
    pub allow_unsafe_external_content: Option<bool>,
    /// A program of OpenClaw's that makes the action. None is run here.
    pub transform: Option<Transform>,
}

/// Which calls a mapping is for.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Match {
    /// What comes after `hooks.path`.
    pub path: Option<String>,
    /// What `source` is in what is sent.
    pub source: Option<String>,
}

/// A program of OpenClaw's.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Transform {
    /// Its file.
    pub module: Option<String>,
    /// Its function.
    pub export: Option<String>,
}
