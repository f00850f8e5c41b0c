//! Words in files that agents keep: what an agent CLI writes down of its sessions
//! is removed, and any other file is the user's to judge.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use openclaw_folder::{Folder, Kind};
use openclaw_sessions::forgetting::Words;
use openclaw_settings::Settings;
use serde::Serialize;

/// What these files end with.
const SESSION: &str = "jsonl";
/// Files looked at in one place: more are somebody's archive.
const FILES: usize = 20_000;
/// Names of one folder.
const NAMES: usize = 20_000;
/// Transcripts of one agent, archives included.
const TRANSCRIPTS: usize = 1_000_000;
/// Folders below each other.
const DEPTH: usize = 16;
/// A larger file is no text that anybody wrote, in bytes.
const SIZE: u64 = 64 * 1024 * 1024;

/// Files that have the words, or could not be looked into.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Remains {
    /// Of agent CLIs, which go with what is forgotten.
    pub sessions: Vec<PathBuf>,
    /// Others, which stay.
    pub files: Vec<PathBuf>,
    /// Whether they have the words is not known.
    pub unread: Vec<PathBuf>,
    /// Links to files that are not looked into otherwise. Whoever put one there does not say
    /// what is looked into.
    pub links: Vec<PathBuf>,
    /// What was looked into, without links.
    #[serde(skip)]
    places: Vec<PathBuf>,
}

/// Whether a file of a place is one of an agent CLI's sessions.
type IsSession = fn(&Path) -> bool;

/// What is looked for in a place.
struct Look<'a> {
    words: &'a Words,
    /// Whether files of agent CLIs are removed.
    forget: bool,
    /// Which files are theirs.
    is_session: IsSession,
}

impl<'a> Look<'a> {
    /// In a place of the user's, of which nothing is removed.
    fn only(words: &'a Words) -> Self {
        Self {
            words,
            forget: false,
            is_session,
        }
    }
}

impl Remains {
    /// Looks into the homes and the folders of `agent`, or of all; with `forget`
    /// what agent CLIs keep is removed.
    pub fn look(settings: &Settings, agent: &str, words: &Words, forget: bool) -> Self {
        let mut kept = Self::default();
        let agents = settings.agents.values();
        for one in agents.filter(|one| agent.is_empty() || one.id == agent) {
            let of_clis = settings.paths.cli_sessions(&one.id);
            let home = settings.paths.agent_home(&one.id);
            let places: [(_, IsSession); 2] = [(home, is_session), (of_clis, is_line)];
            for (place, is_session) in places {
                let look = Look {
                    words,
                    forget,
                    is_session,
                };
                kept.place(&place, Folder::open(&place), &look);
            }
            kept.transcripts(&settings.paths.sessions(&one.id));
            let workspace = one.workspace.open();
            kept.place(&one.workspace, workspace, &Look::only(words));
            for path in &one.memory.extra_paths {
                kept.extra(&one.workspace.join(path), settings, words);
            }
        }
        let places = std::mem::take(&mut kept.places);
        kept.links.retain(|link| leads_elsewhere(link, &places));
        for list in [
            &mut kept.sessions,
            &mut kept.files,
            &mut kept.unread,
            &mut kept.links,
        ] {
            list.sort();
            list.dedup();
        }
        kept
    }

