//! How much of a run its session wants to be shown (OpenClaw's `/verbose`,
//! `/reasoning` and `/usage`).

use openclaw_proto::event::Usage;
use openclaw_proto::shown::{Shown, Thinking, Tools, Used};
use serde_json::Value;

/// The levels: what clients of a session see beside the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Levels(pub(super) Shown);

impl Levels {
    /// Nobody is told what the model thought.
    pub(super) fn hides_thinking(self) -> bool {
        self.0.thinking == Thinking::Hidden
    }

    /// What those are told of a tool's event who did not ask for tools when they
    /// connected; who did is told all of it at every level, as by OpenClaw.
    pub(super) fn unasked(&self, data: &Value) -> Option<Value> {
        let mut data = (self.0.tools != Tools::AsAsked).then(|| data.clone())?;
        if self.0.tools == Tools::Calls
            && let Some(fields) = data.as_object_mut()
        {
            fields.remove("result");
            fields.remove("partialResult");
        }
        Some(data)
    }

    /// The line below an answer, when it is wanted and something was counted.
    pub(super) fn usage_line(&self, usage: &Usage, cost_usd: Option<f64>) -> Option<String> {
        let sent = usage.input + usage.cache_read + usage.cache_write;
        if !matches!(self.0.usage, Used::Tokens | Used::WithCost) || sent + usage.output == 0 {
            return None;
        }
        let line = format!("Usage: {} in / {} out", short(sent), short(usage.output));
        match cost_usd.filter(|_| self.0.usage == Used::WithCost) {
            Some(dollars) => Some(format!("{line} · est ${dollars:.4}")),
            None => Some(line),
        }
    }
}

/// A number of tokens as OpenClaw shows it.
fn short(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..1_000_000 => format!("{:.1}k", tokens as f64 / 1e3),
        _ => format!("{:.1}m", tokens as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn levels(entry: Value) -> Levels {
        Levels(openclaw_doors::shown::of_entry(entry.as_object().unwrap()))
    }

    #[test]
    fn levels_of_tools_say_what_is_told_unasked() {
        let data = json!({"phase": "result", "result": 1});
        for (entry, told) in [
            (json!({}), None),
            (json!({"verboseLevel": "off"}), None),
            (
                json!({"verboseLevel": "on"}),
                Some(json!({"phase": "result"})),
            ),
            (json!({"verboseLevel": "full"}), Some(data.clone())),
        ] {
            assert_eq!(levels(entry.clone()).unasked(&data), told, "{entry}");
        }
    }

    #[test]
    fn usage_line_is_there_when_it_is_wanted() {
        let usage = Usage {
            input: 1_000,
            output: 20,
            cache_read: 234,
            cache_write: 0,
        };
        let line = |word: &str| {
            let levels = levels(json!({"responseUsage": word}));
            levels.usage_line(&usage, Some(0.5))
        };
        assert_eq!(line("off"), None);
        assert_eq!(line("tokens").unwrap(), "Usage: 1.2k in / 20 out");
        assert_eq!(
            line("full").unwrap(),
            "Usage: 1.2k in / 20 out · est $0.5000"
        );
        let nothing = levels(json!({"responseUsage": "on"}));
        assert_eq!(nothing.usage_line(&Usage::default(), None), None);
    }
}
