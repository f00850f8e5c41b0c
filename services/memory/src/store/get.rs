//! Lines of what is searched.

use std::fmt::Write as _;
use std::path::Path;

use openclaw_proto::memory::{Exported, Lines, Text, is_private_note};
use openclaw_retrieval::{Message, Source};

use super::Store;
use crate::error::Error;
use crate::source::{Place, TRANSCRIPT, dated};
use crate::transcript;
use crate::workspace::Workspace;

/// Who answers in a transcript.
const ASSISTANT: &str = "assistant";

/// The most characters at once; a model asks for the next lines when it wants
/// more. At about 4,000 tokens.
const CHARACTERS: usize = 16_000;

/// Documents of a list, and how much is shown of the beginning of each, in
/// characters.
const LISTED: usize = 30;
const BEGINNING: usize = 60;

/// Who reads, as in a search.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// The session of the run.
    pub(crate) session_id: String,
    /// It does not know of those before it: its own transcript is not there, nor
    /// is what was answered in others.
    pub(crate) is_isolated: bool,
    /// Others than the user hear of it: its own transcript alone is there, and
    /// no MEMORY.md.
    pub(crate) is_shared: bool,
}

impl Reader {
    /// Whether the file at `path` of `place` is not there for it.
    fn misses(&self, place: &Place, path: &str) -> bool {
        if !place.is_log() {
            return self.is_shared && place.source() == Source::Memory && is_private_note(path);
        }
        let file = Path::new(path).file_name().and_then(|name| name.to_str());
        let id = file.and_then(|file| file.strip_suffix(TRANSCRIPT));
        let is_own = id == Some(self.session_id.as_str());
        (self.is_isolated && is_own) || (self.is_shared && !is_own)
    }
}

impl Store {
    /// The `lines` of the document `name`; None when there is no such file for
    /// `reader`.
    pub(crate) fn get(
        &self,
        name: &str,
        lines: Lines,
        reader: &Reader,
    ) -> Result<Option<Text>, Error> {
        let name = self.resolved(name);
        if let Some(source) = listed(&name) {
            return Ok(Some(cut(&name, &self.list(source, reader)?, lines)));
        }
        let (place, path) = self.find(&name)?;
        if reader.misses(place, path) {
            return Ok(None);
        }
        Ok(match self.whole(place, path)? {
            Some(Whole::Text(text)) => Some(cut(&name, &text, lines)),
            Some(Whole::Said(mut messages)) => {
                messages.retain(|message| !reader.is_isolated || message.speaker != ASSISTANT);
                Some(said(&name, &messages, lines))
            }
            None => None,
        })
    }

    /// The documents from `source` that are there for `reader`, newest first,
    /// each with how it begins.
    fn list(&self, source: Source, reader: &Reader) -> Result<String, Error> {
        let engine = self.engine()?;
        let mut all = engine.documents(source)?;
        all.retain(|document| {
            let found = self.find(&document.path);
            found.is_ok_and(|(place, path)| !reader.misses(place, path))
        });
        all.sort_by_key(|document| std::cmp::Reverse(document.modified_ms));
        let mut list = String::new();
        for document in all.iter().take(LISTED) {
            let passages = engine.passages(&document.path)?.unwrap_or_default();
            let Some(first) = passages.first() else {
                continue;
            };
            let words: String = first.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let words: String = words.chars().take(BEGINNING).collect();
            let day = dated::words(document.modified_ms);
            // Writing to a String cannot fail.
            let _ = writeln!(list, "{day}  {}  {words}", document.path);
        }
        Ok(list)
    }

    /// The document `name` as it is exported; None when its file is gone.
    pub(crate) fn exported(&self, name: &str) -> Result<Option<Exported>, Error> {
        let (place, path) = self.find(name)?;
        let Some(root) = place.open()? else {
            return Ok(None);
        };
        let stamp = root.stamp(path)?.unwrap_or_default();
        let text = match self.whole(place, path)? {
            Some(Whole::Text(text)) => text,
            Some(Whole::Said(messages)) => messages.iter().map(line).collect(),
            None => return Ok(None),
        };
        Ok(Some(Exported {
            path: name.to_owned(),
            source: place.source().name().to_owned(),
            modified_ms: stamp.modified_ms(),
            text,
            number: 0,
            total: 0,
        }))
    }

