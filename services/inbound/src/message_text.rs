//! What a message says, which its sender may edit until a model is told.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What one message of a channel said that is a run's.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SaidAs {
    /// What the channel calls it.
    pub message_id: String,
    /// Its words, which are part of the run's text.
    pub words: String,
}

/// The text of a run's message, and the edits of it.
#[derive(Debug, Default)]
pub struct MessageText(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    said_as: SaidAs,
    text: String,
    is_edited: bool,
    /// A model is told; an edit comes too late.
    is_told: bool,
}

impl MessageText {
    /// The run's text is `text`, which has what was said as `said_as` in it.
    pub fn set(&self, text: &str, said_as: SaidAs) {
        let mut state = self.lock();
        text.clone_into(&mut state.text);
        state.said_as = said_as;
    }

    /// Whether they are of the message `id`.
    pub fn is_of(&self, id: &str) -> bool {
        let state = self.lock();
        !state.said_as.words.is_empty() && state.said_as.message_id == id
    }

    /// Has the message say `words` instead; false: it is too late for that.
    pub fn edit(&self, words: &str) -> bool {
        let mut state = self.lock();
        let before = state.said_as.words.clone();
        if state.is_told || before.is_empty() || !state.text.contains(&before) {
            return false;
        }
        // What stands before it is quoted, or overheard.
        let at = state.text.rfind(&before).unwrap_or_default();
        state.text.replace_range(at..at + before.len(), words);
        words.clone_into(&mut state.said_as.words);
        state.is_edited = true;
        true
    }

    /// The text, if it was edited.
    pub fn edited(&self) -> Option<String> {
        let state = self.lock();
        state.is_edited.then(|| state.text.clone())
    }

    /// The text, if it was edited, for a model: later edits come too late.
    pub fn tell(&self) -> Option<String> {
        self.lock().is_told = true;
        self.edited()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_edited_until_a_model_is_told() {
        let words = MessageText::default();
        assert!(!words.edit("nothing was said"));
        let said_as = SaidAs {
            message_id: "5".into(),
            words: "at six".into(),
        };
        words.set(
            "[Replying to Ann]\n> at six\n\nBob: at six\n\n[media]",
            said_as,
        );
        assert!(words.is_of("5") && !words.is_of("6"));
        assert_eq!(words.edited(), None);
        assert!(words.edit("at seven") && words.edit("at eight"));
        let text = "[Replying to Ann]\n> at six\n\nBob: at eight\n\n[media]";
        assert_eq!(words.edited().as_deref(), Some(text));
        assert_eq!(words.tell().as_deref(), Some(text));
        assert!(!words.edit("at nine"));
    }
}
