//! A conversation that outgrows the prompt goes on with a summary.

use integration_tests::socket::Socket;
use integration_tests::transcript::{of_role, text};
use integration_tests::{Setup, Suite, asked, processes, transcript, within};
use nix::sys::signal::Signal;
use scripted_model::{Recorded, Scenario, Server, Usage};
use serde_json::{Value, json};

/// Room for a few messages of the length used here, beside instructions, bootstrap
/// files and tools.
const CONTEXT_TOKENS: u64 = 8_500;
/// More messages than fit.
const MESSAGES: usize = 12;
/// Where a UUID has its version, which tells runs of the gateway's own (RFC 9562).
const VERSION_AT: usize = 14;
/// What only a turn that summarises is told.
const ASKED: &str = "<conversation>";

async fn started(model: &Server) -> Suite {
    Setup::anthropic(model)
        .set("memory.maxContextTokens", CONTEXT_TOKENS)
        .start()
        .await
}

/// A message of some 1,800 tokens that says which one it is.
fn long(number: usize) -> String {
    let words = (0..400).map(|word| format!("w{number}x{word}"));
    format!(
        "message number-{number}: {}",
        words.collect::<Vec<_>>().join(" ")
    )
}

/// What the Messages API says of a prompt that does not fit.
fn too_long() -> Scenario {
    let mut refusal = Scenario::failure(400);
    if let Some(failure) = &mut refusal.failure {
        failure.message = Some("prompt is too long: 210000 tokens > 200000 maximum".to_owned());
    }
    refusal
}

fn is_summary(request: &Recorded) -> bool {
    asked::words(request).contains(ASKED)
}

fn compactions(suite: &Suite) -> Vec<Value> {
    let entries = suite.entries().into_iter();
    entries
        .filter(|entry| entry["type"] == "compaction")
        .collect()
}

/// Sends messages until one of them had the conversation summarised.
async fn outgrow(model: &Server, suite: &Suite) -> usize {
    for number in 0..MESSAGES {
        suite.say(&long(number)).await;
        if model.turns().iter().any(is_summary) {
            return number;
        }
    }
    panic!("{MESSAGES} long messages fitted");
}

#[tokio::test]
async fn compaction_what_does_not_fit_is_told_by_a_summary() {
    let model = Server::start().await.unwrap();
    model.default(Scenario::text("The gist: they count numbers."));
    let suite = started(&model).await;
    let last = outgrow(&model, &suite).await;

    let turns = model.turns();
    let at = turns.iter().position(is_summary).unwrap();
    assert_eq!(asked::tools(&turns[at]), ["memory_write"]);
    assert!(asked::words(&turns[at]).contains("number-0:"));
    let answered = &turns[at + 1];
    let told = asked::words(answered);
    assert!(told.contains("The gist: they count numbers."), "{told}");
    assert!(!told.contains("number-0:"), "{told}");
    assert!(told.contains(&format!("number-{}:", last - 1)), "{told}");
    assert!(told.contains(&format!("number-{last}:")), "{told}");

    let compactions = compactions(&suite);
    let [compaction] = compactions.as_slice() else {
        panic!("{compactions:?}");
    };
    assert_eq!(compaction["summary"], "The gist: they count numbers.");
    let kept = compaction["firstKeptEntryId"].as_str().unwrap();
    let entries = suite.entries();
    let first = entries.iter().find(|entry| entry["id"] == kept).unwrap();
    assert_eq!(first["message"]["role"], "user", "a turn is not torn");
    // All of it stays in the transcript.
    let messages = suite.messages();
    let users = of_role(&messages, "user");
    assert_eq!(users.len(), last + 1);
    assert!(text(users[0]).contains("number-0:"));
}

#[tokio::test]
async fn compaction_what_a_summary_cost_and_took_is_on_the_bill_of_the_run_that_needed_it() {
    let model = Server::start().await.unwrap();
    let usage = Usage {
        input: 100_000,
        ..Usage::default()
    };
    model.default(Scenario::text("The gist.").usage(usage));
    let priced = json!([{"id": "claude-sonnet-5", "cost": {"input": 1.0, "output": 0.0}}]);
    let suite = Setup::anthropic(&model)
        .set("memory.maxContextTokens", CONTEXT_TOKENS)
        .set("models.providers.anthropic.models", priced)
        .start()
        .await;
    for number in 0..MESSAGES {
        let run = suite.ask(&long(number)).await;
        let cost = run["resources"]["costUsd"].as_f64().unwrap();
        let answers = if model.turns().iter().any(is_summary) {
            2.0
        } else {
            1.0
        };
        assert!((cost - 0.1 * answers).abs() < 1e-9, "{run}");
        if answers > 1.0 {
            let turns = suite.ctl(&["turns", "--json"]).await.document();
            assert_eq!(turns[0]["inputTokens"], 200_000, "{turns}");
            return;
        }
    }
    panic!("{MESSAGES} long messages fitted");
}

