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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_is_read_and_shown_as_it_is_written() {
        for (text, shown) in [
            ("example.org", "example.org"),
            ("Example.ORG.", "example.org"),
            ("*.example.org", "*.example.org"),
            ("example.org:8443", "example.org:8443"),
            ("*.a-b_c.org:1", "*.a-b_c.org:1"),
        ] {
            assert_eq!(Host::parse(text).unwrap().to_string(), shown);
        }
        for (text, problem) in [
            ("example.org:0", "whose port is none"),
            ("example.org:65536", "whose port is none"),
            ("example.org:http", "whose port is none"),
            ("https://example.org/", "whose port is none"),
            ("example.org/path", "without https://"),
            ("", "is written as"),
            ("*", "is written as"),
            ("*.", "is written as"),
            ("a..b", "is written as"),
            ("a.*.b", "is written as"),
            ("192.0.2.7", "are named"),
        ] {
            let refused = Host::parse(text).unwrap_err();
            assert!(refused.contains(problem), "{text}: {refused}");
            assert!(refused.contains(&format!("{text:?}")), "{refused}");
        }
    }

    #[test]
    fn host_allows_itself_at_its_ports() {
        let allows = |own: &str, host: &str, port| Host::parse(own).unwrap().allows(host, port);
        assert!(allows("example.org", "example.org", 443));
        assert!(allows("example.org", "EXAMPLE.org.", 80));
        assert!(!allows("example.org", "example.org", 8443));
        assert!(!allows("example.org", "a.example.org", 443));
        assert!(allows("example.org:8443", "example.org", 8443));
        assert!(!allows("example.org:8443", "example.org", 443));
        assert!(allows("*.example.org", "a.example.org", 443));
        assert!(allows("*.example.org", "b.a.example.org", 80));
        for host in [
            "example.org",
            ".example.org",
            "notexample.org",
            "example.org.evil.org",
        ] {
            assert!(!allows("*.example.org", host, 443), "{host}");
        }
        assert!(!allows("*.example.org", "a.example.org", 22));
    }

    #[test]
    fn provider_tools_are_written_as_the_schema_has_them() {
        for tool in ProviderTool::ALL {
            let written = serde_json::to_value(tool).unwrap();
            assert_eq!(written, tool.name());
        }
    }
}
