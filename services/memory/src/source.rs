//! Which files are searched, and under which names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use openclaw_folder::{ConfiguredFolder, Folder, Kind};
use openclaw_retrieval::Source;

use crate::workspace::{Error, Listing, Stamp, Workspace};

pub(crate) mod dated;
mod places;

pub(crate) use places::Places;

/// At the workspace's root; the rest is Markdown under [`FOLDER`].
const NAMED: [&str; 5] = [
    "SOUL.md",
    "USER.md",
    "AGENTS.md",
    "IDENTITY.md",
    "MEMORY.md",
];
/// The folder of notes.
pub(crate) const FOLDER: &str = "memory";
/// What the names of transcripts begin with.
pub(crate) const SESSIONS: &str = "sessions/";
/// What they end with; OpenClaw's archives have more after it.
pub(crate) const TRANSCRIPT: &str = ".jsonl";
/// More files than this in one place are somebody's archive.
const FILES: usize = 20_000;
/// Each folder is watched, of which the kernel has a number for all of the user's programs
/// (fs.inotify.max_user_watches).
const FOLDERS: usize = 2_000;
/// Of all files of one place together, in bytes.
const SIZE: u64 = 256 * 1024 * 1024;
/// Folders below each other; deeper is a loop of mounts or a mistake.
const DEPTH: usize = 16;

/// A folder some files of which are searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Where.
    pub(crate) folder: ConfiguredFolder,
    /// Which files.
    pub(crate) shape: Shape,
    /// What documents' names begin with: of an extra folder its path.
    pub(crate) prefix: String,
}

/// Which files of a folder are searched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Shape {
    /// The named files and the notes.
    Workspace,
    /// All Markdown in it.
    Tree,
    /// One file.
    File(String),
    /// The transcripts directly in it.
    Transcripts,
}

impl Place {
    /// The name of the document of the file at `path` in this place.
    pub(crate) fn document(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }

    /// The file of the document `name`, when it is one of this place.
    pub(crate) fn path<'a>(&self, name: &'a str) -> Option<&'a str> {
        let path = name.strip_prefix(self.prefix.as_str())?;
        self.wants(path).then_some(path)
    }

    /// Where its documents come from.
    pub(crate) fn source(&self) -> Source {
        match self.shape {
            Shape::Workspace => Source::Memory,
            Shape::Tree | Shape::File(_) => Source::Extra,
            Shape::Transcripts => Source::Sessions,
        }
    }

    /// Whether its files are only ever appended to, line by line.
    pub(crate) fn is_log(&self) -> bool {
        self.shape == Shape::Transcripts
    }

    /// Whether the file at `path` is searched.
    pub(crate) fn wants(&self, path: &str) -> bool {
        let hidden = path
            .split('/')
            .any(|part| part.is_empty() || part.starts_with('.'));
        let name = path.rsplit('/').next().unwrap_or(path);
        !hidden
            && match &self.shape {
                Shape::Workspace => {
                    let note = path
                        .strip_prefix(FOLDER)
                        .is_some_and(|p| p.starts_with('/'));
                    NAMED.contains(&path) || (note && dated::is_markdown(name))
                }
                Shape::Tree => dated::is_markdown(name),
                Shape::File(file) => path == file,
                Shape::Transcripts => !path.contains('/') && path.ends_with(TRANSCRIPT),
            }
    }

    /// Opens the folder; None when it is not there.
    pub(crate) fn open(&self) -> Result<Option<Workspace>, Error> {
        Workspace::open(&self.folder)
    }

    fn root_of_tree(&self) -> Option<&'static str> {
        match self.shape {
            Shape::Workspace => Some(FOLDER),
            Shape::Tree => Some(""),
            Shape::File(_) | Shape::Transcripts => None,
        }
    }
}

/// What a place has.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    /// By path in the place.
    pub(crate) files: BTreeMap<String, Stamp>,
    /// In bytes.
    size: u64,
    /// Why something was left out.
    pub(crate) left_out: Vec<LeftOut>,
}

impl Listed {
    /// Told of one of them: a place may be full of links.
    fn leave_out_link(&mut self, path: PathBuf) {
        let told = |left_out: &LeftOut| matches!(left_out, LeftOut::Link { .. });
        if !self.left_out.iter().any(told) {
            self.left_out.push(LeftOut::Link { path });
        }
    }

