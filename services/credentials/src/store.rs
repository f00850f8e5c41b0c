//! The shapes in which profiles are stored.
//!
//! Nothing of a document is quoted in what is said about it: a file of
//! credentials that is wrong somewhere may hold a secret anywhere.

use openclaw_config::environment::Environment;
use openclaw_config::secret::Secret;
use openclaw_config::substitute;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::endpoint::Endpoint;
use crate::profile::{Credential, Listed, Profile};
use crate::usage::Usage;

/// The fields that hold secrets, by the names of seed 003 §5.2 and of
/// OpenClaw's file. Variables are put into these alone: with one in an id or a
/// provider's name, messages would tell its value.
const SECRETS: [&str; 9] = [
    "apiKey",
    "key",
    "keyRef",
    "accessToken",
    "access",
    "refreshToken",
    "refresh",
    "token",
    "tokenRef",
];
/// Characters of a provider's name.
const PROVIDER_LENGTH: usize = 64;
/// Characters of a profile's id.
const ID_LENGTH: usize = 256;

/// A credential by its names there.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Written {
    #[serde(rename = "type")]
    kind: String,
    provider: Option<String>,
    #[serde(alias = "key", alias = "keyRef")]
    api_key: Option<Secret>,
    #[serde(alias = "access")]
    access_token: Option<Secret>,
    #[serde(alias = "refresh")]
    refresh_token: Option<Secret>,
    #[serde(alias = "expires")]
    expires_at: Option<u64>,
    #[serde(alias = "tokenRef")]
    token: Option<Secret>,
    /// Where a login is renewed, and as which program, if it is not known.
    token_url: Option<String>,
    client_id: Option<String>,
}

impl Written {
    fn read(mut value: Value, environment: &Environment) -> Result<Self, String> {
        for (name, field) in value.as_object_mut().into_iter().flatten() {
            if SECRETS.contains(&name.as_str()) {
                let missing = substitute::apply(field, environment);
                if !missing.is_empty() {
                    return Err(format!(
                        "refers in {name} to a variable that is not set in the environment"
                    ));
                }
            }
        }
        Self::deserialize(&value).map_err(|_| {
            "is not in a form that is known: a type, and the secret of that type as a text, \
             ${VARIABLE} or {source: \"env\", …}"
                .to_owned()
        })
    }

    fn credential(self) -> Result<Credential, String> {
        let missing = |name: &str| format!("has no {name}");
        match self.kind.as_str() {
            "api-key" | "api_key" | "apiKey" => {
                let key = self.api_key.ok_or_else(|| missing("apiKey"))?;
                Ok(Credential::ApiKey(key))
            }
            "oauth" => Ok(Credential::OAuth {
                access: self.access_token.ok_or_else(|| missing("accessToken"))?,
                refresh: self.refresh_token,
                expires_ms: self.expires_at,
            }),
            "token" => {
                let token = self.token.or(self.access_token);
                Ok(Credential::Token(token.ok_or_else(|| missing("token"))?))
            }
            "aws-sdk" | "aws_sdk" => Ok(Credential::AwsSdk),
            _ => Err("has another type than api-key, oauth, token and aws-sdk".to_owned()),
        }
    }
}

/// The profiles in `document`: one profile, a list of them, or OpenClaw's
/// store with `profiles` and `usageStats` by id.
pub(crate) fn profiles(document: Value, environment: &Environment) -> Result<Vec<Profile>, String> {
    let usages = document.get("usageStats").cloned().unwrap_or_default();
    match document {
        Value::Array(items) => listed(items, environment),
        Value::Object(mut fields) => match fields.shift_remove("profiles") {
            Some(Value::Object(profiles)) => profiles
                .into_iter()
                .enumerate()
                .map(|(index, (id, profile))| {
                    let profile = stored(id, profile, &usages, environment);
                    profile.map_err(|problem| numbered(index, &problem))
                })
                .collect(),
            Some(Value::Array(items)) => listed(items, environment),
            Some(_) => Err("profiles is neither an object nor a list".to_owned()),
            None if fields.is_empty() => Ok(Vec::new()),
            None => {
                let profile = seed(fields, environment);
                Ok(vec![profile.map_err(|problem| numbered(0, &problem))?])
            }
        },
        _ => Err("holds no profiles".to_owned()),
    }
}

