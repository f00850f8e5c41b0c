//! What models cost: as the configuration says (OpenClaw's
//! `models.providers.<id>.models[].cost`), else what the makers of the best
//! known ones ask for.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::provider::Provider;

/// Tokens that a price is for.
const PER: f64 = 1e6;

/// US dollars for a million tokens of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Price {
    /// Sent, and in no cache.
    pub input: f64,
    /// Generated.
    pub output: f64,
    /// Read from the provider's cache.
    pub cache_read: f64,
    /// Written to the provider's cache.
    pub cache_write: f64,
}

impl Price {
    /// What this many tokens cost, in US dollars.
    pub fn of(&self, input: u64, output: u64, cache_read: u64, cache_write: u64) -> f64 {
        #[expect(
            clippy::cast_precision_loss,
            reason = "a double counts tokens exactly up to nine quadrillions"
        )]
        let cost = |tokens: u64, price: f64| tokens as f64 * price / PER;
        cost(input, self.input)
            + cost(output, self.output)
            + cost(cache_read, self.cache_read)
            + cost(cache_write, self.cache_write)
    }

    /// The price of `model` at `provider`; `None` where nobody knows it.
    pub fn find(provider: &Provider, model: &str) -> Option<Self> {
        Self::configured(&provider.models, model).or_else(|| Self::known(&provider.id, model))
    }

    /// A description without a `cost` says nothing of it; one of nothing but
    /// zeros says that the model is free.
    fn configured(models: &[Value], model: &str) -> Option<Self> {
        let described = models.iter().find(|described| described["id"] == model)?;
        let cost = described.get("cost")?;
        Self::deserialize(cost).ok().filter(Self::is_sane)
    }

    fn is_sane(&self) -> bool {
        [self.input, self.output, self.cache_read, self.cache_write]
            .iter()
            .all(|price| price.is_finite() && *price >= 0.0)
    }

    fn known(provider: &str, model: &str) -> Option<Self> {
        let row = KNOWN
            .iter()
            .find(|row| row.0 == provider && model.starts_with(row.1))?;
        Some(Self::listed(row.2))
    }

    fn listed([input, output, cache_read, cache_write]: [f64; 4]) -> Self {
        Self {
            input,
            output,
            cache_read,
            cache_write,
        }
    }
}

/// The prices of one provider's models, for a process that has no
/// configuration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PriceList {
    provider: String,
    /// Those that are configured, by the models' names.
    configured: Vec<(String, Price)>,
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
            .map(|(_, price)| *price)
            .or_else(|| Price::known(&self.provider, model))
    }

    /// At least as much as each of its models costs whose price is known, for
    /// one that nobody named in the configuration.
    pub fn dearest(&self) -> Option<Price> {
        let known = KNOWN.iter().filter(|row| row.0 == self.provider);
        let known = known.map(|row| Price::listed(row.2));
        let configured = self.configured.iter().map(|(_, price)| *price);
        configured.chain(known).reduce(|one, other| Price {
            input: one.input.max(other.input),
            output: one.output.max(other.output),
            cache_read: one.cache_read.max(other.cache_read),
            cache_write: one.cache_write.max(other.cache_write),
        })
    }
}

