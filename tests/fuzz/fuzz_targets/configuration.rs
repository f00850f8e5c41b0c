//! The JSON5 pipeline: any text is read or refused, never a crash; what is read
//! can be edited, and the edit does to the text what it does to the value.
#![no_main]

use std::path::Path;

use libfuzzer_sys::fuzz_target;
use openclaw_config::pipeline::{alias, include, merge, normalize, overrides, variables};
use openclaw_config::schema::Schema;
use openclaw_config::{Environment, KeyPath, Paths, edit, parse, redact, substitute};
use openclaw_settings::Settings;
use openclaw_settings::defaults;
use serde_json::{Value, json};

fuzz_target!(|text: &str| {
    let path = Path::new("/nonexistent/openclaw.json");
    let Ok(document) = parse::parse(path, text) else {
        // What is no JSON5 cannot be edited either, or only where a parser
        // that knows more than the structure objects.
        let _ = edit::set(text, &key("a.b"), &json!(1));
        return;
    };
    edits(path, text, &document);
    steps(path, document, text);
});

fn key(text: &str) -> KeyPath {
    KeyPath::parse(text).unwrap_or_default()
}

fn edits(path: &Path, text: &str, document: &Value) {
    let mut keys = vec![key("gateway.port"), key("new"), key("a.b.c")];
    keys.extend(
        document
            .as_object()
            .into_iter()
            .flatten()
            .flat_map(|(name, value)| {
                let own = KeyPath::default().child(name);
                let inner = value
                    .as_object()
                    .and_then(|fields| fields.keys().next_back());
                let below = own.child(inner.map_or("0", String::as_str));
                [own, below]
            }),
    );
    for key in keys {
        let mut expected = document.clone();
        if let Ok(edited) = edit::set(text, &key, &json!({"x": [1]})) {
            assert!(key.put(&mut expected, json!({"x": [1]})));
            assert_eq!(
                parse::parse(path, &edited).expect("an edit keeps it valid"),
                expected
            );
        }
        let mut expected = document.clone();
        if let Ok(edited) = edit::unset(text, &key) {
            assert!(key.take(&mut expected).is_some());
            assert_eq!(
                parse::parse(path, &edited).expect("an edit keeps it valid"),
                expected
            );
        }
    }
}

fn steps(path: &Path, document: Value, text: &str) {
    let environment: Environment = [("HOME", "/home/claw"), ("A", "${A}"), ("OPENCLAW__X", text)]
        .into_iter()
        .filter(|(_, value)| !value.contains('\0'))
        .collect();
    let schema = Schema::shipped();
    let Ok(mut value) = include::resolve(path, document, &mut Vec::new()) else {
        return;
    };
    let sound = schema.check(&value).is_empty();
    let _ = redact::redacted(&KeyPath::default(), &value);
    let _ = substitute::apply(&mut value, &environment);
    let all = variables::overlay(&value, &environment);
    merge::patch(&mut value, json!({"logging": {"level": "warn"}}));
    let Ok(paths) = Paths::resolve(&environment) else {
        return;
    };
    alias::apply(&mut value);
    normalize::apply(&mut value, &paths);
    let _ = overrides::apply(&mut value, &all, &schema);
    if sound {
        // What the schema lets through the types take, or say what is wrong.
        let _ = Settings::assemble(paths.clone(), value.clone(), &environment);
    }
    let _ = defaults::apply(value, &paths);
}
