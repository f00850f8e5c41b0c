use super::*;

/// A block in short: what it is, its text, its line, and whether it is apart.
fn blocks(text: &str) -> Vec<(String, &str, usize, bool)> {
    let short = |block: Block| {
        let kind = match block.kind {
            Kind::Heading(level) => format!("h{level}"),
            Kind::Item(indent) => format!("item{indent}"),
            other => format!("{other:?}").to_lowercase(),
        };
        assert_eq!(block.tokens, tokens(&text[block.range.clone()]));
        (kind, &text[block.range], block.line, block.is_apart)
    };
    parse(text).into_iter().map(short).collect()
}

/// The same of a text whose blocks are told by kind, text and line.
fn check(text: &str, expected: &[(&str, &str, usize)]) {
    let found = blocks(text);
    let found: Vec<_> = found
        .iter()
        .map(|(kind, text, line, _)| (kind.as_str(), *text, *line))
        .collect();
    assert_eq!(found, expected, "{text}");
}

#[test]
fn tokens_are_four_letters_or_one_sign() {
    for (text, expected) in [
        ("", 0),
        ("abcd", 1),
        ("abcde", 2),
        ("\u{e4}\u{e4}", 1),
        ("\u{e4}\u{e4}\u{e4}", 2),
        ("\u{2e7f}\u{2e7f}", 1),
        ("\u{2e80}\u{2e80}", 2),
        ("\u{6f22}ab", 2),
    ] {
        assert_eq!(tokens(text), expected, "{text:?}");
    }
}

#[test]
fn headings_have_one_to_six_marks_and_a_space() {
    check(
        "# a\n###### b\n#\n#\tc\nText",
        &[
            ("h1", "# a", 1),
            ("h6", "###### b", 2),
            ("h1", "#", 3),
            ("h1", "#\tc", 4),
            ("paragraph", "Text", 5),
        ],
    );
    for text in ["#a", "####### a"] {
        check(text, &[("paragraph", text, 1)]);
    }
}

#[test]
fn headings_are_underlined_by_three_marks_and_more() {
    check("Title\n===", &[("h1", "Title\n===", 1)]);
    check("Title\n----", &[("h2", "Title\n----", 1)]);
    check(
        "Title\n--",
        &[("paragraph", "Title", 1), ("paragraph", "--", 2)],
    );
    check(
        "Title\n==-",
        &[("paragraph", "Title", 1), ("paragraph", "==-", 2)],
    );
    check(
        "One\nTwo\nTitle\n===\nThree",
        &[
            ("paragraph", "One", 1),
            ("paragraph", "Two", 2),
            ("h1", "Title\n===", 3),
            ("paragraph", "Three", 5),
        ],
    );
}

#[test]
fn tables_are_columns_and_rows() {
    check(
        "Above\n| a | b |\n|---|:-:|\n| 1 | 2 |\n3 | 4\nbelow",
        &[
            ("paragraph", "Above", 1),
            ("columns", "| a | b |\n|---|:-:|", 2),
            ("row", "| 1 | 2 |", 4),
            ("row", "3 | 4", 5),
            ("paragraph", "below", 6),
        ],
    );
    // No columns above, none below, or no rule between.
    check(
        "Title\n|---|",
        &[("paragraph", "Title", 1), ("paragraph", "|---|", 2)],
    );
    check("A | b\n---", &[("h2", "A | b\n---", 1)]);
    check(
        "A | b\n|:  |",
        &[("paragraph", "A | b", 1), ("paragraph", "|:  |", 2)],
    );
    check(
        "A | b\n|-x-|",
        &[("paragraph", "A | b", 1), ("paragraph", "|-x-|", 2)],
    );
}

