//! How agents are confined, and what they are granted.

use crate::check::{Check, Severity};
use crate::gateway::found;
use crate::scene::{Scene, at, texts};

use Severity::{Critical, Info, Warn};

/// Places in a home that hold keys, or that the user's own programs obey.
const SENSITIVE: [&str; 12] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".kube",
    ".docker",
    ".netrc",
    ".config",
    ".local/bin",
    ".bashrc",
    ".profile",
    ".mozilla",
    ".password-store",
];
/// Places that are the machine's.
const OF_MACHINE: [&str; 9] = [
    "/", "/etc", "/root", "/home", "/proc", "/sys", "/dev", "/run", "/var",
];

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "sandbox.level_off",
        severity: Critical,
        remedy: "take sandbox.level out: the strictest level that holds here is taken",
        find: |it| {
            each(it, |key, sandbox| {
                (text(sandbox, "level") == "off")
                    .then(|| format!("{key}.level is off: agents may do all that this user may"))
            })
        },
    },
    Check {
        id: "sandbox.level_below_strict",
        severity: Info,
        remedy: "take sandbox.level out where strict holds here: openclawctl doctor says so",
        find: |it| {
            each(it, |key, sandbox| {
                (text(sandbox, "level") == "workspace").then(|| format!("{key}.level is workspace: agents see the names of other files and processes"))
            })
        },
    },
    Check {
        id: "sandbox.missing_weaken",
        severity: Warn,
        remedy: "set sandbox.missing to refuse",
        find: |it| {
            each(it, |key, sandbox| {
                (text(sandbox, "missing") == "weaken").then(|| format!("{key}.missing is weaken: where a confinement fails the next lower level is taken"))
            })
        },
    },
    Check {
        id: "sandbox.network_full",
        severity: Critical,
        remedy: "set sandbox.network to allowlist, with sandbox.hosts",
        find: |it| {
            each(it, |key, sandbox| {
                (text(sandbox, "network") == "full").then(|| format!("{key}.network is full: what an agent reads it can send anywhere, also to this machine's own services"))
            })
        },
    },
    Check {
        id: "sandbox.hosts_broad",
        severity: Warn,
        remedy: "name the hosts themselves in sandbox.hosts",
        find: |it| {
            each(it, |key, sandbox| {
                let hosts = texts(&sandbox["hosts"]);
                let broad = hosts
                    .iter()
                    .find(|host| host.trim_start_matches("*.").matches('.').count() == 0);
                broad.map(|host| format!("{key}.hosts has {host:?}"))
            })
        },
    },
    Check {
        id: "sandbox.provider_tools",
        severity: Warn,
        remedy: "take them out of sandbox.providerTools: what is searched for and fetched leaves this machine",
        find: |it| {
            each(it, |key, sandbox| {
                let tools = texts(&sandbox["providerTools"]);
                (!tools.is_empty())
                    .then(|| format!("{key}.providerTools grants {}", tools.join(", ")))
            })
        },
    },
    Check {
        id: "sandbox.dangerous_bind_mount",
        severity: Critical,
        remedy: "grant the folder that is needed, not the one above it",
        find: |it| {
            each(it, |key, sandbox| {
                granted(it, sandbox, &["rw", "ro"], is_of_machine)
                    .map(|path| format!("{key}.paths grants {path}"))
            })
        },
    },
    Check {
        id: "sandbox.path_with_keys",
        severity: Critical,
        remedy: "take it out of sandbox.paths: an agent that reads keys can tell them to its model",
        find: |it| {
            each(it, |key, sandbox| {
                granted(it, sandbox, &["rw", "ro"], is_sensitive)
                    .map(|path| format!("{key}.paths grants {path}"))
            })
        },
    },
    Check {
        id: "sandbox.path_of_state",
        severity: Critical,
        remedy: "take it out of sandbox.paths: conversations, tokens and keys are there",
        find: |it| {
            each(it, |key, sandbox| {
                granted(it, sandbox, &["rw", "ro"], is_state)
                    .map(|path| format!("{key}.paths grants {path}"))
            })
        },
    },
    Check {
        id: "sandbox.bind_mount_non_absolute",
        severity: Warn,
        remedy: "write the whole path, or begin it with ~/",
        find: |it| {
            // As it is written: what is read is made whole.
            let paths = at(&it.written, "sandbox.paths");
            let all = ["ro", "rw"]
                .into_iter()
                .flat_map(|kind| texts(&paths[kind]));
            let relative = all.filter(|path| !path.starts_with(['/', '~', '$']));
            relative
                .map(|path| format!("sandbox.paths has {path:?}"))
                .collect()
        },
    },
    Check {
        id: "sandbox.runs_as_root",
        severity: Warn,
        remedy: "run the suite as a user of its own; agents become openclaw-agent all the same",
        find: |_| {
            found(
                nix::unistd::geteuid().is_root(),
                "the suite is root's: a fault of a daemon's is the machine's",
            )
        },
    },
    Check {
        id: "limits.no_daily_budget",
        severity: Warn,
        remedy: "set agents.defaults.limits.costPerDay to what a day may cost: 25 is the default",
        find: |it| limits(it, "costPerDay", 500.0),
    },
    Check {
        id: "limits.no_turn_budget",
        severity: Info,
        remedy: "set agents.defaults.limits.costPerTurn to what an answer may cost: 5 is the default",
        find: |it| limits(it, "costPerTurn", 100.0),
    },
];

