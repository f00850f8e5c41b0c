//! Channels: their accounts, each with what holds for it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use openclaw_config::error::Error;
use openclaw_config::paths::Paths;
use openclaw_config::secret::Secret;
use openclaw_config::substitute::{ELSEWHERE, unanswered};
use openclaw_effect::values::telegram;
use serde_json::{Map, Value};

use crate::keys;
use crate::keys::channels::{Account, Binding, PeerId};

/// Channels that there is a daemon for.
pub const CHANNELS: [&str; 1] = ["telegram"];

/// The account of a channel that names none.
pub const DEFAULT_ACCOUNT: &str = "default";

/// The file in which openclawctl keeps the token of an account.
pub fn token_file(paths: &Paths, channel: &str, account: &str) -> PathBuf {
    let name = format!("{channel}-{account}.token");
    paths.state.join("credentials").join(name)
}

/// The variable that may have the token of the channel's default account.
pub fn token_variable(channel: &str) -> String {
    format!("{}_BOT_TOKEN", channel.to_ascii_uppercase())
}

/// What the daemon of an account must not forget; of all state its unit sees this
/// folder alone. `account` is [`DEFAULT_ACCOUNT`] for the channel's default one,
/// however the configuration calls it.
pub fn state_folder(paths: &Paths, channel: &str, account: &str) -> PathBuf {
    paths
        .state
        .join("state/channels")
        .join(channel)
        .join(account)
}

/// The unit that attends an account. That of the default one is the channel's
/// own, however the configuration calls the account.
pub fn unit(channel: &str, account: &str, is_default: bool) -> String {
    if is_default || account == DEFAULT_ACCOUNT {
        format!("openclaw-{channel}.service")
    } else {
        format!("openclaw-{channel}@{account}.service")
    }
}

/// How the daemon of `unit` is started.
pub fn start(unit: &str) -> String {
    format!(
        "start it with: systemctl --user start {unit} (without systemd: openclawctl start; one \
         that runs already starts it by itself)"
    )
}

/// The keys that name a token, the first one before the other.
const TOKENS: [&str; 2] = ["tokenFile", "botToken"];

/// Settings for the gateway's decisions, which no channel daemon needs.
const OF_THE_GATEWAY: [&str; 11] = [
    "allowFrom",
    "dmHistoryLimit",
    "dmPolicy",
    "dms",
    "enabled",
    "execApprovals",
    "groupAllowFrom",
    "groupPolicy",
    "groups",
    "historyLimit",
    "reactionNotifications",
];

/// The channels of the configuration.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChannelSettings {
    /// Accounts by channel and name, those that are switched off among them.
    pub accounts: BTreeMap<String, BTreeMap<String, Account>>,
    /// The account of each channel that is meant where none is named.
    pub defaults: BTreeMap<String, String>,
    /// The accounts, by channel and name, whose token the configuration itself has.
    pub with_token: BTreeSet<(String, String)>,
    /// Their tokens. Empty but in the gateway
    /// ([`Settings::with_gateway_secrets`](crate::Settings::with_gateway_secrets)).
    pub tokens: BTreeMap<(String, String), Secret>,
    /// What the tokens of accounts refer to, by channel and account, where that is not set.
    pub unset_tokens: BTreeMap<(String, String), String>,
    /// What calls of their webhooks are known by, where the configuration says so;
    /// as empty as those.
    pub webhook_secrets: BTreeMap<(String, String), Secret>,
    /// Which agent answers what.
    pub bindings: Vec<Binding>,
    /// The owners beside the peer that was paired first.
    pub owners: Vec<PeerId>,
}

impl ChannelSettings {
    /// Those of `document`, in which credentials are left out. `with_token` are the
    /// accounts that had theirs in it, `unset_tokens` what that of others refers to.
    pub(super) fn of(
        paths: &Paths,
        document: &Value,
        fragment: &keys::Fragment,
        with_token: BTreeSet<(String, String)>,
        unset_tokens: BTreeMap<(String, String), String>,
    ) -> Result<Self, Error> {
        let mut settings = Self {
            bindings: fragment.bindings.clone(),
            owners: fragment.commands.owner_allow_from.clone(),
            with_token,
            unset_tokens,
            ..Self::default()
        };
        for (channel, written) in written(document) {
            settings.add(paths, channel, written)?;
        }
        Ok(settings)
    }