#[test]
fn code_is_between_fences_of_the_same_marks() {
    check(
        "```sh\n# no\n\n- no\n```\nText",
        &[
            ("code", "```sh\n# no\n\n- no\n```", 1),
            ("paragraph", "Text", 6),
        ],
    );
    check(
        "~~~~\n~~~\n~~~~ x\n````\n~~~~~\nText",
        &[
            ("code", "~~~~\n~~~\n~~~~ x\n````\n~~~~~", 1),
            ("paragraph", "Text", 6),
        ],
    );
    check(
        "Text\n```\nopen",
        &[("paragraph", "Text", 1), ("code", "```\nopen", 2)],
    );
    for text in ["``\nx", "``` a `b`\nx"] {
        let first = text.lines().next().unwrap();
        assert_eq!(blocks(text)[0].0, "paragraph", "{first}");
    }
    check("~~~ a ~b~\nx", &[("code", "~~~ a ~b~\nx", 1)]);
}

#[test]
fn items_have_what_is_indented_and_what_goes_on() {
    check(
        "- a\n  own\n\n  own too\n* b\n+ c\n1. d\n123456789) e",
        &[
            ("item0", "- a\n  own\n\n  own too", 1),
            ("item0", "* b", 5),
            ("item0", "+ c", 6),
            ("item0", "1. d", 7),
            ("item0", "123456789) e", 8),
        ],
    );
    check(
        "- a\nlazy\n\nNot lazy",
        &[("item0", "- a\nlazy", 1), ("paragraph", "Not lazy", 4)],
    );
    check(
        "  - a\n    own\n\n  b\n- c\n\n d\ne",
        &[
            ("item2", "  - a\n    own", 1),
            ("paragraph", "  b", 4),
            ("item0", "- c\n\n d\ne", 5),
        ],
    );
    check("- a\n# b", &[("item0", "- a", 1), ("h1", "# b", 2)]);
    check(
        "- a\n  - b\n- c",
        &[
            ("item0", "- a", 1),
            ("item2", "  - b", 2),
            ("item0", "- c", 3),
        ],
    );
    check(
        "- a\n  ```\n  - no\n\n  ```\n- b",
        &[
            ("item0", "- a\n  ```\n  - no\n\n  ```", 1),
            ("item0", "- b", 6),
        ],
    );
    check(
        "- a\n```\nx\n```",
        &[("item0", "- a", 1), ("code", "```\nx\n```", 2)],
    );
    for text in ["-a", "1.a", "1234567890. a", "1", "a. b"] {
        check(text, &[("paragraph", text, 1)]);
    }
    check(
        "-\n1.\n*\tx",
        &[("item0", "-", 1), ("item0", "1.", 2), ("item0", "*\tx", 3)],
    );
}

#[test]
fn leads_name_what_comes_after_them() {
    check(
        "Shopping:\nMilk",
        &[("lead", "Shopping:", 1), ("paragraph", "Milk", 2)],
    );
    check(
        "**Car**\nIs red",
        &[("lead", "**Car**", 1), ("paragraph", "Is red", 2)],
    );
    check(
        "\u{8cb7}\u{3044}\u{7269}\u{ff1a}",
        &[("lead", "\u{8cb7}\u{3044}\u{7269}\u{ff1a}", 1)],
    );
    check(
        "**Car** and **bike**",
        &[("paragraph", "**Car** and **bike**", 1)],
    );
    check("**Car", &[("paragraph", "**Car", 1)]);
    let (longest, longer) = (
        format!("{}:", "x".repeat(59)),
        format!("{}:", "x".repeat(60)),
    );
    assert_eq!(blocks(&longest)[0].0, "lead");
    assert_eq!(blocks(&longer)[0].0, "paragraph");
}

