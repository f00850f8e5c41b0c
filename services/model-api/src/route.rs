//! Where a turn's model is asked: the model with each of its keys, then the
//! models that may take its place.

use std::fmt;

use openclaw_config::secret::Secret;
use openclaw_credentials::Scheme;
use openclaw_prices::Price;
use openclaw_settings::provider::{Access, Api, Provider};
use openclaw_settings::{AgentSettings, MAX_TOKENS, RunnerSettings};
use serde::{Deserialize, Serialize, Serializer};

use crate::wire::ModelOptions;

/// One model with one way in. It is told to a turn's process, and nowhere else.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Stop {
    /// The provider's id in the configuration.
    pub provider: String,
    /// Where it is asked.
    pub base_url: String,
    /// Whether it speaks the Messages API; else OpenAI's chat completions.
    pub anthropic: bool,
    /// The provider's name of the model.
    pub model: String,
    /// `None`: a server that needs no key.
    pub key: Option<Key>,
    /// `None`: nobody knows what it costs.
    pub price: Option<Price>,
    /// Whether the model sees images.
    pub sees_images: bool,
    /// How it is to be asked.
    pub wanted: ModelOptions,
    /// The longest answer that it is asked for, in tokens, without what it
    /// thinks.
    pub max_tokens: u32,
    /// The agent whose turn it is.
    pub agent_id: String,
}

/// A credential with its name.
#[derive(Clone, Serialize, Deserialize)]
pub struct Key {
    /// What its use is kept under.
    pub id: String,
    /// Where it comes from, for messages to the user.
    pub source: String,
    #[serde(serialize_with = "reveal")]
    /// What is sent.
    pub secret: Secret,
    /// The token of a login: sent as `Authorization: Bearer`.
    pub bearer: bool,
    /// The agent whose profile it is, where it is one.
    pub agent_id: Option<String>,
    /// Until when it is left alone as its own file says, as a Unix time in
    /// milliseconds.
    pub cooldown_until: Option<u64>,
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Key").field(&self.id).finish()
    }
}

/// To the turn's process, over its own line.
fn reveal<S: Serializer>(secret: &Secret, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(secret.reveal())
}

impl Stop {
    /// The model at the provider, once for each way in.
    pub fn all(
        settings: &RunnerSettings,
        agent: &AgentSettings,
        (provider, model): (&Provider, &str),
    ) -> Vec<Self> {
        let facts = settings.models.facts(&provider.id, model);
        let is_plain = facts.reasoning == Some(false);
        let name = format!("{}/{model}", provider.id);
        let max_tokens = settings.max_tokens(&agent.id, Some(&name));
        let max_tokens = max_tokens.unwrap_or(MAX_TOKENS);
        let wanted = ModelOptions::new(&agent.params, facts.max_tokens, is_plain);
        let local = provider.key.is_none();
        let price = Price::find(provider, model).or(local.then(Price::default));
        let stop = |key| Self {
            provider: provider.id.clone(),
            base_url: provider.base_url.clone(),
            anthropic: provider.api == Api::Anthropic,
            model: model.to_owned(),
            key,
            price: price.clone(),
            sees_images: provider.sees_images(model),
            wanted: wanted.clone(),
            max_tokens,
            agent_id: agent.id.clone(),
        };
        match keys(provider) {
            keys if keys.is_empty() => vec![stop(None)],
            keys => keys.into_iter().map(|key| stop(Some(key))).collect(),
        }
    }

    /// What its use is kept under.
    pub fn id(&self) -> &str {
        self.key.as_ref().map_or(&self.provider, |key| &key.id)
    }

    /// The agent whose file its failures are kept in.
    pub fn agent_of_key(&self) -> &str {
        let key = self.key.as_ref();
        key.and_then(|key| key.agent_id.as_deref())
            .unwrap_or(&self.agent_id)
    }

    /// `provider/model`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }

    /// Whether a request for the other can be sent here as it is. What a model
    /// has signed another provider does not take, though it may call its model
    /// the same.
    pub fn takes_requests_of(&self, other: &Self) -> bool {
        self.anthropic == other.anthropic
            && self.is_same_model(other)
            && self.sees_images == other.sees_images
    }

    /// Whether it is the same model of the same provider.
    pub fn is_same_model(&self, other: &Self) -> bool {
        self.provider == other.provider && self.model == other.model
    }

    /// The protocol that the agent speaks to it.
    pub fn api(&self) -> openclaw_turn::Api {
        if self.anthropic {
            openclaw_turn::Api::Anthropic
        } else {
            openclaw_turn::Api::Openai
        }
    }
}

fn keys(provider: &Provider) -> Vec<Key> {
    let key = |access: &Access| Key {
        id: access.id.clone(),
        source: access.source.clone(),
        secret: access.secret.clone(),
        bearer: access.scheme == Scheme::Bearer,
        agent_id: access.agent.clone(),
        cooldown_until: access.usage.cooldown_until,
    };
    provider.access.iter().map(key).collect()
}
