//! Auth profiles: the credentials of an agent (seed 003 §5). Only the
//! agent-runner reads them.
//!
//! They are in `agents/<id>/auth/*.json`, in the shape of the seed or in that of
//! OpenClaw's `agents/<id>/agent/auth-profiles.json`, which is read too, and
//! among the service manager's credentials. Variables are put into the fields
//! that hold secrets and into no other, and messages say nothing of what a file
//! of profiles holds but the kind of a credential and its provider.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use openclaw_config::environment::Environment;
use openclaw_config::error::{Error, SIZE_LIMIT};
use openclaw_config::parse;
use openclaw_config::paths::Paths;
use openclaw_config::secret::Secret;

use crate::login::Login;

pub mod endpoint;
mod folder;
pub mod login;
pub mod order;
mod profile;
pub mod renewal;
mod store;
pub mod usage;

pub use folder::folder;
pub use order::Order;
pub use profile::{Credential, Listed, Profile, Profiles, Scheme};
pub use usage::{RenewalRefused, Usage};

/// How sources that the service manager passed are named.
pub const PASSED: &str = "the credential ";

/// A profile is small; a folder with more files holds something else.
const FILES_LIMIT: usize = 100;

/// How names of credentials begin that the service manager passes with a profile of one
/// agent; behind it are the agent, a full stop, and the provider.
pub const SEALED: &str = "openclaw-profile.";

/// Reads the profiles of `agent_id`.
pub fn read(paths: &Paths, agent_id: &str, environment: &Environment) -> Profiles {
    read_with(paths, agent_id, environment, &BTreeMap::new())
}

/// The same, before them those of its own that are among the service manager's
/// `credentials`.
pub fn read_with(
    paths: &Paths,
    agent_id: &str,
    environment: &Environment,
    credentials: &BTreeMap<String, Secret>,
) -> Profiles {
    let folder = folder(paths, agent_id);
    let mut files = json_files(&folder);
    files.push(
        paths
            .agent(agent_id)
            .join("agent")
            .join("auth-profiles.json"),
    );
    let mut all = sealed(agent_id, credentials, environment);
    for file in files.iter().filter(|file| file.is_file()) {
        if let Some(login) = earlier_login(file) {
            all.warnings.push(format!(
                "{} is a login that an earlier version took out of the agent's home, and is not \
                 used; `openclawctl auth adopt --agent {agent_id} {}` shows it and asks whether it \
                 is to be",
                file.display(),
                login.name()
            ));
            continue;
        }
        match profiles(file, environment) {
            Ok((mut list, order)) => {
                for profile in &mut list {
                    profile.file = Some(file.clone());
                }
                all.list.extend(list);
                // Those of the agent's own folder come first.
                for (provider, ids) in order {
                    all.order.entry(provider).or_insert(ids);
                }
            }
            Err(problem) => all.warnings.push(format!("{}: {problem}", file.display())),
        }
    }
    let kept = usage::read(&usage::file(paths, agent_id));
    for profile in &mut all.list {
        if let Some(usage) = kept.get(&profile.id) {
            profile.usage.clone_from(usage);
        }
    }
    dedup(&mut all.list);
    all.list
        .sort_by_key(|profile| (profile.credential.rank(), profile.usage.last_used));
    all
}

fn sealed(
    agent_id: &str,
    credentials: &BTreeMap<String, Secret>,
    environment: &Environment,
) -> Profiles {
    let mut all = Profiles::default();
    for (name, secret) in credentials {
        let whose = name.strip_prefix(SEALED).and_then(|it| it.rsplit_once('.'));
        if whose.is_none_or(|(agent, _)| agent != agent_id) {
            continue;
        }
        match parsed(Path::new(name), secret.reveal(), environment) {
            Ok((list, _)) => all.list.extend(list),
            Err(problem) => all.warnings.push(format!("{PASSED}{name}: {problem}")),
        }
    }
    all
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .filter(|path| path.file_name().is_some_and(|name| name != usage::FILE))
        .take(FILES_LIMIT)
        .collect();
    files.sort();
    files
}

/// The login that a file was in earlier versions.
fn earlier_login(file: &Path) -> Option<Login> {
    let name = file.file_name()?;
    Login::ALL.into_iter().find(|login| name == login.earlier())
}

/// Of two profiles with the same id the first one counts.
fn dedup(list: &mut Vec<Profile>) {
    let mut seen = std::collections::BTreeSet::new();
    list.retain(|profile| seen.insert(profile.id.clone()));
}

/// The profiles of a file, and the order that it says.
type Held = (Vec<Profile>, Listed);

fn profiles(file: &Path, environment: &Environment) -> Result<Held, String> {
    let text = parse::read_existing(file).map_err(|error| unread(&error))?;
    parsed(file, &text, environment)
}

fn parsed(file: &Path, text: &str, environment: &Environment) -> Result<Held, String> {
    let document = parse::parse_value(file, text).map_err(|error| unread(&error))?;
    let document = document.unwrap_or_default();
    let order = store::order(&document);
    Ok((store::profiles(document, environment)?, order))
}

/// Why a file of credentials cannot be read, without a word of what it says:
/// the parser's own message may quote it.
fn unread(error: &Error) -> String {
    match error {
        Error::Syntax { line, column, .. } => {
            format!("line {line}, column {column} is not JSON")
        }
        Error::Read { source, .. } => source.to_string(),
        Error::TooLarge(_) => format!("it has more than {} bytes", SIZE_LIMIT),
        _ => "it is not in a form that is known".to_owned(),
    }
}

/// The service manager's credentials (LoadCredential=) as profiles:
/// `<provider>-oauth-token` holds one, `auth-profiles.json` a whole store.
/// `<provider>-api-key` is the provider's own (`provider` of the settings).
pub fn passed(credentials: &BTreeMap<String, Secret>, environment: &Environment) -> Profiles {
    let mut all = Profiles::default();
    for (name, secret) in credentials {
        let source = format!("{PASSED}{name}");
        let one = |provider: &str, credential| Profile {
            id: format!("{provider}:{name}"),
            provider: provider.to_owned(),
            credential,
            usage: Usage::default(),
            source: source.clone(),
            file: None,
            endpoint: None,
        };
        if let Some(provider) = name.strip_suffix("-oauth-token") {
            all.list
                .push(one(provider, Credential::Token(secret.clone())));
        } else if ["auth-profiles", "auth-profiles.json"].contains(&name.as_str()) {
            match parsed(Path::new(name), secret.reveal(), environment) {
                Ok((list, order)) => {
                    all.list.extend(list);
                    all.order.extend(order);
                }
                Err(problem) => all.warnings.push(format!("{source}: {problem}")),
            }
        }
    }
    all
}

#[cfg(test)]
mod tests;
