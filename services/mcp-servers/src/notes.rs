//! What a turn's user is told of its servers.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use openclaw_handoff::spool::Spool;
use openclaw_proto::event::Kind;
use tokio_util::task::AbortOnDropHandle;

use super::client::Servers;

/// Tells each thing once. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Notes {
    servers: Arc<Servers>,
    spool: Arc<Spool>,
    told: Arc<Mutex<HashSet<String>>>,
}

impl Notes {
    /// What is to be said of `servers` into `spool`.
    pub fn new(servers: Arc<Servers>, spool: Arc<Spool>) -> Self {
        Self {
            servers,
            spool,
            told: Arc::default(),
        }
    }

    /// Tells what has not been told.
    pub fn tell(&self) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        for text in self.servers.notes() {
            if told.insert(text.clone()) {
                // A spool that cannot be written ends the turn elsewhere.
                let _ = self.spool.push(Kind::Note { text });
            }
        }
    }

    /// Tells it when no server is waited for any more, and whatever comes
    /// after that, until this is dropped.
    pub fn follow(&self) -> AbortOnDropHandle<()> {
        let notes = self.clone();
        AbortOnDropHandle::new(tokio::spawn(async move {
            let mut changes = notes.servers.changes();
            notes.servers.settled().await;
            loop {
                notes.tell();
                changes.next().await;
            }
        }))
    }
}
