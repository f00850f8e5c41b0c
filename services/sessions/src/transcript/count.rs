//! How many messages a transcript has, counted on from where counting ended.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Seek as _, SeekFrom};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::entry::Line;
use crate::error::Error;

/// What has been counted. Transcripts only grow, so the next count starts at
/// `bytes`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// The file's length when it was counted, up to the last whole line.
    pub bytes: u64,
    /// User, assistant and tool result messages in those bytes.
    pub messages: u64,
}

/// Counts on from `known`; a file that is not there has no messages. A file
/// that became shorter is counted anew.
pub fn count(path: &Path, known: Count) -> Result<Count, Error> {
    let failed = |source| Error::io("count the messages of", path)(source);
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Count::default()),
        Err(error) => return Err(failed(error)),
    };
    let length = file.metadata().map_err(failed)?.len();
    if length == known.bytes {
        return Ok(known);
    }
    let mut count = if length < known.bytes {
        Count::default()
    } else {
        known
    };
    file.seek(SeekFrom::Start(count.bytes)).map_err(failed)?;
    let mut source = BufReader::new(file);
    let mut line = Vec::new();
    while source.read_until(b'\n', &mut line).map_err(failed)? > 0 && line.pop() == Some(b'\n') {
        count.bytes += line.len() as u64 + 1;
        count.messages += u64::from(matches!(Line::parse(&line), Ok(Line::Message(_))));
        line.clear();
    }
    Ok(count)
}
