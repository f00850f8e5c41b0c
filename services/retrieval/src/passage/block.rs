//! The blocks of a Markdown text, as far as tearing them would hurt.

use std::ops::Range;

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// `#` to `######`.
    Heading(u8),
    /// Between fences; to the end of the text when the second is missing, as
    /// CommonMark has it.
    Code,
    /// One item of a list with everything under it.
    Item,
    /// Lines up to a blank one.
    Paragraph,
}

/// Lines that belong together.
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) kind: Kind,
    /// In bytes, without the last line break.
    pub(super) range: Range<usize>,
    /// The first line, counted from 1.
    pub(super) line: usize,
    pub(super) tokens: usize,
}

/// An estimate, in tokens: four characters of ASCII text are about one token,
/// a Chinese or Japanese character is one, others are between.
pub(super) fn tokens(text: &str) -> usize {
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
pub(super) fn parse(text: &str) -> Vec<Block> {
    let mut parser = Parser {
        text,
        blocks: Vec::new(),
        open: None,
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
pub(super) fn pieces(text: &str, block: &Block, limit: usize) -> Vec<Block> {
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
}

struct Open {
    kind: Kind,
    range: Range<usize>,
    line: usize,
    /// The indent of an item, or the length of a fence.
    width: usize,
    fence: char,
    /// Whether the last line was blank.
    loose: bool,
}

impl Parser<'_> {
    fn line(&mut self, line: &str, range: Range<usize>, number: usize) {
        let indent = line.len() - line.trim_start().len();
        let content = line.trim();
        match self.open.as_mut().map(|open| (open.kind, open)) {
            Some((Kind::Code, open)) => {
                open.range.end = range.end;
                let marks = content.chars().take_while(|&c| c == open.fence).count();
                if marks >= open.width && marks == content.chars().count() {
                    self.close();
                }
                return;
            }
            Some((Kind::Item, open)) if content.is_empty() => {
                open.loose = true;
                return;
            }
            // What is indented deeper is the item's own, and so is a lazy
            // line right after it.
            Some((Kind::Item, open))
                if indent > open.width || !(open.loose || is_start(content)) =>
            {
                open.loose = false;
                open.range.end = range.end;
                return;
            }
            Some((Kind::Paragraph, open)) if !content.is_empty() && !is_start(content) => {
                open.range.end = range.end;
                return;
            }
            _ => {}
        }
        self.close();
        if !content.is_empty() {
            self.begin(content, indent, range, number);
        }
    }

    fn begin(&mut self, content: &str, indent: usize, range: Range<usize>, line: usize) {
        let heading = heading_level(content).map(Kind::Heading);
        let fence = fence(content);
        let kind = match (heading, fence) {
            (Some(heading), _) => heading,
            (None, Some(_)) => Kind::Code,
            (None, None) if is_item(content) => Kind::Item,
            _ => Kind::Paragraph,
        };
        let (fence, width) = fence.unwrap_or((' ', indent));
        self.open = Some(Open {
            kind,
            range,
            line,
            width,
            fence,
            loose: false,
        });
        if heading.is_some() {
            self.close();
        }
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            self.blocks.push(Block {
                kind: open.kind,
                tokens: tokens(&self.text[open.range.clone()]),
                range: open.range,
                line: open.line,
            });
        }
    }
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
