//! What a model thought before it said something, as it takes it back.

/// The API whose thinking is signed, by OpenClaw's name.
const SIGNING_API: &str = "anthropic-messages";

/// What OpenClaw puts in a signature's place where a server signs nothing.
const UNSIGNED: &str = "reasoning_content";

/// Thinking of one model, signed by it. No other model takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thinking {
    /// The provider that was asked.
    pub provider: String,
    /// The model that was asked.
    pub model: String,
    /// In the order in which they came; at least one.
    pub thoughts: Vec<Thought>,
}

/// One block of thinking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Thought {
    /// The words; of redacted thinking none.
    pub text: String,
    /// Opaque. Of redacted thinking, all that there is of it.
    pub signature: String,
    /// Its model alone can read it.
    pub redacted: bool,
}

impl Thinking {
    /// Thinking that can be sent back; `None` when it cannot.
    pub(super) fn signed(
        api: Option<String>,
        provider: Option<String>,
        model: Option<String>,
        thoughts: Vec<Thought>,
    ) -> Option<Box<Self>> {
        let is_whole = api.as_deref() == Some(SIGNING_API) && !thoughts.is_empty();
        if !is_whole {
            return None;
        }
        Some(Box::new(Self {
            provider: provider?,
            model: model?,
            thoughts,
        }))
    }

    /// What it costs, in characters ([`openclaw_tokens::characters`]).
    pub(super) fn characters(&self) -> usize {
        let texts = self.thoughts.iter().map(|thought| thought.text.as_str());
        texts.map(openclaw_tokens::characters).sum()
    }
}

impl Thought {
    /// A block of a transcript; `None` when it is not signed.
    pub(super) fn signed(text: String, signature: String, redacted: bool) -> Option<Self> {
        let is_signed = !signature.trim().is_empty() && signature != UNSIGNED;
        is_signed.then(|| Self {
            // There it stands for people.
            text: if redacted { String::new() } else { text },
            signature,
            redacted,
        })
    }
}
