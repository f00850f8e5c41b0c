//! Property 22 of seed 002, over CommonMark's own examples and over any text.

mod code;
mod documents;
mod terminal;

use openclaw_markdown::{Stream, render};
use proptest::prelude::*;
use pulldown_cmark::{Event, Options, Parser};

use documents::{Document, document};
use terminal::{Seen, seen};

const CASES: u32 = 256;
/// So wide that no word is broken.
const WIDE: usize = 100_000;
/// The examples of the specification: input, a line with a dot, what HTML it is.
const SPECIFICATION: &str = include_str!("../commonmark/spec.txt");
const FENCE: &str = "````````````````````````````````";

fn examples() -> Vec<String> {
    let mut examples = Vec::new();
    let mut lines = SPECIFICATION.lines();
    while let Some(line) = lines.next() {
        if line != format!("{FENCE} example") {
            continue;
        }
        let input = lines.by_ref().take_while(|line| *line != ".");
        let input: String = input.map(|line| format!("{line}\n")).collect();
        examples.push(input.replace('→', "\t"));
    }
    examples
}

/// A line of a fence without the tabs behind it: they do not keep it from closing a
/// block of code (specification 4.5), and the parser takes them for code.
fn without_tabs(line: &str) -> String {
    let marks = line.trim_end();
    if marks.ends_with("```") || marks.ends_with("~~~") {
        let rest = &line[marks.len()..];
        return marks.to_owned() + &rest.replace('\t', "");
    }
    line.to_owned()
}

/// What `text` says, word by word.
fn words(text: &str) -> Vec<String> {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES;
    // As the specification has it, each of these ends a line.
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let text: String = text.split_inclusive('\n').map(without_tabs).collect();
    let said = Parser::new_ext(&text, options).filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
            Some(text.to_string())
        }
        _ => None,
    });
    said.flat_map(|said| {
        let shown = openclaw_escape::prose(&said);
        shown
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    })
    .collect()
}

/// What is shown of `text` when it comes in pieces of so many characters.
fn in_pieces(text: &str, size: usize, columns: usize) -> String {
    let letters: Vec<char> = text.chars().collect();
    let mut stream = Stream::new(columns);
    let mut shown = String::new();
    for piece in letters.chunks(size) {
        shown += &stream.push(&piece.iter().collect::<String>());
        for line in stream.draft().lines {
            seen(&line);
        }
    }
    shown + &stream.finish()
}

/// All words of `text` are seen, and nothing else acts on the terminal.
fn assert_whole(text: &str) {
    // An address that is given a name later changes what a text says that is shown.
    let is_named = text.contains("]:");
    let pieces = (!is_named).then(|| in_pieces(text, 3, WIDE));
    for shown in pieces.into_iter().chain([render(text, WIDE)]) {
        let Seen { text: shown, .. } = seen(&shown);
        for word in words(text) {
            assert!(
                shown.contains(&word),
                "{word:?} of {text:?} is not in {shown:?}"
            );
        }
    }
    for columns in [1, 37] {
        seen(&render(text, columns));
    }
}

/// For any response containing markdown, the CLI SHALL format code blocks with
/// syntax highlighting and preserve structure
#[test]
fn property_22_examples_of_commonmark_are_shown_whole() {
    let examples = examples();
    assert!(examples.len() > 600, "{} examples", examples.len());
    for example in examples {
        assert_whole(&example);
    }
}

