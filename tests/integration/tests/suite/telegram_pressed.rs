//! Telegram's buttons, pressed by whoever likes: a decision is an approver's, once,
//! and of the question that waits.

use std::time::Instant;

use integration_tests::{processes, within};
use nix::sys::signal::Signal;
use scripted_model::Scenario;
use serde_json::json;
use telegram_double::Double;

use crate::telegram::{OWNER, Scene};

/// May talk, and decides nothing.
const GUEST: i64 = 9;
const STRANGER: i64 = 8;

/// Somebody presses a button that is said to be in `chat`; what they are shown.
async fn pressed(scene: &Scene, name: &str, (from, chat): (i64, i64), data: &str) -> String {
    let kind = if chat < 0 { "group" } else { "private" };
    scene
        .double
        .update(json!({"callback_query": {"id": name, "data": data,
        "chat_instance": "1", "from": {"id": from, "is_bot": false, "first_name": "P"},
        "message": {"message_id": 1, "date": 0, "chat": {"id": chat, "type": kind}}}}));
    let is_answered = |it: &Double| {
        let answers = it.calls_of("answerCallbackQuery");
        answers
            .iter()
            .any(|it| it.parameters["callback_query_id"] == name)
    };
    within(name, scene.double.wait(is_answered)).await;
    let answers = scene.double.calls_of("answerCallbackQuery");
    let answer = answers
        .iter()
        .find(|it| it.parameters["callback_query_id"] == name);
    answer.unwrap().parameters["text"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[tokio::test]
async fn telegram_press_decides_for_approvers_alone_and_once() {
    let scene = Scene::with(|setup| {
        setup
            .set("channels.telegram.allowFrom", json!([OWNER, GUEST]))
            .set(
                "channels.telegram.execApprovals",
                json!({"approvers": [OWNER]}),
            )
            .set("tools.exec.ask", "on-miss")
    })
    .await;
    let touch = Scenario::tool("execute_shell", json!({"command": "touch a"}));
    scene
        .model
        .push(touch.then(Scenario::text("It was not allowed.")));
    scene.double.say(OWNER, "make a file");
    let button = |it: &Double| -> Option<String> {
        let said = it.sent_to(OWNER);
        let asked = said
            .iter()
            .find(|it| !it.parameters["reply_markup"].is_null())?;
        let rows = &asked.parameters["reply_markup"]["inline_keyboard"];
        Some(rows[0][0]["callback_data"].as_str()?.to_owned())
    };
    within("the question", scene.double.wait(|it| button(it).is_some())).await;
    let allow = button(&scene.double).unwrap();
    let other = allow.replace(|it: char| it.is_ascii_digit(), "0");
    let deny = allow.replacen("once", "deny", 1);
    for (name, who, data) in [
        ("stranger", (STRANGER, STRANGER), &allow),
        ("strangers word for the chat", (STRANGER, OWNER), &allow),
        ("guest", (GUEST, GUEST), &allow),
        ("guest in a group", (GUEST, -5), &allow),
        ("no question", (OWNER, OWNER), &other),
        ("nonsense", (OWNER, OWNER), &"approve:maybe".to_owned()),
    ] {
        let shown = pressed(&scene, name, who, data).await;
        assert_ne!(shown, "Allowed once.", "{name}");
    }
    assert_eq!(scene.suite.written("a"), None);
    assert_eq!(
        pressed(&scene, "owner", (OWNER, OWNER), &deny).await,
        "Denied."
    );
    scene.answered(OWNER, "It was not allowed.").await;
    let late = pressed(&scene, "late", (OWNER, OWNER), &allow).await;
    assert_ne!(late, "Allowed once.", "it was decided");
    assert_eq!(scene.suite.written("a"), None, "a late press ran it");
}

/// An approver who is not the owner decides about what comes by the account whose approver
/// they are, and about nothing else, whatever a button is made to say.
#[tokio::test]
async fn telegram_press_of_an_approver_decides_what_they_are_asked_about() {
    let scene = Scene::with(|setup| {
        setup
            .set("channels.telegram.allowFrom", json!([OWNER, GUEST]))
            .set(
                "channels.telegram.execApprovals",
                json!({"approvers": [GUEST]}),
            )
            .set("tools.exec.ask", "on-miss")
    })
    .await;
    let touch = || {
        Scenario::tool("execute_shell", json!({"command": "touch a"}))
            .then(Scenario::text("It was said."))
    };
    let waiting = async || {
        let list = ["approvals", "list", "--json"];
        loop {
            let listed = scene.suite.ctl(&list).await.document();
            if let Some(id) = listed["waiting"][0]["id"].as_str() {
                return id.to_owned();
            }
        }
    };
    scene.model.push(touch());
    let talk = scene.suite.begin(&["message", "make a file"]);
    let id = within("the question", waiting()).await;
    for (name, id) in [("whole", id.as_str()), ("beginning", &id[..1])] {
        let data = format!("approve:once:{id}");
        let shown = pressed(&scene, name, (GUEST, GUEST), &data).await;
        assert_eq!(shown, "You are not asked about this.", "{name}");
    }
    scene.suite.ctl(&["approvals", "deny", &id]).await.ok();
    talk.end().await.ok();
    assert_eq!(scene.suite.written("a"), None);
    scene.model.push(touch());
    scene.double.say(OWNER, "make a file");
    let id = within("the question", waiting()).await;
    let data = format!("approve:once:{id}");
    let shown = pressed(&scene, "asked", (GUEST, GUEST), &data).await;
    assert_eq!(shown, "Allowed once.");
    scene.answered(OWNER, "It was said.").await;
    assert!(scene.suite.written("a").is_some());
}

#[tokio::test]
async fn telegram_stop_is_confirmed_while_the_runner_is_started_again() {
    let scene = Scene::start().await;
    scene.model.push(Scenario::held("It begins and", "never"));
    scene.double.say(OWNER, "work");
    within("the turn", scene.model.wait_for_turns(1)).await;
    let turn = scene.suite.turn();
    processes::send(scene.suite.daemon("openclaw-agent-runner"), Signal::SIGKILL);
    let begun = Instant::now();
    scene.double.say(OWNER, "Stop!");
    scene.stop_is_confirmed(begun).await;
    integration_tests::until("the turn has ended", || {
        processes::program(turn).is_none() || !processes::is_turn(turn)
    })
    .await;
}
