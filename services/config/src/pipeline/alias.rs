//! Other names for the same settings: the MVP schema's (seed 002) and those of
//! other versions of OpenClaw.
//!
//! `agent.*` and `memory.workspacePath` are read beside our own names where
//! agents are resolved; here are those that change their shape.

use std::net::IpAddr;

use serde_json::{Map, Value};

/// Writes the settings under the names that are read.
pub fn apply(document: &mut Value) {
    entries(document);
    host(document);
    logging(document);
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
        if list
            .iter()
            .any(|listed| listed.get("id") == Some(&Value::from(id.as_str())))
        {
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

/// `logging.path` and `logging.maxSize` (seed 002) are OpenClaw's
/// `logging.file` and `logging.maxFileBytes`.
fn logging(document: &mut Value) {
    let Some(logging) = document.get_mut("logging").and_then(Value::as_object_mut) else {
        return;
    };
    for (name, known) in [("path", "file"), ("maxSize", "maxFileBytes")] {
        if let Some(value) = logging.shift_remove(name) {
            logging.entry(known).or_insert(value);
        }
    }
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
    fn a_host_is_a_way_to_bind() {
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
    fn log_files_have_openclaws_names() {
        let document = json!({"logging": {"path": "/x", "maxSize": 5, "file": "/y"}});
        assert_eq!(
            applied(document),
            json!({"logging": {"file": "/y", "maxFileBytes": 5}})
        );
    }
}
