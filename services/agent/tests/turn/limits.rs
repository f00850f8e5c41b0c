//! Limits of a turn.

use serde_json::json;

use crate::common::{anthropic_call, request, turn};

#[tokio::test]
async fn step_limit_ends_the_turn_and_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let mut asked = request(folder.path(), "anthropic", "go");
    asked["step_limit"] = json!(3);
    let answers = (0..3)
        .map(|n| {
            anthropic_call(
                &format!("c{n}"),
                "execute_shell",
                &json!({"command": format!("touch {n}")}).to_string(),
            )
        })
        .collect();
    let outcome = turn(asked, answers, vec![]).await;
    assert_eq!(outcome.end()["stop_reason"], "step_limit");
    assert!(outcome.text().contains("limit of 3 model requests"));
    assert!(outcome.text().contains("agents.defaults.limits.steps"));
    assert_eq!(outcome.model_requests().len(), 3);
    // The calls of the last answer do not run.
    assert_eq!(outcome.of("tool_result").len(), 2);
    assert!(folder.path().join("1").exists() && !folder.path().join("2").exists());
}

#[tokio::test]
async fn identical_calls_in_a_row_end_the_turn() {
    let folder = tempfile::tempdir().unwrap();
    let command = json!({"command": "echo x >> ran"}).to_string();
    let answers = (0..3)
        .map(|n| anthropic_call(&format!("c{n}"), "execute_shell", &command))
        .collect();
    let outcome = turn(request(folder.path(), "anthropic", "go"), answers, vec![]).await;
    assert_eq!(outcome.end()["code"], "loop_detected");
    let message = outcome.end()["message"].as_str().unwrap();
    for needle in [
        "execute_shell",
        "3 times",
        "agents.defaults.limits.identicalCalls",
    ] {
        assert!(message.contains(needle), "{message}");
    }
    // The third did not run.
    assert_eq!(
        std::fs::read_to_string(folder.path().join("ran")).unwrap(),
        "x\nx\n"
    );
}
