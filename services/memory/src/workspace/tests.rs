use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

use super::*;

fn workspace() -> (tempfile::TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(folder.path()).unwrap().unwrap();
    (folder, workspace)
}

#[test]
fn links_out_of_the_workspace_are_as_good_as_not_there() {
    let (folder, workspace) = workspace();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("secret.md"), "secret").unwrap();
    fs::write(folder.path().join("inside.md"), "inside").unwrap();
    symlink(
        outside.path().join("secret.md"),
        folder.path().join("out.md"),
    )
    .unwrap();
    symlink(outside.path(), folder.path().join("memory")).unwrap();
    symlink("inside.md", folder.path().join("in.md")).unwrap();

    assert!(workspace.read("out.md").unwrap().is_none());
    assert!(workspace.stamp("out.md").unwrap().is_none());
    assert!(workspace.read("memory/secret.md").unwrap().is_none());
    assert!(workspace.folder("memory").unwrap().is_none());
    assert!(workspace.read("../etc/passwd").unwrap().is_none());
    assert_eq!(workspace.read("in.md").unwrap().unwrap().0, "inside");
    assert!(workspace.stamp("in.md").unwrap().is_some());

    assert!(workspace.open_to_append("out.md").is_err());
    assert!(workspace.open_to_append("memory/note.md").is_err());
    assert!(workspace.create("out.md").unwrap().is_none());
    assert_eq!(
        fs::read(outside.path().join("secret.md")).unwrap(),
        b"secret"
    );
}

#[test]
fn what_is_not_a_regular_file_is_not_waited_for() {
    let (folder, workspace) = workspace();
    nix::unistd::mkfifo(&folder.path().join("pipe.md"), Mode::S_IRWXU).unwrap();
    fs::create_dir(folder.path().join("folder.md")).unwrap();
    for name in ["pipe.md", "folder.md"] {
        assert!(workspace.stamp(name).unwrap().is_none());
        assert!(workspace.read(name).unwrap().is_none());
    }
}

#[test]
fn large_files_are_refused_by_name() {
    let (folder, workspace) = workspace();
    let file = fs::File::create(folder.path().join("MEMORY.md")).unwrap();
    file.set_len(FILE_LIMIT + 1).unwrap();
    let error = workspace.read("MEMORY.md").unwrap_err().to_string();
    assert!(
        error.contains("MEMORY.md") && error.contains("2 MiB"),
        "{error}"
    );
}

#[test]
fn what_is_made_is_private() {
    let parent = tempfile::tempdir().unwrap();
    let path = parent.path().join("state/workspace");
    let workspace = Workspace::open_or_create(&path).unwrap();
    workspace.create_folder("memory").unwrap();
    workspace.create_folder("memory").unwrap();
    assert!(workspace.open_to_append("memory/a.md").unwrap().1);
    assert!(!workspace.open_to_append("memory/a.md").unwrap().1);
    let mode = |path: &str| fs::metadata(parent.path().join(path)).unwrap().mode() & 0o777;
    assert_eq!(mode("state/workspace"), 0o700);
    assert_eq!(mode("state/workspace/memory"), 0o700);
    assert_eq!(mode("state/workspace/memory/a.md"), 0o600);
}

/// As root only: an ordinary user cannot give files away.
#[test]
fn what_root_makes_belongs_to_the_owner_of_the_workspace() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::chown(folder.path(), Some(1234), Some(4321)).unwrap();
    let workspace = Workspace::open(folder.path()).unwrap().unwrap();
    workspace.create_folder("memory").unwrap();
    workspace.open_to_append("memory/a.md").unwrap();
    for path in ["memory", "memory/a.md"] {
        let meta = fs::metadata(folder.path().join(path)).unwrap();
        assert_eq!((meta.uid(), meta.gid()), (1234, 4321), "{path}");
    }
}

#[test]
fn a_missing_workspace_is_none_and_a_file_is_an_error() {
    let (folder, _) = workspace();
    assert!(
        Workspace::open(&folder.path().join("none"))
            .unwrap()
            .is_none()
    );
    let file = folder.path().join("file");
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(Workspace::open(&file).is_err());
    assert!(Workspace::open_or_create(&file).is_err());
}
