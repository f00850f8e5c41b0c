//! What a backup says of itself.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use openclaw_config::paths::KEPT_OF_AGENTS;
use serde::{Deserialize, Serialize};

use crate::layout::{PERMISSIONS, STATE, WORKSPACES};

/// Counted up with every change that an earlier program would misread.
pub(crate) const FORMAT: u64 = 1;
/// Bytes of a manifest: some 200 for each of [`FILES_LIMIT`] files.
pub(crate) const SIZE_LIMIT: u64 = 128 << 20;
/// Files, folders and links of a backup.
pub(crate) const FILES_LIMIT: usize = 500_000;
/// Bytes of a path, as Linux has it (PATH_MAX).
pub(crate) const PATH_LIMIT: usize = 4096;
/// Bytes of a name (NAME_MAX).
const NAME_LIMIT: usize = 255;

/// What a backup says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// The version of this description.
    pub format: u64,
    /// The version of the program that made it.
    pub program: String,
    /// When it was begun, for people.
    pub made: String,
    /// The same in Unix milliseconds.
    pub made_ms: i64,
    /// The machine's name.
    pub host: String,
    /// Whether the gateway was running.
    pub running: bool,
    /// The user's home, if one was known.
    pub home: Option<PathBuf>,
    /// Where the state directory was.
    pub state: PathBuf,
    /// Where the configuration was, if outside the state directory.
    pub configuration: Option<PathBuf>,
    /// Workspaces outside the state directory.
    pub workspaces: Vec<Workspace>,
    /// Every folder, parents first.
    pub folders: Vec<Folder>,
    /// Every file, in the archive's order.
    pub files: Vec<File>,
    /// Symbolic links in places of agents that stay in them.
    pub links: Vec<Link>,
    /// What was left out and cannot be made anew.
    pub left_out: Vec<LeftOut>,
}

/// A workspace outside the state directory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Workspace {
    /// Its folder in the archive.
    pub name: String,
    /// Where it was.
    pub place: PathBuf,
    /// Whose it is.
    pub agents: Vec<String>,
}

/// A folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Folder {
    /// Its path in the archive.
    pub path: String,
    /// Its permissions.
    pub mode: u32,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct File {
    /// Its path in the archive.
    pub path: String,
    /// Its permissions.
    pub mode: u32,
    /// When it was changed, in Unix seconds.
    pub modified: u64,
    /// Bytes.
    pub size: u64,
    /// SHA-256 in hexadecimal digits.
    pub sha256: String,
}

/// A symbolic link.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Its path in the archive.
    pub path: String,
    /// Where it leads, relative to its folder.
    pub target: String,
}

/// Something that the backup does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// Its path in the archive, if it were there.
    pub path: String,
    /// Why it is not.
    pub why: String,
}

/// What every version of the manifest has.
#[derive(Debug, Deserialize)]
pub(crate) struct Head {
    pub(crate) format: u64,
    #[serde(default)]
    pub(crate) program: String,
}

impl Manifest {
    /// Bytes of all files.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let sizes = self.files.iter().map(|file| file.size);
        sizes.fold(0, u64::saturating_add)
    }

    /// What keeps it from being unpacked, if anything does.
    pub(crate) fn problem(&self) -> Option<String> {
        let count = self.folders.len() + self.files.len() + self.links.len();
        if count > FILES_LIMIT {
            return Some(format!("it lists more than {FILES_LIMIT} files"));
        }
        let mut folders = BTreeSet::new();
        for folder in &self.folders {
            if let Some(problem) = self.misplaced(&folder.path, &folders) {
                return Some(problem);
            }
            if folder.mode & !PERMISSIONS != 0 {
                return Some(format!("{:?} has a mode that no folder has", folder.path));
            }
            folders.insert(folder.path.as_str());
        }
        let mut names = folders.clone();
        let files = self.files.iter().map(|file| file.path.as_str());
        let links = self.links.iter().map(|link| link.path.as_str());
        for path in files.chain(links) {
            if let Some(problem) = self.misplaced(path, &folders) {
                return Some(problem);
            }
            if !names.insert(path) {
                return Some(format!("{path:?} is there twice"));
            }
        }
        let wrong = self.files.iter().find(|it| it.mode & !PERMISSIONS != 0);
        if let Some(file) = wrong {
            return Some(format!("{:?} has a mode that no file has", file.path));
        }
        let leading_out = self.links.iter().find(|link| !link.stays());
        if let Some(Link { path, target }) = leading_out {
            return Some(format!("the link {path:?} leads out, to {target:?}"));
        }
        self.misplaced_workspace()
    }

    /// What is wrong with the place of `path`, which must lie in one of `folders`
    /// or be one of the archive's own.
    fn misplaced(&self, path: &str, folders: &BTreeSet<&str>) -> Option<String> {
        if !is_inside(path) {
            return Some(format!("the path {path:?} leads out of its folder"));
        }
        if folders.contains(path) {
            return Some(format!("{path:?} is there twice"));
        }
        let is_root = path == STATE || self.workspaces.iter().any(|it| it.name == path);
        let parent = path.rsplit_once('/').map(|(parent, _)| parent);
        let has_folder = parent.is_some_and(|parent| folders.contains(parent));
        (!is_root && !has_folder).then(|| format!("the path {path:?} is in no folder of it"))
    }

    fn misplaced_workspace(&self) -> Option<String> {
        self.workspaces.iter().enumerate().find_map(|(at, it)| {
            let Workspace { name, place, .. } = it;
            if *name != format!("{WORKSPACES}/{at}") {
                return Some(format!("{name:?} is no name of a workspace"));
            }
            let mut parts = place.components();
            let is_absolute = parts.next() == Some(Component::RootDir);
            let is_plain = parts.all(|part| matches!(part, Component::Normal(_)));
            let is_place = is_absolute && is_plain && place.parent().is_some();
            (!is_place).then(|| format!("{} is no place for a workspace", place.display()))
        })
    }
}

