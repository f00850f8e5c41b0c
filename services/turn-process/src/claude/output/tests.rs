use std::os::unix::process::ExitStatusExt as _;

use serde_json::json;

use super::*;

const LIMITS: Limits = Limits {
    steps: 50,
    identical_calls: 5,
    output_tokens: 100_000,
    cost_per_turn: 5.0,
    cost_per_day: 25.0,
    spent_today: 0.0,
};

fn kinds(lines: &[&str]) -> Vec<Kind> {
    let mut output = Output::new("s0".to_owned(), None, LIMITS);
    lines.iter().flat_map(|line| output.line(line)).collect()
}

#[test]
fn streamed_text_is_not_said_twice() {
    let kinds = kinds(&[
        r#"{"type":"system","subtype":"init","session_id":"s1","model":"claude-x"}"#,
        r#"{"type":"stream_event","event":{"type":"message_start"},"parent_tool_use_id":null}"#,
        r#"{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"He"}}}"#,
        r#"{"type":"stream_event","event":{"type":"content_block_delta","delta":{"type":"text_delta","text":"llo"}}}"#,
        r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Hello"}]}}"#,
        r#"{"type":"result","subtype":"success","is_error":false,"result":"Hello","session_id":"s1","usage":{"input_tokens":3,"output_tokens":1}}"#,
    ]);
    let text: String = kinds
        .iter()
        .filter_map(|kind| match kind {
            Kind::TextDelta { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(text, "Hello");
    let Some(Kind::Done(done)) = kinds.last() else {
        panic!("{kinds:?}");
    };
    assert_eq!(done.backend_session.as_deref(), Some("s1"));
    assert_eq!(done.model, "claude-x");
}

#[test]
fn messages_without_a_call_between_them_are_paragraphs() {
    let start = r#"{"type":"stream_event","event":{"type":"message_start"}}"#;
    let said = |text: &str| {
        format!(
            r#"{{"type":"stream_event","event":{{"type":"content_block_delta","delta":{{"type":"text_delta","text":"{text}"}}}}}}"#
        )
    };
    let (one, two, more) = (said("One."), said("Two"), said("."));
    let text: String = kinds(&[start, &one, start, &two, &more])
        .iter()
        .filter_map(|kind| match kind {
            Kind::TextDelta { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(text, "One.\n\nTwo.");
}

#[test]
fn tokens_of_subagents_are_the_turns_too() {
    let line = r#"{"type":"result","subtype":"success","is_error":false,"result":"","usage":{"input_tokens":3,"output_tokens":1,"cache_read_input_tokens":50},"modelUsage":{"a":{"inputTokens":3,"outputTokens":1,"cacheReadInputTokens":50},"b":{"inputTokens":40,"outputTokens":9,"cacheCreationInputTokens":7}}}"#;
    let Some(Kind::Usage(usage)) = kinds(&[line]).into_iter().next() else {
        panic!("no usage");
    };
    let all = (
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write,
    );
    assert_eq!(all, (43, 10, 50, 7));
}

#[test]
fn tools_are_called_and_answered() {
    let kinds = kinds(&[
        r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}"#,
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"no"}],"is_error":true}]}}"#,
        r#"{"type":"assistant","parent_tool_use_id":"t1","message":{"content":[{"type":"text","text":"inner"}]}}"#,
    ]);
    assert_eq!(kinds.len(), 2, "{kinds:?}");
    assert!(matches!(&kinds[0], Kind::ToolCall { name, .. } if name == "Bash"));
    assert!(
        matches!(&kinds[1], Kind::ToolResult(result) if !result.success && result.output == "no"
            && result.error.as_ref().is_some_and(|error| error.tool == "Bash"))
    );
}

#[test]
fn output_what_it_says_becomes_what_to_do() {
    for (said, code) in [
        ("Not logged in · Please run /login", Code::NotLoggedIn),
        (
            "API Error: 401 {\"type\":\"error\"} · Please run /login",
            Code::Auth,
        ),
        ("API Error: 429 rate_limit_error", Code::RateLimited),
        ("API Error: 529 Overloaded", Code::Overloaded),
        ("API Error: 500 internal", Code::ModelError),
    ] {
        let line = serde_json::json!({"type": "result", "subtype": "success", "is_error": true, "result": said});
        let kinds = kinds(&[&line.to_string()]);
        let Some(Kind::Failed(failed)) = kinds.last() else {
            panic!("{kinds:?}");
        };
        assert_eq!(failed.code, code, "{said}");
        assert!(failed.message.contains(said), "{}", failed.message);
    }
}

