//! Markdown as models write it (CommonMark with tables, task lists and struck text).

use std::sync::Arc;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::{Rich, Style};

/// A line between parts.
const RULE: &str = "———";
/// How far an item of a list within a list is moved in,
const INDENT: &str = "  ";
/// and how many lists deep: a line of a thousand marks would be a thousand lines, each moved in
/// further than the one before.
const DEPTH: usize = 12;
/// Characters of a column up to which the cells below each other are filled up: a wide one would be
/// paid for in each row.
const COLUMN: usize = 48;

/// What `markdown` says. Nothing that it shows is left out; HTML in it is text.
pub fn read(markdown: &str) -> Rich {
    let options =
        Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TABLES | Options::ENABLE_TASKLISTS;
    let mut reader = Reader::default();
    for event in Parser::new_ext(markdown, options) {
        reader.take(event);
    }
    reader.rich
}

#[derive(Default)]
struct Reader {
    rich: Rich,
    style: Style,
    bold: usize,
    italic: usize,
    struck: usize,
    quotes: usize,
    /// The lists that are open: the number of the next item, if they have numbers.
    lists: Vec<Option<u64>>,
    /// Links that are open, the place where their text begins with them.
    links: Vec<(Arc<str>, Place)>,
    /// An item's mark was just written: what follows stands beside it.
    is_beside_mark: bool,
    table: Option<Table>,
}

#[derive(Default)]
struct Table {
    rows: Vec<Vec<String>>,
}

impl Reader {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.begin(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.say(&text),
            Event::Code(code) => self.code(&code),
            Event::Html(html) | Event::InlineHtml(html) => self.say(&html),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.say(&text),
            Event::FootnoteReference(name) => self.say(&format!("[^{name}]")),
            Event::SoftBreak | Event::HardBreak => self.say("\n"),
            Event::Rule => {
                self.part(2);
                self.say(RULE);
            }
            Event::TaskListMarker(is_done) => {
                let mark = if is_done { "☑ " } else { "☐ " };
                self.say(mark);
                self.is_beside_mark = true;
            }
        }
    }

    fn begin(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.block(),
            Tag::Heading { .. } => {
                self.part(2);
                self.bold += 1;
            }
            Tag::BlockQuote(_) => {
                self.part(2);
                self.quotes += 1;
            }
            Tag::CodeBlock(kind) => {
                self.block();
                self.style.block = Some(language(&kind));
            }
            Tag::List(first) => {
                let gap = if self.lists.is_empty() { 2 } else { 1 };
                self.part(gap);
                self.lists.push(first);
            }
            Tag::Item => self.item(),
            Tag::Emphasis => self.italic += 1,
            Tag::Strong => self.bold += 1,
            Tag::Strikethrough => self.struck += 1,
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                let begin = place(&self.rich);
                self.links.push((dest_url.as_ref().into(), begin));
            }
            Tag::Table(_) => {
                self.part(2);
                self.table = Some(Table::default());
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.rows.push(Vec::new());
                }
            }
            Tag::TableCell => {
                let row = self.table.as_mut().and_then(|table| table.rows.last_mut());
                if let Some(row) = row {
                    row.push(String::new());
                }
            }
            _ => {}
        }
        self.restyle();
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) | TagEnd::Strong => self.bold = self.bold.saturating_sub(1),
            TagEnd::Emphasis => self.italic = self.italic.saturating_sub(1),
            TagEnd::Strikethrough => self.struck = self.struck.saturating_sub(1),
            TagEnd::BlockQuote(_) => self.quotes = self.quotes.saturating_sub(1),
            TagEnd::CodeBlock => self.style.block = None,
            TagEnd::List(_) => {
                self.lists.pop();
                self.is_beside_mark = false;
            }
            TagEnd::Link | TagEnd::Image => self.end_link(),
            TagEnd::Table => {
                if let Some(table) = self.table.take() {
                    self.show(&table);
                }
            }
            _ => {}
        }
        self.restyle();
    }

    fn restyle(&mut self) {
        self.style.is_bold = self.bold > 0;
        self.style.is_italic = self.italic > 0;
        self.style.is_struck = self.struck > 0;
        self.style.is_quoted = self.quotes > 0;
        self.style.link = self
            .links
            .last()
            .map(|(target, _)| Arc::clone(target))
            .filter(|target| leads_somewhere(target));
    }

    fn say(&mut self, text: &str) {
        if let Some(cell) = self.cell() {
            cell.push_str(&text.replace('\n', " "));
            return;
        }
        // The line break before the closing fence is none of the code.
        self.is_beside_mark = false;
        self.rich.push(text, &self.style);
    }

    fn code(&mut self, code: &str) {
        if let Some(cell) = self.cell() {
            cell.push_str(code);
            return;
        }
        self.is_beside_mark = false;
        let style = Style {
            is_code: true,
            ..self.style.clone()
        };
        self.rich.push(code, &style);
    }

    fn cell(&mut self) -> Option<&mut String> {
        self.table.as_mut()?.rows.last_mut()?.last_mut()
    }

    /// What a link without text leads to, or one that cannot be pressed, is said.
    fn end_link(&mut self) {
        let Some((target, begin)) = self.links.pop() else {
            return;
        };
        let is_empty = self.table.is_none() && place(&self.rich) == begin;
        if is_empty {
            let style = Style {
                link: Some(Arc::clone(&target)).filter(|it| leads_somewhere(it)),
                ..self.style.clone()
            };
            self.rich.push(&target, &style);
        } else if !leads_somewhere(&target) && !ends_with(&self.rich, &target) {
            self.restyle();
            self.say(&format!(" ({target})"));
        }
    }

    /// A paragraph or a block of code begins.
    fn block(&mut self) {
        if self.is_beside_mark {
            return;
        }
        self.part(2);
    }

    fn item(&mut self) {
        self.part(1);
        let depth = self.lists.len().saturating_sub(1).min(DEPTH);
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                let mark = format!("{number}. ");
                *number += 1;
                mark
            }
            _ => "• ".to_owned(),
        };
        self.restyle();
        self.say(&(INDENT.repeat(depth) + &mark));
        self.is_beside_mark = true;
    }

    /// Begins a part with `gap` line breaks before it.
    fn part(&mut self, gap: usize) {
        self.is_beside_mark = false;
        self.restyle();
        trim_end_of_code(&mut self.rich);
        if self.rich.runs.is_empty() {
            return;
        }
        let there = backwards(&self.rich).take_while(|it| *it == b'\n').count();
        let style = Style {
            is_quoted: self.style.is_quoted && self.ends_quoted(),
            ..Style::default()
        };
        self.rich
            .push(&"\n".repeat(gap.saturating_sub(there)), &style);
    }

    fn ends_quoted(&self) -> bool {
        self.rich.runs.last().is_some_and(|run| run.style.is_quoted)
    }

    /// A table as a block of code, in which columns stand below each other.
    fn show(&mut self, table: &Table) {
        let columns = table.rows.iter().map(Vec::len).max().unwrap_or_default();
        let width = |column: usize| {
            let cells = table.rows.iter().filter_map(|row| row.get(column));
            let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
            widest.min(COLUMN)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().zip(&widths);
            let cells: Vec<_> = cells.map(|(cell, width)| padded(cell, *width)).collect();
            cells.join(" | ").trim_end().to_owned()
        };
        let mut lines: Vec<String> = table.rows.iter().map(line).collect();
        if lines.len() > 1 {
            let rule: Vec<_> = widths.iter().map(|width| "-".repeat(*width)).collect();
            lines.insert(1, rule.join("-+-"));
        }
        let style = Style {
            block: Some("".into()),
            is_quoted: self.style.is_quoted,
            ..Style::default()
        };
        self.rich.push(&lines.join("\n"), &style);
    }
}