#[test]
fn lines_of_a_wrapped_text_are_one_and_facts_are_parted() {
    let wide = |columns: usize| "X".repeat(columns);
    let is_one = |line: &str, next: &str| {
        let text = format!("{line}\n{next}");
        blocks(&text).len() == 1
    };
    assert!(is_one(&wide(60), "Next") && !is_one(&wide(59), "Next"));
    // Signs from the first radical on are two columns wide.
    for sign in ["\u{2e80}", "\u{6f22}"] {
        assert!(is_one(&sign.repeat(30), "Next") && !is_one(&sign.repeat(29), "Next"));
    }
    assert!(!is_one(&"\u{2e7f}".repeat(59), "Next"));
    for (line, next, expected) in [
        ("One", "Two", false),
        ("One", "two", true),
        ("One", "  two", true),
        ("One", "\u{e9}two", true),
        ("One,", "Two", true),
        ("One, ", "Two", true),
        ("One\u{3001}", "Two", true),
        ("One\u{ff0c}", "Two", true),
        ("One (", "Two", true),
        ("One  ", "two", false),
        ("One\\", "two", false),
        ("One:", "two", false),
        ("One", "key: value", false),
        ("One", "key:value", true),
        ("One", "key:", false),
        ("One", "\u{9375}\u{ff1a}value", false),
        ("One,", "*key*: value", false),
        ("One,", "(key: value", true),
        ("One,", "a.b: value", true),
        ("One,", "a, b: value", true),
        ("One,", "a! b: value", true),
        ("One,", "a? b: value", true),
    ] {
        assert_eq!(is_one(line, next), expected, "{line:?} {next:?}");
    }
    let (name, longer) = ("x".repeat(30), "x".repeat(31));
    assert!(!is_one("One,", &format!("{name}: value")));
    assert!(is_one("One,", &format!("{longer}: value")));
}

#[test]
fn block_is_apart_when_nothing_or_a_blank_line_is_before_it() {
    let apart = |text: &str| -> Vec<bool> {
        let all = blocks(text).into_iter();
        all.map(|(_, _, _, is_apart)| is_apart).collect()
    };
    assert_eq!(
        apart("One\nTwo\n\nThree\n \nFour"),
        [true, false, true, true]
    );
    assert_eq!(
        apart("# A\nB\n\n# C\n\n- D\n- E"),
        [true, false, true, true, false]
    );
    assert_eq!(apart("\nOne\r\n\r\nTwo"), [true, true]);
}

#[test]
fn pieces_are_cut_between_words() {
    let of = |text: &str, limit: usize| {
        let block = Block {
            kind: Kind::Code,
            range: 2..text.len() - 2,
            line: 5,
            tokens: 0,
            is_apart: true,
        };
        let pieces = pieces(text, &block, limit).into_iter();
        let short = |piece: Block| {
            assert_eq!(piece.kind, Kind::Paragraph);
            assert_eq!(piece.tokens, tokens(&text[piece.range.clone()]));
            let shown = text[piece.range].to_owned();
            (shown, piece.line, piece.is_apart)
        };
        pieces.map(short).collect::<Vec<_>>()
    };
    let piece = |text: &str, line: usize, is_apart: bool| (text.to_owned(), line, is_apart);
    assert_eq!(
        of("..one two three\n\nfour..", 2),
        [
            piece("one two ", 5, true),
            piece("three", 5, true),
            piece("four", 7, false)
        ]
    );
    // No space in the second half: cut where it ends.
    assert_eq!(
        of("..a bcdefghij..", 2),
        [piece("a bcdefg", 5, true), piece("hij", 5, true)]
    );
    assert_eq!(
        of("..\u{6f22}\u{6f22}\u{6f22}..", 2),
        [
            piece("\u{6f22}\u{6f22}", 5, true),
            piece("\u{6f22}", 5, true)
        ]
    );
    assert_eq!(of("..abcdefgh..", 2), [piece("abcdefgh", 5, true)]);
    // At the last space of the second half, but not of the first.
    assert_eq!(
        of("..abcde fghij..", 2),
        [piece("abcde ", 5, true), piece("fghij", 5, true)]
    );
    assert_eq!(
        of("..abcd efghi..", 2),
        [piece("abcd efg", 5, true), piece("hi", 5, true)]
    );
}
