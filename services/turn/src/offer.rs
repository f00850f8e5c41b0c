//! The tools of a turn.

use openclaw_tools::{Denial, ToolDefinition, catalog};
use serde::{Deserialize, Serialize};

use crate::version::VERSION;

/// The tools of a turn. What is left out is not there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Offer {
    /// Known tools, by name. The agent leaves out names that it does not know.
    pub tools: Vec<String>,
    /// Known tools that are not there, and why.
    pub denied: Vec<Denial>,
    /// Tools about whose calls the runner is asked first.
    pub gated: Vec<String>,
    /// Tools that the runner has from elsewhere.
    pub host_tools: Vec<ToolDefinition>,
    /// Those of them that change what others look at, and so run alone.
    pub alone: Vec<String>,
    /// What those who offer them say of how they are to be used, for a model
    /// that is not told elsewhere.
    pub instructions: String,
    /// Whether the file tools stay in the workspace.
    pub workspace_only: bool,
    /// Seconds that a command may take that names no time; none: as the tool
    /// has it.
    pub command_seconds: Option<u64>,
}

impl Offer {
    /// Leaves out what whoever runs the tools does itself.
    #[must_use]
    pub fn without(mut self, covered: &[&str]) -> Self {
        self.tools.retain(|tool| !covered.contains(&tool.as_str()));
        self
    }

    /// Whether the known tool is there, by whichever of its names.
    #[must_use]
    pub fn has(&self, tool: &str) -> bool {
        let name = catalog::find(tool).map_or(tool, |known| known.name);
        self.tools.iter().any(|known| known == name)
    }
}

/// The arguments of the question [`OFFER`](crate::OFFER), which is the first of a
/// tool server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferQuestion {
    /// The version of the contract that the tool server speaks.
    #[serde(default)]
    pub version: Option<u32>,
}

impl Default for OfferQuestion {
    fn default() -> Self {
        Self {
            version: Some(VERSION),
        }
    }
}

/// The output of its answer, as JSON.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfferAnswer {
    /// The version of the contract that the runner speaks.
    pub version: u32,
    /// The tools that there are.
    #[serde(flatten)]
    pub offer: Offer,
}

impl OfferAnswer {
    /// In our version.
    #[must_use]
    pub fn new(offer: Offer) -> Self {
        Self {
            version: VERSION,
            offer,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ReadError;

    fn offer() -> Offer {
        Offer {
            tools: vec!["read_file".to_owned()],
            denied: vec![Denial {
                tool: "edit".to_owned(),
                reason: "tools.deny".to_owned(),
            }],
            gated: vec!["execute_shell".to_owned()],
            host_tools: vec![ToolDefinition::new(
                "mcp__x__y",
                "d",
                json!({"type": "object"}),
            )],
            alone: vec!["mcp__x__y".to_owned()],
            instructions: "Be brief.".to_owned(),
            workspace_only: true,
            command_seconds: Some(9),
        }
    }

    #[test]
    fn offer_is_read_as_it_was_written() {
        let answer = OfferAnswer::new(offer());
        let json = serde_json::to_vec(&answer).unwrap();
        let read: OfferAnswer = crate::read("the agent-runner", &json).unwrap();
        assert_eq!(read, answer);
    }

    #[test]
    fn offer_of_another_version_is_refused() {
        for version in [json!(VERSION + 1), json!(null)] {
            let mut json = json!(OfferAnswer::new(offer()));
            json["version"] = version;
            let read = crate::read::<OfferAnswer>("the agent-runner", json.to_string().as_bytes());
            assert!(matches!(read, Err(ReadError::Version(_))), "{read:?}");
        }
    }

    #[test]
    fn offer_question_states_its_version() {
        let json = json!(OfferQuestion::default());
        assert_eq!(json, json!({"version": VERSION}));
        let older: OfferQuestion = serde_json::from_value(json!({})).unwrap();
        assert_eq!(older.version, None);
    }

    #[test]
    fn offer_has_a_tool_by_any_of_its_names_until_it_is_covered() {
        let offer = offer();
        assert!(offer.has("read_file") && offer.has("read") && !offer.has("edit"));
        assert!(!offer.without(&["read_file"]).has("read_file"));
    }
}
