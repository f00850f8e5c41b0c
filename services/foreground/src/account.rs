//! The accounts of channels that a daemon speaks for.

use openclaw_config::Environment;
use openclaw_settings::channels::{CHANNELS, ChannelSettings, token_variable};

/// An account that a daemon is to speak for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Account {
    pub(crate) channel: String,
    pub(crate) name: String,
    /// It is meant where none is named, and may have its token by a variable.
    is_default: bool,
}

impl Account {
    /// The accounts that are switched on and have a token.
    pub(crate) fn all(settings: &ChannelSettings, environment: &Environment) -> Vec<Self> {
        let mut all = Vec::new();
        for (channel, accounts) in &settings.accounts {
            for name in accounts
                .iter()
                .filter(|(_, it)| it.enabled)
                .map(|(name, _)| name)
            {
                let account = Self {
                    channel: channel.clone(),
                    name: name.clone(),
                    is_default: settings.is_default(channel, name),
                };
                let variable = account.variable();
                let has_variable = variable.is_some_and(|it| environment.get(&it).is_some());
                if settings.has_token(channel, name) || has_variable {
                    all.push(account);
                }
            }
        }
        all
    }

    /// How its daemon is told which account it speaks for; `None`: the default one, whichever
    /// that is. So it is under systemd, and its folder is found by that.
    pub(crate) fn argument(&self) -> Option<&str> {
        (!self.is_default).then_some(&self.name)
    }

    /// The file name of its daemon's program.
    pub(crate) fn program(&self) -> String {
        format!("openclaw-{}", self.channel)
    }

    /// As log lines name it.
    pub(crate) fn shown(&self) -> String {
        if self.is_default {
            self.channel.clone()
        } else {
            format!("{}:{}", self.channel, self.name)
        }
    }

    /// The variable that may have its token.
    pub(crate) fn variable(&self) -> Option<String> {
        self.is_default.then(|| token_variable(&self.channel))
    }
}

/// Whether the variable `name` has the token of a channel.
pub(crate) fn is_token(name: &str) -> bool {
    CHANNELS
        .iter()
        .any(|channel| token_variable(channel) == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(configuration: &str, variables: &[(&str, &str)]) -> Vec<String> {
        let all = accounts(configuration, variables);
        all.iter().map(Account::shown).collect()
    }

    fn accounts(configuration: &str, variables: &[(&str, &str)]) -> Vec<Account> {
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().to_str().unwrap();
        std::fs::write(folder.path().join("openclaw.json"), configuration).unwrap();
        let own = [("OPENCLAW_STATE_DIR", text), ("HOME", text)];
        let environment: Environment = own.iter().chain(variables).copied().collect();
        let settings = openclaw_settings::load_usable(&environment).unwrap();
        Account::all(&settings.channels, &environment)
    }

    #[test]
    fn account_has_a_daemon_where_it_is_on_and_has_a_token() {
        const VARIABLE: (&str, &str) = ("TELEGRAM_BOT_TOKEN", "1:a");
        let none: [&str; 0] = [];
        assert_eq!(all("{}", &[VARIABLE]), none);
        assert_eq!(all("{channels: {telegram: {}}}", &[]), none);
        assert_eq!(all("{channels: {telegram: {}}}", &[VARIABLE]), ["telegram"]);
        assert_eq!(
            all("{channels: {telegram: {botToken: '1:a'}}}", &[]),
            ["telegram"]
        );
        let off = "{channels: {telegram: {enabled: false, tokenFile: '/t'}}}";
        assert_eq!(all(off, &[VARIABLE]), none);
        let two = "{channels: {telegram: {accounts: {default: {}, work: {tokenFile: '/t'}}}}}";
        assert_eq!(all(two, &[]), ["telegram:work"]);
        assert_eq!(all(two, &[VARIABLE]), ["telegram", "telegram:work"]);
    }

    #[test]
    fn account_is_named_to_its_daemon_where_it_is_not_the_default_one() {
        let arguments = |telegram: &str| -> Vec<Option<String>> {
            let accounts = accounts(&format!("{{channels: {{telegram: {telegram}}}}}"), &[]);
            let argument = |it: &Account| it.argument().map(str::to_owned);
            accounts.iter().map(argument).collect()
        };
        let two = || Some("two".to_owned());
        for (telegram, expected) in [
            ("{botToken: '1:a'}", vec![None]),
            ("{accounts: {two: {botToken: '1:a'}}}", vec![None]),
            ("{botToken: '1:a', accounts: {two: {}}}", vec![None]),
            (
                "{accounts: {one: {botToken: '1:a'}, two: {botToken: '2:b'}}}",
                vec![None, two()],
            ),
            (
                "{defaultAccount: 'two', accounts: {one: {botToken: '1:a'}, two: {botToken: '2:b'}}}",
                vec![Some("one".to_owned()), None],
            ),
            (
                "{botToken: '1:a', accounts: {default: {}, two: {botToken: '2:b'}}}",
                vec![None, two()],
            ),
        ] {
            assert_eq!(arguments(telegram), expected, "{telegram}");
        }
    }

    #[test]
    fn account_has_its_token_by_no_other_variable() {
        assert!(is_token("TELEGRAM_BOT_TOKEN") && !is_token("ANTHROPIC_API_KEY"));
    }
}
