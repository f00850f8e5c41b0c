//! Property 17 of seed 002 for every backend: what a tool's failure is told as,
//! however little the agent says of it.

use openclaw_proto::event::{Kind, ToolFailure};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::Translate;
use crate::{claude, codex, native};

/// Given here, so that no variable of the environment lowers it.
const CASES: u32 = 256;

/// A failed call, as an agent may tell it.
#[derive(Debug, Clone)]
struct Failure {
    tool: String,
    said: String,
    /// Whether the call was told before its result.
    is_known: bool,
}

fn failure() -> impl Strategy<Value = Failure> {
    let said = prop_oneof![2 => "\\PC{1,40}", 1 => Just(String::new()), 1 => "[ \n]{1,3}"];
    ("[A-Za-z_]{1,12}", said, any::<bool>()).prop_map(|(tool, said, is_known)| Failure {
        tool,
        said,
        is_known,
    })
}

fn lines() -> native::Lines {
    native::Lines {
        backend: "native".to_owned(),
        provider: "anthropic".to_owned(),
        model: "m".to_owned(),
        asking: None,
    }
}

/// The one failure that the lines come to.
fn failure_of(agent: &mut dyn Translate, lines: &[Value]) -> Result<ToolFailure, TestCaseError> {
    let kinds = lines.iter().flat_map(|line| agent.line(&line.to_string()));
    let failures: Vec<ToolFailure> = kinds
        .filter_map(|kind| match kind {
            Kind::ToolResult(result) if !result.success => Some(result.error),
            _ => None,
        })
        .map(|error| error.ok_or_else(|| TestCaseError::fail("a failure without an error")))
        .collect::<Result<_, _>>()?;
    match failures.as_slice() {
        [failure] => Ok(failure.clone()),
        other => Err(TestCaseError::fail(format!("{other:?}"))),
    }
}

/// It has all three parts, and those that the agent told.
fn is_whole(failure: &Failure, told: &ToolFailure, tool: &str) -> Result<(), TestCaseError> {
    prop_assert!(
        !told.kind.is_empty() && !told.message.trim().is_empty(),
        "{told:?}"
    );
    prop_assert!(told.message.contains(failure.said.trim()), "{told:?}");
    if failure.is_known {
        prop_assert_eq!(&told.tool, tool)
    } else {
        prop_assert!(!told.tool.is_empty(), "{told:?}")
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// Feature: openclaw-mvp, Property 17: For any failed tool execution, the
    /// returned error SHALL include the tool name, error type, and descriptive
    /// message. Here: tools of Claude Code.
    #[test]
    fn property_17_failures_of_claude_are_whole(failure in failure(), as_blocks: bool) {
        let message = |role: &str, block: Value| json!({"type": role, "message": {"content": [block]}});
        let content = if as_blocks { json!([{"type": "text", "text": failure.said}]) } else { failure.said.clone().into() };
        let call = message("assistant", json!({"type": "tool_use", "id": "1", "name": failure.tool, "input": {}}));
        let result = message("user", json!({"type": "tool_result", "tool_use_id": "1", "is_error": true, "content": content}));
        let lines: Vec<Value> = failure.is_known.then_some(call).into_iter().chain([result]).collect();
        let told = failure_of(&mut claude::tests::reader(), &lines)?;
        is_whole(&failure, &told, &failure.tool)?;
    }

    /// Feature: openclaw-mvp, Property 17: For any failed tool execution, the
    /// returned error SHALL include the tool name, error type, and descriptive
    /// message. Here: tools of Codex.
    #[test]
    fn property_17_failures_of_codex_are_whole(
        failure in failure(),
        kind in 0usize..3,
        status in prop::sample::select(vec!["failed", "declined", "incomplete"]),
    ) {
        let (item, tool) = match kind {
            0 => (json!({"type": "commandExecution", "command": "ls", "aggregatedOutput": failure.said}), "exec_command".to_owned()),
            1 => (json!({"type": "fileChange", "changes": [], "error": {"message": failure.said}}), "apply_patch".to_owned()),
            _ => (
                json!({"type": "mcpToolCall", "server": "s", "tool": failure.tool, "error": {"message": failure.said}}),
                format!("mcp__s__{}", failure.tool),
            ),
        };
        let mut item = item;
        item["id"] = "1".into();
        item["status"] = status.into();
        let news = |method: &str| json!({"method": method, "params": {"item": item}});
        let started = failure.is_known.then(|| news("item/started"));
        let lines: Vec<Value> = started.into_iter().chain([news("item/completed")]).collect();
        let told = failure_of(&mut codex::tests::reader(), &lines)?;
        // The result says again what was called.
        is_whole(&Failure { is_known: true, ..failure }, &told, &tool)?;
    }

    /// Feature: openclaw-mvp, Property 17: For any failed tool execution, the
    /// returned error SHALL include the tool name, error type, and descriptive
    /// message. Here: our own agent's line, also where it lacks the error.
    #[test]
    fn property_17_failures_of_the_native_agent_are_whole(failure in failure()) {
        let mut line = json!({"type": "tool_result", "call_id": "1", "success": false, "output": failure.said});
        if failure.is_known {
            let message = super::why_failed(&failure.said);
            line["error"] = json!({"tool": failure.tool, "type": "io", "message": message});
        }
        let told = failure_of(&mut lines(), &[line])?;
        is_whole(&failure, &told, &failure.tool)?;
    }
}
