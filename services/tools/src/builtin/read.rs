//! `read_file`.

use std::fs::{File, OpenOptions};
use std::io::{BufReader, Read, Seek};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use nix::fcntl::OFlag;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Workspace;
use super::failure::{io_failure, wrong_type};
use super::lines::{self, Limits, Window};
use crate::call::FailureKind;
use crate::handler::HandlerError;
use crate::text;

/// Lines of one answer; the most a model gets to see of a long file at once.
const MAX_LINES: u64 = 2000;

/// Bytes of one answer, some 16 000 tokens.
const MAX_BYTES: usize = 64 * 1024;

/// Bytes read for counting the lines behind the window.
const MAX_SCAN_BYTES: u64 = 64 * 1024 * 1024;

/// Bytes at the beginning that are searched for a NUL, as git and grep do.
const BINARY_PROBE_BYTES: u64 = 8000;

pub(super) const DESCRIPTION: &str = "Read a text file. Relative paths start at the workspace. Long files come in parts: use offset.";

pub(super) fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1},
            "offset": {"type": "integer", "minimum": 1, "description": "First line, from 1"},
            "limit": {"type": "integer", "minimum": 1, "description": "Number of lines"}
        },
        "required": ["path"],
        "additionalProperties": false
    })
}

#[derive(Deserialize)]
pub(super) struct Arguments {
    path: String,
    offset: Option<u64>,
    limit: Option<u64>,
}

pub(super) fn run(workspace: &Workspace, arguments: Arguments) -> Result<String, HandlerError> {
    let path = workspace.reach(&arguments.path)?;
    let failed = |error| io_failure(workspace, "read", &path, &error);
    let mut file = open(workspace, &path)?;
    if looks_binary(&mut file).map_err(failed)? {
        return Err(HandlerError::new(
            FailureKind::BINARY_FILE,
            format!(
                "cannot read {}: it is a binary file, not text; use execute_shell to look into it",
                path.display()
            ),
        ));
    }
    let first = arguments.offset.unwrap_or(1);
    let limits = Limits {
        skip: first - 1,
        lines: arguments.limit.unwrap_or(MAX_LINES).min(MAX_LINES),
        bytes: MAX_BYTES,
        scan: MAX_SCAN_BYTES,
    };
    let window = lines::read(&mut BufReader::new(file), limits).map_err(failed)?;
    render(&path, first, window)
}

fn open(workspace: &Workspace, path: &Path) -> Result<File, HandlerError> {
    let failed = |error| io_failure(workspace, "read", path, &error);
    let file = OpenOptions::new()
        .read(true)
        // Opening a pipe without a writer would block for good.
        .custom_flags(OFlag::O_NONBLOCK.bits())
        .open(path)
        .map_err(failed)?;
    let kind = file.metadata().map_err(failed)?.file_type();
    if kind.is_dir() {
        return Err(wrong_type(
            "read",
            path,
            "it is a folder; use list_directory",
        ));
    }
    if !kind.is_file() {
        return Err(wrong_type("read", path, "it is not a regular file"));
    }
    Ok(file)
}

fn looks_binary(file: &mut File) -> std::io::Result<bool> {
    let mut probe = Vec::new();
    file.take(BINARY_PROBE_BYTES).read_to_end(&mut probe)?;
    file.rewind()?;
    Ok(probe.contains(&0))
}

fn render(path: &Path, first: u64, mut window: Window) -> Result<String, HandlerError> {
    if window.lines == 0 && first > 1 {
        return Err(HandlerError::new(
            FailureKind::INVALID_ARGUMENTS,
            format!(
                "offset {first} is behind the end of {}, which has {} lines",
                path.display(),
                window.lines_before
            ),
        ));
    }
    if window.cut_bytes > 0 {
        let partial = text::incomplete_tail(&window.text);
        window.text.truncate(window.text.len() - partial);
        window.cut_bytes += partial as u64;
    }
    let mark = mark(first, &window);
    let mut output = match String::from_utf8(window.text) {
        Ok(text) => text,
        Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
    };
    output.push_str(&mark);
    Ok(output)
}

/// What says that this is not the whole rest of the file; empty when it is.
fn mark(first: u64, window: &Window) -> String {
    let mut mark = String::new();
    let break_line = if window.text.ends_with(b"\n") {
        ""
    } else {
        "\n"
    };
    let last = first + window.lines.saturating_sub(1);
    if window.cut_bytes > 0 {
        mark = format!(
            "{break_line}[line {last} cut, {} more bytes in it; use execute_shell for the rest]\n",
            window.cut_bytes
        );
    }
    if window.lines_after > 0 || window.uncounted {
        let at_least = if window.uncounted { "at least " } else { "" };
        let lead = if mark.is_empty() { break_line } else { "" };
        mark.push_str(&format!(
            "{lead}[truncated, {at_least}{} more lines; use offset {}]\n",
            window.lines_after,
            last + 1
        ));
    }
    mark
}
