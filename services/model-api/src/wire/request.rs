//! A request to a model, judged. What goes out is the judged value written
//! anew: a body that two parsers read differently does not get through.

use bytes::Bytes;
use openclaw_settings::ProviderTool;
use openclaw_turn::{MOST_VALUES, has_too_many_values};
use serde_json::Value;

use super::body::Body;
use super::{Api, Grants, ModelOptions, anthropic, openai};

/// Parts of the names of models that search the web whatever they are asked.
const SEARCHING: [&str; 5] = [
    ":online",
    "deep-research",
    "search-api",
    "search-preview",
    "sonar",
];

/// Bytes by which what goes out is mostly longer than what came, at most.
const SLACK: usize = 256;

/// A request that may go out.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The body to be sent.
    pub bytes: Bytes,
    /// The model that it asks; empty where the path names it.
    pub model: String,
    /// The most tokens that it lets the model write.
    pub most_output: Option<u64>,
}

/// Why a request may not go out, in words for its author and the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    #[error("the body is no JSON object: {0}")]
    /// It cannot be read.
    Malformed(String),
    #[error("the body has more than {MOST_VALUES} values")]
    /// More would be made of it than there is memory for.
    TooMuch,
    #[error("{what} is not as the API has it")]
    /// A field has another form than the API's.
    Shape {
        /// Which one.
        what: &'static str,
    },
    #[error(
        "{what} has the provider carry data out of the sandbox; to allow it, add {:?} to \
         sandbox.providerTools",
        .tool.name()
    )]
    /// The provider would do what no policy grants.
    NotGranted {
        /// The part of the request.
        what: String,
        /// What would have to be granted.
        tool: ProviderTool,
    },
    #[error(
        "{what} is not passed on: it names what is kept at the provider, or what the cost of \
         cannot be counted; only sandbox.network \"full\" allows some of it"
    )]
    /// It can neither be judged nor counted.
    NotPassed {
        /// The part of the request.
        what: String,
    },
    #[error(
        "the provider may not fetch {host} for this agent; add \"urls\" to sandbox.providerTools, \
         or the host to sandbox.hosts with sandbox.network \"allowlist\""
    )]
    /// The provider would fetch something from there.
    Host {
        /// Where.
        host: String,
    },
}

/// Judges a request in `api`'s form, and asks as it is `wanted`. With `model` it
/// asks that one, whichever it names.
pub fn judge(
    api: Api,
    body: &[u8],
    grants: &Grants,
    model: Option<&str>,
    wanted: &ModelOptions,
) -> Result<Judged, Unfit> {
    let malformed = |error: serde_json::Error| Unfit::Malformed(error.to_string());
    if has_too_many_values(body) {
        return Err(Unfit::TooMuch);
    }
    let mut request: Body<'_> = serde_json::from_slice(body).map_err(malformed)?;
    if let Some(model) = model {
        let fields = &mut request.fields;
        fields.insert("model".to_owned(), model.into());
    }
    match api {
        Api::Anthropic | Api::Bedrock => anthropic::judge(&mut request, grants)?,
        Api::Responses => openai::judge_responses(&mut request, grants)?,
        Api::Chat => openai::judge_chat(&mut request, grants)?,
    }
    wanted.apply(api, &mut request);
    let fields = &request.fields;
    let named = fields.get("model").and_then(Value::as_str);
    let named = named.unwrap_or_default().to_owned();
    // A configured model is the user's choice.
    if model.is_none() {
        check_model(&named, grants)?;
    }
    let limits = ["max_tokens", "max_completion_tokens", "max_output_tokens"];
    let most_output = limits.iter().filter_map(|name| fields.get(*name)?.as_u64());
    // It grows by little more than a name or a number.
    let mut bytes = Vec::with_capacity(body.len() + SLACK);
    serde_json::to_writer(&mut bytes, &request).map_err(malformed)?;
    Ok(Judged {
        most_output: most_output.max(),
        model: named,
        bytes: bytes.into(),
    })
}

fn check_model(model: &str, grants: &Grants) -> Result<(), Unfit> {
    let searches = SEARCHING.iter().any(|part| model.contains(part));
    if searches && !grants.has(ProviderTool::WebSearch) {
        Err(Unfit::NotGranted {
            what: format!("the model {model:?}"),
            tool: ProviderTool::WebSearch,
        })
    } else {
        Ok(())
    }
}

#[cfg(fuzzing)]
pub(super) mod fuzz;
#[cfg(test)]
mod tests;
