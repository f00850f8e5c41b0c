//! Forgets an account's token, in the configuration and where openclawctl put it.

use std::fs;
use std::io::ErrorKind;

use openclaw_config::{Environment, Error, KeyPath, Paths};
use openclaw_daemon::failure::chain;
use openclaw_protocol::Failure;
use openclaw_settings::channels::{token_file, token_variable};
use openclaw_settings::file::File;
use serde_json::json;

/// The keys that name a token.
const TOKENS: [&str; 2] = ["botToken", "tokenFile"];

/// The account that is meant.
pub(super) struct Account {
    pub(super) channel: String,
    /// The account's name in the configuration.
    pub(super) account: String,
    pub(super) is_default: bool,
}

/// What became of it, in OpenClaw's fields.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Done {
    /// The account had a token.
    pub(super) cleared: bool,
    /// There is one in the environment, which nobody here can forget.
    pub(super) env_token: bool,
    /// It has none any more.
    pub(super) logged_out: bool,
}

/// Switches the account off and forgets its token. A file that somebody else
/// made stays; the configuration does not name it any more.
pub(super) fn forget(
    account: &Account,
    paths: &Paths,
    environment: &Environment,
) -> Result<Done, Failure> {
    let mut file = File::open(paths).map_err(failed)?;
    let document = file
        .document()
        .map_err(|_| Failure::invalid("config invalid; fix it before logging out"))?;
    let channel = KeyPath::default().child("channels").child(&account.channel);
    let own = channel.child("accounts").child(&account.account);
    let is_listed = own.get(&document).is_some();
    let mut cleared = false;
    let places = [(&own, is_listed), (&channel, account.is_default)];
    for (place, _) in places.into_iter().filter(|(_, is_its)| *is_its) {
        for key in TOKENS.map(|token| place.child(token)) {
            if key.get(&document).is_some() {
                file.unset(&key).map_err(failed)?;
                cleared = true;
            }
        }
    }
    let switch = if is_listed { &own } else { &channel };
    file.set(&switch.child("enabled"), json!(false))
        .map_err(failed)?;
    let problems = file.problems(environment).map_err(failed)?.new;
    if let Some(problem) = problems.first() {
        return Err(Failure::invalid(format!("invalid config: {problem}")));
    }
    let after = file.document().map_err(failed)?;
    if file.is_changed() {
        file.save().map_err(failed)?;
    }
    // Only now: an account that is on without its token would be told as broken.
    let token = token_file(paths, &account.channel, &account.account);
    match fs::remove_file(&token) {
        Ok(()) => cleared = true,
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => {
            let place = token.display();
            return Err(Failure::unavailable(format!(
                "the account is off, but its token in {place} cannot be removed: {error}"
            )));
        }
    }
    let variable = token_variable(&account.channel);
    let has_token = |place: &KeyPath| {
        let mut keys = TOKENS.iter().map(|token| place.child(token));
        keys.any(|key| key.get(&after).is_some())
    };
    // The variable's is the default account's.
    let env_token = account.is_default && environment.get(&variable).is_some();
    Ok(Done {
        cleared,
        env_token,
        logged_out: !env_token && !has_token(&own) && !has_token(&channel),
    })
}

fn failed(error: Error) -> Failure {
    Failure::unavailable(chain(&error))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::Value;

    use super::*;

    fn forgotten(folder: &Path, before: &Value, name: &str, is_default: bool) -> (Done, Value) {
        let environment: Environment = [("OPENCLAW_STATE_DIR", folder.to_str().unwrap())]
            .into_iter()
            .collect();
        let paths = Paths::resolve(&environment).unwrap();
        fs::create_dir_all(folder.join("credentials")).unwrap();
        fs::write(&paths.configuration, before.to_string()).unwrap();
        let account = Account {
            channel: "telegram".to_owned(),
            account: name.to_owned(),
            is_default,
        };
        let done = forget(&account, &paths, &environment).unwrap();
        let after = File::open(&paths).unwrap().document().unwrap();
        (done, after["channels"]["telegram"].clone())
    }

    #[test]
    fn logout_forgets_the_token_and_switches_the_account_off() {
        let folder = tempfile::tempdir().unwrap();
        let token = folder.path().join("credentials/telegram-default.token");
        fs::create_dir_all(token.parent().unwrap()).unwrap();
        fs::write(&token, "1:a").unwrap();
        let before = json!({"channels": {"telegram": {"tokenFile": token, "dmPolicy": "open",
            "allowFrom": ["*"]}}});
        let (done, after) = forgotten(folder.path(), &before, "default", true);
        let expected = Done {
            cleared: true,
            env_token: false,
            logged_out: true,
        };
        assert_eq!(done, expected);
        assert!(!token.exists());
        let expected = json!({"enabled": false, "dmPolicy": "open", "allowFrom": ["*"]});
        assert_eq!(after, expected);
        // Twice is no fault, and there is nothing more to forget.
        let again = json!({ "channels": { "telegram": after } });
        let (done, _) = forgotten(folder.path(), &again, "default", true);
        assert!(!done.cleared && done.logged_out);
    }

    #[test]
    fn logout_says_that_the_environment_still_has_a_token() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let variables = [("OPENCLAW_STATE_DIR", state), ("TELEGRAM_BOT_TOKEN", "1:a")];
        let environment: Environment = variables.into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        let text = json!({"channels": {"telegram": {"accounts": {"work": {"botToken": "2:b"}}}}});
        fs::write(&paths.configuration, text.to_string()).unwrap();
        let done = |account: &str, is_default: bool| {
            let account = Account {
                channel: "telegram".to_owned(),
                account: account.to_owned(),
                is_default,
            };
            let done = forget(&account, &paths, &environment).unwrap();
            (done.cleared, done.env_token, done.logged_out)
        };
        assert_eq!(done("default", true), (false, true, false));
        assert_eq!(
            done("work", false),
            (true, false, true),
            "the variable is not its"
        );
    }

    #[test]
    fn logout_of_one_account_leaves_the_others_and_files_of_others() {
        let folder = tempfile::tempdir().unwrap();
        let mine = folder.path().join("mine");
        fs::write(&mine, "1:a").unwrap();
        let before = json!({"channels": {"telegram": {"tokenFile": "/t", "accounts": {
            "default": {}, "work": {"tokenFile": mine}}}}});
        let (done, after) = forgotten(folder.path(), &before, "work", false);
        // The channel's own token would be this account's too.
        assert!(done.cleared && !done.logged_out, "{done:?}");
        assert!(mine.exists());
        let expected = json!({"tokenFile": "/t", "accounts": {
            "default": {}, "work": {"enabled": false}}});
        assert_eq!(after, expected);
    }
}
