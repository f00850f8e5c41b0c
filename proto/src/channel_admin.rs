//! What the owner asks and decides of channels.

use std::path::PathBuf;

use serde::Serialize;

use crate::address::{self, Channel};
use crate::call::CallError;
use crate::channel::{AccountName, Connection, Health};
use crate::invalid::Invalid;
use crate::wire::gateway as wire;
use wire::channel_admin_client::ChannelAdminClient;

/// How an account does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountState {
    /// The channel and the account's name.
    #[serde(flatten)]
    pub account: AccountName,
    /// Whether it is the channel's default one.
    pub is_default: bool,
    /// Whether the configuration has it on.
    pub is_enabled: bool,
    /// Since when a daemon speaks for it, in Unix milliseconds.
    pub attended_since_ms: Option<i64>,
    /// What that said last of itself.
    pub health: Option<Health>,
    /// Why the configuration has no token for it; empty: it has one, or its daemon
    /// has.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub missing_token: String,
    /// Groups that the configuration lists and where nobody may talk to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unanswered_groups: Vec<String>,
}

/// Somebody who wants to talk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PairingRequest {
    /// Where.
    #[serde(flatten)]
    pub account: AccountName,
    /// Who, as the channel names them.
    pub peer: String,
    /// What they were told.
    pub code: String,
    /// What people call them.
    pub name: String,
    /// Since when, in Unix milliseconds.
    pub created_ms: i64,
}

/// Somebody who may talk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PairedPeer {
    /// Where.
    #[serde(flatten)]
    pub account: AccountName,
    /// Who, as the channel names them.
    pub peer: String,
    /// What people call them.
    pub name: String,
    /// Whether they were the first.
    pub is_owner: bool,
    /// Since when, in Unix milliseconds.
    pub approved_ms: i64,
}

/// Who wants to talk, and who may.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Pairings {
    /// Those who wait.
    pub requests: Vec<PairingRequest>,
    /// Those who were let in.
    pub peers: Vec<PairedPeer>,
}

/// Somebody who is let in no more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revoked {
    /// As they were.
    pub peer: PairedPeer,
    /// Keys of the account's settings by which they may talk all the same.
    pub keys: Vec<String>,
}

/// Something to be said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Text {
    /// The account that says it.
    pub account: AccountName,
    /// The person, group, channel or room.
    pub to: String,
    /// The thread in it.
    pub thread: Option<String>,
    /// What; may be empty where there is a file.
    pub text: String,
    /// What goes with it: a file that was put for the account.
    pub file: Option<SentFile>,
}

/// What has become of something to be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sent {
    /// It is said as soon as a daemon attends the account.
    Unattended,
    /// It is being said; why it was not yet, where it was tried.
    Open(String),
    /// The provider has it, and calls it so.
    Delivered(Vec<String>),
    /// The provider does not take it, and why.
    Failed(String),
}

/// As the wire calls what the provider has.
const DELIVERED: &str = "delivered";

/// As it calls what it does not take.
const FAILED: &str = "failed";

impl From<Sent> for wire::SendTextResponse {
    fn from(sent: Sent) -> Self {
        let attended = Self {
            is_attended: true,
            ..Self::default()
        };
        match sent {
            Sent::Unattended => Self::default(),
            Sent::Open(reason) => Self { reason, ..attended },
            Sent::Delivered(provider_ids) => Self {
                state: DELIVERED.to_owned(),
                provider_ids,
                ..attended
            },
            Sent::Failed(reason) => Self {
                state: FAILED.to_owned(),
                reason,
                ..attended
            },
        }
    }
}

impl From<wire::SendTextResponse> for Sent {
    fn from(response: wire::SendTextResponse) -> Self {
        match response.state.as_str() {
            DELIVERED => Self::Delivered(response.provider_ids),
            FAILED => Self::Failed(response.reason),
            _ if response.is_attended => Self::Open(response.reason),
            _ => Self::Unattended,
        }
    }
}

/// A file that is sent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SentFile {
    /// As it was put.
    pub file_id: String,
    /// Without folders.
    pub name: String,
}

/// A client of the gateway, for its owner. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Client(ChannelAdminClient<Channel>);

impl Client {
    /// A client of the gateway at `socket`; it connects on first use.
    pub fn new(socket: PathBuf) -> Self {
        let client = ChannelAdminClient::new(address::channel(socket));
        Self(client.max_decoding_message_size(crate::MESSAGE_LIMIT))
    }

    /// The accounts, and how they do.
    pub async fn accounts(&self) -> Result<Vec<AccountState>, CallError> {
        let request = wire::ListChannelsRequest {};
        let response = self.0.clone().list_channels(request).await?.into_inner();
        let accounts = response.accounts.into_iter();
        Ok(accounts
            .map(AccountState::try_from)
            .collect::<Result<_, _>>()?)
    }

    /// Who wants to talk, and who may.
    pub async fn pairings(&self) -> Result<Pairings, CallError> {
        let request = wire::ListPairingsRequest {};
        let response = self.0.clone().list_pairings(request).await?.into_inner();
        Ok(Pairings {
            requests: response.requests.into_iter().map(Into::into).collect(),
            peers: response.peers.into_iter().map(Into::into).collect(),
        })
    }

