use openclaw_turn::Hint;

use super::*;

fn said(text: &str) -> Option<(Kind, Language)> {
    SmallTalk::of(text, true).map(|said| (said.kind, said.language))
}

#[test]
fn small_talk_is_told_however_it_is_written() {
    for (kind, language, texts) in [
        (
            Kind::Greeting,
            Language::English,
            &[
                "hello",
                "Hello!",
                "HELLO",
                "hello?",
                "  hi  ",
                "Hi there!",
                "heyyy",
                "Hellooo :)",
                "hey, OpenClaw!",
                "\"hello\"",
                "hello world",
                "Good morning.",
                "good  evening everyone",
                "👋",
                "hello 👋🏽",
                "hi... anybody there?",
                "Ciao!",
                "你好！",
                "Привет",
            ][..],
        ),
        (
            Kind::Greeting,
            Language::German,
            &[
                "hallo",
                "Hallo zusammen!",
                "Guten Morgen",
                "moin moin",
                "Grüß Gott",
                "gruss gott",
                "MOIN",
            ],
        ),
        (
            Kind::Greeting,
            Language::French,
            &["bonjour", "Salut !", "bonjour tout le monde"],
        ),
        (
            Kind::Greeting,
            Language::Spanish,
            &["¡Hola!", "buenos dias", "Buenos días, amigo"],
        ),
        (
            Kind::Greeting,
            Language::Japanese,
            &["こんにちは", "おはようございます！"],
        ),
        (
            Kind::Thanks,
            Language::English,
            &["thanks", "Thank you very much!", "thx", "ok, thanks", "🙏"],
        ),
        (
            Kind::Thanks,
            Language::German,
            &["danke", "Danke dir!", "vielen Dank"],
        ),
        (
            Kind::Farewell,
            Language::English,
            &["bye", "Good night!", "thanks, see you later"],
        ),
        (
            Kind::Welfare,
            Language::English,
            &[
                "how are you?",
                "Hello, how are you doing today?",
                "What’s up",
            ],
        ),
        (
            Kind::Identity,
            Language::English,
            &["who are you?", "Hi! Who are you", "what is your name?"],
        ),
        (
            Kind::Identity,
            Language::German,
            &["Wer bist du?", "Hallo, wie heißt du?"],
        ),
        (
            Kind::Abilities,
            Language::English,
            &[
                "what can you do?",
                "help",
                "HELP!",
                "hello, what can you do for me",
                "Can you help me please?",
            ],
        ),
        (
            Kind::Abilities,
            Language::German,
            &["Was kannst du?", "Hilfe!"],
        ),
        (Kind::Assent, Language::English, &["ok", "Great!", "👍"]),
    ] {
        for text in texts {
            assert_eq!(said(text), Some((kind, language)), "{text}");
        }
    }
}

#[test]
fn small_talk_is_not_what_asks_about_something() {
    for text in [
        "",
        "?",
        "hello, where is my key?",
        "who says hello in the garden?",
        "where did I write hello?",
        "hello note",
        "hello Ada",
        "history of my car",
        "hi where did I put it again",
        "thanks to whom did we get the boat",
        "who are you meeting on Friday",
        "what can you do about moths",
        "help Ada move",
        "who am I?",
        "where is there a friend",
        "key",
        "my friend",
    ] {
        assert_eq!(said(text), None, "{text}");
    }
    assert_eq!(said(&"hello ".repeat(100)), None);
}

#[test]
fn small_talk_may_name_somebody_nobody_knows() {
    let unknown = |text: &str| SmallTalk::of(text, false).map(|said| said.kind);
    assert_eq!(unknown("hello Ada"), Some(Kind::Greeting));
    assert_eq!(unknown("Good morning, Ada Lovelace!"), Some(Kind::Greeting));
    assert_eq!(unknown("thanks Ada"), Some(Kind::Thanks));
    for text in [
        "hello Ada?",
        "hello Ada and Bea and Cleo",
        "who are you Ada",
        "ok computer album",
    ] {
        assert_eq!(unknown(text), None, "{text}");
    }
}

#[test]
fn small_talk_is_answered_in_two_lines_at_most() {
    let text_level = Hint {
        thinks_only: true,
        ..Hint::default()
    };
    let said = |kind, language| SmallTalk { kind, language };
    for language in Language::ALL {
        for runs in [true, false] {
            for kind in [Kind::Greeting, Kind::Welfare, Kind::Identity] {
                let text = reply(said(kind, language), &text_level, runs);
                assert_eq!(text.lines().count(), 2, "{text}");
                let hint = text.lines().last().unwrap();
                assert!(
                    hint.contains("openclawctl setup") && hint.contains("\"text\""),
                    "{text}"
                );
                let is_english = hint.contains("No model is connected");
                assert_eq!(is_english, language == Language::English, "{text}");
                assert!(
                    text.contains("/remember") && text.contains("/search"),
                    "{text}"
                );
                assert_eq!(text.contains("/run"), runs, "{text}");
            }
        }
        for kind in [Kind::Thanks, Kind::Farewell, Kind::Assent] {
            let text = reply(said(kind, language), &Hint::default(), true);
            assert_eq!(text.lines().count(), 1, "{text}");
            let text = reply(said(kind, language), &text_level, true);
            assert!(
                text.contains("\"text\"") && !text.contains("openclawctl setup"),
                "{text}"
            );
        }
    }
}
