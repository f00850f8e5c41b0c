//! List prices.

use crate::price::Price;
use crate::rates::{Rates, Tier};

impl Price {
    /// What the maker asks for; `None` where that is not known.
    pub(crate) fn known(provider: &str, model: &str) -> Option<Self> {
        let is_it = |row: &&(&str, &str, [f64; 4])| row.0 == provider && model.starts_with(row.1);
        let row = KNOWN.iter().find(is_it)?;
        Some(with_long(provider, model, Rates::listed(row.2)))
    }
}

/// What is known of a provider's models.
pub(crate) fn all(provider: &str) -> impl Iterator<Item = Price> {
    let models = KNOWN.iter().map(|row| (row.0, row.1));
    let models = models.chain(LONG.iter().map(|row| (row.0, row.1)));
    models
        .filter(move |(of, _)| *of == provider)
        .filter_map(|(of, model)| Price::known(of, model))
}

/// With what is asked for a long request.
fn with_long(provider: &str, model: &str, rates: Rates) -> Price {
    let is_it = |row: &&(&str, &str, u32)| row.0 == provider && model.starts_with(row.1);
    let mut price = Price::from(rates);
    if let Some((_, _, most)) = LONG.iter().find(is_it) {
        let long = Rates {
            input: rates.input * 2.0,
            output: rates.output * 1.5,
            cache_read: rates.cache_read * 2.0,
            cache_write: rates.cache_write * 2.0,
        };
        price.tiered_pricing = Tier::both(rates, *most, long);
    }
    price
}

/// Models of which a request with more tokens than this costs twice as much, and its
/// answer one and a half times: Anthropic's with the feature `context-1m`. Later ones have
/// one price.
const LONG: [(&str, &str, u32); 3] = [
    ("anthropic", "claude-sonnet-4-0", 200_000),
    ("anthropic", "claude-sonnet-4-2", 200_000),
    ("anthropic", "claude-sonnet-4-5", 200_000),
];

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
