//! Sessions that come from elsewhere.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use openclaw_proto::feed::Change;
use openclaw_sessions::transfer::{self, Existing, Takeover};
use openclaw_sessions::{AgentId, SessionKey, now_ms};

use super::Exportable;
use crate::fault::Fault;
use crate::storage::state_files::{StateFiles, changed};
use crate::storage::work::Done;

impl StateFiles {
    /// The sessions that the agents already have.
    pub(super) fn existing(
        &mut self,
        agents: BTreeSet<AgentId>,
    ) -> Result<HashMap<AgentId, Existing>, Fault> {
        let mut existing = HashMap::new();
        for agent in agents {
            let known = Existing::of(self.session_files.store(&agent)?)?;
            existing.insert(agent, known);
        }
        Ok(existing)
    }

    /// The sessions to export: one, or all of every agent.
    pub(super) fn exportable(
        &mut self,
        key: Option<&SessionKey>,
    ) -> Result<Vec<Exportable>, Fault> {
        let agents = match key {
            Some(key) => vec![key.agent().clone()],
            None => self.session_files.agents(),
        };
        let mut exportable = Vec::new();
        for agent in agents {
            let store = self.session_files.store(&agent)?;
            let wanted = || {
                let sessions = store.sessions();
                sessions.filter(|(known, _)| key.is_none_or(|key| key.as_str() == *known))
            };
            let transcripts = wanted().map(|(_, entry)| {
                let path = store.transcript_path(entry);
                (transfer::exported_name(entry), path)
            });
            exportable.push(Exportable {
                index: transfer::exported_index(wanted()),
                transcripts: transcripts.filter(|(_, path)| path.exists()).collect(),
                agent,
            });
        }
        Ok(exportable)
    }

    /// Moves the transcripts into place and enters the sessions: all of them,
    /// or none when one cannot be.
    pub(super) fn take_over(&mut self, takeovers: Vec<Takeover>) -> Result<Done<()>, Fault> {
        let mut moves: Vec<(PathBuf, PathBuf)> = Vec::new();
        for takeover in &takeovers {
            let store = self.session_files.store(takeover.key.agent())?;
            moves.push((takeover.staged.clone(), store.dir().join(&takeover.name)));
        }
        transfer::move_in(&moves)?;
        let mut before = Vec::new();
        let mut happenings = Vec::new();
        for takeover in takeovers {
            happenings.push(changed(&takeover.key, Change::Created, "import", now_ms()));
            let store = self.session_files.store(takeover.key.agent())?;
            let there = store.insert(&takeover.key, takeover.entry);
            before.push((takeover.key, there));
        }
        let done = Done::changing((), move |state_files| {
            for (key, there) in before {
                state_files.put_back(&key, there);
            }
            // Best effort: the failure that counts is told already, and what
            // stays is a transcript that no index has.
            let _ = transfer::move_out(&moves);
        });
        Ok(happenings.into_iter().fold(done, Done::telling))
    }
}
