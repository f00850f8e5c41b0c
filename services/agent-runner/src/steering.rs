//! Messages that come for a turn while it goes on.
//!
//! The daemon appends them to a file beside the turn's spool, and the turn's
//! process reads them from there when its agent asks: neither needs the other
//! to be alive for that.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

/// Bytes of all messages of one turn: a few long ones, as the gateway lets
/// them in. What is beyond waits for the next turn.
const SIZE_LIMIT: u64 = 8 * 1024 * 1024;
/// The file name's ending.
const ENDING: &str = "steering";
/// What users say is theirs alone.
const PRIVATE: u32 = 0o600;

/// A message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Message {
    /// The run that it began as.
    pub(crate) run_id: String,
    pub(crate) text: String,
}

/// Why a message cannot be kept.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("the turn has {SIZE_LIMIT} bytes of messages already; this one waits")]
    Full,
    #[error("write {}", path.display())]
    Write {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Where the messages of a run are, beside its spool in `folder`.
pub(crate) fn path(folder: &Path, run_id: &str) -> PathBuf {
    folder.join(format!("{run_id}.{ENDING}"))
}

/// Keeps `message` for the turn whose messages are at `path`.
pub(crate) fn keep(path: &Path, message: &Message) -> Result<(), Error> {
    let failed = |source| Error::Write {
        path: path.to_owned(),
        source,
    };
    let mut line = serde_json::to_vec(message).map_err(|error| failed(error.into()))?;
    line.push(b'\n');
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(PRIVATE)
        .open(path)
        .map_err(failed)?;
    let length = file.metadata().map_err(failed)?.len();
    if length + line.len() as u64 > SIZE_LIMIT {
        return Err(Error::Full);
    }
    file.write_all(&line).map_err(failed)
}

/// The messages of one turn, read one after the other.
#[derive(Debug)]
pub(crate) struct Inbox {
    path: PathBuf,
    /// Up to where they were taken.
    taken: Mutex<u64>,
}

impl Inbox {
    /// Beside the spool at `spool`.
    pub(crate) fn beside(spool: &Path) -> Self {
        Self {
            path: spool.with_extension(ENDING),
            taken: Mutex::new(0),
        }
    }

    /// Those that came since this was last called.
    pub(crate) fn take(&self) -> io::Result<Vec<Message>> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        file.seek(SeekFrom::Start(*taken))?;
        let mut text = String::new();
        file.take(SIZE_LIMIT).read_to_string(&mut text)?;
        // A line without an end is still being written.
        let whole = text.rfind('\n').map_or(0, |end| end + 1);
        *taken += whole as u64;
        let messages = text[..whole].lines().map(serde_json::from_str);
        Ok(messages.collect::<Result<_, _>>()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Message {
        Message {
            run_id: "r".to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn messages_are_taken_once_and_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let inbox = Inbox::beside(&folder.path().join("run.events"));
        let path = path(folder.path(), "run");
        assert_eq!(inbox.take().unwrap(), []);
        keep(&path, &message("one\nline")).unwrap();
        keep(&path, &message("two")).unwrap();
        assert_eq!(
            inbox.take().unwrap(),
            [message("one\nline"), message("two")]
        );
        assert_eq!(inbox.take().unwrap(), []);
        keep(&path, &message("three")).unwrap();
        assert_eq!(inbox.take().unwrap(), [message("three")]);
    }

    #[test]
    fn what_is_being_written_waits_and_too_much_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = path(folder.path(), "run");
        std::fs::write(&path, r#"{"run_id":"r","te"#).unwrap();
        let inbox = Inbox::beside(&folder.path().join("run.events"));
        assert_eq!(inbox.take().unwrap(), []);
        let long = message(&"x".repeat(SIZE_LIMIT as usize));
        assert!(matches!(keep(&path, &long), Err(Error::Full)));
    }
}
