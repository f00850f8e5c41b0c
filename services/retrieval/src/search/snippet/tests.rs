use super::*;

fn shown(passage: &str, question: &str) -> Snippet {
    let word = |word: &str| SearchWord {
        keys: vec![term::key(word)],
        ..SearchWord::default()
    };
    let words: Vec<SearchWord> = question.split(' ').map(word).collect();
    let words: Vec<(&SearchWord, f32)> = words.iter().map(|word| (word, 1.0)).collect();
    let wanted = Wanted::new(&words, (Traits::default(), Sought::default()));
    best(passage, Language::English, &wanted)
}

#[test]
fn short_passage_is_shown_whole() {
    let snippet = shown("one\ntwo fox", "fox");
    assert_eq!((snippet.line, snippet.text.as_str()), (0, "one\ntwo fox"));
}

#[test]
fn snippet_of_a_long_one_the_lines_around_the_match() {
    let mut lines: Vec<String> = (0..120).map(|n| format!("- line number {n}")).collect();
    lines[30] = "- the fox and the hen".to_owned();
    lines[33] = "- the fox again".to_owned();
    let snippet = shown(&lines.join("\n"), "fox hen");
    assert_eq!(snippet.line, 30);
    assert!(snippet.text.starts_with("- the fox and the hen\n"));
    assert!(snippet.text.chars().count() <= SIZE);
    assert!(snippet.text.ends_with(char::is_numeric), "{}", snippet.text);
}

#[test]
fn snippet_at_the_end_the_lines_before_are_shown_too() {
    let mut lines: Vec<String> = (0..60).map(|n| format!("- line number {n}")).collect();
    lines[59] = "- fox".to_owned();
    let snippet = shown(&lines.join("\n"), "fox");
    assert!(snippet.text.chars().count() > SIZE - 30);
    assert!(snippet.text.ends_with("- fox"));
}

/// Seven hundred characters with the line breaks between them, without the last.
#[test]
fn lines_are_shown_that_just_fit() {
    let first = format!("fox {}", "x".repeat(345));
    for (second, lines) in [(350, 2), (351, 1)] {
        let passage = format!("{first}\n{}\n{}\nhen", "y".repeat(second), "z".repeat(300));
        let shown = shown(&passage, "fox");
        assert_eq!(
            (shown.line, shown.text.lines().count()),
            (0, lines),
            "{second}"
        );
    }
}

#[test]
fn snippet_long_line_is_cut_around_the_match() {
    let line = format!("{}a fox {}", "word ".repeat(200), "word ".repeat(50));
    let snippet = shown(&line, "fox");
    assert!(snippet.text.contains("a fox"));
    assert!(snippet.text.starts_with(ELLIPSIS));
    assert_eq!(snippet.text.chars().count(), SIZE - 1);
    let early = shown(&format!("fox {}", "word ".repeat(250)), "fox");
    assert!(early.text.starts_with("fox") && early.text.ends_with(ELLIPSIS));
}

#[test]
fn line_that_just_fits_is_shown_whole_and_a_longer_one_cut() {
    let filler = "nothing of it\n".repeat(60);
    for (size, is_whole) in [(SIZE, true), (SIZE + 1, false)] {
        let line = format!("a fox {}", "x".repeat(size - 6));
        let snippet = shown(&format!("{line}\n{filler}"), "fox");
        assert_eq!(snippet.text == line, is_whole, "{size}");
    }
}

/// Words that weigh so much, each with its relations.
fn wanted(words: &[(&str, &str, &str, f32)]) -> Wanted {
    let keys = |text: &str| -> Vec<u64> { text.split_whitespace().map(term::key).collect() };
    let words: Vec<(SearchWord, f32)> = words
        .iter()
        .map(|(own, related, foreign, weight)| {
            let word = SearchWord {
                keys: keys(own),
                related: keys(related),
                foreign: keys(foreign).into_iter().map(|key| (key, None)).collect(),
                ..SearchWord::default()
            };
            (word, *weight)
        })
        .collect();
    let words: Vec<(&SearchWord, f32)> =
        words.iter().map(|(word, weight)| (word, *weight)).collect();
    Wanted::new(&words, (Traits::default(), Sought::default()))
}

