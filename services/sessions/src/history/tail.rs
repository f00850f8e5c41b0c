//! The messages at the end of a transcript: read from the file, or kept in memory while it grows.

use std::collections::{HashSet, VecDeque};
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use openclaw_tokens::CHARACTERS_PER_TOKEN;

use super::said::{Entry, Read, Word};
use super::{History, HistoryMessage, Past, turns};
use crate::disk;
use crate::error::Error;
use crate::transcript::{Backward, Chain, LINE_LIMIT, Parent, noted};

/// Most messages a prompt gets. It bounds memory where a budget of tokens does
/// not: empty tool results cost nothing.
const MESSAGE_LIMIT: usize = 4096;

/// Messages that were taken back and are known by their entries, the newest ones.
const WITHDRAWN_LIMIT: usize = 256;

/// How many times the budget is read in search of the newest turn's beginning.
const OVERREAD: usize = 4;

/// The newest messages of a conversation, as far as they were wanted.
#[derive(Debug, Clone, Default)]
pub struct Tail {
    /// Oldest first.
    messages: VecDeque<Past>,
    characters: usize,
    /// What stands for the messages before a compaction.
    summary: Option<Past>,
    /// Whether there is nothing before the messages.
    whole: bool,
    corrupt: Vec<u64>,
    /// How much of the file was read, up to the end of a line.
    length: u64,
    /// Tells the file from one that took its place.
    inode: u64,
    /// The last entry, whose child the next one is.
    leaf: Option<String>,
    /// The entries of messages that were taken back.
    withdrawn: VecDeque<String>,
}

impl Tail {
    /// Reads `path` from its end until `tokens` are spent on messages that are
    /// not of the runs in `waiting`. A file that is not there is empty.
    pub fn read(path: &Path, tokens: usize, waiting: &HashSet<String>) -> Result<Self, Error> {
        let Some(file) = disk::if_there(File::open(path)).map_err(Error::io("open", path))? else {
            return Ok(Self {
                whole: true,
                ..Self::default()
            });
        };
        let failed = |error| Error::io("read", path)(error);
        let reader = Reader::new(budget(tokens), waiting, Chain::default());
        let reader = reader.read(&file).map_err(failed)?;
        if !reader.chain.leads_nowhere() {
            return Ok(reader.tail);
        }
        let reader = Reader::new(budget(tokens), waiting, Chain::all());
        Ok(reader.read(&file).map_err(failed)?.tail)
    }

    /// How much of the file was read, in bytes.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// What the messages cost, in characters.
    pub fn characters(&self) -> usize {
        self.characters
    }

