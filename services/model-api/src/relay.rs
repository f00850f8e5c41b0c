//! Where the model is.

use openclaw_config::secret::Secret;
use openclaw_prices::{Price, PriceList};
use serde::{Deserialize, Serialize, Serializer};

use crate::wire::Api;

/// Where the model is, and how one gets in. It is told to a turn's process,
/// and nowhere else.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Relay {
    /// In whose form it is asked.
    pub api: Api,
    /// Where, without the path of a request.
    pub base_url: String,
    /// What a path begins with at the proxy and not there.
    pub mount: String,
    /// Set in every request, in place of what is there.
    pub headers: Vec<(String, HeaderSecret)>,
    /// Added to the features that a request uses.
    pub beta: Option<String>,
}

/// A header of requests that a subscription to ChatGPT pays for.
const SUBSCRIPTION: &str = "chatgpt-account-id";

impl Relay {
    /// Whether a request may say how long its answer is at most: one that a subscription
    /// pays for may not.
    pub fn takes_a_limit(&self) -> bool {
        !self.headers.iter().any(|(name, _)| name == SUBSCRIPTION)
    }
}

/// A header's value that is a credential, or may hold one.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
pub struct HeaderSecret(pub Secret);

/// To the turn's process, over its own line.
impl Serialize for HeaderSecret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.reveal())
    }
}

/// What the models behind a proxy cost.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Prices {
    list: PriceList,
    /// The turn's own model; empty: whichever the CLI takes.
    model: String,
}

impl Prices {
    /// For a turn that is to ask `model`.
    pub fn new(list: PriceList, model: Option<&str>) -> Self {
        Self {
            list,
            model: plain(model.unwrap_or_default()).to_owned(),
        }
    }

    /// What `model` costs; `None`: nobody knows. One whose price is not known
    /// and that is not the turn's own counts as the dearest: a limit is not to
    /// be lifted by a name.
    pub fn of(&self, model: &str) -> Option<Price> {
        let model = plain(model);
        let unnamed = || self.list.dearest().filter(|_| model != self.model);
        self.list.find(model).or_else(unnamed)
    }
}

/// A model's name without what is around it: at Bedrock the region and the
/// maker before it (`eu.anthropic.`), at the CLI the size of its window behind
/// it (`[1m]`).
fn plain(model: &str) -> &str {
    let model = model.split('[').next().unwrap_or_default();
    match model.split_once("anthropic.") {
        Some((_, name)) => name,
        None => model,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn price_is_found_under_every_name_of_a_model() {
        let prices = Prices::new(PriceList::new(None, "anthropic"), None);
        for model in [
            "claude-sonnet-4-5",
            "claude-sonnet-4-5[1m]",
            "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
            "anthropic.claude-sonnet-4-20250514-v1:0",
        ] {
            assert_eq!(prices.of(model).unwrap().rates.output, 15.0, "{model}");
        }
    }

    #[test]
    fn price_of_an_unknown_model_is_the_dearest_unless_it_is_the_turns_own() {
        let prices = Prices::new(PriceList::new(None, "anthropic"), Some("own"));
        assert_eq!(prices.of("own"), None);
        assert_eq!(prices.of("claude-2.1").unwrap().rates.output, 75.0);
        assert_eq!(Prices::default().of("x"), None);
    }
}
