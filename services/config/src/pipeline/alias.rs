//! Other names for the same settings: the MVP schema's (seed 002) and those of
//! other versions of OpenClaw.
//!
//! A document has them under the names that are read; where both are, those
//! count. What comes before the file ([`super::overrides`]) is put there too,
//! or the file's own name would hide it.

use std::net::IpAddr;

use serde_json::{Map, Value, json};

use crate::key::KeyPath;

/// Names that only are others, with those that are read.
const RENAMED: [(&str, &str); 6] = [
    ("agent.claudeCliPath", "agents.defaults.claudeCliPath"),
    ("agent.maxTokens", "agents.defaults.maxTokens"),
    ("agent.model", "agents.defaults.model"),
    ("logging.maxSize", "logging.maxFileBytes"),
    ("logging.path", "logging.file"),
    ("memory.workspacePath", "agents.defaults.workspace"),
];

/// Writes the settings under the names that are read.
pub fn apply(document: &mut Value) {
    entries(document);
    host(document);
    for (name, read) in renamed() {
        if let Some(value) = name.take(document)
            && read.get(document).is_none()
        {
            read.put(document, value);
        }
    }
}

/// Where and as what `value` is put that is meant for `path` of `document`.
pub fn placed(path: &KeyPath, value: Value, document: &Value) -> Vec<(KeyPath, Value)> {
    let parts: Vec<&str> = path.parts().iter().map(String::as_str).collect();
    match parts[..] {
        ["gateway", "host"] => bind(value),
        ["agents", "entries", id, ref below @ ..] => entry(id, below, value, document),
        _ => vec![(read_as(path).unwrap_or_else(|| path.clone()), value)],
    }
}

/// The value of `path`, which may be another name for it.
pub fn get(path: &KeyPath, document: &Value) -> Option<Value> {
    let parts: Vec<&str> = path.parts().iter().map(String::as_str).collect();
    let own = path.get(document).cloned();
    own.or_else(|| match parts[..] {
        ["gateway", "host"] => address(document.get("gateway")?),
        ["agents", "entries", id, ref below @ ..] => {
            let list = document.get("agents")?.get("list")?.as_array()?;
            let listed = list.get(place_of(id, list)?)?;
            let below: KeyPath = below.iter().copied().collect();
            below.get(listed).cloned()
        }
        _ => read_as(path)?.get(document).cloned(),
    })
}

/// The path under which the value of `path` is read.
pub fn read_path(path: &KeyPath, document: &Value) -> KeyPath {
    let mut applied = document.clone();
    apply(&mut applied);
    let places = placed(path, Value::Null, &applied);
    places
        .into_iter()
        .next_back()
        .map_or_else(|| path.clone(), |(place, _)| place)
}

fn renamed() -> impl Iterator<Item = (KeyPath, KeyPath)> {
    let parsed = |(name, read)| Some((KeyPath::parse(name).ok()?, KeyPath::parse(read).ok()?));
    RENAMED.into_iter().filter_map(parsed)
}

fn read_as(path: &KeyPath) -> Option<KeyPath> {
    renamed().find_map(|(name, read)| (name == *path).then_some(read))
}

fn bind(host: Value) -> Vec<(KeyPath, Value)> {
    let mut document = json!({"gateway": {"host": host}});
    self::host(&mut document);
    let fields = document["gateway"].as_object().cloned();
    let fields = fields.unwrap_or_default().into_iter();
    fields
        .map(|(key, value)| (["gateway", &key].into_iter().collect(), value))
        .collect()
}

/// The address that `gateway.bind` means.
fn address(gateway: &Value) -> Option<Value> {
    let text = match gateway.get("bind")?.as_str()? {
        "loopback" | "auto" => "127.0.0.1",
        "lan" => "0.0.0.0",
        "custom" => gateway.get("customBindHost")?.as_str()?,
        address => address,
    };
    Some(Value::from(text))
}

