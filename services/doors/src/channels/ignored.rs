//! Groups in which somebody called and is not answered.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

/// Groups that are known to have been told of; when there are more, all are forgotten,
/// and told of once more.
const GROUPS: usize = 256;

/// Groups of which the log has said that somebody there is not answered.
#[derive(Debug, Default)]
pub(super) struct IgnoredGroups(Mutex<HashSet<String>>);

impl IgnoredGroups {
    /// Whether that is news for `reason` in `group`; it counts as told.
    pub(super) fn is_news(&self, group: &str, reason: &str) -> bool {
        let mut told = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let name = format!("{group}\n{reason}");
        if told.contains(&name) {
            return false;
        }
        if told.len() >= GROUPS {
            told.clear();
        }
        told.insert(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn group_is_told_of_once_for_each_reason() {
        let ignored = IgnoredGroups::default();
        assert!(ignored.is_news("-1", "a"));
        assert!(!ignored.is_news("-1", "a"));
        assert!(ignored.is_news("-1", "b") && ignored.is_news("-2", "a"));
        for group in 0..GROUPS {
            ignored.is_news(&group.to_string(), "a");
        }
        assert!(ignored.0.lock().unwrap().len() <= GROUPS);
        assert!(ignored.is_news("-1", "a"));
    }
}