    fn add(
        &mut self,
        paths: &Paths,
        channel: &str,
        written: &Map<String, Value>,
    ) -> Result<(), Error> {
        let key = format!("channels.{channel}");
        let (default, all) = laid_over(written);
        let mut accounts = BTreeMap::new();
        for (name, account) in all {
            let place = format!("{key}.accounts.{name}");
            let mut account: Account =
                keys::section(&paths.configuration, &place, &account.into())?;
            let at_home = |file: String| {
                if file.starts_with("~/") {
                    paths.expand(&file).display().to_string()
                } else {
                    file
                }
            };
            account.token_file = account.token_file.map(at_home);
            // Its own token, which is left out here, comes before a file for all.
            let named = (channel.to_owned(), name.clone());
            if self.with_token.contains(&named) {
                account.token_file = None;
            }
            check_name(paths, &place, &name)?;
            accounts.insert(name, account);
        }
        if !accounts.contains_key(&default) {
            let known: Vec<&str> = accounts.keys().map(String::as_str).collect();
            let problem = format!("is {default:?}; there are {}", known.join(", "));
            return Err(error(paths, format!("{key}.defaultAccount"), problem));
        }
        if default != DEFAULT_ACCOUNT && accounts.contains_key(DEFAULT_ACCOUNT) {
            let problem = format!(
                "is beside the default account {default:?}, whose unit, folder and token are \
                 called so: give it another name, or leave {key}.defaultAccount out"
            );
            return Err(error(
                paths,
                format!("{key}.accounts.{DEFAULT_ACCOUNT}"),
                problem,
            ));
        }
        self.defaults.insert(channel.to_owned(), default);
        self.accounts.insert(channel.to_owned(), accounts);
        Ok(())
    }

    /// Whether an account has a token that is not a variable's.
    pub fn has_token(&self, channel: &str, name: &str) -> bool {
        let account = self.accounts.get(channel).and_then(|it| it.get(name));
        let named = (channel.to_owned(), name.to_owned());
        account.is_some_and(|it| it.token_file.is_some()) || self.with_token.contains(&named)
    }

    /// Why the configuration has no token for an account; None: it has one.
    pub fn missing_token(&self, channel: &str, name: &str) -> Option<String> {
        if self.has_token(channel, name) {
            return None;
        }
        let named = (channel.to_owned(), name.to_owned());
        Some(match self.unset_tokens.get(&named).map(String::as_str) {
            None => "the configuration has no token for it".to_owned(),
            Some(ELSEWHERE) => "its token is a secret elsewhere, which is not read here".to_owned(),
            Some(unset) => format!("its token refers to {unset}, which is not set"),
        })
    }

    /// The account `name` of `channel` with its name; empty: the default one.
    pub fn account(&self, channel: &str, name: &str) -> Option<(&str, &Account)> {
        let name = match name {
            "" => self.defaults.get(channel)?.as_str(),
            name => name,
        };
        let (name, account) = self.accounts.get(channel)?.get_key_value(name)?;
        Some((name, account))
    }

    /// Whether `name` is what `channel` calls its default account.
    pub fn is_default(&self, channel: &str, name: &str) -> bool {
        name.is_empty() || self.defaults.get(channel).is_some_and(|it| it == name)
    }

    /// `name` as the ledger has it: empty for the default account, however the
    /// configuration calls that.
    pub fn ledger_name<'a>(&self, channel: &str, name: &'a str) -> &'a str {
        if self.is_default(channel, name) {
            return "";
        }
        name
    }
}

/// The channels that `document` has.
fn written(document: &Value) -> impl Iterator<Item = (&'static str, &Map<String, Value>)> {
    CHANNELS.into_iter().filter_map(|channel| {
        let written = document.pointer(&format!("/channels/{channel}"))?;
        Some((channel, written.as_object()?))
    })
}

/// The name of the default account of `channel` in `document`.
pub fn default_account(document: &Value, channel: &str) -> String {
    let mut channels = written(document);
    let found = channels.find(|(name, _)| *name == channel);
    found.map_or_else(
        || DEFAULT_ACCOUNT.to_owned(),
        |(_, written)| laid_over(written).0,
    )
}

