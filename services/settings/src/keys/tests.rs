//! The schema from the types, for the file that is shipped.

use std::borrow::Cow;
use std::path::Path;

use openclaw_agent_clis::{ALL, AgentCli};
use openclaw_config::key::KeyPath;
use openclaw_config::schema::Schema;
use openclaw_effect::KEPT;
use openclaw_effect::table::{self, Effect};
use schemars::{JsonSchema, Schema as Schemars, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use crate::defaults;
use crate::keys::{Backend, Fragment};

/// The file that is shipped.
const FILE: &str = "../../packaging/openclaw.schema.json";

impl Backend {
    /// What the schema says of a key whose value is a backend.
    pub(super) fn described() -> String {
        let clis = ALL.map(Self::Cli);
        let all = [&[Self::Auto], &clis[..], &[Self::Native]].concat();
        let named: Vec<_> = all.iter().map(|it| format!("`{}`", it.name())).collect();
        format!("{} or `{}`.", named.join(", "), Self::Offline.name())
    }
}

impl JsonSchema for Backend {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Backend".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schemars {
        let words: Vec<_> = Self::words().iter().map(|(word, _)| *word).collect();
        json_schema!({"type": "string", "enum": words})
    }
}

/// What the schema says of the keys of agent CLIs.
pub(super) struct CliPaths;

impl JsonSchema for CliPaths {
    fn schema_name() -> Cow<'static, str> {
        "CliPaths".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schemars {
        let key = |cli: &AgentCli| {
            let said = format!("The {} CLI: a path or a name on the PATH.", cli.title);
            let key = json!({"type": ["string", "null"], "description": said});
            (cli.path_key.to_owned(), key)
        };
        let properties: Map<String, Value> = ALL.map(key).into_iter().collect();
        json_schema!({"type": "object", "properties": properties})
    }
}

fn generated() -> Value {
    let mut schema = schemars::schema_for!(Fragment).to_value();
    let root = schema.as_object_mut().unwrap();
    root.insert("title".to_owned(), json!("openclaw.json"));
    let properties = root["properties"].as_object_mut().unwrap();
    let editors = json!({"type": "string", "description": "For editors: where this schema is."});
    properties.insert("$schema".to_owned(), editors);
    keep(&mut schema);
    close(&mut schema);
    let paths =
        openclaw_config::Paths::resolve(&[("HOME", "/home/user")].into_iter().collect()).unwrap();
    let mut defaults = defaults::apply(json!({}), &paths);
    // They depend on the home and the machine.
    for path in [
        "agents.defaults.workspace",
        "agents.defaults.limits.cpuQuota",
    ] {
        KeyPath::parse(path).unwrap().take(&mut defaults).unwrap();
    }
    describe_defaults(&mut schema, &defaults, "");
    schema
}

/// Puts in the keys of OpenClaw that no type has: they are allowed, whatever is
/// in them, and kept by every write.
fn keep(schema: &mut Value) {
    let mut entries: Vec<_> = table::entries().collect();
    // What is above comes first.
    entries.sort_by_key(|(path, _)| path.len());
    for (path, effect) in entries {
        if effect == Effect::Acts {
            continue;
        }
        let mut paths = vec![path.clone()];
        if path.starts_with(&["agents", "entries"]) {
            let mut listed = path;
            listed[1] = "list";
            paths.push(listed);
        }
        for path in paths {
            keep_one(schema, &path, effect);
        }
    }
}

/// Puts in what of the path is missing: a section with its keys, so that no other
/// is allowed in it, and the key itself, in which everything is. Nothing where
/// everything is allowed already.
fn keep_one(schema: &mut Value, path: &[&str], effect: Effect) {
    let mut pointer = String::new();
    for (depth, part) in path.iter().enumerate() {
        pointer = followed(schema, &pointer);
        let node = schema.pointer(&pointer).unwrap();
        let step = match (*part, node.get("items").is_some()) {
            ("*", true) => "/items".to_owned(),
            ("*", false) => "/additionalProperties".to_owned(),
            (name, _) => format!("/properties/{name}"),
        };
        let below = format!("{pointer}{step}");
        if schema.pointer(&below).is_none() {
            let properties = schema
                .pointer_mut(&pointer)
                .and_then(|node| node.get_mut("properties")?.as_object_mut());
            let (Some(properties), true) = (properties, *part != "*") else {
                return;
            };
            let node = match path.get(depth + 1) {
                None => kept(effect),
                // Of what names are for everything is allowed.
                Some(&"*") => json!({"description": format!("{KEPT}.")}),
                Some(_) => json!({
                    "description": format!("{KEPT}."),
                    "type": ["object", "null"],
                    "properties": {},
                }),
            };
            let is_section = node.get("properties").is_some();
            properties.insert((*part).to_owned(), node);
            if !is_section {
                return;
            }
        }
        pointer = below;
    }
}

