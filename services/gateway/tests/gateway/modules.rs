//! The files of one library stand in an order too, as far as they are in
//! different folders: none uses one that uses it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use crate::layers::sources;

/// The libraries that this holds for.
const ORDERED: [&str; 2] = ["conversations", "doors"];

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
    let is_use = before
        .trim_start()
        .lines()
        .all(|line| line.starts_with('#') || line.starts_with("pub"));
    is_use.then(|| tree.split_whitespace().collect())
}

/// What `path`, written in `module`, begins with as seen from the root; None
/// when it is no path of this crate.
fn absolute(path: &str, module: &Module) -> Option<Module> {
    let mut names = path.trim().split("::").peekable();
    let mut place = match names.peek().copied()? {
        "crate" => Vec::new(),
        "super" | "self" => module.clone(),
        _ => return None,
    };
    for name in names {
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
        let elsewhere =
            code.split(|letter: char| !letter.is_alphanumeric() && !"_:".contains(letter));
        let used = trees
            .chain(elsewhere.map(str::to_owned))
            .filter_map(|path| absolute(&path, module))
            .map(|mut place| {
                while !texts.contains_key(&place) {
                    place.pop();
                }
                place
            })
            .filter(|place| place != module)
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

#[test]
fn modules_of_different_folders_use_each_other_one_way() {
    for library in ORDERED {
        let graph = graph(library);
        let folder = |module: &Module| module.first().cloned();
        let mut circles = BTreeSet::new();
        for module in graph.keys() {
            let mut seen = BTreeSet::new();
            reach(&graph, module, &mut seen);
            for other in seen {
                let mut back = BTreeSet::new();
                reach(&graph, other, &mut back);
                if back.contains(module) && folder(other) != folder(module) {
                    circles.insert((module.join("::"), other.join("::")));
                }
            }
        }
        assert!(graph.values().any(|used| !used.is_empty()), "{library}");
        assert!(circles.is_empty(), "{library}: {circles:#?}");
    }
}

#[test]
fn modules_a_use_with_braces_is_read_whole() {
    assert_eq!(
        paths("crate::{a::B, c::{d, E}}"),
        ["crate::a::B", "crate::c::d", "crate::c::E"]
    );
}
