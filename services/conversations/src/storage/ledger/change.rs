//! Changes of the ledger.

use openclaw_proto::event::Kind;
use openclaw_proto::feed::Entry;
use openclaw_sessions::SessionKey;

use super::record::{Record, Spent};
use crate::feed::{self, Happening};
use crate::outbox::NewDelivery;

/// A change of the ledger.
#[derive(Debug)]
pub(crate) enum Change {
    /// A message was accepted.
    Insert(Box<Record>),
    /// It wants these [`TurnOptions`](super::super::TurnOptions), as JSON.
    KeepOptions { run_id: String, options: String },
    /// Its turn began.
    Running {
        run_id: String,
        key: SessionKey,
        at_ms: i64,
    },
    /// Its turn ended.
    Close(Box<Close>),
    /// There is something to say on a channel.
    Deliver(Box<NewDelivery>, i64),
    /// Something else, of which there is only to be told.
    Happened(Happening),
}

/// The end of a run.
#[derive(Debug)]
pub(crate) struct Close {
    pub(crate) run_id: String,
    pub(crate) key: SessionKey,
    pub(crate) state: &'static str,
    pub(crate) at_ms: i64,
    pub(crate) outcome: Kind,
    pub(crate) spent: Option<Spent>,
    /// The entries appended with the end.
    pub(crate) entries: Vec<Entry>,
    /// The reply on the message's channel.
    pub(crate) delivery: Option<NewDelivery>,
}

impl Change {
    /// A message that was accepted, and what it wants for its turn.
    pub(crate) fn entering(
        record: Record,
        options: Option<&serde_json::Value>,
    ) -> impl Iterator<Item = Self> {
        let kept = options.map(|options| Self::KeepOptions {
            run_id: record.run_id.clone(),
            options: options.to_string(),
        });
        std::iter::once(Self::Insert(Box::new(record))).chain(kept)
    }

    /// The event of this change.
    pub(super) fn happening(&self) -> Happening {
        let of = |key: &SessionKey, run_id: &str, at_ms: i64, kinds| Happening {
            agent_id: key.agent().to_string(),
            session_key: key.to_string(),
            run_id: run_id.to_owned(),
            at_ms,
            kinds,
        };
        match self {
            Self::Insert(record) => Happening {
                agent_id: record.agent_id.clone(),
                session_key: record.session_key.clone(),
                run_id: record.run_id.clone(),
                at_ms: record.created_ms,
                kinds: record.message().kinds(),
            },
            Self::Running { run_id, key, at_ms } => {
                of(key, run_id, *at_ms, vec![feed::Kind::RunStarted])
            }
            Self::Close(close) => {
                let entries = close.entries.iter().cloned();
                let entries = entries.map(feed::Kind::EntryAppended);
                let bill = close.spent.as_ref().map(Spent::bill).unwrap_or_default();
                let end = feed::ended(close.state, Some(&close.outcome), bill);
                let kinds = entries.chain([end]).collect();
                of(&close.key, &close.run_id, close.at_ms, kinds)
            }
            Self::Deliver(new, at_ms) => Happening {
                agent_id: new.agent_id.clone(),
                session_key: new.session_key.clone(),
                run_id: new.run_id.clone(),
                at_ms: *at_ms,
                kinds: Vec::new(),
            },
            // A part of its acceptance, which is told.
            Self::KeepOptions { run_id, .. } => Happening {
                agent_id: String::new(),
                session_key: String::new(),
                run_id: run_id.clone(),
                at_ms: 0,
                kinds: Vec::new(),
            },
            Self::Happened(happening) => happening.clone(),
        }
    }
}
