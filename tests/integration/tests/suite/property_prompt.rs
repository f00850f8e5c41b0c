//! Properties 10 and 14 of seed 002: what of bootstrap files and of the
//! conversation a model is really sent.

use std::cell::Cell;
use std::sync::LazyLock;

use integration_tests::tool_server::ToolServer;
use integration_tests::{Setup, Suite, asked};
use openclaw_proto::gateway::Message;
use proptest::prelude::*;
use scripted_model::{Recorded, Scenario, Server};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use crate::properties::{exchange, runner};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

fn said(text: &str, session: &str) -> Message {
    Message {
        text: text.to_owned(),
        session_key: session.to_owned(),
        ..Message::default()
    }
}

/// A file as somebody may write it: lines of any script.
fn file() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        "[A-Za-z0-9 ,.:#*-]{1,80}",
        "[\u{400}-\u{45f} ]{1,40}",
        "[\u{4e00}-\u{4fff}]{1,30}",
        "[a-z<>&\"'`{}\\[\\]|$\\\\]{1,40}",
    ];
    prop::collection::vec(line, 1..8).prop_map(|lines| lines.join("\n"))
}

/// A new session begins with both files, as they are now.
async fn begin(
    (suite, model): (&Suite, &Server),
    (soul, user): (&str, &str),
    session: &str,
) -> Result<(), TestCaseError> {
    suite.note("SOUL.md", soul);
    suite.note("USER.md", user);
    model.forget();
    exchange(suite, said("hello", session)).await;
    let turns = model.turns();
    prop_assert_eq!(turns.len(), 1);
    let words = asked::words(&turns[0]);
    for (name, text) in [("SOUL.md", soul), ("USER.md", user)] {
        let is_there = text.trim().is_empty() || words.contains(text.trim());
        prop_assert!(is_there, "{name}: {text:?} is not in {words}");
    }
    Ok(())
}

/// Feature: openclaw-mvp, Property 10: For any session start, the prompt context
/// SHALL include the contents of SOUL.md and USER.md bootstrap files.
#[test]
fn property_10_soul_and_user_reach_the_model() {
    let runtime = runtime();
    let (model, suite) = runtime.block_on(async {
        let model = Server::start().await.unwrap();
        let suite = Setup::anthropic(&model).start().await;
        (model, suite)
    });
    let number = Cell::new(0);
    runner()
        .run(&(file(), file()), |(soul, user)| {
            number.set(number.get() + 1);
            let session = format!("begun-{}", number.get());
            runtime.block_on(begin((&suite, &model), (&soul, &user), &session))
        })
        .unwrap();
}

/// Feature: openclaw-mvp, Property 10: For any session start, the prompt context
/// SHALL include the contents of SOUL.md and USER.md bootstrap files. Here: the
/// agents that are other people's programs, a few times each, for they are slow.
#[tokio::test]
async fn property_10_soul_and_user_reach_the_model_through_the_clis() {
    for which in ["claude", "codex"] {
        let model = Server::start().await.unwrap();
        let setup = match which {
            "claude" => Setup::claude(&model),
            _ => Setup::codex(&model),
        };
        let Some(setup) = setup else { continue };
        let suite = setup.start().await;
        for number in 0..3 {
            let files = (
                format!("Soul {number}: ты — кот."),
                format!("User {number}: 猫が好き。"),
            );
            let session = format!("begun-{number}");
            let begun = begin((&suite, &model), (&files.0, &files.1), &session).await;
            assert!(begun.is_ok(), "{which}: {begun:?}");
        }
    }
}

/// The configured limit, in tokens: room for two texts and a summary beside the
/// instructions and the definitions of all tools.
const LIMIT: usize = 11_000;
/// Of it, what those take at least.
const FIXED: usize = 3_000;
/// Tools of each of two servers, beside five more: they are known in the turn's process
/// alone.
const SERVER_TOOLS: usize = 55;
/// Messages of a session: the second mostly outgrows the limit.
const MESSAGES: usize = 2;

static TOKENS: LazyLock<tiktoken_rs::CoreBPE> =
    LazyLock::new(|| tiktoken_rs::cl100k_base().unwrap());

/// Words of a script, and about how many of them make a thousand tokens.
const SCRIPTS: [(&str, usize); 7] = [
    ("the quick brown fox jumps over it; ", 115),
    ("狐は犬を飛び越えた。", 80),
    ("敏捷的棕色狐狸跳过懒狗。", 60),
    ("быстрая лиса прыгает ", 95),
    ("तेज़ लोमड़ी कूदती है ", 50),
    ("الثعلب السريع يقفز ", 80),
    ("🦊🐕🌲🚀", 90),
];

/// Text that is no prose: what it is made of, in pieces, and how many of them are about a
/// thousand tokens.
const NO_PROSE: [(&str, usize); 6] = [
    (
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
        1_400,
    ),
    ("0123456789abcdef", 1_750),
    ("0123456789", 3_000),
    ("0123456789abcdef-", 1_650),
    ("/\\_|-^ .oO*", 1_550),
    ("0123456789.,\n", 1_900),
];

