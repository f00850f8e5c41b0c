//! How far the jobs of agents reach that are made for a guest, or in a group.

use integration_tests::asked;
use scripted_model::Scenario;
use serde_json::{Value, json};

use crate::telegram::{GROUP, OWNER, Scene, texts};
use crate::telegram_jobs::run;

const GUEST: i64 = 9;
const VISITOR: i64 = 8;

/// Each has a session of its own, and nobody is asked.
async fn scene() -> Scene {
    let scene = Scene::with(|setup| {
        let open = json!({GROUP.to_string(): {"groupPolicy": "open", "allowFrom": ["*"]}});
        setup
            .set("session.dmScope", "per-channel-peer")
            .set(
                "commands.ownerAllowFrom",
                json!([format!("telegram:{OWNER}")]),
            )
            .set("channels.telegram.dmPolicy", "allowlist")
            .set("channels.telegram.allowFrom", json!([OWNER, GUEST]))
            .set("channels.telegram.groupPolicy", "open")
            .set("channels.telegram.groups", open)
            .set("tools.exec.ask", "off")
    })
    .await;
    scene.model.push(Scenario::text("I know."));
    scene.suite.say("the door code is 4711").await;
    scene
}

/// Has the agent call `tool` in the turn of a message from `from`; what it is told.
async fn calls(scene: &Scene, from: i64, (tool, arguments): (&str, Value), number: i64) -> String {
    let done = format!("Done {number}.");
    let reply = Scenario::tool(tool, arguments).then(Scenario::text(&done));
    scene.model.push(reply);
    match from {
        VISITOR => {
            scene.say_in_group(VISITOR, number, "@double_bot do it");
            scene.answered(GROUP, &done).await;
        }
        from => {
            scene.double.say(from, "do it");
            scene.answered(from, &done).await;
        }
    }
    last_result(scene)
}

/// What the agent was told last.
fn last_result(scene: &Scene) -> String {
    let turn = scene.model.turns().pop().unwrap();
    let messages = turn.json()["messages"].as_array().cloned().unwrap();
    messages.last().unwrap().to_string()
}

fn job(more: &Value) -> Value {
    let mut job = json!({"name": "j", "schedule": {"kind": "every", "everyMs": 3_600_000},
        "payload": {"kind": "agentTurn", "message": "words of a guest"}});
    let more = more.as_object().cloned().unwrap();
    job.as_object_mut().unwrap().extend(more);
    json!({"action": "add", "job": job})
}

async fn jobs(scene: &Scene) -> Vec<Value> {
    let said = scene.suite.ctl(&["cron", "list", "--json"]).await;
    said.document().as_array().cloned().unwrap()
}

/// Whoever talks to an agent elsewhere has nothing done in the owner's conversation, and
/// nobody told but themselves, also where nobody is asked.
#[tokio::test]
async fn jobs_of_a_guest_and_of_a_group_stay_where_they_were_made() {
    let scene = scene().await;
    let main = "agent:main:main";
    let owner = format!("telegram:{OWNER}");
    let announce = |to: &str| json!({"delivery": {"mode": "announce", "to": to}});
    let event = json!({"kind": "systemEvent", "text": "words of a guest"});
    let own = json!({"text": "the door code is not for guests", "when": "in 2 hours"});
    scene
        .model
        .push(Scenario::tool("remind", own).then(Scenario::text("I will.")));
    scene.suite.ask("remind me").await;
    let owners = jobs(&scene).await[0]["id"].clone();
    let refused = [
        ("cron", job(&json!({"sessionTarget": "main"}))),
        (
            "cron",
            job(&json!({"sessionTarget": format!("session:{main}")})),
        ),
        (
            "cron",
            job(&json!({"sessionTarget": "current", "sessionKey": main})),
        ),
        (
            "cron",
            job(&json!({"sessionTarget": "main", "payload": event})),
        ),
        ("cron", job(&announce(main))),
        ("cron", job(&announce("main"))),
        ("cron", job(&announce(&owner))),
        (
            "cron",
            job(&announce(&format!("agent:main:telegram:direct:{OWNER}"))),
        ),
        (
            "cron",
            job(&json!({"failureAlert": {"after": 1, "to": main}})),
        ),
        (
            "cron",
            job(&json!({"delivery": {"mode": "none", "failureDestination": {"to": main}}})),
        ),
        (
            "remind",
            json!({"text": "w", "when": "in 2 hours", "who": owner}),
        ),
        (
            "remind",
            json!({"text": "w", "when": "in 2 hours", "who": main}),
        ),
        (
            "cron",
            json!({"action": "wake", "text": "w", "mode": "now", "sessionKey": main}),
        ),
        (
            "cron",
            json!({"action": "update", "jobId": owners, "job": {"payload": event}}),
        ),
        ("cron", json!({"action": "run", "jobId": owners})),
        ("cron", json!({"action": "runs", "jobId": owners})),
        ("cron", json!({"action": "remove", "jobId": owners})),
    ];
    let mut number = 100;
    for from in [GUEST, VISITOR] {
        for (tool, arguments) in &refused {
            number += 1;
            let told = calls(&scene, from, (tool, arguments.clone()), number).await;
            let is_refused = ["not the owner's own", "made no job", "must be isolated"];
            let is_refused = is_refused.iter().any(|words| told.contains(words));
            assert!(is_refused, "{from} {arguments}: {told}");
        }
        let list = ("cron", json!({"action": "list"}));
        let told = calls(&scene, from, list, number + 100).await;
        assert!(!told.contains("door code"), "{told}");
    }
    assert_eq!(jobs(&scene).await.len(), 1);
    let heard = asked::words(scene.model.turns().last().unwrap());
    assert!(!heard.contains("4711"), "{heard}");
    scene.suite.say("what is new?").await;
    let heard = asked::words(scene.model.turns().last().unwrap());
    assert!(!heard.contains("words of a guest"), "{heard}");
}