    /// Takes what was appended to the file at `path` since. None: that cannot
    /// be told from here, and the file is to be read anew.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn caught_up(mut self, path: &Path) -> Result<Option<Self>, Error> {
        let failed = |error| Error::io("read", path)(error);
        let opened = disk::if_there(File::open(path)).map_err(Error::io("open", path))?;
        let Some(mut file) = opened else {
            return Ok(None);
        };
        let found = file.metadata().map_err(failed)?;
        if found.ino() != self.inode || found.len() < self.length {
            return Ok(None);
        }
        // They were told of when they were read.
        self.corrupt.clear();
        file.seek(SeekFrom::Start(self.length)).map_err(failed)?;
        let mut source = BufReader::new(file);
        let mut line = Vec::new();
        loop {
            line.clear();
            let mut limited = source.by_ref().take(LINE_LIMIT as u64);
            let length = limited.read_until(b'\n', &mut line).map_err(failed)?;
            if line.pop() != Some(b'\n') {
                // Under way, or too long for a line.
                return Ok((length < LINE_LIMIT).then_some(self));
            }
            if !self.took(&line) {
                return Ok(None);
            }
            self.length += length as u64;
        }
    }

    /// Takes the next line; false when it is not the child of the last.
    fn took(&mut self, line: &[u8]) -> bool {
        let read = match Word::of(line) {
            Word::Entry(read) => read,
            Word::Blank => return true,
            Word::Header | Word::Unknown { .. } => return false,
        };
        let parent = match (&read.parent, &self.leaf) {
            (Parent::Id(parent), Some(leaf)) => parent == leaf,
            (Parent::Root, None) => true,
            _ => false,
        };
        let Some(entry_id) = read.id.filter(|_| parent) else {
            return false;
        };
        self.leaf = Some(entry_id.clone());
        match read.said {
            Entry::Silent => true,
            Entry::Message {
                run_id,
                answers,
                said,
                thinking,
            } => {
                self.take(Past {
                    run_id,
                    answers,
                    thinking,
                    ..Past::new(entry_id, said)
                });
                true
            }
            Entry::Withdrawn { run_id } => {
                self.withdraw(&run_id);
                true
            }
            Entry::Reset => {
                self.begin_anew();
                true
            }
            Entry::Compaction {
                summary,
                first_kept,
            } => self.compact(entry_id, &summary, &first_kept),
        }
    }

    /// The message of the run is no part of the conversation any more.
    fn withdraw(&mut self, run_id: &str) {
        let messages = std::mem::take(&mut self.messages);
        let is_own = |past: &Past| past.run_id.as_deref() == Some(run_id);
        let (own, others): (Vec<Past>, Vec<Past>) = messages.into_iter().partition(is_own);
        self.messages = others.into();
        for past in own {
            self.characters -= past.characters();
            self.note_withdrawn(past.entry_id);
        }
    }

    fn note_withdrawn(&mut self, entry_id: String) {
        self.withdrawn.push_back(entry_id);
        if self.withdrawn.len() > WITHDRAWN_LIMIT {
            self.withdrawn.pop_front();
        }
    }

    fn begin_anew(&mut self) {
        self.messages.clear();
        self.characters = 0;
        self.summary = None;
        self.whole = true;
    }

    /// False when the first entry that is kept is not here.
    fn compact(&mut self, entry_id: String, summary: &str, first_kept: &str) -> bool {
        if first_kept.is_empty() {
            self.begin_anew();
        } else {
            let is_first = |past: &Past| past.entry_id == first_kept;
            let Some(first) = self.messages.iter().position(is_first) else {
                return false;
            };
            for _ in 0..first {
                self.forget_oldest();
            }
            self.forget_thinking();
        }
        self.whole = true;
        self.summary = Some(Past::new(entry_id, HistoryMessage::summary(summary)));
        true
    }

    /// Forgets the oldest messages until the others cost at most `characters`.
    pub fn trim(&mut self, characters: usize) {
        while self.characters > characters && self.forget_oldest() {
            self.whole = false;
        }
    }

    /// The newest turns that fit into `tokens`, when what is kept is enough to say which these are.
    pub fn history(&self, tokens: usize, waiting: &HashSet<String>) -> Option<History> {
        let mut need = Need::new(budget(tokens));
        let own = self
            .messages
            .iter()
            .filter(|past| !is_waiting(past, waiting));
        own.for_each(|past| need.take(past));
        (self.whole || need.is_met()).then(|| self.clone().into_history(tokens, waiting))
    }

    /// The same, whether or not it is enough.
    pub fn into_history(self, tokens: usize, waiting: &HashSet<String>) -> History {
        let summary = self.summary;
        let cost = summary.as_ref().map_or(0, Past::characters);
        let messages = self.messages.into_iter();
        let messages = messages.filter(|past| !is_waiting(past, waiting)).collect();
        let selection = turns::select(messages, budget(tokens).saturating_sub(cost));
        let mut history = History {
            messages: selection.messages,
            cut: selection.cut || !self.whole,
            has_summary: false,
            corrupt: self.corrupt,
            order: selection.order,
            withdrawn: self.withdrawn.into_iter().collect(),
        };
        if let Some(summary) = summary.filter(|_| cost <= budget(tokens)) {
            history.order.insert(0, summary.entry_id.clone());
            history.messages.insert(0, summary);
            history.has_summary = true;
        }
        history
    }

    fn take(&mut self, past: Past) {
        self.characters += past.characters();
        self.messages.push_back(past);
    }

    fn forget_thinking(&mut self) {
        for past in &mut self.messages {
            self.characters -= past.thinking.take().map_or(0, |it| it.characters());
        }
    }

    fn forget_oldest(&mut self) -> bool {
        let Some(past) = self.messages.pop_front() else {
            return false;
        };
        self.characters -= past.characters();
        true
    }
}

fn budget(tokens: usize) -> usize {
    tokens.saturating_mul(CHARACTERS_PER_TOKEN)
}

fn is_waiting(past: &Past, waiting: &HashSet<String>) -> bool {
    past.run_id
        .as_ref()
        .is_some_and(|run| waiting.contains(run))
}

