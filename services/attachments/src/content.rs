//! What a file has, read whole.

use openclaw_folder::{ConfiguredFolder, Error};
use openclaw_terminal::Failure;

/// What a file has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Content {
    /// Without folders.
    pub name: String,
    /// Not empty.
    pub bytes: Vec<u8>,
}

impl Content {
    /// The content of the file at `path`, which the user's own links may lead to and
    /// none that an agent can make.
    ///
    /// # Errors
    /// It is not there, is no regular file, is empty, has more than `limit` bytes, or
    /// is reached through a link in a folder that an agent writes in.
    pub fn read(path: &ConfiguredFolder, limit: u64) -> Result<Self, Failure> {
        let shown = path.display();
        let failed =
            |why: &dyn std::fmt::Display| Failure::new(format!("cannot send {shown}: {why}"));
        let caused = |error: Error| {
            let error = anyhow::Error::new(error);
            Failure::from(error.context(format!("cannot send {shown}")))
        };
        let held = path.holding().map_err(caused)?;
        let Some((folder, name)) = held else {
            let is_folder = path.open().is_ok_and(|opened| opened.is_some());
            return Err(failed(&if is_folder {
                "it is a folder"
            } else {
                "there is no such file"
            }));
        };
        let opened = folder.open_file(&name).map_err(caused)?;
        let (file, status) = opened.ok_or_else(|| failed(&"it is no regular file"))?;
        let bytes = match folder.read_open(file, &status, &name, limit) {
            Ok(bytes) => bytes,
            Err(Error::TooLarge { .. }) => {
                let most = limit / 1024 / 1024;
                return Err(failed(&format!(
                    "it is larger than the {most} MiB that are sent"
                )));
            }
            Err(error) => return Err(caused(error)),
        };
        if bytes.is_empty() {
            return Err(failed(&"it is empty"));
        }
        Ok(Self {
            name: name.to_string_lossy().into_owned(),
            bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};

    use nix::sys::stat::Mode;

    use super::*;

    const LIMIT: u64 = 20 * 1024 * 1024;

    fn why(path: impl Into<PathBuf>) -> String {
        let read = Content::read(&path.into().into(), LIMIT);
        read.unwrap_err().text()
    }

    #[test]
    fn content_is_that_of_a_file_of_some_size() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a.txt"), "words").unwrap();
        fs::write(at("empty"), "").unwrap();
        for (name, size) in [("large", LIMIT + 1), ("most", LIMIT)] {
            let file = fs::File::create(at(name)).unwrap();
            file.set_len(size).unwrap();
        }
        nix::unistd::mkfifo(&at("fifo"), Mode::S_IRWXU).unwrap();
        symlink("a.txt", at("mine")).unwrap();
        for name in ["a.txt", "mine"] {
            let content = Content::read(&at(name).into(), LIMIT).unwrap();
            assert_eq!(
                (content.name.as_str(), content.bytes.as_slice()),
                ("a.txt", &b"words"[..])
            );
        }
        assert!(Content::read(&at("most").into(), LIMIT).is_ok());
        for (name, expected) in [
            ("none", "no such file"),
            ("none/below", "no such file"),
            ("", "is a folder"),
            ("fifo", "no regular file"),
            ("empty", "is empty"),
            ("large", "larger than the 20 MiB"),
        ] {
            let text = why(at(name));
            assert!(text.contains(expected), "{name}: {text}");
        }
        assert!(why(Path::new("/dev/zero")).contains("no regular file"));
    }

    /// An agent that says "attach notes.txt" does not choose what is read.
    #[test]
    fn content_is_behind_no_link_of_an_agent() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path().canonicalize().unwrap();
        fs::create_dir_all(top.join("workspace/sub")).unwrap();
        fs::write(top.join("private"), "secret").unwrap();
        fs::write(top.join("workspace/sub/own"), "own").unwrap();
        symlink(top.join("private"), top.join("workspace/notes")).unwrap();
        symlink("sub", top.join("workspace/way")).unwrap();
        symlink("workspace", top.join("mine")).unwrap();
        let written = std::sync::Arc::from([top.join("workspace")]);
        let at =
            |path: &str| ConfiguredFolder::new(top.join(path), std::sync::Arc::clone(&written));
        for path in ["workspace/sub/own", "mine/sub/own", "private"] {
            assert!(Content::read(&at(path), LIMIT).is_ok(), "{path}");
        }
        for path in ["workspace/notes", "mine/notes", "workspace/way/own"] {
            let text = Content::read(&at(path), LIMIT).unwrap_err().text();
            assert!(text.contains("link"), "{path}: {text}");
        }
    }
}
