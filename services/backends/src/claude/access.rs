//! How the Claude Code CLI gets to its model.

use openclaw_config::secret::Secret;
use openclaw_credentials::Scheme;
use openclaw_credentials::login::Login;
use openclaw_handoff::proxies::ModelVariables;
use openclaw_model_api::relay::Relay;
use openclaw_model_api::wire::Api;
use openclaw_sandbox::Level;
use openclaw_settings::RunnerSettings;
use serde::Deserialize;

use crate::cli::access::{Access, Error, Header, bearer, header, now, read_login};
use crate::cli::login;

/// Where Anthropic's API is.
const ANTHROPIC: &str = "https://api.anthropic.com";
/// The beta header that the Messages API requires with the token of a login.
const OAUTH: &str = "oauth-2025-04-20";
/// The default region of Bedrock.
const REGION: &str = "us-east-1";
/// The advice for a login that cannot be used.
const FIX: &str = "run `claude` once as this user, which renews it, or `claude setup-token` and set \
     CLAUDE_CODE_OAUTH_TOKEN, which lasts a year";

/// Any of these lets the CLI in without a login file.
const KEYS: [&str; 5] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
];

/// How the CLI would log in, if it can.
pub(super) fn way_in(settings: &RunnerSettings, agent_id: &str) -> Option<String> {
    let set = |name: &&&str| settings.environment.get(name).is_some();
    if let Some(name) = KEYS.iter().find(set) {
        return Some((*name).to_owned());
    }
    if let Some(provider) = settings.provider(agent_id, "anthropic")
        && provider.key.is_some()
    {
        return Some(provider.key_source);
    }
    if let Some(profile) = settings.aws_profile(agent_id) {
        return Some(profile.source.clone());
    }
    let login = login::find(Login::Claude, settings, agent_id);
    login.map(|found| found.to_string())
}

/// The CLI's login file, as far as it is needed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Credentials {
    claude_ai_oauth: Account,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Account {
    access_token: Secret,
    /// Unix milliseconds.
    #[serde(default)]
    expires_at: Option<u64>,
}

/// Chooses as the CLI itself does: a cloud that was asked for, a token, a key, a login.
pub(super) fn find(
    settings: &RunnerSettings,
    agent_id: &str,
    level: Level,
) -> Result<Access, Error> {
    let outer = &settings.environment;
    let wants = |name: &str| outer.get(name).is_some_and(|value| value != "0");
    let profile = settings.aws_profile(agent_id).is_some();
    let own = |service| match level {
        Level::Workspace | Level::Off => Ok(Access::Own),
        Level::Strict | Level::Namespaces | Level::Text => Err(Error::Signing(service)),
    };
    if wants("CLAUDE_CODE_USE_VERTEX") {
        return own("Google Vertex");
    }
    let keys = direct(settings, agent_id);
    if wants("CLAUDE_CODE_USE_BEDROCK") || (profile && keys.is_none()) {
        return match outer.get("AWS_BEARER_TOKEN_BEDROCK") {
            Some(token) => Ok(bedrock(settings, token)),
            None => own("Amazon Bedrock"),
        };
    }
    let (variable, header, beta) = match keys {
        Some(found) => found,
        None => by_login(settings, agent_id)?,
    };
    let mut headers = custom_headers(outer.get("ANTHROPIC_CUSTOM_HEADERS"))?;
    headers.push(header);
    Ok(Access::Proxy {
        variables: ModelVariables {
            url: "ANTHROPIC_BASE_URL".to_owned(),
            token: variable.to_owned(),
        },
        relay: Relay {
            api: Api::Anthropic,
            base_url: base_url(settings, agent_id),
            mount: String::new(),
            headers,
            beta: beta.map(str::to_owned),
        },
    })
}

/// The variable that the CLI looks for such a credential in, the header it
/// goes out in, and the feature it needs.
type Credential = (&'static str, Header, Option<&'static str>);

