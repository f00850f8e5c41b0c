//! The 26 properties of seed 002 have their tests, which say what they test.

use std::fs;
use std::path::{Path, PathBuf};

/// The seed's words, from property 1 on.
const SENTENCES: [&str; 26] = [
    "For any authentication token, the Gateway SHALL accept the connection if and only if the token matches the stored token; invalid tokens SHALL be rejected and the rejection SHALL be logged",
    "For any set of created sessions, all session IDs SHALL be unique (no two sessions share the same ID)",
    "For any sequence of transcript entries appended to a session, loading that session SHALL reconstruct the exact same sequence of entries (content, role, timestamps, tool calls preserved)",
    "For any session returned by the list operation, the metadata SHALL include a valid ID, creation timestamp, and accurate message count",
    "For any file created by the system, the file path SHALL be under the configured workspace directory",
    "For any configuration update, the write SHALL be atomic—readers SHALL never observe a partial or corrupted configuration file",
    "For any configuration key, if an environment variable is set, its value SHALL override the file-based value; if not set, the file value SHALL override the default",
    "For any required configuration setting, a default value SHALL exist such that the system can start with an empty configuration file",
    "For any invalid configuration value, the Config_Manager SHALL reject it with a clear error message describing the validation failure",
    "For any session start, the prompt context SHALL include the contents of SOUL.md and USER.md bootstrap files",
    "For any search query, the returned results SHALL be ordered by relevance score (highest first) and limited to the requested count",
    "For any two documents with identical content and relevance, the more recent document SHALL have a higher score than the older document",
    "For any search result set of size N > 1, the results SHALL be diverse—no two consecutive results SHALL have similarity above a threshold (0.95)",
    "For any session after compaction, the total context size SHALL be within the configured maximum token limit",
    "For any tool invocation, if the parameters do not match the tool's JSON schema, the Tool_System SHALL reject the call with a validation error",
    "For any shell command execution, the Tool_System SHALL capture and return both stdout and stderr in the result",
    "For any failed tool execution, the returned error SHALL include the tool name, error type, and descriptive message",
    "For any custom tool registered with the Tool_System, invoking that tool by name SHALL execute the registered handler",
    "For any valid Claude Code CLI response, parsing and re-serializing SHALL produce an equivalent structure (text content and tool calls preserved)",
    "For any message sent to a session, the message SHALL be routed to the Agent_Runtime associated with that session",
    "For any tool call requested by the agent, the Tool_System SHALL execute it and the result SHALL be returned to the agent",
    "For any response containing markdown, the CLI SHALL format code blocks with syntax highlighting and preserve structure",
    "For any log entry, the output SHALL be valid JSON containing timestamp, level, message, and context fields",
    "For any log entry, it SHALL only be written if its level is at or above the configured minimum level (error > warn > info > debug)",
    "For any error log entry, the output SHALL include a stack trace and relevant context (session ID, operation name)",
    "For any token file created by the Security_Manager, the file permissions SHALL be 600 (owner read/write only)",
];
/// How a file says that a property is tried with enough cases, whatever the
/// environment says.
const ENOUGH: [&str; 2] = ["const CASES: u32 = 256;", "use crate::properties::"];

/// A test of a property.
struct Test {
    number: usize,
    name: String,
    /// Its doc comment on one line.
    words: String,
    file: PathBuf,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

fn tests_in(file: &Path) -> Vec<Test> {
    let text = fs::read_to_string(file).unwrap();
    let mut words: Vec<&str> = Vec::new();
    let mut tests = Vec::new();
    for line in text.lines().map(str::trim) {
        let name = ["fn ", "async fn "]
            .iter()
            .find_map(|word| line.strip_prefix(word));
        let name = name.and_then(|rest| rest.split('(').next());
        let number = name.and_then(|name| name.strip_prefix("property_"));
        let number = number.and_then(|rest| rest.split('_').next()?.parse().ok());
        if let Some(more) = line.strip_prefix("///") {
            words.push(more.trim());
        } else if let (Some(number), Some(name)) = (number, name) {
            tests.push(Test {
                number,
                name: name.to_owned(),
                words: words.join(" "),
                file: file.to_owned(),
            });
        } else if !line.starts_with("#[") {
            words.clear();
        }
    }
    tests
}

#[test]
fn property_list_every_property_has_a_test_that_quotes_it_and_is_listed() {
    let mut files = Vec::new();
    for folder in ["services", "tests/integration"] {
        sources(&root().join(folder), &mut files);
    }
    let tests: Vec<Test> = files.iter().flat_map(|file| tests_in(file)).collect();
    let readme = fs::read_to_string(root().join("tests/README.md")).unwrap();
    for (number, sentence) in (1..).zip(SENTENCES) {
        let row = readme
            .lines()
            .find(|line| line.starts_with(&format!("| {number} |")));
        let row = row.unwrap_or_else(|| panic!("tests/README.md has no row for {number}"));
        let own: Vec<&Test> = tests.iter().filter(|test| test.number == number).collect();
        assert!(!own.is_empty(), "{number} has no test");
        for Test { name, words, .. } in own {
            assert!(words.contains(sentence), "{name} says: {words}");
            assert!(
                row.contains(name.as_str()),
                "tests/README.md does not list {name}"
            );
        }
    }
    for Test { name, file, .. } in &tests {
        let text = fs::read_to_string(file).unwrap();
        let is_generated = text.contains("proptest! {")
            || text.contains("TestRunner")
            || text.contains("runner()");
        let is_enough = ENOUGH.iter().any(|word| text.contains(word));
        assert!(!is_generated || is_enough, "{name} in {}", file.display());
    }
}
