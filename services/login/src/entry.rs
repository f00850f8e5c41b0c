//! What lets an agent's turns in: profiles, keys that the service manager decrypts, and
//! logins that were adopted, as `auth list` shows and `auth remove` finds them.

use std::path::PathBuf;
use std::time::Duration;

use openclaw_config::{Environment, nearest};
use openclaw_credentials::login::Login;
use openclaw_credentials::{self as credentials, Credential, Profile};
use openclaw_folder::Folder;
use openclaw_sealed::{Sealed, Store};
use openclaw_settings::Settings;
use openclaw_terminal::words;
use serde_json::{Value, json};

use crate::contents;

/// The state of a key that the service manager decrypts.
const ENCRYPTED: &str = "encrypted";
/// The state of what nothing is known against.
const USABLE: &str = "usable";
/// The state of a login that will never work again.
const ENDED: &str = "has ended";

/// One of them.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) agent: String,
    pub(crate) id: String,
    pub(crate) provider: String,
    pub(crate) kind: &'static str,
    pub(crate) state: String,
    pub(crate) file: Option<PathBuf>,
    pub(crate) place: Place,
}

/// How it is kept.
#[derive(Debug)]
pub(crate) enum Place {
    /// Among the profiles.
    Profile,
    /// By the service manager.
    Sealed(Sealed),
    /// As a login of a CLI.
    Adopted(Login),
}

/// Those of an agent, and what is wrong with files of theirs.
pub(crate) fn all(
    agent: &str,
    settings: &Settings,
    environment: &Environment,
) -> (Vec<Entry>, Vec<String>) {
    let found = credentials::read(&settings.paths, agent, environment);
    let mut all: Vec<Entry> = found
        .list
        .into_iter()
        .map(|profile| Entry::of_profile(agent, profile))
        .collect();
    let store = Store::of(&settings.paths, environment);
    let sealed = store.map(|store| store.list()).unwrap_or_default();
    let sealed = sealed.into_iter().filter(|it| it.agent == agent);
    all.extend(sealed.map(Entry::of_sealed));
    let adopted = Login::ALL.into_iter();
    all.extend(adopted.filter_map(|login| Entry::of_login(agent, login, settings)));
    (all, found.warnings)
}

/// Those that `name` means: by the id, as what `auth add` made of it, else by the provider.
pub(crate) fn meant<'a>(all: &'a [Entry], name: &str) -> Vec<&'a Entry> {
    for id in [name.to_owned(), added(name)] {
        // Turns take what lies encrypted before a file of the same name.
        let named = all.iter().filter(|entry| entry.id == id);
        if let Some(entry) = named.min_by_key(|it| !matches!(it.place, Place::Sealed(_))) {
            return vec![entry];
        }
    }
    all.iter()
        .filter(|entry| entry.names().contains(&name))
        .collect()
}

/// How `auth add` names the key of a provider.
fn added(provider: &str) -> String {
    format!("{provider}:default")
}

/// The id of the one that `name` nearly is.
pub(crate) fn near<'a>(all: &'a [Entry], name: &str) -> Option<&'a str> {
    let names = all.iter().flat_map(Entry::names);
    let near = nearest::nearest(name, names)?;
    let entry = all.iter().find(|entry| entry.names().contains(&near))?;
    Some(&entry.id)
}

impl Entry {
    /// What it is called.
    fn names(&self) -> [&str; 3] {
        let beginning = self.id.split(':').next().unwrap_or_default();
        [&self.id, beginning, &self.provider]
    }

    fn of_profile(agent: &str, profile: Profile) -> Self {
        Self {
            agent: agent.to_owned(),
            state: state(&profile, now_ms()),
            kind: kind(&profile.credential),
            id: profile.id,
            provider: profile.provider,
            file: profile.file,
            place: Place::Profile,
        }
    }

    fn of_sealed(sealed: Sealed) -> Self {
        Self {
            agent: sealed.agent.clone(),
            id: added(&sealed.provider),
            provider: sealed.provider.clone(),
            kind: "api-key",
            state: ENCRYPTED.to_owned(),
            file: Some(sealed.file.clone()),
            place: Place::Sealed(sealed),
        }
    }

    /// None: there is none of this CLI.
    fn of_login(agent: &str, login: Login, settings: &Settings) -> Option<Self> {
        let folder = Folder::open(&settings.paths.agent(agent)).ok()??;
        let state = match folder.read(login.adopted(), contents::LIMIT) {
            Ok(bytes) => match contents::parse(login, &bytes?) {
                Ok(contents) => until(contents.expires_ms, now_ms()),
                Err(problem) => problem,
            },
            Err(error) => error.to_string(),
        };
        Some(Self {
            agent: agent.to_owned(),
            id: login.name().to_owned(),
            provider: login.provider().to_owned(),
            kind: "login",
            state,
            file: Some(login.file(&settings.paths, agent)),
            place: Place::Adopted(login),
        })
    }

