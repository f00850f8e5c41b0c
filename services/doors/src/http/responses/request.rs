//! The request, of which only what an agent can follow is read; see the same of `chat`.

use serde::Deserialize;
use serde_json::Value;

use super::super::content::Content;
use super::super::conversation::{Conversation, Speaker};
use super::super::problem::Problem;

/// A request for a response.
#[derive(Debug, Deserialize)]
pub(super) struct Request {
    pub(super) model: String,
    input: Input,
    pub(super) instructions: Option<String>,
    #[serde(default)]
    pub(super) stream: bool,
    pub(super) user: Option<String>,
    pub(super) previous_response_id: Option<String>,
    pub(super) metadata: Option<Value>,
    tools: Option<Vec<Value>>,
    tool_choice: Option<Value>,
    text: Option<TextOptions>,
    background: Option<bool>,
}

#[derive(Debug, Deserialize)]
struct TextOptions {
    format: Option<Format>,
}

#[derive(Debug, Deserialize)]
struct Format {
    r#type: String,
}

/// Text, or a conversation.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Input {
    Text(String),
    Items(Vec<Item>),
}

#[derive(Debug, Deserialize)]
struct Item {
    r#type: Option<String>,
    role: Option<String>,
    content: Option<Content>,
}

impl Request {
    /// Refuses what cannot be followed.
    pub(super) fn check(&self) -> Result<(), Problem> {
        let tools = self.tools.as_ref().is_some_and(|tools| !tools.is_empty());
        if tools
            && self
                .tool_choice
                .as_ref()
                .is_none_or(|choice| choice != "none")
        {
            let problem =
                "must be empty: the agent uses its own tools and does not call the client's";
            return Err(Problem::invalid("tools", problem));
        }
        if self.background == Some(true) {
            let problem = "must be false: a response is sent when it is there";
            return Err(Problem::invalid("background", problem));
        }
        let format = self.text.as_ref().and_then(|text| text.format.as_ref());
        match format {
            Some(format) if format.r#type != "text" => Err(Problem::invalid(
                "text.format",
                "must be {\"type\": \"text\"}: the agent's reply is text; ask for JSON in the message",
            )),
            _ => Ok(()),
        }
    }

    /// What was said, the instructions first.
    pub(super) fn conversation(&self) -> Result<Conversation, Problem> {
        let instructions = self.instructions.iter();
        let mut said: Conversation = instructions
            .map(|text| (Speaker::Client, text.clone()))
            .collect();
        match &self.input {
            Input::Text(text) => said.push((Speaker::User, text.clone())),
            Input::Items(items) => {
                for (index, item) in items.iter().enumerate() {
                    said.extend(item.said(&format!("input[{index}]"))?);
                }
            }
        }
        Ok(said)
    }
}

impl Item {
    /// None for what is no part of the conversation.
    fn said(&self, param: &str) -> Result<Option<(Speaker, String)>, Problem> {
        match self.r#type.as_deref() {
            None | Some("message") => {}
            // What a model thought is its own.
            Some("reasoning") => return Ok(None),
            Some(other) => {
                let problem = format!("is {other:?}; only messages can be read");
                return Err(Problem::invalid(format!("{param}.type"), problem));
            }
        }
        let speaker = match self.role.as_deref() {
            Some("system" | "developer") => Speaker::Client,
            Some("user") => Speaker::User,
            Some("assistant") => Speaker::Assistant,
            other => {
                let problem =
                    format!("is {other:?}; allowed are system, developer, user and assistant");
                return Err(Problem::invalid(format!("{param}.role"), problem));
            }
        };
        let text = match &self.content {
            Some(content) => content.text(param)?,
            None => String::new(),
        };
        Ok(Some((speaker, text)))
    }
}