#[test]
fn matches_are_the_words_themselves_or_what_is_near_to_them() {
    let wanted = wanted(&[("fox", "vixen", "renard", 3.0), ("hen", "", "", 1.0)]);
    let of = |text: &str| wanted.matches(text, Language::English);
    let matches = |own, related, foreign| Matches {
        own,
        related,
        foreign,
        ..Matches::default()
    };
    assert_eq!(of("a Fox and hens"), matches(0b11, 0, 0));
    assert_eq!(of("the vixen, a hen"), matches(0b10, 0b01, 0));
    assert_eq!(of("un renard"), matches(0, 0, 0b01));
    assert_eq!(of("nothing, the and"), Matches::default());
    let weight = |text: &str| wanted.weight(of(text));
    assert_eq!(weight("fox hen"), 4.0);
    assert_eq!(weight("vixen"), 3.0 * 0.8);
    assert_eq!(weight("renard"), 3.0 * 0.5);
    assert_eq!(weight("fox vixen renard"), 3.0, "once");
    assert_eq!(weight("vixen renard"), 3.0 * 0.8);
    assert_eq!(
        ["zebra", "renard", "vixen"].map(|it| of(it).seen()),
        [0, 1, 1]
    );
    assert_eq!(of("renard").near(), 0);
    let mut seen = Vec::new();
    wanted.words("The fox is a zebra", Language::English, |one| {
        seen.push(one.own)
    });
    assert_eq!(seen, [0b01, 0], "words that say nothing are passed over");
}

#[test]
fn passage_is_whole_up_to_seven_hundred_characters() {
    let line = |length: usize| format!("fox {}", "\u{e4}".repeat(length - 4));
    assert_eq!(shown(&line(700), "fox").text, line(700));
    let cut = shown(&line(701), "fox").text;
    assert_eq!(cut.chars().count(), 699);
    assert!(cut.ends_with(ELLIPSIS));
    let lines = |last: usize| format!("{}\n{}", line(350), "x".repeat(last));
    assert_eq!(shown(&lines(349), "fox").text, lines(349));
    assert_eq!(shown(&lines(350), "fox").text, line(350), "whole lines");
}

#[test]
fn heaviest_words_choose_the_lines() {
    let wanted = wanted(&[("fox", "", "", 1.0), ("hen", "", "", 3.0)]);
    let filler = "x".repeat(400);
    let passage = format!("a fox\n{filler}\na hen\n{filler}\na fox");
    let snippet = best(&passage, Language::English, &wanted);
    assert_eq!(
        (snippet.line, snippet.text.as_str()),
        (2, &*format!("a hen\n{filler}\na fox"))
    );
    let none = best(&passage, Language::English, &super::Wanted::default());
    assert_eq!(none.line, 0, "nothing matches");
    assert_eq!(none.text, format!("a fox\n{filler}\na hen"));
    let long = format!(
        "a fox\n{} a hen {}\na fox",
        "x ".repeat(400),
        "x ".repeat(400)
    );
    let snippet = best(&long, Language::English, &wanted);
    assert_eq!(snippet.line, 1);
    assert!(snippet.text.contains("a hen"), "{}", snippet.text);
    assert_eq!(snippet.text.chars().count(), 700);
}

#[test]
fn line_that_is_cut_begins_a_hundred_characters_before_the_match() {
    let before = "x ".repeat(300);
    let line = format!("{before}fox {}", "y ".repeat(600));
    let text = shown(&line, "fox").text;
    let (start, _) = text.split_once("fox").unwrap();
    assert_eq!(
        start.chars().count(),
        101,
        "with the mark of what is left out"
    );
    assert!(text.starts_with(ELLIPSIS) && text.ends_with(ELLIPSIS));
    assert_eq!(text.chars().count(), 700);
    let near = format!("{}fox {}", "x ".repeat(50), "y ".repeat(600));
    let text = shown(&near, "fox").text;
    assert!(text.starts_with("x x"), "{text}");
    let at_end = format!("{}fox", "x ".repeat(400));
    let text = shown(&at_end, "fox").text;
    assert!(
        text.starts_with(ELLIPSIS) && text.ends_with("fox"),
        "{text}"
    );
    assert_eq!(text.chars().count(), 699);
}

#[test]
fn names_are_not_words_that_only_share_their_stem() {
    let name = |plain: &str, keys: &[&str]| SearchWord {
        plain: plain.to_owned(),
        keys: keys.iter().map(|key| term::key(key)).collect(),
        factor: 1.0,
        is_name: true,
        ..SearchWord::default()
    };
    // All three have the stem of what is read.
    let words = [
        name("maren", &["mar"]),
        name("mario", &["mar"]),
        name("mar", &["mar"]),
    ];
    let words: Vec<(&SearchWord, f32)> = words.iter().map(|word| (word, 1.0)).collect();
    let wanted = Wanted::new(&words, (Traits::default(), Sought::default()));
    assert_eq!(
        wanted.misnamed("marido", 0b111),
        0b011,
        "both, and not the one it begins with"
    );
    assert_eq!(wanted.misnamed("marido", 0b100), 0);
    assert_eq!(wanted.misnamed("marido", 0b001), 0b001);
    assert_eq!(wanted.misnamed("maren", 0b111), 0b010);
    assert_eq!(
        wanted.misnamed("mare", 0b111),
        0b010,
        "the beginning of a name"
    );
    assert_eq!(
        wanted.misnamed("m\u{e1}ren", 0b111),
        0b010,
        "without its accent"
    );
}

