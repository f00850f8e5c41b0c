//! The offline backend.

use serde_json::{Value, json};

use crate::common::{Outcome, request, turn};

async fn say(text: &str, tool: Vec<Value>) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let mut asked = request(folder.path(), "anthropic", text);
    asked["mode"] = json!("offline");
    turn(asked, vec![], tool).await
}

#[tokio::test]
async fn best_passages_come_with_their_places() {
    let folder = tempfile::tempdir().unwrap();
    let mut asked = request(folder.path(), "anthropic", "what do I like?");
    asked["mode"] = json!("offline");
    asked["hits"] = json!([{"path": "USER.md", "start_line": 3, "end_line": 4, "score": 0.9, "snippet": "I like cats\nand tea"},
        {"path": "memory/x.md", "start_line": 1, "end_line": 9, "score": 0.5, "snippet": "- 09:05 a\n- b", "answer": "- 09:05 a", "role": "note"},
        {"path": "c.md", "start_line": 1, "end_line": 1, "score": 0.4, "snippet": "c"},
        {"path": "d.md", "start_line": 1, "end_line": 1, "score": 0.3, "snippet": "d"}]);
    let outcome = turn(asked, vec![], vec![]).await;
    let text = outcome.text();
    assert!(
        text.starts_with("In USER.md: I like cats\nand tea\n(USER.md:3-4)\n\nIn memory/x.md: a\n(memory/x.md:1-9)\n"),
        "{text}"
    );
    assert!(!text.contains("d.md"), "at most three: {text}");
    assert!(
        outcome
            .text()
            .contains("No model is connected: the model a/b needs a key;")
    );
    assert_eq!(
        *outcome.end(),
        json!({"type": "done", "stop_reason": "stop", "model": "offline"})
    );
    assert!(outcome.sent.posts.is_empty());
}

#[tokio::test]
async fn offline_no_passages_is_friendly_and_still_helps() {
    let outcome = say("anything?", vec![]).await;
    assert!(outcome.text().contains("nothing about that"));
    assert!(outcome.text().contains("openclawctl setup"));
}

#[tokio::test]
async fn greeting_is_greeted_in_two_lines() {
    for (text, greeting) in [
        ("hello", "Hello!"),
        ("Guten Tag!", "Hallo!"),
        ("こんにちは", "こんにちは"),
    ] {
        let outcome = say(text, vec![]).await;
        let said = outcome.text();
        assert!(said.starts_with(greeting), "{said}");
        assert_eq!(said.trim_end().lines().count(), 2, "{said}");
        assert!(
            said.contains("/remember") && said.contains("the model a/b needs a key"),
            "{said}"
        );
        assert!(said.contains("/run"), "{said}");
    }
}

#[tokio::test]
async fn greeting_offers_no_commands_where_none_run() {
    let folder = tempfile::tempdir().unwrap();
    let mut asked = request(folder.path(), "anthropic", "Hello!");
    asked["mode"] = json!("offline");
    asked["tools"] = json!(["memory_search"]);
    asked["hint"] = json!({"lack": null, "thinks_only": true});
    let said = turn(asked, vec![], vec![]).await.text();
    assert!(
        !said.contains("/run") && said.contains("level \"text\""),
        "{said}"
    );
    assert_eq!(said.lines().count(), 2, "{said}");
}

