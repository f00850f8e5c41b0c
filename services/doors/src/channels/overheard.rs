//! What was said in groups while nobody called.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Groups of which something is kept; beyond that it is forgotten of the one in
/// which nobody spoke for the longest.
const GROUPS: usize = 256;

/// Characters of one message.
const LENGTH: usize = 500;

/// In OpenClaw's words.
const BEFORE: &str = "[Chat messages since your last reply - for context]";
const NOW: &str = "[Current message - respond to this]";

/// What was said in groups while nobody called. Whoever is called next may know
/// of it; the gateway that is started next does not.
#[derive(Debug, Default)]
pub(super) struct Overheard(Mutex<VecDeque<Group>>);

/// Its name, and what was said there.
type Group = (String, VecDeque<String>);

impl Overheard {
    /// Keeps `text`, and at most `limit` of the group.
    pub(super) fn add(&self, group: &str, text: &str, limit: usize) {
        if limit == 0 || text.is_empty() {
            return;
        }
        let mut groups = self.lock();
        let mut said = take(&mut groups, group).unwrap_or_default();
        said.push_back(text.chars().take(LENGTH).collect());
        while said.len() > limit {
            said.pop_front();
        }
        if groups.len() >= GROUPS {
            groups.pop_front();
        }
        groups.push_back((group.to_owned(), said));
    }

    /// `text` with what was said before it, which is kept no more.
    pub(super) fn before(&self, group: &str, text: String) -> String {
        match take(&mut self.lock(), group) {
            None => text,
            Some(said) => {
                let said = said.into_iter().collect::<Vec<_>>().join("\n");
                format!("{BEFORE}\n{said}\n\n{NOW}\n{text}")
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Group>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn take(groups: &mut VecDeque<Group>, group: &str) -> Option<VecDeque<String>> {
    let at = groups.iter().position(|(name, _)| name == group)?;
    groups.remove(at).map(|(_, said)| said)
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
        // Those that spoke last.
        assert_eq!(groups[0].0, "5");
        let mut all = groups.iter().flat_map(|(_, said)| said);
        assert!(all.all(|text| text.chars().count() == LENGTH));
    }
}
