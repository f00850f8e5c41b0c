use super::*;

fn pieces(text: &str) -> Vec<Option<u32>> {
    let words = [
        "[UNK]", "un", "##aff", "##able", "run", "##ning", "cafe", "!", "猫", "run!",
    ];
    let mut found = Vec::new();
    Vocabulary::new(words.into_iter()).pieces(text, |piece| found.push(piece));
    found
}

#[test]
fn words_are_cut_longest_piece_first() {
    assert_eq!(pieces("unaffable"), [Some(1), Some(2), Some(3)]);
    assert_eq!(
        pieces("Running\tRUN!"),
        [Some(4), Some(5), Some(4), Some(7)]
    );
    assert_eq!(pieces("café 猫猫"), [Some(6), Some(8), Some(8)]);
    assert_eq!(pieces("runx un"), [None, Some(1)]);
    assert_eq!(pieces(&"run".repeat(50)), [None]);
    assert!(pieces(" \n\u{0}").is_empty());
}

proptest::proptest! {
    #[test]
    fn wordpiece_any_text_can_be_cut(text in "\\PC{0,80}") {
        pieces(&text);
    }
}

/// The words of a text, cut nowhere else.
fn words(text: &str) -> Vec<String> {
    let text = normalised(text);
    let mut rest = &*text;
    let mut words = Vec::new();
    while let Some((length, kind)) = next(rest) {
        if kind != Kind::Space {
            words.push(rest[..length].to_owned());
        }
        rest = &rest[length..];
    }
    words
}

#[test]
fn text_is_cut_at_spaces_marks_and_ideographs() {
    for (text, expected) in [
        ("Two  Words\n", &["two", "words"][..]),
        ("don't_do-it", &["don", "'", "t", "_", "do", "-", "it"]),
        ("\u{c9}t\u{e9} \u{e9}", &["ete", "e"]),
        (
            "\u{201c}a\u{201d}\u{2026}",
            &["\u{201c}", "a", "\u{201d}", "\u{2026}"],
        ),
        ("\u{732b}a\u{3002}", &["\u{732b}", "a", "\u{3002}"]),
        (
            "a\u{200b}b\u{fffd}c\u{feff}d\u{7}e",
            &["a", "b", "c", "d", "e"],
        ),
        ("\u{3b1}\u{3b2}1", &["\u{3b1}\u{3b2}1"]),
    ] {
        assert_eq!(words(text), expected, "{text:?}");
    }
}

#[test]
fn vocabulary_numbers_its_pieces_in_their_order() {
    let pieces: Vec<String> = (0..300).map(|n| format!("p{n}")).collect();
    let vocabulary = Vocabulary::new(pieces.iter().map(String::as_str));
    assert_eq!(vocabulary.size(), 300);
    for (piece, number) in pieces.iter().zip(0..) {
        assert_eq!(vocabulary.number(piece), Some(number));
        assert_eq!(vocabulary.piece(number as usize), piece);
    }
    assert_eq!(vocabulary.number("p300"), None);
    assert_eq!(vocabulary.number(""), None);
    assert_eq!(Vocabulary::new(["a"].into_iter()).number("b"), None);
}

#[test]
fn words_of_more_than_a_hundred_characters_are_none() {
    let vocabulary = Vocabulary::new(["a", "##a", "\u{3b1}", "##\u{3b1}"].into_iter());
    let count = |text: &str| {
        let mut found = Vec::new();
        vocabulary.pieces(text, |piece| found.push(piece));
        (found.len(), found.contains(&None))
    };
    for sign in ["a", "\u{3b1}"] {
        assert_eq!(count(&sign.repeat(100)), (100, false));
        assert_eq!(count(&sign.repeat(101)), (1, true));
    }
}

#[test]
fn pieces_are_cut_at_characters_and_not_longer_than_the_longest() {
    let vocabulary = Vocabulary::new(["ab", "##\u{3b1}\u{3b2}", "##c", "a"].into_iter());
    let numbers = |text: &str| {
        let mut found = Vec::new();
        vocabulary.pieces(text, |piece| found.push(piece));
        found
    };
    assert_eq!(numbers("ab\u{3b1}\u{3b2}c"), [Some(0), Some(1), Some(2)]);
    assert_eq!(numbers("ab\u{3b1}"), [None]);
    assert_eq!(
        numbers("abc ac a"),
        [Some(0), Some(2), Some(3), Some(2), Some(3)]
    );
    assert_eq!(numbers("c"), [None], "it only goes on");
}
