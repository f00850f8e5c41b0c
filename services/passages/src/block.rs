//! The blocks of a Markdown text, as far as tearing them would hurt.

use std::ops::Range;

/// Lines at least so long are wrapped text; in letters.
const WRAPPED: usize = 60;
/// A line that names what comes after it is no longer than this,
const LEAD: usize = 60;
/// and a name before a colon is no longer than this.
const LABEL: usize = 30;
/// The most words of a title.
const TITLE_WORDS: usize = 3;
/// The shortest line under a heading.
const RULE: usize = 3;

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `#` to `######`, or underlined.
    Heading(u8),
    /// Between fences; to the end of the text when the second is missing, as
    /// CommonMark has it.
    Code,
    /// One item of a list with what belongs to it, but not the items below it;
    /// and how far it is indented.
    Item(usize),
    /// The names of a table's columns, with the line under them.
    Columns,
    /// A row of a table.
    Row,
    /// A line that says what comes after it is about: "Shopping:", "**Car**".
    Lead,
    /// A first line of a word or three that the lines below are about, and which may
    /// be a fact itself.
    Title,
    /// Lines that are one text.
    Paragraph,
}

/// Lines that belong together.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) kind: Kind,
    /// In bytes, without the last line break.
    pub(crate) range: Range<usize>,
    /// The first line, counted from 1.
    pub(crate) line: usize,
    pub(crate) tokens: usize,
    /// Whether a blank line, or nothing, is before it.
    pub(crate) is_apart: bool,
}

/// An estimate, in tokens: four characters of ASCII text are about one token,
/// a Chinese or Japanese character is one, others are between.
pub(crate) fn tokens(text: &str) -> usize {
    text.chars().map(quarters).sum::<usize>().div_ceil(4)
}

fn quarters(character: char) -> usize {
    match character {
        _ if character.is_ascii() => 1,
        '\u{2e80}'.. => 4,
        _ => 2,
    }
}

/// The blocks of `text` in order.
pub(crate) fn parse(text: &str) -> Vec<Block> {
    let mut parser = Parser {
        text,
        blocks: Vec::new(),
        open: None,
        is_apart: true,
    };
    let mut start = 0;
    for (index, line) in text.split('\n').enumerate() {
        let range = start..start + line.len();
        start = range.end + 1;
        parser.line(line.trim_end_matches('\r'), range, index + 1);
    }
    parser.close();
    parser.blocks
}

/// The lines of a block that is too large, those longer than `limit` tokens
/// cut between words.
pub(crate) fn pieces(text: &str, block: &Block, limit: usize) -> Vec<Block> {
    let mut pieces = Vec::new();
    let mut start = block.range.start;
    for (index, line) in text[block.range.clone()].split('\n').enumerate() {
        let mut rest = start..start + line.len();
        start = rest.end + 1;
        while !rest.is_empty() {
            let length = prefix(&text[rest.clone()], limit);
            let range = rest.start..rest.start + length;
            rest.start = range.end;
            pieces.push(Block {
                kind: Kind::Paragraph,
                tokens: tokens(&text[range.clone()]),
                range,
                line: block.line + index,
                is_apart: index == 0 && block.is_apart,
            });
        }
    }
    pieces
}

/// The length of the start of `line` that has `limit` tokens, up to a space
/// when there is one in its second half.
fn prefix(line: &str, limit: usize) -> usize {
    let mut room = limit * 4;
    let fits = line.char_indices().find_map(|(index, character)| {
        let needed = quarters(character);
        let over = room < needed;
        room = room.saturating_sub(needed);
        over.then_some(index)
    });
    let Some(end) = fits else {
        return line.len();
    };
    match line[..end].rfind(' ') {
        Some(space) if space > end / 2 => space + 1,
        _ => end,
    }
}

struct Parser<'a> {
    text: &'a str,
    blocks: Vec<Block>,
    open: Option<Open>,
    /// Whether the last line was blank.
    is_apart: bool,
}

struct Open {
    kind: Kind,
    range: Range<usize>,
    line: usize,
    is_apart: bool,
    /// The fence that was opened, in an item too.
    fence: Option<(char, usize)>,
    /// Whether the last line was blank.
    loose: bool,
}

