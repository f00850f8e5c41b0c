//! How the Codex CLI gets to its model.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use openclaw_config::secret::Secret;
use openclaw_credentials::login::Login;
use openclaw_handoff::proxies::ModelVariables;
use openclaw_model_api::relay::Relay;
use openclaw_model_api::wire::Api;
use openclaw_settings::RunnerSettings;
use serde::Deserialize;

use super::options::{MOUNT, TOKEN};
use crate::cli::access::{Access, Error, Header, bearer, header, now, read_login};
use crate::cli::login;

/// Where OpenAI's API is.
const OPENAI: &str = "https://api.openai.com/v1";
/// Where the API is that takes the tokens of a login.
pub const CHATGPT: &str = "https://chatgpt.com/backend-api/codex";

/// A key for Codex alone.
const OWN_KEY: &str = "CODEX_API_KEY";
/// The advice for a login that cannot be used.
const FIX: &str = "run `codex` once as this user, which renews it, or `codex login`";

/// The CLI's login file, as far as it is needed.
#[derive(Debug, Deserialize)]
struct Account {
    #[serde(default, rename = "OPENAI_API_KEY")]
    key: Option<Secret>,
    #[serde(default)]
    tokens: Option<Tokens>,
}

#[derive(Debug, Deserialize)]
struct Tokens {
    access_token: Secret,
    #[serde(default)]
    account_id: Option<String>,
}

/// The claims of an access token (RFC 7519 §4.1.4).
#[derive(Debug, Deserialize)]
struct Claims {
    /// Unix seconds.
    exp: Option<u64>,
}

/// How the CLI would log in, if it can.
pub(super) fn way_in(settings: &RunnerSettings, agent_id: &str) -> Option<String> {
    if own_key(settings).is_some() {
        return Some(OWN_KEY.to_owned());
    }
    if let Some(provider) = settings.provider(agent_id, "openai")
        && provider.key.is_some()
    {
        return Some(provider.key_source);
    }
    let login = login::find(Login::Codex, settings, agent_id);
    login.map(|found| found.to_string())
}

/// A key, else the login.
pub(super) fn find(settings: &RunnerSettings, agent_id: &str) -> Result<Access, Error> {
    let provider = settings.provider(agent_id, "openai");
    let base_url = provider.as_ref().map_or(OPENAI, |it| it.base_url.as_str());
    if let Some(key) = own_key(settings) {
        return Ok(with_key(base_url, key));
    }
    if let Some(access) = provider.as_ref().and_then(|it| it.access.first()) {
        return Ok(with_key(base_url, access.secret.reveal()));
    }
    by_login(settings, agent_id, base_url)
}

/// The CLI's own variable. A profile that the session chose comes before it.
fn own_key(settings: &RunnerSettings) -> Option<&str> {
    let is_chosen = settings.is_pinned("openai");
    settings.environment.get(OWN_KEY).filter(|_| !is_chosen)
}

fn with_key(base_url: &str, key: &str) -> Access {
    proxied(base_url, vec![bearer(key)])
}

fn proxied(base_url: &str, headers: Vec<Header>) -> Access {
    Access::Proxy {
        variables: ModelVariables {
            url: "OPENCLAW_MODEL_URL".to_owned(),
            token: TOKEN.to_owned(),
        },
        relay: Relay {
            api: Api::Responses,
            base_url: base_url.to_owned(),
            mount: MOUNT.to_owned(),
            headers,
            beta: None,
        },
    }
}

/// Of an account, whose tokens are for another API than keys are, or a key.
fn by_login(settings: &RunnerSettings, agent_id: &str, base_url: &str) -> Result<Access, Error> {
    let found = login::find(Login::Codex, settings, agent_id)
        .ok_or(Error::Missing(Login::Codex.title()))?;
    let account: Account = read_login(&found, FIX)?;
    if let Some(key) = account.key {
        return Ok(with_key(base_url, key.reveal()));
    }
    let Some(tokens) = account.tokens else {
        let problem = "it has neither a key nor tokens".to_owned();
        return Err(Error::Login {
            login: found,
            problem,
            renew: FIX,
        });
    };
    let token = tokens.access_token.reveal();
    if expires(token).is_some_and(|end| u128::from(end) * 1000 <= now()) {
        return Err(Error::Expired {
            login: found,
            renew: FIX,
        });
    }
    let mut headers = vec![bearer(token)];
    headers.extend(tokens.account_id.map(|id| header("chatgpt-account-id", id)));
    Ok(proxied(CHATGPT, headers))
}

/// When a token ends, in Unix seconds, if it says so.
fn expires(token: &str) -> Option<u64> {
    let claims = token.split('.').nth(1)?;
    let claims = BASE64_URL_SAFE_NO_PAD.decode(claims).ok()?;
    serde_json::from_slice::<Claims>(&claims).ok()?.exp
}

#[cfg(test)]
mod tests {
    use std::fs;

    use openclaw_config::Environment;
    use openclaw_settings::Origin;

    use super::*;

    fn found(variables: &[(&str, &str)], login: Option<&str>) -> Result<Relay, Error> {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join(".openclaw")).unwrap();
        if let Some(login) = login {
            fs::create_dir(home.path().join(".codex")).unwrap();
            fs::write(home.path().join(".codex/auth.json"), login).unwrap();
        }
        let home_text = home.path().to_str().unwrap();
        let environment: Environment = variables
            .iter()
            .copied()
            .chain([("HOME", home_text)])
            .collect();
        let settings = crate::settings::load(&environment, Origin::File).unwrap();
        match find(&settings, "main")? {
            Access::Proxy { relay, .. } => Ok(relay),
            Access::Own => panic!("no proxy"),
        }
    }

    fn token(end: u64) -> String {
        let claims = BASE64_URL_SAFE_NO_PAD.encode(format!(r#"{{"exp":{end}}}"#));
        format!("h.{claims}.s")
    }

    #[test]
    fn key_goes_to_the_api_that_is_configured() {
        let variables = [
            ("OPENAI_API_KEY", "sk"),
            ("OPENAI_BASE_URL", "http://127.0.0.1:1/v1"),
        ];
        let relay = found(&variables, None).unwrap();
        assert_eq!(relay.base_url, "http://127.0.0.1:1/v1");
        assert_eq!(relay.headers[0].1.0.reveal(), "Bearer sk");
        let own = [("OPENAI_API_KEY", "sk"), ("CODEX_API_KEY", "own")];
        assert_eq!(
            found(&own, None).unwrap().headers[0].1.0.reveal(),
            "Bearer own"
        );
    }

    #[test]
    fn login_is_read_and_says_when_it_is_old() {
        let login = |end| {
            let token = token(end);
            format!(
                r#"{{"OPENAI_API_KEY":null,"tokens":{{"access_token":"{token}","account_id":"a1"}}}}"#
            )
        };
        let relay = found(&[], Some(&login(u64::from(u32::MAX)))).unwrap();
        assert_eq!(relay.base_url, CHATGPT);
        assert_eq!(relay.headers[1].0, "chatgpt-account-id");
        assert!(matches!(
            found(&[], Some(&login(1))),
            Err(Error::Expired { .. })
        ));
        let relay = found(&[], Some(r#"{"OPENAI_API_KEY":"sk-file"}"#)).unwrap();
        assert_eq!(relay.base_url, OPENAI);
        assert!(matches!(found(&[], Some("{}")), Err(Error::Login { .. })));
        assert!(matches!(found(&[], None), Err(Error::Missing("Codex"))));
    }
}