fn entry(id: &str, below: &[&str], value: Value, document: &Value) -> Vec<(KeyPath, Value)> {
    let list = |at: usize, below: &[&str]| -> KeyPath {
        let at = at.to_string();
        let parts = ["agents", "list", &at].into_iter();
        parts.chain(below.iter().copied()).collect()
    };
    let known = document.get("agents").and_then(|agents| agents.get("list"));
    let known = known.and_then(Value::as_array);
    let whole = |value: Value| {
        let mut agent = Map::from_iter([("id".to_owned(), Value::from(id))]);
        agent.extend(value.as_object().cloned().unwrap_or_default());
        Value::Object(agent)
    };
    let mut puts = Vec::new();
    let at = match known {
        None => {
            puts.push((
                ["agents", "list"].into_iter().collect(),
                json!([{"id": id}]),
            ));
            0
        }
        Some(known) => place_of(id, known).unwrap_or_else(|| {
            puts.push((list(known.len(), &[]), json!({"id": id})));
            known.len()
        }),
    };
    let value = if below.is_empty() {
        whole(value)
    } else {
        value
    };
    puts.push((list(at, below), value));
    puts
}

/// The path of an agent of `document` as `written`, the files, have it: one that is
/// listed here may be written by its id there.
pub fn as_written(path: &KeyPath, document: &Value, written: &Value) -> KeyPath {
    let parts: Vec<&str> = path.parts().iter().map(String::as_str).collect();
    let ["agents", "list", at, ref below @ ..] = parts[..] else {
        return path.clone();
    };
    let agent: KeyPath = ["agents", "list", at].into_iter().collect();
    let id = agent
        .get(document)
        .and_then(|agent| agent.get("id")?.as_str());
    let by_id = id.map(|id| ["agents", "entries", id].into_iter().collect::<KeyPath>());
    match by_id.filter(|by_id| by_id.get(written).is_some() && agent.get(written).is_none()) {
        Some(by_id) => below.iter().fold(by_id, |path, part| path.child(part)),
        None => path.clone(),
    }
}

fn place_of(id: &str, list: &[Value]) -> Option<usize> {
    let id = Value::from(id);
    list.iter().position(|listed| listed.get("id") == Some(&id))
}

/// `agents.entries` (OpenClaw 2026.9) is `agents.list` by id.
fn entries(document: &mut Value) {
    let Some(agents) = document.get_mut("agents").and_then(Value::as_object_mut) else {
        return;
    };
    let Some(Value::Object(entries)) = agents.shift_remove("entries") else {
        return;
    };
    let list = agents
        .entry("list")
        .or_insert_with(|| Value::Array(Vec::new()));
    let Some(list) = list.as_array_mut() else {
        return;
    };
    for (id, entry) in entries {
        if place_of(&id, list).is_some() {
            continue;
        }
        let mut agent = Map::from_iter([("id".to_owned(), Value::from(id))]);
        agent.extend(entry.as_object().cloned().unwrap_or_default());
        list.push(Value::Object(agent));
    }
}

