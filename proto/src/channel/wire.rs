//! Between the domain types of a channel and the wire's.

use super::{
    Abilities, AccountName, Answer, Attachment, Attend, Connection, HandIn, HandedIn, Health,
    Ignored, IgnoredCode, Message, Outcome, Person, Place, Press, Quoted, Reaction, Taken, What,
};
use crate::gateway::ChatKind;
use crate::invalid::Invalid;
use crate::wire::channel as wire;
use crate::wire::gateway;

impl From<wire::AttendRequest> for Attend {
    fn from(request: wire::AttendRequest) -> Self {
        let abilities = request.abilities.unwrap_or_default();
        Self {
            account: AccountName {
                channel: request.channel,
                account: request.account,
            },
            abilities: Abilities {
                can_edit: abilities.can_edit,
                has_buttons: abilities.has_buttons,
                has_threads: abilities.has_threads,
                has_reactions: abilities.has_reactions,
                can_send_files: abilities.can_send_files,
                text_limit: abilities.text_limit,
                markdown: abilities.markdown,
            },
        }
    }
}

impl From<Attend> for wire::AttendRequest {
    fn from(attend: Attend) -> Self {
        let abilities = attend.abilities;
        Self {
            channel: attend.account.channel,
            account: attend.account.account,
            abilities: Some(wire::Abilities {
                can_edit: abilities.can_edit,
                has_buttons: abilities.has_buttons,
                has_threads: abilities.has_threads,
                has_reactions: abilities.has_reactions,
                can_send_files: abilities.can_send_files,
                text_limit: abilities.text_limit,
                markdown: abilities.markdown,
            }),
        }
    }
}

impl TryFrom<wire::HandInRequest> for HandIn {
    type Error = Invalid;

    fn try_from(request: wire::HandInRequest) -> Result<Self, Invalid> {
        let missing = |field| Invalid::missing("HandInRequest", field);
        if request.key.is_empty() {
            return Err(missing("key"));
        }
        let place = request.place.ok_or_else(|| missing("place"))?;
        let what = request.what.ok_or_else(|| missing("what"))?;
        Ok(Self {
            account: AccountName {
                channel: request.channel,
                account: request.account,
            },
            key: request.key,
            place: place.try_into()?,
            sender: request.sender.unwrap_or_default().into(),
            sent_ms: request.sent_ms,
            what: what.into(),
        })
    }
}

impl From<HandIn> for wire::HandInRequest {
    fn from(hand_in: HandIn) -> Self {
        Self {
            channel: hand_in.account.channel,
            account: hand_in.account.account,
            key: hand_in.key,
            place: Some(hand_in.place.into()),
            sender: Some(hand_in.sender.into()),
            sent_ms: hand_in.sent_ms,
            what: Some(hand_in.what.into()),
        }
    }
}

impl TryFrom<wire::Place> for Place {
    type Error = Invalid;

    fn try_from(place: wire::Place) -> Result<Self, Invalid> {
        let chat = ChatKind::try_from(place.chat());
        let chat = chat.map_err(|_| Invalid::missing("Place", "chat"))?;
        if place.id.trim().is_empty() {
            return Err(Invalid::missing("Place", "id"));
        }
        Ok(Self {
            chat,
            id: place.id,
            thread: Some(place.thread).filter(|thread| !thread.is_empty()),
            title: place.title,
            former_id: place.former_id,
        })
    }
}

impl From<Place> for wire::Place {
    fn from(place: Place) -> Self {
        Self {
            chat: gateway::ChatKind::from(place.chat).into(),
            id: place.id,
            thread: place.thread.unwrap_or_default(),
            title: place.title,
            former_id: place.former_id,
        }
    }
}

impl From<wire::Person> for Person {
    fn from(person: wire::Person) -> Self {
        Self {
            id: person.id,
            user_name: person.user_name,
            display_name: person.display_name,
            is_bot: person.is_bot,
        }
    }
}

impl From<Person> for wire::Person {
    fn from(person: Person) -> Self {
        Self {
            id: person.id,
            user_name: person.user_name,
            display_name: person.display_name,
            is_bot: person.is_bot,
        }
    }
}

impl From<wire::hand_in_request::What> for What {
    fn from(what: wire::hand_in_request::What) -> Self {
        use wire::hand_in_request::What as W;
        match what {
            W::Message(message) => Self::Message(message.into()),
            W::Reaction(reaction) => Self::Reaction(Reaction {
                provider_id: reaction.provider_id,
                emoji: reaction.emoji,
                is_to_own: reaction.is_to_own,
            }),
            W::Press(press) => Self::Press(Press {
                data: press.data,
                provider_id: press.provider_id,
            }),
            W::Membership(wire::Membership { is_member }) => Self::Membership(is_member),
        }
    }
}

impl From<What> for wire::hand_in_request::What {
    fn from(what: What) -> Self {
        match what {
            What::Message(message) => Self::Message(message.into()),
            What::Reaction(reaction) => Self::Reaction(wire::Reaction {
                provider_id: reaction.provider_id,
                emoji: reaction.emoji,
                is_to_own: reaction.is_to_own,
            }),
            What::Press(press) => Self::Press(wire::Press {
                data: press.data,
                provider_id: press.provider_id,
            }),
            What::Membership(is_member) => Self::Membership(wire::Membership { is_member }),
        }
    }
}

