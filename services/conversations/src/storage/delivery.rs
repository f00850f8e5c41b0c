//! Deliveries of a session: their route on its channel and their contents.

use openclaw_proto::event::Kind as Outcome;
use openclaw_proto::feed::Ended;
use openclaw_proto::gateway::{ChatKind, Route};
use openclaw_proto::outbox::{Extras, Kind, Place};
use openclaw_sessions::SessionKey;
use openclaw_sessions::store::SessionEntry;
use serde_json::{Map, Value, json};

use super::command::{ChannelReply, state_of};
use crate::outbox::NewDelivery;

/// Notes where on `channel` a session's answers go (OpenClaw's fields).
pub(super) fn note_route(entry: &mut SessionEntry, channel: &str, route: &Route) {
    let mut delivery = Map::from_iter([("to".to_owned(), json!(route.id))]);
    if !route.account.is_empty() {
        delivery.insert("accountId".to_owned(), json!(route.account));
    }
    if let Some(thread) = &route.thread {
        delivery.insert("threadId".to_owned(), json!(thread));
    }
    note_origin(entry, channel, &delivery);
    delivery.insert("channel".to_owned(), json!(channel));
    entry.set(Place::FIELD, delivery);
    entry.set("lastTo", route.id.clone());
    if route.chat != ChatKind::Direct {
        entry.set("channel", channel);
        entry.set("groupId", route.id.clone());
    }
}

/// Notes where on `channel` a session came from, once.
fn note_origin(entry: &mut SessionEntry, channel: &str, place: &Map<String, Value>) {
    let mut origin: Map<String, Value> = entry.get("origin").unwrap_or_default();
    if origin.get("provider").is_some_and(|it| it == channel) && !origin.contains_key("to") {
        origin.extend(place.clone());
        entry.set("origin", origin);
    }
}

/// The place on a channel for a session's answers, if there is one.
pub(super) fn place_of_session(entry: &SessionEntry) -> Option<Place> {
    let delivery: Value = entry.get(Place::FIELD)?;
    Place::of_session(&delivery)
}

/// A delivery of the gateway's own words to the place of the session.
pub(super) fn announcement(key: &SessionKey, name: &str, place: Place, text: &str) -> NewDelivery {
    NewDelivery {
        name: name.to_owned(),
        place,
        session_key: key.to_string(),
        agent_id: key.agent().to_string(),
        run_id: String::new(),
        kind: Kind::Announcement {
            text: text.to_owned(),
        },
        extras: Extras::default(),
        paths: Vec::new(),
    }
}

/// The answer to a message, before it is known how its run ended.
pub(super) struct Answers {
    place: Place,
    session_key: String,
    agent_id: String,
    run_id: String,
    text: String,
    extras: Extras,
    paths: Vec<String>,
}

impl Answers {
    /// None: the message came from no place on a channel.
    pub(super) fn of(
        run_id: &str,
        key: &SessionKey,
        reply: &ChannelReply,
        session: Option<&SessionEntry>,
    ) -> Option<Self> {
        let place = match &reply.route {
            Some(route) => Place::of_route(&reply.channel, route),
            None => session
                .and_then(place_of_session)
                .filter(|place| place.channel == reply.channel)?,
        };
        Some(Self {
            place,
            session_key: key.to_string(),
            agent_id: key.agent().to_string(),
            run_id: run_id.to_owned(),
            text: reply.text.clone(),
            extras: Extras {
                answers_id: reply
                    .route
                    .as_ref()
                    .and_then(|route| route.message.clone())
                    .unwrap_or_default(),
                ..reply.extras.clone()
            },
            paths: reply.paths.clone(),
        })
    }

    /// With the end of the run.
    pub(super) fn with(&self, outcome: &Outcome) -> NewDelivery {
        let ended = Ended::of(state_of(outcome), Some(outcome));
        NewDelivery {
            name: format!("reply {}", self.run_id),
            place: self.place.clone(),
            session_key: self.session_key.clone(),
            agent_id: self.agent_id.clone(),
            run_id: self.run_id.clone(),
            kind: Kind::Reply {
                text: self.text.clone(),
                state: ended.state,
                reason: ended.reason,
            },
            extras: self.extras.clone(),
            paths: self.paths.clone(),
        }
    }
}
