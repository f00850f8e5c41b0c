//! Feature: openclaw-mvp, Property 16 of the design.

use std::fs;
use std::path::Path;

use openclaw_tools::Registry;
use proptest::prelude::*;
use serde_json::json;

use crate::properties::{CASES, builtins, run};

/// Kept of each end of a stream; more is in a file.
const END_BYTES: usize = 12 * 1024;

/// Pieces of both streams, as they follow one another.
type Pieces = Vec<(bool, Vec<u8>)>;

/// How a command ends.
#[derive(Debug, Clone, Copy)]
enum End {
    Code(i32),
    Signal(i32, &'static str),
}

impl End {
    fn command(self) -> String {
        match self {
            Self::Code(code) => format!("exit {code}"),
            Self::Signal(number, _) => format!("kill -{number} $$"),
        }
    }

    fn told(self) -> String {
        match self {
            Self::Code(code) => code.to_string(),
            Self::Signal(number, name) => {
                format!("{} (killed by signal {number}, {name})", 128 + number)
            }
        }
    }
}

fn end() -> impl Strategy<Value = End> {
    const SIGNALS: [(i32, &str); 3] = [(9, "SIGKILL"), (10, "SIGUSR1"), (15, "SIGTERM")];
    prop_oneof![
        3 => (0i32..=255).prop_map(End::Code),
        1 => prop::sample::select(&SIGNALS[..]).prop_map(|(number, name)| End::Signal(number, name)),
    ]
}

/// Text, bytes that are none, and more than is kept.
fn pieces() -> impl Strategy<Value = Pieces> {
    let text = "[^\u{0}]{0,60}".prop_map(String::into_bytes);
    let binary = prop::collection::vec(any::<u8>(), 0..200);
    let small = prop::collection::vec((any::<bool>(), prop_oneof![text, binary]), 0..6);
    let letters =
        ("[a-z]{1,9}\n?", 1usize..9_000).prop_map(|(word, times)| word.repeat(times).into_bytes());
    let large = prop::collection::vec((any::<bool>(), letters), 1..5);
    prop_oneof![2 => small, 1 => large]
}

/// Writes the pieces into files, and says the command that prints them in turn.
fn printing(folder: &Path, pieces: &Pieces) -> String {
    let mut command = String::new();
    for (number, (is_error, bytes)) in pieces.iter().enumerate() {
        fs::write(folder.join(number.to_string()), bytes).unwrap();
        let stream = if *is_error { " >&2" } else { "" };
        command += &format!("cat {number}{stream}; ");
    }
    command
}

/// All of one stream.
fn of_stream(pieces: &Pieces, wanted: bool) -> Vec<u8> {
    let own = pieces.iter().filter(|(is_error, _)| *is_error == wanted);
    own.flat_map(|(_, bytes)| bytes.clone()).collect()
}

/// A stream as it is told: its size, and all of it, or both ends.
fn told(name: &str, bytes: &[u8]) -> String {
    let text = if bytes.len() <= 2 * END_BYTES {
        String::from_utf8_lossy(bytes).into_owned()
    } else {
        let (head, rest) = bytes.split_at(END_BYTES);
        let (middle, tail) = rest.split_at(rest.len() - END_BYTES);
        let [head, tail] = [head, tail].map(String::from_utf8_lossy);
        format!("{head}\n[… {} bytes elided …]\n{tail}", middle.len())
    };
    let end = if text.is_empty() || text.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{name} ({} bytes):\n{text}{end}", bytes.len())
}

fn output(registry: &Registry, arguments: serde_json::Value) -> String {
    run(registry, "execute_shell", arguments).output
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// Feature: openclaw-mvp, Property 16: For any shell command execution, the
    /// Tool_System SHALL capture and return both stdout and stderr in the
    /// result: text or not, in turns, more than is told at once (which is in a
    /// file then), and however the command ends.
    #[test]
    fn property_16_stdout_stderr_and_exit_code_all_come_back(pieces in pieces(), end in end()) {
        let folder = tempfile::tempdir().unwrap();
        let command = printing(folder.path(), &pieces) + &end.command();
        let output = output(&builtins(folder.path()), json!({"command": command}));
        let streams = [("stdout", of_stream(&pieces, false)), ("stderr", of_stream(&pieces, true))];
        let mut expected = format!("exit code: {}\n", end.told());
        for (name, bytes) in &streams {
            expected += &told(name, bytes);
        }
        let notes = output.strip_prefix(&expected);
        prop_assert!(notes.is_some(), "{:?} instead of {:?}", output, expected);
        let mut notes = notes.unwrap_or_default();
        for (name, bytes) in streams.iter().filter(|(_, bytes)| bytes.len() > 2 * END_BYTES) {
            let note = notes.strip_prefix(&format!("note: all of {name} is in "));
            let (path, rest) = note.and_then(|note| note.split_once('\n')).unwrap();
            prop_assert!(fs::read(path).unwrap() == *bytes, "{} is not all of {}", path, name);
            fs::remove_file(path).unwrap();
            notes = rest;
        }
        prop_assert_eq!(notes, "");
    }

    /// Feature: openclaw-mvp, Property 16: For any shell command execution, the
    /// Tool_System SHALL capture and return both stdout and stderr in the
    /// result. Here: of a command in the background, which ended in time or is
    /// asked about later; its streams are one there.
    #[test]
    fn property_16_background_commands_tell_both_streams(
        lines in prop::collection::vec((any::<bool>(), "[a-zA-Z0-9äöü .,-]{0,40}"), 0..12),
        end in end(),
        is_asked_later in any::<bool>(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let numbered = lines.iter().enumerate();
        let pieces: Pieces = numbered
            .map(|(number, (is_error, line))| (*is_error, format!("{number}:{line}\n").into_bytes()))
            .collect();
        let command = printing(folder.path(), &pieces) + &end.command();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let tools = crate::Tools::of(folder.path());
        let said = runtime.block_on(async {
            let mode = if is_asked_later { "background" } else { "yieldMs" };
            let value = if is_asked_later { json!(true) } else { json!(20_000) };
            let said = tools.ok("exec", json!({"command": command, (mode): value})).await;
            // What ends at once is told at once.
            if said.starts_with("exit code: ") {
                return said;
            }
            let poll = json!({"action": "poll", "sessionId": "p1", "timeout": 20_000});
            said + &tools.until(poll, "ended with exit code").await
        });
        // Each stream has its order; which of two pipes is read first is the kernel's.
        for stream in [false, true] {
            let mut rest = said.as_str();
            for (_, line) in pieces.iter().filter(|(is_error, _)| *is_error == stream) {
                let line = std::str::from_utf8(line).unwrap();
                let found = rest.split_once(line);
                prop_assert!(found.is_some(), "{:?} is not in {:?}", line, said);
                rest = found.unwrap_or_default().1;
            }
        }
        let is_told = ["exit code: ", "ended with exit code "]
            .iter()
            .any(|words| said.contains(&format!("{words}{}", end.told())));
        prop_assert!(is_told, "{}", said);
    }
}
