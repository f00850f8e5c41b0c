//! What a message wants for its turn alone.

use std::time::Duration;

use openclaw_proto::runner::ContextFile;
use openclaw_sessions::now_ms;
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
    /// Until when the run may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Deadline>,
}

/// Until when a run may take, waiting in its session's lane included. A point in time and no
/// span, so that no gateway that takes the run over gives it the whole span once more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Deadline {
    /// Unix milliseconds.
    pub at_ms: i64,
    /// Why the run ended, as clients are told.
    pub reason: String,
}

impl Deadline {
    /// `limit` from now.
    pub fn after(limit: Duration, reason: &str) -> Self {
        let limit_ms = i64::try_from(limit.as_millis()).unwrap_or(i64::MAX);
        Self {
            at_ms: now_ms().saturating_add(limit_ms),
            reason: reason.to_owned(),
        }
    }

    /// What is left of it.
    pub fn left(&self) -> Duration {
        let left_ms = self.at_ms.saturating_sub(now_ms());
        Duration::from_millis(u64::try_from(left_ms).unwrap_or(0))
    }
}

impl TurnOptions {
    /// As transcript and ledger have it; None: there is nothing to keep.
    pub(crate) fn kept(&self) -> Option<Value> {
        if *self == Self::default() {
            return None;
        }
        serde_json::to_value(self).ok()
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
            deadline: Some(Deadline::after(Duration::from_secs(60), "timeout")),
        };
        let kept = options.kept().unwrap();
        assert_eq!(
            serde_json::from_value::<TurnOptions>(kept).unwrap(),
            options
        );
    }

    #[test]
    fn deadline_leaves_no_more_than_its_span_and_never_overflows() {
        let minute = Duration::from_secs(60);
        let left = Deadline::after(minute, "timeout").left();
        assert!(left <= minute && left > minute / 2, "{left:?}");
        assert!(Deadline::after(Duration::MAX, "timeout").left() > minute);
        let past = Deadline {
            at_ms: i64::MIN,
            reason: "timeout".to_owned(),
        };
        assert_eq!(past.left(), Duration::ZERO);
    }
}
