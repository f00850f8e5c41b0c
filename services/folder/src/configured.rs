//! Folders that the configuration names, which may lie in one another.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::ops::Deref;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nix::errno::Errno;
use nix::fcntl::{OFlag, openat, readlinkat};
use nix::sys::stat::{Mode, fstat, stat};

use crate::error::Error;
use crate::folder::Folder;
use crate::way::{LINKS_MAX, reversed};

/// Through a folder on the way, which need not be readable.
const THROUGH: OFlag = OFlag::O_PATH
    .union(OFlag::O_DIRECTORY)
    .union(OFlag::O_NOFOLLOW)
    .union(OFlag::O_CLOEXEC);

/// The path of a folder that the configuration names, with all folders in which
/// agents write.
///
/// The user's own links on the way to it are followed. From the first folder on in
/// which an agent writes, this one or another around it, none is: whoever writes
/// there could have put it in place of what the user meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfiguredFolder {
    path: PathBuf,
    written: Arc<[PathBuf]>,
}

impl ConfiguredFolder {
    /// The folder at `path`; agents write in the folders `written`, which may be
    /// around it, beneath it, or elsewhere.
    #[must_use]
    pub fn new(path: PathBuf, written: Arc<[PathBuf]>) -> Self {
        Self { path, written }
    }

    /// Opens the folder; None when nothing is there.
    ///
    /// # Errors
    /// When it is not a folder or may not be read, and where a link is on the way in a
    /// folder in which an agent writes (ELOOP, as [`Folder::open`] has it).
    pub fn open(&self) -> Result<Option<Folder>, Error> {
        let walk = self.walked()?;
        if !walk.missing.as_os_str().is_empty() {
            return Ok(None);
        }
        Folder::at(&walk.last().folder, &self.path).map(Some)
    }

    /// Opens the folder, and makes it first (mode 0700, parents included) when
    /// nothing is there. What is made belongs to the owner of the folder that it is
    /// made in.
    ///
    /// # Errors
    /// As [`ConfiguredFolder::open`], and when it cannot be made.
    pub fn open_or_create(&self) -> Result<Folder, Error> {
        let (found, missing) = self.missing()?;
        let mut folder = found.create_folder(missing)?;
        self.path.clone_into(&mut folder.path);
        Ok(folder)
    }

    /// The last folder on the way to it, and what is missing from there on: nothing when it is
    /// there.
    ///
    /// # Errors
    /// As [`ConfiguredFolder::open`].
    pub fn missing(&self) -> Result<(Folder, PathBuf), Error> {
        let walk = self.walked()?;
        let last = walk.last();
        Ok((Folder::at(&last.folder, &last.path)?, walk.missing.clone()))
    }

    /// The folder in which a file lies that the configuration names instead, and its
    /// name there; None when no file, or nothing at all, is there.
    ///
    /// # Errors
    /// As [`ConfiguredFolder::open`].
    pub fn holding(&self) -> Result<Option<(Folder, OsString)>, Error> {
        let walk = Walk::along(&self.path, &self.written);
        let mut walk = walk.map_err(|errno| Error::new("open", &self.path, errno))?;
        let Some(name) = walk.file.take() else {
            return Ok(None);
        };
        let last = walk.last();
        Folder::at(&last.folder, &last.path).map(|folder| Some((folder, name)))
    }

    /// Its path without the user's links, as far as there is something.
    ///
    /// # Errors
    /// As [`ConfiguredFolder::open`].
    pub fn resolved(&self) -> Result<PathBuf, Error> {
        let walk = self.walked()?;
        Ok(walk.last().path.join(&walk.missing))
    }

    fn walked(&self) -> Result<Walk, Error> {
        let walk = match Walk::along(&self.path, &self.written) {
            Ok(walk) if walk.file.is_some() => Err(Errno::ENOTDIR),
            walk => walk,
        };
        walk.map_err(|errno| Error::new("open", &self.path, errno))
    }
}

/// A folder that lies in none in which agents write.
impl From<PathBuf> for ConfiguredFolder {
    fn from(path: PathBuf) -> Self {
        Self::new(path, Arc::default())
    }
}