#[tokio::test]
async fn notes_are_listed_and_forgotten() {
    let listing = json!({"ok": true, "output": r#"{"path": "memory", "text": "2026-01-02  memory/x.md  the key\n"}"#});
    let outcome = say("/notes", vec![listing]).await;
    assert_eq!(
        outcome.sent.posts[0],
        ("/tool/memory_get".to_owned(), json!({"path": "memory"}))
    );
    assert!(
        outcome.text().contains("memory/x.md  the key"),
        "{}",
        outcome.text()
    );
    let found = json!({"results": [
        {"path": "memory/x.md", "startLine": 2, "endLine": 2, "score": 0.5, "snippet": "- the key is under the pot"}
    ]});
    let outcome = say(
        "/forget the key",
        vec![json!({"ok": true, "output": found.to_string()})],
    )
    .await;
    assert!(
        outcome.text().contains("`/forget memory/x.md:2`"),
        "{}",
        outcome.text()
    );
    let outcome = say("/forget memory/none.md:2", vec![]).await;
    assert!(outcome.text().contains("no note"), "{}", outcome.text());
}

#[tokio::test]
async fn order_is_taken_from_who_says_it_and_from_no_job() {
    let noted = || json!({"ok": true, "output": r#"{"path": "memory/2026-01-02.md", "line": 5}"#});
    let text = "remember to water the ferns";
    let folder = tempfile::tempdir().unwrap();
    let mut asked = request(folder.path(), "anthropic", text);
    asked["mode"] = json!("offline");
    asked["is_unsaid"] = json!(true);
    let of_job = turn(asked, vec![], vec![noted()]).await;
    assert!(of_job.sent.posts.is_empty(), "{:?}", of_job.sent.posts);
    let said = say(text, vec![noted()]).await;
    assert_eq!(said.sent.posts.len(), 1);
}

#[tokio::test]
async fn remember_and_search_go_to_the_runner() {
    let outcome = say(
        "/remember buy milk",
        vec![json!({"ok": true, "output": r#"{"path": "memory/2026-01-02.md", "line": 5}"#})],
    )
    .await;
    assert_eq!(
        outcome.sent.posts[0],
        ("/tool/memory_write".to_owned(), json!({"text": "buy milk"}))
    );
    assert_eq!(
        outcome.text(),
        "Noted in memory/2026-01-02.md:5. `/forget memory/2026-01-02.md:5` takes it away.\n"
    );
    let found = json!({"results": [
        {"path": "memory/x.md", "startLine": 5, "endLine": 6, "score": 0.5, "snippet": "buy milk"}
    ], "warnings": ["no vectors"]});
    let outcome = say(
        "/search milk",
        vec![json!({"ok": true, "output": found.to_string()})],
    )
    .await;
    assert_eq!(
        outcome.sent.posts[0],
        ("/tool/memory_search".to_owned(), json!({"query": "milk"}))
    );
    assert_eq!(
        outcome.text(),
        "memory/x.md:5-6\n> buy milk\n\n(no vectors)\n"
    );
    let refused =
        json!({"ok": false, "error": {"type": "unavailable", "message": "memory is down"}});
    let outcome = say("/remember x", vec![refused]).await;
    assert!(outcome.text().contains("memory is down"));
    assert_eq!(outcome.end()["type"], "done");
}

/// In words it is ordered as by the command, and answered the same.
#[tokio::test]
async fn order_in_words_keeps_a_note() {
    for (message, text, answer) in [
        (
            "Remember that the spare key is under the blue flowerpot",
            "the spare key is under the blue flowerpot",
            "Noted in",
        ),
        (
            "Merk dir bitte, dass die Mülltonne am Dienstag geleert wird",
            "die Mülltonne am Dienstag geleert wird",
            "Notiert in",
        ),
        (
            "souviens-toi que la clé est sous le pot de fleurs",
            "la clé est sous le pot de fleurs",
            "Noté dans",
        ),
        (
            "Recuerda que la llave está debajo de la maceta azul",
            "la llave está debajo de la maceta azul",
            "Anotado en",
        ),
        (
            "鍵は植木鉢の下にあると覚えておいて",
            "鍵は植木鉢の下にある",
            "memory/x.md:5 に記録しました",
        ),
    ] {
        let noted = json!({"ok": true, "output": r#"{"path": "memory/x.md", "line": 5}"#});
        let said = say(message, vec![noted.clone()]).await;
        assert_eq!(
            said.sent.posts,
            [("/tool/memory_write".to_owned(), json!({"text": text}))]
        );
        assert!(said.text().starts_with(answer), "{}", said.text());
        assert!(said.text().contains("`/forget memory/x.md:5`"));
        let command = say(&format!("/remember {text}"), vec![noted]).await;
        assert_eq!(said.text(), command.text());
    }
    let asked = say("do you remember where the spare key is?", vec![]).await;
    assert!(asked.sent.posts.is_empty());
    assert!(asked.text().contains("nothing about that"));
}

#[tokio::test]
async fn run_uses_the_tool_with_its_events() {
    let outcome = say("/run echo hi; exit 4", vec![]).await;
    let call = outcome.of("tool_call")[0];
    assert_eq!(
        (&call["name"], &call["arguments"]),
        (
            &json!("execute_shell"),
            &json!({"command": "echo hi; exit 4"})
        )
    );
    assert_eq!(outcome.of("tool_result")[0]["call_id"], call["id"]);
    assert!(
        outcome
            .text()
            .contains("```\nexit code: 4\nstdout (3 bytes):\nhi\n"),
        "{}",
        outcome.text()
    );
}

#[tokio::test]
async fn status_help_and_mistakes_are_answered() {
    let outcome = say(
        "/status",
        vec![json!({"ok": true, "output": "all is well"})],
    )
    .await;
    assert_eq!(outcome.text(), "all is well\n");
    for (text, needle) in [
        ("/help", "/remember TEXT"),
        ("/frobnicate", "There is no command /frobnicate"),
        ("/run", "Usage: /run COMMAND"),
    ] {
        let outcome = say(text, vec![]).await;
        assert!(outcome.text().contains(needle), "{}", outcome.text());
        assert_eq!(outcome.end()["stop_reason"], "stop");
    }
    assert!(say("/frobnicate", vec![]).await.text().contains("/search"));
}