    /// Whether no file has them.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty() && self.files.is_empty()
    }

    /// Whether all that there is was looked into.
    pub fn is_whole(&self) -> bool {
        self.unread.is_empty() && self.links.is_empty()
    }

    /// The gateway looks into transcripts, and through no link to one.
    fn transcripts(&mut self, path: &Path) {
        let listed = match Folder::open(path) {
            Ok(None) => return,
            Ok(Some(root)) => root.entries(TRANSCRIPTS + 1),
            Err(error) => Err(error),
        };
        let Ok(entries) = listed else {
            return self.unread.push(path.to_owned());
        };
        if entries.len() > TRANSCRIPTS {
            self.unread.push(path.to_owned());
        }
        self.places.extend(path.canonicalize());
        let links = entries.iter().filter(|entry| entry.kind == Kind::Link);
        self.links.extend(links.map(|link| path.join(&link.name)));
    }

    fn place(
        &mut self,
        path: &Path,
        opened: Result<Option<Folder>, openclaw_folder::Error>,
        look: &Look<'_>,
    ) {
        let root = match opened {
            Ok(Some(root)) => root,
            Ok(None) => return,
            Err(_) => return self.unread.push(path.to_owned()),
        };
        self.places.extend(path.canonicalize());
        let mut left = FILES;
        let mut folders = vec![(PathBuf::new(), 0)];
        while let Some((folder, depth)) = folders.pop() {
            let listed = root.folder(&folder).and_then(|opened| match opened {
                Some(opened) => opened.entries(NAMES + 1),
                None => Ok(Vec::new()),
            });
            let Ok(entries) = listed else {
                self.unread.push(path.join(folder));
                continue;
            };
            if entries.len() > NAMES {
                self.unread.push(path.join(&folder));
            }
            for entry in entries {
                let relative = folder.join(&entry.name);
                match entry.kind {
                    Kind::Folder if depth < DEPTH => folders.push((relative, depth + 1)),
                    Kind::Folder => self.unread.push(path.join(relative)),
                    Kind::File if left == 0 => return self.unread.push(path.to_owned()),
                    Kind::File => {
                        left -= 1;
                        self.file(&root, &relative, look);
                    }
                    Kind::Link if left == 0 => return self.unread.push(path.to_owned()),
                    Kind::Link => {
                        left -= 1;
                        self.links.push(path.join(relative));
                    }
                    Kind::Other => {}
                }
            }
        }
    }

    fn file(&mut self, root: &Folder, relative: &Path, look: &Look<'_>) {
        let path = root.path().join(relative);
        let found = match root.open_file(relative) {
            Ok(Some((file, _))) => has(file, relative, look.words),
            // Removed meanwhile.
            Ok(None) => return,
            Err(_) => return self.unread.push(path),
        };
        match found {
            Ok(false) => {}
            Ok(true) if !(look.is_session)(relative) => self.files.push(path),
            Ok(true) if look.forget && root.remove(relative).is_err() => self.files.push(path),
            Ok(true) => self.sessions.push(path),
            Err(_) => self.unread.push(path),
        }
    }

    /// A folder or a file that the configuration names, which may lie where an agent
    /// writes.
    fn extra(&mut self, path: &Path, settings: &Settings, words: &Words) {
        let configured = settings.folder(path.to_owned());
        match configured.holding() {
            Ok(Some((root, name))) => {
                self.places.extend(root.path().join(&name).canonicalize());
                self.file(&root, Path::new(&name), &Look::only(words));
            }
            Ok(None) => self.place(path, configured.open(), &Look::only(words)),
            Err(_) => self.unread.push(path.to_owned()),
        }
    }
}

fn is_session(relative: &Path) -> bool {
    let mut clis = openclaw_agent_clis::ALL.into_iter();
    is_line(relative) && clis.any(|cli| relative.starts_with(cli.folder))
}

/// Where there is nothing but sessions.
fn is_line(relative: &Path) -> bool {
    relative.extension().is_some_and(|it| it == SESSION)
}

/// Whether a link leads to a file or a folder that is not among the places that are looked into.
/// Nothing is opened to find out.
fn leads_elsewhere(link: &Path, places: &[PathBuf]) -> bool {
    let is_looked_into = |target: &Path| places.iter().any(|place| target.starts_with(place));
    match link.canonicalize() {
        Ok(target) if is_looked_into(&target) => false,
        Ok(target) => target
            .metadata()
            .is_ok_and(|it| it.is_file() || it.is_dir()),
        Err(error) if error.raw_os_error() == Some(Errno::ELOOP as i32) => false,
        Err(error) => !matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
        ),
    }
}

