//! The OpenAI-compatible API, with the official `openai` package.

use integration_tests::{OpenAi, Setup, Suite, asked, within};
use scripted_model::{Scenario, Server};
use serde_json::json;

async fn suite() -> (Suite, Server) {
    let model = Server::start().await.unwrap();
    (Setup::openai(&model).start().await, model)
}

#[tokio::test]
async fn agents_are_its_models() {
    let (suite, _model) = suite().await;
    let Some(openai) = OpenAi::at(&suite).await else {
        return;
    };
    let models = openai.call("models", &[]).await;
    assert_eq!(
        models["ids"],
        json!(["openclaw", "openclaw/default", "openclaw/main"])
    );
    assert_eq!(models["one"], "openclaw/main");
}

#[tokio::test]
async fn completion_comes_whole_or_in_pieces() {
    let (suite, model) = suite().await;
    let Some(openai) = OpenAi::at(&suite).await else {
        return;
    };
    model.push(Scenario::text("Ahoy, the whole of it."));
    let whole = openai.call("chat", &["hello"]).await;
    assert_eq!(whole["text"], "Ahoy, the whole of it.");
    assert_eq!(whole["finish"], "stop");
    let usage = &whole["usage"];
    let (sent, said) = (&usage["prompt_tokens"], &usage["completion_tokens"]);
    assert!(
        sent.as_u64() > Some(0) && said.as_u64() > Some(0),
        "{usage}"
    );
    let asked = asked::words(&model.turns()[0]);
    assert!(asked.contains("Answer like a pirate."), "{asked}");

    model.push(Scenario::text("Ahoy, piece by piece by piece.").chunk(4));
    let streamed = openai.call("chat_stream", &["hello"]).await;
    let pieces: Vec<&str> = streamed["pieces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p.as_str().unwrap())
        .collect();
    assert!(pieces.len() > 1, "{streamed}");
    assert_eq!(pieces.concat(), "Ahoy, piece by piece by piece.");
    assert_eq!(streamed["finish"], "stop");
    assert!(
        streamed["usage"]["total_tokens"].as_u64() > Some(0),
        "{streamed}"
    );
}

#[tokio::test]
async fn pieces_come_when_they_are_said() {
    let (suite, model) = suite().await;
    let Some(openai) = OpenAi::at(&suite).await else {
        return;
    };
    model.push(Scenario::held(
        "First words, and then the rest of them.",
        "rest",
    ));
    let mut talk = openai.begin("chat_watch", &["speak"]);
    let heard = talk.hear("First words").await;
    assert!(!heard.contains("rest of them"), "{heard}");
    model.release("rest");
    talk.end().await.ended(0).says(&["them."]);
}

#[tokio::test]
async fn conversation_that_the_client_keeps_is_told_to_the_model() {
    let (suite, model) = suite().await;
    let Some(openai) = OpenAi::at(&suite).await else {
        return;
    };
    model.push(Scenario::text("Noted: xylophone."));
    model.push(Scenario::text("It was xylophone."));
    openai
        .call(
            "conversation",
            &["The word is xylophone.", "Which word was it?"],
        )
        .await;
    let messages = asked::messages(&model.turns()[1]);
    let place = |words: &str| messages.iter().position(|(_, text)| text.contains(words));
    let places = [
        place("The word is xylophone."),
        place("Noted: xylophone."),
        place("Which word was it?"),
    ];
    assert!(
        places.iter().all(Option::is_some) && places.is_sorted(),
        "{messages:?}"
    );
    let sessions = suite.ctl(&["sessions", "--json"]).await.stdout;
    assert!(
        !sessions.contains("agent:main:main"),
        "the user's own: {sessions}"
    );
}

#[tokio::test]
async fn response_goes_on_from_the_one_before() {
    let (suite, model) = suite().await;
    let Some(openai) = OpenAi::at(&suite).await else {
        return;
    };
    model.push(Scenario::text("Noted: xylophone."));
    model.push(Scenario::text("It was xylophone."));
    let said = openai
        .call(
            "responses",
            &["The word is xylophone.", "Which word was it?"],
        )
        .await;
    assert_eq!(
        said["texts"],
        json!(["Noted: xylophone.", "It was xylophone."])
    );
    assert_eq!(said["status"], "completed");
    assert_eq!(said["previous"], true);
    assert!(said["usage"]["input_tokens"].as_u64() > Some(0), "{said}");
    let messages = asked::messages(&model.turns()[1]);
    let told = |words: &str| messages.iter().any(|(_, text)| text.contains(words));
    assert!(
        told("The word is xylophone.") && told("Noted: xylophone."),
        "{messages:?}"
    );
}

#[tokio::test]
async fn streamed_response_has_the_recorded_events() {
    let (suite, model) = suite().await;
    let Some(openai) = OpenAi::at(&suite).await else {
        return;
    };
    model.push(Scenario::text("Piece by piece.").chunk(4));
    let said = openai.call("responses_stream", &["hello"]).await;
    let mut events: Vec<String> = serde_json::from_value(said["events"].clone()).unwrap();
    events.dedup();
    assert_eq!(
        events,
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    assert_eq!(said["final"], "Piece by piece.");
}

#[tokio::test]
async fn refusals_are_the_packages_own_errors() {
    let (suite, model) = suite().await;
    let Some(openai) = OpenAi::at(&suite).await else {
        return;
    };
    for (what, error, code) in [
        ("model", "NotFoundError", "model_not_found"),
        ("tools", "BadRequestError", "invalid_value"),
        ("empty", "BadRequestError", "invalid_value"),
    ] {
        let refused = openai.call("refused", &[what]).await;
        assert_eq!(refused["error"], error, "{what}: {refused}");
        assert_eq!(refused["code"], code, "{what}: {refused}");
    }
    assert!(model.turns().is_empty(), "nothing was asked");

    model.push(Scenario::failure(401));
    let refused = openai.call("refused", &["chat"]).await;
    assert_eq!(refused["error"], "InternalServerError", "{refused}");
    assert_eq!(refused["code"], "auth", "{refused}");

    model.push(Scenario::failure(401));
    let refused = openai.call("refused", &["stream"]).await;
    assert_eq!(refused["code"], "auth", "{refused}");

    let stranger = openai.with_token("made-up");
    let refused = stranger.call("refused", &["chat"]).await;
    assert_eq!(refused["error"], "AuthenticationError", "{refused}");
}

#[tokio::test]
async fn client_that_goes_away_ends_its_turn() {
    let (suite, model) = suite().await;
    let Some(openai) = OpenAi::at(&suite).await else {
        return;
    };
    model.push(Scenario::held("First words, and never the rest.", "never"));
    let mut talk = openai.begin("chat_watch", &["speak"]);
    talk.hear("First words").await;
    drop(talk);
    let ended = async {
        while suite.ctl(&["status", "--json"]).await.document()["gateway"]["turnsRunning"] != 0 {
            tokio::task::yield_now().await;
        }
    };
    within("the end of the turn", ended).await;
}
