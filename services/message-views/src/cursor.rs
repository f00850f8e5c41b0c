//! Up to where a client was told a conversation.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use openclaw_sessions::SessionKey;
use openclaw_sessions::transcript::Entry;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// Messages that a client catches up with; where there are more, pages are less to send. As
/// OpenClaw's.
pub const MESSAGES: usize = 200;
/// Of the cursor's form.
const VERSION: u32 = 1;

/// The newest messages of a conversation.
#[derive(Debug, Clone, Copy)]
pub struct Page<'a> {
    /// Oldest first.
    pub entries: &'a [Entry],
    /// Messages of the whole transcript.
    pub total: u64,
    /// Whether the conversation goes on before the first of them.
    pub has_more: bool,
}

/// Up to where a client was told a conversation.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cursor {
    agent_id: String,
    /// The id of the last message that it was told. Another one at its place: something was
    /// taken back or begun anew.
    generation: String,
    /// The place of that message in the transcript.
    last_seq: u64,
    session_id: String,
    version: u32,
}

impl Cursor {
    /// The cursor after `page`, before the first of its messages that waits: it is to be told
    /// when its turn comes. None where the message before that is not known.
    pub fn after(
        (key, session_id): (&SessionKey, &str),
        page: Page<'_>,
        waiting: &[String],
    ) -> Option<Self> {
        let waits = |run_id: &str| waiting.iter().any(|waits| waits == run_id);
        let entries = page.entries.iter();
        let told = entries.take_while(|entry| !entry.message.run_id().is_some_and(waits));
        let told: Vec<&str> = told.map(|entry| entry.id.as_str()).collect();
        let begins = page.total.checked_sub(page.entries.len() as u64)?;
        let first = (!page.has_more).then_some("");
        Some(Self {
            agent_id: key.agent().as_str().to_owned(),
            generation: told.last().copied().or(first)?.to_owned(),
            last_seq: begins + told.len() as u64,
            session_id: session_id.to_owned(),
            version: VERSION,
        })
    }

    /// Reads what a client was given; None of what is none of ours.
    pub fn read(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        let cursor: Self = serde_json::from_slice(&bytes).ok()?;
        (cursor.version == VERSION).then_some(cursor)
    }

    /// As a client is given it.
    pub fn write(&self) -> String {
        URL_SAFE_NO_PAD.encode(json!(self).to_string())
    }

    /// Whether it is of this conversation.
    pub fn is_of(&self, key: &SessionKey, session_id: &str) -> bool {
        self.session_id == session_id && self.agent_id == key.agent().as_str()
    }

    /// How many of the messages of `page` were told; None where the conversation did not
    /// simply go on since, or has gone on too far.
    pub fn told(&self, page: Page<'_>) -> Option<usize> {
        let missed = usize::try_from(page.total.checked_sub(self.last_seq)?).ok()?;
        let told = page.entries.len().checked_sub(missed)?;
        let is_same = match told.checked_sub(1) {
            Some(last) => page.entries[last].id == self.generation,
            None => self.generation.is_empty() && !page.has_more,
        };
        (is_same && missed <= MESSAGES).then_some(told)
    }

    /// The same cursor where nothing that was missed can be told yet.
    #[must_use]
    pub fn or_after(self, later: Option<Self>) -> Self {
        later.unwrap_or(self)
    }
}

#[cfg(test)]
mod tests;
