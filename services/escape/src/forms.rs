//! The forms in which text is written out.

use crate::scripts::{Before, begins_a_flag, flag};
use crate::unseen::{Form, has_no_width, is_unseen};

/// Stands for the end of a line.
const LINE_END: char = '⏎';

/// Stands for blanks of which there are many, before how many.
const BLANK: char = '␠';

/// Blanks in a row that are written as they are: more than any text is set in by. A screen full of
/// them would push what stands before them out of sight.
const BLANKS: usize = 60;

/// Line ends in a row, blanks between them included, that are written as they are: more than
/// paragraphs are set apart by. A screen full of them would do the same.
const LINE_ENDS: usize = 4;

/// On one line: line ends are `⏎`, tabs `\t`, and whatever is not seen `\x1b`
/// or `\u{202e}`.
#[must_use]
pub fn line(text: &str) -> String {
    written(text, Form::Line, &mut Before::default())
}

/// As [`line()`], with a line of its own after each `⏎`: so a line end can
/// neither be overlooked nor be taken for a break of the terminal's.
#[must_use]
pub fn block(text: &str) -> String {
    written(text, Form::Block, &mut Before::default())
}

/// The first character of `text` that [`line()`] writes out because it is not seen, or not as
/// what it is.
#[must_use]
pub fn first_unseen(text: &str) -> Option<char> {
    let mut before = Before::default();
    text.chars().find(|c| {
        let is_unseen = is_unseen(*c, before, Form::Line);
        before = before.then(*c, has_no_width(*c), is_unseen);
        is_unseen
    })
}

/// Line ends, tabs, blanks of any width, and the joiners and marks that scripts
/// and pictures are written with, where they are, stay as they are; what acts on a
/// terminal, turns the order of words around or hides is written out.
#[must_use]
pub fn prose(text: &str) -> String {
    written(text, Form::Prose, &mut Before::default())
}

/// [`prose`] that comes in pieces: what a character may stand behind is in the
/// piece before, and what decides about the last ones in the piece behind.
#[derive(Debug, Default)]
pub struct Prose {
    before: Before,
    /// The end of the pieces so far, about which the next one decides.
    held: String,
}

impl Prose {
    /// What the next piece is written as, but for an end that the one behind it decides about.
    #[must_use]
    pub fn more(&mut self, piece: &str) -> String {
        self.held.push_str(piece);
        let decided = self.held.len() - undecided(&self.held);
        let end = self.held.split_off(decided);
        let text = std::mem::replace(&mut self.held, end);
        written(&text, Form::Prose, &mut self.before)
    }

    /// What is left when no more comes.
    #[must_use]
    pub fn end(&mut self) -> String {
        let text = std::mem::take(&mut self.held);
        written(&text, Form::Prose, &mut self.before)
    }
}

