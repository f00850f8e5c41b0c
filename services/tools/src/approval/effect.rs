//! What a call would do that is not a command: which files it changes, and
//! whether it tells somebody outside something.

use std::path::{Component, Path, PathBuf};

use openclaw_folder::repository;
use openclaw_policy::catalog;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization as _;

use super::target::{self, Unresolved};
use crate::patch;

/// Where a call names the one file that it changes: our tools, and those of the
/// Claude Code CLI.
const PATHS: [&str; 3] = ["path", "file_path", "notebook_path"];

/// Tools of other agents' CLIs that fetch from an address the model chooses.
const FETCHING: [&str; 1] = ["WebFetch"];

/// Where a turn works, as its agent sees it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TurnPaths {
    /// The folder that it may change unasked, and where relative paths begin.
    pub workspace: PathBuf,
    /// `~`
    pub home: PathBuf,
    /// Its temporary folder, gone after it.
    pub temporary: PathBuf,
    /// Whether its `/tmp` is that folder, and not this machine's,
    pub own_tmp: bool,
    /// but for these.
    pub granted: Vec<PathBuf>,
}

/// Whether a call of `tool` fetches from an address that the model chooses.
#[must_use]
pub fn fetches(tool: &str) -> bool {
    FETCHING.contains(&tool)
}

/// Whether `tool` changes files.
#[must_use]
pub fn writes(tool: &str) -> bool {
    let name = catalog::find(tool).map(|known| known.name);
    matches!(name, Some("write_file" | "edit" | "apply_patch"))
}

/// The files that a call names as those that it changes.
///
/// # Errors
/// It names none that can be read; in words.
fn named(arguments: &Value) -> Result<Vec<String>, String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    if let Some(input) = arguments["input"].as_str() {
        return patch::paths(input);
    }
    let mut named: Vec<String> = PATHS
        .iter()
        .filter_map(|key| text(&arguments[*key]))
        .collect();
    // As the Codex CLI tells of a patch.
    for change in arguments["changes"].as_array().into_iter().flatten() {
        named.push(text(&change["path"]).ok_or("a change names no file")?);
        named.extend(text(&change["kind"]["move_path"]));
    }
    if named.is_empty() {
        Err("it names no file".to_owned())
    } else {
        Ok(named)
    }
}

impl TurnPaths {
    /// Where a call of `tool` changes something outside the workspace, or that git
    /// obeys in it, as it really reaches it.
    ///
    /// # Errors
    /// When that cannot be told; in words.
    pub fn outside(&self, tool: &str, arguments: &Value) -> Result<Vec<PathBuf>, String> {
        let own = [&self.workspace, &self.temporary].map(|folder| target::resolve(folder));
        let own: Vec<PathBuf> = own.into_iter().flatten().collect();
        let mut all = Vec::new();
        for path in named(arguments)? {
            for reading in self.readings(tool, &path) {
                let reached = self.resolve(&reading).map_err(|error| error.to_string())?;
                if !all.contains(&reached) {
                    all.push(reached);
                }
            }
        }
        let is_plain = |file: &PathBuf| own.iter().any(|folder| is_plainly_in(file, folder, &all));
        Ok(all.iter().filter(|file| !is_plain(file)).cloned().collect())
    }

    /// The folder that a command works in which is given `directory`.
    #[must_use]
    pub fn directory(&self, directory: &str) -> PathBuf {
        let path = self.workspace.join(directory);
        self.resolve(&path).unwrap_or(path)
    }

    /// Where a path leads that the agent sees.
    fn resolve(&self, path: &Path) -> Result<PathBuf, Unresolved> {
        let plain = target::without_dots(path);
        let is_granted = self.granted.iter().any(|folder| plain.starts_with(folder));
        match plain.strip_prefix("/tmp") {
            Ok(rest) if self.own_tmp && !is_granted => target::resolve(&self.temporary.join(rest)),
            _ => target::resolve(path),
        }
    }

