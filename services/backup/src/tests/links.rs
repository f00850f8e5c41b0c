//! Links where agents write, and elsewhere.

use super::*;

#[test]
fn backup_keeps_links_of_agents_that_stay_and_names_those_that_leave() {
    let scene = Scene::new();
    let workspace = scene.state().join("workspace");
    symlink("er/note.md", workspace.join("deep/stays")).unwrap();
    symlink("/etc/passwd", workspace.join("leaves")).unwrap();
    symlink("../openclaw.json", workspace.join("climbs")).unwrap();
    nix::unistd::mkfifo(&workspace.join("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    let made = scene.backed_up(true).unwrap();
    let mut left: Vec<&str> = made
        .manifest
        .left_out
        .iter()
        .map(|it| it.path.as_str())
        .collect();
    left.sort();
    let expected = ["climbs", "fifo", "leaves"].map(|name| format!("state/workspace/{name}"));
    assert_eq!(left, expected);
    let restored = scene.restored("new", Existing::Refused).unwrap();
    assert_eq!(text(restored.state.join("workspace/deep/stays")), "note");
    assert!(!restored.state.join("workspace/leaves").is_symlink());
}

/// A workspace may have any name in the state directory, and so may what else is granted.
#[test]
fn backup_follows_no_link_where_an_agent_writes_whatever_that_is_called() {
    let scene = Scene::new();
    let secret = scene.folder.path().join("secret");
    scene.write(&secret.join("key"), "the secret");
    let shared = scene.state().join("shared");
    scene.write(&shared.join("deep/own"), "own");
    symlink(&secret, shared.join("folder")).unwrap();
    symlink(secret.join("key"), shared.join("deep/file")).unwrap();
    symlink("own", shared.join("deep/stays")).unwrap();
    nix::unistd::mkfifo(&shared.join("fifo"), nix::sys::stat::Mode::S_IRWXU).unwrap();
    // By another name it is the same place.
    symlink(scene.home().join("notes"), scene.state().join("other")).unwrap();
    symlink(&secret, scene.home().join("notes/folder")).unwrap();
    // A channel's daemon sees its own folder alone.
    let channel = scene.state().join("state/channels/telegram/default");
    fs::create_dir_all(&channel).unwrap();
    symlink(secret.join("key"), channel.join("taken")).unwrap();
    let made = scene.backed_up(true).unwrap();
    let left = made.manifest.left_out.iter().map(|it| it.path.as_str());
    let left: std::collections::BTreeSet<_> = left.collect();
    for name in [
        "shared/folder",
        "shared/deep/file",
        "other/folder",
        "state/channels/telegram/default/taken",
    ] {
        assert!(left.contains(format!("state/{name}").as_str()), "{left:?}");
    }
    let restored = scene.restored("new", Existing::Refused).unwrap();
    assert_eq!(text(restored.state.join("shared/deep/own")), "own");
    let held = made.manifest.files.iter().map(|file| file.path.as_str());
    let mut held = held.filter(|path| path.contains("folder") || path.ends_with("deep/file"));
    assert_eq!(held.next(), None);
}

/// A path that seems to stay where the agent is, and leaves it by another link.
#[test]
fn link_that_leads_out_by_another_is_neither_held_nor_made() {
    let scene = Scene::new();
    let deep = scene.state().join("workspace/deep/er");
    for (name, target) in [("up", "../.."), ("out", "up/../../x"), ("near", "up/deep")] {
        symlink(target, deep.join(name)).unwrap();
    }
    let held = check(&scene.made()).unwrap();
    let mut links: Vec<_> = held.links.iter().map(|it| &*it.target).collect();
    links.sort_unstable();
    assert_eq!(links, ["../..", "up/deep"]);
    assert_eq!(held.left_out[0].path, "state/workspace/deep/er/out");
    let folder = |path: &str| json!({"path": path, "mode": 0o700});
    let link = |path: &str, target: &str| json!({"path": path, "target": target});
    let mut written = listing("state/x", 1);
    let folders = ["state", "state/workspace", "state/workspace/d"].map(folder);
    written["folders"] = json!(folders);
    written["links"] = json!([
        link("state/workspace/d/up", ".."),
        link("state/workspace/d/out", "up/../x"),
    ]);
    let member = (EntryType::Regular, "state/x", b"x".as_slice());
    seal(&scene, &archive(&written, &[member]));
    let restored = scene.restored("new", Existing::Refused).unwrap();
    assert_eq!(restored.manifest.left_out[0].path, "state/workspace/d/out");
    let made = restored.state.join("workspace/d");
    assert!(made.join("up").is_symlink() && !made.join("out").is_symlink());
}

/// Whoever writes around a workspace could lead to what is the user's.
#[test]
fn restore_follows_a_link_to_a_workspace_where_no_agent_writes() {
    let scene = Scene::new();
    scene.made();
    let (notes, documents) = (scene.home().join("notes"), scene.home().join("documents"));
    scene.write(&documents.join("own"), "the user's");
    fs::remove_dir_all(&notes).unwrap();
    symlink(&documents, &notes).unwrap();
    let before = scene.names();
    let restored = |written| scene.restored_where("old", Existing::MovedAside, written);
    let error = restored(vec![scene.home()]).unwrap_err().to_string();
    assert!(error.contains(notes.to_str().unwrap()), "{error}");
    assert_eq!(scene.names(), before, "nothing was written");
    let restored = restored(Vec::new()).unwrap();
    assert_eq!(text(documents.join("own.md")), "elsewhere");
    let aside = restored.workspaces[0].2.clone().unwrap();
    assert_eq!(text(aside.join("own")), "the user's");
}

/// As a killed one leaves it.
#[test]
fn restore_removes_what_another_left_unfinished_and_keeps_what_is_whole() {
    let scene = Scene::new();
    scene.made();
    let half = scene.home().join(".openclaw-restore-dead/new");
    scene.write(&half.join("auth.json"), "a key");
    let whole = scene.home().join(".openclaw.restored-19700101-000000");
    scene.write(&whole.join("auth.json"), "what was there before");
    scene.restored("old", Existing::Kept).unwrap();
    assert!(!half.parent().unwrap().exists());
    assert!(whole.join("auth.json").exists());
}