/// A place in a text: how many pieces there are, and how long the last one is.
type Place = (usize, usize);

/// Where `rich` ends. Its whole text is put together for none of these: a reply may have a
/// hundred thousand parts.
fn place(rich: &Rich) -> Place {
    let last = rich.runs.last().map_or(0, |run| run.text.len());
    (rich.runs.len(), last)
}

/// The bytes of its text, the last one first.
fn backwards(rich: &Rich) -> impl Iterator<Item = u8> {
    rich.runs
        .iter()
        .rev()
        .flat_map(|run| run.text.bytes().rev())
}

fn ends_with(rich: &Rich, end: &str) -> bool {
    let mut text = backwards(rich);
    end.bytes().rev().all(|byte| text.next() == Some(byte))
}

/// `cell` in a column of `width`.
fn padded(cell: &str, width: usize) -> String {
    let blanks = width.saturating_sub(cell.chars().count());
    format!("{cell}{}", " ".repeat(blanks))
}

fn language(kind: &CodeBlockKind<'_>) -> Arc<str> {
    match kind {
        CodeBlockKind::Indented => "".into(),
        CodeBlockKind::Fenced(info) => {
            let first = info.split([' ', ',', '\t']).next().unwrap_or_default();
            first.into()
        }
    }
}

/// Whether something happens when it is pressed outside the page it was written for.
fn leads_somewhere(target: &str) -> bool {
    let schemes = ["http://", "https://", "mailto:", "tel:", "tg://"];
    let lower = target.to_ascii_lowercase();
    schemes
        .iter()
        .any(|scheme| lower.len() > scheme.len() && lower.starts_with(scheme))
}

/// The line break before a closing fence is none of the code.
fn trim_end_of_code(rich: &mut Rich) {
    if let Some(last) = rich.runs.last_mut()
        && last.style.block.is_some()
        && last.text.ends_with('\n')
    {
        last.text.pop();
        if last.text.is_empty() {
            rich.runs.pop();
        }
    }
}
