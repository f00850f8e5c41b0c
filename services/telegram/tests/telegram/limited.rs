//! What Telegram wants later.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use openclaw_proto::wire::gateway as g;
use serde_json::json;
use telegram_double::{Double, Fault};

use crate::daemon::Site;
use crate::gateway::settings;

fn too_often(seconds: u64) -> Fault {
    Fault::Refuse {
        code: 429,
        description: format!("Too Many Requests: retry after {seconds}"),
        retry_after: Some(seconds),
    }
}

fn now_ms() -> i64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    i64::try_from(now.as_millis()).unwrap()
}

/// Waits until `method` was refused and then taken; how long it was left alone.
async fn taken_again(site: &Site, method: &str, refused: usize) -> Duration {
    let is_refused = |it: &Double| it.calls_of(method).len() >= refused;
    site.within("it was refused", site.double.wait(is_refused))
        .await;
    let begun = Instant::now();
    let is_taken = |it: &Double| it.calls_of(method).iter().any(|it| it.code == 200);
    site.within("it was taken", site.double.wait(is_taken))
        .await;
    let calls = site.double.calls_of(method);
    assert_eq!(calls.len(), refused + 1, "{calls:?}");
    begun.elapsed()
}

#[tokio::test]
async fn limited_poll_is_told_until_it_is_answered() {
    let site = Site::start().await;
    site.until_health("connected", |state, _| state == "connected")
        .await;
    site.double.inject("getUpdates", too_often(4));
    site.double.inject("getUpdates", too_often(1));
    // The poll that is there already has it.
    site.double.say(7, "a");
    site.until_health("waiting", |state, error| {
        state == "waiting" && error.contains("Too Many Requests")
    })
    .await;
    let (until, told) = {
        let state = site.gateway.shared.state.lock().unwrap();
        let health = state.health.clone().unwrap();
        (health.waiting_until_ms, state.states.len())
    };
    let left = until - now_ms();
    assert!((1..=4000).contains(&left), "{left}");
    // What goes out says nothing of what comes in.
    site.until_sent(1).await;
    site.double.open_chat("9");
    let reply = g::RunReply {
        text: "by itself".into(),
        state: "done".into(),
        ..Default::default()
    };
    site.gateway.say(
        9,
        g::Delivery {
            kind: Some(g::delivery::Kind::Reply(reply)),
            ..Default::default()
        },
    );
    site.until_sent(2).await;
    site.until_health("connected again", |state, _| state == "connected")
        .await;
    let answered = site.double.calls_of("getUpdates");
    assert_eq!(answered.iter().filter(|it| it.code == 429).count(), 2);
    let state = site.gateway.shared.state.lock().unwrap();
    assert_eq!(state.health.as_ref().unwrap().waiting_until_ms, 0);
    let (last, before) = state.states[told..].split_last().unwrap();
    assert_eq!(last, "connected");
    assert!(before.iter().all(|it| it == "waiting"), "{before:?}");
    assert!(now_ms() >= until);
}

#[tokio::test]
async fn limited_menu_is_offered_again() {
    let double = Double::start().await.unwrap();
    double.inject("setMyCommands", too_often(1));
    double.inject("setMyCommands", too_often(2));
    double.say(7, "a");
    let mut settings = settings(&double.url());
    settings["customCommands"] = json!([{"command": "backup", "description": "Save all"}]);
    let site = Site::start_with(double, settings.clone());
    // Nothing that comes in waits for it.
    site.until_sent(1).await;
    assert!(site.double.commands().is_null());
    let waited = taken_again(&site, "setMyCommands", 2).await;
    assert!(waited > Duration::from_millis(1500), "{waited:?}");
    assert_eq!(site.double.commands()[0]["command"], "backup");
    // Other settings that have the same menu do not offer it again.
    settings["linkPreview"] = false.into();
    site.gateway.configure(settings);
    let is_new = |it: &Double| it.calls_of("getMe").len() >= 2;
    site.within("received again", site.double.wait(is_new))
        .await;
    site.double.say(7, "b");
    site.until_sent(2).await;
    assert_eq!(site.double.calls_of("setMyCommands").len(), 3);
}

#[tokio::test]
async fn limited_acknowledgement_comes_later_and_holds_nobody_up() {
    let double = Double::start().await.unwrap();
    let mut settings = settings(&double.url());
    settings["ackReaction"] = "👀".into();
    double.inject("setMessageReaction", too_often(2));
    double.inject("answerCallbackQuery", too_often(2));
    let site = Site::start_with(double, settings);
    let begun = Instant::now();
    site.double.say(7, "a");
    site.until_sent(1).await;
    site.double.say(7, "/b");
    site.until_sent(2).await;
    site.double.press(7, 5, "approve:1");
    let is_refused = |it: &Double| !it.calls_of("answerCallbackQuery").is_empty();
    site.within("it was pressed", site.double.wait(is_refused))
        .await;
    let is_answered = |it: &Double| {
        let taken = |method: &str| {
            it.calls_of(method)
                .iter()
                .filter(|it| it.code == 200)
                .count()
        };
        taken("setMessageReaction") == 2 && taken("answerCallbackQuery") == 1
    };
    site.within("all is shown", site.double.wait(is_answered))
        .await;
    assert!(begun.elapsed() > Duration::from_secs(2));
    let pressed = site.double.calls_of("answerCallbackQuery");
    assert_eq!(pressed.len(), 2, "{pressed:?}");
    assert_eq!(pressed[1].parameters["text"], "noted");
}

#[tokio::test]
async fn limited_look_at_a_webhook_leaves_it_as_it_is() {
    let double = Double::start().await.unwrap();
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = free.local_addr().unwrap().port();
    drop(free);
    let mut settings = settings(&double.url());
    settings["webhookUrl"] = format!("http://127.0.0.1:{port}/telegram-webhook").into();
    settings["webhookPort"] = port.into();
    double.inject("setWebhook", too_often(2));
    double.inject("getWebhookInfo", too_often(2));
    let begun = Instant::now();
    let site = Site::start_with(double, settings);
    site.until_health("waiting", |state, _| state == "waiting")
        .await;
    let is_looked_at = |it: &Double| it.calls_of("getWebhookInfo").len() == 1;
    site.within("looked at", site.double.wait(is_looked_at))
        .await;
    assert!(begun.elapsed() >= Duration::from_secs(2));
    site.double.say(7, "called");
    site.until_sent(1).await;
    site.until_health("connected", |state, _| state == "connected")
        .await;
    let set = site.double.calls_of("setWebhook");
    assert_eq!(set.len(), 2, "{set:?}");
}
