//! What every request of an agent has beside the conversation.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use openclaw_policy::Policy;
use openclaw_settings::AgentSettings;
use openclaw_tokens::{characters, tokens};
use openclaw_tools::{Builtin, ToolDefinition};
use openclaw_turn::HostTool;

use crate::policy::policy;
use crate::system::{Told, system};

/// What a request has around its parts: roles, names of fields, tags, in tokens.
const FRAME: usize = 64;

/// What every request of an agent has beside the conversation, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fixed {
    /// Instructions, bootstrap files among them.
    pub instructions: usize,
    /// Definitions of our tools. Those of servers of tools are known in the turn's
    /// process alone, which tells what they take when it ends.
    pub tools: usize,
}

impl Fixed {
    /// What `agent` is told with these bootstrap files.
    pub fn of(agent: &AgentSettings, files: &[(&str, &str)]) -> Self {
        let told = Told {
            agent_id: &agent.id,
            persona: &agent.persona,
            workspace: &agent.workspace,
            files,
            is_message: true,
        };
        Self {
            instructions: tokens(characters(&system(told))) + FRAME,
            tools: definitions(&policy(agent)),
        }
    }

    /// All of it.
    pub fn tokens(self) -> usize {
        self.instructions + self.tools
    }
}

/// What the definitions of the tools cost that `policy` leaves.
fn definitions(policy: &Policy) -> usize {
    let (there, _) = policy.split();
    let cost = |name: &&str| COSTS.get(*name).copied().unwrap_or_default();
    tokens(there.iter().map(cost).sum())
}

/// What the definition of each tool costs, in characters.
static COSTS: LazyLock<BTreeMap<&'static str, usize>> = LazyLock::new(|| {
    // What JSON costs at most is twice what ours does: they are known, and tried below.
    let ours = |definition: ToolDefinition| definition.cost() * 2 / 3;
    let builtin = Builtin::ALL.map(|tool| (tool.name(), ours(tool.definition())));
    let host = HostTool::ALL.map(|tool| (tool.name(), ours(tool.definition())));
    builtin.into_iter().chain(host).collect()
});

#[cfg(test)]
mod tests {
    use openclaw_policy::Layer;
    use serde_json::json;

    use super::*;

    /// A definition as a provider is sent it.
    fn sent(tool: &ToolDefinition) -> String {
        json!({"type": "function", "function": {"name": tool.name,
            "description": tool.description, "parameters": tool.parameters}})
        .to_string()
    }

    #[test]
    fn definitions_cost_no_more_than_is_counted() {
        let real = tiktoken_rs::cl100k_base().unwrap();
        let builtin = Builtin::ALL.map(Builtin::definition);
        let host = HostTool::ALL.map(HostTool::definition);
        let all: Vec<String> = builtin.iter().chain(&host).map(sent).collect();
        let tokens = real.encode_ordinary(&all.concat()).len();
        let counted = definitions(&Policy::default());
        assert!(counted >= tokens, "{counted} of {tokens}");
        assert!(counted < tokens * 3 / 2, "{counted} of {tokens}");
        for tool in builtin.iter().chain(&host) {
            let tokens = real.encode_ordinary(&sent(tool)).len();
            let counted = COSTS[tool.name.as_str()] / openclaw_tokens::CHARACTERS_PER_TOKEN;
            assert!(counted >= tokens, "{}: {counted} of {tokens}", tool.name);
        }
    }

    #[test]
    fn definitions_of_denied_tools_cost_nothing() {
        let deny = |name: &str| Layer {
            deny: vec![name.to_owned()],
            ..Layer::default()
        };
        assert_eq!(definitions(&Policy::new(vec![deny("*")])), 0);
        let less = definitions(&Policy::new(vec![deny("group:fs")]));
        assert!(less < definitions(&Policy::default()));
    }
}