impl From<wire::Message> for Message {
    fn from(message: wire::Message) -> Self {
        Self {
            text: message.text,
            provider_ids: message.provider_ids,
            is_to_bot: message.is_to_bot,
            is_edit: message.is_edit,
            reply_to: message.reply_to.map(|quoted| Quoted {
                provider_id: quoted.provider_id,
                text: quoted.text,
                sender: quoted.sender,
                is_own: quoted.is_own,
            }),
            attachments: message.attachments.into_iter().map(Into::into).collect(),
            texts: message.texts,
        }
    }
}

impl From<Message> for wire::Message {
    fn from(message: Message) -> Self {
        Self {
            text: message.text,
            provider_ids: message.provider_ids,
            is_to_bot: message.is_to_bot,
            is_edit: message.is_edit,
            reply_to: message.reply_to.map(|quoted| wire::Quoted {
                provider_id: quoted.provider_id,
                text: quoted.text,
                sender: quoted.sender,
                is_own: quoted.is_own,
            }),
            attachments: message.attachments.into_iter().map(Into::into).collect(),
            texts: message.texts,
        }
    }
}

impl From<wire::Attachment> for Attachment {
    fn from(attachment: wire::Attachment) -> Self {
        Self {
            file_id: attachment.file_id,
            kind: attachment.kind,
            mime_type: attachment.mime_type,
            name: attachment.name,
            size: attachment.size,
            missing: attachment.missing,
            is_waiting: attachment.is_waiting,
        }
    }
}

impl From<Attachment> for wire::Attachment {
    fn from(attachment: Attachment) -> Self {
        Self {
            file_id: attachment.file_id,
            kind: attachment.kind,
            mime_type: attachment.mime_type,
            name: attachment.name,
            size: attachment.size,
            missing: attachment.missing,
            is_waiting: attachment.is_waiting,
        }
    }
}

impl TryFrom<wire::HandInResponse> for Answer {
    type Error = Invalid;

    fn try_from(response: wire::HandInResponse) -> Result<Self, Invalid> {
        use wire::hand_in_response::Outcome as W;
        let missing = || Invalid::missing("HandInResponse", "outcome");
        let outcome = match response.outcome.ok_or_else(missing)? {
            W::Taken(taken) => Outcome::Taken(Taken {
                run_id: taken.run_id,
                session_key: taken.session_key,
                agent_id: taken.agent_id,
                is_command: taken.is_command,
            }),
            W::Ignored(ignored) => Outcome::Ignored(Ignored {
                code: IgnoredCode::parse(&ignored.code),
                reason: ignored.reason,
            }),
            W::Answered(wire::Answered { text }) => Outcome::Answered { text },
            W::FilesWanted(wire::FilesWanted {}) => return Ok(Self::FilesWanted),
        };
        Ok(Self::HandedIn(HandedIn {
            is_existing: response.existing,
            outcome,
        }))
    }
}

impl From<Answer> for wire::HandInResponse {
    fn from(answer: Answer) -> Self {
        use wire::hand_in_response::Outcome as W;
        let handed_in = match answer {
            Answer::HandedIn(handed_in) => handed_in,
            Answer::FilesWanted => {
                return Self {
                    existing: false,
                    outcome: Some(W::FilesWanted(wire::FilesWanted {})),
                };
            }
        };
        Self {
            existing: handed_in.is_existing,
            outcome: Some(match handed_in.outcome {
                Outcome::Taken(taken) => W::Taken(wire::Taken {
                    run_id: taken.run_id,
                    session_key: taken.session_key,
                    agent_id: taken.agent_id,
                    is_command: taken.is_command,
                }),
                Outcome::Ignored(ignored) => W::Ignored(wire::Ignored {
                    code: ignored.code.as_str().to_owned(),
                    reason: ignored.reason,
                }),
                Outcome::Answered { text } => W::Answered(wire::Answered { text }),
            }),
        }
    }
}

impl TryFrom<wire::ReportHealthRequest> for (AccountName, Health) {
    type Error = Invalid;

    fn try_from(request: wire::ReportHealthRequest) -> Result<Self, Invalid> {
        let unknown = || {
            let problem = format!("is {:?}, unknown", request.state);
            Invalid::because("ReportHealthRequest", "state", problem)
        };
        let state = Connection::parse(&request.state).ok_or_else(unknown)?;
        let account = AccountName {
            channel: request.channel,
            account: request.account,
        };
        let health = Health {
            state,
            identity: request.identity,
            last_contact_ms: request.last_contact_ms,
            last_error: request.last_error,
            last_error_ms: request.last_error_ms,
            backlog: request.backlog,
            notes: request.notes,
            waiting_until_ms: request.waiting_until_ms,
        };
        Ok((account, health))
    }
}

impl From<(AccountName, Health)> for wire::ReportHealthRequest {
    fn from((account, health): (AccountName, Health)) -> Self {
        Self {
            channel: account.channel,
            account: account.account,
            state: health.state.as_str().to_owned(),
            identity: health.identity,
            last_contact_ms: health.last_contact_ms,
            last_error: health.last_error,
            last_error_ms: health.last_error_ms,
            backlog: health.backlog,
            notes: health.notes,
            waiting_until_ms: health.waiting_until_ms,
        }
    }
}
