//! Providers that refuse, fail, or talk nonsense.

use serde_json::{Value, json};

use crate::common::{Answer, Outcome, anthropic, anthropic_start, anthropic_text, request, turn};

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
async fn a_short_rate_limit_is_waited_for() {
    let limited =
        Answer::status(429, &error("rate_limit_error", "slow down")).header("retry-after", "0.05");
    let outcome = ask(vec![
        limited.clone(),
        limited.clone(),
        anthropic_text("at last"),
    ])
    .await;
    assert_eq!(outcome.text(), "at last");
    assert_eq!(outcome.end()["type"], "done");

    let outcome = ask(vec![limited.clone(), limited.clone(), limited]).await;
    assert_eq!(outcome.end()["code"], "rate_limited");
    assert_eq!(outcome.end()["retry_after_ms"], 50);
    assert_eq!(outcome.model_requests().len(), 3);
}

#[tokio::test]
async fn a_long_rate_limit_is_reported_at_once() {
    let limited =
        Answer::status(429, &error("rate_limit_error", "slow down")).header("retry-after", "30");
    let outcome = ask(vec![limited]).await;
    assert_eq!(outcome.end()["code"], "rate_limited");
    assert_eq!(outcome.end()["retry_after_ms"], 30_000);
    assert!(message(&outcome).contains("slow down. Try again in 30 s"));
}

#[tokio::test]
async fn a_failing_server_gets_one_more_chance() {
    let failed =
        |status| Answer::status(status, &error("api_error", "oops")).header("retry-after", "0");
    let outcome = ask(vec![failed(500), anthropic_text("fine")]).await;
    assert_eq!(outcome.text(), "fine");
    for (status, code) in [
        (500, "model_error"),
        (503, "overloaded"),
        (529, "overloaded"),
    ] {
        let outcome = ask(vec![failed(status), failed(status)]).await;
        assert_eq!(outcome.end()["code"], code, "{status}");
        assert_eq!(outcome.model_requests().len(), 2);
    }
}

#[tokio::test]
async fn a_request_that_is_wrong_is_not_repeated() {
    let outcome = ask(vec![Answer::status(
        400,
        &error("invalid_request_error", "prompt is too long"),
    )])
    .await;
    assert_eq!(outcome.end()["code"], "model_error");
    assert!(message(&outcome).contains("prompt is too long"));
    let outcome = ask(vec![Answer::status(
        404,
        &error("not_found_error", "model: test-model"),
    )])
    .await;
    assert!(message(&outcome).contains("Check the model name"));
}

#[tokio::test]
async fn the_runners_own_errors_keep_their_code() {
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
async fn a_stream_cut_off_keeps_what_came() {
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
async fn an_overload_before_the_first_word_is_tried_again() {
    let overloaded = Answer::sse(&format!(
        "data: {}\n\n",
        error("overloaded_error", "Overloaded")
    ));
    let outcome = ask(vec![overloaded.clone(), anthropic_text("fine")]).await;
    assert_eq!(outcome.text(), "fine");
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
async fn a_declined_answer_says_so() {
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
