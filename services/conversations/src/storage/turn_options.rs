//! What a message wants for its turn alone.

use openclaw_proto::runner::ContextFile;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// What a message wants for its turn alone, beside and instead of what its session
/// wants. The ledger keeps it until the run ends, so that a turn that another gateway
/// begins is bounded as its sender said.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TurnOptions {
    /// `provider/model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// How much the model is to think.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_level: Option<String>,
    /// Limits of the turn, as a session has them, a JSON object.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub limits: Map<String, Value>,
    /// Without the files that a conversation begins with.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub light_context: bool,
    /// Put after those files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instructions: Vec<ContextFile>,
}

impl TurnOptions {
    /// As the ledger has it; None: there is nothing to keep.
    pub(crate) fn kept(&self) -> Option<String> {
        if *self == Self::default() {
            return None;
        }
        serde_json::to_string(self).ok()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn turn_options_are_read_as_they_were_kept() {
        assert_eq!(TurnOptions::default().kept(), None);
        let options = TurnOptions {
            model: Some("c/d".to_owned()),
            thinking_level: Some("high".to_owned()),
            limits: Map::from_iter([("costPerTurn".to_owned(), json!(1))]),
            light_context: true,
            instructions: vec![ContextFile {
                name: "channel".to_owned(),
                content: "Be brief.".to_owned(),
            }],
        };
        let kept = options.kept().unwrap();
        assert_eq!(serde_json::from_str::<TurnOptions>(&kept).unwrap(), options);
    }
}