/// The name of a channel's default account, and its accounts as they are written,
/// each over what holds for all of them. A token is one bot's: what stands beside
/// the accounts is the default one's.
fn laid_over(written: &Map<String, Value>) -> (String, BTreeMap<String, Map<String, Value>>) {
    let mut common = written.clone();
    let chosen = common.remove("defaultAccount");
    let own = match common.remove("accounts") {
        Some(Value::Object(own)) if !own.is_empty() => own,
        _ => Map::from_iter([(DEFAULT_ACCOUNT.to_owned(), Value::Object(Map::new()))]),
    };
    let default = match chosen.as_ref().and_then(Value::as_str) {
        Some(name) => name,
        None if own.contains_key(DEFAULT_ACCOUNT) => DEFAULT_ACCOUNT,
        // As in OpenClaw: the order in which they are written says nothing.
        None => own.keys().min().map_or("", String::as_str),
    };
    let default = default.to_owned();
    let is_off = common.get("enabled") == Some(&Value::Bool(false));
    let mut all = BTreeMap::new();
    for (name, own) in own {
        let own = own.as_object().cloned().unwrap_or_default();
        let mut account = common.clone();
        if name != default || TOKENS.iter().any(|token| own.contains_key(*token)) {
            TOKENS.iter().for_each(|token| drop(account.remove(*token)));
        }
        account.extend(own);
        if is_off {
            account.insert("enabled".to_owned(), Value::Bool(false));
        }
        all.insert(name, account);
    }
    (default, all)
}

/// The tokens that `document` has itself, by channel and account. A file comes
/// before them, and what refers to a variable that is not set is none.
pub(super) fn tokens(document: &Value) -> BTreeMap<(String, String), Secret> {
    secrets(document, |account| {
        let text = |key: &str| account.get(key).and_then(Value::as_str).map(str::trim);
        let has_file = text(TOKENS[0]).is_some_and(|file| !file.is_empty());
        let token = text(TOKENS[1]).filter(|it| !it.is_empty() && !it.contains("${"));
        token.filter(|_| !has_file)
    })
}

/// The unset references of tokens in `document`, by channel and account.
pub(super) fn unset_tokens(document: &Value) -> BTreeMap<(String, String), String> {
    let unset = secrets(document, |account| {
        unanswered(account.get(TOKENS[1])?.as_str()?)
    });
    let text = |secret: Secret| secret.reveal().to_owned();
    unset
        .into_iter()
        .map(|(account, it)| (account, text(it)))
        .collect()
}

/// What calls of the accounts' webhooks are known by, as `document` says.
pub(super) fn webhook_secrets(document: &Value) -> BTreeMap<(String, String), Secret> {
    secrets(document, |account| {
        let secret = account.get("webhookSecret").and_then(Value::as_str);
        secret.filter(|it| telegram::secret_problem(it).is_none())
    })
}

/// The results of `of` for each account, by channel and account.
fn secrets(
    document: &Value,
    of: impl Fn(&Map<String, Value>) -> Option<&str>,
) -> BTreeMap<(String, String), Secret> {
    let mut secrets = BTreeMap::new();
    for (channel, written) in written(document) {
        for (name, account) in laid_over(written).1 {
            if let Some(secret) = of(&account) {
                secrets.insert((channel.to_owned(), name), Secret::new(secret));
            }
        }
    }
    secrets
}

/// What a channel daemon is told of its account: what can act of it.
pub fn of_the_daemon(account: &Account) -> Map<String, Value> {
    let mut all = match serde_json::to_value(account) {
        Ok(Value::Object(all)) => all,
        _ => Map::new(),
    };
    all.retain(|key, value| !OF_THE_GATEWAY.contains(&key.as_str()) && !value.is_null());
    telegram::keep_acting(&mut all);
    // In one form, however they are written.
    let streaming = account.streaming.mode().name();
    all.insert("streaming".to_owned(), streaming.into());
    let buttons = account.capabilities.buttons().name();
    let capabilities = Map::from_iter([("inlineButtons".to_owned(), buttons.into())]);
    all.insert("capabilities".to_owned(), capabilities.into());
    all
}

/// An account's name is part of a unit's and of files' names.
fn check_name(paths: &Paths, key: &str, name: &str) -> Result<(), Error> {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
    if !name.is_empty() && name.len() <= 64 && name.chars().all(is_plain) {
        return Ok(());
    }
    let problem = "is no name of an account: use lower-case letters, digits, - and _, at most 64";
    Err(error(paths, key.to_owned(), problem.to_owned()))
}

fn error(paths: &Paths, key: String, problem: String) -> Error {
    Error::Value {
        origin: paths.configuration.display().to_string(),
        key,
        problem,
    }
}

