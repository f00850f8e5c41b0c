//! The gateway, seen from its clients.

mod turn;

pub use turn::Turn;

use std::fmt;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use tokio_stream::{Stream, StreamExt as _};

use crate::address::{self, Channel};
use crate::approval::{Approval, Approvals, Decision};
use crate::call::CallError;
use crate::event::Event;
use crate::invalid::Invalid;
use crate::shown::Shown;
use crate::wire::gateway as wire;
use wire::gateway_client::GatewayClient;

/// A message to a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Message {
    /// Not empty.
    pub text: String,
    /// Empty: the agent's main session.
    pub session_key: String,
    /// Empty: the agent the key names, or the default agent.
    pub agent_id: String,
    /// The same key again returns the same run. Empty: a new run.
    pub idempotency_key: String,
    /// Where it came from.
    pub channel: String,
    /// Where on the channel; says the session when no key is given.
    pub route: Option<Route>,
}

/// The gateway has the message; its user entry is durable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Accepted {
    /// The run that answers it.
    pub run_id: String,
    /// Canonical session key.
    pub session_key: String,
    /// The session's id.
    pub session_id: String,
    /// The agent.
    pub agent_id: String,
    /// True when the idempotency key named a run that was there already.
    pub existing: bool,
}

/// What the gateway says of the configuration's file where it answers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConfigurationSeen {
    /// Why the file is not used as it is, and what is used instead; empty: it is
    /// used.
    pub problem: String,
    /// When it began to read the file, in Unix milliseconds; 0: it does not say.
    pub read_ms: i64,
}

/// A file that is in an agent's workspace.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attached {
    /// Where, beneath the workspace.
    pub path: String,
    /// What a message says of it.
    pub words: String,
}

/// Bytes of one file that is attached: with what is around it, it fits into one gRPC
/// message.
pub const ATTACHMENT_LIMIT: usize = 12 * 1024 * 1024;

/// What the gateway answers to a message.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// Always first.
    Accepted(Accepted, ConfigurationSeen, Shown),
    /// Then the run's events, the terminal one last.
    Event(Event),
}

/// Where on its channel a message came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Route {
    /// The bot's account; empty: the channel's default one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub account: String,
    /// The kind of chat.
    pub chat: ChatKind,
    /// The person, group, channel or room.
    pub id: String,
    /// The thread or topic in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// Who says it; None: in a direct chat the one it is with, elsewhere nobody
    /// is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<String>,
    /// What the channel calls the chat now, which may have become another one; None: it
    /// is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub present_id: Option<String>,
    /// What the channel calls the message; None: it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What people call who says it; None: it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_name: Option<String>,
    /// What people call the chat; None: it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
}

/// A kind of chat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChatKind {
    /// With one person.
    Direct,
    /// With several.
    Group,
    /// What the channel calls a channel.
    Channel,
    /// What the channel calls a room.
    Room,
}

/// What clients over TCP must know.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken {
    /// `token`, `password` or `none`.
    pub mode: String,
    /// The secret, if there is one.
    pub token: Option<String>,
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "AccessToken({})", self.mode)
    }
}

/// A client of the gateway. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client(GatewayClient<Channel>);

impl Client {
    /// A client of the gateway at `socket`; it connects on first use.
    pub fn new(socket: PathBuf) -> Self {
        Self(
            GatewayClient::new(address::channel(socket))
                .max_decoding_message_size(crate::MESSAGE_LIMIT)
                .max_encoding_message_size(crate::MESSAGE_LIMIT),
        )
    }

    /// Sends a message; the first reply is [`Reply::Accepted`].
    pub async fn send_message(
        &self,
        message: Message,
    ) -> Result<impl Stream<Item = Result<Reply, CallError>> + Send + use<>, CallError> {
        let request: wire::SendMessageRequest = message.into();
        let stream = self.0.clone().send_message(request).await?.into_inner();
        Ok(stream.map(|reply| Reply::try_from(reply?).map_err(CallError::from)))
    }

