//! What today's turns cost: the agent-runner's count, `state/usage.json`.

use std::collections::BTreeMap;
use std::fs;

use jiff::Zoned;
use openclaw_config::Paths;
use openclaw_settings::Settings;
use serde::{Deserialize, Serialize};

/// The share of a day's budget from which on it is worth a look.
const MUCH: f64 = 0.8;

/// As the agent-runner writes it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct SpendingFile {
    days: BTreeMap<String, BTreeMap<String, Spent>>,
}

/// What an agent's turns of a day used.
#[derive(Debug, Default, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spent {
    cost_usd: f64,
    turns: u64,
    turns_of_unknown_cost: u64,
}

/// Of all agents.
#[derive(Debug, Default, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Spending {
    pub(crate) cost_usd: f64,
    pub(crate) turns: u64,
    pub(crate) turns_of_unknown_cost: u64,
    /// What one agent may cost in a day; of several with different limits the
    /// default one's.
    pub(crate) budget_usd: Option<f64>,
    /// The agents that have used up most of it.
    pub(crate) near_limit: Vec<String>,
}

impl Spending {
    pub(crate) fn of_today(paths: &Paths, settings: Option<&Settings>) -> Self {
        let text = fs::read_to_string(paths.spending()).unwrap_or_default();
        let today = Zoned::now().date().to_string();
        Self::of(&text, &today, settings)
    }

    fn of(text: &str, today: &str, settings: Option<&Settings>) -> Self {
        let mut file: SpendingFile = serde_json::from_str(text).unwrap_or_default();
        let budget_of = |agent: &str| {
            let agent = settings.and_then(|it| it.agent(agent));
            agent.map(|agent| agent.limits.cost_per_day)
        };
        let mut all = Self {
            budget_usd: settings.and_then(|it| budget_of(&it.default_agent)),
            ..Self::default()
        };
        for (agent, spent) in file.days.remove(today).unwrap_or_default() {
            all.cost_usd += spent.cost_usd;
            all.turns += spent.turns;
            all.turns_of_unknown_cost += spent.turns_of_unknown_cost;
            if budget_of(&agent).is_some_and(|budget| spent.cost_usd >= budget * MUCH) {
                all.near_limit.push(agent);
            }
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use openclaw_config::Environment;

    use super::*;

    #[test]
    fn today_is_added_up_over_agents_and_held_against_the_budget() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_str().unwrap();
        let environment: Environment = [("OPENCLAW_STATE_DIR", state), ("HOME", state)]
            .into_iter()
            .collect();
        let settings = openclaw_settings::load(&environment).unwrap();
        let text = r#"{"days": {"2026-11-24": {
            "main": {"costUsd": 24.0, "turns": 3, "turnsOfUnknownCost": 1},
            "home": {"costUsd": 0.5, "turns": 1}}, "2026-11-23": {"main": {"costUsd": 9.0}}}}"#;
        let all = Spending::of(text, "2026-11-24", Some(&settings));
        assert_eq!(
            (all.cost_usd, all.turns, all.turns_of_unknown_cost),
            (24.5, 4, 1)
        );
        assert_eq!(all.budget_usd, Some(25.0));
        assert_eq!(all.near_limit, ["main"]);
        assert_eq!(
            Spending::of("{broken", "2026-11-24", None),
            Spending::default()
        );
    }
}
