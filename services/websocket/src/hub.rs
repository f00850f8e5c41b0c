//! All clients, and the way to tell them something.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use openclaw_protocol::Event;
use openclaw_protocol::event::StateVersion;
use openclaw_sessions::now_ms;
use serde::Serialize;
use serde_json::json;
use tokio::sync::Semaphore;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::audience::Audience;
use super::client::{Client, Identity};
use super::health::Health;
use super::narrations::Narrations;
use super::narrator;
use super::outbox::{Close, Outbox};
use super::presence::Presence;
use super::throttle::Throttle;
use crate::server::Server;

/// How often everybody is told that the gateway is there
/// (`policy.tickIntervalMs`).
pub(super) const TICK_INTERVAL: Duration = Duration::from_secs(30);

/// Connections that have not said yet who they are. A client needs a round
/// trip for it.
const STRANGER_LIMIT: usize = 256;

/// Connections together. Beyond it somebody opens them in a loop.
const CLIENT_LIMIT: usize = 4096;

/// Commands whose repetition is noticed. A client repeats at once or never.
const COMMANDS_REMEMBERED: usize = 256;

/// What connections get to send what is queued when the gateway stops.
const FAREWELL: Duration = Duration::from_secs(2);

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
    pub(super) presence: Presence,
    pub(super) health: Health,
    pub(super) strangers: Arc<Semaphore>,
    pub(super) config_writes: Throttle,
    /// Keys of commands, the newest last.
    commands: Mutex<VecDeque<String>>,
    /// The runs that they are told of.
    pub(super) narrations: Narrations,
    /// The tasks of the connections.
    pub(super) connections: TaskTracker,
}

impl Hub {
    pub(crate) fn new() -> Self {
        Self {
            clients: Mutex::default(),
            next_number: AtomicU64::new(1),
            boot_id: Uuid::new_v4().to_string(),
            presence: Presence::default(),
            health: Health::default(),
            strangers: Arc::new(Semaphore::new(STRANGER_LIMIT)),
            config_writes: Throttle::default(),
            commands: Mutex::default(),
            narrations: Narrations::default(),
            connections: TaskTracker::new(),
        }
    }

    /// How many clients there are.
    pub(crate) fn count(&self) -> usize {
        self.lock().len()
    }

    /// Whether a command with this idempotency key was not run yet.
    pub(super) fn is_new_command(&self, key: &str) -> bool {
        let commands = self.commands.lock();
        let mut commands = commands.unwrap_or_else(PoisonError::into_inner);
        if commands.iter().any(|known| known == key) {
            return false;
        }
        commands.push_back(key.to_owned());
        if commands.len() > COMMANDS_REMEMBERED {
            commands.pop_front();
        }
        true
    }

    /// Lets a client in; None when there are too many.
    pub(super) fn enter(
        &self,
        server: &Arc<Server>,
        conn_id: String,
        identity: Identity,
        outbox: Outbox,
    ) -> Option<Arc<Client>> {
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
            tokio::spawn(tick(Arc::downgrade(server)));
            narrator::catch_up(server);
        }
        Some(client)
    }

    pub(super) fn leave(&self, client: &Client) {
        self.lock().remove(&client.number);
    }

    /// Tells `audience`. The payload is only made when there is somebody to
    /// tell, and only once.
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
        let version = self.version();
        self.tell_with(audience, || {
            Event::versioned(name, &payload(), Some(version))
        });
    }

    /// The versions of the snapshot.
    pub(super) fn version(&self) -> StateVersion {
        StateVersion {
            presence: self.presence.version(),
            health: self.health.version(),
        }
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
    fn expel_secret_holders(&self) {
        for client in self.lock().values() {
            if client.identity.by_secret {
                client.close(Close::new(
                    POLICY,
                    "the token was changed; connect with the new one",
                ));
            }
        }
    }

    /// Says goodbye to everybody, and waits a moment for it to be read.
    pub(crate) async fn close(&self) {
        self.tell(
            Audience::Everyone,
            "shutdown",
            || json!({ "reason": "gateway stopping" }),
        );
        for client in self.lock().values() {
            client.close(Close::new(SERVICE_RESTART, "service restart"));
        }
        self.connections.close();
        let _ = tokio::time::timeout(FAREWELL, self.connections.wait()).await;
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Client>>> {
        self.clients.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the connections of those who came in with the shared secret when that
/// changes, until the gateway is gone.
pub async fn follow_secret(server: Weak<Server>) {
    let Some(strong) = server.upgrade() else {
        return;
    };
    let mut configuration = strong.core.configuration.clone();
    let mut rotations = strong.doors.front.rotations();
    let secret = |server: &Server| server.doors.front.secrets().reveal().map(str::to_owned);
    let mut known = secret(&strong);
    drop(strong);
    loop {
        let goes_on = tokio::select! {
            changed = configuration.changed() => changed,
            changed = rotations.changed() => changed.is_ok(),
        };
        let Some(server) = server.upgrade().filter(|_| goes_on) else {
            return;
        };
        let now = secret(&server);
        if now != known {
            known = now;
            server.hub.expel_secret_holders();
        }
    }
}

/// Ticks while there are clients.
async fn tick(server: Weak<Server>) {
    let mut ticks = interval(TICK_INTERVAL);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks.tick().await;
    loop {
        ticks.tick().await;
        let Some(server) = server.upgrade() else {
            return;
        };
        if server.hub.count() == 0 {
            return;
        }
        server
            .hub
            .tell(Audience::Everyone, "tick", || json!({ "ts": now_ms() }));
    }
}