impl From<&Path> for ConfiguredFolder {
    fn from(path: &Path) -> Self {
        path.to_owned().into()
    }
}

/// As its path, for what only names it.
impl Deref for ConfiguredFolder {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.path
    }
}

impl AsRef<Path> for ConfiguredFolder {
    fn as_ref(&self) -> &Path {
        &self.path
    }
}

/// A folder on the way, and whether an agent writes in it.
struct Step {
    folder: OwnedFd,
    /// Without links.
    path: PathBuf,
    is_written: bool,
}

/// How far a path leads.
struct Walk {
    /// From the root on, without any link.
    steps: Vec<Step>,
    /// The names after the last step, where nothing is.
    missing: PathBuf,
    /// The name after the last step, where no folder is but a file.
    file: Option<OsString>,
}

impl Walk {
    fn along(path: &Path, written: &[PathBuf]) -> Result<Self, Errno> {
        let path = std::path::absolute(path).map_err(|_| Errno::ENOENT)?;
        let written: BTreeSet<_> = written.iter().filter_map(|it| identity_at(it)).collect();
        let root = nix::fcntl::open("/", THROUGH, Mode::empty())?;
        let mut walk = Self {
            steps: Vec::new(),
            missing: PathBuf::new(),
            file: None,
        };
        walk.enter(root, PathBuf::from("/"), &written)?;
        // From the last name to the first.
        let mut names = reversed(&path);
        let mut links = 0;
        while let Some(name) = names.pop() {
            match walk.next(&name, &written)? {
                Next::Folder => {}
                Next::Missing => {
                    names.push(name);
                    walk.missing = names.into_iter().rev().collect();
                    break;
                }
                Next::File if names.is_empty() => walk.file = Some(name),
                Next::File => return Err(Errno::ENOTDIR),
                Next::Link(_) if links == LINKS_MAX => return Err(Errno::ELOOP),
                Next::Link(target) => {
                    links += 1;
                    if target.is_absolute() {
                        walk.steps.truncate(1);
                    }
                    names.extend(reversed(&target));
                }
            }
        }
        Ok(walk)
    }

    fn next(&mut self, name: &OsStr, written: &BTreeSet<(u64, u64)>) -> Result<Next, Errno> {
        if name == ".." {
            if self.steps.len() > 1 {
                self.steps.pop();
            }
            return Ok(Next::Folder);
        }
        let here = self.last();
        match openat(&here.folder, name, THROUGH, Mode::empty()) {
            Ok(folder) => {
                let path = here.path.join(name);
                self.enter(folder, path, written)?;
                Ok(Next::Folder)
            }
            Err(Errno::ENOENT) => Ok(Next::Missing),
            // What O_DIRECTORY says of a link, and of a file.
            Err(Errno::ENOTDIR | Errno::ELOOP) => match readlinkat(&here.folder, name) {
                Ok(_) if here.is_written => Err(Errno::ELOOP),
                Ok(target) => Ok(Next::Link(target.into())),
                Err(Errno::EINVAL) => Ok(Next::File),
                Err(errno) => Err(errno),
            },
            Err(errno) => Err(errno),
        }
    }

    fn enter(
        &mut self,
        folder: OwnedFd,
        path: PathBuf,
        written: &BTreeSet<(u64, u64)>,
    ) -> Result<(), Errno> {
        let status = fstat(&folder)?;
        let is_around = self.steps.last().is_some_and(|step| step.is_written);
        self.steps.push(Step {
            is_written: is_around || written.contains(&(status.st_dev, status.st_ino)),
            folder,
            path,
        });
        Ok(())
    }

    fn last(&self) -> &Step {
        &self.steps[self.steps.len() - 1]
    }
}

enum Next {
    Folder,
    File,
    Missing,
    Link(PathBuf),
}

