//! `list_directory`.

use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::io;

use serde::Deserialize;
use serde_json::{Value, json};

use super::Workspace;
use super::failure::io_failure;
use crate::handler::HandlerError;

/// Entries of one answer.
const MAX_ENTRIES: usize = 500;

/// Entries read at all: names are sorted in memory.
const MAX_SCANNED: usize = 100_000;

pub(super) const DESCRIPTION: &str =
    "List a folder: type, size in bytes, name. Default: the workspace.";

pub(super) fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1},
            "limit": {"type": "integer", "minimum": 1},
            "after": {"type": "string", "description": "Begin behind this name"}
        },
        "additionalProperties": false
    })
}

#[derive(Deserialize)]
pub(super) struct Arguments {
    path: Option<String>,
    limit: Option<usize>,
    after: Option<String>,
}

pub(super) fn run(workspace: &Workspace, arguments: Arguments) -> Result<String, HandlerError> {
    let path = workspace.reach(arguments.path.as_deref().unwrap_or("."))?;
    let failed = |error: io::Error| io_failure(workspace, "list", &path, &error);
    let mut entries = fs::read_dir(&path)
        .map_err(failed)?
        .take(MAX_SCANNED)
        .collect::<io::Result<Vec<DirEntry>>>()
        .map_err(failed)?;
    if entries.is_empty() {
        return Ok("(empty folder)\n".to_owned());
    }
    let is_all = entries.len() < MAX_SCANNED;
    entries.sort_by_key(DirEntry::file_name);
    if let Some(after) = arguments.after.as_deref().map(OsStr::new) {
        entries.retain(|entry| entry.file_name() > *after);
    }
    let limit = arguments.limit.unwrap_or(MAX_ENTRIES).min(MAX_ENTRIES);
    let mut output: String = entries.iter().take(limit).map(line).collect();
    if entries.len() > limit {
        output.push_str(&format!(
            "[truncated, {}{} more entries; list a folder inside, or use after]\n",
            if is_all { "" } else { "at least " },
            entries.len() - limit
        ));
    }
    if output.is_empty() {
        output.push_str("(no more entries)\n");
    }
    Ok(output)
}

/// `file 120 notes.md`, `dir - memory/`, `link - latest -> notes.md`.
fn line(entry: &DirEntry) -> String {
    let name = entry.file_name();
    let name = name.to_string_lossy();
    match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => format!("dir - {name}/\n"),
        Ok(metadata) if metadata.is_file() => format!("file {} {name}\n", metadata.len()),
        Ok(metadata) if metadata.is_symlink() => match fs::read_link(entry.path()) {
            Ok(to) => format!("link - {name} -> {}\n", to.display()),
            Err(_) => format!("link - {name}\n"),
        },
        Ok(_) => format!("special - {name}\n"),
        // It went away between the listing and the look at it.
        Err(_) => format!("gone - {name}\n"),
    }
}
