//! Repositories of git that lie in workspaces as plain folders.
//!
//! git takes a folder with these three names for a repository without a working tree, and obeys
//! what its configuration names (fsmonitor, filters, hooks) for whoever calls it there. An agent
//! makes one with a few files, and no tool shows it as a repository.

use std::ffi::OsStr;
use std::path::Path;

use openclaw_folder::{Folder, Kind};
use openclaw_settings::RunnerSettings;

/// What makes a folder one to git.
const PARTS: [&str; 3] = ["HEAD", "objects", "refs"];
/// The folder of one that has a working tree, which is seen and expected.
const OF_A_TREE: &str = ".git";
/// Folders below a workspace that are looked into.
const DEPTH: usize = 8;
/// Folders that are looked at in all, and names in each.
const FOLDERS: usize = 5000;
const NAMES: usize = 2000;
/// How many are named.
const NAMED: usize = 20;

/// Those in the workspaces of all agents.
pub(crate) fn planted(settings: &RunnerSettings) -> Vec<String> {
    let mut search = Search {
        folders: FOLDERS,
        found: Vec::new(),
    };
    let mut workspaces: Vec<&Path> = settings
        .agents
        .values()
        .map(|agent| &*agent.workspace)
        .collect();
    workspaces.sort_unstable();
    workspaces.dedup();
    for workspace in workspaces {
        if let Ok(Some(folder)) = Folder::open(workspace) {
            search.look(&folder, DEPTH);
        }
    }
    search.found
}

struct Search {
    /// Folders that may still be looked at.
    folders: usize,
    found: Vec<String>,
}

impl Search {
    fn look(&mut self, folder: &Folder, depth: usize) {
        let Some(left) = self.folders.checked_sub(1) else {
            return;
        };
        self.folders = left;
        let entries = folder.entries(NAMES).unwrap_or_default();
        let has = |part: &str| entries.iter().any(|entry| entry.name == OsStr::new(part));
        if PARTS.iter().all(|part| has(part)) {
            if self.found.len() < NAMED {
                let path = folder.path().display();
                self.found.push(format!(
                    "{path} is a repository to git, without a working tree"
                ));
            }
            return;
        }
        if depth == 0 {
            return;
        }
        for entry in entries {
            if entry.kind != Kind::Folder || entry.name == OsStr::new(OF_A_TREE) {
                continue;
            }
            if let Ok(Some(below)) = folder.folder(&entry.name) {
                self.look(&below, depth - 1);
            }
        }
    }
}