    /// Puts a file where the agent that answers a session has what came with messages.
    pub async fn put_attachment(
        &self,
        session_key: &str,
        agent_id: &str,
        name: &str,
        content: Vec<u8>,
    ) -> Result<Attached, CallError> {
        let request = wire::PutAttachmentRequest {
            session_key: session_key.to_owned(),
            agent_id: agent_id.to_owned(),
            name: name.to_owned(),
            content,
        };
        let response = self.0.clone().put_attachment(request).await?;
        let wire::PutAttachmentResponse { path, words } = response.into_inner();
        Ok(Attached { path, words })
    }

    /// The events of a run from `from_seq` on, the terminal one last.
    pub async fn attach(
        &self,
        run_id: &str,
        from_seq: u64,
    ) -> Result<impl Stream<Item = Result<Event, CallError>> + Send + use<>, CallError> {
        let request = wire::AttachRequest {
            run_id: run_id.to_owned(),
            from_seq,
        };
        let stream = self.0.clone().attach(request).await?.into_inner();
        Ok(stream.map(|event| Event::try_from(event?).map_err(CallError::from)))
    }

    /// Ends a run; false when it had ended already.
    pub async fn cancel_run(&self, run_id: &str, reason: &str) -> Result<bool, CallError> {
        let request = wire::CancelRunRequest {
            run_id: run_id.to_owned(),
            reason: reason.to_owned(),
        };
        let response = self.0.clone().cancel_run(request).await?;
        Ok(response.into_inner().cancelled)
    }

    /// The token that clients over TCP need; `rotate` makes another first.
    pub async fn access_token(&self, rotate: bool) -> Result<AccessToken, CallError> {
        let request = wire::AccessTokenRequest { rotate };
        let response = self.0.clone().access_token(request).await?.into_inner();
        Ok(AccessToken {
            mode: response.mode,
            token: Some(response.token).filter(|token| !token.is_empty()),
        })
    }

    /// The last `limit` turns, the newest first; 0 for the default number.
    pub async fn list_turns(&self, limit: u32) -> Result<Vec<Turn>, CallError> {
        let request = wire::ListTurnsRequest { limit };
        let response = self.0.clone().list_turns(request).await?.into_inner();
        Ok(response.turns.into_iter().map(Turn::from).collect())
    }

    /// What waits to be allowed, at most `decided` of what was decided, and
    /// what was allowed for good.
    pub async fn list_approvals(&self, decided: u32) -> Result<Approvals, CallError> {
        let request = wire::ListApprovalsRequest { decided };
        let response = self.0.clone().list_approvals(request).await?;
        Ok(response.into_inner().into())
    }

    /// Decides about what waits under `id`, of which the beginning is enough.
    pub async fn decide_approval(
        &self,
        id: &str,
        decision: Decision,
        by: &str,
    ) -> Result<Approval, CallError> {
        let request = wire::DecideApprovalRequest {
            id: id.to_owned(),
            decision: decision.as_str().to_owned(),
            by: by.to_owned(),
        };
        let response = self.0.clone().decide_approval(request).await?.into_inner();
        Ok(response.approval.unwrap_or_default().into())
    }

    /// Takes back that a command was allowed for good; without an agent, of
    /// every agent, without a directory in every one.
    pub async fn revoke_grant(
        &self,
        agent_id: &str,
        command: &str,
        directory: &str,
    ) -> Result<(), CallError> {
        let request = wire::RevokeGrantRequest {
            agent_id: agent_id.to_owned(),
            command: command.to_owned(),
            directory: directory.to_owned(),
        };
        self.0.clone().revoke_grant(request).await?;
        Ok(())
    }

    /// What the suite says of itself.
    pub async fn status(&self) -> Result<wire::StatusResponse, CallError> {
        self.status_of(false).await
    }

    /// The same without the other daemons, which it would start for it.
    pub async fn own_status(&self) -> Result<wire::StatusResponse, CallError> {
        self.status_of(true).await
    }

    async fn status_of(&self, alone: bool) -> Result<wire::StatusResponse, CallError> {
        let response = self.0.clone().status(wire::StatusRequest { alone }).await?;
        Ok(response.into_inner())
    }
}

impl TryFrom<wire::SendMessageRequest> for Message {
    type Error = Invalid;

