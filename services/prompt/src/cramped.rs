//! Limits that leave no room for a conversation.

use openclaw_settings::{AgentSettings, Settings};

use crate::fixed::Fixed;

/// With less room than this, in tokens, nothing that is kept of a conversation makes
/// sense; memory plans none (`memory/src/compact.rs`).
pub const LEAST_CONVERSATION: usize = 256;

/// The agents whose requests have no room for a conversation, each as the key that
/// bounds it with what is wrong.
pub fn cramped(settings: &Settings) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for agent in settings.agents.values() {
        found.extend(of_agent(settings, agent));
    }
    found
}

fn of_agent(settings: &Settings, agent: &AgentSettings) -> Option<(String, String)> {
    let model = settings.model_of(&agent.id);
    let limit = settings.context_tokens(model);
    let fixed = Fixed::of(agent, &[]);
    let least = fixed.tokens() + LEAST_CONVERSATION;
    if usize::try_from(limit).is_ok_and(|limit| limit >= least) {
        return None;
    }
    let key = match model {
        Some(model) if limit != settings.memory.context_tokens => {
            format!("contextWindow of {model}")
        }
        _ => "memory.maxContextTokens".to_owned(),
    };
    let problem = format!(
        "leaves {limit} tokens for a request of agent {:?}, of which instructions take {} and tools \
         {}: its messages are answered without what was said before; let it leave {least} at \
         least, or give the agent fewer tools (tools.profile, tools.deny)",
        agent.id, fixed.instructions, fixed.tools
    );
    Some((key, problem))
}

#[cfg(test)]
mod tests {
    use openclaw_settings::Settings;
    use serde_json::{Value, json};

    use super::*;

    fn settings(document: Value) -> Settings {
        let environment = [("HOME", "/h")].into_iter().collect();
        let paths = openclaw_config::Paths::resolve(&environment).unwrap();
        Settings::assemble(paths, document, &environment).unwrap()
    }

    #[test]
    fn limit_below_what_is_always_sent_is_told() {
        let problems = |document| cramped(&settings(document));
        assert_eq!(problems(json!({})), []);
        let small = problems(json!({"memory": {"maxContextTokens": 1000}}));
        assert_eq!(small.len(), 1);
        assert_eq!(small[0].0, "memory.maxContextTokens");
        let words =
            "leaves 1000 tokens for a request of agent \"main\", of which instructions take";
        assert!(small[0].1.starts_with(words), "{}", small[0].1);
        let without_tools = json!({"memory": {"maxContextTokens": 1000}, "tools": {"deny": ["*"]}});
        assert_eq!(problems(without_tools), []);
    }

    #[test]
    fn window_of_a_model_is_named_by_the_model() {
        let provider = json!({"baseUrl": "http://localhost:1", "models": [
            {"id": "tiny", "contextWindow": 2048}]});
        let tiny = cramped(&settings(json!({"models": {"default": "mine/tiny",
            "providers": {"mine": provider}}})));
        assert_eq!(tiny[0].0, "contextWindow of mine/tiny");
    }
}
