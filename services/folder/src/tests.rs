use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use std::path::Path;

use nix::sys::stat::Mode;

use super::*;

const LIMIT: u64 = 1024;

fn folder() -> (tempfile::TempDir, Folder) {
    let base = tempfile::tempdir().unwrap();
    let path = base.path().join("own");
    let folder = Folder::open_or_create(&path).unwrap();
    (base, folder)
}

fn is_link(error: &Error) -> bool {
    let told = error.to_string();
    matches!(error, Error::Link { .. }) && told.contains("symbolic link, which is not followed")
}

#[test]
fn links_are_refused_by_name_wherever_they_lead() {
    let (base, folder) = folder();
    let own = base.path().join("own");
    fs::write(base.path().join("secret"), "secret").unwrap();
    fs::write(own.join("inside"), "inside").unwrap();
    fs::create_dir(own.join("real")).unwrap();
    for (target, link) in [
        ("../secret", "out"),
        ("inside", "in"),
        ("/proc/self/environ", "magic"),
        ("..", "up"),
        ("real", "folder"),
        ("nothing", "dangling"),
    ] {
        symlink(target, own.join(link)).unwrap();
    }
    for name in ["out", "in", "magic", "dangling", "up/secret", "folder/x"] {
        let error = folder.read(name, LIMIT).unwrap_err();
        assert!(is_link(&error), "{name}: {error}");
        assert!(error.to_string().contains(name), "{error}");
        assert!(is_link(&folder.status(name).unwrap_err()), "{name}");
        assert!(!folder.is_file(name));
        assert!(is_link(&folder.open_to_append(name, 0o600).unwrap_err()));
    }
    for name in ["up", "folder", "up/own"] {
        assert!(is_link(&folder.folder(name).unwrap_err()), "{name}");
        assert!(is_link(&folder.create_folder(name).unwrap_err()), "{name}");
        let inner = format!("{name}/new");
        assert!(is_link(&folder.write(&inner, b"x", 0o600).unwrap_err()));
        assert!(is_link(&folder.create_file(&inner, 0o600).unwrap_err()));
        assert!(is_link(&folder.remove(&inner).unwrap_err()));
        assert!(is_link(&folder.remove_all(&inner).unwrap_err()));
    }
    assert!(folder.create_file("out", 0o600).unwrap().is_none());
    assert!(!base.path().join("new").exists() && !own.join("real/new").exists());
    assert_eq!(folder.read("inside", LIMIT).unwrap().unwrap(), b"inside");
}

#[test]
fn paths_that_lead_out_are_refused() {
    let (base, folder) = folder();
    fs::write(base.path().join("secret"), "secret").unwrap();
    fs::create_dir(base.path().join("own/sub")).unwrap();
    let absolute = base.path().join("secret");
    for path in [
        "../secret",
        "sub/../../secret",
        "..",
        absolute.to_str().unwrap(),
    ] {
        assert!(
            matches!(folder.read(path, LIMIT), Err(Error::Outside { .. })),
            "{path}"
        );
        assert!(matches!(
            folder.write(path, b"", 0o600),
            Err(Error::Outside { .. })
        ));
        assert!(matches!(folder.remove(path), Err(Error::Outside { .. })));
        assert!(matches!(
            folder.remove_all(path),
            Err(Error::Outside { .. })
        ));
        assert!(matches!(folder.folder(path), Err(Error::Outside { .. })));
        assert!(matches!(
            folder.create_folder(path),
            Err(Error::Outside { .. })
        ));
    }
    assert_eq!(fs::read(absolute).unwrap(), b"secret");
}

