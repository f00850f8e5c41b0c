//! What `models.providers.*.models` says of a model.

use crate::section::sections;

sections! {
    /// A model of a provider. What else OpenClaw says of one is kept, and written
    /// into models.json.
    pub struct Described {
        /// As the provider calls it.
        id: String,
        /// As people call it.
        name: Option<String>,
        /// Whether it can be told how much to think.
        reasoning: Option<bool>,
        /// What it takes: `text`, `image`.
        input: Option<Vec<String>>,
        /// What it costs.
        cost: Option<Cost>,
        /// Tokens of a conversation and its answer together.
        #[cfg_attr(test, schemars(range(min = 1)))]
        context_window: Option<u64>,
        /// Tokens of the longest answer.
        #[cfg_attr(test, schemars(range(min = 1)))]
        max_tokens: Option<u32>,
    }

    /// US dollars for a million tokens.
    pub struct Cost {
        /// Sent.
        input: Option<f64>,
        /// Generated.
        output: Option<f64>,
        /// Read from the provider's cache.
        cache_read: Option<f64>,
        /// Written to the provider's cache.
        cache_write: Option<f64>,
        /// What is asked for where more is sent, instead.
        tiered_pricing: Option<Vec<CostTier>>,
    }

    /// US dollars for a million tokens of a request, and of its answer, with which an amount is
    /// sent that is in the range.
    pub struct CostTier {
        /// Sent.
        input: f64,
        /// Generated.
        output: f64,
        /// Read from the provider's cache.
        cache_read: f64,
        /// Written to the provider's cache.
        cache_write: f64,
        /// Tokens that are sent, those of caches included: the first of the range, and where it
        /// ends the first behind it.
        #[cfg_attr(test, schemars(length(min = 1, max = 2)))]
        range: Vec<f64>,
    }
}
