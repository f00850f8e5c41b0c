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
    Close {
        run_id: String,
        key: SessionKey,
        state: &'static str,
        at_ms: i64,
        outcome: Kind,
        spent: Option<Box<Spent>>,
        /// The entries appended with the end.
        entries: Vec<Entry>,
        /// The reply on the message's channel.
        delivery: Option<Box<NewDelivery>>,
    },
    /// There is something to say on a channel.
    Deliver(Box<NewDelivery>, i64),
    /// Something else, of which there is only to be told.
    Happened(Happening),
}

impl Change {
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
            Self::Close {
                run_id,
                key,
                state,
                at_ms,
                outcome,
                spent,
                entries,
                ..
            } => {
                let entries = entries.iter().cloned().map(feed::Kind::EntryAppended);
                let bill = spent.as_deref().map(Spent::bill).unwrap_or_default();
                let end = feed::ended(state, Some(outcome), bill);
                of(key, run_id, *at_ms, entries.chain([end]).collect())
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
