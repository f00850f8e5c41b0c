//! A word that is searched for.

use std::collections::HashSet;

use crate::term::Key;
use openclaw_analysis::{Language, Traits};

/// A term of another language, and of which; of texts in any where that is not known.
pub(crate) type Foreign = (Key, Option<Language>);

/// A word that is looked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct SearchWord {
    /// As it is written, in lower case; empty where it is written without spaces.
    pub(crate) plain: String,
    /// It is found by any of these.
    pub(crate) keys: Vec<Key>,
    /// What means nearly the same is found by these,
    pub(crate) related: Vec<Key>,
    /// and by these in other languages.
    pub(crate) foreign: Vec<Foreign>,
    /// Things of the kind that it names are found by these.
    pub(crate) things: Vec<Key>,
    /// Its opposites are found by these.
    pub(crate) opposites: Vec<Key>,
    /// What it counts, of what its rarity says; in ranking, and as evidence.
    pub(crate) factor: f32,
    /// Whether it names somebody or something: no other will do.
    pub(crate) is_name: bool,
    /// Whether only its place says that it is a name: a word that has it in it will do too.
    pub(crate) is_bare: bool,
    /// Whether it is a verb that says little of what is asked for, or the like.
    pub(crate) is_doing: bool,
    /// Whether it says what kind of thing is asked for.
    pub(crate) is_kind: bool,
    /// Whether it says what is to be told, which can be told without the word.
    pub(crate) is_sought: bool,
    /// A verb without which nothing is told.
    pub(crate) is_needed: bool,
    /// The word right after it that it says more of, in English: "diesel" of "tank".
    pub(crate) head: Option<String>,
    /// Of what is looked for in parts, which whole it is of; 0 of what is not.
    pub(crate) whole: u32,
    /// Whether it asks for what is not taken, or not tolerated: what tells of that has it.
    pub(crate) is_of_intolerance: bool,
    /// Whether it names a relative, or is one of two words that do.
    pub(crate) is_of_kin: bool,
    /// Whether it asks for who came after somebody, whom a note may tell of in any words.
    pub(crate) is_of_successor: bool,
    /// Whether it is a part of a word that is written by its sound, of which some parts alone are
    /// of another word: "レス".
    pub(crate) is_sounded: bool,
    /// Whether it is of a word of three characters, which is known by two.
    pub(crate) is_short: bool,
    /// Whether it is written as a noun, where nouns have a capital.
    pub(crate) is_noun: bool,
    /// What kind of fact it names, which can be there without the word.
    pub(crate) fact: Traits,
}

impl SearchWord {
    /// Whether other words are known for what it means: where none of them is,
    /// it is not there.
    pub(super) fn has_others(&self) -> bool {
        !self.related.is_empty() || !self.foreign.is_empty()
    }

    /// Leaves each key once, where it counts most: twice it would count twice.
    pub(super) fn look_once(&mut self) {
        let mut seen: HashSet<Key> = self.keys.iter().copied().collect();
        self.related.retain(|&key| seen.insert(key));
        self.foreign.retain(|&(key, _)| seen.insert(key));
    }
}
