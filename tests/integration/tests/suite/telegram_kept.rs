//! What of Telegram is kept: edits and reactions, files that are sent, and the
//! token.

use std::fs;

use integration_tests::{processes, within};
use nix::sys::signal::Signal;
use scripted_model::Scenario;
use serde_json::{Value, json};
use telegram_double::{Double, Fault};

use crate::telegram::{GROUP, OWNER, Scene, texts};

fn private() -> Value {
    json!({"id": OWNER, "type": "private", "first_name": "Ada"})
}

fn group() -> Value {
    json!({"id": GROUP, "type": "supergroup", "title": "Friends"})
}

fn react(double: &Double, chat: Value, message: i64, emoji: &str) {
    double.update(json!({"message_reaction": {
        "chat": chat, "message_id": message, "date": 1_700_000_000, "old_reaction": [],
        "user": {"id": OWNER, "is_bot": false, "first_name": "Ada"},
        "new_reaction": [{"type": "emoji", "emoji": emoji}],
    }}));
}

/// What the model was asked in a turn.
pub(crate) fn asked(scene: &Scene, turn: usize) -> String {
    String::from_utf8_lossy(&scene.model.turns()[turn].body).into_owned()
}

/// Entries of the transcript that have `words`.
fn told(scene: &Scene, words: &str) -> usize {
    let entries = scene.suite.entries();
    let has = |it: &&Value| it.to_string().contains(words);
    entries.iter().filter(has).count()
}

#[tokio::test]
async fn telegram_edit_and_reaction_outlive_a_killed_gateway() {
    let scene = Scene::start().await;
    scene.model.push(Scenario::text("Hello."));
    scene.double.say(OWNER, "hello");
    let said = scene.answered(OWNER, "Hello.").await;
    scene.double.update(json!({"edited_message": {
        "message_id": 11, "date": 1_700_000_000, "edit_date": 1_700_000_001,
        "text": "hello, you", "chat": private(),
        "from": {"id": OWNER, "is_bot": false, "first_name": "Ada"},
    }}));
    react(&scene.double, private(), said[0].id, "👍");
    scene.handed_in().await;
    let pid = scene.suite.seen_program("openclaw-gateway").await;
    processes::send(pid, Signal::SIGKILL);
    for answer in ["I know.", "Nothing new."] {
        scene.model.push(Scenario::text(answer));
        scene.double.say(OWNER, "what happened?");
        scene.answered(OWNER, answer).await;
    }
    for words in ["edited the message 11", "reacted with 👍 to your message"] {
        let asked = asked(&scene, 1);
        assert!(asked.contains(words), "{words}: {asked}");
        assert_eq!(told(&scene, words), 1, "{words}");
    }
}

#[tokio::test]
async fn telegram_reaction_in_a_group_is_told_where_the_bot_said_it() {
    let scene = Scene::with(|setup| {
        setup
            .set("channels.telegram.allowFrom", json!([OWNER]))
            .set(
                "channels.telegram.groups",
                json!({GROUP.to_string(): {"requireMention": false}}),
            )
    })
    .await;
    scene.model.push(Scenario::text("Hello."));
    scene.say_in_group(OWNER, 501, "hello");
    let said = scene.answered(GROUP, "Hello.").await;
    react(&scene.double, group(), 501, "🔥");
    react(&scene.double, group(), said[0].id, "👍");
    scene.handed_in().await;
    scene.model.push(Scenario::text("Thank you."));
    scene.say_in_group(OWNER, 502, "well?");
    scene.answered(GROUP, "Thank you.").await;
    let asked = asked(&scene, 1);
    assert!(asked.contains("reacted with 👍 to your message"), "{asked}");
    assert!(!asked.contains("🔥"), "nobody's of the bot: {asked}");
}

#[tokio::test]
async fn telegram_sends_a_file_that_the_owner_names() {
    let scene = Scene::start().await;
    scene.double.open_chat(&OWNER.to_string());
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    fs::write(at("report.txt"), "twelve apples\n").unwrap();
    fs::write(at("photo.png"), "no picture, but it is called one").unwrap();
    let to = format!("telegram:{OWNER}");
    let send = ["send", "--to", &to, "--file"];
    for wrong in ["none.txt", ""] {
        let path = at(wrong);
        let refused = scene
            .suite
            .ctl(&[&send[..], &[path.as_str(), "words"][..]].concat())
            .await;
        refused.ended(1).complains(&["cannot send", &path]);
    }
    let report = at("report.txt");
    let sent = scene
        .suite
        .ctl(&[&send[..], &[report.as_str(), "Here it is."][..]].concat())
        .await;
    sent.ended(0).says(&["it is said"]);
    let is_there = |it: &Double| !it.calls_of("sendDocument").is_empty();
    within("the file", scene.double.wait(is_there)).await;
    let calls = scene.double.calls_of("sendDocument");
    assert_eq!(
        calls[0].parameters["document"]["size"],
        "twelve apples\n".len()
    );
    assert_eq!(texts(&scene.double.sent_to(OWNER)), ["Here it is.", ""]);
    let photo = at("photo.png");
    scene
        .suite
        .ctl(&[&send[..], &[photo.as_str()][..]].concat())
        .await
        .ended(0);
    let is_there = |it: &Double| !it.calls_of("sendPhoto").is_empty();
    within("the picture", scene.double.wait(is_there)).await;
}

