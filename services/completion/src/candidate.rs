//! Something that can be typed next.

/// Something that can be typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// The word.
    pub word: String,
    /// What it is.
    pub help: String,
}
