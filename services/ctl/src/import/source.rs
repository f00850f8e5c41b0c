//! The files of another state directory.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::Context as _;
use openclaw_proto::sessions::Import;
use tokio::sync::mpsc;

use crate::failure::Failure;

/// The agent of folders that name none.
const MAIN: &str = "main";

/// Bytes of one piece.
const CHUNK: usize = 256 * 1024;

/// Files of sessions, found but not read.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    files: Vec<Found>,
}

#[derive(Debug)]
struct Found {
    agent: String,
    path: PathBuf,
}

impl Source {
    /// Looks at `path`: a state directory, a sessions folder, or one file.
    pub(super) fn look(path: &Path) -> Result<Self, Failure> {
        let metadata =
            fs::metadata(path).with_context(|| format!("cannot look at {}", path.display()))?;
        let mut source = Self {
            path: path.to_owned(),
            files: Vec::new(),
        };
        if metadata.is_file() {
            source.files.push(Found {
                agent: agent_of(path),
                path: path.to_owned(),
            });
            return Ok(source);
        }
        let agents = path.join("agents");
        if agents.is_dir() {
            for agent in entries(&agents)? {
                let name = agent.file_name().unwrap_or_default().to_string_lossy();
                source.folder(&name, &agent.join("sessions"))?;
            }
        }
        if is_sessions_folder(path)? {
            source.folder(&agent_of(&path.join("file")), path)?;
        }
        // Where the first versions kept them.
        source.folder(MAIN, &path.join("sessions"))?;
        if source.files.is_empty() {
            return Err(Failure::new(format!(
                "{} has no sessions: looked for agents/*/sessions, sessions, sessions.json and *.jsonl",
                path.display()
            )));
        }
        Ok(source)
    }

    /// Reads every file and sends it.
    pub(super) fn send(&self, pieces: &mpsc::Sender<Import>) -> Result<(), Failure> {
        for found in &self.files {
            if !found.send(pieces)? {
                // The gateway has given up, and its answer says why.
                return Ok(());
            }
        }
        Ok(())
    }

    fn folder(&mut self, agent: &str, folder: &Path) -> Result<(), Failure> {
        for place in [folder.to_owned(), folder.join("cold")] {
            if !place.is_dir() {
                continue;
            }
            let files = entries(&place)?.into_iter().filter(|path| path.is_file());
            self.files.extend(files.map(|path| Found {
                agent: agent.to_owned(),
                path,
            }));
        }
        Ok(())
    }
}

impl Found {
    /// False when nobody takes the pieces any more.
    fn send(&self, pieces: &mpsc::Sender<Import>) -> Result<bool, Failure> {
        let context = || format!("cannot read {}", self.path.display());
        let mut file = File::open(&self.path).with_context(context)?;
        let modified = file.metadata().and_then(|file| file.modified());
        let since = modified
            .with_context(context)?
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let begin = Import::File {
            agent: self.agent.clone(),
            name: name.into_owned(),
            modified_at_ms: i64::try_from(since.as_millis()).unwrap_or_default(),
        };
        if pieces.blocking_send(begin).is_err() {
            return Ok(false);
        }
        loop {
            let mut chunk = vec![0; CHUNK];
            let length = file.read(&mut chunk).with_context(context)?;
            if length == 0 {
                return Ok(true);
            }
            chunk.truncate(length);
            if pieces.blocking_send(Import::Chunk(chunk)).is_err() {
                return Ok(false);
            }
        }
    }
}

/// The agent whose folder the file is in, by `agents/<id>/sessions/<file>`.
fn agent_of(file: &Path) -> String {
    let sessions = file.parent();
    let agent = sessions.and_then(Path::parent);
    let agents = agent.and_then(Path::parent).and_then(Path::file_name);
    match (agent.and_then(Path::file_name), agents) {
        (Some(agent), Some(agents)) if agents == "agents" => agent.to_string_lossy().into_owned(),
        _ => MAIN.to_owned(),
    }
}

fn is_sessions_folder(path: &Path) -> Result<bool, Failure> {
    let is_file = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name == "sessions.json" || name.ends_with(".jsonl") || name.contains(".jsonl.")
    };
    Ok(entries(path)?.iter().any(is_file))
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, Failure> {
    let context = || format!("cannot list {}", folder.display());
    let listing = fs::read_dir(folder).with_context(context)?;
    let paths = listing.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = paths.collect::<Result<Vec<_>, _>>().with_context(context)?;
    paths.sort();
    Ok(paths)
}
