//! The environment of agent processes: rebuilt, never inherited.

use openclaw_config::Environment;
use openclaw_config::provider::Scheme;
use openclaw_config::settings::Settings;

use crate::places::Places;

/// What a login shell has on Debian; the daemon's own PATH may hold folders
/// that are not granted.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Passed on as they are: language, time zone.
const PASSED: [&str; 5] = ["LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ"];
/// Passed on to the Claude Code CLI: its login, its endpoint, its way out.
const CLAUDE_PASSED: [&str; 20] = [
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "ANTHROPIC_BASE_URL",
    "ANTHROPIC_CUSTOM_HEADERS",
    "AWS_ACCESS_KEY_ID",
    "AWS_BEARER_TOKEN_BEDROCK",
    "AWS_PROFILE",
    "AWS_REGION",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLOUD_ML_REGION",
    "ANTHROPIC_VERTEX_PROJECT_ID",
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "NO_PROXY",
    "NODE_EXTRA_CA_CERTS",
    "SSL_CERT_FILE",
];

/// Variables by name, in the order they were set.
pub(crate) type Variables = Vec<(String, String)>;

/// What every agent process has.
pub(crate) fn common(outer: &Environment, places: &Places) -> Variables {
    let user = places
        .identity
        .as_ref()
        .map(|identity| identity.name.clone())
        .or_else(|| outer.get("USER").map(str::to_owned))
        .unwrap_or_else(|| "openclaw".to_owned());
    let home = places.home.display().to_string();
    let temporary = places.temporary.display().to_string();
    let mut variables: Variables = [
        ("PATH", PATH),
        ("HOME", &home),
        ("TMPDIR", &temporary),
        ("USER", &user),
        ("LOGNAME", &user),
        ("SHELL", "/bin/sh"),
        ("TERM", "dumb"),
        ("OPENCLAW_SHELL", "exec"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .into();
    variables.extend(passed(outer, &PASSED));
    variables
}

/// What the Claude Code CLI has beside that.
pub(crate) fn claude(settings: &Settings, agent_id: &str, places: &Places) -> Variables {
    let outer = &settings.environment;
    let folder = places.home.join(".claude").display().to_string();
    let temporary = places.temporary.display().to_string();
    let mut variables = passed(outer, &CLAUDE_PASSED);
    variables.extend(
        [
            ("CLAUDE_CONFIG_DIR", folder.as_str()),
            ("CLAUDE_CODE_TMPDIR", &temporary),
            // It is updated by whoever installed it, not by a turn.
            ("DISABLE_AUTOUPDATER", "1"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
            // Its default of ten keeps a user waiting for minutes.
            ("CLAUDE_CODE_MAX_RETRIES", "3"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    if let Some(provider) = settings.provider(agent_id, "anthropic") {
        let mut fill = |name: &str, value: &str| {
            if outer.get(name).is_none() {
                variables.push((name.to_owned(), value.to_owned()));
            }
        };
        if let Some(access) = provider.access.first() {
            let name = match access.scheme {
                Scheme::ApiKey => "ANTHROPIC_API_KEY",
                Scheme::Bearer => "CLAUDE_CODE_OAUTH_TOKEN",
            };
            fill(name, access.secret.reveal());
        } else if settings.aws_profile(agent_id).is_some() {
            fill("CLAUDE_CODE_USE_BEDROCK", "1");
        }
        if provider.base_url != "https://api.anthropic.com" {
            fill("ANTHROPIC_BASE_URL", &provider.base_url);
        }
    }
    variables
}

fn passed(outer: &Environment, names: &[&str]) -> Variables {
    names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), outer.get(name)?.to_owned())))
        .collect()
}