/// What they have done later is done in their own session, and told there.
#[tokio::test]
async fn jobs_of_a_guest_are_told_the_guest_and_those_of_a_group_know_what_it_may() {
    let scene = scene().await;
    for (from, chat, target) in [
        (GUEST, GUEST, "current"),
        (GUEST, GUEST, "isolated"),
        (VISITOR, GROUP, "current"),
        (VISITOR, GROUP, "isolated"),
    ] {
        let number = 200 + i64::from(from == VISITOR);
        let name = format!("{target} {chat}");
        let more = json!({"sessionTarget": target, "name": name, "delivery": {"mode": "announce"}});
        let told = calls(&scene, from, ("cron", job(&more)), number).await;
        assert!(told.contains("configRevision"), "{told}");
        let answer = format!("What {name} came to.");
        scene.model.push(Scenario::text(&answer));
        let over = run(&scene.suite, &name).await;
        assert_eq!(over["state"], "delivered", "{over}");
        let said = scene.double.sent_to(chat);
        assert!(said.last().unwrap().text.contains(&answer), "{said:?}");
        let heard = asked::words(scene.model.turns().last().unwrap());
        assert!(
            heard.contains("words of a guest") && !heard.contains("4711"),
            "{heard}"
        );
    }
    // Told nobody, it is the group's all the same, which reads what it came to.
    let more = json!({"sessionTarget": "isolated", "name": "q", "delivery": {"mode": "none"}});
    calls(&scene, VISITOR, ("cron", job(&more)), 300).await;
    scene.model.push(Scenario::text("Quiet."));
    run(&scene.suite, "q").await;
    let sessions = scene.suite.ctl(&["sessions", "--json"]).await.document();
    let sessions = sessions.to_string();
    let id = jobs(&scene).await;
    let id = id.iter().find(|it| it["name"] == "q").unwrap()["id"].clone();
    let key = format!("agent:main:cron:{}:group", id.as_str().unwrap());
    assert!(sessions.contains(&key), "{sessions}");
    assert_eq!(texts(&scene.double.sent_to(OWNER)), [""; 0]);
}

