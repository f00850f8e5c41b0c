//! `auth list`.

use openclaw_config::Environment;
use openclaw_credentials::{self as credentials, Credential, Profile};
use openclaw_sealed::{Sealed, Store};
use openclaw_settings::Settings;
use openclaw_terminal::table::{self, Shape};
use openclaw_terminal::{Failure, output, words};
use serde_json::{Value, json};

use crate::arguments::List;

/// The state of a key that the service manager decrypts.
const ENCRYPTED: &str = "encrypted";
/// What a narrow terminal does without.
const SHAPE: Shape<'_> = Shape {
    optional: &["FILE", "PROVIDER"],
    least: &[("PROFILE", 18), ("FILE", 16)],
};

/// Prints the profiles of the agents that are meant.
pub(crate) fn execute(arguments: &List, environment: &Environment) -> Result<(), Failure> {
    let settings = openclaw_settings::load_usable(environment)?;
    let agents = match &arguments.agent {
        Some(wanted) => vec![crate::agent::named(Some(wanted), &settings)?],
        None => settings.agents.keys().cloned().collect(),
    };
    let store = Store::of(&settings.paths, environment);
    let sealed = store.map(|store| store.list()).unwrap_or_default();
    let (mut rows, mut documents) = (Vec::new(), Vec::new());
    for agent in &agents {
        let found = credentials::read(&settings.paths, agent, environment);
        for warning in &found.warnings {
            output::stderr_line(&format!("warning: {}", output::line(warning)));
        }
        rows.extend(found.list.iter().map(|profile| row(agent, profile)));
        documents.extend(found.list.iter().map(|profile| document(agent, profile)));
        for sealed in sealed.iter().filter(|it| it.agent == *agent) {
            rows.push(row_of_sealed(sealed));
            documents.push(document_of_sealed(sealed));
        }
    }
    if arguments.json {
        return output::document(&documents);
    }
    if rows.is_empty() {
        return output::stdout(&nothing(&settings));
    }
    let head = ["AGENT", "PROFILE", "PROVIDER", "KIND", "STATE", "FILE"];
    rows.insert(0, head.map(str::to_owned).to_vec());
    table::print_named(&rows, SHAPE)
}

fn nothing(settings: &Settings) -> String {
    let file = settings.paths.state.join("agents").display().to_string();
    format!(
        "No key and no login is kept in {file}; those of ~/.config/openclaw/env and of your own \
         Claude Code and Codex are used without.\n"
    )
}

fn row(agent: &str, profile: &Profile) -> Vec<String> {
    let file = profile.file.as_ref().map(|file| file.display().to_string());
    vec![
        agent.to_owned(),
        profile.id.clone(),
        profile.provider.clone(),
        kind(&profile.credential).to_owned(),
        state(profile, now_ms()),
        file.unwrap_or_else(|| "-".to_owned()),
    ]
}

fn document(agent: &str, profile: &Profile) -> Value {
    json!({
        "agentId": agent,
        "id": profile.id,
        "provider": profile.provider,
        "kind": kind(&profile.credential),
        "state": state(profile, now_ms()),
        "file": profile.file,
    })
}

fn row_of_sealed(sealed: &Sealed) -> Vec<String> {
    vec![
        sealed.agent.clone(),
        sealed_id(sealed),
        sealed.provider.clone(),
        "api-key".to_owned(),
        ENCRYPTED.to_owned(),
        sealed.file.display().to_string(),
    ]
}

fn document_of_sealed(sealed: &Sealed) -> Value {
    json!({
        "agentId": sealed.agent,
        "id": sealed_id(sealed),
        "provider": sealed.provider,
        "kind": "api-key",
        "state": ENCRYPTED,
        "file": sealed.file,
    })
}

/// As `auth add` named it.
pub(crate) fn sealed_id(sealed: &Sealed) -> String {
    format!("{}:default", sealed.provider)
}

fn kind(credential: &Credential) -> &'static str {
    match credential {
        Credential::ApiKey(_) => "api-key",
        Credential::OAuth { .. } => "oauth",
        Credential::Token(_) => "token",
        Credential::AwsSdk => "aws-sdk",
    }
}

fn state(profile: &Profile, now_ms: u64) -> String {
    if profile.usage.is_cooling(now_ms) {
        return "left alone for a while".to_owned();
    }
    match &profile.credential {
        Credential::OAuth {
            expires_ms: Some(at),
            refresh,
            ..
        } => {
            let ended = *at <= now_ms;
            let left = std::time::Duration::from_millis(at.abs_diff(now_ms));
            match (ended, refresh) {
                (true, Some(_)) => "is renewed with the next message".to_owned(),
                (true, None) => "has ended".to_owned(),
                (false, _) => format!("ends in {}", words::duration(left)),
            }
        }
        _ => "usable".to_owned(),
    }
}

fn now_ms() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default()
}
