//! Words in their styles, as they come between the beginning and the end of a
//! paragraph.

use std::rc::Rc;

use openclaw_escape::prose;
use pulldown_cmark::{CowStr, LinkType};

use crate::span::{Colour, Line, Span, Style};

/// Schemes that a terminal is told as targets of links: opening one of these asks
/// a browser or a mail program, and runs nothing.
const SCHEMES: [&str; 3] = ["https://", "http://", "mailto:"];
/// Bytes of a target; terminals take about two thousand.
const TARGET_LIMIT: usize = 2000;

/// What is collected. A line end in the text begins another line.
#[derive(Debug, Default)]
pub(crate) struct Inline {
    lines: Vec<Line>,
    styles: Vec<Style>,
    links: Vec<Link>,
}

/// A link or a picture that is open.
#[derive(Debug)]
struct Link {
    url: String,
    /// Where its text begins: the line, and the piece of it.
    begin: (usize, usize),
    /// The text is its address.
    is_bare: bool,
    is_picture: bool,
}

impl Inline {
    /// Begins with `style` as that of everything.
    pub(crate) fn with(style: Style) -> Self {
        Self {
            lines: vec![Line::new()],
            styles: vec![style],
            links: Vec::new(),
        }
    }

    pub(crate) fn style(&self) -> Style {
        self.styles.last().cloned().unwrap_or_default()
    }

    /// What follows looks different, until [`Self::pop`].
    pub(crate) fn push(&mut self, change: impl FnOnce(&mut Style)) {
        let mut style = self.style();
        change(&mut style);
        self.styles.push(style);
    }

    pub(crate) fn pop(&mut self) {
        self.styles.pop();
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.styled(text, &self.style());
    }

    /// Text that looks like `style` alone.
    pub(crate) fn styled(&mut self, text: &str, style: &Style) {
        for (index, piece) in text.split('\n').enumerate() {
            if index > 0 {
                self.break_line();
            }
            self.put(Span::new(piece, style));
        }
    }

    pub(crate) fn code(&mut self, text: &str) {
        let mut style = self.style();
        style.colour = Some(Colour::Yellow);
        self.styled(text, &style);
    }

    pub(crate) fn break_line(&mut self) {
        self.lines.push(Line::new());
    }

    fn put(&mut self, span: Span) {
        if self.lines.is_empty() {
            self.lines.push(Line::new());
        }
        if let Some(line) = self.lines.last_mut() {
            line.push(span);
        }
    }

    pub(crate) fn open_link(&mut self, kind: LinkType, url: &CowStr<'_>) {
        let target = target(url);
        let is_bare = matches!(kind, LinkType::Autolink | LinkType::Email);
        self.open(url, is_bare, false);
        self.push(|style| {
            style.underlined = true;
            style.colour = Some(Colour::Blue);
            style.target = target;
        });
    }

    pub(crate) fn open_picture(&mut self, url: &CowStr<'_>) {
        let target = target(url);
        self.open(url, false, true);
        self.push(|style| {
            style.italic = true;
            style.target = target.or(style.target.take());
        });
    }

    fn open(&mut self, url: &CowStr<'_>, is_bare: bool, is_picture: bool) {
        let line = self.lines.len().saturating_sub(1);
        let piece = self.lines.last().map_or(0, Vec::len);
        self.links.push(Link {
            url: url.to_string(),
            begin: (line, piece),
            is_bare,
            is_picture,
        });
    }

    /// Ends the link or the picture. An address that the terminal is not told, and
    /// one that is not what the text says, is shown beside it: nobody has to trust
    /// the words of a link.
    pub(crate) fn close_link(&mut self) {
        let is_told = self.style().target.is_some();
        self.pop();
        let Some(link) = self.links.pop() else { return };
        let said = self.said_from(link.begin);
        if link.is_picture && said.trim().is_empty() {
            self.styled("picture", &Style::faint());
        }
        let is_seen = link.is_bare || said.trim() == prose(&link.url).trim();
        if link.url.is_empty() || is_seen || (is_told && !names_another(&said, &link.url)) {
            return;
        }
        let address = format!(" ({})", link.url.replace(['\n', '\t'], " "));
        self.styled(&address, &Style::faint());
    }

    fn said_from(&self, (line, piece): (usize, usize)) -> String {
        let mut said = String::new();
        for (index, spans) in self.lines.iter().enumerate().skip(line) {
            let skipped = if index == line { piece } else { 0 };
            spans
                .iter()
                .skip(skipped)
                .for_each(|span| said.push_str(&span.text));
        }
        said
    }

    /// What was collected; nothing is left.
    pub(crate) fn take(&mut self) -> Vec<Line> {
        std::mem::take(&mut self.lines)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.lines.iter().all(Vec::is_empty)
    }
}

/// The target that a terminal is told, if it may be.
fn target(url: &str) -> Option<Rc<str>> {
    let lower = url.to_ascii_lowercase();
    let is_known = SCHEMES.iter().any(|scheme| lower.starts_with(scheme));
    // Printable ASCII is all that an address needs, and what OSC 8 takes.
    let is_plain = url.bytes().all(|byte| byte.is_ascii_graphic());
    (is_known && is_plain && url.len() <= TARGET_LIMIT).then(|| Rc::from(url))
}

/// Whether a word in the text of a link looks like an address, and not like the one of its host.
fn names_another(said: &str, url: &str) -> bool {
    let host = |text: &str| {
        let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
        let host = rest.split(['/', '?', '#', '\\']).next().unwrap_or_default();
        host.to_lowercase()
    };
    let target = host(url);
    let outside = |c: char| !(c.is_alphanumeric() || matches!(c, '/' | '\\'));
    let mut words = said
        .split(char::is_whitespace)
        .map(|word| word.trim_matches(outside));
    let is_address = |word: &&str| word.contains("://") || word.contains('.');
    words.any(|word| is_address(&word) && (target.is_empty() || host(word) != target))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_targets_are_of_the_web_and_plain() {
        assert!(target("https://example.org/a?b#c").is_some());
        assert!(target("MAILTO:a@example.org").is_some());
        for url in [
            "file:///etc/passwd",
            "javascript:alert(1)",
            "https://example.org/\u{1b}\\",
            "https://example.org/a b",
            "https://éxample.org",
            "//example.org",
        ] {
            assert!(target(url).is_none(), "{url}");
        }
        assert!(target(&format!("https://{}", "a".repeat(3000))).is_none());
    }

    #[test]
    fn inline_link_that_names_another_host_is_seen_through() {
        assert!(names_another(
            "https://bank.example",
            "https://evil.example/"
        ));
        assert!(names_another("bank.example", "https://evil.example/"));
        assert!(!names_another(
            "bank.example/login",
            "https://bank.example/x"
        ));
        assert!(!names_another("the bank", "https://bank.example"));
        assert!(!names_another("the bank. Really!", "https://bank.example"));
        assert!(!names_another(
            "at bank.example, or so",
            "https://bank.example/x"
        ));
        for said in [
            "see https://bank.example/login",
            "bank.example login",
            "log in (bank.example)",
            "https://bank.example\\@evil.example",
            "https:///bank.example",
            "BANK.example:",
        ] {
            assert!(names_another(said, "https://evil.example/x"), "{said}");
        }
        assert!(names_another(
            "https:///bank.example",
            "https:///evil.example"
        ));
    }
}