impl Parser<'_> {
    fn line(&mut self, line: &str, range: Range<usize>, number: usize) {
        let indent = line.len() - line.trim_start().len();
        let content = line.trim();
        let taken = self.goes_on(content, indent, &range);
        if !taken {
            self.close();
            if !content.is_empty() {
                self.begin(content, indent, range, number);
            }
        }
        self.is_apart = content.is_empty();
    }

    /// Whether the line was taken into the block that is open.
    fn goes_on(&mut self, content: &str, indent: usize, range: &Range<usize>) -> bool {
        let Some(open) = self.open.as_mut() else {
            return false;
        };
        if let Some((mark, width)) = open.fence {
            open.range.end = range.end;
            let marks = content.chars().take_while(|&c| c == mark).count();
            if marks >= width && marks == content.chars().count() {
                open.fence = None;
                if open.kind == Kind::Code {
                    self.close();
                }
            }
            return true;
        }
        match open.kind {
            Kind::Item(_) if content.is_empty() => {
                open.loose = true;
                true
            }
            // What is indented deeper is the item's own, and so is a lazy line
            // right after it.
            Kind::Item(own) if is_under(content, indent, own, open.loose) => {
                open.loose = false;
                open.fence = fence(content);
                open.range.end = range.end;
                true
            }
            Kind::Columns | Kind::Row if content.contains('|') => {
                let line = open.line + self.text[open.range.clone()].matches('\n').count() + 1;
                self.close();
                self.start(Kind::Row, range.clone(), line);
                true
            }
            Kind::Paragraph if content.is_empty() || is_start(content) => false,
            Kind::Paragraph => {
                let last = self.text[open.range.clone()].lines().next_back();
                let last = last.unwrap_or_default();
                if let Some(kind) = underlined(last, content) {
                    self.end_before(last.len(), kind, range.end);
                } else {
                    open.range.end = range.end;
                }
                true
            }
            _ => false,
        }
    }

    /// The last line of the paragraph that is open, `length` bytes, turns out to
    /// begin a block of another kind, to `end`.
    fn end_before(&mut self, length: usize, kind: Kind, end: usize) {
        let Some(open) = self.open.as_mut() else {
            return;
        };
        let start = open.range.end - length;
        let line = open.line + self.text[open.range.start..start].matches('\n').count();
        if start > open.range.start {
            open.range.end = start - 1;
            self.close();
        } else {
            self.open = None;
        }
        self.start(kind, start..end, line);
        if matches!(kind, Kind::Heading(_)) {
            self.close();
        }
    }

    fn begin(&mut self, content: &str, indent: usize, range: Range<usize>, line: usize) {
        let heading = heading_level(content).map(Kind::Heading);
        let fence = fence(content);
        let kind = match (heading, fence) {
            (Some(heading), _) => heading,
            (None, Some(_)) => Kind::Code,
            (None, None) if is_item(content) => Kind::Item(indent),
            _ => Kind::Paragraph,
        };
        self.start(kind, range, line);
        if let Some(open) = self.open.as_mut() {
            open.fence = fence;
        }
        if heading.is_some() {
            self.close();
        }
    }

    fn start(&mut self, kind: Kind, range: Range<usize>, line: usize) {
        self.open = Some(Open {
            kind,
            range,
            line,
            is_apart: self.is_apart,
            fence: None,
            loose: false,
        });
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        if open.kind == Kind::Paragraph {
            self.close_paragraph(&open);
        } else {
            self.push(open.kind, open.range, open.line, open.is_apart);
        }
    }

    /// Lines that are facts of their own, one under the other, are blocks of
    /// their own; lines of a text that was wrapped are one.
    fn close_paragraph(&mut self, open: &Open) {
        let lines: Vec<&str> = self.text[open.range.clone()].split('\n').collect();
        let (mut start, mut first) = (open.range.start, 0);
        let mut end = open.range.start;
        for (index, line) in lines.iter().enumerate() {
            end += line.len();
            let next = lines.get(index + 1);
            if !next.is_some_and(|next| goes_into(line, next)) {
                let is_apart = first == 0 && open.is_apart;
                let is_above = next.is_some_and(|next| next.contains(char::is_alphanumeric));
                let is_first = first == 0 && self.blocks.is_empty() && is_above;
                let kind = match &self.text[start..end] {
                    text if is_lead(text) => Kind::Lead,
                    text if is_first && is_title(text) => Kind::Title,
                    _ => Kind::Paragraph,
                };
                self.push(kind, start..end, open.line + first, is_apart);
                start = end + 1;
                first = index + 1;
            }
            end += 1;
        }
    }

    fn push(&mut self, kind: Kind, range: Range<usize>, line: usize, is_apart: bool) {
        let text = &self.text[range.clone()];
        self.blocks.push(Block {
            kind,
            tokens: tokens(text),
            range,
            line,
            is_apart,
        });
    }
}

/// Whether a line belongs to the item that is indented by `own`.
fn is_under(content: &str, indent: usize, own: usize, loose: bool) -> bool {
    if is_item(content) || heading_level(content).is_some() {
        return false;
    }
    indent > own || !(loose || is_start(content))
}

