//! Which lines are the conversation: entries form a tree, and what counts is
//! the way from the last one to the root.

use serde::{Deserialize, Deserializer};

/// Follows parents while a file is read from its end.
#[derive(Debug, Default)]
pub(crate) struct Chain {
    wanted: Wanted,
    /// Lines that were passed over while one was wanted.
    skipped: usize,
}

#[derive(Debug, Default, PartialEq)]
enum Wanted {
    /// The next line, whatever its id.
    #[default]
    Next,
    /// The line with this id.
    Id(String),
    /// Every line: the parents of this file lead nowhere.
    All,
}

/// What an entry says of its parent.
#[derive(Debug, Default, Clone, PartialEq)]
pub(crate) enum Parent {
    /// Nothing: a file of before there were trees.
    #[default]
    Unsaid,
    /// It has none.
    Root,
    /// Its id.
    Id(String),
}

impl Chain {
    /// Takes every line.
    pub(crate) fn all() -> Self {
        Self {
            wanted: Wanted::All,
            skipped: 0,
        }
    }

    /// Whether the line is part of the conversation.
    pub(crate) fn admits(&mut self, id: Option<&str>, parent: &Parent) -> bool {
        match (&self.wanted, id) {
            (Wanted::All, _) | (_, None) => return true,
            (Wanted::Next, Some(_)) => {}
            (Wanted::Id(wanted), Some(id)) if wanted == id => self.skipped = 0,
            (Wanted::Id(_), Some(_)) => {
                self.skipped += 1;
                return false;
            }
        }
        self.wanted = match parent {
            Parent::Id(parent) => Wanted::Id(parent.clone()),
            // A root has nothing before it, except in files whose writer knew
            // no parents and wrote null; those are read as they stand.
            Parent::Unsaid | Parent::Root => Wanted::Next,
        };
        true
    }

    /// A line that cannot be read may have been the parent.
    pub(crate) fn is_broken(&mut self) {
        if self.wanted != Wanted::All {
            self.wanted = Wanted::Next;
        }
    }

    /// Whether the file began before the parent that was wanted came: it is
    /// not in the file, and the lines passed over were not another branch.
    pub(crate) fn leads_nowhere(&self) -> bool {
        self.skipped > 0 && matches!(self.wanted, Wanted::Id(_))
    }
}

impl<'de> Deserialize<'de> for Parent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id: Option<String> = Option::deserialize(deserializer)?;
        Ok(id.map_or(Self::Root, Self::Id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(id: &str) -> Parent {
        Parent::Id(id.into())
    }

    #[test]
    fn chain_another_branch_is_passed_over() {
        let mut chain = Chain::default();
        assert!(chain.admits(Some("d"), &id("b")));
        assert!(!chain.admits(Some("c"), &id("b")));
        assert!(chain.admits(Some("b"), &id("a")));
        assert!(chain.admits(None, &Parent::Unsaid));
        assert!(chain.admits(Some("a"), &Parent::Root));
        assert!(!chain.leads_nowhere());
    }

    #[test]
    fn broken_line_is_not_the_end() {
        let mut chain = Chain::default();
        assert!(chain.admits(Some("d"), &id("c")));
        chain.is_broken();
        assert!(chain.admits(Some("b"), &id("a")));
    }

    #[test]
    fn parent_that_is_nowhere_is_noticed() {
        let mut chain = Chain::default();
        assert!(chain.admits(Some("b"), &id("x")));
        assert!(!chain.admits(Some("a"), &id("y")));
        assert!(chain.leads_nowhere());
        assert!(Chain::all().admits(Some("a"), &id("y")));
    }
}
