//! The files of another state directory.

use std::ffi::OsStr;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use openclaw_folder::{ConfiguredFolder, Entry, Error, Folder, Kind};
use openclaw_proto::sessions::{Import, Skipped};
use openclaw_terminal::{Failure, output};
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

/// Why a link is not followed. Somebody else may have written what is imported.
const A_LINK: &str = "it is a link, and where it leads is not looked at; put what is meant in its \
                      place, or name where it leads with --from";

/// Names in one folder.
const NAMES: usize = 500_000;

/// Links that are named.
const LINKS: usize = 100;

/// Files of sessions, found but not read.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) path: PathBuf,
    /// All that is read is read beneath it, through no link.
    root: Folder,
    files: Vec<SessionFile>,
    /// Databases of a later OpenClaw, which are not read.
    databases: Vec<PathBuf>,
    /// What is not followed.
    links: Vec<PathBuf>,
}

#[derive(Debug)]
struct SessionFile {
    agent: String,
    /// In the source's root.
    relative: PathBuf,
    /// What it was called where it belongs.
    name: String,
}

impl Source {
    /// Looks at `path`: a state directory, a sessions folder, or one file. The user's own links
    /// lead to it, and none where agents write.
    pub(super) fn look(path: &ConfiguredFolder) -> Result<Self, Failure> {
        let context = || format!("cannot look at {}", path.display());
        if let Some((root, name)) = path.holding().with_context(context)? {
            let mut source = Self::new(path, root);
            if is_database(path) {
                source.databases.push(name.into());
            } else {
                let file = SessionFile::at(&agent_of(path), name.into());
                source.files.push(file);
            }
            return source.some();
        }
        let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
        let root = path.open().with_context(context)?;
        let mut source = Self::new(path, root.ok_or_else(missing).with_context(context)?);
        if source.enter(Path::new("agents"))? {
            for agent in source.entries(Path::new("agents"))? {
                source.agent(&agent)?;
            }
        }
        if source.is_sessions_folder()? {
            source.folder(&agent_of(&path.join("file")), Path::new(""))?;
        }
        // Where the first versions kept them.
        source.folder(MAIN, Path::new("sessions"))?;
        source.some()
    }

    fn new(path: &Path, root: Folder) -> Self {
        Self {
            path: path.to_owned(),
            root,
            files: Vec::new(),
            databases: Vec::new(),
            links: Vec::new(),
        }
    }

    fn agent(&mut self, agent: &Entry) -> Result<(), Failure> {
        let name = agent.name.to_string_lossy();
        let place = Path::new("agents").join(&agent.name);
        if !self.enter(&place)? {
            return Ok(());
        }
        self.folder(&name, &place.join("sessions"))?;
        self.migrated(&name, &place.join(MIGRATED))?;
        let database = place.join(DATABASE);
        if self.root.is_file(&database) {
            self.databases.push(database);
        }
        Ok(())
    }

    /// Whether a folder is at `relative`, whose own folder was entered before; a link there is
    /// noted.
    fn enter(&mut self, relative: &Path) -> Result<bool, Failure> {
        match self.root.folder(relative) {
            Ok(found) => Ok(found.is_some()),
            Err(Error::Link { .. }) => {
                self.note(relative.to_owned());
                Ok(false)
            }
            Err(error) => Err(anyhow::Error::from(error).into()),
        }
    }

    fn note(&mut self, link: PathBuf) {
        if self.links.len() < LINKS && !self.links.contains(&link) {
            self.links.push(link);
        }
    }

    /// The names in a folder that was entered, in their order.
    fn entries(&self, relative: &Path) -> Result<Vec<Entry>, Failure> {
        let shown = || output::line(&self.at(relative).display().to_string());
        let context = || format!("cannot list {}", shown());
        let folder = self.root.folder(relative).with_context(context)?;
        let entries = folder.map(|folder| folder.entries(NAMES + 1)).transpose();
        let mut entries = entries.with_context(context)?.unwrap_or_default();
        if entries.len() > NAMES {
            let shown = shown();
            return Err(Failure::new(format!("{shown} has more than {NAMES} names")));
        }
        entries.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(entries)
    }

