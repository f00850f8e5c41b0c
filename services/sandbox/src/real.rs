//! Paths as they really are, found with a record of the links on the way, and opened through none:
//! an agent may change the links where it writes, also between one look and the next.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::sys::stat::{SFlag, fstat};
use openclaw_folder::way::{LINKS_MAX, reversed};

/// Where a path leads.
#[derive(Debug)]
pub(crate) struct Real {
    pub(crate) path: PathBuf,
    /// The links that were followed, each without links on the way to itself. Those of root are
    /// left out: no agent makes them.
    pub(crate) links: Vec<PathBuf>,
}

impl Real {
    /// The first link that lies in one of these.
    pub(crate) fn link_in<'a>(&self, places: impl Iterator<Item = &'a Path>) -> Option<&Path> {
        let places: Vec<&Path> = places.collect();
        let within = |link: &&PathBuf| places.iter().any(|place| link.starts_with(place));
        self.links.iter().find(within).map(PathBuf::as_path)
    }
}

/// Resolves paths, and looks at each name on the way to them once: those of one plan have most of
/// their way in common. What changes meanwhile is found when a path is opened, through no link.
#[derive(Debug, Default)]
pub(crate) struct Resolver {
    /// Names without links on the way to them that are no links.
    plain: HashSet<PathBuf>,
}

impl Resolver {
    /// Resolves an absolute path.
    ///
    /// # Errors
    /// Nothing is there, it cannot be reached, or too many links lead to it.
    pub(crate) fn resolve(&mut self, path: &Path) -> io::Result<Real> {
        resolve(path, &mut self.plain)
    }
}

fn resolve(path: &Path, plain: &mut HashSet<PathBuf>) -> io::Result<Real> {
    let mut rest = reversed(path);
    let mut real = PathBuf::from("/");
    let (mut links, mut followed) = (Vec::new(), 0);
    while let Some(part) = rest.pop() {
        if part == ".." {
            real.pop();
            continue;
        }
        let next = real.join(part);
        if plain.contains(&next) {
            real = next;
            continue;
        }
        match fs::read_link(&next) {
            Ok(target) => {
                followed += 1;
                if followed > LINKS_MAX {
                    return Err(Errno::ELOOP.into());
                }
                if fs::symlink_metadata(&next)?.uid() != 0 {
                    links.push(next);
                }
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                rest.extend(reversed(&target));
            }
            // It is no link.
            Err(error) if error.raw_os_error() == Some(Errno::EINVAL as i32) => {
                plain.insert(next.clone());
                real = next;
            }
            Err(error) => return Err(error),
        }
    }
    Ok(Real { path: real, links })
}

/// Opens what lies at a path without links, not for reading (`O_PATH`); with whether it is a
/// directory.
///
/// # Errors
/// `ELOOP` where a link is on the way now; otherwise as open(2).
pub(crate) fn open(path: &Path) -> io::Result<(OwnedFd, bool)> {
    let object = openclaw_folder::open_resolved(path)?;
    let kind = SFlag::from_bits_truncate(fstat(&object)?.st_mode) & SFlag::S_IFMT;
    Ok((object, kind == SFlag::S_IFDIR))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn path_is_resolved_as_by_the_system() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("a/b")).unwrap();
        fs::write(top.join("a/file"), "").unwrap();
        symlink("a", top.join("relative")).unwrap();
        symlink(top.join("a/b"), top.join("absolute")).unwrap();
        symlink("../../relative/b/./..", top.join("a/b/up")).unwrap();
        symlink("loop", top.join("loop")).unwrap();
        symlink("/nowhere", top.join("broken")).unwrap();
        // Of one that has seen the others, too.
        let mut resolver = Resolver::default();
        for name in [
            "a",
            "a/b",
            "relative",
            "relative/b",
            "absolute",
            "absolute/up/file",
            "a//b/.",
            "loop",
            "broken",
            "missing",
            "a/file/x",
            "absolute/up/b/up/b",
        ] {
            let path = top.join(name);
            let ours = resolver.resolve(&path).map(|real| real.path);
            let theirs = path.canonicalize();
            assert_eq!(ours.as_ref().ok(), theirs.as_ref().ok(), "{name}");
            let kinds = [ours.err(), theirs.err()].map(|error| error.map(|e| e.raw_os_error()));
            assert_eq!(kinds[0], kinds[1], "{name}");
        }
        let root = Resolver::default().resolve(Path::new("/"));
        assert_eq!(root.unwrap().path, Path::new("/"));
    }

    #[test]
    fn link_is_opened_by_nobody() {
        let top = tempfile::tempdir().unwrap();
        let top = top.path().canonicalize().unwrap();
        fs::create_dir(top.join("a")).unwrap();
        fs::write(top.join("a/file"), "").unwrap();
        symlink("a", top.join("link")).unwrap();
        assert!(open(&top.join("a")).unwrap().1);
        assert!(!open(&top.join("a/file")).unwrap().1);
        for name in ["link", "link/file"] {
            let error = open(&top.join(name)).unwrap_err();
            assert_eq!(error.raw_os_error(), Some(Errno::ELOOP as i32), "{name}");
        }
    }
}
