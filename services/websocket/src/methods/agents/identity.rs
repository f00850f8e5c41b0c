//! `agent.identity.get`: who an agent is, by the configuration, or else by the
//! IDENTITY.md of its workspace, as OpenClaw answers it (`resolveAssistantIdentity`).

use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use openclaw_settings::{AgentSettings, Persona};
use serde::Deserialize;
use serde_json::json;

use super::super::{Answer, Call};

methods! { "agent.identity.get" => READ, identity; }

/// The file, and its most bytes that are looked at.
const FILE: &str = "IDENTITY.md";
const FILE_LIMIT: u64 = 64 * 1024;

/// Characters of a picture that is drawn from text: an emoji, or a letter.
const DRAWN: usize = 4;

/// The placeholders of OpenClaw's template.
const UNFILLED: [&str; 3] = ["(", "not set yet", "pick something you like"];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Identity {
    agent_id: Option<Filled>,
    session_key: Option<String>,
}

/// `agent.identity.get`
async fn identity(mut call: Call) -> Result<Answer, Failure> {
    let params: Identity = call.params()?;
    let session = params.session_key.unwrap_or_default();
    let key = call.key(&session, params.agent_id.as_deref())?;
    let id = key.agent().as_str();
    let settings = call.context.core.configuration.settings();
    let agent = settings.agent(id).cloned();
    let said = agent.as_ref().map(|it| it.persona.clone());
    let said = said.unwrap_or_default();
    let written = tokio::task::spawn_blocking(move || written(agent.as_ref()));
    let written = written.await.unwrap_or_default();
    let (name, source) = match (&said.name, &written.name) {
        (Some(name), _) => (name.as_str(), "agent"),
        (None, Some(name)) => (name.as_str(), "workspace"),
        (None, None) => ("Assistant", "default"),
    };
    let pictures = [&said.avatar, &said.emoji, &written.avatar, &written.emoji];
    let picture = pictures.into_iter().flatten().find(|it| is_picture(it));
    let initial = name.chars().next().map(|letter| letter.to_string());
    let mut identity = json!({
        "agentId": id,
        "name": name,
        "nameSource": source,
        "avatar": picture.cloned().or(initial),
    });
    let emojis = [&said.emoji, &written.emoji, &said.avatar, &written.avatar];
    if let Some(emoji) = emojis.into_iter().flatten().find(|it| is_emoji(it)) {
        identity["emoji"] = json!(emoji);
    }
    Ok(identity.into())
}

/// The identity in the agent's workspace; empty if the file cannot be read.
fn written(agent: Option<&AgentSettings>) -> Persona {
    let folder = agent.and_then(|agent| agent.workspace.open().ok().flatten());
    let text = folder.and_then(|folder| folder.read(FILE, FILE_LIMIT).ok().flatten());
    parsed(&String::from_utf8_lossy(&text.unwrap_or_default()))
}

/// Lines such as `- **Name:** Robbie`.
fn parsed(text: &str) -> Persona {
    let mut said = Persona::default();
    for line in text.lines() {
        let line = line.trim().trim_start_matches('-');
        let Some((label, value)) = line.split_once(':') else {
            continue;
        };
        let is_mark = |c: char| c.is_whitespace() || "*_`".contains(c);
        let value = value.trim_matches(is_mark);
        let lower = value.to_lowercase();
        if value.is_empty() || UNFILLED.iter().any(|it| lower.starts_with(it)) {
            continue;
        }
        let field = match label.trim_matches(is_mark).to_lowercase().as_str() {
            "name" => &mut said.name,
            "emoji" => &mut said.emoji,
            "avatar" => &mut said.avatar,
            _ => continue,
        };
        *field = Some(value.to_owned());
    }
    said
}

/// Whether clients can show it: an address, a file, or a few characters.
fn is_picture(text: &str) -> bool {
    let is_drawn = text.encode_utf16().count() <= DRAWN && !text.contains(char::is_whitespace);
    is_drawn || is_place(text)
}

fn is_place(text: &str) -> bool {
    let beginnings = ["http://", "https://", "data:image/"];
    let ends = [".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"];
    let lower = text.to_lowercase();
    match lower.split_once(':') {
        Some(_) => beginnings.iter().any(|it| lower.starts_with(it)),
        None => lower.contains('/') || ends.iter().any(|it| lower.ends_with(it)),
    }
}

fn is_emoji(text: &str) -> bool {
    !text.is_ascii() && !is_place(text) && !text.contains("://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_is_read_as_it_is_written() {
        let text = "# IDENTITY.md\r\n- **Name:** Robbie\n-  Emoji: `🤖`\n- *Avatar:* _(workspace \
                    path)_\n- Creature: robot\nname: \n";
        let said = parsed(text);
        assert_eq!(said.name.as_deref(), Some("Robbie"));
        assert_eq!(said.emoji.as_deref(), Some("🤖"));
        assert_eq!(said.avatar, None);
        assert_eq!(
            parsed("- Name: _(pick something you like)_\n"),
            Persona::default()
        );
        assert_eq!(
            parsed("- Name: not set yet\nno label\n"),
            Persona::default()
        );
    }

    #[test]
    fn pictures_are_what_clients_can_show() {
        for (text, is_shown, is_sign) in [
            ("🤖", true, true),
            ("R", true, false),
            ("avatars/robin.png", true, false),
            ("https://a.b/é.png", true, false),
            ("a friendly robot", false, false),
            ("ein größerer Text", false, true),
            ("ftp://a.b/x.png", false, false),
        ] {
            assert_eq!(
                (is_picture(text), is_emoji(text)),
                (is_shown, is_sign),
                "{text}"
            );
        }
    }
}
