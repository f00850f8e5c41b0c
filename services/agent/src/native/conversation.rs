//! The conversation in a form both protocols accept.

use openclaw_turn::{HistoryCall, HistoryEntry, Image, SignedThinking};
use serde_json::{Map, Value};

/// What a model is told about a call that has no result on record.
const NO_RESULT: &str = "no result: the call was cancelled, because the turn was ended or interrupted before it had \
                         finished. What it did until then is not undone";

/// Bytes of the images of a conversation, in base64: they are sent with each
/// request, which has 32 MB.
const IMAGES_BYTES: usize = 16 * 1024 * 1024;

/// One message. Every call of an assistant is answered by the entry after it.
#[derive(Debug, PartialEq)]
pub(super) enum Entry {
    User(String),
    /// Pictures that the user sent with the message after them.
    Pictures(Vec<Image>),
    Assistant(Assistant),
    Results(Vec<Outcome>),
}

/// What the model said and asked for.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Assistant {
    pub(super) text: String,
    /// What was thought before it in an earlier turn.
    pub(super) earlier: Option<SignedThinking>,
    /// What was thought before it in this turn.
    pub(super) thinking: Vec<Value>,
    pub(super) reasoning: String,
    pub(super) calls: Vec<Call>,
}

/// A tool call that can be sent back: its name and arguments are well-formed.
#[derive(Debug, PartialEq)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: Value,
}

/// The result of a call.
#[derive(Debug, PartialEq)]
pub(super) struct Outcome {
    pub(super) call_id: String,
    pub(super) text: String,
    /// Pictures that came with it.
    pub(super) images: Vec<Image>,
    pub(super) is_error: bool,
}

/// All entries so far: begins with the user's, ends with the user's or results.
#[derive(Debug)]
pub(super) struct Conversation {
    entries: Vec<Entry>,
}

impl Conversation {
    /// The history, repaired where it was cut or interrupted, and the new message.
    pub(super) fn begin(history: Vec<HistoryEntry<'_>>, text: String) -> Self {
        let mut conversation = Self {
            entries: Vec::new(),
        };
        let mut history = history.into_iter().peekable();
        while let Some(entry) = history.next() {
            match entry {
                HistoryEntry::User { text } => conversation.push_user(text.into_owned()),
                HistoryEntry::Assistant {
                    text,
                    tool_calls,
                    thinking,
                } => {
                    let mut results = Vec::new();
                    while let Some(HistoryEntry::Tool { .. }) = history.peek() {
                        results.extend(history.next());
                    }
                    conversation.push_assistant(text.into_owned(), thinking, tool_calls, results);
                }
                // Its call was cut off the beginning.
                HistoryEntry::Tool { .. } => {}
            }
        }
        conversation.push_user(text);
        conversation
    }

    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(super) fn push(&mut self, entry: Entry) {
        self.entries.push(entry);
        self.drop_images();
    }

    /// Leaves the latest images, as many as go with each request. The text of a
    /// result names those that were there.
    fn drop_images(&mut self) {
        let mut left = IMAGES_BYTES;
        let outcomes = self
            .entries
            .iter_mut()
            .rev()
            .filter_map(|entry| match entry {
                Entry::Results(outcomes) => Some(outcomes),
                _ => None,
            });
        for outcome in outcomes.flat_map(|outcomes| outcomes.iter_mut().rev()) {
            let bytes: usize = outcome.images.iter().map(|image| image.data.len()).sum();
            if bytes > left {
                outcome.images.clear();
            }
            left = left.saturating_sub(bytes);
        }
    }

    /// Shows what was sent with the message that was said last.
    pub(super) fn show(&mut self, pictures: Vec<Image>) {
        if !pictures.is_empty() {
            let before_last = self.entries.len().saturating_sub(1);
            self.entries.insert(before_last, Entry::Pictures(pictures));
        }
    }

    /// Drops what was thought in this turn: only the model that thought it can
    /// read it.
    pub(super) fn forget_thinking(&mut self) {
        for entry in &mut self.entries {
            if let Entry::Assistant(assistant) = entry {
                assistant.thinking.clear();
                assistant.reasoning.clear();
            }
        }
    }

    /// Two messages in a row, the first of them unanswered, become one.
    /// What the user says now, after what was said before.
    pub(super) fn push_user(&mut self, text: String) {
        match self.entries.last_mut() {
            Some(Entry::User(before)) => {
                before.push_str("\n\n");
                before.push_str(&text);
            }
            _ => self.entries.push(Entry::User(text)),
        }
    }

