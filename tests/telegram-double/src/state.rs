//! What the double knows: updates that nobody confirmed, messages, faults to come.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::limits::Limits;

/// A call that was made.
#[derive(Debug, Clone)]
pub struct Call {
    /// The method.
    pub method: String,
    /// Its parameters.
    pub parameters: Value,
    /// The code of the answer; 0: none was given.
    pub code: u16,
}

/// A message that the bot has in a chat.
#[derive(Debug, Clone)]
pub struct Sent {
    /// The chat.
    pub chat: String,
    /// Its number.
    pub id: i64,
    /// What is read of it.
    pub text: String,
    /// What it was sent with.
    pub parameters: Value,
    /// Edits of it.
    pub edits: usize,
    /// It was taken back.
    pub is_deleted: bool,
}

/// What goes wrong.
#[derive(Debug, Clone)]
pub enum Fault {
    /// An answer instead of carrying it out.
    Refuse {
        /// As in HTTP.
        code: u16,
        /// Telegram's words.
        description: String,
        /// With a 429.
        retry_after: Option<u64>,
    },
    /// The connection breaks before anything is done.
    DropBefore,
    /// It is carried out, and the connection breaks after so many bytes of the
    /// answer, its head included; 0: it does not begin.
    DropAt(usize),
    /// It is carried out, and the answer comes when it is released.
    Hold,
    /// It is heard and not carried out before it is released, and then the connection
    /// breaks.
    HoldBefore,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    /// The bot's id.
    pub(crate) bot: i64,
    /// The one token that is valid.
    pub(crate) token: String,
    pub(crate) next_update: i64,
    /// Updates were not always numbered one after the other.
    pub(crate) has_random_numbers: bool,
    pub(crate) next_message: i64,
    pub(crate) updates: VecDeque<Value>,
    pub(crate) calls: Vec<Call>,
    pub(crate) sent: Vec<Sent>,
    /// Of each chat, which of those are there.
    of_chat: BTreeMap<String, Vec<usize>>,
    pub(crate) chats: BTreeSet<String>,
    /// Groups that became supergroups, with the id of those.
    pub(crate) moved: BTreeMap<String, i64>,
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// Where a server that runs with --local has them; empty: it does not.
    pub(crate) local_folder: String,
    pub(crate) faults: VecDeque<(String, Fault)>,
    pub(crate) limits: Limits,
    /// Presses that nobody answered.
    pub(crate) presses: BTreeSet<String>,
    /// How often what was held was released.
    pub(crate) releases: u64,
    pub(crate) webhook: Value,
    /// Counts polls: one that is not the last is ended.
    pub(crate) poll: u64,
    pub(crate) is_revoked: bool,
    pub(crate) commands: Value,
}

#[derive(Debug, Default)]
pub(crate) struct Shared {
    state: Mutex<State>,
    pub(crate) changed: Notify,
}

impl Shared {
    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Adds an update; its number.
    pub(crate) fn add(&mut self, mut update: Value) -> i64 {
        let id = self.next_update;
        self.next_update += 1;
        for kind in ["message", "edited_message", "channel_post"] {
            if let Some(chat) = update.get(kind).map(|it| it["chat"]["id"].to_string()) {
                self.chats.insert(chat);
            }
        }
        if let Some(press) = update["callback_query"]["id"].as_str() {
            self.presses.insert(press.to_owned());
        }
        update["update_id"] = id.into();
        self.updates.push_back(update);
        id
    }

    pub(crate) fn message_id(&mut self) -> i64 {
        self.next_message += 1;
        self.next_message
    }

    pub(crate) fn say(&mut self, sent: Sent) {
        let chat = self.of_chat.entry(sent.chat.clone()).or_default();
        chat.push(self.sent.len());
        self.sent.push(sent);
    }

    /// What the bot said in a chat, without what was taken back.
    pub(crate) fn sent_to(&self, chat: &str) -> Vec<Sent> {
        let indexes = self.of_chat.get(chat).into_iter().flatten();
        let sent = indexes.map(|index| &self.sent[*index]);
        sent.filter(|it| !it.is_deleted).cloned().collect()
    }

    /// The message of the bot in a chat that has this number.
    pub(crate) fn own(&mut self, chat: &str, id: i64) -> Option<&mut Sent> {
        let indexes = self.of_chat.get(chat)?;
        let index = indexes.iter().find(|index| self.sent[**index].id == id)?;
        self.sent.get_mut(*index).filter(|it| !it.is_deleted)
    }

    pub(crate) fn fault(&mut self, method: &str) -> Option<Fault> {
        let index = self.faults.iter().position(|(it, _)| it == method)?;
        self.faults.remove(index).map(|(_, fault)| fault)
    }

    pub(crate) fn webhook_url(&self) -> &str {
        self.webhook["url"].as_str().unwrap_or_default()
    }

    /// The next updates for a poll.
    pub(crate) fn polled(&mut self, asked: &Value) -> Vec<Value> {
        if let Some(offset) = asked["offset"].as_i64() {
            if offset < 0 {
                let kept = usize::try_from(-offset).unwrap_or_default();
                let gone = self.updates.len().saturating_sub(kept);
                self.updates.drain(..gone);
            } else {
                let is_confirmed = |update: &Value| update["update_id"].as_i64() < Some(offset);
                while self.updates.front().is_some_and(is_confirmed) {
                    self.updates.pop_front();
                }
                // Where numbers only grow, none of those behind is.
                if self.has_random_numbers {
                    self.updates.retain(|it| !is_confirmed(it));
                }
            }
        }
        let limit = asked["limit"].as_u64().unwrap_or(100).clamp(1, 100);
        let kinds = asked["allowed_updates"].as_array();
        let is_wanted = |update: &&Value| {
            kinds.is_none_or(|kinds| {
                kinds.is_empty()
                    || kinds.iter().any(|kind| update.get(kind.as_str().unwrap_or_default()).is_some())
                    // A kind that the poller cannot know of.
                    || update.get("telepathy").is_some()
            })
        };
        let wanted = self.updates.iter().filter(is_wanted);
        wanted
            .take(usize::try_from(limit).unwrap_or(100))
            .cloned()
            .collect()
    }

    pub(crate) fn info(&self) -> Value {
        let mut info = json!({"url": self.webhook_url(), "has_custom_certificate": false,
            "pending_update_count": self.updates.len()});
        if let Some(words) = self.webhook["error"].as_str() {
            info["last_error_message"] = words.into();
        }
        info
    }
}
