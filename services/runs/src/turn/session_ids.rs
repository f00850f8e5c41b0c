//! Which session's transcript a conversation is, before a message of it is written.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use openclaw_proto::origin;
use openclaw_sessions::SessionKey;

use crate::run::{MessageStatus, Run};

/// Conversations that are known; more are waited for again.
const LIMIT: usize = 1024;

/// The ids that the sessions of the last messages had. Memory is asked by them while the next
/// message is written, which may begin the session anew: then nothing was said in it yet, and
/// nothing that memory has of it matters.
#[derive(Debug, Default)]
pub(crate) struct SessionIds(Mutex<HashMap<SessionKey, String>>);

impl SessionIds {
    /// A message of `key` was written into the session with the id `id`.
    pub(super) fn note(&self, key: &SessionKey, id: &str) {
        let mut ids = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if ids.len() >= LIMIT && !ids.contains_key(key) {
            ids.clear();
        }
        ids.insert(key.clone(), id.to_owned());
    }

    /// That of the run's session. Where it is not known, or differs with each run, the message
    /// is waited for; empty: it is refused.
    pub(super) async fn of(&self, run: &Run) -> String {
        if let Some(id) = self.known(&run.key) {
            return id;
        }
        match run.settled().await {
            MessageStatus::Accepted(accepted) => accepted.session_id,
            _ => String::new(),
        }
    }

    fn known(&self, key: &SessionKey) -> Option<String> {
        if origin::is_isolated(key.as_str()) {
            return None;
        }
        let ids = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ids.get(key).cloned()
    }
}

#[cfg(test)]
mod tests {
    use openclaw_sessions::AgentId;

    use super::*;

    #[test]
    fn session_ids_are_those_of_the_last_message_and_bounded() {
        let agent = AgentId::main();
        let key = |name: &str| SessionKey::parse(&format!("agent:main:{name}"), &agent).unwrap();
        let ids = SessionIds::default();
        assert_eq!(ids.known(&key("main")), None);
        ids.note(&key("main"), "one");
        ids.note(&key("main"), "two");
        assert_eq!(ids.known(&key("main")).as_deref(), Some("two"));
        for number in 0..2 * LIMIT {
            ids.note(&key(&number.to_string()), "x");
        }
        assert!(ids.0.lock().unwrap().len() <= LIMIT);
    }
}