/// In a session of the owner's own the agent reaches others, but not with what that
/// conversation knows; the question says where it runs and who is told.
#[tokio::test]
async fn jobs_of_the_owner_tell_others_nothing_of_the_conversation() {
    let scene = scene().await;
    scene.double.open_chat(&GUEST.to_string());
    let guest = format!("telegram:{GUEST}");
    let session = format!("agent:main:telegram:direct:{GUEST}");
    for to in [&guest, &session] {
        for (target, is_made) in [("main", false), ("current", false), ("isolated", true)] {
            let more = json!({"sessionTarget": target, "delivery": {"mode": "announce", "to": to}});
            let reply = Scenario::tool("cron", job(&more)).then(Scenario::text("Well."));
            scene.model.push(reply);
            let ran = scene.suite.ask("tell them").await;
            let told = last_result(&scene);
            assert_eq!(ran["toolCalls"][0]["success"], is_made, "{told}");
            assert_eq!(
                told.contains("say sessionTarget isolated"),
                !is_made,
                "{told}"
            );
        }
    }
    scene
        .suite
        .ctl(&["config", "set", "tools.exec.ask", "on-miss"])
        .await
        .ok();
    scene.double.say(GUEST, "hello");
    scene.said(GUEST, 1).await;
    let more = json!({"sessionTarget": format!("session:{session}"),
        "delivery": {"mode": "announce", "to": session}});
    for (arguments, words) in [
        (
            job(&more),
            [
                format!("in the session {session}"),
                format!("tells the session {session} ({guest})"),
            ],
        ),
        (
            job(
                &json!({"sessionTarget": "isolated", "delivery": {"mode": "announce", "to": guest}}),
            ),
            [
                "in a session of its own".to_owned(),
                format!("tells {guest}"),
            ],
        ),
    ] {
        scene
            .model
            .push(Scenario::tool("cron", arguments).then(Scenario::text("Well.")));
        let mut talk = scene.suite.begin(&["message", "--json", "tell them"]);
        talk.hear("\"approval_requested\"").await;
        let waiting = scene
            .suite
            .ctl(&["approvals", "list", "--json"])
            .await
            .document();
        let waiting = &waiting["waiting"][0];
        let reason = waiting["reason"].as_str().unwrap();
        for words in words {
            assert!(reason.contains(&words), "{words}: {reason}");
        }
        let id = waiting["id"].as_str().unwrap();
        scene.suite.ctl(&["approvals", "deny", id]).await.ok();
        talk.end().await;
    }
}

/// A job may be older than the rule, or than what makes somebody a guest.
#[tokio::test]
async fn job_that_reaches_too_far_now_is_not_run_and_not_lost() {
    let scene = scene().await;
    let both = json!([format!("telegram:{OWNER}"), format!("telegram:{GUEST}")]).to_string();
    let owners = ["config", "set", "commands.ownerAllowFrom", &both];
    scene.suite.ctl(&owners).await.ok();
    let more = json!({"sessionTarget": "main", "name": "old"});
    let told = calls(&scene, GUEST, ("cron", job(&more)), 1).await;
    assert!(told.contains("configRevision"), "{told}");
    let one = json!([format!("telegram:{OWNER}")]).to_string();
    let owners = ["config", "set", "commands.ownerAllowFrom", &one];
    scene.suite.ctl(&owners).await.ok();
    let before = scene.model.turns().len();
    let over = run(&scene.suite, "old").await;
    assert_eq!(over["state"], "failed", "{over}");
    assert!(
        over["reason"]
            .as_str()
            .unwrap()
            .contains("not the owner's own"),
        "{over}"
    );
    assert_eq!(scene.model.turns().len(), before);
    let listed = scene.suite.ctl(&["cron", "list"]).await;
    listed.complains(&["old", "is not run", "agent:main:main", "cron edit"]);
    let doctor = scene.suite.ctl(&["doctor"]).await;
    assert!(
        doctor.to_string().contains("is not run as it is"),
        "{doctor}"
    );
    // It is switched off and on as it is, and changed by its owner alone to what may be.
    scene.suite.ctl(&["cron", "pause", "old"]).await.ok();
    scene.suite.ctl(&["cron", "resume", "old"]).await.ok();
    let refused = scene
        .suite
        .ctl(&["cron", "edit", "old", "--session", "agent:main:work"])
        .await;
    refused.complains(&["not the owner's own"]);
    scene
        .suite
        .ctl(&["cron", "edit", "old", "--session", "isolated"])
        .await
        .ok();
    scene.model.push(Scenario::text("All is well."));
    let over = run(&scene.suite, "old").await;
    assert_eq!(over["state"], "delivered", "{over}");
    // The user's own names any session.
    let add = [
        "cron",
        "add",
        "look",
        "--every",
        "1h",
        "--session",
        "main",
        "--name",
        "mine",
        "--announce=telegram:9",
    ];
    scene.suite.ctl(&add).await.ok();
    scene.model.push(Scenario::text("As you say."));
    let over = run(&scene.suite, "mine").await;
    assert_eq!(over["state"], "delivered", "{over}");
}
