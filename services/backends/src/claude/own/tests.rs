use openclaw_tools::Layer;
use openclaw_tools::catalog::{CLAUDE_ONLY, KNOWN};

use super::*;

#[test]
fn own_what_policies_know_is_in_the_table() {
    let known = KNOWN.iter().flat_map(|tool| tool.claude).copied();
    let names: Vec<&str> = TOOLS.iter().map(|(name, _)| *name).collect();
    for name in known.chain(CLAUDE_ONLY.iter().map(|tool| tool.name)) {
        assert!(names.contains(&name), "{name}");
    }
    assert!(names.is_sorted());
}

/// What `tests/cli/news` found in the newest version.
const KNOWN_NAMES: &str = include_str!("../../../../../tests/cli/claude.known");

#[test]
fn own_what_the_cli_has_is_in_the_table() {
    let of = |kind: &str| -> Vec<&str> {
        let lines = KNOWN_NAMES.lines();
        lines.filter_map(|line| line.strip_prefix(kind)).collect()
    };
    for tool in of("tool ") {
        let listed = TOOLS.iter().any(|(name, _)| *name == tool);
        assert!(listed, "{tool} is in claude.known, and not in the table");
    }
    let variables = of("variable ");
    for (name, _) in OFF {
        assert!(variables.contains(&name), "{name}");
    }
    let options = of("option ");
    for option in ["--tools", "--settings", "--disable-slash-commands"] {
        assert!(options.contains(&option), "{option}");
    }
}

#[test]
fn own_one_of_two_that_do_the_same_is_there() {
    let policy = |deny: &[&str]| {
        Policy::new(vec![Layer {
            deny: deny.iter().map(|name| (*name).to_owned()).collect(),
            ..Layer::default()
        }])
    };
    assert_eq!(covered(&policy(&[]), false).len(), 7);
    assert!(!covered(&policy(&["edit"]), false).contains(&"apply_patch"));
    assert!(!covered(&policy(&[]), true).contains(&"read_file"));
    let without = policy(&["read", "exec"]);
    assert!(!covered(&without, false).contains(&"list_directory"));
}
