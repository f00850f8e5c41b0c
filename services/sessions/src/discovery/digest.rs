//! A transcript in short (seed 001, phase 2).

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use super::Matched;
use crate::error::Error;
use crate::time::{modified_ms, unix_ms};
use crate::transcript::{Backward, Line, LineRead, Lines, Message};

/// The last user messages that are shown.
const LAST_MESSAGES: usize = 3;

/// Characters of a user message that are shown.
const MESSAGE_LIMIT: usize = 300;

/// A transcript in short.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digest {
    /// The agent's folder name.
    pub agent: String,
    /// The file.
    pub path: PathBuf,
    /// The session's id.
    pub session_id: String,
    /// Where the agent worked.
    pub cwd: String,
    /// Unix milliseconds, when the header says it.
    pub started_ms: Option<i64>,
    /// Unix milliseconds.
    pub modified_ms: i64,
    /// Lines of the file.
    pub lines: u64,
    /// What the user said first.
    pub first_user_message: Option<String>,
    /// What the user said last, oldest first.
    pub last_user_messages: Vec<String>,
    /// What of it matched.
    pub matched: Matched,
}

impl Digest {
    /// Reads the beginning and the end of the transcript at `path`.
    pub fn of(agent: &str, path: &Path, matched: Matched) -> Result<Self, Error> {
        let mut digest = Self {
            agent: agent.to_owned(),
            path: path.to_owned(),
            session_id: name_of(path),
            cwd: String::new(),
            started_ms: None,
            modified_ms: modified(path),
            lines: count_lines(path).map_err(Error::io("read", path))?,
            first_user_message: None,
            last_user_messages: last(path)?,
            matched,
        };
        digest.read_head(path)?;
        Ok(digest)
    }

    fn read_head(&mut self, path: &Path) -> Result<(), Error> {
        for line in Lines::open(path)? {
            match line? {
                LineRead::Whole(Line::Header(header)) => {
                    self.started_ms = unix_ms(&header.timestamp);
                    self.session_id = header.id;
                    self.cwd = header.cwd;
                }
                LineRead::Whole(Line::Message(entry)) => {
                    if let Some(words) = user_words(&entry.message) {
                        self.first_user_message = Some(words);
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// When the file was changed, in Unix milliseconds; 0 when nobody knows.
pub(super) fn modified(path: &Path) -> i64 {
    fs::metadata(path).map_or(0, |file| modified_ms(&file))
}

fn name_of(path: &Path) -> String {
    let name = path.file_stem().unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn count_lines(path: &Path) -> io::Result<u64> {
    let mut source = BufReader::with_capacity(256 * 1024, File::open(path)?);
    let mut lines = 0;
    loop {
        let chunk = source.fill_buf()?;
        if chunk.is_empty() {
            return Ok(lines);
        }
        lines += chunk.iter().filter(|byte| **byte == b'\n').count() as u64;
        let length = chunk.len();
        source.consume(length);
    }
}

fn last(path: &Path) -> Result<Vec<String>, Error> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    let failed = |error| Error::io("read", path)(error);
    let mut lines = Backward::new(&file).map_err(failed)?;
    let mut words = Vec::new();
    while words.len() < LAST_MESSAGES
        && let Some((_, line)) = lines.next_line().map_err(failed)?
    {
        if let Ok(Line::Message(entry)) = Line::parse(&line) {
            words.extend(user_words(&entry.message));
        }
    }
    words.reverse();
    Ok(words)
}

fn user_words(message: &Message) -> Option<String> {
    let Message::User(user) = message else {
        return None;
    };
    let text = user.content.to_text();
    let short: String = text.trim().chars().take(MESSAGE_LIMIT).collect();
    (!short.is_empty()).then_some(short)
}
