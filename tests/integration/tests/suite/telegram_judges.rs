//! Telegram as others have it: their double with our daemon, their clients with our
//! double.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use integration_tests::installed::folder;
use integration_tests::talk::Talk;
use integration_tests::{Crabline, Setup, bots, processes, until, within};
use nix::sys::signal::Signal;
use scripted_model::{Scenario, Server};
use serde_json::{Value, json};
use telegram_double::{Double, Fault};

const CHAT: i64 = 7;

/// The last thing the bot said, once it has said `count` things.
async fn said(double: &Double, count: usize) -> String {
    let what = format!("{count} things said by the bot");
    let said = double.wait(|it| it.sent_to(CHAT).len() >= count);
    within(&what, said).await;
    double.sent_to(CHAT).last().unwrap().text.clone()
}

/// Has a bot do everything that ours does, each step after what came of the last.
async fn judged(start: fn(&Double) -> Option<Talk>) {
    let double = Double::start().await.unwrap();
    let Some(bot) = start(&double) else { return };
    // What it is written with takes its time to be read.
    within("the bot's first poll", double.wait(Double::is_polled)).await;
    double.say(CHAT, "html");
    let edited = double.wait(|it| it.sent_to(CHAT).first().is_some_and(|it| it.edits == 1));
    within("the edit", edited).await;
    let first = &double.sent_to(CHAT)[0];
    assert_eq!(first.text, "changed");

    double.say(CHAT, "broken");
    let refusal = said(&double, 2).await;
    let words = "refused: Bad Request: can't parse entities: Can't find end tag corresponding to \
                 start tag \"b\"";
    assert_eq!(refusal, words);

    double.inject(
        "sendMessage",
        Fault::Refuse {
            code: 429,
            description: "Too Many Requests: retry after 1".into(),
            retry_after: Some(1),
        },
    );
    double.say(CHAT, "pause");
    assert_eq!(said(&double, 3).await, "waited 1");

    double.say(CHAT, "buttons");
    assert_eq!(said(&double, 4).await, "a button");
    let asked = double.sent_to(CHAT).pop().unwrap();
    let button: &Value = &asked.parameters["reply_markup"]["inline_keyboard"][0][0];
    double.press(CHAT, asked.id, button["callback_data"].as_str().unwrap());
    let pressed = said(&double, 5).await;
    assert!(pressed.starts_with("pressed:1, again: "), "{pressed}");
    assert!(pressed.contains("query is too old"), "{pressed}");
    let answers = double.calls_of("answerCallbackQuery");
    assert_eq!(answers[0].parameters["text"], "noted");

    double.keep_file("F1", b"twelve pears".to_vec());
    double.update(json!({"message": {"message_id": 900, "date": 1_700_000_000,
        "chat": {"id": CHAT, "type": "private", "first_name": "P"},
        "from": {"id": CHAT, "is_bot": false, "first_name": "P"},
        "document": {"file_id": "F1", "file_unique_id": "u1", "file_size": 12}}}));
    assert_eq!(said(&double, 6).await, "file: twelve pears");

    double.say(CHAT, "upload");
    assert_eq!(said(&double, 7).await, "the report");
    let document = &double.calls_of("sendDocument")[0].parameters["document"];
    assert_eq!(document["name"], "report.txt");
    assert_eq!(document["content"], "twelve apples");

    double.say(CHAT, "stop");
    let told = bots::ended(bot).await;
    let seen = [
        "html", "broken", "pause", "buttons", "(a file)", "upload", "stop",
    ];
    assert_eq!(told, json!({"me": "double_bot", "seen": seen}));
    // Of the last one, not all libraries say that it came.
    assert!(double.unconfirmed() <= 1, "{}", double.unconfirmed());
}

#[tokio::test]
async fn telegram_double_serves_aiogram() {
    judged(bots::aiogram).await;
}

#[tokio::test]
async fn telegram_double_serves_grammy() {
    judged(bots::grammy).await;
}

