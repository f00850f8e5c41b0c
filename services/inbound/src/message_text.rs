//! What a message says, which its sender may edit until a model is told.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::foreign::quoted;

/// What one message of a channel says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Part {
    /// What the channel calls it.
    message_id: String,
    words: String,
}

/// What messages of a channel say that came as one and are one run's, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SaidAs {
    parts: Vec<Part>,
    /// Whether it stands in the run's text as words of others do ([`quoted`]).
    is_quoted: bool,
}

impl SaidAs {
    /// The messages `ids` say `texts`; None, unless each says one of them.
    pub fn of(ids: &[String], texts: &[String]) -> Option<Self> {
        let parts = ids.iter().zip(texts).map(|(id, text)| Part {
            message_id: id.clone(),
            words: text.trim().to_owned(),
        });
        (ids.len() == texts.len()).then(|| Self {
            parts: parts.collect(),
            is_quoted: false,
        })
    }

    /// The same as words of others ([`quoted`]), which they are in groups.
    pub fn quoted(self) -> Self {
        Self {
            is_quoted: true,
            ..self
        }
    }

    /// What they say together, as it is in the run's text.
    pub fn words(&self) -> String {
        let all = self.parts.iter().map(|part| part.words.as_str());
        let all: Vec<&str> = all.filter(|words| !words.is_empty()).collect();
        let words = all.join("\n");
        if self.is_quoted {
            quoted(&words)
        } else {
            words
        }
    }

    fn part(&mut self, id: &str) -> Option<&mut Part> {
        self.parts.iter_mut().find(|part| part.message_id == id)
    }
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

    /// Whether it has what the message `id` says.
    pub fn is_of(&self, id: &str) -> bool {
        self.lock().said_as.part(id).is_some()
    }

    /// Makes the message `id` say `words` instead; false: it is too late for that, or
    /// nothing of it is in the text.
    pub fn edit(&self, id: &str, words: &str) -> bool {
        let mut state = self.lock();
        let before = state.said_as.words();
        let Some(at) = place(&state.text, &before).filter(|_| !state.is_told) else {
            return false;
        };
        let Some(part) = state.said_as.part(id) else {
            return false;
        };
        words.trim().clone_into(&mut part.words);
        let after = state.said_as.words();
        state.text.replace_range(at..at + before.len(), &after);
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

/// Where in `text` what was said is, which is `words`. What stands before it is quoted,
/// overheard or a name, and what stands behind it is about files ([`said`](crate::said)).
fn place(text: &str, words: &str) -> Option<usize> {
    let is_whole = |(at, _): &(usize, &str)| {
        let behind = &text[at + words.len()..];
        behind.is_empty() || behind.starts_with("\n\n[")
    };
    let mut found = text.rmatch_indices(words).filter(is_whole);
    let last = found.next().filter(|_| !words.is_empty());
    last.map(|(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said_as(parts: &[(&str, &str)]) -> SaidAs {
        let (ids, texts): (Vec<_>, Vec<_>) = parts
            .iter()
            .map(|(id, text)| ((*id).to_owned(), (*text).to_owned()))
            .unzip();
        SaidAs::of(&ids, &texts).unwrap()
    }

    #[test]
    fn words_are_edited_until_a_model_is_told() {
        let words = MessageText::default();
        assert!(!words.edit("5", "nothing was said"));
        words.set(
            "[Replying to Ann]\n> at six\n\nBob: at six\n\n[media]",
            said_as(&[("5", "at six")]),
        );
        assert!(words.is_of("5") && !words.is_of("6"));
        assert!(!words.edit("6", "at seven"));
        assert_eq!(words.edited(), None);
        assert!(words.edit("5", "at seven") && words.edit("5", "at eight"));
        let text = "[Replying to Ann]\n> at six\n\nBob: at eight\n\n[media]";
        assert_eq!(words.edited().as_deref(), Some(text));
        assert_eq!(words.tell().as_deref(), Some(text));
        assert!(!words.edit("5", "at nine"));
    }

    #[test]
    fn words_of_one_of_several_messages_are_edited_alone() {
        let words = MessageText::default();
        let all = said_as(&[("5", "at six"), ("6", ""), ("7", "at six"), ("8", "bye")]);
        let text = |said: &str| format!("Bob: {said}\n\n[media attached: bye (image/png)]");
        words.set(&text("at six\nat six\nbye"), all);
        for (id, edit, said) in [
            ("7", "at seven", "at six\nat seven\nbye"),
            ("6", "look", "at six\nlook\nat seven\nbye"),
            ("5", "", "look\nat seven\nbye"),
            ("8", "see you", "look\nat seven\nsee you"),
        ] {
            assert!(words.is_of(id) && words.edit(id, edit), "{id}");
            assert_eq!(words.edited().unwrap(), text(said), "{id}");
        }
        assert!(SaidAs::of(&["5".to_owned()], &[]).is_none());
    }

    #[test]
    fn words_that_are_quoted_are_edited_as_such() {
        let words = MessageText::default();
        let all = said_as(&[("5", "at\nsix"), ("6", "bye")]);
        words.set("Bob (8): at\n> six\n> bye", all.quoted());
        assert!(words.edit("5", "no\nAda: pay"));
        let text = "Bob (8): no\n> Ada: pay\n> bye";
        assert_eq!(words.edited().as_deref(), Some(text));
    }

    #[test]
    fn words_are_found_where_they_were_said_and_not_in_what_is_said_of_files() {
        let words = MessageText::default();
        words.set(
            "media\n\n[media attached: media]",
            said_as(&[("5", "media")]),
        );
        assert!(words.edit("5", "my cat"));
        assert_eq!(words.edited().unwrap(), "my cat\n\n[media attached: media]");
        words.set("[media attached: a]", said_as(&[("5", "")]));
        assert!(!words.edit("5", "my cat"), "nothing says where");
    }
}
