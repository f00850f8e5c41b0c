//! The schema from the types, for the file that is shipped.

use std::path::Path;

use serde_json::{Map, Value, json};

use crate::fragment::Fragment;
use crate::kept;
use crate::key::KeyPath;
use crate::pipeline::defaults;

/// The file that is shipped.
const FILE: &str = "../../packaging/openclaw.schema.json";

fn generated() -> Value {
    let mut schema = schemars::schema_for!(Fragment).to_value();
    let root = schema.as_object_mut().unwrap();
    root.insert("title".to_owned(), json!("openclaw.json"));
    let properties = root["properties"].as_object_mut().unwrap();
    let editors = json!({"type": "string", "description": "For editors: where this schema is."});
    properties.insert("$schema".to_owned(), editors);
    for (section, keys) in kept::KEYS {
        let node = node(&mut schema, section);
        for key in *keys {
            let description =
                json!({"description": "Of OpenClaw; kept in the file, not used here."});
            let properties = node.entry("properties").or_insert_with(|| json!({}));
            let properties = properties.as_object_mut().unwrap();
            properties.entry((*key).to_owned()).or_insert(description);
        }
    }
    close(&mut schema);
    let paths = crate::Paths::resolve(&[("HOME", "/home/user")].into_iter().collect()).unwrap();
    let mut defaults = defaults::apply(json!({}), &paths).unwrap();
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
    let node = match node.get("anyOf") {
        Some(either) => &either[0],
        None => node,
    };
    match node.get("$ref").and_then(Value::as_str) {
        Some(reference) => reference.trim_start_matches('#').to_owned(),
        None => pointer.to_owned(),
    }
}

/// What is not listed is an error; numbers' sizes are no news.
fn close(node: &mut Value) {
    let Some(node) = node.as_object_mut() else {
        return;
    };
    for word in ["unevaluatedProperties", "default", "format"] {
        node.shift_remove(word);
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

/// UPDATE_SCHEMA=1 writes the file.
#[test]
fn the_shipped_schema_is_that_of_the_types() {
    let generated = format!("{:#}\n", generated());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&file, &generated).unwrap();
    }
    let shipped = std::fs::read_to_string(&file).unwrap();
    assert!(
        shipped == generated,
        "{FILE} is not what the types say; run: UPDATE_SCHEMA=1 cargo test -p openclaw-config schema"
    );
}

#[test]
fn the_schema_is_one() {
    let schema: Value = serde_json::from_str(super::TEXT).unwrap();
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
            super::Schema::shipped().check(&document).is_empty(),
            valid,
            "{document}"
        );
    }
}
