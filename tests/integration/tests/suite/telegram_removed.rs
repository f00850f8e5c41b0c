//! What becomes of the turns of people on Telegram who may talk no more.

use integration_tests::{Setup, processes, until, within};
use nix::sys::signal::Signal;
use scripted_model::Scenario;
use serde_json::{Value, json};
use telegram_double::Double;

use crate::telegram::{GROUP, OWNER, STRANGER, Scene};

/// What the log says of each run.
const REMOVED: &str = "ended: whoever asked may not talk here any more";

fn of_everybody_apart(setup: Setup) -> Setup {
    setup
        .set("session.dmScope", "per-channel-peer")
        .set("commands.ownerAllowFrom", json!([OWNER]))
}

/// Somebody has a turn that never ends by itself, and says more meanwhile.
async fn guest_at_work(scene: &Scene) {
    scene.model.push(Scenario::held("It begins and", "never"));
    scene.double.say(STRANGER, "work");
    within("the turn", scene.model.wait_for_turns(1)).await;
    scene.double.say(STRANGER, "and then this");
    scene.handed_in().await;
}

/// Waits until both have ended. The owner's turn is the next one, and the last.
async fn nothing_of_the_guest_goes_on(scene: &Scene) {
    until("both runs are ended", || {
        let lines = scene.suite.log.lines();
        lines.iter().filter(|it| it.contains(REMOVED)).count() == 2
    })
    .await;
    scene.model.push(Scenario::text("Here."));
    scene.double.say(OWNER, "are you there?");
    scene.answered(OWNER, "Here.").await;
    let turns = scene.model.turns();
    assert_eq!(turns.len(), 2, "what waited was asked");
    let is_stopped = |it: &Double| {
        let said = it.sent_to(STRANGER);
        said.iter().any(|it| it.text.ends_with("(stopped)"))
    };
    within("the half answer", scene.double.wait(is_stopped)).await;
}

#[tokio::test]
async fn telegram_pairing_that_is_revoked_ends_what_its_peer_began() {
    let scene = Scene::with(|setup| {
        of_everybody_apart(setup).set("channels.telegram.allowFrom", json!([OWNER]))
    })
    .await;
    scene.double.say(STRANGER, "let me in");
    let said = scene.said(STRANGER, 1).await;
    let code = said[0].text.split("Pairing code: ").nth(1).unwrap();
    let code = code.split_whitespace().next().unwrap().to_owned();
    scene
        .suite
        .ctl(&["pairing", "approve", &code])
        .await
        .ended(0);
    guest_at_work(&scene).await;
    let peer = STRANGER.to_string();
    let revoke = ["pairing", "revoke", "telegram", &peer];
    scene.suite.ctl(&revoke).await.ended(0).says(&["no more"]);
    nothing_of_the_guest_goes_on(&scene).await;
}

#[tokio::test]
async fn telegram_person_who_is_taken_off_a_list_has_no_turn_that_goes_on() {
    let scene = Scene::with(|setup| {
        of_everybody_apart(setup).set("channels.telegram.allowFrom", json!([OWNER, STRANGER]))
    })
    .await;
    guest_at_work(&scene).await;
    let left = json!([OWNER]).to_string();
    let set = ["config", "set", "channels.telegram.allowFrom", &left];
    scene.suite.ctl(&set).await.ended(0);
    nothing_of_the_guest_goes_on(&scene).await;
}

/// In a group, by what was changed while nobody listened.
#[tokio::test]
async fn telegram_person_who_left_a_list_while_the_gateway_was_down_has_no_turn_that_goes_on() {
    let listed = |ids: Value| json!({ GROUP.to_string(): {"allowFrom": ids} });
    let scene = Scene::with(|setup| {
        of_everybody_apart(setup)
            .set("channels.telegram.allowFrom", json!([OWNER]))
            .set("channels.telegram.groups", listed(json!([STRANGER])))
    })
    .await;
    scene.model.push(Scenario::held("It begins and", "never"));
    scene.say_in_group(STRANGER, 1, "@double_bot work");
    within("the turn", scene.model.wait_for_turns(1)).await;
    let gateway = scene.suite.seen_program("openclaw-gateway").await;
    // It reads nothing from now on.
    processes::send(gateway, Signal::SIGSTOP);
    let left = listed(json!([OWNER])).to_string();
    let set = ["config", "set", "channels.telegram.groups", &left];
    scene.suite.ctl(&set).await.ended(0);
    processes::send(gateway, Signal::SIGKILL);
    until("the run is ended", || {
        let lines = scene.suite.log.lines();
        lines.iter().any(|it| it.contains(REMOVED))
    })
    .await;
}