    /// The files in a folder that was entered; links in it are noted.
    fn files_in(&mut self, relative: &Path) -> Result<Vec<PathBuf>, Failure> {
        let mut files = Vec::new();
        for entry in self.entries(relative)? {
            let path = relative.join(&entry.name);
            match entry.kind {
                Kind::File => files.push(path),
                Kind::Link => self.note(path),
                Kind::Folder | Kind::Other => {}
            }
        }
        Ok(files)
    }

    fn at(&self, relative: &Path) -> PathBuf {
        self.root.path().join(relative)
    }

    /// Databases and links that are not imported, with the reason.
    pub(super) fn unread(&self) -> Vec<Skipped> {
        let skipped = |path: &PathBuf, reason: &str| Skipped {
            name: self.at(path).display().to_string(),
            reason: reason.to_owned(),
        };
        let databases = self.databases.iter();
        let databases = databases.map(|path| skipped(path, IN_A_DATABASE));
        let links = self.links.iter().map(|path| skipped(path, A_LINK));
        databases.chain(links).collect()
    }

    fn some(self) -> Result<Self, Failure> {
        if !self.files.is_empty() {
            return Ok(self);
        }
        let shown = |path: &Path| output::line(&path.display().to_string());
        if let Some(database) = self.databases.first() {
            let database = shown(&self.at(database));
            return Err(Failure::new(format!("{database}: {IN_A_DATABASE}")).hint(RESTORE));
        }
        let path = shown(&self.path);
        let none = format!(
            "{path} has no sessions: looked for agents/*/sessions, sessions, sessions.json and *.jsonl"
        );
        Err(match self.links.first() {
            Some(link) => {
                let link = shown(&self.at(link));
                Failure::new(format!("{none}; {link} is not followed")).hint(A_LINK)
            }
            None => Failure::new(none),
        })
    }

    /// Files that OpenClaw put away when it moved to its database:
    /// `<key>.<name>.imported-<milliseconds>`. Those that lie where they
    /// belong are newer.
    fn migrated(&mut self, agent: &str, folder: &Path) -> Result<(), Failure> {
        if !self.enter(folder)? {
            return Ok(());
        }
        for path in self.files_in(folder)? {
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
            if !self.send_file(found, pieces)? {
                // The gateway has given up, and its answer says why.
                return Ok(());
            }
        }
        Ok(())
    }

    fn folder(&mut self, agent: &str, folder: &Path) -> Result<(), Failure> {
        for place in [folder.to_owned(), folder.join("cold")] {
            if !self.enter(&place)? {
                break;
            }
            let files = self.files_in(&place)?.into_iter();
            let found = files.map(|path| SessionFile::at(agent, path));
            self.files.extend(found);
        }
        Ok(())
    }

    fn is_sessions_folder(&self) -> Result<bool, Failure> {
        let entries = self.entries(Path::new(""))?;
        Ok(entries.iter().any(|entry| is_of_sessions(&entry.name)))
    }

