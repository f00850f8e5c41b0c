//! Text that is still being written: what cannot change any more is given out, the
//! rest is a draft.

use std::collections::BTreeMap;
use std::ops::Range;

use pulldown_cmark::{BrokenLink, CodeBlockKind, CowStr, Event, Options, Parser, Tag};

use crate::block::{Blocks, code_line, label, language};
use crate::code::Code;
use crate::span::NARROWEST;
use crate::span::{Line, write};

/// The most blanks before a fence.
const FENCE_INDENT: usize = 3;
/// What opens and closes a block of code at least.
const FENCES: [&str; 2] = ["```", "~~~"];

/// Lays out text as it comes.
pub struct Stream {
    columns: usize,
    /// What may still change with what follows.
    pending: String,
    fence: Option<Fence>,
    /// Addresses that links name, as far as they were given.
    definitions: BTreeMap<String, String>,
    /// The last character was a carriage return.
    is_after_return: bool,
    has_output: bool,
    /// What follows stands apart.
    is_apart: bool,
}

/// What is shown of the text that may still change.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Draft {
    /// Without line ends.
    pub lines: Vec<String>,
}

/// A block of code that is open. Its lines are final one by one.
struct Fence {
    mark: char,
    length: usize,
    indent: usize,
    code: Code,
}

/// Where the last block begins.
struct Last {
    at: usize,
    /// Blocks before it are whole; whether it stands apart from them.
    is_apart: bool,
    /// The range of the opening fence's block, and what it says.
    fence: Option<String>,
    /// Nothing goes on with it behind an empty line.
    ends_at_blank: bool,
}

impl Stream {
    /// For a terminal of that many columns.
    #[must_use]
    pub fn new(columns: usize) -> Self {
        Self {
            columns: columns.max(NARROWEST),
            pending: String::new(),
            fence: None,
            definitions: BTreeMap::new(),
            is_after_return: false,
            has_output: false,
            is_apart: true,
        }
    }

    /// From now on lines have that many columns.
    pub fn resize(&mut self, columns: usize) {
        self.columns = columns.max(NARROWEST);
    }

    /// Takes more text; the lines that became final, each with its end.
    pub fn push(&mut self, text: &str) -> String {
        self.take_in(text);
        self.define(self.whole_lines());
        let mut out = String::new();
        while self.advance(&mut out) {}
        out
    }

    /// Line ends of other systems become ours: they end lines here too.
    fn take_in(&mut self, text: &str) {
        for c in text.chars() {
            let is_second = std::mem::replace(&mut self.is_after_return, c == '\r') && c == '\n';
            match c {
                '\r' | '\n' if !is_second => {
                    self.trim_fence();
                    self.pending.push('\n');
                }
                _ if is_second => {}
                c => self.pending.push(c),
            }
        }
    }

    /// Takes tabs behind marks of a fence away: the parser ends a block of code at
    /// such a line only when blanks alone follow, `CommonMark` (0.31, 4.5) also when
    /// tabs do.
    fn trim_fence(&mut self) {
        let marks = self.pending.trim_end_matches([' ', '\t']);
        let length = marks.len();
        let is_fence = FENCES.iter().any(|fence| marks.ends_with(fence));
        if is_fence && self.pending[length..].contains('\t') {
            self.pending.truncate(length);
        }
    }

    /// The rest, which nothing follows.
    pub fn finish(&mut self) -> String {
        let mut out = String::new();
        self.trim_fence();
        if let Some(mut fence) = self.fence.take() {
            let rest = std::mem::take(&mut self.pending);
            if !rest.is_empty() && !fence.is_closed_by(&rest) {
                let line = fence.line(&rest);
                out.push_str(&lines_of([line]));
            }
            self.is_apart = true;
            return out;
        }
        let length = self.pending.len();
        self.define(length);
        self.commit(length, true, &mut out);
        out
    }

    /// What is not final yet.
    #[must_use]
    pub fn draft(&self) -> Draft {
        let lines = match &self.fence {
            Some(fence) if self.pending.is_empty() || fence.is_closed_by(&self.pending) => {
                Vec::new()
            }
            Some(fence) => {
                let text = fence.content(&self.pending);
                vec![code_line(&mut Code::begin(""), text)]
            }
            None => self.lay_out(&self.pending),
        };
        let mut lines: Vec<String> = lines.iter().map(|line| write(line)).collect();
        let stands_apart = self.fence.is_none() && self.has_output && self.is_apart;
        if stands_apart && !lines.is_empty() {
            lines.insert(0, String::new());
        }
        Draft { lines }
    }

    /// Gives out what became final; whether there may be more.
    fn advance(&mut self, out: &mut String) -> bool {
        if self.fence.is_some() {
            return self.take_code(out);
        }
        let Some(last) = self.last() else {
            return false;
        };
        if let Some(info) = last.fence {
            self.commit(last.at, true, out);
            self.open_fence(&info, out);
            return true;
        }
        let length = self.whole_lines();
        if last.ends_at_blank && ends_blank(&self.pending[..length]) {
            self.commit(length, true, out);
        } else if last.at > 0 {
            self.commit(last.at, last.is_apart, out);
        }
        false
    }

    /// The bytes of the lines that have an end.
    fn whole_lines(&self) -> usize {
        self.pending.rfind('\n').map_or(0, |end| end + 1)
    }

    /// Lays out the first `length` bytes for good.
    fn commit(&mut self, length: usize, is_apart: bool, out: &mut String) {
        let rest = self.pending.split_off(length);
        let done = std::mem::replace(&mut self.pending, rest);
        let lines = self.lay_out(&done);
        if lines.is_empty() {
            return;
        }
        self.stand_apart(out);
        out.push_str(&lines_of(lines));
        self.is_apart = is_apart;
    }

