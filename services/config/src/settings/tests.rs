use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::json;

use super::*;

fn assemble(document: Value, variables: &[(&str, &str)]) -> Result<Settings, Error> {
    let environment = variables
        .iter()
        .copied()
        .chain([("HOME", "/home/claw")])
        .collect();
    let paths = Paths::resolve(&environment).unwrap();
    let mut document = document;
    crate::pipeline::alias::apply(&mut document);
    Settings::assemble(paths, document, &environment)
}

#[test]
fn an_empty_file_is_enough() {
    let settings = assemble(json!({}), &[]).unwrap();
    let main = settings.agent("main").unwrap();
    assert_eq!(settings.default_agent, "main");
    assert_eq!(main.backend, Backend::Auto);
    assert_eq!(
        main.workspace,
        PathBuf::from("/home/claw/.openclaw/workspace")
    );
    assert_eq!(main.sandbox.level, SandboxLevel::Strict);
    assert_eq!(main.sandbox.network, Network::ModelOnly);
    assert_eq!(settings.log_level, LogLevel::Info);
}

#[test]
fn the_mvp_names_are_accepted() {
    let document = json!({
        "agent": {"claudeCliPath": "~/bin/claude", "model": "claude-x", "maxTokens": 5},
        "memory": {"workspacePath": "~/notes", "maxContextTokens": 9},
    });
    let settings = assemble(document, &[]).unwrap();
    let main = settings.agent("main").unwrap();
    assert_eq!(main.claude_path, "/home/claw/bin/claude");
    assert_eq!(main.model.as_deref(), Some("claude-x"));
    assert_eq!(main.max_tokens, Some(5));
    assert_eq!(main.workspace, PathBuf::from("/home/claw/notes"));
    assert_eq!(settings.memory.context_tokens, 9);
}

#[test]
fn agents_inherit_the_defaults() {
    let document = json!({"agents": {
        "defaults": {"backend": "native", "limits": {"steps": 3}, "model": {"primary": "a/b"}},
        "list": [{"id": "work", "default": true, "limits": {"identicalCalls": 2}}],
    }});
    let settings = assemble(document, &[]).unwrap();
    assert_eq!(settings.default_agent, "work");
    let work = settings.agent("work").unwrap();
    assert_eq!(work.backend, Backend::Native);
    assert_eq!((work.limits.steps, work.limits.identical_calls), (3, 2));
    assert_eq!(work.model.as_deref(), Some("a/b"));
    assert!(work.workspace.ends_with("workspace-work"));
}

#[test]
fn mistakes_name_the_key_and_what_is_allowed() {
    for (document, key, allowed) in [
        (
            json!({"agents": {"defaults": {"backend": "magic"}}}),
            "agents.defaults.backend",
            "claude-cli",
        ),
        (
            json!({"agents": {"defaults": {"limits": {"steps": 0}}}}),
            "limits.steps",
            "at least 1",
        ),
        (
            json!({"agents": {"defaults": {"limits": {"stepz": 1}}}}),
            "limits",
            "steps",
        ),
        (
            json!({"agents": {"list": [{"id": "../x"}]}}),
            "agents.list.0.id",
            "lowercase",
        ),
        (
            json!({"sandbox": {"level": "none"}}),
            "sandbox.level",
            "workspace",
        ),
        (json!({"logging": {"level": 3}}), "logging.level", "warn"),
        (
            json!({"models": {"providers": {"x": {"baseUrl": "ftp://x"}}}}),
            "models.providers.x.baseUrl",
            "http",
        ),
    ] {
        let error = assemble(document, &[]).unwrap_err().to_string();
        assert!(error.contains(key) && error.contains(allowed), "{error}");
    }
}

#[test]
fn only_the_runner_sees_keys() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().to_str().unwrap();
    std::fs::write(
        folder.path().join("openclaw.json"),
        "{ env: { vars: { OPENAI_API_KEY: 'sk-hidden' } }, models: { providers: { anthropic: { apiKey: 'sk-hidden' } } } }",
    )
    .unwrap();
    let environment: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
    let settings = crate::load(&environment).unwrap();
    assert!(settings.providers.is_empty());
    let with = settings
        .with_credentials(&environment, &BTreeMap::new())
        .unwrap();
    for provider in ["anthropic", "openai"] {
        assert_eq!(
            with.providers[provider].key.as_ref().unwrap().reveal(),
            "sk-hidden"
        );
    }
}

#[test]
fn a_key_in_the_runners_environment_stops_no_other_daemon() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().to_str().unwrap();
    std::fs::write(
        folder.path().join("openclaw.json"),
        "{ models: { providers: { mine: { baseUrl: '${MINE_URL}', apiKey: '${MINE_KEY}' } } } }",
    )
    .unwrap();
    let environment: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
    let settings = crate::load(&environment).unwrap();
    let none = BTreeMap::new();
    let error = settings
        .clone()
        .with_credentials(&environment, &none)
        .unwrap_err();
    assert!(error.to_string().contains("${MINE_"), "{error}");
    let full: Environment = [
        ("OPENCLAW_STATE_DIR", state),
        ("MINE_URL", "http://m"),
        ("MINE_KEY", "k"),
    ]
    .into_iter()
    .collect();
    assert!(settings.with_credentials(&full, &none).unwrap().providers["mine"].is_usable());
}
