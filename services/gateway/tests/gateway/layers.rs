//! The libraries that the gateway and the agent-runner are made of: which of them
//! may use which, what only those that face clients may know, which part of the
//! runner knows the other, and how large one may grow.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::modules::product;

/// A library with those of its daemon that it may use.
type Layer = (&'static str, &'static [&'static str]);

/// Those of the gateway.
const GATEWAY: &[Layer] = &[
    ("commands", &[]),
    ("conversations", &[]),
    ("inbound", &["commands"]),
    ("jobs", &[]),
    ("approval-log", &["conversations"]),
    ("kept-turns", &[]),
    ("compaction", &["conversations", "kept-turns"]),
    (
        "runs",
        &[
            "approval-log",
            "commands",
            "compaction",
            "conversations",
            "inbound",
            "jobs",
            "kept-turns",
        ],
    ),
    ("devices", &["conversations"]),
    (
        "schedule",
        &[
            "commands",
            "conversations",
            "inbound",
            "jobs",
            "kept-turns",
            "runs",
        ],
    ),
    (
        "doors",
        &["commands", "conversations", "inbound", "runs", "schedule"],
    ),
    (
        "websocket",
        &[
            "commands",
            "compaction",
            "conversations",
            "devices",
            "doors",
            "runs",
            "schedule",
        ],
    ),
    (
        "gateway",
        &["conversations", "doors", "runs", "schedule", "websocket"],
    ),
];

/// Those of the agent-runner. What a turn's process is made of knows nothing of
/// backends, and the daemon nothing of that process but what it hands over.
const RUNNER: &[Layer] = &[
    ("model-api", &[]),
    ("handoff", &["model-api"]),
    ("proxy", &["handoff", "model-api"]),
    ("mcp-servers", &["handoff", "proxy"]),
    (
        "turn-process",
        &["handoff", "mcp-servers", "model-api", "proxy"],
    ),
    ("backends", &["handoff", "model-api"]),
    (
        "agent-runner",
        &[
            "backends",
            "handoff",
            "mcp-servers",
            "model-api",
            "proxy",
            "turn-process",
        ],
    ),
];

/// Those of memory. How words are read is known to others too.
const MEMORY: &[Layer] = &[
    ("analysis", &[]),
    ("retrieval", &["analysis"]),
    ("memory", &["retrieval"]),
];

/// Those of the channel daemons.
const CHANNELS: &[Layer] = &[("channel", &[]), ("telegram", &["channel"])];

/// The processes that the agent-runner's program is too, which only its `main`
/// may name.
const PROCESSES: [&str; 2] = ["openclaw_mcp_servers", "openclaw_turn_process"];

/// All programs in one file, which is each of them by its name and knows no more of
/// any than its `main`.
const WHOLE: &str = "openclaw";

/// The libraries of the configuration, each with those it may use.
const CONFIGURATION: [(&str, &[&str]); 4] = [
    ("config", &[]),
    ("credentials", &["config"]),
    ("effect", &["config"]),
    ("settings", &["config", "credentials", "effect"]),
];

/// The libraries that know no client.
const CORE: [&str; 9] = [
    "approval-log",
    "commands",
    "compaction",
    "conversations",
    "inbound",
    "jobs",
    "kept-turns",
    "runs",
    "schedule",
];

/// The crates that speak with clients, none of which the core uses.
const OF_CLIENTS: [&str; 6] = [
    "axum",
    "hyper",
    "http-body-util",
    "openclaw-protocol",
    "tokio-tungstenite",
    "tower",
];

/// The generated types of the control socket. Cargo cannot forbid them: they are
/// in the crate of the clients that the core uses.
const WIRE: &str = "openclaw_proto::wire";

/// Lines of one library, without its tests.
const LINE_LIMIT: usize = 9000;

fn services() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The folders of all crates.
pub(crate) fn crates() -> BTreeSet<String> {
    fn below(folder: &Path) -> impl Iterator<Item = PathBuf> {
        let entries = fs::read_dir(folder).unwrap();
        let folders = entries.map(|entry| entry.unwrap().path());
        folders.filter(|folder| folder.join("Cargo.toml").exists())
    }
    below(services())
        .flat_map(|folder| below(&folder).chain([folder.clone()]).collect::<Vec<_>>())
        .map(|folder| {
            folder
                .strip_prefix(services())
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned()
        })
        .collect()
}

/// The crates that `library` is built from.
fn dependencies(library: &str) -> Vec<String> {
    let path = services().join(library).join("Cargo.toml");
    let text = fs::read_to_string(path).unwrap();
    let section = text.split("\n[dependencies]\n").nth(1).unwrap_or_default();
    let section = section.split("\n[").next().unwrap();
    let name = |line: &str| line.split(['.', ' ', '=']).next().unwrap().to_owned();
    section
        .lines()
        .filter(|line| !line.is_empty())
        .map(name)
        .collect()
}

/// The sources of `library`, its tests among them.
pub(crate) fn sources(library: &str) -> Vec<PathBuf> {
    fn add(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                add(&path, found);
            } else if path.extension().is_some_and(|it| it == "rs") {
                found.push(path);
            }
        }
    }
    let mut found = Vec::new();
    add(&services().join(library).join("src"), &mut found);
    assert!(!found.is_empty(), "{library} has no sources");
    found
}

