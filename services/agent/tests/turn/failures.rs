//! Providers that refuse, fail, or talk nonsense.

use serde_json::{Value, json};

use crate::common::{
    Answer, Outcome, anthropic, anthropic_start, anthropic_text, chunk, openai, request, turn,
};

async fn ask(answers: Vec<Answer>) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    turn(request(folder.path(), "anthropic", "hi"), answers, vec![]).await
}

fn error(kind: &str, message: &str) -> String {
    json!({"type": "error", "error": {"type": kind, "message": message}}).to_string()
}

fn begun(text: &str) -> String {
    anthropic(&[
        anthropic_start(),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}}),
    ])
}

fn message(outcome: &Outcome) -> &str {
    outcome.end()["message"].as_str().unwrap()
}

#[tokio::test]
async fn turn_of_another_version_is_refused_with_both_versions_and_the_way_out() {
    let folder = tempfile::tempdir().unwrap();
    for (version, theirs) in [
        (json!(99), "the agent-runner speaks version 99"),
        (
            Value::Null,
            "the agent-runner speaks a version that it does not state",
        ),
    ] {
        let mut other = json!({"new": "and unknown"});
        other["version"] = version;
        let outcome = turn(other, vec![], vec![]).await;
        assert_eq!(outcome.end()["code"], "internal");
        let ours = format!("this one speaks version {} ", openclaw_turn::VERSION);
        for part in [theirs, &ours, "from one build"] {
            assert!(message(&outcome).contains(part), "{}", message(&outcome));
        }
    }
    let mut without_limit = request(folder.path(), "anthropic", "hi");
    without_limit.as_object_mut().unwrap().remove("step_limit");
    let outcome = turn(without_limit, vec![], vec![]).await;
    assert!(
        message(&outcome).contains("step_limit"),
        "{}",
        message(&outcome)
    );
}

#[tokio::test]
async fn refused_credentials_say_what_to_do() {
    let outcome = ask(vec![Answer::status(
        401,
        &error("authentication_error", "invalid x-api-key"),
    )])
    .await;
    assert_eq!(outcome.end()["code"], "auth");
    assert!(message(&outcome).contains("invalid x-api-key"));
    assert!(message(&outcome).contains("Check this provider's API key"));
    assert_eq!(outcome.end()["retry_after_ms"], Value::Null);
    assert!(outcome.status.success());
}

#[tokio::test]
async fn patience_is_the_runners() {
    for (status, kind, code) in [
        (429, "rate_limit_error", "rate_limited"),
        (500, "api_error", "model_error"),
        (503, "api_error", "overloaded"),
        (529, "overloaded_error", "overloaded"),
    ] {
        let answer = Answer::status(status, &error(kind, "slow down")).header("retry-after", "30");
        let outcome = ask(vec![answer]).await;
        assert_eq!(outcome.end()["code"], code, "{status}");
        assert_eq!(outcome.end()["retry_after_ms"], 30_000);
        assert!(message(&outcome).contains("slow down. Try again in 30 s"));
        assert_eq!(outcome.model_requests().len(), 1);
    }
}