/// "Four" is an oven in French, and a number in English.
#[test]
fn matches_of_another_language_are_of_its_texts_alone() {
    let oven = SearchWord {
        foreign: vec![(term::key("four"), Some(Language::French))],
        ..SearchWord::default()
    };
    let wanted = Wanted::new(&[(&oven, 1.0)], (Traits::default(), Sought::default()));
    let seen = |language| wanted.matches("four tyres", language).seen() != 0;
    assert!(seen(Language::French) && !seen(Language::English));
}

/// "スタッドレス" has two of the five pairs of "フォレスター".
#[test]
fn matches_of_what_is_written_by_its_sound_are_half_of_it() {
    let part = |pair: &str| SearchWord {
        keys: vec![term::key(pair)],
        is_sounded: true,
        whole: 1,
        ..SearchWord::default()
    };
    let parts = ["フォ", "ォレ", "レス", "スタ", "ター"].map(part);
    let words: Vec<(&SearchWord, f32)> = parts.iter().map(|part| (part, 1.0)).collect();
    let wanted = Wanted::new(&words, (Traits::default(), Sought::default()));
    let own = |text: &str| {
        let found = wanted.matches(text, Language::English);
        wanted.without_shreds(found).own.count_ones()
    };
    assert_eq!(own("スタッドレス"), 0);
    assert_eq!(own("フォレスト"), 3);
    assert_eq!(own("フォレスター"), 5);
}

/// "Turnos" are shifts.
#[test]
fn matches_are_not_what_only_has_the_stem_of_another_language() {
    let turn = SearchWord {
        plain: "turn".to_owned(),
        keys: vec![term::key("turn")],
        ..SearchWord::default()
    };
    let wanted = Wanted::new(&[(&turn, 1.0)], (Traits::default(), Sought::default()));
    let wanted = wanted.in_language(Language::English);
    let own = |text: &str, language| wanted.matches(text, language).own;
    assert_eq!(own("turnos", Language::Spanish), 0);
    assert_eq!(own("turns", Language::English), 1);
    // As it is written it may be meant.
    assert_eq!(own("turn", Language::Spanish), 1);
}

/// A short text is easily taken for one of another language.
#[test]
fn matches_of_words_as_they_are_written_need_no_stem() {
    let pit = SearchWord {
        plain: "fosse".to_owned(),
        keys: vec![term::key("foss")],
        ..SearchWord::default()
    };
    let wanted = Wanted::new(&[(&pit, 1.0)], (Traits::default(), Sought::default()));
    // It says nothing in Italian.
    assert_eq!(wanted.matches("Fosse", Language::Italian).own, 1);
    assert_eq!(wanted.matches("pozza", Language::Italian).own, 0);
}

#[test]
fn matches_add_up_and_nothing_takes_another_away() {
    let all = Matches {
        own: 0b0011,
        related: 0b0101,
        foreign: 0b1001,
        opposite: 0b0110,
    };
    let none = Matches::default();
    assert_eq!(
        (all.with(all), all.with(none), none.with(all)),
        (all, all, all)
    );
    let other = Matches {
        own: 0b0100,
        ..none
    };
    assert_eq!(
        (all.with(other).own, all.near(), all.seen()),
        (0b0111, 0b0111, 0b1111)
    );
    assert_eq!((none.near(), none.seen()), (0, 0));
    // What is there in two ways is there.
    let twice = Matches {
        own: 1,
        related: 1,
        foreign: 1,
        ..none
    };
    assert_eq!((twice.near(), twice.seen()), (1, 1));
}

/// The word alone, as `text` has it, in texts of `language`.
fn found(word: &SearchWord, text: &str, language: Language) -> Matches {
    Wanted::new(&[(word, 1.0)], (Traits::default(), Sought::default())).matches(text, language)
}

#[test]
fn word_is_found_by_whatever_stands_for_it() {
    let keys = |word: &str| vec![term::key(word)];
    let wood = |is_kind| SearchWord {
        plain: "wood".to_owned(),
        keys: keys("wood"),
        foreign: vec![
            (term::key("renard"), None),
            (term::key("renard"), Some(Language::French)),
        ],
        things: keys("oak"),
        opposites: keys("metal"),
        is_kind,
        ..SearchWord::default()
    };
    let of = |text| found(&wood(true), text, Language::English);
    assert_eq!((of("wood").own, of("Wood,").own, of("iron").own), (1, 1, 0));
    assert_eq!((of("metal").opposite, of("metal").seen()), (1, 0));
    // Oak is a wood, where it is asked which; otherwise it only has to do with it.
    let oak = |is_kind| found(&wood(is_kind), "oak", Language::English);
    assert_eq!((oak(true).related, oak(true).foreign), (1, 0));
    assert_eq!((oak(false).related, oak(false).foreign), (0, 1));
    let renard = |language| found(&wood(true), "renard", language).foreign;
    assert_eq!([Language::French, Language::English].map(renard), [1, 1]);
}

