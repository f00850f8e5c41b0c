//! The request body.

use std::collections::HashSet;

use openclaw_turn::{Image, Thought};
use serde::Serialize;
use serde_json::Value;

use crate::native::conversation::{Assistant, Entry, Outcome};
use crate::native::prompt::{Model, Prompt};

/// Borrowed throughout: a history is large, and each step sends it again.
#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
    stream: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<Tool<'a>>,
    messages: Vec<Message<'a>>,
}

#[derive(Serialize)]
struct Thinking {
    #[serde(rename = "type")]
    kind: &'static str,
    budget_tokens: u32,
}

#[derive(Serialize)]
struct Tool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a Value,
}

#[derive(Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Vec<Block<'a>>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Block<'a> {
    Text {
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Image {
        source: Source<'a>,
    },
    ToolUse {
        id: String,
        name: &'a str,
        input: &'a Value,
    },
    ToolResult {
        tool_use_id: String,
        content: Content<'a>,
        #[serde(skip_serializing_if = "is_false")]
        is_error: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<CacheControl>,
    },
    Thinking {
        thinking: &'a str,
        signature: &'a str,
    },
    RedactedThinking {
        data: &'a str,
    },
    /// Sent back as it came.
    #[serde(untagged)]
    Thought(&'a Value),
}

/// What a tool gave back.
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
    Image { source: Source<'a> },
}

#[derive(Serialize)]
struct Source<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    media_type: &'a str,
    data: &'a str,
}

#[derive(Clone, Copy, Serialize)]
struct CacheControl {
    #[serde(rename = "type")]
    kind: &'static str,
}

const EPHEMERAL: Option<CacheControl> = Some(CacheControl { kind: "ephemeral" });

fn is_false(flag: &bool) -> bool {
    !flag
}

/// The body for `prompt`. Two cache marks: after the system prompt, which also
/// covers the tools, and at the end, for the next step of the same turn.
pub(in crate::native) fn body(model: &Model, prompt: &Prompt<'_>) -> serde_json::Result<Vec<u8>> {
    let messages = prompt.entries.iter();
    // Where it is not to think, it takes back nothing of earlier turns.
    let thinks = prompt.thinking_tokens > 0;
    let mut ids = Ids::default();
    let mut messages: Vec<Message<'_>> = messages
        .filter(|it| model.sees_images || !matches!(it, Entry::Pictures(_)))
        .map(|it| message(it, model, thinks, &mut ids))
        .collect();
    if let Some(Block::Text { cache_control, .. } | Block::ToolResult { cache_control, .. }) =
        messages.last_mut().and_then(|last| last.content.last_mut())
    {
        *cache_control = EPHEMERAL;
    }
    serde_json::to_vec(&Body {
        model: &model.name,
        // The API counts what is thought among them.
        max_tokens: prompt.max_tokens.saturating_add(prompt.thinking_tokens),
        thinking: (prompt.thinking_tokens > 0).then_some(Thinking {
            kind: "enabled",
            budget_tokens: prompt.thinking_tokens,
        }),
        stream: true,
        system: text(prompt.system, EPHEMERAL).into_iter().collect(),
        tools: prompt.tools.iter().map(|tool| tool_of(tool)).collect(),
        messages,
    })
}

fn tool_of(definition: &openclaw_tools::ToolDefinition) -> Tool<'_> {
    Tool {
        name: &definition.name,
        description: &definition.description,
        input_schema: &definition.parameters,
    }
}

fn message<'a>(entry: &'a Entry, model: &Model, thinks: bool, ids: &mut Ids<'a>) -> Message<'a> {
    match entry {
        Entry::User(said) => Message {
            role: "user",
            content: text(said, None).into_iter().collect(),
        },
        Entry::Pictures(pictures) => Message {
            role: "user",
            content: pictures
                .iter()
                .map(|it| Block::Image { source: source(it) })
                .collect(),
        },
        Entry::Assistant(assistant) => Message {
            role: "assistant",
            content: assistant_blocks(assistant, model, thinks, ids),
        },
        Entry::Results(outcomes) => Message {
            role: "user",
            content: outcomes
                .iter()
                .map(|it| result(it, model.sees_images, ids))
                .collect(),
        },
    }
}

