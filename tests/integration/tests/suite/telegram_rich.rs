//! What an agent can do on Telegram, and knows of: buttons, reactions, pictures.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use integration_tests::within;
use scripted_model::Scenario;
use serde_json::json;
use telegram_double::Double;

use crate::telegram::{OWNER, Scene};
use crate::telegram_kept::asked;

/// Somebody sends the owner's bot a picture.
fn send_picture(double: &Double, caption: &str, content: &[u8]) {
    double.keep_file("p1", content.to_vec());
    double.update(json!({"message": {
        "message_id": 21, "date": 1_700_000_000, "caption": caption,
        "chat": {"id": OWNER, "type": "private", "first_name": "Ada"},
        "from": {"id": OWNER, "is_bot": false, "first_name": "Ada"},
        "photo": [{"file_id": "p1", "file_unique_id": "u1", "width": 1, "height": 1,
            "file_size": content.len()}],
    }}));
}

#[tokio::test]
async fn telegram_agent_knows_what_its_channel_can() {
    let scene = Scene::start().await;
    scene.model.push(Scenario::text("Hello."));
    scene.double.say(OWNER, "hello");
    scene.answered(OWNER, "Hello.").await;
    let told = asked(&scene, 0);
    for words in [
        "came by telegram, in a private chat",
        "MEDIA:path",
        "[[buttons:",
        "[[react:",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    scene.suite.say("hello").await;
    assert!(
        !asked(&scene, 1).contains("came by telegram"),
        "it came by openclawctl"
    );
}

#[tokio::test]
async fn telegram_button_of_an_answer_says_what_it_says() {
    let scene = Scene::start().await;
    scene
        .model
        .push(Scenario::text("Shall I go on?\n[[buttons: Yes, do | No]]"));
    scene.double.say(OWNER, "work");
    let said = scene.answered(OWNER, "Shall I go on?").await;
    let row = &said[0].parameters["reply_markup"]["inline_keyboard"][0];
    assert_eq!(row[1]["text"], "No");
    let data = row[0]["callback_data"].as_str().unwrap().to_owned();
    scene.model.push(Scenario::text("On I go."));
    scene.double.press(OWNER, said[0].id, &data);
    scene.answered(OWNER, "On I go.").await;
    assert!(asked(&scene, 1).contains("Yes, do"));
    let is_answered = |it: &Double| !it.calls_of("answerCallbackQuery").is_empty();
    within("the press is answered", scene.double.wait(is_answered)).await;
}

#[tokio::test]
async fn telegram_button_says_all_of_a_label_that_is_longer_than_its_data() {
    let scene = Scene::start().await;
    let label = "Go on with all of that, but leave the third and the fourth chapter as they are";
    let reply = format!("How now?\n[[buttons:\n{label}\nNo\n]]");
    scene.model.push(Scenario::text(&reply));
    scene.double.say(OWNER, "work");
    let said = scene.answered(OWNER, "How now?").await;
    let rows = &said[0].parameters["reply_markup"]["inline_keyboard"];
    assert_eq!(
        (&rows[0][0]["text"], &rows[1][0]["text"]),
        (&label.into(), &"No".into())
    );
    let data = rows[0][0]["callback_data"].as_str().unwrap().to_owned();
    scene.model.push(Scenario::text("On I go."));
    scene.double.press(OWNER, said[0].id, &data);
    scene.answered(OWNER, "On I go.").await;
    assert!(asked(&scene, 1).contains(label));
}

#[tokio::test]
async fn telegram_answer_may_be_a_reaction() {
    let scene = Scene::start().await;
    scene.model.push(Scenario::text("[[react:👍]]"));
    scene.double.say(OWNER, "thank you");
    let is_there = |it: &Double| !it.calls_of("setMessageReaction").is_empty();
    within("the reaction", scene.double.wait(is_there)).await;
    let reaction = &scene.double.calls_of("setMessageReaction")[0].parameters;
    assert_eq!(reaction["reaction"][0]["emoji"], "👍");
    scene.model.push(Scenario::text("Yes?"));
    scene.double.say(OWNER, "and?");
    let said = scene.answered(OWNER, "Yes?").await;
    assert_eq!(said.len(), 1, "the reaction was the whole answer");
}

#[tokio::test]
async fn telegram_picture_is_shown_to_a_model_that_sees() {
    let scene = Scene::start().await;
    let content = b"\xff\xd8\xff a picture as far as this goes";
    scene.model.push(Scenario::text("A picture."));
    send_picture(&scene.double, "what is this?", content);
    scene.answered(OWNER, "A picture.").await;
    let told = asked(&scene, 0);
    assert!(told.contains("what is this?"), "{told}");
    assert!(told.contains("\"media_type\":\"image/jpeg\""), "{told}");
    assert!(told.contains(&STANDARD.encode(content)), "{told}");
}

#[tokio::test]
async fn telegram_picture_that_a_model_cannot_see_is_said() {
    let scene = Scene::with(|setup| {
        setup
            .set("channels.telegram.allowFrom", json!([OWNER]))
            .set("agents.defaults.model", "anthropic/claude-text")
            .set(
                "models.providers.anthropic.models",
                json!([{"id": "claude-text", "name": "Text", "input": ["text"]}]),
            )
    })
    .await;
    scene.model.push(Scenario::text("I see nothing."));
    send_picture(&scene.double, "what is this?", b"\xff\xd8\xff x");
    scene.answered(OWNER, "I see nothing.").await;
    let told = asked(&scene, 0);
    assert!(told.contains("this model takes text alone"), "{told}");
    assert!(!told.contains("media_type"), "{told}");
}
