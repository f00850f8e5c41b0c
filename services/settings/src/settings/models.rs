//! What the configuration says of models (seed 003 §6.3).

use std::collections::BTreeMap;

use serde::Deserialize as _;

use super::Settings;
use crate::keys::Models;
use crate::keys::model::Described;

/// Tokens that a model takes of which nobody said so: the window of every
/// model that the known providers offer today.
pub const CONTEXT_WINDOW: u64 = 200_000;
/// Tokens of a window that are kept for what is not the conversation, the
/// answer among them, as OpenClaw keeps them,
const RESERVE: u64 = 20_000;
/// and at most this part of it.
const RESERVED_PART: u64 = 4;

/// What is said of one model; `None`: nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelFacts {
    /// As people call it.
    pub name: Option<String>,
    /// Tokens of a conversation and its answer together.
    pub context_window: Option<u64>,
    /// Tokens of the longest answer.
    pub max_tokens: Option<u32>,
    /// Whether it sees images.
    pub images: Option<bool>,
    /// Whether it can be told how much to think.
    pub reasoning: Option<bool>,
}

/// What is said of all models.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModelList {
    /// By provider and model.
    described: BTreeMap<(String, String), ModelFacts>,
    /// By provider, for models that are not described.
    others: BTreeMap<String, ModelFacts>,
}

impl ModelList {
    /// From the file's section. What is no description is left out; the schema has said so.
    pub(super) fn of(models: &Models) -> Self {
        let mut list = Self::default();
        for (id, provider) in &models.providers {
            let other = ModelFacts {
                context_window: provider.context_window,
                max_tokens: provider.max_tokens,
                ..ModelFacts::default()
            };
            for model in &provider.models {
                let Ok(model) = Described::deserialize(model) else {
                    continue;
                };
                let facts = ModelFacts {
                    name: model.name,
                    context_window: model.context_window.or(other.context_window),
                    max_tokens: model.max_tokens.or(other.max_tokens),
                    images: model
                        .input
                        .map(|kinds| kinds.iter().any(|it| it == "image")),
                    reasoning: model.reasoning,
                };
                list.described.insert((id.clone(), model.id), facts);
            }
            list.others.insert(id.clone(), other);
        }
        list
    }

    /// What is said of the provider's model.
    pub fn facts(&self, provider: &str, model: &str) -> ModelFacts {
        let key = (provider.to_owned(), model.to_owned());
        let described = self.described.get(&key);
        let facts = described.or_else(|| self.others.get(provider));
        facts.cloned().unwrap_or_default()
    }

    /// The models that are described, as provider and model.
    pub fn described(&self) -> impl Iterator<Item = (&str, &str)> {
        let keys = self.described.keys();
        keys.map(|(provider, model)| (provider.as_str(), model.as_str()))
    }
}

/// Provider and model of a name; seed 002 names Anthropic's without the provider.
pub fn named(name: &str) -> (&str, &str) {
    name.split_once('/').unwrap_or(("anthropic", name))
}

impl Settings {
    /// The model that the agent asks unless its session has another one.
    pub fn model_of(&self, agent_id: &str) -> Option<&str> {
        let own = self
            .agent(agent_id)
            .and_then(|agent| agent.model.as_deref());
        own.or(self.default_model.as_deref())
    }

    /// The window of the model, in tokens; without a model that of any.
    pub fn context_window(&self, model: Option<&str>) -> u64 {
        let facts = model
            .map(named)
            .map(|(id, model)| self.models.facts(id, model));
        let window = facts.and_then(|facts| facts.context_window);
        window.unwrap_or(CONTEXT_WINDOW)
    }

    /// The most tokens of a request to the model: `memory.maxContextTokens`, and no more than the
    /// model's window has beside its answer. Where neither is said, the seed's default.
    pub fn context_tokens(&self, model: Option<&str>) -> u64 {
        let facts = model
            .map(named)
            .map(|(id, model)| self.models.facts(id, model));
        let Some(window) = facts.and_then(|facts| facts.context_window) else {
            return self.memory.context_tokens;
        };
        let room = window - RESERVE.min(window / RESERVED_PART);
        if self.memory.is_context_set {
            room.min(self.memory.context_tokens)
        } else {
            room
        }
    }

