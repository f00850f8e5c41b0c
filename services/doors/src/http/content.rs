//! What a message of the OpenAI-compatible API is made of.

use serde::Deserialize;

use super::problem::Problem;

/// Text, or parts of which only text can be read.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    Text(String),
    Parts(Vec<Part>),
}

/// A part of a message.
#[derive(Debug, Deserialize)]
pub(super) struct Part {
    r#type: String,
    text: Option<String>,
    refusal: Option<String>,
}

impl Content {
    /// The text; `param` names the message in errors.
    pub(super) fn text(&self, param: &str) -> Result<String, Problem> {
        let parts = match self {
            Self::Text(text) => return Ok(text.clone()),
            Self::Parts(parts) => parts,
        };
        let mut texts = Vec::new();
        for (index, part) in parts.iter().enumerate() {
            texts.push(part.text(&format!("{param}.content[{index}]"))?);
        }
        Ok(texts.join("\n"))
    }
}

impl Part {
    fn text(&self, param: &str) -> Result<&str, Problem> {
        let text = match self.r#type.as_str() {
            "text" | "input_text" | "output_text" => self.text.as_deref(),
            "refusal" => self.refusal.as_deref(),
            other => {
                let problem = format!("is {other:?}; only text can be read");
                return Err(Problem::invalid(format!("{param}.type"), problem));
            }
        };
        text.ok_or_else(|| Problem::invalid(format!("{param}.text"), "is missing"))
    }
}
