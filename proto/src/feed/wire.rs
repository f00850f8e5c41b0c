//! Between the feed's domain types and the wire's.

use super::{Answers, Change, Ended, Entry, Event, FeedItem, Kind, Role, Selector, Subscription};
use crate::gateway::Route;
use crate::invalid::Invalid;
use crate::wire::gateway as wire;

impl TryFrom<wire::SubscribeRequest> for Subscription {
    type Error = Invalid;

    fn try_from(request: wire::SubscribeRequest) -> Result<Self, Invalid> {
        use wire::subscribe_request::Selector as W;
        let selector = match request.selector {
            Some(W::SessionKey(key)) => Selector::Session(key),
            Some(W::AgentId(agent)) => Selector::Agent(agent),
            Some(W::Everything(true)) => Selector::Everything,
            Some(W::Everything(false)) | None => {
                return Err(Invalid::missing("SubscribeRequest", "selector"));
            }
        };
        Ok(Self {
            selector,
            after: request.after_sequence,
            epoch: request.epoch,
            without_live: request.without_live,
        })
    }
}

impl From<Subscription> for wire::SubscribeRequest {
    fn from(subscription: Subscription) -> Self {
        use wire::subscribe_request::Selector as W;
        Self {
            selector: Some(match subscription.selector {
                Selector::Everything => W::Everything(true),
                Selector::Agent(agent) => W::AgentId(agent),
                Selector::Session(key) => W::SessionKey(key),
            }),
            after_sequence: subscription.after,
            epoch: subscription.epoch,
            without_live: subscription.without_live,
        }
    }
}

impl From<FeedItem> for wire::SubscribeResponse {
    fn from(told: FeedItem) -> Self {
        use wire::subscribe_response::Kind as W;
        Self {
            kind: Some(match told {
                FeedItem::Opened { epoch, sequence } => W::Opened(wire::Opened { epoch, sequence }),
                FeedItem::Gap {
                    after_sequence,
                    through_sequence,
                    reason,
                } => W::Gap(wire::Gap {
                    after_sequence,
                    through_sequence,
                    reason,
                }),
                FeedItem::Event(event) => W::Event(event.into()),
                FeedItem::Live {
                    sequence,
                    session_key,
                    agent_id,
                    event,
                } => W::Live(wire::Live {
                    sequence,
                    session_key,
                    agent_id,
                    event: Some(event.into()),
                }),
                FeedItem::CaughtUp { sequence } => W::CaughtUp(wire::CaughtUp { sequence }),
            }),
        }
    }
}

impl TryFrom<wire::SubscribeResponse> for FeedItem {
    type Error = Invalid;

    fn try_from(response: wire::SubscribeResponse) -> Result<Self, Invalid> {
        use wire::subscribe_response::Kind as W;
        let missing = || Invalid::missing("SubscribeResponse", "kind");
        Ok(match response.kind.ok_or_else(missing)? {
            W::Opened(wire::Opened { epoch, sequence }) => Self::Opened { epoch, sequence },
            W::Gap(gap) => Self::Gap {
                after_sequence: gap.after_sequence,
                through_sequence: gap.through_sequence,
                reason: gap.reason,
            },
            W::Event(event) => Self::Event(event.try_into()?),
            W::Live(live) => Self::Live {
                sequence: live.sequence,
                session_key: live.session_key,
                agent_id: live.agent_id,
                event: live
                    .event
                    .ok_or(Invalid::missing("Live", "event"))?
                    .try_into()?,
            },
            W::CaughtUp(wire::CaughtUp { sequence }) => Self::CaughtUp { sequence },
        })
    }
}

impl From<Event> for wire::SessionEvent {
    fn from(event: Event) -> Self {
        Self {
            sequence: event.sequence,
            at_ms: event.at_ms,
            agent_id: event.agent_id,
            session_key: event.session_key,
            run_id: event.run_id,
            kind: Some(event.kind.into()),
        }
    }
}

impl TryFrom<wire::SessionEvent> for Event {
    type Error = Invalid;

    fn try_from(event: wire::SessionEvent) -> Result<Self, Invalid> {
        let kind = event
            .kind
            .ok_or(Invalid::missing("SessionEvent", "kind"))?
            .try_into()?;
        Ok(Self {
            sequence: event.sequence,
            at_ms: event.at_ms,
            agent_id: event.agent_id,
            session_key: event.session_key,
            run_id: event.run_id,
            kind,
        })
    }
}

