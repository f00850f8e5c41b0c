//! How agent processes are confined.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::fragment;
use crate::paths::Paths;

/// Ports of a host that names none: the web's.
const WEB: [u16; 2] = [443, 80];
/// Hosts of one list. More is no list that anybody has read.
const HOSTS: usize = 256;

/// How agent processes are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SandboxLevel {
    /// What is granted, in namespaces of the turn's own: nothing else exists.
    Strict,
    /// What is granted, without namespaces: path rules and the system-call
    /// filter alone.
    Workspace,
    /// Only limits.
    Off,
}

impl SandboxLevel {
    /// As it is written in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Strict => "strict",
            Self::Workspace => "workspace",
            Self::Off => "off",
        }
    }
}

/// What an agent may reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    /// Its model.
    ModelOnly,
    /// Its model and these hosts, through a proxy that checks every name.
    Allowlist(Vec<Host>),
    /// Everything this machine reaches.
    Full,
}

impl Network {
    /// As it is written in the configuration.
    pub fn name(&self) -> &'static str {
        match self {
            Self::ModelOnly => "model-only",
            Self::Allowlist(_) => "allowlist",
            Self::Full => "full",
        }
    }
}

/// Whether a level that the machine cannot give is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    /// No agent is started.
    Refuse,
    /// The next lower level is taken that holds.
    Weaken,
}

impl Missing {
    /// As it is written in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Weaken => "weaken",
        }
    }
}

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

/// What holds for all agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// What is done where a level cannot be given.
    pub missing: Missing,
    /// The user that agents run as when the daemon is root.
    pub user: String,
}

/// How one agent is confined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSandbox {
    /// How much applies.
    pub level: SandboxLevel,
    /// What it may reach.
    pub network: Network,
    /// What the model's provider may do for it; with [`Network::Full`]
    /// everything.
    pub provider_tools: Vec<ProviderTool>,
    /// Granted read-only beside the system.
    pub read_only: Vec<PathBuf>,
    /// Granted read-write beside the workspace.
    pub read_write: Vec<PathBuf>,
}

