//! `apply_patch`, in the format that models know from Codex and OpenClaw.

mod find;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use super::Workspace;
use super::edit::{no_match, read_text};
use super::failure::{io_failure, wrong_type};
use super::write;
use crate::call::FailureKind;
use crate::handler::HandlerError;
use crate::patch::{self, Change, Hunk, Patch};

/// Bytes of one patch; a model's answer is far shorter.
const MAX_PATCH_BYTES: usize = 8 * 1024 * 1024;

pub(super) const DESCRIPTION: &str = "Change several files at once. Input: *** Begin Patch, then sections *** Add File: PATH (lines with +), *** Update File: PATH (optionally *** Move to: PATH; @@ CONTEXT, lines with space, - or +), *** Delete File: PATH, then *** End Patch. All or nothing.";

pub(super) fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {"input": {"type": "string", "minLength": 1}},
        "required": ["input"],
        "additionalProperties": false
    })
}

#[derive(Deserialize)]
pub(super) struct Arguments {
    input: String,
}

/// Works everything out before the first file is touched.
pub(super) fn run(workspace: &Workspace, arguments: Arguments) -> Result<String, HandlerError> {
    if arguments.input.len() > MAX_PATCH_BYTES {
        return Err(HandlerError::new(
            FailureKind::TOO_LARGE,
            format!(
                "the patch has {} bytes, the limit is {MAX_PATCH_BYTES}; send it in parts",
                arguments.input.len()
            ),
        ));
    }
    let patch = patch::parse(&arguments.input)
        .map_err(|error| HandlerError::new(FailureKind::INVALID_ARGUMENTS, error.to_string()))?;
    let mut plan = Plan::new(workspace);
    plan.add_all(patch)?;
    plan.carry_out()
}

/// What files will be like: their text, or `None` for gone.
struct Plan<'a> {
    workspace: &'a Workspace,
    files: BTreeMap<PathBuf, Option<String>>,
    told: Vec<String>,
}

impl<'a> Plan<'a> {
    fn new(workspace: &'a Workspace) -> Self {
        Self {
            workspace,
            files: BTreeMap::new(),
            told: Vec::new(),
        }
    }

    fn add_all(&mut self, patch: Patch) -> Result<(), HandlerError> {
        patch
            .changes
            .into_iter()
            .try_for_each(|change| self.add(change))
    }

    fn add(&mut self, change: Change) -> Result<(), HandlerError> {
        match change {
            Change::Add { path, text } => {
                let file = self.workspace.reach(&path)?;
                if self.exists(&file) {
                    return Err(HandlerError::new(
                        FailureKind::WRONG_FILE_TYPE,
                        format!(
                            "cannot add {}: it is there already; update it",
                            file.display()
                        ),
                    ));
                }
                self.files.insert(file, Some(text));
                self.told.push(format!("A {path}"));
            }
            Change::Delete { path } => {
                let file = self.workspace.reach(&path)?;
                self.text("delete", &file)?;
                self.files.insert(file, None);
                self.told.push(format!("D {path}"));
            }
            Change::Update { path, to, hunks } => self.update(path, to, &hunks)?,
        }
        Ok(())
    }

    fn update(
        &mut self,
        path: String,
        to: Option<String>,
        hunks: &[Hunk],
    ) -> Result<(), HandlerError> {
        let file = self.workspace.reach(&path)?;
        let before = self.text("update", &file)?;
        let after = find::apply(&before, hunks)
            .map_err(|error| no_match(format!("cannot update {}: {error}", file.display())))?;
        let Some(to) = to else {
            self.files.insert(file, Some(after));
            self.told.push(format!("M {path}"));
            return Ok(());
        };
        let target = self.workspace.reach(&to)?;
        if target != file && self.exists(&target) {
            return Err(HandlerError::new(
                FailureKind::WRONG_FILE_TYPE,
                format!("cannot move to {}: it is there already", target.display()),
            ));
        }
        self.files.insert(file, None);
        self.files.insert(target, Some(after));
        self.told.push(format!("R {path} -> {to}"));
        Ok(())
    }

