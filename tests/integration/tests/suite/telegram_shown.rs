//! What people see on Telegram while an answer is made: that somebody types, the
//! answer so far, and what is done.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use integration_tests::{processes, until, within};
use nix::sys::signal::Signal;
use scripted_model::{Pace, Scenario};
use serde_json::json;
use telegram_double::{Double, Fault};

use crate::telegram::{DAEMON, OWNER, Scene, texts};

const BEGINNING: &str = "It begins with quite a few words,";
/// Twice as long at least: the scripted model says any text in two pieces or more.
const WHOLE: &str =
    "It begins with quite a few words, and it goes on with others until it ends here.";
/// The shortest time between two edits.
const BETWEEN: Duration = Duration::from_millis(1500);

/// An answer whose beginning is there before `gate` is released.
fn held(text: &str, beginning: usize, gate: &str) -> Scenario {
    Scenario {
        pace: Pace {
            // With the space after it.
            chunk: beginning + 1,
            gate: Some(gate.to_owned()),
            ..Pace::default()
        },
        ..Scenario::text(text)
    }
}

/// An answer that comes in pieces.
fn slow(text: &str, chunk: usize, delay_ms: u64) -> Scenario {
    Scenario {
        pace: Pace {
            chunk,
            delay_ms,
            ..Pace::default()
        },
        ..Scenario::text(text)
    }
}

/// Runs a command until the file `go` is in the workspace.
fn command_that_waits() -> Scenario {
    let command = "until [ -e go ]; do sleep 0.05; done";
    Scenario::tool("execute_shell", json!({ "command": command }))
}

async fn typed(scene: &Scene, count: usize) {
    let is_so = |it: &Double| it.calls_of("sendChatAction").len() >= count;
    within("typing", scene.double.wait(is_so)).await;
}

async fn tool_is_shown(scene: &Scene) -> i64 {
    let is_so = |it: &Double| {
        let said = it.sent_to(OWNER);
        said.last()
            .is_some_and(|it| it.text.contains("🔧 execute_shell until [ -e go ]"))
    };
    within("the line of the tool", scene.double.wait(is_so)).await;
    scene.double.sent_to(OWNER)[0].id
}

/// Waits until the daemon has on disk that the message `id` shows a run.
async fn is_recorded(scene: &Scene, id: i64) {
    let folder = "state/channels/telegram/default/out";
    let folder = scene.suite.state().join(folder);
    let names_it = |record: &Path| {
        let content = fs::read_to_string(record).unwrap_or_default();
        content.contains(&format!("\"{id}\""))
    };
    until("what is shown is recorded", || {
        let mut entries = fs::read_dir(&folder).unwrap().flatten();
        entries
            .any(|it| it.path().extension().is_some_and(|it| it == "run") && names_it(&it.path()))
    })
    .await;
}

#[tokio::test]
async fn telegram_shows_an_answer_while_it_is_made() {
    let scene = Scene::start().await;
    scene.model.push(held(WHOLE, BEGINNING.len(), "end"));
    scene.double.say(OWNER, "work");
    let shown = scene.answered(OWNER, BEGINNING).await;
    // It is shown for as long as it goes on.
    typed(&scene, 2).await;
    let action = &scene.double.calls_of("sendChatAction")[0].parameters;
    assert_eq!(action["action"], "typing");
    assert_eq!(action["chat_id"], OWNER);
    scene.model.release("end");
    let said = scene.answered(OWNER, WHOLE).await;
    assert_eq!(texts(&said), [WHOLE], "one message, which was edited");
    assert_eq!(said[0].id, shown[0].id);
}

#[tokio::test]
async fn telegram_answers_a_message_by_name_while_the_answer_is_made() {
    let model = |setup: integration_tests::Setup| {
        setup
            .set("channels.telegram.allowFrom", json!([OWNER]))
            .set("channels.telegram.replyToMode", "all")
    };
    let scene = Scene::with(model).await;
    scene.model.push(held(WHOLE, BEGINNING.len(), "end"));
    let asked = scene.double.say(OWNER, "work");
    let shown = scene.answered(OWNER, BEGINNING).await;
    let names =
        |parameters: &serde_json::Value| parameters["reply_parameters"]["message_id"].as_i64();
    assert!(
        asked > 0 && names(&shown[0].parameters).is_some(),
        "{shown:?}"
    );
    scene.model.release("end");
    scene.answered(OWNER, WHOLE).await;
    let edits = scene.double.calls_of("editMessageText");
    assert!(!edits.is_empty());
    assert!(edits.iter().all(|edit| names(&edit.parameters).is_none()));
}

