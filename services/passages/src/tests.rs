use super::*;

fn texts(text: &str) -> Vec<&str> {
    cut(text).into_iter().map(|p| &text[p.range]).collect()
}

fn under(text: &str) -> Vec<(&str, String)> {
    let passages = cut(text).into_iter();
    passages
        .map(|p| (&text[p.range], p.context.join(" > ")))
        .collect()
}

fn paragraph(words: usize) -> String {
    "word ".repeat(words).trim_end().to_owned()
}

#[test]
fn passages_are_facts_under_their_headings() {
    let text = "# Papers\n\nIn the safe.\n\n## Passport\n- Number: C01X\n- Expires: 2031-04-12\n\n## Nothing\n";
    let expected = [
        ("In the safe.", "Papers"),
        ("- Number: C01X", "Papers > Passport"),
        ("- Expires: 2031-04-12", "Papers > Passport"),
        ("## Nothing", "Papers"),
    ];
    assert_eq!(
        under(text),
        expected.map(|(text, above)| (text, above.to_owned()))
    );
    assert_eq!(cut(text)[2].line, 7);
    assert!(cut("\n \n---\n").is_empty());
}

#[test]
fn lines_of_a_paragraph_stand_under_what_the_first_is_about() {
    let text = "Minka, a ginger cat.\nBorn in May.\nVet: Dr Wirth\n\nLater.";
    let expected = [
        ("Minka, a ginger cat.", ""),
        ("Born in May.", "Minka"),
        ("Vet: Dr Wirth", ""),
        ("Later.", ""),
    ];
    assert_eq!(
        under(text),
        expected.map(|(text, above)| (text, above.to_owned()))
    );
    // Nothing that tells something itself.
    assert_eq!(under("On Monday, a walk.\nBought bread.")[1].1, "");
}

#[test]
fn items_below_items_stand_under_them() {
    let text = "Shopping:\n- Market\n  on Saturday\n  - leek\n    ```\n    - no item\n    ```\n  - milk\n- Pharmacy\n\nLater.";
    let expected = [
        ("- Market\n  on Saturday", "Shopping"),
        (
            "  - leek\n    ```\n    - no item\n    ```",
            "Shopping > Market",
        ),
        ("  - milk", "Shopping > Market"),
        ("- Pharmacy", "Shopping"),
        ("Later.", ""),
    ];
    assert_eq!(
        under(text),
        expected.map(|(text, above)| (text, above.to_owned()))
    );
}

#[test]
fn rows_of_a_table_stand_under_its_columns() {
    let text = "# Phones\n| Who | Number |\n|---|---:|\n| Ada | 12 |\n| Bob | 34 |\n\nEnd.";
    let expected = [
        ("| Ada | 12 |", "Phones > Who | Number"),
        ("| Bob | 34 |", "Phones > Who | Number"),
        ("End.", "Phones"),
    ];
    assert_eq!(
        under(text),
        expected.map(|(text, above)| (text, above.to_owned()))
    );
}

#[test]
fn lines_of_facts_are_parted_and_wrapped_text_is_not() {
    let facts = "Wi-Fi: Kranich\nPassword: sieben\n鍵：青い鉢\nThe meter is in the cellar\nThe key is at Ida's";
    assert_eq!(texts(facts).len(), 5);
    let wrapped =
        "We went to the lake with everybody who had time on that Sunday\nin June. It rained.";
    assert_eq!(texts(wrapped), [wrapped]);
    let underlined = "Before.\n\nThe boiler\n----------\nIs old.";
    assert_eq!(under(underlined)[1], ("Is old.", "The boiler".to_owned()));
}

#[test]
fn code_blocks_are_not_torn() {
    let code = format!("```sh\n{}\n\n# no heading\n```", "make all\n".repeat(120));
    let text = format!("{}\n\n{code}\n\n{}\n", paragraph(250), paragraph(250));
    let passages = texts(&text);
    assert_eq!(passages.iter().filter(|p| **p == code).count(), 1);
}

#[test]
fn pages_of_a_message_are_large() {
    let item = format!("- {}\n", paragraph(30));
    let text = format!("# Plan\n{}", item.repeat(40));
    let pages = pages(&text);
    assert!((3..8).contains(&pages.len()), "{pages:?}");
    assert!(text[pages[0].clone()].starts_with("# Plan\n- word"));
    assert_eq!(
        pages.last().map(|page| page.end),
        Some(text.trim_end().len())
    );
}

