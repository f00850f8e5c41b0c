//! The account of a channel that a command is about.

use std::path::PathBuf;

use clap::Args;
use openclaw_config::{KeyPath, Paths};
use openclaw_proto::channel::AccountName;
use openclaw_settings::channels::{self, CHANNELS, DEFAULT_ACCOUNT};
use openclaw_terminal::Failure;
use serde_json::Value;

/// An account as it is typed.
#[derive(Debug, Args)]
pub(crate) struct Typed {
    /// The channel, such as telegram; telegram:NAME is its account NAME
    pub(crate) channel: String,
    /// The account's name [default: default]
    #[arg(long, value_name = "NAME")]
    pub(crate) account: Option<String>,
}

impl Typed {
    /// The account that is meant, which there need not be yet.
    pub(crate) fn named(&self) -> Result<Named, Failure> {
        let (channel, account) = match (self.channel.split_once(':'), &self.account) {
            (Some((channel, name)), None) => (channel, name),
            (Some(_), Some(_)) => {
                return Err(Failure::usage(format!(
                    "{:?} names the account already; leave --account out",
                    self.channel
                )));
            }
            (None, Some(name)) => (self.channel.as_str(), name.as_str()),
            (None, None) => (self.channel.as_str(), DEFAULT_ACCOUNT),
        };
        check_channel(channel)?;
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_".contains(c);
        if account.is_empty() || account.len() > 64 || !account.chars().all(is_plain) {
            return Err(Failure::usage(format!(
                "{account:?} is no name of an account: use lower-case letters, digits, - and _, \
                 at most 64"
            )));
        }
        Ok(Named {
            channel: channel.to_owned(),
            account: account.to_owned(),
        })
    }
}

/// That there is such a channel.
pub(crate) fn check_channel(channel: &str) -> Result<(), Failure> {
    if CHANNELS.contains(&channel) {
        return Ok(());
    }
    let all = CHANNELS.join(", ");
    let failure = Failure::usage(format!(
        "{channel:?} is no channel of this version; there are {all}"
    ));
    let add = "openclawctl channels add connects one";
    Err(failure.near(channel, CHANNELS.iter().copied(), add))
}

/// An account, and what is called after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) channel: String,
    pub(crate) account: String,
}

impl Named {
    /// The one that the gateway tells of. The default account of a channel is
    /// started by the channel's own unit, however the configuration calls it.
    pub(crate) fn of(account: &AccountName, is_default: bool) -> Self {
        let name = match account.account.as_str() {
            name if is_default || name.is_empty() => DEFAULT_ACCOUNT,
            name => name,
        };
        Self {
            channel: account.channel.clone(),
            account: name.to_owned(),
        }
    }

    pub(crate) fn is_default(&self) -> bool {
        self.account == DEFAULT_ACCOUNT
    }

    /// As it is typed.
    pub(crate) fn shown(&self) -> String {
        if self.is_default() {
            self.channel.clone()
        } else {
            format!("{}:{}", self.channel, self.account)
        }
    }

    /// The channel's key.
    pub(crate) fn channel_path(&self) -> KeyPath {
        KeyPath::default().child("channels").child(&self.channel)
    }

    /// The account's key in `document`: where a channel has accounts the default
    /// one is among them, and without any it is the channel itself.
    pub(crate) fn path(&self, document: &Value) -> KeyPath {
        let channel = self.channel_path();
        let accounts = channel.child("accounts");
        let has_accounts = accounts
            .get(document)
            .and_then(Value::as_object)
            .is_some_and(|accounts| !accounts.is_empty());
        if self.is_default() && !has_accounts {
            channel
        } else {
            accounts.child(&self.account)
        }
    }

    /// The file in which `channels add` keeps its token.
    pub(crate) fn token_file(&self, paths: &Paths) -> PathBuf {
        channels::token_file(paths, &self.channel, &self.account)
    }

    /// The file name of the channel's daemon.
    pub(crate) fn program(&self) -> String {
        format!("openclaw-{}", self.channel)
    }

    /// The unit that attends it.
    pub(crate) fn unit(&self) -> String {
        channels::unit(&self.channel, &self.account, self.is_default())
    }

    /// How its daemon is started.
    pub(crate) fn start(&self) -> String {
        channels::start(&self.unit())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn typed(channel: &str, account: Option<&str>) -> Result<Named, Failure> {
        let account = account.map(str::to_owned);
        let channel = channel.to_owned();
        Typed { channel, account }.named()
    }

    #[test]
    fn account_is_named_in_either_way_but_not_in_both() {
        let work = typed("telegram:work", None).unwrap();
        assert_eq!(typed("telegram", Some("work")).unwrap(), work);
        assert_eq!(work.unit(), "openclaw-telegram@work.service");
        let default = typed("telegram", None).unwrap();
        assert_eq!(default.unit(), "openclaw-telegram.service");
        assert_eq!(default.shown(), "telegram");
        assert!(typed("telegram:work", Some("work")).is_err());
        for (wrong, said) in [
            ("telegramm", "there are telegram"),
            ("", "there are telegram"),
            ("telegram:", "no name of an account"),
            ("telegram:../x", "no name of an account"),
            ("telegram:Work", "no name of an account"),
        ] {
            let text = typed(wrong, None).unwrap_err().text();
            assert!(text.contains(said), "{wrong}: {text}");
        }
    }

    #[test]
    fn default_account_stands_among_others_where_there_are_any() {
        let default = typed("telegram", None).unwrap();
        let alone = json!({"channels": {"telegram": {"tokenFile": "/t"}}});
        assert_eq!(default.path(&alone).to_string(), "channels.telegram");
        let several = json!({"channels": {"telegram": {"accounts": {"work": {}}}}});
        let path = default.path(&several).to_string();
        assert_eq!(path, "channels.telegram.accounts.default");
        let account = AccountName {
            channel: "telegram".to_owned(),
            account: "work".to_owned(),
        };
        let unit = Named::of(&account, true).unit();
        assert_eq!(unit, "openclaw-telegram.service");
    }
}
