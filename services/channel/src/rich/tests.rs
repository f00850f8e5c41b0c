use proptest::prelude::*;

use super::*;

fn shown(markdown: &str) -> String {
    read(markdown).text()
}

#[test]
fn markdown_shows_what_it_says() {
    for (markdown, text) in [
        ("one\ntwo", "one\ntwo"),
        ("# Title\n\ntext", "Title\n\ntext"),
        ("- a\n- b\n  - c\n\nend", "• a\n• b\n  • c\n\nend"),
        ("3. a\n4. b", "3. a\n4. b"),
        ("- [x] done\n- [ ] open", "• ☑ done\n• ☐ open"),
        ("- a\n\n- b\n\n  more", "• a\n• b\n\nmore"),
        ("```rust\nfn a() {}\n```\nend", "fn a() {}\n\nend"),
        ("> quoted\n\nmine", "quoted\n\nmine"),
        ("a <b>c</b> & d", "a <b>c</b> & d"),
        ("[x](https://a.b) [y](../z)", "x y (../z)"),
        ("![](https://a.b/c.png)", "https://a.b/c.png"),
        ("a\n\n---\n\nb", "a\n\n———\n\nb"),
        ("|a|b|\n|-|-|\n|cc|d|", "a  | b\n---+--\ncc | d"),
    ] {
        assert_eq!(shown(markdown), text, "{markdown:?}");
    }
}

#[test]
fn markdown_has_styles() {
    let rich = read("**b *i*** ~~s~~ `c` [l](https://x.y)\n\n```py\ncode\n```");
    let style = |text: &str| {
        let run = rich.runs().iter().find(|run| run.text == text);
        run.unwrap_or_else(|| panic!("{text}: {rich:?}"))
            .style
            .clone()
    };
    assert!(style("b ").is_bold && !style("b ").is_italic);
    assert!(style("i").is_bold && style("i").is_italic);
    assert!(style("s").is_struck);
    assert!(style("c").is_code);
    assert_eq!(style("l").link.as_deref(), Some("https://x.y"));
    let block = rich.runs().iter().find_map(|run| run.style.block.clone());
    assert_eq!(block.as_deref(), Some("py"));
}

#[test]
fn split_keeps_a_block_of_code_whole() {
    let code = "let a = 1;\n".repeat(10);
    let markdown = format!("{}\n\n```rust\n{code}```\n\nend", "word ".repeat(20));
    let parts = read(&markdown).split(150);
    assert_eq!(parts.len(), 2, "{parts:?}");
    assert!(parts[1].text().starts_with("let a = 1;\n"));
    assert!(parts[1].text().ends_with("end"));
}

#[test]
fn split_has_no_more_styles_in_a_part_than_are_shown() {
    let words: Vec<String> = (0..250).map(|n| format!("**b{n}** and *i{n}*")).collect();
    let rich = read(&words.join(" "));
    let parts = rich.split(100_000);
    assert_eq!(parts.len(), 5, "{parts:?}");
    for part in &parts {
        let styled = |run: &&Run| run.style != Style::default();
        assert_eq!(part.runs().iter().filter(styled).count(), 100);
    }
    let texts: Vec<String> = parts.iter().map(Rich::text).collect();
    assert_eq!(texts.join(" "), rich.text());
    assert_eq!(read("plain **bold**").split(4000).len(), 1);
}

#[test]
fn split_goes_on_with_a_block_that_is_too_long() {
    let code: String = (0..100).map(|n| format!("    line {n}\n")).collect();
    let parts = read(&format!("see\n\n```\n{code}```")).split(200);
    assert!(parts.len() > 5);
    for part in &parts[1..] {
        assert!(part.runs().iter().all(|run| run.style.block.is_some()));
        assert!(part.text().starts_with("    line "), "{:?}", part.text());
    }
}

#[test]
fn split_cuts_no_pair_of_units() {
    let parts = Rich::plain(&"😀".repeat(10)).split(5);
    assert_eq!(parts.len(), 5);
    assert!(parts.iter().all(|part| part.units() == 4));
}

