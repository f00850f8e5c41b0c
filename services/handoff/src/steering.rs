//! Messages that come for a turn while it goes on.
//!
//! The daemon appends them to a file beside the turn's spool, and the turn's process reads them
//! from there when its agent asks: neither needs the other to be alive for that.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use openclaw_turn::SteeringMessage;

use crate::torn;

/// Bytes of all messages of one turn: a few long ones, as the gateway lets
/// them in. What is beyond waits for the next turn.
const SIZE_LIMIT: u64 = 8 * 1024 * 1024;
/// The file name's ending.
const ENDING: &str = "steering";
/// What users say is theirs alone.
const PRIVATE: u32 = 0o600;

/// Why a message cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// More waits for the turn than is kept.
    #[error("the turn has {SIZE_LIMIT} bytes of messages already; this one waits")]
    Full,
    /// The file cannot be written.
    #[error("write {}", path.display())]
    Write {
        /// Which one.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// Where the messages of a run are, beside its spool in `folder`.
pub fn path(folder: &Path, run_id: &str) -> PathBuf {
    folder.join(format!("{run_id}.{ENDING}"))
}

/// Keeps `message` for the turn whose messages are at `path`.
pub fn keep(path: &Path, message: &SteeringMessage) -> Result<(), Error> {
    let failed = |source| Error::Write {
        path: path.to_owned(),
        source,
    };
    let mut file = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(PRIVATE)
        .open(path)
        .map_err(failed)?;
    let mut line = torn::mark(&file).map_err(failed)?.to_vec();
    serde_json::to_writer(&mut line, message).map_err(|error| failed(error.into()))?;
    line.push(b'\n');
    let length = file.metadata().map_err(failed)?.len();
    if length + line.len() as u64 > SIZE_LIMIT {
        return Err(Error::Full);
    }
    file.write_all(&line).map_err(failed)
}

/// The messages of one turn, read one after the other.
#[derive(Debug)]
pub struct Inbox {
    path: PathBuf,
    /// Up to where they were taken.
    taken: Mutex<u64>,
}

impl Inbox {
    /// Beside the spool at `spool`.
    pub fn beside(spool: &Path) -> Self {
        Self {
            path: spool.with_extension(ENDING),
            taken: Mutex::new(0),
        }
    }

    /// Those that came since this was last called.
    pub fn take(&self) -> io::Result<Vec<SteeringMessage>> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        file.seek(SeekFrom::Start(*taken))?;
        let mut text = Vec::new();
        file.take(SIZE_LIMIT).read_to_end(&mut text)?;
        // A line without an end is still being written.
        let whole = text.iter().rposition(|byte| *byte == b'\n');
        let whole = whole.map_or(0, |end| end + 1);
        *taken += whole as u64;
        let lines = text[..whole].split_inclusive(|byte| *byte == b'\n');
        // A torn one was reported as not kept.
        let all = lines.filter_map(|line| serde_json::from_slice(line).ok());
        Ok(newest_of_each(all))
    }
}

/// Of what was kept for the same run more than once, the newest, in the first one's place:
/// its message was edited.
fn newest_of_each(all: impl Iterator<Item = SteeringMessage>) -> Vec<SteeringMessage> {
    let mut kept: Vec<SteeringMessage> = Vec::new();
    for message in all {
        match kept.iter_mut().find(|it| it.run_id == message.run_id) {
            Some(earlier) => *earlier = message,
            None => kept.push(message),
        }
    }
    kept
}

#[cfg(fuzzing)]
pub mod fuzz;

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> SteeringMessage {
        SteeringMessage {
            run_id: text.to_owned(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn message_that_was_edited_is_taken_as_it_is_now() {
        let folder = tempfile::tempdir().unwrap();
        let spool = folder.path().join("r.events");
        let (inbox, path) = (Inbox::beside(&spool), path(folder.path(), "r"));
        let edited = SteeringMessage {
            text: "edited".to_owned(),
            ..message("one")
        };
        for message in [&message("one"), &message("two"), &edited] {
            keep(&path, message).unwrap();
        }
        assert_eq!(inbox.take().unwrap(), [edited, message("two")]);
    }

    #[test]
    fn messages_around_a_torn_line_are_taken() {
        let folder = tempfile::tempdir().unwrap();
        let spool = folder.path().join("r.events");
        let (inbox, path) = (Inbox::beside(&spool), path(folder.path(), "r"));
        for torn in [&b"{\"run_id\":\"r\",\"te"[..], b"\xff"] {
            keep(&path, &message("before")).unwrap();
            let mut file = OpenOptions::new().append(true).open(&path).unwrap();
            file.write_all(torn).unwrap();
            keep(&path, &message("after")).unwrap();
            let taken = inbox.take().unwrap();
            assert_eq!(taken, [message("before"), message("after")]);
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
    fn steering_what_is_being_written_waits_and_too_much_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = path(folder.path(), "run");
        std::fs::write(&path, r#"{"run_id":"r","te"#).unwrap();
        let inbox = Inbox::beside(&folder.path().join("run.events"));
        assert_eq!(inbox.take().unwrap(), []);
        let long = message(&"x".repeat(SIZE_LIMIT as usize));
        assert!(matches!(keep(&path, &long), Err(Error::Full)));
    }
}
