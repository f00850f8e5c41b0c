//! Agents whose requests have no room for a conversation.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use openclaw_sessions::AgentId;

/// Those of which people were told; as many as there are agents.
#[derive(Debug, Default)]
pub(crate) struct Cramped(Mutex<HashSet<AgentId>>);

impl Cramped {
    /// Whether people were told of `agent`. From now on they were.
    pub(super) fn is_told(&self, agent: &AgentId) -> bool {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        !told.insert(agent.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agent_is_told_of_once() {
        let cramped = Cramped::default();
        let main = AgentId::main();
        assert_eq!([(); 2].map(|()| cramped.is_told(&main)), [false, true]);
    }
}
