//! The modules of one library stand in an order too: what lies in one file or
//! folder of its root uses no other that comes back to it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::layers::sources;

/// The libraries that this holds for.
const ORDERED: [&str; 16] = [
    "agent-runner",
    "backends",
    "commands",
    "config",
    "conversations",
    "doors",
    "effect",
    "foreground",
    "handoff",
    "inbound",
    "jobs",
    "mcp-servers",
    "model-api",
    "proxy",
    "runs",
    "websocket",
];

/// The names on the way from a crate's root to a module.
type Module = Vec<String>;

/// The text of a file without its tests.
pub(crate) fn product(path: &Path) -> String {
    let name = path.file_name().unwrap();
    if name == "tests.rs" || name == "fuzz.rs" {
        return String::new();
    }
    let text = fs::read_to_string(path).unwrap();
    match text.split_once("#[cfg(test)]\nmod tests {") {
        Some((product, _)) => product.to_owned(),
        None => text,
    }
}

/// The module that a file of `library` is.
fn module(library: &str, path: &Path) -> Module {
    let marker = format!("/{library}/src/");
    let path = path.to_str().unwrap();
    let (_, inside) = path.rsplit_once(&marker).unwrap();
    let names = inside.strip_suffix(".rs").unwrap().split('/');
    names
        .filter(|name| *name != "lib")
        .map(str::to_owned)
        .collect()
}

/// The paths of a `use`, with its braces resolved.
fn paths(tree: &str) -> Vec<String> {
    let Some((before, rest)) = tree.split_once('{') else {
        return vec![tree.to_owned()];
    };
    let inside = rest.rsplit_once('}').unwrap().0;
    let mut found = Vec::new();
    let (mut depth, mut from) = (0, 0);
    for (at, letter) in inside.char_indices().chain([(inside.len(), ',')]) {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                let each = paths(inside[from..at].trim());
                found.extend(each.iter().map(|it| format!("{before}{it}")));
                from = at + 1;
            }
            _ => {}
        }
    }
    found
}

/// What a statement imports, on one line; None when it is no `use`.
fn imported(statement: &str) -> Option<String> {
    let (before, tree) = statement.rsplit_once("use ")?;
    let line = before.rsplit('\n').next().unwrap_or_default().trim();
    let is_use = line.is_empty() || line.starts_with("pub");
    is_use.then(|| tree.split_whitespace().collect())
}

/// What `path`, written in `module`, begins with as seen from the root; None
/// when it is no path of this crate.
fn absolute(path: &str, module: &Module, modules: &BTreeMap<Module, String>) -> Option<Module> {
    let (first, _) = path.trim().split_once("::")?;
    let child = [&module[..], &[first.to_owned()]].concat();
    let mut place = match first {
        "crate" => Vec::new(),
        "super" | "self" => module.clone(),
        _ if modules.contains_key(&child) => module.clone(),
        _ => return None,
    };
    for name in path.trim().split("::") {
        match name {
            "crate" | "self" => {}
            "super" => {
                place.pop();
            }
            name => place.push(name.to_owned()),
        }
    }
    Some(place)
}

/// The modules of `library` with those that each uses.
fn graph(library: &str) -> BTreeMap<Module, BTreeSet<Module>> {
    let files = sources(library);
    let texts: BTreeMap<Module, String> = files
        .iter()
        .map(|path| (module(library, path), product(path)))
        .filter(|(_, text)| !text.is_empty())
        .collect();
    let uses = |(module, text): (&Module, &String)| {
        let lines = text.lines().map(|line| line.split("//").next().unwrap());
        let code: String = lines.flat_map(|line| [line, "\n"]).collect();
        let trees = code
            .split(";\n")
            .filter_map(imported)
            .flat_map(|it| paths(&it));
        // Where braces follow, the paths were read above.
        let elsewhere = code
            .split(|letter: char| !letter.is_alphanumeric() && !"_:".contains(letter))
            .filter(|path| !path.ends_with("::"));
        let used = trees
            .chain(elsewhere.map(str::to_owned))
            .filter_map(|path| absolute(&path, module, &texts))
            .map(|mut place| {
                while !place.is_empty() && !texts.contains_key(&place) {
                    place.pop();
                }
                place
            })
            .filter(|place| place != module && texts.contains_key(place))
            .collect();
        (module.clone(), used)
    };
    texts.iter().map(uses).collect()
}

