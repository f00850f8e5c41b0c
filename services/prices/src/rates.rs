//! What tokens are asked for, and from how many on.

use serde::{Deserialize, Serialize};

/// Tokens that a price is for.
const PER: f64 = 1e6;

/// US dollars for a million tokens of each kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Rates {
    /// Sent, and in no cache.
    pub input: f64,
    /// Generated.
    pub output: f64,
    /// Read from the provider's cache.
    pub cache_read: f64,
    /// Written to the provider's cache.
    pub cache_write: f64,
}

impl Rates {
    pub(crate) const fn listed([input, output, cache_read, cache_write]: [f64; 4]) -> Self {
        Self {
            input,
            output,
            cache_read,
            cache_write,
        }
    }

    pub(crate) fn of(&self, input: u64, output: u64, cache_read: u64, cache_write: u64) -> f64 {
        let cost = |tokens: u64, price: f64| as_double(tokens) * price / PER;
        cost(input, self.input)
            + cost(output, self.output)
            + cost(cache_read, self.cache_read)
            + cost(cache_write, self.cache_write)
    }

    pub(crate) fn is_sane(&self) -> bool {
        [self.input, self.output, self.cache_read, self.cache_write]
            .iter()
            .all(|price| price.is_finite() && *price >= 0.0)
    }

    /// The more of each kind.
    pub(crate) fn or_dearer(self, other: Self) -> Self {
        Self {
            input: self.input.max(other.input),
            output: self.output.max(other.output),
            cache_read: self.cache_read.max(other.cache_read),
            cache_write: self.cache_write.max(other.cache_write),
        }
    }
}

/// What is asked for where an amount is sent that is in a range.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Tier {
    /// What is asked for there.
    #[serde(flatten)]
    pub rates: Rates,
    /// Tokens that are sent, what comes from a cache included: the first of
    /// them, and where there is an end the first that are too many.
    pub range: Vec<f64>,
}

impl Tier {
    /// Up to this many tokens the one, from there on the other.
    pub(crate) fn both(short: Rates, most: u32, long: Rates) -> Vec<Self> {
        let end = f64::from(most) + 1.0;
        let (first, last) = (vec![0.0, end], vec![end]);
        [(short, first), (long, last)]
            .map(|(rates, range)| Self { rates, range })
            .into()
    }

    pub(crate) fn start(&self) -> f64 {
        self.range.first().copied().unwrap_or_default()
    }

    /// As OpenClaw reads it, one that does not lie behind the start is none.
    fn end(&self) -> f64 {
        let end = self.range.get(1).copied();
        end.filter(|end| *end > self.start())
            .unwrap_or(f64::INFINITY)
    }

    pub(crate) fn has(&self, sent: u64) -> bool {
        self.begins_before(sent) && as_double(sent) < self.end()
    }

    pub(crate) fn begins_before(&self, sent: u64) -> bool {
        as_double(sent) >= self.start()
    }

    pub(crate) fn is_sane(&self) -> bool {
        matches!(self.range.len(), 1..=2) && self.range.iter().all(|tokens| tokens.is_finite())
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "a double counts tokens exactly up to nine quadrillions"
)]
fn as_double(tokens: u64) -> f64 {
    tokens as f64
}
