//! Webhooks: who may call, and what calls do.

use openclaw_config::secret::Secret;

use super::Problem;
use crate::keys::gateway as keys;
use crate::keys::hooks as mapping;

/// The longest that a turn of a hook can be given; a turn's own limit is below it.
pub const TIMEOUT_LIMIT: u64 = 24 * 60 * 60;

/// Webhooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hooks {
    /// Whether they are served.
    pub enabled: bool,
    /// The token of the callers; kept by the gateway alone.
    pub token: Option<Secret>,
    /// Where they are, without the slash at the end.
    pub path: String,
    /// The session of calls that name none; a new one each when there is none.
    pub default_session_key: Option<String>,
    /// Whether callers may name a session.
    pub allow_request_session_key: bool,
    /// How the keys of sessions begin that hooks work in, in lower case; empty: in any way.
    pub session_prefixes: Vec<String>,
    /// Agents that may work for callers; `None`: all.
    pub allowed_agents: Option<Vec<String>>,
    /// What calls with names of the user's own do; the first that matches.
    pub mappings: Vec<Mapping>,
}

impl Default for Hooks {
    fn default() -> Self {
        Self {
            enabled: false,
            token: None,
            path: keys::Hooks::default().path,
            default_session_key: None,
            allow_request_session_key: false,
            session_prefixes: Vec::new(),
            allowed_agents: None,
            mappings: Vec::new(),
        }
    }
}

/// What a hook does.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Action {
    /// A turn of its own.
    #[default]
    Agent,
    /// The main session is told.
    Wake,
}

/// When the main session is told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WakeMode {
    /// In a turn of its own.
    #[default]
    Now,
    /// With the next turn that there is.
    NextHeartbeat,
}

/// Whether calls with the same session go on in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SessionMode {
    /// Each begins anew.
    #[default]
    Isolated,
    /// They know of each other.
    Persistent,
}

/// What a call of a hook with a name of the user's own does.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mapping {
    /// What it is called in messages about it.
    pub id: String,
    /// What comes after the path of hooks, without slashes around it; `None`: anything.
    pub path: Option<String>,
    /// What `source` is in what is sent; `None`: anything.
    pub source: Option<String>,
    /// What is done.
    pub action: Action,
    /// When the main session is told.
    pub wake_mode: WakeMode,
    /// A template.
    pub name: Option<String>,
    /// The agent that works.
    pub agent_id: Option<String>,
    /// A template.
    pub session_key: Option<String>,
    /// Whether calls with the same session go on in it.
    pub session_mode: SessionMode,
    /// What the agent is told; a template.
    pub message: String,
    /// What the main session is told; a template.
    pub text: String,
    /// The name of a list, each of whose items is a call.
    pub for_each: Option<String>,
    /// Whether the main session hears of a result.
    pub deliver: bool,
    /// The channel that the result goes to instead; none is built in.
    pub channel: Option<String>,
    /// A template.
    pub model: Option<String>,
    /// A template.
    pub thinking: Option<String>,
    /// Seconds.
    pub timeout: Option<u64>,
    /// Whether what was sent is told to the agent as the user's own words.
    pub trusts_content: bool,
    /// The program of OpenClaw's that would make the action.
    pub transform: Option<String>,
    /// Whether it is one of `hooks.presets`.
    pub is_preset: bool,
}

pub(super) fn resolve(fragment: &keys::Hooks) -> Result<Hooks, Problem> {
    let prefixes = fragment.allowed_session_key_prefixes.iter().flatten();
    let prefixes = prefixes.map(|prefix| prefix.trim().to_lowercase());
    let hooks = Hooks {
        enabled: fragment.enabled,
        token: None,
        path: path(&fragment.path)?,
        default_session_key: fragment.default_session_key.clone(),
        allow_request_session_key: fragment.allow_request_session_key,
        session_prefixes: prefixes.filter(|prefix| !prefix.is_empty()).collect(),
        allowed_agents: fragment
            .allowed_agent_ids
            .as_ref()
            .filter(|ids| !ids.iter().any(|id| id == "*"))
            .map(|ids| {
                ids.iter()
                    .map(|id| id.trim().to_ascii_lowercase())
                    .collect()
            }),
        mappings: mappings(fragment)?,
    };
    hooks.check()?;
    Ok(hooks)
}

impl Hooks {
    /// Whether hooks may work in the session `key`.
    pub fn admits(&self, key: &str) -> bool {
        let key = key.to_lowercase();
        self.session_prefixes.is_empty()
            || self.session_prefixes.iter().any(|it| key.starts_with(it))
    }

