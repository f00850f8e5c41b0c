//! What comes in.

use std::time::{Duration, Instant};

use openclaw_proto::wire::channel as c;
use serde_json::json;
use telegram_double::{Double, Fault};

use crate::daemon::{Site, run};
use crate::gateway::settings;

#[tokio::test]
async fn inward_message_is_handed_in_and_answered() {
    let site = Site::start().await;
    site.double.say(7, "hello **you**");
    site.until_sent(1).await;
    let sent = site.double.sent_to(7);
    assert_eq!(sent[0].text, "echo hello you");
    assert_eq!(sent[0].parameters["text"], "echo hello <b>you</b>");
    assert!(site.state().exists());
    let confirmed = site.double.wait(|double| double.unconfirmed() == 0);
    site.within("the update was confirmed", confirmed).await;
    assert!(!site.log().contains(site.double.token()), "{}", site.log());
}

#[tokio::test]
async fn inward_burst_is_one_message_and_a_stop_is_its_own() {
    let site = Site::start().await;
    for text in ["a", "b", "c"] {
        site.double.say(7, text);
    }
    site.until_sent(1).await;
    assert_eq!(site.gateway.texts(), ["a\nb\nc"]);
    site.double.say(7, "d");
    site.double.say(7, "/stop");
    site.until_sent(3).await;
    let texts = site.gateway.texts();
    assert!(
        texts.contains(&"d".into()) && texts.contains(&"/stop".into()),
        "{texts:?}"
    );
    // Nothing waits now: a stop by itself keeps nothing from coming after it.
    site.double.say(7, "/stop");
    site.until_sent(4).await;
    site.double.say(7, "e");
    site.until_sent(5).await;
}

/// A hundred updates are one answer; behind them may be what somebody says who is known.
#[tokio::test]
async fn inward_strangers_wait_until_telegram_has_given_all_that_came() {
    let site = Site::start().await;
    site.double.say(7, "a");
    site.until_sent(1).await;
    site.double.inject("getUpdates", Fault::Hold);
    for stranger in 1000..1099 {
        site.double.say(stranger, "let me in");
    }
    site.double.say(7, "b");
    site.double.say(7, "c");
    // It came behind the strangers, with the same answer, and waited as long for more of a burst.
    site.until_sent(2).await;
    assert_eq!(site.gateway.texts(), ["a", "b"]);
    site.double.release();
    let all = |state: &crate::gateway::State| state.handed_in.len() == 102;
    site.within("all are handed in", site.gateway.wait(all))
        .await;
}

/// The pause is a second; what must be known soon does not wait for it.
#[tokio::test]
async fn inward_stop_is_confirmed_without_the_pause_of_its_chat() {
    let site = Site::start().await;
    site.double.say(7, "a");
    site.until_sent(1).await;
    let begun = Instant::now();
    site.double.say(7, "halt");
    site.until_sent(2).await;
    let confirmed = begun.elapsed();
    assert!(confirmed < Duration::from_millis(900), "{confirmed:?}");
}

#[tokio::test]
async fn inward_unknown_kind_is_skipped_and_its_batch_goes_on() {
    let double = Double::start().await.unwrap();
    double.say(7, "before");
    double.update(json!({"telepathy": {"thought": 1}}));
    double.say(8, "after");
    let settings = settings(&double.url());
    let site = Site::start_with(double, settings);
    site.until_sent(2).await;
    assert!(site.log().contains("telepathy"), "{}", site.log());
    // After a week of silence, numbers begin anew anywhere: a higher one here.
    site.double.number_from(900_000);
    site.double.say(7, "again");
    site.until_sent(3).await;
}

#[tokio::test]
async fn inward_file_reaches_the_gateway_over_a_broken_connection() {
    let site = Site::start().await;
    site.double.keep_file("F1", vec![b'x'; 300_000]);
    site.double.inject("file", Fault::DropBefore);
    site.double
        .update(json!({"message": {"message_id": 2, "caption": "look",
        "chat": {"id": 7, "type": "private"}, "from": {"id": 7},
        "document": {"file_id": "F1", "file_size": 300_000, "file_name": "a.txt"}}}));
    site.until_sent(1).await;
    let state = site.gateway.shared.state.lock().unwrap();
    assert_eq!(state.files[0].0.name, "a.txt");
    assert_eq!(state.files[0].1.len(), 300_000);
    let request = state.handed_in.values().next().unwrap();
    let Some(c::hand_in_request::What::Message(message)) = &request.what else {
        panic!()
    };
    assert_eq!(message.attachments[0].file_id, "1");
}

/// What was handed in with the words `text`.
fn handed_in(site: &Site, text: &str) -> c::Message {
    let state = site.gateway.shared.state.lock().unwrap();
    let mut messages = state
        .handed_in
        .values()
        .filter_map(|it| match it.what.as_ref()? {
            c::hand_in_request::What::Message(message) => Some(message.clone()),
            _ => None,
        });
    messages.find(|it| it.text == text).unwrap()
}

