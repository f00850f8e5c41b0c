//! The turn as the runner describes it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::hint::Hint;
use crate::history::HistoryEntry;
use crate::offer::Offer;
use crate::version::{self, ReadError};

/// Everything about one turn but the conversation before it. Every limit is stated by the runner,
/// which has it from the settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnRequest {
    /// The version of the contract that the runner speaks.
    pub version: u32,
    /// Names the run.
    pub run_id: String,
    /// Who answers.
    pub mode: Mode,
    /// The protocol that the model speaks. This and the model's other properties
    /// are of no meaning offline.
    pub api: Api,
    /// The provider's name.
    pub provider: String,
    /// The model's name.
    pub model: String,
    /// Tokens that an answer of the model may have.
    pub max_tokens: u32,
    /// Tokens that the model may think for beside those; 0: it is not asked to.
    pub thinking_tokens: u32,
    /// The same in OpenAI's words.
    pub reasoning_effort: Option<String>,
    /// Model requests of this turn; 0 counts as 1.
    pub step_limit: u32,
    /// Where that is set, for the user.
    pub step_limit_key: String,
    /// The repetition of a call with the same result that ends the turn; below
    /// 3 counts as 3.
    pub identical_call_limit: u32,
    /// The folder that relative paths start at.
    pub workspace: PathBuf,
    /// What the model is told before everything else.
    pub system: String,
    /// The message.
    pub text: String,
    /// Whether nobody said it: it is of a job, a heartbeat, a webhook, or an event.
    pub is_unsaid: bool,
    /// Passages of memory that fit the message.
    pub hits: Vec<Passage>,
    /// The tools.
    #[serde(flatten)]
    pub offer: Offer,
    /// What the user is told where no model answers.
    pub hint: Hint,
    /// Whether the model sees images.
    pub sees_images: bool,
}

/// What the agent is told of its turn: two lines, of which whoever passes the second one on need not
/// understand it. A conversation is most of what is told.
#[derive(Debug, Clone, PartialEq)]
pub struct ToldTurn {
    /// The turn.
    pub request: TurnRequest,
    /// The conversation before it.
    pub history: Vec<HistoryEntry<'static>>,
}

impl ToldTurn {
    /// Writes both lines; `history` is the second one, as JSON.
    ///
    /// # Errors
    /// When the request cannot be written.
    pub fn write(request: &TurnRequest, history: &[u8]) -> serde_json::Result<Vec<u8>> {
        let mut lines = serde_json::to_vec(request)?;
        lines.push(b'\n');
        lines.extend_from_slice(history);
        Ok(lines)
    }

    /// Reads the answer to a question for the turn.
    ///
    /// # Errors
    /// When it is of another version, or not as ours has it.
    pub fn read(lines: &[u8]) -> Result<Self, ReadError> {
        let end = lines.iter().position(|byte| *byte == b'\n');
        let (request, history) = lines.split_at(end.unwrap_or(lines.len()));
        Ok(Self {
            request: version::read("the agent-runner", request)?,
            history: serde_json::from_slice(history).map_err(ReadError::Malformed)?,
        })
    }
}

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// A model.
    Native,
    /// Memory and tools, without a model.
    Offline,
    /// The tool that runs commands, called once: the text is its arguments.
    Command,
}

/// The protocol that a model speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's chat completions.
    Openai,
}

/// Another model, which is to be asked the same question in its own form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The protocol that it speaks.
    pub api: Api,
    /// The provider's name.
    pub provider: String,
    /// The model's name.
    pub model: String,
    /// Whether it sees images.
    pub sees_images: bool,
}

