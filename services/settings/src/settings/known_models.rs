//! Which models may be named: those of providers that the configuration has.

use std::collections::{BTreeMap, BTreeSet};

use openclaw_config::key::KeyPath;
use openclaw_config::nearest;
use openclaw_config::problem::Problem;

use super::{AgentSettings, Settings};
use crate::keys;
use crate::provider;

/// The provider of models that are named without one.
const USUAL: &str = "anthropic";

/// A name that nobody can be asked by.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownModel {
    /// No provider of that name.
    #[error(
        "the model {name:?} names no known provider; known are {}, others go in models.providers",
        .known.join(", ")
    )]
    Provider {
        /// The model, as it was given.
        name: String,
        /// The providers there are.
        known: Vec<String>,
    },
    /// The provider's models are listed, and it is none of them.
    #[error(
        "the provider {provider} has no model {model:?}; it has {}, others go in \
         models.providers.{provider}.models",
        .known.join(", ")
    )]
    Model {
        /// The provider.
        provider: String,
        /// The model.
        model: String,
        /// The models it has, the nearest first.
        known: Vec<String>,
    },
    /// Its provider cannot be asked.
    #[error("the model {name:?} cannot be asked: {fault}")]
    Unusable {
        /// The model, as it was given.
        name: String,
        /// Why, a sentence.
        fault: String,
    },
    /// The agent's backend asks another provider alone.
    #[error(
        "the model {name:?} is not one that {backend} asks, which has only models of {provider}: \
         choose one of those, or say backend: \"native\" for the agent"
    )]
    OtherBackend {
        /// The model, as it was given.
        name: String,
        /// The agent's backend.
        backend: &'static str,
        /// The provider that it asks.
        provider: &'static str,
    },
}

/// Providers with the models that are listed of them; an empty list is one that
/// nobody wrote, and any name may be asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownModels {
    listed: BTreeMap<String, Vec<String>>,
    /// What the configuration itself names may be chosen, too, as provider and model.
    named: BTreeSet<(String, String)>,
    /// Providers that cannot be asked, and why.
    faults: BTreeMap<String, String>,
}

impl KnownModels {
    pub(super) fn of<'a>(
        fragment: &keys::Models,
        agents: impl Iterator<Item = &'a AgentSettings>,
        faults: &BTreeMap<String, String>,
    ) -> Self {
        let mut models: BTreeMap<String, Vec<String>> = provider::known()
            .map(|id| (id.to_owned(), Vec::new()))
            .collect();
        for (id, provider) in &fragment.providers {
            let ids = provider
                .models
                .iter()
                .filter_map(|model| model["id"].as_str());
            models.insert(id.clone(), ids.map(str::to_owned).collect());
        }
        let chosen = agents.flat_map(|agent| agent.model.iter().chain(&agent.fallbacks));
        let chosen = chosen.chain(&fragment.default).map(|name| named(name));
        Self {
            listed: models,
            named: chosen
                .map(|(provider, model)| (provider.to_owned(), model.to_owned()))
                .collect(),
            faults: faults.clone(),
        }
    }

    /// Whether `name` (`provider/model`, or a model of Anthropic's) can be asked
    /// for, as far as the configuration tells.
    pub fn check(&self, name: &str) -> Result<(), UnknownModel> {
        let (provider, model) = named(name);
        match self.check_listed(name) {
            Err(UnknownModel::Model { .. }) if self.is_named(provider, model) => Ok(()),
            checked => checked,
        }
    }

    fn is_named(&self, provider: &str, model: &str) -> bool {
        let name = (provider.to_owned(), model.to_owned());
        self.named.contains(&name)
    }

    /// The same without what the configuration names and no provider lists.
    fn check_listed(&self, name: &str) -> Result<(), UnknownModel> {
        let (provider, model) = named(name);
        if let Some(fault) = self.faults.get(provider) {
            return Err(UnknownModel::Unusable {
                name: name.to_owned(),
                fault: fault.clone(),
            });
        }
        let Some(listed) = self.listed.get(provider) else {
            let usable = |id: &&String| !self.faults.contains_key(*id);
            return Err(UnknownModel::Provider {
                name: name.to_owned(),
                known: self.listed.keys().filter(usable).cloned().collect(),
            });
        };
        if listed.is_empty() || listed.iter().any(|known| known == model) {
            return Ok(());
        }
        let mut known = listed.clone();
        let near = nearest::nearest(model, listed.iter().map(String::as_str)).map(str::to_owned);
        known.sort_by_key(|id| Some(id) != near.as_ref());
        Err(UnknownModel::Model {
            provider: provider.to_owned(),
            model: model.to_owned(),
            known,
        })
    }
}

