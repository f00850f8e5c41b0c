//! Accepting a message: its entry, its session, its row in the ledger.

use std::sync::Arc;

use openclaw_config::room;
use openclaw_proto::feed;
use openclaw_proto::outbox::Place;
use openclaw_sessions::now_ms;
use openclaw_sessions::store::SessionEntry;
use openclaw_sessions::transcript::{Draft, Marker, Message, UserMessage};
use openclaw_settings::{SendTarget, SessionSettings};
use serde_json::{Value, json};

use super::command::{Acceptance, Admitted, Incoming, Intent};
use super::delivery;
use super::ledger::{Change, Record};
use super::policy::{self, Anew};
use super::state_files::{StateFiles, changed, overrides_of};
use super::work::Done;
use crate::fault::Fault;

/// The transcript's name for a message that only begins the conversation anew.
pub const RESET_COMMAND: &str = "reset";

impl StateFiles {
    /// Whether nothing may be sent to the session: as it says itself, else as
    /// the configuration does.
    fn is_blocked(&mut self, incoming: &Incoming) -> Result<bool, Fault> {
        let key = &incoming.key;
        let entry = self.session_files.store(key.agent())?.get(key);
        let own = entry.and_then(|entry| entry.text("sendPolicy").map(str::to_owned));
        let settings = self.session_files.settings();
        let policy = &settings.session.send_policy;
        Ok(match own.as_deref() {
            Some("deny") => true,
            Some("allow") => false,
            _ => policy.denies(&SendTarget {
                key: key.as_str(),
                channels: [Some(&incoming.channel), key.channel()],
                chat_type: key.chat_type(),
            }),
        })
    }

    /// Appends the message to its transcript and enters its session; its row is in the ledger
    /// when that is on disk.
    pub(super) fn accept(&mut self, incoming: Incoming) -> Result<Done<Acceptance>, Fault> {
        if let Some(key) = &incoming.idempotency_key {
            let mut known = self.ledger.by_idempotency_key(key);
            if matches!(known, Ok(None)) && *key == incoming.run_id {
                known = self.ledger.by_run_id(key);
            }
            if let Some(record) = known.map_err(self.of_ledger())? {
                return Ok(Done::looking(Acceptance::Existing(Box::new(record))));
            }
        }
        let state = &self.session_files.settings().paths.state;
        room::check(state).map_err(|short| Fault::NoRoom(Arc::new(short)))?;
        // A command is no message to anybody.
        if incoming.command.is_none() && self.is_blocked(&incoming)? {
            return Err(Fault::Blocked);
        }
        let now = now_ms();
        let settings = self.session_files.settings();
        let anew = self.anew(&settings.session, &incoming, now)?;
        let said = match &anew {
            None if incoming.command.is_some() => Intent::Command,
            None => Intent::Text(incoming.text.clone()),
            Some(anew) => anew.text.clone().map_or(Intent::Reset, Intent::Text),
        };
        let drafts = drafts(&incoming, anew.as_ref(), &said, now);
        let before = self
            .session_files
            .store(incoming.key.agent())?
            .get(&incoming.key);
        let before = before.cloned();
        let appended = self.append(&incoming.key, drafts)?;
        let (entry, _) = self.session_files.session(&incoming.key, now)?;
        if anew.is_some() {
            entry.reset(now);
        }
        entry.touch(now);
        if said != Intent::Command {
            for field in ["archivedAt", "archivedBy", "archiveReason"] {
                entry.clear(field);
            }
            entry.set("lastInteractionAt", now);
        }
        note_channel(entry, &incoming.channel, incoming.key.chat_type());
        if let Some(route) = &incoming.route {
            delivery::note_route(entry, &incoming.channel, route);
        }
        let overrides = overrides_of(entry);
        self.home.asked(&incoming, &said, anew.is_some(), now);
        let user_entry_id = appended.ids.last().cloned().unwrap_or_default();
        let session_id = entry.session_id().to_owned();
        let (key, run_id) = (incoming.key.clone(), incoming.run_id.clone());
        let anew = anew.map(|anew| changed(&key, feed::Change::Reset, anew.reason, now));
        let options = incoming.options.kept();
        let record = record(incoming, session_id, user_entry_id, now);
        let admitted = Admitted {
            accepted: record.accepted(),
            transcript: appended.written.file.clone(),
            said,
            overrides,
        };
        let acceptance = Acceptance::New(Box::new(admitted));
        let file = Some(appended.written.file.clone());
        let done = Done::looking(acceptance).appending(file);
        let done = done.undone_by(move |state_files| {
            state_files.retract(&appended.written);
            state_files.home.withdrawn(&run_id);
            state_files.put_back(&key, before);
        });
        let done = anew.into_iter().fold(done, Done::telling);
        Ok(Change::entering(record, options.as_ref()).fold(done, Done::noting))
    }