fn direct(settings: &RunnerSettings, agent_id: &str) -> Option<Credential> {
    // A profile that the session chose comes before all others.
    if !settings.is_pinned("anthropic")
        && let Some(found) = by_variable(settings)
    {
        return Some(found);
    }
    let provider = settings.provider(agent_id, "anthropic")?;
    let access = provider.access.first()?;
    Some(match access.scheme {
        Scheme::ApiKey => api_key(access.secret.reveal()),
        Scheme::Bearer => oauth(access.secret.reveal()),
    })
}

fn by_variable(settings: &RunnerSettings) -> Option<Credential> {
    let outer = &settings.environment;
    if let Some(token) = outer.get("ANTHROPIC_AUTH_TOKEN") {
        return Some(("ANTHROPIC_AUTH_TOKEN", bearer(token), None));
    }
    if let Some(key) = outer.get("ANTHROPIC_API_KEY") {
        return Some(api_key(key));
    }
    outer.get("CLAUDE_CODE_OAUTH_TOKEN").map(oauth)
}

fn api_key(key: &str) -> Credential {
    ("ANTHROPIC_API_KEY", header("x-api-key", key), None)
}

fn oauth(token: &str) -> Credential {
    ("CLAUDE_CODE_OAUTH_TOKEN", bearer(token), Some(OAUTH))
}

fn base_url(settings: &RunnerSettings, agent_id: &str) -> String {
    if let Some(url) = settings.environment.get("ANTHROPIC_BASE_URL") {
        return url.to_owned();
    }
    let provider = settings.provider(agent_id, "anthropic");
    let url = provider.map_or_else(|| ANTHROPIC.to_owned(), |provider| provider.base_url);
    // The CLI adds the version itself.
    let url = url.trim_end_matches('/');
    url.strip_suffix("/v1").unwrap_or(url).to_owned()
}

/// With an API key of Bedrock's own, which is sent as a token.
fn bedrock(settings: &RunnerSettings, token: &str) -> Access {
    let outer = &settings.environment;
    let region = outer.get("AWS_REGION").unwrap_or(REGION);
    let url = outer.get("ANTHROPIC_BEDROCK_BASE_URL").map_or_else(
        || format!("https://bedrock-runtime.{region}.amazonaws.com"),
        str::to_owned,
    );
    Access::Proxy {
        variables: ModelVariables {
            url: "ANTHROPIC_BEDROCK_BASE_URL".to_owned(),
            token: "AWS_BEARER_TOKEN_BEDROCK".to_owned(),
        },
        relay: Relay {
            api: Api::Bedrock,
            base_url: url,
            mount: String::new(),
            headers: vec![bearer(token)],
            beta: None,
        },
    }
}

/// Lines of `Name: value`, as the CLI reads them.
fn custom_headers(text: Option<&str>) -> Result<Vec<Header>, Error> {
    let lines = text.unwrap_or_default().lines();
    lines
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let (name, value) = line.split_once(':').ok_or(Error::CustomHeaders)?;
            Ok(header(&name.trim().to_ascii_lowercase(), value.trim()))
        })
        .collect()
}