proptest::proptest! {
    #[test]
    fn passages_nothing_is_lost_and_no_passage_is_too_large(
        lines in proptest::collection::vec("(#{1,3} |- |  - |  |```|\\| |\\|-\\||---|)[a-zé漢:|]{0,60}( [a-z]{0,300})?", 0..80)
    ) {
        let text = lines.join("\n");
        let passages = cut(&text);
        let mut end = 0;
        let mut missed = String::new();
        for passage in &passages {
            proptest::prop_assert!(passage.range.start >= end);
            missed.push_str(&text[end..passage.range.start]);
            let before = &text[..passage.range.start];
            proptest::prop_assert_eq!(passage.line, before.matches('\n').count() + 1);
            let tokens = block::tokens(&text[passage.range.clone()]);
            proptest::prop_assert!(tokens <= 3 * TARGET, "{tokens}");
            end = passage.range.end;
        }
        missed.push_str(&text[end..]);
        let above: Vec<String> = passages.iter().flat_map(|p| p.context.clone()).collect();
        for line in missed.lines().filter(|line| line.contains(char::is_alphanumeric)) {
            let title = title(line);
            proptest::prop_assert!(above.contains(&title), "{line}");
        }
    }
}

#[test]
fn title_is_the_name_of_what_is_under_it() {
    for (text, expected) in [
        ("## A heading", "A heading"),
        ("Title\n===", "Title"),
        ("**Car**", "Car"),
        ("- Market: \n  on Saturday", "Market"),
        ("+ Market", "Market"),
        ("* Market", "Market"),
        ("| Who | Number |\n|---|---|", "Who | Number"),
        ("Shopping:", "Shopping"),
        ("\u{8cb7}\u{7269}\u{ff1a}", "\u{8cb7}\u{7269}"),
        ("1. First", "1. First"),
    ] {
        assert_eq!(title(text), expected, "{text:?}");
    }
    assert_eq!(title(&"x".repeat(300)).len(), 200);
}

#[test]
fn passage_has_up_to_four_hundred_tokens_and_code_and_items_twice_that() {
    let words = |tokens: usize| {
        format!(
            "{}.",
            "abc ".repeat(tokens).trim_end().strip_suffix('c').unwrap()
        )
    };
    let sizes = |text: &str| -> Vec<usize> { cut(text).iter().map(|one| one.tokens).collect() };
    assert_eq!(sizes(&words(400)), [400]);
    let cut_up = sizes(&words(401));
    assert!(
        cut_up.len() == 2 && cut_up.iter().all(|tokens| *tokens <= 400),
        "{cut_up:?}"
    );
    assert_eq!(cut_up[0], 400, "five pieces of eighty");
    let item = |tokens: usize| format!("- {}", &words(tokens)[2..]);
    assert_eq!(sizes(&item(800)), [800]);
    assert!(sizes(&item(801)).len() > 1);
    let code = |lines: usize| format!("```\n{}```", "abcdefg\n".repeat(lines));
    assert_eq!(sizes(&code(398)), [798]);
    assert!(sizes(&code(400)).len() > 1);
}

#[test]
fn pieces_of_a_passage_stand_under_the_same_and_begin_where_they_do() {
    let line = "word ".repeat(60);
    let text = format!("# Plan\n{}", format!("{line}\n").repeat(12));
    let passages = cut(&text);
    assert!(passages.len() > 2);
    assert!(passages.iter().all(|passage| passage.context == ["Plan"]));
    let begins: Vec<bool> = passages.iter().map(|passage| passage.begins).collect();
    assert!(begins[0] && begins[1..].iter().all(|begins| !begins));
    for passage in &passages {
        let before = &text[..passage.range.start];
        assert_eq!(passage.line, before.matches('\n').count() + 1);
        assert!(passage.tokens <= TARGET);
    }
}

#[test]
fn first_under_each_heading_begins() {
    let text = "Before.\n\nMore.\n# A\nOne.\n\nTwo.\n## B\nThree.\n";
    let begins: Vec<(&str, bool)> = cut(text)
        .into_iter()
        .map(|passage| (&text[passage.range], passage.begins))
        .collect();
    let expected = [
        ("Before.", true),
        ("More.", false),
        ("One.", true),
        ("Two.", false),
        ("Three.", true),
    ];
    assert_eq!(begins, expected);
}

