//! Cutting a Markdown text into passages that can be found and shown alone.
//!
//! A passage is one fact as it was written: an item of a list, a row of a table,
//! a line, a paragraph of up to [`TARGET`] tokens, a block of code. What it stands
//! under (headings, the item above, the columns' names, "Shopping:") is its
//! context: searched with it, and a passage of its own only where nothing comes
//! after it.

use std::ops::Range;

mod block;

use block::{Block, Kind};
use openclaw_analysis as analysis;

/// The most a passage has, in tokens (as OpenClaw's); code and items, which are
/// torn badly, twice that.
const TARGET: usize = 400;
/// What is too large is put together of pieces of so many tokens.
const PIECE: usize = 80;

/// A fact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Where it is in the text, in bytes.
    pub range: Range<usize>,
    /// Its first line, counted from 1.
    pub line: usize,
    /// What it stands under and does not contain, outermost first.
    pub context: Vec<String>,
    /// An estimate of its size.
    pub tokens: usize,
    /// Whether it is the first under a heading.
    pub begins: bool,
}

/// Cuts `text`. Passages come in order and miss nothing but blank lines and
/// what is context of others.
#[must_use]
pub fn cut(text: &str) -> Vec<Passage> {
    let mut cutter = Cutter::new(text);
    for block in block::parse(text) {
        cutter.add(block);
    }
    cutter.pop(|_| false);
    cutter.passages
}

/// Cuts a long message: its facts belong together, and are parted only to be of
/// a size that can be shown.
#[must_use]
pub fn pages(text: &str) -> Vec<Range<usize>> {
    let mut pages: Vec<Range<usize>> = Vec::new();
    let mut size = usize::MAX;
    for passage in cut(text) {
        match pages.last_mut() {
            Some(page) if size + passage.tokens <= TARGET => {
                page.end = passage.range.end;
                size += passage.tokens;
            }
            _ => {
                // What was context only is on the page of what it stands above.
                let start = pages.last().map_or(0, |page| page.end);
                pages.push(start..passage.range.end);
                size = passage.tokens;
            }
        }
    }
    let trim = |page: Range<usize>| {
        let shown = &text[page.clone()];
        let start = page.end - shown.trim_start().len();
        start..page.end
    };
    pages.into_iter().map(trim).collect()
}

/// What the next blocks stand under.
struct Frame {
    kind: Kind,
    title: String,
    block: Block,
    /// The item before it that it means with "he" or "its".
    meant: Option<String>,
    /// Whether something came under it, or it is a passage already.
    is_used: bool,
}

struct Cutter<'a> {
    text: &'a str,
    passages: Vec<Passage>,
    frames: Vec<Frame>,
    /// The block before.
    last: Option<Kind>,
    /// What the lines of a paragraph are about, as the first of them says: "Filou, a ginger cat".
    subject: Option<String>,
    begins: bool,
}

