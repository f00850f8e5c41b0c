use std::collections::BTreeMap;
use std::path::Path;

use openclaw_config::schema::Schema;
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
    openclaw_config::pipeline::alias::apply(&mut document);
    Settings::assemble(paths, document, &environment)
}

#[test]
fn empty_file_is_enough() {
    let settings = assemble(json!({}), &[]).unwrap();
    let main = settings.agent("main").unwrap();
    assert_eq!(settings.default_agent, "main");
    assert_eq!(main.backend, Backend::Auto);
    assert_eq!(
        *main.workspace,
        *Path::new("/home/claw/.openclaw/workspace")
    );
    assert_eq!(main.sandbox.level, None);
    assert_eq!(main.sandbox.network, Network::ModelOnly);
    assert_eq!(settings.log_level, LogLevel::Info);
}

#[test]
fn mvp_names_are_accepted() {
    let document = json!({
        "agent": {"claudeCliPath": "~/bin/claude", "model": "claude-x", "maxTokens": 5},
        "memory": {"workspacePath": "~/notes", "maxContextTokens": 9},
    });
    let settings = assemble(document, &[]).unwrap();
    let main = settings.agent("main").unwrap();
    assert_eq!(
        main.cli_paths.program(&openclaw_agent_clis::claude::CLI),
        "/home/claw/bin/claude"
    );
    assert_eq!(main.model.as_deref(), Some("claude-x"));
    assert_eq!(main.max_tokens, Some(5));
    assert_eq!(*main.workspace, *Path::new("/home/claw/notes"));
    assert_eq!(settings.memory.context_tokens, 9);
}

/// Whoever writes around a workspace, another agent or a server of tools, may put a
/// link in its place, wherever that is opened.
#[test]
fn workspace_where_somebody_else_writes_is_reached_through_no_link() {
    let folder = tempfile::tempdir().unwrap();
    let shared = folder.path().join("shared");
    for grant in [
        json!({"agents": {"list": [{"id": "main", "default": true}, {"id": "other", "workspace": shared}]}}),
        json!({"sandbox": {"paths": {"rw": [shared]}}}),
        json!({"mcp": {"servers": {"s": {"command": "/bin/true", "paths": {"rw": [shared]}}}}}),
    ] {
        std::fs::create_dir_all(folder.path().join("home/notes")).unwrap();
        std::fs::create_dir_all(shared.join("work/notes")).unwrap();
        let mut document = grant.clone();
        document["agents"]["defaults"]["workspace"] = json!(shared.join("work"));
        let settings = assemble(document, &[]).unwrap();
        let main = settings.agent("main").unwrap();
        let extra = settings.folder(shared.join("work/notes"));
        assert!(main.workspace.open().unwrap().is_some(), "{grant}");
        assert!(extra.open().unwrap().is_some(), "{grant}");
        std::fs::remove_dir_all(shared.join("work")).unwrap();
        std::os::unix::fs::symlink(folder.path().join("home"), shared.join("work")).unwrap();
        for opened in [main.workspace.open(), extra.open()] {
            let told = opened.unwrap_err().to_string();
            assert!(told.contains("symbolic link"), "{grant}: {told}");
        }
        assert!(main.workspace.open_or_create().is_err(), "{grant}");
        std::fs::remove_file(shared.join("work")).unwrap();
    }
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
    assert!(work.workspace.ends_with("workspace"));
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
fn settings_only_the_runner_sees_keys() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path().to_str().unwrap();
    std::fs::write(
        folder.path().join("openclaw.json"),
        "{ env: { vars: { OPENAI_API_KEY: 'sk-hidden' } }, models: { providers: { anthropic: { apiKey: 'sk-hidden' } } } }",
    )
    .unwrap();
    let environment: Environment = [("OPENCLAW_STATE_DIR", state)].into_iter().collect();
    let settings = crate::load(&environment).unwrap();
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
fn key_in_the_runners_environment_stops_no_other_daemon() {
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
    let without = settings.clone().with_credentials(&environment, &none);
    let without = without.unwrap();
    let fault = &without.base.provider_faults["mine"];
    assert!(fault.contains("refers to ${MINE_"), "{fault}");
    assert!(!without.providers["mine"].is_usable());
    let full: Environment = [
        ("OPENCLAW_STATE_DIR", state),
        ("MINE_URL", "http://m"),
        ("MINE_KEY", "k"),
    ]
    .into_iter()
    .collect();
    assert!(settings.with_credentials(&full, &none).unwrap().providers["mine"].is_usable());
}

#[test]
fn fixed_has_the_keys_that_are_stated_to_need_a_restart() {
    fn marked(node: &Value) -> usize {
        let below = match node {
            Value::Object(fields) => fields.values().map(marked).sum(),
            Value::Array(items) => items.iter().map(marked).sum(),
            _ => 0,
        };
        below + usize::from(node.get("x-restart").is_some())
    }
    let settings = assemble(json!({"gateway": {"cli": {"secret": "s"}}}), &[]).unwrap();
    let schema = Schema::shipped();
    for key in settings.fixed.keys() {
        let node = schema.at(&KeyPath::parse(key).unwrap()).unwrap();
        let stated = node.get("x-restart").and_then(Value::as_str);
        assert_eq!(stated, Some("openclaw.target"), "{key}");
    }
    let all: Value = serde_json::from_str(openclaw_config::schema::TEXT).unwrap();
    assert_eq!(marked(&all), settings.fixed.len());
}

#[test]
fn stated_keys_hold_no_credentials() {
    let settings = assemble(
        json!({
            "gateway": {"auth": {"token": "t-1"}, "maxConcurrentTurns": 3},
            "models": {"providers": {"x": {"baseUrl": "http://x", "apiKey": "k-1"}}},
            "mcp": {"servers": {"s": {"command": "c", "env": {"A_KEY": "e-1"}}}},
            "env": {"vars": {"B_KEY": "v-1"}},
            "memory": {"search": {"remote": {"apiKey": "m-1", "baseUrl": "http://m"}}},
        }),
        &[],
    )
    .unwrap();
    assert_eq!(settings.stated.gateway.max_concurrent_turns, 3);
    assert_eq!(settings.stated.gateway.auth.token, None);
    assert!(settings.stated.models.providers.is_empty());
    for remote in [
        &settings.stated.memory.search.remote,
        &settings.agents["main"].stated.memory_search.remote,
    ] {
        assert_eq!(remote.base_url.as_deref(), Some("http://m"));
        assert_eq!(remote.api_key, None);
    }
    assert!(settings.stated.mcp.servers.is_empty() && settings.stated.env.vars.is_empty());
}
