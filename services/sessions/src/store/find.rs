//! Finding a session by what a person calls it.

use super::Store;
use super::entry::SessionEntry;
use crate::key::SessionKey;

/// Fewest characters of an id that stand for the whole. Shorter beginnings are
/// often somebody's label.
const ID_PREFIX: usize = 6;

impl Store {
    /// What people call the sessions: keys, what of them is behind the agent, labels.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let lead = format!("agent:{}:", self.agent());
        let names = self.sessions().flat_map(move |(key, entry)| {
            [Some(key), key.strip_prefix(lead.as_str()), entry.label()]
        });
        names.flatten()
    }

    /// The keys of the sessions that `text` may mean: the key as the index has
    /// it or in any form, else the session's id, else its label, else the
    /// beginning of an id. More than one: it is ambiguous.
    pub fn find(&self, text: &str) -> Vec<SessionKey> {
        let text = text.trim();
        if let Some(key) = self.by_key(text) {
            return vec![key];
        }
        let by = |wanted: &dyn Fn(&SessionEntry) -> bool| -> Vec<SessionKey> {
            let found = self.sessions().filter(|(_, entry)| wanted(entry));
            found.filter_map(|(key, _)| self.stored(key)).collect()
        };
        let label = text.to_lowercase();
        let by_id = by(&|entry| entry.session_id() == text);
        if !by_id.is_empty() {
            return by_id;
        }
        let is_label = |known: &str| known.to_lowercase() == label;
        let by_label = by(&|entry| entry.label().is_some_and(is_label));
        if !by_label.is_empty() || text.len() < ID_PREFIX {
            return by_label;
        }
        by(&|entry| entry.session_id().starts_with(text))
    }

    /// The key of another session than `key` that has the label.
    pub fn has_label(&self, label: &str, except: &SessionKey) -> Option<&str> {
        let mut labelled = self.sessions().filter(|(key, entry)| {
            *key != except.as_str() && entry.label() == Some(label) && entry.archived_at().is_none()
        });
        labelled.next().map(|(key, _)| key)
    }

    fn by_key(&self, text: &str) -> Option<SessionKey> {
        self.stored(text).filter(|key| self.get(key).is_some())
    }

    fn stored(&self, key: &str) -> Option<SessionKey> {
        SessionKey::stored(key, self.agent()).ok()
    }
}