/// Lines that programs write, and how many of them make a thousand tokens.
const LINES: [(&str, usize); 4] = [
    ("{\"id\":48213,\"ok\":true,\"v\":[1,2.5],\"of\":null},", 40),
    ("https://a9.example.com/p/7f3kQ?q=1a2b3c&t=99120#x ", 33),
    (
        "function(e,t,n){if(!t[e]){var r=n(7);return r||void 0}}",
        40,
    ),
    ("7c9e6679-7425-40de-944b-e07fc1f90ae7\n", 38),
];

/// So many thousandths of about a thousand tokens.
fn text() -> impl Strategy<Value = String> {
    let thousandths = 1_200..2_000_usize;
    let repeated = |of: &'static [(&str, usize)]| {
        (prop::sample::select(of), thousandths.clone())
            .prop_map(|((words, per), tokens)| words.repeat((per * tokens / 1000).max(1)))
    };
    let random = (prop::sample::select(&NO_PROSE[..]), thousandths.clone());
    let random = random.prop_flat_map(|((alphabet, per), tokens)| {
        let letters: Vec<char> = alphabet.chars().collect();
        let length = per * tokens / 1000;
        let letters = prop::collection::vec(prop::sample::select(letters), length);
        letters.prop_map(|letters| letters.into_iter().collect::<String>())
    });
    prop_oneof![repeated(&SCRIPTS), repeated(&LINES), random]
}

/// The whole request as the model got it, and what of it are instructions and tools,
/// in tokens.
fn size(request: &Recorded) -> (usize, usize) {
    let body = request.json();
    let tokens = |part: &serde_json::Value| TOKENS.encode_ordinary(&part.to_string()).len();
    let fixed = tokens(&body["system"]) + tokens(&body["tools"]);
    (tokens(&body), fixed)
}

fn is_summary(request: &Recorded) -> bool {
    asked::words(request).contains("<conversation>")
}

/// Feature: openclaw-mvp, Property 14: For any session after compaction, the
/// total context size SHALL be within the configured maximum token limit,
/// whatever language it is in, and however long the model's summary is. Counted is
/// all that the model is sent: instructions and the definitions of tools too, those of
/// servers among them.
#[test]
fn property_14_what_a_model_is_sent_is_within_the_limit() {
    let runtime = runtime();
    let server = ToolServer::default();
    let (model, suite) = runtime.block_on(async {
        let model = Server::start().await.unwrap();
        let setup = Setup::anthropic(&model).set("memory.maxContextTokens", LIMIT);
        let setup = setup.set("agents.defaults.memorySearch.recall.enabled", false);
        let many = server.seeing(&json!({"tools": SERVER_TOOLS}));
        let setup = setup.set("mcp.servers.many", many.clone());
        let setup = setup.set("mcp.servers.more", many);
        let suite = setup.note("SOUL.md", "You are a fox.").start().await;
        (model, suite)
    });
    let (number, compacted) = (Cell::new(0), Cell::new(0));
    runner()
        .run(&(text(), text()), |(question, answer)| {
            number.set(number.get() + 1);
            let session = format!("long-{}", number.get());
            // An answer is a summary where one is asked for.
            model.default(Scenario::text(answer));
            runtime.block_on(async {
                for message in 0..MESSAGES {
                    model.forget();
                    exchange(&suite, said(&format!("{message}: {question}"), &session)).await;
                    let turns = model.turns();
                    if turns.iter().any(is_summary) {
                        compacted.set(compacted.get() + 1);
                    }
                    for request in turns.iter().filter(|turn| !is_summary(turn)) {
                        let (whole, fixed) = size(request);
                        prop_assert!(whole <= LIMIT, "{whole} tokens of {LIMIT}");
                        prop_assert!(fixed >= FIXED, "{fixed} tokens of tools and instructions");
                    }
                }
                Ok(())
            })?;
            Ok(())
        })
        .unwrap();
    let (cases, with) = (number.get(), compacted.get());
    assert!(
        with * 3 > cases,
        "of {cases} conversations {with} were compacted"
    );
}

/// Where what is always sent leaves no room for a conversation, a message is answered
/// without it, the user told once, and nothing summarised at each message anew.
#[tokio::test]
async fn limit_without_room_is_told_once() {
    let model = Server::start().await.unwrap();
    let setup = Setup::anthropic(&model).set("memory.maxContextTokens", 1_000);
    let suite = setup.start().await;
    let mut notes = Vec::new();
    for message in 0..3 {
        let text = format!("{message}: {}", "fox ".repeat(200));
        let said = suite.ctl(&["message", "--json", &text]).await;
        let lines = said.lines();
        let told = lines.iter().filter(|line| line["type"] == "note");
        notes.extend(told.map(|line| line["text"].to_string()));
    }
    assert_eq!(notes.len(), 1, "{notes:#?}");
    for words in [
        "1000 tokens",
        "memory.maxContextTokens",
        "contextWindow",
        "tools.deny",
    ] {
        assert!(notes[0].contains(words), "{words}: {notes:#?}");
    }
    let turns = asked::turns(&model, 3).await;
    assert_eq!(turns.len(), 3, "nothing was summarised");
    for turn in &turns {
        assert_eq!(asked::messages(turn).len(), 1);
    }
    let said = suite.ctl(&["config", "validate"]).await;
    assert!(
        said.stderr
            .contains("memory.maxContextTokens leaves 1000 tokens"),
        "{said}"
    );
    let said = suite.ctl(&["doctor"]).await;
    assert!(said.stdout.contains("room for conversations"), "{said}");
}
