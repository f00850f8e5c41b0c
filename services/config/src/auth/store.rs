//! The shapes in which profiles are stored.

use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

use super::usage::Usage;
use super::{Credential, Profile};
use crate::environment::Environment;
use crate::secret::Secret;
use crate::substitute;

/// Seed 003 §5.3: a profile with its credential inside.
#[derive(Debug, Deserialize)]
struct Seed {
    id: String,
    provider: String,
    credential: Written,
    #[serde(flatten)]
    usage: Usage,
}

/// A credential by the names of seed 003 §5.2 and of OpenClaw's file.
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
}

impl Written {
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
            other => Err(format!(
                "has the type {other:?}; allowed are api-key, oauth, token and aws-sdk"
            )),
        }
    }
}

/// The profiles in `document`: one profile, a list of them, or OpenClaw's
/// store with `profiles` and `usageStats` by id.
pub(super) fn profiles(
    mut document: Value,
    file: &Path,
    environment: &Environment,
) -> Result<Vec<Profile>, String> {
    if let Some(missing) = substitute::apply(&mut document, environment).first() {
        return Err(missing.to_string());
    }
    let source = file.display().to_string();
    let usages = document.get("usageStats").cloned().unwrap_or_default();
    match document {
        Value::Array(items) => items.into_iter().map(|item| seed(item, &source)).collect(),
        Value::Object(mut fields) => match fields.shift_remove("profiles") {
            Some(Value::Object(profiles)) => profiles
                .into_iter()
                .map(|(id, profile)| stored(id, profile, &usages, &source))
                .collect(),
            Some(Value::Array(items)) => {
                items.into_iter().map(|item| seed(item, &source)).collect()
            }
            Some(_) => Err("profiles is neither an object nor a list".to_owned()),
            None if fields.is_empty() => Ok(Vec::new()),
            None => Ok(vec![seed(Value::Object(fields), &source)?]),
        },
        _ => Err("holds no profiles".to_owned()),
    }
}

fn seed(value: Value, source: &str) -> Result<Profile, String> {
    let Seed {
        id,
        provider,
        credential,
        usage,
    } = Seed::deserialize(&value).map_err(|error| error.to_string())?;
    Ok(Profile {
        source: format!("the profile {id} in {source}"),
        credential: credential
            .credential()
            .map_err(|problem| format!("the profile {id} {problem}"))?,
        id,
        provider,
        usage,
    })
}

fn stored(id: String, value: Value, usages: &Value, source: &str) -> Result<Profile, String> {
    let named = |problem: String| format!("the profile {id} {problem}");
    let written = Written::deserialize(&value).map_err(|error| named(error.to_string()))?;
    let provider = written
        .provider
        .clone()
        .or_else(|| id.split_once(':').map(|(provider, _)| provider.to_owned()))
        .ok_or_else(|| named("has no provider".to_owned()))?;
    let usage = usages.get(&id).map(Usage::deserialize);
    Ok(Profile {
        source: format!("the profile {id} in {source}"),
        credential: written.credential().map_err(named)?,
        provider,
        usage: usage.and_then(Result::ok).unwrap_or_default(),
        id,
    })
}
