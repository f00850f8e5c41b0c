//! The backend of a fresh machine: no model, but memory and tools.

use integration_tests::transcript::{of_role, text};
use integration_tests::{Setup, Suite, within};
use serde_json::json;

const NOTE: &str =
    "# House\n\nNothing here.\n\n## Heating\n\nThe boiler was serviced by Nováček in May.\n";

async fn started() -> Suite {
    Setup::offline().note("memory/house.md", NOTE).start().await
}

#[tokio::test]
async fn question_is_answered_from_a_note_with_its_place() {
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

/// File and line of a note, of what was said when it was kept.
fn place(said: &str) -> (&str, usize) {
    let place = said
        .strip_prefix("Noted in ")
        .and_then(|it| it.split_once(". "));
    let place = place.and_then(|(place, _)| place.split_once(':'));
    let (path, line) = place.unwrap_or_else(|| panic!("{said}"));
    (path, line.parse().unwrap())
}

/// Waits until memory has what was said.
async fn is_remembered(suite: &Suite, words: &str) {
    let is_seen = async {
        loop {
            let search = ["memory", "search", "--corpus", "sessions", words];
            let found = suite.ctl(&search).await;
            if found.stdout.contains(words) {
                return;
            }
        }
    };
    within("what was said is found", is_seen).await;
}

/// What was only told answers as well, and neither the question nor an answer does.
#[tokio::test]
async fn offline_what_was_told_in_the_same_session_is_answered() {
    let suite = started().await;
    let told = "my dentist is Dr. Kowalski";
    let question = "Who is my dentist?";
    let said = suite.say(question).await;
    assert!(!said.contains("Kowalski"), "{said}");
    suite.say(told).await;
    is_remembered(&suite, told).await;
    for _ in 0..2 {
        let said = suite.say(question).await;
        assert!(
            said.starts_with("You said: my dentist is Dr. Kowalski"),
            "{said}"
        );
        assert_eq!(said.matches("Kowalski").count(), 1, "{said}");
    }
    let said = suite.say("What is the phone number of my dentist?").await;
    assert!(!said.contains("Kowalski"), "{said}");
}

/// Ordered in words, and asked about after that; the question keeps nothing.
#[tokio::test]
async fn offline_what_is_ordered_to_be_remembered_is_found_and_taken_away() {
    let suite = started().await;
    let said = suite
        .say("remember that the spare key is under the blue flowerpot")
        .await;
    let (path, line) = place(&said);
    let noted = |suite: &Suite| suite.written(path).unwrap().matches("flowerpot").count();
    let file = suite.written(path).unwrap();
    assert!(
        file.lines().nth(line - 1).unwrap().contains("flowerpot"),
        "{file}"
    );
    // What is written is seen within two seconds, not at once.
    let is_seen = async {
        loop {
            let found = suite.ctl(&["memory", "search", "flowerpot"]).await;
            if found.stdout.contains(path) {
                return;
            }
        }
    };
    within("the note is found", is_seen).await;
    // The note answers, not the order, which memory has seen too by now.
    let question = "Do you remember where the spare key is?";
    for _ in 0..2 {
        let answer = suite.say(question).await;
        let line = answer.lines().next().unwrap();
        assert!(
            line.starts_with("In memory/") && line.contains("flowerpot"),
            "{answer}"
        );
        is_remembered(&suite, "remember that the spare key").await;
    }
    assert_eq!(noted(&suite), 1);
    suite.say(&format!("/forget {path}:{line}")).await;
    assert_eq!(noted(&suite), 0);
}

/// The text of a job is said to the agent at each of its runs.
#[tokio::test]
async fn job_orders_no_note() {
    let suite = started().await;
    let text = "remember to water the ferns";
    let add = ["cron", "add", text, "--name", "ferns", "--every", "1h"];
    suite.ctl(&add).await.ok();
    suite.ctl(&["cron", "run", "ferns"]).await.ok();
    let has_run = async {
        loop {
            let runs = suite.ctl(&["cron", "history", "--json"]).await.document();
            if !runs[0]["endedMs"].is_null() {
                return runs[0]["state"].clone();
            }
        }
    };
    assert_eq!(within("the job has run", has_run).await, "ran");
    let notes = suite.say("/notes").await;
    assert!(!notes.contains("ferns"), "{notes}");
}

#[tokio::test]
async fn offline_what_is_remembered_is_found() {
    let suite = started().await;
    let said = suite
        .say("/remember The spare key hangs behind the clock.")
        .await;
    let (path, line) = place(&said);
    let file = suite.written(path).unwrap();
    let noted = file.lines().nth(line - 1).unwrap();
    assert!(noted.contains("spare key"), "{said}: {file}");

    let found = suite.say("/search spare key").await;
    assert!(
        found.contains(path) && found.contains("behind the clock"),
        "{found}"
    );
    let answer = suite.say("Where is the spare key?").await;
    assert!(answer.contains("behind the clock"), "{answer}");
}

#[tokio::test]
async fn offline_what_nothing_answers_is_said_honestly() {
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
async fn command_runs_in_the_workspace() {
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
async fn command_is_refused_where_the_policy_refuses_it() {
    for (key, value) in [
        ("tools.deny", json!(["group:runtime"])),
        ("tools.exec.security", json!("deny")),
    ] {
        let suite = Setup::offline().set(key, value).start().await;
        let said = suite.say("/run touch ran.txt").await;
        assert!(said.contains("not allowed here"), "{key}: {said}");
        assert_eq!(suite.written("ran.txt"), None, "{key}");
        for asked in ["hello", "/nothing"] {
            let said = suite.say(asked).await;
            assert!(!said.contains("/run"), "{key} {asked}: {said}");
        }
        // The gateway's own, which knows no agent.
        let said = suite.say("/help").await;
        assert!(said.contains("where the agent may run commands"), "{said}");
    }
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
async fn offline_without_a_model_it_is_the_default() {
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

/// What is said back to nothing but a greeting.
async fn greeted(suite: &Suite, text: &str) -> String {
    let said = suite.say(text).await;
    let lines: Vec<&str> = said.trim_end().lines().collect();
    assert_eq!(lines.len(), 2, "{text}: {said}");
    for command in ["/remember", "/search", "/run"] {
        assert!(lines[0].contains(command), "{text}: no {command}: {said}");
    }
    assert!(lines[1].contains("`openclawctl setup`"), "{text}: {said}");
    for apology in ["nothing", "nichts", "rien", "hello.md"] {
        assert!(!said.contains(apology), "{text}: {said}");
    }
    said
}

#[tokio::test]
async fn greeting_is_no_question_and_a_question_with_one_is() {
    let note = "# Parrot\n\nIt says hello to the postman.\n";
    let suite = Setup::offline().note("memory/hello.md", note).start().await;
    for (text, opening, hint) in [
        ("hello", "Hello! ", "No model is connected."),
        ("HEY, OpenClaw!!", "Hello! ", "No model is connected."),
        ("Good morning :)", "Hello! ", "No model is connected."),
        ("Hallo zusammen!", "Hallo! ", "Kein Modell ist verbunden."),
        ("Bonjour !", "Bonjour ! ", "Aucun modèle n'est connecté."),
        ("buenos dias", "¡Hola! ", "No hay ningún modelo conectado."),
        ("こんにちは", "こんにちは！", "モデルが接続されていません。"),
    ] {
        let said = greeted(&suite, text).await;
        assert!(said.starts_with(opening), "{text}: {said}");
        assert!(said.contains(hint), "{text}: {said}");
    }
    for text in [
        "Who says hello?",
        "Hello, what says the parrot to the postman?",
        "hello postman",
    ] {
        let said = suite.say(text).await;
        assert!(said.contains("(memory/hello.md:3)"), "{text}: {said}");
    }
}

#[tokio::test]
async fn small_talk_is_answered_as_such() {
    let suite = started().await;
    for (text, answer) in [
        ("thanks!", "You are welcome!\n"),
        ("Vielen Dank", "Gern geschehen!\n"),
    ] {
        assert_eq!(suite.say(text).await, answer);
    }
    let said = suite.say("Hi, who are you?").await;
    assert!(said.starts_with("I am OpenClaw"), "{said}");
    for text in ["what can you do?", "help"] {
        let said = suite.say(text).await;
        assert!(
            said.contains("/forget WORDS") && said.contains("No model is connected"),
            "{said}"
        );
    }
    // Over another door the same is said.
    let asked = serde_json::json!({"model": "openclaw", "messages": [{"role": "user", "content": "hello"}]});
    let answer = suite
        .http()
        .await
        .post("/v1/chat/completions", &asked)
        .await
        .ok();
    let said = answer["choices"][0]["message"]["content"].as_str().unwrap();
    assert!(
        said.starts_with("Hello! ") && said.contains("/remember"),
        "{answer}"
    );
}