#[tokio::test]
async fn telegram_edits_no_faster_than_telegram_likes() {
    let scene = Scene::start().await;
    let text = "words and more words ".repeat(14);
    let text = text.trim();
    scene.model.push(slow(text, 4, 100));
    let begun = Instant::now();
    scene.double.say(OWNER, "work");
    let said = scene.answered(OWNER, text).await;
    assert_eq!(said.len(), 1);
    let most = begun.elapsed().as_millis() / BETWEEN.as_millis() + 1;
    let edits = scene.double.calls_of("editMessageText").len();
    assert!(edits >= 3, "{edits} edits in {:?}", begun.elapsed());
    assert!(
        edits as u128 <= most,
        "{edits} edits in {:?}",
        begun.elapsed()
    );
}

fn too_often(seconds: u64) -> Fault {
    Fault::Refuse {
        code: 429,
        description: format!("Too Many Requests: retry after {seconds}"),
        retry_after: Some(seconds),
    }
}

#[tokio::test]
async fn telegram_is_quiet_for_as_long_as_telegram_says() {
    const SECONDS: u64 = 3;
    let scene = Scene::start().await;
    scene.double.inject("editMessageText", too_often(SECONDS));
    scene.model.push(slow(WHOLE, 26, 2000));
    scene.double.say(OWNER, "work");
    let is_refused = |it: &Double| {
        it.calls_of("editMessageText")
            .iter()
            .any(|it| it.code == 429)
    };
    within("an edit is refused", scene.double.wait(is_refused)).await;
    let refused = Instant::now();
    let is_tried_again = |it: &Double| it.calls_of("editMessageText").len() > 1;
    within("it is tried again", scene.double.wait(is_tried_again)).await;
    let after = refused.elapsed();
    // The wait began before it was seen here.
    assert!(
        after >= Duration::from_millis(SECONDS * 1000 - 300),
        "tried again after {after:?}"
    );
    let said = scene.answered(OWNER, WHOLE).await;
    assert_eq!(texts(&said), [WHOLE], "the answer is not lost");
    let edits = scene.double.calls_of("editMessageText");
    assert_eq!(edits[0].code, 429);
    assert!(edits[1..].iter().all(|it| it.code == 200));
}

#[tokio::test]
async fn telegram_shows_what_is_done_in_one_line() {
    let scene = Scene::start().await;
    scene
        .model
        .push(command_that_waits().then(Scenario::text(WHOLE)));
    scene.double.say(OWNER, "work");
    let id = tool_is_shown(&scene).await;
    scene.suite.note("go", "");
    let said = scene.answered(OWNER, WHOLE).await;
    assert_eq!(texts(&said), [WHOLE]);
    assert_eq!(said[0].id, id);
}

#[tokio::test]
async fn telegram_leaves_nothing_of_a_run_that_says_nothing() {
    let scene = Scene::start().await;
    scene
        .model
        .push(command_that_waits().then(Scenario::text("NO_REPLY")));
    scene.double.say(OWNER, "work, and be silent");
    tool_is_shown(&scene).await;
    scene.double.inject("deleteMessage", too_often(1));
    scene.suite.note("go", "");
    let is_gone = |it: &Double| it.sent_to(OWNER).is_empty();
    within("the line is taken back", scene.double.wait(is_gone)).await;
}

#[tokio::test]
async fn telegram_leaves_nothing_beside_a_file_that_is_the_answer() {
    let scene = Scene::start().await;
    scene.suite.note("report.txt", "twelve apples\n");
    scene
        .model
        .push(command_that_waits().then(Scenario::text("MEDIA:report.txt")));
    scene.double.say(OWNER, "the report, please");
    tool_is_shown(&scene).await;
    scene.double.inject("deleteMessage", too_often(1));
    scene.suite.note("go", "");
    let is_alone = |it: &Double| {
        let said = it.sent_to(OWNER);
        said.len() == 1 && said[0].parameters["document"].is_object()
    };
    within("the file alone", scene.double.wait(is_alone)).await;
}

