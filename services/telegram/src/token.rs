//! The bot's token: from a credential, a file, the gateway or the environment,
//! never from the command line.

use std::fs;
use std::path::Path;

use openclaw_config::Environment;
use openclaw_config::secret::Secret;

/// The credential's name (systemd.exec(5), LoadCredential=).
pub(crate) const CREDENTIAL: &str = "telegram-token";
/// The variable.
pub(crate) const VARIABLE: &str = "TELEGRAM_BOT_TOKEN";
/// The file in the daemon's folder into which the gateway writes the token that
/// the configuration itself has (`doors/src/channels/token.rs`).
const HANDED: &str = "token";
/// The name that an account has where it has none of its own.
const DEFAULT_ACCOUNT: &str = "default";
/// A token has some 46 characters.
const SIZE_LIMIT: u64 = 4096;

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// Nothing has one.
    #[error(
        "there is no token: run `openclawctl channels login telegram`, or set \
         channels.telegram.tokenFile or botToken"
    )]
    None,
    /// The file cannot be read.
    #[error("cannot read the token in {path}: {source}")]
    File {
        /// The file.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It is not one.
    #[error("the token of {0} is none: @BotFather gives one as 123456:ABC-DEF")]
    Form(String),
}

/// The token that holds now: the credential's, else that of `file`, else the one
/// that the gateway put into `folder`, else the variable's. Read each time, so that
/// another one is seen without a restart.
pub(crate) fn find(
    variable: Option<&Secret>,
    file: Option<&str>,
    folder: &Path,
) -> Result<Secret, Error> {
    if let Some(token) = openclaw_daemon::credentials::inherit().remove(CREDENTIAL) {
        return check(token.reveal(), &format!("the credential {CREDENTIAL}"));
    }
    if let Some(file) = file {
        return in_file(Path::new(file));
    }
    let handed = folder.join(HANDED);
    if handed.exists() {
        return in_file(&handed);
    }
    match variable {
        Some(token) => check(token.reveal(), VARIABLE),
        None => Err(Error::None),
    }
}

/// What the environment has for the token of `account`: of the default one, which has no name
/// here, or its own. With it, another account would speak as the wrong bot.
pub(crate) fn of_environment(environment: &Environment, account: &str) -> Option<Secret> {
    let is_default = matches!(account, "" | DEFAULT_ACCOUNT);
    environment
        .get(VARIABLE)
        .filter(|_| is_default)
        .map(Secret::new)
}

/// The token in the file `path`.
pub(crate) fn in_file(path: &Path) -> Result<Secret, Error> {
    let name = path.display().to_string();
    let failed = |source| Error::File {
        path: name.clone(),
        source,
    };
    let size = fs::metadata(path).map_err(failed)?.len();
    if size > SIZE_LIMIT {
        return Err(Error::Form(name));
    }
    check(&fs::read_to_string(path).map_err(failed)?, &name)
}

/// `text` as a token; `place` is where it is from.
pub(crate) fn check(text: &str, place: &str) -> Result<Secret, Error> {
    let text = text.trim();
    let is_token = text.split_once(':').is_some_and(|(id, rest)| {
        let is_fine = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
        !id.is_empty()
            && id.chars().all(|it| it.is_ascii_digit())
            && !rest.is_empty()
            && rest.chars().all(is_fine)
    });
    if is_token {
        Ok(Secret::new(text))
    } else {
        Err(Error::Form(place.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_comes_from_the_file_before_the_variable() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        fs::write(&path, "1:file\n").unwrap();
        let variable = Secret::new("2:variable");
        let none = folder.path().join("none");
        let find = |file, folder: &Path| {
            find(Some(&variable), file, folder).map(|it| it.reveal().to_owned())
        };
        assert_eq!(find(path.to_str(), folder.path()).unwrap(), "1:file");
        assert_eq!(find(None, &none).unwrap(), "2:variable");
        // That of the gateway is called so, too.
        assert_eq!(find(None, folder.path()).unwrap(), "1:file");
        let none = super::find(None, None, &none).unwrap_err();
        assert!(none.to_string().contains("channels login telegram"));
    }

    #[test]
    fn token_of_the_environment_is_the_default_accounts() {
        let environment: Environment = [(VARIABLE, "1:a")].into_iter().collect();
        let has = |account| of_environment(&environment, account).is_some();
        assert!(has("") && has("default") && !has("work"));
        assert!(of_environment(&Environment::default(), "").is_none());
    }

    #[test]
    fn token_that_is_none_is_not_told() {
        let error = check("not/a token", "the file a").unwrap_err().to_string();
        assert!(
            error.contains("the file a") && !error.contains("not/a"),
            "{error}"
        );
    }
}
