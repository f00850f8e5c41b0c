use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;

use super::*;

fn workspace() -> (tempfile::TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    let workspace = Workspace::open(&folder.path().into()).unwrap().unwrap();
    (folder, workspace)
}

#[test]
fn links_are_refused_wherever_they_lead() {
    let (folder, workspace) = workspace();
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.md");
    fs::write(&secret, "secret").unwrap();
    fs::write(folder.path().join("inside.md"), "inside").unwrap();
    symlink(&secret, folder.path().join("out.md")).unwrap();
    symlink(outside.path(), folder.path().join("memory")).unwrap();
    symlink("inside.md", folder.path().join("in.md")).unwrap();
    for name in ["out.md", "memory/secret.md", "in.md"] {
        let error = workspace.read(name).unwrap_err();
        assert!(matches!(error, Error::Link { .. }), "{name}: {error}");
        assert!(workspace.stamp(name).is_err() && workspace.open_to_append(name).is_err());
        assert!(workspace.open_file(name).is_err());
    }
    assert!(workspace.folder("memory").is_err());
    assert!(workspace.read("../etc/passwd").is_err());
    assert!(workspace.create("out.md").unwrap().is_none());
    workspace.replace("out.md", "mine").unwrap();
    assert!(workspace.replace("memory/secret.md", "mine").is_err());
    assert!(workspace.remove("memory/secret.md").is_err());
    assert_eq!(fs::read(secret).unwrap(), b"secret");
}

#[test]
fn folder_in_a_workspace_is_reached_through_no_link() {
    let (folder, _) = workspace();
    let outside = tempfile::tempdir().unwrap();
    fs::create_dir(outside.path().join("docs")).unwrap();
    fs::create_dir(folder.path().join("docs")).unwrap();
    symlink(outside.path(), folder.path().join("link")).unwrap();
    let written = [folder.path().to_owned()].into();
    let open = |path: &str| {
        let path = folder.path().join(path);
        Workspace::open(&ConfiguredFolder::new(path, Arc::clone(&written)))
    };
    assert!(open("docs").unwrap().is_some() && open("none").unwrap().is_none());
    for path in ["link", "link/docs"] {
        assert!(matches!(open(path), Err(Error::Link { .. })), "{path}");
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