#[cfg(test)]
mod tests {
    use openclaw_config::environment::Environment;
    use serde_json::json;

    use super::*;
    use crate::keys::channels::{DmPolicy, InlineButtons, StreamingMode};
    use crate::settings::Settings;

    fn of(document: Value) -> Result<ChannelSettings, Error> {
        let paths = Paths::resolve(&[("HOME", "/h")].into_iter().collect()).unwrap();
        Settings::assemble(paths, document, &Environment::default()).map(|it| it.channels)
    }

    #[test]
    fn channel_without_accounts_has_a_default_one() {
        let none = of(json!({})).unwrap();
        assert!(none.accounts.is_empty());
        let home = of(json!({"channels": {"telegram": {"tokenFile": "~/t"}}})).unwrap();
        let (_, account) = home.account("telegram", "").unwrap();
        assert_eq!(account.token_file.as_deref(), Some("/h/t"));
        let one = of(json!({"channels": {"telegram": {"tokenFile": "/t"}}})).unwrap();
        let (name, account) = one.account("telegram", "").unwrap();
        assert_eq!(name, "default");
        assert!(account.enabled);
        assert_eq!(account.dm_policy, DmPolicy::Pairing);
        assert_eq!(account.token_file.as_deref(), Some("/t"));
        assert_eq!(account.streaming.mode(), StreamingMode::Partial);
        assert_eq!(account.capabilities.buttons(), InlineButtons::Allowlist);
        assert!(one.account("telegram", "work").is_none());
    }

    #[test]
    fn account_lies_over_what_holds_for_all() {
        let settings = of(json!({"channels": {"telegram": {
            "dmPolicy": "allowlist", "allowFrom": [1, "tg:2"], "defaultAccount": "work",
            "accounts": {"home": {}, "work": {"dmPolicy": "open", "allowFrom": ["*"]}},
        }}}))
        .unwrap();
        let (name, work) = settings.account("telegram", "").unwrap();
        assert_eq!((name, work.dm_policy), ("work", DmPolicy::Open));
        assert_eq!(work.allow_from.len(), 1);
        let (_, home) = settings.account("telegram", "home").unwrap();
        assert_eq!(home.dm_policy, DmPolicy::Allowlist);
        let allowed: Vec<String> = home.allow_from.iter().map(ToString::to_string).collect();
        assert_eq!(allowed, ["1", "tg:2"]);
    }

    #[test]
    fn default_account_is_the_one_that_is_named_else_default_else_the_first() {
        for (telegram, expected) in [
            (json!(null), "default"),
            (json!({"tokenFile": "/t"}), "default"),
            (json!({"accounts": {"work": {}, "home": {}}}), "home"),
            (json!({"accounts": {"work": {}, "default": {}}}), "default"),
            (
                json!({"defaultAccount": "work", "accounts": {"work": {}, "home": {}}}),
                "work",
            ),
        ] {
            let document = json!({"channels": {"telegram": telegram}});
            let found = default_account(&document, "telegram");
            assert_eq!(found, expected, "{document}");
            let settings = of(document).unwrap_or_default();
            assert!(settings.is_default("telegram", expected) || settings.accounts.is_empty());
        }
    }

    #[test]
    fn channel_that_is_off_has_no_account_that_is_on() {
        let settings = of(json!({"channels": {"telegram": {
            "enabled": false, "accounts": {"a": {"enabled": true}},
        }}}))
        .unwrap();
        assert!(!settings.account("telegram", "a").unwrap().1.enabled);
    }

    #[test]
    fn daemon_is_told_neither_secrets_nor_what_the_gateway_decides() {
        let settings = of(json!({"channels": {"telegram": {
            "botToken": "1:secret", "tokenFile": "/t", "allowFrom": [1],
            "groups": {"*": {}}, "streaming": {"mode": "off"}, "capabilities": ["inlineButtons"],
        }}}))
        .unwrap();
        let told = of_the_daemon(settings.account("telegram", "").unwrap().1);
        let text = Value::Object(told.clone()).to_string();
        for word in ["secret", "botToken", "allowFrom", "groups", "dmPolicy"] {
            assert!(!text.contains(word), "{word}: {text}");
        }
        assert_eq!(told["streaming"], "off");
        assert_eq!(told["capabilities"]["inlineButtons"], "all");
        assert_eq!(told["tokenFile"], "/t");
        assert_eq!(told["textChunkLimit"], 4000);
    }

