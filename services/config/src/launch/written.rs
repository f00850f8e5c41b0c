//! The folders that agents write, and what leads through them.

use std::fs;
use std::path::{Path, PathBuf};

use openclaw_folder::way::{LINKS_MAX, reversed};

/// Folders that agents write.
pub(super) struct Written<'a> {
    /// Each as it is named, and as it really is.
    folders: Vec<(&'a Path, PathBuf)>,
}

impl<'a> Written<'a> {
    pub(super) fn new(folders: impl IntoIterator<Item = &'a Path>) -> Self {
        let folders = folders.into_iter();
        Self {
            folders: folders.map(|folder| (folder, real(folder))).collect(),
        }
    }

    /// The folder that an absolute path leads through, or into. Whoever writes there decides
    /// what the path is, by a link too; and what is not there yet an agent can make.
    pub(super) fn on_the_way_to(&self, path: &Path) -> Option<&'a Path> {
        let mut found = None;
        walk(path, |step| {
            let mut folders = self.folders.iter();
            found = folders
                .find(|(_, real)| step.starts_with(real))
                .map(|it| it.0);
            found.is_none()
        });
        found
    }

    /// The folder that lies in `folder`.
    pub(super) fn below(&self, folder: &Path) -> Option<&'a Path> {
        let folder = real(folder);
        let mut folders = self.folders.iter();
        let found = folders.find(|(_, real)| real.starts_with(&folder));
        found.map(|it| it.0)
    }

    /// The folder around which a text names another one, from which it may go there.
    pub(super) fn named_around(&self, text: &str) -> Option<&'a Path> {
        let is_named = |path: &Path| {
            let around = path.ancestors().skip(1).filter_map(Path::to_str);
            let mut around = around.filter(|path| *path != "/");
            around.any(|path| ends_with_names(text, path))
        };
        let mut folders = self.folders.iter();
        folders
            .find(|(named, real)| is_named(named) || is_named(real))
            .map(|it| it.0)
    }

    /// The folder that a text names, or something in it.
    pub(super) fn named_in(&self, text: &str) -> Option<&'a Path> {
        let is_named = |path: &Path| path.to_str().is_some_and(|path| names(text, path));
        let mut folders = self.folders.iter();
        folders
            .find(|(named, real)| is_named(named) || is_named(real))
            .map(|it| it.0)
    }
}

/// Whether a text names a folder itself, and nothing in it.
fn ends_with_names(text: &str, path: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || ['-', '_', '.', '/'].contains(&c);
    text.match_indices(path).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + path.len()..]);
        let after = after.strip_prefix('/').unwrap_or(after);
        !before.ends_with(goes_on) && !after.starts_with(goes_on)
    })
}

/// Whether a text names a path, and not only one whose name begins or ends like it.
fn names(text: &str, path: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || ['-', '_', '.'].contains(&c);
    text.match_indices(path).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + path.len()..]);
        !before.ends_with(goes_on) && !after.starts_with(goes_on)
    })
}

/// The absolute path that is really meant, as far as it is there.
pub fn real(path: &Path) -> PathBuf {
    walk(path, |_| true)
}

/// Resolves an absolute path; `step` is shown each name on the way, links too, and says whether
/// to go on.
fn walk(path: &Path, mut step: impl FnMut(&Path) -> bool) -> PathBuf {
    let mut rest = reversed(path);
    let (mut real, mut followed) = (PathBuf::from("/"), 0);
    while let Some(part) = rest.pop() {
        if part == ".." {
            real.pop();
            continue;
        }
        let next = real.join(part);
        if !step(&next) {
            return next;
        }
        match fs::read_link(&next) {
            Ok(target) if followed < LINKS_MAX => {
                followed += 1;
                if target.is_absolute() {
                    real = PathBuf::from("/");
                }
                rest.extend(reversed(&target));
            }
            // It is not a link, or not there.
            _ => real = next,
        }
    }
    real
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_are_followed_up_to_their_limit() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        let link = |number: usize| folder.join(number.to_string());
        fs::write(link(0), "").unwrap();
        for number in 0..=LINKS_MAX {
            symlink(link(number), link(number + 1)).unwrap();
        }
        assert_eq!(real(&link(LINKS_MAX)), link(0));
        assert_eq!(real(&link(LINKS_MAX + 1)), link(1));
    }
}
