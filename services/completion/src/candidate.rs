//! Something that can be typed next.

/// Something that can be typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The word.
    pub word: String,
    /// What it is.
    pub help: String,
}

impl Candidate {
    /// `word`, which is what `help` says.
    pub(crate) fn new(word: &str, help: &str) -> Self {
        Self {
            word: word.to_owned(),
            help: help.to_owned(),
        }
    }
}
