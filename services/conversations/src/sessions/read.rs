//! Reading conversations.

use std::path::PathBuf;

use openclaw_proto::sessions::{Item, Preview, PreviewItem, Reading, Said};
use openclaw_sessions::reading::{self, Paged};
use openclaw_sessions::transcript::{Entry, Message};
use openclaw_sessions::{Error, SessionKey};

use super::Sessions;
use crate::refusal::Refusal;
use crate::storage::{Fault, Shown};

pub use openclaw_sessions::reading::Wanted;

/// Messages of one answer when nobody says how many.
const DEFAULT_LIMIT: usize = 50;

/// Messages of a session as they are in its transcript.
#[derive(Debug)]
pub struct History {
    /// Oldest first.
    pub entries: Vec<Entry>,
    /// Messages of the whole transcript.
    pub total: u64,
    /// Whether what is wanted goes on before the first of them.
    pub has_more: bool,
}

/// The index entry of a session whose transcript is to be read.
pub(super) struct Located {
    pub(super) session: openclaw_proto::sessions::Session,
    pub(super) entry: serde_json::Map<String, serde_json::Value>,
    pub(super) transcript: PathBuf,
    pub(super) is_counted: bool,
}

impl Sessions {
    /// The messages that `wanted` names, with everything the transcript has of
    /// them. Those of the conversation as it is: other branches are left out.
    pub async fn history(&self, key: &SessionKey, wanted: Wanted) -> Result<History, Refusal> {
        let found = self.get(key).await?;
        let transcript = self.find(key).await?.transcript;
        let limit = limit_of(wanted.limit);
        let page = self.page(transcript, Wanted { limit, ..wanted }).await?;
        let entries = page.entries.into_iter().filter_map(|entry| match entry {
            Paged::Message(entry) => Some(*entry),
            Paged::Reset | Paged::Compaction(_) => None,
        });
        Ok(History {
            entries: entries.collect(),
            total: found.session.message_count,
            has_more: page.has_more,
        })
    }

    /// What the run `run_id` has in the transcript, with each message's place
    /// among all; of a long run the end.
    pub async fn of_run(
        &self,
        key: &SessionKey,
        run_id: &str,
    ) -> Result<Vec<(u64, Entry)>, Refusal> {
        let wanted = Wanted {
            skip: 0,
            limit: DEFAULT_LIMIT,
            all: true,
        };
        let history = self.history(key, wanted).await?;
        let before = history.total - history.total.min(history.entries.len() as u64);
        let numbered = (before + 1..).zip(history.entries);
        Ok(numbered
            .filter(|(_, entry)| entry.message.run_id() == Some(run_id))
            .collect())
    }

    /// The conversation as people read it (seed 001, phase 3).
    pub async fn read(&self, key: &SessionKey, wanted: Wanted) -> Result<Reading, Refusal> {
        let found = self.find(key).await?;
        let reading = self
            .read_file(found.session.id, found.transcript, wanted)
            .await?;
        Ok(Reading {
            key: key.to_string(),
            ..reading
        })
    }

    /// The conversation of a transcript that belongs to no session.
    pub(super) async fn read_file(
        &self,
        id: String,
        transcript: PathBuf,
        wanted: Wanted,
    ) -> Result<Reading, Refusal> {
        let limit = limit_of(wanted.limit);
        let page = self.page(transcript.clone(), Wanted { limit, ..wanted });
        let page = page.await?;
        let aside = self.keep_aside(&transcript, &page.corrupt).await;
        Ok(Reading {
            id,
            corrupt_lines: u32::try_from(page.corrupt.len()).unwrap_or(u32::MAX),
            corrupt_copy: aside.map(|path| path.display().to_string()),
            items: page.entries.iter().flat_map(items).collect(),
            has_more: page.has_more,
            ..Reading::default()
        })
    }

    /// The last `limit` things said in each of the sessions, each of at most
    /// `characters`.
    pub async fn preview(
        &self,
        keys: &[SessionKey],
        limit: usize,
        characters: usize,
    ) -> Result<Vec<Preview>, Refusal> {
        let mut previews = Vec::new();
        for key in keys {
            let wanted = Wanted {
                skip: 0,
                limit: limit.saturating_mul(2).clamp(1, reading::PAGE_LIMIT),
                all: false,
            };
            let reading = match self.read(key, wanted).await {
                Ok(reading) => Some(reading),
                Err(Refusal::UnknownSession(_)) => None,
                Err(refusal) => return Err(refusal),
            };
            let found = reading.is_some();
            let items = reading.map(|reading| reading.items).unwrap_or_default();
            let mut items: Vec<_> = items.into_iter().filter_map(words).collect();
            items.drain(..items.len().saturating_sub(limit));
            for item in &mut items {
                if let Some((end, _)) = item.text.char_indices().nth(characters) {
                    item.text.truncate(end);
                }
            }
            previews.push(Preview {
                key: key.to_string(),
                found,
                items,
            });
        }
        Ok(previews)
    }

    pub(super) async fn find(&self, key: &SessionKey) -> Result<Located, Refusal> {
        let shown = self.storage.show(key.clone()).await;
        let Some(shown) = shown.map_err(Refusal::Unreadable)? else {
            return Err(Refusal::unknown(key));
        };
        let Shown {
            session,
            entry,
            transcript,
            is_counted,
        } = shown;
        Ok(Located {
            session,
            entry,
            transcript,
            is_counted,
        })
    }

    async fn page(&self, transcript: PathBuf, wanted: Wanted) -> Result<reading::Page, Refusal> {
        blocking(move || reading::page(&transcript, wanted)).await
    }
}

fn limit_of(wanted: usize) -> usize {
    match wanted {
        0 => DEFAULT_LIMIT,
        limit => limit.min(reading::PAGE_LIMIT),
    }
}

/// Reads files where waiting for the disk holds nobody up.
pub(super) async fn blocking<T: Send + 'static>(
    read: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Refusal> {
    let read = tokio::task::spawn_blocking(read).await;
    read.map_err(|_| Refusal::Unreadable(Fault::Stopped))?
        .map_err(|error| Refusal::Unreadable(error.into()))
}

fn items(entry: &Paged) -> Vec<Item> {
    let entry = match entry {
        Paged::Message(entry) => entry,
        Paged::Reset => return vec![marker(Said::Reset)],
        Paged::Compaction(summary) => {
            return vec![marker(Said::Compaction {
                summary: summary.clone(),
            })];
        }
    };
    let at_ms = at(&entry.message, &entry.timestamp);
    let said = reading::items(&entry.message).into_iter().map(said);
    said.map(|said| Item { at_ms, said }).collect()
}

fn at(message: &Message, timestamp: &str) -> i64 {
    match message.timestamp() {
        0 => openclaw_sessions::unix_ms(timestamp).unwrap_or_default(),
        at => at,
    }
}

fn marker(said: Said) -> Item {
    Item { at_ms: 0, said }
}

fn said(item: reading::Item) -> Said {
    match item {
        reading::Item::User(text) => Said::User { text },
        reading::Item::Assistant(text) => Said::Assistant { text },
        reading::Item::Tool { name, argument } => Said::Tool {
            name,
            argument: argument.unwrap_or_default(),
        },
        reading::Item::Result { name, is_error } => Said::Result {
            name,
            error: is_error,
        },
    }
}

fn words(item: Item) -> Option<PreviewItem> {
    let (role, text) = match item.said {
        Said::User { text } => ("user", text),
        Said::Assistant { text } => ("assistant", text),
        _ => return None,
    };
    Some(PreviewItem {
        role: role.to_owned(),
        text,
    })
}
