//! `agents/<id>/models.json`: which models there are, from profiles,
//! configuration and environment (seed 003 §6). Written by the agent-runner.

use std::io;
use std::path::PathBuf;

use openclaw_config::paths::Paths;
use openclaw_config::{parse, write};
use serde_json::{Map, Value, json};

use openclaw_settings::models::CONTEXT_WINDOW;
use openclaw_settings::{AgentSettings, MAX_TOKENS, ModelList, RunnerSettings};

/// Its path.
pub(crate) fn place(paths: &Paths, agent_id: &str) -> PathBuf {
    paths.agent(agent_id).join("models.json")
}

/// Writes the file of each agent that is there, when it would be different.
/// The first failure is returned after all were tried.
pub(crate) fn write_all(settings: &RunnerSettings) -> Result<(), (PathBuf, io::Error)> {
    let mut result = Ok(());
    for agent in settings.agents.values() {
        let path = place(&settings.paths, &agent.id);
        let kept = parse::read(&path).unwrap_or_default();
        let existing = serde_json::from_str(&kept).unwrap_or_default();
        let text = format!("{:#}\n", generate(settings, agent, &existing));
        let is_there = path.parent().is_some_and(|folder| folder.is_dir());
        if text == kept || !is_there {
            continue;
        }
        if let Err(error) = write::atomic(&path, text.as_bytes()) {
            result = result.and(Err((path, error)));
        }
    }
    result
}

/// The content for `agent`. Providers of `existing` that are not ours stay,
/// unless `models.mode` is `replace`.
pub(crate) fn generate(
    settings: &RunnerSettings,
    agent: &AgentSettings,
    existing: &Value,
) -> Value {
    let mut providers = if settings.models_are_merged {
        existing
            .get("providers")
            .and_then(Value::as_object)
            .cloned()
    } else {
        None
    }
    .unwrap_or_default();
    for id in settings.providers.keys() {
        let Some(provider) = settings.provider(&agent.id, id) else {
            continue;
        };
        if !provider.is_usable() {
            providers.shift_remove(id);
            continue;
        }
        let api = provider.api.name();
        let mut models: Vec<Value> = provider.models.iter().map(complete).collect();
        for model in &mut models {
            take_defaults(model, &settings.models, id);
        }
        for name in named(settings, agent, id) {
            if !models.iter().any(|model| model["id"] == *name) {
                models.push(complete(
                    &json!({"id": name, "maxTokens": agent.max_tokens.unwrap_or(MAX_TOKENS)}),
                ));
            }
        }
        let entry = json!({"baseUrl": provider.base_url, "api": api, "models": models});
        providers.insert(id.clone(), entry);
    }
    json!({"providers": providers})
}

/// The models of the provider that the agent is set to.
fn named<'a>(
    settings: &'a RunnerSettings,
    agent: &'a AgentSettings,
    provider: &str,
) -> Vec<&'a str> {
    [&agent.model, &settings.default_model]
        .into_iter()
        .flatten()
        .map(|name| name.split_once('/').unwrap_or(("anthropic", name)))
        .filter(|(id, _)| *id == provider)
        .map(|(_, model)| model)
        .collect()
}

/// Puts in what the provider says of all its models.
fn take_defaults(model: &mut Value, models: &ModelList, provider: &str) {
    let id = model["id"].as_str().unwrap_or_default();
    let facts = models.facts(provider, id);
    if let Some(window) = facts.context_window {
        model["contextWindow"] = json!(window);
    }
    if let Some(tokens) = facts.max_tokens {
        model["maxTokens"] = json!(tokens);
    }
}

/// A model's description with every field of seed 003 §6.3.
fn complete(model: &Value) -> Value {
    let id = model.get("id").cloned().unwrap_or_default();
    let mut all = Map::from_iter([
        ("id".to_owned(), id.clone()),
        ("name".to_owned(), id),
        ("reasoning".to_owned(), json!(false)),
        ("input".to_owned(), json!(["text"])),
        (
            "cost".to_owned(),
            json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}),
        ),
        ("contextWindow".to_owned(), json!(CONTEXT_WINDOW)),
        ("maxTokens".to_owned(), json!(MAX_TOKENS)),
    ]);
    for (key, value) in model.as_object().into_iter().flatten() {
        all.insert(key.clone(), value.clone());
    }
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use super::*;
    use openclaw_config::secret::Secret;

    #[test]
    fn models_file_says_what_can_be_used_and_no_secret() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path();
        fs::create_dir_all(state.join("agents/main/auth")).unwrap();
        let file = "{ models: { default: 'anthropic/claude-x', providers: { mine: {
            baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'sk-file',
            models: [{ id: 'big', contextWindow: 5, params: true }] } } } }";
        fs::write(state.join("openclaw.json"), file).unwrap();
        let profile =
            "{id: 'openai:me', provider: 'openai', credential: {type: 'token', token: 'sk-token'}}";
        fs::write(state.join("agents/main/auth/me.json"), profile).unwrap();
        let old = r#"{"providers": {"theirs": {"models": []}, "openrouter": {"models": [1]}}}"#;
        let path = state.join("agents/main/models.json");
        fs::write(&path, old).unwrap();
        let environment = [("OPENCLAW_STATE_DIR", state.to_str().unwrap())]
            .into_iter()
            .collect();
        let passed = BTreeMap::from([("anthropic-api-key".to_owned(), Secret::new("sk-passed"))]);
        let settings = openclaw_settings::load(&environment).unwrap();
        let settings = settings.with_credentials(&environment, &passed).unwrap();
        assert_eq!(settings.warnings, Vec::<String>::new());
        write_all(&settings).unwrap();

        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("sk-"), "{text}");
        let document: Value = serde_json::from_str(&text).unwrap();
        let providers = document["providers"].as_object().unwrap();
        let mut ids: Vec<_> = providers.keys().map(String::as_str).collect();
        ids.sort_unstable();
        assert_eq!(ids, ["anthropic", "mine", "ollama", "openai", "theirs"]);
        assert_eq!(providers["mine"]["models"][0]["contextWindow"], 5);
        assert_eq!(providers["mine"]["models"][0]["params"], true);
        assert_eq!(providers["anthropic"]["models"][0]["id"], "claude-x");
        assert_eq!(providers["anthropic"]["api"], "anthropic-messages");
        let before = fs::metadata(&path).unwrap().modified().unwrap();
        write_all(&settings).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before);
    }
}
