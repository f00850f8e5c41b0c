//! Ending a run ends everything it started.

use std::time::{Duration, Instant};

use integration_tests::transcript::{of_role, text};
use integration_tests::{Setup, Suite, Talk, asked, processes};
use nix::sys::signal::Signal;
use scripted_model::{Scenario, Server};
use serde_json::json;

/// From Ctrl-C to the end of the last process.
const AT_ONCE: Duration = Duration::from_secs(1);

/// A number that no other process on this machine sleeps for.
fn unique_seconds() -> String {
    format!("86400.{}", uuid::Uuid::new_v4().as_u128())
}

/// Forked twice, in a session of its own, deaf to what can be ignored.
fn daemonized(seconds: &str) -> String {
    format!(
        "perl -e 'use POSIX; if (!fork) {{ POSIX::setsid(); $SIG{{$_}} = q(IGNORE) for qw(TERM INT HUP); \
         open STDOUT, q(>/dev/null); open STDERR, q(>/dev/null); \
         if (!fork) {{ exec q(sleep), q({seconds}) }} exit }} wait' && echo started"
    )
}

/// A turn that has left a daemon behind and is still being answered.
async fn begun(model: &Server, suite: &Suite, seconds: &str) -> Talk {
    let command = daemonized(seconds);
    let then = Scenario::held("It is running, as you wanted it to.", "never");
    model.push(Scenario::tool("execute_shell", json!({"command": command})).then(then));
    let mut talk = suite.begin(&["message", "start a daemon"]);
    talk.hear("It is running").await;
    let words = asked::words(&asked::turns(model, 2).await[1]);
    assert!(words.contains("exit code: 0"), "{words}");
    assert_eq!(
        processes::with_argument(seconds).len(),
        1,
        "the daemon runs: {words}"
    );
    talk
}

#[tokio::test]
async fn ctrl_c_ends_the_whole_tree_and_keeps_what_was_said() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let seconds = unique_seconds();
    let talk = begun(&model, &suite, &seconds).await;

    let start = Instant::now();
    talk.signal(Signal::SIGINT);
    let said = talk.end().await;
    let took = start.elapsed();
    assert_eq!(
        processes::with_argument(&seconds),
        [],
        "ended after {took:?}: {said}"
    );
    assert!(took < AT_ONCE, "{took:?}: {said}");
    said.ended(130);

    let messages = suite.messages();
    let last = of_role(&messages, "assistant").pop().unwrap();
    assert_eq!(last["stopReason"], "aborted", "{last}");
    assert!(text(last).starts_with("It is running"), "{last}");
    assert!(
        !suite.say("go on").await.is_empty(),
        "the session is free again"
    );
}

#[tokio::test]
async fn cancel_ends_a_run_by_its_id() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    model.push(Scenario::held("A long story begins like this.", "never"));
    let mut talk = suite.begin(&["message", "--json", "tell"]);
    let heard = talk.hear("A long story").await;
    let accepted: serde_json::Value = serde_json::from_str(heard.lines().next().unwrap()).unwrap();
    let run_id = accepted["runId"].as_str().unwrap();
    suite.ctl(&["cancel", run_id]).await.ended(0);

    let said = talk.end().await.ended(1).complains(&["cancelled"]);
    assert_eq!(said.lines().last().unwrap()["type"], "aborted", "{said}");
    suite.ctl(&["cancel", "no-such-run"]).await.ended(1);
}

#[tokio::test]
async fn cancel_without_an_id_ends_what_goes_on() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let nothing = suite.ctl(&["cancel"]).await.ended(0);
    assert!(nothing.stdout.contains("nothing is running"), "{nothing}");

    model.push(Scenario::held("A long story begins like this.", "never"));
    let mut first = suite.begin(&["message", "tell"]);
    first.hear("A long story").await;
    let said = suite.ctl(&["cancel"]).await.ended(0);
    assert!(said.stdout.contains("agent:main:main"), "{said}");
    first.end().await.ended(1).complains(&["cancelled"]);

    let mut talks = Vec::new();
    for session in ["one", "two"] {
        model.push(Scenario::held("A long story begins like this.", "never"));
        let mut talk = suite.begin(&["message", "--session", session, "tell"]);
        talk.hear("A long story").await;
        talks.push(talk);
    }
    let which = suite.ctl(&["cancel"]).await;
    which
        .ended(64)
        .complains(&["2 runs go on", "agent:main:one", "agent:main:two", "--all"]);
    suite.ctl(&["cancel", "--all"]).await.ended(0);
    for talk in talks {
        talk.end().await.ended(1).complains(&["cancelled"]);
    }
}

#[tokio::test]
async fn end_of_a_turn_ends_what_it_left_behind() {
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model).start().await;
    let seconds = unique_seconds();
    let command = daemonized(&seconds);
    model.push(Scenario::tool("execute_shell", json!({"command": command})));
    assert!(suite.say("start a daemon").await.contains("started"));
    // The answer does not wait for it.
    processes::gone(&seconds).await;
}
