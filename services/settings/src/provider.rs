//! Providers of models: where their API is, which kind it is, and the key.

use std::collections::BTreeMap;

use openclaw_config::environment::Environment;
use openclaw_config::secret::Secret;
use openclaw_config::substitute;
use openclaw_credentials::{PASSED, Profile, Scheme, Usage};
use serde_json::Value;

use crate::keys;

/// The kind of API a provider speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Api {
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's chat completions, which most others speak too.
    OpenAi,
}

impl Api {
    /// Its name in OpenClaw.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic-messages",
            Self::OpenAi => "openai-completions",
        }
    }
}

/// One way in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The profile, or the variable or key of the configuration.
    pub id: String,
    /// The secret that is sent.
    pub secret: Secret,
    /// How it is sent.
    pub scheme: Scheme,
    /// Its source, for messages to the user.
    pub source: String,
    /// The agent whose use of the profile is kept.
    pub agent: Option<String>,
    /// Its use as known when the configuration was read.
    pub usage: Usage,
}

impl Access {
    /// The way in that a profile of the agent is, when it is one.
    pub fn of(profile: &Profile, agent: &str) -> Option<Self> {
        let (secret, scheme) = profile.credential.secret()?;
        Some(Self {
            id: profile.id.clone(),
            secret: secret.clone(),
            scheme,
            source: profile.source.clone(),
            agent: Some(agent.to_owned()),
            usage: profile.usage.clone(),
        })
    }

    /// Whether the service manager passed it.
    pub fn is_passed(&self) -> bool {
        self.source.starts_with(PASSED)
    }
}

/// A provider, resolved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Provider {
    /// `anthropic`, `openai`, `ollama`, …
    pub id: String,
    /// Where its API is; for [`Api::OpenAi`] with the version (`…/v1`), for
    /// [`Api::Anthropic`] without.
    pub base_url: String,
    /// The kind of API.
    pub api: Api,
    /// The first way in; `None` for servers that need none.
    pub key: Option<Secret>,
    /// All ways in, those to be tried first before the others.
    pub access: Vec<Access>,
    /// The actual or possible source of the key, for messages to the user.
    pub key_source: String,
    /// Its models, as the configuration describes them.
    pub models: Vec<Value>,
    /// Why it cannot be asked, whatever key there is: the key of the configuration and the problem.
    pub fault: Option<String>,
}

impl Provider {
    /// The same with more ways in, which come before those there are.
    pub(crate) fn with_access(mut self, first: Vec<Access>) -> Self {
        if let Some(access) = first.first() {
            self.key = Some(access.secret.clone());
            self.key_source.clone_from(&access.source);
        }
        self.access.splice(0..0, first);
        self
    }

    /// Whether `model` sees images: as `models[].input` says, else as all of
    /// Anthropic's do. Of others' it is not known, and many refuse them.
    pub fn sees_images(&self, model: &str) -> bool {
        let mut described = self.models.iter();
        let described = described.find(|described| described["id"] == model);
        match described.and_then(|described| described["input"].as_array()) {
            Some(kinds) => kinds.iter().any(|kind| kind == "image"),
            None => self.api == Api::Anthropic,
        }
    }

    /// Whether it can be asked: it has a key, or is one that needs none.
    pub fn is_usable(&self) -> bool {
        self.fault.is_none() && (self.key.is_some() || !needs_key(&self.base_url))
    }
}

/// Providers known without configuration: id, API, base URL, key variable, base URL variable.
const KNOWN: [(&str, Api, &str, &str, &str); 4] = [
    (
        "anthropic",
        Api::Anthropic,
        "https://api.anthropic.com",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_BASE_URL",
    ),
    (
        "openai",
        Api::OpenAi,
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        "OPENAI_BASE_URL",
    ),
    (
        "openrouter",
        Api::OpenAi,
        "https://openrouter.ai/api/v1",
        "OPENROUTER_API_KEY",
        "OPENROUTER_BASE_URL",
    ),
    (
        "ollama",
        Api::OpenAi,
        "http://127.0.0.1:11434/v1",
        "OLLAMA_API_KEY",
        "OLLAMA_BASE_URL",
    ),
];

/// The known providers and those of the configuration. The environment's key
/// and base URL come before the file's; `credentials` (systemd's, by file
/// name, such as `anthropic-api-key`) before both.
pub fn resolve(
    configured: &BTreeMap<String, keys::Provider>,
    environment: &Environment,
    credentials: &BTreeMap<String, Secret>,
) -> Result<BTreeMap<String, Provider>, (String, String)> {
    let mut providers = BTreeMap::new();
    let ids = KNOWN
        .iter()
        .map(|known| known.0)
        .chain(configured.keys().map(String::as_str));
    for id in ids {
        if providers.contains_key(id) {
            continue;
        }
        let fragment = configured.get(id).cloned().unwrap_or_default();
        providers.insert(id.to_owned(), one(id, fragment, environment, credentials)?);
    }
    Ok(providers)
}

/// Providers that cannot be asked, each with the reason as a sentence.
pub fn faults(providers: &BTreeMap<String, Provider>) -> BTreeMap<String, String> {
    let fault = |it: &Provider| Some((it.id.clone(), it.fault.clone()?));
    providers.values().filter_map(fault).collect()
}

/// The kind of API of a provider with `api` as it is written, or of the known one of that
/// name; the word when nobody knows it.
fn spoken<'a>(id: &str, api: Option<&'a str>) -> Result<Api, &'a str> {
    match api {
        None => {
            let known = KNOWN.iter().find(|known| known.0 == id);
            Ok(known.map_or(Api::OpenAi, |known| known.1))
        }
        Some("anthropic-messages" | "anthropic") => Ok(Api::Anthropic),
        Some("openai-completions" | "openai-chat" | "openai") => Ok(Api::OpenAi),
        Some(other) => Err(other),
    }
}

