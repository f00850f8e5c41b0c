//! The presence list: who is connected.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_doors::front::Peer;
use openclaw_protocol::client::Mode;
use openclaw_protocol::connect::Connect;
use openclaw_sessions::now_ms;
use serde_json::{Map, Value, json};

use super::audience::Audience;
use super::client::Client;
use super::hub::Hub;

/// Entries that system events made. Older ones are forgotten.
const NOTED_LIMIT: usize = 200;

/// How long such an entry is shown, in milliseconds.
const NOTED_MS: i64 = 5 * 60 * 1000;

/// The gateway itself, apps that are connected, and what they say of themselves.
pub(crate) struct Presence {
    hub: Arc<Hub>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By connection.
    apps: Vec<(u64, Value)>,
    noted: VecDeque<Map<String, Value>>,
}

impl Presence {
    pub(crate) fn new(hub: Arc<Hub>) -> Self {
        Self {
            hub,
            state: Mutex::default(),
        }
    }

    /// An app is connected.
    fn enter(&self, number: u64, entry: Value) {
        self.lock().apps.push((number, entry));
        self.hub.versions.count_presence();
    }

    /// Removes it; false when it was not there.
    fn leave(&self, number: u64) -> bool {
        let mut state = self.lock();
        let before = state.apps.len();
        state.apps.retain(|(app, _)| *app != number);
        let left = state.apps.len() < before;
        drop(state);
        if left {
            self.hub.versions.count_presence();
        }
        left
    }

    /// Somebody says something of a system, which everybody is told.
    pub(super) fn noted(&self, entry: Map<String, Value>) {
        self.note(entry);
        self.announce();
    }

    /// One entry per device or text.
    fn note(&self, entry: Map<String, Value>) {
        let mut state = self.lock();
        let name = |entry: &Map<String, Value>| {
            let named = ["deviceId", "instanceId", "host", "text"];
            named
                .iter()
                .find_map(|key| entry.get(*key).cloned())
                .unwrap_or_default()
        };
        let this = name(&entry);
        state.noted.retain(|other| name(other) != this);
        state.noted.push_back(entry);
        while state.noted.len() > NOTED_LIMIT {
            state.noted.pop_front();
        }
        drop(state);
        self.hub.versions.count_presence();
    }

    /// The list, the gateway first.
    pub(super) fn list(&self) -> Vec<Value> {
        let now = now_ms();
        let mut state = self.lock();
        let fresh = |entry: &Map<String, Value>| {
            entry.get("ts").and_then(Value::as_i64).unwrap_or_default() > now - NOTED_MS
        };
        state.noted.retain(fresh);
        let apps = state.apps.iter().map(|(_, entry)| entry.clone());
        let noted = state.noted.iter().cloned().map(Value::Object);
        std::iter::once(gateway(now))
            .chain(apps)
            .chain(noted)
            .collect()
    }

    /// A client is there. Only apps that people look at and devices are shown;
    /// programs come and go.
    pub(super) fn entered(&self, client: &Client, connect: &Connect, peer: &Peer) {
        let shown = matches!(client.identity.mode, Mode::Ui | Mode::Webchat | Mode::Node);
        if !shown {
            return;
        }
        let about = &connect.client;
        let mut entry = Map::new();
        let texts = [
            ("host", about.display_name.as_deref()),
            ("version", Some(&*about.version)),
            ("platform", Some(&*about.platform)),
            ("deviceFamily", about.device_family.as_deref()),
            ("modelIdentifier", about.model_identifier.as_deref()),
            ("timeZone", about.time_zone.as_deref()),
            ("mode", Some(about.mode.as_str())),
            ("instanceId", about.instance_id.as_deref()),
            ("deviceId", client.identity.device_id.as_deref()),
            ("reason", Some("connect")),
        ];
        for (name, text) in texts {
            entry.extend(text.map(|text| (name.to_owned(), json!(text))));
        }
        let now = now_ms();
        entry.insert("ip".to_owned(), json!(peer.addr.ip().to_string()));
        entry.insert("roles".to_owned(), json!([client.identity.role.as_str()]));
        entry.insert("scopes".to_owned(), json!(client.identity.scopes));
        entry.insert("ts".to_owned(), json!(now));
        entry.insert("onlineSince".to_owned(), json!(now));
        self.enter(client.number, Value::Object(entry));
        self.announce();
    }

    /// A client is gone.
    pub(super) fn left(&self, client: &Client) {
        if self.leave(client.number) {
            self.announce();
        }
    }

    /// Tells everybody who is there.
    fn announce(&self) {
        let list = || json!({ "presence": self.list() });
        self.hub.tell_versioned(Audience::Readers, "presence", list);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn gateway(now: i64) -> Value {
    let host = host_name();
    let version = env!("CARGO_PKG_VERSION");
    json!({
        "host": host,
        "version": version,
        "platform": std::env::consts::OS,
        "deviceFamily": "Linux",
        "mode": "gateway",
        "reason": "self",
        "text": format!("Gateway: {host} · app {version} · mode gateway · reason self"),
        "ts": now,
    })
}

/// The host's name as the kernel has it.
fn host_name() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .ok()
        .map(|name| name.trim().to_owned())
        .filter(|name| !name.is_empty())
        .unwrap_or_else(|| "localhost".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_and_go_and_the_version_counts() {
        let presence = Presence::new(Arc::new(Hub::new()));
        let version = || presence.hub.versions.current().presence;
        let first = version();
        presence.enter(7, json!({"host": "phone", "ts": now_ms()}));
        assert_eq!(presence.list().len(), 2);
        let entry = |text: &str, ts| json!({"text": text, "ts": ts}).as_object().unwrap().clone();
        presence.note(entry("a", now_ms()));
        presence.note(entry("a", now_ms()));
        presence.note(entry("long ago", now_ms() - NOTED_MS - 1));
        assert_eq!(presence.list().len(), 3);
        assert!(presence.leave(7));
        assert!(!presence.leave(7));
        assert_eq!(presence.list().len(), 2);
        assert_eq!(version(), first + 5);
    }
}
