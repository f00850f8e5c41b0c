//! The request body.

use openclaw_turn::Image;
use serde::Serialize;
use serde_json::Value;

use crate::native::conversation::{Assistant, Call, Entry, Outcome};
use crate::native::prompt::Prompt;

/// What a server turned out to want. Found out by its refusal, not by its
/// name: the same model is served by many programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::native) struct Dialect {
    /// `max_completion_tokens` in place of `max_tokens`.
    completion_tokens: bool,
    /// `stream_options`, without which there is no usage.
    stream_options: bool,
    /// `reasoning_effort`, when the session wants one.
    effort: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            completion_tokens: false,
            stream_options: true,
            effort: true,
        }
    }
}

impl Dialect {
    /// A dialect that avoids what the server complained about, if it is that.
    pub(in crate::native) fn adapted(self, complaint: &str) -> Option<Self> {
        let adapted = if complaint.contains("max_completion_tokens") {
            Self {
                completion_tokens: true,
                ..self
            }
        } else if complaint.contains("stream_options") {
            Self {
                stream_options: false,
                ..self
            }
        } else if complaint.contains("reasoning_effort") {
            Self {
                effort: false,
                ..self
            }
        } else {
            self
        };
        (adapted != self).then_some(adapted)
    }
}

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'a str>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    messages: Vec<Message<'a>>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
struct Tool<'a> {
    r#type: &'static str,
    function: Function<'a>,
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "snake_case")]
enum Message<'a> {
    System {
        content: &'a str,
    },
    User {
        content: Content<'a>,
    },
    Assistant {
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

/// What a user says.
#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(&'a str),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: Url },
}

#[derive(Serialize)]
struct Url {
    url: String,
}

#[derive(Serialize)]
struct ToolCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: CalledFunction<'a>,
}

#[derive(Serialize)]
struct CalledFunction<'a> {
    name: &'a str,
    arguments: String,
}

/// The body for `prompt`.
pub(in crate::native) fn body(
    model: &str,
    prompt: &Prompt<'_>,
    dialect: Dialect,
    sees_images: bool,
) -> serde_json::Result<Vec<u8>> {
    let max_tokens = Some(prompt.max_tokens);
    let mut messages = Vec::new();
    if !prompt.system.trim().is_empty() {
        messages.push(Message::System {
            content: prompt.system,
        });
    }
    for entry in prompt.entries {
        push(&mut messages, entry, sees_images);
    }
    serde_json::to_vec(&Body {
        model,
        max_tokens: max_tokens.filter(|_| !dialect.completion_tokens),
        max_completion_tokens: max_tokens.filter(|_| dialect.completion_tokens),
        reasoning_effort: prompt.reasoning_effort.filter(|_| dialect.effort),
        stream: true,
        stream_options: dialect.stream_options.then_some(StreamOptions {
            include_usage: true,
        }),
        tools: prompt.tools.iter().map(|tool| tool_of(tool)).collect(),
        messages,
    })
}

fn tool_of(definition: &openclaw_tools::ToolDefinition) -> Tool<'_> {
    Tool {
        r#type: "function",
        function: Function {
            name: &definition.name,
            description: &definition.description,
            parameters: &definition.parameters,
        },
    }
}

fn push<'a>(messages: &mut Vec<Message<'a>>, entry: &'a Entry, sees_images: bool) {
    match entry {
        Entry::User(text) => messages.push(Message::User {
            content: Content::Text(text),
        }),
        Entry::Pictures(pictures) if sees_images => {
            let pictures = pictures.iter().map(part).collect();
            messages.push(Message::User {
                content: Content::Parts(pictures),
            });
        }
        Entry::Pictures(_) => {}
        Entry::Assistant(said) => messages.push(assistant(said)),
        Entry::Results(outcomes) => {
            messages.extend(outcomes.iter().map(result));
            let shown = outcomes.iter().filter(|_| sees_images);
            messages.extend(shown.flat_map(images));
        }
    }
}

/// The images of a result, in a message of their own: a result is text alone in
/// this API, and all results of an answer come right after it.
fn images(outcome: &Outcome) -> Option<Message<'_>> {
    let images = outcome.images.iter().map(part);
    let text = "What the tool gave back:";
    let parts = [Part::Text { text }].into_iter().chain(images);
    (!outcome.images.is_empty()).then(|| Message::User {
        content: Content::Parts(parts.collect()),
    })
}

fn part(image: &Image) -> Part<'_> {
    Part::ImageUrl {
        image_url: Url {
            url: format!("data:{};base64,{}", image.mime_type, image.data),
        },
    }
}

fn assistant(said: &Assistant) -> Message<'_> {
    Message::Assistant {
        content: given(&said.text),
        reasoning_content: given(&said.reasoning),
        tool_calls: said.calls.iter().map(call).collect(),
    }
}

fn given(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

fn call(call: &Call) -> ToolCall<'_> {
    ToolCall {
        id: &call.id,
        r#type: "function",
        function: CalledFunction {
            name: &call.name,
            arguments: call.arguments.to_string(),
        },
    }
}

fn result(outcome: &Outcome) -> Message<'_> {
    Message::Tool {
        tool_call_id: &outcome.call_id,
        content: &outcome.text,
    }
}