#[test]
fn passages_what_stands_above_ends_where_its_own_kind_goes_on() {
    for (text, expected) in [
        (
            "# A\n## B\nOne.\n## C\nTwo.\n# D\nThree.",
            &[("One.", "A > B"), ("Two.", "A > C"), ("Three.", "D")][..],
        ),
        ("# A\n# B\nOne.", &[("# A", ""), ("One.", "B")]),
        (
            "# A\nTools:\n- hammer\n- saw\n\nOther text.",
            &[
                ("- hammer", "A > Tools"),
                ("- saw", "A > Tools"),
                ("Other text.", "A"),
            ],
        ),
        (
            "Tools:\nA hammer.\n\nFood:\n\nBread.",
            &[("A hammer.", "Tools"), ("Bread.", "Food")],
        ),
        (
            "Tools:\nA hammer.\nA saw.\n\nApart.",
            &[("A hammer.", "Tools"), ("A saw.", "Tools"), ("Apart.", "")],
        ),
        (
            "- a\n  - b\n    - c\n  - d\n- e",
            &[
                ("- a", ""),
                ("  - b", "a"),
                ("    - c", "a > b"),
                ("  - d", "a"),
                ("- e", ""),
            ],
        ),
        (
            "- a\n\n```\ncode\n```",
            &[("- a", ""), ("```\ncode\n```", "")],
        ),
        (
            "Rates:\n| a | b |\n|---|---|\n| 1 | 2 |\n- x",
            &[("| 1 | 2 |", "Rates > a | b"), ("- x", "")],
        ),
        ("# A\n## B", &[("## B", "A")]),
        ("Tools:", &[("Tools:", "")]),
    ] {
        let expected: Vec<(&str, String)> = expected
            .iter()
            .map(|(text, above)| (*text, (*above).to_owned()))
            .collect();
        assert_eq!(under(text), expected, "{text}");
    }
}

#[test]
fn pages_are_as_long_as_they_may_be_and_miss_nothing() {
    let fact = |tokens: usize| format!("{}.", "x".repeat(tokens * 4 - 1));
    let of = |sizes: &[usize]| {
        let facts: Vec<String> = sizes.iter().map(|tokens| fact(*tokens)).collect();
        let text = format!("# Plan\n\n{}\n", facts.join("\n\n"));
        let pages = pages(&text);
        assert!(text.starts_with(&text[..pages[0].end]) && pages[0].start == 0);
        pages
            .into_iter()
            .map(|page| text[page].len())
            .collect::<Vec<_>>()
    };
    let length = |tokens: usize| tokens * 4;
    let heading = "# Plan\n\n".len();
    assert_eq!(of(&[200, 200]), [heading + length(400) + 2]);
    assert_eq!(of(&[200, 201]), [heading + length(200), length(201)]);
    assert_eq!(
        of(&[100, 100, 201, 10]),
        [heading + length(200) + 2, length(211) + 2]
    );
    assert_eq!(super::pages(""), [0..0; 0]);
}

#[test]
fn first_line_of_few_words_is_above_the_others_and_a_passage() {
    let text = "Sports club Andritz\nThe fee is 96 a year\nHandball on Mondays\n\nApart";
    let found = cut(text);
    let told: Vec<(&str, usize)> = found
        .iter()
        .map(|passage| (&text[passage.range.clone()], passage.context.len()))
        .collect();
    assert_eq!(
        told,
        [
            ("Sports club Andritz", 0),
            ("The fee is 96 a year", 1),
            ("Handball on Mondays", 1),
            ("Apart", 0)
        ]
    );
    for text in ["Keys in the cellar\nPaint", "Room 12\nPaint", "Alone"] {
        assert!(
            cut(text).iter().all(|passage| passage.context.is_empty()),
            "{text}"
        );
    }
}

#[test]
fn items_stand_under_the_one_that_they_speak_of() {
    let text = "- Our neighbour is Emre\n- His cat is called Pixel\n- He lent us shears\n- Milk";
    let emre = "Our neighbour is Emre";
    let expected = [
        ("- Our neighbour is Emre", ""),
        ("- His cat is called Pixel", emre),
        ("- He lent us shears", emre),
        ("- Milk", ""),
    ];
    assert_eq!(
        under(text),
        expected.map(|(text, above)| (text, above.to_owned()))
    );
    // There is none before it.
    assert_eq!(under("- He left")[0].1, "");
}