/// A passage of memory. Results of `memory_search` have OpenClaw's names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// Relative to the workspace.
    pub path: String,
    /// First line, counted from 1.
    #[serde(alias = "startLine")]
    pub start_line: u32,
    /// Last line.
    #[serde(alias = "endLine")]
    pub end_line: u32,
    /// The words.
    pub snippet: String,
    /// What it is, and who said it.
    #[serde(default, alias = "kind")]
    pub role: String,
    /// What it stands under, outermost first.
    #[serde(default)]
    pub context: Vec<String>,
    /// The sentences of it that answer; none where it was not asked for them.
    #[serde(default)]
    pub answer: String,
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use serde_json::{Value, json};

    use super::*;
    use crate::{HistoryCall, SignedThinking, Thought, VERSION};

    fn request() -> TurnRequest {
        TurnRequest {
            version: VERSION,
            run_id: "r".to_owned(),
            mode: Mode::Native,
            api: Api::Openai,
            provider: "p".to_owned(),
            model: "m".to_owned(),
            max_tokens: 1,
            thinking_tokens: 2,
            reasoning_effort: Some("low".to_owned()),
            step_limit: 3,
            step_limit_key: "k".to_owned(),
            identical_call_limit: 4,
            workspace: "/w".into(),
            system: "s".to_owned(),
            text: "now".to_owned(),
            is_unsaid: true,
            hits: vec![Passage {
                path: "MEMORY.md".to_owned(),
                start_line: 1,
                end_line: 2,
                snippet: "w".to_owned(),
                ..Passage::default()
            }],
            offer: Offer {
                tools: vec!["read_file".to_owned()],
                ..Offer::default()
            },
            hint: Hint {
                lack: Some("h".to_owned()),
                thinks_only: true,
            },
            sees_images: true,
        }
    }

    fn history() -> Vec<HistoryEntry<'static>> {
        vec![
            HistoryEntry::User { text: "q\n".into() },
            HistoryEntry::Assistant {
                text: "a".into(),
                tool_calls: vec![HistoryCall {
                    id: "1".into(),
                    name: "t".into(),
                    arguments: Cow::Owned(json!({"a": 1})),
                }],
                thinking: Some(SignedThinking {
                    provider: "p".to_owned(),
                    model: "m".to_owned(),
                    thoughts: vec![Thought {
                        text: "hm".to_owned(),
                        signature: "s".to_owned(),
                        redacted: false,
                    }],
                }),
            },
            HistoryEntry::Tool {
                call_id: "1".into(),
                output: "o".into(),
                is_error: true,
            },
        ]
    }

    fn read(json: &Value) -> Result<ToldTurn, ReadError> {
        ToldTurn::read(format!("{json}\n[]").as_bytes())
    }

    #[test]
    fn turn_is_read_as_it_was_written() {
        let history = serde_json::to_vec(&super::tests::history()).unwrap();
        let lines = ToldTurn::write(&request(), &history).unwrap();
        let told = ToldTurn::read(&lines).unwrap();
        assert_eq!(
            (told.request, told.history),
            (request(), super::tests::history())
        );
    }

    #[test]
    fn turn_without_its_conversation_is_refused() {
        let lines = ToldTurn::write(&request(), b"").unwrap();
        assert!(matches!(
            ToldTurn::read(&lines),
            Err(ReadError::Malformed(_))
        ));
        let lines = serde_json::to_vec(&request()).unwrap();
        assert!(matches!(
            ToldTurn::read(&lines),
            Err(ReadError::Malformed(_))
        ));
    }

    #[test]
    fn request_of_another_version_is_refused() {
        let mut json = json!(request());
        json["version"] = json!(VERSION + 1);
        assert!(matches!(read(&json), Err(ReadError::Version(_))));
    }

    #[test]
    fn request_states_every_limit() {
        for limit in [
            "max_tokens",
            "thinking_tokens",
            "step_limit",
            "step_limit_key",
            "identical_call_limit",
        ] {
            let mut json = json!(request());
            json.as_object_mut().unwrap().remove(limit);
            let read = read(&json);
            assert!(matches!(read, Err(ReadError::Malformed(_))), "{limit}");
        }
    }

    #[test]
    fn target_is_read_as_it_was_written() {
        let target = Target {
            api: Api::Anthropic,
            provider: "p".to_owned(),
            model: "m".to_owned(),
            sees_images: false,
        };
        let json = json!(target);
        assert_eq!(json["api"], "anthropic");
        assert_eq!(serde_json::from_value::<Target>(json).unwrap(), target);
    }

    #[test]
    fn passage_is_read_with_openclaws_names_too() {
        let json = json!({"path": "p", "startLine": 3, "endLine": 4, "snippet": "s", "score": 1.0});
        let passage: Passage = serde_json::from_value(json).unwrap();
        assert_eq!((passage.start_line, passage.end_line), (3, 4));
    }
}