#[test]
fn split_cuts_no_character_that_people_see_as_one() {
    for one in [
        "👩\u{200d}👩\u{200d}👧",
        "e\u{301}\u{323}",
        "🇩🇪",
        "👍🏽",
        "नि",
    ] {
        let text = one.repeat(3000);
        for limit in [4096, 4095, 4000, 50] {
            let parts = Rich::plain(&text).split(limit);
            let least = limit - units(one);
            for part in &parts {
                assert!(part.text().replace(one, "").is_empty(), "{one} {limit}");
                assert!(part.units() <= limit);
            }
            let whole = parts.split_last().unwrap().1;
            assert!(whole.iter().all(|part| part.units() > least), "{one}");
        }
    }
    // One that is longer than a message is cut somewhere.
    let long = "e".to_owned() + &"\u{301}".repeat(100);
    let parts = Rich::plain(&long).split(10);
    assert_eq!(parts.iter().map(Rich::text).collect::<String>(), long);
}

fn dense(text: &str) -> String {
    text.chars().filter(|it| !it.is_whitespace()).collect()
}

/// Pieces that Markdown gives a meaning, and others.
fn markdown() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[a-z ]{1,30}",
        "[äß😀\u{200d}€]{1,10}",
        Just("\n\n".to_owned()),
        Just("\n".to_owned()),
        Just("**".to_owned()),
        Just("*".to_owned()),
        Just("`".to_owned()),
        Just("\n```rust\n".to_owned()),
        Just("\n```\n".to_owned()),
        Just("\n    ".to_owned()),
        Just("\n- ".to_owned()),
        Just("\n> ".to_owned()),
        Just("[a](https://b.c)".to_owned()),
        Just("<i>&amp;".to_owned()),
        Just("|a|b|\n|-|-|\n|c|d|\n".to_owned()),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn split_fits_and_loses_nothing(markdown in markdown(), limit in 2_usize..200) {
        let rich = read(&markdown);
        let parts = rich.split(limit);
        for part in &parts {
            prop_assert!(part.units() <= limit);
            prop_assert!(!part.is_blank());
        }
        let joined: String = parts.iter().map(Rich::text).collect();
        prop_assert_eq!(dense(&joined), dense(&rich.text()));
    }

    #[test]
    fn split_leaves_what_fits(markdown in markdown()) {
        let rich = read(&markdown);
        prop_assert!(rich.split(rich.units().max(2)).len() <= 1);
    }

    #[test]
    fn split_cuts_a_block_only_when_it_must(lines in 1_usize..12, before in 0_usize..150) {
        let code = "0123456789\n".repeat(lines);
        let markdown = format!("{}\n\n```\n{code}```\n\nafter", "x".repeat(before));
        let parts = read(&markdown).split(150);
        let whole = code.trim_end();
        prop_assert!(parts.iter().any(|part| part.text().contains(whole)), "{:?}", parts);
    }
}

/// Whoever writes a reply chooses its tables and lists, and a program that cannot show one would be
/// given it again.
#[test]
fn markdown_takes_no_more_room_than_what_it_shows() {
    const MORE: usize = 64;
    let wide = "w".repeat(70_000);
    let rows = "|a|b|\n".repeat(2000);
    for markdown in [
        format!("|{wide}|b|\n|-|-|\n|a|b|\n"),
        format!("|{wide}|b|\n|-|-|\n{rows}"),
        format!("{}x", "- ".repeat(5000)),
        format!("{}x", "1. ".repeat(5000)),
        format!("{}x\n{}", "> ".repeat(5000), "y\n".repeat(5000)),
        "a\n\n".repeat(200_000),
        "[a](b) ".repeat(50_000),
    ] {
        let shown = shown(&markdown);
        let beginning: String = markdown.chars().take(20).collect();
        assert!(
            shown.len() <= MORE * markdown.len(),
            "{beginning}: {}",
            shown.len()
        );
    }
    let table = shown("|a|b|\n|-|-|\n|cc|d|");
    assert_eq!(table, "a  | b\n---+--\ncc | d");
}