    fn stand_apart(&mut self, out: &mut String) {
        if self.has_output && self.is_apart {
            out.push('\n');
        }
        self.has_output = true;
    }

    fn lay_out(&self, text: &str) -> Vec<Line> {
        let mut blocks = Blocks::new(self.columns);
        let mut known = |link: BrokenLink<'_>| self.defined(&link.reference);
        for event in Parser::new_with_broken_link_callback(text, options(), Some(&mut known)) {
            blocks.read(event);
        }
        blocks.finish()
    }

    /// Remembers the addresses that are given names in the first `length` bytes.
    fn define(&mut self, length: usize) {
        let text = &self.pending[..length];
        if !text.contains("]:") {
            return;
        }
        let parser = Parser::new_ext(text, options());
        for (name, definition) in parser.reference_definitions().iter() {
            let name = name.to_lowercase();
            self.definitions
                .entry(name)
                .or_insert_with(|| definition.dest.to_string());
        }
    }

    fn defined(&self, name: &str) -> Option<(CowStr<'static>, CowStr<'static>)> {
        let target = self.definitions.get(&name.to_lowercase())?;
        Some((target.clone().into(), CowStr::Borrowed("")))
    }

    /// The last block of what is pending, or the last item of a list that it is.
    fn last(&self) -> Option<Last> {
        let mut depth = 0_usize;
        let mut last: Option<(Range<usize>, Event<'_>)> = None;
        let mut items: Vec<usize> = Vec::new();
        // A line that is not whole may turn out to be of the block before it.
        let whole = &self.pending[..self.whole_lines()];
        for (event, range) in Parser::new_ext(whole, options()).into_offset_iter() {
            match &event {
                Event::Start(tag) => {
                    if depth == 0 {
                        items.clear();
                    } else if depth == 1 && matches!(tag, Tag::Item) {
                        items.push(range.start);
                    }
                    depth += 1;
                    if depth == 1 {
                        last = Some((range, event));
                    }
                }
                Event::End(_) => depth -= 1,
                _ if depth == 0 => last = Some((range, event)),
                _ => {}
            }
        }
        let (range, event) = last?;
        let at = line_start(&self.pending, range.start);
        if let Event::Start(Tag::CodeBlock(CodeBlockKind::Fenced(info))) = &event
            && self.pending[range.start..].contains('\n')
        {
            return Some(Last {
                at,
                is_apart: true,
                fence: Some(info.to_string()),
                ends_at_blank: false,
            });
        }
        if let (Event::Start(Tag::List(_)), [_, .., item]) = (&event, items.as_slice()) {
            let at = line_start(&self.pending, *item);
            return Some(Last {
                at,
                is_apart: ends_blank(&self.pending[..at]),
                fence: None,
                ends_at_blank: false,
            });
        }
        Some(Last {
            at,
            is_apart: true,
            fence: None,
            ends_at_blank: matches!(
                event,
                Event::Rule | Event::Start(Tag::Paragraph | Tag::Heading { .. } | Tag::Table(_))
            ),
        })
    }

    /// Takes the line that opens a block of code.
    fn open_fence(&mut self, info: &str, out: &mut String) {
        let (line, rest) = self.pending.split_once('\n').unwrap_or((&self.pending, ""));
        let inside = line.trim_start_matches(' ');
        let indent = (line.len() - inside.len()).min(FENCE_INDENT);
        let mark = inside.chars().next().unwrap_or('`');
        let length = inside.chars().take_while(|it| *it == mark).count();
        self.pending = rest.to_owned();
        self.stand_apart(out);
        out.push_str(&lines_of(label(info)));
        self.fence = Some(Fence {
            mark,
            length,
            indent,
            code: Code::begin(language(info)),
        });
        self.is_apart = false;
    }

    /// Takes lines of code; whether the block has ended.
    fn take_code(&mut self, out: &mut String) -> bool {
        while let Some((line, rest)) = self.pending.split_once('\n') {
            let (line, rest) = (line.to_owned(), rest.to_owned());
            self.pending = rest;
            let Some(fence) = &mut self.fence else {
                return true;
            };
            if fence.is_closed_by(&line) {
                self.fence = None;
                self.is_apart = true;
                return true;
            }
            let line = fence.line(&line);
            out.push_str(&lines_of([line]));
        }
        false
    }
}

impl Fence {
    fn is_closed_by(&self, line: &str) -> bool {
        let inside = line.trim_start_matches(' ');
        let marks = inside.chars().take_while(|it| *it == self.mark).count();
        line.len() - inside.len() <= FENCE_INDENT
            && marks >= self.length
            && inside.trim_start_matches(self.mark).trim().is_empty()
    }

    /// The line without the indent that its fence has.
    fn content<'a>(&self, line: &'a str) -> &'a str {
        let blanks = line.len() - line.trim_start_matches(' ').len();
        &line[blanks.min(self.indent)..]
    }

    fn line(&mut self, line: &str) -> Line {
        let text = self.content(line).to_owned();
        code_line(&mut self.code, &text)
    }
}

fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
}

fn lines_of(lines: impl IntoIterator<Item = Line>) -> String {
    lines.into_iter().map(|line| write(&line) + "\n").collect()
}

fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

fn ends_blank(text: &str) -> bool {
    let mut lines = text.lines().rev();
    lines.next().is_some_and(|line| line.trim().is_empty())
}

#[cfg(test)]
mod tests;