#[test]
fn layers_each_library_uses_only_those_below_it() {
    for layers in [GATEWAY, RUNNER, MEMORY, CHANNELS, &CONFIGURATION] {
        let named = |name: &str| {
            layers
                .iter()
                .any(|(it, _)| name == format!("openclaw-{it}"))
        };
        for (library, below) in layers {
            let mut used = dependencies(library);
            assert!(
                used.len() > 2 || *library == "commands",
                "{library}: {used:?}"
            );
            used.retain(|name| named(name));
            used.sort();
            let below: Vec<_> = below.iter().map(|it| format!("openclaw-{it}")).collect();
            assert_eq!(used, below, "{library}");
        }
    }
}

#[test]
fn layers_the_configuration_uses_nothing_else_of_ours() {
    let names = CONFIGURATION.map(|(name, _)| format!("openclaw-{name}"));
    for (library, _) in CONFIGURATION {
        let mut used = dependencies(library);
        used.retain(|name| name.starts_with("openclaw-") && !names.contains(name));
        // What some keys name, and where paths of a configuration lead.
        used.retain(|name| !["config", "settings"].contains(&library) || name != "openclaw-folder");
        used.retain(|name| library != "effect" || name != "openclaw-policy");
        // A table of the agent CLIs that keys name.
        used.retain(|name| name != "openclaw-agent-clis");
        // Of everything that writes.
        used.retain(|name| name != "openclaw-modes");
        assert!(used.is_empty(), "{library}: {used:?}");
    }
}

#[test]
fn layers_no_other_service_uses_them() {
    for layers in [GATEWAY, RUNNER, CHANNELS] {
        for service in crates() {
            if service == WHOLE || layers.iter().any(|(name, _)| *name == service) {
                continue;
            }
            let used = dependencies(&service);
            for (name, _) in layers {
                assert!(!used.contains(&format!("openclaw-{name}")), "{service}");
            }
        }
    }
}

#[test]
fn layers_the_runners_daemon_knows_its_processes_by_main_alone() {
    let mut named = BTreeSet::new();
    for file in sources("agent-runner") {
        let text = fs::read_to_string(&file).unwrap();
        if PROCESSES.iter().any(|name| text.contains(name)) {
            named.insert(file.file_name().unwrap().to_owned());
        }
    }
    assert_eq!(named, BTreeSet::from(["main.rs".into()]));
}

#[test]
fn layers_the_core_knows_no_client() {
    for library in CORE {
        let used = dependencies(library);
        for name in OF_CLIENTS {
            assert!(!used.iter().any(|it| it == name), "{library}: {name}");
        }
    }
    for library in [&CORE[..], &["devices"]].concat() {
        for file in sources(library) {
            let text = fs::read_to_string(&file).unwrap();
            assert!(!text.contains(WIRE), "{}", file.display());
        }
    }
}

#[test]
fn layers_no_library_is_too_large() {
    for library in crates() {
        let files = sources(&library);
        let lines: usize = files.iter().map(|it| product(it).lines().count()).sum();
        assert!(lines < LINE_LIMIT, "{library}: {lines} lines");
    }
}

/// `tests/run` asks rustdoc for nothing: an example would be taken for one that is tried.
#[test]
fn layers_no_documentation_has_examples_that_would_run() {
    let is_comment = |line: &&str| line.starts_with("///") || line.starts_with("//!");
    for file in crates().iter().flat_map(|library| sources(library)) {
        let text = fs::read_to_string(&file).unwrap();
        let lines = text.lines().map(str::trim_start).filter(is_comment);
        let fences = lines.filter_map(|line| line[3..].trim_start().strip_prefix("```"));
        for (number, opening) in fences.enumerate().filter(|(number, _)| number % 2 == 0) {
            assert!(
                !matches!(opening, "" | "rust" | "no_run" | "should_panic"),
                "{}: {number}",
                file.display()
            );
        }
    }
}

#[test]
fn layers_the_gateway_itself_is_the_wiring() {
    let mut names: Vec<String> = fs::read_dir(services().join("gateway/src"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["lib.rs", "main.rs", "settings.rs"]);
}