/// The emoji in quotes of the line that has all of Telegram's reactions in `types`.
fn reactions(types: &str) -> BTreeSet<String> {
    let is_list = |line: &&str| line.contains("\"🔥\"") && line.contains("\"🗿\"");
    let line = types.lines().find(is_list).unwrap();
    // As a whole in quotes, in Python.
    let line = line.trim().trim_matches('"');
    let quoted = line.split('"').skip(1).step_by(2);
    quoted.map(str::to_owned).collect()
}

/// What the configuration may name and what the double takes is what there is.
#[test]
fn telegram_reactions_are_those_that_others_know() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let ours = root.join("services/effect/src/values/reactions.txt");
    let ours = fs::read_to_string(ours).unwrap();
    let ours: BTreeSet<String> = ours.split_whitespace().map(str::to_owned).collect();
    let types = "node_modules/@grammyjs/types/message.d.ts";
    if let Some(grammy) = folder("grammY", "OPENCLAW_TEST_GRAMMY", "grammy", types) {
        let theirs = fs::read_to_string(grammy.join(types)).unwrap();
        assert_eq!(ours, reactions(&theirs));
    }
    let python = "bin/python";
    if let Some(aiogram) = folder("aiogram", "OPENCLAW_TEST_AIOGRAM", "aiogram", python) {
        let types = "site-packages/aiogram/types/reaction_type_emoji.py";
        let versions = fs::read_dir(aiogram.join("lib")).unwrap();
        let files = versions.map(|it| it.unwrap().path().join(types));
        let file = files.into_iter().find(|it| it.exists()).unwrap();
        assert_eq!(ours, reactions(&fs::read_to_string(file).unwrap()));
    }
}

/// Texts and offsets: each message is answered once and whole, also when the daemon
/// is killed, and what was confirmed is never asked for again.
#[tokio::test]
async fn telegram_daemon_answers_at_crabline() {
    const CHATS: i64 = 12;
    let Some(crabline) = Crabline::start().await else {
        return;
    };
    let model = Server::start().await.unwrap();
    let suite = Setup::anthropic(&model)
        .set("session.dmScope", "per-channel-peer")
        .set("channels.telegram.dmPolicy", "open")
        .set("channels.telegram.allowFrom", json!(["*"]))
        .set("channels.telegram.streaming", "off")
        .set("channels.telegram.apiRoot", crabline.root())
        .variable("TELEGRAM_BOT_TOKEN", crabline.token())
        .start()
        .await;
    let answered = |chat: i64| {
        let calls = crabline.calls("sendMessage");
        calls.iter().any(|call| call["chat_id"] == chat)
    };
    for chat in 1..=CHATS {
        // Telegram's characters, and what HTML must not take for its own.
        let words = format!("[[scenario:text **{chat}** <b> & ä 🦀]]");
        crabline.say(chat, &words).await;
        if chat % 4 == 0 {
            let pid = suite.seen_program("openclaw-telegram").await;
            processes::send(pid, Signal::SIGKILL);
        }
        until("an answer", || answered(chat)).await;
    }
    // Longer than one message may be.
    model.push(Scenario::text("word ".repeat(1500)));
    crabline.say(CHATS + 1, "say much").await;
    let parts = || {
        let mut calls = crabline.calls("sendMessage");
        calls.retain(|call| call["chat_id"] == CHATS + 1);
        calls
    };
    until("a long answer", || parts().len() >= 2).await;

    let mut answers: BTreeMap<i64, Vec<String>> = BTreeMap::new();
    for call in crabline.calls("sendMessage") {
        let chat = call["chat_id"].as_i64().unwrap();
        let text = call["text"].as_str().unwrap().to_owned();
        answers.entry(chat).or_default().push(text);
    }
    for chat in 1..=CHATS {
        let text = format!("<b>{chat}</b> &lt;b&gt; &amp; ä 🦀");
        assert_eq!(answers[&chat], [text]);
    }
    let whole = answers[&(CHATS + 1)].join(" ");
    assert_eq!(whole.split_whitespace().count(), 1500);
    let polls = crabline.calls("getUpdates");
    let offsets: Vec<i64> = polls
        .iter()
        .filter_map(|it| it["offset"].as_i64())
        .collect();
    assert!(offsets.is_sorted(), "{offsets:?}");
    // The one that waits now is not told yet.
    assert!(offsets.last() >= Some(&(CHATS + 1)), "{offsets:?}");
}
