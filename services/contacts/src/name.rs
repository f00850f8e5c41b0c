//! The account of a channel that a command is about.

use std::path::PathBuf;

use clap::Args;
use openclaw_config::{KeyPath, Paths};
use openclaw_proto::channel::AccountName;
use openclaw_settings::channels::{self, CHANNELS, DEFAULT_ACCOUNT};
use openclaw_settings::file::File;
use openclaw_terminal::{Failure, output};
use serde_json::{Map, Value};

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
            key: Some(account.to_owned()).filter(|it| it != DEFAULT_ACCOUNT),
        })
    }

    /// The account of the configuration that is meant.
    pub(crate) fn found(&self, paths: &Paths) -> Result<Named, Failure> {
        let named = self.named()?;
        Ok(named.resolved(&File::open(paths)?.document()?))
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
#[derive(Debug, Clone)]
pub(crate) struct Named {
    pub(crate) channel: String,
    /// What its unit, folder and token are called after: its name, and
    /// [`DEFAULT_ACCOUNT`] for the channel's default one, whatever that is called.
    pub(crate) account: String,
    /// Its name in the configuration, where one was said.
    key: Option<String>,
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
            key: Some(account.account.clone()).filter(|it| !it.is_empty() && it != DEFAULT_ACCOUNT),
        }
    }

    /// The same account, as `document` has it: its default one may be said by its name.
    pub(crate) fn resolved(self, document: &Value) -> Self {
        let is_default = self.is_listed_in(document)
            && channels::default_account(document, &self.channel) == self.account;
        Self {
            account: if is_default {
                DEFAULT_ACCOUNT.to_owned()
            } else {
                self.account
            },
            ..self
        }
    }

    /// Whether they are one account.
    pub(crate) fn is(&self, other: &Self) -> bool {
        (&self.channel, &self.account) == (&other.channel, &other.account)
    }

    pub(crate) fn is_default(&self) -> bool {
        self.account == DEFAULT_ACCOUNT
    }

    /// As the gateway is told of it: without a name the default one.
    pub(crate) fn told(&self) -> AccountName {
        AccountName {
            channel: self.channel.clone(),
            account: self.key.clone().unwrap_or_default(),
        }
    }

    /// As it is typed.
    pub(crate) fn shown(&self) -> String {
        let name = self.key.as_deref().or(Some(self.account.as_str()));
        let shown = match name.filter(|it| *it != DEFAULT_ACCOUNT) {
            None => self.channel.clone(),
            Some(name) => format!("{}:{name}", self.channel),
        };
        output::line(&shown)
    }

    /// As the log of `openclawctl run` calls its daemon.
    pub(crate) fn daemon(&self) -> String {
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

    /// The accounts that `document` lists.
    pub(crate) fn listed<'a>(&self, document: &'a Value) -> Option<&'a Map<String, Value>> {
        let accounts = self.channel_path().child("accounts").get(document)?;
        accounts.as_object().filter(|accounts| !accounts.is_empty())
    }

    fn is_listed_in(&self, document: &Value) -> bool {
        let listed = self.listed(document);
        listed.is_some_and(|accounts| accounts.contains_key(&self.account))
    }

    /// The account's key in `document`: where a channel has accounts the default
    /// one is among them, and without any it is the channel itself.
    pub(crate) fn path(&self, document: &Value) -> KeyPath {
        let channel = self.channel_path();
        let name = match &self.key {
            Some(name) => name.clone(),
            None if self.listed(document).is_none() => return channel,
            None => channels::default_account(document, &self.channel),
        };
        channel.child("accounts").child(&name)
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
        assert!(typed("telegram", Some("work")).unwrap().is(&work));
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
        assert_eq!(path, "channels.telegram.accounts.work");
        let account = AccountName {
            channel: "telegram".to_owned(),
            account: "work".to_owned(),
        };
        let named = Named::of(&account, true);
        assert_eq!(named.unit(), "openclaw-telegram.service");
        assert_eq!(
            (named.shown().as_str(), named.daemon().as_str()),
            ("telegram:work", "telegram")
        );
    }

    #[test]
    fn default_account_is_one_by_whichever_name_it_is_typed() {
        let several = json!({"channels": {"telegram": {
            "defaultAccount": "work", "accounts": {"home": {}, "work": {}},
        }}});
        let default = typed("telegram", None).unwrap().resolved(&several);
        let work = typed("telegram:work", None).unwrap().resolved(&several);
        assert!(default.is(&work));
        assert_eq!(work.unit(), "openclaw-telegram.service");
        for named in [&default, &work] {
            let path = named.path(&several).to_string();
            assert_eq!(path, "channels.telegram.accounts.work");
        }
        let home = typed("telegram:home", None).unwrap().resolved(&several);
        assert_eq!(home.unit(), "openclaw-telegram@home.service");
        // One that is not there yet is another one.
        let new = typed("telegram:new", None).unwrap().resolved(&json!({}));
        assert_eq!(new.unit(), "openclaw-telegram@new.service");
    }
}
