//! Keys that act, with values of channels and programs that there are not here.

use openclaw_config::key::KeyPath;
use serde_json::Value;

use super::table::{CHANNELS, Effect, OTHER_CHANNELS};

/// Maps by channel.
const BY_CHANNEL: [&str; 3] = [
    "messages.queue.byChannel",
    "messages.queue.debounceMsByChannel",
    "session.resetByChannel",
];

/// A mapping of hooks with a program of OpenClaw's that makes the action.
const PROGRAM: Effect =
    Effect::NotSupported("no programs of OpenClaw's are run here, so the mapping answers 501");

/// Shows the keys of `document` whose values have no effect.
pub(crate) fn visit(document: &Value, mut each: impl FnMut(&KeyPath, Effect)) {
    for section in BY_CHANNEL {
        let section: KeyPath = section.split('.').collect();
        let map = section.get(document).and_then(Value::as_object);
        for channel in map.into_iter().flatten().map(|(name, _)| name) {
            if OTHER_CHANNELS.contains(&channel.as_str()) {
                each(&section.child(channel), CHANNELS);
            }
        }
    }
    for (at, binding) in list(document, "/bindings") {
        let channel = binding.pointer("/match/channel").and_then(Value::as_str);
        if channel.is_some_and(|it| OTHER_CHANNELS.contains(&it)) {
            let path = ["bindings", &at.to_string()].into_iter().collect();
            each(&path, CHANNELS);
        }
    }
    for (at, mapping) in list(document, "/hooks/mappings") {
        if mapping.get("transform").is_some_and(|it| !it.is_null()) {
            let path = ["hooks", "mappings", &at.to_string(), "transform"];
            each(&path.into_iter().collect(), PROGRAM);
        }
    }
}

fn list<'a>(document: &'a Value, at: &str) -> impl Iterator<Item = (usize, &'a Value)> {
    let items = document.pointer(at).and_then(Value::as_array);
    items.into_iter().flatten().enumerate()
}