#[test]
fn folder_what_is_not_a_regular_file_is_neither_read_nor_waited_for() {
    let (base, folder) = folder();
    let own = base.path().join("own");
    nix::unistd::mkfifo(&own.join("fifo"), Mode::S_IRWXU).unwrap();
    fs::create_dir(own.join("folder")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(own.join("socket")).unwrap();
    for name in ["fifo", "folder", "socket", "none", "none/none"] {
        assert!(folder.read(name, LIMIT).unwrap().is_none(), "{name}");
        assert!(folder.open_file(name).unwrap().is_none(), "{name}");
        assert!(!folder.is_file(name));
    }
    assert!(folder.open_to_append("fifo", 0o600).is_err());
    assert!(folder.open_to_append("folder", 0o600).is_err());
    let devices = Folder::open(Path::new("/dev")).unwrap().unwrap();
    assert!(devices.read("zero", LIMIT).unwrap().is_none());
}

#[test]
fn file_over_the_bound_is_refused_unread() {
    let (base, folder) = folder();
    let file = File::create(base.path().join("own/sparse")).unwrap();
    file.set_len(2 << 30).unwrap();
    let begun = Instant::now();
    let error = folder.read("sparse", LIMIT).unwrap_err();
    assert!(begun.elapsed() < Duration::from_millis(500));
    assert!(
        matches!(error, Error::TooLarge { limit: LIMIT, .. }),
        "{error}"
    );
    file.set_len(LIMIT).unwrap();
    assert_eq!(folder.read("sparse", LIMIT).unwrap().unwrap().len(), 1024);
}

/// Whoever owns the folder swaps as fast as it can.
#[test]
fn link_that_is_swapped_in_meanwhile_is_never_followed() {
    let (base, folder) = folder();
    let own = base.path().join("own");
    fs::create_dir(base.path().join("outside")).unwrap();
    fs::write(base.path().join("outside/file"), "outside").unwrap();
    fs::create_dir(own.join("real")).unwrap();
    fs::write(own.join("real/file"), "inside").unwrap();
    symlink("../outside", own.join("link")).unwrap();
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let flags = nix::fcntl::RenameFlags::RENAME_EXCHANGE;
            let own = File::open(&own).unwrap();
            while !ended.load(Ordering::Relaxed) {
                nix::fcntl::renameat2(&own, "link", &own, "real", flags).unwrap();
            }
        });
        let (mut read, mut refused) = (0, 0);
        let deadline = Instant::now() + Duration::from_secs(20);
        while (read < 500 || refused < 500) && Instant::now() < deadline {
            match folder.read("real/file", LIMIT) {
                Ok(Some(bytes)) => {
                    assert_eq!(bytes, b"inside");
                    read += 1;
                }
                Ok(None) => panic!("one of both is there always"),
                Err(error) => {
                    assert!(is_link(&error), "{error}");
                    refused += 1;
                }
            }
            let _ = folder.write("real/file", b"inside", 0o600);
            let _ = folder.remove("real/none");
        }
        ended.store(true, Ordering::Relaxed);
        assert!(read > 0 && refused > 0, "{read} {refused}");
    });
    assert_eq!(
        fs::read(base.path().join("outside/file")).unwrap(),
        b"outside"
    );
    assert_eq!(
        fs::read_dir(base.path().join("outside")).unwrap().count(),
        1
    );
}

#[test]
fn writing_replaces_a_link_and_leaves_its_target() {
    let (base, folder) = folder();
    let own = base.path().join("own");
    fs::write(base.path().join("bashrc"), "mine").unwrap();
    symlink("../bashrc", own.join("prompt.md")).unwrap();
    folder.write("prompt.md", b"text", 0o640).unwrap();
    assert_eq!(fs::read(base.path().join("bashrc")).unwrap(), b"mine");
    let written = fs::symlink_metadata(own.join("prompt.md")).unwrap();
    assert!(written.is_file() && written.mode() & 0o777 == 0o640);
    folder.write_durably("prompt.md", b"more", 0o600).unwrap();
    assert_eq!(folder.read("prompt.md", LIMIT).unwrap().unwrap(), b"more");
    fs::create_dir(own.join("sub")).unwrap();
    assert!(folder.write("sub", b"", 0o600).is_err());
    assert!(folder.write("none/file", b"", 0o600).is_err());
    let names = folder.entries(9).unwrap();
    assert_eq!(names.len(), 2, "nothing is left beside: {names:?}");
}

#[test]
fn removing_takes_links_and_never_their_targets() {
    let (base, folder) = folder();
    let (own, outside) = (base.path().join("own"), base.path().join("outside"));
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("file"), "").unwrap();
    fs::create_dir_all(own.join("tree/sub")).unwrap();
    fs::write(own.join("tree/sub/file"), "").unwrap();
    symlink("../../../outside", own.join("tree/sub/link")).unwrap();
    symlink("../outside", own.join("link")).unwrap();
    nix::unistd::mkfifo(&own.join("tree/fifo"), Mode::S_IRWXU).unwrap();
    // As module caches are, and as somebody may do on purpose.
    for (path, mode) in [("tree/sub", 0o500), ("tree", 0)] {
        fs::set_permissions(own.join(path), fs::Permissions::from_mode(mode)).unwrap();
    }
    folder.remove_all("tree").unwrap();
    folder.remove_all("tree").unwrap();
    folder.remove_all("none/none").unwrap();
    assert!(!own.join("tree").exists());
    assert!(folder.remove("link").unwrap() && !folder.remove("link").unwrap());
    symlink("../outside", own.join("link")).unwrap();
    folder.remove_all("link").unwrap();
    assert!(folder.entries(9).unwrap().is_empty());
    assert!(outside.join("file").is_file());
    fs::create_dir(own.join("empty")).unwrap();
    assert!(folder.remove("empty").is_err());
}