#[test]
fn languages_are_known_by_the_names_that_models_give_them() {
    let plain = code::LANGUAGES.iter().filter(|(language, code)| {
        let text = format!("```{language}\n{code}\n```\n");
        seen(&render(&text, WIDE)).colours < 2
    });
    let plain: Vec<&str> = plain.map(|(language, _)| *language).collect();
    assert!(plain.is_empty(), "{plain:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// For any response containing markdown, the CLI SHALL format code blocks with
    /// syntax highlighting and preserve structure: lists in lists, quotes in
    /// quotes, tables with their alignments, wide characters.
    #[test]
    fn property_22_structure_is_preserved(blocks in prop::collection::vec(document(), 1..8), size in 1usize..40) {
        let document = Document(blocks);
        let shown = seen(&in_pieces(&document.written(), size, WIDE)).text;
        prop_assert_eq!(shown.trim_end(), document.shown());
    }

    /// For any response containing markdown, the CLI SHALL format code blocks with
    /// syntax highlighting and preserve structure: in all these languages, however
    /// the fence is written and named, in quotes and in items of lists.
    #[test]
    fn property_22_code_is_highlighted(
        name in "[a-z]{3,12}",
        number in 0u32..100_000,
        size in 1usize..40,
        mark in prop::sample::select(&["```", "~~~", "````", "~~~~~"][..]),
        info in prop::sample::select(&["", " title=x", ",ignore", " {1,3}"][..]),
        place in prop::sample::select(&[("", "", ""), ("> ", "> ", "│ "), ("- ", "  ", "• ")][..]),
        first in 0..code::LANGUAGES.len(),
    ) {
        let (begin, rest, bar) = place;
        // A part of the languages each time, all of them over all cases.
        for (language, code) in code::LANGUAGES.iter().cycle().skip(first).take(3) {
            let code = code.replace("NAME", &name).replace("NUMBER", &number.to_string());
            let written: Vec<String> = code.lines().map(|line| format!("{rest}{line}\n")).collect();
            let written = written.concat();
            let text = format!("Before.\n\n{begin}{mark}{language}{info}\n{written}{rest}{mark}\n\nAfter.\n");
            let shown = seen(&in_pieces(&text, size, WIDE));
            prop_assert!(shown.colours >= 2, "{}: {:?}", language, shown);
            let next = if bar == "• " { "  " } else { bar };
            let lines: Vec<String> = code.lines().map(|line| format!("{next}  {line}\n")).collect();
            let expected = format!("Before.\n\n{bar}  {language}{info}\n{}\nAfter.\n", lines.concat());
            prop_assert_eq!(shown.text, expected);
        }
    }

    /// For any response containing markdown, the CLI SHALL format code blocks with
    /// syntax highlighting and preserve structure: whatever stands in a block, in
    /// each language that is known at all, its lines are what is seen.
    #[test]
    fn property_22_code_of_any_language_is_shown_whole(
        lines in prop::collection::vec("([ -~]|[äß日🎉]|\\(|\\)|\"|'|/\\*|\\*/|//|#|<|>|\\{|\\}){0,30}", 1..6),
        pick in any::<prop::sample::Index>(),
    ) {
        let all = two_face::syntax::extra_newlines();
        let names: Vec<&str> = all.syntaxes().iter().flat_map(|one| &one.file_extensions).map(String::as_str)
            .filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric()))
            .collect();
        let lines: Vec<String> = lines.iter().map(|line| line.trim_end().replace('`', "'")).collect();
        let language = pick.get(&names);
        let text = format!("```{language}\n{}\n```\n", lines.join("\n"));
        let shown: Vec<String> = lines.iter().map(|line| format!("  {line}\n")).collect();
        prop_assert_eq!(seen(&render(&text, WIDE)).text, format!("  {language}\n{}", shown.concat()));
    }

    /// For any response containing markdown, the CLI SHALL format code blocks with
    /// syntax highlighting and preserve structure
    #[test]
    fn property_22_any_text_is_shown_whole(
        text in "([ -~\n]|[#*_`>|~-]|\n\n|[0-9]\\. |\\[[a-z]\\]|\\(http://a\\)|```|\t|\u{1b}\\[|\u{1b}\\]8;;|\u{7}|\u{9b}|\r|[äß日🎉\u{202e}\u{200b}]){0,60}",
    ) {
        assert_whole(&text);
    }
}
