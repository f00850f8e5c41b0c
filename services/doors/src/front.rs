//! The TCP side of the gateway: connections, who they come from, and whether
//! they may come in. What is said on them is `http`'s and `ws`'s part.

mod failures;
mod guard;
mod peer;
mod secrets;
mod strangers;
mod tcp_door;
mod token;

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use openclaw_daemon::{Configuration, failure};
use openclaw_settings::Settings;
use tokio::sync::watch;

use openclaw_runs::Counter;
use token::TokenFile;

pub use failures::Failures;
#[cfg(fuzzing)]
pub use guard::fuzz;
pub(crate) use guard::{Misdirected, identify};
pub use peer::Peer;
pub use secrets::Secrets;
pub(crate) use secrets::is_same;
pub use strangers::{Admission, Strangers};
pub use tcp_door::TcpDoor;

/// What the connections share.
pub struct Front {
    configuration: Configuration,
    token: TokenFile,
    /// Failed attempts to come in.
    pub failures: Failures,
    /// Clients that were refused for a wrong token.
    pub denied: Counter,
    addresses: Mutex<Vec<(TcpDoor, SocketAddr)>>,
    rotations: watch::Sender<u64>,
}

/// Why somebody may not come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// Nothing was presented.
    #[error("no token was sent: send it as \"Authorization: Bearer …\"")]
    Missing,
    /// What was presented is not the secret.
    #[error("the token is wrong")]
    Mismatch,
    /// Too many failed attempts.
    #[error("too many failed attempts; try again in {} s", .0.as_secs().max(1))]
    Limited(Duration),
}

impl Front {
    pub(crate) fn new(configuration: Configuration) -> Arc<Self> {
        let path = configuration.settings().paths.state.join("auth.json");
        Arc::new(Self {
            configuration,
            token: TokenFile::at(path),
            failures: Failures::default(),
            denied: Counter::default(),
            addresses: Mutex::default(),
            rotations: watch::Sender::new(0),
        })
    }

    /// The settings as they hold now.
    pub fn settings(&self) -> Arc<Settings> {
        self.configuration.settings()
    }

    /// What a client must know to come in. Without a configured token it is
    /// the one of `auth.json`, which is made here when there is none yet.
    pub fn secrets(&self) -> Secrets {
        Secrets::of(&self.settings().gateway, || {
            self.token
                .get()
                .inspect_err(|error| failure::report("read the access token", error))
                .ok()
        })
    }

    /// Makes another token; connections that came in with the old one are to
    /// end. The error says why there is none to change.
    pub fn rotate(&self) -> Result<(), token::Error> {
        self.token.rotate()?;
        self.rotations.send_modify(|count| *count += 1);
        Ok(())
    }

    /// Changes with every change of the token.
    pub fn rotations(&self) -> watch::Receiver<u64> {
        self.rotations.subscribe()
    }

    /// Whether `peer` may come in with what it presents. Refusals are counted and logged here.
    pub fn admit(&self, peer: &Peer, presented: Option<&str>) -> Result<(), Denied> {
        let secrets = self.secrets();
        if secrets.are_none_needed() {
            peer.admission.is_known();
            return Ok(());
        }
        self.check(peer, presented, |presented| secrets.accept(presented))
    }

    /// As [`Front::admit`], with another way to tell what is right.
    pub fn check(
        &self,
        peer: &Peer,
        presented: Option<&str>,
        accept: impl FnOnce(&str) -> bool,
    ) -> Result<(), Denied> {
        let limit = self.settings().gateway.rate_limit;
        self.failures.allowed(peer, &limit)?;
        let Some(presented) = presented else {
            tracing::info!(peer = %peer.addr, "refused a client without a token");
            return Err(Denied::Missing);
        };
        if accept(presented) {
            self.failures.succeeded(peer, &limit);
            peer.admission.is_known();
            return Ok(());
        }
        self.failures.failed(peer, &limit);
        self.denied.add();
        tracing::warn!(
            peer = %peer.addr,
            origin = peer.origin.as_deref().unwrap_or_default(),
            "refused a client with a wrong token"
        );
        Err(Denied::Mismatch)
    }

    /// Where clients reach the gateway over TCP.
    pub(crate) fn addresses(&self) -> Vec<(TcpDoor, SocketAddr)> {
        let addresses = self.addresses.lock();
        addresses.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// `door` was opened at `address`.
    pub(crate) fn note_address(&self, door: TcpDoor, address: SocketAddr) {
        let addresses = self.addresses.lock();
        let mut addresses = addresses.unwrap_or_else(PoisonError::into_inner);
        addresses.push((door, address));
    }
}