impl From<Kind> for wire::session_event::Kind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::MessageAccepted {
                entry_id,
                session_id,
                channel,
                route,
            } => Self::MessageAccepted(wire::MessageAccepted {
                entry_id,
                session_id,
                channel,
                route: route.map(Into::into),
            }),
            Kind::RunStarted => Self::RunStarted(wire::RunStarted {}),
            Kind::EntryAppended(entry) => Self::EntryAppended(entry.into()),
            Kind::RunEnded(ended) => Self::RunEnded((*ended).into()),
            Kind::ApprovalAsked {
                id,
                tool,
                command,
                expires_ms,
            } => Self::ApprovalAsked(wire::ApprovalAsked {
                id,
                tool,
                command,
                expires_ms,
            }),
            Kind::ApprovalDecided { id, decision, by } => {
                Self::ApprovalDecided(wire::ApprovalDecided { id, decision, by })
            }
            Kind::SessionChanged { change, reason } => Self::SessionChanged(wire::SessionChanged {
                change: change.as_str().to_owned(),
                reason,
            }),
            Kind::SystemEvent { text } => Self::SystemEvent(wire::SystemEvent { text }),
            Kind::Announcement { entry_id } => Self::Announcement(wire::Announcement { entry_id }),
        }
    }
}

impl TryFrom<wire::session_event::Kind> for Kind {
    type Error = Invalid;

    fn try_from(kind: wire::session_event::Kind) -> Result<Self, Invalid> {
        use wire::session_event::Kind as W;
        Ok(match kind {
            W::MessageAccepted(accepted) => Self::MessageAccepted {
                entry_id: accepted.entry_id,
                session_id: accepted.session_id,
                channel: accepted.channel,
                route: accepted.route.map(Route::try_from).transpose()?,
            },
            W::RunStarted(wire::RunStarted {}) => Self::RunStarted,
            W::EntryAppended(entry) => Self::EntryAppended(entry.try_into()?),
            W::RunEnded(ended) => Self::RunEnded(Box::new(ended.into())),
            W::ApprovalAsked(asked) => Self::ApprovalAsked {
                id: asked.id,
                tool: asked.tool,
                command: asked.command,
                expires_ms: asked.expires_ms,
            },
            W::ApprovalDecided(wire::ApprovalDecided { id, decision, by }) => {
                Self::ApprovalDecided { id, decision, by }
            }
            W::SessionChanged(changed) => Self::SessionChanged {
                change: change(&changed.change)?,
                reason: changed.reason,
            },
            W::SystemEvent(wire::SystemEvent { text }) => Self::SystemEvent { text },
            W::Announcement(wire::Announcement { entry_id }) => Self::Announcement { entry_id },
        })
    }
}

fn change(name: &str) -> Result<Change, Invalid> {
    let found = Change::ALL.into_iter().find(|it| it.as_str() == name);
    found.ok_or_else(|| {
        Invalid::because("SessionChanged", "change", format!("is {name:?}, unknown"))
    })
}

impl From<Entry> for wire::EntryAppended {
    fn from(entry: Entry) -> Self {
        let role = entry.role.as_str().to_owned();
        match entry.answers {
            None => Self {
                entry_id: entry.entry_id,
                role,
                ..Self::default()
            },
            Some(answers) => Self {
                entry_id: entry.entry_id,
                role,
                tool: answers.tool,
                call_id: answers.call_id,
                success: answers.success,
            },
        }
    }
}

impl TryFrom<wire::EntryAppended> for Entry {
    type Error = Invalid;

    fn try_from(entry: wire::EntryAppended) -> Result<Self, Invalid> {
        let roles = [Role::User, Role::Assistant, Role::Tool];
        let role = roles.into_iter().find(|role| role.as_str() == entry.role);
        let role = role.ok_or_else(|| {
            let problem = format!("is {:?}, unknown", entry.role);
            Invalid::because("EntryAppended", "role", problem)
        })?;
        let answers = (role == Role::Tool).then_some(Answers {
            tool: entry.tool,
            call_id: entry.call_id,
            success: entry.success,
        });
        Ok(Self {
            entry_id: entry.entry_id,
            role,
            answers,
        })
    }
}

impl From<Ended> for wire::RunEnded {
    fn from(ended: Ended) -> Self {
        Self {
            state: ended.state,
            reason: ended.reason,
            code: ended.code,
            provider: ended.provider,
            model: ended.model,
            backend: ended.backend,
            resources: ended.resources.map(Into::into),
            input_tokens: ended.input_tokens,
            output_tokens: ended.output_tokens,
            cost_usd: ended.cost_usd,
        }
    }
}

impl From<wire::RunEnded> for Ended {
    fn from(ended: wire::RunEnded) -> Self {
        Self {
            state: ended.state,
            reason: ended.reason,
            code: ended.code,
            provider: ended.provider,
            model: ended.model,
            backend: ended.backend,
            resources: ended.resources.map(Into::into),
            input_tokens: ended.input_tokens,
            output_tokens: ended.output_tokens,
            cost_usd: ended.cost_usd,
        }
    }
}