    /// Told once of a place.
    fn leave_out_more(&mut self, folder: &Path) {
        let told = |left_out: &LeftOut| matches!(left_out, LeftOut::TooMany { .. });
        if !self.left_out.iter().any(told) {
            let folder = folder.to_owned();
            self.left_out.push(LeftOut::TooMany { folder });
        }
    }

    fn is_full(&self) -> bool {
        self.files.len() >= FILES || self.size >= SIZE
    }
}

/// Why something is not searched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LeftOut {
    /// A folder that cannot be read.
    #[error("a folder of notes is not searched")]
    Unreadable(#[source] Error),
    /// More than [`FILES`], [`SIZE`] or [`FOLDERS`].
    #[error(
        "only {FILES} files of {} MiB in all, in {FOLDERS} folders, are searched in {folder}; move \
         some of them elsewhere",
        SIZE >> 20
    )]
    TooMany {
        /// The place.
        folder: PathBuf,
    },
    /// Links lead anywhere.
    #[error(
        "{path:?} is a symbolic link, which is not followed; put what it leads to there, or name that in memorySearch.extraPaths"
    )]
    Link {
        /// The first one of the place.
        path: PathBuf,
    },
    /// Deeper than [`DEPTH`].
    #[error("{path} is not searched: more than {DEPTH} folders deep")]
    TooDeep {
        /// The folder.
        path: String,
    },
}

/// The files there are now in `place`, which is open as `root`. Names that
/// begin with a dot are not looked at, nor are names that are not UTF-8, which
/// no answer could give. `visit` is called for each folder before it is listed,
/// so that nothing comes in between unseen.
pub(crate) fn scan(
    place: &Place,
    root: &Workspace,
    visit: &mut dyn FnMut(&Folder, &str),
) -> Result<Listed, Error> {
    let mut listed = Listed::default();
    if let Some(listing) = root.folder("")? {
        visit(listing.folder(), "");
    }
    match &place.shape {
        Shape::Workspace => named(root, &NAMED, &mut listed)?,
        Shape::File(name) => named(root, &[name], &mut listed)?,
        Shape::Transcripts => {
            if let Some(listing) = root.folder("")? {
                list(place, &listing, "", &mut listed)?;
            }
        }
        Shape::Tree => {}
    }
    if let Some(tree) = place.root_of_tree() {
        walk(place, root, tree, visit, &mut listed);
    }
    Ok(listed)
}