#[tokio::test]
async fn telegram_shows_nothing_before_the_answer_where_streaming_is_off() {
    let scene = Scene::with(|setup| {
        setup
            .set("channels.telegram.allowFrom", json!([OWNER]))
            .set("channels.telegram.streaming", "off")
    })
    .await;
    scene.model.push(held(WHOLE, BEGINNING.len(), "end"));
    scene.double.say(OWNER, "work");
    // Longer than it takes to show something.
    typed(&scene, 2).await;
    assert!(scene.double.sent_to(OWNER).is_empty());
    scene.model.release("end");
    let said = scene.answered(OWNER, WHOLE).await;
    assert_eq!((said.len(), said[0].edits), (1, 0));
}

#[tokio::test]
async fn telegram_answer_takes_the_place_of_what_a_killed_daemon_showed() {
    let scene = Scene::start().await;
    scene.model.push(held(WHOLE, BEGINNING.len(), "end"));
    scene.double.say(OWNER, "work");
    let shown = scene.answered(OWNER, BEGINNING).await;
    // Telegram has the message before the daemon knows its number: one that is
    // killed in between cannot know it, and leaves the message.
    is_recorded(&scene, shown[0].id).await;
    let pid = scene.suite.seen_program(DAEMON).await;
    processes::send(pid, Signal::SIGKILL);
    is_another_daemon(&scene, pid).await;
    scene.model.release("end");
    let said = scene.answered(OWNER, WHOLE).await;
    assert_eq!(texts(&said), [WHOLE]);
    assert_eq!(said[0].id, shown[0].id);
}

async fn is_another_daemon(scene: &Scene, pid: nix::unistd::Pid) {
    until("another daemon", || {
        let found = processes::of_folder(&scene.suite.path(""));
        let mut found = found.into_iter().filter(|it| *it != pid);
        found.any(|it| processes::program(it).as_deref() == Some(DAEMON))
    })
    .await;
}

/// Telegram has the beginning, and the daemon is killed before it hears so. The next one
/// finds it before it says anything there, and takes nothing else for it.
#[tokio::test]
async fn telegram_answer_takes_the_place_of_a_beginning_that_a_daemon_was_killed_over() {
    let scene = Scene::start().await;
    scene.model.push(Scenario::text("Hello."));
    scene.double.say(OWNER, "hello");
    scene.answered(OWNER, "Hello.").await;
    scene.model.push(held(WHOLE, BEGINNING.len(), "end"));
    scene.double.inject("sendMessage", Fault::Hold);
    scene.double.say(OWNER, "work");
    let shown = scene.answered(OWNER, BEGINNING).await;
    let pid = scene.suite.seen_program(DAEMON).await;
    processes::send(pid, Signal::SIGKILL);
    is_another_daemon(&scene, pid).await;
    let to = format!("telegram:{OWNER}");
    let beside = ["send", "--to", &to, "It is beside the answer."];
    scene.suite.ctl(&beside).await.ok();
    scene.model.release("end");
    let is_whole = |it: &Double| it.sent_to(OWNER).iter().any(|it| it.text == WHOLE);
    within("the answer", scene.double.wait(is_whole)).await;
    let said = scene.double.sent_to(OWNER);
    assert_eq!(texts(&said), ["Hello.", WHOLE, "It is beside the answer."]);
    assert_eq!(said[1].id, shown[1].id);
    let told = |line: &String| line.contains("may be there twice");
    assert!(!scene.suite.log.lines().iter().any(told));
}

/// A connection that breaks before Telegram's answer is no second beginning.
#[tokio::test]
async fn telegram_beginning_whose_connection_breaks_is_shown_once() {
    let scene = Scene::start().await;
    scene.model.push(Scenario::text("Hello."));
    scene.double.say(OWNER, "hello");
    scene.answered(OWNER, "Hello.").await;
    scene.model.push(held(WHOLE, BEGINNING.len(), "end"));
    scene.double.inject("sendMessage", Fault::DropAt(0));
    scene.double.say(OWNER, "work");
    let shown = scene.answered(OWNER, BEGINNING).await;
    is_recorded(&scene, shown[1].id).await;
    scene.model.release("end");
    let said = scene.answered(OWNER, WHOLE).await;
    assert_eq!(texts(&said), ["Hello.", WHOLE]);
    assert_eq!(said[1].id, shown[1].id);
}
