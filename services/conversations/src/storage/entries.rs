//! Events of appended entries.

use openclaw_proto::feed::{Answers, Entry, Kind, Role};
use openclaw_sessions::SessionKey;
use openclaw_sessions::transcript::Message;

use crate::feed::Happening;

/// Messages on their way into a transcript.
pub(super) struct Described {
    run_id: String,
    entries: Vec<Entry>,
}

impl Described {
    /// The run is that of the first that is of one.
    pub(super) fn of(messages: &[Message]) -> Self {
        let run_id = messages.iter().find_map(Message::run_id);
        Self {
            run_id: run_id.unwrap_or_default().to_owned(),
            entries: messages.iter().map(described).collect(),
        }
    }

    /// The entries with their ids in the transcript.
    pub(super) fn entries(mut self, ids: &[String]) -> Vec<Entry> {
        for (entry, id) in self.entries.iter_mut().zip(ids) {
            entry.entry_id.clone_from(id);
        }
        self.entries
    }

    /// The event of these entries.
    pub(super) fn happening(self, key: &SessionKey, ids: &[String], at_ms: i64) -> Happening {
        let run_id = self.run_id.clone();
        let entries = self.entries(ids).into_iter();
        Happening {
            agent_id: key.agent().to_string(),
            session_key: key.to_string(),
            run_id,
            at_ms,
            kinds: entries.map(Kind::EntryAppended).collect(),
        }
    }
}

fn described(message: &Message) -> Entry {
    let (role, answers) = match message {
        Message::User(_) => (Role::User, None),
        Message::Assistant(_) => (Role::Assistant, None),
        Message::ToolResult(result) => {
            let answers = Answers {
                tool: result.tool_name.clone(),
                call_id: result.tool_call_id.clone(),
                success: !result.is_error,
            };
            (Role::Tool, Some(answers))
        }
    };
    Entry {
        entry_id: String::new(),
        role,
        answers,
    }
}
