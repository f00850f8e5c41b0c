//! `messages.queue` for messages of the command line.

use integration_tests::{Said, Setup, Suite, asked, until};
use scripted_model::{Scenario, Server};

use crate::ws_features::steering;

/// Where the model waits with its first answer.
const GATE: &str = "busy";

/// When the model goes on with its first answer.
#[derive(Clone, Copy)]
enum Release {
    /// When the second message went into the turn that runs.
    Taken,
    /// When it is in the conversation.
    Kept,
    /// Not at all: somebody ends the turn.
    Never,
}

/// Two messages of which the second finds its session busy, and what the model was
/// asked.
async fn while_busy(setup: impl Fn(Setup) -> Setup, when: Release) -> ([Said; 2], Vec<String>) {
    let model = Server::start().await.unwrap();
    let suite = setup(Setup::anthropic(&model)).start().await;
    model.push(Scenario::held("First half and the rest.", GATE));
    let first = suite.ctl(&["message", "--json", "begin"]);
    let second = async {
        until("the first message at the model", || {
            !model.turns().is_empty()
        })
        .await;
        let said = suite.ctl(&["message", "--json", "second while busy"]);
        let release = async {
            match when {
                Release::Taken => steering(&suite, 1).await,
                Release::Kept => {
                    until("the second message in the conversation", || is_kept(&suite)).await;
                }
                Release::Never => return,
            }
            model.release(GATE);
        };
        tokio::join!(said, release).0
    };
    let (first, second) = tokio::join!(first, second);
    let turns = model.turns();
    ([first, second], turns.iter().map(asked::words).collect())
}

/// Whether the second message was accepted.
fn is_kept(suite: &Suite) -> bool {
    let files = std::fs::read_dir(suite.state().join("agents/main/sessions"));
    let mut paths = files.into_iter().flatten().flatten().map(|it| it.path());
    paths.any(|path| {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        text.contains("second while busy")
    })
}

fn note(said: &Said) -> String {
    let lines = said.lines();
    let notes = lines.iter().filter(|line| line["type"] == "note");
    let texts = notes.filter_map(|line| line["text"].as_str());
    texts.collect::<Vec<_>>().join("\n")
}

fn text(said: &Said) -> String {
    let lines = said.lines();
    let deltas = lines.iter().filter(|line| line["type"] == "text_delta");
    deltas.filter_map(|line| line["text"].as_str()).collect()
}

#[tokio::test]
async fn command_line_follows_the_mode_that_is_set() {
    let mode = |mode: &'static str| move |setup: Setup| setup.set("messages.queue.mode", mode);
    let ([first, second], asked) = while_busy(mode("steer"), Release::Taken).await;
    let (first, second) = (first.ended(0), second.ended(0));
    assert_eq!(asked.len(), 2, "the same turn asked twice: {asked:#?}");
    assert!(text(&first).contains("second while busy"), "{first}");
    assert_eq!(text(&second), "", "{second}");
    assert!(
        note(&second).contains("went into the turn that runs"),
        "{second}"
    );

    let ([first, second], _) = while_busy(mode("interrupt"), Release::Never).await;
    assert_ne!(first.code, 0, "{first}");
    assert!(text(&second.ended(0)).contains("second while busy"));
}

/// Whoever writes at a command line waits for the answer: without a word about it each
/// message has its own.
#[tokio::test]
async fn command_line_has_each_message_answered_where_nothing_is_set() {
    let ([first, second], asked) = while_busy(|setup| setup, Release::Kept).await;
    let (first, second) = (first.ended(0), second.ended(0));
    assert_eq!(text(&first), "First half and the rest.", "{first}");
    assert_eq!(text(&second), "You said: second while busy", "{second}");
    assert_eq!(note(&second), "");
    assert_eq!(asked.len(), 2, "{asked:#?}");
}
