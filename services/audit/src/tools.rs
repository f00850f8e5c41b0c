//! What tools may do unasked, and servers of further tools.

use serde_json::Value;

use crate::check::{Check, Severity};
use crate::scene::{Lets, Scene, at, open, texts};

use Severity::{Critical, Info, Warn};

/// Programs that run what they are given.
const INTERPRETERS: [&str; 20] = [
    "sh", "bash", "zsh", "dash", "fish", "python", "python3", "perl", "ruby", "node", "deno",
    "bun", "php", "lua", "awk", "env", "xargs", "sudo", "find", "ssh",
];

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "tools.exec.ask_off",
        severity: Warn,
        remedy: "take tools.exec.ask out: you are asked where a command could touch more than the workspace",
        find: |it| {
            each(it, |key, exec| {
                (exec["ask"] == "off")
                    .then(|| format!("{key}.ask is off: nobody is asked before any command"))
            })
        },
    },
    Check {
        id: "tools.exec.security_full_configured",
        severity: Warn,
        remedy: "set tools.exec.security to allowlist, or take it out",
        find: |it| {
            each(it, |key, exec| {
                let is_full = exec["security"] == "full" || exec["mode"] == "full";
                is_full.then(|| format!("{key} is full: every command is run"))
            })
        },
    },
    Check {
        id: "tools.exec.allowlist_interpreter_without_strict_inline_eval",
        severity: Warn,
        remedy: "name the scripts in tools.exec.allowlist, not the program that runs anything",
        find: |it| {
            each(it, |key, exec| {
                interpreter(&exec["allowlist"]).map(|name| format!("{key}.allowlist has {name}"))
            })
        },
    },
    Check {
        id: "tools.exec.safe_bins_interpreter_unprofiled",
        severity: Warn,
        remedy: "take it out of tools.exec.safeBins: it runs programs",
        find: |it| {
            each(it, |key, exec| {
                interpreter(&exec["safeBins"]).map(|name| format!("{key}.safeBins has {name}"))
            })
        },
    },
    Check {
        id: "tools.exec.safe_bins_broad_behavior",
        severity: Warn,
        remedy: "take it out of tools.exec.safeBins: it reads files, writes them, or asks the network",
        find: |it| {
            each(it, |key, exec| {
                const BROAD: [&str; 10] = [
                    "sed", "jq", "grep", "curl", "wget", "tee", "dd", "tar", "git", "sort",
                ];
                let list = texts(&exec["safeBins"]);
                let broad = list.into_iter().find(|name| BROAD.contains(name));
                broad.map(|name| format!("{key}.safeBins has {name}"))
            })
        },
    },
    Check {
        id: "tools.exec.safe_bin_trusted_dirs_risky",
        severity: Critical,
        remedy: "name folders in tools.exec.safeBinTrustedDirs that root alone writes",
        find: |it| {
            each(it, |key, exec| {
                let list = texts(&exec["safeBinTrustedDirs"]);
                let risky = list.into_iter().find(|folder| {
                    ["/tmp", "/var/tmp", "/dev/shm", "~", "."]
                        .iter()
                        .any(|it| folder.starts_with(it))
                });
                risky.map(|folder| format!("{key}.safeBinTrustedDirs has {folder}"))
            })
        },
    },
    Check {
        id: "tools.profile_minimal_overridden",
        severity: Warn,
        remedy: "take the tools out of tools.alsoAllow, or choose a wider profile",
        find: |it| {
            let more = it.list("tools.alsoAllow");
            let is = it.text("tools.profile") == "minimal" && !more.is_empty();
            if is {
                vec![format!(
                    "tools.profile is minimal, and tools.alsoAllow adds {}",
                    more.join(", ")
                )]
            } else {
                Vec::new()
            }
        },
    },
    Check {
        id: "tools.exec.fs_tools_disabled_but_exec_enabled",
        severity: Warn,
        remedy: "deny group:runtime too: commands read and write files",
        find: |it| {
            let denied = it.list("tools.deny");
            let is = denied.iter().any(|it| ["write", "group:fs"].contains(it))
                && !denied
                    .iter()
                    .any(|it| ["execute_shell", "exec", "group:runtime", "*"].contains(it));
            if is {
                vec!["tools.deny has the file tools, and commands are run".to_owned()]
            } else {
                Vec::new()
            }
        },
    },
    Check {
        id: "tools.fs.reads_beyond_workspace",
        severity: Info,
        remedy: "set tools.fs.workspaceOnly to true where an agent needs nothing else",
        find: |it| {
            if it.at("tools.fs.workspaceOnly").as_bool() == Some(false) {
                vec!["tools.fs.workspaceOnly is false".to_owned()]
            } else {
                Vec::new()
            }
        },
    },
    Check {
        id: "mcp.server_network_full",
        severity: Warn,
        remedy: "name its hosts: mcp.servers.NAME.hosts",
        find: |it| {
            servers(it, |key, server| {
                (server["network"] == "full").then(|| format!("{key} reaches every address"))
            })
        },
    },
    Check {
        id: "mcp.server_trusted",
        severity: Warn,
        remedy: "take trusted out: you are asked before its calls then",
        find: |it| {
            servers(it, |key, server| {
                (server["trusted"] == true)
                    .then(|| format!("{key} is believed which of its tools only read"))
            })
        },
    },
    Check {
        id: "mcp.server_unpinned",
        severity: Warn,
        remedy: "install it and name its program: what npx and uvx fetch is another program tomorrow",
        find: |it| {
            servers(it, |key, server| {
                let command = server["command"].as_str().unwrap_or_default();
                let name = command.rsplit('/').next().unwrap_or_default();
                let is_pinned = texts(&server["args"])
                    .iter()
                    .any(|it| it.trim_start_matches('@').contains('@'));
                (["npx", "uvx", "bunx", "pipx"].contains(&name) && !is_pinned)
                    .then(|| format!("{key} is fetched by {name} at each start"))
            })
        },
    },
    Check {
        id: "mcp.server_program_writable",
        severity: Critical,
        remedy: "chmod 755 the program, and have what it runs where no agent writes: it runs with \
                 what the server was granted",
        find: |it| {
            let all = it.at("mcp.servers").as_object().into_iter().flatten();
            let programs: Vec<_> = all
                .filter_map(|(_, server)| server["command"].as_str())
                .filter(|it| it.starts_with('/'))
                .map(std::path::PathBuf::from)
                .collect();
            let mut found = open(
                programs.iter().map(std::path::PathBuf::as_path),
                &[Lets::OthersWrite, Lets::GroupWrite],
            );
            found.extend(it.planted.iter().cloned());
            found
        },
    },
    Check {
        id: "mcp.server_secret_in_config",
        severity: Warn,
        remedy: "write ${VARIABLE} and put the value into ~/.config/openclaw/env",
        find: |it| {
            let all = at(&it.written, "mcp.servers")
                .as_object()
                .into_iter()
                .flatten();
            let mut found = Vec::new();
            for (name, server) in all {
                for (variable, value) in server["env"].as_object().into_iter().flatten() {
                    let is_secret = ["KEY", "TOKEN", "SECRET", "PASSWORD"]
                        .iter()
                        .any(|it| variable.to_uppercase().contains(it));
                    let is_written = value
                        .as_str()
                        .is_some_and(|it| !it.is_empty() && !it.contains("${"));
                    if is_secret && is_written {
                        found.push(format!(
                            "mcp.servers.{name}.env.{variable} stands in the file"
                        ));
                    }
                }
            }
            found
        },
    },
];

fn interpreter(list: &Value) -> Option<&str> {
    let list = texts(list);
    list.into_iter().find(|entry| {
        let program = entry.split_whitespace().next().unwrap_or_default();
        let name = program.rsplit('/').next().unwrap_or_default();
        *entry == "*" || (INTERPRETERS.contains(&name) && !entry.contains(' '))
    })
}

/// What `find` says of commands, of all agents and of each.
fn each<'a>(scene: &'a Scene, find: impl Fn(&str, &'a Value) -> Option<String>) -> Vec<String> {
    let mut found: Vec<String> = find("tools.exec", scene.at("tools.exec"))
        .into_iter()
        .collect();
    for (key, agent) in scene.agents() {
        found.extend(find(&format!("{key}.tools.exec"), at(agent, "tools.exec")));
    }
    found
}

fn servers(scene: &Scene, find: impl Fn(&str, &Value) -> Option<String>) -> Vec<String> {
    let all = scene.at("mcp.servers").as_object().into_iter().flatten();
    let on = all.filter(|(_, server)| server["enabled"] != false && server["disabled"] != true);
    on.filter_map(|(name, server)| find(&format!("mcp.servers.{name}"), server))
        .collect()
}