fn kept(effect: Effect) -> Value {
    let reason = match effect {
        Effect::Alias(name) => Some(format!(", another name of {name}")),
        effect => effect.reason().map(|why| format!(", not used: {why}")),
    };
    let reason = reason.unwrap_or_default();
    json!({"description": format!("{KEPT}{reason}.")})
}

/// The object that describes the section.
fn node<'a>(schema: &'a mut Value, section: &str) -> &'a mut Map<String, Value> {
    let mut pointer = String::new();
    for part in section.split('.').filter(|part| !part.is_empty()) {
        pointer = followed(schema, &pointer);
        pointer.push_str(match part {
            "*" if schema.pointer(&pointer).unwrap().get("items").is_some() => "/items",
            "*" => "/additionalProperties",
            _ => "/properties/",
        });
        if part != "*" {
            pointer.push_str(part);
        }
    }
    let pointer = followed(schema, &pointer);
    let node = schema.pointer_mut(&pointer);
    node.unwrap_or_else(|| panic!("no {section} in the types"))
        .as_object_mut()
        .unwrap()
}

fn followed(schema: &Value, pointer: &str) -> String {
    let node = schema
        .pointer(pointer)
        .unwrap_or_else(|| panic!("no {pointer}"));
    let is_object = |node: &Value| node.get("properties").is_some() || node.get("$ref").is_some();
    let either = node.get("anyOf").and_then(Value::as_array);
    let object = either.and_then(|either| either.iter().position(is_object));
    let (pointer, node) = match object {
        Some(at) => (&*format!("{pointer}/anyOf/{at}"), &node["anyOf"][at]),
        None => (pointer, node),
    };
    match node.get("$ref").and_then(Value::as_str) {
        Some(reference) => followed(schema, reference.trim_start_matches('#')),
        None => pointer.to_owned(),
    }
}

/// What is not listed is an error, and a key that is `null` has its default;
/// numbers' sizes are no news, nor is what is shown of defaults.
fn close(node: &mut Value) {
    let Some(node) = node.as_object_mut() else {
        return;
    };
    match node.shift_remove("default") {
        None | Some(Value::Null | Value::Object(_)) => {}
        Some(Value::Array(items)) if items.is_empty() => {}
        Some(_) => allow_null(node),
    }
    for word in ["unevaluatedProperties", "format", "writeOnly"] {
        node.shift_remove(word);
    }
    if let Some(Value::Array(words)) = node.get_mut("enum") {
        words.retain(|word| !word.is_null());
    }
    if node.contains_key("properties") && !node.contains_key("additionalProperties") {
        node.insert("additionalProperties".to_owned(), json!(false));
    }
    for word in ["properties", "$defs"] {
        let inner = node.get_mut(word).and_then(Value::as_object_mut);
        inner
            .into_iter()
            .flatten()
            .for_each(|(_, node)| close(node));
    }
    for word in ["items", "additionalProperties"] {
        node.get_mut(word).into_iter().for_each(close);
    }
    for word in ["anyOf", "oneOf"] {
        let inner = node.get_mut(word).and_then(Value::as_array_mut);
        inner.into_iter().flatten().for_each(close);
    }
}

fn allow_null(node: &mut Map<String, Value>) {
    if let Some(kind @ Value::String(_)) = node.get_mut("type") {
        *kind = json!([kind, "null"]);
    } else if let Some(reference) = node.shift_remove("$ref") {
        let either = json!([{"$ref": reference}, {"type": "null"}]);
        node.insert("anyOf".to_owned(), either);
    }
}

fn describe_defaults(schema: &mut Value, defaults: &Value, section: &str) {
    for (key, value) in defaults.as_object().unwrap() {
        let path = format!("{section}.{key}");
        if value.is_object() {
            describe_defaults(schema, value, &path);
        } else {
            let properties = node(schema, section).get_mut("properties").unwrap();
            properties[key]["default"] = value.clone();
        }
    }
}