/// The bytes at the end of `text` about which what follows decides: the first half of a line
/// end, and what may become a flag.
fn undecided(text: &str) -> usize {
    if text.ends_with('\r') {
        return 1;
    }
    begins_a_flag(text)
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
        if matches!(c, '\n' | '\t') || !is_unseen(c, Before::default(), Form::Line) {
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

fn written(text: &str, form: Form, before: &mut Before) -> String {
    let mut written = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if form == Form::Prose
            && let Some(flag) = flag(rest)
        {
            written.push_str(flag);
            *before = Before::of_flag();
            rest = &rest[flag.len()..];
            continue;
        }
        if c == ' ' && form != Form::Prose {
            let blanks = rest.len() - rest.trim_start_matches(' ').len();
            if blanks > BLANKS {
                written.push_str(&format!(" {BLANK}×{blanks} "));
                *before = before.then(c, false, false);
                rest = &rest[blanks..];
                continue;
            }
        }
        if c == '\n' && form != Form::Prose {
            let (ends, length) = line_ends(rest);
            if ends > LINE_ENDS {
                let end = if form == Form::Block { "\n" } else { " " };
                written.push_str(&format!(" {LINE_END}×{ends}{end}"));
                *before = before.then(c, false, false);
                rest = &rest[length..];
                continue;
            }
        }
        rest = &rest[c.len_utf8()..];
        let is_unseen = is_unseen(c, *before, form);
        *before = before.then(c, has_no_width(c), is_unseen);
        match (c, form) {
            ('\n' | '\t', Form::Prose) => written.push(c),
            // A line end as other systems write it.
            ('\r', Form::Prose) if rest.starts_with('\n') => {}
            ('\n', Form::Line) => written.push(LINE_END),
            ('\n', Form::Block) => written.extend([LINE_END, '\n']),
            // What stands for a line end is not to be forged.
            (LINE_END | BLANK, Form::Line | Form::Block) => written.push_str(&escape(c)),
            _ if is_unseen => written.push_str(&escape(c)),
            _ => written.push(c),
        }
    }
    written
}

/// How many line ends there are before the next line that shows something, and in how many bytes.
fn line_ends(text: &str) -> (usize, usize) {
    let is_blank = |c: &char| [' ', '\t', '\r', '\n'].contains(c);
    let blank: usize = text.chars().take_while(is_blank).map(char::len_utf8).sum();
    let row = &text[..blank];
    let length = row.rfind('\n').map_or(0, |last| last + 1);
    (row.matches('\n').count(), length)
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
    fn forms_nothing_that_acts_on_a_terminal_is_left() {
        assert_eq!(
            line(HOSTILE),
            r"a\x1b]52;c;eA==\x07b\rc\x9b2J\x7f\x08\u{202e}d\u{200b}"
        );
        for text in [line(HOSTILE), block(HOSTILE), prose(HOSTILE)] {
            assert!(!text.contains(char::is_control), "{text:?}");
        }
    }

    #[test]
    fn screen_of_blanks_is_counted_and_not_forged() {
        let hidden = format!("touch x;{}ls\n{}end", " ".repeat(6000), " ".repeat(BLANKS));
        let indented = " ".repeat(BLANKS);
        assert_eq!(line(&hidden), format!("touch x; ␠×6000 ls⏎{indented}end"));
        assert_eq!(
            block(&hidden),
            format!("touch x; ␠×6000 ls⏎\n{indented}end")
        );
        assert_eq!(prose(&hidden), hidden);
        assert_eq!(line("a ␠×9 b"), r"a \u{2420}×9 b");
    }

    #[test]
    fn screen_of_line_ends_is_counted_and_not_forged() {
        let hidden = format!("touch x{}  ls\n\n\n\nend", "\n \t\r\n".repeat(3000));
        assert_eq!(line(&hidden), "touch x ⏎×6000   ls⏎⏎⏎⏎end");
        assert_eq!(block(&hidden), "touch x ⏎×6000\n  ls⏎\n⏎\n⏎\n⏎\nend");
        assert_eq!(prose("a\n\n\n\n\n\nb"), "a\n\n\n\n\n\nb");
        assert_eq!(line("a ⏎×9 b"), r"a \u{23ce}×9 b");
    }

    #[test]
    fn line_end_is_seen_and_not_forged() {
        let command = "ls # list\nrm -rf x";
        assert_eq!(line(command), "ls # list⏎rm -rf x");
        assert_eq!(block(command), "ls # list⏎\nrm -rf x");
        assert_eq!(prose(command), command);
        assert_eq!(line("a⏎b\tc"), r"a\u{23ce}b\tc");
        assert_eq!(block("a\r\nb"), "a\\r⏎\nb");
        assert_eq!(prose("a\r\nb\tc"), "a\nb\tc");
    }

    #[test]
    fn forms_what_looks_like_a_space_or_like_nothing_is_written_out() {
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
            "Silben\u{ad}trennung",
            ENGLAND,
            "🏴\u{e0067}\u{e0062}\u{e0073}\u{e0063}\u{e0074}\u{e007f}a",
            "🏴🏴\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}🏴",
        ] {
            assert_eq!(prose(text), text);
            assert_eq!(letter_by_letter(text), text);
        }
        assert_eq!(prose("a\u{2066}\u{e0041}"), r"a\u{2066}\u{e0041}");
    }

    const ENGLAND: &str = "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}";

    /// In pieces, wherever they end.
    fn letter_by_letter(text: &str) -> String {
        let mut pieces = Prose::default();
        let written: String = text.chars().map(|c| pieces.more(&c.to_string())).collect();
        written + &pieces.end()
    }

    #[test]
    fn prose_shows_tags_that_are_no_flag() {
        let first = ENGLAND.trim_end_matches('\u{e007f}');
        for (text, expected) in [
            // No end, no flag before it, another region, and a second one behind.
            (
                first.to_owned(),
                "🏴\\u{e0067}\\u{e0062}\\u{e0065}\\u{e006e}\\u{e0067}".to_owned(),
            ),
            (
                format!("{first}a"),
                "🏴\\u{e0067}\\u{e0062}\\u{e0065}\\u{e006e}\\u{e0067}a".to_owned(),
            ),
            (
                "a\u{e0067}\u{e007f}".to_owned(),
                "a\\u{e0067}\\u{e007f}".to_owned(),
            ),
            (
                "🏴\u{e0075}\u{e0073}\u{e007f}".to_owned(),
                "🏴\\u{e0075}\\u{e0073}\\u{e007f}".to_owned(),
            ),
            (
                format!("{ENGLAND}\u{e0067}"),
                format!("{ENGLAND}\\u{{e0067}}"),
            ),
            (
                format!("{ENGLAND}\u{200d}"),
                format!("{ENGLAND}\\u{{200d}}"),
            ),
        ] {
            assert_eq!(prose(&text), expected);
            assert_eq!(letter_by_letter(&text), expected);
        }
        // Where each character counts, these do too.
        assert_eq!(line(ENGLAND).matches("\\u{").count(), 6);
        assert_eq!(block(ENGLAND).matches("\\u{").count(), 6);
    }

    #[test]
    fn place_for_a_hyphen_is_one_and_in_a_word() {
        for (text, expected) in [
            ("a\u{ad}\u{ad}b", "a\u{ad}\\xadb"),
            (" \u{ad}b", " \\xadb"),
            ("1\u{ad}2", "1\\xad2"),
            ("\u{ad}", "\\xad"),
        ] {
            assert_eq!(prose(text), expected);
            assert_eq!(letter_by_letter(text), expected);
        }
    }

    #[test]
    fn line_end_is_one_in_two_pieces_too() {
        assert_eq!(letter_by_letter("a\r\nb\r"), "a\nb\\r");
    }

    #[test]
    fn prose_shows_what_hides_in_it() {
        let hiding = [
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
        // What carries one mark carries no second, whatever stands between.
        for text in [
            "Café\u{fe07}\u{fe0f}\u{200d}",
            "a\u{a0}\u{fe01}b",
            "—\u{fe05}—\u{fe0f}",
            "❤\u{fe0f}\u{200d}\u{fe02}\u{fe0f}\u{200d}",
            "❤\u{fe0f}\u{fe0e}",
            "é\u{fe0f}",
            "葛\u{e0100}\u{e0101}",
            "ش\u{fe00}",
        ] {
            let hidden = |text: &str| text.chars().filter(|c| has_no_width(*c)).count();
            let most = text.matches('❤').count() * 2 + text.matches('葛').count();
            let written = prose(text);
            assert!(hidden(&written) <= most, "{written:?}");
            assert!(hidden(&line(text)) <= text.matches('❤').count(), "{text:?}");
        }
        // One is how a script is written, those behind it hide.
        assert_eq!(
            prose("می\u{200c}\u{200c}\u{200d}خ"),
            "می\u{200c}\\u{200c}\\u{200d}خ"
        );
        assert_eq!(prose("👩\u{200d}\u{200d}🚀"), "👩\u{200d}\\u{200d}🚀");
    }

    #[test]
    fn json_document_says_the_same() {
        let document = "{\n  \"a\": \"\u{9b}2J\u{7f}\u{202e}\u{e0041}ö\"\n}";
        let written = json(document);
        let expected = "{\n  \"a\": \"\\u009b2J\\u007f\\u202e\\udb40\\udc41ö\"\n}";
        assert_eq!(written, expected);
    }
}