impl Link {
    /// Whether it leads to something in the same place of agents, which is
    /// where an agent itself could have made it.
    pub(crate) fn stays(&self) -> bool {
        let Some(place) = place_of_agents(&self.path) else {
            return false;
        };
        let below = self.path[place..].trim_start_matches('/');
        if below.is_empty() {
            return false;
        }
        let mut depth = below.matches('/').count();
        for part in Path::new(&self.target).components() {
            match part {
                Component::CurDir => {}
                Component::Normal(_) => depth += 1,
                Component::ParentDir if depth > 0 => depth -= 1,
                _ => return false,
            }
        }
        !self.target.is_empty() && self.target.len() < PATH_LIMIT && !self.target.contains('\0')
    }
}

/// How much of `path` is a place in which an agent writes; None: it is none.
pub(crate) fn place_of_agents(path: &str) -> Option<usize> {
    let parts: Vec<&str> = path.split('/').collect();
    let length = |count: usize| parts[..count].iter().map(|it| it.len() + 1).sum::<usize>() - 1;
    match parts.as_slice() {
        [WORKSPACES, _, ..] => Some(length(2)),
        [STATE, name, ..] if *name == "workspace" || name.starts_with("workspace-") => {
            Some(length(2))
        }
        [STATE, "agents", _, name, ..] if KEPT_OF_AGENTS.contains(name) => Some(length(4)),
        _ => None,
    }
}

/// Whether `path` names something in its folder: relative, plain names alone.
fn is_inside(path: &str) -> bool {
    let is_name = |name: &str| !matches!(name, "" | "." | "..") && name.len() <= NAME_LIMIT;
    path.len() < PATH_LIMIT && !path.contains('\0') && path.split('/').all(is_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(path: &str) -> Folder {
        Folder {
            path: path.to_owned(),
            mode: 0o700,
        }
    }

    fn file(path: &str) -> File {
        File {
            path: path.to_owned(),
            mode: 0o600,
            modified: 1,
            size: 1,
            sha256: String::new(),
        }
    }

    fn sound() -> Manifest {
        let workspace = Workspace {
            name: "workspaces/0".to_owned(),
            place: "/home/u/notes".into(),
            agents: vec!["work".to_owned()],
        };
        Manifest {
            format: FORMAT,
            workspaces: vec![workspace],
            folders: ["state", "state/workspace", "workspaces/0"]
                .map(folder)
                .into(),
            files: ["state/a", "workspaces/0/b"].map(file).into(),
            links: vec![Link {
                path: "state/workspace/l".to_owned(),
                target: "deep/../x".to_owned(),
            }],
            ..Manifest::default()
        }
    }

    #[test]
    fn manifest_names_nothing_outside() {
        assert_eq!(sound().problem(), None);
        for path in [
            "/etc/passwd",
            "state/../../x",
            "../x",
            "state//x",
            "state/./x",
            "",
            "x",
            "state/none/x",
            "state/a\0b",
            "workspaces/1/x",
        ] {
            let mut manifest = sound();
            manifest.files.push(file(path));
            assert!(manifest.problem().is_some(), "{path:?} as a file");
            let mut manifest = sound();
            manifest.folders.push(folder(path));
            assert!(manifest.problem().is_some(), "{path:?} as a folder");
        }
        let long = format!("state/{}", "x".repeat(NAME_LIMIT + 1));
        let mut manifest = sound();
        manifest.files.push(file(&long));
        assert!(manifest.problem().is_some());
    }

    #[test]
    fn manifest_has_each_name_once_and_no_mode_of_another_owner() {
        for path in ["state/a", "state/workspace", "state/workspace/l"] {
            let mut manifest = sound();
            manifest.files.push(file(path));
            let problem = manifest.problem().unwrap();
            assert!(problem.contains("is there twice"), "{problem}");
        }
        let mut manifest = sound();
        manifest.files[0].mode = 0o4755;
        assert!(manifest.problem().unwrap().contains("mode"));
        let mut manifest = sound();
        manifest.folders[0].mode = 0o2700;
        assert!(manifest.problem().unwrap().contains("mode"));
    }

    #[test]
    fn manifest_has_workspaces_at_places_of_their_own() {
        for place in ["notes", "/", "/a/../b", ""] {
            let mut manifest = sound();
            manifest.workspaces[0].place = place.into();
            assert!(manifest.problem().is_some(), "{place:?}");
        }
        let mut manifest = sound();
        manifest.workspaces[0].name = "state".to_owned();
        assert!(manifest.problem().is_some());
    }

    #[test]
    fn links_stay_in_the_place_of_their_agent() {
        for (path, target, stays) in [
            ("state/workspace/l", "x", true),
            ("state/workspace/a/l", "../x", true),
            ("state/workspace/l", "../x", false),
            ("state/workspace/a/l", "../../x", false),
            ("state/workspace/a/l", "b/../../../x", false),
            ("state/workspace/l", "/etc/passwd", false),
            ("state/workspace/l", "", false),
            ("state/workspace", "x", false),
            ("state/agents/main/home/bin/l", "../lib/x", true),
            ("state/agents/main/home/l", "../auth/x", false),
            ("state/agents/main/auth/l", "x", false),
            ("state/l", "x", false),
            ("workspaces/0/l", "x", true),
            ("workspaces/0/l", "../1/x", false),
        ] {
            let link = Link {
                path: path.to_owned(),
                target: target.to_owned(),
            };
            assert_eq!(link.stays(), stays, "{path} -> {target}");
        }
    }
}
