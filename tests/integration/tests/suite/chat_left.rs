//! What commands at a terminal leave of it, and what a session has them show.

use std::time::Duration;

use integration_tests::{Suite, Terminal, within};
use nix::sys::signal::Signal;
use scripted_model::Scenario;
use tokio::time::sleep;

use crate::chat::{chat, has, scene, waits};

/// Between two looks at a terminal.
const MOMENT: Duration = Duration::from_millis(10);

#[tokio::test]
async fn terminal_is_as_it_was_whatever_ends_a_command() {
    let (suite, _model) = scene().await;
    for (signal, code) in [(Signal::SIGQUIT, 131), (Signal::SIGTERM, 143)] {
        let mut terminal = chat(&suite).await;
        terminal.type_keys("half a li");
        terminal.screen(|lines| has(lines, "half a li")).await;
        terminal.signal(signal);
        assert_eq!(
            terminal.left().await,
            (Some(code), true),
            "a line, {signal}"
        );

        let mut terminal = chat(&suite).await;
        terminal.type_keys("[[scenario:held gate]] wait\r");
        terminal.screen(|lines| has(lines, " s · ")).await;
        terminal.signal(signal);
        assert_eq!(
            terminal.left().await,
            (Some(code), true),
            "a turn, {signal}"
        );

        let mut terminal = suite.at_terminal(&["message", "[[scenario:held gate]] wait"]);
        terminal.screen(|lines| has(lines, " s · ")).await;
        terminal.signal(signal);
        assert_eq!(
            terminal.left().await,
            (Some(code), true),
            "a message, {signal}"
        );

        let mut terminal = suite.at_terminal(&["status", "--watch"]);
        terminal.screen(|lines| has(lines, "gateway")).await;
        terminal.signal(signal);
        assert_eq!(
            terminal.left().await,
            (Some(code), true),
            "a status, {signal}"
        );
    }
}

#[tokio::test]
async fn chat_edits_its_line_again_after_it_was_stopped() {
    let (suite, _model) = scene().await;
    let mut terminal = chat(&suite).await;
    terminal.type_keys("half typed");
    terminal.screen(|lines| has(lines, "half typed")).await;
    terminal.stop_and_continue();
    within("a terminal for an editor", async {
        while terminal.echoes() {
            sleep(MOMENT).await;
        }
    })
    .await;
    terminal.see("half typed").await;
    // The editor's own keys: two to the left.
    terminal.type_keys("\u{1b}[D\u{1b}[DX");
    terminal
        .screen(|lines| lines.iter().any(|line| line == "› half typXed"))
        .await;
    terminal.signal(Signal::SIGTERM);
    assert_eq!(terminal.left().await, (Some(143), true));
}

/// The question for a key, in a process group of its own, which is stopped as a shell's are.
fn asked_for_a_key(suite: &Suite) -> Terminal {
    let mut command = suite.command("openclawctl");
    command.args(["auth", "add", "anthropic"]).process_group(0);
    Terminal::start("the question for a key", command)
}

#[tokio::test]
async fn question_whose_answer_is_hidden_leaves_the_terminal_as_it_was() {
    let (suite, _model) = scene().await;
    for (signal, code) in [
        (Signal::SIGINT, 130),
        (Signal::SIGQUIT, 131),
        (Signal::SIGTERM, 143),
        (Signal::SIGHUP, 129),
    ] {
        let mut terminal = asked_for_a_key(&suite);
        terminal.see("(not shown): ").await;
        assert!(!terminal.echoes(), "{signal}");
        terminal.type_keys("half of a k");
        terminal.signal(signal);
        assert_eq!(terminal.left().await, (Some(code), true), "{signal}");
    }
}

#[tokio::test]
async fn question_whose_answer_is_hidden_shows_what_is_typed_while_it_is_stopped() {
    let (suite, _model) = scene().await;
    let mut terminal = asked_for_a_key(&suite);
    terminal.see("(not shown): ").await;
    terminal.type_keys("half");
    terminal.signal(Signal::SIGTSTP);
    within("a terminal for a shell", async {
        while !terminal.echoes() {
            sleep(MOMENT).await;
        }
    })
    .await;
    terminal.signal(Signal::SIGCONT);
    terminal.see("(not shown): ").await;
    assert!(!terminal.echoes());
    terminal.stop_and_continue();
    terminal.see("(not shown): ").await;
    assert!(!terminal.echoes());
    terminal.type_line("sk-ant-typed");
    let (code, seen) = terminal.end().await;
    assert_eq!(code, Some(0), "{seen}");
    assert!(!seen.contains("typed"), "{seen}");
    let listed = suite.ctl(&["auth", "list"]).await;
    assert!(listed.stdout.contains("anthropic"), "{listed:?}");
}

#[tokio::test]
async fn levels_say_what_a_terminal_shows() {
    let (suite, model) = scene().await;
    let mut terminal = chat(&suite).await;
    for (command, words) in [
        ("/reasoning", "Current reasoning level: off."),
        ("/verbose on", "The verbose level is on."),
        ("/usage off", "Usage below answers: off."),
    ] {
        terminal.type_keys(&format!("{command}\r"));
        terminal
            .screen(|lines| has(lines, words) && waits(lines))
            .await;
    }
    model.push(Scenario::text("Quietly."));
    terminal.type_keys("plan\r");
    let lines = terminal
        .screen(|lines| has(lines, "Quietly.") && waits(lines))
        .await;
    assert!(!has(&lines, "tokens in"), "{lines:#?}");
    terminal.type_keys("/usage tokens\r");
    terminal
        .screen(|lines| has(lines, "Usage below answers: tokens.") && waits(lines))
        .await;
    model.push(Scenario::text("Counted."));
    terminal.type_keys("plan\r");
    terminal
        .screen(|lines| has(lines, "Counted.") && has(lines, "tokens in") && waits(lines))
        .await;
}
