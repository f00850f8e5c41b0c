//! Feature: openclaw-mvp, Property 15 of the design.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use openclaw_tools::{Builtin, FailureKind, Registry, ToolDefinition};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::properties::{CASES, any_json, builtins, run};
use crate::shape::arguments_shape;

/// What servers of tools say their schemas are written in.
const DRAFTS: [Option<&str>; 4] = [
    None,
    Some("http://json-schema.org/draft-07/schema#"),
    Some("https://json-schema.org/draft/2019-09/schema"),
    Some("https://json-schema.org/draft/2020-12/schema"),
];

/// What is wrong with a call of a built-in tool.
#[derive(Debug, Clone, Copy)]
enum Fault {
    Stray,
    Missing,
    Mistyped,
    NoArguments,
}

/// Of each type one value, which is of no other.
fn of_type(name: &str) -> Value {
    match name {
        "string" => json!("x"),
        "integer" | "number" => json!(1),
        "boolean" => json!(true),
        "array" => json!([]),
        "object" => json!({}),
        _ => Value::Null,
    }
}

/// Whether `schema` speaks of the type, anywhere in it.
fn speaks_of(schema: &Value, name: &str) -> bool {
    match schema {
        Value::String(text) => text == name || (name == "integer" && text == "number"),
        Value::Array(items) => items.iter().any(|item| speaks_of(item, name)),
        Value::Object(fields) => fields.iter().any(|(key, value)| {
            ["type", "anyOf", "oneOf"].contains(&key.as_str()) && speaks_of(value, name)
        }),
        _ => false,
    }
}

/// Arguments that the tool's own schema does not admit, and what has to be said of
/// them. None: the tool cannot be called wrongly in this way.
fn faulty(
    schema: &Value,
    fault: Fault,
    pick: &prop::sample::Index,
    stray: &str,
) -> Option<(Value, String)> {
    let properties = schema["properties"].as_object()?;
    let required: Vec<&str> = schema["required"].as_array().map_or(Vec::new(), |names| {
        names.iter().filter_map(Value::as_str).collect()
    });
    let mut arguments: Map<String, Value> = Map::new();
    for name in &required {
        let types = ["string", "array", "object", "integer", "boolean"];
        let own = types
            .into_iter()
            .find(|one| speaks_of(&properties[*name], one))?;
        arguments.insert((*name).to_owned(), of_type(own));
    }
    let told = match fault {
        Fault::Stray => {
            arguments.insert(stray.to_owned(), json!(1));
            stray.to_owned()
        }
        Fault::Missing | Fault::NoArguments if required.is_empty() => return None,
        Fault::Missing => {
            let name = *pick.get(&required);
            arguments.shift_remove(name);
            name.to_owned()
        }
        Fault::NoArguments => {
            arguments.clear();
            required[0].to_owned()
        }
        Fault::Mistyped => {
            let names: Vec<&String> = properties.keys().collect();
            let name = *pick.get(&names);
            // Not one of these is for any property that says what it is.
            let types = ["object", "boolean", "array", "string"];
            let wrong = types
                .into_iter()
                .find(|one| !speaks_of(&properties[name], one))?;
            arguments.insert(name.clone(), of_type(wrong));
            format!("/{name}")
        }
    };
    Some((Value::Object(arguments), told))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// Feature: openclaw-mvp, Property 15: For any tool invocation, if the
    /// parameters do not match the tool's JSON schema, the Tool_System SHALL
    /// reject the call with a validation error: for any schema, in any draft that
    /// a server of tools may use, by the tool's own name or another.
    #[test]
    fn property_15_arguments_run_exactly_when_the_schema_admits_them(
        (shape, arguments) in arguments_shape().prop_flat_map(|shape| {
            let near = shape.near();
            (Just(shape), near)
        }),
        draft in prop::sample::select(&DRAFTS[..]),
        called in prop::sample::select(&["counted", "other"][..]),
    ) {
        let runs = Arc::new(AtomicUsize::new(0));
        let counter = runs.clone();
        let mut schema = shape.schema();
        if let Some(draft) = draft {
            schema["$schema"] = json!(draft);
        }
        let mut registry = Registry::new();
        let definition = ToolDefinition::new("counted", "Counts its runs.", schema);
        registry
            .register(definition, move |_| {
                counter.fetch_add(1, Ordering::Relaxed);
                async { Ok("ran".to_owned()) }
            })
            .unwrap();
        registry.alias("other", "counted", &[]);
        // The registry takes null for "no arguments".
        let meant = if arguments.is_null() { json!({}) } else { arguments.clone() };
        let valid = shape.admits(&meant);
        let result = run(&registry, called, arguments);
        prop_assert_eq!(result.success, valid, "{:?}", result);
        prop_assert_eq!(runs.load(Ordering::Relaxed), usize::from(valid));
        if !valid {
            let error = result.error.unwrap();
            prop_assert_eq!(error.kind, FailureKind::INVALID_ARGUMENTS);
            prop_assert!(error.message.contains("at /"), "{}", error.message);
        }
    }

    /// Feature: openclaw-mvp, Property 15: For any tool invocation, if the
    /// parameters do not match the tool's JSON schema, the Tool_System SHALL
    /// reject the call with a validation error. Here: the built-in tools, with
    /// something strange, missing, of another type, or nothing at all.
    #[test]
    fn property_15_builtin_tools_refuse_what_their_schema_does_not_admit(
        tool in prop::sample::select(Builtin::ALL.to_vec()),
        fault in prop::sample::select(
            &[Fault::Stray, Fault::Missing, Fault::Mistyped, Fault::NoArguments][..],
        ),
        pick in any::<prop::sample::Index>(),
        stray in "x[a-z]{1,8}",
        no_object in any_json().prop_filter("an object", |value| !value.is_object() && !value.is_null()),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let registry = builtins(folder.path());
        let definition = registry.list().find(|one| one.name == tool.name()).unwrap();
        let schema = definition.parameters.clone();
        let faults = faulty(&schema, fault, &pick, &stray);
        for (arguments, told) in faults.into_iter().chain([(no_object, "at /".to_owned())]) {
            let result = run(&registry, tool.name(), arguments);
            prop_assert!(!result.success, "{:?}", result);
            let error = result.error.unwrap();
            prop_assert_eq!(error.kind, FailureKind::INVALID_ARGUMENTS);
            prop_assert!(error.message.contains(&told), "{}", error.message);
            prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        }
    }
}
