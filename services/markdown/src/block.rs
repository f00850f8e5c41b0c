//! Paragraphs, headings, lists, quotes, code and tables as lines.

use pulldown_cmark::{CodeBlockKind, CowStr, Event, HeadingLevel, Tag, TagEnd};

use crate::code::Code;
use crate::inline::Inline;
use crate::prefix::Prefixes;
use crate::span::NARROWEST;
use crate::span::{Colour, Line, Span, Style};
use crate::table::Table;
use crate::wrap::wrap;

/// Columns of a rule.
const RULE: usize = 40;
/// Before the lines of code.
const CODE_INDENT: &str = "  ";

/// Lays out what a parser reads.
pub(crate) struct Blocks {
    columns: usize,
    lines: Vec<Line>,
    prefixes: Prefixes,
    inline: Inline,
    /// The numbers of the lists that are open; none: bullets.
    lists: Vec<Option<u64>>,
    code: Option<(Code, String)>,
    table: Option<Table>,
    /// A block ended, and another one stands apart from it.
    is_apart: bool,
    /// Items of the innermost list stand close together.
    is_tight: bool,
}

impl Blocks {
    pub(crate) fn new(columns: usize) -> Self {
        Self {
            columns,
            lines: Vec::new(),
            prefixes: Prefixes::default(),
            inline: Inline::default(),
            lists: Vec::new(),
            code: None,
            table: None,
            is_apart: false,
            is_tight: false,
        }
    }

    /// The lines of all that was read.
    pub(crate) fn finish(mut self) -> Vec<Line> {
        self.flush();
        self.lines
    }