#[tokio::test]
async fn failures_another_model_is_asked_in_its_own_form_when_the_runner_says_so() {
    let elsewhere = Answer::status(
        421,
        r#"{"api":"openai","provider":"other","model":"gpt-test","sees_images":false}"#,
    );
    let answer = Answer::sse(&openai(&[
        chunk(json!({"role": "assistant", "content": "hello"}), None),
        chunk(json!({}), Some("stop")),
    ]));
    let outcome = ask(vec![elsewhere, answer]).await;
    assert_eq!(outcome.text(), "hello");
    assert_eq!(outcome.end()["model"], "gpt-test");
    let asked = outcome.model_requests();
    assert_eq!(asked[0]["model"], "test-model");
    assert_eq!(asked[1]["model"], "gpt-test");
    let roles: Vec<_> = asked[1]["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|m| &m["role"])
        .collect();
    assert_eq!(roles, ["system", "user"]);
    assert_eq!(outcome.sent.posts[1].0, "/model/v1/chat/completions");
}

#[tokio::test]
async fn budget_that_is_used_up_ends_the_turn_with_the_runners_words() {
    let body =
        r#"{"error":{"type":"resource_limit","message":"the turn was stopped: it cost $5"}}"#;
    let outcome = ask(vec![Answer::status(402, body)]).await;
    assert_eq!(outcome.end()["code"], "resource_limit");
    assert_eq!(message(&outcome), "the turn was stopped: it cost $5");
}

#[tokio::test]
async fn request_that_is_wrong_is_not_repeated() {
    let too_long = error("invalid_request_error", "prompt is too long");
    let outcome = ask(vec![Answer::status(400, &too_long)]).await;
    assert_eq!(outcome.end()["code"], "context_overflow");
    assert!(message(&outcome).contains("prompt is too long"));
    let outcome = ask(vec![Answer::status(
        404,
        &error("not_found_error", "model: test-model"),
    )])
    .await;
    assert!(message(&outcome).contains("Check the model name"));
}

#[tokio::test]
async fn runners_own_errors_keep_their_code() {
    let answer = Answer::status(
        502,
        r#"{"error":{"type":"network","message":"cannot reach the provider"}}"#,
    );
    let outcome = ask(vec![answer]).await;
    assert_eq!(
        (&outcome.end()["code"], message(&outcome)),
        (&json!("network"), "cannot reach the provider")
    );
}

#[tokio::test]
async fn stream_cut_off_keeps_what_came() {
    let clean_end = Answer::sse(&begun("partial"));
    let broken = Answer::sse(&begun("partial")).breaking();
    for answer in [clean_end, broken] {
        let outcome = ask(vec![answer]).await;
        assert_eq!(outcome.text(), "partial");
        assert_eq!(outcome.end()["code"], "network");
        assert!(message(&outcome).contains("broke off"));
    }
}

#[tokio::test]
async fn half_an_event_at_the_end_is_a_break_not_nonsense() {
    let stream = format!("{}data: {{\"type\":\"content_bl", begun("partial"));
    let outcome = ask(vec![Answer::sse(&stream)]).await;
    assert_eq!(outcome.text(), "partial");
    assert_eq!(outcome.end()["code"], "network");
}

#[tokio::test]
async fn malformed_events_end_the_turn_and_keep_what_came() {
    for nonsense in [
        "data: {oops}\n\n",
        "data: {\"type\":\"content_block_delta\",\"index\":4,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}\n\n",
    ] {
        let stream = format!("{}{nonsense}", begun("partial"));
        let outcome = ask(vec![Answer::sse(&stream)]).await;
        assert_eq!(outcome.text(), "partial");
        assert_eq!(outcome.end()["code"], "malformed_output", "{nonsense}");
    }
}

#[tokio::test]
async fn something_else_than_a_stream_is_named() {
    let mut page = Answer::sse("<html>hello</html>");
    let outcome = ask(vec![page.clone()]).await;
    assert_eq!(outcome.end()["code"], "malformed_output");
    page.headers = vec![("content-type", "text/html; charset=utf-8".into())];
    let outcome = ask(vec![page]).await;
    assert!(
        message(&outcome).contains("text/html"),
        "{}",
        message(&outcome)
    );
}

#[tokio::test]
async fn answer_that_breaks_off_before_the_first_word_is_asked_for_again() {
    let overloaded = Answer::sse(&format!(
        "data: {}\n\n",
        error("overloaded_error", "Overloaded")
    ));
    let cut = Answer::sse(&anthropic(&[anthropic_start()]));
    let outcome = ask(vec![overloaded.clone(), cut, anthropic_text("fine")]).await;
    assert_eq!(outcome.text(), "fine");
    assert_eq!(outcome.sent.broke_off, ["", "overloaded", "network"]);
    let enough = Answer::status(410, r#"{"error":{"type":"network","message":"enough"}}"#);
    let outcome = ask(vec![overloaded, enough]).await;
    assert_eq!(outcome.end()["code"], "overloaded");
    assert!(message(&outcome).contains("Overloaded"));
    let after = Answer::sse(&format!(
        "{}data: {}\n\n",
        begun("partial"),
        error("overloaded_error", "Overloaded")
    ));
    let outcome = ask(vec![after]).await;
    assert_eq!(outcome.text(), "partial");
    assert_eq!(outcome.end()["code"], "overloaded");
    assert!(message(&outcome).contains("Overloaded"));
}

#[tokio::test]
async fn declined_answer_says_so() {
    let stop = json!({"type": "message_delta", "delta": {"stop_reason": "refusal"}});
    let stream = format!(
        "{}{}",
        begun("I"),
        anthropic(&[stop, json!({"type": "message_stop"})])
    );
    let outcome = ask(vec![Answer::sse(&stream)]).await;
    assert_eq!(outcome.text(), "I");
    assert_eq!(outcome.end()["code"], "model_error");
    assert!(message(&outcome).contains("declined"));
}
