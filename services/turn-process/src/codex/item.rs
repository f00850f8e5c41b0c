//! Items of a thread that are calls of tools, as events.

use openclaw_proto::event::{Kind, ToolFailure, ToolResult};
use serde_json::{Value, json};

use crate::translate::why_failed;
use crate::within;

/// A call: its tool and its arguments. `None`: the item is none.
pub(super) fn call(item: &Value) -> Option<(String, Value)> {
    let text = |name: &str| item[name].as_str().unwrap_or_default();
    Some(match item["type"].as_str()? {
        "commandExecution" => (
            "exec_command".to_owned(),
            json!({"command": command(text("command")), "workdir": item["cwd"]}),
        ),
        "fileChange" => (
            "apply_patch".to_owned(),
            json!({"changes": item["changes"]}),
        ),
        "mcpToolCall" => (
            format!("mcp__{}__{}", text("server"), text("tool")),
            item["arguments"].clone(),
        ),
        "webSearch" => ("web_search".to_owned(), json!({"query": item["query"]})),
        "imageView" => ("view_image".to_owned(), json!({"path": item["path"]})),
        _ => return None,
    })
}

/// The result of a call that is over.
pub(super) fn result(item: &Value) -> Option<Kind> {
    let (tool, _) = call(item)?;
    let status = item["status"].as_str().unwrap_or("completed");
    let success = status == "completed";
    let output = output(item, status);
    Some(Kind::ToolResult(ToolResult {
        call_id: item["id"].as_str().map(within::call_id)?,
        success,
        error: (!success).then(|| ToolFailure {
            tool,
            kind: kind(status).to_owned(),
            message: why_failed(&output),
        }),
        output,
    }))
}

/// The result of a call that the end of the turn cut off.
pub(super) fn unfinished(item: &Value, mut output: String) -> Option<Kind> {
    let (tool, _) = call(item)?;
    let message = "it was ended with the turn, before it was done".to_owned();
    if !output.is_empty() && !output.ends_with('\n') {
        output.push('\n');
    }
    Some(Kind::ToolResult(ToolResult {
        call_id: item["id"].as_str().map(within::call_id)?,
        success: false,
        output: output + &message,
        error: Some(ToolFailure {
            tool,
            kind: "interrupted".to_owned(),
            message,
        }),
    }))
}

fn kind(status: &str) -> &'static str {
    match status {
        "declined" => "denied",
        _ => "tool_error",
    }
}

fn output(item: &Value, status: &str) -> String {
    let printed = item["aggregatedOutput"].as_str().map(str::to_owned);
    let answered = || texts(&item["result"]["content"]);
    let failed = || item["error"]["message"].as_str().map(str::to_owned);
    let output = printed
        .or_else(answered)
        .or_else(failed)
        .unwrap_or_default();
    match (output.is_empty(), status) {
        (true, "declined") => "it was not allowed, and was not run".to_owned(),
        (true, "failed") => match item["exitCode"].as_i64() {
            Some(code) => format!("it ended with exit code {code}"),
            None => "it failed".to_owned(),
        },
        _ => output,
    }
}

fn texts(content: &Value) -> Option<String> {
    let blocks = content.as_array()?.iter();
    let texts: Vec<&str> = blocks.filter_map(|block| block["text"].as_str()).collect();
    Some(texts.join("\n"))
}

/// The system's shells that read a line as it is judged: zsh does not, and a
/// program of that name elsewhere may be anything.
const SHELLS: [&str; 6] = [
    "bash",
    "/bin/bash",
    "/usr/bin/bash",
    "sh",
    "/bin/sh",
    "/usr/bin/sh",
];

/// What a command line does that the CLI has its shell run: `bash -lc '…'`.
pub(super) fn command(line: &str) -> String {
    match shlex::split(line).as_deref() {
        Some([shell, option, script])
            if SHELLS.contains(&shell.as_str()) && ["-lc", "-c"].contains(&option.as_str()) =>
        {
            script.clone()
        }
        _ => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn item_only_what_the_shells_of_the_system_are_given_is_judged_alone() {
        assert_eq!(command("/bin/bash -lc 'cat a; ls'"), "cat a; ls");
        assert_eq!(command("sh -c ls"), "ls");
        for line in [
            "/home/claw/workspace/bash -lc ls",
            "./sh -c ls",
            "zsh -lc ls",
            "bash -ic ls",
            "bash -lc ls rm",
        ] {
            assert_eq!(command(line), line);
        }
    }
}