#[test]
fn word_is_read_whatever_marks_and_letters_it_has() {
    let of = |own: &str, text, language| {
        let word = SearchWord {
            keys: vec![term::key(own)],
            ..SearchWord::default()
        };
        found(&word, text, language).own
    };
    let trouble = analysis::stem("\u{e4}rger", Language::German);
    for text in [
        "\u{e4}rger",
        "\u{e4}rger.",
        "(\u{c4}rger)",
        "der \u{c4}rger!",
    ] {
        assert_eq!(of(&trouble, text, Language::German), 1, "{text}");
    }
    assert_eq!(of("2b", "in room 2b", Language::English), 1);
    assert_eq!(of("2b", "2b", Language::English), 1);
    assert_eq!(of("fox", "--", Language::English), 0);
    assert_eq!(of("fox", "", Language::English), 0);
}

#[test]
fn name_is_not_found_in_a_word_that_shares_its_stem() {
    let stem = term::key(&analysis::stem("marido", Language::Spanish));
    let of = |name: &str, text: &str| {
        let word = SearchWord {
            plain: name.to_owned(),
            keys: vec![stem],
            is_name: true,
            ..SearchWord::default()
        };
        found(&word, text, Language::Spanish).own
    };
    assert_eq!(of("maren", "marido"), 0);
    assert_eq!(of("marido", "marido"), 1);
    assert_eq!(of("maren", "maren"), 1, "as it is written");
}

#[test]
fn words_of_one_kind_are_told_by_their_bits() {
    let word = |plain: &str, whole, is_such| SearchWord {
        plain: plain.to_owned(),
        whole,
        is_name: is_such,
        is_kind: is_such,
        is_noun: is_such,
        is_doing: is_such,
        is_needed: is_such,
        is_sought: is_such,
        is_bare: is_such,
        related: vec![1; usize::from(is_such)],
        head: is_such.then(|| "tank".to_owned()),
        ..SearchWord::default()
    };
    let words = [
        word("diesel", 7, true),
        word("winter", 7, false),
        word("fox", 0, true),
        word("hen", 0, false),
    ];
    let words: Vec<(&SearchWord, f32)> = words.iter().map(|word| (word, 1.0)).collect();
    let wanted = Wanted::new(&words, (Traits::default(), Sought::default()));
    let such = [
        wanted.names,
        wanted.kinds,
        wanted.nouns,
        wanted.doing,
        wanted.needed,
        wanted.told_without,
        wanted.bare,
        wanted.known_others,
    ];
    assert_eq!(such, [0b0101; 8]);
    assert_eq!(wanted.times, 0b0010);
    assert_eq!(wanted.wholes, [0b0011, 0b0011, 0, 0]);
    let heads: Vec<u64> = wanted.heads.iter().map(|(bit, _)| *bit).collect();
    assert_eq!(heads, [0b0001, 0b0100]);
}

#[test]
fn words_beyond_what_can_be_told_apart_are_left_out() {
    let words: Vec<SearchWord> = (0..70)
        .map(|key| SearchWord {
            keys: vec![key],
            ..SearchWord::default()
        })
        .collect();
    let words: Vec<(&SearchWord, f32)> = words.iter().map(|word| (word, 1.0)).collect();
    let wanted = Wanted::new(&words, (Traits::default(), Sought::default()));
    assert_eq!(wanted.weights.len(), 64);
    assert_eq!((wanted.bit(63).own, wanted.bit(64).own), (1 << 63, 0));
}

#[test]
fn wanted_day_is_that_of_the_note_with_its_name() {
    let day = Day {
        name: "2026-11-20".to_owned(),
        key: 5,
    };
    let word = SearchWord {
        keys: vec![5],
        ..SearchWord::default()
    };
    let wanted = Wanted::new(&[(&word, 1.0)], (Traits::default(), Sought::default()));
    assert_eq!(
        (wanted.day_bit(), wanted.is_about("2026-11-20")),
        (0, false)
    );
    let wanted = wanted.with_day(Some(day));
    assert_eq!((wanted.day_bit(), wanted.is_about("2026-11-20")), (1, true));
    assert!(!wanted.is_about("2026-11-21"));
}

#[test]
fn line_that_is_cut_shows_the_first_of_equal_matches() {
    let line = format!(
        "{}fox one {}fox two {}",
        "x ".repeat(400),
        "x ".repeat(400),
        "x ".repeat(400)
    );
    let text = shown(&line, "fox").text;
    assert!(
        text.contains("fox one") && !text.contains("fox two"),
        "{text}"
    );
}