    /// For people.
    pub(crate) fn row(&self) -> Vec<String> {
        let file = self.file.as_ref().map(|file| file.display().to_string());
        vec![
            self.agent.clone(),
            self.id.clone(),
            self.provider.clone(),
            self.kind.to_owned(),
            self.state.clone(),
            file.unwrap_or_else(|| "-".to_owned()),
        ]
    }

    /// For programs.
    pub(crate) fn document(&self) -> Value {
        json!({
            "agentId": self.agent,
            "id": self.id,
            "provider": self.provider,
            "kind": self.kind,
            "state": self.state,
            "file": self.file,
        })
    }
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
    if let Some(why) = refused(profile) {
        return format!(
            "was not renewed ({why}): log in again with the program that made it, or run: \
             openclawctl auth add {}",
            profile.provider
        );
    }
    if profile.usage.is_cooling(now_ms) {
        return "left alone for a while".to_owned();
    }
    match &profile.credential {
        Credential::OAuth {
            expires_ms: Some(at),
            refresh: Some(_),
            ..
        } if *at <= now_ms => "is renewed with the next message".to_owned(),
        Credential::OAuth { expires_ms, .. } => until(*expires_ms, now_ms),
        _ => USABLE.to_owned(),
    }
}

/// Why the login is not renewed; a login that was made anew ends at another time than
/// the one that was refused.
fn refused(profile: &Profile) -> Option<&str> {
    let Credential::OAuth { expires_ms, .. } = &profile.credential else {
        return None;
    };
    let refused = profile.usage.renewal_refused.as_ref()?;
    (refused.expires == *expires_ms).then_some(&refused.why)
}

/// Of what ends then.
fn until(expires_ms: Option<u64>, now_ms: u64) -> String {
    match expires_ms {
        None => USABLE.to_owned(),
        Some(at) if at <= now_ms => ENDED.to_owned(),
        Some(at) => {
            let left = words::duration(Duration::from_millis(at - now_ms));
            format!("ends in {left}")
        }
    }
}

pub(crate) fn now_ms() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use openclaw_config::secret::Secret;
    use openclaw_credentials::{RenewalRefused, Usage};

    use super::*;

    fn entry(id: &str, provider: &str) -> Entry {
        Entry {
            agent: "main".to_owned(),
            id: id.to_owned(),
            provider: provider.to_owned(),
            kind: "api-key",
            state: USABLE.to_owned(),
            file: None,
            place: Place::Profile,
        }
    }

    #[test]
    fn entry_is_meant_by_its_id_else_by_its_provider() {
        let all = [
            entry("anthropic:default", "anthropic"),
            entry("anthropic:work", "anthropic"),
            entry("openai:default", "openai"),
            entry("codex", "openai"),
            entry("mistral:home", "mistral"),
            entry("mistral:work", "mistral"),
        ];
        let ids = |name: &str| {
            let meant = meant(&all, name).into_iter();
            meant.map(|entry| entry.id.clone()).collect::<Vec<_>>()
        };
        assert_eq!(ids("openai"), ["openai:default"]);
        assert_eq!(ids("anthropic:work"), ["anthropic:work"]);
        assert_eq!(ids("anthropic"), ["anthropic:default"]);
        assert_eq!(ids("mistral"), ["mistral:home", "mistral:work"]);
        assert_eq!(ids("codex"), ["codex"]);
        assert_eq!(ids("anthropi"), [] as [&str; 0]);
        assert_eq!(near(&all, "anthropi"), Some("anthropic:default"));
        assert_eq!(near(&all, "opnai"), Some("openai:default"));
        assert_eq!(near(&all, "anthropic:wrok"), Some("anthropic:work"));
        assert_eq!(near(&all, "garden"), None);
    }

    #[test]
    fn login_that_was_not_renewed_is_told_with_the_way_out() {
        let mut profile = Profile {
            id: "openai:me".to_owned(),
            provider: "openai".to_owned(),
            credential: Credential::OAuth {
                access: Secret::new("a"),
                refresh: Some(Secret::new("r")),
                expires_ms: Some(5),
            },
            usage: Usage::default(),
            source: String::new(),
            file: None,
            endpoint: None,
        };
        assert_eq!(state(&profile, 9), "is renewed with the next message");
        profile.usage.renewal_refused = Some(RenewalRefused {
            expires: Some(5),
            why: "auth.example refused it (HTTP 400, invalid_grant)".to_owned(),
        });
        let told = state(&profile, 9);
        for words in [
            "invalid_grant",
            "log in again",
            "openclawctl auth add openai",
        ] {
            assert!(told.contains(words), "{told}");
        }
        // Whoever made it anew has another one.
        if let Credential::OAuth { expires_ms, .. } = &mut profile.credential {
            *expires_ms = Some(60_009);
        }
        assert_eq!(state(&profile, 9), "ends in 1 min 0 s");
    }

    #[test]
    fn entry_what_ends_is_told_when() {
        assert_eq!(until(None, 5), "usable");
        assert_eq!(until(Some(5), 5), "has ended");
        assert_eq!(until(Some(65_005), 5), "ends in 1 min 5 s");
    }
}
