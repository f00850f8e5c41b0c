//! `config.*`: the configuration file, with its secrets covered.

mod file;

pub(super) use file::blocking;

use std::time::Instant;

use jiff::Timestamp;
use openclaw_config::schema::Schema;
use openclaw_config::{Environment, key::KeyPath};
use openclaw_protocol::Failure;
use openclaw_protocol::params::Filled;
use openclaw_protocol::scope::Scope;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Answer, Call};

methods! {
    "config.apply" => ADMIN, apply;
    "config.get" => READ, get;
    "config.patch" => ADMIN, patch;
    "config.schema" => READ, schema;
    "config.schema.lookup" => READ, lookup;
    "config.set" => ADMIN, set;
}

/// Bytes of a configuration that a client may send.
const RAW_LIMIT: usize = 1024 * 1024;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

/// `config.get`
async fn get(mut call: Call) -> Result<Answer, Failure> {
    let Nothing {} = call.params()?;
    let paths = call.context.core.configuration.settings().paths.clone();
    let configuration = call.context.core.configuration.clone();
    let may_change = call.client.identity.may(Scope::Admin);
    let shown = file::blocking(move || file::show(&paths, may_change)).await?;
    let told: Vec<Value> = match configuration.problem().as_str() {
        "" => Vec::new(),
        problem => vec![json!({ "path": "", "message": problem })],
    };
    let (issues, warnings) = if configuration.is_in_use() {
        (Vec::new(), told)
    } else {
        (told, Vec::new())
    };
    Ok(json!({
        "path": shown.path,
        "exists": shown.exists,
        "raw": shown.raw,
        "parsed": shown.document,
        "sourceConfig": shown.document,
        "resolved": shown.document,
        "config": shown.document,
        "valid": issues.is_empty(),
        "hash": shown.hash,
        "configRevisionHash": shown.hash,
        "issues": issues,
        "warnings": warnings,
        "legacyIssues": [],
    })
    .into())
}

/// The channels that the file configures, by their names.
pub(super) async fn channels(call: &Call) -> Result<Map<String, Value>, Failure> {
    let paths = call.context.core.configuration.settings().paths.clone();
    let mut shown = file::blocking(move || file::show(&paths, false)).await?;
    Ok(
        match shown.document.pointer_mut("/channels").map(Value::take) {
            Some(Value::Object(channels)) => channels,
            _ => Map::new(),
        },
    )
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Write {
    raw: Filled,
    base_hash: Option<Filled>,
    #[serde(rename = "sessionKey")]
    _session_key: Option<String>,
    #[serde(rename = "deliveryContext")]
    _delivery_context: Option<Value>,
    #[serde(rename = "note")]
    _note: Option<String>,
    #[serde(rename = "restartDelayMs")]
    _restart_delay_ms: Option<u64>,
    #[serde(rename = "replacePaths")]
    _replace_paths: Option<Vec<Filled>>,
}

/// `config.set`: another text for the whole file.
async fn set(call: Call) -> Result<Answer, Failure> {
    write(call, false).await
}

/// `config.apply`: the same. What changed takes effect without a restart where
/// it can.
async fn apply(call: Call) -> Result<Answer, Failure> {
    write(call, false).await
}

/// `config.patch`: a merge patch (RFC 7396); the rest stays as it is written.
async fn patch(call: Call) -> Result<Answer, Failure> {
    write(call, true).await
}

/// Counts a write of the client's. Fails when there were too many.
pub(super) fn count_write(call: &Call) -> Result<(), Failure> {
    let device = call.client.identity.device_id.clone().unwrap_or_default();
    let writes = &call.context.config_writes;
    let counted = writes.count(call.method, device, Instant::now());
    counted.map_err(|wait| {
        let message = format!("rate limit exceeded for {}; retry later", call.method);
        let wait = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        Failure::unavailable(message).retry_after(wait)
    })
}

async fn write(mut call: Call, is_patch: bool) -> Result<Answer, Failure> {
    let params: Write = call.params()?;
    if params.raw.len() > RAW_LIMIT {
        let problem = format!("at /raw: must NOT have more than {RAW_LIMIT} bytes");
        return Err(Failure::params(call.method, &problem));
    }
    count_write(&call)?;
    let paths = call.context.core.configuration.settings().paths.clone();
    let change = file::Change {
        raw: params.raw.0,
        base_hash: params.base_hash.map(|hash| hash.0),
        is_patch,
    };
    let environment = Environment::inherit();
    let written = file::blocking(move || file::write(&paths, change, &environment)).await?;
    tracing::info!(
        method = call.method,
        client = call.client.identity.id.as_str(),
        "the configuration was changed by a client"
    );
    Ok(json!({
        "ok": true,
        "noop": !written.changed,
        "path": written.shown.path,
        "config": written.shown.document,
        "hash": written.shown.hash,
        "restart": null,
    })
    .into())
}

/// `config.schema`
async fn schema(mut call: Call) -> Result<Answer, Failure> {
    let Nothing {} = call.params()?;
    let schema: Value = serde_json::from_str(openclaw_config::schema::TEXT)
        .map_err(|error| Failure::unavailable(error.to_string()))?;
    Ok(json!({
        "schema": schema,
        "uiHints": {},
        "version": env!("CARGO_PKG_VERSION"),
        "generatedAt": Timestamp::now().to_string(),
    })
    .into())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Lookup {
    path: Filled,
}

/// `config.schema.lookup`: the part of the schema for one key.
async fn lookup(mut call: Call) -> Result<Answer, Failure> {
    let params: Lookup = call.params()?;
    let path = KeyPath::parse(&params.path).map_err(|error| Failure::invalid(error.to_string()))?;
    let schema = Schema::shipped();
    let node = schema.at(&path).ok_or_else(|| {
        Failure::invalid(format!("config schema path not found: {}", params.path.0))
    })?;
    let properties = node.get("properties").and_then(Value::as_object);
    let required = node.get("required").and_then(Value::as_array);
    let is_required =
        |key: &String| required.is_some_and(|all| all.iter().any(|it| it == key.as_str()));
    let children: Vec<Value> = properties
        .into_iter()
        .flatten()
        .map(|(key, node)| {
            json!({
                "key": key,
                "path": path.child(key).to_string(),
                "type": node.get("type"),
                "required": is_required(key),
                "hasChildren": node.get("properties").is_some(),
            })
        })
        .collect();
    Ok(json!({ "path": params.path.0, "schema": node, "children": children }).into())
}
