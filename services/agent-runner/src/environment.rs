//! The environment of agent processes: rebuilt, never inherited.

use openclaw_config::Environment;
use openclaw_config::settings::Settings;

use crate::places::Places;

/// What a login shell has on Debian; the daemon's own PATH may hold folders
/// that are not granted.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
/// Passed on as they are: language, time zone.
const PASSED: [&str; 5] = ["LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "TZ"];
/// Passed on to the Claude Code CLI: which service it is to speak to.
const CLAUDE_PASSED: [&str; 5] = [
    "AWS_REGION",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLOUD_ML_REGION",
    "ANTHROPIC_VERTEX_PROJECT_ID",
];
/// Passed on where it signs its requests itself.
const CLAUDE_KEYS: [&str; 6] = [
    "AWS_ACCESS_KEY_ID",
    "AWS_PROFILE",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "ANTHROPIC_VERTEX_BASE_URL",
    "GOOGLE_APPLICATION_CREDENTIALS",
];
/// The way out, passed on where there is the network of this machine.
const NETWORK: [&str; 5] = [
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

/// What an agent has beside that which has the network of this machine.
pub(crate) fn network(outer: &Environment) -> Variables {
    passed(outer, &NETWORK)
}

/// What the Claude Code CLI has beside that. Its way to the model comes from
/// the turn's doors; with `keys` it has the keys for it.
pub(crate) fn claude(
    settings: &Settings,
    agent_id: &str,
    places: &Places,
    keys: bool,
) -> Variables {
    let outer = &settings.environment;
    let folder = places.home.join(".claude").display().to_string();
    let temporary = places.temporary.display().to_string();
    let mut variables = passed(outer, &CLAUDE_PASSED);
    if keys {
        variables.extend(passed(outer, &CLAUDE_KEYS));
    }
    let has_bedrock = outer.get("CLAUDE_CODE_USE_BEDROCK").is_some();
    if keys && !has_bedrock && settings.aws_profile(agent_id).is_some() {
        variables.push(("CLAUDE_CODE_USE_BEDROCK".to_owned(), "1".to_owned()));
    }
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
    variables
}

fn passed(outer: &Environment, names: &[&str]) -> Variables {
    names
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), outer.get(name)?.to_owned())))
        .collect()
}
