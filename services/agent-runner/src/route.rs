//! Where a turn's model is asked: the model with each of its keys, then the
//! models that may take its place.

use std::fmt;

use openclaw_config::price::Price;
use openclaw_config::provider::{Api, Provider};
use openclaw_config::secret::Secret;
use serde::{Deserialize, Serialize, Serializer};

/// One model with one way in. It is told to a turn's process, and nowhere else.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Stop {
    pub(crate) provider: String,
    pub(crate) base_url: String,
    pub(crate) anthropic: bool,
    pub(crate) model: String,
    /// `None`: a server that needs no key.
    pub(crate) key: Option<Key>,
    /// `None`: nobody knows what it costs.
    pub(crate) price: Option<Price>,
    /// Whose file its failures are kept in.
    pub(crate) agent_id: String,
}

/// A credential with its name.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Key {
    /// What its use is kept under.
    pub(crate) id: String,
    /// Where it comes from, for messages to the user.
    pub(crate) source: String,
    #[serde(serialize_with = "reveal")]
    pub(crate) secret: Secret,
    /// The token of a login: sent as `Authorization: Bearer`.
    pub(crate) bearer: bool,
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
    pub(crate) fn all(provider: &Provider, model: &str, agent_id: &str) -> Vec<Self> {
        let local = provider.key.is_none();
        let price = Price::find(provider, model).or(local.then(Price::default));
        let stop = |key| Self {
            provider: provider.id.clone(),
            base_url: provider.base_url.clone(),
            anthropic: provider.api == Api::Anthropic,
            model: model.to_owned(),
            key,
            price,
            agent_id: agent_id.to_owned(),
        };
        match keys(provider) {
            keys if keys.is_empty() => vec![stop(None)],
            keys => keys.into_iter().map(|key| stop(Some(key))).collect(),
        }
    }

    /// What its use is kept under.
    pub(crate) fn id(&self) -> &str {
        self.key.as_ref().map_or(&self.provider, |key| &key.id)
    }

    /// `provider/model`.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }

    /// Whether a request for the other can be sent here as it is.
    pub(crate) fn takes_requests_of(&self, other: &Self) -> bool {
        self.anthropic == other.anthropic && self.model == other.model
    }

    /// Whether it is the same model of the same provider.
    pub(crate) fn is_same_model(&self, other: &Self) -> bool {
        self.provider == other.provider && self.model == other.model
    }

    /// The name of its kind of API, as the agent knows it.
    pub(crate) fn api(&self) -> &'static str {
        match self.anthropic {
            true => "anthropic",
            false => "openai",
        }
    }
}

fn keys(provider: &Provider) -> Vec<Key> {
    let key = provider.key.as_ref().map(|secret| Key {
        id: format!("{}:default", provider.id),
        source: provider.key_source.clone(),
        secret: secret.clone(),
        bearer: false,
    });
    key.into_iter().collect()
}
