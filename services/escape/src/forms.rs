//! The forms in which text is written out.

use crate::unseen::{Form, is_unseen};

/// Stands for the end of a line.
const LINE_END: char = '⏎';

/// On one line: line ends are `⏎`, tabs `\t`, and whatever is not seen `\x1b`
/// or `\u{202e}`.
#[must_use]
pub fn line(text: &str) -> String {
    written(text, Form::Line, &mut None)
}

/// As [`line()`], with a line of its own after each `⏎`: so a line end can
/// neither be overlooked nor be taken for a break of the terminal's.
#[must_use]
pub fn block(text: &str) -> String {
    written(text, Form::Block, &mut None)
}

/// Line ends, tabs, blanks of any width, and the joiners and marks that scripts
/// and pictures are written with, where they are, stay as they are; what acts on a
/// terminal, turns the order of words around or hides is written out.
#[must_use]
pub fn prose(text: &str) -> String {
    written(text, Form::Prose, &mut None)
}

/// [`prose`] that comes in pieces: what a character may stand behind is in the
/// piece before.
#[derive(Debug, Default)]
pub struct Prose {
    before: Option<char>,
}

impl Prose {
    /// What the next piece is written as.
    #[must_use]
    pub fn more(&mut self, piece: &str) -> String {
        written(piece, Form::Prose, &mut self.before)
    }
}

/// A JSON document with every unseen character in its strings written as JSON
/// writes it (`\u001b`), which any reader takes for the same.
#[must_use]
pub fn json(document: &str) -> String {
    // Most are plain, and one is written for every record of a log.
    if document.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return document.to_owned();
    }
    let mut written = String::with_capacity(document.len());
    for c in document.chars() {
        // Outside of strings these stand between values.
        if matches!(c, '\n' | '\t') || !is_unseen(c, None, Form::Line) {
            written.push(c);
            continue;
        }
        let mut units = [0; 2];
        for unit in c.encode_utf16(&mut units) {
            written.push_str(&format!("\\u{unit:04x}"));
        }
    }
    written
}

/// `before` is the last character that was written as it is.
fn written(text: &str, form: Form, before: &mut Option<char>) -> String {
    let mut written = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let is_unseen = is_unseen(c, *before, form);
        *before = Some(c).filter(|_| !is_unseen);
        match (c, form) {
            ('\n' | '\t', Form::Prose) => written.push(c),
            // A line end as other systems write it.
            ('\r', Form::Prose) if characters.peek() == Some(&'\n') => {}
            ('\n', Form::Line) => written.push(LINE_END),
            ('\n', Form::Block) => written.extend([LINE_END, '\n']),
            // What stands for a line end is not to be forged.
            (LINE_END, Form::Line | Form::Block) => written.push_str(&escape(c)),
            _ if is_unseen => written.push_str(&escape(c)),
            _ => written.push(c),
        }
    }
    written
}

