//! What a file has, read whole.

use std::fs::OpenOptions;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use nix::fcntl::OFlag;
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
    /// The content of the file at `path`.
    ///
    /// # Errors
    /// It is not there, is no regular file, is empty, or has more than `limit` bytes.
    pub fn read(path: &Path, limit: u64) -> Result<Self, Failure> {
        let shown = path.display();
        let failed =
            |why: &dyn std::fmt::Display| Failure::new(format!("cannot send {shown}: {why}"));
        // The open of a FIFO would wait for somebody who writes.
        let opened = OpenOptions::new()
            .read(true)
            .custom_flags(OFlag::O_NONBLOCK.bits())
            .open(path);
        let file = opened.map_err(|error| failed(&error))?;
        let status = file.metadata().map_err(|error| failed(&error))?;
        if status.is_dir() {
            return Err(failed(&"it is a folder"));
        }
        if !status.is_file() {
            return Err(failed(&"it is no regular file"));
        }
        let mut bytes = Vec::new();
        let read = file.take(limit + 1).read_to_end(&mut bytes);
        read.map_err(|error| failed(&error))?;
        if bytes.is_empty() {
            return Err(failed(&"it is empty"));
        }
        if bytes.len() as u64 > limit {
            let most = limit / 1024 / 1024;
            return Err(failed(&format!(
                "it is larger than the {most} MB that are sent"
            )));
        }
        let name = path.file_name().unwrap_or(path.as_os_str());
        Ok(Self {
            name: name.to_string_lossy().into_owned(),
            bytes,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use nix::sys::stat::Mode;

    use super::*;

    const LIMIT: u64 = 20 * 1024 * 1024;

    #[test]
    fn content_is_that_of_a_file_of_some_size() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("a.txt"), "words").unwrap();
        fs::write(at("empty"), "").unwrap();
        fs::File::create(at("large"))
            .unwrap()
            .set_len(LIMIT + 1)
            .unwrap();
        fs::File::create(at("most"))
            .unwrap()
            .set_len(LIMIT)
            .unwrap();
        nix::unistd::mkfifo(&at("fifo"), Mode::S_IRWXU).unwrap();
        let content = Content::read(&at("a.txt"), LIMIT).unwrap();
        assert_eq!(
            (content.name.as_str(), content.bytes.as_slice()),
            ("a.txt", &b"words"[..])
        );
        assert!(Content::read(&at("most"), LIMIT).is_ok());
        for (name, why) in [
            ("none", "No such file"),
            ("", "is a folder"),
            ("fifo", "no regular file"),
            ("empty", "is empty"),
            ("large", "larger than the 20 MB"),
        ] {
            let text = Content::read(&at(name), LIMIT).unwrap_err().text();
            assert!(text.contains(why), "{name}: {text}");
        }
    }
}