    /// What the tool may take `path` for. Ours leave it to the kernel. Others
    /// trim it, know `~`, take out `..` before links are followed, and write
    /// characters in their composed form; which of these they do is theirs to
    /// change.
    fn readings(&self, tool: &str, path: &str) -> Vec<PathBuf> {
        let as_it_is = self.workspace.join(path);
        let is_ours = catalog::find(tool)
            .is_some_and(|known| known.name == tool || known.aliases.contains(&tool));
        if is_ours {
            return vec![as_it_is];
        }
        let trimmed = path.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        let expanded = match trimmed.strip_prefix('~') {
            Some("") => self.home.clone(),
            Some(rest) if rest.starts_with('/') => self.home.join(rest.trim_start_matches('/')),
            _ => self.workspace.join(trimmed),
        };
        let composed: String = expanded.to_string_lossy().nfc().collect();
        let composed = PathBuf::from(composed);
        let mut readings = vec![target::without_dots(&composed), composed];
        if !trimmed.starts_with('~') {
            readings.extend([target::without_dots(&as_it_is), as_it_is]);
        }
        readings
    }
}

/// What git obeys in a repository's own folder, beside what makes it one.
const OBEYED: [&str; 3] = ["config", "config.worktree", "hooks"];

/// Whether a file lies in `folder`, and not in a repository's own folder there, such as the
/// files of a call make: git runs programs that the files in it name, also when somebody else
/// asks it for something.
fn is_plainly_in(file: &Path, folder: &Path, files: &[PathBuf]) -> bool {
    let is_gits = |part: Component<'_>| part.as_os_str().eq_ignore_ascii_case(".git");
    let Ok(rest) = file.strip_prefix(folder) else {
        return false;
    };
    let mut around = folder.to_owned();
    for part in rest.components() {
        let name = part.as_os_str();
        let is = |it: &&str| name.eq_ignore_ascii_case(it);
        let own = [repository::HEAD, repository::ELSEWHERE];
        let mut counted = own.iter().chain(&repository::PARTS).chain(&OBEYED);
        if is_gits(part) || counted.any(is) && is_made_repository(&around, files) {
            return false;
        }
        around.push(name);
    }
    true
}