/// The API refuses text blocks without text.
fn text(text: &str, cache_control: Option<CacheControl>) -> Option<Block<'_>> {
    (!text.trim().is_empty()).then_some(Block::Text {
        text,
        cache_control,
    })
}

fn assistant_blocks<'a>(
    assistant: &'a Assistant,
    model: &Model,
    thinks: bool,
    ids: &mut Ids<'a>,
) -> Vec<Block<'a>> {
    ids.waiting.clear();
    let earlier = assistant.earlier.iter();
    let earlier = earlier.filter(|thinking| thinks && model.takes(thinking));
    let earlier = earlier.flat_map(|thinking| thinking.thoughts.iter().map(thought));
    let thinking = assistant.thinking.iter().map(Block::Thought);
    let calls = assistant.calls.iter().map(|call| Block::ToolUse {
        id: ids.of_call(&call.id),
        name: &call.name,
        input: &call.arguments,
    });
    earlier
        .chain(thinking)
        .chain(text(&assistant.text, None))
        .chain(calls)
        .collect()
}

fn thought(thought: &Thought) -> Block<'_> {
    let signature = &thought.signature;
    if thought.redacted {
        Block::RedactedThinking { data: signature }
    } else {
        Block::Thinking {
            thinking: &thought.text,
            signature,
        }
    }
}

fn result<'a>(outcome: &'a Outcome, sees_images: bool, ids: &mut Ids<'a>) -> Block<'a> {
    Block::ToolResult {
        tool_use_id: ids.of_result(&outcome.call_id),
        content: content(outcome, sees_images),
        is_error: outcome.is_error,
        cache_control: None,
    }
}

fn content(outcome: &Outcome, sees_images: bool) -> Content<'_> {
    let text = &outcome.text;
    if outcome.images.is_empty() || !sees_images {
        return Content::Text(text);
    }
    let images = outcome.images.iter();
    let images = images.map(|image| Part::Image {
        source: source(image),
    });
    // The API refuses text blocks without text.
    let text = Some(Part::Text { text }).filter(|_| !text.trim().is_empty());
    Content::Parts(text.into_iter().chain(images).collect())
}

fn source(image: &Image) -> Source<'_> {
    Source {
        kind: "base64",
        media_type: &image.mime_type,
        data: &image.data,
    }
}

/// The ids of a request's calls. The API refuses a conversation that has one twice, which that
/// of a server has that begins to count anew with each answer.
#[derive(Default)]
struct Ids<'a> {
    used: HashSet<String>,
    /// The calls of the last answer that have no result yet: their ids, and those that are sent.
    waiting: Vec<(&'a str, String)>,
}

impl<'a> Ids<'a> {
    fn of_call(&mut self, id: &'a str) -> String {
        let plain = plain_id(id);
        let others = (2..).map(|number| format!("{plain}_{number}"));
        let mut all = std::iter::once(plain.clone()).chain(others);
        let sent = all.find(|it| !self.used.contains(it)).unwrap_or(plain);
        self.used.insert(sent.clone());
        self.waiting.push((id, sent.clone()));
        sent
    }

    fn of_result(&mut self, id: &str) -> String {
        let call = self.waiting.iter().position(|(known, _)| *known == id);
        call.map_or_else(|| plain_id(id), |at| self.waiting.remove(at).1)
    }
}

/// Ids of other backends in the history may have characters this API refuses.
fn plain_id(id: &str) -> String {
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() || c == '_' || c == '-' => c,
        _ => '_',
    };
    id.chars().map(plain).collect()
}
