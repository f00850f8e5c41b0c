//! Registration rules and what the registry guards against.

use openclaw_tools::{
    Builtin, FailureKind, RegisterError, Registry, ToolCall, ToolDefinition, Workspace,
};
use serde_json::{Value, json};

fn definition(name: &str, parameters: Value) -> ToolDefinition {
    ToolDefinition::new(name, "A tool.", parameters)
}

async fn ok(_: Value) -> Result<String, openclaw_tools::HandlerError> {
    Ok("fine".to_owned())
}

fn call(name: &str) -> ToolCall {
    ToolCall {
        id: "7".into(),
        name: name.into(),
        arguments: Value::Null,
    }
}

#[test]
fn names_are_unique_and_acceptable_to_model_apis() {
    let mut registry = Registry::new();
    registry
        .register(definition("a-b_1", json!({})), ok)
        .unwrap();
    let again = registry.register(definition("a-b_1", json!({})), ok);
    assert_eq!(
        again,
        Err(RegisterError::Duplicate {
            name: "a-b_1".into()
        })
    );
    for name in ["", "a b", "ä", &"x".repeat(65)] {
        let refused = registry.register(definition(name, json!({})), ok);
        assert!(
            matches!(refused, Err(RegisterError::Name { .. })),
            "{name:?}"
        );
    }
    let refused = registry.register(definition("c", json!([])), ok);
    assert!(matches!(refused, Err(RegisterError::Parameters { .. })));
    assert_eq!(registry.list().len(), 1);
}

#[tokio::test]
async fn panic_is_an_error_of_that_tool_only() {
    let mut registry = Registry::new();
    registry
        .register(definition("bad", json!({})), |_| async { panic!("boom") })
        .unwrap();
    registry
        .register(definition("good", json!({})), ok)
        .unwrap();
    let error = registry.execute(call("bad")).await.error.unwrap();
    assert_eq!(
        (error.tool.as_str(), error.kind),
        ("bad", FailureKind::CRASHED)
    );
    assert!(registry.execute(call("good")).await.success);
}

#[tokio::test]
async fn broken_schema_fails_the_call_not_the_process() {
    let mut registry = Registry::new();
    registry
        .register(definition("odd", json!({"type": 1})), ok)
        .unwrap();
    let error = registry.execute(call("odd")).await.error.unwrap();
    assert_eq!(error.kind, FailureKind::INVALID_SCHEMA);
}

#[tokio::test]
async fn overlong_output_is_cut() {
    let mut registry = Registry::new();
    registry
        .register(definition("flood", json!({})), |_| async {
            Ok("x".repeat(1 << 20))
        })
        .unwrap();
    let result = registry.execute(call("flood")).await;
    assert!(result.output.ends_with("\n[truncated, 786432 more bytes]"));
}

#[tokio::test]
async fn null_counts_as_no_arguments_and_errors_serialize_with_their_type() {
    let mut registry = Registry::new();
    for tool in Builtin::ALL {
        tool.register(&mut registry, &Workspace::new("/nowhere"))
            .unwrap();
    }
    let result = registry.execute(call("list_directory")).await;
    let value = serde_json::to_value(&result).unwrap();
    assert_eq!(value["error"]["type"], "not_found");
    assert_eq!(value["error"]["tool"], "list_directory");
    assert!(
        result
            .to_text()
            .starts_with("list_directory failed (not_found): ")
    );
}

#[test]
fn definitions_are_small_enough_for_every_request() {
    let size: usize = Builtin::ALL
        .iter()
        .map(|tool| serde_json::to_string(&tool.definition()).unwrap().len())
        .sum();
    assert!(size < 4000, "{size} bytes");
}

#[tokio::test]
async fn denied_tool_says_which_key_denies_it() {
    let mut registry = Registry::new();
    registry.deny(openclaw_tools::Denial {
        tool: "execute_shell".to_owned(),
        reason: "the configuration denies it (tools.deny)".to_owned(),
    });
    for name in ["exec", "execute_shell"] {
        let error = registry.execute(call(name)).await.error.unwrap();
        assert_eq!(error.kind, FailureKind::NOT_ALLOWED);
        assert!(error.message.contains("tools.deny"), "{error}");
    }
}

#[tokio::test]
async fn gate_is_asked_after_the_arguments_and_before_the_tool() {
    let runs = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counter = runs.clone();
    let mut registry = Registry::new();
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer"}}});
    registry
        .register(definition("guarded", schema), move |_| {
            counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            async { Ok("ran".to_owned()) }
        })
        .unwrap();
    registry.guard(openclaw_tools::Gate::new(
        ["guarded".to_owned()],
        |_, tool, arguments| async move {
            match arguments["n"].as_i64() {
                Some(1) => Ok(()),
                _ => Err(openclaw_tools::HandlerError::new(
                    FailureKind::DENIED,
                    format!("{tool} was denied"),
                )),
            }
        },
    ));
    let with = |arguments: Value| ToolCall {
        arguments,
        ..call("guarded")
    };
    let wrong = registry.execute(with(json!({"n": "x"}))).await;
    assert_eq!(wrong.error.unwrap().kind, FailureKind::INVALID_ARGUMENTS);
    let denied = registry.execute(with(json!({"n": 2}))).await;
    assert_eq!(denied.error.unwrap().kind, FailureKind::DENIED);
    assert_eq!(runs.load(std::sync::atomic::Ordering::Relaxed), 0);
    assert!(registry.execute(with(json!({"n": 1}))).await.success);
}

#[test]
fn calls_that_change_something_run_alone() {
    let mut registry = Registry::new();
    let workspace = Workspace::new(std::env::temp_dir());
    for name in ["read_file", "write_file", "process"] {
        let tool = Builtin::from_name(name).unwrap();
        tool.register(&mut registry, &workspace).unwrap();
    }
    for name in ["own", "free"] {
        registry.register(definition(name, json!({})), ok).unwrap();
    }
    registry.run_alone("own");
    let is_alone = |name: &str, arguments: Value| {
        let call = ToolCall {
            arguments,
            ..call(name)
        };
        registry.runs_alone(&call)
    };
    assert!(is_alone("write_file", json!({"path": "f", "content": "x"})));
    assert!(!is_alone("read_file", json!({"path": "f"})));
    let process = |action: &str| json!({"action": action, "sessionId": "p1"});
    for action in ["write", "kill", "remove"] {
        assert!(is_alone("process", process(action)), "{action}");
    }
    for action in ["list", "poll", "log"] {
        assert!(!is_alone("process", process(action)), "{action}");
    }
    assert!(is_alone("own", json!({})));
    assert!(!is_alone("free", json!({})));
    assert!(!is_alone("missing", json!({})));
}
