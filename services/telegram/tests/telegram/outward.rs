//! What goes out.

use openclaw_proto::wire::gateway as g;
use serde_json::json;
use telegram_double::{Double, Fault};

use crate::daemon::Site;
use crate::gateway::settings;

fn reply(text: &str) -> g::Delivery {
    g::Delivery {
        kind: Some(g::delivery::Kind::Reply(g::RunReply {
            text: text.into(),
            state: "done".into(),
            ..Default::default()
        })),
        ..Default::default()
    }
}

fn refuse(code: u16, description: &str, retry_after: Option<u64>) -> Fault {
    Fault::Refuse {
        code,
        description: description.into(),
        retry_after,
    }
}

async fn until_over(site: &Site, id: u64) -> Vec<String> {
    let over = site.gateway.wait(|state| state.over.contains_key(&id));
    site.within("the delivery is over", over).await;
    let state = site.gateway.shared.state.lock().unwrap();
    match &state.over[&id].outcome {
        Some(g::report_delivery_request::Outcome::Delivered(it)) => it.provider_ids.clone(),
        other => panic!("{other:?}"),
    }
}

async fn until_failed(site: &Site, id: u64) -> String {
    let over = site.gateway.wait(|state| state.over.contains_key(&id));
    site.within("the delivery is over", over).await;
    let state = site.gateway.shared.state.lock().unwrap();
    match &state.over[&id].outcome {
        Some(g::report_delivery_request::Outcome::Undeliverable(it)) => it.reason.clone(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn outward_long_reply_is_split_and_every_part_is_named() {
    let site = Site::start().await;
    site.double.open_chat("7");
    let code = "let a = 1;\n".repeat(200);
    let text = format!("{}\n\n```rust\n{code}```\n\nend", "word ".repeat(700));
    let ids = until_over(&site, site.gateway.say(7, reply(&text))).await;
    let sent = site.double.sent_to(7);
    assert_eq!(ids.len(), sent.len());
    assert!(sent.len() >= 2 && sent.iter().all(|it| it.text.len() <= 4000));
    assert!(sent.iter().any(|it| it.text.contains(code.trim())));
}

#[tokio::test]
async fn outward_entity_error_is_sent_as_plain_text() {
    let site = Site::start().await;
    site.double.open_chat("7");
    let words = "Bad Request: can't parse entities: Unsupported start tag \"x\" at byte offset 0";
    site.double.inject("sendMessage", refuse(400, words, None));
    until_over(&site, site.gateway.say(7, reply("a **b**"))).await;
    let sent = site.double.sent_to(7);
    assert_eq!((sent.len(), sent[0].text.as_str()), (1, "a b"));
    assert!(sent[0].parameters["parse_mode"].is_null());
}

#[tokio::test]
async fn outward_pause_that_telegram_wants_is_kept() {
    let site = Site::start().await;
    site.double.open_chat("7");
    site.double.open_chat("8");
    site.double
        .inject("sendMessage", refuse(429, "Too Many Requests", Some(2)));
    let begin = std::time::Instant::now();
    until_over(&site, site.gateway.say(7, reply("short"))).await;
    assert!(begin.elapsed().as_secs() >= 2);
    // A long one is the gateway's to wait for.
    site.double
        .inject("sendMessage", refuse(429, "Too Many Requests", Some(130)));
    site.gateway.say(8, reply("long"));
    let again = site.gateway.wait(|state| !state.again.is_empty());
    site.within("it is to be tried again", again).await;
}

#[tokio::test]
async fn outward_answer_that_breaks_off_before_anything_is_done_is_sent_once() {
    let site = Site::start().await;
    site.double.open_chat("7");
    site.double.inject("sendMessage", Fault::DropBefore);
    site.double
        .inject("sendMessage", refuse(502, "Bad Gateway", None));
    until_over(&site, site.gateway.say(7, reply("once"))).await;
    assert_eq!(site.double.sent_to(7).len(), 1);
}

#[tokio::test]
async fn outward_refusal_is_the_end_and_others_go_on() {
    let site = Site::start().await;
    site.double.open_chat("8");
    let id = site.gateway.say(7, reply("nobody there"));
    let other = site.gateway.say(8, reply("somebody"));
    until_over(&site, other).await;
    let reason = until_failed(&site, id).await;
    assert!(reason.contains("chat not found"), "{reason}");
}

#[tokio::test]
async fn outward_files_buttons_and_topics_are_sent_as_telegram_takes_them() {
    let site = Site::start().await;
    site.double.open_chat("-7");
    let button = g::Button {
        text: "Allow".into(),
        data: "a".into(),
        url: String::new(),
    };
    let delivery = g::Delivery {
        thread: "1".into(),
        chat: g::ChatKind::Group.into(),
        files: vec![g::DeliveredFile {
            name: "a \"b\".txt".into(),
            mime_type: "text/plain".into(),
            size: 9,
            is_voice: false,
        }],
        buttons: vec![g::ButtonRow {
            buttons: vec![button],
        }],
        ..reply("see")
    };
    let ids = until_over(&site, site.gateway.say(-7, delivery)).await;
    assert_eq!(ids.len(), 2);
    let sent = site.double.sent_to(-7);
    assert_eq!(sent[0].text, "see");
    assert_eq!(sent[1].parameters["document"]["content"], "content 0");
}

#[tokio::test]
async fn outward_answer_in_a_topic_that_is_gone_or_closed_is_said_beside_it() {
    let site = Site::start().await;
    site.double.open_chat("-7");
    let gone = ["message thread not found", "TOPIC_DELETED", "TOPIC_CLOSED"];
    for words in gone {
        let words = format!("Bad Request: {words}");
        site.double.inject("sendMessage", refuse(400, &words, None));
        let delivery = g::Delivery {
            thread: "4".into(),
            chat: g::ChatKind::Group.into(),
            ..reply("see")
        };
        until_over(&site, site.gateway.say(-7, delivery)).await;
        let sent = site.double.sent_to(-7).pop().unwrap();
        assert!(sent.parameters["message_thread_id"].is_null(), "{words}");
    }
    assert_eq!(site.double.sent_to(-7).len(), gone.len());
}

#[tokio::test]
async fn outward_person_who_blocks_the_bot_is_told_nothing_more() {
    let site = Site::start().await;
    site.double.open_chat("7");
    let words = "Forbidden: bot was blocked by the user";
    site.double.inject("sendMessage", refuse(403, words, None));
    let id = site.gateway.say(7, reply("see"));
    let over = site.gateway.wait(|state| state.over.contains_key(&id));
    site.within("the delivery is over", over).await;
    {
        let state = site.gateway.shared.state.lock().unwrap();
        let outcome = &state.over[&id].outcome;
        let Some(g::report_delivery_request::Outcome::Undeliverable(it)) = outcome else {
            panic!("{outcome:?}");
        };
        assert!(it.reason.contains(words), "{}", it.reason);
        assert!(state.again.is_empty());
    }
    assert_eq!(site.double.calls_of("sendMessage").len(), 1);
    // Of the account, nothing is wrong.
    site.double.say(8, "hello");
    site.until_health("connected", |state, error| {
        state == "connected" && error.is_empty()
    })
    .await;
}

#[tokio::test]
async fn outward_file_that_telegram_does_not_take_is_said_and_reported() {
    let site = Site::start().await;
    site.double.open_chat("7");
    let words = "Bad Request: file must be non-empty";
    site.double.inject("sendDocument", refuse(400, words, None));
    let file = |name: &str| g::DeliveredFile {
        name: name.into(),
        mime_type: "text/plain".into(),
        size: 9,
        is_voice: false,
    };
    let delivery = g::Delivery {
        files: vec![file("a.txt"), file("b.txt")],
        ..reply("see")
    };
    let reason = until_failed(&site, site.gateway.say(7, delivery)).await;
    assert_eq!(
        reason,
        "the file a.txt could not be attached: Bad Request: file must be non-empty"
    );
    let sent = site.double.sent_to(7);
    assert_eq!(sent.len(), 3, "{sent:?}");
    assert!(
        sent[1].text.contains("a.txt could not be attached") && sent[1].text.contains("non-empty"),
        "{}",
        sent[1].text
    );
    assert!(sent[2].parameters["document"].is_object());
}

/// The owner is at a terminal, and hears why there.
#[tokio::test]
async fn outward_file_of_the_owner_that_telegram_does_not_take_is_told_to_the_owner_alone() {
    let site = Site::start().await;
    site.double.open_chat("7");
    let words = "Request Entity Too Large";
    site.double.inject("sendDocument", refuse(413, words, None));
    let announcement = g::AnnouncementText { text: "see".into() };
    let file = g::DeliveredFile {
        name: "a.bin".into(),
        mime_type: "application/octet-stream".into(),
        size: 9,
        is_voice: false,
    };
    let delivery = g::Delivery {
        kind: Some(g::delivery::Kind::Announcement(announcement)),
        files: vec![file],
        ..Default::default()
    };
    let id = site.gateway.say(7, delivery);
    let reason = until_failed(&site, id).await;
    assert!(
        reason.contains("a.bin") && reason.contains(words),
        "{reason}"
    );
    let sent = site.double.sent_to(7);
    assert_eq!(sent.len(), 1, "{sent:?}");
}

/// Of a question in several messages the last one has the buttons.
#[tokio::test]
async fn outward_decision_takes_the_buttons_of_a_long_question() {
    let site = Site::start().await;
    site.double.open_chat("7");
    let button = g::Button {
        text: "Deny".into(),
        data: "approve:deny:q".into(),
        ..Default::default()
    };
    let mut long = question();
    let Some(g::delivery::Kind::Question(asked)) = &mut long.kind else {
        panic!()
    };
    asked.command = "echo x\n".repeat(900);
    long.buttons = vec![g::ButtonRow {
        buttons: vec![button],
    }];
    let ids = until_over(&site, site.gateway.say(7, long)).await;
    assert!(ids.len() > 1, "{ids:?}");
    let edit = g::EditDelivered {
        delivery_id: 1,
        provider_ids: ids.clone(),
        text: "Denied, by cli.".into(),
    };
    let edit = g::Delivery {
        kind: Some(g::delivery::Kind::Edit(edit)),
        ..Default::default()
    };
    until_over(&site, site.gateway.say(7, edit)).await;
    let sent = site.double.sent_to(7);
    let (last, others) = sent.split_last().unwrap();
    assert_eq!(last.text, "Denied, by cli.");
    assert!(last.parameters["reply_markup"].is_null());
    assert!(
        others
            .iter()
            .all(|it| it.edits == 0 && it.parameters["reply_markup"].is_null())
    );
}

fn of_live_run(what: g::Delivery) -> g::Delivery {
    g::Delivery {
        run_id: "live".into(),
        ..what
    }
}

fn question() -> g::Delivery {
    let question = g::ApprovalQuestion {
        id: "q".into(),
        tool: "exec".into(),
        command: "touch a".into(),
        ..Default::default()
    };
    g::Delivery {
        kind: Some(g::delivery::Kind::Question(question)),
        ..Default::default()
    }
}

/// As a daemon before recorded that it shows the run.
fn record_shown(site: &Site, message: &str, chat: &str) {
    let record = json!({"sent": [0, [message, chat, ""]]}).to_string();
    std::fs::write(site.state().join("out/live.run"), record + "\n").unwrap();
}

/// Numbers of messages count in their chat alone.
#[tokio::test]
async fn outward_question_elsewhere_leaves_what_is_shown_to_the_answer() {
    let site = Site::start().await;
    site.double.open_chat("7");
    site.double.open_chat("-100");
    let shown = until_over(&site, site.gateway.say(-100, reply("exec"))).await;
    record_shown(&site, &shown[0], "-100");
    until_over(&site, site.gateway.say(7, of_live_run(question()))).await;
    assert!(site.double.calls_of("editMessageText").is_empty());
    assert_eq!(site.double.sent_to(7).len(), 1);
    until_over(&site, site.gateway.say(-100, of_live_run(reply("done")))).await;
    let sent = site.double.sent_to(-100);
    assert_eq!((sent.len(), sent[0].text.as_str()), (1, "done"));
}

#[tokio::test]
async fn outward_question_takes_the_place_of_what_is_shown_there() {
    let site = Site::start().await;
    site.double.open_chat("7");
    let shown = until_over(&site, site.gateway.say(7, reply("exec"))).await;
    record_shown(&site, &shown[0], "7");
    let asked = until_over(&site, site.gateway.say(7, of_live_run(question()))).await;
    assert_eq!(asked, shown);
    // The answer comes beside the question.
    until_over(&site, site.gateway.say(7, of_live_run(reply("done")))).await;
    let sent = site.double.sent_to(7);
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert!(sent[0].text.contains("touch a") && sent[1].text == "done");
}

#[tokio::test]
async fn outward_question_says_who_asks_where_that_is_not_seen() {
    let site = Site::start().await;
    site.double.open_chat("7");
    let mut asked = question();
    if let Some(g::delivery::Kind::Question(question)) = &mut asked.kind {
        question.origin = "\"<b>Eve</b>\" (888) in the group \"G\" (-100)".into();
        question.reason = "it writes".into();
    }
    until_over(&site, site.gateway.say(7, asked)).await;
    until_over(&site, site.gateway.say(7, question())).await;
    let sent = site.double.sent_to(7);
    let asked = "touch a\n\nasked by \"<b>Eve</b>\" (888) in the group \"G\" (-100)\n\nit writes";
    assert!(sent[0].text.contains(asked), "{}", sent[0].text);
    assert!(!sent[1].text.contains("asked by"), "{}", sent[1].text);
}

/// The buttons are below the end of a long command, and its beginning above the screen.
#[tokio::test]
async fn outward_question_longer_than_a_screen_begins_again_at_its_buttons() {
    let site = Site::start().await;
    site.double.open_chat("7");
    let button = |text: &str, data: &str| g::Button {
        text: text.into(),
        data: data.into(),
        ..Default::default()
    };
    let buttons = vec![
        button("Always allow", "approve:always:q"),
        button("Deny", "approve:deny:q"),
    ];
    let row = g::ButtonRow { buttons };
    let words: Vec<String> = (0..300).map(|number| format!("step{number}")).collect();
    let filler = format!("touch pwned; : {}; ls", words.join(" "));
    for (command, is_long) in [("touch a", false), (filler.as_str(), true)] {
        let mut asked = question();
        if let Some(g::delivery::Kind::Question(question)) = &mut asked.kind {
            question.command = command.into();
            question.can_be_always = true;
        }
        asked.buttons = vec![row.clone()];
        until_over(&site, site.gateway.say(7, asked)).await;
        let sent = site.double.sent_to(7);
        let last = sent.last().unwrap();
        let end: String = last.text.chars().rev().take(300).collect();
        let end: String = end.chars().rev().collect();
        assert_eq!(
            end.contains("begins with\n\ntouch pwned; : step0 "),
            is_long,
            "{end}"
        );
        let keyboard = last.parameters["reply_markup"].to_string();
        assert_eq!(!keyboard.contains("approve:always"), is_long, "{keyboard}");
        assert!(keyboard.contains("approve:deny"), "{keyboard}");
    }
}

#[tokio::test]
async fn outward_reply_without_anything_says_so() {
    let site = Site::start().await;
    site.double.open_chat("7");
    for text in ["", "   ", "\u{200b}", "```\n```"] {
        until_over(&site, site.gateway.say(7, reply(text))).await;
    }
    let mut reaction = reply("");
    reaction.answers_id = "1".into();
    reaction.reaction = "👍".into();
    until_over(&site, site.gateway.say(7, reaction)).await;
    let sent = site.double.sent_to(7);
    assert_eq!(sent.len(), 4, "{sent:?}");
    for message in sent {
        assert_eq!(message.text, "(the reply is empty)");
    }
}

#[tokio::test]
async fn outward_reaction_that_telegram_refuses_is_said_where_it_is_all() {
    let site = Site::start().await;
    site.double.open_chat("7");
    // A heart is one, also as it is mostly written: in colours.
    for (emoji, text) in [("✅", ""), ("✅", "Done."), ("❤\u{fe0f}", "")] {
        let mut reaction = reply(text);
        reaction.answers_id = "1".into();
        reaction.reaction = emoji.into();
        until_over(&site, site.gateway.say(7, reaction)).await;
    }
    let sent = site.double.sent_to(7);
    let texts: Vec<&str> = sent.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(texts, ["✅", "Done."]);
    let shown = site.double.calls_of("setMessageReaction");
    let heart = &shown.last().unwrap().parameters["reaction"];
    assert_eq!(heart[0]["emoji"], "❤");
}

/// Whoever sees no buttons can answer all the same.
#[tokio::test]
async fn outward_buttons_that_are_off_are_said_in_words() {
    let double = Double::start().await.unwrap();
    let mut options = settings(&double.url());
    options["capabilities"] = json!({"inlineButtons": "off"});
    let site = Site::start_with(double, options);
    site.double.open_chat("7");
    let buttons = ["Yes", "No"].map(|text| g::Button {
        text: text.into(),
        data: format!("say:{text}"),
        url: String::new(),
    });
    let rows = || {
        vec![g::ButtonRow {
            buttons: buttons.to_vec(),
        }]
    };
    let choice = g::Delivery {
        buttons: rows(),
        ..reply("Go on?")
    };
    until_over(&site, site.gateway.say(7, choice)).await;
    let asked = g::Delivery {
        buttons: rows(),
        ..question()
    };
    until_over(&site, site.gateway.say(7, asked)).await;
    let sent = site.double.sent_to(7);
    assert_eq!(sent[0].text, "Go on?\n\nYes | No");
    let way = "\n\nDecide with /approve q allow-once; or deny in its place";
    assert!(sent[1].text.ends_with(way), "{}", sent[1].text);
    assert!(
        sent.iter()
            .all(|it| it.parameters["reply_markup"].is_null())
    );
}