/// The order of a store of OpenClaw's, by provider.
pub(crate) fn order(document: &Value) -> Listed {
    let written = document.get("order").and_then(Value::as_object);
    let ids = |ids: &Value| {
        let ids = ids.as_array()?.iter().filter_map(Value::as_str);
        Some(ids.map(str::to_owned).collect())
    };
    let all = written.into_iter().flatten();
    all.filter_map(|(provider, written)| Some((provider.clone(), ids(written)?)))
        .collect()
}

/// Profiles are told apart by their place in the file: ids are contents.
fn numbered(index: usize, problem: &str) -> String {
    format!("profile {} {problem}", index + 1)
}

fn listed(items: Vec<Value>, environment: &Environment) -> Result<Vec<Profile>, String> {
    let profile = |(index, item)| {
        let profile = match item {
            Value::Object(fields) => seed(fields, environment),
            _ => Err("is no object".to_owned()),
        };
        profile.map_err(|problem| numbered(index, &problem))
    };
    items.into_iter().enumerate().map(profile).collect()
}

/// Seed 003 §5.3: a profile with its credential inside.
fn seed(mut fields: Map<String, Value>, environment: &Environment) -> Result<Profile, String> {
    let mut text = |name: &str| match fields.shift_remove(name) {
        Some(Value::String(text)) => Ok(text),
        _ => Err(format!("has no {name}")),
    };
    let (id, provider) = (text("id")?, text("provider")?);
    let credential = fields.shift_remove("credential");
    let credential = credential.ok_or_else(|| "has no credential".to_owned())?;
    let written = Written::read(credential, environment)?;
    let usage = Usage::deserialize(&Value::Object(fields)).unwrap_or_default();
    profile(id, provider, written, usage)
}

/// OpenClaw's: by id, with the credential's fields beside the provider.
fn stored(
    id: String,
    value: Value,
    usages: &Value,
    environment: &Environment,
) -> Result<Profile, String> {
    let written = Written::read(value, environment)?;
    let provider = written
        .provider
        .clone()
        .or_else(|| id.split_once(':').map(|(provider, _)| provider.to_owned()))
        .ok_or_else(|| "has no provider".to_owned())?;
    let usage = usages.get(&id).map(Usage::deserialize);
    let usage = usage.and_then(Result::ok).unwrap_or_default();
    profile(id, provider, written, usage)
}

fn profile(
    id: String,
    provider: String,
    mut written: Written,
    usage: Usage,
) -> Result<Profile, String> {
    let endpoint = (written.token_url.take(), written.client_id.take());
    let allowed = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if provider.is_empty() || provider.len() > PROVIDER_LENGTH || !provider.chars().all(allowed) {
        return Err(format!(
            "has a provider that is none: its name has 1 to {PROVIDER_LENGTH} of A-Z a-z 0-9 - _ ."
        ));
    }
    if id.is_empty() || id.len() > ID_LENGTH || id.chars().any(char::is_control) {
        return Err(format!(
            "has an id that is none: 1 to {ID_LENGTH} characters, and none of them a control \
             character"
        ));
    }
    let credential = written.credential()?;
    let kind = match credential {
        Credential::ApiKey(_) => "API key",
        Credential::OAuth { .. } => "login",
        Credential::Token(_) => "token",
        Credential::AwsSdk => "AWS SDK",
    };
    Ok(Profile {
        source: format!("an auth profile for {provider} ({kind})"),
        endpoint: Endpoint::of(&provider, endpoint.0, endpoint.1),
        file: None,
        credential,
        id,
        provider,
        usage,
    })
}
