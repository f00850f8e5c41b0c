//! Repositories of git that lie in workspaces as plain folders.
//!
//! git takes a folder with a few names for a repository without a working tree, and obeys
//! what its configuration names (fsmonitor, filters, hooks) for whoever calls it there. An agent
//! makes one with a few files, and no tool shows it as a repository.

use std::ffi::OsStr;
use std::path::Path;

use openclaw_folder::repository::is_repository;
use openclaw_folder::{Folder, Kind};
use openclaw_settings::RunnerSettings;

/// The folder of one that has a working tree, which is seen and expected.
const OF_A_TREE: &str = ".git";
/// Folders below a workspace that are looked into.
const DEPTH: usize = 8;
/// Folders that are looked at in all, and names in each.
const FOLDERS: usize = 5000;
const NAMES: usize = 20_000;
/// How many are named, and how many places that were not looked at.
const NAMED: usize = 20;

/// What a look through workspaces came to.
#[derive(Debug, Default)]
pub(crate) struct Repositories {
    /// Those that nobody expects.
    pub(crate) found: Vec<String>,
    /// Where there may be others, because an agent made more than is looked at.
    pub(crate) unseen: Vec<String>,
}

/// Those in the workspaces of all agents.
pub(crate) fn planted(settings: &RunnerSettings) -> Repositories {
    let mut search = Search {
        folders: FOLDERS,
        result: Repositories::default(),
    };
    let mut workspaces: Vec<&Path> = settings
        .agents
        .values()
        .map(|agent| &*agent.workspace)
        .collect();
    workspaces.sort_unstable();
    workspaces.dedup();
    for workspace in workspaces {
        match Folder::open(workspace) {
            Ok(Some(folder)) => search.look(&folder, DEPTH),
            Ok(None) => {}
            Err(_) => search.pass(workspace, "cannot be looked into"),
        }
    }
    search.result
}

struct Search {
    /// Folders that may still be looked at.
    folders: usize,
    result: Repositories,
}

impl Search {
    fn look(&mut self, folder: &Folder, depth: usize) {
        let path = folder.path();
        let Some(left) = self.folders.checked_sub(1) else {
            return self.pass(path, "and what comes after it is more than is looked at");
        };
        self.folders = left;
        if is_repository(|part| matches!(folder.status(part), Ok(Some(_)))) {
            if self.result.found.len() < NAMED {
                self.result.found.push(format!(
                    "{} is a repository to git, without a working tree",
                    path.display()
                ));
            }
            return;
        }
        let Ok(entries) = folder.entries(NAMES + 1) else {
            return self.pass(path, "cannot be looked into");
        };
        if entries.len() > NAMES {
            self.pass(path, "has more names than are looked at");
        }
        for entry in entries.iter().take(NAMES) {
            if entry.kind != Kind::Folder || entry.name == OsStr::new(OF_A_TREE) {
                continue;
            }
            if depth == 0 {
                return self.pass(path, "has folders deeper than is looked at");
            }
            match folder.folder(&entry.name) {
                Ok(Some(below)) => self.look(&below, depth - 1),
                Ok(None) => {}
                Err(_) => self.pass(&path.join(&entry.name), "cannot be looked into"),
            }
        }
    }

    fn pass(&mut self, path: &Path, why: &str) {
        if self.result.unseen.len() < NAMED {
            let unseen = format!("{} {why}", path.display());
            self.result.unseen.push(unseen);
        }
    }
}