/// `\t`, `\x1b`, `\u{202e}`.
fn escape(c: char) -> String {
    match c {
        '\t' => "\\t".to_owned(),
        '\r' => "\\r".to_owned(),
        c if u32::from(c) < 0x100 => format!("\\x{:02x}", u32::from(c)),
        c => format!("\\u{{{:x}}}", u32::from(c)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What acts on a terminal, each in another way.
    const HOSTILE: &str = "a\u{1b}]52;c;eA==\u{7}b\rc\u{9b}2J\u{7f}\u{8}\u{202e}d\u{200b}";

    #[test]
    fn nothing_that_acts_on_a_terminal_is_left() {
        assert_eq!(
            line(HOSTILE),
            r"a\x1b]52;c;eA==\x07b\rc\x9b2J\x7f\x08\u{202e}d\u{200b}"
        );
        for text in [line(HOSTILE), block(HOSTILE), prose(HOSTILE)] {
            assert!(!text.contains(char::is_control), "{text:?}");
        }
    }

    #[test]
    fn a_line_end_is_seen_and_not_forged() {
        let command = "ls # list\nrm -rf x";
        assert_eq!(line(command), "ls # list⏎rm -rf x");
        assert_eq!(block(command), "ls # list⏎\nrm -rf x");
        assert_eq!(prose(command), command);
        assert_eq!(line("a⏎b\tc"), r"a\u{23ce}b\tc");
        assert_eq!(block("a\r\nb"), "a\\r⏎\nb");
        assert_eq!(prose("a\r\nb\tc"), "a\nb\tc");
    }

    #[test]
    fn what_looks_like_a_space_or_like_nothing_is_written_out() {
        let unseen = [
            '\u{a0}',
            '\u{ad}',
            '\u{34f}',
            '\u{61c}',
            '\u{115f}',
            '\u{180e}',
            '\u{200d}',
            '\u{200f}',
            '\u{2028}',
            '\u{2029}',
            '\u{2060}',
            '\u{2066}',
            '\u{206f}',
            '\u{2800}',
            '\u{3000}',
            '\u{3164}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{ffa0}',
            '\u{fff9}',
            '\u{e0041}',
            '\u{e0100}',
        ];
        for c in unseen {
            let expected = format!("rm{}x", escape(c));
            assert_eq!(line(&format!("rm{c}x")), expected);
        }
        assert_eq!(line("größe 日本 ❤\u{fe0f} 🙂"), "größe 日本 ❤\u{fe0f} 🙂");
        assert_eq!(line("❤\u{fe0f}\u{fe0f}"), "❤\u{fe0f}\\u{fe0f}");
    }

    #[test]
    fn prose_keeps_how_scripts_are_written() {
        for text in [
            "می\u{200c}خواهم",
            "👩\u{200d}🚀",
            "日本\u{3000}語",
            "a\u{a0}b",
            "क्\u{200d}ष",
            "ශ්\u{200d}රී",
            "👩🏽\u{200d}🚀 ❤\u{fe0f}\u{200d}🔥 🏃\u{200d}♀\u{fe0f} 1\u{fe0f}\u{20e3}",
            "ภาษา\u{200b}ไทย",
            "שלום\u{200f}!",
            "葛\u{e0100}飾",
            "≨\u{fe00}",
        ] {
            assert_eq!(prose(text), text);
            // In pieces as well, wherever they end.
            let mut pieces = Prose::default();
            let written: String = text.chars().map(|c| pieces.more(&c.to_string())).collect();
            assert_eq!(written, text);
        }
        assert_eq!(prose("a\u{2066}\u{e0041}"), r"a\u{2066}\u{e0041}");
    }

    #[test]
    fn prose_shows_what_hides_in_it() {
        let hiding = [
            '\u{ad}',
            '\u{34f}',
            '\u{61c}',
            '\u{115f}',
            '\u{180b}',
            '\u{180e}',
            '\u{200b}',
            '\u{200c}',
            '\u{200d}',
            '\u{200e}',
            '\u{200f}',
            '\u{2060}',
            '\u{2062}',
            '\u{3164}',
            '\u{fe00}',
            '\u{fe0f}',
            '\u{feff}',
            '\u{ffa0}',
            '\u{e0101}',
        ];
        for c in hiding {
            let shown = escape(c);
            assert_eq!(prose(&format!("pay{c}pal")), format!("pay{shown}pal"));
            assert_eq!(prose(&c.to_string()), shown);
            let mut pieces = Prose::default();
            let written = [pieces.more("pay"), pieces.more(&format!("{c}pal"))];
            assert_eq!(written.concat(), format!("pay{shown}pal"));
        }
        // One is how a script is written, those behind it hide.
        assert_eq!(
            prose("می\u{200c}\u{200c}\u{200d}خ"),
            "می\u{200c}\\u{200c}\\u{200d}خ"
        );
        assert_eq!(prose("👩\u{200d}\u{200d}🚀"), "👩\u{200d}\\u{200d}🚀");
    }

    #[test]
    fn a_json_document_says_the_same() {
        let document = "{\n  \"a\": \"\u{9b}2J\u{7f}\u{202e}\u{e0041}ö\"\n}";
        let written = json(document);
        let expected = "{\n  \"a\": \"\\u009b2J\\u007f\\u202e\\udb40\\udc41ö\"\n}";
        assert_eq!(written, expected);
    }
}
