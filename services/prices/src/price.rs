//! The price of a model.

use openclaw_settings::provider::Provider;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::rates::{Rates, Tier};

/// US dollars for the tokens of one request and its answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Price {
    /// Where no tier says anything else.
    #[serde(flatten)]
    pub rates: Rates,
    /// What is asked for more where more is sent, as OpenClaw's
    /// `cost.tieredPricing` has it: all of a request is charged at the tier
    /// that what was sent with it is in.
    pub tiered_pricing: Vec<Tier>,
}

impl Price {
    /// What this many tokens of one request cost, in US dollars.
    pub fn of(&self, input: u64, output: u64, cache_read: u64, cache_write: u64) -> f64 {
        let sent = input.saturating_add(cache_read).saturating_add(cache_write);
        let rates = self.at(sent);
        rates.of(input, output, cache_read, cache_write)
    }

    /// What it costs more, in US dollars, to have so many of the tokens written to the cache
    /// kept there for an hour, where `sent` tokens are sent: writing them costs twice what
    /// sending does, and the price of writing is that for five minutes, 1.25 times as much
    /// (Anthropic's price list).
    pub fn of_keeping_for_an_hour(&self, tokens: u64, sent: u64) -> f64 {
        const MORE: f64 = 2.0 / 1.25 - 1.0;
        self.at(sent).of(0, 0, 0, tokens) * MORE
    }

    /// The price of `model` at `provider`; `None` where nobody knows it.
    pub fn find(provider: &Provider, model: &str) -> Option<Self> {
        Self::configured(&provider.models, model).or_else(|| Self::known(&provider.id, model))
    }

    /// What is asked for where this much is sent: as OpenClaw takes it, the tier
    /// that it is in, else the last that begins before it, else the first.
    pub(crate) fn at(&self, sent: u64) -> &Rates {
        let mut tiers: Vec<&Tier> = self.tiered_pricing.iter().collect();
        tiers.sort_by(|one, other| one.start().total_cmp(&other.start()));
        let found = tiers.iter().find(|tier| tier.has(sent));
        let before = || tiers.iter().rfind(|tier| tier.begins_before(sent));
        let tier = found.or_else(before).or(tiers.first());
        tier.map_or(&self.rates, |tier| &tier.rates)
    }

    /// At least as much of each kind as this or `other` may cost.
    pub(crate) fn or_dearer(self, other: &Self) -> Self {
        let all = other.all_rates().chain(self.all_rates());
        let rates = all.copied().reduce(Rates::or_dearer).unwrap_or_default();
        Self::from(rates)
    }

    fn all_rates(&self) -> impl Iterator<Item = &Rates> {
        let tiers = self.tiered_pricing.iter().map(|tier| &tier.rates);
        std::iter::once(&self.rates).chain(tiers)
    }

    /// A description without a `cost` says nothing of it; one of nothing but
    /// zeros says that the model is free.
    pub(crate) fn configured(models: &[Value], model: &str) -> Option<Self> {
        let described = models.iter().find(|described| described["id"] == model)?;
        let cost = described.get("cost")?;
        Self::deserialize(cost).ok().filter(Self::is_sane)
    }

    fn is_sane(&self) -> bool {
        self.all_rates().all(Rates::is_sane) && self.tiered_pricing.iter().all(Tier::is_sane)
    }
}

impl From<Rates> for Price {
    fn from(rates: Rates) -> Self {
        Self {
            rates,
            tiered_pricing: Vec::new(),
        }
    }
}
