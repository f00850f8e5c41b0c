//! The files of another state directory.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use anyhow::Context as _;
use openclaw_proto::sessions::{Import, Skipped};
use openclaw_terminal::Failure;
use tokio::sync::mpsc;

/// The agent of folders that name none.
const MAIN: &str = "main";

/// Where OpenClaw keeps the conversations of an agent since 2026.8.
const DATABASE: &str = "agent/openclaw-agent.sqlite";

/// Where it put the files that it had before.
const MIGRATED: &str = "session-sqlite-import-archive";

/// Why a database is not read.
const IN_A_DATABASE: &str = "OpenClaw keeps conversations in this database since version 2026.8; \
                             its tables change with every version and are not read";

/// How its conversations become files again.
const RESTORE: &str = "in OpenClaw, `openclaw doctor --session-sqlite restore --session-sqlite-all-agents` \
                       puts back the files it had before, and resetting or deleting a session writes it \
                       to agents/ID/sessions/*.jsonl.*.zst; both are imported from there";

/// Bytes of one piece.
const CHUNK: usize = 256 * 1024;

/// Files of sessions, found but not read.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    files: Vec<SessionFile>,
    /// Databases of a later OpenClaw, which are not read.
    databases: Vec<PathBuf>,
}

#[derive(Debug)]
struct SessionFile {
    agent: String,
    path: PathBuf,
    /// What it was called where it belongs.
    name: String,
}

impl Source {
    /// Looks at `path`: a state directory, a sessions folder, or one file.
    pub(super) fn look(path: &Path) -> Result<Self, Failure> {
        let metadata =
            fs::metadata(path).with_context(|| format!("cannot look at {}", path.display()))?;
        let mut source = Self {
            path: path.to_owned(),
            files: Vec::new(),
            databases: Vec::new(),
        };
        if metadata.is_file() {
            if is_database(path) {
                source.databases.push(path.to_owned())
            } else {
                source
                    .files
                    .push(SessionFile::at(&agent_of(path), path.to_owned()))
            }
            return source.some();
        }
        let agents = path.join("agents");
        if agents.is_dir() {
            for agent in entries(&agents)? {
                let name = agent.file_name().unwrap_or_default().to_string_lossy();
                source.folder(&name, &agent.join("sessions"))?;
                source.migrated(&name, &agent.join(MIGRATED))?;
                let database = agent.join(DATABASE);
                source
                    .databases
                    .extend(database.is_file().then_some(database));
            }
        }
        if is_sessions_folder(path)? {
            source.folder(&agent_of(&path.join("file")), path)?;
        }
        // Where the first versions kept them.
        source.folder(MAIN, &path.join("sessions"))?;
        source.some()
    }

    /// Databases that are not imported, with the reason.
    pub(super) fn unread(&self) -> Vec<Skipped> {
        let databases = self.databases.iter();
        databases
            .map(|path| Skipped {
                name: path.display().to_string(),
                reason: IN_A_DATABASE.to_owned(),
            })
            .collect()
    }

    fn some(self) -> Result<Self, Failure> {
        if !self.files.is_empty() {
            return Ok(self);
        }
        let path = self.path.display();
        if let Some(database) = self.databases.first() {
            let database = database.display();
            return Err(Failure::new(format!("{database}: {IN_A_DATABASE}")).hint(RESTORE));
        }
        Err(Failure::new(format!(
            "{path} has no sessions: looked for agents/*/sessions, sessions, sessions.json and *.jsonl"
        )))
    }

    /// Files that OpenClaw put away when it moved to its database:
    /// `<key>.<name>.imported-<milliseconds>`. Those that lie where they
    /// belong are newer.
    fn migrated(&mut self, agent: &str, folder: &Path) -> Result<(), Failure> {
        if !folder.is_dir() {
            return Ok(());
        }
        for path in entries(folder)?.into_iter().filter(|path| path.is_file()) {
            let file = path.file_name().unwrap_or_default().to_string_lossy();
            let Some(name) = name_before(&file) else {
                continue;
            };
            let is_there = |found: &SessionFile| found.agent == agent && found.name == name;
            if !self.files.iter().any(is_there) {
                self.files.push(SessionFile {
                    name,
                    ..SessionFile::at(agent, path)
                });
            }
        }
        Ok(())
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
            let found = files.map(|path| SessionFile::at(agent, path));
            self.files.extend(found);
        }
        Ok(())
    }
}

impl SessionFile {
    fn at(agent: &str, path: PathBuf) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Self {
            agent: agent.to_owned(),
            name: name.into_owned(),
            path,
        }
    }

    /// False when nobody takes the pieces any more.
    fn send(&self, pieces: &mpsc::Sender<Import>) -> Result<bool, Failure> {
        let context = || format!("cannot read {}", self.path.display());
        let mut file = File::open(&self.path).with_context(context)?;
        let modified = file.metadata().and_then(|file| file.modified());
        let since = modified
            .with_context(context)?
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let begin = Import::File {
            agent: self.agent.clone(),
            name: self.name.clone(),
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

/// What a file was called before OpenClaw put it away.
fn name_before(file: &str) -> Option<String> {
    let (front, stamp) = file.rsplit_once(".imported-")?;
    if !stamp.starts_with(|digit: char| digit.is_ascii_digit()) {
        return None;
    }
    if front.ends_with(".sessions.json") {
        return Some("sessions.json".to_owned());
    }
    let (_, id) = front.strip_suffix(".jsonl")?.rsplit_once('.')?;
    Some(format!("{id}.jsonl"))
}

fn is_database(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "sqlite")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_put_away_has_its_name_back() {
        for (file, name) in [
            (
                "agent_main_main.0a-1b.jsonl.imported-1784000000000",
                Some("0a-1b.jsonl"),
            ),
            (
                "x.y.0a-1b.jsonl.imported-1784000000000.1",
                Some("0a-1b.jsonl"),
            ),
            (
                "main.sessions.json.imported-1784000000000",
                Some("sessions.json"),
            ),
            ("main.sessions.json", None),
            ("0a.jsonl.imported-later", None),
        ] {
            assert_eq!(name_before(file).as_deref(), name, "{file}");
        }
    }

    #[test]
    fn a_database_is_told_with_the_way_out() {
        let home = tempfile::tempdir().unwrap();
        let agent = home.path().join("agents/main");
        fs::create_dir_all(agent.join("agent")).unwrap();
        fs::write(agent.join(DATABASE), "").unwrap();
        let refused = Source::look(home.path()).unwrap_err().text();
        assert!(
            refused.contains("openclaw-agent.sqlite") && refused.contains("2026.8"),
            "{refused}"
        );
        fs::create_dir(agent.join(MIGRATED)).unwrap();
        let archived = agent.join(MIGRATED).join("k.0a-1b.jsonl.imported-17");
        fs::write(archived, "").unwrap();
        let source = Source::look(home.path()).unwrap();
        assert_eq!(source.files[0].name, "0a-1b.jsonl");
        assert_eq!(source.unread().len(), 1);
    }
}