impl Settings {
    /// Models that the configuration names and that nobody has, or that are not among
    /// those that their provider lists, by the keys that name them.
    pub(crate) fn unknown_models(&self) -> impl Iterator<Item = Problem> {
        self.unknown().into_iter().map(|(problem, _)| problem)
    }

    /// Those of them that are asked for all the same: their provider lists others.
    pub(crate) fn unlisted_models(&self) -> Vec<Problem> {
        let is_unlisted = |it: &(Problem, UnknownModel)| matches!(it.1, UnknownModel::Model { .. });
        let unlisted = self.unknown().into_iter().filter(is_unlisted);
        unlisted.map(|(problem, _)| problem).collect()
    }

    fn unknown(&self) -> Vec<(Problem, UnknownModel)> {
        let mut found: Vec<(Problem, UnknownModel)> = Vec::new();
        for Named { key, model, agent } in self.named_models() {
            let (provider, name) = agent.named(model);
            let listed = self
                .known_models
                .check_listed(&format!("{provider}/{name}"));
            let Err(unknown) = listed.and_then(|()| agent.asks(model)) else {
                continue;
            };
            let text = match &unknown {
                UnknownModel::Model { .. } => format!("{unknown}; it is asked for all the same"),
                UnknownModel::Provider { .. }
                | UnknownModel::Unusable { .. }
                | UnknownModel::OtherBackend { .. } => unknown.to_string(),
            };
            let problem = Problem::other(KeyPath::parse(&key).unwrap_or_default(), text);
            if !found.iter().any(|(known, _)| *known == problem) {
                found.push((problem, unknown));
            }
        }
        found
    }

    /// The models that the configuration names, for each agent that is to have them.
    fn named_models(&self) -> impl Iterator<Item = Named<'_>> {
        self.agents.values().flat_map(|agent| self.named_for(agent))
    }

    fn named_for<'a>(&'a self, agent: &'a AgentSettings) -> impl Iterator<Item = Named<'a>> {
        let general = self.default_model.iter();
        let general = general.filter(|_| agent.model.is_none());
        let general = general.map(|model| ("models.default".to_owned(), model));
        // A CLI asks no other model than the first.
        let others = agent.fallbacks.iter();
        let others = others.filter(|_| agent.backend.provider().is_none());
        let own = agent.model.iter().chain(others);
        let own = own.map(|model| (agent.model_key.clone(), model));
        let beat = self.heartbeat(&agent.id).and_then(|it| it.model.as_ref());
        let key = || format!("{}.model", self.heartbeat_section(&agent.id));
        let beat = beat.map(|model| (key(), model));
        let all = general.chain(own).chain(beat);
        all.map(move |(key, model)| Named { key, model, agent })
    }
}

/// A model that the configuration names for an agent.
struct Named<'a> {
    key: String,
    model: &'a str,
    agent: &'a AgentSettings,
}

fn named(name: &str) -> (&str, &str) {
    name.split_once('/').unwrap_or((USUAL, name))
}

impl AgentSettings {
    /// Provider and model of a name, which without a provider is one of the
    /// backend's own, or Anthropic's.
    pub fn named<'a>(&self, name: &'a str) -> (&'a str, &'a str) {
        let own = self.backend.provider().unwrap_or(USUAL);
        name.split_once('/').unwrap_or((own, name))
    }

    /// Whether the agent's backend asks for the model, as far as it is configured.
    pub fn asks(&self, name: &str) -> Result<(), UnknownModel> {
        match self.backend.provider() {
            Some(provider) if self.named(name).0 != provider => Err(UnknownModel::OtherBackend {
                name: name.to_owned(),
                backend: self.backend.name(),
                provider,
            }),
            _ => Ok(()),
        }
    }
}

