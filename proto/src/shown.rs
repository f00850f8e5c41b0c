//! How much of a run its session wants whoever talks in it to be shown.

use crate::wire::gateway as wire;

/// What is shown beside the answer (OpenClaw's `/verbose`, `/reasoning` and `/usage`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shown {
    /// What the agent does.
    pub tools: Tools,
    /// What the model thinks.
    pub thinking: Thinking,
    /// What was used.
    pub usage: Used,
}

/// What is shown of calls of tools.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tools {
    /// What the client shows by itself, or asked for.
    #[default]
    AsAsked,
    /// All, without results.
    Calls,
    /// All, with results.
    Whole,
}

/// What is shown of the model's thinking.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Thinking {
    /// What the client shows by itself.
    #[default]
    AsAsked,
    /// Nothing.
    Hidden,
    /// All, when it is whole.
    Whole,
    /// All, while it comes.
    Streamed,
}

/// What is shown of tokens and cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Used {
    /// What the client shows by itself.
    #[default]
    AsAsked,
    /// Nothing.
    Hidden,
    /// Tokens.
    Tokens,
    /// Tokens, and what they cost.
    WithCost,
}

impl Shown {
    /// By the words of the three levels, in this order: `verboseLevel`, `reasoningLevel` and
    /// `responseUsage` of a session.
    #[must_use]
    pub fn of(verbose: Option<&str>, reasoning: Option<&str>, usage: Option<&str>) -> Self {
        Self {
            tools: match verbose {
                Some("on") => Tools::Calls,
                Some("full") => Tools::Whole,
                _ => Tools::AsAsked,
            },
            thinking: match reasoning {
                Some("off") => Thinking::Hidden,
                Some("on") => Thinking::Whole,
                Some("stream") => Thinking::Streamed,
                _ => Thinking::AsAsked,
            },
            usage: match usage {
                Some("off") => Used::Hidden,
                Some("on" | "tokens") => Used::Tokens,
                Some("full") => Used::WithCost,
                _ => Used::AsAsked,
            },
        }
    }
}

impl From<Shown> for wire::Shown {
    fn from(shown: Shown) -> Self {
        use wire::{ShownThinking as Th, ShownTools as To, ShownUsage as Us};
        let tools = match shown.tools {
            Tools::AsAsked => To::Unspecified,
            Tools::Calls => To::Calls,
            Tools::Whole => To::Whole,
        };
        let thinking = match shown.thinking {
            Thinking::AsAsked => Th::Unspecified,
            Thinking::Hidden => Th::Hidden,
            Thinking::Whole => Th::Whole,
            Thinking::Streamed => Th::Streamed,
        };
        let usage = match shown.usage {
            Used::AsAsked => Us::Unspecified,
            Used::Hidden => Us::Hidden,
            Used::Tokens => Us::Tokens,
            Used::WithCost => Us::WithCost,
        };
        Self {
            tools: tools.into(),
            thinking: thinking.into(),
            usage: usage.into(),
        }
    }
}

/// A level of a newer gateway is none: the client shows what it shows by itself.
impl From<wire::Shown> for Shown {
    fn from(shown: wire::Shown) -> Self {
        use wire::{ShownThinking as Th, ShownTools as To, ShownUsage as Us};
        Self {
            tools: match shown.tools() {
                To::Unspecified => Tools::AsAsked,
                To::Calls => Tools::Calls,
                To::Whole => Tools::Whole,
            },
            thinking: match shown.thinking() {
                Th::Unspecified => Thinking::AsAsked,
                Th::Hidden => Thinking::Hidden,
                Th::Whole => Thinking::Whole,
                Th::Streamed => Thinking::Streamed,
            },
            usage: match shown.usage() {
                Us::Unspecified => Used::AsAsked,
                Us::Hidden => Used::Hidden,
                Us::Tokens => Used::Tokens,
                Us::WithCost => Used::WithCost,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_is_the_same_on_the_wire() {
        let words = [None, Some("off"), Some("on"), Some("full"), Some("stream")];
        for verbose in words {
            for reasoning in words {
                for usage in words {
                    let shown = Shown::of(verbose, reasoning, usage);
                    assert_eq!(Shown::from(wire::Shown::from(shown)), shown);
                }
            }
        }
        let newer = wire::Shown {
            tools: 99,
            ..wire::Shown::default()
        };
        assert_eq!(Shown::from(newer), Shown::default());
    }
}
