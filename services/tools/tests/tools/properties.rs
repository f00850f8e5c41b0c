//! Feature: openclaw-mvp, Properties 17 and 18 of the design, over generated inputs.

use openclaw_tools::{
    Builtin, FailureKind, HandlerError, Registry, ToolCall, ToolDefinition, ToolResult, Workspace,
};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Given here, so that no variable of the environment lowers it.
pub(crate) const CASES: u32 = 256;

pub(crate) fn run(registry: &Registry, name: &str, arguments: Value) -> ToolResult {
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

pub(crate) fn builtins(workspace: &std::path::Path) -> Registry {
    let mut registry = Registry::new();
    let workspace = Workspace::new(workspace);
    for tool in Builtin::ALL {
        tool.register(&mut registry, &workspace).unwrap();
    }
    registry
}

pub(crate) fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-40i32..40).prop_map(|quarters| Value::from(f64::from(quarters) / 4.0)),
        "[a-zäß🎉]{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{1,6}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

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
    fn written_text_reads_back_the_same(lines in prop::collection::vec("[^\u{0}\r\n]{0,30}", 0..40)) {
        let folder = tempfile::tempdir().unwrap();
        let registry = builtins(folder.path());
        let content = lines.join("\n");
        let written = run(&registry, "write_file", json!({"path": "a/b.txt", "content": content}));
        prop_assert!(written.success, "{written:?}");
        let read = run(&registry, "read_file", json!({"path": "a/b.txt"}));
        prop_assert_eq!(read.output, content);
    }
}
