//! `hooks.mappings` of the file, typed but optional, as written.
//!
//! The names are OpenClaw's (reference: `hooks.mappings` of its configuration).

use crate::section::sections;

sections! {
    /// What a call of a hook with a name of the user's own does.
    pub struct Mapping {
        /// What it is called in messages about it.
        id: Option<String>,
        /// The calls that it is for; all when nothing is said.
        #[serde(rename = "match")]
        matches: Match,
        /// `agent` or `wake`.
        action: Option<String>,
        /// `now` or `next-heartbeat`.
        wake_mode: Option<String>,
        /// What the caller is called; a template.
        name: Option<String>,
        /// The agent that works.
        agent_id: Option<String>,
        /// The session; a template.
        session_key: Option<String>,
        /// `isolated` or `persistent`.
        session_mode: Option<String>,
        /// What the agent is told; a template.
        message_template: Option<String>,
        /// The event that the main session is told; a template.
        text_template: Option<String>,
        /// The name of a list in what is sent: each of its items is a call.
        for_each: Option<String>,
        /// Whether the main session hears of a result.
        deliver: bool = true,
        /// Where the result goes; `last` and nothing are the main session.
        channel: Option<String>,
        /// To whom there; a template.
        to: Option<String>,
        /// `provider/model`; a template.
        model: Option<String>,
        /// How much is thought; a template.
        thinking: Option<String>,
        /// The longest that a turn may take.
        timeout_seconds: Option<u64>,
        /// Whether what was sent is told to the agent as the user's own words.
        allow_unsafe_external_content: bool = false,
        /// A program of OpenClaw's that makes the action. None is run here.
        transform: Option<Transform>,
    }

    /// Which calls a mapping is for.
    pub struct Match {
        /// What comes after `hooks.path`.
        path: Option<String>,
        /// What `source` is in what is sent.
        source: Option<String>,
    }

    /// A program of OpenClaw's.
    pub struct Transform {
        /// Its file.
        module: Option<String>,
        /// Its function.
        export: Option<String>,
    }
}