    fn exists(&self, file: &PathBuf) -> bool {
        match self.files.get(file) {
            Some(planned) => planned.is_some(),
            None => file.symlink_metadata().is_ok(),
        }
    }

    /// The file as the patch has it so far.
    fn text(&self, doing: &str, file: &PathBuf) -> Result<String, HandlerError> {
        match self.files.get(file) {
            Some(Some(text)) => Ok(text.clone()),
            Some(None) => Err(wrong_type(doing, file, "the patch has removed it before")),
            None if doing == "delete" => self.deletable(file).map(|()| String::new()),
            None => read_text(self.workspace, doing, file),
        }
    }

    fn deletable(&self, file: &PathBuf) -> Result<(), HandlerError> {
        let failed = |error: io::Error| io_failure(self.workspace, "delete", file, &error);
        if fs::symlink_metadata(file).map_err(failed)?.is_dir() {
            Err(wrong_type("delete", file, "it is a folder"))
        } else {
            Ok(())
        }
    }

    /// Writes first and removes last: a failure half way loses nothing. What was
    /// written before one is taken back; what was removed is told.
    fn carry_out(self) -> Result<String, HandlerError> {
        let (written, removed): (Vec<_>, Vec<_>) =
            self.files.iter().partition(|(_, text)| text.is_some());
        for (file, _) in &written {
            self.has_folder(file)?;
        }
        let folders = missing(written.iter().map(|(file, _)| file.as_path()));
        let mut before = Vec::new();
        for (file, text) in written {
            let was = fs::read(file).ok();
            let text = text.as_deref().unwrap_or_default();
            if let Err(error) = write::replace_text(self.workspace, file, text) {
                return Err(taken_back(error, before, &folders));
            }
            before.push((file, was));
        }
        let mut gone = Vec::new();
        for (file, _) in removed {
            if let Err(error) = fs::remove_file(file) {
                let error = io_failure(self.workspace, "delete", file, &error);
                return Err(if gone.is_empty() {
                    taken_back(error, before, &folders)
                } else {
                    error.with_output(format!("written, and removed: {}", gone.join(", ")))
                });
            }
            gone.push(file.display().to_string());
        }
        Ok(format!("done:\n{}\n", self.told.join("\n")))
    }

    /// Refuses a file below what is a file, now or by this patch.
    fn has_folder(&self, file: &Path) -> Result<(), HandlerError> {
        for folder in file.ancestors().skip(1) {
            let is_planned = matches!(self.files.get(folder), Some(Some(_)));
            let found = fs::metadata(folder);
            if is_planned || found.as_ref().is_ok_and(|found| !found.is_dir()) {
                let why = format!("{} is a file", folder.display());
                return Err(wrong_type("write", file, &why));
            }
            if found.is_ok() {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Folders above the files that are not there.
fn missing<'a>(files: impl Iterator<Item = &'a Path>) -> BTreeSet<PathBuf> {
    let above = files.flat_map(|file| file.ancestors().skip(1));
    let missing = above.filter(|folder| folder.symlink_metadata().is_err());
    missing.map(Path::to_owned).collect()
}

/// Gives files back what they had, the last first, and says where that failed.
/// Takes the folders away that were made for them.
fn taken_back(
    error: HandlerError,
    before: Vec<(&PathBuf, Option<Vec<u8>>)>,
    folders: &BTreeSet<PathBuf>,
) -> HandlerError {
    let mut left = Vec::new();
    for (file, was) in before.into_iter().rev() {
        let undone = match was {
            Some(was) => fs::write(file, was),
            None => fs::remove_file(file),
        };
        if undone.is_err() {
            left.push(file.display().to_string());
        }
    }
    // Those within come after what they are in. One in which somebody else has made
    // something meanwhile stays.
    for folder in folders.iter().rev() {
        let _ = fs::remove_dir(folder);
    }
    if left.is_empty() {
        error
    } else {
        error.with_output(format!("done before that: {}", left.join(", ")))
    }
}
