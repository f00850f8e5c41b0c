//! The agents that try, each with a workspace of its own, and their configuration.

use serde_json::{Value, json};

use super::attempt::{Backend, Level, Reach, Setting};

/// Where the scripted model listens in the machine.
pub(crate) const MODEL: &str = "127.0.0.1:18999";
/// Where the hostile programs are in the machine.
pub(crate) const HOSTILE: &str = "/opt/hostile";

/// The agent of the tests that need one at level strict.
pub(crate) const STRICT: &str = "strict";
/// Without a sandbox.
pub(crate) const OPEN: &str = "open";
/// May address more than its unit may use.
pub(crate) const GREEDY: &str = "greedy";

/// An agent that tries everything.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Agent {
    pub(crate) id: &'static str,
    pub(crate) backend: Backend,
    pub(crate) level: Level,
    pub(crate) reach: Reach,
}

const fn agent(id: &'static str, backend: Backend, level: Level, reach: Reach) -> Agent {
    Agent {
        id,
        backend,
        level,
        reach,
    }
}

/// With everything that a backend, a level and a network promise. Where a runner is root, those whose name is short for
/// it are left out: the network is made in the same way there.
pub(crate) const CONFINED: &[Agent] = {
    use Backend::{Claude, Codex, Native, Offline, Server};
    use Level::{Strict, Workspace};
    use Reach::{Allowlist, Full, ModelOnly};
    &[
        agent(STRICT, Native, Strict, ModelOnly),
        agent("listed", Native, Strict, Allowlist),
        agent("wide", Native, Strict, Full),
        agent("ws", Native, Workspace, ModelOnly),
        agent("ws-listed", Native, Workspace, Allowlist),
        agent("ws-wide", Native, Workspace, Full),
        agent("offline", Offline, Strict, ModelOnly),
        agent("offline-wide", Offline, Strict, Full),
        agent("ws-offline", Offline, Workspace, ModelOnly),
        agent("claude", Claude, Strict, ModelOnly),
        agent("claude-listed", Claude, Strict, Allowlist),
        agent("claude-wide", Claude, Strict, Full),
        agent("ws-claude", Claude, Workspace, ModelOnly),
        agent("ws-claude-listed", Claude, Workspace, Allowlist),
        agent("ws-claude-wide", Claude, Workspace, Full),
        agent("codex", Codex, Strict, ModelOnly),
        agent("codex-listed", Codex, Strict, Allowlist),
        agent("codex-wide", Codex, Strict, Full),
        agent("ws-codex", Codex, Workspace, ModelOnly),
        agent("ws-codex-listed", Codex, Workspace, Allowlist),
        agent("ws-codex-wide", Codex, Workspace, Full),
        agent("server", Server, Strict, ModelOnly),
        agent("server-wide", Server, Strict, Full),
        agent("ws-server", Server, Workspace, ModelOnly),
    ]
};

/// Without a sandbox: an attempt that none of them succeeds with proves nothing.
pub(crate) const FREE: &[Agent] = &[
    agent(OPEN, Backend::Native, Level::Off, Reach::Full),
    agent("open-claude", Backend::Claude, Level::Off, Reach::Full),
];

/// Every agent that tries.
pub(crate) fn everyone() -> impl Iterator<Item = &'static Agent> {
    CONFINED.iter().chain(FREE)
}

impl Agent {
    pub(crate) fn setting(&self, root: bool) -> Setting {
        Setting {
            backend: self.backend,
            level: self.level,
            reach: self.reach,
            root,
        }
    }

    fn configured(&self, workspaces: &str) -> Value {
        let backend = match self.backend {
            Backend::Native | Backend::Server => "native",
            Backend::Offline => "offline",
            Backend::Claude => "claude-cli",
            Backend::Codex => "codex-cli",
        };
        let level = match self.level {
            Level::Strict => "strict",
            Level::Workspace => "workspace",
            Level::Off => "off",
        };
        let mut sandbox = json!({"level": level});
        match self.reach {
            // A server's network is the server's.
            _ if self.backend == Backend::Server => {}
            Reach::ModelOnly => {}
            Reach::Full => sandbox["network"] = "full".into(),
            Reach::Allowlist => {
                sandbox["network"] = "allowlist".into();
                sandbox["hosts"] = json!(["public.example", "private.example", "localhost"]);
            }
        }
        json!({
            "id": self.id, "backend": backend, "workspace": format!("{workspaces}/{}", self.id),
            "model": if self.backend == Backend::Codex { "openai/gpt-scripted" } else { "anthropic/claude-scripted" },
            "sandbox": sandbox, "limits": limits(self.level), "tools": {"exec": {"ask": "off"}},
        })
    }
}

/// Those without a sandbox have no limit that matters, so that it is the others' limits that hold.
fn limits(level: Level) -> Value {
    match level {
        Level::Off => json!({"processes": 100_000, "openFiles": 65_536, "fileSizeMib": 4096,
            "addressSpaceMib": 65_536, "tasksMax": 100_000, "memoryMax": "8G"}),
        Level::Strict | Level::Workspace => {
            json!({"processes": 256, "openFiles": 1024, "fileSizeMib": 8,
            "addressSpaceMib": 512})
        }
    }
}

/// The whole file where the agents `ids`, which leave things behind, are answered by `backend`, and a CLI stands ready.
pub(crate) fn planting(workspaces: &str, ids: &[&str], backend: &str) -> Value {
    let mut file = configuration(workspaces, false);
    let agents = ids.iter().map(|id| {
        json!({
            "id": id, "backend": backend, "workspace": format!("{workspaces}/{id}"), "cliWarmSeconds": 60,
            "model": if backend == "codex-cli" { "openai/gpt-scripted" } else { "anthropic/claude-scripted" },
            "tools": {"exec": {"ask": "off"}}, "limits": {"fileSizeMib": 4096},
        })
    });
    if let Some(list) = file["agents"]["list"].as_array_mut() {
        list.extend(agents);
    }
    file
}

/// The whole file, for a user whose agents' workspaces are in `workspaces`. With `servers` there are the hostile MCP
/// servers too, which every turn starts.
pub(crate) fn configuration(workspaces: &str, servers: bool) -> Value {
    let greedy = json!({
        "id": GREEDY, "backend": "native", "model": "anthropic/claude-scripted",
        "workspace": format!("{workspaces}/{GREEDY}"), "tools": {"exec": {"ask": "off"}},
        "limits": {"memoryMax": "200M", "addressSpaceMib": 4096},
    });
    let list: Vec<Value> = everyone()
        .map(|agent| agent.configured(workspaces))
        .chain([greedy, json!({"id": "main", "default": true})])
        .collect();
    let mut file = json!({
        "agents": {
            "defaults": {
                "backend": "offline", "timeoutSeconds": 1200, "noOutputSeconds": 1200,
                "claudeCliPath": format!("{HOSTILE}/claude"), "codexCliPath": format!("{HOSTILE}/codex"),
            },
            "list": list,
        },
        "gateway": {"auth": {"token": "ESCAPE-GATEWAY-0123456789abcdef0123456789abcdef"}},
        "models": {"providers": {
            "anthropic": {"baseUrl": format!("http://{MODEL}")},
            "openai": {"baseUrl": format!("http://{MODEL}/v1")},
        }},
    });
    if servers {
        let server = json!({"command": "perl", "args": [format!("{HOSTILE}/server.pl")]});
        file["mcp"]["servers"]["plain"] = server.clone();
        file["mcp"]["servers"]["wide"] = server;
        file["mcp"]["servers"]["wide"]["network"] = "full".into();
    }
    file
}
