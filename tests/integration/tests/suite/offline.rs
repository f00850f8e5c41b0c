//! The backend of a fresh machine: no model, but memory and tools.

use integration_tests::transcript::{of_role, text};
use integration_tests::{Setup, Suite};

const NOTE: &str =
    "# House\n\nNothing here.\n\n## Heating\n\nThe boiler was serviced by Nováček in May.\n";

async fn started() -> Suite {
    Setup::offline().note("memory/house.md", NOTE).start().await
}

#[tokio::test]
async fn a_question_is_answered_from_a_note_with_its_place() {
    let suite = started().await;
    let said = suite.say("Who serviced the boiler?").await;
    assert!(
        said.contains("The boiler was serviced by Nováček in May."),
        "{said}"
    );
    assert!(
        said.starts_with("In memory/house.md: "),
        "the line first: {said}"
    );
    assert!(
        said.contains("(memory/house.md:7)"),
        "its source after it: {said}"
    );
    assert!(
        said.contains("ANTHROPIC_API_KEY"),
        "how to connect a model: {said}"
    );
    let messages = suite.messages();
    assert!(text(of_role(&messages, "assistant")[0]).contains("Nováček"));
}

#[tokio::test]
async fn what_is_remembered_is_found() {
    let suite = started().await;
    let said = suite
        .say("/remember The spare key hangs behind the clock.")
        .await;
    let place = said
        .trim()
        .strip_prefix("Noted in ")
        .unwrap_or_else(|| panic!("{said}"));
    let (path, line) = place.trim_end_matches('.').split_once(':').unwrap();
    let line: usize = line.parse().unwrap();
    let file = suite.written(path).unwrap();
    let noted = file.lines().nth(line - 1).unwrap();
    assert!(noted.contains("spare key"), "{place}: {file}");

    let found = suite.say("/search spare key").await;
    assert!(
        found.contains(path) && found.contains("behind the clock"),
        "{found}"
    );
    let answer = suite.say("Where is the spare key?").await;
    assert!(answer.contains("behind the clock"), "{answer}");
}

#[tokio::test]
async fn what_nothing_answers_is_said_honestly() {
    let suite = started().await;
    let said = suite.say("Wie heißt mein Steuerberater?").await;
    assert!(
        said.contains("nichts gefunden") && !said.contains("house.md"),
        "{said}"
    );
    // The question, asked again, is no answer either.
    let said = suite.say("Wie heißt mein Steuerberater?").await;
    assert!(said.contains("nichts gefunden"), "{said}");
}

#[tokio::test]
async fn notes_are_listed_and_forgotten() {
    let suite = started().await;
    let said = suite.say("/notes").await;
    assert!(said.contains("memory/house.md"), "{said}");
    let said = suite.say("/forget boiler").await;
    assert!(said.contains("`/forget memory/house.md:7`"), "{said}");
    let said = suite.say("/forget memory/house.md:7").await;
    assert!(said.contains("Nováček"), "{said}");
    assert!(
        !suite
            .written("memory/house.md")
            .unwrap()
            .contains("Nováček")
    );
    let said = suite.say("/sessions").await;
    assert!(said.contains("agent:main:main (this one)"), "{said}");
}

#[tokio::test]
async fn a_command_runs_in_the_workspace() {
    let suite = started().await;
    let said = suite.say("/run pwd; echo oops >&2; exit 3").await;
    let workspace = suite.workspace().display().to_string();
    for text in [&workspace, "oops", "exit code: 3"] {
        assert!(said.contains(text), "no {text:?}: {said}");
    }
    let said = suite.say("/run touch /etc/openclaw-test").await;
    assert!(!said.contains("exit code: 0"), "confined too: {said}");
}

#[tokio::test]
async fn status_help_and_unknown_commands() {
    let suite = started().await;
    let said = suite.say("/status").await;
    assert!(
        said.contains("OpenClaw") && said.contains("agent:main:main"),
        "{said}"
    );
    let said = suite.say("/help").await;
    for command in [
        "/remember",
        "/search",
        "/run",
        "/status",
        "/forget",
        "/notes",
        "/sessions",
    ] {
        assert!(said.contains(command), "no {command}: {said}");
    }
    let said = suite.say("/frobnicate now").await;
    assert!(
        said.contains("no command /frobnicate") && said.contains("/help"),
        "{said}"
    );
}

#[tokio::test]
async fn without_a_model_it_is_the_default() {
    let suite = Setup::empty()
        .variable("PATH", "/usr/bin:/bin")
        .start()
        .await;
    let run = suite.ask("hello").await;
    // A machine with the Claude Code CLI in /usr/bin has no login for it here.
    assert_eq!(
        (&run["status"], &run["backend"]),
        (&"done".into(), &"offline".into()),
        "{run}"
    );
    assert!(
        run["text"]
            .as_str()
            .unwrap()
            .contains("no model is connected"),
        "{run}"
    );
}
