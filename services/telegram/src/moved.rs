//! Groups that became supergroups: Telegram gives them another id then. To the
//! gateway they stay what they were, so that their session, what is allowed there
//! and what waits to be said there stay too.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use openclaw_channel::recent::Recent;
use serde_json::Value;

/// The file, in the account's folder.
const FILE: &str = "moved";
/// Groups that are known; of those in which the gateway took nothing since, the ones
/// that moved first are forgotten.
const LIMIT: usize = 10_000;

/// Groups that became supergroups.
#[derive(Debug)]
pub(crate) struct Moved {
    path: PathBuf,
    groups: Mutex<Groups>,
}

#[derive(Debug)]
struct Groups {
    /// The former id, by the one that holds.
    former: Recent<String>,
    /// The id that holds, by the former one.
    present: Recent<String>,
}

impl Moved {
    /// Those that `folder` has.
    pub(crate) fn open(folder: &Path) -> Self {
        let path = folder.join(FILE);
        let mut groups = Groups {
            former: Recent::new(LIMIT),
            present: Recent::new(LIMIT),
        };
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => {
                openclaw_daemon::failure::report("read which groups moved", &error);
                String::new()
            }
            Ok(text) => text,
        };
        let pairs = text.lines().filter_map(|line| line.split_once(' '));
        for (former, present) in pairs {
            groups.put(former, present);
        }
        Self {
            path,
            groups: Mutex::new(groups),
        }
    }

    /// What the chat `present` was called before, if it was.
    pub(crate) fn former(&self, present: &str) -> Option<String> {
        self.groups().former.get(present).cloned()
    }

    /// What the chat is called now that the gateway calls `chat`.
    pub(crate) fn present(&self, chat: &str) -> String {
        let present = self.groups().present.get(chat).cloned();
        present.unwrap_or_else(|| chat.to_owned())
    }

    /// The gateway took what was said in the group that was `former`: strangers'
    /// groups are forgotten before it.
    pub(crate) fn is_used(&self, former: &str) {
        let mut groups = self.groups();
        if let Some(present) = groups.present.get(former).cloned() {
            groups.put(former, &present);
        }
    }

    /// The group `former` is `present` now.
    pub(crate) fn note(&self, former: &str, present: &str) {
        let mut groups = self.groups();
        let is_known = groups.present.get(former).is_some_and(|it| it == present);
        if is_known || former == present {
            return;
        }
        groups.put(former, present);
        tracing::info!(
            "the group {former} is the supergroup {present} now; its session, deliveries and what \
             channels.telegram.groups says of {former} go on"
        );
        if let Err(error) = self.write(&groups) {
            openclaw_daemon::failure::report("keep that a group moved", &error);
        }
    }

    /// Notes it where an update says so, in the former group or in the new one.
    pub(crate) fn look_at(&self, raw: &str) {
        if !raw.contains("\"migrate_") {
            return;
        }
        let update: Value = serde_json::from_str(raw).unwrap_or_default();
        let message = &update["message"];
        let here = message["chat"]["id"].as_i64();
        let to = message["migrate_to_chat_id"].as_i64();
        let from = message["migrate_from_chat_id"].as_i64();
        let pair = match (here, to, from) {
            (Some(here), Some(to), _) => Some((here, to)),
            (Some(here), None, Some(from)) => Some((from, here)),
            _ => None,
        };
        // Groups have such ids, and people do not.
        if let Some((former, present)) = pair.filter(|(a, b)| *a < 0 && *b < 0) {
            self.note(&former.to_string(), &present.to_string());
        }
    }

    fn write(&self, groups: &Groups) -> io::Result<()> {
        let beside = self.path.with_extension("new");
        let mut file = fs::File::create(&beside)?;
        for (former, present) in groups.present.iter() {
            writeln!(file, "{former} {present}")?;
        }
        file.sync_all()?;
        fs::rename(beside, &self.path)
    }

    fn groups(&self) -> MutexGuard<'_, Groups> {
        self.groups.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Groups {
    fn put(&mut self, former: &str, present: &str) {
        self.former.put(present, former.to_owned());
        self.present.put(former, present.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moved_groups_of_strangers_are_forgotten_first() {
        let folder = tempfile::tempdir().unwrap();
        let mut moved = Moved::open(folder.path());
        moved.note("-1", "-1001");
        let more = LIMIT / 2 + 1;
        for begin in [10, 20_000] {
            let mut groups = moved.groups();
            for number in begin..begin + more {
                groups.put(&format!("-{number}"), &format!("-100{number}"));
            }
            drop(groups);
            moved.is_used("-1");
            moved.is_used("-2");
        }
        moved.note("-3", "-1003");
        for _ in 0..2 {
            assert_eq!(moved.present("-1"), "-1001");
            assert_eq!(moved.former("-1003").as_deref(), Some("-3"));
            assert_eq!(
                (moved.present("-2"), moved.present("-10")),
                ("-2".into(), "-10".into())
            );
            assert_eq!(moved.groups().present.iter().count(), LIMIT);
            moved = Moved::open(folder.path());
        }
    }

    #[test]
    fn moved_group_is_known_by_both_ids_and_again() {
        let folder = tempfile::tempdir().unwrap();
        let moved = Moved::open(folder.path());
        for raw in [
            r#"{"update_id":1,"message":{"chat":{"id":-5},"migrate_to_chat_id":-1005}}"#,
            r#"{"update_id":2,"message":{"chat":{"id":-1006},"migrate_from_chat_id":-6}}"#,
            r#"{"update_id":3,"message":{"chat":{"id":7},"migrate_to_chat_id":-1005}}"#,
            r#"{"update_id":4,"message":{"chat":{"id":-8},"text":"\"migrate_to_chat_id\":-9"}}"#,
            r#"{"migrate_"#,
        ] {
            moved.look_at(raw);
        }
        for moved in [moved, Moved::open(folder.path())] {
            assert_eq!(moved.former("-1005").as_deref(), Some("-5"));
            assert_eq!(moved.present("-6"), "-1006");
            for other in ["7", "-8"] {
                assert_eq!(moved.present(other), other);
                assert!(moved.former(other).is_none());
            }
        }
    }
}
