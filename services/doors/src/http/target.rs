//! Which agent and which session a request of the OpenAI-compatible API is
//! for. The model's name is the agent, as in OpenClaw.

use axum::http::{HeaderMap, StatusCode};
use openclaw_settings::Settings;
use uuid::Uuid;

use super::problem::Problem;

/// Names an agent, before the model's name.
const AGENT_HEADER: &str = "x-openclaw-agent-id";
/// Names a session.
const SESSION_HEADER: &str = "x-openclaw-session-key";
/// Names where the messages of a session come from.
const CHANNEL_HEADER: &str = "x-openclaw-message-channel";
/// The same key again returns the same run.
const IDEMPOTENCY_HEADER: &str = "idempotency-key";
/// The channel of those that name none,
const CHANNEL: &str = "api";
/// and of those whose session ends with them, whatever they name: these are not
/// remembered (`PASSING` in `memory/src/transcript.rs`).
const CHANNEL_ONCE: &str = "api-once";

/// Where a message goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) agent: String,
    pub(super) session_key: String,
    pub(super) channel: String,
    pub(super) idempotency_key: String,
    /// Whether the session goes on after this message.
    pub(super) lasts: bool,
}

impl Target {
    /// `family` is the part of a new session's key that says which API it is
    /// of; `user` is the request's own name for who asks.
    pub(super) fn of(
        headers: &HeaderMap,
        model: &str,
        user: Option<&str>,
        family: &str,
        settings: &Settings,
    ) -> Result<Self, Problem> {
        let header = |name: &str| {
            let value = headers.get(name)?.to_str().ok()?.trim();
            (!value.is_empty()).then(|| value.to_owned())
        };
        let agent = match header(AGENT_HEADER) {
            Some(agent) => agent,
            None => agent_of(model, settings)?,
        };
        let named = header(SESSION_HEADER).or_else(|| {
            let user = user.map(str::trim).filter(|user| !user.is_empty())?;
            Some(format!("agent:{agent}:{family}-user:{}", key_part(user)))
        });
        let channel = match named {
            Some(_) => header(CHANNEL_HEADER).unwrap_or_else(|| CHANNEL.to_owned()),
            None => CHANNEL_ONCE.to_owned(),
        };
        Ok(Self {
            lasts: named.is_some(),
            session_key: named
                .unwrap_or_else(|| format!("agent:{agent}:{family}:{}", Uuid::new_v4())),
            agent,
            channel,
            idempotency_key: header(IDEMPOTENCY_HEADER).unwrap_or_default(),
        })
    }
}

/// `openclaw`, `openclaw/default`, `openclaw/<agent>`, `openclaw:<agent>` or
/// `agent:<agent>`.
fn agent_of(model: &str, settings: &Settings) -> Result<String, Problem> {
    let named = ["openclaw/", "openclaw:", "agent:"]
        .iter()
        .find_map(|prefix| model.strip_prefix(prefix));
    let agent = match named {
        Some("default") => settings.default_agent.as_str(),
        None if model == "openclaw" => settings.default_agent.as_str(),
        Some(agent) if settings.agent(agent).is_some() => agent,
        _ => return Err(unknown(model)),
    };
    Ok(agent.to_owned())
}

/// No model has that name.
pub(super) fn unknown(model: &str) -> Problem {
    let message = format!(
        "there is no model {model:?}: a model is an agent, such as \"openclaw\" or \
         \"openclaw/main\"; GET /v1/models lists them"
    );
    Problem::new(StatusCode::NOT_FOUND, "model_not_found", message)
}

/// The user's name as a part of a session key, with a name of its own for
/// every user: what a key cannot have is written in hexadecimal.
fn key_part(user: &str) -> String {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.@".contains(c);
    let mut part = String::with_capacity(user.len());
    for c in user.chars() {
        if plain(c) {
            part.push(c);
        } else {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                part.push_str(&format!("%{byte:02x}"));
            }
        }
    }
    part
}

#[cfg(test)]
mod tests {
    use openclaw_config::{Environment, Paths};
    use openclaw_sessions::{AgentId, SessionKey};
    use proptest::prelude::*;

    use super::*;

    fn settings() -> Settings {
        let environment: Environment = [("HOME", "/h")].into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        let document = serde_json::json!({"agents": {"list": [{"id": "main"}, {"id": "work"}]}});
        Settings::assemble(paths, document, &environment).unwrap()
    }

    fn target(headers: &[(&'static str, &str)], model: &str) -> Result<Target, Problem> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        Target::of(&map, model, None, "openai", &settings())
    }

    #[test]
    fn model_is_the_agent() {
        for model in [
            "openclaw",
            "openclaw/default",
            "openclaw/main",
            "agent:main",
        ] {
            assert_eq!(target(&[], model).unwrap().agent, "main", "{model}");
        }
        for model in ["openclaw:work", "openclaw/work"] {
            assert_eq!(target(&[], model).unwrap().agent, "work");
        }
        for model in ["gpt-4o", "", "openclaw/nobody", "openclaw/"] {
            assert!(target(&[], model).is_err(), "{model}");
        }
    }

    #[test]
    fn headers_say_more() {
        let headers = [
            (AGENT_HEADER, "work"),
            (SESSION_HEADER, "agent:work:x"),
            (CHANNEL_HEADER, "phone"),
        ];
        let target = target(&headers, "anything").unwrap();
        assert_eq!(target.session_key, "agent:work:x");
        assert_eq!(
            (target.agent.as_str(), target.channel.as_str()),
            ("work", "phone")
        );
        assert!(target.lasts);
    }

    #[test]
    fn target_what_names_no_session_is_of_no_channel() {
        let target = target(&[(CHANNEL_HEADER, "phone")], "openclaw").unwrap();
        assert_eq!(
            (target.channel.as_str(), target.lasts),
            (CHANNEL_ONCE, false)
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        /// Every user has a session of his own, and it has a valid key.
        #[test]
        fn users_do_not_share_a_session(a in "\\PC{1,16}", b in "\\PC{1,16}") {
            let key = |user: &str| key_part(user);
            prop_assert_eq!(key(&a) == key(&b), a == b);
            let text = format!("agent:main:openai-user:{}", key(&a));
            let parsed = SessionKey::parse(&text, &AgentId::main()).unwrap();
            prop_assert_eq!(parsed.as_str(), text);
        }
    }
}