#[tokio::test]
async fn compaction_without_a_summary_the_beginning_is_left_out() {
    let model = Server::start().await.unwrap();
    model.default(Scenario::text("Noted."));
    let suite = started(&model).await;
    suite.say(&long(0)).await;
    model.default(Scenario::text(""));
    let mut said = suite.ctl(&["message", "--json", &long(1)]).await;
    for number in 2..MESSAGES {
        if model.turns().iter().any(is_summary) {
            break;
        }
        said = suite.ctl(&["message", "--json", &long(number)]).await;
    }
    let lines = said.lines();
    let notes = lines.iter().filter(|line| line["type"] == "note");
    let notes: Vec<_> = notes.map(|line| line["text"].to_string()).collect();
    assert!(
        notes
            .iter()
            .any(|note| note.contains("the summary is empty")),
        "{said}"
    );
    let asked = model.turns().into_iter().filter(is_summary).count();
    assert_eq!(asked, 2, "it is tried once more, and then no more");
    assert!(compactions(&suite).is_empty());
}

#[tokio::test]
async fn provider_that_finds_it_too_long_is_asked_with_less() {
    let model = Server::start().await.unwrap();
    model.default(Scenario::text("Noted."));
    let suite = Setup::anthropic(&model).start().await;
    for number in 0..4 {
        suite.say(&long(number)).await;
    }
    model.push(too_long());
    model.push(Scenario::text("The gist of it."));
    model.push(Scenario::text("Here is the answer."));
    let answer = suite.say("and now?").await;
    assert_eq!(answer, "Here is the answer.\n");
    assert_eq!(compactions(&suite)[0]["summary"], "The gist of it.");
    let turns = model.turns();
    let told = asked::words(turns.last().unwrap());
    assert!(
        told.contains("The gist of it.") && !told.contains("number-0:"),
        "{told}"
    );
    let messages = transcript::messages(&suite, "agent:main:main");
    assert_eq!(of_role(&messages, "assistant").len(), 5, "{messages:?}");

    // Where nothing can give way the user is told what to do.
    model.push(too_long());
    model.push(Scenario::text("Shorter still."));
    model.push(too_long());
    let failed = suite.ask("once more").await;
    let error = &failed["error"];
    assert_eq!(error["code"], "context_overflow", "{failed}");
    let words = error["message"].as_str().unwrap();
    assert!(words.contains("/new"), "{failed}");
}

#[tokio::test]
async fn gateway_that_is_killed_over_a_summary_makes_another() {
    let model = Server::start().await.unwrap();
    model.default(Scenario::text("Noted."));
    let suite = Setup::anthropic(&model).start().await;
    for number in 0..4 {
        suite.say(&long(number)).await;
    }
    model.push(too_long());
    model.push(Scenario::held("The first gist of it.", "never"));
    let mut talk = suite.begin(&["message", "and now?"]);
    asked::turns(&model, 6).await;
    model.push(too_long());
    model.push(Scenario::text("The gist of it."));
    model.push(Scenario::text("Here is the answer."));
    processes::send(suite.daemon("openclaw-gateway"), Signal::SIGKILL);
    talk.hear("Here is the answer.").await;
    talk.end().await.ok();
    assert_eq!(compactions(&suite).len(), 1);
    // The turn that nobody waits for is ended, and its spool goes.
    let turns = suite.state().join("state/turns");
    let is_own = |name: &str| name.as_bytes()[VERSION_AT] == b'8';
    let closed = async {
        let names = || {
            std::fs::read_dir(&turns)
                .unwrap()
                .map(|spool| spool.unwrap().file_name())
        };
        while names().any(|name| is_own(&name.to_string_lossy())) {
            tokio::task::yield_now().await;
        }
    };
    within("the summary's turn is closed", closed).await;
}

#[tokio::test]
async fn summary_that_is_asked_for_is_the_models_own() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    for number in 0..4 {
        suite.say(&format!("message number-{number}")).await;
    }
    let mut socket = Socket::enter(&suite).await;
    let compact = |kept: u32| json!({"key": "main", "maxLines": kept});
    let skipped = socket.call("sessions.compact", compact(8)).await;
    assert_eq!(skipped["compacted"], false, "{skipped}");
    let why = "there is no turn before the last 8 messages, which stay as they are";
    assert_eq!(skipped["reason"], why);

    model.push(Scenario::text("Es ging um Nummern."));
    let done = socket.call("sessions.compact", compact(3)).await;
    assert_eq!(done["compacted"], true, "{done}");
    let asked_for = model.turns().into_iter().rfind(is_summary).unwrap();
    let told = asked::words(&asked_for);
    assert!(
        told.contains("number-2") && !told.contains("number-3"),
        "{told}"
    );
    assert_eq!(compactions(&suite)[0]["summary"], "Es ging um Nummern.");
    suite.say("what was it about?").await;
    let told = asked::words(model.turns().last().unwrap());
    assert!(told.contains("Es ging um Nummern."), "{told}");
    assert!(
        told.contains("number-3") && !told.contains("number-2"),
        "{told}"
    );

    model.push(Scenario::failure(401));
    model.push(Scenario::failure(401));
    let refused = socket.fail("sessions.compact", compact(1)).await;
    let words = refused["message"].as_str().unwrap_or_default();
    assert!(words.contains("was not compacted"), "{refused}");
    assert_eq!(compactions(&suite).len(), 1);
}