#[tokio::test]
async fn inward_edit_of_one_of_a_burst_names_that_one() {
    let site = Site::start().await;
    for text in ["a", "b"] {
        site.double.say(7, text);
    }
    site.until_sent(1).await;
    let burst = handed_in(&site, "a\nb");
    assert_eq!(burst.texts, ["a", "b"]);
    let second: i64 = burst.provider_ids[1].parse().unwrap();
    site.double
        .update(json!({"edited_message": {"message_id": second, "text": "c",
        "chat": {"id": 7, "type": "private"}, "from": {"id": 7}}}));
    site.until_sent(2).await;
    let edit = handed_in(&site, "c");
    assert!(edit.is_edit);
    assert_eq!(edit.provider_ids, [second.to_string()]);
}

#[tokio::test]
async fn inward_forwards_and_hidden_links_say_what_they_are() {
    let site = Site::start().await;
    let message = |id: i64, text: &str, more: serde_json::Value| {
        let mut message = json!({"message_id": id, "text": text,
            "chat": {"id": id, "type": "private"}, "from": {"id": id, "first_name": "Ann"}});
        let fields = message.as_object_mut().unwrap();
        fields.extend(more.as_object().unwrap().clone());
        site.double.update(json!({"message": message}));
    };
    let user = json!({"type": "user", "date": 1, "sender_user": {"id": 5, "first_name": "Eve"}});
    message(11, "/stop\nnow", json!({"forward_origin": user}));
    let channel = json!({"type": "channel", "date": 1, "message_id": 3, "chat":
        {"id": -6, "type": "channel", "title": "News"}, "author_signature": "Ed"});
    let link = |offset: usize, length: usize, url: &str| {
        json!({"entities":
            [{"type": "text_link", "offset": offset, "length": length, "url": url}]})
    };
    let mut both = link(3, 4, "https://evil.example/x");
    both["forward_origin"] = channel;
    message(12, "😀 bank", both);
    message(
        13,
        "see https://a.example",
        link(4, 17, "https://a.example"),
    );
    message(
        14,
        "see https://a.example",
        link(4, 17, "https://b.example"),
    );
    site.until_sent(4).await;
    let mut texts = site.gateway.texts();
    texts.sort();
    assert_eq!(
        texts,
        [
            "[Forwarded from Eve]\n> /stop\n> now",
            "[Forwarded from News, signed Ed]\n> 😀 [bank](https://evil.example/x)",
            "see [https://a.example](https://b.example)",
            "see https://a.example",
        ]
    );
}

#[tokio::test]
async fn inward_photo_that_is_asked_about_in_a_group_comes_with_the_question() {
    let site = Site::start().await;
    site.double.keep_file("P1", vec![b'p'; 100]);
    let group = json!({"id": -9, "type": "supergroup", "title": "G"});
    let photo = json!({"message_id": 2, "chat": group, "from": {"id": 8, "first_name": "Bob"},
        "photo": [{"file_id": "P1", "file_size": 100}]});
    let command = json!([{"type": "bot_command", "offset": 0, "length": 4}]);
    site.double.update(
        json!({"message": {"message_id": 3, "text": "/ask what is that?",
        "chat": group, "from": {"id": 7, "first_name": "Ann"}, "entities": command,
        "reply_to_message": photo}}),
    );
    site.until_sent(1).await;
    let asked = handed_in(&site, "/ask what is that?");
    let quoted = asked.reply_to.unwrap();
    assert_eq!(
        (quoted.text.as_str(), quoted.sender.as_str()),
        ("[image photo.jpg]", "Bob")
    );
    assert_eq!(asked.attachments[0].file_id, "1");
    assert_eq!(
        site.gateway.shared.state.lock().unwrap().files[0].1.len(),
        100
    );
}

/// Whatever it is that was asked too often, it is asked again when that was named.
#[tokio::test]
async fn inward_waits_for_the_time_that_telegram_names() {
    let too_often = || Fault::Refuse {
        code: 429,
        description: "Too Many Requests: retry after 3".into(),
        retry_after: Some(3),
    };
    let site = Site::start().await;
    site.until_health("connected", |state, _| state == "connected")
        .await;
    site.double.inject("getUpdates", too_often());
    // The poll that is there already has it.
    site.double.say(7, "a");
    let refused = site.double.wait(|it| {
        let polls = it.calls_of("getUpdates");
        polls.iter().any(|poll| poll.code == 429)
    });
    site.within("a poll was refused", refused).await;
    let begun = Instant::now();
    site.double.say(7, "b");
    site.until_sent(2).await;
    let waited = begun.elapsed();
    assert!(waited > Duration::from_secs(2), "{waited:?}");

    site.double.keep_file("F1", vec![b'x'; 100]);
    // More often than a file is tried for where nothing is named.
    for _ in 0..3 {
        site.double.inject("getFile", too_often());
    }
    site.double
        .update(json!({"message": {"message_id": 2, "caption": "look",
        "chat": {"id": 7, "type": "private"}, "from": {"id": 7},
        "document": {"file_id": "F1", "file_size": 100, "file_name": "a.txt"}}}));
    site.until_sent(3).await;
    let file = &handed_in(&site, "look").attachments[0];
    assert_eq!((file.file_id.as_str(), file.missing.as_str()), ("1", ""));
}