    /// False when nobody takes the pieces any more.
    fn send_file(
        &self,
        found: &SessionFile,
        pieces: &mpsc::Sender<Import>,
    ) -> Result<bool, Failure> {
        let shown = output::line(&self.at(&found.relative).display().to_string());
        let context = || format!("cannot read {shown}");
        let opened = self.root.open_file(&found.relative).with_context(context)?;
        let (mut file, status) = opened
            .context("no file is there any more")
            .with_context(context)?;
        let begin = Import::File {
            agent: found.agent.clone(),
            name: found.name.clone(),
            modified_at_ms: status.st_mtime.max(0) * 1000 + status.st_mtime_nsec / 1_000_000,
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

impl SessionFile {
    fn at(agent: &str, relative: PathBuf) -> Self {
        let name = relative.file_name().unwrap_or_default().to_string_lossy();
        Self {
            agent: agent.to_owned(),
            name: name.into_owned(),
            relative,
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

fn is_of_sessions(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name == "sessions.json" || name.ends_with(".jsonl") || name.contains(".jsonl.")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn look(path: &Path) -> Result<Source, Failure> {
        Source::look(&path.into())
    }

    #[test]
    fn source_what_was_put_away_has_its_name_back() {
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
    fn database_is_told_with_the_way_out() {
        let home = tempfile::tempdir().unwrap();
        let agent = home.path().join("agents/main");
        fs::create_dir_all(agent.join("agent")).unwrap();
        fs::write(agent.join(DATABASE), "").unwrap();
        let refused = look(home.path()).unwrap_err().text();
        assert!(
            refused.contains("openclaw-agent.sqlite") && refused.contains("2026.8"),
            "{refused}"
        );
        fs::create_dir(agent.join(MIGRATED)).unwrap();
        let archived = agent.join(MIGRATED).join("k.0a-1b.jsonl.imported-17");
        fs::write(archived, "").unwrap();
        let source = look(home.path()).unwrap();
        assert_eq!(source.files[0].name, "0a-1b.jsonl");
        assert_eq!(source.unread().len(), 1);
    }

    /// Whoever made the folder could have put a link to anything in it.
    #[test]
    fn link_is_named_and_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let (secret, mine) = (home.path().join("secret"), home.path().join("mine"));
        fs::create_dir_all(secret.join("sessions")).unwrap();
        fs::write(secret.join("sessions/key.jsonl"), "secret").unwrap();
        let sessions = mine.join("agents/main/sessions");
        fs::create_dir_all(&sessions).unwrap();
        fs::write(sessions.join("a.jsonl"), "").unwrap();
        nix::unistd::mkfifo(&sessions.join("f.jsonl"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        let key = secret.join("sessions/key.jsonl");
        for (link, target) in [
            (sessions.join("b.jsonl"), &key),
            (sessions.join("cold"), &secret),
            (mine.join("agents/other"), &secret),
            (mine.join("sessions"), &secret.join("sessions")),
        ] {
            symlink(target, link).unwrap();
        }
        let source = look(&mine).unwrap();
        let files = source.files.iter().map(|it| it.relative.to_str().unwrap());
        assert_eq!(files.collect::<Vec<_>>(), ["agents/main/sessions/a.jsonl"]);
        let unread = source.unread();
        for link in [
            "main/sessions/b.jsonl",
            "sessions/cold",
            "agents/other",
            "mine/sessions",
        ] {
            let found = unread.iter().find(|it| it.name.ends_with(link)).unwrap();
            assert!(found.reason.contains("--from"), "{}", found.reason);
        }
        // One that is put there later is not read either.
        fs::remove_file(sessions.join("a.jsonl")).unwrap();
        symlink(&key, sessions.join("a.jsonl")).unwrap();
        let (pieces, _kept) = mpsc::channel(8);
        let refused = source.send(&pieces).unwrap_err().text();
        assert!(refused.contains("a.jsonl"), "{refused}");
        fs::remove_dir_all(&sessions).unwrap();
        let refused = look(&mine).unwrap_err().text();
        assert!(
            refused.contains("agents/other is not followed"),
            "{refused}"
        );
        // The user's own link leads to what is named.
        let own = home.path().join("own");
        symlink(&secret, &own).unwrap();
        assert_eq!(look(&own).unwrap().files.len(), 1);
        let file = look(&own.join("sessions/key.jsonl")).unwrap();
        assert_eq!(file.files[0].relative, Path::new("key.jsonl"));
        let written = ConfiguredFolder::new(own.clone(), [home.path().to_owned()].into());
        assert!(Source::look(&written).unwrap_err().text().contains("own"));
    }
}