#[test]
fn output_says_why_by_the_fields_of_its_last_message_and_its_result() {
    let assistant = r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"No."}]},"error":"authentication_failed"}"#;
    let result = |status: &str| {
        format!(
            r#"{{"type":"result","subtype":"success","is_error":true,"result":"No.","api_error_status":{status}}}"#
        )
    };
    for (status, code, said) in [
        ("null", Code::NotLoggedIn, "says: No.; run `claude"),
        ("401", Code::Auth, "says: No. (status 401); check"),
    ] {
        let kinds = kinds(&[assistant, &result(status)]);
        let Some(Kind::Failed(failed)) = kinds.last() else {
            panic!("{kinds:?}");
        };
        assert_eq!(failed.code, code, "{status}");
        assert!(failed.message.contains(said), "{}", failed.message);
    }
}

#[test]
fn result_about_something_else_is_not_the_answer() {
    let kinds = kinds(&[
        r#"{"type":"system","subtype":"task_notification","task_id":"b","status":"stopped"}"#,
        r#"{"type":"result","subtype":"success","is_error":false,"num_turns":0,"result":"","origin":{"kind":"task-notification"},"total_cost_usd":0.5}"#,
        r#"{"type":"result","subtype":"success","is_error":false,"num_turns":0,"result":""}"#,
        r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Four."}]}}"#,
        r#"{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"Four."}"#,
    ]);
    assert!(
        matches!(&kinds[..], [Kind::TextDelta { text }, Kind::Done(_)] if text == "Four."),
        "{kinds:?}"
    );
}

#[test]
fn words_of_its_own_are_told_once() {
    let result = r#"{"type":"result","subtype":"success","is_error":false,"num_turns":0,"result":"Unknown command: /x"}"#;
    let synthetic = r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"Unknown command: /x"}]}}"#;
    for lines in [&[synthetic, result][..], &[result]] {
        let kinds = kinds(lines);
        assert!(
            matches!(&kinds[..], [Kind::TextDelta { text }, Kind::Done(_)] if text == "Unknown command: /x"),
            "{kinds:?}"
        );
    }
}

#[test]
fn output_what_runs_in_the_background_is_told_of_when_it_ends_with_the_turn() {
    let started = |id: &str, what: &str| {
        serde_json::json!({"type": "system", "subtype": "task_started", "task_id": id, "description": what}).to_string()
    };
    let mut lines: Vec<String> = (0..6)
        .map(|n| started(&n.to_string(), &format!("job {n}")))
        .collect();
    lines.push(r#"{"type":"system","subtype":"task_updated","task_id":"0","patch":{"status":"completed"}}"#.to_owned());
    lines.push(
        r#"{"type":"system","subtype":"task_updated","task_id":"1","patch":{"status":"running"}}"#
            .to_owned(),
    );
    lines.push(
        r#"{"type":"system","subtype":"task_notification","task_id":"2","status":"stopped"}"#
            .to_owned(),
    );
    lines.push(
        r#"{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"Done."}"#
            .to_owned(),
    );
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    let kinds = kinds(&lines);
    let [Kind::TextDelta { .. }, Kind::Note { text }, Kind::Done(_)] = &kinds[..] else {
        panic!("{kinds:?}");
    };
    assert!(
        text.ends_with(": job 1, job 3, job 4, and 1 more"),
        "{text}"
    );
}

#[test]
fn line_that_is_not_json_is_noted_and_decides_only_a_crash() {
    let mut output = Output::new("s".to_owned(), None, LIMITS);
    assert!(matches!(
        output.line("Segfault at 0x0").as_slice(),
        [Kind::Note { .. }]
    ));
    let failed = output.gone(ExitStatus::from_raw(0), "");
    assert_eq!(failed.code, Code::MalformedOutput);
    assert!(
        failed.message.contains("Segfault at 0x0"),
        "{}",
        failed.message
    );
    let done = output.line(r#"{"type":"result","subtype":"success","is_error":false}"#);
    assert!(matches!(done.last(), Some(Kind::Done(_))));
}

/// A turn may have many calls that are not over, and a line of each may have 16 MB.
#[test]
fn output_keeps_the_beginnings_of_names_that_go_on_and_on() {
    let mut output = Output::new("s0".to_owned(), None, LIMITS);
    let long = |begin: usize| format!("{begin}{}", "x".repeat(1_000_000));
    for number in 0..20 {
        let block = json!({"type": "tool_use", "id": long(number), "name": long(0), "input": {}});
        let call = json!({"type": "assistant", "message": {"id": "m", "content": [block]}});
        assert_eq!(output.line(&call.to_string()).len(), 1);
        let task = json!({"type": "system", "subtype": "task_started", "task_id": long(number)});
        output.line(&task.to_string());
    }
    let kept = output.called.iter().map(|(id, name)| id.len() + name.len());
    assert!(output.called.len() == 20 && kept.sum::<usize>() < 20_000);
    let block =
        json!({"type": "tool_result", "tool_use_id": long(3), "content": "no", "is_error": true});
    let result = json!({"type": "user", "message": {"content": [block]}});
    let told = output.line(&result.to_string());
    let [Kind::ToolResult(result)] = told.as_slice() else {
        panic!("{told:?}");
    };
    let error = result.error.as_ref().unwrap();
    assert!(error.tool.starts_with("0xx") && output.called.len() == 19);
}
