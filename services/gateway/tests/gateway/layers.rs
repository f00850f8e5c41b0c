//! The libraries that the gateway is made of: which of them may use which, what
//! only those that face clients may know, and how large one may grow.

use std::fs;
use std::path::{Path, PathBuf};

use crate::modules::product;

/// Each library with those it may use.
const BELOW: [(&str, &[&str]); 6] = [
    ("conversations", &[]),
    ("runs", &["conversations"]),
    ("devices", &["conversations"]),
    ("doors", &["conversations", "runs"]),
    ("websocket", &["conversations", "devices", "doors", "runs"]),
    ("gateway", &["conversations", "doors", "runs", "websocket"]),
];

/// The libraries that know no client.
const CORE: [&str; 2] = ["conversations", "runs"];

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
    let names = BELOW.map(|(name, _)| format!("openclaw-{name}"));
    for (library, below) in BELOW {
        let mut used = dependencies(library);
        assert!(used.len() > 5, "{library}: {used:?}");
        used.retain(|name| names.contains(name));
        used.sort();
        let below: Vec<_> = below.iter().map(|it| format!("openclaw-{it}")).collect();
        assert_eq!(used, below, "{library}");
    }
}

#[test]
fn layers_no_other_service_uses_them() {
    let names = BELOW.map(|(name, _)| name);
    for entry in fs::read_dir(services()).unwrap() {
        let entry = entry.unwrap();
        let service = entry.file_name().into_string().unwrap();
        if names.contains(&service.as_str()) || !entry.path().join("Cargo.toml").exists() {
            continue;
        }
        let used = dependencies(&service);
        for name in names {
            assert!(!used.contains(&format!("openclaw-{name}")), "{service}");
        }
    }
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
    for (library, _) in BELOW {
        let files = sources(library);
        let lines: usize = files.iter().map(|it| product(it).lines().count()).sum();
        assert!(lines < LINE_LIMIT, "{library}: {lines} lines");
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