/// What the schema says of a size.
#[derive(schemars::JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its schema is used")]
pub(super) enum Size {
    /// Bytes.
    Number(u64),
    /// With a unit, such as `512M` or `2G`.
    Text(String),
}

/// UPDATE_SCHEMA=1 writes the file.
#[test]
fn shipped_schema_is_that_of_the_types() {
    let generated = format!("{:#}\n", generated());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&file, &generated).unwrap();
    }
    let shipped = std::fs::read_to_string(&file).unwrap();
    assert!(
        shipped == generated,
        "{FILE} is not what the types say; run: UPDATE_SCHEMA=1 cargo test -p openclaw-settings schema"
    );
}

#[test]
fn schema_is_one() {
    let schema: Value = serde_json::from_str(openclaw_config::schema::TEXT).unwrap();
    assert!(jsonschema::meta::is_valid(&schema));
    // Another validator agrees with ours.
    let validator = jsonschema::validator_for(&schema).unwrap();
    for (document, valid) in [
        (json!({}), true),
        (
            json!({"gateway": {"port": 1, "auth": {"mode": "token"}}}),
            true,
        ),
        (json!({"gateway": {"port": 70000}}), false),
        (json!({"gateway": {"prot": 1}}), false),
        (
            json!({"agents": {"list": [{"id": "a", "heartbeat": {}}]}}),
            true,
        ),
        (
            json!({"agents": {"list": [{"id": "a", "hartbeat": {}}]}}),
            false,
        ),
        (json!({"channels": {"x": {"y": [1]}}}), true),
    ] {
        assert_eq!(validator.is_valid(&document), valid, "{document}");
        assert_eq!(
            Schema::shipped().check(&document).is_empty(),
            valid,
            "{document}"
        );
    }
}

#[test]
fn backends_are_all_described_where_one_is_configured() {
    let said = Backend::described();
    let readme = std::fs::read_to_string("../../README.md").unwrap();
    let readme = readme.split("`backend` is one of").nth(1).unwrap();
    let readme = readme.split("\n\n").next().unwrap();
    for (word, backend) in Backend::words() {
        let name = format!("`{}`", backend.name());
        assert!(said.contains(&name), "{word}: {said}");
        assert!(readme.contains(&name), "{word}: {readme}");
    }
}

/// Every word of a type is its name, and read as itself.
fn words<T: serde::de::DeserializeOwned + Copy>(name: impl Fn(T) -> &'static str, all: &[&str]) {
    for word in all {
        let read: T = serde_json::from_value(json!(word)).unwrap();
        assert_eq!(name(read), *word);
    }
}

#[test]
fn words_are_named_as_they_are_written() {
    use crate::keys::messages::{QueueDrop, QueueMode};
    use crate::keys::session::{DmScope, Interrupted, SessionScope};
    use crate::settings::ProviderTool;
    let modes = ["steer", "followup", "collect", "interrupt"];
    let drops = ["summarize", "old", "new"];
    words(QueueMode::name, &modes);
    words(QueueDrop::name, &drops);
    for word in modes {
        assert_eq!(QueueMode::parse(word).map(QueueMode::name), Some(word));
        assert_eq!(QueueDrop::parse(word), None);
    }
    for word in drops {
        assert_eq!(QueueDrop::parse(word).map(QueueDrop::name), Some(word));
        assert_eq!(QueueMode::parse(word), None);
    }
    words(Interrupted::name, &["ask", "resume"]);
    words(SessionScope::name, &["per-sender", "global"]);
    let scopes = [
        "main",
        "per-peer",
        "per-channel-peer",
        "per-account-channel-peer",
    ];
    words(DmScope::name, &scopes);
    let tools = [
        "web_search",
        "web_fetch",
        "urls",
        "code_execution",
        "file_search",
        "files",
        "image_generation",
        "mcp",
    ];
    words(ProviderTool::name, &tools);
    assert_eq!(ProviderTool::ALL.map(ProviderTool::name), tools);
}

#[test]
fn nulls_are_taken_out_of_objects_wherever_they_are() {
    let mut value =
        json!({"a": null, "b": {"c": null, "d": 1}, "e": [null, {"f": null, "g": [{"h": null}]}]});
    crate::keys::without_nulls(&mut value);
    assert_eq!(value, json!({"b": {"d": 1}, "e": [null, {"g": [{}]}]}));
}