    /// Lets in whoever was told `code`, or does not; the request, and whether
    /// they are the owner now.
    pub async fn decide(
        &self,
        code: &str,
        is_approved: bool,
    ) -> Result<(PairingRequest, bool), CallError> {
        let request = wire::DecidePairingRequest {
            code: code.to_owned(),
            is_approved,
        };
        let response = self.0.clone().decide_pairing(request).await?.into_inner();
        let missing = || Invalid::missing("DecidePairingResponse", "request");
        let request = response.request.ok_or_else(missing)?;
        Ok((request.into(), response.is_owner))
    }

    /// Takes back that `peer` was let in at `account`.
    pub async fn revoke(&self, account: AccountName, peer: &str) -> Result<Revoked, CallError> {
        let request = wire::RevokePairingRequest {
            channel: account.channel,
            account: account.account,
            peer: peer.to_owned(),
        };
        let response = self.0.clone().revoke_pairing(request).await?.into_inner();
        let missing = || Invalid::missing("RevokePairingResponse", "peer");
        Ok(Revoked {
            peer: response.peer.ok_or_else(missing)?.into(),
            keys: response.keys,
        })
    }

    /// Says something; what has become of it a moment later.
    pub async fn send(&self, text: Text) -> Result<Sent, CallError> {
        let request = wire::SendTextRequest {
            channel: text.account.channel,
            account: text.account.account,
            to: text.to,
            thread: text.thread.unwrap_or_default(),
            text: text.text,
            file: text.file.map(|file| wire::SentFile {
                file_id: file.file_id,
                name: file.name,
            }),
        };
        let response = self.0.clone().send_text(request).await?.into_inner();
        Ok(response.into())
    }
}

impl TryFrom<wire::ChannelAccount> for AccountState {
    type Error = Invalid;

    fn try_from(account: wire::ChannelAccount) -> Result<Self, Invalid> {
        let unknown = || {
            let problem = format!("is {:?}, unknown", account.state);
            Invalid::because("ChannelAccount", "state", problem)
        };
        let health = match account.state.as_str() {
            "" => None,
            state => Some(Health {
                state: Connection::parse(state).ok_or_else(unknown)?,
                identity: account.identity,
                last_contact_ms: account.last_contact_ms,
                last_error: account.last_error,
                last_error_ms: account.last_error_ms,
                backlog: account.backlog,
                notes: account.notes,
                waiting_until_ms: account.waiting_until_ms,
            }),
        };
        Ok(Self {
            account: AccountName {
                channel: account.channel,
                account: account.account,
            },
            is_default: account.is_default,
            is_enabled: account.is_enabled,
            attended_since_ms: Some(account.attended_since_ms).filter(|since| *since != 0),
            health,
            missing_token: account.missing_token,
            unanswered_groups: account.unanswered_groups,
        })
    }
}

impl From<AccountState> for wire::ChannelAccount {
    fn from(state: AccountState) -> Self {
        let health = state.health.clone().unwrap_or_default();
        let word = state.health.map_or("", |health| health.state.as_str());
        Self {
            channel: state.account.channel,
            account: state.account.account,
            is_default: state.is_default,
            is_enabled: state.is_enabled,
            attended_since_ms: state.attended_since_ms.unwrap_or_default(),
            state: word.to_owned(),
            identity: health.identity,
            last_contact_ms: health.last_contact_ms,
            last_error: health.last_error,
            last_error_ms: health.last_error_ms,
            backlog: health.backlog,
            notes: health.notes,
            waiting_until_ms: health.waiting_until_ms,
            missing_token: state.missing_token,
            unanswered_groups: state.unanswered_groups,
        }
    }
}

impl From<wire::PairingRequest> for PairingRequest {
    fn from(request: wire::PairingRequest) -> Self {
        Self {
            account: AccountName {
                channel: request.channel,
                account: request.account,
            },
            peer: request.peer,
            code: request.code,
            name: request.name,
            created_ms: request.created_ms,
        }
    }
}

impl From<PairingRequest> for wire::PairingRequest {
    fn from(request: PairingRequest) -> Self {
        Self {
            channel: request.account.channel,
            account: request.account.account,
            peer: request.peer,
            code: request.code,
            name: request.name,
            created_ms: request.created_ms,
        }
    }
}

impl From<wire::PairedPeer> for PairedPeer {
    fn from(peer: wire::PairedPeer) -> Self {
        Self {
            account: AccountName {
                channel: peer.channel,
                account: peer.account,
            },
            peer: peer.peer,
            name: peer.name,
            is_owner: peer.is_owner,
            approved_ms: peer.approved_ms,
        }
    }
}

impl From<PairedPeer> for wire::PairedPeer {
    fn from(peer: PairedPeer) -> Self {
        Self {
            channel: peer.account.channel,
            account: peer.account.account,
            peer: peer.peer,
            name: peer.name,
            is_owner: peer.is_owner,
            approved_ms: peer.approved_ms,
        }
    }
}
