//! What a model is told about a tool.

use openclaw_tokens::characters;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// What is around a tool's definition in a request, in characters.
const FRAME: usize = 48;

/// A tool's name, one-line description and parameter schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// 1 to 64 characters of `A-Z a-z 0-9 _ -`: what both model APIs accept.
    pub name: String,
    /// Sent to the model with every request, so each word costs tokens.
    pub description: String,
    /// JSON Schema (draft 7 unless `$schema` says otherwise) of the arguments object.
    pub parameters: Value,
}

impl ToolDefinition {
    /// Puts the three parts together.
    pub fn new(name: impl Into<String>, description: impl Into<String>, parameters: Value) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            parameters,
        }
    }

    /// What it costs a model at most in each request, in characters of plain English.
    pub fn cost(&self) -> usize {
        let written = json!([self.name, self.description, self.parameters]);
        characters(&written.to_string()) + FRAME
    }
}