    /// Whether the message begins its conversation anew, by what it says or by when it comes.
    fn anew(
        &mut self,
        settings: &SessionSettings,
        incoming: &Incoming,
        now: i64,
    ) -> Result<Option<Anew>, Fault> {
        if incoming.command.is_some() {
            return Ok(None);
        }
        let asked = policy::asked(settings, &incoming.text);
        if let Some(asked) = asked.filter(|_| incoming.may_begin_anew) {
            return Ok(Some(asked));
        }
        let store = self.session_files.store(incoming.key.agent())?;
        let Some(entry) = store.get(&incoming.key) else {
            return Ok(None);
        };
        let due = policy::is_due(settings, &incoming.key, &incoming.channel, entry, now);
        Ok(due.map(|reason| Anew {
            reason,
            text: Some(incoming.text.clone()),
        }))
    }
}

/// Channels of turns that nobody asks for in a conversation.
const OF_PROGRAMS: [&str; 4] = ["cron", "heartbeat", "hook", "system"];

/// Where a session's answers go, and where it came from (OpenClaw's fields). What a program
/// begins is told where people were last.
fn note_channel(entry: &mut SessionEntry, channel: &str, chat_type: &str) {
    entry.set("lastChannel", channel);
    let delivery: Option<Value> = entry.get(Place::FIELD);
    // With the same channel it may say more: an account, a thread.
    let is_elsewhere = |it: &Value| it["channel"] != channel && !OF_PROGRAMS.contains(&channel);
    if delivery.as_ref().is_none_or(is_elsewhere) {
        entry.set(Place::FIELD, json!({ "channel": channel }));
    }
    if entry.get::<Value>("origin").is_none() {
        let origin = json!({
            "provider": channel,
            "surface": channel,
            "chatType": chat_type,
        });
        entry.set("origin", origin);
    }
}

/// The entries of a message, the user's last.
fn drafts(incoming: &Incoming, anew: Option<&Anew>, said: &Intent, now: i64) -> Vec<Draft> {
    let mut drafts = Vec::new();
    if let Some(anew) = anew {
        drafts.push(Draft::from(Marker::Reset {
            reason: anew.reason.to_owned(),
        }));
    }
    let text = match said {
        Intent::Text(text) => text,
        Intent::Reset | Intent::Command => &incoming.text,
    };
    let user = UserMessage::of_run(&incoming.run_id, text.as_str(), now);
    let mut message = Message::User(user);
    message.set_arrival(&incoming.channel, incoming.idempotency_key.as_deref());
    let route = incoming.route.as_ref();
    if let Some(route) = route.and_then(|route| serde_json::to_value(route).ok()) {
        message.set_route(route);
    }
    if let Some(options) = incoming.options.kept() {
        message.set_turn_options(options);
    }
    if *said == Intent::Reset {
        message.set_command(RESET_COMMAND);
    } else if let Some(command) = incoming.command {
        message.set_command(command);
    }
    drafts.push(message.into());
    drafts
}

fn record(incoming: Incoming, session_id: String, user_entry_id: String, now: i64) -> Record {
    Record {
        run_id: incoming.run_id,
        idempotency_key: incoming.idempotency_key,
        session_key: incoming.key.to_string(),
        agent_id: incoming.key.agent().to_string(),
        session_id,
        channel: incoming.channel,
        state: "accepted".to_owned(),
        user_entry_id,
        created_ms: now,
        ended_ms: None,
        outcome: None,
        route: incoming.route,
    }
}