    /// The most tokens of one answer of the agent's model: what the agent is
    /// set to, and no more than the model gives.
    pub fn max_tokens(&self, agent_id: &str, model: Option<&str>) -> Option<u32> {
        let own = self.agent(agent_id).and_then(|agent| agent.max_tokens);
        let facts = model
            .map(named)
            .map(|(id, model)| self.models.facts(id, model));
        let most = facts.and_then(|facts| facts.max_tokens);
        own.into_iter().chain(most).min()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use openclaw_config::Paths;

    fn settings(document: Value) -> Settings {
        let environment = [("HOME", "/home/u")].into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        Settings::assemble(paths, document, &environment).unwrap()
    }

    #[test]
    fn budget_follows_the_models_window_and_the_users_word() {
        let models = json!({"providers": {"mine": {"baseUrl": "http://localhost:1", "maxTokens": 100,
            "models": [{"id": "small", "contextWindow": 8000, "maxTokens": 500},
                       {"id": "large", "contextWindow": 1_000_000}]}}});
        let mine = settings(json!({"models": models, "agents": {"defaults": {"maxTokens": 300}}}));
        assert_eq!(mine.context_tokens(Some("mine/small")), 6000);
        assert_eq!(mine.context_tokens(Some("mine/large")), 980_000);
        assert_eq!(mine.context_tokens(Some("mine/other")), 100_000);
        assert_eq!(mine.context_window(Some("mine/other")), 200_000);
        assert_eq!(mine.context_tokens(None), 100_000);
        assert_eq!(mine.max_tokens("main", Some("mine/small")), Some(300));
        assert_eq!(mine.max_tokens("main", Some("mine/large")), Some(100));
        let set = settings(json!({"models": models, "memory": {"maxContextTokens": 7000}}));
        assert_eq!(set.context_tokens(Some("mine/small")), 6000);
        assert_eq!(set.context_tokens(Some("mine/large")), 7000);
        assert_eq!(set.max_tokens("main", Some("anthropic/x")), None);
    }

    #[test]
    fn model_of_an_agent_is_its_own_or_the_default() {
        let models = json!({"default": "a/general"});
        let agents = json!({"list": [{"id": "own", "model": "b/own"}, {"id": "plain"}]});
        let settings = settings(json!({"models": models, "agents": agents}));
        assert_eq!(settings.model_of("own"), Some("b/own"));
        assert_eq!(settings.model_of("plain"), Some("a/general"));
        assert_eq!(settings.model_of("unknown"), Some("a/general"));
        assert_eq!(named("a/b/c"), ("a", "b/c"));
        assert_eq!(named("claude"), ("anthropic", "claude"));
    }

    #[test]
    fn facts_are_the_models_then_its_providers() {
        let settings = settings(json!({"models": {"providers": {"mine": {
        "baseUrl": "http://localhost:1", "contextWindow": 9000,
        "models": [
            {"id": "seeing", "name": "Seeing", "input": ["text", "image"], "reasoning": true},
            {"id": "blind", "input": ["text"], "contextWindow": 4000},
        ]}}}}));
        let facts = |model| settings.models.facts("mine", model);
        let seeing = ModelFacts {
            name: Some("Seeing".to_owned()),
            context_window: Some(9000),
            max_tokens: None,
            images: Some(true),
            reasoning: Some(true),
        };
        assert_eq!(facts("seeing"), seeing);
        assert_eq!(facts("blind").images, Some(false));
        assert_eq!(facts("blind").context_window, Some(4000));
        assert_eq!(facts("other").context_window, Some(9000));
        assert_eq!(facts("other").images, None);
        assert_eq!(
            settings.models.facts("other", "seeing"),
            ModelFacts::default()
        );
        let described: Vec<_> = settings.models.described().collect();
        assert_eq!(described, [("mine", "blind"), ("mine", "seeing")]);
        assert_eq!(settings.context_window(Some("mine/blind")), 4000);
        assert_eq!(settings.context_window(None), 200_000);
    }
}
