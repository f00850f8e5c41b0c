//! Sessions that are taken over from elsewhere, and none of their messages as one to answer.
//!
//! What a message says of how it came makes it one that is on its way: a gateway that finds it
//! in no ledger begins its turn, with the options and for the place that it names. In a
//! transcript from elsewhere it may say anything, so each that says it is marked there.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read as _, Write as _};
use std::path::Path;

use openclaw_sessions::transcript::{Count, LINE_LIMIT, Line, count};
use openclaw_sessions::transfer::{self, Existing, Plan, Skip, StagedFile};
use openclaw_sessions::{AgentId, Error};

/// Where a message says over what it came.
const CHANNEL: &str = "channel";

/// As [`transfer::plan`], with each message marked that would be taken for one that is on its
/// way, where `room` says that there are so many bytes for a copy.
///
/// # Errors
/// A file cannot be read or written.
pub fn plan(
    files: &[StagedFile],
    existing: &HashMap<AgentId, Existing>,
    room: &dyn Fn() -> u64,
) -> Result<Plan, Error> {
    let mut plan = transfer::plan(files, existing, room)?;
    for mut takeover in std::mem::take(&mut plan.takeovers) {
        let path = &takeover.staged;
        let failed = |operation, source| Error::Io {
            operation,
            path: path.clone(),
            source,
        };
        if has_unmarked(path).map_err(|it| failed("read", it))? {
            let found = path.metadata().map_err(|it| failed("look at", it))?;
            if found.len() > room() {
                plan.skipped.push(Skip {
                    name: format!("{}/{}", takeover.key.agent(), takeover.name),
                    reason: "there is no room for it".to_owned(),
                });
                continue;
            }
            mark(path).map_err(|it| failed("mark the messages of", it))?;
            let counted = count(path, Count::default())?;
            takeover.entry.set_counted(counted);
        }
        plan.takeovers.push(takeover);
    }
    Ok(plan)
}