/// `gateway.host` (seed 002) says with an address what `gateway.bind` says
/// with a word.
fn host(document: &mut Value) {
    let Some(gateway) = document.get_mut("gateway").and_then(Value::as_object_mut) else {
        return;
    };
    let Some(Value::String(host)) = gateway.shift_remove("host") else {
        return;
    };
    if gateway.contains_key("bind") {
        return;
    }
    let bind = match host.parse::<IpAddr>() {
        Ok(address) if address.is_loopback() => "loopback",
        Ok(address) if address.is_unspecified() => "lan",
        _ if host == "localhost" => "loopback",
        _ => {
            gateway.insert("customBindHost".to_owned(), Value::from(host));
            "custom"
        }
    };
    gateway.insert("bind".to_owned(), Value::from(bind));
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn applied(mut document: Value) -> Value {
        apply(&mut document);
        document
    }

    #[test]
    fn agents_by_id_are_listed() {
        let document = json!({"agents": {
            "list": [{"id": "main", "backend": "native"}],
            "entries": {"main": {"backend": "offline"}, "work": {"default": true}},
        }});
        let list = json!([
            {"id": "main", "backend": "native"}, {"id": "work", "default": true},
        ]);
        assert_eq!(applied(document), json!({"agents": {"list": list}}));
    }

    #[test]
    fn host_is_a_way_to_bind() {
        for (host, bind) in [
            ("127.0.0.1", json!({"bind": "loopback"})),
            ("localhost", json!({"bind": "loopback"})),
            ("0.0.0.0", json!({"bind": "lan"})),
            (
                "10.0.0.7",
                json!({"bind": "custom", "customBindHost": "10.0.0.7"}),
            ),
        ] {
            let document = applied(json!({"gateway": {"host": host}}));
            assert_eq!(document, json!({"gateway": bind}), "{host}");
        }
        let both = json!({"gateway": {"host": "0.0.0.0", "bind": "loopback"}});
        assert_eq!(applied(both), json!({"gateway": {"bind": "loopback"}}));
    }

    #[test]
    fn mvp_names_are_ours() {
        let document = json!({
            "agent": {"model": "a", "maxTokens": 1},
            "agents": {"defaults": {"maxTokens": 2}},
            "memory": {"workspacePath": "/w"},
        });
        let defaults = json!({"maxTokens": 2, "model": "a", "workspace": "/w"});
        let applied = applied(document);
        assert_eq!(applied["agents"]["defaults"], defaults);
        let get = |path: &str| get(&KeyPath::parse(path).unwrap(), &applied).unwrap();
        assert_eq!(get("agent.maxTokens"), json!(2));
        assert_eq!(get("memory.workspacePath"), json!("/w"));
    }

    #[test]
    fn alias_what_is_put_under_another_name_is_found_under_both() {
        let mut document =
            json!({"agents": {"list": [{"id": "work"}]}, "gateway": {"bind": "lan"}});
        for (path, value) in [
            ("agents.entries.work.backend", json!("native")),
            ("agents.entries.new.maxTokens", json!(5)),
            ("gateway.host", json!("10.0.0.7")),
            ("agent.model", json!("m")),
        ] {
            let path = KeyPath::parse(path).unwrap();
            for (place, value) in placed(&path, value.clone(), &document) {
                assert!(place.put(&mut document, value));
            }
            assert_eq!(get(&path, &document), Some(value));
        }
        let expected = json!({
            "agents": {
                "list": [{"id": "work", "backend": "native"}, {"id": "new", "maxTokens": 5}],
                "defaults": {"model": "m"},
            },
            "gateway": {"bind": "custom", "customBindHost": "10.0.0.7"},
        });
        assert_eq!(document, expected);
    }

    #[test]
    fn log_files_have_openclaws_names() {
        let document = json!({"logging": {"path": "/x", "maxSize": 5, "file": "/y"}});
        assert_eq!(
            applied(document),
            json!({"logging": {"file": "/y", "maxFileBytes": 5}})
        );
    }

    #[test]
    fn agents_are_named_as_they_are_written() {
        let written = json!({"agents": {"entries": {"a.b": {"model": "x"}}}});
        let document = applied(written.clone());
        let listed = json!({"agents": {"list": [{"id": "a.b"}]}});
        for (path, written, expected) in [
            (
                "agents.list[0].model",
                &written,
                "agents.entries[\"a.b\"].model",
            ),
            ("agents.list.0", &written, "agents.entries[\"a.b\"]"),
            ("agents.list.0.model", &listed, "agents.list.0.model"),
            ("agents.list.1.model", &written, "agents.list.1.model"),
            ("agents.defaults.model", &written, "agents.defaults.model"),
        ] {
            let path = KeyPath::parse(path).unwrap();
            let expected = KeyPath::parse(expected).unwrap();
            assert_eq!(as_written(&path, &document, written), expected, "{path}");
        }
    }
}