#[tokio::test]
async fn inward_file_of_a_local_server_is_said_to_be_out_of_reach() {
    let site = Site::start().await;
    site.double.keep_file("F1", vec![b'x'; 100]);
    site.double
        .run_locally("/var/lib/telegram-bot-api/123:secret");
    site.double
        .update(json!({"message": {"message_id": 2, "caption": "look",
        "chat": {"id": 7, "type": "private"}, "from": {"id": 7},
        "document": {"file_id": "F1", "file_size": 100, "file_name": "a.txt"}}}));
    site.until_sent(1).await;
    let file = &handed_in(&site, "look").attachments[0];
    assert!(file.missing.contains("without --local"), "{}", file.missing);
    assert!(!site.log().contains("123:secret"), "{}", site.log());
}

#[tokio::test]
async fn inward_press_is_answered() {
    let site = Site::start().await;
    site.double.press(7, 5, "approve:1");
    let answered = site
        .double
        .wait(|it| it.calls_of("answerCallbackQuery").len() == 1);
    site.within("the press was answered", answered).await;
    let calls = site.double.calls_of("answerCallbackQuery");
    assert_eq!(calls[0].parameters["text"], "noted");
}

#[tokio::test]
async fn inward_trouble_is_told_with_the_way_out() {
    let site = Site::start().await;
    site.until_health("connected", |state, _| state == "connected")
        .await;
    site.double.revoke(true);
    site.until_health("refused", |state, error| {
        state == "refused" && error.contains("channels login telegram")
    })
    .await;
    site.double.revoke(false);
    site.until_health("connected again", |state, error| {
        state == "connected" && error.is_empty()
    })
    .await;
    site.double.set_webhook("https://example.org/other");
    site.until_health("conflict", |state, error| {
        state == "conflict" && error.contains("https://example.org/other")
    })
    .await;
    assert_eq!(site.double.webhook()["url"], "https://example.org/other");
}

#[tokio::test]
async fn inward_webhook_takes_calls_and_goes_when_it_is_not_wanted() {
    let double = Double::start().await.unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let polling = settings(&double.url());
    let mut hooked = polling.clone();
    hooked["webhookUrl"] = format!("http://127.0.0.1:{port}/telegram-webhook").into();
    hooked["webhookPort"] = port.into();
    let site = Site::start_with(double, hooked);
    site.double.say(7, "called");
    site.until_sent(1).await;
    assert!(site.double.calls_of("getUpdates").is_empty());
    assert!(
        site.double.webhook()["secret_token"]
            .as_str()
            .unwrap()
            .len()
            >= 32
    );

    site.gateway.configure(polling);
    let polled = site.double.wait(|it| it.webhook().is_null());
    site.within("the webhook was removed", polled).await;
    site.double.say(7, "asked");
    site.until_sent(2).await;
}

#[tokio::test]
async fn inward_webhook_is_known_by_the_secret_of_the_configuration() {
    let double = Double::start().await.unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let polling = settings(&double.url());
    let mut hooked = polling.clone();
    hooked["webhookUrl"] = format!("http://127.0.0.1:{port}/telegram-webhook").into();
    hooked["webhookPort"] = port.into();
    let site = Site::start_with(double, polling);
    site.double.say(7, "asked");
    site.until_sent(1).await;
    // The gateway hands it over before it tells the settings.
    std::fs::write(site.state().join("webhook-secret-set"), "of-the-file").unwrap();
    site.gateway.configure(hooked);
    site.double.say(7, "called");
    site.until_sent(2).await;
    assert_eq!(site.double.webhook()["secret_token"], "of-the-file");
}

#[tokio::test]
async fn inward_gateway_may_be_started_again() {
    let mut site = Site::start().await;
    site.double.say(7, "one");
    site.until_sent(1).await;
    let runtime = site.runtime().to_owned();
    site.gateway.start_again(&runtime);
    site.double.say(7, "two");
    site.until_sent(2).await;
    assert_eq!(site.double.sent_to(7)[1].text, "echo two");
}

#[tokio::test]
async fn inward_check_says_whose_the_token_is() {
    let double = Double::start().await.unwrap();
    let check = async |token: &str| {
        let (root, token) = (double.url(), token.to_owned());
        let ended =
            tokio::task::spawn_blocking(move || run(&["check", "--api-root", &root], &token));
        let output = ended.await.unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (said, words) = (text(&output.stdout), text(&output.stderr));
        (output.status.code(), said, words)
    };
    let whose = check(double.token()).await;
    assert_eq!(whose, (Some(0), "@double_bot\n".into(), String::new()));
    let (code, _, words) = check("4200:revoked").await;
    assert!(code == Some(4) && words.contains("@BotFather"), "{words}");
    assert!(!words.contains("revoked"));
    let (code, _, words) = check("no token").await;
    assert!(
        code == Some(4) && words.contains("standard input"),
        "{words}"
    );
}
