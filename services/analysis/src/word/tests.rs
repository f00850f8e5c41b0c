use super::*;

/// The parts of a text: words as they are, wholes between `<>`, bigrams
/// between `[]`.
fn parts(text: &str) -> String {
    let mut found = Vec::new();
    split(text, |part| {
        found.push(match part {
            Part::Word(word) => word.to_owned(),
            Part::Whole(word) => format!("<{word}>"),
            Part::Bigram(pair) => format!("[{pair}]"),
        });
    });
    found.join(" ")
}

#[test]
fn words_are_joined_by_one_or_two_joiners() {
    for (text, expected) in [
        ("one two, three", "one two three"),
        ("a_b-c.d", "<a_b-c.d> a b c d"),
        ("std::fs", "<std::fs> std fs"),
        ("a->b", "<a->b> a b"),
        ("https://x.org", "https <x.org> x org"),
        ("a@b/c+d#e~f", "<a@b/c+d#e~f> a b c d e f"),
        ("user's and user\u{2019}s", "user s and user s"),
        ("end. Next-", "end Next"),
        ("-x", "x"),
        ("", ""),
        ("caf\u{e9} e\u{301}t\u{e9}", "caf\u{e9} e\u{301}t\u{e9}"),
    ] {
        assert_eq!(parts(text), expected, "{text}");
    }
}

#[test]
fn numbers_of_a_whole_have_three_digits_to_stand_alone() {
    for (text, expected) in [
        ("2026-03-04", "<2026-03-04> 2026"),
        ("1.23.456", "<1.23.456> 456"),
        ("14:32", "<14:32>"),
        ("v1.2", "<v1.2> v1 2"),
        ("12", "12"),
    ] {
        assert_eq!(parts(text), expected, "{text}");
    }
}

#[test]
fn capitals_begin_parts_of_a_word() {
    for (text, expected) in [
        ("loadFile", "<loadFile> load File"),
        ("HTTPServer", "<HTTPServer> HTTP Server"),
        ("ServerHTTP", "<ServerHTTP> Server HTTP"),
        ("ABC", "ABC"),
        ("Load", "Load"),
        ("aB", "<aB> a B"),
        ("loadX", "<loadX> load X"),
        ("ABc", "<ABc> A Bc"),
        ("load2File", "<load2File> load2 File"),
    ] {
        assert_eq!(parts(text), expected, "{text}");
    }
}

#[test]
fn scripts_without_spaces_are_pairs() {
    for (text, expected) in [
        ("\u{732b}", "[\u{732b}]"),
        (
            "\u{6771}\u{4eac}\u{90fd}",
            "[\u{6771}\u{4eac}] [\u{4eac}\u{90fd}]",
        ),
        // A sign between endings is a word by itself.
        (
            "\u{732b}\u{306e}\u{540d}",
            "[\u{732b}\u{306e}] [\u{306e}\u{540d}] [\u{732b}] [\u{540d}]",
        ),
        (
            "\u{306e}\u{732b}\u{306e}",
            "[\u{306e}\u{732b}] [\u{732b}\u{306e}] [\u{732b}]",
        ),
        ("\u{306e}\u{306e}", "[\u{306e}\u{306e}]"),
        ("GPU\u{30e1}\u{30e2}", "GPU [\u{30e1}\u{30e2}]"),
        ("\u{ac00}\u{ac01} x", "[\u{ac00}\u{ac01}] x"),
    ] {
        assert_eq!(parts(text), expected, "{text}");
    }
    let runs: Vec<_> = runs("ab \u{732b}\u{732b}c").collect();
    assert_eq!(
        runs,
        [("ab ", true), ("\u{732b}\u{732b}", false), ("c", true)]
    );
    assert_eq!(super::runs("").count(), 0);
}