/// How much of a conversation a prompt needs to be made.
struct Need {
    budget: usize,
    spent: usize,
    /// Whether a user message is among what was taken.
    begun: bool,
}

impl Need {
    fn new(budget: usize) -> Self {
        Self {
            budget,
            spent: 0,
            begun: false,
        }
    }

    fn take(&mut self, past: &Past) {
        self.spent += past.characters();
        self.begun |= matches!(past.said, HistoryMessage::User { .. });
    }

    /// The newest turn is wanted from its user message on, even when it is too long.
    fn is_met(&self) -> bool {
        (self.begun && self.spent > self.budget)
            || self.spent > self.budget.saturating_mul(OVERREAD)
    }
}

/// Reads a file from its end.
struct Reader<'a> {
    need: Need,
    waiting: &'a HashSet<String>,
    chain: Chain,
    tail: Tail,
    /// The first entry that a compaction kept.
    kept_from: Option<String>,
    /// The runs, read so far, whose messages were taken back.
    withdrawn: HashSet<String>,
}

/// Whether to read on.
#[derive(PartialEq)]
enum Next {
    Line,
    /// The conversation begins here.
    Begin,
}

impl<'a> Reader<'a> {
    fn new(budget: usize, waiting: &'a HashSet<String>, chain: Chain) -> Self {
        Self {
            need: Need::new(budget),
            waiting,
            chain,
            tail: Tail::default(),
            kept_from: None,
            withdrawn: HashSet::new(),
        }
    }

    fn read(mut self, file: &File) -> io::Result<Self> {
        let mut lines = Backward::new(file)?;
        self.tail.length = lines.length();
        self.tail.inode = file.metadata()?.ino();
        self.tail.whole = true;
        while let Some((offset, line)) = lines.next_line()? {
            if self.line(offset, &line) == Next::Begin {
                break;
            }
            if self.need.is_met() || self.tail.messages.len() >= MESSAGE_LIMIT {
                self.tail.whole = false;
                break;
            }
        }
        Ok(self)
    }

    fn line(&mut self, offset: u64, line: &[u8]) -> Next {
        let read = match Word::of(line) {
            Word::Entry(read) => read,
            Word::Blank => return Next::Line,
            Word::Header => return Next::Begin,
            Word::Unknown { is_json } => {
                if !is_json {
                    noted(&mut self.tail.corrupt, offset);
                }
                self.chain.is_broken();
                return Next::Line;
            }
        };
        if !self.chain.admits(read.id.as_deref(), &read.parent) {
            return Next::Line;
        }
        if self.tail.leaf.is_none() {
            self.tail.leaf.clone_from(&read.id);
        }
        let is_first_kept = self.kept_from.is_some() && self.kept_from == read.id;
        let next = self.entry(read);
        if is_first_kept { Next::Begin } else { next }
    }

    fn entry(&mut self, read: Read) -> Next {
        let entry_id = read.id.unwrap_or_default();
        match read.said {
            Entry::Silent => Next::Line,
            Entry::Withdrawn { run_id } => {
                self.withdrawn.insert(run_id);
                Next::Line
            }
            Entry::Reset => Next::Begin,
            Entry::Compaction {
                summary,
                first_kept,
            } => self.compaction(entry_id, &summary, first_kept),
            Entry::Message {
                run_id,
                answers,
                said,
                thinking,
            } => {
                self.message(Past {
                    run_id,
                    answers,
                    // What comes before a compaction is read after it.
                    thinking: thinking.filter(|_| self.tail.summary.is_none()),
                    ..Past::new(entry_id, said)
                });
                Next::Line
            }
        }
    }

    /// The newest compaction counts; older ones are told by it.
    fn compaction(&mut self, entry_id: String, summary: &str, first_kept: String) -> Next {
        if self.tail.summary.is_some() {
            return Next::Line;
        }
        self.tail.summary = Some(Past::new(entry_id, HistoryMessage::summary(summary)));
        if first_kept.is_empty() {
            return Next::Begin;
        }
        self.kept_from = Some(first_kept);
        Next::Line
    }

    fn message(&mut self, past: Past) {
        let run = past.run_id.as_ref();
        if run.is_some_and(|run| self.withdrawn.contains(run)) {
            self.tail.note_withdrawn(past.entry_id);
            return;
        }
        if !is_waiting(&past, self.waiting) {
            self.need.take(&past);
        }
        self.tail.characters += past.characters();
        self.tail.messages.push_front(past);
    }
}
