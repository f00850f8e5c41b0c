//! `write_file`.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use nix::fcntl::OFlag;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Workspace;
use super::failure::{io_failure, wrong_type};
use crate::call::FailureKind;
use crate::handler::HandlerError;

/// Bytes of one write; a model's answer is far shorter.
const MAX_CONTENT_BYTES: usize = 8 * 1024 * 1024;

pub(super) const DESCRIPTION: &str =
    "Write a text file, replacing it or appending to it. Missing folders are made.";

pub(super) fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "minLength": 1},
            "content": {"type": "string"},
            "append": {"type": "boolean"}
        },
        "required": ["path", "content"],
        "additionalProperties": false
    })
}

#[derive(Deserialize)]
pub(super) struct Arguments {
    path: String,
    content: String,
    #[serde(default)]
    append: bool,
}

pub(super) fn run(workspace: &Workspace, arguments: Arguments) -> Result<String, HandlerError> {
    let content = arguments.content.as_bytes();
    if content.len() > MAX_CONTENT_BYTES {
        return Err(HandlerError::new(
            FailureKind::TOO_LARGE,
            format!(
                "content has {} bytes, the limit of one write is {MAX_CONTENT_BYTES}; write in parts with append",
                content.len()
            ),
        ));
    }
    let path = workspace.reach(&arguments.path)?;
    let target = Target::find(workspace, &path)?;
    let (outcome, verb) = if arguments.append {
        (append(&target.path, content), "appended")
    } else {
        (replace(&target, content), "wrote")
    };
    outcome.map_err(|error| io_failure(workspace, "write", &path, &error))?;
    Ok(format!(
        "{verb} {} bytes to {}",
        content.len(),
        path.display()
    ))
}

/// Replaces the text of a file, or makes it with the folders it is in.
pub(super) fn replace_text(
    workspace: &Workspace,
    path: &Path,
    text: &str,
) -> Result<(), HandlerError> {
    let target = Target::find(workspace, path)?;
    replace(&target, text.as_bytes()).map_err(|error| io_failure(workspace, "write", path, &error))
}

/// The file behind the path, symlinks followed: a rename would replace the link.
struct Target {
    path: PathBuf,
    permissions: Option<Permissions>,
}

impl Target {
    fn find(workspace: &Workspace, path: &Path) -> Result<Self, HandlerError> {
        let failed = |error| io_failure(workspace, "write", path, &error);
        // Before the folders are made that it would be in.
        if path.as_os_str().as_bytes().ends_with(b"/") {
            return Err(wrong_type(
                "write",
                path,
                "a path with a slash at its end names a folder",
            ));
        }
        let metadata = match fs::metadata(path) {
            Ok(metadata) => metadata,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let parent = path.parent().unwrap_or(path);
                fs::create_dir_all(parent).map_err(failed)?;
                return Ok(Self {
                    path: path.to_owned(),
                    permissions: None,
                });
            }
            Err(error) => return Err(failed(error)),
        };
        if metadata.is_dir() {
            return Err(wrong_type("write", path, "it is a folder"));
        }
        if !metadata.is_file() {
            return Err(wrong_type("write", path, "it is not a regular file"));
        }
        Ok(Self {
            path: path.canonicalize().map_err(failed)?,
            permissions: Some(metadata.permissions()),
        })
    }
}

fn append(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        // Something else may have put a pipe here since it was looked at.
        .custom_flags(OFlag::O_NONBLOCK.bits())
        .open(path)?;
    file.write_all(content)
}

/// A reader sees the old content or the new, also after a power cut.
fn replace(target: &Target, content: &[u8]) -> io::Result<()> {
    let (temporary, file) = create_beside(&target.path)?;
    let written = fill(file, target, content).and_then(|()| fs::rename(&temporary, &target.path));
    if written.is_err() {
        // The first error is the one to report.
        let _ = fs::remove_file(&temporary);
    }
    written
}

fn fill(mut file: File, target: &Target, content: &[u8]) -> io::Result<()> {
    if let Some(permissions) = &target.permissions {
        file.set_permissions(permissions.clone())?;
    }
    file.write_all(content)?;
    // Without it, the rename can reach the disk before the content does.
    file.sync_all()
}

/// A new file in the folder of `path`, so that a rename stays in one folder:
/// Landlock counts a rename across folders as a permission of its own.
fn create_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".openclaw-{}-{number}.tmp", std::process::id());
        let temporary = path.with_file_name(name);
        match OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&temporary)
        {
            Ok(file) => return Ok((temporary, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}
