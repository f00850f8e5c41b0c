//! What a model is asked, and which one.

use openclaw_tools::ToolDefinition;
use openclaw_turn::SignedThinking;

use super::conversation::Entry;

/// Everything a request is made of.
pub(super) struct Prompt<'a> {
    pub(super) max_tokens: u32,
    /// Tokens to think for beside those; 0: the model is not asked to.
    pub(super) thinking_tokens: u32,
    /// The same in OpenAI's words.
    pub(super) reasoning_effort: Option<&'a str>,
    pub(super) system: &'a str,
    pub(super) tools: &'a [&'a ToolDefinition],
    pub(super) entries: &'a [Entry],
}

/// The model that is asked.
#[derive(Debug)]
pub(super) struct Model {
    pub(super) provider: String,
    pub(super) name: String,
    /// Whether it is shown images.
    pub(super) sees_images: bool,
    /// Whether it takes back what it thought in earlier turns.
    pub(super) takes_thinking: bool,
}

impl Model {
    pub(super) fn new(provider: String, name: String, sees_images: bool) -> Self {
        Self {
            provider,
            name,
            sees_images,
            takes_thinking: true,
        }
    }

    /// Whether `thinking` is this model's, and may be sent to it.
    pub(super) fn takes(&self, thinking: &SignedThinking) -> bool {
        self.takes_thinking && self.provider == thinking.provider && self.name == thinking.model
    }
}