/// Whether git takes `folder` for a repository's own, once `files` are written.
fn is_made_repository(folder: &Path, files: &[PathBuf]) -> bool {
    repository::is_repository(|name| {
        let path = folder.join(name);
        let is_made = files.iter().any(|file| file.starts_with(&path));
        is_made || path.symlink_metadata().is_ok()
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use serde_json::json;

    use super::*;

    struct Scene {
        ground: TurnPaths,
        root: PathBuf,
        _folder: tempfile::TempDir,
    }

    fn scene() -> Scene {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for name in ["ws/sub", "home", "tmp", "out"] {
            fs::create_dir_all(root.join(name)).unwrap();
        }
        symlink("../out", root.join("ws/link")).unwrap();
        symlink("ws", root.join("other-name")).unwrap();
        symlink(root.join("out"), root.join("ws/\u{e9}")).unwrap();
        let ground = TurnPaths {
            workspace: root.join("ws"),
            home: root.join("home"),
            temporary: root.join("tmp"),
            own_tmp: false,
            granted: vec![root.join("ws"), root.join("out")],
        };
        Scene {
            ground,
            root,
            _folder: folder,
        }
    }

    impl Scene {
        fn is_outside(&self, tool: &str, path: &str) -> bool {
            let path = path.replace("ROOT", self.root.to_str().unwrap());
            let arguments = json!({"path": path});
            !self.ground.outside(tool, &arguments).unwrap().is_empty()
        }
    }

    #[test]
    fn path_is_judged_by_what_it_reaches() {
        let scene = scene();
        for tool in ["write_file", "Write", "MultiEdit", "apply_patch"] {
            for (path, outside) in [
                ("a", false),
                ("new/folder/a", false),
                ("sub/../a", false),
                (".git/config", true),
                ("sub/.GIT/hooks/post-commit", true),
                (".git", true),
                (".gitignore", false),
                ("ROOT/ws/a", false),
                ("ROOT/other-name/a", false),
                ("ROOT/tmp/a", false),
                ("../a", true),
                ("sub/../../a", true),
                ("link/a", true),
                ("link/../ws/a", false),
                ("ROOT/out/a", true),
                ("ROOT/ws-2/a", true),
                ("ROOT/home/a", true),
                ("/tmp/a", true),
            ] {
                assert_eq!(scene.is_outside(tool, path), outside, "{tool} {path}");
            }
        }
    }

    #[test]
    fn tools_of_others_read_paths_in_their_own_way() {
        let scene = scene();
        for path in [
            "~/a",
            " ~/a",
            " ROOT/out/a",
            "\u{feff}/etc/a",
            "e\u{301}/a",
            "link/../a",
        ] {
            assert!(scene.is_outside("Write", path), "{path:?}");
        }
        // To ours it is a name like any other.
        assert!(!scene.is_outside("write_file", "~/a"));
        assert!(!scene.is_outside("write", " x"));
    }

    /// Git takes such a folder for a repository, whatever it is called, and runs what its
    /// settings name.
    #[test]
    fn effect_what_completes_a_repository_is_asked_about() {
        let scene = scene();
        for path in [
            "HEAD",
            "config",
            "sub/HEAD",
            "hooks/pre-commit",
            "objects/keep",
        ] {
            assert!(!scene.is_outside("write_file", path), "{path} alone");
        }
        for name in ["ws/objects", "ws/refs", "ws/sub/objects"] {
            fs::create_dir(scene.root.join(name)).unwrap();
        }
        assert!(scene.is_outside("write_file", "HEAD"));
        assert!(!scene.is_outside("write_file", "config"), "without a HEAD");
        fs::write(scene.root.join("ws/HEAD"), "ref: refs/heads/main").unwrap();
        for path in ["config", "hooks/post-checkout", "refs/heads/x", "HEAD"] {
            assert!(scene.is_outside("write_file", path), "{path}");
        }
        for path in ["notes", "sub/config", "sub/HEAD"] {
            assert!(!scene.is_outside("write_file", path), "{path}");
        }
        // All of it in one call.
        let change = |path: &str| json!({"path": path});
        let changes = ["d/HEAD", "d/objects/x", "d/refs/x", "d/config", "d/note"].map(change);
        let outside = scene
            .ground
            .outside("apply_patch", &json!({"changes": changes}));
        assert_eq!(outside.unwrap().len(), 4);
    }

    /// A repository may have its settings elsewhere.
    #[test]
    fn effect_what_points_to_the_rest_of_a_repository_is_asked_about() {
        let scene = scene();
        for path in ["HEAD", "commondir", "sub/HEAD"] {
            assert!(!scene.is_outside("write_file", path), "{path} alone");
        }
        fs::write(scene.root.join("ws/HEAD"), "ref: refs/heads/main").unwrap();
        assert!(scene.is_outside("write_file", "commondir"));
        fs::write(scene.root.join("ws/sub/commondir"), "../common").unwrap();
        assert!(scene.is_outside("write_file", "sub/HEAD"));
    }

    #[test]
    fn effect_every_file_of_a_call_counts() {
        let scene = scene();
        let outside = |arguments: Value| scene.ground.outside("apply_patch", &arguments);
        let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Update File: b\n*** Move to: ../c\n\
                     @@\n-x\n+y\n*** End Patch";
        let out = outside(json!({"input": patch})).unwrap();
        assert_eq!(out, [scene.root.join("c")]);
        let changes = json!({"changes": [{"path": "a", "kind": {"move_path": "/etc/a"}}]});
        assert_eq!(outside(changes).unwrap(), [PathBuf::from("/etc/a")]);
        assert!(outside(json!({"input": "no patch"})).is_err());
        assert!(outside(json!({"changes": [{}]})).is_err());
        assert!(outside(json!({})).is_err());
    }

    #[test]
    fn tmp_of_its_own_is_the_temporary_folder() {
        let mut scene = scene();
        scene.ground.own_tmp = true;
        assert!(!scene.is_outside("Write", "/tmp/a"));
        assert!(scene.is_outside("Write", "/tmp/../a"));
        // The root of this test lies in /tmp too.
        assert!(!scene.is_outside("Write", "ROOT/ws/a"));
        assert!(scene.is_outside("Write", "ROOT/out/a"));
        symlink("/etc", scene.root.join("tmp/link")).unwrap();
        assert!(scene.is_outside("Write", "/tmp/link/a"));
    }
}