/// Deeper than there are descriptors.
#[test]
fn tree_of_any_depth_is_removed() {
    let (_base, folder) = folder();
    let mut at = folder.create_folder("deep").unwrap();
    for _ in 0..1_500 {
        at.write("file", b"", 0o600).unwrap();
        at = at.create_folder("d").unwrap();
    }
    folder.remove_all("deep").unwrap();
    assert!(folder.entries(9).unwrap().is_empty());
}

#[test]
fn listing_tells_kinds_and_stops_at_its_limit() {
    let (base, folder) = folder();
    let own = base.path().join("own");
    fs::create_dir(own.join("folder")).unwrap();
    fs::write(own.join("file"), "").unwrap();
    symlink("/", own.join("link")).unwrap();
    nix::unistd::mkfifo(&own.join("fifo"), Mode::S_IRWXU).unwrap();
    let mut entries = folder.entries(9).unwrap();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    let kinds: Vec<_> = entries.iter().map(|entry| entry.kind).collect();
    assert_eq!(kinds, [Kind::Other, Kind::File, Kind::Folder, Kind::Link]);
    assert_eq!(folder.entries(2).unwrap().len(), 2);
    assert_eq!(
        folder.entries(9).unwrap().len(),
        4,
        "each time from the start"
    );
}

#[test]
fn folder_itself_may_be_no_link_unless_it_is_configured() {
    let (base, _) = folder();
    let link = base.path().join("link");
    symlink("own", &link).unwrap();
    assert!(is_link(&Folder::open(&link).unwrap_err()));
    assert!(is_link(&Folder::open_or_create(&link).unwrap_err()));
    assert!(
        ConfiguredFolder::from(link.clone())
            .open()
            .unwrap()
            .is_some()
    );
    assert!(ConfiguredFolder::from(link).open_or_create().is_ok());
    assert!(Folder::open(&base.path().join("none")).unwrap().is_none());
    let file = base.path().join("file");
    fs::write(&file, "").unwrap();
    assert!(Folder::open(&file).is_err());
    assert!(Folder::open_or_create(&file).is_err());
}

#[test]
fn folder_what_is_made_is_private() {
    let base = tempfile::tempdir().unwrap();
    let folder = Folder::open_or_create(&base.path().join("state/home")).unwrap();
    folder.create_folder("a/b").unwrap();
    folder.create_folder("a/b").unwrap();
    assert!(folder.open_to_append("a/file", 0o600).unwrap().1);
    assert!(!folder.open_to_append("a/file", 0o600).unwrap().1);
    let mode = |path: &str| fs::metadata(base.path().join(path)).unwrap().mode() & 0o777;
    for path in ["state/home", "state/home/a", "state/home/a/b"] {
        assert_eq!(mode(path), 0o700, "{path}");
    }
    assert_eq!(mode("state/home/a/file"), 0o600);
}

/// As root only: an ordinary user cannot give files away.
#[test]
fn folder_what_root_makes_belongs_to_the_owner_of_the_folder() {
    if !nix::unistd::geteuid().is_root() {
        return;
    }
    let base = tempfile::tempdir().unwrap();
    #[expect(clippy::disallowed_methods, reason = "nobody else is there")]
    std::os::unix::fs::chown(base.path(), Some(1234), Some(4321)).unwrap();
    let folder = Folder::open(base.path()).unwrap().unwrap();
    let inner = folder.create_folder("a/b").unwrap();
    inner.write("file", b"", 0o600).unwrap();
    folder.open_to_append("a/log", 0o600).unwrap();
    for path in ["a", "a/b", "a/b/file", "a/log"] {
        let meta = fs::metadata(base.path().join(path)).unwrap();
        assert_eq!((meta.uid(), meta.gid()), (1234, 4321), "{path}");
    }
}

#[test]
fn folder_what_is_in_the_place_of_a_folder_gives_way() {
    let (base, folder) = folder();
    let (own, outside) = (base.path().join("own"), base.path().join("outside"));
    fs::create_dir_all(outside.join("projects")).unwrap();
    fs::write(outside.join("projects/file"), "").unwrap();
    symlink("../outside", own.join("link")).unwrap();
    fs::write(own.join("file"), "").unwrap();
    for name in ["link", "file", "none", "link"] {
        let path = format!("{name}/projects");
        folder.create_folder_replacing(&path).unwrap();
        assert!(own.join(name).symlink_metadata().unwrap().is_dir());
        assert!(own.join(&path).is_dir());
    }
    assert!(outside.join("projects/file").is_file());
}

