//! Parts of documents as other modules rely on them.

use openclaw_analysis::Language;

use crate::document::{Body, Document, Kind, Message, Source};
use crate::part::{self, Part, Unit};

fn unit(speaker: &str, context: &str, text: &str) -> Unit {
    Unit {
        text: text.to_owned(),
        context: context.to_owned(),
        kind: Kind::Told,
        speaker: speaker.to_owned(),
        message: None,
        timestamp_ms: None,
        line: 0,
        last_line: 0,
    }
}

#[test]
fn unit_means_what_it_says_under_its_headings_and_after_a_name() {
    let mut part = Part {
        units: vec![
            unit("Ada", "", "Hello."),
            unit("user", "Plans", "I go."),
            unit("", "", "Bye."),
        ],
        line: 0,
        language: Language::English,
        flows: true,
        hash: 0,
    };
    let meaning = |part: &Part, at: usize| part.meaning(at).unwrap_or_default();
    let each = [0, 1, 2, 3].map(|at| meaning(&part, at));
    assert_eq!(each, ["Ada: Hello.", "Plans\nI go.", "Bye.", ""]);
    let around = |part: &Part, at: usize| part.window_meaning(at);
    assert_eq!(around(&part, 0).unwrap(), "Ada: Hello.\nPlans\nI go.");
    assert_eq!(around(&part, 1).unwrap(), "Ada: Hello.\nPlans\nI go.\nBye.");
    assert_eq!(around(&part, 2).unwrap(), "Plans\nI go.\nBye.");
    part.flows = false;
    assert_eq!(around(&part, 1), None);
    part.flows = true;
    part.units.truncate(1);
    assert_eq!(around(&part, 0), None, "it is alone");
    for (speaker, is_name) in [
        ("Ada", true),
        ("", false),
        ("User", false),
        ("toolResult", false),
    ] {
        assert_eq!(part::is_name(speaker), is_name, "{speaker}");
    }
}

fn message(id: usize, speaker: &str, text: &str, minutes: i64) -> Message {
    Message {
        id: format!("m{id}"),
        speaker: speaker.to_owned(),
        text: text.to_owned(),
        timestamp_ms: minutes * 60_000,
        line: id as u32 + 1,
        is_echo: false,
    }
}

fn document(body: Body) -> Document {
    Document {
        path: "a".to_owned(),
        source: Source::Memory,
        stamp: String::new(),
        modified_ms: 0,
        day_ms: None,
        topic: String::new(),
        body,
    }
}

fn conversation(messages: Vec<Message>) -> Vec<Part> {
    part::parts(&document(Body::Messages(messages)))
}

#[test]
fn conversation_is_parted_at_silences_of_four_hours_and_after_64_messages() {
    let sizes = |minutes: &[i64]| -> Vec<usize> {
        let messages = minutes.iter().enumerate();
        let messages = messages.map(|(id, minutes)| message(id, "Ada", "hi", *minutes));
        let parts = conversation(messages.collect());
        parts.iter().map(|part| part.units.len()).collect()
    };
    assert_eq!(sizes(&[0, 239, 478]), [3]);
    assert_eq!(sizes(&[0, 240, 479]), [1, 2]);
    assert_eq!(sizes(&(0..64).collect::<Vec<_>>()), [64]);
    assert_eq!(sizes(&(0..65).collect::<Vec<_>>()), [64, 1]);
    assert_eq!(sizes(&[]), [0_usize; 0]);
    let parts = conversation(vec![
        message(4, "Ada", "one", 0),
        message(6, "Ada", "two", 1),
    ]);
    assert_eq!(
        (
            parts[0].line,
            parts[0].units[1].line,
            parts[0].units[1].last_line
        ),
        (5, 2, 2)
    );
    assert!(parts[0].flows);
}

#[test]
fn messages_are_told_asked_or_answered() {
    let mut echo = message(0, "Ada", "I like tea.", 0);
    echo.is_echo = true;
    let said = vec![
        message(0, "Ada", "I like tea.", 0),
        message(1, "Ada", "What do you like?", 0),
        message(2, "Assistant", "What do you like?", 0),
        echo,
    ];
    let parts = conversation(said);
    let kinds: Vec<Kind> = parts[0].units.iter().map(|unit| unit.kind).collect();
    assert_eq!(kinds, [Kind::Told, Kind::Asked, Kind::Answered, Kind::Echo]);
}

#[test]
fn retrieval_long_message_is_cut_into_pages_of_its_own_time_and_speaker() {
    let text = "A sentence of some words. ".repeat(124);
    let exact = &text[..3199];
    for (text, is_whole) in [(format!("{exact}x"), true), (format!("{exact}xy"), false)] {
        let units = conversation(vec![message(7, "Ada", &text, 9)])
            .remove(0)
            .units;
        assert_eq!(units.len() == 1, is_whole, "{}", units.len());
        for unit in units {
            assert_eq!(
                (unit.speaker.as_str(), unit.timestamp_ms),
                ("Ada", Some(540_000))
            );
            assert_eq!(unit.message.as_deref(), Some("m7"));
        }
    }
}