    #[test]
    fn token_that_is_missing_is_told_with_what_it_refers_to() {
        let settings = of(
            json!({"channels": {"telegram": {"accounts": {"own": {"botToken": "1:a"},
            "work": {"botToken": "${WORK}"}, "none": {}, "file": {"tokenFile": "/t"}},
            "defaultAccount": "own"}}}),
        );
        let settings = settings.unwrap();
        let missing = |name: &str| settings.missing_token("telegram", name);
        assert_eq!((missing("own"), missing("file")), (None, None));
        let work = missing("work").unwrap();
        assert!(work.contains("${WORK}, which is not set"), "{work}");
        let none = missing("none").unwrap();
        assert!(none.contains("has no token"), "{none}");
    }

    #[test]
    fn token_is_that_of_one_account() {
        let document = json!({"channels": {"telegram": {
            "botToken": "1:common", "accounts": {
                "default": {}, "file": {"tokenFile": "/t", "botToken": "1:not"},
                "none": {}, "own": {"botToken": " 2:own "}, "unset": {"botToken": "${UNSET}"},
            },
        }}});
        let found = tokens(&document);
        let found: Vec<_> = found
            .iter()
            .map(|((_, it), token)| (it.as_str(), token.reveal()))
            .collect();
        assert_eq!(found, [("default", "1:common"), ("own", "2:own")]);
        let settings = of(document).unwrap();
        let has = ["default", "file", "none", "own", "unset"]
            .map(|name| settings.has_token("telegram", name));
        assert_eq!(has, [true, true, false, true, false]);
        assert!(settings.tokens.is_empty(), "they are the gateway's alone");
        // An account's own token comes before a file that is for all of them.
        let own = json!({"channels": {"telegram": {
            "tokenFile": "/t", "accounts": {"work": {"botToken": "3:own"}},
        }}});
        assert_eq!(tokens(&own).len(), 1);
        assert_eq!(
            of(own)
                .unwrap()
                .account("telegram", "")
                .unwrap()
                .1
                .token_file,
            None
        );
    }

    #[test]
    fn webhook_secret_is_the_accounts_or_that_of_all() {
        let document = json!({"channels": {"telegram": {
            "webhookSecret": "all", "accounts": {
                "default": {}, "none": {"webhookSecret": "a b"}, "own": {"webhookSecret": "own"},
                "unset": {"webhookSecret": "${UNSET}"},
            },
        }}});
        let found = webhook_secrets(&document);
        let found: Vec<_> = found
            .iter()
            .map(|((_, it), secret)| (it.as_str(), secret.reveal()))
            .collect();
        assert_eq!(found, [("default", "all"), ("own", "own")]);
        let settings = of(document).unwrap();
        let told = of_the_daemon(settings.account("telegram", "").unwrap().1);
        assert!(
            !told.contains_key("webhookSecret"),
            "it is handed over as a file"
        );
    }

    #[test]
    fn daemon_is_told_what_can_act_alone() {
        let settings = of(json!({"channels": {"telegram": {
            "webhookUrl": "http://x", "webhookPort": 0, "webhookPath": "nopath",
            "customCommands": [{"command": "Bad Name!", "description": "a"}],
        }}}))
        .unwrap();
        let told = of_the_daemon(settings.account("telegram", "").unwrap().1);
        assert!(!told.contains_key("webhookUrl") && !told.contains_key("webhookPort"));
        assert_eq!(told["webhookPath"], "/nopath");
        assert_eq!(told["customCommands"], json!([]));
    }

    #[test]
    fn wrong_names_are_refused() {
        for (telegram, key) in [
            (
                json!({"accounts": {"A b": {}}}),
                "channels.telegram.accounts.A b",
            ),
            (
                json!({"defaultAccount": "x"}),
                "channels.telegram.defaultAccount",
            ),
            (
                json!({"defaultAccount": "work", "accounts": {"default": {}, "work": {}}}),
                "channels.telegram.accounts.default",
            ),
            (json!({"dmPolicy": "nobody"}), "channels.telegram.dmPolicy"),
            (json!({"polcy": 1}), "channels.telegram.polcy"),
        ] {
            let error = of(json!({"channels": {"telegram": telegram}})).unwrap_err();
            assert!(error.to_string().contains(key), "{error}");
        }
    }
}