/// What tells a folder from all others, however it is reached.
fn identity_at(path: &Path) -> Option<(u64, u64)> {
    let status = stat(path).ok()?;
    Some((status.st_dev, status.st_ino))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    /// `shared` is written in by an agent; `shared/work` is the workspace of another.
    fn scene() -> (tempfile::TempDir, PathBuf, Arc<[PathBuf]>) {
        let base = tempfile::tempdir().unwrap();
        let top = base.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("shared/work/notes")).unwrap();
        fs::create_dir_all(top.join("private/notes")).unwrap();
        let written = [top.join("shared"), top.join("shared/work")].into();
        (base, top, written)
    }

    fn is_link(error: &Error) -> bool {
        matches!(error, Error::Link { .. })
    }

    #[test]
    fn configured_folder_in_another_is_reached_through_no_link_beneath_that() {
        let (_base, top, written) = scene();
        let at = |path: &str| ConfiguredFolder::new(top.join(path), Arc::clone(&written));
        assert!(at("shared/work").open().unwrap().is_some());
        fs::rename(top.join("shared/work"), top.join("shared/moved")).unwrap();
        assert!(at("shared/work").open().unwrap().is_none());
        for target in [top.join("private"), "../private".into(), "moved".into()] {
            symlink(target, top.join("shared/work")).unwrap();
            for path in ["shared/work", "shared/work/notes", "shared/work/new/deep"] {
                assert!(is_link(&at(path).open().unwrap_err()), "{path}");
                assert!(is_link(&at(path).open_or_create().unwrap_err()), "{path}");
            }
            fs::remove_file(top.join("shared/work")).unwrap();
        }
        assert!(!top.join("private/new").exists() && !top.join("shared/moved/new").exists());
    }

    /// However the path is written: what counts is the folder that it leads into.
    #[test]
    fn configured_folder_is_in_another_that_only_a_link_of_the_user_shows() {
        let (_base, top, written) = scene();
        symlink("shared", top.join("mine")).unwrap();
        symlink(top.join("private"), top.join("shared/way")).unwrap();
        symlink("mine/../private/notes", top.join("own")).unwrap();
        let at = |path: &str| ConfiguredFolder::new(top.join(path), Arc::clone(&written));
        assert!(at("mine/work/notes").open().unwrap().is_some());
        assert!(at("own").open().unwrap().is_some());
        assert!(at("shared/../private/notes").open().unwrap().is_some());
        for path in ["mine/way", "mine/way/notes", "mine/work/../way/notes"] {
            assert!(is_link(&at(path).open().unwrap_err()), "{path}");
        }
        // Out of it again, nobody else writes.
        symlink(top.join("private"), top.join("back")).unwrap();
        assert!(at("shared/../back/notes").open().unwrap().is_some());
    }

    #[test]
    fn configured_folder_is_made_where_the_users_links_lead() {
        let (_base, top, written) = scene();
        symlink(top.join("elsewhere/deep"), top.join("link")).unwrap();
        let new = ConfiguredFolder::new(top.join("link/a/b"), written);
        assert!(new.open().unwrap().is_none());
        let (around, missing) = new.missing().unwrap();
        assert_eq!(
            (around.path(), missing),
            (&*top, "elsewhere/deep/a/b".into())
        );
        let made = new.open_or_create().unwrap();
        assert_eq!(made.path(), top.join("link/a/b"));
        assert!(top.join("elsewhere/deep/a/b").is_dir());
        assert!(new.open().unwrap().is_some());
        assert_eq!(new.missing().unwrap().1, PathBuf::new());
    }

    #[test]
    fn configured_folder_is_refused_where_a_file_or_a_loop_is() {
        let (_base, top, written) = scene();
        fs::write(top.join("file"), "").unwrap();
        symlink("loop", top.join("loop")).unwrap();
        let at = |path: &str| ConfiguredFolder::new(top.join(path), Arc::clone(&written));
        for path in ["file", "file/below"] {
            let error = at(path).open().unwrap_err();
            assert_eq!(error.kind(), std::io::ErrorKind::NotADirectory, "{path}");
            assert!(at(path).open_or_create().is_err(), "{path}");
        }
        assert!(is_link(&at("loop/x").open().unwrap_err()));
    }
}
