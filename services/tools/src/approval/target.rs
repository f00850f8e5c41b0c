//! Where a path really leads.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Links that one path may lead through, as the kernel has it (path_resolution(7)).
const LINKS: usize = 40;

/// Where the links in here lead depends on who looks.
const PROCESSES: &str = "/proc";

/// Why it cannot be told where a path leads.
#[derive(Debug, thiserror::Error)]
pub enum Unresolved {
    /// It does not begin at the root.
    #[error("{0} is not absolute")]
    Relative(PathBuf),
    /// Links in a circle, or nearly.
    #[error("{0} leads through more than {LINKS} links")]
    Links(PathBuf),
    /// Its links are another process's.
    #[error("{0} leads through {PROCESSES}")]
    Processes(PathBuf),
    /// A part of it cannot be looked at.
    #[error("{path} cannot be looked at")]
    Hidden {
        /// That part.
        path: PathBuf,
        /// What the kernel says.
        #[source]
        source: io::Error,
    },
}

/// The file or folder that is reached by `path`, all links followed, also one
/// to a place where nothing is. What is not there yet is where it will be: below
/// the nearest folder that is there.
///
/// # Errors
/// When that cannot be told.
pub fn resolve(path: &Path) -> Result<PathBuf, Unresolved> {
    if !path.is_absolute() {
        return Err(Unresolved::Relative(path.to_owned()));
    }
    let mut found = PathBuf::from("/");
    let mut left = parts(path);
    let mut links = 0;
    while let Some(part) = left.pop_front() {
        match part {
            Part::Root => found = PathBuf::from("/"),
            Part::Parent => _ = found.pop(),
            Part::Name(name) => {
                let next = found.join(name);
                let Some(target) = link(&next)? else {
                    found = next;
                    continue;
                };
                links += 1;
                if links > LINKS {
                    return Err(Unresolved::Links(path.to_owned()));
                }
                let mut target = parts(&target);
                target.append(&mut left);
                left = target;
            }
        }
    }
    Ok(found)
}

enum Part {
    Root,
    Parent,
    Name(OsString),
}

fn parts(path: &Path) -> VecDeque<Part> {
    let part = |component: Component<'_>| match component {
        Component::RootDir => Some(Part::Root),
        Component::ParentDir => Some(Part::Parent),
        Component::Normal(name) => Some(Part::Name(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    };
    path.components().filter_map(part).collect()
}

/// Where the link at `path` leads; `None` when there is no link.
fn link(path: &Path) -> Result<Option<PathBuf>, Unresolved> {
    let hidden = |source| Unresolved::Hidden {
        path: path.to_owned(),
        source,
    };
    match fs::symlink_metadata(path) {
        Ok(metadata) if !metadata.is_symlink() => Ok(None),
        Ok(_) if path.starts_with(PROCESSES) => Err(Unresolved::Processes(path.to_owned())),
        Ok(_) => fs::read_link(path).map(Some).map_err(hidden),
        // Nothing is there yet, or what is there is no folder and nothing will
        // be made below it.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(hidden(error)),
    }
}

/// `path` with `..` and `.` taken out as words, as some programs do before they
/// open it.
#[must_use]
pub(crate) fn without_dots(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = found.pop(),
            Component::CurDir => {}
            other => found.push(other),
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_also_to_where_nothing_is() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("in/sub")).unwrap();
        fs::create_dir(root.join("out")).unwrap();
        symlink("../out", root.join("in/link")).unwrap();
        symlink(root.join("out/new"), root.join("in/dangling")).unwrap();
        symlink("circle", root.join("in/circle")).unwrap();
        for (path, leads) in [
            ("in/sub/file", "in/sub/file"),
            ("in/sub/../../out/x", "out/x"),
            ("in/link/x/y", "out/x/y"),
            ("in/link/../x", "x"),
            ("in/dangling", "out/new"),
            ("in/new/../../../x", "x/../../x"),
            ("in/new/../x", "in/x"),
        ] {
            let leads = without_dots(&root.join(leads));
            assert_eq!(resolve(&root.join(path)).unwrap(), leads, "{path}");
        }
        let circle = resolve(&root.join("in/circle"));
        assert!(matches!(circle, Err(Unresolved::Links(_))), "{circle:?}");
        let process = resolve(Path::new("/proc/self/cwd/x"));
        assert!(matches!(process, Err(Unresolved::Processes(_))));
        let file = root.join("file");
        fs::write(&file, "").unwrap();
        assert_eq!(resolve(&file.join("below")).unwrap(), file.join("below"));
        // Of a name that the file system does not know how to look for, nothing is said.
        let long = resolve(&root.join("x".repeat(300)));
        assert!(matches!(long, Err(Unresolved::Hidden { .. })), "{long:?}");
        assert!(matches!(
            resolve(Path::new("x")),
            Err(Unresolved::Relative(_))
        ));
    }
}
