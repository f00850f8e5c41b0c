//! The file of a batch.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Update;

const ENDING: &str = "updates";

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Line {
    Update { key: String, raw: String },
    End { position: Option<String> },
}

/// What a file has.
#[derive(Debug, Default)]
pub(super) struct Read {
    pub(super) updates: Vec<Update>,
    pub(super) position: Option<String>,
    /// What of it cannot be read.
    pub(super) problem: Option<String>,
}

pub(super) fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:020}.{ENDING}"))
}

/// The batches in `folder`, in their order.
pub(super) fn list(folder: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_batch = path.extension().is_some_and(|it| it == ENDING);
        let name = path.file_stem().and_then(|name| name.to_str());
        if let Some(number) = name.and_then(|name| name.parse().ok()).filter(|_| is_batch) {
            found.push((number, path));
        }
    }
    found.sort();
    Ok(found)
}

pub(super) fn write(updates: &[Update], position: Option<&str>) -> String {
    let lines = updates.iter().map(|update| Line::Update {
        key: update.key.clone(),
        raw: update.raw.clone(),
    });
    let end = Line::End {
        position: position.map(str::to_owned),
    };
    let lines = lines.chain([end]);
    // Two texts can always be written.
    let lines = lines.filter_map(|line| serde_json::to_string(&line).ok());
    lines.map(|line| line + "\n").collect()
}

pub(super) fn read(path: &Path) -> io::Result<Read> {
    let content = fs::read(path)?;
    let mut read = Read::default();
    let mut is_ended = false;
    for (index, line) in content.split(|byte| *byte == b'\n').enumerate() {
        if line.is_empty() {
            continue;
        }
        match serde_json::from_slice(line) {
            Ok(Line::Update { key, raw }) => read.updates.push(Update { key, raw }),
            Ok(Line::End { position }) => {
                is_ended = true;
                read.position = position;
            }
            Err(_) => read.problem = Some(format!("line {} was cut off by a crash", index + 1)),
        }
    }
    if !is_ended && read.problem.is_none() {
        read.problem = Some("its end was cut off by a crash".to_owned());
    }
    Ok(read)
}
