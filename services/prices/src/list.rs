//! The prices of one provider's models.

use openclaw_settings::provider::Provider;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::known;
use crate::price::Price;

/// The prices of one provider's models, for a process that has no
/// configuration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PriceList {
    pub(crate) provider: String,
    /// Those that are configured, by the models' names.
    pub(crate) configured: Vec<(String, Price)>,
}

impl PriceList {
    /// Of a provider; `None` where nothing of it is configured, whose id is
    /// then `id`.
    pub fn new(provider: Option<&Provider>, id: &str) -> Self {
        let models = provider.map_or(&[][..], |provider| &provider.models);
        let priced = |model: &Value| {
            let id = model["id"].as_str()?;
            Some((id.to_owned(), Price::configured(models, id)?))
        };
        Self {
            provider: provider.map_or(id, |provider| &provider.id).to_owned(),
            configured: models.iter().filter_map(priced).collect(),
        }
    }

    /// The price of `model`; `None` where nobody knows it.
    pub fn find(&self, model: &str) -> Option<Price> {
        let mut configured = self.configured.iter();
        configured
            .find(|(id, _)| id == model)
            .map(|(_, price)| price.clone())
            .or_else(|| Price::known(&self.provider, model))
    }

    /// At least as much as each of its models costs whose price is known, for
    /// one that nobody named in the configuration.
    pub fn dearest(&self) -> Option<Price> {
        let configured = self.configured.iter().map(|(_, price)| price.clone());
        let all = configured.chain(known::all(&self.provider));
        all.reduce(|one, other| one.or_dearer(&other))
    }
}
