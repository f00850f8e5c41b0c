//! The entries of one run.

use std::fs::File;
use std::io;
use std::path::Path;

use super::backward::Backward;
use super::entry::{Entry, Line};
use super::message::Message;
use crate::disk;
use crate::error::Error;

/// The entries of the run `run_id`, oldest first: read from the end of the file
/// to the user's message, which is the run's first. A file that is not there
/// has none.
pub fn of_run(path: &Path, run_id: &str) -> Result<Vec<Entry>, Error> {
    let Some(file) = disk::if_there(File::open(path)).map_err(Error::io("open", path))? else {
        return Ok(Vec::new());
    };
    let mut entries = collect(&file, run_id).map_err(Error::io("read", path))?;
    entries.reverse();
    Ok(entries)
}

fn collect(file: &File, run_id: &str) -> io::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    let mut lines = Backward::new(file)?;
    while let Some((_, line)) = lines.next_line()? {
        // Most lines are other runs'; looking is cheaper than parsing.
        if !contains(&line, run_id.as_bytes()) {
            continue;
        }
        let Ok(Line::Message(entry)) = Line::parse(&line) else {
            continue;
        };
        if entry.message.run_id() == Some(run_id) {
            let is_first = matches!(entry.message, Message::User(_));
            entries.push(*entry);
            if is_first {
                break;
            }
        }
    }
    Ok(entries)
}

/// Run ids have no characters that JSON escapes, unless a client chose one.
fn contains(line: &[u8], run_id: &[u8]) -> bool {
    let is_plain = run_id
        .iter()
        .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\'));
    !is_plain || line.windows(run_id.len().max(1)).any(|part| part == run_id)
}