#[test]
fn part_has_another_hash_when_anything_of_it_is_another() {
    let hash = |change: &dyn Fn(&mut Message)| {
        let mut message = message(0, "Ada", "I like tea.", 0);
        change(&mut message);
        conversation(vec![message]).remove(0).hash
    };
    let same = hash(&|_| {});
    assert_eq!(hash(&|_| {}), same);
    for changed in [
        hash(&|message| message.text.push('!')),
        hash(&|message| message.speaker.push('m')),
        hash(&|message| message.id.push('1')),
        hash(&|message| message.timestamp_ms += 1),
        hash(&|message| message.is_echo = true),
        hash(&|message| {
            message.speaker.push('I');
            message.text.remove(0);
        }),
    ] {
        assert_ne!(changed, same);
    }
    let of_text = |text: &str, topic: &str, day_ms: Option<i64>| {
        let document = Document {
            topic: topic.to_owned(),
            day_ms,
            ..document(Body::Text(text.to_owned()))
        };
        part::parts(&document).remove(0)
    };
    let note = of_text("One fact.\n\nAnother fact.", "garden", None);
    let lines: Vec<(u32, u32, &str)> = note
        .units
        .iter()
        .map(|unit| (unit.line, unit.last_line, unit.context.as_str()))
        .collect();
    assert_eq!(
        (note.line, lines),
        (1, vec![(0, 0, "garden"), (2, 2, "garden")])
    );
    assert!(note.flows && note.units[0].kind == Kind::Note);
    for other in [
        of_text("One fact.\n\nAnother fact.", "garage", None),
        of_text("One fact.\n\nAnother fact.", "garden", Some(0)),
        of_text("One fact.\n\n\nAnother fact.", "garden", None),
    ] {
        assert_ne!(other.hash, note.hash);
    }
    let large = "word ".repeat(150);
    assert!(
        !of_text(&large, "", None).flows,
        "what is large is understood alone"
    );
}

/// Notes of so many passages, each under its heading and of another size.
fn headed(passages: usize) -> String {
    let words = |number: usize| -> String {
        let words = (0..30 + number * 7 % 90).map(|word| format!("w{number}x{word} "));
        words.collect()
    };
    let all = (0..passages).map(|number| format!("# Heading {number}\n\n{}\n\n", words(number)));
    all.collect()
}

#[test]
fn text_is_parted_where_its_own_words_say_so_and_flows_where_passages_are_small() {
    // A part ends with 64 passages, or behind one in eight of those that are large or
    // before a heading; it flows when its passages have fewer than 100 tokens each.
    let text = headed(400);
    let passages = openclaw_passages::cut(&text);
    let parts = part::parts(&document(Body::Text(text.clone())));
    let mut expected = Vec::new();
    let (mut count, mut size) = (0, 0);
    for (number, passage) in passages.iter().enumerate() {
        (count, size) = (count + 1, size + passage.tokens);
        let next = passages.get(number + 1);
        let mean = if passage.tokens >= 100 || next.is_none_or(|next| next.begins) {
            8
        } else {
            32
        };
        let hash = xxhash_rust::xxh3::xxh3_64(text[passage.range.clone()].as_bytes());
        if count == 64 || hash.is_multiple_of(mean) || next.is_none() {
            expected.push((count, size < 100 * count));
            (count, size) = (0, 0);
        }
    }
    let found: Vec<(usize, bool)> = parts
        .iter()
        .map(|part| (part.units.len(), part.flows))
        .collect();
    assert_eq!(found, expected);
    let of = |flows: bool, least: usize| {
        let parts = found.iter();
        parts
            .filter(|part| part.1 == flows && part.0 >= least)
            .count()
    };
    assert!(of(true, 2) > 5 && of(false, 2) > 5, "{found:?}");
}

#[test]
fn last_part_of_a_text_flows_when_its_passages_are_small() {
    let of = |text: &str| part::parts(&document(Body::Text(text.to_owned())));
    let words = |count: usize| "word ".repeat(count);
    // A heading and what stands under it is one passage.
    for (text, flows) in [
        (words(20), true),
        (words(400), false),
        (
            format!("# A\n\n{}\n\n# B\n\n{}", words(60), words(61)),
            true,
        ),
    ] {
        let parts = of(&text);
        let last = parts.last().unwrap();
        let tokens: usize = openclaw_passages::cut(&text)
            .iter()
            .map(|it| it.tokens)
            .sum();
        assert_eq!(
            last.flows,
            flows,
            "{tokens} tokens in {} parts",
            parts.len()
        );
    }
}