#[tokio::test]
async fn telegram_token_of_the_configuration_is_taken_and_shown_to_nobody() {
    let scene = Scene::with(|setup| {
        setup
            .set("channels.telegram.allowFrom", json!([OWNER]))
            .set("channels.telegram.tokenFile", Value::Null)
            .set("channels.telegram.botToken", telegram_double::TOKEN)
    })
    .await;
    let (_, secret) = telegram_double::TOKEN.split_once(':').unwrap();
    let look = format!(
        "env; cat /proc/[0-9]*/environ; grep -rs {secret} ~ {}",
        scene.suite.state().display()
    );
    let looks = Scenario::tool("execute_shell", json!({ "command": look }));
    scene
        .model
        .push(looks.then(Scenario::text("I have looked: {result}")));
    scene.double.say(OWNER, "look for the token");
    let is_answered = |it: &Double| {
        it.sent_to(OWNER)
            .iter()
            .any(|it| it.text.contains("I have looked"))
    };
    within("the answer", scene.double.wait(is_answered)).await;
    for entry in scene
        .suite
        .entries()
        .iter()
        .filter(|it| it.to_string().contains("toolResult"))
    {
        assert!(!entry.to_string().contains(secret), "{entry}");
    }
    for pid in processes::of_folder(&scene.suite.path("")) {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        assert!(!String::from_utf8_lossy(&line).contains(secret));
    }
    let valid = scene.suite.ctl(&["config", "validate"]).await;
    valid.ended(0);
    // Another one is taken without a restart, and told when it is refused.
    let token = ["config", "set", "channels.telegram.botToken"];
    scene
        .suite
        .ctl(&[&token[..], &["1:wrong"][..]].concat())
        .await
        .ok();
    let status = async {
        loop {
            let status = scene.suite.ctl(&["channels", "status"]).await;
            if status.stdout.contains("refused") {
                return;
            }
        }
    };
    within("the wrong token", status).await;
    scene
        .suite
        .ctl(&[&token[..], &[telegram_double::TOKEN][..]].concat())
        .await
        .ok();
    scene.model.push(Scenario::text("Here again."));
    scene.double.say(OWNER, "and now?");
    scene.answered(OWNER, "Here again.").await;
    let lines = scene.suite.log.lines();
    assert!(
        lines.iter().all(|it| !it.contains(secret)),
        "the log has it"
    );
}

fn unwanted_file() -> Fault {
    Fault::Refuse {
        code: 400,
        description: "Bad Request: file is unwanted".to_owned(),
        retry_after: None,
    }
}

const UNWANTED: &str = "the file report.txt could not be attached: Bad Request: file is unwanted";

/// The chat is told, and whoever looks after the bot too.
#[tokio::test]
async fn telegram_answer_whose_file_is_refused_has_failed() {
    let scene = Scene::start().await;
    scene.suite.note("report.txt", "twelve apples\n");
    let answer = "Here it is.\nMEDIA:report.txt";
    scene.model.push(Scenario::text(answer));
    scene.double.inject("sendDocument", unwanted_file());
    scene.double.say(OWNER, "the report, please");
    let said = scene.answered(OWNER, &format!("({UNWANTED})")).await;
    assert_eq!(said[0].text, "Here it is.");
    let is_told = async {
        loop {
            let status = scene.suite.ctl(&["channels", "status"]).await.ended(0);
            if status.stdout.contains("failed for good") {
                return status;
            }
        }
    };
    let status = within("the delivery has failed", is_told).await;
    status.says(&[UNWANTED]);
}

#[tokio::test]
async fn telegram_job_whose_file_is_refused_is_not_delivered() {
    let scene = Scene::start().await;
    scene.model.push(Scenario::text("Hello."));
    scene.double.say(OWNER, "hello");
    scene.answered(OWNER, "Hello.").await;
    scene.suite.note("report.txt", "twelve apples\n");
    let answer = "Here it is.\nMEDIA:report.txt";
    scene.model.push(Scenario::text(answer));
    scene.double.inject("sendDocument", unwanted_file());
    let to = format!("--announce=telegram:{OWNER}");
    let add = [
        "cron", "add", "report", "--name", "report", "--every", "1h", &to,
    ];
    scene.suite.ctl(&add).await.ok();
    let over = crate::telegram_jobs::run(&scene.suite, "report").await;
    let why = over["reason"].as_str().unwrap_or_default();
    assert!(
        over["state"] != "delivered" && why.contains(UNWANTED),
        "{over}"
    );
}
