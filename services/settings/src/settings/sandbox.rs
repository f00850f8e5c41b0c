//! How agent processes are confined.

use std::path::PathBuf;

use crate::keys::{self, Reach};
pub use crate::keys::{Missing, SandboxLevel};
use openclaw_config::paths::Paths;
pub use openclaw_config::reach::{Host, ProviderTool};

/// Hosts of one list. More is no list that anybody has read.
const HOSTS: usize = 256;

/// The network reach of an agent.
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

/// The settings for all agents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sandbox {
    /// The reaction where a level cannot be had.
    pub missing: Missing,
    /// The user that agents run as when the daemon is root.
    pub user: String,
}

/// How one agent is confined.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSandbox {
    /// How much applies; `None`: as much as the machine gives.
    pub level: Option<SandboxLevel>,
    /// Its network reach.
    pub network: Network,
    /// What the model's provider may do for it; with [`Network::Full`] everything.
    pub provider_tools: Vec<ProviderTool>,
    /// Granted read-only beside the system.
    pub read_only: Vec<PathBuf>,
    /// Granted read-write beside the workspace.
    pub read_write: Vec<PathBuf>,
}

/// A key below the section, and what is wrong with its value.
type Problem = (&'static str, String);

pub(super) fn whole(keys: &keys::Sandbox) -> Result<Sandbox, Problem> {
    // What no agent takes over is to be right too.
    hosts(&keys.hosts).map_err(|problem| ("hosts", problem))?;
    provider_tools(&keys.provider_tools)?;
    Ok(Sandbox {
        missing: keys.missing,
        user: keys.user.clone(),
    })
}

/// One agent's: `keys` are its own with what holds for all behind them, `folders` those of all.
pub(super) fn of_agent(
    keys: &keys::Sandbox,
    folders: &[&keys::SandboxPaths],
    paths: &Paths,
) -> Result<AgentSandbox, Problem> {
    let hosts = hosts(&keys.hosts).map_err(|problem| ("hosts", problem))?;
    let granted = |of: fn(&keys::SandboxPaths) -> &Vec<String>| {
        let all = folders.iter().flat_map(|folders| of(folders));
        all.map(|path| paths.expand(path)).collect()
    };
    Ok(AgentSandbox {
        level: keys.level,
        network: match keys.network {
            Reach::ModelOnly => Network::ModelOnly,
            Reach::Allowlist => Network::Allowlist(hosts),
            Reach::Full => Network::Full,
        },
        provider_tools: provider_tools(&keys.provider_tools)?,
        read_only: granted(|folders| &folders.ro),
        read_write: granted(|folders| &folders.rw),
    })
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::settings::Settings;
    use openclaw_config::environment::Environment;
    use openclaw_config::error::Error;

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

    fn of(all: Value, own: Value) -> Result<AgentSandbox, Error> {
        let paths = Paths::resolve(&[("HOME", "/home/claw")].into_iter().collect()).unwrap();
        let document = json!({
            "sandbox": all, "agents": {"list": [{"id": "own", "sandbox": own}]},
        });
        let settings = Settings::assemble(paths, document, &Environment::default())?;
        Ok(settings.agents["own"].sandbox.clone())
    }

    #[test]
    fn agent_has_its_own_with_that_of_all_behind_it() {
        let all = json!({
            "level": "workspace", "network": "allowlist", "hosts": ["a.org"],
            "paths": {"ro": ["~/books"]},
        });
        let plain = of(all.clone(), json!({})).unwrap();
        assert_eq!(plain.level, Some(SandboxLevel::Workspace));
        assert_eq!(
            plain.network,
            Network::Allowlist(vec![Host::parse("a.org").unwrap()])
        );
        assert_eq!(plain.read_only, [PathBuf::from("/home/claw/books")]);
        let own = json!({"level": "off", "hosts": [], "paths": {"ro": ["/own"]}});
        let own = of(all.clone(), own).unwrap();
        assert_eq!(own.level, Some(SandboxLevel::Off));
        assert_eq!(own.network, Network::Allowlist(Vec::new()));
        let both = [PathBuf::from("/home/claw/books"), PathBuf::from("/own")];
        assert_eq!(own.read_only, both);
        let wrong = of(all, json!({"network": "all"})).unwrap_err().to_string();
        assert!(wrong.contains("agents.list.0.sandbox.network"), "{wrong}");
    }

    #[test]
    fn provider_tools_are_named_and_an_agents_own_replace_those_of_all() {
        let all = json!({"providerTools": ["web_search"]});
        let granted = |own: Option<&[&str]>| {
            let own = own.map_or(json!({}), |own| json!({"providerTools": own}));
            of(all.clone(), own).map(|settings| settings.provider_tools)
        };
        assert_eq!(granted(None).unwrap(), [ProviderTool::WebSearch]);
        assert_eq!(granted(Some(&[])).unwrap(), []);
        assert_eq!(granted(Some(&["mcp"])).unwrap(), [ProviderTool::Mcp]);
        let error = granted(Some(&["everything"])).unwrap_err().to_string();
        assert!(
            error.contains("providerTools") && error.contains("web_fetch"),
            "{error}"
        );
    }

    #[test]
    fn hosts_are_read_and_shown_the_same() {
        for text in [
            "a",
            "a-b.c_d.org",
            "*.example.org",
            "example.org:8443",
            "*.a.b:1",
            "x:65535",
        ] {
            assert_eq!(Host::parse(text).unwrap().to_string(), text);
        }
        let shown = |text| Host::parse(text).unwrap().to_string();
        assert_eq!(shown("A.Org."), "a.org");
        for text in [
            "a.org:65536",
            "a/b",
            "a+b",
            "-.",
            "a.\u{e4}",
            "example.org.:",
        ] {
            let is_dash = text == "-.";
            assert_eq!(Host::parse(text).is_ok(), is_dash, "{text}");
        }
    }

    #[test]
    fn so_many_hosts_are_taken_and_no_more() {
        let list = |count: usize| vec!["a.org".to_owned(); count];
        assert_eq!(hosts(&list(HOSTS)).unwrap().len(), HOSTS);
        let problem = hosts(&list(HOSTS + 1)).unwrap_err();
        assert!(problem.contains(&format!("at most {HOSTS}")), "{problem}");
    }

    #[test]
    fn networks_are_named_as_they_are_written() {
        for word in ["model-only", "allowlist", "full"] {
            let own = of(json!({}), json!({ "network": word })).unwrap();
            assert_eq!(own.network.name(), word);
        }
    }
}