/// Whether there are messages that [`mark`] would change.
fn has_unmarked(path: &Path) -> io::Result<bool> {
    let mut pieces = Pieces::open(path)?;
    while pieces.next()? {
        if pieces.marked().is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Marks the messages of the transcript at `path` that say how they came. Everything else
/// stays as it is, byte for byte.
fn mark(path: &Path) -> io::Result<()> {
    let place = path.with_extension("marked");
    let mut pieces = Pieces::open(path)?;
    let mut target = BufWriter::new(File::create_new(&place)?);
    while pieces.next()? {
        match pieces.marked() {
            Some(line) => target.write_all(&line)?,
            None => target.write_all(&pieces.piece)?,
        }
    }
    target.into_inner()?.sync_all()?;
    fs::rename(&place, path)
}

/// A transcript's lines as they are written. Of one that is too long for an entry there
/// are several pieces, and the last one may be without its end.
struct Pieces {
    source: BufReader<File>,
    piece: Vec<u8>,
    /// Whether the piece is a line, and not a part of one that is too long.
    is_line: bool,
    /// Whether the next piece begins a line.
    begins: bool,
}

impl Pieces {
    fn open(path: &Path) -> io::Result<Self> {
        Ok(Self {
            source: BufReader::new(File::open(path)?),
            piece: Vec::new(),
            is_line: false,
            begins: true,
        })
    }

    /// Whether there is another piece.
    fn next(&mut self) -> io::Result<bool> {
        self.piece.clear();
        let mut limited = self.source.by_ref().take(LINE_LIMIT as u64);
        limited.read_until(b'\n', &mut self.piece)?;
        let is_ended = self.piece.ends_with(b"\n");
        // A last line without its end gets one when something is written behind it.
        let is_last = !is_ended && self.source.fill_buf()?.is_empty();
        self.is_line = self.begins && (is_ended || is_last);
        self.begins = is_ended;
        Ok(!self.piece.is_empty())
    }

    /// The line with the mark; None: it needs none.
    fn marked(&self) -> Option<Vec<u8>> {
        let text = std::str::from_utf8(&self.piece).ok()?;
        let may_say_channel = text.contains(CHANNEL) || text.contains("\\u");
        if !self.is_line || !may_say_channel {
            return None;
        }
        let line = text.strip_suffix('\n').unwrap_or(text);
        let Ok(Line::Message(mut entry)) = Line::parse(line.as_bytes()) else {
            return None;
        };
        entry.message.arrival()?;
        entry.message.set_taken_over();
        let mut written = Vec::new();
        Line::Message(entry).encode(&mut written).ok()?;
        Some(written)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use openclaw_sessions::transcript::{Entry, LineRead, Lines, since};

    /// When its messages say that they were said.
    const AT: i64 = 4_000_000_000_000;

    fn message(id: &str) -> String {
        let message = json!({
            "type": "message", "id": id, "parentId": null, "odd": 1.50,
            "message": {
                "role": "user", "content": "x", "timestamp": AT,
                "idempotencyKey": "r:user",
                "__openclaw": { "channel": "cli", "route": {}, "turnOptions": {} },
            },
        });
        message.to_string()
    }

    fn arriving(path: &Path) -> Vec<String> {
        let entries: Vec<Entry> = since(path, 0).unwrap();
        let arriving = entries.iter().filter(|it| it.message.arrival().is_some());
        arriving.map(|it| it.id.clone()).collect()
    }

    fn written(lines: &[&[u8]]) -> (tempfile::TempDir, std::path::PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("0");
        fs::write(&path, lines.concat()).unwrap();
        (folder, path)
    }

    #[test]
    fn marked_messages_say_no_more_that_they_are_on_their_way() {
        let plain = json!({
            "type": "message", "id": "p",
            "message": { "role": "user", "content": "channel \\u", "timestamp": AT },
        });
        let plain = format!("{plain}  \n#channel\n\n\u{fffd}\n");
        let (first, last) = (message("a"), message("b"));
        let escaped = message("c").replace("__openclaw", "__open\\u0063law");
        let escaped = escaped.replace("channel", "\\u0063hannel");
        let (_folder, path) = written(&[
            plain.as_bytes(),
            first.as_bytes(),
            b"\r\n\xff channel\n",
            escaped.as_bytes(),
            b"\n",
            last.as_bytes(),
        ]);
        assert!(has_unmarked(&path).unwrap());
        mark(&path).unwrap();
        assert!(!has_unmarked(&path).unwrap());
        assert!(arriving(&path).is_empty());
        let bytes = fs::read(&path).unwrap();
        assert!(bytes.starts_with(plain.as_bytes()));
        let part = b"\n\xff channel\n";
        assert!(bytes.windows(part.len()).any(|it| it == part));
        let read = Lines::open(&path).unwrap().map(Result::unwrap);
        let messages = read.filter_map(LineRead::whole);
        let ids: Vec<_> = messages
            .filter_map(|it| it.id().map(str::to_owned))
            .collect();
        assert_eq!(ids, ["p", "a", "c", "b"]);
    }

    #[test]
    fn transcript_without_such_messages_is_left_as_it_is() {
        let (_folder, path) = written(&[b"{\"type\":\"session\",\"id\":\"s\"}\nchannel"]);
        assert!(!has_unmarked(&path).unwrap());
    }

    /// However the lines are read: those behind the limit are no messages from the end either.
    #[test]
    fn lines_that_are_too_long_are_no_messages() {
        let room = LINE_LIMIT - message("a").len();
        for (blanks, length) in [(room - 1, LINE_LIMIT), (room, LINE_LIMIT + 1)] {
            let line = message("a") + &" ".repeat(blanks);
            assert_eq!(line.len() + 1, length);
            let (_folder, path) = written(&[line.as_bytes(), b"\n"]);
            let is_entry = length <= LINE_LIMIT;
            assert_eq!(has_unmarked(&path).unwrap(), is_entry, "{length}");
            assert_eq!(arriving(&path).len(), usize::from(is_entry), "{length}");
        }
    }
}