    /// Refuses at the start what no call could do.
    fn check(&self) -> Result<(), Problem> {
        let key = self.default_session_key.as_deref().unwrap_or("hook:");
        if !self.admits(key) {
            let problem = format!(
                "has no prefix of \"{key}\", which calls without a session of their own use"
            );
            return Err(("hooks.allowedSessionKeyPrefixes".to_owned(), problem));
        }
        for (at, mapping) in self.mappings.iter().enumerate() {
            let templated = mapping.session_key.as_ref();
            if templated.is_some_and(|key| key.contains("{{")) && self.session_prefixes.is_empty() {
                let problem = "is made of what is sent: say in hooks.allowedSessionKeyPrefixes \
                               how such keys begin";
                return Err(if mapping.is_preset {
                    let problem = format!("has {:?}, whose sessionKey {problem}", mapping.id);
                    ("hooks.presets".to_owned(), problem)
                } else {
                    let key = format!("hooks.mappings[{at}].sessionKey");
                    (key, problem.to_owned())
                });
            }
        }
        Ok(())
    }
}

fn path(path: &str) -> Result<String, Problem> {
    let path = path.trim_end_matches('/');
    let problem = match path {
        "" => Some("is the root, where everything else is; give one such as \"/hooks\""),
        path if path.contains(['{', '}', '*', '?', '#']) => Some("is no plain path"),
        _ => None,
    };
    match problem {
        Some(problem) => Err(("hooks.path".to_owned(), problem.to_owned())),
        None if path.starts_with('/') => Ok(path.to_owned()),
        None => Ok(format!("/{path}")),
    }
}

fn mappings(fragment: &keys::Hooks) -> Result<Vec<Mapping>, Problem> {
    let own = fragment.mappings.iter().enumerate();
    let mut all: Vec<_> = own
        .map(|(at, it)| mapping(at, it))
        .collect::<Result<_, _>>()?;
    if fragment.presets.iter().any(|preset| preset == "gmail") {
        all.push(gmail());
    }
    Ok(all)
}

fn mapping(at: usize, fragment: &mapping::Mapping) -> Result<Mapping, Problem> {
    let key = |name: &str| format!("hooks.mappings[{at}].{name}");
    let filled = |text: &Option<String>| text.clone().filter(|text| !text.trim().is_empty());
    if fragment
        .timeout_seconds
        .is_some_and(|s| s == 0 || s > TIMEOUT_LIMIT)
    {
        let problem = format!("must be from 1 to {TIMEOUT_LIMIT}");
        return Err((key("timeoutSeconds"), problem));
    }
    let path = filled(&fragment.matches.path);
    Ok(Mapping {
        id: filled(&fragment.id).unwrap_or_else(|| format!("mapping-{}", at + 1)),
        path: path.map(|path| path.trim_matches('/').to_owned()),
        source: fragment.matches.source.clone(),
        action: one_of(&key("action"), &fragment.action, ACTIONS)?,
        wake_mode: one_of(&key("wakeMode"), &fragment.wake_mode, WAKE_MODES)?,
        name: filled(&fragment.name),
        agent_id: filled(&fragment.agent_id).map(|id| id.trim().to_ascii_lowercase()),
        session_key: filled(&fragment.session_key),
        session_mode: one_of(&key("sessionMode"), &fragment.session_mode, SESSION_MODES)?,
        message: fragment.message_template.clone().unwrap_or_default(),
        text: fragment.text_template.clone().unwrap_or_default(),
        for_each: filled(&fragment.for_each),
        deliver: fragment.deliver,
        channel: filled(&fragment.channel).filter(|channel| channel != "last"),
        model: filled(&fragment.model),
        thinking: filled(&fragment.thinking),
        timeout: fragment.timeout_seconds,
        trusts_content: fragment.allow_unsafe_external_content,
        transform: fragment
            .transform
            .as_ref()
            .map(|it| it.module.clone().unwrap_or_default()),
        is_preset: false,
    })
}

const ACTIONS: &[(&str, Action)] = &[("agent", Action::Agent), ("wake", Action::Wake)];
const WAKE_MODES: &[(&str, WakeMode)] = &[
    ("now", WakeMode::Now),
    ("next-heartbeat", WakeMode::NextHeartbeat),
];
const SESSION_MODES: &[(&str, SessionMode)] = &[
    ("isolated", SessionMode::Isolated),
    ("persistent", SessionMode::Persistent),
];

fn one_of<T: Copy + Default>(
    key: &str,
    word: &Option<String>,
    known: &[(&str, T)],
) -> Result<T, Problem> {
    let Some(word) = word else {
        return Ok(T::default());
    };
    let found = known.iter().find(|(name, _)| name == word);
    found.map(|(_, value)| *value).ok_or_else(|| {
        let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
        (
            key.to_owned(),
            format!("is \"{word}\", not one of {}", names.join(", ")),
        )
    })
}

/// OpenClaw's preset for what `gog gmail watch serve` sends.
fn gmail() -> Mapping {
    let text = |text: &str| Some(text.to_owned());
    Mapping {
        id: "gmail".to_owned(),
        path: text("gmail"),
        name: text("Gmail"),
        session_key: text("hook:gmail:{{messages[0].id}}"),
        message: "New email from {{messages[0].from}}\nSubject: {{messages[0].subject}}\n\
                  {{messages[0].snippet}}\n{{messages[0].body}}"
            .to_owned(),
        for_each: text("messages"),
        deliver: true,
        is_preset: true,
        ..Mapping::default()
    }
}