impl Settings {
    /// Whether the agent can be asked with the model, as far as the configuration tells.
    pub fn check_model(&self, agent_id: &str, name: &str) -> Result<(), UnknownModel> {
        let Some(agent) = self.agent(agent_id) else {
            return self.known_models.check(name);
        };
        let (provider, model) = agent.named(name);
        self.known_models.check(&format!("{provider}/{model}"))?;
        agent.asks(name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{Environment, Paths, Settings};

    fn settings(document: serde_json::Value) -> Settings {
        let environment: Environment = [("HOME", "/home/claw")].into_iter().collect();
        let paths = Paths::resolve(&environment).unwrap();
        Settings::assemble(paths, document, &environment).unwrap()
    }

    #[test]
    fn models_provider_is_the_one_that_a_cli_asks() {
        let settings = settings(json!({
            "agents": {"list": [
                {"id": "main"},
                {"id": "c", "backend": "claude-cli"},
                {"id": "x", "backend": "codex-cli"},
                {"id": "n", "backend": "native"},
            ]},
            "models": {"providers": {"mine": {"baseUrl": "http://a"}}},
        }));
        for (agent, name, is_asked) in [
            ("c", "anthropic/claude-sonnet-5", true),
            ("c", "claude-sonnet-5", true),
            ("c", "mine/qwen3", false),
            ("x", "gpt-5", true),
            ("x", "openai/gpt-5", true),
            ("x", "anthropic/claude-sonnet-5", false),
            ("n", "mine/qwen3", true),
            ("main", "mine/qwen3", true),
        ] {
            let checked = settings.check_model(agent, name);
            assert_eq!(checked.is_ok(), is_asked, "{agent} {name}: {checked:?}");
            if let Err(refused) = checked {
                let said = refused.to_string();
                assert!(said.contains("say backend"), "{said}");
                assert!(said.contains(name), "{said}");
            }
        }
    }

    #[test]
    fn model_is_one_of_a_provider_that_is_there() {
        let settings = settings(json!({
            "agents": {"defaults": {"model": "mine/big"}},
            "models": {"providers": {
                "mine": {"baseUrl": "http://a", "models": [{"id": "small"}, {"id": "tiny"}]},
                "open": {"baseUrl": "http://b"},
            }},
        }));
        for name in [
            "mine/small",
            "mine/big",
            "open/any/thing",
            "openai/gpt-5",
            "claude-sonnet-5",
        ] {
            assert_eq!(settings.known_models.check(name), Ok(()), "{name}");
        }
        let unknown = settings
            .known_models
            .check("nosuch/m")
            .unwrap_err()
            .to_string();
        for part in ["\"nosuch/m\"", "ollama", "open", "models.providers"] {
            assert!(unknown.contains(part), "{unknown}");
        }
        let unknown = settings
            .known_models
            .check("mine/tinny")
            .unwrap_err()
            .to_string();
        assert!(unknown.contains("it has tiny, small"), "{unknown}");
    }

    #[test]
    fn models_that_no_list_has_are_found_by_their_keys() {
        let models = json!({"default": "mine/none", "providers": {
            "mine": {"baseUrl": "http://a", "models": [{"id": "small"}, {"id": "tiny"}]},
            "open": {"baseUrl": "http://b"},
        }});
        // An agent without a model of its own has the default one.
        let general = self::settings(json!({"models": models}));
        let general: Vec<_> = general.unknown_models().map(|it| it.to_string()).collect();
        assert!(general[0].starts_with("models.default: the provider mine has no model \"none\""));
        assert_eq!(general.len(), 1, "{general:#?}");
        let settings = settings(json!({
            "agents": {
                "defaults": {"model": {"primary": "mine/smal", "fallbacks": ["mine/small", "open/x"]}},
                "list": [{"id": "main"}, {"id": "own", "model": "mine/tin"},
                    {"id": "lost", "model": "nosuch/m"}],
            },
            "models": models,
        }));
        let unlisted = settings.unlisted_models();
        let said: Vec<String> = unlisted.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), 2, "{said:#?}");
        for (key, model, nearest) in [
            ("agents.defaults.model", "smal", "small"),
            ("agents.list.1.model", "tin", "tiny"),
        ] {
            let start =
                format!("{key}: the provider mine has no model {model:?}; it has {nearest}");
            let is_it = |it: &&String| it.starts_with(&start) && it.ends_with("all the same");
            assert!(said.iter().any(|it| is_it(&it)), "{start}: {said:#?}");
        }
        let all: Vec<_> = settings.unknown_models().collect();
        assert_eq!(all.len(), 3, "{all:#?}");
        // What the configuration names may be chosen for a session, too.
        assert_eq!(settings.known_models.check("mine/smal"), Ok(()));
        assert!(settings.known_models.check("mine/other").is_err());
    }
}
