//! Feature: openclaw-mvp, Properties 15 to 18 of the design, over generated inputs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use openclaw_tools::{
    Builtin, FailureKind, HandlerError, Registry, ToolCall, ToolDefinition, ToolResult, Workspace,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Given here, so that no variable of the environment lowers it.
const CASES: u32 = 256;

fn run(registry: &Registry, name: &str, arguments: Value) -> ToolResult {
    let call = ToolCall {
        id: "call-1".to_owned(),
        name: name.to_owned(),
        arguments,
    };
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(registry.execute(call))
}

fn builtins(workspace: &std::path::Path) -> Registry {
    let mut registry = Registry::new();
    let workspace = Workspace::new(workspace);
    for tool in Builtin::ALL {
        tool.register(&mut registry, &workspace).unwrap();
    }
    registry
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// The schema of the counting tool, in words: what the oracle below decides.
fn counted_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "name": {"type": "string"},
            "count": {"type": "integer", "minimum": 1, "maximum": 10}
        },
        "required": ["name"],
        "additionalProperties": false
    })
}

fn oracle(arguments: &Value) -> bool {
    let Some(object) = arguments.as_object() else {
        // The registry takes null for "no arguments".
        return false;
    };
    object.get("name").is_some_and(Value::is_string)
        && object.keys().all(|key| key == "name" || key == "count")
        && object
            .get("count")
            .is_none_or(|count| count.as_i64().is_some_and(|n| (1..=10).contains(&n)))
}