fn text<'a>(value: &'a serde_json::Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// What `find` says of the sandbox of all agents, and of those that have one of
/// their own.
fn each(scene: &Scene, find: impl Fn(&str, &serde_json::Value) -> Option<String>) -> Vec<String> {
    let mut found: Vec<String> = find("sandbox", scene.at("sandbox")).into_iter().collect();
    for (key, agent) in scene.agents() {
        found.extend(find(&format!("{key}.sandbox"), &agent["sandbox"]));
    }
    found
}

fn granted(
    scene: &Scene,
    sandbox: &serde_json::Value,
    kinds: &[&str],
    is_meant: fn(&Scene, &str) -> bool,
) -> Option<String> {
    let all = kinds
        .iter()
        .flat_map(|kind| texts(at(sandbox, &format!("paths.{kind}"))));
    let whole = all.map(|path| scene.paths.expand(path).display().to_string());
    whole.into_iter().find(|path| is_meant(scene, path))
}

fn is_of_machine(scene: &Scene, path: &str) -> bool {
    let path = plain(path);
    OF_MACHINE.contains(&path) || scene.home.to_str() == Some(path)
}

fn is_sensitive(scene: &Scene, path: &str) -> bool {
    let home = scene.home.display().to_string();
    let inside = plain(path)
        .strip_prefix(home.as_str())
        .map(|it| it.trim_start_matches('/'));
    inside.is_some_and(|inside| {
        let is_in = |name: &str| inside == name || inside.starts_with(&format!("{name}/"));
        let clis = openclaw_agent_clis::ALL.into_iter().map(|cli| cli.folder);
        SENSITIVE.into_iter().chain(clis).any(is_in)
    })
}

/// The state itself and what is in it beside workspaces.
fn is_state(scene: &Scene, path: &str) -> bool {
    let state = scene.paths.state.display().to_string();
    let inside = plain(path)
        .strip_prefix(state.as_str())
        .map(|it| it.trim_start_matches('/'));
    inside.is_some_and(|inside| !inside.starts_with("workspace"))
}

fn plain(path: &str) -> &str {
    match path.trim_end_matches('/') {
        "" => "/",
        path => path,
    }
}

fn limits(scene: &Scene, name: &str, most: f64) -> Vec<String> {
    let mut found = Vec::new();
    for (key, agent) in scene.agents() {
        let limit = agent["limits"][name].as_f64();
        if let Some(limit) = limit.filter(|limit| *limit > most) {
            found.push(format!("{key}.limits.{name} is ${limit}"));
        }
    }
    found
}
