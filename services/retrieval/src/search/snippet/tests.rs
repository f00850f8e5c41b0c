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
fn a_short_passage_is_shown_whole() {
    let snippet = shown("one\ntwo fox", "fox");
    assert_eq!((snippet.line, snippet.text.as_str()), (0, "one\ntwo fox"));
}

#[test]
fn of_a_long_one_the_lines_around_the_match() {
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
fn at_the_end_the_lines_before_are_shown_too() {
    let mut lines: Vec<String> = (0..60).map(|n| format!("- line number {n}")).collect();
    lines[59] = "- fox".to_owned();
    let snippet = shown(&lines.join("\n"), "fox");
    assert!(snippet.text.chars().count() > SIZE - 30);
    assert!(snippet.text.ends_with("- fox"));
}

#[test]
fn a_long_line_is_cut_around_the_match() {
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
    assert!(of("zebra").is_empty() && !of("renard").is_empty() && !of("vixen").is_empty());
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
    let seen = |language| !wanted.matches("four tyres", language).is_empty();
    assert!(seen(Language::French) && !seen(Language::English));
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