fn named(root: &Workspace, names: &[&str], listed: &mut Listed) -> Result<(), Error> {
    for name in names {
        match root.stamp(name) {
            Ok(Some(stamp)) => drop(listed.files.insert((*name).to_owned(), stamp)),
            Ok(None) => {}
            Err(Error::Link { path, .. }) => listed.leave_out_link(path),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn walk(
    place: &Place,
    root: &Workspace,
    tree: &str,
    visit: &mut dyn FnMut(&Folder, &str),
    listed: &mut Listed,
) {
    let mut folders = vec![(tree.to_owned(), 1)];
    let mut seen = 0;
    while let Some((folder, depth)) = folders.pop() {
        seen += 1;
        if depth > DEPTH {
            listed.left_out.push(LeftOut::TooDeep { path: folder });
            continue;
        }
        let below = root.folder(&folder).and_then(|listing| match listing {
            Some(listing) => {
                if !folder.is_empty() {
                    visit(listing.folder(), &folder);
                }
                list(place, &listing, &folder, listed)
            }
            None => Ok(Vec::new()),
        });
        let room = FOLDERS.saturating_sub(seen + folders.len());
        let mut is_full = listed.is_full();
        match below {
            Ok(below) => {
                is_full |= below.len() > room;
                let below = below.into_iter().take(room);
                folders.extend(below.map(|path| (path, depth + 1)));
            }
            Err(Error::Link { path, .. }) => listed.leave_out_link(path),
            Err(error) => listed.left_out.push(LeftOut::Unreadable(error)),
        }
        if is_full {
            listed.leave_out_more(&place.folder);
        }
        if listed.is_full() {
            break;
        }
    }
}

/// Adds the files of `folder`, and returns the folders in it.
fn list(
    place: &Place,
    listing: &Listing,
    folder: &str,
    listed: &mut Listed,
) -> Result<Vec<String>, Error> {
    let mut below = Vec::new();
    for (name, kind) in listing.entries()? {
        let path = match folder {
            "" => name.clone(),
            folder => format!("{folder}/{name}"),
        };
        let may_be_folder = place.root_of_tree().is_some() && !name.contains('.');
        match kind {
            Kind::Folder => below.push(path),
            Kind::Link if place.wants(&path) || may_be_folder => {
                listed.leave_out_link(place.folder.join(path));
            }
            Kind::File if place.wants(&path) && !listed.is_full() => {
                // Removed or replaced meanwhile: the folder tells of that.
                if let Ok(Some(stamp)) = listing.stamp(&name) {
                    listed.size += stamp.size();
                    listed.files.insert(path, stamp);
                }
            }
            Kind::File | Kind::Link | Kind::Other => {}
        }
    }
    Ok(below)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn place(folder: &Path, shape: Shape) -> Place {
        Place {
            folder: folder.to_owned().into(),
            shape,
            prefix: String::new(),
        }
    }

    fn found(place: &Place) -> (Vec<String>, Vec<String>) {
        let root = place.open().unwrap().unwrap();
        let mut folders = Vec::new();
        let listed = scan(place, &root, &mut |_, folder| {
            folders.push(folder.to_owned())
        });
        folders.sort();
        (listed.unwrap().files.into_keys().collect(), folders)
    }

    fn write(folder: &Path, paths: &[&str]) {
        for path in paths {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x").unwrap();
        }
    }

    /// One who makes folders takes no more of what watches them.
    #[test]
    fn source_of_more_folders_than_are_watched_some_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let notes = folder.path().join(FOLDER);
        for number in 0..FOLDERS {
            fs::create_dir_all(notes.join(format!("{}/{number}", number % 3))).unwrap();
        }
        let place = place(folder.path(), Shape::Workspace);
        let root = place.open().unwrap().unwrap();
        let mut visited = 0;
        let listed = scan(&place, &root, &mut |_, _| visited += 1).unwrap();
        assert_eq!(visited, FOLDERS + 1, "the workspace itself is another");
        let said: Vec<String> = listed.left_out.iter().map(LeftOut::to_string).collect();
        assert!(
            said.len() == 1 && said[0].contains("in 2000 folders"),
            "{said:?}"
        );
    }

    #[test]
    fn source_of_a_workspace_the_named_files_and_the_notes() {
        let folder = tempfile::tempdir().unwrap();
        let there = [
            "MEMORY.md",
            "README.md",
            "docs/a.md",
            "memory/a.md",
            "memory/b.txt",
            "memory/.c.md",
            "memory/deep/er/d.MD",
            "memory/.trash/e.md",
        ];
        write(folder.path(), &there);
        let outside = tempfile::tempdir().unwrap();
        write(outside.path(), &["secret.md"]);
        symlink(outside.path(), folder.path().join("memory/out")).unwrap();
        symlink(
            outside.path().join("secret.md"),
            folder.path().join("memory/s.md"),
        )
        .unwrap();
        let place = place(folder.path(), Shape::Workspace);
        let (files, folders) = found(&place);
        assert_eq!(files, ["MEMORY.md", "memory/a.md", "memory/deep/er/d.MD"]);
        assert_eq!(folders, ["", "memory", "memory/deep", "memory/deep/er"]);
        for path in &files {
            assert!(place.wants(path), "{path}");
        }
        for path in [
            "README.md",
            "memory",
            "memory/.trash/e.md",
            "memory//a.md",
            "../a.md",
        ] {
            assert!(!place.wants(path), "{path}");
        }
    }

    #[test]
    fn source_of_other_places_what_their_shape_says() {
        let folder = tempfile::tempdir().unwrap();
        write(
            folder.path(),
            &[
                "a.md",
                "sub/b.md",
                "c.jsonl",
                "c.jsonl.deleted.x",
                "sub/d.jsonl",
            ],
        );
        let (files, folders) = found(&place(folder.path(), Shape::Tree));
        assert_eq!(files, ["a.md", "sub/b.md"]);
        assert_eq!(folders, ["", "sub"]);
        let (files, _) = found(&place(folder.path(), Shape::Transcripts));
        assert_eq!(files, ["c.jsonl"]);
        let (files, folders) = found(&place(folder.path(), Shape::File("a.md".to_owned())));
        assert_eq!(
            (files, folders),
            (vec!["a.md".to_owned()], vec![String::new()])
        );
    }
}
