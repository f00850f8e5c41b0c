//! Taking notes away, in two steps: what is meant is shown with its place, and
//! a place is taken away.

use std::path::Path;

use openclaw_tools::{Registry, ToolCall};
use openclaw_turn::TurnRequest;
use serde_json::json;

use super::SearchAnswer;
use crate::emitter::Emitter;
use crate::failure::TurnError;
use crate::workspace;

/// Longest note of which lines are taken away, in bytes.
const LIMIT: u64 = 2 << 20;
/// Matches that are shown.
const SHOWN: usize = 5;
/// The folder of notes, and the one file beside it that is forgotten from.
const FOLDER: &str = "memory/";
const MEMORY: &str = "MEMORY.md";

/// Lines of a note.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place<'a> {
    path: &'a str,
    from: usize,
    to: usize,
}

/// The place that is named, `memory/2026-01-02.md:3` or `…:3-5`; None for words.
pub(super) fn place(what: &str) -> Option<Place<'_>> {
    let (path, lines) = what.rsplit_once(':')?;
    let (from, to) = lines.split_once('-').unwrap_or((lines, lines));
    let (from, to) = (from.parse().ok()?, to.parse().ok()?);
    let is_note = path == MEMORY || path.starts_with(FOLDER) && !path.contains("..");
    (is_note && path.ends_with(".md") && (1..=to).contains(&from)).then_some(Place {
        path,
        from,
        to,
    })
}

/// The notes that `what` may mean, with how each is taken away.
pub(super) fn offered(what: &str, answer: Result<String, String>) -> String {
    let found = answer.and_then(|answer| {
        let found: Result<SearchAnswer, _> = serde_json::from_str(&answer);
        found.map_err(|error| error.to_string())
    });
    let found = match found {
        Ok(found) => found,
        Err(message) => return format!("That did not work: {message}\n"),
    };
    if found.results.is_empty() {
        return format!("Nothing found for \"{what}\".\n");
    }
    let mut text = String::new();
    for hit in found.results.iter().take(SHOWN) {
        let line = hit.snippet.lines().next().unwrap_or_default();
        let lines = match hit.end_line {
            end if end > hit.start_line => format!("{}-{end}", hit.start_line),
            _ => hit.start_line.to_string(),
        };
        text.push_str(&format!("> {line}\n`/forget {}:{lines}`\n\n", hit.path));
    }
    text.push_str("Conversations keep what was said in them: `openclawctl memory forget --everywhere` removes it there too.\n");
    text
}

/// Takes the lines at `place` away, by the tool that writes files and as it is
/// allowed to.
pub(super) async fn lines(
    place: &Place<'_>,
    request: &TurnRequest,
    registry: &Registry,
    out: &Emitter,
) -> Result<String, TurnError> {
    let Some(text) = note(&request.workspace, place.path) else {
        return Ok(format!("There is no note {}.\n", place.path));
    };
    let total = text.lines().count();
    if place.to > total {
        return Ok(format!("{} has {total} lines.\n", place.path));
    }
    let range = place.from - 1..place.to;
    let lines = text.split_inclusive('\n').enumerate();
    let (gone, kept): (Vec<_>, Vec<_>) = lines.partition(|(index, _)| range.contains(index));
    let text_of =
        |lines: Vec<(usize, &str)>| lines.into_iter().map(|(_, line)| line).collect::<String>();
    let call = ToolCall {
        id: format!("call_{}", request.run_id),
        name: "write_file".to_owned(),
        arguments: json!({"path": place.path, "content": text_of(kept)}),
    };
    out.tool_call(&call)?;
    let result = registry.execute(call).await;
    out.tool_result(&result)?;
    if !result.success {
        return Ok(format!("That did not work: {}\n", result.to_text()));
    }
    let gone = text_of(gone);
    Ok(format!("Forgotten: {}\n", gone.trim()))
}

fn note(folder: &Path, path: &str) -> Option<String> {
    let bytes = workspace::read(folder, path, LIMIT).ok().flatten()?;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn notes_are_read_through_nothing_that_an_agent_left() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("workspace");
        fs::create_dir_all(folder.join("memory")).unwrap();
        fs::write(root.path().join("own.md"), "private").unwrap();
        fs::write(folder.join("memory/a.md"), "a note").unwrap();
        std::os::unix::fs::symlink("../../own.md", folder.join("memory/link.md")).unwrap();
        nix::unistd::mkfifo(
            &folder.join("memory/fifo.md"),
            nix::sys::stat::Mode::S_IRWXU,
        )
        .unwrap();
        assert_eq!(note(&folder, "memory/a.md").as_deref(), Some("a note"));
        for name in ["memory/link.md", "memory/fifo.md", "memory/none.md"] {
            assert_eq!(note(&folder, name), None, "{name}");
        }
    }

    #[test]
    fn places_are_told_from_words() {
        let is = |path, from, to| Some(Place { path, from, to });
        assert_eq!(
            place("memory/2026-01-02.md:3"),
            is("memory/2026-01-02.md", 3, 3)
        );
        assert_eq!(place("MEMORY.md:3-5"), is("MEMORY.md", 3, 5));
        for words in [
            "the key",
            "note: the key",
            "/etc/passwd:1",
            "memory/../x.md:1",
            "MEMORY.md:5-3",
            "MEMORY.md:0",
        ] {
            assert_eq!(place(words), None, "{words}");
        }
    }
}