    /// The names of all documents.
    pub(crate) fn names(&self) -> Result<Vec<String>, Error> {
        Ok(self.engine()?.known()?.into_keys().collect())
    }

    fn find<'a>(&self, name: &'a str) -> Result<(&Place, &'a str), Error> {
        let (place, path) = self.places.find(name).ok_or_else(|| Error::NoMemory {
            path: name.to_owned(),
        })?;
        Ok((&self.places.all[place], path))
    }

    /// Models name files as they see them: with the workspace before them, or
    /// `./`.
    fn resolved(&self, name: &str) -> String {
        let workspace = self.places.workspace.to_str();
        let below = workspace.and_then(|workspace| name.strip_prefix(workspace)?.strip_prefix('/'));
        let name = below.unwrap_or(name);
        name.strip_prefix("./").unwrap_or(name).to_owned()
    }

    fn whole(&self, place: &Place, path: &str) -> Result<Option<Whole>, Error> {
        let Some(root) = place.open()? else {
            return Ok(None);
        };
        if !place.is_log() {
            return Ok(root.read(path)?.map(|(text, _)| Whole::Text(text)));
        }
        self.messages(place, &root, path)
    }

    fn messages(
        &self,
        place: &Place,
        root: &Workspace,
        path: &str,
    ) -> Result<Option<Whole>, Error> {
        let Some((file, _)) = root.open_file(path)? else {
            return Ok(None);
        };
        let read = transcript::read(file).map_err(|source| crate::intake::Error::Transcript {
            path: place.folder.join(path),
            source,
        })?;
        Ok(Some(Whole::Said(read.messages)))
    }
}

/// The places that are listed by their names.
fn listed(name: &str) -> Option<Source> {
    let sources = [Source::Memory, Source::Sessions];
    sources.into_iter().find(|source| source.name() == name)
}

enum Whole {
    Text(String),
    Said(Vec<Message>),
}

fn cut(name: &str, text: &str, lines: Lines) -> Text {
    let from = lines.from.max(1);
    let wanted = match lines.count {
        0 => u32::MAX,
        count => count,
    };
    let mut cut = String::new();
    let mut count = 0;
    let all = text.split_inclusive('\n');
    for line in all.skip(from as usize - 1).take(wanted as usize) {
        if count > 0 && cut.len() + line.len() > CHARACTERS {
            break;
        }
        cut.push_str(head(line));
        count += 1;
    }
    Text {
        path: name.to_owned(),
        text: cut,
        from,
        lines: count,
        total_lines: u32::try_from(text.lines().count()).unwrap_or(u32::MAX),
    }
}

/// Of a transcript the lines are those of its file, as hits name them; what is
/// in them is told in words.
fn said(name: &str, messages: &[Message], lines: Lines) -> Text {
    let from = lines.from.max(1);
    let end = match lines.count {
        0 => u32::MAX,
        count => from.saturating_add(count),
    };
    let wanted = messages.iter().filter(|m| (from..end).contains(&m.line));
    let mut text = String::new();
    let mut last = from;
    for message in wanted {
        let line = line(message);
        if !text.is_empty() && text.len() + line.len() > CHARACTERS {
            break;
        }
        text.push_str(head(&line));
        last = message.line + 1;
    }
    Text {
        path: name.to_owned(),
        text,
        from,
        lines: last - from,
        total_lines: messages.last().map_or(0, |message| message.line),
    }
}

fn line(message: &Message) -> String {
    let mut line = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(
        line,
        "[{}] {}: {}",
        dated::words(message.timestamp_ms),
        message.speaker,
        message.text.trim_end()
    );
    line
}

/// As much of a line as may be given at once.
fn head(line: &str) -> &str {
    line.char_indices()
        .nth(CHARACTERS)
        .map_or(line, |(at, _)| &line[..at])
}
