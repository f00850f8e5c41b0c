//! `openclawctl chat` at a terminal, and replies as a terminal shows them.

use std::os::unix::fs::PermissionsExt as _;

use integration_tests::{Setup, Suite, Terminal, processes};
use nix::sys::signal::Signal;
use scripted_model::{Scenario, Server};

const PROMPT: &str = "›";
/// What Ctrl-D types.
const END: &str = "\u{4}";
const REPLY: &str = "# Plan\n\nDig **deep**:\n\n1. bed\n2. beans\n\n```sh\necho \"dig\"\n```\n";

async fn scene() -> (Suite, Server) {
    let model = Server::start().await.unwrap();
    (Setup::anthropic(&model).start().await, model)
}

fn has(lines: &[String], text: &str) -> bool {
    lines.iter().any(|line| line.contains(text))
}

/// Whether a prompt without a text is the last thing.
fn waits(lines: &[String]) -> bool {
    let last = lines.iter().rev().find(|line| !line.trim().is_empty());
    last.is_some_and(|line| line.trim() == PROMPT)
}

async fn chat(suite: &Suite) -> Terminal {
    let mut terminal = suite.at_terminal(&["chat"]);
    terminal.screen(waits).await;
    terminal
}

#[tokio::test]
async fn chat_lays_out_replies_and_goes_on() {
    let (suite, model) = scene().await;
    let mut terminal = chat(&suite).await;
    model.push(Scenario::text(REPLY));
    terminal.type_keys("plan\r");
    let is_whole = |lines: &[String]| has(lines, "tokens in") && waits(lines);
    let lines = terminal.screen(is_whole).await;
    let from = lines.iter().position(|line| line == "Plan").unwrap();
    let shown: Vec<&str> = lines[from..from + 8].iter().map(String::as_str).collect();
    let expected = [
        "Plan",
        "",
        "Dig deep:",
        "",
        "1. bed",
        "2. beans",
        "",
        "  sh",
    ];
    assert_eq!(shown, expected);
    assert!(has(&lines, "  echo \"dig\""), "{lines:#?}");
    let seen = terminal.see("dig").await;
    assert!(seen.contains("\u{1b}[1;4;36mPlan"), "{seen:?}");

    model.push(Scenario::text("Once more."));
    terminal.type_keys("again\r");
    terminal
        .screen(|lines| has(lines, "Once more.") && waits(lines))
        .await;
    terminal.type_keys(END);
    let (code, _) = terminal.end().await;
    assert_eq!(code, Some(0));
    let history = suite.state().join("chat-history");
    let text = std::fs::read_to_string(&history).unwrap();
    assert!(text.contains("plan\nagain\n"), "{text:?}");
    let mode = history.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
}

#[tokio::test]
async fn chat_ends_the_turn_and_not_itself_when_interrupted() {
    let (suite, _model) = scene().await;
    let mut terminal = chat(&suite).await;
    terminal.type_keys("[[scenario:held gate]] wait\r");
    terminal.screen(|lines| has(lines, " s · ")).await;
    terminal.interrupt();
    terminal
        .screen(|lines| has(lines, "cancelled") && waits(lines))
        .await;
    // At the prompt it is a key, and ends nothing.
    terminal.type_keys("half a line\u{3}");
    let is_left = |lines: &[String]| has(lines, "half a line") && waits(lines);
    terminal.screen(is_left).await;
    terminal.type_keys("[[scenario:text still here]]\r");
    terminal
        .screen(|lines| has(lines, "still here") && waits(lines))
        .await;
    terminal.type_keys("/quit\r");
    assert_eq!(terminal.end().await.0, Some(0));
}

#[tokio::test]
async fn chat_shows_what_others_say_in_its_session() {
    let (suite, _model) = scene().await;
    let mut terminal = chat(&suite).await;
    suite
        .say("[[scenario:text to somebody else]] from elsewhere")
        .await;
    let is_shown =
        |lines: &[String]| has(lines, "cli › ") && has(lines, "to somebody else") && waits(lines);
    terminal.screen(is_shown).await;
    // What is said here is not told again.
    terminal.type_keys("[[scenario:text mine]]\r");
    terminal
        .screen(|lines| has(lines, "mine") && waits(lines))
        .await;
    suite.say("[[scenario:text the last]] once more").await;
    let lines = terminal
        .screen(|lines| has(lines, "the last") && waits(lines))
        .await;
    let told = lines.iter().filter(|line| line.contains("cli › ")).count();
    assert_eq!(told, 2, "{lines:#?}");
    terminal.type_keys(END);
    assert_eq!(terminal.end().await.0, Some(0));
}

#[tokio::test]
async fn chat_goes_on_when_the_gateway_is_started_again() {
    let (suite, _model) = scene().await;
    let mut terminal = chat(&suite).await;
    let gateway = suite.seen_program("openclaw-gateway").await;
    processes::send(gateway, Signal::SIGKILL);
    terminal.type_keys("[[scenario:text back again]]\r");
    terminal
        .screen(|lines| has(lines, "back again") && waits(lines))
        .await;
    terminal.type_keys(END);
    assert_eq!(terminal.end().await.0, Some(0));
}

#[tokio::test]
async fn chat_needs_a_terminal() {
    let (suite, _model) = scene().await;
    let said = suite.ctl(&["chat"]).await.ended(64);
    assert!(
        said.stderr.contains("a chat needs a terminal"),
        "{}",
        said.stderr
    );
}

#[tokio::test]
async fn chat_of_a_message_alone_is_laid_out_or_raw() {
    let (suite, model) = scene().await;
    model.push(Scenario::text(REPLY));
    let (code, seen) = suite.at_terminal(&["message", "plan"]).end().await;
    assert_eq!(code, Some(0));
    assert!(
        seen.contains("1;4;36mPlan") && !seen.contains("# Plan"),
        "{seen:?}"
    );
    model.push(Scenario::text(REPLY));
    let (_, seen) = suite.at_terminal(&["message", "--raw", "plan"]).end().await;
    assert!(
        seen.contains("# Plan") && seen.contains("**deep**"),
        "{seen:?}"
    );
    model.push(Scenario::text(REPLY));
    let said = suite.say("plan").await;
    assert_eq!(said.trim_end(), REPLY.trim_end());
}
