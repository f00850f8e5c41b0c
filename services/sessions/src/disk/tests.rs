use super::*;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn files_and_folders_are_their_owners_alone() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    create_private_dir(&at("a/b")).unwrap();
    create_private_dir(&at("a/b")).unwrap();
    assert_eq!((mode(&at("a")), mode(&at("a/b"))), (0o700, 0o700));
    create_private(&at("new")).unwrap();
    create_private(&at("new")).unwrap_err();
    open_private(&at("x/opened")).unwrap();
    replace(&at("y/replaced"), b"1").unwrap();
    fs::write(at("wide"), "").unwrap();
    fs::set_permissions(at("wide"), fs::Permissions::from_mode(0o644)).unwrap();
    make_private(&at("wide")).unwrap();
    for name in ["new", "x/opened", "y/replaced", "wide"] {
        assert_eq!(mode(&at(name)), 0o600, "{name}");
    }
    assert_eq!((mode(&at("x")), mode(&at("y"))), (0o700, 0o700));
    make_private(&at("none")).unwrap_err();
}

#[test]
fn file_is_opened_with_what_it_has() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    fs::write(&path, "kept").unwrap();
    open_private(&path).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"kept");
    replace(&path, b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn disk_nothing_there_is_told_from_what_cannot_be_read() {
    let failed = |kind: io::ErrorKind| if_there::<()>(Err(kind.into()));
    assert_eq!(if_there(Ok(1)).unwrap(), Some(1));
    assert_eq!(failed(io::ErrorKind::NotFound).unwrap(), None);
    failed(io::ErrorKind::PermissionDenied).unwrap_err();
    sync_dir(Path::new("/none")).unwrap_err();
}

#[test]
fn copy_is_of_the_first_state() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f.json");
    keep_copy(&path).unwrap_err();
    fs::write(&path, "first").unwrap();
    keep_copy(&path).unwrap();
    fs::write(&path, "second").unwrap();
    keep_copy(&path).unwrap();
    let copy = dir.path().join("f.json.imported");
    assert_eq!(fs::read(&copy).unwrap(), b"first");
    assert_eq!(mode(&copy), 0o600);
    assert_eq!(fs::read(&path).unwrap(), b"second");
}

#[test]
fn names_beside_a_file_say_why_it_was_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    set_aside(&path, 1).unwrap_err();
    keep_as_edited(&path, 1).unwrap_err();
    fs::write(&path, "x").unwrap();
    let edited = keep_as_edited(&path, 5).unwrap();
    assert_eq!(edited, dir.path().join("f.edited-5"));
    assert!(path.exists() && edited.exists());
    let corrupt = set_aside(&path, 6).unwrap();
    assert_eq!(corrupt, dir.path().join("f.corrupt-6"));
    assert!(!path.exists() && corrupt.exists());
}

#[test]
fn stamp_is_another_after_every_write() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    assert_eq!(Stamp::of(&path), None);
    fs::write(&path, "four").unwrap();
    let first = Stamp::of(&path).unwrap();
    assert_eq!(Stamp::of(&path), Some(first));
    assert_eq!(first.length(), 4);
    let found = fs::metadata(&path).unwrap();
    let shown = format!(
        "{}:4:{}.{:09}",
        found.ino(),
        found.mtime(),
        found.mtime_nsec()
    );
    assert_eq!(first.to_string(), shown);
    replace(&path, b"five").unwrap();
    assert_ne!(Stamp::of(&path), Some(first));
    assert_ne!(Stamp::of(&path).unwrap().to_string(), shown);
}