#[test]
fn fifo_is_opened_and_nothing_in_its_place() {
    use std::io::{Read as _, Write as _};
    let (base, folder) = folder();
    let own = base.path().join("own");
    folder.create_fifo("fifo", 0o600).unwrap();
    folder.create_fifo("fifo", 0o600).unwrap();
    let mut fifo = folder.open_fifo("fifo").unwrap();
    fifo.write_all(b"ab").unwrap();
    let mut read = [0; 2];
    fifo.read_exact(&mut read).unwrap();
    assert_eq!(&read, b"ab");
    let waits = fifo.read(&mut read).unwrap_err();
    assert_eq!(waits.kind(), std::io::ErrorKind::WouldBlock);
    fs::write(own.join("file"), "").unwrap();
    symlink("fifo", own.join("link")).unwrap();
    assert!(is_link(&folder.open_fifo("link").unwrap_err()));
    assert!(folder.open_fifo("file").is_err() && folder.create_fifo("file", 0o600).is_err());
}

#[test]
fn link_is_made_for_others_and_replaces_nothing() {
    let (base, folder) = folder();
    assert!(folder.create_link("link", Path::new("/etc")).unwrap());
    assert!(!folder.create_link("link", Path::new("/usr")).unwrap());
    let link = fs::read_link(base.path().join("own/link")).unwrap();
    assert_eq!(link, Path::new("/etc"));
    assert_eq!(folder.read_link("link").unwrap().unwrap(), "/etc");
    assert_eq!(folder.read_link("nothing").unwrap(), None);
    assert!(folder.read_link("link/passwd").is_err());
    assert!(is_link(&folder.folder("link").unwrap_err()));
}

#[test]
fn folder_what_is_made_in_a_folder_of_a_group_is_the_groups() {
    let top = tempfile::tempdir().unwrap();
    let path = top.path().join("shared");
    std::fs::create_dir(&path).unwrap();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    let chmod = |mode| std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    // The bit alone, or the group's rights alone, say nothing.
    for around in [0o2700, 0o770, 0o2750] {
        chmod(around);
        let folder = Folder::open(&path).unwrap().unwrap();
        folder.write("own", b"x", 0o600).unwrap();
        assert_eq!(mode(&path.join("own")), 0o600, "{around:o}");
        assert_eq!(mode_of_new(&path.join("new"), 0o700), 0o700, "{around:o}");
        folder.remove("own").unwrap();
    }
    chmod(0o2770);
    let folder = Folder::open(&path).unwrap().unwrap();
    folder.write("file", b"x", 0o600).unwrap();
    assert_eq!(mode(&path.join("file")), 0o660);
    // What somebody decided about stays.
    folder.write("given", b"x", 0o644).unwrap();
    assert_eq!(mode(&path.join("given")), 0o644);
    folder.create_folder("a/b").unwrap();
    for made in ["a", "a/b"] {
        assert_eq!(mode(&path.join(made)), 0o2770, "{made}");
    }
    assert_eq!(mode_of_new(&path.join("new/deep"), 0o700), 0o770);
}

/// Somebody who holds a lease on the file at `path`, and lets it go when asked, or does not.
#[expect(
    clippy::disallowed_methods,
    reason = "leases are of another process; there is no safe call that takes one"
)]
fn leaseholder(path: &Path, lets_go: bool) -> std::process::Child {
    use std::io::Read as _;
    // F_SETLEASE with F_RDLCK or F_WRLCK and F_UNLCK of asm-generic/fcntl.h.
    let hold = r#"
        $SIG{IO} = $ARGV[1] ? sub { fcntl(H, 1024, 2) or die $! } : 'IGNORE';
        sysopen(H, $ARGV[0], 2) or die $!;
        fcntl(H, 1024, 1) or die $!;
        $| = 1;
        print "x";
        sleep 1 while 1;
    "#;
    let mut child = std::process::Command::new("perl")
        .args(["-e", hold, "--"])
        .arg(path)
        .arg(if lets_go { "1" } else { "" })
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut held = [0];
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut held)
        .unwrap();
    child
}

#[test]
fn file_that_somebody_has_a_lease_on_is_read_or_named() {
    let (base, folder) = folder();
    let path = base.path().join("own/leased");
    for lets_go in [true, false] {
        fs::write(&path, "text").unwrap();
        let mut holder = leaseholder(&path, lets_go);
        let read = folder.read("leased", LIMIT);
        let appended = folder.open_to_append("leased", 0o600);
        holder.kill().unwrap();
        holder.wait().unwrap();
        if lets_go {
            assert_eq!(read.unwrap().unwrap(), b"text");
            appended.unwrap();
        } else {
            let error = read.unwrap_err();
            let told = error.to_string();
            assert!(matches!(error, Error::Leased { .. }), "{error:?}");
            assert!(
                told.contains("leased") && told.contains("another program holds it"),
                "{told}"
            );
            assert!(matches!(appended.unwrap_err(), Error::Leased { .. }));
        }
    }
}
