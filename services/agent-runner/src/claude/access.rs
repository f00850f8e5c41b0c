//! How the Claude Code CLI gets to its model: over the turn's own door, with
//! a credential that stays in the turn's process.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use openclaw_config::provider::Scheme;
use openclaw_config::secret::Secret;
use openclaw_config::settings::{SandboxLevel, Settings};
use serde::Deserialize;

use crate::doors::ModelVariables;
use crate::doors::model::{HeaderSecret, Relay};

/// Where Anthropic's API is.
const ANTHROPIC: &str = "https://api.anthropic.com";
/// What the Messages API wants to see with the token of a login.
const OAUTH: &str = "oauth-2025-04-20";
/// Where Bedrock is when nobody says where.
const REGION: &str = "us-east-1";
/// The CLI's file with a login.
const CREDENTIALS: &str = ".credentials.json";

/// What a turn of the CLI is given.
#[derive(Debug)]
pub(crate) enum Access {
    /// A door, and what is behind it.
    Door {
        variables: ModelVariables,
        relay: Relay,
    },
    /// The CLI signs its requests itself, with keys in its environment.
    Own,
}

/// Why the CLI cannot get to its model.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(
        "Claude Code signs what it asks {0} for itself and would have to hold the keys, which the \
         sandbox keeps from agents; set AWS_BEARER_TOKEN_BEDROCK for Bedrock, or for this agent \
         sandbox.level to \"workspace\" and sandbox.network to \"full\""
    )]
    Signing(&'static str),
    #[error(
        "the login in {path} has expired; run `claude` once as this user, which renews it, or \
         `claude setup-token` and set CLAUDE_CODE_OAUTH_TOKEN, which lasts a year"
    )]
    Expired { path: PathBuf },
    #[error("the login in {path} cannot be read: {problem}; run `claude` and log in again")]
    Login { path: PathBuf, problem: String },
    #[error("there is no key and no login for Claude Code any more")]
    Missing,
    #[error("ANTHROPIC_CUSTOM_HEADERS has a line without a colon")]
    CustomHeaders,
}

/// The CLI's login file, as far as it is needed.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Credentials {
    claude_ai_oauth: Login,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Login {
    access_token: Secret,
    /// Unix milliseconds.
    #[serde(default)]
    expires_at: Option<u64>,
}

/// Chooses as the CLI itself does: a cloud that was asked for, a token, a key,
/// a login.
pub(crate) fn find(
    settings: &Settings,
    agent_id: &str,
    level: SandboxLevel,
) -> Result<Access, Error> {
    let outer = &settings.environment;
    let wants = |name: &str| outer.get(name).is_some_and(|value| value != "0");
    let profile = settings.aws_profile(agent_id).is_some();
    let own = |service| match level {
        SandboxLevel::Strict => Err(Error::Signing(service)),
        SandboxLevel::Workspace | SandboxLevel::Off => Ok(Access::Own),
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
        None => login(settings, agent_id)?,
    };
    let mut headers = custom_headers(outer.get("ANTHROPIC_CUSTOM_HEADERS"))?;
    headers.push(header);
    Ok(Access::Door {
        variables: ModelVariables {
            url: "ANTHROPIC_BASE_URL".to_owned(),
            token: variable.to_owned(),
        },
        relay: Relay {
            base_url: base_url(settings, agent_id),
            headers,
            beta: beta.map(str::to_owned),
        },
    })
}

type Header = (String, HeaderSecret);
/// The variable that the CLI looks for such a credential in, the header it
/// goes out in, and the feature it needs.
type Credential = (&'static str, Header, Option<&'static str>);

fn direct(settings: &Settings, agent_id: &str) -> Option<Credential> {
    let outer = &settings.environment;
    if let Some(token) = outer.get("ANTHROPIC_AUTH_TOKEN") {
        return Some(("ANTHROPIC_AUTH_TOKEN", bearer(token), None));
    }
    if let Some(key) = outer.get("ANTHROPIC_API_KEY") {
        return Some(api_key(key));
    }
    if let Some(token) = outer.get("CLAUDE_CODE_OAUTH_TOKEN") {
        return Some(oauth(token));
    }
    let provider = settings.provider(agent_id, "anthropic")?;
    let access = provider.access.first()?;
    Some(match access.scheme {
        Scheme::ApiKey => api_key(access.secret.reveal()),
        Scheme::Bearer => oauth(access.secret.reveal()),
    })
}

fn api_key(key: &str) -> Credential {
    let header = ("x-api-key".to_owned(), HeaderSecret(Secret::new(key)));
    ("ANTHROPIC_API_KEY", header, None)
}

fn oauth(token: &str) -> Credential {
    ("CLAUDE_CODE_OAUTH_TOKEN", bearer(token), Some(OAUTH))
}

