//! What commands at a terminal leave of it, and what a session has them show.

use nix::sys::signal::Signal;
use scripted_model::Scenario;

use crate::chat::{chat, has, scene, waits};

#[tokio::test]
async fn the_terminal_is_as_it_was_whatever_ends_a_command() {
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