    pub(crate) fn read(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => self.text(&text),
            Event::Code(text) => {
                self.begin_loose_text();
                self.inline.code(&text);
            }
            // Not ours to carry out: it is shown as it was written.
            Event::Html(text) | Event::InlineHtml(text) => self.faint(&text),
            Event::InlineMath(text) | Event::DisplayMath(text) => self.text(&text),
            Event::FootnoteReference(name) => self.faint(&format!("[^{name}]")),
            Event::SoftBreak | Event::HardBreak => self.inline.break_line(),
            Event::Rule => self.rule(),
            Event::TaskListMarker(is_done) => {
                self.begin_loose_text();
                self.inline.text(if is_done { "☑ " } else { "☐ " });
            }
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.begin_text(Style::default()),
            Tag::Heading { level, .. } => self.begin_heading(level),
            Tag::BlockQuote(_) => {
                self.begin_block();
                self.prefixes.open_quote();
            }
            Tag::CodeBlock(kind) => self.begin_code(&kind),
            Tag::HtmlBlock => self.begin_text(Style::faint()),
            Tag::List(first) => {
                self.flush();
                if self.lists.is_empty() {
                    self.begin_block();
                }
                self.lists.push(first);
            }
            Tag::Item => self.begin_item(),
            Tag::FootnoteDefinition(name) => {
                self.begin_block();
                self.prefixes
                    .open_item(&openclaw_escape::line(&format!("[^{name}]: ")));
            }
            Tag::Table(alignments) => {
                self.begin_block();
                self.table = Some(Table::new(alignments));
            }
            Tag::TableHead | Tag::TableRow => self.table.iter_mut().for_each(Table::begin_row),
            Tag::TableCell => self.inline = Inline::with(Style::default()),
            Tag::Emphasis => self.change(|style| style.italic = true),
            Tag::Strong => self.change(|style| style.bold = true),
            Tag::Strikethrough => self.change(|style| style.struck = true),
            Tag::Superscript | Tag::Subscript => self.change(|_| ()),
            Tag::Link {
                link_type,
                dest_url,
                ..
            } => {
                self.begin_loose_text();
                self.inline.open_link(link_type, &dest_url);
            }
            Tag::Image { dest_url, .. } => {
                self.begin_loose_text();
                self.inline.open_picture(&dest_url);
            }
            Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::MetadataBlock(_) => self.begin_block(),
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::Heading(_) | TagEnd::HtmlBlock => self.end_text(),
            TagEnd::BlockQuote(_) | TagEnd::FootnoteDefinition => self.end_container(),
            TagEnd::CodeBlock => self.end_code(),
            TagEnd::List(_) => {
                self.flush();
                self.lists.pop();
                self.is_apart = true;
            }
            TagEnd::Item => {
                let is_close = self.end_item();
                self.is_apart = !is_close;
            }
            TagEnd::Table => self.end_table(),
            TagEnd::TableCell => {
                let lines = self.inline.take();
                self.table
                    .iter_mut()
                    .for_each(|table| table.cell(lines.clone()));
            }
            TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript => self.inline.pop(),
            TagEnd::Link | TagEnd::Image => self.inline.close_link(),
            TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::DefinitionList
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition
            | TagEnd::MetadataBlock(_) => self.flush(),
        }
    }

    fn text(&mut self, text: &str) {
        if let Some((_, pending)) = &mut self.code {
            pending.push_str(text);
            return self.code_lines();
        }
        self.begin_loose_text();
        self.inline.text(text);
    }

    fn faint(&mut self, text: &str) {
        self.begin_loose_text();
        let style = Style {
            faint: true,
            ..self.inline.style()
        };
        // A block of it comes line by line, each with its end.
        self.inline.styled(text, &style);
    }

    fn change(&mut self, change: impl FnOnce(&mut Style)) {
        self.begin_loose_text();
        self.inline.push(change);
    }

    /// The text of an item of a tight list is in no paragraph.
    fn begin_loose_text(&mut self) {
        if self.inline.is_empty() && self.inline.style() == Style::default() {
            self.inline = Inline::with(Style::default());
        }
    }

    /// Another block: apart from the one before it.
    fn begin_block(&mut self) {
        self.flush();
        if std::mem::take(&mut self.is_apart) && !self.lines.is_empty() && !self.is_item_beginning()
        {
            self.lines.push(self.prefixes.empty());
        }
    }

    fn is_item_beginning(&self) -> bool {
        self.prefixes.begins_item()
    }

    fn begin_text(&mut self, style: Style) {
        self.begin_block();
        self.inline = Inline::with(style);
    }

    fn end_text(&mut self) {
        self.flush();
        self.is_apart = true;
        self.is_tight = false;
    }

    fn begin_heading(&mut self, level: HeadingLevel) {
        let is_first = level == HeadingLevel::H1;
        self.begin_text(Style {
            bold: true,
            underlined: is_first,
            colour: Some(Colour::Cyan),
            ..Style::default()
        });
        if level > HeadingLevel::H2 {
            let marks = format!("{} ", "#".repeat(level as usize));
            self.inline.styled(&marks, &Style::faint());
        }
    }

    fn begin_item(&mut self) {
        self.flush();
        self.begin_block();
        self.is_tight = true;
        let marker = match self.lists.last_mut() {
            Some(Some(number)) => {
                let marker = format!("{number}. ");
                *number += 1;
                marker
            }
            _ => "• ".to_owned(),
        };
        self.prefixes.open_item(&marker);
    }

    /// Whether the next item stands close to it.
    fn end_item(&mut self) -> bool {
        self.flush();
        if self.prefixes.begins_item() {
            self.put(Line::new());
        }
        self.prefixes.close();
        std::mem::replace(&mut self.is_tight, true)
    }

    fn end_container(&mut self) {
        self.flush();
        if self.prefixes.begins_item() {
            self.put(Line::new());
        }
        self.prefixes.close();
        self.is_apart = true;
    }

    fn begin_code(&mut self, kind: &CodeBlockKind<'_>) {
        self.begin_block();
        let info = match kind {
            CodeBlockKind::Fenced(info) => info.clone(),
            CodeBlockKind::Indented => CowStr::Borrowed(""),
        };
        if let Some(label) = label(&info) {
            self.put(label);
        }
        self.code = Some((Code::begin(language(&info)), String::new()));
    }

    /// The lines of code that are whole.
    fn code_lines(&mut self) {
        while let Some((code, pending)) = &mut self.code
            && let Some((line, rest)) = pending.split_once('\n')
        {
            let line = code_line(code, line);
            *pending = rest.to_owned();
            self.put(line);
        }
    }

    fn end_code(&mut self) {
        if let Some((mut code, pending)) = self.code.take()
            && !pending.is_empty()
        {
            let line = code_line(&mut code, &pending);
            self.put(line);
        }
        if self.prefixes.begins_item() {
            self.put(Line::new());
        }
        self.is_apart = true;
        self.is_tight = false;
    }

    fn end_table(&mut self) {
        let room = self.room();
        for line in self
            .table
            .take()
            .map(|it| it.lay_out(room))
            .into_iter()
            .flatten()
        {
            self.put(line);
        }
        self.is_apart = true;
        self.is_tight = false;
    }

    fn rule(&mut self) {
        self.begin_block();
        let rule = "─".repeat(RULE.min(self.room()));
        self.put(vec![Span::new(&rule, &Style::faint())]);
        self.is_apart = true;
    }

    fn room(&self) -> usize {
        self.prefixes.room(self.columns, NARROWEST)
    }

    /// Lays out the words that were collected.
    fn flush(&mut self) {
        if self.table.is_some() || self.inline.is_empty() {
            return;
        }
        let room = self.room();
        let mut lines = std::mem::take(&mut self.inline).take();
        while lines.last().is_some_and(Vec::is_empty) {
            lines.pop();
        }
        for line in lines {
            for line in wrap(&line, room) {
                self.put(line);
            }
        }
    }

    fn put(&mut self, line: Line) {
        let mut whole = self.prefixes.next();
        whole.extend(line);
        self.lines.push(whole);
    }
}

/// What a fence says of its code, as a line of its own.
pub(crate) fn label(info: &str) -> Option<Line> {
    let info = info.trim();
    let text = format!("{CODE_INDENT}{}", openclaw_escape::line(info));
    (!info.is_empty()).then(|| vec![Span::new(&text, &Style::faint())])
}

/// The language that a fence names: its first word, up to a comma or a brace.
pub(crate) fn language(info: &str) -> &str {
    let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '{');
    info.trim().split(ends).next().unwrap_or_default()
}

/// A line of code with its indent.
pub(crate) fn code_line(code: &mut Code, text: &str) -> Line {
    let mut line = vec![Span::new(CODE_INDENT, &Style::default())];
    line.extend(code.line(text));
    line
}
