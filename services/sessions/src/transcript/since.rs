//! The newest messages of a transcript, by the time they were said.

use std::fs::File;
use std::io;
use std::path::Path;

use super::{Backward, Entry, Line};
use crate::disk;
use crate::error::Error;

/// The messages at the end of `path` that were said at `at_ms` (Unix
/// milliseconds) or later, oldest first. Lines that are no messages are passed
/// over. Reads no more of the file than it has to.
///
/// # Errors
/// The file cannot be read. One that is not there has no messages.
pub fn since(path: &Path, at_ms: i64) -> Result<Vec<Entry>, Error> {
    let Some(file) = disk::if_there(File::open(path)).map_err(Error::io("open", path))? else {
        return Ok(Vec::new());
    };
    read(&file, at_ms).map_err(Error::io("read", path))
}

fn read(file: &File, at_ms: i64) -> io::Result<Vec<Entry>> {
    let mut lines = Backward::new(file)?;
    let mut found = Vec::new();
    while let Some((_, line)) = lines.next_line()? {
        let Ok(Line::Message(entry)) = Line::parse(&line) else {
            continue;
        };
        if entry.message.timestamp() < at_ms {
            break;
        }
        found.push(*entry);
    }
    found.reverse();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_only_what_was_said_since_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.jsonl");
        assert!(since(&path, 0).unwrap().is_empty());
        let message = |id: &str, at: i64| {
            format!(
                r#"{{"type":"message","id":"{id}","message":{{"role":"user","content":"x","timestamp":{at}}}}}"#
            )
        };
        let other = r#"{"type":"custom","id":"c","customType":"x"}"#;
        let lines = [
            &message("a", 9),
            &message("b", 10),
            other,
            "rubbish",
            &message("c", 11),
        ];
        std::fs::write(&path, format!("{}\n{{\"torn", lines.join("\n"))).unwrap();
        let ids = |at| -> Vec<String> {
            let found = since(&path, at).unwrap().into_iter();
            found.map(|entry| entry.id).collect()
        };
        assert_eq!(ids(10), ["b", "c"]);
        assert_eq!(ids(0), ["a", "b", "c"]);
        assert!(ids(12).is_empty());
    }
}
