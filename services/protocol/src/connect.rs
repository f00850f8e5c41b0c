//! The parameters of `connect`.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::client::{ClientId, Mode};
use crate::params::Filled;

/// The most caps, commands or scopes that are looked at. Clients have a dozen.
const LIST_LIMIT: usize = 256;

/// What the first request of a connection carries.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Connect {
    /// The oldest version the client speaks.
    pub min_protocol: u64,
    /// The newest.
    pub max_protocol: u64,
    /// Who it is.
    pub client: Client,
    /// What it can do with.
    #[serde(default)]
    pub caps: Vec<Filled>,
    /// Commands a node offers.
    #[serde(default)]
    pub commands: Vec<Filled>,
    /// Kept for nodes.
    #[serde(default)]
    pub permissions: BTreeMap<String, Value>,
    /// A node's.
    pub computer_use: Option<Value>,
    /// A worker's.
    pub worker_runs: Option<Value>,
    /// A node's PATH.
    pub path_env: Option<String>,
    /// `operator` when absent.
    pub role: Option<Filled>,
    /// What an operator wants to do.
    #[serde(default)]
    pub scopes: Vec<Filled>,
    /// The device's identity.
    pub device: Option<Device>,
    /// Its credentials.
    #[serde(default)]
    pub auth: Credentials,
    /// BCP 47.
    pub locale: Option<String>,
    /// For people.
    pub user_agent: Option<String>,
}

/// Who a client is.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Client {
    /// The program.
    pub id: ClientId,
    /// For people.
    pub display_name: Option<Filled>,
    /// The program's version.
    pub version: Filled,
    /// Of the Control UI.
    pub build_id: Option<Filled>,
    /// linux, macos, ios, …
    pub platform: Filled,
    /// Linux, iPhone, …
    pub device_family: Option<Filled>,
    /// The exact model.
    pub model_identifier: Option<Filled>,
    /// IANA.
    pub time_zone: Option<Filled>,
    /// What kind of program it is.
    pub mode: Mode,
    /// One running copy of it.
    pub instance_id: Option<Filled>,
}

/// A device's identity, proved by a signature.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Device {
    /// SHA-256 of the public key, in hex.
    pub id: Filled,
    /// Ed25519, base64url or PEM.
    pub public_key: Filled,
    /// Of the text that [`crate::device`] describes.
    pub signature: Filled,
    /// Unix milliseconds.
    pub signed_at: u64,
    /// The challenge's.
    pub nonce: Filled,
}

/// A client's credentials. Any may be absent.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Credentials {
    /// The gateway's token.
    pub token: Option<String>,
    /// A token to begin with.
    pub bootstrap_token: Option<String>,
    /// The token that pairing gave this device.
    pub device_token: Option<String>,
    /// The gateway's password.
    pub password: Option<String>,
    /// Not used here.
    pub approval_runtime_token: Option<String>,
    /// Not used here.
    pub agent_runtime_identity_token: Option<String>,
}

impl Connect {
    /// The texts of a list of names, at most [`LIST_LIMIT`].
    pub fn names(list: &[Filled]) -> Vec<String> {
        let mut names: Vec<String> = list.iter().take(LIST_LIMIT).map(|n| n.0.clone()).collect();
        names.dedup();
        names
    }
}
