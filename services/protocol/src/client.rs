//! Who a client says it is. The lists are closed: a name that is not in them
//! is refused, as OpenClaw does.

use serde::{Deserialize, Serialize};

/// The programs that speak the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClientId {
    /// The web chat page.
    WebchatUi,
    /// The Control UI of the same build.
    OpenclawControlUi,
    /// The browser extension.
    OpenclawBrowserCopilot,
    /// The terminal interface.
    OpenclawTui,
    /// A web chat.
    Webchat,
    /// The command line.
    Cli,
    /// A program that uses the client library.
    GatewayClient,
    /// The macOS app.
    OpenclawMacos,
    /// The Linux app.
    OpenclawLinux,
    /// The iPhone app.
    OpenclawIos,
    /// The watch app.
    OpenclawWatchos,
    /// The Android app.
    OpenclawAndroid,
    /// A headless node.
    NodeHost,
    /// A worker.
    OpenclawWorker,
    /// A test.
    Test,
    /// A probe that only looks.
    Fingerprint,
    /// A probe of the command line.
    OpenclawProbe,
}

/// What kind of program it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A web chat.
    Webchat,
    /// A command line.
    Cli,
    /// An app with a window.
    Ui,
    /// A program without people.
    Backend,
    /// A device.
    Node,
    /// Runs turns.
    Worker,
    /// Only looks.
    Probe,
    /// A test.
    Test,
}

/// What it wants to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Uses the assistant.
    Operator,
    /// Offers a device to it.
    Node,
    /// Runs turns for it.
    Worker,
}

impl Role {
    /// The role's name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Node => "node",
            Self::Worker => "worker",
        }
    }

    /// The role named `name`.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "operator" => Some(Self::Operator),
            "node" => Some(Self::Node),
            "worker" => Some(Self::Worker),
            _ => None,
        }
    }
}

impl ClientId {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::WebchatUi => "webchat-ui",
            Self::OpenclawControlUi => "openclaw-control-ui",
            Self::OpenclawBrowserCopilot => "openclaw-browser-copilot",
            Self::OpenclawTui => "openclaw-tui",
            Self::Webchat => "webchat",
            Self::Cli => "cli",
            Self::GatewayClient => "gateway-client",
            Self::OpenclawMacos => "openclaw-macos",
            Self::OpenclawLinux => "openclaw-linux",
            Self::OpenclawIos => "openclaw-ios",
            Self::OpenclawWatchos => "openclaw-watchos",
            Self::OpenclawAndroid => "openclaw-android",
            Self::NodeHost => "node-host",
            Self::OpenclawWorker => "openclaw-worker",
            Self::Test => "test",
            Self::Fingerprint => "fingerprint",
            Self::OpenclawProbe => "openclaw-probe",
        }
    }
}

impl Mode {
    /// The name on the wire.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Webchat => "webchat",
            Self::Cli => "cli",
            Self::Ui => "ui",
            Self::Backend => "backend",
            Self::Node => "node",
            Self::Worker => "worker",
            Self::Probe => "probe",
            Self::Test => "test",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_are_the_same_both_ways() {
        for id in [
            ClientId::WebchatUi,
            ClientId::OpenclawControlUi,
            ClientId::OpenclawBrowserCopilot,
            ClientId::OpenclawTui,
            ClientId::Webchat,
            ClientId::Cli,
            ClientId::GatewayClient,
            ClientId::OpenclawMacos,
            ClientId::OpenclawLinux,
            ClientId::OpenclawIos,
            ClientId::OpenclawWatchos,
            ClientId::OpenclawAndroid,
            ClientId::NodeHost,
            ClientId::OpenclawWorker,
            ClientId::Test,
            ClientId::Fingerprint,
            ClientId::OpenclawProbe,
        ] {
            assert_eq!(json!(id), json!(id.as_str()));
        }
        for role in [Role::Operator, Role::Node, Role::Worker] {
            assert_eq!(Role::parse(role.as_str()), Some(role));
        }
    }
}
