//! Which files of a workspace are searched.

use std::collections::BTreeMap;

use nix::dir::Type;

use crate::workspace::{Error, Stamp, Workspace};

pub(crate) mod dated;

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
/// More files than this are somebody's archive, and looking at them all before
/// a search would hold it up for more than 50 ms.
const FILES: usize = 20_000;
/// Of all files together, in bytes: the index takes about as much memory.
const SIZE: u64 = 256 * 1024 * 1024;
/// Folders below each other; deeper is a loop of mounts or a mistake.
const DEPTH: usize = 16;

/// What a workspace has.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// By path.
    pub(crate) files: BTreeMap<String, Stamp>,
    /// Of the notes among them, in bytes.
    size: u64,
    /// Why something was left out.
    pub(crate) left_out: Vec<LeftOut>,
}

impl Sources {
    fn is_full(&self) -> bool {
        self.files.len() >= FILES || self.size >= SIZE
    }
}

/// Why something of the workspace is not searched.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LeftOut {
    /// A folder that cannot be read.
    #[error("a folder of notes is not searched")]
    Unreadable(#[source] Error),
    /// More than [`FILES`] or [`SIZE`].
    #[error(
        "only {FILES} files of {} MiB in all are searched; move some of them out of {FOLDER}/",
        SIZE >> 20
    )]
    TooMany,
    /// Deeper than [`DEPTH`].
    #[error("{path} is not searched: more than {DEPTH} folders deep")]
    TooDeep {
        /// The folder.
        path: String,
    },
}

/// The files there are now. Names that begin with a dot are not looked at, nor
/// are names that are not UTF-8, which no answer could give.
pub(crate) fn scan(workspace: &Workspace) -> Result<Sources, Error> {
    let mut sources = Sources::default();
    for name in NAMED {
        if let Some(stamp) = workspace.stamp(name)? {
            sources.files.insert(name.to_owned(), stamp);
        }
    }
    let mut folders = vec![(FOLDER.to_owned(), 1)];
    while let Some((folder, depth)) = folders.pop() {
        if depth > DEPTH {
            sources.left_out.push(LeftOut::TooDeep { path: folder });
            continue;
        }
        match list(workspace, &folder, &mut sources) {
            Ok(below) => folders.extend(below.into_iter().map(|path| (path, depth + 1))),
            Err(error) => sources.left_out.push(LeftOut::Unreadable(error)),
        }
        if sources.is_full() {
            sources.left_out.push(LeftOut::TooMany);
            break;
        }
    }
    Ok(sources)
}

/// Adds the files of `folder`, and returns the folders in it.
fn list(workspace: &Workspace, folder: &str, sources: &mut Sources) -> Result<Vec<String>, Error> {
    let mut below = Vec::new();
    let Some(mut listing) = workspace.folder(folder)? else {
        return Ok(below);
    };
    for (name, kind) in listing.entries() {
        let path = format!("{folder}/{name}");
        if kind == Some(Type::Directory) {
            below.push(path);
        } else if dated::is_markdown(&name)
            && !sources.is_full()
            && let Some(stamp) = listing.stamp(workspace, &path, &name)?
        {
            sources.size += stamp.size();
            sources.files.insert(path, stamp);
        }
    }
    Ok(below)
}
