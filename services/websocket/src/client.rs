//! A client that was let in.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use openclaw_protocol::client::{ClientId, Mode, Role};
use openclaw_protocol::scope::Scope;
use openclaw_protocol::{Event, Failure};

use super::audience::Audience;
use super::outbox::{Close, Outbox, Outgoing};

/// The channel of what comes over this protocol.
pub(crate) const CHANNEL: &str = openclaw_runs::WEBCHAT;

/// Sessions one client may follow. An app shows a few at a time.
const FOLLOWED_LIMIT: usize = 256;

/// The capabilities of a client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Caps {
    /// `tool-events`: the stream `tool` of `agent`.
    pub(super) tool_events: bool,
    /// `session-scoped-events`: only events of sessions it follows.
    pub(super) session_scoped: bool,
    /// `gateway-events-v1`: events as seed 002 describes them.
    pub(super) seed_events: bool,
}

impl Caps {
    pub(super) fn of(names: &[String]) -> Self {
        let has = |cap: &str| names.iter().any(|name| name == cap);
        Self {
            tool_events: has("tool-events"),
            session_scoped: has("session-scoped-events"),
            seed_events: has("gateway-events-v1"),
        }
    }
}

/// The identity of a client.
#[derive(Debug, Clone)]
pub(super) struct Identity {
    pub(super) id: ClientId,
    pub(super) mode: Mode,
    pub(super) role: Role,
    pub(super) scopes: Vec<String>,
    pub(super) caps: Caps,
    /// A paired device.
    pub(super) device_id: Option<String>,
    /// It came in with the shared token or password.
    pub(super) by_secret: bool,
}

impl Identity {
    /// Whether it may do what needs `scope`.
    pub(super) fn may(&self, scope: Scope) -> bool {
        self.role == Role::Operator && scope.is_in(&self.scopes)
    }
}

/// A connection that may ask for things.
#[derive(Debug)]
pub(super) struct Client {
    /// Counts the connections of this gateway.
    pub(super) number: u64,
    pub(super) conn_id: String,
    pub(super) identity: Identity,
    outbox: Outbox,
    follows: Mutex<Follows>,
}

/// The client's subscriptions.
#[derive(Debug, Default)]
struct Follows {
    index: bool,
    /// By canonical session key.
    sessions: HashSet<String>,
}

impl Client {
    pub(super) fn new(number: u64, conn_id: String, identity: Identity, outbox: Outbox) -> Self {
        Self {
            number,
            conn_id,
            identity,
            outbox,
            follows: Mutex::default(),
        }
    }

    /// Whether it may do what needs `scope`.
    pub(super) fn may(&self, scope: Scope) -> bool {
        self.identity.may(scope)
    }

    /// An error unless it may.
    pub(super) fn need(&self, scope: Scope) -> Result<(), Failure> {
        if self.may(scope) {
            Ok(())
        } else {
            Err(Failure::scope(scope.as_str()))
        }
    }

    /// Whether it belongs to `audience`.
    pub(super) fn is_among(&self, audience: &Audience<'_>) -> bool {
        let caps = self.identity.caps;
        match audience {
            Audience::Everyone => true,
            Audience::Readers => self.may(Scope::Read),
            Audience::Holders(scope) => self.may(*scope),
            Audience::Run(key) => !caps.seed_events && self.sees(key),
            Audience::Tools(key) => !caps.seed_events && caps.tool_events && self.sees(key),
            Audience::Toolless(key) => !caps.seed_events && !caps.tool_events && self.sees(key),
            Audience::Seed(key) => caps.seed_events && self.sees(key),
            Audience::Index => self.may(Scope::Read) && self.lock().index,
            Audience::Messages(key) => self.may(Scope::Read) && self.lock().sessions.contains(*key),
        }
    }

    fn sees(&self, key: &str) -> bool {
        self.may(Scope::Read)
            && (!self.identity.caps.session_scoped || self.lock().sessions.contains(key))
    }

    /// Subscribes it to changes of the session index.
    pub(super) fn follow_index(&self, follow: bool) {
        self.lock().index = follow;
    }

    /// Subscribes it to a session's messages.
    pub(super) fn follow(&self, key: &str) -> Result<(), Failure> {
        let mut follows = self.lock();
        if follows.sessions.len() >= FOLLOWED_LIMIT && !follows.sessions.contains(key) {
            return Err(Failure::unavailable(format!(
                "this connection follows {FOLLOWED_LIMIT} sessions already; unsubscribe from one"
            )));
        }
        follows.sessions.insert(key.to_owned());
        Ok(())
    }

    /// Ends a subscription; false when there was none.
    pub(super) fn unfollow(&self, key: &str) -> bool {
        self.lock().sessions.remove(key)
    }

    pub(super) fn event(&self, event: &Arc<Event>) {
        self.outbox.push(Outgoing::Event(Arc::clone(event)));
    }

    pub(super) fn text(&self, text: String) {
        self.outbox.push(Outgoing::Text(text));
    }

    pub(super) fn close(&self, close: Close) {
        self.outbox.push(Outgoing::Close(close));
    }

    fn lock(&self) -> MutexGuard<'_, Follows> {
        self.follows.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
