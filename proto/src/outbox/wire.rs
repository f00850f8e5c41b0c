//! Between the outbox's domain types and the wire's.

use super::{Button, DeliveredFile, Delivery, Extras, Kind, Outcome, Place, Report, Wanted};
use crate::gateway::ChatKind;
use crate::invalid::Invalid;
use crate::wire::gateway as wire;

impl From<wire::TakeDeliveriesRequest> for Wanted {
    fn from(request: wire::TakeDeliveriesRequest) -> Self {
        Self {
            channel: request.channel,
            account: request.account,
            lease_ms: request.lease_ms,
        }
    }
}

impl From<Wanted> for wire::TakeDeliveriesRequest {
    fn from(wanted: Wanted) -> Self {
        Self {
            channel: wanted.channel,
            account: wanted.account,
            lease_ms: wanted.lease_ms,
        }
    }
}

impl From<Delivery> for wire::Delivery {
    fn from(delivery: Delivery) -> Self {
        let (place, extras) = (delivery.place, delivery.extras);
        let chat = place.chat.map_or(wire::ChatKind::Unspecified, Into::into);
        Self {
            id: delivery.id,
            attempt: delivery.attempt,
            lease_until_ms: delivery.lease_until_ms,
            channel: place.channel,
            account: place.account,
            to: place.to,
            chat: chat.into(),
            thread: place.thread.unwrap_or_default(),
            session_key: delivery.session_key,
            agent_id: delivery.agent_id,
            run_id: delivery.run_id,
            created_ms: delivery.created_ms,
            kind: Some(delivery.kind.into()),
            files: extras.files.into_iter().map(Into::into).collect(),
            buttons: extras.buttons.into_iter().map(row).collect(),
            answers_id: extras.answers_id,
            reaction: extras.reaction,
        }
    }
}

fn row(buttons: Vec<Button>) -> wire::ButtonRow {
    let buttons = buttons.into_iter().map(|button| wire::Button {
        text: button.text,
        data: button.data,
        url: button.url,
    });
    wire::ButtonRow {
        buttons: buttons.collect(),
    }
}

fn buttons(row: wire::ButtonRow) -> Vec<Button> {
    let buttons = row.buttons.into_iter().map(|button| Button {
        text: button.text,
        data: button.data,
        url: button.url,
    });
    buttons.collect()
}

impl From<DeliveredFile> for wire::DeliveredFile {
    fn from(file: DeliveredFile) -> Self {
        Self {
            name: file.name,
            mime_type: file.mime_type,
            size: file.size,
            is_voice: file.is_voice,
        }
    }
}

impl From<wire::DeliveredFile> for DeliveredFile {
    fn from(file: wire::DeliveredFile) -> Self {
        Self {
            name: file.name,
            mime_type: file.mime_type,
            size: file.size,
            is_voice: file.is_voice,
        }
    }
}

impl TryFrom<wire::Delivery> for Delivery {
    type Error = Invalid;

    fn try_from(delivery: wire::Delivery) -> Result<Self, Invalid> {
        let chat = ChatKind::try_from(delivery.chat()).ok();
        let kind = delivery.kind.ok_or(Invalid::missing("Delivery", "kind"))?;
        Ok(Self {
            id: delivery.id,
            attempt: delivery.attempt,
            lease_until_ms: delivery.lease_until_ms,
            place: Place {
                channel: delivery.channel,
                account: delivery.account,
                to: delivery.to,
                chat,
                thread: Some(delivery.thread).filter(|thread| !thread.is_empty()),
            },
            session_key: delivery.session_key,
            agent_id: delivery.agent_id,
            run_id: delivery.run_id,
            created_ms: delivery.created_ms,
            kind: kind.into(),
            extras: Extras {
                files: delivery.files.into_iter().map(Into::into).collect(),
                buttons: delivery.buttons.into_iter().map(buttons).collect(),
                answers_id: delivery.answers_id,
                reaction: delivery.reaction,
            },
        })
    }
}

impl From<Kind> for wire::delivery::Kind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Reply {
                text,
                state,
                reason,
            } => Self::Reply(wire::RunReply {
                text,
                state,
                reason,
            }),
            Kind::Edit {
                delivery_id,
                provider_ids,
                text,
            } => Self::Edit(wire::EditDelivered {
                delivery_id,
                provider_ids,
                text,
            }),
            Kind::Question {
                id,
                tool,
                command,
                cwd,
                reason,
                expires_ms,
                can_be_always,
                origin,
                only_once,
            } => Self::Question(wire::ApprovalQuestion {
                id,
                tool,
                command,
                cwd,
                reason,
                expires_ms,
                can_be_always,
                origin,
                only_once,
            }),
            Kind::Announcement { text } => Self::Announcement(wire::AnnouncementText { text }),
            Kind::Typing => Self::Typing(wire::Typing {}),
        }
    }
}

impl From<wire::delivery::Kind> for Kind {
    fn from(kind: wire::delivery::Kind) -> Self {
        use wire::delivery::Kind as W;
        match kind {
            W::Reply(reply) => Self::Reply {
                text: reply.text,
                state: reply.state,
                reason: reply.reason,
            },
            W::Edit(edit) => Self::Edit {
                delivery_id: edit.delivery_id,
                provider_ids: edit.provider_ids,
                text: edit.text,
            },
            W::Question(question) => Self::Question {
                id: question.id,
                tool: question.tool,
                command: question.command,
                cwd: question.cwd,
                reason: question.reason,
                expires_ms: question.expires_ms,
                can_be_always: question.can_be_always,
                origin: question.origin,
                only_once: question.only_once,
            },
            W::Announcement(wire::AnnouncementText { text }) => Self::Announcement { text },
            W::Typing(wire::Typing {}) => Self::Typing,
        }
    }
}

impl TryFrom<wire::ReportDeliveryRequest> for Report {
    type Error = Invalid;

    fn try_from(request: wire::ReportDeliveryRequest) -> Result<Self, Invalid> {
        use wire::report_delivery_request::Outcome as W;
        let missing = || Invalid::missing("ReportDeliveryRequest", "outcome");
        let outcome = match request.outcome.ok_or_else(missing)? {
            W::Delivered(wire::Delivered { provider_ids }) => Outcome::Delivered(provider_ids),
            W::TryAgain(wire::TryAgain { at_ms, reason }) => Outcome::TryAgain { at_ms, reason },
            W::Undeliverable(wire::Undeliverable { reason }) => Outcome::Undeliverable(reason),
        };
        Ok(Self {
            id: request.id,
            attempt: request.attempt,
            outcome,
        })
    }
}

impl From<Report> for wire::ReportDeliveryRequest {
    fn from(report: Report) -> Self {
        use wire::report_delivery_request::Outcome as W;
        Self {
            id: report.id,
            attempt: report.attempt,
            outcome: Some(match report.outcome {
                Outcome::Delivered(provider_ids) => W::Delivered(wire::Delivered { provider_ids }),
                Outcome::TryAgain { at_ms, reason } => {
                    W::TryAgain(wire::TryAgain { at_ms, reason })
                }
                Outcome::Undeliverable(reason) => W::Undeliverable(wire::Undeliverable { reason }),
            }),
        }
    }
}