fn bearer(token: &str) -> Header {
    let value = Secret::new(format!("Bearer {token}"));
    ("authorization".to_owned(), HeaderSecret(value))
}

fn base_url(settings: &Settings, agent_id: &str) -> String {
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
fn bedrock(settings: &Settings, token: &str) -> Access {
    let outer = &settings.environment;
    let region = outer.get("AWS_REGION").unwrap_or(REGION);
    let url = outer.get("ANTHROPIC_BEDROCK_BASE_URL").map_or_else(
        || format!("https://bedrock-runtime.{region}.amazonaws.com"),
        str::to_owned,
    );
    Access::Door {
        variables: ModelVariables {
            url: "ANTHROPIC_BEDROCK_BASE_URL".to_owned(),
            token: "AWS_BEARER_TOKEN_BEDROCK".to_owned(),
        },
        relay: Relay {
            base_url: url,
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
            let value = Secret::new(value.trim());
            Ok((name.trim().to_ascii_lowercase(), HeaderSecret(value)))
        })
        .collect()
}

/// The agent's own login, else the user's. The file stays out of the agent's
/// view: its token is read here, and renewed by whoever uses the CLI outside.
fn login(settings: &Settings, agent_id: &str) -> Result<Credential, Error> {
    let path = login_file(settings, agent_id).ok_or(Error::Missing)?;
    let broken = |problem: String| Error::Login {
        path: path.clone(),
        problem,
    };
    let text = fs::read(&path).map_err(|error| broken(error.to_string()))?;
    // serde_json's words could hold a part of the token.
    let found: Credentials = serde_json::from_slice(&text)
        .map_err(|error| broken(format!("line {} is not as expected", error.line())))?;
    let login = found.claude_ai_oauth;
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    let now = now.map_or(0, |now| now.as_millis());
    if login.expires_at.is_some_and(|end| u128::from(end) <= now) {
        return Err(Error::Expired { path });
    }
    Ok(oauth(login.access_token.reveal()))
}

/// Where a login is, if there is one.
pub(crate) fn login_file(settings: &Settings, agent_id: &str) -> Option<PathBuf> {
    let home = settings.paths.home.as_ref();
    let users = home.map(|home| home.join(".claude").join(CREDENTIALS));
    let files = [Some(kept(settings, agent_id)), users];
    files.into_iter().flatten().find(|file| file.is_file())
}

/// The agent's own login, outside of what it sees.
fn kept(settings: &Settings, agent_id: &str) -> PathBuf {
    let folder = settings.paths.agent(agent_id).join("auth");
    folder.join("claude-credentials.json")
}

/// Takes a login out of the agent's home: one that somebody made there by
/// starting the CLI with that home.
pub(crate) fn take_login(settings: &Settings, agent_id: &str, home: &Path) -> io::Result<()> {
    let found = home.join(".claude").join(CREDENTIALS);
    let Ok(metadata) = fs::symlink_metadata(&found) else {
        return Ok(());
    };
    // A link leads to the user's own login, which is found without.
    if metadata.is_symlink() {
        return fs::remove_file(&found);
    }
    let target = kept(settings, agent_id);
    if let Some(folder) = target.parent() {
        fs::create_dir_all(folder)?;
    }
    tracing::info!(path = %target.display(), "an agent's login is kept out of its home from now on");
    fs::rename(&found, &target)
}

#[cfg(test)]
mod tests {
    use openclaw_config::{Environment, Origin};

    use super::*;

    fn found(variables: &[(&str, &str)], login: Option<&str>) -> Result<Access, Error> {
        let home = tempfile::tempdir().unwrap();
        let state = home.path().join(".openclaw");
        fs::create_dir(&state).unwrap();
        if let Some(login) = login {
            fs::create_dir(home.path().join(".claude")).unwrap();
            fs::write(home.path().join(".claude").join(CREDENTIALS), login).unwrap();
        }
        let home_text = home.path().to_str().unwrap();
        let environment: Environment = variables
            .iter()
            .map(|(name, value)| (*name, *value))
            .chain([("HOME", home_text)])
            .collect();
        let settings = crate::settings::load(&environment, Origin::File).unwrap();
        find(&settings, "main", SandboxLevel::Strict)
    }

    fn door(variables: &[(&str, &str)], login: Option<&str>) -> (ModelVariables, Relay) {
        match found(variables, login).unwrap() {
            Access::Door { variables, relay } => (variables, relay),
            Access::Own => panic!("no door"),
        }
    }

    #[test]
    fn a_key_becomes_a_header_outside() {
        let (variables, relay) = door(
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
    fn a_login_is_read_and_says_when_it_is_old() {
        let login =
            |end: u64| format!(r#"{{"claudeAiOauth":{{"accessToken":"at","expiresAt":{end}}}}}"#);
        let (variables, relay) = door(&[], Some(&login(u64::MAX)));
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
        let (variables, relay) = door(
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
