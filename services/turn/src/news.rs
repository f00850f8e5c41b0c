//! What is new while a turn goes on.

use serde::{Deserialize, Serialize};

use crate::offer::Offer;

/// What came since the agent last asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct News {
    /// What the user said meanwhile.
    #[serde(default)]
    pub messages: Vec<SteeringMessage>,
    /// The tools, where they are others than were told last.
    #[serde(default)]
    pub tools: Option<RenewedTools>,
}

/// Other tools than before.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RenewedTools {
    /// The tools that there are now.
    #[serde(flatten)]
    pub offer: Offer,
    /// What the model is told with them before everything else.
    #[serde(default)]
    pub system: String,
}

/// A message that came while the turn went on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SteeringMessage {
    /// The run that it began as.
    pub run_id: String,
    /// The words.
    pub text: String,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn news_are_read_as_they_were_written() {
        let news = News {
            messages: vec![SteeringMessage {
                run_id: "r".to_owned(),
                text: "stop".to_owned(),
            }],
            tools: Some(RenewedTools {
                offer: Offer {
                    tools: vec!["edit".to_owned()],
                    ..Offer::default()
                },
                system: "s".to_owned(),
            }),
        };
        for news in [news, News::default()] {
            assert_eq!(serde_json::from_value::<News>(json!(news)).unwrap(), news);
        }
    }
}