/// The agent's own login, else the user's. The file stays out of the agent's
/// view: its token is read here, and renewed by whoever uses the CLI outside.
fn by_login(settings: &RunnerSettings, agent_id: &str) -> Result<Credential, Error> {
    let found = login::find(Login::Claude, settings, agent_id)
        .ok_or(Error::Missing(Login::Claude.title()))?;
    let credentials: Credentials = read_login(&found, FIX)?;
    let login = credentials.claude_ai_oauth;
    if login.expires_at.is_some_and(|end| u128::from(end) <= now()) {
        return Err(Error::Expired {
            login: found,
            renew: FIX,
        });
    }
    Ok(oauth(login.access_token.reveal()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use openclaw_config::Environment;
    use openclaw_settings::Origin;

    use super::*;

    fn found(variables: &[(&str, &str)], login: Option<&str>) -> Result<Access, Error> {
        let home = tempfile::tempdir().unwrap();
        let state = home.path().join(".openclaw");
        fs::create_dir(&state).unwrap();
        if let Some(login) = login {
            fs::create_dir(home.path().join(".claude")).unwrap();
            fs::write(home.path().join(Login::Claude.in_home()), login).unwrap();
        }
        let home_text = home.path().to_str().unwrap();
        let environment: Environment = variables
            .iter()
            .map(|(name, value)| (*name, *value))
            .chain([("HOME", home_text)])
            .collect();
        let settings = crate::settings::load(&environment, Origin::File).unwrap();
        find(&settings, "main", Level::Strict)
    }

    fn proxied(variables: &[(&str, &str)], login: Option<&str>) -> (ModelVariables, Relay) {
        match found(variables, login).unwrap() {
            Access::Proxy { variables, relay } => (variables, relay),
            Access::Own => panic!("no proxy"),
        }
    }

    #[test]
    fn key_becomes_a_header_outside() {
        let (variables, relay) = proxied(
            &[
                ("ANTHROPIC_API_KEY", "sk"),
                ("ANTHROPIC_BASE_URL", "http://127.0.0.1:1"),
                ("ANTHROPIC_CUSTOM_HEADERS", "X-Team: a\nX-Two:b"),
            ],
            None,
        );
        assert_eq!(variables.token, "ANTHROPIC_API_KEY");
        assert_eq!(relay.base_url, "http://127.0.0.1:1");
        let names: Vec<&str> = relay
            .headers
            .iter()
            .map(|(name, _)| name.as_str())
            .collect();
        assert_eq!(names, ["x-team", "x-two", "x-api-key"]);
        assert!(!format!("{relay:?}").contains("sk"));
    }

    #[test]
    fn profile_that_the_session_chose_comes_before_a_variable() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join(".openclaw/agents/main/auth");
        fs::create_dir_all(&folder).unwrap();
        let profile = r#"{"id": "work", "provider": "anthropic",
            "credential": {"type": "api-key", "apiKey": "sk-work"}}"#;
        fs::write(folder.join("work.json"), profile).unwrap();
        let environment: Environment = [
            ("HOME", home.path().to_str().unwrap()),
            ("ANTHROPIC_API_KEY", "sk"),
        ]
        .into_iter()
        .collect();
        let mut settings = crate::settings::load(&environment, Origin::File).unwrap();
        let key = |settings: &RunnerSettings| match find(settings, "main", Level::Strict) {
            Ok(Access::Proxy { relay, .. }) => relay.headers[0].1.0.reveal().to_owned(),
            other => panic!("{other:?}"),
        };
        assert_eq!(key(&settings), "sk");
        assert!(!settings.pin("main", "home", true));
        assert!(settings.pin("main", "work", true));
        assert_eq!(key(&settings), "sk-work");
    }

    #[test]
    fn login_is_read_and_says_when_it_is_old() {
        let login =
            |end: u64| format!(r#"{{"claudeAiOauth":{{"accessToken":"at","expiresAt":{end}}}}}"#);
        let (variables, relay) = proxied(&[], Some(&login(u64::MAX)));
        assert_eq!(variables.token, "CLAUDE_CODE_OAUTH_TOKEN");
        assert_eq!(relay.headers[0].1.0.reveal(), "Bearer at");
        assert_eq!(relay.beta.as_deref(), Some(OAUTH));
        assert_eq!(relay.base_url, ANTHROPIC);
        assert!(matches!(
            found(&[], Some(&login(1))),
            Err(Error::Expired { .. })
        ));
        assert!(matches!(found(&[], Some("{}")), Err(Error::Login { .. })));
    }

    #[test]
    fn clouds_that_want_signatures_are_refused_with_the_way_out() {
        let error = found(&[("CLAUDE_CODE_USE_BEDROCK", "1")], None).unwrap_err();
        assert!(error.to_string().contains("AWS_BEARER_TOKEN_BEDROCK"));
        let (variables, relay) = proxied(
            &[
                ("CLAUDE_CODE_USE_BEDROCK", "1"),
                ("AWS_BEARER_TOKEN_BEDROCK", "b"),
                ("AWS_REGION", "eu-central-1"),
            ],
            None,
        );
        assert_eq!(variables.url, "ANTHROPIC_BEDROCK_BASE_URL");
        assert!(relay.base_url.contains("eu-central-1"));
    }
}