    fn push_assistant(
        &mut self,
        text: String,
        earlier: Option<SignedThinking>,
        calls: Vec<HistoryCall<'_>>,
        results: Vec<HistoryEntry<'_>>,
    ) {
        let nothing = text.trim().is_empty() && calls.is_empty();
        if self.entries.is_empty() || nothing {
            return;
        }
        let calls: Vec<Call> = calls.into_iter().map(Call::from).collect();
        let outcomes: Vec<Outcome> = calls
            .iter()
            .map(|call| outcome_of(&call.id, &results))
            .collect();
        self.entries.push(Entry::Assistant(Assistant {
            text,
            earlier,
            calls,
            ..Assistant::default()
        }));
        if !outcomes.is_empty() {
            self.entries.push(Entry::Results(outcomes));
        }
    }
}

fn outcome_of(id: &str, results: &[HistoryEntry<'_>]) -> Outcome {
    let recorded = results.iter().find_map(|entry| match entry {
        HistoryEntry::Tool {
            call_id,
            output,
            is_error,
        } if call_id == id => Some((output.clone().into_owned(), *is_error)),
        _ => None,
    });
    let (text, is_error) = recorded.unwrap_or_else(|| (NO_RESULT.to_owned(), true));
    Outcome {
        call_id: id.to_owned(),
        text,
        images: Vec::new(),
        is_error,
    }
}

impl From<HistoryCall<'_>> for Call {
    fn from(call: HistoryCall<'_>) -> Self {
        Self::new(
            call.id.into_owned(),
            &call.name,
            call.arguments.into_owned(),
        )
    }
}

impl Call {
    /// Makes a call fit to be sent back: APIs refuse a whole request for one
    /// odd name or for arguments that are no object.
    pub(super) fn new(id: String, name: &str, arguments: Value) -> Self {
        let arguments = match arguments {
            Value::Object(object) => Value::Object(object),
            _ => Value::Object(Map::new()),
        };
        let well_formed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let name = if !name.is_empty() && name.len() <= 64 && name.chars().all(well_formed) {
            name.to_owned()
        } else {
            "unknown".to_owned()
        };
        Self {
            id,
            name,
            arguments,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn entries(history: Value) -> Vec<Entry> {
        let history = serde_json::from_value(history).unwrap();
        Conversation::begin(history, "now".into()).entries
    }

    fn roles(entries: &[Entry]) -> String {
        let letter = |entry: &Entry| match entry {
            Entry::Pictures(_) => 'p',
            Entry::User(_) => 'u',
            Entry::Assistant(_) => 'a',
            Entry::Results(_) => 'r',
        };
        entries.iter().map(letter).collect()
    }

    #[test]
    fn calls_and_results_stay_together() {
        let entries = entries(json!([
            {"user": {"text": "q"}},
            {"assistant": {"text": "", "tool_calls": [{"id": "1", "name": "t", "arguments": {"a": 1}}]}},
            {"tool": {"call_id": "1", "name": "t", "output": "o", "is_error": false}},
            {"assistant": {"text": "done"}}
        ]));
        assert_eq!(roles(&entries), "uarau");
        let Entry::Results(outcomes) = &entries[2] else {
            panic!()
        };
        assert_eq!(
            (outcomes[0].text.as_str(), outcomes[0].is_error),
            ("o", false)
        );
    }

    #[test]
    fn interrupted_call_gets_a_result_that_says_so() {
        let entries = entries(json!([
            {"user": {"text": "q"}},
            {"assistant": {"tool_calls": [{"id": "1", "name": "t"}, {"id": "2", "name": "bad name"}]}},
            {"tool": {"call_id": "2", "output": "o"}},
        ]));
        assert_eq!(roles(&entries), "uaru");
        let Entry::Results(outcomes) = &entries[2] else {
            panic!()
        };
        assert!(outcomes[0].is_error && outcomes[0].text.contains("cancelled"));
        assert_eq!(outcomes[1].text, "o");
        let Entry::Assistant(assistant) = &entries[1] else {
            panic!()
        };
        assert_eq!(assistant.calls[0].arguments, json!({}));
        assert_eq!(assistant.calls[1].name, "unknown");
    }

    #[test]
    fn history_cut_in_the_middle_begins_with_the_user() {
        let entries = entries(json!([
            {"tool": {"call_id": "9", "output": "o"}},
            {"assistant": {"text": "left over"}},
            {"user": {"text": "one"}},
            {"assistant": {"text": " "}},
        ]));
        assert_eq!(entries, vec![Entry::User("one\n\nnow".into())]);
    }
}
