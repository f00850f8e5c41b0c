//! What was said in groups while nobody called.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Groups of which something is kept.
const GROUPS: usize = 256;

/// Characters of one message.
const LENGTH: usize = 500;

/// In OpenClaw's words.
const BEFORE: &str = "[Chat messages since your last reply - for context]";
const NOW: &str = "[Current message - respond to this]";

/// What was said in groups while nobody called. Whoever is called next may know
/// of it; the gateway that is started next does not.
#[derive(Debug, Default)]
pub(super) struct Overheard(Mutex<HashMap<String, VecDeque<String>>>);

impl Overheard {
    /// Keeps `text`, and at most `limit` of the group.
    pub(super) fn add(&self, group: &str, text: &str, limit: usize) {
        let mut groups = self.lock();
        let is_full = groups.len() >= GROUPS && !groups.contains_key(group);
        if limit == 0 || is_full || text.is_empty() {
            return;
        }
        let said = groups.entry(group.to_owned()).or_default();
        said.push_back(text.chars().take(LENGTH).collect());
        while said.len() > limit {
            said.pop_front();
        }
    }

    /// `text` with what was said before it, which is kept no more.
    pub(super) fn before(&self, group: &str, text: String) -> String {
        match self.lock().remove(group) {
            None => text,
            Some(said) => {
                let said = said.into_iter().collect::<Vec<_>>().join("\n");
                format!("{BEFORE}\n{said}\n\n{NOW}\n{text}")
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, VecDeque<String>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overheard_is_told_once_and_bounded() {
        let overheard = Overheard::default();
        assert_eq!(overheard.before("g", "now".to_owned()), "now");
        for number in 0..5 {
            overheard.add("g", &format!("Bo: {number}"), 2);
        }
        overheard.add("other", "Cy: x", 0);
        let told = overheard.before("g", "Ada: now".to_owned());
        assert_eq!(told, format!("{BEFORE}\nBo: 3\nBo: 4\n\n{NOW}\nAda: now"));
        assert_eq!(overheard.before("g", "now".to_owned()), "now");
        assert_eq!(overheard.before("other", "now".to_owned()), "now");
        for group in 0..GROUPS + 5 {
            overheard.add(&group.to_string(), &"é".repeat(LENGTH + 5), 9);
        }
        let groups = overheard.lock();
        assert_eq!(groups.len(), GROUPS);
        let mut all = groups.values().flatten();
        assert!(all.all(|text| text.chars().count() == LENGTH));
    }
}
