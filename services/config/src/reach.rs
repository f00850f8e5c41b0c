//! Whom agents may reach: hosts, and what the model's provider does for them.

use std::fmt;
use std::net::IpAddr;

use serde::{Deserialize, Serialize};

/// Ports of a host that names none: the web's.
const WEB: [u16; 2] = [443, 80];

/// A host that may be reached: a name, or all names below one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// In lower case.
    name: String,
    /// `*.name`: those below it, and not it.
    below: bool,
    /// The only port; without it those of the web.
    port: Option<u16>,
}

impl Host {
    /// Reads `name`, `*.name`, each with `:port` or without.
    ///
    /// # Errors
    /// In words, to be put behind "is …".
    pub fn parse(text: &str) -> Result<Self, String> {
        let (host, port) = match text.rsplit_once(':') {
            Some((host, port)) => match port.parse() {
                Ok(port) if port > 0 => (host, Some(port)),
                _ => return Err(format!("{text:?}, whose port is none")),
            },
            None => (text, None),
        };
        let (name, below) = match host.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (host, false),
        };
        let name = name.trim_end_matches('.').to_ascii_lowercase();
        let is_label = |label: &str| {
            let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
            !label.is_empty() && label.chars().all(plain)
        };
        if !name.split('.').all(is_label) {
            return Err(format!(
                "{text:?}; a host is written as \"example.org\", \"*.example.org\" or \
                 \"example.org:8443\", without https://"
            ));
        }
        if name.parse::<IpAddr>().is_ok() {
            return Err(format!(
                "{text:?}; hosts are named, because an address says nothing about who answers there"
            ));
        }
        Ok(Self { name, below, port })
    }

    /// Whether it is this one.
    pub fn allows(&self, host: &str, port: u16) -> bool {
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let named = if self.below {
            host.strip_suffix(&self.name)
                .is_some_and(|rest| rest.len() > 1 && rest.ends_with('.'))
        } else {
            host == self.name
        };
        named && self.port.map_or(WEB.contains(&port), |own| own == port)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let star = if self.below { "*." } else { "" };
        write!(formatter, "{star}{}", self.name)?;
        match self.port {
            Some(port) => write!(formatter, ":{port}"),
            None => Ok(()),
        }
    }
}

/// What the model's provider may do for an agent by itself. Each carries data
/// to others than the provider, or keeps it there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderTool {
    /// Search the web.
    WebSearch,
    /// Fetch pages of the web.
    WebFetch,
    /// Fetch images and documents that a request names by URL.
    Urls,
    /// Run code, with what the provider's machines reach.
    CodeExecution,
    /// Search files that are kept at the provider.
    FileSearch,
    /// Read files that are kept at the provider.
    Files,
    /// Make images.
    ImageGeneration,
    /// Call servers of tools (MCP).
    Mcp,
}

impl ProviderTool {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::WebSearch,
        Self::WebFetch,
        Self::Urls,
        Self::CodeExecution,
        Self::FileSearch,
        Self::Files,
        Self::ImageGeneration,
        Self::Mcp,
    ];

    /// As it is written in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::WebSearch => "web_search",
            Self::WebFetch => "web_fetch",
            Self::Urls => "urls",
            Self::CodeExecution => "code_execution",
            Self::FileSearch => "file_search",
            Self::Files => "files",
            Self::ImageGeneration => "image_generation",
            Self::Mcp => "mcp",
        }
    }
}