/// List prices: provider, beginning of the model's name, US dollars for a
/// million tokens (input, output, cache read, cache write). The first that
/// fits counts. Anthropic's and OpenAI's public price lists of early 2026;
/// what is configured comes before.
const KNOWN: [(&str, &str, [f64; 4]); 23] = [
    ("anthropic", "claude-opus-4-0", [15.0, 75.0, 1.5, 18.75]),
    ("anthropic", "claude-opus-4-1", [15.0, 75.0, 1.5, 18.75]),
    ("anthropic", "claude-opus-4-2", [15.0, 75.0, 1.5, 18.75]),
    ("anthropic", "claude-opus", [5.0, 25.0, 0.5, 6.25]),
    ("anthropic", "claude-sonnet", [3.0, 15.0, 0.3, 3.75]),
    ("anthropic", "claude-haiku", [1.0, 5.0, 0.1, 1.25]),
    ("anthropic", "claude-3-7-sonnet", [3.0, 15.0, 0.3, 3.75]),
    ("anthropic", "claude-3-5-sonnet", [3.0, 15.0, 0.3, 3.75]),
    ("anthropic", "claude-3-5-haiku", [0.8, 4.0, 0.08, 1.0]),
    ("anthropic", "claude-3-opus", [15.0, 75.0, 1.5, 18.75]),
    ("openai", "gpt-5-pro", [15.0, 120.0, 15.0, 0.0]),
    ("openai", "gpt-5.2-pro", [21.0, 168.0, 21.0, 0.0]),
    ("openai", "o1-pro", [150.0, 600.0, 150.0, 0.0]),
    ("openai", "gpt-5-nano", [0.05, 0.4, 0.005, 0.0]),
    ("openai", "gpt-5-mini", [0.25, 2.0, 0.025, 0.0]),
    ("openai", "gpt-5", [1.25, 10.0, 0.125, 0.0]),
    ("openai", "gpt-4.1-mini", [0.4, 1.6, 0.1, 0.0]),
    ("openai", "gpt-4.1", [2.0, 8.0, 0.5, 0.0]),
    ("openai", "gpt-4o-mini", [0.15, 0.6, 0.075, 0.0]),
    ("openai", "gpt-4o", [2.5, 10.0, 1.25, 0.0]),
    ("openai", "text-embedding-3-small", [0.02, 0.0, 0.0, 0.0]),
    ("openai", "text-embedding-3-large", [0.13, 0.0, 0.0, 0.0]),
    ("openai", "text-embedding-ada-002", [0.1, 0.0, 0.0, 0.0]),
];

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn price(models: Value, provider: &str, model: &str) -> Option<Price> {
        let models = models.as_array().unwrap();
        Price::configured(models, model).or_else(|| Price::known(provider, model))
    }

    #[test]
    fn the_configuration_comes_before_the_list() {
        let models = json!([
            {"id": "claude-opus-4-6", "cost": {"input": 1, "output": 2, "cacheRead": 0.5}},
            {"id": "claude-sonnet-5"},
            {"id": "broken", "cost": {"input": -1}},
            {"id": "free", "cost": {}},
        ]);
        let own = price(models.clone(), "anthropic", "claude-opus-4-6").unwrap();
        assert!((own.of(1_000_000, 500_000, 2_000_000, 7) - 3.0).abs() < 1e-9);
        let listed = price(models.clone(), "anthropic", "claude-sonnet-5").unwrap();
        assert!((listed.of(0, 1_000_000, 0, 0) - 15.0).abs() < 1e-9);
        assert_eq!(price(models.clone(), "mine", "broken"), None);
        assert_eq!(
            price(models.clone(), "mine", "free"),
            Some(Price::default())
        );
        assert_eq!(price(models, "mine", "claude-opus-4-6-x"), None);
    }

    #[test]
    fn the_narrower_name_is_found_first() {
        let of = |model| price(json!([]), "openai", model).unwrap().output;
        assert_eq!(
            [of("gpt-5-nano"), of("gpt-5.2"), of("gpt-4o-mini-x")],
            [0.4, 10.0, 0.6]
        );
        let opus = |model| price(json!([]), "anthropic", model).unwrap().output;
        assert_eq!(
            [opus("claude-opus-4-20250514"), opus("claude-opus-4-6")],
            [75.0, 25.0]
        );
    }

    #[test]
    fn price_list_knows_what_is_configured_listed_and_the_dearest() {
        let models = json!([
            {"id": "own", "cost": {"input": 1, "output": 900}},
            {"id": "unpriced"},
        ]);
        let provider = Provider {
            id: "anthropic".to_owned(),
            base_url: String::new(),
            api: crate::provider::Api::Anthropic,
            key: None,
            access: Vec::new(),
            key_source: String::new(),
            models: models.as_array().unwrap().clone(),
            fault: None,
        };
        let list = PriceList::new(Some(&provider), "anthropic");
        let output = |price: Option<Price>| price.map(|price| price.output);
        assert_eq!(output(list.find("own")), Some(900.0));
        assert_eq!(output(list.find("claude-opus-4-8")), Some(25.0));
        assert_eq!(list.find("unpriced"), None);
        assert_eq!(output(list.dearest()), Some(900.0));
        let plain = PriceList::new(None, "anthropic");
        assert_eq!(output(plain.dearest()), Some(75.0));
        assert_eq!(PriceList::new(None, "mine").dearest(), None);
    }

    #[test]
    fn price_has_no_part_below_zero() {
        for part in ["input", "output", "cacheRead", "cacheWrite"] {
            for (amount, is_sane) in [(0.0, true), (0.5, true), (-0.5, false)] {
                let models = json!([{"id": "m", "cost": {part: amount}}]);
                let found = price(models, "mine", "m");
                assert_eq!(found.is_some(), is_sane, "{part} {amount}");
            }
        }
    }

    #[test]
    fn each_kind_of_token_has_its_own_price() {
        let price = Price::listed([1.0, 10.0, 100.0, 1000.0]);
        let of = |tokens: [u64; 4]| {
            let [input, output, read, write] = tokens.map(|millions| millions * 1_000_000);
            price.of(input, output, read, write)
        };
        assert_eq!(of([1, 2, 3, 4]), 4321.0);
        assert_eq!(of([0, 0, 0, 0]), 0.0);
    }

    #[test]
    fn price_of_a_provider_is_what_it_says_or_what_is_listed() {
        let models = json!([{"id": "claude-opus-4-6", "cost": {"input": 7}}]);
        let mut provider = Provider {
            id: "anthropic".to_owned(),
            base_url: String::new(),
            api: crate::provider::Api::Anthropic,
            key: None,
            access: Vec::new(),
            key_source: String::new(),
            models: models.as_array().unwrap().clone(),
            fault: None,
        };
        let input = |provider: &Provider, model| Price::find(provider, model).map(|it| it.input);
        assert_eq!(input(&provider, "claude-opus-4-6"), Some(7.0));
        assert_eq!(input(&provider, "claude-opus-4-8"), Some(5.0));
        assert_eq!(input(&provider, "unknown"), None);
        provider.id = "mine".to_owned();
        assert_eq!(input(&provider, "claude-opus-4-8"), None);
    }

    #[test]
    fn dearest_is_the_most_of_each_kind() {
        let list = PriceList {
            provider: "mine".to_owned(),
            configured: vec![
                ("a".to_owned(), Price::listed([1.0, 8.0, 3.0, 6.0])),
                ("b".to_owned(), Price::listed([5.0, 4.0, 7.0, 2.0])),
            ],
        };
        let expected = Price::listed([5.0, 8.0, 7.0, 6.0]);
        assert_eq!(list.dearest(), Some(expected));
    }
}
