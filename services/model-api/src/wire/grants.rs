//! What the policy leaves to the provider.

use openclaw_settings::{AgentSandbox, Host, Network, ProviderTool};
use serde::{Deserialize, Serialize};

/// What an agent may have the provider do that carries data to others. By
/// default nothing: an agent that reaches no host itself is not to reach one
/// through the provider.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grants {
    /// The agent reaches everything anyway.
    all: bool,
    tools: Vec<ProviderTool>,
    /// Hosts that content may be fetched from by URL.
    hosts: Vec<Host>,
}

impl Grants {
    /// As the agent's settings say.
    pub fn of(sandbox: &AgentSandbox) -> Self {
        Self {
            all: sandbox.network == Network::Full,
            tools: sandbox.provider_tools.clone(),
            hosts: match &sandbox.network {
                Network::Allowlist(hosts) => hosts.clone(),
                Network::ModelOnly | Network::Full => Vec::new(),
            },
        }
    }

    /// Whether everything is granted, what nobody knows here included.
    pub(super) fn has_all(&self) -> bool {
        self.all
    }

    /// Whether the provider may do this.
    pub fn has(&self, tool: ProviderTool) -> bool {
        self.all || self.tools.contains(&tool)
    }

    /// Whether the provider may fetch from this host.
    pub(super) fn has_host(&self, host: &str, port: u16) -> bool {
        self.has(ProviderTool::Urls) || self.hosts.iter().any(|known| known.allows(host, port))
    }
}

#[cfg(test)]
impl Grants {
    /// Everything.
    pub(crate) fn everything() -> Self {
        Self {
            all: true,
            ..Self::default()
        }
    }

    /// These alone.
    pub(crate) fn only(tools: &[ProviderTool], hosts: &[&str]) -> Self {
        Self {
            all: false,
            tools: tools.to_vec(),
            hosts: hosts
                .iter()
                .map(|host| Host::parse(host).unwrap())
                .collect(),
        }
    }
}
