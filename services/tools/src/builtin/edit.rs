//! `edit`.

use std::fs;
use std::io;
use std::path::Path;

use serde::Deserialize;
use serde_json::{Value, json};

use super::Workspace;
use super::failure::{io_failure, wrong_type};
use super::write;
use crate::call::FailureKind;
use crate::handler::HandlerError;
use crate::text;

/// Bytes of a file that is edited: it is held in memory twice.
pub(super) const MAX_FILE_BYTES: u64 = 16 * 1024 * 1024;

/// Edits of one call.
const MAX_EDITS: usize = 200;

/// Bytes of a text that a message quotes.
const MAX_QUOTED_BYTES: usize = 80;

pub(super) const DESCRIPTION: &str = "Replace pieces of a text file. Each oldText must be in the file exactly once; all are looked up before anything changes.";

pub(super) fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1},
            "edits": {
                "type": "array", "minItems": 1, "maxItems": MAX_EDITS,
                "items": {
                    "type": "object",
                    "properties": {
                        "oldText": {"type": "string", "minLength": 1},
                        "newText": {"type": "string"}
                    },
                    "required": ["oldText", "newText"],
                    "additionalProperties": false
                }
            }
        },
        "required": ["path", "edits"],
        "additionalProperties": false
    })
}

#[derive(Deserialize)]
pub(super) struct Arguments {
    path: String,
    edits: Vec<Edit>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Edit {
    old_text: String,
    new_text: String,
}

pub(super) fn run(workspace: &Workspace, arguments: Arguments) -> Result<String, HandlerError> {
    let path = workspace.reach(&arguments.path)?;
    let before = read_text(workspace, "edit", &path)?;
    let after = apply(&before, &arguments.edits, &path)?;
    write::replace_text(workspace, &path, &after)?;
    Ok(format!(
        "made {} in {}",
        match arguments.edits.len() {
            1 => "1 change".to_owned(),
            count => format!("{count} changes"),
        },
        path.display()
    ))
}

/// A text file, whole.
pub(super) fn read_text(
    workspace: &Workspace,
    doing: &str,
    path: &Path,
) -> Result<String, HandlerError> {
    let failed = |error: io::Error| io_failure(workspace, doing, path, &error);
    let metadata = fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() {
        return Err(wrong_type(doing, path, "it is not a regular file"));
    }
    if metadata.len() > MAX_FILE_BYTES {
        return Err(HandlerError::new(
            FailureKind::TOO_LARGE,
            format!(
                "cannot {doing} {}: it has {} bytes, the limit is {MAX_FILE_BYTES}",
                path.display(),
                metadata.len()
            ),
        ));
    }
    let bytes = fs::read(path).map_err(failed)?;
    String::from_utf8(bytes).map_err(|_| {
        HandlerError::new(
            FailureKind::BINARY_FILE,
            format!("cannot {doing} {}: it is not UTF-8 text", path.display()),
        )
    })
}

/// The text with every edit made. Where edits are is decided before any is
/// made, so that one does not see the other's text.
fn apply(text: &str, edits: &[Edit], path: &Path) -> Result<String, HandlerError> {
    let mut places = Vec::with_capacity(edits.len());
    for (index, edit) in edits.iter().enumerate() {
        let start = find(text, edit, index, path)?;
        places.push((start, start + edit.old_text.len(), edit));
    }
    places.sort_by_key(|(start, _, _)| *start);
    if let Some(two) = places.windows(2).find(|two| two[0].1 > two[1].0) {
        return Err(no_match(format!(
            "two edits of {} overlap at {:?}; make one of them",
            path.display(),
            quote(&two[1].2.old_text)
        )));
    }
    let mut after = String::with_capacity(text.len());
    let mut done = 0;
    for (start, end, edit) in places {
        after.push_str(&text[done..start]);
        after.push_str(&edit.new_text);
        done = end;
    }
    after.push_str(&text[done..]);
    if after == text {
        return Err(no_match(format!(
            "nothing would change in {}: the new text is the old one",
            path.display()
        )));
    }
    Ok(after)
}

fn find(text: &str, edit: &Edit, index: usize, path: &Path) -> Result<usize, HandlerError> {
    let old = edit.old_text.as_str();
    let number = index + 1;
    let (shown, path) = (quote(old), path.display());
    let Some(first) = text.find(old) else {
        let hint = if text.contains(old.trim()) && !old.trim().is_empty() {
            "; it is there with other space around it"
        } else {
            "; read the file again, the text must be the same to the last space"
        };
        return Err(no_match(format!(
            "edit {number}: {path} does not have {shown:?}{hint}"
        )));
    };
    // Overlapping finds count too: which one is meant cannot be known.
    let mut others = text.char_indices().skip_while(|(at, _)| *at <= first);
    if others.any(|(at, _)| text[at..].starts_with(old)) {
        let count = text.matches(old).count().max(2);
        return Err(no_match(format!(
            "edit {number}: {path} has {shown:?} {count} times; give more of the text around it"
        )));
    }
    Ok(first)
}

fn quote(text: &str) -> String {
    text::excerpt(text, MAX_QUOTED_BYTES)
}

pub(super) fn no_match(message: String) -> HandlerError {
    HandlerError::new(FailureKind::NO_MATCH, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits(pairs: &[(&str, &str)]) -> Vec<Edit> {
        let edit = |(old, new): &(&str, &str)| Edit {
            old_text: (*old).to_owned(),
            new_text: (*new).to_owned(),
        };
        pairs.iter().map(edit).collect()
    }

    fn applied(text: &str, pairs: &[(&str, &str)]) -> Result<String, String> {
        apply(text, &edits(pairs), Path::new("f")).map_err(|error| error.message)
    }

    #[test]
    fn edits_are_looked_up_in_the_text_as_it_was() {
        assert_eq!(applied("ab", &[("b", "a"), ("a", "b")]).unwrap(), "ba");
        assert_eq!(applied("x äö y", &[("äö", "")]).unwrap(), "x  y");
    }

    #[test]
    fn edit_what_cannot_be_meant_is_refused() {
        let twice = applied("aaa", &[("aa", "b")]).unwrap_err();
        assert!(twice.contains("2 times"), "{twice}");
        let missing = applied("  a\n", &[("\ta", "b")]).unwrap_err();
        assert!(missing.contains("other space"), "{missing}");
        let overlap = applied("abc", &[("ab", "1"), ("bc", "2")]).unwrap_err();
        assert!(overlap.contains("overlap"), "{overlap}");
        let same = applied("abc", &[("b", "b")]).unwrap_err();
        assert!(same.contains("nothing would change"), "{same}");
    }
}
