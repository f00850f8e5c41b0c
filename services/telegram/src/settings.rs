//! The account's settings, as the gateway tells them.

use openclaw_proto::channel::{OfferedCommand, Settings};
use serde::Deserialize;
use serde_json::{Map, Value};

/// Where Telegram's own API is.
pub(crate) const API_ROOT: &str = "https://api.telegram.org";
/// The longest text that Telegram takes, in UTF-16 units.
pub(crate) const TEXT_LIMIT: usize = 4096;

/// What is shown while an answer is made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Streaming {
    /// Nothing.
    Off,
    /// What was said so far.
    #[default]
    Partial,
    /// The paragraphs that are whole.
    Block,
    /// What is done, in one line.
    Progress,
}

/// Which messages name what they answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ReplyTo {
    /// None.
    #[default]
    Off,
    /// The first of an answer.
    First,
    /// All of an answer.
    All,
    /// The first, in groups.
    Batched,
}

/// Which failures are told.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ErrorPolicy {
    /// Each.
    #[default]
    Always,
    /// The same one in a chat once.
    Once,
    /// None.
    Silent,
}

/// Where buttons are shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Buttons {
    /// Nowhere.
    Off,
    /// In direct chats.
    Dm,
    /// In groups.
    Group,
    /// Everywhere.
    All,
    /// Everywhere; the gateway decides who may press.
    #[default]
    Allowlist,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Capabilities {
    inline_buttons: Buttons,
}

/// What holds for the account.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct Options {
    /// The file with the token.
    pub(crate) token_file: Option<String>,
    /// Where the API is.
    pub(crate) api_root: Option<String>,
    /// An HTTP proxy.
    pub(crate) proxy: Option<String>,
    /// What is shown while an answer is made.
    pub(crate) streaming: Streaming,
    /// UTF-16 units of one message.
    pub(crate) text_chunk_limit: usize,
    /// Which messages name what they answer.
    pub(crate) reply_to_mode: ReplyTo,
    /// Whether links have a preview.
    pub(crate) link_preview: bool,
    /// The emoji that says that a message came.
    pub(crate) ack_reaction: String,
    /// Megabytes of a file, either way.
    pub(crate) media_max_mb: u64,
    /// Which failures are told.
    pub(crate) error_policy: ErrorPolicy,
    /// Where Telegram calls.
    pub(crate) webhook_url: Option<String>,
    /// The path of these calls.
    pub(crate) webhook_path: String,
    /// The address that takes them.
    pub(crate) webhook_host: String,
    /// Its port.
    pub(crate) webhook_port: u16,
    pub(crate) capabilities: Capabilities,
    pub(crate) commands: Native,
    /// The agents' names.
    #[serde(skip)]
    pub(crate) names: Vec<String>,
    /// What stands in the menu.
    #[serde(skip)]
    pub(crate) menu: Vec<OfferedCommand>,
}

#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default)]
pub(crate) struct Native {
    native: Value,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            token_file: None,
            api_root: None,
            proxy: None,
            streaming: Streaming::default(),
            text_chunk_limit: 4000,
            reply_to_mode: ReplyTo::default(),
            link_preview: true,
            ack_reaction: String::new(),
            media_max_mb: 100,
            error_policy: ErrorPolicy::default(),
            webhook_url: None,
            webhook_path: "/telegram-webhook".to_owned(),
            webhook_host: "127.0.0.1".to_owned(),
            webhook_port: 8787,
            capabilities: Capabilities::default(),
            commands: Native::default(),
            names: Vec::new(),
            menu: Vec::new(),
        }
    }
}

/// The keys that act; others are refused by name.
const KEYS: [&str; 18] = [
    "ackReaction",
    "apiRoot",
    "capabilities",
    "commands",
    "customCommands",
    "errorPolicy",
    "linkPreview",
    "mediaMaxMb",
    "name",
    "proxy",
    "replyToMode",
    "streaming",
    "textChunkLimit",
    "tokenFile",
    "webhookHost",
    "webhookPath",
    "webhookPort",
    "webhookUrl",
];

impl Options {
    /// What the gateway says, and what of it is not taken: one line for each key.
    pub(crate) fn of(settings: &Settings) -> (Self, Vec<String>) {
        let mut refused = Vec::new();
        let mut taken = Map::new();
        for (key, value) in &settings.json {
            if !KEYS.contains(&key.as_str()) {
                refused.push(format!("channels.telegram.{key} does not act here"));
                continue;
            }
            let one = Map::from_iter([(key.clone(), value.clone())]);
            match serde_json::from_value::<Self>(one.into()) {
                Ok(_) => drop(taken.insert(key.clone(), value.clone())),
                Err(error) => refused.push(format!(
                    "channels.telegram.{key} is not taken, its default is used: {error}"
                )),
            }
        }
        let mut options: Self = serde_json::from_value(taken.into()).unwrap_or_default();
        options.text_chunk_limit = options.text_chunk_limit.clamp(1, TEXT_LIMIT);
        options.names.clone_from(&settings.names);
        if options.commands.native != Value::Bool(false) {
            options.menu.clone_from(&settings.commands);
        }
        let custom = settings
            .json
            .get("customCommands")
            .and_then(Value::as_array);
        for command in custom.into_iter().flatten() {
            let text = |key: &str| command[key].as_str().unwrap_or_default().to_owned();
            let name = text("command").trim_start_matches('/').to_owned();
            if !options.menu.iter().any(|it| it.name == name) {
                options.menu.push(OfferedCommand {
                    name,
                    description: text("description"),
                });
            }
        }
        (options, refused)
    }

    /// Where the API is.
    pub(crate) fn root(&self) -> &str {
        self.api_root
            .as_deref()
            .unwrap_or(API_ROOT)
            .trim_end_matches('/')
    }

    /// Whether a chat of this kind has buttons.
    pub(crate) fn has_buttons(&self, is_direct: bool) -> bool {
        match self.capabilities.inline_buttons {
            Buttons::Off => false,
            Buttons::Dm => is_direct,
            Buttons::Group => !is_direct,
            Buttons::All | Buttons::Allowlist => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(json: Value) -> (Options, Vec<String>) {
        Options::of(&Settings {
            json: json.as_object().cloned().unwrap(),
            ..Settings::default()
        })
    }

    #[test]
    fn options_have_openclaws_defaults() {
        let (options, refused) = of(json!({}));
        assert_eq!(options, Options::default());
        assert!(refused.is_empty());
        assert!(options.link_preview && options.has_buttons(true));
        assert_eq!(options.root(), API_ROOT);
    }

    #[test]
    fn options_refuse_by_name_what_they_do_not_take() {
        let (options, refused) = of(json!({
            "actions": {"sticker": true}, "streaming": "loud", "textChunkLimit": 9000,
            "proxy": "socks5://a", "linkPreview": false,
        }));
        // Nothing goes out without it (`Api::new`).
        assert_eq!(options.proxy.as_deref(), Some("socks5://a"));
        assert_eq!(options.text_chunk_limit, TEXT_LIMIT);
        assert!(!options.link_preview);
        let all = refused.join("\n");
        for key in ["actions", "streaming"] {
            assert!(all.contains(&format!("channels.telegram.{key} ")), "{all}");
        }
        assert_eq!(refused.len(), 2, "{all}");
    }

    #[test]
    fn options_offer_custom_commands_beside_the_gateways() {
        let json = json!({"customCommands": [{"command": "/backup", "description": "Save"}]});
        let names: Vec<_> = of(json).0.menu.into_iter().map(|it| it.name).collect();
        assert_eq!(names, ["backup"]);
    }
}
