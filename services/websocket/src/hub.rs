//! All clients, and the way to tell them something.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use openclaw_protocol::Event;
use openclaw_sessions::now_ms;
use serde::Serialize;
use serde_json::json;
use tokio::time::{MissedTickBehavior, interval};
use uuid::Uuid;

use super::audience::Audience;
use super::client::{Client, Identity};
use super::outbox::{Close, Outbox};
use openclaw_protocol::versions::Versions;

/// How often everybody is told that the gateway is there (`policy.tickIntervalMs`).
pub(super) const TICK_INTERVAL: Duration = Duration::from_secs(30);

/// Connections together. Beyond it somebody opens them in a loop.
const CLIENT_LIMIT: usize = 4096;

/// "Policy violation" (RFC 6455).
const POLICY: u16 = 1008;

/// "Service restart" (RFC 6455 registry).
const SERVICE_RESTART: u16 = 1012;

/// All clients.
pub(crate) struct Hub {
    clients: Mutex<BTreeMap<u64, Arc<Client>>>,
    next_number: AtomicU64,
    /// Changes with every start of the gateway.
    pub(super) boot_id: String,
    /// Of the snapshot that clients keep.
    pub(super) versions: Versions,
}

impl Hub {
    pub(crate) fn new() -> Self {
        Self {
            clients: Mutex::default(),
            next_number: AtomicU64::new(1),
            boot_id: Uuid::new_v4().to_string(),
            versions: Versions::default(),
        }
    }

    /// How many clients there are.
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Lets a client in, and says whether it is the only one; None when there are too many.
    pub(super) fn enter(
        self: &Arc<Self>,
        conn_id: String,
        identity: Identity,
        outbox: Outbox,
    ) -> Option<(Arc<Client>, bool)> {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let client = Arc::new(Client::new(number, conn_id, identity, outbox));
        let mut clients = self.lock();
        if clients.len() >= CLIENT_LIMIT {
            return None;
        }
        let first = clients.is_empty();
        clients.insert(number, Arc::clone(&client));
        drop(clients);
        if first {
            tokio::spawn(tick(Arc::downgrade(self)));
        }
        Some((client, first))
    }

    pub(super) fn leave(&self, client: &Client) {
        self.lock().remove(&client.number);
    }

    /// Tells `audience`. The payload is only made when there is somebody to tell, and only once.
    pub(super) fn tell<P: Serialize>(
        &self,
        audience: Audience<'_>,
        name: &str,
        payload: impl FnOnce() -> P,
    ) {
        self.tell_with(audience, || Event::new(name, &payload()));
    }

    /// Tells `audience`, with the snapshot's versions.
    pub(super) fn tell_versioned<P: Serialize>(
        &self,
        audience: Audience<'_>,
        name: &str,
        payload: impl FnOnce() -> P,
    ) {
        let version = self.versions.current();
        self.tell_with(audience, || {
            Event::versioned(name, &payload(), Some(version))
        });
    }

    /// Whether anybody is in `audience`.
    pub(super) fn has(&self, audience: Audience<'_>) -> bool {
        self.lock()
            .values()
            .any(|client| client.is_among(&audience))
    }

    /// Sends `text` as it is to everybody in `audience`.
    pub(super) fn send_text(&self, audience: Audience<'_>, text: &str) {
        for client in self.lock().values() {
            if client.is_among(&audience) {
                client.text(text.to_owned());
            }
        }
    }

    fn tell_with(&self, audience: Audience<'_>, event: impl FnOnce() -> Event) {
        let clients = self.lock();
        let mut wanting = clients
            .values()
            .filter(|client| client.is_among(&audience))
            .peekable();
        if wanting.peek().is_none() {
            return;
        }
        let event = Arc::new(event());
        wanting.for_each(|client| client.event(&event));
    }

    /// Closes the connections of a device that may not come in any more, but
    /// not the one it asked over.
    pub(super) fn expel(&self, device_id: &str, but: Option<u64>) {
        for client in self.lock().values() {
            let is_device = client.identity.device_id.as_deref() == Some(device_id);
            if is_device && Some(client.number) != but {
                client.close(Close::new(POLICY, "device removed or its token changed"));
            }
        }
    }

    /// Closes the connections that came in with a secret that holds no more.
    pub(super) fn expel_secret_holders(&self) {
        for client in self.lock().values() {
            if client.identity.by_secret {
                client.close(Close::new(
                    POLICY,
                    "the token was changed; connect with the new one",
                ));
            }
        }
    }

    /// Says goodbye to everybody.
    pub(crate) fn close(&self) {
        self.tell(
            Audience::Everyone,
            "shutdown",
            || json!({ "reason": "gateway stopping" }),
        );
        for client in self.lock().values() {
            client.close(Close::new(SERVICE_RESTART, "service restart"));
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Client>>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ticks while there are clients.
async fn tick(hub: Weak<Hub>) {
    let mut ticks = interval(TICK_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks.tick().await;
    loop {
        ticks.tick().await;
        let Some(hub) = hub.upgrade().filter(|hub| hub.count() > 0) else {
            return;
        };
        hub.tell(Audience::Everyone, "tick", || json!({ "ts": now_ms() }));
    }
}