/// A key below the section, and what is wrong with its value.
type Problem = (&'static str, String);

pub(super) fn whole(fragment: &fragment::Sandbox) -> Result<Sandbox, Problem> {
    // What no agent takes over is to be right too.
    level(fragment.level.as_deref())?;
    network(fragment.network.as_deref(), &fragment.hosts)?;
    provider_tools(&fragment.provider_tools)?;
    let missing = match fragment.missing.as_deref() {
        None | Some("refuse") => Missing::Refuse,
        Some("weaken") => Missing::Weaken,
        Some(other) => {
            let problem = format!("is {other:?}; allowed are \"refuse\" and \"weaken\"");
            return Err(("missing", problem));
        }
    };
    let user = fragment.user.clone();
    Ok(Sandbox {
        missing,
        user: user.unwrap_or_else(|| "openclaw-agent".to_owned()),
    })
}

/// One agent's, with what holds for all behind it.
pub(super) fn of_agent(
    all: &fragment::Sandbox,
    own: &fragment::AgentSandbox,
    paths: &Paths,
) -> Result<AgentSandbox, Problem> {
    let hosts = own.hosts.as_ref().unwrap_or(&all.hosts);
    let tools = own.provider_tools.as_ref().unwrap_or(&all.provider_tools);
    let either = |own: &Option<String>, all: &Option<String>| own.clone().or_else(|| all.clone());
    let joined = |all: &[String], own: &[String]| {
        let both = all.iter().chain(own);
        both.map(|path| paths.expand(path)).collect()
    };
    Ok(AgentSandbox {
        level: level(either(&own.level, &all.level).as_deref())?,
        network: network(either(&own.network, &all.network).as_deref(), hosts)?,
        provider_tools: provider_tools(tools)?,
        read_only: joined(&all.paths.ro, &own.paths.ro),
        read_write: joined(&all.paths.rw, &own.paths.rw),
    })
}

fn level(text: Option<&str>) -> Result<SandboxLevel, Problem> {
    match text {
        None | Some("strict") => Ok(SandboxLevel::Strict),
        Some("workspace") => Ok(SandboxLevel::Workspace),
        Some("off") => Ok(SandboxLevel::Off),
        Some(other) => {
            let problem =
                format!("is {other:?}; allowed are \"strict\", \"workspace\" and \"off\"");
            Err(("level", problem))
        }
    }
}

fn provider_tools(names: &[String]) -> Result<Vec<ProviderTool>, Problem> {
    let tool = |name: &String| {
        let known = ProviderTool::ALL.into_iter();
        known
            .clone()
            .find(|tool| tool.name() == name)
            .ok_or_else(|| {
                let known: Vec<&str> = known.map(ProviderTool::name).collect();
                let problem = format!("has {name:?}; allowed are {}", known.join(", "));
                ("providerTools", problem)
            })
    };
    names.iter().map(tool).collect()
}

/// A list of hosts, or what is wrong with it.
pub(super) fn hosts(hosts: &[String]) -> Result<Vec<Host>, String> {
    if hosts.len() > HOSTS {
        return Err(format!(
            "has {} hosts; at most {HOSTS} are taken",
            hosts.len()
        ));
    }
    let parsed = hosts.iter().map(|host| Host::parse(host));
    let parsed: Result<_, _> = parsed.collect();
    parsed.map_err(|problem| format!("has {problem}"))
}

fn network(text: Option<&str>, listed: &[String]) -> Result<Network, Problem> {
    let parsed = hosts(listed).map_err(|problem| ("hosts", problem))?;
    match text {
        None | Some("model-only") => Ok(Network::ModelOnly),
        Some("allowlist") => Ok(Network::Allowlist(parsed)),
        Some("full") => Ok(Network::Full),
        Some(other) => {
            let problem =
                format!("is {other:?}; allowed are \"model-only\", \"allowlist\" and \"full\"");
            Err(("network", problem))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_names_with_a_star_and_a_port_or_without() {
        let host = |text| Host::parse(text).unwrap();
        assert!(host("Example.org").allows("example.ORG.", 443));
        assert!(host("example.org").allows("example.org", 80));
        for (pattern, name, port) in [
            ("example.org", "example.org", 22),
            ("example.org", "www.example.org", 443),
            ("example.org", "badexample.org", 443),
            ("*.example.org", "example.org", 443),
            ("*.example.org", "badexample.org", 443),
            ("*.example.org", ".example.org", 443),
            ("example.org:8443", "example.org", 443),
        ] {
            assert!(!host(pattern).allows(name, port), "{pattern} {name} {port}");
        }
        assert!(host("*.example.org:8443").allows("a.b.example.org", 8443));
        for text in [
            "",
            "*",
            "*.",
            "https://a.org",
            "a.org/x",
            "a b",
            "a.org:0",
            "a.org:x",
            "1.2.3.4",
            "[::1]:80",
            "a..b",
        ] {
            assert!(Host::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_agent_has_its_own_with_that_of_all_behind_it() {
        let paths = Paths::resolve(&[("HOME", "/home/claw")].into_iter().collect()).unwrap();
        let all = fragment::Sandbox {
            level: Some("workspace".to_owned()),
            network: Some("allowlist".to_owned()),
            hosts: vec!["a.org".to_owned()],
            paths: fragment::SandboxPaths {
                ro: vec!["~/books".to_owned()],
                rw: Vec::new(),
            },
            ..fragment::Sandbox::default()
        };
        let plain = of_agent(&all, &fragment::AgentSandbox::default(), &paths).unwrap();
        assert_eq!(plain.level, SandboxLevel::Workspace);
        assert_eq!(
            plain.network,
            Network::Allowlist(vec![Host::parse("a.org").unwrap()])
        );
        assert_eq!(plain.read_only, [PathBuf::from("/home/claw/books")]);
        let own = fragment::AgentSandbox {
            level: Some("off".to_owned()),
            hosts: Some(Vec::new()),
            ..fragment::AgentSandbox::default()
        };
        let own = of_agent(&all, &own, &paths).unwrap();
        assert_eq!(own.level, SandboxLevel::Off);
        assert_eq!(own.network, Network::Allowlist(Vec::new()));
        let wrong = fragment::AgentSandbox {
            network: Some("all".to_owned()),
            ..fragment::AgentSandbox::default()
        };
        assert_eq!(of_agent(&all, &wrong, &paths).unwrap_err().0, "network");
    }

    #[test]
    fn provider_tools_are_named_and_an_agents_own_replace_those_of_all() {
        let paths = Paths::resolve(&[("HOME", "/home/claw")].into_iter().collect()).unwrap();
        let all = fragment::Sandbox {
            provider_tools: vec!["web_search".to_owned()],
            ..fragment::Sandbox::default()
        };
        let granted = |own: Option<&[&str]>| {
            let own = own.map(|own| own.iter().map(|name| (*name).to_owned()).collect());
            let own = fragment::AgentSandbox {
                provider_tools: own,
                ..fragment::AgentSandbox::default()
            };
            of_agent(&all, &own, &paths).map(|settings| settings.provider_tools)
        };
        assert_eq!(granted(None).unwrap(), [ProviderTool::WebSearch]);
        assert_eq!(granted(Some(&[])).unwrap(), []);
        assert_eq!(granted(Some(&["mcp"])).unwrap(), [ProviderTool::Mcp]);
        let (key, problem) = granted(Some(&["everything"])).unwrap_err();
        assert!(
            key == "providerTools" && problem.contains("web_fetch"),
            "{problem}"
        );
    }
}