/// The kinds of API of the providers, the configured ones and the known.
pub fn apis(configured: &BTreeMap<String, keys::Provider>) -> BTreeMap<String, Api> {
    let known = known().map(|id| (id, None));
    let configured = configured.iter();
    let configured = configured.map(|(id, it)| (id.as_str(), it.api.as_deref()));
    let spoken = known
        .chain(configured)
        .filter_map(|(id, api)| Some((id.to_owned(), spoken(id, api).ok()?)));
    spoken.collect()
}

/// The providers that are known without configuration.
pub fn known() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|known| known.0)
}

/// The variables that come before the provider's `apiKey` and `baseUrl` in the file.
pub fn variables(id: &str) -> (String, String) {
    let known = KNOWN.iter().find(|known| known.0 == id);
    let upper = id.to_uppercase().replace(['-', '.'], "_");
    match known {
        Some(known) => (known.3.to_owned(), known.4.to_owned()),
        None => (format!("{upper}_API_KEY"), format!("{upper}_BASE_URL")),
    }
}

fn one(
    id: &str,
    fragment: keys::Provider,
    environment: &Environment,
    credentials: &BTreeMap<String, Secret>,
) -> Result<Provider, (String, String)> {
    let key = |field: &str| format!("models.providers.{id}.{field}");
    let known = KNOWN.iter().find(|known| known.0 == id);
    let (key_variable, url_variable) = variables(id);
    let (api, mut fault) = match spoken(id, fragment.api.as_deref()) {
        Ok(api) => (api, None),
        Err(other) => (Api::OpenAi, Some(not_spoken(id, &key("api"), other))),
    };
    let base_url = environment
        .get(&url_variable)
        .map(str::to_owned)
        .or(fragment.base_url)
        .or_else(|| known.map(|known| known.2.to_owned()));
    if base_url.is_none() {
        let problem = || format!("{} is missing, so {id} is not used", key("baseUrl"));
        fault.get_or_insert_with(problem);
    }
    for (field, text) in [
        ("baseUrl", base_url.as_deref()),
        ("api", fragment.api.as_deref()),
    ] {
        if let Some(name) = text.and_then(substitute::unanswered) {
            fault = Some(unanswered(id, &key(field), name));
        }
    }
    let from_environment = environment.get(&key_variable).map(|value| {
        let source = format!("the variable {key_variable}");
        access(&key_variable, Secret::new(value), source)
    });
    let written = fragment.api_key.as_ref();
    let missing = written.and_then(|secret| substitute::unanswered(secret.reveal()));
    let from_file = written.filter(|_| missing.is_none());
    let from_file = from_file.map(|it| access(&key("apiKey"), it.clone(), key("apiKey")));
    let access: Vec<Access> = passed(id, credentials)
        .into_iter()
        .chain(from_environment)
        .chain(from_file)
        .collect();
    if let Some(name) = missing.filter(|_| access.is_empty()) {
        fault.get_or_insert_with(|| unanswered(id, &key("apiKey"), name));
    }
    Ok(Provider {
        id: id.to_owned(),
        base_url: match base_url.filter(|url| substitute::unanswered(url).is_none()) {
            Some(url) => checked_url(&url).map_err(|problem| (key("baseUrl"), problem))?,
            None => String::new(),
        },
        api,
        key: access.first().map(|access| access.secret.clone()),
        key_source: match access.first() {
            Some(access) => access.source.clone(),
            None => format!("{key_variable} or {}", key("apiKey")),
        },
        access,
        models: fragment.models,
        fault,
    })
}

/// Why a provider is not used whose key `key` says that it has the API `api`.
fn not_spoken(id: &str, key: &str, api: &str) -> String {
    format!(
        "{key} is {api:?}, which is not spoken here; {id} is not used \
         (\"anthropic-messages\" and \"openai-completions\" are)"
    )
}

/// Why a provider is not used whose key `key` says `name` and nothing else.
fn unanswered(id: &str, key: &str, name: &str) -> String {
    if name == substitute::ELSEWHERE {
        return format!(
            "{key} is a reference to a secret elsewhere, which is not read here; {id} is not used \
             (${{VARIABLE}} or a systemd credential would do)"
        );
    }
    format!("{key} refers to {name}, which is not set, so {id} is not used")
}

/// The service manager's credential for a provider.
fn passed(id: &str, credentials: &BTreeMap<String, Secret>) -> Option<Access> {
    let name = format!("{id}-api-key");
    let secret = credentials.get(&name)?.clone();
    let source = format!("{PASSED}{name}");
    Some(access(&name, secret, source))
}

fn access(id: &str, secret: Secret, source: String) -> Access {
    Access {
        id: id.to_owned(),
        secret,
        scheme: Scheme::ApiKey,
        source,
        agent: None,
        usage: Usage::default(),
    }
}

fn checked_url(url: &str) -> Result<String, String> {
    let host = url
        .strip_prefix("http://")
        .or_else(|| url.strip_prefix("https://"));
    match host {
        Some(host) if !host.is_empty() && !host.starts_with('/') => {
            Ok(url.trim_end_matches('/').to_owned())
        }
        _ => Err(format!(
            "is {url:?}; it must begin with http:// or https:// and a host"
        )),
    }
}

/// Servers on this machine or a private name commonly take no key.
fn needs_key(base_url: &str) -> bool {
    base_url.starts_with("https://")
}

#[cfg(test)]
mod tests;
