//! What `models.providers.*.models` says of a model.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// A model of a provider. What else is said of it is kept, and written into
/// models.json.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Described {
    /// As the provider calls it.
    pub id: String,
    /// As people call it.
    pub name: Option<String>,
    /// Whether it can be told how much to think.
    pub reasoning: Option<bool>,
    /// What it takes: `text`, `image`.
    pub input: Option<Vec<String>>,
    /// What it costs.
    pub cost: Option<Cost>,
    /// Tokens of a conversation and its answer together.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub context_window: Option<u64>,
    /// Tokens of the longest answer.
    #[cfg_attr(test, schemars(range(min = 1)))]
    pub max_tokens: Option<u32>,
    /// Everything else.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}

/// US dollars for a million tokens.
#[derive(Debug, Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(default, rename_all = "camelCase")]
pub struct Cost {
    /// Sent.
    pub input: Option<f64>,
    /// Generated.
    pub output: Option<f64>,
    /// Read from the provider's cache.
    pub cache_read: Option<f64>,
    /// Written to the provider's cache.
    pub cache_write: Option<f64>,
    /// Everything else.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}
