//! What a turn of the CLI may do. It has limits of its own for some of it, with
//! words that do not say what to do; these hold whatever its version.

use openclaw_model_api::bill;
use openclaw_settings as settings;
use serde::{Deserialize, Serialize};

/// The CLI takes no limit of nothing. In US dollars: less than a call costs.
const LEAST_COST: f64 = 1e-6;

/// The limits of one turn.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Limits {
    /// Answers of the model that call tools.
    pub steps: u32,
    /// The repetition of a call with the same result that is one too many.
    pub identical_calls: u32,
    /// Tokens that the model may write.
    pub output_tokens: u64,
    /// US dollars for this turn,
    pub cost_per_turn: f64,
    /// for all of the agent's turns of a day,
    pub cost_per_day: f64,
    /// and what they cost before this one.
    pub spent_today: f64,
}

impl Limits {
    /// The limits of the configuration, for an agent that has spent so many US dollars today.
    pub fn of(limits: &settings::Limits, spent_today: f64) -> Self {
        Self {
            steps: limits.steps,
            identical_calls: limits.identical_calls,
            output_tokens: limits.output_tokens,
            cost_per_turn: limits.cost_per_turn,
            cost_per_day: limits.cost_per_day,
            spent_today,
        }
    }

    /// US dollars after which the CLI is to stop by itself: it alone knows what its calls cost.
    pub fn cost(&self) -> f64 {
        let left = self.cost_per_day - self.spent_today;
        self.cost_per_turn.min(left).max(LEAST_COST)
    }

    /// Why it stopped there.
    pub fn too_dear(&self, cost: f64) -> String {
        if cost >= self.cost_per_turn {
            return bill::turn(cost, self.cost_per_turn);
        }
        bill::stopped(self.spent_today + cost, self.cost_per_day)
    }
}
