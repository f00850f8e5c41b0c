//! How many messages a transcript has, counted on from where counting ended.

use std::borrow::Cow;
use std::fs::File;
use std::io::{BufRead as _, BufReader, Seek as _, SeekFrom};
use std::path::Path;

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::disk;
use crate::error::Error;

/// Whose messages count.
const ROLES: [&str; 3] = ["user", "assistant", "toolResult"];

/// What has been counted. Transcripts only grow, so the next count starts at `bytes`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// The file's length when it was counted, up to the last whole line.
    pub bytes: u64,
    /// User, assistant and tool result messages in those bytes.
    pub messages: u64,
}

impl Count {
    pub(crate) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// Counts on from `known`; a file that is not there has no messages. A file
/// that became shorter is counted anew.
pub fn count(path: &Path, known: Count) -> Result<Count, Error> {
    let failed = |source| Error::io("count the messages of", path)(source);
    let Some(mut file) = disk::if_there(File::open(path)).map_err(failed)? else {
        return Ok(Count::default());
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
        count.messages += u64::from(is_message(&line));
        line.clear();
    }
    Ok(count)
}

/// Looks at what counts alone: a transcript may have a million lines.
fn is_message(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Probe<'a> {
        #[serde(rename = "type", borrow)]
        kind: Cow<'a, str>,
        id: Option<IgnoredAny>,
        #[serde(borrow)]
        message: Option<Body<'a>>,
    }
    #[derive(Deserialize)]
    struct Body<'a> {
        #[serde(borrow)]
        role: Cow<'a, str>,
    }
    // Most of the others are told by their first bytes.
    if line.starts_with(b"{\"type\":\"") && !line.starts_with(b"{\"type\":\"message\"") {
        return false;
    }
    serde_json::from_slice::<Probe<'_>>(line).is_ok_and(|probe| {
        let role = probe.message.map(|message| message.role);
        probe.kind == "message"
            && probe.id.is_some()
            && role.is_some_and(|role| ROLES.contains(&&*role))
    })
}