/// Arguments near the schema, so that both verdicts are common.
fn near_arguments() -> impl Strategy<Value = Value> {
    let name = prop_oneof![3 => "[a-z]{0,5}".prop_map(Value::from), 1 => any_json()];
    let count = prop_oneof![3 => (-2i64..13).prop_map(Value::from), 1 => any_json()];
    let fields = (
        prop::option::weighted(0.9, name),
        prop::option::of(count),
        prop::option::weighted(0.2, any_json()),
    );
    let object = fields.prop_map(|(name, count, other)| {
        let mut object = serde_json::Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                object.insert(key.to_owned(), value);
            }
        };
        put("name", name);
        put("count", count);
        put("other", other);
        Value::Object(object)
    });
    prop_oneof![4 => object, 1 => any_json()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// Feature: openclaw-mvp, Property 15: For any tool invocation, if the
    /// parameters do not match the tool's JSON schema, the Tool_System SHALL
    /// reject the call with a validation error.
    #[test]
    fn property_15_arguments_run_exactly_when_the_schema_admits_them(arguments in near_arguments()) {
        let runs = Arc::new(AtomicUsize::new(0));
        let counter = runs.clone();
        let mut registry = Registry::new();
        let definition = ToolDefinition::new("counted", "Counts its runs.", counted_schema());
        registry
            .register(definition, move |_| {
                counter.fetch_add(1, Ordering::Relaxed);
                async { Ok("ran".to_owned()) }
            })
            .unwrap();
        let valid = oracle(&arguments);
        let result = run(&registry, "counted", arguments);
        prop_assert_eq!(result.success, valid);
        prop_assert_eq!(runs.load(Ordering::Relaxed), usize::from(valid));
        if !valid {
            let error = result.error.unwrap();
            prop_assert_eq!(error.kind, FailureKind::INVALID_ARGUMENTS);
            prop_assert!(error.message.contains("at /"), "{}", error.message);
        }
    }

    /// Feature: openclaw-mvp, Property 15: For any tool invocation, if the
    /// parameters do not match the tool's JSON schema, the Tool_System SHALL
    /// reject the call with a validation error. Here: the built-in tools.
    #[test]
    fn property_15_builtin_tools_refuse_what_their_schema_does_not_admit(
        tool in prop::sample::select(Builtin::ALL.to_vec()),
        stray in "x[a-z]{1,8}",
        value in any_json(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let registry = builtins(folder.path());
        let result = run(&registry, tool.name(), json!({stray.clone(): value}));
        let error = result.error.unwrap();
        prop_assert_eq!(error.kind, FailureKind::INVALID_ARGUMENTS);
        prop_assert!(error.message.contains(&stray), "{}", error.message);
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    /// Feature: openclaw-mvp, Property 17: For any failed tool execution, the
    /// returned error SHALL include the tool name, error type, and descriptive
    /// message.
    #[test]
    fn property_17_every_failure_names_tool_type_and_message(
        kind in "[a-z_]{1,12}",
        message in ".{1,40}",
        output in ".{0,40}",
        called in "[a-z]{1,10}",
    ) {
        let mut registry = Registry::new();
        let (k, m, o) = (kind.clone(), message.clone(), output.clone());
        registry
            .register(ToolDefinition::new("failing", "Fails.", json!({})), move |_| {
                let error = HandlerError::new(FailureKind::custom(k.clone()), m.clone())
                    .with_output(o.clone());
                async move { Err(error) }
            })
            .unwrap();
        let failed = run(&registry, "failing", json!({}));
        let error = failed.error.unwrap();
        prop_assert!(!failed.success);
        prop_assert_eq!(&failed.call_id, "call-1");
        prop_assert_eq!((error.tool.as_str(), error.kind.as_str()), ("failing", kind.as_str()));
        prop_assert_eq!(error.message, message);
        prop_assert_eq!(failed.output, output);

        prop_assume!(called != "failing");
        let unknown = run(&registry, &called, json!({})).error.unwrap();
        prop_assert_eq!(&unknown.tool, &called);
        prop_assert_eq!(unknown.kind, FailureKind::UNKNOWN_TOOL);
        prop_assert!(unknown.message.contains("failing"));
    }

    /// Feature: openclaw-mvp, Property 18: For any custom tool registered with
    /// the Tool_System, invoking that tool by name SHALL execute the registered
    /// handler.
    #[test]
    fn property_18_a_registered_tool_is_the_one_that_runs(
        names in prop::collection::btree_set("[a-zA-Z0-9_-]{1,20}", 1..8),
        pick in any::<prop::sample::Index>(),
        arguments in prop::collection::btree_map("[a-z]{1,6}", any_json(), 0..4),
    ) {
        let mut registry = Registry::new();
        for name in &names {
            let own = name.clone();
            registry
                .register(ToolDefinition::new(name, "Echoes.", json!({"type": "object"})), move |arguments| {
                    let answer = format!("{own} {arguments}");
                    async move { Ok(answer) }
                })
                .unwrap();
        }
        let listed: Vec<&str> = registry.list().map(|tool| tool.name.as_str()).collect();
        let known: Vec<&str> = names.iter().map(String::as_str).collect();
        prop_assert_eq!(listed, known);
        let name = pick.get(&names.iter().collect::<Vec<_>>()).to_owned();
        let arguments = Value::Object(arguments.into_iter().collect());
        let result = run(&registry, name, arguments.clone());
        prop_assert_eq!(result.output, format!("{name} {arguments}"));
        prop_assert!(result.success && result.error.is_none());
    }

    /// What is written is what is read, for any text a file can hold.
    #[test]
    fn a_written_text_reads_back_the_same(lines in prop::collection::vec("[^\u{0}\r\n]{0,30}", 0..40)) {
        let folder = tempfile::tempdir().unwrap();
        let registry = builtins(folder.path());
        let content = lines.join("\n");
        let written = run(&registry, "write_file", json!({"path": "a/b.txt", "content": content}));
        prop_assert!(written.success, "{written:?}");
        let read = run(&registry, "read_file", json!({"path": "a/b.txt"}));
        prop_assert_eq!(read.output, content);
    }
}

/// Reads a report back: exit code, stdout, stderr.
fn parse_report(report: &str) -> (i32, String, String) {
    let rest = report.strip_prefix("exit code: ").unwrap();
    let (code, rest) = rest.split_once('\n').unwrap();
    let (stdout, rest) = section(rest, "stdout");
    let (stderr, rest) = section(rest, "stderr");
    assert_eq!(rest, "");
    (code.parse().unwrap(), stdout, stderr)
}

fn section<'a>(text: &'a str, name: &str) -> (String, &'a str) {
    let rest = text.strip_prefix(name).unwrap().strip_prefix(" (").unwrap();
    let (bytes, rest) = rest.split_once(" bytes):\n").unwrap();
    let (content, rest) = rest.split_at(bytes.parse().unwrap());
    let ended = content.is_empty() || content.ends_with('\n');
    let rest = if ended {
        rest
    } else {
        rest.strip_prefix('\n').unwrap()
    };
    (content.to_owned(), rest)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// Feature: openclaw-mvp, Property 16: For any shell command execution, the
    /// Tool_System SHALL capture and return both stdout and stderr in the
    /// result.
    #[test]
    fn property_16_stdout_stderr_and_exit_code_all_come_back(
        out in "[^\u{0}]{0,60}",
        err in "[^\u{0}]{0,60}",
        code in 0i32..=255,
    ) {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("out"), &out).unwrap();
        std::fs::write(folder.path().join("err"), &err).unwrap();
        let registry = builtins(folder.path());
        let command = format!("cat out; cat err >&2; exit {code}");
        let result = run(&registry, "execute_shell", json!({"command": command}));
        prop_assert!(result.success, "{result:?}");
        prop_assert_eq!(parse_report(&result.output), (code, out, err));
    }
}