impl<'a> Cutter<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            passages: Vec::new(),
            frames: Vec::new(),
            last: None,
            subject: None,
            begins: true,
        }
    }

    fn add(&mut self, block: Block) {
        let text = &self.text[block.range.clone()];
        if !text.contains(char::is_alphanumeric) {
            return;
        }
        let kind = block.kind;
        let last = self.last.replace(kind);
        let is_led = last == Some(Kind::Lead);
        let is_list = matches!(last, Some(Kind::Item(_)));
        let meant = self.meant(kind, text);
        let goes_on = kind == Kind::Paragraph && last == Some(kind) && !block.is_apart;
        if !goes_on {
            let is_paragraph = kind == Kind::Paragraph;
            self.subject = is_paragraph.then(|| block::subject(text)).flatten();
        }
        let subject = self.subject.clone();
        let subject = subject.filter(|_| goes_on && !block::is_labelled(text));
        match kind {
            Kind::Heading(level) => {
                self.pop(|frame| matches!(frame, Kind::Heading(other) if other < level));
                self.begins = true;
            }
            Kind::Item(indent) => self.pop(|frame| match frame {
                Kind::Item(other) => other < indent,
                Kind::Lead => is_led || is_list,
                frame => frame != Kind::Columns,
            }),
            Kind::Columns => self.pop(|frame| match frame {
                Kind::Lead => is_led,
                frame => matches!(frame, Kind::Heading(_)),
            }),
            Kind::Row => {}
            Kind::Lead => self.pop(|frame| matches!(frame, Kind::Heading(_) | Kind::Title)),
            Kind::Title => self.pop(|_| false),
            Kind::Paragraph | Kind::Code => {
                let is_apart = block.is_apart;
                self.pop(|frame| match frame {
                    Kind::Lead => is_led || !is_apart,
                    Kind::Title => !is_apart,
                    frame => matches!(frame, Kind::Heading(_)),
                });
            }
        }
        match kind {
            Kind::Heading(_) | Kind::Columns | Kind::Lead => {
                self.use_all();
                self.push(block, None, false);
            }
            Kind::Item(_) | Kind::Title => {
                self.emit(&block, meant.as_ref());
                self.push(block, meant, true);
            }
            Kind::Row | Kind::Paragraph | Kind::Code => self.emit(&block, subject.as_ref()),
        }
    }

    /// Leaves the frames that `stays` does not name, and those in them. What had
    /// nothing under it is a passage.
    fn pop(&mut self, stays: impl Fn(Kind) -> bool) {
        let kept = self.frames.iter().take_while(|frame| stays(frame.kind));
        let kept = kept.count();
        if kept < self.frames.len()
            && let Some(last) = self.frames.last().filter(|frame| !frame.is_used)
        {
            let block = last.block.clone();
            let context = self.titles(self.frames.len() - 1);
            self.use_all();
            self.put(&block, context);
        }
        self.frames.truncate(kept);
    }

    fn use_all(&mut self) {
        self.frames
            .iter_mut()
            .for_each(|frame| frame.is_used = true);
    }

    /// The item of the same list that an item speaks of: "- His cat is called Pixel"
    /// below "- Our neighbour is Emre".
    fn meant(&self, kind: Kind, text: &str) -> Option<String> {
        let is_item = matches!(kind, Kind::Item(_));
        if !is_item || !analysis::refers_back(text) {
            return None;
        }
        let before = self.frames.iter().rev().find(|frame| frame.kind == kind)?;
        Some(before.meant.clone().unwrap_or_else(|| before.title.clone()))
    }

    fn push(&mut self, block: Block, meant: Option<String>, is_used: bool) {
        self.frames.push(Frame {
            kind: block.kind,
            title: title(&self.text[block.range.clone()]),
            meant,
            block,
            is_used,
        });
    }

    /// What the first `count` frames say.
    fn titles(&self, count: usize) -> Vec<String> {
        let titles = self.frames[..count].iter().map(|frame| &frame.title);
        titles.cloned().collect()
    }

    fn emit(&mut self, block: &Block, meant: Option<&String>) {
        self.use_all();
        let mut context = self.titles(self.frames.len());
        context.extend(meant.cloned());
        let limit = match block.kind {
            Kind::Code | Kind::Item(_) => 2 * TARGET,
            _ => TARGET,
        };
        if block.tokens <= limit {
            return self.put(block, context);
        }
        let mut pieces = block::pieces(self.text, block, PIECE).into_iter();
        let Some(mut open) = pieces.next() else {
            return;
        };
        for piece in pieces {
            if open.tokens + piece.tokens > TARGET {
                self.put(&open, context.clone());
                open = piece;
            } else {
                open.range.end = piece.range.end;
                open.tokens += piece.tokens;
            }
        }
        self.put(&open, context);
    }

    fn put(&mut self, block: &Block, context: Vec<String>) {
        self.passages.push(Passage {
            range: block.range.clone(),
            line: block.line,
            context,
            tokens: block.tokens,
            begins: std::mem::take(&mut self.begins),
        });
    }
}

/// A heading, an item or columns as the name of what is under them.
fn title(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let line = line.trim_matches(|c: char| c.is_whitespace() || matches!(c, '#' | '|' | '*'));
    let marker = line.strip_prefix(['-', '+']).unwrap_or(line);
    let line = marker.trim_start().trim_end_matches([':', '：']);
    line.chars().take(TITLE).collect()
}

/// The most of what stands above that is context, in characters.
const TITLE: usize = 200;

#[cfg(test)]
mod tests;
