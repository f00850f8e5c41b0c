//! What a process may reach over the network besides or instead of the network
//! itself: each way is a proxy on a TCP listener, served by whoever starts it.

use openclaw_settings::Host;
use serde::{Deserialize, Serialize};

/// Where the model is in a network of the turn's own.
pub const MODEL_PORT: u16 = 8790;
/// Stands in a program's arguments for the model's URL, which is known only
/// when the proxy is there.
pub const MODEL_URL: &str = "@MODEL_URL@";
/// Where the way to other hosts is there.
pub const EGRESS_PORT: u16 = 8791;

/// Which proxies a process has.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub struct Proxies {
    /// The model, for programs that want a URL.
    pub model: Option<ModelVariables>,
    /// Other hosts.
    pub elsewhere: Option<Reach>,
}

/// In which variables a program is told of its model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelVariables {
    /// Where it looks for the URL.
    pub url: String,
    /// Where it looks for a credential: it gets the turn's token.
    pub token: String,
}

/// Where the proxy leads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reach {
    /// To these hosts, as far as their addresses are public ones.
    Listed(Vec<Host>),
    /// Everywhere but to this machine and its links.
    Elsewhere,
}

impl Proxies {
    /// Ports in a network of the turn's own.
    pub fn ports(&self) -> Vec<u16> {
        let model = self.model.as_ref().map(|_| MODEL_PORT);
        let egress = self.elsewhere.as_ref().map(|_| EGRESS_PORT);
        model.into_iter().chain(egress).collect()
    }
}