/// What a line is that has `under` under it.
fn underlined(line: &str, under: &str) -> Option<Kind> {
    let is_all = |mark: char| under.len() >= RULE && under.chars().all(|c| c == mark);
    let is_rule = under.contains('-') && under.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
    if is_rule && under.contains('|') && line.contains('|') {
        Some(Kind::Columns)
    } else if is_all('=') {
        Some(Kind::Heading(1))
    } else if is_all('-') {
        Some(Kind::Heading(2))
    } else {
        None
    }
}

/// Whether `next` goes on with the sentence or the text of `line`: lines are
/// wrapped where they are long, and a list of facts is not.
fn goes_into(line: &str, next: &str) -> bool {
    if line.ends_with("  ") || line.ends_with('\\') || is_lead(line) || label(next).is_some() {
        return false;
    }
    let goes_on = next.trim_start().starts_with(char::is_lowercase);
    let is_open = line.trim_end().ends_with([',', '、', '，', '(']);
    goes_on || is_open || columns(line) >= WRAPPED
}

/// Whether a line names what comes after it.
fn is_lead(text: &str) -> bool {
    let text = text.trim();
    if text.contains('\n') || columns(text) > LEAD {
        return false;
    }
    let bold = text
        .strip_prefix("**")
        .and_then(|text| text.strip_suffix("**"));
    text.ends_with([':', '：']) || bold.is_some_and(|inner| !inner.contains("**"))
}

/// Whether a first line says what is below it: a few words, and no number, mark or
/// word such as "in".
fn is_title(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_plain = |c: char| c.is_alphabetic() || matches!(c, ' ' | '-' | '\'' | '’');
    let says_little = |word: &&str| {
        let mut languages = openclaw_analysis::Languages::all().iter();
        let lower = word.to_lowercase();
        languages.any(|language| openclaw_analysis::is_stop_word(&lower, language))
    };
    (1..=TITLE_WORDS).contains(&words.len())
        && columns(text) <= LABEL
        && text.chars().all(is_plain)
        && !words.iter().any(says_little)
}

/// What a first line says that it is about, before a comma or a colon.
pub(crate) fn subject(text: &str) -> Option<String> {
    let end = text.find([',', ':', '、', '，', '：'])?;
    let subject = text[..end].trim();
    (is_title(subject) && !subject.starts_with(char::is_lowercase)).then(|| subject.to_owned())
}

/// Whether a line says itself what it is about.
pub(crate) fn is_labelled(line: &str) -> bool {
    label(line).is_some()
}

/// What stands before a colon at the beginning of a line, where that is a name
/// of something: "Wi-Fi: …".
fn label(line: &str) -> Option<&str> {
    let (label, rest) = line.trim_start().split_once([':', '：'])?;
    let is_wide = line.contains('：') || rest.starts_with(' ') || rest.is_empty();
    let is_name = columns(label) <= LABEL && !label.contains(['.', ',', '!', '?']);
    (is_wide && is_name && label.starts_with(|c: char| c.is_alphanumeric() || c == '*'))
        .then_some(label)
}

/// How wide a text is shown, in letters.
fn columns(text: &str) -> usize {
    text.chars()
        .map(|c| if c < '\u{2e80}' { 1 } else { 2 })
        .sum()
}

fn is_start(content: &str) -> bool {
    heading_level(content).is_some() || fence(content).is_some() || is_item(content)
}

fn heading_level(content: &str) -> Option<u8> {
    let title = content.trim_start_matches('#');
    let level = u8::try_from(content.len() - title.len()).ok()?;
    let separate = title.is_empty() || title.starts_with([' ', '\t']);
    ((1..=6).contains(&level) && separate).then_some(level)
}

/// The character and the length of a code fence.
fn fence(content: &str) -> Option<(char, usize)> {
    let mark = content.chars().next().filter(|c| matches!(c, '`' | '~'))?;
    let length = content.chars().take_while(|&c| c == mark).count();
    let inline = mark == '`' && content[length..].contains('`');
    (length >= 3 && !inline).then_some((mark, length))
}

fn is_item(content: &str) -> bool {
    let digits = content.trim_start_matches(|c: char| c.is_ascii_digit());
    let marker = match content.len() - digits.len() {
        0 => content.strip_prefix(['-', '*', '+']),
        // CommonMark's limit; longer numbers are not counting a list.
        1..=9 => digits.strip_prefix(['.', ')']),
        _ => None,
    };
    marker.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

#[cfg(test)]
mod tests;
