//! What was said in groups while nobody called.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use openclaw_proto::channel::Message;

/// Groups of which something is kept; beyond that it is forgotten of the one in
/// which nobody spoke for the longest.
const GROUPS: usize = 256;

/// Characters of one message.
const LENGTH: usize = 500;

/// What an edit begins with of something that is not there any more as it was said.
const EDITED: &str = "[edited]";

/// In OpenClaw's words.
const BEFORE: &str = "[Chat messages since your last reply - for context]";
const NOW: &str = "[Current message - respond to this]";

/// What was said in groups while nobody called. Whoever is called next may know
/// of it; the gateway that is started next does not.
#[derive(Debug, Default)]
pub(super) struct Overheard(Mutex<VecDeque<Group>>);

/// Its name, and what was said there.
type Group = (String, VecDeque<Said>);

/// What somebody said.
#[derive(Debug)]
pub(super) struct Said {
    /// What the channel calls it.
    ids: Vec<String>,
    is_edit: bool,
    text: String,
}

impl Said {
    /// `message`, of which `text` is told.
    pub(super) fn of(message: &Message, text: &str) -> Self {
        Self {
            ids: message.provider_ids.clone(),
            is_edit: message.is_edit,
            text: text.chars().take(LENGTH).collect(),
        }
    }
}

impl Overheard {
    /// Keeps what was said, in the place of what it is an edit of, and at most `limit`
    /// of the group.
    pub(super) fn add(&self, group: &str, new: Said, limit: usize) {
        if limit == 0 || new.text.is_empty() {
            return;
        }
        let mut groups = self.lock();
        let mut said = take(&mut groups, group).unwrap_or_default();
        let edited = said.iter_mut().find(|it| new.is_edit && it.ids == new.ids);
        match edited {
            Some(edited) => edited.text = new.text,
            // It was told, or is a part of several that came as one.
            None if new.is_edit => said.push_back(Said {
                text: format!("{EDITED} {}", new.text),
                ..new
            }),
            None => said.push_back(new),
        }
        while said.len() > limit {
            said.pop_front();
        }
        if groups.len() >= GROUPS {
            groups.pop_front();
        }
        groups.push_back((group.to_owned(), said));
    }

    /// `text` with what was said before it, which is no longer kept.
    pub(super) fn before(&self, group: &str, text: String) -> String {
        match take(&mut self.lock(), group) {
            None => text,
            Some(said) => {
                let said: Vec<String> = said.into_iter().map(|it| it.text).collect();
                let said = said.join("\n");
                format!("{BEFORE}\n{said}\n\n{NOW}\n{text}")
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<Group>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn take(groups: &mut VecDeque<Group>, group: &str) -> Option<VecDeque<Said>> {
    let at = groups.iter().position(|(name, _)| name == group)?;
    groups.remove(at).map(|(_, said)| said)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(id: &str, text: &str, is_edit: bool) -> Said {
        let message = Message {
            provider_ids: vec![id.to_owned()],
            is_edit,
            ..Message::default()
        };
        Said::of(&message, text)
    }

    #[test]
    fn overheard_is_what_was_edited() {
        let overheard = Overheard::default();
        overheard.add("g", said("1", "Bo: at six", false), 9);
        overheard.add("g", said("2", "Cy: fine", false), 9);
        overheard.add("g", said("1", "Bo: at eight", true), 9);
        overheard.add("g", said("0", "Di: never", true), 9);
        let told = overheard.before("g", String::new());
        let lines = "\nBo: at eight\nCy: fine\n[edited] Di: never\n";
        assert!(told.contains(lines), "{told}");
    }

    #[test]
    fn overheard_is_told_once_and_bounded() {
        let overheard = Overheard::default();
        assert_eq!(overheard.before("g", "now".to_owned()), "now");
        for number in 0..5 {
            overheard.add("g", said("", &format!("Bo: {number}"), false), 2);
        }
        overheard.add("other", said("", "Cy: x", false), 0);
        let told = overheard.before("g", "Ada: now".to_owned());
        assert_eq!(told, format!("{BEFORE}\nBo: 3\nBo: 4\n\n{NOW}\nAda: now"));
        assert_eq!(overheard.before("g", "now".to_owned()), "now");
        assert_eq!(overheard.before("other", "now".to_owned()), "now");
        for group in 0..GROUPS + 5 {
            overheard.add(
                &group.to_string(),
                said("", &"é".repeat(LENGTH + 5), false),
                9,
            );
        }
        let groups = overheard.lock();
        assert_eq!(groups.len(), GROUPS);
        // Those that spoke last.
        assert_eq!(groups[0].0, "5");
        let mut all = groups.iter().flat_map(|(_, said)| said);
        assert!(all.all(|said| said.text.chars().count() == LENGTH));
    }
}