/// Whether a file has the words, as text or in lines of JSON.
fn has(file: File, path: &Path, words: &Words) -> io::Result<bool> {
    let mut bytes = Vec::new();
    file.take(SIZE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > SIZE {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let text = String::from_utf8_lossy(&bytes);
    if path.extension().is_some_and(|it| it == SESSION) {
        return Ok(text.lines().any(|line| words.count(line) > 0));
    }
    Ok(!words.lines(&text).is_empty())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use openclaw_config::Environment;

    use super::*;

    #[test]
    fn sessions_of_clis_go_and_other_files_are_named() {
        let state = tempfile::tempdir().unwrap();
        let path = state.path().to_str().unwrap();
        let environment: Environment = [("OPENCLAW_STATE_DIR", path)].into_iter().collect();
        let settings = openclaw_settings::load(&environment).unwrap();
        let home = settings.paths.agent_home("main");
        let workspace = settings.agent("main").unwrap().workspace.clone();
        let line = r#"{"type":"user","message":{"content":"the blue\nflowerpot"}}"#;
        let write = |path: PathBuf, text: &str| {
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        let session = write(home.join(".claude/projects/-w/a.jsonl"), line);
        let other = write(
            home.join(".codex/sessions/2026/b.jsonl"),
            "{\"x\":\"a pot\"}",
        );
        let own = settings.paths.cli_sessions("main");
        let of_session = write(own.join("session-one/projects/-w/a.jsonl"), line);
        let draft = write(workspace.join("memory/draft.txt"), "A Blue\nFlowerpot.");
        std::os::unix::fs::symlink(&draft, workspace.join("link.txt")).unwrap();
        let words = Words::new("blue flowerpot").unwrap();
        let kept = Remains::look(&settings, "", &words, false);
        assert_eq!(
            (&kept.sessions, &kept.files),
            (
                &vec![of_session.clone(), session.clone()],
                &vec![draft.clone()]
            )
        );
        assert!(kept.is_whole() && session.exists());
        let kept = Remains::look(&settings, "main", &words, true);
        assert_eq!(kept.sessions, [of_session.clone(), session.clone()]);
        assert!(!session.exists() && !of_session.exists() && other.exists() && draft.exists());
        let kept = Remains::look(&settings, "", &words, false);
        assert_eq!((kept.sessions.len(), kept.files), (0, vec![draft]));
    }

    #[test]
    fn links_to_what_is_not_looked_into_are_named() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let environment = [("OPENCLAW_STATE_DIR", root.join("state"))];
        let environment = environment.map(|(name, path)| (name, path.display().to_string()));
        let settings = openclaw_settings::load(&environment.into_iter().collect()).unwrap();
        let workspace = settings.agent("main").unwrap().workspace.to_path_buf();
        let (outside, fifo) = (root.join("outside"), root.join("fifo"));
        fs::create_dir_all(&outside).unwrap();
        fs::create_dir_all(workspace.join("memory")).unwrap();
        let note = outside.join("note.md");
        fs::write(&note, "the blue flowerpot").unwrap();
        fs::write(workspace.join("own.md"), "nothing").unwrap();
        nix::unistd::mkfifo(&fifo, nix::sys::stat::Mode::S_IRWXU).unwrap();
        let targets = [
            (note.as_path(), "memory/house.md"),
            (&outside, "folder"),
            (Path::new("memory/house.md"), "second"),
            (Path::new("own.md"), "inside"),
            (Path::new("nothing"), "nowhere"),
            (Path::new("loop"), "loop"),
            (&fifo, "pipe"),
        ];
        for (target, name) in targets {
            std::os::unix::fs::symlink(target, workspace.join(name)).unwrap();
        }
        let sessions = settings.paths.sessions("main");
        fs::create_dir_all(&sessions).unwrap();
        fs::write(sessions.join("one.jsonl"), "{}").unwrap();
        for (target, name) in [
            (&*note, "two.jsonl"),
            (Path::new("one.jsonl"), "three.jsonl"),
        ] {
            std::os::unix::fs::symlink(target, sessions.join(name)).unwrap();
        }
        let words = Words::new("blue flowerpot").unwrap();
        let kept = Remains::look(&settings, "", &words, true);
        let mut links = ["folder", "memory/house.md", "second"]
            .map(|name| workspace.join(name))
            .to_vec();
        links.push(sessions.join("two.jsonl"));
        links.sort();
        assert_eq!(kept.links, links);
        assert!(kept.is_empty() && kept.unread.is_empty() && !kept.is_whole());
        assert!(note.exists());
    }

    /// An agent may put anything in the place of what the configuration names there.
    #[test]
    fn extra_paths_are_reached_through_nothing_that_an_agent_left() {
        let root = tempfile::tempdir().unwrap();
        let (state, own) = (root.path().join("state"), root.path().join("own"));
        fs::create_dir_all(&state).unwrap();
        fs::create_dir_all(&own).unwrap();
        let note = own.join("note.md");
        fs::write(&note, "the blue flowerpot").unwrap();
        let link = root.path().join("mine.md");
        std::os::unix::fs::symlink(&note, &link).unwrap();
        let configuration = serde_json::json!({"agents": {"defaults": {"memorySearch": {
            "extraPaths": ["fifo.md", "link.md", "way/note.md", "docs", "kept.md", link, own]}}}});
        fs::write(state.join("openclaw.json"), configuration.to_string()).unwrap();
        let environment = [("OPENCLAW_STATE_DIR", state.to_str().unwrap())];
        let settings = openclaw_settings::load(&environment.into_iter().collect()).unwrap();
        let workspace = settings.agent("main").unwrap().workspace.clone();
        fs::create_dir_all(&workspace).unwrap();
        nix::unistd::mkfifo(&workspace.join("fifo.md"), nix::sys::stat::Mode::S_IRWXU).unwrap();
        for (target, name) in [(&note, "link.md"), (&own, "way"), (&own, "docs")] {
            std::os::unix::fs::symlink(target, workspace.join(name)).unwrap();
        }
        let kept_note = workspace.join("kept.md");
        fs::write(&kept_note, "a blue flowerpot").unwrap();
        let words = Words::new("blue flowerpot").unwrap();
        let kept = Remains::look(&settings, "", &words, false);
        // The user's own link and folder are followed, to the one file.
        let mut expected = vec![note.canonicalize().unwrap(), kept_note];
        expected.sort();
        assert_eq!(kept.files, expected);
        let unread = ["docs", "link.md", "way/note.md"].map(|it| workspace.join(it));
        assert_eq!(kept.unread, unread);
    }
}
