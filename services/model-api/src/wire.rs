//! What goes to the providers of models and what they say of its cost, whoever
//! in a sandbox wrote it: requests are judged and written anew, answers are
//! metered.

mod anthropic;
pub mod betas;
mod body;
mod delta;
mod fields;
mod frames;
mod grants;
mod lenient;
mod links;
mod openai;
mod options;
mod reported;
mod request;
mod sse;
mod tally;
mod tools;
mod tree;

#[cfg(fuzzing)]
pub use {request::fuzz::model_request, tally::fuzz::usage_meter};

pub use grants::Grants;
pub use options::ModelOptions;
pub use reported::Extras;
pub use request::{Judged, Unfit, judge};
pub use tally::{Form, Tally, tokens_of};

use serde::{Deserialize, Serialize};

/// The kinds of API that models are asked through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Api {
    /// Anthropic's Messages API.
    Anthropic,
    /// The same at Amazon Bedrock, which names the model in the path.
    Bedrock,
    /// OpenAI's responses.
    Responses,
    /// OpenAI's chat completions, which most others speak.
    Chat,
}

impl Api {
    /// Whether its tokens and fields are those of the Messages API.
    pub fn is_messages(self) -> bool {
        matches!(self, Self::Anthropic | Self::Bedrock)
    }
}