    fn try_from(request: wire::SendMessageRequest) -> Result<Self, Invalid> {
        if request.text.trim().is_empty() {
            return Err(Invalid::because(
                "SendMessageRequest",
                "text",
                "is empty; say something",
            ));
        }
        Ok(Self {
            text: request.text,
            session_key: request.session_key,
            agent_id: request.agent_id,
            idempotency_key: request.idempotency_key,
            channel: request.channel,
            route: request.route.map(Route::try_from).transpose()?,
        })
    }
}

impl From<Message> for wire::SendMessageRequest {
    fn from(message: Message) -> Self {
        Self {
            text: message.text,
            session_key: message.session_key,
            agent_id: message.agent_id,
            idempotency_key: message.idempotency_key,
            channel: message.channel,
            route: message.route.map(Into::into),
        }
    }
}

impl TryFrom<wire::SendMessageResponse> for Reply {
    type Error = Invalid;

    fn try_from(response: wire::SendMessageResponse) -> Result<Self, Invalid> {
        use wire::send_message_response::Kind as W;
        match response
            .kind
            .ok_or(Invalid::missing("SendMessageResponse", "kind"))?
        {
            W::Accepted(accepted) => {
                let seen = ConfigurationSeen {
                    problem: accepted.configuration_problem.clone(),
                    read_ms: accepted.configuration_read_ms,
                };
                let shown = accepted.shown.map(Shown::from).unwrap_or_default();
                Ok(Self::Accepted(accepted.into(), seen, shown))
            }
            W::Event(event) => Ok(Self::Event(event.try_into()?)),
        }
    }
}

impl From<Reply> for wire::SendMessageResponse {
    fn from(reply: Reply) -> Self {
        use wire::send_message_response::Kind as W;
        Self {
            kind: Some(match reply {
                Reply::Accepted(accepted, seen, shown) => W::Accepted(wire::Accepted {
                    run_id: accepted.run_id,
                    session_key: accepted.session_key,
                    session_id: accepted.session_id,
                    agent_id: accepted.agent_id,
                    existing: accepted.existing,
                    configuration_problem: seen.problem,
                    configuration_read_ms: seen.read_ms,
                    shown: Some(shown.into()),
                }),
                Reply::Event(event) => W::Event(event.into()),
            }),
        }
    }
}

impl From<wire::Accepted> for Accepted {
    fn from(accepted: wire::Accepted) -> Self {
        Self {
            run_id: accepted.run_id,
            session_key: accepted.session_key,
            session_id: accepted.session_id,
            agent_id: accepted.agent_id,
            existing: accepted.existing,
        }
    }
}

impl TryFrom<wire::ChatKind> for ChatKind {
    type Error = Invalid;

    fn try_from(chat: wire::ChatKind) -> Result<Self, Invalid> {
        match chat {
            wire::ChatKind::Direct => Ok(Self::Direct),
            wire::ChatKind::Group => Ok(Self::Group),
            wire::ChatKind::Channel => Ok(Self::Channel),
            wire::ChatKind::Room => Ok(Self::Room),
            wire::ChatKind::Unspecified => Err(Invalid::missing("Route", "chat")),
        }
    }
}

impl From<ChatKind> for wire::ChatKind {
    fn from(chat: ChatKind) -> Self {
        match chat {
            ChatKind::Direct => Self::Direct,
            ChatKind::Group => Self::Group,
            ChatKind::Channel => Self::Channel,
            ChatKind::Room => Self::Room,
        }
    }
}

impl TryFrom<wire::Route> for Route {
    type Error = Invalid;

    fn try_from(route: wire::Route) -> Result<Self, Invalid> {
        let chat = ChatKind::try_from(route.chat())?;
        if route.id.trim().is_empty() {
            return Err(Invalid::missing("Route", "id"));
        }
        Ok(Self {
            account: route.account,
            chat,
            id: route.id,
            thread: Some(route.thread).filter(|thread| !thread.is_empty()),
            sender: Some(route.sender).filter(|sender| !sender.is_empty()),
            present_id: None,
            message: None,
            sender_name: None,
            title: None,
        })
    }
}

impl From<Route> for wire::Route {
    fn from(route: Route) -> Self {
        let chat = wire::ChatKind::from(route.chat);
        Self {
            account: route.account,
            chat: chat.into(),
            id: route.id,
            thread: route.thread.unwrap_or_default(),
            sender: route.sender.unwrap_or_default(),
        }
    }
}
