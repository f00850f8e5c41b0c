//! The request, of which only what an agent can follow is read. Sampling parameters are the agent's
//! own; what would change the meaning of the answer and cannot be followed is refused by name.

use serde::Deserialize;
use serde_json::Value;

use super::super::content::Content;
use super::super::conversation::{Conversation, Speaker};
use super::super::problem::Problem;

/// A request for a completion.
#[derive(Debug, Deserialize)]
pub(super) struct Request {
    pub(super) model: String,
    messages: Vec<Message>,
    #[serde(default)]
    pub(super) stream: bool,
    stream_options: Option<StreamOptions>,
    pub(super) user: Option<String>,
    n: Option<u32>,
    tools: Option<Vec<Value>>,
    functions: Option<Vec<Value>>,
    tool_choice: Option<Value>,
    response_format: Option<ResponseFormat>,
}

#[derive(Debug, Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

#[derive(Debug, Deserialize)]
struct ResponseFormat {
    r#type: String,
}

#[derive(Debug, Deserialize)]
struct Message {
    role: String,
    content: Option<Content>,
}

impl Request {
    /// Refuses what cannot be followed.
    pub(super) fn check(&self) -> Result<(), Problem> {
        let is_none = |choice: &Option<Value>| choice.as_ref().is_some_and(|value| value == "none");
        let filled = |list: &Option<Vec<Value>>| list.as_ref().is_some_and(|list| !list.is_empty());
        if self.n.is_some_and(|n| n != 1) {
            return Err(Problem::invalid(
                "n",
                "must be 1: there is one agent and one answer",
            ));
        }
        if (filled(&self.tools) || filled(&self.functions)) && !is_none(&self.tool_choice) {
            let problem =
                "must be empty: the agent uses its own tools and does not call the client's";
            return Err(Problem::invalid("tools", problem));
        }
        match &self.response_format {
            Some(format) if format.r#type != "text" => Err(Problem::invalid(
                "response_format",
                "must be {\"type\": \"text\"}: the agent's reply is text; ask for JSON in the message",
            )),
            _ => Ok(()),
        }
    }

    /// Whether the last chunk is to tell the tokens.
    pub(super) fn wants_usage(&self) -> bool {
        let options = self.stream_options.as_ref();
        options.is_some_and(|options| options.include_usage)
    }

    /// What was said.
    pub(super) fn conversation(&self) -> Result<Conversation, Problem> {
        let messages = self.messages.iter().enumerate();
        messages
            .map(|(index, message)| message.said(index))
            .collect()
    }
}

impl Message {
    fn said(&self, index: usize) -> Result<(Speaker, String), Problem> {
        let param = format!("messages[{index}]");
        let text = match &self.content {
            Some(content) => content.text(&param)?,
            None => String::new(),
        };
        match self.role.as_str() {
            "system" | "developer" => Ok((Speaker::Client, text)),
            "user" => Ok((Speaker::User, text)),
            "assistant" => Ok((Speaker::Assistant, text)),
            // What a tool of the client found is part of the conversation.
            "tool" | "function" => Ok((Speaker::Assistant, format!("[tool] {text}"))),
            other => Err(Problem::invalid(
                format!("{param}.role"),
                format!("is {other:?}; allowed are system, developer, user, assistant and tool"),
            )),
        }
    }
}