/// All that `from` comes to use.
fn reach<'a>(
    graph: &'a BTreeMap<Module, BTreeSet<Module>>,
    from: &'a Module,
    seen: &mut BTreeSet<&'a Module>,
) {
    for next in &graph[from] {
        if seen.insert(next) {
            reach(graph, next, seen);
        }
    }
}

/// The graph of what lies in the root: a folder and its file are one.
fn in_root(graph: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeMap<Module, BTreeSet<Module>> {
    let folder = |module: &Module| module.iter().take(1).cloned().collect::<Module>();
    let mut found = BTreeMap::<_, BTreeSet<_>>::new();
    for (module, used) in graph {
        let own = folder(module);
        let others = used.iter().map(folder).filter(|other| *other != own);
        found.entry(own.clone()).or_default().extend(others);
    }
    found
}

/// The pairs of modules of which each comes to use the other.
fn circles(graph: &BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<(String, String)> {
    let reached = |module| {
        let mut seen = BTreeSet::new();
        reach(graph, module, &mut seen);
        seen
    };
    let all: BTreeMap<&Module, _> = graph.keys().map(|it| (it, reached(it))).collect();
    let pairs = all
        .iter()
        .flat_map(|(from, seen)| seen.iter().map(move |to| (*from, *to)));
    pairs
        .filter(|(from, to)| from < to && all[to].contains(from))
        .map(|(from, to)| (from.join("::"), to.join("::")))
        .collect()
}

#[test]
fn modules_of_different_folders_use_each_other_one_way() {
    for library in ORDERED {
        let graph = in_root(&graph(library));
        assert!(graph.values().any(|used| !used.is_empty()), "{library}");
        let circles = circles(&graph);
        assert!(circles.is_empty(), "{library}: {circles:#?}");
    }
}

#[test]
fn modules_of_a_circle_are_found_however_they_name_each_other() {
    let texts = ["", "a", "a::b", "c"].map(|name| {
        let names = name.split("::").filter(|it| !it.is_empty());
        (names.map(str::to_owned).collect::<Module>(), String::new())
    });
    let modules = BTreeMap::from(texts);
    let place = |path, module: &str| {
        let module = module.split("::").map(str::to_owned).collect();
        absolute(path, &module, &modules).map(|it| it.join("::"))
    };
    assert_eq!(place("crate::c::D", "a").as_deref(), Some("c::D"));
    assert_eq!(place("super::super::c::D", "a::b").as_deref(), Some("c::D"));
    assert_eq!(place("b::D", "a").as_deref(), Some("a::b::D"));
    assert_eq!(place("crate", "a"), None, "as in pub(crate)");
    assert_eq!(place("serde::D", "a"), None);
    let uses = |from: &str, to: &str| {
        let module = |name: &str| name.split("::").map(str::to_owned).collect::<Module>();
        (module(from), BTreeSet::from([module(to)]))
    };
    let graph = BTreeMap::from([uses("a", "c"), uses("a::b", "a"), uses("c", "a::b")]);
    let found = circles(&in_root(&graph));
    assert_eq!(found, BTreeSet::from([("a".to_owned(), "c".to_owned())]));
}

#[test]
fn modules_a_use_with_braces_is_read_whole() {
    assert_eq!(
        paths("crate::{a::B, c::{d, E}}"),
        ["crate::a::B", "crate::c::d", "crate::c::E"]
    );
}
